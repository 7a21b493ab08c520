package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	gonum "gonum.org/v1/plot"
)

// textRows is how many rows of numbers stand in a chart's plain text.
const textRows = 24

// table is the plain text of a line chart: a row for each x, and what there is
// of scattered points.
func (a Axes) table(all []Series) string {
	title := a.Title
	if a.Y != "" {
		title += " (" + a.Y + ")"
	}
	var series []Series
	for _, s := range all {
		if s.Scattered {
			title += fmt.Sprintf("\n%s: %d points", cmp.Or(s.Name, "unnamed"), len(s.X))
		} else {
			series = append(series, s)
		}
	}
	if len(series) == 0 {
		return strings.TrimSpace(title)
	}
	var xs []float64
	for _, s := range series {
		xs = append(xs, s.X...)
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	rows := [][]string{{a.X}}
	for i, s := range series {
		name := s.Name
		if name == "" {
			name = fmt.Sprint("series ", i+1)
		}
		rows[0] = append(rows[0], name)
	}
	step := (len(xs) + textRows - 1) / textRows
	for i := 0; i < len(xs); i += step {
		row := []string{a.tick(xs[i])}
		for _, s := range series {
			cell := ""
			if j := slices.Index(s.X, xs[i]); j >= 0 {
				cell = number(s.Y[j])
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return columns(title, rows)
}

func (a Axes) tick(x float64) string {
	if a.BytesX {
		return bytes(x)
	}
	return number(x)
}

func columns(title string, rows [][]string) string {
	var out strings.Builder
	fmt.Fprintln(&out, strings.TrimSpace(title))
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
	}
	w.Flush()
	return strings.TrimRight(out.String(), "\n")
}

func number(v float64) string { return fmt.Sprintf("%.4g", v) }

// bytes names a number of bytes as IEC does.
func bytes(v float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for i < len(units)-1 && v >= 1024 {
		v /= 1024
		i++
	}
	return number(v) + " " + units[i]
}

// byteTicks marks powers of two, and labels at most eight of them.
type byteTicks struct{}

func (byteTicks) Ticks(low, high float64) []gonum.Tick {
	first := int(math.Ceil(math.Log2(max(low, 1)) - 1e-9))
	last := int(math.Floor(math.Log2(max(high, 1)) + 1e-9))
	step := max(1, (last-first+7)/8)
	var ticks []gonum.Tick
	for k := first; k <= last; k++ {
		t := gonum.Tick{Value: math.Exp2(float64(k))}
		if (k-first)%step == 0 {
			t.Label = bytes(t.Value)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// logTicks marks every digit of a decade, and labels the decades: at most eight of
// them. Where that is fewer than two labels, it labels their double and fivefold too,
// then every digit, and at last what an axis that is not logarithmic would.
type logTicks struct{}

func (logTicks) Ticks(low, high float64) []gonum.Tick {
	first, last := int(math.Floor(math.Log10(low)+1e-9)), int(math.Ceil(math.Log10(high)-1e-9))
	step := max(1, (last-first+7)/8)
	for _, digits := range []string{"1", "125", "123456789"} {
		var ticks []gonum.Tick
		labels := 0
		for k := first; k <= last; k++ {
			for digit := 1; digit < 10; digit++ {
				// Parsed, since 3 * 0.1 is not 0.3.
				text := fmt.Sprintf("%de%d", digit, k)
				v, _ := strconv.ParseFloat(text, 64)
				if v < low*(1-1e-9) || v > high*(1+1e-9) {
					continue
				}
				t := gonum.Tick{Value: v}
				if strings.Contains(digits, text[:1]) && (digit > 1 || (k-first)%step == 0) {
					t.Label = strconv.FormatFloat(v, 'g', -1, 64)
					labels++
				}
				ticks = append(ticks, t)
			}
		}
		if labels >= 2 {
			return ticks
		}
	}
	return gonum.DefaultTicks{}.Ticks(low, high)
}

// whole says whether what the x axis counts comes in whole numbers only.
func whole(series []Series) bool {
	for _, s := range series {
		for _, x := range s.X {
			if x != math.Trunc(x) || math.Abs(x) >= 1<<53 {
				return false
			}
		}
	}
	return true
}

// wholeTicks marks whole numbers only: there is no rank 1.5.
type wholeTicks struct{}

func (wholeTicks) Ticks(low, high float64) []gonum.Tick {
	var ticks []gonum.Tick
	for _, t := range (gonum.DefaultTicks{}).Ticks(low, high) {
		if t.Value != math.Trunc(t.Value) {
			continue
		}
		if !t.IsMinor() && math.Abs(t.Value) < 1e6 {
			t.Label = strconv.FormatFloat(t.Value, 'f', -1, 64)
		}
		ticks = append(ticks, t)
	}
	return ticks
}
