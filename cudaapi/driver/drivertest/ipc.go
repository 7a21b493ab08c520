package drivertest

import (
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/driver"
)

// partnerEnv hands handles to the process that plays the other part of a case.
const partnerEnv = "GOCUDA_DRIVERTEST_PARTNER"

// partner runs the case at hand again in another process, which finds handles in
// its environment; it waits for its end. Its own process does the rest.
func (e *env) partner(handles ...[]byte) {
	e.Helper()
	e.partnerWith(nil, handles...)
}

// partnerWith hands open files to the other process too: they are its
// descriptors from 3 on.
func (e *env) partnerWith(files []*os.File, handles ...[]byte) {
	e.Helper()
	var parts, words []string
	for _, p := range strings.Split(e.Name(), "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(p)+"$")
	}
	for _, h := range handles {
		words = append(words, hex.EncodeToString(h))
	}
	cmd := exec.Command(os.Args[0], "-test.run="+strings.Join(parts, "/"), "-test.v")
	cmd.Env = append(os.Environ(), partnerEnv+"="+strings.Join(words, ","))
	cmd.ExtraFiles = files
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+e.Name()) {
		e.Fatalf("the other process: %v\n%s", err, out)
	}
}

// handles are those that a partner was given; nil in the first process.
func (e *env) handles() [][]byte {
	e.Helper()
	var out [][]byte
	for w := range strings.SplitSeq(os.Getenv(partnerEnv), ",") {
		if w == "" {
			return nil
		}
		h, err := hex.DecodeString(w)
		e.ok(err)
		out = append(out, h)
	}
	return out
}

// readyAt is where, in shared memory, a partner says that it is under way.
const readyAt = 1 << 20

// shared allocates device memory large enough to have a handle of its own.
func (e *env) shared(fill byte) driver.Ptr { return e.alloc(0, 2<<20, fill) }

var ipcTests = []test{
	{name: "memory is written by another process", run: func(e *env) {
		if h := e.handles(); h != nil {
			p, err := e.d.IPCOpenMemHandle(e.ctx[0], driver.IPCMemHandle(h[0]))
			e.ok(err)
			e.all(0, p, 4096, 1)
			e.ok(e.d.Memset(e.ctx[0], p, 2, 1, 4096))
			e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
			e.ok(e.d.IPCCloseMemHandle(e.ctx[0], p))
			return
		}
		p := e.shared(1)
		h, err := e.d.IPCGetMemHandle(e.ctx[0], p)
		e.ok(err)
		e.partner(h[:])
		e.all(0, p, 4096, 2)
		e.all(0, p+4096, 4096, 1)
	}},
	{name: "another device's memory is opened by another process", devices: 2, run: func(e *env) {
		if h := e.handles(); h != nil {
			p, err := e.d.IPCOpenMemHandle(e.ctx[1], driver.IPCMemHandle(h[0]))
			e.ok(err)
			s := e.stream(1, driver.StreamNonBlocking)
			q := e.alloc(1, 4096, 5)
			e.ok(e.d.MemcpyAsync(e.ctx[1], p, q, 4096, s))
			e.sync(1, s)
			e.ok(e.d.IPCCloseMemHandle(e.ctx[1], p))
			return
		}
		if can, err := e.d.CanAccessPeer(1, 0); err != nil || !can {
			e.Skipf("no peer access: %v", err)
		}
		p := e.shared(1)
		h, err := e.d.IPCGetMemHandle(e.ctx[0], p)
		e.ok(err)
		e.partner(h[:])
		e.all(0, p, 4096, 5)
	}},
	{name: "an event is seen by another process", run: func(e *env) {
		if h := e.handles(); h != nil {
			ev, err := e.d.IPCOpenEventHandle(e.ctx[0], driver.IPCEventHandle(h[0]))
			e.ok(err)
			if done, err := e.d.EventQuery(e.ctx[0], ev); err != nil || done {
				e.Errorf("done %v, %v: it is behind a gate", done, err)
			}
			e.ok(e.d.EventDestroy(e.ctx[0], ev))
			return
		}
		s := e.stream(0, driver.StreamNonBlocking)
		ev := e.event(0, driver.EventInterprocess|driver.EventDisableTiming)
		h, err := e.d.IPCGetEventHandle(e.ctx[0], ev)
		e.ok(err)
		g := e.hold(0, s)
		e.ok(e.d.EventRecord(e.ctx[0], ev, s))
		e.partner(h[:])
		g.release()
		e.ok(e.d.EventSynchronize(e.ctx[0], ev, nil))
	}},
	{name: "a small allocation is opened at its own first byte", run: func(e *env) {
		if h := e.handles(); h != nil {
			p, err := e.d.IPCOpenMemHandle(e.ctx[0], driver.IPCMemHandle(h[0]))
			e.ok(err)
			e.all(0, p, 1000, 7)
			e.ok(e.d.IPCCloseMemHandle(e.ctx[0], p))
			return
		}
		e.alloc(0, 1000, 6)
		p := e.alloc(0, 1000, 7)
		e.alloc(0, 1000, 8)
		h, err := e.d.IPCGetMemHandle(e.ctx[0], p)
		e.ok(err)
		e.partner(h[:])
	}},
	{name: "a stream waits for another process's event", run: func(e *env) {
		if h := e.handles(); h != nil {
			p, err := e.d.IPCOpenMemHandle(e.ctx[0], driver.IPCMemHandle(h[0]))
			e.ok(err)
			ev, err := e.d.IPCOpenEventHandle(e.ctx[0], driver.IPCEventHandle(h[1]))
			e.ok(err)
			s := e.stream(0, driver.StreamNonBlocking)
			out, bytes := e.pinned(4096, 0)
			e.ok(e.d.StreamWaitEvent(e.ctx[0], s, ev))
			e.ok(e.d.MemcpyAsync(e.ctx[0], out, p, 4096, s))
			ready := e.stream(0, driver.StreamNonBlocking)
			e.ok(e.d.MemsetAsync(e.ctx[0], p+readyAt, 9, 1, 1, ready))
			e.sync(0, ready)
			e.sync(0, s)
			if bytes[0] != 2 || bytes[4095] != 2 {
				e.Errorf("read %d, %d: before the other process wrote", bytes[0], bytes[4095])
			}
			e.ok(e.d.EventDestroy(e.ctx[0], ev))
			e.ok(e.d.IPCCloseMemHandle(e.ctx[0], p))
			return
		}
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.shared(1)
		ev := e.event(0, driver.EventInterprocess|driver.EventDisableTiming)
		mem, err := e.d.IPCGetMemHandle(e.ctx[0], p)
		e.ok(err)
		event, err := e.d.IPCGetEventHandle(e.ctx[0], ev)
		e.ok(err)
		g := e.hold(0, s)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 2, 1, 4096, s))
		e.ok(e.d.EventRecord(e.ctx[0], ev, s))
		poll := e.stream(0, driver.StreamNonBlocking)
		flag, flagBytes := e.pinned(1, 0)
		var over atomic.Bool
		ended := make(chan struct{})
		go func() { // opens the gate when the other process waits
			defer close(ended)
			for flagBytes[0] != 9 && !over.Load() {
				time.Sleep(5 * time.Millisecond)
				if e.d.MemcpyAsync(e.ctx[0], flag, p+readyAt, 1, poll) != nil || e.d.StreamSynchronize(e.ctx[0], poll, nil) != nil {
					break
				}
			}
			time.Sleep(patience)
			g.release()
		}()
		defer func() {
			over.Store(true)
			<-ended
		}()
		e.partner(mem[:], event[:])
	}},
	{name: "a handle that is open is opened once more, and closed as often", run: func(e *env) {
		if h := e.handles(); h != nil {
			p, err := e.d.IPCOpenMemHandle(e.ctx[0], driver.IPCMemHandle(h[0]))
			e.ok(err)
			q, err := e.d.IPCOpenMemHandle(e.ctx[0], driver.IPCMemHandle(h[0]))
			e.ok(err)
			if p != q {
				e.Errorf("one handle is open at %#x and %#x", p, q)
			}
			e.ok(e.d.IPCCloseMemHandle(e.ctx[0], p))
			e.all(0, q, 4096, 1)
			e.ok(e.d.IPCCloseMemHandle(e.ctx[0], q))
			return
		}
		h, err := e.d.IPCGetMemHandle(e.ctx[0], e.shared(1))
		e.ok(err)
		e.partner(h[:])
	}},
	// CUDA does not define what comes of memory that its owner frees while it is open. GPUs
	// refuse at times what is opened in its place, until it is closed.
	{name: "what is open in the place of something that was freed is that", run: func(e *env) {
		if h := e.handles(); h != nil {
			in, out := os.NewFile(3, "in"), os.NewFile(4, "out")
			old, err := e.d.IPCOpenMemHandle(e.ctx[0], driver.IPCMemHandle(h[0]))
			e.ok(err)
			_, err = out.Write([]byte{1})
			e.ok(err)
			var next driver.IPCMemHandle
			if _, err := io.ReadFull(in, next[:]); err == io.EOF {
				return // nothing came to lie there
			} else {
				e.ok(err)
			}
			p, err := e.d.IPCOpenMemHandle(e.ctx[0], next)
			if err != nil {
				e.code(err, driver.ErrAlreadyMapped)
			}
			e.ok(e.d.IPCCloseMemHandle(e.ctx[0], old))
			if err != nil {
				p, err = e.d.IPCOpenMemHandle(e.ctx[0], next)
				e.ok(err)
			}
			e.all(0, p, 4096, 2)
			e.ok(e.d.IPCCloseMemHandle(e.ctx[0], p))
			return
		}
		const n = 2 << 20
		old, err := e.d.MemAlloc(e.ctx[0], n)
		e.ok(err)
		h, err := e.d.IPCGetMemHandle(e.ctx[0], old)
		e.ok(err)
		fromPartner, out, err := os.Pipe()
		e.ok(err)
		in, toPartner, err := os.Pipe()
		e.ok(err)
		replaced := false
		over := make(chan struct{})
		go func() {
			defer close(over)
			defer toPartner.Close()
			defer fromPartner.Close()
			if _, err := fromPartner.Read(make([]byte, 1)); err != nil { // the partner has failed
				return
			}
			err := e.d.MemFree(e.ctx[0], old)
			for i := 0; i < 64 && err == nil && !replaced; i++ {
				var p driver.Ptr
				if p, err = e.d.MemAlloc(e.ctx[0], n); err != nil {
					break
				}
				e.Cleanup(func() { _ = e.d.MemFree(e.ctx[0], p) })
				if replaced = p == old; replaced {
					var next driver.IPCMemHandle
					if err = errors.Join(e.d.Memset(e.ctx[0], p, 2, 1, n), e.d.CtxSynchronize(e.ctx[0], nil)); err == nil {
						next, err = e.d.IPCGetMemHandle(e.ctx[0], p)
					}
					if err == nil {
						_, err = toPartner.Write(next[:])
					}
				}
			}
			if err != nil {
				e.Error(err)
			}
		}()
		func() {
			defer func() { _, _ = in.Close(), out.Close(); <-over }()
			e.partnerWith([]*os.File{in, out}, h[:])
		}()
		if !replaced {
			e.Skip("no allocation came to lie where the first was")
		}
	}},
	{name: "a handle is not opened by the process that made it", run: func(e *env) {
		h, err := e.d.IPCGetMemHandle(e.ctx[0], e.shared(0))
		e.ok(err)
		_, err = e.d.IPCOpenMemHandle(e.ctx[0], h)
		e.code(err, driver.ErrInvalidContext, driver.ErrInvalidDevice, driver.ErrInvalidValue)
	}},
	{name: "noise is not a handle", run: func(e *env) {
		_, err := e.d.IPCOpenMemHandle(e.ctx[0], driver.IPCMemHandle{1, 2, 3})
		e.code(err, driver.ErrInvalidValue, driver.ErrInvalidContext, driver.ErrInvalidDevice)
	}},
	{name: "a plain event has no handle", run: func(e *env) {
		_, err := e.d.IPCGetEventHandle(e.ctx[0], e.event(0, driver.EventDisableTiming))
		e.code(err, driver.ErrInvalidValue, driver.ErrInvalidHandle)
	}},
	{name: "host memory has no handle", run: func(e *env) {
		p, _ := e.pinned(4096, 0)
		_, err := e.d.IPCGetMemHandle(e.ctx[0], p)
		e.code(err, driver.ErrInvalidValue)
	}},
}
