package sim_test

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/sim"
)

// The kernels of BenchmarkWays, and the same in plain C++.
//
//go:embed testdata/ways.cu
var waysKernels string

//go:embed testdata/ways.cpp
var waysLoops string

// ways are the kernels, in the order of the loops. n is what they are told.
var ways = []struct {
	name        string
	n           int
	grid, block driver.Dim3
}{
	{"saxpy", 1 << 22, dim(1 << 14), dim(256)},
	{"jacobi", 2048, dim(2048/32, 2048/8), dim(32, 8)},
	{"nbody", 2048, dim(8), dim(256)},
	{"sum", 1 << 22, dim(1024), dim(256)},
	{"scan", 1 << 20, dim(1 << 12), dim(256)},
	{"transpose", 1024, dim(32, 32), dim(32, 8)},
	{"matmul", 256, dim(16, 16), dim(16, 16)},
	{"histogram", 1 << 20, dim(256), dim(256)},
	{"bitonic", 1 << 18, dim(1 << 9), dim(256)},
	{"blackscholes", 1 << 18, dim(1 << 10), dim(256)},
}

// BenchmarkWays times kernels through PTX and as today, checked and unchecked, on one core in turns
// with the same in plain C++ at -O2. It needs the NVRTC that GOCUDA_NVRTC names. The table has
// medians, each of b.N times, and their ratios.
func BenchmarkWays(b *testing.B) {
	if os.Getenv("GOCUDA_NVRTC") == "" {
		b.Skip("no NVRTC: GOCUDA_NVRTC does not name one")
	}
	plain := plainWays(b)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	names := []string{"today", "PTX", "today, checked", "PTX, checked"}
	var runs []func(i int) float64
	for k := range names {
		o := sim.Options{Devices: 1, NoCheck: k < 2, CUDA: "c++"}
		if k%2 == 1 {
			o.CUDA, o.PTX = "ptx", nvidia.PTX
		}
		x := newBox(b, o)
		out, err := x.d.Compile(0, &driver.Source{Name: "ways.cu", Code: waysKernels})
		x.ok(err)
		m, err := x.d.ModuleLoad(x.c, out.Image)
		x.ok(err)
		data := make([]float32, 1<<22)
		for i := range data {
			data[i] = float32(i*7919%1000) / 100
		}
		in, to := upload(x, data), upload(x, data)
		runs = append(runs, func(i int) float64 {
			k, err := x.d.ModuleFunction(x.c, m, ways[i].name)
			x.ok(err)
			begin := time.Now()
			x.ok(x.launch(k, ways[i].grid, ways[i].block, 0, ways[i].n, in, to))
			x.ok(x.sync())
			return float64(time.Since(begin))
		})
	}
	times := make([][][]float64, len(ways))
	for i := range ways {
		times[i] = make([][]float64, 1+len(runs))
		for _, run := range runs {
			run(i)
		}
	}
	rounds := 0
	for b.Loop() {
		rounds++
		for i := range ways {
			times[i][0] = append(times[i][0], plain.run(b, i))
			for k, run := range runs {
				times[i][k+1] = append(times[i][k+1], run(i))
			}
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "medians of %d, ms; in parentheses times plain C++\n| kernel | plain C++ | %s |\n", rounds, strings.Join(names, " | "))
	means := make([]float64, len(names))
	for i, w := range ways {
		c := median(times[i][0])
		fmt.Fprintf(&text, "| %s | %.2f |", w.name, c/1e6)
		for k := range names {
			t := median(times[i][k+1])
			fmt.Fprintf(&text, " %.2f (%.2f) |", t/1e6, t/c)
			means[k] += math.Log(t/c) / float64(len(ways))
		}
		text.WriteByte('\n')
	}
	text.WriteString("| geometric mean | |")
	for k, m := range means {
		fmt.Fprintf(&text, " %.2f |", math.Exp(m))
		b.ReportMetric(math.Exp(m), strings.ReplaceAll(names[k], ", ", "-")+"/C++")
	}
	fmt.Println(text.String()) // a log of a benchmark is cut off
}

// plainWays compiles and starts the loops in C++.
func plainWays(b *testing.B) *loops {
	cc, err := sim.Compiler()
	if err != nil {
		b.Skip(err)
	}
	exe := filepath.Join(b.TempDir(), "ways")
	if err := os.WriteFile(exe+".cpp", []byte(waysLoops), 0o644); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command(cc, "-O2", "-std=c++17", exe+".cpp", "-o", exe).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	args := []string{}
	for _, w := range ways {
		args = append(args, strconv.Itoa(w.n))
	}
	return startLoops(b, exe, args...)
}
