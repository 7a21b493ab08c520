//go:build unix

package session_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gocuda/kernel/display"

	. "gocuda/kernel/session"
	"gocuda/kernel/session/sessiontest"
)

func TestCellsKeepState(t *testing.T) {
	h := sessiontest.Start(t, nil)
	h.Succeed("set 41")
	h.Shows("get", "41\n")
	if r := h.Run("frobnicate"); r.Err == nil || r.Restarted || !strings.Contains(r.Err.Message, "frobnicate") {
		t.Errorf("a failing cell gave %+v", r)
	}
	h.Shows("get", "41\n")
}

func TestTheEvaluatorsSurroundings(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCUDA_TEST_OUTER", "from outside")
	h := sessiontest.Start(t, func(o *Options) {
		o.Dir = dir
		o.Env = append(o.Env, "GOCUDA_TEST_INNER=given")
	})
	h.Shows("pwd", dir+"\n")
	h.Shows("env GOCUDA_TEST_OUTER", "from outside\n")
	h.Shows("env GOCUDA_TEST_INNER", "given\n")
	h.Shows("read", "0 true\n") // standard input is empty, not the kernel's
}

func TestManyLinesArriveWholeAndInOrder(t *testing.T) {
	h := sessiontest.Start(t, nil)
	var want strings.Builder
	for i := range 5000 {
		fmt.Fprintln(&want, "line", i)
	}
	h.Succeed("")
	h.Shown()
	h.Succeed("lines 5000")
	_, calls := h.Outputs()
	if got := h.Shown(); got != want.String() {
		t.Errorf("5000 lines came as %d bytes, want %d", len(got), want.Len())
	}
	if calls > 500 {
		t.Errorf("5000 lines came in %d pieces: they are not batched", calls)
	}
}

func TestOutputsKeepTheirOrder(t *testing.T) {
	h := sessiontest.Start(t, nil)
	var code, want strings.Builder
	for i := range 200 {
		fmt.Fprintf(&code, "print before %d\nshow picture %d\n", i, i)
		fmt.Fprintf(&want, "before %d\n[display picture %d]\n", i, i)
	}
	h.Shows(code.String(), want.String())
	// C's output is buffered by C itself.
	h.Shows("printf half a line\nshow it\nputs line\nshow it\nprintf rest",
		"half a line[display it]\nline\n[display it]\nrest")
	h.Shows("value 42\nprint first", "first\n[value 42]\n")
	h.Shows("warn loud\nshow it\nwarn louder", "[stderr]loud\n[display it]\n[stderr]louder\n")
}

func TestOutputIsSeenWhileTheCellRuns(t *testing.T) {
	for _, how := range []string{"print", "puts", "warn"} {
		h := sessiontest.Start(t, nil)
		done := make(chan Result)
		go func() { done <- h.Execute(Cell{Code: how + " hello\nwait"}) }()
		sessiontest.Until(t, "the cell's line arrives", func() bool { return strings.Contains(h.Shown(), "hello\n") })
		h.Interrupt()
		sessiontest.Within(t, "the cell", func() Result { return <-done })
	}
}

func TestRunesAreNotSplit(t *testing.T) {
	var mu sync.Mutex
	var pieces []string
	h := sessiontest.Start(t, func(o *Options) {
		o.Output = func(o Output) {
			mu.Lock()
			defer mu.Unlock()
			pieces = append(pieces, o.Text)
		}
	})
	take := func() []string {
		mu.Lock()
		defer mu.Unlock()
		defer func() { pieces = nil }()
		return pieces
	}
	// An umlaut, a euro sign and an emoji, byte by byte with pauses.
	var code strings.Builder
	for _, b := range []byte("ä€🙂") {
		fmt.Fprintf(&code, "bytes %x\nsleep 25\n", b)
	}
	h.Succeed(code.String())
	if got := strings.Join(take(), ""); got != "ä€🙂" { // in three pieces, where the machine is not busy
		t.Errorf("runes came as %q", got)
	}
	h.Succeed("bytes c3")
	h.Succeed("print x")
	if got := strings.Join(take(), "|"); got != "\uFFFD|x\n" {
		t.Errorf("half a rune at the end of a cell came as %q", got)
	}
	h.Succeed("bytes 41ff42")
	if got := strings.Join(take(), "|"); got != "A\uFFFDB" {
		t.Errorf("a byte that is no rune came as %q", got)
	}
}

func TestAFloodIsHeldUpByItsReceiver(t *testing.T) {
	release := make(chan struct{})
	var mu sync.Mutex
	var size int
	h := sessiontest.Start(t, func(o *Options) {
		o.Output = func(o Output) {
			<-release
			mu.Lock()
			defer mu.Unlock()
			size += len(o.Text)
			if len(o.Text) > OutputChunk {
				t.Errorf("one output of %d bytes", len(o.Text))
			}
		}
	})
	done := make(chan Result, 1)
	go func() { done <- h.Execute(Cell{Code: "flood 200"}) }()
	select {
	case <-done:
		t.Fatal("a cell printed 200 MiB that nobody took")
	case <-time.After(300 * time.Millisecond):
	}
	close(release)
	if r := sessiontest.Within(t, "the flood", func() Result { return <-done }); r.Err != nil {
		t.Fatal(r.Err)
	}
	if size != 200<<20 {
		t.Errorf("200 MiB came as %d bytes", size)
	}
}

// A front end looks at all text when some is added: much text comes in few messages.
func TestMuchTextComesInFewMessages(t *testing.T) {
	var mu sync.Mutex
	messages, size := 0, 0
	h := sessiontest.Start(t, func(o *Options) {
		o.Output = func(o Output) {
			mu.Lock()
			defer mu.Unlock()
			messages, size = messages+1, size+len(o.Text)
		}
	})
	h.Succeed("flood 16")
	if size != 16<<20 || messages > 100 {
		t.Errorf("16 MiB came as %d bytes in %d messages", size, messages)
	}
}

func TestOutputOfWhatACellLeftBehind(t *testing.T) {
	h := sessiontest.Start(t, nil)
	h.Succeed("later hello from behind")
	sessiontest.Until(t, "the goroutine's line arrives", func() bool { return strings.Contains(h.Shown(), "hello from behind\n") })
	h.Succeed("shell sleep 0.05; echo from a process")
	sessiontest.Until(t, "the process's line arrives", func() bool { return strings.Contains(h.Shown(), "from a process\n") })
}

func TestWhatCannotBeShownIsTheCellsError(t *testing.T) {
	h := sessiontest.Start(t, nil)
	if r := h.Run("unshowable"); r.Err == nil || r.Restarted {
		t.Errorf("an output that JSON cannot hold gave %+v", r)
	}
	h.Shows("show fine", "[display fine]\n")
}

func TestAFaultOfTheInterpreterIsAnError(t *testing.T) {
	h := sessiontest.Start(t, nil)
	h.Succeed("set kept")
	r := h.Run("panic at the disco")
	if r.Err == nil || r.Restarted || !strings.Contains(r.Err.Message, "at the disco") {
		t.Errorf("a panic of the interpreter gave %+v", r)
	}
	h.Shows("get", "kept\n")
	if _, err := h.Complete("panic", 5); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("a panic while completing gave %v", err)
	}
	h.Shows("get", "kept\n")
}

func TestQuestionsAboutCode(t *testing.T) {
	h := sessiontest.Start(t, nil)
	check := func() {
		t.Helper()
		c, err := h.Complete("fmt.Pr", 6)
		if err != nil || c.Start != 5 || c.End != 6 || len(c.Matches) != 1 || c.Matches[0].Text != "fmt.Pr!" {
			t.Errorf("completion %+v, error %v", c, err)
		}
		b, err := h.Inspect("x", 1, 1)
		if err != nil || b == nil || b.Data["text/plain"] != "x1 1" {
			t.Errorf("inspection %+v, error %v", b, err)
		}
		if b, err := h.Inspect("", 0, 0); err != nil || b != nil {
			t.Errorf("inspection of nothing %+v, error %v; want nil", b, err)
		}
		if c, err := h.IsComplete("{"); err != nil || c != (Completeness{Status: "incomplete", Indent: "\t"}) {
			t.Errorf("completeness %+v, error %v", c, err)
		}
	}
	check()
	// A cell that runs does not hold the answers up.
	done := make(chan Result)
	go func() { done <- h.Execute(Cell{Code: "print runs\nwait"}) }()
	sessiontest.Until(t, "the cell runs", func() bool { return h.Shown() != "" })
	check()
	h.Interrupt()
	sessiontest.Within(t, "the cell", func() Result { return <-done })
}

func TestInput(t *testing.T) {
	type question struct {
		prompt   string
		password bool
	}
	var asked []question
	var h *sessiontest.Harness
	h = sessiontest.Start(t, func(o *Options) {
		o.Input = func(prompt string, password bool) (string, error) {
			asked = append(asked, question{prompt, password})
			if !strings.Contains(h.Shown(), "please\n") {
				t.Error("what was printed before is not there when the question is")
			}
			if prompt == "bad" {
				return "", errors.New("the user went away")
			}
			return "ünder " + prompt, nil
		}
	})
	h.Succeed("print please\ninput a b")
	h.Succeed("print please\npassword secret")
	if fmt.Sprint(asked) != "[{a b false} {secret true}]" {
		t.Errorf("asked %v", asked)
	}
	if got := h.Shown(); got != "got ünder secret\n" {
		t.Errorf("shown %q", got)
	}
	if r := h.Run("print please\ninput bad"); r.Err == nil || r.Err.Message != "the user went away" {
		t.Errorf("an input that failed gave %+v", r)
	}
	r := sessiontest.Within(t, "input", func() Result { return h.Execute(Cell{Code: "input nobody"}) })
	if r.Err == nil || !strings.Contains(r.Err.Message, "does not take input") || len(asked) != 3 {
		t.Errorf("input in a cell that must not ask gave %+v", r)
	}
}

func TestInputWithoutAnyoneToAsk(t *testing.T) {
	h := sessiontest.Start(t, nil)
	if r := h.Run("input hello?"); r.Err == nil || !strings.Contains(r.Err.Message, "no user") {
		t.Errorf("input without Options.Input gave %+v", r)
	}
}

func TestConcurrentCellsRunInTurn(t *testing.T) {
	h := sessiontest.Start(t, nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if r := h.Execute(Cell{Code: "print in\nsleep 5\nprint out"}); r.Err != nil {
				t.Error(r.Err)
			}
		})
	}
	sessiontest.Within(t, "all cells", func() bool { all.Wait(); return true })
	if got := h.Shown(); got != strings.Repeat("in\nout\n", 8) {
		t.Errorf("shown %q", got)
	}
}

func TestALargeOutput(t *testing.T) {
	h := sessiontest.Start(t, nil)
	big := strings.Repeat("pixel", 1<<20)
	h.Shows("show "+big, "[display "+big+"]\n")
}

func TestOutputSurvivesTheLink(t *testing.T) {
	h := sessiontest.Start(t, nil)
	h.Succeed("show x")
	outputs, _ := h.Outputs()
	want := Output{Kind: Display, Bundle: display.Bundle{Data: map[string]any{"text/plain": "x"}}}
	if len(outputs) != 1 || fmt.Sprint(outputs[0]) != fmt.Sprint(want) {
		t.Errorf("shown %+v, want %+v", outputs, want)
	}
}

// BenchmarkRoundTrip is what the process of its own costs a cell. The median
// tells more than the mean on a machine that does other things.
func BenchmarkRoundTrip(b *testing.B) {
	sessiontest.BenchmarkRoundTrip(b, func() *sessiontest.Harness { return sessiontest.Start(b, nil) }, "set 1", "value 1", "show 1", "print 1", "lines 5000")
}
