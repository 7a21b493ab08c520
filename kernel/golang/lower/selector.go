package lower

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strconv"
)

// walk follows a path of fields from a struct, or a pointer to one.
func (f *fn) walk(x *expr, path []int) *expr {
	for _, i := range path {
		t := x.typ
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		s := t.Underlying().(*types.Struct)
		x = field(x, f.fieldName(t, s, i), s.Field(i).Type())
	}
	return x
}

// fieldOf finds the field that a selector means.
func (f *fn) fieldOf(e *ast.SelectorExpr, place bool) *expr {
	t := f.typeOf(e.X)
	path := f.fieldPath(f.info.Selections[e], t)
	_, isPtr := t.Underlying().(*types.Pointer)
	return f.walk(f.structOf(e.X, !isPtr && (place || f.info.Types[e.X].Addressable())), path)
}

// structOf is what a field or method is wanted of: the variable itself, if place
// says so.
func (f *fn) structOf(e ast.Expr, place bool) *expr {
	if place {
		return f.place(e)
	}
	x := f.expr(e)
	if x.op == opComposite || x.op == opAddress && !x.paren {
		x = f.spillAlways(x)
	}
	return x
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

func (f *fn) selector(e *ast.SelectorExpr) *expr {
	sel := f.info.Selections[e]
	if sel == nil { // pkg.Name
		if _, ok := f.info.Uses[e.Sel].(*types.Func); ok {
			return f.funcValue(e)
		}
		return f.ident(e.Sel)
	}
	switch sel.Kind() {
	case types.FieldVal:
		return f.readsPart(e, f.fieldOf(e, false))
	case types.MethodVal:
		return f.methodValue(e, sel)
	}
	return f.methodExpr(e, sel)
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

// receiver lowers the receiver that a method takes: what e holds, along the
// path of embedded fields, as a value or a pointer.
func (f *fn) receiver(e ast.Expr, t types.Type, c callee) *expr {
	_, isPtr := t.Underlying().(*types.Pointer)
	if len(c.path) == 0 {
		if c.ptr && !isPtr {
			return f.address(e)
		}
		return f.embedded(f.expr(e), c)
	}
	return f.embedded(f.structOf(e, !isPtr && f.info.Types[e].Addressable()), c)
}

// embedded follows the path of embedded fields to a method's receiver.
func (f *fn) embedded(x *expr, c callee) *expr {
	t := x.typ
	x = f.walk(x, c.path)
	_, isPtr := t.Underlying().(*types.Pointer)
	if len(c.path) > 0 {
		isPtr = c.pointer
	}
	switch {
	case c.ptr && !isPtr && len(c.path) > 0:
		return addressOf(x)
	case c.ptr && !isPtr:
		return address(x)
	case !c.ptr && isPtr && !c.iface:
		return deref(x)
	}
	return x
}

// methodOf is what to call, with a receiver as the first argument, or with none if
// bound says so.
func (f *fn) methodOf(c callee, recv *expr) (fun *expr, bound bool) {
	l := f.l
	switch {
	case c.iface && !c.host:
		return ident(l.dispatcher(c.recv, c.fun), nil), false
	case c.host:
		if recv.op == opAddress && !recv.paren {
			recv = addressOf(recv.args[0])
		}
		return field(recv, c.fun.Name(), nil), true
	}
	if f.info == nil { // a call through an interface
		if variable, ok := f.calledLater(c.fun, c.targs); ok {
			return ident(variable, nil), false
		}
	}
	return ident(l.function(c.fun, c.targs), nil), false
}

// callMethod calls a method that was found for the type of x.
func (f *fn) callMethod(x *expr, c callee, args []*expr) *expr {
	x = f.embedded(x, c)
	fun, bound := f.methodOf(c, x)
	if bound {
		return call(nil, fun, args...)
	}
	return call(nil, fun, append([]*expr{x}, args...)...)
}

// methodValue lowers x.M where it is not called.
func (f *fn) methodValue(e *ast.SelectorExpr, sel *types.Selection) *expr {
	l := f.l
	t := f.typeOf(e)
	c := f.method(f.typeOf(e.X), sel.Obj())
	recv := f.receiver(e.X, f.typeOf(e.X), c)
	if c.host {
		if !c.iface {
			recv = toAny(recv)
		}
		bound := l.runtime(anyType, "HostMethod", recv, literal(strconv.Quote(c.fun.Name()), nil))
		bound.panics = c.iface
		return l.cast(bound, t)
	}
	fun, _ := f.methodOf(c, recv)
	recvType := l.rep(c.recv)
	if c.ptr {
		recvType = "*" + recvType
	}
	isSigned := !c.ptr && l.isSigned(c.recv)
	bound := steady(call(t, ident(l.binder(fun, recvType, t.Underlying().(*types.Signature), c.iface, isSigned), nil), given(recv)))
	bound.panics = c.iface // of nil
	return bound
}

// binder is the function that makes a method value of a receiver.
func (l *Lowerer) binder(fun *expr, recv string, sig *types.Signature, iface, isSigned bool) string {
	return l.helper("bind "+fun.text+" "+recv, func(name string) {
		h := l.headerOf(sig)
		f := &fn{l: l}
		r, in := ident("r", nil), param{"r", recv}
		if isSigned {
			in.name, in.typ = "given", "any"
			f.emit("var r %s = given.(%s)", recv, recv)
		}
		if iface {
			f.nilPanics(r)
		}
		f.emit("return func%s { %s%s }", h, returning(sig), call(nil, fun, append([]*expr{r}, h.args(sig)...)...))
		l.write(name, header{[]param{in}, " func" + h.types()}, f.out)
	})
}

// returning is what stands before a call at the end of a function.
func returning(sig *types.Signature) string {
	if sig.Results().Len() == 0 {
		return ""
	}
	return "return "
}

// headerOf is the header of a function whose parameters are a0, a1, ...
func (l *Lowerer) headerOf(sig *types.Signature) header {
	h := header{results: l.results(sig.Results())}
	for i := range sig.Params().Len() {
		h.params = append(h.params, param{fmt.Sprint("a", i), l.paramRep(sig.Params().At(i).Type(), sig.Variadic() && i == sig.Params().Len()-1)})
	}
	return h
}

// args are the parameters as arguments of a call.
func (h header) args(sig *types.Signature) []*expr {
	list := make([]*expr, len(h.params))
	for i, p := range h.params {
		list[i] = ident(p.name, sig.Params().At(i).Type())
		if sig.Variadic() && i == len(list)-1 {
			list[i] = spread(list[i])
		}
	}
	return list
}

// methodExpr lowers T.M: a function whose first parameter is the receiver.
func (f *fn) methodExpr(e *ast.SelectorExpr, sel *types.Selection) *expr {
	l := f.l
	t := f.typeOf(e.X)
	c := f.method(t, sel.Obj())
	typ := f.typeOf(e)
	h := l.helper("expr "+l.typeKey(t)+" "+c.fun.Name(), func(h string) {
		sig := typ.Underlying().(*types.Signature)
		params := slices.Collect(sig.Params().Variables())
		l.methodFunc(h, t, c, types.NewSignatureType(nil, nil, nil, types.NewTuple(params[1:]...), sig.Results(), sig.Variadic()))
	})
	return f.asValue(ident(h, typ), typ)
}

// methodFunc writes a function that calls a method of its first parameter.
func (l *Lowerer) methodFunc(name string, t types.Type, c callee, sig *types.Signature) {
	f := &fn{l: l}
	h := l.headerOf(sig)
	f.emit("%s%s", returning(sig), f.callMethod(ident("r", t), c, h.args(sig)))
	h.params = slices.Insert(h.params, 0, param{"r", l.rep(t)})
	l.write(name, h, f.out)
}
