//go:build unix

package evaluator

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"gocuda/kernel/session"
	"gocuda/kernel/session/sessiontest"
)

// shape is cells that would end a compiled program, or hang in it.
type shape struct {
	name  string
	cells string // parted by lines of ---; the last one is the one in question
	want  string // in its error, which begins with the error's name, or in what it shows
	stop  bool   // it is interrupted
}

const recursion = "func f(n int) int { return f(n+1) + 1 }\n"

const nested = "type N struct { Next *N }\nvar n *N\nfor range 3_000_000 { n = &N{n} }\n"

// shapes are survived: no variable is lost.
var shapes = []shape{
	// Recursion.
	{name: "a function calls itself", cells: recursion + "f(0)", want: "StackOverflow: stack overflow: a function calls itself"},
	{name: "two functions call each other", cells: "func a(n int) int { return b(n) + 1 }\nfunc b(n int) int { return a(n) + 1 }\na(0)", want: "StackOverflow"},
	{name: "a closure calls itself", cells: "var f func(n int) int\nf = func(n int) int { return f(n+1) + 1 }\nf(0)", want: "StackOverflow"},
	{name: "a method calls itself", cells: "type T struct{}\nfunc (t T) M() int { return t.M() + 1 }\nT{}.M()", want: "StackOverflow"},
	{name: "a method of an interface calls itself", cells: "type I interface { M() int }\ntype U struct{ i I }\nfunc (u *U) M() int { return u.i.M() + 1 }\nu := &U{}\nu.i = u\nu.M()", want: "StackOverflow"},
	{name: "an instance calls itself", cells: "func g[T any](x T) T { return g(x) }\nfunc h(x int) int { return g(x) + 1 }\nh(1)", want: "StackOverflow"},
	{name: "a function defers itself", cells: "func h() { defer h(); h() }\nh()", want: "StackOverflow"},
	{name: "a function defers itself, and recovers", cells: "func h() { defer func() { recover(); h() }(); h() }\nh()", want: "StackOverflow"},
	{name: "recursion after recover", cells: recursion + "func g() { defer func() { recover() }(); f(0) }\ng()", want: "StackOverflow"},
	{name: "recursion in a goroutine that the cell waits for", cells: recursion + "c := make(chan int)\ngo func() { c <- f(0) }()\n<-c", want: "StackOverflow"},
	{name: "recursion in a goroutine of a wait group", cells: recursion + "var wg sync.WaitGroup\nwg.Add(1)\ngo func() { defer wg.Done(); f(0) }()\nwg.Wait()", want: "StackOverflow"},
	{name: "recursion in a goroutine with a lock", cells: recursion + "var mu sync.Mutex\ngo func() { mu.Lock(); f(0); mu.Unlock() }()\ntime.Sleep(10 * time.Millisecond)\nmu.Lock()", want: "StackOverflow"},
	{name: "recursion in eight goroutines", cells: recursion + "c := make(chan int)\nfor range 8 { go func() { c <- f(0) }() }\n<-c", want: "StackOverflow"},
	{name: "recursion in a timer", cells: recursion + "c := make(chan int)\ntime.AfterFunc(0, func() { c <- f(0) })\n<-c", want: "StackOverflow"},
	{name: "recursion in a comparison", cells: "s := []int{3, 2, 1}\nvar less func(a, b int) int\nless = func(a, b int) int { slices.SortFunc(s, less); return 0 }\nslices.SortFunc(s, less)", want: "StackOverflow"},
	{name: "String calls itself", cells: "type S struct{}\nfunc (s S) String() string { return s.String() + \"\" }\nfmt.Println(S{})", want: "StackOverflow"},
	{name: "Error prints itself", cells: "type E struct{}\nfunc (e E) Error() string { return fmt.Sprint(e) }\nfmt.Println(E{})", want: "StackOverflow"},
	{name: "a value's String is shown that calls itself", cells: "type S2 struct{}\nfunc (s S2) String() string { return fmt.Sprintf(\"%v\", s) }\nS2{}", want: "StackOverflow"},
	{name: "MarshalJSON marshals itself", cells: "type J struct{}\nfunc (j J) MarshalJSON() ([]byte, error) { return json.Marshal(j) }\njson.Marshal(J{})", want: "StackOverflow"},
	{name: "json of a deep value", cells: nested + "json.Marshal(n)", want: "StackOverflow"},
	{name: "gob of a deep value", cells: "import \"encoding/gob\"\n" + nested + "gob.NewEncoder(io.Discard).Encode(n)", want: "StackOverflow"},
	{name: "comparing deep values", cells: nested + "m := n\nn = nil\nfor range 3_000_000 { n = &N{n} }\nreflect.DeepEqual(n, m)", want: "StackOverflow"},
	{name: "json of a map in itself", cells: "m := map[string]any{}\nm[\"m\"] = m\n_, err := json.Marshal(m)\nerr", want: "cycle"},
	{name: "printing a value in itself", cells: "m := map[string]any{}\nm[\"m\"] = m\nfmt.Println(m)", want: "StackOverflow"},
	{name: "showing a slice in itself", cells: "l := []any{nil}\nl[0] = l\nl", want: ""},
	{name: "a deep value is shown", cells: nested + "n", want: ""},
	{name: "a template calls itself", cells: "import \"text/template\"\nt := template.Must(template.New(\"x\").Parse(`{{define \"T\"}}{{template \"T\"}}{{end}}{{template \"T\"}}`))\nerr := t.Execute(io.Discard, nil)\nerr", want: "exceeded maximum template depth"},
	{name: "deep JSON is read", cells: "var v any\nerr := json.Unmarshal([]byte(strings.Repeat(\"[\", 3_000_000)), &v)\nerr", want: "exceeded max depth"},
	{name: "the stack is made short", cells: "debug.SetMaxStack(1)\nfunc d(n int) int { if n == 0 { return 7 }; return d(n-1) }\nd(5000)", want: "7"},

	// Locks.
	{name: "a mutex that is not locked", cells: "var mu sync.Mutex\nmu.Unlock()", want: "FatalError: sync: unlock of unlocked mutex"},
	{name: "that mutex afterwards", cells: "var mu sync.Mutex\n---\nmu.Unlock()\n---\nmu.Lock()\nmu.Unlock()\nmu.TryLock()", want: "true"},
	{name: "a deferred unlock too many", cells: "var mu sync.Mutex\nfunc f() { mu.Lock(); defer mu.Unlock(); mu.Unlock() }\nf()", want: "FatalError: sync: unlock of unlocked mutex"},
	{name: "a mutex in a struct", cells: "type A struct { sync.Mutex; n int }\nvar a A\na.Unlock()", want: "FatalError"},
	{name: "a copied mutex", cells: "type A struct { sync.Mutex; n int }\nvar a A\na.Lock()\nb := a\nb.Unlock()\nb.Unlock()", want: "FatalError"},
	{name: "a locker", cells: "var l sync.Locker = new(sync.Mutex)\nl.Unlock()", want: "FatalError"},
	{name: "recover does not stop it", cells: "func f() { defer func() { recover() }(); var mu sync.Mutex; mu.Unlock() }\nf()", want: "FatalError"},
	{name: "a read-write mutex", cells: "var rw sync.RWMutex\nrw.Unlock()", want: "FatalError: sync: Unlock of unlocked RWMutex"},
	{name: "a read-write mutex, reading", cells: "var rw sync.RWMutex\nrw.RUnlock()", want: "FatalError: sync: RUnlock of unlocked RWMutex"},
	{name: "read-write mutexes afterwards", cells: "var rw, rw2 sync.RWMutex\n---\nrw.Unlock()\n---\nrw2.RUnlock()\n---\nrw.Lock(); rw.Unlock(); rw.RLock(); rw.RUnlock(); rw2.Lock(); rw2.Unlock()\nrw.TryLock() && rw2.TryRLock()", want: "true"},
	{name: "a condition whose lock is free", cells: "c := sync.NewCond(&sync.Mutex{})\nc.Wait()", want: "FatalError"},
	{name: "an unlock in a goroutine", cells: "var mu sync.Mutex\nc := make(chan int)\ngo func() { mu.Unlock(); c <- 1 }()\n<-c", want: "FatalError"},
	{name: "an unlock in a timer", cells: "var mu sync.Mutex\nc := make(chan int)\ntime.AfterFunc(0, func() { mu.Unlock(); c <- 1 })\n<-c", want: "FatalError"},
	{name: "a lock taken twice", cells: "var mu sync.Mutex\nmu.Lock()\nmu.Lock()", want: "Deadlock"},
	{name: "a read lock under a lock", cells: "var rw sync.RWMutex\nrw.Lock()\nrw.RLock()", want: "Deadlock"},
	{name: "once within itself", cells: "var once sync.Once\nvar f func()\nf = func() { once.Do(f) }\nf()", want: "Deadlock"},
	{name: "a wait group below zero", cells: "var wg sync.WaitGroup\nwg.Done()", want: "negative WaitGroup counter"},

	// Goroutines and channels.
	{name: "a map written at once", cells: "m := map[int]int{}\nvar wg sync.WaitGroup\nfor range 8 { wg.Go(func() { for k := range 1_000_000 { m[k%10]++ } }) }\nfor k := range 1_000_000 { m[k%10]++ }\nwg.Wait()", want: "FatalError: concurrent map"},
	{name: "a map written by the library at once", cells: "h := http.Header{}\nvar wg sync.WaitGroup\nfor range 8 { wg.Go(func() { for range 300_000 { h.Set(\"A\", \"b\") } }) }\nfor range 300_000 { h.Set(\"B\", \"b\") }\nwg.Wait()", want: "FatalError: concurrent map"},
	{name: "a wait group that others still use", cells: "var wg sync.WaitGroup\nfor range 8 { wg.Go(func() { time.Sleep(50 * time.Millisecond) }) }\n---\nvar wg sync.WaitGroup\nwg.Add(1)\nwg.Wait()\ntime.Sleep(time.Second)", want: "negative WaitGroup counter"},
	{name: "a library's goroutine panics", cells: "var wg sync.WaitGroup\ntime.AfterFunc(0, wg.Done)\ntime.Sleep(time.Second)", want: "negative WaitGroup counter"},
	{name: "a go statement of a library's function", cells: "var mu sync.Mutex\ngo mu.Unlock()\ntime.Sleep(time.Second)", want: "FatalError: sync: unlock"},
	{name: "a library's goroutine unlocks", cells: "var mu sync.Mutex\ntime.AfterFunc(0, mu.Unlock)\ntime.Sleep(time.Second)", want: "FatalError: sync: unlock"},
	{name: "nothing to select", cells: "select {}", want: "Deadlock"},
	{name: "a nil channel", cells: "var c chan int\n<-c", want: "Deadlock"},
	{name: "goroutines wait for one another", cells: "a, b := make(chan int), make(chan int)\ngo func() { a <- <-b }()\ngo func() { b <- <-a }()\n<-a", want: "Deadlock"},
	{name: "a closed channel", cells: "c := make(chan int)\nclose(c)\nc <- 1", want: "send on closed channel"},
	{name: "Goexit", cells: "runtime.Goexit()", want: "Goexit"},
	{name: "few threads", cells: "debug.SetMaxThreads(1)", want: ""},
	{name: "a thread that ends", cells: "done := make(chan bool)\ngo func() { defer close(done); runtime.LockOSThread(); runtime.Goexit() }()\n<-done", want: ""},
	{name: "a hundred thousand goroutines", cells: "c := make(chan int)\nfor range 100_000 { go func() { <-c }() }\n---\nclose(c)\nlen(c)", want: "0"},

	{name: "an interrupt among a hundred thousand goroutines", cells: "c := make(chan int)\nfor range 100_000 { go func() { <-c }() }\n---\nfor {}", want: "Interrupted", stop: true},

	// Memory.
	{name: "make", cells: "n := 1 << 40\nmake([]int, n)", want: "out of memory: make wants 8192.0 GiB"},
	{name: "make in a function", cells: "func cmk(n int) int { s := make([]int, n); s[0] = 1; return len(s) }\ncmk(1 << 40)", want: "out of memory"},
	{name: "make in a compiled function", cells: "%%compile\nfunc cmk2(n int) int { s := make([]int, n); s[0] = 1; return len(s) }\n---\ncmk2(1 << 40)", want: "out of memory"},
	{name: "a map with room", cells: "n := 1 << 36\nm := make(map[int]int, n)\nlen(m)", want: ""},
	{name: "a channel with room", cells: "n := 1 << 40\nmake(chan int, n)", want: "out of memory"},
	{name: "a variable", cells: "var big [1 << 40]int\nbig[3] = 1", want: "out of memory: big wants 8192.0 GiB"},
	{name: "a variable of a function", cells: "func f() int { var big [1 << 40]int; big[3] = 1; return big[2] }\nf()", want: "out of memory"},
	{name: "a literal", cells: "type T struct { a [1 << 40]int }\nt := &T{}\nt.a[5]", want: "out of memory"},
	{name: "a value in a map", cells: "m := map[string][1 << 40]byte{}\nm[`a`] = [1 << 40]byte{}", want: "out of memory"},
	{name: "new", cells: "p := new([1 << 36]int)\np[3] = 1", want: "out of memory"},
	{name: "append", cells: "n := 1 << 40\ns := append([]byte{}, make([]byte, n)...)\nlen(s)", want: "out of memory"},
	{name: "bytes.Repeat", cells: "n := 1 << 40\nbytes.Repeat([]byte(`x`), n)", want: "out of memory"},
	{name: "strings.Repeat", cells: "n := 1 << 40\nstrings.Repeat(`x`, n)", want: "out of memory"},
	{name: "Builder.Grow", cells: "var b strings.Builder\nb.Grow(1 << 40)", want: "out of memory"},
	{name: "Buffer.Grow", cells: "var b bytes.Buffer\nb.Grow(1 << 40)", want: "too large"},
	{name: "slices.Grow", cells: "slices.Grow([]int{}, 1 << 40)", want: "out of memory"},
	{name: "reflect.MakeSlice", cells: "reflect.MakeSlice(reflect.TypeOf([]int{}), 1 << 40, 1 << 40)", want: "out of memory"},
	{name: "image.NewRGBA", cells: "import \"image\"\nimage.NewRGBA(image.Rect(0, 0, 1 << 20, 1 << 20))", want: "out of memory"},
	{name: "big.Int.Lsh", cells: "import \"math/big\"\nnew(big.Int).Lsh(big.NewInt(1), 1 << 43)", want: "out of memory"},
	{name: "big.Int.Exp", cells: "import \"math/big\"\nnew(big.Int).Exp(big.NewInt(2), new(big.Int).Lsh(big.NewInt(1), 40), nil)", want: "", stop: true},
	{name: "allocation in a goroutine", cells: "c := make(chan int)\ngo func() { n := 1 << 40; c <- len(strings.Repeat(`x`, n)) }()\n<-c", want: "out of memory"},
	{name: "an address without memory", cells: "p := uintptr(0xdeadbeef000)\n*(*int)(unsafe.Pointer(p))", want: "invalid memory address"},
	{name: "a write to memory that is only read", cells: "s := `constant`\nb := unsafe.Slice(unsafe.StringData(fmt.Sprint(s)[:0] + reflect.TypeOf(s).Name()), 3)\nb[0] = 'x'", want: "invalid memory address"},
	{name: "a file that has become shorter", cells: "f := must(os.CreateTemp(``, `x`))\nf.Truncate(4096)\nb := must(syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ, syscall.MAP_SHARED))\nf.Truncate(0)\nos.Remove(f.Name())\nb[7]", want: "invalid memory address"},

	// Files that have no end.
	{name: "%load of a device", cells: "%load /dev/zero", want: "is no file"},
	{name: "%run of a device", cells: "%run /dev/zero", want: "is no file"},

	// What waits, or does not end.
	{name: "a loop", cells: "for {}", want: "Interrupted", stop: true},
	{name: "a wait that a timer could end", cells: "select { case <-make(chan int): case <-time.After(time.Hour): }", want: "Interrupted", stop: true},
	{name: "a sleep in a function", cells: "func nap() { time.Sleep(time.Hour) }\nnap()", want: "Interrupted", stop: true},
	{name: "a loop that recovers", cells: "for { func() { defer func() { recover() }(); panic(1) }() }", want: "Interrupted", stop: true},
	{name: "a loop in a deferred function", cells: "func f() { defer func() { for {} }(); panic(1) }\nf()", want: "Interrupted", stop: true},
	{name: "a loop in the library", cells: "strings.Map(func(r rune) rune { for {} }, `x`)", want: "Interrupted", stop: true},
	{name: "arithmetic of the library", cells: "import \"math/big\"\nx := big.NewInt(3)\nfor { x.Mul(x, x); x.Mod(x, big.NewInt(1000)) }", want: "Interrupted", stop: true},
	{name: "a value that is shown and does not end", cells: "type W struct{}\nfunc (W) String() string { for {} }\nW{}", want: "Interrupted", stop: true},
	{name: "a value that is shown and waits", cells: "type V struct{}\nfunc (V) String() string { time.Sleep(time.Hour); return `` }\nV{}", want: "Interrupted", stop: true},
	{name: "a large picture", cells: "xs := make([]float64, 2_000_000)\nplot.Lines(plot.Axes{}, plot.Series{X: xs, Y: xs})", want: "", stop: true},
}

// TestShapesAreSurvived runs them all in few evaluators, whose variables must stay.
func TestShapesAreSurvived(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("Go's runtime ends the process here")
	}
	var h *sessiontest.Harness
	for i, s := range shapes {
		if h == nil || i%25 == 0 {
			if h != nil {
				h.Close()
			}
			h = startReal(t, nil)
			h.Succeed("kept := 41")
		}
		t.Run(s.name, func(t *testing.T) {
			h.T = t
			defer func() {
				if t.Failed() {
					h.Close()
					h = nil
				}
			}()
			cells := strings.Split(s.cells, "\n---\n")
			var r session.Result
			for k, code := range cells {
				h.Shown()
				if s.stop && k == len(cells)-1 {
					// On a busy machine an interrupt may come before the cell runs, and has no place then.
					for range 5 {
						if r = interrupted(t, h, code); r.Err == nil || s.want != "Interrupted" || strings.Contains(sessiontest.Text(r.Err), "In[1]:") {
							break
						}
					}
				} else {
					r = h.Run(code)
				}
				if r.Restarted {
					t.Fatalf("%s\ncosts the evaluator: %s", code, sessiontest.Text(r.Err))
				}
			}
			got := h.Shown()
			if r.Err != nil {
				got = r.Err.Name + ": " + r.Err.Message
			}
			if !strings.Contains(got, s.want) || (s.want == "" && r.Err != nil && !s.stop) {
				t.Errorf("%s\ngives %.300s, want %s", s.cells, got, s.want)
			}
			if s.want == "Interrupted" && r.Err != nil && !strings.Contains(sessiontest.Text(r.Err), "In[1]:") {
				t.Errorf("%s\ndoes not say where it was: %s", s.cells, sessiontest.Text(r.Err))
			}
			h.Succeed("kept + 1") // others of the shape's goroutines may report theirs meanwhile
			if got := h.Shown(); !strings.Contains(got, "[value 42]\n") {
				t.Errorf("then kept + 1 shows %s", got)
			}
		})
	}
}

// TestDebuggerSurvives: whatever an expression does at a stop, other requests are
// answered, and the cell goes on.
func TestDebuggerSurvives(t *testing.T) {
	for _, expression := range []string{
		"func() int { select {} }()", "<-ch", "func() int { for {} }()", "func() int { runtime.Goexit(); return 1 }()",
		"rec(0)", "func() int { mu.Unlock(); return 1 }()", "len(strings.Repeat(`x`, big))", "func() int { panic(1) }()", "func() int { mu.Lock(); mu.Lock(); return 1 }()",
	} {
		t.Run(expression, func(t *testing.T) {
			stopped := make(chan bool, 8)
			h := startReal(t, func(o *session.Options) {
				output := o.Output
				o.Output = func(out session.Output) {
					if out.Kind == session.Debug && strings.Contains(string(out.Event), `"stopped"`) {
						stopped <- true
					}
					output(out)
				}
			})
			h.Succeed("kept := 41\nch := make(chan int)\nbig := 1 << 40\nvar mu sync.Mutex\nfunc rec(n int) int { return rec(n+1) + 1 }")
			seq := 0
			ask := func(command string, args any) map[string]any {
				t.Helper()
				seq++
				arguments, _ := json.Marshal(args)
				answer := sessiontest.Within(t, command, func() json.RawMessage {
					answer, err := h.Debug(json.RawMessage(fmt.Sprintf(`{"type": "request", "seq": %d, "command": %q, "arguments": %s}`, seq, command, arguments)))
					if err != nil {
						t.Error(err)
					}
					return answer
				})
				var r map[string]any
				json.Unmarshal(answer, &r)
				return r
			}
			const code = "x := 1\nx++\nx"
			ask("initialize", map[string]any{})
			ask("attach", map[string]any{})
			path := ask("dumpCell", map[string]any{"code": code})["body"].(map[string]any)["sourcePath"]
			ask("setBreakpoints", map[string]any{"source": map[string]any{"path": path}, "breakpoints": []any{map[string]any{"line": 2}}})
			for _, end := range []string{"continue", "disconnect", "interrupt"} {
				if end == "interrupt" { // the client has gone
					ask("initialize", map[string]any{})
					ask("attach", map[string]any{})
					ask("setBreakpoints", map[string]any{"source": map[string]any{"path": path}, "breakpoints": []any{map[string]any{"line": 2}}})
				}
				done := make(chan session.Result, 1)
				go func() { done <- h.Execute(session.Cell{Name: "In[2]", Code: code}) }()
				sessiontest.Within(t, "the stop", func() bool { return <-stopped })
				evaluated := make(chan bool, 1)
				go func() {
					ask := json.RawMessage(fmt.Sprintf(`{"type": "request", "seq": 1000, "command": "evaluate", "arguments": {"expression": %q, "context": "watch"}}`, expression))
					h.Debug(ask)
					evaluated <- true
				}()
				select {
				case <-evaluated:
					evaluated <- true
				case <-time.After(300 * time.Millisecond): // it waits, or is not yet there
				}
				if r := ask("threads", map[string]any{}); r["success"] != true {
					t.Errorf("threads: %v", r)
				}
				switch end {
				case "interrupt":
					h.Interrupt()
				default:
					ask(end, map[string]any{"threadId": 1})
				}
				sessiontest.Within(t, "the evaluation after "+end, func() bool { return <-evaluated })
				r := sessiontest.Within(t, "the cell after "+end, func() session.Result { return <-done })
				if r.Restarted || (r.Err == nil) != (end != "interrupt") {
					t.Errorf("the cell after %s: %+v", end, r)
				}
			}
			ask("disconnect", map[string]any{})
			h.Shown()
			h.Shows("kept + 1", "[value 42]\n")
		})
	}
}
