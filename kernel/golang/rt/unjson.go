package rt

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"go/types"
	"reflect"
	"strconv"
)

// jsonIn is what encoding/json gets to decode into.
func (r *Runtime) jsonIn(x any) any {
	b, ok := unwrap(x).(Box)
	if !ok {
		return x
	}
	v := reflect.ValueOf(b.V)
	if !(typeView{b.T, b.T.Type, nil}).needsJSON() || v.Kind() != reflect.Pointer || v.IsNil() {
		return b.V
	}
	return &jsonTarget{b}
}

// jsonTarget is a cell's pointer that encoding/json decodes into.
type jsonTarget struct{ box Box }

// jsonInOut is what is encoded or decoded, as compiled code likes.
func (r *Runtime) jsonInOut(x any) any {
	if p, ok := r.jsonIn(x).(*jsonTarget); ok {
		return p
	}
	return r.jsonOut(x)
}

// MarshalJSON encodes what the pointer points to.
func (p *jsonTarget) MarshalJSON() ([]byte, error) { return p.box.MarshalJSON() }

// UnmarshalJSON decodes one value, which is well-formed.
func (p *jsonTarget) UnmarshalJSON(data []byte) error {
	t := typeView{p.box.T, p.box.T.Type, map[types.Type]reflect.Type{}}
	return t.Elem().(typeView).decodeSlot(reflect.ValueOf(p.box.V).Elem(), data, false)
}

// decode stores a value of type t in v, which represents one.
func (t typeView) decode(v reflect.Value, data []byte) error {
	t.note(v)
	null := string(bytes.TrimSpace(data)) == "null"
	if v.Type().PkgPath() != "" || !t.needsJSON() {
		return t.jsonError(json.Unmarshal(data, v.Addr().Interface()))
	}
	if v.Kind() == reflect.Pointer {
		switch {
		case null:
			v.SetZero()
			return nil
		case v.IsNil():
			v.Set(reflect.New(v.Type().Elem()))
		}
		return t.Elem().(typeView).decodeSlot(v.Elem(), data, false)
	}
	if fn, receiver := t.method("UnmarshalJSON", v); fn != nil {
		if unmarshal, ok := fn.(func(any, []byte) error); ok {
			return unmarshal(receiver, data)
		}
	}
	if fn, receiver := t.method("UnmarshalText", v); fn != nil && !null {
		if unmarshal, ok := fn.(func(any, []byte) error); ok {
			var text string
			if err := json.Unmarshal(data, &text); err != nil {
				return t.mismatch(err, v.Type())
			}
			return unmarshal(receiver, []byte(text))
		}
	}
	switch u := t.t.Underlying().(type) {
	case *types.Slice:
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil || list == nil {
			v.SetZero()
			return t.mismatch(err, v.Type())
		}
		out := reflect.MakeSlice(v.Type(), len(list), len(list))
		defer v.Set(out)
		return t.decodeList(out, list)
	case *types.Array:
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return t.mismatch(err, v.Type())
		}
		if list != nil {
			v.SetZero()
		}
		return t.decodeList(v, list[:min(len(list), v.Len())])
	case *types.Map:
		var members map[string]json.RawMessage
		if err := json.Unmarshal(data, &members); err != nil || members == nil {
			v.SetZero()
			return t.mismatch(err, v.Type())
		}
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		for name, text := range members {
			key := reflect.New(v.Type().Key()).Elem()
			if err := t.Key().(typeView).decodeKey(key, name); err != nil {
				return err
			}
			value := reflect.New(v.Type().Elem()).Elem()
			err := t.within(u.Elem()).(typeView).decodeSlot(value, text, false)
			v.SetMapIndex(key, value)
			if err != nil {
				return err
			}
		}
		return nil
	case *types.Struct:
		if null {
			return nil
		}
		mirror := reflect.New(t.mirror(u, v.Type())).Elem()
		t.fill(u, v, mirror)
		err := json.Unmarshal(data, mirror.Addr().Interface())
		if taken := t.take(u, v, mirror); err == nil {
			return taken
		}
		return t.jsonError(err)
	}
	return t.jsonError(json.Unmarshal(data, v.Addr().Interface()))
}

// mismatch is the error of JSON text of another kind than t, if err is one.
func (t typeView) mismatch(err error, rep reflect.Type) error {
	if wrong, ok := err.(*json.UnmarshalTypeError); ok {
		return &json.UnmarshalTypeError{Value: wrong.Value, Type: rep, Offset: wrong.Offset, Struct: wrong.Struct, Field: wrong.Field}
	}
	return err
}

func (t typeView) decodeList(v reflect.Value, list []json.RawMessage) error {
	for i, text := range list {
		if err := t.Elem().(typeView).decodeSlot(v.Index(i), text, false); err != nil {
			return err
		}
	}
	return nil
}

// decodeKey makes a map's key of a member's name.
func (t typeView) decodeKey(key reflect.Value, name string) error {
	if fn, receiver := t.method("UnmarshalText", key); fn != nil {
		if unmarshal, ok := fn.(func(any, []byte) error); ok {
			return unmarshal(receiver, []byte(name))
		}
	}
	if u, ok := key.Addr().Interface().(encoding.TextUnmarshaler); ok && key.Kind() != reflect.String {
		return u.UnmarshalText([]byte(name))
	}
	wrong := &json.UnmarshalTypeError{Value: "number " + name, Type: key.Type()}
	switch {
	case key.Kind() == reflect.String:
		key.SetString(name)
	case key.CanInt():
		n, err := strconv.ParseInt(name, 10, 64)
		if err != nil || key.OverflowInt(n) {
			return wrong
		}
		key.SetInt(n)
	case key.CanUint():
		n, err := strconv.ParseUint(name, 10, 64)
		if err != nil || key.OverflowUint(n) {
			return wrong
		}
		key.SetUint(n)
	default:
		return fmt.Errorf("json: cannot unmarshal object into Go value of type map[%s]", t.owner.nameOf(t.t))
	}
	return nil
}

// decodeSlot stores a value of type t where it lies within another: see Open.
func (t typeView) decodeSlot(slot reflect.Value, data []byte, field bool) error {
	p, isPointer := t.t.Underlying().(*types.Pointer)
	_, isInterface := t.t.Underlying().(*types.Interface)
	switch {
	case slot.Kind() == reflect.UnsafePointer && isPointer:
		if string(bytes.TrimSpace(data)) == "null" {
			slot.SetZero()
			return nil
		}
		value := t.Open(slot)
		if slot.IsZero() {
			rep := t.repOf(p.Elem())
			if rep == nil {
				return t.unknown()
			}
			value = reflect.New(rep)
			slot.Set(reflect.ValueOf(value.UnsafePointer()))
		}
		return t.Elem().(typeView).decode(value.Elem(), data)
	case slot.Kind() == reflect.Interface && !isInterface:
		rep := t.repOf(t.t)
		if rep == nil {
			return t.unknown()
		}
		value := reflect.New(rep)
		if now := t.Open(slot); now.IsValid() {
			value.Elem().Set(now)
		}
		err := t.decode(value.Elem(), data)
		if !field {
			value = value.Elem()
		}
		slot.Set(value)
		return err
	}
	return t.decode(slot, data)
}

func (t typeView) unknown() error {
	return fmt.Errorf("json: cannot unmarshal into Go value of type %s: its representation is not known", t.owner.nameOf(t.t))
}

// mirror is a struct type that encoding/json decodes into in place of u: text
// is kept for the fields that are decoded by their types.
func (t typeView) mirror(u *types.Struct, rep reflect.Type) reflect.Type {
	var fields []reflect.StructField
	for _, m := range t.members(u) {
		f := reflect.StructField{Name: m.name, Tag: m.tag}
		switch m.how {
		case plainMember:
			f.Type = rep.Field(m.index).Type
		case typedMember:
			f.Type = reflect.TypeFor[json.RawMessage]()
		case embeddedMember:
			inner, innerRep := t.embedded(m, rep)
			if innerRep == nil {
				continue
			}
			f.Anonymous = true
			if innerRep.PkgPath() != "" {
				f.Type = reflect.StructOf(exportedFields(innerRep))
			} else {
				f.Type = inner.mirror(inner.t.Underlying().(*types.Struct), innerRep)
			}
		}
		fields = append(fields, f)
	}
	return reflect.StructOf(fields)
}

// embedded is the struct that a member embeds, by value or by pointer.
func (t typeView) embedded(m member, rep reflect.Type) (typeView, reflect.Type) {
	of, r := t.within(m.typ).(typeView), rep.Field(m.index).Type
	if _, ok := m.typ.Underlying().(*types.Pointer); ok {
		of = of.Elem().(typeView)
		if r.Kind() == reflect.Pointer {
			return of, r.Elem()
		}
		return of, t.repOf(of.t)
	}
	return of, r
}

// fill gives a mirror what v holds, and take gives v what the mirror holds.
func (t typeView) fill(u *types.Struct, v, mirror reflect.Value) {
	t.eachMember(u, v, mirror, func(m member, x, y reflect.Value) error {
		y.Set(x)
		return nil
	}, false)
}

func (t typeView) take(u *types.Struct, v, mirror reflect.Value) error {
	return t.eachMember(u, v, mirror, func(m member, x, y reflect.Value) error {
		if m.how == plainMember {
			x.Set(y)
			return nil
		}
		if text := y.Bytes(); text != nil {
			return t.within(m.typ).(typeView).decodeSlot(x, text, true)
		}
		return nil
	}, true)
}

// eachMember calls do with the fields of v and of its mirror, those of embedded
// structs among them. Embedded pointers that are nil get a struct where the
// mirror has something for it.
func (t typeView) eachMember(u *types.Struct, v, mirror reflect.Value, do func(m member, x, y reflect.Value) error, taking bool) error {
	var first error
	note := func(err error) {
		if first == nil {
			first = err
		}
	}
	for _, m := range t.members(u) {
		y := mirror.FieldByName(m.name)
		if !y.IsValid() {
			continue
		}
		x := v.Field(m.index)
		if m.how != embeddedMember {
			if taking || m.how == plainMember {
				note(do(m, x, y))
			}
			continue
		}
		of, rep := t.embedded(m, v.Type())
		if _, ok := m.typ.Underlying().(*types.Pointer); ok {
			if x.IsZero() {
				if !taking || y.IsZero() {
					continue
				}
				p := reflect.New(rep)
				if x.Kind() == reflect.UnsafePointer {
					x.Set(reflect.ValueOf(p.UnsafePointer()))
				} else {
					x.Set(p)
				}
			}
			x = t.within(m.typ).(typeView).Open(x).Elem()
		}
		if x.Type().PkgPath() != "" {
			for i, f := range exportedFields(x.Type()) {
				from, to := x.FieldByName(f.Name), y.Field(i)
				if taking {
					from, to = to, from
				}
				to.Set(from)
			}
			continue
		}
		note(of.eachMember(of.t.Underlying().(*types.Struct), x, y, do, taking))
	}
	return first
}
