package cuda

import (
	"fmt"
	"runtime"

	"gocuda/cudaapi/driver"
)

// Array is a CUDA array (cudaArray_t): memory of a layout of its own, which textures and surfaces
// read. Free gives it back; one that becomes unreachable is given back too, as a [Buffer] is.
type Array struct {
	own  *owner
	desc ArrayDesc
}

// ArrayDesc says how large an array is and what its elements are.
type ArrayDesc struct {
	// Width, Height and Depth count elements. Height is 0 for an array of one dimension,
	// Depth for one of one or two.
	Width, Height, Depth int
	// Layers is how many arrays of one or two dimensions lie behind each other; 0 for a plain
	// array. Of cubes it counts cubes.
	Layers int
	// Cube has six faces of Width by Width elements for each layer.
	Cube bool
	// Type is that of an element's channels: Float32, Float16, or integers of 8, 16 or 32
	// bits. Channels is 1, 2 or 4; 0 stands for 1.
	Type     Type
	Channels int
	// Surface is for arrays that kernels write through a [Surface].
	Surface bool
	// Gather is for arrays of two dimensions that tex2Dgather reads.
	Gather bool
}

var arrayFormats = map[Type]driver.ArrayFormat{Uint8: driver.FormatUint8, Uint16: driver.FormatUint16, Uint32: driver.FormatUint32,
	Int8: driver.FormatInt8, Int16: driver.FormatInt16, Int32: driver.FormatInt32, Float16: driver.FormatHalf, Float32: driver.FormatFloat}

// drivers is the description as CUDA has it; a text says what is wrong with it.
func (a *ArrayDesc) drivers() (d driver.ArrayDesc, wrong string) {
	format, known := arrayFormats[a.Type]
	d = driver.ArrayDesc{Width: uint64(a.Width), Height: uint64(a.Height), Depth: uint64(a.Depth), Format: format, Channels: uint32(a.Channels)}
	switch {
	case !known:
		return d, fmt.Sprintf("elements of %s: an array has Float32, Float16, or integers of 8, 16 or 32 bits", a.Type)
	case a.Channels != 1 && a.Channels != 2 && a.Channels != 4:
		return d, fmt.Sprintf("%d channels: an element has 1, 2 or 4", a.Channels)
	case a.Width < 1 || a.Height < 0 || a.Depth < 0 || a.Layers < 0:
		return d, fmt.Sprintf("a width of %d, height of %d, depth of %d and %d layers: the width is at least 1, and what there is not is 0", a.Width, a.Height, a.Depth, a.Layers)
	case a.Depth > 0 && a.Height == 0:
		return d, "a depth without a height: one layer behind another is Layers"
	case a.Depth > 0 && (a.Layers > 0 || a.Cube):
		return d, "an array of three dimensions has no layers and no faces"
	case a.Cube && a.Width != a.Height:
		return d, fmt.Sprintf("a cube's faces are as high as wide, not %d by %d", a.Width, a.Height)
	case a.Gather && (a.Height == 0 || a.Depth > 0 || a.Layers > 0 || a.Cube):
		return d, "tex2Dgather reads arrays of two dimensions without layers"
	}
	if a.Cube {
		d.Depth, d.Flags = 6*uint64(max(a.Layers, 1)), driver.ArrayCube
	}
	if a.Layers > 0 {
		d.Flags |= driver.ArrayLayered
		if !a.Cube {
			d.Depth = uint64(a.Layers)
		}
	}
	if a.Surface {
		d.Flags |= driver.ArraySurface
	}
	if a.Gather {
		d.Flags |= driver.ArrayGather
	}
	return d, ""
}

// texel is an element's size in bytes.
func (a *ArrayDesc) texel() int { return a.Type.Size() * a.Channels }

// extent counts elements, rows and slices; layers and faces are slices.
func (a *ArrayDesc) extent() (width, height, depth int) {
	depth = max(a.Depth, a.Layers, 1)
	if a.Cube {
		depth = 6 * max(a.Layers, 1)
	}
	return a.Width, max(a.Height, 1), depth
}

func (a *ArrayDesc) String() string {
	size := fmt.Sprint(a.Width)
	if a.Height > 0 {
		size += fmt.Sprintf("x%d", a.Height)
	}
	if a.Depth > 0 {
		size += fmt.Sprintf("x%d", a.Depth)
	}
	if a.Channels > 1 {
		size += fmt.Sprintf(", %d channels", a.Channels)
	}
	switch {
	case a.Cube && a.Layers > 0:
		size += fmt.Sprintf(", %d cubes", a.Layers)
	case a.Cube:
		size += ", a cube"
	case a.Layers > 0:
		size += fmt.Sprintf(", %d layers", a.Layers)
	}
	return fmt.Sprintf("%s (%s)", a.Type, size)
}

// NewArray allocates an array (cudaMalloc3DArray). What it holds at first is undefined.
func (d *Device) NewArray(desc ArrayDesc) (*Array, error) {
	const call = "Device.NewArray"
	if d == nil {
		return nil, misuse(driver.ErrInvalidDevice, call, nil, "the device is nil")
	}
	if desc.Channels == 0 {
		desc.Channels = 1
	}
	as, wrong := desc.drivers()
	if wrong != "" {
		return nil, misuse(driver.ErrInvalidValue, call, d, "%s", wrong)
	}
	c, err := d.context()
	if err != nil {
		return nil, err
	}
	if err := d.reclaim(false); err != nil {
		return nil, err
	}
	a := &allocation{dev: d, kind: arrayMemory, bytes: as.Bytes()}
	a.ptr, err = d.allocate(func() (driver.Ptr, error) {
		h, err := d.drv().ArrayCreate(c, &as)
		return driver.Ptr(h), err
	})
	if isCode(err, driver.ErrInvalidValue) {
		return nil, misuse(driver.ErrInvalidValue, call, d, "%s: larger than the device allows, or not allowed together", &desc)
	}
	if err != nil {
		return nil, d.outOfMemory(err, a.bytes)
	}
	return &Array{own: track(a), desc: desc}, nil
}

// Desc says how large the array is and what its elements are.
func (a *Array) Desc() ArrayDesc { return a.desc }

// Device is where the array lies.
func (a *Array) Device() *Device { return a.own.dev }

// Handle is CUDA's own (a CUarray). Keep the array for as long as it is used.
func (a *Array) Handle() uintptr { return uintptr(a.own.ptr) }

func (a *Array) String() string {
	if a == nil || a.own == nil {
		return "array (nil)"
	}
	return fmt.Sprintf("array of %s on device %d", &a.desc, a.own.dev.id)
}

func (a *Array) alive(call string) error {
	if a == nil || a.own == nil {
		return misuse(driver.ErrInvalidValue, call, nil, "the array is nil")
	}
	if a.own.freed(0) {
		return misuse(driver.ErrInvalidValue, call, a.own.dev, "%s", a.own.dev.lost("the array", "freed before", a.own.born))
	}
	return nil
}

// Free gives the array back (cudaFreeArray). It waits for work on the device that may use it.
// Textures and surfaces of the array become invalid. To free twice is an error.
func (a *Array) Free() error {
	if err := a.alive("Array.Free"); err != nil {
		return err
	}
	return a.own.freeNow(func() error { return a.alive("Array.Free") })
}

// freeNow waits for the device, as its own call to free an array does not have to, and frees.
func (a *allocation) freeNow(gone func() error) error {
	if a.dev.sys.captures.active.Load() == 0 { // a wait would spoil it
		if err := a.dev.quiet(); err != nil {
			return err
		}
	}
	if !a.take() {
		return gone()
	}
	return a.release(a.dev.drv())
}

// Upload copies all elements from a *Buffer, a *HostBuffer or a slice, in which they lie row after
// row, and slice after slice, without gaps. It waits as [Memcpy] does.
func (a *Array) Upload(src any) error { return a.all("Array.Upload", src, true, nil) }

// Download copies all elements to a *Buffer, a *HostBuffer or a slice; see Upload.
func (a *Array) Download(dst any) error { return a.all("Array.Download", dst, false, nil) }

// UploadAsync queues an Upload on s; see [MemcpyAsync].
func (a *Array) UploadAsync(src any, s *Stream) error {
	return a.all("Array.UploadAsync", src, true, &s)
}

// DownloadAsync queues a Download on s; see [MemcpyAsync].
func (a *Array) DownloadAsync(dst any, s *Stream) error {
	return a.all("Array.DownloadAsync", dst, false, &s)
}

func (a *Array) all(call string, memory any, up bool, s **Stream) error {
	if err := a.alive(call); err != nil {
		return err
	}
	w, h, d := a.desc.extent()
	m, err := end(call, memory)
	if err != nil {
		return err
	}
	if have := int(m.bytes()); have != w*h*d*a.desc.texel() {
		return misuse(driver.ErrInvalidValue, call, a.own.dev, "the memory has %d bytes, the array of %s has %d", have, &a.desc, w*h*d*a.desc.texel())
	}
	dst, src := Region{Of: a}, Region{Of: memory}
	if !up {
		dst, src = src, dst
	}
	return memcpy3D(call, dst, src, w, h, d, s)
}

// Region is one end of a [Memcpy3D]: an *Array, or a *Buffer, *HostBuffer or slice. All is counted
// in elements; of memory an element is what an element of the array at the other end is, with
// all its channels.
type Region struct {
	Of      any
	X, Y, Z int // where the copy begins
	// Pitch is the distance from one row of memory to the next, Rows the number of rows
	// from one slice to the next; 0 stands for rows and slices without gaps.
	Pitch, Rows int
}

// Memcpy3D copies depth slices of height rows of width elements (cudaMemcpy3D) between arrays and
// memory. Layers and faces of arrays are slices. It waits as [Memcpy] does.
func Memcpy3D(dst, src Region, width, height, depth int) error {
	return memcpy3D("cuda.Memcpy3D", dst, src, width, height, depth, nil)
}

// Memcpy3DAsync queues a Memcpy3D on s (cudaMemcpy3DAsync).
func Memcpy3DAsync(dst, src Region, width, height, depth int, s *Stream) error {
	return memcpy3D("cuda.Memcpy3DAsync", dst, src, width, height, depth, &s)
}

func memcpy3D(call string, dst, src Region, width, height, depth int, on **Stream) error {
	p, d, err := box(call, &dst, &src, width, height, depth)
	if err != nil {
		return err
	}
	nothing := width == 0 || height == 0 || depth == 0
	if on == nil {
		c, err := d.context()
		if err != nil || nothing {
			return err
		}
		if err := d.settle(c); err != nil {
			return err
		}
		err = d.drv().Memcpy3D(c, p)
		runtime.KeepAlive(dst.Of)
		runtime.KeepAlive(src.Of)
		return d.fail(err)
	}
	s := *on
	if s == nil {
		s = d.DefaultStream()
	}
	c, err := s.use(call)
	if err != nil || nothing {
		return err
	}
	return s.queued(s.dev.drv().Memcpy3DAsync(c, p, s.h), call, dst.Of, src.Of)
}

// box checks a copy against the sizes of both ends.
func box(call string, dst, src *Region, width, height, depth int) (*driver.Copy3D, *Device, error) {
	var d *Device
	var texel int
	var types [2]Type
	var ends [2]operand
	for i, r := range []*Region{dst, src} {
		a, ok := r.Of.(*Array)
		if !ok {
			o, err := end(call, r.Of)
			if err != nil {
				return nil, nil, err
			}
			if ends[i], types[i] = o, o.typ; d == nil {
				d = o.dev
			}
			continue
		}
		if err := a.alive(call); err != nil {
			return nil, nil, err
		}
		if texel != 0 && texel != a.desc.texel() {
			return nil, nil, misuse(driver.ErrInvalidValue, call, d, "an element of one array has %d bytes, of the other %d", texel, a.desc.texel())
		}
		d, texel, types[i] = a.own.dev, a.desc.texel(), a.desc.Type
	}
	if d == nil {
		var err error
		if d, err = CurrentDevice(); err != nil {
			return nil, nil, err
		}
	}
	if texel == 0 {
		texel = types[0].Size()
	}
	// Slices of structures and arrays count as bytes.
	if !types[0].holds(types[1]) && !types[1].holds(types[0]) && !ends[0].structured(dst.Of) && !ends[1].structured(src.Of) {
		return nil, nil, misuse(driver.ErrInvalidValue, call, d, "the destination holds %s, the source %s", types[0], types[1])
	}
	if width < 0 || height < 0 || depth < 0 {
		return nil, nil, misuse(driver.ErrInvalidValue, call, d, "%d slices of %d rows of %d elements", depth, height, width)
	}
	p := &driver.Copy3D{Width: uint64(width * texel), Height: uint64(height), Depth: uint64(depth)}
	for i, r := range []*Region{dst, src} {
		name := [...]string{"destination", "source"}[i]
		place, wrong := r.place(ends[i], texel, width, height, depth)
		if wrong != "" {
			return nil, nil, misuse(driver.ErrInvalidValue, call, d, "%d slices of %d rows of %d elements from (%d, %d, %d) on go past the %s, %s", depth, height, width, r.X, r.Y, r.Z, name, wrong)
		}
		*[...]*driver.Place3D{&p.Dst, &p.Src}[i] = place
	}
	return p, d, nil
}

// structured reports whether memory is a slice of structures or arrays.
func (o operand) structured(v any) bool {
	if o.typ != Uint8 || !o.onHost {
		return false
	}
	switch v.(type) {
	case []byte, *HostBuffer:
		return false
	}
	return true
}

// place is where a copy begins, in bytes; a text says what it goes past.
func (r *Region) place(o operand, texel, width, height, depth int) (p driver.Place3D, past string) {
	p.X, p.Y, p.Z = uint64(r.X*texel), uint64(r.Y), uint64(r.Z)
	within := r.X >= 0 && r.Y >= 0 && r.Z >= 0
	if a, ok := r.Of.(*Array); ok {
		p.Array = driver.Array(a.own.ptr)
		if w, h, d := a.desc.extent(); !within || r.X > w-width || r.Y > h-height || r.Z > d-depth {
			return p, "an array of " + a.desc.String()
		}
		return p, ""
	}
	pitch, rows := r.Pitch, r.Rows
	if pitch == 0 {
		pitch = r.X + width
	}
	if rows == 0 {
		rows = r.Y + height
	}
	p.Ptr, p.Pitch, p.Rows = o.ptr, uint64(pitch*texel), uint64(rows)
	n := int(o.bytes()) / texel
	const most = 1 << 40 // more elements than there are
	last := r.X + width
	within = within && pitch < most && rows < most && r.Z < most && depth < most
	if !within || pitch < last || rows < r.Y+height {
		return p, fmt.Sprintf("whose rows are %d elements and slices %d rows apart", pitch, rows)
	}
	if width == 0 || height == 0 || depth == 0 {
		return p, ""
	}
	if slices := r.Z + depth - 1; slices > 0 && (pitch*rows > n || slices > n/(pitch*rows)) || slices*pitch*rows+(r.Y+height-1)*pitch+last > n {
		return p, fmt.Sprintf("which has %d elements", n)
	}
	return p, ""
}

// AllocPitch allocates height rows of width elements that are so far apart as textures and caches
// like it (cudaMallocPitch). Row y begins at element y*pitch of the buffer.
func (d *Device) AllocPitch(width, height int, t Type) (b *Buffer, pitch int, err error) {
	const call = "Device.AllocPitch"
	if _, err := d.size(call, width, t); err != nil {
		return nil, 0, err
	}
	if width < 1 || height < 1 {
		return nil, 0, misuse(driver.ErrInvalidValue, call, d, "%d rows of %d elements", height, width)
	}
	size := t.Size()
	b, err = d.alloc(call, width*height, t, deviceMemory, func(drv driver.Driver, c driver.Context, _ uint64) (driver.Ptr, error) {
		p, bytes, err := drv.MemAllocPitch(c, uint64(width*size), uint64(height), uint32(max(size, 4)))
		pitch = int(bytes) / size
		return p, err
	})
	if err != nil {
		return nil, 0, err
	}
	b.n = pitch * height
	b.own.bytes = uint64(b.Bytes())
	return b, pitch, nil
}
