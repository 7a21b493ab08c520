package ranks

import (
	"fmt"
	"html"
	"maps"
	"strings"

	"gocuda/kernel/display"
	"gocuda/kernel/ranks/label"
)

// labelled is a bundle that says whose it is.
func labelled(b display.Bundle, ranks []int) display.Bundle {
	mark := label.Of(ranks)
	data := maps.Clone(b.Data)
	if data == nil {
		data = map[string]any{}
	}
	tag := `<div style="font-family: monospace; opacity: 0.7">` + html.EscapeString(mark) + "</div>"
	switch {
	case data["text/html"] != nil:
		data["text/html"] = tag + fmt.Sprint(data["text/html"])
	case data["image/png"] != nil:
		data["text/html"] = tag + embedded("image/png", data["image/png"])
	case data["image/jpeg"] != nil:
		data["text/html"] = tag + embedded("image/jpeg", data["image/jpeg"])
	case data["text/markdown"] != nil:
		data["text/markdown"] = "`" + mark + "`\n\n" + fmt.Sprint(data["text/markdown"])
	case data["text/latex"] != nil:
		data["text/html"] = tag + html.EscapeString(fmt.Sprint(data["text/latex"]))
	}
	if text, ok := data["text/plain"]; ok || len(data) == 0 {
		data["text/plain"] = label.Text(fmt.Sprint(text), mark)
	} else {
		data["text/plain"] = mark
	}
	b.Data = data
	return b
}

func embedded(mime string, data any) string {
	return fmt.Sprintf(`<img src="data:%s;base64,%s">`, mime, strings.ReplaceAll(fmt.Sprint(data), "\n", ""))
}

// isPlain says whether a bundle is text and nothing else.
func isPlain(b display.Bundle) bool {
	_, text := b.Data["text/plain"]
	return text && len(b.Data) == 1
}
