package rt

import (
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Stack is a goroutine, as the runtime's own traces show it.
type Stack struct {
	ID     int64
	State  string // such as "chan receive"
	frames []stackFrame
	by     string // the function whose go statement began it
	ended  bool   // it was about to end in the statement at pos
	pos    int
}

// stackFrame is one call; the innermost is first.
type stackFrame struct {
	name, args string
	file       string
	line       int
	body       uint64 // what the interpreter runs, if it is a call of interpreted code
}

// allStacks looks at all goroutines of the process, which stand still meanwhile.
func allStacks() []Stack {
	const common = 2 << 10 // of text, for each goroutine
	for size := max(1<<16, runtime.NumGoroutine()*common); ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size {
			return parseStacks(string(buf[:n]))
		}
	}
}

// A look at all goroutines takes about lookTime for each of them.
const lookTime = 20 * time.Microsecond

// Looking takes no more than one part in lookShare of a cell's time, and an interrupt no
// longer than lookMost.
const (
	lookShare = 10
	lookMost  = 200 * time.Millisecond
)

// NextLook is how long after the last look at all goroutines, or after the cell's beginning,
// the next may be: with very many, a look takes seconds.
func NextLook() time.Duration { return lookShare * lookAll() }

// QuickLook says whether a look at all goroutines is over before a user notices.
func QuickLook() bool { return lookAll() < lookMost }

func lookAll() time.Duration { return time.Duration(runtime.NumGoroutine()) * lookTime }

// ownStack is that of the calling goroutine.
func ownStack() Stack {
	for size := 1 << 13; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, false); n < size {
			return parseStacks(string(buf[:n]))[0]
		}
	}
}

// interpreted begins the frame of each call of interpreted code. Its first
// argument is what is run.
const interpreted = "github.com/traefik/yaegi/interp.runCfg("

func parseStacks(text string) []Stack {
	var list []Stack
	for _, part := range strings.Split(text, "\n\n") {
		head, rest, _ := strings.Cut(part, "\n")
		number, state, ok := strings.Cut(strings.TrimPrefix(head, "goroutine "), " [")
		id, err := strconv.ParseInt(number, 10, 64)
		if !ok || err != nil {
			continue
		}
		state, _, _ = strings.Cut(state, "]")
		state, _, _ = strings.Cut(state, ",") // how long, and the thread
		s := Stack{ID: id, State: state}
		lines := strings.Split(rest, "\n")
		for i := 0; i+1 < len(lines); i++ {
			if by, ok := strings.CutPrefix(lines[i], "created by "); ok {
				s.by = by
				continue
			}
			if strings.HasPrefix(lines[i], "\t") || strings.HasPrefix(lines[i], "...") {
				continue
			}
			s.frames = append(s.frames, parseFrame(lines[i], lines[i+1]))
		}
		list = append(list, s)
	}
	return list
}

func parseFrame(call, place string) stackFrame {
	f := stackFrame{name: call}
	if args := strings.LastIndexByte(call, '('); args > 0 {
		f.name, f.args = call[:args], call[args:]
	}
	if arg, ok := strings.CutPrefix(call, interpreted); ok {
		arg, _, _ = strings.Cut(arg, ",")
		f.body, _ = strconv.ParseUint(strings.TrimRight(arg, "?)"), 0, 64)
	}
	place, _, _ = strings.Cut(strings.TrimPrefix(place, "\t"), " +0x")
	if colon := strings.LastIndexByte(place, ':'); colon > 0 {
		f.file = place[:colon]
		f.line, _ = strconv.Atoi(place[colon+1:])
	}
	return f
}

// Calls are the functions of cells that a goroutine is in, the innermost first.
func (r *Runtime) Calls(s Stack) []Call {
	var calls []Call
	for _, p := range r.places(s) {
		if p.fun != nil {
			calls = append(calls, Call{p.fun, p.pos >> 12, p.pos & (1<<12 - 1)})
		}
	}
	return calls
}

// place is one call in a goroutine: of a function of lowered code, or else of a
// compiled one.
type place struct {
	fun *Func
	pos int
	stackFrame
}

// places are the calls in a goroutine that are not of the interpreter.
func (r *Runtime) places(s Stack) []place {
	var bodies map[uint64]string
	if r.Bodies != nil {
		bodies = r.Bodies()
	}
	r.traces.mu.Lock()
	defer r.traces.mu.Unlock()
	var list []place
	callee, first := "", true
	compiled := r.traces.compiled[s.ID]
	for _, frame := range s.frames {
		if frame.body == 0 {
			if !isInterpreter(frame.name) {
				list = append(list, place{stackFrame: frame})
				callee = ""
			}
			continue
		}
		lowered := bodies[frame.body]
		f := r.traces.funcs[lowered]
		if f == nil {
			continue
		}
		before := callee
		callee = lowered
		if f.Hidden {
			continue
		}
		if c := r.traces.funcs[before]; c != nil && c != f && c.Versions != "" && c.Versions == f.Versions {
			continue // it only calls the newer one
		}
		pos := f.at(before)
		if n := len(compiled); n > 0 && compiled[n-1].Func.Name == f.Name && compiled[n-1].Func.File == f.File {
			for _, c := range compiled {
				pos = c.Line<<12 | min(c.Column, 1<<12-1)
				if n--; n > 0 {
					list = append(list, place{fun: c.Func, pos: pos})
				}
			}
			compiled = nil
		}
		if first && s.ended {
			pos = s.pos
		}
		first = false
		list = append(list, place{fun: f, pos: pos})
	}
	return list
}

// isInterpreter says whether a compiled function is part of what runs cells.
func isInterpreter(name string) bool {
	for _, p := range []string{"github.com/traefik/yaegi/", "gocuda/kernel/", "reflect.", "runtime.", "main.", "panic"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
