package sim

import (
	"encoding/binary"
	"fmt"

	"gocuda/cudaapi/driver"
)

type device struct {
	m       *Driver
	id      driver.Device
	arena   *arena
	ctx     *context // the primary context, or nil
	refs    int
	pool    *pool
	node    int
	engines struct{ compute, in, out, local, send, receive engine }
}

func newDevice(m *Driver, id driver.Device) *device {
	d := &device{m: m, id: id, arena: m.space.arenas[id], node: int(id) / (m.opt.Devices / m.opt.Nodes)}
	d.engines.compute.name = "compute"
	d.engines.in.name = "copy in"
	d.engines.out.name = "copy out"
	d.engines.local.name = "local copy"
	d.engines.send.name, d.engines.receive.name = "network", "network"
	d.engines.send.kind, d.engines.receive.kind = copyEngine, copyEngine
	d.engines.in.kind, d.engines.out.kind = copyEngine, copyEngine
	d.engines.in.other, d.engines.out.other = &d.engines.out, &d.engines.in
	d.pool = m.newPool(d)
	return d
}

func (m *Driver) device(call string, d driver.Device) (*device, error) {
	if err := m.inUse(call); err != nil {
		return nil, err
	}
	if d < 0 || int(d) >= len(m.devices) {
		return nil, fail(call, driver.ErrInvalidDevice, "device %d of %d", d, len(m.devices))
	}
	return m.devices[d], nil
}

// DeviceCount is the number of simulated devices.
func (m *Driver) DeviceCount() (int, error) { return len(m.devices), nil }

// DeviceName says that the device is simulated.
func (m *Driver) DeviceName(d driver.Device) (string, error) {
	if _, err := m.device("cuDeviceGetName", d); err != nil {
		return "", err
	}
	return "Simulated " + m.profile.Name, nil
}

// DeviceUUID is the same on every run.
func (m *Driver) DeviceUUID(d driver.Device) (u [16]byte, err error) {
	if _, err := m.device("cuDeviceGetUuid", d); err != nil {
		return u, err
	}
	copy(u[:], "gocuda-sim")
	binary.BigEndian.PutUint32(u[12:], uint32(d))
	return u, nil
}

// DeviceTotalMem is the device's memory in bytes.
func (m *Driver) DeviceTotalMem(d driver.Device) (uint64, error) {
	if _, err := m.device("cuDeviceTotalMem", d); err != nil {
		return 0, err
	}
	return m.opt.Memory, nil
}

// DeviceAttribute answers as the profile's device would.
func (m *Driver) DeviceAttribute(a driver.Attribute, d driver.Device) (int, error) {
	const call = "cuDeviceGetAttribute"
	if _, err := m.device(call, d); err != nil {
		return 0, err
	}
	p := m.profile
	switch a {
	case driver.MultiprocessorCount:
		return p.SMs, nil
	case driver.ClockRate:
		return p.ClockKHz, nil
	case driver.MemoryClockRate:
		return p.MemClockKHz, nil
	case driver.GlobalMemoryBusWidth:
		return p.MemBusBits, nil
	case driver.L2CacheSize:
		return p.L2Bytes, nil
	case driver.ComputeCapabilityMajor:
		return p.Major, nil
	case driver.ComputeCapabilityMinor:
		return p.Minor, nil
	case driver.MaxSharedMemoryPerSM:
		return p.SharedPerSM, nil
	case driver.PCIDeviceID:
		return int(d), nil
	}
	if v, ok := commonAttributes[a]; ok {
		return v, nil
	}
	if a <= 0 || a > maxAttribute {
		return 0, fail(call, driver.ErrInvalidValue, "attribute %d", a)
	}
	return 0, nil // what a simulated device does not have
}

const (
	maxThreads      = 1024
	maxShared       = 48 << 10
	maxSharedOptin  = 227 << 10
	maxThreadsPerSM = 2048
	maxBlocksPerSM  = 32
	maxAttribute    = 150
)

var commonAttributes = map[driver.Attribute]int{
	driver.MaxThreadsPerBlock: maxThreads, driver.MaxBlockDimX: 1024, driver.MaxBlockDimY: 1024, driver.MaxBlockDimZ: 64,
	driver.MaxGridDimX: 1<<31 - 1, driver.MaxGridDimY: 65535, driver.MaxGridDimZ: 65535,
	driver.MaxSharedMemoryPerBlock: maxShared, driver.TotalConstantMemory: 64 << 10, driver.WarpSize: 32,
	driver.MaxRegistersPerBlock: 65536, driver.Integrated: 0, driver.CanMapHostMemory: 1, driver.ComputeMode: 0,
	driver.ConcurrentKernels: 1, driver.ECCEnabled: 1, driver.PCIBusID: 0, driver.PCIDomainID: 0,
	driver.MaxThreadsPerSM: maxThreadsPerSM, driver.AsyncEngineCount: 3, driver.UnifiedAddressing: 1,
	driver.StreamPrioritiesSupport: 1, driver.ManagedMemory: 1, driver.ConcurrentManagedAccess: 1,
	driver.CooperativeLaunch: 1, driver.MaxSharedMemoryOptin: maxSharedOptin, driver.HostRegisterSupported: 1,
	driver.MaxBlocksPerSM: maxBlocksPerSM, driver.MemoryPoolsSupported: 1, driver.CanUseStreamWaitValueNOR: 1,
	driver.TextureAlignment: granule, driver.TexturePitchAlignment: pitchAlignment,
	driver.MemoryPoolHandleTypes: 1, driver.ClusterLaunch: 1, driver.MemSyncDomainCount: 4,
}

// CanAccessPeer is true between any two different devices of a node.
func (m *Driver) CanAccessPeer(d, peer driver.Device) (bool, error) {
	const call = "cuDeviceCanAccessPeer"
	if _, err := m.device(call, d); err != nil {
		return false, err
	}
	if _, err := m.device(call, peer); err != nil {
		return false, err
	}
	return d != peer && m.devices[d].node == m.devices[peer].node, nil
}

// P2PAttribute describes the link between two devices: all within a node are
// alike, and between nodes there is the network.
func (m *Driver) P2PAttribute(a driver.P2PAttribute, src, dst driver.Device) (int, error) {
	const call = "cuDeviceGetP2PAttribute"
	if _, err := m.device(call, src); err != nil {
		return 0, err
	}
	if _, err := m.device(call, dst); err != nil {
		return 0, err
	}
	if src == dst {
		return 0, fail(call, driver.ErrInvalidDevice, "device %d has no link to itself", src)
	}
	switch apart := m.devices[src].node != m.devices[dst].node; {
	case apart && a == driver.PerformanceRank:
		return 1, nil
	case a == driver.PerformanceRank, apart && (a == driver.AccessSupported || a == driver.NativeAtomicSupported):
		return 0, nil
	case a == driver.AccessSupported, a == driver.NativeAtomicSupported:
		return 1, nil
	}
	return 0, fail(call, driver.ErrInvalidValue, "attribute %d", a)
}

// Timing describes the model that gives the devices' times.
func (p *Profile) String() string {
	return fmt.Sprintf("simulated %s: memory %.1f TB/s, host link %.0f GB/s, peer link %.0f GB/s", p.Name, p.MemoryRate/1e12, p.HostRate/1e9, p.PeerRate/1e9)
}
