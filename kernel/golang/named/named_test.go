package named

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"text/template"
	"unsafe"
)

// The representations of what the test makes: Kind is an int, Inner and User
// are structs of which User embeds Inner and points to itself.
type inner struct{ Street string }

type user struct {
	Name   string
	X_mail string
	K      int
	Inner  inner
	Next   unsafe.Pointer
	List   []int
	Any    any
}

// types makes main.Kind, main.Inner and main.User.
func makeTypes(t_ *testing.T) (kind, user_ *Type) {
	if !Available() {
		t_.Fatal("types are not described as this package takes them to be")
	}
	str, text := reflect.TypeFor[string](), reflect.TypeFor[func() string]()
	methods := func(t *Type, m ...Method) {
		if err := t.SetMethods(m); err != nil {
			t_.Fatal(err)
		}
	}
	kind = New(reflect.TypeFor[int](), "Kind", "main.Kind", "main", 1)
	methods(kind, Method{Name: "String", Type: text, Call: func(r unsafe.Pointer, _ []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(fmt.Sprint("K", *(*int)(r)))}
	}})
	in := New(reflect.TypeFor[inner](), "Inner", "main.Inner", "main", 0)
	in.SetFields([]Field{{Name: "Street", Type: str, Tag: `json:"street"`}})
	user_ = New(reflect.TypeFor[user](), "User", "main.User", "main", 1)
	pointer := NewPointer(user_, 2)
	user_.SetFields([]Field{
		{Name: "Name", Type: str}, {Name: "mail", Type: str}, {Name: "K", Type: kind.Reflect()},
		{Name: "Inner", Type: in.Reflect(), Embedded: true}, {Name: "Next", Type: pointer.Reflect()},
		{Name: "List", Type: reflect.SliceOf(kind.Reflect())}, {Name: "Any", Type: reflect.TypeFor[any]()},
	})
	list := []Method{{Name: "Greet", Type: reflect.TypeFor[func(string, ...int) string](), Call: func(r unsafe.Pointer, args []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(fmt.Sprint(args[0], " ", (*user)(r).Name, " ", args[1].Interface()))}
	}}}
	methods(user_, list...)
	methods(pointer, append(list, Method{Name: "Rename", Type: reflect.TypeFor[func(string)](), Call: func(r unsafe.Pointer, args []reflect.Value) []reflect.Value {
		(*user)(r).Name = args[0].String()
		return nil
	}})...)
	return kind, user_
}

func TestTypes(t *testing.T) {
	_, u := makeTypes(t)
	v := user{Name: "Al", X_mail: "m", K: 3, Inner: inner{"S"}, List: []int{1, 2}}
	x := RetypeAny(v, u.Reflect())
	typ := reflect.TypeOf(x)
	var text bytes.Buffer
	fmt.Fprintln(&text, typ, typ.Name(), typ.PkgPath(), typ.Kind(), typ.NumField(), typ.NumMethod(), typ == u.Reflect(), reflect.TypeOf(&x).Elem().Kind())
	for i := range typ.NumField() {
		f := typ.Field(i)
		fmt.Fprintln(&text, f.Name, f.Type, f.Tag, f.PkgPath, f.Anonymous, f.IsExported())
	}
	fmt.Fprintf(&text, "%v\n%+v\n%T\n", x, x, x)
	p := RetypeAny(&v, reflect.PointerTo(u.Reflect()))
	fmt.Fprintln(&text, reflect.TypeOf(p), reflect.TypeOf(p).Elem() == typ, reflect.PointerTo(typ) == reflect.TypeOf(p), reflect.TypeOf(p).NumMethod(), reflect.TypeOf(p).Method(1).Name)
	reflect.ValueOf(p).MethodByName("Rename").Call([]reflect.Value{reflect.ValueOf("Bo")})
	if v.Name != "Bo" {
		t.Error("a method of a pointer has another receiver")
	}
	if g, ok := p.(interface{ Greet(string, ...int) string }); !ok {
		t.Error("methods are not found by a type assertion")
	} else {
		fmt.Fprintln(&text, g.Greet("hi", 1, 2))
	}
	fmt.Fprintln(&text, typ.Method(0).Func.Call([]reflect.Value{reflect.ValueOf(x), reflect.ValueOf("yo"), reflect.ValueOf(4)})[0])
	n := reflect.New(typ).Elem()
	n.Field(2).SetInt(9)
	fmt.Fprintln(&text, n.Field(2), n.FieldByName("Street").Kind())
	template.Must(template.New("").Parse(`{{.Greet "hello" 5}} {{.K}} {{.Street}} {{range .List}}{{.}},{{end}}`+"\n")).Execute(&text, x)
	js, err := json.Marshal(x)
	fmt.Fprintln(&text, string(js), err)
	want := `main.User User main struct 7 1 true interface
Name string   false true
mail string  main false false
K main.Kind   false true
Inner main.Inner   true true
Next *main.User   false true
List []main.Kind   false true
Any interface {}   false true
{Al m K3 {S} <nil> [K1 K2] <nil>}
{Name:Al mail:m K:K3 Inner:{Street:S} Next:<nil> List:[K1 K2] Any:<nil>}
main.User
*main.User true true 2 Rename
hi Bo [1 2]
yo Al [4]
K9 string
hello Al [5] K3 S K1,K2,
{"Name":"Al","K":3,"street":"S","Next":null,"List":[1,2],"Any":null} <nil>
`
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &text, want)
	}
}

// Values of the types live in maps and channels, and through collections.
func TestValuesLive(t *testing.T) {
	kind, u := makeTypes(t)
	m := reflect.MakeMap(reflect.MapOf(kind.Reflect(), reflect.PointerTo(u.Reflect())))
	for i := range 1000 {
		p := reflect.New(u.Reflect())
		p.Elem().Field(0).SetString(fmt.Sprint("name ", i))
		p.Elem().Field(4).Set(reflect.New(u.Reflect()))
		m.SetMapIndex(reflect.ValueOf(i).Convert(kind.Reflect()), p)
		if i%100 == 0 {
			runtime.GC()
		}
	}
	for i := range 1000 {
		p := m.MapIndex(reflect.ValueOf(i).Convert(kind.Reflect()))
		if got, want := p.Elem().Field(0).String(), fmt.Sprint("name ", i); got != want || p.Elem().Field(4).IsNil() {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	var b bytes.Buffer
	in := user{Name: "gob", K: 2, List: []int{7}, Inner: inner{"s"}}
	if err := gob.NewEncoder(&b).Encode(RetypeAny(in, u.Reflect())); err != nil {
		t.Fatal(err)
	}
	var out user
	if err := gob.NewDecoder(&b).Decode(RetypeAny(&out, reflect.PointerTo(u.Reflect()))); err != nil || out.Name != "gob" || out.List[0] != 7 || out.Inner.Street != "s" {
		t.Fatal(out, err)
	}
}

// A panic in a method comes out of what called it.
func TestPanicInMethod(t *testing.T) {
	bad := New(reflect.TypeFor[float64](), "Bad", "main.Bad", "main", 1)
	err := bad.SetMethods([]Method{{Name: "Error", Type: reflect.TypeFor[func() string](), Call: func(unsafe.Pointer, []reflect.Value) []reflect.Value {
		panic("no text")
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(RetypeAny(1.5, bad.Reflect())), "%!v(PANIC=Error method: no text)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The last stub is as good as the first.
func TestStubs(t *testing.T) {
	for _, i := range []int{0, 1, stubCount / 2, stubCount - 1} {
		if stubCount > 0 && stub(i) == nil {
			t.Errorf("stub %d of %d is not where it is looked for", i, stubCount)
		}
	}
}

// An interface made at run time holds what has its methods, in fields and elements
// of other types too, and unexported ones are told apart by their packages.
func TestInterfaces(t *testing.T) {
	text := reflect.TypeFor[func() string]()
	call := func(r unsafe.Pointer, _ []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(fmt.Sprint("called with ", *(*int)(r)))}
	}
	make := func(pkg string) (value, iface reflect.Type) {
		v := New(reflect.TypeFor[int](), "V", pkg+".V", pkg, 2)
		if err := v.SetMethods([]Method{{Name: "own", Pkg: pkg, Type: text, Call: call}, {Name: "Own", Type: text, Call: call}}); err != nil {
			t.Fatal(err)
		}
		i := New(reflect.TypeFor[error](), "I", pkg+".I", pkg, 0)
		i.SetInterface([]Method{{Name: "own", Pkg: pkg, Type: text}, {Name: "Own", Type: text}})
		return v.Reflect(), i.Reflect()
	}
	v, i := make("main")
	w, j := make("other")
	for _, c := range []struct {
		t, iface reflect.Type
		want     bool
	}{{v, i, true}, {w, j, true}, {v, j, false}, {w, i, false}, {reflect.TypeFor[int](), i, false}} {
		if got := c.t.Implements(c.iface); got != c.want {
			t.Errorf("%v implements %v: %v, want %v", c.t, c.iface, got, c.want)
		}
	}
	convert := Converter(i, func(x any) any { return RetypeAny(x, v) })
	list := reflect.MakeSlice(reflect.SliceOf(i), 2, 2)
	list.Index(0).Set(convert.Call([]reflect.Value{reflect.ValueOf(5)})[0])
	if got := list.Index(0).Elem().Type(); got != v || !list.Index(1).IsNil() {
		t.Errorf("the list holds a %v and %v", got, list.Index(1))
	}
	if got := list.Index(0).Method(0).Call(nil)[0].String(); got != "called with 5" {
		t.Errorf("a method gives %q", got)
	}
	one := New(reflect.TypeFor[error](), "", "interface { main.own() string }", "main", 0)
	one.SetInterface([]Method{{Name: "own", Pkg: "main", Type: text}})
	find := Finder(one.Reflect(), text, func(x any) any { return RetypeAny(x, v) })
	if got := find.Call([]reflect.Value{reflect.ValueOf(6)})[0].Call(nil)[0].String(); got != "called with 6" {
		t.Errorf("a method that is not exported gives %q", got)
	}
	defer func() {
		if got, want := fmt.Sprint(recover()), "interface conversion: int is not main.I: missing method Own"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}()
	Converter(i, func(x any) any { return x }).Call([]reflect.Value{reflect.ValueOf(5)})
}

// A type leads back to itself through functions, maps and channels, and is the key
// of a map with others than the compiler's.
func TestRecursion(t *testing.T) {
	f := New(reflect.TypeFor[func(unsafe.Pointer, []byte) unsafe.Pointer](), "F", "main.F", "main", 0)
	f.SetParams([]reflect.Type{f.Reflect(), reflect.SliceOf(f.Reflect())}, []reflect.Type{f.Reflect()})
	m := New(reflect.TypeFor[map[string]unsafe.Pointer](), "M", "main.M", "main", 0)
	m.SetElem(reflect.TypeFor[string](), m.Reflect())
	if f.Reflect().In(0) != f.Reflect() || f.Reflect().In(1).Elem() != f.Reflect() || f.Reflect().Out(0) != f.Reflect() || m.Reflect().Elem() != m.Reflect() {
		t.Error("types do not lead back to themselves")
	}
	a := reflect.MakeMap(m.Reflect())
	a.SetMapIndex(reflect.ValueOf("self"), a)
	runtime.GC()
	if b := a.MapIndex(reflect.ValueOf("self")).MapIndex(reflect.ValueOf("self")); b.Pointer() != a.Pointer() {
		t.Error("a map does not hold itself")
	}
	id := reflect.MakeFunc(f.Reflect(), func(args []reflect.Value) []reflect.Value { return args[:1] })
	if got := id.Call([]reflect.Value{id, reflect.Zero(reflect.SliceOf(f.Reflect()))})[0]; got.Type() != f.Reflect() || got.Pointer() != id.Pointer() {
		t.Errorf("a function gives a %v", got.Type())
	}
}
