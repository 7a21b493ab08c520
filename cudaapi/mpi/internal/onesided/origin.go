package onesided

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// Tags: of what a server takes, of nothing, and of answers.
const (
	tagServe = 0
	tagNone  = 1
	tagFirst = 2
	tagLast  = 32767 // what every library has
)

// command is what a message to a server asks for.
type command uint8

const (
	doAccess command = iota + 1
	doFlush
	doLock
	doLockExclusive
	doUnlock
	doPost
	doComplete
)

// header begins each message: command, kind, operation, type; the tag of the
// answer; place and length.
type header struct {
	command command
	kind    transport.AccessKind
	op      transport.Op
	typ     transport.Type
	tag     int32
	at, n   uint64
}

const (
	headBytes = 24
	// chunk is the most of an operation that one message has: whole elements of any type.
	chunk = 64 << 10
)

func (h *header) put(b []byte) {
	b[0], b[1], b[2], b[3] = byte(h.command), byte(h.kind), byte(h.op), byte(h.typ)
	binary.LittleEndian.PutUint32(b[4:], uint32(h.tag))
	binary.LittleEndian.PutUint64(b[8:], h.at)
	binary.LittleEndian.PutUint64(b[16:], h.n)
}

func readHeader(b []byte) (h header, ok bool) {
	if len(b) < headBytes {
		return h, false
	}
	h = header{command(b[0]), transport.AccessKind(b[1]), transport.Op(b[2]), transport.Type(b[3]),
		int32(binary.LittleEndian.Uint32(b[4:])), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}
	return h, h.valid()
}

// valid tells whether a rank sends such a header: what does it must not panic by it.
func (h *header) valid() bool {
	answered := h.tag >= tagFirst && h.tag <= tagLast
	switch h.command {
	case doAccess:
		size := uint64(h.typ.Size())
		return (answered || h.tag == 0) && h.kind <= transport.CompareAndSwap && (h.kind != transport.CompareAndSwap || h.op != transport.NoOp) &&
			size > 0 && h.n <= chunk && h.n%size == 0
	case doFlush, doLock, doLockExclusive, doUnlock:
		return answered
	}
	return h.command == doPost || h.command == doComplete
}

// answerTag is one that no other answer to this rank has.
func (w *Window) answerTag() int32 { return tagFirst + w.tag.Add(1)&(1<<14-1) }

// send sends a server a command.
func (w *Window) send(to int, h header, payload ...[]byte) (transport.Request, error) {
	n := headBytes
	for _, p := range payload {
		n += len(p)
	}
	b := make([]byte, headBytes, n)
	h.put(b)
	for _, p := range payload {
		b = append(b, p...)
	}
	return w.c.Isend(hostMemory(b), to, tagServe)
}

// operation is a part of an access that is under way.
type operation struct {
	w      *Window
	sent   transport.Request
	answer transport.Request // nil: none is awaited
	n      int               // bytes of the answer
	then   func() error
	mu     sync.Mutex
	over   bool
	err    error
}

// Test moves it on.
func (o *operation) Test() (transport.Status, bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return transport.Status{}, true, o.err
	}
	for _, r := range []*transport.Request{&o.sent, &o.answer} {
		if *r == nil {
			continue
		}
		st, done, err := (*r).Test()
		switch {
		case !done && err == nil:
			select {
			case <-o.w.broken:
				o.over, o.err = true, o.w.why
				return transport.Status{}, true, o.err
			default:
			}
			return transport.Status{}, false, nil
		case err == nil && r == &o.answer && st.Bytes < o.n:
			err = &transport.Error{Class: transport.RMARange, Text: "the operation is not within the target's memory"}
		}
		if err != nil {
			o.over, o.err = true, err
			return transport.Status{}, true, err
		}
		*r = nil
	}
	o.over = true
	if o.then != nil {
		o.err = o.then()
	}
	return transport.Status{}, true, o.err
}

func (o *operation) Cancel() error { return nil }

// finish waits until it is over.
func (w *Window) finish(o *operation, stop <-chan struct{}) error {
	began, nap := time.Now(), napFirst
	for n := 1; ; n++ {
		_, done, err := o.Test()
		if done {
			return err
		}
		if n%8 != 0 {
			continue
		}
		runtime.Gosched()
		if time.Since(began) < spinTime {
			continue
		}
		select {
		case <-stop:
			return transport.ErrStopped
		case <-time.After(nap):
			nap = min(2*nap, napMost)
		}
	}
}

// operations is an access of several parts.
type operations []*operation

func (s operations) Test() (transport.Status, bool, error) {
	all := true
	var first error
	for _, o := range s {
		_, done, err := o.Test()
		all = all && done
		if first == nil {
			first = err
		}
	}
	return transport.Status{}, all, first
}

func (s operations) Cancel() error { return nil }

func part(m transport.Memory, at, n int) []byte {
	if m.P == nil {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(m.P, at)), n)
}

func (w *Window) Access(a *transport.Access, request bool) (transport.Request, error) {
	select {
	case <-w.broken:
		return nil, w.why
	default:
	}
	if a.Target < 0 { // nobody
		return operations(nil), nil
	}
	n := max(a.Origin.Bytes(), a.Result.Bytes())
	if w.shared != nil {
		return operations(nil), w.direct(a, n)
	}
	var all operations
	t := a.Type()
	for at := 0; at < n; at += chunk {
		long := min(chunk, n-at)
		h := header{doAccess, a.Kind, a.Op, t, 0, uint64(a.At + at), uint64(long)}
		origin, result := part(a.Origin, at, long), part(a.Result, at, long)
		if a.Kind == transport.CompareAndSwap {
			origin = slices.Concat(bytesOf(a.Compare), origin)
		}
		if a.Kind == transport.Get || a.Op == transport.NoOp {
			origin = nil
		}
		if a.Target == w.rank {
			w.mu.Lock()
			err := w.do(a.Kind, a.Op, t, a.At+at, long, origin, result)
			w.mu.Unlock()
			if err != nil {
				return nil, err
			}
			continue
		}
		o := &operation{w: w, n: len(result)}
		var err error
		if result != nil {
			h.tag = w.answerTag()
			if o.answer, err = w.c.Irecv(hostMemory(result), a.Target, int(h.tag)); err != nil {
				return nil, err
			}
		}
		if o.sent, err = w.send(a.Target, h, origin); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	switch {
	case a.Then == nil:
	case len(all) == 0:
		if err := a.Then(); err != nil {
			return nil, err
		}
	default:
		all = append(all, w.afterAll(slices.Clone(all), a.Then))
	}
	w.originMu.Lock()
	t0 := &w.targets[a.Target]
	if len(all) > 0 {
		t0.dirty = true
		t0.tidy()
		t0.waiting = append(t0.waiting, all...)
	}
	w.originMu.Unlock()
	return all, nil
}

// afterAll is an operation that runs then when the others are over.
func (w *Window) afterAll(others operations, then func() error) *operation {
	return &operation{w: w, sent: others, then: then}
}

// tidy lets go of the operations at the front that are over, of many.
func (t *target) tidy() {
	if len(t.waiting) < 64 {
		return
	}
	t.waiting = slices.DeleteFunc(t.waiting, func(o *operation) bool {
		_, over, err := o.Test()
		return over && err == nil
	})
}

// direct does an operation on shared memory.
func (w *Window) direct(a *transport.Access, n int) error {
	p := &w.shared[a.Target]
	if a.At < 0 || n > len(p.mem)-a.At {
		return outside(a.At, n, fmt.Sprintf("in the target's %d bytes", len(p.mem)))
	}
	old := p.mem[a.At : a.At+n]
	switch a.Kind {
	case transport.Put:
		copy(old, bytesOf(a.Origin))
	case transport.Get:
		copy(bytesOf(a.Result), old)
	default:
		if err := w.enter(p.lock); err != nil {
			return err
		}
		with := bytesOf(a.Origin)
		if a.Kind == transport.CompareAndSwap {
			with = slices.Concat(bytesOf(a.Compare), with)
		}
		var result []byte
		if a.Result.P != nil {
			result = bytesOf(a.Result)
		}
		_, err := change(a.Kind, a.Op, a.Type(), old, with, result)
		p.lock.Store(0)
		if err != nil {
			return err
		}
	}
	if a.Then != nil {
		return a.Then()
	}
	return nil
}

// enter takes the lock of a rank's shared memory.
func (w *Window) enter(lock interface{ CompareAndSwap(old, new uint32) bool }) error {
	for n := 1; !lock.CompareAndSwap(0, uint32(w.rank)+1); n++ {
		if n%16 == 0 {
			runtime.Gosched()
		}
		if n%1024 == 0 {
			time.Sleep(napFirst)
			select {
			case <-w.broken:
				return w.why
			default:
			}
		}
	}
	return nil
}
