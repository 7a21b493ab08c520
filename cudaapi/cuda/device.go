package cuda

import (
	"fmt"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/driver"
)

// Device is a GPU, or a simulated one. There is one Device per ordinal, so
// pointers can be compared. A device that is never used costs nothing: its
// primary context is made at first use, which takes some 100 ms on a GPU.
type Device struct {
	sys *system
	via atomic.Pointer[driver.Driver]
	id  driver.Device

	mu      sync.Mutex
	ctx     atomic.Uintptr // driver.Context, 0 until first use
	stream  atomic.Pointer[Stream]
	panics  atomic.Pointer[[]*panicWatch] // of modules in Go
	peers   deviceSet                     // those whose memory this device may access
	epoch   atomic.Uint32                 // counts resets: what was made in another one is dead
	fence   driver.Event                  // of settle; guarded by mu
	gone    garbage
	streams streams
	ordered ledger
	pool    deviceSet // those that may access the default pool's memory
	recent  recentLaunches
}

// drv is the driver that carries out what the device is given; see Decorate.
func (d *Device) drv() driver.Driver { return *d.via.Load() }

// Devices are the devices of the back end in use, by ordinal.
func Devices() (DeviceList, error) {
	s, err := open()
	if err != nil {
		return nil, err
	}
	return append(DeviceList(nil), s.devices...), nil
}

// DeviceCount is the number of devices.
func DeviceCount() (int, error) {
	s, err := open()
	if err != nil {
		return 0, err
	}
	return len(s.devices), nil
}

// Get is device i.
func Get(i int) (*Device, error) { return get("cuda.Get", i) }

func get(call string, i int) (*Device, error) {
	s, err := open()
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= len(s.devices) {
		return nil, misuse(driver.ErrInvalidDevice, call, nil, "there is no device %d: the devices are 0 to %d", i, len(s.devices)-1)
	}
	return s.devices[i], nil
}

// SetDevice makes device i the current one (cudaSetDevice): that of calls which
// name no device, such as a launch on a nil stream. In CUDA the current device
// belongs to a thread; here it belongs to the whole process, that is to the
// notebook or the rank, since goroutines have no thread of their own. Objects
// know their device, so most programs never need it.
func SetDevice(i int) error {
	d, err := get("cuda.SetDevice", i)
	if err == nil {
		d.sys.current.Store(int32(i))
	}
	return err
}

// CurrentDevice is the device that SetDevice chose; device 0 at first.
func CurrentDevice() (*Device, error) {
	s, err := open()
	if err != nil {
		return nil, err
	}
	if len(s.devices) == 0 {
		return nil, misuse(driver.ErrNoDevice, "cuda.CurrentDevice", nil, "there are no devices")
	}
	return s.devices[s.current.Load()], nil
}

// Synchronize waits for all work on all devices that are in use
// (cudaDeviceSynchronize on each).
func Synchronize() error {
	s := active.Load()
	if s == nil {
		return nil
	}
	for _, d := range s.devices {
		if d.ctx.Load() == 0 {
			continue
		}
		if err := d.Synchronize(); err != nil {
			return err
		}
	}
	return nil
}

// context is the primary context, made at first use.
func (d *Device) context() (driver.Context, error) {
	if d == nil {
		return 0, misuse(driver.ErrInvalidDevice, "Device", nil, "the device is nil")
	}
	if c := d.ctx.Load(); c != 0 {
		return driver.Context(c), nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.ctx.Load(); c != 0 {
		return driver.Context(c), nil
	}
	c, err := d.drv().PrimaryRetain(d.id)
	if err != nil {
		return 0, d.fail(err)
	}
	d.ctx.Store(uintptr(c))
	return c, nil
}

// settle waits, so that it can be interrupted, for all that a synchronous call
// would wait for: the work of the default stream and of the blocking streams.
// Without an interrupt to heed it does nothing: the call itself will wait.
func (d *Device) settle(c driver.Context) error {
	st := stop()
	if st == nil {
		return nil
	}
	d.mu.Lock()
	if d.fence == 0 {
		var err error
		if d.fence, err = d.sys.drv.EventCreate(c, driver.EventDisableTiming); err != nil {
			d.mu.Unlock()
			return d.fail(err)
		}
	}
	fence := d.fence
	d.mu.Unlock()
	if err := d.sys.drv.EventRecord(c, fence, driver.StreamDefault); err != nil {
		return d.fail(err)
	}
	if err := d.sys.drv.EventSynchronize(c, fence, st); err != nil {
		return d.fail(err)
	}
	return nil
}

// Ordinal is the device's number, from 0.
func (d *Device) Ordinal() int { return int(d.id) }

// Name is the product's name, such as "NVIDIA H200".
func (d *Device) Name() string {
	name, err := d.drv().DeviceName(d.id)
	if err != nil {
		return fmt.Sprintf("device %d", d.id)
	}
	return name
}

// UUID identifies the device across processes, in nvidia-smi's form.
func (d *Device) UUID() (string, error) {
	u, err := d.drv().DeviceUUID(d.id)
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:]), d.fail(err)
}

// TotalMemory is the device's memory in bytes.
func (d *Device) TotalMemory() (uint64, error) {
	n, err := d.drv().DeviceTotalMem(d.id)
	return n, d.fail(err)
}

// MemInfo is the free and the total memory in bytes (cudaMemGetInfo).
func (d *Device) MemInfo() (free, total uint64, err error) {
	c, err := d.context()
	if err != nil {
		return 0, 0, err
	}
	free, total, err = d.drv().MemInfo(c)
	return free, total, d.fail(err)
}

// Attribute is one of CUDA's device attributes by its number; package driver
// names them.
func (d *Device) Attribute(a driver.Attribute) (int, error) {
	v, err := d.drv().DeviceAttribute(a, d.id)
	if err != nil {
		return 0, says(d.fail(err), driver.ErrInvalidValue, "CUDA has no attribute %d of a device", a)
	}
	return v, nil
}

// ComputeCapability is the architecture: 9, 0 for sm_90.
func (d *Device) ComputeCapability() (major, minor int, err error) {
	if major, err = d.Attribute(driver.ComputeCapabilityMajor); err != nil {
		return 0, 0, err
	}
	minor, err = d.Attribute(driver.ComputeCapabilityMinor)
	return major, minor, err
}

// MultiprocessorCount is the number of streaming multiprocessors.
func (d *Device) MultiprocessorCount() (int, error) { return d.Attribute(driver.MultiprocessorCount) }

// Synchronize waits until all work of all the device's streams is done
// (cudaDeviceSynchronize), and reports what failed in it.
func (d *Device) Synchronize() error {
	c, err := d.context()
	if err != nil {
		return err
	}
	return d.settled(d.drv().CtxSynchronize(c, stop()))
}

// quiet is Synchronize for a reason of this package's own, which decorators are
// not told about.
func (d *Device) quiet() error {
	c, err := d.context()
	if err != nil {
		return err
	}
	return d.settled(d.sys.drv.CtxSynchronize(c, stop()))
}

// Busy reports whether one of the device's streams has work that is not done. It does
// not wait. It does not know streams that C libraries have made.
func (d *Device) Busy() bool {
	c := driver.Context(d.ctx.Load())
	return c != 0 && d.streams.any(func(h driver.Stream) bool {
		done, err := d.sys.drv.StreamQuery(c, h)
		return err == nil && !done // an error is reported by the wait
	})
}

// settled notes that a wait for all work has ended.
func (d *Device) settled(err error) error {
	if err != nil {
		return d.fail(err)
	}
	d.recent.clear()
	return d.panicked()
}

// Reset destroys the primary context with all its memory, streams, events and
// modules (cudaDeviceReset). Objects made on the device before are dead; their
// use is an error. It does not bring back a GPU's context lost by a sticky error:
// CUDA needs a new process for that. Simulated devices come back when each is
// reset.
func (d *Device) Reset() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx.Load() == 0 {
		return nil
	}
	forget(d)
	d.sys.captures.clear(d)
	d.ctx.Store(0)
	d.stream.Store(nil)
	d.streams.clear()
	d.fence = 0
	d.peers.clear()
	d.recent.clear()
	d.epoch.Add(1)
	if err := d.drv().PrimaryReset(d.id); err != nil {
		return d.fail(err)
	}
	return d.fail(d.drv().PrimaryRelease(d.id))
}

// Reset resets every device that is in use: see [Device.Reset].
func Reset() error {
	s := active.Load()
	if s == nil {
		return nil
	}
	for _, d := range s.devices {
		if err := d.Reset(); err != nil {
			return err
		}
	}
	return nil
}

// CanAccessPeer reports whether kernels on d could use peer's memory.
func (d *Device) CanAccessPeer(peer *Device) (bool, error) {
	ok, err := d.drv().CanAccessPeer(d.id, peer.id)
	return ok, d.fail(err)
}

// EnablePeerAccess lets kernels and copies on d use peer's memory directly
// (cudaDeviceEnablePeerAccess): one way. To enable it twice is no error here.
func (d *Device) EnablePeerAccess(peer *Device) error {
	c, p, err := d.pair(peer, "Device.EnablePeerAccess")
	if err != nil {
		return err
	}
	if d.canReach(peer) {
		return nil
	}
	if err := d.drv().EnablePeerAccess(c, p); err != nil && !isCode(err, driver.ErrPeerAccessAlreadyEnabled) {
		return d.fail(err)
	}
	d.peers.set(peer.id, true)
	return nil
}

// DisablePeerAccess takes EnablePeerAccess back.
func (d *Device) DisablePeerAccess(peer *Device) error {
	c, p, err := d.pair(peer, "Device.DisablePeerAccess")
	if err != nil {
		return err
	}
	d.peers.set(peer.id, false)
	return says(d.fail(d.drv().DisablePeerAccess(c, p)), driver.ErrPeerAccessNotEnabled, "from device %d to device %d", d.id, peer.id)
}

// PeerAccessEnabled reports whether d may use peer's memory directly.
func (d *Device) PeerAccessEnabled(peer *Device) bool { return d != peer && d.canReach(peer) }

func (d *Device) canReach(peer *Device) bool {
	return d == peer || d.peers.has(peer.id)
}

func (d *Device) pair(peer *Device, call string) (c, p driver.Context, err error) {
	if peer == nil {
		return 0, 0, misuse(driver.ErrInvalidDevice, call, d, "the peer is nil")
	}
	if peer == d {
		return 0, 0, misuse(driver.ErrInvalidDevice, call, d, "a device is not its own peer")
	}
	if peer.sys != d.sys {
		return 0, 0, misuse(driver.ErrInvalidDevice, call, d, "the devices belong to different back ends")
	}
	if c, err = d.context(); err != nil {
		return 0, 0, err
	}
	p, err = peer.context()
	return c, p, err
}

// P2PAttribute describes the link from d to peer: driver.PerformanceRank (0 is
// the fastest), driver.AccessSupported, driver.NativeAtomicSupported.
func (d *Device) P2PAttribute(a driver.P2PAttribute, peer *Device) (int, error) {
	v, err := d.drv().P2PAttribute(a, d.id, peer.id)
	return v, d.fail(err)
}
