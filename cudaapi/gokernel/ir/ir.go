// Package ir is the form that code takes between a front end and a back end that writes
// another language: functions whose types are known, whose order of evaluation is that
// of the statements, and whose panics are statements.
//
// Expressions have no effects. What has one (a call, an operation on memory that other
// threads use, a barrier) is a statement, with a variable for its result; so is what may
// panic: a Check stands before the expression that needs it. Types are go/types' own,
// without type parameters.
//
// A local variable may be set again and again, as a register may. Control flow is
// structured (If, Loop, Block, Leave, Again); what is not so is a graph: a Mark begins a
// block of it, and a Jump leads there. [Fprint] writes a program as text, [Parse] reads
// it, and [Verify] says what is wrong with one.
package ir

import (
	"go/constant"
	"go/token"
	"go/types"
)

// Program is what is compiled together.
type Program struct {
	Globals []*Var  // package variables
	Funcs   []*Func // callees before their callers, recursion aside
}

// Func is a function, an instance of a generic one, or a method.
type Func struct {
	Name    string // in the output
	Go      string // as messages call it
	Params  []*Var
	Results []types.Type
	Body    []Stmt
	Pos     token.Pos

	Kernel  bool // it is launched
	Called  bool // another function calls it
	Takes   bool // it has parameters that are functions
	Foreign bool // it is CUDA C++ of the user's, and has no body here
	Outside bool // it stands for one that is not part of the program, and has no body here
}

// Space says where a variable lies.
type Space int

// Local variables are a thread's own, shared ones a block's; globals and
// constants are the module's.
const (
	Local Space = iota
	Shared
	Global
	Constant
)

// Var is a variable.
type Var struct {
	Name  string // in the output; unique in its function
	Type  types.Type
	Space Space
	Init  Expr // of a global: constant, or nil
	There bool // a pointer of the front end's own: it is not nil, and nobody need ask
}

// Expr is an expression without effects.
type Expr interface{ Type() types.Type }

// The expressions.
type (
	// Const is a constant.
	Const struct {
		T     types.Type
		Value constant.Value
	}
	// Zero is the zero value of a type.
	Zero struct{ T types.Type }
	// Ref is a variable.
	Ref struct{ Var *Var }
	// Unary is -x, ^x, !x.
	Unary struct {
		Op token.Token
		X  Expr
		T  types.Type
	}
	// Binary is x op y, wrapping as Go does; of bools, x | y is both looked at. The divisor of an integer division was
	// checked, and so was the sign of a shift's count.
	Binary struct {
		Op   token.Token
		X, Y Expr
		T    types.Type
	}
	// Convert is T(x) among numbers, or among types of one layout.
	Convert struct {
		X Expr
		T types.Type
	}
	// Field is x.f; X is a struct.
	Field struct {
		X     Expr
		Index int
		T     types.Type
	}
	// Index is x[i], within bounds; X is an array or a slice.
	Index struct {
		X, I Expr
		T    types.Type
	}
	// Deref is *p, which is not nil.
	Deref struct {
		X Expr
		T types.Type
	}
	// Addr is &x.
	Addr struct {
		X Expr
		T types.Type
	}
	// Len and Cap are of slices.
	Len struct{ X Expr }
	Cap struct{ X Expr }
	// Slice is x[lo:hi:max], within bounds; X is a slice, or a pointer to an array.
	Slice struct {
		X           Expr
		Lo, Hi, Max Expr // Max is never nil
		T           types.Type
	}
	// Composite is T{...}: all fields of a struct, or all elements of an array.
	Composite struct {
		T     types.Type
		Elems []Expr
	}
	// Pure is a call of a function of the back end that depends on its arguments
	// alone, such as math.Sqrt.
	Pure struct {
		Name string
		Args []Expr
		T    types.Type
	}
	// FuncRef is a function that is an argument, or a local function.
	FuncRef struct {
		Func *Func // nil: Lit is set
		Lit  *Var  // a variable that holds a function literal
		T    types.Type
	}
)

func (e *Const) Type() types.Type     { return e.T }
func (e *Zero) Type() types.Type      { return e.T }
func (e *Ref) Type() types.Type       { return e.Var.Type }
func (e *Unary) Type() types.Type     { return e.T }
func (e *Binary) Type() types.Type    { return e.T }
func (e *Convert) Type() types.Type   { return e.T }
func (e *Field) Type() types.Type     { return e.T }
func (e *Index) Type() types.Type     { return e.T }
func (e *Deref) Type() types.Type     { return e.T }
func (e *Addr) Type() types.Type      { return e.T }
func (e *Len) Type() types.Type       { return types.Typ[types.Int] }
func (e *Cap) Type() types.Type       { return types.Typ[types.Int] }
func (e *Slice) Type() types.Type     { return e.T }
func (e *Composite) Type() types.Type { return e.T }
func (e *Pure) Type() types.Type      { return e.T }
func (e *FuncRef) Type() types.Type   { return e.T }

// Int is a constant of type int.
func Int(n int64) Expr { return &Const{T: types.Typ[types.Int], Value: constant.MakeInt64(n)} }

// Stmt is a statement.
type Stmt interface{ stmt() }

// The statements.
type (
	// Define declares a local variable with its first value.
	Define struct {
		Var  *Var
		Init Expr
	}
	// Closure declares a variable that holds a function literal. The literal uses
	// the variables around it in place.
	Closure struct {
		Var *Var
		Lit *Func
	}
	// Assign stores a value in a variable, a field, an element or a pointer's target.
	Assign struct{ To, Value Expr }
	// Call calls a function; Dst are variables for its results, declared before, or
	// nil where one is dropped.
	Call struct {
		Dst  []*Var
		Func *Func
		Lit  *Var // instead of Func: a variable or parameter that holds a function
		Args []Expr
		Pos  token.Pos
	}
	// Memory is an operation on memory that other threads use at the same time. Dst
	// takes what was there before; it is nil if nobody asks, and of a store or a fence.
	Memory struct {
		Op    MemoryOp
		Dst   *Var
		Addr  Expr   // a pointer; nil: a fence
		Args  []Expr // of a CompareExchange the old value first
		Order Order
		Scope Scope
		Pos   token.Pos
	}
	// Effect calls a function of the back end that has an effect, such as a barrier; Dst
	// may be nil.
	Effect struct {
		Dst  *Var
		Name string
		Args []Expr
		T    types.Type // of the result, or what the function works on
		Pos  token.Pos
	}
	// Printf prints; Format is C's.
	Printf struct {
		Format string
		Args   []Expr
	}
	// If branches.
	If struct {
		Cond       Expr
		Then, Else []Stmt
	}
	// Loop runs until it is left. Cond, if any, is looked at before each iteration, and
	// Post runs after each.
	Loop struct {
		Label *Label
		Pos   token.Pos
		Cond  Expr // nil: for ever
		Body  []Stmt
		Post  []Stmt
		Short bool // it has so few iterations that nobody need ask whether it is to end
		Slow  bool // another version of it has fewer checks
	}
	// Block is a list of statements that Leave can end.
	Block struct {
		Label *Label
		Body  []Stmt
	}
	// Leave goes to the end of the loop or block: break.
	Leave struct{ To *Label }
	// Again goes to the next iteration of a loop: continue.
	Again struct{ To *Label }
	// Mark is where a Jump goes: goto.
	Mark struct{ Label *Label }
	Jump struct {
		To  *Label
		Pos token.Pos
	}
	// Return ends the function.
	Return struct{ Values []Expr }
	// Check panics unless it holds.
	Check struct {
		Kind CheckKind
		Args []Expr
		Pos  token.Pos
		// Holds says that it was proved to: nobody need ask.
		Holds bool
		// Fails says that it does: the thread comes here only if.
		Fails bool
		// Of SliceOK: which bounds were written, and whether it is of a slice.
		High, Max, Cap bool
	}
	// Panic panics with a text.
	Panic struct {
		Text    string
		Runtime bool // a runtime error says so
		Pos     token.Pos
	}
	// Step is where a statement of the source begins, in a program whose threads are
	// stepped: see package emulate.
	Step struct {
		Pos token.Pos
		Of  any // what the lowering knows of the place
	}
)

// Label names a loop, a block or a place.
type Label struct {
	Name  string
	Left  bool // something leaves it other than from directly inside
	Again bool
}

// MemoryOp is what an operation does with memory.
type MemoryOp int

// The operations. Increment and Decrement wrap at their argument, as PTX's do.
const (
	Fence MemoryOp = iota
	Load
	Store
	Add
	Sub
	Min
	Max
	And
	Or
	Xor
	Exchange
	CompareExchange
	Increment
	Decrement
)

// Order is how an operation orders those before and after it.
type Order int

// The orders, as C++ and PTX have them.
const (
	Relaxed Order = iota
	Acquire
	Release
	AcquireRelease
	SequentiallyConsistent
)

// Acquires says whether what follows is ordered after the operation.
func (o Order) Acquires() bool { return o != Relaxed && o != Release }

// Releases says whether what was before is ordered before the operation.
func (o Order) Releases() bool { return o >= Release }

// Scope is the threads among which an operation is atomic, and orders others.
type Scope int

// The scopes.
const (
	BlockScope Scope = iota
	DeviceScope
	SystemScope // all devices and the host
)

// CheckKind says what is checked.
type CheckKind int

// The checks, with their arguments.
const (
	InRange  CheckKind = iota // index, length
	SliceOK                   // lo, hi, max, capacity
	NonZero                   // divisor
	NonNil                    // pointer
	NonMinus                  // count of a shift
	Fits                      // length, length wanted: slice to array
)

func (*Define) stmt()  {}
func (*Closure) stmt() {}
func (*Assign) stmt()  {}
func (*Call) stmt()    {}
func (*Effect) stmt()  {}
func (*Memory) stmt()  {}
func (*Printf) stmt()  {}
func (*If) stmt()      {}
func (*Loop) stmt()    {}
func (*Block) stmt()   {}
func (*Leave) stmt()   {}
func (*Again) stmt()   {}
func (*Mark) stmt()    {}
func (*Jump) stmt()    {}
func (*Return) stmt()  {}
func (*Check) stmt()   {}
func (*Panic) stmt()   {}
func (*Step) stmt()    {}
