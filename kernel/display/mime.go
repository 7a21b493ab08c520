package display

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"maps"
	"regexp"
	"strings"

	"gocuda/internal/picture"
)

// The MIME types that the functions of this package fill in.
const (
	mimeText     = "text/plain"
	mimeHTML     = "text/html"
	mimeMarkdown = "text/markdown"
	mimeLaTeX    = "text/latex"
	mimeSVG      = "image/svg+xml"
	mimePNG      = "image/png"
	mimeJPEG     = "image/jpeg"
	mimeJSON     = "application/json"
)

// HTML shows source as HTML.
func HTML(source string) Bundle { return sourceBundle(mimeHTML, source) }

// Markdown shows source as Markdown, with mathematics between $ signs.
func Markdown(source string) Bundle { return sourceBundle(mimeMarkdown, source) }

// LaTeX shows source as LaTeX mathematics, such as `$\sum_i x_i$`.
func LaTeX(source string) Bundle { return sourceBundle(mimeLaTeX, source) }

// SVG shows source, one <svg> element, as a picture.
func SVG(source string) Bundle {
	source = withNamespace(source)
	return Bundle{Data: map[string]any{mimeSVG: source, mimeText: picture.Text(source)}}
}

// withPicture adds to SVG the form in which it can be seen everywhere.
func (b Bundle) withPicture() Bundle {
	svg, ok := b.Data[mimeSVG].(string)
	if _, has := b.Data[mimeHTML]; has || !ok {
		return b
	}
	b.Data = maps.Clone(b.Data)
	b.Data[mimeHTML] = picture.HTML(svg)
	return b
}

var svgTag = regexp.MustCompile(`<svg\b[^>]*>`)

// withNamespace adds to an <svg> element the namespace without which browsers
// do not draw it as a picture.
func withNamespace(source string) string {
	at := svgTag.FindStringIndex(source)
	if at == nil || strings.Contains(source[at[0]:at[1]], "xmlns=") {
		return source
	}
	at[0] += len("<svg")
	return source[:at[0]] + ` xmlns="http://www.w3.org/2000/svg"` + source[at[0]:]
}

// Text shows text as it is, without quotes.
func Text(text string) Bundle { return Bundle{Data: map[string]any{mimeText: text}} }

// maxSourceText bounds how much of a source stands for what it shows.
const maxSourceText = 64 << 10

// sourceBundle offers the source itself where its type cannot be shown.
func sourceBundle(mime, source string) Bundle {
	text := source
	if len(text) > maxSourceText {
		text = strings.ToValidUTF8(text[:maxSourceText], "") + "..."
	}
	return Bundle{Data: map[string]any{mime: source, mimeText: text}}
}

// JSON shows v as a tree that can be unfolded. v is encoded at once, so that
// later changes to it do not show. It panics if encoding/json cannot take v.
func JSON(v any) Bundle {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Errorf("display.JSON: %w", err))
	}
	var text bytes.Buffer
	json.Indent(&text, data, "", "  ")
	return Bundle{Data: map[string]any{mimeJSON: json.RawMessage(data), mimeText: text.String()}}
}

// PNG shows a picture: the bytes of a PNG file, or an image.Image, which is
// encoded as PNG. It panics on anything else.
func PNG(picture any) Bundle {
	switch p := picture.(type) {
	case []byte:
		if _, err := png.DecodeConfig(bytes.NewReader(p)); err != nil {
			panic(fmt.Errorf("display.PNG: these %d bytes are not a PNG file: %w", len(p), err))
		}
		return bytesBundle(mimePNG, p, "PNG image")
	case image.Image:
		var buf bytes.Buffer
		if err := png.Encode(&buf, p); err != nil {
			panic(fmt.Errorf("display.PNG: %w", err))
		}
		return bytesBundle(mimePNG, buf.Bytes(), imageText(p))
	}
	panic(fmt.Errorf("display.PNG: want []byte or image.Image, not %T", picture))
}

// JPEG shows a picture: the bytes of a JPEG file, or an image.Image, which is
// encoded as JPEG. It panics on anything else.
func JPEG(picture any) Bundle {
	switch p := picture.(type) {
	case []byte:
		if _, err := jpeg.DecodeConfig(bytes.NewReader(p)); err != nil {
			panic(fmt.Errorf("display.JPEG: these %d bytes are not a JPEG file: %w", len(p), err))
		}
		return bytesBundle(mimeJPEG, p, "JPEG image")
	case image.Image:
		var buf bytes.Buffer
		if err := jpeg.Encode(&buf, p, &jpeg.Options{Quality: 90}); err != nil {
			panic(fmt.Errorf("display.JPEG: %w", err))
		}
		return bytesBundle(mimeJPEG, buf.Bytes(), imageText(p))
	}
	panic(fmt.Errorf("display.JPEG: want []byte or image.Image, not %T", picture))
}

func bytesBundle(mime string, data []byte, text string) Bundle {
	return Bundle{Data: map[string]any{mime: base64.StdEncoding.EncodeToString(data), mimeText: text}}
}

func imageText(img image.Image) string {
	size := img.Bounds().Size()
	return fmt.Sprintf("%T, %d x %d pixels", img, size.X, size.Y)
}

// text is the plain form that terminals and logs show.
func (b Bundle) text() string {
	switch t := b.Data[mimeText].(type) {
	case string:
		return t
	case nil:
		return ""
	default:
		return fmt.Sprint(t)
	}
}
