package mpi

import (
	"slices"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/onesided"
	"gocuda/cudaapi/mpi/internal/transport"
)

// Put writes buf's elements to the target's memory from element at on (MPI_Put). It
// does not block: see [Win].
func (w *Win) Put(buf any, target, at int) error {
	_, err := w.access("Win.Put", transport.Put, buf, nil, target, at, Op{}, false)
	return err
}

// Rput is Put with a request, which is complete when buf may be used again
// (MPI_Rput). It is for epochs that Lock and LockAll begin, as all such forms are.
func (w *Win) Rput(buf any, target, at int) (*Request, error) {
	return request(w.access("Win.Rput", transport.Put, buf, nil, target, at, Op{}, true))
}

// Get reads the target's elements from element at on into buf (MPI_Get). It does not
// block: what was read is there after a synchronization.
func (w *Win) Get(buf any, target, at int) error {
	_, err := w.access("Win.Get", transport.Get, nil, buf, target, at, Op{}, false)
	return err
}

// Rget is Get with a request, which is complete when the elements are in buf
// (MPI_Rget).
func (w *Win) Rget(buf any, target, at int) (*Request, error) {
	return request(w.access("Win.Rget", transport.Get, nil, buf, target, at, Op{}, true))
}

// Accumulate combines buf's elements with the target's from element at on, which become
// target op buf (MPI_Accumulate). The operation is one of MPI's, or [Replace]. For each
// element it is atomic, and one after the other of those of one rank. It does not block.
func (w *Win) Accumulate(buf any, target, at int, op Op) error {
	_, err := w.access("Win.Accumulate", transport.Accumulate, buf, nil, target, at, op, false)
	return err
}

// Raccumulate is Accumulate with a request, which is complete when buf may be used
// again (MPI_Raccumulate).
func (w *Win) Raccumulate(buf any, target, at int, op Op) (*Request, error) {
	return request(w.access("Win.Raccumulate", transport.Accumulate, buf, nil, target, at, op, true))
}

// GetAccumulate is Accumulate that also brings what was there before into old, as many
// elements as buf has (MPI_Get_accumulate). With [NoOp], buf may be nil.
func (w *Win) GetAccumulate(buf, old any, target, at int, op Op) error {
	_, err := w.access("Win.GetAccumulate", transport.GetAccumulate, buf, old, target, at, op, false)
	return err
}

// RgetAccumulate is GetAccumulate with a request, which is complete when old has what
// was there (MPI_Rget_accumulate).
func (w *Win) RgetAccumulate(buf, old any, target, at int, op Op) (*Request, error) {
	return request(w.access("Win.RgetAccumulate", transport.GetAccumulate, buf, old, target, at, op, true))
}

// FetchAndOp is GetAccumulate of one element, which is quicker (MPI_Fetch_and_op): old
// is a pointer, or a slice of one element.
func (w *Win) FetchAndOp(value, old any, target, at int, op Op) error {
	_, err := w.access("Win.FetchAndOp", transport.FetchAndOp, value, old, target, at, op, false)
	return err
}

// CompareAndSwap writes value to the target's element at, if that equals compare, and
// brings what was there before into old (MPI_Compare_and_swap). Elements are integers
// or bools. It is atomic, and does not block.
func (w *Win) CompareAndSwap(value, compare, old any, target, at int) error {
	const call = "Win.CompareAndSwap"
	a := transport.Access{Kind: transport.CompareAndSwap, Target: target}
	var ms [3]memory
	for i, buf := range []any{value, compare, old} {
		m, err := w.operand(call, buf)
		if err != nil {
			return err
		}
		if m.elems() != 1 || m.elem == transport.Byte || typeKinds[m.elem]&(integer|logical) == 0 {
			return w.c.misuse(ErrType, call, "CompareAndSwap takes one integer or bool, not %d elements of %s", m.elems(), m.typeName())
		}
		if m.elem != ms[0].elem && i > 0 {
			return w.c.misuse(ErrType, call, "the buffers hold %s and %s", ms[0].typeName(), m.typeName())
		}
		ms[i] = m
	}
	if err := w.c.checkWritable(call, &ms[2]); err != nil {
		return err
	}
	a.Origin, a.Compare, a.Result = ms[0].typed(ms[0].elem), ms[1].typed(ms[0].elem), ms[2].typed(ms[0].elem)
	_, err := w.start(call, &a, at, []*memory{&ms[0], &ms[1]}, &ms[2], false)
	return err
}

// operand reads a buffer of an operation.
func (w *Win) operand(call string, buf any) (memory, error) {
	if err := w.usable(call); err != nil {
		return memory{}, err
	}
	m, bad := resolve(call, buf)
	switch {
	case bad != nil:
		return m, w.c.at(bad)
	case m.inPlace:
		return m, w.c.misuse(ErrBuffer, call, "InPlace is for collectives")
	case m.spread != nil:
		return m, w.c.misuse(ErrType, call, "a strided buffer is for messages").hint("copy its elements together, or write them one by one")
	}
	return m, nil
}

// access checks an operation on out, or into in, or both, and starts it.
func (w *Win) access(call string, kind transport.AccessKind, out, in any, target, at int, op Op, asked bool) (pending, error) {
	s, err := w.operand(call, out)
	if err != nil {
		return pending{}, err
	}
	r, err := w.operand(call, in)
	if err != nil {
		return pending{}, err
	}
	if err := w.c.checkWritable(call, &r); err != nil {
		return pending{}, err
	}
	a := transport.Access{Kind: kind, Target: target, Origin: s.Memory, Result: r.Memory, Op: op.op}
	var reads []*memory
	if kind != transport.Get {
		reads = []*memory{&s}
	}
	if kind != transport.Put && kind != transport.Get {
		fetches := kind != transport.Accumulate
		t, err := w.accumulated(call, op, &s, &r, fetches, kind == transport.FetchAndOp)
		if err != nil {
			return pending{}, err
		}
		if op.op == transport.NoOp && s.N == 0 { // a library reads the address all the same
			s = memory{Memory: r.Memory, elem: r.elem, size: r.size, dev: r.dev}
			reads = nil
		}
		a.Origin, a.Result = s.typed(t), transport.Memory{}
		if fetches {
			a.Result = r.typed(t)
		}
	}
	return w.start(call, &a, at, reads, &r, asked)
}

// accumulated is the type that an accumulate computes with.
func (w *Win) accumulated(call string, op Op, s, r *memory, fetches, one bool) (transport.Type, error) {
	m := s
	switch {
	case op.user != nil:
		return 0, w.c.misuse(ErrOp, call, "%s is a function of the program's, which other ranks' memory cannot be combined by", op).hint("use one of MPI's, such as mpi.Sum, or CompareAndSwap in a loop")
	case op.op == 0:
		return 0, w.c.misuse(ErrOp, call, "no operation was given: use one such as mpi.Sum, mpi.Replace or mpi.NoOp")
	case op.op == transport.NoOp && !fetches:
		return 0, w.c.misuse(ErrOp, call, "NoOp changes nothing and fetches nothing here").hint("use GetAccumulate or FetchAndOp")
	case op.op == transport.NoOp && s.N == 0:
		m = r
	case fetches && (s.elem != r.elem || s.size != r.size || s.N != r.N):
		return 0, w.c.misuse(ErrType, call, "the buffer has %d elements of %s, and what is to receive %d of %s", s.elems(), s.typeName(), r.elems(), r.typeName())
	}
	if one && m.elems() != 1 {
		return 0, w.c.misuse(ErrCount, call, "FetchAndOp takes one element, not %d", m.elems()).hint("GetAccumulate takes several")
	}
	if op.op == transport.Replace || op.op == transport.NoOp {
		if m.pair != 0 {
			return m.pair, nil
		}
		return m.elem, nil
	}
	typed, _, bad := op.operands(call, m, &memory{})
	if bad != nil {
		return 0, w.c.at(bad)
	}
	return typed.T, nil
}

// start checks where an operation goes, and starts it. reads and result are its
// buffers.
func (w *Win) start(call string, a *transport.Access, at int, reads []*memory, result *memory, asked bool) (pending, error) {
	if err := w.reaches(call, a, at, asked); err != nil {
		return pending{}, err
	}
	if a.Target == ProcNull || max(a.Origin.Bytes(), a.Result.Bytes()) == 0 {
		return pending{c: w.c, call: call, r: nothing{}, peer: a.Target, tag: -1}, nil
	}
	buffers := make([]touched, 0, 3)
	for _, m := range reads {
		buffers = append(buffers, read(m))
	}
	buffers = append(buffers, written(result))
	t := w.c.begin(call, nil, buffers...)
	if err := w.throughHost(call, a); err != nil {
		t.end()
		return pending{}, err
	}
	r, err := w.t.Access(a, asked)
	if err != nil {
		t.end()
		return pending{}, w.c.fail(call, a.Target, err)
	}
	if asked {
		return pending{c: w.c, call: call, r: r, peer: a.Target, tag: -1, transfer: t, bytes: max(a.Origin.Bytes(), a.Result.Bytes())}, nil
	}
	if t.op != nil {
		w.mu.Lock()
		w.under[a.Target] = append(w.under[a.Target], t)
		w.mu.Unlock()
	}
	return pending{}, nil
}

// reaches checks that the target is in an epoch, and the place in its memory, which it
// gives in bytes.
func (w *Win) reaches(call string, a *transport.Access, at int, asked bool) error {
	target := a.Target
	if uint(target) >= uint(w.c.size) && target != ProcNull {
		return w.c.noRank(ErrRank, call, "target", target)
	}
	if target == ProcNull {
		return nil
	}
	w.mu.Lock()
	passive := w.lockedAll || w.locked[target]
	open := passive || w.fenced || slices.Contains(w.started, target)
	w.mu.Unlock()
	e := (*Error)(nil)
	switch {
	case !open:
		e = w.c.misuse(ErrRMASync, call, "no epoch is open in which this rank may reach rank %d", target).hint("call Fence, Start, Lock or LockAll before")
	case asked && !passive:
		e = w.c.misuse(ErrRMASync, call, "operations with requests are for epochs that Lock or LockAll began").hint("call it without the R")
	case w.flavor != Dynamic:
		n := max(a.Origin.Bytes(), a.Result.Bytes())
		part := w.parts[target]
		a.At = at * int(part.unit)
		if at < 0 || at > int(part.bytes)/int(part.unit) || n > int(part.bytes)-a.At {
			e = w.c.misuse(ErrRMARange, call, "%d bytes from element %d on are not within the %d elements of %d bytes of rank %d", n, at, w.Len(target), part.unit, target)
		}
	default:
		a.At = at
	}
	if e != nil {
		e.Peer = target
		return e
	}
	return nil
}

// throughHost replaces device memory of an operation by memory of the host, where this
// package carries it out.
func (w *Win) throughHost(call string, a *transport.Access) error {
	_, ours := w.t.(*onesided.Window)
	for _, m := range []*transport.Memory{&a.Origin, &a.Compare, &a.Result} {
		dev := deviceOf(*m)
		if dev == nil {
			continue
		}
		if !ours {
			return w.c.misuse(ErrBuffer, call, "the buffer is memory of a device, and the window is the library's, of memory of the host").
				hint("copy it to the host first, or make the window of memory of a device")
		}
		host := make([]uint64, m.Bytes()/8+1)
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(&host[0])), m.Bytes())
		if m == &a.Result {
			then := a.Then
			a.Then = func() error {
				if err := (deviceMemory{dev}).Write(0, bytes); err != nil || then == nil {
					return err
				}
				return then()
			}
		} else if err := (deviceMemory{dev}).Read(0, bytes); err != nil {
			return err
		}
		m.P, m.Device = unsafe.Pointer(&host[0]), nil
	}
	return nil
}

// nothing is an operation that was over at once.
type nothing struct{}

func (nothing) Test() (transport.Status, bool, error) { return transport.Status{}, true, nil }
func (nothing) Cancel() error                         { return nil }
