package local

// EventKind says what happened to a job.
type EventKind uint8

// What a launcher is told.
const (
	Joined  EventKind = iota + 1 // the rank's process has called Init
	Left                         // it has called Finalize
	Lost                         // it ended without; Text says how
	Aborted                      // it wants all to end, with exit code Code
	Refused                      // somebody who is no rank wanted in; Text says who and why
)

// Event is one of the things that happen to a job.
type Event struct {
	Kind EventKind
	Rank int
	Code int
	Text string
}
