package main

import (
	"fmt"
	"image"
	"image/color"

	"github.com/disintegration/imaging"
)

func main() {
	m := imaging.New(4, 4, color.NRGBA{10, 20, 30, 255})
	r := imaging.Resize(m, 2, 2, imaging.Lanczos)
	fmt.Println(r.Bounds(), r.NRGBAAt(0, 0), imaging.Invert(m).NRGBAAt(1, 1))
	c := imaging.CropCenter(imaging.Rotate90(m), 2, 3)
	fmt.Println(c.Bounds() == image.Rect(0, 0, 2, 3))
}
