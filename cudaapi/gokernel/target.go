package gokernel

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"gocuda/cudaapi/gokernel/ir"
)

// target is what a program is compiled for. The lowering and the passes ask it what it has,
// and not which one it is.
type target interface {
	// passes are those that a program goes through, in their order.
	passes() []string
	// sentence is what is said where a program has something that the target has not.
	sentence(what refusal) string
	// unusable finds what the target has no place for, of what targets differ in: a type, or
	// one that it consists of. within are the types around it, and the type itself.
	unusable(t types.Type, within []types.Type) (bad types.Type, why string)
	// holds says whether the target has values of a type, though perhaps it cannot use them.
	// within are the types around it.
	holds(t types.Type, within []types.Type) bool
	// hasStrings: strings are values, which can be made; otherwise they are constants.
	hasStrings() bool
	// hasInterfaces: interfaces are values, which can be made and asked for their types.
	hasInterfaces() bool
	// iterations bounds those of a loop that does not ask whether it is interrupted; 0: no
	// loop asks.
	iterations() int64
	// escapes follows addresses through all functions of a program.
	escapes(u *unit)

	// declaration is that of a function; nil if it is not part of the program.
	declaration(u *unit, o *types.Func) *ast.FuncDecl
	// named gives a function its names, and lowered its body's facts while it is lowered.
	named(f *ir.Func, o *types.Func)
	facts(u *unit, o *types.Func) (done func())
	// signature is a function's, as its body names the parameters.
	signature(o *types.Func, typ *ast.FuncType) (*types.Signature, *ast.FuncType)
	// recursive is what becomes of a function that calls itself.
	recursive(u *unit, at token.Pos, name string)
	// global gives a package variable its place.
	global(u *unit, v *types.Var, at ast.Node) *ir.Var
	// literalName is what messages call a function literal.
	literalName(f *fn, name string) string

	// library calls a function that is not part of the program; not ok if it is.
	library(f *fn, e *ast.CallExpr, o *types.Func) (results []ir.Expr, ok bool)
	// builtin calls a builtin function that targets have each in their own way; not ok if
	// this is none.
	builtin(f *fn, e *ast.CallExpr, name string) (results []ir.Expr, ok bool)
}

// refusal is what a program has that its target has not.
type refusal int

// The refusals, with what is said besides: a name, a type, or nothing.
const (
	goroutines     refusal = iota
	deferred               //
	channels               //
	interfaces             //
	madeInterface          //
	comparedHeld           // type
	secondValues           //
	unsafePackage          //
	recovering             //
	builtins               // name
	otherStatement         // the statement
	otherCall              //
	fieldCall              //
	otherExpr              // the expression
	otherValue             // type
	otherName              // name
	typedValue             // what, type, why
	indexed                // type
	sliced                 // type
	addressed              //
	assigned               //
	ranged                 //
	rangedType             // type
	notAFunction           //
	longLiteral            // elements
	functionSet            // name
	functionKept           //
	functionGiven          // name
	functionReturn         // name
	functionLost           // name
	gotoOut                //
	allocated              //
)

// device is a GPU, or a simulated one as far as it has threads that run at once.
type device struct{}

// blocks is a simulated device, which runs the threads of a block one after the other where
// barriers allow that. Its programs are those for devices with something more.
type blocks struct{ device }

func (device) passes() []string { return []string{"escape", "bounds", "versioning", "coalescing"} }
func (blocks) passes() []string { return []string{"interchange", "regions"} }

var deviceSentences = map[refusal]string{
	goroutines:     "there are no goroutines in a kernel: its threads run in parallel already",
	deferred:       "defer cannot be used in a kernel: write what is to be done before each return",
	channels:       "there are no channels in a kernel; threads share memory, ordered by barriers and atomics",
	interfaces:     "there are no interfaces in a kernel, so a type cannot be asked for",
	madeInterface:  "there are no interfaces in a kernel",
	comparedHeld:   "values of type %s cannot be compared in a kernel",
	secondValues:   "a kernel has neither maps, channels nor interfaces, so there is no second value",
	unsafePackage:  "package unsafe cannot be used in a kernel",
	recovering:     "recover cannot be used in a kernel: a panic ends the thread, and is reported by the launch's stream",
	builtins:       "%s cannot be used in a kernel",
	otherStatement: "a kernel cannot have this statement (%T)",
	otherCall:      "a kernel can call functions by their names, and function literals that a variable holds",
	fieldCall:      "a function that is kept in a field cannot be called in a kernel",
	otherExpr:      "a kernel cannot have this expression (%T)",
	otherValue:     "a kernel cannot have a value of type %s",
	otherName:      "%s cannot be used in a kernel",
	typedValue:     "%s of type %s cannot be in a kernel: %s",
	indexed:        "a value of type %s cannot be indexed in a kernel",
	sliced:         "a value of type %s cannot be sliced in a kernel",
	addressed:      "the address of this cannot be taken in a kernel",
	assigned:       "a kernel cannot assign this",
	ranged:         "a kernel cannot range over this",
	rangedType:     "a kernel can range over integers, arrays and slices, not over %s",
	notAFunction:   "this is no function that a kernel can give to another",
	longLiteral:    "a literal of %d elements is too long for a kernel; fill it in a loop, or pass it as a slice",
	functionSet:    "%s holds a function and is assigned later; a kernel's function variable keeps its first value",
	functionKept:   "a kernel's function variable keeps its first value",
	functionGiven:  "%s returns a function: a kernel can call it, and no more",
	functionReturn: "%s returns a function, which a kernel can follow only if its one return stands at its end",
	functionLost:   "%s returns a function that a kernel cannot follow",
	gotoOut:        "a kernel's goto cannot leave a loop over a function: use break with a label",
	allocated:      "make of this cannot be used in a kernel",
}

func (device) sentence(what refusal) string { return deviceSentences[what] }

func (device) unusable(t types.Type, within []types.Type) (bad types.Type, why string) {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			return t, "strings are constants there; pass a []byte or a number"
		}
	case *types.Map:
		return t, "there are no maps; use slices, sorted or as a table"
	case *types.Chan:
		return t, "there are no channels; threads share memory, ordered by barriers and atomics"
	case *types.Interface:
		if types.Identical(t, types.Universe.Lookup("error").Type()) {
			return t, "there are no interfaces, and so no errors: write a number to a slice, or panic with a constant"
		}
	case *types.Signature:
		if len(within) == 1 {
			return t, "functions can be called, and given to other functions as arguments, but not kept; f := func... keeps its first value, and cannot call itself"
		}
	}
	return nil, ""
}

func (device) holds(types.Type, []types.Type) bool { return false }

func (device) hasStrings() bool    { return false }
func (device) hasInterfaces() bool { return false }
func (device) iterations() int64   { return 0 }
func (device) escapes(u *unit)     { u.lifetimes() }

func (device) declaration(u *unit, o *types.Func) *ast.FuncDecl { return u.decls[o] }
func (device) named(*ir.Func, *types.Func)                      {}
func (device) facts(*unit, *types.Func) (done func())           { return func() {} }

func (device) signature(o *types.Func, typ *ast.FuncType) (*types.Signature, *ast.FuncType) {
	return o.Signature(), typ
}

func (device) recursive(u *unit, at token.Pos, name string) {
	u.fail(at, "%s calls itself: the stack that it needs on a device cannot be known; write a loop", name)
}

func (device) literalName(f *fn, name string) string { return f.f.Go + "." + name }

func (device) library(f *fn, e *ast.CallExpr, o *types.Func) (results []ir.Expr, ok bool) {
	if o.Pkg() == f.u.pkg || f.u.imported[o.Origin()] != nil {
		return nil, false
	}
	return f.library(e, o), true
}

func (device) builtin(f *fn, e *ast.CallExpr, name string) (results []ir.Expr, ok bool) {
	switch name {
	case "panic":
		f.constantPanic(e)
	case "print", "println":
		f.print(e, name == "println")
	case "append":
		f.fail(e, "append cannot be used in a kernel, where no memory is allocated: write to elements of a slice that is long enough")
	case "make":
		f.usable(f.typeOf(e), e, "a value") // which is said of maps and channels
		f.fail(e, "make cannot be used in a kernel, where no memory is allocated: declare an array, such as var x [16]float32, or pass a slice")
	default:
		return nil, false
	}
	return nil, true
}

// host is the processor that Go runs on: code that works on Go's memory, and asks Go's runtime
// for more.
type host struct{ *hostUnit }

func (host) passes() []string {
	return []string{"escape", "bounds", "versioning", "safepoints", "liveness", "roots"}
}

var hostSentences = map[refusal]string{
	goroutines:     "compiled code starts no goroutines",
	deferred:       "compiled code has no defer: write what is to be done before each return",
	channels:       "compiled code has no channels",
	interfaces:     "compiled code takes no struct or array of one pointer out of an interface",
	madeInterface:  "compiled code makes no interface of a struct or array of one pointer",
	comparedHeld:   "compiled code cannot compare values of type %s",
	secondValues:   "compiled code has no channels, so there is no second value",
	unsafePackage:  "package unsafe cannot be used in compiled code",
	recovering:     "recover cannot be used in compiled code",
	builtins:       "%s cannot be used in compiled code",
	otherStatement: "compiled code cannot have this statement (%T)",
	otherCall:      "compiled code can call functions by their names, and function literals that a variable holds",
	fieldCall:      "compiled code gives no function to a method of an interface, or to a function in a field",
	otherExpr:      "compiled code cannot have this expression (%T)",
	otherValue:     "compiled code cannot have a value of type %s",
	otherName:      "%s cannot be used in compiled code",
	typedValue:     "%s of type %s cannot be in compiled code: %s",
	indexed:        "a value of type %s cannot be indexed in compiled code",
	sliced:         "a value of type %s cannot be sliced in compiled code",
	addressed:      "the address of this cannot be taken in compiled code",
	assigned:       "compiled code cannot assign this",
	ranged:         "compiled code cannot range over this",
	rangedType:     "compiled code can range over numbers, arrays, slices, strings, maps and functions, not over %s",
	notAFunction:   "this is no function that compiled code can give to another",
	longLiteral:    "a literal of %d elements is too long for compiled code: fill it in a loop",
	functionSet:    "%s holds a function and is assigned later; a function variable of compiled code keeps its first value",
	functionKept:   "a function variable of compiled code keeps its first value",
	functionGiven:  "%s returns a function: compiled code can call it, and no more",
	functionReturn: "%s returns a function, which compiled code can follow only if its one return stands at its end",
	functionLost:   "%s returns a function that compiled code cannot follow",
	gotoOut:        "a goto of compiled code cannot leave a loop over a function: use break with a label",
	allocated:      "make of this cannot be used in compiled code",
}

func (host) sentence(what refusal) string { return hostSentences[what] }

func (h host) unusable(t types.Type, within []types.Type) (bad types.Type, why string) {
	if ir.Half(t) != ir.NoHalf {
		return t, "it is for devices"
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() != "main" {
		if _, ok := t.Underlying().(*types.Basic); !ok { // whose fields are perhaps not all known
			return t, "it is another package's"
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Map:
		return h.unusableMap(u, within)
	case *types.Chan:
		return t, "its functions have no channels"
	}
	return nil, ""
}

func (host) hasStrings() bool    { return true }
func (host) hasInterfaces() bool { return true }
func (host) iterations() int64   { return hostIterations }

// escapes moves variables until nothing outlives its memory; functions for which that cannot
// be are refused.
func (h host) escapes(u *unit) {
	for again := true; again; {
		again = false
		h.stores, h.moved = u.storing(func(c HostCall) bool { return c.storesInMap() || c.callsBack() }), make(map[*ir.Var]bool)
		for _, f := range u.prog.Funcs {
			if why := u.attempt(func() { u.keepsRules(f) }); why != nil && h.refused[f] == nil {
				h.refused[f], again = why, true
			}
		}
		again = again || len(h.moved) > 0
		u.dropRefused()
		u.move(h.moved)
	}
	u.dropHolds()
}

func (h host) declaration(_ *unit, o *types.Func) *ast.FuncDecl {
	s, _ := h.find(o)
	return s.Decl
}

func (h host) named(f *ir.Func, o *types.Func) {
	f.Name, f.Go = "f_"+f.Name, hostName(o)
	h.origins[f] = o
}

func (h host) facts(u *unit, o *types.Func) (done func()) {
	s, _ := h.find(o)
	info, here := u.info, u.here
	u.info = s.Info
	return func() { u.info, u.here = info, here }
}

func (h host) signature(o *types.Func, typ *ast.FuncType) (*types.Signature, *ast.FuncType) {
	s, _ := h.find(o)
	if s.Sig == nil {
		return o.Signature(), typ
	}
	rest, list := *typ, *typ.Params
	list.List = list.List[1:]
	rest.Params = &list
	return s.Sig, &rest
}

func (host) recursive(*unit, token.Pos, string) {}

func (h host) global(u *unit, v *types.Var, at ast.Node) *ir.Var {
	f := &fn{u: u}
	f.usable(v.Type(), at, "a variable")
	if sizes.Sizeof(v.Type()) == 0 {
		f.fail(at, "the variable %s has no size", v.Name())
	}
	g := &ir.Var{Name: "g_" + u.unique(v.Name()), Type: v.Type(), Space: ir.Global}
	u.globals[v] = g
	h.globals = append(h.globals, v)
	u.prog.Globals = append(u.prog.Globals, g)
	return g
}

func (h host) literalName(f *fn, _ string) string {
	h.literals[f.f.Go]++
	n := fmt.Sprint(h.literals[f.f.Go])
	if f.parent != nil {
		return f.f.Go + "." + n
	}
	return f.f.Go + ".func" + n
}

func (h host) library(f *fn, e *ast.CallExpr, o *types.Func) (results []ir.Expr, ok bool) {
	if f.permutes(e, o) {
		return nil, true
	}
	if f.u.declOf(o.Origin()) != nil || o.Signature().Recv() != nil && types.IsInterface(o.Signature().Recv().Type()) {
		return nil, false
	}
	if o.Pkg() != nil && o.Signature().Recv() == nil {
		switch {
		case h.inGo(o):
			return []ir.Expr{f.callsGo(o, f.args(e, f.typeOf(e.Fun).Underlying().(*types.Signature)))}, true
		case hostMath[o.Pkg().Path()+"."+o.Name()]: // with the same bits
			return f.library(e, o), true
		}
	}
	if results, ok := f.typed(e, o); ok {
		return results, true
	}
	if results, ok := f.builder(e, o); ok {
		return results, true
	}
	if f.printsToBuilder(e, o) {
		return nil, true
	}
	if results, ok := f.outside(e, o); ok {
		return results, true
	}
	f.fail(e, "%s cannot be called in compiled code", o.FullName())
	return nil, false
}

func (host) builtin(f *fn, e *ast.CallExpr, name string) (results []ir.Expr, ok bool) {
	if results, ok := f.mapBuiltin(e, name); ok {
		return results, true
	}
	switch name {
	case "panic":
		f.hostPanic(e)
		return nil, true
	case "print", "println":
		return f.printOutside(e, name)
	case "append":
		return []ir.Expr{f.appended(e)}, true
	case "make":
		return []ir.Expr{f.makeSlice(e)}, true
	}
	return nil, false
}
