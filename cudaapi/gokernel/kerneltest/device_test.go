package kerneltest

import (
	"errors"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
)

const deviceSource = `
type cell struct {
	value float32
	hits  int32
}

func saxpy(a float32, x, y []float32) {
	i := gpu.BlockIdx.X*gpu.BlockDim.X + gpu.ThreadIdx.X
	if i < len(y) {
		y[i] = a*x[i] + y[i]
	}
}

// blockSum adds the elements of a block in shared memory.
func blockSum(x, sums []float32) {
	tile := gpu.Shared[[256]float32]()
	t := gpu.ThreadIdx.X
	i := gpu.BlockIdx.X*gpu.BlockDim.X + t
	tile[t] = 0
	if i < len(x) {
		tile[t] = x[i]
	}
	gpu.SyncThreads()
	for n := gpu.BlockDim.X / 2; n > 0; n /= 2 {
		if t < n {
			tile[t] += tile[t+n]
		}
		gpu.SyncThreads()
	}
	if t == 0 {
		sums[gpu.BlockIdx.X] = tile[0]
	}
}

func reverse(x []int32) {
	s := gpu.DynamicShared[int32](gpu.BlockDim.X)
	t := gpu.ThreadIdx.X
	s[t] = x[t]
	gpu.SyncThreads()
	x[t] = s[len(s)-1-t]
}

func histogram(data []uint8, bins []int) {
	for i := gpu.BlockIdx.X*gpu.BlockDim.X + gpu.ThreadIdx.X; i < len(data); i += gpu.GridDim.X * gpu.BlockDim.X {
		gpu.AtomicAdd(&bins[data[i]], 1)
	}
}

func warpSum(x []int32) {
	v := x[gpu.ThreadIdx.X]
	for d := 16; d > 0; d /= 2 {
		v += gpu.ShflDown(gpu.FullMask, v, d)
	}
	if gpu.LaneID() == 0 {
		x[gpu.ThreadIdx.X] = v
	}
}

func votes(out []int) {
	t := gpu.ThreadIdx.X
	b := gpu.Ballot(gpu.FullMask, t%2 == 0)
	if gpu.Any(gpu.FullMask, t == 7) && !gpu.All(gpu.FullMask, t == 7) {
		out[t] = bits.OnesCount32(b)
	}
	n := gpu.SyncThreadsCount(t < 5)
	if t == 31 {
		out[31] = n
	}
}

func atomics(i32 []int32, i64 []int, u []uint32, f []float64) {
	t := gpu.ThreadIdx.X
	gpu.AtomicMax(&i32[0], int32(t))
	gpu.AtomicMin(&i32[1], -int32(t))
	gpu.AtomicSub(&i64[0], t)
	gpu.AtomicOr(&u[0], 1<<uint(t%32))
	gpu.AtomicXor(&u[1], uint32(t))
	gpu.AtomicAdd(&f[0], 0.5)
	if gpu.AtomicCAS(&i64[1], 0, t+1) == 0 {
		i64[2] = 1
	}
	gpu.AtomicExch(&f[1], 7)
}

func particles(p []cell, dt float32) {
	q := &p[gpu.ThreadIdx.X]
	q.value += dt
	q.hits++
}

func place(out []int) {
	b := gpu.BlockIdx.X + gpu.GridDim.X*(gpu.BlockIdx.Y+gpu.GridDim.Y*gpu.BlockIdx.Z)
	t := gpu.ThreadIdx.X + gpu.BlockDim.X*(gpu.ThreadIdx.Y+gpu.BlockDim.Y*gpu.ThreadIdx.Z)
	d := gpu.BlockDim
	out[b*d.X*d.Y*d.Z+t] = b*1000 + t
}

func axpy[T gpu.Number](a T, x, y []T) {
	if i := gpu.ThreadIdx.X; i < len(y) {
		y[i] += a * x[i]
	}
}

func some(x []int, stop int) {
	t := gpu.ThreadIdx.X
	if t == stop {
		x[t+1000] = 1
	}
	gpu.SyncThreads()
	x[t] = t
}

// phases needs what all blocks wrote.
func phases(x, y []int) {
	i := gpu.BlockIdx.X*gpu.BlockDim.X + gpu.ThreadIdx.X
	x[i] = i
	gpu.SyncGrid()
	y[i] = x[len(x)-1-i]
}

var counter int

func count() { gpu.AtomicAdd(&counter, 1) }

func hello(n int) {
	fmt.Printf("thread %d of %v: %5.2f %t\n", gpu.ThreadIdx.X, n, 1.5, n > 1)
	println("n is", n)
}
`

func device(t *testing.T) (*cuda.Device, *cuda.Module) {
	t.Helper()
	d, err := cuda.CurrentDevice()
	if err != nil {
		t.Fatal(err)
	}
	m, err := cuda.CompileGo(deviceSource, cuda.SourceName("In[7]"), cuda.Instantiate("axpy[float32]", "axpy[int]"))
	if err != nil {
		t.Fatal(err)
	}
	return d, m
}

// launch runs a kernel and waits for it.
func launch(t *testing.T, d *cuda.Device, m *cuda.Module, name string, grid cuda.GridDim, block cuda.BlockDim, args ...any) {
	t.Helper()
	k, err := m.Kernel(name)
	if err != nil {
		t.Fatal(err)
	}
	if name == "reverse" {
		k = k.With(cuda.SharedMemory(block.X * 4))
	}
	if err := k.Launch(grid, block, d.DefaultStream(), args...); err != nil {
		t.Fatal(err)
	}
	if err := d.Synchronize(); err != nil {
		t.Fatal(err)
	}
}

func upload[T any](t *testing.T, d *cuda.Device, list []T) *cuda.Buffer {
	t.Helper()
	b, err := d.Upload(list)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func check[T comparable](t *testing.T, b *cuda.Buffer, want func(i int) T) {
	t.Helper()
	got := make([]T, b.Len())
	if err := b.Download(got); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v != want(i) {
			t.Errorf("element %d is %v, want %v", i, v, want(i))
			return
		}
	}
}

func TestKernels(t *testing.T) {
	d, m := device(t)
	ones := make([]float32, 1000)
	for i := range ones {
		ones[i] = float32(i % 7)
	}
	x, y := upload(t, d, ones), upload(t, d, ones)
	launch(t, d, m, "saxpy", cuda.GridFor(1000, 128), cuda.Block(128), 2, x, y)
	check(t, y, func(i int) float32 { return 3 * float32(i%7) })

	sums := upload(t, d, make([]float32, 4))
	launch(t, d, m, "blockSum", cuda.Grid(4), cuda.Block(256), x, sums)
	check(t, sums, func(i int) (s float32) {
		for j := i * 256; j < min(1000, i*256+256); j++ {
			s += float32(j % 7)
		}
		return s
	})

	small := upload(t, d, []int32{1, 2, 3, 4, 5, 6, 7, 8})
	launch(t, d, m, "reverse", cuda.Grid(1), cuda.Block(8), small)
	check(t, small, func(i int) int32 { return int32(8 - i) })

	data := make([]uint8, 5000)
	for i := range data {
		data[i] = uint8(i * i)
	}
	bins := upload(t, d, make([]int64, 256))
	launch(t, d, m, "histogram", cuda.Grid(4), cuda.Block(64), upload(t, d, data), bins)
	check(t, bins, func(i int) (n int64) {
		for _, v := range data {
			if int(v) == i {
				n++
			}
		}
		return n
	})

	lanes := make([]int32, 64)
	for i := range lanes {
		lanes[i] = int32(i)
	}
	warps := upload(t, d, lanes)
	launch(t, d, m, "warpSum", cuda.Grid(1), cuda.Block(64), warps)
	check(t, warps, func(i int) int32 {
		return map[int]int32{0: 496, 32: 1520}[i] + map[bool]int32{true: int32(i)}[i%32 != 0]
	})

	out := upload(t, d, make([]int64, 32))
	launch(t, d, m, "votes", cuda.Grid(1), cuda.Block(32), out)
	check(t, out, func(i int) int64 { return map[bool]int64{true: 5, false: 16}[i == 31] })

	i32, i64, u, f := upload(t, d, make([]int32, 2)), upload(t, d, make([]int64, 3)), upload(t, d, make([]uint32, 2)), upload(t, d, make([]float64, 2))
	launch(t, d, m, "atomics", cuda.Grid(1), cuda.Block(64), i32, i64, u, f)
	check(t, i32, func(i int) int32 { return []int32{63, -63}[i] })
	check(t, u, func(i int) uint32 { return []uint32{0xffffffff, 0}[i] })
	check(t, f, func(i int) float64 { return []float64{32, 7}[i] })
	got, err := i64.Int64s()
	if err != nil || got[0] != -2016 || got[1] == 0 || got[2] != 1 {
		t.Errorf("atomics left %v (%v)", got, err)
	}

	cells := upload(t, d, make([]uint32, 20)) // ten of value and hits
	launch(t, d, m, "particles", cuda.Grid(1), cuda.Block(10), cells, 1)
	check(t, cells, func(i int) uint32 { return []uint32{0x3f800000, 1}[i%2] })

	where := upload(t, d, make([]int64, 2*3*2*4*2*2))
	launch(t, d, m, "place", cuda.Grid(2, 3, 2), cuda.Block(4, 2, 2), where)
	check(t, where, func(i int) int64 { return int64(i/16*1000 + i%16) })

	launch(t, d, m, "axpy[float32]", cuda.Grid(1), cuda.Block(1024), 0.5, x, y)
	check(t, y, func(i int) float32 { return 3.5 * float32(i%7) })
	ints := upload(t, d, []int64{1, 2, 3})
	launch(t, d, m, "axpy[int]", cuda.Grid(1), cuda.Block(32), 10, ints, ints)
	check(t, ints, func(i int) int64 { return 11 * int64(i+1) })

	launch(t, d, m, "count", cuda.Grid(10), cuda.Block(32))
	counter, err := m.Global(d, "counter", cuda.Int64)
	if err != nil {
		t.Fatal(err)
	}
	check(t, counter, func(int) int64 { return 320 })
	there, back := upload(t, d, make([]int64, 128)), upload(t, d, make([]int64, 128))
	launch(t, d, m, "phases", cuda.Grid(4), cuda.Block(32), there, back)
	check(t, back, func(i int) int64 { return int64(127 - i) })
	launch(t, d, m, "hello", cuda.Grid(1), cuda.Block(1), 3)
}

// What a module keeps to say about panics is not taken for memory that was forgotten.
func TestModulesDoNotLeak(t *testing.T) {
	before := len(cuda.Leaks())
	d, m := device(t)
	k, err := m.Kernel("count")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(cuda.Grid(1), cuda.Block(1), nil); err != nil {
		t.Fatal(err)
	}
	if err := d.Synchronize(); err != nil {
		t.Fatal(err)
	}
	if list := cuda.Leaks(); len(list) > before {
		t.Errorf("not freed: %v", list[:len(list)-before])
	}
}

// A thread that panics ends; the others go on, through barriers too, and the
// context stays usable.
func TestPanicLeavesTheOthers(t *testing.T) {
	d, m := device(t)
	x := upload(t, d, make([]int64, 64))
	k, err := m.Kernel("some")
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Destroy()
	for range 3 {
		if err := k.Launch(cuda.Grid(1), cuda.Block(64), s, x, 5); err != nil {
			t.Fatal(err)
		}
		err = s.Synchronize()
		var p *cuda.KernelPanic
		if !errors.As(err, &p) || !strings.HasSuffix(p.Message, "index out of range [1005] with length 64, in kernel some, block (0,0,0), thread (5,0,0), In[7]:107") {
			t.Fatalf("the panic is told as %v", err)
		}
		if err := d.Synchronize(); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	}
	check(t, x, func(i int) int64 {
		if i == 5 {
			return 0
		}
		return int64(i)
	})
}

// A kernel's first launch may be one that is captured, and may come while others are
// queued for the default stream to wait for.
func TestFirstLaunchIsCaptured(t *testing.T) {
	d, _ := device(t)
	for name, body := range map[string]string{"plain": "", "cooperative": "gpu.SyncGrid()"} {
		t.Run(name, func(t *testing.T) {
			m, err := cuda.CompileGo("func k(x []int64) {\nx[gpu.GridRank()] += 3\n" + body + "\n}")
			if err != nil {
				t.Fatal(err)
			}
			k, err := m.Kernel("k")
			if err != nil {
				t.Fatal(err)
			}
			s, err := d.NewStream()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Destroy()
			x := upload(t, d, make([]int64, 256))
			g, err := s.Capture(func() error { return k.Launch(cuda.Grid(4), cuda.Block(64), s, x) })
			if err != nil {
				t.Fatal(err)
			}
			defer g.Destroy()
			e, err := g.Instantiate()
			if err != nil {
				t.Fatal(err)
			}
			defer e.Destroy()
			for range 2 {
				if err := e.Launch(s); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Synchronize(); err != nil {
				t.Fatal(err)
			}
			check(t, x, func(int) int64 { return 6 })
		})
	}
}

func TestArguments(t *testing.T) {
	d, m := device(t)
	k, err := m.Kernel("saxpy")
	if err != nil {
		t.Fatal(err)
	}
	if want := "func saxpy(a float32, x []float32, y []float32)"; k.String() != want {
		t.Errorf("the kernel is %s, want %s", k, want)
	}
	x, wrong := upload(t, d, []float32{1, 2}), upload(t, d, []float64{1})
	for _, c := range []struct {
		args []any
		want string
	}{
		{[]any{1, x}, "takes 3 arguments, not 2"},
		{[]any{1, x, 3}, "an integer was given for a []float32: give the buffer"},
		{[]any{1, x, wrong}, "a buffer of Float64 was given; it is a []float32"},
		{[]any{x, x, x}, "a buffer was given for a number"},
		{[]any{1, x, []float32{1}}, "is host memory: upload it"},
	} {
		if err := k.Launch(cuda.Grid(1), cuda.Block(1), nil, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.args, err, c.want)
		}
	}
	if err := k.Launch(cuda.Grid(1), cuda.Block(1), nil, 1, nil, x); err != nil {
		t.Error(err)
	}
	if err := d.Synchronize(); err == nil || !strings.Contains(err.Error(), "index out of range [0] with length 0") {
		t.Errorf("a nil slice: %v", err)
	}
	c, err := m.Kernel("particles")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Launch(cuda.Grid(1), cuda.Block(1), nil, upload(t, d, []float32{1, 2, 3}), 1); err == nil || !strings.Contains(err.Error(), "not a whole number of cell (8 bytes each)") {
		t.Errorf("half a structure: %v", err)
	}
}

// What a kernel became, and what it needs.
func TestInspect(t *testing.T) {
	d, m := device(t)
	k, err := m.Kernel("blockSum")
	if err != nil {
		t.Fatal(err)
	}
	r, err := k.Resources(d, cuda.Block(128))
	if err != nil {
		t.Fatal(err)
	}
	if r.Block != 128 || r.Blocks < 1 || r.OccupancyPct < 1 || r.OccupancyPct > 100 || r.MaxThreads < 128 {
		t.Errorf("blockSum needs %v", r)
	}
	ptx, err := m.PTX(d)
	if err == nil {
		if !strings.Contains(ptx, ".entry go_blockSum(") {
			t.Errorf("the PTX has no entry for the kernel:\n%.500s", ptx)
		}
		if r.Registers == 0 || r.SharedBytes < 1024 {
			t.Errorf("blockSum needs %v", r)
		}
	} else if !errors.Is(err, cuda.ErrNotSupported) || !strings.Contains(err.Error(), "there is no PTX for it") {
		t.Errorf("PTX: %v", err)
	}
	sass, err := m.SASS(d)
	switch {
	case err == nil && !strings.Contains(sass, "go_blockSum"):
		t.Errorf("the SASS has no function for the kernel:\n%.500s", sass)
	case err != nil && !errors.Is(err, cuda.ErrNotSupported) && !errors.Is(err, cuda.ErrNotFound):
		t.Errorf("SASS: %v", err)
	}
	if text := k.HTML(); !strings.Contains(text, "func blockSum(x []float32, sums []float32)") || !strings.Contains(text, "occupancy") {
		t.Errorf("the kernel is shown as %s", text)
	}
}
