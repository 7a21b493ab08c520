package ir

import (
	"errors"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Verify says what is wrong with a program:
//
//   - a variable is used before it has a value, or where it is not declared;
//   - types do not go together;
//   - no check stands before what needs one: an index, a slice, a pointer, a divisor, the
//     count of a shift, a slice that becomes an array;
//   - a statement leaves what it is not in, a jump leads nowhere, or a function with
//     results ends without a return.
func Verify(p *Program) error {
	v := &verifier{declared: make(map[*Var]bool), literals: make(map[*Var]*Func), key: &textWriter{named: make(map[string]bool), number: make(map[*Var]int)}}
	for _, g := range p.Globals {
		v.declared[g] = true
	}
	for _, f := range p.Funcs {
		if !f.Foreign && !f.Outside {
			v.fun(f)
		}
	}
	return errors.Join(v.errs...)
}

// mostMistakes is how many are reported.
const mostMistakes = 10

type verifier struct {
	errs     []error
	f        *Func
	declared map[*Var]bool // visible here
	labels   []*Label      // of loops and blocks around
	loops    map[*Label]bool
	marks    map[*Label]int
	pinned   map[*Var]bool // its address is taken
	shared   map[*Var]bool // a literal sets it that does not declare it
	literals map[*Var]*Func
	ends     map[*Label]*facts
	key      *textWriter
	s        Stmt // being looked at
}

// facts are what holds at a place; nil where no thread comes.
type facts struct {
	unset map[*Var]bool // may have no value
	known map[string]fact
}

// fact is a condition that holds: a check, or a comparison.
type fact struct {
	deps   []*Var
	memory bool // a store may change it
	equal  *Var // it is that this variable is a length
	length *Len
}

func (s *facts) clone() *facts {
	if s == nil {
		return nil
	}
	return &facts{maps.Clone(s.unset), maps.Clone(s.known)}
}

// met is what holds where two ways meet.
func met(a, b *facts) *facts {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	for v := range b.unset {
		a.unset[v] = true
	}
	for key := range a.known {
		if _, ok := b.known[key]; !ok {
			delete(a.known, key)
		}
	}
	return a
}

func (v *verifier) fail(format string, args ...any) {
	if len(v.errs) >= mostMistakes {
		return
	}
	at := v.f.Name
	if v.s != nil {
		text := &textWriter{named: make(map[string]bool)}
		text.stmt(v.s)
		line, _, _ := strings.Cut(text.b.String(), "\n")
		at += ": " + line
	}
	v.errs = append(v.errs, fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...)))
}

// fun looks at a function, or at a literal, which sees what is around it.
func (v *verifier) fun(f *Func) {
	old := *v
	v.f, v.labels, v.loops, v.marks, v.ends = f, nil, make(map[*Label]bool), make(map[*Label]int), make(map[*Label]*facts)
	if old.f == nil {
		v.pinned, v.shared = unseen(f.Body)
	}
	Walk(f.Body, func(s Stmt) {
		if m, ok := s.(*Mark); ok {
			v.marks[m.Label]++
		}
	})
	for _, p := range f.Params {
		v.declared[p] = true
	}
	end := v.list(&facts{make(map[*Var]bool), make(map[string]fact)}, f.Body)
	v.s = nil
	if end != nil && len(f.Results) > 0 {
		v.fail("it ends without a return")
	}
	for _, p := range f.Params {
		delete(v.declared, p)
	}
	errs := v.errs
	*v = old
	v.errs = errs
}

// unseen are the variables whose address is taken, and those that literals set.
func unseen(list []Stmt) (pinned, shared map[*Var]bool) {
	pinned, shared = make(map[*Var]bool), make(map[*Var]bool)
	WalkAll(list, func(s Stmt) {
		Exprs(s, func(e Expr) {
			if a, ok := e.(*Addr); ok {
				pinned[Root(a.X)] = true
			}
		})
		if c, ok := s.(*Closure); ok {
			own := make(map[*Var]bool)
			WalkAll(c.Lit.Body, func(s Stmt) {
				own[declares(s)] = true
				for _, d := range Defined(s) {
					shared[d] = shared[d] || !own[d]
				}
			})
		}
	})
	return pinned, shared
}

// list looks at the statements of a block.
func (v *verifier) list(s *facts, list []Stmt) *facts {
	var own []*Var
	for _, x := range list {
		if m, ok := x.(*Mark); ok { // anything may hold, or not
			s = &facts{make(map[*Var]bool), make(map[string]fact)}
			if v.marks[m.Label] > 1 {
				v.s = x
				v.fail("the label stands at %d places", v.marks[m.Label])
			}
		}
		d, n := declares(x), len(own)
		if d != nil && !v.declared[d] {
			own = append(own, d)
		}
		if s == nil { // no thread comes here
			continue
		}
		s = v.stmt(s, x)
		if len(own) > n {
			v.declared[d] = true
		}
	}
	for _, d := range own {
		delete(v.declared, d)
	}
	return s
}

func declares(s Stmt) *Var {
	switch s := s.(type) {
	case *Define:
		return s.Var
	case *Closure:
		return s.Var
	}
	return nil
}

func (v *verifier) stmt(s *facts, x Stmt) *facts {
	v.s = x
	switch x := x.(type) {
	case *Loop:
		return v.loop(s, x)
	case *Assign:
		v.place(s, x.To)
		v.expr(s, x.Value)
	default:
		switch x := x.(type) {
		case *Define:
			v.expr(s, x.Init)
		case *Call:
			v.exprs(s, x.Args)
		case *Effect:
			v.exprs(s, x.Args)
		case *Memory:
			v.expr(s, x.Addr)
			v.exprs(s, x.Args)
		case *Printf:
			v.exprs(s, x.Args)
		case *If:
			v.expr(s, x.Cond)
		case *Return:
			v.exprs(s, x.Values)
		case *Check:
			v.exprs(s, x.Args)
		}
	}
	switch x := x.(type) {
	case *Define:
		v.set(s, x.Var)
		if x.Init != nil {
			v.same("the value", x.Init.Type(), x.Var.Type)
			if n, ok := x.Init.(*Len); ok {
				key := v.text(&Ref{Var: x.Var}) + " is " + v.text(n)
				v.learn(s, key, &Ref{Var: x.Var}, n)
				f := s.known[key]
				f.equal, f.length = x.Var, n
				s.known[key] = f
			}
		} else if x.Var.Space == Local {
			s.unset[x.Var] = true
		}
	case *Assign:
		v.same("the value", x.Value.Type(), x.To.Type())
		if r := Root(x.To); r != nil {
			v.set(s, r)
		} else {
			v.stored(s)
		}
	case *Closure:
		v.declared[x.Var], v.literals[x.Var] = true, x.Lit
		v.fun(x.Lit)
		delete(v.declared, x.Var)
	case *Call:
		v.call(s, x)
	case *Effect:
		v.stored(s)
		v.result(s, x.Dst)
	case *Memory:
		v.memory(s, x)
	case *If:
		if !IsBool(x.Cond.Type()) {
			v.fail("the condition is no bool")
		}
		then, other := s.clone(), s
		v.assume(then, x.Cond, true)
		v.assume(other, x.Cond, false)
		then = v.list(then, x.Then)
		return met(then, v.list(other, x.Else))
	case *Block:
		if x.Label == nil {
			return v.list(s, x.Body)
		}
		v.labels = append(v.labels, x.Label)
		end := met(v.list(s, x.Body), v.ends[x.Label])
		v.labels = v.labels[:len(v.labels)-1]
		delete(v.ends, x.Label)
		return end
	case *Leave:
		if !slices.Contains(v.labels, x.To) {
			v.fail("this is not in %s", x.To.Name)
		}
		v.ends[x.To] = met(s, v.ends[x.To])
		return nil
	case *Again:
		if !slices.Contains(v.labels, x.To) || !v.loops[x.To] {
			v.fail("this is not in a loop %s", x.To.Name)
		}
		return nil
	case *Jump:
		if v.marks[x.To] == 0 {
			v.fail("there is no label %s", x.To.Name)
		}
		return nil
	case *Return:
		if len(x.Values) != len(v.f.Results) {
			v.fail("there are %d results, not %d", len(v.f.Results), len(x.Values))
			return nil
		}
		for i, e := range x.Values {
			v.same("the result", e.Type(), v.f.Results[i])
		}
		return nil
	case *Panic:
		return nil
	case *Check:
		v.check(s, x)
		if x.Fails {
			return nil
		}
	}
	return s
}

// loop looks at a loop: what it changes is not known at its head.
func (v *verifier) loop(s *facts, l *Loop) *facts {
	stores := false
	for _, list := range [][]Stmt{l.Body, l.Post} {
		Walk(list, func(x Stmt) {
			for _, d := range Defined(x) {
				v.changed(s, d)
			}
			switch x := x.(type) {
			case *Call:
				v.ran(s, x)
			case *Effect, *Memory:
				stores = true
			case *Assign:
				stores = stores || Root(x.To) == nil
			}
		})
	}
	if stores {
		v.stored(s)
	}
	v.expr(s, l.Cond)
	var end *facts
	if l.Cond != nil {
		if !IsBool(l.Cond.Type()) {
			v.fail("the condition is no bool")
		}
		end = s.clone()
		v.assume(end, l.Cond, false)
	}
	head := s.clone()
	v.assume(s, l.Cond, true)
	v.labels, v.loops[l.Label] = append(v.labels, l.Label), true
	next := v.list(s, l.Body)
	if next == nil { // by way of a continue: of what the body sets nothing is known
		next = head
	}
	next.known = maps.Clone(head.known)
	v.list(next, l.Post)
	v.labels = v.labels[:len(v.labels)-1]
	end = met(end, v.ends[l.Label])
	delete(v.ends, l.Label)
	return end
}

func (v *verifier) call(s *facts, c *Call) {
	sig := (*types.Signature)(nil)
	if c.Func != nil {
		sig = signature(c.Func)
	} else {
		v.variable(s, c.Lit)
		sig = c.Lit.Type.Underlying().(*types.Signature)
	}
	if len(c.Args) != sig.Params().Len() {
		v.fail("there are %d parameters", sig.Params().Len())
	} else {
		for i, a := range c.Args {
			v.same("the argument", a.Type(), sig.Params().At(i).Type())
		}
	}
	v.ran(s, c)
	for i, d := range c.Dst {
		if d == nil {
			continue
		}
		v.result(s, d)
		if i < sig.Results().Len() {
			v.same("the result", sig.Results().At(i).Type(), d.Type)
		} else {
			v.fail("there are %d results", sig.Results().Len())
		}
	}
}

// arguments are how many an operation on memory has besides the address.
func (o MemoryOp) arguments() int {
	switch o {
	case Fence, Load:
		return 0
	case CompareExchange:
		return 2
	}
	return 1
}

func (v *verifier) memory(s *facts, m *Memory) {
	if len(m.Args) != m.Op.arguments() || (m.Addr == nil) != (m.Op == Fence) {
		v.fail("it has not the arguments of %v", m.Op)
		return
	}
	switch {
	case m.Op == Fence && m.Order == Relaxed:
		v.fail("a fence that is relaxed does nothing")
	case m.Dst != nil && (m.Op == Fence || m.Op == Store):
		v.fail("it has no result")
	case m.Op != Fence:
		p, ok := m.Addr.Type().Underlying().(*types.Pointer)
		if !ok {
			v.fail("the address is no pointer")
			return
		}
		v.there(s, m.Addr)
		for _, a := range m.Args {
			v.same("the argument", a.Type(), p.Elem())
		}
		if m.Dst != nil {
			v.same("the result", p.Elem(), m.Dst.Type)
		}
	}
	v.stored(s)
	v.result(s, m.Dst)
}

// result is a variable that takes a result.
func (v *verifier) result(s *facts, d *Var) {
	if d == nil {
		return
	}
	if !v.declared[d] {
		v.fail("%s is not declared", d.Name)
	}
	v.set(s, d)
}

// set is a variable that has a new value.
func (v *verifier) set(s *facts, x *Var) {
	v.changed(s, x)
	delete(s.unset, x)
}

func (v *verifier) changed(s *facts, x *Var) {
	for key, f := range s.known {
		if slices.Contains(f.deps, x) || f.memory && (x.Space != Local || v.pinned[x]) {
			delete(s.known, key)
		}
	}
}

// stored is memory that has a new value.
func (v *verifier) stored(s *facts) {
	for key, f := range s.known {
		if f.memory {
			delete(s.known, key)
		}
	}
}

// ran is a call that was made: it may have stored, and literals that it ran may have set
// variables.
func (v *verifier) ran(s *facts, c *Call) {
	v.stored(s)
	set, all := v.sets(c)
	for key, f := range s.known {
		if slices.ContainsFunc(f.deps, func(x *Var) bool { return v.shared[x] && (all || set[x]) }) {
			delete(s.known, key)
		}
	}
}

// sets are the variables that a call may set, by way of a literal; all: any that literals set.
func (v *verifier) sets(c *Call) (list map[*Var]bool, all bool) {
	isLiteral := func(e Expr) bool {
		r, ok := e.(*FuncRef)
		return ok && r.Lit != nil
	}
	if slices.ContainsFunc(c.Args, isLiteral) {
		return nil, true
	}
	if c.Func != nil {
		return nil, false
	}
	lit := v.literals[c.Lit]
	if lit == nil { // a parameter
		return nil, true
	}
	list = make(map[*Var]bool)
	WalkAll(lit.Body, func(s Stmt) {
		for _, d := range Defined(s) {
			list[d] = true
		}
		if c, ok := s.(*Call); ok && (c.Func == nil || slices.ContainsFunc(c.Args, isLiteral)) {
			all = true
		}
	})
	return list, all
}

func (v *verifier) variable(s *facts, x *Var) {
	switch {
	case !v.declared[x]:
		v.fail("%s is not declared", x.Name)
	case s.unset[x]:
		v.fail("%s has no value", x.Name)
	}
}

// place looks at what is assigned to: a variable needs no value before.
func (v *verifier) place(s *facts, e Expr) {
	switch e := e.(type) {
	case *Ref:
		if !v.declared[e.Var] {
			v.fail("%s is not declared", e.Var.Name)
		}
		if e.Var.Space == Constant {
			v.fail("%s is constant", e.Var.Name)
		}
		return
	case *Field, *Index, *Deref:
	default:
		v.fail("this is no place")
	}
	v.expr(s, e)
}

func (v *verifier) exprs(s *facts, list []Expr) {
	for _, e := range list {
		v.expr(s, e)
	}
}

// expr looks at an expression and those in it.
func (v *verifier) expr(s *facts, e Expr) {
	if e == nil {
		return
	}
	if b, ok := e.(*Binary); ok && (b.Op == token.LAND || b.Op == token.LOR) {
		v.expr(s, b.X)
		then := s.clone()
		v.assume(then, b.X, b.Op == token.LAND)
		v.expr(then, b.Y)
	} else if a, ok := e.(*Addr); ok && Root(a.X) != nil {
		v.place(s, a.X)
	} else {
		v.exprs(s, Operands(e))
	}
	switch e := e.(type) {
	case *Const:
		v.constant(e)
	case *Ref:
		v.variable(s, e.Var)
	case *FuncRef:
		if e.Lit != nil {
			v.variable(s, e.Lit)
		}
	case *Unary:
		v.same("the operand", e.X.Type(), e.T)
	case *Binary:
		v.binary(s, e)
	case *Field:
		if u, ok := e.X.Type().Underlying().(*types.Struct); !ok || e.Index >= u.NumFields() {
			v.fail("there is no such field")
		} else {
			v.same("the field", u.Field(e.Index).Type(), e.T)
		}
	case *Index:
		v.index(s, e)
	case *Deref:
		if p, ok := e.X.Type().Underlying().(*types.Pointer); !ok {
			v.fail("this is no pointer")
		} else {
			v.same("what is pointed to", p.Elem(), e.T)
		}
		v.there(s, e.X)
	case *Addr:
		if p, ok := e.T.Underlying().(*types.Pointer); !ok {
			v.fail("an address is a pointer")
		} else {
			v.same("what is pointed to", e.X.Type(), p.Elem())
		}
	case *Len:
		if _, ok := e.X.Type().Underlying().(*types.Slice); !ok && !IsString(e.X.Type()) {
			v.fail("this has no length")
		}
	case *Cap:
		if _, ok := e.X.Type().Underlying().(*types.Slice); !ok {
			v.fail("this has no capacity")
		}
	case *Slice:
		v.slice(s, e)
	case *Composite:
		v.composite(e)
	case *Pure:
		switch e.Name {
		case "array_of":
			v.checked(s, Fits, &Len{X: e.Args[0]}, Int(e.T.Underlying().(*types.Pointer).Elem().Underlying().(*types.Array).Len()))
		case "substring":
			n := &Len{X: e.Args[0]}
			v.checked(s, SliceOK, e.Args[1], e.Args[2], n, n)
		}
	}
}

func (v *verifier) constant(e *Const) {
	b, ok := e.T.Underlying().(*types.Basic)
	kind := constant.Unknown
	if ok {
		switch kind = constant.Float; {
		case b.Info()&types.IsBoolean != 0:
			kind = constant.Bool
		case b.Info()&types.IsString != 0:
			kind = constant.String
		case b.Info()&types.IsInteger != 0:
			kind = constant.Int
		case b.Info()&types.IsComplex != 0:
			kind = constant.Complex
		}
	}
	if e.Value.Kind() != kind {
		v.fail("a constant of type %s is not %s", e.T, e.Value)
	}
}

func (v *verifier) binary(s *facts, e *Binary) {
	x, y := e.X.Type(), e.Y.Type()
	switch e.Op {
	case token.SHL, token.SHR:
		v.same("the operand", x, e.T)
		if !IsUnsigned(y) {
			v.fail("the count of a shift has no sign")
		}
		if c, ok := e.Y.(*Convert); ok && !IsUnsigned(c.X.Type()) {
			v.checked(s, NonMinus, c.X)
		}
		return
	case token.LAND, token.LOR:
		if !IsBool(x) || !IsBool(y) || !IsBool(e.T) {
			v.fail("these are no bools")
		}
		return
	}
	v.same("the operands", x, y)
	if compares(e.Op) {
		if !IsBool(e.T) {
			v.fail("a comparison gives a bool")
		}
		return
	}
	v.same("the operand", x, e.T)
	if _, isConst := e.Y.(*Const); (e.Op == token.QUO || e.Op == token.REM) && IsInteger(e.T) && !isConst {
		v.checked(s, NonZero, e.Y)
	}
}

func (v *verifier) index(s *facts, e *Index) {
	if !IsInteger(e.I.Type()) {
		v.fail("the index is no integer")
	}
	v.same("the element", element(e.X.Type()), e.T)
	var n Expr = &Len{X: e.X}
	if a, ok := e.X.Type().Underlying().(*types.Array); ok {
		n = Int(a.Len())
		if c, ok := e.I.(*Const); ok && constant.Compare(c.Value, token.LSS, constant.MakeInt64(a.Len())) {
			return
		}
	}
	if _, ok := s.known[v.text(&Binary{Op: token.LSS, X: e.I, Y: n})]; !ok { // as a loop that counts says
		v.checked(s, InRange, e.I, n)
	}
}

func (v *verifier) slice(s *facts, e *Slice) {
	var n Expr
	switch u := e.X.Type().Underlying().(type) {
	case *types.Slice:
		n = &Cap{X: e.X}
		v.same("the elements", u, e.T.Underlying())
	case *types.Pointer:
		a, ok := u.Elem().Underlying().(*types.Array)
		if !ok {
			v.fail("this cannot be sliced")
			return
		}
		n = Int(a.Len())
		v.there(s, e.X)
		v.same("the elements", types.NewSlice(a.Elem()), e.T.Underlying())
	default:
		v.fail("this cannot be sliced")
		return
	}
	lo, okLo := e.Lo.(*Const)
	hi, okHi := e.Hi.(*Const)
	most, okMax := e.Max.(*Const)
	if c, ok := n.(*Const); ok && okLo && okHi && okMax && constant.Sign(lo.Value) >= 0 && constant.Compare(lo.Value, token.LEQ, hi.Value) &&
		constant.Compare(hi.Value, token.LEQ, most.Value) && constant.Compare(most.Value, token.LEQ, c.Value) {
		return
	}
	v.checked(s, SliceOK, e.Lo, e.Hi, e.Max, n)
}

func (v *verifier) composite(e *Composite) {
	switch u := e.T.Underlying().(type) {
	case *types.Struct:
		if len(e.Elems) != u.NumFields() {
			v.fail("there are %d fields", u.NumFields())
			return
		}
		for i, x := range e.Elems {
			v.same("the field", x.Type(), u.Field(i).Type())
		}
	case *types.Array:
		if int64(len(e.Elems)) != u.Len() {
			v.fail("there are %d elements", u.Len())
		}
		for _, x := range e.Elems {
			v.same("the element", x.Type(), u.Elem())
		}
	default:
		v.fail("a composite is a struct or an array")
	}
}

// there looks for the check of a pointer.
func (v *verifier) there(s *facts, p Expr) {
	switch p := p.(type) {
	case *Addr:
		return
	case *Ref:
		if p.Var.There {
			return
		}
	case *Pure:
		if p.Name == "array_of" {
			return
		}
	}
	v.checked(s, NonNil, p)
}

// checked looks for a check.
func (v *verifier) checked(s *facts, kind CheckKind, args ...Expr) {
	if _, ok := s.known[v.checkKey(kind, args)]; !ok {
		v.fail("no check stands before it: %v(%s)", kind, (&textWriter{named: make(map[string]bool)}).exprs(args))
	}
}

func (v *verifier) checkKey(kind CheckKind, args []Expr) string {
	return kind.String() + v.key.args(args)
}

func (v *verifier) text(e Expr) string { return v.key.expr(e) }

// arguments are how many a check has.
func (k CheckKind) arguments() int {
	switch k {
	case InRange, Fits:
		return 2
	case SliceOK:
		return 4
	}
	return 1
}

func (v *verifier) check(s *facts, c *Check) {
	if len(c.Args) != c.Kind.arguments() {
		v.fail("a check of this kind has %d arguments", c.Kind.arguments())
		return
	}
	v.learn(s, v.checkKey(c.Kind, c.Args), c.Args...)
	switch c.Kind {
	case InRange: // what has an element is not empty
		v.learn(s, v.checkKey(NonZero, c.Args[1:]), c.Args[1])
	case NonZero:
		if n := lengthOf(s, c.Args[0]); n != nil {
			v.learn(s, v.checkKey(NonZero, []Expr{n}), n)
		}
	}
}

// lengthOf is the length that a variable holds; nil if none is known.
func lengthOf(s *facts, e Expr) Expr {
	if r, ok := e.(*Ref); ok {
		for _, f := range s.known {
			if f.equal == r.Var {
				return f.length
			}
		}
	}
	return nil
}

// learn notes what holds, as long as nothing changes what it is made of.
func (v *verifier) learn(s *facts, key string, of ...Expr) {
	f := fact{}
	for _, e := range of {
		Parts(e, func(e Expr) {
			switch e := e.(type) {
			case *Ref:
				f.deps = append(f.deps, e.Var)
				f.memory = f.memory || e.Var.Space != Local || v.pinned[e.Var]
			case *Deref:
				f.memory = true
			case *Index:
				_, array := e.X.Type().Underlying().(*types.Array)
				f.memory = f.memory || !array
			}
		})
	}
	s.known[key] = f
}

// assume notes what a condition says.
func (v *verifier) assume(s *facts, cond Expr, is bool) {
	switch e := cond.(type) {
	case *Unary:
		v.assume(s, e.X, !is)
	case *Binary:
		switch {
		case e.Op == token.LAND && is, e.Op == token.LOR && !is:
			v.assume(s, e.X, is)
			v.assume(s, e.Y, is)
		case e.Op == token.LSS && is:
			v.learn(s, v.text(e), e)
			if n := lengthOf(s, e.Y); n != nil {
				v.learn(s, v.text(&Binary{Op: token.LSS, X: e.X, Y: n}), e.X, n)
			}
		}
	}
}

func (v *verifier) same(what string, have, want types.Type) {
	if !types.Identical(have, want) {
		v.fail("%s is of type %s, not %s", what, have, want)
	}
}
