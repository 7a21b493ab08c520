// Package outputs keeps what cells show, in the form that notebooks have it in: the
// outputs of a cell, and those that an Output widget captures.
package outputs

import (
	"strings"

	"gocuda/kernel/session"
)

// Output is one output as nbformat describes it.
type Output map[string]any

// List are the outputs of a cell or of a widget, by the rules by which front ends show them.
type List struct {
	all   []Output
	named map[string][]Output // by display id
	clear bool                // all go when the next one comes

	stream Output // the last one, if more text may be added to it
	text   strings.Builder
}

// Add takes an output, and says whether another picture shows it. A value gets an execution
// count.
func (l *List) Add(o session.Output, count int) (changed bool) {
	switch o.Kind {
	case session.Clear:
		if l.clear = o.Wait; l.clear {
			return false
		}
		l.set(nil)
	case session.Update:
		named := l.named[o.Bundle.DisplayID]
		for _, shown := range named {
			shown["data"], shown["metadata"] = object(o.Bundle.Data), object(o.Bundle.Metadata)
		}
		return len(named) > 0
	case session.Stdout, session.Stderr:
		if o.Text == "" {
			return false
		}
		if l.clear || l.stream == nil || l.stream["name"] != string(o.Kind) {
			out := Output{"output_type": "stream", "name": string(o.Kind), "text": ""}
			l.Put(out)
			l.stream = out
		}
		l.text.WriteString(o.Text)
	case session.Value, session.Display:
		out := Output{"output_type": "display_data", "data": object(o.Bundle.Data), "metadata": object(o.Bundle.Metadata)}
		if o.Kind == session.Value {
			out["output_type"], out["execution_count"] = "execute_result", count
		}
		l.Put(out)
		if id := o.Bundle.DisplayID; id != "" {
			if l.named == nil {
				l.named = map[string][]Output{}
			}
			l.named[id] = append(l.named[id], out)
		}
	default:
		return false
	}
	return true
}

// Put adds an output that no session has, such as an error.
func (l *List) Put(o Output) {
	if l.clear {
		l.set(nil)
	}
	l.endText()
	l.all = append(l.all, o)
}

// All are the outputs so far.
func (l *List) All() []Output {
	if l.stream != nil {
		l.stream["text"] = l.text.String()
	}
	return l.all
}

// set puts others in the place of all outputs.
func (l *List) set(all []Output) {
	l.endText()
	l.all, l.named, l.clear = all, nil, false
}

func (l *List) endText() {
	l.All()
	l.stream = nil
	l.text.Reset()
}

func object(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
