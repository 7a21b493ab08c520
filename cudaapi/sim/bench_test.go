package sim_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/gokernel"
	"gocuda/cudaapi/sim"
)

// The kernels of BenchmarkKernels and the same loops in plain C++.
const benchKernels = `
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void sum(int n, float a, const float *x, float *y) {
    __shared__ float s[256];
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = s[0];
}
extern "C" __global__ void jacobi(int n, float a, const float *x, float *y) {
    const int w = 1024;
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = c / w;
    c %= w;
    if (r > 0 && r < n / w - 1 && c > 0 && c < w - 1) y[r * w + c] = a * (x[r * w + c - 1] + x[r * w + c + 1] + x[(r - 1) * w + c] + x[(r + 1) * w + c]);
}`

// The same kernels in Go, for lengths that are those of the slices.
const benchGo = `
func saxpy(a float32, x, y []float32) {
	if i := gpu.GridRank(); i < len(y) {
		y[i] = a*x[i] + y[i]
	}
}
func sum(a float32, x, y []float32) {
	s := gpu.Shared[[256]float32]()
	t := gpu.ThreadIdx.X
	var v float32
	for i := gpu.GridRank(); i < len(x); i += gpu.GridSize() {
		v += x[i]
	}
	s[t] = v
	gpu.SyncThreads()
	for d := 128; d > 0; d /= 2 {
		if t < d {
			s[t] += s[t+d]
		}
		gpu.SyncThreads()
	}
	if t == 0 {
		y[gpu.BlockIdx.X] = s[0]
	}
}
func jacobi(a float32, x, y []float32) {
	const w = 1024
	i := gpu.GridRank()
	r, c := i/w, i%w
	if r > 0 && r < len(x)/w-1 && c > 0 && c < w-1 {
		y[r*w+c] = a * (x[r*w+c-1] + x[r*w+c+1] + x[(r-1)*w+c] + x[(r+1)*w+c])
	}
}`

const benchLoops = `
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>
static __attribute__((noinline)) void saxpy(int n, float a, const float *x, float *y) {
    for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
static __attribute__((noinline)) void sum(int n, float a, const float *x, float *y) {
    float v = 0;
    for (int i = 0; i < n; i++) v += x[i];
    *y = v;
}
static __attribute__((noinline)) void jacobi(int n, float a, const float *x, float *y) {
    const int w = 1024;
    for (int r = 1; r < n / w - 1; r++)
        for (int c = 1; c < w - 1; c++) y[r * w + c] = a * (x[r * w + c - 1] + x[r * w + c + 1] + x[(r - 1) * w + c] + x[(r + 1) * w + c]);
}
// Each line asks for a loop by its number; the answer is its time in ns.
int main(int, char **argv) {
    int n = atoi(argv[1]);
    std::vector<float> x(n, 1), y(n, 1);
    void (*loops[])(int, float, const float *, float *) = {saxpy, sum, jacobi};
    for (int i; scanf("%d", &i) == 1; fflush(stdout)) {
        auto t = std::chrono::steady_clock::now();
        loops[i](n, 0.25f, x.data(), y.data());
        printf("%.0f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count() * 1e9);
    }
}`

// The same kernels under Numba's simulator, which has the same protocol.
const benchNumba = `
import os, sys, time
os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
import numpy as np
from numba import cuda, float32

@cuda.jit
def saxpy(n, a, x, y):
    i = cuda.grid(1)
    if i < n:
        y[i] = a * x[i] + y[i]

@cuda.jit
def total(n, a, x, y):
    s = cuda.shared.array(256, float32)
    t, v = cuda.threadIdx.x, 0.0
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        v += x[i]
    s[t] = v
    cuda.syncthreads()
    d = 128
    while d:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d //= 2
    if t == 0:
        y[cuda.blockIdx.x] = s[0]

@cuda.jit
def jacobi(n, a, x, y):
    w = 1024
    i = cuda.grid(1)
    r, c = i // w, i % w
    if r > 0 and r < n // w - 1 and c > 0 and c < w - 1:
        y[r * w + c] = a * (x[r * w + c - 1] + x[r * w + c + 1] + x[(r - 1) * w + c] + x[(r + 1) * w + c])

n = int(sys.argv[1])
x, y = cuda.to_device(np.ones(n, np.float32)), cuda.to_device(np.ones(n, np.float32))
print(0, flush=True)
for line in sys.stdin:
    t = time.perf_counter()
    [saxpy, total, jacobi][int(line)][n // 256, 256](n, np.float32(0.25), x, y)
    print(int((time.perf_counter() - t) * 1e9), flush=True)
`

// BenchmarkKernels times simulated kernels, in CUDA C++ and in Go, on one core in turns with the same
// loops in C++ at -O2, and with Numba's simulator where GOCUDA_BENCH_NUMBA is a
// Python that has Numba. xC++ is how many times slower than C++ they are, xNumba
// how many times faster than Numba's, for a smaller size: medians.
func BenchmarkKernels(b *testing.B) {
	const n, few = 1 << 22, 1 << 12
	plain := plainLoops(b, n)
	var numba *loops
	if python := os.Getenv("GOCUDA_BENCH_NUMBA"); python != "" {
		numba = startLoops(b, python, "-c", benchNumba, strconv.Itoa(few))
		numba.line(b)
	} else {
		b.Log("not compared with Numba's simulator: GOCUDA_BENCH_NUMBA names no Python")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for i, name := range []string{"saxpy", "sum", "jacobi"} {
		var slow []float64
		for range 3 {
			if numba != nil {
				slow = append(slow, numba.run(b, i))
			}
		}
		for _, variant := range []string{"cuda/check", "cuda/nocheck", "go/check", "go/nocheck", "go/unchecked"} {
			b.Run(name+"/"+variant, func(b *testing.B) {
				inGo := strings.HasPrefix(variant, "go")
				x := newBox(b, sim.Options{Devices: 1, NoCheck: !strings.HasSuffix(variant, "/check")})
				dx, dy := upload(x, make([]float32, n)), upload(x, make([]float32, n))
				source, symbol := &driver.Source{Name: "bench.cu", Code: benchKernels}, name
				if inGo {
					prog, err := gokernel.Compile(benchGo, gokernel.Options{Unchecked: variant == "go/unchecked"})
					x.ok(err)
					source, symbol = &driver.Source{Name: "bench.cu", Code: prog.Code, OnHost: prog.OnHost}, "go_"+name
				}
				out, err := x.d.Compile(0, source)
				x.ok(err)
				m, err := x.d.ModuleLoad(x.c, out.Image)
				x.ok(err)
				k, err := x.d.ModuleFunction(x.c, m, symbol)
				x.ok(err)
				run := func(n int, grid driver.Dim3) float64 {
					begin := time.Now()
					if inGo {
						x.ok(x.launch(k, grid, dim(256), 0, float32(0.25), slice{dx, uint64(n)}, slice{dy, uint64(n)}))
						x.ok(x.sync())
						return float64(time.Since(begin))
					}
					x.ok(x.launch(k, grid, dim(256), 0, n, float32(0.25), dx, dy))
					x.ok(x.sync())
					return float64(time.Since(begin))
				}
				grid := dim(n / 256)
				if name == "sum" {
					grid = dim(1024)
				}
				run(n, grid)
				var slower, each, faster []float64
				for b.Loop() {
					c := plain.run(b, i)
					t := run(n, grid)
					slower, each = append(slower, t/c), append(each, t/n)
					faster = append(faster, run(few, dim(few/256)))
				}
				b.ReportMetric(median(slower), "xC++")
				b.ReportMetric(median(each), "ns/element")
				if numba != nil {
					b.ReportMetric(median(slow)/median(faster), "xNumba")
				}
			})
		}
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// loops is a process that runs loops when asked, and times them.
type loops struct {
	ask    io.Writer
	answer *bufio.Scanner
}

func startLoops(b *testing.B, name string, args ...string) *loops {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(name, err)
		}
	})
	return &loops{in, bufio.NewScanner(out)}
}

func (l *loops) line(b *testing.B) float64 {
	b.Helper()
	if !l.answer.Scan() {
		b.Fatal("the process of the loops ended: ", l.answer.Err())
	}
	ns, err := strconv.ParseFloat(l.answer.Text(), 64)
	if err != nil {
		b.Fatal(err)
	}
	return ns
}

// run is the time of loop i in ns.
func (l *loops) run(b *testing.B, i int) float64 {
	b.Helper()
	if _, err := fmt.Fprintln(l.ask, i); err != nil {
		b.Fatal(err)
	}
	return l.line(b)
}

// plainLoops compiles and starts the loops in C++.
func plainLoops(b *testing.B, n int) *loops {
	cc, err := sim.Compiler()
	if err != nil {
		b.Skip(err)
	}
	exe := filepath.Join(b.TempDir(), "loops")
	if err := os.WriteFile(exe+".cpp", []byte(benchLoops), 0o644); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command(cc, "-O2", "-std=c++17", exe+".cpp", "-o", exe).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return startLoops(b, exe, strconv.Itoa(n))
}
