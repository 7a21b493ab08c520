package cuda

import (
	"encoding/binary"
	"fmt"

	"gocuda/cudaapi/cuda/internal/signature"
	"gocuda/cudaapi/driver"
)

// Texture is a texture object (cudaTextureObject_t): an [Array] or a [Buffer] that kernels read by
// coordinates. It is an argument of a kernel. It keeps what it reads. Free gives it back; one that
// becomes unreachable is given back too, when all queued work is done.
type Texture struct {
	own *owner
	of  any // *Array or *Buffer, which it keeps
}

// Surface is a surface object (cudaSurfaceObject_t): an [Array] that kernels read and write by
// coordinates, of which the first counts bytes. It is otherwise as a [Texture].
type Surface struct {
	own *owner
	of  *Array
}

// AddressMode says what coordinates beside a texture stand for.
type AddressMode uint8

const (
	// AddressClamp: the element at the edge. It is that of textures that ask for none.
	AddressClamp AddressMode = iota + 1
	// AddressWrap: the texture again and again. It needs normalized coordinates.
	AddressWrap
	// AddressMirror: the texture, mirrored each second time. It needs normalized coordinates.
	AddressMirror
	// AddressBorder: the texture's Border.
	AddressBorder
)

var addressModes = [...]driver.AddressMode{AddressClamp: driver.AddressClamp, AddressWrap: driver.AddressWrap, AddressMirror: driver.AddressMirror, AddressBorder: driver.AddressBorder}

// TextureDesc says how a texture is read. The zero value gives the nearest element, as it is, by
// coordinates that count elements, clamped.
type TextureDesc struct {
	// Address is for all axes, but for those that AddressY and AddressZ are given for.
	Address, AddressY, AddressZ AddressMode
	// Linear is the mean of neighbouring elements, by their distance (cudaFilterModeLinear).
	Linear bool
	// ReadNormalized has integers of 8 and 16 bits read as numbers from 0, or -1, to 1
	// (cudaReadModeNormalizedFloat).
	ReadNormalized bool
	// NormalizedCoords has coordinates from 0 to 1 (normalizedCoords).
	NormalizedCoords bool
	// Border is what lies beside the texture under AddressBorder, for each channel.
	Border [4]float32
}

// Texels is memory as a texture reads it: elements of several channels, or rows.
type Texels struct {
	Buffer   *Buffer
	Channels int // of an element: 1, 2 or 4; 0 stands for 1
	// Width, Height and Pitch are rows, counted in elements; 0 for one dimension, which
	// tex1Dfetch reads. [Device.AllocPitch] gives a pitch that textures take.
	Width, Height, Pitch int
}

// NewTexture makes a texture of an *Array, a *Buffer, which tex1Dfetch reads, or [Texels]
// (cudaCreateTextureObject). Mipmaps, sRGB and seamless cubes are not there.
func NewTexture(of any, desc TextureDesc) (*Texture, error) {
	const call = "cuda.NewTexture"
	var r driver.Resource
	var d *Device
	var typ Type
	var err error
	whole := false
	if b, ok := of.(*Buffer); ok {
		of = Texels{Buffer: b}
	}
	switch v := of.(type) {
	case *Array:
		if err = v.alive(call); err != nil {
			return nil, err
		}
		d, typ, r.Array = v.own.dev, v.desc.Type, driver.Array(v.own.ptr)
		whole = v.desc.Cube
	case Texels:
		if r, err = v.resource(call); err != nil {
			return nil, err
		}
		d, typ, of = v.Buffer.own.dev, v.Buffer.typ, v.Buffer
	default:
		return nil, misuse(driver.ErrInvalidValue, call, nil, "a texture of %T: give a *cuda.Array, a *cuda.Buffer or cuda.Texels", of)
	}
	t := driver.TextureDesc{Border: desc.Border}
	modes := [3]AddressMode{desc.Address, desc.AddressY, desc.AddressZ}
	for i, m := range modes {
		switch {
		case m > AddressBorder:
			return nil, misuse(driver.ErrInvalidValue, call, d, "%d is no address mode: use one such as cuda.AddressWrap", m)
		case m == 0 && i > 0:
			modes[i] = modes[0]
		case m == 0:
			modes[i] = AddressClamp
		case (m == AddressWrap || m == AddressMirror) && !desc.NormalizedCoords && !whole:
			return nil, misuse(driver.ErrInvalidValue, call, d, "AddressWrap and AddressMirror need NormalizedCoords: CUDA clamps other coordinates")
		}
		t.Address[i] = addressModes[modes[i]]
	}
	integers := typ != Float32 && typ != Float16
	switch {
	case desc.ReadNormalized && (!integers || typ.Size() == 4):
		return nil, misuse(driver.ErrInvalidValue, call, d, "ReadNormalized is for integers of 8 and 16 bits, and the elements are %s", typ)
	case desc.Linear && integers && !desc.ReadNormalized:
		return nil, misuse(driver.ErrInvalidValue, call, d, "Linear gives numbers with a fraction, and the elements are read as %s: ask for ReadNormalized, or take Float32", typ)
	case desc.Border != [4]float32{} && integers && !desc.ReadNormalized:
		return nil, misuse(driver.ErrInvalidValue, call, d, "the border of a texture of integers is 0")
	case r.Array == 0 && r.Height == 0 && (desc.Linear || desc.NormalizedCoords):
		return nil, misuse(driver.ErrInvalidValue, call, d, "memory of one dimension is read by tex1Dfetch, which takes the number of an element: Linear and NormalizedCoords need an array, or Texels with a Width and a Height")
	}
	if desc.Linear {
		t.Filter = driver.FilterLinear
	}
	if !desc.ReadNormalized {
		t.Flags |= driver.TextureIntegers
	}
	if desc.NormalizedCoords {
		t.Flags |= driver.TextureNormalized
	}
	own, err := d.object(textureObject, func(c driver.Context) (uint64, error) {
		h, err := d.drv().TexObjectCreate(c, &r, &t)
		return uint64(h), err
	})
	if err != nil {
		return nil, err
	}
	return &Texture{own: own, of: of}, nil
}

// NewSurface makes a surface of an array (cudaCreateSurfaceObject).
func NewSurface(a *Array) (*Surface, error) {
	const call = "cuda.NewSurface"
	if err := a.alive(call); err != nil {
		return nil, err
	}
	d := a.own.dev
	if !a.desc.Surface {
		return nil, misuse(driver.ErrInvalidValue, call, d, "the array was made without ArrayDesc.Surface")
	}
	own, err := d.object(surfaceObject, func(c driver.Context) (uint64, error) {
		h, err := d.drv().SurfObjectCreate(c, driver.Array(a.own.ptr))
		return uint64(h), err
	})
	if err != nil {
		return nil, err
	}
	return &Surface{own: own, of: a}, nil
}

// object makes a texture or surface.
func (d *Device) object(k kind, f func(driver.Context) (uint64, error)) (*owner, error) {
	c, err := d.context()
	if err != nil {
		return nil, err
	}
	if err := d.reclaim(false); err != nil {
		return nil, err
	}
	a := &allocation{dev: d, kind: k}
	a.ptr, err = d.allocate(func() (driver.Ptr, error) {
		h, err := f(c)
		return driver.Ptr(h), err
	})
	if err != nil {
		return nil, d.fail(err)
	}
	return track(a), nil
}

// resource is memory as CUDA has it.
func (t *Texels) resource(call string) (r driver.Resource, err error) {
	b := t.Buffer
	if err := b.alive(call); err != nil {
		return r, err
	}
	d := b.own.dev
	if t.Channels == 0 {
		t.Channels = 1
	}
	format, known := arrayFormats[b.typ]
	texel := t.Channels * b.typ.Size()
	r = driver.Resource{Ptr: b.ptr, Format: format, Channels: uint32(t.Channels), Bytes: uint64(b.Bytes())}
	switch {
	case !known:
		err = misuse(driver.ErrInvalidValue, call, d, "a buffer of %s: a texture has Float32, Float16, or integers of 8, 16 or 32 bits", b.typ)
	case t.Channels != 1 && t.Channels != 2 && t.Channels != 4:
		err = misuse(driver.ErrInvalidValue, call, d, "%d channels: an element has 1, 2 or 4", t.Channels)
	case b.own.kind == pinnedMemory || b.own.kind == registeredMemory:
		err = misuse(driver.ErrInvalidValue, call, d, "a texture reads memory of the device")
	case b.Bytes() < texel:
		err = misuse(driver.ErrInvalidValue, call, d, "the buffer has %d bytes, an element of the texture %d", b.Bytes(), texel)
	}
	if err != nil {
		return r, err
	}
	align, e := d.Attribute(driver.TextureAlignment)
	if e == nil && align > 0 && uint64(b.ptr)%uint64(align) != 0 {
		return r, misuse(driver.ErrInvalidValue, call, d, "the view begins %d bytes into its memory, and a texture begins at a multiple of %d", b.ptr-b.own.ptr, align)
	}
	if t.Width == 0 && t.Height == 0 && t.Pitch == 0 {
		return r, nil
	}
	if err := fits(call, d, "buffer", b.Bytes()/texel, t.Pitch, t.Width, t.Height); err != nil {
		return r, err
	}
	if t.Width == 0 || t.Height == 0 {
		return r, misuse(driver.ErrInvalidValue, call, d, "%d rows of %d elements", t.Height, t.Width)
	}
	r.Bytes, r.Width, r.Height, r.Pitch = 0, uint64(t.Width), uint64(t.Height), uint64(t.Pitch*texel)
	if align, e = d.Attribute(driver.TexturePitchAlignment); e == nil && align > 0 && r.Pitch%uint64(align) != 0 {
		return r, misuse(driver.ErrInvalidValue, call, d, "rows are %d bytes apart, and those of a texture a multiple of %d: Device.AllocPitch gives such a pitch", r.Pitch, align)
	}
	return r, nil
}

// Object is the number by which kernels know the texture, for a field of a structure. Keep the
// texture until the kernels are done; %check does not see what they read through it.
func (t *Texture) Object() uint64 { return uint64(t.own.ptr) }

// Object is the number by which kernels know the surface; see [Texture.Object].
func (s *Surface) Object() uint64 { return uint64(s.own.ptr) }

// Free gives the texture back (cudaDestroyTextureObject), when the device is done with its work.
// What it read stays.
func (t *Texture) Free() error {
	gone := func() error { return misuse(driver.ErrInvalidValue, "Texture.Free", nil, "%s", t.lost()) }
	if t == nil || t.own.freed(0) {
		return gone()
	}
	return t.own.freeNow(gone)
}

// Free gives the surface back (cudaDestroySurfaceObject), when the device is done with its work.
// The array stays.
func (s *Surface) Free() error {
	gone := func() error { return misuse(driver.ErrInvalidValue, "Surface.Free", nil, "%s", s.lost()) }
	if s == nil || s.own.freed(0) {
		return gone()
	}
	return s.own.freeNow(gone)
}

// lost says what is gone of the texture: itself or what it reads; "" if nothing is.
func (t *Texture) lost() string {
	if t == nil {
		return "the texture is nil"
	}
	if t.own.freed(0) {
		return t.own.dev.lost("the texture", "freed before", t.own.born)
	}
	if b, ok := t.of.(*Buffer); ok {
		if b.own.freed(b.generation) {
			return t.own.dev.lost("the buffer that the texture reads", "freed before", b.own.born)
		}
		return ""
	}
	return t.of.(*Array).lost("texture reads")
}

func (s *Surface) lost() string {
	if s == nil {
		return "the surface is nil"
	}
	if s.own.freed(0) {
		return s.own.dev.lost("the surface", "freed before", s.own.born)
	}
	return s.of.lost("surface is of")
}

func (a *Array) lost(user string) string {
	if a.own.freed(0) {
		return a.own.dev.lost("the array that the "+user, "freed before", a.own.born)
	}
	return ""
}

func (t *Texture) String() string {
	if t == nil {
		return "texture (nil)"
	}
	return fmt.Sprintf("texture of %v", t.of)
}

func (s *Surface) String() string {
	if s == nil {
		return "surface (nil)"
	}
	return fmt.Sprintf("surface of %v", s.of)
}

// putObject packs a texture or a surface.
func (p *param) putObject(dst []byte, own *owner, lost string, d *Device, want signature.Kind, what string) string {
	switch {
	case p.kind != want && !(p.kind == signature.Unknown && p.size == 8):
		return "a " + what + " was given for " + p.typ
	case lost != "":
		return lost
	case own.dev != d:
		return fmt.Sprintf("the %s is of device %d, and the kernel runs on device %d", what, own.dev.id, d.id)
	}
	binary.LittleEndian.PutUint64(dst, uint64(own.ptr))
	return ""
}

func (p *param) putTexture(dst []byte, t *Texture, d *Device) string {
	if t == nil {
		return "the texture is nil"
	}
	return p.putObject(dst, t.own, t.lost(), d, signature.Texture, "texture")
}

func (p *param) putSurface(dst []byte, s *Surface, d *Device) string {
	if s == nil {
		return "the surface is nil"
	}
	return p.putObject(dst, s.own, s.lost(), d, signature.Surface, "surface")
}

// object says that a parameter needs an object; "" if it does not.
func (p *param) object() string {
	switch p.kind {
	case signature.Texture:
		return "give a *cuda.Texture: cuda.NewTexture makes one of an array or a buffer"
	case signature.Surface:
		return "give a *cuda.Surface: cuda.NewSurface makes one of an array"
	}
	return ""
}

// texture and surface hold what a graph's kernels read and write.
func (h *holdings) texture(call string, t *Texture) {
	h.use(use{own: t.own}, user{call: call})
	switch of := t.of.(type) {
	case *Array:
		h.array(call, of)
	case *Buffer:
		h.buffer(call, of)
	}
}

func (h *holdings) surface(call string, s *Surface) {
	h.use(use{own: s.own}, user{call: call})
	h.array(call, s.of)
}

func (h *holdings) array(call string, a *Array) {
	h.use(use{own: a.own}, user{call, a.own.bytes})
}
