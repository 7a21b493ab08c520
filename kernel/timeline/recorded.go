package timeline

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"slices"
	"strings"
	"sync"
	"time"

	"gocuda/cudaapi/trace"
	"gocuda/kernel/display"
	"gocuda/kernel/plot"
)

// Recorded is what %%timeline or %timeline on has recorded of a cell. Its boxes are
// what ran, with times in nanoseconds; Summarize adds them up.
type Recorded struct{ *trace.Timeline }

var recorded struct {
	sync.Mutex
	last *Recorded
}

// SetLast makes a timeline the last one. The kernel calls it.
func SetLast(r *Recorded) {
	recorded.Lock()
	defer recorded.Unlock()
	recorded.last = r
}

// Last is what the cell recorded that ran last with %%timeline, or while %timeline was
// on. It is an error if there was none.
func Last() (*Recorded, error) {
	recorded.Lock()
	defer recorded.Unlock()
	if recorded.last == nil {
		return nil, errors.New("timeline: no cell was recorded: begin one with %%timeline")
	}
	return recorded.last, nil
}

// Record runs f and records what it queues on devices, the messages that it sends and
// the host's waits, as %%timeline does with a cell: [Last] is that then. Nothing is
// drawn. It waits for the work that f leaves in queues.
func Record(title string, f func()) (err error) {
	if err := trace.Start(); err != nil {
		return err
	}
	defer func() { // in a panic, too
		t, e := trace.Stop()
		if t != nil {
			r := &Recorded{Timeline: trace.Merge(t)}
			r.Title = title
			r.NameStreams(nil)
			if len(r.Boxes) > 0 {
				SetLast(r)
			}
		}
		err = e
	}()
	f()
	return nil
}

// Save writes the last recorded timeline to a file in Chrome's trace event format, which
// Perfetto (ui.perfetto.dev) and chrome://tracing open.
func Save(path string) error {
	r, err := Last()
	if err != nil {
		return err
	}
	return r.Save(path)
}

// pictureWidth is a recorded timeline's, in pixels.
const pictureWidth = 1000

// Draw is the timeline as a picture with the table of where the time went.
func (r *Recorded) Draw() (display.Bundle, error) {
	if len(r.Boxes) == 0 {
		return display.Bundle{}, errors.New("timeline: nothing ran on devices, no message was sent, and the host waited for nothing")
	}
	return draw(r.Title, []string{""}, r)
}

// Compare draws timelines below each other on one axis, each from its first box on, such
// as those of a program before and after a change. Their tables follow.
func Compare(timelines ...*Recorded) (display.Bundle, error) {
	if len(timelines) < 2 {
		return display.Bundle{}, errors.New("timeline.Compare: it takes two timelines or more")
	}
	var names []string
	for i, r := range timelines {
		if r == nil || r.Timeline == nil || len(r.Boxes) == 0 {
			return display.Bundle{}, fmt.Errorf("timeline.Compare: timeline %d has no boxes", i)
		}
		name := cmp.Or(r.Title, fmt.Sprint(i+1))
		if slices.Contains(names, name) {
			name = fmt.Sprintf("%s (%d)", name, i+1)
		}
		names = append(names, name)
	}
	return draw(strings.Join(names, " and "), names, timelines...)
}

// unit is the axis's, so that its numbers are short.
func unit(span time.Duration) (name string, ns float64) {
	switch {
	case span < 10*time.Microsecond:
		return "ns", 1
	case span < 10*time.Millisecond:
		return "µs", 1e3
	case span < 10*time.Second:
		return "ms", 1e6
	}
	return "s", 1e9
}

func draw(title string, names []string, timelines ...*Recorded) (display.Bundle, error) {
	var longest time.Duration
	for _, r := range timelines {
		begin, end := r.Span()
		longest = max(longest, end-begin)
	}
	name, ns := unit(longest)
	axes := plot.Axes{Title: title, X: name, Width: pictureWidth}
	if timelines[0].Modelled {
		axes.X += ", by the model of the simulated devices"
	}
	var bars []plot.Bar
	for i, r := range timelines {
		begin, _ := r.Span()
		for j, l := range r.Lanes() {
			row := laneName(r.Timeline, l, names[i])
			if again := slices.ContainsFunc(bars, func(b plot.Bar) bool { return b.Row == row }); again {
				row += strings.Repeat("\u200b", j) // a row of its own, with the same name
			}
			for _, b := range l.Boxes {
				bars = append(bars, plot.Bar{Row: row, Label: b.Name, Kind: b.Kind, About: about(b, begin),
					Start: float64(b.Begin-begin) / ns, End: float64(b.End-begin) / ns})
			}
		}
	}
	picture, err := plot.Timeline(axes, bars...)
	if err != nil {
		return display.Bundle{}, err
	}
	var page, text strings.Builder
	page.WriteString(picture.Data["text/html"].(string))
	for i, r := range timelines {
		if i > 0 {
			text.WriteString("\n\n")
		}
		if names[i] != "" {
			fmt.Fprintf(&page, "<p><b>%s</b></p>", html.EscapeString(names[i]))
		}
		page.WriteString(table(r.Timeline))
		text.WriteString(r.String())
	}
	return display.Bundle{Data: map[string]any{"image/svg+xml": picture.Data["image/svg+xml"], "text/html": page.String(), "text/plain": text.String()}}, nil
}

// laneName is what stands beside a row.
func laneName(t *trace.Timeline, l *trace.Lane, prefix string) string {
	name := strings.TrimPrefix(l.Name, "the ")
	if l.Device >= 0 {
		name = fmt.Sprintf("GPU %d · %s", l.Device, name)
	}
	if len(t.Ranks) > 0 {
		if l.Rank < 0 {
			name = "notebook · " + name
		} else {
			name = fmt.Sprintf("rank %d · %s", l.Rank, name)
		}
	}
	if prefix != "" {
		name = prefix + " · " + name
	}
	return name
}

// about is what is shown while the pointer is on a box.
func about(b *trace.Box, begin time.Duration) string {
	list := []string{b.Name, fmt.Sprintf("%v from %v", b.Duration(), b.Begin-begin)}
	if b.Name != b.Kind {
		list[0] = b.Kind + ": " + b.Name
	}
	if b.Bytes > 0 {
		list = append(list, fmt.Sprintf("%d bytes", b.Bytes))
	}
	if r := b.Rate(); r > 0 {
		list = append(list, fmt.Sprintf("%.4g GB/s", r/1e9))
	}
	if b.Place.Known() {
		list = append(list, b.Place.String())
	}
	if b.Library {
		list = append(list, "carries out a message")
	}
	return strings.Join(list, "\n")
}

// mostRows of a table are shown; the others are in the text.
const mostRows = 40

// table is where the time went, as HTML.
func table(t *trace.Timeline) string {
	s := t.Summarize()
	var o strings.Builder
	o.WriteString(`<div style="overflow-x:auto"><table style="font-size:12px">`)
	rows := s.Table()
	for i, row := range rows[:min(len(rows), mostRows+1)] {
		tag := "td"
		if i == 0 {
			tag = "th"
			o.WriteString("<thead>")
		}
		o.WriteString("<tr>")
		for j, cell := range row {
			align := "right"
			if j < 2 {
				align = "left"
			}
			tag := tag
			if cell == "" {
				tag = "td" // a header says something
			}
			// No number is parted from its unit; white-space would be lost in an untrusted notebook.
			cell = strings.ReplaceAll(html.EscapeString(cell), " ", "\u00a0")
			fmt.Fprintf(&o, `<%s style="text-align:%s;padding:2px 8px">%s</%[1]s>`, tag, align, cell)
		}
		o.WriteString("</tr>")
		if i == 0 {
			o.WriteString("</thead><tbody>")
		}
	}
	o.WriteString("</tbody></table></div>")
	if more := len(rows) - mostRows - 1; more > 0 {
		fmt.Fprintf(&o, "<p>and %d more rows</p>", more)
	}
	o.WriteString("<ul>")
	for _, line := range t.Sentences(s) {
		fmt.Fprintf(&o, "<li>%s</li>", html.EscapeString(line))
	}
	o.WriteString("</ul>")
	return o.String()
}
