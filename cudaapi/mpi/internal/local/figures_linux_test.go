package local

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"gocuda/cudaapi/mpi/internal/transport"
)

// TestFigures prints what GOCUDA_FIGURES=1 asks for.
func TestFigures(t *testing.T) {
	if os.Getenv("GOCUDA_FIGURES") == "" {
		t.Skip("GOCUDA_FIGURES is not set: it measures, and checks nothing")
	}
	for _, parts := range []string{"", "1"} {
		r := startRanks(t, 2, "figures", casePartsOnly+"="+parts)
		r.mustPass()
		t.Logf("parts: %q\n%s", parts, &r.out[0])
	}
}

func init() {
	rankCases["figures"] = func(t transport.Transport) error {
		w := t.World()
		for _, size := range []int{8, 1 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 1 << 20, 64 << 20} {
			b := make([]byte, size)
			n := max(5, min(20000, (256<<20)/size))
			var times []time.Duration
			for i := range n + n/10 + 1 {
				began := time.Now()
				if w.Rank() == 0 {
					waitFor(w.Isend(bytesMemory(b), 1, 1))
					waitFor(w.Irecv(bytesMemory(b), 1, 1))
				} else {
					waitFor(w.Irecv(bytesMemory(b), 0, 1))
					waitFor(w.Isend(bytesMemory(b), 0, 1))
				}
				if i > n/10 {
					times = append(times, time.Since(began)/2)
				}
			}
			slices.Sort(times)
			m := times[len(times)/2]
			if w.Rank() == 0 {
				fmt.Printf("%9d B  %12v  %8.2f GB/s best %v %8.2f\n", size, m, float64(size)/float64(m.Nanoseconds()), times[0], float64(size)/float64(times[0].Nanoseconds()))
			}
		}
		return nil
	}
}
