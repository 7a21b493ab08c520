package main

import (
	"fmt"
	"math"
	"sync"
)

type V struct{ X, Y float64 }
type N struct {
	A [2]float32
	V V
}
type F float64

func (f F) M() bool                     { return math.Signbit(float64(f)) }
func (f *F) P() bool                    { return math.Signbit(float64(*f)) }
func (v V) S() bool                     { return math.Signbit(v.X) }
func (v V) With(x float64) (bool, bool) { return math.Signbit(v.X), math.Signbit(x) }

type I interface{ M() bool }
type J interface{ With(x float64) (bool, bool) }

func f(x float64) bool             { return math.Signbit(x) }
func f32(x float32) bool           { return math.Signbit(float64(x)) }
func boxed(x float64) func() bool  { return func() bool { x += 0 * x; return math.Signbit(x) } }
func addr(x float64) bool          { p := &x; return math.Signbit(*p) }
func two(a int, x, y float64) bool { return math.Signbit(y) && math.Signbit(x) && a == 3 }
func c(x complex128) bool          { return math.Signbit(real(x)) && math.Signbit(imag(x)) }
func arr(x [3]float64) bool        { return math.Signbit(x[1]) }
func st(x N) bool                  { return math.Signbit(x.V.Y) && math.Signbit(float64(x.A[1])) }
func gen[T ~float64 | ~float32](x T) bool {
	return math.Signbit(float64(x))
}
func id[T any](x T) T          { return x }
func vr(x ...float64) bool     { return math.Signbit(x[0]) }
func two2() (float64, float64) { return n(), n() }
func pair(x, y float64) bool   { return math.Signbit(x) && math.Signbit(y) }
func an(x any) bool            { return math.Signbit(x.(float64)) }
func n() float64               { return math.Copysign(0, -1) }
func named(x float64) (r float64) {
	defer func() { recover() }()
	r = x
	return
}
func rec(x float64, k int) bool {
	if k == 0 {
		return math.Signbit(x)
	}
	return rec(x, k-1)
}
func down(x float64) float64 {
	if x >= 1 {
		return down(x-1) * down(0.5+(x-1))
	}
	return x
}
func mixed(x float64, y float32, k int) bool {
	switch k {
	case 0:
		return math.Signbit(x) && math.Signbit(float64(y))
	case 1:
		return mixed(x-0, -y, 0) && !mixed(x+1-1, y, 0) && mixed(x*1, -y, 0)
	}
	if mixed(float64(k), 1, 0) || mixed(x-1, y+1, 0) {
		return false
	}
	return mixed(x, y, 1)
}
func cb(g func(float64) bool) bool { return g(n()) }

type FT func(x float64) bool

type H struct{ g func(V) bool }

func main() {
	z := n()
	say := func(what string, ok bool) { fmt.Println(what, ok) }
	say("f", f(z))
	say("f2", f(n()))
	say("f3", f(-z*1))
	say("f4", f(z*3))
	say("32", f32(float32(z)))
	say("boxed", boxed(z)())
	say("addr", addr(z))
	say("two", two(3, z, z))
	say("c", c(complex(z, z)))
	say("arr", arr([3]float64{0, z}))
	say("st", st(N{V: V{0, z}, A: [2]float32{0, float32(z)}}))
	say("gen", gen(z))
	say("gen2", gen(F(z)))
	say("id", math.Signbit(id(z)))
	say("idv", math.Signbit(id(V{z, 0}).X))
	say("vr", vr(z))
	say("pair", pair(two2()))
	say("an", an(z))
	say("named", math.Signbit(named(z)))
	say("rec", rec(z, 3))
	say("down", math.Signbit(down(z)))
	dv := down
	say("downv", math.Signbit(dv(z)) && !math.Signbit(dv(1)))
	fmt.Println(down(3), 1/down(1), -down(1))
	say("mixed", mixed(z, 0, 2))
	say("cb", cb(f))
	say("cb2", cb(func(x float64) bool { return math.Signbit(x) }))
	k := 0
	say("cb3", cb(func(x float64) bool { k++; return math.Signbit(x) }))
	g := func(x float64) bool { return math.Signbit(x) }
	say("g", g(z))
	g = f
	say("g=f", g(z))
	say("lit", func(x float64) bool { return math.Signbit(x) }(z))
	say("M", F(z).M())
	fz := F(z)
	say("P", fz.P())
	say("S", V{z, 0}.S())
	a, b := V{z, 0}.With(z)
	say("W", a && b)
	mv := V{z, 0}.S
	say("mv", mv())
	me := V.S
	say("me", me(V{z, 0}))
	mw := V{z, 0}.With
	a, b = mw(z)
	say("mw", a && b)
	var i I = F(z)
	say("I", i.M())
	var j J = V{z, 0}
	a, b = j.With(z)
	say("J", a && b)
	say("FT", FT(f)(z))
	say("H", H{V.S}.g(V{z, 0}))
	m := map[string]func(float64) bool{"a": f}
	say("mf", m["a"](z))
	var wg sync.WaitGroup
	wg.Add(1)
	go func(x float64, v V) { defer wg.Done(); say("go", math.Signbit(x) && math.Signbit(v.X)) }(z, V{z, 0})
	wg.Wait()
	ch := make(chan bool)
	go func() { ch <- f(z) }()
	say("gof", <-ch)
	done := make(chan bool, 1)
	go func(x float64) { done <- math.Signbit(x) }(z)
	say("gox", <-done)
	func() { defer func(x float64) { say("defer", math.Signbit(x)) }(z) }()
	func() { defer say("defer2", f(z)) }()
	cf := make(chan float64, 1)
	cf <- z
	say("chan", math.Signbit(<-cf))
	cv := make(chan V, 1)
	cv <- V{z, 0}
	say("chanV", (<-cv).S())
	mf := map[string]float64{"a": z}
	say("map", math.Signbit(mf["a"]))
	mf["b"] = z
	say("map2", math.Signbit(mf["b"]))
	var ia any = z
	say("any", math.Signbit(ia.(float64)))
	ia = V{z, 0}
	say("anyV", ia.(V).S())
	switch x := ia.(type) {
	case V:
		say("sw", x.S())
	}
	v := V{z, 0}
	w := v
	say("copy", w.S())
	ar := [2]V{{z, 0}, {z, z}}
	br := ar
	say("acopy", br[0].S() && br[1].S())
	for _, x := range ar {
		say("range", x.S())
	}
	for x := range func(yield func(float64) bool) { yield(z) } {
		say("rof", math.Signbit(x))
	}
	s := append([]float64{}, z)
	say("append", math.Signbit(s[0]))
	p := &v
	say("ptr", p.S())
	say("deref", (*p).S())
	say("min", math.Signbit(min(z, 0)))
	say("1/min", 1/min(z, z) < 0)
	say("atan", math.Atan2(id(z), -1) < 0)
	say("max", math.Signbit(max(z, z)))
	say("conv", f(float64(float32(z))))
	x, y := z, z
	x, y = y, x
	say("swap", pair(x, y))
	fmt.Println(z, -z, V{z, z}, []float64{z}, complex(z, z))
	say("select", func() bool {
		cf <- z
		select {
		case q := <-cf:
			return math.Signbit(q)
		}
	}())
}
