package lower

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"strings"
)

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
		return f.makeCall(e)
	case "panic":
		return fmt.Sprintf("%s(%s, %d)", l.sym("Panic"), f.to(e.Args[0], types.Universe.Lookup("any").Type()), f.where)
	case "recover":
		return fmt.Sprintf("%s(%s)", l.sym("Recovered"), f.recov)
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

// makeCall writes make.
func (f *fn) makeCall(e *ast.CallExpr) string {
	l := f.l
	t := f.typeOf(e)
	var list []func() string
	constants := true
	for _, a := range e.Args[1:] {
		list = append(list, func() string { return f.indexValue(a) })
		constants = constants && f.info.Types[a].Value != nil
	}
	p := f.exprs(list...)
	switch u := coreType(t).(type) {
	case *types.Map:
		p = nil // the room that there is to be at once is no matter
	case *types.Slice:
		size := sizes.Sizeof(u.Elem())
		switch {
		case len(p) == 2 && !constants:
			p[0], p[1] = f.spillAlways(p[0]), f.spillAlways(p[1])
			f.emit("%s(%s, %s, %d)", l.sym("CheckMake"), p[0], p[1], size)
		case !constants || f.isLarge(e.Args[len(e.Args)-1], size):
			p[len(p)-1] = l.lenHelper(size) + "(" + p[len(p)-1] + ")"
		}
	case *types.Chan:
		if u.Dir() != types.SendRecv {
			both := l.rep(types.NewChan(types.SendRecv, u.Elem()))
			return l.converted(l.rep(t), "make("+strings.Join(append([]string{both}, p...), ", ")+")")
		}
	}
	return "make(" + strings.Join(append([]string{l.rep(t)}, p...), ", ") + ")"
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

func (f *fn) appendCall(e *ast.CallExpr) string {
	t := f.typeOf(e)
	s, ok := coreType(t).(*types.Slice)
	if !ok {
		panic(f.bug(e, "append to something that is no slice"))
	}
	list := []func() string{func() string { return f.to(e.Args[0], t) }}
	// One element is appended in half the time without a list around it.
	alone := len(e.Args) == 2 && !e.Ellipsis.IsValid() && appendsAlone(s.Elem())
	if e.Ellipsis.IsValid() {
		list = append(list, func() string {
			a := e.Args[1]
			if f.isNil(a) {
				return f.l.converted(f.l.rep(t), "nil") + "..."
			}
			if b, ok := f.typeOf(a).Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
				return "[]byte(" + f.expr(a) + ")..."
			}
			return f.expr(a) + "..."
		})
	} else {
		for _, a := range e.Args[1:] {
			list = append(list, func() string {
				text := f.toSlot(a, s.Elem())
				if alone && f.info.Types[a].Value == nil {
					return text
				}
				return f.listed(text, s.Elem())
			})
		}
	}
	p := f.exprs(list...)
	if len(p) == 1 {
		return p[0]
	}
	if !e.Ellipsis.IsValid() && !alone {
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
