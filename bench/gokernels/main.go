// Gokernels measures kernels in Go beside the same in CUDA C++ and, where python3 has
// numba with CUDA, in numba on the current device: medians of events around single
// launches, in turns, and their ratio to CUDA C++. It also says what the first launch
// of a new kernel takes, and of one that was compiled before.
//
//	go run ./bench/gokernels
package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
)

//go:embed numba.py
var inNumba string

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

func scan(n int32, in, out []float32) {
	s := gpu.Shared[[2][256]float32]()
	t, now := gpu.ThreadIdx.X, 0
	i := gpu.BlockIdx.X*256 + t
	s[0][t] = in[i]
	gpu.SyncThreads()
	for d := 1; d < 256; d *= 2 {
		v := s[now][t]
		if t >= d {
			v += s[now][t-d]
		}
		now = 1 - now
		s[now][t] = v
		gpu.SyncThreads()
	}
	out[i] = s[now][t]
}

type xorwow struct{ x0, x1, x2, x3, x4, d uint32 }

func (s *xorwow) next() float32 {
	t := s.x0 ^ s.x0>>2
	s.x0, s.x1, s.x2, s.x3 = s.x1, s.x2, s.x3, s.x4
	s.x4 = s.x4 ^ s.x4<<4 ^ t ^ t<<1
	s.d += 362437
	return float32(s.x4+s.d) * 2.3283064e-10
}

func pi(n int32, seed uint32, hits []uint32) {
	i := gpu.BlockIdx.X*256 + gpu.ThreadIdx.X
	s := xorwow{seed + uint32(i), 362436069, 521288629, 88675123, 5783321, 6615241}
	count := uint32(0)
	for range n {
		if x, y := s.next(), s.next(); x*x+y*y <= 1 {
			count++
		}
	}
	hits[i] = count
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
__global__ void scan(int n, const float *in, float *out) {
    __shared__ float s[2][256];
    int t = threadIdx.x, now = 0, i = blockIdx.x * 256 + t;
    s[0][t] = in[i];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        float v = s[now][t];
        if (t >= d) v += s[now][t - d];
        now = 1 - now;
        s[now][t] = v;
        __syncthreads();
    }
    out[i] = s[now][t];
}
struct xorwow {
    unsigned x0, x1, x2, x3, x4, d;
    __device__ float next() {
        unsigned t = x0 ^ x0 >> 2;
        x0 = x1, x1 = x2, x2 = x3, x3 = x4;
        x4 = x4 ^ x4 << 4 ^ t ^ t << 1;
        d += 362437;
        return (float)(x4 + d) * 2.3283064e-10f;
    }
};
__global__ void pi(int n, unsigned seed, unsigned *hits) {
    int i = blockIdx.x * 256 + threadIdx.x;
    xorwow s = {seed + i, 362436069, 521288629, 88675123, 5783321, 6615241};
    unsigned count = 0;
    for (int k = 0; k < n; k++) {
        float x = s.next(), y = s.next();
        if (x * x + y * y <= 1) count++;
    }
    hits[i] = count;
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

// numba is a process that launches kernels of numba when asked.
type numba struct {
	ask    io.Writer
	answer *bufio.Scanner
}

// startNumba starts it; the error says why it cannot be.
func startNumba(sizes ...int) (*numba, error) {
	if out, err := exec.Command("python3", "-c", "from numba import cuda; cuda.get_current_device()").CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return nil, fmt.Errorf("%s (%w)", lines[len(lines)-1], err)
	}
	args := []string{"-c", inNumba}
	for _, n := range sizes {
		args = append(args, strconv.Itoa(n))
	}
	cmd := exec.Command("python3", args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	n := &numba{in, bufio.NewScanner(out)}
	if !n.answer.Scan() {
		return nil, fmt.Errorf("numba's process ended: %w", cmd.Wait())
	}
	return n, nil
}

// launch is the time of one launch.
func (n *numba) launch(kernel string) (time.Duration, error) {
	if _, err := fmt.Fprintln(n.ask, kernel); err != nil {
		return 0, err
	}
	if !n.answer.Scan() {
		return 0, fmt.Errorf("numba's process ended in %s", kernel)
	}
	us, err := strconv.ParseFloat(n.answer.Text(), 64)
	return time.Duration(us * 1e3), err
}

// first is how long it takes to compile a kernel and launch it.
func first(d *cuda.Device, source string) time.Duration {
	began := time.Now()
	k := must(must(cuda.CompileGo(source)).Kernel("first"))
	check(k.Launch(cuda.Grid(1), cuda.Block(1), nil, must(d.Alloc(1, cuda.Float32))))
	check(d.Synchronize())
	return time.Since(began)
}

func main() {
	d := must(cuda.CurrentDevice())
	first(d, "func first(x []float32) { x[0] = 0.25 }")
	fresh := fmt.Sprintf("func first(x []float32) { x[0] = float32(len(x) + %d) }", time.Now().UnixNano())
	anew := first(d, fresh)
	fmt.Printf("the first launch of a new kernel takes %v, of one that was compiled before %v\n", anew.Round(100*time.Microsecond), first(d, fresh).Round(100*time.Microsecond))
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
	hits := must(d.Alloc(n/64, cuda.Uint32))
	programs := []program{
		{"saxpy", cuda.GridFor(n, 256), cuda.Block(256), []any{n, 2, x, y}},
		{"dot", cuda.Grid(1024), cuda.Block(256), []any{n, x, y, z}},
		{"jacobi", cuda.Grid(side/32, side/8), cuda.Block(32, 8), []any{side, x, y}},
		{"matmul", cuda.Grid(small/16, small/16), cuda.Block(16, 16), []any{small, x, y, z}},
		{"histogram", cuda.Grid(1024), cuda.Block(256), []any{n, data, bins}},
		{"transpose", cuda.Grid(side/32, side/32), cuda.Block(32, 8), []any{side, x, y}},
		{"scan", cuda.Grid(n / 256), cuda.Block(256), []any{n, x, y}},
		{"pi", cuda.Grid(n / 64 / 256), cuda.Block(256), []any{64, 12345, hits}},
	}
	name := d.Name()
	fmt.Printf("%s; the source in Go compiled in %v\n", name, compiled.Round(time.Millisecond))
	python, err := startNumba(n, side, small)
	if err != nil {
		fmt.Println("not compared with numba:", err)
	}
	fmt.Println("kernel        CUDA C++        Go   ratio  unchecked   ratio      numba   ratio")
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
		var times [4][]time.Duration
		for i := range turns + 2 {
			for j, m := range []*cuda.Module{inCUDA, inGo, unchecked} {
				if t := once(m, p); i >= 2 {
					times[j] = append(times[j], t)
				}
			}
			if python != nil {
				if t := must(python.launch(p.name)); i >= 2 {
					times[3] = append(times[3], t)
				}
			}
		}
		var median [4]float64
		for j := range times {
			if slices.Sort(times[j]); len(times[j]) > 0 {
				median[j] = float64(times[j][len(times[j])/2]) / 1e3
			}
		}
		fmt.Printf("%-10s %8.1f µs %8.1f µs  %5.3f  %6.1f µs   %5.3f", p.name, median[0], median[1], median[1]/median[0], median[2], median[2]/median[0])
		if python != nil {
			fmt.Printf(" %8.1f µs   %5.3f", median[3], median[3]/median[0])
		}
		fmt.Println()
	}
}
