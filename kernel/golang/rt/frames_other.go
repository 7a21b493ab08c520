//go:build !amd64

package rt

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
)

// bodies calls f with the interpreted functions that the calling goroutine is in, the
// innermost first, until it says no. What the runtime writes of a goroutine names them,
// which takes many times as long as reading its stack does.
func bodies(f func(body uint64) bool) {
	buf := stacks.Get().(*[]byte)
	defer stacks.Put(buf)
	text := (*buf)[:runtime.Stack(*buf, false)]
	for {
		i := bytes.Index(text, []byte("\n"+interpreted))
		if i < 0 {
			return
		}
		text = text[i+1+len(interpreted):]
		end := bytes.IndexAny(text, ",?)")
		if end < 0 {
			return
		}
		if body, err := strconv.ParseUint(string(text[:end]), 0, 64); err == nil && !f(body) {
			return
		}
	}
}

// stacks are buffers for the innermost calls of a goroutine.
var stacks = sync.Pool{New: func() any { b := make([]byte, 1<<14); return &b }}
