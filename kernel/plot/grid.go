package plot

import (
	"fmt"
	"image/color"
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"gocuda/kernel/display"
)

// Heatmap draws a matrix: values[i][j] is row i, from the top, column j. With
// names for rows and columns each cell carries its number; without (nil), the
// matrix is drawn as a picture of a field. The shades of named cells begin at 0 if no
// value is negative, so that values that differ little look alike. A NaN cell stays white, such as
// what a device does to itself.
func Heatmap(axes Axes, rows, columns []string, values [][]float64) (display.Bundle, error) {
	fail := func(format string, args ...any) (display.Bundle, error) {
		return display.Bundle{}, fmt.Errorf("plot.Heatmap: "+format, args...)
	}
	if len(values) == 0 || len(values[0]) == 0 {
		return fail("no values")
	}
	g := grid{values: values}
	low, high := math.Inf(1), math.Inf(-1)
	for i, row := range values {
		if len(row) != len(values[0]) {
			return fail("row %d has %d values, row 0 has %d", i, len(row), len(values[0]))
		}
		for j, v := range row {
			if math.IsInf(v, 0) {
				return fail("values[%d][%d] is %v", i, j, v)
			}
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low > high {
		return fail("every value is NaN")
	}
	named := rows != nil || columns != nil
	if named && (len(rows) != len(values) || len(columns) != len(values[0])) {
		return fail("%d row and %d column names for %d by %d values", len(rows), len(columns), len(values), len(values[0]))
	}
	text := g.text(axes, rows, columns, low, high)
	if named && low > 0 {
		low = 0
	}
	if axes.Low < axes.High {
		low, high = min(low, axes.Low), max(high, axes.High)
	}
	p := axes.plot()
	shades, err := shades(named)
	if err != nil {
		return display.Bundle{}, err
	}
	heat := plotter.NewHeatMap(g, shades)
	if low == high {
		high = low + 1
	}
	heat.Min, heat.Max = low, high
	heat.NaN = color.White
	heat.Rasterized = !named
	p.Add(heat)
	if named {
		p.X.Tick.Marker, p.Y.Tick.Marker = nominal(columns, false), nominal(rows, true)
		labels, err := g.labels(shades, heat.Min, heat.Max)
		if err != nil {
			return display.Bundle{}, err
		}
		p.Add(labels)
	} else {
		p.HideAxes()
	}
	return axes.render(p, false, text)
}

// shades are blues from light (low) to dark for numbers, on which text can be
// read, and blue to red for a field.
func shades(numbers bool) (palette.Palette, error) {
	var colours palette.ColorMap = moreland.SmoothBlueRed()
	if numbers {
		var err error
		colours, err = moreland.NewLuminance([]color.Color{
			color.RGBA{0x08, 0x30, 0x6b, 0xff}, color.RGBA{0x2f, 0x7f, 0xbc, 0xff}, color.RGBA{0xde, 0xeb, 0xf7, 0xff},
		})
		if err != nil {
			return nil, err
		}
	}
	colours.SetMin(0)
	colours.SetMax(1)
	if numbers {
		colours = palette.Reverse(colours)
	}
	return colours.Palette(128), nil
}

// grid has row 0 at the top, where a plot's y axis ends.
type grid struct{ values [][]float64 }

func (g grid) Dims() (int, int)   { return len(g.values[0]), len(g.values) }
func (g grid) X(c int) float64    { return float64(c) }
func (g grid) Y(r int) float64    { return float64(r) }
func (g grid) Z(c, r int) float64 { return g.values[len(g.values)-1-r][c] }

func (g grid) labels(shades palette.Palette, low, high float64) (*plotter.Labels, error) {
	var xy plotter.XYLabels
	var dark []bool
	colours := shades.Colors()
	columns, rows := g.Dims()
	for r := range rows {
		for c := range columns {
			v := g.Z(c, r)
			if math.IsNaN(v) {
				continue
			}
			xy.XYs = append(xy.XYs, plotter.XY{X: float64(c), Y: float64(r)})
			xy.Labels = append(xy.Labels, fmt.Sprintf("%.3g", v))
			i := int((v - low) / (high - low) * float64(len(colours)-1))
			red, green, blue, _ := colours[i].RGBA()
			dark = append(dark, 299*red+587*green+114*blue < 500*0xffff)
		}
	}
	labels, err := plotter.NewLabels(xy)
	if err != nil {
		return nil, err
	}
	for i := range labels.TextStyle {
		style := &labels.TextStyle[i]
		style.XAlign, style.YAlign = text.XCenter, text.YCenter
		style.Font.Size = vg.Points(9)
		if style.Color = color.Black; dark[i] {
			style.Color = color.White
		}
	}
	return labels, nil
}

func (g grid) text(axes Axes, rows, names []string, low, high float64) string {
	if rows == nil {
		return fmt.Sprintf("%s: %d by %d values from %s to %s", axes.Title, len(g.values), len(g.values[0]), number(low), number(high))
	}
	table := [][]string{append([]string{""}, names...)}
	for i, row := range g.values {
		line := []string{rows[i]}
		for _, v := range row {
			line = append(line, number(v))
		}
		table = append(table, line)
	}
	return columns(axes.Title, table)
}

// nominal labels 0, 1, 2 ... with names; from the far end when reverse.
func nominal(names []string, reverse bool) gonum.ConstantTicks {
	var ticks gonum.ConstantTicks
	for i, name := range names {
		at := i
		if reverse {
			at = len(names) - 1 - i
		}
		ticks = append(ticks, gonum.Tick{Value: float64(at), Label: name})
	}
	return ticks
}

// Bars draws a named bar for each value.
func Bars(axes Axes, names []string, values []float64) (display.Bundle, error) {
	if len(names) != len(values) || len(names) == 0 {
		return display.Bundle{}, fmt.Errorf("plot.Bars: %d names and %d values", len(names), len(values))
	}
	rows := [][]string{{axes.X, axes.Y}}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return display.Bundle{}, fmt.Errorf("plot.Bars: the value of %s is %v", names[i], v)
		}
		rows = append(rows, []string{names[i], number(v)})
	}
	axes.LogX, axes.LogY, axes.BytesX = false, false, false
	p := axes.plot()
	bars, err := plotter.NewBarChart(plotter.Values(values), vg.Points(max(6, min(40, 300/float64(len(values))))))
	if err != nil {
		return display.Bundle{}, err
	}
	bars.Color, bars.LineStyle.Width = colours[0], 0
	p.Add(bars)
	p.X.Tick.Marker = nominal(names, false)
	p.X.Min, p.X.Max = -0.7, float64(len(names))-0.3
	p.X.Tick.Length = 0
	axes.widen(p)
	return axes.render(p, false, columns(axes.Title, rows))
}
