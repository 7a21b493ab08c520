//go:build linux && (amd64 || arm64)

package libmpi

import (
	"errors"
	"sync"
	"unsafe"

	"gocuda/cudaapi/internal/clib"
	"gocuda/cudaapi/mpi/internal/transport"
)

// request is one MPI_Request.
type request struct {
	t        *Transport
	receives bool // has a status, and can be cancelled
	guarded  bool // a message of more than room bytes is too long
	room     int
	f        function

	mu   sync.Mutex
	over bool
	st   transport.Status
	err  error

	// What C reads and writes. Handles of four bytes take the lower half of
	// handle, on these little-endian machines.
	handle uintptr
	flag   int32
	status status

	// keep holds what the library still reads and writes. A request that is
	// under way is in the transport's list, so that all this outlives a user who
	// forgets it.
	keep       [6]unsafe.Pointer
	devices    [2]any // likewise
	prev, next *request
}

var spare = sync.Pool{New: func() any { return new(request) }}

func (t *Transport) newRequest(f function) *request {
	r := spare.Get().(*request)
	r.t, r.f = t, f
	return r
}

// Release keeps the request for the next operation.
func (r *request) Release() {
	r.mu.Lock()
	over := r.over
	r.mu.Unlock()
	if over {
		*r = request{}
		spare.Put(r)
	}
}

// out is where the library puts the handle: the last argument of the call that
// makes a request.
func (r *request) out() uintptr { return clib.Pin(&r.handle) }

// started takes the code of the call that made r.
func (t *Transport) started(r *request, code int32) (transport.Request, error) {
	if code != 0 {
		return nil, t.check(r.f, code)
	}
	t.pending.add(r)
	return r, nil
}

// Test is MPI_Test.
func (r *request) Test() (transport.Status, bool, error) {
	if !r.mu.TryLock() {
		return transport.Status{}, false, nil // another goroutine is asking
	}
	defer r.mu.Unlock()
	if r.over {
		return r.st, true, r.err
	}
	r.t.matchings.progress()
	code := r.t.call(mpiTest, clib.Pin(&r.handle), clib.Pin(&r.flag), clib.Pin(&r.status))
	if code == 0 && r.flag == 0 {
		return transport.Status{}, false, nil
	}
	r.over = true
	if r.receives {
		r.st = r.t.abi.fromC(&r.status)
	}
	if r.err = r.t.check(r.f, code); code != 0 {
		r.giveUp()
	}
	if r.guarded && r.err == nil {
		r.err = r.tooLong()
	}
	r.t.pending.remove(r)
	return r.st, true, r.err
}

// giveUp ends a receive from any rank that stays posted though one was lost.
func (r *request) giveUp() {
	var e *transport.Error
	if !errors.As(r.err, &e) || e.Class != "MPI_ERR_PROC_FAILED_PENDING" {
		return
	}
	e.Class = transport.ProcLost
	r.t.call(mpiCancel, clib.Pin(&r.handle))
	for n := 0; n < 1000 && r.handle != r.t.abi.requestNull; n++ {
		r.t.call(mpiTest, clib.Pin(&r.handle), clib.Pin(&r.flag), clib.Pin(&r.status))
	}
}

// Cancel is MPI_Cancel, for receives.
func (r *request) Cancel() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.f != mpiIrecv && r.f != mpiIrecv+large {
		return nil
	}
	return r.t.do(mpiCancel, clib.Pin(&r.handle))
}

// requests is a list of those under way.
type requests struct {
	mu   sync.Mutex
	root request
}

func (l *requests) add(r *request) {
	l.mu.Lock()
	r.prev, r.next = &l.root, l.root.next
	if r.next != nil {
		r.next.prev = r
	}
	l.root.next = r
	l.mu.Unlock()
}

func (l *requests) remove(r *request) {
	l.mu.Lock()
	r.prev.next = r.next
	if r.next != nil {
		r.next.prev = r.prev
	}
	l.mu.Unlock()
	r.prev, r.next = nil, nil
	r.keep, r.devices = [6]unsafe.Pointer{}, [2]any{}
}

// several is an operation that took several of MPI's.
type several []transport.Request

// Test is over when all parts are, with the first error.
func (s several) Test() (transport.Status, bool, error) {
	var first error
	all := true
	for _, r := range s {
		_, done, err := r.Test()
		all = all && done
		if first == nil {
			first = err
		}
	}
	if !all {
		return transport.Status{}, false, nil
	}
	return transport.Status{}, true, first
}

// Cancel does nothing: these are collectives.
func (s several) Cancel() error { return nil }
