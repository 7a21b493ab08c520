package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// bounds finds the indices that need no check, or half of one: most of those
// in loops.
func (f *fn) bounds(body *ast.BlockStmt) {
	f.shared.natural = make(map[types.Object]bool)
	f.shared.inRange = make(map[*ast.IndexExpr]bool)
	changed := make(map[types.Object]bool) // in other ways than by counting up
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				o := f.objectOf(x)
				switch {
				case o == nil:
				case len(n.Rhs) == len(n.Lhs) && (n.Tok == token.DEFINE || n.Tok == token.ASSIGN || n.Tok == token.ADD_ASSIGN) && f.isCount(n.Rhs[i]):
					f.shared.natural[o] = true
				default:
					changed[o] = true
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if len(n.Values) == 0 || len(n.Values) == len(n.Names) && f.isCount(n.Values[i]) {
					f.shared.natural[f.info.Defs[id]] = true
				}
			}
		case *ast.IncDecStmt:
			if n.Tok == token.DEC {
				changed[f.objectOf(n.X)] = true
			}
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if o := f.objectOf(x); o != nil {
					if x == n.Key && n.Tok == token.DEFINE && f.counts(n) {
						f.shared.natural[o] = true
						continue
					}
					changed[o] = true
				}
			}
		}
		return true
	})
	for o := range f.shared.natural {
		if b, ok := o.Type().(*types.Basic); changed[o] || f.shared.boxed[o] || isPackageLevel(o) || !ok || b.Kind() != types.Int {
			delete(f.shared.natural, o)
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			f.safe(f.objectOf(n.Key), f.objectOf(n.X), n.Body)
		case *ast.ForStmt:
			if i, list := f.belowLen(n.Cond); i != nil {
				f.safe(i, list, n.Body)
			}
		}
		return true
	})
}

// isCount says whether an expression is a constant that is not negative, or a length.
func (f *fn) isCount(e ast.Expr) bool {
	if v := f.info.Types[e].Value; v != nil {
		return v.Kind() == constant.Int && constant.Sign(v) >= 0
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !f.info.Types[ast.Unparen(call.Fun)].IsBuiltin() {
		return false
	}
	name := calledName(call.Fun).Name
	return name == "len" || name == "cap"
}

// counts says whether a range statement's first variable counts from 0.
func (f *fn) counts(s *ast.RangeStmt) bool {
	switch f.rangeType(s.X).(type) {
	case *types.Slice, *types.Array, *types.Pointer, *types.Basic:
		return true
	}
	return false
}

func (f *fn) objectOf(e ast.Expr) types.Object {
	if e == nil {
		return nil
	}
	if id, ok := ast.Unparen(e).(*ast.Ident); ok && id.Name != "_" {
		return f.info.ObjectOf(id)
	}
	return nil
}

// belowLen takes the condition i < len(list) apart.
func (f *fn) belowLen(e ast.Expr) (i, list types.Object) {
	cond, ok := e.(*ast.BinaryExpr)
	if !ok || cond.Op != token.LSS {
		return nil, nil
	}
	call, ok := ast.Unparen(cond.Y).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !f.isCount(call) || calledName(call.Fun).Name != "len" {
		return nil, nil
	}
	return f.objectOf(cond.X), f.objectOf(call.Args[0])
}

// safe marks list[i] in a loop's body where neither changes and i is below the
// length of list.
func (f *fn) safe(i, list types.Object, body *ast.BlockStmt) {
	if i == nil || list == nil || !f.shared.natural[i] || f.shared.boxed[list] || isPackageLevel(list) {
		return
	}
	switch list.Type().Underlying().(type) {
	case *types.Slice, *types.Basic:
	default:
		return
	}
	var found []*ast.IndexExpr
	same := true
	is := func(e ast.Expr) bool { o := f.objectOf(e); return o != nil && (o == i || o == list) }
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				same = same && !is(x)
			}
		case *ast.IncDecStmt:
			same = same && !is(n.X)
		case *ast.RangeStmt:
			same = same && !(n.Key != nil && is(n.Key) || n.Value != nil && is(n.Value))
		case *ast.IndexExpr:
			if f.objectOf(n.X) == list && f.objectOf(n.Index) == i {
				found = append(found, n)
			}
		}
		return same
	})
	if same {
		for _, e := range found {
			f.shared.inRange[e] = true
		}
	}
}
