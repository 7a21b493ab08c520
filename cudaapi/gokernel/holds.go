package gokernel

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// Go's collector does not know the variables of C++. So a function that asks Go, or calls
// one that may, has a holder (memory.h) for what it still uses when it asks. That has a
// word for each pointer of a variable, written where the variable is; of variables that
// literals or pointers may change, and of those with many pointers, it has the address and
// the type.

// held is how the holder of a function knows its variables.
type held struct {
	words map[*ir.Var]int  // the first word of a variable
	refs  map[*ir.Var]bool // those that are known by their addresses, and declared at the start
}

// mostWords bounds the words of a variable.
const mostWords = 4

// asking finds the functions that may ask.
func (p *printer) asking(funcs []*ir.Func) {
	p.host.asks = make(map[*ir.Func]bool)
	for again := true; again; {
		again = false
		for _, f := range funcs {
			if !p.host.asks[f] && p.mayAsk(f.Body) {
				p.host.asks[f], again = true, true
			}
		}
	}
}

// mayAsk says whether statements may ask; of function literals, those that call them do.
func (p *printer) mayAsk(list []ir.Stmt) (yes bool) {
	ir.Walk(list, func(s ir.Stmt) {
		if c, ok := s.(*ir.Closure); ok {
			p.host.literals[c.Var] = c.Lit
		}
		yes = yes || p.asksAt(s)
	})
	return yes
}

// asksAt says whether a statement itself may ask.
func (p *printer) asksAt(s ir.Stmt) bool {
	switch s := s.(type) {
	case *ir.Assign:
		return p.stores(s)
	case *ir.Effect:
		return asksFor(s) != nil
	case *ir.Call:
		if s.Func != nil {
			return p.host.asks[s.Func] || slices.ContainsFunc(p.host.outside, func(o outsideCall) bool { return o.fun == s.Func })
		}
		if lit := p.host.literals[s.Lit]; lit != nil {
			return p.mayAsk(lit.Body)
		}
		return true // a parameter
	}
	return false
}

// holder declares the holder of a function or literal, if it needs one, with the variables
// that are known by their addresses.
func (p *printer) holder(f *ir.Func) (written func()) {
	old := p.host.held
	p.host.held = nil
	written = func() { p.host.held = old }
	if !p.mayAsk(f.Body) {
		return written
	}
	h := &held{words: make(map[*ir.Var]int), refs: make(map[*ir.Var]bool)}
	live, words := livenessOf(f), 0
	var asks []ir.Stmt
	var vars, refs []*ir.Var
	vars = append(vars, f.Params...)
	ir.Walk(f.Body, func(s ir.Stmt) {
		if p.asksAt(s) {
			asks = append(asks, s)
		}
		if d, ok := s.(*ir.Define); ok && !slices.Contains(vars, d.Var) {
			vars = append(vars, d.Var)
		}
	})
	for _, v := range vars {
		n := len(wordsOf(v.Type, ""))
		switch {
		case n == 0 || !slices.ContainsFunc(asks, func(s ir.Stmt) bool { return live.isLive(v, s) }):
		case n > mostWords || live.always[v]:
			refs = append(refs, v)
			h.refs[v] = true
		default:
			h.words[v] = words
			words += n
		}
	}
	if words+len(refs) == 0 {
		return written
	}
	p.line("go::holder<%d, %d> go_held(go);", words, len(refs))
	for i, v := range refs {
		if !slices.Contains(f.Params, v) {
			p.line("%s %s = %s;", p.typ(v.Type), v.Name, p.expr(&ir.Zero{T: v.Type}))
			p.hoisted[v] = true
		}
		p.line("go_held.knows(%d, &%s, %d);", i, v.Name, p.host.types.number(v.Type))
	}
	p.host.held = h
	for _, v := range f.Params {
		p.holds(v)
	}
	return written
}

// holds writes a variable that was assigned into the holder.
func (p *printer) holds(v *ir.Var) {
	if text := p.holding(v, "; "); text != "" {
		p.line("%s;", text)
	}
}

// holding is the expressions that do that.
func (p *printer) holding(v *ir.Var, between string) string {
	if p.host == nil || p.host.held == nil || v == nil {
		return ""
	}
	first, ok := p.host.held.words[v]
	if !ok {
		return ""
	}
	var list []string
	for i, word := range wordsOf(v.Type, p.nameOf(v)) {
		list = append(list, fmt.Sprintf("go_held.at[%d] = (void *)%s", first+i, word))
	}
	return strings.Join(list, between)
}

// wordsOf are the pointers of a value x, of which there are mostWords, or more.
func wordsOf(t types.Type, x string) (list []string) {
	if !hasPointers(t) {
		return nil
	}
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return nil
	case *types.Basic, *types.Slice:
		return []string{x + ".ptr"}
	case *types.Array:
		return make([]string, mostWords+1)
	case *types.Struct:
		for i := range u.NumFields() {
			if list = append(list, wordsOf(u.Field(i).Type(), x+"."+fieldName(u, i))...); len(list) > mostWords {
				break
			}
		}
		return list
	}
	return []string{x}
}
