package sim

import (
	"reflect"
	"strings"
	"testing"
)

func TestScan(t *testing.T) {
	for _, c := range []struct {
		name, src string
		kernels   []scannedKernel
		templates []string
	}{
		{"plain", "__global__ void f(int *x, float y) {}", []scannedKernel{{"f", "int * x , float y"}}, nil},
		{"the word first or later", "void __global__ f() {} static __global__ void g() {} extern \"C\" __global__ void h() {}",
			[]scannedKernel{{"f", ""}, {"g", ""}, {"h", ""}}, nil},
		{"a declaration is no definition", "__global__ void f(int); __global__ void f(int x) { { } }", []scannedKernel{{"f", "int x"}}, nil},
		{"attributes", "__global__ void __launch_bounds__(256, 2) f(int x) {} __global__ __attribute__((unused)) void g() {}",
			[]scannedKernel{{"f", "int x"}, {"g", ""}}, nil},
		{"namespaces", "namespace a { namespace b::c { __global__ void f() {} } __global__ void g() {} } extern \"C\" { __global__ void h() {} } inline namespace d { __global__ void i() {} }",
			[]scannedKernel{{"a::b::c::f", ""}, {"a::g", ""}, {"h", ""}, {"d::i", ""}}, nil},
		{"an unnamed namespace", "namespace { __global__ void f() {} }", []scannedKernel{{"f", ""}}, nil},
		{"templates", "template <typename T> __global__ void f(T *x) {} template <> __global__ void f<int>(int *x) {}", nil, []string{"f"}},
		{"defaults and functions", "__global__ void f(int n = g(1, 2), int (*h)(int) = 0) {}", []scannedKernel{{"f", "int n , int ( * h ) ( int )"}}, nil},
		{"in strings", `const char *s = "__global__ void f() {"; char c = '{'; __global__ void g() {}`, []scannedKernel{{"g", ""}}, nil},
		{"in raw strings", "auto s = R\"x(__global__ void f() {)\" {)x\"; __global__ void g() {}", []scannedKernel{{"g", ""}}, nil},
		{"after line markers", "# 1 \"a {\"\n#pragma {\n__global__ void g() {}\n", []scannedKernel{{"g", ""}}, nil},
		{"classes hide nothing", "struct S { int f() { return 1; } }; __global__ void g(S s) {}", []scannedKernel{{"g", "S s"}}, nil},
		{"nothing", "int main() {}", nil, nil},
	} {
		s := scan(c.src, false)
		var templates []string
		for n := range s.templates {
			templates = append(templates, n)
		}
		if !reflect.DeepEqual(s.kernels, c.kernels) || !reflect.DeepEqual(templates, c.templates) {
			t.Errorf("%s: kernels %q, templates %q; want %q, %q", c.name, s.kernels, templates, c.kernels, c.templates)
		}
		if s.text != c.src {
			t.Errorf("%s: the text changed to %q", c.name, s.text)
		}
	}
}

// TestTold has kernels take their index, and finds which need no more.
func TestTold(t *testing.T) {
	for _, c := range []struct{ src, want, plain string }{
		{"__global__ void f(int *x) { x[threadIdx.x] = blockDim.y; }",
			"__attribute__((always_inline)) void f(const gocuda::Index &gocuda_index, int *x) { x[gocuda_index.thread.x] = gocuda_index.dim.y; }", "f"},
		{"__global__ void f(void); __global__ void f(void) { }",
			"__global__ void f(const gocuda::Index &gocuda_index); __attribute__((always_inline)) void f(const gocuda::Index &gocuda_index) { }", "f"},
		{"__global__ void f() { __syncthreads(); } __global__ void g() { }",
			"__global__ void f(const gocuda::Index &gocuda_index) { __syncthreads(); } __attribute__((always_inline)) void g(const gocuda::Index &gocuda_index) { }", "g"},
		{"template <class T> __global__ void f(T x) { }",
			"template <class T> __attribute__((always_inline)) void f(const gocuda::Index &gocuda_index, T x) { }", "f"},
		{"__device__ int i() { return threadIdx.x; } __global__ void f(int x) { }",
			"__device__ int i() { return threadIdx.x; } __global__ void f(const gocuda::Index &gocuda_index, int x) { }", ""},
		{"__global__ void f(int *x) { while (atomicAdd(x, 0)) {} }",
			"__global__ void f(const gocuda::Index &gocuda_index, int *x) { while (atomicAdd(x, 0)) {} }", ""},
		{"__global__ void f(volatile int *x) { while (*x) {} } __global__ void g(int *x) { while (*x) {} }",
			"__global__ void f(const gocuda::Index &gocuda_index, volatile int *x) { while (*x) {} } __global__ void g(const gocuda::Index &gocuda_index, int *x) { while (*x) {} }", ""},
	} {
		s := scan(c.src, true)
		plain := ""
		for _, b := range s.bodies {
			if s.plain[b.name] {
				plain += b.name
			}
		}
		if s.text != c.want || plain != c.plain {
			t.Errorf("%s\nbecame %s\nwant   %s\nplain: %q, want %q", c.src, s.text, c.want, plain, c.plain)
		}
	}
}

func TestScanDynamicShared(t *testing.T) {
	for src, want := range map[string]string{
		"void f() { extern __shared__ float s[]; }":                         "void f() { float *s = (float *)gocuda::dynamic_shared(); }",
		"extern __shared__ int s[];":                                        "static gocuda::DynamicShared<int> s;",
		"void f() {\nextern __shared__\n__align__(16) char\ns[]; }":         "void f() {\nchar *s = (char *)gocuda::dynamic_shared()\n\n; }",
		"void f() { extern __shared__ unsigned char s[][32]; g(); }":        "void f() { unsigned char (*s)[32] = (unsigned char (*)[32])gocuda::dynamic_shared(); g(); }",
		"template <class T> void f() { extern volatile __shared__ T s[]; }": "template <class T> void f() { volatile T *s = (volatile T *)gocuda::dynamic_shared(); }",
		"extern int x[]; extern \"C\" void f();":                            "extern int x[]; extern \"C\" void f();",
		"__shared__ int s[32];":                                             "__shared__ int s[32];",
	} {
		if got := scan(src, false).text; got != want {
			t.Errorf("%q\n got %q\nwant %q", src, got, want)
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add("namespace a { extern __shared__ int s[]; __global__ void f(int x = {1, 2}) { } }")
	f.Add("# 1 \"x\"\nR\"(__global__")
	f.Add("extern \"C\" { extern __shared__ __align__(")
	f.Fuzz(func(t *testing.T, src string) {
		s := scan(src, false)
		// What is rewritten keeps its lines, or errors would name others.
		if strings.Count(s.text, "\n") != strings.Count(src, "\n") {
			t.Errorf("%q became %q", src, s.text)
		}
		s.footer([]string{"f", "g<int>"})
	})
}

// FuzzTicket opens handles of noise: they must be refused, not followed.
func FuzzTicket(f *testing.F) {
	f.Add([]byte("csimxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h [64]byte
		copy(h[:], b)
		if got := decodeTicket(h).encode(); !strings.HasPrefix(string(h[:]), string(got[:32])) {
			t.Errorf("%x became %x", h, got)
		}
	})
}
