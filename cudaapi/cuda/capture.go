package cuda

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/driver"
)

// A graph has the addresses of what it was captured with, so it holds the memory
// itself. All streams of a capture share its holdings, which go on to the graph and
// to what is instantiated from it. What is dropped with the last of these is freed
// after all work that is queued: see [Device.reclaim].

// holdings is what a graph uses.
type holdings struct {
	mu     sync.Mutex
	memory map[use]user
	made   map[use]bool // allocated within the graph, which frees it too
	code   map[usedCode]bool
	host   []any       // Go memory, which the collector frees at once
	ran    atomic.Bool // launches may be queued
}

// use is memory, by its allocation and that one's generation.
type use struct {
	own        *owner
	generation uint32
}

// user is the first call that used it, and how many bytes there were.
type user struct {
	call  string
	bytes uint64
}

type usedCode struct {
	code *kernelCode
	on   *function
}

// captures are those of a back end that have not ended.
type captures struct {
	active atomic.Int32
	// gate lets no capture begin while the memory manager waits for the devices: a
	// wait for a device spoils its captures.
	gate chan struct{}
	mu   sync.Mutex
	of   map[captureKey]*holdings // by the stream on which it began
}

type captureKey struct {
	dev *Device
	h   driver.Stream
}

// enter takes the gate.
func (c *captures) enter() error {
	select {
	case c.gate <- struct{}{}:
		return nil
	case <-stop():
		return driver.ErrInterrupted
	}
}

func (c *captures) leave() { <-c.gate }

// begin notes a capture. The gate is taken.
func (c *captures) begin(s *Stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[captureKey]*holdings{}
	}
	c.of[captureKey{s.dev, s.h}] = &holdings{memory: map[use]user{}, made: map[use]bool{}, code: map[usedCode]bool{}}
	c.active.Store(int32(len(c.of)))
}

// end gives what a capture held; nil if none began on s.
func (c *captures) end(s *Stream) *holdings {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.of[captureKey{s.dev, s.h}]
	delete(c.of, captureKey{s.dev, s.h})
	c.active.Store(int32(len(c.of)))
	return h
}

// clear forgets a device's captures, which a reset has ended.
func (c *captures) clear(d *Device) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range c.of {
		if k.dev == d {
			delete(c.of, k)
		}
	}
	c.active.Store(int32(len(c.of)))
}

// held calls f for the holdings of the capture that s takes part in: of all of
// them, if there are several, for only the driver knows which.
func (s *Stream) held(f func(*holdings)) {
	captures := &s.dev.sys.captures
	if on, err := s.Capturing(); err != nil || !on {
		return
	}
	captures.mu.Lock()
	defer captures.mu.Unlock()
	for _, h := range captures.of {
		h.mu.Lock()
		f(h)
		h.mu.Unlock()
	}
}

// Keep is for what a C library was given by address to queue work on s: *Buffer,
// *HostBuffer or slices. They are alive until this call, and if s is captured the graph
// holds them. Calls of this package see to that themselves.
func (s *Stream) Keep(operands ...any) {
	if _, err := s.use("Stream.Keep"); err == nil {
		s.queued(nil, "a C library", operands...) //nolint:errcheck // there is none
	}
	runtime.KeepAlive(operands)
}

// queued ends a call that queued work on s. What the work uses was alive until
// now; from here on a capture keeps it.
func (s *Stream) queued(err error, call string, operands ...any) error {
	if err == nil && s.dev.sys.captures.active.Load() > 0 {
		s.held(func(h *holdings) {
			for _, v := range operands {
				h.add(call, v)
			}
		})
	}
	runtime.KeepAlive(operands)
	return s.dev.fail(err)
}

// allocated ends a call that allocated b on s: a graph that allocates memory frees
// it, too.
func (s *Stream) allocated(b *Buffer) *Buffer {
	if s.dev.sys.captures.active.Load() > 0 {
		s.held(func(h *holdings) { h.made[use{b.own, b.generation}] = true })
	}
	return b
}

// launched is queued for a kernel with its arguments, of which it lets none escape.
func (s *Stream) launched(k *kernelCode, f *function, args []any) {
	s.held(func(h *holdings) {
		h.code[usedCode{k, f}] = true
		for _, v := range args {
			switch b := v.(type) {
			case *Buffer:
				h.buffer(k.name, b)
			case *HostBuffer:
				h.hostBuffer(k.name, b)
			case *Texture:
				h.texture(k.name, b)
			case *Surface:
				h.surface(k.name, b)
			}
		}
	})
}

// add holds an operand. h is locked, as below.
func (h *holdings) add(call string, v any) {
	switch b := v.(type) {
	case *Buffer:
		h.buffer(call, b)
	case *HostBuffer:
		h.hostBuffer(call, b)
	case *Array:
		h.array(call, b)
	default:
		h.host = append(h.host, v)
	}
}

func (h *holdings) buffer(call string, b *Buffer) {
	if b != nil {
		h.use(use{b.own, b.generation}, user{call, uint64(b.Bytes())})
	}
}

func (h *holdings) hostBuffer(call string, b *HostBuffer) {
	if b != nil {
		h.use(use{own: b.own}, user{call, uint64(b.Bytes())})
	}
}

func (h *holdings) use(u use, by user) {
	if _, ok := h.memory[u]; ok || h.made[u] {
		return
	}
	h.memory[u] = by
	if u.own.kind == pageableMemory {
		h.host = append(h.host, u.own)
	}
}

// take adds what another graph holds.
func (h *holdings) take(other *holdings) {
	for u, by := range other.memory {
		h.use(u, by)
	}
	for c := range other.code {
		h.code[c] = true
	}
	h.host = append(h.host, other.host...)
}

// check finds what is gone that a graph needs.
func (h *holdings) check(d *Device) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for u, by := range h.memory {
		if u.own.freed(u.generation) {
			how := "freed"
			if u.own.kind == borrowedMemory {
				how = "unloaded with its module"
			}
			return fmt.Sprintf("memory that %s uses in the graph (%s) was %s after the capture", by.call, byteCount(by.bytes), how)
		}
	}
	for c := range h.code {
		if on := c.code.on[d.id].Load(); on != c.on {
			return fmt.Sprintf("the module of %s, which the graph launches, was unloaded after the capture", c.code.name)
		}
	}
	return ""
}

// drop hands the Go memory of a graph that is gone to the device, which keeps it
// until the work that is queued is done.
func (h *holdings) drop(d *Device) {
	if h == nil || !h.ran.Load() {
		return
	}
	h.mu.Lock()
	host := h.host
	h.mu.Unlock()
	if len(host) > 0 {
		d.gone.keep(host)
	}
}

// held is the holdings of an executable graph, apart from it: its cleanup has them.
type held struct {
	dev *Device
	now atomic.Pointer[holdings]
}

// set takes over other holdings. Launches of the old ones may be queued.
func (x *held) set(h *holdings) { x.now.Swap(h).drop(x.dev) }
