//go:build linux && (amd64 || arm64)

package libmpi

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"gocuda/cudaapi/mpi/internal/transport"
)

func init() {
	programs["pingpong"] = func(t transport.Transport) error {
		w := t.World()
		buf := make([]byte, 8)
		m := memory(transport.Byte, buf)
		peer := 1 - w.Rank()
		send := func() error { _, err := wait(w.Isend(m, peer, 0)); return err }
		recv := func() error { _, err := wait(w.Irecv(m, peer, 0)); return err }
		first, second := send, recv
		if w.Rank() == 1 {
			first, second = recv, send
		}
		const rounds = 5000
		var times []float64
		for range 9 {
			if _, err := wait(w.Ibarrier()); err != nil {
				return err
			}
			start := time.Now()
			for range rounds {
				if err := first(); err != nil {
					return err
				}
				if err := second(); err != nil {
					return err
				}
			}
			times = append(times, time.Since(start).Seconds()/rounds/2*1e6)
		}
		slices.Sort(times)
		if w.Rank() == 0 {
			fmt.Printf("8 B ping-pong: median %.3f us, least %.3f us one way\n", times[len(times)/2], times[0])
		}
		return nil
	}
}

// TestPingPongFigures prints the latency of each library, where GOCUDA_BENCH is
// set.
func TestPingPongFigures(t *testing.T) {
	if os.Getenv("GOCUDA_BENCH") == "" {
		t.Skip("a measurement: set GOCUDA_BENCH=1")
	}
	onEach(t, func(t *testing.T, lib installed) { t.Log(lib.mpirun(t, 2, "pingpong")) })
}
