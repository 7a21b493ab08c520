package cuda

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
	"unsafe"

	"gocuda/cudaapi/cuda/internal/signature"
	"gocuda/cudaapi/driver"
)

// Argument is what stands for a structure as a launch's argument: OnDevice gives the
// structure, for a launch on a device.
type Argument interface {
	OnDevice(d *Device) (any, error)
}

// param is how one argument is checked and packed.
type param struct {
	name     string
	typ      string // as the source spells it
	kind     signature.Kind
	offset   int
	size     int
	readOnly bool
	// elem are the element types that may stand for what a pointer points to, a
	// bit each; 0 for any.
	elem     uint32
	elemName string
	elemSize int // bytes; of a slice
}

// quick is a parameter as most are, so small that all of a launch are at hand:
// what its plain argument is, where it goes, and for a pointer which element
// types may stand for what it points to.
type quick struct {
	kind    quickKind
	offset  uint16
	accepts uint32
}

type quickKind uint8

const (
	quickNone quickKind = iota
	quickPointer
	quickInt32
	quickInt64
	quickFloat32
	quickFloat64
)

// quicken looks for what a plain argument of the parameter is.
func (p *param) quicken() quick {
	q := quick{offset: uint16(p.offset)}
	switch {
	case p.kind == signature.Pointer:
		q.kind, q.accepts = quickPointer, p.elem
		if p.elem == 0 {
			q.accepts = math.MaxUint32
		}
	case p.kind == signature.Int && p.size == 4:
		q.kind = quickInt32
	case p.kind == signature.Int && p.size == 8:
		q.kind = quickInt64
	case p.kind == signature.Float && p.size == 4:
		q.kind = quickFloat32
	case p.kind == signature.Float && p.size == 8:
		q.kind = quickFloat64
	}
	return q
}

// packPlain packs arguments from the i-th on for as long as they are plain ones,
// and tells how far it came.
func packPlain(i int, list []quick, params *[maxParams]byte, args []any, d *Device) int {
	for ; i < len(list) && i < len(args); i++ {
		q, arg := list[i], args[i]
		if b, ok := arg.(*Buffer); ok {
			if q.kind != quickPointer || b == nil || q.accepts>>b.typ&1 == 0 || b.own.dev != d || b.own.freed(b.generation) {
				return i
			}
			binary.LittleEndian.PutUint64(params[q.offset:], uint64(b.ptr))
		} else if v, ok := arg.(int); ok {
			switch {
			case q.kind == quickInt32 && int(int32(v)) == v:
				binary.LittleEndian.PutUint32(params[q.offset:], uint32(v))
			case q.kind == quickInt64:
				binary.LittleEndian.PutUint64(params[q.offset:], uint64(v))
			default:
				return i
			}
		} else if v, ok := arg.(float64); ok {
			switch f := float32(v); {
			case q.kind == quickFloat64:
				binary.LittleEndian.PutUint64(params[q.offset:], math.Float64bits(v))
			case q.kind == quickFloat32 && v-v == 0 && f-f == 0: // finite, and stays so
				binary.LittleEndian.PutUint32(params[q.offset:], math.Float32bits(f))
			default:
				return i
			}
		} else {
			return i
		}
	}
	return i
}

// layout joins what the source says of the parameters (sig, may be nil) with
// what the compiled code says (laidOut, if known). Where they disagree, the
// compiled code is right about place and size, and the kind is unknown.
func layout(sig *signature.Kernel, laidOut []driver.Param, known bool) ([]param, error) {
	if !known {
		if sig == nil {
			return nil, fmt.Errorf("this driver does not report the parameters of compiled code: compile from source")
		}
		at := 0
		for _, p := range sig.Params {
			if p.Size == 0 {
				return nil, fmt.Errorf("this driver does not report the size of %s", p.Declaration())
			}
			align := p.Align()
			at = (at + align - 1) / align * align
			laidOut = append(laidOut, driver.Param{Offset: uint32(at), Size: uint32(p.Size)})
			at += p.Size
		}
	}
	params := make([]param, len(laidOut))
	for i, l := range laidOut {
		q := &params[i]
		q.name, q.typ, q.offset, q.size = fmt.Sprintf("#%d", i+1), fmt.Sprintf("%d bytes", l.Size), int(l.Offset), int(l.Size)
		if sig == nil || len(sig.Params) != len(laidOut) {
			continue
		}
		p := &sig.Params[i]
		q.typ = p.Type.Name
		if p.Name != "" {
			q.name = p.Name
		}
		if p.Size != 0 && p.Size != q.size {
			continue
		}
		q.kind = p.Kind
		if p.Kind == signature.Pointer || p.Kind == signature.Slice {
			q.readOnly, q.elem, q.elemName, q.elemSize = p.ReadOnly, elements(p.Elem), p.Elem.Name, p.Elem.Size
		}
	}
	return params, nil
}

// elements are the element types that may stand for a C++ type, a bit each; 0
// for any.
func elements(t signature.Type) uint32 {
	switch t.Kind {
	case signature.Int, signature.Uint:
		switch t.Size {
		case 2:
			return 1<<Int16 | 1<<Uint16
		case 4:
			return 1<<Int32 | 1<<Uint32
		case 8:
			return 1<<Int64 | 1<<Uint64
		}
		// char* and unsigned char* are used for raw bytes.
	case signature.Float:
		if t.Size == 4 {
			return 1 << Float32
		}
		return 1 << Float64
	case signature.Half:
		return 1<<Float16 | 1<<Uint16
	case signature.BFloat16:
		return 1<<BFloat16 | 1<<Uint16
	}
	return 0
}

// put packs one argument; a text says what is wrong with it.
func (p *param) put(dst []byte, arg any, d *Device) string {
	switch v := arg.(type) {
	case *Buffer:
		return p.putBuffer(dst, v, d)
	case *HostBuffer:
		return p.putHost(dst, v)
	case *Texture:
		return p.putTexture(dst, v, d)
	case *Surface:
		return p.putSurface(dst, v, d)
	case int:
		return p.putInt(dst, int64(v))
	case int32:
		return p.putInt(dst, int64(v))
	case int64:
		return p.putInt(dst, v)
	case float32:
		return p.putFloat(dst, float64(v))
	case float64:
		return p.putFloat(dst, v)
	case uint32:
		return p.putInt(dst, int64(v))
	case uint64:
		return p.putUint(dst, v)
	case bool:
		return p.putBool(dst, v)
	case Argument:
		return p.putArgument(dst, arg, d)
	case nil:
		if p.object() != "" {
			return "nil was given for " + p.typ + ": " + p.object()
		}
		if p.kind != signature.Pointer && p.kind != signature.Slice && !(p.kind == signature.Unknown && p.size == 8) {
			return "nil is a null pointer, and this is no pointer"
		}
		clear(dst)
		return ""
	}
	return p.putOther(dst, arg)
}

// putArgument packs what stands for a structure. The call of its method would send the
// arguments of all launches to the heap, so it is made where the compiler does not follow.
func (p *param) putArgument(dst []byte, arg any, d *Device) string {
	if d == nil {
		return "it is memory of a device, and the kernel is emulated"
	}
	v, err := hidden(&arg).(Argument).OnDevice(d)
	if err != nil {
		return err.Error()
	}
	return p.putOther(dst, v)
}

// hidden is arg. The compiler does not see that, so that arguments of launches need not be on
// the heap for the sake of those with a method.
func hidden(arg *any) (same any) {
	*(*[2]uintptr)(unsafe.Pointer(&same)) = *(*[2]uintptr)(unsafe.Pointer(arg))
	return same
}

func (p *param) putBuffer(dst []byte, b *Buffer, d *Device) string {
	if !p.takesBuffer() {
		if p.object() != "" {
			return "a buffer was given for " + p.typ + ": " + p.object()
		}
		if p.kind == signature.Unknown && p.size > 8 {
			return "a buffer was given for a structure, " + p.typ + p.symmetric()
		}
		return "a buffer was given for a number"
	}
	if b == nil {
		clear(dst)
		return ""
	}
	if b.own.freed(b.generation) {
		return b.own.dev.lost("the buffer", "freed before", b.own.born)
	}
	if p.elem != 0 && p.elem>>b.typ&1 == 0 {
		return "a buffer of " + b.typ.String() + " was given; it " + p.wants()
	}
	if owner := b.own.dev; owner != d {
		if owner.sys != d.sys {
			return "the buffer belongs to another back end"
		}
		if b.own.kind == deviceMemory && !d.canReach(owner) {
			return fmt.Sprintf("the buffer is on device %d, which device %d may not access: call EnablePeerAccess, or copy it", owner.id, d.id)
		}
		if b.own.kind == asyncMemory && !b.own.access.has(d.id) {
			return fmt.Sprintf("the buffer is from a pool of device %d, which device %d may not access (peer access does not count for pools): call Pool.SetAccess, or copy it", owner.id, d.id)
		}
	}
	return p.putAddress(dst, uint64(b.ptr), b.Bytes(), b.typ)
}

// symmetric says what makes a structure of package symmetric.
func (p *param) symmetric() string {
	if strings.Contains(strings.ToLower(p.typ), "symmetric") {
		return ": give a *symmetric.Memory"
	}
	return ""
}

// wants says what a parameter's memory is made of.
func (p *param) wants() string {
	if p.kind == signature.Slice {
		return "is a []" + p.elemName
	}
	return "points to " + p.elemName
}

func (p *param) takesBuffer() bool {
	return p.kind == signature.Pointer || p.kind == signature.Slice || p.kind == signature.Unknown && p.size == 8
}

// putAddress packs the address of a buffer, for a slice with its length.
func (p *param) putAddress(dst []byte, at uint64, bytes int, t Type) string {
	binary.LittleEndian.PutUint64(dst, at)
	if p.kind != signature.Slice {
		return ""
	}
	if p.elemSize == 0 || bytes%p.elemSize != 0 {
		return fmt.Sprintf("a buffer of %d bytes (%v) was given, which is not a whole number of %s (%d bytes each)", bytes, t, p.elemName, p.elemSize)
	}
	binary.LittleEndian.PutUint64(dst[8:], uint64(bytes/p.elemSize))
	binary.LittleEndian.PutUint64(dst[16:], uint64(bytes/p.elemSize))
	return ""
}

func (p *param) putHost(dst []byte, h *HostBuffer) string {
	switch {
	case !p.takesBuffer():
		return "a buffer was given for a number"
	case h == nil:
		clear(dst)
		return ""
	case h.own.freed(0):
		return h.own.dev.lost("the host buffer", "freed before", h.own.born)
	case !h.Pinned():
		return "a kernel cannot use pageable host memory: allocate it with AllocHost"
	case p.elem != 0 && p.elem>>h.typ&1 == 0:
		return "a host buffer of " + h.typ.String() + " was given; it " + p.wants()
	}
	return p.putAddress(dst, uint64(h.ptr), h.Bytes(), h.typ)
}

func (p *param) putInt(dst []byte, v int64) string {
	switch p.kind {
	case signature.Int:
		if shift := 64 - 8*len(dst); v<<shift>>shift != v {
			return fmt.Sprintf("%d does not fit into %s", v, p.typ)
		}
	case signature.Uint:
		if v < 0 || len(dst) < 8 && v>>(8*len(dst)) != 0 {
			return fmt.Sprintf("%d does not fit into %s", v, p.typ)
		}
	case signature.Float, signature.Half, signature.BFloat16:
		if most := int64(1) << 53; v < -most || v > most || len(dst) == 4 && int64(float32(v)) != v {
			return fmt.Sprintf("the integer %d cannot be represented exactly as %s", v, p.typ)
		}
		return p.putFloat(dst, float64(v))
	case signature.Bool:
		if v != 0 && v != 1 {
			return fmt.Sprintf("%d is not a bool", v)
		}
	case signature.Pointer, signature.Slice:
		if v != 0 || p.kind == signature.Slice {
			return "an integer was given for a " + p.typ + ": give the buffer"
		}
	case signature.Integer:
		if shift := 64 - 8*len(dst); v<<shift>>shift != v && (v < 0 || v>>(8*len(dst)) != 0) {
			return fmt.Sprintf("%d does not fit into %s", v, p.typ)
		}
	case signature.Unknown:
		if len(dst) > 8 || len(dst)&(len(dst)-1) != 0 {
			return "an integer was given for a structure: give a Go struct of its size"
		}
		if shift := 64 - 8*len(dst); v<<shift>>shift != v && (v < 0 || v>>(8*len(dst)) != 0) {
			return fmt.Sprintf("%d does not fit into %d bytes", v, len(dst))
		}
	case signature.Texture, signature.Surface:
		return "a number was given for " + p.typ + ": " + p.object()
	default:
		return "an integer was given for a vector type: give a Go struct or array of its size"
	}
	switch len(dst) {
	case 8:
		binary.LittleEndian.PutUint64(dst, uint64(v))
	case 4:
		binary.LittleEndian.PutUint32(dst, uint32(v))
	case 2:
		binary.LittleEndian.PutUint16(dst, uint16(v))
	default:
		dst[0] = byte(v)
	}
	return ""
}

func (p *param) putUint(dst []byte, v uint64) string {
	if v <= math.MaxInt64 {
		return p.putInt(dst, int64(v))
	}
	if (p.kind == signature.Uint || p.kind == signature.Unknown) && len(dst) == 8 {
		binary.LittleEndian.PutUint64(dst, v)
		return ""
	}
	return fmt.Sprintf("%d does not fit into %s", v, p.typ)
}

func (p *param) putFloat(dst []byte, v float64) string {
	switch {
	case p.kind == signature.Float && len(dst) == 8 || p.kind == signature.Unknown && len(dst) == 8:
		binary.LittleEndian.PutUint64(dst, math.Float64bits(v))
	case p.kind == signature.Float || p.kind == signature.Unknown && len(dst) == 4:
		f := float32(v)
		if math.IsInf(float64(f), 0) && !math.IsInf(v, 0) {
			return fmt.Sprintf("%g does not fit into %s", v, p.typ)
		}
		binary.LittleEndian.PutUint32(dst, math.Float32bits(f))
	case p.kind == signature.Half:
		binary.LittleEndian.PutUint16(dst, float16Bits(float32(v)))
	case p.kind == signature.BFloat16:
		binary.LittleEndian.PutUint16(dst, bfloat16Bits(float32(v)))
	case p.kind == signature.Int || p.kind == signature.Uint:
		return fmt.Sprintf("a floating-point number was given for %s: convert it first", p.typ)
	default:
		return fmt.Sprintf("a floating-point number was given for %s", p.typ)
	}
	return ""
}

func (p *param) putBool(dst []byte, v bool) string {
	if p.kind != signature.Bool && !(p.kind == signature.Unknown && len(dst) == 1) {
		return "a bool was given for " + p.typ
	}
	dst[0] = 0
	if v {
		dst[0] = 1
	}
	return ""
}

// putOther packs the less common types, by kind: named numbers, small integers,
// structures and arrays. It reads the value in place, so that arguments of
// launches stay off the heap.
func (p *param) putOther(dst []byte, arg any) string {
	t := reflect.TypeOf(arg)
	// The second word of an interface points to the value, but for values that
	// are one pointer, which are refused below.
	data := (*[2]unsafe.Pointer)(unsafe.Pointer(&arg))[1]
	switch t.Kind() {
	case reflect.Int8:
		return p.putInt(dst, int64(*(*int8)(data)))
	case reflect.Int16:
		return p.putInt(dst, int64(*(*int16)(data)))
	case reflect.Int32:
		return p.putInt(dst, int64(*(*int32)(data)))
	case reflect.Int64, reflect.Int:
		return p.putInt(dst, *(*int64)(data))
	case reflect.Uint8:
		return p.putInt(dst, int64(*(*uint8)(data)))
	case reflect.Uint16:
		return p.putInt(dst, int64(*(*uint16)(data)))
	case reflect.Uint32:
		return p.putInt(dst, int64(*(*uint32)(data)))
	case reflect.Uint64, reflect.Uint:
		return p.putUint(dst, *(*uint64)(data))
	case reflect.Uintptr:
		if p.kind != signature.Pointer {
			return p.putUint(dst, uint64(*(*uintptr)(data)))
		}
		binary.LittleEndian.PutUint64(dst, uint64(*(*uintptr)(data)))
		return ""
	case reflect.Float32:
		return p.putFloat(dst, float64(*(*float32)(data)))
	case reflect.Float64:
		return p.putFloat(dst, *(*float64)(data))
	case reflect.Bool:
		return p.putBool(dst, *(*bool)(data))
	case reflect.Struct, reflect.Array, reflect.Complex64, reflect.Complex128:
		if p.kind != signature.Unknown && p.kind != signature.Vector {
			return t.String() + " was given for " + p.typ
		}
		if int(t.Size()) != len(dst) {
			return fmt.Sprintf("%s has %d bytes, %s has %d", t, t.Size(), p.typ, len(dst))
		}
		if hasPointers(t) {
			return t.String() + " holds Go pointers, which mean nothing on a device"
		}
		copy(dst, unsafe.Slice((*byte)(data), len(dst)))
		return ""
	case reflect.Slice:
		return t.String() + " is host memory: upload it to a buffer, and pass the buffer"
	}
	return t.String() + " cannot be passed to a kernel"
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	}
	return t.Kind() > reflect.Complex128 // arrays and structures are dealt with above
}
