package kerneltest

import (
	"errors"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/gokernel"
)

const forCUDA = `
type pair struct{ a, b float32 }

func (p pair) sum() float32 { return p.a + p.b }

// curve is called by CUDA C++, and calls what that cannot.
func curve(x float32, by []float32) float32 { return pair{x * by[0], 2}.sum() }

func bump(n *int32) { *n += 5 }

func inside(i int, list []int) bool { return i >= 0 && i < len(list) && list[i] > 0 }

func generic[T gpu.Number](x T) T { return x }

func two() (int, int) { return 1, 2 }
`

const callsGo = `
__global__ void bent(float *x, const float *by, int n) {
	int i = threadIdx.x;
	bump(&i);
	if (i - 5 < n) x[i - 5] = curve(x[i - 5], (float *)by, 1) + i;
}
__global__ void beyond(float *x) { x[1] = curve(1, x, 0) + 7; }
__global__ void count(long long *list, int n, int *found) {
	if (inside(threadIdx.x, list, n)) atomicAdd(found, 1);
}
`

// CUDA C++ calls functions in Go.
func TestCUDACallsGo(t *testing.T) {
	d, err := cuda.CurrentDevice()
	if err != nil {
		t.Fatal(err)
	}
	m, err := cuda.Compile(callsGo, cuda.WithGo(forCUDA), cuda.SourceName("In[8]"))
	if err != nil {
		t.Fatal(err)
	}
	x := upload(t, d, []float32{1, 2, 3, 4})
	launch(t, d, m, "bent", cuda.Grid(1), cuda.Block(32), x, upload(t, d, []float32{10}), 3)
	check(t, x, func(i int) float32 { return []float32{17, 28, 39, 4}[i] })
	found := upload(t, d, []int32{0})
	launch(t, d, m, "count", cuda.Grid(1), cuda.Block(32), upload(t, d, []int64{1, 0, -1, 5, 9}), 4, found)
	check(t, found, func(int) int32 { return 2 })
	k, err := m.Kernel("beyond")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(cuda.Grid(1), cuda.Block(1), nil, x); err != nil {
		t.Fatal(err)
	}
	var p *cuda.KernelPanic
	if err := d.Synchronize(); !errors.As(err, &p) || !strings.Contains(p.Message, "index out of range [0] with length 0, in curve, called by CUDA C++, block (0,0,0), thread (0,0,0), In[8].go:7") {
		t.Errorf("a panic is told as %v", err)
	}
	check(t, x, func(i int) float32 { return []float32{17, 7, 39, 4}[i] })
	if err := k.Emulate(cuda.Grid(1), cuda.Block(1), []float32{1}); err == nil || !strings.Contains(err.Error(), "is not written in Go") {
		t.Errorf("emulated: %v", err)
	}
	var wrong gokernel.Errors
	if _, err := cuda.Compile(callsGo, cuda.WithGo("func f(m map[int]int) {}")); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "there are no maps") {
		t.Errorf("a map: %v", err)
	}
	if _, err := cuda.Compile(callsGo, cuda.WithGo("type T struct{ x int }\nfunc f(t T) {}")); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "there is no function that CUDA C++ could call") {
		t.Errorf("a structure: %v", err)
	}
	if _, err := cuda.Compile("__global__ void k(int *x) {\n\tx[0] = nothing;\n}", cuda.WithGo(forCUDA), cuda.SourceName("In[9]")); err == nil || !strings.Contains(err.Error(), "In[9](2)") {
		t.Errorf("an error in the C++ is told as %v", err)
	}
}
