//go:build linux && (amd64 || arm64)

package libmpi

import (
	"fmt"
	"sync"

	"gocuda/cudaapi/internal/clib"
	"gocuda/cudaapi/mpi/internal/transport"
)

// A receive need not be matched here (see matched.go) to be safe: it is given to
// Open MPI as a type with gaps, into which it cannot write but through its own
// copying, which ends where the type does. The type is the memory's bytes, and its
// extent 0, so that two of it lie one over the other: a message that reaches the
// second is too long, and one that does not never sees it.

const (
	// guardedBytes is the longest memory for which this is done. It costs one copy
	// more than the protocol that is given up for it, which is quicker up to here.
	guardedBytes = 256 << 10
	guardShort   = 4096 // up to here the types are kept
)

// guardTypes is how many are kept of longer memory. A variable for the tests, in
// which a few are many.
var guardTypes = 512

type guards struct {
	mu    sync.Mutex
	short [guardShort + 1]uintptr
	long  map[int]uintptr
	none  [8]byte // memory of receives that have none
}

// guard is the type for n bytes. once says that it is for this use only.
func (t *Transport) guard(n int) (kind uintptr, once bool, err error) {
	g := &t.guards
	g.mu.Lock()
	defer g.mu.Unlock()
	if n <= guardShort {
		kind = g.short[n]
	} else {
		kind = g.long[n]
	}
	if kind != 0 {
		return kind, false, nil
	}
	made := new([2]uintptr)
	if err := t.do(mpiTypeContiguous, uintptr(max(n, 1)), t.abi.types[transport.Byte], clib.Pin(&made[0])); err != nil {
		return 0, false, err
	}
	defer t.call(mpiTypeFree, clib.Pin(&made[0]))
	if err := t.do(mpiTypeResized, made[0], 0, 0, clib.Pin(&made[1])); err != nil {
		return 0, false, err
	}
	if err := t.do(mpiTypeCommit, clib.Pin(&made[1])); err != nil {
		return 0, false, err
	}
	switch {
	case n <= guardShort:
		g.short[n] = made[1]
	case len(g.long) < guardTypes:
		if g.long == nil {
			g.long = map[int]uintptr{}
		}
		g.long[n] = made[1]
	default:
		once = true
	}
	return made[1], once, nil
}

// guarded is a receive into at most guardedBytes.
func (c *comm) guarded(buf transport.Memory, source, tag int) (transport.Request, error) {
	t := c.t
	n := buf.Bytes()
	kind, once, err := t.guard(n)
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
	code := t.call(mpiIrecv, p, 2, kind, t.abi.rankToC(source), t.abi.tagToC(tag), c.handle, r.out())
	if once {
		used := kind // on the heap, and kind not
		t.free(counted{owned: &used})
	}
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
