package display

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"reflect"
	"strings"
	"testing"

	"gocuda/internal/picture"
)

type rich struct{ html, markdown, latex, svg string }

func (r rich) HTML() string     { return r.html }
func (r rich) Markdown() string { return r.markdown }
func (r rich) LaTeX() string    { return r.latex }
func (r rich) SVG() string      { return r.svg }
func (r rich) String() string   { return "plain" }

type whole struct{ rich }

func (whole) MIMEBundle() map[string]any {
	return map[string]any{"text/html": "whole", "application/x": 1}
}

type pair struct {
	N int
	S string
}

type noBundle struct{}

func (noBundle) MIMEBundle() map[string]any { return nil }

type broken struct{ S *string }

func (b *broken) HTML() string               { return *b.S }
func (b *broken) MIMEBundle() map[string]any { panic("never") }

type brokenImage struct{}

func (brokenImage) ColorModel() color.Model { return color.GrayModel }
func (brokenImage) Bounds() image.Rectangle { return image.Rect(0, 0, 1, 1) }
func (brokenImage) At(int, int) color.Color { panic("no pixel") }

func TestOf(t *testing.T) {
	for name, test := range map[string]struct {
		value any
		want  map[string]any
	}{
		"nil":               {nil, map[string]any{"text/plain": "nil"}},
		"a number":          {1, map[string]any{"text/plain": "1"}},
		"a bundle":          {Bundle{Data: map[string]any{"text/html": "<b>"}}, map[string]any{"text/html": "<b>", "text/plain": "<b>"}},
		"a bundle's ptr":    {&Bundle{Data: map[string]any{"a/b": 1, "a/a": 2}}, map[string]any{"a/b": 1, "a/a": 2, "text/plain": "a/a, a/b"}},
		"a list of structs": {[]*pair{{1, "a"}, {2, "<"}}, map[string]any{"text/plain": `[]*display.pair{&{N: 1, S: "a"}, &{N: 2, S: "<"}}`, "text/html": Table([]pair{{1, "a"}, {2, "<"}}).Data["text/html"]}},
		"an empty one":      {[]pair{}, map[string]any{"text/plain": "[]display.pair{}"}},
		"one of texts":      {[]rich{{}}, map[string]any{"text/plain": "[]display.rich{plain}"}},
		"no bundle":         {(*Bundle)(nil), map[string]any{"text/plain": "nil"}},
		"every method":      {rich{"h", "m", "l", "s"}, map[string]any{"text/html": "h", "text/markdown": "m", "text/latex": "l", "image/svg+xml": "s", "text/plain": "plain"}},
		"MIMEBundle wins":   {whole{}, map[string]any{"text/html": "whole", "application/x": 1, "text/plain": "plain"}},
		"methods panic":     {&broken{}, map[string]any{"text/plain": "&display.broken{S: nil}"}},
		"a nil receiver":    {(*broken)(nil), map[string]any{"text/plain": "nil"}},
		"a broken image":    {brokenImage{}, map[string]any{"text/plain": "display.brokenImage, 1 x 1 pixels"}},
		"a handle":          {Handle{"x"}, map[string]any{}},
		"nil MIMEBundle":    {noBundle{}, map[string]any{"text/plain": "display.noBundle{}"}},
		"a reflect.Value":   {reflect.ValueOf(HTML("x")), map[string]any{"text/html": "x", "text/plain": "x"}},
		"markdown":          {Markdown("*x*"), map[string]any{"text/markdown": "*x*", "text/plain": "*x*"}},
		"latex":             {LaTeX("$x$"), map[string]any{"text/latex": "$x$", "text/plain": "$x$"}},
		"svg":               {SVG("<svg width='1'/>"), map[string]any{"image/svg+xml": `<svg xmlns="http://www.w3.org/2000/svg" width='1'/>`, "text/plain": "SVG image"}},
		"sized svg":         {SVG("<svg width='40' height=\"2em\"/>"), map[string]any{"image/svg+xml": `<svg xmlns="http://www.w3.org/2000/svg" width='40' height="2em"/>`, "text/plain": "SVG image, 40 x 2em"}},
		"long html":         {HTML(strings.Repeat("x", maxSourceText+1)), map[string]any{"text/html": strings.Repeat("x", maxSourceText+1), "text/plain": strings.Repeat("x", maxSourceText) + "..."}},
		"whole svg":         {SVG(`<?xml?><svg xmlns="x"></svg>`), map[string]any{"image/svg+xml": `<?xml?><svg xmlns="x"></svg>`, "text/plain": "SVG image"}},
		"svg method":        {rich{svg: "<svg></svg>"}, map[string]any{"image/svg+xml": `<svg xmlns="http://www.w3.org/2000/svg"></svg>`, "text/plain": "plain"}},
		"text":              {Text("no \"quotes\""), map[string]any{"text/plain": "no \"quotes\""}},
		"json":              {JSON(map[string]int{"a": 1}), map[string]any{"application/json": json.RawMessage(`{"a":1}`), "text/plain": "{\n  \"a\": 1\n}"}},
	} {
		got := Of(test.value).Data
		if svg, ok := got["image/svg+xml"].(string); ok && test.want["text/html"] == nil {
			test.want["text/html"] = picture.HTML(svg)
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

func TestImages(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 2, 3))
	img.Set(1, 2, color.RGBA{255, 0, 0, 255})
	var pngFile, jpegFile bytes.Buffer
	png.Encode(&pngFile, img)
	jpeg.Encode(&jpegFile, img, nil)
	for name, test := range map[string]struct {
		bundle Bundle
		mime   string
	}{
		"image": {Of(img), "image/png"}, "PNG of image": {PNG(img), "image/png"}, "PNG of file": {PNG(pngFile.Bytes()), "image/png"},
		"JPEG of image": {JPEG(img), "image/jpeg"}, "JPEG of file": {JPEG(jpegFile.Bytes()), "image/jpeg"},
	} {
		text, _ := test.bundle.Data[test.mime].(string)
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got, _, err := image.Decode(bytes.NewReader(data))
		if err != nil || got.Bounds().Size() != image.Pt(2, 3) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if plain, _ := test.bundle.Data["text/plain"].(string); plain == "" {
			t.Errorf("%s has no plain form", name)
		}
	}
	for want, f := range map[string]func(){
		"display.PNG: these 3 bytes are not a PNG file": func() { PNG([]byte("abc")) },
		"not a PNG file": func() { PNG(jpegFile.Bytes()) },
		"display.JPEG: want []byte or image.Image, not int":  func() { JPEG(1) },
		"display.PNG: want []byte or image.Image, not <nil>": func() { PNG(nil) },
		"display.JSON: json: unsupported type: chan int":     func() { JSON(make(chan int)) },
	} {
		func() {
			defer func() {
				if err, _ := recover().(error); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("panicked with %v, want %s", err, want)
				}
			}()
			f()
		}()
	}
}
