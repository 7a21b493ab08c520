package cuda

import (
	"sync/atomic"

	"gocuda/cudaapi/driver"
)

// deviceSet is devices of one back end, which may be many: a simulated cluster
// has up to 1,024.
type deviceSet [16]atomic.Uint64

func (s *deviceSet) place(d driver.Device) (word *atomic.Uint64, bit uint64) {
	return &s[int(d)/64%len(s)], 1 << (uint(d) % 64)
}

func (s *deviceSet) has(d driver.Device) bool {
	word, bit := s.place(d)
	return word.Load()&bit != 0
}

func (s *deviceSet) set(d driver.Device, in bool) {
	if word, bit := s.place(d); in {
		word.Or(bit)
	} else {
		word.And(^bit)
	}
}

func (s *deviceSet) clear() {
	for i := range s {
		s[i].Store(0)
	}
}
