package mpi_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"gocuda/cudaapi/mpi"
)

func init() { programs["one message"] = oneMessage }

// TestOneMessage: of goroutines that receive one Message, one gets it.
func TestOneMessage(t *testing.T) { runRanks(t, 2, "one message") }

func oneMessage() error {
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	for i := range 300 {
		if world.Rank() == 0 {
			if err := world.Send([]int{i}, 1, 0); err != nil {
				return err
			}
			continue
		}
		m, err := world.Mprobe(0, 0)
		if err != nil {
			return err
		}
		const n = 4
		got, errs := make([][]int, n), make([]error, n)
		begin := make(chan struct{})
		var all sync.WaitGroup
		for k := range n {
			got[k] = []int{-1}
			all.Go(func() {
				<-begin
				_, errs[k] = m.Recv(got[k])
			})
		}
		close(begin)
		all.Wait()
		received := 0
		for k := range n {
			var e *mpi.Error
			switch {
			case errs[k] == nil && got[k][0] == i:
				received++
			case !errors.As(errs[k], &e) || e.Class != mpi.ErrRequest || got[k][0] != -1:
				return fmt.Errorf("message %d: %v, %v", i, got[k], errs[k])
			}
		}
		if received != 1 {
			return fmt.Errorf("message %d was received %d times", i, received)
		}
	}
	return world.Barrier()
}
