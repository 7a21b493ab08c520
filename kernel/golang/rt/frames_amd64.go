package rt

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// frames reads the frames of the calling goroutine, the innermost first, along the
// frame pointers: of each, where it returns to, and the word above that, which is
// its function's first argument where the compiler has put it by for traces. It
// gives how many there are. In assembly nothing moves the stack meanwhile.
func frames(to *[2]uintptr, n int) int

// mostFrames is how far out a call is looked for.
const mostFrames = 64

// inRun reports return addresses whether they are in the interpreter's function that
// runs others. seen are those met last, each times two and one more if it is.
var (
	inRun sync.Map // uintptr to bool
	seen  [512]atomic.Uintptr
)

// runs reports whether a return address is in that function.
func runs(at uintptr) bool {
	last := &seen[(at^at>>9)%uintptr(len(seen))]
	if v := last.Load(); v>>1 == at {
		return v&1 != 0
	}
	in, ok := inRun.Load(at)
	if !ok {
		fs := runtime.CallersFrames([]uintptr{at})
		for more := true; more; { // the last is the one that is not inlined
			var fr runtime.Frame
			fr, more = fs.Next()
			in = strings.HasPrefix(fr.Function+"(", interpreted)
		}
		inRun.Store(at, in)
	}
	v := at << 1
	if in.(bool) {
		v++
	}
	last.Store(v)
	return in.(bool)
}

// bodies calls f with the interpreted functions that the calling goroutine is in, the
// innermost first, until it says no.
func bodies(f func(body uint64) bool) {
	var list [mostFrames][2]uintptr
	n := frames(&list[0], len(list))
	for i := range n - 1 {
		// What returns to here was called by the function of the next frame.
		if runs(list[i][0]) && !f(uint64(list[i+1][1])) {
			return
		}
	}
}
