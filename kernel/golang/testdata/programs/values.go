package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"text/template"
	"time"
	"unicode/utf8"
	"unsafe"
)

type Size uint64

const (
	_       = iota
	KB Size = 1 << (10 * iota)
	MB
	GB
)
const (
	a0 = iota * 10
	a1
	_
	a3
	s0 = "s"
	s1
	a6 = iota
)
const (
	x, y = iota, -iota
	x1, y1
)
const Big = 1 << 100
const huge = Big * Big
const typed int8 = -128
const f32 float32 = 1.0 / 3
const third = 1.0 / 3
const r = 'a' + 1
const c = 2i * 2i
const mask = ^uint32(0)
const str = "const" + " str"
const l = len(str)

type Perm uint8

const (
	Read Perm = 1 << iota
	Write
	Exec
)

func (p Perm) String() string {
	var s []string
	for i, n := range []string{"r", "w", "x"} {
		if p&(1<<i) != 0 {
			s = append(s, n)
		}
	}
	return strings.Join(s, "|")
}
func (s Size) String() string {
	switch {
	case s >= GB:
		return fmt.Sprintf("%.1fGB", float64(s)/float64(GB))
	case s >= MB:
		return fmt.Sprintf("%.1fMB", float64(s)/float64(MB))
	}
	return fmt.Sprintf("%dB", uint64(s))
}

type Vec [3]float64

func (v Vec) Add(o Vec) Vec {
	for i := range v {
		v[i] += o[i]
	}
	return v
}
func (v *Vec) Scale(f float64) {
	for i := range v {
		v[i] *= f
	}
}
func (v Vec) Norm() float64 { return math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2]) }

type Person struct {
	Name string
	Age  int
	Tags []string
}

func (p Person) Greeting() string  { return "Hi " + p.Name }
func (p Person) Older(n int) int   { return p.Age + n }
func (p *Person) Birthday() string { p.Age++; return "" }

func neg(x float64) float64                 { return x }
func variadic(pre string, xs ...int) string { return fmt.Sprint(pre, len(xs), xs, xs == nil) }
func multi() (int, string, error)           { return 1, "two", nil }
func take(i int, s string, e error) string  { return fmt.Sprint(i, s, e) }

type Node struct {
	Val         int
	Left, Right *Node
}

func (n *Node) Sum() int {
	if n == nil {
		return 0
	}
	return n.Val + n.Left.Sum() + n.Right.Sum()
}

type State func(*machine) State
type machine struct{ log []string }

func start(m *machine) State  { m.log = append(m.log, "start"); return middle }
func middle(m *machine) State { m.log = append(m.log, "middle"); return nil }

type HandlerFunc func(string) string

func (h HandlerFunc) Handle(s string) string { return h(s) }

type Handler interface{ Handle(string) string }

func chain(h Handler, n int) Handler {
	return HandlerFunc(func(s string) string { return fmt.Sprint(n, "(", h.Handle(s), ")") })
}

var (
	g1 = g2 + 1
	g2 = initG()
)

func initG() int { return 41 }

func main() {
	fmt.Println(KB, MB, GB, uint64(MB), 3*MB/2)
	fmt.Println(a0, a1, a3, s0, s1, a6, x, y, x1, y1)
	fmt.Println(Big>>98, huge/Big/Big, typed, f32, third, r, c, mask, l, string(rune(r)))
	fmt.Println(Read|Exec, Perm(7), Perm(0))
	fmt.Printf("%v %d %08b %s %T\n", Read|Write, Write, Exec, Perm(5), Read)
	var v Vec = Vec{1, 2, 3}
	w := v
	w.Scale(2)
	fmt.Println(v, w, v.Add(w), v == Vec{1, 2, 3}, w.Norm())
	arr := [...]string{2: "c", 0: "a"}
	brr := arr
	brr[1] = "b"
	fmt.Println(len(arr), arr, brr, arr == brr)
	grid := [2][3]int{{1}, {4, 5, 6}}
	g := grid
	g[0][0] = 99
	fmt.Println(grid, g)
	pa := &arr
	pa[0] = "z"
	fmt.Println(arr, len(pa))
	sl := arr[:]
	sl[2] = "via"
	fmt.Println(arr, cap(sl[:1]), cap(sl[:1:2]))
	ms := map[string]Person{"a": {"A", 1, nil}}
	p := ms["a"]
	p.Age = 50
	ms["a"] = p
	fmt.Println(ms, ms["none"].Name == "")
	mp := map[string]*Person{"b": {Name: "B"}}
	mp["b"].Age++
	mp["b"].Tags = append(mp["b"].Tags, "t")
	fmt.Println(*mp["b"])
	mm := map[string]map[string]int{}
	for _, k := range []string{"x/1", "y/2", "x/3"} {
		a, b, _ := strings.Cut(k, "/")
		if mm[a] == nil {
			mm[a] = map[string]int{}
		}
		mm[a][b]++
	}
	fmt.Println(mm)
	t := template.Must(template.New("t").Funcs(template.FuncMap{"up": strings.ToUpper}).Parse(`{{range .}}{{.Name | up}} {{.Age}}{{range $i, $t := .Tags}} {{$i}}={{$t}}{{else}} none{{end}}; {{end}}{{"\n"}}`))
	if err := t.Execute(os.Stdout, []Person{{"Al", 3, []string{"q"}}, {"Bo", 4, nil}}); err != nil {
		fmt.Println(err)
	}
	t2 := template.Must(template.New("m").Parse("{{.Greeting}} {{.Older 3}}\n"))
	if err := t2.Execute(os.Stdout, Person{"Cy", 5, nil}); err != nil {
		fmt.Println(err)
	}
	t3 := template.Must(template.New("m").Parse("{{range .}}{{.Greeting}}, {{end}}{{len .}} {{(index . 0).Older 1}} {{printf \"%v\" (index . 1)}}\n"))
	if err := t3.Execute(os.Stdout, []*Person{{"Di", 5, nil}, {"Ed", 6, nil}}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(variadic("a"), variadic("b", 1, 2), variadic("c", []int{4}...), take(multi()))
	n := &Node{1, &Node{2, nil, nil}, &Node{Val: 3, Left: &Node{Val: 4}}}
	fmt.Println(n.Sum())
	m := &machine{}
	for s := State(start); s != nil; {
		s = s(m)
	}
	fmt.Println(m.log)
	var h Handler = HandlerFunc(strings.ToUpper)
	for i := range 3 {
		h = chain(h, i)
	}
	fmt.Println(h.Handle("abc"))
	fmt.Println(g1, g2)
	var i8 int8 = 127
	i8++
	var u8 uint8
	u8--
	fmt.Println(i8, u8, -7/2, -7%3, 7&^5, 1<<3|1, 6^3, ^5)
	var u uint = 3
	fmt.Println(1<<u, 0x1p-2, 0b101, 0o17, 1_000)
	fmt.Println(math.MaxInt64, uint64(math.MaxUint64), math.Pi, math.Inf(1), math.NaN())
	var f32v float32 = 0.1
	fmt.Println(f32v, float64(f32v), f32v*f32v, 0.1+0.2, float32(16777216.0)+1)
	fmt.Println(uint8(int(300)&0xff), int64(math.Float64bits(1)))
	s := "héllo, 世界"
	fmt.Println(len(s), utf8.RuneCountInString(s), []rune(s)[1], []byte(s)[:3], s[1:3], string([]rune(s)[7:]), strings.ToUpper(s))
	fmt.Printf("%q %x %X %U %c %+q %v\n", s, "hi", []byte("hi"), '世', 0x4E16, s, []byte("a"))
	fmt.Printf("%5d|%-5d|%05d|%+d|%x|%o|%b|%#x|%e|%g|%8.3f|%-8.2f|%t|%p\n", 42, 42, 42, 42, 255, 8, 5, 255, 1234.5678, 1e21, 3.14159, 2.5, true, nil)
	fmt.Printf("%v %+v %#v %T\n", p, p, p.Tags, p)
	fmt.Printf("%*d %-*d| %[2]d %[1]q %d%%\n", 5, 42, 3, 7)
	fmt.Printf("%!d %z %d\n", 1, "x")
	fmt.Printf("%v %v %v %v\n", struct{}{}, [0]int{}, []string(nil), map[string]int(nil))
	fmt.Printf("%#v %#v %#v %#v\n", []string{"a"}, map[string]int{"z": 1, "a": 2}, 1.0, struct {
		A int
		B string
	}{1, "x"})
	fmt.Printf("%T %T %T %T %T %T\n", 1, 'a', 1.5, "s", nil, 2i)
	fmt.Printf("%T %T %T %T\n", []any{1}, map[string][]int{}, func(int) string { return "" }, make(chan<- int))
	fmt.Printf("%6.2f|%6v|%-6v|%06d\n", []float64{1, 2.5}, []int{1}, "ab", -42)
	fmt.Printf("%s %v %d\n", error(nil), error(nil), []any{1, "a", nil})
	fmt.Println(strconv.Quote("a\tb"), strconv.FormatInt(-255, 16))
	_, err := strconv.Atoi("12x")
	fmt.Println(err)
	fmt.Println(unsafe.Sizeof(p), unsafe.Sizeof(struct {
		a bool
		b int64
		c bool
	}{}))
	tw := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "a\tb\tc\t")
	fmt.Fprintln(tw, "aaa\tbbbb\tc\t")
	tw.Flush()
	fmt.Println(time.Duration(1500)*time.Millisecond, 2*time.Hour+30*time.Minute)
	d := time.Date(2024, time.February, 29, 12, 0, 0, 0, time.UTC)
	fmt.Println(d.Format(time.RFC3339), d.Weekday(), d.AddDate(1, 0, 0).Format("2006-01-02"), d)
	fmt.Println(complex(1, 2)*complex(0, 1), real(3+4i), imag(c))
	var iface any = 3
	switch v := iface.(type) {
	case float64:
		fmt.Println("f", v)
	case int:
		fmt.Println("i", v+1)
	}
	var np *Person
	fmt.Println(np == nil, np)
	func() {
		defer func() { fmt.Println(recover()) }()
		_ = iface.(string)
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		var h Handler
		h.Handle("")
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		_ = iface.(Handler)
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		var x any = p
		_ = x.(*Person)
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		a := make([]int, 2, 4)
		k := 5
		_ = a[1:k]
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		k := -1
		_ = make([]int, k)
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		_ = [4]int([]int{1, 2})
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		ch := make(chan int)
		close(ch)
		close(ch)
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		panic(fmt.Errorf("wrapped %w", os.ErrExist))
	}()
}
