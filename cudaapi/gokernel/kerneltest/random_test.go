package kerneltest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gocuda/cudaapi/cuda"
)

var (
	seed    = flag.Uint64("seed", 0, "of the random kernels; 0: always the same ones")
	kernels = flag.Int("kernels", 20, "how many random kernels are compared")
	keep    = flag.String("keep", "", "a folder to which what compiled Go makes of random kernels is written, for a machine without Go")
	wanted  = flag.String("want", "", "such a folder; with seed 0 all that is there is compared")
	workers = flag.Int("workers", 0, "how many processes compare random kernels at a time; 0: this one does")
)

// generator writes random functions that are kernels and Go.
type generator struct {
	r      *rand.Rand
	b      strings.Builder
	vars   map[string][]string // names by type
	frozen map[string]bool     // the counters of loops, which nothing assigns
	depth  int
	indent int
	next   int
	loops  int
	labels []string // of the loops around, "" for one without
	funcs  []string // helpers: name and type
	host   bool     // of functions for the host, which have memory
	calm   bool     // no expression may panic
}

var numberTypes = []string{"int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", "int", "float64", "float32"}

func isFloatName(t string) bool { return strings.HasPrefix(t, "float") }

func pick[T any](g *generator, list []T) T { return list[g.r.IntN(len(list))] }

func (g *generator) line(format string, args ...any) {
	g.b.WriteString(strings.Repeat("\t", g.indent))
	fmt.Fprintf(&g.b, format+"\n", args...)
}

func (g *generator) name(prefix string) string {
	g.next++
	return fmt.Sprintf("%s%d", prefix, g.next)
}

// expr is an expression of a type, not constant.
func (g *generator) expr(t string) string {
	g.depth++
	defer func() { g.depth-- }()
	if t == "bool" {
		return g.condition()
	}
	if g.depth > 4 || g.r.IntN(4) == 0 {
		return pick(g, g.vars[t])
	}
	switch g.r.IntN(15) {
	case 12:
		return g.special(t)
	case 13:
		if t == "int64" {
			return pick(g, []string{"d.p.X", "int64(d.grid[" + g.index() + "%3][" + g.index() + "&3])", "ds[" + g.index() + "%3].p.in[" + g.index() + "%3]", "d.p.sum()",
				"int64(real(d.z * w) / 1e3)", "b.get()", "b.mix(" + g.expr(t) + ")", "last(ds).p.Y", "keyed[" + g.index() + "&1][" + g.index() + "%3]"})
		}
		if t == "float64" {
			return pick(g, []string{"small(real(w * d.z))", "small(imag(w + complex(small(" + g.expr(t) + "), 1)))", "fb.get()", "small(real(cmplx.Conj(w)) - imag(w))"})
		}
		return pick(g, g.vars[t])
	case 0:
		if isFloatName(t) {
			return fmt.Sprintf("(%s %s %d.25)", g.expr(t), pick(g, []string{"+", "-", "*", "/"}), g.r.IntN(9)+1)
		}
		return fmt.Sprintf("(%s %s %d)", g.expr(t), pick(g, []string{"+", "-", "*", "/", "%", "&", "|", "^", "&^"}), g.r.IntN(100)+1)
	case 1, 2, 3:
		ops := []string{"+", "-", "*", "&", "|", "^", "&^", "/", "%"}
		if isFloatName(t) {
			ops = []string{"+", "-", "*", "/"}
		}
		op := pick(g, ops)
		y := g.expr(t)
		if (op == "/" || op == "%") && !isFloatName(t) && (g.r.IntN(20) > 0 || g.calm) {
			y = "(" + y + " | 1)"
		}
		return fmt.Sprintf("(%s %s %s)", g.expr(t), op, y)
	case 4:
		if isFloatName(t) {
			return "(-" + g.expr(t) + ")"
		}
		return fmt.Sprintf("(%s %s (%s & 63))", g.expr(t), pick(g, []string{"<<", ">>"}), g.expr(pick(g, []string{"uint8", "uint32", "uint64"})))
	case 5:
		if isFloatName(t) {
			return fmt.Sprintf("%s(math.%s(float64(%s)))", t, pick(g, []string{"Abs", "Floor", "Ceil", "Trunc", "Sqrt", "Round"}), g.expr(t))
		}
		return "(" + pick(g, []string{"-", "^"}) + g.expr(t) + ")"
	case 6:
		from := pick(g, numberTypes)
		if isFloatName(from) && !isFloatName(t) { // what does not fit is not defined by Go
			return fmt.Sprintf("%s(math.Mod(float64(small(float64(%s))), 100))", t, g.expr(from))
		}
		return fmt.Sprintf("%s(%s)", t, g.expr(from))
	case 7:
		return fmt.Sprintf("%s(%s, %s)", pick(g, []string{"min", "max"}), g.expr(t), g.expr(t))
	case 8:
		if t == "int64" {
			return pick(g, []string{"a[" + g.index() + "]", "s[" + g.index() + "]", "p.X", "q.Y", "p.in[" + g.index() + "%3]", "int64(len(s))", "total(s[:" + g.index() + "])", "p.sum()"})
		}
		return pick(g, g.vars[t])
	case 9:
		if len(g.funcs) > 0 && t == "int64" {
			return fmt.Sprintf("%s(%s, %s)", pick(g, g.funcs), g.expr("int64"), g.expr("int64"))
		}
		return pick(g, g.vars[t])
	case 10:
		if t == "int64" {
			return "add(" + g.expr(t) + ")"
		}
	}
	return pick(g, g.vars[t])
}

// special is an expression of a kind that only some types have.
func (g *generator) special(t string) string {
	switch t {
	case "int64", "int":
		return t + "(" + pick(g, []string{"bits.OnesCount64(uint64(" + g.expr("int64") + "))", "bits.LeadingZeros32(" + g.expr("uint32") + ")", "bits.TrailingZeros16(" + g.expr("uint16") + ")",
			"bits.Len64(" + g.expr("uint64") + ")", "first(" + g.expr("int64") + ", " + g.expr("int64") + ")", "len(a[:" + g.index() + "])", "cap(s)", "order('a', " + g.expr("int32") + ")"}) + ")"
	case "uint64":
		return pick(g, []string{"bits.RotateLeft64(" + g.expr(t) + ", " + g.expr("int") + ")", "bits.Reverse64(" + g.expr(t) + ")", "math.Float64bits(math.Abs(" + g.expr("float64") + "))>>40", "(" + pick(g, g.vars[t]) + " ^ wide)"})
	case "uint32":
		return pick(g, []string{"bits.RotateLeft32(" + g.expr(t) + ", int(" + g.expr("int8") + "))", "bits.Reverse32(" + g.expr(t) + ")", "(" + pick(g, g.vars[t]) + " | 1<<31)", "(" + pick(g, g.vars[t]) + " - wide>>40)"})
	case "uint8":
		return pick(g, []string{"bits.RotateLeft8(" + g.expr(t) + ", 3)", "\"random\"[" + g.index() + "%6]", "(" + pick(g, g.vars[t]) + " | 0x80)"})
	case "float64":
		return pick(g, []string{"math.Copysign(" + g.expr(t) + ", " + g.expr(t) + ")", "math.FMA(small(" + g.expr(t) + "), 3, small(" + g.expr(t) + "))", "(" + pick(g, g.vars[t]) + " * math.Pi)", "math.RoundToEven(" + g.expr(t) + ")",
			"float64(float32(" + g.expr(t) + "))", "pickOne(" + g.expr(t) + ", 2.5)"})
	case "int32":
		return pick(g, []string{"pickOne(" + g.expr(t) + ", 7)", "int32(d.grid[" + g.index() + "%3][1])", "(" + pick(g, g.vars[t]) + " | -1<<31)", "order('z', " + g.expr(t) + ")"})
	}
	return pick(g, g.vars[t])
}

// index is one of the eight elements, but seldom one that is not there.
func (g *generator) index() string {
	if g.r.IntN(60) == 0 && !g.calm {
		return "int(" + g.expr("int8") + ")"
	}
	return "(" + g.expr("int") + "&7)"
}

func (g *generator) condition() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth < 4 {
		switch g.r.IntN(5) {
		case 0:
			return "(" + g.condition() + " && " + g.condition() + ")"
		case 1:
			return "(" + g.condition() + " || " + g.condition() + ")"
		case 2:
			return "!" + g.condition()
		}
	}
	t := pick(g, numberTypes)
	return fmt.Sprintf("(%s %s %s)", g.expr(t), pick(g, []string{"<", "<=", ">", ">=", "==", "!="}), g.expr(t))
}

// target is something to assign.
func (g *generator) target(t string) string {
	if t == "int64" && g.r.IntN(3) == 0 {
		return pick(g, []string{"a[" + g.index() + "]", "s[" + g.index() + "]", "p.X", "q.Y", "p.in[1]", "ps[" + g.index() + "&1].Y"})
	}
	for range 20 {
		if v := pick(g, g.vars[t]); !g.frozen[v] {
			return v
		}
	}
	return "_"
}

func (g *generator) statement() {
	if g.host && g.r.IntN(3) == 0 {
		g.memory()
		return
	}
	t := pick(g, numberTypes)
	switch n := g.r.IntN(26); {
	case n == 20 && g.indent < 4:
		g.more()
	case n == 21 && g.indent < 4:
		l := g.name("l")
		g.line("{")
		g.line("\tif %s {", g.condition())
		g.line("\t\tgoto %s", l)
		g.line("\t}")
		g.line("\t{")
		g.body()
		g.line("\t}")
		g.line("%s:", l)
		g.line("\tcount++")
		g.line("}")
	case n == 22 && g.indent < 4 && g.loops < 2:
		x := g.name("y")
		g.line("for %s := range %s {", x, pick(g, []string{"below(" + g.index() + ")", "p.each", "twoOf", "odd(a[:], func(x int64) bool { return x&1 == count&1 })"}))
		g.vars["int64"] = append(g.vars["int64"], x)
		g.frozen[x] = true
		g.line("\t_ = %s", x)
		g.loops++
		g.labels = append(g.labels, "")
		g.body()
		g.labels = g.labels[:len(g.labels)-1]
		g.loops--
		g.line("}")
		g.vars["int64"] = g.vars["int64"][:len(g.vars["int64"])-1]
	case n == 23 && g.loops > 0:
		if l := pick(g, g.labels); l != "" {
			g.line("if %s {", g.condition())
			g.line("\t%s %s", pick(g, []string{"break", "continue"}), l)
			g.line("}")
		}
	case n >= 24:
		g.more()
	case n < 6:
		g.line("%s = %s", g.target(t), g.expr(t))
	case n < 8:
		if v := g.target(t); v != "_" {
			ops := []string{"+=", "-=", "*="}
			if !isFloatName(t) {
				ops = append(ops, "&=", "|=", "^=", "&^=")
			}
			g.line("%s %s %s", v, pick(g, ops), g.expr(t))
		}
	case n == 8:
		// Which of two expressions panics first Go leaves open, and its compiler evaluates
		// those first that the assignment before them may change.
		to, value := g.target(t), g.expr(t)
		g.calm = true
		g.line("%s, %s = %s, %s", to, g.target("int64"), value, g.expr("int64"))
		g.calm = false
	case n == 9:
		v := g.name("v")
		g.line("%s := %s", v, g.expr(t))
		g.vars[t] = append(g.vars[t], v)
		g.line("_ = %s", v)
	case n < 13 && g.indent < 4:
		g.line("if %s {", g.condition())
		g.body()
		if g.r.IntN(2) == 0 {
			g.line("} else {")
			g.body()
		}
		g.line("}")
	case n < 16 && g.indent < 4 && g.loops < 3:
		i := g.name("i")
		typ := "int"
		label := ""
		if g.r.IntN(3) == 0 {
			label = g.name("loop")
			g.line("%s:", label)
		}
		switch g.r.IntN(4) {
		case 0:
			g.line("for %s := range %d {", i, g.r.IntN(6))
		case 1:
			g.line("for %s := 0; %s < %d; %s++ {", i, i, g.r.IntN(8), i)
		case 2:
			typ = "int64"
			g.line("for _, %s := range %s {", i, pick(g, []string{"a", "s", "p.in"}))
		case 3:
			g.line("for %s := 9; %s > 0 && %s; %s -= 2 {", i, i, g.condition(), i)
		}
		g.vars[typ] = append(g.vars[typ], i)
		g.frozen[i] = true
		g.line("\t_ = %s", i)
		if label != "" { // Go wants each label used
			g.line("\tif %s {", g.condition())
			g.line("\t\t%s %s", pick(g, []string{"break", "continue"}), label)
			g.line("\t}")
		}
		g.loops++
		g.labels = append(g.labels, label)
		g.body()
		g.labels = g.labels[:len(g.labels)-1]
		g.loops--
		g.line("}")
		g.vars[typ] = g.vars[typ][:len(g.vars[typ])-1]
	case n == 16 && g.indent < 4:
		g.line("switch %s %% 4 {", g.expr("uint8"))
		for i := range 3 {
			g.line("case %d:", i)
			g.body()
			if i < 2 && g.r.IntN(4) == 0 {
				g.line("\tfallthrough")
			}
		}
		g.line("default:")
		g.body()
		g.line("}")
	case n == 17 && g.loops > 0:
		g.line("if %s {", g.condition())
		g.line("\t%s", pick(g, []string{"break", "continue"}))
		g.line("}")
	case n == 18:
		g.line("%s", pick(g, []string{"p.move(" + g.expr("int64") + ")", "q = p", "p.in = [3]int64{" + g.expr("int64") + ", 1: " + g.expr("int64") + "}", "ps[1] = q",
			"copy(s[1:], a[:])", "s = a[" + g.index() + "/2:]; s = s[:cap(s)]", "s = local[:]", "a = local", "{ w := &q; w.X++ }"}))
	default:
		g.line("%s, %s = two(%s)", g.target("int64"), g.target("float64"), g.expr("int64"))
	}
}

// more is a statement about structures, complex numbers, generics or functions.
func (g *generator) more() {
	switch g.r.IntN(14) {
	case 0:
		g.line("d.p.%s = %s", pick(g, []string{"X", "Y", "in[1]"}), g.expr("int64"))
	case 1:
		g.line("d.grid[%s%%3][%s&3] %s %s", g.index(), g.index(), pick(g, []string{"=", "+=", "^="}), g.expr("int16"))
	case 2:
		g.line("ds[%s%%3] = d", g.index())
	case 3:
		g.line("d, ds[%s%%3] = ds[%s%%3], d", g.index(), g.index())
	case 4:
		g.line("w = %s", pick(g, []string{"w*d.z + 1", "w - complex(small(" + g.expr("float64") + "), 2)", "-w / (d.z + 3i)", "complex(small(real(w)), small(imag(w)))"}))
		g.line("w = complex(small(real(w)), small(imag(w)))")
	case 5:
		g.line("d.z = complex(small(%s), 0.5) * 1i", g.expr("float64"))
	case 6:
		g.line("b.put(%s)", g.expr("int64"))
	case 7:
		g.line("fb.put(small(%s))", g.expr("float64"))
	case 8:
		h := g.name("h")
		g.line("%s := %s", h, pick(g, []string{"p.sum", "b.get", "d.p.sum"}))
		g.line("%s = %s()", g.target("int64"), h)
	case 9:
		h := g.name("h")
		g.line("%s := adder(%s)", h, g.expr("int64"))
		g.line("%s = %s(%s(%s))", g.target("int64"), h, h, g.expr("int64"))
	case 10:
		g.line("%s, %s, d.flag = three(%s, %s)", g.target("int64"), g.target("uint8"), g.expr("int64"), g.condition())
	case 11:
		g.line("if d.flag != %s && d == ds[%s%%3] || ds[0] != ds[1] {", g.condition(), g.index())
		g.body()
		g.line("}")
	case 12:
		g.line("keyed[%s&1] = [3]int64{2: %s}", g.index(), g.expr("int64"))
	case 13:
		if g.r.IntN(6) == 0 {
			g.line("if %s {", g.condition())
			g.line("\tpanic(%q)", pick(g, []string{"enough", "that is too much"}))
			g.line("}")
			return
		}
		q := g.name("r")
		g.line("%s := &ds[%s%%3].p", q, g.index())
		g.line("%s.move(%s)", q, g.expr("int64"))
	}
}

// body writes some statements in a scope of their own.
func (g *generator) body() {
	old := make(map[string][]string)
	for t, v := range g.vars {
		old[t] = v[:len(v):len(v)]
	}
	g.indent++
	for range g.r.IntN(3) + 1 {
		g.statement()
	}
	g.indent--
	g.vars = old
}

const prelude = `
type point struct {
	X, Y int64
	in   [3]int64
}

func (p point) sum() int64     { return p.X + p.Y - p.in[2] }
func (p *point) move(d int64)  { p.X += d; p.in[d&1]++ }
func two(x int64) (int64, float64) { return x ^ 5, float64(x%1000) / 3 }
func small(x float64) float64 {
	if x != x || x > 1e6 || x < -1e6 {
		return 1
	}
	return x
}
func total(s []int64) (t int64) {
	for i, x := range s {
		t += x * int64(i+1)
	}
	return t
}
func mix(a, b int64) int64 {
	if a > b {
		return a - b
	}
	return a*3 + b
}
type deep struct {
	p    point
	grid [3][4]int16
	flag bool
	z    complex128
}

type box[T int64 | float64] struct {
	items [4]T
	n     uint8
}

func (b *box[T]) put(x T)   { b.items[b.n&3] = x; b.n++ }
func (b box[T]) get() (t T) {
	for i, x := range b.items {
		t += x * T(i+1)
	}
	return t
}
func (b *box[T]) mix(x T) T { b.items[1] += x; return b.items[0] - b.items[1] }

func last[T any](s []T) T { return s[len(s)-1] }
func first(a, _ int64) int64 { return a }
func order(a, b rune) rune {
	switch {
	case a < b:
		return a
	case b < -1000:
		return 0
	}
	return b
}
func three(x int64, ok bool) (a int64, b uint8, c bool) {
	if !ok {
		b = uint8(x >> 3)
		return
	}
	return x * 3, 7, x&2 == 0
}
func adder(n int64) func(int64) int64 { return func(x int64) int64 { n++; return x*2 - n } }
func below(n int) func(func(int64) bool) {
	return func(yield func(int64) bool) {
		for i := range n {
			if !yield(int64(i * i)) {
				return
			}
		}
	}
}
func (p *point) each(yield func(int64) bool) { _ = yield(p.X) && yield(p.Y) && yield(p.in[1]) }
func twoOf(yield func(int64) bool) {
	if yield(3) {
		yield(-4)
	}
}
func odd(s []int64, keep func(int64) bool) func(func(int64) bool) {
	return func(yield func(int64) bool) {
		for _, x := range s {
			if keep(x) && !yield(x) {
				return
			}
		}
	}
}

const wide = 1<<62 | 12345

func pickOne[T int64 | int32 | float64](a, b T) T {
	if a < b {
		return b
	}
	return a
}
`

func (g *generator) function(name string) {
	g.vars, g.frozen, g.funcs = make(map[string][]string), make(map[string]bool), []string{"mix", "pickOne[int64]"}
	g.line("func %s(out []int64, f []float64) {", name)
	g.indent++
	for _, t := range numberTypes {
		for range 2 {
			v := g.name("x")
			value := fmt.Sprint(g.r.IntN(100))
			if isFloatName(t) {
				value += ".5"
			}
			g.line("var %s %s = %s", v, t, value)
			g.vars[t] = append(g.vars[t], v)
		}
	}
	g.line("a := [8]int64{%d, 2, -3, %d, 5}", g.r.IntN(50), -g.r.IntN(50))
	g.line("local := [8]int64{1, 1, 2, 3, 5, 8, 13, 21}")
	g.line("s := local[:]")
	g.line("p, q := point{X: 1, in: [3]int64{4, 5, 6}}, point{Y: %d}", g.r.IntN(9))
	g.line("ps := [2]point{p, q}")
	g.line("d := deep{p: p, z: %d - 2i, grid: [3][4]int16{1: {2: %d}}}", g.r.IntN(9), g.r.IntN(99))
	g.line("more := [3]deep{d, {}, {flag: true}}")
	g.line("ds := more[:]")
	g.line("w := complex(%d.5, 1)", g.r.IntN(5))
	g.line("var b box[int64]")
	g.line("var fb box[float64]")
	g.line("keyed := [...][3]int64{1: {1, %d}}", g.r.IntN(50))
	g.line("count := int64(0)")
	g.line("add := func(n int64) int64 { count += n&7 + 1; return count }")
	if g.host {
		g.memoryVariables()
	}
	for range g.r.IntN(16) + 6 {
		g.statement()
	}
	i, j := 0, 0
	for _, t := range numberTypes {
		for _, v := range g.vars[t][:2] {
			if isFloatName(t) {
				g.line("f[%d] = float64(%s)", j, v)
				j++
			} else {
				g.line("out[%d] = int64(%s)", i, v)
				i++
			}
		}
	}
	g.line("out[%d], out[%d], out[%d], out[%d] = total(s), total(a[:]), p.sum(), q.sum()+ps[1].sum()", i, i+1, i+2, i+3)
	g.line("out[%d] = count + add(1)", i+4)
	g.line("out[%d], out[%d], f[%d], f[%d], f[%d] = b.get(), d.p.sum()+int64(d.grid[1][2])+total(keyed[1][:]), fb.get(), real(w), imag(ds[1].z)", i+5, i+6, j, j+1, j+2)
	if g.host {
		g.memoryResults(i + 7)
	}
	g.indent--
	g.line("}")
}

const mainFunc = `
func main() {
	var all []func([]int64, []float64)
	for _, list := range [][]func([]int64, []float64){%s} {
		all = append(all, list...)
	}
	for _, k := range all {
		out, f := make([]int64, %d), make([]float64, %d)
		var message [%d]byte
		func() {
			defer func() {
				if p := recover(); p != nil {
					copy(message[:], fmt.Sprint(p))
				}
			}()
			k(out, f)
		}()
		binary.Write(os.Stdout, binary.LittleEndian, out)
		binary.Write(os.Stdout, binary.LittleEndian, f)
		os.Stdout.Write(message[:])
	}
}
`

// messageSize is the room for what a kernel panicked with, in bytes.
const messageSize = 128

// batch is how many random kernels are compiled together.
const batch = 60

// kept is where what compiled Go makes of random kernels is on a machine without Go.
const kept = "testdata/random"

// first is the first kernel's seed.
func first() uint64 {
	if *seed == 0 {
		return 20261123
	}
	return *seed
}

// Random functions write the same compiled by Go and on a device.
func TestRandomKernels(t *testing.T) {
	start, folder := first(), *wanted
	if _, err := exec.LookPath("go"); err != nil && folder == "" {
		if folder = kept; !exists(folder) {
			t.Skip("Go is not here, and nothing that it makes of random kernels")
		}
	}
	var batches []randomBatch
	for at := 0; at < *kernels; at += batch {
		batches = append(batches, randomBatch{seed: start + uint64(at), n: min(batch, *kernels-at)})
	}
	if folder != "" && *seed == 0 {
		batches = batchesIn(t, folder)
	}
	t.Logf("seed %d", batches[0].seed)
	switch {
	case *keep != "":
		for list := range slices.Chunk(batches, 20) {
			for i, want := range compiledGo(t, list) {
				if err := os.WriteFile(filepath.Join(*keep, list[i].file()), zipped(want), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
	case *workers > 0:
		inProcesses(t, batches, folder)
	default:
		for _, b := range batches {
			var want []byte
			if folder != "" {
				want = unzipped(t, filepath.Join(folder, b.file()))
			} else {
				want = compiledGo(t, []randomBatch{b})[0]
			}
			compareRandom(t, fmt.Sprintf("seed %d", b.seed), b.source(), want)
			if folder == "" { // of many, TestRandomNative compares these
				compareNative(t, fmt.Sprintf("seed %d", b.seed), b.source(), want)
			}
		}
	}
}

// randomBatch is random kernels that are compiled together.
type randomBatch struct {
	seed uint64
	n    int
	host bool
}

func (b randomBatch) file() string { return fmt.Sprintf("%d-%d.gz", b.seed, b.n) }

func (b randomBatch) names() (names []string) {
	for i := range b.n {
		names = append(names, fmt.Sprintf("k%d", i))
	}
	return names
}

// source writes the kernels.
func (b randomBatch) source() string {
	g, before := &generator{r: rand.New(rand.NewPCG(b.seed, 1)), host: b.host}, prelude
	if b.host {
		before += memoryPrelude
	}
	for _, name := range b.names() {
		g.function(name)
	}
	return before + g.b.String()
}

// batchesIn are those of which a folder has what compiled Go makes.
func batchesIn(t *testing.T, folder string) (list []randomBatch) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no random kernels (%v)", folder, err)
	}
	for _, file := range files {
		var b randomBatch
		if _, err := fmt.Sscanf(filepath.Base(file), "%d-%d.gz", &b.seed, &b.n); err != nil {
			t.Fatal(file, err)
		}
		list = append(list, b)
	}
	return list
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func zipped(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(data) //nolint:errcheck // to memory
	w.Close()     //nolint:errcheck // to memory
	return out.Bytes()
}

func unzipped(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if data, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return data
}

// inProcesses compares batches in processes of their own, so many at a time: of a
// device, one process at a time knows whose panic it sees.
func inProcesses(t *testing.T, batches []randomBatch, folder string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var done, failed int
	jobs := make(chan randomBatch)
	var wg sync.WaitGroup
	for range *workers {
		wg.Go(func() {
			for b := range jobs {
				cmd := exec.Command(self, "-test.run", "^TestRandomKernels$", "-test.timeout", "10m", "-seed", fmt.Sprint(b.seed), "-kernels", fmt.Sprint(b.n), "-want", folder)
				out, err := cmd.CombinedOutput()
				mu.Lock()
				done += b.n
				if err != nil {
					failed++
					t.Errorf("seed %d, %d kernels: %v\n%s", b.seed, b.n, err, out)
				}
				mu.Unlock()
			}
		})
	}
	for _, b := range batches {
		jobs <- b
	}
	close(jobs)
	wg.Wait()
	t.Logf("%d kernels in %d batches were compared; %d batches failed", done, len(batches), failed)
}

// compiledGo has Go compile and run random kernels, and gives what each batch wrote.
func compiledGo(t *testing.T, batches []randomBatch) (wants [][]byte) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module random\n\ngo 1.26\n")
	var imports, lists strings.Builder
	for i, b := range batches {
		write(fmt.Sprintf("p%d/p.go", i), fmt.Sprintf("package p%d\n\nimport (\n\t\"fmt\"\n\t\"math\"\n\t\"math/bits\"\n\t\"math/cmplx\"\n)\n", i)+b.source()+
			"\nvar _, _, _ = math.Pi + cmplx.Abs(1), bits.UintSize, fmt.Sprint\nvar All = []func([]int64, []float64){"+strings.Join(b.names(), ", ")+"}\n")
		fmt.Fprintf(&imports, "\t\"random/p%d\"\n", i)
		fmt.Fprintf(&lists, "p%d.All, ", i)
	}
	write("main.go", "package main\n\nimport (\n\t\"encoding/binary\"\n\t\"fmt\"\n\t\"os\"\n"+imports.String()+")\n"+fmt.Sprintf(mainFunc, lists.String(), elements, elements, messageSize))
	var errors bytes.Buffer
	run := exec.Command("go", "run", "-trimpath", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "CGO_ENABLED=0")
	run.Stderr = &errors
	all, err := run.Output()
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", batches[0].seed, err, errors.String())
	}
	for _, b := range batches {
		n := b.n * (16*elements + messageSize)
		wants, all = append(wants, all[:n]), all[n:]
	}
	return wants
}

// compareRandom compares what a device makes of random kernels.
func compareRandom(t *testing.T, from, source string, want []byte) {
	t.Helper()
	m, err := cuda.CompileGo(source, cuda.SourceName("random"), cuda.Flag("--fmad=false"))
	if err != nil {
		t.Fatalf("%s: %v", from, err)
	}
	d, err := cuda.CurrentDevice()
	if err != nil {
		t.Fatal(err)
	}
	const size = 16*elements + messageSize
	for i := range len(want) / size {
		k, err := m.Kernel(fmt.Sprintf("k%d", i))
		if err != nil {
			t.Fatal(err)
		}
		if testing.Verbose() { // which one does not end, if one does not
			t.Log(from, k.Name())
		}
		out, f := upload(t, d, make([]int64, elements)), upload(t, d, make([]float64, elements))
		if err := k.Launch(cuda.Grid(1), cuda.Block(1), nil, out, f); err != nil {
			t.Fatal(err)
		}
		panicked := d.Synchronize()
		ints, floats := make([]int64, elements), make([]float64, elements)
		if err := out.Download(ints); err != nil {
			t.Fatal(err)
		}
		if err := f.Download(floats); err != nil {
			t.Fatal(err)
		}
		differs := func(where string, ints []int64, floats []float64, panicked error) {
			t.Helper()
			one := want[i*size : (i+1)*size]
			message := strings.TrimPrefix(strings.TrimRight(string(one[16*elements:]), "\x00"), "runtime error: ")
			if message == "" && panicked != nil || message != "" && (panicked == nil || !strings.Contains(panicked.Error(), short(message))) {
				t.Errorf("%s, %s, %s: %v; compiled Go panics with %q", from, k.Name(), where, panicked, message)
			}
			for j := range 2 * elements {
				w := binary.LittleEndian.Uint64(one[j*8:])
				var v uint64
				if j < elements {
					v = uint64(ints[j])
				} else {
					v = math.Float64bits(floats[j-elements])
				}
				if v == w || j >= elements && math.IsNaN(math.Float64frombits(v)) && math.IsNaN(math.Float64frombits(w)) {
					continue
				}
				t.Errorf("%s, %s, %s: value %d is %#x, of compiled Go %#x (%v)", from, k.Name(), where, j, v, w, panicked)
				break
			}
		}
		differs("on the device", ints, floats, panicked)
		ints, floats = make([]int64, elements), make([]float64, elements)
		panicked = k.Emulate(cuda.Grid(1), cuda.Block(1), ints, floats)
		differs("emulated", ints, floats, panicked)
		out.Free()
		f.Free()
	}
}
