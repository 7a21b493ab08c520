package local

import (
	"slices"
	"sync"

	"gocuda/cudaapi/mpi/internal/coll"
	"gocuda/cudaapi/mpi/internal/transport"
)

// collective is one under way. All that ask for progress move it on.
type collective struct {
	*coll.Request
	c   *comm
	tag int

	mu   sync.Mutex
	over bool
	done chan struct{}
}

// begin makes a collective that was started known to the engine.
func (c *comm) begin(tag int, r *coll.Request, err error) (transport.Request, error) {
	if err != nil {
		return nil, err
	}
	if _, over, err := r.Test(); over {
		if err == nil {
			return doneRequest, nil
		}
		return nil, err
	}
	x := &collective{Request: r, c: c, tag: tag}
	e := c.e
	e.collMu.Lock()
	e.colls = append(e.colls, x)
	e.nColls.Add(1)
	e.collMu.Unlock()
	return x, nil
}

// advance moves all collectives on, and ends those that lost a rank.
func (e *engine) advance() (moved bool) {
	if e.nColls.Load() == 0 {
		return false
	}
	for _, x := range e.underWay() {
		if x.Advance() || x.fail() {
			x.finish()
			moved = true
		}
	}
	return moved
}

func (e *engine) underWay() []*collective {
	e.collMu.Lock()
	defer e.collMu.Unlock()
	return slices.Clone(e.colls)
}

// fail ends a collective that cannot come to its end.
func (x *collective) fail() bool {
	e := x.c.e
	if e.losses.Load() == 0 && !e.revoked.Load() && !x.c.colls.entered.strange.Load() {
		return false
	}
	e.mu.Lock()
	err := x.c.colls.entered.takeMismatch(x.tag)
	if err == nil {
		err = e.lossIn(x.c.colls)
	}
	e.mu.Unlock()
	if err == nil {
		return false
	}
	x.Fail(err)
	return true
}

// finish is called when it is over, by whoever sees that.
func (x *collective) finish() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return
	}
	x.over = true
	if x.done != nil {
		close(x.done)
	}
	e := x.c.e
	e.collMu.Lock()
	defer e.collMu.Unlock()
	if i := slices.Index(e.colls, x); i >= 0 {
		e.colls = slices.Delete(e.colls, i, i+1)
		e.nColls.Add(-1)
	}
}

func (x *collective) Test() (transport.Status, bool, error) {
	x.c.e.ask()
	return x.state()
}

func (x *collective) state() (transport.Status, bool, error) {
	s, over, err := x.Request.Test()
	if over {
		x.finish()
	}
	return s, over, err
}

func (x *collective) Done() <-chan struct{} {
	x.mu.Lock()
	if x.done == nil {
		x.done = make(chan struct{})
		if x.over {
			close(x.done)
		}
	}
	done := x.done
	x.mu.Unlock()
	e := x.c.e
	e.mu.Lock() // keeps the segment
	e.watch()
	closed := e.closed
	e.mu.Unlock()
	if closed {
		x.state()
	}
	return done
}

func (x *collective) Wait(stop <-chan struct{}) (transport.Status, bool, error) {
	x.c.e.wait(func() bool { _, over, _ := x.state(); return over }, x.Done, stop)
	return x.state()
}

// Start starts a collective over messages. What is reduced is send, or recv in
// place.
func (c *comm) Start(x *transport.Collective) (transport.Request, error) {
	var op coll.Op
	if x.Kind.Reduces() {
		t := x.Send.T
		if x.Send.InPlace() {
			t = x.Recv.T
		}
		var err error
		if op, err = coll.HostOp(x.Op, t); err != nil {
			return nil, err
		}
	}
	tag, sig, err := c.enter(x.Signature())
	if err != nil {
		return nil, err
	}
	r, err := coll.Start(coll.Env{Peers: peersOf{c, sig}, Space: coll.Host, Tag: tag}, x, op)
	return c.begin(tag, r, err)
}
