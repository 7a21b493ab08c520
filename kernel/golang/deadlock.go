package golang

import (
	"fmt"
	"go/types"
	"strings"
	"time"

	"gocuda/kernel/golang/answer"
	"gocuda/kernel/golang/rt"
)

// deadlockWatch is how often a running cell is looked at for a deadlock.
const deadlockWatch = 250 * time.Millisecond

// rouses says whether code may use what wakes goroutines and is no goroutine
// itself, so that Asleep knows nothing of it: timers, signals, finalizers, and what
// modules do.
func (ev *Evaluator) rouses(info *types.Info) bool {
	for _, o := range info.Uses {
		if p, ok := o.(*types.PkgName); ok {
			if ev.importer.moduleOf(p.Imported()) != nil {
				return true
			}
			continue
		}
		if o.Pkg() == nil {
			continue
		}
		if strings.HasPrefix(o.Pkg().Path(), "gocuda/cudaapi/") {
			return true // drivers call functions of cells from threads of their own
		}
		switch name := o.Name(); o.Pkg().Path() {
		case "time":
			if name == "After" || name == "AfterFunc" || name == "NewTimer" || name == "NewTicker" || name == "Tick" {
				return true
			}
		case "context":
			if strings.HasPrefix(name, "WithTimeout") || strings.HasPrefix(name, "WithDeadline") {
				return true
			}
		case "runtime":
			if name == "SetFinalizer" || name == "AddCleanup" {
				return true
			}
		case "os/signal":
			return true
		}
	}
	return false
}

// stuck says whether the running cell waits for what cannot come, in two looks.
func (ev *Evaluator) stuck(g *rt.Group) (stacks []rt.Stack, yes bool) {
	if ev.roused.Load() {
		return nil, false
	}
	if _, yes = ev.rt.Asleep(g); yes {
		time.Sleep(time.Millisecond)
		stacks, yes = ev.rt.Asleep(g)
	}
	return stacks, yes
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

// fatal is why a program ends that cannot go on, as Go's runtime says it.
func (t *texts) fatal(why string, where []rt.Goroutine) *Error {
	e := &Error{Name: "Fatal", Message: why, Traceback: []string{"fatal error: " + why}}
	for i, g := range where {
		e.Traceback = append(e.Traceback, "", fmt.Sprintf("goroutine %d [%s]:", i+1, g.State))
		e.Traceback = append(e.Traceback, t.trace(g.Calls)...)
	}
	return e
}
