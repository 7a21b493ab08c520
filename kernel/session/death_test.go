//go:build unix

package session_test

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

	. "gocuda/kernel/session"
	"gocuda/kernel/session/sessiontest"
)

func TestWhatAnEvaluatorDiesOf(t *testing.T) {
	for _, test := range []struct {
		code string
		want []string
	}{
		{"kill 9", []string{"SIGKILL"}},
		{"kill 15", []string{"SIGTERM"}},
		{"recurse", []string{"stack overflow", "without end", fmt.Sprint(MaxStack)}},
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
			h := sessiontest.Start(t, nil)
			h.Succeed("set lost\nwarn long ago")
			h.Shown()
			r := h.Run("print last line\n" + test.code)
			if r.Err == nil || !r.Restarted {
				t.Fatalf("result %+v", r)
			}
			all := sessiontest.Text(r.Err)
			for _, want := range append(test.want, "In[1]", "gone") {
				if !strings.Contains(all, want) {
					t.Errorf("%q is not in the error:\n%s", want, all)
				}
			}
			if strings.Contains(all, ".go:") || strings.Contains(all, "long ago") || len(r.Err.Traceback) > LastLines+6 {
				t.Errorf("the error is not to the point:\n%s", all)
			}
			if got := h.Shown(); !strings.Contains(got, "last line\n") || strings.Contains(got, "goroutine") {
				t.Errorf("shown %q", got)
			}
			h.Shows("get", "\n")
			if r := h.Run("get"); r.Restarted {
				t.Error("the death is told twice")
			}
		})
	}
}

func TestADeathBetweenCellsIsToldToTheNext(t *testing.T) {
	h := sessiontest.Start(t, nil)
	h.Succeed("set lost")
	h.Shown()
	syscall.Kill(h.LivePid(), syscall.SIGKILL)
	sessiontest.Within(t, "the death", func() bool { <-h.Ended(); return true })
	r := h.Run("print works")
	if r.Err != nil || !r.Restarted {
		t.Errorf("the next cell gave %+v", r)
	}
	got := h.Shown()
	if !strings.HasPrefix(got, "[stderr]") || !strings.Contains(got, "SIGKILL") || !strings.Contains(got, "gone") || !strings.HasSuffix(got, "works\n") {
		t.Errorf("shown %q", got)
	}
	h.Shows("get", "\n")
}

// A cell for an evaluator that is not followed by another one, and has just ended, fails for
// what the evaluator ended of, as one that it ran does.
func TestACellForTheLastEvaluator(t *testing.T) {
	h := sessiontest.Start(t, func(o *Options) { o.Once = true })
	h.Succeed("set lost")
	syscall.Kill(h.LivePid(), syscall.SIGKILL)
	sessiontest.Within(t, "the death", func() bool { <-h.Ended(); return true })
	r := h.Run("print works")
	if r.Err == nil || r.Restarted || r.Err.Name != "EvaluatorDied" || !strings.Contains(sessiontest.Text(r.Err), "SIGKILL") {
		t.Errorf("the next cell gave %+v", r)
	}
}

// Last words that come before the next cell begins are that death's.
func TestLastWordsBeforeACell(t *testing.T) {
	h := sessiontest.Start(t, nil)
	h.Succeed("leave 1000")
	sessiontest.Until(t, "its words", func() bool { return strings.Contains(h.Shown(), "it leaves") })
	if r := h.Run("deaf"); r.Err == nil || !strings.Contains(sessiontest.Text(r.Err), "it leaves") {
		t.Errorf("result %+v", r)
	}
}

func TestDeathsInARow(t *testing.T) {
	h := sessiontest.Start(t, nil)
	for i := range 10 {
		if r := h.Run("kill 9"); r.Err == nil || !r.Restarted {
			t.Fatalf("death %d: %+v", i, r)
		}
	}
	h.Shows("print alive", "alive\n")
}

func TestAnEvaluatorThatDoesNotStart(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := sessiontest.Start(t, func(o *Options) { o.Env = []string{"GOCUDA_TEST_EVALUATOR=dies at start", "GOCUDA_TEST_LOG=" + log} })
	sessiontest.Until(t, "it has died", func() bool { return h.LivePid() == 0 })
	for range 3 {
		r := h.Run("print hello")
		if r.Err == nil || !strings.Contains(sessiontest.Text(r.Err), "did not start") || !strings.Contains(sessiontest.Text(r.Err), "no sun today") {
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
	h := sessiontest.Start(t, func(o *Options) { o.Env = []string{"GOCUDA_TEST_EVALUATOR=talks nonsense"} })
	if r := h.Run("print hello"); r.Err == nil || !strings.Contains(sessiontest.Text(r.Err), "invalid data") {
		t.Errorf("result %+v", r)
	}
	h = sessiontest.Start(t, nil)
	r := h.Run("nonsense aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\ndeaf")
	if r.Err == nil || !r.Restarted || !strings.Contains(sessiontest.Text(r.Err), "a file descriptor that it did not open") {
		t.Errorf("result %+v", r)
	}
	h.Shows("print alive", "alive\n")
}

func TestALinkThatACellCloses(t *testing.T) {
	h := sessiontest.Start(t, nil)
	h.Succeed("set kept")
	h.Shows("close 3\nget", "kept\n")
	for _, code := range []string{"unlink", "unlink\nsleep 100", "sleep 100\nunlink"} {
		r := h.Run(code)
		if r.Err == nil || !r.Restarted || !strings.Contains(sessiontest.Text(r.Err), "closed its link") || strings.Contains(sessiontest.Text(r.Err), "SIGKILL") {
			t.Errorf("%q: %+v", code, r)
		}
	}
}

func TestInterruptKeepsState(t *testing.T) {
	h := sessiontest.Start(t, nil)
	h.Succeed("set kept")
	for range 20 {
		h.Interrupt() // while idle it does nothing
		done := make(chan Result)
		go func() { done <- h.Execute(Cell{Code: "print runs\nwait"}) }()
		sessiontest.Until(t, "the cell runs", func() bool { return h.Shown() != "" })
		h.Interrupt()
		r := sessiontest.Within(t, "the cell", func() Result { return <-done })
		if r.Err == nil || r.Restarted || r.Err.Message != "stopped" {
			t.Fatalf("result %+v", r)
		}
		h.Shows("get", "kept\n")
	}
}

// An interrupt may come at any time, also before the cell has begun or has
// got to the evaluator.
func TestAnInterruptIsNeverLost(t *testing.T) {
	h := sessiontest.Start(t, nil)
	h.Succeed("set kept")
	for i := range 50 {
		done := make(chan Result)
		go func() { done <- h.Execute(Cell{Code: "wait"}) }()
		sessiontest.Until(t, "the cell is on its way", h.Runs)
		time.Sleep(time.Duration(i) * 2 * time.Microsecond)
		h.Interrupt()
		if r := sessiontest.Within(t, "the cell", func() Result { return <-done }); r.Err == nil || r.Restarted {
			t.Fatalf("result %+v", r)
		}
	}
	h.Shows("get", "kept\n")
}

func TestAnInterruptIsRepeated(t *testing.T) {
	h := sessiontest.Start(t, nil)
	done := make(chan Result)
	go func() { done <- h.Execute(Cell{Code: "print runs\nstubborn 3"}) }()
	sessiontest.Until(t, "the cell runs", func() bool { return h.Shown() != "" })
	h.Interrupt()
	if r := sessiontest.Within(t, "the cell", func() Result { return <-done }); r.Err == nil || r.Restarted {
		t.Fatalf("result %+v", r)
	}
}

func TestInterruptWhileTheEvaluatorStarts(t *testing.T) {
	h := sessiontest.Start(t, nil)
	done := make(chan Result)
	go func() { done <- h.Execute(Cell{Code: "wait"}) }()
	sessiontest.Until(t, "the cell is on its way", h.Runs)
	h.Interrupt()
	if r := sessiontest.Within(t, "the cell", func() Result { return <-done }); r.Err == nil || r.Restarted {
		t.Fatalf("result %+v", r)
	}
	h.Shows("print fine", "fine\n")
}

func TestInterruptOfInput(t *testing.T) {
	asked, over := make(chan bool), make(chan bool)
	h := sessiontest.Start(t, func(o *Options) {
		o.Input = func(prompt string, _ bool) (string, error) {
			if prompt == "again" {
				return "quick", nil
			}
			asked <- true
			<-over // answers too late
			return "late", nil
		}
	})
	h.Succeed("set kept")
	done := make(chan Result)
	go func() { done <- h.Execute(Cell{Code: "input x", AllowInput: true}) }()
	<-asked
	h.Interrupt()
	r := sessiontest.Within(t, "the cell", func() Result { return <-done })
	if r.Err == nil || r.Restarted || r.Err.Message != ErrInterrupted.Error() {
		t.Errorf("result %+v", r)
	}
	close(over)
	h.Shows("sleep 200\ninput again\nget", "got quick\nkept\n")
}

func TestACellThatCannotBeInterrupted(t *testing.T) {
	running := func(h *sessiontest.Harness) <-chan Result {
		done := make(chan Result, 1)
		go func() { done <- h.Execute(Cell{Name: "In[7]", Code: "print runs\ndeaf"}) }()
		sessiontest.Until(h.T, "the cell runs", func() bool { return h.Shown() != "" })
		return done
	}
	check := func(h *sessiontest.Harness, done <-chan Result) {
		h.T.Helper()
		r := sessiontest.Within(h.T, "the cell", func() Result { return <-done })
		if r.Err == nil || !r.Restarted || !strings.Contains(sessiontest.Text(r.Err), "did not stop") || !strings.Contains(sessiontest.Text(r.Err), "In[7]") {
			h.T.Errorf("result %+v", r)
		}
		h.Shows("print alive", "alive\n")
	}
	t.Run("grace", func(t *testing.T) {
		h := sessiontest.Start(t, func(o *Options) { o.InterruptGrace = 50 * time.Millisecond })
		done := running(h)
		h.Interrupt()
		check(h, done)
	})
	t.Run("second interrupt", func(t *testing.T) {
		h := sessiontest.Start(t, func(o *Options) {
			o.InterruptPatience, o.InterruptGrace = time.Nanosecond, time.Hour
		})
		done := running(h)
		h.Interrupt()
		h.Interrupt()
		check(h, done)
	})
	t.Run("second interrupt that is too early", func(t *testing.T) {
		h := sessiontest.Start(t, func(o *Options) {
			o.InterruptPatience, o.InterruptGrace = time.Hour, time.Hour
		})
		done := running(h)
		h.Interrupt()
		h.Interrupt()
		select {
		case r := <-done:
			t.Fatalf("it ended the cell: %+v", r)
		case <-time.After(60 * time.Millisecond):
		}
	})
}

func TestRestart(t *testing.T) {
	h := sessiontest.Start(t, nil)
	h.Succeed("set lost")
	if err := h.Restart(); err != nil {
		t.Fatal(err)
	}
	h.Shows("get", "\n")
	done := make(chan Result)
	go func() { done <- h.Execute(Cell{Code: "print runs\ndeaf"}) }()
	sessiontest.Until(t, "the cell runs", func() bool { return h.Shown() != "" })
	if err := sessiontest.Within(t, "Restart", h.Restart); err != nil {
		t.Fatal(err)
	}
	if r := sessiontest.Within(t, "the cell", func() Result { return <-done }); r.Err == nil || !r.Restarted || !strings.Contains(sessiontest.Text(r.Err), "restarted") {
		t.Errorf("the running cell gave %+v", r)
	}
	h.Shows("print alive", "alive\n")
}

func TestClose(t *testing.T) {
	h := sessiontest.Start(t, nil)
	done := make(chan Result)
	go func() { done <- h.Execute(Cell{Code: "print runs\ndeaf"}) }()
	sessiontest.Until(t, "the cell runs", func() bool { return h.Shown() != "" })
	pid := h.LivePid()
	sessiontest.Within(t, "Close", h.Close)
	if r := sessiontest.Within(t, "the cell", func() Result { return <-done }); r.Err == nil || !strings.Contains(sessiontest.Text(r.Err), "closed") {
		t.Errorf("the running cell gave %+v", r)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the evaluator is still there: %v", err)
	}
	if r := h.Run("print x"); r.Err == nil || !strings.Contains(r.Err.Message, "closed") {
		t.Errorf("a cell after Close gave %+v", r)
	}
	if _, err := h.Complete("x", 1); err == nil {
		t.Error("completion after Close")
	}
	if h.Restart() == nil {
		t.Error("restart after Close")
	}
	sessiontest.Within(t, "Close again", h.Close)
}

func TestCloseDoesNotWaitForAStoppedEvaluator(t *testing.T) {
	h := sessiontest.Start(t, nil)
	h.Succeed("")
	syscall.Kill(h.LivePid(), syscall.SIGSTOP)
	sessiontest.Within(t, "Close", h.Close)
}

func TestProcessesOfCellsEndWithTheEvaluator(t *testing.T) {
	h := sessiontest.Start(t, nil)
	file := filepath.Join(t.TempDir(), "pid")
	h.Succeed("shell echo $$ > " + file + ".new; mv " + file + ".new " + file + "; exec sleep 1000")
	sessiontest.Until(t, "the process runs", func() bool { _, err := os.Stat(file); return err == nil })
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	fmt.Sscan(string(b), &pid)
	sessiontest.Within(t, "Close", h.Close)
	sessiontest.Until(t, "the cell's process ends", func() bool { return !sessiontest.Alive(pid) })
}

// alive says whether a process runs; a zombie, which waits for a parent that
// may be slow to look, does not.
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
		sessiontest.Until(t, "the evaluator ends", func() bool { return !sessiontest.Alive(pid) })
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
	warm := sessiontest.Start(t, nil) // opens what stays open, such as /proc's, the poller's and the guard's
	warm.Succeed("")
	warm.Close()
	descriptors, goroutines := count(), runtime.NumGoroutine()
	var all sync.WaitGroup
	room := make(chan bool, 4)
	for i := range 100 {
		all.Go(func() {
			room <- true
			defer func() { <-room }()
			h := sessiontest.Start(t, nil)
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
	sessiontest.Within(t, "100 sessions", func() bool { all.Wait(); return true })
	sessiontest.Until(t, "goroutines have ended", func() bool { return runtime.NumGoroutine() <= goroutines+2 })
	sessiontest.Until(t, fmt.Sprintf("%d descriptors are open", descriptors), func() bool { return count() <= descriptors })
	sessiontest.Until(t, "no zombies are left", func() bool { return children() == 0 })
}
