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
// what it does without waiting is done; at most mostLook, for it may wait by turning. With
// started, those that it has started must wait, too: a function of a cell runs on one.
func untilBlocked(name string, started bool, done <-chan struct{}) {
	calls := false
	for begun := time.Now(); time.Since(begun) < mostLook; {
		t := time.NewTimer(look)
		select {
		case <-done:
			t.Stop()
			return
		case <-t.C:
		}
		switch state := stateOf(name, started); {
		case runs(state):
			calls = false
		case state == "syscall": // in C: a call that is over soon, or one that waits
			if calls {
				return
			}
			calls = true
		default:
			return
		}
	}
}

// runs says whether a goroutine in a state waits for nothing.
func runs(state string) bool {
	switch state {
	case "running", "runnable", "preempted", "copystack":
		return true
	}
	return false
}

// stateOf is what a goroutine does, in the words of traces; "" if it has ended. With
// started, that of one that it has started and that runs comes first.
func stateOf(name string, started bool) string {
	for size := 64 << 10; ; size *= 4 {
		buf := make([]byte, size)
		text := buf[:runtime.Stack(buf, true)]
		whole := len(text) < size || size > 1<<22
		if state, found := stateIn(text, name, started); whole || found && !started {
			return state
		}
	}
}

func stateIn(traces []byte, name string, started bool) (state string, found bool) {
	for trace := range bytes.SplitSeq(traces, []byte("\n\n")) {
		own := bytes.HasPrefix(trace, []byte(name+" ["))
		if !own && !(started && bytes.Contains(trace, []byte(" in "+name+"\n"))) { // created by ... in goroutine 7
			continue
		}
		_, rest, _ := bytes.Cut(trace, []byte(" ["))
		end := bytes.IndexAny(rest, ",]")
		does, _, _ := strings.Cut(string(rest[:max(end, 0)]), " (") // as in runnable (scan)
		if own && !runs(state) || runs(does) {
			state = does
		}
		found = found || own
	}
	return state, found
}
