package golang

import (
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestInterruptedWhere: an interrupted cell says where it was, and where its other
// goroutines were.
func TestInterruptedWhere(t *testing.T) {
	const locked = `in 3 goroutines \[sync.Mutex.Lock\]|^In\[2\]:6:2 .*in 2 goroutines \[sync.Mutex.Lock\]`
	for _, test := range []struct {
		code, want string
		// Of what runs little is known before it is interrupted: stays is that, if it
		// is less than what the cell says then, and the cell prints when it has come
		// there.
		stays string
	}{
		{"n := 0; fmt.Print(`runs`)\nfor {\n\tn++\n}", "In[2]:2:1", ".*"},
		{"func spin() (n int) {fmt.Print(`runs`)\n\tfor {\n\t\tn++\n\t}\n}\nspin()", "In[2]:2:2 main.spin, In[2]:6:1", ".*"},
		{"func wait(c chan int) {\n\tfmt.Print()\n\t<-c\n}\nfunc all() {\n\tx := make(chan int)\n\twait(x)\n}\nall()", "In[2]:3:2 main.wait, In[2]:7:2 main.all, In[2]:9:1", ""},
		{"started.Add(1)\ngo func() {\n\tstarted.Done()\n\tselect {}\n}()\nstarted.Wait()\ntime.Sleep(time.Hour)", "In[2]:7:1, in a goroutine [select (no cases)]:, In[2]:4:2 func1", ""},
		{"type T struct{}\nfunc (*T) run() {\n\tstarted.Done()\n\tvar mu sync.Mutex\n\tmu.Lock()\n\tmu.Lock()\n}\nstarted.Add(3)\nfor range 3 { go new(T).run() }\nstarted.Wait(); fmt.Print(`runs`)\nfor {}", "In[2]:11:1, in 3 goroutines [sync.Mutex.Lock]:, In[2]:6:2 main.(*T).run", locked},
		{"c := make(chan int)\ngo func() {\n\tfor x := range c {\n\t\tfmt.Print(x)\n\t}\n}()\nfor {\n\tselect {\n\tcase c <- 1:\n\t\ttime.Sleep(time.Hour)\n\t}\n}", "In[2]:10:3, in a goroutine [chan receive]:, In[2]:3:2 func1", ""},
		{"sort.Slice(make([]int, 3), func(i, j int) bool {\n\tfor {\n\t\ttime.Sleep(time.Millisecond)\n\t}\n})", "In[2]:3:3 func1, In[2]:1:1", ""},
	} {
		runs := make(written, 1)
		ev, err := New(Options{Stdout: runs, Stderr: runs})
		if err != nil {
			t.Fatal(err)
		}
		ev.Eval("In[1]", "var started sync.WaitGroup", false)
		over := make(chan bool)
		var watch sync.WaitGroup
		watch.Go(func() {
			stays := regexp.MustCompile(test.stays)
			if test.stays == "" {
				stays = regexp.MustCompile("^" + regexp.QuoteMeta(test.want) + "$")
			} else {
				select {
				case <-runs:
				case <-over:
				}
			}
			places := func() string {
				ev.run.mu.Lock()
				g := ev.run.group
				ev.run.mu.Unlock()
				if g == nil {
					return ""
				}
				return stayedAt(ev.texts.interrupted(ev.rt.Where(g, ev.rt.Stacks(g))))
			}
			for end := time.Now().Add(time.Minute); !stays.MatchString(places()) && time.Now().Before(end); {
				select {
				case <-over:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
			ev.Interrupt()
		})
		e := ev.Eval("In[2]", test.code, false).Err
		close(over)
		if e == nil || e.Name != "Interrupted" {
			t.Fatalf("%s\ngave %v", test.code, e)
		}
		watch.Wait()
		if text := stayedAt(e); text != test.want {
			t.Errorf("%s\nwas interrupted at\n%s\nwant\n%s", test.code, text, test.want)
		}
	}
}

// written tells that something was written.
type written chan bool

func (w written) Write(p []byte) (int, error) {
	select {
	case w <- true:
	default:
	}
	return len(p), nil
}

// stayedAt is what an error says of where a cell's goroutines were.
func stayedAt(e *Error) string {
	var places []string
	for _, line := range strings.Split(e.Plain(), "\n")[1:] {
		if !strings.HasPrefix(line, sourceIndent) {
			places = append(places, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(places, ", ")
}
