package notebook

import (
	"strings"
	"sync"

	"gocuda/kernel/session"
)

// collector puts the evaluator's outputs into the notebook's cells, by the
// rules by which a front end shows them.
type collector struct {
	mu      sync.Mutex
	cell    *Cell // the running cell, or the last one that ran
	clear   bool  // its outputs go when the next one comes
	closed  bool
	display map[string][]Output // by display id, wherever it is shown
	widgets widgets
	into    *model // the Output widget that captures what comes, or nil

	stream Output // the last output, if more text may be added to it
	text   strings.Builder
}

func newCollector() *collector {
	return &collector{display: make(map[string][]Output), widgets: widgets{}}
}

// begin directs outputs to a cell.
func (k *collector) begin(c *Cell, count int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.flush()
	k.endText()
	k.cell, k.into, k.clear = c, nil, false
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
	switch o.Kind {
	case session.ToComm:
		k.widgets.take(o.Comm)
		k.capture(k.widgets[o.Comm.ID])
	case session.Clear:
		if o.Wait {
			k.clear = true
		} else {
			k.empty()
		}
	case session.Update:
		for _, shown := range k.display[o.Bundle.DisplayID] {
			shown["data"], shown["metadata"] = orEmpty(o.Bundle.Data), orEmpty(o.Bundle.Metadata)
		}
	case session.Stdout, session.Stderr:
		k.print(string(o.Kind), o.Text)
	case session.Value, session.Display:
		out := Output{
			"output_type": "display_data",
			"data":        orEmpty(o.Bundle.Data),
			"metadata":    orEmpty(o.Bundle.Metadata),
		}
		if o.Kind == session.Value {
			out["output_type"] = "execute_result"
			out["execution_count"] = k.cell.ExecutionCount
		}
		k.put(out)
		if id := o.Bundle.DisplayID; id != "" {
			k.display[id] = append(k.display[id], out)
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
	k.put(Output{"output_type": "error", "ename": e.Name, "evalue": e.Message, "traceback": trace})
}

func (k *collector) print(stream, text string) {
	if text == "" {
		return
	}
	if k.clear || k.stream == nil || k.stream["name"] != stream {
		out := Output{"output_type": "stream", "name": stream, "text": ""}
		k.put(out)
		k.stream = out
	}
	k.text.WriteString(text)
}

func (k *collector) put(o Output) {
	k.flush()
	if k.clear {
		k.empty()
	}
	k.endText()
	if k.into != nil {
		list, _ := k.into.state["outputs"].([]any)
		k.into.state["outputs"] = append(list, map[string]any(o))
		return
	}
	k.cell.Outputs = append(k.cell.Outputs, o)
}

func (k *collector) empty() {
	k.endText()
	if k.clear = false; k.into != nil {
		k.into.state["outputs"] = []any{}
		return
	}
	k.cell.Outputs = nil
}

// capture directs outputs to a widget that an Output has begun to capture, or back to the
// cell.
func (k *collector) capture(m *model) {
	if m == nil || m.state["_model_name"] != "OutputModel" {
		return
	}
	id, _ := m.state["msg_id"].(string)
	begins, ends := id != "" && k.into == nil, id == "" && k.into == m
	if !begins && !ends {
		return
	}
	k.flush()
	k.endText()
	if k.into, k.clear = nil, false; begins {
		k.into = m
	}
}

// flush brings the text that is being added to up to date.
func (k *collector) flush() {
	if k.stream != nil {
		k.stream["text"] = k.text.String()
	}
}

func (k *collector) endText() {
	k.stream = nil
	k.text.Reset()
}
