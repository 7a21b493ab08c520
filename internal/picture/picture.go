// Package picture shows SVG in HTML, in the one form that all viewers of notebooks show.
package picture

import (
	"encoding/base64"
	"fmt"
	"html"
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
const leastSize = 0.7

// Dark is a <style> element of SVG by which a picture on white is dark on pages whose
// color-scheme is, such as JupyterLab's in its dark theme. Hues stay.
const Dark = `<style>@media (prefers-color-scheme:dark){svg{filter:invert(.9) hue-rotate(180deg)}}</style>`

// HTML shows one <svg> element as an image. JupyterLab hides image/svg+xml and takes <svg>
// elements apart in notebooks that are not trusted; GitHub removes both.
func HTML(svg string, spots ...Spot) string {
	size := dimensions(svg)
	width, height := pixels(size["width"]), pixels(size["height"])
	known := width > 0 && height > 0
	least := ""
	if known {
		least = fmt.Sprintf(";min-width:%.0fpx", width*leastSize)
	}
	img := fmt.Sprintf(`<img alt="%s" src="data:image/svg+xml;base64,%s" style="display:block;max-width:100%%%s"/>`,
		html.EscapeString(name(svg)), base64.StdEncoding.EncodeToString([]byte(svg)), least)
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

// tag is the first tag of an SVG document.
var (
	tag   = regexp.MustCompile(`<svg\b[^>]*>`)
	sizes = regexp.MustCompile(`\s(width|height)\s*=\s*["']([^"']{1,20})["']`)
	label = regexp.MustCompile(`\saria-label\s*=\s*"([^"]*)"`)
	title = regexp.MustCompile(`<title>([^<]*)</title>`)
)

// dimensions are the width and the height that an SVG document says it has.
func dimensions(source string) map[string]string {
	size := map[string]string{}
	for _, m := range sizes.FindAllStringSubmatch(tag.FindString(source), -1) {
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

// Text is what stands for a picture where none can be shown. Its source is
// of no use there, and can be long.
func Text(source string) string {
	size := dimensions(source)
	if size["width"] == "" || size["height"] == "" {
		return "SVG image"
	}
	return fmt.Sprintf("SVG image, %s x %s", size["width"], size["height"])
}

// name is what a picture says of itself.
func name(source string) string {
	for _, m := range [][]string{label.FindStringSubmatch(tag.FindString(source)), title.FindStringSubmatch(source)} {
		if m != nil && m[1] != "" {
			return html.UnescapeString(m[1])
		}
	}
	return Text(source)
}
