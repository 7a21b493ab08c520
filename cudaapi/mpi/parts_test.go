package mpi_test

import (
	"errors"
	"fmt"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
)

func init() { programs["parts"] = parts }

// TestPartsOfBuffers: collectives that receive into parts of device memory write
// nothing else of it: not what another one receives, nor what a kernel writes.
func TestPartsOfBuffers(t *testing.T) {
	for _, n := range []int{2, 3} {
		runRanks(t, n, "parts", "GOCUDA_SIM_SCHEDULE=adversarial")
	}
}

func parts() error {
	world, d, err := begin()
	if err != nil {
		return err
	}
	rank, p := world.Rank(), world.Size()
	const each = 5
	whole := 3 * p * each // a third for each of two collectives, and one for a kernel
	to, err := d.Alloc(whole, cuda.Int32)
	from, err2 := d.Alloc(p*each, cuda.Int32)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	counts, at := make([]int, p), make([]int, p)
	for r := range p {
		counts[r], at[r] = each, r*each
	}
	starts := map[string]func(first int) (*mpi.Request, error){
		"Iallgatherv": func(first int) (*mpi.Request, error) {
			return world.Iallgatherv(from.Slice(0, each), to, counts, displaced(at, first))
		},
		"Igatherv": func(first int) (*mpi.Request, error) {
			if rank != p-1 {
				return world.Igatherv(from.Slice(0, each), nil, nil, nil, p-1)
			}
			return world.Igatherv(from.Slice(0, each), to, counts, displaced(at, first), p-1)
		},
		"Ialltoallv": func(first int) (*mpi.Request, error) {
			return world.Ialltoallv(from, counts, at, to, counts, displaced(at, first))
		},
	}
	for _, name := range []string{"Iallgatherv", "Igatherv", "Ialltoallv"} {
		start := starts[name]
		if err := errors.Join(to.Fill(int32(-1), nil), from.Fill(int32(rank+1), nil), d.Synchronize()); err != nil {
			return err
		}
		a, err := start(0)
		b, err2 := start(p * each)
		err3 := to.Slice(2*p*each, whole).Fill(int32(77), nil)
		if err := errors.Join(err, err2, err3, d.Synchronize()); err != nil {
			return err
		}
		if _, err := mpi.WaitAll(a, b); err != nil {
			return err
		}
		got, err := to.Int32s()
		if err != nil {
			return err
		}
		for i, v := range got {
			want := int32(77)
			if i < 2*p*each {
				want = int32(i%(p*each)/each + 1)
				if name == "Igatherv" && rank != p-1 {
					want = -1
				}
			}
			if v != want {
				return fmt.Errorf("%s: element %d is %d, want %d", name, i, v, want)
			}
		}
	}
	return nil
}

// displaced are displacements from an element on.
func displaced(at []int, first int) []int {
	moved := make([]int, len(at))
	for i := range at {
		moved[i] = at[i] + first
	}
	return moved
}
