package debugger

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/kernel/display"
	"gocuda/kernel/golang"
)

const (
	maxText     = 1000            // characters of a value
	maxChildren = 500             // of a value, where the client does not ask for parts
	maxElements = 100             // that are shown of memory of devices
	deviceTime  = 2 * time.Second // what reading them may take
	runTime     = 5 * time.Second // what showing a value may take that no thread shows
)

// container is what has variables in it: a scope, or a value.
type container struct {
	frame      *frame // nil: of the session, while no thread is stopped
	list       func() []golang.Variable
	value      reflect.Value
	expression string // "": it cannot be written
}

func (s *Server) hold(c *container) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handles++
	id := s.base() + s.handles
	s.containers[id] = c
	return id
}

func (s *Server) scopes(a arguments) (any, error) {
	var asked struct{ FrameID int }
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	f, err := s.frame(asked.FrameID)
	if err != nil {
		return nil, err
	}
	return object{"scopes": []object{
		{"name": "Locals", "presentationHint": "locals", "expensive": false,
			"variablesReference": s.hold(&container{frame: f, list: func() []golang.Variable { return s.d.Locals(f.call) }})},
		{"name": "Globals", "expensive": false,
			"variablesReference": s.hold(&container{frame: f, list: s.d.Globals})},
	}}, nil
}

// on runs f where values can be shown: on the thread of a frame, or, while nothing
// stands still, anywhere.
func (s *Server) on(f *frame, show func()) error {
	if f != nil {
		return s.d.Do(f.thread, show)
	}
	done := make(chan error, 1)
	go func() {
		defer func() {
			var err error
			if v := recover(); v != nil { // it may have changed meanwhile
				err = fmt.Errorf("the value cannot be shown: %v", v)
			}
			done <- err
		}()
		show()
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(runTime):
		return fmt.Errorf("the value was not shown within %v", runTime)
	}
}

// container is what a client knows by a number.
func (s *Server) container(reference int) (*container, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.containers[reference]
	if c == nil {
		return nil, fmt.Errorf("variables %d are gone: the program went on", reference)
	}
	return c, nil
}

func (s *Server) variables(a arguments) (any, error) {
	var asked struct {
		VariablesReference int
		Filter             string
		Start, Count       int
	}
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	c, err := s.container(asked.VariablesReference)
	if err != nil {
		return nil, err
	}
	out := []object{}
	err = s.on(c.frame, func() {
		for _, v := range c.children(asked.Filter, asked.Start, asked.Count) {
			out = append(out, s.describe(v, c.frame))
		}
	})
	return object{"variables": out}, err
}

// describe writes a variable.
func (s *Server) describe(v golang.Variable, f *frame) object {
	o := object{"name": v.Name, "type": v.Type, "value": text(v.Value), "variablesReference": 0}
	if v.Type == "" && v.Value.IsValid() {
		o["type"] = typeText(v.Value.Type())
	}
	if s.showsTypes() && !plainInPython(v.Value) {
		delete(o, "type")
	}
	if v.Expression != "" {
		o["evaluateName"] = v.Expression
	}
	named, indexed := count(v.Value)
	if named+indexed > 0 {
		o["variablesReference"] = s.hold(&container{frame: f, value: v.Value, expression: v.Expression})
		if indexed > 0 {
			o["indexedVariables"] = indexed
		}
		if named > 0 {
			o["namedVariables"] = named
		}
	}
	return o
}

// showsTypes reports whether the client is JupyterLab, whose tree of variables shows the
// type in the place of the value, but for Python's int, float, bool and str. Without a
// type it shows the value.
func (s *Server) showsTypes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client == "jupyterlab"
}

// plainInPython reports whether JupyterLab shows the value of a type of this name. It reads
// an int as JavaScript does, to 53 bits.
func plainInPython(v reflect.Value) bool {
	if !v.IsValid() {
		return false
	}
	switch v.Type() {
	case reflect.TypeFor[bool]():
		return true
	case reflect.TypeFor[int]():
		const exact = 1 << 53
		return -exact < v.Int() && v.Int() < exact
	}
	return false
}

func typeText(t reflect.Type) string { return strings.ReplaceAll(t.String(), "main.", "") }

// text is a value in one line, as a cell shows it.
func text(v reflect.Value) string {
	if !v.IsValid() {
		return "nil"
	}
	b := display.Of(readable(v))
	t := strings.Join(strings.Fields(fmt.Sprint(b.Data["text/plain"])), " ")
	if v.Kind() == reflect.String {
		t = strconv.Quote(v.String())
	}
	if r := []rune(t); len(r) > maxText {
		t = string(r[:maxText-1]) + "…"
	}
	return t
}

// readable is a value, or a copy of it, that shows what it has, though it be in a
// field that is not exported.
func readable(v reflect.Value) reflect.Value {
	switch {
	case v.CanInterface():
		return v
	case v.CanAddr():
		return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	return v
}

// open follows pointers and interfaces to what has parts.
func open(v reflect.Value) reflect.Value {
	for range 8 {
		v = readable(v)
		if v.Kind() == reflect.Interface && !v.IsNil() || v.Kind() == reflect.Pointer && !v.IsNil() && v.Elem().Kind() == reflect.Struct && !isDevice(v) {
			v = v.Elem()
			continue
		}
		break
	}
	return v
}

// isDevice reports a value of package cuda whose parts are on a device.
func isDevice(v reflect.Value) bool {
	t := v.Type()
	return t == reflect.TypeFor[*cuda.Buffer]() || t == reflect.TypeFor[*cuda.Stream]()
}

// count is how many parts a value has.
func count(v reflect.Value) (named, indexed int) {
	if !v.IsValid() {
		return 0, 0
	}
	v = open(v)
	switch v.Kind() {
	case reflect.Struct:
		return len(fields(v.Type())), 0
	case reflect.Slice, reflect.Array:
		return 0, v.Len()
	case reflect.Map:
		return v.Len(), 0
	case reflect.Chan:
		if !v.IsNil() {
			return 2, 0
		}
	case reflect.Pointer:
		switch {
		case v.IsNil() || !v.CanInterface():
		case v.Type() == reflect.TypeFor[*cuda.Buffer]():
			return 0, min(v.Interface().(*cuda.Buffer).Len(), maxElements)
		case v.Type() == reflect.TypeFor[*cuda.Stream]():
			return 2, 0
		default:
			return 1, 0
		}
	}
	return 0, 0
}

// fields are those of a struct that are shown: all of a cell's types, the exported
// ones of a package's.
func fields(t reflect.Type) (list []reflect.StructField) {
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() || t.PkgPath() == "" || t.PkgPath() == "main" {
			list = append(list, f)
		}
	}
	return list
}

// isList reports whether the variables in a container are elements, named by where they
// are.
func (c *container) isList() bool {
	if c.list != nil || !c.value.IsValid() {
		return false
	}
	k := open(c.value).Kind()
	return k == reflect.Slice || k == reflect.Array
}

// children are the variables in a container.
func (c *container) children(filter string, start, count int) (list []golang.Variable) {
	start, count = max(start, 0), max(count, 0)
	if c.list != nil {
		list = c.list()
		if count > 0 {
			list = list[min(start, len(list)):min(start+count, len(list))]
		}
		return list
	}
	v := open(c.value)
	within := func(n int) (from, to int) {
		if count <= 0 {
			return min(start, n), min(n, start+maxChildren)
		}
		return min(start, n), min(n, start+count)
	}
	part := func(name, suffix string, v reflect.Value) {
		x := golang.Variable{Name: name, Value: readable(v)}
		if c.expression != "" && suffix != "" {
			x.Expression = c.expression + suffix
			if strings.HasPrefix(suffix, "*") {
				x.Expression = "*" + c.expression
			}
		}
		if v.IsValid() {
			x.Type = typeText(v.Type())
			if v.Kind() == reflect.Interface && !v.IsNil() {
				x.Type += " (" + typeText(v.Elem().Type()) + ")"
			}
		}
		list = append(list, x)
	}
	dynamic := c.value.IsValid() && c.value.Kind() == reflect.Interface // its parts cannot be named
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range fields(v.Type()) {
			suffix := "." + f.Name
			if dynamic {
				suffix = ""
			}
			part(f.Name, suffix, v.FieldByIndex(f.Index))
		}
	case reflect.Slice, reflect.Array:
		if filter == "named" {
			return nil
		}
		from, to := within(v.Len())
		for i := from; i < to; i++ {
			part(strconv.Itoa(i), fmt.Sprintf("[%d]", i), v.Index(i))
		}
		if count <= 0 && to < v.Len() {
			list = append(list, golang.Variable{Name: "…", Value: reflect.ValueOf(fmt.Sprintf("%d more", v.Len()-to))})
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int {
			if a.CanInt() && b.CanInt() {
				return cmp.Compare(a.Int(), b.Int())
			}
			return cmp.Compare(text(a), text(b))
		})
		from, to := within(len(keys))
		for _, k := range keys[from:to] {
			suffix := ""
			switch k.Kind() {
			case reflect.String:
				suffix = "[" + strconv.Quote(k.String()) + "]"
			case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
				reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
				suffix = fmt.Sprintf("[%v]", k)
			}
			part(text(k), suffix, v.MapIndex(k))
		}
		if count <= 0 && to < len(keys) {
			list = append(list, golang.Variable{Name: "…", Value: reflect.ValueOf(fmt.Sprintf("%d more", len(keys)-to))})
		}
	case reflect.Chan:
		part("len", "", reflect.ValueOf(v.Len()))
		part("cap", "", reflect.ValueOf(v.Cap()))
	case reflect.Pointer:
		switch x := v.Interface().(type) {
		case *cuda.Buffer:
			return elements(x)
		case *cuda.Stream:
			return streamParts(x)
		}
		part("*", "*", v.Elem())
	}
	return list
}

// elements are the first elements of a device's memory. What is queued and has not
// ended may still write them.
func elements(b *cuda.Buffer) (list []golang.Variable) {
	n := min(b.Len(), maxElements)
	read := make(chan reflect.Value, 1)
	go func() {
		v, err := contents(b.Slice(0, n))
		if err != nil {
			v = reflect.ValueOf([]string{err.Error()})
		}
		read <- v
	}()
	select {
	case v := <-read:
		for i := range v.Len() {
			list = append(list, golang.Variable{Name: strconv.Itoa(i), Type: typeText(v.Type().Elem()), Value: v.Index(i)})
		}
	case <-time.After(deviceTime):
		list = append(list, golang.Variable{Name: "…", Value: reflect.ValueOf("the device does not answer: queued work has not finished")})
	}
	if b.Len() > n {
		list = append(list, golang.Variable{Name: "…", Value: reflect.ValueOf(fmt.Sprintf("%d more", b.Len()-n))})
	}
	return list
}

// contents copies memory of a device.
func contents(b *cuda.Buffer) (reflect.Value, error) {
	method := reflect.ValueOf(b).MethodByName(strings.ToUpper(b.Type().String()[:1]) + b.Type().String()[1:] + "s")
	if !method.IsValid() {
		return reflect.Value{}, fmt.Errorf("elements of type %s are not shown", b.Type())
	}
	out := method.Call(nil)
	err, _ := out[1].Interface().(error)
	return out[0], err
}

// streamParts are the device of a stream, and whether all that is queued has ended.
func streamParts(s *cuda.Stream) []golang.Variable {
	state := "idle"
	if done, err := s.Query(); err != nil {
		state = err.Error()
	} else if !done {
		state = "busy: queued work has not finished"
	}
	return []golang.Variable{
		{Name: "device", Value: reflect.ValueOf(s.Device().String())},
		{Name: "state", Value: reflect.ValueOf(state)},
	}
}

// setVariable gives a variable a value: an expression that is evaluated there.
func (s *Server) setVariable(a arguments) (any, error) {
	var asked struct {
		VariablesReference int
		Name, Value        string
	}
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	c, err := s.container(asked.VariablesReference)
	if err != nil {
		return nil, err
	}
	expression := ""
	find := func() {
		first, n := 0, 1<<30
		if i, err := strconv.Atoi(asked.Name); err == nil && c.isList() { // of which there may be many
			first, n = i, 1
		}
		for _, v := range c.children("", first, n) {
			if v.Name == asked.Name {
				expression = v.Expression
			}
		}
	}
	if err := s.on(c.frame, find); err != nil {
		return nil, err
	}
	if expression == "" {
		return nil, fmt.Errorf("%s cannot be set", asked.Name)
	}
	return s.assign(c.frame, expression, asked.Value)
}

func (s *Server) setExpression(a arguments) (any, error) {
	var asked struct {
		Expression, Value string
		FrameID           int
	}
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	f, err := s.frame(asked.FrameID)
	if err != nil {
		return nil, err
	}
	return s.assign(f, asked.Expression, asked.Value)
}

// assign gives what an expression names the value of another.
func (s *Server) assign(f *frame, expression, value string) (any, error) {
	if _, err := s.values(f, expression+" = "+value); err != nil {
		return nil, err
	}
	return s.valueOf(f, expression, "value")
}

// values evaluates code in a frame, or, if it is nil, as a cell.
func (s *Server) values(f *frame, code string) ([]any, error) {
	if f != nil {
		return s.d.Evaluate(f.thread, f.call, code)
	}
	return s.options.Evaluator.Values("debugger", code)
}

// valueOf is the body of an answer that shows the value of an expression.
func (s *Server) valueOf(f *frame, expression, key string) (any, error) {
	values, err := s.values(f, expression)
	if err != nil {
		return nil, err
	}
	body := object{key: "", "variablesReference": 0}
	switch len(values) {
	case 0:
		return body, nil
	case 1:
		err = s.on(f, func() {
			v := golang.Variable{Expression: expression, Value: reflect.ValueOf(values[0])}
			if v.Value.IsValid() {
				v.Type = typeText(v.Value.Type())
			}
			body = s.describe(v, f)
		})
		if err != nil {
			return nil, err
		}
		body[key] = body["value"]
		return body, nil
	}
	list := make([]string, len(values))
	err = s.on(f, func() {
		for i, v := range values {
			list[i] = text(reflect.ValueOf(v))
		}
	})
	if err != nil {
		return nil, err
	}
	body[key] = strings.Join(list, ", ")
	return body, nil
}

func (s *Server) evaluate(a arguments) (any, error) {
	var asked struct {
		Expression, Context string
		FrameID             int
	}
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	f, err := s.frame(asked.FrameID)
	if err == errRuns {
		f, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.valueOf(f, asked.Expression, "result")
}

// inspectVariables are the variables of the session.
func (s *Server) inspectVariables(arguments) (any, error) {
	var f *frame
	if at, err := s.frame(0); err == nil {
		f = at
	} else { // what was shown before is shown again
		s.mu.Lock()
		maps.DeleteFunc(s.containers, func(_ int, c *container) bool { return c.frame == nil })
		s.mu.Unlock()
	}
	out := []object{}
	err := s.on(f, func() {
		for _, v := range s.d.Globals() {
			out = append(out, s.describe(v, f))
		}
	})
	return object{"variables": out}, err
}

// richInspect is what a cell would show of a variable.
func (s *Server) richInspect(a arguments) (any, error) {
	var asked struct {
		VariableName string
		FrameID      int
	}
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	f, err := s.frame(asked.FrameID)
	if err == errRuns {
		f, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	var value reflect.Value
	found := false
	look := func(list []golang.Variable) {
		for _, v := range list {
			if !found && v.Name == asked.VariableName {
				value, found = v.Value, true
			}
		}
	}
	if f != nil {
		look(s.d.Locals(f.call))
	}
	look(s.d.Globals())
	if !found {
		return nil, fmt.Errorf("there is no variable %s", asked.VariableName)
	}
	var b display.Bundle
	err = s.on(f, func() {
		b = display.Of(value)
		if value.Kind() == reflect.String {
			b.Data["text/plain"] = text(value)
		}
	})
	if b.Metadata == nil {
		b.Metadata = map[string]any{}
	}
	return object{"data": b.Data, "metadata": b.Metadata}, err
}

func (s *Server) copyToGlobals(a arguments) (any, error) {
	var asked struct {
		SrcVariableName, DstVariableName string
		SrcFrameID                       int
	}
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	f, err := s.frame(asked.SrcFrameID)
	if err != nil {
		return nil, err
	}
	return nil, s.d.CopyToGlobals(f.call, asked.SrcVariableName, asked.DstVariableName)
}
