package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"gocuda/kernel/golang/host/trait"
)

func (f *fn) block(list []ast.Stmt) {
	for _, s := range list {
		f.stmt(s)
	}
}

// clause writes the statements of a case. The interpreter looks for labels in
// blocks only.
func (f *fn) clause(list []ast.Stmt) {
	labelled := slices.IndexFunc(list, func(s ast.Stmt) bool { _, ok := s.(*ast.LabeledStmt); return ok })
	if labelled < 0 {
		f.block(list)
		return
	}
	// What falls through does so outside of the block, its label being in it.
	var labels []string
	last := list[len(list)-1]
	for l, ok := last.(*ast.LabeledStmt); ok; l, ok = last.(*ast.LabeledStmt) {
		labels = append(labels, l.Label.Name)
		last = l.Stmt
	}
	branch, ok := last.(*ast.BranchStmt)
	if !ok || branch.Tok != token.FALLTHROUGH {
		f.braces(list)
		return
	}
	f.emit("{")
	f.block(list[:len(list)-1])
	for _, name := range labels {
		f.emit("%s_g:", f.labelName(name))
		f.emit("{}")
	}
	f.emit("}")
	f.stmt(last)
}

func (f *fn) braces(list []ast.Stmt) {
	f.emit("{")
	f.block(list)
	f.emit("}")
}

func (f *fn) stmt(s ast.Stmt) {
	defer f.touched(s)()
	switch s.(type) {
	case *ast.BlockStmt, *ast.LabeledStmt, *ast.EmptyStmt, *ast.DeclStmt, *ast.ForStmt:
	default:
		f.stopBefore(s)
	}
	switch s.(type) {
	case *ast.BlockStmt, *ast.LabeledStmt, *ast.EmptyStmt, *ast.DeclStmt, *ast.BranchStmt, *ast.ForStmt, *ast.SelectStmt:
	default:
		f.positioned(s, func() { f.statement(s) })
		return
	}
	f.statement(s)
}

// positioned lowers a node and notes, if it can panic, that execution is there.
func (f *fn) positioned(n ast.Node, step func()) {
	f.where = f.position(n)
	panics, indexes := f.canPanic(n)
	if panics {
		f.at(n)
	}
	if panics || !indexes {
		step()
		return
	}
	outer := f.unchecked
	f.unchecked = false
	made := f.captured(step)
	if f.unchecked {
		f.at(n)
	}
	f.add(made)
	f.unchecked = f.unchecked || outer
}

func (f *fn) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.EmptyStmt:
		if fun := f.l.starts[s]; fun != "" {
			f.where = 0
			f.calls(fun)
			f.emit("%s()", fun)
		}
	case *ast.BlockStmt:
		f.braces(s.List)
	case *ast.ExprStmt:
		f.exprStmt(s)
	case *ast.AssignStmt:
		f.assign(s)
	case *ast.IncDecStmt:
		f.incDec(s)
	case *ast.DeclStmt:
		f.declStmt(s)
	case *ast.ReturnStmt:
		f.returnStmt(s)
	case *ast.IfStmt:
		f.ifStmt(s)
	case *ast.ForStmt:
		f.forStmt(s, "")
	case *ast.RangeStmt:
		f.rangeStmt(s, "")
	case *ast.SwitchStmt:
		f.switchStmt(s, "")
	case *ast.TypeSwitchStmt:
		f.typeSwitch(s, "")
	case *ast.SelectStmt:
		f.selectStmt(s, "")
	case *ast.LabeledStmt:
		f.labeled(s)
	case *ast.BranchStmt:
		f.branch(s)
	case *ast.SendStmt:
		p := f.send(s)
		// The interpreter must see what kind of channel it is.
		t := coreType(p[0].typ).(*types.Chan)
		if plain := types.NewChan(t.Dir(), t.Elem()); f.l.rep(plain) != f.l.rep(p[0].typ) {
			p[0] = f.hold(f.l.converted(plain, p[0]))
		} else if !p[0].is(opName, opGlobal) {
			p[0] = f.hold(typed(p[0], plain))
		}
		f.emit("%s <- %s", p[0], p[1])
		f.pollBlocked()
	case *ast.GoStmt:
		f.emit("%s", f.l.runtime(nil, "Go", f.thunk(s.Call)))
	case *ast.DeferStmt:
		f.deferStmt(s)
	default:
		panic(f.bug(s, "cannot lower this statement"))
	}
}

func (f *fn) exprStmt(s *ast.ExprStmt) {
	if f.top && f.topStmt(s) {
		return
	}
	switch e := ast.Unparen(s.X).(type) {
	case *ast.CallExpr:
		if f.dropsError(e) || f.longCall(s, e) {
			return
		}
		x := f.call(e)
		tv := f.info.Types[ast.Unparen(e.Fun)]
		if !f.info.Types[e].IsVoid() && (tv.IsType() || tv.IsBuiltin()) {
			f.emit("_ = %s", x)
			return
		}
		f.emit("%s", x)
		f.pollAfter(e)
	case *ast.UnaryExpr:
		if e.Op == token.ARROW {
			f.emit("<-%s", f.expr(e.X))
			f.pollBlocked()
			return
		}
		f.emit("_ = %s", f.expr(e))
	default:
		f.emit("_ = %s", f.expr(e))
	}
}

// pollAfter lets an interrupt in after a call that may have blocked.
func (f *fn) pollAfter(e *ast.CallExpr) {
	o := f.calledFunc(e)
	if o != nil && o.Pkg() != nil && !f.l.host.Traits(o).Has(trait.Prompt) && f.l.hostPkg(o.Pkg()) && f.l.declOf(o.Origin()) == nil {
		f.pollBlocked()
	}
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func isArray(t types.Type) bool {
	_, ok := t.Underlying().(*types.Array)
	return ok
}

func isSlice(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

func (f *fn) ifStmt(s *ast.IfStmt) {
	if f.ifFails(s) {
		return
	}
	if s.Init != nil {
		f.emit("{")
		f.stmt(s.Init)
		defer f.emit("}")
	}
	f.emit("if %s {", f.expr(s.Cond))
	f.block(s.Body.List)
	if s.Else == nil {
		f.emit("}")
		return
	}
	f.emit("} else {")
	switch e := s.Else.(type) {
	case *ast.BlockStmt:
		f.block(e.List)
	default:
		f.stmt(e)
	}
	f.emit("}")
}
