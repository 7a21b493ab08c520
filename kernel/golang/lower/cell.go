package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"gocuda/kernel/golang/host/trait"
	"gocuda/kernel/golang/rt"
)

// Body lowers the statements of a cell to a function and returns its name.
// Package variables that they declare keep their values for later cells. The
// values of show, the cell's last expression, are given to rt.Show; if it is
// several, those are the elements of a slice literal.
func (l *Lowerer) Body(info *types.Info, cell string, list []ast.Stmt, show ast.Expr, several bool) string {
	f := l.newFn(info, cell, "")
	f.top, f.sig, f.user = true, new(types.Signature), true
	if show != nil {
		list = append(list[:len(list):len(list)], &ast.ExprStmt{X: show})
		f.show, f.several = show, several
	}
	body := &ast.BlockStmt{List: list}
	name := BodyName(l.Slot)
	f.pos = "p_" + name
	if !l.bodyPos[name] {
		put(l, l.bodyPos, name, true)
		fmt.Fprintf(&l.types, "var %s int\n", f.pos)
	}
	f.analyze(nil, types.NewTuple(), body)
	made, header := f.function(nil, f.sig, token.NoPos, body)
	l.write(name, header, made)
	f.register(name, f.frame != nil, "")
	return name
}

// BodyName is the name in lowered code of the statements of a cell that runs in a
// slot; no two cells run in one at a time.
func BodyName(slot int) string {
	if slot == 0 {
		return "body"
	}
	return fmt.Sprintf("body_%d", slot)
}

// isPackageLevel says whether a variable outlives the cell's statements.
func isPackageLevel(o types.Object) bool {
	return o.Pkg() != nil && o.Parent() == o.Pkg().Scope()
}

// topStmt writes a bare call at a cell's outer level: an error that it
// returns last is not dropped. It reports whether the statement was one.
func (f *fn) topStmt(s *ast.ExprStmt) bool {
	l := f.l
	e := ast.Unparen(s.X)
	shows := f.isShown(s.X)
	call, isCall := e.(*ast.CallExpr)
	if !shows && !isCall {
		return false
	}
	if isCall && f.info.Types[call.Fun].IsVoid() {
		return false
	}
	var t types.Type
	if isCall && f.info.Types[e].IsVoid() {
		return false
	}
	if list, ok := e.(*ast.CompositeLit); ok && shows && f.several {
		args := make([]lowering, len(list.Elts))
		for i, x := range list.Elts {
			args[i] = func() *expr { return f.to(x, anyType) }
		}
		f.showValues(f.exprs(args...))
		return true
	}
	if f.isNil(e) {
		f.showValues([]*expr{literal("nil", nil)})
		return true
	}
	t = f.typeOf(e)
	tup, _ := t.(*types.Tuple)
	if tup == nil {
		tup = types.NewTuple(types.NewVar(0, nil, "", t))
	}
	n := tup.Len()
	if n == 0 {
		return false
	}
	hasError := isCall && types.Identical(tup.At(n-1).Type(), errType) && !f.info.Types[call.Fun].IsType()
	if !shows && !hasError {
		return false
	}
	var values []*expr
	switch {
	case n == 1 && hasError:
		values = []*expr{f.errorOf(e)}
	case n == 1:
		values = []*expr{f.spillAlways(f.typedExpr(e))}
	default:
		values = f.multi(e)
	}
	if hasError {
		f.emit("if %s != nil { %s }", values[n-1], l.runtime(nil, "Fail", values[n-1]))
		n--
	}
	if !shows || n == 0 || isCall && f.l.IsQuiet(f.info, call) {
		for _, v := range values[:n] {
			f.emit("_ = %s", v)
		}
		return true
	}
	shown := make([]*expr, n)
	for i, x := range values[:n] {
		shown[i] = f.toAny(typed(x, types.Default(x.typ)))
	}
	f.showValues(shown)
	return true
}

// errorOf evaluates a call whose one result is an error.
func (f *fn) errorOf(e ast.Expr) *expr {
	x := f.expr(e)
	err := f.failure(x)
	if err == nil {
		err = f.temp(errType)
		if f.hoist(err.text, errType) {
			f.emit("%s = %s", err, x)
		} else {
			f.emit("%s := %s", err, x)
		}
	}
	return err
}

// dropsError writes a bare call in a function of a cell whose last result is an
// error: one that is not nil is reported. It reports whether the statement was one.
func (f *fn) dropsError(call *ast.CallExpr) bool {
	if f.l.program || !strings.HasPrefix(f.name, "main.") && !strings.HasPrefix(f.name, "func") {
		return false
	}
	if tv := f.info.Types[ast.Unparen(call.Fun)]; tv.IsType() || tv.IsBuiltin() || f.info.Types[call].IsVoid() || f.l.IsQuiet(f.info, call) {
		return false
	}
	t := f.typeOf(call)
	var values []*expr
	switch tup, several := t.(*types.Tuple); {
	case !several && types.Identical(t, errType):
		values = []*expr{f.errorOf(call)}
	case several && tup.Len() > 1 && types.Identical(tup.At(tup.Len()-1).Type(), errType):
		values = f.multi(call)
	default:
		return false
	}
	last := len(values) - 1
	for _, v := range values[:last] {
		f.emit("_ = %s", v)
	}
	f.emit("if %s != nil { %s }", values[last], f.l.runtime(nil, "Dropped", values[last]))
	f.pollAfter(call)
	return true
}

// showValues has the runtime show what is in interfaces.
func (f *fn) showValues(values []*expr) {
	f.emit("%s", f.l.runtime(nil, "Show", spread(f.l.list(anyType, values...))))
}

func (f *fn) isShown(e ast.Expr) bool { return f.show != nil && f.show == e }

// IsQuiet says whether nobody wants to see what a call returns: the number of bytes that
// fmt wrote, the size of a copy.
func (l *Lowerer) IsQuiet(info *types.Info, call *ast.CallExpr) bool {
	id := calledName(call.Fun)
	if id == nil {
		return false
	}
	o := info.Uses[id]
	_, builtin := o.(*types.Builtin)
	return builtin && o.Name() == "copy" || l.host.Traits(o).Has(trait.Quiet)
}

// Program lowers a whole package: its variables in the checker's order, its
// init functions and main. It returns the function that runs it.
func (l *Lowerer) Program(info *types.Info, cell string, inits []*types.Func, main *types.Func) string {
	f := l.newFn(info, cell, "main.init")
	f.sig, f.user = new(types.Signature), true
	f.shared.boxed = make(map[types.Object]bool)
	f.debugBegin()
	for _, in := range info.InitOrder {
		f.stop(in.Lhs[0].Pos())
		f.at(in.Rhs)
		f.packageVar(in)
	}
	for _, fun := range inits {
		f.emit("%s()", l.Want(fun))
	}
	f.debugEnd(nil)
	if main != nil {
		f.emit("%s()", l.Want(main))
	}
	name := l.fresh("body")
	l.write(name, header{}, f.out)
	l.rt.AddFunc(name, &rt.Func{Hidden: true})
	return name
}

// packageVar initializes variables of a package.
func (f *fn) packageVar(in *types.Initializer) {
	f.analyzeExpr(in.Rhs)
	store := func(v *types.Var, x *expr) {
		if v.Name() == "_" {
			f.emit("_ = %s", x)
			return
		}
		f.emit("%s = %s", f.l.Global(v), f.settled(x))
	}
	if len(in.Lhs) == 1 {
		store(in.Lhs[0], f.to(in.Rhs, in.Lhs[0].Type()))
		return
	}
	values := f.multi(in.Rhs)
	for i, v := range in.Lhs {
		store(v, f.convert(values[i], v.Type()))
	}
}

// analyzeExpr prepares the literals in an expression outside of functions.
func (f *fn) analyzeExpr(e ast.Expr) {
	boxed := f.shared.boxed
	f.analyze(nil, types.NewTuple(), &ast.BlockStmt{List: []ast.Stmt{&ast.ExprStmt{X: e}}})
	for o := range boxed {
		f.shared.boxed[o] = true
	}
}
