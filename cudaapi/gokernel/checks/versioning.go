package checks

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// versioning takes checks out of loops. An innermost loop that counts becomes two: one
// without the checks of what is linear in its counter, which runs if these hold at
// both ends, and the loop as it was, which runs otherwise and panics where Go does.
type versioning struct {
	times int64            // how many iterations a loop may have that is Short; 0: any
	loose map[*ir.Var]bool // something may change them unseen
}

func (v *versioning) list(list []ir.Stmt) []ir.Stmt {
	out := make([]ir.Stmt, 0, len(list))
	for _, s := range list {
		switch s := s.(type) {
		case *ir.If:
			s.Then, s.Else = v.list(s.Then), v.list(s.Else)
		case *ir.Block:
			s.Body = v.list(s.Body)
		case *ir.Loop:
			s.Body = v.list(s.Body)
			out = append(out, v.loop(s)...)
			continue
		}
		out = append(out, s)
	}
	return out
}

// mostStatements is how long a loop may be of which there are two.
const mostStatements = 60

// loop gives a loop in two versions, or as it is.
func (v *versioning) loop(l *ir.Loop) []ir.Stmt {
	same := []ir.Stmt{l}
	c := v.counter(l)
	if c == nil {
		return same
	}
	n, fit := 0, true
	ir.Walk(l.Body, func(s ir.Stmt) {
		n++
		switch s := s.(type) {
		case *ir.Loop, *ir.Closure, *ir.Call, *ir.Mark, *ir.Jump:
			fit = false
		case *ir.Memory:
			fit = fit && s.Op != ir.Fence
		case *ir.Effect: // threads that meet must meet in one place
			fit = false
		case *ir.Define:
			fit = fit && s.Var.Space == ir.Local
		}
		for _, d := range ir.Defined(s) {
			c.changed[d] = true
		}
	})
	if !fit || n > mostStatements || c.changed[c.i] || !c.fixed(c.cond.Y) {
		return same
	}
	drop := make(map[*ir.Check]bool)
	var before []ir.Stmt
	guard := c.guard()
	last := &ir.Var{Name: "go_last", Type: c.i.Type} // a name that no other has, and such loops are not nested
	ir.Walk(l.Body, func(s ir.Stmt) {
		check, ok := s.(*ir.Check)
		if !ok || check.Holds {
			return
		}
		switch check.Kind {
		case ir.NonNil:
			if c.fixed(check.Args[0]) {
				drop[check] = true
				p := check.Args[0]
				guard = append(guard, &ir.Binary{Op: token.NEQ, X: p, Y: &ir.Zero{T: p.Type()}, T: types.Typ[types.Bool]})
			}
		case ir.InRange:
			i, n := check.Args[0], check.Args[1]
			by, ok := c.linear(i)
			if !ok || !c.fixed(n) {
				return
			}
			drop[check] = true
			guard = append(guard, below(i, n))
			if by == nil {
				return
			}
			guard = append(guard, below(replace(i, c.i, last), n))
			if k, ok := by.(*ir.Const); !ok || !smallConst(k) {
				const most = 1 << 31
				shifted := &ir.Binary{Op: token.ADD, X: toUnsigned(by), Y: number64(most), T: types.Typ[types.Uint64]}
				guard = append(guard, &ir.Binary{Op: token.LSS, X: shifted, Y: number64(2 * most), T: types.Typ[types.Bool]})
			}
		}
	})
	if len(drop) == 0 && v.times == 0 {
		return same
	}
	l.Slow = true
	before = append(before, &ir.Define{Var: last, Init: c.end()})
	fast := &ir.Loop{Label: v.label(l.Label), Pos: l.Pos, Cond: l.Cond, Post: l.Post, Short: v.times > 0}
	fast.Body = v.copied(l.Body, drop, map[*ir.Label]*ir.Label{l.Label: fast.Label})
	cond := guard[0]
	for _, g := range guard[1:] {
		cond = &ir.Binary{Op: token.LAND, X: cond, Y: g, T: types.Typ[types.Bool]}
	}
	return []ir.Stmt{&ir.Block{Body: append(before, &ir.If{Cond: cond, Then: []ir.Stmt{fast}, Else: same})}}
}

func (v *versioning) label(l *ir.Label) *ir.Label { return &ir.Label{Name: "go_" + l.Name} }

// copied is a list of statements without some checks, with labels of its own.
func (v *versioning) copied(list []ir.Stmt, drop map[*ir.Check]bool, labels map[*ir.Label]*ir.Label) []ir.Stmt {
	to := func(l *ir.Label) *ir.Label {
		if other := labels[l]; other != nil {
			return other
		}
		return l
	}
	var out []ir.Stmt
	for _, s := range list {
		switch s := s.(type) {
		case *ir.Check:
			c := *s
			c.Holds = c.Holds || drop[s]
			out = append(out, &c)
		case *ir.If:
			if p, ok := s.Cond.(*ir.Pure); ok && p.Name == "watched" && v.times > 0 { // nor whether it is to be left
				continue
			}
			out = append(out, &ir.If{Cond: s.Cond, Then: v.copied(s.Then, drop, labels), Else: v.copied(s.Else, drop, labels)})
		case *ir.Block:
			b := &ir.Block{}
			if s.Label != nil {
				b.Label = v.label(s.Label)
				labels[s.Label] = b.Label
			}
			b.Body = v.copied(s.Body, drop, labels)
			out = append(out, b)
		case *ir.Leave:
			out = append(out, &ir.Leave{To: to(s.To)})
		case *ir.Again:
			out = append(out, &ir.Again{To: to(s.To)})
		default:
			out = append(out, s)
		}
	}
	return out
}

// counter is what counts a loop's iterations.
type counter struct {
	v       *versioning
	i       *ir.Var
	cond    *ir.Binary
	step    int64 // of each iteration; negative downwards
	changed map[*ir.Var]bool
}

// counter finds the variable that counts a loop's iterations: compared with what
// does not change, and changed by a constant after each of them.
func (v *versioning) counter(l *ir.Loop) *counter {
	cond, ok := l.Cond.(*ir.Binary)
	if !ok || len(l.Post) != 1 {
		return nil
	}
	r, ok := cond.X.(*ir.Ref)
	if !ok || !wide(r.Var.Type) || r.Var.Space != ir.Local || v.loose[r.Var] {
		return nil
	}
	post, ok := l.Post[0].(*ir.Assign)
	if !ok || ir.Root(post.To) != r.Var {
		return nil
	}
	if to, ok := post.To.(*ir.Ref); !ok || to.Var != r.Var {
		return nil
	}
	sum, ok := post.Value.(*ir.Binary)
	if !ok || sum.Op != token.ADD && sum.Op != token.SUB {
		return nil
	}
	x, ok := sum.X.(*ir.Ref)
	by, isConst := sum.Y.(*ir.Const)
	if !ok || x.Var != r.Var || !isConst {
		return nil
	}
	step, exact := constant.Int64Val(constant.ToInt(by.Value))
	if sum.Op == token.SUB {
		step = -step
	}
	up := cond.Op == token.LSS || cond.Op == token.LEQ
	down := cond.Op == token.GTR || cond.Op == token.GEQ
	if !exact || step > 1<<20 || step < -1<<20 || !(up && step > 0 || down && step < 0) {
		return nil
	}
	c := &counter{v: v, i: r.Var, cond: cond, step: step, changed: make(map[*ir.Var]bool)}
	return c
}

// wide says whether a type is a signed integer of 64 bits.
func wide(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && (b.Kind() == types.Int || b.Kind() == types.Int64)
}

// fixed says whether an expression has one value as long as the loop runs.
func (c *counter) fixed(e ir.Expr) bool {
	ok := true
	ir.Parts(e, func(e ir.Expr) {
		switch e := e.(type) {
		case *ir.Const:
		case *ir.Ref:
			ok = ok && e.Var != c.i && e.Var.Space == ir.Local && !c.v.loose[e.Var] && !c.changed[e.Var]
		case *ir.Len, *ir.Convert:
		case *ir.Binary:
			ok = ok && (e.Op == token.ADD || e.Op == token.SUB || e.Op == token.MUL)
		case *ir.Pure:
			ok = ok && strings.Contains(e.Name, ".") // threadIdx.x
		default:
			ok = false
		}
	})
	return ok
}

// linear says whether an index is a sum of something fixed and the counter times
// something fixed, which it gives; nil if the index is fixed itself.
func (c *counter) linear(e ir.Expr) (by ir.Expr, ok bool) {
	if c.fixed(e) {
		return nil, true
	}
	if !wide(e.Type()) {
		return nil, false
	}
	switch e := e.(type) {
	case *ir.Ref:
		if e.Var == c.i {
			return ir.Int(1), true
		}
	case *ir.Convert:
		if wide(e.X.Type()) {
			return c.linear(e.X)
		}
	case *ir.Binary:
		x, okX := c.linear(e.X)
		y, okY := c.linear(e.Y)
		if !okX || !okY {
			return nil, false
		}
		switch e.Op {
		case token.ADD, token.SUB:
			switch {
			case y == nil:
				return x, true
			case x == nil && e.Op == token.ADD:
				return y, true
			case x == nil:
				return &ir.Binary{Op: token.SUB, X: ir.Int(0), Y: y, T: types.Typ[types.Int]}, true
			}
			return &ir.Binary{Op: e.Op, X: x, Y: y, T: types.Typ[types.Int]}, true
		case token.MUL:
			if y == nil {
				return product(x, e.Y), true
			}
			if x == nil {
				return product(y, e.X), true
			}
		}
	}
	return nil, false
}

var one = constant.MakeInt64(1)

func product(x, y ir.Expr) ir.Expr {
	int64s := types.Typ[types.Int]
	if k, ok := x.(*ir.Const); ok && constant.Compare(k.Value, token.EQL, one) {
		return y
	}
	return &ir.Binary{Op: token.MUL, X: &ir.Convert{X: x, T: int64s}, Y: &ir.Convert{X: y, T: int64s}, T: int64s}
}

// guard are the conditions on the loop itself: it has an iteration, and not so many that
// a product with their number could wrap.
func (c *counter) guard() []ir.Expr {
	i := &ir.Ref{Var: c.i}
	x, y := ir.Expr(i), c.cond.Y
	if c.step > 0 {
		x, y = y, x
	}
	most := int64(1 << 30)
	if c.v.times > 0 {
		most = c.v.times
	}
	times := &ir.Binary{Op: token.SUB, X: toUnsigned(x), Y: toUnsigned(y), T: types.Typ[types.Uint64]}
	return []ir.Expr{c.cond, &ir.Binary{Op: token.LSS, X: times, Y: number64(most), T: types.Typ[types.Bool]}}
}

// end is the counter's value in the last iteration, if there is one.
func (c *counter) end() ir.Expr {
	t := c.i.Type
	number := func(n int64) ir.Expr { return &ir.Const{T: t, Value: constant.MakeInt64(n)} }
	bin := func(op token.Token, x, y ir.Expr) ir.Expr { return &ir.Binary{Op: op, X: x, Y: y, T: t} }
	i := &ir.Ref{Var: c.i}
	way := bin(token.SUB, c.cond.Y, i)
	switch c.cond.Op {
	case token.LSS:
		way = bin(token.SUB, way, number(1))
	case token.GTR:
		way = bin(token.ADD, way, number(1))
	}
	if c.step == 1 || c.step == -1 {
		return bin(token.ADD, i, way)
	}
	return bin(token.ADD, i, bin(token.MUL, bin(token.QUO, way, number(c.step)), number(c.step)))
}

func number64(n int64) ir.Expr {
	return &ir.Const{T: types.Typ[types.Uint64], Value: constant.MakeInt64(n)}
}

// below says that an index is one of n.
func below(i, n ir.Expr) ir.Expr {
	return &ir.Binary{Op: token.LSS, X: toUnsigned(i), Y: toUnsigned(n), T: types.Typ[types.Bool]}
}

func smallConst(k *ir.Const) bool {
	n, exact := constant.Int64Val(constant.ToInt(k.Value))
	return exact && n < 1<<31 && n > -1<<31
}

// replace is an index with another variable in the place of the counter.
func replace(e ir.Expr, old, by *ir.Var) ir.Expr {
	return ir.Map(e, func(e ir.Expr) ir.Expr {
		if r, ok := e.(*ir.Ref); ok && r.Var == old {
			return &ir.Ref{Var: by}
		}
		return e
	})
}
