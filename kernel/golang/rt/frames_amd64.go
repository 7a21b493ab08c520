package rt

import (
	"runtime"
	"strings"
	"sync"
)

// frames reads the frames of the calling goroutine, the innermost first, along the
// frame pointers: of each, where it returns to, and the word above that, which is
// its function's first argument where the compiler has put it by for traces. It
// gives how many there are. In assembly nothing moves the stack meanwhile.
func frames(to *[2]uintptr, n int) int

// most is how far out a call is looked for.
const mostFrames = 64

// inRun tells of return addresses whether they are in the interpreter's function that
// runs others.
var inRun sync.Map // uintptr to bool

// bodies calls f with the interpreted functions that the calling goroutine is in, the
// innermost first, until it says no.
func bodies(f func(body uint64) bool) {
	var list [mostFrames][2]uintptr
	n := frames(&list[0], len(list))
	for i := range n - 1 {
		// What returns to here was called by the function of the next frame.
		at := list[i][0]
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
		if in.(bool) && !f(uint64(list[i+1][1])) {
			return
		}
	}
}
