package record

import (
	"bytes"
	"runtime"
	"strings"
	"time"
)

// goroutine is the calling goroutine, as traces name it.
func goroutine() string {
	var buf [64]byte
	name, _, _ := bytes.Cut(buf[:runtime.Stack(buf[:], false)], []byte(" ["))
	return string(name)
}

const look = 500 * time.Microsecond

var mostLook = 20 * time.Millisecond // changed by tests

// untilBlocked waits until a goroutine waits for something, has ended, or is done, so that
// what it does without waiting is done; at most mostLook, for it may wait by turning.
func untilBlocked(name string, done <-chan struct{}) {
	calls := false
	for begun := time.Now(); time.Since(begun) < mostLook; {
		t := time.NewTimer(look)
		select {
		case <-done:
			t.Stop()
			return
		case <-t.C:
		}
		switch state := stateOf(name); state {
		case "running", "runnable", "preempted", "copystack":
			calls = false
		case "syscall": // in C: a call that is over soon, or one that waits
			if calls {
				return
			}
			calls = true
		default:
			return
		}
	}
}

// stateOf is what a goroutine does, in the words of traces; "" if it has ended.
func stateOf(name string) string {
	for size := 64 << 10; ; size *= 4 {
		buf := make([]byte, size)
		text := buf[:runtime.Stack(buf, true)]
		if _, rest, ok := bytes.Cut(text, []byte(name+" [")); ok {
			end := bytes.IndexAny(rest, ",]")
			state, _, _ := strings.Cut(string(rest[:max(end, 0)]), " (") // as in runnable (scan)
			return state
		}
		if len(text) < size || size > 1<<22 {
			return ""
		}
	}
}
