package golang

import (
	"fmt"
	"go/types"
	"strings"
	"time"

	"gocuda/kernel/golang/answer"
	"gocuda/kernel/golang/host/trait"
	"gocuda/kernel/golang/rt"
)

// deadlockWatch is how often a running cell is looked at for a deadlock.
const deadlockWatch = 250 * time.Millisecond

// noteAlarms looks in code for what wakes goroutines and is no goroutine itself, so
// that Asleep knows nothing of it. Of timers, deadlines and functions that drivers
// call, the runtime knows, and is told to look after what it need not otherwise; of
// signals, finalizers and what users click, nothing is known.
func (ev *machine) noteAlarms(info *types.Info) {
	for _, o := range info.Uses {
		switch traits := ev.importer.host.Traits(o); {
		case traits.Has(trait.Clicks):
			ev.clicked.Store(true)
		case traits.Has(trait.Callbacks):
			ev.rt.WatchCallbacks()
		case traits.Has(trait.Resets):
			ev.rt.WatchResets()
		case traits.Has(trait.Wakes):
			ev.roused.Store(true)
		}
	}
}

// Hold is where a goroutine of a cell calls a compiled function.
type Hold struct {
	Function string // without its package's path: "(*Comm).Recv"
	Cell     string
	Line     int // 0: not known
}

// Held lists the goroutines of cells that are in compiled functions whose names
// begin with prefix, such as "gocuda/cudaapi/mpi.", the running cell's own first.
// all says that nothing of cells can go on before one of these functions returns.
// It stops the process for some hundred microseconds.
func (ev *Evaluator) Held(prefix string) (holds []Hold, all bool) {
	list, all := ev.rt.Held(prefix)
	for _, h := range list {
		held := Hold{Function: h.Function}
		if len(h.Calls) > 0 {
			held.Cell, held.Line = h.Calls[0].Func.File, h.Calls[0].Line
		}
		holds = append(holds, held)
	}
	return holds, all && !ev.roused.Load() && !ev.rt.Alarmed()
}

// stuck says whether the running cell waits for what cannot come, in two looks.
func (ev *Evaluator) stuck(g *rt.Group) (stacks []rt.Stack, yes bool) {
	if ev.roused.Load() || ev.clicked.Load() {
		return nil, false
	}
	if _, yes = ev.rt.Asleep(g); yes && !ev.rt.Alarmed() {
		time.Sleep(time.Millisecond)
		stacks, yes = ev.rt.Asleep(g)
		return stacks, yes
	}
	return nil, false
}

const asleep = "all goroutines are asleep - deadlock!"

// deadlocked is the error of a cell that waits for what cannot come.
func (ev *Evaluator) deadlocked(g *rt.Group, stacks []rt.Stack) *Error {
	where := ev.rt.Where(g, stacks)
	if ev.program {
		return ev.texts.fatal(asleep, where)
	}
	e := answer.NewError("Deadlock", asleep)
	if len(where) > 0 {
		e.Traceback = append(e.Traceback, ev.texts.trace(where[0].Calls)...)
		e.Traceback = append(e.Traceback, ev.texts.others(where[1:])...)
	}
	return e
}

// mayWake tells in the cell of a deadlock that the cell of another shell can still end:
// one that sends what is waited for.
func (s *Shell) mayWake(e *Error) {
	to := s.err
	if to == nil {
		to = s.ev.options.Stderr
	}
	lines := append([]string{"waits for something that only a cell of another shell can send (otherwise this is a deadlock); interrupt the kernel to end it"}, e.Traceback[1:]...)
	fmt.Fprintln(to, strings.Join(lines, "\n"))
}

// fatal is why a program ends that cannot go on, as Go's runtime says it.
func (t *texts) fatal(why string, where []rt.Goroutine) *Error {
	e := &Error{Name: "Fatal", Message: why, Traceback: []string{"fatal error: " + why}}
	for i, g := range where {
		e.Traceback = append(e.Traceback, "", fmt.Sprintf("goroutine %d [%s]:", i+1, g.State))
		e.Traceback = append(e.Traceback, t.trace(g.Calls)...)
	}
	return e
}
