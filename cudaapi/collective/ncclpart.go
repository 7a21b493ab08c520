package collective

import (
	"errors"
	"sync"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/ipc"
	"gocuda/cudaapi/internal/nccl"
)

// ncclPart is this process's part in a communicator.
//
// NCCL's calls may wait for other ranks, forever if one is lost. So whoever waits for a
// call also waits for news of a lost rank, and holds no mutex that allocations need,
// unless this process launches on several devices. When a rank is lost, the members are
// aborted, which ends their kernels. Abort would crash during a call of NCCL, so it waits
// for the call; if the call never ends, the members stay as they are.
type ncclPart struct {
	why   error // why there is none
	lib   nccl.Library
	ranks Ranks       // nil: this process alone
	lanes []*ipc.Lane // for callers that give no streams
	lost  chan struct{}
	over  chan struct{} // closed with it

	calling sync.Mutex  // held during calls of NCCL
	members []nccl.Comm // gone once they are destroyed or aborted
}

// newNCCLPart makes a communicator. The ranks decide together whether they use NCCL, so
// that all make the same choice.
func (g *Group) newNCCLPart(bufs []*cuda.Buffer) *ncclPart {
	p := &ncclPart{ranks: g.ranks, lost: make(chan struct{}), over: make(chan struct{})}
	p.lib, p.why = openNCCL()
	var devices []*cuda.Device
	for _, b := range bufs {
		d := b.Device()
		devices = append(devices, d)
		if p.why == nil {
			var l *ipc.Lane
			if l, p.why = ipc.NewLane(d, false); p.why == nil {
				p.lanes = append(p.lanes, l)
			}
		}
	}
	connect := func() (err error) {
		p.members, err = p.lib.InitAll(devices)
		return err
	}
	if g.ranks != nil {
		var id nccl.ID
		id, p.why = g.agree(p.lib, p.why, devices)
		connect = func() (err error) {
			p.members, err = p.lib.InitRanks(devices, g.ranks.Rank()*len(bufs), g.ranks.Size()*len(bufs), id)
			return err
		}
		handshake.WhenLost(g.ranks, p.over, p.abort)
	}
	if p.why == nil {
		p.why = p.alone(connect)
	}
	return p
}

// alone is call, under the mutex for allocations if no other rank is waited for.
func (p *ncclPart) alone(f func() error) error {
	if p.ranks == nil {
		return ipc.Allocating(func() error { return p.call(f) })
	}
	return p.call(f)
}

// call calls f, which makes calls of NCCL, until it is done or a rank is lost.
func (p *ncclPart) call(f func() error) error {
	done := make(chan error, 1)
	go func() {
		p.calling.Lock()
		defer p.calling.Unlock()
		done <- f()
	}()
	select {
	case err := <-done:
		return err
	case <-p.lost:
		return p.loss()
	}
}

// loss is an error if a rank is lost.
func (p *ncclPart) loss() error {
	select {
	case <-p.lost:
		return p.ranks.(handshake.Mortal).Loss()
	default:
		return nil
	}
}

// abort ends what waits for a rank that is lost.
func (p *ncclPart) abort() {
	close(p.lost)
	p.calling.Lock()
	defer p.calling.Unlock()
	p.end(nccl.Comm.Abort)
}

// end ends the members, once. p.calling is held.
func (p *ncclPart) end(how func(nccl.Comm) error) error {
	var errs []error
	for _, m := range p.members {
		errs = append(errs, how(m))
	}
	p.members = nil
	return errors.Join(errs...)
}

// run queues an operation on the callers' streams; without streams on the
// members' own, and waits.
func (p *ncclPart) run(k planKey, op cuda.ReduceOp, bufs []*cuda.Buffer, streams []*cuda.Stream) error {
	wait := streams == nil
	if wait {
		for _, l := range p.lanes {
			if err := l.Follow(nil); err != nil {
				return err
			}
			streams = append(streams, l.Stream)
		}
	}
	queue := func() error {
		return p.call(func() error {
			if err := p.loss(); err != nil {
				return err
			}
			return p.lib.Group(func() error {
				for i, m := range p.members {
					var err error
					if k.broadcast {
						err = m.Broadcast(bufs[i], bufs[i], k.root, streams[i])
					} else {
						err = m.AllReduce(bufs[i], bufs[i], op, streams[i])
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	var err error
	if len(bufs) > 1 {
		err = ipc.Allocating(queue) // all ranks have met: comms asks them
	} else {
		err = queue()
	}
	if err != nil || !wait {
		return err
	}
	for i, s := range streams {
		if err := s.Synchronize(); err != nil {
			return errors.Join(err, p.asyncError(i))
		}
	}
	return p.loss()
}

// asyncError is what NCCL says of a member.
func (p *ncclPart) asyncError(i int) error {
	return p.call(func() error {
		if p.members == nil {
			return p.loss()
		}
		return p.members[i].AsyncError()
	})
}

// close destroys the members, when their work is done.
func (p *ncclPart) close() error {
	var errs []error
	for _, l := range p.lanes {
		errs = append(errs, l.Stream.Synchronize())
	}
	if p.loss() == nil {
		errs = append(errs, p.alone(func() error { return p.end(nccl.Comm.Destroy) }))
	}
	close(p.over)
	for _, l := range p.lanes {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}
