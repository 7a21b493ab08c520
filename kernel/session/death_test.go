//go:build unix

package session

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func text(e *Error) string { return e.Message + "\n" + strings.Join(e.Traceback, "\n") }

func TestWhatAnEvaluatorDiesOf(t *testing.T) {
	for _, test := range []struct {
		code string
		want []string
	}{
		{"kill 9", []string{"SIGKILL"}},
		{"kill 15", []string{"SIGTERM"}},
		{"recurse", []string{"stack overflow", "without end", fmt.Sprint(maxStack)}},
		{"segfault", []string{"segmentation fault"}},
		{"abort", []string{"abort"}},
		{"exit 3", []string{"status 3", "exit"}},
		{"exit 0", []string{"status 0", "exit"}},
		{"warn about to go\nexit 2", []string{"status 2", "about to go"}},
		{"gopanic alas", []string{"panic: alas"}},
		{"fatal", []string{"same time"}},
	} {
		t.Run(test.code, func(t *testing.T) {
			t.Parallel()
			h := start(t, nil)
			h.succeed("set lost\nwarn long ago")
			h.shown()
			r := h.execute("print last line\n" + test.code)
			if r.Err == nil || !r.Restarted {
				t.Fatalf("result %+v", r)
			}
			all := text(r.Err)
			for _, want := range append(test.want, "In[1]", "gone") {
				if !strings.Contains(all, want) {
					t.Errorf("%q is not in the error:\n%s", want, all)
				}
			}
			if strings.Contains(all, ".go:") || strings.Contains(all, "long ago") || len(r.Err.Traceback) > lastLines+6 {
				t.Errorf("the error is not to the point:\n%s", all)
			}
			if got := h.shown(); !strings.Contains(got, "last line\n") || strings.Contains(got, "goroutine") {
				t.Errorf("shown %q", got)
			}
			h.shows("get", "\n")
			if r := h.execute("get"); r.Restarted {
				t.Error("the death is told twice")
			}
		})
	}
}

func TestADeathBetweenCellsIsToldToTheNext(t *testing.T) {
	h := start(t, nil)
	h.succeed("set lost")
	h.shown()
	old := live(h.Session)
	syscall.Kill(old.proc.pid(), syscall.SIGKILL)
	within(t, "the death", func() bool { <-old.dead; return true })
	r := h.execute("print works")
	if r.Err != nil || !r.Restarted {
		t.Errorf("the next cell gave %+v", r)
	}
	got := h.shown()
	if !strings.HasPrefix(got, "[stderr]") || !strings.Contains(got, "SIGKILL") || !strings.Contains(got, "gone") || !strings.HasSuffix(got, "works\n") {
		t.Errorf("shown %q", got)
	}
	h.shows("get", "\n")
}

func TestDeathsInARow(t *testing.T) {
	h := start(t, nil)
	for i := range 10 {
		if r := h.execute("kill 9"); r.Err == nil || !r.Restarted {
			t.Fatalf("death %d: %+v", i, r)
		}
	}
	h.shows("print alive", "alive\n")
}

func TestAnEvaluatorThatDoesNotStart(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := start(t, func(o *Options) { o.Env = []string{"GOCUDA_TEST_EVALUATOR=dies at start", "GOCUDA_TEST_LOG=" + log} })
	until(t, "it has died", func() bool { return live(h.Session) == nil })
	for range 3 {
		r := h.execute("print hello")
		if r.Err == nil || !strings.Contains(text(r.Err), "did not start") || !strings.Contains(text(r.Err), "no sun today") {
			t.Errorf("result %+v", r)
		}
		if _, err := h.Complete("x", 1); err == nil {
			t.Error("an evaluator that is not there completes")
		}
	}
	if b, err := os.ReadFile(log); err != nil || strings.Count(string(b), "started") > 7 {
		t.Errorf("one start and six requests: %s (%v)", b, err)
	}
}

func TestACommandThatIsNotThere(t *testing.T) {
	_, err := Start(Options{Command: []string{"/nonexistent/evaluator"}})
	if err == nil || !strings.Contains(err.Error(), "/nonexistent/evaluator") {
		t.Errorf("error %v", err)
	}
}

func TestNonsenseOverTheLink(t *testing.T) {
	h := start(t, func(o *Options) { o.Env = []string{"GOCUDA_TEST_EVALUATOR=talks nonsense"} })
	if r := h.execute("print hello"); r.Err == nil || !strings.Contains(text(r.Err), "made no sense") {
		t.Errorf("result %+v", r)
	}
	h = start(t, nil)
	r := h.execute("nonsense aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\ndeaf")
	if r.Err == nil || !r.Restarted || !strings.Contains(text(r.Err), "a file descriptor that it did not open") {
		t.Errorf("result %+v", r)
	}
	h.shows("print alive", "alive\n")
}

func TestALinkThatACellCloses(t *testing.T) {
	h := start(t, nil)
	h.succeed("set kept")
	h.shows("close 3\nget", "kept\n")
	for _, code := range []string{"unlink", "unlink\nsleep 100", "sleep 100\nunlink"} {
		r := h.execute(code)
		if r.Err == nil || !r.Restarted || !strings.Contains(text(r.Err), "closed its link") || strings.Contains(text(r.Err), "SIGKILL") {
			t.Errorf("%q: %+v", code, r)
		}
	}
}

func TestInterruptKeepsState(t *testing.T) {
	h := start(t, nil)
	h.succeed("set kept")
	for range 20 {
		h.Interrupt() // while idle it does nothing
		done := make(chan Result)
		go func() { done <- h.Execute(Cell{Code: "print runs\nwait"}) }()
		until(t, "the cell runs", func() bool { return h.shown() != "" })
		h.Interrupt()
		r := within(t, "the cell", func() Result { return <-done })
		if r.Err == nil || r.Restarted || r.Err.Message != "stopped" {
			t.Fatalf("result %+v", r)
		}
		h.shows("get", "kept\n")
	}
}

// An interrupt may come at any time, also before the cell has begun or has
// got to the evaluator.
func TestAnInterruptIsNeverLost(t *testing.T) {
	h := start(t, nil)
	h.succeed("set kept")
	for i := range 50 {
		done := make(chan Result)
		go func() { done <- h.Execute(Cell{Code: "wait"}) }()
		until(t, "the cell is on its way", func() bool {
			h.Session.mu.Lock()
			defer h.Session.mu.Unlock()
			return h.running != nil
		})
		time.Sleep(time.Duration(i) * 2 * time.Microsecond)
		h.Interrupt()
		if r := within(t, "the cell", func() Result { return <-done }); r.Err == nil || r.Restarted {
			t.Fatalf("result %+v", r)
		}
	}
	h.shows("get", "kept\n")
}

func TestAnInterruptIsRepeated(t *testing.T) {
	h := start(t, nil)
	done := make(chan Result)
	go func() { done <- h.Execute(Cell{Code: "print runs\nstubborn 3"}) }()
	until(t, "the cell runs", func() bool { return h.shown() != "" })
	h.Interrupt()
	if r := within(t, "the cell", func() Result { return <-done }); r.Err == nil || r.Restarted {
		t.Fatalf("result %+v", r)
	}
}

func TestInterruptWhileTheEvaluatorStarts(t *testing.T) {
	h := start(t, nil)
	done := make(chan Result)
	go func() { done <- h.Execute(Cell{Code: "wait"}) }()
	until(t, "the cell is on its way", func() bool {
		h.Session.mu.Lock()
		defer h.Session.mu.Unlock()
		return h.running != nil
	})
	h.Interrupt()
	if r := within(t, "the cell", func() Result { return <-done }); r.Err == nil || r.Restarted {
		t.Fatalf("result %+v", r)
	}
	h.shows("print fine", "fine\n")
}

func TestInterruptOfInput(t *testing.T) {
	asked := make(chan bool)
	h := start(t, func(o *Options) {
		o.Input = func(prompt string, _ bool) (string, error) {
			if prompt == "again" {
				return "quick", nil
			}
			asked <- true
			time.Sleep(100 * time.Millisecond) // answers too late
			return "late", nil
		}
	})
	h.succeed("set kept")
	done := make(chan Result)
	go func() { done <- h.Execute(Cell{Code: "input x", AllowInput: true}) }()
	<-asked
	h.Interrupt()
	r := within(t, "the cell", func() Result { return <-done })
	if r.Err == nil || r.Restarted || r.Err.Message != ErrInterrupted.Error() {
		t.Errorf("result %+v", r)
	}
	h.shows("sleep 200\ninput again\nget", "got quick\nkept\n")
}

func TestACellThatCannotBeInterrupted(t *testing.T) {
	running := func(h *harness) <-chan Result {
		done := make(chan Result, 1)
		go func() { done <- h.Execute(Cell{Name: "In[7]", Code: "print runs\ndeaf"}) }()
		until(h.t, "the cell runs", func() bool { return h.shown() != "" })
		return done
	}
	check := func(h *harness, done <-chan Result) {
		h.t.Helper()
		r := within(h.t, "the cell", func() Result { return <-done })
		if r.Err == nil || !r.Restarted || !strings.Contains(text(r.Err), "did not stop") || !strings.Contains(text(r.Err), "In[7]") {
			h.t.Errorf("result %+v", r)
		}
		h.shows("print alive", "alive\n")
	}
	t.Run("grace", func(t *testing.T) {
		h := start(t, func(o *Options) { o.InterruptGrace = 50 * time.Millisecond })
		done := running(h)
		h.Interrupt()
		check(h, done)
	})
	t.Run("second interrupt", func(t *testing.T) {
		h := start(t, func(o *Options) {
			o.InterruptPatience, o.InterruptGrace = 50*time.Millisecond, time.Hour
		})
		done := running(h)
		h.Interrupt()
		h.Interrupt() // too early to count
		select {
		case r := <-done:
			t.Fatalf("an early second interrupt ended the cell: %+v", r)
		case <-time.After(60 * time.Millisecond):
		}
		h.Interrupt()
		check(h, done)
	})
}

func TestRestart(t *testing.T) {
	h := start(t, nil)
	h.succeed("set lost")
	if err := h.Restart(); err != nil {
		t.Fatal(err)
	}
	h.shows("get", "\n")
	done := make(chan Result)
	go func() { done <- h.Execute(Cell{Code: "print runs\ndeaf"}) }()
	until(t, "the cell runs", func() bool { return h.shown() != "" })
	if err := within(t, "Restart", h.Restart); err != nil {
		t.Fatal(err)
	}
	if r := within(t, "the cell", func() Result { return <-done }); r.Err == nil || !r.Restarted || !strings.Contains(text(r.Err), "restarted") {
		t.Errorf("the running cell gave %+v", r)
	}
	h.shows("print alive", "alive\n")
}

func TestClose(t *testing.T) {
	h := start(t, nil)
	done := make(chan Result)
	go func() { done <- h.Execute(Cell{Code: "print runs\ndeaf"}) }()
	until(t, "the cell runs", func() bool { return h.shown() != "" })
	pid := live(h.Session).proc.pid()
	within(t, "Close", h.Close)
	if r := within(t, "the cell", func() Result { return <-done }); r.Err == nil || !strings.Contains(text(r.Err), "closed") {
		t.Errorf("the running cell gave %+v", r)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the evaluator is still there: %v", err)
	}
	if r := h.execute("print x"); r.Err == nil || !strings.Contains(r.Err.Message, "closed") {
		t.Errorf("a cell after Close gave %+v", r)
	}
	if _, err := h.Complete("x", 1); err == nil {
		t.Error("completion after Close")
	}
	if h.Restart() == nil {
		t.Error("restart after Close")
	}
	within(t, "Close again", h.Close)
}

func TestCloseDoesNotWaitForAStoppedEvaluator(t *testing.T) {
	h := start(t, nil)
	h.succeed("")
	syscall.Kill(live(h.Session).proc.pid(), syscall.SIGSTOP)
	within(t, "Close", h.Close)
}

func TestProcessesOfCellsEndWithTheEvaluator(t *testing.T) {
	h := start(t, nil)
	file := filepath.Join(t.TempDir(), "pid")
	h.succeed("shell echo $$ > " + file + ".new; mv " + file + ".new " + file + "; exec sleep 1000")
	until(t, "the process runs", func() bool { _, err := os.Stat(file); return err == nil })
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	fmt.Sscan(string(b), &pid)
	within(t, "Close", h.Close)
	until(t, "the cell's process ends", func() bool { return !alive(pid) })
}

// alive says whether a process runs; a zombie, which waits for a parent that
// may be slow to look, does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// The kernel is killed: its evaluator must not stay behind. The kernel is
// played by this binary again.
func TestTheEvaluatorEndsWithItsParent(t *testing.T) {
	codes := []string{"", "deaf"}
	if runtime.GOOS == "linux" {
		codes = append(codes, "kill 19") // stopped, it cannot see that the link closes
	}
	for _, code := range codes {
		parent, pid := startKernelProcess(t, code)
		syscall.Kill(parent.Process.Pid, syscall.SIGKILL)
		parent.Wait()
		until(t, "the evaluator ends", func() bool { return !alive(pid) })
	}
}

func TestNothingIsLeftOfManySessions(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("counting descriptors needs /proc")
		}
		return len(entries)
	}
	children := func() (zombies int) {
		entries, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, entry := range entries {
			if b, err := os.ReadFile(entry); err == nil && strings.Contains(string(b), fmt.Sprintf(") Z %d ", os.Getpid())) {
				zombies++
			}
		}
		return zombies
	}
	warm := start(t, nil) // opens what stays open, such as /proc's, the poller's and the guard's
	warm.succeed("")
	warm.Close()
	descriptors, goroutines := count(), runtime.NumGoroutine()
	var all sync.WaitGroup
	room := make(chan bool, 4)
	for i := range 100 {
		all.Go(func() {
			room <- true
			defer func() { <-room }()
			h := start(t, nil)
			switch i % 4 {
			case 0:
				h.Execute(Cell{Code: "print hello"})
			case 1:
				h.Execute(Cell{Code: "kill 9"})
			case 2:
				h.Restart()
			}
			h.Close()
		})
	}
	within(t, "100 sessions", func() bool { all.Wait(); return true })
	until(t, "goroutines have ended", func() bool { return runtime.NumGoroutine() <= goroutines+2 })
	if now := count(); now > descriptors {
		t.Errorf("%d descriptors are open, %d were before", now, descriptors)
	}
	if n := children(); n > 0 {
		t.Errorf("%d zombies", n)
	}
}
