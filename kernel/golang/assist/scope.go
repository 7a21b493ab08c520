package assist

import "go/types"

// Scope is what a cell can refer to: the snapshot of a session that
// completion and inspection look names up in. The cell that is being typed is
// not part of it.
type Scope interface {
	// Import returns an importable package by its path, from the standard
	// library, the host or a module.
	types.Importer

	// Packages lists the import paths that Import takes. A standard package
	// among them may be used by its name without an import.
	Packages() []string

	// Names lists what a cell can say without qualification: variables,
	// constants, functions and types of earlier cells as the user named them,
	// predeclared functions such as input, and a *types.PkgName for each
	// package that is preloaded or that an earlier cell imported. Go's own
	// universe (len, error, ...) is not listed. The order does not matter, and
	// the slice is the caller's.
	Names() []types.Object

	// Source returns the declaration of an object of an earlier cell as the
	// user typed it, with the comment above it, or "" when there is none.
	// Methods and fields may be asked for too.
	Source(obj types.Object) string

	// Value shows the value of a variable of an earlier cell in one line, or is "".
	Value(name string) string

	// Keys lists keys of a variable that is a map with strings for keys, sorted; of many,
	// some.
	Keys(name string) []string

	// Doc returns the doc comment of an object of an imported package (a
	// *types.PkgName asks for the package's own), or "".
	Doc(obj types.Object) string

	// Declaration returns the declaration of an object of the standard library
	// as its source has it, or "".
	Declaration(obj types.Object) string
}
