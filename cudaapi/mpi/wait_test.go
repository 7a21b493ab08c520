package mpi

import (
	"errors"
	"testing"
	"time"

	"gocuda/cudaapi/mpi/internal/transport"
)

// What was interrupted ends also if it looks only when the next cell has begun.
func TestAWaitEndsByTheInterruptOfItsTime(t *testing.T) {
	defer SetInterrupt(nil)
	ours := make(chan struct{})
	SetInterrupt(ours)
	ended := make(chan error, 1)
	go func() {
		_, err := Self().Probe(0, 77)
		ended <- err
	}()
	for begun := time.Now(); len(Waits()) == 0; time.Sleep(time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatal("the probe does not wait")
		}
	}
	SetInterrupt(make(chan struct{}))
	close(ours)
	select {
	case err := <-ended:
		if !errors.Is(err, ErrInterrupted) {
			t.Errorf("the error is %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the probe goes on")
	}
}

// Libraries move long messages while they are asked: a wait that slept between
// the parts of one would stretch it tenfold.
func TestAWaitIsAwakeWhileDataMoves(t *testing.T) {
	world := Self()
	p := pending{c: world, call: "Comm.Recv"}
	x := newWaiter(world.w)
	defer x.done()
	tire := func() {
		t.Helper()
		for begun := time.Now(); x.sleep == 0; {
			if err := x.pause(&p); err != nil || time.Since(begun) > time.Minute {
				t.Fatalf("a wait for nothing does not sleep (%v)", err)
			}
		}
	}
	tire()
	for begun := time.Now(); time.Since(begun) < 10*moving; { // a library's answer
	}
	if err := x.pause(&p); err != nil || x.sleep != 0 {
		t.Errorf("after an answer that took long it sleeps for %v (%v)", x.sleep, err)
	}
	tire()
	if len(Waits()) != 1 {
		t.Errorf("%d waits are listed", len(Waits()))
	}
}

// panics is a reduction by a function that panics when the wait is listed.
type panics struct{ transport.Request }

func (panics) Test() (transport.Status, bool, error) {
	if len(Waits()) > 0 {
		panic("in the program's function")
	}
	return transport.Status{}, false, nil
}

// A call that ends in a panic is not waited in any more.
func TestAPanicEndsAWait(t *testing.T) {
	p := pending{c: Self(), call: "Comm.Allreduce", r: panics{}}
	func() {
		defer func() { recover() }()
		p.block()
		t.Error("does not panic")
	}()
	if list := Waits(); len(list) > 0 {
		t.Errorf("still waits: %v", list)
	}
}

// A call of a window that waits is listed, with what it waits for, until it ends.
func TestAWindowsWaitIsListed(t *testing.T) {
	defer SetInterrupt(nil)
	w, err := Self().WinCreate(make([]int, 1))
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	SetInterrupt(stop)
	ended := make(chan error, 1)
	go func() { ended <- w.Start([]int{0}) }() // nobody posts
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		list := Waits()
		if len(list) == 1 && list[0].Call == "Win.Start" && time.Since(list[0].Since) >= yields {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("the waits are %v", list)
		}
	}
	close(stop)
	if err := <-ended; !errors.Is(err, ErrInterrupted) {
		t.Errorf("the error is %v", err)
	}
	if list := Waits(); len(list) > 0 {
		t.Errorf("still waits: %v", list)
	}
	SetInterrupt(nil)
	if err := w.Free(); err != nil {
		t.Error(err)
	}
	if len(waits.windows) > 0 {
		t.Errorf("%d windows are kept", len(waits.windows))
	}
}
