package notebook

import (
	"cmp"
	"fmt"
	"sync"

	"gocuda/kernel/outputs"
	"gocuda/kernel/session"
)

// collector puts the evaluator's outputs into the notebook's cells, as front ends show them.
type collector struct {
	mu       sync.Mutex
	cell     *Cell           // the running cell, or the last one that ran
	lists    []*outputs.List // of the cells that ran
	captures outputs.Captures
	widgets  widgets
	closed   bool
}

func newCollector() *collector { return &collector{widgets: widgets{}} }

// cellName is how a cell is called; it is the message as well that it comes by.
func cellName(number int) string { return fmt.Sprintf("In[%d]", number) }

// begin directs outputs to a cell.
func (k *collector) begin(c *Cell, count int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.flush()
	k.cell, k.lists = c, append(k.lists, &outputs.List{})
	c.ExecutionCount = count
}

// hold runs f while the notebook holds all outputs so far, and none comes.
func (k *collector) hold(f func() error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.flush()
	return f()
}

// close drops what comes later.
func (k *collector) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.flush()
	k.closed = true
}

// add takes one output.
func (k *collector) add(o session.Output) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || k.cell == nil {
		return
	}
	count := k.cell.ExecutionCount
	for _, o := range k.captures.Take(o, cmp.Or(o.Parent, cellName(count)), count) {
		switch o.Kind {
		case session.ToComm:
			k.widgets.take(o.Comm)
		case session.Update: // wherever the display is
			for _, l := range k.lists {
				l.Add(o, count)
			}
		default:
			k.last().Add(o, count)
		}
	}
}

// fail adds a cell's error as its last output.
func (k *collector) fail(e *session.Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	shown := e.Shown()
	trace := make([]any, len(shown))
	for i, line := range shown {
		trace[i] = line
	}
	k.last().Put(Output{"output_type": "error", "ename": e.Name, "evalue": e.Message, "traceback": trace})
}

func (k *collector) last() *outputs.List { return k.lists[len(k.lists)-1] }

// flush brings the cell and the widgets up to date.
func (k *collector) flush() {
	if k.cell == nil {
		return
	}
	k.cell.Outputs = k.last().All()
	for _, o := range k.captures.Changes() {
		k.widgets.take(o.Comm)
	}
}
