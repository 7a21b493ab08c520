package rt

import (
	"slices"
	"strings"
)

// Hold is a goroutine of a cell that is in a compiled function.
type Hold struct {
	Function string // without its package's path: "(*Comm).Recv"
	Calls    []Call // the functions of cells that it is in, the innermost first
}

// Held lists the goroutines of cells that are in functions whose names begin with
// prefix, such as "gocuda/cudaapi/mpi.". all says that there is nobody else who
// could do something: the others of cells wait for one another, or for these. Like
// Asleep, it does not know of timers.
func (r *Runtime) Held(prefix string) (holds []Hold, all bool) {
	all = !r.Debugger.standing()
	for _, s := range allStacks() {
		r.groups.mu.Lock()
		g := r.groups.byID[s.ID]
		r.groups.mu.Unlock()
		if g == nil {
			all = all && s.runsCells()
			continue
		}
		function, ok := s.within(prefix)
		if !ok {
			all = all && s.waits()
			continue
		}
		h := Hold{Function: function, Calls: r.Calls(s)}
		if s.ID == g.first {
			holds = slices.Insert(holds, 0, h)
		} else {
			holds = append(holds, h)
		}
	}
	return holds, all
}

// within finds the function of a prefix that the goroutine's interpreted code calls
// in its innermost call.
func (s Stack) within(prefix string) (function string, ok bool) {
	for _, f := range s.frames {
		if f.body != 0 {
			break
		}
		if name, found := strings.CutPrefix(f.name, prefix); found {
			function, ok = name, true
		}
	}
	return function, ok
}
