package drivertest_test

import (
	"sync"

	"gocuda/cudaapi/driver"
)

// Faults of what a driver says of devices, memory and code, and of what it
// refuses.

// zeroFacts knows nothing, and gives a context in use another number.
type zeroFacts struct {
	base
	mu       sync.Mutex
	retained map[driver.Device]int
}

func (f *zeroFacts) PrimaryRetain(d driver.Device) (driver.Context, error) {
	c, err := f.machine.PrimaryRetain(d)
	if err != nil {
		return c, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.retained[d] > 0 {
		c += 77
	}
	if f.retained == nil {
		f.retained = map[driver.Device]int{}
	}
	f.retained[d]++
	return c, nil
}

func (f *zeroFacts) PrimaryRelease(d driver.Device) error {
	f.mu.Lock()
	f.retained[d]--
	f.mu.Unlock()
	return f.machine.PrimaryRelease(d)
}

func (*zeroFacts) Version() (int, error)                                           { return 0, nil }
func (*zeroFacts) DeviceName(driver.Device) (string, error)                        { return "", nil }
func (*zeroFacts) DeviceUUID(driver.Device) (u [16]byte, err error)                { return }
func (*zeroFacts) DeviceAttribute(driver.Attribute, driver.Device) (int, error)    { return 0, nil }
func (*zeroFacts) MemInfo(driver.Context) (free, total uint64, err error)          { return }
func (*zeroFacts) StreamPriorityRange(driver.Context) (int, int, error)            { return -5, 0, nil }
func (*zeroFacts) ModuleFunctions(driver.Context, driver.Module) ([]string, error) { return nil, nil }
func (*zeroFacts) P2PAttribute(driver.P2PAttribute, driver.Device, driver.Device) (int, error) {
	return 0, nil
}
func (*zeroFacts) FunctionAttribute(driver.Context, driver.Function, driver.FunctionAttribute) (int, error) {
	return 0, nil
}
func (*zeroFacts) FunctionParams(driver.Context, driver.Function) ([]driver.Param, error) {
	return make([]driver.Param, 1), nil
}
func (*zeroFacts) MaxActiveBlocks(driver.Context, driver.Function, int, uint64) (int, error) {
	return 1, nil
}

// picky refuses what is unusual, but allowed.
type picky struct{ base }

func refused(call string) error { return &driver.Error{Code: driver.ErrInvalidValue, Call: call} }

func (f picky) StreamCreate(c driver.Context, g driver.StreamFlags, priority int) (driver.Stream, error) {
	if priority < -10 {
		return 0, refused("cuStreamCreateWithPriority")
	}
	return f.machine.StreamCreate(c, g, priority)
}

func (f picky) MemAllocAsync(c driver.Context, n uint64, s driver.Stream) (driver.Ptr, error) {
	if n == 0 {
		return 0, refused("cuMemAllocAsync")
	}
	return f.machine.MemAllocAsync(c, n, s)
}

func (f picky) MemFree(c driver.Context, p driver.Ptr) error {
	if info, err := f.machine.PointerAttributes(c, p); err == nil && info.Ctx == 0 {
		return refused("cuMemFree") // stream-ordered memory
	}
	return f.machine.MemFree(c, p)
}

// loosePools lets any memory and any pool go to other processes, and takes any
// batch.
type loosePools struct{ base }

func (f loosePools) MemPoolExport(p driver.MemPool) (int, error) {
	fd, err := f.machine.MemPoolExport(p)
	if err != nil {
		return -1, nil
	}
	return fd, nil
}

func (f loosePools) MemPoolExportPointer(c driver.Context, p driver.Ptr) (driver.PoolPointer, error) {
	x, _ := f.machine.MemPoolExportPointer(c, p)
	return x, nil
}

func (f loosePools) StreamBatchMemOp(c driver.Context, s driver.Stream, ops []driver.MemOp) error {
	_ = f.machine.StreamBatchMemOp(c, s, ops)
	return nil
}

// shifted gives addresses within allocations for their starts.
type shifted struct{ base }

func (f shifted) MemAlloc(c driver.Context, n uint64) (driver.Ptr, error) {
	p, err := f.machine.MemAlloc(c, n+16)
	return p + 16, err
}

func (f shifted) IPCOpenMemHandle(c driver.Context, h driver.IPCMemHandle) (driver.Ptr, error) {
	p, err := f.machine.IPCOpenMemHandle(c, h)
	return p + 16, err
}

// notReady takes an idle context for a busy one.
type notReady struct{ base }

func (notReady) CtxSynchronize(driver.Context, <-chan struct{}) error {
	return &driver.Error{Code: driver.ErrNotReady, Call: "cuCtxSynchronize"}
}
