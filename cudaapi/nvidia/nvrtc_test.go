//go:build linux && (amd64 || arm64)

package nvidia

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/driver/drivertest"
	"gocuda/cudaapi/internal/clib"
)

// nvrtc gives NVRTC, which needs no GPU, or skips.
func nvrtc(t *testing.T) *Compiler {
	t.Helper()
	c, err := OpenCompiler(0)
	if err != nil {
		t.Skipf("no NVRTC here: %v", err)
	}
	return c
}

const axpy = `
template <class T> __global__ void axpy(int n, T a, const T *x, T *y) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] += a * x[i];
}
__global__ void plain() { int unused = 1; }
`

func TestCompile(t *testing.T) {
	c := nvrtc(t)
	out, err := c.Compile(&driver.Source{Name: "Cell [3]", Code: axpy, Names: []string{"axpy<float>", "plain"}}, "sm_90")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(out.Image), "\x7fELF") {
		t.Errorf("the image is not a CUBIN: %q...", out.Image[:4])
	}
	if got := out.Lowered["axpy<float>"]; !strings.HasPrefix(got, "_Z4axpyIfE") {
		t.Errorf("axpy<float> is %q", got)
	}
	if !strings.Contains(out.Log, "Cell [3](6)") {
		t.Errorf("the warning does not name the cell and line: %q", out.Log)
	}
}

// TestWhatNvccTakes compiles what nvcc takes, and NVRTC by itself does not.
func TestWhatNvccTakes(t *testing.T) {
	c := nvrtc(t)
	for name, code := range map[string]string{
		"128 bits":       "__global__ void k(unsigned long long *x) { unsigned __int128 p = (unsigned __int128)x[0] * x[1]; x[0] = p >> 64; }\n",
		"register":       "__global__ void k(int *x) { register int i = *x; *x = 2 * i; }\n",
		"least integers": "#include <cstdint>\n__global__ void k(std::int_least32_t *x, std::uint_fast8_t f, std::uintmax_t m) { *x = f + m; }\n",
	} {
		if _, err := c.Compile(&driver.Source{Name: "a.cu", Code: code}, "compute_90"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCompileErrorNamesTheLine(t *testing.T) {
	c := nvrtc(t)
	_, err := c.Compile(&driver.Source{Name: "Cell [7]", Code: "__global__ void k() {\n  int x = y;\n}\n"}, "sm_90")
	if !errors.Is(err, driver.ErrInvalidSource) || !strings.Contains(err.Error(), `Cell [7](2): error: identifier "y" is undefined`) {
		t.Fatalf("got %v", err)
	}
}

func TestCompileFindsCUDAHeaders(t *testing.T) {
	c := nvrtc(t)
	if len(c.Include()) == 0 {
		t.Skip("no CUDA headers beside NVRTC")
	}
	if !hasCore(c) {
		t.Skip("CUDA's headers are here without its C++ core libraries")
	}
	code := "#include <cooperative_groups.h>\n#include <cuda_fp16.h>\n__global__ void k(__half *h) { cooperative_groups::this_thread_block().sync(); *h = __float2half(1); }\n"
	if _, err := c.Compile(&driver.Source{Name: "headers.cu", Code: code, Names: []string{"k"}}, "sm_90"); err != nil {
		t.Fatal(err)
	}
}

// TestMissingCoreLibraries is about pip's nvidia-cuda-runtime, whose headers include
// some of another package.
func TestMissingCoreLibraries(t *testing.T) {
	found := nvrtc(t)
	c := &Compiler{lib: found.lib, major: found.major, minor: found.minor}
	for _, header := range []string{"nv/target", "cuda/std/atomic", "cuda/std/cmath"} {
		_, err := c.Compile(&driver.Source{Name: "a.cu", Code: "#include <" + header + ">\n"}, "sm_90")
		if err == nil || !strings.Contains(err.Error(), "pip install "+c.pip("nvidia-cuda-cccl")) {
			t.Errorf("%s: %v", header, err)
		}
	}
	c.include = nil
	if _, err := c.Compile(&driver.Source{Name: "a.cu", Code: "#include <mma.h>\n"}, "sm_90"); err == nil ||
		!strings.Contains(err.Error(), "pip install "+map[bool]string{true: "nvidia-cuda-runtime nvidia-cuda-crt", false: "nvidia-cuda-runtime-cu12 nvidia-cuda-nvcc-cu12"}[c.major > 12]) {
		t.Errorf("mma.h: %v", err)
	}
	_, err := c.Compile(&driver.Source{Name: "a.cu", Code: "#include <mine.h>\n"}, "sm_90")
	if err == nil || strings.Contains(err.Error(), "cccl") {
		t.Errorf("mine.h: %v", err)
	}
}

// hasCore says whether CUDA's headers are there, with the C++ core libraries.
func hasCore(c *Compiler) bool {
	_, err := c.Compile(&driver.Source{Name: "core.cu", Code: "#include <cuda_runtime.h>\n#include <nv/target>\n"}, "sm_90")
	return err == nil
}

// TestCompileStandardHeaders includes what sources include by habit, alone and
// beside CUDA's own headers.
func TestCompileStandardHeaders(t *testing.T) {
	found := nvrtc(t)
	code := "#include <cuda_runtime.h>\n"
	for name := range standardHeaders {
		code += "#include <" + name + ">\n"
	}
	code += `extern "C" __global__ void k(int32_t n, std::uint64_t *out, size_t m, float x) {
	assert(n > 0);
	if (n == INT_MAX) printf("%d\n", n);
	*out = (uint64_t)(sqrtf(x) * M_PI) + UINT32_MAX + m + (x < FLT_MAX ? 1 : 0) + (x == INFINITY);
}`
	bare := &Compiler{lib: found.lib, major: found.major, minor: found.minor}
	for name, c := range map[string]*Compiler{"with CUDA's headers": found, "without": bare} {
		for _, extra := range []string{"", "#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n#include <cuda/std/cstdint>\n"} {
			if extra != "" && !hasCore(c) {
				continue
			}
			if _, err := c.Compile(&driver.Source{Name: "habit.cu", Code: extra + code}, "sm_90"); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if extra != "" {
				if _, err := c.Compile(&driver.Source{Name: "habit.cu", Code: code + "\n" + extra}, "sm_90"); err != nil {
					t.Errorf("%s, CUDA's last: %v", name, err)
				}
			}
		}
	}
}

func TestCompileRefusesABadOption(t *testing.T) {
	c := nvrtc(t)
	_, err := c.Compile(&driver.Source{Name: "a.cu", Code: axpy, Options: []string{"--no-such-option"}}, "sm_90")
	if err == nil || !strings.Contains(err.Error(), "--no-such-option") {
		t.Fatalf("got %v", err)
	}
}

func TestCache(t *testing.T) {
	c := nvrtc(t)
	dir := t.TempDir()
	t.Setenv("GOCUDA_CACHE", dir)
	compile := func(name, code string, options ...string) *driver.Compiled {
		t.Helper()
		out, err := c.cached(&driver.Source{Name: name, Code: code, Options: options, Names: []string{"plain"}}, "sm_90")
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := compile("Cell [1]", axpy)
	again := compile("Cell [2]", axpy)
	if first.Cached || !again.Cached {
		t.Fatalf("cached: first %v, again %v", first.Cached, again.Cached)
	}
	if string(first.Image) != string(again.Image) || first.Lowered["plain"] != again.Lowered["plain"] {
		t.Error("the cached code differs")
	}
	if !strings.Contains(again.Log, "Cell [2](6)") || strings.Contains(again.Log, "Cell [1]") {
		t.Errorf("the cached log names another cell: %q", again.Log)
	}
	if compile("Cell [2]", axpy, "-DN=1").Cached {
		t.Error("other options found the same code")
	}
	if compile("Cell [2]", axpy+" ").Cached {
		t.Error("other code found the same code")
	}
	files, _ := filepath.Glob(dir + "/nvrtc/" + strings.Repeat("[0-9a-f]", 64))
	if len(files) != 3 {
		t.Errorf("%d entries for three compilations", len(files))
	}
	for _, f := range files { // damage every entry
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2] ^= 1
		if err := os.WriteFile(f, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if compile("Cell [1]", axpy).Cached {
		t.Error("a damaged entry was taken")
	}
	if !compile("Cell [1]", axpy).Cached {
		t.Error("a damaged entry was not replaced")
	}
}

func TestMissingLibraryNamesWhatWasTried(t *testing.T) {
	_, err := clib.Open("the CUDA driver library", []string{"/no/such/libcuda.so.1", "libnothing.so.9"}, symbolNames[:])
	if err == nil {
		t.Fatal("opened")
	}
	for _, want := range []string{"/no/such/libcuda.so.1", "libnothing.so.9", "cannot open shared object file"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
}

// NVRTC takes what the conformance suite runs. No GPU is needed for that.
func TestCompileSnippets(t *testing.T) {
	c := nvrtc(t)
	for _, s := range drivertest.Snippets() {
		made, err := c.Compile(s, "sm_90")
		switch {
		case err != nil && !hasCore(c) && strings.Contains(err.Error(), "pip install nvidia-cuda-cccl"):
		case err != nil:
			t.Error(err)
		case made.Log != "":
			t.Errorf("%s: %s", s.Name, made.Log)
		}
	}
}

func TestCompileRefusesHeadersOfTheHost(t *testing.T) {
	c := nvrtc(t)
	_, err := c.Compile(&driver.Source{Name: "case.cu", Code: "#include <stdio.h>\n#include <vector>\n__global__ void f() {}\n"}, "sm_90")
	if err == nil || !strings.Contains(err.Error(), "case.cu(2): error: <vector> is a header for code of the host") || strings.Contains(err.Error(), "catastrophic") {
		t.Error(err)
	}
}
