package local

import (
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// ends waits for a request that must come to its end, with an error.
func ends(t *testing.T, what string, r transport.Request) {
	t.Helper()
	got := make(chan error, 1)
	go func() {
		_, _, err := r.(transport.Waiter).Wait(nil)
		got <- err
	}()
	select {
	case err := <-got:
		if err == nil {
			t.Errorf("%s ended without an error", what)
		}
	case <-time.After(30 * time.Second):
		t.Errorf("%s hangs", what)
	}
}

// TestFinalizeEndsWaits: whoever still waits when the engine is closed gets an error:
// for a message, for a collective, and for a message that is being copied just then.
func TestFinalizeEndsWaits(t *testing.T) {
	all := inOneProcess(t, 2, true)
	w := all[0].World()
	in := int64(0)
	recv, err := w.Irecv(word(&in), 1, 5)
	if err != nil {
		t.Fatal(err)
	}
	barrier, err := w.Start(&transport.Collective{Kind: transport.Barrier})
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	for _, r := range []transport.Request{recv, barrier} {
		go func() {
			for {
				select {
				case <-closed:
					return
				default:
					r.(transport.Waiter).Done()
				}
			}
		}()
	}
	late := make(chan struct{})
	go func() {
		ends(t, "a collective", barrier)
		close(late)
	}()
	for all[0].e.waiters.Load() == 0 { // until it sleeps
		time.Sleep(time.Millisecond)
	}
	all[0].e.close()
	close(closed)
	<-late
	ends(t, "a receive", recv)
}

func TestFinalizeDuringCopy(t *testing.T) {
	all := inOneProcess(t, 2, true)
	if !all[0].e.mayRead() {
		t.Skip("the system does not let a process read another's memory")
	}
	out, in := make([]byte, 1<<20), make([]byte, 1<<20)
	of := func(b []byte) transport.Memory {
		return transport.Memory{P: unsafe.Pointer(unsafe.SliceData(b)), N: len(b), T: transport.Byte}
	}
	r, err := all[1].World().Irecv(of(in), 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	e := all[1].e
	e.mu.Lock() // the agent moves nothing meanwhile
	if _, err := all[0].World().Isend(of(out), 1, 5); err != nil {
		t.Fatal(err)
	}
	for e.drain() {
		continue
	}
	pull := e.nextPull()
	if pull == nil {
		t.Fatal("the message is not there")
	}
	e.closed = true // as close does it first
	e.mu.Unlock()
	e.pull(pull)
	ends(t, "a receive whose data were being copied", r)
	e.mu.Lock()
	e.closed = false
	e.mu.Unlock()
}
