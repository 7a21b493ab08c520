package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

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

func (f *fn) yieldExit(code int) {
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
	f.yieldExit(exitBranch + len(y.out) - 1)
}

func (f *fn) rangeStmt(s *ast.RangeStmt, label string) {
	if s.Tok == token.ILLEGAL {
		s.Tok = token.DEFINE // no variables
	}
	f.emit("{")
	defer f.emit("}")
	f.loop(s, func() { f.rangeLoop(s, label) })
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
	f.poll(s)
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
	f.at(s)
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
	g.poll(s)
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
