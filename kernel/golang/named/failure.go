package named

import (
	"os"
	"reflect"
	"runtime"
	"sync"
	"unsafe"
)

// Bounds says which index or bound was wrong, in the order of internal/abi's
// BoundsErrorCode.
type Bounds uint8

// What the runtime tells apart. The first number is the wrong one, the second what
// it was compared with.
const (
	BoundsIndex      Bounds = iota // s[x], len(s) is y
	BoundsSliceAlen                // s[?:x], len(s) is y, of an array or a string
	BoundsSliceAcap                // s[?:x], cap(s) is y
	BoundsSliceB                   // s[x:y]
	BoundsSlice3Alen               // s[::x], len(s) is y
	BoundsSlice3Acap               // s[::x], cap(s) is y
	BoundsSlice3B                  // s[:x:y]
	BoundsSlice3C                  // s[x:y:]
	BoundsConvert                  // (*[x]T)(s), len(s) is y
)

// BoundsError is the value with which compiled code panics for a wrong index.
func BoundsError(what Bounds, x, y int) runtime.Error {
	v := reflect.New(boundsErrorType)
	*(*boundsError)(v.UnsafePointer()) = boundsError{int64(x), y, true, what}
	return v.Elem().Interface().(runtime.Error)
}

// RuntimeError is the runtime.Error whose text is "runtime error: " and this one.
func RuntimeError(text string) runtime.Error {
	v := reflect.New(errorStringType).Elem()
	v.SetString(text)
	return v.Interface().(runtime.Error)
}

// PlainError is the runtime.Error with this text alone.
func PlainError(text string) runtime.Error {
	v := reflect.New(plainErrorType).Elem()
	v.SetString(text)
	return v.Interface().(runtime.Error)
}

// AssertionError is the value with which compiled code panics where x.(T) fails:
// iface is the name of x's static type, and a nil concrete that of a nil x.
func AssertionError(iface string, concrete, asserted reflect.Type) runtime.Error {
	e := assertionError{asserted: abiOf(asserted)}
	if iface != "" {
		known, _ := interfaceNames.LoadOrStore(iface, &abiInterface{abiType: abiType{kind: uint8(reflect.Interface), str: nameOff(iface, "", true)}})
		e.iface = &known.(*abiInterface).abiType
	}
	if concrete != nil {
		e.concrete = abiOf(concrete)
	}
	return (*runtime.TypeAssertionError)(unsafe.Pointer(&e))
}

// interfaceNames are descriptions that say no more than a name.
var interfaceNames sync.Map

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
	boundsErrorType = thrown(func() { _ = os.Args[len(os.Args)] })
	errorStringType = thrown(func() { _ = *(*int)(nil) })
	plainErrorType  = thrown(func() { close((chan int)(nil)) })
)

// thrown is the type of what do panics with.
func thrown(do func()) (t reflect.Type) {
	defer func() { t = reflect.TypeOf(recover()) }()
	do()
	return nil
}
