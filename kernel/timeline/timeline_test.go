package timeline_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
	"gocuda/kernel/plot"
	"gocuda/kernel/timeline"
)

const size = 64 << 20 // a copy of this takes a simulated device more than a millisecond

// bench is memory and streams on simulated devices.
type bench struct {
	*testing.T
	devices []*cuda.Device
	host    *cuda.HostBuffer
}

func newBench(t *testing.T) *bench {
	t.Setenv("GOCUDA_BACKEND", "sim")
	b := &bench{T: t}
	list, err := cuda.Devices()
	b.ok(err)
	b.devices = list
	b.host, err = cuda.AllocHost(size, cuda.Uint8, cuda.Portable)
	b.ok(err)
	t.Cleanup(func() { b.ok(b.host.Free()) })
	return b
}

func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) on(device int) (*cuda.Buffer, *cuda.Stream) {
	b.Helper()
	x, err := b.devices[device].Alloc(size, cuda.Uint8)
	b.ok(err)
	s, err := b.devices[device].NewStream(cuda.NonBlocking)
	b.ok(err)
	b.Cleanup(func() { b.ok(errors.Join(x.Free(), s.Destroy())) })
	return x, s
}

func (b *bench) timeline(devices ...*cuda.Device) *timeline.Timeline {
	b.Helper()
	t, err := timeline.New(devices...)
	b.ok(err)
	return t
}

func (b *bench) bars(t *timeline.Timeline, want ...string) map[string]plot.Bar {
	b.Helper()
	bars, err := t.Bars()
	b.ok(err)
	named := map[string]plot.Bar{}
	var names []string
	for _, bar := range bars {
		name := bar.Row + " " + bar.Label
		named[name], names = bar, append(names, name)
		if bar.End-bar.Start < 500 {
			b.Errorf("%s ran from %g to %g µs", name, bar.Start, bar.End)
		}
	}
	if strings.Join(names, ",") != strings.Join(want, ",") {
		b.Fatalf("bars %q, want %q", names, want)
	}
	return named
}

// Work of one stream stands one after the other, that of two streams in two
// directions side by side.
func TestOrderAndOverlap(t *testing.T) {
	b := newBench(t)
	x, s := b.on(0)
	y, other := b.on(0)
	into := func(buf *cuda.Buffer, s *cuda.Stream) func() error {
		return func() error { return cuda.MemcpyAsync(buf, b.host, s) }
	}
	line := b.timeline()
	b.ok(line.Do("s", "in", s, into(x, s)))
	b.ok(line.Do("s", "again", s, into(x, s)))
	b.ok(line.Do("other", "out", other, func() error { return cuda.MemcpyAsync(b.host, y, other) }))
	if text := line.String(); text != "timeline of 3 pieces of work; Draw shows it" {
		t.Error(text)
	}
	bars := b.bars(line, "s in", "s again", "other out")
	in, again, out := bars["s in"], bars["s again"], bars["other out"]
	if math.Min(in.Start, out.Start) != 0 || again.Start < in.End || out.Start >= in.End {
		t.Errorf("%+v", bars)
	}
	// What comes later is a timeline of its own.
	b.ok(line.Do("s", "late", s, into(x, s)))
	if late := b.bars(line, "s late")["s late"]; late.Start != 0 {
		t.Errorf("%+v", late)
	}
}

// The times of two devices can be compared.
func TestTwoDevices(t *testing.T) {
	b := newBench(t)
	x, s := b.on(0)
	y, other := b.on(1)
	filled, err := b.devices[0].NewEvent(cuda.DisableTiming)
	b.ok(err)
	line := b.timeline()
	b.ok(line.Do("GPU 0", "fill", s, func() error { return cuda.MemcpyAsync(x, b.host, s) }))
	b.ok(filled.Record(s))
	b.ok(other.WaitEvent(filled))
	b.ok(s.Synchronize()) // the second clock begins later than the first
	b.ok(line.Do("GPU 1", "empty", other, func() error { return cuda.MemcpyAsync(y, b.host, other) }))
	bars := b.bars(line, "GPU 0 fill", "GPU 1 empty")
	if gap := bars["GPU 1 empty"].Start - bars["GPU 0 fill"].End; math.Abs(gap) > 100 {
		t.Errorf("what waits for the other device begins %g µs after it", gap)
	}
	b.ok(filled.Destroy())
}

// New with devices compares their clocks before the work.
func TestClocksBeforehand(t *testing.T) {
	b := newBench(t)
	x, s := b.on(0)
	y, other := b.on(1)
	into := func(buf *cuda.Buffer, s *cuda.Stream) func() error {
		return func() error { return cuda.MemcpyAsync(buf, b.host, s) }
	}
	before := held(b)
	line := b.timeline(b.devices[0], b.devices[1])
	b.ok(line.Do("GPU 0", "in", s, into(x, s)))
	b.ok(line.Do("GPU 1", "in", other, into(y, other)))
	bars := b.bars(line, "GPU 0 in", "GPU 1 in")
	if first, second := bars["GPU 0 in"], bars["GPU 1 in"]; second.Start >= first.End || second.Start > 100 {
		t.Errorf("%+v", bars)
	}
	if after := held(b); after != before {
		t.Errorf("the devices hold %s, before it was %s", after, before)
	}
	if _, err := timeline.New(b.devices[0], nil); err == nil {
		t.Error("a device that is none has a clock")
	}
	if after := held(b); after != before {
		t.Errorf("after an error the devices hold %s, before it was %s", after, before)
	}
}

func TestDraw(t *testing.T) {
	b := newBench(t)
	x, _ := b.on(0)
	line := b.timeline()
	b.ok(line.Do("default", "copy", nil, func() error { return cuda.MemcpyAsync(x, b.host, nil) }))
	drawn, err := line.Draw("A copy")
	b.ok(err)
	svg, text := drawn.Data["image/svg+xml"].(string), drawn.Data["text/plain"].(string)
	for _, want := range []string{"A copy", "default", "copy", "by the model"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	if !strings.Contains(text, "default  copy") {
		t.Errorf("the text is\n%s", text)
	}
	if _, err := line.Draw("again"); err == nil || !strings.Contains(err.Error(), "nothing was recorded") {
		t.Errorf("a drawing of nothing: %v", err)
	}
}

func TestNilRecordsNothing(t *testing.T) {
	var line *timeline.Timeline
	ran := false
	err := line.Do("", "", nil, func() error { ran = true; return errors.New("the work's own") })
	bars, barsErr := line.Bars()
	if !ran || err == nil || err.Error() != "the work's own" || bars != nil || barsErr != nil {
		t.Error(ran, err, bars, barsErr)
	}
}

// held tells what exists on the devices.
func held(b *bench) string {
	b.Helper()
	machine, err := backend.Simulated()
	b.ok(err)
	return machine.Holdings().String()
}

// Work that fails leaves no box and no events.
func TestFailedWork(t *testing.T) {
	b := newBench(t)
	x, s := b.on(0)
	before := held(b)
	line := b.timeline()
	broken := errors.New("broken")
	if err := line.Do("s", "bad", s, func() error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	b.ok(line.Do("s", "good", s, func() error { return cuda.MemcpyAsync(x, b.host, s) }))
	b.bars(line, "s good")
	if after := held(b); after != before {
		t.Errorf("the devices hold %s, before it was %s", after, before)
	}
}
