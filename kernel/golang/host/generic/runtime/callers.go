package runtime

import "gocuda/kernel/golang/host/generic/plain"

// Frame is the information about a call that Frames returns.
type Frame struct {
	PC       uintptr
	Func     *Func
	Function string
	File     string
	Line     int
	Entry    uintptr
}

// Frames reports calls one after another.
type Frames struct{ callers []uintptr }

// CallersFrames prepares to report the calls that Callers has given.
func CallersFrames(callers []uintptr) *Frames { return &Frames{callers} }

// Next returns the next call, and whether there are more.
func (ci *Frames) Next() (frame Frame, more bool) {
	for len(ci.callers) > 0 {
		pc := ci.callers[0]
		ci.callers = ci.callers[1:]
		if p := plain.PlaceAt(pc); p.Function != "" {
			return Frame{pc, &Func{p}, p.Function, p.File, p.Line, p.Entry}, len(ci.callers) > 0
		}
	}
	return Frame{}, false
}

// Func is a function of the running program.
type Func struct{ place plain.Place }

// FuncForPC returns the function that has a program counter, or nil.
func FuncForPC(pc uintptr) *Func {
	p := plain.PlaceAt(pc)
	if p.Function == "" {
		return nil
	}
	return &Func{p}
}

// Name returns the function's name.
func (f *Func) Name() string {
	if f == nil {
		return ""
	}
	return f.place.Function
}

// Entry returns where the function begins.
func (f *Func) Entry() uintptr { return f.place.Entry }

// FileLine returns the place of a program counter.
func (f *Func) FileLine(pc uintptr) (file string, line int) {
	p := plain.PlaceAt(pc)
	return p.File, p.Line
}
