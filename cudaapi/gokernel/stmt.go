package gokernel

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"gocuda/cudaapi/gokernel/ir"
	"gocuda/cudaapi/gokernel/osr"
)

var constantZero, constantOne = constant.MakeInt64(0), constant.MakeInt64(1)

func (f *fn) stmts(list []ast.Stmt) {
	for _, s := range list {
		n := len(*f.out)
		f.stmt(s, "")
		if len(*f.out) > n {
			f.u.keepComments(s, (*f.out)[n], (*f.out)[len(*f.out)-1])
		}
	}
}

// keepComments has the comments of a part of the source stand before the first of the
// output, and those of lines after it behind the last.
func (u *unit) keepComments(n ast.Node, first, last any) {
	for _, group := range u.comments[n] {
		if group.Pos() > n.End() && u.fset.Position(group.Pos()).Line > u.fset.Position(n.End()).Line {
			u.kept[behind{last}] += group.Text()
		} else {
			u.kept[first] += group.Text()
		}
	}
}

// behind is the place after a function or a statement.
type behind struct{ of any }

// block lowers statements in a scope of their own.
func (f *fn) block(list []ast.Stmt) []ir.Stmt { return f.within(func() { f.stmts(list) }) }

// stmt lowers a statement; label is the name before it, if any.
func (f *fn) stmt(s ast.Stmt, label string) {
	if s != nil {
		f.u.here = s.Pos()
	}
	f.stepBefore(s)
	if a, ok := s.(*ast.AssignStmt); ok && a.Tok != token.DEFINE {
		f.scoped(func() { f.assign(a) })
		return
	}
	switch s := s.(type) {
	case nil, *ast.EmptyStmt:
	case *ast.ExprStmt:
		call, ok := ast.Unparen(s.X).(*ast.CallExpr)
		if !ok {
			f.refuse(s, otherStatement, s)
		}
		f.u.statement = call
		f.scoped(func() { f.call(call) })
	case *ast.DeclStmt:
		f.declare(s.Decl.(*ast.GenDecl))
	case *ast.AssignStmt:
		f.assign(s)
	case *ast.IncDecStmt:
		op := token.ADD
		if s.Tok == token.DEC {
			op = token.SUB
		}
		next := func(x ir.Expr) ir.Expr {
			return &ir.Binary{Op: op, X: x, Y: f.constant(s, constantOne, x.Type()), T: x.Type()}
		}
		if index, m := f.mapIndex(s.X); m != nil {
			f.mapUpdate(index, m, func() func(ir.Expr) ir.Expr { return next })
			return
		}
		x := f.place(s.X)
		f.emit(&ir.Assign{To: x, Value: next(x)})
	case *ast.BlockStmt:
		f.emit(&ir.Block{Body: f.block(s.List)})
	case *ast.IfStmt:
		f.emit(&ir.Block{Body: f.within(func() {
			if s.Init != nil {
				f.stmt(s.Init, "")
			}
			x := &ir.If{Cond: f.expr(s.Cond)}
			x.Then = f.block(s.Body.List)
			if s.Else != nil {
				x.Else = f.within(func() { f.stmt(s.Else, "") })
			}
			f.emit(x)
		})})
	case *ast.ForStmt:
		f.loop(s, label)
	case *ast.RangeStmt:
		f.rangeLoop(s, label)
	case *ast.SwitchStmt:
		f.choose(s, label)
	case *ast.LabeledStmt:
		name := s.Label.Name
		f.emit(&ir.Mark{Label: f.gotoLabel(name)})
		f.stmt(s.Stmt, name)
	case *ast.BranchStmt:
		f.branch(s)
	case *ast.ReturnStmt:
		f.ret(s)
	case *ast.GoStmt:
		f.refuse(s, goroutines)
	case *ast.DeferStmt:
		f.refuse(s, deferred)
	case *ast.SelectStmt, *ast.SendStmt:
		f.refuse(s, channels)
	case *ast.TypeSwitchStmt:
		f.chooseType(s, label)
	default:
		f.refuse(s, otherStatement, s)
	}
}

// scoped keeps the function literals of a statement to it: C++ lets no goto pass
// their declarations.
func (f *fn) scoped(do func()) {
	list := f.within(do)
	for _, s := range list {
		if _, ok := s.(*ir.Closure); ok {
			f.emit(&ir.Block{Body: list})
			return
		}
	}
	for _, s := range list {
		f.emit(s)
	}
}

func (f *fn) newLabel(name string) *ir.Label {
	if name == "" {
		name = "l"
	}
	return &ir.Label{Name: f.local(name, nil).Name}
}

func (f *fn) gotoLabel(name string) *ir.Label {
	if l := f.labels[name]; l != nil {
		return l
	}
	l := f.newLabel(name)
	f.labels[name] = l
	return l
}

// targeted lowers what break and continue can leave.
func (f *fn) targeted(t destination, do func()) []ir.Stmt {
	f.targets = append(f.targets, t)
	list := f.within(do)
	f.targets = f.targets[:len(f.targets)-1]
	return list
}

func (f *fn) declare(d *ast.GenDecl) {
	if d.Tok != token.VAR {
		return
	}
	for _, s := range d.Specs {
		s := s.(*ast.ValueSpec)
		var values []ir.Expr
		if len(s.Values) == 1 && len(s.Names) > 1 {
			values = f.several(s.Values[0])
		}
		for i, id := range s.Names {
			o, _ := f.u.info.Defs[id].(*types.Var)
			var t types.Type
			if o != nil {
				t = f.subst.of(o.Type())
			} else if s.Type != nil {
				t = f.typeOf(s.Type)
			} else {
				t = f.typeOf(s.Values[i])
			}
			if _, isFunc := t.Underlying().(*types.Signature); s.Type != nil && !isFunc {
				f.usable(t, id, "a variable") // rather than its value
			}
			var init ir.Expr
			switch {
			case values != nil:
				init = f.convert(values[i], t)
			case len(s.Values) > 0:
				init = f.to(s.Values[i], t)
			default:
				init = &ir.Zero{T: t}
			}
			f.define(id, o, t, init)
		}
	}
}

// define declares a variable of the source.
func (f *fn) define(id *ast.Ident, o *types.Var, t types.Type, init ir.Expr) {
	if ref, ok := init.(*ir.FuncRef); ok {
		if ref.Lit == nil {
			ref = f.literalOf(ref, id.Name)
		}
		if o != nil {
			if f.uses.assigned[o] {
				f.refuse(id, functionSet, id.Name)
			}
			f.vars[o] = ref.Lit
		}
		return
	}
	f.usable(t, id, "a variable")
	if o == nil || id.Name == "_" {
		f.emit(&ir.Define{Var: f.local("t", t), Init: init})
		return
	}
	f.vars[o] = f.variable(id, id.Name, t, init)
}

// place lowers what can be assigned to; nil for the blank identifier.
func (f *fn) place(e ast.Expr) ir.Expr {
	if id := identOf(e); id != nil && id.Name == "_" {
		return nil
	}
	if _, m := f.mapIndex(e); m != nil {
		f.refuse(e, assigned)
	}
	x := f.expr(e)
	if g := ir.Root(x); g != nil && g.Space == ir.Constant {
		f.fail(e, "%s is in constant memory, which a kernel cannot write", g.Name)
	}
	switch x.(type) {
	case *ir.Ref, *ir.Field, *ir.Index, *ir.Deref, *ir.FuncRef:
	default:
		f.refuse(e, assigned)
	}
	return x
}

func (f *fn) assign(s *ast.AssignStmt) {
	switch s.Tok {
	case token.DEFINE, token.ASSIGN:
	default:
		op := assignOps[s.Tok]
		if index, m := f.mapIndex(s.Lhs[0]); m != nil {
			f.mapUpdate(index, m, func() func(ir.Expr) ir.Expr {
				if op == token.SHL || op == token.SHR {
					return func(x ir.Expr) ir.Expr { return f.shift(op, x, s.Rhs[0], x.Type()) }
				}
				y := f.temp(f.to(s.Rhs[0], m.Elem()))
				return func(x ir.Expr) ir.Expr { return f.arithmetic(op, x, y, x.Type(), s.Rhs[0]) }
			})
			return
		}
		isShift := op == token.SHL || op == token.SHR
		operand := func(t types.Type) ir.Expr {
			if isShift {
				return f.shiftCount(s.Rhs[0])
			}
			return f.to(s.Rhs[0], t)
		}
		var x, y ir.Expr
		if identOf(s.Lhs[0]) == nil && f.calls(s.Rhs[0]) && !f.calls(s.Lhs[0]) { // which may change where the place is
			y = f.temp(operand(f.typeOf(s.Lhs[0])))
			x = f.place(s.Lhs[0])
		} else {
			x = f.place(s.Lhs[0])
			y = operand(x.Type())
		}
		if isShift {
			y = &ir.Binary{Op: op, X: x, Y: y, T: x.Type()}
		} else {
			y = f.arithmetic(op, x, y, x.Type(), s.Rhs[0])
		}
		f.emit(&ir.Assign{To: x, Value: y})
		return
	}
	places := make([]place, len(s.Lhs))
	early := s.Tok == token.ASSIGN && slices.ContainsFunc(s.Lhs, f.calls)
	if early { // calls go from left to right; whether the places are there is looked at last
		places = f.places(s.Lhs)
	}
	var values []ir.Expr
	switch {
	case len(s.Lhs) > 1 && len(s.Rhs) == 1:
		values = f.several(s.Rhs[0])
	case len(s.Lhs) == 1:
		values = []ir.Expr{f.value(s.Lhs[0], s.Rhs[0])}
	default:
		for i := range s.Rhs {
			values = append(values, f.value(s.Lhs[i], s.Rhs[i]))
		}
		for i, x := range values { // what the calls may have changed is read when they are made
			values[i] = f.temp(x)
		}
	}
	if s.Tok == token.ASSIGN && !early {
		places = f.places(s.Lhs)
	}
	for i, e := range s.Lhs {
		id := identOf(e)
		if s.Tok == token.DEFINE {
			if id.Name == "_" {
				f.blank(values[i])
				continue
			}
			if o, ok := f.u.info.Defs[id].(*types.Var); ok {
				f.define(id, o, f.subst.of(o.Type()), f.convertTo(values[i], f.subst.of(o.Type())))
				continue
			}
			places[i].to = f.place(e)
		}
		if places[i].to == nil && places[i].of == nil {
			f.blank(values[i])
			continue
		}
		if _, ok := places[i].to.(*ir.FuncRef); ok {
			f.refuse(e, functionKept)
		}
		f.fill(places[i], values[i])
	}
}

// place is one of the left side of an assignment. Whether it is there is looked at when it
// is its turn: those before it are assigned, even if it is not.
type place struct {
	to     ir.Expr
	checks []ir.Stmt

	of  *ast.IndexExpr // an element of a map
	m   *types.Map
	key [2]ir.Expr // the map, and the key
}

// places lowers the left side of an assignment.
func (f *fn) places(list []ast.Expr) (places []place) {
	f.parallel = len(list) > 1
	for _, e := range list {
		var p place
		if p.of, p.m = f.mapIndex(e); p.m != nil {
			p.key[0], p.key[1] = f.mapKey(p.of, p.m)
			places = append(places, p)
			continue
		}
		p.of = nil
		stmts := f.within(func() { p.to = f.place(e) })
		n := len(stmts)
		for n > 0 {
			if _, ok := stmts[n-1].(*ir.Check); !ok {
				break
			}
			n--
		}
		for _, s := range stmts[:n] {
			f.emit(s)
		}
		p.checks = stmts[n:]
		places = append(places, p)
	}
	f.parallel = false
	return places
}

// fill assigns a value to a place.
func (f *fn) fill(p place, value ir.Expr) {
	if p.of != nil {
		f.mapUse(p.of, MapSet, p.m, nil, p.key[0], p.key[1], f.convertTo(value, p.m.Elem()))
		return
	}
	for _, c := range p.checks {
		f.emit(c)
	}
	f.emit(&ir.Assign{To: p.to, Value: f.convertTo(value, p.to.Type())})
}

// calls says whether an expression has a call in it.
func (f *fn) calls(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && !f.u.info.Types[c.Fun].IsType() {
			found = true
		}
		return !found
	})
	return found
}

func (f *fn) convertTo(x ir.Expr, t types.Type) ir.Expr {
	if _, ok := x.(*ir.FuncRef); ok {
		return x
	}
	return f.convert(x, t)
}

// blank keeps a value that is not assigned, for what it may need.
func (f *fn) blank(x ir.Expr) {
	switch x.(type) {
	case *ir.Const, *ir.Ref, *ir.Zero, *ir.FuncRef:
		return
	}
	f.temp(x)
}

// value is the right side of an assignment to a place.
func (f *fn) value(to, e ast.Expr) ir.Expr {
	if id := identOf(to); id != nil {
		if id.Name == "_" {
			return f.expr(e)
		}
		if o := f.u.info.Defs[id]; o != nil {
			if lit, ok := ast.Unparen(e).(*ast.FuncLit); ok {
				return f.literal(lit, id.Name)
			}
			return f.to(e, f.subst.of(o.Type()))
		}
	}
	return f.to(e, f.typeOf(to))
}

var assignOps = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO, token.REM_ASSIGN: token.REM,
	token.AND_ASSIGN: token.AND, token.OR_ASSIGN: token.OR, token.XOR_ASSIGN: token.XOR, token.SHL_ASSIGN: token.SHL, token.SHR_ASSIGN: token.SHR, token.AND_NOT_ASSIGN: token.AND_NOT,
}

// loop is for init; cond; post.
func (f *fn) loop(s *ast.ForStmt, label string) {
	f.emit(&ir.Block{Body: f.within(func() {
		if s.Init != nil {
			f.counters = true
			f.stmt(s.Init, "")
			f.counters = false
		}
		l := &ir.Loop{Label: f.newLabel(label), Pos: s.Pos()}
		f.emit(l)
		// Each iteration has variables of its own, which matters if something refers to them.
		type pair struct {
			o     types.Object
			outer *ir.Var
		}
		var own []pair
		if init, ok := s.Init.(*ast.AssignStmt); ok && init.Tok == token.DEFINE {
			for _, e := range init.Lhs {
				if o := f.u.info.Defs[identOf(e)]; o != nil && f.uses.shaky[o] && f.vars[o] != nil {
					own = append(own, pair{o, f.vars[o]})
				}
			}
		}
		var test []ir.Stmt
		if s.Cond != nil {
			test = f.within(func() { l.Cond = f.expr(s.Cond) })
		}
		l.Body = f.targeted(destination{label, l.Label, true}, func() {
			early := f.leavesEarly()
			if early {
				f.head(nil)
			}
			if len(test) > 0 || (early || len(own) > 0) && l.Cond != nil {
				*f.out = append(*f.out, test...)
				leave := &ir.Leave{To: l.Label}
				f.emit(&ir.If{Cond: &ir.Unary{Op: token.NOT, X: l.Cond, T: types.Typ[types.Bool]}, Then: []ir.Stmt{leave}})
				l.Cond = nil
			}
			f.head(nil)
			for _, p := range own {
				v := f.local(p.o.Name(), p.outer.Type)
				f.emit(&ir.Define{Var: v, Init: &ir.Ref{Var: p.outer}})
				f.vars[p.o] = v
			}
			if len(own) == 0 {
				f.stmts(s.Body.List)
				return
			}
			// continue leads behind the body, where the next iteration's variables are made.
			inner := f.newLabel("")
			body := f.within(func() { f.stmts(s.Body.List) })
			redirect(body, l.Label, inner)
			f.emit(&ir.Block{Label: inner, Body: body})
			for _, p := range own {
				f.emit(&ir.Assign{To: &ir.Ref{Var: p.outer}, Value: &ir.Ref{Var: f.vars[p.o]}})
				f.vars[p.o] = p.outer
			}
		})
		l.Post = f.within(func() {
			if s.Post == nil {
				f.step(s.Pos(), s.Pos())
				return
			}
			f.stmt(s.Post, "")
		})
	})})
}

// redirect makes the continues of a loop leave a block instead.
func redirect(list []ir.Stmt, loop, block *ir.Label) {
	for i, s := range list {
		switch s := s.(type) {
		case *ir.Again:
			if s.To == loop {
				list[i] = &ir.Leave{To: block}
			}
		case *ir.If:
			redirect(s.Then, loop, block)
			redirect(s.Else, loop, block)
		case *ir.Loop:
			redirect(s.Body, loop, block)
		case *ir.Block:
			redirect(s.Body, loop, block)
		}
	}
}

// rangeLoop is for range.
func (f *fn) rangeLoop(s *ast.RangeStmt, label string) {
	f.emit(&ir.Block{Body: f.within(func() {
		x := s.X
		if n, ok := arrayLen(f.typeOf(x)); ok && s.Value == nil && !f.calls(x) { // it is not evaluated, nil or not
			f.count(s, label, types.Typ[types.Int], ir.Int(n), nil)
			return
		}
		switch t := f.typeOf(x).Underlying().(type) {
		case *types.Basic:
			if ir.IsString(t) && f.u.target.hasStrings() {
				f.characters(s, label)
				return
			}
			if text, ok := f.constantString(x); ok {
				f.runes(s, label, text)
				return
			}
			if t.Info()&types.IsInteger == 0 {
				f.refuse(s, rangedType, types.TypeString(f.typeOf(x), shortNames))
			}
			typ := f.typeOf(x)
			if s.Key != nil {
				if kt := f.u.info.TypeOf(s.Key); kt != nil && s.Tok == token.ASSIGN {
					typ = f.subst.of(kt)
				} else if o := f.u.info.Defs[identOf(s.Key)]; o != nil {
					typ = f.subst.of(o.Type())
				}
			}
			f.count(s, label, typ, f.temp(f.to(x, typ)), nil)
		case *types.Slice:
			list := f.temp(f.expr(x))
			f.count(s, label, types.Typ[types.Int], f.temp(&ir.Len{X: list}), func(i ir.Expr) ir.Expr {
				return &ir.Index{X: list, I: i, T: t.Elem()}
			})
		case *types.Array:
			list := f.expr(x)
			if takesElements(s) {
				if o := rootOf(f.u.info, x); o == nil || f.uses.assigned[o] {
					list = f.temp(list) // a copy, as it was before the loop
				}
			}
			f.count(s, label, types.Typ[types.Int], ir.Int(t.Len()), func(i ir.Expr) ir.Expr {
				return &ir.Index{X: list, I: i, T: t.Elem()}
			})
		case *types.Pointer:
			a, ok := t.Elem().Underlying().(*types.Array)
			if !ok {
				f.refuse(s, ranged)
			}
			p := f.temp(f.expr(x))
			f.count(s, label, types.Typ[types.Int], ir.Int(a.Len()), func(i ir.Expr) ir.Expr {
				return &ir.Index{X: f.deref(p, x), I: i, T: a.Elem()}
			})
		case *types.Signature:
			f.rangeFunc(s, label, t)
		case *types.Map:
			f.usable(f.typeOf(x), s, "a value")
			f.mapLoop(s, label, t)
		default:
			f.usable(f.typeOf(x), s, "a value")
			f.refuse(s, ranged)
		}
	})})
}

// takesElements says whether a range statement has a second variable.
func takesElements(s *ast.RangeStmt) bool {
	if s.Value == nil {
		return false
	}
	id := identOf(s.Value)
	return id == nil || id.Name != "_"
}

// arrayLen is the length of an array, or of one that is pointed to.
func arrayLen(t types.Type) (n int64, ok bool) {
	if p, is := t.Underlying().(*types.Pointer); is {
		t = p.Elem()
	}
	if a, is := t.Underlying().(*types.Array); is {
		return a.Len(), true
	}
	return 0, false
}

// count is a loop over the numbers below n; at gives the element of one.
func (f *fn) count(s *ast.RangeStmt, label string, t types.Type, n ir.Expr, at func(i ir.Expr) ir.Expr) {
	f.countFrom(s, label, t, &ir.Const{T: t, Value: constantZero}, n, at)
}

// countFrom is count from a number on.
func (f *fn) countFrom(s *ast.RangeStmt, label string, t types.Type, from, n ir.Expr, at func(i ir.Expr) ir.Expr) {
	name := "i"
	var key *types.Var
	if id := identOf(s.Key); s.Key != nil && s.Tok == token.DEFINE && id.Name != "_" {
		name = id.Name
		key, _ = f.u.info.Defs[id].(*types.Var)
	}
	f.countTo(s, name, label, t, from, n, func(i *ir.Ref) {
		f.head(i)
		switch {
		case key != nil && (f.uses.assigned[key] || f.uses.shaky[key]):
			f.define(identOf(s.Key), key, t, i)
		case key != nil:
			f.vars[key] = i.Var
		case s.Key != nil && s.Tok == token.ASSIGN:
			var value ir.Expr
			if takesElements(s) {
				value = f.temp(at(i))
			}
			f.storeBoth(s, i, value)
		}
		if takesElements(s) && s.Tok != token.ASSIGN {
			f.store(s.Tok, s.Value, at(i))
		}
		f.stmts(s.Body.List)
	})
}

// countTo is a loop over the numbers from one on that are below n.
func (f *fn) countTo(s *ast.RangeStmt, name, label string, t types.Type, from, n ir.Expr, body func(i *ir.Ref)) {
	number := func(v constant.Value) ir.Expr { return &ir.Const{T: t, Value: v} }
	i := f.local(name, t)
	f.emit(&ir.Define{Var: i, Init: from})
	ref := &ir.Ref{Var: i}
	l := &ir.Loop{Label: f.newLabel(label), Pos: s.Pos(), Cond: &ir.Binary{Op: token.LSS, X: ref, Y: n, T: types.Typ[types.Bool]}}
	l.Post = f.within(func() {
		f.step(s.Pos(), s.Pos())
		f.emit(&ir.Assign{To: ref, Value: &ir.Binary{Op: token.ADD, X: ref, Y: number(constantOne), T: t}})
	})
	f.emit(l)
	l.Body = f.targeted(destination{label, l.Label, true}, func() { body(ref) })
}

// runes is a loop over the characters of a constant string.
func (f *fn) runes(s *ast.RangeStmt, label, text string) {
	var places, runes []int64
	for i, r := range text {
		places, runes = append(places, int64(i)), append(runes, int64(r))
	}
	if len(places) == 0 {
		return
	}
	at, what := f.temp(numbers(places, types.Typ[types.Int])), f.temp(numbers(runes, types.Typ[types.Rune]))
	f.countTo(s, "i", label, types.Typ[types.Int], ir.Int(0), ir.Int(int64(len(places))), func(i *ir.Ref) {
		for _, v := range []struct {
			to   ast.Expr
			from ir.Expr
			t    types.Type
		}{{s.Key, at, types.Typ[types.Int]}, {s.Value, what, types.Typ[types.Rune]}} {
			if v.to == nil {
				continue
			}
			f.store(s.Tok, v.to, &ir.Index{X: v.from, I: i, T: v.t})
		}
		f.stmts(s.Body.List)
	})
}

// characters is a loop over the characters of a string.
func (f *fn) characters(s *ast.RangeStmt, label string) {
	f.charactersFrom(s, label, f.temp(f.to(s.X, f.typeOf(s.X))), ir.Int(0))
}

// charactersFrom is characters from a place on.
func (f *fn) charactersFrom(s *ast.RangeStmt, label string, text, from ir.Expr) {
	next := &ir.Ref{Var: f.local("next", types.Typ[types.Int])}
	f.emit(&ir.Define{Var: next.Var, Init: from})
	l := &ir.Loop{Label: f.newLabel(label), Pos: s.Pos(), Cond: &ir.Binary{Op: token.LSS, X: next, Y: &ir.Len{X: text}, T: types.Typ[types.Bool]}}
	f.emit(l)
	l.Body = f.targeted(destination{label, l.Label, true}, func() {
		f.head(next)
		at := f.temp(next)
		size := &ir.Pure{Name: "rune_size", Args: []ir.Expr{text, at}, T: types.Typ[types.Int]}
		f.emit(&ir.Assign{To: next, Value: &ir.Binary{Op: token.ADD, X: at, Y: size, T: types.Typ[types.Int]}})
		r := &ir.Pure{Name: "rune", Args: []ir.Expr{text, at}, T: types.Typ[types.Rune]}
		switch {
		case s.Tok == token.ASSIGN && s.Key != nil:
			f.storeBoth(s, at, r)
		default:
			if s.Key != nil {
				f.store(s.Tok, s.Key, at)
			}
			if s.Value != nil {
				f.store(s.Tok, s.Value, r)
			}
		}
		f.stmts(s.Body.List)
	})
}

// store gives a variable of a range statement its value.
func (f *fn) store(tok token.Token, to ast.Expr, x ir.Expr) {
	if tok == token.ASSIGN {
		if p := f.place(to); p != nil {
			f.emit(&ir.Assign{To: p, Value: f.convert(x, p.Type())})
		}
	} else if id := identOf(to); id.Name != "_" {
		o, _ := f.u.info.Defs[id].(*types.Var)
		f.define(id, o, x.Type(), x)
	}
}

// storeBoth gives the variables of a range statement that assigns their values: their
// places are found before one of them changes.
func (f *fn) storeBoth(s *ast.RangeStmt, key, value ir.Expr) {
	to, values := []ast.Expr{s.Key}, []ir.Expr{key}
	if s.Value != nil {
		to, values = append(to, s.Value), append(values, value)
	}
	for i, p := range f.places(to) {
		if p.to != nil || p.of != nil {
			f.fill(p, values[i])
		}
	}
}

// choose is a switch on a value, or on conditions.
func (f *fn) choose(s *ast.SwitchStmt, label string) {
	end := f.newLabel(label)
	f.emit(&ir.Block{Label: end, Body: f.targeted(destination{label, end, false}, func() {
		if s.Init != nil {
			f.stmt(s.Init, "")
		}
		var tag ir.Expr
		if s.Tag != nil {
			tag = f.temp(f.to(s.Tag, f.typeOf(s.Tag)))
		}
		clauses := s.Body.List
		through := false
		for _, c := range clauses {
			body := c.(*ast.CaseClause).Body
			if n := len(body); n > 0 {
				if b, ok := body[n-1].(*ast.BranchStmt); ok && b.Tok == token.FALLTHROUGH {
					through = true
				}
			}
		}
		bodies := make([]*ir.Label, len(clauses))
		other := -1
		for i, c := range clauses {
			c := c.(*ast.CaseClause)
			if c.List == nil {
				other = i
			}
			if through {
				bodies[i] = f.newLabel("case")
			}
			for _, e := range c.List {
				f.emit(&ir.Block{Body: f.within(func() {
					f.step(c.Pos(), c.Pos())
					var cond ir.Expr
					if tag == nil {
						cond = f.expr(e)
					} else {
						f.comparable(e, tag.Type())
						cond = &ir.Binary{Op: token.EQL, X: tag, Y: f.to(e, tag.Type()), T: types.Typ[types.Bool]}
					}
					if through {
						f.emit(&ir.If{Cond: cond, Then: []ir.Stmt{&ir.Jump{To: bodies[i], Pos: e.Pos()}}})
						return
					}
					f.emit(&ir.If{Cond: cond, Then: f.clause(c, end)})
				})})
			}
		}
		if !through {
			if other >= 0 {
				f.stmts(clauses[other].(*ast.CaseClause).Body)
			}
			return
		}
		if other >= 0 {
			f.emit(&ir.Jump{To: bodies[other], Pos: s.Pos()})
		} else {
			f.emit(&ir.Leave{To: end})
		}
		for i, c := range clauses {
			f.emit(&ir.Mark{Label: bodies[i]})
			outer := f.nextBody // of a switch around this one, whose fallthrough may still come
			if i+1 < len(clauses) {
				f.nextBody = bodies[i+1]
			}
			f.emit(&ir.Block{Body: f.clause(c.(*ast.CaseClause), end)})
			f.nextBody = outer
		}
	})})
}

// clause is the body of a case, which leaves the switch at its end.
func (f *fn) clause(c *ast.CaseClause, end *ir.Label) []ir.Stmt {
	list := f.block(c.Body)
	return append(list, &ir.Leave{To: end})
}

func (f *fn) branch(s *ast.BranchStmt) {
	if f.iteration == nil && f.exits(s) {
		return
	}
	switch s.Tok {
	case token.GOTO:
		if f.iteration != nil && !f.own[s.Label.Name] {
			f.refuse(s, gotoOut)
		}
		f.emit(&ir.Jump{To: f.gotoLabel(s.Label.Name), Pos: s.Pos()})
		return
	case token.FALLTHROUGH:
		f.emit(&ir.Jump{To: f.nextBody, Pos: s.Pos()})
		return
	}
	for i := len(f.targets) - 1; i >= 0; i-- {
		t := f.targets[i]
		switch {
		case s.Label != nil && t.name != s.Label.Name:
		case s.Tok == token.CONTINUE && !t.loop:
		default:
			if f.iteration != nil && t.Label == f.iteration.loop {
				f.endIteration(s.Tok == token.CONTINUE, nil)
				return
			}
			if s.Tok == token.BREAK {
				f.emit(&ir.Leave{To: t.Label})
			} else {
				f.emit(&ir.Again{To: t.Label})
			}
			return
		}
	}
	if f.iteration == nil {
		f.fail(s, "%s leads nowhere", s.Tok)
	}
	outer := f.iteration.outer
	f.endIteration(false, func() { outer.branch(s) }) // of a loop around
}

func (f *fn) ret(s *ast.ReturnStmt) {
	root := f // the function of the source
	for root.iteration != nil {
		root = root.iteration.outer
	}
	want := root.f.Results
	if root.osrEntry != nil {
		want = root.osrEntry.Results
	}
	var values []ir.Expr
	switch {
	case len(s.Results) == 0:
		for _, v := range root.results {
			values = append(values, &ir.Ref{Var: v})
		}
	case len(s.Results) == 1 && len(want) > 1:
		for i, x := range f.call(ast.Unparen(s.Results[0]).(*ast.CallExpr)) {
			values = append(values, f.convert(x, want[i]))
		}
	default:
		for i, e := range s.Results {
			values = append(values, f.to(e, want[i]))
		}
	}
	f.giveBack(values)
}

// giveBack returns values, out of loops over functions too.
func (f *fn) giveBack(values []ir.Expr) {
	if f.iteration == nil {
		switch {
		case f.osrEntry != nil && len(values) == 0:
			f.leaveLoop(osr.Ends, nil, nil)
		case f.osrEntry != nil:
			f.leaveLoop(osr.Returns, values, nil)
		default:
			f.emit(&ir.Return{Values: values})
		}
		return
	}
	t := f.iteration
	if t.results == nil {
		for _, x := range values {
			t.results = append(t.results, t.outer.local("result", x.Type()))
		}
	}
	for i, x := range values {
		f.emit(&ir.Assign{To: &ir.Ref{Var: t.results[i]}, Value: x})
	}
	f.endIteration(false, func() {
		var list []ir.Expr
		for _, v := range t.results {
			list = append(list, &ir.Ref{Var: v})
		}
		t.outer.giveBack(list)
	})
}
