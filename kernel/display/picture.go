package display

import (
	"encoding/base64"
	"fmt"
	"html"
	"maps"
	"regexp"
	"strconv"
	"strings"
)

// Spot is a rectangle of a picture, in its pixels, with the text that is shown while the
// pointer is on it.
type Spot struct {
	X, Y, Width, Height float64
	About               string
}

// leastSize is how far a picture shrinks in a narrow page. Below that it is scrolled.
const leastSize = 0.8

// PictureHTML shows one <svg> element as an image within HTML, in the only form that all
// viewers show: JupyterLab hides image/svg+xml and takes <svg> elements apart in notebooks
// that are not trusted, GitHub removes both.
func PictureHTML(svg string, spots ...Spot) string {
	size := svgDimensions(svg)
	width, height := pixels(size["width"]), pixels(size["height"])
	known := width > 0 && height > 0
	least := ""
	if known {
		least = fmt.Sprintf(";min-width:%.0fpx", width*leastSize)
	}
	img := fmt.Sprintf(`<img alt="%s" src="data:image/svg+xml;base64,%s" style="display:block;max-width:100%%%s">`,
		html.EscapeString(svgName(svg)), base64.StdEncoding.EncodeToString([]byte(svg)), least)
	if !known {
		return img
	}
	if len(spots) > 0 {
		var o strings.Builder
		fmt.Fprintf(&o, `<div style="position:relative;max-width:%.0fpx%s">%s`, width, least, img)
		for _, s := range spots {
			fmt.Fprintf(&o, `<span title="%s" style="position:absolute;left:%.2f%%;top:%.2f%%;width:%.2f%%;height:%.2f%%"></span>`,
				html.EscapeString(s.About), 100*s.X/width, 100*s.Y/height, 100*s.Width/width, 100*s.Height/height)
		}
		img = o.String() + "</div>"
	}
	return `<div style="overflow-x:auto">` + img + "</div>"
}

// withPicture adds to SVG the form in which it can be seen everywhere.
func (b Bundle) withPicture() Bundle {
	svg, ok := b.Data[mimeSVG].(string)
	if _, has := b.Data[mimeHTML]; has || !ok {
		return b
	}
	data := maps.Clone(b.Data)
	data[mimeHTML] = PictureHTML(svg)
	b.Data = data
	return b
}

// svgTag is the first tag of an SVG document.
var (
	svgTag   = regexp.MustCompile(`<svg\b[^>]*>`)
	svgSize  = regexp.MustCompile(`\s(width|height)\s*=\s*["']([^"']{1,20})["']`)
	svgLabel = regexp.MustCompile(`\saria-label\s*=\s*"([^"]*)"`)
	svgTitle = regexp.MustCompile(`<title>([^<]*)</title>`)
)

// svgDimensions are the width and the height that an SVG document says it has.
func svgDimensions(source string) map[string]string {
	size := map[string]string{}
	for _, m := range svgSize.FindAllStringSubmatch(svgTag.FindString(source), -1) {
		size[m[1]] = m[2]
	}
	return size
}

// pixels is a length in pixels; 0 if it is none, or depends on the page.
func pixels(length string) float64 {
	for unit, factor := range map[string]float64{"px": 1, "pt": 96. / 72, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4} {
		if n, ok := strings.CutSuffix(length, unit); ok {
			v, _ := strconv.ParseFloat(strings.TrimSpace(n), 64)
			return v * factor
		}
	}
	v, _ := strconv.ParseFloat(length, 64)
	return v
}

// svgText is what stands for a picture where none can be shown. Its source is
// of no use there, and can be long.
func svgText(source string) string {
	size := svgDimensions(source)
	if size["width"] == "" || size["height"] == "" {
		return "SVG image"
	}
	return fmt.Sprintf("SVG image, %s x %s", size["width"], size["height"])
}

// svgName is what a picture says of itself.
func svgName(source string) string {
	for _, m := range [][]string{svgLabel.FindStringSubmatch(svgTag.FindString(source)), svgTitle.FindStringSubmatch(source)} {
		if m != nil && m[1] != "" {
			return html.UnescapeString(m[1])
		}
	}
	return svgText(source)
}

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
