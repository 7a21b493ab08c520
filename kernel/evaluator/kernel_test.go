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
	h.Succeed("%%kernel --show\nfunc last(x []float32) { x[len(x)-1] = 1 }")
	if text := h.Shown(); !strings.Contains(text, "void go_last(") || !strings.Contains(text, "PTX") || !strings.Contains(text, "// last: ") || !strings.Contains(text, "occupancy") {
		t.Errorf("--show shows %s", text)
	}
	h.Succeed("%%cuda\n#define WIDE 2\n__device__ float curve(float x, const float *by) { return x * by[0] + WIDE; }\n__device__ inline void bump(long long *n) { *n += 5; }\n__global__ void unused(float *x) { x[0] = curve(1, x); }")
	h.Succeed("%%kernel\nfunc curve(x float32, by []float32) float32\nfunc bump(n *int)\nfunc bent(x, by []float32) {\n\ti := gpu.ThreadIdx.X\n\tn := i\n\tbump(&n)\n\tx[i] = curve(x[i], by) + float32(n)\n}")
	h.Shows("b := must(d.Upload([]float32{10}))\nx.Upload([]float32{1, 2, 3, 4})\nbent.Launch(cuda.Grid(1), cuda.Block(4), nil, x, b)\nx.Float32s()", "[value []float32{17, 28, 39, 50}]\n")
	h.Fails("bent.Emulate(cuda.Grid(1), cuda.Block(1), []float32{1}, []float32{1})", "bump is CUDA C++, which cannot be emulated")
	h.Succeed("%%cuda\n__device__ int own(int x) { return 3 * x; }\n__global__ void back(float *x, int n) {\n\tint i = threadIdx.x;\n\tif (i < n) x[i] = half(x[i]) + own(i);\n}")
	h.Shows("x.Upload([]float32{1, 2, 3, 4})\nback.Launch(cuda.Grid(1), cuda.Block(4), nil, x, 4)\nx.Float32s()", "[value []float32{0.5, 4, 7.5, 11}]\n")
	h.Fails("%%kernel\nfunc none(x float32) float32\nfunc calls(x []float32) { x[0] = none(1) }", "none")
	h.Fails("%%kernel\nfunc none(x struct{ a int }) float32\nfunc calls(x []float32) { x[0] = none(struct{ a int }{1}) }", ":2:1: ", "takes numbers, bools, pointers to them, and slices as pointers")
}
