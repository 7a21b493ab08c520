package hazardtest

import (
	"gocuda/cudaapi/collective"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/mpi"
)

// exchange is a send to the other rank and a receive from it.
func (r *rank) exchange(send, recv any) error {
	_, err := r.world.Sendrecv(send, r.other, 0, recv, r.other, 0)
	return err
}

// half is a part of x as large as half of it.
func (r *rank) half(i int) *cuda.Buffer { return r.x.Slice(i*elements/2, (i+1)*elements/2) }

var messages = []message{
	// Sends: a kernel still writes what is sent.
	{name: "a send waits for the kernel", run: sends(func(r *rank) {
		r.first(r.fill(r.a, r.x))
		r.needed(r.a.Synchronize)
		r.second(r.world.Send(r.x, 1, 0))
	})},
	{name: "a synchronous send waits for the kernel", run: sends(func(r *rank) {
		r.first(r.fill(r.a, r.x))
		r.needed(r.d0.Synchronize)
		r.second(r.world.Ssend(r.x, 1, 0))
	})},
	{name: "a buffered send waits for the kernel", run: sends(func(r *rank) {
		r.first(r.fill(r.a, r.x))
		r.needed(r.a.Synchronize)
		r.second(r.world.Bsend(r.x, 1, 0))
		r.check(r.fill(r.b, r.x)) // the copy was made
	})},
	{name: "an immediate send waits for an event behind the kernel", run: sends(func(r *rank) {
		r.first(r.fill(r.a, r.x))
		r.check(r.e.Record(r.a))
		r.needed(r.e.Synchronize)
		r.wait(r.secondRequest(r.world.Isend(r.x, 1, 0)))
	})},
	{name: "the right stream is waited for", run: sends(func(r *rank) {
		r.first(r.fill(r.a, r.x))
		r.check(r.b.Synchronize())
		r.needed(r.a.Synchronize)
		r.second(r.world.Send(r.x, 1, 0))
	})},
	{name: "the event is recorded on the right stream", run: sends(func(r *rank) {
		r.first(r.fill(r.a, r.x))
		if r.whole() {
			r.check(r.e.Record(r.a))
		} else {
			r.check(r.e.Record(r.b))
		}
		r.check(r.e.Synchronize())
		r.second(r.world.Send(r.x, 1, 0))
	})},
	{name: "a send comes behind the default stream", right: true, run: sends(func(r *rank) {
		r.check(r.fill(r.def, r.x))
		r.check(r.world.Send(r.x, 1, 0))
	})},
	{name: "a send does not come behind a blocking stream", run: sends(func(r *rank) {
		r.first(r.fill(r.block, r.x))
		r.needed(r.block.Synchronize)
		r.second(r.world.Send(r.x, 1, 0))
	})},
	{name: "a send does not come behind another device's default stream", two: true, run: sends(func(r *rank) {
		r.first(r.copy(r.two().d1.DefaultStream(), r.x, r.two().w))
		r.needed(r.two().d1.Synchronize)
		r.second(r.world.Send(r.x, 1, 0))
	})},
	{name: "a buffer is used again after a blocking send", right: true, run: func(r *rank) {
		if r.me == 0 {
			r.check(r.fill(r.a, r.x))
			r.check(r.a.Synchronize())
			r.check(r.world.Send(r.x, 1, 0))
			r.check(r.fill(r.b, r.x))
		} else {
			r.recv(r.world.Recv(r.y, 0, 0))
			r.check(r.read(r.a, r.y))
		}
	}},
	{name: "a copy to the device is there before it is sent", run: sends(func(r *rank) {
		r.first(cuda.MemcpyAsync(r.x, r.h, r.a))
		r.needed(r.a.Synchronize)
		r.second(r.world.Send(r.x, 1, 0))
	})},
	{name: "a graph's kernel is done before its result is sent", run: sends(func(r *rank) {
		g := r.capture(r.a, func() { r.first(r.fill(r.a, r.x)) })
		r.check(g.Launch(r.b))
		r.needed(r.b.Synchronize)
		r.second(r.world.Send(r.x, 1, 0))
	})},
	{name: "an exchange waits for the kernel that writes what is sent", run: func(r *rank) {
		r.first(r.fill(r.a, r.x))
		r.needed(r.a.Synchronize)
		r.second(r.exchange(r.x, r.y))
	}},
	{name: "an exchange waits for the kernel that reads where it receives", run: func(r *rank) {
		r.first(r.read(r.a, r.y))
		r.needed(r.a.Synchronize)
		r.second(r.exchange(r.x, r.y))
	}},
	{name: "an exchange in place", run: func(r *rank) {
		r.first(r.fill(r.a, r.x))
		r.needed(r.a.Synchronize)
		r.secondRecv(r.world.SendrecvReplace(r.x, r.other, 0, r.other, 0))
	}},

	// Receives.
	{name: "a receive waits for the kernel that reads the buffer", run: receives(func(r *rank) {
		r.first(r.read(r.a, r.y))
		r.needed(r.a.Synchronize)
		r.secondRecv(r.world.Recv(r.y, 0, 0))
	})},
	{name: "a kernel reads what has been received", right: true, run: receives(func(r *rank) {
		r.recv(r.world.Recv(r.y, 0, 0))
		r.check(r.read(r.a, r.y))
		r.check(r.read(r.def, r.y))
	})},
	{name: "a message that was set aside", run: receives(func(r *rank) {
		m, err := r.world.Mprobe(0, 0)
		r.check(err)
		r.first(r.read(r.a, r.y))
		r.needed(r.a.Synchronize)
		r.secondRecv(m.Recv(r.y))
	})},
	{name: "a kernel reads behind Wait", run: receives(func(r *rank) {
		q := r.firstRequest(r.world.Irecv(r.y, 0, 0))
		r.neededWait(q)
		r.second(r.read(r.a, r.y))
		r.wait(q)
	})},
	{name: "a copy reads behind Wait", run: receives(func(r *rank) {
		q := r.firstRequest(r.world.Irecv(r.y, 0, 0))
		r.neededWait(q)
		r.second(cuda.MemcpyAsync(r.z, r.y, r.a))
		r.wait(q)
	})},
	{name: "a kernel beside the part that is received", right: true, run: func(r *rank) {
		if r.me == 0 {
			r.check(r.world.Send(r.half(0), 1, 0))
		} else {
			q := r.request(r.world.Irecv(r.half(0), 0, 0))
			r.check(r.kernel("fill", r.a, r.x, nil, elements/2, elements))
			r.wait(q)
		}
	}},
	{name: "a kernel across the part that is received", run: func(r *rank) {
		if r.me == 0 {
			r.check(r.world.Send(r.half(0), 1, 0))
		} else {
			q := r.firstRequest(r.world.Irecv(r.half(0), 0, 0))
			r.neededWait(q)
			r.second(r.kernel("fill", r.a, r.x, nil, elements/2-1, elements))
			r.wait(q)
		}
	}},
	{name: "the host asks until a receive is done", run: receives(func(r *rank) {
		q := r.firstRequest(r.world.Irecv(r.y, 0, 0))
		for r.whole() {
			_, done, err := q.Test()
			r.check(err)
			if done {
				break
			}
		}
		r.second(r.read(r.a, r.y))
		r.wait(q)
	})},
	{name: "a receive that was cancelled", right: true, run: func(r *rank) {
		q := r.request(r.world.Irecv(r.y, r.other, 99))
		r.check(q.Cancel())
		r.wait(q)
		r.check(r.fill(r.a, r.y))
	}},
	{name: "an upload waits for the receive", slice: true, run: receives(func(r *rank) {
		q := r.firstRequest(r.world.Irecv(r.row, 0, 0))
		r.neededWait(q)
		r.second(r.y.Upload(r.row))
		r.wait(q)
	})},

	// Requests.
	{name: "a kernel writes behind Wait", run: sends(func(r *rank) {
		q := r.firstRequest(r.world.Isend(r.x, 1, 0))
		r.neededWait(q)
		r.second(r.fill(r.a, r.x))
		r.wait(q)
	})},
	{name: "a synchronous send's buffer behind Wait", run: sends(func(r *rank) {
		q := r.firstRequest(r.world.Issend(r.x, 1, 0))
		r.neededWait(q)
		r.second(r.x.MemsetAsync(0, r.a))
		r.wait(q)
	})},
	{name: "a kernel reads what is being sent", right: true, run: sends(func(r *rank) {
		q := r.request(r.world.Isend(r.x, 1, 0))
		r.check(r.copy(r.a, r.y, r.x))
		r.wait(q)
	})},
	{name: "a kernel on the default stream is no wait", run: sends(func(r *rank) {
		q := r.firstRequest(r.world.Isend(r.x, 1, 0))
		r.neededWait(q)
		r.second(r.fill(r.def, r.x))
		r.wait(q)
	})},
	{name: "a wait for the device is none for a request", run: sends(func(r *rank) {
		q := r.firstRequest(r.world.Isend(r.x, 1, 0))
		r.neededWait(q)
		r.check(r.d0.Synchronize())
		r.second(r.fill(r.a, r.x))
		r.wait(q)
	})},
	{name: "both requests are waited for", run: func(r *rank) {
		in := r.firstRequest(r.world.Irecv(r.y, r.other, 0))
		out := r.request(r.world.Isend(r.x, r.other, 0))
		r.wait(out)
		r.neededWait(in)
		r.second(r.read(r.a, r.y))
		r.wait(in)
	}},
	{name: "one of two requests is done", run: func(r *rank) {
		if r.me == 0 {
			r.check(r.world.Send(r.x, 1, 0))
			r.recv(r.world.Recv(nil, 1, 2)) // until the other is waited for
			r.check(r.world.Send(r.x, 1, 1))
		} else {
			a := r.request(r.world.Irecv(r.y, 0, 0))
			b := r.firstRequest(r.world.Irecv(r.z, 0, 1))
			i, _, err := mpi.WaitAny(a, b)
			r.check(err)
			if i != 0 {
				r.t.Fatal("the other request is done first")
			}
			r.check(r.world.Send(nil, 0, 2))
			r.check(r.read(r.a, r.y))
			r.neededWait(b)
			r.second(r.read(r.a, r.z))
			r.wait(b)
		}
	}},
	{name: "a receive into what is being sent", run: func(r *rank) {
		out := r.firstRequest(r.world.Isend(r.x, r.other, 0))
		if r.whole() {
			r.wait(out, r.request(r.world.Irecv(r.y, r.other, 0)))
		}
		in := r.secondRequest(r.world.Irecv(r.x, r.other, map[bool]int{true: 1}[r.all]))
		if r.all {
			r.check(r.world.Send(r.y, r.other, 1))
		}
		r.wait(out, in)
	}},
	{name: "memory is freed behind Wait", run: sends(func(r *rank) {
		m, err := r.d0.Alloc(4, cuda.Float32) // so few that they have left
		r.check(err)
		q := r.firstRequest(r.world.Isend(m, 1, 0))
		r.neededWait(q)
		r.second(m.Free())
		q.Wait() //nolint:errcheck // the memory is gone
	})},
	{name: "a persistent send's buffer behind Wait", run: func(r *rank) {
		if r.me == 0 {
			q := r.request(r.world.SendInit(r.x, 1, 0))
			for i := range 2 {
				if i == 0 {
					r.check(r.fill(r.a, r.x))
				} else {
					r.second(r.fill(r.a, r.x))
				}
				r.check(r.a.Synchronize())
				if i == 0 {
					r.first(q.Start())
				} else {
					r.check(q.Start())
				}
				if r.whole() || i == 1 {
					r.wait(q)
				} else {
					defer r.wait(q)
					break
				}
			}
			if !r.all {
				r.second(r.fill(r.a, r.x))
			}
		} else {
			r.recv(r.world.Recv(r.y, 0, 0))
			if r.all {
				r.recv(r.world.Recv(r.y, 0, 0))
			}
		}
	}},
	{name: "a persistent receive waits for the kernel of the round before", run: func(r *rank) {
		if r.me == 0 {
			for range 2 {
				r.check(r.world.Send(r.x, 1, 0))
			}
		} else {
			q := r.request(r.world.RecvInit(r.y, 0, 0))
			r.check(q.Start())
			r.wait(q)
			r.first(r.read(r.a, r.y))
			r.needed(r.a.Synchronize)
			r.second(mpi.StartAll(q))
			r.wait(q)
		}
	}},
	{name: "two buffers in turns", run: func(r *rank) {
		bufs := []*cuda.Buffer{r.x, r.y}
		q := make([]*mpi.Request, 2)
		for i := range 4 {
			k := i % 2
			if r.me == 0 {
				if i >= 2 && (i > 2 || r.whole()) {
					r.wait(q[k])
				}
				if i == 2 {
					r.second(r.fill(r.a, bufs[k]))
				} else {
					r.check(r.fill(r.a, bufs[k]))
				}
				r.check(r.a.Synchronize())
				if i == 0 {
					q[k] = r.firstRequest(r.world.Isend(bufs[k], 1, i))
				} else {
					q[k] = r.request(r.world.Isend(bufs[k], 1, i))
				}
			} else {
				r.recv(r.world.Recv(r.z, 0, i))
			}
		}
		if r.me == 0 {
			r.wait(q...)
		}
	}},
	{name: "a halo beside the inner rows", right: true, run: func(r *rank) {
		edge := r.x.Slice(0, 64)
		r.check(r.kernel("fill", r.a, r.x, nil, 960, 1024))
		r.check(r.a.Synchronize())
		in := r.request(r.world.Irecv(edge, r.other, 0))
		out := r.request(r.world.Isend(r.x.Slice(960, 1024), r.other, 0))
		r.check(r.kernel("fill", r.b, r.x, nil, 64, 960))
		r.wait(in, out)
		r.check(r.kernel("copy", r.a, r.y, r.x, 0, 64))
	}},
	{name: "a halo that is not there yet", run: func(r *rank) {
		edge := r.x.Slice(0, 64)
		in := r.firstRequest(r.world.Irecv(edge, r.other, 0))
		out := r.request(r.world.Isend(r.x.Slice(960, 1024), r.other, 0))
		r.neededWait(in, out)
		r.second(r.kernel("copy", r.b, r.y, r.x, 0, 960))
		r.wait(in, out)
	}},
	{name: "the outermost row is there before it is sent", run: func(r *rank) {
		r.first(r.kernel("fill", r.a, r.x, nil, 960, 1024))
		r.check(r.kernel("fill", r.b, r.x, nil, 64, 960))
		r.needed(r.a.Synchronize)
		r.second(r.exchange(r.x.Slice(960, 1024), r.x.Slice(0, 64)))
	}},
	{name: "a column, and a kernel on other elements", right: true, run: func(r *rank) {
		if r.me == 0 { // rows of 32, the first column
			q := r.request(r.world.Isend(mpi.Vector(r.x, 32, 1, 32), 1, 0))
			r.check(r.kernel("fill", r.a, r.x, nil, 1, 32))
			r.wait(q)
		} else {
			r.recv(r.world.Recv(r.y.Slice(0, 32), 0, 0))
		}
	}},
	{name: "a column, and a kernel on a row", run: func(r *rank) {
		if r.me == 0 {
			q := r.firstRequest(r.world.Isend(mpi.Vector(r.x, 32, 1, 32), 1, 0))
			r.neededWait(q)
			r.second(r.kernel("fill", r.a, r.x, nil, 64, 96))
			r.wait(q)
		} else {
			r.recv(r.world.Recv(r.y.Slice(0, 32), 0, 0))
		}
	}},

	// Memory of the host.
	{name: "pinned memory is there before it is sent", run: func(r *rank) {
		if r.me == 0 {
			r.first(cuda.MemcpyAsync(r.h, r.x, r.a))
			r.needed(r.a.Synchronize)
			r.second(r.world.Send(r.h, 1, 0))
		} else {
			r.recv(r.world.Recv(r.h, 0, 0))
		}
	}},
	{name: "pinned memory comes before it is copied", run: func(r *rank) {
		if r.me == 0 {
			r.check(r.world.Send(r.h, 1, 0))
		} else {
			q := r.firstRequest(r.world.Irecv(r.h, 0, 0))
			r.neededWait(q)
			r.second(cuda.MemcpyAsync(r.x, r.h, r.a))
			r.wait(q)
		}
	}},
	{name: "pinned memory is copied before the next message comes", run: func(r *rank) {
		if r.me == 0 {
			for range 2 {
				r.check(r.world.Send(r.h, 1, 0))
			}
		} else {
			r.recv(r.world.Recv(r.h, 0, 0))
			r.first(cuda.MemcpyAsync(r.x, r.h, r.a))
			r.needed(r.a.Synchronize)
			r.secondRecv(r.world.Recv(r.h, 0, 0))
		}
	}},
	{name: "a Go slice is there before it is sent", slice: true, run: func(r *rank) {
		if r.me == 0 {
			r.first(r.x.DownloadAsync(r.row, r.a))
			r.needed(r.a.Synchronize)
			r.second(r.world.Send(r.row, 1, 0))
			r.check(r.a.Synchronize())
		} else {
			r.recv(r.world.Recv(r.row, 0, 0))
		}
	}},

	// In the order of streams.
	{name: "a stream-ordered send follows its stream", right: true, run: func(r *rank) {
		if r.me == 0 {
			r.check(r.fill(r.a, r.x))
			r.check(r.world.SendOn(r.x, 1, 0, r.a))
			r.check(r.fill(r.a, r.x))
		} else {
			r.check(r.fill(r.a, r.y))
			r.recv(r.world.RecvOn(r.y, 0, 0, r.a))
			r.check(r.read(r.a, r.y))
		}
	}},
	{name: "a stream-ordered send follows no other stream", run: func(r *rank) {
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
			r.check(r.e.Record(r.a))
			r.needed(func() error { return r.b.WaitEvent(r.e) })
			r.second(r.world.SendOn(r.x, 1, 0, r.b))
		} else {
			r.recv(r.world.RecvOn(r.y, 0, 0, r.a))
		}
	}},
	{name: "a buffer is used again behind a stream-ordered send", run: func(r *rank) {
		if r.me == 0 {
			r.first(r.world.SendOn(r.x, 1, 0, r.b))
			r.check(r.e.Record(r.b))
			r.needed(func() error { return r.a.WaitEvent(r.e) })
			r.second(r.fill(r.a, r.x))
		} else {
			r.recv(r.world.RecvOn(r.y, 0, 0, r.a))
		}
	}},
	{name: "another stream reads what was received in a stream's order", run: func(r *rank) {
		if r.me == 0 {
			r.check(r.world.SendOn(r.x, 1, 0, r.a))
		} else {
			r.firstRecv(r.world.RecvOn(r.y, 0, 0, r.a))
			r.needed(r.a.Synchronize)
			r.second(r.read(r.b, r.y))
		}
	}},
	{name: "the host reads what was received in a stream's order", run: func(r *rank) {
		if r.me == 0 {
			r.check(r.world.SendOn(r.x, 1, 0, r.a))
		} else {
			r.firstRecv(r.world.RecvOn(r.y, 0, 0, r.a))
			r.needed(r.a.Synchronize)
			r.second(r.y.Download(r.row))
		}
	}},

	// Collectives.
	{name: "a broadcast waits for the kernel", run: func(r *rank) {
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
			r.needed(r.a.Synchronize)
			r.second(r.world.Bcast(r.x, 0))
		} else {
			r.check(r.world.Bcast(r.x, 0))
		}
	}},
	{name: "a broadcast waits for the kernel that reads where it receives", run: func(r *rank) {
		if r.me == 0 {
			r.check(r.read(r.a, r.x)) // the root is only read
			r.check(r.world.Bcast(r.x, 0))
		} else {
			r.first(r.read(r.a, r.x))
			r.needed(r.a.Synchronize)
			r.second(r.world.Bcast(r.x, 0))
		}
	}},
	{name: "a broadcast is there when it returns", right: true, run: func(r *rank) {
		r.check(r.world.Bcast(r.x, 0))
		r.check(r.fill(r.a, r.x))
	}},
	{name: "an immediate broadcast", run: func(r *rank) {
		q := r.firstRequest(r.world.Ibcast(r.x, 0))
		r.neededWait(q)
		r.second(r.fill(r.a, r.x))
		r.wait(q)
	}},
	{name: "an all-reduce waits for the kernel", run: func(r *rank) {
		r.first(r.fill(r.a, r.x))
		r.needed(r.a.Synchronize)
		r.second(r.world.Allreduce(mpi.InPlace, r.x, mpi.Sum))
	}},
	{name: "an all-reduce of two buffers", run: func(r *rank) {
		r.first(r.read(r.a, r.y))
		r.needed(r.a.Synchronize)
		r.second(r.world.Allreduce(r.x, r.y, mpi.Sum))
	}},
	{name: "what an all-reduce only reads may be read", right: true, run: func(r *rank) {
		r.check(r.read(r.a, r.x))
		r.check(r.world.Allreduce(r.x, r.y, mpi.Sum))
		r.check(r.read(r.a, r.y))
	}},
	{name: "an immediate all-reduce", run: func(r *rank) {
		q := r.firstRequest(r.world.Iallreduce(r.x, r.y, mpi.Sum))
		r.check(r.read(r.a, r.x))
		r.neededWait(q)
		r.second(r.read(r.a, r.y))
		r.wait(q)
	}},
	{name: "a reduction's result is the root's", run: func(r *rank) {
		r.first(r.read(r.a, r.y))
		if r.me == 1 {
			r.lines[0] = hazard.Place{} // its buffer does not count
		} else {
			r.needed(r.a.Synchronize)
		}
		r.second(r.world.Reduce(r.x, r.y, mpi.Sum, 0))
	}},
	{name: "a scan waits for the kernel", run: func(r *rank) {
		r.first(r.fill(r.a, r.x))
		r.needed(r.a.Synchronize)
		r.second(r.world.Scan(r.x, r.y, mpi.Sum))
	}},
	{name: "a reduction that is scattered", run: func(r *rank) {
		r.first(r.fill(r.a, r.x))
		r.needed(r.a.Synchronize)
		r.second(r.world.ReduceScatterBlock(r.x, r.y.Slice(0, elements/2), mpi.Sum))
	}},
	{name: "a gather waits for the kernel", run: func(r *rank) {
		r.first(r.fill(r.a, r.x))
		r.needed(r.a.Synchronize)
		r.second(r.world.Allgather(r.half(0), r.y))
	}},
	{name: "a gather to one rank", run: func(r *rank) {
		r.first(r.fill(r.a, r.x))
		r.needed(r.a.Synchronize)
		r.second(r.world.Gather(r.half(0), r.y, 0))
	}},
	{name: "a gather beside the parts that it fills", right: true, run: func(r *rank) {
		q := r.request(r.world.Iallgatherv(r.y.Slice(0, 128), r.x, []int{128, 128}, []int{0, 512}))
		r.check(r.kernel("fill", r.a, r.x, nil, 128, 512))
		r.wait(q)
	}},
	{name: "a scatter waits for the kernel", run: func(r *rank) {
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
			r.needed(r.a.Synchronize)
			r.second(r.world.Scatter(r.x, r.y.Slice(0, elements/2), 0))
		} else {
			r.check(r.world.Scatter(nil, r.y.Slice(0, elements/2), 0))
		}
	}},
	{name: "an exchange among all waits for the kernel", run: func(r *rank) {
		r.first(r.fill(r.a, r.x))
		r.needed(r.a.Synchronize)
		r.second(r.world.Alltoall(r.x, r.y))
	}},
	{name: "an immediate exchange among all", run: func(r *rank) {
		q := r.firstRequest(r.world.Ialltoall(r.x, r.y))
		r.neededWait(q)
		r.second(r.fill(r.a, r.y))
		r.wait(q)
	}},
	{name: "a barrier waits for no stream", run: func(r *rank) {
		r.first(r.fill(r.a, r.x))
		r.check(r.world.Barrier())
		r.needed(r.a.Synchronize)
		r.second(r.world.Bcast(r.x, 0))
	}},

	// Package collective, among the devices of one process.
	{name: "an all-reduce among devices follows its streams", two: true, right: true, run: func(r *rank) {
		r.check(r.fill(r.a, r.x))
		r.check(r.fill(r.two().far, r.two().w))
		r.check(collective.Allreduce([]*cuda.Buffer{r.x, r.two().w}, []*cuda.Stream{r.a, r.two().far}))
		r.check(r.copy(r.two().far, r.two().w, r.x)) // another member's: all are done with it
	}},
	{name: "an all-reduce among devices follows no other streams", two: true, run: func(r *rank) {
		r.first(r.fill(r.b, r.x))
		r.check(r.e.Record(r.b))
		r.needed(func() error { return r.a.WaitEvent(r.e) })
		r.second(collective.Allreduce([]*cuda.Buffer{r.x, r.two().w}, []*cuda.Stream{r.a, r.two().far}))
	}},
	{name: "no other streams follow an all-reduce among devices", two: true, run: func(r *rank) {
		r.first(collective.Allreduce([]*cuda.Buffer{r.x, r.two().w}, []*cuda.Stream{r.a, r.two().far}))
		r.needed(r.a.Synchronize)
		r.second(r.read(r.b, r.x))
	}},
	{name: "a broadcast without streams wants its root ready", two: true, run: func(r *rank) {
		r.first(r.fill(r.a, r.x))
		r.needed(r.a.Synchronize)
		r.second(collective.Broadcast(0, []*cuda.Buffer{r.x, r.two().w}, nil))
		r.check(r.read(r.two().far, r.two().w))
	}},
	{name: "the root of a broadcast is only read", two: true, right: true, run: func(r *rank) {
		r.check(r.read(r.b, r.x))
		r.check(collective.Broadcast(0, []*cuda.Buffer{r.x, r.two().w}, []*cuda.Stream{r.a, r.two().far}))
	}},
	{name: "the default streams are ready for a broadcast without streams", two: true, right: true, run: func(r *rank) {
		r.check(r.fill(r.def, r.x))
		r.check(collective.Broadcast(0, []*cuda.Buffer{r.x, r.two().w}, nil))
	}},
	{name: "a broadcast among ranks follows its streams", run: func(r *rank) {
		g, err := r.world.Collectives()
		r.check(err)
		r.first(r.fill(r.a, r.x))
		r.check(r.e.Record(r.a))
		r.needed(func() error { return r.b.WaitEvent(r.e) })
		r.second(g.Broadcast(0, []*cuda.Buffer{r.x}, []*cuda.Stream{r.b}))
		r.check(r.b.Synchronize())
		r.check(g.Close())
	}},
}
