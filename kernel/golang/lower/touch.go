package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// What cells read and write in memory that devices use too is told to whoever
// watches it: see Lowerer.Touches. Only expressions are looked at that are known
// to be such memory: views of a *cuda.HostBuffer, slices that a copy or a message
// goes to while the program runs on, and variables and fields with such values.

// devicePath begins the packages whose functions tell themselves what they touch.
const devicePath = "gocuda/cudaapi/"

// shares notes which variables in a function's body hold such memory.
func (f *fn) shares(body ast.Node) {
	if !f.l.Touches {
		return
	}
	mark := func(e ast.Expr) {
		if o := f.heldIn(e); o != nil && isNumbers(o.Type()) && !f.l.sharing[o] {
			f.l.sharing[o] = true
		}
	}
	for before := -1; before != len(f.l.sharing); {
		before = len(f.l.sharing)
		ast.Inspect(body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if len(n.Lhs) == 2 && len(n.Rhs) == 1 && f.isView(n.Rhs[0]) {
					mark(n.Lhs[0])
				}
				if len(n.Lhs) == len(n.Rhs) {
					for i, e := range n.Rhs {
						if f.isShared(e) {
							mark(n.Lhs[i])
						}
					}
				}
			case *ast.ValueSpec:
				for i, e := range n.Values {
					if len(n.Names) == len(n.Values) && f.isShared(e) {
						mark(n.Names[i])
					}
				}
			case *ast.KeyValueExpr:
				if f.isShared(n.Value) {
					mark(n.Key)
				}
			case *ast.CallExpr:
				if fun := f.deviceFunc(n); fun != nil && leavesRunning(fun.Name()) {
					for _, a := range n.Args {
						mark(a)
					}
				}
			}
			return true
		})
	}
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
	}
	return nil
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

// isShared reports whether an expression is such memory.
func (f *fn) isShared(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		return f.isShared(e.X)
	case *ast.CallExpr:
		return isMust(e) && f.isView(e.Args[0])
	case *ast.Ident, *ast.SelectorExpr:
		o := f.heldIn(e)
		return o != nil && f.l.sharing[o]
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
		if !f.isShared(e) {
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
	for _, a := range e.Args {
		f.touch(a, nil, false)
	}
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
	f.emit("%s(%s, int(%s), int(%s)%s, %v, %v, %d, %q)", f.l.sym("Touch"), f.expr(whole), from, to, end, write, index != nil, f.position(x)>>12, f.cell)
}
