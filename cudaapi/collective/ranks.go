package collective

import (
	"fmt"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/fabric"
	"gocuda/cudaapi/internal/nccl"
)

// Ranks is what a Group of several processes asks of a message-passing library:
// bytes, on a channel of the Group's own.
type Ranks = fabric.Ranks

// agree learns whether all ranks have NCCL and devices of their own, and the
// communicator's id from rank 0.
func (g *Group) agree(lib *nccl.Library, missing error, devices []*cuda.Device) (nccl.ID, error) {
	const tag = 32001
	var id nccl.ID
	if missing == nil && g.ranks.Rank() == 0 {
		id, missing = lib.NewID()
	}
	why := ""
	if missing != nil {
		why = missing.Error()
	}
	var uuids []string
	for _, d := range devices {
		u, err := d.UUID()
		if err != nil {
			why = err.Error()
		}
		uuids = append(uuids, u)
	}
	const hostAt = len(id) + 200
	host := fabric.Host()
	const uuidsAt = hostAt + len(host)
	mine := make([]byte, uuidsAt+40*len(devices))
	copy(mine, id[:])
	copy(mine[len(id):hostAt], why)
	copy(mine[hostAt:], host[:])
	for i, u := range uuids {
		copy(mine[uuidsAt+40*i:], u)
	}
	all, err := fabric.Allgather(g.ranks, mine, tag)
	if err != nil {
		return id, err
	}
	seen := map[string]int{}
	for rank, b := range all {
		if rank == 0 {
			copy(id[:], b)
		}
		g.nccl.apart = g.nccl.apart || [16]byte(b[hostAt:]) != host
		if s := text(b[len(id):hostAt]); s != "" {
			return id, fmt.Errorf("rank %d: %s", rank, s)
		}
		for i := range devices {
			u := text(b[uuidsAt+40*i:][:40])
			if other, ok := seen[u]; ok {
				return id, fmt.Errorf("ranks %d and %d share a device (%s), and NCCL wants one for each member", other, rank, u)
			}
			seen[u] = rank
		}
	}
	return id, nil
}

func text(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// NewGroup is a group of several processes, each with the same number of
// members. ranks is the Group's from now on. Package mpi makes one of a
// communicator, with Comm.Collectives.
func NewGroup(ranks Ranks) *Group { return &Group{fabric: fabric.NewGroup(ranks), ranks: ranks} }
