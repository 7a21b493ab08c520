package native

import (
	"reflect"
	"unsafe"

	"gocuda/cudaapi/gokernel"
)

// Compiled code uses Go's maps by the runtime's own functions, so panics, the order of
// loops, and the end of a program with concurrent writes are Go's. A map does not know its
// type: what is given here is one whose keys have the same hash, and whose values lie in
// memory in the same way.
//
// Where the last way to something may be cut, that is kept, as C may have it: a value
// that is replaced or deleted. Keys that C has come from loops, which keep them.

//go:linkname makemap runtime.makemap
func makemap(typ unsafe.Pointer, hint int, m unsafe.Pointer) unsafe.Pointer

//go:linkname mapaccess2 runtime.mapaccess2
func mapaccess2(typ, m, key unsafe.Pointer) (unsafe.Pointer, bool)

//go:linkname mapaccess2_fast64 runtime.mapaccess2_fast64
func mapaccess2_fast64(typ, m unsafe.Pointer, key uint64) (unsafe.Pointer, bool)

//go:linkname mapaccess2_faststr runtime.mapaccess2_faststr
func mapaccess2_faststr(typ, m unsafe.Pointer, key string) (unsafe.Pointer, bool)

//go:linkname mapassign runtime.mapassign
func mapassign(typ, m, key unsafe.Pointer) unsafe.Pointer

//go:linkname mapassign_fast64 runtime.mapassign_fast64
func mapassign_fast64(typ, m unsafe.Pointer, key uint64) unsafe.Pointer

//go:linkname mapassign_faststr runtime.mapassign_faststr
func mapassign_faststr(typ, m unsafe.Pointer, key string) unsafe.Pointer

//go:linkname mapdelete runtime.mapdelete
func mapdelete(typ, m, key unsafe.Pointer)

// mostInPlace is the most bytes of a value that lies in the map itself: the quick functions
// are for such maps only.
const mostInPlace = 128

// mapShape is a type of maps.
type mapShape struct {
	like      reflect.Type
	typ       unsafe.Pointer
	key, elem shape

	find  func(m, key unsafe.Pointer) (unsafe.Pointer, bool)
	place func(m, key unsafe.Pointer) unsafe.Pointer
}

func newMapShape(h gokernel.HostCall) *mapShape {
	s := &mapShape{like: reflect.MapOf(shapeOf(h.Map.Key()), shapeOf(h.Map.Elem())), key: newShape(h.Map.Key()), elem: newShape(h.Map.Elem())}
	typ := typeWord(s.like)
	s.typ = typ
	switch k := s.like.Key().Kind(); {
	case s.elem.size > mostInPlace:
		s.find = func(m, key unsafe.Pointer) (unsafe.Pointer, bool) { return mapaccess2(typ, m, key) }
		s.place = func(m, key unsafe.Pointer) unsafe.Pointer { return mapassign(typ, m, key) }
	case k == reflect.String:
		s.find = func(m, key unsafe.Pointer) (unsafe.Pointer, bool) {
			return mapaccess2_faststr(typ, m, *(*string)(key))
		}
		s.place = func(m, key unsafe.Pointer) unsafe.Pointer { return mapassign_faststr(typ, m, *(*string)(key)) }
	case k == reflect.Int || k == reflect.Int64 || k == reflect.Uint || k == reflect.Uint64:
		s.find = func(m, key unsafe.Pointer) (unsafe.Pointer, bool) {
			return mapaccess2_fast64(typ, m, *(*uint64)(key))
		}
		s.place = func(m, key unsafe.Pointer) unsafe.Pointer { return mapassign_fast64(typ, m, *(*uint64)(key)) }
	default:
		s.find = func(m, key unsafe.Pointer) (unsafe.Pointer, bool) { return mapaccess2(typ, m, key) }
		s.place = func(m, key unsafe.Pointer) unsafe.Pointer { return mapassign(typ, m, key) }
	}
	return s
}

// value is the map at p, for package reflect.
func (s *mapShape) value(p *unsafe.Pointer) reflect.Value {
	return reflect.NewAt(s.like, unsafe.Pointer(p)).Elem()
}

// grows notes that a map got a value, or may have.
func (s *mapShape) grows(k *kept) { k.bytes += s.key.size + s.elem.size }

// iteration is a loop over a map.
type iteration struct {
	m  unsafe.Pointer
	at reflect.MapIter
}

// newMapUse is what a use of a map does, with the frame of gokernel's map functions.
func newMapUse(h gokernel.HostCall) outside {
	s := newMapShape(h)
	var at []uintptr
	for f := range frameOf(h).Fields() {
		at = append(at, f.Offset)
	}
	results := at[len(h.Params):]
	field := func(frame unsafe.Pointer, i int) unsafe.Pointer { return unsafe.Add(frame, at[i]) }
	mapOf := func(frame unsafe.Pointer) unsafe.Pointer { return *(*unsafe.Pointer)(frame) }
	switch h.Name {
	case gokernel.MapMake:
		return func(r *record, frame unsafe.Pointer) {
			n := *(*int)(frame)
			m := makemap(s.typ, n, nil)
			r.kept.add(m, uintptr(max(n, 1))*(s.key.size+s.elem.size))
			*(*unsafe.Pointer)(field(frame, 1)) = m
		}
	case gokernel.MapGet:
		value, ok := uintptr(0), results[len(results)-1]
		sized := len(results) == 2
		if sized {
			value = results[0]
		}
		return func(_ *record, frame unsafe.Pointer) {
			p, found := s.find(mapOf(frame), unsafe.Add(frame, at[1]))
			*(*bool)(unsafe.Add(frame, ok)) = found
			if found && sized {
				typedmemmove(s.elem.typ, unsafe.Add(frame, value), p)
			}
		}
	case gokernel.MapSet:
		sized := len(at) == 3
		return func(r *record, frame unsafe.Pointer) {
			p := s.place(mapOf(frame), field(frame, 1))
			s.grows(&r.kept)
			if sized {
				s.elem.store(&r.kept, p, field(frame, 2), 1)
			}
		}
	case gokernel.MapPlace:
		return func(r *record, frame unsafe.Pointer) {
			*(*unsafe.Pointer)(field(frame, 2)) = s.place(mapOf(frame), field(frame, 1))
			s.grows(&r.kept)
		}
	case gokernel.MapDelete:
		return func(r *record, frame unsafe.Pointer) {
			m, key := mapOf(frame), field(frame, 1)
			if len(s.elem.pointers) > 0 {
				if p, found := s.find(m, key); found {
					s.elem.keep(&r.kept, p)
				}
			}
			mapdelete(s.typ, m, key)
		}
	case gokernel.MapClear:
		return func(r *record, frame unsafe.Pointer) {
			m := mapOf(frame)
			v := s.value(&m)
			if len(s.elem.pointers) > 0 {
				elem := reflect.New(s.like.Elem())
				for it := v.MapRange(); it.Next(); {
					elem.Elem().SetIterValue(it)
					s.elem.keep(&r.kept, elem.UnsafePointer())
				}
			}
			v.Clear()
		}
	case gokernel.MapRange:
		return func(r *record, frame unsafe.Pointer) {
			it := &iteration{m: mapOf(frame)}
			it.at.Reset(s.value(&it.m))
			r.kept.add(unsafe.Pointer(it), unsafe.Sizeof(*it))
			*(*unsafe.Pointer)(field(frame, 1)) = unsafe.Pointer(it)
		}
	case gokernel.MapNext:
		return func(r *record, frame unsafe.Pointer) {
			it := (*iteration)(mapOf(frame))
			more := it.at.Next()
			*(*bool)(field(frame, 1)) = more
			if more && len(at) > 2 {
				reflect.NewAt(s.like.Key(), field(frame, 2)).Elem().SetIterKey(&it.at)
				s.key.keep(&r.kept, field(frame, 2))
			}
			if more && len(at) > 3 {
				reflect.NewAt(s.like.Elem(), field(frame, 3)).Elem().SetIterValue(&it.at)
			}
		}
	}
	panic("no use of a map: " + h.Name)
}
