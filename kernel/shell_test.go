package kernel

import (
	"slices"
	"testing"

	"gocuda/kernel/wire"
)

// Subshells are made, listed and deleted; each handles its own requests.
func TestSubshells(t *testing.T) {
	evaluator := newScripted()
	c := connect(t, startKernel(t, Options{Start: evaluator.start}))
	ask := func(kind string, content any) message {
		c.send(wire.Control, kind, content)
		return c.next(wire.Control)
	}
	sendTo := func(ch wire.Channel, shell, kind string, content any) string {
		c.subshell = shell
		defer func() { c.subshell = "" }()
		return c.send(ch, kind, content)
	}
	list := func() (ids []string) {
		for _, id := range ask("list_subshell_request", map[string]any{}).Content["subshell_id"].([]any) {
			ids = append(ids, id.(string))
		}
		return ids
	}
	if ids := list(); len(ids) != 0 {
		t.Errorf("at first there are %v", ids)
	}
	a := ask("create_subshell_request", map[string]any{}).text("subshell_id")
	b := ask("create_subshell_request", map[string]any{}).text("subshell_id")
	if ids := list(); !slices.Equal(ids, []string{a, b}) || a == "" || a == b {
		t.Errorf("there are %v, want %q and %q", ids, a, b)
	}
	if m := ask("delete_subshell_request", map[string]any{"subshell_id": "none"}); m.text("status") != "error" {
		t.Errorf("deleting none: %+v", m)
	}

	cell := c.send(wire.Shell, "execute_request", map[string]any{"code": "block"})
	<-evaluator.began
	long := sendTo(wire.Shell, a, "execute_request", map[string]any{"code": "until stopped"})
	<-evaluator.events
	other := sendTo(wire.Shell, b, "execute_request", map[string]any{"code": "print of b"})
	if m := c.next(wire.Shell); m.Parent != other || m.text("status") != "ok" {
		t.Errorf("b answers %+v", m)
	}
	for {
		m := c.next(wire.IOPub)
		if m.Type == "stream" && (m.Parent != other || m.text("text") != "of b") {
			t.Errorf("%+v", m)
		}
		if m.Type == "stream" {
			break
		}
	}
	behind := sendTo(wire.Shell, a, "execute_request", map[string]any{"code": "print behind"})
	info := c.send(wire.Shell, "kernel_info_request", map[string]any{}) // when that is answered, the one before has come
	if m := c.next(wire.Shell); m.Parent != info {
		t.Errorf("%+v", m)
	}
	sendTo(wire.Control, a, "interrupt_request", map[string]any{})
	c.next(wire.Control)
	for _, want := range []struct{ id, name string }{{long, "Interrupted"}, {behind, "Aborted"}} {
		if m := c.next(wire.Shell); m.Parent != want.id || m.text("ename") != want.name {
			t.Errorf("a answers %+v, want %s", m, want.name)
		}
	}
	ask("delete_subshell_request", map[string]any{"subshell_id": a})
	gone := sendTo(wire.Shell, a, "execute_request", map[string]any{"code": "print gone"})
	c.send(wire.Control, "interrupt_request", map[string]any{})
	c.next(wire.Control)
	for _, want := range []struct{ id, name string }{{cell, "Interrupted"}, {gone, "RequestError"}} {
		if m := c.next(wire.Shell); m.Parent != want.id || m.text("ename") != want.name {
			t.Errorf("the main shell answers %+v, want %s", m, want.name)
		}
	}
	// One that is deleted while it runs a cell.
	d := ask("create_subshell_request", map[string]any{}).text("subshell_id")
	long = sendTo(wire.Shell, d, "execute_request", map[string]any{"code": "until stopped"})
	<-evaluator.events
	behind = sendTo(wire.Shell, d, "execute_request", map[string]any{"code": "print behind"})
	c.send(wire.Shell, "kernel_info_request", map[string]any{})
	c.next(wire.Shell)
	ask("delete_subshell_request", map[string]any{"subshell_id": d})
	for _, want := range []struct{ id, name string }{{long, "Interrupted"}, {behind, "RequestError"}} {
		if m := c.next(wire.Shell); m.Parent != want.id || m.text("ename") != want.name {
			t.Errorf("a deleted subshell answers %+v, want %s", m, want.name)
		}
	}
	if ids := list(); !slices.Equal(ids, []string{b}) {
		t.Errorf("at last there are %v", ids)
	}
}
