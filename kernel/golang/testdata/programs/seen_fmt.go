package main

// What fmt, strconv, log and text/tabwriter see of a program's types.

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"
)

type Color int

func (c Color) String() string { return [...]string{"red", "green", "blue"}[c] }

type Celsius float64

func (c Celsius) Format(s fmt.State, verb rune) {
	w, ok := s.Width()
	fmt.Fprintf(s, "%.1f°(%c %d %v %v)", float64(c), verb, w, ok, s.Flag('+'))
}

type Code string

func (c Code) GoString() string { return "Code!" + string(c) }

type Point struct{ X, Y int }
type pair struct {
	a   Color
	b   *Point
	c   []Color
	any any
	err error
	s   fmt.Stringer
}
type Holder struct {
	T   time.Time
	D   time.Duration
	IP  net.IP
	A   netip.Addr
	U   *url.URL
	R   *regexp.Regexp
	B   *big.Int
	F   big.Float
	own time.Duration
	buf bytes.Buffer
}
type Tree struct {
	Name string
	Kids []Tree
	Up   *Tree
	M    map[string]Tree
}
type Embeds struct {
	Point
	*Tree
	Color
	fmt.Stringer
}
type Fail struct{ code int }

func (f Fail) Error() string { return fmt.Sprint("fail ", f.code) }

type Both struct{}

func (Both) Error() string  { return "as error" }
func (Both) String() string { return "as string" }

type PtrOnly struct{ n int }

func (p *PtrOnly) String() string {
	if p == nil {
		return "nil ptr"
	}
	return fmt.Sprint("ptr ", p.n)
}

type NilPanics struct{ n int }

func (p NilPanics) String() string { return fmt.Sprint(p.n) }

type Panics struct{}

func (Panics) String() string { panic("no string") }

type Fn func(int) string
type Ch chan Color
type Arr [2]Color
type Map map[Color]Point
type Bytes []byte
type Gen[K comparable, V any] struct {
	Key K
	Val V
}

func (g Gen[K, V]) String() string { return fmt.Sprintf("<%v=%v>", g.Key, g.Val) }

type Scanned struct{ v string }

func (s *Scanned) Scan(state fmt.ScanState, verb rune) error {
	tok, err := state.Token(true, nil)
	s.v = string(tok) + string(verb)
	return err
}

func main() {
	p := &Point{1, 2}
	fmt.Println(1, Color(1), Celsius(36.6), Code("x"), p, *p)
	fmt.Printf("2 %v %d %s %x %q %T %+v %#v\n", Color(2), Color(2), Color(2), Color(2), Color(2), Color(2), Color(2), Color(2))
	fmt.Printf("3 %+8.2f|%v|%s\n", Celsius(1), Celsius(2), []Celsius{3})
	fmt.Printf("4 %#v %v %#v\n", Code("a"), Code("b"), []Code{"c"})
	x := pair{a: 1, c: []Color{0, 2}, any: Color(1), err: Fail{3}, s: Color(2)}
	fmt.Printf("5 %v\n6 %+v\n7 %#v\n", x, x, x)
	fmt.Printf("8 %v %+v %#v %T\n", *p, *p, *p, p)
	h := Holder{T: time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC), D: 90 * time.Second, IP: net.IPv4(1, 2, 3, 4), A: netip.MustParseAddr("::1"),
		U: &url.URL{Scheme: "http", Host: "a.b"}, R: regexp.MustCompile("a+"), B: big.NewInt(7), F: *big.NewFloat(2.5), own: time.Minute}
	fmt.Printf("9 %v %v %v %v %v %v %v %v\n", h.T, h.D, h.IP, h.A, h.U, h.R, h.B, &h.F)
	h2 := struct {
		T time.Time
		D time.Duration
		A netip.Addr
		B big.Float
		i net.IP
	}{h.T, h.D, h.A, h.F, h.IP}
	fmt.Printf("10 %v\n11 %+v\n", h2, h2)
	fmt.Printf("12 %v\n", []any{h.T, h.D, h.IP, h.A, h.U, h.R, h.B})
	tree := Tree{Name: "a", Kids: []Tree{{Name: "b", Kids: []Tree{}}}, M: map[string]Tree{"k": {Name: "c"}}}
	fmt.Printf("13 %v\n14 %+v\n15 %#v\n", tree, tree, tree)
	e := Embeds{Point: *p, Color: 1}
	fmt.Printf("16 %v %T\n", e.Point, e)
	fmt.Printf("17 %v %s %d %q\n", Fail{4}, Fail{5}, Fail{6}, Fail{7})
	fmt.Println(18, Both{}, &Both{}, []Both{{}})
	var np *PtrOnly
	fmt.Println(19, PtrOnly{1}, &PtrOnly{2}, np, []*PtrOnly{np}[0])
	var nn *NilPanics
	fmt.Println(20, nn, NilPanics{3}, &NilPanics{4})
	fmt.Println(21, Panics{}, []any{Panics{}})
	fmt.Printf("22 %T %T %T %T %T %T\n", Fn(nil), Ch(nil), Arr{}, Map{}, Bytes{}, Gen[string, Color]{})
	fmt.Printf("23 %v %v %v %s %x\n", Arr{0, 1}, Map{2: {1, 2}, 0: {}}, Bytes("hi"), Bytes("hi"), Bytes("hi"))
	fmt.Printf("24 %v %+v %s %T\n", Gen[string, int]{"a", 1}, Gen[Color, Point]{1, *p}, Gen[int, []int]{}, Gen[Point, map[string]Color]{})
	fmt.Printf("25 %T %T %T %T\n", struct{ a Color }{}, []Tree{}, map[Color]*Tree{}, func(Color, ...Point) (Tree, error) { return Tree{}, nil })
	fmt.Printf("26 %T %T %T\n", struct {
		Point
		x int `tag:"y"`
	}{}, [3]*Color{}, make(chan<- Point))
	fmt.Printf("27 %d %s %v\n", struct{ C Color }{1}, struct{ C Color }{1}, struct{ c Color }{1})
	fmt.Printf("28 %6d|%-6d|%06d|%+d|%x\n", Color(1), Color(1), Color(1), Color(1), []Color{1, 2})
	fmt.Printf("29 %v %v\n", map[Color]string{2: "b", 0: "a"}, map[Point]Color{{1, 2}: 1, {0, 5}: 2})
	fmt.Printf("30 %v %v\n", any(Color(1)) == any(Color(1)), any(Color(1)) == any(1))
	fmt.Printf("31 %[2]v %[1]T %[2]T\n", Color(0), *p)
	fmt.Printf("32 %!|%z %d\n", Color(1), "s")
	fmt.Printf("33 %*d %.*f\n", 4, Color(1), 2, 3.14159)
	fmt.Printf("34 %t %v\n", Color(1), struct{ e error }{nil})
	fmt.Printf("35 %s\n", errors.Join(Fail{1}, fmt.Errorf("w: %w", Fail{2})))
	var sc Scanned
	n, err := fmt.Sscan("abc", &sc)
	fmt.Println(36, n, err, sc.v)
	var c Color
	var f struct{ X, Y int }
	n, err = fmt.Sscanf("3 4-5", "%d %d-%d", &c, &f.X, &f.Y)
	fmt.Println(37, n, err, int(c), f)
	l := log.New(os.Stdout, "38 ", log.Lmsgprefix)
	l.Println(Color(1), Fail{8}, *p)
	l.Printf("%v %T", tree.Kids, tree)
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 1, ' ', 0)
	fmt.Fprintln(w, "39", "\t", Color(0), "\t", Fail{9})
	w.Flush()
	fmt.Println(40, strings.Repeat(fmt.Sprint(Color(2)), 2), fmt.Sprintln(Color(1), Color(2)) == "green blue\n")
	fmt.Println(fmt.Append(nil, Color(1)), string(fmt.Appendf(nil, "41 %v", Color(1))))
	defer func() {
		r := recover()
		fmt.Printf("42 %v %T\n", r, r)
	}()
	panic(Fail{10})
}
