package mpitest

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/symmetric"
)

//go:embed symmetric.cu
var symmetricCUDA string

//go:embed symmetric.go.txt
var symmetricGo string

// symmetricCode is the same kernels in both languages.
var symmetricCode = map[bool]func() (*cuda.Module, error){
	false: sync.OnceValues(func() (*cuda.Module, error) { return cuda.Compile(symmetricCUDA, cuda.SourceName("symmetric.cu")) }),
	true:  sync.OnceValues(func() (*cuda.Module, error) { return cuda.CompileGo(symmetricGo, cuda.SourceName("symmetric.go")) }),
}

// symmetricRun is one rank's part of a case.
type symmetricRun struct {
	*T
	w    *symmetric.Memory
	s    *cuda.Stream
	inGo bool
}

// symmetricCases: memory that the kernels of all ranks reach. On the host there is none.
func symmetricCases() []Case {
	var all []Case
	add := func(name string, ranks, n int, run func(r *symmetricRun)) {
		all = append(all, Case{Name: "symmetric/" + name, Ranks: ranks, Most: fewRanks, Run: func(t *T) {
			if t.device == nil {
				return
			}
			w, err := t.Symmetric(t.device, n, cuda.Float32)
			t.ok(err)
			s, err := t.device.NewStream(cuda.NonBlocking)
			t.ok(err)
			run(&symmetricRun{T: t, w: w, s: s, inGo: strings.HasSuffix(name, "Go")})
			t.must(w.Close(), s.Destroy())
		}})
	}
	for _, language := range []string{"", " in Go"} {
		for _, c := range symmetricPrograms() {
			add(c.name+language, c.ranks, c.n, c.run)
		}
	}
	for _, c := range symmetricStreams() {
		add(c.name, c.ranks, c.n, c.run)
	}
	return all
}

type symmetricProgram struct {
	name     string
	ranks, n int
	run      func(r *symmetricRun)
}

// kernel gives one by its name in CUDA C++.
func (r *symmetricRun) kernel(name string) *cuda.Kernel {
	m, err := symmetricCode[r.inGo]()
	r.ok(err)
	if r.inGo {
		words := strings.Split(name, "_")
		for i, w := range words[1:] {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
		name = strings.Join(words, "")
	}
	k, err := m.Kernel(name)
	r.ok(err)
	return k
}

// args are a kernel's arguments: lengths are for CUDA C++ alone.
func (r *symmetricRun) args(list ...any) []any {
	out := []any{r.w}
	for _, a := range list {
		if n, ok := a.(length); !ok {
			out = append(out, a)
		} else if !r.inGo {
			out = append(out, int(n))
		}
	}
	return out
}

type length int

func (r *symmetricRun) launch(name string, grid, block int, list ...any) {
	r.ok(r.kernel(name).Launch(cuda.Grid(grid), cuda.Block(block), r.s, r.args(list...)...))
}

func (r *symmetricRun) floats(n int) *cuda.Buffer {
	b, err := r.device.Alloc(n, cuda.Float32)
	r.must(err, b.Fill(float32(0), r.s))
	return b
}

// upload queues what rank and index give.
func (r *symmetricRun) upload(b *cuda.Buffer, f func(i int) float32) {
	host := make([]float32, b.Len())
	for i := range host {
		host[i] = f(i)
	}
	r.must(b.UploadAsync(host, r.s), r.s.Synchronize())
}

// check waits for the stream and compares.
func (r *symmetricRun) check(b *cuda.Buffer, want func(i int) float32) {
	r.ok(r.s.Synchronize())
	host := make([]float32, b.Len())
	r.must(b.DownloadAsync(host, r.s), r.s.Synchronize())
	for i, got := range host {
		if w := want(i); math.Abs(float64(got-w)) > 1e-5*math.Abs(float64(w)) {
			r.Fatalf("element %d is %v, not %v", i, got, w)
		}
	}
}

// value is what rank p has at place i in a round: small whole numbers, of which sums are exact.
func value(p, i, round int) float32 { return float32((p+1)*(i%13+1) + 100*round) }

// total is the sum of all ranks' values.
func (r *symmetricRun) total(i, round int) float32 {
	sum := float32(0)
	for p := range r.size {
		sum += value(p, i, round)
	}
	return sum
}

func symmetricPrograms() []symmetricProgram {
	const n, rounds = 1000, 3
	// Of rounds, each starts when all ranks are done with the one before.
	each := func(r *symmetricRun, f func(round int)) {
		for round := range rounds {
			r.ok(r.w.Barrier(r.s))
			f(round)
			r.ok(r.w.Barrier(r.s))
		}
		r.ok(r.s.Synchronize())
	}
	reduce := func(name string, n, grid, block int) symmetricProgram {
		return symmetricProgram{fmt.Sprintf("%s of %d by %d blocks", strings.ReplaceAll(name, "_", " "), n, grid), 1, 4*n + 8, func(r *symmetricRun) {
			in, out := r.floats(n), r.floats(n)
			each(r, func(round int) {
				r.upload(in, func(i int) float32 { return value(r.rank, i, round) })
				if name == "push" {
					r.launch(name, grid, block, in, out, length(n))
				} else {
					r.ok(cuda.MemcpyAsync(r.w.Local().Slice(0, n), in, r.s))
					r.launch(name, grid, block, out, length(n))
				}
				r.check(out, func(i int) float32 { return r.total(i, round) })
			})
			r.must(in.Free(), out.Free())
		}}
	}
	return []symmetricProgram{
		reduce("one_shot", 1, 1, 32), reduce("one_shot", 1000, 3, 64), reduce("two_shot", 1000, 4, 64), reduce("push", 1000, 3, 64),
		{"all-to-all", 1, 4 * n, func(r *symmetricRun) {
			in, out := r.floats(n*r.size), r.floats(n*r.size)
			each(r, func(round int) {
				r.upload(in, func(i int) float32 { return value(r.rank, i%n+i/n, round) })
				r.launch("all_to_all", 2, 64, in, out, length(n))
				r.check(out, func(i int) float32 { return value(i/n, i%n+r.rank, round) })
			})
			r.must(in.Free(), out.Free())
		}},
		{"shift", 1, n, func(r *symmetricRun) {
			in, out := r.floats(n), r.floats(n)
			each(r, func(round int) {
				r.upload(in, func(i int) float32 { return value(r.rank, i, round) })
				r.launch("shift", 1, 96, in, out, length(n))
				r.check(out, func(i int) float32 { return value(r.prev(), i, round) })
			})
			r.must(in.Free(), out.Free())
		}},
		{"ring", 1, 4 * n, func(r *symmetricRun) {
			in, out := r.floats(n), r.floats(n)
			each(r, func(round int) {
				r.upload(in, func(i int) float32 { return value(r.rank, i, round) })
				r.launch("ring", 1, 64, in, out, length(n))
				r.check(out, func(i int) float32 { return r.total(i, round) })
			})
			r.must(in.Free(), out.Free())
		}},
		{"halo", 1, 8, func(r *symmetricRun) {
			const n, turns = 40, 10
			a, b := r.floats(n), r.floats(n)
			cells := make([]float64, n*r.size)
			for i := range cells {
				cells[i] = float64(i % 7)
			}
			r.upload(a, func(i int) float32 { return float32(cells[r.rank*n+i]) })
			r.launch("halo", 1, 32, a, b, length(n), turns)
			for range turns {
				next := make([]float64, len(cells))
				for i := range cells {
					next[i] = cells[(i+len(cells)-1)%len(cells)] + cells[(i+1)%len(cells)]
				}
				cells = next
			}
			r.check(a, func(i int) float32 { return float32(cells[r.rank*n+i]) })
			r.must(a.Free(), b.Free())
		}},
		{"broadcast", 1, n, func(r *symmetricRun) {
			in, out := r.floats(n), r.floats(n)
			each(r, func(round int) {
				root := round % r.size
				r.upload(in, func(i int) float32 { return value(r.rank, i, round) })
				r.launch("broadcast", 1, 64, in, out, length(n), root)
				r.check(out, func(i int) float32 { return value(root, i, round) })
			})
			r.must(in.Free(), out.Free())
		}},
		{"gather", 1, 4 * n, func(r *symmetricRun) {
			in, out := r.floats(n), r.floats(n*r.size)
			each(r, func(round int) {
				root := round % r.size
				r.upload(in, func(i int) float32 { return value(r.rank, i, round) })
				r.launch("gather", 1, 64, in, out, length(n), root)
				if r.rank == root {
					r.check(out, func(i int) float32 { return value(i/n, i%n, round) })
				}
			})
			r.must(in.Free(), out.Free())
		}},
		{"RMS norm", 1, 1024, func(r *symmetricRun) {
			const rows, n = 8, 100
			in, out := r.floats(rows*n), r.floats(rows*n)
			each(r, func(round int) {
				r.upload(in, func(i int) float32 { return value(r.rank, i, round) })
				r.ok(cuda.MemcpyAsync(r.w.Local().Slice(0, rows*n), in, r.s))
				r.launch("rms_norm", 2, 32, out, rows, length(n))
				r.check(out, func(i int) float32 {
					squares := 0.0
					for j := range n {
						v := float64(r.total(i/n*n+j, round))
						squares += v * v
					}
					return float32(float64(r.total(i, round)) / math.Sqrt(squares/n+1e-6))
				})
			})
			r.must(in.Free(), out.Free())
		}},
		{"halves of a barrier", 1, n, func(r *symmetricRun) {
			out := r.floats(n)
			each(r, func(int) {
				r.launch("halves", 2, 64, out, length(n))
				r.check(out, func(i int) float32 { return float32(1 + r.next() + i) })
			})
			r.ok(out.Free())
		}},
		{"many barriers", 1, 64, func(r *symmetricRun) {
			out := r.floats(1)
			r.launch("many_barriers", 4, 32, out, 20)
			r.check(out, func(int) float32 { return 0 })
			r.ok(out.Free())
		}},
		{"ping-pong", 2, 4, func(r *symmetricRun) {
			const turns = 20
			out := r.floats(1)
			r.launch("ping_pong", 1, 32, out, turns)
			r.check(out, func(int) float32 {
				switch r.rank {
				case 0:
					return turns
				case 1:
					return turns - 1
				}
				return 0
			})
			r.ok(out.Free())
		}},
		{"wait until", 1, 4, func(r *symmetricRun) {
			out := r.floats(1)
			each(r, func(round int) {
				r.launch("until", 1, 32, out, 3*round)
				r.check(out, func(int) float32 { return float32(r.prev()) })
			})
			r.ok(out.Free())
		}},
		{"a loop that asks", 1, 4, func(r *symmetricRun) {
			out := r.floats(1)
			each(r, func(round int) {
				r.launch("asking", 1, 32, out, round)
				r.check(out, func(int) float32 { return float32(r.prev()) })
			})
			r.ok(out.Free())
		}},
		{"get", 1, n + 10, func(r *symmetricRun) {
			out := r.floats(n)
			r.upload(r.w.Local(), func(i int) float32 { return value(r.rank, i, 0) })
			r.launch("getting", 1, 64, out, length(n))
			r.check(out, func(i int) float32 { return value(r.next(), i+3, 0) })
			r.ok(out.Free())
		}},
		{"launches in a row", 1, n, func(r *symmetricRun) {
			outs := make([]*cuda.Buffer, 5)
			in := r.floats(n)
			r.upload(in, func(i int) float32 { return value(r.rank, i, 0) })
			for i := range outs {
				outs[i] = r.floats(n)
				r.ok(cuda.MemcpyAsync(r.w.Local(), in, r.s))
				r.launch("one_shot", 2, 64, outs[i], length(n))
			}
			for _, out := range outs {
				r.check(out, func(i int) float32 { return r.total(i, 0) })
				r.ok(out.Free())
			}
			r.ok(in.Free())
		}},
		{"a graph", 1, n, func(r *symmetricRun) {
			in, out := r.floats(n), r.floats(n)
			r.ok(r.kernel("one_shot").Launch(cuda.Grid(2), cuda.Block(64), r.s, r.args(out, length(n))...)) // loads it
			g, err := r.s.Capture(func() error {
				return errors.Join(cuda.MemcpyAsync(r.w.Local(), in, r.s), r.kernel("one_shot").Launch(cuda.Grid(2), cuda.Block(64), r.s, r.args(out, length(n))...))
			})
			r.ok(err)
			x, err := g.Instantiate()
			r.ok(err)
			for round := range 4 {
				r.upload(in, func(i int) float32 { return value(r.rank, i, round) })
				r.ok(x.Launch(r.s))
				r.check(out, func(i int) float32 { return r.total(i, round) })
			}
			r.must(x.Destroy(), g.Destroy(), in.Free(), out.Free())
		}},
	}
}

// symmetricStreams are what the host queues in the order of a stream.
func symmetricStreams() []symmetricProgram {
	const n = 5000
	shift := func(name string, at, n int) symmetricProgram {
		return symmetricProgram{"put with signal, " + name, 1, at + n, func(r *symmetricRun) {
			in, out := r.floats(n), r.floats(n)
			for round := range 3 {
				r.upload(in, func(i int) float32 { return value(r.rank, i, round) })
				r.must(r.w.PutSignal(r.next(), at, in, 4, r.s), r.w.WaitSignal(4, r.s), cuda.MemcpyAsync(out, r.w.Local().Slice(at, at+n), r.s))
				r.check(out, func(i int) float32 { return value(r.prev(), i, round) })
				r.ok(r.w.Barrier(r.s))
			}
			r.must(r.s.Synchronize(), in.Free(), out.Free())
		}}
	}
	refused := func(r *symmetricRun, err error, says string) {
		if err == nil || !strings.Contains(err.Error(), says) {
			r.Errorf("the error is %v, and does not say %q", err, says)
		}
	}
	return []symmetricProgram{
		shift("one number", 0, 1), shift("odd place and length", 3, 1001), shift("all that one kernel copies", 0, 16<<10), shift("more than that", 5, 20001),
		{"put, then a signal", 1, n, func(r *symmetricRun) {
			in := r.floats(n)
			r.upload(in, func(i int) float32 { return value(r.rank, i, 0) })
			r.must(r.w.Put(r.next(), 0, in, r.s), r.w.Signal(r.next(), 0, r.s), r.w.WaitSignal(0, r.s))
			r.check(r.w.Local(), func(i int) float32 { return value(r.prev(), i, 0) })
			r.ok(in.Free())
		}},
		{"get between barriers", 1, n, func(r *symmetricRun) {
			out := r.floats(100)
			r.upload(r.w.Local(), func(i int) float32 { return value(r.rank, i, 0) })
			r.must(r.w.Barrier(r.s), r.w.Get(out, r.next(), 50, r.s), r.w.Barrier(r.s))
			r.check(out, func(i int) float32 { return value(r.next(), i+50, 0) })
			r.ok(out.Free())
		}},
		{"a put of nothing", 1, n, func(r *symmetricRun) {
			none := r.floats(n).Slice(7, 7)
			r.must(r.w.Put(r.next(), n, none, r.s), r.w.PutSignal(r.next(), 0, none, 1, r.s), r.w.WaitSignal(1, r.s), r.s.Synchronize())
		}},
		{"signals are counted", 1, 4, func(r *symmetricRun) {
			for range 5 {
				r.ok(r.w.Signal(r.next(), 2, r.s))
			}
			for range 5 {
				r.ok(r.w.WaitSignal(2, r.s))
			}
			r.ok(r.s.Synchronize())
		}},
		{"counters are apart", 1, 4, func(r *symmetricRun) {
			r.must(r.w.Signal(r.next(), 1023, r.s), r.w.Signal(r.next(), 0, r.s), r.w.WaitSignal(0, r.s), r.w.WaitSignal(1023, r.s), r.s.Synchronize())
		}},
		{"two streams", 1, 2000, func(r *symmetricRun) {
			other, err := r.device.NewStream(cuda.NonBlocking)
			r.ok(err)
			in := r.floats(1000)
			r.upload(in, func(i int) float32 { return value(r.rank, i, 0) })
			r.must(r.w.WaitSignal(1, other), r.w.PutSignal(r.next(), 0, in, 1, r.s), r.w.PutSignal(r.next(), 1000, in, 2, r.s), r.w.WaitSignal(2, r.s))
			r.must(other.Synchronize(), r.s.Synchronize())
			r.check(r.w.Local(), func(i int) float32 { return value(r.prev(), i%1000, 0) })
			r.must(other.Destroy(), in.Free())
		}},
		{"the default stream", 1, 100, func(r *symmetricRun) {
			in := r.floats(100)
			r.upload(in, func(i int) float32 { return value(r.rank, i, 0) })
			r.must(r.w.PutSignal(r.next(), 0, in, 1, nil), r.w.WaitSignal(1, nil), r.w.Barrier(nil), r.device.Synchronize())
			r.check(r.w.Local(), func(i int) float32 { return value(r.prev(), i, 0) })
			r.ok(in.Free())
		}},
		{"a ring as a graph", 1, n, func(r *symmetricRun) {
			in, out := r.floats(n), r.floats(n)
			g, err := r.s.Capture(func() error {
				return errors.Join(r.w.PutSignal(r.next(), 0, in, 3, r.s), r.w.WaitSignal(3, r.s), cuda.MemcpyAsync(out, r.w.Local(), r.s), r.w.Barrier(r.s))
			})
			r.ok(err)
			x, err := g.Instantiate()
			r.ok(err)
			for round := range 4 {
				r.upload(in, func(i int) float32 { return value(r.rank, i, round) })
				r.ok(x.Launch(r.s))
				r.check(out, func(i int) float32 { return value(r.prev(), i, round) })
			}
			r.must(x.Destroy(), g.Destroy(), in.Free(), out.Free())
		}},
		{"a peer's memory as a buffer", 1, 10, func(r *symmetricRun) {
			r.must(r.w.Peer(r.next()).Fill(float32(r.rank), r.s), r.w.Barrier(r.s))
			r.check(r.w.Local(), func(int) float32 { return float32(r.prev()) })
			r.must(r.w.Barrier(r.s), r.s.Synchronize())
		}},
		{"it is zero", 1, n, func(r *symmetricRun) {
			r.check(r.w.Local(), func(int) float32 { return 0 })
		}},
		{"what it says of itself", 1, 77, func(r *symmetricRun) {
			r.same("rank", r.w.Rank(), r.rank)
			r.same("size", r.w.Size(), r.size)
			r.same("length", r.w.Len(), 77)
			r.same("words", strings.HasPrefix(r.w.String(), "symmetric memory of 77 Float32 at each of"), true)
		}},
		{"several at once", 1, 100, func(r *symmetricRun) {
			other, err := r.Symmetric(r.device, 10, cuda.Int64)
			r.ok(err)
			in, err := r.device.Upload([]int64{int64(r.rank) << 40, 2, 3})
			r.must(err, r.device.Synchronize())
			r.must(r.w.Signal(r.next(), 1, r.s), other.PutSignal(r.next(), 4, in, 1, r.s), other.WaitSignal(1, r.s), r.w.WaitSignal(1, r.s), r.s.Synchronize())
			got, err := other.Local().Int64s()
			r.ok(err)
			r.same("what came", got[4:7], []int64{int64(r.prev()) << 40, 2, 3})
			r.must(other.Close(), in.Free())
		}},
		{"again and again", 1, 4, func(r *symmetricRun) {
			for i := range 4 {
				other, err := r.Symmetric(r.device, 100*(i+1), cuda.Uint8)
				r.must(err, other.Barrier(r.s), r.s.Synchronize(), other.Close())
				refused(r, other.Barrier(r.s), "closed")
			}
		}},
		{"places that are not there", 1, 10, func(r *symmetricRun) {
			b, long := r.floats(3), r.floats(11)
			refused(r, r.w.Put(r.size, 0, b, r.s), fmt.Sprintf("rank %d of %d", r.size, r.size))
			refused(r, r.w.Signal(-1, 0, r.s), "rank -1")
			refused(r, r.w.Put(0, 8, b, r.s), "elements 8 to 11 of 10")
			refused(r, r.w.Get(long, 0, 0, r.s), "elements 0 to 11 of 10")
			refused(r, r.w.PutSignal(0, -1, b, 0, r.s), "elements -1 to 2 of 10")
			refused(r, r.w.PutSignal(0, 0, b, 1024, r.s), "counter 1024 of 1024")
			refused(r, r.w.WaitSignal(-1, r.s), "counter -1 of 1024")
			refused(r, r.w.Put(0, 0, nil, r.s), "the buffer is nil")
			bytes, err := b.As(cuda.Uint8)
			r.ok(err)
			refused(r, r.w.Put(0, 0, bytes, r.s), "a buffer of Uint8, and memory of Float32")
			r.must(r.s.Synchronize(), b.Free(), long.Free())
		}},
		{"ranks that disagree", 2, 1, func(r *symmetricRun) {
			_, err := r.Symmetric(r.device, 10+r.rank%2, cuda.Float32)
			refused(r, err, "asks for")
			_, err = r.Symmetric(r.device, 10, []cuda.Type{cuda.Float32, cuda.Int32}[r.rank%2])
			refused(r, err, "asks for")
			_, err = r.Symmetric(r.device, -1+2*min(r.rank, 1), cuda.Float32)
			refused(r, err, "-1 elements")
		}},
		{"a kernel that waits is stopped", 1, 4, func(r *symmetricRun) {
			other, err := r.Symmetric(r.device, 1, cuda.Float32)
			r.ok(err)
			out := r.floats(1)
			r.ok(r.s.Synchronize())
			mine := &symmetricRun{r.T, other, r.s, false}
			mine.launch("alone", 1, 32, out)
			other.Stop(errors.New("it is a test"))
			refused(r, r.s.Synchronize(), "it is a test")
			refused(r, other.Barrier(r.s), "it is a test")
			refused(r, other.Put(0, 0, out, r.s), "it is a test")
			refused(r, other.Err(), "it is a test")
			r.must(r.Barrier(), other.Close(), out.Free())
		}},
		{"arguments that are none", 1, 4, func(r *symmetricRun) {
			m, err := symmetricCode[false]()
			r.ok(err)
			k, err := m.Kernel("alone")
			r.ok(err)
			out := r.floats(1)
			refused(r, k.Launch(cuda.Grid(1), cuda.Block(1), r.s, out, out), "give a *symmetric.Memory")
			refused(r, k.Launch(cuda.Grid(1), cuda.Block(1), r.s, r.w, r.w), "was given for")
			r.must(r.s.Synchronize(), out.Free())
		}},
	}
}
