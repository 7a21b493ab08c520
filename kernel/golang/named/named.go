// Package named makes types at run time that package reflect cannot make: with
// names, embedded fields and methods. Each has the memory layout of a type that
// exists, its representation, so that a value becomes one of the named type, and
// back, by its type alone.
//
// The types are described as the compiler describes its own. Code of methods is
// a stub in assembly that calls a closure of reflect.MakeFunc; there are 8,192 of
// them, on amd64, and a method takes three: when none is left, further types
// have no methods. Where a Go release describes types in another way,
// Available is false.
package named

import (
	"go/token"
	"hash/fnv"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// Available says whether types can be made.
func Available() bool { return known() }

// Field is a field of a struct. Its place is that of the representation's.
type Field struct {
	Name     string
	Type     reflect.Type
	Tag      string
	Embedded bool
}

// Method is a method of a type. In and Out leave out the receiver.
type Method struct {
	Name     string
	In, Out  []reflect.Type
	Variadic bool
	// Call gets the receiver as a value of the representation.
	Call func(receiver reflect.Value, args []reflect.Value) []reflect.Value
}

// maxMethods is how many methods a type may have.
const maxMethods = 48

// tail follows the description of a kind.
type tail struct {
	abiUncommon
	methods [maxMethods]abiMethod
}

// Type is a type that is being made. It can be referred to before its parts are set.
type Type struct {
	rep     reflect.Type
	t       *abiType
	tail    *tail
	pointer *Type // to it
	pkg     string
	made    map[string]bool // methods
}

// New makes a type. name is what it is called with its package's name, as in
// main.T; "" for one without a name, whose text is what String gives. pkg is the
// package's path.
func New(rep reflect.Type, name, text, pkg string) *Type {
	t := describe(rep, pkg)
	t.rename(name, text)
	p := describe(reflect.PointerTo(rep), pkg)
	p.rename("", "*"+text)
	(*abiElem)(unsafe.Pointer(p.t)).elem = t.t
	t.t.ptrToThis = addReflectOff(unsafe.Pointer(p.t))
	t.pointer = p
	return t
}

// Reflect is the type.
func (t *Type) Reflect() reflect.Type { return typeOf(t.t) }

// Pointer is the type of pointers to it.
func (t *Type) Pointer() *Type { return t.pointer }

// describe copies a description, with room for methods.
func describe(rep reflect.Type, pkg string) *Type {
	t := &Type{rep: rep, pkg: pkg, made: make(map[string]bool)}
	old := unsafe.Pointer(abiOf(rep))
	switch rep.Kind() {
	case reflect.Struct:
		t.t, t.tail = extend[abiStruct](old)
	case reflect.Pointer, reflect.Slice:
		t.t, t.tail = extend[abiElem](old)
	case reflect.Chan:
		t.t, t.tail = extend[abiChan](old)
	case reflect.Array:
		t.t, t.tail = extend[abiArray](old)
	case reflect.Map:
		t.t, t.tail = extend[abiMap](old)
	default:
		t.t, t.tail = extend[abiType](old)
	}
	t.t.flags &^= flagExtraStar | flagNamed
	t.t.flags |= flagUncommon
	t.t.ptrToThis = 0
	return t
}

func extend[T any](old unsafe.Pointer) (*abiType, *tail) {
	p := new(struct {
		t    T
		tail tail
	})
	p.t = *(*T)(old)
	p.tail.abiUncommon.methods = uint32(unsafe.Offsetof(p.tail.methods))
	return (*abiType)(unsafe.Pointer(&p.t)), &p.tail
}

func (t *Type) rename(name, text string) {
	h := fnv.New32a()
	h.Write([]byte(text))
	t.t.hash ^= h.Sum32()
	t.t.str = nameOff(text, name != "")
	if name != "" {
		t.t.flags |= flagNamed
		t.tail.pkgPath = nameOff(t.pkg, false)
	}
}

// SetFields gives a struct its fields: as many as the representation has.
func (t *Type) SetFields(fields []Field) {
	s := (*abiStruct)(unsafe.Pointer(t.t))
	s.pkgPath = nil
	s.fields = slices.Clone(s.fields)
	for i, f := range fields {
		if !token.IsExported(f.Name) {
			s.pkgPath = nameOf(t.pkg, "", false, false)
		}
		s.fields[i].name = nameOf(f.Name, f.Tag, token.IsExported(f.Name), f.Embedded)
		s.fields[i].typ = abiOf(f.Type)
	}
}

// SetElem sets what a pointer, slice, array, channel or map is made of; key is
// of a map.
func (t *Type) SetElem(key, elem reflect.Type) {
	switch t.rep.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Chan:
		(*abiElem)(unsafe.Pointer(t.t)).elem = abiOf(elem)
	case reflect.Array:
		a := (*abiArray)(unsafe.Pointer(t.t))
		a.elem, a.slice = abiOf(elem), abiOf(reflect.SliceOf(elem))
	case reflect.Map:
		m := (*abiMap)(unsafe.Pointer(t.t))
		m.key, m.elem = abiOf(key), abiOf(elem)
	}
}

var stubs struct {
	mu   sync.Mutex
	used int
}

// code is that of a stub that calls f; 0 if there are no more.
func code(f reflect.Value) int32 {
	stubs.mu.Lock()
	defer stubs.mu.Unlock()
	if stubs.used == stubCount {
		return 0
	}
	at := stub(stubs.used)
	if at == nil {
		return 0
	}
	box := f.Interface() // whose word is the closure
	contexts[stubs.used] = (*[2]unsafe.Pointer)(unsafe.Pointer(&box))[1]
	stubs.used++
	return addReflectOff(at)
}

// AddMethods gives the type methods that it has not yet.
func (t *Type) AddMethods(methods []Method) {
	direct := t.t.flags&flagDirect != 0
	for _, m := range methods {
		if t.made[m.Name] || !token.IsExported(m.Name) || len(t.made) == maxMethods {
			continue
		}
		word := func(args []reflect.Value) []reflect.Value {
			p := args[0].UnsafePointer()
			if direct {
				return m.Call(reflect.NewAt(t.rep, unsafe.Pointer(&p)).Elem(), args[1:])
			}
			return m.Call(reflect.NewAt(t.rep, p).Elem(), args[1:])
		}
		whole := func(args []reflect.Value) []reflect.Value {
			v := reflect.New(t.rep).Elem()
			v.Set(Retype(args[0], t.rep))
			return m.Call(v, args[1:])
		}
		of := func(receiver reflect.Type) reflect.Type {
			return reflect.FuncOf(append([]reflect.Type{receiver}, m.In...), m.Out, m.Variadic)
		}
		ifn := code(reflect.MakeFunc(of(reflect.TypeFor[unsafe.Pointer]()), word))
		if ifn == 0 {
			return
		}
		tfn := ifn
		if !direct {
			if tfn = code(reflect.MakeFunc(of(t.Reflect()), whole)); tfn == 0 {
				return
			}
		}
		t.made[m.Name] = true
		typ := reflect.FuncOf(m.In, m.Out, m.Variadic)
		t.insert(m.Name, abiMethod{nameOff(m.Name, true), addReflectOff(unsafe.Pointer(abiOf(typ))), ifn, tfn})
	}
}

// insert keeps the methods in the order of their names.
func (t *Type) insert(name string, m abiMethod) {
	at := 0
	for other := range t.made {
		if other < name {
			at++
		}
	}
	n := int(t.tail.count)
	copy(t.tail.methods[at+1:n+1], t.tail.methods[at:n])
	t.tail.methods[at] = m
	t.tail.count, t.tail.exposed = uint16(n+1), uint16(n+1)
}

// Retype is the same value of another type, of the same layout.
func Retype(v reflect.Value, to reflect.Type) reflect.Value {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return reflect.NewAt(to, p.UnsafePointer()).Elem()
}

// RetypeAny is Retype for what an interface holds, which is not copied.
func RetypeAny(x any, to reflect.Type) any {
	(*[2]unsafe.Pointer)(unsafe.Pointer(&x))[0] = unsafe.Pointer(abiOf(to))
	return x
}
