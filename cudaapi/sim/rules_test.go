package sim_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

func TestFreshMemoryHoldsGarbage(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	for _, n := range []uint64{64, 4096, 100_000, 3 << 20, 64 << 20} {
		p, err := b.d.MemAlloc(b.c, n)
		b.ok(err)
		for _, off := range []uint64{0, (n - 64) / 2, n - 64} {
			got := download[byte](b, p+driver.Ptr(off), 64)
			if bytes.Count(got, []byte{got[0]}) == 64 {
				t.Errorf("%d bytes: at %d all are %d", n, off, got[0])
			}
		}
		b.ok(b.d.MemFree(b.c, p))
	}
}

func TestKernelsSeeGarbageToo(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	k := b.kernel(`
__global__ void zeros(const int *x, int n, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] == 0) atomicAdd(count, 1);
}`)
	const n = 1 << 20
	p, err := b.d.MemAlloc(b.c, 4*n)
	b.ok(err)
	count := upload(b, []int32{0})
	b.ok(b.launch(k, dim(n/256), dim(256), 0, p, n, count))
	if got := download[int32](b, count, 1)[0]; got > n/1000 {
		t.Errorf("%d of %d words of fresh memory are 0", got, n)
	}
}

func TestMemoryIsLimited(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 2, Memory: 100 << 20})
	p, err := b.d.MemAlloc(b.c, 60<<20)
	b.ok(err)
	if _, err := b.d.MemAlloc(b.c, 60<<20); !errors.Is(err, driver.ErrOutOfMemory) || !strings.Contains(err.Error(), "device 0") {
		t.Errorf("120 of 100 MiB: %v", err)
	}
	if _, err := b.d.MemAlloc(retain(t, b.d, 1), 60<<20); err != nil {
		t.Errorf("the other device: %v", err)
	}
	b.ok(b.d.MemFree(b.c, p))
	for range 1000 { // and again and again
		p, err := b.d.MemAlloc(b.c, 60<<20)
		b.ok(err)
		b.ok(b.d.MemFree(b.c, p))
	}
}

// TestFragments fills memory with small blocks, frees every other and then the
// rest: what is left must serve a large one again.
func TestFragments(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1, Memory: 64 << 20})
	for range 3 {
		var all []driver.Ptr
		for {
			p, err := b.d.MemAlloc(b.c, 100_000)
			if err != nil {
				break
			}
			all = append(all, p)
		}
		if len(all) < 600 {
			t.Fatalf("%d blocks of 100000 bytes fit 64 MiB", len(all))
		}
		for i := 0; i < len(all); i += 2 {
			b.ok(b.d.MemFree(b.c, all[i]))
		}
		for i := 1; i < len(all); i += 2 {
			b.ok(b.d.MemFree(b.c, all[i]))
		}
		p, err := b.d.MemAlloc(b.c, 60<<20)
		b.ok(err)
		b.ok(b.d.MemFree(b.c, p))
	}
}

func TestBadPointers(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 2})
	p, freed := upload(b, make([]byte, 1000)), upload(b, make([]byte, 1000))
	b.ok(b.d.MemFree(b.c, freed))
	host := make([]byte, 1000)
	for _, c := range []struct {
		name string
		err  error
	}{
		{"free twice", b.d.MemFree(b.c, freed)},
		{"free the middle", b.d.MemFree(b.c, p+8)},
		{"free host memory", b.d.MemFree(b.c, ptr(host))},
		{"free pinned memory that is device memory", b.d.HostFree(b.c, p)},
		{"copy from freed memory", b.d.Memcpy(b.c, ptr(host), freed, 10)},
		{"copy past the end", b.d.Memcpy(b.c, ptr(host), p+500, 501)},
		{"copy from nil", b.d.Memcpy(b.c, ptr(host), 0, 10)},
		{"fill host memory", b.d.Memset(b.c, ptr(host), 0, 1, 10)},
		{"a word across the end", b.d.StreamWriteValue32(b.c, 0, p+998, 1)},
		{"an odd word", b.d.StreamWriteValue32(b.c, 0, p+1, 1)},
		{"peer copy of the wrong device's memory", b.d.MemcpyPeer(p, retain(t, b.d, 1), p, b.c, 10)},
	} {
		if !errors.Is(c.err, driver.ErrInvalidValue) {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
	if _, err := b.d.MemAlloc(0, 1); !errors.Is(err, driver.ErrInvalidContext) {
		t.Errorf("no context: %v", err)
	}
}

func TestPeersMustBeEnabled(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 2})
	other := retain(t, b.d, 1)
	x, err := b.d.MemAlloc(other, 1024)
	b.ok(err)
	y := upload(b, make([]float32, 256))
	k := b.kernel(saxpy)
	b.ok(b.d.EnablePeerAccess(b.c, other))
	b.ok(b.launch(k, dim(1), dim(256), 0, 256, float32(2), x, y))
	b.ok(b.sync())
	b.ok(b.d.DisablePeerAccess(b.c, other))
	b.ok(b.launch(k, dim(1), dim(256), 0, 256, float32(2), x, y))
	if err := b.sync(); !errors.Is(err, driver.ErrIllegalAddress) || !strings.Contains(err.Error(), "peer access from device 0") {
		t.Errorf("without access: %v", err)
	}
}

func TestLaunchOnAnotherDevicesStream(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 2})
	other := retain(t, b.d, 1)
	s, err := b.d.StreamCreate(other, 0, 0)
	b.ok(err)
	k := b.kernel(`__global__ void nothing() {}`)
	l := &driver.Launch{Function: k, Grid: dim(1), Block: dim(1), Stream: s}
	if err := b.d.Launch(b.c, l); !errors.Is(err, driver.ErrInvalidHandle) {
		t.Errorf("%v", err)
	}
	l.Stream = 0
	if err := b.d.Launch(other, l); !errors.Is(err, driver.ErrInvalidHandle) {
		t.Errorf("a kernel of another device: %v", err)
	}
}

// TestIllegalAccesses has one kernel for each way to go wrong.
func TestIllegalAccesses(t *testing.T) {
	for _, c := range []struct {
		name, body, want string
		code             driver.Code
	}{
		{"nil", "*(int *)0 = 1;", "nil pointer", driver.ErrIllegalAddress},
		{"before the start", "x[-1] = 1;", "4 bytes before an allocation of 4000 bytes", driver.ErrIllegalAddress},
		{"past the end", "if (threadIdx.x == 3) x[1000] = 1;", "thread (3,0,0): illegal write of 4 bytes", driver.ErrIllegalAddress},
		{"a read past the end", "x[0] = x[1000 + threadIdx.x];", "illegal read of 4 bytes", driver.ErrIllegalAddress},
		{"across the end", "x[0] = *(int *)((char *)x + 3998);", "", driver.ErrMisalignedAddress},
		{"an atomic past the end", "atomicAdd(&x[1000], 1);", "0 bytes past the end", driver.ErrIllegalAddress},
		{"misaligned", "*(double *)(x + 1) = 1;", "8 bytes", driver.ErrMisalignedAddress},
		{"assert", "assert(x == nullptr);", "assertion `x == nullptr` failed", driver.ErrAssert},
		{"trap", "if (threadIdx.x == 7) __trap();", "thread (7,0,0)", driver.ErrLaunchFailed},
		{"host memory", "*(int *)host = 1;", "not memory that devices can reach", driver.ErrIllegalAddress},
		{"no dynamic shared memory", "extern __shared__ int s[]; if (threadIdx.x == 2) s[threadIdx.x] = 1;", "illegal write of 4 bytes, 8 bytes past the end of the block's dynamic shared memory, of which the launch gave 0 bytes", driver.ErrIllegalAddress},
		{"after a barrier", "__syncthreads(); if (threadIdx.x == 31) x[2000] = 1;", "thread (31,0,0)", driver.ErrIllegalAddress},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBox(t, sim.Options{Devices: 1})
			var word int64
			x := upload(b, make([]int32, 1000))
			k := b.kernel("__global__ void wrong(int *x, void *host) { " + c.body + " }")
			b.ok(b.launch(k, dim(1), dim(32), 0, x, driver.Ptr(uintptr(unsafe.Pointer(&word)))))
			err := b.sync()
			if !errors.Is(err, c.code) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "wrong") {
				t.Errorf("%v, want %v with %q", err, c.code, c.want)
			}
			if err := b.d.Memset(b.c, x, 0, 1, 4); !errors.Is(err, c.code) {
				t.Errorf("after it: %v", err)
			}
		})
	}
}

// TestStackOverflow has a thread call itself without end: a stack of CUDA's
// threads has an end too, and nothing else may be harmed.
func TestStackOverflow(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("stacks are watched on x86-64")
	}
	b := newBox(t, sim.Options{Devices: 1})
	k := b.kernel(`
__device__ int deep(int n, volatile int *x) {
    volatile int a[100];
    a[n % 100] = n;
    return n == x[0] ? a[0] : deep(n + 1, x) + a[n % 100];
}
__global__ void dive(int *x) { if (threadIdx.x == 40) x[1] = deep(0, x); }`)
	x := upload(b, []int32{100, 0})
	b.ok(b.launch(k, dim(1), dim(64), 0, x))
	b.ok(b.sync())
	b.ok(b.d.Memset(b.c, x, 0xff, 1, 4)) // never reached
	b.ok(b.launch(k, dim(1), dim(64), 0, x))
	if err := b.sync(); !errors.Is(err, driver.ErrHardwareStack) || !strings.Contains(err.Error(), "thread (40,0,0)") {
		t.Errorf("%v", err)
	}
}

func TestUseAfterFreeInAKernel(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	x, y := upload(b, make([]float32, 256)), upload(b, make([]float32, 256))
	b.ok(b.d.MemFree(b.c, y))
	b.ok(b.launch(b.kernel(saxpy), dim(1), dim(256), 0, 256, float32(2), x, y))
	if err := b.sync(); !errors.Is(err, driver.ErrIllegalAddress) {
		t.Errorf("%v", err)
	}
}

func TestCompileErrors(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	for _, c := range []struct {
		code    string
		options []string
		want    []string
	}{
		{"__global__ void f(int *x) {\n    x[0] = y;\n}\n", nil, []string{"bad.cu(2): error:", "'y'", "\n      x[0] = y;\n             ^\n", "1 error detected in the compilation of \"bad.cu\"."}},
		{"#define TWICE(x) (2 * (x))\n#line 7 \"other.cu\"\n__device__ void f() {\n\tint a = /* é y */ TWICE(3) + y + y; // y\n}\n", nil, []string{"other.cu(8): error:", "\n   int a = /* é y */ TWICE(3) + y + y; // y\n                                 ^\n"}},
		{"#include \"nowhere.h\"\n", nil, []string{"bad.cu(1): error:", "nowhere.h"}},
		{"\n\n#error never\n", nil, []string{"bad.cu(3): error: ", "#error never"}},
		{"__global__ void f() {}", []string{"--no-such-option"}, []string{"--no-such-option"}},
		{"__global__ void f() {}\n#define N 3\n__global__ void g() {\n    int n = 1 << N;\n    f<<<n, 1>>>();\n}\n", nil,
			[]string{"bad.cu(5): error: a launch by <<<...>>>", "\n      f<<<n, 1>>>();\n       ^\n"}},
		{"int main() { int *p; cudaMalloc(&p, 4); }", nil, []string{"'cudaMalloc'", "the CUDA runtime is called from Go here"}},
		{"__device__ float f(cudaTextureObject_t t) { return tex2D<float>(t, 1, 2); }", nil, []string{"bad.cu(1): error: ", "'tex2D'", "textures and surfaces need NVRTC on simulated devices: pip install"}},
		{"#include <mma.h>\n", nil, []string{"bad.cu(1): error: ", "mma.h", "tensor cores need NVRTC on simulated devices: pip install"}},
		{"__device__ int f(int v) { return __shfl_down(v, 1); }", nil, []string{"'__shfl_down'", "..._sync"}},
	} {
		_, err := b.d.Compile(0, &driver.Source{Name: "bad.cu", Code: c.code, Options: c.options})
		if err == nil {
			t.Errorf("%q compiled", c.code)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v\nlacks %q", err, want)
			}
		}
	}
}

func TestNotAnImage(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	for _, image := range []string{"", "not an image", "\x7fELF\x02\x01\x01"} {
		if _, err := b.d.ModuleLoad(b.c, []byte(image)); !errors.Is(err, driver.ErrInvalidImage) {
			t.Errorf("%q: %v", image, err)
		}
	}
}

func TestNoCompiler(t *testing.T) {
	if os.Getenv("GOCUDA_TEST_NO_COMPILER") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestNoCompiler$")
		cmd.Env = append(os.Environ(), "GOCUDA_TEST_NO_COMPILER=1", "PATH=/nowhere", "CXX=c++-of-another-machine")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	b := newBox(t, sim.Options{Devices: 1})
	_, err := b.d.Compile(0, &driver.Source{Name: "f.cu", Code: "__global__ void f() {}"})
	if !errors.Is(err, driver.ErrFileNotFound) {
		t.Fatal(err)
	}
	for _, want := range []string{"c++-of-another-machine", "g++", "clang++", "CXX"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
}

func TestCompilationIsCached(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	b := newBox(t, sim.Options{Devices: 1})
	for i, want := range []bool{false, true} {
		out, err := b.d.Compile(0, &driver.Source{Name: "cached.cu", Code: saxpy})
		b.ok(err)
		if out.Cached != want || out.Lowered["saxpy"] == "" {
			t.Errorf("time %d: cached %v, names %v", i+1, out.Cached, out.Lowered)
		}
	}
}

func TestFromEnv(t *testing.T) {
	for _, c := range []struct{ name, value, bad string }{
		{"GOCUDA_SIM_DEVICES", "8", "0"},
		{"GOCUDA_SIM_DEVICES", "1024", "1025"},
		{"GOCUDA_SIM_NODES", "128x8", "8"},
		{"GOCUDA_SIM_NODES", "1024x1", "0x8"},
		{"GOCUDA_SIM_NODES", "2x3", "2x"},
		{"GOCUDA_SIM_NODES", "3x2", "129x8"},
		{"GOCUDA_SIM_NODES", "1x2", "-1x-8"},
		{"GOCUDA_SIM_NODES", "2x2", "4294967297x4294967296"},
		{"GOCUDA_SIM_MEMORY", "512M", "many"},
		{"GOCUDA_SIM_SEED", "0x7f", "-1"},
		{"GOCUDA_SIM_SCHEDULE", "adversarial", "fair"},
		{"GOCUDA_SIM_CHECK", "0", "maybe"},
		{"GOCUDA_SIM_PROFILE", "h100", "abacus"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, err := sim.FromEnv()
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv(c.name, c.value)
			after, err := sim.FromEnv()
			if err != nil || fmt.Sprint(after) == fmt.Sprint(before) {
				t.Errorf("%s=%s: %+v, %v", c.name, c.value, after, err)
			}
			t.Setenv(c.name, c.bad)
			if _, err := sim.FromEnv(); err == nil || !strings.Contains(err.Error(), c.name) {
				t.Errorf("%s=%s: %v", c.name, c.bad, err)
			}
		})
	}
}

// A division by zero is reported with its place; it ends neither the kernel nor
// the process.
func TestDivisionByZeroIsReported(t *testing.T) {
	if os.Getenv("GOCUDA_TEST_ZERO") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestDivisionByZeroIsReported$")
		cmd.Env = append(os.Environ(), "GOCUDA_TEST_ZERO=1")
		out, err := cmd.CombinedOutput()
		want := "kernel k, line 4, block (1,0,0), thread (3,0,0): an integer division by zero; its result is undefined in CUDA"
		if runtime.GOARCH != "amd64" {
			want = ""
		}
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, %s; want %q", err, out, want)
		}
		return
	}
	b := newBox(t, sim.Options{Devices: 1})
	k := b.kernel(`
__global__ void k(int *x, int z) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i == 35 ? i / (z - i) + i % (z - i) : i / z;
}`)
	x := upload(b, make([]int32, 64))
	b.ok(b.launch(k, dim(2), dim(32), 0, x, 35))
	b.ok(b.sync())
	if got := download[int32](b, x, 64); got[34] != 0 || got[35] == 0 || got[36] != 1 {
		t.Errorf("%d", got)
	}
}

// NVRTC moves a division out of a loop, and so before the comparison that keeps the program from
// dividing by zero: that is not reported.
func TestDivisionMovedOutOfALoopIsNotReported(t *testing.T) {
	if os.Getenv("GOCUDA_TEST_ZERO") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestDivisionMovedOutOfALoopIsNotReported$")
		cmd.Env = append(os.Environ(), "GOCUDA_TEST_ZERO=1")
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), "kernel moved") || !strings.Contains(string(out), "kernel used") {
			t.Errorf("%v, %s", err, out)
		}
		return
	}
	const head = "(.param .u64 x) {\n.reg .b32 %r<9>;\n.reg .b64 %d<2>;\n.reg .pred %p;\nld.param.u64 %d0, [x];\nld.global.u32 %r0, [%d0];\nsetp.eq.s32 %p, %r0, 0;\ndiv.u32 %r1, 7, %r0;\n"
	b := newBox(t, ofPTX(".visible .entry moved"+head+"@%p bra END;\nst.global.u32 [%d0], %r1;\nEND:\nret;\n}\n.visible .entry used"+head+"add.u32 %r1, %r1, 1;\n@%p bra END;\nst.global.u32 [%d0], %r1;\nEND:\nret;\n}\n"))
	m := b.load(&driver.Source{Name: "zero.ptx"})
	for _, name := range []string{"moved", "used"} {
		f, err := b.d.ModuleFunction(b.c, m, name)
		b.ok(err)
		b.ok(b.launch(f, dim(1), dim(1), 0, upload(b, []int32{0})))
		b.ok(b.sync())
	}
}
