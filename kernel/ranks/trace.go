package ranks

import (
	"os"
	"sync"
	"time"
)

// InRank reports whether this process is a rank of a notebook's pool.
func InRank() bool { return os.Getenv(rankEnv) != "" }

// traced is what the ranks say of when their cells did what.
var traced struct {
	sync.Mutex
	on    bool
	parts []Trace
}

// TraceCells asks the ranks for the timelines of cells from now on, or no more.
func TraceCells(on bool) {
	traced.Lock()
	defer traced.Unlock()
	traced.on = on
}

func tracingCells() bool {
	traced.Lock()
	defer traced.Unlock()
	return traced.on
}

// Trace is a rank's timeline of a cell, as package trace encodes it, and when the rank
// was asked to run the cell and had answered.
type Trace struct {
	Data            []byte
	Asked, Answered time.Time
}

// Traces are the timelines of ranks since it was called last.
func Traces() (parts []Trace) {
	traced.Lock()
	defer traced.Unlock()
	parts, traced.parts = traced.parts, nil
	return parts
}

func keepTraces(j *job) {
	traced.Lock()
	defer traced.Unlock()
	for _, n := range j.ranks {
		if r, ok := j.results[n]; ok && len(r.Data) > 0 {
			traced.parts = append(traced.parts, Trace{r.Data, j.times[n][0], j.times[n][1]})
		}
	}
}
