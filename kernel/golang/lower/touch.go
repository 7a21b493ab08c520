package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What cells read and write in memory that devices use too is told to whoever
// watches it: see Lowerer.Touches. Only expressions are looked at that are known
// to be such memory: views of a *cuda.HostBuffer, slices that a copy or a message
// goes to while the program runs on, and variables and fields with such values.

// devicePath begins the packages whose functions tell themselves what they touch.
const devicePath = "gocuda/cudaapi/"

// place is where a variable, a field, a parameter or a result is declared: the same
// for a function that is lowered again, and for all instances of a generic one.
type place struct {
	file         string
	line, column int
}

func (l *Lowerer) placeOf(o types.Object) place {
	p := l.fset.Position(o.Pos())
	return place{p.Filename, p.Line, p.Column}
}

// Shares notes which variables in declarations and statements hold such memory. It
// reports whether parameters, results or variables of other cells are among those that
// it finds.
func (l *Lowerer) Shares(info *types.Info, nodes []ast.Node) (others bool) {
	s := sharing{fn: &fn{l: l, info: info}, own: map[*token.File]bool{}}
	for _, n := range nodes {
		s.own[l.fset.File(n.Pos())] = true
	}
	for before := -1; before != len(l.sharing); {
		before = len(l.sharing)
		for _, n := range nodes {
			s.walk(n, nil)
		}
	}
	return s.others
}

// sharing is a search for what holds such memory.
type sharing struct {
	*fn
	own    map[*token.File]bool
	others bool
}

// holds notes that an object does.
func (s *sharing) holds(o types.Object) {
	if o == nil || !o.Pos().IsValid() || !holdsNumbers(o.Type()) {
		return
	}
	if at := s.l.placeOf(o); !s.l.sharing[at] {
		s.l.sharing[at] = true
		s.others = s.others || !s.own[s.l.fset.File(o.Pos())]
	}
}

func (s *sharing) mark(e ast.Expr) {
	if o := s.heldIn(e); o != nil {
		s.holds(o)
	}
}

// walk looks at a part of a function with a signature.
func (s *sharing) walk(n ast.Node, sig *types.Signature) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if f, ok := s.info.Defs[n.Name].(*types.Func); ok && n.Body != nil {
				s.walk(n.Body, f.Signature())
			}
			return false
		case *ast.FuncLit:
			if t, ok := s.info.TypeOf(n).(*types.Signature); ok {
				s.walk(n.Body, t)
			}
			return false
		case *ast.AssignStmt:
			s.assigned(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			left := make([]ast.Expr, len(n.Names))
			for i, name := range n.Names {
				left[i] = name
			}
			s.assigned(left, n.Values)
		case *ast.RangeStmt:
			if n.Value != nil && s.isShared(n.X) {
				s.mark(n.Value)
			}
		case *ast.ReturnStmt:
			s.returned(n.Results, sig)
		case *ast.CompositeLit:
			s.literal(n)
		case *ast.CallExpr:
			s.call(n)
		}
		return true
	})
}

func (s *sharing) assigned(left, right []ast.Expr) {
	if len(left) == len(right) {
		for i, e := range right {
			if s.isShared(e) {
				s.mark(left[i])
			}
		}
	} else if len(right) == 1 && len(left) > 0 {
		for i, e := range left {
			if i == 0 && s.isView(right[0]) || s.gives(right[0], i) {
				s.mark(e)
			}
		}
	}
}

// returned looks at what a function with a signature returns.
func (s *sharing) returned(list []ast.Expr, sig *types.Signature) {
	if sig == nil {
		return
	}
	for i := range sig.Results().Len() {
		switch {
		case len(list) == sig.Results().Len() && s.isShared(list[i]),
			len(list) == 1 && i == 0 && s.isView(list[0]),
			len(list) == 1 && s.gives(list[0], i):
			s.holds(sig.Results().At(i))
		}
	}
}

// literal looks at the fields of a structure.
func (s *sharing) literal(e *ast.CompositeLit) {
	t := s.info.TypeOf(e)
	if t == nil {
		return
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	of, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i, v := range e.Elts {
		if kv, ok := v.(*ast.KeyValueExpr); ok {
			if s.isShared(kv.Value) {
				s.mark(kv.Key)
			}
		} else if i < of.NumFields() && s.isShared(v) {
			s.holds(of.Field(i))
		}
	}
}

// call looks at the arguments of a call.
func (s *sharing) call(e *ast.CallExpr) {
	if fun := s.deviceFunc(e); fun != nil {
		if leavesRunning(fun.Name()) {
			for _, a := range e.Args {
				s.mark(a)
			}
		}
		return
	}
	sig := s.called(e)
	if sig == nil {
		return
	}
	for i, a := range e.Args {
		if n := sig.Params().Len(); n > 0 && s.isShared(a) {
			if p := sig.Params().At(min(i, n-1)); isCells(p) {
				s.holds(p)
			}
		}
	}
}

// called is the signature of the function that a call calls, nil for a conversion or
// a builtin.
func (f *fn) called(e *ast.CallExpr) *types.Signature {
	tv := f.info.Types[e.Fun]
	if tv.Type == nil || tv.IsType() || tv.IsBuiltin() {
		return nil
	}
	sig, _ := tv.Type.Underlying().(*types.Signature)
	return sig
}

// isCells reports whether a parameter or a result is of a function of cells.
func isCells(o types.Object) bool { return o.Pkg() != nil && o.Pkg().Path() == "main" }

// gives reports whether a call of a cell's function gives such memory as its i-th
// result.
func (f *fn) gives(x ast.Expr, i int) bool {
	e, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	sig := f.called(e)
	return sig != nil && i < sig.Results().Len() && isCells(sig.Results().At(i)) && f.isHeld(sig.Results().At(i))
}

// isHeld reports whether a variable holds such memory, as far as is known.
func (f *fn) isHeld(o types.Object) bool {
	return len(f.l.sharing) > 0 && o.Pos().IsValid() && holdsNumbers(o.Type()) && f.l.sharing[f.l.placeOf(o)]
}

// leavesRunning reports whether a function of devices or of messages may use its
// arguments after it has returned.
func leavesRunning(name string) bool {
	return strings.HasSuffix(name, "Async") || name == "RegisterHost" || len(name) > 1 && name[0] == 'I' && name[1] >= 'a' && name[1] <= 'z' || strings.HasSuffix(name, "Init")
}

// deviceFunc is the function of packages cuda, mpi and their like that a call calls,
// or nil.
func (f *fn) deviceFunc(e *ast.CallExpr) *types.Func {
	id := calledName(e.Fun)
	if id == nil {
		return nil
	}
	fun, _ := f.info.Uses[id].(*types.Func)
	if fun == nil || fun.Pkg() == nil || !strings.HasPrefix(fun.Pkg().Path(), devicePath) {
		return nil
	}
	return fun
}

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

// heldIn is the variable or the field that an expression names, or nil.
func (f *fn) heldIn(e ast.Expr) *types.Var {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, _ := f.info.ObjectOf(e).(*types.Var)
		return v
	case *ast.SelectorExpr:
		v, _ := f.info.Uses[e.Sel].(*types.Var)
		return v
	case *ast.SliceExpr:
		return f.heldIn(e.X)
	case *ast.IndexExpr:
		return f.heldIn(e.X)
	}
	return nil
}

// holdsNumbers reports whether a type is a slice of numbers, or of such slices. What a
// type parameter stands for may be a number.
func holdsNumbers(t types.Type) bool {
	if isNumbers(t) {
		return true
	}
	switch t := t.Underlying().(type) {
	case *types.Slice:
		if _, ok := t.Elem().(*types.TypeParam); ok {
			return true
		}
		return isNumbers(t.Elem())
	case *types.Array:
		return isNumbers(t.Elem())
	case *types.Map:
		return isNumbers(t.Elem())
	}
	return false
}

// isNumbers reports whether a type is a slice of numbers.
func isNumbers(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b, ok := s.Elem().Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

// isShared reports whether an expression is such memory, or holds it.
func (f *fn) isShared(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		return f.isShared(e.X)
	case *ast.IndexExpr:
		t := f.info.TypeOf(e)
		return t != nil && isNumbers(t) && f.isShared(e.X)
	case *ast.CallExpr:
		switch tv := f.info.Types[e.Fun]; {
		case tv.IsType():
			return len(e.Args) == 1 && f.isShared(e.Args[0])
		case tv.IsBuiltin():
			return calledName(e.Fun).Name == "append" && !isNumbers(f.info.TypeOf(e)) && slices.ContainsFunc(e.Args, f.isShared)
		}
		return isMust(e) && (f.isView(e.Args[0]) || f.gives(e.Args[0], 0)) || f.gives(e, 0)
	case *ast.CompositeLit:
		t := f.info.TypeOf(e)
		return t != nil && !isNumbers(t) && holdsNumbers(t) && slices.ContainsFunc(e.Elts, func(x ast.Expr) bool {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				x = kv.Value
			}
			return f.isShared(x)
		})
	case *ast.Ident, *ast.SelectorExpr:
		o := f.heldIn(e)
		return o != nil && f.isHeld(o)
	}
	return false
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
	return values.Len() == 2 && isNumbers(values.At(0).Type())
}

// isPlain reports whether an expression can be evaluated once more.
func (f *fn) isPlain(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case nil:
		return true
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

// touched tells of what a statement reads and writes, before it does.
func (f *fn) touched(s ast.Stmt) {
	if !f.l.Touches || len(f.prefix) > 0 || f.unguarded > 0 {
		return
	}
	switch s := s.(type) {
	case *ast.AssignStmt:
		for _, e := range s.Rhs {
			f.reads(e)
		}
		for _, e := range s.Lhs {
			f.writes(e)
		}
	case *ast.IncDecStmt:
		f.writes(s.X)
	case *ast.ExprStmt:
		if f.reads(s.X); f.isShown(s.X) {
			f.touch(s.X, nil, false)
		}
	case *ast.ReturnStmt:
		for _, e := range s.Results {
			f.reads(e)
		}
	case *ast.SendStmt:
		f.reads(s.Value)
	case *ast.IfStmt:
		if s.Init == nil {
			f.reads(s.Cond)
		}
	case *ast.SwitchStmt:
		if s.Init == nil && s.Tag != nil {
			f.reads(s.Tag)
		} else if s.Init == nil && len(s.Body.List) > 0 {
			for _, e := range s.Body.List[0].(*ast.CaseClause).List {
				f.reads(e)
			}
		}
	case *ast.RangeStmt:
		if s.Value != nil && !isBlank(s.Value) {
			f.touch(s.X, nil, false)
		}
	case *ast.DeclStmt:
		if d, ok := s.Decl.(*ast.GenDecl); ok {
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					for _, e := range v.Values {
						f.reads(e)
					}
				}
			}
		}
	}
}

func (f *fn) writes(e ast.Expr) {
	if x, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
		f.touch(x.X, x.Index, true)
		f.reads(x.Index)
	}
}

// reads tells of what an expression reads.
func (f *fn) reads(e ast.Expr) {
	if e == nil {
		return
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.UnaryExpr:
			return n.Op != token.AND
		case *ast.IndexExpr:
			f.touch(n.X, n.Index, false)
		case *ast.CallExpr:
			f.passed(n)
		}
		return true
	})
}

// passed tells of what a call reads and writes through its arguments.
func (f *fn) passed(e *ast.CallExpr) {
	tv := f.info.Types[ast.Unparen(e.Fun)]
	switch {
	case tv.IsType(), f.deviceFunc(e) != nil:
		return
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
		}
		return
	}
	fun, _ := f.info.Uses[calledName(e.Fun)].(*types.Func)
	if fun != nil && isCells(fun) {
		return // it tells itself
	}
	for _, a := range e.Args {
		f.touch(a, nil, fun != nil && changes(fun))
	}
}

// changes reports whether a function of the library changes a slice that it is given.
func changes(fun *types.Func) bool {
	if fun.Pkg() == nil {
		return false
	}
	switch fun.Pkg().Path() {
	case "slices":
		return strings.HasPrefix(fun.Name(), "Sort") && fun.Signature().Results().Len() == 0 || fun.Name() == "Reverse"
	case "sort":
		return fun.Name() == "Ints" || fun.Name() == "Float64s" || strings.HasPrefix(fun.Name(), "Slice")
	}
	return false
}

// touch tells of an element of a slice, or of all of it.
func (f *fn) touch(x, index ast.Expr, write bool) {
	if !f.isShared(x) || !isNumbers(f.typeOf(x)) {
		return
	}
	whole, first, last := x, (ast.Expr)(nil), (ast.Expr)(nil)
	if s, ok := ast.Unparen(x).(*ast.SliceExpr); ok && index == nil {
		whole, first, last = s.X, s.Low, s.High
	}
	for _, e := range []ast.Expr{whole, first, last, index} {
		if e != nil && !f.isPlain(e) {
			return
		}
	}
	bound := func(e ast.Expr, otherwise int) *expr {
		if e == nil {
			return intLiteral(otherwise)
		}
		return f.expr(e)
	}
	from, to, end := bound(first, 0), bound(last, -1), ""
	if index != nil {
		from = f.expr(index)
		to, end = from, "+1"
	}
	f.emitAs(note, "%s = %d", f.posName(), f.position(x)) // by which its caller is found
	f.emit("%s(%s, int(%s), int(%s)%s, %v, %v, %d, %q)", f.l.sym("Touch"), f.expr(whole), from, to, end, write, index != nil, f.position(x)>>12, f.cell)
}
