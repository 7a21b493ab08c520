package gokernel

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// Go's collector does not know the variables of C++. So compiled code has a shadow stack:
// a function with a safepoint, where the collector may run because Go is asked, has a root
// frame (memory.h) with what it still uses there. That has a word for each pointer of a
// variable, written where the variable is; of variables that literals or pointers may
// change, and of those with many pointers, it has the address and the type.

// roots are the variables in the root frame of a function.
type roots struct {
	words map[*ir.Var]int // the first word of a variable
	size  int             // of all words
	refs  []*ir.Var       // those that are known by their addresses, and declared at the start
}

// mostPointers bounds the words of a variable.
const mostPointers = 4

// safepoints are the statements at which the collector may run, because Go's runtime is asked.
type safepoints struct {
	funcs    map[*ir.Func]bool    // those that have one
	literals map[*ir.Var]*ir.Func // by the variables that hold them
}

func findSafepoints(u *unit) *safepoints {
	s := &safepoints{funcs: make(map[*ir.Func]bool), literals: make(map[*ir.Var]*ir.Func)}
	for again := true; again; {
		again = false
		for _, f := range u.prog.Funcs {
			if !s.funcs[f] && s.in(f.Body) {
				s.funcs[f], again = true, true
			}
		}
	}
	return s
}

// in reports whether statements have one; of function literals, those that call them do.
func (p *safepoints) in(list []ir.Stmt) (yes bool) {
	ir.Walk(list, func(s ir.Stmt) {
		if c, ok := s.(*ir.Closure); ok {
			p.literals[c.Var] = c.Lit
		}
		yes = yes || p.is(s)
	})
	return yes
}

// is reports whether the collector may run at a statement itself.
func (p *safepoints) is(s ir.Stmt) bool {
	switch s := s.(type) {
	case *ir.Assign:
		return storesPointers(s)
	case *ir.Effect:
		return asksFor(s) != nil
	case *ir.Call:
		if s.Func != nil {
			return p.funcs[s.Func] || s.Func.Outside
		}
		if lit := p.literals[s.Lit]; lit != nil {
			return p.in(lit.Body)
		}
		return true // a parameter
	}
	return false
}

// rootsOf are the variables of a function that are used at a safepoint, or after it; nil if there
// are none with pointers.
func (p *safepoints) rootsOf(f *ir.Func, live *liveness) *roots {
	r := &roots{words: make(map[*ir.Var]int)}
	var at []ir.Stmt
	vars := slices.Clone(f.Params)
	ir.Walk(f.Body, func(s ir.Stmt) {
		if p.is(s) {
			at = append(at, s)
		}
		if d, ok := s.(*ir.Define); ok && !slices.Contains(vars, d.Var) {
			vars = append(vars, d.Var)
		}
	})
	for _, v := range vars {
		n := len(pointersOf(v.Type, ""))
		switch {
		case n == 0 || !slices.ContainsFunc(at, func(s ir.Stmt) bool { return live.isLive(v, s) }):
		case n > mostPointers || live.always[v]:
			r.refs = append(r.refs, v)
		default:
			r.words[v] = r.size
			r.size += n
		}
	}
	if r.size+len(r.refs) == 0 {
		return nil
	}
	return r
}

// rootFrame declares the root frame of a function or literal, if it needs one, with the variables
// that are known by their addresses.
func (p *printer) rootFrame(f *ir.Func) (written func()) {
	old := p.host.roots
	r := p.host.frames[f]
	p.host.roots = r
	written = func() { p.host.roots = old }
	if r == nil {
		return written
	}
	p.line("go::root_frame<%d, %d> go_roots(go);", r.size, len(r.refs))
	for i, v := range r.refs {
		if !slices.Contains(f.Params, v) {
			p.line("%s %s = %s;", p.typ(v.Type), v.Name, p.expr(&ir.Zero{T: v.Type}))
			p.hoisted[v] = true
		}
		p.line("go_roots.knows(%d, &%s, %d);", i, v.Name, p.host.types.number(v.Type))
	}
	for _, v := range f.Params {
		p.updateRoots(v)
	}
	return written
}

// updateRoots writes a variable that was assigned into the root frame.
func (p *printer) updateRoots(v *ir.Var) {
	if text := p.to.updates(v, "; "); text != "" {
		p.line("%s;", text)
	}
}

// updates write a variable that was set into the root frame.
func (p hostWriter) updates(v *ir.Var, between string) string {
	if p.host.roots == nil || v == nil {
		return ""
	}
	first, ok := p.host.roots.words[v]
	if !ok {
		return ""
	}
	var list []string
	for i, word := range pointersOf(v.Type, v.Name) {
		list = append(list, fmt.Sprintf("go_roots.at[%d] = (void *)%s", first+i, word))
	}
	return strings.Join(list, between)
}

// pointersOf are the pointers of a value x, of which there are mostPointers, or more.
func pointersOf(t types.Type, x string) (list []string) {
	if !hasPointers(t) {
		return nil
	}
	if Layout(t) != nil {
		return make([]string, mostPointers+1)
	}
	switch u := t.Underlying().(type) {
	case *types.Signature: // a literal
		return nil
	case *types.Interface:
		return []string{x + ".word[0]", x + ".word[1]"}
	case *types.Chan:
		return []string{x + ".word[0]"}
	case *types.Basic, *types.Slice:
		if heldWords(t) > 0 {
			return []string{x + ".word[0]"}
		}
		return []string{x + ".ptr"}
	case *types.Array:
		return make([]string, mostPointers+1)
	case *types.Struct:
		for i := range u.NumFields() {
			if isFunc(u.Field(i).Type()) {
				list = append(list, x+"."+fieldName(u, i)+".word[0]")
			}
			if list = append(list, pointersOf(u.Field(i).Type(), x+"."+fieldName(u, i))...); len(list) > mostPointers {
				break
			}
		}
		return list
	}
	return []string{x}
}
