package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// bounds finds the indices that need no check, or half of one: most of those
// in loops.
func (f *fn) bounds(body *ast.BlockStmt) {
	f.shared.natural = make(map[types.Object]bool)
	f.shared.inRange = make(map[*ast.IndexExpr]bool)
	added := make(map[types.Object][]ast.Expr) // what variables are set to, or counted up by
	changed := make(map[types.Object]bool)     // in other ways
	declared := make(map[types.Object]bool)    // here: not a parameter
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				o := f.objectOf(x)
				if id, ok := x.(*ast.Ident); ok && f.info.Defs[id] != nil {
					declared[o] = true
				}
				switch {
				case o == nil:
				case len(n.Rhs) == len(n.Lhs) && (n.Tok == token.DEFINE || n.Tok == token.ASSIGN || n.Tok == token.ADD_ASSIGN):
					added[o] = append(added[o], n.Rhs[i])
				default:
					changed[o] = true
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				o := f.info.Defs[id]
				declared[o] = true
				switch {
				case o == nil:
				case len(n.Values) == 0:
					added[o] = append(added[o], nil)
				case len(n.Values) == len(n.Names):
					added[o] = append(added[o], n.Values[i])
				default:
					changed[o] = true
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
						added[o], declared[o] = append(added[o], nil), true
						continue
					}
					changed[o] = true
				}
			}
		}
		return true
	})
	for o := range added {
		b, ok := o.Type().(*types.Basic)
		f.shared.natural[o] = ok && b.Kind() == types.Int && declared[o] && !changed[o] && !f.shared.boxed[o] && !isPackageLevel(o)
	}
	f.shared.above = make(map[types.Object][]loop)
	ast.Inspect(body, func(n ast.Node) bool {
		counter, to, in := f.counted(n)
		if once := declared[to] && len(added[to]) == 1; to != nil && (once || added[to] == nil) && !changed[to] && !f.shared.boxed[to] && !isPackageLevel(to) {
			f.shared.above[to] = append(f.shared.above[to], loop{counter, in})
		}
		return true
	})
	// What is set to others is natural if these are.
	for again := true; again; {
		again = false
		for o, values := range added {
			if f.shared.natural[o] && slices.ContainsFunc(values, func(e ast.Expr) bool { return e != nil && !f.isNatural(e) }) {
				f.shared.natural[o], again = false, true
			}
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

// loop is a loop that runs while its counter is below a variable.
type loop struct {
	counter types.Object // nil: counts from 0
	body    *ast.BlockStmt
}

// counted takes a loop apart that counts to an int variable: for i < n, range n.
func (f *fn) counted(n ast.Node) (counter, to types.Object, body *ast.BlockStmt) {
	var limit ast.Expr
	switch n := n.(type) {
	case *ast.ForStmt:
		cond, ok := n.Cond.(*ast.BinaryExpr)
		if !ok || cond.Op != token.LSS && cond.Op != token.LEQ {
			return nil, nil, nil
		}
		if counter = f.objectOf(cond.X); counter == nil {
			return nil, nil, nil
		}
		limit, body = cond.Y, n.Body
	case *ast.RangeStmt:
		limit, body = n.X, n.Body
	default:
		return nil, nil, nil
	}
	if to = f.objectOf(limit); to == nil {
		return nil, nil, nil
	}
	if b, ok := to.Type().(*types.Basic); !ok || b.Kind() != types.Int {
		return nil, nil, nil
	}
	return counter, to, body
}

// isNatural says whether an expression is never negative, unless it overflows.
func (f *fn) isNatural(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		o := f.info.ObjectOf(e)
		if o == nil {
			return false
		}
		return f.shared.natural[o] || f.isCount(e) || slices.ContainsFunc(f.shared.above[o], func(l loop) bool {
			return l.body.Pos() <= e.Pos() && e.Pos() < l.body.End() && (l.counter == nil || f.shared.natural[l.counter])
		})
	case *ast.BinaryExpr:
		switch e.Op {
		case token.ADD, token.MUL, token.QUO:
			return f.isNatural(e.X) && f.isNatural(e.Y)
		case token.REM, token.SHR:
			return f.isNatural(e.X)
		}
	}
	return f.isCount(e)
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
