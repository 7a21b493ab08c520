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
		{"plain", "__global__ void f(int *x, float y) {}", []scannedKernel{{name: "f", params: "int * x , float y"}}, nil},
		{"the word first or later", "void __global__ f() {} static __global__ void g() {} extern \"C\" __global__ void h() {}",
			[]scannedKernel{{name: "f", params: ""}, {name: "g", params: ""}, {name: "h", params: ""}}, nil},
		{"a declaration is no definition", "__global__ void f(int); __global__ void f(int x) { { } }", []scannedKernel{{name: "f", params: "int x"}}, nil},
		{"attributes", "__global__ void __launch_bounds__(256, 2) f(int x) {} __global__ __attribute__((unused)) void g() {}",
			[]scannedKernel{{"f", "int x", "gocuda_k->threads = (256); "}, {name: "g", params: ""}}, nil},
		{"namespaces", "namespace a { namespace b::c { __global__ void f() {} } __global__ void g() {} } extern \"C\" { __global__ void h() {} } inline namespace d { __global__ void i() {} }",
			[]scannedKernel{{name: "a::b::c::f", params: ""}, {name: "a::g", params: ""}, {name: "h", params: ""}, {name: "d::i", params: ""}}, nil},
		{"an unnamed namespace", "namespace { __global__ void f() {} }", []scannedKernel{{name: "f", params: ""}}, nil},
		{"templates", "template <typename T> __global__ void f(T *x) {} template <> __global__ void f<int>(int *x) {}", nil, []string{"f"}},
		{"defaults and functions", "__global__ void f(int n = g(1, 2), int (*h)(int) = 0) {}", []scannedKernel{{name: "f", params: "int n , int ( * h ) ( int )"}}, nil},
		{"in strings", `const char *s = "__global__ void f() {"; char c = '{'; __global__ void g() {}`, []scannedKernel{{name: "g", params: ""}}, nil},
		{"in raw strings", "auto s = R\"x(__global__ void f() {)\" {)x\"; __global__ void g() {}", []scannedKernel{{name: "g", params: ""}}, nil},
		{"after line markers", "# 1 \"a {\"\n#pragma {\n__global__ void g() {}\n", []scannedKernel{{name: "g", params: ""}}, nil},
		{"classes hide nothing", "struct S { int f() { return 1; } }; __global__ void g(S s) {}", []scannedKernel{{name: "g", params: "S s"}}, nil},
		{"nothing", "int main() {}", nil, nil},
	} {
		s := scan(c.src, 0)
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

// What a head says of launches is described to the host, where it can be.
func TestLimits(t *testing.T) {
	for src, want := range map[string]string{
		"__global__ void __launch_bounds__(64 * 2,\n 2) f(int *x) {}":                                    "gocuda_k->threads = (64*2); return 1;",
		"const int n = 4; __global__ void __launch_bounds__(n) f() {}":                                   "gocuda_k->threads = (n); return 1;",
		"namespace a { const int n = 4; __global__ __launch_bounds__(n) void f() {} }":                   `describe("a::f"); return 1;`,
		"__global__ void __cluster_dims__(2, 1) f() {}":                                                  "gocuda_k->cluster[0] = (2); gocuda_k->cluster[1] = (1); gocuda_k->cluster[2] = (1); return 1;",
		"template <int n> __global__ void __launch_bounds__(n) __cluster_dims__(2) f() {}":               "gocuda_k->cluster[0] = (2); gocuda_k->cluster[1] = (1); gocuda_k->cluster[2] = (1); return 1;",
		"__global__ void __launch_bounds__(2) f(); __global__ void __launch_bounds__(g(1, 2), 3) f() {}": "gocuda_k->threads = (g(1,2)); return 1;",
	} {
		s := scan(src, 0)
		if got := s.footer([]string{"f<3>"}); !strings.Contains(got, want) {
			t.Errorf("%s\nis described by %s", src, got)
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
			"__global__ void f(const gocuda::Index &gocuda_index, int *x) { while (gocuda::spin(!!(atomicAdd(x, 0)))) {} }", ""},
		{"__global__ void f(int *x) { for (;;) if (atomicAdd(x, 0)) break; }",
			"__global__ void f(const gocuda::Index &gocuda_index, int *x) { for (; gocuda::again(true);) if (atomicAdd(x, 0)) break; }", ""},
		{"__global__ void f(volatile int *x) { while (*x) {} } __global__ void g(int *y) { while (*y) {} }",
			"__global__ void f(const gocuda::Index &gocuda_index, volatile int *x) { while (gocuda::spin(!!(*x))) {} } __global__ void g(const gocuda::Index &gocuda_index, int *y) { while (*y) {} }", ""},
	} {
		s := scan(c.src, told)
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

// TestLoops finds the loops that may wait for other threads.
func TestLoops(t *testing.T) {
	for src, want := range map[string]string{
		"void f(volatile int *p, int n) { while (*p < n) ; }":                       "void f(volatile int *p, int n) { while (gocuda::spin(!!(*p < n))) ; }",
		"void f(int n, const volatile unsigned &p) { while (p) n++; }":              "void f(int n, const volatile unsigned &p) { while (gocuda::again(!!(p))) n++; }",
		"void f(int *p) { while (*(volatile int *)p == 0) { __nanosleep(5); } }":    "void f(int *p) { while (gocuda::again(!!(*(volatile int *)p == 0))) { __nanosleep(5); } }",
		"void f(int *p) { int o; do { o = *p; } while (atomicCAS(p, o, o + 1)); }":  "void f(int *p) { int o; do { o = *p; } while (gocuda::again(!!(atomicCAS(p, o, o + 1)))); }",
		"void f(int *p) { int o; do o = atomicAdd(p, 0); while (o); }":              "void f(int *p) { int o; do o = atomicAdd(p, 0); while (gocuda::again(!!(o))); }",
		"void f(volatile int *p) { for (; *p;) ; for (;; ) { if (*p) break; } }":    "void f(volatile int *p) { for (; gocuda::spin(!!( *p)) ;) ; for (; gocuda::again(true); ) { if (*p) break; } }",
		"void f(volatile int *p, int n) { for (int i = 0; i < n; i++) p[i] = i; }":  "void f(volatile int *p, int n) { for (int i = 0; i < n; i++) p[i] = i; }",
		"int g(volatile int *p) { return *p; } void f(int *q) { while (!g(q)) {} }": "int g(volatile int *p) { return *p; } void f(int *q) { while (gocuda::spin(!!(!g(q)))) {} }",
		"void f(volatile int *p, int n) { *p = 0; while (n > 0) n /= 2; }":          "void f(volatile int *p, int n) { *p = 0; while (n > 0) n /= 2; }",
		"void f(int *p) { while (*p) ; }":                                           "void f(int *p) { while (*p) ; }",
		"void f(volatile int *p) { while (":                                         "void f(volatile int *p) { while (",
		"void f(volatile int *p) { do { *p; } while":                                "void f(volatile int *p) { do { *p; } while",
		"void f(volatile int *p) { for (;":                                          "void f(volatile int *p) { for (;",
	} {
		if s := scan(src, told); s.text != want {
			t.Errorf("%s\nbecame %s\nwant   %s", src, s.text, want)
		}
	}
}

// TestSlow finds the places that threads may race for, and leaves their own.
func TestSlow(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"*n += 1;", "gocuda::slow(*n) += 1;"},
		{"if (hit) *n += 1; else (*n)++;", "if (hit) gocuda::slow(*n) += 1; else gocuda::slow((*n))++;"},
		{"n[0]++; --n[1];", "gocuda::slow(n[0])++; --gocuda::slow(n[1]);"},
		{"*n = *n + 1; n[0] = n[1] + 1;", "gocuda::slow(*n) = *n + 1; n[0] = n[1] + 1;"},
		{"int b = n[i] / 3; h[b] -= 2; h[n[i]] |= 2;", "int b = n[i] / 3; gocuda::slow(h[b]) -= 2; gocuda::slow(h[n[i]]) |= 2;"},
		{"int i = blockIdx.x * blockDim.x + threadIdx.x; n[i] += 1; n[i + 1] *= 2; n[i % 4]++;",
			"int i = gocuda_index.block.x * gocuda_index.dim.x + gocuda_index.thread.x; n[i] += 1; n[i + 1] *= 2; gocuda::slow(n[i % 4])++;"},
		{"__shared__ int s[32]; int l[4]; s[threadIdx.x] += 1; l[2] += 1; s[2] += 1;",
			"__shared__ int s[32]; int l[4]; s[gocuda_index.thread.x] += 1; l[2] += 1; gocuda::slow(s[2]) += 1;"},
		{"int *p = n + threadIdx.x; *p += 1; p[1]++; *p++; p += 2; n = n + 1;", "int *p = n + gocuda_index.thread.x; *p += 1; p[1]++; *p++; p += 2; n = n + 1;"},
		{"if (n[0] == 1 || n[0] <= 2 || n[0] != 3) x->y[2] += 1;", "if (n[0] == 1 || n[0] <= 2 || n[0] != 3) x->y[2] += 1;"},
	} {
		s := scan("__global__ void f() {"+c.body+"}", told|slow)
		_, got, _ := strings.Cut(s.text, "{")
		if got != c.want+"}" {
			t.Errorf("%s\nbecame %s\nwant   %s", c.body, got, c.want)
		}
	}
}

// TestDefine finds shifts and casts, and leaves what looks like them.
func TestDefine(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"x = a << b;", "x = a <<gocuda::left<< b;"},
		{"x = a[1] >> (b + 2) << -c;", "x = a[1] >>gocuda::right>> (b + 2) <<gocuda::left<< -c;"},
		{"x <<= 3; *y >>= n;", "x <<gocuda::left_in<<= 3; *y >>gocuda::right_in>>= n;"},
		{"A<B<int>> v; A<B<C<int>>> w; f<A<B>>(1);", "A<B<int>> v; A<B<C<int>>> w; f<A<B>>(1);"},
		{"if (i < n >> 1 && (a < (b >> 2)));", "if (i < n >>gocuda::right>> 1 && (a < (b >>gocuda::right>> 2)));"},
		{"int y = (int)x + (unsigned long long)-f(2);", "int y = (int)(gocuda::To<int>)x + (unsigned long long)(gocuda::To<unsigned long long>)-f(2);"},
		{"y = (char)(int)x;", "y = (char)(gocuda::To<char>)(int)(gocuda::To<int>)x;"},
		{"void g(int); int (*p)(int) = h(sizeof(int)); auto l = [](int) { return (short)1; };", "void g(int); int (*p)(int) = h(sizeof(int)); auto l = [](int) { return (short)(gocuda::To<short>)1; };"},
		{"y = static_cast<unsigned int>(x * 2) + int(z) + min(int(f(x)), 3);", "y = static_cast<unsigned int>((gocuda::To<unsigned int>)(x * 2)) + int((gocuda::To<int>)(z)) + min(int((gocuda::To<int>)(f(x))), 3);"},
		{"y = static_cast<float>(x); int(z); S operator<<(S, int); template <class F = int(float)> struct Q;", "y = static_cast<float>(x); int(z); S operator<<(S, int); template <class F = int(float)> struct Q;"},
	} {
		s := scan("void f() {"+c.body+"}", defined)
		_, got, _ := strings.Cut(s.text, "{")
		if got != c.want+"}" {
			t.Errorf("%s\nbecame %s\nwant   %s", c.body, got, c.want)
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
		if got := scan(src, 0).text; got != want {
			t.Errorf("%q\n got %q\nwant %q", src, got, want)
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add("namespace a { extern __shared__ int s[]; __global__ void f(int x = {1, 2}) { } }")
	f.Add("# 1 \"x\"\nR\"(__global__")
	f.Add("extern \"C\" { extern __shared__ __align__(")
	f.Fuzz(func(t *testing.T, src string) {
		s := scan(src, 0)
		// What is rewritten keeps its lines, or errors would name others.
		if strings.Count(s.text, "\n") != strings.Count(src, "\n") {
			t.Errorf("%q became %q", src, s.text)
		}
		scan(src, told|slow|defined)
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
