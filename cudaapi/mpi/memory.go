package mpi

import (
	"reflect"
	"sync"
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/device"
	"gocuda/cudaapi/mpi/internal/transport"
)

type inPlace struct{}

// InPlace stands for MPI_IN_PLACE: as the send buffer of a reduction, of Gather
// at the root, of Allgather and of Alltoall, it says that the data is in the
// receive buffer already; as Scatter's receive buffer at the root, that the
// root's part stays where it is.
var InPlace inPlace

// The pairs of a value and its place, for [MinLoc] and [MaxLoc]
// (MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_2INT, MPI_LONG_INT). Any struct of such
// two fields will do as well.
type (
	Float32Int struct {
		Value float32
		Index int32
	}
	Float64Int struct {
		Value float64
		Index int32
	}
	Int32Int struct {
		Value int32
		Index int32
	}
	Int64Int struct {
		Value int64
		Index int32
	}
)

// memory is what a buffer argument stands for. Everything that a buffer may be
// is told by resolve; the rest of the package sees only this.
//
// Its Memory is of bytes, as which all that is not computed with travels: some
// libraries end the program when a message is no whole number of its elements.
type memory struct {
	transport.Memory                // an address of a device if dev is set
	elem             transport.Type // Byte for structs, and what else MPI has no type for
	size             int            // bytes of one of the user's elements
	pair             transport.Type // of structs that MinLoc and MaxLoc take
	dev              *cuda.Buffer   // memory of a device
	spread           *device.Shape  // its elements, if they do not lie together; Memory is of the whole buffer then
	inPlace          bool
	readOnly         bool // a string, or a value
}

// elems is the number of the user's elements.
func (m *memory) elems() int { return m.N / m.size }

// length is how many bytes travel.
func (m *memory) length() int {
	switch {
	case m.inPlace:
		return 0
	case m.spread != nil:
		return m.spread.Bytes()
	}
	return m.N
}

// onDevice is its length if it is memory of a device.
func (m *memory) onDevice() int {
	if m.dev == nil {
		return 0
	}
	return m.N
}

// part is the first n elements.
func (m *memory) part(n int) transport.Memory {
	r := m.Memory
	if !m.inPlace {
		r.N = n * m.size
	}
	return r
}

// typed is the memory as elements of type t, for reductions.
func (m *memory) typed(t transport.Type) transport.Memory {
	if m.inPlace {
		return transport.Memory{}
	}
	return transport.Memory{P: m.P, N: m.N / t.Size(), T: t, Device: m.Device}
}

// overlaps reports whether two buffers share bytes. Strided ones may lie in the
// same array: what is sent of them was copied before.
func (m *memory) overlaps(o *memory) bool {
	a, b := uintptr(m.P), uintptr(o.P)
	if (m.dev == nil) != (o.dev == nil) || m.spread != nil || o.spread != nil {
		return false
	}
	la, lb := uintptr(m.N), uintptr(o.N)
	return la > 0 && lb > 0 && a < b+lb && b < a+la
}

func of[T any](p *T, n int, t transport.Type) memory {
	size := int(unsafe.Sizeof(*p))
	return memory{Memory: transport.Memory{P: unsafe.Pointer(p), N: n * size, T: transport.Byte, Elem: t}, elem: t, size: size}
}

var (
	intType  = map[uintptr]transport.Type{4: transport.Int32, 8: transport.Int64}[unsafe.Sizeof(int(0))]
	uintType = map[uintptr]transport.Type{4: transport.Uint32, 8: transport.Uint64}[unsafe.Sizeof(uint(0))]
)

// resolve tells what a buffer argument is. The types that programs use most
// are found without reflection.
func resolve(call string, buf any) (memory, *Error) {
	switch s := buf.(type) {
	case nil:
		return memory{Memory: transport.Memory{T: transport.Byte}, elem: transport.Byte, size: 1}, nil
	case []float64:
		return of(unsafe.SliceData(s), len(s), transport.Float64), nil
	case []float32:
		return of(unsafe.SliceData(s), len(s), transport.Float32), nil
	case []byte:
		return of(unsafe.SliceData(s), len(s), transport.Uint8), nil
	case []int:
		return of(unsafe.SliceData(s), len(s), intType), nil
	case []int32:
		return of(unsafe.SliceData(s), len(s), transport.Int32), nil
	case []int64:
		return of(unsafe.SliceData(s), len(s), transport.Int64), nil
	case *float64:
		if s != nil {
			return of(s, 1, transport.Float64), nil
		}
	case *int:
		if s != nil {
			return of(s, 1, intType), nil
		}
	case string:
		m := of(unsafe.StringData(s), len(s), transport.Uint8)
		m.readOnly = true
		return m, nil
	case inPlace:
		return memory{inPlace: true, size: 1}, nil
	case memory: // of this package's own calls
		return s, nil
	case *cuda.Buffer:
		return resolveDevice(call, s)
	case *cuda.HostBuffer:
		return resolveHost(call, s)
	case Strided:
		return resolveStrided(call, &s)
	}
	v := reflect.ValueOf(buf)
	switch v.Kind() {
	case reflect.Slice:
		return resolveElements(call, buf, v.Type().Elem(), v.UnsafePointer(), v.Len())
	case reflect.Pointer:
		if v.IsNil() {
			return memory{}, misuse(ErrBuffer, call, "the buffer is a nil %T", buf)
		}
		return resolveElements(call, buf, v.Type().Elem(), v.UnsafePointer(), 1)
	}
	// A value is read from a copy.
	if elementOf(v.Type()).bad == "" {
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		m, err := resolveElements(call, buf, v.Type(), p.UnsafePointer(), 1)
		m.readOnly = true
		return m, err
	}
	return memory{}, misuse(ErrBuffer, call, "a %T cannot be a buffer", buf).hint("give a slice, a pointer such as &x, a *cuda.HostBuffer or a *cuda.Buffer")
}

func resolveElements(call string, buf any, t reflect.Type, p unsafe.Pointer, n int) (memory, *Error) {
	e := elementOf(t)
	if e.bad != "" {
		return memory{}, misuse(ErrType, call, "a %T cannot be a buffer: %s", buf, e.bad).hint("elements are numbers, bools, and structs and arrays of these")
	}
	return memory{Memory: transport.Memory{P: p, N: n * e.per * e.typ.Size(), T: transport.Byte, Elem: e.typ}, elem: e.typ, size: e.size, pair: e.pair}, nil
}

// element describes a Go type as an element of messages.
type element struct {
	typ, pair transport.Type
	per       int // elements of typ in it
	size      int // bytes of what is counted: of one number, or of the struct
	bad       string
}

var elements sync.Map // reflect.Type to element

func elementOf(t reflect.Type) element {
	if e, ok := elements.Load(t); ok {
		return e.(element)
	}
	e := describe(t)
	elements.Store(t, e)
	return e
}

var kinds = map[reflect.Kind]transport.Type{
	reflect.Bool: transport.Bool,
	reflect.Int8: transport.Int8, reflect.Int16: transport.Int16, reflect.Int32: transport.Int32, reflect.Int64: transport.Int64,
	reflect.Uint8: transport.Uint8, reflect.Uint16: transport.Uint16, reflect.Uint32: transport.Uint32, reflect.Uint64: transport.Uint64,
	reflect.Int: intType, reflect.Uint: uintType, reflect.Uintptr: uintType,
	reflect.Float32: transport.Float32, reflect.Float64: transport.Float64,
	reflect.Complex64: transport.Complex64, reflect.Complex128: transport.Complex128,
}

func describe(t reflect.Type) element {
	if k, ok := kinds[t.Kind()]; ok {
		return element{typ: k, per: 1, size: int(t.Size())}
	}
	switch t.Kind() {
	case reflect.Array: // counted by its numbers
		e := describe(t.Elem())
		e.per *= t.Len()
		return e
	case reflect.Struct:
		for i := range t.NumField() {
			if e := describe(t.Field(i).Type); e.bad != "" {
				return element{bad: "field " + t.Field(i).Name + ": " + e.bad}
			}
		}
		return element{typ: transport.Byte, per: int(t.Size()), size: max(int(t.Size()), 1), pair: pairOf(t)}
	case reflect.String:
		return element{bad: "a string's text is elsewhere in memory; send []byte(s)"}
	}
	return element{bad: t.String() + " refers to memory of this process"}
}

// pairOf is the type of pairs that a struct is laid out as, or 0.
func pairOf(t reflect.Type) transport.Type {
	if t.NumField() != 2 || t.Field(1).Type.Kind() != reflect.Int32 || t.Field(1).Offset != t.Field(0).Type.Size() {
		return 0
	}
	switch t.Field(0).Type.Kind() {
	case reflect.Float32:
		return transport.Float32Int
	case reflect.Float64:
		return transport.Float64Int
	case reflect.Int32:
		return transport.Int32Int
	case reflect.Int64:
		return transport.Int64Int
	}
	return 0
}

var cudaTypes = map[cuda.Type]transport.Type{
	cuda.Uint8: transport.Uint8, cuda.Uint16: transport.Uint16, cuda.Uint32: transport.Uint32, cuda.Uint64: transport.Uint64,
	cuda.Int8: transport.Int8, cuda.Int16: transport.Int16, cuda.Int32: transport.Int32, cuda.Int64: transport.Int64,
	cuda.Float16: transport.Byte, cuda.BFloat16: transport.Byte, // MPI has no halves
	cuda.Float32: transport.Float32, cuda.Float64: transport.Float64,
	cuda.Complex64: transport.Complex64, cuda.Complex128: transport.Complex128,
}

func resolveHost(call string, h *cuda.HostBuffer) (memory, *Error) {
	p, err := h.Pointer()
	if err != nil {
		return memory{}, misuse(ErrBuffer, call, "%v", err)
	}
	return memory{Memory: transport.Memory{P: p, N: h.Bytes(), T: transport.Byte, Elem: cudaTypes[h.Type()]}, elem: cudaTypes[h.Type()], size: h.Type().Size()}, nil
}

// pointer is an address of a device as the transport's Memory holds it.
func pointer(at *uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(at)) }

// resolveDevice tells what memory of a device is. Its address is for reckoning,
// and for libraries that take it: this process cannot read there.
func resolveDevice(call string, b *cuda.Buffer) (memory, *Error) {
	if b == nil || b.Device() == nil {
		return memory{}, misuse(ErrBuffer, call, "the buffer is a nil *cuda.Buffer")
	}
	m := memory{Memory: transport.Memory{N: b.Bytes(), T: transport.Byte, Device: b}, elem: cudaTypes[b.Type()], size: b.Type().Size(), dev: b}
	at := b.Address()
	m.P = pointer(&at)
	return m, nil
}
