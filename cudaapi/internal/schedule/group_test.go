package schedule

import (
	"errors"
	"slices"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/ipctest"
	"gocuda/cudaapi/sim"
)

// flawed are ranks of which one cannot send a mark once.
type flawed struct {
	*ipctest.Ranks
	left int // marks until it fails
}

var errFlaw = errors.New("it is a test")

func (f *flawed) Send(data []byte, to, tag int) error {
	if tag >= handshake.TagMark {
		if f.left--; f.left == 0 {
			return errFlaw
		}
	}
	return f.Ranks.Send(data, to, tag)
}

// TestFailedCall: when a call fails at one rank, those who wait for its marks get an
// error, and what is left of the call is not taken for the next one's.
func TestFailedCall(t *testing.T) {
	const n, ranks = 1000, 3
	plan := Compile(OneToAll(ranks, n, 0), ranks)
	for fails := 1; fails <= 4; fails++ {
		_, devices := ipctest.New(t, sim.Options{Devices: ranks})
		all := ipctest.NewRanks(ranks)
		var groups [ranks]*Group
		var bufs [ranks]*cuda.Buffer
		flaw := &flawed{Ranks: all[0], left: fails}
		for r := range groups {
			groups[r] = NewGroup(all[r])
			var err error
			if bufs[r], err = devices[r].Alloc(n, cuda.Int32); err != nil {
				t.Fatal(err)
			}
		}
		groups[0] = NewGroup(flaw)
		call := func(value int32) []error {
			t.Helper()
			if err := bufs[0].Fill(value, nil); err != nil {
				t.Fatal(err)
			}
			got := make(chan []error, 1)
			go func() {
				got <- ipctest.Each(ranks, func(r int) error {
					return groups[r].Run(&Call{Plan: plan, Buffers: []*cuda.Buffer{bufs[r]}, PerRank: []int{1, 1, 1}})
				})
			}()
			select {
			case errs := <-got:
				return errs
			case <-time.After(30 * time.Second):
				t.Fatalf("mark %d: the ranks hang", fails)
				return nil
			}
		}
		failed := errors.Join(call(1)...)
		if flaw.left <= 0 && !errors.Is(failed, errFlaw) || flaw.left > 0 && failed != nil {
			t.Errorf("mark %d: %v", fails, failed)
		}
		flaw.left = 1 << 30
		for value := int32(2); value < 5; value++ {
			if err := errors.Join(call(value)...); err != nil {
				t.Fatalf("mark %d, the next call: %v", fails, err)
			}
			for r, b := range bufs {
				have, err := b.Int32s()
				if err != nil || slices.ContainsFunc(have, func(v int32) bool { return v != value }) {
					t.Errorf("mark %d: rank %d has %d, want %d: %v", fails, r, have[0], value, err)
				}
			}
		}
		for _, g := range groups {
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
