package golang

import (
	"cmp"
	"go/ast"
	"go/types"
	"time"

	"gocuda/cudaapi/gokernel"
	"gocuda/cudaapi/native"
	"gocuda/kernel/golang/rt"
)

// Tier-up: the functions that a running cell is in for long are compiled beside it, and
// entered at their next call. Which these are is seen by a look at the cell's stacks
// now and then, so code that runs pays nothing for it.

// tierUpTimer says when the running cell is looked at next.
type tierUpTimer struct{ begun, next time.Time }

// looksAfter is after how long a cell is looked at first; then each time after as long
// as it has run.
const looksAfter = 20 * time.Millisecond

func newTierUpTimer() tierUpTimer {
	now := time.Now()
	return tierUpTimer{now, now.Add(looksAfter)}
}

// tierUp compiles the functions that the cell is in, if it is time for that.
func (ev *tiers) tierUp(g *rt.Group, w *tierUpTimer) {
	now := time.Now()
	if now.Before(w.next) {
		return
	}
	if wait := rt.NextLook(); now.Sub(w.begun) < wait {
		w.next = w.begun.Add(wait)
		return
	}
	w.next = now.Add(max(looksAfter, now.Sub(w.begun)))
	c := &ev.compiling
	c.mu.Lock()
	busy := c.busy
	c.mu.Unlock()
	if busy || ev.compilesNothing() || native.Available() != nil {
		return
	}
	running := make(map[string]bool)
	for _, s := range ev.rt.Stacks(g) {
		for _, call := range ev.rt.Calls(s) {
			running[call.Func.Versions] = true
		}
	}
	delete(running, "")
	if len(running) == 0 {
		return
	}
	if c.begin() {
		go func() {
			defer c.end(true)
			ev.compileHot(running)
		}()
	}
}

// compileHot compiles functions, given by what their versions have in common, and has
// their callers call them.
func (ev *tiers) compileHot(running map[string]bool) {
	ev.mu.Lock()
	made, p, generation := ev.hotProgram(running)
	ev.mu.Unlock()
	if !p.Some {
		return
	}
	code, err := native.Compile(p)
	if err == nil {
		err = ev.bindOutside(code)
	}
	if err == nil {
		err = made.takes(code)
	}
	ev.mu.Lock()
	defer ev.mu.Unlock()
	c := &ev.compiling
	c.mu.Lock()
	late := c.generation != generation
	c.mu.Unlock()
	if late {
		return // a cell has declared something since
	}
	if err != nil {
		for _, f := range made.funcs {
			f.at.Reason = cmp.Or(f.at.Reason, err.Error())
		}
		made.code = nil
	} else {
		if ev.lowered("compiled", func() { ev.install(made) }) != nil {
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range made.funcs {
		c.forget(f.fun)
	}
	c.known = append(c.known, made.funcs...)
}

// hotProgram is what is to be compiled of functions that run; those that cannot be say why.
func (ev *tiers) hotProgram(running map[string]bool) (*compiledCell, *gokernel.HostProgram, int) {
	c := &ev.compiling
	c.mu.Lock()
	defer c.mu.Unlock()
	made := &compiledCell{}
	var funcs []*types.Func
	for i := len(c.declared) - 1; i >= 0; i-- { // the newest first
		fun := c.declared[i]
		versions := ev.lower.Versions(fun)
		if !running[versions] {
			continue
		}
		delete(running, versions)
		s, ok := ev.hostSource(fun)
		if !ok || c.knows(fun) || !repeats(fun, s, ev.hostSource) {
			continue
		}
		funcs = append(funcs, fun)
	}
	p := native.Program(ev.fset, funcs, nil, ev.hostSource, ev.lower.Seen())
	for _, e := range p.Entries {
		f := ev.toCompile(e.Func)
		if f.refused(e); e.Refused != nil {
			c.forget(f.fun)
			c.known = append(c.known, f)
		}
		made.funcs = append(made.funcs, f)
	}
	return made, p, c.generation
}

// mayGetHot says whether a function of a program can be compiled while it runs.
func (ev *tiers) mayGetHot(fun *types.Func, s gokernel.HostSource) bool {
	return ev.program && fun.Pkg().Path() == "main" && !isGeneric(fun) && ev.wantsLoops() && repeats(fun, s, ev.hostSource)
}

// manyCalls is how many calls are as much work as a loop.
const manyCalls = 16

// repeats says whether a function has a loop, calls itself, or makes many calls, by way of
// others too: a call of compiled code takes longer than what others do.
func repeats(fun *types.Func, s gokernel.HostSource, find func(*types.Func) (gokernel.HostSource, bool)) bool {
	calls := make(map[*types.Func]int) // of those seen so far
	var count func(at *types.Func, s gokernel.HostSource) int
	count = func(at *types.Func, s gokernel.HostSource) (n int) {
		calls[at] = 0
		ast.Inspect(s.Decl.Body, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				n = manyCalls
			case *ast.Ident:
				o, ok := s.Info.Uses[node].(*types.Func)
				if !ok {
					break
				}
				if o = o.Origin(); o == fun {
					n = manyCalls
					break
				}
				if _, seen := calls[o]; !seen {
					calls[o] = 0
					if s, ok := find(o); ok {
						count(o, s)
					}
				}
				n += 1 + calls[o]
			}
			return n < manyCalls
		})
		calls[at] = n
		return n
	}
	return count(fun, s) >= manyCalls
}
