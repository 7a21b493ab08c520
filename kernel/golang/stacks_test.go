package golang

import (
	"strings"
	"testing"
	"time"
)

// TestInterruptedWhere: an interrupted cell says where it was, and where its other
// goroutines were.
func TestInterruptedWhere(t *testing.T) {
	for _, test := range []struct{ code, want string }{
		{"n := 0\nfor {\n\tn++\n}", "In[2]:2:1"},
		{"func spin() (n int) {\n\tfor {\n\t\tn++\n\t}\n}\nspin()", "In[2]:2:2 main.spin, In[2]:6:1"},
		{"func wait(c chan int) {\n\tfmt.Print()\n\t<-c\n}\nfunc all() {\n\tx := make(chan int)\n\twait(x)\n}\nall()", "In[2]:3:2 main.wait, In[2]:7:2 main.all, In[2]:9:1"},
		{"started.Add(1)\ngo func() {\n\tstarted.Done()\n\tselect {}\n}()\nstarted.Wait()\ntime.Sleep(time.Hour)", "In[2]:7:1, in a goroutine [select (no cases)]:, In[2]:4:2 func1"},
		{"type T struct{}\nfunc (*T) run() {\n\tstarted.Done()\n\tvar mu sync.Mutex\n\tmu.Lock()\n\tmu.Lock()\n}\nstarted.Add(3)\nfor range 3 { go new(T).run() }\nstarted.Wait()\nfor {}", "In[2]:11:1, in 3 goroutines [sync.Mutex.Lock]:, In[2]:6:2 main.(*T).run"},
		{"c := make(chan int)\ngo func() {\n\tfor x := range c {\n\t\tfmt.Print(x)\n\t}\n}()\nfor {\n\tselect {\n\tcase c <- 1:\n\t\ttime.Sleep(time.Hour)\n\t}\n}", "In[2]:10:3, in a goroutine [chan receive]:, In[2]:3:2 func1"},
		{"sort.Slice(make([]int, 3), func(i, j int) bool {\n\tfor {\n\t\ttime.Sleep(time.Millisecond)\n\t}\n})", "In[2]:3:3 func1, In[2]:1:1"},
	} {
		s := newSession(t)
		s.run("var started sync.WaitGroup\nvar began = make(chan int, 1)")
		stop := make(chan bool)
		go func() { // until it has come to where it stays
			for last := ""; ; {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
				s.ev.run.mu.Lock()
				g, now := s.ev.run.group, ""
				s.ev.run.mu.Unlock()
				if g == nil {
					continue
				}
				for _, at := range s.ev.rt.Where(g, s.ev.rt.Stacks(g)) {
					now += strings.Join(s.ev.texts.trace(at.Calls), "\n")
				}
				if now != "" && now == last {
					s.ev.Interrupt()
					return
				}
				last = now
			}
		}()
		s.n++
		e := s.ev.Eval("In[2]", test.code, false).Err
		close(stop)
		if e == nil || e.Name != "Interrupted" {
			t.Fatalf("%s\ngave %v", test.code, e)
		}
		var got []string
		for _, line := range strings.Split(e.Plain(), "\n")[1:] {
			if !strings.HasPrefix(line, sourceIndent) {
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
		}
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%s\nwas interrupted at\n%s\nwant\n%s", test.code, text, test.want)
		}
	}
}
