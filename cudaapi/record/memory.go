package record

import (
	"slices"
	"sort"
	"unsafe"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/instrument"
)

// region is an allocation.
type region struct {
	driver.PointerInfo
	opens int // how often it was opened, of another process's memory
}

func (r *region) end() uint64 { return uint64(r.Base) + r.Size }

// regions are the allocations that are known, by address.
type regions struct {
	list   []region
	shot   *instrument.Memory // a copy, until the list changes
	shared *sharedMemory      // which has what the host can use, too
}

// allocations are those that there are now.
func (d *Driver) allocations() *instrument.Memory {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := &d.memory
	if m.shot == nil {
		m.shot = &instrument.Memory{Allocations: make([]instrument.Allocation, len(m.list))}
		for i, r := range m.list {
			m.shot.Allocations[i] = instrument.Allocation{Lo: r.Base, Hi: driver.Ptr(r.end())}
		}
	}
	return m.shot
}

// room is how much of n bytes from p on no allocation has that is known.
func (m *regions) room(p, n uint64) uint64 {
	if i := m.search(p); i < len(m.list) {
		n = min(n, uint64(m.list[i].Base)-p)
	}
	return n
}

func (m *regions) search(p uint64) int {
	return sort.Search(len(m.list), func(i int) bool { return uint64(m.list[i].Base) > p })
}

// add notes an allocation, in the place of any that overlap it.
func (m *regions) add(r region) {
	if r.Type != driver.MemoryDevice {
		m.shared.add(uint64(r.Base), r.end())
	}
	i := m.search(uint64(r.Base))
	for i > 0 && m.list[i-1].end() > uint64(r.Base) {
		i--
	}
	j := i
	for j < len(m.list) && uint64(m.list[j].Base) < r.end() {
		j++
	}
	m.list, m.shot = slices.Replace(m.list, i, j, r), nil
}

// find is the allocation at p, nil if none is known. It is valid until the list changes.
func (m *regions) find(p uint64) *region {
	if i := m.search(p) - 1; i >= 0 && p < m.list[i].end() {
		return &m.list[i]
	}
	return nil
}

// take removes the allocation at p and gives it.
func (m *regions) take(p uint64) *region {
	i := m.search(p) - 1
	if i < 0 || p >= m.list[i].end() {
		return nil
	}
	r := m.list[i]
	m.list, m.shot = slices.Delete(m.list, i, i+1), nil
	return &r
}

func (m *regions) forget(gone func(*region) bool) {
	m.list, m.shot = slices.DeleteFunc(m.list, func(r region) bool { return gone(&r) }), nil
}

// find is the allocation at p, asked of the driver if it was made before the
// recording; none for pageable memory.
func (d *Driver) find(c driver.Context, p driver.Ptr) (r region, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := d.memory.find(uint64(p)); r != nil {
		return *r, true
	}
	info, err := d.Driver.PointerAttributes(c, p)
	if err != nil || info.Type == driver.MemoryUnregistered || info.Size == 0 {
		return region{}, false
	}
	r = region{PointerInfo: info}
	d.memory.add(r)
	return r, true
}

func (d *Driver) kindOf(c driver.Context, p driver.Ptr) driver.MemoryType {
	if r, ok := d.find(c, p); ok {
		return r.Type
	}
	return driver.MemoryUnregistered
}

// rows are h rows of w bytes, dp and sp bytes apart.
type rows struct {
	dst, src  driver.Ptr
	w, dp, sp uint64
	h         uint64
}

func rowsOf(p *driver.Copy2D) rows {
	return rows{p.Dst, p.Src, p.Width, p.DstPitch, p.SrcPitch, p.Height}
}

// strided adds the accesses of rows to list.
func strided(list []Access, at, w, pitch, h uint64, m Mode) []Access {
	if w == 0 || h == 0 {
		return list
	}
	if h == 1 || pitch == w {
		return append(list, Access{at, at + w*h, m})
	}
	for y := range h {
		list = append(list, Access{at + y*pitch, at + y*pitch + w, m})
	}
	return list
}

// newCopy is a copy as the documentation has it (CUDA Driver API, API
// synchronization behavior). Synchronous: from pageable memory to a device the
// stream is synchronized before the copy, and the call returns when the memory
// was staged; between pinned memory and a device, and from a device to any host
// memory, when the copy is done; inside of devices it does not wait; inside of
// the host it is synchronous. Asynchronous: only what stays inside the host is
// synchronous. In both the driver has read pageable memory when the call
// returns, since it stages it.
func (d *Driver) newCopy(call string, c driver.Context, r rows, sync bool) *Op {
	o := &Op{Kind: Copy, Call: call, Bytes: r.w * r.h}
	to, from := d.kindOf(c, r.dst), d.kindOf(c, r.src)
	o.between(to, from, sync)
	if from == driver.MemoryUnregistered {
		o.HostReads = strided(nil, uint64(r.src), r.w, r.sp, r.h, Read)
	} else {
		o.Accesses = strided(o.Accesses, uint64(r.src), r.w, r.sp, r.h, Read)
	}
	o.Accesses = strided(o.Accesses, uint64(r.dst), r.w, r.dp, r.h, Write)
	return o
}

// meet makes the memory known to which a kernel's arguments lead, which may be from
// before the recording.
func (d *Driver) meet(c driver.Context, l *driver.Launch) {
	for _, p := range l.Pointers {
		if int(p.Offset)+8 <= len(l.Params) {
			d.find(c, *(*driver.Ptr)(unsafe.Pointer(&l.Params[p.Offset])))
		}
	}
}

// reach is what a kernel could touch: for each argument that is an address, from
// there to the end of its allocation.
func (d *Driver) reach(c driver.Context, l *driver.Launch) (list []Access) {
	for _, p := range l.Pointers {
		if int(p.Offset)+8 > len(l.Params) {
			continue
		}
		at := *(*driver.Ptr)(unsafe.Pointer(&l.Params[p.Offset]))
		r, ok := d.find(c, at)
		if !ok {
			continue
		}
		list = append(list, Access{uint64(at), r.end(), Read})
		if !p.ReadOnly {
			list = append(list, Access{uint64(at), r.end(), Write})
		}
	}
	return list
}

// between says which memory a copy is between, and what the host waits for.
func (o *Op) between(to, from driver.MemoryType, sync bool) {
	o.From, o.To = from, to
	onHost := func(t driver.MemoryType) bool { return t == driver.MemoryHost || t == driver.MemoryUnregistered }
	switch {
	case onHost(to) && onHost(from):
		o.HostAfter = true
	case !sync || !onHost(to) && !onHost(from):
	case from == driver.MemoryUnregistered:
		o.HostBefore = true
	default:
		o.HostAfter = true
	}
}
