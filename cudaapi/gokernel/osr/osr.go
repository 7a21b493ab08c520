// Package osr has what on-stack replacement is about: a loop that is entered in its compiled
// form while it runs. Lowering finds such loops and writes their entries, the compiler
// makes a function of each, and the evaluator brings both together.
package osr

import (
	"go/ast"
	"go/types"
)

// Loop is a loop that can be entered at the head of one of its iterations. It is compiled
// as a function of what it uses of the function around it. The parameters are Vars and
// State. The results are an [Exit], the Vars that are Set, and Results; of one that Leaves
// also how far it is, the last of State.
type Loop struct {
	Stmt  ast.Stmt // an *ast.ForStmt, whose first part has run, or an *ast.RangeStmt
	Label string
	Info  *types.Info
	Func  string // the function that it is in, as traces call it
	Vars  []Var
	// State are the types of what a loop over a range has that no name is for: what it
	// goes over, but for arrays of which no element is wanted, and how far it is.
	State []types.Type
	// Results are those of the function, if the loop has return statements with values.
	Results []types.Type
	// Branches are the break, continue and goto statements that lead out of it, to
	// somewhere else than after it.
	Branches []*ast.BranchStmt
	Around   *Loop // the innermost loop around it that can be entered, too
	// Leaves says that it goes on in the interpreter, at the head of an iteration, when work
	// is queued that it may meet. Early is where that head is: before the condition, not
	// after it.
	Leaves, Early bool
	// Call says that it is a call, as a loop of one iteration, which is compiled before it
	// runs.
	Call bool
}

// Typed is what compiled code calls for a function of the library that takes a slice of any
// type, such as sort.Slice: its elements have a type parameter. It is nil if there is none.
func Typed(fun *types.Func) *types.Func {
	if fun.Pkg() == nil || fun.Signature().Recv() != nil {
		return nil
	}
	o, _ := fun.Pkg().Scope().Lookup("typed" + fun.Name()).(*types.Func)
	return o
}

// Var is a local variable of the function around a loop.
type Var struct {
	*types.Var
	Place bool // it is given by its address: closures share it
	Set   bool // the loop changes it, and it is not given by its address
}

// Exit is how a compiled loop ended.
type Exit int

// The exits.
const (
	GoesOn  Exit = iota // it was not entered, or it was left
	Done                // what follows it is next
	Returns             // the function returns Results
	Ends                // the function returns without values
	Branch              // the first of Branches is taken; others follow
)
