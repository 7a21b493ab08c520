package lower

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"strings"
)

// callExpr writes a call whose value is used: one result, out of its slot.
func (f *fn) callExpr(e *ast.CallExpr) string {
	text := f.call(e)
	tv := f.info.Types[ast.Unparen(e.Fun)]
	if tv.IsType() || tv.IsBuiltin() {
		return text
	}
	t := f.typeOf(e)
	if tup, ok := t.(*types.Tuple); ok {
		if tup.Len() != 1 {
			return text
		}
		t = tup.At(0).Type()
	}
	return f.fromSlot(text, t)
}

// call writes a call; its results are slots.
func (f *fn) call(e *ast.CallExpr) string {
	fun := ast.Unparen(e.Fun)
	tv := f.info.Types[fun]
	switch {
	case tv.IsType():
		return f.conversion(e)
	case tv.IsBuiltin():
		return f.builtin(e)
	}
	if text, ok := f.special(e, fun); ok {
		return text
	}
	callee, sig := f.callee(fun)
	f.calls(callee.lowered)
	var recv func() string
	if callee.recv != nil {
		recv = callee.recv
	}
	args := f.args(e, sig, recv, callee.policy)
	f.typeVerbs(e, fun, sig, args)
	if recv != nil {
		r := args[0]
		args = args[1:]
		if callee.bound != nil {
			return callee.bound(r) + "(" + strings.Join(args, ", ") + ")"
		}
		return callee.text + "(" + join(r, strings.Join(args, ", ")) + ")"
	}
	return callee.text + "(" + strings.Join(args, ", ") + ")"
}

// target is what a call calls.
type calledFunc struct {
	text    string
	lowered string                   // the lowered function that it is, if that is known
	recv    func() string            // the receiver, if it is to be evaluated with the arguments
	bound   func(recv string) string // how to call with it; nil: it is the first argument
	policy  func() string            // what compiled code gets for an any
}

func (f *fn) callee(fun ast.Expr) (calledFunc, *types.Signature) {
	l := f.l
	sig, _ := coreType(f.typeOf(fun)).(*types.Signature)
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		if s := f.info.Selections[sel]; s != nil && s.Kind() == types.MethodVal {
			t := f.typeOf(sel.X)
			c := f.method(t, s.Obj())
			out := calledFunc{recv: func() string { return f.receiver(sel.X, t, c) }}
			if c.host {
				out.bound = func(recv string) string { text, _ := f.methodText(c, recv); return text }
				out.policy = policyOf(c.fun)
			} else {
				out.text, _ = f.methodText(c, "")
				out.lowered = out.text
			}
			return out, sig
		}
	}
	if id := calledName(fun); id != nil && !f.isMethodExpr(fun) {
		if o, ok := f.info.Uses[id].(*types.Func); ok {
			out := calledFunc{text: f.funcInstance(fun)}
			if o.Pkg() != nil && l.hostPkg(o.Pkg()) && l.declOf(o.Origin()) == nil {
				out.policy = policyOf(o)
			} else {
				out.lowered = out.text
			}
			return out, sig
		}
	}
	text := f.expr(fun)
	if strings.ContainsAny(text, ".*&({[") {
		text = f.spill(text)
	}
	return calledFunc{text: text}, sig
}

func (f *fn) isMethodExpr(fun ast.Expr) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	s := f.info.Selections[sel]
	return s != nil && s.Kind() == types.MethodExpr
}

func calledName(fun ast.Expr) *ast.Ident {
	switch e := ast.Unparen(fun).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return calledName(e.X)
	case *ast.IndexListExpr:
		return calledName(e.X)
	}
	return nil
}

// keepBoxes are the compiled packages that hand an any back, or print it with
// fmt: they get a cell's value with its type.
var keepBoxes = map[string]bool{
	"fmt": true, "log": true, "errors": true, "context": true, "sync": true, "sync/atomic": true, "testing": true,
	"container/list": true, "container/ring": true, "container/heap": true,
	"gocuda/kernel/display": true, "gocuda/builtin": true,
	"gocuda/cudaapi/mpi.Push": true, // a function: the rest of its package takes memory as it is
}

// policyOf says what a compiled function gets where it takes any.
func policyOf(fun *types.Func) func() string {
	if fun.FullName() == "fmt.Errorf" {
		return func() string { return "AsError" } // for %w
	}
	if fun.Pkg() == nil || keepBoxes[fun.Pkg().Path()] || keepBoxes[fun.FullName()] {
		return nil
	}
	return func() string { return "Out" }
}

// args writes the arguments of a call, converted to the parameters' types.
func (f *fn) args(e *ast.CallExpr, sig *types.Signature, recv func() string, policy func() string) []string {
	l := f.l
	n := sig.Params().Len()
	param := func(i int) types.Type {
		if sig.Variadic() && i >= n-1 && !e.Ellipsis.IsValid() {
			t := sig.Params().At(n - 1).Type().Underlying()
			if s, ok := t.(*types.Slice); ok {
				return s.Elem()
			}
		}
		return sig.Params().At(i).Type()
	}
	finish := func(text string, t types.Type, from types.Type) string {
		if policy != nil && types.IsInterface(t) && t.Underlying().(*types.Interface).Empty() && !(from != nil && l.isBare(from) && !types.IsInterface(from)) {
			text = fmt.Sprintf("%s(%s)", l.sym(policy()), text)
		}
		return f.intoSlot(text, t)
	}
	var list []func() string
	if recv != nil {
		list = append(list, recv)
	}
	fixed := len(list)
	// f(g()) where g has several results.
	if len(e.Args) == 1 {
		if tup, ok := f.typeOf(e.Args[0]).(*types.Tuple); ok && tup.Len() != 1 {
			r := ""
			if recv != nil {
				r = f.spill(recv())
			}
			values := f.multi(e.Args[0], tup.Len())
			var out []string
			for i, v := range values {
				out = append(out, finish(f.convert(v, tup.At(i).Type(), param(i)), param(i), tup.At(i).Type()))
			}
			if sig.Variadic() && policy == nil {
				out = f.pack(out, sig)
			}
			if recv != nil {
				out = append([]string{r}, out...)
			}
			return out
		}
	}
	for i, a := range e.Args {
		list = append(list, func() string {
			t := param(i)
			if e.Ellipsis.IsValid() && i == len(e.Args)-1 {
				if b, ok := f.typeOf(a).Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
					return "[]byte(" + f.expr(a) + ")..."
				}
				return f.to(a, t) + "..."
			}
			return finish(f.to(a, t), t, f.typeOf(a))
		})
	}
	out := f.exprs(list...)
	if sig.Variadic() && !e.Ellipsis.IsValid() {
		packed := f.pack(out[fixed:], sig)
		out = append(out[:fixed:fixed], packed...)
	}
	return out
}

// pack puts the variadic arguments of a call into a slice.
func (f *fn) pack(args []string, sig *types.Signature) []string {
	n := sig.Params().Len()
	s, ok := sig.Params().At(n - 1).Type().Underlying().(*types.Slice)
	if !ok {
		return args
	}
	rep := "[]" + f.l.slot(s.Elem())
	out := append([]string(nil), args[:n-1]...)
	if len(args) == n-1 {
		switch rep { // a conversion would allocate
		case "[]any":
			return append(out, "noAny...")
		case "[]int":
			return append(out, "noInts...")
		}
		return append(out, "("+rep+")(nil)...")
	}
	return append(out, rep+"{"+strings.Join(args[n-1:], ", ")+"}...")
}

// typeVerbs has the runtime see to %T and %p in the format of a compiled
// function: fmt would tell of the Box, not of what is in it.
func (f *fn) typeVerbs(e *ast.CallExpr, fun ast.Expr, sig *types.Signature, args []string) {
	id := calledName(fun)
	if id == nil || e.Ellipsis.IsValid() || !sig.Variadic() || !strings.HasSuffix(id.Name, "f") {
		return
	}
	o, ok := f.info.Uses[id].(*types.Func)
	if !ok || o.Pkg() == nil || !keepBoxes[o.Pkg().Path()] || !f.l.hostPkg(o.Pkg()) {
		return
	}
	n := sig.Params().Len()
	if n < 2 || len(e.Args) < n || f.l.rep(sig.Params().At(n-2).Type()) != "string" {
		return
	}
	if tv := f.info.Types[e.Args[n-2]]; tv.Value != nil && !strings.ContainsAny(constant.StringVal(tv.Value), "Tp") {
		return
	}
	format, rest := f.temp(), f.temp()
	last := len(args) - 1
	for i := range last - 1 {
		args[i] = f.spill(args[i])
	}
	f.emit("%s, %s := %s(%s, %s)", format, rest, f.l.sym("Format"), args[last-1], strings.TrimSuffix(args[last], "..."))
	args[last-1], args[last] = format, rest+"..."
}

// special writes calls that compiled code cannot do right for a cell's types.
func (f *fn) special(e *ast.CallExpr, fun ast.Expr) (string, bool) {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	o, ok := f.info.Uses[sel.Sel].(*types.Func)
	if !ok || o.Pkg() == nil || o.Signature().Recv() != nil && o.Pkg().Path() != "testing" {
		return "", false
	}
	l := f.l
	switch o.Pkg().Path() + "." + o.Name() {
	case "errors.As":
		t, ok := f.typeOf(e.Args[1]).Underlying().(*types.Pointer)
		if !ok || l.isBare(t.Elem()) || l.isHostInterface(t.Elem()) {
			return "", false
		}
		p := f.exprs(func() string { return f.to(e.Args[0], o.Signature().Params().At(0).Type()) }, func() string { return f.expr(e.Args[1]) })
		return fmt.Sprintf("%s(%s, any(%s), %d)", l.sym("ErrorsAs"), p[0], p[1], l.id(t.Elem())), true
	case "os.Exit":
		return fmt.Sprintf("%s(%s)", l.sym("Exit"), f.expr(e.Args[0])), true
	}
	return "", false
}

// conversion writes T(x).
func (f *fn) conversion(e *ast.CallExpr) string {
	l := f.l
	t := f.typeOf(e)
	x := e.Args[0]
	from := f.typeOf(x)
	if f.isNil(x) {
		return l.zero(t)
	}
	if tv := f.info.Types[x]; tv.Value != nil {
		if b, ok := t.Underlying().(*types.Basic); ok {
			fb, _ := from.Underlying().(*types.Basic)
			if fb != nil && b.Info()&types.IsNumeric != 0 && fb.Info()&types.IsNumeric != 0 && representable(tv, b) {
				return l.constant(tv.Value, t, true)
			}
		}
		return f.convert(l.constant(tv.Value, from, true), from, t)
	}
	text := f.expr(x)
	ut, uf := t.Underlying(), from.Underlying()
	if l.rep(t) == l.rep(from) {
		return text
	}
	if _, ok := ut.(*types.Basic); ok {
		if b := ut.(*types.Basic); b.Info()&types.IsInteger != 0 {
			if fb, ok := uf.(*types.Basic); ok && fb.Info()&types.IsFloat != 0 {
				return fmt.Sprintf("%s(%s)", l.rep(t), text)
			}
		}
	}
	return f.convert(text, from, t)
}

func representable(tv types.TypeAndValue, b *types.Basic) bool {
	if b.Info()&types.IsComplex != 0 {
		return true
	}
	return types.Default(tv.Type) != nil && b.Info()&types.IsFloat != 0 || b.Info()&types.IsInteger != 0 && tv.Value.Kind().String() == "Int"
}

// builtin writes a call of a predeclared function.
func (f *fn) builtin(e *ast.CallExpr) string {
	l := f.l
	name := ""
	switch fun := ast.Unparen(e.Fun).(type) {
	case *ast.Ident:
		name = fun.Name
	case *ast.SelectorExpr:
		name = "unsafe." + fun.Sel.Name
	}
	if len(e.Args) == 1 {
		if tup, ok := f.typeOf(e.Args[0]).(*types.Tuple); ok { // append(f()), with several results
			call := *e
			call.Args = nil
			for i, v := range f.multi(e.Args[0], tup.Len()) {
				call.Args = append(call.Args, f.raw(v, tup.At(i).Type()))
			}
			if r := f.typeOf(e); r != nil {
				return f.builtin(f.raws(&call, r))
			}
		}
	}
	arg := func(i int) types.Type { return f.typeOf(e.Args[i]) }
	switch name {
	case "unsafe.Sizeof", "unsafe.Alignof":
		n := sizes.Sizeof(arg(0))
		if name == "unsafe.Alignof" {
			n = sizes.Alignof(arg(0))
		}
		return f.hold(fmt.Sprintf("uintptr(%d)", n), "uintptr") // not a constant, where this is lowered
	case "unsafe.Offsetof":
		return fmt.Sprintf("uintptr(%d)", f.offsetOf(ast.Unparen(e.Args[0]).(*ast.SelectorExpr)))
	case "len", "cap":
		if p, ok := arg(0).Underlying().(*types.Pointer); ok {
			if a, ok := p.Elem().Underlying().(*types.Array); ok {
				f.emit("_ = %s", f.expr(e.Args[0]))
				return fmt.Sprint(a.Len())
			}
		}
		if a, ok := arg(0).Underlying().(*types.Array); ok {
			f.evaluate(e.Args[0])
			return fmt.Sprint(a.Len())
		}
		return name + "(" + f.expr(e.Args[0]) + ")"
	case "append":
		return f.appendCall(e)
	case "copy":
		p := f.exprs(func() string { return f.expr(e.Args[0]) }, func() string {
			if b, ok := arg(1).Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
				return "[]byte(" + f.expr(e.Args[1]) + ")"
			}
			return f.expr(e.Args[1])
		})
		return "copy(" + p[0] + ", " + p[1] + ")"
	case "delete":
		m := arg(0).Underlying().(*types.Map)
		p := f.exprs(func() string { return f.expr(e.Args[0]) }, func() string { return f.toSlot(e.Args[1], m.Key()) })
		return l.sym("Delete") + "(any(" + p[0] + "), any(" + p[1] + "))"
	case "clear":
		return fmt.Sprintf("%s(any(%s))", l.sym("Clear"), f.expr(e.Args[0]))
	case "close":
		return "close(" + f.expr(e.Args[0]) + ")"
	case "new":
		t := f.typeOf(e).Underlying().(*types.Pointer).Elem()
		if tv := f.info.Types[e.Args[0]]; !tv.IsType() { // new(value)
			v := f.toSlot(e.Args[0], t)
			p := f.temp()
			f.emit("%s := new(%s)", p, l.slot(t))
			f.emit("*%s = %s", p, f.settled(v, t))
			return p
		}
		return "new(" + l.slot(t) + ")"
	case "make":
		t := f.typeOf(e)
		list := []func() string{}
		for _, a := range e.Args[1:] {
			list = append(list, func() string { return f.indexValue(a) })
		}
		p := f.exprs(list...)
		if _, ok := coreType(t).(*types.Map); ok && len(p) > 0 {
			return "make(" + l.rep(t) + ")"
		}
		if sl, ok := coreType(t).(*types.Slice); ok && len(p) == 2 {
			if c1, c2 := f.info.Types[e.Args[1]], f.info.Types[e.Args[2]]; c1.Value == nil || c2.Value == nil {
				p[0], p[1] = f.spillAlways(p[0]), f.spillAlways(p[1])
				f.emit("%s(%s, %s, %d)", l.sym("CheckMake"), p[0], p[1], sizes.Sizeof(sl.Elem()))
			}
		} else if ok && len(p) > 0 {
			if tv := f.info.Types[e.Args[1]]; tv.Value == nil {
				p[0] = l.lenHelper() + "(" + p[0] + ")"
			}
		}
		if c, ok := coreType(t).(*types.Chan); ok && c.Dir() != types.SendRecv {
			both := l.rep(types.NewChan(types.SendRecv, c.Elem()))
			return "(" + l.rep(t) + ")(make(" + strings.Join(append([]string{both}, p...), ", ") + "))"
		}
		return "make(" + strings.Join(append([]string{l.rep(t)}, p...), ", ") + ")"
	case "panic":
		return fmt.Sprintf("%s(%s, %d)", l.sym("Panic"), f.to(e.Args[0], types.Universe.Lookup("any").Type()), f.where)
	case "recover":
		return fmt.Sprintf("%s(%s)", l.sym("Recovered"), f.recoverToken())
	case "print", "println":
		list := []func() string{}
		for _, a := range e.Args {
			list = append(list, func() string {
				if f.isNil(a) {
					return "any(nil)"
				}
				t := f.typeOf(a)
				if tv := f.info.Types[a]; tv.Value != nil {
					return "any(" + l.constant(tv.Value, types.Default(t), true) + ")"
				}
				if types.IsInterface(t) {
					return f.toAny(f.expr(a), t)
				}
				return "any(" + f.typedExpr(a) + ")"
			})
		}
		fun := "Print"
		if name == "println" {
			fun = "Println"
		}
		return l.sym(fun) + "([]any{" + strings.Join(f.exprs(list...), ", ") + "}...)"
	case "real", "imag":
		return name + "(" + f.expr(e.Args[0]) + ")"
	case "complex":
		t := f.typeOf(e)
		part := types.Typ[types.Float64]
		if l.rep(t) == "complex64" {
			part = types.Typ[types.Float32]
		}
		p := f.exprs(func() string { return f.part(e.Args[0], part) }, func() string { return f.part(e.Args[1], part) })
		return fmt.Sprintf("complex(%s, %s)", p[0], p[1])
	case "min", "max":
		return f.minMax(name, e)
	case "unsafe.String", "unsafe.StringData", "unsafe.Slice", "unsafe.SliceData", "unsafe.Add":
		return f.unsafeCall(name, e)
	}
	panic(f.bug(e, "cannot lower a call of "+name))
}

// raws gives a copy of a call the type of the call.
func (f *fn) raws(call *ast.CallExpr, t types.Type) *ast.CallExpr {
	f.info.Types[call] = types.TypeAndValue{Type: t}
	return call
}

var sizes = types.SizesFor("gc", "amd64")

// offsetOf is the offset of a field, where a type parameter keeps it from
// being a constant.
func (f *fn) offsetOf(e *ast.SelectorExpr) int64 {
	t := f.typeOf(e.X)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	var off int64
	for _, i := range f.fieldPath(f.info.Selections[e], t) {
		s := t.Underlying().(*types.Struct)
		fields := make([]*types.Var, s.NumFields())
		for j := range fields {
			fields[j] = s.Field(j)
		}
		off += sizes.Offsetsof(fields)[i]
		t = fields[i].Type()
	}
	return off
}

func (f *fn) part(e ast.Expr, t types.Type) string {
	if tv := f.info.Types[e]; tv.Value != nil {
		return f.l.rep(t) + "(" + f.l.constant(tv.Value, t, true) + ")"
	}
	return f.expr(e)
}

// lenHelper checks the length given to make, so that a wrong one is Go's panic.
func (l *Lowerer) lenHelper() string {
	const key = "len"
	if h, ok := l.helpers[key]; ok {
		return h
	}
	h := l.fresh("h")
	put(l, l.helpers, key, h)
	fmt.Fprintf(&l.code, "func %s(n int) int { if n < 0 { %s() }; return n }\n", h, l.sym("NegativeLen"))
	return h
}

func (f *fn) appendCall(e *ast.CallExpr) string {
	t := f.typeOf(e)
	s, ok := coreType(t).(*types.Slice)
	if !ok {
		panic(f.bug(e, "append to something that is no slice"))
	}
	list := []func() string{func() string { return f.to(e.Args[0], t) }}
	if e.Ellipsis.IsValid() {
		list = append(list, func() string {
			a := e.Args[1]
			if f.isNil(a) {
				return "(" + f.l.rep(t) + ")(nil)..."
			}
			if b, ok := f.typeOf(a).Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
				return "[]byte(" + f.expr(a) + ")..."
			}
			return f.expr(a) + "..."
		})
	} else {
		for _, a := range e.Args[1:] {
			list = append(list, func() string { return f.toSlot(a, s.Elem()) })
		}
	}
	p := f.exprs(list...)
	if len(p) == 1 {
		return p[0]
	}
	if !e.Ellipsis.IsValid() {
		// The interpreter converts loose arguments in its own way.
		return "append(" + p[0] + ", " + "[]" + f.l.slot(s.Elem()) + "{" + strings.Join(p[1:], ", ") + "}...)"
	}
	return "append(" + strings.Join(p, ", ") + ")"
}

// minMax writes min and max as a chain of comparisons.
func (f *fn) minMax(name string, e *ast.CallExpr) string {
	t := f.typeOf(e)
	list := []func() string{}
	for _, a := range e.Args {
		list = append(list, func() string { return f.to(a, t) })
	}
	p := f.exprs(list...)
	h := f.l.minMaxHelper(name, t)
	text := p[0]
	for _, x := range p[1:] {
		text = h + "(" + text + ", " + x + ")"
	}
	return text
}

func (l *Lowerer) minMaxHelper(name string, t types.Type) string {
	rep := l.rep(t)
	key := name + " " + rep
	if h, ok := l.helpers[key]; ok {
		return h
	}
	h := l.fresh("h")
	put(l, l.helpers, key, h)
	op := "<"
	if name == "max" {
		op = ">"
	}
	b := t.Underlying().(*types.Basic)
	if b.Info()&types.IsFloat != 0 {
		fun := "MinFloat"
		if name == "max" {
			fun = "MaxFloat"
		}
		fmt.Fprintf(&l.code, "func %s(a, b %s) %s { return %s(%s(float64(a), float64(b))) }\n", h, rep, rep, rep, l.sym(fun))
		return h
	}
	fmt.Fprintf(&l.code, "func %s(a, b %s) %s { if b %s a { return b }; return a }\n", h, rep, rep, op)
	return h
}

func (f *fn) unsafeCall(name string, e *ast.CallExpr) string {
	l := f.l
	unsafePointer := l.use("unsafe") + ".Pointer"
	switch name {
	case "unsafe.Add":
		p := f.exprs(func() string { return f.expr(e.Args[0]) }, func() string { return f.indexValue(e.Args[1]) })
		return fmt.Sprintf("%s(%s, %s)", l.sym("UnsafeAdd"), p[0], p[1])
	case "unsafe.String":
		p := f.exprs(func() string { return f.expr(e.Args[0]) }, func() string { return f.indexValue(e.Args[1]) })
		return fmt.Sprintf("%s(%s(%s), %s)", l.sym("UnsafeString"), unsafePointer, p[0], p[1])
	case "unsafe.StringData":
		return fmt.Sprintf("(*uint8)(%s(%s))", l.sym("UnsafeStringData"), f.expr(e.Args[0]))
	case "unsafe.SliceData":
		s := f.typeOf(e.Args[0]).Underlying().(*types.Slice)
		return fmt.Sprintf("(*%s)(%s(any(%s)))", l.slot(s.Elem()), l.sym("UnsafeSliceData"), f.expr(e.Args[0]))
	}
	t := f.typeOf(e)
	p := f.exprs(func() string { return f.expr(e.Args[0]) }, func() string { return f.indexValue(e.Args[1]) })
	return fmt.Sprintf("%s(any(%s), %s).(%s)", l.sym("UnsafeSlice"), p[0], p[1], l.rep(t))
}

// recoverToken is the frame whose panic this function may recover.
func (f *fn) recoverToken() string {
	return f.recov
}

// multi evaluates an expression with several values into temporaries, which
// are values, not slots.
func (f *fn) multi(e ast.Expr, n int) []string {
	l := f.l
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		tup := f.typeOf(x).(*types.Tuple)
		text := f.call(x)
		temps := make([]string, n)
		for i := range temps {
			temps[i] = f.temp()
		}
		f.emit("%s := %s", strings.Join(temps, ", "), text)
		for i := range temps {
			temps[i] = f.fromSlot(temps[i], tup.At(i).Type())
		}
		return temps
	case *ast.IndexExpr:
		v, ok := f.temp(), f.temp()
		f.emit("%s, %s := %s", v, ok, f.element(x))
		m := coreType(f.typeOf(x.X)).(*types.Map)
		return []string{f.fromSlot(v, m.Elem()), ok}
	case *ast.UnaryExpr:
		v, ok := f.temp(), f.temp()
		f.emit("%s, %s := <-%s", v, ok, f.expr(x.X))
		c := coreType(f.typeOf(x.X)).(*types.Chan)
		return []string{f.fromSlot(v, c.Elem()), ok}
	case *ast.TypeAssertExpr:
		t := f.typeOf(x.Type)
		tx := f.typeOf(x.X)
		src := f.spill(f.toAny(f.expr(x.X), tx))
		v, ok := f.temp(), f.temp()
		f.emit("%s := %s", ok, f.hasType(src, "", t))
		f.emit("var %s %s", v, l.rep(t))
		f.emit("if %s { %s = %s }", ok, v, f.extract(src, t))
		return []string{v, ok}
	}
	panic(f.bug(e, "not an expression with several values"))
}

// hasType writes the test whether an any holds a t. id is its type's number
// where that is known.
func (f *fn) hasType(x, id string, t types.Type) string {
	l := f.l
	if types.IsInterface(t) {
		if t.Underlying().(*types.Interface).Empty() {
			return "(" + x + " != nil)"
		}
		return fmt.Sprintf("%s(%s, %d)", l.sym("Implements"), x, l.id(t))
	}
	if id == "" {
		id = fmt.Sprintf("%s(%s)", l.sym("ID"), x)
	}
	return fmt.Sprintf("(%s == %d)", id, l.id(t))
}

// extract takes a t out of an any that holds one.
func (f *fn) extract(x string, t types.Type) string {
	l := f.l
	switch {
	case l.isAny(t):
		return x
	case l.isHostInterface(t):
		return l.converter(t) + "(" + x + ")"
	case l.isBare(t):
		return l.cast(x, l.rep(t))
	}
	return l.cast(fmt.Sprintf("%s(%s)", l.sym("V"), x), l.rep(t))
}

// cast writes x.(rep), which cannot fail. The interpreter stumbles over a
// type without fields.
func (l *Lowerer) cast(x, rep string) string {
	if rep == "struct{}" {
		return l.sym("Empty") + "(" + x + ")"
	}
	return x + ".(" + rep + ")"
}
