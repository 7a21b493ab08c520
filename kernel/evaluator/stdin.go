package evaluator

import (
	"io"
	"sync"
)

// stdin is the standard input of cells: it asks the user for a line whenever
// what was typed has been read. A question that fails ends the read with its
// error.
type stdin struct {
	ask func() (string, error)

	mu   sync.Mutex
	rest string // typed and not yet read
}

var _ io.Reader = (*stdin)(nil)

func (s *stdin) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if n := s.typed(p); n > 0 {
		return n, nil
	}
	line, err := s.ask()
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	s.rest += line + "\n"
	s.mu.Unlock()
	return s.typed(p), nil
}

// typed reads what is there.
func (s *stdin) typed(p []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n
}

// forget drops what an earlier cell left unread.
func (s *stdin) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = ""
}
