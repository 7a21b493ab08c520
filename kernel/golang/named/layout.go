package named

import (
	"encoding/binary"
	"os"
	"reflect"
	"runtime"
	"sync"
	"unsafe"
)

// What package reflect's types look like in memory, as in internal/abi of Go
// 1.26. known compares it with types of this package. The runtime's errors are
// below, with their own check.

type abiType struct {
	size, ptrBytes    uintptr
	hash              uint32
	flags             uint8
	align, fieldAlign uint8
	kind              uint8
	equal             func(unsafe.Pointer, unsafe.Pointer) bool
	gcData            *byte
	str               int32 // of a name
	ptrToThis         int32 // of a type
}

const (
	flagUncommon  = 1 << 0
	flagExtraStar = 1 << 1
	flagNamed     = 1 << 2
	flagDirect    = 1 << 5 // an interface holds the value itself
)

type abiField struct {
	name   *byte
	typ    *abiType
	offset uintptr
}

type abiStruct struct {
	abiType
	pkgPath *byte
	fields  []abiField
}

type abiElem struct { // of pointers, slices and, with a direction, channels
	abiType
	elem *abiType
}

type abiChan struct {
	abiElem
	dir int
}

type abiArray struct {
	abiElem
	slice *abiType
	len   uintptr
}

type abiMap struct {
	abiType
	key, elem, group             *abiType
	hasher                       func(unsafe.Pointer, uintptr) uintptr
	groupSize, slotSize, elemOff uintptr
	flags                        uint32
}

type abiFunc struct { // its parameters and results follow, after what it has of methods
	abiType
	in, out uint16
}

type abiInterface struct {
	abiType
	pkgPath *byte
	methods []abiInterfaceMethod
}

type abiInterfaceMethod struct {
	name int32
	typ  int32
}

type abiUncommon struct {
	pkgPath        int32 // of a name
	count, exposed uint16
	methods        uint32 // offset from here
	_              uint32
}

type abiMethod struct {
	name     int32
	typ      int32 // without the receiver
	ifn, tfn int32 // with the word of an interface as the receiver; with the value
}

// addReflectOff gives a number to what a type refers to: package reflect makes
// its own types with it, and keeps it open to others (go.dev/issue/67401).
//
//go:linkname addReflectOff reflect.addReflectOff
func addReflectOff(unsafe.Pointer) int32

// getitab finds, or makes, the table by which values of a type are in an interface;
// nil if the type lacks a method. The runtime keeps it open to others, too.
//
//go:linkname getitab runtime.getitab
func getitab(inter, typ *abiType, canFail bool) unsafe.Pointer

// abiOf is what is behind a reflect.Type.
func abiOf(t reflect.Type) *abiType { return (*[2]*abiType)(unsafe.Pointer(&t))[1] }

// typeOf is the reflect.Type of a description.
func typeOf(t *abiType) reflect.Type {
	some := reflect.TypeFor[int]()
	(*[2]unsafe.Pointer)(unsafe.Pointer(&some))[1] = unsafe.Pointer(t)
	return some
}

// nameOf encodes a name as types refer to it. pkg is that of an unexported name
// of another package than what has it; "" of others.
func nameOf(name, tag, pkg string, exported, embedded bool) *byte {
	var bits byte
	if exported {
		bits |= 1
	}
	if tag != "" {
		bits |= 2
	}
	if pkg != "" {
		bits |= 4
	}
	if embedded {
		bits |= 8
	}
	text := append([]byte{bits}, varint(len(name))...)
	text = append(text, name...)
	if tag != "" {
		text = append(append(text, varint(len(tag))...), tag...)
	}
	if pkg != "" {
		text = binary.NativeEndian.AppendUint32(text, uint32(nameOff(pkg, "", false)))
	}
	return &text[0]
}

func varint(n int) []byte {
	var b []byte
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func nameOff(name, pkg string, exported bool) int32 {
	return addReflectOff(unsafe.Pointer(nameOf(name, "", pkg, exported, false)))
}

func typeOff(t reflect.Type) int32 { return addReflectOff(unsafe.Pointer(abiOf(t))) }

// sample is a type whose description is compared with what reflect says.
type sample struct {
	A uint8
	B map[string]*sample `tag:"b"`
	C [3]chan sample
}

// String is a method.
func (sample) String() string { return "sample" }

// known says whether types lie in memory as this package takes them to.
var known = sync.OnceValue(func() (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	t := reflect.TypeFor[sample]()
	s := (*abiStruct)(unsafe.Pointer(abiOf(t)))
	u := (*struct {
		abiStruct
		u abiUncommon
	})(unsafe.Pointer(s))
	a := reflect.TypeFor[[3]chan sample]()
	array := (*abiArray)(unsafe.Pointer(abiOf(a)))
	channel := (*abiChan)(unsafe.Pointer(array.elem))
	m := reflect.TypeFor[map[string]*sample]()
	table := (*abiMap)(unsafe.Pointer(abiOf(m)))
	return s.size == t.Size() && int(s.align) == t.Align() && reflect.Kind(s.kind) == t.Kind() &&
		s.flags&(flagUncommon|flagNamed|flagDirect) == flagUncommon|flagNamed && u.u.count == 1 && u.u.exposed == 1 &&
		len(s.fields) == 3 && s.fields[1].offset == t.Field(1).Offset && typeOf(s.fields[1].typ) == m &&
		typeOf(&channel.abiType) == a.Elem() && typeOf(channel.elem) == t && channel.dir == int(reflect.BothDir) &&
		typeOf(array.slice) == reflect.SliceOf(a.Elem()) && array.len == 3 &&
		typeOf(table.key) == m.Key() && typeOf(table.elem) == m.Elem() && table.elemOff == 16 &&
		abiOf(reflect.PointerTo(t)).flags&flagDirect != 0 && knownInterfaces()
})

// knownInterfaces is known for interfaces, their tables and functions.
func knownInterfaces() bool {
	t := reflect.TypeFor[interface{ String() string }]()
	i := (*abiInterface)(unsafe.Pointer(abiOf(t)))
	f := reflect.TypeFor[func(sample, int) string]()
	sig := (*struct {
		abiFunc
		types [3]*abiType
	})(unsafe.Pointer(abiOf(f)))
	var s interface{ String() string } = sample{}
	tab := (*[2]unsafe.Pointer)(unsafe.Pointer(&s))[0]
	return reflect.Kind(i.kind) == reflect.Interface && len(i.methods) == 1 && i.methods[0].typ != 0 &&
		sig.in == 2 && sig.out == 1 && sig.flags&flagUncommon == 0 && typeOf(sig.types[0]) == f.In(0) && typeOf(sig.types[2]) == f.Out(0) &&
		getitab(&i.abiType, abiOf(reflect.TypeFor[sample]()), true) == tab && getitab(&i.abiType, abiOf(f), true) == nil
}

// The runtime's own errors, as in runtime/error.go of Go 1.26.
type (
	boundsError struct {
		x      int64
		y      int
		signed bool
		code   Bounds
	}
	assertionError struct {
		iface, concrete, asserted *abiType
		missing                   string
	}
)

var (
	tooLarge        = len(os.Args) + 3
	boundsErrorType = reflect.TypeOf(thrown(func() { _ = os.Args[tooLarge] }))
	errorStringType = reflect.TypeOf(thrown(func() { _ = *(*int)(nil) }))
	plainErrorType  = reflect.TypeOf(thrown(func() { close((chan int)(nil)) }))
)

// thrown is what do panics with.
func thrown(do func()) (value any) {
	defer func() { value = recover() }()
	do()
	return nil
}

// knownErrors says whether the runtime's errors lie in memory as they are above.
var knownErrors = func() (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return known() && knownBounds(boundsErrorType) && knownAssertion(reflect.TypeFor[runtime.TypeAssertionError]()) &&
		knownText(errorStringType) && knownText(plainErrorType)
}()

func knownBounds(t reflect.Type) bool {
	if !sameFields(t, reflect.TypeFor[boundsError]()) {
		return false
	}
	p := reflect.New(t)
	p.Elem().Set(reflect.ValueOf(thrown(func() { _ = os.Args[tooLarge] })))
	return *(*boundsError)(p.UnsafePointer()) == boundsError{int64(tooLarge), len(os.Args), true, BoundsIndex}
}

func knownAssertion(t reflect.Type) bool {
	if !sameFields(t, reflect.TypeFor[assertionError]()) {
		return false
	}
	e, ok := thrown(func() { _ = any(sample{}).(interface{ Missing() }) }).(*runtime.TypeAssertionError)
	f, ok2 := thrown(func() { _ = any(sample{}).(int) }).(*runtime.TypeAssertionError)
	if !ok || !ok2 {
		return false
	}
	x, y := (*assertionError)(unsafe.Pointer(e)), (*assertionError)(unsafe.Pointer(f))
	return typeOf(x.concrete) == reflect.TypeFor[sample]() && x.missing == "Missing" &&
		typeOf(y.iface) == reflect.TypeFor[any]() && typeOf(y.concrete) == reflect.TypeFor[sample]() && typeOf(y.asserted) == reflect.TypeFor[int]()
}

// knownText says whether an error is a string.
func knownText(t reflect.Type) bool {
	return t.Kind() == reflect.String && t.Implements(reflect.TypeFor[runtime.Error]())
}

// sameFields says whether two structs have fields of the same kinds in the same places.
func sameFields(a, b reflect.Type) bool {
	if a.Kind() != reflect.Struct || a.Size() != b.Size() || a.NumField() != b.NumField() {
		return false
	}
	for i := range a.NumField() {
		x, y := a.Field(i), b.Field(i)
		if x.Type.Kind() != y.Type.Kind() || x.Offset != y.Offset {
			return false
		}
	}
	return true
}
