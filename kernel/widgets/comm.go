package widgets

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Message is one of a comm: what widgets and their front end tell each other.
type Message struct {
	Type     string          `json:"type"` // "open", "msg" or "close"
	ID       string          `json:"id"`   // the comm's, and the widget's
	Target   string          `json:"target,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Buffers  [][]byte        `json:"buffers,omitempty"`
	// Parent is the front end's message that this one is, or answers directly; "" if
	// it is none, or answers what is handled now.
	Parent string `json:"parent,omitempty"`
}

const (
	target        = "jupyter.widget"
	controlTarget = "jupyter.widget.control"
	// The version of the widgets' protocol.
	protocolMetadata        = `{"version":"2.1.0"}`
	controlProtocolMetadata = `{"version":"1.0.0"}`
)

// all is what this process knows of widgets.
var all struct {
	sync.Mutex
	send    func(Message) error
	widgets map[string]*Widget // that are open, by id
	parent  func() string      // the message that the calling goroutine handles
	names   func() []string    // of the parameters of the function that Interact is called with
}

// SetSender makes f send what widgets tell the front end, in order. Without one
// they have no picture. It is for evaluators.
func SetSender(f func(Message) error) {
	all.Lock()
	defer all.Unlock()
	all.send = f
}

// SetParameterNames makes f tell, within a call of Interact, how the parameters of
// its function are called in the source. It is for evaluators.
func SetParameterNames(f func() []string) {
	all.Lock()
	defer all.Unlock()
	all.names = f
}

// SetParent makes f tell which message of the front end the calling goroutine handles: a
// cell or an event. It is for evaluators.
func SetParent(f func() string) {
	all.Lock()
	defer all.Unlock()
	all.parent = f
}

// drawn says whether there is a front end that draws widgets.
func drawn() bool {
	all.Lock()
	defer all.Unlock()
	return all.send != nil
}

func post(m Message) error {
	all.Lock()
	send := all.send
	all.Unlock()
	if send == nil {
		return nil
	}
	return send(m)
}

// Receive takes a message of the front end, and runs the functions that were
// registered for it in the calling goroutine. It is for evaluators.
func Receive(m Message) error {
	if m.Target == controlTarget || m.Type == "msg" && widgetOf(m.ID) == nil {
		return control(m)
	}
	w := widgetOf(m.ID)
	if w == nil {
		if m.Type != "open" {
			return nil // it was closed meanwhile
		}
		return errors.Join(post(Message{Type: "close", ID: m.ID}), fmt.Errorf("no widget can be opened from the front end (target %q)", m.Target))
	}
	if m.Type == "close" {
		w.forget()
		return nil
	}
	var data struct {
		Method  string          `json:"method"`
		State   map[string]any  `json:"state"`
		Paths   [][]any         `json:"buffer_paths"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(m.Data, &data); err != nil {
		return fmt.Errorf("a message to %s: %w", w.class, err)
	}
	switch data.Method {
	case "update":
		if err := putBuffers(data.State, data.Paths, m.Buffers); err != nil {
			return err
		}
		w.update(data.State, m.Parent)
	case "request_state":
		w.sendState(nil)
	case "custom":
		w.custom(data.Content, m.Buffers)
	}
	return nil
}

// control answers a front end that joins a kernel whose widgets it does not know.
func control(m Message) error {
	var data struct {
		Method string `json:"method"`
	}
	if m.Type != "msg" || json.Unmarshal(m.Data, &data) != nil || data.Method != "request_states" {
		return nil
	}
	states := map[string]any{}
	all.Lock()
	list := make([]*Widget, 0, len(all.widgets))
	for _, w := range all.widgets {
		list = append(list, w)
	}
	all.Unlock()
	for _, w := range list {
		w.mu.Lock()
		states[w.id] = map[string]any{
			"model_name": w.state["_model_name"], "model_module": w.state["_model_module"], "model_module_version": w.state["_model_module_version"],
			"state": w.snapshot(nil),
		}
		w.mu.Unlock()
	}
	e := encoder{paths: [][]any{}}
	body := map[string]any{"method": "update_states", "states": e.encode(states, nil), "buffer_paths": e.paths}
	return reply(m.ID, m.Parent, body, e.buffers)
}

func reply(id, parent string, data any, buffers [][]byte) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return post(Message{Type: "msg", ID: id, Parent: parent, Data: text, Buffers: buffers})
}

func widgetOf(id string) *Widget {
	all.Lock()
	defer all.Unlock()
	return all.widgets[id]
}
