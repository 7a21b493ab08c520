// Package calibrate makes a profile of simulated devices from measurements of
// real ones. Its tests run programs on both to see how near the model comes.
package calibrate

import (
	"fmt"
	"slices"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// rig is two streams of each device, and memory that a stream can be held by.
type rig struct {
	devices []*cuda.Device
	streams []*cuda.Stream
	others  []*cuda.Stream
	opener  *cuda.Stream // lets held streams go
	gate    *cuda.HostBuffer
	empty   *cuda.Kernel
	gates   uint64
	tick    time.Duration // that a stream takes to record one with timing: at the end of what is held
	keep    []interface{ Free() error }
}

// failure carries an error out of a measurement.
type failure struct{ error }

func ok(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](v T, err error) T {
	ok(err)
	return v
}

// caught makes an error of a failure.
func caught(err *error) {
	if r := recover(); r != nil {
		f, is := r.(failure)
		if !is {
			panic(r)
		}
		*err = f.error
	}
}

func newRig(devices []*cuda.Device) *rig {
	r := &rig{devices: devices}
	for _, d := range devices {
		r.streams = append(r.streams, must(d.NewStream(cuda.NonBlocking)))
		r.others = append(r.others, must(d.NewStream(cuda.NonBlocking)))
		for _, p := range devices {
			if p != d && must(d.CanAccessPeer(p)) {
				ok(d.EnablePeerAccess(p))
			}
		}
	}
	r.opener = must(devices[0].NewStream(cuda.NonBlocking))
	r.gate = must(devices[0].AllocHost(1, cuda.Uint32))
	must(r.gate.Uint32s())[0] = 0
	r.keep = append(r.keep, r.gate)
	m := must(cuda.Compile(`extern "C" __global__ void empty() {}`, cuda.ForDevice(devices[0])))
	r.empty = must(m.Kernel("empty"))
	return r
}

func (r *rig) close() {
	for _, s := range append(slices.Concat(r.streams, r.others), r.opener) {
		ok(s.Destroy())
	}
	for _, k := range r.keep {
		ok(k.Free())
	}
}

func (r *rig) device(d, bytes int) *cuda.Buffer {
	b := must(r.devices[d].Alloc(bytes, cuda.Uint8))
	r.keep = append(r.keep, b)
	return b
}

func (r *rig) pinned(d, bytes int) *cuda.HostBuffer {
	b := must(r.devices[d].AllocHost(bytes, cuda.Uint8))
	r.keep = append(r.keep, b)
	return b
}

// held is how long the device takes for what queue puts into the first stream:
// the stream is held meanwhile, so that the host's speed does not matter.
func (r *rig) held(queue func(s *cuda.Stream)) time.Duration {
	const rounds = 3
	var times []time.Duration
	s, d := r.streams[0], r.devices[0]
	begin, end := must(d.NewEvent()), must(d.NewEvent())
	for range rounds {
		r.gates++
		ok(s.WaitValue(r.gate, r.gates, cuda.WaitEQ))
		ok(begin.Record(s))
		queue(s)
		ok(end.Record(s))
		ok(r.opener.WriteValue(r.gate, r.gates))
		ok(s.Synchronize())
		times = append(times, must(cuda.Elapsed(begin, end)))
	}
	ok(begin.Destroy())
	ok(end.Destroy())
	return median(times)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// each is what one of a row of operations takes.
func (r *rig) each(row int, queue func(s *cuda.Stream)) time.Duration {
	d := r.held(func(s *cuda.Stream) {
		for range row {
			queue(s)
		}
	})
	return max(0, d-r.tick) / time.Duration(row)
}

// fit is the latency and the rate (bytes per second) of an operation on n
// bytes, from its times at a small and a large size.
func (r *rig) fit(small, large int, do func(s *cuda.Stream, n int)) (time.Duration, float64) {
	at := func(n int) time.Duration { return r.each(8, func(s *cuda.Stream) { do(s, n) }) }
	a, b := at(small), at(large)
	rate := float64(large-small) / (b - a).Seconds()
	return max(0, a-time.Duration(float64(small)/rate*1e9)), rate
}

// wall is the host's time for one call of f, from many in a row.
func wall(f func()) time.Duration {
	const row, rounds = 200, 7
	var times []time.Duration
	for range rounds {
		begin := time.Now()
		for range row {
			f()
		}
		times = append(times, time.Since(begin)/row)
	}
	return median(times)
}

const (
	small = 1 << 20
	large = 64 << 20
	tiny  = 4 << 10 // as measured: a latency and little more
)

// Measure makes a profile of the devices at hand, from the first and, if there
// are two, the link between the first two. It takes a second or two on a GPU,
// which should be idle. The host's part of calls is measured by the clock, the
// rest by events.
func Measure(devices []*cuda.Device) (p *sim.Profile, err error) {
	defer caught(&err)
	if len(devices) == 0 {
		return nil, fmt.Errorf("calibrate: there are no devices")
	}
	devices = devices[:min(2, len(devices))]
	r := newRig(devices)
	defer r.close()
	d, s := devices[0], r.streams[0]
	p = sim.Hopper()
	p.Name = d.Name()
	for _, a := range []struct {
		to   *int
		what driver.Attribute
	}{
		{&p.Major, driver.ComputeCapabilityMajor}, {&p.Minor, driver.ComputeCapabilityMinor},
		{&p.SMs, driver.MultiprocessorCount}, {&p.ClockKHz, driver.ClockRate}, {&p.MemClockKHz, driver.MemoryClockRate},
		{&p.MemBusBits, driver.GlobalMemoryBusWidth}, {&p.L2Bytes, driver.L2CacheSize}, {&p.SharedPerSM, driver.MaxSharedMemoryPerSM},
	} {
		*a.to = must(d.Attribute(a.what))
	}
	x, y, pinned := r.device(0, 2*large), r.device(0, 2*large), r.pinned(0, large)

	tick := must(d.NewEvent())
	const ticks = 32
	r.tick = r.held(func(s *cuda.Stream) {
		for range ticks {
			ok(tick.Record(s))
		}
	}) / (ticks + 1)
	p.EventTime = r.tick
	ok(tick.Destroy())

	in, inRate := r.fit(small, large, func(s *cuda.Stream, n int) { ok(cuda.MemcpyAsync(x.Slice(0, n), pinned.Slice(0, n), s)) })
	out, outRate := r.fit(small, large, func(s *cuda.Stream, n int) { ok(cuda.MemcpyAsync(pinned.Slice(0, n), x.Slice(0, n), s)) })
	p.CopyLatency, p.HostRate = (in+out)/2, (inRate+outRate)/2
	var local float64
	p.FillLatency, local = r.fit(tiny, 2*large, func(s *cuda.Stream, n int) { ok(cuda.MemcpyAsync(y.Slice(0, n), x.Slice(0, n), s)) })
	p.MemoryRate = 2 * local // read and written
	_, cached := r.fit(small, 8*small, func(s *cuda.Stream, n int) { ok(cuda.MemcpyAsync(y.Slice(0, n), x.Slice(0, n), s)) })
	p.CacheRate = 2 * cached
	if len(devices) > 1 {
		far := r.device(1, large)
		p.PeerLatency, p.PeerRate = r.fit(tiny, large, func(s *cuda.Stream, n int) { ok(cuda.MemcpyPeerAsync(far.Slice(0, n), x.Slice(0, n), s)) })
	} else {
		p.PeerLatency, p.PeerRate = p.CopyLatency, p.HostRate // through the host
	}

	launch := func(s *cuda.Stream) { ok(r.empty.Launch(cuda.Grid(1), cuda.Block(32), s)) }
	launch(s)
	ok(s.Synchronize())
	const row, blocks = 64, 1 << 13
	p.KernelTime = r.each(row, launch)
	many := r.each(row/16, func(s *cuda.Stream) { ok(r.empty.Launch(cuda.Grid(blocks), cuda.Block(32), s)) })
	p.BlockRate = blocks / (many - p.KernelTime).Seconds()
	p.SwitchDelay = max(0, r.each(row/4, func(s *cuda.Stream) {
		launch(s)
		ok(cuda.MemcpyAsync(x.Slice(0, tiny), pinned.Slice(0, tiny), s))
	})-p.KernelTime-p.CopyLatency) / 2
	there, back := must(d.NewEvent(cuda.DisableTiming)), must(d.NewEvent(cuda.DisableTiming))
	hop := func(other *cuda.Stream, back *cuda.Event) time.Duration {
		return max(0, r.each(row/2, func(s *cuda.Stream) {
			launch(s)
			ok(there.Record(s))
			ok(other.WaitEvent(there))
			launch(other)
			ok(back.Record(other))
			ok(s.WaitEvent(back))
		})/2-p.KernelTime)
	}
	p.WaitDelay = hop(r.others[0], back)
	if len(devices) > 1 {
		far := must(devices[1].NewEvent(cuda.DisableTiming))
		launch(r.streams[1])
		p.PeerWait = hop(r.streams[1], far)
		ok(far.Destroy())
	}

	pageable := must(cuda.AllocPageable(large, cuda.Uint8))
	ok(cuda.Memcpy(x.Slice(0, large), pageable))
	p.PageableRate = large / wallOnce(func() { ok(cuda.Memcpy(x.Slice(0, large), pageable)) }).Seconds()
	ok(pageable.Free())

	p.LaunchCall = wall(func() { launch(s) })
	ok(s.Synchronize())
	p.AsyncCall = wall(func() { ok(cuda.MemcpyAsync(y.Slice(0, tiny), x.Slice(0, tiny), s)) })
	ok(s.Synchronize())
	p.EventCall = wall(func() { ok(there.Record(s)) })
	ok(s.Synchronize())
	p.SyncCall = wall(func() { ok(s.Synchronize()) })
	whole := wall(func() { launch(s); ok(s.Synchronize()) })
	p.StartDelay = max(0, whole-p.LaunchCall-p.KernelTime-p.SyncCall)
	ok(there.Destroy())
	ok(back.Destroy())
	return p, nil
}

// wallOnce is the host's time for f, the middle of some.
func wallOnce(f func()) time.Duration {
	var times []time.Duration
	for range 5 {
		begin := time.Now()
		f()
		times = append(times, time.Since(begin))
	}
	return median(times)
}
