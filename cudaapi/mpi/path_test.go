package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/mpi"
)

// With IPC and nothing else, memory of pools goes that way too, in the order of
// streams as well.
func TestPoolMemoryByIPC(t *testing.T) {
	runRanks(t, 2, "pool", "GOCUDA_SIM_SCHEDULE=adversarial", "GOCUDA_MPI_PATH=ipc")
}

func pool() error {
	world, d, err := begin()
	if err != nil {
		return err
	}
	s, err := d.NewStream(cuda.NonBlocking)
	if err != nil {
		return err
	}
	const n = 100_000
	for round := range 4 {
		b, err := s.AllocAsync(n, cuda.Int32)
		if err != nil {
			return err
		}
		host := make([]int32, n)
		ordered := round%2 == 1
		if world.Rank() == 0 {
			for i := range host {
				host[i] = int32(i + round)
			}
			err = errors.Join(s.Synchronize(), b.Upload(host))
			if ordered {
				err = errors.Join(err, world.SendOn(b, 1, round, s), b.MemsetAsync(0xee, s))
			} else {
				err = errors.Join(err, world.Send(b, 1, round), b.MemsetAsync(0xee, s))
			}
		} else {
			if err = errors.Join(b.MemsetAsync(0xdd, s), s.Synchronize()); ordered && err == nil {
				_, err = world.RecvOn(b, 0, round, s)
			} else if err == nil {
				_, err = world.Recv(b, 0, round)
			}
			err = errors.Join(err, s.Synchronize(), b.Download(host))
			for i, v := range host {
				if v != int32(i+round) {
					return fmt.Errorf("round %d: %d at %d", round, v, i)
				}
			}
		}
		if err := errors.Join(err, b.FreeAsync(s), s.Synchronize()); err != nil {
			return err
		}
	}
	return nil
}

// With IPC and nothing else, memory that cannot be opened is an error at both
// ends, and no wait.
func TestMemoryThatCannotBeOpened(t *testing.T) {
	runRanks(t, 2, "refused", "GOCUDA_MPI_PATH=ipc")
}

// closed opens no memory of other processes.
type closed struct{ driver.Driver }

func (*closed) IPCOpenMemHandle(driver.Context, driver.IPCMemHandle) (driver.Ptr, error) {
	return 0, &driver.Error{Code: driver.ErrInvalidContext, Call: "cuIpcOpenMemHandle", Detail: "it is a test"}
}

func refusing() error {
	if err := wrapDriver(func(d driver.Driver) driver.Driver { return &closed{d} }); err != nil {
		return err
	}
	world, d, err := begin()
	if err != nil {
		return err
	}
	b, err := d.Alloc(1000, cuda.Int32)
	if err != nil {
		return err
	}
	if world.Rank() == 0 {
		err = world.Send(b, 1, 0)
	} else {
		_, err = world.Recv(b, 0, 0)
	}
	want := [...]string{"the receiver cannot open the memory: cuIpcOpenMemHandle", "it is a test"}[world.Rank()]
	if !errors.Is(err, mpi.ErrOther) || !strings.Contains(err.Error(), want) {
		return fmt.Errorf("rank %d: %v", world.Rank(), err)
	}
	return b.Free()
}

func init() { programs["shut"] = shut }

// Where nothing forces IPC, messages of any length come all the same, through the
// host, and Path tells why.
func TestMemoryThatCannotBeOpenedGoesThroughTheHost(t *testing.T) { runRanks(t, 2, "shut") }

func shut() error {
	if err := wrapDriver(func(d driver.Driver) driver.Driver { return &closed{d} }); err != nil {
		return err
	}
	world, d, err := begin()
	if err != nil {
		return err
	}
	for _, n := range []int{2, 2, 1000, 2} {
		b, err := d.Alloc(n, cuda.Int32)
		if err != nil {
			return err
		}
		if world.Rank() == 0 {
			err = errors.Join(b.Fill(int32(n), nil), world.Send(b, 1, 0))
		} else if _, err = world.Recv(b, 0, 0); err == nil {
			var got []int32
			if got, err = b.Int32s(); err == nil && (got[0] != int32(n) || got[n-1] != int32(n)) {
				err = fmt.Errorf("%d elements: %d and %d", n, got[0], got[n-1])
			}
		}
		if err := errors.Join(err, world.Barrier(), b.Free()); err != nil {
			return err
		}
	}
	why := [...]string{"the receiver could not open the sender's memory", "it is a test"}[world.Rank()]
	if path, reason := mpi.Path(world, 1-world.Rank()); path != "staged" || !strings.Contains(reason, why) {
		return fmt.Errorf("rank %d: the path is %s: %s", world.Rank(), path, reason)
	}
	return nil
}
