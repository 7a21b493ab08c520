package rt

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"go/types"
	"reflect"
	"strconv"
	"strings"
)

// Package encoding/json finds neither the methods nor the embedded structs of
// a cell's types in their representations, and cannot follow one that contains
// itself. For types that have such things, values are made into others that it
// encodes as Go would (here), and it decodes into others that are then taken
// over (unjson.go).

// jsonOut is what encoding/json gets to encode.
func (r *Runtime) jsonOut(x any) any {
	b, ok := unwrap(x).(Box)
	if !ok {
		return x
	}
	t := typeView{b.T, b.T.Type, map[types.Type]reflect.Type{}}
	if !t.needsJSON() {
		return b.V
	}
	v, err := t.encode(reflect.ValueOf(b.V))
	if err != nil {
		return jsonFailure{err}
	}
	return v
}

// MarshalJSON encodes the value as Go would encode the cell's type.
func (b Box) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // that is for the encoder which asks
	err := e.Encode(b.T.rt.jsonOut(b))
	return text.Bytes(), err
}

// jsonFailure is a value that could not be encoded.
type jsonFailure struct{ err error }

// MarshalJSON fails.
func (f jsonFailure) MarshalJSON() ([]byte, error) { return nil, f.err }

// needsJSON says whether encoding/json would treat t's representation in
// another way than t.
func (t typeView) needsJSON() bool { return t.owner.rt.needsJSON(t.t, map[types.Type]bool{}) }

// encodesItself says whether a type, or a pointer to it, has methods that
// encoding/json calls.
func (r *Runtime) encodesItself(n *types.Named) bool {
	r.checked.RLock()
	defer r.checked.RUnlock()
	for _, name := range []string{"MarshalJSON", "MarshalText", "UnmarshalJSON", "UnmarshalText"} {
		if o, _, _ := types.LookupFieldOrMethod(n, true, nil, name); o != nil {
			if _, ok := o.(*types.Func); ok {
				return true
			}
		}
	}
	return false
}

func (r *Runtime) needsJSON(t types.Type, within map[types.Type]bool) bool {
	t = types.Unalias(t)
	if n, ok := t.(*types.Named); ok {
		if r.IsHost(n) || types.IsInterface(n) {
			return false
		}
		if within[n] {
			return true // it contains itself
		}
		within[n] = true
		defer delete(within, n)
		if r.encodesItself(n) {
			return true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return r.needsJSON(u.Elem(), within)
	case *types.Slice:
		return r.needsJSON(u.Elem(), within)
	case *types.Array:
		return r.needsJSON(u.Elem(), within)
	case *types.Map:
		return r.needsJSON(u.Key(), within) || r.needsJSON(u.Elem(), within)
	case *types.Struct:
		for i := range u.NumFields() {
			if f := u.Field(i); f.Embedded() || f.Exported() && r.needsJSON(f.Type(), within) {
				return true
			}
		}
	}
	return false
}

// method finds a method of t, or of its pointer if v has an address, with the
// receiver to give it.
func (t typeView) method(name string, v reflect.Value) (fn, receiver any) {
	if own := t.registered(); own != nil && own.Method(name).IsValid() {
		return own.Method(name).Interface(), v.Interface()
	}
	if v.CanAddr() {
		if own := t.owner.nested(types.NewPointer(t.t)); own != nil && own.Method(name).IsValid() {
			return own.Method(name).Interface(), v.Addr().Interface()
		}
	}
	return nil, nil
}

// registered is t where the runtime knows it, or nil.
func (t typeView) registered() *Type {
	if types.Identical(t.t, t.owner.Type) {
		return t.owner
	}
	return t.owner.nested(t.t)
}

// encode makes a value that encoding/json encodes as Go encodes v, which is of
// type t.
func (t typeView) encode(v reflect.Value) (any, error) {
	v = t.Open(v)
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, nil
	}
	if v.Type().PkgPath() != "" { // compiled code knows it
		if v.CanAddr() {
			return v.Addr().Interface(), nil
		}
		return v.Interface(), nil
	}
	for _, name := range []string{"MarshalJSON", "MarshalText"} {
		fn, receiver := t.method(name, v)
		marshal, ok := fn.(func(any) ([]byte, error))
		if !ok {
			continue
		}
		text, err := marshal(receiver)
		if err != nil {
			return nil, fmt.Errorf("json: error calling %s for type %s: %w", name, t.owner.nameOf(t.t), err)
		}
		if name == "MarshalText" {
			return string(text), nil
		}
		return json.RawMessage(text), nil
	}
	if !t.needsJSON() {
		return v.Interface(), nil
	}
	switch u := t.t.Underlying().(type) {
	case *types.Pointer:
		return t.within(u.Elem()).(typeView).encode(v.Elem())
	case *types.Slice, *types.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return nil, nil
		}
		elem := t.Elem().(typeView)
		list := make([]any, v.Len())
		for i := range list {
			x, err := elem.encode(v.Index(i))
			if err != nil {
				return nil, err
			}
			list[i] = x
		}
		return list, nil
	case *types.Map:
		if v.IsNil() {
			return nil, nil
		}
		m := make(map[string]any, v.Len())
		for k, x := range v.Seq2() {
			name, err := t.within(u.Key()).(typeView).keyText(k)
			if err != nil {
				return nil, err
			}
			if m[name], err = t.within(u.Elem()).(typeView).encode(x); err != nil {
				return nil, err
			}
		}
		return m, nil
	case *types.Struct:
		s, err := t.encodeStruct(u, v)
		if err != nil {
			return nil, err
		}
		if v.CanAddr() {
			return s.Addr().Interface(), nil
		}
		return s.Interface(), nil
	}
	return v.Interface(), nil
}

// keyText is a map's key as a member's name.
func (t typeView) keyText(k reflect.Value) (string, error) {
	if k.Kind() == reflect.String {
		return k.String(), nil
	}
	k = t.Open(k)
	if fn, receiver := t.method("MarshalText", k); fn != nil {
		if marshal, ok := fn.(func(any) ([]byte, error)); ok {
			text, err := marshal(receiver)
			return string(text), err
		}
	}
	if m, ok := k.Interface().(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		return string(text), err
	}
	switch {
	case k.CanInt():
		return strconv.FormatInt(k.Int(), 10), nil
	case k.CanUint():
		return strconv.FormatUint(k.Uint(), 10), nil
	}
	return "", fmt.Errorf("json: unsupported type: map with keys of type %s", t.owner.nameOf(t.t))
}

// member is a field of a struct as encoding/json deals with it.
type member struct {
	index int
	typ   types.Type
	name  string // in the representation
	tag   reflect.StructTag
	how   memberKind
}

type memberKind int

const (
	plainMember    memberKind = iota // as its representation
	typedMember                      // by its type
	embeddedMember                   // its fields are the struct's
)

func (t typeView) members(u *types.Struct) []member {
	var list []member
	for i := range u.NumFields() {
		f := u.Field(i)
		m := member{index: i, typ: f.Type(), name: f.Name(), tag: reflect.StructTag(u.Tag(i))}
		option, _ := m.tag.Lookup("json")
		if option == "-" {
			continue
		}
		name, _, _ := strings.Cut(option, ",")
		inner := f.Type()
		if p, ok := inner.Underlying().(*types.Pointer); ok {
			inner = p.Elem()
		}
		_, isStruct := inner.Underlying().(*types.Struct)
		switch {
		case f.Embedded() && name == "" && isStruct:
			m.how, m.name, m.tag = embeddedMember, fmt.Sprintf("X_%d_", i), ""
		case !f.Exported():
			continue
		case t.within(f.Type()).(typeView).needsJSON():
			m.how = typedMember
		}
		list = append(list, m)
	}
	return list
}

// encodeStruct makes a struct that encoding/json encodes as Go encodes v.
func (t typeView) encodeStruct(u *types.Struct, v reflect.Value) (reflect.Value, error) {
	var fields []reflect.StructField
	var values []reflect.Value
	add := func(m member, x reflect.Value) {
		fields = append(fields, reflect.StructField{Name: m.name, Type: x.Type(), Tag: m.tag, Anonymous: m.how == embeddedMember})
		values = append(values, x)
	}
	for _, m := range t.members(u) {
		of := t.within(m.typ).(typeView)
		x := v.Field(m.index)
		switch m.how {
		case plainMember:
			add(m, x)
		case embeddedMember:
			x = of.Open(x)
			if _, ok := m.typ.Underlying().(*types.Pointer); ok {
				if !x.IsValid() || x.IsNil() {
					continue
				}
				of, x = of.Elem().(typeView), x.Elem()
			}
			inner, err := of.encodeEmbedded(x)
			if err != nil {
				return inner, err
			}
			add(m, inner)
		case typedMember:
			value := reflect.New(reflect.TypeFor[any]()).Elem()
			if !of.omitted(m.tag, x) {
				encoded, err := of.encode(x)
				if err != nil {
					return value, err
				}
				if encoded != nil {
					value.Set(reflect.ValueOf(encoded))
				}
			}
			add(m, value)
		}
	}
	out := reflect.New(reflect.StructOf(fields)).Elem()
	for i, x := range values {
		out.Field(i).Set(x)
	}
	return out, nil
}

// encodeEmbedded makes an embedded struct one without a name and methods.
func (t typeView) encodeEmbedded(v reflect.Value) (reflect.Value, error) {
	if v.Type().PkgPath() == "" {
		return t.encodeStruct(t.t.Underlying().(*types.Struct), v)
	}
	fields := exportedFields(v.Type())
	out := reflect.New(reflect.StructOf(fields)).Elem()
	for i, f := range fields {
		out.Field(i).Set(v.FieldByName(f.Name))
	}
	return out, nil
}

// exportedFields are the fields of a compiled struct that others see.
func exportedFields(t reflect.Type) []reflect.StructField {
	var list []reflect.StructField
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && !f.Anonymous {
			list = append(list, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
		}
	}
	return list
}

// omitted says whether the options of a field leave v out.
func (t typeView) omitted(tag reflect.StructTag, v reflect.Value) bool {
	_, options, _ := strings.Cut(tag.Get("json"), ",")
	v = t.Open(v)
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			if !v.IsValid() {
				return true
			}
			switch v.Kind() {
			case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
				return v.Len() == 0
			case reflect.Struct:
			default:
				return v.IsZero()
			}
		case "omitzero":
			if !v.IsValid() {
				return true
			}
			if fn, receiver := t.method("IsZero", v); fn != nil {
				if isZero, ok := fn.(func(any) bool); ok {
					return isZero(receiver)
				}
			}
			return v.IsZero()
		}
	}
	return false
}

// jsonError names the cell's types in an error of encoding/json.
func (t typeView) jsonError(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	named := *wrong
	if named.Struct == "" && named.Field != "" {
		named.Struct = t.Name()
	}
	return &named
}
