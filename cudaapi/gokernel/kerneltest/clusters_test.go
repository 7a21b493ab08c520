package kerneltest

import (
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
)

const clusterSource = `
// shares gives each block what the cluster's blocks have in static and dynamic shared
// memory: the sum of one, and the next one's last element of the other.
func shares(x, sums, lasts []int, ranks []int) {
	part := gpu.Shared[[64]int]()
	tail := gpu.DynamicShared[int](2)
	t, n := gpu.ThreadIdx.X, gpu.BlockDim.X
	b := gpu.BlockIdx.X + gpu.GridDim.X*gpu.BlockIdx.Y
	part[t] = x[b*n+t]
	gpu.SyncThreads()
	if t == n-1 {
		tail[1] = part[t]
	}
	gpu.SyncCluster()
	sum := 0
	for rank := range gpu.ClusterSize() {
		theirs := gpu.ClusterShared(part, rank)
		sum += theirs[t]
	}
	next := (gpu.ClusterRank() + 1) % gpu.ClusterSize()
	last := *gpu.ClusterShared(&tail[1], next)
	gpu.AtomicAdd(gpu.ClusterShared(&tail[0], next), 0)
	gpu.SyncCluster()
	sums[b*n+t] = sum
	if t == 0 {
		lasts[b] = last
		ranks[b] = gpu.ClusterRank()
	}
}

func beyond(x []int) {
	part := gpu.Shared[int]()
	*part = 1
	x[0] = *gpu.ClusterShared(part, gpu.ClusterSize())
}

// ahead copies tiles while it adds up those before.
func ahead(x []float64, out []float64) {
	tile := gpu.Shared[[2][32]float64]()
	t, n := gpu.ThreadIdx.X, len(x)/32
	gpu.CopyAsync(&tile[0][t], &x[t])
	gpu.CommitCopies()
	sum := 0.0
	for i := range n {
		if i+1 < n {
			gpu.CopyAsync(&tile[(i+1)%2][t], &x[32*(i+1)+t])
		}
		gpu.CommitCopies()
		gpu.WaitCopies(1)
		gpu.SyncThreads()
		sum += tile[i%2][31-t]
		gpu.SyncThreads()
	}
	gpu.WaitCopies(0)
	out[t] = sum
}

func floats(x []float32, y []float64, inc []uint32, h []gpu.Float16) {
	i := gpu.GridRank()
	gpu.AtomicMin(&x[0], float32(100-i))
	gpu.AtomicMax(&x[1], float32(i))
	gpu.AtomicMax(&y[0], float64(i%50), gpu.BlockScope)
	gpu.AtomicMin(&y[1], -float64(i), gpu.SystemScope)
	gpu.AtomicInc(&inc[0], 6)
	gpu.AtomicDec(&inc[1], 6, gpu.SystemScope)
	gpu.AtomicAdd(&h[1], 0.5)
}
`

const clusterCUDA = `
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void neighbours(int *out) {
	__shared__ int mine;
	cg::cluster_group cluster = cg::this_cluster();
	if (threadIdx.x == 0) mine = 10 * blockIdx.x;
	cluster.sync();
	int *theirs = cluster.map_shared_rank(&mine, (cluster.block_rank() + 1) % cluster.num_blocks());
	if (threadIdx.x == 0) out[blockIdx.x] = *theirs;
	cluster.sync();
}
`

// Blocks of a cluster reach each other's shared memory, on a device and emulated.
func TestClusters(t *testing.T) {
	d, err := cuda.CurrentDevice()
	if err != nil {
		t.Fatal(err)
	}
	if major, _, err := d.ComputeCapability(); err != nil || major < 9 {
		t.Skip("the device has no clusters", err)
	}
	m, err := cuda.CompileGo(clusterSource)
	if err != nil {
		t.Fatal(err)
	}
	const threads, blocks = 64, 12
	x := make([]int64, threads*blocks)
	for i := range x {
		x[i] = int64(i * i)
	}
	for _, c := range [][2]int{{1, 1}, {4, 1}, {2, 3}, {1, 3}} { // of a grid of 4 by 3
		index := func(b int) int { return b/4/c[1]*(4/c[0]) + b%4/c[0] } // of a block's cluster
		rank := func(b int) int { return b/4%c[1]*c[0] + b%4%c[0] }
		sums, lasts, ranks := make([]int64, len(x)), make([]int64, blocks), make([]int64, blocks)
		for b := range blocks {
			ranks[b] = int64(rank(b))
			for o := range blocks {
				if index(o) != index(b) {
					continue
				}
				for i := range threads {
					sums[b*threads+i] += x[o*threads+i]
				}
				if rank(o) == (rank(b)+1)%(c[0]*c[1]) {
					lasts[b] = x[o*threads+threads-1]
				}
			}
		}
		k, err := m.Kernel("shares")
		if err != nil {
			t.Fatal(err)
		}
		k = k.With(cuda.SharedMemory(16))
		if c != [2]int{1, 1} {
			k = k.With(cuda.Clusters(c[0], c[1]))
		}
		eSums, eLasts, eRanks := make([]int64, len(x)), make([]int64, blocks), make([]int64, blocks)
		if err := k.Emulate(cuda.Grid(4, 3), cuda.Block(threads), x, eSums, eLasts, eRanks); err != nil {
			t.Fatal(err)
		}
		dSums, dLasts, dRanks := upload(t, d, eSums), upload(t, d, eLasts), upload(t, d, eRanks)
		for _, b := range []*cuda.Buffer{dSums, dLasts, dRanks} {
			if err := b.Memset(0xff); err != nil {
				t.Fatal(err)
			}
		}
		if err := k.Launch(cuda.Grid(4, 3), cuda.Block(threads), nil, upload(t, d, x), dSums, dLasts, dRanks); err != nil {
			t.Fatal(err)
		}
		if err := d.Synchronize(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(eSums, sums) || !slices.Equal(eLasts, lasts) || !slices.Equal(eRanks, ranks) {
			t.Errorf("clusters of %v, emulated: %v, want %v; %v, want %v", c, eLasts, lasts, eRanks, ranks)
		}
		check(t, dSums, func(i int) int64 { return sums[i] })
		check(t, dLasts, func(i int) int64 { return lasts[i] })
		check(t, dRanks, func(i int) int64 { return ranks[i] })
	}
	k, err := m.Kernel("beyond")
	if err != nil {
		t.Fatal(err)
	}
	const want = "index out of range [1] with length 1, in kernel beyond"
	if err := k.Emulate(cuda.Grid(1), cuda.Block(1), make([]int64, 1)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a block that there is not, emulated: %v", err)
	}
	if err := k.Launch(cuda.Grid(1), cuda.Block(1), nil, upload(t, d, make([]int64, 1))); err != nil {
		t.Fatal(err)
	}
	if err := d.Synchronize(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a block that there is not: %v", err)
	}
	inCUDA, err := cuda.Compile(clusterCUDA)
	if err != nil && strings.Contains(err.Error(), "open source file") {
		t.Skipf("the CUDA toolkit's headers are not beside NVRTC: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := upload(t, d, make([]int32, 6))
	if k, err = inCUDA.Kernel("neighbours"); err != nil {
		t.Fatal(err)
	}
	if err := k.With(cuda.Clusters(3)).Launch(cuda.Grid(6), cuda.Block(32), nil, out); err != nil {
		t.Fatal(err)
	}
	if err := d.Synchronize(); err != nil {
		t.Fatal(err)
	}
	check(t, out, func(i int) int32 { return int32(10 * (i/3*3 + (i+1)%3)) })
}

// What need not wait, and atomics of floating-point numbers.
func TestCopiesAndAtomics(t *testing.T) {
	d, err := cuda.CurrentDevice()
	if err != nil {
		t.Fatal(err)
	}
	m, err := cuda.CompileGo(clusterSource)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 160)
	for i := range x {
		x[i] = float64(i * i)
	}
	sum := func(i int) (s float64) {
		for k := range 5 {
			s += x[32*k+31-i]
		}
		return s
	}
	k, err := m.Kernel("ahead")
	if err != nil {
		t.Fatal(err)
	}
	out, emulated := upload(t, d, make([]float64, 32)), make([]float64, 32)
	if err := k.Emulate(cuda.Grid(1), cuda.Block(32), x, emulated); err != nil {
		t.Fatal(err)
	}
	launch(t, d, m, "ahead", cuda.Grid(1), cuda.Block(32), upload(t, d, x), out)
	check(t, out, sum)
	for i, v := range emulated {
		if v != sum(i) {
			t.Errorf("emulated, %d is %v", i, v)
		}
	}
	if k, err = m.Kernel("floats"); err != nil {
		t.Fatal(err)
	}
	f, g, n, h := []float32{50, 0}, []float64{0, 0}, []uint32{0, 0}, []uint16{0x1234, 0}
	df, dg, dn, dh := upload(t, d, f), upload(t, d, g), upload(t, d, n), upload(t, d, h)
	dh, err = dh.As(cuda.Float16)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Emulate(cuda.Grid(2), cuda.Block(64), f, g, n, h); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f, []float32{-27, 127}) || !slices.Equal(g, []float64{49, -127}) || !slices.Equal(n, []uint32{128 % 7, (7 - 128%7) % 7}) || !slices.Equal(h, []uint16{0x1234, 0x5400}) {
		t.Errorf("emulated: %v %v %v %x", f, g, n, h)
	}
	if err := k.Launch(cuda.Grid(2), cuda.Block(64), nil, df, dg, dn, dh); err != nil {
		t.Fatal(err)
	}
	if err := d.Synchronize(); err != nil {
		t.Fatal(err)
	}
	check(t, df, func(i int) float32 { return f[i] })
	check(t, dg, func(i int) float64 { return g[i] })
	check(t, dn, func(i int) uint32 { return n[i] })
	if dh, err = dh.As(cuda.Uint16); err != nil {
		t.Fatal(err)
	}
	check(t, dh, func(i int) uint16 { return h[i] })
}
