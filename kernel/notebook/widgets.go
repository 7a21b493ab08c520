package notebook

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"

	"gocuda/kernel/session"
)

// widgets are the states of widgets, as the notebook's metadata keep them: without a
// kernel, front ends and nbconvert draw them from there.
type widgets map[string]*model

type model struct {
	state   map[string]any
	buffers map[string][]any // what the file has of bytes, by the property
}

// property is the one that a place of bytes is in.
func property(path []any) string {
	if len(path) == 0 {
		return ""
	}
	name, _ := path[0].(string)
	return name
}

// take notes what a widget says about its state.
func (w widgets) take(m *session.Comm) {
	var data struct {
		State map[string]any `json:"state"`
		Paths [][]any        `json:"buffer_paths"`
	}
	if m.Type == "close" {
		delete(w, m.ID)
		return
	}
	if json.Unmarshal(m.Data, &data) != nil || data.State == nil {
		return
	}
	if w[m.ID] == nil {
		w[m.ID] = &model{map[string]any{}, map[string][]any{}}
	}
	maps.Copy(w[m.ID].state, data.State)
	for name := range data.State { // what was there before is gone
		delete(w[m.ID].buffers, name)
	}
	for _, path := range data.Paths {
		delete(w[m.ID].buffers, property(path))
	}
	for i, path := range data.Paths {
		if name := property(path); name != "" && i < len(m.Buffers) {
			w[m.ID].buffers[name] = append(w[m.ID].buffers[name], map[string]any{"path": path, "encoding": "base64", "data": base64.StdEncoding.EncodeToString(m.Buffers[i])})
		}
	}
}

// write puts the states into a notebook's metadata; none take those of a former run
// away.
func (w widgets) write(nb *Notebook) {
	if len(w) == 0 {
		delete(nb.Metadata, "widgets")
		return
	}
	states := map[string]any{}
	for id, m := range w {
		if m.state["_model_name"] == nil {
			continue
		}
		one := map[string]any{
			"model_name": m.state["_model_name"], "model_module": m.state["_model_module"], "model_module_version": m.state["_model_module_version"],
			"state": m.state,
		}
		if len(m.buffers) > 0 {
			var list []any
			for _, name := range slices.Sorted(maps.Keys(m.buffers)) {
				list = append(list, m.buffers[name]...)
			}
			one["buffers"] = list
		}
		states[id] = one
	}
	if nb.Metadata == nil {
		nb.Metadata = map[string]any{}
	}
	nb.Metadata["widgets"] = map[string]any{
		"application/vnd.jupyter.widget-state+json": map[string]any{"version_major": 2, "version_minor": 0, "state": states},
	}
}
