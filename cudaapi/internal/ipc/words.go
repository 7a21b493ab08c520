package ipc

import (
	"errors"
	"sync/atomic"

	"gocuda/cudaapi/cuda"
)

// Words is pinned memory in which the blocks of a kernel say that they are done:
// the host sees it sooner than the kernel's end. One kernel at a time uses it.
type Words struct {
	memory []uint32 // a word for each block
	mark   uint32   // what the blocks of the latest kernel write
	blocks int
	asked  int
}

// NewWords uses pinned memory of Uint32, which it clears.
func NewWords(h *cuda.HostBuffer) (*Words, error) {
	memory, err := h.Uint32s()
	clear(memory)
	return &Words{memory: memory}, err
}

// Begin is called before a kernel of so many blocks is launched, and gives what
// each of them is to write into its word.
func (w *Words) Begin(blocks int) (mark uint32) {
	w.mark++
	w.blocks, w.asked = blocks, 0
	return w.mark
}

// Told reports whether all blocks have said that they are done.
func (w *Words) Told() bool {
	for i := range w.blocks {
		if atomic.LoadUint32(&w.memory[i]) != w.mark {
			return false
		}
	}
	return true
}

// ErrSilent says that a kernel ended and its blocks did not say that they are done.
var ErrSilent = errors.New("the kernel has ended early")

// Done reports whether the kernel is done. It looks at the stream now and then,
// which shows a kernel that failed.
func (w *Words) Done(s *cuda.Stream) (bool, error) {
	if w.Told() {
		return true, nil
	}
	if w.asked++; w.asked%32 != 0 {
		return false, nil
	}
	over, err := s.Query()
	if err != nil || !over {
		return false, err
	}
	return w.ended()
}

// Wait waits until the kernel is done.
func (w *Words) Wait(s *cuda.Stream) error {
	for range 10_000 {
		if w.Told() {
			return nil
		}
	}
	if err := s.Synchronize(); err != nil {
		return err
	}
	_, err := w.ended()
	return err
}

func (w *Words) ended() (bool, error) {
	if !w.Told() {
		return false, ErrSilent
	}
	return true, nil
}
