package sim_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// Devices of a node can reach each other's memory. Those of two can only copy,
// over the network.
func TestNodes(t *testing.T) {
	const n = 1 << 20
	b := newBox(t, sim.Options{Devices: 6, Nodes: 2, Memory: 64 << 20})
	c := []driver.Context{b.c}
	for i := 1; i < 6; i++ {
		c = append(c, retain(t, b.d, driver.Device(i)))
	}
	var mem []driver.Ptr
	var streams []driver.Stream
	for i := range c {
		p, err := b.d.MemAlloc(c[i], n)
		b.ok(err)
		b.ok(b.d.Memset(c[i], p, uint32(i), 1, n))
		s, err := b.d.StreamCreate(c[i], driver.StreamNonBlocking, 0)
		b.ok(err)
		mem, streams = append(mem, p), append(streams, s)
	}
	for _, pair := range []struct {
		from, to driver.Device
		near     bool
	}{{0, 2, true}, {2, 3, false}, {5, 0, false}, {3, 5, true}} {
		can, err := b.d.CanAccessPeer(pair.from, pair.to)
		rank, err2 := b.d.P2PAttribute(driver.PerformanceRank, pair.from, pair.to)
		atomics, err3 := b.d.P2PAttribute(driver.NativeAtomicSupported, pair.from, pair.to)
		b.ok(errors.Join(err, err2, err3))
		if can != pair.near || (rank == 0) != pair.near || (atomics == 1) != pair.near {
			t.Errorf("device %d to %d: access %v, rank %d, atomics %d", pair.from, pair.to, can, rank, atomics)
		}
		if err := b.d.EnablePeerAccess(c[pair.from], c[pair.to]); (err == nil) != pair.near {
			t.Errorf("device %d enables access to %d: %v", pair.from, pair.to, err)
		} else if err != nil && !strings.Contains(err.Error(), "different nodes") {
			t.Error(err)
		}
	}
	took := func(from ...int) time.Duration { // messages to device 3
		b.ok(b.d.CtxSynchronize(c[3], nil))
		for _, i := range from {
			b.ok(b.d.CtxSynchronize(c[i], nil))
			b.ok(b.d.MemcpyPeerAsync(mem[3], c[3], mem[i], c[i], n, streams[i]))
		}
		for _, i := range from {
			b.ok(b.d.StreamSynchronize(c[i], streams[i], nil))
		}
		r := b.simulated().Records()
		r = r[len(r)-len(from):]
		for _, x := range r {
			if x.Engine != "network" {
				t.Errorf("a message went by %q", x.Engine)
			}
		}
		return r[len(r)-1].End - r[0].Begin
	}
	one := took(1)
	got := make([]byte, n)
	b.ok(b.d.Memcpy(c[3], ptr(got), mem[3], n))
	if got[0] != 1 || got[n-1] != 1 {
		t.Errorf("device 3 has %d and %d, want 1", got[0], got[n-1])
	}
	two := took(0, 1)
	if want := 14*time.Microsecond + n*time.Second/48e9; one < want-time.Microsecond || one > want+time.Microsecond {
		t.Errorf("a message of %d bytes takes %v, want %v", n, one, want)
	}
	if two < 2*one {
		t.Errorf("two messages to one device take %v, one takes %v: it has one network adapter", two, one)
	}
}

// Each device of a cluster has a host of its own, so calls for one cost the
// others nothing, until something waits for all.
func TestHostsOfACluster(t *testing.T) {
	begin := func(nodes int) time.Duration {
		b := newBox(t, sim.Options{Devices: 4, Nodes: nodes, Memory: 64 << 20})
		last := retain(t, b.d, 3)
		p, err := b.d.MemAlloc(b.c, 4096)
		b.ok(err)
		q, err := b.d.MemAlloc(last, 4096)
		b.ok(err)
		for range 100 {
			b.ok(b.d.MemsetAsync(b.c, p, 0, 1, 4096, driver.StreamDefault))
		}
		b.ok(b.d.MemsetAsync(last, q, 0, 1, 4096, driver.StreamDefault))
		b.ok(b.d.CtxSynchronize(last, nil))
		b.ok(b.d.CtxSynchronize(b.c, nil))
		for _, r := range b.simulated().Records() {
			if r.Device == 3 {
				return r.Begin
			}
		}
		t.Fatal("nothing ran on device 3")
		return 0
	}
	if alone, cluster := begin(1), begin(2); alone < 100*time.Microsecond || cluster > 10*time.Microsecond {
		t.Errorf("behind 100 calls for device 0, device 3 begins at %v with one host, at %v in a cluster", alone, cluster)
	}
}

func TestManyDevices(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1024})
	c := retain(t, b.d, 1023)
	p, err := b.d.MemAlloc(c, 64)
	b.ok(err)
	b.ok(b.d.Memset(c, p, 0, 4, 16))
	b.ok(b.d.CtxSynchronize(c, nil))
	add := b.kernel("extern \"C\" __global__ void add(int *p) { p[threadIdx.x] += threadIdx.x; }", "add")
	b.ok(b.d.EnablePeerAccess(b.c, c))
	b.ok(b.launch(add, driver.Dim3{X: 1, Y: 1, Z: 1}, driver.Dim3{X: 16, Y: 1, Z: 1}, 0, p))
	b.ok(b.sync())
	got := make([]int32, 16)
	b.ok(b.d.Memcpy(c, ptr(got), p, 64))
	if got[15] != 15 {
		t.Errorf("device 0 wrote %v to device 1023", got)
	}
	b.ok(b.d.DisablePeerAccess(b.c, c))
	b.ok(b.launch(add, driver.Dim3{X: 1, Y: 1, Z: 1}, driver.Dim3{X: 16, Y: 1, Z: 1}, 0, p))
	if err := b.sync(); err == nil || !strings.Contains(err.Error(), "memory of device 1023: peer access from device 0 is not enabled") {
		t.Error(err)
	}
	if _, err := sim.New(sim.Options{Devices: 10, Nodes: 3}); err == nil || !strings.Contains(err.Error(), "10 devices cannot be divided among 3 nodes") {
		t.Error(err)
	}
}
