package onesided

import (
	"time"

	"gocuda/cudaapi/mpi/internal/transport"
)

// serve takes what other ranks ask for, until the window is freed or a rank is lost.
func (w *Window) serve() {
	defer close(w.over)
	buf := aligned(headBytes + 2*chunk)
	for {
		r, err := w.c.Irecv(hostMemory(buf), transport.AnySource, tagServe)
		if err != nil {
			w.fail(err)
			return
		}
		st, err, quit := w.next(r)
		if quit {
			return
		}
		if err != nil {
			w.fail(err)
			return
		}
		h, ok := readHeader(buf[:st.Bytes])
		if !ok {
			w.fail(&transport.Error{Class: transport.Internal, Text: "a rank sent a damaged message"})
			return
		}
		w.mu.Lock()
		w.take(st.Source, &h, buf[headBytes:st.Bytes])
		w.mu.Unlock()
	}
}

// next waits for a message, quietly: a rank that does something else makes it come.
func (w *Window) next(r transport.Request) (st transport.Status, err error, quit bool) {
	nap := napFirst
	for {
		st, done, err := r.Test()
		if done || err != nil {
			return st, err, st.Cancelled
		}
		w.settle()
		over, later := again(r, &nap)
		select {
		case <-over:
		case <-later:
		case <-w.quit:
			r.Cancel() //nolint:errcheck // the window ends
			for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(napFirst) {
				if _, done, err := r.Test(); done || err != nil {
					break
				}
			}
			return st, nil, true
		}
	}
}

// settle lets go of answers that have been sent.
func (w *Window) settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := w.replies[:0]
	for _, r := range w.replies {
		if _, done, err := r.Test(); !done && err == nil {
			left = append(left, r)
		}
	}
	clear(w.replies[len(left):])
	w.replies = left
}

// reply sends an answer; mu is held.
func (w *Window) reply(to int, tag int32, data []byte) {
	r, err := w.c.Isend(hostMemory(data), to, int(tag))
	if err != nil {
		return // it is lost: the next receive says so
	}
	w.replies = append(w.replies, r)
}

// take does what a message asks for; mu is held.
func (w *Window) take(from int, h *header, payload []byte) {
	switch h.command {
	case doAccess:
		var result []byte
		if h.tag != 0 {
			result = aligned(int(h.n))
		}
		want := int(h.n)
		switch {
		case h.kind == transport.Get || h.op == transport.NoOp:
			want = 0
		case h.kind == transport.CompareAndSwap:
			want *= 2
		}
		err := error(nil)
		if len(payload) != want {
			err = &transport.Error{Class: transport.Internal, Text: "a rank sent a damaged message"}
		} else {
			err = w.do(h.kind, h.op, h.typ, int(h.at), int(h.n), payload, result)
		}
		switch {
		case err == nil && h.tag != 0:
			w.reply(from, h.tag, result)
		case err != nil && h.tag != 0:
			w.reply(from, h.tag, nil)
		case err != nil:
			w.failures[from] = err
		}
	case doFlush:
		w.answer(from, h.tag)
	case doLock, doLockExclusive:
		w.lock.ask(request{from, h.command == doLockExclusive, h.tag, nil})
		w.grant()
	case doUnlock:
		w.lock.leave(from)
		w.grant()
		w.answer(from, h.tag)
	case doPost:
		w.posts[from]++
		w.news()
	case doComplete:
		w.dones[from]++
		w.news()
	}
}

// answer tells an origin that all it sent before is done, and what of it failed.
func (w *Window) answer(to int, tag int32) {
	text := []byte(nil)
	if err := w.failures[to]; err != nil {
		w.failures[to] = nil
		text = []byte(err.Error())
	}
	w.reply(to, tag, text)
}

// grant gives the lock to those whose turn it is; mu is held.
func (w *Window) grant() {
	for r, ok := w.lock.next(); ok; r, ok = w.lock.next() {
		if r.own != nil {
			close(r.own)
			w.news()
		} else {
			w.reply(r.from, r.tag, nil)
		}
	}
}

// lockState is a rank's lock: who has it, and who waits for it, in their order.
type lockState struct {
	holders   []int
	exclusive bool
	queue     []request
}

// request is for a lock.
type request struct {
	from      int
	exclusive bool
	tag       int32
	own       chan struct{} // of this rank itself
}

func (l *lockState) ask(r request) { l.queue = append(l.queue, r) }

// next takes the first of the queue that may have the lock now.
func (l *lockState) next() (request, bool) {
	if len(l.queue) == 0 {
		return request{}, false
	}
	r := l.queue[0]
	if len(l.holders) > 0 && (l.exclusive || r.exclusive) {
		return request{}, false
	}
	l.queue = l.queue[1:]
	l.holders, l.exclusive = append(l.holders, r.from), r.exclusive
	return r, true
}

func (l *lockState) leave(rank int) {
	for i, h := range l.holders {
		if h == rank {
			l.holders = append(l.holders[:i], l.holders[i+1:]...)
			break
		}
	}
	if len(l.holders) == 0 {
		l.exclusive = false
	}
}
