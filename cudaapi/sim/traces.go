package sim

import (
	"bytes"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"gocuda/cudaapi/driver"
)

// Kernels of which somebody wants to know what they touch mark it, in memory
// beside that of the devices: sixteen bits for each word of four bytes, of which
// four say which of its bytes were read, four which were written and four which
// atomic operations changed (include/runtime/check.h). A byte for each 4 KiB says
// whether there are any marks.

const (
	tracePiece = 4 << 10 // as in include/sim/thread.h
	traceWords = tracePiece / 4
	mostTraces = 1 << 18 // ranges of one device's memory, beyond which small gaps are closed
)

// traces is room for one running kernel's marks.
type traces struct {
	words, pieces uintptr
	size          uintptr // of the address space that it covers
}

// tracers is the room that no kernel uses.
type tracers struct {
	mu   sync.Mutex
	idle []*traces
}

// ObservesKernels reports whether kernels tell what they touch: if their
// accesses are checked.
func (m *Driver) ObservesKernels() bool { return !m.opt.NoCheck }

// take gives room whose marks are all clear; nil if there is no address space.
func (x *tracers) take(m *Driver) *traces {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := len(x.idle); n > 0 {
		t := x.idle[n-1]
		x.idle = x.idle[:n-1]
		return t
	}
	t := &traces{size: m.space.size}
	var err error
	if t.words, err = mapPrivate(0, t.size/2); err != nil {
		return nil
	}
	if t.pieces, err = mapPrivate(0, t.size/tracePiece+hostPage); err != nil {
		release(t.words, t.size/2) //nolint:errcheck // there is less room then
		return nil
	}
	return t
}

func (x *tracers) give(t *traces) {
	x.mu.Lock()
	x.idle = append(x.idle, t)
	x.mu.Unlock()
}

func (x *tracers) drop() {
	for _, t := range x.idle {
		release(t.words, t.size/2)                    //nolint:errcheck // the process ends or goes on with less
		release(t.pieces, t.size/tracePiece+hostPage) //nolint:errcheck // as above
	}
	x.idle = nil
}

// touched reads the marks of a kernel that has run, and clears them.
func (m *Driver) touched(t *traces) (list []driver.Access) {
	type stretch struct{ lo, hi uintptr }
	var all []stretch // also of memory that is freed: it may be used all the same
	m.mu.Lock()
	for _, a := range m.space.arenas {
		if a.high > a.base {
			all = append(all, stretch{a.base - m.space.base, a.high - m.space.base})
		}
	}
	m.mu.Unlock()
	pieces := unsafe.Slice((*byte)(pointer(t.pieces)), t.size/tracePiece)
	var used []int
	for _, s := range all {
		r := reader{base: uint64(m.space.base)}
		last := int((s.hi - 1) / tracePiece)
		for k := int(s.lo / tracePiece); k <= last; k++ {
			next := bytes.IndexByte(pieces[k:last+1], 1)
			if next < 0 {
				break
			}
			k += next
			used = append(used, k)
			words := unsafe.Slice((*uint16)(pointer(t.words+uintptr(k)*traceWords*2)), traceWords)
			r.read(words, uint64(k)*traceWords, uint64(k+1)*traceWords, uint64(k)*traceWords)
		}
		for i, found := range r.found {
			for _, a := range merged(found) {
				list = append(list, driver.Access{Lo: driver.Ptr(a.lo), Hi: driver.Ptr(a.hi), Mode: driver.AccessMode(i + 1)})
			}
		}
	}
	for _, k := range used {
		pieces[k] = 0
		clear(unsafe.Slice((*uint16)(pointer(t.words+uintptr(k)*traceWords*2)), traceWords))
	}
	return list
}

// reader gathers the ranges of each mode.
type reader struct {
	base  uint64
	found [3][]run
}

type run struct{ lo, hi uint64 }

// read adds the marks of the words from lo on to before hi, of which words holds
// those from first on.
func (r *reader) read(words []uint16, lo, hi, first uint64) {
	for w := lo; w < hi; {
		v := words[w-first]
		if v == 0 {
			if w++; w%4 == 0 {
				w = same(words, w, hi, first, 0)
			}
			continue
		}
		end := w + 1
		for end < hi && words[end-first] == v {
			if end++; end%4 == 0 {
				end = same(words, end, hi, first, v)
			}
		}
		for mode := range r.found {
			switch b := v >> (4 * mode) & 15; b {
			case 0:
			case 15:
				r.add(mode, w*4, end*4)
			default:
				for x := w; x < end; x++ {
					for rest := b; rest != 0; rest &= rest - 1 {
						at := x*4 + uint64(bits.TrailingZeros16(rest))
						r.add(mode, at, at+1)
					}
				}
			}
		}
		w = end
	}
}

// same goes on from a multiple of four, four words at a time, while they are v.
func same(words []uint16, from, hi, first uint64, v uint16) uint64 {
	four := uint64(v) * 0x0001000100010001
	for from+4 <= hi && *(*uint64)(unsafe.Pointer(&words[from-first])) == four {
		from += 4
	}
	return from
}

// add notes bytes, counted from the start of the address space.
func (r *reader) add(mode int, lo, hi uint64) {
	list := r.found[mode]
	if n := len(list); n > 0 && list[n-1].hi == r.base+lo {
		list[n-1].hi = r.base + hi
		return
	}
	r.found[mode] = append(list, run{r.base + lo, r.base + hi})
}

// merged closes the smallest gaps where there are very many.
func merged(list []run) []run {
	for gap := uint64(8); len(list) > mostTraces; gap *= 2 {
		kept := list[:1]
		for _, r := range list[1:] {
			if last := &kept[len(kept)-1]; r.lo-last.hi <= gap {
				last.hi = r.hi
			} else {
				kept = append(kept, r)
			}
		}
		list = slices.Clip(kept)
	}
	return list
}
