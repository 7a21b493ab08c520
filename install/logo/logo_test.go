package logo

import (
	"bytes"
	"encoding/xml"
	"image/color"
	"image/png"
	"io"
	"testing"
)

func TestPNGIsThePictureInEverySize(t *testing.T) {
	for _, size := range []int{32, 64, 256} {
		data, err := PNG(size)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if b := img.Bounds(); b.Dx() != size || b.Dy() != size {
			t.Errorf("%d: bounds %v", size, b)
		}
		for _, p := range []struct {
			what string
			x, y float64 // in 64ths
			want color.NRGBA
		}{
			{"corner", 1, 1, color.NRGBA{}},
			{"pin", 20, 6, pinColor},
			{"body", 16, 16, bodyColor},
			{"ring", 19.5, 32, ringColor},
			{"opening of the ring", 43.5, 27.2, bodyColor},
			{"lane", 40, 32, laneColor},
		} {
			got := color.NRGBAModel.Convert(img.At(int(p.x*float64(size)/64), int(p.y*float64(size)/64)))
			if got != p.want {
				t.Errorf("%d pixels: the %s is %v, want %v", size, p.what, got, p.want)
			}
		}
	}
}

func TestSVGIsXML(t *testing.T) {
	elements := 0
	for d := xml.NewDecoder(bytes.NewReader(SVG())); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := token.(xml.StartElement); ok {
			elements++
		}
	}
	if elements != 1+len(layers()) {
		t.Errorf("%d elements", elements)
	}
}
