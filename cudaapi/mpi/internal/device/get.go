package device

import (
	"errors"
	"fmt"
	"runtime"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/ipc"
)

// get copies the data out of the sender's memory, if it opens.
func (r *receiving) get() error {
	if r.lane == nil { // for host memory any will do
		d, err := cuda.CurrentDevice()
		if err != nil {
			return err
		}
		if r.lane, err = r.p.e.lane(d); err != nil {
			return err
		}
	}
	var err error
	if r.src, r.ready, err = r.open(); err != nil {
		if errors.Is(err, ipc.ErrBusy) && r.p.e.forced == IPC {
			r.state = recvOpening
			return nil
		}
		return err
	}
	r.state = recvQueueing
	return r.queue()
}

// queue queues the copy: on the lane's stream, or, while it has to wait for others'
// work, on a stream that holds back no other message. While all of those are taken, it
// queues nothing.
func (r *receiving) queue() (err error) {
	if r.ready != nil {
		if done, err := r.ready.Query(); err != nil {
			return err
		} else if done {
			r.ready = nil
		} else if r.buf == nil { // a copy to the host's memory would hold the caller until then
			return nil
		}
	}
	follows := r.stream == nil && r.buf != nil && !r.idle
	if follows {
		if r.idle, err = idle(r.lane.Device); err != nil {
			return err
		}
		follows = !r.idle
	}
	s, waits := r.stream, r.ready != nil || follows
	switch {
	case s != nil:
	case !waits:
		s = r.lane.Stream
	default:
		if s, r.giveTurn = r.lane.turn(); s == nil {
			return nil
		}
	}
	if follows {
		if err := r.lane.Order(nil, s); err != nil {
			return err
		}
	}
	if r.ready != nil {
		if err := s.WaitEvent(r.ready); err != nil {
			return err
		}
	}
	return r.copy(s, waits)
}

// copy queues the copy on a stream. Behind what it must wait for, a short one is
// quicker by a kernel; with nothing to wait for, by the copy engine.
func (r *receiving) copy(s *cuda.Stream, waits bool) (err error) {
	n := int(r.head.bytes)
	if waits && r.stream == nil && r.buf != nil && r.src.Device() == r.buf.Device() && r.lane.copies.can(n) {
		r.state = recvCopying
		r.kernel, err = r.lane.copies.start(r.lane, s, r.buf, r.src, n)
		return err
	}
	if r.buf == nil {
		err = cuda.MemcpyAsync(r.into[:n], r.src, s)
	} else {
		err = ipc.Copy(r.buf.Slice(0, n), r.src, s)
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
	h, err := r.lane.events.handle(done)
	if err != nil {
		return err
	}
	if r.view == nil {
		r.lane.events.putLater(done)
	} else {
		l := r.lane
		r.view.ReleaseWhen(func() (bool, error) {
			over, err := done.Query()
			if over {
				l.events.putLater(done)
			}
			return over, err
		})
		r.view = nil
	}
	return r.say(&reply{kind: atsLater, body: h})
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
	if r.view, err = e.imports.TryView(r.lane.Device, r.head.memory); err != nil {
		return nil, nil, err
	}
	if r.head.offer == offerLater {
		ready, err = e.imports.Event(r.lane.Device, r.head.ready)
	}
	return r.view.Buffer, ready, err
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

// fetch is a copy of a short buffer to the host, of data that are ready. Pinned memory
// and an event that is asked for take less time than a copy that waits by itself.
type fetch struct {
	lane   *lane
	memory *cuda.HostBuffer
	copied *cuda.Event
}

func (l *lane) fetch(raw *cuda.Buffer) (*fetch, error) {
	h, err := l.pinned.take(l.Device)
	if err != nil {
		return nil, err
	}
	f := &fetch{lane: l, memory: h}
	if err = cuda.MemcpyAsync(h.Slice(0, raw.Bytes()), raw, l.fetches); err == nil {
		f.copied, err = l.record(l.fetches)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (f *fetch) done() (bool, error) { return f.copied.Query() }

// take gives what was copied, once that is done, and ends the fetch.
func (f *fetch) take(to []byte) error {
	came, err := f.memory.Uint8s()
	copy(to, came)
	f.lane.events.put(f.copied)
	f.lane.pinned.put(f.memory)
	return err
}

// drop ends a fetch that has failed, or that nobody needs: its memory is not used again.
func (f *fetch) drop() {
	if f != nil {
		f.lane.events.putLater(f.copied)
	}
}

// wait waits for the copy, which has nothing to wait for itself.
func (f *fetch) wait(to []byte) error {
	for n := 0; ; n++ {
		done, err := f.done()
		if err != nil {
			f.drop()
			return err
		}
		if done {
			return f.take(to)
		}
		if n > 1000 {
			runtime.Gosched()
		}
	}
}

// idle tells whether a device's default stream has nothing to do, and so whatever
// would follow it need not wait.
func idle(d *cuda.Device) (bool, error) { return d.DefaultStream().Query() }
