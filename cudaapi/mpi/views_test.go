package mpi_test

import (
	"errors"
	"fmt"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/ipc"
)

func init() { programs["views"] = views }

// TestViewsOfOneAllocation: what has opened a part of another rank's buffer goes on
// using it when others open more of it.
func TestViewsOfOneAllocation(t *testing.T) { runRanks(t, 2, "views") }

func views() error {
	world, d, err := begin()
	if err != nil {
		return err
	}
	if world.Rank() == 1 {
		b, err := d.Alloc(1000, cuda.Uint8)
		if err != nil {
			return err
		}
		if err := errors.Join(b.Fill(uint8(7), nil), d.Synchronize()); err != nil {
			return err
		}
		for _, n := range []int{100, 1000} {
			e, err := ipc.NewExport(b.Slice(0, n))
			if err := errors.Join(err, world.Send(handshake.Bytes(&e), 0, n)); err != nil {
				return err
			}
		}
		return world.Barrier()
	}
	var im ipc.Imports
	open := func(n int) (*ipc.View, error) {
		var e ipc.Export
		if _, err := world.Recv(handshake.Bytes(&e), 1, n); err != nil {
			return nil, err
		}
		return im.View(d, e)
	}
	few, err := open(100)
	if err != nil {
		return err
	}
	all, err := open(1000)
	if err != nil {
		return err
	}
	for _, b := range []*ipc.View{few, all} {
		if got, err := b.Uint8s(); err != nil || got[0] != 7 || got[len(got)-1] != 7 {
			return fmt.Errorf("%d bytes: %v, %w", b.Len(), got, err)
		}
	}
	return errors.Join(world.Barrier(), im.Close())
}
