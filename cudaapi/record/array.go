package record

import (
	"sync"

	"gocuda/cudaapi/driver"
)

// Arrays have no addresses that programs can see. The record gives each a range of its own,
// where no memory lies: its elements, row by row.

// arrayBase is where the ranges begin: above all memory of programs, and below what hazard
// keeps the ranks in.
const arrayBase = 1 << 47

// arrays are those that are known, of all drivers.
var arrays = struct {
	sync.Mutex
	of   map[arrayKey]arrayRange
	next uint64
}{of: map[arrayKey]arrayRange{}, next: arrayBase}

type arrayKey struct {
	driver driver.Driver
	handle driver.Array
}

// arrayRange is where an array lies, with its rows and slices.
type arrayRange struct{ lo, hi, row, slice uint64 }

// ArrayRange is the range that stands for an array; 0 for one that the record does not know.
func ArrayRange(h driver.Array) (lo, hi uint64) {
	arrays.Lock()
	defer arrays.Unlock()
	for k, r := range arrays.of {
		if k.handle == h {
			return r.lo, r.hi
		}
	}
	return 0, 0
}

// addArray gives an array a range.
func (d *Driver) addArray(h driver.Array, a *driver.ArrayDesc) arrayRange {
	arrays.Lock()
	defer arrays.Unlock()
	r := arrayRange{lo: arrays.next, hi: arrays.next + a.Bytes(), row: a.Width * a.Element()}
	r.slice = r.row * max(a.Height, 1)
	arrays.next = (r.hi + 512) &^ 511
	arrays.of[arrayKey{d.Driver, h}] = r
	return r
}

// array finds an array, asked of the driver if it was made before the recording.
func (d *Driver) array(c driver.Context, h driver.Array) (r arrayRange, ok bool) {
	arrays.Lock()
	r, ok = arrays.of[arrayKey{d.Driver, h}]
	arrays.Unlock()
	if ok {
		return r, true
	}
	a, err := d.Driver.ArrayDesc(c, h)
	if err != nil {
		return r, false
	}
	return d.addArray(h, &a), true
}

func (d *Driver) ArrayCreate(c driver.Context, a *driver.ArrayDesc) (driver.Array, error) {
	h, err := d.Driver.ArrayCreate(c, a)
	if err == nil {
		r := d.addArray(h, a)
		d.rec.Now(&Op{Kind: Alloc, Call: "cuArray3DCreate", Addr: r.lo, Bytes: r.hi - r.lo, Context: c})
	}
	return h, err
}

func (d *Driver) ArrayDestroy(c driver.Context, h driver.Array) error {
	r, ok := d.array(c, h)
	if !ok {
		return d.Driver.ArrayDestroy(c, h)
	}
	arrays.Lock()
	delete(arrays.of, arrayKey{d.Driver, h}) // before the call: then another array may have the handle
	arrays.Unlock()
	return d.gone(&Op{Kind: Free, Call: "cuArrayDestroy", Addr: r.lo, Bytes: r.hi - r.lo}, func() error {
		err := d.Driver.ArrayDestroy(c, h)
		if err != nil {
			arrays.Lock()
			arrays.of[arrayKey{d.Driver, h}] = r
			arrays.Unlock()
		}
		return err
	})
}

func (d *Driver) MemAllocPitch(c driver.Context, width, height uint64, element uint32) (driver.Ptr, uint64, error) {
	p, pitch, err := d.Driver.MemAllocPitch(c, width, height, element)
	if err == nil {
		d.own(driver.PointerInfo{Type: driver.MemoryDevice, Ctx: c, Base: p, Size: pitch * height}, c)
		d.rec.Now(&Op{Kind: Alloc, Call: "cuMemAllocPitch", Addr: uint64(p), Bytes: pitch * height, Context: c})
	}
	return p, pitch, err
}

// box is one end of a copy: what it touches there, and of which kind its memory is.
func (d *Driver) box(c driver.Context, p *driver.Copy3D, e *driver.Place3D, m Mode) (list []Access, t driver.MemoryType) {
	at, row, slice, t := uint64(e.Ptr), e.Pitch, e.Pitch*e.Rows, driver.MemoryDevice
	if e.Array == 0 {
		t = d.kindOf(c, e.Ptr)
	} else if r, ok := d.array(c, e.Array); ok {
		at, row, slice = r.lo, r.row, r.slice
	} else {
		return nil, t
	}
	at += e.X + e.Y*row + e.Z*slice
	if p.Height == 1 && p.Depth > 1 { // slices of a row each
		return strided(nil, at, p.Width, slice, p.Depth, m), t
	}
	if p.Width == row && p.Width*p.Height == slice {
		return strided(nil, at, slice, slice, p.Depth, m), t
	}
	for z := range p.Depth {
		list = strided(list, at+z*slice, p.Width, row, p.Height, m)
	}
	return list, t
}

// copy3D is a copy of a box; see newCopy.
func (d *Driver) copy3D(call string, c driver.Context, p *driver.Copy3D, sync bool) *Op {
	o := &Op{Kind: Copy, Call: call, Bytes: p.Width * p.Height * p.Depth}
	to, toType := d.box(c, p, &p.Dst, Write)
	from, fromType := d.box(c, p, &p.Src, Read)
	o.between(toType, fromType, sync)
	if fromType == driver.MemoryUnregistered {
		o.HostReads, from = from, nil
	}
	o.Accesses = append(from, to...)
	return o
}

func (d *Driver) Memcpy3D(c driver.Context, p *driver.Copy3D) error {
	return d.queue(d.copy3D("cuMemcpy3D", c, p, true), c, driver.StreamLegacy, func() error { return d.Driver.Memcpy3D(c, p) })
}

func (d *Driver) Memcpy3DAsync(c driver.Context, p *driver.Copy3D, s driver.Stream) error {
	return d.queue(d.copy3D("cuMemcpy3DAsync", c, p, false), c, s, func() error { return d.Driver.Memcpy3DAsync(c, p, s) })
}

// objects are what the textures and surfaces among a kernel's arguments let it touch: all of
// it. It is not known which elements a kernel fetches.
func (d *Driver) objects(c driver.Context, l *driver.Launch) (list []driver.Access) {
	for _, x := range l.Objects {
		h, ok := x.In(l.Params)
		if !ok {
			continue
		}
		r, mode := driver.Resource{}, driver.AccessRead
		var err error
		if x.Surface {
			r.Array, err = d.Driver.SurfObjectResource(c, driver.SurfObject(h))
		} else {
			r, err = d.Driver.TexObjectResource(c, driver.TexObject(h))
		}
		lo, hi := uint64(r.Ptr), uint64(r.Ptr)+r.Extent()
		if err == nil && r.Array != 0 {
			if a, ok := d.array(c, r.Array); ok {
				lo, hi = a.lo, a.hi
			}
		}
		if err != nil || lo == hi {
			continue
		}
		list = append(list, driver.Access{Lo: driver.Ptr(lo), Hi: driver.Ptr(hi), Mode: mode})
		if x.Surface {
			list = append(list, driver.Access{Lo: driver.Ptr(lo), Hi: driver.Ptr(hi), Mode: driver.AccessWrite})
		}
	}
	return list
}
