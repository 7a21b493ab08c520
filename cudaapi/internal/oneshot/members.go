package oneshot

import (
	"errors"
	"sync"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/ipc"
)

// Members are this process's parts in one group of ranks, one for each choice of the
// ranks' devices.
type Members struct {
	mu      sync.Mutex
	made    map[string]*made
	imports ipc.Imports
}

// made is one, or why there is none.
type made struct {
	x   *Member
	why error
}

func keyOf(devices []int) string {
	b := make([]byte, 0, 2*most)
	for _, d := range devices {
		b = append(b, byte(d), byte(d>>8))
	}
	return string(b)
}

// Known reports whether Of will not need to open anything.
func (s *Members) Known(devices []int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made[keyOf(devices)] != nil
}

// Of is the part with these devices, one for each rank, of which d is this one's, or why
// there is none. The first time it is collective over ranks, and blocks.
func (s *Members) Of(ranks handshake.Ranks, d *cuda.Device, devices []int) (*Member, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := keyOf(devices)
	m := s.made[key]
	if m == nil {
		m = &made{}
		m.x, m.why = Open(ranks, d, &s.imports)
		if s.made == nil {
			s.made = map[string]*made{}
		}
		s.made[key] = m
	}
	if m.why != nil {
		return nil, m.why
	}
	return m.x, nil
}

// Spoil stops a part for good: the ranks are out of step.
func (s *Members) Spoil(x *Member, why error) {
	x.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.made {
		if m.x == x {
			m.why = why
		}
	}
}

// Close gives all back. It waits for their work.
func (s *Members) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, m := range s.made {
		if m.x != nil {
			errs = append(errs, m.x.Close())
		}
	}
	s.made = nil
	return errors.Join(append(errs, s.imports.Close())...)
}
