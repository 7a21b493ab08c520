package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"sort"
	"strings"
	"text/template"
)

type Node struct {
	Val         int
	Left, Right *Node
	Kids        []*Node
	ByName      map[string]*Node
	F           func(*Node) *Node
	C           chan *Node
}

func (n *Node) Sum() int {
	if n == nil {
		return 0
	}
	return n.Val + n.Left.Sum() + n.Right.Sum()
}
func (n *Node) Child(name string) *Node { return n.ByName[name] }
func (n Node) All() []int {
	var out []int
	for _, k := range n.Kids {
		out = append(out, k.Val)
	}
	return out
}

type List []List
type Fn func(int) Fn
type Tree map[string]Tree
type P *P2
type P2 struct{ next P }

type Shape interface {
	Area() float64
	Name() string
}
type Sq struct{ S float64 }
type Ci struct{ R float64 }

func (s Sq) Area() float64  { return s.S * s.S }
func (s Sq) Name() string   { return "square" }
func (c *Ci) Area() float64 { return 3 * c.R * c.R }
func (c *Ci) Name() string  { return "circle" }

type Pair[K comparable, V any] struct {
	Key K
	Val V
}

func (p Pair[K, V]) Swap() Pair[string, K] { return Pair[string, K]{fmt.Sprint(p.Val), p.Key} }
func (p Pair[K, V]) Str() string           { return fmt.Sprint(p.Key, "=", p.Val) }

type Celsius float64

func (c Celsius) F() Celsius { return c*9/5 + 32 }

type Names []string

func (n Names) Join(sep string) string { return strings.Join(n, sep) }
func (n Names) Len() int               { return len(n) }

type Set map[string]bool

func (s Set) Has(k string) bool { return s[k] }

type Mixed struct {
	A   [2]Celsius
	B   struct{ X, y int }
	C   interface{ Area() float64 }
	D   any
	E   error
	_   int
	F   Fn
	Pt  *Pair[string, int]
	Arr [2][2]Sq
	Ch  <-chan Sq
	M   map[Pair[int, int]][]Celsius
}
type Page struct {
	Title  string
	Shapes []Shape
	Items  map[string]any
	Opt    *Pair[string, int]
	Temps  []Celsius
	Sub    *Page
}

func (p Page) Upper() string { return strings.ToUpper(p.Title) }
func (p *Page) Total() (t float64) {
	for _, s := range p.Shapes {
		t += s.Area()
	}
	return
}
func (p Page) Fail() (string, error)         { return "", errors.New("failed") }
func (p Page) Find(names ...string) []string { return names }
func (p Page) Pairs() []Pair[string, int]    { return []Pair[string, int]{{"a", 1}, {"b", 2}} }

type State int

const (
	Off State = iota
	On
)

func (s State) String() string { return [...]string{"off", "on"}[s] }

func fields(v any) {
	t := reflect.TypeOf(v)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	fmt.Print(t, " ", t.Kind(), ":")
	if t.Kind() == reflect.Struct {
		for i := 0; i < t.NumField(); i++ {
			fmt.Print(" ", t.Field(i).Name, " ", t.Field(i).Type.Kind(), " ", t.Field(i).Offset, ";")
		}
	}
	fmt.Println()
	pt := reflect.PointerTo(t)
	var ms []string
	for i := 0; i < pt.NumMethod(); i++ {
		ms = append(ms, pt.Method(i).Name)
	}
	fmt.Println(ms, t.NumMethod(), t.Size(), t.Comparable())
}

func walk(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fmt.Print(strings.Repeat(" ", depth), v.Type().Field(i).Name, " ")
			walk(v.Field(i), depth+1)
		}
	case reflect.Slice, reflect.Array:
		fmt.Println(v.Len())
		for i := range v.Len() {
			walk(v.Index(i), depth+1)
		}
	case reflect.Map:
		keys := v.MapKeys()
		sort.Slice(keys, func(i, j int) bool { return fmt.Sprint(keys[i]) < fmt.Sprint(keys[j]) })
		for _, k := range keys {
			fmt.Print(k, " ")
			walk(v.MapIndex(k), depth+1)
		}
	case reflect.Pointer:
		if v.IsNil() {
			fmt.Println("nil")
			return
		}
		walk(v.Elem(), depth)
	default:
		fmt.Println(v.Kind(), v.IsValid())
	}
}

func main() {
	n := &Node{Val: 1, Left: &Node{Val: 2}, Kids: []*Node{{Val: 5}, {Val: 6}}, ByName: map[string]*Node{"x": {Val: 9}}}
	fields(Pair[string, Celsius]{})
	fields(Sq{})
	fields(&Ci{})
	fields(Celsius(1))
	fields(Names{"a"})
	fields(Set{})
	fields(Page{})
	fmt.Println(reflect.TypeOf(List{}).Kind(), reflect.TypeOf(Tree{}).Kind(), reflect.TypeOf(Fn(nil)).Kind())
	fmt.Println(reflect.ValueOf(n).MethodByName("Sum").Call(nil)[0].Int())
	k := reflect.ValueOf(n).MethodByName("Child").Call([]reflect.Value{reflect.ValueOf("x")})[0]
	fmt.Println(k.Elem().Field(0).Int(), k.Interface().(*Node).Val, k.MethodByName("Sum").Call(nil)[0])
	fmt.Println(reflect.ValueOf(*n).MethodByName("All").Call(nil)[0].Len())
	p := Pair[string, int]{"k", 3}
	sw := reflect.ValueOf(p).MethodByName("Swap").Call(nil)[0]
	fmt.Println(sw.Type(), sw.Interface().(Pair[string, string]).Key, sw.Field(1))
	c := reflect.ValueOf(Celsius(100)).MethodByName("F").Call(nil)[0]
	fmt.Println(c.Float(), c.Type(), c.Interface().(Celsius))
	fmt.Println(reflect.ValueOf(Names{"a", "b"}).MethodByName("Join").Call([]reflect.Value{reflect.ValueOf("-")})[0], reflect.ValueOf(Names{"x"}).Method(1).Call(nil)[0])
	m := Mixed{A: [2]Celsius{1, 2}, C: Sq{2}, D: Off, E: errors.New("e"), Pt: &p, M: map[Pair[int, int]][]Celsius{{1, 2}: {3}}}
	v := reflect.ValueOf(&m).Elem()
	v.Field(0).Index(1).SetFloat(7.5)
	v.FieldByName("Arr").Index(1).Index(0).Field(0).SetFloat(4)
	v.FieldByName("D").Set(reflect.ValueOf(On))
	v.FieldByName("M").SetMapIndex(reflect.ValueOf(Pair[int, int]{5, 6}), reflect.ValueOf([]Celsius{1, 1}))
	v.FieldByName("Pt").Set(reflect.ValueOf(&Pair[string, int]{"new", 4}))
	fmt.Println(m.A, m.Arr, m.D, m.M, m.Pt.Val, m.C.Area())
	_ = walk
	s := reflect.MakeSlice(reflect.TypeOf([]Sq{}), 0, 2)
	s = reflect.Append(s, reflect.ValueOf(Sq{3}), reflect.Zero(reflect.TypeOf(Sq{})))
	sq := s.Interface().([]Sq)
	fmt.Println(len(sq), sq[0].Area(), sq)
	mm := reflect.MakeMap(reflect.TypeOf(map[State]*Ci{}))
	mm.SetMapIndex(reflect.ValueOf(On), reflect.ValueOf(&Ci{2}))
	fmt.Println(mm.Interface().(map[State]*Ci)[On].Area())
	fn := reflect.MakeFunc(reflect.TypeOf(func(Sq, ...State) (Celsius, error) { return 0, nil }), func(args []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(Celsius(args[0].Field(0).Float() + float64(args[1].Len()))), reflect.Zero(reflect.TypeFor[error]())}
	}).Interface().(func(Sq, ...State) (Celsius, error))
	fmt.Println(fn(Sq{2}, On, Off))
	var any1 any = Sq{1}
	fmt.Println(reflect.DeepEqual(any1, Sq{1}), reflect.DeepEqual(map[string]Shape{"a": Sq{1}}, map[string]Shape{"a": Sq{1}}), reflect.DeepEqual(n, n), reflect.DeepEqual(Sq{1}, Ci{1}), reflect.DeepEqual([]any{Sq{1}, 1}, []any{Sq{1}, 1}))
	t := reflect.TypeOf(Sq{})
	_, hasArea := t.MethodByName("Area")
	_, ptr := reflect.TypeOf(Ci{}).MethodByName("Area")
	fmt.Println(hasArea, ptr, t.Implements(reflect.TypeFor[fmt.Stringer]()), reflect.TypeOf(On).Implements(reflect.TypeFor[fmt.Stringer]()), t.ConvertibleTo(reflect.TypeOf(Ci{})), t.AssignableTo(reflect.TypeOf(any1)))
	fmt.Println(reflect.ValueOf(Sq{2}).Convert(reflect.TypeOf(struct{ S float64 }{})).Field(0))
	switch x := reflect.New(t).Interface().(type) {
	case *Sq:
		x.S = 5
		fmt.Println("sq", x.Area())
	default:
		fmt.Printf("%T\n", x)
	}
	for range 3 {
		runtime.GC()
	}
	page := &Page{Title: "hi", Shapes: []Shape{Sq{2}, &Ci{1}}, Items: map[string]any{"a": Sq{3}, "b": []any{On, 2}}, Opt: &p, Temps: []Celsius{1.5}, Sub: &Page{Title: "sub"}}
	tm := template.Must(template.New("p").Funcs(template.FuncMap{
		"area": func(s Shape) float64 { return s.Area() }, "st": func(n int) State { return State(n) }, "dbl": func(c Celsius) Celsius { return 2 * c }, "join": strings.Join,
	}).Parse(`{{.Upper}} {{.Total}} {{range .Shapes}}[{{.Name}} {{.Area}}]{{end}} {{.Items.a.S}} {{.Items.a.Area}} {{range $i, $e := .Items.b}}{{$i}}:{{$e}} {{end}}{{with .Opt}}{{.Key}} {{.Str}} {{.Swap.Key}}{{end}} {{index .Temps 0}} {{(index .Temps 0).F}} {{dbl (index .Temps 0)}} {{.Sub.Upper}} {{len .Shapes}} {{st 1}} {{.Find "x" "y"}} {{range .Pairs}}{{.Key}}{{.Val}}{{end}} {{eq .Title "hi"}} {{printf "%.1f|%v" .Total .Opt}}
`))
	fmt.Println(tm.Execute(os.Stdout, page))
	fmt.Println(template.Must(template.New("f").Parse("{{.Fail}}")).Execute(os.Stdout, page))
	fmt.Println(template.Must(template.New("f").Parse("{{.Nope}}")).Execute(os.Stdout, page) != nil)
	fmt.Println(template.Must(template.New("f").Parse("{{range $k, $v := .}}{{$k}} {{$v.Area}};{{end}}\n")).Execute(os.Stdout, map[string]Shape{"q": Sq{2}, "c": &Ci{2}}))
	fmt.Println(template.Must(template.New("f").Parse("{{range .}}{{.Key}}-{{.Str}} {{end}}\n")).Execute(os.Stdout, []Pair[string, int]{{"a", 1}, {"b", 2}}))
	fmt.Println(template.Must(template.New("f").Parse("{{.users}} {{.n}} {{range .users}}{{.Area}}{{end}}\n")).Execute(os.Stdout, map[string]any{"users": []Sq{{1}, {2}}, "n": On}))
}
