package kerneltest

import (
	"reflect"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/gokernel/emulate"
)

// Kernels of two blocks of 64 threads, with what is said of their races; "" for none.
var racing = []struct{ body, says string }{
	{`if t < 40 {
	gpu.SyncThreads()
}`, "divergent SyncThreads at In[5]:5: thread (0,0,0) waits, thread (40,0,0) has ended; all threads of a block must come to the same barrier, in kernel k, block (0,0,0)"},
	{`if t < 40 {
	gpu.SyncThreads()
} else {
	gpu.SyncThreads()
}`, "divergent SyncThreads at In[5]:5: thread (0,0,0) waits, thread (40,0,0) waits at another one at In[5]:7; all threads"},
	{`for range 2 + t/32 {
	gpu.SyncThreads()
}
out[i] = 1`, "divergent SyncThreads at In[5]:5: thread (32,0,0) waits, thread (0,0,0) has ended"},
	{`if t >= 40 {
	return // CUDA counts it as gone
}
s[t] = in[t]
gpu.SyncThreads()
out[i] = s[39-t]`, ""},
	{`if len(in) > 3 {
	gpu.SyncThreads()
}`, ""},
	{`if t >= 40 {
	return
}
out[i] = gpu.ShflXor(gpu.FullMask, in[i], 1)`, "divergent ShflXor at In[5]:7: thread (32,0,0) waits, thread (40,0,0) has ended; a mask may only name lanes that come there"},
	{`if m := gpu.Ballot(gpu.FullMask, t < 40); t < 40 {
	out[i] = gpu.ShflXor(m, in[i], 1)
}`, ""},
	{`out[i] = in[i]`, ""},
	{`s[t] = in[t]
gpu.SyncThreads()
out[i] = s[63-t]`, ""},
	{`s[t] = in[t]
out[i] = s[63-t]`, "a race: thread (31,0,0) reads at In[5]:5 what thread (32,0,0) writes at In[5]:4, and no barrier stands between, in kernel k"},
	{`s[t] = in[t]
gpu.SyncThreads()
for d := 32; d > 0; d /= 2 {
	if t < d {
		s[t] += s[t+d]
	}
	gpu.SyncThreads()
}
out[i] = s[0]`, ""},
	{`s[t] = in[t]
gpu.SyncThreads()
for d := 32; d > 0; d /= 2 {
	if t < d {
		s[t] += s[t+d]
	}
}
out[i] = s[0]`, "no barrier stands between"},
	{`out[0] += in[i]`, "a race: thread (0,0,0) writes at In[5]:4 what thread (1,0,0) reads at In[5]:4"},
	{`gpu.AtomicAdd(&out[0], in[i])`, ""},
	{`out[t] = 1`, "blocks are in no order: atomic operations can share memory among them"},
	{`gpu.SyncThreads()
if t == 0 {
	out[0] += in[i]
}`, "writes at In[5]:6 what thread (0,0,0) of block (1,0,0) reads at In[5]:6; blocks are in no order"},
	{`gpu.AtomicAdd(&s[0], 1)
if s[0] > 3 {
	out[i] = 1
}`, "no barrier stands between"},
	{`v := s[t]
gpu.SyncThreads()
s[63-t] = v
out[i] = v`, ""},
	{`v := s[63-t]
s[t] = v
out[i] = v`, "writes at In[5]:5 what thread (32,0,0) reads at In[5]:4"},
	{`s[t] = in[t]
gpu.SyncWarp(gpu.FullMask)
out[i] = s[t^1]`, ""},
	{`s[t] = in[t]
gpu.SyncWarp(gpu.FullMask)
out[i] = s[t^32]`, "no barrier stands between"},
	{`var own [4]int
p := &own[t&3]
*p = in[i]
out[i] = own[t&3]`, ""},
	{`if i == 0 {
	out[1] = 7
	gpu.ThreadFence()
	gpu.AtomicStore(&out[0], 1)
} else if i == 127 && gpu.AtomicLoad(&out[0]) == 1 {
	out[2] = out[1]
}`, ""},
	{`copy(out, in)`, "a race"},
}

// Races are found when kernels are emulated, whatever came out.
func TestFindRaces(t *testing.T) {
	for _, c := range racing {
		m, err := cuda.CompileGo("func k(in, out []int) {\nt, i, s := gpu.ThreadIdx.X, gpu.GridRank(), gpu.Shared[[64]int]()\n_, _, _ = t, i, s\n"+c.body+"\n}", cuda.SourceName("In[5]"))
		if err != nil {
			t.Fatal(c.body, err)
		}
		k, err := m.Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		err = k.With(cuda.FindRaces()).Emulate(cuda.Grid(2), cuda.Block(64), make([]int, 128), make([]int, 128))
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s\nthe emulation says %v, want %q", c.body, err, c.says)
		}
		if strings.HasPrefix(c.says, "divergent") {
			continue // an error in any case
		}
		if err := k.Emulate(cuda.Grid(2), cuda.Block(64), make([]int, 128), make([]int, 128)); err != nil {
			t.Errorf("%s\nwithout looking: %v", c.body, err)
		}
	}
}

// What threads do is counted by argument, in elements.
func TestCount(t *testing.T) {
	m, err := cuda.CompileGo(`
func k(in, out []int32, n int, one *int64) {
	s := gpu.Shared[[64]int32]()
	t := gpu.ThreadIdx.X
	if t < n {
		s[t] = in[t] + in[0]
	}
	gpu.SyncThreads()
	if t == 0 {
		copy(out, in)
		out[3] += s[1]
		gpu.AtomicAdd(one, 1)
	}
	v := gpu.ShflXor(gpu.FullMask, t, 1)
	var own [4]int
	own[t&3] = v
	if own[0] < -1 {
		out[0] = 1
	}
}`)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	var got cuda.KernelCounts
	for range 2 { // each launch begins at zero
		if err := k.With(cuda.Count(&got)).Emulate(cuda.Grid(2), cuda.Block(64), make([]int32, 64), make([]int32, 32), 10, new(int64)); err != nil {
			t.Fatal(err)
		}
	}
	type a = emulate.Accesses
	want := cuda.KernelCounts{
		Arguments: []a{{Reads: 2 * (20 + 32)}, {Reads: 2, Writes: 2 * 33}, {}, {Atomics: 2}},
		Shared:    a{Reads: 2, Writes: 20},
		Threads:   20, Most: 3 + 64 + 3 + 1, Barriers: 2, Exchanges: 4,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}
