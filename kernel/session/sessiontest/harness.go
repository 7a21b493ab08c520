//go:build unix

// Package sessiontest helps to test what runs in a session.
package sessiontest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gocuda/kernel/session"
)

// Harness is a session with what it has shown.
type Harness struct {
	*session.Session
	T  testing.TB // fails when a cell does not do what it should
	mu sync.Mutex
	// outputs has neighbouring texts of one stream joined.
	outputs []session.Output
	calls   int
	arrived chan struct{}
}

// Start starts a session whose evaluator is this test binary.
func Start(t testing.TB, change func(*session.Options)) *Harness {
	t.Helper()
	h := &Harness{T: t, arrived: make(chan struct{}, 1)}
	o := session.Options{
		Command: []string{os.Args[0]},
		// The race detector would have each process sleep when it exits.
		Env:    []string{"GOCUDA_TEST_EVALUATOR=fake", "GORACE=atexit_sleep_ms=0"},
		Output: h.receive,
	}
	if change != nil {
		change(&o)
	}
	s, err := session.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	h.Session = s
	t.Cleanup(func() { s.Close() })
	return h
}

func (h *Harness) receive(o session.Output) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
	if n := len(h.outputs); n > 0 && o.Text != "" && h.outputs[n-1].Kind == o.Kind {
		h.outputs[n-1].Text += o.Text
	} else {
		h.outputs = append(h.outputs, o)
	}
	select {
	case h.arrived <- struct{}{}:
	default:
	}
}

// Outputs are what was shown since the last Shown, neighbouring texts of one
// stream joined, and in how many pieces they came.
func (h *Harness) Outputs() (list []session.Output, calls int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.outputs), h.calls
}

// Shown returns what was shown since the last call, as one text.
func (h *Harness) Shown() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for _, o := range h.outputs {
		switch o.Kind {
		case session.Stdout:
			b.WriteString(o.Text)
		case session.Stderr:
			b.WriteString("[stderr]" + o.Text)
		default:
			fmt.Fprintf(&b, "[%s %v]\n", o.Kind, o.Bundle.Data["text/plain"])
		}
	}
	h.outputs, h.calls = nil, 0
	return b.String()
}

// hang is how long something may take that needs no time, on a busy machine.
const hang = time.Minute

// Within fails the test instead of letting it hang.
func Within[T any](t testing.TB, what string, f func() T) T {
	t.Helper()
	c := make(chan T, 1)
	go func() { c <- f() }()
	select {
	case v := <-c:
		return v
	case <-time.After(hang):
		t.Fatalf("%s has not returned after %v", what, hang)
		panic("unreachable")
	}
}

// Run runs a cell.
func (h *Harness) Run(code string) session.Result {
	h.T.Helper()
	return Within(h.T, code, func() session.Result {
		return h.Execute(session.Cell{Name: "In[1]", Code: code, AllowInput: true})
	})
}

// Succeed runs a cell that must succeed.
func (h *Harness) Succeed(code string) {
	h.T.Helper()
	if r := h.Run(code); r.Err != nil {
		h.T.Fatalf("%q: %v", code, r.Err)
	}
}

// Shows runs a cell that must succeed with this output.
func (h *Harness) Shows(code, want string) {
	h.T.Helper()
	h.Shown()
	h.Succeed(code)
	if got := h.Shown(); got != want {
		h.T.Fatalf("%q shows %q, want %q", code, got, want)
	}
}

// Until waits for the condition.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(hang); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v still not: %s", hang, what)
		}
	}
}

// Fails runs a cell that must fail, with these words in its error, and leave
// the evaluator alive.
func (h *Harness) Fails(code string, words ...string) session.Result {
	h.T.Helper()
	r := h.Run(code)
	switch {
	case r.Err == nil:
		h.T.Fatalf("%q did not fail", code)
	case r.Restarted:
		h.T.Fatalf("%q cost the evaluator: %s", code, Text(r.Err))
	}
	for _, w := range words {
		if !strings.Contains(r.Err.Name+": "+Text(r.Err), w) {
			h.T.Errorf("%q: %q is not in the error:\n%s: %s", code, w, r.Err.Name, Text(r.Err))
		}
	}
	return r
}

// Text is all that an error says.
func Text(e *session.Error) string { return e.Message + "\n" + strings.Join(e.Traceback, "\n") }

// BenchmarkRoundTrip measures what each of the cells takes in a session.
func BenchmarkRoundTrip(b *testing.B, start func() *Harness, cells ...string) {
	for _, code := range cells {
		b.Run(code, func(b *testing.B) {
			h := start()
			h.Execute(session.Cell{})
			var times []time.Duration
			for b.Loop() {
				begun := time.Now()
				h.Execute(session.Cell{Name: "In[1]", Code: code})
				times = append(times, time.Since(begun))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2])/1e3, "median-us")
		})
	}
}
