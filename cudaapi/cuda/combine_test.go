package cuda_test

import (
	"math"
	"slices"
	"testing"

	"gocuda/cudaapi/cuda"
)

// combined is out of Combine on device memory.
func combined[T any](t *testing.T, op cuda.ReduceOp, typ cuda.Type, a, b []T) []T {
	t.Helper()
	d := devices(t, 1)[0]
	var bufs [3]*cuda.Buffer
	for i := range bufs {
		bufs[i] = must[*cuda.Buffer](t)(d.Alloc(len(a), typ))
		defer bufs[i].Free()
	}
	ok(t, bufs[1].Upload(a))
	ok(t, bufs[2].Upload(b))
	ok(t, cuda.Combine(op, bufs[0], bufs[1], bufs[2], nil))
	out := make([]T, len(a))
	ok(t, bufs[0].Download(out))
	return out
}

func combineCase[T comparable](t *testing.T, op cuda.ReduceOp, typ cuda.Type, a, b, want []T) {
	t.Helper()
	if got := combined(t, op, typ, a, b); !slices.Equal(got, want) {
		t.Errorf("%s of %s: %v and %v give %v, want %v", op, typ, a, b, got, want)
	}
}

func TestCombine(t *testing.T) {
	devices(t, 1)
	compile(t, saxpy) // skips without a compiler
	a, b := []int32{1, -5, 7, 0, 1 << 20, 0}, []int32{2, 3, -7, 4, 1 << 9, 0}
	for op, want := range map[cuda.ReduceOp][]int32{
		cuda.ReduceSum: {3, -2, 0, 4, 1<<20 + 1<<9, 0}, cuda.ReduceProd: {2, -15, -49, 0, 1 << 29, 0},
		cuda.ReduceMin: {1, -5, -7, 0, 1 << 9, 0}, cuda.ReduceMax: {2, 3, 7, 4, 1 << 20, 0},
		cuda.ReduceLogicalAnd: {1, 1, 1, 0, 1, 0}, cuda.ReduceLogicalOr: {1, 1, 1, 1, 1, 0}, cuda.ReduceLogicalXor: {0, 0, 0, 1, 0, 0},
		cuda.ReduceBitAnd: {0, 3, 1, 0, 0, 0}, cuda.ReduceBitOr: {3, -5, -1, 4, 1<<20 | 1<<9, 0}, cuda.ReduceBitXor: {3, -8, -2, 4, 1<<20 | 1<<9, 0},
	} {
		combineCase(t, op, cuda.Int32, a, b, want)
	}
	combineCase(t, cuda.ReduceSum, cuda.Uint8, []uint8{250, 1}, []uint8{10, 2}, []uint8{4, 3})
	combineCase(t, cuda.ReduceMax, cuda.Uint64, []uint64{1 << 63, 1}, []uint64{1, 2}, []uint64{1 << 63, 2})
	combineCase(t, cuda.ReduceMin, cuda.Int8, []int8{-128, 1}, []int8{127, 2}, []int8{-128, 1})
	combineCase(t, cuda.ReduceProd, cuda.Float64, []float64{1e200, -3}, []float64{1e100, 0.5}, []float64{1e300, -1.5})
	combineCase(t, cuda.ReduceProd, cuda.Complex64, []complex64{1 + 2i}, []complex64{3 - 1i}, []complex64{5 + 5i})
	combineCase(t, cuda.ReduceSum, cuda.Complex128, []complex128{1 + 2i}, []complex128{3 - 1i}, []complex128{4 + 1i})
	nan := float32(math.NaN())
	for _, op := range []cuda.ReduceOp{cuda.ReduceMin, cuda.ReduceMax} {
		for i, v := range combined(t, op, cuda.Float32, []float32{nan, 1}, []float32{1, nan}) {
			if v == v {
				t.Errorf("%s with a NaN is %g at %d", op, v, i)
			}
		}
	}
}

// TestCombineHalf compares with the host's conversions, for bits of all kinds:
// subnormal, infinite, not a number.
func TestCombineHalf(t *testing.T) {
	devices(t, 1)
	compile(t, saxpy)
	a, b := make([]uint16, 1<<16), make([]uint16, 1<<16)
	for i := range a {
		a[i], b[i] = uint16(i), uint16(i*40503+7)
	}
	for _, c := range []struct {
		typ  cuda.Type
		from func([]uint16) []float32
		to   func([]float32) []uint16
	}{{cuda.Float16, cuda.FromFloat16, cuda.ToFloat16}, {cuda.BFloat16, cuda.FromBFloat16, cuda.ToBFloat16}} {
		x, y := c.from(a), c.from(b)
		for i := range x {
			x[i] += y[i]
		}
		want := c.to(x)
		for i, v := range combined(t, cuda.ReduceSum, c.typ, a, b) {
			if w := want[i]; v != w && (x[i] == x[i] || c.from([]uint16{v})[0] == c.from([]uint16{v})[0]) {
				t.Fatalf("%s: %#x + %#x is %#x, want %#x", c.typ, a[i], b[i], v, w)
			}
		}
	}
}

// TestCombineLengths crosses the edges of the sixteen-byte path, aligned or not,
// and checks that nothing beyond is written.
func TestCombineLengths(t *testing.T) {
	d := devices(t, 1)[0]
	compile(t, saxpy)
	const most = 600_000
	x, y := must[*cuda.Buffer](t)(d.Alloc(most+2, cuda.Int16)), must[*cuda.Buffer](t)(d.Alloc(most+2, cuda.Int16))
	defer x.Free()
	defer y.Free()
	for _, n := range []int{1, 7, 8, 9, 4097, most} {
		for _, off := range []int{0, 1} {
			ok(t, x.Fill(3, nil))
			ok(t, y.Fill(4, nil))
			ok(t, cuda.Combine(cuda.ReduceSum, x.Slice(off, off+n), x.Slice(off, off+n), y.Slice(off, off+n), nil))
			got := make([]int16, most+2)
			ok(t, x.Download(got))
			for i, v := range got {
				if want := int16(3); i >= off && i < off+n && v != 7 || (i < off || i >= off+n) && v != want {
					t.Fatalf("%d elements from %d: element %d is %d", n, off, i, v)
				}
			}
		}
	}
	refused(t, cuda.Combine(cuda.ReduceSum, x, x, y.Slice(0, 1), nil), cuda.ErrInvalidValue, "b 1 Int16")
	f := must[*cuda.Buffer](t)(d.Alloc(1, cuda.Float32))
	defer f.Free()
	refused(t, cuda.Combine(cuda.ReduceBitOr, f, f, f, nil), cuda.ErrNotSupported, "bitwise or is not for Float32")
	refused(t, cuda.Combine(0, f, f, f, nil), cuda.ErrNotSupported, "ReduceOp(0)")
}
