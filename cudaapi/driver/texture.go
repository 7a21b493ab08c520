package driver

import "encoding/binary"

// Array is a CUarray: memory of a layout of its own that textures and surfaces read.
// TexObject and SurfObject are what kernels know textures and surfaces by, a CUtexObject
// and a CUsurfObject.
type (
	Array      uintptr
	TexObject  uint64
	SurfObject uint64
)

// ArrayFormat is a CUarray_format: the type of an element's channels.
type ArrayFormat uint32

const (
	FormatUint8  ArrayFormat = 0x01
	FormatUint16 ArrayFormat = 0x02
	FormatUint32 ArrayFormat = 0x03
	FormatInt8   ArrayFormat = 0x08
	FormatInt16  ArrayFormat = 0x09
	FormatInt32  ArrayFormat = 0x0a
	FormatHalf   ArrayFormat = 0x10
	FormatFloat  ArrayFormat = 0x20
)

// Size is a channel's size in bytes, 0 for a format that is not listed here.
func (f ArrayFormat) Size() uint64 {
	switch f {
	case FormatUint8, FormatInt8:
		return 1
	case FormatUint16, FormatInt16, FormatHalf:
		return 2
	case FormatUint32, FormatInt32, FormatFloat:
		return 4
	}
	return 0
}

// ArrayFlags are the flags of CUDA_ARRAY3D_DESCRIPTOR.
type ArrayFlags uint32

const (
	ArrayLayered ArrayFlags = 0x1 // Depth counts layers (CUDA_ARRAY3D_LAYERED)
	ArraySurface ArrayFlags = 0x2 // for surfaces, too (CUDA_ARRAY3D_SURFACE_LDST)
	ArrayCube    ArrayFlags = 0x4 // Depth counts faces, six a cube (CUDA_ARRAY3D_CUBEMAP)
	ArrayGather  ArrayFlags = 0x8 // for tex2Dgather, too (CUDA_ARRAY3D_TEXTURE_GATHER)
)

// ArrayDesc is a CUDA_ARRAY3D_DESCRIPTOR. Height is 0 for arrays of one dimension, Depth for
// those of one or two without layers.
type ArrayDesc struct {
	Width, Height, Depth uint64 // in elements
	Format               ArrayFormat
	Channels             uint32 // 1, 2 or 4
	Flags                ArrayFlags
}

// Element is an element's size in bytes.
func (a *ArrayDesc) Element() uint64 { return a.Format.Size() * uint64(a.Channels) }

// Bytes is how many all elements have.
func (a *ArrayDesc) Bytes() uint64 { return a.Element() * a.Width * max(a.Height, 1) * max(a.Depth, 1) }

// Copy3D copies Depth slices of Height rows of Width bytes (CUDA_MEMCPY3D).
type Copy3D struct {
	Dst, Src             Place3D
	Width, Height, Depth uint64
}

// Place3D is one end of a [Copy3D]: an array, or memory from Ptr on.
type Place3D struct {
	Array Array // 0 for memory
	Ptr   Ptr
	// Pitch is the distance in bytes from one row of memory to the next, Rows the number
	// of rows from one slice to the next.
	Pitch, Rows uint64
	X, Y, Z     uint64 // where the copy begins: in bytes, rows and slices
}

// AddressMode is a CUaddress_mode: what coordinates beside a texture stand for.
type AddressMode uint32

const (
	AddressWrap   AddressMode = 0
	AddressClamp  AddressMode = 1
	AddressMirror AddressMode = 2
	AddressBorder AddressMode = 3
)

// FilterMode is a CUfilter_mode.
type FilterMode uint32

const (
	FilterPoint  FilterMode = 0
	FilterLinear FilterMode = 1
)

// TextureFlags are the flags of CUDA_TEXTURE_DESC.
type TextureFlags uint32

const (
	// TextureIntegers has elements of 8 and 16 bits read as integers, not as numbers
	// from 0 or -1 to 1 (CU_TRSF_READ_AS_INTEGER).
	TextureIntegers TextureFlags = 0x1
	// TextureNormalized has coordinates from 0 to 1 (CU_TRSF_NORMALIZED_COORDINATES).
	TextureNormalized TextureFlags = 0x2
)

// TextureDesc is a CUDA_TEXTURE_DESC, but for what concerns mipmaps.
type TextureDesc struct {
	Address [3]AddressMode
	Filter  FilterMode
	Flags   TextureFlags
	Border  [4]float32
}

// Resource is what a texture reads, a CUDA_RESOURCE_DESC: an array, or Bytes of memory from
// Ptr on, or Height rows of Width elements there, Pitch bytes apart.
type Resource struct {
	Array                Array
	Ptr                  Ptr
	Format               ArrayFormat // of memory, as Channels
	Channels             uint32
	Bytes                uint64
	Width, Height, Pitch uint64 // Height is 0 for memory of one dimension
}

// Extent is how many bytes of memory there are, from the first to the last; 0 for an array.
func (r *Resource) Extent() uint64 {
	if r.Height == 0 {
		return r.Bytes
	}
	return (r.Height-1)*r.Pitch + r.Width*r.Format.Size()*uint64(r.Channels)
}

// ObjectParam marks a kernel argument that is a texture or surface object.
type ObjectParam struct {
	Offset  uint32 // into a launch's Params
	Surface bool
}

// In is the object among a launch's parameters.
func (p ObjectParam) In(params []byte) (object uint64, ok bool) {
	if int(p.Offset)+8 > len(params) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(params[p.Offset:]), true
}
