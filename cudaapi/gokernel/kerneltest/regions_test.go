package kerneltest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/gokernel"
)

// Kernels by whether their threads can run as loops between barriers, without a stack
// for each.
var regions = []struct {
	loops      bool
	what, body string
}{
	{true, "no barrier", `out[t] = in[t]`},
	{true, "a tree", `s[t] = in[t]
for d := gpu.BlockDim.X / 2; d > 0; d /= 2 {
	gpu.SyncThreads()
	if t < d {
		s[t] += s[t+d]
	}
}
out[t] = s[t&^31]`},
	{true, "an early return", `if t > 40 {
	return
}
s[t] = in[t]
gpu.SyncThreads()
out[t] = s[(t+1)%41]`},
	{true, "a branch that is the same for all", `v := in[t]
if len(in) > 10 {
	s[t] = v
	gpu.SyncThreads()
	v += s[63-t]
}
out[t] = v`},
	{true, "loops that are left together", `v := 0
outer:
for i := range len(in) {
	for j := 0; ; j++ {
		gpu.SyncThreads()
		if j > 3 {
			continue outer
		}
		if i > 2 {
			break outer
		}
		s[t] = i*j + t
		gpu.SyncThreads()
		v += s[(t+1)%64]
	}
}
out[t] = v`},
	{true, "a count that all know", `rounds := 0
for gpu.SyncThreadsOr(in[t] > rounds*100) {
	rounds++
}
out[t] = rounds + gpu.SyncThreadsCount(t < 9)`},
	{true, "a pointer to a variable", `v := in[t]
p := &v
gpu.SyncThreads()
*p += 2
gpu.SyncThreads()
out[t] = v`},
	{true, "functions and literals", `f := func(i int) int { return in[i] + gpu.ThreadIdx.X }
s[t] = f(t) + twice(t)
gpu.SyncThreads()
out[t] = s[63-t]`},
	{true, "a size that is chosen", `side := 8
if len(in) > 100 {
	side = 16
}
for i := 0; i < side; i += 4 {
	s[t] = in[t] + i
	gpu.SyncThreads()
	out[t] += s[(t+side)%64]
	gpu.SyncThreads()
}`},
	{true, "turns at a slice", `v := 0
for i := gpu.GridRank(); i < len(in); i += gpu.BlockDim.X / 4 {
	if in[i]%3 == 0 {
		continue
	}
	w := in[i]
	v += w * w
}
s[t] = v
gpu.SyncThreads()
out[t] = s[63-t]`},
	{true, "turns that end out of range", `v, n := 0, len(in)+int(in[3])
if n > 1000 {
	return
}
for i := 2*gpu.ThreadIdx.X + 1; i < len(in)-7; i += gpu.BlockDim.X - 40 {
	s[t] += in[i]
	switch {
	case i%5 == 0:
		v++
	default:
		v += 2
	}
}
gpu.SyncThreads()
out[t] = s[t] + v*1000`},
	{true, "turns from below zero", `v := 0
for i := t - 100; i < len(in); i += gpu.BlockDim.X {
	if i >= 0 {
		v += in[i]
	}
}
out[t] = v`},
	{true, "threads that return early", `if t >= 32 {
	out[t] = t
	return
}
gpu.SyncThreads()
out[t] = t`},
	{false, "a branch of which each has its own", `if t < 64 {
	gpu.SyncThreads()
} else {
	gpu.SyncThreads()
}
out[t] = t`},
	{false, "a loop of which each has its own", `for i := 0; i < t/64+1; i++ {
	gpu.SyncThreads()
}
out[t] = in[t]`},
	{false, "what memory says", `for in[0] > 100 {
	gpu.SyncThreads()
}
out[t] = in[t]`},
	{false, "lanes", `out[t] = gpu.ShflXor(gpu.FullMask, in[t], 1)`},
	{false, "waiting for another thread", `if t == 0 {
	gpu.AtomicAdd(&s[0], 1-s[0])
} else {
	for gpu.AtomicLoad(&s[0]) == 0 {
	}
}
gpu.SyncThreads()
out[t] = s[0]`},
	{false, "a barrier in a function", `meet()
out[t] = in[t]`},
}

// Kernels in regions do what they do thread by thread.
func TestRegions(t *testing.T) {
	d, err := cuda.CurrentDevice()
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	source.WriteString("func twice(i int) int { return 2*i + gpu.ThreadIdx.X }\nfunc meet() int { gpu.SyncThreads(); return 0 }\n")
	name := func(i int) string { return "k" + string(rune('a'+i)) }
	for i, c := range regions {
		source.WriteString("func " + name(i) + "(in, out []int) {\nt, s := gpu.ThreadIdx.X, gpu.Shared[[128]int]()\ns[t] = 0\n" + c.body + "\n}\n")
	}
	prog, err := gokernel.Compile(source.String(), gokernel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := cuda.CompileGo(source.String())
	if err != nil {
		t.Fatal(err)
	}
	in := make([]int64, 64)
	for i := range in {
		in[i] = int64(i * 7 % 97)
	}
	for i, c := range regions {
		if found := strings.Contains(prog.OnHost, "go_"+name(i)+"_whole("); found != c.loops {
			t.Errorf("%s: in loops is %v, want %v", c.what, found, c.loops)
		}
		k, err := m.Kernel(name(i))
		if err != nil {
			t.Fatal(err)
		}
		want, out := make([]int64, 64), upload(t, d, make([]int64, 64))
		if err := k.Emulate(cuda.Grid(1), cuda.Block(64), in, want); err != nil {
			t.Errorf("%s, emulated: %v", c.what, err)
		}
		launch(t, d, m, name(i), cuda.Grid(1), cuda.Block(64), upload(t, d, in), out)
		got, err := out.Int64s()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v (%v)", c.what, got, want, err)
		}
	}
}

// What goes wrong in a region names its thread, and leaves the others.
func TestPanicsInRegions(t *testing.T) {
	d, err := cuda.CurrentDevice()
	if err != nil {
		t.Fatal(err)
	}
	m, err := cuda.CompileGo(`
func wrong(x []int) {
	s := gpu.Shared[[64]int]()
	t := gpu.ThreadIdx.X + 8*gpu.ThreadIdx.Y
	s[t] = t
	gpu.SyncThreads()
	if t == 21 {
		x[100] = 1
	}
	gpu.SyncThreads()
	x[t] = s[63-t]
}
func deep(i int, x []int) int { return x[i] }
func below(x []int) {
	gpu.SyncThreads()
	x[gpu.ThreadIdx.X] = deep(gpu.ThreadIdx.X*2, x)
}
`, cuda.SourceName("In[3]"))
	if err != nil {
		t.Fatal(err)
	}
	x := upload(t, d, make([]int64, 64))
	for kernel, want := range map[string]string{
		"wrong": "index out of range [100] with length 64, in kernel wrong, block (0,0,0), thread (5,2,0), In[3]:8",
		"below": "index out of range [64] with length 64, in deep, called by kernel below, block (0,0,0), thread (32,0,0), In[3]:13",
	} {
		k, err := m.Kernel(kernel)
		if err != nil {
			t.Fatal(err)
		}
		block := cuda.Block(8, 8)
		if kernel == "below" {
			block = cuda.Block(33)
		}
		if err := k.Launch(cuda.Grid(1), block, nil, x); err != nil {
			t.Fatal(err)
		}
		var p *cuda.KernelPanic
		if err := d.Synchronize(); !errors.As(err, &p) || !strings.Contains(p.Message, want) {
			t.Errorf("%s: %v", kernel, err)
		}
		if kernel == "wrong" {
			check(t, x, func(i int) int64 { return map[bool]int64{false: int64(63 - i)}[i == 21] })
		}
	}
}
