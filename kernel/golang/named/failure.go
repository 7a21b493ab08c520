package named

import (
	"cmp"
	"reflect"
	"runtime"
	"strconv"
	"strings"
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
	if !knownErrors {
		return otherError("runtime error: " + what.text(x, y))
	}
	v := reflect.New(boundsErrorType)
	*(*boundsError)(v.UnsafePointer()) = boundsError{int64(x), y, true, what}
	return v.Elem().Interface().(runtime.Error)
}

// UnsignedIndexError is BoundsError for an index that no int holds.
func UnsignedIndexError(x uint64, y int) runtime.Error {
	v := reflect.New(boundsErrorType)
	*(*boundsError)(v.UnsafePointer()) = boundsError{int64(x), y, false, BoundsIndex}
	return v.Elem().Interface().(runtime.Error)
}

// RuntimeError is the runtime.Error whose text is "runtime error: " and this one.
func RuntimeError(text string) runtime.Error {
	if !knownErrors {
		return otherError("runtime error: " + text)
	}
	v := reflect.New(errorStringType).Elem()
	v.SetString(text)
	return v.Interface().(runtime.Error)
}

// PlainError is the runtime.Error with this text alone.
func PlainError(text string) runtime.Error {
	if !knownErrors {
		return otherError(text)
	}
	v := reflect.New(plainErrorType).Elem()
	v.SetString(text)
	return v.Interface().(runtime.Error)
}

// AssertionError is the value with which compiled code panics where x.(T) fails:
// iface is the name of x's static type, and a nil concrete that of a nil x.
func AssertionError(iface string, concrete, asserted reflect.Type) runtime.Error {
	if !knownErrors {
		is := "nil"
		if concrete != nil {
			is = concrete.String()
		}
		return otherError("interface conversion: " + cmp.Or(iface, "interface") + " is " + is + ", not " + asserted.String())
	}
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

// otherError stands for the runtime's own errors where their layout is not known.
type otherError string

func (e otherError) Error() string { return string(e) }

// RuntimeError marks it as the runtime's.
func (otherError) RuntimeError() {}

// text is what the runtime says of it.
func (b Bounds) text(x, y int) string {
	list := &boundsTexts
	if x < 0 {
		list = &negativeTexts
	}
	return strings.NewReplacer("%x", strconv.Itoa(x), "%y", strconv.Itoa(y)).Replace(list[b])
}

var boundsTexts = [...]string{
	BoundsIndex:      "index out of range [%x] with length %y",
	BoundsSliceAlen:  "slice bounds out of range [:%x] with length %y",
	BoundsSliceAcap:  "slice bounds out of range [:%x] with capacity %y",
	BoundsSliceB:     "slice bounds out of range [%x:%y]",
	BoundsSlice3Alen: "slice bounds out of range [::%x] with length %y",
	BoundsSlice3Acap: "slice bounds out of range [::%x] with capacity %y",
	BoundsSlice3B:    "slice bounds out of range [:%x:%y]",
	BoundsSlice3C:    "slice bounds out of range [%x:%y:]",
	BoundsConvert:    "cannot convert slice with length %y to array or pointer to array with length %x",
}

var negativeTexts = [...]string{
	BoundsIndex:      "index out of range [%x]",
	BoundsSliceAlen:  "slice bounds out of range [:%x]",
	BoundsSliceAcap:  "slice bounds out of range [:%x]",
	BoundsSliceB:     "slice bounds out of range [%x:]",
	BoundsSlice3Alen: "slice bounds out of range [::%x]",
	BoundsSlice3Acap: "slice bounds out of range [::%x]",
	BoundsSlice3B:    "slice bounds out of range [:%x:]",
	BoundsSlice3C:    "slice bounds out of range [%x::]",
	BoundsConvert:    "", // a length
}
