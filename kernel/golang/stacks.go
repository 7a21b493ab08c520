package golang

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gocuda/kernel/golang/rt"
)

// bodies finds what the interpreter runs of lowered functions: the traces of the
// runtime show its address. No method gives access to these fields; were they to
// be gone, traces of goroutines would be empty.
func (ev *machine) bodies() map[uint64]string {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	symbols := ev.symbols()
	if !symbols.IsValid() {
		return nil
	}
	if len(ev.unseen) == 0 {
		return ev.bodyNames
	}
	ev.bodyNames = maps.Clone(ev.bodyNames) // which others read
	for name := range ev.unseen {
		ev.see(symbols, name)
	}
	return ev.bodyNames
}

// see adds what the interpreter runs of a function to bodyNames.
func (ev *machine) see(symbols reflect.Value, name string) {
	delete(ev.unseen, name)
	if symbol := symbols.MapIndex(reflect.ValueOf(name)); symbol.IsValid() {
		addBodies(symbol.Elem().FieldByName("node"), name, ev.bodyNames)
	}
}

// symbols is the interpreter's map of what lowered code declares; invalid: it has none.
func (ev *machine) symbols() reflect.Value {
	scopes := reflect.ValueOf(ev.interp).Elem().FieldByName("scopes")
	if scopes.Kind() != reflect.Map {
		return reflect.Value{}
	}
	main := scopes.MapIndex(reflect.ValueOf("main"))
	if !main.IsValid() || main.Kind() != reflect.Pointer {
		return reflect.Value{}
	}
	symbols := main.Elem().FieldByName("sym")
	if symbols.Kind() != reflect.Map {
		return reflect.Value{}
	}
	return symbols
}

// addBodies notes the functions in a syntax tree of the interpreter: declarations
// and literals have four parts, the last of which is the body.
func addBodies(node reflect.Value, name string, names map[uint64]string) {
	if node.IsNil() {
		return
	}
	parts := node.Elem().FieldByName("child")
	if parts.Kind() != reflect.Slice {
		return
	}
	if parts.Len() == 4 && !parts.Index(3).IsNil() {
		if start := parts.Index(3).Elem().FieldByName("start"); start.Kind() == reflect.Pointer {
			names[uint64(start.Pointer())] = name
		}
	}
	for i := range parts.Len() {
		addBodies(parts.Index(i), name, names)
	}
}

// maxGoroutines is how many goroutines are shown of an interrupted cell, beside
// its own; those that are in the same place count as one.
const maxGoroutines = 8

// interrupted shows where the goroutines of a cell were.
func (t *texts) interrupted(where []rt.Goroutine) *Error {
	if len(where) == 0 {
		return t.panicError(rt.Interrupted, rt.Trace{})
	}
	e := t.panicError(rt.Interrupted, rt.Trace{Calls: where[0].Calls})
	e.Traceback = append(e.Traceback, t.others(where[1:])...)
	return e
}

// others shows where goroutines are.
func (t *texts) others(where []rt.Goroutine) []string {
	type kind struct {
		state string
		trace []string
		n     int
	}
	var kinds []kind
	for _, g := range where {
		trace := t.trace(g.Calls)
		if len(trace) == 0 {
			continue // not of the cell's code
		}
		i := slices.IndexFunc(kinds, func(k kind) bool { return k.state == g.State && slices.Equal(k.trace, trace) })
		if i < 0 {
			i, kinds = len(kinds), append(kinds, kind{g.State, trace, 0})
		}
		kinds[i].n++
	}
	var lines []string
	for i, k := range kinds {
		if i == maxGoroutines {
			lines = append(lines, fmt.Sprintf("%sand goroutines in %d other places%s", faint, len(kinds)-i, plain))
			break
		}
		head := "in a goroutine"
		if k.n > 1 {
			head = fmt.Sprintf("in %d goroutines", k.n)
		}
		lines = append(lines, fmt.Sprintf("%s%s [%s]:%s", faint, head, strings.TrimSpace(k.state), plain))
		lines = append(lines, k.trace...)
	}
	return lines
}
