package notebook

import (
	"encoding/json"
	"fmt"
	"testing"

	"gocuda/kernel/display"
	"gocuda/kernel/session"
)

// A notebook keeps the bytes that a widget has, not those that it had.
func TestWidgetsKeepTheBytesTheyHave(t *testing.T) {
	w := widgets{}
	say := func(data string, buffers ...[]byte) {
		w.take(&session.Comm{Type: "msg", ID: "a", Data: json.RawMessage(data), Buffers: buffers})
	}
	say(`{"state":{"_model_name":"FileUploadModel","value":[{},{}],"other":1},"buffer_paths":[["value",0,"content"],["value",1,"content"],["other"]]}`, []byte("one"), []byte("two"), []byte("x"))
	say(`{"state":{"value":[{}]},"buffer_paths":[["value",0,"content"]]}`, []byte("new"))
	nb := &Notebook{}
	w.write(nb)
	var got struct {
		State map[string]struct {
			Buffers []struct {
				Path []any
				Data []byte
			}
		}
	}
	text, err := json.Marshal(nb.Metadata["widgets"].(map[string]any)["application/vnd.jupyter.widget-state+json"])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	has := map[string]string{}
	for _, b := range got.State["a"].Buffers {
		place, _ := json.Marshal(b.Path)
		has[string(place)] = string(b.Data)
	}
	if len(has) != 2 || has[`["value",0,"content"]`] != "new" || has[`["other"]`] != "x" {
		t.Errorf("the notebook has %v", has)
	}
}

// What an Output widget captures is in that widget, and not in the cell as well.
func TestAnOutputWidgetHasWhatItCaptures(t *testing.T) {
	k, c := newCollector(), &Cell{Kind: Code}
	k.begin(c, 1)
	say := func(id, kind, state string) {
		k.add(session.Output{Kind: session.ToComm, Comm: &session.Comm{Type: kind, ID: id, Data: json.RawMessage(`{"state":` + state + `}`)}})
	}
	text := func(s string) { k.add(session.Output{Kind: session.Stdout, Text: s}) }
	show := func(s string) {
		k.add(session.Output{Kind: session.Display, Bundle: display.Bundle{Data: map[string]any{"text/plain": s}}})
	}
	say("out", "open", `{"_model_name":"OutputModel","msg_id":"","outputs":[]}`)
	text("before\n")
	for _, round := range []string{"first", "second"} {
		say("out", "msg", `{"msg_id":"In[1]"}`)
		k.add(session.Output{Kind: session.Clear, Wait: true})
		text(round)
		show("picture of the " + round)
		say("out", "msg", `{"msg_id":""}`)
	}
	text("after\n")
	k.close()
	nb := &Notebook{}
	k.widgets.write(nb)
	if got := fmt.Sprint(c.Outputs); got != "[map[name:stdout output_type:stream text:before\n] map[name:stdout output_type:stream text:after\n]]" && got != "[map[name:stdout output_type:stream text:before\nafter\n]]" {
		t.Errorf("the cell has %s", got)
	}
	state := nb.Metadata["widgets"].(map[string]any)["application/vnd.jupyter.widget-state+json"].(map[string]any)["state"].(map[string]any)
	captured := fmt.Sprint(state["out"].(map[string]any)["state"].(map[string]any)["outputs"])
	if captured != "[map[name:stdout output_type:stream text:second] map[data:map[text/plain:picture of the second] metadata:map[] output_type:display_data]]" {
		t.Errorf("the widget has %s", captured)
	}
}
