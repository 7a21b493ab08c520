package collective

import (
	"errors"
	"fmt"
	"sync"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/allreduce"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/oneshot"
)

// oneShots does the reductions in one launch.
type oneShots struct {
	mu      sync.Mutex
	members oneshot.Members
}

// run does an all-reduce, unless it cannot be done so: why not, all ranks find
// alike. The ranks meet before each launch, which keeps their devices waiting for
// each other, and see whether they want the same; and after it, to hear whether it
// failed at one of them.
func (o *oneShots) run(g *Group, how allreduce.Algorithm, op cuda.ReduceOp, bufs []*cuda.Buffer, streams []*cuda.Stream) (why, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case g.ranks == nil:
		return errors.New("it is for all-reduce among ranks"), nil
	case g.ranks.Size() == 1:
		return errors.New("there is one rank only"), nil
	case len(bufs) != 1:
		return fmt.Errorf("it takes one buffer of each rank, not %d", len(bufs)), nil
	}
	b := bufs[0]
	x, why, err := o.meet(g, op, b)
	switch {
	case x == nil || err != nil:
		return why, err
	case b.Len() == 0:
		return nil, nil
	case streams != nil:
		err = x.StartOn(streams[0], how, op, b, b)
	default:
		err = x.Start(how, op, b, b)
	}
	// Kernels wait for one whose launch has failed, until they are stopped.
	if _, err := handshake.Agree(handshake.Over(g.ranks, handshake.TagLaunch), struct{}{}, err); err != nil {
		o.members.Spoil(x, err)
		return nil, err
	}
	if streams == nil {
		err = x.Wait()
	}
	return nil, err
}

// launch is what a rank tells the others before it launches.
type launch struct {
	n      int64
	device int32
	typ    cuda.Type
	op     cuda.ReduceOp
	ready  bool
}

// meet tells the other ranks what this one wants, and hears what they do.
func (o *oneShots) meet(g *Group, op cuda.ReduceOp, b *cuda.Buffer) (x *oneshot.Member, why, err error) {
	ready := oneshot.Ready(b.Device(), b.Type())
	mine := launch{int64(b.Len()), int32(b.Device().Ordinal()), b.Type(), op, ready == nil}
	all, err := handshake.Gather(handshake.Over(g.ranks, handshake.TagLaunch), mine)
	if err != nil {
		return nil, nil, err
	}
	devices := make([]int, len(all))
	for r, theirs := range all {
		if theirs.n != mine.n || theirs.typ != mine.typ || theirs.op != op {
			return nil, nil, fmt.Errorf("collective.Allreduce: rank %d gave %d %s for %s, rank %d %d %s for %s", r, theirs.n, theirs.typ, theirs.op, g.ranks.Rank(), b.Len(), b.Type(), op)
		}
		devices[r] = int(theirs.device)
		if !theirs.ready {
			why = errors.Join(fmt.Errorf("rank %d has no kernels for it", r), ready)
		}
	}
	if why != nil {
		return nil, why, nil
	}
	x, why = o.members.Of(g.ranks, b.Device(), devices)
	return x, why, nil
}
