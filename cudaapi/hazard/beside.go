package hazard

import (
	"sync"

	"gocuda/cudaapi/record"
)

// beside hands what is recorded on to sinks in a goroutine of its own, so that the
// program need not wait for the check.
type beside struct {
	sinks []record.Sink

	mu    sync.Mutex
	went  sync.Cond // on mu: some operations were handed on
	ops   []*record.Op
	spare []*record.Op // room for the next
	runs  bool
}

const (
	together   = 256     // operations for which it is worth to wake a processor
	mostBehind = 1 << 13 // operations for which the program does not wait
)

func newBeside(sinks ...record.Sink) *beside {
	b := &beside{sinks: sinks}
	b.went.L = &b.mu
	return b
}

// Op takes the next operation.
func (b *beside) Op(o *record.Op) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ops = append(b.ops, o)
	if len(b.ops) >= together {
		b.start()
	}
	for len(b.ops) >= mostBehind {
		b.went.Wait()
	}
}

// start has the operations handed on. b.mu is held.
func (b *beside) start() {
	if !b.runs && len(b.ops) > 0 {
		b.runs = true
		go b.run()
	}
}

func (b *beside) run() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.ops) > 0 {
		list := b.ops
		b.ops, b.spare = b.spare[:0], nil
		b.went.Broadcast()
		b.mu.Unlock()
		for _, o := range list {
			for _, s := range b.sinks {
				s.Op(o)
			}
		}
		clear(list)
		b.mu.Lock()
		b.spare = list[:0]
	}
	b.runs = false
	b.went.Broadcast()
}

// wait waits until all that was recorded is handed on.
func (b *beside) wait() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.start(); b.runs; {
		b.went.Wait()
	}
}
