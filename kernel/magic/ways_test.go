package magic

import (
	"errors"
	"os"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
)

// eachWay runs a test with %%cuda cells through the host's compiler, and through NVRTC where
// GOCUDA_NVRTC names one.
func eachWay(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	needsCompiler(t)
	for _, way := range []string{"c++", "ptx"} {
		t.Run(way, func(t *testing.T) {
			if way == "ptx" && os.Getenv("GOCUDA_NVRTC") == "" {
				t.Skip("no NVRTC: GOCUDA_NVRTC does not name one")
			}
			if _, err := run(t, "%sim cuda "+way); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { run(t, "%sim cuda auto") }) //nolint:errcheck // as it was
			test(t)
		})
	}
}

func compiles(t *testing.T, code, want string) *recorder {
	t.Helper()
	r, err := run(t, code)
	if err != nil || r.text() != want {
		t.Errorf("%s\nprinted %q, %v; want %q", code, r.text(), err, want)
	}
	return r
}

func launched(t *testing.T, r *recorder, name string, arguments ...any) {
	t.Helper()
	k, ok := r.defined[name].(*cuda.Kernel)
	if !ok {
		t.Fatalf("no kernel %s among %v", name, r.defined)
	}
	if err := k.Launch(cuda.Grid(1), cuda.Block(1), nil, arguments...); err != nil {
		t.Error(name, err)
	}
}

func device(t *testing.T) *cuda.Device {
	t.Helper()
	d, err := cuda.CurrentDevice()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestNamesOfCUDA(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		d := device(t)
		out, err := d.Alloc(4, cuda.Float32)
		if err != nil {
			t.Fatal(err)
		}
		is := func(want ...float32) {
			t.Helper()
			got := make([]float32, len(want))
			if err := out.Slice(0, len(want)).Download(got); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%v, want %v", got, want)
				}
			}
		}

		r := compiles(t, `%%cuda --name m
namespace ns { __device__ int count = 3, more[2] = {1, 2}; namespace in { __constant__ int c; } namespace { __device__ int hidden{7}; } }
namespace ns { __device__ int f(int n) { return n; } }
__global__ void k(float *p) { p[0] = ns::f(ns::count); p[1] = ns::more[1]; p[2] = ns::in::c; p[3] = ns::hidden; }`, "compiled: k, module m\n")
		m := r.defined["m"].(*cuda.Module)
		for name, n := range map[string]int{"ns::count": 1, "ns::more": 2, "::ns::in::c": 1, "ns::hidden": 1} {
			b, err := m.Global(d, name, cuda.Int32)
			if err != nil || b.Len() != n {
				t.Errorf("%s: %v, %v", name, b, err)
				continue
			}
			if name == "::ns::in::c" {
				err = b.Upload([]int32{11})
			}
			if err != nil {
				t.Error(err)
			}
		}
		if _, err := m.Global(d, "count", cuda.Int32); err == nil || !strings.Contains(err.Error(), "the module has no variable count; there is ns::count") {
			t.Error(err)
		}
		launched(t, r, "k", out)
		is(3, 2, 11, 7)

		// What an #if leaves out has no name.
		compiles(t, "%%cuda\n#ifdef NOTHING\nnamespace a { __device__ int x; }\n#endif\n__global__ void k(float *p) {}", "compiled: k\n")

		r = compiles(t, "%%cuda\n__global__ void o(float *p) { *p = 1; }\n__global__ void between(float *p) { *p = 5; }\n__global__ void o(float *p, int n) { *p = n; }\n__global__ void o(const int *q, float *p) { *p = *q; }",
			"compiled: o_float_ptr (o(float*)), o_float_ptr_int (o(float*, int)), o_const_int_ptr_float_ptr (o(const int*, float*)), between\n")
		launched(t, r, "o_float_ptr", out)
		is(1)
		launched(t, r, "o_float_ptr_int", out, 9)
		is(9)
		launched(t, r, "between", out)
		is(5)

		r = compiles(t, `%%cuda
struct Store { float *p; };
template <class T> struct Sum { T *p; long n; };
template <class S> __global__ void to(S s, float a) { *s.p = a; }
template __global__ void to<Store>(Store, float);
template __global__ void to(Sum<float>, float);`, "compiled: to_Store (to<Store>), to_Sum_float_float (to(Sum<float>, float))\n")
		launched(t, r, "to_Store", struct{ p uintptr }{out.Address()}, 4)
		is(4)
		launched(t, r, "to_Sum_float_float", struct{ p, n uintptr }{out.Address(), 1}, 6)
		is(6)

		compiles(t, "%%cuda\ntemplate <class T> __global__ void some(T *p) {}\n__global__ void k(float *p) {}",
			"compiled: k\nnot compiled: the template some, which nobody instantiates (for instance --instantiate 'some<float>')\n")
		_, err = run(t, "%%cuda\ntemplate <class T> __global__ void some(T *p) {}")
		if err == nil || !strings.Contains(err.Error(), "nobody instantiates the kernel template some: add its arguments to the first line, such as --instantiate 'some<float>'") {
			t.Error(err)
		}

		r = compiles(t, "%%cuda -DA=2 \\\n   -DB=3 \\\n   --name m\n__global__ void k(float *p) { *p = A * B; }", "compiled: k, module m\n")
		launched(t, r, "k", out)
		is(6)
		_, err = run(t, "%%cuda -DA=2 \\\n   -DB=3\n__global__ void k(float *p) { *p = C; }")
		if err == nil || !strings.Contains(err.Error(), "In[3]:3:36: error") {
			t.Error(err)
		}

		r = compiles(t, "%%cuda\nstruct Big { float v[8188]; };\n__global__ void k(Big huge, float *p) { *p = huge.v[8187] + huge.v[0]; }", "compiled: k\n")
		var big [8188]float32
		big[0], big[8187] = 1, 2
		launched(t, r, "k", big, out)
		is(3)

		r = compiles(t, `%%cuda
typedef float (*Function)(float);
__device__ float more(float x) { return x + 1; }
__device__ float twice(float x) { return 2 * x; }
__device__ Function table[] = {more, twice};
__constant__ Function constant[] = {twice, more};
__global__ void k(float *p, int i) { p[0] = table[i](10); p[1] = constant[i](10); }`, "compiled: k\n")
		launched(t, r, "k", out, 1)
		is(20, 11)
	})
}

// TestFilesOfTheFolder: a cell includes what lies beside the notebook.
func TestFilesOfTheFolder(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		t.Chdir(t.TempDir())
		if err := os.Mkdir("inc", 0o777); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"beside.h", "inc/within.h"} {
			if err := os.WriteFile(name, []byte("#define FROM_FILE 1\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, head := range []string{"%%cuda\n#include \"beside.h\"", "%%cuda -I.\n#include <beside.h>", "%%cuda -Iinc\n#include \"within.h\"", "%%cuda --include-path=inc\n#include <within.h>"} {
			compiles(t, head+"\n__global__ void k(int *p) { *p = FROM_FILE; }", "compiled: k\n")
		}
		_, err := run(t, "%%cuda\n#include \"nosuch.h\"\n__global__ void k(int *p) {}")
		if e := (*Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Message, "In[3]:2:10: ") {
			t.Error(err)
		}
	})
}

// TestFirstErrorOfAHeader: the first line has the cell's place, not a header's alone.
func TestFirstErrorOfAHeader(t *testing.T) {
	for log, want := range map[string]string{
		"/inc/max.h(44): error: no operator \"<\"\n      return a < b;\n\n          detected during instantiation of \"max\" at line 4 of cell\n":                                                                               "In[7]:4: error: no operator \"<\" (in max.h, line 44)",
		"/inc/max.h(44): error: no operator \"<\"\n      return a < b;\n               ^\n          detected during:\n            instantiation of \"x\" at line 9\n            instantiation of \"max\" at line 4 of cell\n\n": "In[7]:4: error: no operator \"<\" (in max.h, line 44)",
		"In[7]:3:4: error: wrong\n":            "In[7]:3:4: error: wrong",
		"a warning\nIn[7]:3:4: error: wrong\n": "In[7]:3:4: error: wrong",
	} {
		if got, _, _ := strings.Cut(firstError(log, "In[7]"), "\n"); got != want {
			t.Errorf("%q begins with %q, want %q", log, got, want)
		}
	}
	eachWay(t, func(t *testing.T) {
		if strings.HasSuffix(t.Name(), "c++") {
			t.Skip("the host's compiler is not asked for it")
		}
		_, err := run(t, "%%cuda\n#include <algorithm>\nstruct S { int a; };\n__global__ void k(int *p) {\n  S a{1}, b{2};\n  *p = std::max(a, b).a;\n}")
		if err == nil || !strings.Contains(err.Error(), "does not compile: In[3]:6: error: no operator") {
			t.Error(err)
		}
	})
}
