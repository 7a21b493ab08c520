package main

import (
	"fmt"
	"image/color"
	"os"

	"git.sr.ht/~sbinet/gg"
	svg "github.com/ajstarks/svgo"
)

func main() {
	s := svg.New(os.Stdout)
	s.Start(100, 50)
	s.Circle(20, 20, 10, "fill:red")
	s.Text(5, 45, "a < b", `font-size="8"`)
	s.Polyline([]int{1, 2, 3}, []int{3, 1, 2})
	s.End()
	c := gg.NewContext(20, 20)
	c.SetRGB(1, 0, 0)
	c.DrawCircle(10, 10, 5)
	c.Fill()
	fmt.Println(c.Image().At(10, 10), c.Image().At(0, 0), color.White)
}
