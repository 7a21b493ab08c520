package sim

import "gocuda/cudaapi/driver"

// usage is what a program has said of the pages of managed memory. Host and
// devices share that memory here, so nothing moves: prefetches take their time
// in the model, and advice is kept for those who ask.
type usage struct {
	readMostly           bool
	preferred, lastFetch driver.Device
}

// pages finds what is known of the pages of a range of managed memory. m.mu is
// held.
func (m *Driver) pages(call string, p driver.Ptr, n uint64) ([]usage, error) {
	a := m.space.find(uintptr(p))
	if a == nil || a.kind != driver.MemoryManaged || n == 0 || uintptr(p)+uintptr(n) > a.end() {
		return nil, fail(call, driver.ErrInvalidValue, "%d bytes at %#x are not managed memory", n, uint64(p))
	}
	if a.usage == nil {
		a.usage = make([]usage, roundUp(a.size, hostPage)/hostPage)
		for i := range a.usage {
			a.usage[i] = usage{preferred: driver.Nowhere, lastFetch: driver.Nowhere}
		}
	}
	off := uint64(uintptr(p) - a.base)
	return a.usage[off/hostPage : roundUp(off+n, hostPage)/hostPage], nil
}

// location checks a place for managed memory.
func (m *Driver) location(call string, at driver.Device) error {
	if at == driver.Host {
		return nil
	}
	_, err := m.device(call, at)
	return err
}

// MemPrefetchAsync brings managed memory to a device or to the host, in stream
// order.
func (m *Driver) MemPrefetchAsync(c driver.Context, p driver.Ptr, n uint64, to driver.Device, id driver.Stream) error {
	const call = "cuMemPrefetchAsync"
	ctx, s, err := m.target(call, c, id)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	if err := s.spoil(call); err != nil {
		return err
	}
	if err := m.location(call, to); err != nil {
		return err
	}
	pages, err := m.pages(call, p, n)
	if err != nil {
		return err
	}
	for i := range pages {
		pages[i].lastFetch = to
	}
	o := &op{kind: opCopy, name: "prefetch", ctx: ctx, work: func(*op) error { return nil }}
	o.bytes, o.call, o.share = n, m.profile.AsyncCall, 1
	o.duration = m.profile.CopyLatency + rate(n, m.profile.HostRate)
	if to == driver.Host {
		o.engine = &ctx.dev.engines.out
	} else {
		o.engine = &m.devices[to].engines.in
	}
	m.push(s, o)
	return nil
}

// MemAdvise notes how managed memory will be used.
func (m *Driver) MemAdvise(c driver.Context, p driver.Ptr, n uint64, a driver.Advice, at driver.Device) error {
	const call = "cuMemAdvise"
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.usable(call, c); err != nil {
		return err
	}
	pages, err := m.pages(call, p, n)
	if err != nil {
		return err
	}
	if a < driver.AdviseReadMostly || a > driver.UnadviseAccessedBy {
		return fail(call, driver.ErrInvalidValue, "advice %d", a)
	}
	if a == driver.AdvisePreferredLocation || a >= driver.AdviseAccessedBy {
		if err := m.location(call, at); err != nil {
			return err
		}
	}
	for i := range pages {
		switch a {
		case driver.AdviseReadMostly, driver.UnadviseReadMostly:
			pages[i].readMostly = a == driver.AdviseReadMostly
		case driver.AdvisePreferredLocation:
			pages[i].preferred = at
		case driver.UnadvisePreferredLocation:
			pages[i].preferred = driver.Nowhere
		}
	}
	return nil
}

// MemRangeAttribute tells what was said of all pages of a range.
func (m *Driver) MemRangeAttribute(c driver.Context, p driver.Ptr, n uint64, a driver.RangeAttribute) (int, error) {
	const call = "cuMemRangeGetAttribute"
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.usable(call, c); err != nil {
		return 0, err
	}
	pages, err := m.pages(call, p, n)
	if err != nil {
		return 0, err
	}
	same := pages[0]
	for _, u := range pages {
		same.readMostly = same.readMostly && u.readMostly
		if u.preferred != same.preferred {
			same.preferred = driver.Nowhere
		}
		if u.lastFetch != same.lastFetch {
			same.lastFetch = driver.Nowhere
		}
	}
	switch a {
	case driver.RangeReadMostly:
		if same.readMostly {
			return 1, nil
		}
		return 0, nil
	case driver.RangePreferredLocation:
		return int(same.preferred), nil
	case driver.RangeLastPrefetchLocation:
		return int(same.lastFetch), nil
	}
	return 0, fail(call, driver.ErrInvalidValue, "attribute %d", a)
}
