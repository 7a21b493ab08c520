package cuda_test

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
)

// devices gives at least n devices: of the back end that GOCUDA_BACKEND names,
// real GPUs where there are any.
func devices(t testing.TB, n int) []*cuda.Device {
	t.Helper()
	list, err := cuda.Devices()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < n {
		t.Skipf("needs %d devices, there are %d", n, len(list))
	}
	return list
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		ok(t, err)
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused checks that err is a cuda.Error with the code, whose text holds want.
func refused(t testing.TB, err error, code driver.Code, want string) {
	t.Helper()
	var e *cuda.Error
	if !errors.As(err, &e) || !errors.Is(err, code) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v; want %v with %q", err, code, want)
	}
}

// compile compiles, or skips where there is no compiler.
func compile(t testing.TB, src string, options ...cuda.CompileOption) *cuda.Module {
	t.Helper()
	m, err := cuda.Compile(src, options...)
	if errors.Is(err, driver.ErrSharedObjectInit) || errors.Is(err, driver.ErrFileNotFound) {
		t.Skipf("no compiler: %v", err)
	}
	ok(t, err)
	return m
}

func kernel(t testing.TB, m *cuda.Module, name string) *cuda.Kernel {
	t.Helper()
	return must[*cuda.Kernel](t)(m.Kernel(name))
}

func TestUploadDownload(t *testing.T) {
	d := devices(t, 1)[0]
	b := must[*cuda.Buffer](t)(d.Alloc(4, cuda.Float32))
	ok(t, b.Upload([]float32{1, 2, 3, 4}))
	ok(t, b.Slice(1, 3).Upload([]float32{20, 30}))
	got := must[[]float32](t)(b.Float32s())
	if got[0] != 1 || got[1] != 20 || got[2] != 30 || got[3] != 4 {
		t.Errorf("%v", got)
	}
	type celsius float32
	temps := make([]celsius, 4)
	ok(t, b.Download(temps))
	if temps[2] != 30 {
		t.Errorf("%v", temps)
	}
	refused(t, b.Upload([]float32{1}), cuda.ErrInvalidValue, "the destination has 4 elements, the source 1")
	refused(t, b.Upload([]float64{1, 2, 3, 4}), cuda.ErrInvalidValue, "holds Float32, the source Float64")
	refused(t, b.Upload([]int{1, 2, 3, 4}), cuda.ErrInvalidValue, "give a []float32 in place of the []int, or allocate the memory as cuda.Int64")
	refused(t, b.Download(make([]int8, 4)), cuda.ErrInvalidValue, "give a []float32 in place of the []int8, or allocate the memory as cuda.Int8")
	_, err := b.Int64s()
	refused(t, err, cuda.ErrInvalidValue, "Buffer.Int64s (device 0): CUDA_ERROR_INVALID_VALUE (1): the buffer holds Float32: call Float32s")
	refused(t, b.Upload("text"), cuda.ErrInvalidValue, "cannot copy string")
	refused(t, b.Upload(nil), cuda.ErrInvalidValue, "cannot copy")
	ok(t, b.Free())
	refused(t, b.Free(), cuda.ErrInvalidValue, "freed before")
	refused(t, b.Upload(got), cuda.ErrInvalidValue, "freed before")
	refused(t, b.Slice(0, 1).Memset(0), cuda.ErrInvalidValue, "freed before")
}

// Slices of what is no number are copied as bytes.
func TestSlicesOfStructs(t *testing.T) {
	d := devices(t, 1)[0]
	type place struct {
		X, Y float32
		At   [2]uint16
		Free bool
	}
	from := []place{{1, 2, [2]uint16{3, 4}, true}, {X: 5}}
	b := must[*cuda.Buffer](t)(d.Upload(from))
	if b.Type() != cuda.Uint8 || b.Len() != 32 {
		t.Errorf("%v of %v", b.Len(), b.Type())
	}
	to := make([]place, 2)
	ok(t, b.Download(to))
	if to[0] != from[0] || to[1] != from[1] {
		t.Errorf("%v", to)
	}
	arrays, bools := make([][4]float32, 2), make([]bool, 32)
	ok(t, b.Download(arrays))
	if arrays[0][1] != 2 || arrays[1][0] != 5 {
		t.Errorf("%v", arrays)
	}
	ok(t, b.Memset(1))
	ok(t, b.Download(bools))
	if !bools[31] {
		t.Errorf("%v", bools)
	}
	type number int
	numbers := must[*cuda.Buffer](t)(d.Upload([]number{1, 2}))
	if got := must[[]int64](t)(numbers.Int64s()); got[1] != 2 {
		t.Errorf("%v", got)
	}
	refused(t, b.Download(make([]place, 3)), cuda.ErrInvalidValue, "has 48 elements, the source 32")
	for _, list := range []any{[]string{"a"}, []*int{nil}, []struct{ Name string }{{"a"}}, [][]float32{{1}}, []any{1}} {
		refused(t, b.Upload(list), cuda.ErrInvalidValue, "cannot copy")
	}
}

func TestEveryType(t *testing.T) {
	d := devices(t, 1)[0]
	for _, c := range []struct {
		typ   cuda.Type
		slice any
	}{
		{cuda.Uint8, []byte{1, 2}}, {cuda.Uint16, []uint16{1, 2}}, {cuda.Uint32, []uint32{1, 2}}, {cuda.Uint64, []uint64{1, 2}},
		{cuda.Int8, []int8{1, 2}}, {cuda.Int16, []int16{1, 2}}, {cuda.Int32, []int32{1, 2}}, {cuda.Int64, []int64{1, 2}}, {cuda.Int64, []int{1, 2}},
		{cuda.Float32, []float32{1, 2}}, {cuda.Float64, []float64{1, 2}}, {cuda.Float16, []uint16{1, 2}}, {cuda.BFloat16, []uint16{1, 2}},
		{cuda.Complex64, []complex64{1, 2}}, {cuda.Complex128, []complex128{1, 2}},
	} {
		b := must[*cuda.Buffer](t)(d.Alloc(2, c.typ))
		if err := b.Upload(c.slice); err != nil {
			t.Errorf("%s: %v", c.typ, err)
		}
		if b.Bytes() != 2*c.typ.Size() {
			t.Errorf("%s: %d bytes", c.typ, b.Bytes())
		}
		ok(t, b.Free())
	}
}

func TestZeroElements(t *testing.T) {
	d := devices(t, 1)[0]
	b := must[*cuda.Buffer](t)(d.Alloc(0, cuda.Int32))
	ok(t, b.Upload([]int32{}))
	ok(t, b.Memset(1))
	ok(t, b.Free())
	_, err := d.Alloc(-1, cuda.Int32)
	refused(t, err, cuda.ErrInvalidValue, "-1 elements")
	_, err = d.Alloc(1, 0)
	refused(t, err, cuda.ErrInvalidValue, "not an element type")
}

func TestOutOfMemorySaysHowMuch(t *testing.T) {
	d := devices(t, 1)[0]
	_, err := d.Alloc(1<<50, cuda.Uint8)
	refused(t, err, cuda.ErrOutOfMemory, "1024 TiB asked for")
}

const saxpy = `
__global__ void saxpy(int n, float a, const float *x, float *y) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] = a * x[i] + y[i];
}
template <class T, int N> __global__ void scale(T *x, T by) { if (threadIdx.x < N) x[threadIdx.x] *= by; }
struct Pair { int a; double b; };
namespace deep { __global__ void pair(Pair p, double *out) { *out = p.a + p.b; } }
__global__ void kinds(bool b, unsigned char c, long long l, double *out) { out[0] = b; out[1] = c; out[2] = l; }
__constant__ float table[4];
__global__ void lookup(float *out) { out[threadIdx.x] = table[threadIdx.x]; }
`

func TestLaunch(t *testing.T) {
	for _, d := range devices(t, 1) { // one module, every device
		m := compile(t, saxpy)
		k := kernel(t, m, "saxpy")
		const n = 1000
		x, y := must[*cuda.Buffer](t)(d.Alloc(n, cuda.Float32)), must[*cuda.Buffer](t)(d.Alloc(n, cuda.Float32))
		in := make([]float32, n)
		for i := range in {
			in[i] = float32(i)
		}
		ok(t, x.Upload(in))
		ok(t, y.Upload(in))
		s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
		ok(t, d.Synchronize())
		ok(t, k.Launch(cuda.GridFor(n, 256), cuda.Block(256), s, n, 2, x, y))
		ok(t, s.Synchronize())
		for i, v := range must[[]float32](t)(y.Float32s()) {
			if v != 3*float32(i) {
				t.Fatalf("device %d: y[%d] = %g", d.Ordinal(), i, v)
			}
		}
		ok(t, s.Destroy())
		ok(t, x.Free())
		ok(t, y.Free())
		ok(t, m.Unload())
	}
}

func TestArguments(t *testing.T) {
	d := devices(t, 1)[0]
	m := compile(t, saxpy+"\n__global__ void one(int *p) {}\n", cuda.Instantiate("scale<double, 2>"))
	refused(t, kernel(t, m, "one").Launch(cuda.Grid(1), cuda.Block(4), nil), cuda.ErrInvalidValue, "one(int *p) takes 1 argument, not 0")
	k := kernel(t, m, "saxpy")
	x := must[*cuda.Buffer](t)(d.Alloc(4, cuda.Float32))
	defer x.Free()
	ints := must[*cuda.Buffer](t)(d.Alloc(4, cuda.Int32))
	defer ints.Free()
	launch := func(args ...any) error { return k.Launch(cuda.Grid(1), cuda.Block(4), d.DefaultStream(), args...) }
	for _, c := range []struct {
		args []any
		want string
	}{
		{[]any{4, 1.5, x}, "takes 4 arguments, not 3"},
		{[]any{4, 1.5, x, x, cuda.SharedMemory(64)}, "argument 5 is a launch option: pass it by saxpy.With(option).Launch(...)"},
		{[]any{4.0, 1.5, x, x}, "argument 1 (n) of saxpy(int n, float a, const float *x, float *y): a floating-point number was given for int"},
		{[]any{1 << 40, 1.5, x, x}, "1099511627776 does not fit into int"},
		{[]any{4, 1e300, x, x}, "does not fit into float"},
		{[]any{4, 1<<24 + 1, x, x}, "cannot be represented exactly as float"},
		{[]any{4, 1.5, ints, x}, "a buffer of Int32 was given; it points to float"},
		{[]any{4, 1.5, 7, x}, "an integer was given for a float *: give the buffer"},
		{[]any{x, 1.5, x, x}, "a buffer was given for a number"},
		{[]any{4, true, x, x}, "a bool was given for float"},
		{[]any{4, 1.5, []float32{1}, x}, "[]float32 is host memory"},
		{[]any{4, "a", x, x}, "string cannot be passed"},
		{[]any{nil, 1.5, x, x}, "nil is a null pointer"},
	} {
		refused(t, launch(c.args...), cuda.ErrInvalidValue, c.want)
	}
	refused(t, k.Launch(cuda.Grid(0), cuda.Block(4), nil, 4, 1.5, x, x), cuda.ErrInvalidValue, "from 1 to 2147483647")
	refused(t, k.Launch(cuda.Grid(1), cuda.Block(4096), nil, 4, 1.5, x, x), cuda.ErrInvalidValue, "a block has at most")

	out := must[*cuda.Buffer](t)(d.Upload(make([]float64, 3)))
	defer out.Free()
	ok(t, kernel(t, m, "deep::pair").Launch(cuda.Grid(1), cuda.Block(1), nil, struct {
		A int32
		B float64
	}{3, 0.5}, out))
	if got := must[[]float64](t)(out.Float64s()); got[0] != 3.5 {
		t.Errorf("pair: %v", got)
	}
	refused(t, kernel(t, m, "deep::pair").Launch(cuda.Grid(1), cuda.Block(1), nil, struct{ A int32 }{3}, out), cuda.ErrInvalidValue, "has 4 bytes, Pair has 16")
	ok(t, kernel(t, m, "kinds").Launch(cuda.Grid(1), cuda.Block(1), nil, true, byte(200), -5, out))
	if got := must[[]float64](t)(out.Float64s()); got[0] != 1 || got[1] != 200 || got[2] != -5 {
		t.Errorf("kinds: %v", got)
	}
	refused(t, kernel(t, m, "kinds").Launch(cuda.Grid(1), cuda.Block(1), nil, true, 256, -5, out), cuda.ErrInvalidValue, "256 does not fit into unsigned char")
	ok(t, out.Upload([]float64{1, 2, 3}))
	ok(t, kernel(t, m, "scale<double,2>").Launch(cuda.Grid(1), cuda.Block(3), nil, out, 10))
	if got := must[[]float64](t)(out.Float64s()); got[0] != 10 || got[1] != 20 || got[2] != 3 {
		t.Errorf("scale: %v", got)
	}
	if _, err := m.Kernel("nothing"); err == nil || !strings.Contains(err.Error(), "the module has: saxpy, deep::pair") {
		t.Errorf("got %v", err)
	}
	_, err := cuda.Compile(saxpy, cuda.Instantiate("saxpy<float>"))
	refused(t, err, cuda.ErrInvalidSource, `no kernel template for "saxpy<float>"; the templates are: scale`)
}

func TestConstants(t *testing.T) {
	d := devices(t, 1)[0]
	m := compile(t, saxpy)
	table := must[*cuda.Buffer](t)(m.Global(d, "table", cuda.Float32))
	if table.Len() != 4 {
		t.Fatalf("table has %d elements", table.Len())
	}
	ok(t, table.Upload([]float32{5, 6, 7, 8}))
	out := must[*cuda.Buffer](t)(d.Alloc(4, cuda.Float32))
	defer out.Free()
	ok(t, kernel(t, m, "lookup").Launch(cuda.Grid(1), cuda.Block(4), d.DefaultStream(), out))
	if got := must[[]float32](t)(out.Float32s()); got[3] != 8 {
		t.Errorf("%v", got)
	}
	refused(t, table.Free(), cuda.ErrInvalidValue, "belongs to a module")
	_, err := m.Global(d, "nothing", cuda.Float32)
	refused(t, err, cuda.ErrNotFound, "")
}

func TestCompileErrorShowsTheLine(t *testing.T) {
	devices(t, 1)
	compile(t, saxpy)
	_, err := cuda.Compile("__global__ void k() {\n  nothing();\n}\n", cuda.SourceName("Cell [4]"))
	refused(t, err, cuda.ErrInvalidSource, "Cell [4]")
	if err != nil && !strings.Contains(err.Error(), "nothing") {
		t.Errorf("got %v", err)
	}
}

func TestPeers(t *testing.T) {
	list := devices(t, 2)
	a, b := list[0], list[1]
	refused(t, a.EnablePeerAccess(a), driver.ErrInvalidDevice, "not its own peer")
	refused(t, a.EnablePeerAccess(nil), driver.ErrInvalidDevice, "the peer is nil")
	x, y := must[*cuda.Buffer](t)(a.Alloc(1000, cuda.Int32)), must[*cuda.Buffer](t)(b.Alloc(1000, cuda.Int32))
	in := make([]int32, 1000)
	for i := range in {
		in[i] = int32(i * i)
	}
	ok(t, x.Upload(in))
	s := must[*cuda.Stream](t)(a.NewStream(cuda.NonBlocking))
	ok(t, cuda.MemcpyPeerAsync(y, x, s))
	ok(t, s.Synchronize())
	if got := must[[]int32](t)(y.Int32s()); got[999] != 999*999 {
		t.Errorf("%d", got[999])
	}
	ok(t, y.Memset(0))
	ok(t, cuda.MemcpyPeer(y, x))
	ok(t, cuda.Synchronize())
	if got := must[[]int32](t)(y.Int32s()); got[999] != 999*999 {
		t.Errorf("%d", got[999])
	}
	if can := must[bool](t)(a.CanAccessPeer(b)); can {
		m := compile(t, `__global__ void inc(int *p) { p[threadIdx.x]++; }`)
		k := kernel(t, m, "inc")
		refused(t, k.Launch(cuda.Grid(1), cuda.Block(1000), s, y), cuda.ErrInvalidValue, "call EnablePeerAccess")
		ok(t, a.EnablePeerAccess(b))
		ok(t, a.EnablePeerAccess(b))
		ok(t, k.Launch(cuda.Grid(1), cuda.Block(1000), s, y))
		ok(t, s.Synchronize())
		if got := must[[]int32](t)(y.Int32s()); got[10] != 101 {
			t.Errorf("%d", got[10])
		}
		ok(t, a.DisablePeerAccess(b))
	}
	refused(t, cuda.MemcpyPeer(y.Slice(0, 10), x), cuda.ErrInvalidValue, "the destination has 10 elements")
	ok(t, x.Free())
	ok(t, y.Free())
}

func TestPinned(t *testing.T) {
	d := devices(t, 1)[0]
	h := must[*cuda.HostBuffer](t)(cuda.AllocHost(100, cuda.Float64))
	b := must[*cuda.Buffer](t)(d.Alloc(100, cuda.Float64))
	in := must[[]float64](t)(h.Float64s())
	for i := range in {
		in[i] = float64(i)
	}
	s := must[*cuda.Stream](t)(d.NewStream())
	back := must[*cuda.HostBuffer](t)(cuda.AllocHost(100, cuda.Float64))
	ok(t, b.UploadAsync(h, s))
	ok(t, b.DownloadAsync(back, s))
	ok(t, s.Synchronize())
	if v := must[[]float64](t)(back.Float64s()); v[99] != 99 {
		t.Errorf("%v", v[99])
	}
	if v := must[[]float64](t)(back.Slice(10, 20).Float64s()); len(v) != 10 || v[0] != 10 {
		t.Errorf("%v", v)
	}
	_, err := h.Int32s()
	refused(t, err, cuda.ErrInvalidValue, "holds Float64, not Int32")
	ok(t, h.Free())
	refused(t, h.Free(), cuda.ErrInvalidValue, "freed before")
	ok(t, back.Free())
	ok(t, b.Free())
	page := must[*cuda.HostBuffer](t)(cuda.AllocPageable(10, cuda.Int32))
	if page.Pinned() || !h.Pinned() {
		t.Error("pinned or not is wrong")
	}
}

func TestEvents(t *testing.T) {
	d := devices(t, 1)[0]
	s := must[*cuda.Stream](t)(d.NewStream())
	start, end := must[*cuda.Event](t)(d.NewEvent()), must[*cuda.Event](t)(d.NewEvent())
	b := must[*cuda.Buffer](t)(d.Alloc(1<<20, cuda.Uint8))
	ok(t, start.Record(s))
	ok(t, b.MemsetAsync(1, s))
	ok(t, end.Record(s))
	ok(t, end.Synchronize())
	elapsed, err := cuda.Elapsed(start, end)
	ok(t, err)
	if elapsed <= 0 {
		t.Errorf("%v", elapsed)
	}
	quick := must[*cuda.Event](t)(d.NewEvent(cuda.DisableTiming))
	_, err = cuda.Elapsed(start, quick)
	refused(t, err, cuda.ErrInvalidHandle, "DisableTiming")
	ok(t, end.Destroy())
	refused(t, end.Record(s), cuda.ErrInvalidHandle, "destroyed")
	ok(t, s.Destroy())
	refused(t, s.Synchronize(), cuda.ErrInvalidHandle, "destroyed")
	refused(t, d.DefaultStream().Destroy(), cuda.ErrInvalidHandle, "cannot be destroyed")
	ok(t, b.Free())
}

func TestInterrupt(t *testing.T) {
	d := devices(t, 1)[0]
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	open := make(chan struct{})
	ok(t, s.LaunchHostFunc(func() { <-open }))
	stop := make(chan struct{})
	cuda.SetInterrupt(stop)
	defer cuda.SetInterrupt(nil)
	out := make(chan error)
	go func() { out <- s.Synchronize() }()
	close(stop)
	if err := <-out; !errors.Is(err, cuda.ErrInterrupted) {
		t.Errorf("got %v", err)
	}
	cuda.SetInterrupt(nil)
	close(open)
	ok(t, s.Synchronize())
	ok(t, s.Destroy())
}

func TestStreamOrderedMemory(t *testing.T) {
	d := devices(t, 1)[0]
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	b := must[*cuda.Buffer](t)(s.AllocAsync(256, cuda.Int32))
	ok(t, b.MemsetAsync(1, s))
	out := make([]int32, 256)
	ok(t, b.DownloadAsync(out, s))
	ok(t, s.Synchronize())
	if out[255] != 0x01010101 {
		t.Errorf("%#x", out[255])
	}
	ok(t, b.FreeAsync(s))
	refused(t, b.FreeAsync(s), cuda.ErrInvalidValue, "freed before")
	plain := must[*cuda.Buffer](t)(d.Alloc(1, cuda.Int32))
	refused(t, plain.FreeAsync(s), cuda.ErrInvalidValue, "use Free")
	ok(t, plain.Free())
	ok(t, s.Synchronize())
}

func TestLeaksNameTheCaller(t *testing.T) {
	d := devices(t, 1)[0]
	before := len(cuda.Leaks())
	b := must[*cuda.Buffer](t)(d.Alloc(12345, cuda.Uint8))
	found := false
	for _, l := range cuda.Leaks() {
		if l.Bytes == 12345 {
			found = true
			if !strings.Contains(l.Where, "TestLeaksNameTheCaller") || l.Kind != "device" {
				t.Errorf("%+v", l)
			}
		}
	}
	if !found {
		t.Error("the buffer is not listed")
	}
	ok(t, b.Free())
	if after := len(cuda.Leaks()); after > before {
		t.Errorf("%d leaks before, %d after", before, after)
	}
}

func TestUnreachableBuffersAreReclaimed(t *testing.T) {
	d := devices(t, 1)[0]
	for range 64 {
		_, err := d.Alloc(7777, cuda.Uint8)
		ok(t, err)
		runtime.GC()
	}
	n := 64
	for end := time.Now().Add(time.Minute); n > 32 && time.Now().Before(end); runtime.GC() { // which runs cleanups later
		n = 0
		for _, l := range cuda.Leaks() {
			if l.Bytes == 7777 {
				n++
			}
		}
	}
	if n > 32 {
		t.Errorf("%d of 64 unreachable buffers are still allocated", n)
	}
}

func TestManyGoroutines(t *testing.T) {
	list := devices(t, 1)
	m := compile(t, saxpy)
	k := kernel(t, m, "saxpy")
	var wg sync.WaitGroup
	for g := range 200 {
		d := list[g%len(list)]
		wg.Go(func() {
			const n = 512
			s, err := d.NewStream(cuda.NonBlocking)
			if err != nil {
				t.Error(err)
				return
			}
			x, y := must[*cuda.Buffer](t)(s.AllocAsync(n, cuda.Float32)), must[*cuda.Buffer](t)(s.AllocAsync(n, cuda.Float32))
			in, out := make([]float32, n), make([]float32, n)
			for i := range in {
				in[i] = float32(g + i)
			}
			for _, err := range []error{
				x.UploadAsync(in, s), y.UploadAsync(in, s),
				k.Launch(cuda.GridFor(n, 128), cuda.Block(128), s, n, float32(g), x, y),
				y.DownloadAsync(out, s), s.Synchronize(),
			} {
				if err != nil {
					t.Error(err)
				}
			}
			for i := range out {
				if want := float32(g)*in[i] + in[i]; out[i] != want {
					t.Errorf("goroutine %d: out[%d] = %g, want %g", g, i, out[i], want)
					break
				}
			}
			for _, err := range []error{x.FreeAsync(s), y.FreeAsync(s), s.Synchronize(), s.Destroy()} {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestBackendInfo(t *testing.T) {
	devices(t, 1)
	info, err := cuda.Backend()
	ok(t, err)
	if info.Name != "nvidia" && info.Name != "sim" || info.Devices < 1 || !strings.Contains(info.String(), info.Name) {
		t.Errorf("%+v", info)
	}
	if os.Getenv("GOCUDA_BACKEND") == "" && info.Name == "sim" && !strings.Contains(info.String(), "not nvidia: ") {
		t.Errorf("it does not say why no GPU is used: %s", info)
	}
}

func TestDisplay(t *testing.T) {
	list, err := cuda.Devices()
	ok(t, err)
	if s := list.String(); strings.Count(s, "\n") != len(list)-1 || !strings.Contains(s, "compute capability") {
		t.Errorf("%q", s)
	}
	if h := list.HTML(); strings.Count(h, "<tr>") != len(list)+1 {
		t.Errorf("%q", h)
	}
	_, err = cuda.Get(len(list))
	refused(t, err, driver.ErrInvalidDevice, "device")
	refused(t, cuda.SetDevice(-1), driver.ErrInvalidDevice, "device -1")
	ok(t, cuda.SetDevice(len(list)-1))
	if d, _ := cuda.CurrentDevice(); d.Ordinal() != len(list)-1 {
		t.Errorf("current device %d", d.Ordinal())
	}
	ok(t, cuda.SetDevice(0))
}

// Buffers without elements have no memory that the collector could free.
func TestEmptyBuffersAreCollected(t *testing.T) {
	d := devices(t, 1)[0]
	for range 10 {
		must[*cuda.Buffer](t)(d.Alloc(0, cuda.Float32))
	}
	for range 20 {
		runtime.GC()
		b := must[*cuda.Buffer](t)(d.Alloc(1, cuda.Float32))
		ok(t, b.Free())
	}
}

// As a cell that is run again and again: the new memory is asked for while the old
// one is still referred to, so that every other time none is free until what
// nobody refers to is given back.
func TestAllocFreesWhatNobodyRefersTo(t *testing.T) {
	d := devices(t, 1)[0]
	for name, alloc := range map[string]func(n int) (any, error){
		"Alloc": func(n int) (any, error) { return d.Alloc(n, cuda.Uint8) },
		"AllocAsync": func(n int) (any, error) {
			b, err := d.DefaultStream().AllocAsync(n, cuda.Uint8)
			if err != nil {
				return nil, err
			}
			if err := errors.Join(b.Free(), d.Synchronize()); err != nil {
				return nil, err
			}
			return d.Alloc(n, cuda.Uint8)
		},
	} {
		t.Run(name, func(t *testing.T) {
			free, _, err := d.MemInfo()
			ok(t, err)
			var x any
			for i := range runs() {
				next, err := alloc(int(free / 8 * 3))
				if err != nil {
					t.Fatalf("run %d: %v", i+1, err)
				}
				x = next
			}
			ok(t, x.(*cuda.Buffer).Free())
		})
	}
}

// runs is how often a test takes more memory than is left beside what nobody refers to.
func runs() int {
	if testing.Short() {
		return 8
	}
	return 40
}

// Pinned memory counts on no device alone: what is short for one may be held by
// another's.
func TestAllocHostFreesWhatNobodyRefersTo(t *testing.T) {
	info, err := cuda.Backend()
	ok(t, err)
	if info.Name != "sim" {
		t.Skip("it would take the machine's memory")
	}
	list := devices(t, 2)
	for i := range runs() {
		if _, err := list[i%2].AllocHost(3<<32, cuda.Uint8); err != nil {
			t.Fatalf("run %d: %v", i+1, err)
		}
	}
}
