package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
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
	f.debugEnd(nil)
	f.emit("return false")
}

func (f *fn) yieldBranch(s *ast.BranchStmt) {
	y := f.yield
	y.out = append(y.out, s)
	f.yieldExit(exitBranch + len(y.out) - 1)
}

// yieldOn goes on with the next iteration. Every way back into the iterator says that
// the loop does.
func (f *fn) yieldOn() {
	f.emit("*%s = 0", f.yield.ctl.name)
	f.debugEnd(nil)
	f.emit("return true")
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
		f.rangeNative(s, label, f.expr(s.X), intType, t.Elem())
	case *types.Array:
		if s.Value == nil || isBlank(s.Value) {
			if s.Value != nil || hasCall(s.X) {
				f.evaluate(s.X)
			}
			f.rangeCount(s, label, intLiteral(int(t.Len())), t.Elem(), nil)
			return
		}
		f.rangeNative(s, label, f.spillAlways(f.expr(s.X)), intType, t.Elem())
	case *types.Pointer:
		a := t.Elem().Underlying().(*types.Array)
		f.rangeCount(s, label, intLiteral(int(a.Len())), a.Elem(), deref(f.spillAlways(f.expr(s.X))))
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

// bind gives both loop variables their values, as one assignment; nil is none.
func (f *fn) bind(s *ast.RangeStmt, k, v *expr) {
	if s.Tok == token.ASSIGN && s.Key != nil && s.Value != nil && !isBlank(s.Key) && !isBlank(s.Value) {
		a, b := f.pinned(s.Key), f.pinned(s.Value)
		a.store(f, f.convert(k, a.typ()))
		b.store(f, f.convert(v, b.typ()))
		return
	}
	f.set(s.Key, k, s.Tok)
	f.set(s.Value, v, s.Tok)
}

func (f *fn) loopBody(s *ast.RangeStmt, label string, e *osrEntry, binds func()) {
	f.pollLoop(s, e)
	binds()
	f.enter(label, true, func() {
		f.breakTo[len(f.breakTo)-1].head = s.Pos()
		f.block(s.Body.List)
	})
	f.stop(s.Pos())
	f.emit("}")
}

// rangeNative is a loop that the interpreter does right.
func (f *fn) rangeNative(s *ast.RangeStmt, label string, x *expr, key, elem types.Type) {
	if !x.simple() || f.l.Loops != nil && !f.rangesMap(s) { // the loop may change the variable
		x = f.spillAlways(x)
	}
	if f.l.Loops != nil && f.instruments() && !f.rangesMap(s) { // it may go on in its middle
		n := f.spillAlways(call(intType, ident("len", nil), x))
		f.rangeCount(s, label, n, elem, x)
		return
	}
	k, v := f.temp(key), f.temp(elem)
	e := f.osrEntryOf(s, label, x, k)
	f.around(e, intLiteral(0), func() { f.nativeLoop(s, label, x, k, v, e) })
}

// nativeLoop is the loop of rangeNative, whose variables are k and v.
func (f *fn) nativeLoop(s *ast.RangeStmt, label string, x, k, v *expr, e *osrEntry) {
	elem := v.typ
	_, channels := elem.Underlying().(*types.Chan)
	switch {
	case s.Value == nil || isBlank(s.Value):
		f.emit("%sfor %s := range %s {", f.head(label), k, x)
	case channels: // which the interpreter takes for what the loop is over
		f.emit("%sfor %s := range %s {", f.head(label), k, x)
		if f.rangesMap(s) {
			found := f.temp(boolType)
			f.emit("%s, %s := %s", v, found, index(x, k, elem))
			f.emit("if !%s { continue }", found)
		} else {
			v = index(x, k, elem)
		}
	default:
		f.emit("%sfor %s, %s := range %s {", f.head(label), k, v, x)
	}
	f.emit("_ = %s", k)
	f.loopBody(s, label, e, func() { f.bind(s, k, v) })
}

func (f *fn) rangesMap(s *ast.RangeStmt) bool {
	_, ok := f.rangeType(s.X).(*types.Map)
	return ok
}

func (f *fn) rangeInt(s *ast.RangeStmt, label string, t types.Type) {
	if s.Key != nil && !isBlank(s.Key) {
		t = f.typeOf(s.Key)
	}
	n, k := f.temp(t), f.temp(t)
	f.emit("var %s %s = %s", n, f.l.rep(t), f.to(s.X, t))
	f.emit("var %s %s", k, f.l.rep(t))
	e := f.osrEntryOf(s, label, n, k)
	f.around(e, nil, func() {
		f.emit("%sfor ; %s < %s; %s++ {", f.head(label), k, n, k)
		f.loopBody(s, label, e, func() { f.bind(s, k, nil) })
	})
}

// rangeCount counts over n elements; x has them, or is nil if they are not wanted.
func (f *fn) rangeCount(s *ast.RangeStmt, label string, n *expr, elem types.Type, x *expr) {
	k := f.temp(intType)
	f.emit("%s := 0", k)
	state := []*expr{k}
	switch {
	case x == nil:
	case x.op == opDeref:
		state = []*expr{x.args[0], k}
	default:
		state = []*expr{x, k}
	}
	e := f.osrEntryOf(s, label, state...)
	f.around(e, nil, func() {
		f.emit("%sfor ; %s < %s; %s++ {", f.head(label), k, n, k)
		f.loopBody(s, label, e, func() {
			if x == nil {
				f.set(s.Key, k, s.Tok)
				return
			}
			f.bind(s, k, index(x, k, elem))
		})
	})
}

// rangeString decodes the runes itself: the interpreter counts runes, not bytes.
func (f *fn) rangeString(s *ast.RangeStmt, label string) {
	x := f.temp(types.Typ[types.String])
	f.emit("var %s string = string(%s)", x, f.expr(s.X))
	next, k, c, r := f.temp(intType), f.temp(intType), f.temp(nil), f.temp(types.Typ[types.Int32])
	f.emit("%s := 0", next)
	e := f.osrEntryOf(s, label, x, next)
	f.around(e, nil, func() {
		f.emit("%sfor %s < len(%s) {", f.head(label), next, x)
		f.loopBody(s, label, e, func() {
			f.emit("%s := %s", k, next)
			f.emit("%s := %s[%s]", c, x, next)
			f.emit("var %s int32 = int32(%s)", r, c)
			f.emit("if %s < 128 { %s = %s + 1 } else { %s, %s = %s }", c, next, next, r, next, f.l.runtime(nil, "Rune", x, next))
			f.emit("_ = %s", r)
			f.bind(s, k, r)
		})
	})
}

func (f *fn) rangeChan(s *ast.RangeStmt, label string, elem types.Type) {
	c := f.spillAlways(f.expr(s.X))
	v, ok := f.temp(elem), f.temp(boolType)
	f.emit("%sfor {", f.head(label))
	f.at(s)
	f.emit("%s, %s := <-%s", v, ok, c)
	f.emit("if !%s { break }", ok)
	f.loopBody(s, label, f.osrEntryOf(s, label), func() { f.bind(s, v, nil) })
}

// rangeFunc makes the loop's body a function that the iterator calls.
func (f *fn) rangeFunc(s *ast.RangeStmt, label string, sig *types.Signature) {
	l := f.l
	x := f.spillAlways(f.expr(s.X))
	ctl := &local{name: l.fresh("ctl"), typ: types.NewPointer(intType), rep: "*int"}
	f.emit("%s := new(int)", ctl.name)
	g := f.child()
	g.name, g.inLit = f.name, f.inLit
	g.debugBegin()
	if g.debug != nil {
		g.debug.Owner = f.debug.DebugFunc
		if f.debug.Owner != nil { // a loop in a loop
			g.debug.Owner = f.debug.Owner
		}
	}
	entry := len(g.out)
	y := &yield{ctl: ctl, owner: f, label: label, labels: labelsIn(s.Body)}
	g.yield = y
	g.take(ctl)
	of := sig.Params().At(0).Type().Underlying().(*types.Signature)
	h := l.headerOf(of)
	for i := range h.params {
		h.params[i].name = f.temp(nil).text
	}
	g.emit("if *%s != 0 { %s }", ctl.name, l.runtime(nil, "RangeExit"))
	g.emit("*%s = -3", ctl.name)
	g.stop(s.Pos())
	g.poll(s)
	for i, e := range []ast.Expr{s.Key, s.Value} {
		if e != nil {
			g.set(e, ident(h.params[i].name, of.Params().At(i).Type()), s.Tok)
		}
	}
	g.block(s.Body.List)
	if !terminates(s.Body.List) {
		g.stop(s.Body.Rbrace)
	}
	g.yieldOn()
	g.debugCaptured(entry)
	lit := g.factory(h, g.out, false)
	f.at(s)
	f.calls("")
	f.emit("%s", call(nil, x, lit))
	f.emit("if *%s == -3 { %s }", ctl.name, l.runtime(nil, "RangeLost"))
	code := f.temp(intType)
	f.emit("%s := *%s", code, ctl.name)
	f.emit("*%s = %d", ctl.name, exitDone)
	if y.leaves {
		f.emit("if %s == %d {", code, exitReturn)
		f.leave(f.returnPlaces())
		f.emit("}")
	}
	for i, b := range y.out {
		f.emit("if %s == %d {", code, exitBranch+i)
		f.branch(b)
		f.emit("}")
	}
}

// labelsIn are the labels of a statement; those of literals in it are their own.
func labelsIn(s ast.Stmt) map[string]bool {
	m := make(map[string]bool)
	ast.Inspect(s, func(n ast.Node) bool {
		if l, ok := n.(*ast.LabeledStmt); ok {
			m[l.Label.Name] = true
		}
		_, literal := n.(*ast.FuncLit)
		return !literal
	})
	return m
}
