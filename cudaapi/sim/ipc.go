package sim

import (
	"encoding/binary"
	"os"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/driver"
)

// Device memory and interprocess events lie in files in memory, which another
// process opens by the exporter's process id and descriptor. Nothing of them
// has a name, so nothing is left behind when a process dies.

const (
	memoryMagic = 0x6d697363
	eventMagic  = 0x65697363
)

// ticket is what an IPC handle holds.
type ticket struct {
	magic, pid, fd, device uint32
	off, size              uint64
	number                 uint64 // of an allocation: another in its place has another
}

func (t ticket) encode() (b [64]byte) {
	for i, v := range []uint32{t.magic, t.pid, t.fd, t.device} {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
	binary.LittleEndian.PutUint64(b[16:], t.off)
	binary.LittleEndian.PutUint64(b[24:], t.size)
	binary.LittleEndian.PutUint64(b[32:], t.number)
	return b
}

func decodeTicket(b [64]byte) (t ticket) {
	for i, v := range []*uint32{&t.magic, &t.pid, &t.fd, &t.device} {
		*v = binary.LittleEndian.Uint32(b[4*i:])
	}
	t.off = binary.LittleEndian.Uint64(b[16:])
	t.size = binary.LittleEndian.Uint64(b[24:])
	t.number = binary.LittleEndian.Uint64(b[32:])
	return t
}

// overlaps reports whether two handles are of one place in a process's memory.
func (t ticket) overlaps(o ticket) bool {
	return t.pid == o.pid && t.fd == o.fd && t.off < o.off+o.size && o.off < t.off+t.size
}

// importedMemory is another process's memory, mapped here.
type importedMemory struct {
	ticket ticket
	ctx    *context
	refs   int
	slack  uint64 // bytes of the first page that are not the allocation's
	pooled bool   // it came with an imported pool, and is freed, not closed
}

// IPCGetMemHandle makes memory from MemAlloc known to other processes.
func (m *Driver) IPCGetMemHandle(c driver.Context, p driver.Ptr) (h driver.IPCMemHandle, err error) {
	const call = "cuIpcGetMemHandle"
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.usable(call, c); err != nil {
		return h, err
	}
	a := m.space.find(uintptr(p))
	if a == nil || a.kind != driver.MemoryDevice || a.pool != nil || a.imported != nil {
		return h, fail(call, driver.ErrInvalidValue, "%#x is not memory from cuMemAlloc of this process", uint64(p))
	}
	m.space.touch(a, 0, a.size, false)
	if a.number == 0 {
		a.number = uint64(m.handle())
	}
	return ticket{memoryMagic, uint32(os.Getpid()), uint32(a.arena.fd), uint32(a.device),
		uint64(a.base - a.arena.base), a.size, a.number}.encode(), nil
}

// IPCOpenMemHandle maps another process's device memory.
func (m *Driver) IPCOpenMemHandle(c driver.Context, h driver.IPCMemHandle) (driver.Ptr, error) {
	const call = "cuIpcOpenMemHandle"
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return 0, err
	}
	t := decodeTicket(h)
	switch {
	case t.magic != memoryMagic || t.size == 0 || t.size > 1<<48 || t.off > 1<<48:
		return 0, fail(call, driver.ErrInvalidValue, "not a handle of simulated device memory")
	case int(t.pid) == os.Getpid():
		return 0, fail(call, driver.ErrInvalidContext, "the memory is this process's own")
	}
	if int(t.device) >= len(m.devices) {
		return 0, fail(call, driver.ErrInvalidDevice, "memory of device %d: this process has %d devices", t.device, len(m.devices))
	}
	for _, a := range m.space.imported.live {
		switch {
		case a.imported.pooled || a.imported.ctx != ctx:
		case a.imported.ticket == t:
			a.imported.refs++
			return driver.Ptr(a.base), nil
		case m.opt.Adversarial && a.imported.ticket.overlaps(t): // GPUs refuse it at times
			return 0, fail(call, driver.ErrAlreadyMapped, "memory that process %d has freed is still open at %#x", t.pid, a.base)
		}
	}
	a, err := m.mapForeign(call, ctx, t)
	if err != nil {
		return 0, err
	}
	return driver.Ptr(a.base), nil
}

// mapForeign maps another process's memory. m.mu is held.
func (m *Driver) mapForeign(call string, ctx *context, t ticket) (*allocation, error) {
	fd, err := openShared(int(t.pid), int(t.fd))
	if err != nil {
		return nil, fail(call, driver.ErrInvalidValue, "process %d's memory: %v", t.pid, err)
	}
	defer closeFile(fd)
	slack := t.off % hostPage
	a, err := m.allocate(call, ctx, m.space.imported, t.size+slack)
	if err != nil {
		return nil, err
	}
	if _, err := mapFile(fd, int64(t.off-slack), a.base, uintptr(roundUp(t.size+slack, hostPage))); err != nil {
		m.space.free(a)
		return nil, fail(call, driver.ErrMapFailed, "%v", err)
	}
	a.kind, a.device, a.ctx = driver.MemoryDevice, driver.Device(t.device), ctx
	a.base, a.size = a.base+uintptr(slack), t.size
	a.imported = &importedMemory{ticket: t, ctx: ctx, refs: 1, slack: slack}
	ctx.memory[a] = true
	return a, nil
}

// IPCCloseMemHandle unmaps it, once for each time it was opened.
func (m *Driver) IPCCloseMemHandle(c driver.Context, p driver.Ptr) error {
	const call = "cuIpcCloseMemHandle"
	m.mu.Lock()
	a := m.space.find(uintptr(p))
	if a != nil && a.base == uintptr(p) && a.imported != nil && a.imported.refs > 1 {
		a.imported.refs--
		m.mu.Unlock()
		return nil
	}
	m.mu.Unlock()
	return m.release(call, c, p, func(a *allocation) bool { return a.imported != nil && !a.imported.pooled })
}

// sharedEvent is an event that several processes see: how often it was
// recorded and which of the records are done, counted in shared memory.
type sharedEvent struct {
	recorded, finished *atomic.Uint64
	page               *eventPage
	slot               int
	owner              int // process id
	pending            int // records of this process that are not done
	closed             bool
}

// eventPage holds the shared events of one process.
type eventPage struct {
	addr uintptr
	fd   int
	free []int
}

const (
	eventSlots    = 1024
	eventSlotSize = 64
)

func (p *eventPage) event(slot, owner int) *sharedEvent {
	at := p.addr + uintptr(slot)*eventSlotSize
	return &sharedEvent{recorded: (*atomic.Uint64)(pointer(at)), finished: (*atomic.Uint64)(pointer(at + 8)), page: p, slot: slot, owner: owner}
}

// newSharedEvent takes a free slot of this process's page. m.mu is held.
func (m *Driver) newSharedEvent(call string) (*sharedEvent, error) {
	if m.eventPage == nil {
		const n = eventSlots * eventSlotSize
		fd, err := sharedFile(n)
		var at uintptr
		if err == nil {
			at, err = mapFile(fd, 0, 0, n)
		}
		if err != nil {
			return nil, fail(call, driver.ErrOutOfMemory, "%v", err)
		}
		m.eventPage = &eventPage{addr: at, fd: fd}
		for i := range eventSlots {
			m.eventPage.free = append(m.eventPage.free, eventSlots-1-i)
		}
	}
	p := m.eventPage
	if len(p.free) == 0 {
		return nil, fail(call, driver.ErrOutOfMemory, "%d interprocess events exist", eventSlots)
	}
	slot := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	e := p.event(slot, os.Getpid())
	e.recorded.Store(0)
	e.finished.Store(0)
	return e, nil
}

// close gives the event up; its slot can be used again when no record of it will
// be counted any more. m.mu is held, as below.
func (e *sharedEvent) close() {
	e.closed = true
	e.vacate()
}

func (e *sharedEvent) vacate() {
	if e.closed && e.pending == 0 && e.owner == os.Getpid() {
		e.page.free = append(e.page.free, e.slot)
	}
}

// record counts a record and returns what to do when it is done.
func (e *sharedEvent) record() func(*op) {
	n := e.recorded.Add(1)
	e.pending++
	return func(*op) {
		e.pending--
		defer e.vacate()
		for {
			was := e.finished.Load()
			if was >= n || e.finished.CompareAndSwap(was, n) {
				return
			}
		}
	}
}

func (e *sharedEvent) done() bool { return e.finished.Load() >= e.recorded.Load() }

// await makes o wait for the records counted so far. A process that died
// finishes nothing any more: its records count as done.
func (e *sharedEvent) await(o *op) {
	n, polls := e.recorded.Load(), 0
	if e.finished.Load() >= n {
		return
	}
	o.met = func() bool {
		polls++
		return e.finished.Load() >= n || polls%256 == 0 && !alive(e.owner)
	}
}

func (e *sharedEvent) wait(stop <-chan struct{}) error {
	n := e.recorded.Load()
	for polls := 1; e.finished.Load() < n; polls++ {
		if polls%256 == 0 && !alive(e.owner) {
			return nil
		}
		select {
		case <-stop:
			return driver.ErrInterrupted
		case <-time.After(pollEvery):
		}
	}
	return nil
}

// IPCGetEventHandle makes an interprocess event known to other processes.
func (m *Driver) IPCGetEventHandle(c driver.Context, e driver.Event) (h driver.IPCEventHandle, err error) {
	const call = "cuIpcGetEventHandle"
	m.mu.Lock()
	defer m.mu.Unlock()
	ev, err := m.eventIn(call, c, e)
	if err != nil {
		return h, err
	}
	if ev.shared == nil || ev.shared.owner != os.Getpid() {
		return h, fail(call, driver.ErrInvalidHandle, "not an interprocess event of this process")
	}
	return ticket{eventMagic, uint32(os.Getpid()), uint32(ev.shared.page.fd), uint32(ev.ctx.dev.id), uint64(ev.shared.slot), 0, 0}.encode(), nil
}

// IPCOpenEventHandle opens another process's event.
func (m *Driver) IPCOpenEventHandle(c driver.Context, h driver.IPCEventHandle) (driver.Event, error) {
	const call = "cuIpcOpenEventHandle"
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return 0, err
	}
	t := decodeTicket(h)
	switch {
	case t.magic != eventMagic || t.off >= eventSlots:
		return 0, fail(call, driver.ErrInvalidValue, "not a handle of a simulated event")
	case int(t.pid) == os.Getpid():
		return 0, fail(call, driver.ErrInvalidContext, "the event is this process's own")
	}
	key := [2]uint32{t.pid, t.fd}
	page := m.foreign[key]
	if page == nil {
		fd, err := openShared(int(t.pid), int(t.fd))
		var at uintptr
		if err == nil {
			at, err = mapFile(fd, 0, 0, eventSlots*eventSlotSize)
			closeFile(fd)
		}
		if err != nil {
			return 0, fail(call, driver.ErrInvalidValue, "process %d's event: %v", t.pid, err)
		}
		page = &eventPage{addr: at, fd: -1}
		m.foreign[key] = page
	}
	id := driver.Event(m.handle())
	m.events[id] = &event{ctx: ctx, flags: driver.EventInterprocess | driver.EventDisableTiming, shared: page.event(int(t.off), int(t.pid))}
	return id, nil
}
