package gokernel

import (
	"go/token"
	"go/types"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// Where the threads of a block do not run at once, as on simulated devices, a kernel
// whose barriers all threads reach alike need not keep a stack for each of them. The
// statements between two barriers are a region, which a loop runs for one thread after
// the other; what a thread keeps from region to region lies in arrays with an element
// for each (as in pocl's work-item loops). Statements in which a barrier lies stand
// outside of these loops: their conditions must be the same for all threads of a block,
// and depend on nothing but what is. A kernel that is otherwise, or whose lanes talk to
// each other, or which waits for what another thread writes, keeps its stacks.

// whole is a kernel as it is written in regions.
type whole struct {
	f       *ir.Func
	splits  map[ir.Stmt]bool // a barrier is in it, or it leads out of what has one
	varying map[*ir.Var]bool // may differ among the threads of a block
	param   map[*ir.Var]bool
	vars    map[*ir.Var]*variable
	regions int // counted so far
	ends    bool
	died    bool // threads may have ended before the region that is written
}

// variable is what is known of a local variable.
type variable struct {
	define  *ir.Define
	writes  int          // with the definition, if that has a value
	inside  bool         // one of them is in a region
	pinned  bool         // its address is taken, or a literal uses what may change
	used    bool         // by a literal
	regions map[int]bool // that mention it; -1: what stands outside of them
	home    int          // the region that defines it, or -1
	way     way
}

// way is where a variable lies.
type way int

const (
	plain  way = iota // in the loop of its one region
	scalar            // one for all threads
	kept              // an element of an array for each thread
	anew              // reckoned again in each region
)

// barriers are the effects between regions.
var barriers = map[string]bool{"sync_threads": true, "sync_threads_count": true, "sync_threads_and": true, "sync_threads_or": true, "region": true}

// alone are the effects that a thread can have while no other runs.
func alone(name string) bool {
	switch name {
	case "copy", "clear", "clock", "thread_rank", "grid_rank", "grid_size", "lane_id", "load2", "load4", "store2", "store4", "copy_async", "commit_copies", "wait_copies":
		return true
	}
	return false
}

// loner says whether a thread can run statements while no other runs: none of them
// waits for another thread. top: of the kernel itself, where barriers may stand.
func loner(list []ir.Stmt, top, loop bool, read map[*ir.Var]bool) bool {
	for _, s := range list {
		switch s := s.(type) {
		case *ir.Effect:
			if barriers[s.Name] {
				if !top {
					return false
				}
				continue
			}
			if !alone(s.Name) {
				return false
			}
		case *ir.Memory:
			if loop && s.Dst != nil && read[s.Dst] {
				return false // it may look again until another thread has written
			}
		case *ir.Call:
			if s.Func != nil && (s.Func.Foreign || s.Func.Takes || !loner(s.Func.Body, false, loop, readIn(s.Func.Body))) {
				return false
			}
		case *ir.Closure:
			if !loner(s.Lit.Body, false, true, read) { // who calls it may do so in a loop
				return false
			}
		case *ir.If:
			if !loner(s.Then, top, loop, read) || !loner(s.Else, top, loop, read) {
				return false
			}
		case *ir.Loop:
			if len(s.Body)+len(s.Post) == 0 || !loner(s.Body, top, true, read) || !loner(s.Post, top, true, read) {
				return false
			}
		case *ir.Block:
			if !loner(s.Body, top, loop, read) {
				return false
			}
		case *ir.Jump:
			return false
		}
	}
	return true
}

// readIn are the variables whose values statements use.
func readIn(list []ir.Stmt) map[*ir.Var]bool {
	read := make(map[*ir.Var]bool)
	ir.WalkAll(list, func(s ir.Stmt) {
		written, _ := s.(*ir.Assign)
		ir.Exprs(s, func(e ir.Expr) {
			if ref, ok := e.(*ir.Ref); ok && (written == nil || written.To != e) {
				read[ref.Var] = true
			}
		})
	})
	return read
}

// eachRef visits the variables that an expression mentions.
func eachRef(e ir.Expr, do func(*ir.Var)) {
	ir.Parts(e, func(e ir.Expr) { named(e, do) })
}

// independent says whether each thread of a kernel can run while no other runs.
func independent(f *ir.Func) bool { return !f.Called && loner(f.Body, true, false, readIn(f.Body)) }

// wholeOf readies a kernel to be written in regions; nil if it cannot be.
func wholeOf(f *ir.Func) *whole {
	for _, lift := range []bool{false, true} {
		w := &whole{f: f, splits: make(map[ir.Stmt]bool), varying: make(map[*ir.Var]bool), param: make(map[*ir.Var]bool), vars: make(map[*ir.Var]*variable)}
		for _, p := range f.Params {
			w.param[p] = true
		}
		w.split(f.Body)
		w.facts(f.Body)
		if !w.uniform(f.Body) {
			return nil
		}
		if lift {
			w.lift(f.Body)
		}
		w.survey(f.Body)
		if w.settle() {
			w.regions = 0
			return w
		}
	}
	return nil
}

// lift puts branches between regions that do nothing but set what is the same for all
// threads.
func (w *whole) lift(list []ir.Stmt) {
	var sets func(list []ir.Stmt) bool
	sets = func(list []ir.Stmt) bool {
		for _, s := range list {
			switch s := s.(type) {
			case *ir.Define:
				if w.varying[s.Var] || s.Var.Space != ir.Local {
					return false
				}
			case *ir.Assign:
				if ref, ok := s.To.(*ir.Ref); !ok || w.varying[ref.Var] || ref.Var.Space != ir.Local {
					return false
				}
			case *ir.If:
				if !w.same(s.Cond) || !sets(s.Then) || !sets(s.Else) {
					return false
				}
			case *ir.Block:
				if s.Label != nil || !sets(s.Body) {
					return false
				}
			default:
				return false
			}
		}
		return true
	}
	for _, s := range list {
		lifted := !w.splits[s] && sets([]ir.Stmt{s})
		switch s := s.(type) {
		case *ir.If:
			if w.splits[s] {
				w.lift(s.Then)
				w.lift(s.Else)
			}
		case *ir.Loop:
			if w.splits[s] {
				w.lift(s.Body)
			}
		case *ir.Block:
			if w.splits[s] {
				w.lift(s.Body)
			}
		}
		if lifted {
			ir.Walk([]ir.Stmt{s}, func(in ir.Stmt) {
				switch in.(type) {
				case *ir.If, *ir.Block:
					w.splits[in] = true
				}
			})
		}
	}
}

// split finds the statements between regions.
func (w *whole) split(list []ir.Stmt) {
	led := make(map[*ir.Label]bool) // to what splits
	var visit func(s ir.Stmt) bool
	all := func(list []ir.Stmt) (found bool) {
		for _, s := range list {
			found = visit(s) || found
		}
		return found
	}
	visit = func(s ir.Stmt) bool {
		found := w.splits[s]
		switch s := s.(type) {
		case *ir.Effect:
			found = barriers[s.Name]
		case *ir.If:
			found = all(s.Then) || found
			found = all(s.Else) || found
		case *ir.Loop:
			found = all(s.Body) || found
			found = all(s.Post) || found
			led[s.Label] = led[s.Label] || found
		case *ir.Block:
			found = all(s.Body) || found
			if s.Label != nil {
				led[s.Label] = led[s.Label] || found
			}
		case *ir.Leave:
			found = led[s.To]
		case *ir.Again:
			found = led[s.To]
		}
		w.splits[s] = found
		return found
	}
	for n := -1; n != len(led)+count(w.splits); {
		n = len(led) + count(w.splits)
		all(list)
	}
}

func count(m map[ir.Stmt]bool) (n int) {
	for _, v := range m {
		if v {
			n++
		}
	}
	return n
}

// facts notes what happens to variables.
func (w *whole) facts(list []ir.Stmt) {
	at := func(v *ir.Var) *variable {
		if w.vars[v] == nil {
			w.vars[v] = &variable{regions: make(map[int]bool), home: -1}
		}
		return w.vars[v]
	}
	ir.WalkAll(list, func(s ir.Stmt) {
		ir.Exprs(s, func(e ir.Expr) {
			if a, ok := e.(*ir.Addr); ok {
				if v := ir.Root(a.X); v != nil {
					at(v).pinned = true
				}
			}
		})
		switch s := s.(type) {
		case *ir.Define:
			at(s.Var).define = s
			if s.Init != nil {
				at(s.Var).writes++
			}
		case *ir.Assign:
			if v := ir.Root(s.To); v != nil {
				at(v).writes++
				if _, all := s.To.(*ir.Ref); !all {
					at(v).inside = true
				}
			}
		case *ir.Call:
			for _, v := range s.Dst {
				if v != nil {
					at(v).writes++
				}
			}
		case *ir.Memory:
			if s.Dst != nil {
				at(s.Dst).writes++
			}
		case *ir.Effect:
			if s.Dst != nil {
				at(s.Dst).writes++
			}
			if s.Name == "clear" {
				if v := ir.Root(s.Args[0]); v != nil {
					at(v).writes++
					at(v).pinned = true
				}
			}
		case *ir.Closure:
			at(s.Var).pinned = true
			ir.WalkAll(s.Lit.Body, func(in ir.Stmt) {
				mention(in, func(v *ir.Var) { at(v).used = true })
			})
		}
	})
	for v, x := range w.vars {
		x.pinned = x.pinned || x.used && (x.writes > 1 || w.param[v] && x.writes > 0)
	}
}

// named visits the variable that an expression is the name of.
func named(e ir.Expr, do func(*ir.Var)) {
	switch e := e.(type) {
	case *ir.Ref:
		do(e.Var)
	case *ir.FuncRef:
		if e.Lit != nil {
			do(e.Lit)
		}
	}
}

// mention visits all variables that a statement itself mentions.
func mention(s ir.Stmt, do func(*ir.Var)) {
	ir.Exprs(s, func(e ir.Expr) { named(e, do) })
	for _, v := range ir.Defined(s) {
		do(v)
	}
	switch s := s.(type) {
	case *ir.Closure:
		do(s.Var)
	case *ir.Call:
		if s.Lit != nil {
			do(s.Lit)
		}
	}
}

// same says whether an expression has the same value for all threads of a block.
func (w *whole) same(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Ref:
		return e.Var.Space == ir.Constant || e.Var.Space == ir.Local && !w.varying[e.Var]
	case *ir.Addr:
		v := ir.Root(e.X)
		if v == nil || v.Space == ir.Local {
			return false
		}
		ref, ok := e.X.(*ir.Ref) // of a variable that all threads share
		return ok && ref.Var == v
	case *ir.Deref:
		return false
	case *ir.Index:
		if _, ok := e.X.Type().Underlying().(*types.Array); !ok {
			return false
		}
	case *ir.Pure:
		if strings.HasPrefix(e.Name, "threadIdx") || e.Name == "thread_rank" {
			return false
		}
	case *ir.FuncRef:
		return false
	}
	for _, x := range ir.Operands(e) {
		if !w.same(x) {
			return false
		}
	}
	return true
}

// construct is a loop or a block that is being visited.
type construct struct {
	label *ir.Label
	s     ir.Stmt
}

// uniform finds what may differ among threads, and says whether all threads of a block
// come alike through the statements between regions.
func (w *whole) uniform(body []ir.Stmt) bool {
	for v, x := range w.vars {
		if x.pinned {
			w.varying[v] = true
		}
	}
	apart := make(map[ir.Stmt]bool) // threads leave it, or go on in it, at different times
	var around []construct
	changed := true
	write := func(v *ir.Var, same bool) {
		if v != nil && !same && !w.varying[v] {
			w.varying[v] = true
			changed = true
		}
	}
	part := func(to *ir.Label) {
		for i := len(around) - 1; i >= 0; i-- {
			if !apart[around[i].s] {
				apart[around[i].s] = true
				changed = true
			}
			if around[i].label == to {
				return
			}
		}
	}
	var visit func(list []ir.Stmt, apartHere bool)
	within := func(label *ir.Label, s ir.Stmt, do func()) {
		around = append(around, construct{label, s})
		do()
		around = around[:len(around)-1]
	}
	visit = func(list []ir.Stmt, here bool) {
		for _, s := range list {
			switch s := s.(type) {
			case *ir.Define:
				if s.Init != nil {
					write(s.Var, !here && w.same(s.Init))
				}
			case *ir.Assign:
				if v := ir.Root(s.To); v != nil {
					same := !here && w.same(s.Value)
					for _, x := range ir.Operands(s.To) {
						same = same && w.same(x)
					}
					write(v, same)
				}
			case *ir.Call:
				for _, v := range s.Dst {
					write(v, false)
				}
			case *ir.Effect:
				write(s.Dst, !here && barriers[s.Name])
			case *ir.Memory:
				write(s.Dst, false)
			case *ir.If:
				apartThere := here || !w.same(s.Cond)
				visit(s.Then, apartThere)
				visit(s.Else, apartThere)
			case *ir.Loop:
				if s.Cond != nil && !w.same(s.Cond) && !apart[s] {
					apart[s] = true
					changed = true
				}
				within(s.Label, s, func() {
					visit(s.Body, here || apart[s])
					visit(s.Post, here || apart[s])
				})
			case *ir.Block:
				within(s.Label, s, func() { visit(s.Body, here || apart[s]) })
			case *ir.Leave:
				if here {
					part(s.To)
				}
			case *ir.Again:
				if here {
					part(s.To)
				}
			}
		}
	}
	for changed {
		changed = false
		visit(body, false)
	}
	alike := true
	ir.WalkAll(body, func(s ir.Stmt) {
		if !w.splits[s] {
			return
		}
		alike = alike && !apart[s]
		if c, ok := s.(*ir.If); ok {
			alike = alike && w.same(c.Cond)
		}
	})
	return alike
}

// survey notes in which regions variables are mentioned.
func (w *whole) survey(list []ir.Stmt) {
	note := func(s ir.Stmt, region int) {
		mention(s, func(v *ir.Var) {
			if x := w.vars[v]; x != nil {
				x.regions[region] = true
			}
		})
		if d, ok := s.(*ir.Define); ok {
			w.vars[d.Var].home = region
		}
		if c, ok := s.(*ir.Closure); ok {
			w.vars[c.Var].home = region
		}
	}
	var visit func(list []ir.Stmt)
	visit = func(list []ir.Stmt) {
		w.regions++
		for _, s := range list {
			if !w.splits[s] {
				if w.cuts(s) {
					w.regions++
				}
				nested := false
				ir.WalkAll([]ir.Stmt{s}, func(in ir.Stmt) {
					note(in, w.regions)
					if nested {
						w.inside(in)
					}
					nested = true
				})
				continue
			}
			switch s := s.(type) {
			case *ir.Effect: // what it is given is reckoned in the region before
				for _, e := range s.Args {
					eachRef(e, func(v *ir.Var) {
						if x := w.vars[v]; x != nil {
							x.regions[w.regions] = true
						}
					})
				}
				if s.Dst != nil {
					w.vars[s.Dst].regions[-1] = true
				}
			case *ir.If:
				note(s, -1)
				visit(s.Then)
				visit(s.Else)
			case *ir.Loop:
				note(s, -1)
				visit(s.Body)
				visit(s.Post)
			case *ir.Block:
				visit(s.Body)
			}
			w.regions++
		}
	}
	visit(list)
}

// tops visits the statements that stand at the top of a region, or between regions.
func (w *whole) tops(list []ir.Stmt, do func(ir.Stmt)) {
	for _, s := range list {
		do(s)
		if !w.splits[s] {
			continue
		}
		switch s := s.(type) {
		case *ir.If:
			w.tops(s.Then, do)
			w.tops(s.Else, do)
		case *ir.Loop:
			w.tops(s.Body, do)
			w.tops(s.Post, do)
		case *ir.Block:
			w.tops(s.Body, do)
		}
	}
}

// inside notes what a statement that is not at the top of a region writes.
func (w *whole) inside(s ir.Stmt) {
	hit := func(v *ir.Var) {
		if x := w.vars[v]; v != nil && x != nil {
			x.inside = true
		}
	}
	switch s := s.(type) {
	case *ir.Define:
		hit(s.Var)
	case *ir.Assign:
		hit(ir.Root(s.To))
	case *ir.Call:
		for _, v := range s.Dst {
			hit(v)
		}
	case *ir.Effect:
		hit(s.Dst)
	case *ir.Memory:
		hit(s.Dst)
	}
}

// settle decides where variables lie. It says whether all that must can be one for all
// threads.
func (w *whole) settle() bool {
	one := make(map[*ir.Var]bool) // that can be
	for v, x := range w.vars {
		if w.param[v] {
			if x.writes > 0 && (w.varying[v] || x.inside) || x.pinned {
				return false // each thread would need one of its own
			}
			continue
		}
		_, fun := v.Type.Underlying().(*types.Signature)
		if fun && len(x.regions) != 1 {
			return false
		}
		one[v] = v.Space == ir.Local && x.define != nil && !w.varying[v] && !x.inside && !fun
	}
	// What it is made of must be so, too.
	made := func(do func(v *ir.Var, of *ir.Var)) {
		w.tops(w.f.Body, func(s ir.Stmt) {
			v, value := (*ir.Var)(nil), ir.Expr(nil)
			switch s := s.(type) {
			case *ir.Define:
				v, value = s.Var, s.Init
			case *ir.Assign:
				v, value = ir.Root(s.To), s.Value
			}
			if v == nil || value == nil {
				return
			}
			eachRef(value, func(of *ir.Var) {
				if of.Space == ir.Local && !w.param[of] {
					do(v, of)
				}
			})
		})
	}
	for more := true; more; {
		more = false
		made(func(v, of *ir.Var) {
			if one[v] && !one[of] {
				one[v], more = false, true
			}
		})
	}
	for v, x := range w.vars {
		switch {
		case v.Space != ir.Local || w.param[v] || x.define == nil: // nil: a literal's parameter
		case one[v] && (x.regions[-1] || len(x.regions) > 1):
			x.way = scalar
		case x.regions[-1]:
			return false
		case len(x.regions) == 1 && x.regions[x.home]:
			x.way = plain
		default:
			x.way = kept
		}
	}
	for more := true; more; {
		more = false
		made(func(v, of *ir.Var) {
			if (w.param[v] || w.vars[v] != nil && w.vars[v].way == scalar) && w.vars[of].way != scalar {
				w.vars[of].way, more = scalar, true
			}
		})
	}
	for v := range w.param {
		if x := w.vars[v]; x != nil && x.writes > 0 {
			ok := true
			made(func(to, of *ir.Var) { ok = ok && (to != v || one[of]) })
			if !ok {
				return false
			}
		}
	}
	for more := true; more; {
		more = false
		for v, x := range w.vars {
			if x.way == kept && x.writes == 1 && !x.pinned && !x.inside && x.define != nil && x.define.Init != nil && v.Space == ir.Local && w.cheap(x.define.Init, 12) > 0 {
				x.way, more = anew, true
			}
		}
	}
	return true
}

// cheap is what is left of so many steps when an expression was reckoned that does not
// change from region to region; 0 if it is none such.
func (w *whole) cheap(e ir.Expr, steps int) int {
	switch e := e.(type) {
	case *ir.Ref:
		x := w.vars[e.Var]
		switch {
		case w.param[e.Var]:
			if x != nil && x.writes > 0 {
				return 0
			}
		case e.Var.Space != ir.Local || x == nil || x.way != anew && (x.way != scalar || x.writes != 1):
			return 0
		}
	case *ir.Addr:
		if ref, ok := e.X.(*ir.Ref); ok && ref.Var.Space != ir.Local {
			return steps - 1
		}
		return 0
	case *ir.Index, *ir.Deref, *ir.FuncRef, *ir.Composite:
		return 0
	case *ir.Binary:
		if ir.IsInteger(e.T) && (e.Op == token.QUO || e.Op == token.REM) {
			if _, ok := e.Y.(*ir.Const); !ok {
				return 0
			}
		}
	case *ir.Pure:
		if !strings.Contains(e.Name, ".") && e.Name != "dynamic_shared" && e.Name != "min" && e.Name != "max" {
			return 0
		}
	}
	if steps--; steps <= 0 {
		return 0
	}
	for _, x := range ir.Operands(e) {
		if steps = w.cheap(x, steps); steps <= 0 {
			return 0
		}
	}
	return steps
}

// cuts says whether a statement that sets what may be one for all threads ends the
// region before it: since that may use the value before, or check the divisor.
func (w *whole) cuts(s ir.Stmt) bool {
	switch s := s.(type) {
	case *ir.Define:
		return s.Init != nil && !w.varying[s.Var] && mayDivide(s.Init)
	case *ir.Assign:
		ref, ok := s.To.(*ir.Ref)
		return ok && !w.varying[ref.Var] && ref.Var.Space == ir.Local
	}
	return false
}

// mayDivide says whether an integer is divided by what may be zero.
func mayDivide(e ir.Expr) (found bool) {
	ir.Parts(e, func(e ir.Expr) {
		if b, ok := e.(*ir.Binary); ok && ir.IsInteger(b.T) && (b.Op == token.QUO || b.Op == token.REM) {
			_, constant := b.Y.(*ir.Const)
			found = found || !constant
		}
	})
	return found
}
