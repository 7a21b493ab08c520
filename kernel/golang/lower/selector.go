package lower

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// field is a struct's field that was found by a path.
type field struct {
	base  string // the struct, or a pointer to it
	s     *types.Struct
	i     int
	host  bool
	place bool // base is the variable itself, not a copy
}

func (l *Lowerer) fieldText(x field) string {
	if x.host {
		return x.base + "." + x.s.Field(x.i).Name()
	}
	return x.base + "." + l.fieldName(x.s, x.i)
}

// load writes a field as a variable.
func (f *fn) load(x field) string { return f.l.fieldText(x) }

// addressOf writes a pointer to a field.
func (f *fn) addressOf(x field) string { return "(&" + f.l.fieldText(x) + ")" }

// walk follows a path of fields from a value of type t. All but the last are
// written out.
func (f *fn) walk(text string, t types.Type, path []int) field {
	var x field
	for n, i := range path {
		if n > 0 {
			text = f.load(x)
		}
		host := f.isHostStruct(t)
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
			host = f.isHostStruct(t)
		}
		s := t.Underlying().(*types.Struct)
		x = field{base: text, s: s, i: i, host: host}
		t = s.Field(i).Type()
	}
	return x
}

func (f *fn) isHostStruct(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && f.l.isHost(n)
}

// fieldOf finds the field that a selector means.
func (f *fn) fieldOf(e *ast.SelectorExpr, place bool) field {
	t := f.typeOf(e.X)
	sel := f.info.Selections[e]
	path := f.fieldPath(sel, t)
	var base string
	if _, ptr := t.Underlying().(*types.Pointer); !ptr && (place || f.info.Types[e.X].Addressable()) {
		base = f.place(e.X)
	} else {
		base = f.expr(e.X)
		if strings.HasPrefix(base, "&") || strings.HasSuffix(base, "}") {
			base = f.spillAlways(base)
		}
	}
	return f.walk(base, t, path)
}

func (f *fn) spillAlways(text string) string {
	t := f.temp()
	f.emit("%s := %s", t, text)
	return t
}

// fieldPath is the path of a selection in the instantiated type.
func (f *fn) fieldPath(sel *types.Selection, t types.Type) []int {
	if f.env == nil {
		return sel.Index()
	}
	_, path, _ := types.LookupFieldOrMethod(t, true, sel.Obj().Pkg(), sel.Obj().Name())
	if path == nil {
		return sel.Index()
	}
	return path
}

func (f *fn) selector(e *ast.SelectorExpr) string {
	sel := f.info.Selections[e]
	if sel == nil { // pkg.Name
		switch o := f.info.Uses[e.Sel].(type) {
		case *types.Var:
			return f.variable(o, e)
		case *types.Func:
			return f.funcValue(e)
		case *types.Const:
			return f.l.constant(o.Val(), f.typeOf(e), true)
		}
		panic(f.bug(e, "cannot lower this name"))
	}
	switch sel.Kind() {
	case types.FieldVal:
		return f.load(f.fieldOf(e, false))
	case types.MethodVal:
		return f.methodValue(e, sel)
	}
	return f.methodExpr(e, sel)
}

func (f *fn) fieldAddress(e *ast.SelectorExpr) string {
	if f.info.Selections[e] == nil {
		return "&" + f.globalPlace(f.info.Uses[e.Sel].(*types.Var))
	}
	return f.addressOf(f.fieldOf(e, true))
}

func (f *fn) fieldPlace(e *ast.SelectorExpr) string {
	if f.info.Selections[e] == nil {
		return f.globalPlace(f.info.Uses[e.Sel].(*types.Var))
	}
	return f.load(f.fieldOf(e, true))
}

// callee is a method that was found for a receiver.
type callee struct {
	fun     *types.Func
	targs   []types.Type // of the receiver's type
	path    []int        // embedded fields on the way
	recv    types.Type   // the type that has the method, without a pointer
	ptr     bool         // the method takes a pointer
	iface   bool         // the method is an interface's
	host    bool
	holder  types.Type // the type of the value at the path's end
	pointer bool       // ... is a pointer
}

// method finds the method that a selector means on type t.
func (f *fn) method(t types.Type, obj types.Object) callee {
	return f.l.method(t, obj.Pkg(), obj.Name())
}

func (l *Lowerer) method(t types.Type, pkg *types.Package, name string) callee {
	obj, path, _ := types.LookupFieldOrMethod(t, true, pkg, name)
	fun, ok := obj.(*types.Func)
	if !ok {
		panic(fmt.Errorf("no method %s on %s", name, t))
	}
	c := callee{fun: fun, path: path[:len(path)-1]}
	for _, i := range c.path {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		t = t.Underlying().(*types.Struct).Field(i).Type()
	}
	c.holder = t
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		c.pointer = true
		t = p.Elem()
	} else if p, ok := t.Underlying().(*types.Pointer); ok && !types.IsInterface(t) {
		c.pointer = true
		t = p.Elem()
	}
	c.recv = t
	if types.IsInterface(t) {
		c.iface = true
		c.host = l.isHostInterface(t)
		return c
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		c.host = l.isHost(n)
		for i := range n.TypeArgs().Len() {
			c.targs = append(c.targs, n.TypeArgs().At(i))
		}
	}
	if r := fun.Signature().Recv(); r != nil {
		_, c.ptr = types.Unalias(r.Type()).(*types.Pointer)
	}
	return c
}

// receiver writes the receiver that a method takes: what e holds, along the
// path of embedded fields, as a value or a pointer.
func (f *fn) receiver(e ast.Expr, t types.Type, c callee) string {
	_, isPtr := t.Underlying().(*types.Pointer)
	if types.IsInterface(t) {
		isPtr = false
	}
	if len(c.path) == 0 {
		switch {
		case c.ptr && !isPtr:
			return f.address(e)
		case !c.ptr && isPtr && !c.iface:
			return f.fromSlot("(*"+f.expr(e)+")", c.recv)
		}
		return f.expr(e)
	}
	place := !isPtr && f.info.Types[e].Addressable()
	var base string
	if place {
		base = f.place(e)
	} else {
		base = f.expr(e)
		if strings.HasPrefix(base, "&") || strings.HasSuffix(base, "}") {
			base = f.spillAlways(base)
		}
	}
	return f.embedded(base, t, c)
}

// embedded follows the path of embedded fields to a method's receiver.
func (f *fn) embedded(base string, t types.Type, c callee) string {
	if len(c.path) == 0 {
		_, isPtr := t.Underlying().(*types.Pointer)
		switch {
		case c.ptr && !isPtr:
			return "&" + base
		case !c.ptr && isPtr && !c.iface:
			return f.fromSlot("(*"+base+")", c.recv)
		}
		return base
	}
	x := f.walk(base, t, c.path)
	switch {
	case c.ptr && !c.pointer:
		return f.addressOf(x)
	case !c.ptr && c.pointer && !c.iface:
		return f.fromSlot("(*"+f.load(x)+")", c.recv)
	}
	return f.load(x)
}

// methodText is what to call, with a receiver as the first argument, or with
// none if bound says so.
func (f *fn) methodText(c callee, recv string) (text string, bound bool) {
	l := f.l
	switch {
	case c.iface && !c.host:
		return l.dispatcher(c.recv, c.fun), false
	case c.host:
		if !c.iface && c.ptr && strings.HasPrefix(recv, "&") {
			recv = "(" + recv + ")"
		}
		return recv + "." + c.fun.Name(), true
	}
	if f.info == nil { // a call through an interface
		if variable, ok := f.calledLater(c.fun, c.targs); ok {
			return variable, false
		}
	}
	return l.function(c.fun, c.targs), false
}

// methodValue writes x.M where it is not called.
func (f *fn) methodValue(e *ast.SelectorExpr, sel *types.Selection) string {
	t := f.typeOf(e.X)
	c := f.method(t, sel.Obj())
	recv := f.receiver(e.X, t, c)
	sig := f.typeOf(e).Underlying().(*types.Signature)
	l := f.l
	if c.host {
		if c.iface {
			return fmt.Sprintf("%s(%s, %q).(func%s)", l.sym("HostMethod"), recv, c.fun.Name(), l.signature(sig))
		}
		return fmt.Sprintf("%s(any(%s), %q).(func%s)", l.sym("HostMethod"), recv, c.fun.Name(), l.signature(sig))
	}
	fun, _ := f.methodText(c, recv)
	recvType := l.rep(c.recv)
	if c.ptr {
		recvType = "*" + l.slot(c.recv)
	}
	return l.binder(fun, recvType, sig, c.iface) + "(" + recv + ")"
}

// binder is the function that makes a method value of a receiver.
func (l *Lowerer) binder(fun, recv string, sig *types.Signature, iface bool) string {
	key := "bind " + fun
	if h, ok := l.helpers[key]; ok {
		return h
	}
	h := l.fresh("h")
	put(l, l.helpers, key, h)
	params, args := l.paramList(sig)
	ret := ""
	if sig.Results().Len() > 0 {
		ret = "return "
	}
	check := ""
	if iface {
		check = fmt.Sprintf("if r == nil { %s() }; ", l.sym("NilMethod"))
	}
	fmt.Fprintf(&l.code, "func %s(r %s) func%s { %sreturn func(%s)%s { %s%s(%s) } }\n",
		h, recv, l.signature(sig), check, params, l.results(sig.Results()), ret, fun, join("r", args))
	return h
}

func join(first, rest string) string {
	if rest == "" {
		return first
	}
	return first + ", " + rest
}

// paramList names a signature's parameters a0, a1, ...
func (l *Lowerer) paramList(sig *types.Signature) (params, args string) {
	var ps, as []string
	for i := range sig.Params().Len() {
		t := sig.Params().At(i).Type()
		name := fmt.Sprintf("a%d", i)
		if sig.Variadic() && i == sig.Params().Len()-1 {
			if s, ok := t.Underlying().(*types.Slice); ok {
				ps = append(ps, name+" ..."+l.slot(s.Elem()))
				as = append(as, name+"...")
				continue
			}
		}
		ps = append(ps, name+" "+l.slot(t))
		as = append(as, name)
	}
	return strings.Join(ps, ", "), strings.Join(as, ", ")
}

// methodExpr writes T.M: a function whose first parameter is the receiver.
func (f *fn) methodExpr(e *ast.SelectorExpr, sel *types.Selection) string {
	l := f.l
	t := f.typeOf(e.X)
	c := f.method(t, sel.Obj())
	key := "expr " + l.typeKey(t) + " " + c.fun.Name()
	typ := f.typeOf(e)
	if h, ok := l.helpers[key]; ok {
		return f.asValue(h, typ)
	}
	h := l.fresh("h")
	put(l, l.helpers, key, h)
	sig := typ.Underlying().(*types.Signature)
	inner := types.NewSignatureType(nil, nil, nil, types.NewTuple(tail(sig.Params())...), sig.Results(), sig.Variadic())
	l.method1(h, t, c, inner)
	return f.asValue(h, typ)
}

func tail(t *types.Tuple) []*types.Var {
	var vars []*types.Var
	for i := 1; i < t.Len(); i++ {
		vars = append(vars, t.At(i))
	}
	return vars
}

// method1 writes a function that calls a method of its first parameter.
func (l *Lowerer) method1(name string, t types.Type, c callee, sig *types.Signature) {
	g := &fn{l: l, out: new(strings.Builder)}
	params, args := l.paramList(sig)
	recv := g.embedded("r", t, c)
	fun, bound := g.methodText(c, recv)
	ret := ""
	if sig.Results().Len() > 0 {
		ret = "return "
	}
	if bound {
		fmt.Fprintf(&l.code, "func %s(%s)%s {\n%s%s%s(%s) }\n", name, join("r "+l.rep(t), params), l.results(sig.Results()), g.out, ret, fun, args)
		return
	}
	fmt.Fprintf(&l.code, "func %s(%s)%s {\n%s%s%s(%s) }\n", name, join("r "+l.rep(t), params), l.results(sig.Results()), g.out, ret, fun, join(recv, args))
}
