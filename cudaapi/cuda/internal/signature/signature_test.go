package signature

import (
	"fmt"
	"strings"
	"testing"
)

// show writes a kernel as "line name[symbol]<template>(params)".
func show(k *Kernel) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", k.Line, k.Name)
	if k.Symbol != "" {
		fmt.Fprintf(&b, "[%s]", k.Symbol)
	}
	if k.Template() {
		fmt.Fprintf(&b, "<%s>", strings.Join(k.Args, ","))
	}
	b.WriteByte('(')
	for i, p := range k.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		if p.Kind == Pointer {
			if p.ReadOnly {
				b.WriteString("in ")
			}
			fmt.Fprintf(&b, "%s:ptr to %s/%d/%d", p.Name, p.Elem.Name, p.Elem.Kind, p.Elem.Size)
		} else {
			fmt.Fprintf(&b, "%s:%s/%d/%d", p.Name, p.Type.Name, p.Kind, p.Size)
		}
	}
	b.WriteByte(')')
	return b.String()
}

func TestParse(t *testing.T) {
	tests := []struct{ name, code, want string }{
		{"plain", "__global__ void k(int n, float a, const float *x, float* __restrict__ y) {}",
			"1 k(n:int/2/4, a:float/4/4, in x:ptr to float/4/4, y:ptr to float/4/4)"},
		{"no parameters", "__global__ void a() {}\n__global__ void b(void);", "1 a()\n2 b()"},
		{"extern C", "extern \"C\" __global__ void k(double x) {}", "1 k[k](x:double/4/8)"},
		{"extern C block", "extern \"C\" {\n__global__ void k() { if (1) { } }\n}\n__global__ void l() {}", "2 k[k]()\n4 l()"},
		{"namespaces", "namespace a { namespace b { __global__ void k() {} } }\nnamespace c::d { __global__ void k(); }\n__global__ void k() {}",
			"1 a::b::k()\n2 c::d::k()\n3 k()"},
		{"anonymous namespace", "namespace { __global__ void k() {} }", "1 k()"},
		{"attributes", "static __global__ void __launch_bounds__(256, 2) k(int) {}\n__global__ __launch_bounds__(128) void l() {}", "1 k(:int/2/4)\n2 l()"},
		{"attribute before", "__launch_bounds__(64) __global__ void k() {}", "1 k()"},
		{"template", "template <typename T, int N = 4>\n__global__ void k(T *x, const T a) {}", "2 k<T,N>(x:ptr to T/0/0, a:T/0/0)"},
		{"specialisation", "template<> __global__ void k<int>(int *x) {}", "1 k<int>(x:ptr to int/2/4)"},
		{"explicit instantiation", "template __global__ void k<float>(float *, int);", "1 k<float>(:ptr to float/4/4, :int/2/4)"},
		{"widths", "__global__ void k(unsigned long long int a, long unsigned b, unsigned c, signed char d, size_t e, uint8_t f, bool g, short int h, std::size_t i) {}",
			"1 k(a:unsigned long long int/3/8, b:long unsigned/3/8, c:unsigned/3/4, d:signed char/2/1, e:size_t/3/8, f:uint8_t/3/1, g:bool/1/1, h:short int/2/2, i:size_t/3/8)"},
		{"east const and const pointers", "__global__ void k(float const *a, float *const b, const float *const c, float volatile *d) {}",
			"1 k(in a:ptr to float/4/4, b:ptr to float/4/4, in c:ptr to float/4/4, d:ptr to float/4/4)"},
		{"pointers to pointers and arrays", "__global__ void k(float **a, const int b[], int c[4]) {}",
			"1 k(a:ptr to float */8/8, in b:ptr to int/2/4, c:ptr to int/2/4)"},
		{"structures", "struct S { int a; };\n__global__ void k(S s, const S *p, float4 v, __half h) {}",
			"2 k(s:S/0/0, in p:ptr to S/0/0, v:float4/7/16, h:__half/5/2)"},
		{"class templates", "__global__ void k(Pair<int, float> p, cuda::std::array<int, 4> *q, int n) {}",
			"1 k(p:Pair<int,float>/0/0, q:ptr to array<int,4>/0/0, n:int/2/4)"},
		{"aliases", "typedef float real;\nusing index = unsigned long;\n#define REAL double\n__global__ void k(real a, index n, REAL *x) {}",
			"4 k(a:float/4/4, n:unsigned long/3/8, x:ptr to double/4/8)"},
		{"comments and strings", "// __global__ void no() {}\n/* __global__ void\nno() {} */\nconst char *s = \"__global__ void no() {}\";\nconst char *r = R\"x(__global__ void no() {})x\";\n__global__ void k(/* n */ int n, // count\n int m) {}",
			"6 k(n:int/2/4, m:int/2/4)"},
		{"dead code", "#if 0\n#if 1\n__global__ void no() {}\n#endif\n__global__ void no2() {}\n#else\n__global__ void k() {}\n#endif\n", "7 k()"},
		{"declared then defined", "__global__ void k(int);\n__global__ void k(int n) {}", "2 k(n:int/2/4)"},
		{"defined then declared", "__global__ void k(int n) {}\n__global__ void k(int);", "1 k(n:int/2/4)"},
		{"defaults", "__global__ void k(int n = 3, float f = g(1, 2)) {}", "1 k(n:int/2/4, f:float/4/4)"},
		{"helpers between", "__device__ float f(float x) { return x; }\nint main() { k<<<1, 1>>>(); }\n__global__ void k() {}", "3 k()"},
		{"half a source", "__global__ void k(int n", ""},
		{"half a name", "__global__", ""},
		{"not a function", "__global__ int x;", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, k := range Parse(tt.code) {
				got = append(got, show(k))
			}
			if s := strings.Join(got, "\n"); s != tt.want {
				t.Errorf("got\n%s\nwant\n%s", s, tt.want)
			}
		})
	}
}

func TestInstantiate(t *testing.T) {
	k := Parse("using real = double;\nnamespace m { template <class T, class U, int N> __global__ void k(int n, T a, const U *x, real r) {} }")[0]
	for expr, want := range map[string]string{
		"m::k<float, unsigned char, 4>":    "2 m::k<float, unsigned char, 4>(n:int/2/4, a:float/4/4, in x:ptr to unsigned char/3/1, r:double/4/8)",
		"::m::k<double *, std::size_t, 1>": "2 ::m::k<double *, std::size_t, 1>(n:int/2/4, a:ptr to double/4/8, in x:ptr to size_t/3/8, r:double/4/8)",
		"m::other<float>":                  "",
		"m::k":                             "",
	} {
		got := ""
		if i := k.Instantiate(expr); i != nil {
			got = show(i)
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", expr, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("template <class T> __global__ void k(const T *x, int n = f<3>(1)) {}\n#if 0\n#endif\nR\"(\")\"")
	f.Add("extern \"C\" { __global__ void __launch_bounds__(1) a::b(int[], x<y<z>>) ; } '\\''")
	f.Fuzz(func(t *testing.T, code string) {
		for _, k := range Parse(code) {
			k.Instantiate(k.Name + "<int, float>")
		}
	})
}
