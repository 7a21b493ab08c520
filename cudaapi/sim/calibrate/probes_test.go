package calibrate

import (
	"testing"

	"gocuda/cudaapi/sim"
)

func TestProbes(t *testing.T) {
	err := Probe(simulate(t, sim.Options{Devices: 2}), 4<<20, func(r Result) { t.Logf("%-60s %v", r.Program, r.Time) })
	if err != nil {
		t.Fatal(err)
	}
}
