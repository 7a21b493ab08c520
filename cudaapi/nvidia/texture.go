//go:build linux && (amd64 || arm64)

package nvidia

import (
	"runtime"
	"structs"

	"gocuda/cudaapi/driver"
)

// arrayDescriptor is CUDA_ARRAY3D_DESCRIPTOR.
type arrayDescriptor struct {
	_                    structs.HostLayout
	width, height, depth uint64
	format               uint32
	channels             uint32
	flags                uint32
}

// memcpy3D is CUDA_MEMCPY3D.
type memcpy3D struct {
	_            structs.HostLayout
	src, dst     place3D
	widthInBytes uint64
	height       uint64
	depth        uint64
}

// place3D is one end of it.
type place3D struct {
	_        structs.HostLayout
	x, y, z  uint64
	lod      uint64
	kind     uint32
	host     uintptr
	device   uint64
	array    uintptr
	reserved uintptr
	pitch    uint64
	height   uint64
}

// resourceDesc is CUDA_RESOURCE_DESC. Its union is words here: of an array the handle; of
// memory the address, the format and the number of channels in one word, and the size, or
// the width, height and pitch.
type resourceDesc struct {
	_     structs.HostLayout
	kind  uint32
	union [16]uint64
	flags uint32
}

// textureDesc is CUDA_TEXTURE_DESC.
type textureDesc struct {
	_                    structs.HostLayout
	address              [3]uint32
	filter               uint32
	flags                uint32
	maxAnisotropy        uint32
	mipmapFilter         uint32
	mipmapBias           float32
	minMipmap, maxMipmap float32
	border               [4]float32
	reserved             [12]uint32
}

// Numbers of CUDA's: of CUmemorytype and CUresourcetype.
const (
	memoryTypeArray   = 3
	memoryTypeUnified = 4

	resourceArray   = 0
	resourceLinear  = 2
	resourcePitch2D = 3
)

func (d *Driver) ArrayCreate(c driver.Context, a *driver.ArrayDesc) (driver.Array, error) {
	desc := &arrayDescriptor{width: a.Width, height: a.Height, depth: a.Depth, format: uint32(a.Format), channels: a.Channels, flags: uint32(a.Flags)}
	h, err := d.getIn(c, cuArray3DCreate, pin(desc))
	runtime.KeepAlive(desc)
	return driver.Array(h), err
}

func (d *Driver) ArrayDesc(c driver.Context, a driver.Array) (driver.ArrayDesc, error) {
	desc := &arrayDescriptor{}
	err := d.in(c, cuArray3DGetDescriptor, pin(desc), uintptr(a))
	runtime.KeepAlive(desc)
	return driver.ArrayDesc{Width: desc.width, Height: desc.height, Depth: desc.depth,
		Format: driver.ArrayFormat(desc.format), Channels: desc.channels, Flags: driver.ArrayFlags(desc.flags)}, err
}

func (d *Driver) ArrayDestroy(c driver.Context, a driver.Array) error {
	return d.in(c, cuArrayDestroy, uintptr(a))
}

func (d *Driver) MemAllocPitch(c driver.Context, width, height uint64, element uint32) (driver.Ptr, uint64, error) {
	s := getScratch()
	defer putScratch(s)
	if err := d.in(c, cuMemAllocPitch, s.ptr(), s.at(1), uintptr(width), uintptr(height), uintptr(element)); err != nil {
		return 0, 0, err
	}
	return driver.Ptr(s.word[0]), s.word[1], nil
}

func placeOf(p *driver.Place3D) place3D {
	if p.Array != 0 {
		return place3D{x: p.X, y: p.Y, z: p.Z, kind: memoryTypeArray, array: uintptr(p.Array)}
	}
	return place3D{x: p.X, y: p.Y, z: p.Z, kind: memoryTypeUnified, device: uint64(p.Ptr), pitch: p.Pitch, height: p.Rows}
}

func copy3D(p *driver.Copy3D) *memcpy3D {
	return &memcpy3D{src: placeOf(&p.Src), dst: placeOf(&p.Dst), widthInBytes: p.Width, height: p.Height, depth: p.Depth}
}

func (d *Driver) Memcpy3D(c driver.Context, p *driver.Copy3D) error {
	m := copy3D(p)
	err := d.in(c, cuMemcpy3D, pin(m))
	runtime.KeepAlive(m)
	return err
}

func (d *Driver) Memcpy3DAsync(c driver.Context, p *driver.Copy3D, s driver.Stream) error {
	m := copy3D(p)
	err := d.on(c, s, cuMemcpy3DAsync, pin(m), uintptr(s))
	runtime.KeepAlive(m)
	return err
}

func resourceOf(r *driver.Resource) *resourceDesc {
	of := uint64(r.Format) | uint64(r.Channels)<<32
	switch {
	case r.Array != 0:
		return &resourceDesc{kind: resourceArray, union: [16]uint64{uint64(r.Array)}}
	case r.Height == 0:
		return &resourceDesc{kind: resourceLinear, union: [16]uint64{uint64(r.Ptr), of, r.Bytes}}
	}
	return &resourceDesc{kind: resourcePitch2D, union: [16]uint64{uint64(r.Ptr), of, r.Width, r.Height, r.Pitch}}
}

func (d *Driver) TexObjectCreate(c driver.Context, r *driver.Resource, t *driver.TextureDesc) (driver.TexObject, error) {
	resource := resourceOf(r)
	texture := &textureDesc{filter: uint32(t.Filter), flags: uint32(t.Flags), border: t.Border}
	for i, a := range t.Address {
		texture.address[i] = uint32(a)
	}
	h, err := d.getIn(c, cuTexObjectCreate, pin(resource), pin(texture), 0)
	runtime.KeepAlive(resource)
	runtime.KeepAlive(texture)
	return driver.TexObject(h), err
}

func (d *Driver) TexObjectDestroy(c driver.Context, t driver.TexObject) error {
	return d.in(c, cuTexObjectDestroy, uintptr(t))
}

// resource is what an object was made of.
func (d *Driver) resource(c driver.Context, s symbol, object uint64) (r driver.Resource, err error) {
	desc := &resourceDesc{}
	err = d.in(c, s, pin(desc), uintptr(object))
	runtime.KeepAlive(desc)
	u := &desc.union
	if desc.kind == resourceArray {
		r.Array = driver.Array(u[0])
		return r, err
	}
	r = driver.Resource{Ptr: driver.Ptr(u[0]), Format: driver.ArrayFormat(uint32(u[1])), Channels: uint32(u[1] >> 32)}
	if desc.kind == resourcePitch2D {
		r.Width, r.Height, r.Pitch = u[2], u[3], u[4]
	} else {
		r.Bytes = u[2]
	}
	return r, err
}

func (d *Driver) TexObjectResource(c driver.Context, t driver.TexObject) (driver.Resource, error) {
	return d.resource(c, cuTexObjectGetResourceDesc, uint64(t))
}

func (d *Driver) SurfObjectResource(c driver.Context, s driver.SurfObject) (driver.Array, error) {
	r, err := d.resource(c, cuSurfObjectGetResourceDesc, uint64(s))
	return r.Array, err
}

func (d *Driver) SurfObjectCreate(c driver.Context, a driver.Array) (driver.SurfObject, error) {
	resource := resourceOf(&driver.Resource{Array: a})
	h, err := d.getIn(c, cuSurfObjectCreate, pin(resource))
	runtime.KeepAlive(resource)
	return driver.SurfObject(h), err
}

func (d *Driver) SurfObjectDestroy(c driver.Context, t driver.SurfObject) error {
	return d.in(c, cuSurfObjectDestroy, uintptr(t))
}
