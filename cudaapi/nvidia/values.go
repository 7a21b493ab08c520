//go:build linux && (amd64 || arm64)

package nvidia

import (
	"runtime"

	"gocuda/cudaapi/driver"
)

func (d *Driver) StreamWaitValue32(c driver.Context, s driver.Stream, p driver.Ptr, v uint32, f driver.WaitFlags) error {
	return d.on(c, s, cuStreamWaitValue32, uintptr(s), uintptr(p), uintptr(v), uintptr(f))
}

func (d *Driver) StreamWaitValue64(c driver.Context, s driver.Stream, p driver.Ptr, v uint64, f driver.WaitFlags) error {
	return d.on(c, s, cuStreamWaitValue64, uintptr(s), uintptr(p), uintptr(v), uintptr(f))
}

func (d *Driver) StreamWriteValue32(c driver.Context, s driver.Stream, p driver.Ptr, v uint32) error {
	return d.on(c, s, cuStreamWriteValue32, uintptr(s), uintptr(p), uintptr(v), 0)
}

func (d *Driver) StreamWriteValue64(c driver.Context, s driver.Stream, p driver.Ptr, v uint64) error {
	return d.on(c, s, cuStreamWriteValue64, uintptr(s), uintptr(p), uintptr(v), 0)
}

// memOp is CUstreamBatchMemOpParams with a wait or a write in it.
type memOp struct {
	kind  uint32
	_     uint32
	addr  uint64
	value uint64
	flags uint32
	_     uint32
	_     [2]uint64
}

func (d *Driver) StreamBatchMemOp(c driver.Context, s driver.Stream, ops []driver.MemOp) error {
	list := make([]memOp, len(ops), len(ops)+1) // never without an address
	for i, o := range ops {
		list[i] = memOp{kind: uint32(o.Kind), addr: uint64(o.Addr), value: o.Value}
		if o.Kind == driver.MemOpWaitValue32 || o.Kind == driver.MemOpWaitValue64 {
			list[i].flags = uint32(o.Wait)
		}
	}
	err := d.on(c, s, cuStreamBatchMemOp, uintptr(s), uintptr(len(list)), pin(&list[:1][0]), 0)
	runtime.KeepAlive(list)
	return err
}
