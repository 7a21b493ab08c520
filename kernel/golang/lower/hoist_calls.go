package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"gocuda/kernel/golang/host/trait"
)

// A direct call's arguments are fields of its frame, and to make one takes the
// interpreter a third of the call. In a loop most of them stay the same from iteration
// to iteration: kernel, grid, block, stream. So one frame, made before the outermost
// loop, serves all iterations, and only what may change is written to it.

// outermost is the outermost loop that is being lowered.
type outermost struct {
	node     ast.Node
	hoisted  code                  // variables declared in front of it
	assigned map[types.Object]bool // the variables that its statements assign to; nil until asked for
	open     bool                  // it calls or waits for code that may assign to package variables
	frames   bool                  // it has direct calls whose frames are hoisted
}

// frame is that of a direct call in a loop, in front of which it is declared.
type frame struct {
	name  string
	fixed bool // no iteration writes an argument to it
}

// look finds what the loop assigns to.
func (o *outermost) look(f *fn) {
	if o.assigned != nil {
		return
	}
	a := &analysis{f: f, assigned: make(map[types.Object]bool)}
	o.assigned = a.assigned
	assign := func(e ast.Expr) {
		a.assign(e)
		if _, ok := ast.Unparen(e).(*ast.Ident); !ok {
			o.open = true // it may be what a pointer points to
		}
	}
	ast.Inspect(o.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				assign(x)
			}
		case *ast.IncDecStmt:
			assign(n.X)
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if x != nil {
					assign(x)
				}
			}
			switch f.rangeType(n.X).(type) {
			case *types.Chan, *types.Signature:
				o.open = true
			}
		case *ast.CallExpr:
			o.open = o.open || !f.closed(n)
		case *ast.SendStmt, *ast.SelectStmt, *ast.GoStmt, *ast.DeferStmt, *ast.FuncLit:
			o.open = true
		case *ast.UnaryExpr:
			o.open = o.open || n.Op == token.ARROW
		}
		return true
	})
}

// closed says whether a call runs no code of cells, and none that waits for it.
func (f *fn) closed(e *ast.CallExpr) bool {
	fun := ast.Unparen(e.Fun)
	if tv := f.info.Types[fun]; tv.IsType() || tv.IsBuiltin() {
		return true
	}
	o := f.compiled(e)
	if o == nil {
		return false
	}
	return !f.l.host.Traits(o).Has(trait.Waits)
}

// compiled is the direct function that a call calls, or nil.
func (f *fn) compiled(e *ast.CallExpr) *types.Func {
	if o := f.calledFunc(e); o != nil {
		if _, ok := f.l.host.Direct(o.FullName()); ok {
			return o
		}
	}
	return nil
}

// unchanged is the name of a variable that has one value in all iterations of the
// outermost loop, "" of any other.
func (f *fn) unchanged(id *ast.Ident) string {
	v, ok := f.info.Uses[id].(*types.Var)
	if !ok || v.IsField() {
		return ""
	}
	o := f.outermost
	o.look(f)
	if o.assigned[v] || o.node.Pos() <= v.Pos() && v.Pos() < o.node.End() {
		return ""
	}
	if isPackageLevel(v) {
		if o.open {
			return ""
		}
		return f.l.Global(v)
	}
	if l := f.find(v); l != nil && !l.boxed {
		return l.name
	}
	return ""
}

// stays says whether an argument, which was made of e, has one value in all iterations:
// whether it has nothing in it but variables among e that do so, and constants.
func (f *fn) stays(x *expr, e ...ast.Expr) bool {
	if x.op == opSpread {
		x = x.args[0]
	}
	if len(e) == 1 && x.op != opComposite && (f.info.Types[e[0]].Value != nil || f.isNil(e[0]) || f.repeats(e[0], x)) {
		return true
	}
	known := map[string]bool{"noAny": true, "noInts": true}
	for _, y := range e {
		if id, ok := ast.Unparen(y).(*ast.Ident); ok {
			known[f.unchanged(id)] = true
		} else if f.info.Types[y].Value == nil {
			return false
		}
	}
	return !x.contains(func(x *expr) bool {
		switch x.op {
		case opName, opGlobal:
			return !known[x.text]
		}
		return !x.is(opLiteral, opConvert, opComposite)
	})
}

// repeats says whether an expression, which was lowered to x, is a call that gives
// the same in each iteration, such as cuda.Block(256).
func (f *fn) repeats(e ast.Expr, x *expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	fun := f.compiled(call)
	if fun == nil {
		return false
	}
	made := x.directCall()
	return f.l.host.Traits(fun).Has(trait.Pure) && made != nil && made.frame != nil && made.frame.fixed
}

// arguments makes a direct call, which is a conversion to typ, and the frame for it:
// of the arguments, receiver first.
func (f *fn) arguments(e *ast.CallExpr, typ string, args []*expr) *expr {
	values := make([]*expr, len(args))
	for i, x := range args {
		values[i] = x
		if x.op == opSpread {
			values[i] = x.args[0]
		}
	}
	fields := func(without map[int]bool) *expr {
		x := node(opComposite, typ, nil)
		for i, v := range values {
			if !without[i] {
				x.args = append(x.args, node(opPair, "", nil, ident(argument(i), nil), v))
			}
		}
		return x
	}
	if f.outermost == nil {
		return node(opDirect, typ, nil, fields(nil))
	}
	changing := f.changing(e, args)
	if 2*len(changing) > len(args) {
		return node(opDirect, typ, nil, fields(nil))
	}
	t := f.temp(nil)
	f.outermost.frames = true
	f.outermost.declare("var %s %s = %s", t, typ, fields(changing))
	for i, v := range values {
		if changing[i] {
			f.emit("%s.%s = %s", t, argument(i), v)
		}
	}
	x := node(opDirect, typ, nil, t)
	x.frame = &frame{t.text, len(changing) == 0}
	return x
}

// argument is the name of a frame's field.
func argument(i int) string { return string(rune('A' + i)) }

// declare writes a declaration in front of the loop.
func (o *outermost) declare(format string, args ...any) {
	o.hoisted = append(o.hoisted, stmt{format: format, args: args})
}

// inFrame makes a direct call in a loop, if its frame is hoisted, and returns the
// frame, in which the results are then: so they are not copied.
func (f *fn) inFrame(x *expr) *expr {
	if x.frame == nil {
		return nil
	}
	f.emit("%s", x)
	return ident(x.frame.name, nil)
}

// failure is inFrame for a call of one result, an error: the result, or nil.
func (f *fn) failure(x *expr) *expr {
	if made := x.directCall(); made != nil && x.op == opField {
		if in := f.inFrame(made); in != nil {
			return field(in, "R", x.typ)
		}
	}
	return nil
}

// ifFails writes "if err := f(); err != nil {}" in a loop where f is direct. It
// reports whether the statement was one.
func (f *fn) ifFails(s *ast.IfStmt) bool {
	init, _ := s.Init.(*ast.AssignStmt)
	cond, _ := s.Cond.(*ast.BinaryExpr)
	if f.outermost == nil || s.Else != nil || init == nil || cond == nil || init.Tok != token.DEFINE || len(init.Lhs) != 1 {
		return false
	}
	call, _ := ast.Unparen(init.Rhs[0]).(*ast.CallExpr)
	o := f.defined(init.Lhs[0])
	id, _ := ast.Unparen(cond.X).(*ast.Ident)
	if call == nil || o == nil || id == nil || f.info.Uses[id] != o || cond.Op != token.NEQ || !f.isNil(cond.Y) ||
		f.compiled(call) == nil || !types.Identical(o.Type(), types.Universe.Lookup("error").Type()) {
		return false
	}
	f.emit("{")
	var x *expr
	f.positioned(init, func() { x = f.expr(call) })
	err := f.failure(x)
	if err == nil {
		f.define(o, x)
		f.emit("if %s != nil {", f.expr(cond.X))
	} else {
		f.emit("if %s != nil {", err)
		f.define(o, err)
	}
	f.block(s.Body.List)
	f.emit("}")
	f.emit("}")
	return true
}

// settle takes the position out of a loop in which it is noted in one place and
// nothing else is called that could change it.
func (f *fn) settle(loop code) code {
	if !f.outermost.frames || f.outermost.open {
		return loop
	}
	at := -1
	for i, s := range loop {
		if s.kind == note {
			if at >= 0 {
				return loop
			}
			at = i
		}
	}
	if at < 0 {
		return loop
	}
	return slices.Concat(loop[at:at+1], loop[:at], loop[at+1:])
}

// pair keeps what a direct call of two results gives in a temporary.
func (f *fn) pair(x *expr) *expr {
	if f.outermost == nil {
		return f.spillAlways(x)
	}
	if in := f.inFrame(x); in != nil {
		return in
	}
	t := f.temp(nil)
	f.outermost.declare("var %s %s", t, x.text)
	f.emit("%s = %s", t, x)
	return t
}

// changing are the arguments of a call that may differ from iteration to iteration, by their
// place among args.
func (f *fn) changing(e *ast.CallExpr, args []*expr) map[int]bool {
	changing := make(map[int]bool)
	sig := coreType(f.typeOf(e.Fun)).(*types.Signature)
	first := len(args) - sig.Params().Len() // 1 if there is a receiver
	if first == 1 {
		sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
		if !ok || !f.stays(args[0], sel.X) {
			changing[0] = true
		}
	}
	several := f.tuple(e.Args) != nil // f(g()), where g has several results
	for i := range sig.Params().Len() {
		var from []ast.Expr
		switch {
		case several:
		case i == sig.Params().Len()-1 && sig.Variadic():
			from = e.Args[i:]
		default:
			from = e.Args[i : i+1]
		}
		if several || !f.stays(args[first+i], from...) {
			changing[first+i] = true
		}
	}
	return changing
}
