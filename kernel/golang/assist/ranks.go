package assist

import (
	"go/token"
	"go/types"
	"slices"
)

// rankScope is what a cell can refer to on the ranks, before there are any: the
// notebook's names, and those that each rank has from its start.
type rankScope struct{ Scope }

func (s rankScope) Names() []types.Object {
	list := s.Scope.Names()
	has := func(name string) bool {
		return slices.ContainsFunc(list, func(o types.Object) bool { return o.Name() == name })
	}
	add := func(name string, t types.Type) {
		if !has(name) {
			list = append(list, types.NewVar(token.NoPos, nil, name, t))
		}
	}
	add("rank", types.Typ[types.Int])
	add("size", types.Typ[types.Int])
	if mpi, err := s.Import("gocuda/cudaapi/mpi"); err == nil {
		if comm := mpi.Scope().Lookup("Comm"); comm != nil {
			add("world", types.NewPointer(comm.Type()))
		}
	}
	return list
}
