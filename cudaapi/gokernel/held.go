package gokernel

import (
	"bytes"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"sync"
	"time"

	"gocuda/cudaapi/gokernel/ir"
)

// Compiled code for the host holds values that it cannot use: interfaces, structs of other
// packages, and in structs of cells also functions, channels and whatever else is one
// word or a few. They are copied, and compared with nil. So one such field keeps no loop
// interpreted that does not touch it.

// layouts are the structs of other packages of which it is known how they lie in memory.
var layouts = map[string]reflect.Type{
	"bytes.Buffer": reflect.TypeFor[bytes.Buffer](), "strings.Builder": reflect.TypeFor[strings.Builder](),
	"sync.Mutex": reflect.TypeFor[sync.Mutex](), "sync.Once": reflect.TypeFor[sync.Once](), "sync.RWMutex": reflect.TypeFor[sync.RWMutex](), "sync.WaitGroup": reflect.TypeFor[sync.WaitGroup](),
	"time.Time": reflect.TypeFor[time.Time](),
}

// Layout is a struct of another package as it lies in memory; nil if that is not known.
func Layout(t types.Type) reflect.Type {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return nil
	}
	return layouts[n.Obj().Pkg().Path()+"."+n.Obj().Name()]
}

// holds says whether the host has values of a type that it cannot use. Those of a field
// need not be usable, if their size is known without what they are made of.
func (host) holds(t types.Type, within []types.Type) bool {
	if types.IsInterface(t) || Layout(t) != nil {
		return true
	}
	if len(within) == 0 {
		return false
	}
	if _, field := within[len(within)-1].Underlying().(*types.Struct); !field {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer || u.Kind() == types.Uintptr
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature:
		return true
	}
	return false
}

// heldWords is of how many words a value is that can only be held; 0 of another.
func heldWords(t types.Type) int {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return 2
	case *types.Signature, *types.Chan:
		return 1
	case *types.Basic:
		if u.Kind() == types.UnsafePointer || u.Kind() == types.Uintptr {
			return 1
		}
	}
	return 0
}

// isComparable says whether compiled code compares values of a type.
func isComparable(t types.Type) bool {
	if heldWords(t) > 0 || Layout(t) != nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return isComparable(u.Elem())
	case *types.Struct:
		for v := range u.Fields() {
			if !isComparable(v.Type()) {
				return false
			}
		}
	}
	return true
}

// withNil is a comparison with nil of what compiled code may not use otherwise; nil if
// this is none.
func (f *fn) withNil(e *ast.BinaryExpr) ir.Expr {
	x := e.X
	if f.u.info.Types[x].IsNil() {
		x = e.Y
	} else if !f.u.info.Types[e.Y].IsNil() {
		return nil
	}
	t := f.typeOf(x)
	if _, slice := t.Underlying().(*types.Slice); !slice && heldWords(t) == 0 {
		return nil
	}
	var value ir.Expr
	if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok && f.u.info.Selections[sel] != nil && f.u.info.Selections[sel].Kind() == types.FieldVal {
		value = f.path(f.expr(sel.X), f.u.info.Selections[sel].Index(), sel)
	} else {
		value = f.expr(x)
	}
	if _, ok := value.(*ir.FuncRef); ok {
		return nil
	}
	return &ir.Pure{Name: map[bool]string{true: "is_nil", false: "not_nil"}[e.Op == token.EQL], Args: []ir.Expr{value}, T: f.typeOf(e)}
}

// builderMethods are those of strings.Builder that are written in C++ (memory.h), with the
// results that they have there.
var builderMethods = map[string]types.BasicKind{
	"WriteByte": types.Invalid, "WriteString": types.Invalid, "WriteRune": types.Invalid, "Reset": types.Invalid, "String": types.String, "Len": types.Int,
}

const builderPrefix = "builder_"

// builder calls a method of strings.Builder.
func (f *fn) builder(e *ast.CallExpr, o *types.Func) (results []ir.Expr, ok bool) {
	sel, is := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	kind, known := builderMethods[o.Name()]
	if !is || !known || o.Signature().Recv() == nil || !isBuilder(o.Signature().Recv().Type()) || kind == types.Invalid && !f.dropped(e) {
		return nil, false
	}
	s := f.u.info.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal {
		return nil, false
	}
	_, _, b := f.receiver(sel, s, f.expr(sel.X))
	return f.builds(e, o.Name(), kind, b, f.args(e, o.Signature())), true
}

// isBuilder says whether a type is *strings.Builder.
func isBuilder(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && Layout(p.Elem()) == layouts["strings.Builder"]
}

// builds calls a method of the builder at b.
func (f *fn) builds(at ast.Node, name string, kind types.BasicKind, b ir.Expr, args []ir.Expr) (results []ir.Expr) {
	b = f.stable(b)
	if _, ok := b.(*ir.Addr); !ok {
		f.emit(&ir.Check{Kind: ir.NonNil, Args: []ir.Expr{b}, Pos: at.Pos()})
	}
	x := &ir.Effect{Name: builderPrefix + strings.ToLower(name), Args: []ir.Expr{b}, T: types.Typ[types.Uint8], Pos: at.Pos()}
	for _, a := range args {
		x.Args = append(x.Args, f.temp(a))
	}
	if kind != types.Invalid {
		x.Dst = f.local("t", types.Typ[kind])
		f.emit(&ir.Define{Var: x.Dst, Init: &ir.Zero{T: x.Dst.Type}})
		results = []ir.Expr{&ir.Ref{Var: x.Dst}}
	} else { // a copy of one that has text
		copied := f.local("t", types.Typ[types.Bool])
		f.emit(&ir.Define{Var: copied, Init: boolConst(false)})
		f.emit(&ir.Effect{Dst: copied, Name: builderPrefix + "copied", Args: []ir.Expr{b}, T: types.Typ[types.Uint8], Pos: at.Pos()})
		f.emit(&ir.If{Cond: &ir.Ref{Var: copied},
			Then: []ir.Stmt{&ir.Panic{Text: "strings: illegal use of non-zero Builder copied by value", Pos: at.Pos()}}})
	}
	f.emit(x)
	return results
}

// printsToBuilder is fmt.Fprint and its like to a builder, whose results are dropped.
func (f *fn) printsToBuilder(e *ast.CallExpr, o *types.Func) bool {
	name, ok := strings.CutPrefix(o.Name(), "F")
	if !ok || o.Pkg().Path() != "fmt" || !f.dropped(e) || len(e.Args) == 0 || !isBuilder(f.typeOf(e.Args[0])) {
		return false
	}
	b := f.temp(f.expr(e.Args[0]))
	sig := o.Signature()
	var params []*types.Var
	for i := 1; i < sig.Params().Len(); i++ {
		params = append(params, sig.Params().At(i))
	}
	rest := types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), nil, true)
	c := HostCall{Package: "fmt", Name: "Sp" + name[1:], Results: []types.Type{types.Typ[types.String]}}
	text, ok := f.callOutside(&ast.CallExpr{Fun: e.Fun, Args: e.Args[1:], Ellipsis: e.Ellipsis, Rparen: e.Rparen}, c, rest)
	if ok {
		f.builds(e, "WriteString", types.Invalid, b, text)
	}
	return ok
}
