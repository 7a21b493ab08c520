package kerneltest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
)

// Kernels whose threads meet do on the CPU what they do on a device.
func TestEmulate(t *testing.T) {
	_, m := device(t)
	run := func(name string, grid cuda.GridDim, block cuda.BlockDim, args ...any) {
		t.Helper()
		k, err := m.Kernel(name)
		if err != nil {
			t.Fatal(err)
		}
		k = k.With(cuda.SharedMemory(1024))
		if err := k.Emulate(grid, block, args...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	x, y := make([]float32, 1000), make([]float32, 1000)
	for i := range x {
		x[i] = float32(i % 7)
		y[i] = 1
	}
	run("saxpy", cuda.GridFor(1000, 128), cuda.Block(128), 2, x, y)
	for i := range y {
		if y[i] != 2*x[i]+1 {
			t.Fatalf("saxpy: y[%d] is %v", i, y[i])
		}
	}
	sums := make([]float32, 4)
	run("blockSum", cuda.Grid(4), cuda.Block(256), x, sums)
	var want [4]float32
	for i := range x {
		want[i/256] += x[i]
	}
	if [4]float32(sums) != want {
		t.Errorf("blockSum: %v, want %v", sums, want)
	}
	small := []int32{1, 2, 3, 4, 5, 6, 7, 8}
	run("reverse", cuda.Grid(1), cuda.Block(8), small)
	if !slices.Equal(small, []int32{8, 7, 6, 5, 4, 3, 2, 1}) {
		t.Errorf("reverse: %v", small)
	}
	bins := make([]int, 256)
	run("histogram", cuda.Grid(4), cuda.Block(64), []uint8{1, 2, 1, 255}, bins)
	if bins[1] != 2 || bins[2] != 1 || bins[255] != 1 {
		t.Errorf("histogram: %v", bins)
	}
	lanes := make([]int32, 64)
	for i := range lanes {
		lanes[i] = int32(i)
	}
	run("warpSum", cuda.Grid(1), cuda.Block(64), lanes)
	if lanes[0] != 496 || lanes[32] != 1520 || lanes[5] != 5 {
		t.Errorf("warpSum: %v", lanes)
	}
	out := make([]int, 32)
	run("votes", cuda.Grid(1), cuda.Block(32), out)
	if out[0] != 16 || out[31] != 5 {
		t.Errorf("votes: %v", out)
	}
	i32, i64, u, f := make([]int32, 2), make([]int, 3), make([]uint32, 2), make([]float64, 2)
	run("atomics", cuda.Grid(1), cuda.Block(64), i32, i64, u, f)
	if i32[0] != 63 || i32[1] != -63 || i64[0] != -2016 || i64[1] != 1 || u[0] != 0xffffffff || u[1] != 0 || f[0] != 32 || f[1] != 7 {
		t.Errorf("atomics: %v %v %v %v", i32, i64, u, f)
	}
	cells := make([]struct {
		V float32
		N int32
	}, 10)
	run("particles", cuda.Grid(1), cuda.Block(10), cells, 1.5)
	if cells[9].V != 1.5 || cells[9].N != 1 {
		t.Errorf("particles: %v", cells)
	}
	where := make([]int, 2*3*2*4*2*2)
	run("place", cuda.Grid(2, 3, 2), cuda.Block(4, 2, 2), where)
	for i, v := range where {
		if v != i/16*1000+i%16 {
			t.Fatalf("place: %d is %d", i, v)
		}
	}
	there, back := make([]int, 128), make([]int, 128)
	run("phases", cuda.Grid(4), cuda.Block(32), there, back)
	if back[0] != 127 || back[127] != 0 {
		t.Errorf("phases: %v", back)
	}
}

const emulateSource = `
func waits(x []int) {
	t := gpu.ThreadIdx.X
	if t == 3 {
		gpu.SyncWarp(gpu.FullMask)
	} else {
		gpu.SyncThreads()
	}
	x[t] = 1
}

func lonely(x []int) {
	if gpu.ThreadIdx.X == 3 {
		x[0] = gpu.Shfl(gpu.FullMask, 1, 0)
	}
	gpu.SyncThreads()
}

func endless(x []int) {
	for x[0] == 0 {
	}
}

func spins(flag []int32, x []int) {
	if gpu.ThreadIdx.X == 0 {
		for gpu.AtomicCAS(&flag[0], 1, 2) != 1 {
		}
		x[0] = 5
	} else {
		gpu.AtomicExch(&flag[0], 1)
	}
}

func big(x []int) { gpu.DynamicShared[int](100)[0] = 1 }

var total int

func sums(x []int) {
	total += len(x)
	x[0] = total
}
`

func TestEmulateErrors(t *testing.T) {
	_, m := device(t)
	n, err := cuda.CompileGo(emulateSource, cuda.SourceName("In[3]"))
	if err != nil {
		t.Fatal(err)
	}
	kernel := func(m *cuda.Module, name string) *cuda.Kernel {
		t.Helper()
		k, err := m.Kernel(name)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	x := make([]int, 64)
	one := func(k *cuda.Kernel, block int, args ...any) error {
		return k.Emulate(cuda.Grid(1), cuda.Block(block), args...)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{one(kernel(m, "some"), 64, x, 5), "index out of range [1005] with length 64, in kernel some, block (0,0,0), thread (5,0,0), In[7]:107"},
		{one(kernel(n, "waits"), 8, x), "thread (0,0,0) waits at SyncThreads (In[3]:7) for thread (3,0,0), which waits at SyncWarp (In[3]:5), in kernel waits, block (0,0,0)"},
		{one(kernel(n, "lonely"), 8, x), "thread (0,0,0) waits at SyncThreads (In[3]:16) for thread (3,0,0), which waits at Shfl (In[3]:14), in kernel lonely, block (0,0,0)"},
		{one(kernel(n, "big"), 8, x), "DynamicShared needs 800 bytes, and the launch gave 0"},
		{one(kernel(m, "some"), 64, x), "some takes 2 arguments, not 1"},
		{one(kernel(m, "some"), 64, []float64{1}, 2), "[]float64 was given; it is a []int"},
		{one(kernel(m, "some"), 64, 3, 2), "an integer was given for a []int"},
		{one(kernel(m, "some"), 2000, x, 2), "has 2000 threads; at most 1024 are allowed"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	for i, v := range x {
		if i != 5 && v != i {
			t.Errorf("the other threads left %v", x)
			break
		}
	}
	flag := make([]int32, 1)
	if err := one(kernel(n, "spins"), 2, flag, x); err != nil || x[0] != 5 {
		t.Errorf("a thread that waits for another's flag: %v, %v", err, x[0])
	}
	for want := range 2 {
		if err := one(kernel(n, "sums"), 1, x[:10]); err != nil || x[0] != 10*(want+1) {
			t.Errorf("the module's variable: %v, %v", err, x[0])
		}
	}
	stop := make(chan struct{})
	cuda.SetInterrupt(stop)
	defer cuda.SetInterrupt(nil)
	time.AfterFunc(20*time.Millisecond, func() { close(stop) })
	if err := one(kernel(n, "endless"), 1, make([]int, 1)); !errors.Is(err, cuda.ErrInterrupted) {
		t.Errorf("a kernel without end: %v", err)
	}
}
