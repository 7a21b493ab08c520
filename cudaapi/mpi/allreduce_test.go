package mpi_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/collective"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/mpi"
)

func TestAllreduceOfDevices(t *testing.T) {
	for _, n := range []int{2, 3} {
		for _, way := range []string{"ll", "simple", "auto"} {
			runRanks(t, n, "joint", "GOCUDA_SIM_SCHEDULE=adversarial", "GOCUDA_MPI_ALLREDUCE="+way)
		}
	}
}

// jointly runs Allreduces of device memory of many lengths, in and out of place, on
// whole buffers and on views that are not aligned, and mixed with ranks whose
// memory is the host's. Sums round, so that only one order of the ranks gives
// the same at all of them.
func jointly() error {
	copies, world, d, err := beginCounting()
	if err != nil {
		return err
	}
	rank, p := world.Rank(), world.Size()
	value := func(rank, i int) float32 { return float32(math.Sin(float64(rank*7919 + i))) }
	check := func(what string, n int, got []float32) error {
		for i, v := range got {
			want := value(0, i)
			for r := 1; r < p; r++ {
				want += value(r, i)
			}
			if math.Abs(float64(v-want)) > 1e-5 {
				return fmt.Errorf("%s of %d: %g at %d, want %g", what, n, v, i, want)
			}
		}
		// The same bits everywhere.
		low, high := make([]float32, len(got)), make([]float32, len(got))
		if err := errors.Join(world.Allreduce(got, low, mpi.Min), world.Allreduce(got, high, mpi.Max)); err != nil {
			return err
		}
		for i := range low {
			if low[i] != high[i] {
				return fmt.Errorf("%s of %d: element %d is %b at one rank and %b at another", what, n, i, low[i], high[i])
			}
		}
		return nil
	}
	for round, n := range []int{1, 2, 3, 4, 5, 31, 33, 1000, 4097, 20_000, 70_000, 1, 7} {
		host := make([]float32, n)
		for i := range host {
			host[i] = value(rank, i)
		}
		whole, err := d.Alloc(2*n+2, cuda.Float32)
		if err != nil {
			return err
		}
		in, out := whole.Slice(0, n), whole.Slice(n, 2*n)
		if round%2 == 1 {
			in, out = whole.Slice(1, n+1), whole.Slice(n+2, 2*n+2)
		}
		if err := errors.Join(whole.Memset(0xff), in.Upload(host)); err != nil {
			return err
		}
		before := copies.bytes.Load()
		if err := world.Allreduce(in, out, mpi.Sum); err != nil {
			return err
		}
		if used := copies.bytes.Load() - before; used > 0 && os.Getenv("GOCUDA_MPI_ALLREDUCE") != "auto" {
			return fmt.Errorf("%d elements: %d bytes went through the host", n, used)
		}
		got, err := out.Float32s()
		if err == nil {
			err = check("out of place", n, got)
		}
		if err == nil {
			err = world.Allreduce(mpi.InPlace, in, mpi.Sum)
		}
		if err == nil {
			got, err = in.Float32s()
		}
		if err == nil {
			err = check("in place", n, got)
		}
		if err != nil {
			return err
		}
		// One rank's memory is the host's, another one each time.
		if err := in.Upload(host); err != nil {
			return err
		}
		var send, recv any = in, out
		mine := make([]float32, n)
		if rank == round%p {
			send, recv = host, mine
		}
		if err := world.Allreduce(send, recv, mpi.Sum); err != nil {
			return err
		}
		if rank != round%p {
			if mine, err = out.Float32s(); err != nil {
				return err
			}
		}
		if err := check("mixed", n, mine); err != nil {
			return err
		}
		if err := whole.Free(); err != nil {
			return err
		}
	}
	if os.Getenv("GOCUDA_MPI_ALLREDUCE") == "auto" {
		return nil // through the host, the library may fail as it likes
	}
	// Ranks that disagree see it, all of them, and can go on.
	b, err := d.Alloc(100+rank, cuda.Float32)
	if err != nil {
		return err
	}
	if err := world.Allreduce(mpi.InPlace, b, mpi.Sum); !errors.Is(err, mpi.ErrArg) || !strings.Contains(err.Error(), "gave 10") {
		return fmt.Errorf("lengths that differ: %v", err)
	}
	one, err := d.Alloc(1, cuda.Int64)
	if err != nil {
		return err
	}
	if err := errors.Join(one.Upload([]int64{int64(rank + 1)}), world.Allreduce(mpi.InPlace, one, mpi.Prod)); err != nil {
		return err
	}
	got, err := one.Int64s()
	if want := []int64{0, 1, 2, 6}[p]; err != nil || got[0] != want {
		return fmt.Errorf("the product is %d, want %d: %v", got, want, err)
	}
	// What is left is the program's.
	if err := b.Free(); err != nil {
		return err
	}
	if left := cuda.Leaks(); len(left) != 1 || left[0].Bytes != 8 {
		return fmt.Errorf("not freed: %v", left)
	}
	return one.Free()
}

// A rank that is killed when the others' kernels wait for its own: their calls
// end with an error, and their devices go on.
func TestAllreduceOfDevicesWithoutARank(t *testing.T) {
	n := 3
	if os.Getenv("GOCUDA_BACKEND") == "nvidia" {
		n = 2 // each needs a GPU of its own
	}
	cases := [][2]string{{"killed", "ll"}, {"killed", "simple"}, {"killed in a group", ""}}
	if os.Getenv("GOCUDA_BACKEND") == "nvidia" {
		cases = append(cases, [2]string{"killed in NCCL", ""})
	}
	for _, c := range cases {
		out, status := startRanks(t, n, c[0], "GOCUDA_MPI_ALLREDUCE="+c[1])
		if strings.Count(out, "was told, and goes on") != n-1 || status == 0 {
			t.Errorf("%s: status %d\n%s", c, status, out)
		}
	}
}

// deadly kills its process when a reduction is to be launched.
type deadly struct{ driver.Driver }

func (d *deadly) Launch(c driver.Context, l *driver.Launch) error {
	if strings.Contains(l.Name, "Reduce") {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		panic(err) // unless it is dead
	}
	return d.Driver.Launch(c, l)
}

// mortals are ranks of which one is killed when it is to launch a reduction.
func mortals() (*mpi.Comm, *cuda.Buffer, error) {
	world, err := mpi.Init()
	if err != nil {
		return nil, nil, err
	}
	if world.Rank() == 1 {
		if err := wrapDriver(func(d driver.Driver) driver.Driver { return &deadly{d} }); err != nil {
			return nil, nil, err
		}
	}
	devs, err := cuda.Devices()
	if err != nil {
		return nil, nil, err
	}
	b, err := devs[world.Rank()%len(devs)].Alloc(1000, cuda.Float32)
	return world, b, err
}

// survive says that a rank does.
func survive(world *mpi.Comm, b *cuda.Buffer) error {
	if err := errors.Join(b.Memset(0), b.Device().Synchronize(), b.Free()); err != nil {
		return err
	}
	fmt.Printf("rank %d was told, and goes on\n", world.Rank())
	os.Exit(0)
	return nil
}

func killed() error {
	world, b, err := mortals()
	if err != nil {
		return err
	}
	if err := world.Allreduce(mpi.InPlace, b, mpi.Sum); !errors.Is(err, mpi.ErrProcLost) {
		return fmt.Errorf("rank %d: %v", world.Rank(), err)
	}
	return survive(world, b)
}

func killedInGroup() error {
	world, b, err := mortals()
	if err != nil {
		return err
	}
	g, err := world.Collectives()
	if err != nil {
		return err
	}
	s, err := b.Device().NewStream(cuda.NonBlocking)
	if err != nil {
		return err
	}
	bufs, streams := []*cuda.Buffer{b}, []*cuda.Stream{s}
	// The rank may be lost before it tells that its launch is made.
	if err := g.Allreduce(bufs, streams, collective.Using(collective.OneShot)); err != nil && !errors.Is(err, mpi.ErrProcLost) {
		return err
	}
	if err := s.Synchronize(); err != nil {
		return err
	}
	if err := g.Allreduce(bufs, streams, collective.Using(collective.OneShot)); !errors.Is(err, mpi.ErrProcLost) {
		return fmt.Errorf("rank %d: %v", world.Rank(), err)
	}
	return survive(world, b)
}

// killedInNCCL has a rank killed when the kernels of an operation of NCCL wait for its
// own, which are queued behind its end.
func killedInNCCL() error {
	world, d, err := begin()
	if err != nil {
		return err
	}
	g, err := world.Collectives()
	if err != nil {
		return err
	}
	b, err := d.Alloc(1<<20, cuda.Float32)
	if err != nil {
		return err
	}
	s, err := d.NewStream(cuda.NonBlocking)
	if err != nil {
		return err
	}
	bufs, streams := []*cuda.Buffer{b}, []*cuda.Stream{s}
	if err := errors.Join(g.Allreduce(bufs, nil, collective.Using(collective.NCCL)), world.Barrier()); err != nil {
		return err
	}
	if world.Rank() == 1 {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		err = s.LaunchHostFunc(func() {
			time.Sleep(500 * time.Millisecond)
			self.Kill()
		})
		return errors.Join(err, g.Allreduce(bufs, streams, collective.Using(collective.NCCL)), s.Synchronize())
	}
	began := time.Now()
	if err := g.Allreduce(bufs, nil, collective.Using(collective.NCCL)); !errors.Is(err, mpi.ErrProcLost) {
		return fmt.Errorf("rank %d: %v", world.Rank(), err)
	}
	fmt.Println("the operation ended after", time.Since(began))
	if err := g.Allreduce(bufs, nil, collective.Using(collective.NCCL)); !errors.Is(err, mpi.ErrProcLost) {
		return fmt.Errorf("rank %d, the next operation: %v", world.Rank(), err)
	}
	if err := g.Close(); err != nil {
		return err
	}
	return survive(world, b)
}

// What two goroutines reduce on two communicators, in whatever order, and a call
// that was interrupted before the others came.
func TestAllreduceOfDevicesAtATime(t *testing.T) {
	for _, way := range []string{"ll", "simple"} {
		runRanks(t, 2, "at a time", "GOCUDA_MPI_ALLREDUCE="+way)
	}
}

func atATime() error {
	world, d, err := begin()
	if err != nil {
		return err
	}
	other, err := world.Dup()
	if err != nil {
		return err
	}
	reduce := func(c *mpi.Comm, times int) error {
		b, err := d.Alloc(10, cuda.Int32)
		if err != nil {
			return err
		}
		for i := range times {
			if err := errors.Join(b.Fill(world.Rank()+i, nil), c.Allreduce(mpi.InPlace, b, mpi.Sum)); err != nil {
				return err
			}
			got, err := b.Int32s()
			if err != nil || got[9] != int32(1+2*i) {
				return fmt.Errorf("sum %d on %s is %d: %v", i, c.Name(), got[9], err)
			}
		}
		return b.Free()
	}
	// The ranks begin with different ones.
	comms := []*mpi.Comm{world, other}
	first := make(chan error, 1)
	go func() { first <- reduce(comms[world.Rank()], 3) }()
	if err := errors.Join(reduce(comms[1-world.Rank()], 3), <-first); err != nil {
		return err
	}
	b, err := d.Alloc(1, cuda.Int32)
	if err != nil {
		return err
	}
	if err := b.Fill(1, nil); err != nil {
		return err
	}
	if world.Rank() == 0 {
		stop := make(chan struct{})
		mpi.SetInterrupt(stop)
		time.AfterFunc(20*time.Millisecond, func() { close(stop) })
		err := world.Allreduce(mpi.InPlace, b, mpi.Sum)
		mpi.SetInterrupt(nil)
		if !errors.Is(err, mpi.ErrInterrupted) {
			return fmt.Errorf("interrupted: %v", err)
		}
		if err := world.Send([]byte{1}, 1, 0); err != nil {
			return err
		}
	} else {
		if _, err := world.Recv(make([]byte, 1), 0, 0); err != nil {
			return err
		}
		if err := world.Allreduce(mpi.InPlace, b, mpi.Sum); err != nil {
			return err
		}
	}
	if err := reduce(world, 1); err != nil { // after it
		return err
	}
	got, err := b.Int32s()
	if err != nil || got[0] != 2 {
		return fmt.Errorf("what was interrupted has gone on to %d: %v", got[0], err)
	}
	return errors.Join(b.Free(), other.Free())
}

// A rank whose launch fails: the others' calls fail too, and the next goes well,
// by another way.
func TestAllreduceOfDevicesFails(t *testing.T) {
	for _, way := range []string{"ll", "simple"} {
		runRanks(t, 2, "failing", "GOCUDA_MPI_ALLREDUCE="+way)
	}
}

// refuser launches no reduction.
type refuser struct{ driver.Driver }

func (r *refuser) Launch(c driver.Context, l *driver.Launch) error {
	if strings.Contains(l.Name, "Reduce") {
		return &driver.Error{Code: driver.ErrLaunchOutOfResources, Call: "cuLaunchKernel", Detail: "it is a test"}
	}
	return r.Driver.Launch(c, l)
}

func failing() error {
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	if world.Rank() == 1 {
		if err := wrapDriver(func(d driver.Driver) driver.Driver { return &refuser{d} }); err != nil {
			return err
		}
	}
	devs, err := cuda.Devices()
	if err != nil {
		return err
	}
	b, err := devs[world.Rank()%len(devs)].Alloc(1000, cuda.Int32)
	if err != nil {
		return err
	}
	if err := b.Fill(1, nil); err != nil {
		return err
	}
	err = world.Allreduce(mpi.InPlace, b, mpi.Sum)
	if want := [...]string{"rank 1 failed in it", "it is a test"}[world.Rank()]; err == nil || !strings.Contains(err.Error(), want) {
		return fmt.Errorf("rank %d: %v", world.Rank(), err)
	}
	if err := errors.Join(b.Fill(1, nil), world.Allreduce(mpi.InPlace, b, mpi.Sum)); err != nil {
		return err
	}
	got, err := b.Int32s()
	if err != nil || got[999] != 2 {
		return fmt.Errorf("the next gives %d: %v", got[999], err)
	}
	return b.Free()
}
