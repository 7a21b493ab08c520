package assist

import (
	"os/exec"
	"strings"
	"testing"
)

// TestInspect marks the cursor by a bar; without one it is at the end. Each
// line of want is in the text, or, after an exclamation mark, is not.
func TestInspect(t *testing.T) {
	s := newSession(t)
	for _, c := range []struct {
		code   string
		detail int
		want   string
	}{
		{"here", 0, "var here Point\nPoint is a place."},
		{"he|re.X", 0, "var here Point"},
		{"here.X", 0, "field X int"},
		{"here.Len", 0, "func (*Point).Len() float64\nLen is the distance from the origin.\n!return 0"},
		{"here.Len", 1, "func (p *Point) Len() float64 { return 0 }\nLen is the distance"},
		{"Point", 0, "type Point struct {\nX   int\nPoint is a place.\nIt is flat.\nfunc (*Point) Len() float64\nfunc (Point) String() string"},
		{"Point", 1, "X, Y int // where it is"},
		{"distance", 0, "func distance(from Point, to Point) (d float64, err error)\ndistance measures.\n!return 0"},
		{"distance(|", 0, "func distance("},
		{"distance(here, |", 0, "func distance("},
		{"distance(here, Point{1, 2|", 0, "func distance("},
		{"distance", 1, "return 0, nil"},
		{"Origin", 0, "const Origin untyped int = 0\nOrigin is zero."},
		{"Shape", 0, "type Shape interface {\nArea() float64"},
		{"List", 0, "type List[T any] struct"},
		{"display.HTML", 0, "func display.HTML(source string) display.Bundle\nHTML shows source as HTML."},
		{"display.HTML(\"x\")|", 0, "func display.HTML(source string)"},
		{"display", 0, "package display // import \"gocuda/kernel/display\"\nPackage display shows values"},
		{"display", 1, "func HTML(source string) Bundle\ntype Bar struct"},
		{"display.Bar", 0, "type Bar struct {\nunexported fields\nBar is a progress bar.\nfunc (*Bar) Add(n int)"},
		{"// Half halves.\nfunc Half(x int) int { return x/2 }\nHalf|(4)", 0, "func Half(x int) int\nHalf halves.\n!return"},
		{"// Half halves.\nfunc Half(x int) int { return x/2 }\nHalf|(4)", 1, "return x/2"},
		{"x := here\nx|", 0, "var x Point"},
		{"for i := range 3 { i|", 0, "var i int"},
		{"%who", 0, "%who ["},
		{"%%bash|\nls", 0, "%%bash"},
		{"error", 0, "error"},
	} {
		cursor := strings.Index(c.code, "|")
		code := strings.Replace(c.code, "|", "", 1)
		if cursor < 0 {
			cursor = len(code)
		}
		b := Inspect(s, magics, code, cursor, c.detail)
		if b == nil {
			t.Errorf("%q: nothing is known", c.code)
			continue
		}
		text := b.Data["text/plain"].(string)
		for _, w := range strings.Split(c.want, "\n") {
			if unwanted, ok := strings.CutPrefix(w, "!"); ok && strings.Contains(text, unwanted) {
				t.Errorf("%q: the text has %q:\n%s", c.code, unwanted, text)
			} else if !ok && !strings.Contains(text, w) {
				t.Errorf("%q: the text lacks %q:\n%s", c.code, w, text)
			}
		}
		if page := b.Data["text/html"].(string); !strings.Contains(page, "<pre>") {
			t.Errorf("%q: HTML without code: %s", c.code, page)
		}
	}
	for _, code := range []string{"", "nosuchname", "1+", "here.nosuch", "\"here\"", "// here", "%nosuch", "here + |"} {
		cursor := strings.Index(code, "|")
		if cursor < 0 {
			cursor = len(code)
		}
		if b := Inspect(s, magics, strings.Replace(code, "|", "", 1), cursor, 0); b != nil {
			t.Errorf("%q: got %q, want nothing", code, b.Data["text/plain"])
		}
	}
}

func TestInspectTheStandardLibrary(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the standard library's documentation is in its source, and Go is not installed")
	}
	s := newSession(t)
	for code, want := range map[string]string{
		"strings.Contains":        "func Contains(s, substr string) bool\nContains reports whether",
		"fmt.Println(|":           "func Println(a ...any) (n int, err error)\nPrintln formats",
		"strings":                 "package strings // import \"strings\"\nPackage strings implements",
		"time.Second":             "Second",
		"time.Duration":           "type Duration int64\nA Duration represents\nfunc (Duration) Hours() float64",
		"time.Now().Add":          "func (t Time) Add(d Duration) Time\nAdd returns the time",
		"http.Client{}.Timeout":   "Timeout time.Duration\nTimeout specifies a time limit",
		"var r io.Reader\nr.Read": "Read(p []byte) (n int, err error)",
		"append":                  "append(slice []Type, elems ...Type) []Type\nThe append built-in",
		"var e error\ne.Error":    "Error() string",
	} {
		cursor := strings.Index(code, "|")
		if cursor < 0 {
			cursor = len(code)
		}
		b := Inspect(s, magics, strings.Replace(code, "|", "", 1), cursor, 0)
		if b == nil {
			t.Errorf("%q: nothing is known", code)
			continue
		}
		for _, w := range strings.Split(want, "\n") {
			if text := b.Data["text/plain"].(string); !strings.Contains(text, w) {
				t.Errorf("%q: the text lacks %q:\n%s", code, w, text)
			}
		}
	}
}
