// Package packages lists the compiled packages of this module that cells can
// import, with their documentation. Its tables are generated: run go generate
// after a change to one of those packages.
package packages

import "gocuda/kernel/golang/host"

//go:generate go run ./gen

// All returns the packages that cells can import beyond the standard library.
func All() []host.Package { return all() }
