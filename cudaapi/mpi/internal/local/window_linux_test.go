package local

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// lostInEpoch has rank 1 killed while others are in an epoch of a window; enter is
// what rank 1 does before, and wait what the others cannot end without it.
func lostInEpoch(f transport.Flavor, enter, wait func(w transport.Window, rank int) error) func(transport.Transport) error {
	return func(t transport.Transport) error {
		own, err := t.World().Dup()
		if err != nil {
			return err
		}
		mem := make([]int64, 4)
		w, err := own.(transport.Windows).NewWindow(f, words(mem), nil)
		if err != nil {
			return err
		}
		if own.Rank() == 1 {
			if err := enter(w, 1); err != nil {
				return err
			}
		}
		if _, err := waitFor(own.Start(&transport.Collective{Kind: transport.Barrier})); err != nil {
			return err
		}
		if own.Rank() == 1 {
			time.Sleep(50 * time.Millisecond) // the others wait by now
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		began := time.Now()
		err = wait(w, own.Rank())
		if d := time.Since(began); d > 2*time.Second {
			return fmt.Errorf("it took %v until the loss was known", d)
		}
		if _, again := w.Sync(transport.Sync{Kind: transport.Fence}, nil); again == nil {
			return fmt.Errorf("a fence without rank 1 ended well")
		}
		return expectLost(t, err)
	}
}

var windowLosses = map[string]func(transport.Transport) error{}

func init() {
	nothing := func(transport.Window, int) error { return nil }
	sync := func(s transport.Sync) func(transport.Window, int) error {
		return func(w transport.Window, rank int) error {
			if s.Kind == transport.Post {
				s.Group = []int{1}
				if _, err := w.Sync(s, nil); err != nil {
					return err
				}
				s.Kind = transport.WaitExposure
			}
			_, err := w.Sync(s, nil)
			return err
		}
	}
	exclusive := sync(transport.Sync{Kind: transport.Lock, Target: 0, Exclusive: true})
	windowLosses["a lock is held"] = lostInEpoch(transport.Created, exclusive, exclusive)
	windowLosses["a fence"] = lostInEpoch(transport.Created, nothing, sync(transport.Sync{Kind: transport.Fence}))
	windowLosses["post"] = lostInEpoch(transport.Created, nothing, sync(transport.Sync{Kind: transport.Post}))
	windowLosses["start"] = lostInEpoch(transport.Created, nothing, sync(transport.Sync{Kind: transport.StartAccess, Group: []int{1}}))
	windowLosses["accesses"] = lostInEpoch(transport.Created, nothing, func(w transport.Window, _ int) error {
		if _, err := w.Sync(transport.Sync{Kind: transport.LockAll}, nil); err != nil {
			return err
		}
		for i := int64(0); ; i++ {
			got := make([]int64, 1)
			a := transport.Access{Kind: transport.GetAccumulate, Target: 1, Origin: word(&i), Result: word(&got[0]), Op: transport.Sum}
			if _, err := w.Access(&a, false); err != nil {
				return err
			}
			if _, err := w.Sync(transport.Sync{Kind: transport.Flush, Target: 1}, nil); err != nil {
				return err
			}
		}
	})
	// It holds the lock of accumulates on shared memory, as if killed in one.
	windowLosses["an accumulate on shared memory"] = lostInEpoch(transport.Shared, func(w transport.Window, _ int) error {
		p, err := w.SharedBase(0)
		if err == nil {
			*(*uint32)(unsafe.Add(p, -64)) = 2
		}
		return err
	}, func(w transport.Window, _ int) error {
		v := int64(1)
		_, err := w.Access(&transport.Access{Kind: transport.Accumulate, Target: 0, Origin: word(&v), Op: transport.Sum}, false)
		return err
	})
	for name, f := range windowLosses {
		rankCases["window: "+name] = f
	}
}

func TestARankLostInAnEpochIsNoticedByAll(t *testing.T) {
	for name := range windowLosses {
		t.Run(name, func(t *testing.T) {
			r := startRanks(t, 3, "window: "+name)
			for i, code := range r.wait() {
				if want := map[int]int{1: -1}[i]; code != want {
					t.Errorf("rank %d ended with %d, not %d:\n%s", i, code, want, &r.out[i])
				}
			}
		})
	}
}
