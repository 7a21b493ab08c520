// Package linked has the functions of the runtime and of package reflect that
// modules link to by name (go:linkname), as far as Go keeps them for that and
// interpreted code can call them. What holds a goroutine to its thread is left
// out: an interpreted function may wait anywhere.
package linked

import (
	"reflect"
	"strings"
	"unsafe"
)

// Path is the import path under which interpreted packages get the functions.
const Path = "gocuda/linked"

// A Slice is a slice as the runtime knows it.
type Slice struct {
	Data     unsafe.Pointer
	Len, Cap int
}

// Symbols is the package in the form that cells import.
func Symbols() map[string]reflect.Value {
	symbols := map[string]reflect.Value{"Slice": reflect.ValueOf((*Slice)(nil))}
	for target, f := range functions {
		symbols[name(target)] = reflect.ValueOf(f)
	}
	return symbols
}

// Function finds the function that is linked to as target: the name under which
// the package exports it, and its type.
func Function(target string) (exported string, typ reflect.Type, ok bool) {
	f, ok := functions[target]
	if !ok {
		return "", nil, false
	}
	return name(target), reflect.TypeOf(f), true
}

func name(target string) string { return "X_" + strings.ReplaceAll(target, ".", "_") }

// functions are the functions by the names under which they are linked to.
var functions = map[string]any{
	"runtime.cheaprand":            cheaprand,
	"runtime.cheaprandn":           cheaprandn,
	"runtime.cputicks":             cputicks,
	"runtime.fastrand":             fastrand,
	"runtime.fastrand64":           fastrand64,
	"runtime.fastrandn":            fastrandn,
	"runtime.mallocgc":             mallocgc,
	"runtime.memclrNoHeapPointers": memclrNoHeapPointers,
	"runtime.memequal":             memequal,
	"runtime.memhash":              memhash,
	"runtime.memmove":              memmove,
	"runtime.nanotime":             nanotime,
	"runtime.nilinterhash":         nilinterhash,
	"runtime.noescape":             func(p unsafe.Pointer) unsafe.Pointer { return p },
	"runtime.procyield":            procyield,
	"runtime.rand":                 rand,
	"runtime.stringHash":           stringHash,
	"runtime.strhash":              strhash,
	"runtime.typedmemmove":         typedmemmove,
	"runtime.typehash":             typehash,

	"reflect.ifaceE2I":        ifaceE2I,
	"reflect.makemap":         makemap,
	"reflect.mapaccess":       mapaccess,
	"reflect.mapassign":       mapassign,
	"reflect.mapdelete":       mapdelete,
	"reflect.mapiterelem":     mapiterelem,
	"reflect.mapiterinit":     mapiterinit,
	"reflect.mapiterkey":      mapiterkey,
	"reflect.mapiternext":     mapiternext,
	"reflect.maplen":          maplen,
	"reflect.memmove":         memmove,
	"reflect.resolveTypeOff":  resolveTypeOff,
	"reflect.typedmemclr":     typedmemclr,
	"reflect.typedmemmove":    typedmemmove,
	"reflect.typedslicecopy":  typedslicecopy,
	"reflect.typelinks":       typelinks,
	"reflect.unsafe_New":      unsafeNew,
	"reflect.unsafe_NewArray": unsafeNewArray,
}

//go:linkname cheaprand runtime.cheaprand
func cheaprand() uint32

//go:linkname cheaprandn runtime.cheaprandn
func cheaprandn(n uint32) uint32

//go:linkname cputicks runtime.cputicks
func cputicks() int64

//go:linkname fastrand runtime.fastrand
func fastrand() uint32

//go:linkname fastrand64 runtime.fastrand64
func fastrand64() uint64

//go:linkname fastrandn runtime.fastrandn
func fastrandn(n uint32) uint32

//go:linkname mallocgc runtime.mallocgc
func mallocgc(size uintptr, typ unsafe.Pointer, zero bool) unsafe.Pointer

//go:linkname memclrNoHeapPointers runtime.memclrNoHeapPointers
func memclrNoHeapPointers(p unsafe.Pointer, n uintptr)

//go:linkname memequal runtime.memequal
func memequal(a, b unsafe.Pointer, n uintptr) bool

//go:linkname memhash runtime.memhash
func memhash(p unsafe.Pointer, seed, n uintptr) uintptr

//go:linkname memmove runtime.memmove
func memmove(to, from unsafe.Pointer, n uintptr)

//go:linkname nanotime runtime.nanotime
func nanotime() int64

//go:linkname nilinterhash runtime.nilinterhash
func nilinterhash(p unsafe.Pointer, seed uintptr) uintptr

//go:linkname procyield runtime.procyield
func procyield(cycles uint32)

//go:linkname rand runtime.rand
func rand() uint64

//go:linkname stringHash runtime.stringHash
func stringHash(s string, seed uintptr) uintptr

//go:linkname strhash runtime.strhash
func strhash(p unsafe.Pointer, seed uintptr) uintptr

//go:linkname typehash runtime.typehash
func typehash(typ, p unsafe.Pointer, seed uintptr) uintptr

//go:linkname ifaceE2I reflect.ifaceE2I
func ifaceE2I(typ unsafe.Pointer, src any, dst unsafe.Pointer)

//go:linkname makemap reflect.makemap
func makemap(typ unsafe.Pointer, n int) unsafe.Pointer

//go:linkname mapaccess reflect.mapaccess
func mapaccess(typ, m, key unsafe.Pointer) unsafe.Pointer

//go:linkname mapassign reflect.mapassign
func mapassign(typ, m, key, value unsafe.Pointer)

//go:linkname mapdelete reflect.mapdelete
func mapdelete(typ, m, key unsafe.Pointer)

//go:linkname mapiterelem reflect.mapiterelem
func mapiterelem(it unsafe.Pointer) unsafe.Pointer

//go:linkname mapiterinit reflect.mapiterinit
func mapiterinit(typ, m, it unsafe.Pointer)

//go:linkname mapiterkey reflect.mapiterkey
func mapiterkey(it unsafe.Pointer) unsafe.Pointer

//go:linkname mapiternext reflect.mapiternext
func mapiternext(it unsafe.Pointer)

//go:linkname maplen reflect.maplen
func maplen(m unsafe.Pointer) int

//go:linkname resolveTypeOff reflect.resolveTypeOff
func resolveTypeOff(typ unsafe.Pointer, off int32) unsafe.Pointer

//go:linkname typedmemclr reflect.typedmemclr
func typedmemclr(typ, p unsafe.Pointer)

//go:linkname typedmemmove reflect.typedmemmove
func typedmemmove(typ, dst, src unsafe.Pointer)

//go:linkname typedslicecopy reflect.typedslicecopy
func typedslicecopy(typ unsafe.Pointer, dst, src Slice) int

//go:linkname typelinks reflect.typelinks
func typelinks() (sections []unsafe.Pointer, offsets [][]int32)

//go:linkname unsafeNew reflect.unsafe_New
func unsafeNew(typ unsafe.Pointer) unsafe.Pointer

//go:linkname unsafeNewArray reflect.unsafe_NewArray
func unsafeNewArray(typ unsafe.Pointer, n int) unsafe.Pointer
