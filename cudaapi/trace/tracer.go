package trace

import (
	"runtime"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/record"
)

// tracer is a driver that tells times itself.
type tracer struct{ t driver.Tracer }

func (s tracer) around(n int, _ *record.Op, call func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s.t.Tag(uint64(n))
	defer s.t.Tag(0)
	return call()
}

func (s tracer) moment(n int)             { s.t.Moment(uint64(n)) }
func (s tracer) end() error               { return s.t.EndTrace() }
func (s tracer) clock() driver.TraceClock { return s.t.TraceClock() }
