package rt

import (
	"runtime/metrics"
	"slices"
	"strings"
)

// Asleep says whether no goroutine can ever go on: all of cells wait for one
// another, the own one of the cell g (nil: any) among them, and there are no others
// but those that run cells. It does not know of what wakes without a goroutine, such
// as timers. stacks are those of the goroutines of cells.
func (r *Runtime) Asleep(g *Group) (stacks []Stack, asleep bool) {
	if r.Debugger.standing() || !still() {
		return nil, false
	}
	all := allStacks()
	r.groups.mu.Lock()
	defer r.groups.mu.Unlock()
	for _, s := range all {
		switch {
		case r.groups.byID[s.ID] == nil:
			if !s.runsCells() {
				return nil, false
			}
		case !s.waits():
			return nil, false
		default:
			stacks = append(stacks, s)
		}
	}
	return stacks, slices.ContainsFunc(stacks, func(s Stack) bool { return g == nil || s.ID == g.first })
}

// still says whether only the calling goroutine runs: looking costs next to nothing.
func still() bool {
	n := []metrics.Sample{{Name: "/sched/goroutines/running:goroutines"}, {Name: "/sched/goroutines/runnable:goroutines"}, {Name: "/sched/goroutines/not-in-go:goroutines"}}
	metrics.Read(n)
	for _, s := range n {
		if s.Value.Kind() != metrics.KindUint64 {
			return false
		}
	}
	return n[0].Value.Uint64() <= 1 && n[1].Value.Uint64() == 0
}

// runsCells says whether a goroutine that is of no cell is part of what runs them,
// or of what their calls wait for. It wakes none that waits for a cell's own channel.
func (s Stack) runsCells() bool {
	if s.ID == 1 {
		return true
	}
	if slices.ContainsFunc(s.frames, func(f stackFrame) bool { return f.body != 0 }) { // it calls a cell's function
		return false
	}
	return slices.ContainsFunc([]string{"gocuda/kernel/", "gocuda/cudaapi/", "gocuda/cmd/", "main.", "runtime.", "os/signal.", "testing."}, func(p string) bool {
		return strings.HasPrefix(s.by, p)
	})
}

// waits says whether a cell's own statement waits for another goroutine.
func (s Stack) waits() bool {
	switch s.State {
	case "chan receive", "chan send", "select", "select (no cases)", "chan receive (nil chan)", "chan send (nil chan)",
		"sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock", "sync.WaitGroup.Wait", "sync.Cond.Wait":
	default:
		return false
	}
	for _, f := range s.frames {
		if f.body != 0 {
			return true
		}
		if !slices.ContainsFunc([]string{"runtime.", "sync.", "internal/sync.", "reflect.", "github.com/traefik/yaegi/", "gocuda/kernel/golang/rt."}, func(p string) bool {
			return strings.HasPrefix(f.name, p)
		}) {
			return false
		}
	}
	return false
}
