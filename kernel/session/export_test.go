//go:build unix

package session

// What the tests of this package see of it.
const (
	LinkFD      = linkFD
	MovedLink   = movedLink
	MaxStack    = maxStack
	LastLines   = lastLines
	OutputChunk = outputChunk
)

// LivePid is the process id of the current evaluator, or 0.
func (s *Session) LivePid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return 0
	}
	return s.current.proc.pid()
}

// Runs says whether a cell is on its way.
func (s *Session) Runs() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running) > 0
}
