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
}

// enter makes a statement the target of break and continue while body runs.
func (f *fn) enter(label string, loop bool, body func()) {
	f.breakTo = append(f.breakTo, target{label, loop})
	body()
	f.breakTo = f.breakTo[:len(f.breakTo)-1]
}

// labeled writes a labelled statement.
func (f *fn) labeled(s *ast.LabeledStmt) {
	name := s.Label.Name
	l := f.labelName(name)
	f.emit("%s_g:", l)
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
	default:
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
	f.loop(s, func() { f.forLoop(s, label, shared) })
}

// forLoop writes a for statement whose first part is done. shared are its
// variables that closures share.
func (f *fn) forLoop(s *ast.ForStmt, label string, shared []*local) {
	cond, pre := "", ""
	if s.Cond != nil {
		pre = f.captured(func() { f.positioned(s.Cond, func() { cond = f.expr(s.Cond) }) })
	}
	post := ""
	if s.Post != nil {
		post = strings.TrimSuffix(f.captured(func() { f.withoutGuards(func() { f.stmt(s.Post) }) }), "\n")
	}
	switch {
	case len(shared) == 0 && !strings.Contains(post, "\n"):
		head := cond
		if pre != "" {
			head = ""
		}
		f.emit("%sfor ; %s; %s {", f.head(label), head, post)
	default:
		// Each turn has loop variables of its own.
		first := f.temp()
		f.emit("%s := true", first)
		f.emit("%sfor {", f.head(label))
		f.emit("if %s { %s = false } else {", first, first)
		for _, v := range shared {
			t := f.temp()
			f.emit("%s := new(%s)", t, v.rep[1:])
			f.emit("*%s = *%s", t, v.name)
			f.emit("%s = %s", v.name, t)
		}
		f.emit("%s", post)
		f.emit("}")
		if pre == "" && cond != "" {
			pre = "\n"
		}
	}
	if pre != "" {
		f.out.WriteString(pre)
		f.emit("if !%s { break }", paren(cond))
	}
	f.poll(s)
	f.enter(label, true, func() { f.block(s.Body.List) })
	f.emit("}")
}

func paren(s string) string {
	if isSimple(s) {
		return s
	}
	return "(" + s + ")"
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
			f.emit("return true")
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
	tag := ""
	var tagType types.Type
	if s.Tag != nil {
		tagType = types.Default(f.typeOf(s.Tag))
		v := f.temp()
		f.emit("var %s %s = %s", v, f.l.rep(tagType), f.to(s.Tag, tagType))
		tag = v
	}
	conds := make([]string, len(s.Body.List))
	pres := make([]string, len(s.Body.List))
	chained, fallback := false, -1
	for i, c := range s.Body.List {
		cc := c.(*ast.CaseClause)
		if cc.List == nil {
			fallback = i
			chained = chained || i < len(s.Body.List)-1 // the interpreter wants it last
			continue
		}
		pres[i] = f.captured(func() {
			f.withoutGuards(func() {
				nops := f.l.nops
				for k, x := range cc.List {
					cond := func() string { return f.caseCond(tag, tagType, x) }
					if k == 0 {
						conds[i] = cond()
					} else {
						conds[i] = f.either(token.LOR, conds[i], f.l.nops > nops, cond)
					}
				}
			})
		})
		chained = chained || pres[i] != ""
	}
	if chained {
		k := f.temp()
		f.emit("%s := -1", k)
		for i := range conds {
			if conds[i] == "" {
				continue
			}
			f.emit("if %s < 0 {\n%sif %s { %s = %d }\n}", k, pres[i], conds[i], k, i)
			conds[i] = fmt.Sprintf("%s == %d", k, i)
		}
		if fallback >= 0 {
			conds[fallback] = fmt.Sprintf("%s < 0 || %s == %d", k, k, fallback)
		}
	}
	f.emit("%sswitch {", f.head(label))
	for i, c := range s.Body.List {
		cc := c.(*ast.CaseClause)
		if conds[i] == "" {
			f.emit("default:")
		} else {
			f.emit("case %s:", conds[i])
		}
		f.enter(label, false, func() { f.clause(cc.Body) })
	}
	f.emit("}")
}

// caseCond writes the test of one case of a switch.
func (f *fn) caseCond(tag string, tagType types.Type, x ast.Expr) string {
	if tag == "" {
		if t := f.typeOf(x); types.IsInterface(t) {
			return fmt.Sprintf("%s(%s, any(true))", f.l.sym("Eq"), f.toAny(f.expr(x), t))
		}
		return f.expr(x)
	}
	l := f.l
	if f.isNil(x) {
		return "(" + tag + " == nil)"
	}
	tx := f.typeOf(x)
	anyType := types.Universe.Lookup("any").Type()
	if types.IsInterface(tagType) || types.IsInterface(tx) {
		return fmt.Sprintf("%s(%s, %s)", l.sym("Eq"), f.toAny(tag, tagType), f.to(x, anyType))
	}
	return f.compare(tag, "==", f.operand(x, tagType), tagType)
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
	tx := f.typeOf(x)
	v := f.temp()
	f.emit("var %s any = %s", v, f.toAny(f.expr(x), tx))
	id := f.temp()
	f.emit("%s := %s(%s)", id, l.sym("ID"), v)
	f.emit("_ = %s", id)
	f.emit("%sswitch {", f.head(label))
	for _, c := range s.Body.List {
		cc := c.(*ast.CaseClause)
		if cc.List == nil {
			f.emit("default:")
		} else {
			var conds []string
			for _, t := range cc.List {
				if f.isNil(t) {
					conds = append(conds, "("+v+" == nil)")
				} else {
					conds = append(conds, f.hasType(v, id, f.typeOf(t)))
				}
			}
			f.emit("case %s:", strings.Join(conds, " || "))
		}
		if o := f.info.Implicits[cc]; o != nil {
			t := l.subst(o.Type(), f.env)
			value := v
			if len(cc.List) == 1 && !f.isNil(cc.List[0]) {
				value = f.extract(v, t)
			} else if hasMethods(t) {
				value = l.converter(t) + "(" + v + ")"
			}
			f.define(o, f.intoSlot(value, t))
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
	conds := make([]string, len(s.Body.List))
	k, v, ok := f.temp(), f.temp(), f.temp()
	hasDefault := false
	var list []func() string
	for i, c := range s.Body.List {
		cc := c.(*ast.CommClause)
		after[i] = func() {}
		if cc.Comm == nil {
			hasDefault = true
			continue
		}
		conds[i] = fmt.Sprintf("%s == %d", k, len(list))
		switch st := cc.Comm.(type) {
		case *ast.SendStmt:
			t := coreType(f.typeOf(st.Chan)).(*types.Chan)
			list = append(list, func() string {
				p := f.exprs(func() string { return f.expr(st.Chan) }, func() string { return f.toSlot(st.Value, t.Elem()) })
				return fmt.Sprintf("%s(any(%s), any(%s))", l.sym("SendCase"), p[0], p[1])
			})
		case *ast.ExprStmt:
			list = append(list, func() string { return f.recvCase(st.X) })
		case *ast.AssignStmt:
			list = append(list, func() string { return f.recvCase(st.Rhs[0]) })
			after[i] = func() { f.received(st, v, ok) }
		}
	}
	f.emit("%s, %s, %s := %s(%v, []%s{%s}...)", k, v, ok, l.sym("Select"), hasDefault, l.sym("SelectCase"), strings.Join(f.exprs(list...), ", "))
	f.emit("_, _ = %s, %s", v, ok)
	f.pollBlocked()
	f.emit("%sswitch {", f.head(label))
	for i, c := range s.Body.List {
		if conds[i] == "" {
			f.emit("default:")
		} else {
			f.emit("case %s:", conds[i])
		}
		after[i]()
		f.enter(label, false, func() { f.clause(c.(*ast.CommClause).Body) })
	}
	f.emit("}")
}

func (f *fn) recvCase(e ast.Expr) string {
	ch := ast.Unparen(e).(*ast.UnaryExpr).X
	return fmt.Sprintf("%s(any(%s))", f.l.sym("RecvCase"), f.expr(ch))
}

// received assigns what a select received.
func (f *fn) received(st *ast.AssignStmt, v, ok string) {
	elem := coreType(f.typeOf(ast.Unparen(st.Rhs[0]).(*ast.UnaryExpr).X)).(*types.Chan).Elem()
	value := v
	switch {
	case f.l.isAny(elem):
	case hasMethods(elem):
		value = f.l.converter(elem) + "(" + v + ")"
	default:
		value = f.l.cast(v, f.l.slot(elem))
	}
	texts := []string{f.fromSlot(value, elem), ok}
	froms := []types.Type{elem, types.Typ[types.Bool]}
	for j, x := range st.Lhs {
		if isBlank(x) {
			continue
		}
		if o := f.defined(x); st.Tok == token.DEFINE && o != nil {
			t := f.l.subst(o.Type(), f.env)
			f.define(o, f.intoSlot(f.convert(texts[j], froms[j], t), t))
			continue
		}
		d := f.target(x)
		d.store(f, f.convert(texts[j], froms[j], d.typ))
	}
}

func (f *fn) defined(e ast.Expr) types.Object {
	if id, ok := e.(*ast.Ident); ok {
		return f.info.Defs[id]
	}
	return nil
}
