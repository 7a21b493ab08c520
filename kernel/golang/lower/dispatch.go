package lower

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"slices"

	"gocuda/kernel/golang/rt"
)

// boxedType is a type whose values lowered code puts into interfaces.
type boxedType struct {
	typ        types.Type
	desc       *rt.Type
	registered bool
}

// box has interfaces call the methods of a type directly.
func (l *Lowerer) box(t types.Type) {
	t = types.Unalias(t)
	key := l.typeKey(t)
	if l.boxedKeys[key] {
		return
	}
	put(l, l.boxedKeys, key, true)
	n := len(l.boxed)
	l.boxed = append(l.boxed, &boxedType{typ: t, desc: l.typeOf(t)})
	l.undo = append(l.undo, func() { l.boxed = l.boxed[:n] })
}

// registerMethods lowers the methods of boxed types that compiled code probably
// calls: those of a cell's types whose parameters and results it knows. It reports
// whether there were any.
func (l *Lowerer) registerMethods() bool {
	did := false
	for i := 0; i < len(l.boxed); i++ {
		b := l.boxed[i]
		if b.registered {
			continue
		}
		b.registered = true
		l.undo = append(l.undo, func() { b.registered = false })
		methods := l.methods[l.typeKey(b.typ)]
		if p, ok := b.typ.(*types.Pointer); ok {
			methods = append(slices.Clip(methods), l.methods[l.typeKey(p.Elem())]...)
		}
		for _, d := range methods {
			if !l.lowered[d.rt.ID] && d.fun.Exported() && d.fun.Pkg() != nil && d.fun.Pkg().Path() == "main" && l.isBare(d.plain()) {
				l.lowerMethod(d)
				did = true
			}
		}
	}
	return did
}

// dispatcher is the function that calls one method of an interface value: it
// knows the types whose values are in interfaces. When more come, it falls
// through to the next version.
type dispatcher struct {
	name     string // the first version
	last     string // the version that new types are to be added behind
	method   string
	pkg      *types.Package
	sig      *types.Signature
	handled  map[int]bool
	versions int
}

func (l *Lowerer) dispatcher(iface types.Type, m *types.Func) string {
	sig := m.Signature()
	plain := types.NewSignatureType(nil, nil, nil, sig.Params(), sig.Results(), sig.Variadic())
	key := m.Name() + " " + l.typeKey(plain)
	if !m.Exported() && m.Pkg() != nil {
		key = m.Pkg().Path() + "." + key
	}
	if d, ok := l.dispatch[key]; ok {
		return d.name
	}
	d := &dispatcher{name: l.signedName(l.fresh("d_"+clean(m.Name())+"_"), varTypes(plain.Params())...), method: m.Name(), pkg: m.Pkg(), sig: plain, handled: make(map[int]bool)}
	put(l, l.dispatch, key, d)
	n := len(l.order)
	l.order = append(l.order, d)
	l.undo = append(l.undo, func() { l.order = l.order[:n] })
	return d.name
}

// writeDispatchers writes a version of each dispatcher that lacks a boxed
// type. It reports whether there was one.
func (l *Lowerer) writeDispatchers() bool {
	did := false
	// Method sets are kept here only: a later cell may add a method to its type.
	sets := make(map[*boxedType]*types.MethodSet)
	methods := func(b *boxedType) *types.MethodSet {
		if sets[b] == nil {
			sets[b] = types.NewMethodSet(b.typ)
		}
		return sets[b]
	}
	for i := 0; i < len(l.order); i++ {
		d := l.order[i]
		var add []*boxedType
		for _, b := range l.boxed {
			if !d.handled[b.desc.ID] && d.calls(methods(b)) {
				add = append(add, b)
			}
		}
		if len(add) == 0 && d.versions > 0 {
			continue
		}
		did = true
		l.writeDispatcher(d, add)
	}
	return did
}

// calls says whether a type with these methods has the one that a dispatcher calls.
func (d *dispatcher) calls(methods *types.MethodSet) bool {
	sel := methods.Lookup(d.pkg, d.method)
	if sel == nil {
		return false
	}
	sig := sel.Type().(*types.Signature)
	return types.Identical(types.NewSignatureType(nil, nil, nil, sig.Params(), sig.Results(), sig.Variadic()), d.sig)
}

func (l *Lowerer) writeDispatcher(d *dispatcher, add []*boxedType) {
	name := d.name
	if d.versions > 0 {
		name = fmt.Sprintf("%s_%d", d.name, d.versions)
		l.inits = append(l.inits, fmt.Sprintf("%s_next = %s", d.last, name))
	}
	oldLast, oldVersions := d.last, d.versions
	for _, b := range add {
		d.handled[b.desc.ID] = true
	}
	l.undo = append(l.undo, func() {
		d.last, d.versions = oldLast, oldVersions
		for _, b := range add {
			delete(d.handled, b.desc.ID)
		}
	})
	d.versions++
	d.last = name

	h := l.headerOf(d.sig)
	args := h.args(d.sig)
	h.params = append([]param{{"x", "any"}}, h.params...)
	x := ident("x", anyType)
	ret, end := returning(d.sig), ""
	if ret == "" {
		end = "; return"
	}
	f := &fn{l: l}
	f.emit("id := %s", l.runtime(intType, "ID", x))
	for _, t := range add {
		c := l.method(t.typ, d.pkg, d.method)
		f.emit("if id == %d {", t.desc.ID)
		f.emit("r := %s", l.extract(x, t.typ))
		l.checkWrap(f, t.typ, c)
		f.emit("%s%s%s }", ret, f.callMethod(ident("r", t.typ), c, args), end)
	}
	all := append([]*expr{x}, args...)
	f.emit("if %s_next != nil { %s%s%s }", name, ret, call(nil, ident(name+"_next", nil), all...), end)
	f.emit("m := %s", call(nil, l.finder(d), x))
	f.emit("%s%s%s", ret, call(nil, ident("m", nil), args...), end)
	l.write(name, h, f.out)
	fmt.Fprintf(&l.types, "var %s_next func%s\n", name, h.types())
	l.rt.AddFunc(name, &rt.Func{Hidden: true})
	l.rt.AddFunc(callName(name), &rt.Func{Hidden: true})
}

// finder is the function that finds a method in a value of a type that lowered code
// did not put into an interface.
func (l *Lowerer) finder(d *dispatcher) *expr {
	m := types.NewFunc(token.NoPos, d.pkg, d.method, d.sig)
	iface := types.NewInterfaceType([]*types.Func{m}, nil).Complete()
	return l.defined(l.typeKey(iface), "D", func() reflect.Value { return l.rt.Finder(l.real(iface), l.represent(d.sig).typ) })
}

// checkWrap lets a method of a value that is called through a nil pointer
// panic in Go's words.
func (l *Lowerer) checkWrap(g *fn, t types.Type, c callee) {
	p, ok := t.(*types.Pointer)
	if !ok || c.ptr || len(c.path) > 0 || c.iface {
		return
	}
	g.emit("if r == nil { %s(%q, %q) }", l.sym("PanicWrap"), l.real(p.Elem()).String(), c.fun.Name())
}
