//go:build linux && (amd64 || arm64)

package nvidia

import "gocuda/cudaapi/driver"

// Kinds of a CUmemLocation.
const onDevice, onHost = 1, 2

// location is a CUmemLocation, which C passes in one register: the kind below,
// the ordinal above.
func location(dev driver.Device) uintptr {
	if dev == driver.Host {
		return onHost
	}
	return uintptr(uint32(dev))<<32 | onDevice
}

func (d *Driver) MemPrefetchAsync(c driver.Context, p driver.Ptr, n uint64, to driver.Device, s driver.Stream) error {
	return d.on(c, s, cuMemPrefetchAsync, uintptr(p), uintptr(n), location(to), 0, uintptr(s))
}

func (d *Driver) MemAdvise(c driver.Context, p driver.Ptr, n uint64, a driver.Advice, at driver.Device) error {
	return d.in(c, cuMemAdvise, uintptr(p), uintptr(n), uintptr(a), location(at))
}

func (d *Driver) MemRangeAttribute(c driver.Context, p driver.Ptr, n uint64, a driver.RangeAttribute) (int, error) {
	const size = 4
	v, err := d.getIn(c, cuMemRangeGetAttribute, size, uintptr(a), uintptr(p), uintptr(n))
	return int(int32(v)), err
}
