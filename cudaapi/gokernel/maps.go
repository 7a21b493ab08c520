package gokernel

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"gocuda/cudaapi/gokernel/ir"
)

// Compiled code for the host uses Go's maps by way of Go's runtime, which it asks in the
// middle of a call, as it does for functions of the library (outside.go): for each use of
// a type of maps the program has a function. Only the length is read in place.

// MapUse is what is done with a map: the Name of a [HostCall].
type MapUse = string

// The uses, with what they take and give. What has no size is left out.
const (
	MapMake   MapUse = "make"   // size: map
	MapGet    MapUse = "get"    // map, key: value, whether it is there
	MapSet    MapUse = "set"    // map, key, value
	MapPlace  MapUse = "place"  // map, key: pointer to the value, made if it was not there
	MapDelete MapUse = "delete" // map, key
	MapClear  MapUse = "clear"  // map
	MapRange  MapUse = "range"  // map: iteration
	MapNext   MapUse = "next"   // iteration: whether there is one more, its key and value as far as they are wanted
)

// iterationType stands for what the runtime knows of a loop over a map.
var iterationType = types.NewPointer(types.Typ[types.Uint8])

// mapOf is the type of an expression that is a map of compiled code; nil if it is none.
func (f *fn) mapOf(e ast.Expr) *types.Map {
	if f.u.info.Types[e].IsType() {
		return nil
	}
	t := f.typeOf(e)
	m, _ := t.Underlying().(*types.Map)
	if m != nil {
		f.usable(t, e, "a value")
	}
	return m
}

// mapUse emits a use of a map.
func (f *fn) mapUse(at ast.Node, use MapUse, m *types.Map, results []types.Type, args ...ir.Expr) (values []ir.Expr) {
	c := HostCall{Name: use, Map: m}
	call := &ir.Call{Pos: at.Pos()}
	for _, a := range args {
		if sizes.Sizeof(a.Type()) > 0 {
			c.Params = append(c.Params, a.Type())
			call.Args = append(call.Args, a)
		}
	}
	for _, t := range results {
		if sizes.Sizeof(t) == 0 {
			values = append(values, &ir.Zero{T: t})
			continue
		}
		c.Results = append(c.Results, t)
		v := f.local("t", t)
		f.emit(&ir.Define{Var: v})
		call.Dst = append(call.Dst, v)
		values = append(values, &ir.Ref{Var: v})
	}
	call.Func = f.u.mapFunc(c)
	f.emit(call)
	return values
}

// mapFunc is the function that stands for a use of a type of maps.
func (u *unit) mapFunc(c HostCall) *ir.Func {
	h := u.host
	for _, o := range h.outside {
		if o.call.Map != nil && o.call.Name == c.Name && types.Identical(o.call.Map, c.Map) && len(o.call.Results) == len(c.Results) {
			return o.fun
		}
	}
	return u.outsideFunc("map_"+c.Name, c, token.NoPos)
}

// mapElement is m[k], and whether it is there.
func (f *fn) mapElement(e *ast.IndexExpr, m *types.Map) []ir.Expr {
	x, k := f.mapKey(e, m)
	return f.mapUse(e, MapGet, m, []types.Type{m.Elem(), types.Typ[types.Bool]}, x, k)
}

// mapKey lowers a map and a key, which stay the same until the statement's end.
func (f *fn) mapKey(e *ast.IndexExpr, m *types.Map) (x, k ir.Expr) {
	x = f.stable(f.expr(e.X))
	return x, f.stable(f.to(e.Index, m.Key()))
}

// mapIndex is an expression m[k] of a map.
func (f *fn) mapIndex(e ast.Expr) (index *ast.IndexExpr, m *types.Map) {
	if index, _ = ast.Unparen(e).(*ast.IndexExpr); index != nil {
		m = f.mapOf(index.X)
	}
	return index, m
}

// several is an expression with more than one value.
func (f *fn) several(e ast.Expr) []ir.Expr {
	if index, m := f.mapIndex(e); m != nil {
		return f.mapElement(index, m)
	}
	if a, ok := ast.Unparen(e).(*ast.TypeAssertExpr); ok {
		return f.assertion(a, true)
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		f.refuse(e, secondValues)
	}
	return f.call(call)
}

// mapUpdate is m[k] op= y: operand lowers y, and gives what makes the new value of the
// old one. Nothing is stored if that panics.
func (f *fn) mapUpdate(e *ast.IndexExpr, m *types.Map, operand func() func(old ir.Expr) ir.Expr) {
	x, k := f.mapKey(e, m)
	elem, value := m.Elem(), operand()
	if hasPointers(elem) { // which the runtime stores
		now := value(f.mapUse(e, MapGet, m, []types.Type{elem, types.Typ[types.Bool]}, x, k)[0])
		f.mapUse(e, MapSet, m, nil, x, k, f.convert(now, elem))
		return
	}
	p := f.local("t", types.NewPointer(elem))
	p.There = true
	place := &ir.Deref{X: &ir.Ref{Var: p}, T: elem}
	now := value(place)
	at := f.mapUse(e, MapPlace, m, []types.Type{p.Type}, x, k)[0]
	f.emit(&ir.Define{Var: p, Init: at})
	f.emit(&ir.Assign{To: place, Value: now})
}

// mapBuiltin is a builtin function of a map, and false if it is none.
func (f *fn) mapBuiltin(e *ast.CallExpr, name string) (results []ir.Expr, ok bool) {
	if name == "make" {
		t := f.typeOf(e)
		m, ok := t.Underlying().(*types.Map)
		if !ok {
			return nil, false
		}
		f.usable(t, e, "a value")
		n := ir.Int(0)
		if len(e.Args) > 1 {
			n = f.temp(f.lengthOf(e.Args[1]))
		}
		return f.mapUse(e, MapMake, m, []types.Type{t}, n), true
	}
	if name != "len" && name != "delete" && name != "clear" {
		return nil, false
	}
	m := f.mapOf(e.Args[0])
	if m == nil {
		return nil, false
	}
	x := f.stable(f.expr(e.Args[0]))
	switch name {
	case "len":
		v := f.local("t", types.Typ[types.Int])
		f.emit(&ir.Define{Var: v})
		f.emit(&ir.Effect{Dst: v, Name: "map_len", Args: []ir.Expr{x}, T: types.Typ[types.Int], Pos: e.Pos()})
		return []ir.Expr{&ir.Ref{Var: v}}, true
	case "delete":
		return f.mapUse(e, MapDelete, m, nil, x, f.to(e.Args[1], m.Key())), true
	}
	return f.mapUse(e, MapClear, m, nil, x), true
}

// mapLiteral is T{...}.
func (f *fn) mapLiteral(e *ast.CompositeLit, t types.Type, m *types.Map) ir.Expr {
	x := f.mapUse(e, MapMake, m, []types.Type{t}, ir.Int(int64(len(e.Elts))))[0]
	for _, part := range e.Elts {
		kv := part.(*ast.KeyValueExpr)
		k := f.temp(f.part(kv.Key, m.Key()))
		f.mapUse(kv, MapSet, m, nil, x, k, f.part(kv.Value, m.Elem()))
	}
	return x
}

// mapLoop is a loop over a map.
func (f *fn) mapLoop(s *ast.RangeStmt, label string, m *types.Map) {
	it := f.mapUse(s, MapRange, m, []types.Type{iterationType}, f.expr(s.X))[0]
	l := &ir.Loop{Label: f.newLabel(label), Pos: s.Pos()}
	f.emit(l)
	l.Body = f.targeted(destination{label, l.Label, true}, func() {
		wanted := []types.Type{types.Typ[types.Bool]}
		if takesElements(s) {
			wanted = append(wanted, m.Key(), m.Elem())
		} else if s.Key != nil {
			wanted = append(wanted, m.Key())
		}
		next := append(f.mapUse(s, MapNext, m, wanted, it), nil, nil)
		more, key, value := next[0], next[1], next[2]
		f.emit(&ir.If{Cond: &ir.Unary{Op: token.NOT, X: more, T: types.Typ[types.Bool]}, Then: []ir.Stmt{&ir.Leave{To: l.Label}}})
		switch {
		case s.Key == nil:
		case s.Tok == token.ASSIGN:
			f.storeBoth(s, key, value)
		default:
			f.store(s.Tok, s.Key, key)
			if value != nil {
				f.store(s.Tok, s.Value, value)
			}
		}
		f.stmts(s.Body.List)
	})
}

// unusableMap is what of a map compiled code has no word for.
func (h host) unusableMap(m *types.Map, within []types.Type) (bad types.Type, why string) {
	if b, ok := m.Key().Underlying().(*types.Basic); !ok || b.Info()&(types.IsBoolean|types.IsNumeric|types.IsString) == 0 {
		return m, "the keys of its maps are numbers, bools or strings"
	}
	if bad, why := unusable(h, m.Key(), within); bad != nil {
		return bad, why
	}
	return unusable(h, m.Elem(), within)
}

// storesInMap says whether a use of a map stores pointers in it.
func (c HostCall) storesInMap() bool {
	return c.Map != nil && c.Name == MapSet && slices.ContainsFunc(c.Params[1:], hasPointers)
}
