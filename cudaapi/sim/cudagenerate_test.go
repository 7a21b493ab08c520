package sim_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// cudaPrelude is what random kernels call: arithmetic that C++ defines for all operands, and the
// bits of numbers. What is no number has one form, unless RAW is set.
const cudaPrelude = `#include <stdint.h>
typedef int8_t i8; typedef uint8_t u8; typedef int16_t i16; typedef uint16_t u16; typedef int i32; typedef unsigned u32;
typedef long long i64; typedef unsigned long long u64; typedef float f32; typedef double f64;
template<class T> struct Wide { typedef u32 t; };
template<> struct Wide<i64> { typedef u64 t; };
template<> struct Wide<u64> { typedef u64 t; };
#define WRAP(name, op) template<class T> __device__ inline T name(T a, T b) { typedef typename Wide<T>::t U; return (T)((U)a op (U)b); }
WRAP(add, +) WRAP(sub, -) WRAP(mul, *) WRAP(both, &) WRAP(either, |) WRAP(differ, ^)
#undef WRAP
template<class T> __device__ inline T shl(T a, u32 n) { typedef typename Wide<T>::t U; return (T)((U)a << (n & (8 * sizeof(U) - 1))); }
template<class T> __device__ inline T shr(T a, u32 n) { return (T)(a >> (n & (sizeof(T) == 8 ? 63 : 31))); }
template<class T> __device__ inline T quo(T a, T b) { return b == (T)0 || b == (T)-1 ? sub<T>(0, a) : (T)(a / b); }
template<class T> __device__ inline T rem(T a, T b) { return b == (T)0 || b == (T)-1 ? a : (T)(a % b); }
template<class T> __device__ inline T least(T a, T b) { return b < a ? b : a; }
template<class T> __device__ inline T most(T a, T b) { return a < b ? b : a; }
__device__ inline u32 bitsOf(f32 x) {
#ifndef RAW
	if (x != x) return 0x7fffffffu;
#endif
	return __float_as_uint(x);
}
__device__ inline u64 bitsOf(f64 x) {
#ifndef RAW
	if (x != x) return 0x7ff8000000000000ull;
#endif
	return (u64)__double_as_longlong(x);
}
template<class T> __device__ inline u64 word(T x) { return (u64)x; }
template<> __device__ inline u64 word(f32 x) { return bitsOf(x); }
template<> __device__ inline u64 word(f64 x) { return bitsOf(x); }
template<class T> __device__ inline T from(u32 a, u32 b) { return (T)(((u64)b << 32) | a); }
template<> __device__ inline f32 from(u32 a, u32) { return __uint_as_float(a); }
template<> __device__ inline f64 from(u32 a, u32 b) { return (b & 3) ? (f64)__uint_as_float(a) * 1.1 : __longlong_as_double(((u64)b << 32) | a); }
#ifdef HOST // what the host's compiler alone lacks
__device__ inline u32 __funnelshift_lc(u32 lo, u32 hi, u32 n) { n = n < 32 ? n : 32; return (u32)(((u64)hi << 32 | lo) << n >> 32); }
__device__ inline u32 __funnelshift_rc(u32 lo, u32 hi, u32 n) { n = n < 32 ? n : 32; return (u32)(((u64)hi << 32 | lo) >> n); }
#endif
struct Part { i32 a; f32 b; i16 c[3]; u64 d; u8 e; };
struct Param { i32 a; f32 b; i16 c[3]; i64 d; };
struct Bits { u32 a : 5, b : 11, c : 16; i32 d : 7; };
union Pun { u32 w[2]; u64 d; u8 b[8]; u16 h[4]; };
template<class T, int N> struct Ring {
	T v[N];
	__device__ T &operator[](u32 i) { return v[i % N]; }
	__device__ T sum() const { T s = v[0]; for (int i = 1; i < N; i++) s = add<T>(s, v[i]); return s; }
};
template<class T> __device__ inline void exchange(T &a, T &b) { T c = a; a = b; b = c; }
template<class T, class F> __device__ inline T fold(const T *v, int n, F f) { T r = v[0]; for (int i = 1; i < n; i++) r = f(r, v[i]); return r; }
template<int N> struct Power { static constexpr u32 value = 3 * Power<N - 1>::value; };
template<> struct Power<0> { static constexpr u32 value = 1; };
__constant__ u32 table[16] = {3, 1, 4, 1, 5, 0xffffffff, 9, 2, 6, 0x80000000, 5, 3, 5, 8, 97, 0x7fffffff};
__constant__ f32 reals[8] = {0.5f, -1.25f, 3e10f, 1e-40f, -0.0f, 7.0f, 0.1f, 16777217.0f};
`

// What a kernel reads and writes for each thread, in words.
const (
	cudaInputs  = 16
	cudaOutputs = 10
	cudaCells   = 16
)

// cudaGenerator writes random kernels in CUDA C++, whose results the language and the
// programming guide define, whatever the order of threads.
type cudaGenerator struct {
	r      *rand.Rand
	b      strings.Builder
	prefix string
	host   bool // what the host's compiler alone takes
	half   bool // with <cuda_fp16.h> and <cuda_bf16.h>

	vars   map[string][]string
	fixed  map[string]bool // the counters of loops
	funcs  []string        // names with the type of their result and parameters after colons
	depth  int
	indent int
	next   int
	loops  int
	device bool // in a function other than the kernel
}

var cudaTypes = []string{"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64", "i32", "u32", "f32"}

func cudaFloat(t string) bool { return t[0] == 'f' }

func (g *cudaGenerator) pick(list ...string) string { return list[g.r.IntN(len(list))] }
func (g *cudaGenerator) typ() string                { return cudaTypes[g.r.IntN(len(cudaTypes))] }

func (g *cudaGenerator) line(format string, args ...any) {
	g.b.WriteString(strings.Repeat("\t", g.indent))
	fmt.Fprintf(&g.b, format+"\n", args...)
}

func (g *cudaGenerator) open(format string, args ...any) {
	g.line(format, args...)
	g.indent++
}

func (g *cudaGenerator) close(tail string) {
	g.indent--
	g.line("}%s", tail)
}

func (g *cudaGenerator) name(prefix string) string {
	g.next++
	return fmt.Sprintf("%s%d", prefix, g.next)
}

// scope runs f, after which what it declared is forgotten.
func (g *cudaGenerator) scope(f func()) {
	vars := map[string][]string{}
	for t, list := range g.vars {
		vars[t] = list[:len(list):len(list)]
	}
	was := g.vars
	g.vars = vars
	f()
	g.vars = was
}

func (g *cudaGenerator) variable(t string) string {
	if list := g.vars[t]; len(list) > 0 {
		return list[g.r.IntN(len(list))]
	}
	if cudaFloat(t) {
		return "(" + t + ")" + g.number(t)
	}
	return "(" + t + ")t"
}

func (g *cudaGenerator) number(t string) string {
	switch {
	case t == "f32":
		return g.pick("0.5f", "1.0f", "-2.25f", "3.1f", "1e-39f", "1e30f", "-0.0f", "0.1f", "16777216.0f", fmt.Sprintf("%d.0f", g.r.IntN(1000)))
	case t == "f64":
		return g.pick("0.5", "1.0", "-2.25", "3.1", "1e-310", "1e300", "-0.0", "0.1", "9007199254740992.0", fmt.Sprintf("%d.0", g.r.IntN(1000)))
	case t == "u64" || t == "i64":
		return fmt.Sprintf("(%s)%dull", t, g.r.Uint64()>>g.r.IntN(64))
	}
	return fmt.Sprintf("(%s)%du", t, g.r.Uint32()>>g.r.IntN(32))
}

// index is from 0 to n-1, a power of 2.
func (g *cudaGenerator) index(n int) string { return fmt.Sprintf("(%s & %d)", g.expr("u32"), n-1) }

func (g *cudaGenerator) condition() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth < 3 {
		switch g.r.IntN(7) {
		case 0:
			return "(" + g.condition() + " && " + g.condition() + ")"
		case 1:
			return "(" + g.condition() + " || " + g.condition() + ")"
		case 2:
			return "!" + g.condition()
		case 3:
			return fmt.Sprintf("(%s & %d)", g.variable("u32"), 1<<g.r.IntN(6))
		}
	}
	t := g.typ()
	return fmt.Sprintf("(%s %s %s)", g.expr(t), g.pick("<", "<=", ">", ">=", "==", "!="), g.expr(t))
}

func (g *cudaGenerator) expr(t string) string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 3 || g.r.IntN(4) == 0 {
		if g.r.IntN(6) == 0 {
			return g.number(t)
		}
		return g.variable(t)
	}
	if g.r.IntN(12) == 0 {
		return fmt.Sprintf("(%s ? %s : %s)", g.condition(), g.expr(t), g.expr(t))
	}
	if g.r.IntN(10) == 0 {
		for range 4 {
			if len(g.funcs) == 0 {
				break
			}
			if f := strings.Split(g.funcs[g.r.IntN(len(g.funcs))], ":"); f[1] == t {
				return g.call(f)
			}
		}
	}
	if cudaFloat(t) {
		return g.real(t)
	}
	return g.integer(t)
}

func (g *cudaGenerator) call(f []string) string {
	var args []string
	for _, p := range f[2:] {
		args = append(args, g.expr(p))
	}
	return fmt.Sprintf("%s(%s)", f[0], strings.Join(args, ", "))
}

func (g *cudaGenerator) integer(t string) string {
	e := func() string { return g.expr(t) }
	switch g.r.IntN(14) {
	case 0, 1, 2:
		return fmt.Sprintf("%s<%s>(%s, %s)", g.pick("add", "sub", "mul", "both", "either", "differ"), t, e(), e())
	case 3:
		return fmt.Sprintf("%s<%s>(%s, %s)", g.pick("quo", "rem"), t, e(), e())
	case 4:
		return fmt.Sprintf("%s<%s>(%s, %s)", g.pick("quo", "rem"), t, e(), g.number(t))
	case 5:
		return fmt.Sprintf("%s<%s>(%s, %s)", g.pick("shl", "shr"), t, e(), g.pick(g.expr("u32"), fmt.Sprint(g.r.IntN(32))))
	case 6:
		return fmt.Sprintf("(%s)%s%s", t, g.pick("~", "!"), e())
	case 7:
		return fmt.Sprintf("%s<%s>(%s, %s)", g.pick("least", "most"), t, e(), e())
	case 8:
		return fmt.Sprintf("(%s)%s", t, g.expr(g.typeOfIntegers()))
	case 9:
		return fmt.Sprintf("(%s)%s", t, g.condition())
	case 10:
		if g.r.IntN(2) == 0 {
			return fmt.Sprintf("(%s)%s(%s)", t, g.pick("__float2int_rn", "__float2int_rz", "__float2int_ru", "__float2int_rd", "__float2uint_rn", "__float2uint_rz", "__float2ll_rz", "__float2ull_ru", "bitsOf"), g.expr("f32"))
		}
		return fmt.Sprintf("(%s)%s(%s)", t, g.pick("__double2int_rn", "__double2int_rz", "__double2int_ru", "__double2uint_rd", "__double2ll_rn", "__double2ll_rz", "__double2ull_rd", "__double2hiint", "__double2loint", "bitsOf"), g.pick("(f64)("+g.expr("f64")+" * 1.0)", g.expr("f64")))
	case 11: // operators of C++, of what cannot overflow
		return fmt.Sprintf("(%s)((%s & 0xffff) %s (%s & 0x3fff))", t, g.expr("i32"), g.pick("+", "-", "*", "|", "^"), g.expr("i32"))
	}
	return "(" + t + ")" + g.intrinsic()
}

func (g *cudaGenerator) typeOfIntegers() string {
	return g.pick("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
}

func (g *cudaGenerator) intrinsic() string {
	i, u, l, w := func() string { return g.expr("i32") }, func() string { return g.expr("u32") }, func() string { return g.expr("i64") }, func() string { return g.expr("u64") }
	switch g.r.IntN(24) {
	case 0:
		return g.pick("__popc", "__clz", "__ffs", "__brev") + "(" + u() + ")"
	case 1:
		return g.pick("__popcll", "__clzll", "__ffsll", "__brevll") + "(" + w() + ")"
	case 2:
		return fmt.Sprintf("__byte_perm(%s, %s, %s)", u(), u(), g.pick(u(), "0x5140", "0x3276"))
	case 3:
		return fmt.Sprintf("%s(%s, %s, %s)", g.pick("__funnelshift_l", "__funnelshift_r", "__funnelshift_lc", "__funnelshift_rc"), u(), u(), u())
	case 4:
		return fmt.Sprintf("__umulhi(%s, %s)", u(), u())
	case 5:
		return fmt.Sprintf("%s(%s, %s)", g.pick("__mulhi", "__mul24", "__hadd", "__rhadd"), i(), i())
	case 6:
		return fmt.Sprintf("%s(%s, %s)", g.pick("__umul24", "__uhadd", "__urhadd"), u(), u())
	case 7:
		return fmt.Sprintf("__mul64hi(%s, %s)", l(), l())
	case 8:
		return fmt.Sprintf("__umul64hi(%s, %s)", w(), w())
	case 9:
		return fmt.Sprintf("__sad(%s, %s, %s)", i(), i(), u())
	case 10:
		return fmt.Sprintf("__usad(%s, %s, %s)", u(), u(), u())
	case 11:
		return fmt.Sprintf("%s(%s, %s)", g.pick("__vadd2", "__vadd4", "__vsub4", "__vabsdiffu4", "__vavgu4", "__vmaxs4", "__vminu2", "__vcmpgtu4", "__vcmpeq2", "__vsetles4", "__vaddus4", "__vsubss2", "__vsadu4"), u(), u())
	case 12:
		return fmt.Sprintf("__dp4a(%s, %s, %s)", i(), i(), i())
	case 13:
		return fmt.Sprintf("__dp4a(%s, %s, %s)", u(), u(), u())
	case 14:
		return fmt.Sprintf("%s(%s, %s, %s)", g.pick("__dp2a_lo", "__dp2a_hi"), u(), u(), u())
	case 15:
		return fmt.Sprintf("table[%s]", g.index(16))
	case 16:
		return fmt.Sprintf("list[%s]", g.index(8))
	case 17:
		return g.pick("part.a", "part.c[rem<u32>("+u()+", 3)]", "part.d", "part.e", "parts["+g.index(2)+"].a", "parts["+g.index(2)+"].c[1]")
	case 18:
		return g.pick("field.a", "field.b", "field.c", "field.d", "pun.w["+g.index(2)+"]", "pun.b["+g.index(8)+"]", "pun.h["+g.index(4)+"]", "pun.d")
	case 19:
		return g.pick("q.x", "q.y", "q.z", "q.w", "ring["+u()+"]", "ring.sum()", fmt.Sprintf("Power<%d>::value", g.r.IntN(30)))
	case 20:
		return g.pick("__popc(__vcmpltu4("+u()+", "+u()+"))", "min("+i()+", "+i()+")", "max("+u()+", "+u()+")", "abs(("+i()+") & 0x7fffffff)", "max("+l()+", "+l()+")", "min("+w()+", "+w()+")")
	case 21:
		return "(" + g.pick("(__int128)", "(unsigned __int128)") + l() + " * " + l() + " >> " + fmt.Sprint(g.r.IntN(100)) + ")"
	case 22:
		if !g.device {
			return g.pick("p.a", "p.d", "p.c[rem<u32>("+u()+", 3)]", "n", "t", "at")
		}
	}
	return fmt.Sprintf("fold<u32>(list, %d, [&](u32 a, u32 b) { return %s; })", 2+g.r.IntN(7), g.pick("a + b", "a ^ (b * 3)", "a > b ? a : b", "a - "+g.variable("u32")+" * b"))
}

func (g *cudaGenerator) real(t string) string {
	e := func() string { return g.expr(t) }
	f := ""
	if t == "f32" {
		f = "f"
	}
	mode := g.pick("rn", "rz", "ru", "rd")
	if g.host && t == "f64" {
		mode = "rn"
	}
	switch g.r.IntN(16) {
	case 0, 1, 2, 3:
		return fmt.Sprintf("(%s %s %s)", e(), g.pick("+", "-", "*", "+", "*"), e())
	case 4:
		return fmt.Sprintf("(%s / %s)", e(), e())
	case 5:
		return fmt.Sprintf("fma%s(%s, %s, %s)", f, e(), e(), e())
	case 6:
		return fmt.Sprintf("%s%s(%s)", g.pick("floor", "ceil", "trunc", "rint", "fabs", "sqrt", "round"), f, e())
	case 7:
		return fmt.Sprintf("%s%s(%s, %s)", g.pick("fmin", "fmax", "copysign"), f, e(), e())
	case 8:
		return "(- " + e() + ")"
	case 9:
		if t == "f32" {
			return fmt.Sprintf("(f32)%s", g.expr(g.pick("f64", "i32", "u32", "i64", "u64", "i8", "u16")))
		}
		return fmt.Sprintf("(f64)%s", g.expr(g.pick("f32", "f32", "i32", "u32", "i64", "u64", "i8", "u16")))
	case 10:
		if t == "f32" {
			return fmt.Sprintf("%s_%s(%s, %s)", g.pick("__fadd", "__fmul", "__fsub", "__fdiv"), mode, e(), e())
		}
		return fmt.Sprintf("%s_%s(%s, %s)", g.pick("__dadd", "__dmul", "__dsub", "__ddiv"), mode, e(), e())
	case 11:
		if t == "f32" {
			return g.pick(fmt.Sprintf("__frcp_%s(%s)", mode, e()), fmt.Sprintf("__fsqrt_%s(%s)", mode, e()), fmt.Sprintf("__fmaf_%s(%s, %s, %s)", mode, e(), e(), e()), fmt.Sprintf("__double2float_%s(%s)", mode, g.expr("f64")),
				fmt.Sprintf("__int2float_%s(%s)", mode, g.expr("i32")), fmt.Sprintf("__ull2float_%s(%s)", mode, g.expr("u64")))
		}
		return g.pick(fmt.Sprintf("__drcp_%s(%s)", mode, e()), fmt.Sprintf("__dsqrt_%s(%s)", mode, e()), fmt.Sprintf("__fma_%s(%s, %s, %s)", mode, e(), e(), e()), fmt.Sprintf("__ll2double_%s(%s)", mode, g.expr("i64")),
			fmt.Sprintf("__hiloint2double(%s, %s)", g.expr("i32"), g.expr("i32")))
	case 12:
		if t == "f32" {
			return g.pick("part.b", "__uint_as_float("+g.expr("u32")+")", "reals["+g.index(8)+"]", "v.x", "v.y", "parts["+g.index(2)+"].b", "__saturatef("+e()+")", "floats["+g.index(4)+"]")
		}
		return g.pick("w.x", "w.y", "__longlong_as_double("+g.expr("i64")+")", "(f64)reals["+g.index(8)+"]")
	case 13:
		if t == "f32" && g.half {
			return g.small()
		}
		return fmt.Sprintf("ldexp%s(%s, (i32)(%s & 63) - 31)", f, e(), g.expr("u32"))
	case 14:
		if t == "f32" {
			return g.pick("fdimf("+e()+", "+e()+")", "fmodf("+e()+", 7.5f)", "nextafterf("+e()+", 2.0f)", "__fmaf_rn("+e()+", 2.0f, 0.5f)", "nearbyintf("+e()+")")
		}
		return g.pick("fdim("+e()+", "+e()+")", "fmod("+e()+", 7.5)", "__fma_rn("+e()+", 2.0, 0.5)", "nearbyint("+e()+")")
	}
	return g.variable(t)
}

// small is what 16 bits make of a number.
func (g *cudaGenerator) small() string {
	x, y := g.expr("f32"), g.expr("f32")
	if g.r.IntN(2) == 0 {
		one := func(v string) string {
			if g.host {
				return "__float2half(" + v + ")"
			}
			return g.pick("__float2half", "__float2half_rz", "__float2half_ru", "__float2half_rd") + "(" + v + ")"
		}
		op := g.pick("__hadd", "__hsub", "__hmul", "__hdiv", "__hmin", "__hmax")
		switch g.r.IntN(5) {
		case 0:
			return "__half2float(" + one(x) + ")"
		case 1:
			return fmt.Sprintf("__half2float(__hfma(%s, %s, %s))", one(x), one(y), one(g.expr("f32")))
		case 2:
			return fmt.Sprintf("(f32)(__hgt(%s, %s) + 2 * __heq(%s, %s))", one(x), one(y), one(y), one(x))
		case 3:
			return fmt.Sprintf("__high2float(__hadd2(__halves2half2(%s, %s), __halves2half2(%s, %s)))", one(x), one(y), one(y), one(x))
		}
		return fmt.Sprintf("__half2float(%s(%s, %s))", op, one(x), one(y))
	}
	one := func(v string) string {
		return g.pick("__float2bfloat16", "__float2bfloat16_rn", "__float2bfloat16_rn") + "(" + v + ")"
	}
	switch g.r.IntN(3) {
	case 0:
		return "__bfloat162float(" + one(x) + ")"
	case 1:
		return fmt.Sprintf("__bfloat162float(__hfma(%s, %s, %s))", one(x), one(y), one(g.expr("f32")))
	}
	return fmt.Sprintf("__bfloat162float(%s(%s, %s))", g.pick("__hadd", "__hmul", "__hsub", "__hmin", "__hmax"), one(x), one(y))
}

// target is something to assign of a type.
func (g *cudaGenerator) target(t string) string {
	if g.r.IntN(4) == 0 {
		switch t {
		case "u32":
			return g.pick("list["+g.index(8)+"]", "q.x", "q.w", "ring["+g.expr("u32")+"]", "pun.w["+g.index(2)+"]", "field.b")
		case "i32":
			return g.pick("part.a", "parts["+g.index(2)+"].a")
		case "f32":
			return g.pick("part.b", "v.x", "v.y", "floats["+g.index(4)+"]")
		case "f64":
			return g.pick("w.x", "w.y")
		case "u64":
			return g.pick("part.d", "pun.d")
		case "i16":
			return g.pick("part.c[1]", "parts["+g.index(2)+"].c[rem<u32>("+g.expr("u32")+", 3)]")
		case "u8":
			return g.pick("part.e", "pun.b["+g.index(8)+"]")
		case "u16":
			return "pun.h[" + g.index(4) + "]"
		}
	}
	for range 9 {
		if v := g.variable(t); !g.fixed[v] && v[0] != '(' {
			return v
		}
	}
	return ""
}

func (g *cudaGenerator) assign() {
	for {
		t := g.typ()
		if v := g.target(t); v != "" {
			if !cudaFloat(t) && g.r.IntN(3) == 0 && t[0] == 'u' && t != "u8" && t != "u16" {
				g.line("%s %s= %s;", v, g.pick("+", "-", "*", "^", "&", "|"), g.expr(t))
			} else {
				g.line("%s = %s;", v, g.expr(t))
			}
			return
		}
	}
}

func (g *cudaGenerator) declare(t, value string) {
	v := g.name("x")
	g.line("%s %s = %s;", t, v, value)
	g.vars[t] = append(g.vars[t], v)
}

func (g *cudaGenerator) block(n int) {
	g.scope(func() {
		for range 1 + g.r.IntN(n) {
			g.statement()
		}
	})
}

// statement is one that threads may take apart.
func (g *cudaGenerator) statement() {
	if g.indent > 4 {
		g.assign()
		return
	}
	switch g.r.IntN(18) {
	case 0, 1, 2:
		t := g.typ()
		g.declare(t, g.expr(t))
	case 3, 4:
		g.open("if (%s) {", g.condition())
		g.block(3)
		if g.r.IntN(2) == 0 {
			g.indent--
			g.line("} else {")
			g.indent++
			g.block(3)
		}
		g.close("")
	case 5, 6:
		if g.loops > 1 {
			g.assign()
			return
		}
		g.loops++
		i := g.name("loop")
		g.open("for (u32 %s = %s; %s < %s; %s++) {", i, g.pick("0", "1", "t & 3"), i, g.pick("3", "5", "("+g.expr("u32")+" & 7)", "8"), i)
		g.scope(func() {
			g.fixed[i] = true
			g.vars["u32"] = append(g.vars["u32"], i)
			g.block(3)
			if g.r.IntN(3) == 0 {
				g.line("if (%s) %s;", g.condition(), g.pick("break", "continue"))
				g.assign()
			}
		})
		g.close("")
		g.loops--
	case 7:
		if g.loops > 1 {
			g.assign()
			return
		}
		g.loops++
		fuel := g.name("fuel")
		g.line("u32 %s = %d;", fuel, 1+g.r.IntN(9))
		if g.r.IntN(2) == 0 {
			g.open("while (%s-- && %s) {", fuel, g.condition())
			g.block(3)
			g.close("")
		} else {
			g.open("do {")
			g.block(3)
			g.close(fmt.Sprintf(" while (--%s && %s);", fuel, g.condition()))
		}
		g.loops--
	case 8:
		g.open("switch (%s & %d) {", g.expr("u32"), []int{3, 7, 15}[g.r.IntN(3)])
		for k := range 2 + g.r.IntN(5) {
			g.line("case %d: {", k)
			g.indent++
			g.block(2)
			if g.r.IntN(4) > 0 {
				g.line("break;")
			}
			g.close("")
		}
		g.line("default: {")
		g.indent++
		g.block(1)
		g.close("")
		g.close("")
	case 9:
		if t := g.typ(); len(g.vars[t]) > 1 {
			if a, b := g.variable(t), g.variable(t); !g.fixed[a] && !g.fixed[b] {
				g.line("exchange<%s>(%s, %s);", t, a, b)
				return
			}
		}
		g.assign()
	case 10:
		if g.device {
			g.line("if (%s) return %s;", g.condition(), g.expr(g.result()))
			return
		}
		g.atomic()
	case 11:
		g.line("%s", g.pick("part = parts["+g.index(2)+"];", "parts["+g.index(2)+"] = part;", "q = make_uint4(q.y, q.z, q.w, "+g.expr("u32")+");", "v = make_float2(v.y, "+g.expr("f32")+");",
			"w = make_double2("+g.expr("f64")+", w.x);", "field = Bits{"+g.expr("u32")+" & 31, "+g.expr("u32")+" & 2047, "+g.expr("u32")+" & 0xffff, (i32)("+g.expr("i32")+" & 63) - 32};"))
	case 12:
		if g.device || g.loops > 0 {
			g.assign()
			return
		}
		l := g.name("skip")
		g.open("{")
		g.line("if (%s) goto %s;", g.condition(), l)
		g.assign()
		g.line("if (%s) goto %s;", g.condition(), l)
		g.assign()
		g.line("%s:", l)
		g.assign()
		g.close("")
	default:
		g.assign()
	}
}

func (g *cudaGenerator) result() string { return strings.Split(g.prefix, " ")[1] }

// atomic changes a cell in a way that no order tells.
func (g *cudaGenerator) atomic() {
	k := g.r.IntN(8)
	op := []string{"Add", "Min", "Max", "And", "Or", "Xor", "Add", "Sub"}[k]
	where := g.pick("cells", "sums")
	switch g.r.IntN(5) {
	case 0:
		if k == 7 {
			k, op = 0, "Add"
		}
		g.line("atomic%s(&cells64[%d], %s);", op, k, g.expr("u64"))
	case 1:
		if k == 1 || k == 2 {
			g.line("atomic%s((int *)&%s[%d], %s);", op, where, 7+k, g.expr("i32"))
			return
		}
		fallthrough
	case 2:
		c := g.name("old")
		g.open("for (u32 %s = %s[10], seen; ; %s = seen) {", c, where, c)
		g.line("seen = atomicCAS(&%s[10], %s, %s * %s);", where, c, c, fmt.Sprintf("(%s | 1)", g.variable("u32")))
		g.line("if (seen == %s) break;", c)
		g.close("")
	case 3:
		g.line("atomicInc(&%s[11], 12345u);", where)
	default:
		g.line("atomic%s(&%s[%d], %s);", op, where, k, g.expr("u32"))
	}
}

// together is a statement that all threads of a block take.
func (g *cudaGenerator) together() {
	t := g.pick("i32", "u32", "f32", "i64", "u64", "f64")
	mask := "0xffffffffu"
	switch g.r.IntN(13) {
	case 0, 1:
		s := g.name("s")
		g.line("__shared__ %s %s[128];", t, s)
		g.line("%s[t] = %s;", s, g.expr(t))
		g.line("__syncthreads();")
		g.declare(t, fmt.Sprintf("%s[%s %% size]", s, g.pick(fmt.Sprintf("(t + %d)", 1+g.r.IntN(60)), "(t ^ 1)", "(size - 1 - t)", g.expr("u32"))))
		if g.r.IntN(2) == 0 {
			g.line("__syncthreads();")
			g.line("%s[(t + 5) %% size] = %s;", s, g.expr(t))
			g.line("__syncthreads();")
			g.declare(t, s+"[t]")
		}
	case 2:
		s := g.name("s")
		g.line("__shared__ %s %s[128];", t, s)
		g.line("%s[t] = %s;", s, g.expr(t))
		add := fmt.Sprintf("%s[t] = add<%s>(%s[t], %s[t + h]);", s, t, s, s)
		if cudaFloat(t) {
			add = fmt.Sprintf("%s[t] = %s[t] + %s[t + h];", s, s, s)
		}
		g.open("for (u32 h = 64; h > 0; h >>= 1) {")
		g.line("__syncthreads();")
		g.line("if (t < h && t + h < size) %s", add)
		g.close("")
		g.line("__syncthreads();")
		g.declare(t, s+"[0]")
	case 3, 4:
		v, u := g.expr(t), g.expr("u32")
		g.declare(t, g.pick("__shfl_sync(0xffffffffu, "+v+", (int)("+u+" & 31))", fmt.Sprintf("__shfl_up_sync(0xffffffffu, %s, %du)", v, g.r.IntN(32)), fmt.Sprintf("__shfl_down_sync(0xffffffffu, %s, %du, 16)", v, g.r.IntN(16)),
			fmt.Sprintf("__shfl_xor_sync(0xffffffffu, %s, %d)", v, g.r.IntN(32)), "__shfl_sync(0xffffffffu, "+v+", (int)("+u+" & 7), 8)", "__shfl_xor_sync(0xffffffffu, "+v+", 3, 8)"))
	case 5:
		g.declare("u32", fmt.Sprintf("__ballot_sync(%s, %s)", mask, g.condition()))
	case 6:
		g.declare("i32", fmt.Sprintf("__%s_sync(%s, %s)", g.pick("any", "all"), mask, g.condition()))
	case 7:
		g.declare("u32", fmt.Sprintf("__match_any_sync(%s, %s)", mask, g.pick(g.expr("u32")+" & 3", g.expr("i64")+" & 1", g.expr("u64"))))
	case 8:
		g.declare("u32", fmt.Sprintf("__reduce_%s_sync(%s, %s)", g.pick("add", "min", "max", "and", "or", "xor"), mask, g.expr("u32")))
	case 9:
		g.declare("i32", fmt.Sprintf("__syncthreads_%s(%s)", g.pick("count", "and", "or"), g.condition()))
	case 10: // some of a warp
		c, m, r := g.name("c"), g.name("m"), g.name("x")
		g.line("bool %s = %s;", c, g.condition())
		g.line("u32 %s = __ballot_sync(%s, %s), %s = 0;", m, mask, c, r)
		g.open("if (%s) {", c)
		g.scope(g.statement)
		g.line("%s = %s;", r, g.pick(fmt.Sprintf("__shfl_sync(%s, %s, __ffs(%s) - 1)", m, g.expr("u32"), m), fmt.Sprintf("__reduce_add_sync(%s, %s)", m, g.expr("u32")), fmt.Sprintf("__popc(__match_any_sync(%s, %s & 7))", m, g.expr("u32")),
			fmt.Sprintf("__ballot_sync(%s, %s)", m, g.condition())))
		g.close("")
		g.vars["u32"] = append(g.vars["u32"], r)
	case 11:
		i := g.name("loop")
		g.open("for (u32 %s = 0; %s < %s; %s++) {", i, i, g.pick("2", "3", "(u32)n"), i)
		g.scope(func() {
			g.loops++
			g.fixed[i] = true
			g.vars["u32"] = append(g.vars["u32"], i)
			g.statement()
			g.line("__syncthreads();")
			g.line("moved[t] = %s;", g.expr("u32"))
			g.line("__syncthreads();")
			if v := g.target("u32"); v != "" {
				g.line("%s = moved[(t + %s + 1) %% size];", v, i)
			}
			g.line("__syncthreads();")
			g.loops--
		})
		g.close("")
	case 12:
		g.line("__syncthreads();")
		g.declare("u32", fmt.Sprintf("sums[%d]", g.r.IntN(12)))
		g.line("__syncthreads();")
	}
}

// locals are the arrays, structures and vectors that expressions name.
func (g *cudaGenerator) locals(a, b string) {
	g.line("u32 list[8];")
	g.line("for (u32 i = 0; i < 8; i++) list[i] = %s * (i + 1) ^ %s;", a, b)
	g.line("Part part = {(i32)%s, (f32)(%s & 255) * 0.25f, {(i16)%s, 7, -9}, ((u64)%s << 32) | %s, (u8)%s}, parts[2] = {part, part};", a, b, a, a, b, b)
	g.line("parts[1].a = 5;")
	g.line("Bits field = {%s & 31, %s & 2047, %s >> 16, (i32)(%s & 63) - 32};", a, b, a, b)
	g.line("Pun pun = {{%s, %s}};", b, a)
	g.line("uint4 q = make_uint4(%s, %s, 1, 2);", a, b)
	g.line("float2 v = make_float2(from<f32>(%s, 0), 0.5f);", b)
	g.line("double2 w = make_double2((f64)(i32)%s, 0.1);", a)
	g.line("Ring<u32, 5> ring = {{%s, 1, %s, 3, 4}};", a, b)
	g.line("f32 floats[4] = {1.5f, from<f32>(%s, 0), (f32)%s, -2.0f};", a, b)
}

// function is one that the kernel calls.
func (g *cudaGenerator) function(name string) {
	was := *g
	g.vars, g.device = map[string][]string{}, true
	result := g.typ()
	g.prefix = name + " " + result
	sign, params := []string{name, result}, []string{}
	for range 1 + g.r.IntN(3) {
		t := g.typ()
		a := g.name("a")
		params = append(params, t+" "+a)
		sign = append(sign, t)
		g.vars[t] = append(g.vars[t], a)
	}
	g.open("%s__device__ %s%s %s(%s) {", g.pick("", "static "), g.pick("__noinline__ ", "__noinline__ ", "__forceinline__ ", ""), result, name, strings.Join(params, ", "))
	g.line("u32 t = (u32)word(%s);", strings.Fields(params[0])[1])
	g.fixed["t"] = true
	g.vars["u32"] = append(g.vars["u32"], "t")
	g.locals("t", fmt.Sprintf("%du", g.r.Uint32()))
	for range 1 + g.r.IntN(3) {
		g.statement()
	}
	g.line("return %s;", g.expr(result))
	g.close("")
	g.vars, g.device, g.prefix, g.loops = was.vars, was.device, was.prefix, was.loops
	g.funcs = append(g.funcs, strings.Join(sign, ":"))
}

// randomCUDA is a kernel of a name, with the functions that it calls.
func randomCUDA(r *rand.Rand, name string, half bool) string {
	g := &cudaGenerator{r: r, prefix: name, half: half, host: *allWays, vars: map[string][]string{}, fixed: map[string]bool{}}
	for k := range r.IntN(3) {
		g.function(fmt.Sprintf("%s_f%d", name, k))
	}
	if r.IntN(5) == 0 { // one that calls itself, and a table
		g.line("static __device__ __noinline__ u32 %s_deep(u32 n, u32 x) { return n == 0 ? x : %s_deep(n - 1, x * 3 + n) ^ (x >> 1); }", name, name)
		g.line("typedef u32 (*%s_t)(u32, u32);", name)
		g.line("static __device__ __noinline__ u32 %s_flat(u32 n, u32 x) { return n * x + 1; }", name)
		g.line("static __device__ const %s_t %s_table[2] = {%s_deep, %s_flat};", name, name, name, name)
		g.line("static __device__ u32 %s_any(u32 n, u32 x) { return %s_table[n & 1](n & 7, x); }", name, name)
		g.funcs = append(g.funcs, name+"_any:u32:u32:u32")
	}
	g.open(`extern "C" __global__ void %s(const u32 *in, u64 *out, u32 *cells, u64 *cells64, const Param p, int n) {`, name)
	g.line("const u32 t = threadIdx.y * blockDim.x + threadIdx.x, size = blockDim.x * blockDim.y, at = blockIdx.x * size + t;")
	g.line("__shared__ u32 sums[%d], moved[128];", cudaCells)
	g.line("if (t < %d) sums[t] = t == 1 || t == 3 ? 0xffffffffu : t == 10;", cudaCells)
	g.line("moved[t] = 0;")
	g.line("__syncthreads();")
	g.line("in += at * %d;", cudaInputs)
	g.locals("in[0]", "in[1]")
	for k := range 6 {
		t := g.typ()
		g.declare(t, fmt.Sprintf("from<%s>(in[%d], in[%d])", t, 2*k+2, 2*k+3))
	}
	for range 3 + r.IntN(5) {
		if r.IntN(3) == 0 {
			g.together()
		} else {
			g.statement()
		}
	}
	g.line("out += at * %d;", cudaOutputs)
	k := 0
	for _, t := range cudaTypes[:10] {
		for i := len(g.vars[t]) - 1; i >= 0 && k < cudaOutputs-3; i-- {
			g.line("out[%d] = word(%s);", k, g.vars[t][i])
			k++
		}
	}
	for i, k := range r.Perm(4)[:2] { // not all, which a compiler keeps for that alone
		g.line("out[%d] = %s;", cudaOutputs-3+i, []string{"list[0] ^ ((u64)list[3] << 8) ^ ((u64)list[6] << 16) ^ ring.sum()", "part.a ^ part.d ^ ((u64)bitsOf(part.b) << 20) ^ part.e ^ (u64)part.c[1] ^ (u64)parts[1].a",
			"q.x ^ ((u64)q.y << 32) ^ q.z ^ ((u64)q.w << 20) ^ ((u64)bitsOf(v.x) << 8) ^ bitsOf(w.y)", "pun.d ^ field.b ^ field.d ^ ((u64)bitsOf(floats[1]) << 30)"}[k])
	}
	g.line("__syncthreads();")
	g.line("out[%d] = sums[t %% %d] ^ ((u64)moved[t] << 20);", cudaOutputs-1, cudaCells)
	g.close("")
	return g.b.String()
}
