package mpi

import (
	"errors"
	"testing"
	"time"
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
	case <-time.After(10 * time.Second):
		t.Fatal("the probe goes on")
	}
}
