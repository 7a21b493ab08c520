package driver

import "time"

// Tracer is a [Driver] that can tell when the work that it is given ran.
//
//	StartTrace(take)
//	Tag(7); MemcpyAsync(...); Tag(0) // all on one thread of the system
//	EndTrace()                       // take was called with the copy's times, tagged 7
type Tracer interface {
	// StartTrace has take called, by any goroutine and in any order, with what is
	// queued from now on while its thread has a tag. take must not call the driver.
	// It is an error if a trace goes on, or if the machine cannot tell times so.
	StartTrace(take func(Activity)) error
	// Tag gives what the calling thread queues from now on, and its waits, a number;
	// zero ends that. The caller is locked to its thread meanwhile.
	Tag(n uint64)
	// Moment has take called with the host's time of the call.
	Moment(n uint64)
	// EndTrace ends the trace. take has been called for all that is done, and will not
	// be called any more.
	EndTrace() error
	// TraceClock says what the times are.
	TraceClock() TraceClock
}

// TraceClock is where times of a [Tracer] come from.
type TraceClock struct {
	// Name is for people, such as "CUPTI".
	Name string
	// Modelled times are those of a model, in which the host has a clock of its own.
	// Others are of the system's monotonic clock, to within some microseconds.
	Modelled bool
}

// ActivityKind is what an [Activity] is.
type ActivityKind uint8

// Kinds of activities.
const (
	ActivityOther      ActivityKind = iota
	ActivityKernel                  // a kernel ran
	ActivityCopy                    // bytes were copied
	ActivityFill                    // memory was filled
	ActivityHost                    // a host function ran
	ActivityWaitValue               // a stream waited for memory to change: only its end is told
	ActivityWriteValue              // a stream wrote a word
	ActivityWait                    // the host waited
	ActivityMoment                  // what Moment asked for: Begin
)

// Activity is a piece of work, or a wait, and its times.
type Activity struct {
	Tag    uint64
	Kind   ActivityKind
	Name   string        // of a kernel
	Issued time.Duration // when the host queued it, if the clock is modelled
	Begin  time.Duration
	End    time.Duration
}
