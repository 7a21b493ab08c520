// Gokernels measures kernels in Go beside the same in CUDA C++ on the current
// device: medians of events around single launches, in turns, and their ratio.
//
//	go run ./bench/gokernels
package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
)

const goSource = `
func saxpy(n int32, a float32, x, y []float32) {
	i := int32(gpu.BlockIdx.X*gpu.BlockDim.X + gpu.ThreadIdx.X)
	if i < n {
		y[i] = a*x[i] + y[i]
	}
}

func dot(n int32, x, y, sums []float32) {
	tile := gpu.Shared[[256]float32]()
	t := gpu.ThreadIdx.X
	var s float32
	for i := int32(gpu.BlockIdx.X*256 + t); i < n; i += int32(gpu.GridDim.X * 256) {
		s += x[i] * y[i]
	}
	tile[t] = s
	gpu.SyncThreads()
	for k := 128; k > 0; k /= 2 {
		if t < k {
			tile[t] += tile[t+k]
		}
		gpu.SyncThreads()
	}
	if t == 0 {
		sums[gpu.BlockIdx.X] = tile[0]
	}
}

func jacobi(n int, from, to []float32) {
	i := gpu.BlockIdx.X*gpu.BlockDim.X + gpu.ThreadIdx.X
	j := gpu.BlockIdx.Y*gpu.BlockDim.Y + gpu.ThreadIdx.Y
	if i > 0 && i < n-1 && j > 0 && j < n-1 {
		to[j*n+i] = 0.25 * (from[j*n+i-1] + from[j*n+i+1] + from[(j-1)*n+i] + from[(j+1)*n+i])
	}
}

func matmul(n int, a, b, c []float32) {
	as, bs := gpu.Shared[[16][16]float32](), gpu.Shared[[16][16]float32]()
	tx, ty := gpu.ThreadIdx.X, gpu.ThreadIdx.Y
	row, col := gpu.BlockIdx.Y*16+ty, gpu.BlockIdx.X*16+tx
	var sum float32
	for t := 0; t < n/16; t++ {
		as[ty][tx] = a[row*n+t*16+tx]
		bs[ty][tx] = b[(t*16+ty)*n+col]
		gpu.SyncThreads()
		for k := range 16 {
			sum += as[ty][k] * bs[k][tx]
		}
		gpu.SyncThreads()
	}
	c[row*n+col] = sum
}

func histogram(n int32, data []uint8, bins []uint32) {
	local := gpu.Shared[[256]uint32]()
	t := gpu.ThreadIdx.X
	local[t] = 0
	gpu.SyncThreads()
	for i := int32(gpu.BlockIdx.X*256 + t); i < n; i += int32(gpu.GridDim.X * 256) {
		gpu.AtomicAdd(&local[data[i]], 1)
	}
	gpu.SyncThreads()
	gpu.AtomicAdd(&bins[t], local[t])
}

func transpose(n int, in, out []float32) {
	tile := gpu.Shared[[32][33]float32]()
	x, y := gpu.BlockIdx.X*32+gpu.ThreadIdx.X, gpu.BlockIdx.Y*32+gpu.ThreadIdx.Y
	for k := 0; k < 32; k += 8 {
		tile[gpu.ThreadIdx.Y+k][gpu.ThreadIdx.X] = in[(y+k)*n+x]
	}
	gpu.SyncThreads()
	x, y = gpu.BlockIdx.Y*32+gpu.ThreadIdx.X, gpu.BlockIdx.X*32+gpu.ThreadIdx.Y
	for k := 0; k < 32; k += 8 {
		out[(y+k)*n+x] = tile[gpu.ThreadIdx.X][gpu.ThreadIdx.Y+k]
	}
}
`

const cudaSource = `
extern "C" {
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void dot(int n, const float *x, const float *y, float *sums) {
    __shared__ float tile[256];
    int t = threadIdx.x;
    float s = 0;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) s += x[i] * y[i];
    tile[t] = s;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (t < k) tile[t] += tile[t + k];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}
__global__ void jacobi(long long n, const float *from, float *to) {
    long long i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < n - 1 && j > 0 && j < n - 1)
        to[j * n + i] = 0.25f * (from[j * n + i - 1] + from[j * n + i + 1] + from[(j - 1) * n + i] + from[(j + 1) * n + i]);
}
__global__ void matmul(long long n, const float *a, const float *b, float *c) {
    __shared__ float as[16][16], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    long long row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int t = 0; t < n / 16; t++) {
        as[ty][tx] = a[row * n + t * 16 + tx];
        bs[ty][tx] = b[(t * 16 + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
__global__ void histogram(int n, const unsigned char *data, unsigned *bins) {
    __shared__ unsigned local[256];
    int t = threadIdx.x;
    local[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[t], local[t]);
}
__global__ void transpose(long long n, const float *in, float *out) {
    __shared__ float tile[32][33];
    long long x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}
}`

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// program is a kernel with its launch.
type program struct {
	name  string
	grid  cuda.GridDim
	block cuda.BlockDim
	args  []any
}

func main() {
	d := must(cuda.CurrentDevice())
	began := time.Now()
	inGo := must(cuda.CompileGo(goSource))
	compiled := time.Since(began)
	unchecked := must(cuda.CompileGo(goSource, cuda.Unchecked()))
	inCUDA := must(cuda.Compile(cudaSource))
	simulated := os.Getenv("GOCUDA_BACKEND") == "sim"
	n, side := 1<<26, 8192
	if simulated { // where it is of use to see that it runs
		n, side = 1<<16, 256
	}
	small := min(side, 4096)
	x, y, z := must(d.Alloc(n, cuda.Float32)), must(d.Alloc(n, cuda.Float32)), must(d.Alloc(n, cuda.Float32))
	for _, b := range []*cuda.Buffer{x, y, z} {
		check(b.Memset(0))
	}
	data, bins := must(d.Alloc(n, cuda.Uint8)), must(d.Alloc(256, cuda.Uint32))
	bytes := make([]uint8, n)
	for i := range bytes {
		bytes[i] = uint8(i * 7919 >> 5)
	}
	check(data.Upload(bytes))
	programs := []program{
		{"saxpy", cuda.GridFor(n, 256), cuda.Block(256), []any{n, 2, x, y}},
		{"dot", cuda.Grid(1024), cuda.Block(256), []any{n, x, y, z}},
		{"jacobi", cuda.Grid(side/32, side/8), cuda.Block(32, 8), []any{side, x, y}},
		{"matmul", cuda.Grid(small/16, small/16), cuda.Block(16, 16), []any{small, x, y, z}},
		{"histogram", cuda.Grid(1024), cuda.Block(256), []any{n, data, bins}},
		{"transpose", cuda.Grid(side/32, side/32), cuda.Block(32, 8), []any{side, x, y}},
	}
	name := d.Name()
	fmt.Printf("%s; the source in Go compiled in %v\n", name, compiled.Round(time.Millisecond))
	fmt.Println("kernel        CUDA C++        Go   ratio  unchecked   ratio")
	start, end := must(d.NewEvent()), must(d.NewEvent())
	s := must(d.NewStream())
	once := func(m *cuda.Module, p program) time.Duration {
		k := must(m.Kernel(p.name))
		check(start.Record(s))
		check(k.Launch(p.grid, p.block, s, p.args...))
		check(end.Record(s))
		check(end.Synchronize())
		return must(end.Since(start))
	}
	turns := 31
	if simulated {
		turns = 1
	}
	for _, p := range programs {
		var times [3][]time.Duration
		for i := range turns + 2 {
			for j, m := range []*cuda.Module{inCUDA, inGo, unchecked} {
				if t := once(m, p); i >= 2 {
					times[j] = append(times[j], t)
				}
			}
		}
		var median [3]float64
		for j := range times {
			slices.Sort(times[j])
			median[j] = float64(times[j][len(times[j])/2]) / 1e3
		}
		fmt.Printf("%-10s %8.1f µs %8.1f µs  %5.3f  %6.1f µs   %5.3f\n", p.name, median[0], median[1], median[1]/median[0], median[2], median[2]/median[0])
	}
}
