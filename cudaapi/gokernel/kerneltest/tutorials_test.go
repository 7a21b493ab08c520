package kerneltest

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/kernel/notebook"
	"gocuda/notebooks"
)

const tutorialPlace = "\nfunc place() int32 { return int32(gpu.BlockIdx.X*gpu.BlockDim.X + gpu.ThreadIdx.X) }\nfunc stride() int32 { return int32(gpu.GridDim.X * gpu.BlockDim.X) }\n"

const spinInGo = `
func spin(cycles int64) {
	for start := gpu.Clock64(); gpu.Clock64()-start < cycles; {
	}
}
`

const countInGo = `
func throwOne(seed uint64, i int32, x, y *float32)

func hit(seed uint64, i int32) bool {
	var x, y float32
	throwOne(seed, i, &x, &y)
	return x*x+y*y <= 1
}

func count(seed uint64, n int32, counts []int32) {
	i := place()
	if i >= n {
		return
	}
	if hit(seed, i) {
		gpu.AtomicAdd(&counts[0], 1)
	}
	gpu.AtomicAdd(&counts[1], 1)
}
`

// throwInCUDA is what Go calls for random numbers: cuRAND's, which Go has not.
const throwInCUDA = `
#include <curand_kernel.h>
__device__ void throwOne(unsigned long long seed, int i, float *x, float *y) {
	curandState state;
	curand_init(seed, i, 0, &state);
	*x = curand_uniform(&state);
	*y = curand_uniform(&state);
}
`

const differInGo = `
func differ(a, b []float64, n int64, result []uint64) {
	var worst, seen uint64
	for i := int64(place()); i < int64(n); i += int64(stride()) {
		worst = max(worst, math.Float64bits(math.Abs(a[i]-b[i])))
		seen++
	}
	gpu.AtomicMax(&result[0], worst)
	gpu.AtomicAdd(&result[1], seen)
}
`

// tutorialKernels are the tutorials' kernels in Go, with launches whose results must be
// those of the CUDA C++ in the notebook.
var tutorialKernels = []struct {
	notebook  string
	has       string // a kernel of the cell
	inGo      string
	more      string   // CUDA C++ that the Go calls
	instances []string // of both: CUDA C++, Go
	launches  []tutorialLaunch
}{
	{"17_missing_waits", "addOne", `
func addOne(p []int32, n int32) {
	if i := place(); i < n {
		p[i] += 1
	}
}
func add(to, from []int32, n int32) {
	if i := place(); i < n {
		to[i] += from[i]
	}
}
`, "", nil, []tutorialLaunch{{"addOne", "addOne", 4, []any{upTo[int32](100), 90}}, {"add", "add", 4, []any{upTo[int32](100), upTo[int32](100), 90}}}},
	{"00_first_kernel", "addOneInC", `
func addOneInC(x []float32, n int32) {
	if i := place(); i < n {
		x[i] = x[i] + 1
	}
}
func axpy(y, x []float32, a float32, n int32) {
	if i := place(); i < n {
		y[i] = a*x[i] + y[i]
	}
}
`, "", nil, []tutorialLaunch{{"addOneInC", "addOneInC", 4, []any{upTo[float32](100), 90}}, {"axpy", "axpy", 4, []any{upTo[float32](100), upTo[float32](100), float32(1.25), 90}}}},
	{"01_streams", "addOne", `
func addOne(p []int32, n int32) {
	if i := place(); i < n {
		p[i]++
	}
}
func scale(p []int32, n, factor int32) {
	if i := place(); i < n {
		p[i] *= factor
	}
}
func addOnes(p []uint32, n int32) {
	for i := place(); i < n; i += stride() {
		p[i] += 0x01010101
	}
}
func empty() {}
`, "", nil, []tutorialLaunch{{"addOne", "addOne", 4, []any{upTo[int32](100), 90}}, {"scale", "scale", 4, []any{upTo[int32](100), 90, -3}}, {"addOnes", "addOnes", 1, []any{upTo[uint32](100), 99}}, {"empty", "empty", 1, nil}}},
	{"02_several_gpus", "unguarded", countInGo + `
func unguarded(seed uint64, n int32, counts []int32) {
	if hit(seed, place()) {
		gpu.AtomicAdd(&counts[0], 1)
	}
	gpu.AtomicAdd(&counts[1], 1)
}
`, throwInCUDA, nil, []tutorialLaunch{{"count", "count", 4, []any{7, 120, make([]int32, 2)}}, {"unguarded", "unguarded", 4, []any{7, 120, make([]int32, 2)}}}},
	{"02_several_gpus", "points", countInGo + `
func points(seed uint64, n int32, x, y []float32) {
	if i := place(); i < n {
		throwOne(seed, i, &x[i], &y[i])
	}
}
`, throwInCUDA, nil, []tutorialLaunch{{"points", "points", 4, []any{7, 120, make([]float32, 128), make([]float32, 128)}}}},
	{"02_several_gpus", "countFrom", countInGo + `
func countFrom(first, n int32, counts []int32) {
	i := place()
	if i >= n {
		return
	}
	if hit(0, first+i) {
		gpu.AtomicAdd(&counts[0], 1)
	}
	gpu.AtomicAdd(&counts[1], 1)
}
`, throwInCUDA, nil, []tutorialLaunch{{"countFrom", "countFrom", 4, []any{50, 120, make([]int32, 2)}}}},
	{"03_peer_access", "perThread", countInGo + `
func perThread(seed uint64, n int32, counter []int32) {
	if i := place(); i < n && hit(seed, i) {
		gpu.AtomicAdd(&counter[0], 1, gpu.SystemScope)
	}
}
func perBlock(seed uint64, n int32, counter []int32) {
	i := place()
	hits := gpu.SyncThreadsCount(i < n && hit(seed, i))
	if gpu.ThreadIdx.X == 0 {
		gpu.AtomicAdd(&counter[0], int32(hits), gpu.SystemScope)
	}
}
`, throwInCUDA, nil, []tutorialLaunch{{"perThread", "perThread", 4, []any{3, 120, make([]int32, 1)}}, {"perBlock", "perBlock", 4, []any{3, 120, make([]int32, 1)}}}},
	{"03_peer_access", "perWarp", countInGo + `
func perWarp(seed uint64, n int32, counter, additions []int32) {
	i := place()
	hits := bits.OnesCount32(gpu.Ballot(gpu.FullMask, i < n && hit(seed, i)))
	if gpu.ThreadIdx.X%32 == 0 {
		gpu.AtomicAdd(&counter[0], int32(hits), gpu.SystemScope)
		gpu.AtomicAdd(&additions[0], 1, gpu.SystemScope)
	}
}
`, throwInCUDA, nil, []tutorialLaunch{{"perWarp", "perWarp", 4, []any{3, 120, make([]int32, 1), make([]int32, 1)}}}},
	{"04_inter_gpu_synchronization", "pattern", `
func pattern(p []uint32, words uint32) {
	if i := uint32(place()); i < words {
		p[i] = (i ^ 0x9e3779b9) * 2654435761
	}
}
`, "", nil, []tutorialLaunch{{"pattern", "pattern", 4, []any{make([]uint32, 120), 110}}}},
	{"05_mpi", "count", countInGo, throwInCUDA, nil, []tutorialLaunch{{"count", "count", 4, []any{9, 100, make([]int32, 2)}}}},
	{"06_cuda_aware_mpi", "ramp", countInGo + `
func ramp(p []int32, n, first int32) {
	for i := place(); i < n; i += stride() {
		p[i] = first + i
	}
}
`, throwInCUDA, nil, []tutorialLaunch{{"count", "count", 4, []any{9, 100, make([]int32, 2)}}, {"ramp", "ramp", 2, []any{make([]int32, 300), 299, 12}}}},
	{"06_cuda_aware_mpi", "spin", spinInGo, "", nil, []tutorialLaunch{{"spin", "spin", 1, []any{1000}}}},
	{"07_stream_aware_collectives", "differ", spinInGo + `
func differ(p []int32, n, first, step int32, found []int32) {
	for i := place(); i < n; i += stride() {
		if p[i] != first+i*step {
			gpu.AtomicAdd(&found[0], 1)
		}
		gpu.AtomicAdd(&found[1], 1)
	}
}
`, "", nil, []tutorialLaunch{{"differ", "differ", 2, []any{upTo[int32](200), 190, 0, 1, make([]int32, 2)}}, {"differ", "differ", 2, []any{upTo[int32](200), 190, 5, 2, make([]int32, 2)}}, {"spin", "spin", 1, []any{1000}}}},
	{"07_stream_aware_collectives", "scale", `
func scale(p []float32, n int32, factor float32) {
	if i := place(); i < n {
		p[i] *= factor
	}
}
`, "", nil, []tutorialLaunch{{"scale", "scale", 4, []any{upTo[float32](100), 90, float32(1.5)}}}},
	{"08_signal_and_wait", "generate", `
func generate(x, y []float32, n, columns, message int32) {
	for i := place(); i < n; i += stride() {
		j := i % columns
		x[i] = float32(j%100 + 1 + message)
		y[i] = 2
		if j%2 != 0 {
			y[i] = 1
		}
	}
}
func dots(x, y, out []float32, columns int32) {
	part := gpu.Shared[[128]float32]()
	t := gpu.ThreadIdx.X
	var sum float32
	for j := t; j < int(columns); j += gpu.BlockDim.X {
		i := gpu.BlockIdx.X*int(columns) + j
		sum += x[i] * y[i]
	}
	part[t] = sum
	for half := gpu.BlockDim.X / 2; half > 0; half /= 2 {
		gpu.SyncThreads()
		if t < half {
			part[t] += part[t+half]
		}
	}
	if t == 0 {
		out[gpu.BlockIdx.X] = part[0]
	}
}
`, "", nil, []tutorialLaunch{{"generate", "generate", 2, []any{make([]float32, 300), make([]float32, 300), 299, 70, 33}}, {"dots", "dots", 4, []any{upTo[float32](300), upTo[float32](300), make([]float32, 4), 70}}}},
	{"08_signal_and_wait", "spin", spinInGo, "", nil, []tutorialLaunch{{"spin", "spin", 1, []any{1000}}}},
	{"09_jacobi", "product", spinInGo + differInGo + `
func product(u, f []float64, width, rows, first, period int32) {
	x, y := place(), int32(gpu.BlockIdx.Y)
	if x >= width || y > rows+1 {
		return
	}
	wave := math.Sin(2 * math.Pi * float64(first-1+y) / float64(period))
	u[y*width+x] = 0
	if f[x] != 0 {
		u[y*width+x] = f[x] * wave
	}
}
func step(next, now []float64, width, from, to int32) {
	x, y := 1+place(), from+int32(gpu.BlockIdx.Y)
	if x >= width-1 || y >= to {
		return
	}
	i, w := int(y*width+x), int(width)
	next[i] = 0.25 * (now[i-1] + now[i+1] + now[i-w] + now[i+w])
}
func change(a, b []float64, n int64, sum []float64) {
	s := 0.0
	for i := int64(place()); i < n; i += int64(stride()) {
		s += (a[i] - b[i]) * (a[i] - b[i])
	}
	gpu.AtomicAdd(&sum[0], s)
}
`, "", nil, []tutorialLaunch{{"product", "product", 2, []any{make([]float64, 60), upTo[float64](60), 60, 0, 3, 17}}, {"step", "step", 2, []any{make([]float64, 180), upTo[float64](180), 60, 1, 2}},
		{"change", "change", 2, []any{upTo[float64](300), make([]float64, 300), 300, make([]float64, 1)}}, {"differ", "differ", 2, []any{upTo[float64](300), make([]float64, 300), 299, make([]uint64, 2)}}, {"spin", "spin", 1, []any{1000}}}},
	{"09_jacobi", "mean", `
func mean(next, now []float64, width, from, to int32) {
	x, y := 1+place(), from+int32(gpu.BlockIdx.Y)
	if x >= width-1 || y >= to {
		return
	}
	i, w := int(y*width+x), int(width)
	next[i] = 0.25 * (now[i-1] + now[i+1] + now[i-w] + now[i+w])
}
`, "", nil, []tutorialLaunch{{"mean", "mean", 2, []any{make([]float64, 180), upTo[float64](180), 60, 1, 2}}}},
	{"09_jacobi", "pack", `
func pack(line, u []float64, width, rows, x int32) {
	if y := place(); y < rows {
		line[y] = u[y*width+x]
	}
}
func unpack(u, line []float64, width, rows, x int32) {
	if y := place(); y < rows {
		u[y*width+x] = line[y]
	}
}
`, "", nil, []tutorialLaunch{{"pack", "pack", 1, []any{make([]float64, 20), upTo[float64](200), 10, 19, 3}}, {"unpack", "unpack", 1, []any{make([]float64, 200), upTo[float64](20), 10, 19, 3}}}},
	{"10_wave_equation", "closedStep", `
func closedStep(older, now []float64, c2 float64, n int32) {
	i := place()
	if i >= n {
		return
	}
	left, right := i-1, i+1
	if i == 0 {
		left = n - 1
	}
	if right == n {
		right = 0
	}
	older[i] = 2*now[i] - older[i] + c2*(now[right]-2*now[i]+now[left])
}
`, "", nil, []tutorialLaunch{{"closedStep", "closedStep", 2, []any{make([]float64, 50), upTo[float64](50), 0.25, 50}}}},
	{"10_wave_equation", "deviation", spinInGo + strings.Replace(differInGo, "n int64", "n int32", 1) + `
func step[T gpu.Float](older, now []T, c2 T, from, to int32) {
	if i := from + place(); i < to {
		older[i] = 2*now[i] - older[i] + c2*(now[i+1]-2*now[i]+now[i-1])
	}
}
func nothing[T gpu.Float](older, now []T, c2 T, from, to int32) {
	if i := from + place(); i < to {
		older[i] = now[i]
	}
}
func sine[T gpu.Float](u []T, first, n, intervals int32, height float64) {
	i := place()
	k := first + i
	if i < n {
		u[i] = 0
		if k%intervals != 0 {
			u[i] = T(height * math.Sin(2*math.Pi*float64(k)/float64(intervals)))
		}
	}
}
func deviation(u, before, start []float32, n int32, sum []float64, moved []uint32) {
	s, m := 0.0, uint32(0)
	for i := place(); i < n; i += stride() {
		d := float64(u[i]) - float64(start[i])
		s += d * d
		if u[i] != before[i] {
			m++
		}
	}
	gpu.AtomicAdd(&sum[0], s)
	gpu.AtomicAdd(&moved[0], m)
}
`, "", []string{"step<float> step[float32]", "step<double> step[float64]", "nothing<float> nothing[float32]", "nothing<double> nothing[float64]", "sine<float> sine[float32]", "sine<double> sine[float64]"}, []tutorialLaunch{
		{"step<float>", "step[float32]", 2, []any{upTo[float32](60), upTo[float32](60), 0.25, 1, 59}}, {"step<double>", "step[float64]", 2, []any{upTo[float64](60), upTo[float64](60), 0.25, 1, 59}},
		{"nothing<float>", "nothing[float32]", 2, []any{make([]float32, 60), upTo[float32](60), 0.25, 1, 59}}, {"nothing<double>", "nothing[float64]", 2, []any{make([]float64, 60), upTo[float64](60), 0.25, 1, 59}},
		{"sine<float>", "sine[float32]", 2, []any{make([]float32, 60), 3, 59, 40, 0.5}}, {"sine<double>", "sine[float64]", 2, []any{make([]float64, 60), 3, 59, 40, 0.5}},
		{"deviation", "deviation", 2, []any{upTo[float32](300), make([]float32, 300), upTo[float32](300), 299, make([]float64, 1), make([]uint32, 1)}},
		{"differ", "differ", 2, []any{upTo[float64](300), make([]float64, 300), 299, make([]uint64, 2)}}, {"spin", "spin", 1, []any{1000}}}},
	{"13_scaling", "step", `
func step(next, now []float32, width, rows int32) {
	x, y := 1+place(), 1+int32(gpu.BlockIdx.Y)
	if x >= width-1 || y > rows {
		return
	}
	i := y*width + x
	next[i] = 0.25 * (now[i-1] + now[i+1] + now[i-width] + now[i+width])
}
`, "", nil, []tutorialLaunch{{"step", "step", 2, []any{make([]float32, 180), upTo[float32](180), 60, 1}}}},
}

// tutorialLaunch launches blocks of 32 threads; slices are buffers.
type tutorialLaunch struct {
	inCUDA, inGo string
	blocks       int
	args         []any
}

func upTo[T int32 | uint32 | float32 | float64](n int) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = T(i)
	}
	return list
}

// cudaOf is the CUDA C++ of a notebook that defines these kernels, with its exercises
// solved: of each the first definition, cells and texts in variables put together.
func cudaOf(t *testing.T, name string, launches []tutorialLaunch) string {
	t.Helper()
	data, err := notebooks.FS.ReadFile(name + ".ipynb")
	if err != nil {
		t.Fatal(err)
	}
	nb, err := notebook.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	exercises, err := nb.Exercises()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range exercises {
		e.Fill(e.Solution)
	}
	blocks := regexp.MustCompile("(?s)\\w := `(.*?)`|%%cuda\n(.*)$")
	var texts []string
	for _, l := range launches {
		kernel, _, _ := strings.Cut(l.inCUDA, "<")
		defines := regexp.MustCompile(`__global__ void ` + kernel + `\(`)
		found := ""
		for _, c := range nb.Cells {
			if m := blocks.FindStringSubmatch(c.Source); c.Kind == notebook.Code && m != nil && found == "" && defines.MatchString(c.Source) {
				found = m[1] + m[2]
			}
		}
		if found == "" {
			t.Fatalf("%s has no kernel %s", name, kernel)
		}
		if !slices.Contains(texts, found) {
			texts = append(texts, found)
		}
	}
	return strings.Join(texts, "\n")
}

// The tutorials' kernels in Go do what they do in CUDA C++, and none is left out.
func TestTutorialKernels(t *testing.T) {
	d, err := cuda.CurrentDevice()
	if err != nil {
		t.Fatal(err)
	}
	kernels := regexp.MustCompile(`__global__ void (\w+)\(`)
	have := make(map[string]map[string]bool) // kernels in Go, by notebook
	for _, c := range tutorialKernels {
		if have[c.notebook] == nil {
			have[c.notebook] = make(map[string]bool)
		}
		for _, l := range c.launches {
			name, _, _ := strings.Cut(l.inCUDA, "<")
			have[c.notebook][name] = true
		}
		t.Run(c.notebook+"/"+c.has, func(t *testing.T) {
			options := []cuda.CompileOption{cuda.Flag("--fmad=false")}
			inGo := append([]cuda.CompileOption{cuda.WithCUDA(c.more)}, options...)
			inCUDA := options
			for _, both := range c.instances {
				a, b, _ := strings.Cut(both, " ")
				inCUDA, inGo = append(inCUDA, cuda.Instantiate(a)), append(inGo, cuda.Instantiate(b))
			}
			theirs, err := cuda.Compile(cudaOf(t, c.notebook, c.launches), inCUDA...)
			if err != nil {
				t.Fatal(err)
			}
			ours, err := cuda.CompileGo(tutorialPlace+c.inGo, inGo...)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range c.launches {
				run := func(m *cuda.Module, name string) (results [][]byte) {
					k, err := m.Kernel(name)
					if err != nil {
						t.Fatal(err)
					}
					var args []any
					var buffers []*cuda.Buffer
					for _, a := range l.args {
						if reflect.TypeOf(a).Kind() == reflect.Slice {
							b, err := d.Upload(a)
							if err != nil {
								t.Fatal(err)
							}
							buffers = append(buffers, b)
							a = b
						}
						args = append(args, a)
					}
					if err := k.Launch(cuda.Grid(l.blocks), cuda.Block(32), nil, args...); err != nil {
						t.Fatal(err)
					}
					if err := d.Synchronize(); err != nil {
						t.Fatal(err)
					}
					for _, b := range buffers {
						raw, err := b.As(cuda.Uint8)
						if err != nil {
							t.Fatal(err)
						}
						data := make([]byte, raw.Len())
						if err := raw.Download(data); err != nil {
							t.Fatal(err)
						}
						results = append(results, data)
					}
					return results
				}
				want, got := run(theirs, l.inCUDA), run(ours, l.inGo)
				for i := range want {
					if !bytes.Equal(got[i], want[i]) {
						t.Errorf("%s: buffer %d is %x in Go, %x in CUDA C++", l.inCUDA, i, got[i], want[i])
					}
				}
			}
		})
	}
	files, err := notebooks.FS.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name() == "12_find_the_fault.ipynb" { // whose kernels are there for what is wrong about them
			continue
		}
		data, err := notebooks.FS.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range kernels.FindAllSubmatch(data, -1) {
			if name := strings.TrimSuffix(f.Name(), ".ipynb"); !have[name][string(m[1])] {
				t.Errorf("%s of %s is not here in Go", m[1], name)
			}
		}
	}
}
