package rt

import (
	"go/types"
	"reflect"
	"strings"

	"gocuda/kernel/display"
)

// Typed lets package display show a boxed value by the names, fields and
// methods that its cell gave it.
func (b Box) Typed() (reflect.Value, display.Type) {
	t := typeView{b.T, b.T.Type, map[types.Type]reflect.Type{}}
	return t.Open(reflect.ValueOf(b.V)), t
}

// typeView is a type within the type of a box.
type typeView struct {
	owner *Type
	t     types.Type
	reps  map[types.Type]reflect.Type // of the structs on the way here
}

func (t typeView) within(component types.Type) display.Type {
	return typeView{t.owner, component, t.reps}
}

// Name leaves out package main, which cells do not write.
func (t typeView) Name() string {
	name := types.TypeString(t.t, func(p *types.Package) string {
		if p.Name() == "main" {
			return ""
		}
		return p.Name()
	})
	return strings.ReplaceAll(name, "interface{}", "any")
}

func (t typeView) Elem() display.Type {
	if u, ok := t.t.Underlying().(interface{ Elem() types.Type }); ok {
		return t.within(u.Elem())
	}
	return nil
}

func (t typeView) Key() display.Type { return t.within(t.t.Underlying().(*types.Map).Key()) }

func (t typeView) Field(i int) (string, display.Type) {
	f := t.t.Underlying().(*types.Struct).Field(i)
	return f.Name(), t.within(f.Type())
}

// Open undoes what a slot makes of a value whose type contains itself.
func (t typeView) Open(v reflect.Value) reflect.Value {
	if _, ok := t.t.Underlying().(*types.Interface); v.Kind() == reflect.Interface && !ok {
		v = v.Elem()
		if _, ok := t.t.Underlying().(*types.Pointer); v.Kind() == reflect.Pointer && !ok {
			v = v.Elem()
		}
	}
	if !v.IsValid() {
		return v
	}
	if p, ok := t.t.Underlying().(*types.Pointer); ok && v.Kind() == reflect.UnsafePointer {
		if rep := t.repOf(p.Elem()); rep != nil {
			return reflect.NewAt(rep, v.UnsafePointer())
		}
	}
	t.note(v)
	return v
}

// note remembers what represents t, for values of the type within it.
func (t typeView) note(v reflect.Value) {
	if v.Kind() == reflect.Struct {
		t.reps[types.Unalias(t.t)] = v.Type()
	}
}

// repOf is what represents a type within t, if that is known: nil if not.
func (t typeView) repOf(component types.Type) reflect.Type {
	if rep := t.reps[types.Unalias(component)]; rep != nil {
		return rep
	}
	if own := t.owner.nested(component); own != nil {
		own.mu.RLock()
		defer own.mu.RUnlock()
		return own.rep
	}
	return nil
}

func (t typeView) Methods(v reflect.Value) any {
	own := t.owner
	if !types.Identical(t.t, own.Type) {
		own = own.nested(t.t)
	}
	if own == nil || !v.CanInterface() {
		return nil
	}
	r := rich{Box{own, v.Interface()}}
	switch {
	case own.Method("Error").IsValid():
		return richError{r}
	case own.Method("String").IsValid():
		return richStringer{r}
	}
	for _, name := range []string{"MIMEBundle", "HTML", "Markdown", "LaTeX", "SVG"} {
		if own.Method(name).IsValid() {
			return r
		}
	}
	return nil
}

// rich is a boxed value of which package display sees only what it shows.
type rich struct{ box Box }

// MIMEBundle is nil for a value without a method for display.
func (r rich) MIMEBundle() map[string]any {
	if f, ok := method[map[string]any](r.box, "MIMEBundle"); ok {
		return f()
	}
	var data map[string]any
	for _, m := range []struct{ name, mime string }{
		{"HTML", "text/html"}, {"Markdown", "text/markdown"}, {"LaTeX", "text/latex"}, {"SVG", "image/svg+xml"},
	} {
		if f, ok := method[string](r.box, m.name); ok {
			if data == nil {
				data = map[string]any{}
			}
			data[m.mime] = f()
		}
	}
	return data
}

type richStringer struct{ rich }

func (r richStringer) String() string {
	if f, ok := method[string](r.box, "String"); ok {
		return stringFunc(f).String()
	}
	return r.box.T.Name
}

type richError struct{ rich }

func (r richError) Error() string {
	if f, ok := method[string](r.box, "Error"); ok {
		return stringFunc(f).String()
	}
	return r.box.T.Name
}
