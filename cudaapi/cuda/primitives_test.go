package cuda_test

import (
	"math"
	"testing"

	"gocuda/cudaapi/cuda"
)

func TestPrimitives(t *testing.T) {
	d := devices(t, 1)[0]
	compile(t, saxpy) // skips without a compiler
	const n = 300_001
	for _, typ := range []cuda.Type{cuda.Int32, cuda.Uint8, cuda.Int64, cuda.Float32, cuda.Float64} {
		b := must[*cuda.Buffer](t)(d.Alloc(n, typ))
		ok(t, b.Fill(3, nil))
		if got := must[float64](t)(b.Sum(nil)); got != 3*n {
			t.Errorf("%s: the sum of %d threes is %g", typ, n, got)
		}
		if typ != cuda.Uint8 {
			ok(t, b.Iota(-5, 2, nil))
			if got := must[float64](t)(b.Max(nil)); got != -5+2*(n-1) {
				t.Errorf("%s: max %g", typ, got)
			}
			if got := must[float64](t)(b.Min(nil)); got != -5 {
				t.Errorf("%s: min %g", typ, got)
			}
		}
		ok(t, b.Free())
	}
	b := must[*cuda.Buffer](t)(d.Alloc(100, cuda.Float32))
	defer b.Free()
	values := make([]float32, 100)
	values[77] = float32(math.NaN())
	ok(t, b.Upload(values))
	if got := must[float64](t)(b.Max(nil)); !math.IsNaN(got) {
		t.Errorf("max with a NaN is %g", got)
	}
	refused(t, b.Fill("x", nil), cuda.ErrInvalidValue, "string")
	z := must[*cuda.Buffer](t)(b.Device().Alloc(2, cuda.Complex64))
	refused(t, z.Fill(3, nil), cuda.ErrNotSupported, "not for Complex64")
	_, err := b.Slice(0, 0).Max(nil)
	refused(t, err, cuda.ErrInvalidValue, "no elements")
	_, err = b.SumInt(nil)
	refused(t, err, cuda.ErrInvalidValue, "use Sum")
	if got := must[float64](t)(b.Slice(0, 0).Sum(nil)); got != 0 {
		t.Errorf("the empty sum is %g", got)
	}
	half := must[*cuda.Buffer](t)(d.Alloc(10, cuda.Float16))
	defer half.Free()
	ok(t, half.Fill(1.5, nil))
	bits := make([]uint16, 10)
	ok(t, half.Download(bits))
	if got := cuda.FromFloat16(bits)[9]; got != 1.5 {
		t.Errorf("%g", got)
	}
	_, err = half.Sum(nil)
	refused(t, err, cuda.ErrNotSupported, "not for Float16")
}

func TestAxpy(t *testing.T) {
	d := devices(t, 1)[0]
	compile(t, saxpy)
	x, y := must[*cuda.Buffer](t)(d.Alloc(1000, cuda.Float64)), must[*cuda.Buffer](t)(d.Alloc(1000, cuda.Float64))
	defer x.Free()
	defer y.Free()
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	ok(t, x.Iota(0, 1, s))
	ok(t, y.Fill(1, s))
	ok(t, cuda.Axpy(0.5, x, y, s))
	if got := must[float64](t)(y.Max(s)); got != 1+999*0.5 {
		t.Errorf("%g", got)
	}
	refused(t, cuda.Axpy(1, x.Slice(0, 3), y, s), cuda.ErrInvalidValue, "x has 3 Float64")
}

const pi = `
#include <curand_kernel.h>
__global__ void pi(unsigned long long seed, int n, int *hits) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	curandState state;
	curand_init(seed, i, 0, &state);
	float x = curand_uniform(&state), y = curand_uniform(&state);
	if (x * x + y * y <= 1) atomicAdd(hits, 1);
}
__global__ void broken() { nothing; }
`

// TestXORWOW draws the points of a quarter circle whose count is published, for
// the last of four devices.
func TestXORWOW(t *testing.T) {
	d := devices(t, 1)[0]
	_, err := cuda.Compile(pi, cuda.SourceName("pi.cu"))
	compile(t, saxpy)
	refused(t, err, cuda.ErrInvalidSource, "pi.cu")
	refused(t, err, cuda.ErrInvalidSource, "11") // the line, counted without the header
	m := compile(t, pi[:len(pi)-len("__global__ void broken() { nothing; }\n")])
	hits := must[*cuda.Buffer](t)(d.Alloc(1, cuda.Int32))
	defer hits.Free()
	ok(t, hits.Fill(0, nil))
	const n = 1 << 18
	ok(t, kernel(t, m, "pi").Launch(cuda.GridFor(n, 256), cuda.Block(256), nil, 3, n, hits))
	if got := must[[]int32](t)(hits.Int32s())[0]; got != 205593 {
		t.Errorf("%d hits, the published count is 205593", got)
	}
	u := must[*cuda.Buffer](t)(d.Alloc(1000, cuda.Float32))
	defer u.Free()
	ok(t, u.Uniform(3, nil))
	if mean := must[float64](t)(u.Sum(nil)) / 1000; mean < 0.45 || mean > 0.55 {
		t.Errorf("mean %g", mean)
	}
}
