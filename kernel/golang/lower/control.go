package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// target is a statement that break or continue can mean.
type target struct {
	label string
	loop  bool
	head  token.Pos // of a range loop, to which the debugger comes back
}

// enter makes a statement the target of break and continue while body runs.
func (f *fn) enter(label string, loop bool, body func()) {
	f.breakTo = append(f.breakTo, target{label: label, loop: loop})
	body()
	f.breakTo = f.breakTo[:len(f.breakTo)-1]
}

// labeled writes a labelled statement.
func (f *fn) labeled(s *ast.LabeledStmt) {
	name := s.Label.Name
	l := f.labelName(name)
	f.emit("%s_g:", l)
	switch s.Stmt.(type) {
	case *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		f.stopBefore(s.Stmt)
	}
	switch st := s.Stmt.(type) {
	case *ast.ForStmt:
		f.forStmt(st, name)
	case *ast.RangeStmt:
		f.at(st)
		f.rangeStmt(st, name)
	case *ast.SwitchStmt:
		f.at(st)
		f.switchStmt(st, name)
	case *ast.TypeSwitchStmt:
		f.at(st)
		f.typeSwitch(st, name)
	case *ast.SelectStmt:
		f.selectStmt(st, name)
	case *ast.LabeledStmt: // the interpreter loses all but the last label of a statement
		f.emit("{}")
		f.labeled(st)
	case *ast.EmptyStmt: // the interpreter would lose the label to the next one
		f.emit("{}")
	default:
		f.stop(s.Pos())
		f.stmt(st)
	}
}

func (f *fn) labelName(name string) string {
	l, ok := f.labels[name]
	if !ok {
		l = f.l.fresh("L")
		f.labels[name] = l
	}
	return l
}

// head writes a label in front of the statement that break and continue mean.
func (f *fn) head(label string) string {
	if label == "" {
		return ""
	}
	return f.labelName(label) + ": "
}

func (f *fn) forStmt(s *ast.ForStmt, label string) {
	f.emit("{")
	defer f.emit("}")
	if s.Init == nil && s.Cond == nil {
		f.stop(s.Pos())
	}
	var shared []*local
	if s.Init != nil {
		f.stmt(s.Init)
		if d, ok := s.Init.(*ast.AssignStmt); ok && d.Tok == token.DEFINE {
			for _, x := range d.Lhs {
				if id, ok := x.(*ast.Ident); ok {
					if o := f.info.Defs[id]; o != nil && f.vars[o] != nil && f.vars[o].boxed {
						shared = append(shared, f.vars[o])
					}
				}
			}
		}
	}
	f.loop(s, func() {
		e := f.osrEntryOf(s, label)
		f.around(e, nil, func() { f.forLoop(s, label, shared, e) })
	})
}

// forLoop lowers a for statement whose first part is done. shared are its
// variables that closures share.
func (f *fn) forLoop(s *ast.ForStmt, label string, shared []*local, e *osrEntry) {
	var cond *expr
	var pre, post code
	early := e != nil && e.Early
	if s.Cond != nil {
		pre = f.captured(func() { f.stop(s.Pos()); f.positioned(s.Cond, func() { cond = f.expr(s.Cond) }) })
	}
	if s.Post != nil {
		post = f.captured(func() { f.stmt(s.Post) })
	}
	if len(shared) == 0 && len(post) <= 1 {
		head, last := "", ""
		if cond != nil && len(pre) == 0 && !early {
			head, cond = cond.String(), nil
		}
		if len(post) == 1 {
			last = post[0].String()
		}
		f.emit("%sfor ; %s; %s {", f.head(label), head, last)
	} else {
		// Each iteration has loop variables of its own.
		first := f.temp(boolType)
		f.emit("%s := true", first)
		f.emit("%sfor {", f.head(label))
		f.emit("if %s { %s = false } else {", first, first)
		for _, v := range shared {
			t := f.temp(nil)
			f.emit("%s := new(%s)", t, f.l.rep(v.typ))
			f.emit("*%s = *%s", t, v.name)
			f.emit("%s = %s", v.name, t)
			f.debugVar(v, v.name)
		}
		f.add(post)
		f.emit("}")
	}
	if early {
		f.pollLoop(s, e)
	}
	f.add(pre)
	if cond != nil {
		f.emit("if %s { break }", not(cond))
	}
	if !early {
		f.pollLoop(s, e)
	}
	f.enter(label, true, func() { f.block(s.Body.List) })
	f.emit("}")
}

// callsFunction says whether an expression calls a function, which may do something.
func (f *fn) callsFunction(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			tv := f.info.Types[ast.Unparen(c.Fun)]
			found = found || !tv.IsType() && !tv.IsBuiltin()
		}
		return !found
	})
	return found
}

// branch is break, continue, goto and fallthrough.
func (f *fn) branch(s *ast.BranchStmt) {
	switch s.Tok {
	case token.FALLTHROUGH:
		f.emit("fallthrough")
		return
	case token.GOTO:
		if f.yield != nil && !f.hasLabel(s.Label.Name) {
			f.yieldBranch(s)
			return
		}
		f.emit("goto %s_g", f.labelName(s.Label.Name))
		return
	}
	loop := s.Tok == token.CONTINUE
	for i := len(f.breakTo) - 1; i >= 0; i-- {
		t := f.breakTo[i]
		if loop && t.loop && (s.Label == nil || t.label == s.Label.Name) {
			f.stop(t.head)
		}
		if s.Label == nil && (t.loop || !loop) {
			f.emit("%s", s.Tok)
			return
		}
		if s.Label != nil && t.label == s.Label.Name {
			f.emit("%s %s", s.Tok, f.labelName(s.Label.Name))
			return
		}
	}
	if f.yield == nil {
		panic(f.bug(s, "branch to nowhere"))
	}
	if s.Label == nil || s.Label.Name == f.yield.label {
		if loop {
			f.yieldOn()
		} else {
			f.yieldExit(exitBreak)
		}
		return
	}
	f.yieldBranch(s)
}

func (f *fn) switchStmt(s *ast.SwitchStmt, label string) {
	f.emit("{")
	defer f.emit("}")
	if s.Init != nil {
		f.stmt(s.Init)
	}
	var tag *expr
	if s.Tag != nil {
		x := f.to(s.Tag, types.Default(f.typeOf(s.Tag)))
		tag = f.temp(x.typ)
		f.emit("var %s %s = %s", tag, f.l.rep(x.typ), x)
	}
	conds := make([]*expr, len(s.Body.List))
	pres := make([]code, len(s.Body.List))
	chained, fallback := false, -1
	for i, c := range s.Body.List {
		cc := c.(*ast.CaseClause)
		if cc.List == nil {
			fallback = i
			chained = chained || i < len(s.Body.List)-1 // the interpreter wants it last
			continue
		}
		pres[i] = f.captured(func() {
			for k, x := range cc.List {
				if k == 0 {
					f.stop(cc.Pos())
				}
				f.where = f.position(x)
				cond := func() *expr { return f.caseCond(tag, x) }
				if k == 0 {
					conds[i] = cond()
				} else {
					conds[i] = f.either(token.LOR, conds[i], x, cond)
				}
			}
		})
		chained = chained || len(pres[i]) > 0
	}
	if chained {
		k := f.temp(intType)
		f.emit("%s := -1", k)
		is := func(operator string, i int) *expr { return binary(k, operator, intLiteral(i), boolType) }
		for i, cond := range conds {
			if cond == nil {
				continue
			}
			f.emit("if %s < 0 {", k)
			f.atCase(s.Body.List[i : i+1])
			f.add(pres[i])
			f.emit("if %s { %s = %d }", cond, k, i)
			f.emit("}")
			conds[i] = is("==", i)
		}
		if fallback >= 0 {
			conds[fallback] = binary(is("<", 0), "||", is("==", fallback), boolType)
		}
	} else {
		f.atCase(s.Body.List)
	}
	f.emit("%sswitch {", f.head(label))
	for i, c := range s.Body.List {
		cc := c.(*ast.CaseClause)
		if conds[i] == nil {
			f.emit("default:")
		} else {
			f.emit("case %s:", conds[i])
		}
		f.enter(label, false, func() { f.clause(cc.Body) })
	}
	f.emit("}")
}

// atCase records that execution is at the first expression of some cases that can
// panic: between the cases of a switch no statement can stand.
func (f *fn) atCase(cases []ast.Stmt) {
	for _, c := range cases {
		for _, x := range c.(*ast.CaseClause).List {
			if panics, indexes := f.canPanic(x); panics || indexes {
				f.at(x)
				return
			}
		}
	}
}

// caseCond is the test of one case of a switch.
func (f *fn) caseCond(tag *expr, x ast.Expr) *expr {
	if tag == nil {
		if types.IsInterface(f.typeOf(x)) {
			return f.l.runtime(boolType, "Eq", f.toAny(f.expr(x)), toAny(literal("true", boolType)))
		}
		return f.expr(x)
	}
	if f.isNil(x) {
		return isNil(tag)
	}
	if types.IsInterface(tag.typ) || types.IsInterface(f.typeOf(x)) {
		return f.l.runtime(boolType, "Eq", f.toAny(tag), f.to(x, anyType))
	}
	return f.compare(tag, token.EQL, f.operand(x, tag.typ))
}

func (f *fn) typeSwitch(s *ast.TypeSwitchStmt, label string) {
	l := f.l
	f.emit("{")
	defer f.emit("}")
	if s.Init != nil {
		f.stmt(s.Init)
	}
	var x ast.Expr
	switch a := s.Assign.(type) {
	case *ast.ExprStmt:
		x = ast.Unparen(a.X).(*ast.TypeAssertExpr).X
	case *ast.AssignStmt:
		x = ast.Unparen(a.Rhs[0]).(*ast.TypeAssertExpr).X
	}
	v, id := f.temp(anyType), f.temp(intType)
	f.emit("var %s any = %s", v, f.toAny(f.expr(x)))
	f.emit("%s := %s", id, l.runtime(intType, "ID", v))
	f.emit("_ = %s", id)
	f.emit("%sswitch {", f.head(label))
	for _, c := range s.Body.List {
		cc := c.(*ast.CaseClause)
		if cc.List == nil {
			f.emit("default:")
		} else {
			conds := make([]string, len(cc.List))
			for i, t := range cc.List {
				if f.isNil(t) {
					conds[i] = isNil(v).String()
				} else {
					conds[i] = f.hasType(v, id, f.typeOf(t)).String()
				}
			}
			f.emit("case %s:", strings.Join(conds, " || "))
		}
		if o := f.info.Implicits[cc]; o != nil {
			t := l.subst(o.Type(), f.env)
			value := v
			if len(cc.List) == 1 && !f.isNil(cc.List[0]) {
				value = l.extract(v, t)
			} else if hasMethods(t) {
				value = l.toInterface(v, t)
			}
			f.define(o, value)
		}
		if cc.List != nil {
			f.stop(cc.Pos())
		}
		f.enter(label, false, func() { f.clause(cc.Body) })
	}
	f.emit("}")
}

// selectStmt has the runtime choose: the interpreter's own select is not safe
// in several goroutines.
func (f *fn) selectStmt(s *ast.SelectStmt, label string) {
	l := f.l
	f.emit("{")
	defer f.emit("}")
	f.at(s)
	after := make([]func(), len(s.Body.List))
	conds := make([]*expr, len(s.Body.List))
	k, v, ok := f.temp(intType), f.temp(anyType), f.temp(boolType)
	hasDefault := false
	var list []lowering
	for i, c := range s.Body.List {
		cc := c.(*ast.CommClause)
		after[i] = func() {}
		if cc.Comm == nil {
			hasDefault = true
			continue
		}
		conds[i] = binary(k, "==", intLiteral(len(list)), boolType)
		switch st := cc.Comm.(type) {
		case *ast.SendStmt:
			list = append(list, func() *expr {
				p := f.sent(st, func(x lowering) lowering { return func() *expr { return f.early(x) } })
				return l.runtime(nil, "SendCase", toAny(p[0]), toAny(p[1]))
			})
		case *ast.ExprStmt:
			list = append(list, func() *expr { return f.recvCase(st.X) })
		case *ast.AssignStmt:
			list = append(list, func() *expr { return f.recvCase(st.Rhs[0]) })
			after[i] = func() { f.received(st, v, ok) }
		}
	}
	cases := node(opComposite, "[]"+l.sym("SelectCase"), nil, f.exprs(list...)...)
	f.emit("%s, %s, %s := %s", k, v, ok, l.runtime(nil, "Select", literal(fmt.Sprint(hasDefault), boolType), spread(cases)))
	f.emit("_, _ = %s, %s", v, ok)
	f.pollBlocked()
	f.emit("%sswitch {", f.head(label))
	for i, c := range s.Body.List {
		if conds[i] == nil {
			f.emit("default:")
		} else {
			f.emit("case %s:", conds[i])
		}
		after[i]()
		f.enter(label, false, func() { f.clause(c.(*ast.CommClause).Body) })
	}
	f.emit("}")
}

// send lowers the channel and the value of a send.
func (f *fn) send(s *ast.SendStmt) []*expr {
	return f.sent(s, func(x lowering) lowering { return x })
}

func (f *fn) sent(s *ast.SendStmt, as func(lowering) lowering) []*expr {
	t := coreType(f.typeOf(s.Chan)).(*types.Chan)
	return f.exprs(as(func() *expr { return f.expr(s.Chan) }), as(func() *expr { return f.to(s.Value, t.Elem()) }))
}

// recvCase is a receive operation of a select. All operands of one are evaluated in order.
func (f *fn) recvCase(e ast.Expr) *expr {
	return f.l.runtime(nil, "RecvCase", toAny(f.early(func() *expr { return f.expr(ast.Unparen(e).(*ast.UnaryExpr).X) })))
}

// received assigns what a select received, which is in an any.
func (f *fn) received(st *ast.AssignStmt, v, ok *expr) {
	elem := coreType(f.typeOf(ast.Unparen(st.Rhs[0]).(*ast.UnaryExpr).X)).(*types.Chan).Elem()
	switch {
	case f.l.isAny(elem):
		v = typed(v, elem)
	case hasMethods(elem):
		v = f.l.toInterface(v, elem)
	default:
		v = f.l.cast(v, elem)
	}
	for j, x := range st.Lhs {
		f.set(x, []*expr{v, ok}[j], st.Tok)
	}
}

func (f *fn) defined(e ast.Expr) types.Object {
	if id, ok := e.(*ast.Ident); ok {
		return f.info.Defs[id]
	}
	return nil
}
