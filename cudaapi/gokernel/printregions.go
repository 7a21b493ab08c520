package gokernel

import (
	"fmt"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// size is how many bytes are kept for each thread.
func (w *whole) size() (n int64) {
	for v, x := range w.vars {
		if x.way == kept && v.Space == ir.Local && !w.param[v] {
			n += sizes.Sizeof(v.Type) + 16
		}
	}
	return n
}

// inWhole writes a kernel in regions: a function that runs a block, or returns false.
func (p *printer) inWhole(f *ir.Func, number int, w *whole) {
	p.line("")
	p.line("__gocuda_whole__ bool %s_whole(%s) {", kernelSymbol(f), strings.Join(append([]string{"const gocuda::Index &gocuda_index"}, p.params(f)...), ", "))
	p.indent++
	old := p.fun
	p.fun, p.whole, p.to = f, w, blockWriter{deviceWriter{p}}
	w.ends = p.panics[f]
	ir.WalkAll(f.Body, func(s ir.Stmt) {
		_, ok := s.(*ir.Return)
		w.ends = w.ends || ok
	})
	p.line("GOCUDA_WHOLE(%d);", w.size())
	if w.ends {
		p.line("GOCUDA_ENDS;")
	}
	for _, s := range definitions(f.Body) {
		switch x := w.vars[s.Var]; {
		case s.Var.Space != ir.Local:
		case x.way == scalar:
			p.line("%s %s;", p.typ(s.Var.Type), s.Var.Name)
		case x.way == kept:
			t := p.typ(s.Var.Type)
			p.line("%s *%s = (%s *)__builtin_alloca(sizeof(%s) * go_n);", t, s.Var.Name, t, t)
		}
	}
	p.between(f.Body, number)
	p.line("return true;")
	p.fun, p.whole, p.to = old, nil, deviceWriter{p}
	p.indent--
	p.line("}")
}

// definitions are the first ones of variables, in the order of the text.
func definitions(list []ir.Stmt) (found []*ir.Define) {
	have := make(map[*ir.Var]bool) // a loop may stand in two versions
	ir.WalkAll(list, func(s ir.Stmt) {
		if d, ok := s.(*ir.Define); ok && !have[d.Var] {
			have[d.Var] = true
			found = append(found, d)
		}
	})
	return found
}

// between writes statements in some of which barriers may lie.
func (p *printer) between(list []ir.Stmt, number int) {
	w := p.whole
	var region []ir.Stmt
	flush := func(vote ir.Expr) {
		p.region(region, vote, number)
		region = nil
	}
	for _, s := range list {
		if !w.splits[s] {
			if v, value := w.single(s); v != nil {
				if w.cuts(s) {
					flush(nil)
				}
				p.line("%s = %s;", p.expr(&ir.Ref{Var: v}), p.expr(value))
				continue
			}
			region = append(region, s)
			continue
		}
		switch s := s.(type) {
		case *ir.Effect:
			if len(s.Args) == 0 {
				flush(nil)
				if s.Name != "region" { // which only ends one
					p.line("GOCUDA_MEET;")
				}
				continue
			}
			p.line("go_votes = 0;")
			flush(s.Args[0])
			p.line("GOCUDA_MEET;")
			if s.Dst != nil {
				result := map[string]string{"sync_threads_count": "go_votes", "sync_threads_and": "go_votes == go_live", "sync_threads_or": "go_votes != 0"}[s.Name]
				p.line("%s = %s;", s.Dst.Name, result)
			}
		case *ir.If:
			flush(nil)
			p.line("if (%s) {", trim(p.expr(s.Cond)))
			p.inner(s.Then, number)
			if len(s.Else) > 0 {
				p.line("} else {")
				p.inner(s.Else, number)
			}
			p.line("}")
		case *ir.Loop:
			flush(nil)
			cond := ""
			if s.Cond != nil {
				cond = trim(p.expr(s.Cond))
			}
			w.died = w.died || p.mayEnd(s.Body) // by the second iteration
			p.line("for (; %s; ) {", cond)
			p.inner(s.Body, number)
			p.line("%s_next:;", s.Label.Name)
			p.inner(s.Post, number)
			p.line("}")
			p.line("%s:;", s.Label.Name)
		case *ir.Block:
			flush(nil)
			p.between(s.Body, number)
			if s.Label != nil {
				p.line("%s:;", s.Label.Name)
			}
		case *ir.Leave:
			flush(nil)
			p.line("goto %s;", s.To.Name)
		case *ir.Again:
			flush(nil)
			p.line("goto %s_next;", s.To.Name)
		}
	}
	flush(nil)
}

func (p *printer) inner(list []ir.Stmt, number int) {
	p.indent++
	p.between(list, number)
	p.indent--
}

// single is the variable that a statement between regions sets, which is one for all
// threads, and its value.
func (w *whole) single(s ir.Stmt) (*ir.Var, ir.Expr) {
	switch s := s.(type) {
	case *ir.Define:
		if x := w.vars[s.Var]; s.Init != nil && s.Var.Space == ir.Local && x.way == scalar {
			return s.Var, s.Init
		}
	case *ir.Assign:
		ref, ok := s.To.(*ir.Ref)
		if ok && (w.param[ref.Var] || ref.Var.Space == ir.Local && w.vars[ref.Var].way == scalar) {
			return ref.Var, s.Value
		}
	}
	return nil, nil
}

// mayEnd says whether a thread may end in statements.
func (p *printer) mayEnd(list []ir.Stmt) bool {
	found := p.mayPanic(list)
	ir.Walk(list, func(s ir.Stmt) {
		_, ok := s.(*ir.Return)
		found = found || ok
	})
	return found
}

// region writes the loop that runs statements for one thread after the other. With a
// vote, those are counted for which it is true.
func (p *printer) region(list []ir.Stmt, vote ir.Expr, number int) {
	w := p.whole
	work := vote != nil
	used := make(map[*ir.Var]bool)
	for _, s := range list {
		switch s := s.(type) {
		case *ir.Define:
			work = work || s.Init != nil && w.vars[s.Var].way != anew
		default:
			work = true
		}
		ir.WalkAll([]ir.Stmt{s}, func(in ir.Stmt) { mention(in, func(v *ir.Var) { used[v] = true }) })
	}
	if !work {
		return
	}
	if vote != nil {
		eachRef(vote, func(v *ir.Var) { used[v] = true })
	}
	w.regions++
	p.line("GOCUDA_THREADS {")
	p.indent++
	if w.died {
		p.line("if (go_live != go_n && go_gone[go_t]) continue;")
	}
	p.line("GOCUDA_THREAD;")
	p.line("{")
	p.indent++
	p.line("go::thread go = {false, %d};", number)
	here := make(map[*ir.Var]bool)
	for _, s := range list {
		if d, ok := s.(*ir.Define); ok {
			here[d.Var] = true
		}
	}
	for _, d := range definitions(w.f.Body) { // each after those that it is made of
		if w.vars[d.Var].way == anew && !here[d.Var] && w.needs(used, d.Var) {
			p.line("%s %s = %s;", p.typ(d.Var.Type), d.Var.Name, p.expr(d.Init))
		}
	}
	loops := p.loops
	p.loops = nil
	p.stmts(list)
	if vote != nil {
		p.line("go_votes += (%s) ? 1 : 0;", p.expr(vote))
	}
	p.loops = loops
	p.indent--
	p.line("}")
	if p.quit {
		p.line("go_next_%d:;", w.regions)
	}
	p.indent--
	p.line("}")
	if p.quit {
		p.line("if (!go_live) return true;")
		w.died = true
	}
	p.quit = false
}

// needs says whether a variable is used, or another that is made of it.
func (w *whole) needs(used map[*ir.Var]bool, v *ir.Var) bool {
	if used[v] {
		return true
	}
	for u := range used {
		x := w.vars[u]
		if x == nil || x.way != anew || x.define == nil {
			continue
		}
		found := false
		eachRef(x.define.Init, func(r *ir.Var) { found = found || r != u && w.needs(map[*ir.Var]bool{r: true}, v) })
		if found {
			return true
		}
	}
	return false
}

// blockWriter writes a kernel in regions.
type blockWriter struct{ deviceWriter }

func (p blockWriter) variable(v *ir.Var) string {
	if w := p.whole; v.Space == ir.Local && !w.param[v] && w.vars[v] != nil && w.vars[v].way == kept {
		return v.Name + "[go_t]"
	}
	return p.deviceWriter.variable(v)
}

func (blockWriter) index(name string) string { return "i64(" + wholeIndices.Replace(name) + ")" }

func (p blockWriter) isDeclared(v *ir.Var) bool {
	x := p.whole.vars[v]
	return x != nil && (x.way == scalar || x.way == kept) && v.Space == ir.Local
}

func (p blockWriter) leaves() (text string, ok bool) {
	if p.fun != p.whole.f {
		return "", false
	}
	p.quit = true
	return fmt.Sprintf("{ GOCUDA_GOES; goto go_next_%d; }", p.whole.regions), true
}

// at tells where the thread is: in regions nobody knows otherwise.
func (blockWriter) at() string { return "GOCUDA_AT; " }

func (p blockWriter) calls(s *ir.Call) {
	if s.Func != nil {
		p.line("GOCUDA_AT;")
	}
}

func (blockWriter) effect(s *ir.Effect, _ []string) string {
	return map[string]string{"thread_rank": "go_t", "lane_id": "go_t % 32", "grid_rank": "GOCUDA_GRID_RANK", "grid_size": "GOCUDA_GRID_SIZE"}[s.Name]
}

// share declares the shared variables of a kernel outside of it, for both of its forms:
// under the names that they would have inside, by which the size of its shared memory
// is known.
func (p *printer) share(f *ir.Func) {
	for _, d := range definitions(f.Body) {
		if d.Var.Space != ir.Shared {
			continue
		}
		k := kernelSymbol(f)
		name := k + "_" + d.Var.Name
		p.line("__shared__ __align__(16) %s %s asm(\"_ZZ%d%sE%d%s\");", p.typ(d.Var.Type), name, len(k), k, len(name), name)
		p.shared[d.Var] = name
	}
}
