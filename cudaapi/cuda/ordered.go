package cuda

import (
	"sync/atomic"

	"gocuda/cudaapi/driver"
)

// Stream-ordered memory is allocated and freed in a fraction of a microsecond,
// so what is kept of it must cost less: buffers are made many at a time, and
// neither allocation nor free takes a lock.

// ordered is a buffer of stream-ordered memory, in one piece. The collector
// leaves its memory alone, for it is freed in the order of a stream, and only
// the program knows of which.
type ordered struct {
	Buffer
	own owner
	mem allocation
	// made is set last: what another goroutine may see of the rest is whole.
	made atomic.Bool
}

const batchSize = 32

// batch is that many buffers, which the collector takes together.
type batch struct {
	items      [batchSize]ordered
	used       atomic.Int32 // handed out, or more when there were none left
	dropped    atomic.Int32 // freed
	prev, next *batch       // in live.batches
}

// place takes an item that nobody has yet.
func (d *Device) place() *ordered {
	for {
		b := d.fresh.Load()
		if b != nil {
			if i := b.used.Add(1) - 1; i < batchSize {
				b.items[i].mem.batch = b
				return &b.items[i]
			}
		}
		next := new(batch)
		live.Lock()
		if d.fresh.CompareAndSwap(b, next) {
			next.next = live.batches
			if next.next != nil {
				next.next.prev = next
			}
			live.batches = next
		}
		live.Unlock()
	}
}

// drop counts a free; the last one takes the batch out of the list.
func (b *batch) drop() {
	if b.dropped.Add(1) == batchSize {
		live.Lock()
		b.unlink()
		live.Unlock()
	}
}

// unlink takes the batch out of the list. live is locked.
func (b *batch) unlink() {
	if b.prev != nil {
		b.prev.next = b.next
	} else if live.batches == b {
		live.batches = b.next
	}
	if b.next != nil {
		b.next.prev = b.prev
	}
	b.prev, b.next = nil, nil
}

// each calls f for the allocations that are not freed. live is locked.
func (b *batch) each(f func(*allocation)) {
	for i := range min(b.used.Load(), batchSize) {
		if o := &b.items[i]; o.made.Load() && !o.mem.freed.Load() {
			f(&o.mem)
		}
	}
}

func newOrdered(d *Device, p driver.Ptr, bytes uint64, n int, t Type) *Buffer {
	o := d.place()
	a := &o.mem
	a.dev, a.kind, a.ptr, a.bytes, a.born = d, asyncMemory, p, bytes, d.epoch.Load()
	if traced.Load() {
		a.site = here()
	}
	o.own.allocation = a
	o.Buffer.own, o.Buffer.ptr, o.Buffer.n, o.Buffer.typ = &o.own, p, n, t
	o.made.Store(true)
	return &o.Buffer
}

var traced atomic.Bool

// TraceLeaks makes Leaks tell where stream-ordered memory was allocated too.
// That costs some 300 ns an allocation, so it is off at first.
func TraceLeaks(on bool) { traced.Store(on) }
