package drivertest

import (
	"bytes"
	"math/rand/v2"
	"runtime"

	"gocuda/cudaapi/driver"
)

// noise is n bytes that no mistake produces by accident.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

var copyTests = []test{
	{name: "what was copied to the device comes back", run: func(e *env) {
		for _, n := range []int{1, 3, 4, 255, 4096, 65536, 65537, 1<<20 + 1} {
			p, in, out := e.alloc(0, uint64(n), 0xee), noise(n), make([]byte, n)
			e.ok(e.d.Memcpy(e.ctx[0], p, address(in), uint64(n)))
			e.ok(e.d.Memcpy(e.ctx[0], address(out), p, uint64(n)))
			if !bytes.Equal(in, out) {
				e.Errorf("%d bytes differ", n)
			}
		}
	}},
	{name: "a copy touches only its bytes", run: func(e *env) {
		p, in := e.alloc(0, 1000, 0xee), noise(100)
		e.write(0, p+333, in)
		out := e.read(0, p, 1000)
		if !bytes.Equal(out[333:433], in) || bytes.Count(out[:333], []byte{0xee}) != 333 || bytes.Count(out[433:], []byte{0xee}) != 567 {
			e.Error("bytes outside of the copy changed")
		}
	}},
	{name: "device to device", run: func(e *env) {
		a, b, in := e.alloc(0, 5000, 0), e.alloc(0, 5000, 1), noise(5000)
		e.write(0, a, in)
		e.ok(e.d.Memcpy(e.ctx[0], b, a, 5000))
		e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
		if !bytes.Equal(e.read(0, b, 5000), in) {
			e.Error("the copy differs")
		}
	}},
	{name: "host to host", run: func(e *env) {
		in, out := noise(5000), make([]byte, 5000)
		e.ok(e.d.Memcpy(e.ctx[0], address(out), address(in), 5000))
		if !bytes.Equal(in, out) {
			e.Error("the copy differs")
		}
	}},
	{name: "asynchronous copies through pinned memory", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		in, inBytes := e.pinned(1<<20, 0)
		out, outBytes := e.pinned(1<<20, 0)
		copy(inBytes, noise(1<<20))
		p := e.alloc(0, 1<<20, 0)
		e.ok(e.d.MemcpyAsync(e.ctx[0], p, in, 1<<20, s))
		e.ok(e.d.MemcpyAsync(e.ctx[0], out, p, 1<<20, s))
		e.sync(0, s)
		if !bytes.Equal(inBytes, outBytes) {
			e.Error("the copy differs")
		}
	}},
	{name: "no bytes are no work", run: func(e *env) {
		p := e.alloc(0, 16, 5)
		e.ok(e.d.Memcpy(e.ctx[0], p, p+8, 0))
		e.ok(e.d.Memset(e.ctx[0], p, 1, 1, 0))
		e.all(0, p, 16, 5)
	}},
	{name: "a copy past the end of an allocation is an invalid value", run: func(e *env) {
		p := e.alloc(0, 2<<20, 0)
		in := make([]byte, 4<<20)
		e.code(e.d.Memcpy(e.ctx[0], p, address(in), 4<<20), driver.ErrInvalidValue)
		s := e.stream(0, driver.StreamNonBlocking)
		e.code(e.d.MemcpyAsync(e.ctx[0], p, address(in), 4<<20, s), driver.ErrInvalidValue)
		runtime.KeepAlive(in)
	}},
	{name: "memset in bytes, words and double words", run: func(e *env) {
		p := e.alloc(0, 64, 0xee)
		e.ok(e.d.Memset(e.ctx[0], p, 0x11, 1, 5))
		e.ok(e.d.Memset(e.ctx[0], p+8, 0x2233, 2, 3))
		e.ok(e.d.Memset(e.ctx[0], p+16, 0x44556677, 4, 2))
		e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
		want := append(bytes.Repeat([]byte{0x11}, 5), 0xee, 0xee, 0xee, 0x33, 0x22, 0x33, 0x22, 0x33, 0x22, 0xee, 0xee,
			0x77, 0x66, 0x55, 0x44, 0x77, 0x66, 0x55, 0x44, 0xee)
		if got := e.read(0, p, 25); !bytes.Equal(got, want) {
			e.Errorf("got  %x\nwant %x", got, want)
		}
	}},
	{name: "memset to an odd address in double words is an invalid value", run: func(e *env) {
		p := e.alloc(0, 64, 0)
		e.code(e.d.Memset(e.ctx[0], p+2, 1, 4, 4), driver.ErrInvalidValue)
	}},
	{name: "asynchronous memset", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 4096, 0)
		g := e.hold(0, s)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 9, 1, 4096, s))
		e.before(0, p, 4096, 0)
		g.release()
		e.sync(0, s)
		e.all(0, p, 4096, 9)
	}},
	{name: "rows of a 2-D memset keep to their pitch and their stream", run: func(e *env) {
		const w, h, pitch = 3, 5, 16
		s := e.stream(0, driver.StreamNonBlocking)
		for _, width := range []int{1, 2, 4} {
			p := e.alloc(0, pitch*h, 0xee)
			g := e.hold(0, s)
			e.ok(e.d.Memset2DAsync(e.ctx[0], p, pitch, 0x44332211, width, w, h, s))
			e.before(0, p, pitch*h, 0xee)
			g.release()
			e.sync(0, s)
			out := e.read(0, p, pitch*h)
			row := append(bytes.Repeat([]byte{0x11, 0x22, 0x33, 0x44}[:width], w), bytes.Repeat([]byte{0xee}, pitch-w*width)...)
			if want := bytes.Repeat(row, h); !bytes.Equal(out, want) {
				e.Errorf("elements of %d bytes:\ngot  %x\nwant %x", width, out, want)
			}
		}
	}},
	{name: "rows of a 2-D copy keep to their pitches", run: func(e *env) {
		const w, h, sp, dp = 7, 5, 16, 32
		src, dst := e.alloc(0, sp*h, 0), e.alloc(0, dp*h, 0xee)
		in := noise(sp * h)
		e.write(0, src, in)
		e.ok(e.d.Memcpy2D(e.ctx[0], &driver.Copy2D{Dst: dst, Src: src, DstPitch: dp, SrcPitch: sp, Width: w, Height: h}))
		e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
		out := e.read(0, dst, dp*h)
		for y := range h {
			if !bytes.Equal(out[y*dp:y*dp+w], in[y*sp:y*sp+w]) || out[y*dp+w] != 0xee {
				e.Fatalf("row %d: %x", y, out[y*dp:y*dp+w+1])
			}
		}
	}},
	{name: "2-D copies between host and device", run: func(e *env) {
		const w, h, pitch = 100, 20, 128
		s := e.stream(0, driver.StreamNonBlocking)
		host, hostBytes := e.pinned(w*h, 0)
		copy(hostBytes, noise(w*h))
		want := bytes.Clone(hostBytes)
		dev := e.alloc(0, pitch*h, 0)
		e.ok(e.d.Memcpy2DAsync(e.ctx[0], &driver.Copy2D{Dst: dev, Src: host, DstPitch: pitch, SrcPitch: w, Width: w, Height: h}, s))
		e.sync(0, s)
		clear(hostBytes)
		e.ok(e.d.Memcpy2DAsync(e.ctx[0], &driver.Copy2D{Dst: host, Src: dev, DstPitch: w, SrcPitch: pitch, Width: w, Height: h}, s))
		e.sync(0, s)
		if !bytes.Equal(hostBytes, want) {
			e.Error("the copy differs")
		}
	}},
	{name: "a 2-D copy wider than its pitch is an invalid value", run: func(e *env) {
		p, q := e.alloc(0, 4096, 0), e.alloc(0, 4096, 0)
		e.code(e.d.Memcpy2D(e.ctx[0], &driver.Copy2D{Dst: p, Src: q, DstPitch: 16, SrcPitch: 16, Width: 17, Height: 4}), driver.ErrInvalidValue)
	}},
	{name: "peer copy", devices: 2, run: func(e *env) {
		a, b, in := e.alloc(0, 70000, 0), e.alloc(1, 70000, 0xee), noise(70000)
		e.write(0, a, in)
		e.ok(e.d.MemcpyPeer(b, e.ctx[1], a, e.ctx[0], 70000))
		e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
		e.ok(e.d.CtxSynchronize(e.ctx[1], nil))
		if !bytes.Equal(e.read(1, b, 70000), in) {
			e.Error("the copy differs")
		}
	}},
	{name: "peer copies on a stream of either device", devices: 2, run: func(e *env) {
		in := noise(70000)
		a := e.alloc(0, 70000, 0)
		e.write(0, a, in)
		for dev := range 2 {
			b, s := e.alloc(1, 70000, 0xee), e.stream(dev, driver.StreamNonBlocking)
			e.ok(e.d.MemcpyPeerAsync(b, e.ctx[1], a, e.ctx[0], 70000, s))
			e.sync(dev, s)
			if !bytes.Equal(e.read(1, b, 70000), in) {
				e.Errorf("on a stream of device %d the copy differs", dev)
			}
		}
	}},
	{name: "a plain copy knows both devices by their addresses", devices: 2, run: func(e *env) {
		in := noise(5000)
		a, b, s := e.alloc(0, 5000, 0), e.alloc(1, 5000, 0), e.stream(0, driver.StreamNonBlocking)
		e.write(0, a, in)
		e.ok(e.d.MemcpyAsync(e.ctx[0], b, a, 5000, s))
		e.sync(0, s)
		if !bytes.Equal(e.read(1, b, 5000), in) {
			e.Error("the copy differs")
		}
	}},
	{name: "many copies from many goroutines", run: func(e *env) {
		const workers, rounds = 16, 20
		errs := make(chan error, workers)
		for w := range workers {
			dev := w % e.n
			s := e.stream(dev, driver.StreamNonBlocking)
			p := e.alloc(dev, 4096, 0)
			go func() {
				in, out := noise(4096), make([]byte, 4096)
				for range rounds {
					in[0]++
					if err := e.d.MemcpyAsync(e.ctx[dev], p, address(in), 4096, s); err != nil {
						errs <- err
						return
					}
					if err := e.d.MemcpyAsync(e.ctx[dev], address(out), p, 4096, s); err != nil {
						errs <- err
						return
					}
					if err := e.d.StreamSynchronize(e.ctx[dev], s, nil); err != nil {
						errs <- err
						return
					}
					if !bytes.Equal(in, out) {
						e.Error("a copy differs")
					}
					runtime.Gosched()
				}
				errs <- nil
			}()
		}
		for range workers {
			e.ok(<-errs)
		}
	}},
}
