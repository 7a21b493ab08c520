package gokernel

import (
	"fmt"
	"slices"

	"gocuda/cudaapi/gokernel/checks"
	"gocuda/cudaapi/gokernel/ir"
)

// compilation is a program on its way from its functions to text, with what passes found
// out about it.
type compilation struct {
	unit        *unit
	kernels     []*ir.Func
	interchange map[*ir.Func]*ir.Func // a kernel whose loops go around those over threads
	regions     map[*ir.Func]*whole   // nil: it is not written so
	safepoints  *safepoints
	live        map[*ir.Func]*liveness // of functions and literals with safepoints
	roots       map[*ir.Func]*roots    // of these, where the frame has something
	done        []string               // passes
}

// pass is a step on the way: it changes the functions, or finds out something about them.
type pass struct {
	name  string
	needs []string // the passes that have to be done before
	run   func(c *compilation)
}

var passes = []pass{
	{"escape", nil, func(c *compilation) { c.unit.target.escapes(c.unit) }},
	{"bounds", []string{"escape"}, func(c *compilation) { c.each(checks.Prove) }},
	{"versioning", []string{"bounds"}, func(c *compilation) {
		c.each(func(f *ir.Func) { checks.Version(f, c.unit.target.iterations()) })
	}},
	{"coalescing", []string{"versioning"}, func(c *compilation) { c.each(checks.Coalesce) }},
	{"interchange", []string{"escape"}, func(c *compilation) {
		c.interchange = make(map[*ir.Func]*ir.Func)
		for _, f := range c.kernels {
			if independent(f) {
				c.interchange[f] = interchanged(f)
			}
		}
	}},
	{"regions", []string{"interchange"}, func(c *compilation) {
		c.regions = make(map[*ir.Func]*whole)
		for f, other := range c.interchange {
			if c.regions[f] = wholeOf(other); c.regions[f] == nil && other != f {
				c.regions[f] = wholeOf(f)
			}
		}
	}},
	{"safepoints", []string{"escape"}, func(c *compilation) { c.safepoints = findSafepoints(c.unit) }},
	{"liveness", []string{"safepoints"}, func(c *compilation) {
		c.live = make(map[*ir.Func]*liveness)
		c.withLiterals(func(f *ir.Func) {
			if c.safepoints.in(f.Body) {
				c.live[f] = livenessOf(f)
			}
		})
	}},
	{"roots", []string{"liveness"}, func(c *compilation) {
		c.roots = make(map[*ir.Func]*roots)
		for f, live := range c.live {
			if r := c.safepoints.rootsOf(f, live); r != nil {
				c.roots[f] = r
			}
		}
	}},
}

// passed, if set, is called after each pass with its name, the program, and the compilation.
// Tests look at the program there.
var passed func(name string, p *ir.Program, c any)

// run does some passes, up to one that finds an error.
func (c *compilation) run(names ...string) error {
	for _, name := range names {
		p := passes[slices.IndexFunc(passes, func(p pass) bool { return p.name == name })]
		for _, need := range p.needs {
			if !slices.Contains(c.done, need) {
				panic(fmt.Sprintf("pass %s needs %s", name, need))
			}
		}
		p.run(c)
		if len(c.unit.errs) > 0 {
			return sorted(c.unit.errs)
		}
		c.done = append(c.done, name)
		if passed != nil {
			passed(name, c.unit.prog, c)
		}
	}
	return nil
}

// each does something with every function.
func (c *compilation) each(do func(*ir.Func)) {
	for _, f := range c.unit.prog.Funcs {
		do(f)
	}
}

// withLiterals does something with every function and every literal.
func (c *compilation) withLiterals(do func(*ir.Func)) {
	c.each(func(f *ir.Func) {
		do(f)
		ir.WalkAll(f.Body, func(s ir.Stmt) {
			if l, ok := s.(*ir.Closure); ok {
				do(l.Lit)
			}
		})
	})
}
