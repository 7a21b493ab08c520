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
	c *comm

	mu   sync.Mutex
	over bool
	done chan struct{}
}

// begin makes a collective that was started known to the engine.
func (c *comm) begin(r *coll.Request, err error) (transport.Request, error) {
	if err != nil {
		return nil, err
	}
	if _, over, err := r.Test(); over {
		if err == nil {
			return doneRequest, nil
		}
		return nil, err
	}
	x := &collective{Request: r, c: c}
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
	e.collMu.Lock()
	all := slices.Clone(e.colls)
	e.collMu.Unlock()
	for _, x := range all {
		if x.Advance() || e.losses.Load() > 0 && x.fail() {
			x.finish()
			moved = true
		}
	}
	return moved
}

// fail ends a collective that cannot come to its end.
func (x *collective) fail() bool {
	e := x.c.e
	e.mu.Lock()
	err := e.lossIn(x.c.colls)
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
	defer x.mu.Unlock()
	if x.done == nil {
		x.done = make(chan struct{})
		if x.over {
			close(x.done)
		}
	}
	x.c.e.watch()
	return x.done
}

func (x *collective) Wait(stop <-chan struct{}) (transport.Status, bool, error) {
	x.c.e.wait(func() bool { _, over, _ := x.state(); return over }, x.Done, stop)
	return x.state()
}

func (c *comm) Ibarrier() (transport.Request, error) { return c.begin(coll.Barrier(c.env())) }

func (c *comm) Ibcast(buf transport.Memory, root int) (transport.Request, error) {
	return c.begin(coll.Bcast(c.env(), buf, root))
}

// reduction finds the operator for what is reduced: send, or recv in place.
func (c *comm) reduction(send, recv transport.Memory, op transport.Op, start func(coll.Env, coll.Op) (*coll.Request, error)) (transport.Request, error) {
	t := send.T
	if send.InPlace() {
		t = recv.T
	}
	o, err := coll.HostOp(op, t)
	if err != nil {
		return nil, err
	}
	return c.begin(start(c.env(), o))
}

func (c *comm) Ireduce(send, recv transport.Memory, op transport.Op, root int) (transport.Request, error) {
	return c.reduction(send, recv, op, func(env coll.Env, o coll.Op) (*coll.Request, error) {
		return coll.Reduce(env, send, recv, o, root)
	})
}

func (c *comm) Iallreduce(send, recv transport.Memory, op transport.Op) (transport.Request, error) {
	return c.reduction(send, recv, op, func(env coll.Env, o coll.Op) (*coll.Request, error) {
		return coll.Allreduce(env, send, recv, o)
	})
}

func (c *comm) Iscan(send, recv transport.Memory, op transport.Op) (transport.Request, error) {
	return c.reduction(send, recv, op, func(env coll.Env, o coll.Op) (*coll.Request, error) {
		return coll.Scan(env, send, recv, o)
	})
}

func (c *comm) Iexscan(send, recv transport.Memory, op transport.Op) (transport.Request, error) {
	return c.reduction(send, recv, op, func(env coll.Env, o coll.Op) (*coll.Request, error) {
		return coll.Exscan(env, send, recv, o)
	})
}

func (c *comm) IreduceScatter(send, recv transport.Memory, counts []int, op transport.Op) (transport.Request, error) {
	return c.reduction(send, recv, op, func(env coll.Env, o coll.Op) (*coll.Request, error) {
		return coll.ReduceScatter(env, send, recv, counts, o)
	})
}

func (c *comm) Igather(send, recv transport.Memory, root int) (transport.Request, error) {
	return c.begin(coll.Gather(c.env(), send, recv, root))
}

func (c *comm) Igatherv(send, recv transport.Memory, counts, displs []int, root int) (transport.Request, error) {
	return c.begin(coll.Gatherv(c.env(), send, recv, counts, displs, root))
}

func (c *comm) Iscatter(send, recv transport.Memory, root int) (transport.Request, error) {
	return c.begin(coll.Scatter(c.env(), send, recv, root))
}

func (c *comm) Iscatterv(send transport.Memory, counts, displs []int, recv transport.Memory, root int) (transport.Request, error) {
	return c.begin(coll.Scatterv(c.env(), send, counts, displs, recv, root))
}

func (c *comm) Iallgather(send, recv transport.Memory) (transport.Request, error) {
	return c.begin(coll.Allgather(c.env(), send, recv))
}

func (c *comm) Iallgatherv(send, recv transport.Memory, counts, displs []int) (transport.Request, error) {
	return c.begin(coll.Allgatherv(c.env(), send, recv, counts, displs))
}

func (c *comm) Ialltoall(send, recv transport.Memory) (transport.Request, error) {
	return c.begin(coll.Alltoall(c.env(), send, recv))
}

func (c *comm) Ialltoallv(send transport.Memory, scounts, sdispls []int, recv transport.Memory, rcounts, rdispls []int) (transport.Request, error) {
	return c.begin(coll.Alltoallv(c.env(), send, scounts, sdispls, recv, rcounts, rdispls))
}
