package mpi_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/collective"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/mpi"
	"gocuda/cudaapi/mpi/launch"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/sim"
)

// rankTime is what a program may take.
var rankTime = map[bool]time.Duration{false: 100 * time.Second, true: time.Hour}[os.Getenv("GOCUDA_SOAK") != ""]

const rankEnv = "GOCUDA_MPI_TEST_PROGRAM"

// programs are what the ranks of a test run.
var programs = map[string]func() error{"group": groups, "streams": streams, "late": late, "large": large, "joint": jointly, "killed": killed, "pool": pool, "refused": refusing, "at a time": atATime, "failing": failing, "killed in a group": killedInGroup, "killed in NCCL": killedInNCCL}

func TestMain(m *testing.M) {
	name := os.Getenv(rankEnv)
	if name == "" {
		os.Exit(m.Run())
	}
	time.AfterFunc(rankTime, func() {
		fmt.Println("FAILED: did not end in", rankTime, "with", mpi.Waits())
		pprof.Lookup("goroutine").WriteTo(os.Stdout, 2)
		mpi.Abort(1)
	})
	err := programs[name]()
	if err != nil {
		fmt.Println("FAILED:", err)
		mpi.Abort(1)
	}
	if err := mpi.Finalize(); err != nil {
		fmt.Println("Finalize:", err)
		os.Exit(1)
	}
}

// runRanks runs a program as n ranks.
func runRanks(t *testing.T, n int, program string, env ...string) {
	t.Helper()
	out, status := startRanks(t, n, program, env...)
	if status != 0 {
		t.Errorf("%d ranks of %s, %v: status %d\n%s", n, program, env, status, out)
	}
	if os.Getenv("GOCUDA_BENCH") != "" {
		fmt.Print(out)
	}
}

// startRanks gives what they print, and how they end.
func startRanks(t *testing.T, n int, program string, env ...string) (string, int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	env = append(os.Environ(), append(env, rankEnv+"="+program)...)
	status, err := launch.Run(t.Context(), n, []string{self}, launch.Options{Stdout: &out, Stderr: &out, Env: env, Grace: 10 * time.Second})
	if err != nil {
		t.Errorf("%d ranks of %s: %v", n, program, err)
	}
	return out.String(), status
}

// wrapDriver puts a decorator around the driver of this process.
func wrapDriver(wrap func(driver.Driver) driver.Driver) error {
	var d driver.Driver
	if os.Getenv("GOCUDA_BACKEND") == "nvidia" {
		n, err := nvidia.Open()
		if err != nil {
			return err
		}
		d = n
	} else {
		options, err := sim.FromEnv()
		if err != nil {
			return err
		}
		if d, err = sim.New(options); err != nil {
			return err
		}
	}
	return cuda.Use(wrap(d))
}

// beginAll starts MPI in a rank, and lists the devices.
func beginAll() (*mpi.Comm, cuda.DeviceList, error) {
	world, err := mpi.Init()
	if err != nil {
		return nil, nil, err
	}
	devs, err := cuda.Devices()
	return world, devs, err
}

// begin starts MPI in a rank, which has a device of its own if there are enough.
func begin() (*mpi.Comm, *cuda.Device, error) {
	world, devs, err := beginAll()
	if err != nil {
		return nil, nil, err
	}
	return world, devs[world.Rank()%len(devs)], nil
}

// beginCounting does so with copies counted.
func beginCounting() (*hostCopies, *mpi.Comm, *cuda.Device, error) {
	copies, err := countCopies()
	if err != nil {
		return nil, nil, nil, err
	}
	world, d, err := begin()
	return copies, world, d, err
}

func TestGroup(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		for seed := range 2 {
			runRanks(t, n, "group", "GOCUDA_SIM_SCHEDULE=adversarial", fmt.Sprint("GOCUDA_SIM_SEED=", seed+1))
		}
	}
}

// groups runs operations among ranks with one and two buffers each, as Gloo
// tests its own: element j of rank r's buffer i is j*stride + r*ptrs + i. The
// ranks change their devices, so that there are several NCCL communicators, which
// are to be destroyed in the same order by all ranks.
func groups() error {
	world, devs, err := beginAll()
	if err != nil {
		return err
	}
	g, err := world.Collectives()
	if err != nil {
		return err
	}
	for _, c := range []struct{ ptrs, shift int }{{1, 0}, {2, 0}, {1, 1}} {
		ptrs := c.ptrs
		stride := world.Size() * ptrs
		lengths := []int{1, 100, 4099}
		if c.shift > 0 {
			lengths = lengths[1:2]
		}
		for _, n := range lengths {
			var bufs []*cuda.Buffer
			var streams []*cuda.Stream
			var in, out []*cuda.HostBuffer
			for i := range ptrs {
				d := devs[(world.Rank()*ptrs+i+c.shift)%len(devs)]
				b, err := d.Alloc(n, cuda.Float32)
				s, err2 := d.NewStream(cuda.NonBlocking)
				h, err3 := d.AllocHost(n, cuda.Float32)
				o, err4 := d.AllocHost(n, cuda.Float32)
				if err := errors.Join(err, err2, err3, err4); err != nil {
					return err
				}
				for j, v := 0, sure(h.Float32s()); j < n; j++ {
					v[j] = float32(j*stride + world.Rank()*ptrs + i)
				}
				bufs, streams, in, out = append(bufs, b), append(streams, s), append(in, h), append(out, o)
			}
			check := func(name string, op func() error, want func(j int) float32) error {
				for i, b := range bufs {
					if err := errors.Join(b.UploadAsync(in[i], streams[i])); err != nil {
						return err
					}
				}
				if err := op(); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				for i, b := range bufs {
					if err := errors.Join(b.DownloadAsync(out[i], streams[i]), b.MemsetAsync(0xee, streams[i])); err != nil {
						return err
					}
				}
				for i, s := range streams {
					if err := s.Synchronize(); err != nil {
						return err
					}
					for j, v := range sure(out[i].Float32s()) {
						if v != want(j) {
							return fmt.Errorf("%s of %d x %d, %d elements: buffer %d has %g at %d, want %g", name, world.Size(), ptrs, n, i, v, j, want(j))
						}
					}
				}
				return nil
			}
			algorithms := []collective.Algorithm{collective.Auto, collective.Ring, collective.ChunkedRing, collective.HalvingDoubling, collective.Local}
			if g.Allreduce(bufs, streams, collective.Using(collective.NCCL)) == nil { // it is there
				algorithms = append(algorithms, collective.NCCL)
			}
			if ptrs == 1 && world.Size() > 1 && (world.Size() <= len(devs) || os.Getenv("GOCUDA_BACKEND") != "nvidia") {
				algorithms = append(algorithms, collective.OneShot)
			}
			for _, a := range algorithms {
				err := check(a.String(), func() error { return g.Allreduce(bufs, streams, collective.Using(a)) },
					func(j int) float32 { return float32(j*stride*stride + stride*(stride-1)/2) })
				if err != nil {
					return err
				}
			}
			for _, root := range []int{0, stride - 1} {
				err := check("broadcast", func() error { return g.Broadcast(root, bufs, streams) },
					func(j int) float32 { return float32(j*stride + root) })
				if err != nil {
					return err
				}
			}
			for i := range bufs {
				if err := errors.Join(bufs[i].Free(), streams[i].Destroy()); err != nil {
					return err
				}
			}
		}
	}
	// Ranks that disagree see it, all of them.
	b, err := devs[world.Rank()%len(devs)].Alloc(1000+world.Rank(), cuda.Float32)
	if err != nil {
		return err
	}
	for _, a := range []collective.Algorithm{collective.Ring, collective.OneShot} {
		err := g.Allreduce([]*cuda.Buffer{b}, nil, collective.Using(a))
		if world.Size() > 1 && (err == nil || !strings.Contains(err.Error(), "gave 100")) {
			return fmt.Errorf("lengths that differ, %s: %v", a, err)
		}
	}
	return g.Close()
}

func TestStreamOrderedMessages(t *testing.T) {
	for _, path := range []string{"ipc", "staged"} {
		for seed := range 3 {
			runRanks(t, 2, "streams", "GOCUDA_SIM_SCHEDULE=adversarial", fmt.Sprint("GOCUDA_SIM_SEED=", seed+1), "GOCUDA_MPI_PATH="+path)
		}
	}
}

func TestStreamOrderedMessagesWhoseSendersAreLate(t *testing.T) { runRanks(t, 4, "late") }

// late passes values around a ring, written behind gates that open one after the
// other, when all messages are queued.
func late() error {
	world, d, err := begin()
	if err != nil {
		return err
	}
	rank, size := world.Rank(), world.Size()
	out, err := d.NewStream(cuda.NonBlocking)
	in, err2 := d.NewStream(cuda.NonBlocking)
	const n = 1000
	from, err3 := d.Alloc(n, cuda.Int32)
	to, err4 := d.Alloc(n, cuda.Int32)
	gate, err5 := d.AllocHost(1, cuda.Uint32, cuda.Portable, cuda.Mapped)
	if err := errors.Join(err, err2, err3, err4, err5); err != nil {
		return err
	}
	for turn := range 5 {
		// The first turn's gate is open: there, kernels are loaded and memory is
		// opened, which may wait for the device.
		sure(gate.Uint32s())[0] = uint32(1 - min(1, turn))
		if err := errors.Join(from.Fill(-1, nil), to.Fill(-2, nil), d.Synchronize(),
			out.WaitValue(gate, 1, cuda.WaitGEQ), from.Fill(int32(100*rank+turn), out)); err != nil {
			return err
		}
		// An event of the first message may serve in the second.
		messages := []func() error{
			func() error { return world.SendOn(from, (rank+1)%size, turn, out) },
			func() error { _, err := world.RecvOn(to, (rank+size-1)%size, turn, in); return err },
		}
		err := errors.Join(messages[rank%2](), messages[1-rank%2](), world.Barrier())
		time.Sleep(time.Duration(rank) * 10 * time.Millisecond)
		atomic.StoreUint32(&sure(gate.Uint32s())[0], 1)
		err = errors.Join(err, in.Synchronize(), out.Synchronize())
		v, err2 := to.Int32s()
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		for i, x := range v {
			if want := int32(100*((rank+size-1)%size) + turn); x != want {
				return fmt.Errorf("turn %d: %d at %d, want %d", turn, x, i, want)
			}
		}
	}
	return nil
}

// streams sends and receives in the order of streams: what is sent is uploaded
// on the stream before, and overwritten on it behind; so is what is received.
func streams() error {
	world, d, err := begin()
	if err != nil {
		return err
	}
	s, err := d.NewStream(cuda.NonBlocking)
	if err != nil {
		return err
	}
	if path, why := mpi.Path(world, 1-world.Rank()); path != os.Getenv("GOCUDA_MPI_PATH") || why != "GOCUDA_MPI_PATH says so" {
		return fmt.Errorf("the path is %s: %s", path, why)
	}
	for _, n := range []int{1, 64, 65, 1000, 1 << 20} {
		b, err := d.Alloc(n, cuda.Int32)
		host, err2 := d.AllocHost(n, cuda.Int32)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		for round := range 3 {
			v := sure(host.Int32s())
			if world.Rank() == 0 {
				for i := range v {
					v[i] = int32(i*7 + round)
				}
				err = errors.Join(b.UploadAsync(host, s), world.SendOn(b, 1, round, s), b.MemsetAsync(0xee, s), s.Synchronize())
			} else {
				_, err = world.RecvOn(b, 0, round, s)
				err = errors.Join(err, b.DownloadAsync(host, s), b.MemsetAsync(0xdd, s), s.Synchronize())
				for i, x := range v {
					if x != int32(i*7+round) {
						return fmt.Errorf("%d elements, round %d: %d at %d", n, round, x, i)
					}
				}
			}
			if err != nil {
				return err
			}
		}
		if err := errors.Join(b.Free(), host.Free()); err != nil {
			return err
		}
	}
	if err := world.SendOn(nil, 0, 0, s); !errors.Is(err, mpi.ErrBuffer) {
		return fmt.Errorf("a nil buffer: %v", err)
	}
	b, err := d.Alloc(4, cuda.Uint8)
	if err != nil {
		return err
	}
	if err := s.BeginCapture(); err != nil {
		return err
	}
	_, received := world.RecvOn(b, 1-world.Rank(), 0, s)
	for _, err := range []error{world.SendOn(b, 1-world.Rank(), 0, s), received} {
		if !errors.Is(err, mpi.ErrArg) || !strings.Contains(err.Error(), "the stream is captured") {
			return fmt.Errorf("a captured stream: %v", err)
		}
	}
	g, err := s.EndCapture()
	if err != nil {
		return err
	}
	return errors.Join(g.Destroy(), b.Free())
}

func TestLargeCollectives(t *testing.T) {
	for _, n := range []int{2, 3} {
		runRanks(t, n, "large", "GOCUDA_SIM_SCHEDULE=adversarial")
	}
}

// hostCopies counts the copies between host and devices.
type hostCopies struct {
	driver.Driver
	bytes atomic.Int64
}

func (h *hostCopies) Memcpy(c driver.Context, dst, src driver.Ptr, n uint64) error {
	h.bytes.Add(int64(n))
	return h.Driver.Memcpy(c, dst, src, n)
}

// countCopies counts those of simulated devices; others' are not touched.
func countCopies() (*hostCopies, error) {
	copies := &hostCopies{}
	if os.Getenv("GOCUDA_BACKEND") == "nvidia" {
		return copies, nil
	}
	return copies, wrapDriver(func(d driver.Driver) driver.Driver { copies.Driver = d; return copies })
}

// large runs collectives that are long enough for the ranks to ask each other
// what memory they have: all devices', or some of them the host's.
func large() error {
	copies, world, d, err := beginCounting()
	if err != nil {
		return err
	}
	const n = 100_000
	p := world.Size()
	host := make([]float32, n)
	for i := range host {
		host[i] = float32(i*p + world.Rank())
	}
	sum := func(i int) float32 { return float32(i*p*p + p*(p-1)/2) }
	for _, onHost := range []int{-1, 0, p - 1} { // which rank has its memory on the host
		for _, inPlace := range []bool{false, true} {
			a, err := d.Alloc(n, cuda.Float32)
			b, err2 := d.Alloc(n, cuda.Float32)
			if err := errors.Join(err, err2, a.Upload(host)); err != nil {
				return err
			}
			var send, recv any = a, b
			ha, hb := append([]float32(nil), host...), make([]float32, n)
			if world.Rank() == onHost {
				send, recv = ha, hb
			}
			read := func() ([]float32, error) {
				if world.Rank() == onHost {
					return hb, nil
				}
				return b.Float32s()
			}
			check := func(name string, want func(i int) float32) error {
				got, err := read()
				if err != nil {
					return err
				}
				for i, v := range got {
					if v != want(i) {
						return fmt.Errorf("%s with rank %d on the host, in place %v: %g at %d, want %g", name, onHost, inPlace, v, i, want(i))
					}
				}
				return nil
			}
			if inPlace {
				copy(hb, host)
				if err := b.Upload(host); err != nil {
					return err
				}
				send = mpi.InPlace
			}
			before := copies.bytes.Load()
			// The second begins before the first has ended.
			first, err := world.Iallreduce(send, recv, mpi.Sum)
			if err != nil {
				return err
			}
			if err := world.Barrier(); err != nil {
				return err
			}
			if _, err := first.Wait(); err != nil {
				return err
			}
			if used := copies.bytes.Load() - before; copies.Driver != nil && onHost < 0 && used > 0 {
				return fmt.Errorf("%d bytes went through the host", used)
			}
			if err := check("Allreduce", sum); err != nil {
				return err
			}
			send = a
			if world.Rank() == onHost {
				send = ha
			}
			root := p - 1
			if err := world.Reduce(send, recv, mpi.Sum, root); err != nil {
				return err
			}
			if world.Rank() == root {
				if err := check("Reduce", sum); err != nil {
					return err
				}
			}
			if got, err := a.Float32s(); err != nil || got[n-1] != host[n-1] {
				return fmt.Errorf("Reduce has changed what it sent: %v", err)
			}
			if err := b.Memset(0); err != nil {
				return err
			}
			clear(hb)
			if world.Rank() == 0 {
				copy(hb, host)
				if err := b.Upload(host); err != nil {
					return err
				}
			}
			if err := world.Bcast(recv, 0); err != nil {
				return err
			}
			if err := check("Bcast", func(i int) float32 { return float32(i * p) }); err != nil {
				return err
			}
			if err := errors.Join(a.Free(), b.Free()); err != nil {
				return err
			}
		}
	}
	return nil
}

// sure is for what cannot fail in a test.
func sure[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
