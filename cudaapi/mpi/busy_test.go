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

func init() {
	programs["busy"], programs["freed"], programs["begun"] = busyStreams, freedComm, begunLater
}

// TestBusyStreams: no Test of a collective of device memory waits for a stream that is
// busy, and messages go on meanwhile.
func TestBusyStreams(t *testing.T) {
	runRanks(t, 2, "busy", "GOCUDA_SIM_SCHEDULE=adversarial")
}

// TestCollectivesBehindABusyStream: no nonblocking collective waits for the device when it
// is called; the ranks begin it when their devices are done, in the order of the calls,
// though they do something else by then.
func TestCollectivesBehindABusyStream(t *testing.T) {
	runRanks(t, 2, "begun", "GOCUDA_SIM_SCHEDULE=adversarial")
}

func begunLater() error {
	world, d, err := begin()
	if err != nil {
		return err
	}
	const n = 20_000
	rank := world.Rank()
	var errs []error
	buffer := func() *cuda.Buffer {
		b, err := d.Alloc(n, cuda.Int32)
		errs = append(errs, err)
		return b
	}
	all := make([]*cuda.Buffer, 6)
	for i := range all {
		all[i] = buffer()
	}
	twice, err := d.Alloc(2*n, cuda.Int32)
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	greatest, err := mpi.NewOp(func(in, inout []int32) {
		for i := range in {
			inout[i] = max(in[i], inout[i])
		}
	}, true)
	if err != nil {
		return err
	}
	host, token := []int32{int32(rank + 1)}, []int32{7}
	end := make(chan struct{})
	if rank == 0 {
		if err := d.DefaultStream().LaunchHostFunc(func() { <-end }); err != nil {
			return err
		}
	}
	for i, b := range all { // behind the gate at rank 0
		if err := b.Fill(int32(100*rank+i), nil); err != nil {
			return err
		}
	}
	over := sync.OnceFunc(func() { close(end) })
	waited := time.AfterFunc(20*time.Second, over)
	var requests []*mpi.Request
	for _, start := range []func() (*mpi.Request, error){
		func() (*mpi.Request, error) { return world.Iallgather(all[0], twice) },
		func() (*mpi.Request, error) { return world.Iallreduce(mpi.InPlace, host, mpi.Sum) },
		func() (*mpi.Request, error) { return world.Ibcast(all[1], 0) },
		func() (*mpi.Request, error) { return world.Iallreduce(mpi.InPlace, all[2], greatest) },
		func() (*mpi.Request, error) { return world.Iscan(mpi.InPlace, all[3], mpi.Sum) },
		func() (*mpi.Request, error) { return world.Ireduce(all[4], all[5], mpi.Sum, 1) },
		func() (*mpi.Request, error) { return world.Ibarrier() },
	} {
		r, err := start()
		if err != nil {
			return err
		}
		requests = append(requests, r)
	}
	if !waited.Stop() {
		return errors.New("a nonblocking collective waited for the stream")
	}
	if rank == 0 { // which asks for no request before the other's are over
		if _, over, err := mpi.TestAll(requests...); over || err != nil {
			return fmt.Errorf("over before the stream is idle, %v", err)
		}
		over()
		if _, err := world.Recv(token, 1, 1); err != nil {
			return err
		}
	}
	if _, err := mpi.WaitAll(requests...); err != nil {
		return err
	}
	if rank == 1 {
		if err := world.Send(token, 0, 1); err != nil {
			return err
		}
	}
	want := map[*cuda.Buffer][2]int32{twice: {0, 100}, all[1]: {1, 1}, all[2]: {102, 102}, all[3]: {[]int32{3, 106}[rank], []int32{3, 106}[rank]}}
	if rank == 1 {
		want[all[5]] = [2]int32{108, 108}
	}
	for b, v := range want {
		got, err := b.Int32s()
		if err != nil {
			return err
		}
		if got[0] != v[0] || got[len(got)-1] != v[1] {
			return fmt.Errorf("%d and %d, want %v", got[0], got[len(got)-1], v)
		}
	}
	if host[0] != 3 {
		return fmt.Errorf("the host's sum is %d", host[0])
	}
	// What makes a communicator is begun in its turn, too.
	if rank == 0 {
		end := make(chan struct{})
		time.AfterFunc(100*time.Millisecond, func() { close(end) })
		if err := d.DefaultStream().LaunchHostFunc(func() { <-end }); err != nil {
			return err
		}
	}
	r, err := world.Iallgather(all[0], twice)
	if err != nil {
		return err
	}
	dup, err := world.Dup()
	if err != nil {
		return err
	}
	_, err = r.Wait()
	return errors.Join(err, dup.Free())
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
	other, err := world.Dup()
	b, err2 := d.Alloc(1000, cuda.Int32)
	fresh, err3 := d.Alloc(1000, cuda.Int32)
	stream, err4 := d.NewStream(cuda.NonBlocking)
	if err := errors.Join(err, err2, err3, err4); err != nil {
		return err
	}
	message := func(of *cuda.Buffer) (err error) {
		if world.Rank() == 0 {
			err = world.SendOn(of, 1, 1, stream)
		} else {
			_, err = world.RecvOn(of, 0, 1, stream)
		}
		return errors.Join(err, stream.Synchronize())
	}
	// The first message loads kernels and makes streams, for which CUDA may wait for the
	// device. The next one has to open other memory only.
	if err := errors.Join(b.Fill(int32(1), nil), other.Allreduce(mpi.InPlace, b, mpi.Sum), message(b), world.Barrier()); err != nil {
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
	if err := message(fresh); err != nil {
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
