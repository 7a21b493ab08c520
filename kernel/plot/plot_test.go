package plot_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gocuda/kernel/display"
	"gocuda/kernel/plot"
)

// words are the texts of an SVG picture, which must be well formed.
func words(t *testing.T, b display.Bundle) string {
	t.Helper()
	source, _ := b.Data["image/svg+xml"].(string)
	if !strings.HasPrefix(source, "<svg") {
		t.Fatalf("not a picture: %.80q", source)
	}
	var out strings.Builder
	d := xml.NewDecoder(strings.NewReader(source))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			if s := strings.TrimSpace(string(text)); s != "" {
				out.WriteString(s + "|")
			}
		}
	}
}

func TestChartsHaveTheirWordsAndNumbers(t *testing.T) {
	axes := plot.Axes{Title: "Copies & waits", X: "size", Y: "GB/s"}
	bytesAxes := axes
	bytesAxes.LogX, bytesAxes.BytesX = true, true
	nan := math.NaN()
	for name, c := range map[string]struct {
		draw        func() (display.Bundle, error)
		words, text []string
	}{
		"lines": {
			func() (display.Bundle, error) {
				return plot.Lines(bytesAxes,
					plot.Series{Name: "staged", X: []float64{1 << 10, 1 << 20}, Y: []float64{21.5, 53}},
					plot.Series{Name: "limit", X: []float64{1 << 20}, Y: []float64{396}, Dashed: true})
			},
			[]string{"Copies & waits", "size", "GB/s", "1 KiB", "1 MiB", "staged", "limit"},
			[]string{"1 KiB    21.5", "1 MiB      53    396"},
		},
		"one point": {
			func() (display.Bundle, error) {
				return plot.Lines(axes, plot.Series{X: []float64{3}, Y: []float64{-2}})
			},
			[]string{"Copies & waits"}, []string{"series 1", "-2"},
		},
		"scattered": {
			func() (display.Bundle, error) {
				return plot.Lines(axes, plot.Series{Name: "dots", X: []float64{1, 2, 3}, Y: []float64{1, 5, 2}, Scattered: true},
					plot.Series{Name: "line", X: []float64{1, 2}, Y: []float64{0, 1}})
			},
			[]string{"dots", "line"}, []string{"dots: 3 points", "1     0"},
		},
		"numbers in a grid": {
			func() (display.Bundle, error) {
				return plot.Heatmap(axes, []string{"GPU 0", "GPU 1"}, []string{"to 0", "to 1"}, [][]float64{{nan, 396}, {380, nan}})
			},
			[]string{"GPU 0", "GPU 1", "to 0", "to 1", "396", "380"}, []string{"GPU 1   380   NaN"},
		},
		"all the same": {
			func() (display.Bundle, error) {
				return plot.Heatmap(axes, []string{"a"}, []string{"b"}, [][]float64{{7}})
			},
			[]string{"7"}, []string{"7"},
		},
		"a field": {
			func() (display.Bundle, error) { return plot.Heatmap(axes, nil, nil, [][]float64{{0, 1}, {2, 3}}) },
			[]string{"Copies & waits"}, []string{"2 by 2 values from 0 to 3"},
		},
		"bars": {
			func() (display.Bundle, error) { return plot.Bars(axes, []string{"one", "two"}, []float64{1, 2}) },
			[]string{"one", "two"}, []string{"two     2"},
		},
		"timeline": {
			func() (display.Bundle, error) {
				return plot.Timeline(axes, plot.Bar{Row: "stream 0", Label: "copy", End: 2}, plot.Bar{Row: "stream 1", Label: "kernel", Start: 2, End: 5})
			},
			[]string{"stream 0", "stream 1", "copy", "kernel"}, []string{"stream 1  kernel     2   5"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := c.draw()
			if err != nil {
				t.Fatal(err)
			}
			drawn := words(t, b)
			for _, w := range c.words {
				if !strings.Contains(drawn, w) {
					t.Errorf("%q is not drawn; drawn are %s", w, drawn)
				}
			}
			for _, w := range c.text {
				if text := b.Data["text/plain"].(string); !strings.Contains(text, w) {
					t.Errorf("the text lacks %q:\n%s", w, text)
				}
			}
		})
	}
}

// Scattered points have circles and no line; many points of a line have no circles.
func TestLogarithmicAxesAreLabelled(t *testing.T) {
	for name, c := range map[string]struct {
		y     []float64
		words string
	}{
		"decades":           {[]float64{1, 1000}, "|1|10|100|1000|"},
		"very small":        {[]float64{1e-12, 1e-10}, "|1e-12|1e-11|1e-10|"},
		"many decades":      {[]float64{1e-20, 1e-10}, "|1e-20|1e-18|1e-16|1e-14|1e-12|1e-10|"},
		"within one decade": {[]float64{0.22, 0.41}, "|0.3|0.4|"},
		"narrow":            {[]float64{31, 36}, "|31|32|33|34|35|36|"},
		"about one decade":  {[]float64{21, 190}, "|50|100|200|"},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := plot.Lines(plot.Axes{LogY: true, BytesX: true}, plot.Series{X: []float64{1, 2}, Y: c.y})
			if err != nil {
				t.Fatal(err)
			}
			if got := words(t, b); !strings.Contains(got, c.words) {
				t.Errorf("words %q, want %q among them", got, c.words)
			}
		})
	}
}

func TestScatteredPointsHaveNoLine(t *testing.T) {
	const n = 100
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	strokes := func(scattered bool) (lines, circles int) {
		b, err := plot.Lines(plot.Axes{}, plot.Series{X: x, Y: x, Scattered: scattered})
		if err != nil {
			t.Fatal(err)
		}
		svg := b.Data["image/svg+xml"].(string)
		return strings.Count(svg, "stroke:#0072B2"), strings.Count(svg, "fill:#0072B2")
	}
	if lines, circles := strokes(true); lines != 0 || circles != n {
		t.Errorf("scattered points: %d lines and %d circles", lines, circles)
	}
	if lines, circles := strokes(false); lines != 1 || circles != 0 {
		t.Errorf("a line: %d lines and %d circles", lines, circles)
	}
}

// The legend is where the lines are not.
func TestTheLegendLeavesTheLinesFree(t *testing.T) {
	x, up, down := []float64{1, 2, 3, 4}, []float64{1, 10, 100, 1000}, []float64{1000, 100, 10, 1}
	// several are as many series of these values.
	several := func(y []float64) (list []plot.Series) {
		for _, name := range []string{"words", "b", "c", "d", "e"} {
			list = append(list, plot.Series{Name: name, X: x, Y: y})
		}
		return list
	}
	for name, c := range map[string]struct {
		series []plot.Series
		left   bool
	}{
		"one rising line stays below": {several(up)[:1], false},
		"rising":                      {several(up), true},
		"falling":                     {several(down), false},
	} {
		b, err := plot.Lines(plot.Axes{LogY: true}, c.series...)
		if err != nil {
			t.Fatal(err)
		}
		place := regexp.MustCompile(`<text x="([0-9.]+)"[^>]*>words ?</text>`).FindStringSubmatch(strings.ReplaceAll(b.Data["image/svg+xml"].(string), "\n", ""))
		if place == nil {
			t.Fatalf("%s: no legend", name)
		}
		at, err := strconv.ParseFloat(place[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if left := at < 240; left != c.left { // of 480 points
			t.Errorf("%s: the legend is at %g of 480", name, at)
		}
	}
}

// Where every corner has points, the legend is beside the chart, not on them.
func TestTheLegendLeavesPointsFree(t *testing.T) {
	var x, y []float64
	for i := range 400 {
		x, y = append(x, float64(i%20)), append(y, float64(i/20))
	}
	cloud := plot.Series{Name: "cloud", X: x, Y: y, Scattered: true}
	b, err := plot.Lines(plot.Axes{}, cloud, cloud, cloud, cloud)
	if err != nil {
		t.Fatal(err)
	}
	svg := strings.ReplaceAll(b.Data["image/svg+xml"].(string), "\n", "")
	last := 0.0
	for _, m := range regexp.MustCompile(`<path d="M([0-9.]+),[^"]*A[^"]*" style="fill:#[0-9A-F]{6}"`).FindAllStringSubmatch(svg, 1600) {
		v, _ := strconv.ParseFloat(m[1], 64)
		last = max(last, v)
	}
	place := regexp.MustCompile(`<text x="([0-9.]+)"[^>]*>cloud</text>`).FindStringSubmatch(svg)
	if place == nil {
		t.Fatal("no legend in", svg)
	}
	if at, _ := strconv.ParseFloat(place[1], 64); last == 0 || at < last {
		t.Errorf("the legend is at %g, points are up to %g", at, last)
	}
}

// Screen readers get a name and the numbers; texts have the width that they were given
// room for, whatever the viewer's font.
func TestPicturesAreReadable(t *testing.T) {
	b, err := plot.Bars(plot.Axes{Title: "A & B"}, []string{"one"}, []float64{1.5})
	if err != nil {
		t.Fatal(err)
	}
	svg := b.Data["image/svg+xml"].(string)
	for _, want := range []string{`role="img" aria-label="A &amp; B"><title>A &amp; B</title>`, "one  1.5", `lengthAdjust="spacingAndGlyphs">A &amp; B</text>`} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in %.900s", want, svg)
		}
	}
	if n, all := strings.Count(svg, " textLength="), strings.Count(svg, "<text "); n != all || n == 0 {
		t.Errorf("%d of %d texts have a width", n, all)
	}
}

// Two charts with the same Low and High can be compared: the same value is in the same
// place, or has the same shade.
func TestCommonAxes(t *testing.T) {
	shade := func(low, high float64, values ...float64) string {
		b, err := plot.Heatmap(plot.Axes{Low: low, High: high}, []string{"a"}, []string{"b", "c"}, [][]float64{values})
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`Z" style="fill:(#[0-9A-F]{6})`).FindAllStringSubmatch(b.Data["image/svg+xml"].(string), -1)[2][1]
	}
	if a, b := shade(0, 300, 35, 36), shade(0, 300, 35, 290); a != b {
		t.Errorf("35 of 300 is drawn as %s and as %s", a, b)
	}
	if a, b := shade(0, 0, 35, 36), shade(0, 0, 35, 290); a == b {
		t.Errorf("the highest value and an eighth of it are both %s", a)
	}
	for _, end := range []float64{10, 300} {
		b, err := plot.Timeline(plot.Axes{High: 500}, plot.Bar{Row: "s", Label: "copy", End: end})
		if err != nil {
			t.Fatal(err)
		}
		if drawn := words(t, b); !strings.Contains(drawn, "|500|") {
			t.Errorf("the axis of %s does not go to 500", drawn)
		}
	}
}

// A picture is white to its edges: its letters are black, and the page may be dark.
func TestTheWholePictureIsWhite(t *testing.T) {
	b, err := plot.Bars(plot.Axes{Width: 320, Height: 240}, []string{"a"}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	svg := b.Data["image/svg+xml"].(string)
	if want := `<path d="M0,0L240,0L240,180L0,180Z" style="fill:#FFFFFF" />`; !strings.Contains(strings.ReplaceAll(svg, "\n", ""), want) {
		t.Errorf("no background of 240 by 180 points in %.600s", svg)
	}
}

// A timeline's legend is above its boxes, what is shown on a box says its times, and
// what is too thin to be seen apart is one box.
func TestATimelineCanBeRead(t *testing.T) {
	bars := []plot.Bar{{Row: "s", Label: "copy <in>", End: 3, About: "16 MiB & more"}, {Row: "s", Label: "a long kernel", Start: 3, End: 10},
		{Row: "t", Label: "cuStreamWaitEvent", Kind: "stream wait", Start: 1, End: 4}}
	for i := range 1000 {
		bars = append(bars, plot.Bar{Row: "u", Label: "tiny", Start: 5 + float64(i)/1000, End: 5 + float64(i)/1000 + 0.0005})
	}
	b, err := plot.Timeline(plot.Axes{Title: "A & B", X: "µs", Width: 1000}, bars...)
	if err != nil {
		t.Fatal(err)
	}
	drawn := words(t, b)
	for _, w := range []string{"16 MiB & more", "a long kernel: 3 to 10", "1000 × tiny, 0.5 together, from 5 to 5.999", "A timeline of 1003 boxes in 3 rows, from 0 to 10 µs."} {
		if !strings.Contains(drawn, w) {
			t.Errorf("%q is not drawn; drawn are %s", w, drawn)
		}
	}
	svg := b.Data["image/svg+xml"].(string)
	height := func(pattern string) float64 {
		m := regexp.MustCompile(pattern).FindStringSubmatch(svg)
		if m == nil {
			t.Fatalf("no %s in %s", pattern, svg)
		}
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	box := height(`<title>a long kernel: 3 to 10</title><rect x="[0-9.]+" y="([0-9.]+)"`)
	if words := height(`<text x="[0-9.]+" y="([0-9.]+)">a long kernel</text>`); words > box {
		t.Errorf("the legend is at %g, the boxes begin at %g", words, box)
	}
	if !strings.Contains(svg, `role="img" aria-label="A &amp; B"`) || !strings.Contains(svg, "url(#hatch-") {
		t.Errorf("no name for readers, or a wait that is not hatched: %s", svg)
	}
}

func TestWhatCannotBeDrawnIsNamed(t *testing.T) {
	bad := math.NaN()
	for want, draw := range map[string]func() (display.Bundle, error){
		"no series": func() (display.Bundle, error) { return plot.Lines(plot.Axes{}) },
		"series a has 2 x and 1 y values": func() (display.Bundle, error) {
			return plot.Lines(plot.Axes{}, plot.Series{"a", []float64{1, 2}, []float64{1}, false, false})
		},
		"series a has no points": func() (display.Bundle, error) { return plot.Lines(plot.Axes{}, plot.Series{Name: "a"}) },
		"series a: y[1] is NaN": func() (display.Bundle, error) {
			return plot.Lines(plot.Axes{}, plot.Series{"a", []float64{1, 2}, []float64{1, bad}, false, false})
		},
		"series a: x[0] is 0 on a logarithmic axis": func() (display.Bundle, error) {
			return plot.Lines(plot.Axes{LogX: true}, plot.Series{"a", []float64{0}, []float64{1}, false, false})
		},
		"row 1 has 1 values":       func() (display.Bundle, error) { return plot.Heatmap(plot.Axes{}, nil, nil, [][]float64{{1, 2}, {1}}) },
		"every value is NaN":       func() (display.Bundle, error) { return plot.Heatmap(plot.Axes{}, nil, nil, [][]float64{{bad}}) },
		"no values":                func() (display.Bundle, error) { return plot.Heatmap(plot.Axes{}, nil, nil, nil) },
		"1 row and 0 column names": func() (display.Bundle, error) { return plot.Heatmap(plot.Axes{}, []string{"a"}, nil, [][]float64{{1}}) },
		"2 names and 1 values":     func() (display.Bundle, error) { return plot.Bars(plot.Axes{}, []string{"a", "b"}, []float64{1}) },
		"the value of b is +Inf": func() (display.Bundle, error) {
			return plot.Bars(plot.Axes{}, []string{"a", "b"}, []float64{1, math.Inf(1)})
		},
		"no bars": func() (display.Bundle, error) { return plot.Timeline(plot.Axes{}) },
		"bar 0 (s, copy) runs from 2 to 1": func() (display.Bundle, error) {
			return plot.Timeline(plot.Axes{}, plot.Bar{Row: "s", Label: "copy", Start: 2, End: 1})
		},
		"5 by 60 pixels": func() (display.Bundle, error) {
			return plot.Bars(plot.Axes{Width: 5, Height: 60}, []string{"a"}, []float64{1})
		},
	} {
		if _, err := draw(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want an error that says %q", err, want)
		}
	}
}

// What is counted is not marked between two numbers.
func TestWholeNumbersAreMarkedAsSuch(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want string
	}{
		{[]float64{1, 2}, "1|2|"},
		{[]float64{1, 2, 4, 8}, "2|4|6|8|"},
		{[]float64{0, 0.5}, "0.0|0.1|0.2|0.3|0.4|0.5|"},
	} {
		b, err := plot.Lines(plot.Axes{}, plot.Series{X: c.x, Y: make([]float64, len(c.x))})
		if err != nil {
			t.Fatal(err)
		}
		if got := words(t, b); !strings.Contains(got, "|"+c.want) {
			t.Errorf("%v: words %q, want %q first", c.x, got, c.want)
		}
	}
}

// The legend of a timeline with one lane does not stand on the axis.
// A timeline of more rows than a picture can have draws the first.
func TestATimelineOfManyRows(t *testing.T) {
	var bars []plot.Bar
	for i := range 1000 {
		bars = append(bars, plot.Bar{Row: fmt.Sprintf("stream %d", i), Label: "kernel", Start: float64(i), End: float64(i + 1)})
	}
	b, err := plot.Timeline(plot.Axes{X: "µs"}, bars...)
	if err != nil {
		t.Fatal(err)
	}
	svg := b.Data["image/svg+xml"].(string)
	if !strings.Contains(svg, "stream 255<") || strings.Contains(svg, "stream 256<") || !strings.Contains(svg, "and 744 more rows") {
		t.Error("the picture does not have the first 256 rows, and how many there are besides")
	}
}

func TestALowTimelineHasRoom(t *testing.T) {
	b, err := plot.Timeline(plot.Axes{X: "µs"}, plot.Bar{Row: "lane", Label: "one", End: 3}, plot.Bar{Row: "lane", Label: "two", Start: 3, End: 10},
		plot.Bar{Row: "lane", Label: "three", Start: 10, End: 20})
	if err != nil {
		t.Fatal(err)
	}
	svg := strings.ReplaceAll(b.Data["image/svg+xml"].(string), "\n", "")
	height := func(word string) float64 {
		m := regexp.MustCompile(`<text x="[-0-9.]+" y="([-0-9.]+)"[^>]*>` + word + ` ?</text>`).FindStringSubmatch(svg)
		if m == nil {
			t.Fatalf("no %s in %s", word, svg)
		}
		y, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return y
	}
	if lowest, axis := height("three"), height("0"); math.Abs(lowest-axis) < 40 {
		t.Errorf("the last name of the legend is at %g, the axis's numbers are at %g", lowest, axis)
	}
}

func TestLine(t *testing.T) {
	for _, x := range [][]float64{nil, {0, 1, 2}} {
		got, err := plot.Line(x, []float64{2, 8, 4})
		if err != nil {
			t.Fatal(err)
		}
		want, err := plot.Lines(plot.Axes{}, plot.Series{X: []float64{0, 1, 2}, Y: []float64{2, 8, 4}})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("x %v: %v, %v", x, got, err)
		}
	}
	if _, err := plot.Line([]float64{1}, []float64{1, 2}); err == nil {
		t.Error("one x for two y")
	}
}
