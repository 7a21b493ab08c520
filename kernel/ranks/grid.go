package ranks

import (
	"fmt"
	"strings"

	"gocuda/kernel/display"
)

// The tables and pictures of many ranks stand side by side, or the reader would scroll
// through as many screens.
const (
	gridFrom  = 4 // so many do
	smallFrom = 9 // so many pictures are drawn at half their size
)

// abreast puts runs of labelled tables and pictures together.
func abreast(list []display.Bundle) (out []display.Bundle) {
	for len(list) > 0 {
		n := 0
		for n < len(list) && fitsGrid(list[n]) {
			n++
		}
		if n >= gridFrom {
			out = append(out, grid(list[:n]))
		} else {
			n = max(n, 1)
			out = append(out, list[:n]...)
		}
		list = list[n:]
	}
	return out
}

// fitsGrid says whether a labelled bundle is a picture or a table that does not change.
func fitsGrid(b display.Bundle) bool {
	for mime := range b.Data {
		if strings.HasPrefix(mime, "application/") { // a front end's own, such as a widget
			return false
		}
	}
	return b.DisplayID == "" && b.Data["text/html"] != nil
}

func grid(list []display.Bundle) display.Bundle {
	var html strings.Builder
	texts := make([]string, len(list))
	html.WriteString(`<div style="display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: flex-start">`)
	for i, b := range list {
		body, style := fmt.Sprint(b.Data["text/html"]), "overflow-x: auto"
		if len(list) >= smallFrom && strings.Contains(body, "<img") {
			style += "; zoom: 0.5"
		}
		fmt.Fprintf(&html, "<div style=%q>%s</div>\n", style, body)
		texts[i] = fmt.Sprint(b.Data["text/plain"])
	}
	html.WriteString("</div>")
	return display.Bundle{Data: map[string]any{"text/html": html.String(), "text/plain": strings.Join(texts, "\n")}}
}
