package gokernel

import (
	"fmt"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// writer is what a program's text has that differs among targets.
type writer interface {
	// stringType is the type of strings, and text is a constant one.
	stringType() string
	text(value string) string
	// variable is a variable in an expression, and index a part of a thread's place.
	variable(v *ir.Var) string
	index(name string) string
	// from is the address of an element of memory with so many.
	from(base, i, n string) string
	// linkage is how a function is declared.
	linkage() string
	// opens begins a function, closes ends it, and started follows the declarations that
	// stand at its start.
	opens(f *ir.Func) (closes func())
	started(f *ir.Func)
	// within is what messages call a literal in a function.
	within(function, literal string) string
	// asks: loops and jumps ask whether the code is to end.
	asks() bool
	// isDeclared says whether a variable is declared elsewhere than at its definition.
	isDeclared(v *ir.Var) bool
	// leaves ends a thread in a function that is its own; not ok in others.
	leaves() (text string, ok bool)
	// at tells where the thread is, for what is called.
	at() string
	// store is an assignment to memory; "" if it is written as all others. updates are
	// expressions that follow when a variable was set.
	store(s *ir.Assign) string
	updates(v *ir.Var, between string) string
	// effect is what is written for an effect; "": a call of a function of the header.
	effect(s *ir.Effect, args []string) string
	check(s *ir.Check, args []string)
	panics(s *ir.Panic)
	// calls and called stand around a call, after which the thread may have to end.
	calls(s *ir.Call)
	called(s *ir.Call)
}

// deviceWriter writes for devices.
type deviceWriter struct{ *printer }

func (deviceWriter) stringType() string            { return "const char *" }
func (deviceWriter) text(value string) string      { panic("no text of a kernel: " + value) }
func (deviceWriter) index(name string) string      { return "i64(" + name + ")" }
func (deviceWriter) from(base, i, _ string) string { return base + " + " + i }
func (deviceWriter) linkage() string               { return "static __device__ __forceinline__" }
func (deviceWriter) opens(*ir.Func) (closes func()) {
	return func() {}
}
func (deviceWriter) started(*ir.Func)                   {}
func (deviceWriter) within(function, _ string) string   { return function }
func (deviceWriter) asks() bool                         { return false }
func (deviceWriter) isDeclared(*ir.Var) bool            { return false }
func (deviceWriter) leaves() (text string, ok bool)     { return "", false }
func (deviceWriter) at() string                         { return "" }
func (deviceWriter) store(*ir.Assign) string            { return "" }
func (deviceWriter) updates(*ir.Var, string) string     { return "" }
func (deviceWriter) effect(*ir.Effect, []string) string { return "" }
func (deviceWriter) calls(*ir.Call)                     {}

func (p deviceWriter) variable(v *ir.Var) string {
	if name := p.shared[v]; name != "" {
		return name
	}
	return v.Name
}

func (p deviceWriter) called(*ir.Call) { p.line("if (GO_RARELY(go.dead)) %s", p.give()) }

func (p deviceWriter) panics(s *ir.Panic) {
	p.line("%sgo::panic(go, %d);", p.to.at(), p.site(s.Pos, "panic: "+strings.ReplaceAll(s.Text, "%", "%%")))
	p.line("%s", p.give())
}

func (p deviceWriter) check(s *ir.Check, args []string) {
	list := strings.Join(args, ", ")
	switch s.Kind {
	case ir.InRange:
		p.fails(s, "go::outside("+list+")", map[bool]string{false: "index out of range [%d] with length %d", true: "index out of range [%u] with length %d"}[ir.IsUnsigned(s.Args[0].Type())], list)
	case ir.SliceOK:
		p.fails(s, "go::bad_slice("+list+")", "slice bounds out of range [%d:%d:%d] with capacity %d", list)
	case ir.NonZero:
		p.fails(s, args[0]+" == 0", "integer divide by zero", "")
	case ir.NonNil:
		p.fails(s, "!"+args[0], "nil pointer dereference", "")
	case ir.NonMinus:
		p.fails(s, args[0]+" < 0", "negative shift amount %d", list)
	case ir.Fits:
		p.fails(s, args[0]+" < "+args[1], "cannot convert slice with length %d to array or pointer to array with length %d", list)
	}
}

func (p deviceWriter) fails(s *ir.Check, cond, message, args string) {
	if args != "" {
		args = ", " + args
	}
	panics := fmt.Sprintf("{ %sgo::panic(go, %d%s); %s }", p.to.at(), p.site(s.Pos, message), args, p.give())
	if s.Fails {
		p.line("%s", panics)
		return
	}
	p.line("if (GO_RARELY(%s)) %s", cond, panics)
}
