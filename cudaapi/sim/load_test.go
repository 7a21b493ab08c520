package sim_test

import (
	"runtime"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// TestMillionOperations issues a million small operations, in streams that wait
// for each other, on eight devices.
func TestMillionOperations(t *testing.T) {
	total := 1_000_000
	if testing.Short() {
		total = 100_000
	}
	const devices = 8
	d := newDriver(t, sim.Options{Devices: devices, Memory: 1 << 28})
	ok := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	var err error
	var c [devices]driver.Context
	var s [devices][2]driver.Stream
	var p [devices]driver.Ptr
	var e [devices]driver.Event
	for i := range devices {
		c[i] = retain(t, d, driver.Device(i))
		for j := range s[i] {
			s[i][j], err = d.StreamCreate(c[i], driver.StreamFlags(j), 0)
			ok(err)
		}
		p[i], err = d.MemAlloc(c[i], 4096)
		ok(err)
		e[i], err = d.EventCreate(c[i], 0)
		ok(err)
	}
	heap := func() uint64 {
		for i := range devices {
			ok(d.CtxSynchronize(c[i], nil))
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var early uint64
	n := 0
	for round := 0; n < total; round++ {
		for i := range devices {
			next := (i + 1) % devices
			ok(d.MemsetAsync(c[i], p[i], uint32(round), 4, 16, s[i][0]))
			ok(d.EventRecord(c[i], e[i], s[i][0]))
			ok(d.StreamWaitEvent(c[next], s[next][1], e[i]))
			ok(d.MemcpyPeerAsync(p[next]+1024, c[next], p[i], c[i], 64, s[next][1]))
			q, err := d.MemAllocAsync(c[i], 1024, s[i][1])
			ok(err)
			ok(d.MemFreeAsync(c[i], q, s[i][1]))
			n += 6
		}
		if round == 5000 && early == 0 {
			early = heap()
		}
	}
	late := heap()
	for range 20 { // what is held at the time of one collection may go with the next
		if late <= early+8<<20 {
			break
		}
		late = heap()
	}
	if early > 0 && late > early+8<<20 {
		t.Errorf("%d bytes of heap after a quarter, %d after all %d operations", early, late, n)
	}
	if testing.Short() {
		return
	}
	free, all, err := d.MemInfo(c[0])
	ok(err)
	if used := all - free; used > 64<<20 {
		t.Errorf("%d bytes of the device are in use", used)
	}
}
