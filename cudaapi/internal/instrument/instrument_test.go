package instrument

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/sim"
)

// kernels touch memory in the ways that their names say. On simulated devices, which
// have no PTX, the calls that note it are written here.
const kernels = `
#ifdef NOTED
#define NOTE(p, mode) gocuda_note((gocuda_address)(p), (unsigned)sizeof(*(p)) << 2 | mode, trace)
#define ARGS , gocuda_trace *trace
#else
#define NOTE(p, mode)
#define ARGS
#endif
extern "C" __global__ void every_fourth(float *x, const unsigned char *y, unsigned *z, unsigned n ARGS) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    NOTE(y + i, 0); NOTE(x + i * 4, 1); NOTE(z, 2);
    x[i * 4] = y[i] + 1;
    atomicAdd(z, 1u);
    if (i == 7) { NOTE(z + 1, 1); z[1] = 2; }
}
extern "C" __global__ void all(float *x, const unsigned char *y, unsigned *z, unsigned n ARGS) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        NOTE((double *)x + i, 0); NOTE((double *)x + i, 1);
        ((double *)x)[i] += 1;
    }
}
`

// bench is a context with the kernels.
type bench struct {
	t *testing.T
	d driver.Driver
	c driver.Context
	m driver.Module
	s driver.Stream
	x *Tracer

	src    *driver.Source
	read   []byte         // in the heap, where it stays
	origin *driver.Origin // of the kernels, once there is one
}

func newBench(t *testing.T, d driver.Driver, source string) *bench {
	b := &bench{t: t, d: d, src: &driver.Source{Name: "k.cu", Code: source}}
	var err error
	b.c, err = d.PrimaryRetain(0)
	b.check(err)
	b.s, err = d.StreamCreate(b.c, driver.StreamNonBlocking, 0)
	b.check(err)
	out, err := d.Compile(0, b.src)
	b.check(err)
	b.m, err = d.ModuleLoad(b.c, out.Image)
	b.check(err)
	b.x = New(d)
	return b
}

func (b *bench) check(err error) {
	if err != nil {
		b.t.Helper()
		b.t.Fatal(err)
	}
}

func (b *bench) alloc(n uint64) driver.Ptr {
	p, err := b.d.MemAlloc(b.c, n)
	b.check(err)
	b.check(b.d.Memset(b.c, p, 0, 1, n))
	b.check(b.d.CtxSynchronize(b.c, nil))
	return p
}

// word is one of a device's memory.
func (b *bench) word(at driver.Ptr) uint32 {
	b.read = make([]byte, 4)
	b.check(b.d.Memcpy(b.c, driver.Ptr(uintptr(pointerOf(b.read))), at, 4))
	return binary.NativeEndian.Uint32(b.read)
}

func (b *bench) launch(name string, grid, block uint32, args ...any) *driver.Launch {
	f, err := b.d.ModuleFunction(b.c, b.m, name)
	b.check(err)
	l := &driver.Launch{Function: f, Name: name, Grid: driver.Dim3{X: grid, Y: 1, Z: 1}, Block: driver.Dim3{X: block, Y: 1, Z: 1}, Stream: b.s,
		Origin: &driver.Origin{Source: b.src, Module: b.m, Symbol: name}}
	if b.origin != nil {
		l.Origin = b.origin
	}
	for _, a := range args {
		switch a := a.(type) {
		case driver.Ptr:
			l.Params = binary.NativeEndian.AppendUint64(l.Params, uint64(a))
		case int:
			l.Params = binary.NativeEndian.AppendUint32(l.Params, uint32(a))
		}
	}
	return l
}

// simulated is a driver of a simulated device.
func simulated(t *testing.T) *sim.Driver {
	t.Helper()
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	d, err := sim.New(sim.Options{Devices: 1, Memory: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// outlined is a kernel and its outline.
const outlined = `
#ifdef NOTED
extern "C" __global__ void set(float *x, unsigned n, float value, gocuda_trace *trace) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        gocuda_note((gocuda_address)(x + i), 4 << 2 | 1, trace);
}
#else
extern "C" __global__ void set(float *x, unsigned n, float value) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = value;
}
#endif
`

// An outline runs once for all launches with the same arguments, beside the program's
// own kernel: before it, if that waits.
func TestOutlineRunsOnce(t *testing.T) {
	d := simulated(t)
	b := newBench(t, d, outlined)
	b.x.variant = func(c driver.Context, dev driver.Device, from *driver.Origin) (made, error) {
		v, err := onHost(d)(c, dev, from)
		v.outline, v.by = true, []int{0, 1}
		return v, err
	}
	const n = 1000
	x := b.alloc(4 * n)
	at := func(i int) float32 {
		b.check(b.d.CtxSynchronize(b.c, nil))
		return math.Float32frombits(b.word(x + driver.Ptr(4*i)))
	}
	launch := func(count int, value float32) *driver.Launch {
		return b.launch("set", 3, 64, x, count, int(math.Float32bits(value)))
	}
	times := func() (list int) {
		for _, v := range b.x.variants {
			list += len(v.told)
		}
		return list
	}
	for i, c := range []struct {
		count int
		value float32
		times int
	}{{n, 1, 1}, {n, 2, 1}, {n / 2, 3, 2}, {n, 4, 2}} {
		l := launch(c.count, c.value)
		b.origin = l.Origin // as of one kernel
		b.same(b.touched(l, 4*n, x), []driver.Access{{Lo: x, Hi: x + driver.Ptr(4*c.count), Mode: driver.AccessWrite}})
		if got := at(c.count - 1); got != c.value {
			t.Errorf("launch %d wrote %g, want %g", i, got, c.value)
		}
		if times() != c.times {
			t.Errorf("launch %d: the outline ran %d times, want %d", i, times(), c.times)
		}
	}
	// Behind what has not come yet.
	gate := make(chan struct{})
	b.check(d.LaunchHostFunc(b.c, b.s, func() { <-gate }))
	told := make(chan []driver.Access, 1)
	if !b.prepared(launch(n/4, 5), false).Launch(b.c, launch(n/4, 5), nil, func(list []driver.Access) { told <- list }) {
		t.Fatal("not launched")
	}
	b.same(<-told, []driver.Access{{Lo: x, Hi: x + n, Mode: driver.AccessWrite}})
	close(gate)
	if got := at(n/4 - 1); got != 5 {
		t.Errorf("the launch behind the gate wrote %g", got)
	}
	// In a graph, too, it is the program's kernel that runs.
	b.check(d.StreamBeginCapture(b.c, b.s))
	node := b.prepared(launch(n/4, 6), true).Capture(b.c, launch(n/4, 6))
	g, err := d.StreamEndCapture(b.c, b.s)
	b.check(err)
	if node == nil {
		t.Fatal("not captured")
	}
	if got := at(0); got != 5 {
		t.Errorf("a capture wrote %g", got)
	}
	exec, err := d.GraphInstantiate(b.c, g)
	b.check(err)
	for range 2 {
		b.check(d.GraphLaunch(b.c, exec, b.s))
		b.x.Ran(b.c, 0, b.s, []*Node{node}, nil, []func([]driver.Access){func(list []driver.Access) { told <- list }})
		b.same(<-told, []driver.Access{{Lo: x, Hi: x + n, Mode: driver.AccessWrite}})
	}
	if got := at(0); got != 6 {
		t.Errorf("the graph wrote %g", got)
	}
	if times() != 3 {
		t.Errorf("the outline ran %d times, want 3", times())
	}
}

// What an outline has told in granules is cut to the memory that there is, and is one list
// for all launches as long as that memory is the same.
func TestRoundedOutline(t *testing.T) {
	d := simulated(t)
	b := newBench(t, d, outlined)
	b.x.variant = func(c driver.Context, dev driver.Device, from *driver.Origin) (made, error) {
		v, err := onHost(d)(c, dev, from)
		v.outline, v.by = true, []int{0, 1}
		return v, err
	}
	full := usual
	usual = [3]int{4, 8, 6} // room for 32 KiB that are exact
	defer func() { usual = full }()
	const n = 1<<18 - 10 // which end in the middle of a granule
	x := b.alloc(4 * n)
	l := b.launch("set", 1<<12, 64, x, n, 0)
	b.origin = l.Origin
	within := func(bytes ...driver.Ptr) *Memory { // allocations, one behind the other
		m, lo := &Memory{}, x
		for _, n := range bytes {
			m.Allocations = append(m.Allocations, Allocation{lo, lo + n})
			lo += n
		}
		return m
	}
	whole := within(4 * n)
	b.touched(l, 4*n, x)
	known := func(m *Memory) []driver.Access {
		list, ok := b.prepared(l, false).Known(func() *Memory { return m })
		if !ok {
			t.Fatal("it is not known what the kernel touches")
		}
		return list
	}
	first := known(whole)
	b.same(first, []driver.Access{{Lo: x, Hi: x + 4*n, Mode: driver.AccessWrite}})
	for what, m := range map[string]*Memory{"the same": whole, "as much": within(4 * n)} {
		if &known(m)[0] != &first[0] {
			t.Errorf("within %s memory it is another list", what)
		}
	}
	b.same(known(within(4*n, 512)), []driver.Access{{Lo: x, Hi: x + (4*n+255)&^255, Mode: driver.AccessWrite}})
	b.same(known(within(4*n-1024)), []driver.Access{{Lo: x, Hi: x + 4*n - 1024, Mode: driver.AccessWrite}})
}

// prepared prepares a kernel.
func (b *bench) prepared(l *driver.Launch, captured bool) *Prepared {
	b.t.Helper()
	k := b.x.Prepare(b.c, 0, l, captured)
	if k == nil {
		for _, v := range b.x.variants {
			b.t.Error(v.err)
		}
		b.t.Fatal("it cannot tell what it touches")
	}
	return k
}

// touched launches a kernel and gives what it touched of memory up to bytes from each
// of some addresses on.
func (b *bench) touched(l *driver.Launch, bytes driver.Ptr, of ...driver.Ptr) (list []driver.Access) {
	b.t.Helper()
	var mu sync.Mutex
	m := &Memory{}
	for _, p := range slices.Sorted(slices.Values(of)) { // of which each is an allocation
		m.Allocations = append(m.Allocations, Allocation{p, p + bytes})
	}
	if !b.prepared(l, false).Launch(b.c, l, m, func(found []driver.Access) { mu.Lock(); list = found; mu.Unlock() }) {
		b.t.Fatal("it does not run so that it tells")
	}
	b.check(b.d.CtxSynchronize(b.c, nil))
	b.x.Settle(nil)
	mu.Lock()
	defer mu.Unlock()
	return slices.DeleteFunc(slices.Clone(list), func(a driver.Access) bool {
		return !slices.ContainsFunc(of, func(p driver.Ptr) bool { return a.Lo >= p && a.Lo < p+bytes })
	})
}

func (b *bench) same(got, want []driver.Access) {
	b.t.Helper()
	want = merge(want)
	if !slices.Equal(got, want) {
		b.t.Errorf("%d ranges instead of %d: %x ..., not %x ...", len(got), len(want), got[:min(4, len(got))], want[:min(4, len(want))])
	}
}

func (b *bench) run() {
	const n = 5000
	x, y, z := b.alloc(16*n), b.alloc(n), b.alloc(8)
	var want []driver.Access
	for i := range driver.Ptr(n - 1) {
		want = append(want, driver.Access{Lo: x + 16*i, Hi: x + 16*i + 4, Mode: driver.AccessWrite})
	}
	want = append(want, driver.Access{Lo: y + 1, Hi: y + n, Mode: driver.AccessRead},
		driver.Access{Lo: z, Hi: z + 4, Mode: driver.AccessAtomic}, driver.Access{Lo: z + 4, Hi: z + 8, Mode: driver.AccessWrite})
	for range 2 { // the second finds nothing of the first
		b.same(b.touched(b.launch("every_fourth", n/100, 100, x, y+1, z, n-1), 16*n, x, y, z), want)
	}
	// More than the tables of bytes have room for: what is beyond has larger granules.
	const many = 3<<20 - 1000 // which end in the middle of a large granule
	big := b.alloc(8 * many)
	small := usual
	usual = [3]int{11, 8, 6} // room for 4 MiB, 128 MiB and 512 MiB
	defer func() { usual = small }()
	b.x.places = map[driver.Context]*place{}
	got := b.touched(b.launch("all", 32, 256, big, y, z, many), 8*many, big)
	for i, a := range got {
		if want := []driver.AccessMode{driver.AccessRead, driver.AccessWrite}[i]; i > 1 || a.Mode != want || a.Lo != big || a.Hi != big+8*many {
			b.t.Errorf("%x of %x to %x, mode %d", a, big, big+8*many, want)
		}
	}
	if len(got) != 2 {
		b.t.Errorf("%d ranges", len(got))
	}
}

func TestOnSimulatedDevices(t *testing.T) {
	d := simulated(t)
	b := newBench(t, d, kernels)
	b.x.variant = onHost(d)
	b.run()
}

// onHost makes kernels that note what they touch where there is no PTX.
func onHost(d driver.Driver) func(driver.Context, driver.Device, *driver.Origin) (made, error) {
	return func(c driver.Context, dev driver.Device, from *driver.Origin) (v made, err error) {
		out, err := d.Compile(dev, &driver.Source{Name: "k.cu", Code: "#define GOCUDA_NOTE\n#define NOTED\n" + code + from.Source.Code})
		if err != nil {
			return v, err
		}
		m, err := d.ModuleLoad(c, out.Image)
		if err != nil {
			return v, err
		}
		v.f, err = d.ModuleFunction(c, m, from.Symbol)
		return v, err
	}
}

func onGPU(t *testing.T, source string) *bench {
	if err := nvidia.Available(); err != nil {
		t.Skip(err)
	}
	d, err := nvidia.Open()
	if err != nil {
		t.Fatal(err)
	}
	return newBench(t, d, source)
}

func TestOnGPUs(t *testing.T) {
	for _, whole := range []bool{false, true} {
		b := onGPU(t, kernels)
		b.x.whole = whole
		b.run()
		if v := b.x.variants; !whole {
			for _, v := range v {
				if !v.outline {
					t.Error("a kernel of this test has no outline")
				}
			}
		}
	}
}

// What compiled code does besides: variables of the module, vectors, words of 1 and 2
// bytes, other memory by pointers to anything, functions that are called, predicates.
const more = `
__device__ int counter = 3;
__constant__ int constants[4] = {10, 20, 30, 40};
__device__ __noinline__ int deep(int *p, int n) { return n ? p[n] + deep(p, n - 1) : 0; }
extern "C" __global__ void mixed(float4 *x, short *y, char *z, int n) {
    __shared__ int tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i;
    __syncthreads();
    if (i < n) {
        x[2 * i] = make_float4(1, 2, constants[i & 3], 4);
        y[2 * i] = (short)tile[63 - threadIdx.x];
        z[3 * i] = z[3 * i + 1];
    }
    int *p = i & 1 ? tile : (int *)x;
    if (i == 4) p[1] = 17;
    if (i == 5) p[1] = 18;
    if (i == 0) { atomicAdd(&counter, constants[1]); printf(""); }
    if (i == 1) p[3] = deep((int *)(y + 1000), 3);
}
`

func TestMoreOnGPUs(t *testing.T) {
	for _, whole := range []bool{false, true} {
		testMore(t, whole)
	}
}

func testMore(t *testing.T, whole bool) {
	b := onGPU(t, more)
	b.x.whole = whole
	x, y, z := b.alloc(4096), b.alloc(4096), b.alloc(4096)
	const n = 50
	counter, _, err := b.d.ModuleGlobal(b.c, b.m, "counter")
	b.check(err)
	got := b.touched(b.launch("mixed", 1, 64, x, y, z, n), 4096, x, y, z, counter)
	var want []driver.Access
	for i := range driver.Ptr(n) {
		want = append(want, driver.Access{Lo: x + 32*i, Hi: x + 32*i + 16, Mode: driver.AccessWrite},
			driver.Access{Lo: y + 4*i, Hi: y + 4*i + 2, Mode: driver.AccessWrite},
			driver.Access{Lo: z + 3*i, Hi: z + 3*i + 1, Mode: driver.AccessWrite}, driver.Access{Lo: z + 3*i + 1, Hi: z + 3*i + 2, Mode: driver.AccessRead})
	}
	want = append(want, driver.Access{Lo: y + 2004, Hi: y + 2016, Mode: driver.AccessRead}, driver.Access{Lo: counter, Hi: counter + 4, Mode: driver.AccessAtomic})
	b.same(got, want)
	if v := b.word(counter); v != 23 {
		t.Errorf("the module's variable is %d, want 23: the kernel has others than the program", v)
	}
	if got := math.Float32frombits(b.word(x + 8)); got != 10 {
		t.Errorf("a constant is %g, want 10", got)
	}
}

// What tells others something, and waits for nothing, notes what it touches however many
// registers that takes.
func TestTellersOnGPUs(t *testing.T) {
	b := onGPU(t, `extern "C" __global__ void tell(int *x, int *counter, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] >= 0) atomicAdd_system(counter, 1);
}`)
	x, counter := b.alloc(4<<20), b.alloc(4)
	l := b.launch("tell", 4096, 256, x, counter, 1<<20)
	l.Origin.Polls = true
	b.same(b.touched(l, 4<<20, x, counter), []driver.Access{{Lo: x, Hi: x + 4<<20, Mode: driver.AccessRead}, {Lo: counter, Hi: counter + 4, Mode: driver.AccessAtomic}})
}

// waiting is a driver that loads code, and makes pinned memory, only when nothing runs,
// as CUDA may.
type waiting struct {
	driver.Driver
	t *testing.T
}

func (d waiting) settled(c driver.Context, what string) {
	stop := make(chan struct{})
	defer time.AfterFunc(5*time.Second, func() { close(stop) }).Stop()
	if d.Driver.CtxSynchronize(c, stop) != nil {
		d.t.Errorf("%s waits for what is queued", what)
	}
}

func (d waiting) ModuleLoad(c driver.Context, image []byte) (driver.Module, error) {
	d.settled(c, "loading a module")
	return d.Driver.ModuleLoad(c, image)
}

func (d waiting) HostAlloc(c driver.Context, n uint64, f driver.HostAllocFlags) (driver.Ptr, error) {
	d.settled(c, "making pinned memory")
	return d.Driver.HostAlloc(c, n, f)
}

// A kernel that was preloaded is launched behind what holds its stream without waiting
// for it, in whatever way it tells what it touches.
func TestPreloadedKernelsWaitForNothing(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	own, err := sim.New(sim.Options{Devices: 1, Memory: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	d := waiting{own, t}
	for _, outline := range []bool{true, false} {
		b := newBench(t, d, outlined)
		b.x.variant = func(c driver.Context, dev driver.Device, from *driver.Origin) (made, error) {
			v, err := onHost(d)(c, dev, from)
			if v.outline = outline; outline {
				v.by = []int{0, 1}
			}
			return v, err
		}
		const n = 100
		x := b.alloc(4 * n)
		b.origin = &driver.Origin{Source: b.src, Module: b.m, Symbol: "set"}
		b.x.Preload(b.c, 0, b.origin)
		gate := make(chan struct{})
		b.check(d.LaunchHostFunc(b.c, b.s, func() { <-gate }))
		l, told := b.launch("set", 1, 64, x, n, 1), make(chan []driver.Access, 1)
		if !b.prepared(l, false).Launch(b.c, l, nil, func(list []driver.Access) { told <- list }) {
			t.Fatal("not launched")
		}
		close(gate)
		b.same(<-told, []driver.Access{{Lo: x, Hi: x + 4*n, Mode: driver.AccessWrite}})
		b.check(d.CtxSynchronize(b.c, nil))
		if got := b.word(x); outline && got != 1 { // the other only notes, in this test
			t.Errorf("the kernel wrote %d", got)
		}
	}
}

const somePTX = `//
.version 8.7
.target sm_90
.address_size 64
	// .globl	k
.extern .func  (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);
.global .align 4 .u32 counter;
.const .align 4 .b8 c[16];
.global .align 1 .b8 $str[3] = {104, 105, 10};
.func  (.param .b32 func_retval0) deep( .param .b64 deep_param_0 )
{
	.reg .b64 	%rd<5>;
	ld.param.u64 	%rd1, [deep_param_0];
	ld.u32 	%r1, [%rd1+-4];
	ret;
}
.visible .entry k(
	.param .u64 k_param_0
)
.maxntid 128, 1, 1
{
	.reg .b64 	%rd<5>;
	.loc 1 3 4
	@%p1 bra 	$L__BB0_2;
	ld.global.nc.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd2];
	@!%p1 st.volatile.global.u16 	[%rd2+6], %rs1;
	mov.u64 	%rd3, counter;
	atom.global.add.u32 	%r2, [%rd3], 1;
	ld.const.f32 	%f5, [c+4];
	ld.shared.f32 	%f6, [%rd4];
	cp.async.ca.shared.global [%r1], [%rd2], 16;
	{ // callseq
	.param .b64 param0;
	st.param.b64 	[param0+0], %rd1;
	call.uni (retval0), vprintf, ( param0, param1 );
	}
$L__BB0_2:
	ret;
}
`

const someRuntime = `.version 8.8
.target sm_90
.address_size 64
.visible .func gocuda_note(.param .b64 a, .param .b32 b, .param .b64 c)
{
	ret;
}
`

func TestRewrite(t *testing.T) {
	n, err := rewrite(somePTX, someRuntime, false)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"counter", "c"}; !slices.Equal(n.globals, want) {
		t.Errorf("variables %q, want %q", n.globals, want)
	}
	if got := strings.Count(n.text, "call gocuda_note"); got != 6 {
		t.Errorf("%d accesses are noted, want 6\n%s", got, n.text)
	}
	for _, want := range []string{
		".version 8.8\n", ".global .align 4 .b8 c[16];\n", ".visible .global .align 8 .u64 gocuda_at_0 = generic(counter);\n",
		".param .u64 k_param_0\n, .param .u64 gocuda_trace_param)\n.maxntid 128, 1, 1\n{\n",
		"add.s64 %gocuda_a, %rd1, -4;\nisspacep.global %gocuda_p, %gocuda_a;\n",
		"@%p1 bra $gocuda_3;\nadd.s64 %gocuda_a, %rd2, 6;\nmov.u32 %gocuda_w, 9;\n", // 2 bytes, written
		"ld.global.u64 %gocuda_v, [gocuda_at_0];\nmov.u64  %rd3, %gocuda_v;\n",
		"mov.b64 %gocuda_a, %rd3;\nmov.u32 %gocuda_w, 18;\n", // 4 bytes, atomic
		"ld.global.f32  %f5, [%gocuda_v+4];\n",
		"$L__BB0_2:\n",
	} {
		if !strings.Contains(n.text, want) {
			t.Errorf("no %q in\n%s", want, n.text)
		}
	}
	for _, bad := range []string{"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1}, [%rd1], %r2;", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f2}];"} {
		if _, err := rewrite(strings.Replace(somePTX, "	ret;\n}\n.visible", bad+"\n	ret;\n}\n.visible", 1), someRuntime, false); err == nil {
			t.Errorf("%s is not followed, and is not refused", bad)
		}
	}
}

func pointerOf(b []byte) unsafe.Pointer { return unsafe.Pointer(&b[0]) }

// poor has no memory for a while.
type poor struct {
	driver.Driver
	none bool
}

func (p *poor) MemAlloc(c driver.Context, n uint64) (driver.Ptr, error) {
	if p.none {
		return 0, &driver.Error{Code: driver.ErrOutOfMemory, Call: "cuMemAlloc"}
	}
	return p.Driver.MemAlloc(c, n)
}

// TestTracesAfterMemoryWasShort: traces that could not be made count for nothing.
func TestTracesAfterMemoryWasShort(t *testing.T) {
	d := simulated(t)
	p := &poor{Driver: d}
	b := newBench(t, p, kernels)
	at, err := b.x.place(b.c, 0)
	b.check(err)
	for range len(at.idle) {
		b.x.take(at)
	}
	p.none = true
	if b.x.take(at) != nil {
		t.Fatal("a trace without memory")
	}
	p.none = false
	if b.x.take(at) == nil {
		t.Error("no trace when there is memory again")
	}
}

// TestUnloadedModules: nothing is kept of a module that is unloaded.
func TestUnloadedModules(t *testing.T) {
	d := simulated(t)
	b := newBench(t, d, outlined)
	var own []driver.Module
	b.x.variant = func(c driver.Context, dev driver.Device, from *driver.Origin) (made, error) {
		v, err := onHost(d)(c, dev, from)
		v.outline, v.by = true, []int{0, 1}
		m := b.x.moduleOf(c, from)
		m.once.Do(func() {
			out, err := d.Compile(dev, b.src) // stands for the one with its kernels
			b.check(err)
			m.h, m.err = d.ModuleLoad(c, out.Image)
			own = append(own, m.h)
		})
		return v, err
	}
	x := b.alloc(4000)
	l := b.launch("set", 3, 64, x, 1000, 0)
	b.touched(l, 4000, x)
	b.x.Unload(b.c, b.m)
	if n, m := len(b.x.variants), len(b.x.modules); n+m > 0 {
		t.Errorf("%d kernels and %d modules are kept", n, m)
	}
	if len(own) != 1 || d.ModuleUnload(b.c, own[0]) == nil {
		t.Errorf("of %d modules of its own one is still loaded", len(own))
	}
}

// TestUnloadedModulesOnGPUs: a module that is loaded again tells what its kernels touch.
func TestUnloadedModulesOnGPUs(t *testing.T) {
	b := onGPU(t, kernels)
	for range 3 {
		b.run()
		b.check(b.d.CtxSynchronize(b.c, nil))
		b.x.Unload(b.c, b.m)
		b.check(b.d.ModuleUnload(b.c, b.m))
		if n, m := len(b.x.variants), len(b.x.modules); n+m > 0 {
			t.Errorf("%d kernels and %d modules are kept", n, m)
		}
		out, err := b.d.Compile(0, b.src)
		b.check(err)
		b.m, err = b.d.ModuleLoad(b.c, out.Image)
		b.check(err)
	}
}
