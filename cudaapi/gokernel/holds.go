package gokernel

import (
	"fmt"
	"go/types"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// Go's collector does not know the variables of C++. So a function that asks Go, or calls
// one that may, has a holder (memory.h), which it fills before with the pointers in its
// variables: what Go lets go of is not among those.

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
		switch s := s.(type) {
		case *ir.Assign:
			yes = yes || p.stores(s)
		case *ir.Effect:
			yes = yes || asksFor(s) != nil
		case *ir.Call:
			yes = yes || p.callAsks(s)
		case *ir.Closure:
			p.host.literals[s.Var] = s.Lit
		}
	})
	return yes
}

// callAsks says whether a call may ask.
func (p *printer) callAsks(s *ir.Call) bool {
	if s.Func != nil {
		return p.host.asks[s.Func] || p.host.isOutside(s.Func)
	}
	if lit := p.host.literals[s.Lit]; lit != nil {
		return p.mayAsk(lit.Body)
	}
	return true // a parameter
}

func (h *hostPrinter) isOutside(f *ir.Func) bool {
	for _, o := range h.outside {
		if o.fun == f {
			return true
		}
	}
	return false
}

// holder declares the holder of a function or literal if it needs one. Its size is known
// when all is written.
func (p *printer) holder(f *ir.Func) (written func()) {
	scope, most := len(p.scope), p.host.most
	for _, v := range f.Params {
		p.inScope(v)
	}
	if !p.mayAsk(f.Body) {
		return func() { p.scope = p.scope[:scope] }
	}
	const size = "GO_SIZE"
	at := p.b.Len()
	p.host.most = 1
	p.line("go::holder<%s> go_held(go);", size)
	return func() {
		text := p.b.String()
		p.b.Reset()
		p.b.WriteString(text[:at] + strings.Replace(text[at:], size, fmt.Sprint(p.host.most), 1))
		p.scope, p.host.most = p.scope[:scope], most
	}
}

// inScope notes that a variable is declared.
func (p *printer) inScope(v *ir.Var) {
	if p.host != nil && isHeld(v.Type) {
		p.scope = append(p.scope, v)
	}
}

// cleared has a variable with pointers declared with its zero value.
func (p *printer) cleared(v *ir.Var) string {
	if p.host != nil && isHeld(v.Type) {
		return " = " + p.expr(&ir.Zero{T: v.Type})
	}
	return ""
}

// isHeld says whether values of a type have pointers that the collector is to know.
func isHeld(t types.Type) bool {
	_, function := t.Underlying().(*types.Signature)
	return !function && hasPointers(t)
}

// holds fills the holder.
func (p *printer) holds() string {
	var b strings.Builder
	n := 0
	b.WriteString("{ void **go_w = go_held.at; ")
	for _, v := range p.scope {
		n += p.words(&b, p.nameOf(v), v.Type, 0)
	}
	p.host.most = max(p.host.most, n)
	b.WriteString("go_held.words = go_w - go_held.at; }")
	return b.String()
}

// words writes what adds the pointers of a value to the holder, and says how many there are.
func (p *printer) words(b *strings.Builder, x string, t types.Type, depth int) (n int) {
	if !hasPointers(t) {
		return 0
	}
	switch u := t.Underlying().(type) {
	case *types.Basic, *types.Slice:
		fmt.Fprintf(b, "*go_w++ = (void *)%s.ptr; ", x)
		return 1
	case *types.Array:
		i := fmt.Sprintf("go_i%d", depth)
		fmt.Fprintf(b, "for (i64 %s = 0; %s < %d; %s++) { ", i, i, u.Len(), i)
		n = int(u.Len()) * p.words(b, x+"["+i+"]", u.Elem(), depth+1)
		b.WriteString("} ")
		return n
	case *types.Struct:
		for i := range u.NumFields() {
			n += p.words(b, x+"."+fieldName(u, i), u.Field(i).Type(), depth)
		}
		return n
	}
	fmt.Fprintf(b, "*go_w++ = (void *)%s; ", x)
	return 1
}
