package cuda_test

import (
	"bytes"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
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
	refused(t, b.Memset(0), cuda.ErrInvalidValue, "freed before")
	refused(t, s.Synchronize(), cuda.ErrInvalidHandle, "destroyed")
	again := must[*cuda.Buffer](t)(d.Alloc(100, cuda.Int32))
	ok(t, again.Upload(make([]int32, 100)))
	refused(t, s.Synchronize(), cuda.ErrInvalidHandle, "destroyed")
	ok(t, again.Free())
}
