package kernel

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// record is one line of a history file. A session begins with a record that
// has no line number; each cell adds one with its input and, if it has a
// value, one with its output.
type record struct {
	Session int    `json:"session"`
	ID      string `json:"id"` // tells sessions apart that chose the same number
	Line    int    `json:"line,omitempty"`
	Input   string `json:"input,omitempty"`
	Output  string `json:"output,omitempty"`
	Time    string `json:"time,omitempty"`
}

// history keeps the inputs of this session beside those of all earlier
// sessions. Everything that touches the file happens on one goroutine, so that
// no cell waits for the disk.
type history struct {
	work chan func()
	done chan struct{}

	// Of the worker alone.
	store   store
	log     *slog.Logger
	id      string
	session int // 0 until the first input
}

// store is where records are kept.
type store interface {
	append(record) error
	load() ([]record, error)
}

// memory is a store for when there is no file. It keeps as much as two files do.
type memory struct {
	records []record
	size    int
}

func (m *memory) append(r record) error {
	m.records = append(m.records, r)
	m.size += len(r.Input) + len(r.Output)
	for m.size > 2*maxHistory {
		m.size -= len(m.records[0].Input) + len(m.records[0].Output)
		m.records = m.records[1:]
	}
	return nil
}

func (m *memory) load() ([]record, error) { return m.records, nil }

// clip cuts a text that is too long to be kept whole.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("... (%d bytes in all)", len(text))
}

// openHistory uses the file, which need not exist; "off" or none at all keeps
// the history in memory.
func openHistory(path string, log *slog.Logger) *history {
	h := &history{
		work: make(chan func(), 256), done: make(chan struct{}),
		store: &memory{}, log: log, id: uuid.NewString(),
	}
	if path != "" && path != "off" {
		h.store = &historyFile{path: path}
	}
	go func() {
		defer close(h.done)
		for f := range h.work {
			f()
		}
	}()
	return h
}

// close writes what is still to be written.
func (h *history) close() {
	close(h.work)
	<-h.done
}

func (h *history) addInput(line int, text string) {
	h.add(record{Line: line, Input: clip(text, maxInput), Time: time.Now().UTC().Format(time.RFC3339)})
}

func (h *history) addOutput(line int, text string) {
	h.add(record{Line: line, Output: clip(text, maxOutput)})
}

func (h *history) add(r record) {
	h.work <- func() {
		h.begin()
		r.Session, r.ID = h.session, h.id
		if err := h.store.append(r); err != nil {
			h.log.Warn("history is kept in memory only", "error", err)
			records, _ := h.store.load()
			h.store = &memory{}
			for _, r := range append(slices.Clip(records), r) {
				h.store.append(r)
			}
		}
	}
}

// begin gives this session its number, the one after the highest in use. Of
// two kernels that take the same number at once, the one whose record stands
// first in the file keeps it.
func (h *history) begin() {
	for h.session == 0 {
		records, err := h.store.load()
		if err != nil {
			h.log.Warn("history", "error", err)
		}
		last := 0
		for _, r := range records {
			last = max(last, r.Session)
		}
		h.session = last + 1
		if err := h.store.append(record{Session: h.session, ID: h.id}); err != nil {
			return // add says so
		}
		records, _ = h.store.load()
		first := slices.IndexFunc(records, func(r record) bool { return r.Session == h.session })
		if first >= 0 && records[first].ID != h.id {
			h.session = 0
		}
	}
}

// entries returns all inputs with their outputs, by session and line, and the
// number of this session.
func (h *history) entries() (list []record, session int) {
	ready := make(chan struct{})
	h.work <- func() {
		defer close(ready)
		h.begin()
		records, err := h.store.load()
		if err != nil {
			h.log.Warn("history", "error", err)
		}
		list, session = join(records), h.session
	}
	<-ready
	return list, session
}

// join puts outputs to their inputs.
func join(records []record) []record {
	type key struct {
		id   string
		line int
	}
	at := map[key]int{}
	var list []record
	for _, r := range records {
		if r.Line == 0 {
			continue
		}
		k := key{r.ID, r.Line}
		if i, ok := at[k]; ok && r.Output != "" {
			list[i].Output = r.Output
		} else if !ok && r.Input != "" {
			at[k] = len(list)
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b record) int {
		if a.Session != b.Session {
			return a.Session - b.Session
		}
		return a.Line - b.Line
	})
	return list
}
