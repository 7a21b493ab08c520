package trace_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/collective"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/record"
	"gocuda/cudaapi/trace"
)

const size = 16 << 20

const spin = `extern "C" __global__ void spin(unsigned char *x, int n) {
	int v = x[threadIdx.x];
	for (int i = 0; i < n; i++) v = v * 3 + i;
	x[threadIdx.x] = v;
}
extern "C" __global__ void twice(unsigned char *x) { x[threadIdx.x] *= 2; }`

// bench is what the tests queue work with.
type bench struct {
	*testing.T
	dev   *cuda.Device
	host  *cuda.HostBuffer
	x     *cuda.Buffer
	a, b  *cuda.Stream
	spin  *cuda.Kernel
	twice *cuda.Kernel
}

func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func newBench(t *testing.T) *bench {
	if os.Getenv("GOCUDA_BACKEND") == "" {
		t.Setenv("GOCUDA_BACKEND", "sim")
	}
	b := &bench{T: t}
	var err error
	b.dev, err = cuda.Get(0)
	b.ok(err)
	b.host, err = cuda.AllocHost(size, cuda.Uint8)
	b.ok(err)
	b.x, err = b.dev.Alloc(size, cuda.Uint8)
	b.ok(err)
	b.ok(b.x.Memset(0))
	b.a, err = b.dev.NewStream(cuda.NonBlocking)
	b.ok(err)
	b.b, err = b.dev.NewStream(cuda.NonBlocking)
	b.ok(err)
	m, err := cuda.Compile(spin)
	b.ok(err)
	b.spin, err = m.Kernel("spin")
	b.ok(err)
	b.twice, err = m.Kernel("twice")
	b.ok(err)
	t.Cleanup(func() {
		b.ok(errors.Join(cuda.Synchronize(), b.host.Free(), b.x.Free(), b.a.Destroy(), b.b.Destroy()))
	})
	return b
}

// traced gives the timeline of f.
func (b *bench) traced(f func()) *trace.Timeline {
	b.Helper()
	b.ok(trace.Start())
	defer func() {
		if trace.On() { // f has failed
			trace.Stop() //nolint:errcheck // see above
		}
	}()
	f()
	t, err := trace.Stop()
	b.ok(err)
	for i := range t.Boxes {
		if x := &t.Boxes[i]; x.End < x.Begin || x.Begin < t.Begin-time.Millisecond {
			b.Errorf("%+v, of a timeline from %v", x, t.Begin)
		}
	}
	return t
}

func find(t *trace.Timeline, kind string) (list []trace.Box) {
	for _, b := range t.Boxes {
		if b.Kind == kind {
			list = append(list, b)
		}
	}
	return list
}

// What events measure around an operation is what its box lasts.
func TestAsEventsMeasure(t *testing.T) {
	b := newBench(t)
	launch := func(n int) func() error {
		return func() error { return b.spin.Launch(cuda.Grid(1), cuda.Block(32), b.a, b.x, n) }
	}
	b.ok(launch(10)()) // loaded
	b.ok(b.a.Synchronize())
	long := 1000                     // takes a simulated device as long as any number
	between := 20 * time.Microsecond // an event and the operation after it
	if info, err := cuda.Backend(); err == nil && info.Name == "nvidia" {
		long, between = 50_000_000, 150*time.Microsecond
	}
	const times = 5
	var took []time.Duration
	line := b.traced(func() {
		for range times {
			d, err := b.a.Time(launch(long))
			b.ok(err)
			took = append(took, d)
		}
		for range times {
			d, err := b.a.Time(func() error { return cuda.MemcpyAsync(b.x, b.host, b.a) })
			b.ok(err)
			took = append(took, d)
		}
	})
	boxes := slices.DeleteFunc(slices.Clone(line.Boxes), func(x trace.Box) bool { return x.Device < 0 })
	if len(boxes) != 2*times {
		t.Fatalf("%d boxes on the device, want %d:\n%s", len(boxes), 2*times, line)
	}
	median := func(list []time.Duration) time.Duration {
		list = slices.Sorted(slices.Values(list))
		return list[len(list)/2]
	}
	for i := 0; i < len(boxes); i += times {
		var lasts []time.Duration
		for k, x := range boxes[i : i+times] {
			t.Logf("%s (%s): %v, by events %v", x.Name, line.Clock, x.Duration(), took[i+k])
			lasts = append(lasts, x.Duration())
		}
		box, events := median(lasts), median(took[i:i+times])
		if apart := events - box; apart < -events/50 || apart > events/50+between {
			t.Errorf("%s lasts %v, events measure %v", boxes[i].Name, box, events)
		}
	}
	if x := boxes[times]; x.Bytes != size || x.Name != "pinned host to device" || x.Rate() < 1e8 {
		t.Errorf("%+v at %g bytes a second", x, x.Rate())
	}
}

// Every kind of operation of a device has its box, and sums are those of the boxes.
func TestKinds(t *testing.T) {
	b := newBench(t)
	e, err := b.dev.NewEvent(cuda.DisableTiming)
	b.ok(err)
	word, err := b.dev.Alloc(2, cuda.Uint32)
	b.ok(err)
	b.ok(word.Memset(0))
	g, err := b.a.Capture(func() error {
		return errors.Join(b.twice.Launch(cuda.Grid(1), cuda.Block(32), b.a, b.x), b.twice.Launch(cuda.Grid(1), cuda.Block(32), b.a, b.x))
	})
	b.ok(err)
	x, err := g.Instantiate()
	b.ok(err)
	pageable := make([]byte, size)
	line := b.traced(func() {
		b.ok(cuda.MemcpyAsync(b.x, b.host, b.a))
		b.ok(b.spin.Launch(cuda.Grid(1), cuda.Block(32), b.a, b.x, 1000))
		b.ok(e.Record(b.a))
		b.ok(b.b.WaitEvent(e))
		b.ok(b.x.MemsetAsync(0, b.b))
		b.ok(b.b.LaunchHostFunc(func() { time.Sleep(time.Millisecond) }))
		b.ok(b.b.WriteValue(word, 1))
		b.ok(x.Launch(b.b))
		b.ok(cuda.MemcpyAsync(b.host, b.x, b.b))
		b.ok(b.b.Synchronize())
		b.ok(cuda.Memcpy(b.x, pageable))
	})
	t.Log("\n" + line.String())
	for kind, want := range map[string]int{trace.Copy: 3, trace.Fill: 1, trace.HostFunction: 1, trace.StreamWait: 1} {
		if n := len(find(line, kind)); n != want {
			t.Errorf("%d boxes %q, want %d", n, kind, want)
		}
	}
	if line.Clock != "events" {
		if n := len(find(line, trace.Kernel)); n != 3 {
			t.Errorf("%d kernels, want 3: one and those of the graph", n)
		}
	}
	if len(find(line, trace.HostWait)) == 0 || line.Running > 0 || line.Left > 0 {
		t.Errorf("%+v", line.Running)
	}
	s := line.Summarize()
	var rows, boxes time.Duration
	for _, r := range s.Rows {
		rows += r.Total
	}
	for _, x := range line.Boxes {
		if x.Kind != trace.Graph {
			boxes += x.Duration()
		}
	}
	if line.Clock != "events" && rows != boxes {
		t.Errorf("rows are %v, boxes %v", rows, boxes)
	}
	names := ""
	for _, c := range s.Chain {
		names += c.Kind + ","
	}
	if !strings.HasPrefix(names, "copy,kernel,fill,host function,") {
		t.Errorf("the longest chain is %s", names)
	}
	for _, x := range line.Boxes {
		if x.Place.File != "trace_test.go" && x.Of == 0 {
			t.Errorf("%s %s is at %q", x.Kind, x.Name, x.Place)
		}
	}
	b.ok(errors.Join(x.Destroy(), g.Destroy(), e.Destroy(), word.Free()))
}

// What a launch costs the host before, in and after a trace.
func BenchmarkLaunch(b *testing.B) {
	if os.Getenv("GOCUDA_BACKEND") == "" {
		b.Setenv("GOCUDA_BACKEND", "sim")
	}
	dev, err := cuda.Get(0)
	if err != nil {
		b.Fatal(err)
	}
	x, err := dev.Alloc(32, cuda.Uint8)
	if err != nil {
		b.Fatal(err)
	}
	m, err := cuda.Compile(spin)
	if err != nil {
		b.Fatal(err)
	}
	k, err := m.Kernel("twice")
	if err != nil {
		b.Fatal(err)
	}
	for _, when := range []string{"before", "in", "after"} {
		b.Run(when, func(b *testing.B) {
			if when == "in" {
				if err := trace.Start(); err != nil {
					b.Fatal(err)
				}
				defer trace.Stop() //nolint:errcheck // it is on
			}
			for i := range b.N {
				if err := k.Launch(cuda.Grid(1), cuda.Block(32), nil, x); err != nil {
					b.Fatal(err)
				}
				if i%256 == 255 {
					if err := cuda.Synchronize(); err != nil {
						b.Fatal(err)
					}
				}
			}
			if err := cuda.Synchronize(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// Nothing is wrapped, and nothing recorded, when no trace goes on.
func TestOffAgain(t *testing.T) {
	b := newBench(t)
	b.traced(func() { b.ok(b.x.Memset(0)) })
	if trace.On() {
		t.Error("it is on")
	}
	b.ok(b.x.Memset(0))
	if line := b.traced(func() {}); len(line.Boxes) != 0 {
		t.Errorf("boxes of what was queued outside: %s", line)
	}
	if _, err := trace.Stop(); err == nil {
		t.Error("a second end is no error")
	}
}

// What a kernel in Go needs for its panics is no work of the program's.
func TestOnlyWhatTheProgramDid(t *testing.T) {
	b := newBench(t)
	m, err := cuda.CompileGo("func inc(x []uint8) { x[gpu.ThreadIdx.X]++ }")
	b.ok(err)
	inc, err := m.Kernel("inc")
	b.ok(err)
	line := b.traced(func() {
		b.ok(inc.Launch(cuda.Grid(1), cuda.Block(32), b.a, b.x))
		b.ok(b.a.Synchronize())
	})
	var kinds []string
	for _, x := range line.Boxes {
		kinds = append(kinds, x.Kind)
	}
	slices.Sort(kinds) // the host may begin to wait before the kernel begins
	if !slices.Equal(kinds, []string{trace.HostWait, trace.Kernel}) {
		t.Errorf("a launch and a wait are %s", line)
	}
}

// A collective in streams' order lasts as long as what carries it out, and that is what
// the longest chain goes through.
func TestCollectiveInStreams(t *testing.T) {
	b := newBench(t)
	if n, err := cuda.DeviceCount(); err != nil || n < 2 {
		t.Skip("it takes two devices")
	}
	if info, err := cuda.Backend(); err == nil && info.Name == "nvidia" {
		t.Skip("NCCL may carry it out, of whose kernels no driver is asked")
	}
	var bufs []*cuda.Buffer
	var streams []*cuda.Stream
	for i := range 2 {
		d, err := cuda.Get(i)
		b.ok(err)
		x, err := d.Alloc(1<<20, cuda.Float32)
		b.ok(err)
		b.ok(x.Memset(0))
		s, err := d.NewStream(cuda.NonBlocking)
		b.ok(err)
		bufs, streams = append(bufs, x), append(streams, s)
	}
	line := b.traced(func() {
		b.ok(collective.Broadcast(0, bufs, streams))
		b.ok(errors.Join(streams[0].Synchronize(), streams[1].Synchronize()))
	})
	t.Log("\n" + line.String())
	all := find(line, trace.Collective)
	if len(all) != 1 || all[0].Name != "collective.Broadcast" || all[0].Bytes != 8<<20 {
		t.Fatalf("%+v", all)
	}
	first, last := time.Duration(1<<62), time.Duration(0)
	for _, x := range line.Boxes {
		if x.Library && x.Device >= 0 && x.Kind != trace.StreamWait {
			first, last = min(first, x.Begin), max(last, x.End)
		}
	}
	if all[0].Begin != first || all[0].End != last {
		t.Errorf("it lasts from %v to %v, what carries it out from %v to %v", all[0].Begin, all[0].End, first, last)
	}
	for _, x := range line.Summarize().Chain {
		if x.Kind == trace.Collective {
			t.Error("the collective is in the chain")
		}
	}
	for i := range 2 {
		b.ok(errors.Join(bufs[i].Free(), streams[i].Destroy()))
	}
}

// A check may begin and end while a trace goes on, and a trace while a check does; what
// is around the driver is gone with the last of them.
func TestBesideACheck(t *testing.T) {
	b := newBench(t)
	fills := func(want int, f func()) {
		t.Helper()
		if n := len(find(b.traced(f), trace.Fill)); n != want {
			t.Errorf("%d fills, want %d", n, want)
		}
	}
	fill := func() { b.ok(b.x.MemsetAsync(1, b.a)) }
	hazards := func(want int) {
		t.Helper()
		b.ok(b.x.MemsetAsync(1, b.a))
		b.ok(b.x.MemsetAsync(2, b.b))
		if n := len(hazard.Reports()); n != want {
			t.Errorf("%d hazards, want %d", n, want)
		}
	}
	b.ok(hazard.On())
	fills(2, func() { hazards(1) })
	fills(2, func() {
		fill()
		b.ok(hazard.Off())
		fill()
	})
	if record.InUse() != nil {
		t.Error("something records still")
	}
	fills(4, func() {
		fill()
		b.ok(hazard.On())
		hazards(1)
		b.ok(hazard.Off())
		fill()
	})
	fills(1, func() {
		fill()
		b.ok(hazard.On())
	})
	hazard.Forget()
	b.ok(cuda.Synchronize())
	hazards(1)
	b.ok(hazard.Off())
	if record.InUse() != nil {
		t.Error("something records still")
	}
}

// What Chrome's trace event format asks for: see the document of that name.
func TestChrome(t *testing.T) {
	b := newBench(t)
	line := b.traced(func() {
		for range 5 {
			b.ok(cuda.MemcpyAsync(b.x, b.host, b.a))
			b.ok(b.x.MemsetAsync(0, b.b))
		}
		b.ok(b.a.Synchronize())
	})
	path := filepath.Join(t.TempDir(), "trace.json")
	b.ok(line.Save(path))
	text, err := os.ReadFile(path)
	b.ok(err)
	checkChrome(t, text, len(line.Boxes))
	again, err := line.Encode()
	b.ok(err)
	back, err := trace.Decode(again)
	b.ok(err)
	if back.String() != line.String() {
		t.Errorf("%s\nafter a journey\n%s", line, back)
	}
}

// checkChrome checks a file of Chrome's trace event format.
func checkChrome(t *testing.T, text []byte, boxes int) {
	t.Helper()
	var file struct {
		TraceEvents []struct {
			Name, Cat, Ph string
			TS            *float64
			Dur           *float64
			PID, TID      *int
			ID            int
			Args          map[string]any
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	type thread struct{ pid, tid int }
	ends := map[thread]float64{}
	named := map[thread]bool{}
	starts, finishes, complete := map[int]float64{}, map[int]float64{}, 0
	for _, e := range file.TraceEvents {
		if e.PID == nil || e.TID == nil || e.Name == "" {
			t.Fatalf("%+v lacks a field", e)
		}
		at := thread{*e.PID, *e.TID}
		switch e.Ph {
		case "M":
			if e.Args["name"] == nil && e.Args["sort_index"] == nil {
				t.Errorf("metadata %+v", e)
			}
			named[at] = true
		case "X":
			complete++
			if e.TS == nil || e.Dur == nil || *e.TS < 0 || *e.Dur < 0 {
				t.Fatalf("a complete event without times: %+v", e)
			}
			const rounding = 1e-3
			if *e.TS < ends[at]-rounding {
				t.Errorf("%s begins at %g, within the one before, which ends at %g", e.Name, *e.TS, ends[at])
			}
			ends[at] = *e.TS + *e.Dur
			if !named[at] {
				t.Errorf("%s is on a thread without a name", e.Name)
			}
		case "s":
			starts[e.ID] = *e.TS
		case "f":
			finishes[e.ID] = *e.TS
		default:
			t.Errorf("an event of phase %q", e.Ph)
		}
	}
	if complete != boxes {
		t.Errorf("%d complete events, want %d", complete, boxes)
	}
	for id, at := range starts {
		if to, ok := finishes[id]; !ok || to < at {
			t.Errorf("arrow %d from %g to %g", id, at, to)
		}
	}
}
