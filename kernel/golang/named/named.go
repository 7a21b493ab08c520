// Package named makes types at run time that package reflect cannot make: with
// names, unexported and embedded fields, and methods, that lead back to
// themselves; and interfaces. Each has the memory layout of a type that exists,
// so that a value becomes one of the new type, and back, by its type alone.
//
// The types are described as the compiler describes its own, and live as long as
// the process. Code of methods is a stub in assembly that calls a closure of
// reflect.MakeFunc. Where a Go release describes types in another way, Available
// is false.
package named

import (
	"cmp"
	"errors"
	"go/token"
	"hash/fnv"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// Available says whether types can be made: this Go release describes types as
// layout.go has it, and there are stubs for this processor.
func Available() bool { return known() && stubCount > 0 }

// ErrNoStubs says that no more methods can be made.
var ErrNoStubs = errors.New("no room for more methods of types that cells declare: restart the kernel")

// Field is a field of a struct. Its place is that of the layout's field.
type Field struct {
	Name     string
	Pkg      string // of an unexported name, if it is not the type's
	Type     reflect.Type
	Tag      string
	Embedded bool
}

// Method is a method of a type.
type Method struct {
	Name string
	Pkg  string       // of an unexported name
	Type reflect.Type // a function, without the receiver
	// Call gets the receiver as a pointer to its value, or, of a pointer's
	// method, as the pointer itself. It may be nil in an interface.
	Call func(receiver unsafe.Pointer, args []reflect.Value) []reflect.Value

	ifn int32 // its code, if that is made already
}

// Type is a type that is being made. It can be referred to before its parts are set.
type Type struct {
	t        *abiType
	uncommon *abiUncommon
	params   []*abiType  // of a function, and its results
	methods  []abiMethod // room for as many as it will have
	pkg      string
}

// New makes a type with the layout and the parts of like, and room for methods.
// name is what it is called, as T; "" for one without a name. text is what String
// gives, as main.T. pkg is the package's path.
func New(like reflect.Type, name, text, pkg string, methods int) *Type {
	t := describe(like, pkg, methods)
	h := fnv.New32a()
	h.Write([]byte(text))
	t.t.hash ^= h.Sum32()
	t.t.str = nameOff(text, "", name != "")
	if name != "" {
		t.t.flags |= flagNamed
	}
	return t
}

// NewPointer makes the type of pointers to t, which nobody has asked reflect for.
// One that has no methods need not be made.
func NewPointer(to *Type, methods int) *Type {
	t := New(reflect.TypeFor[*int](), "", "*"+to.Reflect().String(), to.pkg, methods)
	(*abiElem)(unsafe.Pointer(t.t)).elem = to.t
	to.t.ptrToThis = addReflectOff(unsafe.Pointer(t.t))
	return t
}

// Reflect is the type.
func (t *Type) Reflect() reflect.Type { return typeOf(t.t) }

// describe copies a description, with room for methods.
func describe(like reflect.Type, pkg string, methods int) *Type {
	t := &Type{pkg: pkg}
	var part reflect.Type
	params := 0
	switch like.Kind() {
	case reflect.Struct:
		part = reflect.TypeFor[abiStruct]()
	case reflect.Pointer, reflect.Slice:
		part = reflect.TypeFor[abiElem]()
	case reflect.Chan:
		part = reflect.TypeFor[abiChan]()
	case reflect.Array:
		part = reflect.TypeFor[abiArray]()
	case reflect.Map:
		part = reflect.TypeFor[abiMap]()
	case reflect.Interface:
		part = reflect.TypeFor[abiInterface]()
	case reflect.Func:
		part = reflect.TypeFor[abiFunc]()
		params = like.NumIn() + like.NumOut()
	default:
		part = reflect.TypeFor[abiType]()
	}
	fields := []reflect.StructField{{Name: "Part", Type: part}, {Name: "Uncommon", Type: reflect.TypeFor[abiUncommon]()}}
	if params > 0 {
		fields = append(fields, reflect.StructField{Name: "Params", Type: reflect.ArrayOf(params, reflect.TypeFor[*abiType]())})
	}
	if methods > 0 {
		fields = append(fields, reflect.StructField{Name: "Methods", Type: reflect.ArrayOf(methods, reflect.TypeFor[abiMethod]())})
	}
	whole := reflect.New(reflect.StructOf(fields)).Elem()
	from := abiOf(like)
	whole.Field(0).Set(reflect.NewAt(part, unsafe.Pointer(from)).Elem())
	t.t = (*abiType)(whole.Addr().UnsafePointer())
	t.uncommon = (*abiUncommon)(whole.Field(1).Addr().UnsafePointer())
	if params > 0 {
		t.params = unsafe.Slice((**abiType)(whole.Field(2).Addr().UnsafePointer()), params)
		for i := range like.NumIn() {
			t.params[i] = abiOf(like.In(i))
		}
		for i := range like.NumOut() {
			t.params[like.NumIn()+i] = abiOf(like.Out(i))
		}
	}
	if methods > 0 {
		first := whole.Field(len(fields) - 1).Addr().UnsafePointer()
		t.methods = unsafe.Slice((*abiMethod)(first), methods)
		t.uncommon.methods = uint32(uintptr(first) - uintptr(unsafe.Pointer(t.uncommon)))
	}
	t.uncommon.pkgPath = nameOff(pkg, "", false)
	t.t.flags &^= flagExtraStar | flagNamed
	t.t.flags |= flagUncommon
	t.t.ptrToThis = 0
	return t
}

// SetFields gives a struct its fields: as many as the layout has.
func (t *Type) SetFields(fields []Field) {
	s := (*abiStruct)(unsafe.Pointer(t.t))
	s.pkgPath = nil
	s.fields = slices.Clone(s.fields)
	for i, f := range fields {
		if !token.IsExported(f.Name) {
			s.pkgPath = nameOf(cmp.Or(f.Pkg, t.pkg), "", "", false, false)
		}
		s.fields[i].name = nameOf(f.Name, f.Tag, "", token.IsExported(f.Name), f.Embedded)
		s.fields[i].typ = abiOf(f.Type)
	}
}

// SetElem sets what a pointer, slice, array, channel or map is made of; key is
// of a map.
func (t *Type) SetElem(key, elem reflect.Type) {
	switch reflect.Kind(t.t.kind) {
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

// SetParams sets the parameters and results of a function: as many as the layout has.
func (t *Type) SetParams(in, out []reflect.Type) {
	for i, p := range append(slices.Clip(in), out...) {
		t.params[i] = abiOf(p)
	}
}

// SetInterface gives an interface, whose layout is that of one with methods, its
// own. Only the names and types of these count.
func (t *Type) SetInterface(methods []Method) {
	it := (*abiInterface)(unsafe.Pointer(t.t))
	it.pkgPath = nameOf(t.pkg, "", "", false, false)
	slices.SortFunc(methods, compareMethods)
	it.methods = make([]abiInterfaceMethod, len(methods))
	for i, m := range methods {
		it.methods[i] = abiInterfaceMethod{t.methodName(m), typeOff(m.Type)}
	}
}

// SetMethods gives the type its methods: at most as many as there is room for.
// Of one with the layout of its pointers' words, such as a function, Call gets
// the address of a copy, as of others.
func (t *Type) SetMethods(methods []Method) error {
	slices.SortFunc(methods, compareMethods)
	direct := t.t.flags&flagDirect != 0
	pointer := reflect.Kind(t.t.kind) == reflect.Pointer && t.t.flags&flagNamed == 0
	for i := range methods {
		m := &methods[i]
		call := m.Call // a copy: the list is sorted again
		of := func(receiver reflect.Type) reflect.Type {
			in := []reflect.Type{receiver}
			for p := range m.Type.Ins() {
				in = append(in, p)
			}
			return reflect.FuncOf(in, slices.Collect(m.Type.Outs()), m.Type.IsVariadic())
		}
		if m.ifn == 0 {
			m.ifn = code(reflect.MakeFunc(of(reflect.TypeFor[unsafe.Pointer]()), func(args []reflect.Value) []reflect.Value {
				p := args[0].UnsafePointer()
				if direct && !pointer {
					return call(unsafe.Pointer(&p), args[1:])
				}
				return call(p, args[1:])
			}))
		}
		tfn := m.ifn
		if !direct {
			tfn = code(reflect.MakeFunc(of(t.Reflect()), func(args []reflect.Value) []reflect.Value {
				p := reflect.New(args[0].Type())
				p.Elem().Set(args[0])
				return call(p.UnsafePointer(), args[1:])
			}))
		}
		if m.ifn == 0 || tfn == 0 {
			return ErrNoStubs
		}
		t.methods[i] = abiMethod{t.methodName(*m), typeOff(m.Type), m.ifn, tfn}
		if token.IsExported(m.Name) {
			t.uncommon.exposed++
		}
		if direct {
			m.ifn = 0 // a pointer to it has another
		}
	}
	t.uncommon.count = uint16(len(methods))
	return nil
}

func (t *Type) methodName(m Method) int32 {
	pkg := ""
	if !token.IsExported(m.Name) && m.Pkg != t.pkg {
		pkg = m.Pkg
	}
	return nameOff(m.Name, pkg, token.IsExported(m.Name))
}

// compareMethods is the order in which the runtime looks for methods.
func compareMethods(a, b Method) int {
	switch x, y := token.IsExported(a.Name), token.IsExported(b.Name); {
	case x && !y:
		return -1
	case y && !x:
		return 1
	}
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Pkg, b.Pkg))
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
