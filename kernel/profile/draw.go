package profile

import (
	"errors"
	"fmt"
	"html"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"gocuda/cudaapi/driver"
	"gocuda/internal/picture"
	"gocuda/kernel/display"
	"gocuda/kernel/plot"
)

// column is one of the table of lines.
type column struct {
	head string
	of   func(l driver.LineCounts) string // "" for nothing
}

func number(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func ratio(a, b uint64) string {
	if b == 0 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(a)/float64(b)), ".0")
}

var columns = []column{
	{"instructions", func(l driver.LineCounts) string { return number(l.Instructions) }},
	{"active lanes", func(l driver.LineCounts) string { return ratio(l.Threads, l.Instructions) }},
	{"branches parted", func(l driver.LineCounts) string {
		if l.Parted == 0 {
			return ""
		}
		return fmt.Sprintf("%d of %d", l.Parted, l.Branches)
	}},
	{"loads", func(l driver.LineCounts) string { return number(l.Global.Loads.Requests) }},
	{"stores", func(l driver.LineCounts) string { return number(l.Global.Stores.Requests) }},
	{"sectors/request", func(l driver.LineCounts) string {
		g := l.Global
		return ratio(g.Loads.Sectors+g.Stores.Sectors+g.Atomics.Sectors, g.Loads.Requests+g.Stores.Requests+g.Atomics.Requests)
	}},
	{"shared loads", func(l driver.LineCounts) string { return number(l.Shared.Loads.Requests) }},
	{"shared stores", func(l driver.LineCounts) string { return number(l.Shared.Stores.Requests) }},
	{"bank conflicts", func(l driver.LineCounts) string {
		return number(l.Shared.Loads.Conflicts() + l.Shared.Stores.Conflicts())
	}},
	{"atomics", func(l driver.LineCounts) string {
		return number(l.Global.Atomics.Requests + l.Shared.Atomics.Requests)
	}},
	{"lanes that meet", func(l driver.LineCounts) string { return number(l.Global.Atomics.Met + l.Shared.Atomics.Met) }},
	{"flops", func(l driver.LineCounts) string { return number(l.Half + l.Single + l.Double) }},
}

// mostLines of a source are shown.
const mostLines = 120

// table has a row for each line from the first that something was counted of to the last.
func (k *Kernel) table() (rows [][]string) {
	byLine := map[int]driver.LineCounts{}
	low, high := 0, 0
	for _, l := range k.Lines {
		byLine[l.Line] = l
		if low == 0 && l.Line > 0 {
			low = l.Line
		}
		high = l.Line
	}
	var shown []column
	head := []string{"line", "source"}
	for _, c := range columns {
		for _, l := range k.Lines {
			if c.of(l) != "" {
				shown, head = append(shown, c), append(head, c.head)
				break
			}
		}
	}
	rows = append(rows, head)
	for n := low; n <= high; n++ {
		l, counted := byLine[n]
		if !counted && high-low >= mostLines {
			continue
		}
		row := []string{fmt.Sprint(n), strings.ReplaceAll(strings.TrimRight(k.text(n), " \t\r"), "\t", "    ")}
		for _, c := range shown {
			row = append(row, c.of(l))
		}
		rows = append(rows, row)
	}
	if l, ok := byLine[0]; ok {
		row := []string{"", "(not of a line)"}
		for _, c := range shown {
			row = append(row, c.of(l))
		}
		rows = append(rows, row)
	}
	return rows
}

// scaled is a number with a prefix of its unit.
func scaled(v float64, unit string) string {
	if v == 0 {
		return "0 " + unit
	}
	n := min(max(int(math.Floor(math.Log10(math.Abs(v))/3+1e-9)), 0), 5)
	return fmt.Sprintf("%.4g %s%s", v/math.Pow(1000, float64(n)), []string{"", "k", "M", "G", "T", "P"}[n], unit)
}

func percent(v float64) string { return fmt.Sprintf("%.3g %%", 100*v) }

// Sentences say of the launch what the table does not.
func (k *Kernel) Sentences() (list []string) {
	threads := int(k.Block.X * k.Block.Y * k.Block.Z)
	text := fmt.Sprintf("%s blocks of %s threads", dim(k.Grid), dim(k.Block))
	if k.Launches > 1 {
		text = fmt.Sprintf("%d launches of %s", k.Launches, text)
	}
	if k.SharedBytes > 0 {
		text += fmt.Sprintf(", %d bytes of shared memory each", k.SharedBytes)
	}
	if k.Registers > 0 {
		text += fmt.Sprintf(", %d registers a thread", k.Registers)
	}
	list = append(list, text+".")
	if k.Missing != nil {
		list = append(list, "Not all is counted: "+k.Missing.Error()+".")
	}
	o := k.Occupancy()
	note := ""
	if k.Registers == 0 {
		note = " Registers are not known here."
	}
	list = append(list, fmt.Sprintf("Occupancy %s: a multiprocessor holds %d blocks, %d of %d warps; %s limit it.%s", percent(o.Share), o.Blocks, o.Warps, k.Peak.Warps, o.Limit, note))
	if len(k.Lines) == 0 {
		return list
	}
	s := k.Sum()
	if s.Instructions > 0 {
		list = append(list, fmt.Sprintf("%.3g of 32 lanes are active in an instruction; %d of %d branches part a warp.", float64(s.Threads)/float64(s.Instructions), s.Parted, s.Branches))
	}
	g := s.Global
	if all := g.Loads.Sectors + g.Stores.Sectors + g.Atomics.Sectors; all > 0 {
		list = append(list, fmt.Sprintf("Threads ask for %s of global memory in %d sectors of 32 bytes: they use %s of what these hold.",
			scaled(float64(g.Loads.Bytes+g.Stores.Bytes+g.Atomics.Bytes), "B"), all, percent(float64(g.Loads.Bytes+g.Stores.Bytes+g.Atomics.Bytes)/float64(32*all))))
	}
	list = append(list, fmt.Sprintf("Memory must move %s at least, %s read and %s written. %s are %.3g for each byte.",
		scaled(k.Moved(), "B"), scaled(float64(k.Read), "B"), scaled(float64(k.Written), "B"), scaled(k.Flops(), "additions and multiplications"), k.Intensity()))
	by := ""
	if k.Modelled {
		by = " by the model of the simulated devices"
	}
	roof := fmt.Sprintf("the %s of its memory", scaled(k.Peak.Bandwidth, "B/s"))
	if k.Bound() == "arithmetic" {
		roof = "its arithmetic"
		if k.Modelled {
			by += ", which leaves arithmetic out"
		}
	}
	list = append(list, fmt.Sprintf("A launch takes %v%s: %s, %s.", k.Time().Round(time.Nanosecond), by, scaled(k.Bandwidth(), "B/s"), scaled(k.Rate(), "flop/s")),
		fmt.Sprintf("That is %s of the peak, which for this kernel is %s.", percent(k.OfPeak()), roof))
	if k.OfPeak() > 1 {
		list = append(list, "More than the peak of memory: what it moves stayed in the L2 cache.")
	}
	if threads%32 != 0 {
		list = append(list, fmt.Sprintf("The last warp of each block has %d lanes of 32.", threads%32))
	}
	return list
}

// String is the kernel as text.
func (k *Kernel) String() string {
	var b strings.Builder
	b.WriteString(k.Counts.Kernel + "\n")
	if len(k.Lines) > 0 {
		rows := k.table()
		wide := make([]int, len(rows[0]))
		for _, r := range rows {
			for i, c := range r {
				wide[i] = max(wide[i], utf8.RuneCountInString(c))
			}
		}
		for _, r := range rows {
			for i, c := range r {
				pad := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(c))
				switch {
				case i == 1:
					c += pad
				default:
					c = pad + c
				}
				if i > 0 {
					b.WriteString("  ")
				}
				b.WriteString(c)
			}
			b.WriteString("\n")
		}
	}
	b.WriteString(strings.Join(k.Sentences(), "\n"))
	return b.String()
}

// Markdown is the kernel's table and sentences.
func (k *Kernel) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n", k.Counts.Kernel)
	if len(k.Lines) > 0 {
		for i, r := range k.table() {
			cells := append([]string{}, r...)
			if i > 0 && cells[1] != "" {
				cells[1] = "`" + strings.ReplaceAll(strings.ReplaceAll(cells[1], "|", "\\|"), "`", "'") + "`"
			}
			b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
			if i == 0 {
				b.WriteString("|" + strings.Repeat("---|", len(r)) + "\n")
			}
		}
		b.WriteString("\n")
	}
	for _, s := range k.Sentences() {
		b.WriteString("* " + s + "\n")
	}
	return b.String()
}

func (k *Kernel) html() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<p><b>%s</b></p>", html.EscapeString(k.Counts.Kernel))
	if len(k.Lines) > 0 {
		b.WriteString(`<div style="overflow-x:auto"><table style="font-size:12px">`)
		for i, r := range k.table() {
			tag := "td"
			if i == 0 {
				tag = "th"
				b.WriteString("<thead>")
			}
			b.WriteString("<tr>")
			for j, c := range r {
				style, text := "text-align:right;padding:1px 8px", html.EscapeString(c)
				if j == 1 {
					style = "text-align:left;padding:1px 8px"
					if i > 0 {
						text = `<code style="white-space:pre">` + strings.ReplaceAll(text, " ", "\u00a0") + "</code>"
					}
				}
				fmt.Fprintf(&b, `<%s style="%s">%s</%[1]s>`, tag, style, text)
			}
			b.WriteString("</tr>")
			if i == 0 {
				b.WriteString("</thead><tbody>")
			}
		}
		b.WriteString("</tbody></table></div>")
	}
	b.WriteString("<ul>")
	for _, s := range k.Sentences() {
		fmt.Fprintf(&b, "<li>%s</li>", html.EscapeString(s))
	}
	b.WriteString("</ul>")
	return b.String()
}

// Roofline draws what the kernels reach, over their intensity, under what the device can do.
// It is an error if none computes with numbers that have a point.
func (p *Profile) Roofline() (display.Bundle, error) {
	var points []plot.Series
	low, high := 0.1, 100.0
	double := false
	var peak Peak
	for _, k := range p.Kernels {
		if k.Flops() == 0 || k.Moved() == 0 {
			continue
		}
		x := k.Intensity()
		low, high = min(low, x/2), max(high, x*2)
		s := k.Sum()
		double = double || s.Double > s.Single
		peak = k.Peak
		points = append(points, plot.Series{Name: k.Counts.Kernel, X: []float64{x}, Y: []float64{k.Rate() / 1e9}, Scattered: true})
	}
	if len(points) == 0 {
		return display.Bundle{}, errors.New("profile: no kernel added or multiplied numbers with a point, or none reached memory")
	}
	roof := func(name string, most float64) plot.Series {
		edge := most / peak.Bandwidth
		s := plot.Series{Name: name, Dashed: true}
		for _, x := range []float64{low, edge, max(high, 2*edge)} {
			s.X, s.Y = append(s.X, x), append(s.Y, min(most, x*peak.Bandwidth)/1e9)
		}
		return s
	}
	series := []plot.Series{roof("roof, 32 bits", peak.Single)}
	if double {
		series = append(series, roof("roof, 64 bits", peak.Double))
	}
	return plot.Lines(plot.Axes{Title: "Roofline of " + peak.Name, X: "additions and multiplications for each byte", Y: "Gflop/s", LogX: true, LogY: true}, append(series, points...)...)
}

// Draw is the profile as tables, with the roofline if there is one.
func (p *Profile) Draw() (display.Bundle, error) {
	b := display.Bundle{Data: map[string]any{}}
	var page, marks strings.Builder
	if roof, err := p.Roofline(); err == nil {
		svg, _ := roof.Data["image/svg+xml"].(string)
		b.Data["image/svg+xml"] = svg
		page.WriteString(picture.HTML(svg))
	}
	for _, k := range p.Kernels {
		page.WriteString(k.html())
		marks.WriteString(k.Markdown() + "\n")
	}
	b.Data["text/html"], b.Data["text/markdown"], b.Data["text/plain"] = page.String(), marks.String(), p.String()
	return b, nil
}
