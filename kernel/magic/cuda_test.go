package magic

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
)

// Without an NVRTC that is named, what machines have of it must not matter.
func init() {
	if os.Getenv("GOCUDA_NVRTC") == "" {
		os.Setenv("GOCUDA_SIM_CUDA", "c++")
	}
}

func needsCompiler(t *testing.T) {
	t.Setenv("GOCUDA_BACKEND", "sim")
	for _, name := range []string{"g++", "clang++"} {
		if _, err := exec.LookPath(name); err == nil {
			return
		}
	}
	t.Skip("simulated devices need g++ or clang++")
}

const saxpy = `%%cuda --name m -DSCALE=2
__constant__ float offset;
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = SCALE * a * x[i] + y[i] + offset;
}
namespace deep { __global__ void copy(float *p) { *p = 1; } }
`

func TestCUDA(t *testing.T) {
	needsCompiler(t)
	r, err := run(t, saxpy)
	if err != nil {
		t.Fatal(err)
	}
	if want := "compiled: saxpy, copy_ (deep::copy), module m\n"; r.text() != want {
		t.Errorf("printed %q, want %q", r.text(), want)
	}
	kernel, ok := r.defined["saxpy"].(*cuda.Kernel)
	module, ok2 := r.defined["m"].(*cuda.Module)
	if _, ok3 := r.defined["copy_"].(*cuda.Kernel); !ok || !ok2 || !ok3 {
		t.Fatalf("defined %v", r.defined)
	}
	dev, err := cuda.CurrentDevice()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	x, err := dev.Alloc(3, cuda.Float32)
	check(err)
	y, err := dev.Alloc(3, cuda.Float32)
	check(err)
	check(x.Upload([]float32{1, 2, 3}))
	check(y.Upload([]float32{10, 20, 30}))
	offset, err := module.Global(dev, "offset", cuda.Float32)
	check(err)
	check(offset.Upload([]float32{0.5}))
	check(kernel.Launch(cuda.Grid(1), cuda.Block(32), nil, 3, 5.0, x, y))
	got := make([]float32, 3)
	check(y.Download(got))
	if got[0] != 20.5 || got[1] != 40.5 || got[2] != 60.5 {
		t.Errorf("saxpy made %v", got)
	}
}

func TestCUDATemplates(t *testing.T) {
	needsCompiler(t)
	r, err := run(t, "%%cuda --instantiate 'fill<double>' --instantiate=fill<int>\ntemplate<typename T> __global__ void fill(T *p, T v) { *p = v; }\n")
	if err != nil || r.text() != "compiled: fill_double (fill<double>), fill_int (fill<int>)\n" {
		t.Errorf("printed %q, %v", r.text(), err)
	}
}

func TestCUDAErrors(t *testing.T) {
	needsCompiler(t)
	for code, want := range map[string][]string{
		"// a comment\n\n%%cuda\n\n__global__ void f() {\n    nosuch = 1;\n}\n": {"CompileError", "does not compile", "In[3]:6:5: error", "nosuch"},
		"%%cuda\n__device__ int x;\n":                                           {"CompileError", "there is no __global__ function in this cell"},
		"%%cuda\n":                                                              {"UsageError", "there is no CUDA C++ below the first line"},
		"%%cuda saxpy\nx":                                                       {"UsageError", `"saxpy" is not an option`},
		"%%cuda --name\nx":                                                      {"UsageError", "--name needs a value"},
		"%%cuda --name 1m\nx":                                                   {"UsageError", `"1m" cannot be the name of a Go variable`},
		"%%cuda\n__global__ void two(int *x) {}\n__global__ void two(int *y) {}":                 {"CompileError", "does not compile", "two"},
		"%%cuda --instantiate nosuch<int>\n__global__ void f() {}":                               {"CompileError", `no kernel template for "nosuch<int>"`},
		"%%cuda\nnamespace a { __global__ void f() {} }\nnamespace b { __global__ void f() {} }": {"CompileError", "two kernels of this cell would be the Go variable f"},
	} {
		_, err := run(t, code)
		var e *Error
		if !errors.As(err, &e) || e.Name != want[0] {
			t.Errorf("%q: got %v, want %v", code, err, want)
			continue
		}
		if first, _, _ := strings.Cut(e.Message, "\n"); strings.Contains(first, "does not compile") && len(want) > 2 && !strings.Contains(first, "error") && !strings.Contains(first, want[2]) {
			t.Errorf("%q: the first line does not have the first error: %s", code, first)
		}
		for _, part := range want[1:] {
			if !strings.Contains(e.Message, part) {
				t.Errorf("%q: %q is not in %q", code, part, e.Message)
			}
		}
	}
}

func TestCUDAIsInterrupted(t *testing.T) {
	needsCompiler(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	if _, err := compileWithin(ctx, func() (*cuda.Module, error) { return cuda.Compile("__global__ void g() {}") }); err != stop {
		t.Errorf("ended with %v", err)
	}
	if err := standard.Run(ctx, &recorder{}, saxpy); err != stop {
		t.Errorf("an interrupted cell ended with %v", err)
	}
}

func TestGoVariable(t *testing.T) {
	for kernel, want := range map[string]string{"saxpy": "saxpy", "a::b::f": "f", "axpy<float>": "axpy_float", "ns::sum<unsigned int, 4>": "sum_unsigned_int_4",
		"range": "range_", "copy": "copy_", "init": "init_", "k<(ns::T)1>": "k_ns_T_1", "len<int>": "len_int"} {
		if got := goVariable(kernel); got != want {
			t.Errorf("%s is %s in Go, want %s", kernel, got, want)
		}
	}
}

func TestCUDAPlaces(t *testing.T) {
	source := "\n\tint é = y;\n"
	for log, want := range map[string]string{
		"cell(2): error: no y\n  \tint é = y;\n  \t         ^\n\n1 error detected in the compilation of \"cell\".":     "In[5]:2:11: error: no y\n  \tint é = y;\n  \t         ^\n\n1 error detected in the compilation of \"In[5]\".",
		"cell(2): error: none matches\n    argument types are: (int)\n  \tint é = y;\n  \t         ^\n":                "In[5]:2:11: error: none matches\n    argument types are: (int)\n  \tint é = y;\n  \t         ^\n",
		"In[2](1): catastrophic error: could not open source file \"y\" (no directories)\n  int y = z;\n            ^": "In[2]:1:4: catastrophic error: could not open source file \"y\" (no directories)\n  int y = z;\n            ^",
		"cell(2): warning #177-D: unused\n":                "In[5]:2: warning #177-D: unused\n",
		"cell(9): note: far\n  x\n  ^":                     "In[5]:9: note: far\n  x\n  ^",
		"cell:2:11: error: no y":                           "In[5]:2:11: error: no y",
		"In[2](1): error: no z\n  int y = z;\n          ^": "In[2]:1:9: error: no z\n  int y = z;\n          ^",
		"In[3](4): error: old":                             "In[3]:4: error: old",
		"cells(4): error: cell(4): x":                      "cells(4): error: cell(4): x",
		"math.h(4): error: a header's":                     "math.h(4): error: a header's",
	} {
		if got := places(log, "In[5]", map[string]string{compiledAs: source, "In[2]": "int y = z;"}); got != want {
			t.Errorf("%q is %q, want %q", log, got, want)
		}
	}
}
