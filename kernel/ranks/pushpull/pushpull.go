// Package pushpull has what cells see of package mpi beside what compiled
// programs do: Push and Pull, which copy variables between a notebook and its ranks.
package pushpull

import (
	"sync/atomic"

	"gocuda/cudaapi/mpi"
)

// Pool is the ranks that a notebook has started.
type Pool interface {
	Push(name string, value any) error
	Pull(name string) ([]any, error)
}

var pool atomic.Pointer[Pool]

// Set tells the package of a notebook's ranks.
func Set(p Pool) { pool.Store(&p) }

// Push sets a variable in every rank that %mpi start has started, to a copy of
// value. It is called in the notebook, in a cell without %%mpi, and blocks until
// every rank has the value, after what the ranks run or have waiting.
//
// What can be copied: numbers, bools, strings, slices, arrays and maps of them,
// structs of them, and types that marshal themselves, such as time.Time. A type
// that a cell declared must be declared by the ranks too, with the same fields.
// Pointers, channels, functions, interfaces and device memory mean nothing in
// another process: they are an error, which names them.
func Push(name string, value any) error {
	p := pool.Load()
	if p == nil {
		return notANotebook("mpi.Push")
	}
	return (*p).Push(name, value)
}

// Pull gives a copy of what a variable holds in each rank that %mpi start has
// started, by rank. It is Push the other way: what it says of values and of
// blocking holds. A rank without such a variable is an error that names it.
func Pull(name string) ([]any, error) {
	p := pool.Load()
	if p == nil {
		return nil, notANotebook("mpi.Pull")
	}
	return (*p).Pull(name)
}

func notANotebook(call string) error {
	return &mpi.Error{Class: mpi.ErrOther, Call: call, Rank: -1, Peer: -1, Text: "this process is not a notebook that has ranks",
		Hint: "call it in a cell without %%mpi; between ranks, data goes by messages"}
}
