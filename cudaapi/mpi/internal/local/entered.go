package local

import (
	"fmt"
	"math"
	"sync/atomic"

	"gocuda/cudaapi/mpi/internal/transport"
)

// Every message of a collective carries what its sender takes the collective for, in
// 20 bits: so ranks that call different ones, or with another root, operation, type or
// length, learn it from the first such message, in place of waiting for each other or
// of computing something else.

// keptEntered is how many collectives of a communicator are remembered.
const keptEntered = 256

// entered is what this rank has entered on a communicator. The engine's mu guards it.
type entered struct {
	count    int32               // of the latest one: the tag of its messages
	sigs     [keptEntered]uint32 // of the latest ones, by count
	mismatch error               // that no call has told yet
	of       int32               // the collective that it is about
	strange  atomic.Bool         // mismatch is not nil
}

// The parts of a signature in a frame.
const (
	sigKindBits  = 4
	sigWhatBits  = 9 // the root; or the operation in 4 bits and the type in 5
	sigBytesBits = 7
	sigTypeBits  = 5
)

// pack writes a signature in 20 bits. Of the length it keeps a check.
func pack(s transport.Signature) uint32 {
	what := uint32(s.Root)
	if s.Kind.Reduces() && !s.Kind.Rooted() {
		what = uint32(s.Op)<<sigTypeBits | uint32(s.Type)
	}
	const checks = 1<<sigBytesBits - 1 // a prime
	return uint32(s.Kind) | what&(1<<sigWhatBits-1)<<sigKindBits | uint32((s.Bytes+1)%checks)<<(sigKindBits+sigWhatBits)
}

func unpack(sig uint32) (kind transport.Kind, what, bytes uint32) {
	return transport.Kind(sig & (1<<sigKindBits - 1)), sig >> sigKindBits & (1<<sigWhatBits - 1), sig >> (sigKindBits + sigWhatBits)
}

// enter gives a collective its tag, which is the next number: all ranks begin them in
// one order. It fails if what another rank has sent for it, or for one before, does
// not fit.
func (c *comm) enter(s transport.Signature) (tag int, sig uint32, err error) {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	n, sig := c.colls.entered, pack(s)
	n.count = (n.count + 1) & math.MaxInt32
	n.sigs[n.count%keptEntered] = sig
	for i := 0; i < len(c.colls.unexpected); i++ {
		if m := c.colls.unexpected[i]; m.f.tag == n.count && m.f.sig != sig {
			c.colls.remove(i)
			c.e.strange(c.colls, m.from, &m.f)
			i--
		}
	}
	return int(n.count), sig, n.takeMismatch(int(n.count))
}

// takeMismatch is why the collective of a tag cannot come to its end, or that one
// before it did not fit; it is told once.
func (n *entered) takeMismatch(tag int) error {
	if n.mismatch == nil || n.of > int32(tag) {
		return nil
	}
	err := n.mismatch
	n.mismatch = nil
	n.strange.Store(false)
	return err
}

// fits says whether a frame is of the collective that this rank has entered under its
// tag, or of one that it has not entered yet.
func (c *context) fits(f *frame) bool {
	n := c.entered
	return n == nil || f.tag > n.count || n.count-f.tag >= keptEntered || n.sigs[f.tag%keptEntered] == f.sig
}

// strange drops a message of a collective that is not what this rank has entered, and
// remembers why.
func (e *engine) strange(c *context, from int, f *frame) {
	if f.kind == frameReady {
		e.post(from, frame{kind: frameDone, id: f.id}, nil, nil)
	}
	n := c.entered
	if n.mismatch != nil {
		return
	}
	kind, what, _ := unpack(f.sig)
	own, ownWhat, _ := unpack(n.sigs[f.tag%keptEntered])
	them := c.rankOf[from]
	say := func(format string, args ...any) {
		n.mismatch = &transport.Error{Class: transport.Other, Text: fmt.Sprintf("the ranks' calls do not match: "+format, args...)}
	}
	op := func(what uint32) string {
		return fmt.Sprintf("%v of %v", transport.Op(what>>sigTypeBits), transport.Type(what&(1<<sigTypeBits-1)))
	}
	switch {
	case kind != own:
		say("rank %d called %v, and this rank %v", them, kind, own)
	case what != ownWhat && kind.Rooted():
		say("rank %d called %v with root %d, and this rank with root %d", them, kind, what, ownWhat)
	case what != ownWhat:
		say("rank %d called %v for %s, and this rank for %s", them, kind, op(what), op(ownWhat))
	default:
		say("rank %d called %v with another number of elements than this rank", them, kind)
	}
	n.of = f.tag
	n.strange.Store(true)
}
