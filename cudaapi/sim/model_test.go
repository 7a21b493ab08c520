package sim_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// rig is streams, events and memory on two devices.
type rig struct {
	*box
	c      [2]driver.Context
	s      [2]driver.Stream
	dev    [2]driver.Ptr
	pinned [2]driver.Ptr
}

func newRig(t testing.TB, o sim.Options, n uint64) *rig {
	o.Devices = 2
	r := &rig{box: newBox(t, o)}
	var err error
	for i := range 2 {
		r.c[i] = retain(t, r.d, driver.Device(i))
		r.s[i], err = r.d.StreamCreate(r.c[i], driver.StreamNonBlocking, 0)
		r.ok(err)
		r.dev[i], err = r.d.MemAlloc(r.c[i], n)
		r.ok(err)
		r.pinned[i], err = r.d.HostAlloc(r.c[i], n, driver.HostPortable)
		r.ok(err)
	}
	return r
}

func (r *rig) record(dev int, s driver.Stream) driver.Event { return r.recordWith(0, dev, s) }

func (r *rig) recordWith(f driver.EventFlags, dev int, s driver.Stream) driver.Event {
	r.t.Helper()
	e, err := r.d.EventCreate(r.c[dev], f)
	r.ok(err)
	r.ok(r.d.EventRecord(r.c[dev], e, s))
	return e
}

func (r *rig) wait(dev int, s driver.Stream, e driver.Event) {
	r.t.Helper()
	r.ok(r.d.StreamWaitEvent(r.c[dev], s, e))
}

func (r *rig) elapsed(dev int, a, b driver.Event) time.Duration {
	r.t.Helper()
	r.ok(r.d.CtxSynchronize(r.c[0], nil))
	r.ok(r.d.CtxSynchronize(r.c[1], nil))
	d, err := r.d.EventElapsed(r.c[dev], a, b)
	r.ok(err)
	return d
}

// staged times a copy from device 0 to device 1 through two pinned buffers, as
// often round the memory as n asks for.
func (r *rig) staged(n, memory, chunk uint64) time.Duration {
	r.t.Helper()
	var full, empty [2]driver.Event
	begin := r.record(1, r.s[1])
	r.wait(0, r.s[0], begin)
	for i := uint64(0); i*chunk < n; i++ {
		b, off := i%2, driver.Ptr(i*chunk%memory)
		if i >= 2 {
			r.wait(0, r.s[0], empty[b])
		}
		r.ok(r.d.MemcpyAsync(r.c[0], r.pinned[b], r.dev[0]+off, chunk, r.s[0]))
		full[b] = r.recordWith(driver.EventDisableTiming, 0, r.s[0])
		r.wait(1, r.s[1], full[b])
		r.ok(r.d.MemcpyAsync(r.c[1], r.dev[1]+off, r.pinned[b], chunk, r.s[1]))
		empty[b] = r.recordWith(driver.EventDisableTiming, 1, r.s[1])
	}
	return r.elapsed(1, begin, r.record(1, r.s[1]))
}

// TestModelNearMetal compares simulated times with those measured on two H200.
func TestModelNearMetal(t *testing.T) {
	const n = 64 << 20
	r := newRig(t, sim.Options{}, n)
	for i := range r.c {
		r.ok(r.d.EnablePeerAccess(r.c[i], r.c[1-i]))
	}
	for _, c := range []struct {
		name string
		want float64 // GB/s
		run  func() (uint64, time.Duration)
	}{
		{"staged peer copy, chunks of 1 MiB", 38.5, func() (uint64, time.Duration) { return n, r.staged(n, n, 1<<20) }},
		{"staged peer copy, chunks of 4 MiB", 49.7, func() (uint64, time.Duration) { return n, r.staged(n, n, 4<<20) }},
		{"staged peer copy, chunks of 16 MiB", 53.1, func() (uint64, time.Duration) { return 4 * n, r.staged(4*n, n, 16<<20) }},
		{"peer copy of 4 KiB", 4096 / 2.2e3, func() (uint64, time.Duration) { return 4096, r.peer(4096) }},
		{"peer copy of 1 MiB", (1 << 20) / 4.95e3, func() (uint64, time.Duration) { return 1 << 20, r.peer(1 << 20) }},
		{"peer copy of 64 MiB", 390, func() (uint64, time.Duration) { return 64 << 20, r.peer(64 << 20) }},
		{"peer copy of 64 MiB without peer access", 35, func() (uint64, time.Duration) {
			for i := range r.c {
				r.ok(r.d.DisablePeerAccess(r.c[i], r.c[1-i]))
			}
			return 64 << 20, r.peer(64 << 20)
		}},
	} {
		bytes, d := c.run()
		got := float64(bytes) / d.Seconds() / 1e9
		t.Logf("%-36s simulated %6.1f GB/s, measured %6.1f GB/s, %+.1f%%", c.name, got, c.want, 100*(got/c.want-1))
		if got < c.want*0.9 || got > c.want*1.1 {
			t.Errorf("%s: simulated %.1f GB/s, measured %.1f", c.name, got, c.want)
		}
	}
}

// peer is the time of one copy of many in a row.
func (r *rig) peer(n uint64) time.Duration {
	r.t.Helper()
	begin := r.record(0, r.s[0])
	for range 100 {
		r.ok(r.d.MemcpyPeerAsync(r.dev[1], r.c[1], r.dev[0], r.c[0], n, r.s[0]))
	}
	return r.elapsed(0, begin, r.record(0, r.s[0])) / 100
}

// TestTimesRepeat runs the same calls under several seeds and schedules.
func TestTimesRepeat(t *testing.T) {
	const n = 1 << 20
	var first []time.Duration
	for seed := range uint64(6) {
		r := newRig(t, sim.Options{Seed: seed + 1, Adversarial: seed%2 == 1}, n)
		var times []time.Duration
		times = append(times, r.staged(n, n, 1<<17))
		k := r.kernel(saxpy)
		a := r.record(0, driver.StreamDefault)
		r.ok(r.launch(k, dim(1024), dim(256), 0, n/4, float32(2), r.dev[0], r.dev[0]))
		r.ok(r.d.MemcpyAsync(r.c[0], r.pinned[0], r.dev[0], n, driver.StreamDefault))
		times = append(times, r.elapsed(0, a, r.record(0, driver.StreamDefault)))
		if first == nil {
			first = times
			t.Logf("%v", first)
		}
		if !reflect.DeepEqual(times, first) {
			t.Errorf("seed %d: %v, first %v", seed+1, times, first)
		}
	}
}

func TestEnginesOverlap(t *testing.T) {
	const n = 32 << 20
	r := newRig(t, sim.Options{}, n)
	other, err := r.d.StreamCreate(r.c[0], driver.StreamNonBlocking, 0)
	r.ok(err)
	// both times two operations: one after the other on a stream, and on two.
	both := func(a, b func(s driver.Stream)) (one, two time.Duration) {
		begin := r.record(0, r.s[0])
		a(r.s[0])
		b(r.s[0])
		one = r.elapsed(0, begin, r.record(0, r.s[0]))
		begin = r.record(0, r.s[0])
		r.wait(0, other, begin)
		a(r.s[0])
		b(other)
		r.wait(0, r.s[0], r.record(0, other))
		return one, r.elapsed(0, begin, r.record(0, r.s[0]))
	}
	in := func(s driver.Stream) { r.ok(r.d.MemcpyAsync(r.c[0], r.dev[0], r.pinned[0], n, s)) }
	out := func(s driver.Stream) { r.ok(r.d.MemcpyAsync(r.c[0], r.pinned[1], r.dev[0], n, s)) }
	for _, c := range []struct {
		name     string
		a, b     func(driver.Stream)
		overlaps bool
	}{
		{"a copy in and a copy out", in, out, true},
		{"two copies in", in, in, false},
	} {
		one, two := both(c.a, c.b)
		t.Logf("%s: %v on one stream, %v on two", c.name, one, two)
		if c.overlaps != (two < one*6/10) || !c.overlaps && two < one*9/10 {
			t.Errorf("%s: %v on one stream, %v on two", c.name, one, two)
		}
	}
}

// TestTimeOfAWaitForAValue has the wait end when the write ends, though the
// write was issued later.
func TestTimeOfAWaitForAValue(t *testing.T) {
	const n = 1 << 20
	r := newRig(t, sim.Options{}, n)
	r.ok(r.d.Memset(r.c[0], r.dev[0], 0, 4, 1))
	r.ok(r.sync())
	begin := r.record(0, r.s[0])
	r.ok(r.d.StreamWaitValue32(r.c[0], r.s[0], r.dev[0], 1, driver.WaitValueEQ))
	end := r.record(0, r.s[0])
	other, err := r.d.StreamCreate(r.c[0], driver.StreamNonBlocking, 0)
	r.ok(err)
	r.wait(0, other, begin)
	r.ok(r.d.MemcpyAsync(r.c[0], r.pinned[0], r.dev[0], n, other))
	r.ok(r.d.StreamWriteValue32(r.c[0], other, r.dev[0], 1))
	written := r.record(0, other)
	waited, wrote := r.elapsed(0, begin, end), r.elapsed(0, begin, written)
	if waited < wrote {
		t.Errorf("the wait took %v, the write came after %v", waited, wrote)
	}
}

func TestRecords(t *testing.T) {
	r := newRig(t, sim.Options{}, 1<<20)
	r.ok(r.d.MemcpyPeerAsync(r.dev[1], r.c[1], r.dev[0], r.c[0], 1<<20, r.s[0]))
	r.ok(r.launch(r.kernel(saxpy), dim(1), dim(32), 0, 32, float32(1), r.dev[0], r.dev[0]))
	r.ok(r.sync())
	var got []string
	for _, rec := range r.simulated().Records() {
		got = append(got, fmt.Sprintf("%d %s %s %s %d %d", rec.Device, rec.Kind, rec.Name, rec.Engine, rec.Peer, rec.Bytes))
		if rec.End <= rec.Begin {
			t.Errorf("%+v ends before it begins", rec)
		}
	}
	want := []string{"0 copy  peer link 1 1048576", "0 kernel saxpy compute -1 256"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// What the host issues when a question has told it that an operation is over begins
// after that operation: for a stream's last and for an event.
func TestTimeOfAQuestion(t *testing.T) {
	const n = 16 << 20
	for name, over := range map[string]func(r *rig, e driver.Event) (bool, error){
		"event":  func(r *rig, e driver.Event) (bool, error) { return r.d.EventQuery(r.c[0], e) },
		"stream": func(r *rig, _ driver.Event) (bool, error) { return r.d.StreamQuery(r.c[0], r.s[0]) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, sim.Options{}, n)
			r.ok(r.d.MemcpyAsync(r.c[0], r.pinned[0], r.dev[0], n, r.s[0]))
			e := r.record(0, r.s[0])
			for done := false; !done; time.Sleep(time.Millisecond) {
				var err error
				done, err = over(r, e)
				r.ok(err)
			}
			r.ok(r.d.MemcpyAsync(r.c[1], r.pinned[1], r.dev[1], n, r.s[1]))
			r.ok(r.d.CtxSynchronize(r.c[1], nil))
			list := r.simulated().Records()
			if len(list) != 2 || list[1].Begin < list[0].End {
				t.Errorf("a copy that was issued when another one was over began before its end: %+v", list)
			}
		})
	}
}
