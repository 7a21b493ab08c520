package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"time"
)

type Celsius float64

func (c Celsius) String() string { return fmt.Sprintf("%.1f°C", float64(c)) }

type Point struct {
	X, Y int
	name string
}
type Shape interface {
	Area() float64
	Perimeter() float64
}
type Rect struct{ W, H float64 }

func (r Rect) Area() float64      { return r.W * r.H }
func (r Rect) Perimeter() float64 { return 2 * (r.W + r.H) }
func (r *Rect) Scale(f float64)   { r.W *= f; r.H *= f }

type Named struct {
	Rect
	*Point
	Tags map[string]int
	T    Celsius
	Err  error
	F    func(int) string
	Ch   chan int
	In   any
}
type Weekday int

const (
	Sun Weekday = iota
	Mon
	Tue
)

func (d Weekday) String() string { return [...]string{"Sun", "Mon", "Tue"}[d] }

type G struct{ v int }

func (g G) GoString() string { return fmt.Sprintf("G<%d>", g.v) }

type F struct{ v int }

func (f F) Format(s fmt.State, verb rune) {
	w, ok := s.Width()
	fmt.Fprintf(s, "F(%c,%d,%v,%v)%d", verb, w, ok, s.Flag('+'), f.v)
}

type MyErr struct {
	Code int
	Err  error
}

func (e *MyErr) Error() string { return fmt.Sprintf("code %d: %v", e.Code, e.Err) }
func (e *MyErr) Unwrap() error { return e.Err }

type List[T any] struct {
	head *node[T]
	n    int
}
type node[T any] struct {
	v    T
	next *node[T]
}
type Pair[K comparable, V any] struct {
	Key K
	Val V
}

func main() {
	c := Celsius(21.55)
	p := Point{1, 2, "p"}
	r := &Rect{2, 3}
	r.Scale(2)
	var s Shape = r
	fmt.Println(c, p, r, *r, s)
	fmt.Printf("%v %+v %#v %T\n", c, c, c, c)
	fmt.Printf("%v %+v %#v %T\n", p, p, p, p)
	fmt.Printf("%v %+v %T\n", r, r, r)
	fmt.Printf("%v %+v %T %T\n", s, s, s, &s)
	fmt.Printf("%v %+v %#v %T\n", *r, *r, *r, *r)
	n := Named{Rect: *r, Tags: map[string]int{"b": 2, "a": 1}, T: c}
	fmt.Printf("%v\n%+v\n%#v\n%T\n", n, n, n, n)
	fmt.Printf("%d %s %v %x %q\n", Mon, Mon, Mon, Mon, Mon)
	fmt.Printf("%v %+v %#v %T\n", []Weekday{Sun, Tue}, map[Weekday]Celsius{Mon: 3}, []Weekday{Sun, Tue}, map[Weekday]Celsius{})
	fmt.Printf("%v %#v %+v %s\n", G{3}, G{3}, G{3}, []any{G{3}})
	fmt.Printf("%v %#v %+5v %s %d\n", F{3}, F{3}, F{3}, F{3}, []F{{1}, {2}})
	e := fmt.Errorf("wrap: %w", &MyErr{3, io.EOF})
	var me *MyErr
	fmt.Println(e, errors.Is(e, io.EOF), errors.As(e, &me), me.Code)
	fmt.Printf("%v %T %T\n", e, e, me)
	fmt.Printf("%v %+v %T\n", Pair[string, int]{"a", 1}, Pair[string, int]{"a", 1}, Pair[string, int]{"a", 1})
	fmt.Printf("%T %T\n", List[int]{}, &List[Point]{})
	fmt.Printf("%#v\n", Pair[string, Point]{"a", p})
	fmt.Printf("%T %T %T %T\n", func(int) Point { return p }, []Point{}, [3]*Point{}, make(chan Point))
	fmt.Printf("%T %T\n", struct{ A Point }{p}, map[Point][]Shape{})
	fmt.Printf("%v %v\n", []Shape{*r}, []error{me})
	fmt.Printf("%v %d %s\n", []byte("hi"), []byte("hi"), []byte("hi"))
	fmt.Printf("%6.2f|%-8s|%08d|%+d|%x|%X|%o|%b|%e|%g|%t|%c|%U|%p\n", 3.14159, "go", 42, 42, 255, 255, 8, 5, 1e6, 1e21, true, 'x', 'x', nil)
	fmt.Printf("%!|%z %d\n", 3)
	fmt.Printf("%d %s\n", "str", 3)
	fmt.Printf("%[2]d %[1]d %*d\n", 1, 2, 5, 3)
	fmt.Printf("%v %v\n", &p, &[]int{1})
	fmt.Printf("%v %v\n", &map[string]Point{"a": p}, &n.Tags)
	fmt.Println(reflect.TypeOf(p).Kind(), reflect.TypeOf(c).Kind(), reflect.ValueOf(p).NumField())
	fmt.Println(reflect.DeepEqual(p, Point{1, 2, "p"}), reflect.DeepEqual([]Point{p}, []Point{p}))
	var nilp *Point
	var nils Shape
	var nile error
	fmt.Println(nilp, nils, nile, nilp == nil)
	fmt.Printf("%v %+v %T %T %v\n", nilp, nils, nilp, nils, nile)
	fmt.Printf("%s\n", error(me))
	b, err := json.Marshal(n.Rect)
	fmt.Println(string(b), err)
	fmt.Fprintln(os.Stdout, strings.Repeat("=", 5), time.Duration(1500)*time.Millisecond)
	fmt.Printf("%v %s\n", time.Second, 90*time.Minute)
	fmt.Println(errors.Join(errors.New("a"), errors.New("b")))
	type local struct{ A int }
	fmt.Printf("%T %v %#v\n", local{1}, local{1}, local{1})
	fmt.Printf("%v\n", struct {
		A Celsius
		B *Celsius
	}{c, nil})
	fmt.Printf("%5v|%-5v|%05d\n", Mon, Mon, Mon)
	fmt.Printf("%v %v\n", [2]Celsius{1, 2}, map[string]Weekday{"x": Tue})
	fmt.Println(fmt.Sprint("a", 1, 2, "b", c, 3), fmt.Sprintln("x", p))
	var pp **Rect
	pp = &r
	fmt.Printf("%T %v\n", pp, **pp)
	fmt.Printf("%t %v\n", "x", complex(1, -2))
	fmt.Printf("%x %X % x\n", "hello", []byte{1, 171}, "abc")
	fmt.Printf("%q %v %c\n", []string{"a b", "c"}, []string{"a b", "c"}, []rune("hé"))
}

type Pt struct{ X, Y int }
type Num float64

func (p *Pt) Scan(st fmt.ScanState, verb rune) error {
	_, err := fmt.Fscanf(st, "%d-%d", &p.X, &p.Y)
	return err
}
func init() {
	var p Pt
	var n Num
	var s struct{ A int }
	k, err := fmt.Sscan("3-4 5.5 7", &p, &n, &s.A)
	fmt.Println(k, err, p, n, s)
	fmt.Printf("%T %T %T %T\n", struct{}{}, struct {
		A []Pt `json:"a b, {"`
		B func(int, string) (Pt, error)
	}{}, Pair[Pair[string, Pt], func(int) struct{}]{}, []interface{ M(int, ...string) }{})
	fmt.Printf("%T %#v\n", []any{}, map[string]any{"a": []interface{ Area() float64 }{}})
}
