package sim

import (
	"sync/atomic"

	"gocuda/cudaapi/driver"
)

// StreamWaitValue32 holds later work of the stream back until the word at p
// compares with v as f says.
func (m *Driver) StreamWaitValue32(c driver.Context, id driver.Stream, p driver.Ptr, v uint32, f driver.WaitFlags) error {
	word := (*uint32)(pointer(uintptr(p)))
	return m.waitValue("cuStreamWaitValue32", c, id, p, 4, f, func() bool { return driver.Compares(atomic.LoadUint32(word), v, f) })
}

// StreamWaitValue64 is the same for a word of 64 bits.
func (m *Driver) StreamWaitValue64(c driver.Context, id driver.Stream, p driver.Ptr, v uint64, f driver.WaitFlags) error {
	word := (*uint64)(pointer(uintptr(p)))
	return m.waitValue("cuStreamWaitValue64", c, id, p, 8, f, func() bool { return driver.Compares(atomic.LoadUint64(word), v, f) })
}

// word finds the allocation of an aligned word that devices may wait on.
func (m *Driver) word(call string, p driver.Ptr, n uint64) (*allocation, error) {
	a := m.space.find(uintptr(p))
	if a == nil || uintptr(p)+uintptr(n) > a.end() || uint64(p)%n != 0 {
		return nil, fail(call, driver.ErrInvalidValue, "%#x is not an aligned word of memory that the device can reach", uint64(p))
	}
	return a, nil
}

func (m *Driver) waitValue(call string, c driver.Context, id driver.Stream, p driver.Ptr, n uint64, f driver.WaitFlags, met func() bool) error {
	_, s, err := m.target(call, c, id)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	if f > driver.WaitValueNOR {
		return fail(call, driver.ErrInvalidValue, "flags %#x", uint32(f))
	}
	a, err := m.word(call, p, n)
	if err != nil {
		return err
	}
	m.space.touch(a, uint64(uintptr(p)-a.base), n, false)
	o := &op{kind: opWaitValue, met: met, cost: cost{call: m.profile.AsyncCall, word: uintptr(p)}}
	m.push(s, o)
	return nil
}

// StreamWriteValue32 writes a word when the work before it is done.
func (m *Driver) StreamWriteValue32(c driver.Context, id driver.Stream, p driver.Ptr, v uint32) error {
	return m.writeValue("cuStreamWriteValue32", c, id, p, 4, func() { atomic.StoreUint32((*uint32)(pointer(uintptr(p))), v) })
}

// StreamWriteValue64 is the same for a word of 64 bits.
func (m *Driver) StreamWriteValue64(c driver.Context, id driver.Stream, p driver.Ptr, v uint64) error {
	return m.writeValue("cuStreamWriteValue64", c, id, p, 8, func() { atomic.StoreUint64((*uint64)(pointer(uintptr(p))), v) })
}

func (m *Driver) writeValue(call string, c driver.Context, id driver.Stream, p driver.Ptr, n uint64, write func()) error {
	_, s, err := m.target(call, c, id)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	a, err := m.word(call, p, n)
	if err != nil {
		return err
	}
	o := &op{kind: opWriteValue, cost: cost{call: m.profile.AsyncCall, duration: m.profile.EventTime}}
	o.work = func(*op) error {
		m.space.touch(a, uint64(uintptr(p)-a.base), n, false)
		write()
		return nil
	}
	o.after = func(o *op) { m.model.writer[uintptr(p)] = o }
	m.push(s, o)
	return nil
}
