package kernel

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"gocuda/kernel/wire"
)

// echo is a comm target that sends back what it gets.
type echo struct{ closed chan string }

func (e *echo) Open(c *Comm, data json.RawMessage, _ [][]byte) error {
	if string(data) == `"refuse"` {
		return errors.New("refused")
	}
	return c.Send(map[string]any{"opened": data})
}

func (e *echo) Message(c *Comm, data json.RawMessage, buffers [][]byte) {
	if string(data) == `"enough"` {
		c.Close(nil)
		return
	}
	c.Send(map[string]any{"echo": data}, buffers...)
}

func (e *echo) Closed(c *Comm, _ json.RawMessage) { e.closed <- c.ID }

func TestComms(t *testing.T) {
	target := &echo{closed: make(chan string, 1)}
	evaluator := newScripted()
	c := connect(t, startKernel(t, Options{Start: evaluator.start, CommTargets: map[string]CommTarget{"echo": target}}))
	send := func(kind string, content map[string]any) []message {
		return c.published(c.send(wire.Shell, kind, content))
	}
	open := func(content map[string]any) any {
		reply, _ := c.ask(wire.Shell, "comm_info_request", content)
		return reply.Content["comms"]
	}

	got := send("comm_open", map[string]any{"comm_id": "0", "target_name": "nobody", "data": map[string]any{}})
	if len(got) != 1 || got[0].Type != "comm_close" || got[0].text("comm_id") != "0" {
		t.Errorf("an unknown target: %+v", got)
	}
	got = send("comm_open", map[string]any{"comm_id": "1", "target_name": "echo", "data": 5})
	if len(got) != 1 || got[0].Type != "comm_msg" || !reflect.DeepEqual(got[0].Content["data"], map[string]any{"opened": 5.0}) {
		t.Errorf("open: %+v", got)
	}
	got = send("comm_open", map[string]any{"comm_id": "2", "target_name": "echo", "data": "refuse"})
	if len(got) != 1 || got[0].Type != "comm_close" || got[0].text("comm_id") != "2" {
		t.Errorf("refused: %+v", got)
	}
	list := map[string]any{"1": map[string]any{"target_name": "echo"}}
	if got := open(map[string]any{}); !reflect.DeepEqual(got, list) {
		t.Errorf("open comms: %v", got)
	}
	if got := open(map[string]any{"target_name": "other"}); !reflect.DeepEqual(got, map[string]any{}) {
		t.Errorf("open comms of another target: %v", got)
	}
	got = send("comm_msg", map[string]any{"comm_id": "1", "data": "hello"})
	if len(got) != 1 || !reflect.DeepEqual(got[0].Content["data"], map[string]any{"echo": "hello"}) {
		t.Errorf("message: %+v", got)
	}
	if got := send("comm_msg", map[string]any{"comm_id": "7", "data": "hello"}); len(got) != 0 {
		t.Errorf("a message to no comm: %+v", got)
	}
	got = send("comm_msg", map[string]any{"comm_id": "1", "data": "enough"})
	if len(got) != 1 || got[0].Type != "comm_close" {
		t.Errorf("closed by the kernel: %+v", got)
	}
	send("comm_open", map[string]any{"comm_id": "3", "target_name": "echo", "data": 5})
	send("comm_close", map[string]any{"comm_id": "3", "data": map[string]any{}})
	if id := <-target.closed; id != "3" {
		t.Errorf("closed %q", id)
	}
	if got := open(map[string]any{}); !reflect.DeepEqual(got, map[string]any{}) {
		t.Errorf("open comms at the end: %v", got)
	}
}
