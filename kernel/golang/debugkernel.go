package golang

import (
	"fmt"
	"sync"

	"gocuda/cudaapi/gokernel"
	"gocuda/kernel/golang/rt"
)

// Kernels in Go are stepped where they are emulated: the thread that runs stands above
// the cell that called Emulate.

// debugging are the debuggers that are on.
var debugging sync.Map // *Debugger to true

func init() {
	gokernel.SetWatch(func() gokernel.Watcher {
		var found gokernel.Watcher
		debugging.Range(func(d, _ any) bool {
			r := d.(*Debugger).ev.rt.Debugger
			if e := r.Emulation(); e != nil {
				found = &kernelWatch{r, e}
			}
			return found == nil
		})
		return found
	})
}

// kernelWatch is a launch that is emulated.
type kernelWatch struct {
	r *rt.Debugger
	e *rt.Emulation
}

// kernelFunc is a kernel's function, as a debugger knows it.
type kernelFunc struct {
	r *rt.Debugger
	*rt.DebugFunc
}

func (w *kernelWatch) function(f *gokernel.Function) *rt.DebugFunc {
	if k, ok := f.Of.(kernelFunc); ok && k.r == w.r {
		return k.DebugFunc
	}
	k := &rt.DebugFunc{Name: f.Name, File: f.Steps[0].Filename}
	lines := make(map[int]bool)
	for _, p := range f.Steps {
		k.Stops = append(k.Stops, rt.DebugStop{Line: p.Line, Column: p.Column, First: !lines[p.Line]})
		lines[p.Line] = true
	}
	w.r.AddEmulated(k)
	f.Of = kernelFunc{w.r, k}
	return k
}

// Wants says whether something is to stop in a function.
func (w *kernelWatch) Wants(f *gokernel.Function) bool { return w.function(f).Hot() }

// Step is called before a statement.
func (w *kernelWatch) Step(calls []*gokernel.Place) { w.e.Step(w.calls(calls)) }

// Panics is called where a thread panics.
func (w *kernelWatch) Panics(calls []*gokernel.Place, text string) {
	w.e.Panics(w.calls(calls), text)
}

// Ended is called when the launch has ended.
func (w *kernelWatch) Ended() { w.e.End() }

func (w *kernelWatch) calls(list []*gokernel.Place) (calls []*rt.Activation) {
	var lane *rt.Lane
	for _, at := range list {
		a, _ := at.Of.(*rt.Activation)
		if a == nil {
			if lane == nil {
				x, y := at.Thread.Block, at.Thread.Thread
				lane = &rt.Lane{Name: fmt.Sprintf("block (%d,%d,%d), thread (%d,%d,%d)", x[0], x[1], x[2], y[0], y[1], y[2]),
					Ended: func() bool { return at.Thread.Ended }}
			}
			a = rt.Emulated(w.function(at.Function), lane, at)
			at.Of = a
		}
		lane = a.Lane
		a.Reach(at.Step)
		calls = append(calls, a)
	}
	return calls
}

// kernelVariables are those that a kernel's thread sees.
func kernelVariables(at *gokernel.Place) (list []Variable) {
	for _, v := range at.Variables() {
		list = append(list, Variable{Name: v.Name, Expression: v.Name, Type: v.Type, Value: v.Value})
	}
	return list
}
