package lower

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
)

// builtin lowers a call of a predeclared function.
func (f *fn) builtin(e *ast.CallExpr) *expr {
	l := f.l
	name := calledName(e.Fun).Name
	t := f.typeOf(e)
	if f.tuple(e.Args) != nil { // append(f()), with several results
		again := *e
		again.Args = nil
		for _, v := range f.multi(e.Args[0]) {
			again.Args = append(again.Args, f.raw(v))
		}
		f.info.Types[&again] = types.TypeAndValue{Type: t}
		return f.builtin(&again)
	}
	arg := func(i int) types.Type { return f.typeOf(e.Args[i]) }
	switch name {
	case "len", "cap", "real", "imag", "complex", "min", "max", "make", "append", "copy":
		return f.early(func() *expr { return f.earlyBuiltin(name, e) })
	case "Sizeof", "Alignof":
		n := sizes.Sizeof(arg(0))
		if name == "Alignof" {
			n = sizes.Alignof(arg(0))
		}
		return f.hold(node(opConvert, "uintptr", t, intLiteral(n))) // not a constant, where this is lowered
	case "Offsetof":
		return node(opConvert, "uintptr", t, intLiteral(f.offsetOf(ast.Unparen(e.Args[0]).(*ast.SelectorExpr))))
	case "delete":
		m := arg(0).Underlying().(*types.Map)
		p := f.exprs(func() *expr { return f.expr(e.Args[0]) }, func() *expr { return f.mapKey(e.Args[1], m) })
		return l.runtime(nil, "Delete", toAny(p[0]), toAny(p[1]))
	case "clear":
		return l.runtime(nil, "Clear", toAny(f.expr(e.Args[0])))
	case "close":
		return builtin(t, name, f.expr(e.Args[0]))
	case "new":
		elem := t.Underlying().(*types.Pointer).Elem()
		if tv := f.info.Types[e.Args[0]]; !tv.IsType() { // new(value)
			return f.pointerTo(f.to(e.Args[0], elem))
		}
		return steady(builtin(t, name, typeName(l.rep(elem))))
	case "panic":
		return l.runtime(nil, "Panic", f.to(e.Args[0], anyType), intLiteral(f.where))
	case "recover":
		return l.runtime(t, "Recovered", f.recov)
	case "print", "println":
		return l.runtime(nil, map[string]string{"print": "Print", "println": "Println"}[name], spread(f.printed(e.Args)))
	case "String", "StringData", "Slice", "SliceData", "Add":
		return f.unsafeCall(name, e)
	}
	panic(f.bug(e, "cannot lower a call of "+name))
}

// earlyBuiltin lowers a call of a predeclared function that Go's compiler makes with the
// calls.
func (f *fn) earlyBuiltin(name string, e *ast.CallExpr) *expr {
	l := f.l
	t := f.typeOf(e)
	arg := func(i int) types.Type { return f.typeOf(e.Args[i]) }
	switch name {
	case "len", "cap":
		if p, ok := arg(0).Underlying().(*types.Pointer); ok {
			if a, ok := p.Elem().Underlying().(*types.Array); ok {
				f.emit("_ = %s", f.expr(e.Args[0]))
				return intLiteral(a.Len())
			}
		}
		if a, ok := arg(0).Underlying().(*types.Array); ok {
			f.evaluate(e.Args[0])
			return intLiteral(a.Len())
		}
		return steady(builtin(t, name, f.expr(e.Args[0])))
	case "append":
		return f.appendCall(e)
	case "copy":
		p := f.exprs(func() *expr { return f.expr(e.Args[0]) }, func() *expr { return f.spreadable(e.Args[1], arg(1)) })
		return builtin(t, name, p...)
	case "real", "imag":
		return steady(builtin(t, name, f.expr(e.Args[0])))
	case "make":
		return f.makeCall(e)
	case "complex":
		part := types.Typ[types.Float64]
		if l.represent(t).typ == basicTypes[types.Complex64] {
			part = types.Typ[types.Float32]
		}
		return steady(builtin(t, name, f.exprs(func() *expr { return f.part(e.Args[0], part) }, func() *expr { return f.part(e.Args[1], part) })...))
	default:
		return f.minMax(name, e)
	}
}

// printed is the list that print and println are given.
func (f *fn) printed(args []ast.Expr) *expr {
	list := make([]lowering, len(args))
	for i, a := range args {
		list[i] = func() *expr {
			if f.isNil(a) {
				return f.l.zero(anyType)
			}
			t := f.typeOf(a)
			if tv := f.info.Types[a]; tv.Value != nil {
				return toAny(f.l.constant(tv.Value, types.Default(t), true))
			}
			if types.IsInterface(t) {
				return f.toAny(f.expr(a))
			}
			return toAny(f.typedExpr(a))
		}
	}
	return f.l.list(anyType, f.exprs(list...)...)
}

// pointerTo makes a variable of a value, and a pointer to it.
func (f *fn) pointerTo(x *expr) *expr {
	p := f.temp(types.NewPointer(x.typ))
	f.emitAs(keeps, "%s := %s", p, steady(builtin(p.typ, "new", typeName(f.l.rep(x.typ)))))
	f.emitAs(keeps, "*%s = %s", p, f.settled(x))
	return p
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

func (f *fn) part(e ast.Expr, t types.Type) *expr {
	if tv := f.info.Types[e]; tv.Value != nil {
		return node(opConvert, f.l.rep(t), t, f.l.constant(tv.Value, t, true))
	}
	return f.expr(e)
}

func (f *fn) makeCall(e *ast.CallExpr) *expr {
	l := f.l
	t := f.typeOf(e)
	var list []lowering
	constants := true
	for _, a := range e.Args[1:] {
		list = append(list, func() *expr { return f.indexValue(a) })
		constants = constants && f.info.Types[a].Value != nil
	}
	p := f.exprs(list...)
	of := func(t types.Type) *expr {
		return steady(builtin(t, "make", append([]*expr{typeName(l.rep(t))}, p...)...))
	}
	switch u := coreType(t).(type) {
	case *types.Map: // the room that there is to be at once is no matter
		if len(p) > 0 && !p[0].simple() {
			f.emit("_ = %s", p[0])
		}
		p = nil
	case *types.Slice:
		size := sizes.Sizeof(u.Elem())
		switch {
		case len(p) == 2 && !constants:
			p[0], p[1] = f.spillAlways(p[0]), f.spillAlways(p[1])
			f.emit("%s", l.runtime(nil, "CheckMake", p[0], p[1], intLiteral(size)))
		case !constants || f.isLarge(e.Args[len(e.Args)-1], size):
			p[len(p)-1] = panics(steady(call(intType, ident(l.lenHelper(size), nil), p[len(p)-1])))
		}
	case *types.Chan:
		if u.Dir() != types.SendRecv {
			return l.converted(t, of(types.NewChan(types.SendRecv, u.Elem())))
		}
	}
	return of(t)
}

// large is how many bytes any machine has.
const large = 1 << 28

// isLarge says whether so many elements, a constant, may be more than there is memory for.
func (f *fn) isLarge(n ast.Expr, size int64) bool {
	v, ok := constant.Int64Val(constant.ToInt(f.info.Types[n].Value))
	return !ok || v > large/max(size, 1)
}

// lenHelper checks the length given to make for elements of a size, so that a
// wrong one is Go's panic, and one that is too large does not end the process.
func (l *Lowerer) lenHelper(size int64) string {
	return l.helper(fmt.Sprint("len ", size), func(h string) {
		fmt.Fprintf(&l.code, "func %s(n int) int { if n < 0 || n > %d { %s(n, n, %d) }; return n }\n", h, large/max(size, 1), l.sym("CheckMake"), size)
	})
}

// appendsAlone says whether the interpreter appends a value of type t as it is.
func appendsAlone(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer
	case *types.Struct:
		return u.NumFields() > 0
	}
	return false
}

func (f *fn) appendCall(e *ast.CallExpr) *expr {
	t := f.typeOf(e)
	s, ok := coreType(t).(*types.Slice)
	if !ok {
		panic(f.bug(e, "append to something that is no slice"))
	}
	list := []lowering{func() *expr { return f.to(e.Args[0], t) }}
	// One element is appended in half the time without a list around it.
	alone := len(e.Args) == 2 && !e.Ellipsis.IsValid() && appendsAlone(s.Elem())
	if e.Ellipsis.IsValid() {
		list = append(list, func() *expr {
			if f.isNil(e.Args[1]) {
				return spread(f.l.zero(t))
			}
			return spread(f.spreadable(e.Args[1], f.typeOf(e.Args[1])))
		})
	} else {
		for _, a := range e.Args[1:] {
			list = append(list, func() *expr {
				x := f.to(a, s.Elem())
				if alone && f.info.Types[a].Value == nil {
					return x
				}
				return f.listed(x)
			})
		}
	}
	p := f.exprs(list...)
	if len(p) == 1 {
		return p[0]
	}
	if !e.Ellipsis.IsValid() && !alone {
		// The interpreter converts loose arguments in its own way.
		p = []*expr{p[0], spread(f.l.list(s.Elem(), p[1:]...))}
	}
	return builtin(t, "append", p...)
}

// minMax lowers min and max to a chain of comparisons.
func (f *fn) minMax(name string, e *ast.CallExpr) *expr {
	t := f.typeOf(e)
	list := make([]lowering, len(e.Args))
	for i, a := range e.Args {
		list[i] = func() *expr { return f.to(a, t) }
	}
	p := f.exprs(list...)
	x := p[0]
	for _, y := range p[1:] {
		x = f.l.lesser(name, t, x, y)
	}
	return x
}

// lesser is min(x, y), or max(x, y).
func (l *Lowerer) lesser(name string, t types.Type, x, y *expr) *expr {
	op, fun := "<", "MinFloat"
	if name == "max" {
		op, fun = ">", "MaxFloat"
	}
	rep := l.rep(t)
	if t.Underlying().(*types.Basic).Info()&types.IsFloat != 0 {
		wide := func(x *expr) *expr { return node(opConvert, "float64", nil, x) }
		return node(opConvert, rep, t, l.runtime(nil, fun, wide(x), wide(y)))
	}
	return steady(call(t, ident(l.helper(name+" "+rep, func(h string) {
		fmt.Fprintf(&l.code, "func %s(a, b %s) %s { if b %s a { return b }; return a }\n", h, rep, rep, op)
	}), nil), x, y))
}

// unsafeCall lowers a call of a function of package unsafe.
func (f *fn) unsafeCall(name string, e *ast.CallExpr) *expr {
	l := f.l
	t := f.typeOf(e)
	var p []*expr
	if len(e.Args) == 2 {
		p = f.exprs(func() *expr { return f.expr(e.Args[0]) }, func() *expr { return f.indexValue(e.Args[1]) })
	} else {
		p = []*expr{f.expr(e.Args[0])}
	}
	switch name {
	case "Add":
		return l.runtime(t, "UnsafeAdd", p...)
	case "String":
		return l.runtime(t, "UnsafeString", node(opConvert, l.use("unsafe")+".Pointer", nil, p[0]), p[1])
	case "StringData":
		return l.converted(t, l.runtime(nil, "UnsafeStringData", p[0]))
	case "SliceData":
		return l.converted(t, l.runtime(nil, "UnsafeSliceData", toAny(p[0])))
	}
	return l.cast(l.runtime(anyType, "UnsafeSlice", toAny(p[0]), p[1]), t)
}
