package sim

import (
	"math"
	"unsafe"

	"gocuda/cudaapi/driver"
)

// Kernels know textures and surfaces by a number, whose low bits are a place in a table. What
// stands there tells the code of include/runtime/texture.h all that a fetch needs.

// object is a texture or a surface.
type object struct {
	ctx     *context
	of      driver.Resource
	mem     *allocation
	span    span
	surface bool
}

type objects struct {
	live  map[uint64]*object
	table uintptr // of mostObjects; 0 until one is made
	next  uint64
	free  []uint64 // places
}

const (
	mostObjects = 1 << 16
	objectMark  = 0x7e87 << 48 // no address begins like this
)

// textureABI has the layout of gocuda::Texture in include/runtime/texture.h.
type textureABI struct {
	handle               uint64
	base, pitch, slice   uint64
	width, height, depth uint32
	format, channels     uint32
	flags                uint32
	filter               uint32
	address              [3]uint32
	border               [4]float32
	_                    [5]uint64
}

// Flags of a textureABI, beside those of its array and of its texture.
const (
	objectSurface = 1 << 8
	objectMemory  = 1 << 9  // linear, of one dimension or of rows
	objectTexture = 1 << 12 // from here on, driver.TextureFlags
)

// add makes an object of what describes it. m.mu is held.
func (m *Driver) add(call string, t *textureABI, made *object) (uint64, error) {
	o := &m.objects
	if o.table == 0 {
		p, err := mapPrivate(0, mostObjects*unsafe.Sizeof(textureABI{}))
		if err != nil {
			return 0, fail(call, driver.ErrOutOfMemory, "%v", err)
		}
		o.table = p
	}
	at := o.next % mostObjects
	if o.next >= mostObjects {
		if len(o.free) == 0 {
			return 0, fail(call, driver.ErrOutOfMemory, "there are %d texture and surface objects", mostObjects)
		}
		at, o.free = o.free[0], o.free[1:]
	}
	// A number does not come again soon, so that one of an object that is gone is found.
	t.handle = objectMark | o.next<<16&(1<<48-1) | at
	o.next++
	*o.at(t.handle) = *t
	o.live[t.handle] = made
	return t.handle, nil
}

func (o *objects) at(h uint64) *textureABI {
	return (*textureABI)(pointer(o.table + uintptr(h%mostObjects)*unsafe.Sizeof(textureABI{})))
}

func (o *objects) remove(h uint64) {
	delete(o.live, h)
	o.at(h).handle = 0
	o.free = append(o.free, h%mostObjects)
}

// drop gives the table's memory back.
func (o *objects) drop() {
	if o.table != 0 {
		release(o.table, mostObjects*unsafe.Sizeof(textureABI{})) //nolint:errcheck // it stays mapped, which harms nobody
	}
}

// describe says where an array's elements lie.
func (a *array) describe() *textureABI {
	return &textureABI{base: uint64(a.mem.base), pitch: a.pitch, slice: a.slice,
		width: uint32(a.desc.Width), height: uint32(max(a.desc.Height, 1)), depth: uint32(max(a.desc.Depth, 1)),
		format: uint32(a.desc.Format), channels: a.desc.Channels, flags: uint32(a.desc.Flags) | dimensions(&a.desc)<<4}
}

// dimensions counts those of an array, without its layers.
func dimensions(a *driver.ArrayDesc) uint32 {
	switch {
	case a.Height == 0:
		return 1
	case a.Depth == 0 || a.Flags&(driver.ArrayLayered|driver.ArrayCube) != 0:
		return 2
	}
	return 3
}

// TexObjectCreate makes a texture of an array or of memory.
func (m *Driver) TexObjectCreate(c driver.Context, r *driver.Resource, d *driver.TextureDesc) (driver.TexObject, error) {
	const call = "cuTexObjectCreate"
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return 0, err
	}
	t, mem, length, err := m.resource(call, ctx, r)
	if err != nil {
		return 0, err
	}
	whole := d.Flags&driver.TextureIntegers != 0 && driver.ArrayFormat(t.format) != driver.FormatFloat && driver.ArrayFormat(t.format) != driver.FormatHalf ||
		driver.ArrayFormat(t.format) == driver.FormatUint32 || driver.ArrayFormat(t.format) == driver.FormatInt32
	switch {
	case d.Filter > driver.FilterLinear || max(d.Address[0], d.Address[1], d.Address[2]) > driver.AddressBorder || d.Flags&^(driver.TextureIntegers|driver.TextureNormalized) != 0:
		return 0, fail(call, driver.ErrInvalidValue, "a filter mode, address mode or flag that simulated devices do not know: %+v", *d)
	case d.Filter == driver.FilterLinear && whole:
		return 0, fail(call, driver.ErrInvalidValue, "integers cannot be filtered: %+v", *d)
	}
	t.filter = uint32(d.Filter)
	for i, v := range d.Border {
		t.border[i] = border(driver.ArrayFormat(t.format), whole, v)
	}
	t.flags |= uint32(d.Flags) * objectTexture
	for i, a := range d.Address {
		t.address[i] = uint32(a)
	}
	h, err := m.add(call, t, &object{ctx: ctx, of: *r, mem: mem, span: spanOf(driver.Ptr(t.base), length)})
	return driver.TexObject(h), err
}

// border is what a format has of a border's channel: of integers the lowest bits, of normalized
// numbers the nearest, of half what fits.
func border(f driver.ArrayFormat, whole bool, v float32) float32 {
	bits := math.Float32bits(v)
	signed := f == driver.FormatInt8 || f == driver.FormatInt16
	width := 8 * f.Size()
	switch {
	case f == driver.FormatHalf:
		if exponent := bits >> 23 & 255; exponent < 255 {
			const most, least = 0x1.ffcp15, 0x1p-14
			if size := math.Abs(float64(v)); size < least {
				return float32(math.Copysign(math.Floor(size*0x1p24)*0x1p-24, float64(v)))
			} else if size > most {
				return float32(math.Copysign(most, float64(v)))
			}
		}
		return math.Float32frombits(bits &^ 0x1fff)
	case width == 32:
		return v
	case whole && signed:
		return math.Float32frombits(uint32(int32(bits<<(32-width)) >> (32 - width)))
	case whole:
		return math.Float32frombits(bits << (32 - width) >> (32 - width))
	case v != v:
		return 0
	}
	most := float64(uint32(1)<<width - 1)
	if signed {
		most = float64(uint32(1)<<(width-1) - 1)
	} else if v < 0 {
		return 0
	}
	size := math.Trunc(min(math.Abs(float64(v)), 1)*0x1p24) * 0x1p-24
	n := float32(max(math.Ceil(size*most-0.5), 0)) / float32(most) // of two that are as near, the one next to 0
	if n != 0 && v < 0 {
		n = -n
	}
	return n
}

// resource is what a texture reads. m.mu is held.
func (m *Driver) resource(call string, ctx *context, r *driver.Resource) (t *textureABI, mem *allocation, length uint64, err error) {
	if r.Array != 0 {
		a, err := m.array(call, r.Array, ctx)
		if err != nil {
			return nil, nil, 0, err
		}
		return a.describe(), a.mem, a.mem.size, nil
	}
	size := r.Format.Size() * uint64(r.Channels)
	if size == 0 || r.Channels == 3 || r.Channels > 4 {
		return nil, nil, 0, fail(call, driver.ErrInvalidValue, "an element has 1, 2 or 4 channels of a format that arrays have")
	}
	t = &textureABI{base: uint64(r.Ptr), format: uint32(r.Format), channels: r.Channels, height: 1, depth: 1, flags: objectMemory | 1<<4}
	if r.Height == 0 {
		length, t.width = r.Bytes, uint32(min(r.Bytes/size, 1<<32-1))
	} else {
		length = r.Extent()
		t.width, t.height, t.pitch, t.flags = uint32(r.Width), uint32(r.Height), r.Pitch, objectMemory|2<<4
	}
	switch {
	case r.Height == 0 && (r.Bytes < size || r.Bytes/size > 1<<28):
		err = fail(call, driver.ErrInvalidValue, "%d bytes: at least an element of %d bytes, and at most %d elements", r.Bytes, size, 1<<28)
	case r.Height != 0 && (r.Width == 0 || r.Width > 131072 || r.Height > 65000 || r.Pitch == 0 || r.Pitch%pitchAlignment != 0):
		err = fail(call, driver.ErrInvalidValue, "%d rows of %d elements, %d bytes apart: a pitch is a multiple of %d bytes", r.Height, r.Width, r.Pitch, pitchAlignment)
	case uint64(r.Ptr)%granule != 0:
		err = fail(call, driver.ErrInvalidValue, "%#x is not a multiple of %d", uint64(r.Ptr), granule)
	}
	if err != nil {
		return nil, nil, 0, err
	}
	p, err := m.place(call, r.Ptr, length)
	if err == nil && (p.mem == nil || p.mem.kind == driver.MemoryHost || p.mem.kind == driver.MemoryDevice && p.mem.device != ctx.dev.id) {
		err = fail(call, driver.ErrInvalidValue, "%#x is no memory of device %d", uint64(r.Ptr), ctx.dev.id)
	}
	return t, p.mem, length, err
}

// SurfObjectCreate makes a surface of an array.
func (m *Driver) SurfObjectCreate(c driver.Context, h driver.Array) (driver.SurfObject, error) {
	const call = "cuSurfObjectCreate"
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return 0, err
	}
	a, err := m.array(call, h, ctx)
	if err != nil {
		return 0, err
	}
	t := a.describe()
	t.flags |= objectSurface
	n, err := m.add(call, t, &object{ctx: ctx, of: driver.Resource{Array: h}, mem: a.mem, span: spanOf(driver.Ptr(t.base), a.mem.size), surface: true})
	return driver.SurfObject(n), err
}

// TexObjectResource is what a texture was made of.
func (m *Driver) TexObjectResource(c driver.Context, t driver.TexObject) (driver.Resource, error) {
	return m.objectResource("cuTexObjectGetResourceDesc", c, uint64(t), false)
}

// SurfObjectResource is the array that a surface was made of.
func (m *Driver) SurfObjectResource(c driver.Context, s driver.SurfObject) (driver.Array, error) {
	r, err := m.objectResource("cuSurfObjectGetResourceDesc", c, uint64(s), true)
	return r.Array, err
}

func (m *Driver) objectResource(call string, c driver.Context, h uint64, surface bool) (driver.Resource, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, err := m.object(call, c, h, surface)
	if err != nil {
		return driver.Resource{}, err
	}
	return t.of, nil
}

// object finds a texture or surface. m.mu is held.
func (m *Driver) object(call string, c driver.Context, h uint64, surface bool) (*object, error) {
	if _, err := m.usable(call, c); err != nil {
		return nil, err
	}
	t := m.objects.live[h]
	if t == nil || t.surface != surface {
		return nil, fail(call, driver.ErrInvalidValue, "%#x is no such object, or one that was destroyed", h)
	}
	return t, nil
}

// TexObjectDestroy ends a texture. Work that is queued must not need it.
func (m *Driver) TexObjectDestroy(c driver.Context, t driver.TexObject) error {
	return m.dropObject("cuTexObjectDestroy", c, uint64(t), false)
}

// SurfObjectDestroy ends a surface. Work that is queued must not need it.
func (m *Driver) SurfObjectDestroy(c driver.Context, t driver.SurfObject) error {
	return m.dropObject("cuSurfObjectDestroy", c, uint64(t), true)
}

func (m *Driver) dropObject(call string, c driver.Context, h uint64, surface bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.object(call, c, h, surface); err != nil {
		return err
	}
	m.objects.remove(h)
	return nil
}
