//go:build linux && (amd64 || arm64)

package libmpi

import (
	"fmt"
	"sync"

	"gocuda/cudaapi/internal/clib"
	"gocuda/cudaapi/mpi/internal/transport"
)

// A short receive need not be matched here (see matched.go) to be safe: it is
// given to Open MPI as a type that is not contiguous, into which it cannot write
// but through its own copying, which ends where the type does. The type is the
// memory's bytes and one more, laid over the first: a message that reaches it is
// too long, and one that does not never sees it.

// guardedBytes is the longest memory for which this is done: more comes by
// protocols that copy less.
const guardedBytes = 4096

type guards struct {
	mu    sync.Mutex
	types [guardedBytes + 1]uintptr
	none  [8]byte // memory of receives that have none
}

// guard is the type for n bytes.
func (t *Transport) guard(n int) (uintptr, error) {
	g := &t.guards
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.types[n] != 0 {
		return g.types[n], nil
	}
	c := &struct {
		lengths [2]int32
		offsets [2]int
		types   [2]uintptr
		made    uintptr
	}{lengths: [2]int32{int32(max(n, 1)), 1}, types: [2]uintptr{t.abi.types[transport.Byte], t.abi.types[transport.Byte]}}
	if err := t.do(mpiTypeStruct, 2, clib.Pin(&c.lengths[0]), clib.Pin(&c.offsets[0]), clib.Pin(&c.types[0]), clib.Pin(&c.made)); err != nil {
		return 0, err
	}
	if err := t.do(mpiTypeCommit, clib.Pin(&c.made)); err != nil {
		return 0, err
	}
	g.types[n] = c.made
	return c.made, nil
}

// guarded is a receive into at most guardedBytes.
func (c *comm) guarded(buf transport.Memory, source, tag int) (transport.Request, error) {
	t := c.t
	n := buf.Bytes()
	kind, err := t.guard(n)
	if err != nil {
		return nil, err
	}
	r := t.newRequest(mpiIrecv)
	r.receives, r.guarded, r.room = true, true, n
	r.keep[0] = buf.P
	p := address(buf.P)
	if n == 0 {
		p = clib.Pin(&t.guards.none[0])
	}
	code := t.call(mpiIrecv, p, 1, kind, t.abi.rankToC(source), t.abi.tagToC(tag), c.handle, r.out())
	return t.started(r, code)
}

// tooLong is the error of a guarded receive, of which the library may not tell.
func (r *request) tooLong() error {
	if r.st.Cancelled || r.st.Bytes <= r.room {
		return nil
	}
	st := r.st
	r.st.Bytes = r.room
	return &transport.Error{Class: transport.Truncate, Call: r.f.String(), Text: fmt.Sprintf(
		"the message from rank %d with tag %d is longer than the %d bytes that the receive has room for", st.Source, st.Tag, r.room)}
}
