package collective

import (
	"os"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/ipctest"
	"gocuda/cudaapi/sim"
)

// TestNCCLKey: when one rank changes its devices, all ranks have another key; a fault of
// one is an error of all.
func TestNCCLKey(t *testing.T) {
	if os.Getenv("GOCUDA_BACKEND") == "nvidia" {
		t.Skip("simulated devices would take the place of the GPUs for the tests that follow")
	}
	_, devices := ipctest.New(t, sim.Options{Devices: 2})
	var on [2]*cuda.Buffer
	for i, d := range devices {
		b, err := d.Alloc(1, cuda.Float32)
		if err != nil {
			t.Fatal(err)
		}
		on[i] = b
	}
	ranks := ipctest.NewRanks(2)
	groups := []*Group{{ranks: ranks[0]}, {ranks: ranks[1]}}
	ask := func(first, second []*cuda.Buffer, again bool) (keys [2]string, errs []error) {
		errs = ipctest.Each(2, func(r int) (err error) {
			keys[r], err = groups[r].nccl.key(groups[r], [][]*cuda.Buffer{first, second}[r], again)
			return err
		})
		return keys, errs
	}
	a, b := on[:1], on[1:]
	was, errs := ask(a, a, false)
	if was[0] != was[1] || errs[0] != nil || errs[1] != nil {
		t.Fatalf("the keys are %q: %v", was, errs)
	}
	changed, _ := ask(a, b, false)
	if changed[0] != changed[1] || changed[0] == was[0] {
		t.Errorf("rank 1 has another device, and the keys are %q after %q", changed, was)
	}
	if same, _ := ask(a, b, true); same != changed {
		t.Errorf("asked again the keys are %q", same)
	}
	if back, _ := ask(a, a, false); back != was {
		t.Errorf("with the first devices the keys are %q, were %q", back, was)
	}
	if _, errs := ask(a, []*cuda.Buffer{on[0], on[0]}, false); errs[0] == nil || errs[1] == nil {
		t.Errorf("two members on one device: %v", errs)
	}
}
