package cuda

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// Type is the type of a buffer's elements.
type Type uint8

// The element types. Float16 and BFloat16 are []uint16 on the host; see
// [ToFloat16] and [FromFloat16].
const (
	Uint8 Type = iota + 1
	Uint16
	Uint32
	Uint64
	Int8
	Int16
	Int32
	Int64
	Float16
	BFloat16
	Float32
	Float64
	Complex64
	Complex128
)

var typeInfo = [...]struct {
	name string
	size int
}{
	Uint8: {"Uint8", 1}, Uint16: {"Uint16", 2}, Uint32: {"Uint32", 4}, Uint64: {"Uint64", 8},
	Int8: {"Int8", 1}, Int16: {"Int16", 2}, Int32: {"Int32", 4}, Int64: {"Int64", 8},
	Float16: {"Float16", 2}, BFloat16: {"BFloat16", 2}, Float32: {"Float32", 4}, Float64: {"Float64", 8},
	Complex64: {"Complex64", 8}, Complex128: {"Complex128", 16},
}

func (t Type) valid() bool { return t >= Uint8 && t <= Complex128 }

// Size is an element's size in bytes.
func (t Type) Size() int {
	if !t.valid() {
		return 0
	}
	return typeInfo[t].size
}

func (t Type) String() string {
	if !t.valid() {
		return fmt.Sprintf("Type(%d)", uint8(t))
	}
	return typeInfo[t].name
}

// inGo is the type that elements have in Go.
func (t Type) inGo() string {
	if t == Float16 || t == BFloat16 {
		t = Uint16
	}
	return strings.ToLower(t.String())
}

// holds reports whether host elements of type h may be copied to and from
// elements of type t: the same type, or the 16 bits of a half.
func (t Type) holds(h Type) bool {
	return t == h || h == Uint16 && (t == Float16 || t == BFloat16)
}

// slice describes a Go slice of numbers: where it is, how many, of what type. Structs,
// arrays and bools are bytes there. ok is false for anything else.
func slice(v any) (p unsafe.Pointer, n int, t Type, ok bool) {
	switch s := v.(type) {
	case []float32:
		return unsafe.Pointer(unsafe.SliceData(s)), len(s), Float32, true
	case []float64:
		return unsafe.Pointer(unsafe.SliceData(s)), len(s), Float64, true
	case []byte:
		return unsafe.Pointer(unsafe.SliceData(s)), len(s), Uint8, true
	case []int32:
		return unsafe.Pointer(unsafe.SliceData(s)), len(s), Int32, true
	case []uint32:
		return unsafe.Pointer(unsafe.SliceData(s)), len(s), Uint32, true
	case []int64:
		return unsafe.Pointer(unsafe.SliceData(s)), len(s), Int64, true
	case []uint64:
		return unsafe.Pointer(unsafe.SliceData(s)), len(s), Uint64, true
	case []int:
		return unsafe.Pointer(unsafe.SliceData(s)), len(s), Int64, unsafe.Sizeof(int(0)) == 8
	case []uint:
		return unsafe.Pointer(unsafe.SliceData(s)), len(s), Uint64, unsafe.Sizeof(uint(0)) == 8
	case []int16:
		return unsafe.Pointer(unsafe.SliceData(s)), len(s), Int16, true
	case []uint16:
		return unsafe.Pointer(unsafe.SliceData(s)), len(s), Uint16, true
	case []int8:
		return unsafe.Pointer(unsafe.SliceData(s)), len(s), Int8, true
	case []complex64:
		return unsafe.Pointer(unsafe.SliceData(s)), len(s), Complex64, true
	case []complex128:
		return unsafe.Pointer(unsafe.SliceData(s)), len(s), Complex128, true
	}
	// Slices of named types, such as []Celsius.
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice {
		return nil, 0, 0, false
	}
	elem := r.Type().Elem()
	if t, ok = kindTypes[elem.Kind()]; ok {
		return r.UnsafePointer(), r.Len(), t, elem.Size() == uintptr(t.Size())
	}
	return r.UnsafePointer(), r.Len() * int(elem.Size()), Uint8, !hasPointers(elem)
}

var kindTypes = map[reflect.Kind]Type{
	reflect.Int: Int64, reflect.Uint: Uint64,
	reflect.Uint8: Uint8, reflect.Uint16: Uint16, reflect.Uint32: Uint32, reflect.Uint64: Uint64,
	reflect.Int8: Int8, reflect.Int16: Int16, reflect.Int32: Int32, reflect.Int64: Int64,
	reflect.Float32: Float32, reflect.Float64: Float64, reflect.Complex64: Complex64, reflect.Complex128: Complex128,
}
