package gokernel

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// Where a loop runs the threads of a block one after the other, a loop of theirs by
// which they take turns at a slice (i := rank; i < n; i += threads) would have each walk
// through all of memory. Such a loop goes around that over the threads instead: they
// take their elements side by side, which the C++ compiler can do with vectors.

// interchanged is a kernel in which the loops that are so are rewritten; the same if there is
// none.
func interchanged(f *ir.Func) *ir.Func {
	r := &interchange{values: make(map[*ir.Var]ir.Expr), params: make(map[*ir.Var]bool)}
	writes := make(map[*ir.Var]int)
	ir.WalkAll(f.Body, func(s ir.Stmt) {
		for _, v := range ir.Defined(s) {
			writes[v]++
		}
	})
	for _, v := range f.Params {
		r.params[v] = writes[v] == 0
	}
	ir.Walk(f.Body, func(s ir.Stmt) {
		switch s := s.(type) {
		case *ir.Define:
			if s.Init != nil && writes[s.Var] == 1 {
				r.values[s.Var] = s.Init
			}
		case *ir.Effect: // its result is defined before, without a value
			if s.Dst != nil && writes[s.Dst] == 2 && (s.Name == "grid_rank" || s.Name == "grid_size" || s.Name == "thread_rank") {
				r.values[s.Dst] = &ir.Pure{Name: s.Name, T: s.Dst.Type}
			}
		}
	})
	other := *f
	if other.Body = r.list(f.Body); r.found {
		return &other
	}
	return f
}

type interchange struct {
	values map[*ir.Var]ir.Expr // what variables stand for that are set once
	params map[*ir.Var]bool    // those that do not change
	found  bool
}

func (r *interchange) list(list []ir.Stmt) []ir.Stmt {
	out := slices.Clone(list)
	for i, s := range list {
		b, ok := s.(*ir.Block)
		if !ok || b.Label != nil {
			continue
		}
		if n := len(b.Body); n >= 2 {
			d, isDefine := b.Body[n-2].(*ir.Define)
			l, isLoop := b.Body[n-1].(*ir.Loop)
			if isDefine && isLoop && d.Init != nil {
				if other := r.around(d, l); other != nil {
					r.found = true
					out[i] = &ir.Block{Body: append(slices.Clone(b.Body[:n-2]), other...)}
					continue
				}
			}
		}
		out[i] = &ir.Block{Body: r.list(b.Body)}
	}
	return out
}

// around is a loop with its counter, as one around that over the threads; nil if it
// cannot be that.
func (r *interchange) around(d *ir.Define, l *ir.Loop) []ir.Stmt {
	cond, ok := l.Cond.(*ir.Binary)
	t := d.Var.Type
	if !ok || cond.Op != token.LSS || sizes.Sizeof(t) != 8 || ir.IsUnsigned(t) || !ir.IsInteger(t) || len(l.Post) == 0 {
		return nil
	}
	post, ok := l.Post[len(l.Post)-1].(*ir.Assign)
	if !ok || !isRef(cond.X, d.Var) || !isRef(post.To, d.Var) {
		return nil
	}
	sum, ok := post.Value.(*ir.Binary)
	if !ok || sum.Op != token.ADD || !isRef(sum.X, d.Var) || !r.fits(d.Var, l) {
		return nil
	}
	first, last, own := r.of(d.Init, firstThread), r.of(d.Init, lastThread), r.of(d.Init, ownThread)
	step, end := r.of(sum.Y, firstThread), r.of(cond.Y, firstThread)
	if first == nil || step == nil || end == nil || !r.rises(d.Init) || r.varies(sum.Y) || r.varies(cond.Y) {
		return nil
	}
	bin := func(op token.Token, x, y ir.Expr) ir.Expr { return &ir.Binary{Op: op, X: x, Y: y, T: t} }
	test := func(op token.Token, x, y ir.Expr) ir.Expr {
		return &ir.Binary{Op: op, X: x, Y: y, T: types.Typ[types.Bool]}
	}
	number := func(n int64) ir.Expr { return &ir.Const{T: t, Value: constant.MakeInt64(n)} }
	u := &ir.Var{Name: "go_all_" + d.Var.Name, Type: t}
	at := &ir.Ref{Var: u}
	iteration := func(prefix string, all bool) []ir.Stmt { // of all threads
		i := &ir.Var{Name: prefix + d.Var.Name, Type: t}
		next := &ir.Label{Name: prefix + l.Label.Name}
		body := ir.Copy(l.Body, map[*ir.Var]*ir.Var{d.Var: i}, map[*ir.Label]*ir.Label{l.Label: next}, func(name string) string { return prefix + name })
		if !all {
			body = []ir.Stmt{&ir.If{Cond: test(token.LSS, &ir.Ref{Var: i}, end), Then: body}}
		}
		define := &ir.Define{Var: i, Init: bin(token.ADD, at, bin(token.SUB, own, first))}
		return []ir.Stmt{&ir.Effect{Name: "region"}, &ir.Block{Label: next, Body: append([]ir.Stmt{define}, body...)}, &ir.Effect{Name: "region"}}
	}
	around := &ir.Loop{
		Label: &ir.Label{Name: "go_all_" + l.Label.Name}, Pos: l.Pos, Cond: test(token.LSS, at, end),
		Body: []ir.Stmt{&ir.If{Cond: test(token.LSS, bin(token.ADD, at, bin(token.SUB, last, first)), end), Then: iteration("go_in_", true), Else: iteration("go_at_", false)}},
		Post: []ir.Stmt{&ir.Assign{To: at, Value: bin(token.ADD, at, step)}},
	}
	// Nothing wraps, and the loop goes up.
	const most = 1 << 60
	fine := test(token.LAND, test(token.LSS, end, number(most)), test(token.LSS, step, number(most)))
	fine = test(token.LAND, fine, test(token.LAND, test(token.LSS, number(0), step), test(token.LSS, number(-most), first)))
	return []ir.Stmt{&ir.Define{Var: u, Init: first}, &ir.If{Cond: fine, Then: []ir.Stmt{around}, Else: []ir.Stmt{&ir.Block{Body: []ir.Stmt{d, l}}}}}
}

func isRef(e ir.Expr, v *ir.Var) bool {
	r, ok := e.(*ir.Ref)
	return ok && r.Var == v
}

// fits says whether a loop's body is one that threads can run side by side.
func (r *interchange) fits(i *ir.Var, l *ir.Loop) bool {
	fit := true
	ir.Walk(l.Body, func(s ir.Stmt) {
		switch s := s.(type) {
		case *ir.Loop, *ir.Closure, *ir.Call, *ir.Effect, *ir.Memory, *ir.Printf, *ir.Jump, *ir.Mark, *ir.Return, *ir.Panic:
			fit = false
		case *ir.Leave:
			fit = fit && s.To != l.Label
		}
		fit = fit && !slices.Contains(ir.Defined(s), i)
	})
	for _, s := range l.Post[:len(l.Post)-1] {
		effect, isEffect := s.(*ir.Effect)
		_, isDefine := s.(*ir.Define)
		fit = fit && (isDefine || isEffect && effect.Name == "grid_size")
	}
	return fit
}

// Of which thread of a block an expression is.
const (
	ownThread = iota
	firstThread
	lastThread
)

// of is an expression for a thread, of what all threads know and the thread's rank; nil
// if there is more in it.
func (r *interchange) of(e ir.Expr, thread int) ir.Expr {
	pure := func(name string) ir.Expr { return &ir.Pure{Name: name, T: types.Typ[types.Int]} }
	sum := func(op token.Token, x, y ir.Expr) ir.Expr {
		return &ir.Binary{Op: op, X: x, Y: y, T: types.Typ[types.Int]}
	}
	rank := func() ir.Expr {
		return []ir.Expr{pure("thread_rank"), ir.Int(0), sum(token.SUB, pure("block_size"), ir.Int(1))}[thread]
	}
	switch e := e.(type) {
	case *ir.Const:
		return e
	case *ir.Ref:
		if x := r.values[e.Var]; x != nil {
			return r.of(x, thread)
		}
		if r.params[e.Var] {
			return e
		}
	case *ir.Len:
		if x := r.of(e.X, thread); x != nil {
			return &ir.Len{X: x}
		}
	case *ir.Pure:
		switch axis, isThread := strings.CutPrefix(e.Name, "threadIdx."); {
		case isThread:
			return []ir.Expr{e, ir.Int(0), sum(token.SUB, pure("blockDim."+axis), ir.Int(1))}[thread]
		case e.Name == "thread_rank":
			return rank()
		case e.Name == "grid_rank":
			return sum(token.ADD, pure("grid_first"), rank())
		case e.Name == "grid_size" || strings.Contains(e.Name, "."):
			return e
		}
	case *ir.Convert:
		if x := r.of(e.X, thread); x != nil && ir.IsInteger(e.T) && ir.IsInteger(e.X.Type()) && sizes.Sizeof(e.T) == 8 && sizes.Sizeof(e.X.Type()) == 8 {
			return &ir.Convert{X: x, T: e.T}
		}
	case *ir.Binary:
		x, y := r.of(e.X, thread), r.of(e.Y, thread)
		if x != nil && y != nil && (e.Op == token.ADD || e.Op == token.SUB || e.Op == token.MUL) {
			return &ir.Binary{Op: e.Op, X: x, Y: y, T: e.T}
		}
	}
	return nil
}

// varies says whether an expression differs among the threads of a block.
func (r *interchange) varies(e ir.Expr) (found bool) {
	ir.Parts(r.of(e, ownThread), func(e ir.Expr) {
		p, ok := e.(*ir.Pure)
		found = found || ok && (p.Name == "thread_rank" || strings.HasPrefix(p.Name, "threadIdx."))
	})
	return found
}

// rises says whether an expression is a sum of what all threads know and their indices,
// by no number or one above 0.
func (r *interchange) rises(e ir.Expr) bool {
	if !r.varies(e) {
		return true
	}
	switch e := e.(type) {
	case *ir.Ref:
		return r.rises(r.values[e.Var])
	case *ir.Pure:
		return true
	case *ir.Convert:
		return r.rises(e.X)
	case *ir.Binary:
		switch e.Op {
		case token.ADD:
			return r.rises(e.X) && r.rises(e.Y)
		case token.SUB:
			return r.rises(e.X) && !r.varies(e.Y)
		case token.MUL:
			return r.rises(e.X) && positive(e.Y) || r.rises(e.Y) && positive(e.X)
		}
	}
	return false
}

func positive(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const:
		n, exact := constant.Int64Val(constant.ToInt(e.Value))
		return exact && n > 0 && n < 1<<20
	case *ir.Pure:
		return strings.HasPrefix(e.Name, "blockDim.")
	}
	return false
}
