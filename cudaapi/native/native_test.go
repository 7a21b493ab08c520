package native_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/gokernel"
	"gocuda/cudaapi/native"
)

type imports struct{}

func (imports) Import(path string) (*types.Package, error) { return gokernel.Import(path) }

// compiled compiles all functions of a source.
func compiled(t *testing.T, source string, places ...unsafe.Pointer) (map[string]*native.Func, error) {
	t.Helper()
	if err := native.Available(); err != nil {
		t.Skip(err)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "In[1]", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{}}
	conf := types.Config{Importer: imports{}}
	if _, err := conf.Check("main", fset, []*ast.File{file}, info); err != nil {
		t.Fatal(err)
	}
	decls := make(map[*types.Func]*ast.FuncDecl)
	var funcs []*types.Func
	for _, d := range file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			o := info.Defs[d.Name].(*types.Func)
			decls[o] = d
			if o.Signature().TypeParams().Len() == 0 {
				funcs = append(funcs, o)
			}
		}
	}
	p := native.Program(fset, funcs, nil, func(o *types.Func) (gokernel.HostSource, bool) {
		d := decls[o]
		return gokernel.HostSource{Decl: d, Info: info}, d != nil
	}, gokernel.Seen{})
	if why := p.Refused(); why != nil {
		return nil, why
	}
	code, err := native.Compile(p)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Code)
	}
	code.Bind(places)
	list, err := code.Funcs()
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]*native.Func)
	for _, f := range list {
		byName[f.Func.Name()] = f
	}
	return byName, nil
}

// Code is unloaded when nothing can call it, and not while something does. Values may
// point to constant strings.
func TestUnloaded(t *testing.T) {
	loaded := func() (n int) {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Skip(err)
		}
		return strings.Count(string(maps), "gocuda-")
	}
	load := func(text string) *native.Func {
		funcs, err := compiled(t, "package main\nfunc f(n int) (s int) { for i := 0; i < n; i++ { s += i }; return }\nfunc g(b bool) string { if b { return "+text+" }; return "+text+" }")
		if err != nil {
			t.Fatal(err)
		}
		return funcs["f"]
	}
	const loads = 20
	kept := load("string([]byte{65})")
	one := loaded()
	for range loads {
		load("string([]byte{65})")
	}
	if all := loaded(); all <= one {
		t.Fatalf("%d places of loaded code, with one %d", all, one)
	}
	for i := 0; i < 200 && loaded() > one; i++ {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if loaded() > one {
		t.Errorf("code stays loaded that nothing can call: %d places, with one %d", loaded(), one)
	}
	frame := &struct{ n, s int }{n: 5}
	if o := kept.Call(unsafe.Pointer(frame), nil); o.State != native.Returned || frame.s != 10 {
		t.Errorf("%+v, %+v", o, frame)
	}
	load(`"a constant"`)
	for range 20 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if loaded() <= one {
		t.Error("code was unloaded to whose strings values may point")
	}
	runtime.KeepAlive(kept)
}

func TestCall(t *testing.T) {
	x := 40
	funcs, err := compiled(t, `package main

var x int

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func sum(list []float64, s string) (total float64, n int) {
	for _, v := range list {
		total += v
	}
	for i, r := range s {
		if r == 'ö' {
			n += i
		}
	}
	x += 2
	return total, n
}

func at(list []int32, i int) int32 { return list[i] }

func deep(n int) int { return deep(n+1) + 1 }

func turns(p *[4]int) (n int) {
	for range *p {
		n++
	}
	for i := range *p {
		n += i
	}
	return n
}
`, unsafe.Pointer(&x))
	if err != nil {
		t.Fatal(err)
	}
	f := &struct{ n, r int }{n: 25}
	if out := funcs["fib"].Call(unsafe.Pointer(f), nil); f.r != 75025 || out.State != native.Returned {
		t.Error(f.r, out)
	}
	s := &struct {
		list []float64
		s    string
		r0   float64
		r1   int
	}{list: []float64{1, 2, 3.5}, s: "hallöchen"}
	if out := funcs["sum"].Call(unsafe.Pointer(s), nil); s.r0 != 6.5 || s.r1 != 4 || x != 42 || out.State != native.Returned {
		t.Error(s, x, out)
	}
	a := &struct {
		list []int32
		i    int
		r    int32
	}{list: make([]int32, 3), i: -7}
	out := funcs["at"].Call(unsafe.Pointer(a), nil)
	if out.State != native.Panicked || out.Site.What != gokernel.IndexRange || out.Args != [4]int64{-7, 3} || out.Site.Func != "main.at" || out.Site.Pos.Line != 25 {
		t.Error(out)
	}
	r := &struct {
		p *[4]int
		n int
	}{}
	if out := funcs["turns"].Call(unsafe.Pointer(r), nil); out.State != native.Returned || r.n != 10 {
		t.Error(r.n, out)
	}
	if out := funcs["deep"].Call(unsafe.Pointer(f), nil); out.State != native.Overflowed || len(out.Calls) != 100 {
		t.Error(out)
	}
}

// What cannot be sure to mean the same is refused, with its place.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"func f(m map[any]int) int { return m[1] }", "In[1]:3:8: a parameter of type map[any]int cannot be in compiled code: the keys of its maps are numbers, bools or strings"},
		{"func f(m map[int]any, p *int) { m[1] = struct{ p *int }{p} }", "In[1]:3:40: compiled code makes no interface of a struct or array of one pointer"},
		{"type T *T\nfunc f(p T) T { return *p }", "In[1]:4:8: a parameter of type T cannot be in compiled code: it consists of nothing but itself"},
		{"type T []T\nfunc f() int { var t T; return len(t) }", "In[1]:4:20: a variable of type T cannot be in compiled code: it consists of nothing but itself"},
		{"func f(x int) *int { return &x }", "In[1]:3:22: compiled code cannot return the address of this local variable"},
		{"func f(x int, p **int) { *p = &x }", "In[1]:3:26: compiled code cannot store the address of a local variable in memory"},
		{"func f(s string) []rune { return []rune(s) }", "In[1]:3:34: a conversion to []rune cannot be made in compiled code"},
		{"func f(x *float64) { println(x) }", "In[1]:3:22: println cannot be used in compiled code"},
		{"import \"fmt\"\ntype T int\nfunc (T) String() string { return \"\" }\nfunc f(x T) { fmt.Println(x) }", "In[1]:6:15: fmt.Println cannot be called in compiled code"},
		{"import \"fmt\"\nfunc f(x []any) { fmt.Println(x...) }", "In[1]:4:19: fmt.Println cannot be called in compiled code"},
		{"import \"fmt\"\nfunc f(e error) int { n, _ := fmt.Println(e); return n }", "In[1]:4:31: fmt.Println cannot be called in compiled code"},
	} {
		_, err := compiled(t, "package main\n\n"+c.source+"\n")
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\n%v\nwant %s", c.source, err, c.want)
		}
	}
}

// Functions of package math give Go's bits.
func TestMath(t *testing.T) {
	names := strings.Fields("Acos Asin Atan Cbrt Cos Cosh Erf Erfc Exp Exp2 Expm1 Gamma Log Log10 Log1p Log2 Sin Sinh Tan Tanh Sqrt Floor Ceil Trunc Round RoundToEven Abs")
	two := strings.Fields("Atan2 Hypot Pow Max Min Mod Remainder Copysign")
	var b strings.Builder
	b.WriteString("package main\n\nimport \"math\"\n\nfunc f(x, y float64, out *[64]float64) {\n")
	for i, name := range names {
		fmt.Fprintf(&b, "out[%d] = math.%s(x)\n", i, name)
	}
	for i, name := range two {
		fmt.Fprintf(&b, "out[%d] = math.%s(x, y)\n", len(names)+i, name)
	}
	b.WriteString("}\n")
	funcs, err := compiled(t, b.String())
	if err != nil {
		t.Skip(err) // on machines where C++ cannot call Go
	}
	one := []func(float64) float64{math.Acos, math.Asin, math.Atan, math.Cbrt, math.Cos, math.Cosh, math.Erf, math.Erfc, math.Exp, math.Exp2, math.Expm1, math.Gamma, math.Log,
		math.Log10, math.Log1p, math.Log2, math.Sin, math.Sinh, math.Tan, math.Tanh, math.Sqrt, math.Floor, math.Ceil, math.Trunc, math.Round, math.RoundToEven, math.Abs}
	both := []func(float64, float64) float64{math.Atan2, math.Hypot, math.Pow, math.Max, math.Min, math.Mod, math.Remainder, math.Copysign}
	r := rand.New(rand.NewPCG(20261123, 1))
	values := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, 3, -3, 1e300, -1e300, 5e-324, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, 1 << 53, 1e17, 709.5, -745.2}
	for range 2000 {
		values = append(values, math.Float64frombits(r.Uint64()), r.NormFloat64()*100)
	}
	fr := &struct {
		x, y float64
		out  *[64]float64
	}{out: new([64]float64)}
	for i, x := range values {
		fr.x, fr.y = x, values[(i*7+3)%len(values)]
		if o := funcs["f"].Call(unsafe.Pointer(fr), nil); o.State != native.Returned {
			t.Fatal(o)
		}
		check := func(name string, got, want float64) {
			if math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
				t.Errorf("math.%s(%v, %v) = %v, of Go %v", name, fr.x, fr.y, got, want)
			}
		}
		for j, f := range one {
			check(names[j], fr.out[j], f(fr.x))
		}
		for j, f := range both {
			check(two[j], fr.out[len(one)+j], f(fr.x, fr.y))
		}
	}
}

// A NaN that comes of numbers without a sign has one, as on this machine in Go.
func TestSignOfNaN(t *testing.T) {
	funcs, err := compiled(t, `package main

import "math"

func f(n uint32, x float64) (a, b float64, c bool, d float64) {
	y := float64(n)
	q := y / float64(n)
	return math.Abs(q * y), math.Copysign(1, x/x), math.Signbit(math.Sqrt(y) / y), math.Abs(float64(float32(q)))
}
`)
	if err != nil {
		t.Fatal(err)
	}
	f := func(n uint32, x float64) (a, b float64, c bool, d float64) {
		y := float64(n)
		q := y / float64(n)
		return math.Abs(q * y), math.Copysign(1, x/x), math.Signbit(math.Sqrt(y) / y), math.Abs(float64(float32(q)))
	}
	for _, n := range []uint32{0, 3} {
		fr := &struct {
			n    uint32
			x    float64
			a, b float64
			c    bool
			d    float64
		}{n: n, x: float64(n)}
		funcs["f"].Call(unsafe.Pointer(fr), nil)
		a, b, c, d := f(n, fr.x)
		bits := math.Float64bits
		if bits(fr.a) != bits(a) || bits(fr.b) != bits(b) || fr.c != c || bits(fr.d) != bits(d) {
			t.Errorf("of %d: %x %x %v %x, of Go %x %x %v %x", n, bits(fr.a), bits(fr.b), fr.c, bits(fr.d), bits(a), bits(b), c, bits(d))
		}
	}
}

// Variables of functions that do not call each other need no room together.
func TestStack(t *testing.T) {
	const f = "func %s() int { var x [10000]int; for i := range x { x[i] = i }; return x[9999]%s }\n"
	one, other := fmt.Sprintf(f, "f", ""), fmt.Sprintf(f, "g", "")
	if _, err := compiled(t, "package main\n"+one+other); err != nil {
		t.Error(err)
	}
	_, err := compiled(t, "package main\n"+one+fmt.Sprintf(f, "g", " + f()"))
	if want := "In[1]:3:16: the variables of the functions need more than 128 KiB of stack"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Characters of strings, whole and broken, and products and quotients of small complex
// numbers, are Go's.
func TestRunesAndComplex(t *testing.T) {
	funcs, err := compiled(t, `package main

func runes(s string, out []int64) (n int) {
	for i, r := range s {
		out[n], out[n+1] = int64(i), int64(r)
		n += 2
	}
	return n
}

func product(x, y complex64) (p, q complex64, z complex128) { return x * y, x / y, complex128(x) * complex128(y) }
`)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(20261123, 2))
	pieces := []string{"a", "\x80", "\xc3", "\xc3\xb6", "\xe2\x82\xac", "\xe2\x82", "\xed\xa0\x80", "\xf0\x9f\x98\x80", "\xf0\x9f", "\xff", "\xc0\x80", "\xe0\x80\x80", "\xf4\x90\x80\x80", "\x00"}
	s := &struct {
		s   string
		out []int64
		n   int
	}{}
	for range 500 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
			if r.IntN(3) == 0 {
				b.WriteByte(byte(r.Uint32()))
			}
		}
		s.s, s.out, s.n = b.String(), make([]int64, 200), 0
		funcs["runes"].Call(unsafe.Pointer(s), nil)
		var want []int64
		for i, c := range s.s {
			want = append(want, int64(i), int64(c))
		}
		if !slices.Equal(s.out[:s.n], want) {
			t.Fatalf("%q: %v, of Go %v", s.s, s.out[:s.n], want)
		}
	}
	c := &struct {
		x, y, p, q complex64
		z          complex128
	}{}
	for range 5000 {
		f := func() float32 { return float32(r.NormFloat64()) * float32(math.Pow(10, float64(r.IntN(9)-4))) }
		c.x, c.y = complex(f(), f()), complex(f(), f())
		funcs["product"].Call(unsafe.Pointer(c), nil)
		if p, q, z := c.x*c.y, c.x/c.y, complex128(c.x)*complex128(c.y); c.p != p || c.q != q || c.z != z {
			t.Fatalf("%v and %v: %v, %v and %v, of Go %v, %v and %v", c.x, c.y, c.p, c.q, c.z, p, q, z)
		}
	}
}
