package display

import (
	"fmt"
	"html"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// progressInterval is the least time between two pictures of a bar.
const progressInterval = 100 * time.Millisecond

// Bar is a progress bar. Its methods may be called by any goroutine.
type Bar struct {
	mu      sync.Mutex
	id      string
	label   string
	total   int
	current int
	done    bool
	begun   time.Time
	drawn   time.Time
	pending *time.Timer // draws what came too soon after the last picture
	now     func() time.Time
}

// Progress shows a bar of total steps, which Add and Set move in place. A total
// of zero or less means that the number of steps is not known. The bar is
// finished when the last step is done, or by Done. Where there is no front end,
// the finished bar is one line of text.
func Progress(total int, label string) *Bar { return newBar(total, label, time.Now) }

// Steps is a loop over 0 to n-1 with a bar of its own, which counts the passes that
// have ended: for i := range display.Steps(n). The label is optional.
func Steps(n int, label ...string) iter.Seq[int] {
	return func(yield func(int) bool) {
		p := Progress(n, strings.Join(label, " "))
		defer p.Done()
		for i := range n {
			if !yield(i) {
				return
			}
			p.Add(1)
		}
	}
}

func newBar(total int, label string, now func() time.Time) *Bar {
	p := &Bar{id: uuid.NewString(), label: label, total: total, begun: now(), now: now}
	if published() {
		p.drawn = p.begun
		b := p.bundle()
		b.DisplayID = p.id
		publish(Publication{Bundle: b})
	}
	return p
}

// Add moves the bar by n steps.
func (p *Bar) Add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.move(p.current + n)
}

// Set moves the bar to n steps.
func (p *Bar) Set(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.move(n)
}

// Label changes the text before the bar.
func (p *Bar) Label(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.label != text {
		p.label = text
		p.changed()
	}
}

// Done finishes the bar where it stands, so that its last state is shown.
func (p *Bar) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish()
}

// move, changed, finish and draw need p.mu.
func (p *Bar) move(n int) {
	if p.done {
		return
	}
	p.current = max(n, 0)
	if p.total > 0 && p.current >= p.total {
		p.finish()
		return
	}
	p.changed()
}

// changed draws the bar now, or once, after a while, if it was just drawn.
func (p *Bar) changed() {
	if p.done {
		p.draw()
		return
	}
	if p.pending != nil {
		return
	}
	if wait := progressInterval - p.now().Sub(p.drawn); wait > 0 {
		p.pending = time.AfterFunc(wait, p.flush)
		waiting.Store(p, nil)
		return
	}
	p.draw()
}

func (p *Bar) finish() {
	if p.done {
		return
	}
	p.done = true
	p.stopWaiting()
	p.draw()
}

// waiting holds the bars that changed since they were last drawn.
var waiting sync.Map // *Bar to nil

// stopWaiting reports whether a picture was held back. It needs p.mu.
func (p *Bar) stopWaiting() bool {
	if p.pending == nil {
		return false
	}
	p.pending.Stop()
	p.pending = nil
	waiting.Delete(p)
	return true
}

func (p *Bar) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopWaiting() {
		p.draw()
	}
}

// Flush draws at once every bar whose last change was held back, for an
// evaluator at the end of a cell.
func Flush() {
	waiting.Range(func(bar, _ any) bool {
		bar.(*Bar).flush()
		return true
	})
}

func (p *Bar) draw() {
	p.drawn = p.now()
	if !p.done && !published() {
		return // standard output has no way back
	}
	b := p.bundle()
	b.DisplayID = p.id
	publish(Publication{Bundle: b, Update: true})
}

func (p *Bar) bundle() Bundle {
	var picture strings.Builder
	picture.WriteString(`<div style="display: flex; align-items: center; gap: 0.7em">`)
	if p.label != "" {
		fmt.Fprintf(&picture, "<span>%s</span>", html.EscapeString(p.label))
	}
	if p.total > 0 {
		fmt.Fprintf(&picture, `<progress value="%d" max="%d" style="width: 20em"></progress>`,
			min(p.current, p.total), p.total)
	} else if !p.done {
		picture.WriteString(`<progress style="width: 20em"></progress>`)
	}
	fmt.Fprintf(&picture, "<span>%s</span></div>", html.EscapeString(p.state()))

	text := p.state()
	if p.total > 0 {
		const cells = 25
		full := cells * min(p.current, p.total) / p.total
		text = strings.Repeat("█", full) + strings.Repeat("░", cells-full) + " " + text
	}
	if p.label != "" {
		text = p.label + " " + text
	}
	return Bundle{Data: map[string]any{mimeHTML: picture.String(), mimeText: text}}
}

// state says in words where the bar is.
func (p *Bar) state() string {
	text := fmt.Sprintf("%d", p.current)
	if p.total > 0 {
		text = fmt.Sprintf("%d%%, %d of %d", 100*min(p.current, p.total)/p.total, p.current, p.total)
	}
	spent := p.now().Sub(p.begun)
	switch {
	case p.done && p.total > 0 && p.current < p.total:
		text += ", ended after " + short(spent)
	case p.done:
		text += " in " + short(spent)
	case p.total > 0 && p.current > 0 && spent > time.Second:
		left := time.Duration(float64(spent) / float64(p.current) * float64(p.total-p.current))
		text += ", " + short(left) + " left"
	}
	return text
}

// MIMEBundle is the bar as it stands.
func (p *Bar) MIMEBundle() map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bundle().Data
}

// short writes a duration with as many digits as help a reader.
func short(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Microsecond).String()
}
