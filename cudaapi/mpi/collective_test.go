package mpi_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
)

func init() { programs["behind"] = behind }

// TestMessagesFollowTheDefaultStream: what is sent is what the buffer holds when
// the default stream has come to its end, and what is received is written then.
func TestMessagesFollowTheDefaultStream(t *testing.T) {
	for _, path := range []string{"ipc", "staged"} {
		runRanks(t, 2, "behind", "GOCUDA_SIM_SCHEDULE=adversarial", "GOCUDA_MPI_PATH="+path)
	}
}

// behind has rank 0 send what a stream writes behind a gate, and rank 1 receive
// into what a stream reads behind one; the gates open when the messages are under
// way. The stream is the default one, or one that the default stream waits for.
func behind() error {
	world, d, err := begin()
	if err != nil {
		return err
	}
	rank := world.Rank()
	blocking, err := d.NewStream()
	gate, err2 := d.AllocHost(1, cuda.Uint32, cuda.Portable, cuda.Mapped)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	turn := 0
	for _, n := range []int{2, 100, 1000, 1 << 18} {
		b, err := d.Alloc(n, cuda.Int32)
		before, err2 := d.Alloc(n, cuda.Int32)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		for _, s := range []*cuda.Stream{d.DefaultStream(), blocking} {
			for _, shut := range []uint32{0, 1, 2} { // at none, at the sender, at the receiver
				turn++
				opened := make(chan struct{})
				close(opened)
				if err := errors.Join(b.Fill(int32(-turn), nil), before.Fill(0, nil), d.Synchronize(), world.Barrier()); err != nil {
					return err
				}
				atomic.StoreUint32(&sure(gate.Uint32s())[0], 1)
				if shut == uint32(rank+1) {
					opened = make(chan struct{})
					atomic.StoreUint32(&sure(gate.Uint32s())[0], 0)
					time.AfterFunc(5*time.Millisecond, func() {
						atomic.StoreUint32(&sure(gate.Uint32s())[0], 1)
						close(opened)
					})
				}
				err := s.WaitValue(gate, 1, cuda.WaitGEQ)
				if rank == 0 {
					err = errors.Join(err, b.Fill(int32(turn), s), world.Send(b, 1, turn))
				} else {
					err = errors.Join(err, cuda.MemcpyAsync(before, b, s))
					_, fail := world.Recv(b, 0, turn)
					err = errors.Join(err, fail)
				}
				<-opened
				err = errors.Join(err, d.Synchronize())
				for what, want := range map[*cuda.Buffer]int32{b: int32(turn), before: int32(-turn)} {
					got, fail := what.Int32s()
					if err = errors.Join(err, fail); err == nil && (got[0] != want || got[n-1] != want) && (rank == 1 || what == b) {
						err = fmt.Errorf("%d elements, gate %d, %v: %d and %d, want %d", n, shut, s, got[0], got[n-1], want)
					}
				}
				if err != nil {
					return err
				}
			}
		}
		if err := errors.Join(b.Free(), before.Free()); err != nil {
			return err
		}
	}
	return nil
}
