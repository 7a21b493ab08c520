package lower

import (
	"go/ast"
	"go/token"
	"go/types"
)

// analyze finds the variables that closures share with the function around
// them, and those whose address is taken: they live behind a pointer.
func (f *fn) analyze(params []*types.Var, results *types.Tuple, body *ast.BlockStmt) {
	a := &analysis{f: f, owner: make(map[types.Object]int), captured: make(map[types.Object]bool),
		assigned: make(map[types.Object]bool), boxed: make(map[types.Object]bool)}
	for _, p := range params {
		a.owner[p] = 0
	}
	for i := range results.Len() {
		a.owner[results.At(i)] = 0
	}
	defers, _, _ := f.scan(body)
	a.function(body, 0, defers)
	for o := range a.captured {
		if a.assigned[o] {
			a.boxed[o] = true
		}
	}
	f.shared.boxed = a.boxed
}

type analysis struct {
	f        *fn
	next     int
	cur      int
	owner    map[types.Object]int
	captured map[types.Object]bool
	assigned map[types.Object]bool
	boxed    map[types.Object]bool
}

// function walks a body. inner says that the body becomes a closure of its own.
func (a *analysis) function(body *ast.BlockStmt, level int, inner bool) {
	saved := a.cur
	a.cur = level
	if inner {
		a.next++
		a.cur = a.next
	}
	a.walk(body)
	a.cur = saved
}

func (a *analysis) walk(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			a.next++
			level := a.next
			if sig, ok := a.f.info.Types[n].Type.(*types.Signature); ok {
				for i := range sig.Params().Len() {
					a.owner[sig.Params().At(i)] = level
				}
				for i := range sig.Results().Len() {
					a.owner[sig.Results().At(i)] = level
				}
			}
			defers, _, _ := a.f.scan(n.Body)
			a.function(n.Body, level, defers)
			return false
		case *ast.Ident:
			if o := a.f.info.Defs[n]; o != nil {
				a.owner[o] = a.cur
			}
			if o, ok := a.f.info.Uses[n].(*types.Var); ok && !o.IsField() {
				a.use(o)
			}
		case *ast.CaseClause:
			if o := a.f.info.Implicits[n]; o != nil {
				a.owner[o] = a.cur
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				a.address(n.X)
			}
		case *ast.SliceExpr:
			if _, ok := a.under(n.X).(*types.Array); ok {
				a.address(n.X)
			}
		case *ast.SelectorExpr:
			a.selector(n)
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if n.Tok == token.DEFINE {
					if id, ok := x.(*ast.Ident); ok && a.f.info.Defs[id] != nil {
						continue
					}
				}
				a.assign(x)
			}
		case *ast.IncDecStmt:
			a.assign(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				if n.Key != nil {
					a.assign(n.Key)
				}
				if n.Value != nil {
					a.assign(n.Value)
				}
			}
			if a.f.isRangeFunc(n) {
				a.walk(n.X)
				a.next++
				saved := a.cur
				a.cur = a.next
				for _, x := range []ast.Expr{n.Key, n.Value} {
					if x != nil {
						a.walk(x)
					}
				}
				a.walk(n.Body)
				a.cur = saved
				return false
			}
		}
		return true
	})
}

func (a *analysis) under(e ast.Expr) types.Type {
	return a.f.typeOf(e).Underlying()
}

func (a *analysis) use(o types.Object) {
	if owner, ok := a.owner[o]; ok && owner != a.cur {
		a.captured[o] = true
	}
}

// root is the variable that an addressable expression is part of, or nil.
func (a *analysis) root(e ast.Expr) types.Object {
	switch e := e.(type) {
	case *ast.Ident:
		if o, ok := a.f.info.ObjectOf(e).(*types.Var); ok {
			return o
		}
	case *ast.ParenExpr:
		return a.root(e.X)
	case *ast.SelectorExpr:
		if sel := a.f.info.Selections[e]; sel != nil {
			if _, ok := a.under(e.X).(*types.Pointer); !ok {
				return a.root(e.X)
			}
		}
	case *ast.IndexExpr:
		if _, ok := a.f.info.Types[e.X]; ok {
			if _, ok := a.under(e.X).(*types.Array); ok {
				return a.root(e.X)
			}
		}
	}
	return nil
}

func (a *analysis) address(e ast.Expr) {
	if o := a.root(e); o != nil {
		a.boxed[o] = true
	}
}

func (a *analysis) assign(e ast.Expr) {
	if o := a.root(e); o != nil {
		a.assigned[o] = true
	}
}

// selector finds methods with pointer receivers that are called on variables.
func (a *analysis) selector(e *ast.SelectorExpr) {
	sel := a.f.info.Selections[e]
	if sel == nil || sel.Kind() != types.MethodVal {
		return
	}
	if _, ok := a.under(e.X).(*types.Pointer); ok {
		return
	}
	fun, _ := sel.Obj().(*types.Func)
	if fun == nil {
		return
	}
	if _, param := types.Unalias(a.f.info.Types[e.X].Type).(*types.TypeParam); param {
		a.address(e.X)
		return
	}
	if r := fun.Signature().Recv(); r != nil {
		if _, ok := types.Unalias(r.Type()).(*types.Pointer); ok {
			a.address(e.X)
		}
	}
}

// scan says what a body, its literals left out, contains: defer statements,
// calls of recover, and return statements inside of range-over-func loops.
func (f *fn) scan(body *ast.BlockStmt) (defers, recovers, returnsInside bool) {
	var walk func(n ast.Node, inside bool)
	walk = func(n ast.Node, inside bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.DeferStmt:
				defers = true
			case *ast.ReturnStmt:
				returnsInside = returnsInside || inside
			case *ast.CallExpr:
				if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok {
					if b, ok := f.info.Uses[id].(*types.Builtin); ok && b.Name() == "recover" {
						recovers = true
					}
				}
			case *ast.RangeStmt:
				if f.isRangeFunc(n) && !inside {
					walk(n.X, false)
					walk(n.Body, true)
					return false
				}
			}
			return true
		})
	}
	walk(body, false)
	return
}

func (f *fn) isRangeFunc(n *ast.RangeStmt) bool {
	if tv, ok := f.info.Types[n.X]; ok && tv.Type != nil {
		_, isFunc := f.rangeType(n.X).(*types.Signature)
		return isFunc
	}
	return false
}

// terminates says whether control cannot leave the end of a list.
func terminates(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	_, ok := list[len(list)-1].(*ast.ReturnStmt)
	return ok
}

// rangeType is the type that a range statement goes over: the core type.
func (f *fn) rangeType(e ast.Expr) types.Type {
	return coreType(f.typeOf(e))
}

func coreType(t types.Type) types.Type { return t.Underlying() }
