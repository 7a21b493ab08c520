package notebook

import (
	"encoding/json"
	"testing"

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
