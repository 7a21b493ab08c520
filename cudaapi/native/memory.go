package native

import (
	"fmt"
	"go/types"
	"reflect"
	"unsafe"

	"gocuda/cudaapi/gokernel"
)

// Compiled code asks for memory in the middle of a call (gokernel/header/memory.h): a
// call back into Go, which may let the collector run. Go's collector knows nothing of
// C's stack, so all that C has been given since the call began is kept: asking keeps
// it, and so does the frame that the call passes. When much is kept, what no variable of C
// points to is let go: functions that ask write down what their variables have (gcroots.go
// of gokernel).
//
// C stores a pointer by itself where none was: what it stores is reachable from what is
// kept or from the frame, by ways that only Go's own stores cut off, which tell the
// collector. Where a pointer was, it asks, so that the old one is reported and kept.

// The questions.
const (
	askMake = iota
	askGrow
	askStore
	askOutside
)

// shape is a type as the collector sees it.
type shape struct {
	typ      unsafe.Pointer // *runtime._type
	size     uintptr
	pointers []uintptr // where they are in it
	zero     unsafe.Pointer
}

// The runtime keeps these for packages like this one.
//
//go:linkname newarray runtime.newarray
func newarray(typ unsafe.Pointer, n int) unsafe.Pointer

//go:linkname growslice runtime.growslice
func growslice(old unsafe.Pointer, newLen, oldCap, num int, typ unsafe.Pointer) struct {
	ptr      unsafe.Pointer
	len, cap int
}

//go:linkname typedmemmove runtime.typedmemmove
func typedmemmove(typ, dst, src unsafe.Pointer)

// crosscall2 is the address of the C function by which C calls Go: see memory.s.
var crosscall2 uintptr

// answerPC is the address of answer.
var answerPC = reflect.ValueOf(answer).Pointer()

// So much is kept without a look at C's variables.
var (
	fewKept  = 1 << 14           // pointers
	fewBytes = uintptr(16 << 20) // of what was given
)

// kept is what compiled code was given in a call, and must not be freed.
type kept struct {
	list  []unsafe.Pointer
	most  int     // how long the list may get
	bytes uintptr // given since the list was last made shorter
}

// end lets go of everything. The stores are the runtime's: they tell the collector.
func (k *kept) end() {
	if len(k.list) > 0 {
		clear(k.list)
		*k = kept{list: k.list[:0]}
		if cap(k.list) > fewKept {
			k.list = nil
		}
	}
}

func (k *kept) add(p unsafe.Pointer, bytes uintptr) {
	k.list = append(k.list, p)
	k.bytes += bytes
}

// isFull says whether it is time to look what C still has.
func (k *kept) isFull() bool { return len(k.list) >= max(k.most, fewKept) || k.bytes >= fewBytes }

// pointer is a word that C wrote.
func pointer(word *uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(word)) }

// answer answers what the record asks. C calls it.
func answer(r *record) {
	if r.what == askOutside {
		if r.kept.isFull() {
			r.letGo()
		}
		r.callOutside()
		return
	}
	s, k := &r.shapes[r.typ], &r.kept
	var old, to, from unsafe.Pointer // C need not have them any more
	switch r.what {
	case askGrow:
		old = pointer(&r.in[0])
	case askStore:
		to, from = pointer(&r.in[0]), pointer(&r.in[1])
	}
	if k.isFull() {
		r.letGo()
		if to != nil { // C may have been given that just before
			k.add(to, 0)
		}
	}
	switch r.what {
	case askMake:
		p := newarray(s.typ, int(r.in[0]))
		k.add(p, r.in[0]*s.size)
		r.out[0] = uintptr(p)
	case askGrow:
		grown := growslice(old, int(r.in[1]), int(r.in[2]), int(r.in[3]), s.typ)
		k.add(grown.ptr, uintptr(grown.cap)*s.size)
		r.out[0], r.out[1] = uintptr(grown.ptr), uintptr(grown.cap)
	case askStore:
		s.store(k, to, from, int(r.in[2]))
	}
}

// store copies values over others, which are kept: C may have them.
func (s *shape) store(k *kept, to, from unsafe.Pointer, n int) {
	for i := range n {
		s.keep(k, unsafe.Add(to, uintptr(i)*s.size))
	}
	switch {
	case from == nil:
		for i := range n {
			typedmemmove(s.typ, unsafe.Add(to, uintptr(i)*s.size), s.zero)
		}
	case uintptr(to) > uintptr(from):
		for i := n - 1; i >= 0; i-- {
			typedmemmove(s.typ, unsafe.Add(to, uintptr(i)*s.size), unsafe.Add(from, uintptr(i)*s.size))
		}
	default:
		for i := range n {
			typedmemmove(s.typ, unsafe.Add(to, uintptr(i)*s.size), unsafe.Add(from, uintptr(i)*s.size))
		}
	}
}

// keep keeps what a value points to.
func (s *shape) keep(k *kept, at unsafe.Pointer) {
	for _, o := range s.pointers {
		if p := *(*unsafe.Pointer)(unsafe.Add(at, o)); p != nil {
			k.add(p, 0)
		}
	}
}

// letGo lets go of all but what compiled code has in variables, which its functions have
// put into their holders.
func (r *record) letGo() {
	k := &r.kept
	var list []unsafe.Pointer
	for h := pointer(&r.held); h != nil; h = *(*unsafe.Pointer)(h) {
		words, refs, at := *(*uintptr)(unsafe.Add(h, 8)), *(*uintptr)(unsafe.Add(h, 16)), unsafe.Add(h, 24)
		note := func(at unsafe.Pointer) {
			if p := *(*unsafe.Pointer)(at); p != nil {
				list = append(list, p)
			}
		}
		for range words {
			note(at)
			at = unsafe.Add(at, 8)
		}
		for range refs {
			v, s := *(*unsafe.Pointer)(at), &r.shapes[*(*uintptr)(unsafe.Add(at, 8))]
			for _, o := range s.pointers {
				note(unsafe.Add(v, o))
			}
			at = unsafe.Add(at, 16)
		}
	}
	clear(k.list) // the collector is told
	*k = kept{list: list, most: 2 * len(list)}
}

// newShape is a type as the collector sees it: pointers to anything are the same.
func newShape(t types.Type) shape {
	like := shapeOf(t)
	s := shape{typ: typeWord(like), size: like.Size(), zero: reflect.New(like).UnsafePointer()}
	s.find(like, 0)
	return s
}

// typeWord is the address of a type.
func typeWord(t reflect.Type) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1] }

// find notes where the pointers of a type are.
func (s *shape) find(t reflect.Type, at uintptr) {
	switch t.Kind() {
	case reflect.UnsafePointer, reflect.String, reflect.Slice, reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan:
		s.pointers = append(s.pointers, at)
	case reflect.Interface:
		s.pointers = append(s.pointers, at, at+unsafe.Sizeof(uintptr(0)))
	case reflect.Array:
		for i := range t.Len() {
			s.find(t.Elem(), at+uintptr(i)*t.Elem().Size())
		}
	case reflect.Struct:
		for i := range t.NumField() {
			s.find(t.Field(i).Type, at+t.Field(i).Offset)
		}
	}
}

func shapeOf(t types.Type) reflect.Type {
	if like := gokernel.Layout(t); like != nil {
		return like
	}
	switch u := t.Underlying().(type) {
	case *types.Interface:
		if u.Empty() {
			return reflect.TypeFor[any]()
		}
		return reflect.TypeFor[error]() // as one with any methods
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return reflect.TypeFor[unsafe.Pointer]()
	case *types.Slice:
		return reflect.TypeFor[[]byte]()
	case *types.Array:
		return reflect.ArrayOf(int(u.Len()), shapeOf(u.Elem()))
	case *types.Struct:
		fields := make([]reflect.StructField, u.NumFields())
		for i := range fields {
			fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: shapeOf(u.Field(i).Type())}
		}
		return reflect.StructOf(fields)
	case *types.Basic:
		if like := basicShapes[u.Kind()]; like != nil {
			return like
		}
	}
	panic(fmt.Sprintf("no shape of %v", t))
}

var basicShapes = map[types.BasicKind]reflect.Type{
	types.UnsafePointer: reflect.TypeFor[unsafe.Pointer](), types.Uintptr: reflect.TypeFor[uintptr](),
	types.Bool: reflect.TypeFor[bool](), types.String: reflect.TypeFor[string](),
	types.Int: reflect.TypeFor[int](), types.Int8: reflect.TypeFor[int8](), types.Int16: reflect.TypeFor[int16](), types.Int32: reflect.TypeFor[int32](), types.Int64: reflect.TypeFor[int64](),
	types.Uint: reflect.TypeFor[uint](), types.Uint8: reflect.TypeFor[uint8](), types.Uint16: reflect.TypeFor[uint16](), types.Uint32: reflect.TypeFor[uint32](), types.Uint64: reflect.TypeFor[uint64](),
	types.Float32: reflect.TypeFor[float32](), types.Float64: reflect.TypeFor[float64](), types.Complex64: reflect.TypeFor[complex64](), types.Complex128: reflect.TypeFor[complex128](),
}
