package coll

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// mail is a network of ranks on which a send is complete only when it was
// received, so that what relies on buffering stands still.
type mail struct {
	mu     sync.Mutex
	queues map[[3]int][]*letter // by from, to, tag
	wanted map[[3]int][]*letter
}

type letter struct {
	m    Memory
	done bool
	err  error
	mail *mail
}

func (l *letter) Test() (transport.Status, bool, error) {
	l.mail.mu.Lock()
	defer l.mail.mu.Unlock()
	return transport.Status{}, l.done, l.err
}

func (l *letter) Cancel() error { return nil }

type mailbox struct {
	*mail
	rank, size int
}

func (b mailbox) Rank() int { return b.rank }
func (b mailbox) Size() int { return b.size }

func (b mailbox) Isend(m Memory, dest, tag int) (transport.Request, error) {
	return b.meet([3]int{b.rank, dest, tag}, m, b.queues, b.wanted, func(mine, theirs *letter) { deliver(theirs, mine) })
}

func (b mailbox) Irecv(m Memory, source, tag int) (transport.Request, error) {
	return b.meet([3]int{source, b.rank, tag}, m, b.wanted, b.queues, deliver)
}

func (b mailbox) meet(key [3]int, m Memory, mine, theirs map[[3]int][]*letter, both func(mine, theirs *letter)) (transport.Request, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := &letter{m: m, mail: b.mail}
	if q := theirs[key]; len(q) > 0 {
		theirs[key] = q[1:]
		both(l, q[0])
	} else {
		mine[key] = append(mine[key], l)
	}
	return l, nil
}

func deliver(to, from *letter) {
	to.done, from.done = true, true
	if to.m.Bytes() != from.m.Bytes() {
		to.err = fmt.Errorf("%d bytes were sent, %d are received", from.m.Bytes(), to.m.Bytes())
		return
	}
	if to.m.N > 0 {
		Host.Copy(to.m, from.m)
	}
}

// together runs a collective on n ranks, and fails the test if it does not
// come to an end.
func together(t *testing.T, n int, start func(env Env) (*Request, error)) {
	t.Helper()
	net := &mail{queues: map[[3]int][]*letter{}, wanted: map[[3]int][]*letter{}}
	all := make([]*Request, n)
	for i := range all {
		var err error
		if all[i], err = start(Env{Peers: mailbox{net, i, n}, Space: Host, Tag: 1}); err != nil {
			t.Fatal(err)
		}
	}
	for still := 0; still < 100; still++ {
		left := 0
		for i, r := range all {
			at := r.next
			_, over, err := r.Test()
			if err != nil {
				t.Fatalf("rank %d: %v", i, err)
			}
			if !over {
				left++
			}
			if r.next != at {
				still = 0
			}
		}
		if left == 0 {
			for _, q := range []map[[3]int][]*letter{net.queues, net.wanted} {
				for key, letters := range q {
					if len(letters) > 0 {
						t.Fatalf("%d messages from %d to %d have no counterpart", len(letters), key[0], key[1])
					}
				}
			}
			return
		}
	}
	t.Fatal("the ranks wait for each other")
}

func memoryOf[T any](s []T, t transport.Type) Memory {
	return Memory{P: unsafe.Pointer(unsafe.SliceData(s)), N: len(s), T: t}
}

func ints(s []int64) Memory { return memoryOf(s, transport.Int64) }

// perRank is each for one rank of a Memory that names a part.
func perRank(s []int64, n int) Memory {
	m := ints(s)
	m.N /= n
	return m
}

var inPlace Memory

// affine is the function x -> a*x+b (mod a prime): composing such does not
// commute.
type affine struct{ a, b int32 }

const prime = 10007

func compose(f, g affine) affine {
	return affine{f.a * g.a % prime, (f.a*g.b + f.b) % prime}
}

var composeOp = Op{Reduce: func(dst, a, b Memory) (transport.Request, error) {
	d, x, y := unsafe.Slice((*affine)(dst.P), dst.N), unsafe.Slice((*affine)(a.P), dst.N), unsafe.Slice((*affine)(b.P), dst.N)
	for i := range d {
		d[i] = compose(x[i], y[i])
	}
	return nil, nil
}}

// later is an operator or a copy that takes its time, as a device's does.
type later struct {
	work  func()
	times int
}

func (l *later) Test() (transport.Status, bool, error) {
	if l.times++; l.times == 3 {
		l.work()
	}
	return transport.Status{}, l.times >= 3, nil
}

func (l *later) Cancel() error { return nil }

var sumLater = Op{Commutative: true, Reduce: func(dst, a, b Memory) (transport.Request, error) {
	return &later{work: func() { sum[int64](dst.P, a.P, b.P, dst.N) }}, nil
}}

type slowSpace struct{ Space }

func (s slowSpace) Copy(dst, src Memory) (transport.Request, error) {
	return &later{work: func() { s.Space.Copy(dst, src) }}, nil
}

func sumOp(t *testing.T) Op {
	op, err := HostOp(transport.Sum, transport.Int64)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

// eachWorld runs f for numbers of ranks and lengths that take all algorithms.
func eachWorld(t *testing.T, f func(t *testing.T, n, length int)) {
	for _, n := range []int{1, 2, 3, 4, 7, 8} {
		for _, length := range []int{0, 1, 5, 1000, 20000, 150001} {
			if length > 20000 && n > 3 {
				continue
			}
			t.Run(fmt.Sprintf("%d ranks, %d elements", n, length), func(t *testing.T) { f(t, n, length) })
		}
	}
}

// data is what the ranks begin with.
func data(n, length int) [][]int64 {
	r := rand.New(rand.NewPCG(uint64(n), uint64(length)))
	all := make([][]int64, n)
	for i := range all {
		all[i] = make([]int64, length)
		for j := range all[i] {
			all[i][j] = r.Int64N(1 << 40)
		}
	}
	return all
}

func zeros(n, length int) [][]int64 {
	all := make([][]int64, n)
	for i := range all {
		all[i] = make([]int64, length)
	}
	return all
}

func total(all [][]int64, upTo int) []int64 {
	s := make([]int64, len(all[0]))
	for _, one := range all[:upTo] {
		for j, v := range one {
			s[j] += v
		}
	}
	return s
}

func same(t *testing.T, what string, rank int, got, want []int64) {
	t.Helper()
	if !slices.Equal(got, want) {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Fatalf("%s: rank %d differs from element %d on", what, rank, at)
	}
}

func clone(all [][]int64) [][]int64 {
	c := make([][]int64, len(all))
	for i := range all {
		c[i] = slices.Clone(all[i])
	}
	return c
}

func TestBarrier(t *testing.T) {
	for n := 1; n < 10; n++ {
		together(t, n, Barrier)
	}
}

func TestNobodyLeavesABarrierBeforeAllHaveCome(t *testing.T) {
	for n := 2; n < 10; n++ {
		net := &mail{queues: map[[3]int][]*letter{}, wanted: map[[3]int][]*letter{}}
		var all []*Request
		for i := range n {
			for range 10 * n {
				for _, r := range all {
					if _, over, _ := r.Test(); over {
						t.Fatalf("%d ranks: one has left when %d had come", n, i)
					}
				}
			}
			r, err := Barrier(Env{Peers: mailbox{net, i, n}, Space: Host, Tag: 1})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
	}
}

func TestBcast(t *testing.T) {
	eachWorld(t, func(t *testing.T, n, length int) {
		root := n / 2
		b := data(n, length)
		want := slices.Clone(b[root])
		together(t, n, func(env Env) (*Request, error) { return Bcast(env, ints(b[env.Peers.Rank()]), root) })
		for i := range b {
			same(t, "Bcast", i, b[i], want)
		}
	})
}

func TestReduceAndAllreduce(t *testing.T) {
	eachWorld(t, func(t *testing.T, n, length int) {
		in, out, op, root := data(n, length), zeros(n, length), sumOp(t), n-1
		want, kept := total(in, n), clone(in)
		together(t, n, func(env Env) (*Request, error) {
			i := env.Peers.Rank()
			return Reduce(env, ints(in[i]), ints(out[i]), op, root)
		})
		same(t, "Reduce", root, out[root], want)
		together(t, n, func(env Env) (*Request, error) {
			i := env.Peers.Rank()
			return Allreduce(env, ints(in[i]), ints(out[i]), op)
		})
		for i := range out {
			same(t, "Allreduce", i, out[i], want)
			same(t, "what was given to Allreduce", i, in[i], kept[i])
		}
		for i, op := range []Op{op, sumLater} {
			in := clone(in)
			together(t, n, func(env Env) (*Request, error) {
				if i == 1 {
					env.Space = slowSpace{env.Space}
				}
				return Allreduce(env, inPlace, ints(in[env.Peers.Rank()]), op)
			})
			for i := range in {
				same(t, "Allreduce in place", i, in[i], want)
			}
		}
		together(t, n, func(env Env) (*Request, error) {
			if i := env.Peers.Rank(); i != root {
				return Reduce(env, ints(in[i]), Memory{}, op, root)
			}
			return Reduce(env, inPlace, ints(in[root]), op, root)
		})
		same(t, "Reduce in place", root, in[root], want)
	})
}

func TestScans(t *testing.T) {
	eachWorld(t, func(t *testing.T, n, length int) {
		in, op := data(n, length), sumOp(t)
		for _, place := range []bool{false, true} {
			for _, exclusive := range []bool{false, true} {
				out := zeros(n, length)
				if place {
					out = clone(in)
				}
				first := slices.Clone(out[0])
				together(t, n, func(env Env) (*Request, error) {
					i := env.Peers.Rank()
					send := ints(in[i])
					if place {
						send = inPlace
					}
					if exclusive {
						return Exscan(env, send, ints(out[i]), op)
					}
					return Scan(env, send, ints(out[i]), op)
				})
				for i := range out {
					switch {
					case exclusive && i == 0:
						same(t, "Exscan", i, out[i], first)
					case exclusive:
						same(t, "Exscan", i, out[i], total(in, i))
					default:
						same(t, "Scan", i, out[i], total(in, i+1))
					}
				}
			}
		}
	})
}

func TestWhatDoesNotCommuteIsCombinedInTheOrderOfRanks(t *testing.T) {
	eachWorld(t, func(t *testing.T, n, length int) {
		in, out := make([][]affine, n), make([][]affine, n)
		r := rand.New(rand.NewPCG(7, uint64(n)))
		for i := range in {
			in[i], out[i] = make([]affine, length), make([]affine, length)
			for j := range in[i] {
				in[i][j] = affine{r.Int32N(prime), r.Int32N(prime)}
			}
		}
		upTo := func(j, n int) affine {
			f := in[0][j]
			for i := 1; i < n; i++ {
				f = compose(f, in[i][j])
			}
			return f
		}
		m := func(s []affine) Memory { return memoryOf(s, transport.Int32Int) }
		check := func(what string, from, to int, ranks func(i int) int) {
			t.Helper()
			for i := from; i < to; i++ {
				for j := 0; j < length; j += 1 + length/50 {
					if want := upTo(j, ranks(i)); out[i][j] != want {
						t.Fatalf("%s: rank %d has %v at %d, not %v", what, i, out[i][j], j, want)
					}
				}
			}
		}
		all := func(int) int { return n }
		for root := range n {
			together(t, n, func(env Env) (*Request, error) {
				i := env.Peers.Rank()
				return Reduce(env, m(in[i]), m(out[i]), composeOp, root)
			})
			check("Reduce", root, root+1, all)
		}
		together(t, n, func(env Env) (*Request, error) {
			i := env.Peers.Rank()
			return Allreduce(env, m(in[i]), m(out[i]), composeOp)
		})
		check("Allreduce", 0, n, all)
		together(t, n, func(env Env) (*Request, error) {
			i := env.Peers.Rank()
			return Scan(env, m(in[i]), m(out[i]), composeOp)
		})
		check("Scan", 0, n, func(i int) int { return i + 1 })
		together(t, n, func(env Env) (*Request, error) {
			i := env.Peers.Rank()
			return Exscan(env, m(in[i]), m(out[i]), composeOp)
		})
		check("Exscan", 1, n, func(i int) int { return i })
		counts := make([]int, n)
		for i := range counts {
			counts[i] = blocks(length, n, 1)[i+1] - blocks(length, n, 1)[i]
		}
		together(t, n, func(env Env) (*Request, error) {
			i := env.Peers.Rank()
			return ReduceScatter(env, m(in[i]), m(out[i]), counts, composeOp)
		})
		at := 0
		for i := range n {
			for j := range counts[i] {
				if want := upTo(at+j, n); out[i][j] != want {
					t.Fatalf("ReduceScatter: rank %d has %v at %d, not %v", i, out[i][j], j, want)
				}
			}
			at += counts[i]
		}
	})
}

func TestReduceScatter(t *testing.T) {
	eachWorld(t, func(t *testing.T, n, length int) {
		for _, place := range []bool{false, true} {
			in, op := data(n, length), sumOp(t)
			want := total(in, n)
			counts, at := make([]int, n), 0
			for i := range counts { // the last has the most, rank 1 none
				if counts[i] = length / (2 * n) * (i % 2); i == 0 {
					counts[i] = length / (n + 1)
				}
			}
			for _, c := range counts[:n-1] {
				at += c
			}
			counts[n-1] = length - at
			out := zeros(n, length)
			together(t, n, func(env Env) (*Request, error) {
				i := env.Peers.Rank()
				if place {
					return ReduceScatter(env, inPlace, ints(in[i]), counts, op)
				}
				return ReduceScatter(env, ints(in[i]), ints(out[i]), counts, op)
			})
			if place {
				out = in
			}
			at = 0
			for i := range out {
				same(t, "ReduceScatter", i, out[i][:counts[i]], want[at:at+counts[i]])
				at += counts[i]
			}
		}
	})
}

func TestGatherAndScatter(t *testing.T) {
	eachWorld(t, func(t *testing.T, n, length int) {
		root := n / 2
		in := data(n, length)
		all := slices.Concat(in...)
		got := make([]int64, n*length)
		for _, place := range []bool{false, true} {
			copy(got[root*length:], in[root])
			together(t, n, func(env Env) (*Request, error) {
				i := env.Peers.Rank()
				if place && i == root {
					return Gather(env, inPlace, perRank(got, n), nil, nil, root)
				}
				return Gather(env, ints(in[i]), perRank(got, n), nil, nil, root)
			})
			same(t, "Gather", root, got, all)
			clear(got)
			out := zeros(n, length)
			together(t, n, func(env Env) (*Request, error) {
				i := env.Peers.Rank()
				if place && i == root {
					return Scatter(env, perRank(all, n), nil, nil, inPlace, root)
				}
				return Scatter(env, perRank(all, n), nil, nil, ints(out[i]), root)
			})
			for i := range out {
				if !place || i != root {
					same(t, "Scatter", i, out[i], in[i])
				}
			}
			for i := range out {
				clear(out[i])
				out[i] = make([]int64, n*length)
				if place {
					copy(out[i][i*length:], in[i])
				}
			}
			together(t, n, func(env Env) (*Request, error) {
				i := env.Peers.Rank()
				if place {
					return Allgather(env, inPlace, perRank(out[i], n), nil, nil)
				}
				return Allgather(env, ints(in[i]), perRank(out[i], n), nil, nil)
			})
			for i := range out {
				same(t, "Allgather", i, out[i], all)
			}
		}
	})
}

// ragged is parts of different lengths, back to front and with gaps.
func ragged(n, length int) (counts, displs []int, size int) {
	counts, displs = make([]int, n), make([]int, n)
	for i := n - 1; i >= 0; i-- {
		counts[i] = length * i / n
		displs[i] = size + 1
		size += counts[i] + 1
	}
	return counts, displs, size
}

func TestRaggedParts(t *testing.T) {
	eachWorld(t, func(t *testing.T, n, length int) {
		in := data(n, length)
		counts, displs, size := ragged(n, length)
		want := make([]int64, size)
		for i := range n {
			copy(want[displs[i]:], in[i][:counts[i]])
		}
		got := make([]int64, size)
		together(t, n, func(env Env) (*Request, error) {
			i := env.Peers.Rank()
			return Gather(env, ints(in[i][:counts[i]]), ints(got), counts, displs, 0)
		})
		same(t, "Gatherv", 0, got, want)
		out := zeros(n, size)
		together(t, n, func(env Env) (*Request, error) {
			i := env.Peers.Rank()
			return Scatter(env, ints(want), counts, displs, ints(out[i][:counts[i]]), 0)
		})
		for i := range out {
			same(t, "Scatterv", i, out[i][:counts[i]], in[i][:counts[i]])
		}
		out = zeros(n, size)
		together(t, n, func(env Env) (*Request, error) {
			i := env.Peers.Rank()
			return Allgather(env, ints(in[i][:counts[i]]), ints(out[i]), counts, displs)
		})
		for i := range out {
			same(t, "Allgatherv", i, out[i], want)
		}
	})
}

func TestAlltoall(t *testing.T) {
	eachWorld(t, func(t *testing.T, n, length int) {
		in, out, want := data(n, n*length), zeros(n, n*length), zeros(n, n*length)
		for i := range want {
			for j := range n {
				copy(want[i][j*length:(j+1)*length], in[j][i*length:])
			}
		}
		together(t, n, func(env Env) (*Request, error) {
			i := env.Peers.Rank()
			return Alltoall(env, perRank(in[i], n), nil, nil, perRank(out[i], n), nil, nil)
		})
		for i := range out {
			same(t, "Alltoall", i, out[i], want[i])
		}
		together(t, n, func(env Env) (*Request, error) {
			return Alltoall(env, inPlace, nil, nil, perRank(in[env.Peers.Rank()], n), nil, nil)
		})
		for i := range in {
			same(t, "Alltoall in place", i, in[i], want[i])
		}
	})
}

func TestAlltoallv(t *testing.T) {
	eachWorld(t, func(t *testing.T, n, length int) {
		// Rank i sends rank j so many elements.
		count := func(i, j int) int { return (length*(i+2*j))%(length+1) + i }
		type side struct {
			counts, displs []int
			data           []int64
		}
		lay := func(count func(j int) int) (s side) {
			size := 0
			for j := range n {
				s.counts, s.displs = append(s.counts, count(j)), append(s.displs, size)
				size += count(j)
			}
			s.data = make([]int64, size)
			return s
		}
		from, to := make([]side, n), make([]side, n)
		for i := range n {
			from[i] = lay(func(j int) int { return count(i, j) })
			to[i] = lay(func(j int) int { return count(j, i) })
			for j := range n {
				for k := range from[i].counts[j] {
					from[i].data[from[i].displs[j]+k] = int64(i)<<40 | int64(j)<<32 | int64(k)
				}
			}
		}
		together(t, n, func(env Env) (*Request, error) {
			f, o := from[env.Peers.Rank()], to[env.Peers.Rank()]
			return Alltoall(env, ints(f.data), f.counts, f.displs, ints(o.data), o.counts, o.displs)
		})
		for i := range n {
			for j := range n {
				for k := range to[i].counts[j] {
					if got, want := to[i].data[to[i].displs[j]+k], int64(j)<<40|int64(i)<<32|int64(k); got != want {
						t.Fatalf("rank %d has %#x from rank %d at %d, not %#x", i, got, j, k, want)
					}
				}
			}
		}
	})
}

func TestAFailedCollectiveGivesItsMemoryBack(t *testing.T) {
	net := &mail{queues: map[[3]int][]*letter{}, wanted: map[[3]int][]*letter{}}
	freed := 0
	env := Env{Peers: mailbox{net, 0, 2}, Space: counting{Host, &freed}, Tag: 1}
	b := make([]int64, 4)
	r, err := Allreduce(env, inPlace, ints(b), sumOp(t))
	if err != nil {
		t.Fatal(err)
	}
	lost := fmt.Errorf("rank 1 is lost")
	r.Fail(lost)
	if _, over, err := r.Test(); !over || err != lost {
		t.Fatalf("over %v, error %v", over, err)
	}
	if freed != 1 {
		t.Fatalf("%d of 1 allocations are free", freed)
	}
	runtime.KeepAlive(b)
}

type counting struct {
	Space
	freed *int
}

func (c counting) Alloc(n int, t transport.Type) (Memory, func(), error) {
	m, _, err := c.Space.Alloc(n, t)
	return m, func() { *c.freed++ }, err
}
