package device

import (
	"unsafe"

	"gocuda/cudaapi/cuda"
)

// Shape tells which bytes of a buffer belong to a message: blocks that lie at
// regular distances, in several dimensions.
type Shape struct {
	First int   // byte at which the first block begins
	Block int   // bytes of each
	Runs  []Run // the dimensions, outermost first; one at least
}

// Run is N blocks, or groups of blocks, Step bytes from one to the next.
type Run struct{ N, Step int }

// Bytes is the length of the message.
func (s *Shape) Bytes() int {
	n := s.Block
	for _, r := range s.Runs {
		n *= r.N
	}
	return n
}

// Blocks calls f with the place and the length of each block in the buffer.
func (s *Shape) Blocks(f func(at, n int)) {
	s.rows(func(at, _ int, run Run) error { //nolint:errcheck // f has no error
		for range run.N {
			f(at, s.Block)
			at += run.Step
		}
		return nil
	})
}

// rows calls f for each of the innermost runs, with the place of its first block
// in the buffer and in the message.
func (s *Shape) rows(f func(at, packed int, run Run) error) error {
	last := len(s.Runs) - 1
	inner := s.Runs[last]
	packed := 0
	var walk func(runs []Run, at int) error
	walk = func(runs []Run, at int) error {
		if len(runs) == 0 {
			err := f(at, packed, inner)
			packed += inner.N * s.Block
			return err
		}
		for i := range runs[0].N {
			if err := walk(runs[1:], at+i*runs[0].Step); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(s.Runs[:last], s.First)
}

// Pack copies the blocks of host memory together, Unpack the first bytes of what
// was packed back to their places.
func (s *Shape) Pack(to []byte, from unsafe.Pointer) {
	s.rows(func(at, packed int, run Run) error { //nolint:errcheck // gives none
		copyBlocks(unsafe.Pointer(unsafe.SliceData(to[packed:])), s.Block, unsafe.Add(from, at), run.Step, s.Block, run.N)
		return nil
	})
}

// Unpack is for whole blocks and what is left.
func (s *Shape) Unpack(to unsafe.Pointer, from []byte) {
	s.rows(func(at, packed int, run Run) error { //nolint:errcheck // gives none
		if packed >= len(from) {
			return nil
		}
		left := from[packed:]
		n := min(run.N, len(left)/s.Block)
		copyBlocks(unsafe.Add(to, at), run.Step, unsafe.Pointer(unsafe.SliceData(left)), s.Block, s.Block, n)
		if rest := left[n*s.Block:]; n < run.N && len(rest) > 0 {
			copy(unsafe.Slice((*byte)(unsafe.Add(to, at+n*run.Step)), len(rest)), rest)
		}
		return nil
	})
}

// copyBlocks copies n blocks. The lengths of single elements are told apart, for
// which to call copy takes longer than to copy.
func copyBlocks(to unsafe.Pointer, toStep int, from unsafe.Pointer, fromStep, block, n int) {
	switch block {
	case 4:
		for i := range n {
			*(*[4]byte)(unsafe.Add(to, i*toStep)) = *(*[4]byte)(unsafe.Add(from, i*fromStep))
		}
	case 8:
		for i := range n {
			*(*[8]byte)(unsafe.Add(to, i*toStep)) = *(*[8]byte)(unsafe.Add(from, i*fromStep))
		}
	default:
		for i := range n {
			copy(unsafe.Slice((*byte)(unsafe.Add(to, i*toStep)), block), unsafe.Slice((*byte)(unsafe.Add(from, i*fromStep)), block))
		}
	}
}

// PackDevice copies the blocks of device memory together, behind the work of the
// default stream, whose later work follows.
func (s *Shape) PackDevice(to, from *cuda.Buffer) error {
	raw, err := from.As(cuda.Uint8)
	if err != nil {
		return err
	}
	return s.rows(func(at, packed int, run Run) error {
		return cuda.Memcpy2DAsync(to.Slice(packed, to.Len()), s.Block, raw.Slice(at, raw.Len()), run.Step, s.Block, run.N, nil)
	})
}

// UnpackDevice copies the first n bytes of a packed message to their places, behind
// the work of the default stream. It tells how to ask whether that is done.
func (e *Engine) UnpackDevice(s *Shape, to, from *cuda.Buffer, n int) (func() (bool, error), error) {
	raw, err := to.As(cuda.Uint8)
	if err != nil {
		return nil, err
	}
	return e.After(to.Device(), nil, func(on *cuda.Stream) error { return s.unpack(raw, from, n, on) })
}

func (s *Shape) unpack(to, from *cuda.Buffer, n int, on *cuda.Stream) error {
	return s.rows(func(at, packed int, run Run) error {
		left := min(n-packed, run.N*s.Block)
		if left <= 0 {
			return nil
		}
		whole := left / s.Block
		if whole > 0 {
			if err := cuda.Memcpy2DAsync(to.Slice(at, to.Len()), run.Step, from.Slice(packed, from.Len()), s.Block, s.Block, whole, on); err != nil {
				return err
			}
		}
		rest := left % s.Block
		if rest == 0 {
			return nil
		}
		at, packed = at+whole*run.Step, packed+whole*s.Block
		return cuda.MemcpyAsync(to.Slice(at, at+rest), from.Slice(packed, packed+rest), on)
	})
}
