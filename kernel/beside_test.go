package kernel

import (
	"slices"
	"testing"

	"gocuda/kernel/wire"
)

// While a cell runs, what is asked of code that is being typed is answered, and
// widgets' events are handled, in order; cells wait.
func TestRequestsBesideACell(t *testing.T) {
	evaluator := newScripted()
	c := connect(t, startKernel(t, Options{Start: evaluator.start}))
	c.execute("comm open 1 state")
	<-evaluator.began
	cell := c.send(wire.Shell, "execute_request", map[string]any{"code": "block"})
	<-evaluator.began
	behind := c.send(wire.Shell, "execute_request", map[string]any{"code": "print behind"})

	// until lists what is published until a request is over.
	until := func(id string) (list []message) {
		for {
			m := c.next(wire.IOPub)
			list = append(list, m)
			if m.Parent == id && m.text("execution_state") == "idle" {
				return list
			}
		}
	}
	for kind, content := range map[string]any{
		"complete_request":    map[string]any{"code": "fmt.Print", "cursor_pos": 9},
		"inspect_request":     map[string]any{"code": "fmt", "cursor_pos": 3, "detail_level": 0},
		"is_complete_request": map[string]any{"code": "1"},
		"kernel_info_request": map[string]any{}, "comm_info_request": map[string]any{},
		"history_request": map[string]any{"hist_access_type": "tail", "n": 1, "output": false, "raw": true},
	} {
		id := c.send(wire.Shell, kind, content)
		if reply := c.next(wire.Shell); reply.Parent != id || reply.text("status") == "error" {
			t.Errorf("%s: %+v", kind, reply)
		}
		until(id)
	}
	// Events: what one says is its own, and the kernel is said to be busy after it.
	var ids []string
	for i := range 20 {
		ids = append(ids, c.send(wire.Shell, "comm_msg", map[string]any{"comm_id": "1", "data": "comm msg 1 " + string(rune('a'+i))}))
	}
	said := ""
	for _, id := range ids {
		for _, m := range until(id) {
			if m.Type == "comm_msg" {
				said += m.text("data")
				if m.Parent != id {
					t.Errorf("not in its own name: %+v", m)
				}
			}
		}
	}
	if said != "abcdefghijklmnopqrst" {
		t.Errorf("the events came as %q", said)
	}
	if m := c.next(wire.IOPub); m.Parent != cell || m.text("execution_state") != "busy" {
		t.Errorf("after the events comes %+v", m)
	}
	// An event without end is interrupted with the cell.
	endless := c.send(wire.Shell, "comm_msg", map[string]any{"comm_id": "1", "data": "until stopped"})
	for m := c.next(wire.IOPub); m.Parent != endless; m = c.next(wire.IOPub) {
	}
	<-evaluator.events
	c.send(wire.Control, "interrupt_request", map[string]any{})
	until(behind)
	replies := map[string]string{}
	for range 2 {
		reply := c.next(wire.Shell)
		replies[reply.Parent] = reply.text("ename")
	}
	if replies[cell] != "Interrupted" || replies[behind] != "Aborted" {
		t.Errorf("the cell ended with %q, the one after it with %q", replies[cell], replies[behind])
	}
	after := c.send(wire.Shell, "comm_msg", map[string]any{"comm_id": "1", "data": "print after"})
	if !slices.ContainsFunc(until(after), func(m message) bool { return m.text("text") == "after" && m.Parent == after }) {
		t.Error("an event between cells does not print in its own name")
	}
}
