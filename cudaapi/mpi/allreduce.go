package mpi

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"gocuda/cudaapi/collective"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/direct"
	"gocuda/cudaapi/mpi/internal/device"
	"gocuda/cudaapi/mpi/internal/transport"
)

// Where all ranks are on one host, an Allreduce begins with a look at what
// memory each gives. Who gives host memory says so and goes on at once, and all
// go through the host; if all give device memory, they do it there, in one
// launch or by the group. What is launched keeps its device busy until the
// others' is launched too; so nobody launches before all have come. Until then
// a program may do with its devices what it likes.

// joint is an Allreduce whose ranks find out how to do it. It is a
// transport.Request.
type joint struct {
	c          *Comm
	by         reductions // of old
	a          *agreed    // the same, if not an operation of the program's own
	send, recv transport.Memory
	op         transport.Op
	from, to   *cuda.Buffer
	notice     device.Notice
	before     chan struct{} // closed when the operation before is over
	done       chan struct{} // closed when this one is

	mu    sync.Mutex
	stage stage
	turn  uint64
	asked int
	given []int // the ranks' devices
	share bool  // all can open all memory
	x     *direct.Exchange
	req   transport.Request
	st    transport.Status
	err   error
}

type stage uint8

const (
	behind  stage = iota // the operation before is not over
	asking               // what the others give
	opening              // the exchange
	running              // on the device
	through              // another request
	over
)

// allreduce starts an Allreduce that its caller waits for: the ranks must not
// go on before they know how it is done.
func (c *Comm) allreduce(by reductions, send, recv transport.Memory, op transport.Op) (transport.Request, error) {
	if !c.port.Boards() {
		return by.Iallreduce(send, recv, op)
	}
	a, _ := by.(*agreed)
	j := &joint{c: c, by: by, a: a, send: send, recv: recv, op: op}
	j.look()
	t := &c.devices
	t.mu.Lock()
	if j.before = t.last; j.before != nil && isClosed(j.before) {
		j.before = nil
	}
	if j.before == nil {
		j.post()
		if !j.notice.Device {
			t.mu.Unlock()
			return by.Iallreduce(send, recv, op)
		}
	}
	j.done = make(chan struct{})
	t.last = j.done
	t.mu.Unlock()
	return j, nil
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// look finds what this rank gives.
func (j *joint) look() {
	if j.a == nil || j.a.recv.dev == nil || j.recv.N == 0 {
		return
	}
	j.from, j.to = j.a.send.dev, j.a.recv.dev
	if j.a.send.inPlace {
		j.from = j.to
	}
	want, op := device.WantedReduction(), cuda.ReduceOp(j.op)
	if want == device.AutoReduction && j.to.Bytes() < worthAsking && simulated() {
		return // kernels that wait are slow there
	}
	if want == device.ByHost || j.from == nil || j.from.Device() != j.to.Device() || j.from.Type() != j.to.Type() || !op.Allows(j.to.Type()) {
		return
	}
	if direct.Ready(j.to.Device(), j.to.Type()) != nil { // no compiler, for instance
		return
	}
	j.notice = device.Notice{Device: true, Number: j.to.Device().Ordinal(), N: j.to.Len(), Kind: uint64(j.to.Type()) | uint64(op)<<8 | uint64(want)<<16}
	if j.to.Bytes() >= worthAsking {
		j.notice.Shared = shareable(j.from) && shareable(j.to)
	}
}

// simulated reports whether the devices are.
func simulated() bool {
	info, err := cuda.Backend()
	return err == nil && info.Name == "sim"
}

// post says it to the others. It is done for one operation after the other.
func (j *joint) post() {
	t := &j.c.devices
	t.turn++
	j.turn = t.turn
	j.stage = asking
	j.c.port.Post(j.turn, j.notice)
}

// Test moves the operation on and tells whether it is over.
func (j *joint) Test() (transport.Status, bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for {
		was := j.stage
		if err := j.step(); err != nil {
			j.finish(err)
		}
		if j.stage == was || j.stage == over {
			return j.st, j.stage == over, j.err
		}
	}
}

// step goes on to the next stage, if it can.
func (j *joint) step() (err error) {
	switch j.stage {
	case behind:
		if isClosed(j.before) {
			j.post()
			if !j.notice.Device {
				return j.byHost()
			}
		}
	case asking:
		given, share, onHost, err := j.c.port.Look(j.turn, j.notice)
		switch {
		case err != nil:
			return j.explain(err)
		case onHost:
			return j.byHost()
		case given != nil:
			j.given, j.share = given, share
			return j.begin()
		}
	case opening:
		if _, done, err := j.req.Test(); err != nil || !done {
			return err
		}
		return j.begin()
	case running:
		done, err := j.x.Done()
		if j.asked++; !done && err == nil && j.asked%32 == 0 {
			if r, failed := j.c.port.Failed(j.turn); failed {
				err = fmt.Errorf("rank %d failed in it", r)
			}
		}
		if err != nil {
			return j.spoil(err)
		}
		if done {
			j.finish(nil)
		}
	case through:
		st, done, err := j.req.Test()
		j.st = st
		if err != nil || done {
			j.finish(err)
		}
	}
	return nil
}

// leave leaves the rest to another request.
func (j *joint) leave(r transport.Request, err error) error {
	j.req, j.stage = r, through
	return err
}

// byHost does it as a rank with host memory does, in this operation's place.
func (j *joint) byHost() error {
	switch {
	case j.a == nil:
		return j.leave(j.by.Iallreduce(j.send, j.recv, j.op))
	case j.recv.Bytes() < worthAsking:
		return j.leave(j.a.collectives.Iallreduce(j.send, j.recv, j.op))
	}
	return j.leave(inBackground(func() error { return j.a.asked(nil, false, nil, j.slow) }), nil)
}

func (j *joint) slow(on collectives) (transport.Request, error) {
	return on.Iallreduce(j.send, j.recv, j.op)
}

// begin does it, on the devices of all ranks.
func (j *joint) begin() error {
	t := &j.c.devices
	want := device.WantedReduction()
	way := direct.Way(0)
	if want == device.ByQuick || want == device.ByBulk || want == device.AutoReduction && !simulated() {
		of := func() (err error) {
			j.x, err = t.exchanges.Of(&line{j.c.side}, j.to.Device(), j.given)
			return err
		}
		if !t.exchanges.Known(j.given) {
			j.stage = opening
			j.req = inBackground(func() error {
				of() //nolint:errcheck // it is asked again
				return nil
			})
			return nil
		}
		switch err := of(); {
		case err != nil:
		case want == device.ByQuick && j.to.Bytes() <= direct.QuickBytes:
			way = direct.Quick
		case want != device.AutoReduction:
			way = direct.Bulk
		default:
			if way = j.x.Best(j.to.Bytes()); way == 0 && !j.share {
				way = direct.Bulk
			}
		}
	}
	if way != 0 {
		j.stage = running
		if err := j.x.Start(way, cuda.ReduceOp(j.op), j.to, j.from); err != nil {
			j.c.port.Fail(j.turn)
			return j.spoil(err)
		}
		return nil
	}
	if !j.share {
		return j.leave(j.a.collectives.Iallreduce(j.send, j.recv, j.op))
	}
	return j.leave(inBackground(func() error {
		return j.a.carryOut(true, j.to.Device(), func(g *collective.Group) error {
			return reduceTo(g, j.to, j.from, j.op, collective.Using(algorithms[want]))
		}, j.slow)
	}), nil)
}

var algorithms = map[device.Reduction]collective.Algorithm{device.ByNCCL: collective.NCCL, device.ByRing: collective.Ring}

// spoil ends what is on the device, and for good what it goes by: the ranks are
// out of step.
func (j *joint) spoil(err error) error {
	j.c.devices.exchanges.Spoil(j.x, err)
	return err
}

func (j *joint) explain(err error) error {
	var m *device.Mismatch
	if !errors.As(err, &m) {
		return err
	}
	say := func(n int, kind uint64) string {
		return fmt.Sprintf("%d %s for %s", n, cuda.Type(kind), cuda.ReduceOp(kind>>8))
	}
	text := fmt.Sprintf("rank %d gave %s, rank %d %s", m.Rank, say(m.N, m.Kind), j.c.rank, say(j.notice.N, j.notice.Kind))
	if m.Kind>>16 != j.notice.Kind>>16 {
		text += "; GOCUDA_MPI_ALLREDUCE must be the same for all ranks"
	}
	return j.c.misuse(ErrArg, "Comm.Allreduce", "%s", text)
}

func (j *joint) finish(err error) {
	if j.stage != over {
		j.stage, j.err = over, err
		close(j.done)
	}
}

// Cancel does nothing: a collective cannot be cancelled.
func (j *joint) Cancel() error { return nil }

// goOn is told that nobody waits for the operation any more. If a rank was lost,
// it ends; else it goes on by itself.
func (j *joint) goOn(why error) {
	if errors.Is(why, ErrProcLost) {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.stage == running {
			j.spoil(why)
		}
		j.finish(why)
		return
	}
	go func() {
		for {
			if _, done, _ := j.Test(); done {
				return
			}
			time.Sleep(200 * time.Microsecond)
		}
	}()
}

// inBackground is f as a request.
func inBackground(f func() error) transport.Request {
	l := &later{done: make(chan struct{})}
	go func() {
		defer close(l.done)
		l.err = f()
	}()
	return l
}
