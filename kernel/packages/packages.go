// Package packages lists the compiled packages that cells can import beyond the
// standard library, with their documentation. Its tables are generated: run go generate
// after a change to one of those packages.
package packages

import (
	"reflect"
	"slices"
	"strings"

	"gocuda/cudaapi/backend"
	"gocuda/kernel/golang/host"
	"gocuda/kernel/golang/host/trait"
	"gocuda/kernel/packages/extra"
)

//go:generate go run ./gen

// All returns the packages.
func All() []host.Package {
	list := all()
	mpi := slices.IndexFunc(list, func(p host.Package) bool { return p.Path == "gocuda/cudaapi/mpi" })
	own := slices.IndexFunc(list, func(p host.Package) bool { return p.Path == "gocuda/kernel/ranks/pushpull" })
	list[mpi].Join(list[own])
	list = slices.Delete(list, own, own+1)
	for i := range list {
		switch p := &list[i]; {
		case p.Path == "gocuda/cudaapi/cuda":
			p.Direct, p.Traits = directCUDA(), trait.Table{"*": trait.Tells, "LaunchHostFunc": trait.Callbacks}
		case p.Path == "gocuda/kernel/widgets":
			p.Traits = trait.Table{"*": trait.Clicks}
		case strings.HasPrefix(p.Path, "gocuda/cudaapi/"):
			p.Traits = trait.Table{"*": trait.Tells}
		}
	}
	list = append(list, extra.All()...)
	return append(list, host.Package{Path: "gocuda/cudaapi/backend", Name: "backend", Traits: trait.Table{"*": trait.Tells}, Symbols: map[string]reflect.Value{"Cluster": reflect.ValueOf(backend.Cluster)},
		Docs: map[string]string{
			"":        "Package backend gives compiled programs their devices. In a cell they are there without it.",
			"Cluster": "Cluster makes a simulated cluster the devices in use, also where there are\nGPUs: so many nodes of so many devices each, 1,024 in all at most. restore ends\nit, which waits for its work, and gives the devices from before back. What was\nmade on the cluster is of no use then.",
		}})
}
