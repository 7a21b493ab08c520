package mpi

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/allreduce"
	"gocuda/cudaapi/internal/oneshot"
	"gocuda/cudaapi/mpi/internal/device"
	"gocuda/cudaapi/mpi/internal/transport"
)

// Where all ranks are on one host, an Allreduce that its caller waits for begins
// with notices: each rank writes what memory it gives, and reads what the others
// do. Who gives host memory says so and goes on at once, and all go through the
// host; if all give device memory, they do it there, as package allreduce decides.
// What is launched keeps its device busy until the others' is launched too; so
// nobody launches before all have come. Until then a program may do with its
// devices what it likes.
//
// The states of a call, and what ends each:
//
//	queued ── the operation before is over ──► asking
//	asking ── a rank gives host memory ──────► delegated (to the host's reduction)
//	asking ── all give device memory ────────► opening, if the one-shot members are not known yet
//	                                      └──► launched, or delegated (to package collective)
//	opening ── the members are, or are not ──► launched, or delegated
//	launched, delegated ── done ─────────────► over
//	launched ── a rank fails or is lost ─────► over, and the one-shot members are spoilt
//
// A rank whose part fails says so, to those who wait for it in this call; and with its
// notice of each call to come, so that all find alike that the one-shot members are not
// used any more.

// deviceAllreduce is such a call, as a transport.Request.
type deviceAllreduce struct {
	c        *Comm
	host     collectives // do it through the host
	x        *transport.Collective
	from, to *cuda.Buffer
	notice   device.Notice
	before   chan struct{} // closed when the operation before is over
	done     chan struct{} // closed when this one is

	mu     sync.Mutex
	state  allreduceState
	number uint64            // of the call, for the notices
	others device.Notices    // once all have come
	member *oneshot.Member   // that it was launched by
	req    transport.Request // that it waits for, while opening or delegated
	asked  int
	st     transport.Status
	err    error
}

type allreduceState uint8

const (
	queued allreduceState = iota
	asking
	opening
	launched
	delegated
	over
)

// allreduce starts an Allreduce that its caller waits for: the ranks must not
// go on before they know how it is done.
func (c *Comm) allreduce(by collectives, x *transport.Collective) (transport.Request, error) {
	if !c.port.Notices() {
		return by.Start(x)
	}
	a := &deviceAllreduce{c: c, host: by, x: x}
	if g, ok := by.(*grouped); ok {
		a.host = g.collectives
		a.from, a.to = g.operands()
	}
	a.look()
	t := &c.devices
	t.mu.Lock()
	defer t.mu.Unlock()
	if a.before = t.last; a.before == nil || isClosed(a.before) {
		a.post()
		if !a.notice.Device {
			return a.host.Start(x)
		}
	}
	a.done = make(chan struct{})
	t.last = a.done
	return a, nil
}

// call is what the call is decided by.
func (a *deviceAllreduce) call() allreduce.Call {
	info, err := cuda.Backend()
	return allreduce.Call{Want: a.c.wish, Bytes: a.to.Bytes(), Members: a.c.size, Waits: true, OneShot: true, Shared: a.others.Shared,
		Simulated: err == nil && info.Name == "sim"}
}

// look finds what this rank gives.
func (a *deviceAllreduce) look() {
	if a.x.Recv.N == 0 || !onOneDevice(a.from, a.to, a.x.Op) {
		return
	}
	call := a.call()
	if !call.WorthAsking() || oneshot.Ready(a.to.Device(), a.to.Type()) != nil { // no compiler, for instance
		return
	}
	a.notice = device.Notice{Device: true, Number: a.to.Device().Ordinal(), N: a.to.Len(), Kind: uint64(a.to.Type()) | uint64(a.x.Op)<<8 | uint64(call.Want)<<16}
	if call.Bytes >= allreduce.AskBytes {
		a.notice.Shared = shareable(a.from) && shareable(a.to)
	}
}

// post says it to the others. It is done for one operation after the other.
func (a *deviceAllreduce) post() {
	t := &a.c.devices
	t.call++
	a.number, a.state = t.call, asking
	a.notice.Failed = t.failed.Load()
	a.c.port.Post(a.number, a.notice)
}

// Test moves the operation on and tells whether it is over.
func (a *deviceAllreduce) Test() (transport.Status, bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		was := a.state
		if err := a.step(); err != nil {
			if a.number > 0 {
				a.c.port.Fail(a.number)
			}
			a.finish(err)
		}
		if a.state == was || a.state == over {
			return a.st, a.state == over, a.err
		}
	}
}

// step goes on to the next state, if it can.
func (a *deviceAllreduce) step() (err error) {
	switch a.state {
	case queued:
		if isClosed(a.before) {
			a.post()
			if !a.notice.Device {
				return a.delegate(a.host.Start(a.x))
			}
		}
	case asking:
		var all bool
		a.others, all, err = a.c.port.Look(a.number, a.notice)
		switch {
		case err != nil:
			return a.explain(err)
		case a.others.OnHost:
			return a.delegate(a.host.Start(a.x))
		case all:
			return a.begin()
		}
	case opening:
		if _, done, err := a.req.Test(); err != nil || !done {
			return err
		}
		return a.begin()
	case launched:
		done, err := a.member.Done()
		if a.asked++; !done && err == nil && a.asked%32 == 0 {
			if r, failed := a.c.port.Failed(a.number); failed {
				err = fmt.Errorf("rank %d failed in it", r)
			}
		}
		if err != nil {
			return a.spoil(err)
		}
		if done {
			a.finish(nil)
		}
	case delegated:
		st, done, err := a.req.Test()
		a.st = st
		if err != nil || done {
			a.finish(err)
		}
	}
	return nil
}

// delegate leaves the rest to another request.
func (a *deviceAllreduce) delegate(r transport.Request, err error) error {
	a.req, a.state = r, delegated
	return err
}

// sideHandshakes is the first tag of handshakes on a communicator's side.
const sideHandshakes = device.FreeTag

// begin does it, on the devices of all ranks.
func (a *deviceAllreduce) begin() (err error) {
	t := &a.c.devices
	call := a.call()
	call.OneShot = !a.others.Failed
	how := allreduce.DecideForRanks(call)
	if how == allreduce.LL || how == allreduce.Simple {
		members := func() (err error) {
			a.member, err = t.oneShot.Of(&plainRanks{a.c.side, sideHandshakes}, a.to.Device(), a.others.Devices)
			return err
		}
		if !t.oneShot.Known(a.others.Devices) {
			a.state = opening
			a.req = inBackground(func() error {
				members() //nolint:errcheck // it is asked again
				return nil
			})
			return nil
		}
		if members() == nil {
			a.state = launched
			if err := a.member.Start(how, cuda.ReduceOp(a.x.Op), a.to, a.from); err != nil {
				return a.spoil(err)
			}
			return nil
		}
		call.OneShot = false
		how = allreduce.DecideForRanks(call)
	}
	if how == allreduce.Host {
		return a.delegate(a.host.Start(a.x))
	}
	return a.delegate(inBackground(func() error {
		ok, err := t.open(a.c, a.to)
		if err == nil && ok {
			return reduceTo(t.group, a.to, a.from, a.x.Op, a.c.wish)
		}
		if err == nil {
			var r transport.Request
			if r, err = a.host.Start(a.x); err == nil {
				err = device.Wait(r)
			}
		}
		return err
	}), nil)
}

// spoil ends what is on the device, and for good what it goes by: the ranks are
// out of step.
func (a *deviceAllreduce) spoil(err error) error {
	a.c.devices.failed.Store(true)
	a.c.devices.oneShot.Spoil(a.member, err)
	return err
}

func (a *deviceAllreduce) explain(err error) error {
	var m *device.Mismatch
	if !errors.As(err, &m) {
		return err
	}
	say := func(n int, kind uint64) string {
		return fmt.Sprintf("%d %s for %s", n, cuda.Type(kind), cuda.ReduceOp(kind>>8))
	}
	text := fmt.Sprintf("rank %d gave %s, rank %d %s", m.Rank, say(m.N, m.Kind), a.c.rank, say(a.notice.N, a.notice.Kind))
	if m.Kind>>16 != a.notice.Kind>>16 {
		text += "; GOCUDA_MPI_ALLREDUCE must be the same for all ranks"
	}
	return a.c.misuse(ErrArg, "Comm.Allreduce", "%s", text)
}

func (a *deviceAllreduce) finish(err error) {
	if a.state != over {
		a.state, a.err = over, err
		close(a.done)
	}
}

// Cancel does nothing: a collective cannot be cancelled.
func (a *deviceAllreduce) Cancel() error { return nil }

// goOn is told that nobody waits for the operation any more. If a rank was lost,
// it ends; else it goes on by itself.
func (a *deviceAllreduce) goOn(why error) {
	if errors.Is(why, ErrProcLost) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.state == launched {
			a.spoil(why)
		}
		a.finish(why)
		return
	}
	go func() {
		for {
			if _, done, _ := a.Test(); done {
				return
			}
			time.Sleep(200 * time.Microsecond)
		}
	}()
}
