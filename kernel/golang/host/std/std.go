// Package std has what the standard library gained since the interpreter's
// tables were made: they are those of Go 1.22.
package std

//go:generate go run ./gen
