// Package lesson has what the tutorials share: a gate that holds streams, so that an
// order can be seen without a stopwatch, and small questions about streams and
// timelines.
package lesson

import (
	"sync/atomic"
	"time"
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/hazard"
	"gocuda/kernel/timeline"
)

// A Gate makes streams stand still until it opens. The streams wait for a word in pinned
// memory (cuStreamWaitValue32); to open the gate is to write that word.
type Gate struct {
	word *cuda.HostBuffer
	one  *uint32
}

// NewGate makes a gate. It is open.
func NewGate() (*Gate, error) {
	word, err := cuda.AllocHost(1, cuda.Uint32, cuda.Portable, cuda.Mapped)
	if err != nil {
		return nil, err
	}
	list, err := word.Uint32s()
	if err != nil {
		return nil, err
	}
	return &Gate{word, &list[0]}, nil
}

// write stores the word. A check sees what cells themselves write, but not what compiled
// code writes: without a hint it would take the streams for held, and among ranks look
// at nothing more.
func (g *Gate) write(v uint32, by string) {
	p := unsafe.Pointer(g.one)
	hazard.HostAccess(hazard.Place{File: by}, uintptr(p), int(unsafe.Sizeof(v)), true, true, false)
	atomic.StoreUint32(g.one, v)
}

// Hold closes the gate and queues a wait in each stream: what is queued there later does
// not begin before Open. It does not wait for the streams.
func (g *Gate) Hold(streams ...*cuda.Stream) error {
	// An allocation first frees memory that the program dropped, and waits for that.
	// Behind a closed gate the wait would not end, so it is made here.
	b, err := cuda.AllocHost(1, cuda.Uint8)
	if err != nil {
		return err
	}
	if err := b.Free(); err != nil {
		return err
	}
	g.write(0, "Gate.Hold")
	for _, s := range streams {
		if err := s.WaitValue(g.word, 1, cuda.WaitGEQ); err != nil {
			return err
		}
	}
	return nil
}

// Open lets the streams go on. It does not wait for them.
func (g *Gate) Open() { g.write(1, "Gate.Open") }

// Free opens the gate, waits for all devices, and frees the gate's memory.
func (g *Gate) Free() error {
	g.Open()
	devices, err := cuda.Devices()
	if err != nil {
		return err
	}
	for _, d := range devices {
		if err := d.Synchronize(); err != nil {
			return err
		}
	}
	return g.word.Free()
}

// Queues calls f while the streams stand still, and reports whether f only queued. If f
// waits for one of the streams, the gate opens after two seconds. At its end Queues opens
// the gate and waits for the devices of the streams, also when f panics.
func (g *Gate) Queues(f func(), streams ...*cuda.Stream) (queued bool, err error) {
	if err := g.Hold(streams...); err != nil {
		g.Open()
		return false, err
	}
	opener := time.AfterFunc(2*time.Second, g.Open)
	defer func() {
		opener.Stop()
		g.Open()
		for _, s := range streams {
			if e := s.Device().Synchronize(); err == nil {
				err = e
			}
		}
	}()
	f()
	return opener.Stop(), nil
}

// Soon reports whether something becomes so within a time. On a busy machine it looks
// longer: it asks 50 times at least.
func Soon(patience time.Duration, is func() bool) bool {
	start := time.Now()
	for looks := 0; looks < 50 || time.Since(start) < patience; looks++ {
		if is() {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// Finishes reports whether all work of a stream is done within a time (see Soon), without
// any help from the CPU.
func Finishes(s *cuda.Stream, patience time.Duration) (done bool, err error) {
	Soon(patience, func() bool {
		done, err = s.Query()
		return done || err != nil
	})
	return done, err
}

// Portion is how many of n things share k of so many shares has: the first shares take
// what is left over.
func Portion(n, k, shares int) int {
	p := n / shares
	if k < n%shares {
		p++
	}
	return p
}

// Abreast counts the pairs of boxes of a timeline that share some time: one of some kind
// ("copy", "kernel", "host wait"), the other of another. With one kind given twice, each
// pair counts once.
func Abreast(t *timeline.Recorded, kind, other string) (pairs int) {
	for i, a := range t.Boxes {
		for j, b := range t.Boxes {
			if a.Kind != kind || b.Kind != other || i == j || kind == other && i > j {
				continue
			}
			if a.Begin < b.End && b.Begin < a.End {
				pairs++
			}
		}
	}
	return pairs
}
