package kerneltest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
)

// Kernels as users write them: the files testdata/kernels*.txt have each with what it is,
// and how many blocks and threads it is launched with. They write the same on the device
// and emulated.
func TestUsersKernels(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "kernels*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { usersKernels(t, file) })
	}
}

func usersKernels(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := cuda.CurrentDevice()
	if err != nil {
		t.Fatal(err)
	}
	const n = 256
	kernel := regexp.MustCompile(`func (\w+)\(n int, x, y \[\]float32, u, v \[\]int32\)`)
	var source strings.Builder
	type run struct {
		name, what    string
		blocks, block int
	}
	var runs []run
	for i, one := range regexp.MustCompile(`(?m)^// `).Split(string(text), -1)[1:] {
		head, code, _ := strings.Cut(one, "\n")
		comma := strings.LastIndex(head, ", ")
		sizes := strings.Fields(head[comma+2:])
		blocks, _ := strconv.Atoi(sizes[0])
		block, err := strconv.Atoi(sizes[1])
		if err != nil {
			t.Fatalf("%s: %v", head, err)
		}
		name := kernel.FindStringSubmatch(code)[1]
		runs = append(runs, run{name, head[:comma], blocks, block})
		if i > 0 {
			source.WriteString("\n")
		}
		source.WriteString(code)
	}
	m, err := cuda.CompileGo(source.String(), cuda.SourceName("kernels"), cuda.Flag("--fmad=false"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		x, u := make([]float32, n), make([]int32, n)
		for i := range n {
			x[i], u[i] = float32(math.Sin(float64(i*i))), int32(i*7919%101)
		}
		y, v := make([]float32, n), make([]int32, n)
		k, err := m.Kernel(r.name)
		if err != nil {
			t.Fatal(err)
		}
		k = k.With(cuda.SharedMemory(1024))
		if err := k.Emulate(cuda.Grid(r.blocks), cuda.Block(r.block), n, slices.Clone(x), y, slices.Clone(u), v); err != nil {
			t.Errorf("%s, emulated: %v", r.what, err)
			continue
		}
		dy, dv := upload(t, d, make([]float32, n)), upload(t, d, make([]int32, n))
		if err := k.Launch(cuda.Grid(r.blocks), cuda.Block(r.block), nil, n, upload(t, d, x), dy, upload(t, d, u), dv); err != nil {
			t.Fatal(err)
		}
		if err := d.Synchronize(); err != nil {
			t.Errorf("%s: %v", r.what, err)
			continue
		}
		gotY, errY := dy.Float32s()
		gotV, errV := dv.Int32s()
		if errY != nil || errV != nil {
			t.Fatal(errY, errV)
		}
		if fmt.Sprint(gotV) != fmt.Sprint(v) {
			t.Errorf("%s: %v, emulated %v", r.what, gotV, v)
		}
		empty := true
		for i := range y {
			empty = empty && y[i] == 0 && v[i] == 0
			if math.Abs(float64(y[i]-gotY[i])) > 1e-4*max(1, math.Abs(float64(y[i]))) {
				t.Errorf("%s: y[%d] is %v, emulated %v", r.what, i, gotY[i], y[i])
				break
			}
		}
		if empty {
			t.Errorf("%s writes nothing", r.what)
		}
	}
	t.Logf("%d kernels", len(runs))
}
