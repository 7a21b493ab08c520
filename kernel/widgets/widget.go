// Package widgets is ipywidgets for Go: sliders, fields, buttons and what else a
// notebook's front end draws, whose values are the program's.
//
// A widget's name, properties and their defaults are those of ipywidgets 8, and so
// are its pictures: JupyterLab needs "pip install ipywidgets" and nothing else.
//
//	n := widgets.IntSlider(widgets.Props{"description": "n", "max": 10})
//	n.OnChange(func(v int) { fmt.Println("n is", v) })
//	n
//
// A widget is shown where it is a cell's value, or by display.Show. What is
// registered for an event runs as a cell does: it may be interrupted, and it sees
// the variables of all cells. Between cells, what it prints is shown in the front
// end's log, or in the Output that captures it. While a cell runs, it runs beside
// that, as a goroutine of the cell does, and what it prints is the cell's. Events
// are handled one after the other, in order.
//
// Every function may be called by any goroutine.
package widgets

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"gocuda/kernel/display"
)

// Props are properties of a widget by their names in ipywidgets, such as
// "description", "min", "max", "value", "disabled" or "layout". layout and style
// are Props themselves.
type Props map[string]any

// Widget is any widget.
type Widget struct {
	id, class string

	mu      sync.Mutex
	state   Props
	options []any // what a selection's values are, by index
	changed map[string][]reflect.Value
	clicked []func()
	submits []func(string)
	heard   []func(content any, buffers [][]byte)
	closed  bool
	stands  map[string]any // what is shown where widgets are not drawn

	captures struct { // of an Output, of its msg_id, that go on
		sync.Mutex
		n int
	}
}

//go:embed models.json
var modelsText []byte

// models are the properties of every class, with their defaults: models.json is
// written by scripts/widget-models.py from ipywidgets itself.
var models = sync.OnceValue(func() map[string]Props {
	var file struct {
		Models map[string]map[string]any `json:"models"`
	}
	d := json.NewDecoder(strings.NewReader(string(modelsText)))
	d.UseNumber()
	if err := d.Decode(&file); err != nil {
		panic("widgets: models.json: " + err.Error())
	}
	list := map[string]Props{}
	for class, state := range file.Models {
		list[class] = numbers(state).(map[string]any)
	}
	return list
})

// numbers makes json.Numbers ints and floats, as they are written.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		for k, x := range v {
			v[k] = numbers(x)
		}
	case []any:
		for i, x := range v {
			v[i] = numbers(x)
		}
	}
	return v
}

// New makes a widget of a class of ipywidgets, such as "IntSlider". It panics if
// there is no such class, or if the class has no such property.
func New(class string, props ...Props) *Widget {
	model, known := models()[class]
	if !known {
		panic(fmt.Sprintf("widgets: ipywidgets has no %s", class))
	}
	w := &Widget{id: newID(), class: class, state: maps.Clone(model), changed: map[string][]reflect.Value{}}
	switch class {
	case "Image", "Video", "Audio":
		w.state["value"] = []byte{}
	}
	given := Props{}
	for _, p := range props {
		maps.Copy(given, p)
	}
	for _, part := range []string{"layout", "style"} {
		if of, has := model[part].(map[string]any); has {
			w.state[part] = w.part(part, of["model"].(string), given[part])
			delete(given, part)
		}
	}
	if err := w.take(given); err != nil {
		panic("widgets: " + err.Error())
	}
	w.open()
	return w
}

// part makes the layout or the style of a widget, a widget of a class itself, of what is
// given for it.
func (w *Widget) part(name, class string, given any) *Widget {
	switch p := given.(type) {
	case nil:
		return New(class)
	case *Widget:
		return p
	case Props:
		return New(class, p)
	case map[string]any:
		return New(class, p)
	}
	panic(fmt.Sprintf("widgets: the %s of a %s is Props, not a %T", name, w.class, given))
}

func newID() string { return strings.ReplaceAll(uuid.NewString(), "-", "") }

// open makes the widget known to the front end.
func (w *Widget) open() {
	w.mu.Lock()
	e := encoder{paths: [][]any{}}
	data, err := json.Marshal(map[string]any{"state": e.encode(w.snapshot(nil), nil), "buffer_paths": e.paths})
	w.mu.Unlock()
	if err != nil {
		panic(fmt.Sprintf("widgets: %s: %v", w.class, err))
	}
	all.Lock()
	if all.widgets == nil {
		all.widgets = map[string]*Widget{}
	}
	all.widgets[w.id] = w
	all.Unlock()
	post(Message{Type: "open", ID: w.id, Target: target, Data: data, Metadata: json.RawMessage(protocolMetadata), Buffers: e.buffers})
}

// snapshot is the state, or some of its properties. The caller holds w.mu.
func (w *Widget) snapshot(names []string) map[string]any {
	if names == nil {
		return maps.Clone(map[string]any(w.state))
	}
	m := map[string]any{}
	for _, n := range names {
		m[n] = w.state[n]
	}
	return m
}

// selection says whether the widget chooses among options.
func (w *Widget) selection() bool {
	_, ok := w.state["_options_labels"]
	return ok
}

// take puts properties into the state as given by a program. Nobody else has w, or
// the caller holds w.mu.
func (w *Widget) take(props Props) error {
	if options, given := props["options"]; given && w.selection() {
		labels, values, err := optionsOf(options)
		if err != nil {
			return fmt.Errorf("%s: %w", w.class, err)
		}
		w.state["_options_labels"], w.options = labels, values
		switch w.class {
		case "SelectMultiple":
			w.state["index"] = []int{}
		case "SelectionRangeSlider":
			w.state["index"] = []int{0, 0}
		case "Select", "SelectionSlider", "ToggleButtons", "RadioButtons", "Dropdown":
			w.state["index"] = nil
			if len(labels) > 0 {
				w.state["index"] = 0
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(props)) {
		v := props[name]
		switch _, known := w.state[name]; {
		case name == "options" && w.selection():
		case name == "value" && w.selection():
			index, err := w.indexOf(v)
			if err != nil {
				return err
			}
			w.state["index"] = index
		case !known && w.class != "":
			return fmt.Errorf("a %s has no property %q; it has %s", w.class, name, strings.Join(w.properties(), ", "))
		default:
			v = normal(v, w.state[name])
			model := models()[w.class][name]
			if _, isNumber := number(v); isNumber && reflect.TypeOf(model) == reflect.TypeFor[string]() {
				v = fmt.Sprint(v) // such as the width of an Image
			}
			if why := misfit(v, model); why != "" {
				return fmt.Errorf("the %s of a %s is %s", name, w.class, why)
			}
			w.state[name] = wholes(v, model)
		}
	}
	if children, ok := w.state["children"].([]*Widget); ok && slices.Contains(children, nil) {
		return fmt.Errorf("a child of a %s is nil", w.class)
	}
	if low, high, has := w.limits(); has && low > high {
		return fmt.Errorf("the min of a %s, %v, is above its max, %v", w.class, w.state["min"], w.state["max"])
	}
	w.clamp()
	return nil
}

// wholes makes a number whole, or those in a list, where the property's default is.
func wholes(v, model any) any {
	switch model := model.(type) {
	case int:
		if f, ok := v.(float64); ok {
			return whole(f)
		}
	case []any:
		list, ok := v.([]float64)
		if !ok || len(model) == 0 || reflect.TypeOf(model[0]) != reflect.TypeFor[int]() {
			break
		}
		ints := make([]int, len(list))
		for i, f := range list {
			ints[i] = whole(f)
		}
		return ints
	}
	return v
}

// misfit says what a property is, if it cannot have a value, given its default.
func misfit(v, model any) string {
	f, isNumber := number(v)
	switch model.(type) {
	case int, float64:
		switch {
		case !isNumber:
			return fmt.Sprintf("a number, not %s", given(v))
		case math.IsNaN(f) || math.IsInf(f, 0):
			return fmt.Sprintf("a finite number, not %v", f)
		}
	case bool:
		if _, ok := v.(bool); !ok {
			return fmt.Sprintf("true or false, not %s", given(v))
		}
	case string:
		if _, ok := v.(string); !ok && v != nil {
			return fmt.Sprintf("a text, not %s", given(v))
		}
	}
	return ""
}

func given(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprintf("a %T", v)
}

// properties are the names that a program may set.
func (w *Widget) properties() []string {
	var names []string
	for n := range w.state {
		if !strings.HasPrefix(n, "_") {
			names = append(names, n)
		}
	}
	if w.selection() {
		names = append(names, "options", "value")
	}
	slices.Sort(names)
	return names
}

// normal makes a number of any type an int or a float64, as the property is.
func normal(v, before any) any {
	x := reflect.ValueOf(v)
	_, real := before.(float64)
	switch {
	case !x.IsValid():
		return nil
	case x.CanInt() && real:
		return float64(x.Int())
	case x.CanInt():
		return int(x.Int())
	case x.CanUint() && real:
		return float64(x.Uint())
	case x.CanUint():
		return int(x.Uint())
	case x.CanFloat():
		if _, is := before.(int); is && x.Float() == math.Trunc(x.Float()) && !math.IsInf(x.Float(), 0) {
			return whole(x.Float())
		}
		return x.Float()
	case x.Kind() == reflect.String:
		return x.String()
	case x.Kind() == reflect.Bool:
		return x.Bool()
	}
	return v
}

// limits are the least and the greatest value, where ipywidgets has both.
func (w *Widget) limits() (low, high float64, has bool) {
	low, hasLow := number(w.state["min"])
	high, hasHigh := number(w.state["max"])
	return low, high, hasLow && hasHigh && models()[w.class] != nil
}

// clamp keeps values between min and max, where there are both.
func (w *Widget) clamp() {
	low, high, has := w.limits()
	if !has {
		return
	}
	if w.class == "FloatLogSlider" {
		base, _ := number(w.state["base"])
		low, high = math.Pow(base, low), math.Pow(base, high)
	}
	within := func(v any) any {
		f, ok := number(v)
		if !ok {
			return v
		}
		if f = max(low, min(high, f)); reflect.TypeOf(v).Kind() == reflect.Int {
			return whole(f)
		}
		return f
	}
	switch v := w.state["value"].(type) {
	case int, float64:
		w.state["value"] = within(v)
	case []int:
		list := slices.Clone(v)
		for i := range list {
			list[i] = within(list[i]).(int)
		}
		w.state["value"] = list
	case []float64:
		list := slices.Clone(v)
		for i := range list {
			list[i] = within(list[i]).(float64)
		}
		w.state["value"] = list
	case []any: // a default, which all share
		list := slices.Clone(v)
		for i := range list {
			list[i] = within(list[i])
		}
		w.state["value"] = likeList(list, nil)
	}
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// optionsOf reads the options of a selection: a slice of values, or a map from
// label to value.
func optionsOf(options any) (labels []string, values []any, err error) {
	x := reflect.ValueOf(options)
	switch x.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range x.Len() {
			v := x.Index(i).Interface()
			labels, values = append(labels, fmt.Sprint(v)), append(values, v)
		}
	case reflect.Map:
		for _, k := range x.MapKeys() {
			labels = append(labels, fmt.Sprint(k.Interface()))
		}
		slices.Sort(labels)
		for _, l := range labels {
			for _, k := range x.MapKeys() {
				if fmt.Sprint(k.Interface()) == l {
					values = append(values, x.MapIndex(k).Interface())
				}
			}
		}
	default:
		return nil, nil, fmt.Errorf("options are a slice of values or a map from labels to values, not a %T", options)
	}
	return labels, values, nil
}

// indexOf finds a value, or several, among the options.
func (w *Widget) indexOf(v any) (any, error) {
	one := func(v any) (int, error) {
		for i, o := range w.options {
			if reflect.DeepEqual(o, v) {
				return i, nil
			}
		}
		for i, o := range w.options { // 1 for int64(1)
			if fmt.Sprint(o) == fmt.Sprint(v) {
				return i, nil
			}
		}
		return 0, fmt.Errorf("%v is none of the options of the %s", v, w.class)
	}
	switch x := reflect.ValueOf(v); {
	case v == nil:
		return nil, nil
	case (w.class == "SelectMultiple" || w.class == "SelectionRangeSlider") && x.Kind() == reflect.Slice:
		list := []int{}
		for i := range x.Len() {
			n, err := one(x.Index(i).Interface())
			if err != nil {
				return nil, err
			}
			list = append(list, n)
		}
		return list, nil
	}
	return one(v)
}

// Get is a property.
func (w *Widget) Get(name string) any {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.get(name)
}

func (w *Widget) get(name string) any {
	if name != "value" || !w.selection() {
		return w.state[name]
	}
	of := func(i int) any {
		if i < 0 || i >= len(w.options) {
			return nil
		}
		return w.options[i]
	}
	switch index := w.state["index"].(type) {
	case int:
		return of(index)
	case []int:
		var list []any
		for _, i := range index {
			list = append(list, of(i))
		}
		return list
	}
	return nil
}

// Value is the property "value": what is chosen, of a selection.
func (w *Widget) Value() any { return w.Get("value") }

// Int is the value of a slider or field of whole numbers; 0 if it is no number.
func (w *Widget) Int() int { f, _ := number(w.Value()); return int(f) }

// Float is the value of a slider or field; 0 if it is no number.
func (w *Widget) Float() float64 { f, _ := number(w.Value()); return f }

// Bool is the value of a checkbox or toggle.
func (w *Widget) Bool() bool { b, _ := w.Value().(bool); return b }

// Text is the value of a text field, or of a selection of texts.
func (w *Widget) Text() string { s, _ := w.Value().(string); return s }

// ID names the widget's model in the front end.
func (w *Widget) ID() string { return w.id }

// Set changes a property: in the front end too, and for those who watch it.
func (w *Widget) Set(name string, value any) error { return w.SetAll(Props{name: value}) }

// SetValue changes the value.
func (w *Widget) SetValue(value any) error { return w.Set("value", value) }

// SetAll changes several properties at once.
func (w *Widget) SetAll(props Props) error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return fmt.Errorf("widgets: this %s is closed", w.class)
	}
	before, options := maps.Clone(w.state), w.options
	was := w.get("value")
	for _, part := range []string{"layout", "style"} {
		if p, ok := props[part].(Props); ok {
			of, _ := w.state[part].(*Widget)
			w.mu.Unlock()
			if of == nil {
				return fmt.Errorf("widgets: a %s has no %s", w.class, part)
			}
			if err := of.SetAll(p); err != nil {
				return err
			}
			props = maps.Clone(props)
			delete(props, part)
			w.mu.Lock()
		}
	}
	if err := w.take(props); err != nil {
		w.state, w.options = before, options
		w.mu.Unlock()
		return errors.New("widgets: " + err.Error())
	}
	names := w.differs(before)
	calls := w.calls(names, before, was)
	if _, set := props["outputs"]; set && w.class == "Output" && !slices.Contains(names, "outputs") {
		names = append(names, "outputs") // what was captured since goes
	}
	w.mu.Unlock()
	if len(names) == 0 {
		return nil
	}
	err := w.sendState(names)
	for _, call := range calls {
		call()
	}
	return err
}

// differs lists the properties that are not as before. The caller holds w.mu.
func (w *Widget) differs(before Props) (names []string) {
	for _, n := range slices.Sorted(maps.Keys(w.state)) {
		if !reflect.DeepEqual(before[n], w.state[n]) {
			names = append(names, n)
		}
	}
	return names
}

// sendState tells the front end some properties, or all.
func (w *Widget) sendState(names []string) error {
	w.mu.Lock()
	defer w.mu.Unlock() // the last that is told is what holds
	return w.tell("update", "", w.snapshot(names))
}

func (w *Widget) tell(method, parent string, state map[string]any) error {
	e := encoder{paths: [][]any{}}
	return reply(w.id, parent, map[string]any{"method": method, "state": e.encode(state, nil), "buffer_paths": e.paths}, e.buffers)
}

// update takes what the front end changed.
func (w *Widget) update(state map[string]any, parent string) {
	w.mu.Lock()
	// For other front ends, and for this one to know that it came. It is told before
	// the program can see the values: an answer of the program's comes after it.
	w.tell("echo_update", parent, state)
	before, was := maps.Clone(w.state), w.get("value")
	model := models()[w.class]
	var wrong []string // what they cannot be: the front end is told what they are
	for name, v := range state {
		_, known := w.state[name]
		switch v := like(v, model[name]); {
		case !known:
		case misfit(v, model[name]) != "":
			wrong = append(wrong, name)
		default:
			w.state[name] = v
		}
	}
	came := maps.Clone(w.state)
	w.clamp()
	wrong = append(wrong, w.differs(came)...)
	names := w.differs(before)
	calls := w.calls(names, before, was)
	w.mu.Unlock()
	if len(wrong) > 0 {
		w.sendState(wrong)
	}
	for _, call := range calls {
		call()
	}
}

// calls lists what is to be called for properties that have changed. The caller
// holds w.mu.
func (w *Widget) calls(names []string, before Props, was any) (list []func()) {
	add := func(name string, old, value any) {
		for _, f := range w.changed[name] {
			list = append(list, func() { call(f, old, value) })
		}
	}
	for _, n := range names {
		add(n, before[n], w.state[n])
	}
	if w.selection() && slices.Contains(names, "index") {
		add("value", was, w.get("value"))
	}
	return list
}

// OnChange has f called when a property changes, "value" without a name: by a user,
// or by Set. f is a func(), a func(new T) or a func(old, new T).
func (w *Widget) OnChange(f any, names ...string) error {
	x := reflect.ValueOf(f)
	if x.Kind() != reflect.Func || x.Type().NumIn() > 2 || x.Type().IsVariadic() {
		return fmt.Errorf("widgets: OnChange takes a func(), a func(new T) or a func(old, new T), not a %T", f)
	}
	if len(names) == 0 {
		names = []string{"value"}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range names {
		_, known := w.state[name]
		if !known && !(name == "value" && w.selection()) {
			return fmt.Errorf("widgets: a %s has no property %q; it has %s", w.class, name, strings.Join(w.properties(), ", "))
		}
		var value = w.get(name)
		for i := range x.Type().NumIn() {
			if _, err := as(value, x.Type().In(i)); err != nil {
				return fmt.Errorf("widgets: OnChange of a %s: %w", w.class, err)
			}
		}
		w.changed[name] = append(w.changed[name], x)
	}
	return nil
}

// as is a value as a parameter takes it.
func as(v any, t reflect.Type) (reflect.Value, error) {
	x := reflect.ValueOf(v)
	switch {
	case !x.IsValid():
		return reflect.Zero(t), nil
	case x.Type().AssignableTo(t):
		return x, nil
	case x.CanConvert(t) && (t.Kind() == reflect.String) == (x.Kind() == reflect.String):
		return x.Convert(t), nil
	case x.Kind() == reflect.Slice && t.Kind() == reflect.Slice:
		list := reflect.MakeSlice(t, 0, x.Len())
		for i := range x.Len() {
			e, err := as(x.Index(i).Interface(), t.Elem())
			if err != nil {
				return e, err
			}
			list = reflect.Append(list, e)
		}
		return list, nil
	}
	return reflect.Value{}, fmt.Errorf("the value is a %T, and the function takes a %s", v, t)
}

// call calls a function with as many of the values as it takes. One that is of
// another type than it was when f was registered, such as an index that became
// nil, is the zero value.
func call(f reflect.Value, old, value any) {
	t := f.Type()
	var args []reflect.Value
	for i, v := range []any{old, value}[2-t.NumIn():] {
		x, err := as(v, t.In(i))
		if err != nil {
			x = reflect.Zero(t.In(i))
		}
		args = append(args, x)
	}
	f.Call(args)
}

// OnClick has f called when a Button is clicked.
func (w *Widget) OnClick(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clicked = append(w.clicked, f)
}

// OnSubmit has f called with the text when a user presses Enter in a text field.
func (w *Widget) OnSubmit(f func(text string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.submits = append(w.submits, f)
}

// OnMessage has f called with what the front end's side of the widget sends, such
// as model.send(content, buffers) in anywidget's JavaScript.
func (w *Widget) OnMessage(f func(content any, buffers [][]byte)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = append(w.heard, f)
}

// Send sends a message to the front end's side of the widget, which is told by
// "msg:custom".
func (w *Widget) Send(content any, buffers ...[]byte) error {
	return reply(w.id, "", map[string]any{"method": "custom", "content": content}, buffers)
}

// custom takes a message that is no change of state.
func (w *Widget) custom(text json.RawMessage, buffers [][]byte) {
	var content any
	if json.Unmarshal(text, &content) != nil {
		return
	}
	w.mu.Lock()
	clicked, submits, heard := slices.Clone(w.clicked), slices.Clone(w.submits), slices.Clone(w.heard)
	value, _ := w.get("value").(string)
	w.mu.Unlock()
	if m, ok := content.(map[string]any); ok {
		switch m["event"] {
		case "click":
			for _, f := range clicked {
				f()
			}
		case "submit":
			for _, f := range submits {
				f(value)
			}
		}
	}
	for _, f := range heard {
		f(content, buffers)
	}
}

// Close takes the widget away.
func (w *Widget) Close() error {
	if !w.forget() {
		return nil
	}
	return post(Message{Type: "close", ID: w.id})
}

// forget reports whether the widget was open.
func (w *Widget) forget() bool {
	w.mu.Lock()
	was := w.closed
	w.closed = true
	w.mu.Unlock()
	all.Lock()
	defer all.Unlock()
	delete(all.widgets, w.id)
	return !was
}

// MIMEBundle shows the widget; see package display.
func (w *Widget) MIMEBundle() map[string]any {
	w.mu.Lock()
	closed := w.closed
	w.mu.Unlock()
	if closed { // the front end knows no such widget any more
		return map[string]any{"text/plain": w.String() + ", closed"}
	}
	data := map[string]any{"text/plain": w.String()}
	w.mu.Lock()
	maps.Copy(data, w.stands)
	w.mu.Unlock()
	data["application/vnd.jupyter.widget-view+json"] = map[string]any{"version_major": 2, "version_minor": 0, "model_id": w.id}
	return data
}

// standIn has a front end that draws no widgets show b.
func (w *Widget) standIn(b display.Bundle) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stands = b.Data
}

// isText reports whether a value is one that a text shows: not bytes, such as those of
// files.
func isText(v any) bool {
	switch v := v.(type) {
	case nil, []byte, map[string]any:
		return false
	case []any:
		return !slices.ContainsFunc(v, func(x any) bool { return x != nil && !isText(x) })
	}
	return true
}

// String is the widget's class with its label, value and range, and what it holds.
func (w *Widget) String() string { return w.text(maxNested) }

// maxNested is how many boxes within each other have their contents in a text.
const maxNested = 8

func (w *Widget) text(nested int) string {
	w.mu.Lock()
	var parts []string
	add := func(name string, v any) { parts = append(parts, fmt.Sprintf("%s=%#v", name, v)) }
	if label, _ := w.state["description"].(string); label != "" {
		add("description", label)
	}
	if v := w.get("value"); isText(v) {
		add("value", v)
	}
	for _, name := range []string{"min", "max"} {
		if v, ok := number(w.state[name]); ok {
			add(name, v)
		}
	}
	if labels, ok := w.state["_options_labels"].([]string); ok {
		add("options", labels)
	}
	children, _ := w.state["children"].([]*Widget)
	w.mu.Unlock()
	if len(children) > 0 && nested > 0 {
		var list []string
		for _, c := range children {
			list = append(list, c.text(nested-1))
		}
		parts = append(parts, "children=["+strings.Join(list, ", ")+"]")
	}
	return w.class + "(" + strings.Join(parts, ", ") + ")"
}
