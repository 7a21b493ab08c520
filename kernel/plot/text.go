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
	return roundTicks{}.Ticks(low, high)
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

// ticks are where an axis from low to high has numbers: five or six of them if it can be,
// at multiples of 1, 2, 2.5 or 5 times a power of ten; of whole ones if only these mean
// anything.
func ticks(low, high float64, whole bool) (first, step float64) {
	best := math.Inf(1)
	power := math.Pow(10, math.Floor(math.Log10((high-low)/5)))
	for _, f := range []float64{1, 2, 2.5, 5, 10} {
		s := f * power
		if whole {
			s = max(1, math.Ceil(s))
		}
		from := math.Ceil(low/s-1e-9) * s
		n := math.Floor((high-from)/s+1e-9) + 1
		if off := math.Abs(n - 5.5); off < best {
			best, first, step = off, from, s
		}
	}
	return first, step
}

// digits are how many a multiple of step has after the point.
func digits(step float64) int {
	for n := range 17 {
		if v := step * math.Pow10(n); math.Abs(v-math.Round(v)) < 1e-6*v {
			return n
		}
	}
	return 17
}

// roundTicks marks round numbers.
type roundTicks struct {
	whole bool // there is no rank 1.5
}

func (r roundTicks) Ticks(low, high float64) (list []gonum.Tick) {
	first, step := ticks(low, high, r.whole)
	for k := 0; ; k++ {
		v := first + float64(k)*step
		if v > high+step*1e-9 {
			return list
		}
		format, n := byte('f'), digits(step)
		if v = math.Round(v/step) * step; math.Max(math.Abs(low), math.Abs(high)) >= 1e6 || step < 1e-5 {
			format, n = 'g', 6
		}
		list = append(list, gonum.Tick{Value: v, Label: strconv.FormatFloat(v+0, format, n, 64)})
	}
}
