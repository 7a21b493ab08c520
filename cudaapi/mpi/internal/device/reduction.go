package device

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// Reduction is how Allreduce treats device memory.
type Reduction uint32

// The reductions. AutoReduction chooses by size and by what there is.
const (
	AutoReduction Reduction = iota
	ByHost
	ByQuick
	ByBulk
	ByGroup
	ByNCCL
	ByRing
)

var reductionNames = []string{"auto", "host", "quick", "bulk", "group", "nccl", "ring"}

func (r Reduction) String() string { return reductionNames[r] }

var reduction atomic.Uint32

// WantReduction makes Allreduce work in one way only, from now on. All ranks
// must want the same.
func WantReduction(r Reduction) { reduction.Store(uint32(r)) }

// WantedReduction is what WantReduction or the environment said.
func WantedReduction() Reduction { return Reduction(reduction.Load()) }

// readReduction takes the wish of the program's user.
func readReduction(name string) error {
	if name == "" {
		return nil
	}
	i := slices.Index(reductionNames, name)
	if i < 0 {
		return fmt.Errorf("GOCUDA_MPI_ALLREDUCE=%q: want one of %s", name, strings.Join(reductionNames, ", "))
	}
	WantReduction(Reduction(i))
	return nil
}
