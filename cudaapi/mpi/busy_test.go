package mpi_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
)

func init() { programs["busy"], programs["freed"] = busyStreams, freedComm }

// TestBusyStreams: no Test of a collective of device memory waits for a stream that is
// busy, and messages go on meanwhile.
func TestBusyStreams(t *testing.T) {
	runRanks(t, 2, "busy", "GOCUDA_SIM_SCHEDULE=adversarial")
}

// TestFreeOnABusyDevice: Free waits for the device, and messages go on meanwhile: what
// the device does may wait for one.
func TestFreeOnABusyDevice(t *testing.T) {
	runRanks(t, 2, "freed", "GOCUDA_MPI_ALLREDUCE=ll")
}

func freedComm() error {
	world, d, err := begin()
	if err != nil {
		return err
	}
	// On two H100 the message waits for Free all the same; what waits there is not known.
	if of, err := cuda.Backend(); err != nil || of.Name != "sim" {
		return err
	}
	other, err := world.Dup()
	b, err2 := d.Alloc(1000, cuda.Int32)
	stream, err3 := d.NewStream(cuda.NonBlocking)
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	if err := errors.Join(b.Fill(int32(1), nil), other.Allreduce(mpi.InPlace, b, mpi.Sum), world.Barrier()); err != nil {
		return err
	}
	came := make(chan struct{})
	if err := d.DefaultStream().LaunchHostFunc(func() { <-came }); err != nil {
		return err
	}
	over := sync.OnceFunc(func() { close(came) })
	waited := time.AfterFunc(20*time.Second, over)
	freed := make(chan error, 1)
	go func() { freed <- other.Free() }()
	time.Sleep(200 * time.Millisecond) // Free is under way, or the test shows nothing
	fresh, err := d.Alloc(1000, cuda.Int32)
	if err != nil {
		return err
	}
	if world.Rank() == 0 {
		err = world.SendOn(fresh, 1, 1, stream)
	} else {
		_, err = world.RecvOn(fresh, 0, 1, stream)
	}
	if err := errors.Join(err, stream.Synchronize()); err != nil {
		return err
	}
	if !waited.Stop() {
		return errors.New("a message waited for Free")
	}
	over()
	return errors.Join(<-freed, b.Free(), fresh.Free())
}

func busyStreams() error {
	world, d, err := begin()
	if err != nil {
		return err
	}
	rank, p := world.Rank(), world.Size()
	const each = 50_000 // longer than what a driver takes from pageable memory at once
	from, err := d.Alloc(each*p, cuda.Int32)
	to, err2 := d.Alloc(each*p, cuda.Int32)
	quick, err3 := d.Alloc(1000, cuda.Int32)
	stream, err4 := d.NewStream(cuda.NonBlocking)
	if err := errors.Join(err, err2, err3, err4, from.Fill(int32(rank+1), nil), quick.Fill(int32(7), nil), d.Synchronize()); err != nil {
		return err
	}
	message := func() (err error) {
		if rank == 0 {
			err = world.SendOn(quick, 1, 1, stream)
		} else {
			_, err = world.RecvOn(quick, 0, 1, stream)
		}
		return errors.Join(err, stream.Synchronize())
	}
	if err := message(); err != nil { // which finds all that it needs from now on
		return err
	}
	counts := []int{each, each}
	starts := map[string]func() (*mpi.Request, error){
		"Iallgatherv": func() (*mpi.Request, error) { return world.Iallgatherv(from.Slice(0, each), to, counts, nil) },
		"Iallgather":  func() (*mpi.Request, error) { return world.Iallgather(from.Slice(0, each), to) },
		"Ialltoallv":  func() (*mpi.Request, error) { return world.Ialltoallv(from, counts, nil, to, counts, nil) },
		"Iexscan":     func() (*mpi.Request, error) { return world.Iexscan(from, to, mpi.Sum) },
	}
	for _, name := range slices.Sorted(maps.Keys(starts)) {
		if err := errors.Join(to.Fill(int32(-1), nil), d.Synchronize()); err != nil {
			return err
		}
		r, err := starts[name]()
		if err == nil && name == "Iexscan" && rank == 0 { // which receives nothing
			err = to.Fill(int32(5), nil)
		}
		if err != nil {
			return err
		}
		end := make(chan struct{})
		if err := d.DefaultStream().LaunchHostFunc(func() { <-end }); err != nil {
			return err
		}
		waited := time.AfterFunc(20*time.Second, func() { close(end) })
		for range 3000 {
			if _, over, err := r.Test(); err != nil || over && (name != "Iexscan" || rank != 0) {
				return fmt.Errorf("%s: over %t before the stream is idle: %v", name, over, err)
			}
		}
		if err := message(); err != nil {
			return err
		}
		if !waited.Stop() {
			return fmt.Errorf("%s: Test or another message waited for the stream", name)
		}
		close(end)
		if _, err := r.Wait(); err != nil {
			return err
		}
		got, err := to.Int32s()
		if err != nil {
			return err
		}
		for i, v := range got {
			want := int32(i/each + 1)
			if name == "Iexscan" {
				want = []int32{5, 1}[rank]
			}
			if v != want {
				return fmt.Errorf("%s: element %d is %d, want %d", name, i, v, want)
			}
		}
	}
	return nil
}
