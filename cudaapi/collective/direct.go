package collective

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/direct"
	"gocuda/cudaapi/internal/fabric"
)

// directCache does the reductions in one launch.
type directCache struct {
	mu        sync.Mutex
	exchanges direct.Exchanges
}

// directSuits reports whether Direct is the best for an all-reduce. All ranks find
// the same. Two H200 take 8.4 us for 4 bytes and 8.7 for 256 KiB, where NCCL takes
// 11.4 and 12.7. Longer ones take about as long as NCCL's, or our ring's, which
// leave more of the device to others. What more GPUs take is not known well enough
// to prefer it to NCCL.
func (g *Group) directSuits(k planKey, bufs []*cuda.Buffer, nccl bool) bool {
	bytes := bufs[0].Bytes()
	if k.broadcast || g.ranks == nil || len(bufs) != 1 || k.members < 2 || k.members > direct.Most || bytes == 0 || g.nccl.apart {
		return false
	}
	if info, err := cuda.Backend(); err != nil || info.Name == "sim" {
		return false // kernels that wait are slow there
	}
	return k.members == 2 && bytes <= direct.QuickBytes || !nccl && bytes <= 1<<20
}

// run does an all-reduce, unless it cannot be done so: why not, all ranks find
// alike. The ranks meet before each launch, which keeps their devices waiting for
// each other, and see whether they want the same.
func (d *directCache) run(g *Group, op cuda.ReduceOp, bufs []*cuda.Buffer, streams []*cuda.Stream) (why, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g.ranks.Size() == 1 {
		return errors.New("there is one rank only"), nil
	}
	if len(bufs) != 1 {
		return fmt.Errorf("it takes one buffer of each rank, not %d", len(bufs)), nil
	}
	b := bufs[0]
	x, why, err := d.meet(g, op, b)
	if x == nil || err != nil {
		return why, err
	}
	way := x.Best(b.Bytes())
	if way == 0 {
		way = direct.Bulk
	}
	if streams != nil {
		return nil, x.StartOn(streams[0], way, op, b, b)
	}
	if err := x.Start(way, op, b, b); err != nil {
		return nil, err
	}
	return nil, x.Wait()
}

// meet tells the other ranks what this one wants, and hears what they do.
func (d *directCache) meet(g *Group, op cuda.ReduceOp, b *cuda.Buffer) (x *direct.Exchange, why, err error) {
	const tag = 32002
	ready := direct.Ready(b.Device(), b.Type())
	mine := make([]byte, 16)
	binary.LittleEndian.PutUint64(mine, uint64(b.Len()))
	mine[8], mine[9], mine[10] = byte(b.Type()), byte(op), byte(b.Device().Ordinal())
	if ready == nil {
		mine[11] = 1
	}
	all, err := fabric.Allgather(g.ranks, mine, tag)
	if err != nil {
		return nil, nil, err
	}
	devices := make([]int, len(all))
	for r, theirs := range all {
		if n, t, o := int(binary.LittleEndian.Uint64(theirs)), cuda.Type(theirs[8]), cuda.ReduceOp(theirs[9]); n != b.Len() || t != b.Type() || o != op {
			return nil, nil, fmt.Errorf("collective.Allreduce: rank %d gave %d %s for %s, rank %d %d %s for %s", r, n, t, o, g.ranks.Rank(), b.Len(), b.Type(), op)
		}
		devices[r] = int(theirs[10])
		if theirs[11] == 0 {
			why = errors.Join(fmt.Errorf("rank %d has no kernels for it", r), ready)
		}
	}
	if why != nil {
		return nil, why, nil
	}
	x, why = d.exchanges.Of(g.ranks, b.Device(), devices)
	return x, why, nil
}
