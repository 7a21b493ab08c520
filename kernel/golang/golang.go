// Package golang evaluates Go cells: a front end that parses, checks and
// lowers what the user typed, over the yaegi interpreter.
//
// A cell is split into declarations and statements (split.go), checked with
// go/types against what earlier cells declared (check.go), written as the
// simple Go that yaegi runs right (package lower), and run as one function in
// a goroutine of its own (run.go), with package rt beneath it.
package golang
