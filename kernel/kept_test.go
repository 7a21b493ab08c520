package kernel

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"gocuda/kernel/session"
	"gocuda/kernel/wire"
)

// texts are what streams say, and the names of other messages.
func texts(list []message) (out []string) {
	for _, m := range list {
		switch m.Type {
		case "execute_input", "status":
		case "stream":
			out = append(out, m.text("text"))
		default:
			out = append(out, m.Type)
		}
	}
	return out
}

func TestOutputsAreShownAgain(t *testing.T) {
	c, _ := start(t)
	c.execute("print one\nshow d first\nupdate d second\nupdate d third\nvalue v")
	c.execute("print gone\nclear false\nprint two\nfail E broken")
	for _, test := range []struct {
		code string
		want []string
	}{
		{"%output 1", []string{"one", "display_data", "update_display_data", "execute_result"}},
		{" %output In[2] \n", []string{"clear_output", "two", "error"}},
		{"%output", []string{"clear_output", "two", "error"}}, // %output itself is not kept
		{"%output -f 1", []string{"one", "display_data", "update_display_data", "execute_result"}},
	} {
		reply, published := c.execute(test.code)
		if got := texts(published); reply.text("status") != "ok" || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %v, %s; want %v", test.code, got, reply.text("status"), test.want)
		}
	}
	if _, published := c.execute("%output 1"); published[3].Content["data"].(map[string]any)["text/plain"] != "third" {
		t.Errorf("the last update is %v", published[3].Content)
	}
	for code, want := range map[string]string{
		"%output 77":  "there are no outputs of In[77]: outputs are kept of cells 1 to 2",
		"%output x":   `%output [-f] [CELL]: not "x": write a cell's number, as in %output 12, or -f to go on until it ends`,
		"%output 1 2": `%output [-f] [CELL]: not "2": write a cell's number, as in %output 12, or -f to go on until it ends`,
	} {
		if reply, _ := c.execute(code); reply.text("evalue") != want {
			t.Errorf("%s: %s", code, reply.text("evalue"))
		}
	}
}

// A client that connects while another one's cell runs sees its outputs at once, and goes on
// until the cell ends; the client of the cell waits for its turn.
func TestOutputsOfACellThatRuns(t *testing.T) {
	evaluator := newScripted()
	conn := startKernel(t, Options{Start: evaluator.start})
	first := connect(t, conn)
	cell := first.send(wire.Shell, "execute_request", map[string]any{"code": "print before\nblock\nprint after"})
	<-evaluator.began
	own := first.send(wire.Shell, "execute_request", map[string]any{"code": "%output"})

	second := connect(t, conn)
	of := func(id string) (list []message) {
		for {
			m := second.next(wire.IOPub)
			if m.Parent == id {
				list = append(list, m)
				if m.text("execution_state") == "idle" {
					return list
				}
			}
		}
	}
	once := second.send(wire.Shell, "execute_request", map[string]any{"code": "%output"})
	if got, want := texts(of(once)), []string{"before", "In[1] is still running: %output -f 1 goes on until it ends\n"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	follow := second.send(wire.Shell, "execute_request", map[string]any{"code": "%output -f"})
	for m := second.next(wire.IOPub); m.Parent != follow || m.text("text") != "before"; m = second.next(wire.IOPub) {
	}
	first.send(wire.Control, "interrupt_request", map[string]any{})
	got := texts(of(follow))
	if want := []string{"error"}; !reflect.DeepEqual(got, want) {
		t.Errorf("until the end: %q, want %q", got, want)
	}
	for _, id := range []string{cell, own} {
		if reply := first.next(wire.Shell); reply.Parent != id {
			t.Errorf("a reply to %s, want one to %s", reply.Parent, id)
		}
	}
}

// What is kept has a bound, and it is said what is gone.
func TestKeptOutputsAreBounded(t *testing.T) {
	var k kept
	add := func(id string, n int) {
		k.add(id, session.Output{Kind: session.Stdout, Text: strings.Repeat("x", n)}, nil)
	}
	for i := range 10 {
		id := fmt.Sprint(i)
		k.begin(id, i+1)
		for range 20 {
			add(id, 1<<20)
		}
		k.end(id, nil)
	}
	if k.bytes > maxKept || len(k.cells) != 4 || k.cells[0].count != 7 {
		t.Errorf("%d bytes of %d cells are kept", k.bytes, len(k.cells))
	}
	if c := k.cells[0]; c.bytes > maxKeptOfCell || c.dropped != 5 || c.list[0].number != 5 {
		t.Errorf("of a cell %d bytes are kept, %d outputs went", c.bytes, c.dropped)
	}
	sum := 0
	for _, c := range k.cells {
		for _, e := range c.list {
			sum += e.bytes
		}
	}
	if sum != k.bytes {
		t.Errorf("%d bytes, counted %d", sum, k.bytes)
	}
}
