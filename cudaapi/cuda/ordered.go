package cuda

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"gocuda/cudaapi/driver"
)

// Stream-ordered memory is allocated and freed in a fraction of a microsecond,
// so what is kept of it must cost less: the record of what was freed serves the
// next one, and buffers are made many at a time. The collector leaves such memory
// alone, for it is freed in the order of a stream, and only the program knows of
// which.

// ledger holds the records of a device's stream-ordered memory.
type ledger struct {
	mu    sync.Mutex
	all   []*owner
	idle  []*owner // those of freed memory, the last freed at the end
	fresh []Buffer // not handed out yet
}

// atOnce is how many records, or buffers, are made at a time.
const atOnce = 32

// more makes idle records. l is locked.
func (l *ledger) more(d *Device) {
	if l.all == nil {
		live.Lock()
		gone := func(p weak.Pointer[ledger]) bool { return p.Value() == nil }
		live.ledgers = append(slices.DeleteFunc(live.ledgers, gone), weak.Make(l))
		live.Unlock()
	}
	made := new([atOnce]struct {
		own owner
		mem allocation
	})
	for i := range made {
		r := &made[i]
		r.own.allocation = &r.mem
		r.mem.dev, r.mem.kind = d, asyncMemory
		l.all = append(l.all, &r.own)
	}
	l.idle = append(l.idle, l.all[len(l.all)-atOnce:]...)
}

// add records memory that was allocated, and makes its buffer. access is its pool's.
func (l *ledger) add(d *Device, p driver.Ptr, bytes uint64, n int, t Type, access *deviceSet) *Buffer {
	var where *site
	if traced.Load() {
		where = here()
	}
	l.mu.Lock()
	if len(l.idle) == 0 {
		l.more(d)
	}
	if len(l.fresh) == 0 {
		l.fresh = make([]Buffer, atOnce)
	}
	b := &l.fresh[0]
	l.fresh = l.fresh[1:]
	o := l.idle[len(l.idle)-1]
	l.idle = l.idle[:len(l.idle)-1]
	o.ptr, o.bytes, o.site, o.access, o.busy = p, bytes, where, access, true
	b.own, b.ptr, b.n, b.generation, b.typ = o, p, n, o.generation.Load(), t
	l.mu.Unlock()
	return b
}

// take claims a buffer's memory to free it, and tells what it is; false if it was
// freed before, or is claimed. given or kept comes next.
func (l *ledger) take(b *Buffer) (p driver.Ptr, bytes uint64, ok bool) {
	l.mu.Lock()
	if o := b.own; !o.freed(b.generation) && o.busy {
		p, bytes, ok = o.ptr, o.bytes, true
		o.busy = false
	}
	l.mu.Unlock()
	return p, bytes, ok
}

// given marks claimed memory as freed.
func (l *ledger) given(b *Buffer) {
	l.mu.Lock()
	if !b.own.freed(b.generation) { // nor by a reset
		l.rest(b.own)
	}
	l.mu.Unlock()
}

// kept takes the claim back: the memory could not be freed.
func (l *ledger) kept(b *Buffer) {
	l.mu.Lock()
	b.own.busy = !b.own.freed(b.generation)
	l.mu.Unlock()
}

// rest ends a record's generation and lets it serve again, unless its generations
// are used up: a buffer of the first one would take itself for that of the last. l
// is locked.
func (l *ledger) rest(o *owner) {
	generation := o.generation.Load() + 1
	o.generation.Store(generation)
	o.busy = false
	if generation != math.MaxUint32 {
		l.idle = append(l.idle, o)
	}
}

// each calls f for the memory that is not freed.
func (l *ledger) each(f func(*allocation)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.all {
		if o.busy {
			f(o.allocation)
		}
	}
}

// clear marks all memory as freed.
func (l *ledger) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.all {
		if o.busy {
			l.rest(o)
		}
	}
}

var traced atomic.Bool

// TraceLeaks makes Leaks tell where stream-ordered memory was allocated too.
// That costs some 300 ns an allocation, so it is off at first.
func TraceLeaks(on bool) { traced.Store(on) }
