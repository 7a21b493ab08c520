package mpitest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"gocuda/cudaapi/mpi"
)

// winCases: one-sided communication.
func winCases() []Case {
	return slices.Concat(winTypeCases(), winOpCases(), winEpochCases(), winAtomicCases(), winRequestCases(), winMemoryCases(), winMistakes())
}

// window makes a window of a buffer.
func (t *T) window(buf any, info ...mpi.Info) *mpi.Win {
	w, err := t.WinCreate(buf, info...)
	t.ok(err)
	return w
}

// must ends the case at the first error.
func (t *T) must(errs ...error) {
	for _, err := range errs {
		t.ok(err)
	}
}

// winType puts to the next rank and gets from the one before.
func winType[E any](name string, value func(rank, i int) E) Case {
	const n = 33
	return Case{Name: "win/type/" + name, Most: fewRanks, Run: func(t *T) {
		mine, none := make([]E, 2*n), make([]E, n)
		for i := range n {
			mine[n+i] = value(t.rank, i)
		}
		mem, in := on(t, mine), on(t, none)
		out := on(t, mine[n:])
		w := t.window(mem.arg())
		t.must(w.Fence(), w.Put(out.arg(), t.next(), 0), w.Get(in.arg(), t.prev(), w.Len(t.prev())/2), w.Fence(mpi.NoSucceed)) // arrays count as their numbers
		want := make([]E, 2*n)
		for i := range n {
			want[i], want[n+i] = value(t.prev(), i), value(t.rank, i)
		}
		mem.holds("what was put, and what was there", want)
		in.holds("what was read", want[:n])
		t.must(w.Free())
	}}
}

func winTypeCases() []Case {
	number := func(rank, i int) int { return 3*rank + i }
	return []Case{
		winType("int8", func(r, i int) int8 { return int8(number(r, i)) }),
		winType("int16", func(r, i int) int16 { return int16(-number(r, i)) }),
		winType("int32", func(r, i int) int32 { return int32(number(r, i)) << 20 }),
		winType("int64", func(r, i int) int64 { return int64(number(r, i)) << 40 }),
		winType("int", number),
		winType("uint8", func(r, i int) uint8 { return uint8(200 + number(r, i)) }),
		winType("uint16", func(r, i int) uint16 { return uint16(60000 + number(r, i)) }),
		winType("uint32", func(r, i int) uint32 { return uint32(4e9) + uint32(number(r, i)) }),
		winType("uint64", func(r, i int) uint64 { return 1<<63 + uint64(number(r, i)) }),
		winType("float32", func(r, i int) float32 { return float32(number(r, i)) / 4 }),
		winType("float64", func(r, i int) float64 { return float64(number(r, i)) / 8 }),
		winType("complex64", func(r, i int) complex64 { return complex(float32(r), float32(i)) }),
		winType("complex128", func(r, i int) complex128 { return complex(float64(r), float64(i)) }),
		winType("bool", func(r, i int) bool { return number(r, i)%3 == 0 }),
		winType("struct", func(r, i int) mpi.Float64Int { return mpi.Float64Int{Value: float64(i), Index: int32(r)} }),
		winType("array", func(r, i int) [3]int16 { return [3]int16{int16(r), int16(i), 7} }),
	}
}

// winOp accumulates into rank 0 from all.
func winOp[E any](name string, op mpi.Op, first E, value func(rank, i int) E, f func(a, b E) E) Case {
	const n = 21
	return Case{Name: "win/accumulate/" + name, Most: fewRanks, Run: func(t *T) {
		start := slices.Repeat([]E{first}, n)
		mem := on(t, start)
		mine, want := make([]E, n), slices.Clone(start)
		for i := range n {
			mine[i] = value(t.rank, i)
			for r := range t.size {
				want[i] = f(want[i], value(r, i))
			}
		}
		w := t.window(mem.arg())
		t.must(w.Fence(), w.Accumulate(mine, 0, 0, op), w.Fence())
		if t.rank == 0 {
			mem.holds("rank 0's memory", want)
		} else {
			mem.holds("the memory of another", start)
		}
		t.must(w.Free())
	}}
}

func winOpCases() []Case {
	number := func(r, i int) int32 { return int32(r + i + 1) }
	flag := func(r, i int) bool { return (r+i)%2 == 0 }
	bits := func(r, i int) uint16 { return uint16(1<<(r%16) | i) }
	place := func(r, i int) mpi.Float32Int { return mpi.Float32Int{Value: float32((r * i) % 3), Index: int32(r)} }
	gap := winOp("MaxLoc of float64", mpi.MaxLoc, mpi.Float64Int{Value: 0.5, Index: 99}, func(r, i int) mpi.Float64Int { return mpi.Float64Int{Value: float64(r), Index: int32(i)} },
		func(a, b mpi.Float64Int) mpi.Float64Int {
			if b.Value > a.Value {
				return b
			}
			return a
		})
	gap.Known = func(t *T) string {
		if t.library == "Open MPI" {
			return "Open MPI does not combine pairs with a gap, and the call says so"
		}
		return ""
	}
	return []Case{
		gap,
		winOp("Sum", mpi.Sum, 5, number, func(a, b int32) int32 { return a + b }),
		winOp("Sum of float32", mpi.Sum, 1, func(r, i int) float32 { return float32(r + i) }, func(a, b float32) float32 { return a + b }),
		winOp("Sum of float64", mpi.Sum, 1, func(r, i int) float64 { return float64(r * i) }, func(a, b float64) float64 { return a + b }),
		winOp("Sum of complex128", mpi.Sum, 1i, func(r, i int) complex128 { return complex(float64(r), float64(i)) }, func(a, b complex128) complex128 { return a + b }),
		winOp("Sum of uint64", mpi.Sum, 1<<60, func(r, i int) uint64 { return uint64(r + i) }, func(a, b uint64) uint64 { return a + b }),
		winOp("Prod", mpi.Prod, 1, func(r, i int) int64 { return int64(r + 2) }, func(a, b int64) int64 { return a * b }),
		winOp("Min", mpi.Min, 100, number, func(a, b int32) int32 { return min(a, b) }),
		winOp("Min of float64", mpi.Min, 0, func(r, i int) float64 { return float64(i - r - 9) }, func(a, b float64) float64 { return min(a, b) }),
		winOp("Max", mpi.Max, 3, number, func(a, b int32) int32 { return max(a, b) }),
		winOp("LAnd", mpi.LAnd, true, flag, func(a, b bool) bool { return a && b }),
		winOp("LOr", mpi.LOr, false, flag, func(a, b bool) bool { return a || b }),
		winOp("LXor", mpi.LXor, true, flag, func(a, b bool) bool { return a != b }),
		winOp("BAnd", mpi.BAnd, 0xffff, bits, func(a, b uint16) uint16 { return a & b }),
		winOp("BOr", mpi.BOr, 0x8000, bits, func(a, b uint16) uint16 { return a | b }),
		winOp("BXor", mpi.BXor, 0xff, bits, func(a, b uint16) uint16 { return a ^ b }),
		winOp("MinLoc", mpi.MinLoc, mpi.Float32Int{Value: 1, Index: 99}, place, func(a, b mpi.Float32Int) mpi.Float32Int {
			if b.Value < a.Value || b.Value == a.Value && b.Index < a.Index {
				return b
			}
			return a
		}),
		winOp("MaxLoc", mpi.MaxLoc, mpi.Float32Int{Value: 1, Index: 99}, place, func(a, b mpi.Float32Int) mpi.Float32Int {
			if b.Value > a.Value || b.Value == a.Value && b.Index < a.Index {
				return b
			}
			return a
		}),
		{Name: "win/accumulate/Replace", Run: func(t *T) {
			mem := room(t, t.size, 0.0)
			w := t.window(mem.arg())
			t.must(w.Fence())
			for r := range t.size {
				t.must(w.Accumulate(float64(t.rank+1), r, t.rank, mpi.Replace))
			}
			t.must(w.Fence())
			want := make([]float64, t.size)
			for r := range want {
				want[r] = float64(r + 1)
			}
			mem.holds("the memory", want)
			t.must(w.Free())
		}},
		{Name: "win/accumulate/in order", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			const times = 50
			mem := room(t, t.size, int32(-1))
			w := t.window(mem.arg())
			t.must(w.LockAll())
			for i := range int32(times) { // of one origin at one place: the last one stays
				t.must(w.Accumulate(i, t.next(), t.rank, mpi.Replace))
			}
			t.must(w.UnlockAll(), t.Barrier())
			want := slices.Repeat([]int32{-1}, t.size)
			want[t.prev()] = times - 1
			t.must(w.Lock(t.rank, mpi.LockShared))
			mem.holds("the memory", want)
			t.must(w.Unlock(t.rank), w.Free())
		}},
		{Name: "win/accumulate/all to all", Run: func(t *T) {
			const n, times = 5, 10
			mem := room(t, n, int64(0))
			one := slices.Repeat([]int64{1}, n)
			w := t.window(mem.arg())
			t.must(w.LockAll())
			for range times {
				for r := range t.size {
					t.must(w.Accumulate(one, r, 0, mpi.Sum))
				}
			}
			t.must(w.UnlockAll(), t.Barrier())
			t.must(w.Lock(t.rank, mpi.LockShared))
			mem.holds("the sums", slices.Repeat([]int64{int64(times * t.size)}, n))
			t.must(w.Unlock(t.rank), w.Free())
		}},
	}
}

func winEpochCases() []Case {
	// pscw lets all other ranks write to rank 0.
	pscw := func(end func(t *T, w *mpi.Win)) func(t *T) {
		return func(t *T) {
			mem := room(t, t.size, int32(0))
			w := t.window(mem.arg())
			var others []int
			for r := 1; r < t.size; r++ {
				others = append(others, r)
			}
			for round := range int32(3) {
				if t.rank == 0 {
					t.must(w.Post(others))
					end(t, w)
					want := make([]int32, t.size)
					for r := 1; r < t.size; r++ {
						want[r] = 100*round + int32(r)
					}
					mem.holds("what was written", want)
				} else {
					t.must(w.Start([]int{0}), w.Put(100*round+int32(t.rank), 0, t.rank), w.Complete())
				}
			}
			t.must(w.Free())
		}
	}
	return []Case{
		{Name: "win/fence/several", Most: fewRanks, Run: func(t *T) {
			mem := room(t, 1, t.rank)
			w := t.window(mem.arg())
			t.must(w.Fence(mpi.NoPrecede))
			for i := range 5 { // a token goes round
				t.must(w.Put(10*i+t.rank, t.next(), 0), w.Fence())
				mem.holds("the token", []int{10*i + t.prev()})
				t.must(w.Fence())
			}
			t.must(w.Fence(mpi.NoSucceed), w.Free())
		}},
		{Name: "win/fence/to itself", Most: fewRanks, Run: func(t *T) {
			mem := room(t, 4, 1.5)
			got := room(t, 2, 0.0)
			w := t.window(mem.arg())
			t.must(w.Fence(), w.Put([]float64{7, 8}, t.rank, 1), w.Fence(), w.Get(got.arg(), t.rank, 2), w.Fence())
			mem.holds("the memory", []float64{1.5, 7, 8, 1.5})
			got.holds("what was read", []float64{8, 1.5})
			t.must(w.Free())
		}},
		{Name: "win/fence/everybody to everybody", Run: func(t *T) {
			mem := room(t, t.size, -1)
			w := t.window(mem.arg())
			t.must(w.Fence())
			for r := range t.size {
				t.must(w.Put(1000*t.rank+r, r, t.rank))
			}
			t.must(w.Fence())
			want := make([]int, t.size)
			for r := range want {
				want[r] = 1000*r + t.rank
			}
			mem.holds("the memory", want)
			t.must(w.Free())
		}},
		{Name: "win/post/wait", Ranks: 2, Run: pscw(func(t *T, w *mpi.Win) { t.must(w.Wait()) })},
		{Name: "win/post/test", Ranks: 2, Run: pscw(func(t *T, w *mpi.Win) {
			for done := false; !done; {
				var err error
				done, err = w.Test()
				t.ok(err)
			}
		})},
		{Name: "win/post/ring", Ranks: 2, Run: func(t *T) {
			mem := room(t, 2, -1)
			w := t.window(mem.arg())
			for i := range 4 {
				got := room(t, 1, 0)
				t.must(w.Post([]int{t.prev()}), w.Start([]int{t.next()}), w.Put(i*100+t.rank, t.next(), i%2), w.Get(got.arg(), t.next(), 1-i%2), w.Complete(), w.Wait())
				want := -1
				if i > 0 {
					want = (i-1)*100 + t.rank
				}
				got.holds("what was put the time before", []int{want})
			}
			t.must(w.Free())
		}},
		{Name: "win/post/nobody", Most: fewRanks, Run: func(t *T) {
			w := t.window(room(t, 1, 0).arg())
			t.must(w.Post(nil), w.Start(nil), w.Complete(), w.Wait(), w.Free())
		}},
		{Name: "win/lock/exclusive", Run: func(t *T) {
			const times = 20
			mem := room(t, 2, 0)
			w := t.window(mem.arg())
			for range times { // read, add, write: nobody may come between
				got := room(t, 2, 0)
				t.must(w.Lock(0, mpi.LockExclusive), w.Get(got.arg(), 0, 0), w.Flush(0))
				v := got.get()
				t.must(w.Put([]int{v[0] + 1, v[1] - 2}, 0, 0), w.Unlock(0))
			}
			t.must(t.Barrier())
			if t.rank == 0 {
				t.must(w.Lock(0, mpi.LockShared))
				mem.holds("the counters", []int{times * t.size, -2 * times * t.size})
				t.must(w.Unlock(0))
			}
			t.must(w.Free())
		}},
		{Name: "win/lock/shared", Run: func(t *T) {
			mem := room(t, t.size, int32(0))
			w := t.window(mem.arg())
			t.must(w.Lock(0, mpi.LockShared), w.Put(int32(t.rank+1), 0, t.rank), w.Unlock(0), t.Barrier())
			got := room(t, t.size, int32(0))
			t.must(w.Lock(0, mpi.LockShared), w.Get(got.arg(), 0, 0), w.Unlock(0))
			want := make([]int32, t.size)
			for r := range want {
				want[r] = int32(r + 1)
			}
			got.holds("what was written", want)
			t.must(w.Free())
		}},
		{Name: "win/lock/two targets", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			mem := room(t, t.size, 0)
			w := t.window(mem.arg())
			a, b := min(t.rank, t.next()), max(t.rank, t.next())
			t.must(w.Lock(a, mpi.LockShared), w.Lock(b, mpi.LockShared),
				w.Put(7, b, t.rank), w.Put(8, a, t.rank), w.Unlock(b), w.Unlock(a), t.Barrier())
			want := make([]int, t.size)
			for r := range want {
				x, y := min(r, (r+1)%t.size), max(r, (r+1)%t.size)
				if t.rank == y {
					want[r] = 7
				}
				if t.rank == x {
					want[r] = 8
				}
			}
			t.must(w.Lock(t.rank, mpi.LockShared))
			mem.holds("the memory", want)
			t.must(w.Unlock(t.rank), w.Free())
		}},
		{Name: "win/lock/flush", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			mem := room(t, 64, 0)
			w := t.window(mem.arg())
			t.must(w.LockAll())
			for i := range 20 { // what was flushed is what the next reads
				got := room(t, 1, 0)
				t.must(w.Put(i+1, t.next(), t.rank), w.Flush(t.next()), w.Get(got.arg(), t.next(), t.rank), w.FlushLocal(t.next()))
				got.holds("what was put before", []int{i + 1})
			}
			t.must(w.UnlockAll(), w.Free())
		}},
		{Name: "win/lock/flush tells the target", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			mem := room(t, 1, 0)
			w := t.window(mem.arg())
			t.must(w.LockAll())
			if t.rank == 0 {
				t.must(w.Put(41, 1, 0), w.Flush(1), t.Send(nil, 1, 3))
			}
			if t.rank == 1 {
				_, err := t.Recv(nil, 0, 3)
				t.must(err, w.Sync())
				got := room(t, 1, 0)
				t.must(w.Get(got.arg(), 1, 0), w.Flush(1))
				got.holds("what rank 0 flushed", []int{41})
			}
			t.must(w.UnlockAll(), w.Free())
		}},
		{Name: "win/lock/flush all", Run: func(t *T) {
			mem := room(t, t.size, 0)
			got := make([]*vec[int], t.size)
			w := t.window(mem.arg())
			t.must(w.LockAll())
			for r := range t.size {
				t.must(w.Put(t.rank+1, r, t.rank))
			}
			t.must(w.FlushAll(), t.Barrier())
			for r := range t.size {
				got[r] = room(t, t.size, 0)
				t.must(w.Get(got[r].arg(), r, 0))
			}
			t.must(w.FlushLocalAll())
			want := make([]int, t.size)
			for r := range want {
				want[r] = r + 1
			}
			for r := range t.size {
				got[r].holds(fmt.Sprint("the memory of ", r), want)
			}
			t.must(w.UnlockAll(), w.Free())
		}},
		{Name: "win/lock/buffers again", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			mem := room(t, 8, 0)
			w := t.window(mem.arg())
			x := []int{0}
			t.must(w.Lock(t.next(), mpi.LockExclusive))
			for i := range 8 { // the buffer is the program's after FlushLocal
				x[0] = i * i
				t.must(w.Put(x, t.next(), i), w.FlushLocal(t.next()))
			}
			x[0] = -1
			t.must(w.Unlock(t.next()), t.Barrier(), w.Lock(t.rank, mpi.LockShared))
			mem.holds("the squares", []int{0, 1, 4, 9, 16, 25, 36, 49})
			t.must(w.Unlock(t.rank), w.Free())
		}},
		{Name: "win/lock/while the target computes", Ranks: 2, Most: fewRanks, Known: func(t *T) string {
			if t.library != "local" {
				return "a library may wait until the target calls it"
			}
			return ""
		}, Run: func(t *T) {
			mem := room(t, 1, 0)
			w := t.window(mem.arg())
			var began time.Time
			t.must(t.Barrier())
			if t.rank == 0 {
				began = time.Now()
				for time.Since(began) < 400*time.Millisecond {
				}
			} else {
				began = time.Now()
				t.must(w.Lock(0, mpi.LockExclusive), w.Accumulate(1, 0, 0, mpi.Sum), w.Unlock(0))
				if d := time.Since(began); d > 300*time.Millisecond {
					t.Errorf("the epoch took %v: as long as the target computes", d)
				}
			}
			t.must(t.Barrier())
			if t.rank == 0 {
				mem.holds("the sum", []int{t.size - 1})
			}
			t.must(w.Free())
		}},
		{Name: "win/lock/beside messages", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			mem := room(t, 2, 0)
			w := t.window(mem.arg())
			got := make([]int, 1<<17) // longer than what libraries buffer
			r, err := t.Irecv(got, t.prev(), 5)
			t.must(err, w.Fence(), w.Put(5, t.next(), 1))
			send, err := t.Isend(slices.Repeat([]int{t.rank + 1}, len(got)), t.next(), 5)
			t.must(err, w.Fence())
			_, err = mpi.WaitAll(r, send)
			t.ok(err)
			t.same("the message", got, slices.Repeat([]int{t.prev() + 1}, len(got)))
			mem.holds("the memory", []int{0, 5})
			t.must(w.Free())
		}},
		{Name: "win/two windows", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			a, b := room(t, 1, 0), room(t, 1, 0)
			v, w := t.window(a.arg()), t.window(b.arg())
			t.must(v.Fence(), w.Lock(t.next(), mpi.LockShared), v.Put(1, t.next(), 0), w.Put(2, t.next(), 0), w.Unlock(t.next()), v.Fence())
			t.must(t.Barrier(), w.Lock(t.rank, mpi.LockShared))
			a.holds("the first", []int{1})
			b.holds("the second", []int{2})
			t.must(w.Unlock(t.rank), w.Free(), v.Free())
		}},
		{Name: "win/of a part of the ranks", Ranks: 2, Run: func(t *T) {
			half, err := t.Split(t.rank%2, -t.rank)
			t.ok(err)
			mem := room(t, half.Size(), -1)
			w, err := half.WinCreate(mem.arg())
			t.must(err, w.Fence())
			for r := range half.Size() {
				t.must(w.Put(t.rank, r, half.Rank()))
			}
			t.must(w.Fence())
			want := make([]int, half.Size())
			for r := range want { // the highest rank comes first
				want[r] = 2*(half.Size()-1-r) + t.rank%2
			}
			mem.holds("the memory", want)
			t.must(w.Free(), half.Free())
		}},
		{Name: "win/interrupted", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			w := t.window(room(t, 1, 0).arg())
			if t.rank == 0 {
				stop := make(chan struct{})
				mpi.SetInterrupt(stop)
				time.AfterFunc(30*time.Millisecond, func() { close(stop) })
				err := w.Fence()
				mpi.SetInterrupt(nil)
				if !errors.Is(err, mpi.ErrInterrupted) {
					t.Errorf("the fence ended with %v", err)
				}
				for r := 1; r < t.size; r++ {
					t.ok(t.Send(nil, r, 9))
				}
				t.must(t.Barrier()) // after the others' fences: this rank's goes on in the background
				time.Sleep(20 * time.Millisecond)
			} else {
				_, err := t.Recv(nil, 0, 9)
				t.must(err, w.Fence(), t.Barrier())
			}
			t.must(w.Fence(), w.Free())
		}},
		{Name: "win/interrupted lock", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			mem := room(t, 1, 0)
			w := t.window(mem.arg())
			last := t.size - 1
			if t.rank == last { // holds it when rank 0 asks, and until that has been interrupted
				t.must(w.Lock(last, mpi.LockExclusive), t.Send(nil, 0, 9))
				_, err := t.Recv(nil, 0, 9)
				t.must(err, w.Unlock(last))
			}
			if t.rank == 0 {
				_, err := t.Recv(nil, last, 9)
				t.must(err)
				stop := make(chan struct{})
				mpi.SetInterrupt(stop)
				time.AfterFunc(30*time.Millisecond, func() { close(stop) })
				err = w.Lock(last, mpi.LockExclusive)
				mpi.SetInterrupt(nil)
				t.must(t.Send(nil, last, 9))
				switch { // a library may wait for the lock only when something is done under it
				case err == nil:
					t.must(w.Unlock(last))
				case !errors.Is(err, mpi.ErrInterrupted):
					t.Errorf("the lock ended with %v", err)
				case !errors.Is(w.Unlock(last), mpi.ErrRMASync):
					t.Errorf("what was interrupted is held")
				}
			}
			// What was interrupted gives its lock back when it comes: all get it, one by one.
			t.must(t.Barrier())
			t.must(w.Lock(last, mpi.LockExclusive), w.Accumulate(room(t, 1, 1).arg(), last, 0, mpi.Sum), w.Unlock(last), t.Barrier())
			if t.rank == last {
				t.must(w.Lock(last, mpi.LockShared))
				mem.holds("the counter", []int{t.size})
				t.must(w.Unlock(last))
			}
			t.must(w.Free())
		}},
	}
}

func winAtomicCases() []Case {
	compared := func(name string, run func(t *T)) Case {
		return Case{Name: "win/compare/" + name, Most: fewRanks, Run: run}
	}
	return []Case{
		{Name: "win/fetch/tickets", Run: func(t *T) {
			const each = 10
			mem := room(t, 1, int64(0))
			w := t.window(mem.arg())
			got := make([]int64, each)
			t.must(w.LockAll())
			for i := range got {
				t.must(w.FetchAndOp(int64(1), &got[i], 0, 0, mpi.Sum), w.Flush(0))
			}
			t.must(w.UnlockAll())
			all := make([]int64, each*t.size)
			t.must(t.Allgather(got, all))
			slices.Sort(all)
			for i, v := range all { // nobody's twice
				if v != int64(i) {
					t.Errorf("ticket %d is %d", i, v)
					break
				}
			}
			t.must(w.Free())
		}},
		{Name: "win/fetch/NoOp", Most: fewRanks, Run: func(t *T) {
			mem := room(t, 3, 10.5+float64(t.rank))
			w := t.window(mem.arg())
			var got float64
			t.must(w.Lock(t.next(), mpi.LockShared), w.FetchAndOp(nil, &got, t.next(), 2, mpi.NoOp), w.Unlock(t.next()))
			t.same("what was read", got, 10.5+float64(t.next()))
			t.must(w.Free())
		}},
		{Name: "win/fetch/Replace", Most: fewRanks, Run: func(t *T) {
			mem := room(t, 1, int32(t.rank))
			w := t.window(mem.arg())
			var got int32
			t.must(w.Fence(), w.FetchAndOp(int32(70+t.rank), &got, t.next(), 0, mpi.Replace), w.Fence())
			t.same("what was there", got, int32(t.next()))
			mem.holds("what is there", []int32{int32(70 + t.prev())})
			t.must(w.Free())
		}},
		{Name: "win/fetch/Max of float32", Most: fewRanks, Run: func(t *T) {
			mem := room(t, 1, float32(0.5))
			w := t.window(mem.arg())
			var got float32
			t.must(w.Fence(), w.FetchAndOp(float32(t.rank), &got, t.next(), 0, mpi.Max), w.Fence())
			t.same("what was there", got, float32(0.5))
			mem.holds("the greater", []float32{max(0.5, float32(t.prev()))})
			t.must(w.Free())
		}},
		{Name: "win/get accumulate/Sum", Most: fewRanks, Run: func(t *T) {
			const n = 300
			mem := on(t, part(t.rank, n))
			old := room(t, n, int32(0))
			w := t.window(mem.arg())
			t.must(w.Fence(), w.GetAccumulate(part(t.rank+10, n), old.arg(), t.next(), 0, mpi.Sum), w.Fence())
			old.holds("what was there", part(t.next(), n))
			want := part(t.rank, n)
			for i, v := range part(t.prev()+10, n) {
				want[i] += v
			}
			mem.holds("the sums", want)
			t.must(w.Free())
		}},
		{Name: "win/get accumulate/NoOp", Most: fewRanks, Run: func(t *T) {
			const n = 100
			mem := on(t, part(t.rank, n))
			old := room(t, n-10, int32(0))
			w := t.window(mem.arg())
			t.must(w.Fence(), w.GetAccumulate(nil, old.arg(), t.next(), 10, mpi.NoOp), w.Fence())
			old.holds("what is there", part(t.next(), n)[10:])
			mem.holds("the memory", part(t.rank, n))
			t.must(w.Free())
		}},
		{Name: "win/get accumulate/each once", Run: func(t *T) {
			const n, times = 4, 8
			mem := room(t, n, 0)
			w := t.window(mem.arg())
			t.must(w.LockAll())
			sum := 0
			for range times { // each element is read and changed at once
				old := make([]int, n)
				t.must(w.GetAccumulate([]int{1, 1, 1, 1}, old, 0, 0, mpi.Sum), w.Flush(0))
				for _, v := range old {
					sum += v
				}
			}
			t.must(w.UnlockAll())
			total := 0
			t.must(t.Allreduce(sum, &total, mpi.Sum))
			all := times * t.size
			t.same("the sum of all that was there", total, n*all*(all-1)/2)
			t.must(w.Free())
		}},
		compared("int64", func(t *T) {
			mem := room(t, 2, int64(5))
			w := t.window(mem.arg())
			var yes, no int64
			t.must(w.Fence(), w.CompareAndSwap(int64(100+t.rank), int64(5), &yes, t.next(), 0), w.CompareAndSwap(int64(1), int64(6), &no, t.next(), 1), w.Fence())
			t.same("what was there", []int64{yes, no}, []int64{5, 5})
			mem.holds("the memory", []int64{int64(100 + t.prev()), 5})
			t.must(w.Free())
		}),
		compared("int32", func(t *T) {
			mem := room(t, 1, int32(t.rank))
			w := t.window(mem.arg())
			var old int32
			t.must(w.Fence(), w.CompareAndSwap(int32(-1), int32(t.next()), &old, t.next(), 0), w.Fence())
			t.same("what was there", old, int32(t.next()))
			mem.holds("the memory", []int32{-1})
			t.must(w.Free())
		}),
		compared("bool", func(t *T) {
			mem := room(t, 1, false)
			w := t.window(mem.arg())
			old := true
			t.must(w.Fence(), w.CompareAndSwap(true, false, &old, t.next(), 0), w.Fence())
			t.same("what was there", old, false)
			mem.holds("the memory", []bool{true})
			t.must(w.Free())
		}),
		{Name: "win/compare/one wins", Run: func(t *T) {
			mem := room(t, 1, -1)
			w := t.window(mem.arg())
			old := 0
			t.must(w.LockAll(), w.CompareAndSwap(t.rank, -1, &old, 0, 0), w.UnlockAll(), t.Barrier())
			won, winners := 0, 0
			if old == -1 {
				won = 1
			}
			t.must(t.Allreduce(won, &winners, mpi.Sum))
			t.same("winners", winners, 1)
			t.must(w.Free())
		}},
		{Name: "win/compare/a lock by hand", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			const times = 5
			mem := room(t, 2, 0)
			w := t.window(mem.arg())
			t.must(w.LockAll())
			for range times {
				for old := 1; old != 0; {
					t.must(w.CompareAndSwap(1, 0, &old, 0, 0), w.Flush(0))
				}
				got := []int{0}
				t.must(w.Get(got, 0, 1), w.Flush(0), w.Put(got[0]+1, 0, 1), w.Flush(0))
				t.must(w.Accumulate(0, 0, 0, mpi.Replace), w.Flush(0))
			}
			t.must(w.UnlockAll(), t.Barrier())
			got := []int{0}
			t.must(w.Lock(0, mpi.LockShared), w.Get(got, 0, 1), w.Unlock(0))
			t.same("the counter", got[0], times*t.size)
			t.must(w.Free())
		}},
		{Name: "win/goroutines", Most: fewRanks, Run: func(t *T) {
			const each, goroutines = 8, 4
			mem := room(t, 1, int64(0))
			w := t.window(mem.arg())
			t.must(w.LockAll())
			var all sync.WaitGroup
			errs := make(chan error, goroutines*each)
			for range goroutines {
				all.Go(func() {
					for range each {
						errs <- w.Accumulate(int64(1), t.next(), 0, mpi.Sum)
					}
				})
			}
			all.Wait()
			close(errs)
			for err := range errs {
				t.ok(err)
			}
			t.must(w.UnlockAll(), t.Barrier(), w.Lock(t.rank, mpi.LockShared))
			mem.holds("the sum", []int64{each * goroutines})
			t.must(w.Unlock(t.rank), w.Free())
		}},
	}
}

func winRequestCases() []Case {
	one := func(name string, run func(t *T, w *mpi.Win, mem *vec[int32])) Case {
		return Case{Name: "win/request/" + name, Most: fewRanks, Run: func(t *T) {
			mem := on(t, part(t.rank, 50))
			w := t.window(mem.arg())
			t.must(w.LockAll())
			run(t, w, mem)
			t.must(w.UnlockAll(), w.Free())
		}}
	}
	return []Case{
		one("Rput", func(t *T, w *mpi.Win, mem *vec[int32]) {
			x := []int32{1, 2, 3}
			t.must(t.Barrier())
			r, err := w.Rput(x, t.next(), 7)
			t.ok(err)
			_, err = r.Wait()
			t.ok(err)
			clear(x) // is the program's again
			t.must(w.Flush(t.next()), t.Barrier())
			got := room(t, 5, int32(0))
			t.must(w.Get(got.arg(), t.rank, 6), w.Flush(t.rank))
			mine := part(t.rank, 50)
			got.holds("the memory", []int32{mine[6], 1, 2, 3, mine[10]})
		}),
		one("Rget", func(t *T, w *mpi.Win, mem *vec[int32]) {
			got := room(t, 20, int32(0))
			r, err := w.Rget(got.arg(), t.next(), 30)
			t.ok(err)
			_, err = r.Wait()
			t.ok(err)
			got.holds("what was read", part(t.next(), 50)[30:])
		}),
		one("Raccumulate", func(t *T, w *mpi.Win, mem *vec[int32]) {
			r, err := w.Raccumulate(int32(5), t.next(), 49, mpi.Sum)
			t.ok(err)
			_, err = r.Wait()
			t.must(err, w.FlushAll(), t.Barrier())
			got := []int32{0}
			t.must(w.Get(got, t.rank, 49), w.Flush(t.rank))
			t.same("the sum", got[0], part(t.rank, 50)[49]+5)
		}),
		one("RgetAccumulate", func(t *T, w *mpi.Win, mem *vec[int32]) {
			old := make([]int32, 2)
			r, err := w.RgetAccumulate([]int32{1, 1}, old, t.next(), 3, mpi.Sum)
			t.ok(err)
			for done := false; !done; {
				_, done, err = r.Test()
				t.ok(err)
			}
			t.same("what was there", old, part(t.next(), 50)[3:5])
		}),
		one("many", func(t *T, w *mpi.Win, mem *vec[int32]) {
			var all []*mpi.Request
			got := make([]int32, 50)
			for i := range got {
				r, err := w.Rget(got[i:i+1], t.next(), i)
				t.ok(err)
				all = append(all, r)
			}
			_, err := mpi.WaitAll(all...)
			t.ok(err)
			t.same("what was read", got, part(t.next(), 50))
		}),
	}
}

func winMemoryCases() []Case {
	return []Case{
		{Name: "win/large", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			const n = 300_001
			mem := room(t, n+2, int32(-1))
			got := room(t, n, int32(0))
			w := t.window(mem.arg())
			t.must(w.Fence(), w.Put(part(t.rank, n), t.next(), 1), w.Fence(), w.Get(got.arg(), t.prev(), 1), w.Fence())
			mem.holds("what was put", slices.Concat([]int32{-1}, part(t.prev(), n), []int32{-1}))
			got.holds("what was read", part((t.rank+2*t.size-2)%t.size, n))
			t.must(w.Free())
		}},
		{Name: "win/large accumulate", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			const n = 100_003
			mem := room(t, n, int32(1))
			w := t.window(mem.arg())
			t.must(w.Fence(), w.Accumulate(part(t.rank, n), t.next(), 0, mpi.Sum), w.Fence())
			want := part(t.prev(), n)
			for i := range want {
				want[i]++
			}
			mem.holds("the sums", want)
			t.must(w.Free())
		}},
		{Name: "win/many small", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			const n = 500
			mem := room(t, n, int32(0))
			w := t.window(mem.arg())
			mine := part(t.rank, n)
			t.must(w.Fence())
			for i := range mine {
				t.must(w.Put(mine[i:i+1], t.next(), i))
			}
			t.must(w.Fence())
			mem.holds("what was put", part(t.prev(), n))
			t.must(w.Free())
		}},
		{Name: "win/no elements", Most: fewRanks, Run: func(t *T) {
			mem := room(t, 3, 9)
			w := t.window(mem.arg())
			t.must(w.Fence(), w.Put([]int{}, t.next(), 3), w.Get(nil, t.next(), 0), w.Accumulate([]int{}, t.next(), 1, mpi.Sum), w.Fence())
			mem.holds("the memory", []int{9, 9, 9})
			t.must(w.Free())
		}},
		{Name: "win/nobody", Most: fewRanks, Run: func(t *T) {
			mem := room(t, 1, 9)
			got := []int{4}
			w := t.window(mem.arg())
			t.must(w.Fence(), w.Put(1, mpi.ProcNull, 0), w.Get(got, mpi.ProcNull, 0), w.Fence())
			mem.holds("the memory", []int{9})
			t.same("what was read of nobody", got[0], 4)
			t.must(w.Free())
		}},
		{Name: "win/other lengths", Most: fewRanks, Run: func(t *T) {
			var buf any
			mem := room(t, max(t.rank, 1), float32(0))
			if t.rank > 0 { // rank 0 has none
				buf = mem.arg()
			}
			w := t.window(buf)
			t.must(w.Fence())
			for r := 1; r < t.size; r++ {
				t.same("elements", w.Len(r), r)
				if r == t.next() {
					t.must(w.Put(slices.Repeat([]float32{float32(t.rank) + 1}, r), r, 0))
				}
			}
			t.must(w.Fence())
			t.same("elements of rank 0", w.Len(0), 0)
			if t.rank > 0 {
				mem.holds("the memory", slices.Repeat([]float32{float32(t.prev()) + 1}, t.rank))
			}
			t.must(w.Free())
		}},
		{Name: "win/other types", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			// Places count the target's elements, whatever the origin's are.
			wide, narrow := room(t, 4, int64(0)), room(t, 16, uint8(0))
			buf := narrow.arg()
			if t.rank%2 == 0 {
				buf = wide.arg()
			}
			w := t.window(buf)
			t.must(w.Fence())
			if t.rank == 0 {
				t.must(w.Put([]uint8{1, 2, 3}, 1, 13))
			}
			if t.rank == 1 {
				t.must(w.Put([]uint16{1, 0, 0, 1}, 0, 3))
			}
			t.must(w.Fence())
			if t.rank == 0 {
				wide.holds("the memory", []int64{0, 0, 0, 1<<48 + 1})
			}
			if t.rank == 1 {
				narrow.holds("the memory", []uint8{13: 1, 14: 2, 15: 3})
			}
			t.must(w.Free())
		}},
		{Name: "win/attributes", Most: fewRanks, Run: func(t *T) {
			w := t.window(room(t, 6, int16(0)).arg(), mpi.Info{"no_locks": "true"})
			t.same("the unit", w.Unit(t.next()), 2)
			t.same("the length", w.Bytes(t.next()), 12)
			t.same("elements", w.Len(t.next()), 6)
			t.same("the flavor", w.Flavor(), mpi.Created)
			t.same("hints", w.Info(), mpi.Info{"no_locks": "true"})
			if !w.Unified() {
				t.Errorf("the memory is not unified")
			}
			w.SetName("halo")
			t.same("the name", w.Name(), "halo")
			t.must(w.Fence(), w.Put(int16(3), t.next(), 5), w.Fence(), w.Free())
		}},
		{Name: "win/allocate/ring", Run: func(t *T) {
			var x []float64
			w, err := t.WinAllocate(&x, 10)
			t.ok(err)
			t.same("elements", len(x), 10)
			for i := range x {
				x[i] = float64(10*t.rank + i)
			}
			got := make([]float64, 3)
			t.must(w.Fence(), w.Get(got, t.next(), 7), w.Fence(), w.Put(-1.0, t.next(), 0), w.Fence())
			b := float64(10 * t.next())
			t.same("what was read", got, []float64{b + 7, b + 8, b + 9})
			t.same("what was put", x[0], -1.0)
			t.must(w.Free())
			t.same("the slice afterwards", x == nil, true)
		}},
		{Name: "win/allocate/sums", Run: func(t *T) {
			var x []int
			w, err := t.WinAllocate(&x, 3)
			t.must(err)
			clear(x)
			t.must(t.Barrier(), w.LockAll())
			for r := range t.size {
				for range 20 {
					t.must(w.Accumulate([]int{1, 2}, r, 1, mpi.Sum))
				}
			}
			t.must(w.UnlockAll(), t.Barrier(), w.Lock(t.rank, mpi.LockShared))
			t.same("the sums", x, []int{0, 20 * t.size, 40 * t.size})
			t.must(w.Unlock(t.rank), w.Free())
		}},
		{Name: "win/allocate/named type", Most: fewRanks, Run: func(t *T) {
			type vector []mpi.Int64Int
			var x vector
			w, err := t.WinAllocate(&x, 2)
			t.ok(err)
			x[0], x[1] = mpi.Int64Int{}, mpi.Int64Int{}
			t.must(w.Fence(), w.Put(mpi.Int64Int{Value: int64(t.rank), Index: 3}, t.next(), 1), w.Fence())
			t.same("the memory", x, vector{{}, {Value: int64(t.prev()), Index: 3}})
			t.must(w.Free())
		}},
		{Name: "win/allocate/none at some", Most: fewRanks, Run: func(t *T) {
			x := []int32{1}
			w, err := t.WinAllocate(&x, t.rank%2*4)
			t.ok(err)
			t.same("elements", len(x), t.rank%2*4)
			clear(x)
			t.must(w.Fence())
			if n := w.Len(t.next()); n > 0 {
				t.must(w.Put(int32(8), t.next(), n-1))
			}
			t.must(w.Fence())
			if len(x) > 0 && t.prev() != t.rank {
				t.same("the last element", x[3], int32(8))
			}
			t.must(w.Free())
		}},
		{Name: "win/shared/slices", Run: func(t *T) {
			var x, y []int
			w, err := t.WinAllocateShared(&x, 4)
			t.must(err, w.Shared(t.next(), &y))
			t.same("elements of the next", len(y), 4)
			y[2] = 100 + t.rank // without a call
			t.must(w.Fence())
			t.same("what the one before wrote", x[2], 100+t.prev())
			t.must(w.Fence(), w.Free())
			t.same("the slices afterwards", x == nil && y == nil, true)
		}},
		{Name: "win/shared/halo", Ranks: 2, Run: func(t *T) {
			var x []float32
			w, err := t.WinAllocateShared(&x, 6)
			t.must(err, w.LockAll())
			for i := range x {
				x[i] = float32(t.rank)
			}
			t.must(w.Sync(), t.Barrier(), w.Sync())
			var left, right []float32
			t.must(w.Shared(t.prev(), &left), w.Shared(t.next(), &right))
			t.same("the edges", []float32{left[5], right[0]}, []float32{float32(t.prev()), float32(t.next())})
			t.must(t.Barrier(), w.UnlockAll(), w.Free())
		}},
		{Name: "win/shared/operations", Run: func(t *T) {
			var x []int64
			w, err := t.WinAllocateShared(&x, 2)
			t.must(err)
			clear(x)
			t.must(w.Fence(), w.Accumulate(int64(1), 0, 1, mpi.Sum), w.Fence())
			if t.rank == 0 {
				t.same("the sum", x, []int64{0, int64(t.size)})
			}
			t.must(w.Free())
		}},
		{Name: "win/shared/other lengths", Most: fewRanks, Run: func(t *T) {
			var x, y []uint8
			w, err := t.WinAllocateShared(&x, t.rank*3)
			t.ok(err)
			for i := range x {
				x[i] = uint8(10*t.rank + i)
			}
			t.must(w.Fence())
			for r := range t.size {
				t.must(w.Shared(r, &y))
				want := make([]uint8, 3*r)
				for i := range want {
					want[i] = uint8(10*r + i)
				}
				t.same(fmt.Sprint("the memory of ", r), y, want)
			}
			t.must(w.Fence(), w.Free())
		}},
		{Name: "win/dynamic/attach", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			w, err := t.WinCreateDynamic()
			t.ok(err)
			x := []int{1, 2, 3}
			at, err := w.Attach(x)
			t.ok(err)
			places := make([]int, t.size)
			t.must(t.Allgather(at, places), w.LockAll(), w.Put(40+t.rank, t.next(), places[t.next()]+8), w.UnlockAll(), t.Barrier())
			got := []int{0, 0, 0}
			t.must(w.Lock(t.rank, mpi.LockShared), w.Get(got, t.rank, at), w.Unlock(t.rank))
			t.same("the memory", got, []int{1, 40 + t.prev(), 3})
			t.must(t.Barrier(), w.Detach(x), w.Free())
		}},
		{Name: "win/dynamic/two regions", Ranks: 2, Most: fewRanks, Run: func(t *T) {
			w, err := t.WinCreateDynamic()
			t.ok(err)
			x, y := make([]int32, 4), make([]int32, 1000)
			a, err := w.Attach(x)
			t.ok(err)
			b, err := w.Attach(y)
			t.ok(err)
			places := make([][2]int, t.size)
			t.must(t.Allgather([][2]int{{a, b}}, places), w.Fence(), w.Accumulate(int32(2), t.next(), places[t.next()][0], mpi.Sum),
				w.Put(slices.Repeat([]int32{7}, 1000), t.next(), places[t.next()][1]), w.Fence())
			t.same("the first", x, []int32{2, 0, 0, 0})
			t.same("the second", y, slices.Repeat([]int32{7}, 1000))
			t.must(w.Detach(x), w.Detach(y), w.Free())
		}},
		{Name: "win/dynamic/attached again", Most: fewRanks, Run: func(t *T) {
			w, err := t.WinCreateDynamic()
			t.ok(err)
			for i := range 3 {
				x := make([]int, 5)
				at, err := w.Attach(x)
				t.must(err, w.Lock(t.rank, mpi.LockExclusive), w.Put(i+1, t.rank, at), w.Unlock(t.rank))
				t.same("the memory", x[0], i+1)
				t.must(w.Detach(x))
			}
			t.must(w.Free())
		}},
	}
}

// winMistakes are told before anything is asked of the library.
func winMistakes() []Case {
	x := []float64{1, 2}
	concat, err := mpi.NewOp(func(a, b float64) float64 { return 10*a + b }, false)
	type mistake struct {
		name  string
		class mpi.Class
		call  func(t *T, w *mpi.Win) error // outside of an epoch
	}
	fenced := func(f func(t *T, w *mpi.Win) error) func(t *T, w *mpi.Win) error {
		return func(t *T, w *mpi.Win) error {
			t.must(w.Fence())
			wrong := f(t, w)
			t.must(w.Fence(mpi.NoSucceed))
			return wrong
		}
	}
	locked := func(f func(t *T, w *mpi.Win) error) func(t *T, w *mpi.Win) error {
		return func(t *T, w *mpi.Win) error {
			t.must(w.Lock(t.rank, mpi.LockShared))
			wrong := f(t, w)
			t.must(w.Unlock(t.rank))
			return wrong
		}
	}
	var cases []Case
	for _, m := range []mistake{
		{"no epoch", mpi.ErrRMASync, func(t *T, w *mpi.Win) error { return w.Put(x, 0, 0) }},
		{"after the last fence", mpi.ErrRMASync, func(t *T, w *mpi.Win) error {
			t.must(w.Fence(), w.Fence(mpi.NoSucceed))
			return w.Get(make([]float64, 1), 0, 0)
		}},
		{"another is locked", mpi.ErrRMASync, func(t *T, w *mpi.Win) error {
			if t.size == 1 {
				return w.Accumulate(1.0, 0, 0, mpi.Sum)
			}
			return locked(func(t *T, w *mpi.Win) error { return w.Accumulate(1.0, t.next(), 0, mpi.Sum) })(t, w)
		}},
		{"no such target", mpi.ErrRank, fenced(func(t *T, w *mpi.Win) error { return w.Put(x, t.size, 0) })},
		{"beyond the end", mpi.ErrRMARange, fenced(func(t *T, w *mpi.Win) error { return w.Put(x, 0, 4) })},
		{"far beyond", mpi.ErrRMARange, fenced(func(t *T, w *mpi.Win) error { return w.Get(make([]float64, 1), 0, 1<<61) })},
		{"before the beginning", mpi.ErrRMARange, fenced(func(t *T, w *mpi.Win) error { return w.Put(x, 0, -1) })},
		{"request in a fence", mpi.ErrRMASync, fenced(func(t *T, w *mpi.Win) error { _, err := w.Rput(x, 0, 0); return err })},
		{"unlock", mpi.ErrRMASync, func(t *T, w *mpi.Win) error { return w.Unlock(0) }},
		{"unlock all", mpi.ErrRMASync, func(t *T, w *mpi.Win) error { return w.UnlockAll() }},
		{"lock twice", mpi.ErrRMASync, locked(func(t *T, w *mpi.Win) error { return w.Lock(t.rank, mpi.LockShared) })},
		{"lock no rank", mpi.ErrRank, func(t *T, w *mpi.Win) error { return w.Lock(-1, mpi.LockShared) }},
		{"flush", mpi.ErrRMASync, fenced(func(t *T, w *mpi.Win) error { return w.Flush(0) })},
		{"complete", mpi.ErrRMASync, func(t *T, w *mpi.Win) error { return w.Complete() }},
		{"wait", mpi.ErrRMASync, func(t *T, w *mpi.Win) error { return w.Wait() }},
		{"start no rank", mpi.ErrRank, func(t *T, w *mpi.Win) error { return w.Start([]int{t.size}) }},
		{"post twice the same", mpi.ErrRank, func(t *T, w *mpi.Win) error { return w.Post([]int{0, 0}) }},
		{"fence while locked", mpi.ErrRMASync, locked(func(t *T, w *mpi.Win) error { return w.Fence() })},
		{"free while locked", mpi.ErrRMASync, locked(func(t *T, w *mpi.Win) error { return w.Free() })},
		{"compare floats", mpi.ErrType, fenced(func(t *T, w *mpi.Win) error { return w.CompareAndSwap(1.0, 2.0, &x[0], 0, 0) })},
		{"compare two types", mpi.ErrType, fenced(func(t *T, w *mpi.Win) error { return w.CompareAndSwap(1, int32(2), new(int), 0, 0) })},
		{"function", mpi.ErrOp, fenced(func(t *T, w *mpi.Win) error { return errors.Join(err, w.Accumulate(x, 0, 0, concat)) })},
		{"no operation", mpi.ErrOp, fenced(func(t *T, w *mpi.Win) error { return w.Accumulate(x, 0, 0, mpi.Op{}) })},
		{"accumulate NoOp", mpi.ErrOp, fenced(func(t *T, w *mpi.Win) error { return w.Accumulate(x, 0, 0, mpi.NoOp) })},
		{"bits of floats", mpi.ErrOp, fenced(func(t *T, w *mpi.Win) error { return w.Accumulate(x, 0, 0, mpi.BXor) })},
		{"reduce by Replace", mpi.ErrOp, func(t *T, w *mpi.Win) error { return t.Allreduce(x, make([]float64, 2), mpi.Replace) }},
		{"fetch two", mpi.ErrCount, fenced(func(t *T, w *mpi.Win) error { return w.FetchAndOp(x, make([]float64, 2), 0, 0, mpi.Sum) })},
		{"fetch another type", mpi.ErrType, fenced(func(t *T, w *mpi.Win) error { return w.FetchAndOp(1.0, new(int), 0, 0, mpi.Sum) })},
		{"get into a value", mpi.ErrBuffer, fenced(func(t *T, w *mpi.Win) error { return w.Get(1.0, 0, 0) })},
		{"strided", mpi.ErrType, fenced(func(t *T, w *mpi.Win) error { return w.Put(mpi.Vector(make([]float64, 4), 2, 1, 2), 0, 0) })},
		{"shared of created", mpi.ErrRMAShared, func(t *T, w *mpi.Win) error { var y []float64; return w.Shared(0, &y) }},
		{"attach to created", mpi.ErrRMAAttach, func(t *T, w *mpi.Win) error { _, err := w.Attach(x); return err }},
		{"window of a value", mpi.ErrBuffer, func(t *T, w *mpi.Win) error { _, err := t.WinCreate(5); return err }},
		{"allocate no slice", mpi.ErrBuffer, func(t *T, w *mpi.Win) error { _, err := t.WinAllocate(x, 5); return err }},
		{"allocate texts", mpi.ErrType, func(t *T, w *mpi.Win) error { var y []string; _, err := t.WinAllocate(&y, 5); return err }},
		{"allocate negative", mpi.ErrCount, func(t *T, w *mpi.Win) error { var y []int; _, err := t.WinAllocate(&y, -5); return err }},
		{"nil window", mpi.ErrWin, func(t *T, w *mpi.Win) error { return (*mpi.Win)(nil).Put(x, 0, 0) }},
	} {
		cases = append(cases, Case{Name: "win/mistake/" + m.name, Most: 2, Run: func(t *T) {
			w := t.window([]float64{1, 2, 3, 4, 5})
			t.is(m.call(t, w), m.class)
			t.must(w.Free())
		}})
	}
	return append(cases, Case{Name: "win/mistake/freed", Most: 2, Run: func(t *T) {
		w := t.window(x)
		t.must(w.Free())
		t.is(w.Fence(), mpi.ErrWin)
		t.is(w.Free(), mpi.ErrWin)
	}}, Case{Name: "win/mistake/no locks", Most: 2, Run: func(t *T) {
		w := t.window(x, mpi.Info{"no_locks": "true"})
		t.is(w.Lock(0, mpi.LockShared), mpi.ErrRMASync)
		t.is(w.LockAll(), mpi.ErrRMASync)
		t.must(w.Free())
	}}, Case{Name: "win/mistake/detach", Most: 2, Run: func(t *T) {
		w, err := t.WinCreateDynamic()
		t.ok(err)
		t.is(w.Detach(x), mpi.ErrRMAAttach)
		y := make([]int, 4)
		_, err = w.Attach(y)
		t.ok(err)
		_, err = w.Attach(y[1:2])
		t.is(err, mpi.ErrRMAAttach)
		t.must(w.Detach(y), w.Free())
	}})
}
