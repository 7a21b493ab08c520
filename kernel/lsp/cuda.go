package lsp

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gocuda/kernel/magic"
)

// What the compilers of %%cuda and %%ptx cells say comes after what is wrong with the Go: it takes
// longer, and may come from a program of its own.

// idle is how long a document does not change before these cells are compiled.
const idle = 300 * time.Millisecond

// compile compiles these cells of a document's text, until it changes, but for those
// of which it is known what their compiler says, and tells what is wrong with the document.
func (s *server) compile(ctx context.Context, t checked) {
	s.compiler.Lock()
	defer s.compiler.Unlock()
	select {
	case <-time.After(idle):
	case <-ctx.Done():
		return
	}
	for _, c := range t.compiled {
		if _, ok := t.said[c.Key]; ok {
			continue
		}
		log, err := c.Messages(ctx)
		if ctx.Err() != nil {
			return
		}
		var wrong *magic.Error
		if errors.As(err, &wrong) || err == nil { // otherwise there is no compiler, or no device
			t.said[c.Key] = said{log, err != nil}
		}
	}
	s.mu.Lock()
	maps.Copy(t.d.said, t.said)
	s.mu.Unlock()
	s.publish(ctx, t)
}

// said is what the compiler of a cell says.
type said struct {
	log   string
	wrong bool
}

// checked is a document's text that was checked.
type checked struct {
	uri      string
	d        *document
	version  any
	list     []cell
	found    []object // of the Go
	compiled map[int]*magic.Compiled
	said     map[string]said // by the keys of these; what is not there is not known yet
}

// publish tells what is wrong with a text, unless ctx has ended: then it has changed.
func (s *server) publish(ctx context.Context, t checked) {
	found := slices.Clone(t.found)
	for _, n := range slices.Sorted(maps.Keys(t.compiled)) {
		if said, ok := t.said[t.compiled[n].Key]; ok {
			found = append(found, messages(t.list, n, said)...)
		}
	}
	// A cell's mistakes show in the cells that use it, too.
	var once []object
	for _, o := range found {
		if !slices.ContainsFunc(once, func(p object) bool { return reflect.DeepEqual(o, p) }) {
			once = append(once, o)
		}
	}
	if ctx.Err() == nil {
		s.write(object{"method": "textDocument/publishDiagnostics", "params": object{"uri": t.uri, "version": t.version, "diagnostics": append([]object{}, once...)}})
	}
}

// message matches a message of a compiler, with its place.
var message = regexp.MustCompile(`^In\[(\d+)\]:(\d+)(?::(\d+))?: ((?:catastrophic |fatal )?error|warning|remark|note)[^:]*: (.*)$`)

// severities are those of messages, by their numbers in the protocol.
var severities = map[string]int{"warning": 2, "remark": 3, "note": 3}

// messages are those of the compiler of the cell with a number.
func messages(list []cell, n int, said said) (found []object) {
	lines := strings.Split(said.log, "\n")
	for i, line := range lines {
		m := message.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at, _ := strconv.Atoi(m[1])
		if at >= len(list) {
			continue
		}
		d := list[at].diagnostic(m[2], m[3], m[5]+continued(lines[i+1:]))
		if s := severities[m[4]]; s > 0 {
			d["severity"] = s
		} else {
			said.wrong = false
		}
		found = append(found, d)
	}
	if said.wrong { // in a header, or without a place
		found = append(found, list[n].diagnostic(strconv.Itoa(lastPiece(list[n].code).Line), "", strings.TrimSpace(said.log)))
	}
	return found
}

// continued are the further lines of a message, which stand above the line of the source
// that is shown with a caret.
func continued(lines []string) string {
	for i, line := range lines {
		if message.MatchString(line) || strings.TrimSpace(line) == "" {
			return ""
		}
		if strings.TrimSpace(line) == "^" && i > 0 {
			text := ""
			for _, l := range lines[:i-1] {
				text += "\n" + strings.TrimSpace(l)
			}
			return text
		}
	}
	return ""
}
