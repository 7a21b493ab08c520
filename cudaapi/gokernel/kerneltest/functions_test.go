package kerneltest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gocuda/cudaapi/cuda"
)

const functionsSource = `
func halves(a, b, out []gpu.Float16, more []float32, ints []int64) {
	i := gpu.GridRank()
	x, y := a[i], b[i]
	out[5*i], out[5*i+1], out[5*i+2], out[5*i+3] = x+y, x-y, x*y, x/y
	z := -x
	z += 0.1
	out[5*i+4] = max(z, min(y, 2))
	more[2*i] = float32(x) + float32(gpu.Sqrt(y*y))
	more[2*i+1] = float32(gpu.FMA(x, y, z))
	const third = gpu.Float16(1.0 / 3)
	if x < y && x != third {
		ints[i] = int64(x)
	}
	ints[i] += int64(gpu.Float16(i)) * 1000
	type both struct {
		n int8
		h gpu.Float16
		b gpu.BFloat16
	}
	list := [2]both{{1, x, 3}, {}}
	list[1] = list[0]
	if list[0] == list[1] {
		ints[i] += int64(list[1].h) * 100000
	}
}

func brains(a, b, out []gpu.BFloat16) {
	i := gpu.GridRank()
	x, y := a[i], b[i]
	out[4*i], out[4*i+1], out[4*i+2], out[4*i+3] = x+y, x-y, x*y, x/y
}

func shuffledHalves(a []gpu.Float16) {
	i := gpu.ThreadRank()
	a[i] = gpu.ShflXor(gpu.FullMask, a[i], 1)
}

func matches(out []uint32) {
	i := gpu.ThreadRank()
	out[3*i] = gpu.MatchAny(gpu.FullMask, i%5)
	out[3*i+1] = gpu.MatchAll(gpu.FullMask, i/32)
	out[3*i+2] = gpu.MatchAll(gpu.FullMask, float32(i))
}

func reductions(out []int64, f []float32) {
	i := gpu.ThreadRank()
	out[8*i] = gpu.ReduceAdd(gpu.FullMask, int64(i))
	out[8*i+1] = int64(gpu.ReduceMin(gpu.FullMask, int32(i-7)))
	out[8*i+2] = int64(gpu.ReduceMax(gpu.FullMask, uint32(i)))
	out[8*i+3] = int64(gpu.ReduceAnd(gpu.FullMask, uint64(i)|256))
	out[8*i+4] = int64(gpu.ReduceOr(gpu.FullMask, i))
	out[8*i+5] = int64(gpu.ReduceXor(gpu.FullMask, uint32(i)))
	f[2*i] = gpu.ReduceAdd(gpu.FullMask, 1/float32(i+1))
	if i%3 == 0 {
		mask := uint32(0x49249249)
		if i >= 32 {
			mask = 0x92492492
		}
		out[8*i+6] = gpu.ReduceAdd(mask, int64(i))
		f[2*i+1] = gpu.ReduceMax(mask, float32(-i))
	}
}

func tiles(out []int64) {
	i := gpu.ThreadRank()
	t := gpu.Tile(8)
	out[8*i], out[8*i+1], out[8*i+2], out[8*i+3] = int64(t.Rank), int64(t.Size), int64(t.Index), int64(t.Count)
	out[8*i+4] = gpu.ReduceAdd(t.Mask, int64(i))
	out[8*i+5] = gpu.Shfl(t.Mask, int64(i), t.First)
	if i%2 == 1 && i < 16 {
		out[8*i+6] = int64(gpu.Tile(2).Mask)
	}
	gpu.SyncWarp(t.Mask)
	out[8*i+7] = int64(gpu.Tile(32).First)
}

func scoped(out []int64, flags []int32) {
	i := gpu.ThreadRank()
	gpu.AtomicAdd(&out[0], 1, gpu.BlockScope)
	gpu.AtomicMax(&out[1], int64(i), gpu.SystemScope, gpu.AcquireRelease)
	gpu.AtomicOr(&flags[0], 1<<uint(i%32), gpu.DeviceScope, gpu.Relaxed)
	gpu.SyncThreads()
	if i == 0 {
		out[2] = 42
		gpu.AtomicStore(&flags[1], 1, gpu.Release)
	}
	if i == 33 {
		for gpu.AtomicLoad(&flags[1], gpu.Acquire) == 0 {
		}
		out[3] = out[2] + gpu.AtomicExch(&out[4], 7, gpu.SequentiallyConsistent)
		gpu.AtomicCAS(&out[5], 0, 9, gpu.BlockScope, gpu.Acquire)
	}
}

func several(x, y []float32, b []uint8, d []float64) {
	i := gpu.GridRank()
	v := gpu.Load4(x, i)
	v[0] += v[3]
	gpu.Store4(y, i, v)
	w := gpu.Load2(x[1:], i)
	d[i] = float64(w[0]*10 + w[1])
	c := gpu.Load4(b, i)
	c[0], c[3] = c[3], c[0]
	gpu.Store4(b, i, c)
	pair := gpu.Load2(d[:], i/2)
	pair[0] += 0
	type rgb struct{ r, g, b uint8 }
	_ = pair
}

func ranks(out []int64) {
	i := gpu.GridRank()
	out[i] = int64(gpu.GridSize()*1000 + gpu.ThreadRank())
}
`

// buffer is an argument of a kernel, on both sides.
type buffer interface {
	host() any
	upload(t *testing.T, d *cuda.Device) any
	same(t *testing.T, name string)
}

type data[T comparable] struct {
	at  []T
	typ cuda.Type // of the buffer, where its element type is not T's
	dev *cuda.Buffer
}

func (b *data[T]) host() any { return b.at }

func (b *data[T]) upload(t *testing.T, d *cuda.Device) any {
	if b.typ == 0 {
		b.dev = upload(t, d, b.at)
		return b.dev
	}
	var err error
	if b.dev, err = d.Alloc(len(b.at), b.typ); err != nil {
		t.Fatal(err)
	}
	if err := b.dev.Upload(b.at); err != nil {
		t.Fatal(err)
	}
	return b.dev
}

func (b *data[T]) same(t *testing.T, name string) {
	t.Helper()
	got := make([]T, len(b.at))
	if err := b.dev.Download(got); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i] != b.at[i] {
			t.Errorf("%s: element %d is %v on the device, emulated %v", name, i, got[i], b.at[i])
			return
		}
	}
}

func zeros[T comparable](n int) *data[T] { return &data[T]{at: make([]T, n)} }
func half(v []uint16) *data[uint16]      { return &data[uint16]{at: v, typ: cuda.Float16} }
func brain(v []uint16) *data[uint16]     { return &data[uint16]{at: v, typ: cuda.BFloat16} }

// Functions of package gpu do the same on a device as emulated, and what CUDA's do.
func TestFunctions(t *testing.T) {
	d, err := cuda.CurrentDevice()
	if err != nil {
		t.Fatal(err)
	}
	m, err := cuda.CompileGo(functionsSource, cuda.Flag("--fmad=false"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(name string, grid cuda.GridDim, block cuda.BlockDim, args ...buffer) {
		t.Helper()
		k, err := m.Kernel(name)
		if err != nil {
			t.Fatal(err)
		}
		var here, there []any
		for _, a := range args {
			there = append(there, a.upload(t, d))
			here = append(here, a.host())
		}
		if err := k.Emulate(grid, block, here...); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := k.Launch(grid, block, nil, there...); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := d.Synchronize(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, a := range args {
			a.same(t, fmt.Sprintf("%s, argument %d", name, i+1))
		}
	}
	left := []float32{1, 2.5, -3, 0.1, 1000, 65504, 6e-5, 5.96e-8, 0.333, 7, -0.5, 2048, 1e-3, 4, 9, 11}
	right := []float32{2, -1, 0.7, 0.2, 3, 65504, 6e-5, 0.5, 3, 1e-4, 0.25, 1, 7, 0.125, -9, 13}
	out := half(make([]uint16, 5*16))
	run("halves", cuda.Grid(2), cuda.Block(8), half(cuda.ToFloat16(left)), half(cuda.ToFloat16(right)), out, zeros[float32](32), zeros[int64](16))
	a, b := cuda.FromFloat16(cuda.ToFloat16(left)), cuda.FromFloat16(cuda.ToFloat16(right))
	for i := range a {
		want := cuda.ToFloat16([]float32{a[i] + b[i], a[i] - b[i], a[i] * b[i], a[i] / b[i]})
		if !slices.Equal(out.at[5*i:5*i+4], want) {
			t.Errorf("float16 of %v and %v: %#x, want %#x", a[i], b[i], out.at[5*i:5*i+4], want)
		}
	}
	out = brain(make([]uint16, 4*16))
	run("brains", cuda.Grid(2), cuda.Block(8), brain(cuda.ToBFloat16(left)), brain(cuda.ToBFloat16(right)), out)
	a, b = cuda.FromBFloat16(cuda.ToBFloat16(left)), cuda.FromBFloat16(cuda.ToBFloat16(right))
	for i := range a {
		want := cuda.ToBFloat16([]float32{a[i] + b[i], a[i] - b[i], a[i] * b[i], a[i] / b[i]})
		if !slices.Equal(out.at[4*i:4*i+4], want) {
			t.Errorf("bfloat16 of %v and %v: %#x, want %#x", a[i], b[i], out.at[4*i:4*i+4], want)
		}
	}
	numbers := make([]uint16, 32)
	for i := range numbers {
		numbers[i] = uint16(i * 1000)
	}
	run("shuffledHalves", cuda.Grid(1), cuda.Block(32), half(numbers))
	if numbers[0] != 1000 || numbers[31] != 30000 {
		t.Errorf("shuffled: %v", numbers)
	}

	masks := zeros[uint32](3 * 64)
	run("matches", cuda.Grid(1), cuda.Block(64), masks)
	if masks.at[0] != 0x42108421 || masks.at[1] != 0xffffffff || masks.at[2] != 0 {
		t.Errorf("matches: %#x", masks.at[:3])
	}
	ints, floats := zeros[int64](8*64), zeros[float32](2*64)
	run("reductions", cuda.Grid(1), cuda.Block(64), ints, floats)
	if want := []int64{496, -7, 31, 256, 31, 0, 165, 0}; !slices.Equal(ints.at[:8], want) {
		t.Errorf("reductions: %v, want %v", ints.at[:8], want)
	}
	if math.Abs(float64(floats.at[0])-4.0584952) > 1e-5 || floats.at[1] != 0 {
		t.Errorf("reductions: %v", floats.at[:2])
	}
	ints = zeros[int64](8 * 40)
	run("tiles", cuda.Grid(1), cuda.Block(40), ints)
	if want := []int64{2, 8, 1, 5, 92, 8, 0, 0}; !slices.Equal(ints.at[80:88], want) {
		t.Errorf("tiles: %v, want %v", ints.at[80:88], want)
	}
	ints = zeros[int64](8)
	run("scoped", cuda.Grid(1), cuda.Block(64), ints, zeros[int32](2))
	if want := []int64{64, 63, 42, 42, 7, 9, 0, 0}; !slices.Equal(ints.at, want) {
		t.Errorf("scoped atomics: %v, want %v", ints.at, want)
	}
	x, y, bytes := zeros[float32](64), zeros[float32](64), zeros[uint8](64)
	for i := range x.at {
		x.at[i], bytes.at[i] = float32(i), uint8(i)
	}
	run("several", cuda.Grid(2), cuda.Block(8), x, y, bytes, zeros[float64](16))
	if y.at[4] != 11 || y.at[5] != 5 || bytes.at[4] != 7 {
		t.Errorf("several elements: %v %v", y.at[:8], bytes.at[:8])
	}
	ints = zeros[int64](48)
	run("ranks", cuda.Grid(2, 2), cuda.Block(4, 3), ints)
	if ints.at[13] != 48001 {
		t.Errorf("ranks: %v", ints.at)
	}
}
