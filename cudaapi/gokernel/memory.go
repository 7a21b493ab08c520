package gokernel

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// Compiled code for the host asks Go's runtime for memory, in the middle of a call:
// header/memory.h, and package native for how. This is what Go says with append, make,
// new and strings, and with local variables whose addresses outlive a call.

// mostBytes is the most that Go gives at once.
const mostBytes = 1 << 48

// asks emits a question to Go's runtime whose answer is of type t, about memory for
// values of type elem.
func (f *fn) asks(at ast.Node, name string, t, elem types.Type, args ...ir.Expr) ir.Expr {
	v := f.local("t", t)
	f.emit(&ir.Define{Var: v, Init: &ir.Zero{T: t}})
	f.emit(&ir.Effect{Dst: v, Name: name, Args: args, T: elem, Pos: at.Pos()})
	return &ir.Ref{Var: v}
}

// asked are the questions: functions of memory.h that take the type's number before
// their arguments.
var asked = map[string]bool{"make": true, "create": true, "append": true, "append_all": true, "join": true, "text_of": true, "bytes_of": true, "text_of_rune": true, holdElements: true, swapElements: true}

// asksFor is the type of the values for which an effect puts a question, or that it stores
// with their pointers; nil if it does neither.
func asksFor(s *ir.Effect) types.Type {
	if s.Name == "copy" || s.Name == "clear" {
		if t, ok := s.Args[0].Type().Underlying().(*types.Slice); ok && hasPointers(t.Elem()) {
			return t.Elem()
		}
		return nil
	}
	if asked[s.Name] || strings.HasPrefix(s.Name, builderPrefix) {
		return s.T
	}
	return nil
}

// effect is how an effect puts a question, or stores pointers; "" if it does neither.
func (p hostWriter) effect(s *ir.Effect, args []string) string {
	name, elem, of := s.Name, asksFor(s), ""
	switch {
	case elem == nil:
		return ""
	case strings.HasPrefix(name, builderPrefix):
		args = append([]string{fmt.Sprint(p.host.types.number(types.NewSlice(elem)))}, args...)
	case name == holdElements:
		of = "<" + p.typ(elem) + "> go_held"
	case name == swapElements:
	case name == "make" || name == "create":
		of = "<" + p.typ(elem) + ">"
	case hasPointers(elem):
		name += "_pointers"
	}
	return fmt.Sprintf("go::%s%s(%s)", name, of, strings.Join(append([]string{"go", fmt.Sprint(p.host.types.number(elem))}, args...), ", "))
}

// storesPointers says whether an assignment may store pointers in memory of Go's.
func storesPointers(s *ir.Assign) bool {
	v := ir.Root(s.To)
	return (v == nil || v.Space != ir.Local) && hasPointers(s.To.Type())
}

// makeSlice is make([]T, n, c).
func (f *fn) makeSlice(e *ast.CallExpr) ir.Expr {
	t := f.typeOf(e)
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		f.usable(t, e, "a value")
		f.refuse(e, allocated)
	}
	f.usable(t, e, "a value")
	f.sized(e, s.Elem())
	n := f.temp(f.lengthOf(e.Args[1]))
	c := n
	if len(e.Args) > 2 {
		c = f.temp(f.lengthOf(e.Args[2]))
	}
	most := mostBytes / sizes.Sizeof(s.Elem())
	f.panicUnless(e, n, ir.Int(most), "makeslice: len out of range")
	if len(e.Args) > 2 {
		f.panicUnless(e, c, ir.Int(most), "makeslice: cap out of range")
		f.panicUnless(e, n, c, "makeslice: cap out of range")
	}
	return f.asks(e, "make", t, s.Elem(), n, c)
}

// lengthOf is a length as an int; one that is none is negative.
func (f *fn) lengthOf(e ast.Expr) ir.Expr {
	return f.convert(f.intOf(e), types.Typ[types.Int])
}

// panicUnless panics unless n, as an unsigned number, is at most most.
func (f *fn) panicUnless(at ast.Node, n, most ir.Expr, text string) {
	if _, ok := n.(*ir.Const); ok {
		if _, ok := most.(*ir.Const); ok {
			return // the checker has looked
		}
	}
	unsigned := func(x ir.Expr) ir.Expr { return f.convert(x, types.Typ[types.Uint64]) }
	f.emit(&ir.If{Cond: &ir.Binary{Op: token.GTR, X: unsigned(n), Y: unsigned(most), T: types.Typ[types.Bool]},
		Then: []ir.Stmt{&ir.Panic{Text: text, Runtime: true, Pos: at.Pos()}}})
}

// sized refuses types whose values take no memory.
func (f *fn) sized(at ast.Node, t types.Type) {
	if sizes.Sizeof(t) == 0 {
		f.fail(at, "values of type %s have no size", types.TypeString(t, shortNames))
	}
}

// appended is append(s, ...).
func (f *fn) appended(e *ast.CallExpr) ir.Expr {
	t := f.typeOf(e)
	elem := t.Underlying().(*types.Slice).Elem()
	f.usable(t, e, "a value")
	f.sized(e, elem)
	s := f.temp(f.to(e.Args[0], t))
	if e.Ellipsis.IsValid() {
		more := e.Args[1]
		if f.u.info.Types[more].IsNil() {
			return s
		}
		x := f.expr(more)
		if !ir.IsString(x.Type()) {
			x = f.convert(x, types.NewSlice(elem))
		}
		return f.asks(e, "append_all", t, elem, s, f.temp(x))
	}
	args := []ir.Expr{s}
	for _, a := range e.Args[1:] {
		args = append(args, f.temp(f.to(a, elem)))
	}
	if len(args) == 1 {
		return s
	}
	return f.asks(e, "append", t, elem, args...)
}

// joined is x + y of strings.
func (f *fn) joined(at ast.Node, x, y ir.Expr, t types.Type) ir.Expr {
	return f.asks(at, "join", t, types.Typ[types.Uint8], f.temp(x), f.temp(y))
}

// textConversion is a conversion between strings and bytes, or of a character.
func (f *fn) textConversion(e *ast.CallExpr, x ir.Expr, t types.Type) ir.Expr {
	ofBytes := func(t types.Type) bool {
		s, ok := t.Underlying().(*types.Slice)
		if !ok {
			return false
		}
		b, ok := s.Elem().Underlying().(*types.Basic)
		return ok && b.Kind() == types.Uint8
	}
	name := ""
	switch {
	case ir.IsString(t) && ofBytes(x.Type()):
		name = "text_of"
	case ir.IsString(t) && ir.IsInteger(x.Type()):
		name = "text_of_rune"
		if ir.IsUnsigned(x.Type()) {
			x = f.convert(x, types.Typ[types.Uint64])
		}
		x = f.convert(x, types.Typ[types.Int64])
	case ofBytes(t):
		name = "bytes_of"
	default:
		f.fail(e, "a conversion to %s cannot be made in compiled code", types.TypeString(t, shortNames))
	}
	return f.asks(e, name, t, types.Typ[types.Uint8], f.temp(x))
}

// variable declares a local variable, which can be moved into Go's memory unless each
// iteration of a loop has its own.
func (f *fn) variable(at ast.Node, name string, t types.Type, init ir.Expr) *ir.Var {
	v := f.local(name, t)
	f.emit(&ir.Define{Var: v, Init: init})
	if !f.counters {
		f.u.movable[v] = at.Pos()
	}
	return v
}

func addressOfVar(v *ir.Var) ir.Expr {
	return &ir.Addr{X: &ir.Ref{Var: v}, T: types.NewPointer(v.Type)}
}

// escape has the variables of addresses that outlive them moved, and says whether that
// can be.
func (u *unit) escape(roots []*ir.Var) bool {
	for _, r := range roots {
		if _, ok := u.movable[r]; !ok {
			return false
		}
		if sizes.Sizeof(r.Type) > 0 {
			u.host.moved[r] = true
		}
	}
	return true
}

// move has variables in Go's memory: each becomes a pointer to what it was.
func (u *unit) move(moved map[*ir.Var]bool) {
	if len(moved) == 0 {
		return
	}
	pointers := make(map[*ir.Var]*ir.Var)
	for v := range moved {
		pointers[v] = &ir.Var{Name: v.Name, Type: types.NewPointer(v.Type), There: true}
	}
	place := func(v *ir.Var) ir.Expr { return &ir.Deref{X: &ir.Ref{Var: pointers[v]}, T: v.Type} }
	var create func(list []ir.Stmt) []ir.Stmt
	create = func(list []ir.Stmt) (out []ir.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *ir.If:
				s.Then, s.Else = create(s.Then), create(s.Else)
			case *ir.Loop:
				s.Body, s.Post = create(s.Body), create(s.Post)
			case *ir.Block:
				s.Body = create(s.Body)
			case *ir.Closure:
				s.Lit.Body = create(s.Lit.Body)
			case *ir.Define:
				v := s.Var
				p := pointers[v]
				if p == nil {
					break
				}
				for _, n := range []ir.Stmt{
					&ir.Define{Var: p, Init: &ir.Zero{T: p.Type}},
					&ir.Effect{Dst: p, Name: "create", T: v.Type, Pos: u.movable[v]},
					&ir.Assign{To: place(v), Value: s.Init},
				} {
					u.at[n] = u.at[s]
					out = append(out, n)
				}
				continue
			}
			out = append(out, s)
		}
		return out
	}
	for _, f := range u.prog.Funcs {
		ir.MapAll(f.Body, func(e ir.Expr) ir.Expr {
			switch e := e.(type) {
			case *ir.Ref:
				if moved[e.Var] {
					return place(e.Var)
				}
			case *ir.Addr:
				if d, ok := e.X.(*ir.Deref); ok {
					if r, ok := d.X.(*ir.Ref); ok && r.Var.There {
						return d.X
					}
				}
			}
			return e
		})
		f.Body = create(f.Body)
	}
}
