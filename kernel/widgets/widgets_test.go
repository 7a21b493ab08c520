package widgets

import (
	"encoding/json"
	"fmt"
	"gocuda/kernel/display"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// front is a front end that notes what it is told.
type front struct {
	*testing.T
	told []Message
}

func connect(t *testing.T) *front {
	f := &front{T: t}
	SetSender(func(m Message) error { f.told = append(f.told, m); return nil })
	t.Cleanup(func() { SetSender(nil) })
	return f
}

// data are those of the last message.
func (f *front) data() map[string]any {
	f.Helper()
	if len(f.told) == 0 {
		f.Fatal("nothing was sent")
	}
	var data map[string]any
	if err := json.Unmarshal(f.told[len(f.told)-1].Data, &data); err != nil {
		f.Fatal(err)
	}
	return data
}

func (f *front) state() map[string]any {
	f.Helper()
	state, _ := f.data()["state"].(map[string]any)
	return state
}

func (f *front) send(w *Widget, data string, buffers ...[]byte) {
	f.Helper()
	if err := Receive(Message{Type: "msg", ID: w.ID(), Data: json.RawMessage(data), Buffers: buffers}); err != nil {
		f.Error(err)
	}
}

// A cell that waits for a value, and then tells the front end another one, or ends,
// must not be ahead of the echo: the front end would keep the older value.
func TestTheEchoIsSentBeforeTheValueIsSeen(t *testing.T) {
	f := connect(t)
	s := IntSlider()
	answered := make(chan bool)
	SetSender(func(m Message) error {
		if len(f.told) == 3 { // the echo: time for the cell to be ahead of it
			time.Sleep(20 * time.Millisecond)
		}
		f.told = append(f.told, m)
		return nil
	})
	go func() {
		defer close(answered)
		for s.Int() != 7 {
		}
		s.SetValue(8)
	}()
	f.send(s, `{"method":"update","state":{"value":7}}`)
	<-answered
	if s.Int() != 8 || f.data()["method"] != "update" || f.state()["value"] != 8.0 {
		t.Errorf("the slider is at %d; the front end was last told %s", s.Int(), f.told[len(f.told)-1].Data)
	}
}

func TestASliderIsOpenedWithItsParts(t *testing.T) {
	f := connect(t)
	s := IntSlider(Props{"description": "n", "max": uint8(10), "value": 12, "layout": Props{"width": "50%"}})
	if len(f.told) != 3 {
		t.Fatalf("%d messages", len(f.told))
	}
	m, state := f.told[2], f.state()
	if m.Type != "open" || m.Target != "jupyter.widget" || string(m.Metadata) != `{"version":"2.1.0"}` || m.ID != s.ID() {
		t.Errorf("%+v", m)
	}
	for name, want := range map[string]any{
		"_model_name": "IntSliderModel", "_view_name": "IntSliderView", "_model_module": "@jupyter-widgets/controls", "description": "n",
		"max": 10.0, "min": 0.0, "value": 10.0, "layout": "IPY_MODEL_" + f.told[0].ID, "style": "IPY_MODEL_" + f.told[1].ID,
	} {
		if state[name] != want {
			t.Errorf("%s is %v, want %v", name, state[name], want)
		}
	}
	if !strings.Contains(string(f.told[0].Data), `"width":"50%"`) {
		t.Errorf("layout: %s", f.told[0].Data)
	}
	view := s.MIMEBundle()["application/vnd.jupyter.widget-view+json"].(map[string]any)
	if view["model_id"] != s.ID() || view["version_major"] != 2 || s.String() != `IntSlider(description="n", value=10, min=0, max=10)` {
		t.Errorf("%v, %s", view, s)
	}
}

func TestValuesGoBothWays(t *testing.T) {
	f := connect(t)
	s := IntSlider()
	var seen []int
	ok(t, s.OnChange(func(old, v int) { seen = append(seen, old, v) }))
	f.send(s, `{"method":"update","state":{"value":7,"nobody":1},"buffer_paths":[]}`)
	if s.Int() != 7 || s.Value() != 7 || f.data()["method"] != "echo_update" || f.state()["value"] != 7.0 {
		t.Errorf("%v; told %v", s.Value(), f.data())
	}
	ok(t, s.SetValue(int64(400)))
	if s.Int() != 100 || f.data()["method"] != "update" || !reflect.DeepEqual(f.state(), map[string]any{"value": 100.0}) {
		t.Errorf("%v; told %v", s.Value(), f.data())
	}
	n := len(f.told)
	ok(t, s.SetValue(100))
	if len(f.told) != n {
		t.Error("told about no change")
	}
	if !reflect.DeepEqual(seen, []int{0, 7, 7, 100}) {
		t.Errorf("seen %v", seen)
	}
	r := FloatRangeSlider(Props{"value": []float64{1, 2}})
	var at []float64
	ok(t, r.OnChange(func(v []float64) { at = v }))
	f.send(r, `{"method":"update","state":{"value":[3,4.5]}}`)
	if !reflect.DeepEqual(at, []float64{3, 4.5}) {
		t.Errorf("%v", at)
	}
	ints := IntRangeSlider(Props{"max": 10})
	if !reflect.DeepEqual(ints.Value(), []int{10, 10}) {
		t.Errorf("%#v", ints.Value())
	}
	if other := IntRangeSlider(); !reflect.DeepEqual(other.Value(), []any{25, 75}) && !reflect.DeepEqual(other.Value(), []int{25, 75}) {
		t.Errorf("another one's default became %#v", other.Value())
	}
	box := Checkbox()
	var on bool
	ok(t, box.OnChange(func() { on = box.Bool() }))
	f.send(box, `{"method":"update","state":{"value":true}}`)
	if !on {
		t.Error("the box is not ticked")
	}
	text := Text(Props{"value": "a"})
	var said string
	text.OnSubmit(func(s string) { said = s })
	f.send(text, `{"method":"update","state":{"value":"ab"}}`)
	f.send(text, `{"method":"custom","content":{"event":"submit"}}`)
	if said != "ab" || text.Text() != "ab" {
		t.Errorf("%q", said)
	}
	clicks := 0
	button := Button(Props{"description": "go"})
	button.OnClick(func() { clicks++ })
	f.send(button, `{"method":"custom","content":{"event":"click"}}`)
	if clicks != 1 {
		t.Errorf("%d clicks", clicks)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func TestSelections(t *testing.T) {
	f := connect(t)
	d := Dropdown(Props{"options": []string{"red", "green"}, "value": "green"})
	if d.Value() != "green" || f.state()["index"] != 1.0 || !reflect.DeepEqual(f.state()["_options_labels"], []any{"red", "green"}) {
		t.Errorf("%v; %v", d.Value(), f.state())
	}
	var chosen string
	ok(t, d.OnChange(func(s string) { chosen = s }))
	f.send(d, `{"method":"update","state":{"index":0}}`)
	if chosen != "red" || d.Text() != "red" {
		t.Errorf("%q", chosen)
	}
	ok(t, d.Set("options", map[string]int{"two": 2, "one": 1}))
	if d.Value() != 1 {
		t.Errorf("%v", d.Value())
	}
	if err := d.SetValue(3); err == nil || !strings.Contains(err.Error(), "3 is none of the options") {
		t.Error(err)
	}
	m := SelectMultiple(Props{"options": []int{10, 20, 30}, "value": []int{10, 30}})
	f.send(m, `{"method":"update","state":{"index":[1,2]}}`)
	if !reflect.DeepEqual(m.Value(), []any{20, 30}) {
		t.Errorf("%v", m.Value())
	}
	f.send(m, `{"method":"update","state":{"index":[]}}`)
	if list, _ := m.Value().([]any); len(list) != 0 {
		t.Errorf("%v", m.Value())
	}
}

func TestBytesTravelAsTheyAre(t *testing.T) {
	f := connect(t)
	Image(Props{"value": []byte{1, 2}, "format": "gif"})
	m := f.told[len(f.told)-1]
	if paths := f.data()["buffer_paths"]; !reflect.DeepEqual(paths, []any{[]any{"value"}}) || !reflect.DeepEqual(m.Buffers, [][]byte{{1, 2}}) {
		t.Errorf("%v, %v", paths, m.Buffers)
	}
	if _, there := f.state()["value"]; there {
		t.Error("the bytes are in the JSON, too")
	}
	u := FileUpload()
	f.send(u, `{"method":"update","state":{"value":[{"name":"a","content":null}]},"buffer_paths":[["value",0,"content"]]}`, []byte("text"))
	if list, _ := u.Value().([]any); len(list) != 1 || string(list[0].(map[string]any)["content"].([]byte)) != "text" {
		t.Errorf("%#v", u.Value())
	}
	for _, path := range []string{`["value",7,"content"]`, `[0]`, `["value","x"]`, `["none","x"]`} {
		err := Receive(Message{Type: "msg", ID: u.ID(), Data: json.RawMessage(`{"method":"update","state":{"value":[1]},"buffer_paths":[` + path + `]}`), Buffers: [][]byte{{1}}})
		if err == nil {
			t.Errorf("no error at %s", path)
		}
	}
}

func TestAFrontEndThatJoinsGetsAllStates(t *testing.T) {
	f := connect(t)
	s := IntSlider(Props{"value": 5})
	ok(t, Receive(Message{Type: "open", ID: "c", Target: "jupyter.widget.control"}))
	ok(t, Receive(Message{Type: "msg", ID: "c", Target: "jupyter.widget.control", Data: json.RawMessage(`{"method":"request_states"}`)}))
	states, _ := f.data()["states"].(map[string]any)
	mine, _ := states[s.ID()].(map[string]any)
	if f.data()["method"] != "update_states" || f.told[len(f.told)-1].ID != "c" || mine["model_name"] != "IntSliderModel" || mine["state"].(map[string]any)["value"] != 5.0 {
		t.Errorf("%v", f.data())
	}
	f.send(s, `{"method":"request_state"}`)
	if f.state()["max"] != 100.0 {
		t.Errorf("%v", f.state())
	}
	ok(t, s.Close())
	if m := f.told[len(f.told)-1]; m.Type != "close" || m.ID != s.ID() {
		t.Errorf("%+v", m)
	}
	if err := s.SetValue(3); err == nil {
		t.Error("a closed widget is set")
	}
	n := len(f.told)
	ok(t, s.Close())
	f.send(s, `{"method":"update","state":{"value":1}}`)
	if len(f.told) != n {
		t.Errorf("%+v", f.told[n:])
	}
	if err := Receive(Message{Type: "open", ID: "x", Target: "jupyter.widget", Data: json.RawMessage("{}")}); err == nil || f.told[len(f.told)-1].Type != "close" {
		t.Errorf("a widget from the front end: %v", err)
	}
}

func TestLinks(t *testing.T) {
	f := connect(t)
	a, b := IntSlider(Props{"value": 3}), IntText()
	ok(t, Link(a, "value", b, "value"))
	if b.Int() != 3 {
		t.Errorf("%v", b)
	}
	f.send(b, `{"method":"update","state":{"value":9}}`)
	if a.Int() != 9 {
		t.Errorf("%v", a)
	}
	JSLink(a, "value", b, "value")
	if source := f.state()["source"]; !reflect.DeepEqual(source, []any{"IPY_MODEL_" + a.ID(), "value"}) {
		t.Errorf("%v", source)
	}
	Tab([]string{"first", "second"}, a, b)
	if s := f.state(); !reflect.DeepEqual(s["children"], []any{"IPY_MODEL_" + a.ID(), "IPY_MODEL_" + b.ID()}) || !reflect.DeepEqual(s["titles"], []any{"first", "second"}) {
		t.Errorf("%v", s)
	}
	w := Any("export default { render() {} }", ".x {}", Props{"count": 1})
	if s := f.state(); s["count"] != 1.0 || s["_model_name"] != "AnyModel" || s["_esm"] == nil || s["_css"] != ".x {}" {
		t.Errorf("%v", s)
	}
	var heard any
	w.OnMessage(func(content any, _ [][]byte) { heard = content })
	f.send(w, `{"method":"custom","content":"hello"}`)
	var count int
	ok(t, w.OnChange(func(n int) { count = n }, "count"))
	f.send(w, `{"method":"update","state":{"count":2}}`)
	if heard != "hello" || count != 2 {
		t.Errorf("%v, %d", heard, count)
	}
	ok(t, w.Send("back"))
	if f.data()["content"] != "back" {
		t.Errorf("%v", f.data())
	}
}

func TestInteract(t *testing.T) {
	f := connect(t)
	SetParameterNames(func() []string { return []string{"n", "late", "x", "how"} })
	defer SetParameterNames(nil)
	SetParent(func() string { return "message" })
	defer SetParent(nil)
	var got []any
	box, err := Interactive(func(n int, late bool, x float64, how string) any { got = []any{n, late, x, how}; return nil }, Between(2, 9), nil, 2.5, []string{"a", "b"})
	ok(t, err)
	if !reflect.DeepEqual(got, []any{2, false, 2.5, "a"}) {
		t.Errorf("%#v", got)
	}
	children := box.Get("children").([]*Widget)
	if len(children) != 5 || children[0].Get("description") != "n" || children[0].Get("max") != 9 || children[2].Get("max") != 7.5 || children[3].class != "Dropdown" {
		t.Errorf("%v", children)
	}
	narrow := 0 // controls that a narrow page does not cut off
	for _, m := range f.told {
		narrow += strings.Count(string(m.Data), `"max_width":"calc(100% - 4px)"`)
	}
	if narrow != 4 {
		t.Errorf("%d of 4 controls become narrower with the page", narrow)
	}
	begun := len(f.told)
	f.send(children[0], `{"method":"update","state":{"value":4}}`)
	want := `VBox(children=[IntSlider(description="n", value=4, min=2, max=9), Checkbox(description="late", value=false), ` +
		`FloatSlider(description="x", value=2.5, min=-2.5, max=7.5), Dropdown(description="how", value="a", options=[]string{"a", "b"}), Output()])`
	if text := box.MIMEBundle()["text/plain"]; text != want {
		t.Errorf("as text: %s\nwant     %s", text, want)
	}
	if err := box.Set("children", []*Widget{box}); err != nil || len(box.String()) > 1000 {
		t.Errorf("a box within itself: %v, %.100s", err, box)
	}
	if !reflect.DeepEqual(got, []any{4, false, 2.5, "a"}) {
		t.Errorf("%#v", got)
	}
	var said []string
	for _, m := range f.told[begun:] {
		said = append(said, string(m.Data))
	}
	if all := strings.Join(said, "\n"); strings.Count(all, `"msg_id":"message"`) != 1 || strings.Count(all, `"msg_id":""`) != 1 {
		t.Errorf("the output is not captured:\n%s", all)
	}
	for what, f := range map[string]any{"not a int": 3, "no function with ...": func(...int) {}, "a chan int needs a control": func(chan int) {}} {
		if err := Interact(f); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
	if err := Interact(func() {}, 1); err == nil {
		t.Error("more controls than parameters")
	}
}

// A front end that draws no widgets shows what the function gave for the controls' values.
// An Output captures until the last Capture has ended. What it has captured, which is not
// known here, is cleared all the same.
func TestAnOutputThatCaptures(t *testing.T) {
	f := connect(t)
	cell := "cell"
	SetParent(func() string { return cell })
	t.Cleanup(func() { SetParent(nil) })
	out := Output()
	of := func() any { return out.Get("msg_id") }
	func() {
		defer func() { recover() }()
		out.Capture(func() {
			out.Capture(func() {})
			if of() != "cell" {
				t.Error("the inner Capture ends the outer one")
			}
			panic("in the middle")
		})
	}()
	if of() != "" || f.state()["msg_id"] != "" {
		t.Errorf("it captures %q after a panic", of())
	}

	// One that an interrupt left behind, which ends much later.
	late := make(chan bool)
	go out.Capture(func() { <-late; <-late })
	late <- true
	cell = "next"
	out.Capture(func() {
		close(late)
		time.Sleep(10 * time.Millisecond)
		if of() != "next" {
			t.Errorf("an earlier Capture ends this one: it captures %q", of())
		}
	})
	if of() != "" {
		t.Errorf("it captures %q at the end", of())
	}
	for range 2 {
		f.told = nil
		if err := out.ClearOutput(); err != nil || len(f.told) != 1 || len(f.state()) != 1 || !reflect.DeepEqual(f.state()["outputs"], []any{}) {
			t.Errorf("cleared (%v): %+v", err, f.told)
		}
	}
}

func TestInteractHasAStaticPicture(t *testing.T) {
	f := connect(t)
	box, err := Interactive(func(n int) any {
		return display.Bundle{Data: map[string]any{"text/plain": fmt.Sprint("n is ", n), "text/html": fmt.Sprintf("<b>%d</b>", n)}}
	}, Between(2, 9))
	ok(t, err)
	data := box.MIMEBundle()
	if data["text/html"] != "<b>2</b>" || data["text/plain"] != "n is 2" || data["application/vnd.jupyter.widget-view+json"] == nil {
		t.Errorf("%v", data)
	}
	f.send(box.Get("children").([]*Widget)[0], `{"method":"update","state":{"value":4}}`)
	if data := box.MIMEBundle(); data["text/html"] != "<b>4</b>" {
		t.Errorf("after a change: %v", data)
	}
}

func TestMistakesAreNamed(t *testing.T) {
	connect(t)
	said := func(f func()) (text string) {
		defer func() { text, _ = recover().(string) }()
		f()
		return ""
	}
	for want, f := range map[string]func(){
		`a IntSlider has no property "maximum"; it has`: func() { IntSlider(Props{"maximum": 3}) },
		"ipywidgets has no Slider":                      func() { New("Slider") },
		"options are a slice":                           func() { Dropdown(Props{"options": 3}) },
		"the layout of a Text is Props, not a string":   func() { Text(Props{"layout": "wide"}) },
	} {
		if text := said(f); !strings.Contains(text, want) {
			t.Errorf("%q, want %q", text, want)
		}
	}
	s := IntSlider()
	for want, f := range map[string]any{"not a int": 1, "takes a chan int": func(chan int) {}, "takes a string": func(string) {}} {
		if err := s.OnChange(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := s.OnChange(func() {}, "colour"); err == nil || !strings.Contains(err.Error(), `no property "colour"`) {
		t.Error(err)
	}
	if err := s.Set("colour", 1); err == nil {
		t.Error("a property that is not there is set")
	}
}

// Every class can be made, and is opened with a model that the front end has.
func TestEveryClass(t *testing.T) {
	f := connect(t)
	for class := range models() {
		w := New(class)
		if name, _ := f.state()["_model_name"].(string); !strings.HasSuffix(name, "Model") || f.state()["_model_module_version"] == nil {
			t.Errorf("%s is opened as %v", class, f.state())
		}
		w.Close()
	}
}

// TestValuesThatDoNotFit: a property has values of its kind only, whoever sets it, and
// a widget that refuses one is as it was.
func TestValuesThatDoNotFit(t *testing.T) {
	f := connect(t)
	s := IntSlider(Props{"max": 10, "value": 4})
	for name, c := range map[string]struct {
		props Props
		want  string
	}{
		"a text":       {Props{"value": "7"}, `the value of a IntSlider is a number, not "7"`},
		"not a number": {Props{"value": math.NaN()}, "the value of a IntSlider is a finite number, not NaN"},
		"nil":          {Props{"max": nil}, "the max of a IntSlider is a number, not nil"},
		"an int":       {Props{"disabled": 1}, "the disabled of a IntSlider is true or false, not a int"},
		"a bool":       {Props{"description": true}, "the description of a IntSlider is a text, not a bool"},
		"bounds":       {Props{"min": 20}, "the min of a IntSlider, 20, is above its max, 10"},
	} {
		if err := s.SetAll(c.props); err == nil || err.Error() != "widgets: "+c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.Int() != 4 || s.Get("min") != 0 || s.Get("max") != 10 {
		t.Errorf("it has changed: %v %v %v", s.Int(), s.Get("min"), s.Get("max"))
	}
	if err := s.SetValue(1e300); err != nil || s.Int() != 10 {
		t.Error(err, s.Int())
	}
	f.send(s, `{"method":"update","state":{"value":-1e30}}`)
	if s.Int() != 0 || f.state()["value"] != 0.0 {
		t.Errorf("too little of the front end: %v %v", s.Value(), f.data())
	}
	for name, make := range map[string]func(){
		"a nil child": func() { HBox(s, nil) },
		"a function":  func() { Any("", "", Props{"f": func() {}}) },
	} {
		func() {
			defer func() {
				if v := recover(); v == nil {
					t.Errorf("%s: taken", name)
				}
			}()
			make()
		}()
	}
	if err := Receive(Message{Type: "msg", ID: "x", Target: controlTarget, Data: json.RawMessage(`{"method":"request_states"}`)}); err != nil {
		t.Errorf("after what could not be made: %v", err)
	}
	closed := IntText()
	closed.Close()
	if b := closed.MIMEBundle(); len(b) != 1 || b["text/plain"] != "IntText(value=0), closed" {
		t.Errorf("closed, it shows %v", b)
	}
	if i := Image(Props{"width": 300}); i.Get("width") != "300" {
		t.Errorf("the width is %v", i.Get("width"))
	}
	if err := s.SetAll(Props{"min": 20, "max": 30}); err != nil || s.Int() != 20 {
		t.Error(err, s.Int())
	}
	f.send(s, `{"method":"update","state":{"value":"abc","min":15}}`)
	if s.Int() != 20 || s.Get("min") != 15 || f.data()["method"] != "update" || f.state()["value"] != 20.0 {
		t.Errorf("a text of the front end: %v %v %v", s.Value(), s.Get("min"), f.data())
	}
}

// Properties that cannot be set leave all as it was.
func TestOptionsThatCannotBeSet(t *testing.T) {
	connect(t)
	d := Dropdown(Props{"options": []string{"a", "b"}, "value": "b"})
	if err := d.SetAll(Props{"options": []string{"x", "y"}, "value": "z"}); err == nil {
		t.Error("z is taken for one of the options")
	}
	if d.Value() != "b" {
		t.Errorf("the value is %v", d.Value())
	}
	ok(t, d.SetValue("a"))
}

// Whole numbers are what ipywidgets makes of others: cut off.
func TestWholeNumbersStayWhole(t *testing.T) {
	f := connect(t)
	s := IntSlider(Props{"value": 7.9})
	if s.Value() != 7 {
		t.Errorf("7.9 is %v", s.Value())
	}
	ok(t, s.SetValue(2.5))
	if s.Value() != 2 || f.state()["value"] != 2.0 {
		t.Errorf("2.5 is %v; told %v", s.Value(), f.state())
	}
	r := IntRangeSlider(Props{"value": []float64{1.5, 7.5}})
	if !reflect.DeepEqual(r.Value(), []int{1, 7}) {
		t.Errorf("1.5 to 7.5 is %v", r.Value())
	}
	x := FloatSlider(Props{"value": 2.5})
	if x.Value() != 2.5 {
		t.Errorf("2.5 is %v", x.Value())
	}
}

// The properties of a widget of one's own mean what its author says.
func TestOwnWidgetsAreTheirAuthors(t *testing.T) {
	f := connect(t)
	layout := New("Layout", Props{"width": "50%"})
	w := Any("export default {}", "", Props{"value": 5, "min": 3, "max": 1, "layout": layout})
	if f.state()["layout"] != "IPY_MODEL_"+layout.ID() {
		t.Errorf("the layout is %v, not %s", f.state()["layout"], layout.ID())
	}
	ok(t, w.SetValue(7.5))
	if w.Value() != 7.5 {
		t.Errorf("7.5 is %v", w.Value())
	}
	f.send(w, `{"method":"update","state":{"value":9}}`)
	if w.Int() != 9 {
		t.Errorf("9 is %v", w.Value())
	}
}

// What a control is given stands.
func TestControlsKeepWhatTheyAreGiven(t *testing.T) {
	connect(t)
	box, err := Interactive(func(n int, x float64) {}, Props{"value": 5, "min": 0}, Props{"value": 2.0, "min": 1.0})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Props{{"min": 0, "max": 15}, {"min": 1.0, "max": 6.0}} {
		c := box.Get("children").([]*Widget)[i]
		for name, v := range want {
			if c.Get(name) != v {
				t.Errorf("%s of %v is %v", name, c, c.Get(name))
			}
		}
	}
	if _, err := Interactive(func(int) {}, (*Widget)(nil)); err == nil {
		t.Error("a control is nil")
	}
}

// A file that was uploaded is no text.
func TestUploadsAreNotShown(t *testing.T) {
	f := connect(t)
	u := FileUpload()
	f.send(u, `{"method":"update","state":{"value":[{"name":"a.bin","size":100000}]},"buffer_paths":[["value",0,"content"]]}`, make([]byte, 100000))
	if value, ok := u.Value().([]any); !ok || len(value) != 1 {
		t.Fatalf("the value is %T", u.Value())
	}
	if n := len(u.String()); n > 1000 {
		t.Errorf("a text of %d bytes", n)
	}
}
