package display

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"gocuda/internal/picture"
)

// A picture is an image in HTML, with its name; nothing of its source stands in the page,
// where a viewer would show it as text.
func TestPicturesAreImages(t *testing.T) {
	source := `<svg xmlns="http://www.w3.org/2000/svg" width="480pt" height="60" aria-label="a &lt; b"><text>words</text></svg>`
	for name, page := range map[string]any{
		"display.SVG": Of(SVG(source)).Data["text/html"],
		"a method":    Of(rich{svg: source}).Data["text/html"],
		"a bundle":    Of(Bundle{Data: map[string]any{"image/svg+xml": source}}).Data["text/html"],
		"with spots":  picture.HTML(source, picture.Spot{X: 64, Y: 6, Width: 32, Height: 12, About: `said "here"`}),
	} {
		page, _ := page.(string)
		m := regexp.MustCompile(`<img alt="a &lt; b" src="data:image/svg\+xml;base64,([^"]+)" style="[^"]*min-width:448px"/>`).FindStringSubmatch(page)
		if m == nil {
			t.Errorf("%s: %s", name, page)
			continue
		}
		if data, err := base64.StdEncoding.DecodeString(m[1]); err != nil || string(data) != source {
			t.Errorf("%s: the image is %s, %v", name, data, err)
		}
		if strings.Contains(page, "words") || strings.Contains(page, "<svg") {
			t.Errorf("%s: the page has the source: %s", name, page)
		}
	}
	page := picture.HTML(source, picture.Spot{X: 64, Y: 6, Width: 32, Height: 12, About: `said "here"`})
	if want := `<span title="said &#34;here&#34;" style="position:absolute;left:10.00%;top:10.00%;width:5.00%;height:20.00%">`; !strings.Contains(page, want) {
		t.Errorf("no spot in %s", page)
	}
}
