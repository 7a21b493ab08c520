package mpi_test

import (
	"fmt"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"gocuda/cudaapi/mpi"
)

func init() { programs["bound"] = bound }

func TestRanksOnProcessorsOfTheirOwnAreNoCrowd(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("needs two processors")
	}
	runRanks(t, 2, "bound")
}

// bound binds two ranks to a processor each, as mpirun does, and then both to
// the same.
func bound() error {
	world, _, err := begin()
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	var may unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		return err
	}
	var free []int
	for i := range 1024 {
		if may.IsSet(i) {
			free = append(free, i)
		}
	}
	for _, c := range []struct {
		processor int
		crowded   bool
	}{{free[world.Rank()], false}, {free[0], true}} {
		var set unix.CPUSet
		set.Set(c.processor)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return err
		}
		if crowded, err := mpi.Crowded(); err != nil || crowded != c.crowded {
			return fmt.Errorf("on processor %d: crowded %v, want %v (%v)", c.processor, crowded, c.crowded, err)
		}
	}
	return nil
}
