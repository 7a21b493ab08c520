package host

import (
	"go/token"
	"go/types"
	"reflect"
)

// namedType is a defined type that was met and is not finished.
type namedType struct {
	t     reflect.Type
	named *types.Named
}

// named makes the shell of a defined type, so that types can refer to each
// other in circles, and leaves the rest to complete.
func (im *Importer) named(t reflect.Type) types.Type {
	pkg := im.pkgOf("", t)
	obj := types.NewTypeName(token.NoPos, pkg, t.Name(), nil)
	n := types.NewNamed(obj, nil, nil)
	im.types[t] = n
	im.reflected[n] = t
	im.todo = append(im.todo, namedType{t, n})
	if tab := im.table(t.PkgPath()); tab != nil {
		if v, ok := tab.Symbols[t.Name()]; ok && v.Type() == reflect.PointerTo(t) {
			pkg.Scope().Insert(obj)
		}
	}
	return n
}

// ReflectType is the compiled type that a defined type stands for, or that has a
// struct as its underlying type; nil if there is none.
func (im *Importer) ReflectType(t types.Type) reflect.Type {
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.reflected[t]
}

// complete gives the named types that were met their underlying types and
// methods, and those that these mention, and so on.
func (im *Importer) complete() {
	for len(im.todo) > 0 {
		n := im.todo[len(im.todo)-1]
		im.todo = im.todo[:len(im.todo)-1]
		u := im.literal(n.t)
		if _, ok := u.(*types.Struct); ok {
			im.reflected[u] = n.t
		}
		n.named.SetUnderlying(u)
		if n.t.Kind() != reflect.Interface {
			im.methods(n)
		}
	}
}

// methods declares the exported methods of a type, promoted ones included:
// what promotes them may be hidden.
func (im *Importer) methods(n namedType) {
	ptr := reflect.PointerTo(n.t)
	count := ptr.NumMethod()
	if n.t.Kind() == reflect.Pointer {
		count = 0 // a defined pointer type has no methods
	}
	pkg := n.named.Obj().Pkg()
	if count > 0 {
		zero := reflect.Zero(ptr)
		byValue := make(map[string]bool)
		for i := range n.t.NumMethod() {
			byValue[n.t.Method(i).Name] = true
		}
		for i := range count {
			name := ptr.Method(i).Name
			recv := types.NewParam(token.NoPos, pkg, "", im.receiver(n, !byValue[name]))
			sig := im.signature(zero.Method(i).Type(), recv, im.params(n.t.PkgPath(), n.t.Name()+"."+name))
			n.named.AddMethod(types.NewFunc(token.NoPos, pkg, name, sig))
		}
	}
	im.seal(n, ptr)
}

func (im *Importer) receiver(n namedType, pointer bool) types.Type {
	if pointer {
		return im.typ(reflect.PointerTo(n.t))
	}
	return n.named
}

// sealedInterface is an interface with unexported methods: only types of its
// own package implement it.
type sealedInterface struct {
	t     reflect.Type
	names []int // the unexported methods
}

// seal adds the unexported methods that a type needs for the interfaces of
// its package that it implements: reflect hides them.
func (im *Importer) seal(n namedType, ptr reflect.Type) {
	path := n.t.PkgPath()
	for _, s := range im.sealedOf(path) {
		if !ptr.Implements(s.t) {
			continue
		}
		pkg := n.named.Obj().Pkg()
		recv := types.NewParam(token.NoPos, pkg, "", im.receiver(n, !n.t.Implements(s.t)))
		for _, i := range s.names {
			m := s.t.Method(i)
			if obj, _, _ := types.LookupFieldOrMethod(n.named, true, pkg, m.Name); obj == nil {
				n.named.AddMethod(types.NewFunc(token.NoPos, pkg, m.Name, im.signature(m.Type, recv, nil)))
			}
		}
	}
}

func (im *Importer) sealedOf(path string) []sealedInterface {
	list, ok := im.sealed[path]
	if ok {
		return list
	}
	if tab := im.table(path); tab != nil {
		for _, v := range tab.Symbols {
			if v.Kind() != reflect.Pointer || v.CanAddr() || v.Type().Elem().Kind() != reflect.Interface {
				continue
			}
			s := sealedInterface{t: v.Type().Elem()}
			for i := range s.t.NumMethod() {
				if s.t.Method(i).PkgPath == path {
					s.names = append(s.names, i)
				}
			}
			if s.names != nil {
				list = append(list, s)
			}
		}
	}
	im.sealed[path] = list
	return list
}
