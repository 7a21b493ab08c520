package main

// What reflect, the templates, unsafe, sync/atomic, iter and slices see of a
// program's types.

import (
	"cmp"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"maps"
	"os"
	"reflect"
	"slices"
	"sort"
	"sync/atomic"
	"text/template"
	"unsafe"
)

type Kind uint8

func (k Kind) String() string { return fmt.Sprint("K", uint8(k)) }

type Inner struct {
	Street string `json:"street" db:"s"`
	zip    int
}

func (i Inner) Where() string  { return i.Street }
func (i *Inner) Move(s string) { i.Street = s }
func (i Inner) private() int   { return i.zip }

type User struct {
	Name string `json:"name,omitempty"`
	mail string
	Kind
	*Inner
	Next *User
	Kids []User
	M    map[Kind]*User
	F    func(User, ...Kind) (*User, error)
	C    <-chan User
	A    [2]Kind
	I    Shape
	E    error
	Any  any
	_    int
}

func (u User) Hello(s string, n ...int) string { return fmt.Sprint("hello ", s, " from ", u.Name, n) }
func (u *User) Rename(s string) *User          { u.Name = s; return u }
func (u User) fail() error                     { return nil }
func (u User) Fail() (string, error)           { return "", errors.New("failed") }

type Shape interface {
	Area() float64
	Grow(Kind) Shape
	secret()
}
type Sq struct{ S float64 }

func (s Sq) Area() float64     { return s.S * s.S }
func (s Sq) Grow(k Kind) Shape { return Sq{s.S + float64(k)} }
func (s Sq) secret()           {}

type Named interface{ Hello(string, ...int) string }
type F func(F) F
type L []L
type Gen[T any] struct{ V T }

func (g *Gen[T]) Set(v T) { g.V = v }

type Alias = Gen[Kind]
type Empty struct{}
type Any interface{}
type Iface2 interface {
	Shape
	fmt.Stringer
}

func implements[I any](x any) bool { return reflect.TypeOf(x).Implements(reflect.TypeFor[I]()) }

func main() {
	u := User{Name: "Al", mail: "m", Kind: 3, Inner: &Inner{"st", 5}}
	t := reflect.TypeOf(u)
	fmt.Println(1, t, t.Name(), t.PkgPath(), t.Kind(), t.NumField(), t.NumMethod(), reflect.TypeOf(&u).NumMethod(), t.Size() == unsafe.Sizeof(u), t.Comparable())
	for i := range t.NumField() {
		f := t.Field(i)
		fmt.Println(2, f.Name, f.Type, f.Tag.Get("json"), f.PkgPath, f.Anonymous, f.IsExported(), f.Offset, f.Index)
	}
	for i := range reflect.TypeOf(&u).NumMethod() {
		m := reflect.TypeOf(&u).Method(i)
		fmt.Println(3, m.Name, m.Type, m.Index, m.PkgPath)
	}
	for i := range t.NumMethod() {
		fmt.Println(4, t.Method(i).Name, t.Method(i).Type)
	}
	st := reflect.TypeFor[Shape]()
	for i := range st.NumMethod() {
		fmt.Println(5, st.Method(i).Name, st.Method(i).Type, st.Method(i).PkgPath)
	}
	fmt.Println(6, st, st.Kind(), st.Name(), reflect.TypeFor[Iface2]().NumMethod(), reflect.TypeFor[Any](), reflect.TypeFor[any](), reflect.TypeFor[Any]().Kind())
	fmt.Println(7, implements[Shape](Sq{}), implements[Shape](u), implements[Named](u), implements[Named](&u), implements[Named](Sq{}), implements[error](u), implements[fmt.Stringer](u), implements[Any](1))
	fmt.Println(8, reflect.TypeFor[F](), reflect.TypeFor[F]().In(0) == reflect.TypeFor[F](), reflect.TypeFor[L]().Elem() == reflect.TypeFor[L]())
	fmt.Println(9, t.Field(4).Type.Elem() == t, t.Field(5).Type.Elem() == t, t.Field(6).Type, t.Field(7).Type, t.Field(8).Type)
	fmt.Println(10, reflect.TypeFor[Gen[int]](), reflect.TypeFor[Gen[User]]().Name(), reflect.TypeFor[Alias](), reflect.TypeFor[*Gen[[]Kind]]().NumMethod())
	fmt.Println(11, reflect.TypeOf(u.Hello), reflect.TypeOf(User.Hello), reflect.TypeOf((*User).Rename), reflect.TypeOf(Shape.Area))
	v := reflect.ValueOf(&u)
	fmt.Println(12, v.MethodByName("Rename").Call([]reflect.Value{reflect.ValueOf("Bo")})[0].Elem().Field(0), u.Name)
	fmt.Println(13, v.Elem().MethodByName("Hello").Call([]reflect.Value{reflect.ValueOf("x"), reflect.ValueOf(1), reflect.ValueOf(2)})[0])
	m, _ := t.MethodByName("Hello")
	fmt.Println(14, m.Func.CallSlice([]reflect.Value{reflect.ValueOf(u), reflect.ValueOf("y"), reflect.ValueOf([]int{7})})[0])
	_, ok := t.MethodByName("fail")
	fmt.Println(15, ok, v.MethodByName("fail").IsValid(), v.MethodByName("Move").IsValid())
	v.Elem().FieldByName("Street").SetString("new")
	v.Elem().FieldByName("Kind").SetUint(9)
	fmt.Println(16, u.Street, u.Kind, v.Elem().FieldByName("mail"), v.Elem().FieldByName("mail").CanSet(), v.Elem().Field(0).CanSet())
	nu := reflect.New(t)
	nu.Elem().Field(0).SetString("fresh")
	nu.Elem().Field(5).Set(reflect.Append(nu.Elem().Field(5), reflect.ValueOf(u)))
	got := nu.Interface().(*User)
	fmt.Println(17, got.Name, got.Kids[0].Name, got.Kids[0].Street)
	mv := reflect.MakeMap(reflect.TypeFor[map[Kind]*User]())
	mv.SetMapIndex(reflect.ValueOf(Kind(1)), reflect.ValueOf(&u))
	fmt.Println(18, mv.Interface().(map[Kind]*User)[1].Name, mv.MapKeys())
	swap := reflect.MakeFunc(reflect.TypeOf(func(Kind, Sq) (Sq, Kind) { return Sq{}, 0 }), func(a []reflect.Value) []reflect.Value { return []reflect.Value{a[1], a[0]} })
	s, k := swap.Interface().(func(Kind, Sq) (Sq, Kind))(4, Sq{5})
	fmt.Println(19, s, k)
	fmt.Println(20, reflect.DeepEqual(User{Kids: []User{{Name: "a"}}}, User{Kids: []User{{Name: "a"}}}), reflect.DeepEqual([]Shape{Sq{1}}, []Shape{Sq{2}}), reflect.DeepEqual(map[Kind]L{1: {{}}}, map[Kind]L{1: {{}}}))
	fmt.Println(21, reflect.ValueOf(5).Convert(reflect.TypeFor[Kind]()), reflect.TypeFor[int]().ConvertibleTo(reflect.TypeFor[Kind]()), reflect.TypeFor[int]().AssignableTo(reflect.TypeFor[Kind]()), reflect.TypeFor[Sq]().ConvertibleTo(reflect.TypeFor[struct{ S float64 }]()))
	fmt.Println(22, reflect.Zero(t).Field(4).IsNil(), reflect.ValueOf(User{}).IsZero(), reflect.ValueOf(u).IsZero(), reflect.ValueOf(Empty{}).IsZero())
	func() {
		defer func() { fmt.Println(23, recover()) }()
		reflect.ValueOf(&u).Elem().FieldByName("mail").SetString("no")
	}()
	func() {
		defer func() { fmt.Println(24, recover()) }()
		reflect.ValueOf(u).FieldByName("mail").Interface()
	}()
	func() {
		defer func() { fmt.Println(25, recover()) }()
		reflect.ValueOf(&u).Elem().Field(0).Set(reflect.ValueOf(Kind(1)))
	}()
	sf, _ := t.FieldByName("Street")
	fmt.Println(26, sf.Index, sf.Tag, reflect.VisibleFields(t)[4].Name)
	var shape Shape = Sq{3}
	sv := reflect.ValueOf(&shape).Elem()
	fmt.Println(27, sv.Kind(), sv.Elem().Type(), sv.Type(), sv.NumMethod(), sv.Method(0).Call(nil)[0])
	sv.Set(reflect.ValueOf(Sq{4}))
	grown := sv.MethodByName("Grow").Call([]reflect.Value{reflect.ValueOf(Kind(2))})[0]
	fmt.Println(28, shape.Area(), grown.Type(), grown.Elem().Type(), grown.Interface().(Shape).Area())
	ch := reflect.MakeChan(reflect.TypeFor[chan User](), 1)
	ch.Send(reflect.ValueOf(u))
	recv, _ := ch.Recv()
	fmt.Println(29, recv.Interface().(User).Name, ch.Type())
	fmt.Println(30, reflect.TypeOf(struct {
		Inner
		x Kind `k:"v"`
	}{}), reflect.TypeOf([]struct{ A int }{}).Elem().Field(0).Name, reflect.StructOf([]reflect.StructField{{Name: "U", Type: t}}))
	fmt.Println(31, reflect.SliceOf(t), reflect.MapOf(reflect.TypeFor[Kind](), t), reflect.PointerTo(t) == reflect.TypeOf(&u), reflect.FuncOf([]reflect.Type{t}, nil, false), reflect.ArrayOf(2, t))
	fmt.Println(32, reflect.Indirect(v).Type() == t, reflect.TypeOf(any(u)) == reflect.TypeOf(u), reflect.TypeOf(&u).Elem().Field(3).Type.Elem().Name())
	x, ok := reflect.TypeAssert[Kind](reflect.ValueOf(Kind(8)))
	fmt.Println(33, x, ok)
	for _, method := range []string{"Hello", "Rename", "Where", "Move", "private", "String"} {
		_, a := t.MethodByName(method)
		_, b := reflect.TypeOf(&u).MethodByName(method)
		fmt.Print(34, method, a, b, " ")
	}
	fmt.Println()

	fm := template.FuncMap{"kind": func(n int) Kind { return Kind(n) }, "user": func(n string) *User { return &User{Name: n} }, "shape": func(f float64) Shape { return Sq{f} }}
	run := func(n int, text string, data any) {
		tpl, err := template.New("t").Funcs(fm).Parse(text)
		if err != nil {
			fmt.Println(n, err)
			return
		}
		fmt.Print(n, " ")
		if err := tpl.Execute(os.Stdout, data); err != nil {
			fmt.Print(err)
		}
		fmt.Println()
	}
	u.Kids = []User{{Name: "k1", Kind: 1}, {Name: "k2"}}
	u.M = map[Kind]*User{2: {Name: "two"}, 1: {Name: "one"}}
	u.I = Sq{2}
	run(40, `{{.Name}} {{.Kind}} {{.Street}} {{.Where}} {{.Hello "t" 1 2}}`, u)
	run(41, `{{range .Kids}}{{.Name}}:{{.Kind}} {{end}}{{range $k, $v := .M}}{{$k}}={{$v.Name}} {{end}}`, &u)
	run(42, `{{(.Rename "New").Name}} {{.Rename "X" | printf "%T"}}`, &u)
	run(43, `{{.mail}}`, u)
	run(44, `{{.Fail}}`, u)
	run(45, `{{kind 3}} {{(user "n").Hello "q"}} {{(shape 3).Area}} {{((shape 1).Grow 2).Area}}`, nil)
	run(46, `{{.I.Area}} {{with .Next}}next{{else}}none{{end}} {{len .Kids}} {{index .Kids 1 | printf "%v" | len}} {{eq .Kind .Kind}}`, u)
	run(47, `{{range .}}{{.Name}},{{end}}`, []*User{&u, {Name: "b"}})
	run(48, `{{.x}} {{.y.Name}}`, map[string]any{"x": Kind(1), "y": u})
	run(49, `{{.Nope}}`, u)
	run(50, `{{if .I}}yes{{end}}{{if .E}}no{{end}} {{printf "%T %v" .I .I}}`, u)
	ht := htmltemplate.Must(htmltemplate.New("h").Parse(`<a href="{{.}}">{{.}}</a>` + "\n"))
	fmt.Print(51, " ")
	ht.Execute(os.Stdout, Kind(4))
	htmltemplate.Must(htmltemplate.New("h").Parse(`<script>x = {{.}}</script>`+"\n")).Execute(os.Stdout, Inner{Street: "<s>"})

	users := []User{{Name: "b", Kind: 2}, {Name: "a", Kind: 1}}
	slices.SortFunc(users, func(a, b User) int { return cmp.Compare(a.Name, b.Name) })
	fmt.Println(60, users[0].Name, slices.IndexFunc(users, func(u User) bool { return u.Kind == 2 }), slices.Max([]Kind{1, 5, 2}), slices.Contains([]Inner{{"a", 1}}, Inner{"a", 1}))
	fmt.Println(61, slices.Sorted(maps.Keys(map[Kind]int{3: 1, 1: 2})), slices.Collect(maps.Values(map[int]Kind{1: 7})))
	sort.Slice(users, func(i, j int) bool { return users[i].Kind > users[j].Kind })
	fmt.Println(62, users[0].Kind)
	var av atomic.Value
	av.Store(u)
	fmt.Println(63, av.Load().(User).Name)
}
