package plot

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gocuda/internal/picture"
	"gocuda/kernel/display"
)

// Bar is one piece of work in a timeline: Row ran Label from Start to End.
type Bar struct {
	Row, Label string
	Start, End float64
	// Kind is what bars of one colour have in common; the Label if it is empty. The
	// kinds of package trace always have the same colours, and waits are hatched.
	Kind string
	// About is shown while the pointer is on the bar; by default Label and its times.
	About string
}

// kindColours are those of package trace's kinds, so that two timelines can be
// compared.
var kindColours = map[string]int{"kernel": 0, "copy": 4, "fill": 5, "host function": 3, "message": 2, "collective": 1, "graph": 0, "write value": 6}

const (
	rowHeight  = 24
	mostRows   = 256 // that are drawn
	letter     = 7.0 // mean width of one of a box's letters, in pixels
	widestName = 240 // of a row
	thinnest   = 1.0 // a box; thinner ones beside each other are drawn as one
	mostDrawn  = 4000
)

// box is a bar, or several, as they are drawn.
type box struct {
	Bar
	x, w  float64
	count int
	sum   float64
}

// Timeline draws what ran when: a lane for each Row, in the order in which
// rows first appear, and a box for each bar, a colour for each Kind. Bars that are
// too thin to be seen apart are one box. The time axis may be given a Width in
// pixels; the height follows from the number of rows, of which the first 256 are
// drawn.
func Timeline(axes Axes, bars ...Bar) (display.Bundle, error) {
	if len(bars) == 0 {
		return display.Bundle{}, fmt.Errorf("plot.Timeline: no bars")
	}
	var rows, kinds []string
	row, named := map[string]int{}, false
	low, high := bars[0].Start, bars[0].End
	for i, b := range bars {
		if math.IsNaN(b.Start+b.End) || math.IsInf(b.Start+b.End, 0) || b.End < b.Start {
			return display.Bundle{}, fmt.Errorf("plot.Timeline: bar %d (%s, %s) runs from %v to %v", i, b.Row, b.Label, b.Start, b.End)
		}
		if _, ok := row[b.Row]; !ok {
			row[b.Row] = len(rows)
			rows = append(rows, b.Row)
		}
		if k := cmp.Or(b.Kind, b.Label); !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
		named = named || b.Kind != ""
		low, high = min(low, b.Start), max(high, b.End)
	}
	if more := len(rows) - mostRows; more > 0 {
		rows = append(rows[:mostRows], fmt.Sprintf("and %d more rows", more))
	}
	if axes.Low < axes.High {
		low, high = min(low, axes.Low), max(high, axes.High)
	}
	if high == low {
		high = low + 1
	}
	width, _ := axes.size()
	p := drawing{axes: axes, rows: rows, kinds: kinds, named: named, low: low, high: high, width: float64(width)}
	p.layOut()
	if err := checkSize(width, int(p.height)); err != nil {
		return display.Bundle{}, err
	}
	inRow := make([][]box, len(rows))
	for _, b := range bars {
		i := row[b.Row]
		if i >= mostRows {
			continue
		}
		inRow[i] = append(inRow[i], p.place(b))
	}
	for i := range inRow {
		inRow[i] = p.join(inRow[i])
	}
	table := [][]string{{axes.Y, "", "from", "to"}}
	for _, b := range bars[:min(len(bars), textRows)] {
		table = append(table, []string{b.Row, b.Label, number(b.Start), number(b.End)})
	}
	if more := len(bars) - textRows; more > 0 {
		table = append(table, []string{fmt.Sprintf("and %d more", more)})
	}
	text := columns(axes.Title, table)
	svg := p.draw(inRow, len(bars))
	return display.Bundle{Data: map[string]any{"image/svg+xml": svg, "text/html": picture.HTML(svg, p.spots...), "text/plain": text}}, nil
}

// drawing is a timeline's measures, in pixels.
type drawing struct {
	axes               Axes
	rows, kinds        []string
	named              bool // bars have kinds, which may be package trace's
	low, high          float64
	width, height      float64
	left, right        float64 // of the boxes
	top, bottom        float64
	legend             [][]string // the kinds, in lines
	first, step, scale float64    // of the axis's numbers
	digits             int
	spots              []picture.Spot
}

func textWidth(s string) float64 { return letter * float64(utf8.RuneCountInString(s)) }

func (p *drawing) layOut() {
	p.left = 30
	for _, r := range p.rows {
		p.left = max(p.left, textWidth(r)+14)
	}
	p.left, p.right = min(p.left, widestName, p.width/3), p.width-22
	p.top = 8
	if p.axes.Title != "" {
		p.top += 24
	}
	x := p.width
	for _, k := range p.kinds {
		w := textWidth(k) + 30
		if x+w > p.right {
			p.legend = append(p.legend, nil)
			x = p.left
		}
		last := len(p.legend) - 1
		p.legend[last] = append(p.legend[last], k)
		x += w
	}
	p.top += 18*float64(len(p.legend)) + 6
	p.bottom = p.top + rowHeight*float64(len(p.rows))
	p.height = p.bottom + 24
	if p.axes.X != "" {
		p.height += 18
	}
	p.first, p.step = ticks(p.low, p.high, false)
	p.digits = digits(p.step)
	p.scale = (p.right - p.left) / (p.high - p.low)
}

func (p *drawing) at(v float64) float64 { return p.left + (v-p.low)*p.scale }

func (p *drawing) place(b Bar) box {
	x := p.at(b.Start)
	return box{Bar: b, x: x, w: max(thinnest, p.at(b.End)-x), count: 1, sum: b.End - b.Start}
}

// join makes one box of thin ones of a kind that touch, and of more if there are more
// than can be drawn.
func (p *drawing) join(list []box) (out []box) {
	slices.SortStableFunc(list, func(a, b box) int { return cmp.Compare(a.Start, b.Start) })
	thin := 2 * thinnest
	for {
		out = out[:0:0]
		for _, b := range list {
			if n := len(out); n > 0 {
				l := &out[n-1]
				if cmp.Or(l.Kind, l.Label) == cmp.Or(b.Kind, b.Label) && b.x-(l.x+l.w) < thin/2 && b.w < thin && (l.w < thin || l.count > 1) {
					l.End = max(l.End, b.End)
					l.w = max(l.w, b.x+b.w-l.x)
					l.count, l.sum = l.count+b.count, l.sum+b.sum
					if l.Label != b.Label {
						l.Label = cmp.Or(b.Kind, b.Label)
					}
					continue
				}
			}
			out = append(out, b)
		}
		if len(out) <= max(200, mostDrawn/len(p.rows)) || thin > 64 {
			return out
		}
		thin *= 2
	}
}

// style is how a kind is painted: a colour, and whether with hatching.
func (p *drawing) style(kind string) (fill string, hatched bool) {
	if strings.HasSuffix(kind, "wait") {
		return "url(#gocuda-hatch)", true
	}
	n, ok := kindColours[kind]
	if !ok || !p.named {
		n = slices.Index(p.kinds, kind)
	}
	c := colours[n%len(colours)]
	return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B), false
}

// onto is the colour of words on a fill that can be read.
func onto(fill string) string {
	switch fill {
	case "#0072B2", "#505050":
		return "#FFF"
	}
	return "#000"
}

func escaped(s string) string {
	var out strings.Builder
	xml.EscapeText(&out, []byte(s)) //nolint:errcheck // a Builder takes all
	return out.String()
}

// fit shortens a text to a width.
func fit(s string, w float64) string {
	n := int(w / letter)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	if n < 2 {
		return ""
	}
	return string([]rune(s)[:n-1]) + "…"
}

func (p *drawing) draw(inRow [][]box, bars int) string {
	var o strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&o, format+"\n", args...) }
	title := cmp.Or(p.axes.Title, "Timeline")
	put(`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g" role="img" aria-label="%s" style="font-family:Liberation Sans,Arial,Helvetica,sans-serif;font-size:12px">`,
		p.width, p.height, p.width, p.height, escaped(title))
	put(`<title>%s</title>`, escaped(title))
	put(`<desc>A timeline of %d boxes in %d rows, from %s to %s %s.</desc>`, bars, len(p.rows), number(p.low), number(p.high), escaped(p.axes.X))
	put(`<defs><pattern id="gocuda-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" fill="#F4F4F4"/><line x1="0" y1="0" x2="0" y2="6" stroke="#8C8C8C" stroke-width="2"/></pattern></defs>`)
	put(picture.Dark+`<rect width="%g" height="%g" rx="4" fill="#FFF"/>`, p.width, p.height)
	if p.axes.Title != "" {
		put(`<text x="%g" y="22" font-size="14">%s</text>`, p.left, escaped(p.axes.Title))
	}
	for i, line := range p.legend {
		x, y := p.left, p.top-6-18*float64(len(p.legend)-i)
		for _, k := range line {
			fill, hatched := p.style(k)
			edge := ""
			if hatched {
				edge = ` stroke="#8C8C8C"`
			}
			put(`<rect x="%.1f" y="%.1f" width="12" height="12" fill="%s"%s/><text x="%.1f" y="%.1f">%s</text>`, x, y, fill, edge, x+17, y+10, escaped(k))
			x += textWidth(k) + 30
		}
	}
	for i, r := range p.rows {
		y := p.top + rowHeight*float64(i)
		if i%2 == 0 {
			put(`<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="#F7F7F7"/>`, p.left, y, p.right-p.left, rowHeight)
		}
		put(`<text x="%.1f" y="%.1f" text-anchor="end"><title>%s</title>%s</text>`, p.left-7, y+rowHeight/2+4, escaped(r), escaped(fit(r, p.left-12)))
	}
	for k := 0; ; k++ {
		v := p.first + float64(k)*p.step
		if v > p.high+p.step*1e-9 {
			break
		}
		x := p.at(v)
		put(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#D0D0D0"/><text x="%.1f" y="%.1f" text-anchor="middle">%.*f</text>`,
			x, p.top, x, p.bottom+4, x, p.bottom+17, p.digits, v)
	}
	put(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#606060"/>`, p.left, p.bottom, p.right, p.bottom)
	if p.axes.X != "" {
		put(`<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, (p.left+p.right)/2, p.bottom+34, escaped(p.axes.X))
	}
	for i, list := range inRow {
		for _, b := range list {
			p.box(put, b, p.top+rowHeight*float64(i)+3)
		}
	}
	o.WriteString("</svg>")
	// Pictures of one page do not share the pattern: the first one may be hidden.
	h := fnv.New32a()
	h.Write([]byte(o.String())) //nolint:errcheck // it takes all
	return strings.ReplaceAll(o.String(), "gocuda-hatch", fmt.Sprintf("hatch-%08x", h.Sum32()))
}

func (p *drawing) box(put func(string, ...any), b box, y float64) {
	fill, hatched := p.style(cmp.Or(b.Kind, b.Label))
	edge := "#FFF"
	if hatched {
		edge = "#8C8C8C"
	}
	if b.w < 4 {
		edge = "none"
	}
	about := cmp.Or(b.About, fmt.Sprintf("%s: %s to %s", b.Label, number(b.Start), number(b.End)))
	if b.count > 1 {
		about = fmt.Sprintf("%d × %s, %s together, from %s to %s", b.count, b.Label, number(b.sum), number(b.Start), number(b.End))
	}
	const h = rowHeight - 6
	put(`<g><title>%s</title><rect x="%.2f" y="%.1f" width="%.2f" height="%d" fill="%s" stroke="%s" stroke-width="0.5"/>`, escaped(about), b.x, y, b.w, h, fill, edge)
	p.spots = append(p.spots, picture.Spot{X: b.x, Y: y, Width: b.w, Height: h, About: about})
	words := b.Label
	if b.count > 1 {
		words = fmt.Sprintf("%d × %s", b.count, b.Label)
	}
	if words = fit(words, b.w-6); words != "" && words != "…" {
		if hatched {
			put(`<rect x="%.2f" y="%.1f" width="%.1f" height="%d" fill="#F4F4F4"/>`, b.x+2, y+2, min(b.w-4, textWidth(words)+4), h-4)
		}
		put(`<text x="%.2f" y="%.1f" fill="%s">%s</text>`, b.x+4, y+h/2+4, onto(fill), escaped(words))
	}
	put(`</g>`)
}
