package sim

import (
	"gocuda/cudaapi/driver"
)

// array is a CUDA array: rows of elements in the device's memory, which programs reach by its
// handle alone.
type array struct {
	desc         driver.ArrayDesc
	mem          *allocation
	pitch, slice uint64
}

const (
	arrayPitch     = 32  // rows of arrays are a multiple of it
	pitchAlignment = 32  // of memory that a texture reads by rows
	allocPitch     = 512 // of cuMemAllocPitch
)

// The largest arrays, as GPUs of compute capability 9.0 have them.
var (
	most1D        = [3]uint64{131072, 0, 0}
	most2D        = [3]uint64{131072, 65536, 0}
	most3D        = [3]uint64{16384, 16384, 16384}
	most1DLayered = [3]uint64{32768, 0, 2048}
	most2DLayered = [3]uint64{32768, 32768, 2048}
	mostCube      = [3]uint64{32768, 32768, 6}
	mostCubes     = [3]uint64{32768, 32768, 2046}
)

// fits says what is wrong with a description; "" if nothing is.
func fits(a *driver.ArrayDesc) string {
	const known = driver.ArrayLayered | driver.ArraySurface | driver.ArrayCube | driver.ArrayGather
	layered, cube := a.Flags&driver.ArrayLayered != 0, a.Flags&driver.ArrayCube != 0
	most := most3D
	switch {
	case cube && layered:
		most = mostCubes
	case cube:
		most = mostCube
	case layered && a.Height == 0:
		most = most1DLayered
	case layered:
		most = most2DLayered
	case a.Depth == 0 && a.Height == 0:
		most = most1D
	case a.Depth == 0:
		most = most2D
	}
	switch {
	case a.Element() == 0 || a.Channels == 3 || a.Channels > 4:
		return "an element has 1, 2 or 4 channels of a format that arrays have"
	case a.Flags&^known != 0:
		return "flags that simulated devices do not know"
	case a.Width == 0 || !layered && a.Depth > 0 && a.Height == 0 || layered && a.Depth == 0:
		return "a width, height or depth of 0"
	case cube && (a.Width != a.Height || a.Depth == 0 || a.Depth%6 != 0):
		return "a cube has six faces, as wide as high"
	case a.Flags&driver.ArrayGather != 0 && (a.Height == 0 || a.Depth > 0):
		return "textures gather from arrays of two dimensions"
	case a.Width > most[0] || a.Height > most[1] || a.Depth > most[2]:
		return "more elements in a direction than devices allow"
	}
	return ""
}

// ArrayCreate allocates an array, which holds garbage.
func (m *Driver) ArrayCreate(c driver.Context, a *driver.ArrayDesc) (driver.Array, error) {
	const call = "cuArray3DCreate"
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return 0, err
	}
	if wrong := fits(a); wrong != "" {
		return 0, fail(call, driver.ErrInvalidValue, "%s: %+v", wrong, *a)
	}
	b := &array{desc: *a, pitch: roundUp(a.Width*a.Element(), arrayPitch)}
	b.slice = b.pitch * max(a.Height, 1)
	if b.mem, err = m.allocate(call, ctx, ctx.dev.arena, b.slice*max(a.Depth, 1)); err != nil {
		return 0, err
	}
	b.mem.kind, b.mem.device, b.mem.ctx, b.mem.array = driver.MemoryDevice, ctx.dev.id, ctx, true
	ctx.memory[b.mem] = true
	m.space.soil(b.mem)
	h := driver.Array(m.handle())
	m.arrays[h] = b
	return h, nil
}

// array finds an array of a context; 0 for any. m.mu is held.
func (m *Driver) array(call string, h driver.Array, c *context) (*array, error) {
	a := m.arrays[h]
	switch {
	case a == nil:
		return nil, fail(call, driver.ErrInvalidHandle, "%#x is no array, or one that was destroyed", uintptr(h))
	case c != nil && a.mem.ctx != c:
		return nil, fail(call, driver.ErrInvalidHandle, "the array is of device %d", a.mem.device)
	}
	return a, nil
}

// ArrayDesc describes an array.
func (m *Driver) ArrayDesc(c driver.Context, h driver.Array) (driver.ArrayDesc, error) {
	const call = "cuArray3DGetDescriptor"
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.usable(call, c); err != nil {
		return driver.ArrayDesc{}, err
	}
	a, err := m.array(call, h, nil)
	if err != nil {
		return driver.ArrayDesc{}, err
	}
	return a.desc, nil
}

// ArrayDestroy frees an array once the device's work is done.
func (m *Driver) ArrayDestroy(c driver.Context, h driver.Array) error {
	const call = "cuArrayDestroy"
	m.mu.Lock()
	a, err := m.array(call, h, nil)
	if err == nil {
		delete(m.arrays, h)
	}
	m.mu.Unlock()
	if err != nil {
		return err
	}
	return m.release(call, c, driver.Ptr(a.mem.base), func(b *allocation) bool { return b == a.mem })
}

// MemAllocPitch allocates rows that are aligned as textures ask.
func (m *Driver) MemAllocPitch(c driver.Context, width, height uint64, element uint32) (driver.Ptr, uint64, error) {
	if element != 4 && element != 8 && element != 16 {
		return 0, 0, fail("cuMemAllocPitch", driver.ErrInvalidValue, "elements of %d bytes: 4, 8 or 16", element)
	}
	pitch := roundUp(width, allocPitch)
	p, err := m.MemAlloc(c, pitch*height)
	return p, pitch, err
}

// Memcpy3D copies a box in the order of the legacy stream, as Memcpy does.
func (m *Driver) Memcpy3D(c driver.Context, p *driver.Copy3D) error {
	return m.copy3D("cuMemcpy3D", c, p, driver.StreamLegacy, true)
}

// Memcpy3DAsync copies a box in stream order, as MemcpyAsync does.
func (m *Driver) Memcpy3DAsync(c driver.Context, p *driver.Copy3D, s driver.Stream) error {
	return m.copy3D("cuMemcpy3DAsync", c, p, s, false)
}

func (m *Driver) copy3D(call string, c driver.Context, p *driver.Copy3D, s driver.Stream, sync bool) error {
	r := rows{w: p.Width, h: p.Height, d: p.Depth}
	m.mu.Lock()
	var err error
	if r.dst, r.dp, r.ds, err = m.box(call, &p.Dst, p); err == nil {
		r.src, r.sp, r.ss, err = m.box(call, &p.Src, p)
	}
	m.mu.Unlock()
	if err != nil {
		return err
	}
	return m.copy(call, c, r, s, sync)
}

// box is where one end of a copy begins, and how far rows and slices are apart. m.mu is held.
func (m *Driver) box(call string, e *driver.Place3D, p *driver.Copy3D) (at driver.Ptr, pitch, slice uint64, err error) {
	if e.Array == 0 {
		pitch, slice = e.Pitch, e.Pitch*e.Rows
		switch {
		case p.Height > 1 && pitch < e.X+p.Width:
			err = fail(call, driver.ErrInvalidValue, "rows of %d bytes from byte %d on do not fit a pitch of %d", p.Width, e.X, pitch)
		case p.Depth > 1 && e.Rows < e.Y+p.Height:
			err = fail(call, driver.ErrInvalidValue, "slices of %d rows from row %d on do not fit %d rows", p.Height, e.Y, e.Rows)
		}
		return e.Ptr + driver.Ptr(e.Z*slice+e.Y*pitch+e.X), pitch, slice, err
	}
	a, err := m.array(call, e.Array, nil)
	if err != nil {
		return 0, 0, 0, err
	}
	d, size := &a.desc, a.desc.Element()
	switch {
	case e.X%size != 0 || p.Width%size != 0:
		err = fail(call, driver.ErrInvalidValue, "%d bytes from byte %d on are no whole elements of %d bytes", p.Width, e.X, size)
	case e.X+p.Width > d.Width*size || e.Y+p.Height > max(d.Height, 1) || e.Z+p.Depth > max(d.Depth, 1):
		err = fail(call, driver.ErrInvalidValue, "%d bytes, %d rows and %d slices from (%d, %d, %d) on go past an array of %d bytes, %d rows and %d slices",
			p.Width, p.Height, p.Depth, e.X, e.Y, e.Z, d.Width*size, max(d.Height, 1), max(d.Depth, 1))
	}
	return driver.Ptr(a.mem.base) + driver.Ptr(e.Z*a.slice+e.Y*a.pitch+e.X), a.pitch, a.slice, err
}

// forgetArrays drops the arrays and objects of a context that has ended. m.mu is held.
func (m *Driver) forgetArrays(c *context) {
	for h, a := range m.arrays {
		if a.mem.ctx == c {
			delete(m.arrays, h)
		}
	}
	for h, t := range m.objects.live {
		if t.ctx == c {
			m.objects.remove(h)
		}
	}
}
