package kerneltest

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/gokernel"
	"gocuda/cudaapi/gokernel/emulate"
)

// Kernels, and the checks that stay in them: testdata/checks.txt has each with its
// statements in CUDA C++ of which a panic is part, or a condition for one.
func TestChecksThatStay(t *testing.T) {
	file := filepath.Join("testdata", "checks.txt")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		source, want, _ := strings.Cut(c, "\n=>")
		p, err := gokernel.Compile(source, gokernel.Options{})
		if err != nil {
			t.Fatalf("%s\n%v", source, err)
		}
		_, body, _ := strings.Cut(p.Code, "__forceinline__ void k(")
		body, _, _ = strings.Cut(body, "__global__")
		var stay []string
		for _, line := range strings.Split(body, "\n") {
			line = strings.NewReplacer("go::add", "add", "go::sub", "sub", "go::mul", "mul", "i64(", "(", "u64(", "(", "ull", "", "ll", "", "GO_RARELY", "").Replace(strings.TrimSpace(line))
			if cond, _, panics := strings.Cut(line, " { go::panic("); panics {
				stay = append(stay, cond)
			} else if strings.Contains(line, " >= (") || strings.Contains(line, ") < (") {
				stay = append(stay, line)
			}
		}
		if got := strings.Join(stay, "\n"); got != strings.TrimSpace(want) {
			t.Errorf("%s\nkeeps\n%s\nwant\n%s", source, got, strings.TrimSpace(want))
		}
	}
}

// Indices that are equal, one as the least and one as the greatest of a row, do not leave
// out each other's checks.
func TestEqualIndices(t *testing.T) {
	for _, index := range []string{"m*v+m-1, m*v+m+1, (m-1)*v+m, (m+1)*v+m", "m-3, m+n-n-3", "m+5, 5+m, n-n+m+5, m+4", "m-2, m-3, m+1-4, m-1-2"} {
		at := strings.Split(index, ", ")
		p, err := gokernel.Compile(fmt.Sprintf("func k(n, m int, x []int) {\n\tv := -1\n\t_ = v\n\tx[0] = x[%s]\n}", strings.Join(at, "] + x[")), gokernel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x, n, m := make([]int, 6), 10, 2
		s := slice{unsafe.Pointer(unsafe.SliceData(x)), len(x), cap(x)}
		err = p.Emulate(0, emulate.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Params: []unsafe.Pointer{unsafe.Pointer(&n), unsafe.Pointer(&m), unsafe.Pointer(&s)}})
		if err == nil || strings.Contains(err.Error(), "proved") {
			t.Errorf("x[%s]: %v", index, err)
		}
	}
}

// A check of an index says that the length by which the next one divides is not zero: the
// division is not made before it.
func TestDivisionByLength(t *testing.T) {
	p, err := gokernel.Compile("func k(i int, x []int) {\n\ta := x[i]\n\tx[(i+1)%len(x)] = a\n}", gokernel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	i, s := 0, slice{}
	err = p.Emulate(0, emulate.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Params: []unsafe.Pointer{unsafe.Pointer(&i), unsafe.Pointer(&s)}})
	if err == nil || !strings.Contains(err.Error(), "index out of range [0] with length 0") {
		t.Error(err)
	}
}

var moreChecks = flag.Int("checks", 0, "how many random kernels are run for checks that were taken out and fail")

// A kernel of which checks were taken out or moved does what it does with all of them where
// they were: the emulator makes those that were taken out, too. For many:
// -checks 100000 -parallel 32 -until 100s.
func TestRandomChecks(t *testing.T) {
	n, start := 60, first()
	if *moreChecks > 0 {
		n = *moreChecks
	}
	t.Logf("seed %d", start)
	var ran, panicked, ended, refused atomic.Int64
	t.Run("seeds", func(t *testing.T) {
		const batch = 50
		for at := 0; at < n; at += batch {
			t.Run(fmt.Sprint(start+uint64(at)), func(t *testing.T) {
				t.Parallel()
				for i := at; i < min(n, at+batch) && (*until == 0 || time.Since(begun) < *until); i++ {
					p, d := randomChecks(t, start+uint64(i))
					if ran.Add(1); p+d == 0 {
						refused.Add(1)
					}
					panicked.Add(int64(p))
					ended.Add(int64(d))
				}
			})
		}
	})
	fmt.Printf("%d kernels, of which %d do not compile: %d launches panicked, %d did not\n", ran.Load(), refused.Load(), panicked.Load(), ended.Load())
	if panicked.Load() == 0 || ended.Load() == 0 || refused.Load() > ran.Load()/2 {
		t.Error("that says nothing")
	}
}

// randomChecks launches one kernel, and says how many launches panicked, and how many
// did not.
func randomChecks(t *testing.T, seed uint64) (panicked, ended int) {
	g := &checkGenerator{r: rand.New(rand.NewPCG(seed, 2))}
	source := g.kernel()
	p, err := gokernel.Compile(source, gokernel.Options{})
	if err != nil { // a constant index
		return 0, 0
	}
	plain, err := gokernel.Compile(source, gokernel.Options{Unchecked: true}) // nothing is proved, and the emulator makes every check
	if err != nil {
		t.Fatal(err)
	}
	for range 12 {
		l := emulate.Launch{Grid: [3]int{1 + g.r.IntN(3), 1 + g.r.IntN(2), 1}, Block: [3]int{1 + g.r.IntN(5), 1 + g.r.IntN(3), 1}}
		x, y := g.numbers(), g.numbers()
		wantX, wantY := slices.Clip(slices.Clone(x)), slices.Clip(slices.Clone(y))
		n, m := g.number(), g.number()
		h := int32(g.number())
		emulated := func(p *gokernel.Program, x, y []int) error {
			sx, sy := slice{unsafe.Pointer(unsafe.SliceData(x)), len(x), cap(x)}, slice{unsafe.Pointer(unsafe.SliceData(y)), len(y), cap(y)}
			l.Params = []unsafe.Pointer{unsafe.Pointer(&n), unsafe.Pointer(&m), unsafe.Pointer(&h), unsafe.Pointer(&sx), unsafe.Pointer(&sy)}
			return p.Emulate(0, l)
		}
		err, want := emulated(p, x, y), emulated(plain, wantX, wantY)
		if fmt.Sprint(err) != fmt.Sprint(want) || !slices.Equal(x, wantX) || !slices.Equal(y, wantY) {
			t.Fatalf("seed %d: with %d, %d, %d and slices of %d and %d: %v\n%d\n%d\nwithout proofs: %v\n%d\n%d\n%s", seed, n, m, h, len(x), len(y), err, x, y, want, wantX, wantY, source)
		}
		if err == nil {
			ended++
			continue
		}
		panicked++
	}
	return panicked, ended
}

// slice lies in memory as a kernel's does.
type slice struct {
	at       unsafe.Pointer
	len, cap int
}

// checkGenerator writes kernels that index slices by what conditions, loops and earlier
// checks say something of.
type checkGenerator struct {
	r     *rand.Rand
	b     strings.Builder
	vars  []string // of type int
	loops int      // around
	depth int
	next  int
}

func (g *checkGenerator) numbers() []int {
	x := make([]int, g.r.IntN(40)+8*g.r.IntN(2))
	for i := range x {
		x[i] = g.r.IntN(60) - 10
	}
	return x
}

func (g *checkGenerator) number() int {
	edge := []int{0, 1, 2, 3, 4, 5, 7, 8, 16, 31, -1, -2, 1 << 31, 1<<31 - 1, 1 << 32, 1 << 62, 1<<62 + 1, math.MaxInt, math.MinInt, math.MinInt + 1, math.MaxInt - 1, -1 << 31}
	if g.r.IntN(3) > 0 {
		return g.r.IntN(24)
	}
	return edge[g.r.IntN(len(edge))]
}

func (g *checkGenerator) line(format string, args ...any) {
	fmt.Fprintf(&g.b, strings.Repeat("\t", g.depth)+format+"\n", args...)
}

func (g *checkGenerator) pick(list ...string) string { return list[g.r.IntN(len(list))] }

func (g *checkGenerator) kernel() string {
	g.vars = []string{"n", "m", "i", "j"}
	g.line("func k(n, m int, h int32, x, y []int) {")
	g.depth++
	g.line("fuel, table := 300, [16]int{3, 1, 4, 1, 5}")
	g.line("s := gpu.Shared[[4][8]int]()")
	g.line("i, j := gpu.BlockIdx.X*gpu.BlockDim.X+gpu.ThreadIdx.X, gpu.BlockIdx.Y*gpu.BlockDim.Y+gpu.ThreadIdx.Y")
	g.line("u, w, b := uint8(i*77), uint64(j), i < j")
	g.line("_, _, _, _, _, _ = table, s, u, w, h, b")
	for range 4 + g.r.IntN(6) {
		g.statement()
	}
	g.depth--
	g.line("}")
	return g.b.String()
}

func (g *checkGenerator) value() string { return g.vars[g.r.IntN(len(g.vars))] }

func (g *checkGenerator) constant() string { return fmt.Sprint(g.r.IntN(10) - 2) }

// expr is an integer.
func (g *checkGenerator) expr(depth int) string {
	switch k := g.r.IntN(22); {
	case depth <= 0 || k < 4:
		return g.value()
	case k < 6:
		return g.constant()
	case k < 8:
		return g.pick("len(x)", "len(y)", "int(h)", "int(u)", "int(w)", "gpu.ThreadIdx.X", "gpu.BlockDim.X", "gpu.BlockIdx.Y")
	case k < 14:
		return "(" + g.expr(depth-1) + g.pick(" + ", " - ", " + ", " - ", " * ") + g.expr(depth-1) + ")"
	case k < 15:
		return "(" + g.expr(depth-1) + g.pick(" / ", " % ", " >> ", " << ", " & ", " &^ ", " | ", " ^ ") + g.pick("1", "2", "3", "7", "8") + ")"
	case k < 16:
		return "(" + g.expr(depth-1) + g.pick(" & ", " | ", " ^ ", " &^ ") + g.expr(depth-1) + ")"
	case k < 18:
		return g.pick("min", "max") + "(" + g.expr(depth-1) + ", " + g.expr(depth-1) + ")"
	case k < 19:
		return g.pick("int(int32(", "int(uint8(", "int(uint32(", "int(int16(", "int(uint64(") + g.expr(depth-1) + "))"
	case k < 20:
		return g.pick("-", "^") + g.value()
	case k < 21:
		return g.element()
	}
	return "(" + g.value() + "*" + g.value() + " + " + g.value() + g.pick("", " + 1", " - 1") + ")"
}

// element is one of a slice or an array.
func (g *checkGenerator) element() string {
	near := g.value() + g.pick("", "+1", "-1", " + 2", "&7", "%5")
	switch g.r.IntN(16) {
	case 0:
		return "table[" + g.pick(near, g.expr(1), "u&15", "u>>4") + "]"
	case 1:
		return "s[" + g.pick(near, "i&3", g.expr(1)) + "][" + g.pick(near, "j&7", g.expr(1)) + "]"
	case 2:
		return g.pick("x", "y") + "[" + g.pick(g.expr(2), "w", "h", "u") + "]"
	case 3:
		return g.pick("x", "y") + "[" + g.pick(near, g.value()+"*"+g.value()+g.pick("+", "-")+g.value()) + "]"
	}
	return "table[" + g.value() + "&" + g.pick("15", "7", "3") + "]"
}

func (g *checkGenerator) cond(depth int) string {
	if depth > 0 && g.r.IntN(3) > 0 {
		return g.cond(depth-1) + g.pick(" && ", " && ", " || ") + g.cond(depth-1)
	}
	switch g.r.IntN(12) {
	case 0:
		return g.pick("b", "!b", "i == j", "w < 9", "h >= 0", "u != 0", "w > uint64(j)")
	case 1:
		return g.element() + g.pick(" > ", " == ") + g.constant()
	case 2:
		return "!(" + g.cond(0) + ")"
	case 3:
		return g.value() + g.pick(" >= ", " > ", " != ") + "0"
	case 4:
		return g.value() + " < " + g.pick("len(x)", "len(y)", "len(x)-1", "16", "8", "4", g.value()+"-1")
	}
	return g.expr(1) + g.pick(" < ", " <= ", " > ", " >= ", " == ", " != ") + g.expr(1)
}

func (g *checkGenerator) block(do func()) {
	vars := len(g.vars)
	g.depth++
	do()
	for range 1 + g.r.IntN(4) {
		g.statement()
	}
	g.depth--
	g.vars = g.vars[:vars]
	g.line("}")
}

func (g *checkGenerator) name() string {
	g.next++
	return fmt.Sprintf("v%d", g.next)
}

func (g *checkGenerator) statement() {
	k := g.r.IntN(20)
	if g.depth > 3 && k >= 9 {
		k = g.r.IntN(9)
	}
	switch {
	case k < 3: // elements in a row
		v, w, s := g.value(), g.value(), g.value()
		near, plane := g.r.IntN(8) > 0, g.r.IntN(2) > 0
		switch {
		case near && plane:
			g.line("if %s > 0 && %s < %s-1 && %s > 0 && %s < %s-1 && %s <= len(y) && %s*%s <= len(x) {", v, v, w, s, s, w, g.pick(w+"*"+w, w+"*"+w, v), w, w)
		case near:
			g.line("if %s > %s && %s < len(x)-1%s {", v, g.pick("0", "0", "-1"), v, g.pick("", " && "+v+" < len(y)"))
		}
		switch {
		case plane && g.r.IntN(3) == 0: // stores between checks
			g.line("x[%s*%s+%s] = %s", v, w, s, g.value())
			g.line("y[%s*%s+%s-1] %s x[%s*%s+%s]", v, w, s, g.pick("=", "+="), v, w, s)
			g.line("s[%s][%s&7] -= x[%s*%s+%s+1]", g.pick("1", w), s, v, w, s)
		case plane:
			g.line("y[%s*%s+%s] = x[%s*%s+%s-1] + x[%s*%s+%s+1] + x[(%s-1)*%s+%s] + x[(%s+1)*%s+%s]", v, w, s, v, w, s, v, w, s, v, w, s, v, w, s)
		case g.r.IntN(3) == 0:
			g.line("x[%s-1] = %s", v, w)
			g.line("y[%s] += %s", v, g.pick("x["+v+"+1]", "x["+v+"]"))
			g.line("x[%s+1], %s = y[%s-1], %s+1", v, v, v, v)
		default:
			g.line("y[%s] = x[%s-1] + x[%s] + x[%s+1]", v, v, v, v)
		}
		if near {
			g.line("}")
		}
	case k < 5:
		v := g.value()
		if near := g.r.IntN(8) > 0; near {
			g.line("if %s >= 0 && %s %s {", v, v, g.pick("< len(x) && "+v+" < len(y)", "< 8 && len(x) > 8 && len(y) > "+v, "< len(y)"))
			g.line("y[%s] %s %s", v, g.pick("=", "+=", "-="), g.pick(g.element(), "x["+v+"]", "table["+v+"&15]", "x[len(x)-1-"+v+"]"))
			g.line("}")
		} else {
			g.line("%s = %s", g.element(), g.expr(2))
		}
	case k < 7:
		v := g.name()
		g.line("%s := %s", v, g.expr(2))
		g.vars = append(g.vars, v)
		g.line("_ = %s", v)
	case k < 8:
		g.line("%s %s %s", g.pick(g.value(), g.value(), "i", "j"), g.pick("=", "+=", "-=", "*="), g.expr(1))
	case k < 9:
		g.line("%s", g.pick("u++", "w = uint64("+g.expr(1)+")", "h = int32("+g.expr(1)+")", "b = "+g.cond(1), "b = b && "+g.cond(0), "b = !b", "w -= 3", "h *= 3"))
	case k < 12:
		g.line("if %s {", g.cond(1))
		g.block(func() {})
		if g.r.IntN(3) == 0 {
			g.b.WriteString(strings.Repeat("\t", g.depth) + "if !(" + g.cond(0) + ") {\n")
			g.block(func() {})
		}
	case k < 13:
		lo, hi := g.expr(1), g.expr(1)
		v := g.name()
		g.line("%s := %s[%s:%s]", v, g.pick("x", "y", "table"), lo, hi)
		e := g.name()
		g.line("for %s := range %s {", e, v)
		g.loops++
		g.block(func() {
			g.vars = append(g.vars, e)
			g.line("if fuel--; fuel < 0 { return }")
			g.line("%s[%s] += %s[len(%s)-1-%s]", v, e, v, v, e)
		})
		g.loops--
	case k < 17:
		v := g.name()
		from, to := g.pick("0", "1", "2", g.value(), g.constant()), g.pick("len(x)", "len(y)-1", "8", "16", "4", g.value())
		switch g.r.IntN(6) {
		case 0:
			g.line("for %s := %s; %s < %s; %s *= 2 {", v, g.pick("1", "1", "2", "3"), v, to, v)
		case 1:
			g.line("for %s := %s; %s > 0; %s /= 2 {", v, to, v, v)
		case 2:
			g.line("for %s := %s; %s >= %s; %s-- {", v, to, v, g.pick("0", "1", from), v)
		case 3:
			g.line("for %s := range %s {", v, g.pick("8", "4", "len(x)", "n"))
		case 4:
			g.line("for %s := %s; %s; %s += %s {", v, from, g.cond(1), v, g.pick("1", "2", "3"))
		default:
			g.line("for %s := %s; %s %s %s; %s += %s {", v, from, v, g.pick("<", "<", "<=", "!="), to, v, g.pick("1", "1", "2", "3"))
		}
		g.loops++
		g.block(func() {
			g.vars = append(g.vars, v)
			g.line("if fuel--; fuel < 0 { return }")
		})
		g.loops--
	case k < 18 && g.loops > 0:
		g.line("if %s { %s }", g.cond(0), g.pick("break", "continue", "continue", "return"))
	case k < 19:
		g.line("switch {")
		for range 1 + g.r.IntN(2) {
			g.line("case %s:", g.cond(1))
			vars := len(g.vars)
			g.depth++
			g.statement()
			g.statement()
			g.depth--
			g.vars = g.vars[:vars]
		}
		g.line("}")
	default:
		f := g.name()
		v := g.value()
		g.line("%s := func(a int) int {", f)
		g.depth++
		g.line("if a >= 0 && a < len(x) { %s = x[a]; return x[a] + %s }", g.pick(v, "_"), v)
		g.line("return a")
		g.depth--
		g.line("}")
		g.line("y[%s(%s)&7] = %s", f, g.value(), g.value())
	}
}
