package drivertest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/driver"
)

// Table measures, for each kind of copy and a few other calls, what the host
// waits for, and gives a table in Markdown. Each call is made while its stream
// stands at a gate: a call that returns before the gate opens waits for nothing.
// For copies from the host that return early, the source is changed before the
// gate opens, to see when it was read.
func Table(t *testing.T, d driver.Driver) string {
	n, err := d.DeviceCount()
	if err != nil {
		t.Fatal(err)
	}
	e := &env{T: t, d: d, n: n}
	for i := range min(n, 2) {
		c, err := d.PrimaryRetain(driver.Device(i))
		e.ok(err)
		e.ctx = append(e.ctx, c)
	}
	var b strings.Builder
	b.WriteString("| call | bytes | stream held | host waits for the stream | source read |\n|---|---|---|---|---|\n")
	for _, size := range []uint64{4 << 10, 64 << 10, 64<<10 + 4, 1 << 20, 16 << 20} {
		for _, pinned := range []bool{false, true} {
			e.rowsFor(&b, size, pinned)
		}
		e.deviceRows(&b, size)
	}
	e.otherRows(&b)
	return b.String()
}

// row measures one call on a held stream. read, if given, tells after the gate
// opened whether the source was read before.
func (e *env) row(b *strings.Builder, name string, size uint64, s driver.Stream, held string, call func() error, change func(), read func() string) {
	g := e.hold(0, s)
	out := make(chan error, 1)
	go func() { out <- call() }()
	waits := "no"
	select {
	case err := <-out:
		e.ok(err)
		if change != nil {
			change()
		}
		g.release()
	case <-time.After(3 * patience):
		waits = "yes"
		g.release()
		e.ok(<-out)
	}
	e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
	when := ""
	if read != nil && waits == "no" {
		when = read()
	}
	bytes := ""
	if size > 0 {
		bytes = fmt.Sprint(size)
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", name, bytes, held, waits, when)
}

// rowsFor measures copies between host and device.
func (e *env) rowsFor(b *strings.Builder, size uint64, pinned bool) {
	kind := "pageable"
	var host driver.Ptr
	var bytes []byte
	if pinned {
		kind = "pinned"
		host, bytes = e.pinned(size, 1)
	} else {
		bytes = make([]byte, size)
		host = address(bytes)
	}
	defer runtime.KeepAlive(bytes)
	dev := e.alloc(0, size, 0)
	s := e.stream(0, driver.StreamNonBlocking)
	fresh := func() {
		for i := range bytes {
			bytes[i] = 1
		}
	}
	change := func() { bytes[size-1] = 2 }
	read := func() string {
		if e.read(0, dev+driver.Ptr(size-1), 1)[0] == 2 {
			return "when the copy runs"
		}
		return "before the call returned"
	}
	fresh()
	e.row(b, "cuMemcpy "+kind+" to device", size, driver.StreamDefault, "default", func() error { return e.d.Memcpy(e.ctx[0], dev, host, size) }, change, read)
	fresh()
	e.row(b, "cuMemcpyAsync "+kind+" to device", size, s, "its own", func() error { return e.d.MemcpyAsync(e.ctx[0], dev, host, size, s) }, change, read)
	e.row(b, "cuMemcpy device to "+kind, size, driver.StreamDefault, "default", func() error { return e.d.Memcpy(e.ctx[0], host, dev, size) }, nil, nil)
	e.row(b, "cuMemcpyAsync device to "+kind, size, s, "its own", func() error { return e.d.MemcpyAsync(e.ctx[0], host, dev, size, s) }, nil, nil)
}

// deviceRows measures copies that stay off the host.
func (e *env) deviceRows(b *strings.Builder, size uint64) {
	p, q, s := e.alloc(0, size, 0), e.alloc(0, size, 0), e.stream(0, driver.StreamNonBlocking)
	e.row(b, "cuMemcpy device to device", size, driver.StreamDefault, "default", func() error { return e.d.Memcpy(e.ctx[0], p, q, size) }, nil, nil)
	e.row(b, "cuMemcpyAsync device to device", size, s, "its own", func() error { return e.d.MemcpyAsync(e.ctx[0], p, q, size, s) }, nil, nil)
	e.row(b, "cuMemsetD8 of device memory", size, driver.StreamDefault, "default", func() error { return e.d.Memset(e.ctx[0], p, 1, 1, size) }, nil, nil)
	if len(e.ctx) > 1 {
		r := e.alloc(1, size, 0)
		e.row(b, "cuMemcpyPeer", size, driver.StreamDefault, "default", func() error { return e.d.MemcpyPeer(r, e.ctx[1], p, e.ctx[0], size) }, nil, nil)
		e.row(b, "cuMemcpyPeerAsync", size, s, "its own", func() error { return e.d.MemcpyPeerAsync(r, e.ctx[1], p, e.ctx[0], size, s) }, nil, nil)
	}
}

// otherRows measures what else might wait.
func (e *env) otherRows(b *strings.Builder) {
	s := e.stream(0, driver.StreamBlocking)
	var p driver.Ptr
	e.row(b, "cuMemAlloc", 1<<20, s, "a blocking one", func() (err error) { p, err = e.d.MemAlloc(e.ctx[0], 1<<20); return }, nil, nil)
	e.row(b, "cuMemFree", 1<<20, s, "a blocking one", func() error { return e.d.MemFree(e.ctx[0], p) }, nil, nil)
	e.row(b, "cuMemHostAlloc", 1<<20, s, "a blocking one", func() (err error) {
		p, err = e.d.HostAlloc(e.ctx[0], 1<<20, driver.HostPortable)
		return
	}, nil, nil)
	e.row(b, "cuMemFreeHost", 1<<20, s, "a blocking one", func() error { return e.d.HostFree(e.ctx[0], p) }, nil, nil)
	e.row(b, "cuMemAllocAsync", 1<<20, s, "its own", func() (err error) { p, err = e.d.MemAllocAsync(e.ctx[0], 1<<20, s); return }, nil, nil)
	e.row(b, "cuMemFreeAsync", 1<<20, s, "its own", func() error { return e.d.MemFreeAsync(e.ctx[0], p, s) }, nil, nil)
	e.row(b, "cuStreamCreate", 0, s, "a blocking one", func() error {
		made, err := e.d.StreamCreate(e.ctx[0], driver.StreamBlocking, 0)
		if err == nil {
			err = e.d.StreamDestroy(e.ctx[0], made)
		}
		return err
	}, nil, nil)
	var ev driver.Event
	e.row(b, "cuEventCreate", 0, s, "a blocking one", func() (err error) { ev, err = e.d.EventCreate(e.ctx[0], 0); return }, nil, nil)
	e.row(b, "cuEventRecord", 0, s, "its own", func() error { return e.d.EventRecord(e.ctx[0], ev, s) }, nil, nil)
	e.row(b, "cuEventDestroy", 0, s, "its own", func() error { return e.d.EventDestroy(e.ctx[0], ev) }, nil, nil)
}
