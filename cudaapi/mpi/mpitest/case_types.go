package mpitest

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
)

type (
	celsius float64
	point   struct{ X, Y, Z float64 }
	record  struct {
		ID    int32
		Flag  bool
		Score [3]float32
		At    point
	}
)

// typeCases: every type that a buffer can be of goes round the ring whole, by
// messages and by a broadcast.
func typeCases() []Case {
	numbers := func(rank, i int) int { return (rank*31 + i*7) % 101 }
	return []Case{
		typeCase("int8", func(r, i int) int8 { return int8(-numbers(r, i)) }),
		typeCase("int16", func(r, i int) int16 { return int16(-300 * numbers(r, i)) }),
		typeCase("int32", func(r, i int) int32 { return int32(-1e7 * numbers(r, i)) }),
		typeCase("int64", func(r, i int) int64 { return -1e16 * int64(numbers(r, i)) }),
		typeCase("int", func(r, i int) int { return 1e16 * numbers(r, i) }),
		typeCase("uint8", func(r, i int) uint8 { return uint8(255 - numbers(r, i)) }),
		typeCase("uint16", func(r, i int) uint16 { return uint16(65535 - numbers(r, i)) }),
		typeCase("uint32", func(r, i int) uint32 { return 1<<32 - 1 - uint32(numbers(r, i)) }),
		typeCase("uint64", func(r, i int) uint64 { return 1<<64 - 1 - uint64(numbers(r, i)) }),
		typeCase("uint", func(r, i int) uint { return 1<<63 + uint(numbers(r, i)) }),
		typeCase("uintptr", func(r, i int) uintptr { return uintptr(numbers(r, i)) }),
		typeCase("float32", func(r, i int) float32 { return float32(numbers(r, i)) / 3 }),
		typeCase("float64", func(r, i int) float64 { return float64(numbers(r, i)) / 7 }),
		typeCase("complex64", func(r, i int) complex64 { return complex(float32(r)/3, float32(i)) }),
		typeCase("complex128", func(r, i int) complex128 { return complex(float64(r), float64(i)/7) }),
		typeCase("bool", func(r, i int) bool { return (r+i)%3 == 0 }),
		typeCase("named", func(r, i int) celsius { return celsius(r) - celsius(i)/3 }),
		typeCase("array", func(r, i int) [3]int16 { return [3]int16{int16(r), int16(i), -1} }),
		typeCase("struct", func(r, i int) point { return point{float64(r), float64(i), .5} }),
		typeCase("structWithPadding", func(r, i int) record {
			return record{int32(i), r%2 == 0, [3]float32{1, float32(r), 3}, point{Y: float64(i)}}
		}),
		typeCase("pair", func(r, i int) mpi.Float64Int { return mpi.Float64Int{Value: float64(i), Index: int32(r)} }),
		{Name: "type/pointer", Run: func(t *T) {
			x, y := float64(t.rank)+.5, 0.
			_, err := t.Sendrecv(&x, t.next(), 1, &y, t.prev(), 1)
			t.ok(err)
			t.same("*float64", y, float64(t.prev())+.5)
			n := t.rank
			t.ok(t.Bcast(&n, t.size-1))
			t.same("*int", n, t.size-1)
			p := point{X: float64(t.rank)}
			t.ok(t.Bcast(&p, 0))
			t.same("*struct", p, point{})
			a := [4]int16{int16(t.rank), 1, 2, 3}
			t.ok(t.Bcast(&a, t.size-1))
			t.same("*array", a, [4]int16{int16(t.size - 1), 1, 2, 3})
		}},
		{Name: "type/string", Run: func(t *T) {
			text := fmt.Sprintf("from rank %d", t.rank)
			got := make([]byte, 100)
			st, err := t.Sendrecv(text, t.next(), 0, got, t.prev(), 0)
			t.ok(err)
			t.same("text", string(got[:st.Bytes]), fmt.Sprintf("from rank %d", t.prev()))
			var all any = "broadcast"
			if t.rank > 0 {
				all = got[:9]
			}
			t.ok(t.Bcast(all, 0))
			if t.rank > 0 {
				t.same("broadcast", string(got[:9]), "broadcast")
			}
		}},
		{Name: "type/nil", Run: func(t *T) {
			st, err := t.Sendrecv(nil, t.next(), 3, nil, t.prev(), 3)
			t.ok(err)
			t.same("status", st, mpi.Status{Source: t.prev(), Tag: 3})
		}},
		{Name: "type/hostBuffer", Run: func(t *T) {
			if runtime.GOOS != "linux" {
				return
			}
			for _, typ := range []cuda.Type{cuda.Float32, cuda.Float16, cuda.Int8} {
				a, err := cuda.AllocPageable(64, typ)
				t.ok(err)
				b, err := cuda.AllocPageable(64, typ)
				t.ok(err)
				switch typ {
				case cuda.Float32:
					v, err := a.Float32s()
					t.ok(err)
					copy(v, slices.Repeat([]float32{float32(t.rank)}, 64))
				case cuda.Float16:
					v, err := a.Uint16s()
					t.ok(err)
					copy(v, slices.Repeat([]uint16{uint16(t.rank)}, 64))
				}
				st, err := t.Sendrecv(a, t.next(), 0, b.Slice(0, 64), t.prev(), 0)
				t.ok(err)
				t.same("count", st.Count(b), 64)
				switch typ {
				case cuda.Float32:
					v, err := b.Float32s()
					t.ok(err)
					t.same("floats", v, slices.Repeat([]float32{float32(t.prev())}, 64))
				case cuda.Float16:
					v, err := b.Uint16s()
					t.ok(err)
					t.same("halves", v, slices.Repeat([]uint16{uint16(t.prev())}, 64))
				}
				t.ok(a.Free())
				_, err = t.Recv(a, 0, 0)
				t.is(err, mpi.ErrBuffer)
				t.ok(b.Free())
			}
		}},
	}
}

func typeCase[E any](name string, value func(rank, i int) E) Case {
	return Case{Name: "type/" + name, Run: func(t *T) {
		const n = 37
		of := func(rank int) []E {
			s := make([]E, n)
			for i := range s {
				s[i] = value(rank, i)
			}
			return s
		}
		out, in := on(t, of(t.rank)), on(t, make([]E, n))
		st, err := t.Sendrecv(out.arg(), t.next(), 5, in.arg(), t.prev(), 5)
		t.ok(err)
		in.holds("message", of(t.prev()))
		t.same("source", st.Source, t.prev())
		t.same("bytes", st.Bytes%n, 0)
		if want := st.Count(in.arg()); want != n && want != n*arrayLen(out.host) {
			t.Errorf("%d elements came of %d", want, n)
		}
		out.holds("what was sent", of(t.rank))
		root := t.size / 2
		t.ok(t.Bcast(out.arg(), root))
		out.holds("broadcast", of(root))
		all := on(t, make([]E, n*t.size))
		t.ok(t.Allgather(in.arg(), all.arg()))
		var want []E
		for r := range t.size {
			want = append(want, of((r+t.size-1)%t.size)...)
		}
		all.holds("gathered", want)
	}}
}

// arrayLen is how many numbers an element has that is an array.
func arrayLen(v any) int {
	if _, ok := v.([][3]int16); ok {
		return 3
	}
	return 1
}

// sizeCases: messages of every length arrive whole, and alone.
func sizeCases() []Case {
	var list []Case
	for _, n := range []int{0, 1, 2, 7, 8, 31, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 4095, 4096, 4097, 8192, 16385, 65535, 65536, 65537, 262144, 1 << 20, 5<<20 + 3} {
		list = append(list, Case{Name: fmt.Sprintf("size/%d", n), Run: func(t *T) {
			out := on(t, pattern(n, t.rank))
			const guard = 64
			in := room(t, n+guard, byte(0xee))
			st, err := t.Sendrecv(out.arg(), t.next(), 0, in.cut(0, n), t.prev(), 0)
			t.ok(err)
			t.same("status", st, mpi.Status{Source: t.prev(), Bytes: n})
			got := in.get()
			if !bytes.Equal(got[:n], pattern(n, t.prev())) {
				t.Errorf("a message of %d bytes came wrong", n)
			}
			if !bytes.Equal(got[n:], bytes.Repeat([]byte{0xee}, guard)) {
				t.Errorf("bytes after a message of %d were written", n)
			}
			// The same into more room than it needs, and by Isend and Irecv.
			r, err := t.Irecv(in.arg(), t.prev(), 1)
			t.ok(err)
			s, err := t.Isend(out.arg(), t.next(), 1)
			t.ok(err)
			sts, err := mpi.WaitAll(r, s)
			t.ok(err)
			t.same("status", sts[0], mpi.Status{Source: t.prev(), Tag: 1, Bytes: n})
			if got := in.get(); !bytes.Equal(got[:n], pattern(n, t.prev())) || !bytes.Equal(got[n:], bytes.Repeat([]byte{0xee}, guard)) {
				t.Errorf("a message of %d bytes came wrong into more room", n)
			}
		}})
	}
	return list
}

// pattern is n bytes that no other rank has.
func pattern(n, rank int) []byte {
	s := make([]byte, n)
	x := uint32(rank + 1)
	for i := range s {
		x = x*1664525 + 1013904223
		s[i] = byte(x >> 24)
	}
	return s
}
