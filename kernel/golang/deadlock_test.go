package golang

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// What waits for what cannot come, and what seems to. A program is compared with
// what go run says; behind => is what a cell's error says.
var deadlocks = []struct{ name, code, program, cell string }{
	{"receive", "c := make(chan int)\nfmt.Println(1)\n<-c", "1\nfatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\n    p.go:5:1  main.main\nexit status 2\n", "1\nDeadlock: 3:1"},
	{"wait group", "var wg sync.WaitGroup\nwg.Add(2)\ngo func() {\n\twg.Done()\n}()\nwg.Wait()", "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [sync.WaitGroup.Wait]:\n    p.go:8:1  main.main\nexit status 2\n", "Deadlock: 6:1"},
	{"two goroutines", "a, b := make(chan int), make(chan int)\ngo func() {\n\ta <- 1\n\tb <- 1\n}()\n<-b", "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\n    p.go:8:1  main.main\n\ngoroutine 2 [chan send]:\n    p.go:5:2  main.main.func1\nexit status 2\n", "Deadlock: 6:1, in a goroutine [chan send]:, 3:2 func1"},
	{"mutex", "var mu sync.RWMutex\nmu.RLock()\nmu.Lock()", "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [sync.RWMutex.Lock]:\n    p.go:5:1  main.main\nexit status 2\n", "Deadlock: 3:1"},
	{"range", "c := make(chan int, 1)\nc <- 1\nfor x := range c {\n\tfmt.Println(x)\n}", "1\nfatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\n    p.go:5:1  main.main\nexit status 2\n", "1\nDeadlock: 3:1"},
	{"select", "select {}", "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [select (no cases)]:\n    p.go:3:1  main.main\nexit status 2\n", "Deadlock: 1:1"},
	{"main has ended", "go func() { time.Sleep(time.Millisecond) }()\nruntime.Goexit()", "fatal error: no goroutines (main called runtime.Goexit) - deadlock!\nexit status 2\n", "Goexit: "},
	{"main has ended before another waits", "go func() { select {} }()\nruntime.Goexit()", "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [select (no cases)]:\n    p.go:3:13  main.main.func1\nexit status 2\n", "Goexit: "},
	{"sleep", "c := make(chan int)\ngo func() { time.Sleep(700 * time.Millisecond); c <- 1 }()\nfmt.Println(<-c)", "1\n", "1"},
	{"timer", "fmt.Println((<-time.After(700 * time.Millisecond)).IsZero())", "false\n", "false"},
	{"timeout", "ctx, stop := context.WithTimeout(context.Background(), 700*time.Millisecond)\ndefer stop()\n<-ctx.Done()\nfmt.Println(ctx.Err())", "context deadline exceeded\n", "context deadline exceeded"},
	{"process", "c := make(chan error)\ngo func() { c <- exec.Command(\"sleep\", \"0.7\").Run() }()\nfmt.Println(<-c)", "<nil>\n", "<nil>"},
}

// TestDeadlocks runs each in a process of its own: goroutines of other tests might
// wake one.
func TestDeadlocks(t *testing.T) {
	if i := os.Getenv("GOCUDA_TEST_DEADLOCK"); i != "" {
		runDeadlock(t, i)
		return
	}
	for i, d := range deadlocks {
		for _, kind := range []string{"program", "cell"} {
			t.Run(d.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				self := exec.Command(os.Args[0], "-test.run=^TestDeadlocks$")
				self.Env = append(os.Environ(), fmt.Sprintf("GOCUDA_TEST_DEADLOCK=%s %d", kind, i))
				out, err := self.Output()
				want := d.program
				if kind == "cell" {
					want = d.cell
				}
				if got := string(out); strings.TrimSpace(got) != strings.TrimSpace(want) {
					t.Errorf("%s\ngave\n%s(%v)\nwant\n%s", d.code, got, err, want)
				}
			})
		}
	}
}

func runDeadlock(t *testing.T, which string) {
	var kind string
	var i int
	fmt.Sscan(which, &kind, &i)
	code := deadlocks[i].code
	out := new(bytes.Buffer)
	if kind == "program" {
		imports := ""
		for _, p := range []string{"context", "fmt", "os/exec", "runtime", "sync", "time"} {
			if regexp.MustCompile(`\b` + p[strings.LastIndexByte(p, '/')+1:] + `\.`).MatchString(code) {
				imports += fmt.Sprintf("%q;", p)
			}
		}
		status := RunProgram(Options{Stdout: out, Stderr: out}, []File{{"p.go", "package main; import (" + imports + ")\nfunc main() {\n" + code + "\n}\n"}}, nil)
		if lines := strings.Split(out.String(), "\n"); status != 0 {
			text := ""
			for _, line := range lines {
				if !strings.HasPrefix(line, sourceIndent) {
					text += line + "\n"
				}
			}
			fmt.Printf("%sexit status %d\n", strings.TrimSuffix(text, "\n"), status)
			os.Exit(0)
		}
		fmt.Print(out)
		os.Exit(0)
	}
	ev, err := New(Options{Stdout: out, Stderr: out})
	if err != nil {
		t.Fatal(err)
	}
	res := ev.Eval("In[1]", code, false)
	fmt.Print(out)
	if res.Err != nil {
		var places []string
		for _, line := range strings.Split(res.Err.Plain(), "\n")[1:] {
			if !strings.HasPrefix(line, sourceIndent) {
				places = append(places, strings.TrimPrefix(strings.Join(strings.Fields(line), " "), "In[1]:"))
			}
		}
		fmt.Printf("%s: %s\n", res.Err.Name, strings.Join(places, ", "))
	}
	os.Exit(0)
}

// TestDeadlocksBesideShells: once a subshell has run a cell, another of its cells may
// wake those that wait. So a deadlock is named, and the cell goes on.
func TestDeadlocksBesideShells(t *testing.T) {
	if os.Getenv("GOCUDA_TEST_DEADLOCK") == "" { // goroutines of other tests might wake one
		self := exec.Command(os.Args[0], "-test.run=^TestDeadlocksBesideShells$", "-test.v")
		self.Env = append(os.Environ(), "GOCUDA_TEST_DEADLOCK=shells")
		if out, err := self.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	told := &aside{printed: make(chan bool, 1)}
	ev, err := New(Options{Stdout: locked{told, &told.out}, Stderr: locked{told, &told.err}})
	if err != nil {
		t.Fatal(err)
	}
	other := newAside(t, ev)
	other.Eval("S[1]", "1", true)
	for i, end := range []struct {
		what string
		do   func()
		want string
	}{
		{"a cell of the other shell wakes it", func() { other.Eval("S[2]", "c <- 5", true) }, "5"},
		{"an interrupt", ev.Interrupt, "Interrupted"},
	} {
		done := make(chan Result, 1)
		go func() { done <- ev.Eval(fmt.Sprintf("In[%d]", i+1), "c := make(chan int)\n\n<-c", false) }()
		place := fmt.Sprintf("In[%d]:3:1", i+1)
		for text := ""; !strings.Contains(text, place); {
			select {
			case <-told.printed:
			case r := <-done:
				t.Fatalf("%s: it ended by itself: %+v", end.what, r)
			}
			told.mu.Lock()
			text = told.err.String()
			told.mu.Unlock()
		}
		if text := told.err.String(); !strings.Contains(text, "only a cell of another shell can send") {
			t.Errorf("%s: told %q", end.what, text)
		}
		end.do()
		r := <-done
		got := fmt.Sprint(r.Value)
		if r.Value != nil {
			got = fmt.Sprint(r.Value.Data["text/plain"])
		}
		if r.Err != nil {
			got = r.Err.Name
		}
		if got != end.want {
			t.Errorf("%s: got %s, want %s", end.what, got, end.want)
		}
	}
	if n := strings.Count(told.err.String(), "otherwise this is a deadlock"); n != 2 {
		t.Errorf("told %d times, not twice", n)
	}
}

// What a long session has used and is done with: none of it wakes anybody.
var usedUp = []string{
	"quick := make(chan int, 1)\nquick <- 1\nselect {\ncase <-quick:\ncase <-time.After(time.Hour):\n}",
	"func wait() {\n\tt := time.NewTimer(time.Hour)\n\tdefer t.Stop()\n\ttick := time.NewTicker(time.Hour)\n\tdefer tick.Stop()\n}\nwait()",
	"ctx, cancel := context.WithTimeout(context.Background(), time.Hour)\ncancel()\n<-ctx.Done()",
	"rang := make(chan bool)\ntime.AfterFunc(time.Millisecond, func() { close(rang) })\n<-rang",
	"go func() { select {} }()",
	"panic(1)",
	"<-make(chan int)",
}

// What may still wake a cell that waits.
var mayRing = []string{
	"bell := make(chan int)\nringer := time.AfterFunc(time.Hour, func() { bell <- 1 })",
	"ticks := time.NewTicker(time.Hour)",
	"later, stop := context.WithDeadline(context.Background(), time.Now().Add(time.Hour))",
	"again := time.NewTimer(time.Hour)\nagain.Reset(time.Hour)",
}

// A deadlock late in a session is named, whatever the cells before it used; what may
// still ring keeps it from being one.
func TestDeadlocksLateInASession(t *testing.T) {
	which := os.Getenv("GOCUDA_TEST_DEADLOCK")
	if which == "" { // goroutines of other tests might wake one
		for _, which := range []string{"late", "ring 0", "ring 1", "ring 2", "ring 3"} {
			t.Run(which, func(t *testing.T) {
				t.Parallel()
				self := exec.Command(os.Args[0], "-test.run=^TestDeadlocksLateInASession$", "-test.v", "-test.timeout=2m")
				self.Env = append(os.Environ(), "GOCUDA_TEST_DEADLOCK="+which)
				if out, err := self.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
		return
	}
	ev, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range usedUp[:len(usedUp)-2] {
		if r := ev.Eval("before", code, false); r.Err != nil {
			t.Fatalf("%s: %s", code, r.Err.Plain())
		}
	}
	var ring int
	if n, _ := fmt.Sscanf(which, "ring %d", &ring); n == 0 {
		ev.Eval("panics", usedUp[len(usedUp)-2], false)
		for range 2 {
			r := ev.Eval("In[9]", usedUp[len(usedUp)-1], false)
			if r.Err == nil || r.Err.Name != "Deadlock" {
				t.Errorf("it ended with %+v", r)
			} else if text := r.Err.Plain(); strings.Contains(text, "[chan receive") {
				t.Errorf("it reports a cell that has failed:\n%s", text)
			}
		}
		return
	}
	if r := ev.Eval("rings", mayRing[ring], false); r.Err != nil {
		t.Fatal(r.Err.Plain())
	}
	if !ev.rt.Alarmed() {
		t.Fatalf("%s: nothing is to ring", mayRing[ring])
	}
	ev.Eval("stops", []string{"ringer.Stop()\nringer = nil", "ticks = nil", "stop()", "again = nil"}[ring], false)
	for try := 0; ev.rt.Alarmed(); try++ { // the runtime forgets a stopped timer when it comes upon it
		if try == 1000 {
			t.Skip("the runtime has not let go of the timer")
		}
		ev.Eval("again", "time.Sleep(time.Millisecond)", false)
	}
}
