package mpitest

import (
	"fmt"

	"gocuda/cudaapi/mpi"
)

// operatorCases: every operation on every type that it takes, in all five
// reductions, against a fold in the order of ranks.
func operatorCases() []Case {
	var list []Case
	list = append(list, integerCases[int8]("int8")...)
	list = append(list, integerCases[int16]("int16")...)
	list = append(list, integerCases[int32]("int32")...)
	list = append(list, integerCases[int64]("int64")...)
	list = append(list, integerCases[int]("int")...)
	list = append(list, integerCases[uint8]("uint8")...)
	list = append(list, integerCases[uint16]("uint16")...)
	list = append(list, integerCases[uint32]("uint32")...)
	list = append(list, integerCases[uint64]("uint64")...)
	list = append(list, orderedCases[float32]("float32")...)
	list = append(list, orderedCases[float64]("float64")...)
	list = append(list, orderedCases[celsius]("named")...)
	list = append(list, fieldCases[complex64]("complex64", func(r, i int) complex64 { return complex(float32(r%3), float32(i%2)) })...)
	list = append(list, fieldCases[complex128]("complex128", func(r, i int) complex128 { return complex(float64(r%3), float64(i%2)) })...)
	odd := func(r, i int) bool { return (r+i)%2 == 1 }
	list = append(list,
		operatorCase("bool", mpi.LAnd, func(r, i int) bool { return r != i%4 }, func(a, b bool) bool { return a && b }),
		operatorCase("bool", mpi.LOr, func(r, i int) bool { return r == i%4 }, func(a, b bool) bool { return a || b }),
		operatorCase("bool", mpi.LXor, odd, func(a, b bool) bool { return a != b }),
		placeCase("float32", func(v int, at int32) mpi.Float32Int { return mpi.Float32Int{Value: float32(v), Index: at} }),
		placeCase("float64", func(v int, at int32) mpi.Float64Int { return mpi.Float64Int{Value: float64(v), Index: at} }),
		placeCase("int32", func(v int, at int32) mpi.Int32Int { return mpi.Int32Int{Value: int32(v), Index: at} }),
		placeCase("int64", func(v int, at int32) mpi.Int64Int { return mpi.Int64Int{Value: int64(v), Index: at} }),
		placeCase("struct", func(v int, at int32) struct {
			Height float64
			Rank   int32
		} {
			return struct {
				Height float64
				Rank   int32
			}{float64(v), at}
		}),
	)
	return list
}

type integers interface {
	int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64
}

type ordered interface {
	integers | float32 | float64 | celsius
}

func truth[E integers](b bool) E {
	if b {
		return 1
	}
	return 0
}

func integerCases[E integers](name string) []Case {
	bits := func(r, i int) E { return E(r*5+i*3) % 64 }
	some := func(r, i int) E { return E((r + i) % 3) }
	return append(orderedCases[E](name),
		operatorCase(name, mpi.LAnd, some, func(a, b E) E { return truth[E](a != 0 && b != 0) }),
		operatorCase(name, mpi.LOr, some, func(a, b E) E { return truth[E](a != 0 || b != 0) }),
		operatorCase(name, mpi.LXor, some, func(a, b E) E { return truth[E]((a != 0) != (b != 0)) }),
		operatorCase(name, mpi.BAnd, bits, func(a, b E) E { return a & b }),
		operatorCase(name, mpi.BOr, bits, func(a, b E) E { return a | b }),
		operatorCase(name, mpi.BXor, bits, func(a, b E) E { return a ^ b }),
	)
}

func orderedCases[E ordered](name string) []Case {
	value := func(r, i int) E { return E((r*11 + i*7) % 13) }
	return append(fieldCases(name, func(r, i int) E { return E((r + i) % 3) }),
		operatorCase(name, mpi.Min, value, func(a, b E) E { return min(a, b) }),
		operatorCase(name, mpi.Max, value, func(a, b E) E { return max(a, b) }),
	)
}

// fieldCases are of numbers so small that no order of them rounds differently.
func fieldCases[E ordered | complex64 | complex128](name string, value func(r, i int) E) []Case {
	return []Case{
		operatorCase(name, mpi.Sum, value, func(a, b E) E { return a + b }),
		operatorCase(name, mpi.Prod, func(r, i int) E { return value(r, i) + E(1) }, func(a, b E) E { return a * b }),
	}
}

func operatorCase[E comparable](name string, op mpi.Op, value func(r, i int) E, f func(a, b E) E) Case {
	return Case{Name: fmt.Sprintf("op/%v/%s", op, name), Run: func(t *T) {
		const per = 5
		n := per * t.size
		of := func(r int) []E {
			s := make([]E, n)
			for i := range s {
				s[i] = value(r, i)
			}
			return s
		}
		fold := func(ranks int) []E {
			s := of(0)
			for r := 1; r < ranks; r++ {
				for i, v := range of(r) {
					s[i] = f(s[i], v)
				}
			}
			return s
		}
		reduceAll(t, op, per, of, fold)
	}}
}

// reduceAll compares the reductions with a fold over the first ranks.
func reduceAll[E any](t *T, op mpi.Op, per int, of func(r int) []E, fold func(ranks int) []E) {
	n := per * t.size
	out := on(t, of(t.rank))
	in := on(t, make([]E, n))
	root := t.size - 1
	t.ok(t.Reduce(out.arg(), in.arg(), op, root))
	if t.rank == root {
		in.holds("reduce", fold(t.size))
	}
	in = on(t, make([]E, n))
	t.ok(t.Allreduce(out.arg(), in.arg(), op))
	in.holds("allreduce", fold(t.size))
	in = on(t, make([]E, n))
	t.ok(t.Scan(out.arg(), in.arg(), op))
	in.holds("scan", fold(t.rank+1))
	in = on(t, make([]E, n))
	t.ok(t.Exscan(out.arg(), in.arg(), op))
	if t.rank > 0 {
		in.holds("exscan", fold(t.rank))
	}
	in = on(t, make([]E, per))
	t.ok(t.ReduceScatterBlock(out.arg(), in.arg(), op))
	in.holds("reduce_scatter_block", fold(t.size)[per*t.rank:per*(t.rank+1)])
	out.holds("what was sent", of(t.rank))
}

// placeCase: MinLoc and MaxLoc, where the lowest place wins among equals.
func placeCase[E comparable](name string, pair func(v int, at int32) E) Case {
	return Case{Name: "op/MinLoc+MaxLoc/" + name, Run: func(t *T) {
		const n = 9
		value := func(r, i int) int { return (r*7 + i*5) % 4 }
		out, in := make([]E, n), make([]E, n)
		for i := range out {
			out[i] = pair(value(t.rank, i), int32(t.rank))
		}
		for _, op := range []mpi.Op{mpi.MinLoc, mpi.MaxLoc} {
			t.ok(t.Allreduce(out, in, op))
			for i := range in {
				best := 0
				for r := 1; r < t.size; r++ {
					if op == mpi.MinLoc && value(r, i) < value(best, i) || op == mpi.MaxLoc && value(r, i) > value(best, i) {
						best = r
					}
				}
				t.same(fmt.Sprint(op, " of element ", i), in[i], pair(value(best, i), int32(best)))
			}
		}
		t.ok(t.Reduce(out, in, mpi.MaxLoc, 0))
		t.ok(t.Scan(out, in, mpi.MinLoc))
		if t.rank == 0 {
			t.same("scan at rank 0", in, out)
		}
	}}
}

// matrix is 2 by 2, of integers modulo a prime: its product does not commute.
type matrix [4]int64

func (a matrix) times(b matrix) matrix {
	const p = 1_000_003
	return matrix{(a[0]*b[0] + a[1]*b[2]) % p, (a[0]*b[1] + a[1]*b[3]) % p, (a[2]*b[0] + a[3]*b[2]) % p, (a[2]*b[1] + a[3]*b[3]) % p}
}

// span is a struct of an odd size.
type span struct {
	First, Last int16
	Long        [5]byte
}

// userOpCases: operations of the program's own, in order where they do not
// commute, on structs and arrays, on more data than one message holds.
func userOpCases() []Case {
	floats, _ := mpi.NewOp(func(in, inout []float64) {
		for i := range in {
			inout[i] = max(in[i], inout[i]) + 0.5
		}
	}, true)
	digits, _ := mpi.NewOp(func(in, inout []int64) { // writes inout after in
		for i := range in {
			shift := int64(10)
			for shift <= inout[i] {
				shift *= 10
			}
			inout[i] += in[i] * shift
		}
	}, false)
	product, _ := mpi.NewOp(func(a, b matrix) matrix { return a.times(b) }, false)
	hull, _ := mpi.NewOp(func(in, inout []span) {
		for i := range in {
			inout[i].First = min(in[i].First, inout[i].First)
			inout[i].Last = max(in[i].Last, inout[i].Last)
			for k := range inout[i].Long {
				inout[i].Long[k] ^= in[i].Long[k]
			}
		}
	}, true)
	named, _ := mpi.NewOp(func(a, b celsius) celsius { return a + b }, true)
	var list []Case
	for _, per := range []int{1, 13, 3000} {
		if per <= 13 {
			list = append(list, Case{Name: fmt.Sprintf("userOp/order/%d", per), Run: func(t *T) {
				n := per * t.size
				of := func(r int) []int64 {
					s := make([]int64, n)
					for i := range s {
						s[i] = int64(r) + 1
					}
					return s
				}
				fold := func(ranks int) []int64 {
					s := make([]int64, n)
					for i := range s {
						for r := range ranks {
							s[i] = s[i]*10 + int64(r) + 1
						}
					}
					return s
				}
				reduceAll(t, digits, per, of, fold)
			}})
		}
		list = append(list, Case{Name: fmt.Sprintf("userOp/matrices/%d", per), Run: func(t *T) {
			n := per * t.size
			of := func(r int) []matrix {
				s := make([]matrix, n)
				for i := range s {
					s[i] = matrix{int64(r + 1), int64(i%7 + 1), 3, int64(r*i%5) + 2}
				}
				return s
			}
			fold := func(ranks int) []matrix {
				s := of(0)
				for r := 1; r < ranks; r++ {
					for i, m := range of(r) {
						s[i] = s[i].times(m)
					}
				}
				return s
			}
			reduceAll(t, product, per, of, fold)
		}}, Case{Name: fmt.Sprintf("userOp/structs/%d", per), Run: func(t *T) {
			n := per * t.size
			of := func(r int) []span {
				s := make([]span, n)
				for i := range s {
					s[i] = span{int16(i%50 - r), int16(i%9 + r), [5]byte{byte(i), byte(r), 3, byte(i + r), 1}}
				}
				return s
			}
			fold := func(ranks int) []span {
				s := of(0)
				for r := 1; r < ranks; r++ {
					for i, m := range of(r) {
						s[i].First, s[i].Last = min(s[i].First, m.First), max(s[i].Last, m.Last)
						for k := range m.Long {
							s[i].Long[k] ^= m.Long[k]
						}
					}
				}
				return s
			}
			reduceAll(t, hull, per, of, fold)
		}})
	}
	return append(list,
		Case{Name: "userOp/floats", Run: func(t *T) {
			in := []float64{0}
			t.ok(t.Allreduce([]float64{float64(t.rank)}, in, floats))
			if t.size == 1 && in[0] != 0 || t.size > 1 && in[0] < float64(t.size-1)+.5 {
				t.Errorf("got %v", in)
			}
		}},
		Case{Name: "userOp/named", Run: func(t *T) {
			in := []celsius{0, 0}
			t.ok(t.Allreduce([]celsius{1, celsius(t.rank)}, in, named))
			t.same("sum", in, []celsius{celsius(t.size), celsius(t.size * (t.size - 1) / 2)})
		}},
		Case{Name: "userOp/atOnce", Run: func(t *T) {
			// Several under way at once do not take each other's messages.
			var requests []*mpi.Request
			in := make([][]int64, 8)
			for i := range in {
				in[i] = []int64{0}
				r, err := t.Iallreduce([]int64{int64((t.rank+i)%9 + 1)}, in[i], digits)
				t.ok(err)
				requests = append(requests, r)
			}
			_, err := mpi.WaitAll(requests...)
			t.ok(err)
			for i := range in {
				want := int64(0)
				for r := range t.size {
					want = want*10 + int64((r+i)%9+1)
				}
				t.same(fmt.Sprint("reduction ", i), in[i], []int64{want})
			}
		}},
		Case{Name: "userOp/errors", Run: func(t *T) {
			_, err := mpi.NewOp(3, true)
			t.is(err, mpi.ErrArg)
			_, err = mpi.NewOp(func(a, b []string) {}, true)
			t.is(err, mpi.ErrType)
			_, err = mpi.NewOp(func(a []int, b []int32) {}, true)
			t.is(err, mpi.ErrArg)
			t.is(t.Allreduce([]int32{1}, []int32{0}, digits), mpi.ErrOp)
			t.is(t.Allreduce([]point{{}}, []point{{}}, hull), mpi.ErrOp)
		}},
	)
}
