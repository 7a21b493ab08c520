package local

import (
	"fmt"
	"os"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/onesided"
	"gocuda/cudaapi/mpi/internal/transport"
)

var (
	_ transport.Windows = (*comm)(nil)
	_ onesided.Sharing  = (*comm)(nil)
)

// NewWindow makes a window that ranks serve each other. Hints are not needed.
func (c *comm) NewWindow(f transport.Flavor, m transport.Memory, _ map[string]string) (transport.Window, error) {
	w, err := onesided.New(c, f, m, nil)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// offered is where a rank finds the memory that the first one made.
type offered struct{ pid, fd, bytes, failed int64 }

// Share gives every rank memory of its own, which all map.
func (c *comm) Share(bytes int) (parts [][]byte, release func(), err error) {
	const line = 64
	mine := int64(bytes)
	sizes := make([]int64, c.Size())
	if err := c.gather(unsafe.Pointer(&mine), unsafe.Pointer(&sizes[0]), 8); err != nil {
		return nil, nil, err
	}
	total := 0
	at := make([]int, len(sizes))
	for i, n := range sizes {
		at[i] = total
		total += (int(n) + line - 1) &^ (line - 1)
	}
	mem, err := c.common(total)
	if err != nil {
		return nil, nil, err
	}
	for i, n := range sizes {
		parts = append(parts, mem[at[i]:at[i]+int(n):at[i]+int(n)])
	}
	return parts, func() { unmapSegment(mem) }, nil
}

// gather is an Allgather of n bytes of each rank.
func (c *comm) gather(mine, all unsafe.Pointer, n int) error {
	return c.block(c.Start(&transport.Collective{Kind: transport.Allgather,
		Send: transport.Memory{P: mine, N: n, T: transport.Byte}, Recv: transport.Memory{P: all, N: n, T: transport.Byte}}))
}

// common is memory that all ranks map: the first one makes it, and the others open it
// by way of /proc.
func (c *comm) common(bytes int) ([]byte, error) {
	if c.Size() == 1 {
		return mapOwn(bytes)
	}
	var o offered
	var f shareable
	var wrong error
	if c.rank == 0 {
		if f, wrong = newShareable(bytes); wrong == nil {
			defer f.Close()
			o = offered{pid: int64(os.Getpid()), fd: int64(f.Fd()), bytes: int64(bytes)}
		} else {
			o.failed = 1
		}
	}
	const each = int(unsafe.Sizeof(o))
	if err := c.block(c.Start(&transport.Collective{Kind: transport.Bcast, Recv: transport.Memory{P: unsafe.Pointer(&o), N: each, T: transport.Byte}})); err != nil {
		return nil, err
	}
	var mem []byte
	if c.rank != 0 && o.failed == 0 {
		f, wrong = openShareable(int(o.pid), int(o.fd))
		if wrong == nil {
			defer f.Close()
		}
	}
	if wrong == nil && o.failed == 0 {
		mem, wrong = mapSegment(int(f.Fd()), bytes)
	}
	failed := o.failed
	if wrong != nil {
		failed = 1
	}
	all := make([]int64, c.Size())
	if err := c.gather(unsafe.Pointer(&failed), unsafe.Pointer(&all[0]), 8); err != nil { // also: all have it open before it is closed
		return nil, err
	}
	for rank, failed := range all {
		if failed != 0 {
			if mem != nil {
				unmapSegment(mem)
			}
			text := fmt.Sprintf("rank %d cannot map the memory", rank)
			if wrong != nil {
				text = wrong.Error()
			}
			return nil, &transport.Error{Class: transport.RMAShared, Call: "MPI_Win_allocate_shared", Text: text}
		}
	}
	return mem, nil
}
