package cuda_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/internal/nvtools"
)

func TestValues(t *testing.T) {
	d := devices(t, 1)[0]
	a, b := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking)), must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	for _, typ := range []cuda.Type{cuda.Uint32, cuda.Int64} {
		flag := must[*cuda.Buffer](t)(d.Alloc(4, typ))
		ok(t, flag.Memset(0))
		ok(t, d.Synchronize())
		ok(t, a.WaitValue(flag.Slice(2, 3), 5, cuda.WaitGEQ))
		if done := must[bool](t)(a.Query()); done {
			t.Error("the wait ended before the write")
		}
		ok(t, b.WriteValue(flag.Slice(2, 3), 6))
		ok(t, a.Synchronize())
		ok(t, b.Synchronize())
		ok(t, flag.Free())
	}
	words := must[*cuda.Buffer](t)(d.Alloc(1, cuda.Uint32))
	refused(t, a.WriteValue(words, 1<<32), cuda.ErrInvalidValue, "4294967296 does not fit into Uint32")
	refused(t, a.WriteValue(words.Slice(0, 0), 1), cuda.ErrInvalidValue, "no elements")
	refused(t, a.WriteValue([]uint32{0}, 1), cuda.ErrInvalidValue, "pageable")
	ok(t, words.Free())
	halves := must[*cuda.Buffer](t)(d.Alloc(1, cuda.Float32))
	refused(t, a.WaitValue(halves, 1, cuda.WaitEQ), cuda.ErrInvalidValue, "holds Float32")
	ok(t, halves.Free())
}

func TestMemcpy2D(t *testing.T) {
	d := devices(t, 1)[0]
	in := make([]int32, 12) // 3 rows of 4
	for i := range in {
		in[i] = int32(i)
	}
	b := must[*cuda.Buffer](t)(d.Alloc(3*8, cuda.Int32))
	defer b.Free()
	ok(t, b.Memset(0))
	ok(t, cuda.Memcpy2D(b, 8, in[1:], 4, 2, 3)) // columns 1 and 2
	ok(t, d.Synchronize())
	got := must[[]int32](t)(b.Int32s())
	for row := range 3 {
		if r := got[row*8:]; r[0] != int32(4*row+1) || r[1] != int32(4*row+2) || r[2] != 0 {
			t.Errorf("row %d: %v", row, r[:8])
		}
	}
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	out := make([]int32, 6)
	ok(t, cuda.Memcpy2DAsync(out, 2, b, 8, 2, 3, s))
	ok(t, s.Synchronize())
	if out[5] != 10 {
		t.Errorf("%v", out)
	}
	refused(t, cuda.Memcpy2D(b, 8, in, 4, 5, 3), cuda.ErrInvalidValue, "the source's pitch of 4 elements is less than a row of 5")
	refused(t, cuda.Memcpy2D(b, 8, in, 4, 4, 4), cuda.ErrInvalidValue, "past the")
	refused(t, cuda.Memcpy2D(b, 1<<61, in, 4, 4, 1<<30), cuda.ErrInvalidValue, "past the")
	refused(t, cuda.Memcpy2D(b, 8, in, 4, -1, 1), cuda.ErrInvalidValue, "-1 elements")
	ok(t, b.Memset(0))
	ok(t, b.Slice(8, b.Len()).Memset2D(8, 0x01, 2, 2))
	ok(t, b.Memset2DAsync(8, 0xff, 1, 1, nil))
	if got := must[[]int32](t)(b.Int32s()); got[0] != -1 || got[1] != 0 || got[9] != 0x01010101 || got[10] != 0 || got[17] != 0x01010101 {
		t.Errorf("%x", got)
	}
	refused(t, b.Memset2D(8, 1, 9, 1), cuda.ErrInvalidValue, "less than a row of 9")
	refused(t, b.Memset2D(8, 1, 8, 4), cuda.ErrInvalidValue, "past the buffer's")
}

func TestPool(t *testing.T) {
	d := devices(t, 1)[0]
	p := must[*cuda.Pool](t)(d.NewPool())
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	ok(t, p.SetAttribute(driver.PoolReleaseThreshold, 1<<30))
	b := must[*cuda.Buffer](t)(p.AllocAsync(1000, cuda.Float64, s))
	used := must[uint64](t)(p.Attribute(driver.PoolUsedCurrent))
	if used < 8000 {
		t.Errorf("%d bytes used", used)
	}
	ok(t, b.FreeAsync(s))
	ok(t, s.Synchronize())
	ok(t, p.TrimTo(0))
	if kept := must[uint64](t)(p.Attribute(driver.PoolReservedCurrent)); kept != 0 {
		t.Errorf("%d bytes kept", kept)
	}
	ok(t, p.Destroy())
	_, err := p.AllocAsync(1, cuda.Int8, s)
	refused(t, err, cuda.ErrInvalidValue, "destroyed")
	def := must[*cuda.Pool](t)(d.DefaultPool())
	refused(t, def.Destroy(), cuda.ErrInvalidValue, "cannot be destroyed")
}

func TestTraceLeaks(t *testing.T) {
	d := devices(t, 1)[0]
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	for _, on := range []bool{false, true} {
		cuda.TraceLeaks(on)
		b := must[*cuda.Buffer](t)(s.AllocAsync(54321, cuda.Uint8))
		found := false
		for _, l := range cuda.Leaks() {
			if l.Bytes == 54321 {
				found = true
				if strings.Contains(l.Where, "TestTraceLeaks") != on {
					t.Errorf("traced %v: %+v", on, l)
				}
			}
		}
		if !found {
			t.Error("not listed")
		}
		ok(t, b.FreeAsync(s))
	}
	cuda.TraceLeaks(false)
	ok(t, s.Synchronize())
}

func TestPointer(t *testing.T) {
	d := devices(t, 1)[0]
	b := must[*cuda.Buffer](t)(d.Alloc(1000, cuda.Uint8))
	defer b.Free()
	p := must[cuda.PointerAttributes](t)(cuda.Pointer(b.Slice(10, 20).Address()))
	if p.Type != "device" || p.Device != 0 || p.Base != b.Address() || p.Bytes < 1000 {
		t.Errorf("%+v", p)
	}
	h := must[*cuda.HostBuffer](t)(cuda.AllocHost(10, cuda.Uint8))
	defer h.Free()
	if p := must[cuda.PointerAttributes](t)(cuda.Pointer(h.Address())); p.Type != "host" {
		t.Errorf("%+v", p)
	}
	page := must[*cuda.HostBuffer](t)(cuda.AllocPageable(10, cuda.Uint8))
	if p := must[cuda.PointerAttributes](t)(cuda.Pointer(page.Address())); p.Type != "unregistered" {
		t.Errorf("%+v", p)
	}
}

// TestAddressRange: a view reports the allocation that it is part of.
func TestAddressRange(t *testing.T) {
	b := must[*cuda.Buffer](t)(devices(t, 1)[0].Alloc(100, cuda.Float64))
	defer b.Free()
	for _, v := range []*cuda.Buffer{b, b.Slice(10, 30)} {
		if base, bytes := v.AddressRange(); base != b.Address() || bytes != 800 {
			t.Errorf("%v: %#x, %d bytes, want %#x, 800", v, base, bytes, b.Address())
		}
	}
}

func TestIPCHandlesAsText(t *testing.T) {
	d := devices(t, 1)[0]
	b := must[*cuda.Buffer](t)(d.Alloc(100, cuda.Float64))
	defer b.Free()
	h := must[cuda.IPCMemory](t)(b.Slice(10, 30).IPCHandle())
	if h.Offset != 80 || h.N != 20 || h.Type != cuda.Float64 {
		t.Errorf("%+v", h)
	}
	text := must[[]byte](t)(h.MarshalText())
	var back cuda.IPCMemory
	ok(t, back.UnmarshalText(text))
	if back != h {
		t.Errorf("%+v, then %+v", h, back)
	}
	for _, bad := range []string{"", "xyz", string(text[2:]), string(bytes.Repeat([]byte("00"), 82))} {
		if err := back.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	s := must[*cuda.Stream](t)(d.NewStream())
	async := must[*cuda.Buffer](t)(s.AllocAsync(100, cuda.Float64))
	_, err := async.IPCHandle()
	refused(t, err, cuda.ErrInvalidValue, "stream-ordered memory cannot be opened")
	ok(t, async.FreeAsync(s))
	e := must[*cuda.Event](t)(d.NewEvent())
	_, err = e.IPCHandle()
	refused(t, err, cuda.ErrInvalidHandle, "Interprocess")
}

func TestFloat16(t *testing.T) {
	for f, want := range map[float32]uint16{0: 0, 1: 0x3c00, -2: 0xc000, 65504: 0x7bff, 65520: 0x7c00, 1e10: 0x7c00, 5.9604645e-8: 1, 2.9802322e-8: 0,
		2.98023224e-8 * 1.5: 1, 6.1035156e-5: 0x400, 0.1: 0x2e66, 1.0009765625: 0x3c01, 1.00048828125: 0x3c00} {
		if got := cuda.ToFloat16([]float32{f})[0]; got != want {
			t.Errorf("ToFloat16(%g) = %#x, want %#x", f, got, want)
		}
	}
	all := make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	for i, h := range cuda.ToFloat16(cuda.FromFloat16(all)) {
		if nan := i&0x7c00 == 0x7c00 && i&0x3ff != 0; !nan && int(h) != i {
			t.Fatalf("%#x came back as %#x", i, h)
		}
	}
	for i, h := range cuda.ToBFloat16(cuda.FromBFloat16(all)) {
		if nan := i&0x7f80 == 0x7f80 && i&0x7f != 0; !nan && int(h) != i {
			t.Fatalf("bfloat16 %#x came back as %#x", i, h)
		}
	}
	if got := cuda.ToBFloat16([]float32{1.00390625, 1.01171875})[0]; got != 0x3f80 {
		t.Errorf("1.00390625 rounds to %#x, want the even neighbour", got)
	}
}

func TestReset(t *testing.T) {
	list := devices(t, 1)
	d := list[len(list)-1]
	b := must[*cuda.Buffer](t)(d.Alloc(100, cuda.Int32))
	s := must[*cuda.Stream](t)(d.NewStream())
	ok(t, d.Reset())
	refused(t, b.Memset(0), cuda.ErrInvalidValue, "(100 Int32) is gone: device ")
	refused(t, s.Synchronize(), cuda.ErrInvalidHandle, "was reset after it was made")
	again := must[*cuda.Buffer](t)(d.Alloc(100, cuda.Int32))
	ok(t, again.Upload(make([]int32, 100)))
	refused(t, s.Synchronize(), cuda.ErrInvalidHandle, "was reset after it was made")
	ok(t, cuda.Reset())
	refused(t, again.Free(), cuda.ErrInvalidValue, "(100 Int32) is gone: device ")
}

func TestManaged(t *testing.T) {
	d := devices(t, 1)[0]
	b := must[*cuda.Buffer](t)(d.AllocManaged(100, cuda.Int32))
	h := must[*cuda.HostBuffer](t)(b.Host())
	on := must[[]int32](t)(h.Int32s())
	for i := range on {
		on[i] = int32(i)
	}
	k := kernel(t, compile(t, `__global__ void twice(int *p) { p[threadIdx.x] *= 2; }`), "twice")
	ok(t, k.Launch(cuda.Grid(1), cuda.Block(100), d.DefaultStream(), b))
	ok(t, d.Synchronize())
	if got := on[99]; got != 198 {
		t.Errorf("the host reads %d", got)
	}
	ok(t, b.Free())
	plain := must[*cuda.Buffer](t)(d.Alloc(1, cuda.Int32))
	_, err := plain.Host()
	refused(t, err, cuda.ErrInvalidValue, "AllocManaged")
	ok(t, plain.Free())
}

func TestOccupancy(t *testing.T) {
	d := devices(t, 1)[0]
	k := kernel(t, compile(t, saxpy), "saxpy")
	block := must[cuda.BlockDim](t)(k.SuggestBlock(d))
	if block.X < 32 || block.X > 1024 || block.X%32 != 0 {
		t.Errorf("%v", block)
	}
	if n := must[int](t)(k.MaxActiveBlocks(d, block)); n < 1 {
		t.Errorf("%d blocks", n)
	}
	big := k.With(cuda.SharedMemory(1 << 30))
	x := must[*cuda.Buffer](t)(d.Alloc(1, cuda.Float32))
	defer x.Free()
	refused(t, big.Launch(cuda.Grid(1), cuda.Block(1), nil, 1, 1, x, x), cuda.ErrInvalidValue, "bytes of shared memory")
}

func TestPeerMatrix(t *testing.T) {
	list := devices(t, 1)
	m := must[cuda.PeerMatrix](t)(cuda.Peers())
	if len(m) != len(list) || m[0][0].String() != "-" || strings.Count(m.HTML(), "<tr>") != len(list)+1 || strings.Count(m.String(), "\n") != len(list) {
		t.Errorf("%s", m)
	}
}

// again runs the test at hand in a process of its own, with one more setting,
// and with files as its descriptors from 3 on.
func again(t *testing.T, setting string, files ...*os.File) string {
	t.Helper()
	nvtools.Detach()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), setting)
	cmd.ExtraFiles = files
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("the other process: %v\n%s", err, out)
	}
	return string(out)
}

func TestIPCBetweenProcesses(t *testing.T) {
	const env = "GOCUDA_TEST_IPC"
	d := devices(t, 1)[0]
	if text := os.Getenv(env); text != "" {
		var h cuda.IPCMemory
		ok(t, h.UnmarshalText([]byte(text)))
		b := must[*cuda.Buffer](t)(d.OpenIPC(h))
		got := must[[]int32](t)(b.Int32s())
		if len(got) != 50 || got[0] != 25 {
			t.Errorf("%v", got)
		}
		ok(t, b.Fill(-1, nil))
		ok(t, d.Synchronize())
		refused(t, b.Slice(0, 50).Free(), cuda.ErrInvalidValue, "this is a view")
		ok(t, b.Free())
		return
	}
	b := must[*cuda.Buffer](t)(d.Alloc(100, cuda.Int32))
	defer b.Free()
	values := make([]int32, 100)
	for i := range values {
		values[i] = int32(i)
	}
	ok(t, b.Upload(values))
	h := must[cuda.IPCMemory](t)(b.Slice(25, 75).IPCHandle())
	again(t, env+"="+string(must[[]byte](t)(h.MarshalText())))
	got := must[[]int32](t)(b.Int32s())
	if got[24] != 24 || got[25] != -1 || got[74] != -1 || got[75] != 75 {
		t.Errorf("%v", got[20:80])
	}
}

func TestStickyErrorNamesTheKernel(t *testing.T) {
	const env = "GOCUDA_TEST_STICKY"
	d := devices(t, 1)[0]
	m := compile(t, `__global__ void good(int *p) { *p = 1; } __global__ void stray(int *p) { p[1ll << 40] = 1; }`)
	if os.Getenv(env) == "" {
		again(t, env+"=1")
		return
	}
	b := must[*cuda.Buffer](t)(d.Alloc(1, cuda.Int32))
	ok(t, kernel(t, m, "good").Launch(cuda.Grid(1), cuda.Block(1), nil, b))
	ok(t, d.Synchronize())
	ok(t, kernel(t, m, "stray").Launch(cuda.Grid(1), cuda.Block(1), nil, b))
	err := d.Synchronize()
	var e *cuda.Error
	if !errors.As(err, &e) || !e.Sticky() || !errors.Is(err, cuda.ErrIllegalAddress) {
		t.Fatalf("got %v", err)
	}
	if s := err.Error(); !strings.Contains(s, "latest first: stray") || strings.Contains(s, "good") || !strings.Contains(s, "new process") && !strings.Contains(s, "start a new one") {
		t.Errorf("got %s", s)
	}
	_, err = d.Alloc(1, cuda.Int32)
	if !errors.Is(err, cuda.ErrIllegalAddress) {
		t.Errorf("afterwards: %v", err)
	}
	if info := must[cuda.BackendInfo](t)(cuda.Backend()); info.Name == "sim" { // as the message says
		for _, d := range devices(t, 1) {
			ok(t, d.Reset())
			must[*cuda.Buffer](t)(d.Upload([]int32{1}))
		}
	}
}

func TestUnloadEndsVariables(t *testing.T) {
	d := devices(t, 1)[0]
	m := compile(t, `__device__ int n = 5; __global__ void add(int by) { atomicAdd(&n, by); }`)
	b := must[*cuda.Buffer](t)(m.Global(d, "n", cuda.Int32))
	again := must[*cuda.Buffer](t)(m.Global(d, "n", cuda.Uint8))
	ok(t, kernel(t, m, "add").Launch(cuda.Grid(1), cuda.Block(1), nil, 2))
	if got := must[[]int32](t)(b.Int32s()); got[0] != 7 {
		t.Errorf("%v", got)
	}
	ok(t, m.Unload())
	_, err := b.Int32s()
	refused(t, err, cuda.ErrInvalidValue, "unloaded with its module")
	refused(t, again.Memset(0), cuda.ErrInvalidValue, "unloaded with its module")
	ok(t, kernel(t, m, "add").Launch(cuda.Grid(1), cuda.Block(1), nil, 1))
	if got := must[[]int32](t)(must[*cuda.Buffer](t)(m.Global(d, "n", cuda.Int32)).Int32s()); got[0] != 6 {
		t.Errorf("%v", got)
	}
	_, err = b.Int32s()
	refused(t, err, cuda.ErrInvalidValue, "unloaded with its module")
}

func TestWhatKernelsSayOfThemselves(t *testing.T) {
	d := devices(t, 1)[0]
	k := kernel(t, compile(t, `__global__ void __launch_bounds__(96) few(int *x) {}`), "few")
	x := must[*cuda.Buffer](t)(d.Alloc(1, cuda.Int32))
	refused(t, k.Launch(cuda.Grid(1), cuda.Block(128), nil, x), cuda.ErrInvalidValue, "at most 96 threads")
	ok(t, k.Launch(cuda.Grid(1), cuda.Block(96), nil, x))
	if n := must[int](t)(k.MaxActiveBlocks(d, cuda.Block(2048))); n != 0 {
		t.Errorf("%d blocks of too many threads at a time", n)
	}
	two := compile(t, "__global__ void two(float *x) { *x = 1; }\n__global__ void two(double *x) { *x = 2; }")
	y := must[*cuda.Buffer](t)(d.Upload([]float64{0}))
	refused(t, kernel(t, two, "two(float*)").Launch(cuda.Grid(1), cuda.Block(1), nil, y), cuda.ErrInvalidValue, "it points to float")
	ok(t, kernel(t, two, "two(double *)").Launch(cuda.Grid(1), cuda.Block(1), nil, y))
	if v := must[[]float64](t)(y.Float64s()); v[0] != 2 {
		t.Error(v)
	}
}

func TestEventsOfCaptures(t *testing.T) {
	d := devices(t, 1)[0]
	s, e := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking)), must[*cuda.Event](t)(d.NewEvent())
	g := must[*cuda.Graph](t)(s.Capture(func() error { return e.Record(s) }))
	defer g.Destroy()
	_, asked := e.Query()
	_, elapsed := cuda.Elapsed(e, e)
	for _, err := range []error{asked, elapsed, e.Synchronize(), s.WaitEvent(e)} {
		refused(t, err, cuda.ErrInvalidValue, "record events around the graph's launch")
	}
	ok(t, e.Record(s))
	ok(t, e.Synchronize())
}

func TestGraph(t *testing.T) {
	d := devices(t, 1)[0]
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	b := must[*cuda.Buffer](t)(d.Alloc(10, cuda.Int32))
	defer b.Free()
	k := kernel(t, compile(t, `__global__ void inc(int *p, int by) { p[threadIdx.x] += by; }`), "inc")
	ok(t, b.Fill(0, nil))
	ok(t, d.Synchronize())
	record := func(by int) *cuda.Graph {
		g, err := s.Capture(func() error {
			for range 3 {
				if err := k.Launch(cuda.Grid(1), cuda.Block(10), s, b, by); err != nil {
					return err
				}
			}
			return nil
		})
		if errors.Is(err, cuda.ErrNotSupported) {
			t.Skip(err)
		}
		ok(t, err)
		return g
	}
	g := record(1)
	if nodes := must[[]string](t)(g.Nodes()); strings.Join(nodes, " ") != "kernel kernel kernel" {
		t.Errorf("%v", nodes)
	}
	x := must[*cuda.GraphExec](t)(g.Instantiate())
	for range 4 {
		ok(t, x.Launch(s))
	}
	ok(t, s.Synchronize())
	if got := must[[]int32](t)(b.Int32s())[9]; got != 12 {
		t.Errorf("%d", got)
	}
	ok(t, x.Update(record(100)))
	ok(t, x.Launch(s))
	ok(t, s.Synchronize())
	if got := must[[]int32](t)(b.Int32s())[9]; got != 312 {
		t.Errorf("%d", got)
	}
	if dot := must[string](t)(g.DOT()); !strings.Contains(dot, "digraph") {
		t.Errorf("%q", dot)
	}
	ok(t, x.Destroy())
	ok(t, g.Destroy())
	refused(t, x.Launch(s), cuda.ErrInvalidHandle, "destroyed")
	stopped := errors.New("stopped")
	if _, err := s.Capture(func() error { return stopped }); !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
	if on := must[bool](t)(s.Capturing()); on {
		t.Error("a failed capture goes on")
	}
}

// TestInterruptedCopies is about synchronous calls, which CUDA itself cannot
// interrupt.
func TestInterruptedCopies(t *testing.T) {
	d := devices(t, 1)[0]
	b := must[*cuda.Buffer](t)(d.Alloc(1000, cuda.Int32))
	defer b.Free()
	for _, s := range []*cuda.Stream{d.DefaultStream(), must[*cuda.Stream](t)(d.NewStream())} {
		gate := make(chan struct{})
		ok(t, s.LaunchHostFunc(func() { <-gate }))
		freed := must[*cuda.Buffer](t)(d.Alloc(10, cuda.Int8))
		stop := make(chan struct{})
		close(stop)
		cuda.SetInterrupt(stop)
		out := make(chan error, 1)
		go func() { out <- b.Download(make([]int32, 1000)) }()
		select {
		case err := <-out:
			if !errors.Is(err, cuda.ErrInterrupted) {
				t.Errorf("%v: got %v", s, err)
			}
		case <-time.After(time.Minute):
			t.Errorf("%v: a copy that waits for it cannot be interrupted", s)
		}
		if err := freed.Free(); !errors.Is(err, cuda.ErrInterrupted) {
			t.Errorf("%v: a free gives %v", s, err)
		}
		cuda.SetInterrupt(nil)
		close(gate)
		ok(t, d.Synchronize())
		ok(t, freed.Free()) // an interrupted free has freed nothing
	}
}

// What a notebook shows of objects says what they are.
func TestObjectsSayWhatTheyAre(t *testing.T) {
	d := devices(t, 1)[0]
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	p := must[*cuda.Pool](t)(d.NewPool())
	b := must[*cuda.Buffer](t)(p.AllocAsync(256, cuda.Float32, s))
	ok(t, s.Synchronize())
	used, reserved := must[uint64](t)(p.Used()), must[uint64](t)(p.Reserved())
	if used < 1024 || reserved < used {
		t.Errorf("%d bytes used of %d reserved, of a pool with a buffer of 1024", used, reserved)
	}
	if text := p.String(); !strings.HasPrefix(text, "pool of device 0 (") || !strings.Contains(text, " used of ") {
		t.Error(text)
	}
	ok(t, b.FreeAsync(s))
	ok(t, s.Synchronize())
	ok(t, p.Destroy())
	if text := p.String(); text != "destroyed pool" {
		t.Error(text)
	}
	if text := must[*cuda.Pool](t)(d.DefaultPool()).String(); !strings.HasPrefix(text, "default pool of device 0 (") {
		t.Error(text)
	}

	x := must[*cuda.Buffer](t)(d.Upload([]float32{1, 2, 3}))
	if got := must[[]float32](t)(x.Float32s()); x.Device() != d || x.Type() != cuda.Float32 || !slices.Equal(got, []float32{1, 2, 3}) {
		t.Errorf("uploaded %v: %v", x, got)
	}
	_, err := d.Upload("text")
	refused(t, err, cuda.ErrInvalidValue, "Device.Upload")
	g := must[*cuda.Graph](t)(s.Capture(func() error { return errors.Join(x.MemsetAsync(0, s), x.MemsetAsync(1, s)) }))
	if text := g.String(); text != "graph of 2 nodes on device 0 (memset, memset)" {
		t.Error(text)
	}
	empty := must[*cuda.Graph](t)(s.Capture(func() error { return nil }))
	if text := empty.String(); text != "graph of 0 nodes on device 0" {
		t.Error(text)
	}
	run := must[*cuda.GraphExec](t)(g.Instantiate())
	if text := run.String(); !strings.HasPrefix(text, "instantiated graph 0x") || !strings.HasSuffix(text, " of device 0") {
		t.Error(text)
	}
	ok(t, run.Destroy())
	ok(t, g.Destroy())
	for _, text := range []string{g.String(), run.String()} {
		if !strings.Contains(text, "the graph was destroyed") {
			t.Error(text)
		}
	}

	m := compile(t, "__global__ void a(int *x) {}\n__global__ void b(float y) {}\n")
	if text := m.String(); text != "__global__ void a(int *x)\n__global__ void b(float y)" {
		t.Error(text)
	}
	prepared := must[*cuda.Prepared](t)(kernel(t, m, "b").Prepare(cuda.Grid(2), cuda.Block(32), s, 1.5))
	if text := prepared.String(); text != "b, prepared: grid (2, 1, 1), blocks of (32, 1, 1), "+s.String() {
		t.Error(text)
	}
	ok(t, x.Free())
	ok(t, s.Destroy())
}

// However the function that is captured ends, the stream can be used again.
func TestCaptureEndsWithItsFunction(t *testing.T) {
	d := devices(t, 1)[0]
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	defer s.Destroy()
	b := must[*cuda.Buffer](t)(d.Alloc(4, cuda.Float32))
	defer b.Free()
	for name, f := range map[string]func() error{
		"an error": func() error { return errors.New("no") },
		"a panic":  func() error { panic("no") },
		"Goexit":   func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { recover() }()
				s.Capture(func() error { //nolint:errcheck // it does not come back
					ok(t, b.MemsetAsync(0, s))
					return f()
				})
			}()
			<-done
			if on := must[bool](t)(s.Capturing()); on {
				t.Fatal("the stream is still captured")
			}
			ok(t, b.MemsetAsync(0, s))
			ok(t, s.Synchronize())
		})
	}
}

func TestTime(t *testing.T) {
	d := devices(t, 1)[0]
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	defer s.Destroy()
	b := must[*cuda.Buffer](t)(d.Alloc(1<<20, cuda.Float32))
	defer b.Free()
	took := must[time.Duration](t)(s.Time(func() error { return b.MemsetAsync(1, s) }))
	if took <= 0 {
		t.Errorf("%v", took)
	}
	no := errors.New("no")
	if _, err := s.Time(func() error { return no }); err != no {
		t.Error(err)
	}
	_, err := s.Time(nil)
	refused(t, err, driver.ErrInvalidValue, "there is no work")
	a, z := must[*cuda.Event](t)(d.NewEvent()), must[*cuda.Event](t)(d.NewEvent())
	ok(t, a.Record(s))
	ok(t, b.MemsetAsync(2, s))
	ok(t, z.Record(s))
	ok(t, z.Synchronize())
	if after := must[time.Duration](t)(z.Since(a)); after <= 0 {
		t.Errorf("%v", after)
	}
	_, err = a.Since(z)
	refused(t, err, driver.ErrInvalidValue, "recorded in the other order")
}
