//go:build unix

package session

import "testing"

// What a cell leaves of CUDA when it ends in the middle.
func TestCellsThatEndWithinCUDA(t *testing.T) {
	h := startReal(t, nil)
	h.succeed("d := must(cuda.CurrentDevice())\ns := must(d.NewStream())\nb := must(d.Alloc(4, cuda.Float32))")
	const use = "b.MemsetAsync(0, s)\ns.Synchronize()\ns.Capturing()"
	h.fails(`s.Capture(func() error { b.MemsetAsync(0, s); panic("no") })`, "no")
	h.shows(use, "[value false]\n")
	done := make(chan Result)
	go func() {
		done <- h.Execute(Cell{Code: `s.Capture(func() error { b.MemsetAsync(0, s); fmt.Println("runs"); for {} })`})
	}()
	until(t, "the cell runs", func() bool { return h.shown() != "" })
	h.Interrupt()
	if r := within(t, "the cell", func() Result { return <-done }); r.Err == nil || r.Err.Name != "Interrupted" {
		t.Errorf("result %+v", r)
	}
	h.shows(use, "[value false]\n")
	h.fails("s.LaunchHostFunc(func() { panic(`on CUDA's thread`) })\ns.Synchronize()", "on CUDA's thread")
	h.shows(use, "[value false]\n")
}

func TestACellThatAllocatesIsRunAgain(t *testing.T) {
	h := startReal(t, nil)
	h.succeed("d := must(cuda.CurrentDevice())")
	for range 20 {
		h.succeed("x := must(d.Alloc(3<<29, cuda.Float32))")
	}
}
