package local

import (
	"slices"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// pullBytes is how much of a large message is copied at a time, so that
// several come on together.
const pullBytes = 4 << 20

// fetch begins to receive a large message. To read it where it is costs one
// copy, by the receiver; to have it sent in parts costs two, which the sender
// and the receiver make at the same time. So the second is the quicker one, as
// long as both have a processor. (On the machines where reading was the quicker one
// for memory that lay still, it was not for messages just written, whose lines are
// in the sender's cache.)
func (e *engine) fetch(r *request, c *context, from int, f *frame) {
	r.status, r.typ = c.status(from, f), f.typ
	r.peer, r.other, r.addr = from, f.id, f.addr
	r.size, r.want = int(f.size), min(int(f.size), r.buf.Bytes())
	switch {
	case e.peers[from].lost != nil:
		r.complete(transport.Status{}, e.peers[from].lost)
	case r.want == 0:
		e.fetched(r)
	case e.direct && e.peers[from].readable:
		e.pulls = append(e.pulls, r)
		e.nudge()
	default:
		e.request(r)
	}
}

// fetched ends a large receive.
func (e *engine) fetched(r *request) {
	e.post(r.peer, frame{kind: frameDone, id: r.other}, nil, nil)
	r.arrived(r.status, r.typ)
}

// request asks the sender for the rest of a message that cannot be read where
// it is.
func (e *engine) request(r *request) {
	e.nextID++
	r.id = e.nextID
	e.recvs[r.id] = r
	e.post(r.peer, frame{kind: framePull, id: r.other, addr: r.id, size: uint64(r.want)}, nil, nil)
}

// nextPull claims a receive whose message can be copied.
func (e *engine) nextPull() *request {
	for _, r := range e.pulls {
		if !r.busy {
			r.busy = true
			return r
		}
	}
	return nil
}

// pull copies a part of a message. It holds no lock, so that several
// goroutines can copy at once.
func (e *engine) pull(r *request) {
	n, err := readProcess(e.peers[r.peer].pid, unsafe.Add(r.buf.P, r.moved), r.addr+uint64(r.moved), min(pullBytes, r.want-r.moved))
	e.mu.Lock()
	defer e.mu.Unlock()
	r.busy = false
	r.moved += max(n, 0)
	switch {
	case r.failed != nil:
		r.complete(transport.Status{}, r.failed)
	case e.closed: // and close, which ends the others, may not see this one any more
		r.complete(transport.Status{}, errClosed)
	case err == nil && n > 0 && r.moved < r.want:
		// Others take their turn.
		e.pulls = append(slices.DeleteFunc(e.pulls, func(q *request) bool { return q == r }), r)
		return
	case err == nil && n > 0:
		e.fetched(r)
	case isGone(err):
		return // the launcher will say so, and how
	default:
		// Memory that one process cannot read in another, such as a device's.
		r.moved = 0
		e.request(r)
	}
	e.pulls = slices.DeleteFunc(e.pulls, func(q *request) bool { return q == r })
}

// push sends parts of the large messages that were asked for while there is
// room. Their receiver counts the bytes.
func (e *engine) push() (moved bool) {
	for i := 0; i < len(e.pushes); i++ {
		r := e.pushes[i]
		p := &e.peers[r.peer]
		if len(p.backlog) > 0 {
			continue
		}
		wrote := false
		for r.moved < r.want {
			n := min(r.want-r.moved, p.out.maxPayload())
			f := frame{kind: frameData, payload: n, id: r.other, size: uint64(r.moved)}
			data := unsafe.Add(r.buf.P, r.moved)
			if !p.out.write(&f, data) {
				e.awaitRoom(p)
				if !p.out.write(&f, data) {
					break
				}
			}
			r.moved += n
			wrote = true
		}
		if wrote {
			e.wake(r.peer)
			moved = true
		}
		if r.moved == r.want {
			e.pushes = slices.Delete(e.pushes, i, i+1)
			i--
			r.complete(transport.Status{}, nil)
		}
	}
	return moved
}

// feed takes a part of a large message.
func (e *engine) feed(from int, in *ring, f *frame) error {
	r := e.recvs[f.id]
	if r == nil || r.peer != from || f.size != uint64(r.moved) || f.payload == 0 || f.payload > r.want-r.moved {
		return damaged("%d bytes at %d of a message that was not asked for", f.payload, f.size)
	}
	in.payload(f, unsafe.Add(r.buf.P, r.moved), f.payload)
	r.moved += f.payload
	if r.moved == r.want {
		delete(e.recvs, f.id)
		r.arrived(r.status, r.typ)
	}
	return nil
}
