package hazard

import "fmt"

// Names are the variables that hold what reports speak of.
type Names struct {
	Streams map[uintptr]string // by handle
	Memory  []Variable
}

// Variable is one that holds memory.
type Variable struct {
	Name   string
	Lo, Hi uint64
	Size   int // of an element, bytes
}

// Stream is the variable that holds a stream; "" if none does.
func (n Names) Stream(handle uintptr) string { return n.Streams[handle] }

// Variable is the one that holds a range of memory, with indices: that of the
// smallest buffer around it; "" if there is none.
func (n Names) Variable(lo, hi uint64) (found string) {
	best := uint64(1<<64 - 1)
	for _, m := range n.Memory {
		if lo < m.Lo || hi > m.Hi || m.Hi-m.Lo >= best {
			continue
		}
		best = m.Hi - m.Lo
		if found = m.Name; hi-lo < best {
			size := uint64(m.Size)
			found = fmt.Sprintf("%s[%d:%d]", m.Name, (lo-m.Lo)/size, (hi-m.Lo+size-1)/size)
		}
	}
	return found
}
