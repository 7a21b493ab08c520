package direct

import (
	"errors"
	"sync"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/fabric"
)

// Exchanges are those of one set of members, for each choice of their devices.
type Exchanges struct {
	mu      sync.Mutex
	made    map[string]*made
	imports fabric.Imports
}

// made is one, or why there is none.
type made struct {
	x   *Exchange
	why error
}

func keyOf(devices []int) string {
	b := make([]byte, 0, 2*Most)
	for _, d := range devices {
		b = append(b, byte(d), byte(d>>8))
	}
	return string(b)
}

// Known reports whether Of will not need to open anything.
func (s *Exchanges) Known(devices []int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made[keyOf(devices)] != nil
}

// Of is the exchange of the members' devices, of which d is this one's, or why
// there is none. The first time it is collective over ranks, and blocks.
func (s *Exchanges) Of(ranks fabric.Ranks, d *cuda.Device, devices []int) (*Exchange, error) {
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

// Spoil stops an exchange for good: its members are out of step.
func (s *Exchanges) Spoil(x *Exchange, why error) {
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
func (s *Exchanges) Close() error {
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
