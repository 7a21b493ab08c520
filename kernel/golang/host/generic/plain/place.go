package plain

import (
	"runtime"
	"sync"
)

// Place is where a call is: in compiled code, or in that of cells, to which no
// program counter of the process belongs.
type Place struct {
	Function, File string
	Line           int
	Entry          uintptr // where the function begins, 0 for one of a cell
}

// Program counters of places in cells are numbers that no code has: firstPC and
// every sixteenth from there.
const (
	firstPC = 1 << 56
	stepPC  = 16
)

var places struct {
	sync.Mutex
	list []Place
	pcs  map[Place]uintptr
}

// PC returns what stands for a place in a cell among program counters, as
// runtime.Callers gives them.
func PC(p Place) uintptr {
	places.Lock()
	defer places.Unlock()
	pc, ok := places.pcs[p]
	if !ok {
		if places.pcs == nil {
			places.pcs = make(map[Place]uintptr)
		}
		pc = firstPC + uintptr(len(places.list))*stepPC + stepPC/2
		places.list = append(places.list, p)
		places.pcs[p] = pc
	}
	return pc
}

// PlaceAt returns the place of a program counter; one without a function if there
// is none.
func PlaceAt(pc uintptr) Place {
	if pc < firstPC {
		f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
		return Place{f.Function, f.File, f.Line, f.Entry}
	}
	places.Lock()
	defer places.Unlock()
	if i := (pc - firstPC) / stepPC; i < uintptr(len(places.list)) {
		return places.list[i]
	}
	return Place{}
}
