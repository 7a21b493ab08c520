package collective

import (
	"errors"
	"os"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/ipc"
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

// ncclRanks are two ranks with a device and a buffer each, and a fake NCCL.
func ncclRanks(t *testing.T) (*fakeNCCL, []*ipctest.Ranks, []*Group, [2][]*cuda.Buffer) {
	if os.Getenv("GOCUDA_BACKEND") == "nvidia" {
		t.Skip("simulated devices would take the place of the GPUs for the tests that follow")
	}
	_, devices := ipctest.New(t, sim.Options{Devices: 2})
	f, ranks := useFakeNCCL(t), ipctest.NewRanks(2)
	groups := []*Group{NewGroup(ranks[0]), NewGroup(ranks[1])}
	var bufs [2][]*cuda.Buffer
	for i, d := range devices {
		b, err := d.Alloc(1, cuda.Float32)
		if err != nil {
			t.Fatal(err)
		}
		bufs[i] = []*cuda.Buffer{b}
	}
	return f, ranks, groups, bufs
}

// within fails the test if what it is given does not end.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: hangs", what)
	}
}

// TestNCCLConnectsBesideAllocations: while a rank waits for the others to make a
// communicator with it, the rest of its program can allocate.
func TestNCCLConnectsBesideAllocations(t *testing.T) {
	f, _, groups, bufs := ncclRanks(t)
	connecting := make(chan struct{})
	f.born = func(first int) error {
		if first == 0 {
			close(connecting)
			return nil
		}
		<-connecting
		return ipc.Allocating(func() error { return nil })
	}
	within(t, "all-reduce", func() {
		for range 2 {
			for r, err := range ipctest.Each(2, func(r int) error { return groups[r].Allreduce(bufs[r], nil, Using(NCCL)) }) {
				if err != nil {
					t.Errorf("rank %d: %v", r, err)
				}
			}
		}
		for r, err := range ipctest.Each(2, func(r int) error { return groups[r].Close() }) {
			if err != nil {
				t.Errorf("rank %d closes: %v", r, err)
			}
		}
	})
	if n, aborted := f.count("destroy", 0), f.count("abort", 0); n != 2 || aborted != 0 {
		t.Errorf("%d members destroyed, %d aborted", n, aborted)
	}
}

// TestNCCLWithoutARank: a rank that is lost is waited for neither while a communicator
// is made, nor in an operation, nor when the group is closed.
func TestNCCLWithoutARank(t *testing.T) {
	for _, c := range []struct {
		name    string
		made    bool // the communicator is made before the rank is lost
		streams bool // the operation is on a stream
	}{{"made", false, false}, {"waited for", true, false}, {"on a stream", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			f, ranks, groups, bufs := ncclRanks(t)
			if c.made {
				within(t, "the first operation", func() {
					if errs := ipctest.Each(2, func(r int) error { return groups[r].Allreduce(bufs[r], nil, Using(NCCL)) }); errors.Join(errs...) != nil {
						t.Fatal(errs)
					}
				})
			}
			f.born = func(first int) error {
				if first == 1 {
					ranks[1].Lose()
					return errors.New("this rank is no more")
				}
				return nil
			}
			s, err := bufs[0][0].Device().NewStream(cuda.NonBlocking)
			if err != nil {
				t.Fatal(err)
			}
			within(t, "the operation that a rank does not come to", func() {
				errs := ipctest.Each(2, func(r int) error {
					switch {
					case r == 1 && c.made: // it is there before the operation, and no longer in it
						_, err := groups[1].nccl.comms(groups[1], bufs[1], cuda.ReduceSum, false)
						ranks[1].Lose()
						return err
					case r == 0 && c.streams:
						return errors.Join(groups[0].Allreduce(bufs[0], []*cuda.Stream{s}, Using(NCCL)), s.Synchronize())
					}
					return groups[r].Allreduce(bufs[r], nil, Using(NCCL))
				})
				if !errors.Is(errs[0], ipctest.ErrLost) && !c.streams {
					t.Errorf("the operation ends with %v", errs[0])
				}
				if err := groups[0].Allreduce(bufs[0], nil, Using(NCCL)); !errors.Is(err, ipctest.ErrLost) {
					t.Errorf("the next one ends with %v", err)
				}
				ipc.Allocating(func() error { return nil })
				if err := groups[0].Close(); err != nil {
					t.Errorf("the group is closed: %v", err)
				}
			})
			if n := f.count("abort", 0); n > 0 != c.made {
				t.Errorf("%d members are aborted", n)
			}
		})
	}
}
