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
	if f.gotoTargets(name) {
		f.emit("%s_g:", l)
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

// gotoTargets says whether a goto to the label exists; a label that none
// needs is left out.
func (f *fn) gotoTargets(string) bool { return true }

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
	f.loop(func() { f.forLoop(s, label, shared) })
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
	f.poll()
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
			f.yieldExit(exitBreak, "")
		}
		return
	}
	f.yieldBranch(s)
}

func (f *fn) hasLabel(name string) bool { return f.yield.labels[name] }

// yield is a range-over-func loop whose body is being lowered.
type yield struct {
	ctl    *local // *int: 0 while the loop goes on
	owner  *fn
	label  string
	labels map[string]bool // declared in the body
	leaves bool
	out    []*ast.BranchStmt // to statements around the loop
}

const (
	exitBreak  = -2
	exitDone   = -1
	exitReturn = 1
	exitBranch = 2
)

func (f *fn) yieldExit(code int, _ string) {
	y := f.yield
	if code == exitReturn {
		y.leaves = true
	}
	f.reach(y.ctl, y.owner)
	f.emit("*%s = %d", y.ctl.name, code)
	f.emit("return false")
}

func (f *fn) yieldBranch(s *ast.BranchStmt) {
	y := f.yield
	y.out = append(y.out, s)
	f.yieldExit(exitBranch+len(y.out)-1, "")
}

func (f *fn) rangeStmt(s *ast.RangeStmt, label string) {
	if s.Tok == token.ILLEGAL {
		s.Tok = token.DEFINE // no variables
	}
	f.emit("{")
	defer f.emit("}")
	f.loop(func() { f.rangeLoop(s, label) })
}

func (f *fn) rangeLoop(s *ast.RangeStmt, label string) {
	tx := f.typeOf(s.X)
	switch t := f.rangeType(s.X).(type) {
	case *types.Basic:
		if t.Info()&types.IsString != 0 {
			f.rangeString(s, label)
			return
		}
		f.rangeInt(s, label, tx)
	case *types.Slice:
		f.rangeNative(s, label, f.expr(s.X), types.Typ[types.Int], t.Elem())
	case *types.Array:
		if s.Value == nil || isBlank(s.Value) {
			if hasCall(s.X) {
				f.evaluate(s.X)
			}
			f.rangeCount(s, label, fmt.Sprint(t.Len()))
			return
		}
		x := f.temp()
		f.emit("%s := %s", x, f.expr(s.X))
		f.rangeNative(s, label, x, types.Typ[types.Int], t.Elem())
	case *types.Pointer:
		a := t.Elem().Underlying().(*types.Array)
		x := f.spillAlways(f.expr(s.X))
		f.rangeCountElem(s, label, fmt.Sprint(a.Len()), "(*"+x+")", a.Elem())
	case *types.Map:
		f.rangeNative(s, label, f.expr(s.X), t.Key(), t.Elem())
	case *types.Chan:
		f.rangeChan(s, label, t.Elem())
	case *types.Signature:
		f.rangeFunc(s, label, t)
	default:
		panic(f.bug(s, fmt.Sprintf("cannot range over %s", tx)))
	}
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// bind gives a loop variable its value for this turn; text is a slot of type t.
func (f *fn) bind(s *ast.RangeStmt, e ast.Expr, text string, t types.Type) {
	if e == nil || isBlank(e) {
		return
	}
	if s.Tok == token.DEFINE {
		o := f.info.Defs[e.(*ast.Ident)]
		vt := f.l.subst(o.Type(), f.env)
		f.define(o, f.intoSlot(f.convert(f.fromSlot(text, t), t, vt), vt))
		return
	}
	d := f.target(e)
	d.store(f, f.convert(f.fromSlot(text, t), t, d.typ))
}

// bindPair gives both loop variables their values, as one assignment.
func (f *fn) bindPair(s *ast.RangeStmt, k string, key types.Type, v string, elem types.Type) {
	if s.Tok == token.ASSIGN && s.Key != nil && s.Value != nil && !isBlank(s.Key) && !isBlank(s.Value) {
		a, b := f.pinned(s.Key), f.pinned(s.Value)
		a.store(f, f.convert(f.fromSlot(k, key), key, a.typ))
		b.store(f, f.convert(f.fromSlot(v, elem), elem, b.typ))
		return
	}
	f.bind(s, s.Key, k, key)
	f.bind(s, s.Value, v, elem)
}

func (f *fn) loopBody(s *ast.RangeStmt, label string, binds func()) {
	f.poll()
	binds()
	f.enter(label, true, func() { f.block(s.Body.List) })
	f.emit("}")
}

// rangeNative is a loop that the interpreter does right.
func (f *fn) rangeNative(s *ast.RangeStmt, label, x string, key, elem types.Type) {
	if !isSimple(x) {
		x = f.spillAlways(x)
	}
	k, v := f.temp(), f.temp()
	_, channels := elem.Underlying().(*types.Chan)
	switch {
	case s.Value == nil || isBlank(s.Value):
		f.emit("%sfor %s := range %s {", f.head(label), k, x)
	case channels: // which the interpreter takes for what the loop is over
		f.emit("%sfor %s := range %s {", f.head(label), k, x)
		if f.rangesMap(s) {
			found := f.temp()
			f.emit("%s, %s := %s[%s]", v, found, x, k)
			f.emit("if !%s { continue }", found)
		} else {
			v = x + "[" + k + "]"
		}
	default:
		f.emit("%sfor %s, %s := range %s {", f.head(label), k, v, x)
	}
	f.emit("_ = %s", k)
	f.loopBody(s, label, func() {
		f.bindPair(s, k, key, v, elem)
	})
}

func (f *fn) rangesMap(s *ast.RangeStmt) bool {
	_, ok := f.rangeType(s.X).(*types.Map)
	return ok
}

func (f *fn) rangeInt(s *ast.RangeStmt, label string, t types.Type) {
	rep := f.l.rep(t)
	if s.Key != nil && s.Tok == token.DEFINE && !isBlank(s.Key) {
		t = f.typeOf(s.Key)
		rep = f.l.rep(t)
	} else if s.Key != nil && !isBlank(s.Key) {
		t = f.typeOf(s.Key)
		rep = f.l.rep(t)
	}
	n := f.temp()
	f.emit("var %s %s = %s", n, rep, f.to(s.X, t))
	k := f.temp()
	f.emit("var %s %s", k, rep)
	f.emit("%sfor ; %s < %s; %s++ {", f.head(label), k, n, k)
	f.loopBody(s, label, func() { f.bind(s, s.Key, k, t) })
}

func (f *fn) rangeCount(s *ast.RangeStmt, label, n string) {
	k := f.temp()
	f.emit("%s := 0", k)
	f.emit("%sfor ; %s < %s; %s++ {", f.head(label), k, n, k)
	f.loopBody(s, label, func() { f.bind(s, s.Key, k, types.Typ[types.Int]) })
}

func (f *fn) rangeCountElem(s *ast.RangeStmt, label, n, x string, elem types.Type) {
	k := f.temp()
	f.emit("%s := 0", k)
	f.emit("%sfor ; %s < %s; %s++ {", f.head(label), k, n, k)
	f.loopBody(s, label, func() {
		f.bindPair(s, k, types.Typ[types.Int], x+"["+k+"]", elem)
	})
}

// rangeString decodes the runes itself: the interpreter counts runes, not bytes.
func (f *fn) rangeString(s *ast.RangeStmt, label string) {
	x := f.temp()
	f.emit("var %s string = string(%s)", x, f.expr(s.X))
	next, k, c, r := f.temp(), f.temp(), f.temp(), f.temp()
	f.emit("%s := 0", next)
	f.emit("%sfor %s < len(%s) {", f.head(label), next, x)
	f.emit("%s := %s", k, next)
	f.emit("%s := %s[%s]", c, x, next)
	f.emit("var %s int32 = int32(%s)", r, c)
	f.emit("if %s < 128 { %s = %s + 1 } else { %s, %s = %s(%s, %s) }", c, next, next, r, next, f.l.sym("Rune"), x, next)
	f.emit("_ = %s", r)
	f.loopBody(s, label, func() {
		f.bindPair(s, k, types.Typ[types.Int], r, types.Typ[types.Int32])
	})
}

func (f *fn) rangeChan(s *ast.RangeStmt, label string, elem types.Type) {
	c := f.spillAlways(f.expr(s.X))
	v, ok := f.temp(), f.temp()
	f.emit("%sfor {", f.head(label))
	f.emit("%s, %s := <-%s", v, ok, c)
	f.emit("if !%s { break }", ok)
	f.loopBody(s, label, func() { f.bind(s, s.Key, v, elem) })
}

// rangeFunc makes the loop's body a function that the iterator calls.
func (f *fn) rangeFunc(s *ast.RangeStmt, label string, sig *types.Signature) {
	l := f.l
	x := f.spill(f.expr(s.X))
	if isSimple(x) {
		x = f.spillAlways(x)
	}
	ctl := &local{name: l.fresh("ctl"), rep: "*int"}
	f.emit("%s := new(int)", ctl.name)
	g := f.child()
	g.name, g.inLit = f.name, f.inLit
	y := &yield{ctl: ctl, owner: f, label: label, labels: labelsIn(s.Body)}
	g.yield = y
	g.take(ctl)
	yieldSig := sig.Params().At(0).Type().Underlying().(*types.Signature)
	var params []string
	var names []string
	for i := range yieldSig.Params().Len() {
		name := f.temp()
		names = append(names, name)
		params = append(params, name+" "+l.slot(yieldSig.Params().At(i).Type()))
	}
	g.emit("if *%s != 0 { %s() }", ctl.name, l.sym("RangeExit"))
	g.emit("*%s = -3", ctl.name)
	g.poll()
	for i, e := range []ast.Expr{s.Key, s.Value} {
		if e != nil {
			g.bind(s, e, names[i], yieldSig.Params().At(i).Type())
		}
	}
	g.block(s.Body.List)
	body := g.out.String()
	// Every way back into the iterator says that the loop goes on.
	body = strings.ReplaceAll(body, "return true\n", fmt.Sprintf("*%s = 0\nreturn true\n", ctl.name))
	body += fmt.Sprintf("*%s = 0\nreturn true\n", ctl.name)
	lit := g.factory("("+strings.Join(params, ", ")+") bool", body, false)
	f.at(s)
	f.calls("")
	f.emit("%s(%s)", x, lit)
	f.emit("if *%s == -3 { %s() }", ctl.name, l.sym("RangeLost"))
	after := f.captured(func() {
		if y.leaves {
			f.emit("if *%s == %d {", ctl.name, exitReturn)
			f.leave(f.returnPlaces())
			f.emit("}")
		}
		for i, b := range y.out {
			f.emit("if *%s == %d {", ctl.name, exitBranch+i)
			f.branch(b)
			f.emit("}")
		}
	})
	code := f.temp()
	f.emit("%s := *%s", code, ctl.name)
	f.emit("*%s = %d", ctl.name, exitDone)
	f.out.WriteString(strings.ReplaceAll(after, "*"+ctl.name+" ==", code+" =="))
}

func labelsIn(body *ast.BlockStmt) map[string]bool {
	m := make(map[string]bool)
	ast.Inspect(body, func(n ast.Node) bool {
		if l, ok := n.(*ast.LabeledStmt); ok {
			m[l.Label.Name] = true
		}
		return true
	})
	return m
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
			var parts []string
			f.withoutGuards(func() {
				for _, x := range cc.List {
					parts = append(parts, f.caseCond(tag, tagType, x))
				}
			})
			conds[i] = strings.Join(parts, " || ")
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
		f.enter(label, false, func() { f.block(cc.Body) })
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
			} else if l.isHostInterface(t) {
				value = l.converter(t) + "(" + v + ")"
			}
			f.define(o, f.intoSlot(value, t))
		}
		f.enter(label, false, func() { f.block(cc.Body) })
	}
	f.emit("}")
}

// selectStmt has the runtime choose: the interpreter's own select is not safe
// in several goroutines.
func (f *fn) selectStmt(s *ast.SelectStmt, label string) {
	l := f.l
	f.emit("{")
	defer f.emit("}")
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
		f.enter(label, false, func() { f.block(c.(*ast.CommClause).Body) })
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
	case f.l.slot(elem) == "any":
	case f.l.isHostInterface(elem):
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
