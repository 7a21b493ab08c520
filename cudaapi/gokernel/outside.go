package gokernel

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// Compiled code for the host calls functions of Go's library, and print and println, in
// the middle of a call, as it asks for memory: numbers, bools and strings are given, and
// come back. So a loop that prints now and then, or draws random numbers, is compiled.

// HostCall is a call of a function that is not part of the code.
type HostCall struct {
	Package string // "" of print and println
	Name    string
	Map     *types.Map   // of a use of a map, which is its name: the MapUse that maps.go lists
	Params  []types.Type // of the arguments, one by one
	Results []types.Type // fewer than those of the function if they are dropped
	Must    bool         // the function's last result is an error, which must takes

	// Of a use of a dynamic type, which is its name: the DynamicUse that interfaces.go lists.
	Dynamic   bool
	Of, Iface types.Type
	Method    *types.Func
}

// MustPackage and BuiltinPackage are where must and check are declared, which fail a cell.
const (
	MustPackage    = "gocuda/must"
	BuiltinPackage = "gocuda/builtin"
)

// outsidePackages are the packages of which functions are called: they end soon, end no
// goroutine, and keep nothing that they are given.
var outsidePackages = []string{"fmt", "math/rand", "math/rand/v2", "strconv", "strings", "unicode", "unicode/utf8", BuiltinPackage}

// sourcePackages are those whose generic functions are compiled with what calls them.
var sourcePackages = []string{"cmp", "maps", "slices", "sort"}

// HasSource says whether the generic functions of a package are compiled as those of cells are.
func HasSource(path string) bool { return slices.Contains(sourcePackages, path) }

// callsPackage says whether code for the host calls functions of a package of the library:
// those that are written in C++ too, those that are called in Go, and generic ones.
func callsPackage(path string) bool {
	return HasSource(path) || slices.Contains([]string{"math", "math/bits", "math/cmplx", MustPackage}, path) || slices.Contains(outsidePackages, path)
}

// outsidePrints are those of package fmt.
var outsidePrints = []string{"Print", "Printf", "Println", "Sprint", "Sprintf", "Sprintln", "Errorf"}

// outside calls a function of the library, and is false if it is none that can be.
func (f *fn) outside(e *ast.CallExpr, o *types.Func) (results []ir.Expr, ok bool) {
	if o.Pkg() != nil && o.Pkg().Path() == MustPackage {
		return f.mustOutside(e), true
	}
	sig := o.Signature()
	if !isOutside(o) {
		return nil, false
	}
	c := HostCall{Package: o.Pkg().Path(), Name: o.Name()}
	switch n := sig.Results().Len(); {
	case !f.dropped(e):
		for r := range sig.Results().Variables() {
			c.Results = append(c.Results, r.Type())
		}
	case n > 0 && isError(sig.Results().At(n-1).Type()) && c.Package != "fmt":
		f.fail(e, "%s cannot drop an error in compiled code: take it, or write must around the call", types.ExprString(e.Fun))
	}
	if c.Package == BuiltinPackage && c.Name == "check" {
		return nil, f.checkOutside(e, c, sig)
	}
	return f.callOutside(e, c, sig)
}

// isOutside says whether a function may be called that is not part of the code.
func isOutside(o *types.Func) bool {
	if o.Pkg() == nil || !slices.Contains(outsidePackages, o.Pkg().Path()) || o.Signature().Recv() != nil || o.Signature().TypeParams().Len() > 0 {
		return false
	}
	return o.Pkg().Path() != "fmt" || slices.Contains(outsidePrints, o.Name())
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// mustOutside is must around a call of a function of the library: no error comes into
// compiled code.
func (f *fn) mustOutside(e *ast.CallExpr) []ir.Expr {
	if inner, ok := ast.Unparen(e.Args[0]).(*ast.CallExpr); ok && len(e.Args) == 1 {
		if o := f.funcOf(ast.Unparen(inner.Fun)); o != nil && isOutside(o) {
			c := HostCall{Package: o.Pkg().Path(), Name: o.Name(), Must: true}
			if list := o.Signature().Results(); !f.dropped(e) {
				for i := range list.Len() - 1 {
					c.Results = append(c.Results, list.At(i).Type())
				}
			}
			call := &ast.CallExpr{Fun: e.Fun, Args: inner.Args, Ellipsis: inner.Ellipsis, Rparen: e.Rparen} // which is where must is
			if results, ok := f.callOutside(call, c, o.Signature()); ok {
				return results
			}
		}
	}
	f.fail(e, "must of this cannot be in compiled code")
	return nil
}

// checkOutside calls check only where that fails the cell.
func (f *fn) checkOutside(e *ast.CallExpr, c HostCall, sig *types.Signature) (ok bool) {
	list := f.within(func() { _, ok = f.callOutside(e, c, sig) })
	if !ok {
		return false
	}
	last := len(list) - 1
	for _, s := range list[:last] {
		f.emit(s)
	}
	call := list[last].(*ir.Call)
	f.emit(&ir.If{Cond: &ir.Unary{Op: token.NOT, X: call.Args[0], T: types.Typ[types.Bool]}, Then: []ir.Stmt{call}})
	return true
}

// printOutside is print and println.
func (f *fn) printOutside(e *ast.CallExpr, name string) (results []ir.Expr, ok bool) {
	return f.callOutside(e, HostCall{Name: name}, nil)
}

// callOutside is false if a value is given, or comes back, that compiled code has no
// word for. sig is nil of what takes anything.
func (f *fn) callOutside(e *ast.CallExpr, c HostCall, sig *types.Signature) (results []ir.Expr, ok bool) {
	if e.Ellipsis.IsValid() {
		return nil, false
	}
	for i, a := range e.Args {
		t := types.Default(f.subst.of(f.u.info.TypeOf(a)))
		if sig != nil && i < sig.Params().Len() && !(sig.Variadic() && i == sig.Params().Len()-1) {
			t = sig.Params().At(i).Type()
		} else if sig != nil {
			if s, ok := sig.Params().At(sig.Params().Len() - 1).Type().(*types.Slice); ok && !types.IsInterface(s.Elem()) {
				t = s.Elem()
			}
		}
		c.Params = append(c.Params, t)
	}
	if slices.ContainsFunc(c.Params, func(t types.Type) bool { return !isPlain(t) }) || slices.ContainsFunc(c.Results, func(t types.Type) bool { return !isPlain(t) && !isError(t) }) {
		return nil, false
	}
	g := f.u.outsideFunc(c.Name, c, e.Pos())
	var params, rs []*types.Var
	for _, t := range c.Params {
		params = append(params, types.NewParam(e.Pos(), nil, "", t))
	}
	for _, t := range c.Results {
		rs = append(rs, types.NewParam(e.Pos(), nil, "", t))
	}
	return f.invoke(e, &ir.Call{Func: g}, nil, types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), types.NewTuple(rs...), false)), true
}

// isPlain says whether values of a type are the same for whoever looks at them: it has
// no name of the cell's, and no methods.
func isPlain(t types.Type) bool {
	b, ok := types.Unalias(t).(*types.Basic)
	return ok && b.Info()&(types.IsBoolean|types.IsNumeric|types.IsString) != 0 && b.Info()&types.IsUntyped == 0 && b.Kind() != types.Uintptr
}

// dropped says whether nobody takes the results of a call.
func (f *fn) dropped(e *ast.CallExpr) bool { return f.u.statement == e }

// outsideCall is a function of the program in place of one that is not part of it.
type outsideCall struct {
	fun  *ir.Func
	call HostCall
}

// outsideFunc adds a function in place of one that is not part of the code.
func (u *unit) outsideFunc(name string, c HostCall, pos token.Pos) *ir.Func {
	g := &ir.Func{Name: u.unique("outside_" + name), Go: c.Name, Results: c.Results, Pos: pos, Called: true, Outside: true}
	for i, t := range c.Params {
		g.Params = append(g.Params, &ir.Var{Name: fmt.Sprintf("a%d", i), Type: t})
	}
	u.host.outside = append(u.host.outside, outsideCall{g, c})
	u.prog.Funcs = append(u.prog.Funcs, g)
	return g
}

// outsideFunc writes the function that stands for call n.
func (p *printer) outsideFunc(f *ir.Func, n int) {
	if p.dynamicFunc(f, n, p.host.outside[n].call) {
		return
	}
	p.panics[f] = true
	p.line("")
	p.head(f)
	p.line("    struct {")
	var args []string
	for i, v := range f.Params {
		p.line("        %s a%d;", p.typ(v.Type), i)
		args = append(args, v.Name)
	}
	for i, t := range f.Results {
		p.line("        %s r%d;", p.typ(t), i)
		args = append(args, p.expr(&ir.Zero{T: t}))
	}
	if len(args) == 0 {
		p.line("        u8 none;")
	}
	p.line("    } frame = {%s};", strings.Join(args, ", "))
	if p.host.outside[n].call.callsBack() {
		p.line("    go.told = true;")
	}
	p.line("    go::outside(go, %d, %d, &frame);", n, p.hostSite(HostSite{Pos: p.fset.Position(f.Pos), What: Outside}))
	switch len(f.Results) {
	case 0:
	case 1:
		p.line("    return frame.r0;")
	default:
		var list []string
		for i := range f.Results {
			list = append(list, fmt.Sprintf("frame.r%d", i))
		}
		p.line("    return {%s};", strings.Join(list, ", "))
	}
	p.line("}")
}
