// Package plain has what the generic parts of the standard library need and
// cannot say in interpreted code: cells do not see it.
package plain

import (
	"database/sql"
	"hash/maphash"
	"reflect"
	"runtime"
	"sync"
	"unsafe"
	"weak"
)

// Symbols is the package as the interpreter takes it.
func Symbols() map[string]reflect.Value {
	return map[string]reflect.Value{
		"AddCleanup": reflect.ValueOf(AddCleanup),
		"Assign":     reflect.ValueOf(Assign),
		"Canonical":  reflect.ValueOf(Canonical),
		"HashOf":     reflect.ValueOf(HashOf),
		"MakeWeak":   reflect.ValueOf(MakeWeak),
		"Place":      reflect.ValueOf((*Place)(nil)),
		"PlaceAt":    reflect.ValueOf(PlaceAt),
		"Strong":     reflect.ValueOf(Strong),
		"WriteHash":  reflect.ValueOf(WriteHash),
		"Weak":       reflect.ValueOf((*Weak)(nil)),
	}
}

// AddCleanup has f, a function of one parameter, called with arg some time after nothing
// refers to *p any more. It makes the call: a function made where ptr is would keep it.
func AddCleanup(p unsafe.Pointer, f, arg any) runtime.Cleanup {
	fun := reflect.ValueOf(f)
	given := reflect.New(fun.Type().In(0)).Elem()
	if arg != nil {
		given.Set(reflect.ValueOf(arg))
	}
	return runtime.AddCleanup((*byte)(p), func(in []reflect.Value) { fun.Call(in) }, []reflect.Value{given})
}

// Assign converts a value of a database for *dest, as sql.Rows.Scan does.
func Assign(dest, value any) error { return convertAssign(dest, value) }

//go:linkname convertAssign database/sql.convertAssign
func convertAssign(dest, src any) error

var _ sql.Scanner // package sql is linked

var canonical sync.Map

// Canonical returns the pointer that it was first given for a value.
func Canonical(value any, pointer unsafe.Pointer) unsafe.Pointer {
	p, _ := canonical.LoadOrStore(value, pointer)
	return p.(unsafe.Pointer)
}

// Weak is a weak pointer to what is of any type.
type Weak struct{ p weak.Pointer[byte] }

// MakeWeak makes a weak pointer.
func MakeWeak(p unsafe.Pointer) Weak { return Weak{weak.Make((*byte)(p))} }

// Strong returns the pointer, or nil if nothing else referred to its target.
func Strong(w Weak) unsafe.Pointer { return unsafe.Pointer(w.p.Value()) }

// HashOf is maphash.Comparable for a value in an interface.
func HashOf(seed maphash.Seed, v any) uint64 { return maphash.Comparable(seed, v) }

// WriteHash is maphash.WriteComparable for a value in an interface.
func WriteHash(h *maphash.Hash, v any) { maphash.WriteComparable(h, v) }
