package main

import (
	"errors"
	"fmt"
	"os"

	"gocuda/cudaapi/collective"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/allreduce"
	"gocuda/cudaapi/mpi"
)

// reduced are the lengths that sums are measured at.
var reduced = []int{4, 64, 1 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 16 << 20, 256 << 20, 1 << 30}

// sums measures sums of float32 over all ranks' devices: as a call that
// waits, in each of its ways, and queued on a stream, beside NCCL.
func sums(world *mpi.Comm) error {
	d, _, err := ofRank(world.Rank())
	if err != nil {
		return err
	}
	if err := title(world, "sum of float32 over all ranks' devices, in place; GB/s are the bus's, 2(n-1)/n of the buffer's"); err != nil {
		return err
	}
	s, err := d.NewStream(cuda.NonBlocking)
	if err != nil {
		return err
	}
	g, err := world.Collectives()
	if err != nil {
		return err
	}
	// A communicator does what is wished when it is made.
	const waitedFor = "Comm.Allreduce"
	wished := map[string]*mpi.Comm{waitedFor: world}
	for _, wish := range []string{"ll", "simple", "host"} {
		if err := os.Setenv("GOCUDA_MPI_ALLREDUCE", wish); err != nil {
			return err
		}
		if wished[wish], err = world.Dup(); err != nil {
			return err
		}
	}
	p := float64(world.Size())
	out := table{world: world, factor: 2 * (p - 1) / p}
	streams, choices := []*cuda.Stream{s}, ""
	for _, bytes := range within(reduced) {
		b, err := d.Alloc(max(1, bytes/4), cuda.Float32)
		if err != nil {
			return err
		}
		if err := b.Memset(0); err != nil { // so that sums of sums stay what they are
			return err
		}
		bufs := []*cuda.Buffer{b}
		queued := func(a collective.Algorithm) way {
			return way{a.String() + ", queued", func(n int) error {
				for range n {
					if err := g.Allreduce(bufs, streams, collective.Using(a)); err != nil {
						return err
					}
				}
				return s.Synchronize()
			}, 1}
		}
		waited := func(name string, suits bool) way {
			w := way{name: name, count: 1}
			if c := wished[name]; suits {
				w.loop = func(n int) error {
					for range n {
						if err := c.Allreduce(mpi.InPlace, b, mpi.Sum); err != nil {
							return err
						}
					}
					return nil
				}
			}
			return w
		}
		chosen, why := g.Choose(bufs)
		ways := []way{
			waited(waitedFor, true), waited("ll", bytes <= allreduce.LLBytes), waited("simple", bytes >= 1<<10), waited("host", bytes <= 1<<20),
		}
		can := func(a collective.Algorithm) bool { return g.Allreduce(bufs, streams, collective.Using(a)) == nil }
		if can(collective.NCCL) {
			ways = append(ways, way{"NCCL, waited for", func(n int) error {
				for range n {
					if err := errors.Join(g.Allreduce(bufs, streams, collective.Using(collective.NCCL)), s.Synchronize()); err != nil {
						return err
					}
				}
				return nil
			}, 1}, queued(collective.NCCL))
		}
		for _, a := range []collective.Algorithm{collective.Auto, collective.OneShot, collective.Ring} {
			if can(a) {
				ways = append(ways, queued(a))
			}
		}
		all, err := measure(world, ways, loops(bytes))
		if err != nil {
			return err
		}
		out.row(bytes, ways, all)
		if world.Rank() == 0 {
			choices += fmt.Sprintf("auto, %d bytes: %s (%s)\n", bytes, chosen, why)
		}
		if err := b.Free(); err != nil {
			return err
		}
	}
	fmt.Print(choices)
	return g.Close()
}
