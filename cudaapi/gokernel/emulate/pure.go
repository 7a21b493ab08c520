package emulate

import (
	"go/types"
	"math"
	"math/bits"
	"math/cmplx"
	"strings"
	"unsafe"

	"gocuda/cudaapi/gokernel/ir"
)

// floats1, floats2 and floats3 are functions of floating-point numbers, which give
// one of the arguments' type.
var floats1 = map[string]func(float64) float64{
	"math_abs": math.Abs, "math_acos": math.Acos, "math_asin": math.Asin, "math_atan": math.Atan, "math_cbrt": math.Cbrt, "math_ceil": math.Ceil,
	"math_cos": math.Cos, "math_cosh": math.Cosh, "math_erf": math.Erf, "math_erfc": math.Erfc, "math_exp": math.Exp, "math_exp2": math.Exp2,
	"math_expm1": math.Expm1, "math_floor": math.Floor, "math_log": math.Log, "math_log10": math.Log10, "math_log1p": math.Log1p, "math_log2": math.Log2,
	"math_round": math.Round, "math_roundToEven": math.RoundToEven, "math_sin": math.Sin, "math_sinh": math.Sinh, "math_sqrt": math.Sqrt,
	"math_acosh": math.Acosh, "math_asinh": math.Asinh, "math_atanh": math.Atanh, "math_tan": math.Tan, "math_tanh": math.Tanh, "math_trunc": math.Trunc, "math_gamma": math.Gamma,
	"sqrt": math.Sqrt, "rsqrt": func(x float64) float64 { return 1 / math.Sqrt(x) }, "exp": math.Exp, "log": math.Log, "sin": math.Sin, "cos": math.Cos,
	"tanh": math.Tanh, "fabs": math.Abs,
}

var floats2 = map[string]func(x, y float64) float64{
	"math_atan2": math.Atan2, "math_copysign": math.Copysign, "math_hypot": math.Hypot, "math_mod": math.Mod, "math_remainder": math.Remainder,
	"math_pow": math.Pow, "math_max": math.Max, "math_min": math.Min, "pow": math.Pow,
	"min": func(x, y float64) float64 { return min(x, y) }, "max": func(x, y float64) float64 { return max(x, y) },
}

// integers are functions of package math/bits.
var integers = map[string]func(uint64) int{
	"bits_leadingZeros": bits.LeadingZeros64, "bits_leadingZeros64": bits.LeadingZeros64,
	"bits_leadingZeros32": func(x uint64) int { return bits.LeadingZeros32(uint32(x)) },
	"bits_leadingZeros16": func(x uint64) int { return bits.LeadingZeros16(uint16(x)) },
	"bits_leadingZeros8":  func(x uint64) int { return bits.LeadingZeros8(uint8(x)) },
	"bits_trailingZeros":  bits.TrailingZeros64, "bits_trailingZeros64": bits.TrailingZeros64,
	"bits_trailingZeros32": func(x uint64) int { return bits.TrailingZeros32(uint32(x)) },
	"bits_trailingZeros16": func(x uint64) int { return bits.TrailingZeros16(uint16(x)) },
	"bits_trailingZeros8":  func(x uint64) int { return bits.TrailingZeros8(uint8(x)) },
	"bits_onesCount":       bits.OnesCount64, "bits_onesCount64": bits.OnesCount64, "bits_onesCount32": bits.OnesCount64,
	"bits_onesCount16": bits.OnesCount64, "bits_onesCount8": bits.OnesCount64,
	"bits_len": bits.Len64, "bits_len64": bits.Len64, "bits_len32": bits.Len64, "bits_len16": bits.Len64, "bits_len8": bits.Len64,
}

// pure readies a function of the back end whose result fits 64 bits.
func (c *compiler) pure(e *ir.Pure, k kind) number {
	if axis := strings.Index(e.Name, "."); axis > 0 {
		i := int(e.Name[axis+1] - 'x')
		switch e.Name[:axis] {
		case "threadIdx":
			return func(fr *frame) uint64 { return uint64(fr.t.index[i]) }
		case "blockIdx":
			return func(fr *frame) uint64 { return uint64(fr.t.block.index[i]) }
		case "blockDim":
			return func(fr *frame) uint64 { return uint64(fr.t.run.Block[i]) }
		}
		return func(fr *frame) uint64 { return uint64(fr.t.run.Grid[i]) }
	}
	switch e.Name {
	case "real", "imag":
		p := c.place(e.Args[0])
		var at uintptr
		if e.Name == "imag" {
			at = uintptr(k.bits() / 8)
		}
		return func(fr *frame) uint64 { return k.load(unsafe.Add(p(fr), at)) }
	case "cmplx_abs", "cmplx_phase":
		p, f := c.place(e.Args[0]), cmplx.Abs
		if e.Name == "cmplx_phase" {
			f = cmplx.Phase
		}
		return func(fr *frame) uint64 { return math.Float64bits(f(*(*complex128)(p(fr)))) }
	case "is_nil", "not_nil":
		p, want := c.place(e.Args[0]), e.Name == "is_nil"
		return func(fr *frame) uint64 { return truth((*(*uint64)(p(fr)) == 0) == want) }
	case "array_of":
		p := c.place(e.Args[0])
		return func(fr *frame) uint64 { return *(*uint64)(p(fr)) }
	}
	args := make([]number, len(e.Args))
	for i, a := range e.Args {
		args[i] = c.number(a)
	}
	if f := floats1[e.Name]; f != nil {
		x := args[0]
		return func(fr *frame) uint64 { return k.round(f(k.real(x(fr)))) }
	}
	if f := floats2[e.Name]; f != nil && k.float() {
		x, y := args[0], args[1]
		return func(fr *frame) uint64 { return k.round(f(k.real(x(fr)), k.real(y(fr)))) }
	}
	if f := integers[e.Name]; f != nil {
		x := args[0]
		return func(fr *frame) uint64 { return uint64(f(x(fr))) }
	}
	switch e.Name {
	case "min", "max":
		x, y := args[0], args[1]
		var flip uint64
		if k.signed() {
			flip = 1 << 63
		}
		least := e.Name == "min"
		return func(fr *frame) uint64 {
			a, b := x(fr), y(fr)
			if a^flip < b^flip == least {
				return a
			}
			return b
		}
	case "fma", "math_fMA":
		return func(fr *frame) uint64 {
			x, y, z := k.real(args[0](fr)), k.real(args[1](fr)), k.real(args[2](fr))
			switch k {
			case f64:
				return math.Float64bits(math.FMA(x, y, z))
			case f32:
				return k.round(fmaOnce(x, y, z))
			}
			return k.round(float64(oddFloat32(fmaOnce(x, y, z))))
		}
	case "math_float32bits", "math_float32frombits", "math_float64bits", "math_float64frombits", "half_bits", "half_from":
		return args[0]
	case "math_inf":
		return func(fr *frame) uint64 { return math.Float64bits(math.Inf(int(args[0](fr)))) }
	case "math_naN":
		return func(*frame) uint64 { return 0x7FF8000000000001 }
	case "math_isNaN":
		return func(fr *frame) uint64 { return truth(math.IsNaN(math.Float64frombits(args[0](fr)))) }
	case "math_isInf":
		return func(fr *frame) uint64 {
			return truth(math.IsInf(math.Float64frombits(args[0](fr)), int(int64(args[1](fr)))))
		}
	case "math_signbit":
		return func(fr *frame) uint64 { return args[0](fr) >> 63 }
	case "bits_mulHigh":
		return func(fr *frame) uint64 { hi, _ := bits.Mul64(args[0](fr), args[1](fr)); return hi }
	case "bits_reverse32":
		return func(fr *frame) uint64 { return uint64(bits.Reverse32(uint32(args[0](fr)))) }
	case "bits_reverse64":
		return func(fr *frame) uint64 { return bits.Reverse64(args[0](fr)) }
	case "bits_rotateLeft", "bits_rotateLeft64", "bits_rotateLeft32", "bits_rotateLeft16", "bits_rotateLeft8":
		n := k.bits()
		return func(fr *frame) uint64 {
			x, s := args[0](fr), uint(args[1](fr))&(n-1)
			return k.wrap(x<<s | x>>(n-s))
		}
	}
	panic("emulate: no function " + e.Name)
}

// fmaOnce is x*y+z of numbers of 32 bits and fewer, with a last bit that tells
// whether something was rounded away, so that it can be rounded once more.
func fmaOnce(x, y, z float64) float64 {
	p := x * y // exact
	s := p + z
	t := s - p
	lost := (p - (s - t)) + (z - t)
	if b := math.Float64bits(s); lost != 0 && b&1 == 0 && !math.IsInf(s, 0) && !math.IsNaN(s) {
		if (lost > 0) == (s > 0) {
			return math.Float64frombits(b + 1)
		}
		return math.Float64frombits(b - 1)
	}
	return s
}

// oddFloat32 is a value as a float32 whose last bit tells whether something was
// rounded away.
func oddFloat32(v float64) float32 {
	r := float32(v)
	b := math.Float32bits(r)
	if float64(r) == v || b&1 != 0 || r-r != 0 {
		return r
	}
	if (float64(r) < v) == (r > 0 || r == 0 && v > 0) {
		return math.Float32frombits(b + 1)
	}
	return math.Float32frombits(b - 1)
}

// pureValue readies a function whose result lies in memory.
func (c *compiler) pureValue(e *ir.Pure) write {
	switch e.Name {
	case "complex":
		k := partOf(e.T)
		re, im := c.number(e.Args[0]), c.number(e.Args[1])
		return func(fr *frame, p unsafe.Pointer) {
			x, y := re(fr), im(fr)
			k.store(p, x)
			k.store(unsafe.Add(p, k.bits()/8), y)
		}
	case "cmplx_conj":
		x := c.place(e.Args[0])
		return func(fr *frame, p unsafe.Pointer) { *(*complex128)(p) = cmplx.Conj(*(*complex128)(x(fr))) }
	case "dynamic_shared":
		n, size := c.number(e.Args[0]), uint64(sizes.Sizeof(e.T.Underlying().(*types.Slice).Elem()))
		return func(fr *frame, p unsafe.Pointer) {
			w := (*[3]uint64)(p)
			w[0], w[1], w[2] = address(fr.t.block.dynamicShared()), n(fr), n(fr)
			if have := uint64(fr.t.run.Shared); w[1]*size > have {
				fr.t.fail(Panic{Func: c.code.outer, Text: sharedText(w[1]*size, have)})
			}
		}
	}
	panic("emulate: no function " + e.Name)
}
