//go:build unix

package evaluator

import (
	"testing"

	"gocuda/kernel/session"
	"gocuda/kernel/session/sessiontest"
)

// What a cell leaves of CUDA when it ends in the middle.
func TestCellsThatEndWithinCUDA(t *testing.T) {
	h := startReal(t, nil)
	h.Succeed("d := must(cuda.CurrentDevice())\ns := must(d.NewStream())\nb := must(d.Alloc(4, cuda.Float32))")
	const use = "b.MemsetAsync(0, s)\ns.Synchronize()\ns.Capturing()"
	h.Fails(`s.Capture(func() error { b.MemsetAsync(0, s); panic("no") })`, "no")
	h.Shows(use, "[value false]\n")
	done := make(chan session.Result)
	go func() {
		done <- h.Execute(session.Cell{Code: `s.Capture(func() error { b.MemsetAsync(0, s); fmt.Println("runs"); for {} })`})
	}()
	sessiontest.Until(t, "the cell runs", func() bool { return h.Shown() != "" })
	h.Interrupt()
	if r := sessiontest.Within(t, "the cell", func() session.Result { return <-done }); r.Err == nil || r.Err.Name != "Interrupted" {
		t.Errorf("result %+v", r)
	}
	h.Shows(use, "[value false]\n")
	h.Fails("s.LaunchHostFunc(func() { panic(`on CUDA's thread`) })\ns.Synchronize()", "on CUDA's thread")
	h.Shows(use, "[value false]\n")
}

func TestACellThatAllocatesIsRunAgain(t *testing.T) {
	h := startReal(t, nil)
	h.Succeed("d := must(cuda.CurrentDevice())")
	for range 20 {
		h.Succeed("x := must(d.Alloc(3<<29, cuda.Float32))")
	}
}

func TestHelpersInCells(t *testing.T) {
	h := startReal(t, nil)
	h.Succeed("sum := 0\nfor i := range display.Steps(4) { sum += i }")
	h.Shows("sum", "[value 6]\n")
	h.Shows("d := must(cuda.CurrentDevice())\ns := must(d.NewStream())\nb := must(d.Alloc(1<<20, cuda.Float32))", "")
	h.Shows("must(s.Time(func() error { return b.MemsetAsync(0, s) })) > 0", "[value true]\n")
	h.Succeed("shown := display.Show(1)\nshown.Update(2)\nplot.Line(nil, []float64{1, 2})")
}

// A panic in a goroutine ends the cell's waits for devices, and what would come after
// them does not run.
func TestAPanicInAGoroutineEndsWaits(t *testing.T) {
	h := startReal(t, nil)
	h.Succeed("gate, after := make(chan bool), 0\ns := must(must(cuda.Get(0)).NewStream())\ns.LaunchHostFunc(func() { <-gate })")
	r := h.Execute(session.Cell{Name: "In[2]", Code: "go func() { panic(1) }()\ns.Synchronize()\nafter++"})
	if r.Err == nil || r.Err.Name != "Panic" {
		t.Fatal(r.Err)
	}
	h.Succeed("close(gate)\ntime.Sleep(100 * time.Millisecond)")
	h.Shown()
	h.Shows("after", "[value 0]\n")
}
