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
// An Evaluator keeps the names of its cells. A function that is declared again
// with the same signature is called by its earlier callers at once; with
// another signature, the cell says who still calls the old one. A type that is
// declared again in the same words stays the same type, so that running a cell
// again does not part it from the values that others hold. Methods may come in
// later cells. A variable that is declared again with its type is the same
// variable.
//
// An interrupt ends the goroutines of the running cell: lowered code polls for
// it in loops, at the start of functions and after what may block. A cell that
// is blocked is left behind, and ends when it comes back. Goroutines of other
// cells go on.
//
// # What is still felt of the interpreter
//
// Lowered code knows no types but those of compiled packages. fmt, encoding/json,
// sort, errors, net/http and package display get what they need of a cell's types.
// reflect, the templates, encoding/xml and encoding/gob see them as types with
// their names, fields and methods (package named), but that a field whose type
// leads back to its struct by a slice, a map, a channel or a function is an any,
// that interfaces have no methods, and that methods are there on amd64 only.
// Other compiled packages see representations: without names and methods,
// unexported fields with X_ before their names, no embedded fields. A function
// that gets a negative zero sees zero. runtime.Caller sees the interpreter, and
// finalizers run late.
//
// The line of a trace is that of the call or the panic, except that calls of one
// function from several lines are told apart only while nothing else runs the
// calling function, be it the function itself or another goroutine.
package golang
