package collective_test

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"

	"gocuda/cudaapi/collective"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/ipctest"
	"gocuda/cudaapi/sim"
)

// TestOneShotThatFails: where the launch of one rank fails, all are told, no stream
// waits for ever, and the next calls are alike at all ranks.
func TestOneShotThatFails(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("simulated kernels need a C++ compiler")
	}
	const ranks, n = 3, 1000
	for _, async := range []bool{false, true} {
		for failing := range ranks {
			t.Run(fmt.Sprintf("async=%t rank=%d", async, failing), func(t *testing.T) {
				l, devs := ipctest.New(t, sim.Options{Devices: ranks})
				channels := ipctest.NewRanks(ranks)
				var groups [ranks]*collective.Group
				var bufs [ranks]*cuda.Buffer
				var streams [ranks]*cuda.Stream
				for r, d := range devs {
					groups[r] = collective.NewGroup(channels[r])
					bufs[r] = must[*cuda.Buffer](t)(d.Alloc(n, cuda.Int32))
					streams[r] = must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
				}
				call := func(a collective.Algorithm) []error {
					t.Helper()
					for _, b := range bufs {
						ok(t, b.Fill(int32(1), nil))
						ok(t, b.Device().Synchronize())
					}
					got := make(chan []error, 1)
					go func() {
						got <- ipctest.Each(ranks, func(r int) error {
							var on []*cuda.Stream
							if async {
								on = streams[r : r+1]
							}
							return errors.Join(groups[r].Allreduce(bufs[r:r+1], on, collective.Using(a)), streams[r].Synchronize())
						})
					}()
					select {
					case errs := <-got:
						return errs
					case <-time.After(time.Minute):
						channels[0].Lose() // which ends what hangs
						t.Fatal("the ranks wait for ever")
						return nil
					}
				}
				check := func(what string) {
					t.Helper()
					for r, b := range bufs {
						got := must[[]int32](t)(b.Int32s())
						if slices.ContainsFunc(got, func(v int32) bool { return v != ranks }) {
							t.Errorf("%s: rank %d has %d, want %d", what, r, got[0], ranks)
						}
					}
				}
				ok(t, errors.Join(call(collective.OneShot)...))
				check("the first call")
				l.FailLaunches(devs[failing], errors.New("it is a test"))
				for r, err := range call(collective.OneShot) {
					if err == nil {
						t.Errorf("rank %d was not told", r)
					}
				}
				l.FailLaunches(devs[failing], nil)
				for r, err := range call(collective.OneShot) {
					if err == nil {
						t.Errorf("the next call: rank %d was not told", r)
					}
				}
				ok(t, errors.Join(call(collective.Auto)...))
				check("another algorithm")
				for _, g := range groups {
					ok(t, g.Close())
				}
			})
		}
	}
}
