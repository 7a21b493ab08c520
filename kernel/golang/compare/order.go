package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
)

// The language leaves open when a variable is read that a call in the same expression
// changes. Programs of this kind ask for just that: cells do as the compiler does.

// orderState is what their expressions read and their calls change.
const orderState = `
type $T struct {
	A, B int
	S    []int
	N    *$T
	Ar   [3]int
	F    func(int) int
	I    any
}

func (p *$T) Mix(k int) int   { $lg("Mix", k); p.A += 3 + k%2; p.Ar[1]++; p.S = append(p.S[:1:1], p.A, k, 7); return p.A }
func (p *$T) Next(k int) *$T  { $lg("Next", k); p.B += 5; return p.N }
func (p $T) Get(k int) int    { $lg("Get", k, p.A); return p.A*10 + k%10 }
func (p $T) Self(k int) $T    { $lg("Self", k, p.B); p.B += k % 10; return p }

type $I interface{ Get(int) int }

var (
	$g, $h, $z int
	$s         []int
	$ss        [][]int
	$ps        []*$T
	$m         map[string]int
	$mk        map[[2]int]int
	$ma        map[any]int
	$mp        map[string]*$T
	$mt        map[string]$T
	$a         [4]int
	$ts        [2]$T
	$st        $T
	$pt        *$T
	$fn        func(int) int
	$str       string
	$bs        []byte
	$ia        any
	$ib        any
	$ii        $I
	$ok        bool
	$f         float64
	$c         complex128
	$i8        int8
	$ch        chan int
	$trace     []string
)

func $lg(list ...any) { $trace = append($trace, fmt.Sprint(list...)) }

func $reset() {
	$trace = nil
	$g, $h, $z = 1, 20, 1
	$s, $ss = []int{1, 2, 3, 4}, [][]int{{5, 6, 7}, {8, 9, 10}}
	$m, $mk, $ma = map[string]int{"a": 1, "b": 2}, map[[2]int]int{{1, 2}: 3, {2, 3}: 4, {3, 4}: 5}, map[any]int{1: 2, 2: 3, 3: 4, "x": 5}
	$a = [4]int{3, 1, 2, 0}
	$pt = &$T{A: 4, B: 5, S: []int{1, 2, 3}, Ar: [3]int{7, 8, 9}, F: func(k int) int { $lg("F1", k); return k + 100 }, I: 5}
	$pt.N = &$T{A: 40, B: 50, S: []int{10, 20, 30}, Ar: [3]int{70, 80, 90}, F: func(k int) int { $lg("F2", k); return k + 200 }, I: "i"}
	$pt.N.N = $pt
	$st = *$pt
	$ts = [2]$T{$st, *$pt.N}
	$ps = []*$T{$pt, $pt.N}
	$mp, $mt = map[string]*$T{"a": $pt, "b": $pt.N}, map[string]$T{"a": $st, "b": *$pt.N}
	$fn = func(k int) int { $lg("fn1", k); return k + 1000 }
	$str, $bs = "x", []byte("bc")
	$ia, $ib, $ii = 1, $st.Ar, $st
	$ok, $f, $c, $i8 = false, 1.5, 2+3i, 7
	$ch = make(chan int, 50)
	for i := range 40 {
		$ch <- i
	}
}

// $e changes what others read.
func $e(k int) int {
	$lg("e", k)
	$g++
	$h -= 2
	$s[0], $s[1] = $s[1]+1, $s[0]
	$m["a"] += 2
	$mk[[2]int{$g, $g + 1}] = $g
	$a[0], $a[2] = $a[2], $a[0]
	$st.A, $st.Ar[0] = $st.A+2, $st.Ar[0]+1
	$pt.A += 7
	$ts[0].B += 2
	$str += string(rune('a' + $g%26))
	$bs[0]++
	$ia = $g
	$ok = !$ok
	$f += 0.5
	$c *= 1i
	$i8--
	return $g
}

func $swap(k int) int {
	$lg("swap", k)
	$fn = func(k int) int { $lg("fn2", k); return k + 2000 }
	$st.F = $fn
	$s = []int{50 + k%5, 51, 52, 53}
	$ss[0], $ss[1] = $ss[1], $ss[0]
	$ps[0], $ps[1] = $ps[1], $ps[0]
	$pt = $pt.N
	$m = map[string]int{"a": 77, "b": 78}
	$mp["a"], $mp["b"] = $mp["b"], $mp["a"]
	t := $mt["a"]
	t.A++
	$mt["a"] = t
	$ii = $pt
	$a = [4]int{0, 3, 1, 2}
	$ib = [3]int{k % 7, 1, 2}
	return k%3 + 1
}

func $S(k int) string             { $lg("S", k); $e(1); return $str }
func $B(k int) bool               { $lg("B", k); $e(2); return k%2 == 0 }
func $P(k int) *$T                { $lg("P", k); $pt.B++; return $pt }
func $V(k int) $T                 { $lg("V", k); $st.B++; return $st }
func $L(k int) []int              { $lg("L", k); $s[0]++; return $s }
func $A(k int) [4]int             { $lg("A", k); $a[1] ^= 1; return $a }
func $Y(k int) any                { $lg("Y", k); $e(3); return $ia }
func $id(a, b int) int            { $lg("id", a, b); return a*3 + b }
func $vi(list ...int) int         { $lg("vi", list); return len(list) + list[len(list)-1] }
func $va(list ...any) string      { $lg("va", fmt.Sprint(list...)); return fmt.Sprint(list...) }
func $two(a, b int) (int, int)    { $lg("two", a, b); $e(4); return a + $g, b - $g }
func $gen[X any](a, b X) X        { $lg("gen"); return b }
func $show(name string, x any)    { fmt.Println(name, x) }
func $ret(list ...any)            { fmt.Println(list...) }

func $dump(x, y int, w [3]int, v $T) {
	fmt.Println($trace)
	fmt.Println($g, $h, $s, $ss, len($m), $m["a"], len($mk), $a, $st.A, $st.B, $st.Ar, $pt.A, $pt.B, $pt.S, $pt.Ar, $str, string($bs), $ia, $ok, $f, $c, $i8, len($ch), $ts[0].A, $ts[0].B, x, y, w, v.A, v.B, v.Ar)
}
`

// orderLocals are what a function has of its own.
const orderLocals = `	$reset()
	x, y := 2, 3
	w := [3]int{1, 2, 0}
	v := $T{A: 6, B: 7, S: []int{1, 2, 3}, Ar: [3]int{4, 5, 6}, F: $fn, N: $pt}
	py, pw, pv := &y, &w, &v
	lf := func(k int) int { $lg("lf", k); y += 3; w[0], w[1] = w[1], w[0]; v.A++; v.Ar[2] += 2; return y }
	lp := func(k int) *int { $lg("lp", k); y++; py, pv = &$g, &$st; return py }
	_, _, _, _, _, _, _ = x, py, pw, pv, lf, lp, v
	defer func() {
		if r := recover(); r != nil {
			fmt.Println("panic", r)
		}
		$dump(x, y, w, v)
	}()
`

type orders struct {
	*rand.Rand
	n int
}

// orderProgram makes a program of functions of one statement each; statements are those.
func orderProgram(name string, statements []string) program {
	var b, calls strings.Builder
	b.WriteString(orderState)
	for i, s := range statements {
		b.WriteString(orderFunction(i, s))
		fmt.Fprintf(&calls, "\tfmt.Println(\"# %d\")\n\tfmt.Println($o%d())\n", i, i)
	}
	fmt.Fprintf(&b, "func $main() {\n%s}\n", &calls)
	return program{name: name, decls: named(name, b.String())}
}

func orderFunction(i int, statement string) string {
	return fmt.Sprintf("func $o%d() (r1 int, r2 int) {\n%s\t%s\n\treturn\n}\n", i, orderLocals, statement)
}

// named gives what a program declares its names.
func named(name, text string) string { return strings.ReplaceAll(text, "$", name) }

func (g *orders) among(list ...string) string { return list[g.IntN(len(list))] }

// k numbers calls.
func (g *orders) k() string { g.n++; return fmt.Sprint(g.n % 100) }

// format writes a text in which %i, %s, ... are expressions of types.
func (g *orders) format(text string, depth int) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch text[i] {
		case 'i':
			b.WriteString(g.integer(depth - 1))
		case 's':
			b.WriteString(g.text(depth - 1))
		case 'b':
			b.WriteString(g.boolean(depth - 1))
		case 'y':
			b.WriteString(g.any(depth - 1))
		case 'p':
			b.WriteString(g.pointer(depth - 1))
		case 't':
			b.WriteString(g.structure(depth - 1))
		case 'l':
			b.WriteString(g.list(depth - 1))
		case 'a':
			b.WriteString(g.array(depth - 1))
		case 'f':
			b.WriteString(g.function(depth - 1))
		case 'd':
			b.WriteString(g.float(depth - 1))
		case 'v':
			b.WriteString(g.place(depth - 1))
		case 'x': // an index of three
			if g.IntN(2) == 0 {
				b.WriteString(g.among("0", "1", "2"))
			} else {
				b.WriteString("((" + g.integer(depth-1) + ")&1)")
			}
		case 'k':
			b.WriteString(g.k())
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

func (g *orders) one(depth int, leaves, nodes []string) string {
	if depth <= 0 || g.IntN(6) == 0 {
		return g.format(leaves[g.IntN(len(leaves))], 0)
	}
	return g.format(nodes[g.IntN(len(nodes))], depth)
}

var (
	intLeaves = []string{
		"$g", "$g", "$h", "x", "y", "*py", "$st.A", "$pt.A", "$pt.B", "$pt.N.A", "$s[0]", "$s[1]", "$a[0]", "$a[2]", "w[0]", "w[1]", "pw[0]", "v.A", "pv.A", "v.Ar[2]",
		"$m[\"a\"]", "$st.Ar[0]", "$pt.Ar[1]", "$pt.S[1]", "len($str)", "len($s)", "int($i8)", "int($f)", "$ts[0].B", "$ss[0][1]", "$ps[0].A", "$mp[\"a\"].A", "$mt[\"a\"].A", "$ia.(int)",
		"$e(%k)", "$e(%k)", "$e(%k)", "$e(%k)", "$e(%k)", "$swap(%k)", "$swap(%k)", "$e(%k)", "lf(%k)", "lf(%k)", "lf(%k)", "$pt.Mix(%k)", "$st.Mix(%k)", "v.Mix(%k)", "$swap(%k)", "*lp(%k)", "<-$ch", "3", "int(real($c))", "$mk[[2]int{$g, $g + 1}]",
	}
	intNodes = []string{
		"(%i + %i)", "(%i - %i)", "(%i - %i - %i)", "(%i * %i)", "(%i ^ %i)", "(%i + %i*%i)", "-%i", "^(%i)", "$e(%i)", "lf(%i)", "$id(%i, %i)", "$id(%i, %i)", "$vi(%i, %i, %i)", "$vi(%l...)",
		"%p.A", "%p.B", "%t.A", "%p.Mix(%i)", "%p.Get(%i)", "%t.Get(%i)", "$st.Get(%i)", "$pt.Get(%i)", "pv.Get(%i)", "$ii.Get(%i)", "%l[0]", "%l[%x]", "%a[%x]", "$s[%x]", "$a[%x]", "w[%x]", "pw[%x]", "v.Ar[%x]",
		"%f(%i)", "$fn(%i)", "$st.F(%i)", "$pt.F(%i)", "v.F(%i)", "int(%d)", "int(int8(%i))", "int(uint16(%i))", "len(%s)", "len(%l)", "cap(%l[:1])", "min(%i, %i)", "max(%i, $g, %i)",
		"$m[%s]", "$mk[[2]int{%i, %i}]", "$ma[%i]", "$ma[%y]", "any(%i).(int)", "$swap(%i)", "$gen(%i, %i)", "func(a, b int) int { return a*2 - b }(%i, %i)", "$T.Get(%t, %i)", "(*$T).Mix(%p, %i)",
		"map[string]int{\"k\": %i}[\"k\"]", "copy($s, %l)", "(%i << (%i & 3))", "(%i %% (%i | 1))", "*func() *int { $g++; return &$g }()", "<-func() chan int { $g++; return $ch }()", "int(real(complex(%d, %d)))", "*lp(%i)",
	}
	textLeaves  = []string{"$str", "$str", "$S(%k)", "$S(%k)", "$S(%k)", "string($bs)", "\"q\"", "$str[:1]", "fmt.Sprint($g)"}
	textNodes   = []string{"(%s + %s)", "(%s + %s + %s)", "$va(%y, %i)", "$va(%i, %i, %i)", "$va(%y, %y)", "fmt.Sprint(%i, %i)", "fmt.Sprint(%s, %i, %t.A)", "strconv.Itoa(%i)", "string($bs)", "$str[:1] + %s", "string(rune('a' + %i&7))", "string([]byte(%s))", "min(%s, %s)", "strings.ToUpper(%s)", "$S(%i)", "$gen(%s, %s)", "$va(%s, %d, %b)", "$va($st.Ar, %i)", "$va($a, $e(%i))", "$va(%l, %i)", "$va($c, %i)", "$va($i8, $ok, %i)", "$va(%a, %a)", "$va($fn(%i), $ib, $swap(%k))"}
	boolLeaves  = []string{"$ok", "$g > 3", "$B(%k)", "y == 3", "$g == $e(%k)"}
	boolNodes   = []string{"(%i > %i)", "(%i == %i)", "(%b && %b)", "(%b || %b)", "!%b", "(%s == %s)", "(%s < %s)", "(%b == %b)", "(%y == %y)", "(%y == any(%i))", "(%a == %a)", "($a == %a)", "(%t.Ar == %t.Ar)", "(%d < %d)", "(%p == %p)", "$B(%i)", "(complex(%d, 1) == $c)"}
	anyLeaves   = []string{"$ia", "any($g)", "any($str)", "$Y(%k)", "any($st.A)", "$pt.I", "any($i8)"}
	anyNodes    = []string{"any(%i)", "any(%s)", "any(%a)", "any(%b)", "any(%d)", "any(int8(%i))", "any($a)", "$Y(%i)", "%p.I", "%t.I", "any([2]int{%i, %i})"}
	ptrLeaves   = []string{"$pt", "$pt.N", "$ps[0]", "$mp[\"a\"]", "$P(%k)", "$pt.Next(%k)", "pv", "&$st", "&v"}
	ptrNodes    = []string{"%p.N", "%p.Next(%i)", "$P(%i)", "$ps[%x&1]", "$mp[\"b\"]", "&$T{A: %i, B: %i, N: $pt, S: %l, F: %f}", "func(p *$T) *$T { return p }(%p)", "any(%p).(*$T)", "$gen(%p, %p)"}
	structs     = []string{"$st", "(*$pt)", "v", "$V(%k)", "$ts[0]", "$mt[\"a\"]", "(*$pt.N)"}
	structNodes = []string{"(*%p)", "%p.Self(%i)", "%t.Self(%i)", "$V(%i)", "($T{A: %i, B: %i, Ar: [3]int{%i, 1, %i}, S: %l, N: %p, F: $fn})", "$ts[%x&1]", "$mt[%s[:0]+\"b\"]", "any(%t).($T)", "$gen(%t, %t)"}
	listLeaves  = []string{"$s", "$st.S", "$pt.S", "v.S", "$ss[0]", "$L(%k)", "$a[:]", "w[:]", "$pt.Ar[:]"}
	listNodes   = []string{"([]int{%i, %i, %i})", "([]int{$g, $g + 1, %i})", "$L(%i)", "append([]int{%i, 2}, %i, %i)", "append(%l[:1:1], %i, %i)", "append(%l[:1:1], %l...)", "%p.S", "%t.S", "%l[%i&1:][:2:2]", "%l[:3]", "$ss[%x&1]", "$pt.Ar[:]", "w[%x&0:]", "$gen(%l, %l)"}
	arrayLeaves = []string{"$a", "$A(%k)", "[4]int{$g, x, y, $h}"}
	arrayNodes  = []string{"([4]int{%i, %i, %i, %i})", "([4]int{2: %i, 0: %i})", "$A(%i)", "any(%a).([4]int)", "$gen(%a, %a)", "[4]int(append([]int{%i}, 1, 2, %i))"}
	floatLeaves = []string{"$f", "float64($g)", "$f * 2", "2.5"}
	floatNodes  = []string{"(%d + %d)", "(%d - %d)", "float64(%i)", "-%d", "math.Abs(%d)", "min(%d, %d)", "math.Max(%d, %d)", "real($c)", "imag(complex(%d, %d))"}
	funcLeaves  = []string{"$fn", "$st.F", "$pt.F", "v.F", "lf", "$e"}
	funcNodes   = []string{"%p.F", "%t.F", "%p.Mix", "%t.Get", "func(k int) int { return k - x }", "$gen(%f, %f)", "func() func(int) int { $swap(1); return $fn }()"}
	places      = []string{
		"$g", "y", "*py", "$st.A", "$pt.A", "v.B", "pv.B", "$s[1]", "$s[%x]", "$a[%x]", "w[%x]", "pw[%x]", "$m[%s]", "$m[\"a\"]", "$mk[[2]int{%i, %i}]", "$ma[%i]", "%p.A", "%p.Ar[%x]", "%l[0]", "%l[%x]",
		"$st.Ar[%x]", "$pt.S[0]", "*lp(%k)", "$ss[%x&1][%x]", "$ts[%x&1].B", "$ps[%x&1].B", "$P(%k).S[0]", "*%p.Next(%k).N.Pp()",
	}
	statements = []string{
		"$ret(%i, %i, %i)", "$ret(%y, %i, %s)", "fmt.Println(%i, %i)", "fmt.Println(%s, %i, %b)", "r := %i\n\t$ret(r)", "r := %s\n\t$ret(r)", "a, b := %i, %i\n\t$ret(a, b)", "a, b, c := %i, %s, %i\n\t$ret(a, b, c)",
		"var a, b = %i, %i\n\t$ret(a, b)", "r1, r2 = %i, %i", "%v = %i", "%v = %i", "%v, %v = %i, %i", "%v, %v = $two(%i, %i)", "%v += %i", "%v -= %i", "%v *= %i", "%v ^= %i", "%v++", "%v--",
		"return %i, %i", "return %i, %i", "return $two(%i, %i)", "if %b {\n\t\t$ret(1)\n\t} else if %b {\n\t\t$ret(2)\n\t}", "if a := %i; a > %i {\n\t\t$ret(a)\n\t}",
		"switch %i {\n\tcase %i:\n\t\t$ret(\"a\")\n\tcase %i, %i:\n\t\t$ret(\"b\")\n\tdefault:\n\t\t$ret(\"c\")\n\t}", "switch {\n\tcase %b:\n\t\t$ret(\"a\")\n\tcase %b:\n\t\t$ret(\"b\")\n\t}",
		"$ret([]int{%i, %i, %i})", "$ret([3]int{%i, %i, %i})", "$ret([]any{%y, %i, %s})", "$ret($T{A: %i, B: %i}.A, %i)", "q := $T{A: %i, B: %i, I: %y}\n\t$ret(q.A, q.B, q.I)", "$ret(map[int]int{%i: %i, 1000 + %i: %i})", "$ret(map[string]any{\"a\": %y, \"b\": %i})",
		"$s = append($s, %i, %i)", "$m[%s] = %i", "$ch <- %i", "func() chan int { $e(9); return $ch }() <- %i", "defer $ret(%i, %i)", "defer func(a, b int) { fmt.Println(a, b) }(%i, %i)", "defer %p.Mix(%i)",
		"done := make(chan bool)\n\tgo func(a, b int) { fmt.Println(a, b); done <- true }(%i, %i)\n\t<-done", "for _, q := range []int{%i, %i} {\n\t\t$ret(q)\n\t}", "for i, q := range %l {\n\t\t$ret(i, q, $e(%k))\n\t}", "for i := %i & 1; i < %i&7; i += 1 + %i&1 {\n\t\t$ret(i)\n\t}",
		"r, good := $m[%s]\n\t$ret(r, good, %i)", "r, good := %y.(int)\n\t$ret(r, good)", "r, good := <-$ch\n\t$ret(r, good, %i)", "%v, $ok = $m[%s]", "q := %a\n\t$ret(q)", "$a = %a", "$st = %t", "*%p = %t", "q := %t\n\t$ret(q.A, q.B, q.Ar)", "$ret(len(%s), %i, %s)", "$ib = %y\n\t$ret($ib)",
		"q := %f\n\t$ret(q(%i))", "_, _ = %i, %i", "_ = %i", "$pt, $fn = %p, %f", "$a[%x], $s = %i, %l", "select {\n\tcase $ch <- %i:\n\tcase r := <-func() chan int { $e(8); return nil }():\n\t\t$ret(r)\n\t}", "delete($m, %s)", "copy(%l, %l)",
		"func() {\n\t\tz := %i\n\t\tlf2 := func() int { z += 2; return z }\n\t\t$ret(z, lf2(), z-lf2(), %i+z)\n\t}()", "for range 2 {\n\t\tx += %i - %i\n\t\t$ret(x, $e(%k), $g)\n\t}", "for i := range 3 {\n\t\t%v = %i + i\n\t}", "$ret(%t.Ar, %i)", "$ret($st.Ar, %i, $st.A)", "println2 := func(a ...any) { fmt.Println(a...) }\n\tprintln2(%i, %s, %i)",
	}
)

func (g *orders) integer(depth int) string   { return g.one(depth, intLeaves, intNodes) }
func (g *orders) text(depth int) string      { return g.one(depth, textLeaves, textNodes) }
func (g *orders) boolean(depth int) string   { return "(" + g.one(depth, boolLeaves, boolNodes) + ")" }
func (g *orders) any(depth int) string       { return g.one(depth, anyLeaves, anyNodes) }
func (g *orders) pointer(depth int) string   { return "(" + g.one(depth, ptrLeaves, ptrNodes) + ")" }
func (g *orders) structure(depth int) string { return g.one(depth, structs, structNodes) }
func (g *orders) list(depth int) string      { return g.one(depth, listLeaves, listNodes) }
func (g *orders) array(depth int) string     { return g.one(depth, arrayLeaves, arrayNodes) }
func (g *orders) float(depth int) string     { return g.one(depth, floatLeaves, floatNodes) }
func (g *orders) function(depth int) string  { return g.one(depth, funcLeaves, funcNodes) }
func (g *orders) place(depth int) string {
	return g.format(places[g.IntN(len(places)-1)], depth)
}
func (g *orders) statement() string {
	return g.format(statements[g.IntN(len(statements))], 2+g.IntN(3))
}

// orderStatements makes n statements, less those that the compiler does not take.
func orderStatements(seed uint64, n int) ([]string, error) {
	const name = "q"
	g := &orders{Rand: rand.New(rand.NewPCG(seed, 3))}
	made := make([]string, n)
	for i := range made {
		made[i] = g.statement()
	}
	ok, err := accepted(1+n, func(i int) string {
		if i == 0 {
			return named(name, orderState)
		}
		return named(name, orderFunction(i, made[i-1]))
	})
	var list []string
	for i, x := range made {
		if ok[1+i] {
			list = append(list, x)
		}
	}
	return list, err
}

// withOrders is a program that runs n such statements first.
func withOrders(p program, seed uint64, n int) (program, error) {
	list, err := orderStatements(seed, n)
	o := orderProgram(p.name+"q", list)
	begin := "func " + p.name + "main() {\n"
	p.decls = o.decls + strings.Replace(p.decls, begin, begin+"\t"+o.name+"main()\n", 1)
	return p, err
}

// orders runs n programs that ask for the order of evaluation, of so many functions.
func (s *search) orders(ctx context.Context, seed uint64, n, functions int) error {
	var list []program
	parts := make(map[string][]string)
	for i := range n {
		statements, err := orderStatements(seed<<20+uint64(i), functions)
		if err != nil {
			return err
		}
		p := orderProgram(fmt.Sprintf("q%dx%d", seed, i), statements)
		parts[p.name] = statements
		list = append(list, p)
		s.functions += len(statements)
	}
	return s.ordered(ctx, list, parts)
}

// statements runs a program of the statements of a file, which empty lines separate.
func (s *search) statements(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	list := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	s.functions += len(list)
	p := orderProgram("q", list)
	err = s.ordered(ctx, []program{p}, map[string][]string{p.name: list})
	if err == nil && len(s.pool.endless) > 0 {
		err = errors.New(file + ": compiled, a statement does not end, and none was compared")
	}
	return err
}

// ordered runs programs of such statements, and reports each statement that differs.
func (s *search) ordered(ctx context.Context, list []program, parts map[string][]string) error {
	found, err := compare(ctx, s.pool, s.workers, list)
	s.programs += len(list)
	for _, d := range found {
		s.differ++
		got, want := sections(d.got.Out), sections(d.want.Out)
		for i, x := range parts[d.program.name] {
			if i >= len(want) || i < len(got) && got[i] == want[i] {
				continue
			}
			one := d
			one.program.decls = x + "\n"
			one.want.Out, one.got.Out = []byte(want[i]), nil
			if i < len(got) {
				one.got.Out = []byte(got[i])
			}
			s.report(one)
			if i >= len(got) {
				break
			}
		}
	}
	return err
}

// sections are the outputs of a program's functions.
func sections(out []byte) []string {
	return strings.Split("\n"+string(out), "\n# ")[1:]
}
