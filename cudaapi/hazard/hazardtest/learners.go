package hazardtest

import (
	"sync"

	"gocuda/cudaapi/cuda"
)

// worker is a struct with methods that queue.
type worker struct {
	e *env
	s *cuda.Stream
}

func (w worker) produce(x *cuda.Buffer)      { w.e.first(w.e.fill(w.s, x)) }
func (w worker) consume(x *cuda.Buffer)      { w.e.second(w.e.read(w.s, x)) }
func (w worker) follows(v *cuda.Event) error { return w.s.WaitEvent(v) }

// What learners write: loops, helpers, goroutines, structs.
func init() {
	programs = append(programs,
		program{name: "double buffering", run: func(e *env) {
			buffers, filled, freed := []*cuda.Buffer{e.x, e.y}, e.e, e.f
			for round := range 4 {
				k := round % 2
				if round > 1 {
					e.needed(func() error { return e.a.WaitEvent(freed) })
				}
				e.second(cuda.MemcpyAsync(buffers[k], e.h, e.a))
				e.check(filled.Record(e.a))
				e.check(e.b.WaitEvent(filled))
				e.first(e.read(e.b, buffers[k]))
				e.check(freed.Record(e.b))
			}
		}},
		program{name: "a snapshot of each round", run: func(e *env) {
			for range 3 {
				e.second(e.copy(e.a, e.y, e.x))
				e.check(e.e.Record(e.a))
				e.check(e.b.WaitEvent(e.e))
				e.first(cuda.MemcpyAsync(e.h, e.y, e.b))
				e.check(e.f.Record(e.b))
				e.needed(func() error { return e.a.WaitEvent(e.f) })
			}
		}},
		program{name: "a halo goes to the other device", run: func(e *env) {
			e.first(e.kernel("fill", e.a, e.x, nil, 0, elements))
			e.check(e.e.Record(e.a))
			e.needed(func() error { return e.two().far.WaitEvent(e.e) })
			e.second(cuda.MemcpyPeerAsync(e.two().w.Slice(0, 16), e.x.Slice(elements-16, elements), e.two().far))
		}},
		program{name: "the inner points beside the halo", right: true, run: func(e *env) {
			e.check(e.kernel("fill", e.a, e.x, nil, elements-16, elements))
			e.check(e.e.Record(e.a))
			e.check(e.two().far.WaitEvent(e.e))
			e.check(cuda.MemcpyPeerAsync(e.two().w.Slice(0, 16), e.x.Slice(elements-16, elements), e.two().far))
			e.check(e.kernel("fill", e.b, e.x, nil, 0, elements-16))
		}},
		program{name: "even and odd bytes", right: true, run: func(e *env) {
			e.check(e.kernel("bytes", e.a, e.x, nil, 0, elements))
			e.check(e.kernel("bytes", e.b, e.x, nil, 1, elements+1))
		}},
		program{name: "even bytes, and again", run: func(e *env) {
			e.first(e.kernel("bytes", e.a, e.x, nil, 0, elements))
			e.check(e.kernel("bytes", e.b, e.x, nil, 1, elements))
			e.needed(e.a.Synchronize)
			e.second(e.kernel("bytes", e.b, e.x, nil, 100, 200))
		}},
		program{name: "the host waits for another stream", run: func(e *env) {
			e.first(e.fill(e.a, e.x))
			e.check(e.fill(e.b, e.y))
			e.check(e.b.Synchronize())
			e.needed(e.a.Synchronize)
			e.second(e.read(e.c, e.x))
		}},
		program{name: "an event of another stream", run: func(e *env) {
			e.first(e.fill(e.a, e.x))
			e.check(e.e.Record(e.a))
			e.check(e.f.Record(e.c))
			e.check(e.b.WaitEvent(e.f))
			e.needed(func() error { return e.b.WaitEvent(e.e) })
			e.second(e.read(e.b, e.x))
		}},
		program{name: "the wait comes behind the kernel", run: func(e *env) {
			e.first(e.fill(e.a, e.x))
			e.check(e.e.Record(e.a))
			e.needed(func() error { return e.b.WaitEvent(e.e) })
			e.second(e.read(e.b, e.x))
			e.check(e.b.WaitEvent(e.e))
		}},
		program{name: "a slice of streams, and one behind all", run: func(e *env) {
			streams := []*cuda.Stream{e.a, e.b, e.c}
			for k, s := range streams {
				if k < 2 {
					e.check(e.kernel("fill", s, e.x, nil, 100*k, 100*k+100))
					e.check(s.Synchronize())
				} else {
					e.first(e.kernel("fill", s, e.x, nil, 100*k, 100*k+100))
					e.needed(s.Synchronize)
				}
			}
			e.second(e.read(e.a, e.x))
		}},
		program{name: "a goroutine for each stream", run: func(e *env) {
			var group sync.WaitGroup
			group.Go(func() {
				e.first(e.fill(e.a, e.x))
				e.needed(e.a.Synchronize)
			})
			group.Wait()
			group.Go(func() { e.second(e.read(e.b, e.x)) })
			group.Wait()
		}},
		program{name: "buffers go through a channel", run: func(e *env) {
			full := make(chan *cuda.Buffer)
			go func() {
				defer close(full)
				e.first(e.fill(e.a, e.x))
				e.needed(e.a.Synchronize)
				full <- e.x
			}()
			for x := range full {
				e.second(e.read(e.b, x))
			}
		}},
		program{name: "methods of a struct", run: func(e *env) {
			first, second := worker{e, e.a}, worker{e, e.b}
			first.produce(e.x)
			e.check(e.e.Record(e.a))
			e.needed(func() error { return second.follows(e.e) })
			second.consume(e.x)
		}},
		program{name: "a closure called for two streams", run: func(e *env) {
			step := func(mark func(error), s *cuda.Stream) { mark(e.kernel("add", s, e.x, e.y, 0, elements)) }
			step(e.first, e.a)
			e.check(e.e.Record(e.a))
			e.needed(func() error { return e.b.WaitEvent(e.e) })
			step(e.second, e.b)
		}},
		program{name: "a function that waits as it ends", run: func(e *env) {
			func() {
				defer e.needed(e.a.Synchronize)
				e.first(e.fill(e.a, e.x))
				e.check(e.fill(e.a, e.y))
			}()
			e.second(e.read(e.b, e.x))
		}},
		program{name: "a loop over devices", run: func(e *env) {
			for k, s := range []*cuda.Stream{e.a, e.two().far} {
				e.first(e.kernel("fill", s, e.x, nil, 512*k, 512*k+512))
			}
			e.check(e.a.Synchronize())
			e.needed(e.two().far.Synchronize)
			e.second(e.read(e.b, e.x))
		}},
		program{name: "two graphs made of two captures", run: func(e *env) {
			fill := e.capture(e.a, func() { e.first(e.fill(e.a, e.x)) })
			read := e.capture(e.a, func() { e.second(e.read(e.a, e.x)) })
			e.check(fill.Launch(e.a))
			e.check(e.e.Record(e.a))
			e.needed(func() error { return e.b.WaitEvent(e.e) })
			e.check(read.Launch(e.b))
		}},
		program{name: "a graph launched in turns on two streams", right: true, run: func(e *env) {
			g := e.capture(e.a, func() { e.check(e.kernel("add", e.a, e.x, e.y, 0, elements)) })
			for range 3 {
				e.check(g.Launch(e.a))
				e.check(g.Launch(e.b)) // after its earlier launches
			}
		}},
		program{name: "two kernels add to what a third cleared", run: func(e *env) {
			e.first(e.x.MemsetAsync(0, e.a))
			e.check(e.e.Record(e.a))
			e.needed(func() error { return e.b.WaitEvent(e.e) })
			e.second(e.kernel("count", e.b, e.x, nil, 0, elements))
			e.check(e.kernel("count", e.a, e.x, nil, 0, elements))
		}},
		program{name: "a sum over three buffers", run: func(e *env) {
			e.check(e.fill(e.a, e.x))
			e.first(e.fill(e.b, e.y))
			e.check(e.e.Record(e.a))
			e.check(e.f.Record(e.b))
			e.check(e.c.WaitEvent(e.e))
			e.needed(func() error { return e.c.WaitEvent(e.f) })
			e.check(e.kernel("copy", e.c, e.z, e.x, 0, elements))
			e.second(e.kernel("add", e.c, e.z, e.y, 0, elements))
		}},
		program{name: "scratch memory of the stream's own", run: func(e *env) {
			scratch, err := e.a.AllocAsync(elements, cuda.Float32)
			e.check(err)
			e.check(e.fill(e.a, scratch))
			e.check(e.e.Record(e.a))
			e.check(e.b.WaitEvent(e.e))
			e.first(e.read(e.b, scratch))
			e.needed(e.b.Synchronize)
			e.second(scratch.FreeAsync(e.a))
		}},
		program{name: "managed memory is fetched, then used elsewhere", run: func(e *env) {
			m, err := e.d0.AllocManaged(elements, cuda.Float32)
			e.check(err)
			e.first(e.fill(e.a, m))
			e.check(m.Prefetch(e.d0, e.a))
			e.needed(e.a.Synchronize)
			e.second(e.read(e.b, m))
		}},
	)
}
