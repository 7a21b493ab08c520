// Package golang evaluates Go cells: a front end that parses, checks and
// lowers what the user typed, over the yaegi interpreter.
//
// A cell is split into declarations and statements (split.go), checked with
// go/types against what earlier cells declared (check.go), written as the
// simple Go that yaegi runs right (package lower), and run as one function in
// a goroutine of its own (run.go), with package rt beneath it.
//
// # What a cell can do
//
// An Evaluator keeps the names of its cells. What is declared again, the functions,
// methods and types of earlier cells that use it follow; the cell says which cannot,
// and which variables hold values of an old type. A function may call one that a
// later cell declares. A type that is declared again in the same words stays the
// same type, so that running a cell again does not part it from the values that
// others hold. Methods may come in later cells. A variable that is declared again with its type is the same
// variable.
//
// An interrupt ends the goroutines of the running cell: lowered code polls for
// it in loops, at the start of functions and after what may block. A cell that
// is blocked is left behind, and ends when it comes back. Goroutines of other
// cells go on.
//
// # What is still felt of the interpreter
//
// Types that cells declare are types of the process (package named): compiled code
// sees their names, fields, tags, embedded fields and methods as it sees those of
// compiled programs. A method that a later cell gives to a type is seen in values
// that are put into interfaces from then on, and in what is passed to a compiled
// function directly; a value deeper inside keeps the methods that its type had.
// Types declared by instances of one generic function have one name. What a package
// registers by a type's name, such as gob.Register, takes a type of that name once
// in a process.
//
// A function that gets a negative zero sees zero. Finalizers run late. Compiled
// code that asks package runtime for its callers sees the interpreter; cells and
// modules, log and slog get the calls in cells, but runtime.FuncForPC does not know
// a function by its value.
//
// The line of a trace is that of the call or the panic, except that calls of one
// function from several lines are told apart only while nothing else runs the
// calling function, be it the function itself or another goroutine.
package golang
