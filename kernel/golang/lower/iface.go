package lower

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"gocuda/kernel/golang/rt"
)

// boxedType is a type whose values lowered code puts into interfaces.
type boxedType struct {
	typ        types.Type
	desc       *rt.Type
	registered bool
}

// box has a type's methods made callable through interfaces, and returns its number.
func (l *Lowerer) box(t types.Type) int {
	d := l.typeOf(t)
	key := l.typeKey(t)
	if !l.boxedKeys[key] {
		put(l, l.boxedKeys, key, true)
		n := len(l.boxed)
		l.boxed = append(l.boxed, &boxedType{typ: types.Unalias(t), desc: d})
		l.undo = append(l.undo, func() { l.boxed = l.boxed[:n] })
		l.boxParts(t, 0)
		if l.dressing {
			l.boxPointer(t)
		}
	}
	return d.ID
}

// dress is called where a value is to be looked at by reflection: from now on,
// all methods are registered, also those of pointers.
func (l *Lowerer) dress() {
	if l.dressing {
		return
	}
	l.dressing = true
	l.undo = append(l.undo, func() { l.dressing = false })
	for _, b := range slices.Clone(l.boxed) {
		l.boxPointer(b.typ)
		if b.registered {
			b.registered = false
			l.undo = append(l.undo, func() { b.registered = true })
		}
	}
}

// boxPointer boxes pointers to a type of a cell that has methods.
func (l *Lowerer) boxPointer(t types.Type) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || l.isHost(n) || types.IsInterface(n) {
		return
	}
	if p := types.NewPointer(n); types.NewMethodSet(p).Len() > 0 {
		l.box(p)
	}
}

// boxParts does the same for the types inside of t that have methods: fmt
// calls them.
func (l *Lowerer) boxParts(t types.Type, depth int) {
	if depth > 6 {
		return
	}
	visit := func(part types.Type) {
		if l.isBare(part) || types.IsInterface(part) {
			return
		}
		if l.isLoop(part) {
			l.repNeeded(part)
		}
		if l.encodes(part) {
			l.box(types.NewPointer(part))
		}
		if ms := types.NewMethodSet(part); ms.Len() > 0 {
			l.box(part)
			return
		}
		l.boxParts(part, depth+1)
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		if n, ok := types.Unalias(u.Elem()).(*types.Named); ok && !l.isHost(n) {
			visit(u.Elem())
		}
	case *types.Slice:
		visit(u.Elem())
	case *types.Array:
		visit(u.Elem())
	case *types.Map:
		visit(u.Key())
		visit(u.Elem())
	case *types.Struct:
		for i := range u.NumFields() {
			f := u.Field(i).Type()
			switch l.fieldKind(u, i) {
			case pointerField:
				l.repNeeded(f.Underlying().(*types.Pointer).Elem())
			case heapField:
				l.repNeeded(f)
			}
			visit(f)
		}
	}
}

// encodes says whether a pointer to t has methods that encoding/json calls.
func (l *Lowerer) encodes(t types.Type) bool {
	for _, name := range []string{"MarshalJSON", "MarshalText", "UnmarshalJSON", "UnmarshalText"} {
		if o, _, _ := types.LookupFieldOrMethod(t, true, nil, name); o != nil {
			if _, ok := o.(*types.Func); ok {
				return true
			}
		}
	}
	return false
}

// repNeeded tells the runtime what represents a type whose values it makes.
func (l *Lowerer) repNeeded(t types.Type) {
	d := l.typeOf(t)
	key := "rep " + l.typeKey(t)
	if l.isBare(t) || l.hosted[key] {
		return
	}
	put(l, l.hosted, key, true)
	l.inits = append(l.inits, fmt.Sprintf("%s(%d, (*%s)(nil))", l.sym("Rep"), d.ID, l.rep(t)))
}

// registerMethods tells the runtime the methods of boxed types that compiled
// code can call. It reports whether there were any to tell.
func (l *Lowerer) registerMethods() bool {
	did := false
	for i := 0; i < len(l.boxed); i++ {
		b := l.boxed[i]
		if b.registered {
			continue
		}
		b.registered = true
		l.undo = append(l.undo, func() { b.registered = false })
		ms := types.NewMethodSet(b.typ)
		for j := range ms.Len() {
			fun := ms.At(j).Obj().(*types.Func)
			if !fun.Exported() {
				continue
			}
			sig := ms.At(j).Type().(*types.Signature)
			if !l.dressing && !l.isBare(types.NewSignatureType(nil, nil, nil, sig.Params(), sig.Results(), sig.Variadic())) {
				continue
			}
			l.registerMethod(b, fun, sig)
			did = true
		}
	}
	return did
}

func (l *Lowerer) registerMethod(b *boxedType, fun *types.Func, sig *types.Signature) {
	name := l.fresh("m")
	params, args := l.paramList(sig)
	ret := ""
	if sig.Results().Len() > 0 {
		ret = "return "
	}
	g := &fn{l: l, out: new(strings.Builder)}
	c := l.method(b.typ, fun.Pkg(), fun.Name())
	recv := g.embedded("r", b.typ, c)
	text, bound := g.methodText(c, recv)
	call := text + "(" + join(recv, args) + ")"
	if bound {
		call = text + "(" + args + ")"
	}
	fmt.Fprintf(&l.code, "func %s(%s)%s { r := %s\n%s%s%s }\n", name, join("x any", params), l.results(sig.Results()), l.cast("x", l.rep(b.typ)), g.out, ret, call)
	l.rt.AddFunc(name, &rt.Func{Hidden: true})
	l.inits = append(l.inits, fmt.Sprintf("%s(%d, %q, %s)", l.sym("Method"), b.desc.ID, fun.Name(), name))
}

// AddMethod tells the runtime of a method that a later cell gave to a type
// whose values are already in interfaces.
func (l *Lowerer) AddMethod(t *types.Named, fun *types.Func) {
	l.rt.ForgetMethods()
	for _, b := range l.boxed {
		typ := b.typ
		if p, ok := typ.(*types.Pointer); ok {
			typ = p.Elem()
		}
		n, ok := types.Unalias(typ).(*types.Named)
		if !b.registered || !ok || n.Origin() != t {
			continue
		}
		sel := types.NewMethodSet(b.typ).Lookup(fun.Pkg(), fun.Name())
		if sel == nil {
			continue
		}
		sig := sel.Type().(*types.Signature)
		if fun.Exported() && l.isBare(types.NewSignatureType(nil, nil, nil, sig.Params(), sig.Results(), sig.Variadic())) {
			l.registerMethod(b, sel.Obj().(*types.Func), sig)
		}
	}
}

// needMethods is called for a compiled interface that lowered code converts
// to. The methods of boxed types are registered whether or not one asks.
func (l *Lowerer) needMethods(types.Type) {}

// hostInterface returns the reflect type of a compiled interface, and the
// struct that implements it for interpreted types, or nil.
func (l *Lowerer) hostInterface(t types.Type) (iface, wrapper reflect.Type) {
	n := types.Unalias(t).(*types.Named)
	if n.Obj().Pkg() == nil {
		return reflect.TypeFor[error](), nil
	}
	path, name := n.Obj().Pkg().Path(), n.Obj().Name()
	v, ok := l.host.Symbol(path, name)
	if !ok {
		panic(fmt.Errorf("interface %s is not known to the interpreter", t))
	}
	iface = v.Type().Elem()
	if w, ok := l.host.Symbol(path, "_"+name); ok {
		wrapper = w.Type().Elem()
	}
	return iface, wrapper
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
	d := &dispatcher{name: l.fresh("d_" + clean(m.Name()) + "_"), method: m.Name(), pkg: m.Pkg(), sig: plain, handled: make(map[int]bool)}
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
	for i := 0; i < len(l.order); i++ {
		d := l.order[i]
		var add []*boxedType
		for _, b := range l.boxed {
			if !d.handled[b.desc.ID] && l.has(b.typ, d) {
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

// has says whether a type has the method that a dispatcher calls.
func (l *Lowerer) has(t types.Type, d *dispatcher) bool {
	sel := types.NewMethodSet(t).Lookup(d.pkg, d.method)
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

	params, args := l.paramList(d.sig)
	results := l.results(d.sig.Results())
	ret, end := "return ", ""
	if d.sig.Results().Len() == 0 {
		ret, end = "", "; return"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "func %s(%s)%s {\nid := %s(x)\n", name, join("x any", params), results, l.sym("ID"))
	for _, t := range add {
		c := l.method(t.typ, d.pkg, d.method)
		g := &fn{l: l, out: new(strings.Builder)}
		fmt.Fprintf(&b, "if id == %d { r := %s\n", t.desc.ID, l.cast(l.sym("V")+"(x)", l.rep(t.typ)))
		l.checkWrap(g, t.typ, c)
		recv := g.embedded("r", t.typ, c)
		text, bound := g.methodText(c, recv)
		call := text + "(" + join(recv, args) + ")"
		if bound {
			call = text + "(" + args + ")"
		}
		fmt.Fprintf(&b, "%s%s%s%s }\n", g.out, ret, call, end)
	}
	fmt.Fprintf(&b, "if %s_next != nil { %s%s_next(%s)%s }\n", name, ret, name, join("x", args), end)
	if l.isBare(d.sig) && token.IsExported(d.method) {
		fmt.Fprintf(&b, "m := %s(x, %q).(func%s)\n%sm(%s)%s\n", l.sym("HostMethod"), d.method, l.signature(d.sig), ret, args, end)
	} else {
		fmt.Fprintf(&b, "%s()\n", l.sym("NilMethod"))
		if d.sig.Results().Len() > 0 {
			zeros := make([]string, d.sig.Results().Len())
			for i := range zeros {
				zeros[i] = l.zeroSlot(d.sig.Results().At(i).Type())
			}
			fmt.Fprintf(&b, "return %s\n", strings.Join(zeros, ", "))
		}
	}
	b.WriteString("}\n")
	l.code.WriteString(b.String())
	ps := splitTop(params)
	for i, p := range ps {
		_, ps[i], _ = strings.Cut(strings.TrimSpace(p), " ")
	}
	fmt.Fprintf(&l.types, "var %s_next func(%s)%s\n", name, join("any", strings.Join(ps, ", ")), results)
	l.rt.AddFunc(name, &rt.Func{Hidden: true})
}

// checkWrap lets a method of a value that is called through a nil pointer
// panic in Go's words.
func (l *Lowerer) checkWrap(g *fn, t types.Type, c callee) {
	p, ok := t.(*types.Pointer)
	if !ok || c.ptr || len(c.path) > 0 || c.iface {
		return
	}
	g.emit("if r == nil { %s(%q, %q) }", l.sym("PanicWrap"), rt.TypeString(p.Elem()), c.fun.Name())
}
