package cuda_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
	"weak"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// These are the rows of docs/develop/lifetimes.md: who keeps what alive until when.

// schedules runs a test on simulated devices of the usual and of the adversarial
// schedule, or on a GPU.
func schedules(t *testing.T, f func(t *testing.T, d *cuda.Device)) {
	devices(t, 1)
	if info, err := cuda.Backend(); err != nil || info.Name != "sim" {
		f(t, devices(t, 1)[0])
		return
	}
	for name, adversarial := range map[string]bool{"usual": false, "adversarial": true} {
		t.Run(name, func(t *testing.T) {
			restore, err := cuda.UseUntil(must[*sim.Driver](t)(sim.New(sim.Options{Devices: 2, Memory: 1 << 26, Seed: 7, Adversarial: adversarial})))
			ok(t, err)
			defer restore()
			f(t, devices(t, 1)[0])
		})
	}
}

// collect has the collector run, and its cleanups.
func collect() {
	for range 3 {
		var ran atomic.Bool
		func() { runtime.AddCleanup(new([64]byte), func(*atomic.Bool) { ran.Store(true) }, &ran) }()
		for !ran.Load() {
			runtime.GC()
			runtime.Gosched()
		}
	}
}

// overwrite allocates what may take the place of memory of so many bytes that was
// freed too early, and writes there.
func overwrite(t *testing.T, d *cuda.Device, bytes int) {
	t.Helper()
	collect()
	var keep []any
	for range 4 {
		b := must[*cuda.Buffer](t)(d.Alloc(bytes, cuda.Uint8))
		ok(t, b.Memset(0xee))
		m := must[*cuda.Buffer](t)(d.AllocManaged(bytes, cuda.Uint8))
		ok(t, m.Memset(0xee))
		h := must[*cuda.HostBuffer](t)(d.AllocHost(bytes, cuda.Uint8))
		ok(t, b.DownloadAsync(h, d.DefaultStream()))
		g := make([]byte, bytes)
		for i := range g {
			g[i] = 0xee
		}
		keep = append(keep, b, m, h, g)
	}
	ok(t, d.Synchronize())
	for _, k := range keep {
		switch b := k.(type) {
		case *cuda.Buffer:
			ok(t, b.Free())
		case *cuda.HostBuffer:
			ok(t, b.Free())
		}
	}
}

// leaked reports whether memory of a kind and size is listed.
func leaked(kind string, bytes uint64) bool {
	return slices.ContainsFunc(cuda.Leaks(), func(l cuda.Leak) bool { return l.Kind == kind && l.Bytes == bytes })
}

func TestViewsOfHostMemoryStay(t *testing.T) {
	for name, get := range map[string]func(t *testing.T, d *cuda.Device) []float32{
		"pinned host": func(t *testing.T, d *cuda.Device) []float32 {
			h := must[*cuda.HostBuffer](t)(d.AllocHost(5000, cuda.Float32))
			return must[[]float32](t)(h.Slice(0, 5000).Float32s())
		},
		"pinned host by its pointer": func(t *testing.T, d *cuda.Device) []float32 {
			h := must[*cuda.HostBuffer](t)(d.AllocHost(5000, cuda.Float32))
			return unsafe.Slice((*float32)(must[unsafe.Pointer](t)(h.Pointer())), 5000)
		},
		"managed": func(t *testing.T, d *cuda.Device) []float32 {
			b := must[*cuda.Buffer](t)(d.AllocManaged(5000, cuda.Float32))
			return must[[]float32](t)(must[*cuda.HostBuffer](t)(b.Host()).Float32s())
		},
		"pageable host": func(t *testing.T, d *cuda.Device) []float32 {
			h := must[*cuda.HostBuffer](t)(cuda.AllocPageable(5000, cuda.Float32))
			return must[[]float32](t)(h.Float32s())
		},
		"registered host": func(t *testing.T, d *cuda.Device) []float32 {
			h := must[*cuda.HostBuffer](t)(cuda.RegisterHost(make([]float32, 5000)))
			return must[[]float32](t)(h.Float32s())
		},
	} {
		t.Run(name, func(t *testing.T) {
			schedules(t, func(t *testing.T, d *cuda.Device) {
				s := get(t, d)
				for i := range s {
					s[i] = float32(i)
				}
				overwrite(t, d, 20000)
				for i, v := range s {
					if v != float32(i) {
						t.Fatalf("element %d is %g after a collection", i, v)
					}
				}
				if kind, _, _ := strings.Cut(name, " by"); strings.HasPrefix(name, "pinned") || name == "managed" {
					if !leaked(kind, 20000) {
						t.Errorf("the memory is not listed: %v", cuda.Leaks())
					}
				}
			})
		})
	}
}

// A host buffer of which nobody has a slice is freed by itself.
func TestHostMemoryIsReclaimed(t *testing.T) {
	schedules(t, func(t *testing.T, d *cuda.Device) {
		func() {
			h := must[*cuda.HostBuffer](t)(d.AllocHost(12340, cuda.Uint8))
			ok(t, must[*cuda.Buffer](t)(d.Alloc(12340, cuda.Uint8)).UploadAsync(h, d.DefaultStream()))
		}()
		for leaked("pinned host", 12340) {
			overwrite(t, d, 8)
		}
	})
}

// gate holds a stream back until it is opened.
func gate(t *testing.T, d *cuda.Device, s *cuda.Stream) (open func()) {
	word := must[*cuda.HostBuffer](t)(d.AllocHost(1, cuda.Uint32))
	list := must[[]uint32](t)(word.Uint32s())
	ok(t, s.WaitValue(word, 1, cuda.WaitEQ))
	return func() { atomic.StoreUint32(&list[0], 1) }
}

// What a graph was captured with stays as long as the graph, what was instantiated
// from it, and their launches.
func TestGraphsKeepTheirMemory(t *testing.T) {
	const n = 5000
	type parts struct {
		k      *cuda.Kernel
		s, two *cuda.Stream
		in     *cuda.Buffer
		out    *cuda.HostBuffer
	}
	// Each captures: out = in + in, by way of memory that nobody else has.
	for name, capture := range map[string]func(t *testing.T, d *cuda.Device, p parts) error{
		"a buffer that a kernel uses": func(t *testing.T, d *cuda.Device, p parts) error {
			tmp := must[*cuda.Buffer](t)(d.Alloc(n, cuda.Float32))
			return errors.Join(tmp.MemsetAsync(0, p.s), p.k.Launch(cuda.GridFor(n, 128), cuda.Block(128), p.s, n, 2, p.in, tmp), tmp.DownloadAsync(p.out, p.s))
		},
		"a prepared launch": func(t *testing.T, d *cuda.Device, p parts) error {
			tmp := must[*cuda.Buffer](t)(d.Alloc(n, cuda.Float32))
			launch := must[*cuda.Prepared](t)(p.k.Prepare(cuda.GridFor(n, 128), cuda.Block(128), p.s, n, 2, p.in, tmp))
			return errors.Join(tmp.Fill(0, p.s), launch.Launch(), cuda.MemcpyAsync(p.out, tmp, p.s))
		},
		"a stream that joined": func(t *testing.T, d *cuda.Device, p parts) error {
			tmp := must[*cuda.Buffer](t)(d.Alloc(n, cuda.Float32))
			e := must[*cuda.Event](t)(d.NewEvent())
			return errors.Join(e.Record(p.s), p.two.WaitEvent(e), tmp.MemsetAsync(0, p.two), p.k.Launch(cuda.GridFor(n, 128), cuda.Block(128), p.two, n, 2, p.in, tmp),
				e.Record(p.two), p.s.WaitEvent(e), tmp.DownloadAsync(p.out, p.s))
		},
		"pinned memory": func(t *testing.T, d *cuda.Device, p parts) error {
			tmp := must[*cuda.HostBuffer](t)(d.AllocHost(n, cuda.Float32))
			return errors.Join(cuda.MemcpyAsync(tmp, p.in, p.s), cuda.Axpy(1, p.in, p.in, p.s), cuda.MemcpyAsync(p.out, p.in, p.s), cuda.MemcpyAsync(p.in, tmp, p.s))
		},
		"managed memory": func(t *testing.T, d *cuda.Device, p parts) error {
			tmp := must[*cuda.Buffer](t)(d.AllocManaged(n, cuda.Float32))
			return errors.Join(cuda.Memcpy2DAsync(tmp, n/2, p.in, n/2, n/2, 2, p.s), cuda.Axpy(1, p.in, tmp, p.s), tmp.DownloadAsync(p.out, p.s))
		},
		"a Go slice": func(t *testing.T, d *cuda.Device, p parts) error {
			tmp, again := make([]float32, n), must[*cuda.Buffer](t)(d.Alloc(n, cuda.Float32))
			return errors.Join(cuda.MemcpyAsync(tmp, p.in, p.s), again.UploadAsync(tmp, p.s), cuda.Axpy(1, p.in, again, p.s), again.DownloadAsync(p.out, p.s))
		},
		"pageable memory": func(t *testing.T, d *cuda.Device, p parts) error {
			tmp, again := must[*cuda.HostBuffer](t)(cuda.AllocPageable(n, cuda.Float32)), must[*cuda.Buffer](t)(d.Alloc(n, cuda.Float32))
			return errors.Join(cuda.MemcpyAsync(tmp, p.in, p.s), again.UploadAsync(tmp, p.s), cuda.Axpy(1, p.in, again, p.s), again.DownloadAsync(p.out, p.s))
		},
	} {
		t.Run(name, func(t *testing.T) {
			schedules(t, func(t *testing.T, d *cuda.Device) {
				p := parts{k: kernel(t, compile(t, saxpy), "saxpy")}
				for _, s := range []**cuda.Stream{&p.s, &p.two} {
					*s = must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
				}
				p.in = must[*cuda.Buffer](t)(d.Alloc(n, cuda.Float32))
				p.out = must[*cuda.HostBuffer](t)(d.AllocHost(n, cuda.Float32))
				ok(t, p.in.Iota(0, 1, nil))
				ok(t, cuda.Axpy(0, p.in, p.in, nil)) // compiled before the capture
				ok(t, p.in.Fill(0, nil))
				ok(t, p.in.Iota(0, 1, nil))
				ok(t, d.Synchronize())
				g := must[*cuda.Graph](t)(p.s.Capture(func() error { return capture(t, d, p) }))
				overwrite(t, d, 4*n)
				x := must[*cuda.GraphExec](t)(g.Instantiate())
				ok(t, g.Destroy())
				overwrite(t, d, 4*n)
				ok(t, x.Launch(p.s))
				ok(t, p.s.Synchronize())
				check := func(when string) {
					t.Helper()
					for i, v := range must[[]float32](t)(p.out.Float32s()) {
						if v != 2*float32(i) {
							t.Fatalf("%s: element %d is %g, not %d", when, i, v, 2*i)
						}
					}
				}
				check("launched")
				clear(must[[]float32](t)(p.out.Float32s()))
				open := gate(t, d, p.s)
				if name == "a Go slice" || name == "pageable memory" {
					time.AfterFunc(100*time.Millisecond, open) // a GPU's launch waits for the stream before it copies such memory
				}
				ok(t, x.Launch(p.s))
				ok(t, x.Destroy()) // the launch goes on
				x = nil
				collect()
				done := make(chan struct{})
				go func() { // waits for the launch before it frees
					overwrite(t, d, 4*n)
					close(done)
				}()
				open()
				<-done
				ok(t, p.s.Synchronize())
				check("destroyed")
			})
		})
	}
}

// What only a graph had is freed after the graph.
func TestGraphsLetGo(t *testing.T) {
	for name, destroy := range map[string]bool{"destroyed": true, "unreachable": false} {
		t.Run(name, func(t *testing.T) {
			schedules(t, func(t *testing.T, d *cuda.Device) {
				s := must[*cuda.Stream](t)(d.NewStream())
				var slice weak.Pointer[[5000]byte]
				func() {
					g := must[*cuda.Graph](t)(s.Capture(func() error {
						b, host := must[*cuda.Buffer](t)(d.Alloc(43210, cuda.Uint8)), new([5000]byte)
						slice = weak.Make(host)
						return errors.Join(b.MemsetAsync(0, s), b.Slice(0, 5000).DownloadAsync(host[:], s))
					}))
					x := must[*cuda.GraphExec](t)(g.Instantiate())
					ok(t, x.Launch(s))
					overwrite(t, d, 8)
					if !leaked("device", 43210) || slice.Value() == nil {
						t.Error("a graph's memory was freed")
					}
					if destroy {
						ok(t, x.Destroy())
						ok(t, g.Destroy())
					}
					runtime.KeepAlive(x)
				}()
				for leaked("device", 43210) || slice.Value() != nil {
					overwrite(t, d, 8)
				}
			})
		})
	}
}

// An updated graph keeps the memory of both until the earlier launches are done.
func TestUpdatedGraphsKeepTheirMemory(t *testing.T) {
	schedules(t, func(t *testing.T, d *cuda.Device) {
		s := must[*cuda.Stream](t)(d.NewStream())
		in := must[*cuda.Buffer](t)(d.Alloc(1000, cuda.Uint8))
		capture := func() (*cuda.Graph, weak.Pointer[[1000]byte]) {
			host := new([1000]byte)
			g := must[*cuda.Graph](t)(s.Capture(func() error { return in.DownloadAsync(host[:], s) }))
			return g, weak.Make(host)
		}
		ok(t, in.Memset(3))
		first, a := capture()
		x := must[*cuda.GraphExec](t)(first.Instantiate())
		ok(t, first.Destroy())
		open := gate(t, d, s)
		time.AfterFunc(100*time.Millisecond, open) // as above
		ok(t, x.Launch(s))
		second, b := capture2(t, s, in)
		ok(t, x.Update(second))
		ok(t, second.Destroy())
		collect()
		if a.Value() == nil || b.Value() == nil {
			t.Error("Go memory of a queued launch, or of the graph, was collected")
		}
		ok(t, s.Synchronize())
		ok(t, x.Launch(s))
		ok(t, s.Synchronize())
		if a := a.Value(); a == nil || a[999] != 3 {
			t.Error("the first launch wrote elsewhere")
		}
		if b := b.Value(); b == nil || b[999] != 3 {
			t.Error("the second launch wrote elsewhere")
		}
		runtime.KeepAlive(x)
	})
}

// capture2 captures on another stream, for s is held back.
func capture2(t *testing.T, s *cuda.Stream, in *cuda.Buffer) (*cuda.Graph, weak.Pointer[[1000]byte]) {
	other := must[*cuda.Stream](t)(s.Device().NewStream())
	host := new([1000]byte)
	g := must[*cuda.Graph](t)(other.Capture(func() error { return in.DownloadAsync(host[:], other) }))
	return g, weak.Make(host)
}

// A launch of a graph whose memory or module is gone says so.
func TestGraphsWhoseMemoryIsGone(t *testing.T) {
	d := devices(t, 1)[0]
	s := must[*cuda.Stream](t)(d.NewStream())
	in := must[*cuda.Buffer](t)(d.Alloc(1000, cuda.Float32))
	for name, gone := range map[string]struct {
		take func(m *cuda.Module, b *cuda.Buffer, h *cuda.HostBuffer) error
		want string
	}{
		"buffer": {func(_ *cuda.Module, b *cuda.Buffer, _ *cuda.HostBuffer) error { return b.Free() }, "memory that saxpy uses in the graph (3.906 KiB) was freed after the capture"},
		"host":   {func(_ *cuda.Module, _ *cuda.Buffer, h *cuda.HostBuffer) error { return h.Free() }, "memory that Buffer.DownloadAsync uses in the graph (3.906 KiB) was freed after the capture"},
		"module": {func(m *cuda.Module, _ *cuda.Buffer, _ *cuda.HostBuffer) error { return m.Unload() }, "the module of saxpy, which the graph launches, was unloaded after the capture"},
	} {
		t.Run(name, func(t *testing.T) {
			m := compile(t, saxpy)
			k := kernel(t, m, "saxpy")
			b := must[*cuda.Buffer](t)(d.Alloc(1000, cuda.Float32))
			h := must[*cuda.HostBuffer](t)(d.AllocHost(1000, cuda.Float32))
			ok(t, k.Launch(cuda.Grid(1), cuda.Block(32), s, 32, 1, in, b)) // loaded before the capture
			g := must[*cuda.Graph](t)(s.Capture(func() error {
				return errors.Join(k.Launch(cuda.Grid(1), cuda.Block(32), s, 32, 1, in, b), b.DownloadAsync(h, s))
			}))
			x := must[*cuda.GraphExec](t)(g.Instantiate())
			ok(t, x.Launch(s))
			ok(t, s.Synchronize())
			ok(t, gone.take(m, b, h))
			refused(t, x.Launch(s), cuda.ErrInvalidValue, gone.want)
			ok(t, k.Launch(cuda.Grid(1), cuda.Block(32), s, 32, 1, in, in)) // loaded again
			refused(t, x.Launch(s), cuda.ErrInvalidValue, gone.want)
			ok(t, s.Synchronize())
		})
	}
}

// To allocate and free within a capture does neither fail nor spoil it when a
// collected buffer waits to be freed.
func TestAllocWithinACapture(t *testing.T) {
	schedules(t, func(t *testing.T, d *cuda.Device) {
		s := must[*cuda.Stream](t)(d.NewStream())
		in := must[*cuda.Buffer](t)(d.Alloc(100, cuda.Uint8))
		ok(t, in.Memset(1))
		stop := make(chan struct{})
		cuda.SetInterrupt(stop)
		defer cuda.SetInterrupt(nil)
		for range 5 {
			func() { must[*cuda.Buffer](t)(d.Alloc(100, cuda.Uint8)) }()
			g := must[*cuda.Graph](t)(s.Capture(func() error {
				collect()
				b, err := d.Alloc(100, cuda.Uint8)
				if err != nil {
					return err
				}
				_, err2 := d.AllocHost(100, cuda.Uint8)
				return errors.Join(err2, b.Free(), in.MemsetAsync(2, s))
			}))
			x := must[*cuda.GraphExec](t)(g.Instantiate())
			ok(t, x.Launch(s))
			ok(t, s.Synchronize())
		}
	})
}

// Captures and allocations of other goroutines do not spoil each other.
func TestAllocBesideCaptures(t *testing.T) {
	schedules(t, func(t *testing.T, d *cuda.Device) {
		in := must[*cuda.Buffer](t)(d.Alloc(100, cuda.Uint8))
		done := make(chan error, 1)
		go func() {
			for range 50 {
				_, err := d.Alloc(100, cuda.Uint8)
				runtime.GC()
				if _, again := d.Alloc(100, cuda.Uint8); err != nil || again != nil {
					done <- errors.Join(err, again)
					return
				}
			}
			done <- nil
		}()
		s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
		for {
			g := must[*cuda.Graph](t)(s.Capture(func() error { return in.MemsetAsync(2, s) }))
			ok(t, g.Destroy())
			select {
			case err := <-done:
				ok(t, err)
				return
			default:
			}
		}
	})
}

func TestMisalignedViews(t *testing.T) {
	d := devices(t, 1)[0]
	b := must[*cuda.Buffer](t)(d.Alloc(64, cuda.Uint8))
	defer b.Free()
	for _, c := range []struct {
		from int
		typ  cuda.Type
		bad  bool
	}{{1, cuda.Uint8, false}, {1, cuda.Int16, true}, {2, cuda.Float16, false}, {2, cuda.Float32, true}, {4, cuda.Float32, false}, {4, cuda.Float64, true}, {8, cuda.Complex64, false}, {8, cuda.Complex128, true}, {16, cuda.Complex128, false}} {
		_, err := b.Slice(c.from, c.from+16).As(c.typ)
		if c.bad {
			refused(t, err, driver.ErrInvalidValue, "must start at a multiple of")
		} else {
			ok(t, err)
		}
	}
	var none *cuda.Buffer
	_, err := none.As(cuda.Uint8)
	refused(t, err, driver.ErrInvalidValue, "nil")
}

// A free that fails leaves the memory as it was.
func TestFreeAsyncThatFails(t *testing.T) {
	d := devices(t, 1)[0]
	s := must[*cuda.Stream](t)(d.NewStream())
	b := must[*cuda.Buffer](t)(s.AllocAsync(1000, cuda.Uint8))
	ok(t, s.BeginCapture())
	err := b.FreeAsync(s)
	if g, ended := s.EndCapture(); ended == nil {
		ok(t, g.Destroy())
	}
	if err == nil {
		t.Skip("this driver frees memory within a graph that was allocated outside of it")
	}
	ok(t, b.MemsetAsync(1, s))
	ok(t, b.FreeAsync(s))
	refused(t, b.FreeAsync(s), cuda.ErrInvalidValue, "freed before")
	ok(t, s.Synchronize())
}

// What a C library was given for a captured stream is the graph's, too.
func TestGraphsKeepWhatLibrariesWereGiven(t *testing.T) {
	d := devices(t, 1)[0]
	s := must[*cuda.Stream](t)(d.NewStream())
	g := must[*cuda.Graph](t)(s.Capture(func() error {
		b := must[*cuda.Buffer](t)(d.Alloc(54320, cuda.Uint8))
		// As a library does: without package cuda.
		c := must[driver.Context](t)(cuda.Underlying().PrimaryRetain(0))
		err := cuda.Underlying().MemsetAsync(c, driver.Ptr(b.Address()), 1, 1, 54320, driver.Stream(s.Handle()))
		s.Keep(b)
		return err
	}))
	overwrite(t, d, 8)
	overwrite(t, d, 8)
	if !leaked("device", 54320) {
		t.Error("the graph's memory was freed")
	}
	ok(t, g.Destroy())
	for leaked("device", 54320) {
		overwrite(t, d, 8)
	}
}

// An allocation does not wait for a stream that is held, and frees what was dropped when
// it is not any more.
func TestAllocBehindAHeldStream(t *testing.T) {
	schedules(t, func(t *testing.T, d *cuda.Device) {
		const n = 12345
		s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
		open := make(chan struct{})
		ok(t, s.LaunchHostFunc(func() { <-open }))
		func() {
			must[*cuda.Buffer](t)(d.Alloc(n, cuda.Uint8))
			must[*cuda.Buffer](t)(d.AllocManaged(n, cuda.Uint8))
			must[*cuda.HostBuffer](t)(d.AllocHost(n, cuda.Uint8))
		}()
		collect()
		alloc := func() error {
			a, err := d.Alloc(1, cuda.Uint8)
			b, err2 := d.AllocManaged(1, cuda.Uint8)
			c, err3 := d.AllocHost(1, cuda.Uint8)
			runtime.KeepAlive([]any{a, b, c})
			return errors.Join(err, err2, err3)
		}
		kinds := []string{"device", "managed", "pinned host"}
		done := make(chan error)
		go func() { done <- alloc() }()
		select {
		case err := <-done:
			ok(t, err)
		case <-time.After(time.Minute):
			t.Error("an allocation hangs")
			close(open)
			<-done
			return
		}
		for _, kind := range kinds {
			if !leaked(kind, n) {
				t.Errorf("%s memory was freed while a stream was busy", kind)
			}
		}
		close(open)
		ok(t, s.Synchronize())
		ok(t, alloc())
		for _, kind := range kinds {
			if leaked(kind, n) {
				t.Errorf("%s memory is still there", kind)
			}
		}
		ok(t, s.Destroy())
	})
}
