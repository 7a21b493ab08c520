package local

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// inOneProcess makes the ranks of a world in this process, over ordinary
// memory, so that the race detector sees both ends.
func inOneProcess(t *testing.T, n int, readable bool) []*local {
	t.Helper()
	mem := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]uint64, segmentBytes(n)/8)))), segmentBytes(n))
	formatSegment(mem, n)
	all := make([]*local, n)
	for i := range all {
		seg, err := openSegment(mem, n)
		if err != nil {
			t.Fatal(err)
		}
		e := newEngine(i, n, seg)
		e.direct = readable
		for j := range e.peers {
			e.peers[j].pid, e.peers[j].readable = os.Getpid(), readable
		}
		if all[i], err = newLocal(e, nil); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, one := range all {
			one.e.close()
		}
	})
	return all
}

// everywhere runs f on all ranks at once.
func everywhere(t *testing.T, all []*local, f func(w transport.Comm) error) {
	t.Helper()
	var all2 sync.WaitGroup
	errs := make([]error, len(all))
	for i, one := range all {
		all2.Go(func() { errs[i] = f(one.World()) })
	}
	over := make(chan struct{})
	go func() { all2.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(time.Minute):
		b := make([]byte, 1<<20)
		t.Fatalf("the ranks hang:\n%s", b[:runtime.Stack(b, true)])
	}
	for i, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", i, err)
		}
	}
}

// eachWay runs a test with messages read from their sender's memory, and with
// messages sent in parts.
func eachWay(t *testing.T, n int, f func(w transport.Comm) error) {
	for name, readable := range map[string]bool{"read": true, "parts": false} {
		t.Run(name, func(t *testing.T) {
			all := inOneProcess(t, n, readable)
			if readable && !all[0].e.mayRead() {
				t.Skip("the system does not let a process read another's memory")
			}
			everywhere(t, all, f)
		})
	}
}

// mayRead tells whether process_vm_readv works here at all.
func (e *engine) mayRead() bool {
	var a, b uint64
	n, _ := readProcess(os.Getpid(), unsafe.Pointer(&a), uint64(uintptr(unsafe.Pointer(&b))), 8)
	return n == 8
}

func words(s []int64) transport.Memory {
	return transport.Memory{P: unsafe.Pointer(unsafe.SliceData(s)), N: len(s), T: transport.Int64}
}

func word(v *int64) transport.Memory {
	return transport.Memory{P: unsafe.Pointer(v), N: 1, T: transport.Int64}
}

// count is n numbers from first on.
func count(first int64, n int) []int64 {
	s := make([]int64, n)
	for i := range s {
		s[i] = first + int64(i)
	}
	return s
}

func checkCount(s []int64, first int64) error {
	for i, v := range s {
		if v != first+int64(i) {
			return fmt.Errorf("element %d of %d is %d, not %d", i, len(s), v, first+int64(i))
		}
	}
	return nil
}

func ofClass(err error, class transport.Class, words ...string) error {
	var e *transport.Error
	if !errors.As(err, &e) || e.Class != class {
		return fmt.Errorf("the error is %v, not of class %s", err, class)
	}
	for _, w := range words {
		if !strings.Contains(e.Text, w) {
			return fmt.Errorf("the error is %q, without %q", e.Text, w)
		}
	}
	return nil
}
func waitFor(r transport.Request, err error) (transport.Status, error) {
	if err != nil {
		return transport.Status{}, err
	}
	s, _, err := r.(transport.Waiter).Wait(nil)
	return s, err
}

// TestLostWakeup: what a rank was sent comes, though nobody woke its agent.
func TestLostWakeup(t *testing.T) {
	all := inOneProcess(t, 2, false)
	got := make([]int64, 1)
	r, err := all[1].world.Irecv(words(got), 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	asleep := &all[1].e.segment.rank(1).asleep
	done := r.(transport.Waiter).Done() // now the agent takes over
	for asleep.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(2 * time.Millisecond) // most likely it sleeps now
	sent := int64(42)
	e := all[0].e
	e.mu.Lock()
	e.peers[1].out.write(&frame{kind: frameEager, payload: 8, context: contextWorld, tag: 5, size: 8}, unsafe.Pointer(&sent))
	e.mu.Unlock()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it did not come")
	}
	if got[0] != sent {
		t.Errorf("got %d, want %d", got[0], sent)
	}
}
