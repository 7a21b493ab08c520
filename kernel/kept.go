package kernel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gocuda/kernel/session"
	"gocuda/kernel/wire"
)

// Outputs of cells are kept, so that nothing is lost while no front end is there to show
// it: %output shows a cell's again. Jupyter's servers drop what comes when nobody looks.

const (
	// maxKept bounds what is kept of all cells, in bytes: whole cells go, the oldest first.
	maxKept = 64 << 20
	// maxKeptOfCell bounds what is kept of one: its first outputs go.
	maxKeptOfCell = 16 << 20
	maxKeptCells  = 10_000
	// keptOverhead is what an output takes besides its content.
	keptOverhead = 256
)

// kept are the outputs of cells. The zero value has none.
type kept struct {
	mu    sync.Mutex // held while followers are shown an output: it comes once, in its place
	cells []*keptCell
	bytes int
}

type keptCell struct {
	id      string // of the message that it came by
	count   int
	list    []keptOutput
	next    int // number of its next output
	bytes   int
	dropped int // outputs that went
	failure *failure
	ended   bool
	follow  []*follower
}

type keptOutput struct {
	session.Output
	number, bytes int
}

// follower is a cell that shows another one's outputs as they come.
type follower struct {
	parent *wire.Message
	ended  chan struct{} // closed when the other one has ended
}

// begin keeps what a cell is going to show.
func (k *kept) begin(id string, count int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cells = append(k.cells, &keptCell{id: id, count: count})
	k.bound()
}

// bound has the oldest cells go. Those that run stay. The caller holds mu.
func (k *kept) bound() {
	more := len(k.cells) - maxKeptCells
	k.cells = slices.DeleteFunc(k.cells, func(c *keptCell) bool {
		if k.bytes <= maxKept && more <= 0 || !c.ended {
			return false
		}
		k.bytes -= c.bytes
		more--
		return true
	})
}

// cell is one that is kept; nil: none. The caller holds mu.
func (k *kept) cell(is func(*keptCell) bool) *keptCell {
	for _, c := range slices.Backward(k.cells) {
		if is(c) {
			return c
		}
	}
	return nil
}

// add keeps an output of the cell that came by message id, and shows it to those who follow.
func (k *kept) add(id string, o session.Output, show func(*follower)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.cell(func(c *keptCell) bool { return c.id == id })
	if c == nil {
		return
	}
	before := c.bytes
	switch o.Kind {
	case session.Update: // the last one of a display will do
		c.drop(func(e keptOutput) bool { return e.Kind == session.Update && e.Bundle.DisplayID == o.Bundle.DisplayID })
	case session.Clear:
	default:
		if n := len(c.list); n > 0 && c.list[n-1].Kind == session.Clear {
			cleared := c.list[n-1].number
			c.drop(func(e keptOutput) bool { return e.number < cleared })
		}
	}
	e := keptOutput{o, c.next, keptOverhead + sizeOf(o)}
	c.next++
	c.list = append(c.list, e)
	c.bytes += e.bytes
	for c.bytes > maxKeptOfCell && len(c.list) > 1 {
		c.dropped++
		first := c.list[0].number
		c.drop(func(e keptOutput) bool { return e.number == first })
	}
	k.bytes += c.bytes - before
	k.bound()
	for _, f := range c.follow {
		show(f)
	}
}

// drop forgets outputs.
func (c *keptCell) drop(which func(keptOutput) bool) {
	c.list = slices.DeleteFunc(c.list, func(e keptOutput) bool {
		if which(e) {
			c.bytes -= e.bytes
			return true
		}
		return false
	})
}

func sizeOf(o session.Output) int {
	n := len(o.Text)
	for kind, data := range o.Bundle.Data {
		n += len(kind)
		if text, ok := data.(string); ok {
			n += len(text)
		} else {
			text, _ := json.Marshal(data)
			n += len(text)
		}
	}
	return n
}

// end notes that a cell has ended, and how.
func (k *kept) end(id string, failed *failure) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c := k.cell(func(c *keptCell) bool { return c.id == id }); c != nil {
		c.ended, c.failure = true, failed
		for _, f := range c.follow {
			close(f.ended)
		}
		c.follow = nil
	}
}

// outputMagic is a cell that is nothing but %output.
type outputMagic struct {
	cell   int // its number; 0: the last one
	follow bool
}

const outputUsage = "%output [-f] [CELL]"

// outputOf reads a cell's code; yes says whether it is %output alone, err what is wrong in it.
func outputOf(code string) (m outputMagic, yes bool, err error) {
	fields := strings.Fields(code)
	if len(fields) == 0 || fields[0] != "%output" || strings.Contains(strings.TrimSpace(code), "\n") {
		return m, false, nil
	}
	given := false
	for _, f := range fields[1:] {
		n, notNumber := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(f, "In["), "]"))
		switch {
		case f == "-f":
			m.follow = true
		case notNumber == nil && n > 0 && !given:
			m.cell, given = n, true
		default:
			return m, true, fmt.Errorf("%s: not %q: write a cell's number, as in %%output 12, or -f to go on until it ends", outputUsage, f)
		}
	}
	return m, true, nil
}

// showOutputs shows a cell's outputs once more, in the name of another cell.
func (k *kernel) showOutputs(r *request, m outputMagic) *session.Error {
	k.kept.mu.Lock()
	c := k.kept.cell(func(c *keptCell) bool { return m.cell == 0 || c.count == m.cell })
	if c == nil {
		have := "no cell's outputs are kept yet"
		if len(k.kept.cells) > 0 {
			have = fmt.Sprintf("outputs are kept of cells %d to %d", k.kept.cells[0].count, k.kept.cells[len(k.kept.cells)-1].count)
		}
		k.kept.mu.Unlock()
		if m.cell == 0 {
			return &session.Error{Name: "UsageError", Message: have}
		}
		return &session.Error{Name: "UsageError", Message: fmt.Sprintf("there are no outputs of In[%d]: %s", m.cell, have)}
	}
	note := func(text string) {
		k.publish("stream", r.Message, map[string]string{"name": "stderr", "text": text + "\n"})
	}
	if c.dropped > 0 {
		note(fmt.Sprintf("the first %d outputs of In[%d] are not kept: a cell's last %d MiB are", c.dropped, c.count, maxKeptOfCell>>20))
	}
	shown := -1
	for {
		var list []keptOutput
		for _, e := range c.list {
			if e.number > shown {
				list = append(list, e)
			}
		}
		if len(list) == 0 {
			break
		}
		k.kept.mu.Unlock() // the cell that runs goes on
		for _, e := range list {
			if e.Kind == session.Stdout || e.Kind == session.Stderr {
				k.pace.wait(e.Text)
			}
			k.show(r.Message, c.count, e.Output)
		}
		shown = list[len(list)-1].number
		k.kept.mu.Lock()
	}
	if m.follow && !c.ended {
		f := &follower{r.Message, make(chan struct{})}
		c.follow = append(c.follow, f)
		k.kept.mu.Unlock()
		select {
		case <-f.ended:
		case <-k.stop:
		}
		k.kept.mu.Lock()
	}
	ended, failure := c.ended, c.failure
	k.kept.mu.Unlock()
	switch {
	case !ended:
		note(fmt.Sprintf("In[%d] is still running: %%output -f %d goes on until it ends", c.count, c.count))
	case failure != nil:
		k.publish("error", r.Message, failure)
	}
	return nil
}
