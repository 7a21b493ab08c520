package sim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/driver"
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
int main(int, char **argv) {
    int n = atoi(argv[1]);
    std::vector<float> x(n, 1), y(n, 1);
    for (auto f : {saxpy, sum, jacobi}) {
        double best = 1e9;
        for (int k = 0; k < 30; k++) {
            auto t = std::chrono::steady_clock::now();
            f(n, 0.25f, x.data(), y.data());
            double d = std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
            best = d < best ? d : best;
        }
        printf("%.0f\n", best * 1e9);
    }
}`

// BenchmarkKernels times simulated kernels on one core beside the same loops in
// C++ at -O2; ratio is how many times slower they are.
func BenchmarkKernels(b *testing.B) {
	const n = 1 << 22
	plain := plainLoops(b, n)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for i, name := range []string{"saxpy", "sum", "jacobi"} {
		for _, check := range []bool{true, false} {
			b.Run(name+"/check="+strconv.FormatBool(check), func(b *testing.B) {
				x := newBox(b, sim.Options{Devices: 1, NoCheck: !check})
				dx, dy := upload(x, make([]float32, n)), upload(x, make([]float32, n))
				out, err := x.d.Compile(0, &driver.Source{Name: "bench.cu", Code: benchKernels})
				x.ok(err)
				m, err := x.d.ModuleLoad(x.c, out.Image)
				x.ok(err)
				k, err := x.d.ModuleFunction(x.c, m, name)
				x.ok(err)
				grid := dim(n / 256)
				if name == "sum" {
					grid = dim(1024)
				}
				best := time.Hour
				for b.Loop() {
					begin := time.Now()
					x.ok(x.launch(k, grid, dim(256), 0, n, float32(0.25), dx, dy))
					x.ok(x.sync())
					best = min(best, time.Since(begin))
				}
				b.ReportMetric(float64(best)/float64(plain[i]), "ratio")
				b.ReportMetric(float64(best)/n, "ns/element")
			})
		}
	}
}

// plainLoops are the best times of the C++ loops.
func plainLoops(b *testing.B, n int) (times []time.Duration) {
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
	out, err := exec.Command(exe, strconv.Itoa(n)).Output()
	if err != nil {
		b.Fatal(err)
	}
	for _, l := range strings.Fields(string(out)) {
		ns, err := strconv.Atoi(l)
		if err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Duration(ns))
	}
	return times
}
