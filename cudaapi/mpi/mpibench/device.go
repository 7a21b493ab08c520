package main

import (
	"errors"
	"fmt"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/ipc"
	"gocuda/cudaapi/internal/nccl"
	"gocuda/cudaapi/mpi"
)

// deviceMemory measures half round trips between two ranks' devices, and, in rank 0
// alone, the copy from its device to the next.
func deviceMemory(world *mpi.Comm) error {
	if world.Size() != 2 {
		return errTwo
	}
	rank := world.Rank()
	d, _, err := ofRank(rank)
	if err != nil {
		return err
	}
	next, _, err := ofRank(1)
	if err != nil {
		return err
	}
	if err := title(world, "ping-pong of device memory, half a round trip"); err != nil {
		return err
	}
	s, err := d.NewStream(cuda.NonBlocking)
	if err != nil {
		return err
	}
	peer, err := connect(world, d)
	if err != nil {
		return err
	}
	if rank == 0 {
		path, why := mpi.Path(world, 1)
		fmt.Printf("path: %s (%s); NCCL: %s\n", path, why, peer.about)
	}
	if d != next {
		if can, err := d.CanAccessPeer(next); err == nil && can {
			if err := d.EnablePeerAccess(next); err != nil {
				return err
			}
		}
	}
	out := table{world: world, factor: 1}
	for _, bytes := range sizes(8, 8, 1<<30) {
		b, err := d.Alloc(bytes, cuda.Uint8)
		if err != nil {
			return err
		}
		if err := b.Fill(uint8(1+rank), nil); err != nil {
			return err
		}
		ways := []way{
			{"Send, Recv", func(n int) error {
				return pingPong(rank, n,
					func() error { return world.Send(b, 1-rank, 0) },
					func() error { _, err := world.Recv(b, 1-rank, 0); return err })
			}, 2},
			{"SendOn, RecvOn", func(n int) error {
				return errors.Join(pingPong(rank, n,
					func() error { return world.SendOn(b, 1-rank, 0, s) },
					func() error { _, err := world.RecvOn(b, 1-rank, 0, s); return err }), s.Synchronize())
			}, 2},
		}
		if peer.comm != nil {
			ways = append(ways,
				way{"NCCL, waited for", func(n int) error {
					return pingPong(rank, n,
						func() error { return errors.Join(peer.comm.Send(b, 1-rank, s), s.Synchronize()) },
						func() error { return errors.Join(peer.comm.Recv(b, 1-rank, s), s.Synchronize()) })
				}, 2},
				way{"NCCL, queued", func(n int) error {
					return errors.Join(pingPong(rank, n,
						func() error { return peer.comm.Send(b, 1-rank, s) },
						func() error { return peer.comm.Recv(b, 1-rank, s) }), s.Synchronize())
				}, 2})
		}
		var to *cuda.Buffer
		if rank == 0 {
			if to, err = next.Alloc(bytes, cuda.Uint8); err != nil {
				return err
			}
		}
		ways = append(ways, way{"MemcpyPeerAsync, queued", func(n int) error {
			if rank != 0 {
				return nil
			}
			for range n {
				if err := cuda.MemcpyPeerAsync(to, b, s); err != nil {
					return err
				}
			}
			return s.Synchronize()
		}, 1})
		all, err := measure(world, ways, loops(bytes))
		if err != nil {
			return err
		}
		if err := arrived(b); err != nil {
			return fmt.Errorf("%d bytes at rank %d: %w", bytes, rank, err)
		}
		out.row(bytes, ways, all)
		if to != nil {
			if err := to.Free(); err != nil {
				return err
			}
		}
		if err := b.Free(); err != nil {
			return err
		}
	}
	return peer.close()
}

// arrived checks that both ranks hold what rank 0 sent.
func arrived(b *cuda.Buffer) error {
	for _, at := range []int{0, b.Len() / 2, b.Len() - 1} {
		got := make([]uint8, 1)
		if err := b.Slice(at, at+1).Download(got); err != nil {
			return err
		}
		if got[0] != 1 {
			return fmt.Errorf("element %d is %d, and rank 0 sent 1", at, got[0])
		}
	}
	return nil
}

// ncclPeer is this rank's end of an NCCL communicator of all ranks; comm is nil
// where there is none.
type ncclPeer struct {
	comm  nccl.Comm
	about string
}

// connect makes a communicator if all ranks have NCCL and devices of their own.
func connect(world *mpi.Comm, d *cuda.Device) (*ncclPeer, error) {
	lib, why := nccl.Open()
	if info, err := cuda.Backend(); err != nil || info.Name != "nvidia" {
		why = errors.Join(errors.New("the devices are simulated"), err)
	} else if _, n, err := ofRank(0); err != nil || n < world.Size() {
		why = errors.Join(fmt.Errorf("%d devices for %d ranks", n, world.Size()), err)
	}
	can := false
	if err := world.Allreduce(why == nil, &can, mpi.LAnd); err != nil {
		return nil, err
	}
	if !can {
		return &ncclPeer{about: fmt.Sprintf("none: %v", why)}, nil
	}
	var id nccl.ID
	if world.Rank() == 0 {
		if id, why = lib.NewID(); why != nil {
			return nil, why
		}
	}
	if err := world.Bcast(id[:], 0); err != nil {
		return nil, err
	}
	p := &ncclPeer{about: lib.Version() + " (" + lib.Path() + ")"}
	return p, ipc.Allocating(func() error {
		comms, err := lib.InitRanks([]*cuda.Device{d}, world.Rank(), world.Size(), id)
		if err == nil {
			p.comm = comms[0]
		}
		return err
	})
}

func (p *ncclPeer) close() error {
	if p.comm == nil {
		return nil
	}
	return ipc.Allocating(p.comm.Destroy)
}
