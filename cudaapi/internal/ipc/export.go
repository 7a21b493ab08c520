// Package ipc is what the packages that move device memory between processes
// share: memory and events of other processes of this host, opened once
// ([Imports]); a [Lane] for each device, and [Words] in which kernels say that
// they are done; the lock under which device memory is allocated.
package ipc

import (
	"math/rand/v2"

	"gocuda/cudaapi/cuda"
)

// Export describes a buffer for another process. It holds no pointers, so it
// travels as it is.
type Export struct {
	Memory  cuda.IPCMemory
	Base    uint64 // where the allocation starts in the exporter, to tell when a handle is stale
	Whole   uint64 // the allocation's length, bytes
	Process uint64 // the exporter
}

// process tells this process from others.
var process = rand.Uint64()

// NewExport exports a buffer from Device.Alloc, or a view of one.
func NewExport(b *cuda.Buffer) (Export, error) {
	m, err := b.IPCHandle()
	base, whole := b.AddressRange()
	return Export{m, uint64(base), whole, process}, err
}

// Copy queues a copy: of one device's memory, which another process's counts as
// where it is open, or from device to device.
func Copy(dst, src *cuda.Buffer, s *cuda.Stream) error {
	if dst.Device() == src.Device() {
		return cuda.MemcpyAsync(dst, src, s)
	}
	return cuda.MemcpyPeerAsync(dst, src, s)
}
