package oneshot

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/allreduce"
	"gocuda/cudaapi/internal/ipctest"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/sim"
)

// TestIdleBlocks: blocks of Simple that have had nothing to do for more than 2^31 steps
// wait for the others' as before.
func TestIdleBlocks(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("simulated kernels need a C++ compiler")
	}
	simulatedBlocks = 2
	defer func() { simulatedBlocks = 1 }()
	_, devices := ipctest.New(t, sim.Options{Devices: 2, Memory: 1 << 30})
	idleBlocks(t, devices)
}

func TestIdleBlocksOnGPUs(t *testing.T) {
	if err := nvidia.Available(); err != nil {
		t.Skip(err)
	}
	d, err := nvidia.Open()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := d.DeviceCount(); err != nil || n < 2 {
		t.Skip("two GPUs are needed:", n, err)
	}
	_, devices := ipctest.Over(t, d)
	idleBlocks(t, devices)
}

func idleBlocks(t *testing.T, devices []*cuda.Device) {
	ranks := ipctest.NewRanks(2)
	var parts [2]Members
	var members [2]*Member
	var bufs [2]*cuda.Buffer
	each := func(f func(r int) error) {
		t.Helper()
		over := make(chan error, 1)
		go func() { over <- errors.Join(ipctest.Each(2, f)...) }()
		select {
		case err := <-over:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("the ranks wait for ever")
		}
	}
	const small, large = 4, 5 << 20 // elements: of one block, and of all
	each(func(r int) (err error) {
		if err = Ready(devices[r], cuda.Float32); err != nil {
			return err
		}
		if members[r], err = parts[r].Of(ranks[r], devices[r], []int{0, 1}); err != nil {
			return err
		}
		bufs[r], err = devices[r].Alloc(large, cuda.Float32)
		return err
	})
	// reduce sums n elements, of which the two ranks have once and twice a value; the
	// second rank comes late.
	reduce := func(n int, value float32, late time.Duration) {
		t.Helper()
		second := make(chan struct{})
		each(func(r int) error {
			b, m := bufs[r].Slice(0, n), members[r]
			if err := errors.Join(b.Fill(float32(r+1)*value, nil), devices[r].Synchronize()); err != nil {
				return err
			}
			if r == 1 {
				<-second
			}
			if err := m.Start(allreduce.Simple, cuda.ReduceSum, b, b); err != nil {
				return err
			}
			if r == 0 {
				time.Sleep(late) // time enough for what does not wait
				done, err := m.Done()
				close(second)
				if done || err != nil {
					return fmt.Errorf("step %d: over before the other rank began: %v", m.step, err)
				}
			}
			if err := m.Wait(); err != nil {
				return err
			}
			got, err := b.Float32s()
			if err == nil && slices.ContainsFunc(got, func(v float32) bool { return v != 3*value }) {
				err = fmt.Errorf("step %d: rank %d has other sums than %g", m.step, r, 3*value)
			}
			return err
		})
	}
	reduce(large, 1, 0)
	for i := uint32(1); i <= 1<<31/freshSteps+1; i++ {
		for _, m := range members {
			m.step = i*freshSteps - 1 // as after so many small ones
		}
		reduce(small, 1, 0)
		reduce(small, 1, 0)
	}
	reduce(large, 5, 100*time.Millisecond)
	for r := range parts {
		if err := parts[r].Close(); err != nil {
			t.Error(err)
		}
	}
}
