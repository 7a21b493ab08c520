//go:build unix

package evaluator

import (
	"strings"
	"testing"
)

// Kernels in Go use what earlier cells declared, and are told apart from its
// variables.
func TestKernelCells(t *testing.T) {
	h := startReal(t, nil)
	h.Succeed("import \"fmt\"\nconst (\n\tlow = iota + 2\n\thigh\n)\ntype Pair struct{ A, B float32 }\nfunc (p Pair) Sum() float32 { return p.A + p.B }\nfunc (p Pair) String() string { return fmt.Sprint(p.A) }")
	h.Succeed("func clamp[T int | float32](x, lo, hi T) T { return min(max(x, lo), hi) }\nn := 8\nd := must(cuda.CurrentDevice())\nx := must(d.Upload([]float32{1, 2, 3, 4}))")
	h.Succeed("%%kernel\n// fold writes sums.\nfunc fold(x []float32) {\n\ti := gpu.ThreadIdx.X\n\tp := Pair{x[i], high}\n\tx[i] = clamp(half(p.Sum()), low, 3)\n}\n\nfunc half(x float32) float32 { return x / 2 }")
	h.Shows("fold.Launch(cuda.Grid(1), cuda.Block(4), nil, x)\nx.Float32s()", "[value []float32{2, 2.5, 3, 3}]\n")
	h.Succeed("%%kernel --instantiate scale[float32]\nfunc scale[T float32 | float64](x []T, by T) { x[gpu.ThreadIdx.X] *= by * T(half(2)) }\nfunc use(x []float32) { scale(x, 1) }")
	h.Shows("scale_float32.Launch(cuda.Grid(1), cuda.Block(4), nil, x, 2)\nx.Float32s()", "[value []float32{4, 5, 6, 6}]\n")
	h.Fails("fold.Launch(cuda.Grid(1), cuda.Block(5), nil, x)\nd.Synchronize()", "index out of range [4] with length 4, in kernel fold, block (0,0,0), thread (4,0,0), ")
	h.Fails("%%kernel\nfunc k(x []float32) {\n\tx[n] = 1\n}", ":3:4: ", "n is a variable of the notebook, which a kernel cannot see: give it as an argument")
	h.Fails("%%kernel\nfunc k(x []float32) {\n\ty := map[int]int{}\n\t_ = y\n}", ":3:7: ", "there are no maps")
	h.Fails("%%kernel\nfunc k(x []float32) {\n\tx[0] = nothing\n}", "undefined: nothing\n        x[0] = nothing\n               ^")
	h.Fails("%%kernel\n", "there is no Go below the first line")
	h.Shows("d.Synchronize()\nn", "[value 8]\n")
	h.Shows("y := []float32{5, 6, 7, 8}\nfold.Emulate(cuda.Grid(1), cuda.Block(4), y)\ny", "[value []float32{3, 3, 3, 3}]\n")
	h.Fails("fold.Emulate(cuda.Grid(1), cuda.Block(5), y)", "index out of range [4] with length 4, in kernel fold, block (0,0,0), thread (4,0,0), In[1]:5")
	h.Shown()
	h.Succeed("%%kernel --show\n// last is *one*. \\\nfunc last(x []float32) {\n\tx[len(x)-1] = 2 // for now \\\n\t/* then\n\t   the rest */\n\tx[len(x)-1] = 1\n\t// done\n}")
	if text := h.Shown(); strings.Contains(text, "namespace go") || !strings.Contains(text, "void go_last(") || !inOrder(text, "// last is *one*.\n", "    // for now\n", "= 2.0f;\n    // then\n    // the rest\n", "= 1.0f;\n    // done\n}\n") || !strings.Contains(text, "PTX") || !strings.Contains(text, "// last: ") || !strings.Contains(text, "occupancy") {
		t.Errorf("--show shows %s", text)
	}
	h.Shown()
	h.Succeed("%%kernel -show -unchecked\nfunc one(x []float32) { x[0] = 1 }")
	if text := h.Shown(); !strings.Contains(text, "void go_one(") {
		t.Errorf("-show shows %s", text)
	}
	h.Succeed("%%cuda --show -DN=3\n__global__ void three(float *x) { x[0] = N; }")
	if text := h.Shown(); !strings.Contains(text, "PTX") || !strings.Contains(text, "// three: ") {
		t.Errorf("--show of %%%%cuda shows %s", text)
	}
	h.Succeed("%%kernel\nfunc window(n int) []float32 { return gpu.DynamicShared[float32](n) }\nfunc some(x []float32) { window(len(x))[0] = x[0] }\nfunc eight(x []float32) { x[0] = float32(gpu.DynamicShared[float64](8)[0]) }")
	h.Fails("some.Launch(cuda.Grid(1), cuda.Block(1), nil, x)", "some needs some of dynamic shared memory (gpu.DynamicShared), and the launch gives 0: some.With(cuda.SharedMemory(bytes)).Launch(...)")
	h.Fails("eight.With(cuda.SharedMemory(63)).Launch(cuda.Grid(1), cuda.Block(1), nil, x)", "eight needs 64 bytes of dynamic shared memory (gpu.DynamicShared), and the launch gives 63: eight.With(cuda.SharedMemory(64)).Launch(...)")
	h.Succeed("eight.With(cuda.SharedMemory(64)).Launch(cuda.Grid(1), cuda.Block(1), nil, x)\nd.Synchronize()")
	h.Fails("%%kernel --shw\nfunc one(x []float32) { x[0] = 1 }", "there is no option --shw; did you mean --show?")
	h.Succeed("%%cuda\n#define WIDE 2\n__device__ float curve(float x, const float *by) { return x * by[0] + WIDE; }\n__device__ inline void bump(long long *n) { *n += 5; }\n__global__ void unused(float *x) { x[0] = curve(1, x); }")
	h.Succeed("%%kernel\nfunc curve(x float32, by []float32) float32\nfunc bump(n *int)\nfunc bent(x, by []float32) {\n\ti := gpu.ThreadIdx.X\n\tn := i\n\tbump(&n)\n\tx[i] = curve(x[i], by) + float32(n)\n}")
	h.Shows("b := must(d.Upload([]float32{10}))\nx.Upload([]float32{1, 2, 3, 4})\nbent.Launch(cuda.Grid(1), cuda.Block(4), nil, x, b)\nx.Float32s()", "[value []float32{17, 28, 39, 50}]\n")
	h.Fails("bent.Emulate(cuda.Grid(1), cuda.Block(1), []float32{1}, []float32{1})", "bump is CUDA C++, which cannot be emulated")
	h.Succeed("%%cuda\n__device__ int own(int x) { return 3 * x; }\n__global__ void back(float *x, int n) {\n\tint i = threadIdx.x;\n\tif (i < n) x[i] = half(x[i]) + own(i);\n}")
	h.Shows("x.Upload([]float32{1, 2, 3, 4})\nback.Launch(cuda.Grid(1), cuda.Block(4), nil, x, 4)\nx.Float32s()", "[value []float32{0.5, 4, 7.5, 11}]\n")
	h.Fails("%%kernel\nfunc none(x float32) float32\nfunc calls(x []float32) { x[0] = none(1) }", "none")
	h.Fails("%%kernel\nfunc none(x struct{ a int }) float32\nfunc calls(x []float32) { x[0] = none(struct{ a int }{1}) }", ":2:1: ", "takes numbers, bools, pointers to them, and slices as pointers")
}

// What a %%kernel cell declares beside its kernels is there for Go cells and for later
// kernels, of each name the last.
func TestDeclarationsOfKernelCells(t *testing.T) {
	h := startReal(t, nil)
	h.Succeed(`%%kernel
const (
	side = 3
	area = side * side
)

var weights = [side]float32{1, 2, 3}

type Point struct{ X, Y float32 }

func (p Point) Sum() float32       { return p.X + p.Y }
func (p Point) Weighted() float32  { return p.X * weights[1] }
func (p *Point) Move(sum float32)  { p.X += twice(sum) }
func twice(x float32) float32      { return 2 * x }
func place() int                   { return gpu.ThreadIdx.X }

func sum(list []Point, out []float32) {
	i := place()
	list[i].Move(1)
	out[i] = list[i].Sum() + list[i].Weighted()
}`)
	h.Shows("l := []Point{{1, 2}, {X: 3}}\nd := must(cuda.CurrentDevice())\np, out := must(d.Upload(l)), must(d.Alloc(2, cuda.Float32))\nsum.Launch(cuda.Grid(1), cuda.Block(2), nil, p, out)\nout.Float32s()", "[value []float32{11, 15}]\n")
	h.Shows("l[0].Move(1)\nl[0].Sum() + twice(area)", "[value 23]\n")
	h.Fails("place()", "undefined: place")
	h.Fails("l[0].Weighted()", "Weighted")
	// Methods, groups and what uses variables are there for later kernels.
	h.Succeed("%%kernel\nfunc (p Point) More() float32 { return p.Weighted() + area }\nfunc more(list []Point, out []float32) { out[place()] = list[place()].More() }")
	h.Shows("more.Launch(cuda.Grid(1), cuda.Block(2), nil, p, out)\nout.Float32s()", "[value []float32{15, 19}]\n")
	// The last declaration counts, wherever it stands.
	h.Succeed("func twice(x float32) float32 { return 10 * x }")
	h.Succeed("%%kernel\nfunc ten(out []float32) { out[place()] = twice(1) }")
	h.Shows("ten.Launch(cuda.Grid(1), cuda.Block(2), nil, out)\nout.Float32s()", "[value []float32{10, 10}]\n")
	h.Succeed("%%kernel\nfunc twice(x float32) float32 { return 3 * x }\nfunc three(out []float32) { out[place()] = twice(1) }")
	h.Shows("twice(1)", "[value 3]\n")
	h.Succeed("%%cuda\n__global__ void thrice(float *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }")
	h.Shows("thrice.Launch(cuda.Grid(1), cuda.Block(2), nil, out)\nout.Float32s()", "[value []float32{30, 30}]\n")
	// A cell without a kernel says so, and declares what it has.
	h.Shown()
	h.Succeed("%%kernel\nfunc last() int { return gpu.BlockDim.X - 1 - gpu.ThreadIdx.X }\nfunc (p Point) Last() int { return last() }")
	if text := h.Shown(); !strings.Contains(text, "declared for later cells: there is no kernel: ") || !strings.Contains(text, "last has results: a kernel writes them to a slice") {
		t.Errorf("shows %s", text)
	}
	h.Fails("%%kernel\nfunc mean(x []float32) float32 { return x[0] }\nfunc half(x float32) float32 { return x / 2 }", "In[1]:2:1: there is no kernel", "mean has results: a kernel writes them to a slice")
	h.Fails("%%kernel\nfunc fill[T int | float32](x []T) { x[0] = 1 }", "fill is generic")
	h.Succeed("%%kernel\nfunc back(list []Point, out []float32) { out[list[0].Last()] = float32(gpu.ThreadIdx.X) }")
	h.Shows("back.Launch(cuda.Grid(1), cuda.Block(2), nil, p, out)\nout.Float32s()", "[value []float32{1, 0}]\n")
	h.Succeed("%%cuda\n__device__ float third(float x) { return x / 3; }")
	h.Succeed("%reset")
	h.Fails("%%kernel\nfunc after(list []Point) { list[0].X = twice(1) }", "undefined: Point", "undefined: twice")
	h.Fails("%%kernel\nfunc third(x float32) float32\nfunc after(x []float32) { x[0] = third(1) }", "third")
}

// Imports, groups of types and a package clause stand in a %%kernel cell as in a file.
func TestKernelCellsAsFiles(t *testing.T) {
	h := startReal(t, nil)
	h.Succeed(`%%kernel
import "math"

type (
	Number    interface{ ~float32 | ~float64 }
	Vec[T Number] struct{ X, Y T }
	half      struct{ bits gpu.Float16 }
)

func (v Vec[T]) Len() T { return T(math.Sqrt(float64(v.X*v.X + v.Y*v.Y))) }
func lens(list []Vec[float64], out []float64) { out[gpu.ThreadIdx.X] = list[gpu.ThreadIdx.X].Len() }`)
	h.Shows("d := must(cuda.CurrentDevice())\nout := must(d.Alloc(2, cuda.Float64))\nlens.Launch(cuda.Grid(1), cuda.Block(2), nil, must(d.Upload([]Vec[float64]{{3, 4}, {6, 8}})), out)\nout.Float64s()", "[value []float64{5, 10}]\n")
	h.Fails("half{}", "undefined: half")
	h.Succeed(`%%kernel
package main

import (
	"gocuda/cudaapi/gpu"
	m "math"
)

type Vec[T Number] struct{ X, Y, Z T }

func (v Vec[T]) Sum() T { return v.X + v.Y + T(m.Abs(float64(v.Z))) }
func add(list []Vec[float64], out []float64) { out[gpu.ThreadIdx.X] = list[gpu.ThreadIdx.X].Sum() }`)
	h.Shows("add.Launch(cuda.Grid(1), cuda.Block(2), nil, must(d.Upload([]Vec[float64]{{1, 2, -3}, {2, 3, 4}})), out)\nout.Float64s()", "[value []float64{6, 9}]\n")
	h.Shows("Vec[float32]{1, 2, -3}.Sum()", "[value 6]\n")
}

func inOrder(text string, parts ...string) bool {
	for _, p := range parts {
		var ok bool
		if _, text, ok = strings.Cut(text, p); !ok {
			return false
		}
	}
	return true
}
