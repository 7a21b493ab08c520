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
func makeTypes(t *testing.T) (kind, user_ *Type) {
	if !Available() {
		t.Fatal("types are not described as this package takes them to be")
	}
	str := reflect.TypeFor[string]()
	kind = New(reflect.TypeFor[int](), "Kind", "main.Kind", "main")
	kind.AddMethods([]Method{{Name: "String", Out: []reflect.Type{str}, Call: func(r reflect.Value, _ []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(fmt.Sprint("K", r.Int()))}
	}}})
	in := New(reflect.TypeFor[inner](), "Inner", "main.Inner", "main")
	in.SetFields([]Field{{Name: "Street", Type: str, Tag: `json:"street"`}})
	user_ = New(reflect.TypeFor[user](), "User", "main.User", "main")
	user_.SetFields([]Field{
		{Name: "Name", Type: str}, {Name: "mail", Type: str}, {Name: "K", Type: kind.Reflect()},
		{Name: "Inner", Type: in.Reflect(), Embedded: true}, {Name: "Next", Type: user_.Pointer().Reflect()},
		{Name: "List", Type: reflect.SliceOf(kind.Reflect())}, {Name: "Any", Type: reflect.TypeFor[any]()},
	})
	greet := Method{Name: "Greet", In: []reflect.Type{str, reflect.TypeFor[[]int]()}, Out: []reflect.Type{str}, Variadic: true, Call: func(r reflect.Value, args []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(fmt.Sprint(args[0], " ", reflect.Indirect(r).Field(0), args[1].Interface()))}
	}}
	rename := Method{Name: "Rename", In: []reflect.Type{str}, Call: func(r reflect.Value, args []reflect.Value) []reflect.Value {
		r.Elem().Field(0).Set(args[0])
		return nil
	}}
	user_.AddMethods([]Method{greet})
	user_.Pointer().AddMethods([]Method{rename, greet})
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
	p := RetypeAny(&v, u.Pointer().Reflect())
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
	m := reflect.MakeMap(reflect.MapOf(kind.Reflect(), u.Pointer().Reflect()))
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
	if err := gob.NewDecoder(&b).Decode(RetypeAny(&out, u.Pointer().Reflect())); err != nil || out.Name != "gob" || out.List[0] != 7 || out.Inner.Street != "s" {
		t.Fatal(out, err)
	}
}

// A panic in a method comes out of what called it.
func TestPanicInMethod(t *testing.T) {
	bad := New(reflect.TypeFor[float64](), "Bad", "main.Bad", "main")
	bad.AddMethods([]Method{{Name: "Error", Out: []reflect.Type{reflect.TypeFor[string]()}, Call: func(reflect.Value, []reflect.Value) []reflect.Value {
		panic("no text")
	}}})
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
