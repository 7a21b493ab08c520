package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"gocuda/cudaapi/gokernel/osr"
)

// manyElements is how many elements a call is given that is worth compiling before it runs:
// to sort so many with a function of a cell takes as long as the compiler does.
const manyElements = 2000

// longCall lowers a statement that calls a function of the library with a slice and a function
// of the cell, such as slices.SortFunc or sort.Slice. It can go on in a compiled form as a loop of
// one iteration would. It is false for other statements.
func (f *fn) longCall(s *ast.ExprStmt, call *ast.CallExpr) bool {
	o := f.calledFunc(call)
	if f.l.Loops == nil || o == nil || o.Pkg() == nil || !f.l.hostPkg(o.Pkg()) || !f.hasSource(o) || !takesFunction(o.Signature()) || !isField(call.Args[0]) {
		return false
	}
	if _, ok := f.typeOf(call.Args[0]).Underlying().(*types.Slice); !ok {
		return false
	}
	once := []ast.Stmt{s, &ast.BranchStmt{TokPos: s.Pos(), Tok: token.BREAK}}
	loop := &ast.ForStmt{For: s.Pos(), Body: &ast.BlockStmt{Lbrace: s.Pos(), List: once, Rbrace: s.End()}}
	e := f.osrEntryOf(loop, "")
	if e == nil || e.never {
		return false
	}
	e.Call = true
	many := f.spill(f.expr(call.Args[0]))
	f.declares(e)
	f.emit("if (loops[%d] || len(%s) >= %d)%s {", e.number, many, manyElements, f.unwatched())
	e.enter(f)
	f.emit("}")
	f.inside(e, func() { f.emit("%s", f.call(call)) })
	return true
}

// hasSource says whether compiled code has a function of the library from its source.
func (f *fn) hasSource(o *types.Func) bool {
	if typed := osr.Typed(o); typed != nil {
		o = typed
	}
	return f.l.declOf(o.Origin()) != nil
}

// takesFunction says whether the last parameter is a function.
func takesFunction(sig *types.Signature) bool {
	n := sig.Params().Len()
	if n < 2 {
		return false
	}
	_, ok := sig.Params().At(n - 1).Type().Underlying().(*types.Signature)
	return ok
}

// isField says whether an expression is a variable or a field of one.
func isField(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return isField(e.X)
	}
	return false
}
