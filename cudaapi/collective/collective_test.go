package collective_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/collective"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

var onGPUs = os.Getenv("GOCUDA_BACKEND") == "nvidia"

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		ok(t, err)
		return v
	}
}

// devices are the GPUs, or eight simulated devices that run whatever is not
// ordered in the worst order, through wrap.
func devices(t testing.TB, seed int, wrap func(driver.Driver) driver.Driver) []*cuda.Device {
	t.Helper()
	if !onGPUs {
		d := must[*sim.Driver](t)(sim.New(sim.Options{Devices: 8, Memory: 1 << 30, Seed: uint64(seed + 1), Adversarial: true}))
		t.Cleanup(func() { d.Close() })
		ok(t, cuda.Use(wrap(d)))
	}
	return must[cuda.DeviceList](t)(cuda.Devices())
}

func plain(d driver.Driver) driver.Driver { return d }

// members are buffers, each on the next device, with streams and pinned memory.
type members struct {
	bufs    []*cuda.Buffer
	streams []*cuda.Stream
	in, out []*cuda.HostBuffer
}

func newMembers(t testing.TB, devs []*cuda.Device, p, n int, typ cuda.Type) *members {
	t.Helper()
	m := &members{}
	for i := range p {
		d := devs[i%len(devs)]
		m.bufs = append(m.bufs, must[*cuda.Buffer](t)(d.Alloc(n, typ)))
		m.streams = append(m.streams, must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking)))
		m.in = append(m.in, must[*cuda.HostBuffer](t)(d.AllocHost(n, typ)))
		m.out = append(m.out, must[*cuda.HostBuffer](t)(d.AllocHost(n, typ)))
	}
	return m
}

func (m *members) free(t testing.TB) {
	t.Helper()
	for i, b := range m.bufs {
		ok(t, m.streams[i].Synchronize())
		ok(t, m.streams[i].Destroy())
		ok(t, b.Free())
		ok(t, m.in[i].Free())
		ok(t, m.out[i].Free())
	}
}

// operation is a collective with the outcome that it must have.
type operation struct {
	name string
	run  func(bufs []*cuda.Buffer, streams []*cuda.Stream) error
	want func(p, j int) float32
}

func operations(p int, algorithms []collective.Algorithm) []operation {
	var ops []operation
	for _, a := range algorithms {
		ops = append(ops, operation{a.String(),
			func(b []*cuda.Buffer, s []*cuda.Stream) error {
				return collective.Allreduce(b, s, collective.Using(a))
			},
			func(p, j int) float32 { return float32(j%exact*p*p + p*(p-1)/2) }})
	}
	for _, root := range []int{0, p - 1} {
		ops = append(ops, operation{fmt.Sprintf("broadcast from %d", root),
			func(b []*cuda.Buffer, s []*cuda.Stream) error { return collective.Broadcast(root, b, s) },
			func(p, j int) float32 { return float32(j%exact*p + root) }})
	}
	return ops
}

var all = []collective.Algorithm{collective.Auto, collective.Ring, collective.ChunkedRing, collective.HalvingDoubling, collective.Local}

// exact keeps the sums of 8 members among float32's integers.
const exact = 1 << 17

// wrong runs an operation as Gloo tests its own: element j of member i is
// j*p + i, but for j from exact on. With streams the input arrives late on them and the buffers are
// overwritten behind the operation. It tells the first wrong element.
func (m *members) wrong(t testing.TB, o operation, async bool) string {
	t.Helper()
	p := len(m.bufs)
	var delay *cuda.Kernel
	if async {
		delay = spin(t)
	}
	for i, b := range m.bufs {
		for j, in := 0, must[[]float32](t)(m.in[i].Float32s()); j < len(in); j++ {
			in[j] = float32(j%exact*p + i)
		}
		ok(t, b.Fill(float32(-1e6), nil))
		ok(t, b.Device().Synchronize())
	}
	var gate *cuda.HostBuffer
	if async && !onGPUs { // else devices begin after 30 ms without a call, and a busy machine may be that slow
		gate = must[*cuda.HostBuffer](t)(m.bufs[0].Device().AllocHost(1, cuda.Uint32))
		defer func() { ok(t, gate.Free()) }()
	}
	for i, b := range m.bufs {
		if !async {
			ok(t, b.Upload(m.in[i]))
			continue
		}
		if gate != nil {
			ok(t, m.streams[i].WaitValue(gate, 1, cuda.WaitEQ))
		}
		if delay != nil {
			ok(t, delay.Launch(cuda.Grid(1), cuda.Block(1), m.streams[i], 300_000*(i+1)))
		}
		ok(t, b.UploadAsync(m.in[i], m.streams[i]))
	}
	if async {
		ok(t, o.run(m.bufs, m.streams))
	} else {
		ok(t, o.run(m.bufs, nil))
	}
	for i, b := range m.bufs {
		if !async {
			ok(t, b.Download(m.out[i]))
			continue
		}
		ok(t, b.DownloadAsync(m.out[i], m.streams[i]))
		ok(t, b.Fill(float32(-2e6), m.streams[i]))
	}
	if gate != nil {
		atomic.StoreUint32(&must[[]uint32](t)(gate.Uint32s())[0], 1)
	}
	for i := range m.bufs {
		ok(t, m.streams[i].Synchronize())
	}
	for i := range m.bufs {
		for j, v := range must[[]float32](t)(m.out[i].Float32s()) {
			if want := o.want(p, j); v != want {
				return fmt.Sprintf("member %d has %g at %d, want %g", i, v, j, want)
			}
		}
	}
	return ""
}

var compiled = sync.OnceValues(func() (*cuda.Module, error) {
	return cuda.Compile(`__global__ void spin(long long cycles) { long long t = clock64(); while (clock64() - t < cycles); }`)
})

// spin is a kernel that takes its time, on GPUs. Simulated devices are late
// without one.
func spin(t testing.TB) *cuda.Kernel {
	t.Helper()
	if !onGPUs {
		return nil
	}
	return must[*cuda.Kernel](t)(must[*cuda.Module](t)(compiled()).Kernel("spin"))
}

func needsCompiler(t *testing.T) {
	t.Helper()
	if _, err := sim.Compiler(); err != nil && !onGPUs {
		t.Skip(err)
	}
}

func TestOperations(t *testing.T) {
	needsCompiler(t)
	sizes := []int{0, 1, 2, 63, 100, 1000, 4099, 10000}
	algorithms := all
	if onGPUs {
		sizes = append(sizes, 1<<20+3, 1<<24)
	}
	for _, p := range []int{1, 2, 3, 4, 8} {
		devs := devices(t, p, plain)
		for _, n := range sizes {
			if testing.Short() && n > 4099 {
				continue
			}
			m := newMembers(t, devs, p, n, cuda.Float32)
			algorithms := algorithms
			if onGPUs && p <= len(devs) {
				algorithms = append([]collective.Algorithm{collective.NCCL}, algorithms...)
			}
			for _, o := range operations(p, algorithms) {
				for _, async := range []bool{false, true} {
					if w := m.wrong(t, o, async); w != "" {
						t.Errorf("%s of %d members, %d elements, streams %v: %s", o.name, p, n, async, w)
					}
				}
			}
			m.free(t)
		}
	}
}

// Among the devices of several nodes all operations are right, and all-reduces
// of long buffers go by nodes.
func TestNodes(t *testing.T) {
	needsCompiler(t)
	if onGPUs {
		t.Skip("the nodes are simulated")
	}
	for _, c := range []struct{ nodes, each, members int }{{2, 4, 8}, {3, 2, 6}, {4, 2, 5}} {
		d := must[*sim.Driver](t)(sim.New(sim.Options{Devices: c.nodes * c.each, Nodes: c.nodes, Memory: 1 << 28, Adversarial: true}))
		t.Cleanup(func() { d.Close() })
		ok(t, cuda.Use(d))
		devs := must[cuda.DeviceList](t)(cuda.Devices())
		algorithms, whole := all[1:], c.members == c.nodes*c.each
		if whole {
			algorithms = append(slices.Clone(algorithms), collective.Auto, collective.Hierarchical)
		}
		for _, n := range []int{1, 700, 5000} {
			m := newMembers(t, devs, c.members, n, cuda.Float32)
			for _, o := range operations(c.members, algorithms) {
				if w := m.wrong(t, o, true); w != "" {
					t.Errorf("%s of %d members in nodes of %d, %d elements: %s", o.name, c.members, c.each, n, w)
				}
			}
			want := collective.Local
			switch {
			case n == 5000 && whole:
				want = collective.Hierarchical
			case n == 5000:
				want = collective.HalvingDoubling
			}
			if got, why := collective.NewLocal().Choose(m.bufs); got != want {
				t.Errorf("%d members in nodes of %d, %d elements: %s (%s), want %s", c.members, c.each, n, got, why, want)
			}
			if err := collective.Allreduce(m.bufs, nil, collective.Using(collective.Hierarchical)); (err == nil) != whole {
				t.Errorf("%d members in nodes of %d: %v", c.members, c.each, err)
			}
			m.free(t)
		}
	}
}

// dropWait leaves one StreamWaitEvent out, counted from 1.
type dropWait struct {
	driver.Driver
	mu         sync.Mutex
	seen, drop int
}

func (d *dropWait) StreamWaitEvent(c driver.Context, s driver.Stream, e driver.Event) error {
	d.mu.Lock()
	d.seen++
	skip := d.seen == d.drop
	d.mu.Unlock()
	if skip {
		return nil
	}
	return d.Driver.StreamWaitEvent(c, s, e)
}

// Every wait that an operation queues is needed: with any one of them left out,
// the worst order gives a wrong outcome.
func TestEveryWaitShows(t *testing.T) {
	needsCompiler(t)
	if onGPUs {
		t.Skip("the worst order is what simulated devices are for")
	}
	const p, n, seeds = 3, 200, 100
	for i := range operations(p, all[1:]) {
		o := operations(p, all[1:])[i]
		for drop := 1; ; drop++ {
			waits, failed := 0, false
			for seed := range seeds {
				var d *dropWait
				devs := devices(t, seed, func(in driver.Driver) driver.Driver {
					d = &dropWait{Driver: in}
					return d
				})
				m := newMembers(t, devs, p, n, cuda.Float32)
				d.seen, d.drop = 0, drop
				failed = m.wrong(t, o, true) != ""
				waits = d.seen
				d.drop = 0
				m.free(t)
				if failed || drop > waits {
					break
				}
			}
			if drop > waits {
				if failed {
					t.Errorf("%s is wrong with all waits", o.name)
				}
				t.Logf("%s: %d waits, each needed", o.name, waits)
				break
			}
			if !failed {
				t.Errorf("%s: without wait %d of %d the outcome was right in %d orders", o.name, drop, waits, seeds)
			}
		}
	}
}

// noPeers is a machine whose devices cannot reach each other.
type noPeers struct{ driver.Driver }

func (noPeers) CanAccessPeer(_, _ driver.Device) (bool, error) { return false, nil }

func TestWithoutPeerAccess(t *testing.T) {
	needsCompiler(t)
	if onGPUs {
		t.Skip("needs devices without a link")
	}
	for seed := range 5 {
		m := newMembers(t, devices(t, seed, func(d driver.Driver) driver.Driver { return noPeers{d} }), 4, 1000, cuda.Float32)
		for _, o := range operations(4, all) {
			if w := m.wrong(t, o, true); w != "" {
				t.Errorf("%s: %s", o.name, w)
			}
		}
		if m.bufs[0].Device().PeerAccessEnabled(m.bufs[1].Device()) {
			t.Error("peer access is enabled")
		}
		m.free(t)
	}
}

func TestOperators(t *testing.T) {
	needsCompiler(t)
	devs := devices(t, 1, plain)
	const n = 300
	m := newMembers(t, devs, 3, n, cuda.Int16)
	defer m.free(t)
	for op, want := range map[cuda.ReduceOp]func(i int16) int16{
		cuda.ReduceSum: func(i int16) int16 { return 3*i + 3 }, cuda.ReduceProd: func(i int16) int16 { return i * (i + 1) * (i + 2) },
		cuda.ReduceMin: func(i int16) int16 { return i }, cuda.ReduceMax: func(i int16) int16 { return i + 2 },
		cuda.ReduceBitXor: func(i int16) int16 { return i ^ (i + 1) ^ (i + 2) },
	} {
		in := make([]int16, n)
		for k, b := range m.bufs {
			for i := range in {
				in[i] = int16(i + k)
			}
			ok(t, b.Upload(in))
		}
		ok(t, collective.Allreduce(m.bufs, nil, collective.Combining(op)))
		for k, b := range m.bufs {
			got := make([]int16, n)
			ok(t, b.Download(got))
			for i, v := range got {
				if v != want(int16(i)) {
					t.Fatalf("%s: member %d has %d at %d, want %d", op, k, v, i, want(int16(i)))
				}
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	needsCompiler(t)
	devs := devices(t, 1, plain)
	a, b := must[*cuda.Buffer](t)(devs[0].Alloc(10, cuda.Float32)), must[*cuda.Buffer](t)(devs[len(devs)-1].Alloc(10, cuda.Float32))
	short := b.Slice(0, 9)
	s := devs[0].DefaultStream()
	two := []*cuda.Buffer{a, b}
	for want, err := range map[string]error{
		"there are no buffers":          collective.Allreduce(nil, nil),
		"1 streams for 2 buffers":       collective.Allreduce(two, []*cuda.Stream{s}),
		"buffer 1 is nil":               collective.Allreduce([]*cuda.Buffer{a, nil}, nil),
		"buffer 1 has 9 Float32":        collective.Allreduce([]*cuda.Buffer{a, short}, nil),
		"buffer 1 is given twice":       collective.Allreduce([]*cuda.Buffer{a, a}, nil),
		"buffers 0 and 1 share memory":  collective.Allreduce([]*cuda.Buffer{a.Slice(0, 6), a.Slice(4, 10)}, nil),
		"stream 0 is nil":               collective.Allreduce(two, []*cuda.Stream{nil, s}),
		"root 2 of 2 members":           collective.Broadcast(2, two, nil),
		"bitwise and is not for":        collective.Allreduce(two, nil, collective.Combining(cuda.ReduceBitAnd)),
		"there is no Algorithm(99)":     collective.Allreduce(two, nil, collective.Using(99)),
		"the buffer (10 Float32) was f": freed(t, devs[0]),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if !onGPUs {
		err := collective.Allreduce(two, nil, collective.Using(collective.NCCL))
		if err == nil || !strings.Contains(err.Error(), "NCCL cannot be used: the devices are simulated") {
			t.Errorf("got %v", err)
		}
	}
	if a, why := collective.NewLocal().Choose(two); !onGPUs && (a != collective.Local || !strings.Contains(why, "2 members, 40 bytes; no NCCL: ")) {
		t.Errorf("chose %s: %s", a, why)
	}
	if len(devs) > 1 {
		err := collective.Allreduce(two, []*cuda.Stream{s, s})
		if err == nil || !strings.Contains(err.Error(), "stream 1 is device 0's") {
			t.Errorf("got %v", err)
		}
	}
	ok(t, a.Free())
	ok(t, b.Free())
}

func freed(t *testing.T, d *cuda.Device) error {
	b := must[*cuda.Buffer](t)(d.Alloc(10, cuda.Float32))
	c := must[*cuda.Buffer](t)(d.Alloc(10, cuda.Float32))
	ok(t, b.Free())
	defer c.Free()
	return collective.Allreduce([]*cuda.Buffer{b, c}, nil, collective.Using(collective.Local))
}

// TestSetMutex: what the package allocates waits for the caller's mutex.
// TestCaptured: what cannot be part of a graph says so at once, and the capture goes on.
func TestCaptured(t *testing.T) {
	devs := devices(t, 0, plain)
	m := newMembers(t, devs, 2, 8, cuda.Float32)
	defer m.free(t)
	for _, a := range []collective.Algorithm{collective.Auto, collective.Ring, collective.Local} {
		if onGPUs && a == collective.Auto {
			continue // it may be NCCL, which can be
		}
		for captured := range m.streams {
			s := m.streams[captured]
			ok(t, s.BeginCapture())
			ok(t, m.bufs[captured].MemsetAsync(0, s))
			for _, err := range []error{
				collective.Allreduce(m.bufs, m.streams, collective.Using(a)),
				collective.Broadcast(0, m.bufs, m.streams, collective.Using(a)),
			} {
				if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("stream %d is captured", captured)) {
					t.Errorf("%v with a captured stream %d: %v", a, captured, err)
				}
			}
			g := must[*cuda.Graph](t)(s.EndCapture())
			ok(t, g.Destroy())
		}
	}
}

func TestSetMutex(t *testing.T) {
	needsCompiler(t)
	if onGPUs {
		t.Skip("needs devices without a link, where scratch memory is allocated")
	}
	m := newMembers(t, devices(t, 1, func(d driver.Driver) driver.Driver { return noPeers{d} }), 2, 100, cuda.Float32)
	defer m.free(t)
	var mu sync.Mutex
	collective.SetMutex(&mu)
	defer collective.SetMutex(nil)
	mu.Lock()
	done := make(chan error, 1)
	go func() { done <- collective.Allreduce(m.bufs, nil, collective.Using(collective.Ring)) }()
	select {
	case err := <-done:
		t.Fatalf("the operation did not wait for the mutex: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	mu.Unlock()
	ok(t, <-done)
}
