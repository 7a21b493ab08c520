// Package launch starts programs as the ranks of package mpi's built-in
// transport, between processes of one machine.
//
// [Run] does it all. A program that starts its ranks itself opens a [Job],
// gives each process the environment of its rank, and closes the Job at the
// end. A Job leaves nothing behind, however its launcher ends: its memory and
// its socket have no names in the file system.
package launch

import (
	"fmt"
	"sync"

	"gocuda/cudaapi/mpi/internal/local"
)

// Event is one of the things that happen to a job.
type Event = local.Event

// The kinds of events.
const (
	Joined  = local.Joined  // a rank has called mpi.Init
	Left    = local.Left    // a rank has called mpi.Finalize
	Lost    = local.Lost    // a rank ended without; Text says how
	Aborted = local.Aborted // a rank wants all to end, with exit code Code
	Refused = local.Refused // somebody who is no rank wanted in; Text says who and why
)

// Job is a world of ranks, for one run of a program: a job whose ranks have
// ended, or of which one was lost, is closed, and a new one made.
type Job struct {
	hub  *local.Hub
	size int

	mu    sync.Mutex
	past  []Event
	watch func(Event)
}

// New opens a job of n ranks. It fails elsewhere than on Linux.
func New(n int) (*Job, error) {
	j := &Job{size: n}
	var err error
	if j.hub, err = local.NewHub(n, j.happened); err != nil {
		return nil, fmt.Errorf("starting a local MPI job: %w", err)
	}
	return j, nil
}

// Size is the number of ranks.
func (j *Job) Size() int { return j.size }

// Env is what the environment of the process that is to be the rank must have
// besides: NAME=VALUE. It holds the key to the job, so it is for that process
// alone.
func (j *Job) Env(rank int) []string { return []string{j.hub.Env(rank)} }

// Lost tells the other ranks that one has ended, and how: what they wait for
// from it fails. A rank that was connected is found out without; a launcher
// calls it for a process that ended before, and where it knows better how.
func (j *Job) Lost(rank int, how string) {
	if rank >= 0 && rank < j.size {
		j.hub.Lost(rank, how)
	}
}

// keptEvents is how many are kept for Watch.
const keptEvents = 1024

func (j *Job) happened(e Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.watch != nil {
		j.watch(e)
	} else if len(j.past) < keptEvents {
		j.past = append(j.past, e)
	}
}

// Watch has f called for what happens to the job, and at once for what
// happened already. f must return soon and not call the Job.
func (j *Job) Watch(f func(Event)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.past {
		f(e)
	}
	j.past, j.watch = nil, f
}

// Close ends the job. Ranks that are still running find their launcher gone.
func (j *Job) Close() error { return j.hub.Close() }
