package mpitest

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"gocuda/cudaapi/mpi"
)

// errorCases: mistakes are told before anything is sent, and what is found out
// by the message is an error too; the communicator can be used afterwards.
func errorCases() []Case {
	type holder struct{ P *int }
	x := []float64{1, 2, 3, 4}
	y := make([]float64, 4)
	type mistake struct {
		name  string
		class mpi.Class
		call  func(t *T) error
	}
	recv := func(buf any, source, tag int) func(t *T) error {
		return func(t *T) error { _, err := t.Recv(buf, source, tag); return err }
	}
	mistakes := []mistake{
		{"sendToNoRank", mpi.ErrRank, func(t *T) error { return t.Send(x, t.size, 0) }},
		{"sendToNegative", mpi.ErrRank, func(t *T) error { return t.Send(x, -1, 0) }}, // AnySource is no destination
		{"isendToNoRank", mpi.ErrRank, func(t *T) error { _, err := t.Isend(x, t.size+5, 0); return err }},
		{"recvFromNoRank", mpi.ErrRank, recv(x, 100000, 0)},
		{"recvFromNegative", mpi.ErrRank, recv(x, -7, 0)},
		{"probeNoRank", mpi.ErrRank, func(t *T) error { _, err := t.Probe(t.size, 0); return err }},
		{"negativeTag", mpi.ErrTag, func(t *T) error { return t.Send(x, 0, -1) }},
		{"tagTooLarge", mpi.ErrTag, func(t *T) error { return t.Send(x, 0, 1<<40) }},
		{"recvTag", mpi.ErrTag, recv(x, 0, -5)},
		{"iprobeTag", mpi.ErrTag, func(t *T) error { _, _, err := t.Iprobe(0, -9); return err }},
		{"sendNothingSendable", mpi.ErrType, func(t *T) error { return t.Send([]string{"a"}, 0, 0) }},
		{"sendPointers", mpi.ErrType, func(t *T) error { return t.Send([]*int{nil}, 0, 0) }},
		{"sendStructOfPointer", mpi.ErrType, func(t *T) error { return t.Send([]holder{{}}, 0, 0) }},
		{"sendSliceOfSlices", mpi.ErrType, func(t *T) error { return t.Send([][]int{{1}}, 0, 0) }},
		{"sendMap", mpi.ErrBuffer, func(t *T) error { return t.Send(map[int]int{}, 0, 0) }},
		{"sendFunc", mpi.ErrBuffer, func(t *T) error { return t.Send(func() {}, 0, 0) }},
		{"sendUnsafePointer", mpi.ErrBuffer, func(t *T) error { return t.Send(unsafe.Pointer(&x[0]), 0, 0) }},
		{"nilPointer", mpi.ErrBuffer, func(t *T) error { return t.Send((*float64)(nil), 0, 0) }},
		{"recvIntoString", mpi.ErrBuffer, recv("text", 0, 0)},
		{"recvIntoValue", mpi.ErrBuffer, recv(5, 0, 0)},
		{"sendInPlace", mpi.ErrBuffer, func(t *T) error { return t.Send(mpi.InPlace, 0, 0) }},
		{"recvInPlace", mpi.ErrBuffer, recv(mpi.InPlace, 0, 0)},
		{"sendrecvOverlap", mpi.ErrBuffer, func(t *T) error { _, err := t.Sendrecv(x[:3], t.next(), 0, x[2:], t.prev(), 0); return err }},
		{"allreduceOverlap", mpi.ErrBuffer, func(t *T) error { return t.Allreduce(x, x, mpi.Sum) }},
		{"allgatherOverlap", mpi.ErrBuffer, func(t *T) error {
			all := make([]int, t.size)
			return t.Allgather(all[t.rank:t.rank+1], all)
		}},
		{"bothInPlace", mpi.ErrBuffer, func(t *T) error { return t.Allreduce(mpi.InPlace, mpi.InPlace, mpi.Sum) }},
		{"bcastInPlace", mpi.ErrBuffer, func(t *T) error { return t.Bcast(mpi.InPlace, 0) }},
		{"recvSideInPlace", mpi.ErrBuffer, func(t *T) error { return t.Allreduce(x, mpi.InPlace, mpi.Sum) }},
		{"bcastRoot", mpi.ErrRoot, func(t *T) error { return t.Bcast(x, t.size) }},
		{"bcastNegativeRoot", mpi.ErrRoot, func(t *T) error { return t.Bcast(x, -1) }},
		{"reduceRoot", mpi.ErrRoot, func(t *T) error { return t.Reduce(x, y, mpi.Sum, -3) }},
		{"gatherRoot", mpi.ErrRoot, func(t *T) error { return t.Gather(x, nil, t.size) }},
		{"scatterRoot", mpi.ErrRoot, func(t *T) error { return t.Scatter(nil, x, t.size) }},
		{"noOp", mpi.ErrOp, func(t *T) error { return t.Allreduce(x, y, mpi.Op{}) }},
		{"bitsOfFloats", mpi.ErrOp, func(t *T) error { return t.Allreduce(x, y, mpi.BAnd) }},
		{"logicOfFloats", mpi.ErrOp, func(t *T) error { return t.Allreduce(x, y, mpi.LOr) }},
		{"maxOfComplex", mpi.ErrOp, func(t *T) error { return t.Allreduce([]complex64{1}, []complex64{0}, mpi.Max) }},
		{"sumOfBools", mpi.ErrOp, func(t *T) error { return t.Allreduce([]bool{true}, []bool{false}, mpi.Sum) }},
		{"sumOfStructs", mpi.ErrOp, func(t *T) error { return t.Allreduce([]point{{}}, []point{{}}, mpi.Sum) }},
		{"placeOfNumbers", mpi.ErrOp, func(t *T) error { return t.Allreduce(x, y, mpi.MaxLoc) }},
		{"placeOfOtherStructs", mpi.ErrOp, func(t *T) error { return t.Allreduce([]point{{}}, []point{{}}, mpi.MinLoc) }},
		{"reduceLengths", mpi.ErrCount, func(t *T) error { return t.Allreduce(x, y[:3], mpi.Sum) }},
		{"scanLengths", mpi.ErrCount, func(t *T) error { return t.Scan(x[:2], y, mpi.Sum) }},
		{"allgatherLength", mpi.ErrCount, func(t *T) error { return t.Allgather(x, make([]float64, 4*t.size+1)) }},
		{"alltoallLengths", mpi.ErrCount, func(t *T) error { return t.Alltoall(make([]int, t.size), make([]int, 2*t.size)) }},
		{"allreduceNil", mpi.ErrBuffer, func(t *T) error { return t.Allreduce(x, nil, mpi.Sum) }},
		{"allgathervCounts", mpi.ErrCount, func(t *T) error { return t.Allgatherv(x, y, make([]int, t.size+1), nil) }},
		{"allgathervOutside", mpi.ErrCount, func(t *T) error {
			return t.Allgatherv(x, y, append([]int{5}, make([]int, t.size-1)...), nil)
		}},
		{"alltoallvNegative", mpi.ErrCount, func(t *T) error {
			return t.Alltoallv(x, append([]int{-1}, make([]int, t.size-1)...), nil, y, make([]int, t.size), nil)
		}},
		{"alltoallvSelf", mpi.ErrCount, func(t *T) error {
			n := make([]int, t.size)
			n[t.rank] = 1
			return t.Alltoallv(x, n, nil, y, make([]int, t.size), nil)
		}},
		{"reduceScatterCounts", mpi.ErrCount, func(t *T) error { return t.ReduceScatter(x, y, make([]int, t.size), mpi.Sum) }},
		{"reduceScatterLength", mpi.ErrCount, func(t *T) error {
			return t.ReduceScatterBlock(make([]int, t.size+1), make([]int, 3), mpi.Sum)
		}},
		{"reduceTypes", mpi.ErrType, func(t *T) error { return t.Allreduce(x, make([]int64, 4), mpi.Sum) }},
		{"allgatherTypes", mpi.ErrType, func(t *T) error { return t.Allgather([]int32{1}, make([]float32, t.size)) }},
		{"splitColor", mpi.ErrArg, func(t *T) error { _, err := t.Split(-7, 0); return err }},
		{"createRank", mpi.ErrRank, func(t *T) error { _, err := t.Create([]int{t.size}); return err }},
		{"createTwice", mpi.ErrRank, func(t *T) error { _, err := t.Create([]int{0, 0}); return err }},
		{"nilComm", mpi.ErrComm, func(t *T) error { var c *mpi.Comm; return c.Barrier() }},
		{"freeWorld", mpi.ErrComm, func(t *T) error { return mpi.World().Free() }},
		{"freeSelf", mpi.ErrComm, func(t *T) error { return mpi.Self().Free() }},
	}
	var list []Case
	for _, m := range mistakes {
		list = append(list, Case{Name: "error/" + m.name, Run: func(t *T) {
			err := m.call(t)
			t.is(err, m.class)
			var e *mpi.Error
			if errors.As(err, &e) && (e.Text == "" || e.Call == "") {
				t.Errorf("the error says little: %v", err)
			}
			t.ok(t.Barrier())
		}})
	}
	for _, n := range []int{2, 100, 300, 5000, 100000} {
		list = append(list, Case{Name: fmt.Sprintf("error/truncate/%d", n), Run: func(t *T) {
			// A message that is too long: an error, and nothing behind the memory
			// is touched.
			const guard = 1000
			in := room(t, n-1+guard, byte(0xee))
			r, err := t.Irecv(in.cut(0, n-1), t.prev(), 0)
			t.ok(err)
			s, err := t.Isend(on(t, pattern(n, t.rank)).arg(), t.next(), 0)
			t.ok(err)
			_, err = r.Wait()
			t.is(err, mpi.ErrTruncate)
			_, err = s.Wait()
			t.ok(err)
			for i, b := range in.get()[n-1:] {
				if b != 0xee {
					t.Fatalf("byte %d after the memory was written", i)
				}
			}
			// The next message is received as if nothing had been.
			got := on(t, []int{0})
			_, err = t.Sendrecv(on(t, []int{t.rank}).arg(), t.next(), 0, got.arg(), t.prev(), 0)
			t.ok(err)
			got.holds("next message", []int{t.prev()})
		}})
	}
	for _, n := range []int{100, 5000, 3 << 20} {
		list = append(list, Case{Name: fmt.Sprintf("error/truncateMuch/%d", n), Run: func(t *T) {
			// Into much less memory than the message's, posted before and after it.
			for _, posted := range []bool{true, false} {
				in := room(t, 5000, byte(0xee))
				var r *mpi.Request
				var err error
				if posted {
					r, err = t.Irecv(in.cut(0, 10), t.prev(), 0)
					t.ok(err)
					t.ok(t.Barrier())
				}
				s, err := t.Isend(on(t, pattern(n, t.rank)).arg(), t.next(), 0)
				t.ok(err)
				if posted {
					_, err = r.Wait()
				} else {
					_, err = t.Probe(t.prev(), 0)
					t.ok(err)
					_, err = t.Recv(in.cut(0, 10), t.prev(), 0)
				}
				t.is(err, mpi.ErrTruncate)
				_, err = s.Wait()
				t.ok(err)
				for i, b := range in.get()[10:] {
					if b != 0xee {
						t.Fatalf("byte %d after the memory was written (posted first: %v)", i, posted)
					}
				}
			}
		}})
	}
	return append(list,
		Case{Name: "error/truncateUnexpected", Run: func(t *T) {
			s, err := t.Isend(on(t, pattern(1000, 1)).arg(), t.next(), 0)
			t.ok(err)
			_, err = t.Probe(t.prev(), 0) // it is here
			t.ok(err)
			_, err = t.Recv(room(t, 10, byte(0)).arg(), t.prev(), 0)
			t.is(err, mpi.ErrTruncate)
			_, err = s.Wait()
			t.ok(err)
		}},
		Case{Name: "error/truncateMatched", Run: func(t *T) {
			s, err := t.Isend(on(t, pattern(1000, 1)).arg(), t.next(), 0)
			t.ok(err)
			m, err := t.Mprobe(t.prev(), 0)
			t.ok(err)
			_, err = m.Recv(room(t, 10, byte(0)).arg())
			t.is(err, mpi.ErrTruncate)
			_, err = s.Wait()
			t.ok(err)
		}},
		Case{Name: "error/truncateToNothing", Run: func(t *T) {
			s, err := t.Isend([]int{1}, t.next(), 0)
			t.ok(err)
			_, err = t.Recv(nil, t.prev(), 0)
			t.is(err, mpi.ErrTruncate)
			_, err = s.Wait()
			t.ok(err)
		}},
		Case{Name: "error/noWholeElements", Run: func(t *T) {
			s, err := t.Isend([]byte("12 bytes are"), t.next(), 0)
			t.ok(err)
			_, err = t.Recv(make([]float64, 4), t.prev(), 0)
			t.is(err, mpi.ErrType)
			_, err = s.Wait()
			t.ok(err)
			t.same("count", mpi.Status{Bytes: 12}.Count(x), -1)
			t.same("count", mpi.Status{Bytes: 12}.Count([]int32{}), 3)
		}},
		Case{Name: "error/otherElements", Run: func(t *T) {
			// Libraries do not tell what was sent.
			library, err := mpi.LibraryInfo()
			t.ok(err)
			told := library.Name == "local"
			for _, n := range []int{3, 100000} {
				for _, sent := range []any{make([]byte, 4*n), make([]int32, n), make([]float32, n)} {
					s, err := t.Isend(sent, t.next(), 0)
					t.ok(err)
					_, err = t.Recv(make([]int32, n), t.prev(), 0)
					if _, floats := sent.([]float32); floats && told {
						t.is(err, mpi.ErrType)
						if text := err.Error(); !strings.Contains(text, "is of float32, the receive asks for int32") {
							t.Errorf("%s", text)
						}
					} else {
						t.ok(err)
					}
					_, err = s.Wait()
					t.ok(err)
				}
			}
		}},
		Case{Name: "error/waitAll", Run: func(t *T) {
			// One fails, all are complete.
			a, b := on(t, []int{0}), on(t, []int{0})
			ra, err := t.Irecv(nil, t.prev(), 0)
			t.ok(err)
			rb, err := t.Irecv(b.arg(), t.prev(), 1)
			t.ok(err)
			t.ok(t.Send(a.arg(), t.next(), 0))
			t.ok(t.Send(on(t, []int{6}).arg(), t.next(), 1))
			_, err = mpi.WaitAll(ra, rb)
			t.is(err, mpi.ErrTruncate)
			b.holds("the other", []int{6})
		}},
		Case{Name: "error/freedComm", Run: func(t *T) {
			d, err := t.Dup()
			t.ok(err)
			t.ok(d.Free())
			t.is(d.Barrier(), mpi.ErrComm)
			t.is(d.Send(x, 0, 0), mpi.ErrComm)
			_, err = d.Recv(x, 0, 0)
			t.is(err, mpi.ErrComm)
			_, err = d.Dup()
			t.is(err, mpi.ErrComm)
			t.is(d.Free(), mpi.ErrComm)
		}},
	)
}
