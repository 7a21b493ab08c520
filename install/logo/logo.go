// Package logo draws gocuda's logo: a chip that carries a G, whose bar is a
// lane that data takes into the chip.
//
// The drawing is one list of shapes, written as SVG and rasterised here, so
// that every size is the same picture and no image file needs to be kept.
package logo

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
)

// side is the edge of the drawing in its own units.
const side = 64

// shape is one filled shape: it tells the signed distance of a point from its
// edge (negative inside), and its SVG element.
type shape interface {
	distance(x, y float64) float64
	element(fill string) string
}

type layer struct {
	shape
	color color.NRGBA
}

var (
	pinColor  = color.NRGBA{0x6b, 0x8f, 0x9c, 0xff}
	bodyColor = color.NRGBA{0x12, 0x3f, 0x52, 0xff}
	ringColor = color.NRGBA{0xe6, 0xf4, 0xf1, 0xff}
	laneColor = color.NRGBA{0xf4, 0xa2, 0x3a, 0xff}
)

func layers() []layer {
	var l []layer
	for _, at := range []float64{20, 32, 44} {
		l = append(l,
			layer{line{at, 5, at, side - 5, 4.5}, pinColor},
			layer{line{5, at, side - 5, at, 4.5}, pinColor})
	}
	return append(l,
		layer{square{10, 44, 8}, bodyColor},
		layer{arc{32, 32, 12.5, 5.5}, ringColor},
		layer{line{59, 32, 34, 32, 5.5}, laneColor})
}

// SVG is the logo as an SVG document.
func SVG() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\">\n", side, side)
	for _, l := range layers() {
		fill := fmt.Sprintf("#%02x%02x%02x", l.color.R, l.color.G, l.color.B)
		fmt.Fprintf(&b, " %s\n", l.element(fill))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// PNG is the logo as a PNG image of the given width and height in pixels.
func PNG(pixels int) ([]byte, error) {
	img := image.NewNRGBA(image.Rect(0, 0, pixels, pixels))
	scale := float64(pixels) / side
	for py := range pixels {
		for px := range pixels {
			x, y := (float64(px)+0.5)/scale, (float64(py)+0.5)/scale
			img.SetNRGBA(px, py, at(x, y, scale))
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// at is the colour of a pixel, edges smoothed over its width.
func at(x, y, scale float64) color.NRGBA {
	var r, g, b, a float64
	for _, l := range layers() {
		cover := min(max(0.5-l.distance(x, y)*scale, 0), 1)
		r += (float64(l.color.R) - r) * cover
		g += (float64(l.color.G) - g) * cover
		b += (float64(l.color.B) - b) * cover
		if a == 0 && cover > 0 { // an edge fades to transparent, not to black
			r, g, b = float64(l.color.R), float64(l.color.G), float64(l.color.B)
		}
		a += (255 - a) * cover
	}
	return color.NRGBA{round(r), round(g), round(b), round(a)}
}

func round(v float64) uint8 { return uint8(math.Round(v)) }

// square has rounded corners.
type square struct{ from, width, radius float64 }

func (s square) distance(x, y float64) float64 {
	half := s.width / 2
	dx := math.Abs(x-s.from-half) - half + s.radius
	dy := math.Abs(y-s.from-half) - half + s.radius
	return math.Hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - s.radius
}

func (s square) element(fill string) string {
	return fmt.Sprintf(`<rect x="%g" y="%g" width="%g" height="%g" rx="%g" fill="%s"/>`,
		s.from, s.from, s.width, s.width, s.radius, fill)
}

// line has round ends.
type line struct{ x1, y1, x2, y2, width float64 }

func (l line) distance(x, y float64) float64 {
	dx, dy := l.x2-l.x1, l.y2-l.y1
	t := ((x-l.x1)*dx + (y-l.y1)*dy) / (dx*dx + dy*dy)
	t = min(max(t, 0), 1)
	return math.Hypot(x-l.x1-t*dx, y-l.y1-t*dy) - l.width/2
}

func (l line) element(stroke string) string {
	return fmt.Sprintf(`<path d="M%g %gL%g %g" stroke="%s" stroke-width="%g" stroke-linecap="round"/>`,
		l.x1, l.y1, l.x2, l.y2, stroke, l.width)
}

// arc is a ring, open towards the upper right, with round ends: a G without
// its bar. It goes from the right, clockwise, to 45 degrees above the right.
type arc struct{ x, y, radius, width float64 }

func (a arc) distance(x, y float64) float64 {
	dx, dy := x-a.x, y-a.y
	if angle := math.Atan2(dy, dx); angle < 0 && angle > -math.Pi/4 {
		end := a.radius * math.Sqrt2 / 2
		return min(math.Hypot(dx-a.radius, dy), math.Hypot(dx-end, dy+end)) - a.width/2
	}
	return math.Abs(math.Hypot(dx, dy)-a.radius) - a.width/2
}

func (a arc) element(stroke string) string {
	end := math.Round(a.radius*math.Sqrt2/2*1000) / 1000
	return fmt.Sprintf(`<path d="M%g %gA%g %g 0 1 1 %g %g" fill="none" stroke="%s" stroke-width="%g" stroke-linecap="round"/>`,
		a.x+a.radius, a.y, a.radius, a.radius, a.x+end, a.y-end, stroke, a.width)
}
