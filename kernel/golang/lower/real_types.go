package lower

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"gocuda/kernel/golang/named"
	"gocuda/kernel/golang/rt"
)

// The real type of a value is what it has in an interface: a type of the process,
// with the names, fields, tags and methods of its declaration, so that compiled
// code sees what compiled Go would show it. Methods that such code calls are
// lowered when they are called, but for those that it probably will: see box.

// reals are the real types of a session, by the key of a type.
type reals map[string]real

type real struct {
	reflect.Type
	of types.Type
}

// real is the type of t's values in interfaces.
func (l *Lowerer) real(t types.Type) reflect.Type { return l.realIn(l.newest, t) }

// signatureType is a method's type. Interfaces and methods are told to fit by it, so
// it is made of the first versions of types that got methods later.
func (l *Lowerer) signatureType(sig *types.Signature) reflect.Type {
	return l.realIn(l.first, types.NewSignatureType(nil, nil, nil, sig.Params(), sig.Results(), sig.Variadic()))
}

func (l *Lowerer) realIn(made reals, t types.Type) reflect.Type {
	t = types.Unalias(t)
	if n, ok := t.(*types.Named); ok && l.isHost(n) {
		return l.represent(n).typ
	}
	if b, ok := t.(*types.Basic); ok {
		return l.represent(b).typ
	}
	key := l.typeKey(t)
	if r, ok := made[key]; ok {
		return r.Type
	}
	from := made
	switch {
	case hasMethods(t):
		from = l.first // it is its own representation, which does not change
	case l.isFirst(made) && !l.mentionsChanged(t):
		from = l.newest
	}
	if reflect.ValueOf(from).Pointer() == reflect.ValueOf(made).Pointer() {
		return l.makeReal(made, t, key)
	}
	r := l.realIn(from, t)
	put(l, made, key, real{r, t})
	return r
}

func (l *Lowerer) isFirst(made reals) bool {
	return reflect.ValueOf(made).Pointer() == reflect.ValueOf(l.first).Pointer()
}

// mentionsChanged says whether t contains a type that got methods after it had
// become real.
func (l *Lowerer) mentionsChanged(t types.Type) bool {
	return len(l.changed) > 0 && l.reaches(t, make(map[string]bool), l.isChanged, true)
}

func (l *Lowerer) isChanged(t types.Type) bool {
	n, ok := t.(*types.Named)
	if !ok {
		return false
	}
	for i := range n.TypeArgs().Len() {
		if l.mentionsChanged(n.TypeArgs().At(i)) {
			return true
		}
	}
	return l.changed[n.Origin()]
}

func (l *Lowerer) makeReal(made reals, t types.Type, key string) (r reflect.Type) {
	of := func(t types.Type) reflect.Type { return l.realIn(made, t) }
	list := func(t *types.Tuple) (out []reflect.Type) {
		for v := range t.Variables() {
			out = append(out, of(v.Type()))
		}
		return out
	}
	switch t := t.(type) {
	case *types.Named:
		return l.makeNamed(made, t, key)
	case *types.Struct:
		if l.isBare(t) {
			r = l.represent(t).typ
			break
		}
		return l.makeNamed(made, t, key)
	case *types.Interface:
		if t.Empty() {
			return reflect.TypeFor[any]()
		}
		return l.makeNamed(made, t, key)
	case *types.Pointer:
		r = reflect.PointerTo(of(t.Elem()))
	case *types.Slice:
		r = reflect.SliceOf(of(t.Elem()))
	case *types.Array:
		r = reflect.ArrayOf(int(t.Len()), of(t.Elem()))
	case *types.Map:
		r = reflect.MapOf(of(t.Key()), of(t.Elem()))
	case *types.Chan:
		dir := map[types.ChanDir]reflect.ChanDir{types.SendRecv: reflect.BothDir, types.SendOnly: reflect.SendDir, types.RecvOnly: reflect.RecvDir}
		r = reflect.ChanOf(dir[t.Dir()], of(t.Elem()))
	case *types.Signature:
		r = reflect.FuncOf(list(t.Params()), list(t.Results()), t.Variadic())
	default:
		panic(fmt.Errorf("no real type for %s", t))
	}
	put(l, made, key, real{r, t})
	return r
}

// makeNamed makes a defined type, a struct, or an interface with methods.
func (l *Lowerer) makeNamed(made reals, t types.Type, key string) reflect.Type {
	name, pkg := "", "main"
	if n, ok := t.(*types.Named); ok {
		name, pkg = n.Obj().Name(), n.Obj().Pkg().Path()
	} else if s, ok := t.(*types.Struct); ok {
		for f := range s.Fields() {
			if !f.Exported() && f.Pkg() != nil {
				pkg = f.Pkg().Path()
			}
		}
	} else if i, ok := t.(*types.Interface); ok {
		for m := range i.Methods() {
			if !m.Exported() && m.Pkg() != nil {
				pkg = m.Pkg().Path()
			}
		}
	}
	values, pointers := types.NewMethodSet(t), types.NewMethodSet(types.NewPointer(t))
	if types.IsInterface(t) {
		values, pointers = types.NewMethodSet(types.Typ[types.Int]), types.NewMethodSet(types.Typ[types.Int])
	}
	value := named.New(l.outerLayout(t), name, l.realText(made, t), pkg, values.Len())
	put(l, made, key, real{value.Reflect(), t})
	var pointer *named.Type
	if pointers.Len() > 0 {
		pointer = named.NewPointer(value, pointers.Len())
	}
	switch u := t.Underlying().(type) {
	case *types.Interface:
		if u.Empty() {
			break
		}
		methods := make([]named.Method, u.NumMethods())
		for i := range methods {
			m := u.Method(i)
			methods[i] = named.Method{Name: m.Name(), Type: l.signatureType(m.Signature())}
			if !m.Exported() {
				methods[i].Pkg = m.Pkg().Path()
			}
		}
		value.SetInterface(methods)
	case *types.Struct:
		if l.host.Type(u) != nil {
			break
		}
		fields := make([]named.Field, u.NumFields())
		for i := range fields {
			f := u.Field(i)
			fields[i] = named.Field{Name: f.Name(), Type: l.realIn(made, f.Type()), Tag: u.Tag(i), Embedded: f.Embedded()}
			if f.Pkg() != nil {
				fields[i].Pkg = f.Pkg().Path()
			}
		}
		value.SetFields(fields)
	case *types.Basic:
	default:
		l.setParts(value, u, func(t types.Type) reflect.Type { return l.realIn(made, t) })
	}
	if pointers.Len() > 0 {
		l.work = append(l.work, func() { l.setMethods(t, value, pointer, values, pointers) })
	}
	return value.Reflect()
}

// realText is what String gives for a type that is made.
func (l *Lowerer) realText(made reals, t types.Type) string {
	var b strings.Builder
	switch t := t.(type) {
	case *types.Named:
		b.WriteString(t.Obj().Pkg().Name() + "." + t.Obj().Name())
		if n := t.TypeArgs().Len(); n > 0 {
			args := make([]string, n)
			for i := range args {
				args[i] = typeText(t.TypeArgs().At(i), (*types.Package).Path)
			}
			b.WriteString("[" + strings.Join(args, ",") + "]")
		}
	case *types.Struct:
		b.WriteString("struct {")
		for i := range t.NumFields() {
			f := t.Field(i)
			if i > 0 {
				b.WriteByte(';')
			}
			if !f.Embedded() {
				b.WriteString(" " + f.Name())
			}
			b.WriteString(" " + l.realIn(made, f.Type()).String())
			if tag := t.Tag(i); tag != "" {
				fmt.Fprintf(&b, " %q", tag)
			}
		}
		b.WriteString(" }")
	case *types.Interface:
		b.WriteString("interface {")
		for i := range t.NumMethods() {
			m := t.Method(i)
			if i > 0 {
				b.WriteByte(';')
			}
			b.WriteByte(' ')
			if !m.Exported() {
				b.WriteString(m.Pkg().Name() + ".")
			}
			b.WriteString(m.Name() + strings.TrimPrefix(l.signatureType(m.Signature()).String(), "func"))
		}
		b.WriteString(" }")
	}
	return b.String()
}

// setMethods gives a type, and pointers to it, their methods.
func (l *Lowerer) setMethods(t types.Type, value, pointer *named.Type, values, pointers *types.MethodSet) {
	list := make([]named.Method, 0, pointers.Len())
	own := make(map[string]bool)
	for sel := range values.Methods() {
		own[sel.Obj().Id()] = true
		list = append(list, l.newMethod(t, sel))
	}
	if err := value.SetMethods(list); err != nil {
		panic(err)
	}
	for sel := range pointers.Methods() {
		if !own[sel.Obj().Id()] {
			list = append(list, l.newMethod(types.NewPointer(t), sel))
		}
	}
	if err := pointer.SetMethods(list); err != nil {
		panic(err)
	}
}

// newMethod makes a method of a type, which is a pointer if the method is.
func (l *Lowerer) newMethod(t types.Type, sel *types.Selection) named.Method {
	fun, sig := sel.Obj().(*types.Func), sel.Type().(*types.Signature)
	of, isPointer := t.(*types.Pointer)
	text := ""
	if !isPointer {
		text = l.real(t).String()
	}
	typ := l.signatureType(sig)
	m := l.rt.NewMethod(text, fun.Name(), slices.Collect(typ.Outs()))
	d := demanded{t, fun, sig, m}
	put(l, l.demanded, m.ID, d)
	key := l.typeKey(t)
	put(l, l.methods, key, append(slices.Clip(l.methods[key]), d))
	out := named.Method{Name: fun.Name(), Type: typ}
	if !fun.Exported() {
		out.Pkg = fun.Pkg().Path()
	}
	if isPointer {
		rep := l.represent(of.Elem()).typ
		out.Call = func(p unsafe.Pointer, args []reflect.Value) []reflect.Value {
			return m.Call(reflect.NewAt(rep, p), args)
		}
		return out
	}
	rep := l.represent(t).typ
	out.Call = func(p unsafe.Pointer, args []reflect.Value) []reflect.Value {
		if p == nil {
			m.PanicNil()
		}
		return m.Call(reflect.NewAt(rep, p).Elem(), args)
	}
	return out
}

// demanded is a method that compiled code may call.
type demanded struct {
	of  types.Type
	fun *types.Func
	sig *types.Signature
	rt  *rt.Method
}

// Demand lowers a method that compiled code calls. A cell that lowered it may not
// have run.
func (l *Lowerer) Demand(id int) { l.lowerMethod(l.demanded[id]) }

// AddMethod is told about a method that a later cell gives to a type. If it was real
// already, compiled code may count on its having none: so the type, and all that
// contain it, are made again. What is in interfaces keeps the one it has.
func (l *Lowerer) AddMethod(t *types.Named) {
	wanted := func(x types.Type) bool {
		n, ok := x.(*types.Named)
		if !ok {
			return false
		}
		for arg := range n.TypeArgs().Types() {
			if l.reaches(arg, make(map[string]bool), func(x types.Type) bool { n, ok := x.(*types.Named); return ok && n.Origin() == t }, true) {
				return true
			}
		}
		return n.Origin() == t
	}
	var touched []real
	for key, r := range l.newest {
		if !hasMethods(r.of) && l.reaches(r.of, make(map[string]bool), wanted, true) {
			touched = append(touched, r)
			if _, ok := l.first[key]; !ok {
				put(l, l.first, key, r)
			}
		}
	}
	if len(touched) == 0 {
		return
	}
	put(l, l.changed, t, true)
	for _, r := range touched {
		key := l.typeKey(r.of)
		old := l.newest[key]
		l.undo = append(l.undo, func() { l.newest[key] = old })
		delete(l.newest, key)
	}
	for _, r := range touched {
		key := l.typeKey(r.of)
		if l.methods[key] != nil {
			put(l, l.methods, key, nil)
		}
		now := l.real(r.of)
		if d := l.typeIDs[key]; d != nil {
			// Not before it has its methods: other goroutines use it at once.
			l.last = append(l.last, func() { d.SetReal(now) })
			l.undo = append(l.undo, func() { d.SetReal(r.Type) })
		}
	}
	for _, b := range l.boxed {
		if b.registered {
			b.registered = false
			l.undo = append(l.undo, func() { b.registered = true })
		}
	}
}

// lowerMethod writes the function by which the runtime calls a method.
func (l *Lowerer) lowerMethod(d demanded) {
	name := l.fresh("m")
	c := l.method(d.of, d.fun.Pkg(), d.fun.Name())
	l.methodFunc(name, d.of, c, d.plain())
	l.rt.AddFunc(name, &rt.Func{Hidden: true})
	l.inits = append(l.inits, fmt.Sprintf("%s(%d, %s)", l.sym("Method"), d.rt.ID, name))
	put(l, l.lowered, d.rt.ID, true)
}

// plain is the method's signature without its receiver.
func (d demanded) plain() *types.Signature {
	return types.NewSignatureType(nil, nil, nil, d.sig.Params(), d.sig.Results(), d.sig.Variadic())
}
