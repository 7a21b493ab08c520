package device

import (
	"fmt"
	"runtime"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/ipc"
)

// get copies the data out of the sender's memory.
func (r *receiving) get() error {
	if err := r.findLane(); err != nil {
		return err
	}
	n := int(r.head.bytes)
	src, ready, err := r.open()
	if err != nil {
		return err
	}
	s := r.stream
	if s == nil {
		s = r.lane.Stream
		if r.buf != nil && !r.idle {
			if err := r.lane.Follow(nil); err != nil {
				return err
			}
		}
	}
	if ready != nil {
		if err := s.WaitEvent(ready); err != nil {
			return err
		}
	}
	// Behind what it must wait for, a short copy is quicker by a kernel; with nothing
	// to wait for, by the copy engine.
	waits := ready != nil || !r.idle
	if waits && r.stream == nil && r.buf != nil && src.Device() == r.buf.Device() && r.lane.copies.can(n) {
		r.state = recvCopying
		r.kernel, err = r.lane.copies.start(r.lane, r.buf, src, n)
		return err
	}
	if r.buf == nil {
		err = cuda.MemcpyAsync(r.into[:n], src, s)
	} else {
		err = ipc.Copy(r.buf.Slice(0, n), src, s)
	}
	if err != nil {
		return err
	}
	done, err := r.lane.record(s)
	if err != nil {
		return err
	}
	if r.stream == nil || r.own() { // an event cannot be opened by its own process
		r.copied, r.state = done, recvCopying
		return nil
	}
	defer r.lane.events.putLater(done)
	h, err := r.lane.events.handle(done)
	if err != nil {
		return err
	}
	return r.say(atsLater, h)
}

// own reports whether the message is this process's.
func (r *receiving) own() bool { return int(r.head.sender) == r.p.e.rank }

// open gives the sender's memory, and the event to wait for, if any.
func (r *receiving) open() (src *cuda.Buffer, ready *cuda.Event, err error) {
	e := r.p.e
	if r.own() { // which CUDA does not open for itself
		e.mu.Lock()
		s := e.sends[r.head.key]
		e.mu.Unlock()
		if s == nil {
			return nil, nil, fmt.Errorf("message %d of this process is not known", r.head.key)
		}
		return s.source.buf, s.source.ready, nil
	}
	if r.head.host != e.host {
		return nil, nil, fmt.Errorf("rank %d of the world is on another host", r.head.sender)
	}
	src, err = e.imports.View(r.lane.Device, r.head.memory)
	if err != nil || r.head.offer == offerMemory {
		return src, nil, err
	}
	ready, err = e.imports.Event(r.lane.Device, r.head.ready)
	return src, ready, err
}

// readLater is the sender's end of a copy that the receiver has queued.
func (s *sending) readLater(event cuda.IPCEvent) error {
	done, err := s.p.e.imports.Event(s.source.lane.Device, event)
	if err != nil {
		return err
	}
	if s.source.stream != nil && s.source.shared == nil {
		s.state = sendClosing
		return s.source.stream.WaitEvent(done)
	}
	s.copied, s.state = done, sendCopying
	return nil
}

// fetch reads a short buffer, behind the work of the default stream. If there is
// none, pinned memory and an event that is asked for take less time than a copy
// that waits by itself.
func (e *Engine) fetch(host []byte, b *cuda.Buffer) error {
	l, raw, err := e.bytes(b)
	if err != nil {
		return err
	}
	now, err := idle(l.Device)
	if err != nil {
		return err
	}
	if !now {
		return raw.Download(host)
	}
	h, err := l.pinned.take(l.Device)
	if err != nil {
		return err
	}
	defer l.pinned.put(h)
	if err := cuda.MemcpyAsync(h.Slice(0, len(host)), raw, l.fetches); err != nil {
		return err
	}
	done, err := l.record(l.fetches)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		if over, err := done.Query(); err != nil {
			return err
		} else if over {
			break
		}
		if n > 1000 {
			runtime.Gosched()
		}
	}
	l.events.put(done)
	came, err := h.Uint8s()
	copy(host, came)
	return err
}

// idle tells whether a device's default stream has nothing to do, and so whatever
// would follow it need not wait.
func idle(d *cuda.Device) (bool, error) { return d.DefaultStream().Query() }
