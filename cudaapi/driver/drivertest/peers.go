package drivertest

import (
	"errors"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/record"
)

// peer lets device a use device b's memory for the length of the case, or skips
// the case where the devices have no link.
func (e *env) peer(a, b int) {
	e.Helper()
	can, err := e.d.CanAccessPeer(driver.Device(a), driver.Device(b))
	e.ok(err)
	if !can {
		e.Skipf("devices %d and %d have no peer access", a, b)
	}
	if err := e.d.EnablePeerAccess(e.ctx[a], e.ctx[b]); !errors.Is(err, driver.ErrPeerAccessAlreadyEnabled) {
		e.ok(err)
		e.Cleanup(func() { _ = e.d.DisablePeerAccess(e.ctx[a], e.ctx[b]) })
	}
}

// apart takes back what the program that runs the suite enabled before.
func (e *env) apart(a, b int) { _ = e.d.DisablePeerAccess(e.ctx[a], e.ctx[b]) }

var peerTests = []test{
	{name: "a device is not its own peer", run: func(e *env) {
		can, err := e.d.CanAccessPeer(0, 0)
		e.ok(err)
		if can {
			e.Error("device 0 can access itself as a peer")
		}
		// The documentation says ErrInvalidDevice; the driver (580) says otherwise.
		e.code(e.d.EnablePeerAccess(e.ctx[0], e.ctx[0]), driver.ErrPeerAccessUnsupported)
	}},
	{name: "access to a device that is not there is an invalid device", run: func(e *env) {
		_, err := e.d.CanAccessPeer(0, driver.Device(e.n))
		e.code(err, driver.ErrInvalidDevice)
	}},
	{name: "peer access is enabled once", devices: 2, run: func(e *env) {
		e.peer(0, 1)
		e.code(e.d.EnablePeerAccess(e.ctx[0], e.ctx[1]), driver.ErrPeerAccessAlreadyEnabled)
	}},
	{name: "peer access that is not enabled cannot be disabled", devices: 2, run: func(e *env) {
		e.apart(1, 0)
		e.code(e.d.DisablePeerAccess(e.ctx[1], e.ctx[0]), driver.ErrPeerAccessNotEnabled)
	}},
	{name: "peer access is one way", devices: 2, run: func(e *env) {
		e.apart(1, 0)
		e.peer(0, 1)
		e.code(e.d.DisablePeerAccess(e.ctx[1], e.ctx[0]), driver.ErrPeerAccessNotEnabled)
		e.peer(1, 0)
	}},
	{name: "peer access can be enabled again", devices: 2, run: func(e *env) {
		e.peer(0, 1)
		e.ok(e.d.DisablePeerAccess(e.ctx[0], e.ctx[1]))
		e.ok(e.d.EnablePeerAccess(e.ctx[0], e.ctx[1]))
	}},
	{name: "link attributes", devices: 2, run: func(e *env) {
		can, err := e.d.CanAccessPeer(0, 1)
		e.ok(err)
		supported, err := e.d.P2PAttribute(driver.AccessSupported, 0, 1)
		e.ok(err)
		if can != (supported != 0) {
			e.Errorf("can access: %v, access supported: %d", can, supported)
		}
		rank, err := e.d.P2PAttribute(driver.PerformanceRank, 0, 1)
		e.ok(err)
		if rank < 0 || rank > 16 {
			e.Errorf("performance rank %d", rank)
		}
	}},
	{name: "a device has no link to itself", run: func(e *env) {
		_, err := e.d.P2PAttribute(driver.PerformanceRank, 0, 0)
		e.code(err, driver.ErrInvalidDevice)
	}},
	{name: "copies between peers do not need access enabled", devices: 2, run: func(e *env) {
		a, b := e.alloc(0, 4096, 1), e.alloc(1, 4096, 0)
		e.ok(e.d.MemcpyPeer(b, e.ctx[1], a, e.ctx[0], 4096))
		e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
		e.ok(e.d.CtxSynchronize(e.ctx[1], nil))
		e.all(1, b, 4096, 1)
	}},
	{name: "a kernel writes to its peer's memory", devices: 2, run: func(e *env) {
		e.peer(0, 1)
		f := e.kernel(0, fill, "fill")
		p, s := e.alloc(1, 4096, 0), e.stream(0, driver.StreamNonBlocking)
		e.launch(0, f, s, 4, 256, args(p, uint32(0x05050505), uint32(1024)))
		e.sync(0, s)
		e.all(1, p, 4096, 5)
	}},
	{name: "a wait for a peer's event orders a peer copy", devices: 2, run: func(e *env) {
		a, b := e.stream(0, driver.StreamNonBlocking), e.stream(1, driver.StreamNonBlocking)
		ev := e.event(0, driver.EventDisableTiming)
		p, q := e.alloc(0, 1<<20, 0), e.alloc(1, 1<<20, 9)
		g := e.hold(0, a)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 1, 1, 1<<20, a))
		e.ok(e.d.EventRecord(e.ctx[0], ev, a))
		e.ok(e.d.StreamWaitEvent(e.ctx[1], b, ev))
		e.ok(e.d.MemcpyPeerAsync(q, e.ctx[1], p, e.ctx[0], 1<<20, b))
		e.pending(1, b, "copy behind the peer's event")
		e.before(1, q, 1<<20, 9)
		g.release()
		e.sync(1, b)
		e.all(1, q, 1<<20, 1)
	}},
	{name: "a peer copy without the wait takes what is there", devices: 2, run: func(e *env) {
		a, b := e.stream(0, driver.StreamNonBlocking), e.stream(1, driver.StreamNonBlocking)
		p, q := e.alloc(0, 1<<20, 3), e.alloc(1, 1<<20, 9)
		g := e.hold(0, a)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 1, 1, 1<<20, a))
		without := record.Mean()
		e.ok(e.d.MemcpyPeerAsync(q, e.ctx[1], p, e.ctx[0], 1<<20, b))
		without()
		e.done(1, b, "a peer copy that waits for nothing")
		e.all(1, q, 1<<20, 3)
		g.release()
	}},
}
