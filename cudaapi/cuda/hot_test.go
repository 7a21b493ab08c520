package cuda

import (
	"bytes"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"gocuda/cudaapi/cuda/internal/signature"
	"gocuda/cudaapi/driver"
)

// idle is a driver whose hot calls do nothing: what is left is this package's
// own share of a call.
type idle struct {
	driver.Driver
	launched *driver.Launch
}

func (*idle) Name() string                                        { return "idle" }
func (*idle) Version() (int, error)                               { return 13000, nil }
func (*idle) DeviceCount() (int, error)                           { return 2, nil }
func (*idle) PrimaryRetain(driver.Device) (driver.Context, error) { return 1, nil }
func (*idle) StreamCreate(driver.Context, driver.StreamFlags, int) (driver.Stream, error) {
	return 100, nil
}
func (*idle) EventCreate(driver.Context, driver.EventFlags) (driver.Event, error) { return 7, nil }
func (*idle) EventRecord(driver.Context, driver.Event, driver.Stream) error       { return nil }
func (*idle) StreamWaitEvent(driver.Context, driver.Stream, driver.Event) error   { return nil }
func (*idle) StreamQuery(driver.Context, driver.Stream) (bool, error)             { return true, nil }
func (*idle) MemAlloc(driver.Context, uint64) (driver.Ptr, error)                 { return 4096, nil }
func (*idle) MemFree(driver.Context, driver.Ptr) error                            { return nil }
func (*idle) MemAllocAsync(driver.Context, uint64, driver.Stream) (driver.Ptr, error) {
	return 4096, nil
}
func (*idle) MemFreeAsync(driver.Context, driver.Ptr, driver.Stream) error { return nil }
func (*idle) MemcpyPeerAsync(driver.Ptr, driver.Context, driver.Ptr, driver.Context, uint64, driver.Stream) error {
	return nil
}
func (d *idle) Launch(_ driver.Context, l *driver.Launch) error { d.launched = l; return nil }

// hot is a device of an idle driver, and a kernel with 16 parameters.
func hot(t testing.TB) (*Device, *Stream, *Event, *Buffer, *Kernel, *idle) {
	t.Helper()
	drv := &idle{}
	sys, err := newSystem(drv)
	if err != nil {
		t.Fatal(err)
	}
	d := sys.devices[0]
	s, err := d.NewStream(NonBlocking)
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.NewEvent(DisableTiming)
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(16, Float32)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Free() })
	sig := signature.Parse(`__global__ void k(float*a,float*b,float*c,float*d,float*e,float*f,float*g,float*h,int i,int j,int k,int l,float m,float n,double o,long long p) {}`)[0]
	params, err := layout(sig, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	code := &kernelCode{mod: &Module{sys: sys}, name: "k", sig: sig, on: make([]atomic.Pointer[function], 2)}
	f := &function{h: 5, params: params, bytes: params[15].offset + 8, dynamic: 48 << 10}
	for _, p := range params {
		f.quick = append(f.quick, p.quicken())
	}
	code.on[0].Store(f)
	return d, s, e, b, &Kernel{code: code}, drv
}

func TestHotCallsAllocateNothing(t *testing.T) {
	_, s, e, b, k, drv := hot(t)
	n, a, f := 100000, 3.25, float32(1.5)
	to, from := b.Slice(0, 8), b.Slice(8, 16)
	for name, call := range map[string]func() error{
		"launch": func() error {
			return k.Launch(Grid(n), Block(256), s, b, b, b, b, b, b, b, b, n, n+1, n+2, n+3, a, f, a, n)
		},
		"record": func() error { return e.Record(s) },
		"wait":   func() error { return s.WaitEvent(e) },
		"query":  func() error { _, err := s.Query(); return err },
		"peer":   func() error { return MemcpyPeerAsync(to, from, s) },
		"allocAsync+freeAsync": func() error { // but for one in so many
			x, err := s.AllocAsync(16, Float32)
			if err != nil {
				return err
			}
			return x.FreeAsync(s)
		},
	} {
		if got := testing.AllocsPerRun(100, func() {
			if err := call(); err != nil {
				t.Fatal(err)
			}
		}); got > 0 {
			t.Errorf("%s: %g allocations", name, got)
		}
	}
	if got := drv.launched; got == nil || got.Grid.X != uint32(n) || got.Stream != 100 || len(got.Params) != 104 {
		t.Errorf("%+v", got)
	}
}

func BenchmarkOverhead(b *testing.B) {
	_, s, e, buf, k, _ := hot(b)
	run := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	n := 100000
	run("launch16", func() error {
		return k.Launch(Grid(n), Block(256), s, buf, buf, buf, buf, buf, buf, buf, buf, n, n, n, n, 1.5, 2.5, 3.5, n)
	})
	run("record", func() error { return e.Record(s) })
	run("wait", func() error { return s.WaitEvent(e) })
	run("query", func() error { _, err := s.Query(); return err })
	run("allocAsync+freeAsync", func() error {
		x, err := s.AllocAsync(1024, Float32)
		if err != nil {
			return err
		}
		return x.FreeAsync(s)
	})
}

// TestManyOrdered allocates and frees from several goroutines: Leaks must list
// just what is not freed, and records must serve again.
func TestManyOrdered(t *testing.T) {
	d, s, _, _, _, _ := hot(t)
	ours := func() (n int) {
		all(func(a *allocation) {
			if a.dev == d && a.kind == asyncMemory {
				n++
			}
		})
		return n
	}
	var kept [4][]*Buffer
	var wg sync.WaitGroup
	for g := range kept {
		wg.Go(func() {
			for i := range 500 {
				b, err := s.AllocAsync(16, Float32)
				if err != nil {
					t.Error(err)
					return
				}
				if i%100 == g {
					kept[g] = append(kept[g], b)
				} else if err := b.FreeAsync(s); err != nil {
					t.Error(err)
				} else if err := b.FreeAsync(s); err == nil {
					t.Error("freed twice")
				}
			}
		})
	}
	wg.Wait()
	if n := ours(); n != 20 {
		t.Errorf("%d are listed, 20 were kept", n)
	}
	for _, list := range kept {
		for _, b := range list {
			if err := b.FreeAsync(s); err != nil {
				t.Error(err)
			}
		}
	}
	last, err := s.AllocAsync(16, Float32)
	if err != nil {
		t.Fatal(err)
	}
	forget(d) // as a reset does
	if err := last.FreeAsync(s); err == nil {
		t.Error("a reset leaves memory to be freed")
	}
	if n := ours(); n != 0 {
		t.Errorf("%d are listed after a reset", n)
	}
	if n := len(d.ordered.all); n > 5*atOnce { // 21 and four goroutines' own were in use at a time
		t.Errorf("%d records for 25 allocations at a time", n)
	}
}

// TestRecordsServeAgain is about memory whose record reports another one by now.
func TestRecordsServeAgain(t *testing.T) {
	_, s, _, _, k, _ := hot(t)
	first, err := s.AllocAsync(16, Float32)
	if err != nil {
		t.Fatal(err)
	}
	view := first.Slice(0, 8)
	ready, err := k.Prepare(Grid(1), Block(1), s, first, first, first, first, first, first, first, first, 1, 2, 3, 4, 5, 6, 7, 8)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.FreeAsync(s); err != nil {
		t.Fatal(err)
	}
	second, err := s.AllocAsync(16, Float32)
	if err != nil {
		t.Fatal(err)
	}
	if second.own != first.own {
		t.Fatal("the record does not serve again")
	}
	for name, err := range map[string]error{
		"FreeAsync": first.FreeAsync(s), "Free": first.Free(), "view": view.MemsetAsync(0, s), "prepared": ready.Launch(),
		"launch": k.Launch(Grid(1), Block(1), s, view, second, second, second, second, second, second, second, 1, 2, 3, 4, 5, 6, 7, 8),
	} {
		if err == nil {
			t.Errorf("%s: memory that was freed is used", name)
		}
	}
	if err := second.FreeAsync(s); err != nil {
		t.Error(err)
	}
	first.own.generation.Store(math.MaxUint32 - 1) // for one use more
	for i := range 3 {
		b, err := s.AllocAsync(16, Float32)
		if err != nil {
			t.Fatal(err)
		}
		if again := b.own == first.own; again != (i == 0) {
			t.Errorf("allocation %d has the record whose turns are used up: %v", i, again)
		}
		if err := b.FreeAsync(s); err != nil {
			t.Error(err)
		}
	}
}

// TestQuickArguments holds the quick way of packing an argument to the slow one.
func TestQuickArguments(t *testing.T) {
	d, _, _, b, _, _ := hot(t)
	var params [maxParams]byte
	other := &Buffer{own: &owner{&allocation{dev: d.sys.devices[1]}}}
	freed := &Buffer{own: &owner{&allocation{dev: d}}, typ: Float32}
	freed.own.end()
	for _, c := range []struct {
		declared string
		arg      any
		quick    bool
	}{
		{"float *p", b, true}, {"const float *p", b, true}, {"void *p", b, true}, {"int *p", b, false}, {"float *p", (*Buffer)(nil), false},
		{"float *p", other, false}, {"float *p", freed, false}, {"int p", b, false},
		{"int p", 7, true}, {"int p", 1 << 31, false}, {"int p", -1 << 31, true}, {"unsigned p", 7, false}, {"long long p", 1 << 40, true},
		{"float p", 1.5, true}, {"float p", 1e300, false}, {"double p", 1e300, true}, {"float p", math.NaN(), false}, {"int p", 1.5, false},
	} {
		sig := signature.Parse("__global__ void k(" + c.declared + ") {}")[0]
		list, err := layout(sig, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		p := &list[0]
		clear(params[:8])
		if got := packPlain(0, []quick{p.quicken()}, &params, []any{c.arg}, d) == 1; got != c.quick {
			t.Errorf("%v for %s: quick %v", c.arg, c.declared, got)
		}
		want := make([]byte, 8)
		if msg := p.put(want[:p.size], c.arg, d); c.quick && (msg != "" || !bytes.Equal(want, params[:8])) {
			t.Errorf("%v for %s: % x, the slow way % x %s", c.arg, c.declared, params[:8], want, msg)
		}
	}
}
