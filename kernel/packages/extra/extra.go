// Package extra has the packages of other modules that are compiled into the
// kernel, as tables that are loaded when a cell or a module first imports one.
// They take the place of the versions that modules ask for, so keep them new.
package extra

import (
	"slices"

	"gocuda/kernel/golang/host"
)

//go:generate go run ./gen

// All returns the packages.
func All() []host.Package { return slices.Concat(common, platform) }
