package kerneltest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
)

// blockThreads and blockCount are the launch of random kernels whose threads meet.
const blockThreads, blockCount = 64, 3

// parallel writes random kernels whose threads share memory, meet at barriers and
// use atomics, so that the result does not depend on their order.
type parallel struct {
	r      *rand.Rand
	b      strings.Builder
	indent int
	loops  int  // around
	lanes  bool // of a warp talk to each other
}

func (g *parallel) line(format string, args ...any) {
	g.b.WriteString(strings.Repeat("\t", g.indent))
	fmt.Fprintf(&g.b, format+"\n", args...)
}

func (g *parallel) pick(list ...string) string { return list[g.r.IntN(len(list))] }

// expr is a number of the thread's own.
func (g *parallel) expr(depth int) string {
	if depth == 0 || g.r.IntN(4) == 0 {
		return g.pick("v", "w", "t", "i", "int64(x)", fmt.Sprintf("(k + %d)", g.r.IntN(1000)), "k")
	}
	a, b := g.expr(depth-1), g.expr(depth-1)
	switch g.r.IntN(6) {
	case 0:
		return fmt.Sprintf("(%s >> uint(%s&15))", a, b)
	case 1:
		return fmt.Sprintf("(%s / (%s | 1))", a, b)
	case 2:
		return fmt.Sprintf("%s(%s, %s)", g.pick("min", "max", "mixed"), a, b)
	}
	return fmt.Sprintf("(%s %s %s)", a, g.pick("+", "-", "*", "^", "&", "|"), b)
}

func (g *parallel) cond() string {
	return fmt.Sprintf("%s%%%d %s %d", g.expr(1), g.r.IntN(5)+2, g.pick("==", "<", ">"), g.r.IntN(3))
}

// uniform is a condition that is the same for a whole block.
func (g *parallel) uniform() string {
	return g.pick("gpu.BlockIdx.X%2 == 0", "gpu.BlockIdx.X < 2", "len(out) > 5", "k < 2")
}

// alone is a statement at which no threads meet.
func (g *parallel) alone(depth int) {
	switch g.r.IntN(9) {
	case 6:
		g.line("a[%s&3] += %s", g.expr(1), g.expr(2))
	case 7:
		g.line("p = &a[%s&3]", g.expr(1))
		g.line("*p ^= %s", g.expr(1))
	case 8:
		if g.lanes { // who has ended is in no mask
			g.line("x += float64(a[1] & 15)")
			return
		}
		g.line("if %s && t > 59 {", g.cond())
		g.line("\treturn")
		g.line("}")
	case 0:
		g.line("v = %s", g.expr(3))
	case 1:
		g.line("w += %s", g.expr(3))
	case 2:
		g.line("x = float64(%s%%1000) / 8", g.expr(2))
	case 3:
		g.line("if %s {", g.cond())
		g.indent++
		g.line("v, w = w, %s", g.expr(2))
		g.indent--
		g.line("} else {")
		g.indent++
		g.line("v -= %s", g.expr(2))
		g.indent--
		g.line("}")
	case 4:
		g.line("gpu.%s(&acc[%s&3], %s)", g.pick("AtomicAdd", "AtomicSub"), g.expr(2), g.expr(2))
	case 5: // what does not commute has elements of its own
		g.line("gpu.%s&3], %s)", g.pick("AtomicXor(&acc[4+", "AtomicMax(&acc[8+", "AtomicOr(&acc[12+")+g.expr(2), g.expr(2))
	}
}

// phase is a statement at which all threads of a block meet.
func (g *parallel) phase(depth int) {
	n := g.r.IntN(13)
	if !g.lanes && (n == 6 || n == 7 || n == 8 || n == 10) {
		n = g.r.IntN(6)
	}
	switch {
	case n == 11 && g.loops > 0:
		g.line("if %s {", g.uniform())
		g.line("\t%s", g.pick("break", "continue"))
		g.line("}")
	case n == 12:
		g.line("if gpu.%s(%s) {", g.pick("SyncThreadsAnd", "SyncThreadsOr"), g.cond())
		g.line("\tgpu.SyncThreads()")
		g.line("\tw++")
		g.line("}")
	case n < 3:
		g.line("s[t] = %s", g.expr(2))
		g.line("gpu.SyncThreads()")
		g.line("w = s[(t*%d+%d)&63] %s v", 2*g.r.IntN(8)+1, g.r.IntN(64), g.pick("+", "-", "^"))
		g.line("gpu.SyncThreads()")
	case n == 3:
		g.line("if t < 16 {")
		g.line("\tq[t] = 0")
		g.line("}")
		g.line("gpu.SyncThreads()")
		g.line("gpu.%s(&q[%s&15], %s)", g.pick("AtomicAdd", "AtomicXor", "AtomicOr", "AtomicMax"), g.expr(2), g.expr(2))
		g.line("gpu.SyncThreads()")
		g.line("v ^= q[%s&15]", g.expr(1))
		g.line("gpu.SyncThreads()")
	case n == 4 && depth > 0:
		g.line("for k := range int64(%d) {", g.r.IntN(4))
		g.indent++
		g.loops++
		g.statements(depth - 1)
		g.loops--
		g.indent--
		g.line("}")
	case n == 5 && depth > 0:
		g.line("if %s {", g.uniform())
		g.indent++
		g.statements(depth - 1)
		g.indent--
		g.line("}")
	case n == 6:
		g.line("v = gpu.%s(gpu.FullMask, %s, %d)", g.pick("ShflXor", "ShflUp", "ShflDown", "Shfl"), g.expr(2), g.r.IntN(32))
	case n == 7:
		g.line("w += gpu.%s(gpu.FullMask, %s)", g.pick("ReduceAdd", "ReduceMin", "ReduceMax", "ReduceXor", "ReduceAnd", "ReduceOr"), g.expr(2))
	case n == 8:
		g.line("v += int64(gpu.%s(gpu.FullMask, %s))", "Ballot", g.cond())
		g.line("w ^= int64(gpu.MatchAny(gpu.FullMask, %s&3))", g.expr(1))
	case n == 9:
		g.line("v += int64(gpu.SyncThreadsCount(%s))", g.cond())
	case n == 10:
		size := 1 << g.r.IntN(6)
		g.line("w += gpu.ReduceAdd(gpu.Tile(%d).Mask, %s)", size, g.expr(1))
	}
}

func (g *parallel) statements(depth int) {
	for range g.r.IntN(4) + 1 {
		if g.r.IntN(2) == 0 {
			g.alone(depth)
		} else {
			g.phase(depth)
		}
	}
}

func (g *parallel) kernel(name string) {
	g.lanes = g.r.IntN(3) == 0
	g.line("func %s(out, acc []int64) {", name)
	g.indent++
	g.line("var a [4]int64")
	g.line("p := &a[1]")
	g.line("s, q := gpu.Shared[[64]int64](), gpu.Shared[[16]int64]()")
	g.line("t := int64(gpu.ThreadIdx.X)")
	g.line("i := int64(gpu.GridRank())")
	g.line("v, w, x, k := i*%d, t^%d, float64(t)/4, int64(%d)", g.r.IntN(99), g.r.IntN(99), g.r.IntN(5))
	g.line("if t < 16 {")
	g.line("\tq[t] = 0")
	g.line("}")
	g.line("s[t] = 0")
	g.line("gpu.SyncThreads()")
	for range 3 {
		g.statements(2)
	}
	g.line("out[i] = v ^ w<<1 ^ int64(x) + k + a[0] ^ *p - a[2]*a[3]")
	g.indent--
	g.line("}")
}

const blocksPrelude = `
func mixed(a, b int64) int64 {
	if a&1 == 0 {
		return a*31 - b
	}
	return b ^ a>>2
}
`

// Threads that meet do the same on a device as emulated.
func TestRandomBlocks(t *testing.T) {
	start := first()
	t.Logf("seed %d", start)
	for at := 0; at < *kernels; at += batch {
		n := start + uint64(at)
		g := &parallel{r: rand.New(rand.NewPCG(n, 2))}
		count := min(batch, *kernels-at)
		for i := range count {
			g.kernel(fmt.Sprintf("k%d", i))
		}
		compareBlocks(t, fmt.Sprintf("seed %d", n), blocksPrelude+g.b.String(), count)
	}
}

func compareBlocks(t *testing.T, from, source string, count int) {
	t.Helper()
	m, err := cuda.CompileGo(source, cuda.SourceName("random"))
	if err != nil {
		t.Fatalf("%s: %v", from, err)
	}
	d, err := cuda.CurrentDevice()
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		k, err := m.Kernel(fmt.Sprintf("k%d", i))
		if err != nil {
			t.Fatal(err)
		}
		want, wantAcc := make([]int64, blockThreads*blockCount), make([]int64, 16)
		if err := k.Emulate(cuda.Grid(blockCount), cuda.Block(blockThreads), want, wantAcc); err != nil {
			t.Errorf("%s, %s: emulated: %v", from, k.Name(), err)
			continue
		}
		out, acc := upload(t, d, make([]int64, len(want))), upload(t, d, make([]int64, len(wantAcc)))
		if err := k.Launch(cuda.Grid(blockCount), cuda.Block(blockThreads), nil, out, acc); err != nil {
			t.Fatal(err)
		}
		if err := d.Synchronize(); err != nil {
			t.Fatalf("%s, %s: %v", from, k.Name(), err)
		}
		got, err := out.Int64s()
		if err != nil {
			t.Fatal(err)
		}
		gotAcc, err := acc.Int64s()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) || !slices.Equal(gotAcc, wantAcc) {
			t.Errorf("%s, %s: the device makes\n%v %v\nemulated it is\n%v %v", from, k.Name(), got, gotAcc, want, wantAcc)
		}
		out.Free()
		acc.Free()
	}
}
