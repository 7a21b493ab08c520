package golang

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// aside is a shell with what its cells print.
type aside struct {
	*Shell
	mu       sync.Mutex
	out, err bytes.Buffer
	printed  chan bool // has something when there is more in out
}

func (a *aside) text() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.out.String()
}

type locked struct {
	*aside
	to *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.printed <- true:
	default:
	}
	return l.to.Write(p)
}

func newAside(t *testing.T, ev *Evaluator) *aside {
	a := &aside{printed: make(chan bool, 1)}
	a.Shell = ev.Aside(a, locked{a, &a.out}, locked{a, &a.err})
	t.Cleanup(a.Release)
	return a
}

var shellCells = flag.Int("cells", 200, "how many cells run in eight shells")

// Eight shells run cells side by side: each has its own output, value, trace and
// interrupt, and they share names.
func TestShellsGoroutines(t *testing.T) {
	cells := *shellCells / 8
	s := newSession(t)
	s.run("import \"sync\"\nvar mu sync.Mutex\ntotal := 0\nfunc add(n int) int { mu.Lock(); defer mu.Unlock(); total += n; return total }")
	var group sync.WaitGroup
	for i := range 8 {
		a := newAside(t, s.ev)
		group.Go(func() {
			for n := range cells {
				name := fmt.Sprintf("S%d[%d]", i, n)
				before := len(a.text())
				switch n % 5 {
				case 0: // its goroutines print to it
					r := a.Eval(name, fmt.Sprintf("func f%d() int { return %d }\ndone%d := make(chan bool)\ngo func() { fmt.Println(%q, f%d()); done%d <- true }()\n<-done%d\nadd(1)", i, n, i, name, i, i, i), true)
					if r.Err != nil {
						t.Errorf("%s: %v", name, r.Err.Plain())
					}
					if got, want := a.text()[before:], fmt.Sprintf("%s %d\n", name, n); got != want {
						t.Errorf("%s printed %q, want %q", name, got, want)
					}
				case 1: // its value
					if r := a.Eval(name, fmt.Sprintf("v%d := %d\nadd(1)\nv%d * 2", i, n, i), false); r.Err != nil || r.Value == nil || r.Value.Data["text/plain"] != fmt.Sprint(2*n) {
						t.Errorf("%s: %+v", name, r)
					}
				case 2: // its error, with its own lines
					r := a.Eval(name, "add(1)\n\nvar m map[int]int\nm[1]++", true)
					if r.Err == nil || !strings.Contains(r.Err.Plain(), name+":4") {
						t.Errorf("%s: %+v", name, r.Err)
					}
				case 3: // its interrupt
					done := make(chan Result)
					go func() { done <- a.Eval(name, fmt.Sprintf("add(1)\nfmt.Println(%q)\nfor { }", name), true) }()
					for !strings.Contains(a.text()[before:], name) {
						<-a.printed
					}
					a.Interrupt()
					if r := <-done; r.Err == nil || r.Err.Name != "Interrupted" || !strings.Contains(r.Err.Plain(), name+":") {
						t.Errorf("%s: %+v", name, r.Err)
					}
				case 4:
					if r := a.Eval(name, "nonesuch + 1", true); r.Err == nil || r.Err.Name != "CompileError" {
						t.Errorf("%s: %+v", name, r.Err)
					}
					if r := a.Eval(name, "add(1)", true); r.Err != nil {
						t.Errorf("%s: %v", name, r.Err.Plain())
					}
				}
			}
		})
	}
	group.Wait()
	if got := s.run("total"); got != fmt.Sprintf("=> %d\n", 8*cells) {
		t.Errorf("total %s", got)
	}
}

// A cell beside another wakes it, and an interrupt hits the one that it is meant for.
func TestShellsInterrupt(t *testing.T) {
	s := newSession(t)
	s.run("woken := make(chan string)\nstarted := make(chan bool, 1)")
	waits := make(chan Result, 1)
	a, b := newAside(t, s.ev), newAside(t, s.ev)
	go func() { waits <- s.ev.Eval("In[9]", "started <- true\n<-woken", false) }()
	loops := make(chan Result, 1)
	go func() {
		loops <- a.Eval("A[1]", "<-started\nfmt.Println(`loops`)\nfor { }", true)
	}()
	<-a.printed
	cell, line := s.ev.Where()
	for end := time.Now().Add(time.Minute); line == 1 && time.Now().Before(end); time.Sleep(time.Millisecond) { // it has sent, and not gone on
		cell, line = s.ev.Where()
	}
	if cell != "In[9]" || line != 2 {
		t.Errorf("the main shell is in %s, line %d", cell, line)
	}
	if cell, _ := a.Where(); cell != "A[1]" {
		t.Errorf("a is in %s", cell)
	}
	b.Interrupt() // which runs nothing
	a.Interrupt()
	if r := <-loops; r.Err == nil || r.Err.Name != "Interrupted" {
		t.Errorf("a: %+v", r.Err)
	}
	if r := b.Eval("B[1]", "woken <- `by b`", true); r.Err != nil {
		t.Error(r.Err.Plain())
	}
	if r := <-waits; r.Err != nil || r.Value.Data["text/plain"] != `"by b"` {
		t.Errorf("the main shell: %+v", r)
	}
}
