package calibrate

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/sim"
)

// modelled are the beginnings of the probes' names that the model is held to.
// The others are about arithmetic and contended atomics, which take no time in
// it, or have sizes of their own.
var modelled = []string{"empty", "copy f", "axpy", "fill f32", "read f32", "grid-stride", "jacobi", "copy in,", "copy out,", "copy inside,", "memset,",
	"peer copy,", "kernel writes", "kernel reads", "timed event", "kernel and", "kernels on two streams"}

// far are those to which it is not so near, and why.
var far = map[string]string{
	"memset, 4 KiB":       "it took longer than one of 64 KiB",
	"kernel and copy out": "13.3 us in the second round, as all its like",
	"copy out, copy in on another device, 4 KiB, events":  "a small copy begins sooner than a kernel after another device's event",
	"copy out, copy in on another device, 32 KiB, events": "as above",
}

// TestProbesNearMetal runs the probes that are small enough on simulated devices,
// and compares with what an H200 took for them.
func TestProbesNearMetal(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine runs 200 probes")
	}
	text, err := os.ReadFile("testdata/h200.txt")
	if err != nil {
		t.Fatal(err)
	}
	metal := map[string]time.Duration{}
	for line := range strings.Lines(string(text)) {
		name, ns, _ := strings.Cut(strings.TrimSpace(line), "\t")
		var d int64
		if _, err := fmt.Sscan(ns, &d); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		metal[name] = time.Duration(d)
	}
	compared := 0
	err = Probe(simulate(t, sim.Options{Devices: 2}), 1<<20, func(r Result) {
		m := metal[r.Program]
		held := false
		for _, name := range modelled {
			held = held || strings.HasPrefix(r.Program, name)
		}
		if m == 0 || !held {
			return
		}
		compared++
		e := r.Time.Seconds()/m.Seconds() - 1
		t.Logf("%-60s %10v, measured %10v, %+.1f %%", r.Program, r.Time, m, 100*e)
		if near := e > -0.15 && e < 0.15; near == (far[r.Program] != "") {
			t.Errorf("%s: simulated %v, measured %v: %+.1f %%", r.Program, r.Time, m, 100*e)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if compared < 140 {
		t.Errorf("%d probes are compared; the file has others", compared)
	}
}
