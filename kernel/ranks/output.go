package ranks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gocuda/kernel/ranks/label"
	"gocuda/kernel/session"
)

const (
	// What one rank says is held back this long, in case others say the same.
	holdTime = 200 * time.Millisecond
	// Nobody is waited for once a rank has said so much more, in bytes, and a
	// rank that has said this many times more has to wait itself.
	holdSize  = 256 << 10
	queueFull = 8
	// How far behind another rank's line is looked for in what a rank said.
	holdDepth = 32
	// No output carries more text than this.
	textSize = 64 << 10
)

// merger makes one stream of what the ranks show: each line with the ranks
// that said it before it. What a rank shows keeps its order.
type merger struct {
	show func(session.Output) error
	// debugged is told what a rank's debugger tells.
	debugged func(rank int, event json.RawMessage)

	mu      sync.Mutex
	changed *sync.Cond // something was taken from a queue
	sources []source
	wake    chan struct{} // has room for one
	closed  bool
	muted   bool // nothing more is taken
	busy    bool // outputs are being shown

	// Of the text that was shown last, when its line is not complete.
	open     []int
	openKind session.OutputKind
}

// source is one rank.
type source struct {
	items   []item
	size    int
	running int  // cells that may still say something
	midLine bool // the last line shown of it was not complete
}

// item is one line or display.
type item struct {
	output session.Output // Text: without its newline
	whole  bool           // the line is complete
	key    string         // equal items are shown as one
	at     time.Time
}

func newMerger(n int, show func(session.Output) error) *merger {
	m := &merger{show: show, debugged: func(int, json.RawMessage) {}, sources: make([]source, n), wake: make(chan struct{}, 1)}
	m.changed = sync.NewCond(&m.mu)
	go m.run()
	return m
}

// begin says that a rank runs a cell: what it might say is waited for.
func (m *merger) begin(rank int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sources[rank].running++
}

// end says that a rank's cell has ended and its outputs were received.
func (m *merger) end(rank int) {
	m.mu.Lock()
	m.sources[rank].running--
	m.mu.Unlock()
	m.poke()
}

func (m *merger) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// receive takes an output of a rank. It blocks while the rank is far ahead.
func (m *merger) receive(rank int, o session.Output) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.muted {
		return
	}
	s := &m.sources[rank]
	now := time.Now()
	if o.Kind != session.Stdout && o.Kind != session.Stderr {
		i := item{output: o, whole: true, at: now}
		if body, err := json.Marshal(o); err == nil && o.Bundle.DisplayID == "" {
			i.key = string(body)
		} else {
			i.key = fmt.Sprintf("rank %d", rank) // its id, or what cannot be compared
		}
		if id := o.Bundle.DisplayID; id != "" {
			i.output.Bundle.DisplayID = fmt.Sprintf("%s@%d", id, rank)
		}
		s.items = append(s.items, i)
		s.size += len(i.key)
	} else {
		for line := range strings.Lines(o.Text) {
			s.add(o.Kind, line, now)
		}
	}
	m.poke()
	for s.size > queueFull*holdSize && !m.closed {
		m.changed.Wait()
	}
}

// add appends a line, or completes the one begun before.
func (s *source) add(kind session.OutputKind, line string, now time.Time) {
	s.size += len(line)
	text, whole := strings.CutSuffix(line, "\n")
	if n := len(s.items); n > 0 && !s.items[n-1].whole && s.items[n-1].output.Kind == kind {
		text = s.items[n-1].output.Text + text
		now = s.items[n-1].at
		s.items = s.items[:n-1]
	}
	if whole {
		text = strings.TrimSuffix(text, "\r")
	}
	key := "\n" + text
	if !whole {
		key = " " + text
	}
	s.items = append(s.items, item{
		output: session.Output{Kind: kind, Text: text}, whole: whole, at: now, key: string(kind) + key,
	})
}

// run shows what is ready until the merger is closed.
func (m *merger) run() {
	timer := time.NewTimer(0)
	for {
		m.mu.Lock()
		outputs, next := m.ready(time.Now())
		m.busy = len(outputs) > 0
		closed := m.closed
		m.mu.Unlock()
		for _, o := range outputs {
			if err := m.show(o); err != nil && o.Kind != session.Stdout && o.Kind != session.Stderr {
				m.show(session.Output{Kind: session.Stderr, Text: err.Error() + "\n"})
			}
		}
		m.mu.Lock()
		m.busy = false
		m.changed.Broadcast()
		m.mu.Unlock()
		if len(outputs) > 0 {
			continue
		}
		if closed {
			return
		}
		timer.Reset(next)
		select {
		case <-m.wake:
		case <-timer.C:
		}
	}
}

// flush returns when all that the ranks have said was shown.
func (m *merger) flush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for (m.busy || m.pending()) && !m.closed {
		m.poke()
		m.changed.Wait()
	}
	// The next cell's first line is not the rest of this one's last.
	if !slices.ContainsFunc(m.sources, func(s source) bool { return s.running > 0 }) {
		m.open = nil
		for i := range m.sources {
			m.sources[i].midLine = false
		}
	}
}

// pending says whether a rank that runs no cell has something to be shown.
func (m *merger) pending() bool {
	for i := range m.sources {
		if m.sources[i].running == 0 && len(m.sources[i].items) > 0 {
			return true
		}
	}
	return false
}

// mute drops what comes from now on.
func (m *merger) mute() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.muted = true
}

// close shows what is left and ends the merger.
func (m *merger) close() {
	m.mu.Lock()
	for i := range m.sources {
		m.sources[i].running = 0
	}
	m.mu.Unlock()
	m.flush()
	m.mu.Lock()
	m.closed = true
	m.changed.Broadcast()
	m.mu.Unlock()
	m.poke()
}

// ready takes out of the queues what can be shown now; next is when to look
// again.
func (m *merger) ready(now time.Time) (outputs []session.Output, next time.Duration) {
	next = time.Hour
	size := 0
	for size < textSize {
		ranks, wait := m.pick(now)
		if ranks == nil {
			next = wait
			break
		}
		i := m.sources[ranks[0]].items[0]
		for _, r := range ranks {
			s := &m.sources[r]
			s.size -= s.items[0].length()
			s.items[0] = item{}
			s.items = s.items[1:]
		}
		size += i.length()
		outputs = m.write(outputs, ranks, i)
	}
	return outputs, next
}

func (i item) length() int {
	if i.output.Kind == session.Stdout || i.output.Kind == session.Stderr {
		n := len(i.output.Text)
		if i.whole {
			n++
		}
		return n
	}
	return len(i.key)
}

// pick chooses the ranks whose next items are to be shown as one, or says how
// long to wait for more.
func (m *merger) pick(now time.Time) (ranks []int, wait time.Duration) {
	wait = time.Hour
	quiet := false // a rank that runs has nothing to say yet
	var best []int
	seen := map[string]bool{}
	for r := range m.sources {
		s := &m.sources[r]
		if len(s.items) == 0 {
			quiet = quiet || s.running > 0
		}
	}
	for r := range m.sources {
		s := &m.sources[r]
		if len(s.items) == 0 || seen[s.items[0].key] {
			continue
		}
		key := s.items[0].key
		seen[key] = true
		group, oldest, pressed, later := m.group(key)
		age := now.Sub(oldest)
		// Half a line waits for its rest, as long as its rank runs.
		half := !s.items[0].whole && len(s.items) == 1 && s.running > 0
		if age < holdTime && !pressed && (quiet || half) {
			wait = min(wait, holdTime-age)
			continue
		}
		if !later {
			return group, 0
		}
		if best == nil {
			best = group
		}
	}
	return best, wait
}

// group finds the ranks whose next item has this key. later says that another
// rank will come to it when it has shown what it said before.
func (m *merger) group(key string) (ranks []int, oldest time.Time, pressed, later bool) {
	for r := range m.sources {
		s := &m.sources[r]
		if len(s.items) == 0 {
			continue
		}
		if s.items[0].key == key {
			ranks = append(ranks, r)
			if oldest.IsZero() || s.items[0].at.Before(oldest) {
				oldest = s.items[0].at
			}
			pressed = pressed || s.size > holdSize
			continue
		}
		for _, i := range s.items[1:min(holdDepth, len(s.items))] {
			later = later || i.key == key
		}
	}
	return ranks, oldest, pressed, later
}

// write appends an item to outputs, with its label.
func (m *merger) write(outputs []session.Output, ranks []int, i item) []session.Output {
	text := func(kind session.OutputKind, s string) {
		if n := len(outputs); n > 0 && outputs[n-1].Kind == kind && len(outputs[n-1].Text) < textSize {
			outputs[n-1].Text += s
			return
		}
		outputs = append(outputs, session.Output{Kind: kind, Text: s})
	}
	kind := i.output.Kind
	isText := kind == session.Stdout || kind == session.Stderr
	continues := isText && m.open != nil && slices.Equal(m.open, ranks) && m.openKind == kind
	rest := false // of a line whose begin was shown
	for _, r := range ranks {
		rest = rest || m.sources[r].midLine
		m.sources[r].midLine = isText && !i.whole
	}
	if !continues && m.open != nil {
		text(m.openKind, "\n")
		m.open = nil
	}
	switch {
	case !isText:
		if i.output.Kind == session.Display || i.output.Kind == session.Update {
			i.output.Bundle = labelled(i.output.Bundle, ranks)
		}
		return append(outputs, i.output)
	case rest && !continues && i.output.Text == "":
		return outputs // its newline has been written
	}
	prefix := label.Of(ranks) + " "
	line := strings.ReplaceAll(i.output.Text, "\r", "\r"+prefix)
	switch {
	case continues:
	case strings.HasPrefix(line, "\r"):
	default:
		line = prefix + line
	}
	if i.whole {
		line += "\n"
		m.open = nil
	} else {
		m.open, m.openKind = ranks, kind
	}
	text(kind, line)
	return outputs
}
