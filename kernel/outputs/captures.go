package outputs

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"gocuda/kernel/session"
)

// Captures directs outputs to the Output widgets that capture them. By the widgets'
// protocol a front end does that: the widget tells it by msg_id of which message's outputs
// it is to show, and it tells the kernel what these are. Here, no front end gets to see
// msg_id, and all are told the widget's outputs: they cannot differ, and no client has to
// send anything while it waits for a cell. The evaluator does not know of them.
//
// The zero value has no widgets.
type Captures struct {
	widgets map[string]*widget // by id
	active  []*widget          // that capture; the last one to begin comes last
}

// widget is an Output.
type widget struct {
	id      string
	list    List
	of      string // the message whose outputs it captures; "": none
	last    string // the last one that it captured outputs of
	changed bool   // since front ends were told its outputs
}

// Take takes an output of the cell or event that came by a message, and returns what is
// to be shown.
func (c *Captures) Take(o session.Output, message string, count int) []session.Output {
	switch o.Kind {
	case session.ToComm:
		return c.comm(o)
	case session.Update: // shown wherever the display is
		for _, w := range c.widgets {
			w.changed = w.list.Add(o, count) || w.changed
		}
	case session.Stdout, session.Stderr, session.Value, session.Display, session.Clear:
		for _, w := range slices.Backward(c.active) {
			if w.of == message {
				w.changed = w.list.Add(o, count) || w.changed
				return nil
			}
		}
	}
	return []session.Output{o}
}

// Changed says whether a widget's outputs are others than front ends know, and whether it
// still captures some.
func (c *Captures) Changed() (changed, captures bool) {
	for _, w := range c.widgets {
		changed, captures = changed || w.changed, captures || w.changed && w.of != ""
	}
	return changed, captures
}

// Changes tell front ends the outputs of widgets that have changed, each in the name of the
// message that they are of.
func (c *Captures) Changes() (list []session.Output) {
	for _, id := range slices.Sorted(maps.Keys(c.widgets)) {
		if w := c.widgets[id]; w.changed {
			w.changed = false
			data := encode(fields{"method": encode("update"), "state": encode(fields{"outputs": w.outputs()}), "buffer_paths": encode([]any{})})
			list = append(list, session.Output{Kind: session.ToComm, Comm: &session.Comm{Type: "msg", ID: w.id, Data: data, Parent: w.last}})
		}
	}
	return list
}

func (w *widget) outputs() json.RawMessage {
	return encode(append([]Output{}, w.list.All()...))
}

// fields are those of a JSON object.
type fields map[string]json.RawMessage

// encode encodes what came over the evaluator's link as JSON.
func encode(v any) json.RawMessage {
	text, _ := json.Marshal(v)
	return text
}

func decode[T any](text json.RawMessage) (v T) {
	json.Unmarshal(text, &v) //nolint:errcheck // what is of another type is as if it were not there
	return v
}

// comm takes a message of a widget.
func (c *Captures) comm(o session.Output) []session.Output {
	m := *o.Comm
	w := c.widgets[m.ID]
	switch {
	case m.Type == "close":
		told := c.Changes() // they may show the widget
		delete(c.widgets, m.ID)
		c.direct(w, "")
		return append(told, o)
	case w == nil && m.Type == "msg" && bytes.Contains(m.Data, []byte(`"update_states"`)):
		m.Data = c.states(m.Data)
	case w == nil && m.Type != "open":
	default:
		data := decode[fields](m.Data)
		state := decode[fields](data["state"])
		if state == nil {
			break
		}
		if w == nil {
			if decode[string](state["_model_name"]) != "OutputModel" {
				break
			}
			if w = (&widget{id: m.ID}); c.widgets == nil {
				c.widgets = map[string]*widget{}
			}
			c.widgets[m.ID] = w
		}
		if !c.state(w, m.Type, decode[string](data["method"]), state) {
			return nil
		}
		data["state"] = encode(state)
		m.Data = encode(data)
	}
	o.Comm = &m
	return []session.Output{o}
}

// state takes what a widget says of its state, and changes that to what front ends are told;
// false: nothing.
func (c *Captures) state(w *widget, kind, method string, state fields) bool {
	whole := state["_model_name"] != nil // else properties that were set
	if of, given := state["msg_id"]; given && method != "echo_update" {
		c.direct(w, decode[string](of))
		if delete(state, "msg_id"); len(state) == 0 {
			return false
		}
		if whole {
			state["msg_id"] = encode("")
		}
	}
	switch set, given := state["outputs"]; {
	case !given:
	case whole && kind == "msg": // asked for
		state["outputs"] = w.outputs()
	default:
		w.list.set(decode[[]Output](set))
		w.changed = false
	}
	return true
}

// direct has a widget capture the outputs of a message; "": none any more.
func (c *Captures) direct(w *widget, message string) {
	if w == nil || w.of == message {
		return
	}
	c.active = slices.DeleteFunc(c.active, func(other *widget) bool { return other == w })
	if w.of = message; message != "" {
		w.last = message
		c.active = append(c.active, w)
	}
}

// states completes the states of all widgets, which a page asks for that is loaded again.
func (c *Captures) states(text json.RawMessage) json.RawMessage {
	data := decode[fields](text)
	states := decode[map[string]fields](data["states"])
	for id, one := range states {
		state := decode[fields](one["state"])
		if w := c.widgets[id]; w != nil && state != nil {
			state["msg_id"], state["outputs"] = encode(""), w.outputs()
			one["state"] = encode(state)
		}
	}
	if states == nil {
		return text
	}
	data["states"] = encode(states)
	return encode(data)
}
