package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"gocuda/kernel/golang/host/trait"
)

// Instrumentation: what cells read and write in memory that devices may use too is reported
// to the checker (see Lowerer.Instrument). That is any element of a slice of numbers, and
// what is behind a pointer to numbers: which memory it is, the checker sees by the address.
// Lowered code asks before whether anything is queued that it could meet.

// instruments says whether a function reports what it reads and writes: one of a cell does.
// What others do with their arguments, their callers report.
func (f *fn) instruments() bool { return f.user && f.l.Instrument }

// queues reports whether a statement calls such a function, whose place others want to
// know: which of the goroutines that run the statement's function is there.
func (f *fn) queues(n ast.Node) (calls bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.BlockStmt:
			return false
		case *ast.CallExpr:
			calls = calls || f.deviceFunc(n) != nil
		}
		return !calls
	})
	return calls
}

// deviceFunc is the function of packages cuda, mpi and their like that a call calls,
// or nil.
func (f *fn) deviceFunc(e *ast.CallExpr) *types.Func {
	id := calledName(e.Fun)
	if id == nil {
		return nil
	}
	fun, _ := f.info.Uses[id].(*types.Func)
	if fun == nil || !f.l.host.Traits(fun).Has(trait.Tells) {
		return nil
	}
	return fun
}

// isNumber reports whether a type is of numbers or bools, or of arrays and structures
// of them: what devices and messages take slices of.
func isNumber(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Info()&(types.IsNumeric|types.IsBoolean) != 0
	case *types.Array:
		return isNumber(t.Elem())
	case *types.Struct:
		for v := range t.Fields() {
			if !isNumber(v.Type()) {
				return false
			}
		}
		return t.NumFields() > 0
	}
	return false
}

// isNumbers reports whether a type is a slice of numbers.
func isNumbers(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	return ok && isNumber(s.Elem())
}

func isUnsafe(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.UnsafePointer
}

// isContainer reports whether a type of the library keeps values for others.
func isContainer(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && slices.Contains([]string{"sync", "sync/atomic", "container/list", "container/ring"}, n.Obj().Pkg().Path())
}

func (f *fn) ofContainer(e *ast.SelectorExpr) bool {
	if f.info.Selections[e] == nil {
		return false
	}
	t := f.info.TypeOf(e.X)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	return isContainer(t)
}

// isCells reports whether a parameter or a result is of a function of cells.
func isCells(o types.Object) bool { return o.Pkg() != nil && o.Pkg().Path() == "main" }

// original is an expression without brackets, or the one that was lowered to it.
func (f *fn) original(e ast.Expr) ast.Expr {
	e = ast.Unparen(e)
	if f.shared != nil {
		if r := f.shared.raw[e]; r != nil && r.of != nil {
			return ast.Unparen(r.of)
		}
	}
	return e
}

// liesIn reports whether an expression is a place in memory that devices may use: an
// element, what a pointer points to, or a field or an element of that.
func (f *fn) liesIn(e ast.Expr) bool {
	e = f.original(e)
	if tv := f.info.Types[e]; tv.Value != nil || tv.Type == nil || !isNumber(f.typeOf(e)) {
		return false
	}
	switch e := e.(type) {
	case *ast.IndexExpr:
		switch t := coreType(f.typeOf(e.X)).(type) {
		case *types.Slice:
			return true
		case *types.Pointer:
			return isNumber(t.Elem())
		case *types.Array:
			return f.liesIn(e.X)
		}
	case *ast.StarExpr:
		return true
	case *ast.SelectorExpr:
		s := f.info.Selections[e]
		if s == nil || s.Kind() != types.FieldVal {
			return false
		}
		t, in := f.typeOf(e.X), f.liesIn(e.X)
		for _, i := range s.Index() {
			if p, ok := t.Underlying().(*types.Pointer); ok {
				t, in = p.Elem(), isNumber(p.Elem())
			}
			t = t.Underlying().(*types.Struct).Field(i).Type()
		}
		return in
	}
	return false
}

// readsMemory reports whether an expression may read such a place.
func (f *fn) readsMemory(e ast.Expr) (reads bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		reads = reads || ok && f.liesIn(x)
		return !reads
	})
	return reads
}

// isMust reports whether a call is one of must, the builtin or the program's own.
func isMust(e *ast.CallExpr) bool {
	id := calledName(e.Fun)
	return id != nil && strings.HasPrefix(id.Name, "must") && len(e.Args) == 1
}

// isView reports whether a call gives a host buffer's own memory and an error.
func (f *fn) isView(x ast.Expr) bool {
	e, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok || len(e.Args) > 0 {
		return false
	}
	fun := f.deviceFunc(e)
	if fun == nil || fun.Signature().Recv() == nil || fun.Signature().Recv().Type().String() != "*gocuda/cudaapi/cuda.HostBuffer" {
		return false
	}
	values := fun.Signature().Results()
	return values.Len() == 2 && (isNumbers(values.At(0).Type()) || isUnsafe(values.At(0).Type()))
}

// isPlain reports whether an expression can be evaluated once more.
func (f *fn) isPlain(e ast.Expr) bool {
	if f.shared != nil && f.shared.raw[ast.Unparen(e)] != nil {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.BasicLit:
		return true
	case *ast.SelectorExpr:
		return f.isPlain(e.X)
	case *ast.IndexExpr:
		return f.isPlain(e.X) && f.isPlain(e.Index)
	case *ast.BinaryExpr:
		return e.Op != token.QUO && e.Op != token.REM && f.isPlain(e.X) && f.isPlain(e.Y) || f.info.Types[e].Value != nil
	case *ast.UnaryExpr:
		return e.Op == token.SUB && f.isPlain(e.X)
	case *ast.StarExpr:
		return f.isPlain(e.X)
	case *ast.CallExpr:
		if f.info.Types[e.Fun].IsType() {
			return len(e.Args) == 1 && f.isPlain(e.Args[0])
		}
		if f.info.Types[e.Fun].IsBuiltin() {
			return calledName(e.Fun).Name == "len" && f.isPlain(e.Args[0])
		}
		if !isMust(e) || !f.isView(e.Args[0]) {
			return false
		}
		view := ast.Unparen(e.Args[0]).(*ast.CallExpr)
		sel, ok := ast.Unparen(view.Fun).(*ast.SelectorExpr)
		return ok && f.isPlain(sel.X)
	}
	return false
}

// touched reports slices that a statement reads as a whole, before it does. The elements
// that expressions read tell index and pointed, those that are assigned to written. What
// must not be evaluated twice is kept for the statement, until done is called.
func (f *fn) touched(s ast.Stmt) (done func()) {
	done = func() {}
	if !f.instruments() {
		return done
	}
	switch s := s.(type) {
	case *ast.ExprStmt:
		if f.isShown(s.X) {
			f.touch(s.X, nil, false)
		}
	case *ast.RangeStmt:
		if s.Value != nil && !isBlank(s.Value) {
			done = f.kept(s.X)
			f.touch(s.X, nil, false)
			if p, ok := f.typeOf(s.X).Underlying().(*types.Pointer); ok && isNumber(p.Elem()) && f.isPlain(s.X) { // to an array
				f.tell(f.expr(s.X), intLiteral(0), "1", false, false, s.X)
			}
		}
	}
	return done
}

// kept has a slice of numbers that is not to be evaluated twice,
// evaluated now, in the place of where it is lowered before done is called.
func (f *fn) kept(e ast.Expr) (done func()) {
	e = ast.Unparen(e)
	if !isNumbers(f.typeOf(e)) || f.isPlain(e) || len(f.prefix) > 0 {
		return func() {}
	}
	if s, ok := e.(*ast.SliceExpr); ok && f.isPlain(s.X) {
		return func() {} // as its bounds
	}
	x := f.hold(f.expr(e))
	if f.shared.raw == nil {
		f.shared.raw = make(map[ast.Expr]*raw)
	}
	f.shared.raw[e] = &raw{x: x}
	return func() { delete(f.shared.raw, e) }
}

// writesShared reports whether an assignment to e writes such memory, and that is told.
func (f *fn) writesShared(e ast.Expr) bool { return f.instruments() && f.liesIn(e) }

// written has it told, just before a place is written, that it is.
func (f *fn) written(e ast.Expr, s storage) storage {
	if !f.writesShared(e) {
		return s
	}
	tells := f.captured(func() {
		if ix, ok := ast.Unparen(e).(*ast.IndexExpr); ok && s.place.is(opIndex) && isNumbers(f.typeOf(ix.X)) {
			i := s.place.args[1]
			f.tell(s.place.args[0], i, "int("+i.String()+")+1", true, true, e)
		} else {
			s.place = f.pin(s.place)
			f.tell(address(s.place), intLiteral(0), "1", true, true, e)
		}
	})
	s.checks, s.told = append(s.checks, tells...), len(tells) > 0
	return s
}

// reads tells that an element is read. x is it, lowered.
func (f *fn) reads(e *ast.IndexExpr, x *expr) *expr {
	if !f.instruments() || !x.is(opIndex) {
		return x
	}
	if !isNumbers(f.typeOf(e.X)) {
		return f.readsPart(e, x)
	}
	i := x.args[1]
	f.tell(x.args[0], i, "int("+i.String()+")+1", false, true, e)
	return x
}

// readsPart tells that a field, or an element of an array, is read. x is it, lowered.
func (f *fn) readsPart(e ast.Expr, x *expr) *expr {
	if !f.instruments() || !f.liesIn(e) {
		return x
	}
	if x.calls() && len(f.prefix) == 0 {
		x = f.pin(x)
	}
	f.tell(addressOf(x), intLiteral(0), "1", false, true, e)
	return x
}

// pointed tells that what a pointer points to is read. x is the pointer, lowered.
func (f *fn) pointed(e *ast.StarExpr, x *expr) *expr {
	if f.instruments() && isNumber(f.typeOf(e)) {
		x = f.held(x)
		f.tell(x, intLiteral(0), "1", false, true, e)
	}
	return x
}

// passed reports what a call reads and writes through its arguments. Of one alone that
// must not be evaluated twice the value is kept for the call, until done is called.
func (f *fn) passed(e *ast.CallExpr) (done func()) {
	done = func() {}
	if !f.instruments() {
		return done
	}
	tv := f.info.Types[ast.Unparen(e.Fun)]
	switch {
	case tv.IsType():
		if isCopied(tv.Type) && len(e.Args) == 1 {
			f.touch(e.Args[0], nil, false)
		}
		return done
	case f.deviceFunc(e) != nil:
		return done
	case tv.IsBuiltin():
		switch name := calledName(e.Fun).Name; name {
		case "copy":
			f.touch(e.Args[0], nil, true)
			f.touch(e.Args[1], nil, false)
		case "clear":
			f.touch(e.Args[0], nil, true)
		case "append":
			for _, a := range e.Args[1:] {
				f.touch(a, nil, false)
			}
			f.appends(e)
		}
		return done
	}
	fun, _ := f.info.Uses[calledName(e.Fun)].(*types.Func)
	if fun == nil || isCells(fun) {
		return done // it tells itself
	}
	if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok && f.ofContainer(sel) {
		return done // which keeps slices, and does not look into them
	}
	traits, called := f.l.host.Traits(fun), 0
	for _, a := range e.Args {
		if hasCall(a) {
			called++
		}
	}
	for _, a := range e.Args {
		if called == 1 && hasCall(a) {
			done = f.kept(a)
		}
		if traits.Has(trait.Follows) {
			f.pointee(a, traits.Has(trait.Changes))
		}
		f.touch(a, nil, traits.Has(trait.Changes))
	}
	return done
}

// pointee reports the element that a pointer leads to.
func (f *fn) pointee(p ast.Expr, write bool) {
	if u, ok := ast.Unparen(p).(*ast.UnaryExpr); ok && u.Op == token.AND {
		if x, ok := ast.Unparen(u.X).(*ast.IndexExpr); ok {
			f.touch(x.X, x.Index, write)
		}
		return
	}
	if t, ok := f.typeOf(p).Underlying().(*types.Pointer); ok && isNumber(t.Elem()) && f.isPlain(p) {
		f.tell(f.expr(p), intLiteral(0), "1", write, true, p)
	}
}

// isCopied reports whether a slice that is converted to a type is read for that.
func isCopied(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Info()&types.IsString != 0
	case *types.Array:
		return true
	}
	return false
}

// touch reports an element of a slice, or of all of it.
func (f *fn) touch(x, index ast.Expr, write bool) {
	t := f.typeOf(x)
	if !isNumbers(t) && (index != nil || !types.IsInterface(t)) {
		return
	}
	whole, first, last := x, (ast.Expr)(nil), (ast.Expr)(nil)
	if s, ok := ast.Unparen(x).(*ast.SliceExpr); ok && index == nil {
		whole, first, last = s.X, s.Low, s.High
	}
	if !f.arePlain([]ast.Expr{whole, first, last, index}) {
		return
	}
	bound := func(e ast.Expr, otherwise int) *expr {
		if e == nil {
			return intLiteral(otherwise)
		}
		return f.expr(e)
	}
	from, to := bound(first, 0), bound(last, -1).String()
	if index != nil {
		from = f.expr(index)
		to = "int(" + from.String() + ")+1"
	}
	f.tell(f.expr(whole), from, to, write, index != nil, x)
}

// tell has the runtime told about the elements of x, a slice or a pointer to one, before
// they are touched; at is the expression that does. Where no statement can stand, they
// are not told about.
func (f *fn) tell(x, from *expr, to string, write, element bool, at ast.Expr) {
	f.tellBy(at, x.calls() || from.calls(), "%s(%s, int(%s), int(%s), %v, %v", f.l.sym("Touch"), x, from, to, write, element)
}

// appends reports what an append to a slice writes behind its elements, or, where there
// is no room, that it copies them.
func (f *fn) appends(e *ast.CallExpr) {
	x := e.Args[0]
	if !isNumbers(f.typeOf(x)) || len(e.Args) == 1 {
		return
	}
	parts := []ast.Expr{x}
	if s, ok := ast.Unparen(x).(*ast.SliceExpr); ok {
		parts = []ast.Expr{s.X, s.Low, s.High, s.Max}
	}
	n := fmt.Sprint(len(e.Args) - 1)
	if e.Ellipsis.IsValid() {
		added := e.Args[1]
		if s, ok := ast.Unparen(added).(*ast.SliceExpr); ok {
			parts = append(parts, s.X, s.Low, s.High, s.Max)
		} else {
			parts = append(parts, added)
		}
		if !f.arePlain(parts) {
			return
		}
		n = "len(" + f.expr(added).String() + ")"
	}
	if !f.arePlain(parts) {
		return
	}
	to := f.expr(x)
	f.tellBy(x, to.calls(), "%s(%s, %s", f.l.sym("TouchAppended"), to, n)
}

// arePlain reports whether expressions that are there are plain.
func (f *fn) arePlain(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool { return e != nil && !f.isPlain(e) })
}

// tellBy calls a function of the runtime that tells, if something is queued that it may
// meet. Its last arguments are the place.
func (f *fn) tellBy(at ast.Expr, calls bool, format string, args ...any) {
	if len(f.prefix) > 0 && calls {
		return
	}
	only := "pending"
	for _, p := range f.prefix {
		only += " && " + p.String()
	}
	// One statement, as a check is, which can be left for after calls. By the position its
	// caller is found.
	args = slices.Concat([]any{only, f.posName(), f.position(at)}, args, []any{f.position(at) >> 12, f.cell})
	f.emitAs(pure, "if %s { %s = %d; "+format+", %d, %q) }", args...)
}
