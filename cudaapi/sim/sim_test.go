package sim_test

import (
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/sim"
)

// newDriver makes a machine for a test.
func newDriver(t testing.TB, o sim.Options) *sim.Driver {
	t.Helper()
	d, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// box is one device in use by a test.
type box struct {
	t testing.TB
	d driver.Driver
	c driver.Context
}

func newBox(t testing.TB, o sim.Options) *box {
	d := newDriver(t, o)
	return &box{t, d, retain(t, d, 0)}
}

// simulated is the machine of a box that is not a GPU's.
func (b *box) simulated() *sim.Driver { return b.d.(*sim.Driver) }

// given is a device that loads PTX in place of what it is to compile.
type given struct {
	driver.Driver
	ptx func(*driver.Source, string) (*driver.Compiled, error)
}

func (d given) Compile(_ driver.Device, s *driver.Source) (*driver.Compiled, error) {
	return d.ptx(s, "sm_90")
}

// onBoth runs a test of PTX on a simulated device, and on a GPU where there is one: what the
// test wants is a model, which a GPU may refute.
func onBoth(t *testing.T, o sim.Options, run func(t *testing.T, b *box)) {
	t.Run("simulated", func(t *testing.T) { run(t, newBox(t, o)) })
	t.Run("GPU", func(t *testing.T) {
		if err := nvidia.Available(); err != nil {
			t.Skipf("no GPU: %v", err)
		}
		d, err := nvidia.Open()
		if err != nil {
			t.Fatal(err)
		}
		if major, err := d.DeviceAttribute(driver.ComputeCapabilityMajor, 0); err != nil || major != 9 {
			t.Skip("the model is of compute capability 9.0: ", major, err)
		}
		run(t, &box{t, given{d, o.PTX}, retain(t, d, 0)})
	})
}

// of is a box with the same device for other PTX.
func (b *box) of(text string) *box {
	o := ofPTX(text)
	if g, ok := b.d.(given); ok {
		return &box{b.t, given{g.Driver, o.PTX}, b.c}
	}
	return newBox(b.t, o)
}

func retain(t testing.TB, d driver.Driver, i driver.Device) driver.Context {
	t.Helper()
	c, err := d.PrimaryRetain(i)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (b *box) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func ptr[E any](s []E) driver.Ptr {
	p := unsafe.Pointer(unsafe.SliceData(s))
	onHeap.Store((*byte)(p))
	return driver.Ptr(uintptr(p))
}

// onHeap has the compiler put what ptr is of on the heap: a stack may move.
var onHeap atomic.Pointer[byte]

func size[E any](s []E) uint64 { return uint64(len(s)) * uint64(unsafe.Sizeof(*new(E))) }

// upload puts a slice into new device memory.
func upload[E any](b *box, s []E) driver.Ptr {
	b.t.Helper()
	p, err := b.d.MemAlloc(b.c, size(s))
	b.ok(err)
	b.ok(b.d.Memcpy(b.c, p, ptr(s), size(s)))
	runtime.KeepAlive(s) // a driver's pointer is a number to the collector
	return p
}

func download[E any](b *box, p driver.Ptr, n int) []E {
	b.t.Helper()
	s := make([]E, n)
	b.ok(b.d.Memcpy(b.c, ptr(s), p, size(s)))
	return s
}

// kernel compiles a source and finds its only kernel.
func (b *box) kernel(code string, names ...string) driver.Function {
	b.t.Helper()
	out, err := b.d.Compile(0, &driver.Source{Name: "test.cu", Code: code, Names: names})
	b.ok(err)
	m, err := b.d.ModuleLoad(b.c, out.Image)
	b.ok(err)
	f, err := b.d.ModuleFunctions(b.c, m)
	b.ok(err)
	if len(f) != 1 {
		b.t.Fatalf("kernels %v, want one", f)
	}
	k, err := b.d.ModuleFunction(b.c, m, f[0])
	b.ok(err)
	return k
}

// slice is an argument of a kernel in Go.
type slice struct {
	p driver.Ptr
	n uint64
}

// launch runs a kernel on the default stream with its arguments laid out as
// FunctionParams says.
func (b *box) launch(k driver.Function, grid, block driver.Dim3, shared uint32, args ...any) error {
	b.t.Helper()
	l := &driver.Launch{Function: k, Grid: grid, Block: block, SharedBytes: shared}
	params, err := b.d.FunctionParams(b.c, k)
	b.ok(err)
	if len(params) != len(args) {
		b.t.Fatalf("%d arguments for %d parameters", len(args), len(params))
	}
	for i, a := range args {
		l.Params = append(l.Params, make([]byte, int(params[i].Offset)-len(l.Params))...)
		switch v := a.(type) {
		case driver.Ptr:
			l.Params = binary.NativeEndian.AppendUint64(l.Params, uint64(v))
			l.Pointers = append(l.Pointers, driver.PointerParam{Offset: params[i].Offset})
		case int:
			l.Params = binary.NativeEndian.AppendUint32(l.Params, uint32(v))
		case float32:
			l.Params = binary.NativeEndian.AppendUint32(l.Params, math.Float32bits(v))
		case [4]uint32:
			for _, word := range v {
				l.Params = binary.NativeEndian.AppendUint32(l.Params, word)
			}
		case slice:
			for _, word := range []uint64{uint64(v.p), v.n, v.n} {
				l.Params = binary.NativeEndian.AppendUint64(l.Params, word)
			}
			l.Pointers = append(l.Pointers, driver.PointerParam{Offset: params[i].Offset})
		case float64:
			l.Params = binary.NativeEndian.AppendUint64(l.Params, math.Float64bits(v))
		default:
			b.t.Fatalf("argument %T", a)
		}
		if got := len(l.Params) - int(params[i].Offset); got != int(params[i].Size) {
			b.t.Fatalf("argument %d has %d bytes, the kernel takes %d", i, got, params[i].Size)
		}
	}
	return b.d.Launch(b.c, l)
}

func (b *box) sync() error { return b.d.CtxSynchronize(b.c, nil) }

func dim(n ...uint32) driver.Dim3 {
	d := driver.Dim3{X: 1, Y: 1, Z: 1}
	for i, p := range []*uint32{&d.X, &d.Y, &d.Z} {
		if i < len(n) {
			*p = n[i]
		}
	}
	return d
}

const saxpy = `
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}`

func TestSaxpy(t *testing.T) {
	for _, unchecked := range []bool{false, true} {
		b := newBox(t, sim.Options{Devices: 1, NoCheck: unchecked})
		const n = 100_000
		x, y := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i], y[i] = float32(i), 1
		}
		dx, dy := upload(b, x), upload(b, y)
		b.ok(b.launch(b.kernel(saxpy), dim((n+255)/256), dim(256), 0, n, float32(2), dx, dy))
		for i, v := range download[float32](b, dy, n) {
			if v != 2*float32(i)+1 {
				t.Fatalf("unchecked=%v: y[%d] = %v", unchecked, i, v)
			}
		}
	}
}

func TestIllegalAccess(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 2})
	other := retain(t, b.d, 1)
	const n = 1000
	x, y := upload(b, make([]float32, n)), upload(b, make([]float32, n))
	k := b.kernel(saxpy)
	b.ok(b.launch(k, dim(4), dim(256), 0, n+1, float32(2), x, y))
	err := b.sync()
	if !errors.Is(err, driver.ErrIllegalAddress) {
		t.Fatalf("one element too many: %v", err)
	}
	for _, want := range []string{"saxpy", "block (3,0,0)", "thread (232,0,0)", "0 bytes past the end", "4000 bytes"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if _, err := b.d.MemAlloc(b.c, 1); !errors.Is(err, driver.ErrIllegalAddress) {
		t.Errorf("after it, MemAlloc: %v", err)
	}
	if _, err := b.d.MemAlloc(other, 1); !errors.Is(err, driver.ErrIllegalAddress) {
		t.Errorf("the other device: %v", err)
	}
	for i, c := range []driver.Context{b.c, other} {
		b.ok(b.d.PrimaryReset(driver.Device(i)))
		if _, err := b.d.MemAlloc(c, 1); err != nil {
			t.Errorf("device %d after a reset: %v", i, err)
		}
	}
}

func TestReduction(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	k := b.kernel(`
__global__ void sum(const float *x, float *out, int n) {
    extern __shared__ float s[];
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = blockDim.x / 2; d >= 32; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x < 32) {
        v = s[threadIdx.x];
        for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
        if (threadIdx.x == 0) atomicAdd(out, v);
    }
}`)
	const n = 123457
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i % 7)
	}
	var want float32
	for _, v := range x {
		want += v
	}
	dx, out := upload(b, x), upload(b, []float32{0})
	b.ok(b.launch(k, dim(8), dim(256), 1024, dx, out, n))
	if got := download[float32](b, out, 1)[0]; got != want {
		t.Errorf("sum %v, want %v", got, want)
	}
}

func TestGridBarrier(t *testing.T) { gridBarrier(t, sim.Options{Devices: 1}) }

func gridBarrier(t *testing.T, o sim.Options) {
	b := newBox(t, o)
	k := b.kernel(`
#include <cooperative_groups.h>
__global__ void rounds(int *x, int *total, int n) {
    __shared__ int mine;
    auto grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0) mine = blockIdx.x;
    for (int i = 0; i < n; i++) {
        int r = grid.thread_rank();
        x[r] += 1;
        grid.sync();
        int other = (r + blockDim.x) % grid.size();
        if (x[other] != i + 1 || mine != blockIdx.x) atomicAdd(total, 1);
        grid.sync();
    }
}`)
	x, bad := upload(b, make([]int32, 640)), upload(b, make([]int32, 1))
	l := &driver.Launch{Function: k, Grid: dim(10), Block: dim(64), Cooperative: true}
	l.Params = binary.NativeEndian.AppendUint64(l.Params, uint64(x))
	l.Params = binary.NativeEndian.AppendUint64(l.Params, uint64(bad))
	l.Params = binary.NativeEndian.AppendUint32(l.Params, 5)
	b.ok(b.d.Launch(b.c, l))
	b.ok(b.sync())
	if n := download[int32](b, bad, 1)[0]; n != 0 {
		t.Errorf("%d threads saw another block late", n)
	}
	for i, v := range download[int32](b, x, 640) {
		if v != 5 {
			t.Fatalf("x[%d] = %d", i, v)
		}
	}
	l.Grid = dim(100_000)
	if err := b.d.Launch(b.c, l); !errors.Is(err, driver.ErrCooperativeTooLarge) {
		t.Errorf("100000 blocks that wait for each other: %v", err)
	}
}

// TestSpinningThreadsGetTurns has a thread wait for what another writes, that
// began before it or has not begun.
func TestSpinningThreadsGetTurns(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	for _, begun := range []string{"__syncthreads();", ""} {
		k := b.kernel(`
__global__ void handoff(volatile int *flag, int *out) {
    ` + begun + `
    if (threadIdx.x == 0) while (*flag != 7) {}
    if (threadIdx.x == 63) *flag = 7;
    out[threadIdx.x] = threadIdx.x == 0 || threadIdx.x == 63 ? *flag : 0;
}`)
		flag, out := upload(b, make([]int32, 1)), upload(b, make([]int32, 64))
		b.ok(b.launch(k, dim(1), dim(64), 0, flag, out))
		b.ok(b.sync())
		if got := download[int32](b, out, 64); got[0] != 7 || got[63] != 7 {
			t.Errorf("%q: %v", begun, got)
		}
	}
}

// TestTurnsBetweenBarriers runs long enough for threads to be given turns in the
// middle of everything, also before they have begun.
func TestTurnsBetweenBarriers(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	k := b.kernel(`
__global__ void next(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    atomicAdd(out + threadIdx.x, s[(threadIdx.x + 1) % 64]);
}`)
	const blocks = 20000
	out := upload(b, make([]int32, 64))
	b.ok(b.launch(k, dim(blocks), dim(64), 0, out))
	b.ok(b.sync())
	for i, v := range download[int32](b, out, 64) {
		if want := int32((i + 1) % 64 * blocks); v != want {
			t.Fatalf("thread %d: %d, want %d", i, v, want)
		}
	}
}

func TestBarrierThatNeverCompletes(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	k := b.kernel(`
__global__ void half(int *out) {
    if (threadIdx.x < 32) __syncthreads();
    else __shfl_sync(~0u, 1, 0), out[0] = __shfl_sync(3, 1, 0) + __shfl_sync(1u << 31 | 1, 2, 0);
}`)
	out := upload(b, make([]int32, 1))
	b.ok(b.launch(k, dim(1), dim(64), 0, out))
	if err := b.sync(); !errors.Is(err, driver.ErrLaunchFailed) || !strings.Contains(err.Error(), "barrier") {
		t.Errorf("%v", err)
	}
}

// Threads of a cluster that wait at different barriers are found.
func TestClusterBarrierThatNeverCompletes(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	k := b.kernel(`
#include <cooperative_groups.h>
__global__ void apart() {
    if (blockIdx.x == 3 && threadIdx.x == 0) __syncthreads();
    cooperative_groups::this_cluster().sync();
}`)
	l := &driver.Launch{Function: k, Name: "apart", Grid: dim(8), Block: dim(64), Attributes: &driver.LaunchAttributes{Cluster: dim(4)}}
	b.ok(b.d.Launch(b.c, l))
	if err := b.sync(); !errors.Is(err, driver.ErrLaunchFailed) || !strings.Contains(err.Error(), "barrier") {
		t.Errorf("%v", err)
	}
}

// TestMissingBarrier reads what another thread of the block has not written
// yet: in one order or the other it shows.
func TestMissingBarrier(t *testing.T) { missingBarrier(t, sim.Options{}) }

func missingBarrier(t *testing.T, o sim.Options) {
	wrong := map[string]int{}
	o.Devices, o.Memory, o.Adversarial = 1, 1<<28, true
	for seed := range uint64(20) {
		o.Seed = seed + 1
		b := newBox(t, o)
		for _, barrier := range []string{"", "__syncthreads();"} {
			k := b.kernel("__global__ void left(int *x) { __shared__ int s[64]; s[threadIdx.x] = x[threadIdx.x]; " + barrier +
				" x[threadIdx.x] = threadIdx.x ? s[threadIdx.x - 1] : 0; __syncthreads(); s[threadIdx.x] = -1; }")
			x := make([]int32, 64)
			for i := range x {
				x[i] = int32(i + 1)
			}
			p := upload(b, x)
			b.ok(b.launch(k, dim(1), dim(64), 0, p))
			for i, v := range download[int32](b, p, 64) {
				if v != int32(i) {
					wrong[barrier]++
					break
				}
			}
		}
	}
	if wrong[""] == 0 || wrong["__syncthreads();"] != 0 {
		t.Errorf("of 20 runs %d were wrong without the barrier, %d with it", wrong[""], wrong["__syncthreads();"])
	}
}

// TestRacesShow counts without atomic operations: as on a GPU, most of it is
// lost; with them nothing is.
func TestRacesShow(t *testing.T) { racesShow(t, sim.Options{Devices: 1}) }

func racesShow(t *testing.T, o sim.Options) {
	b := newBox(t, o)
	const n = 256 * 256
	for _, c := range []struct {
		name, body string
		lost       bool
	}{
		{"plain", "*count += 1", true},
		{"written out", "count[0] = count[0] + 1", true},
		{"postfix", "count[i % 1]++", true},
		{"atomic", "atomicAdd(count, 1)", false},
	} {
		k := b.kernel("__global__ void f(int *count) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= 0) " + c.body + "; }")
		count := upload(b, make([]int32, 1))
		b.ok(b.launch(k, dim(n/256), dim(256), 0, count))
		b.ok(b.sync())
		got := download[int32](b, count, 1)[0]
		t.Logf("%s: %d of %d", c.name, got, n)
		if got < 1 || c.lost != (got < n/4) || !c.lost && got != n {
			t.Errorf("%s: %d of %d", c.name, got, n)
		}
	}
	// One thread of each block, after a barrier.
	k := b.kernel(`__global__ void f(int *count) {
    int here = __syncthreads_count(1);
    if (threadIdx.x == 0) *count += here;
}`)
	count := upload(b, make([]int32, 1))
	b.ok(b.launch(k, dim(n/256), dim(256), 0, count))
	b.ok(b.sync())
	t.Logf("by blocks: %d of %d", download[int32](b, count, 1)[0], n)
}
