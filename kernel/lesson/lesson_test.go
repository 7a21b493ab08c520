package lesson

import (
	"errors"
	_ "gocuda/cudaapi/backend"
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/trace"
	"gocuda/kernel/timeline"
)

func stream(t *testing.T) *cuda.Stream {
	t.Helper()
	t.Setenv("GOCUDA_BACKEND", "sim")
	devices, err := cuda.Devices()
	if err != nil {
		t.Fatal(err)
	}
	s, err := devices[0].NewStream(cuda.NonBlocking)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Destroy() })
	return s
}

func TestGate(t *testing.T) {
	s := stream(t)
	g, err := NewGate()
	if err != nil {
		t.Fatal(err)
	}
	finishes := func() bool {
		done, err := Finishes(s, 20*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	if !finishes() {
		t.Error("an empty stream is not done")
	}
	for range 2 { // a gate closes again
		if err := g.Hold(s); err != nil {
			t.Fatal(err)
		}
		if finishes() {
			t.Error("the gate does not hold the stream")
		}
		g.Open()
		if err := s.Synchronize(); err != nil || !finishes() {
			t.Error("the open gate holds the stream:", err)
		}
	}
	if err := errors.Join(g.Hold(s), g.Free()); err != nil || !finishes() {
		t.Error("the stream stands still after Free:", err)
	}
}

func TestQueues(t *testing.T) {
	s := stream(t)
	g, err := NewGate()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Free()
	if queued, err := g.Queues(func() {}, s); !queued || err != nil {
		t.Error("a function that queues:", queued, err)
	}
	if queued, err := g.Queues(func() { s.Synchronize() }, s); queued || err != nil {
		t.Error("a function that waits:", queued, err)
	}
	func() {
		defer func() {
			if recover() != "mine" {
				t.Error("the panic is lost")
			}
		}()
		g.Queues(func() { panic("mine") }, s)
	}()
	if done, err := s.Query(); !done || err != nil {
		t.Error("after a panic the stream is held:", done, err)
	}
}

func TestPortion(t *testing.T) {
	for _, c := range [][2]int{{12, 4}, {13, 4}, {3, 8}, {0, 3}, {1, 1}} {
		sum, last := 0, c[0]
		for k := range c[1] {
			p := Portion(c[0], k, c[1])
			if p > last || p < c[0]/c[1] || p > c[0]/c[1]+1 {
				t.Errorf("share %d of %v is %d", k, c, p)
			}
			sum, last = sum+p, p
		}
		if sum != c[0] {
			t.Errorf("the shares of %v have %d", c, sum)
		}
	}
}

func TestAbreast(t *testing.T) {
	rec := &timeline.Recorded{Timeline: &trace.Timeline{Boxes: []trace.Box{
		{ID: 1, Kind: "copy", Begin: 0, End: 10}, {ID: 2, Kind: "kernel", Begin: 5, End: 15},
		{ID: 3, Kind: "kernel", Begin: 10, End: 20}, {ID: 4, Kind: "kernel", Begin: 14, End: 16},
	}}}
	for _, c := range []struct {
		kind, other string
		want        int
	}{{"copy", "kernel", 1}, {"kernel", "copy", 1}, {"kernel", "kernel", 3}, {"copy", "copy", 0}} {
		if got := Abreast(rec, c.kind, c.other); got != c.want {
			t.Errorf("%s beside %s: %d, want %d", c.kind, c.other, got, c.want)
		}
	}
}

// A check knows that what the host did before Open comes before what the gate held.
func TestOpenIsSeenByACheck(t *testing.T) {
	s := stream(t)
	if err := hazard.On(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hazard.Off() })
	g, err := NewGate()
	if err != nil {
		t.Fatal(err)
	}
	host, err := cuda.AllocHost(1, cuda.Uint32)
	if err != nil {
		t.Fatal(err)
	}
	device, err := s.Device().Alloc(1, cuda.Uint32)
	if err != nil {
		t.Fatal(err)
	}
	words, err := host.Uint32s()
	if err := errors.Join(err, g.Hold(s), cuda.MemcpyAsync(device, host, s)); err != nil {
		t.Fatal(err)
	}
	hazard.HostAccess(hazard.Place{File: "the test"}, uintptr(unsafe.Pointer(&words[0])), 4, true, true, false)
	words[0] = 7
	g.Open()
	if err := s.Synchronize(); err != nil {
		t.Fatal(err)
	}
	if list := hazard.Reports(); len(list) > 0 {
		t.Errorf("%v", list)
	}
	if err := errors.Join(g.Free(), host.Free(), device.Free()); err != nil {
		t.Fatal(err)
	}
}
