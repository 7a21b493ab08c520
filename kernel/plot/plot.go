// Package plot draws the charts of a notebook: lines, bars, heat maps and
// timelines, as SVG with the numbers beside it as plain text. The drawing is
// done by gonum.org/v1/plot, but for timelines.
//
// Each function returns what a cell shows, so a chart is the last expression:
//
//	plot.Lines(plot.Axes{Title: "Peer copy", X: "size", Y: "GB/s", LogX: true, BytesX: true},
//		plot.Series{Name: "direct", X: sizes, Y: rates})
//
// Numbers that cannot be drawn (NaN, infinite, not positive on a logarithmic
// axis, series of unequal lengths) are errors that name the series and the
// index; nothing is left out silently.
package plot

import (
	"cmp"
	"fmt"
	"html"
	"image/color"
	"math"
	"regexp"
	"strconv"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"gocuda/internal/picture"
	"gocuda/kernel/display"
)

// Axes says what a chart is about and how its axes are drawn.
type Axes struct {
	Title, X, Y string // the axes' names, with their units
	LogX, LogY  bool
	// BytesX labels a logarithmic x axis by powers of two: 4 KiB, 1 MiB.
	BytesX bool
	// Low and High are what the axis of values covers at least, so that charts can be
	// compared: the y axis of lines and bars, the time axis of a timeline, the shades
	// of a heat map. Both 0: the values alone decide.
	Low, High float64
	// Width and Height in pixels of 1/96 inch; 640 by 360 when 0.
	Width, Height int
}

// Series is one line of a chart: the points (X[i], Y[i]).
type Series struct {
	Name string
	X, Y []float64
	// Dashed tells an expectation or a limit from a measurement, which has a
	// dot at each point as well (up to 64 points).
	Dashed bool
	// Scattered points have no line between them.
	Scattered bool
}

// The colours of Okabe and Ito (2008), which colour-blind readers can tell apart.
var colours = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0x50, 0x50, 0x50, 0xff},
}

var gridColour = color.Gray{0xe4}

func init() {
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	gonum.DefaultFont, plotter.DefaultFont = sans, sans
}

// Line draws one line: y over x, or over 0, 1, 2 and so on where x is nil.
func Line(x, y []float64) (display.Bundle, error) {
	if x == nil {
		x = make([]float64, len(y))
		for i := range x {
			x[i] = float64(i)
		}
	}
	return Lines(Axes{}, Series{X: x, Y: y})
}

// Lines draws series over common axes.
func Lines(axes Axes, series ...Series) (display.Bundle, error) {
	if len(series) == 0 {
		return display.Bundle{}, fmt.Errorf("plot.Lines: no series")
	}
	p := axes.plot()
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = gridColour, gridColour
	p.Add(grid)
	drawn := make([]Series, len(series))
	var all extent
	for _, s := range series {
		if err := axes.fits(s); err != nil {
			return display.Bundle{}, fmt.Errorf("plot.Lines: %w", err)
		}
		all.add(s)
	}
	for i, s := range series {
		drawn[i] = axes.thinned(s, all)
	}
	for i, s := range drawn {
		points := make(plotter.XYs, len(s.X))
		for j := range points {
			points[j].X, points[j].Y = s.X[j], s.Y[j]
		}
		line := &plotter.Line{XYs: points, LineStyle: draw.LineStyle{
			Color: colours[i%len(colours)], Width: vg.Points(1.6),
		}}
		dots := &plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{
			Color: line.Color, Radius: vg.Points(2.2), Shape: draw.CircleGlyph{},
		}}
		var key []gonum.Thumbnailer
		if s.Dashed {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		if !s.Scattered {
			p.Add(line)
			key = append(key, line)
		}
		if s.Scattered || !s.Dashed && len(points) <= 64 {
			p.Add(dots)
			key = append(key, dots)
		}
		if s.Name != "" {
			p.Legend.Add(s.Name+" ", key...)
		}
	}
	if !axes.LogX && whole(series) {
		p.X.Tick.Marker = roundTicks{whole: true}
	}
	axes.widen(p)
	beside := axes.placeLegend(p, drawn)
	return axes.render(p, beside, axes.table(series))
}

// fits says why a series cannot be drawn.
func (a Axes) fits(s Series) error {
	name := s.Name
	if name == "" {
		name = "(unnamed)"
	}
	if len(s.X) != len(s.Y) {
		return fmt.Errorf("series %s has %d x and %d y values", name, len(s.X), len(s.Y))
	}
	if len(s.X) == 0 {
		return fmt.Errorf("series %s has no points", name)
	}
	for i := range s.X {
		for _, c := range []struct {
			axis string
			v    float64
			log  bool
		}{{"x", s.X[i], a.LogX}, {"y", s.Y[i], a.LogY}} {
			if math.IsNaN(c.v) || math.IsInf(c.v, 0) {
				return fmt.Errorf("series %s: %s[%d] is %v", name, c.axis, i, c.v)
			}
			if c.log && c.v <= 0 {
				return fmt.Errorf("series %s: %s[%d] is %v on a logarithmic axis", name, c.axis, i, c.v)
			}
		}
	}
	return nil
}

// plot is an empty plot with these axes.
func (a Axes) plot() *gonum.Plot {
	p := gonum.New()
	p.Title.Text = a.Title
	p.Title.Padding = vg.Points(6)
	p.X.Label.Text, p.Y.Label.Text = a.X, a.Y
	p.Legend.Top = true
	p.Legend.Padding = vg.Points(2)
	for _, axis := range []*gonum.Axis{&p.X, &p.Y} {
		axis.Tick.Length = vg.Points(3)
		axis.Label.Padding = vg.Points(3)
		axis.Tick.Marker = roundTicks{}
	}
	if a.LogX {
		p.X.Scale, p.X.Tick.Marker = gonum.LogScale{}, logTicks{}
	}
	if a.BytesX {
		p.X.Tick.Marker = byteTicks{}
	}
	if a.LogY {
		p.Y.Scale, p.Y.Tick.Marker = gonum.LogScale{}, logTicks{}
	}
	return p
}

// widen leaves room above the highest point for the legend, and gives an axis
// whose values are all the same an extent.
func (a Axes) widen(p *gonum.Plot) {
	for _, axis := range []struct {
		*gonum.Axis
		log bool
	}{{&p.X, a.LogX}, {&p.Y, a.LogY}} {
		if axis.Min == axis.Max {
			if axis.log {
				axis.Min, axis.Max = axis.Min/2, axis.Max*2
			} else {
				d := max(1, math.Abs(axis.Min)) / 2
				axis.Min, axis.Max = axis.Min-d, axis.Max+d
			}
		}
	}
	if a.Low < a.High {
		p.Y.Min, p.Y.Max = min(p.Y.Min, a.Low), max(p.Y.Max, a.High)
	}
	if a.LogY {
		p.Y.Max *= math.Pow(p.Y.Max/p.Y.Min, 0.15)
	} else {
		if p.Y.Min > 0 && p.Y.Min < p.Y.Max/2 {
			p.Y.Min = 0
		}
		p.Y.Max += (p.Y.Max - p.Y.Min) * 0.15
	}
}

// size is the chart's, in pixels.
func (a Axes) size() (w, h int) { return cmp.Or(a.Width, 640), cmp.Or(a.Height, 360) }

func checkSize(w, h int) error {
	if w < 80 || h < 60 || w > 8000 || h > 8000 {
		return fmt.Errorf("plot: a chart of %d by %d pixels; between 80 by 60 and 8000 by 8000 can be drawn", w, h)
	}
	return nil
}

// render draws p, with its legend beside it or in it; text is what readers without
// pictures get.
func (a Axes) render(p *gonum.Plot, beside bool, text string) (display.Bundle, error) {
	w, h := a.size()
	if err := checkSize(w, h); err != nil {
		return display.Bundle{}, err
	}
	const pixel = vg.Inch / 96
	canvas := vgsvg.New(vg.Length(w)*pixel, vg.Length(h)*pixel)
	area := draw.New(canvas)
	area.FillPolygon(color.White, []vg.Point{area.Min, {X: area.Max.X, Y: area.Min.Y}, area.Max, {X: area.Min.X, Y: area.Max.Y}}) // whatever the page's colour
	inner := draw.Crop(area, vg.Points(4), -vg.Points(18), vg.Points(2), -vg.Points(4))
	if beside {
		legend := p.Legend
		p.Legend = gonum.NewLegend()
		legend.Top, legend.Left = true, true
		width := legend.Rectangle(inner).Size().X
		right := inner
		right.Min.X = right.Max.X - width
		right.Max.Y -= vg.Points(24)
		legend.Draw(right)
		inner.Max.X -= width + vg.Points(8)
	}
	p.Draw(inner)
	var svg strings.Builder
	if _, err := canvas.WriteTo(&svg); err != nil {
		return display.Bundle{}, err
	}
	return display.Bundle{Data: map[string]any{"image/svg+xml": readable(svg.String(), cmp.Or(a.Title, a.Y, "Chart"), text), "text/plain": text}}, nil
}

// drawnText is a text of a picture with its size and what it says.
var drawnText = regexp.MustCompile(`<text ([^>]*font-family:)Liberation Sans;([^>]*font-size:([0-9.]+)px")>([^<]*)</text>`)

// readable gives a picture a name and a description. It has viewers without the font
// that the text was measured with draw their own to the same width.
func readable(svg, name, text string) string {
	svg = svg[strings.Index(svg, "<svg"):] // without the XML declaration, as HTML pages want it
	svg = drawnText.ReplaceAllStringFunc(svg, func(old string) string {
		m := drawnText.FindStringSubmatch(old)
		size, _ := strconv.ParseFloat(m[3], 64)
		face := font.DefaultCache.Lookup(gonum.DefaultFont, vg.Points(size))
		said := strings.TrimRight(html.UnescapeString(m[4]), " ")
		if said == "" {
			return ""
		}
		return fmt.Sprintf(`<text %sLiberation Sans,Arial,Helvetica,sans-serif;%s textLength="%.2f" lengthAdjust="spacingAndGlyphs">%s</text>`,
			m[1], m[2], face.Width(said).Points(), escaped(said))
	})
	head, rest, _ := strings.Cut(svg, ">")
	return fmt.Sprintf(`%s role="img" aria-label="%s"><title>%s</title><desc>%s</desc>%s%s`, head, escaped(name), escaped(name), escaped(text), picture.Dark, rest)
}
