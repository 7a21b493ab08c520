//go:build linux && (amd64 || arm64)

package nvidia

import (
	"encoding/binary"
	"runtime"
	"testing"
	"unsafe"

	"gocuda/cudaapi/driver"
)

// workbench is a device with a stream, a kernel's module and words for results.
type workbench struct {
	*Driver
	ctx    driver.Context
	stream driver.Stream
	module driver.Module
	words  driver.Ptr
}

func newWorkbench(t *testing.T, code string) *workbench {
	t.Helper()
	d := gpu(t)
	if major, err := d.DeviceAttribute(driver.ComputeCapabilityMajor, 0); err != nil || major < 9 {
		t.Skipf("clusters and programmatic launches need compute capability 9.0 (%d, %v)", major, err)
	}
	ctx, err := d.PrimaryRetain(0)
	check(t, err)
	out, err := d.Compile(0, &driver.Source{Name: "launch.cu", Code: code})
	if err != nil {
		t.Skip(err)
	}
	m, err := d.ModuleLoad(ctx, out.Image)
	check(t, err)
	s, err := d.StreamCreate(ctx, driver.StreamNonBlocking, 0)
	check(t, err)
	p, err := d.MemAlloc(ctx, 4096)
	check(t, err)
	check(t, d.MemsetAsync(ctx, p, 0, 1, 4096, s))
	return &workbench{d, ctx, s, m, p}
}

func (w *workbench) launch(t *testing.T, name string, blocks uint32, a *driver.LaunchAttributes) {
	t.Helper()
	f, err := w.ModuleFunction(w.ctx, w.module, name)
	check(t, err)
	check(t, w.Launch(w.ctx, &driver.Launch{Function: f, Grid: driver.Dim3{X: blocks, Y: 1, Z: 1}, Block: driver.Dim3{X: 1, Y: 1, Z: 1},
		Stream: w.stream, Params: binary.LittleEndian.AppendUint64(nil, uint64(w.words)), Attributes: a}))
}

func (w *workbench) results(t *testing.T, n int) []uint32 {
	t.Helper()
	check(t, w.StreamSynchronize(w.ctx, w.stream, nil))
	out := make([]uint32, n)
	check(t, w.Memcpy(w.ctx, driver.Ptr(pin(unsafe.SliceData(out))), w.words, uint64(4*n)))
	runtime.KeepAlive(out)
	return out
}

// TestClusters asks each block how large its cluster is, and reads the shared
// memory of the cluster's other block.
func TestClusters(t *testing.T) {
	w := newWorkbench(t, `extern "C" __global__ void rank(unsigned *p) {
	__shared__ unsigned mine;
	unsigned size, rank, far, other;
	asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
	asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
	mine = 100 + blockIdx.x;
	asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
	unsigned at = (unsigned)__cvta_generic_to_shared(&mine);
	asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(at), "r"(rank ^ 1));
	asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(other) : "r"(far) : "memory");
	asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
	p[2 * blockIdx.x] = size;
	p[2 * blockIdx.x + 1] = other;
}`)
	w.launch(t, "rank", 4, &driver.LaunchAttributes{Cluster: driver.Dim3{X: 2, Y: 1, Z: 1}})
	for i, want := range []uint32{2, 101, 2, 100, 2, 103, 2, 102} {
		if got := w.results(t, 8); got[i] != want {
			t.Fatalf("%v", got)
		}
	}
}

// TestProgrammaticLaunch has a kernel wait for the one after it, which only an
// overlap of the two lets it see.
func TestProgrammaticLaunch(t *testing.T) {
	w := newWorkbench(t, `extern "C" __global__ void first(volatile unsigned *p) {
	asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
	long long until = clock64() + 2000000000;
	while (p[0] == 0 && clock64() < until) {}
	p[1] = p[0];
}
extern "C" __global__ void second(volatile unsigned *p) {
	p[0] = 7;
	__threadfence();
	asm volatile("griddepcontrol.wait;" ::: "memory");
	p[2] = p[1] + 1;
}`)
	// Once before: what is loaded at its first launch waits for the device.
	w.launch(t, "second", 1, nil)
	w.launch(t, "first", 1, nil)
	check(t, w.MemsetAsync(w.ctx, w.words, 0, 1, 12, w.stream))
	check(t, w.StreamSynchronize(w.ctx, w.stream, nil))
	w.launch(t, "first", 1, nil)
	w.launch(t, "second", 1, &driver.LaunchAttributes{Programmatic: true})
	if got := w.results(t, 3); got[0] != 7 || got[1] != 7 || got[2] != 8 {
		t.Errorf("overlapping: %v, want [7 7 8]", got)
	}
	w.launch(t, "first", 1, nil) // which sees the old 7 at once
	check(t, w.MemsetAsync(w.ctx, w.words, 0, 1, 12, w.stream))
	w.launch(t, "first", 1, nil)
	w.launch(t, "second", 1, nil)
	if got := w.results(t, 3); got[1] != 0 || got[2] != 1 {
		t.Errorf("one after the other: %v, want [7 0 1]", got)
	}
}
