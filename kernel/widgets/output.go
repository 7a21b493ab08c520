package widgets

import (
	"maps"
	"reflect"
)

// Output is a place for outputs; see [Widget.Capture].
func Output(props ...Props) *Widget { return New("Output", props...) }

// Capture runs f, and has what the front end is shown meanwhile, text too, appear in
// the Output, also what the cell's other goroutines show. Within a Capture of the same
// Output it changes nothing.
func (w *Widget) Capture(f func()) {
	all.Lock()
	parent := all.parent
	all.Unlock()
	id := ""
	if parent != nil {
		id = parent()
	}
	w.capture(id, 1)
	defer w.capture(id, -1)
	f()
}

// capture notes that the outputs of a message are captured by one Capture more, or less. A
// cell that was interrupted may leave some behind: they end nothing of another message's.
func (w *Widget) capture(message string, more int) {
	w.captures.Lock()
	defer w.captures.Unlock()
	switch {
	case w.Get("msg_id") == message:
		w.captures.n += more
	case more > 0:
		w.captures.n = 1
		w.Set("msg_id", message) //nolint:errcheck // one that is closed captures nothing
	}
	if w.captures.n == 0 {
		w.Set("msg_id", "") //nolint:errcheck // as above
	}
}

// ClearOutput removes what an Output shows.
func (w *Widget) ClearOutput() error { return w.Set("outputs", []any{}) }

// Any is a widget of one's own, by anywidget's protocol: esm is a JavaScript module
// whose default export has render({ model, el }), css may be empty. props are its
// model's, by model.get and model.set. JupyterLab needs "pip install anywidget".
func Any(esm, css string, props Props) *Widget {
	w := &Widget{id: newID(), class: "AnyWidget", changed: map[string][]reflect.Value{}, state: Props{
		"_model_module": "anywidget", "_model_name": "AnyModel", "_model_module_version": anywidgetVersion,
		"_view_module": "anywidget", "_view_name": "AnyView", "_view_module_version": anywidgetVersion, "_view_count": nil,
		"_dom_classes": []string{}, "_anywidget_id": "gocuda.AnyWidget", "_esm": esm, "_css": css, "tabbable": nil, "tooltip": nil,
	}}
	maps.Copy(w.state, props)
	w.state["layout"] = w.part("layout", "Layout", props["layout"])
	for name, v := range w.state {
		w.state[name] = normal(v, v)
	}
	w.open()
	return w
}

const anywidgetVersion = "~0.11.*"
