package kernel

import (
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"gocuda/kernel/wire"
)

func TestComms(t *testing.T) {
	evaluator := newScripted()
	c := connect(t, startKernel(t, Options{Start: evaluator.start}))
	send := func(kind string, content map[string]any) []message {
		return c.published(c.send(wire.Shell, kind, content))
	}
	open := func(content map[string]any) any {
		reply, _ := c.ask(wire.Shell, "comm_info_request", content)
		return reply.Content["comms"]
	}
	none := map[string]any{}

	// What a front end opens.
	got := send("comm_open", map[string]any{"comm_id": "0", "target_name": "nobody", "data": none})
	if len(got) != 1 || got[0].Type != "comm_close" || got[0].text("comm_id") != "0" {
		t.Errorf("an unknown target: %+v", got)
	}
	got = send("comm_open", map[string]any{"comm_id": "1", "target_name": "jupyter.widget.control", "data": "comm msg 1 got TYPE"})
	if len(got) != 1 || got[0].Type != "comm_msg" || got[0].text("data") != "got open" {
		t.Errorf("open: %+v", got)
	}
	if got := open(none); !reflect.DeepEqual(got, map[string]any{"1": map[string]any{"target_name": "jupyter.widget.control"}}) {
		t.Errorf("open comms: %v", got)
	}

	// What the evaluator opens, in a cell that then goes on in the background.
	_, got = c.execute("comm open 2 state\nlater of the cell")
	if len(got) != 2 || got[1].Type != "comm_open" || got[1].text("target_name") != "jupyter.widget" || got[1].Metadata["version"] != "2.1.0" {
		t.Errorf("opened: %+v", got)
	}
	cell := got[1].Parent
	if got := open(map[string]any{"target_name": "jupyter.widget"}); !reflect.DeepEqual(got, map[string]any{"2": map[string]any{"target_name": "jupyter.widget"}}) {
		t.Errorf("open comms of a target: %v", got)
	}
	for _, target := range []string{"nobody", "jupyter.widget.control", "jupyter.widget"} {
		if got := send("comm_open", map[string]any{"comm_id": "2", "target_name": target, "data": "comm close 2 x"}); len(got) != 0 {
			t.Errorf("opened again as %s: %+v", target, got)
		}
	}
	got = send("comm_msg", map[string]any{"comm_id": "2", "data": "print TYPE\ncomm msg 2 back\nvalue 5"})
	if len(got) != 3 || got[0].text("text") != "msg" || got[1].Type != "comm_msg" || got[1].text("data") != "back" || got[2].Type != "execute_result" {
		t.Errorf("message: %+v", got)
	}
	got = send("comm_msg", map[string]any{"comm_id": "2", "data": "fail Panic oh"})
	if len(got) != 1 || got[0].text("name") != "stderr" || got[0].text("text") != "\x1b[31mPanic\x1b[0m: oh\n" {
		t.Errorf("an event that fails: %+v", got)
	}
	close(evaluator.release)
	for m := range c.inbox[wire.IOPub] {
		if m.text("text") == "of the cell" {
			if m.Parent != cell {
				t.Error("what a cell's goroutine prints after an event is not the cell's")
			}
			break
		}
	}
	if got := send("comm_msg", map[string]any{"comm_id": "7", "data": "print x"}); len(got) != 0 {
		t.Errorf("a message to no comm: %+v", got)
	}

	// Their ends.
	got = send("comm_close", map[string]any{"comm_id": "1", "data": "print TYPE"})
	if len(got) != 1 || got[0].text("text") != "close" {
		t.Errorf("closed by the front end: %+v", got)
	}
	if got := send("comm_msg", map[string]any{"comm_id": "1", "data": "print x"}); len(got) != 0 {
		t.Errorf("a message to a closed comm: %+v", got)
	}
	got = send("comm_msg", map[string]any{"comm_id": "2", "data": "comm close 2 x"})
	if len(got) != 1 || got[0].Type != "comm_close" {
		t.Errorf("closed by the evaluator: %+v", got)
	}
	c.execute("comm open 3 state")
	if _, got = c.execute("restart"); got[len(got)-1].Type != "comm_close" {
		t.Errorf("a new evaluator has no widgets: %+v", got)
	}
	if got := open(none); !reflect.DeepEqual(got, none) {
		t.Errorf("open comms at the end: %v", got)
	}
}

// What came with a message is gone once it was handled, though outputs are still sent in
// its name.
func TestNoBuffersAreKept(t *testing.T) {
	evaluator := newScripted()
	c := connect(t, startKernel(t, Options{Start: evaluator.start}))
	subshell, _ := c.ask(wire.Control, "create_subshell_request", map[string]any{})
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	const size = 32 << 20
	before := heap()
	for _, c.subshell = range []string{"", subshell.text("subshell_id")} {
		c.published(c.send(wire.Shell, "comm_open", map[string]any{"comm_id": "c" + c.subshell, "target_name": "jupyter.widget", "data": "print TYPE"}))
		frames, id := c.frames("comm_msg", map[string]any{"comm_id": "c" + c.subshell, "data": "print TYPE"})
		if err := c.sockets[wire.Shell].SendMulti(zmq4.NewMsgFrom(append(frames, make([]byte, size))...)); err != nil {
			t.Fatal(err)
		}
		if got := c.published(id); len(got) != 1 || got[0].Type != "stream" {
			t.Errorf("%+v", got)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); heap() > before+size/2; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d MB are kept of two messages of %d MB", (heap()-before)>>20, size>>20)
		}
	}
}
