package main

import (
	"fmt"
	"github.com/golang/freetype"
	"github.com/golang/freetype/truetype"
	"golang.org/x/image/font/gofont/goregular"
	"image"
)

func main() {
	f, err := truetype.Parse(goregular.TTF)
	if err != nil {
		panic(err)
	}
	img := image.NewRGBA(image.Rect(0, 0, 100, 30))
	c := freetype.NewContext()
	c.SetDPI(72)
	c.SetFont(f)
	c.SetFontSize(18)
	c.SetClip(img.Bounds())
	c.SetDst(img)
	c.SetSrc(image.Black)
	p, err := c.DrawString("Go!", freetype.Pt(5, 20))
	sum := 0
	for _, v := range img.Pix {
		sum += int(v)
	}
	fmt.Println(p, err, sum, f.Name(truetype.NameIDFontFullName), f.Index('G'))
}
