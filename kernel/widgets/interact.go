package widgets

import (
	"errors"
	"fmt"
	"reflect"

	"gocuda/kernel/display"
)

// Between is a slider's range for [Interact], with a step if one is given: of whole
// numbers for an int, of numbers for a float64.
func Between(min, max float64, step ...float64) Props {
	p := Props{"min": min, "max": max}
	if len(step) > 0 {
		p["step"] = step[0]
	}
	return p
}

// Interact shows a control for each parameter of f, a function, and below them what
// f shows and returns, again whenever one is moved. Where the front end draws no widgets,
// what f returned stands in their place. controls say how, one for each
// parameter in order; nil, or none, is what the type says: a slider for a number, a
// checkbox for a bool, a field for a string. Else it is a Widget; Props for that one,
// such as Between(0, 10); a value to begin with; or a slice of values or map from
// labels, which become a Dropdown.
func Interact(f any, controls ...any) error {
	w, err := Interactive(f, controls...)
	if err == nil {
		display.Show(w)
	}
	return err
}

// Interactive is Interact without showing it.
func Interactive(f any, controls ...any) (*Widget, error) {
	x := reflect.ValueOf(f)
	switch {
	case x.Kind() != reflect.Func || x.IsNil():
		return nil, fmt.Errorf("widgets: Interact takes a function, not a %T", f)
	case x.Type().IsVariadic():
		return nil, errors.New("widgets: Interact takes no function with ...")
	case len(controls) > x.Type().NumIn():
		return nil, fmt.Errorf("widgets: %d controls for the %d parameters of the function", len(controls), x.Type().NumIn())
	}
	all.Lock()
	named := all.names
	all.Unlock()
	var names []string
	if named != nil {
		names = named()
	}
	if len(names) != x.Type().NumIn() {
		names = make([]string, x.Type().NumIn())
	}
	out := Output()
	var children []*Widget
	for i := range x.Type().NumIn() {
		var given any
		if i < len(controls) {
			given = controls[i]
		}
		w, err := controlOf(x.Type().In(i), given, names[i])
		if err != nil {
			return nil, fmt.Errorf("widgets: Interact, parameter %d: %w", i+1, err)
		}
		children = append(children, w)
	}
	box := New("VBox", Props{"children": append(children, out), "_dom_classes": []string{"widget-interact"}})
	run := func() {
		args := make([]reflect.Value, len(children))
		for i, w := range children {
			v, err := as(w.Value(), x.Type().In(i))
			if err != nil {
				v = reflect.Zero(x.Type().In(i))
			}
			args[i] = v
		}
		out.Capture(func() {
			display.Clear(true)
			for _, v := range x.Call(args) {
				if v.CanInterface() && v.Interface() != nil {
					b := display.Of(v.Interface())
					if drawn() { // else the box is shown as b
						display.Show(b)
					}
					box.standIn(b)
				}
			}
		})
	}
	for _, w := range children {
		if err := w.OnChange(run); err != nil {
			return nil, err
		}
	}
	run()
	return box, nil
}

// controlOf makes the control of one parameter.
func controlOf(t reflect.Type, given any, name string) (*Widget, error) {
	if w, ok := given.(*Widget); ok {
		if w == nil {
			return nil, errors.New("the control is nil")
		}
		return w, nil
	}
	props := Props{"description": name, "layout": Props{"max_width": "calc(100% - 4px)"}} // margins are 2px; a narrow page shows all of it
	switch v := reflect.ValueOf(given); {
	case given == nil:
	case v.Kind() == reflect.Map && v.Type() == reflect.TypeFor[Props]():
		for k, p := range given.(Props) {
			props[k] = p
		}
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Map:
		props["options"] = given
		return Dropdown(props), nil
	default:
		props["value"] = given
	}
	value, hasValue := number(normal(props["value"], nil))
	_, hasMax := props["max"]
	around := func() {
		// As ipywidgets does: from the value's negative to its triple.
		if !hasValue || hasMax || value == 0 {
			return
		}
		if _, has := props["min"]; !has {
			props["min"] = min(-value, 3*value)
		}
		props["max"] = max(-value, 3*value)
	}
	switch t.Kind() {
	case reflect.Bool:
		return Checkbox(props), nil
	case reflect.String:
		return Text(props), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		around()
		return IntSlider(props), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if hasValue && !hasMax && value != 0 {
			props["max"] = 3 * value
		}
		return IntSlider(props), nil
	case reflect.Float32, reflect.Float64:
		around()
		return FloatSlider(props), nil
	}
	return nil, fmt.Errorf("a %s needs a control: a widget, or a slice of values to choose from", t)
}
