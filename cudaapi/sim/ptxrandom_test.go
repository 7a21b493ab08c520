package sim_test

import (
	"flag"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
)

// ptxOp is an instruction, what its operands are, and what it makes of their bits: computed
// here with Go's integers and big numbers, not with what the simulator has. Operands are p
// (a predicate), h (16 bits), r (32 bits), d (64 bits), f (f32) and g (f64); the first is the
// result. Of several instructions text has the operands where it wants them, as %[1]s and on.
type ptxOp struct {
	text, kinds string
	of          func(a []uint64) uint64
}

func f32(b uint64) float32 { return math.Float32frombits(uint32(b)) }
func f64(b uint64) float64 { return math.Float64frombits(b) }

// of32 has the one NaN that arithmetic makes.
func of32(v float32) uint64 {
	if v != v {
		return 0x7fffffff
	}
	return uint64(math.Float32bits(v))
}
func of64(v float64) uint64 { return math.Float64bits(v) }
func truth(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// exact rounds what big numbers give; toward 0: nearest, -1: down, 1: up, 2: zero.
func exact(x *big.Float, toward int) float32 {
	r, _ := x.Float32()
	above := new(big.Float).SetFloat64(float64(r)).Cmp(x) // r > x: 1
	if math.IsInf(float64(r), 0) {
		above = x.Sign()
	}
	switch {
	case above > 0 && (toward == -1 || toward == 2 && x.Sign() > 0):
		return math.Nextafter32(r, float32(math.Inf(-1)))
	case above < 0 && (toward == 1 || toward == 2 && x.Sign() < 0):
		return math.Nextafter32(r, float32(math.Inf(1)))
	}
	return r
}

// exact64 is exact for float64.
func exact64(x *big.Float, toward int) float64 {
	r, _ := x.Float64()
	above := new(big.Float).SetFloat64(r).Cmp(x)
	switch {
	case above > 0 && (toward == -1 || toward == 2 && x.Sign() > 0):
		return math.Nextafter(r, math.Inf(-1))
	case above < 0 && (toward == 1 || toward == 2 && x.Sign() < 0):
		return math.Nextafter(r, math.Inf(1))
	}
	return r
}

func fma64(toward int) func(a []uint64) uint64 {
	return func(a []uint64) uint64 {
		x, y, z := f64(a[0]), f64(a[1]), f64(a[2])
		r := math.FMA(x, y, z)
		for _, v := range []float64{x, y, z} {
			if v-v != 0 {
				return of64(r)
			}
		}
		big4 := func(v float64) *big.Float { return new(big.Float).SetPrec(5000).SetFloat64(v) }
		if s := new(big.Float).SetPrec(5000).Add(new(big.Float).SetPrec(5000).Mul(big4(x), big4(y)), big4(z)); s.Sign() != 0 {
			return of64(exact64(s, toward))
		}
		if toward == -1 && (math.Signbit(x) != math.Signbit(y) || math.Signbit(z)) {
			return 1 << 63
		}
		return of64(r)
	}
}

// chosen are the operands, by operation, whose bits an f64 that is no number is of: the first that is
// none itself. So it was on an H200; of a division, too, ptxas makes multiplications.
var chosen = map[string][]int{"add": {1, 0}, "sub": {1, 0}, "mul": {1, 0}, "fma": {1, 2, 0}, "mad": {1, 2, 0}, "min": {1, 0}, "max": {1, 0}, "div": {0, 1}, "sqrt": {0}, "rcp": {0}, "neg": {0}, "abs": {0}}

// withNaN is what an instruction makes of its operands, with the bits of f64 that is no number.
func (op ptxOp) withNaN() func(a []uint64) uint64 {
	name, _, _ := strings.Cut(op.text, ".")
	from := chosen[name]
	if from == nil || strings.Trim(op.kinds, "g") != "" {
		return op.of
	}
	return func(a []uint64) uint64 {
		r := op.of(a)
		if f64(r) == f64(r) {
			return r
		}
		for _, k := range from {
			if f64(a[k]) != f64(a[k]) {
				return a[k] | 1<<51
			}
		}
		return 0xfff8000000000000
	}
}

// noNumber is of, or what formats have room for of the bits of f64 that is no number.
func noNumber(b uint64, fraction, exponent int, of uint64) uint64 {
	if v := f64(b); v == v {
		return of
	}
	width := fraction + exponent + 1
	return b>>63<<(width-1) | (2<<exponent-1)<<(fraction-1) | b>>(52-fraction)&(1<<fraction-1)
}

func finite(list ...float32) bool {
	return !slices.ContainsFunc(list, func(v float32) bool { return v != v || math.IsInf(float64(v), 0) })
}

func fma32(toward int) func(a []uint64) uint64 {
	return func(a []uint64) uint64 {
		x, y, z := f32(a[0]), f32(a[1]), f32(a[2])
		big3 := func(v float32) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(float64(v)) }
		if finite(x, y, z) {
			if s := new(big.Float).SetPrec(2000).Add(new(big.Float).SetPrec(2000).Mul(big3(x), big3(y)), big3(z)); s.Sign() != 0 {
				return of32(exact(s, toward))
			}
		}
		r := float32(math.FMA(float64(x), float64(y), float64(z)))
		if p := float64(x) * float64(y); toward == -1 && r == 0 && (p != 0 || math.Signbit(p) || z != 0 || math.Signbit(float64(z))) {
			r = float32(math.Copysign(0, -1)) // of different signs
		}
		return of32(r)
	}
}

// field is a place or a length in a word: 32 bits look at the lowest 8.
func field(w int, v uint64) int {
	if w == 32 {
		return int(v & 255)
	}
	return int(min(v, 255))
}

func less(a, b float64) bool { return a < b || a == b && math.Signbit(a) && !math.Signbit(b) }

// toInteger converts with the nearest for what does not fit.
func toInteger(v float64, width int, signed, wideNaN bool) uint64 {
	least, most := 0.0, math.Ldexp(1, width)
	if signed {
		least, most = -math.Ldexp(1, width-1), math.Ldexp(1, width-1)
	}
	mask := ^uint64(0) >> (64 - width)
	switch {
	case v != v && wideNaN:
		return 1 << (width - 1)
	case v != v:
		return 0
	case v >= most && signed:
		return mask >> 1
	case v >= most:
		return mask
	case v < least && signed:
		return 1 << (width - 1)
	case v < least:
		return 0
	case signed:
		return uint64(int64(v)) & mask
	}
	return uint64(v) & mask
}

var ptxOps = func() (list []ptxOp) {
	add := func(text, kinds string, of func(a []uint64) uint64) { list = append(list, ptxOp{text, kinds, of}) }
	shortOps(add)
	wordOps(add)
	carryOps(add)
	smallOps(add)
	rareOps(add)
	moreOps(add)
	for _, w := range []int{32, 64} {
		kind := map[int]string{32: "r", 64: "d"}[w]
		mask := ^uint64(0) >> (64 - w)
		s := func(v uint64) int64 { return int64(v<<(64-w)) >> (64 - w) }
		two, three := strings.Repeat(kind, 3), strings.Repeat(kind, 4)
		int2 := func(op, types string, of func(x, y uint64) uint64) {
			for _, y := range types {
				add(fmt.Sprintf("%s.%c%d", op, y, w), two, func(a []uint64) uint64 { return of(a[0], a[1]) & mask })
			}
		}
		int2("add", "su", func(x, y uint64) uint64 { return x + y })
		int2("sub", "su", func(x, y uint64) uint64 { return x - y })
		int2("mul.lo", "su", func(x, y uint64) uint64 { return x * y })
		int2("and", "b", func(x, y uint64) uint64 { return x & y })
		int2("or", "b", func(x, y uint64) uint64 { return x | y })
		int2("xor", "b", func(x, y uint64) uint64 { return x ^ y })
		int2("min", "u", func(x, y uint64) uint64 { return min(x, y) })
		int2("max", "u", func(x, y uint64) uint64 { return max(x, y) })
		int2("min", "s", func(x, y uint64) uint64 { return uint64(min(s(x), s(y))) })
		int2("max", "s", func(x, y uint64) uint64 { return uint64(max(s(x), s(y))) })
		int2("mul.hi", "u", func(x, y uint64) uint64 {
			if w == 32 {
				return x * y >> 32
			}
			h, _ := bits.Mul64(x, y)
			return h
		})
		int2("mul.hi", "s", func(x, y uint64) uint64 {
			p := new(big.Int).Mul(big.NewInt(s(x)), big.NewInt(s(y)))
			return uint64(p.Rsh(p, uint(w)).Int64())
		})
		int2("div", "u", func(x, y uint64) uint64 {
			if y == 0 {
				return mask
			}
			return x / y
		})
		int2("rem", "u", func(x, y uint64) uint64 {
			if y == 0 {
				return mask
			}
			return x % y
		})
		int2("div", "s", func(x, y uint64) uint64 {
			if y == 0 {
				return mask
			}
			return uint64(s(x) / s(y))
		})
		int2("rem", "s", func(x, y uint64) uint64 {
			if y == 0 {
				return mask
			}
			return uint64(s(x) % s(y))
		})
		add(fmt.Sprintf("mad.lo.s%d", w), three, func(a []uint64) uint64 { return (a[0]*a[1] + a[2]) & mask })
		for _, y := range "sub" {
			if y != 'b' {
				add(fmt.Sprintf("shr.%c%d", y, w), kind+kind+"r", func(a []uint64) uint64 {
					if y == 's' {
						return uint64(s(a[0])>>min(a[1], 63)) & mask
					}
					return a[0] >> min(a[1], 64)
				})
			}
		}
		add(fmt.Sprintf("shl.b%d", w), kind+kind+"r", func(a []uint64) uint64 { return a[0] << min(a[1], 64) & mask })
		one := func(op, result string, of func(x uint64) uint64) {
			add(fmt.Sprintf("%s%d", op, w), result+kind, func(a []uint64) uint64 { return of(a[0]) })
		}
		one("not.b", kind, func(x uint64) uint64 { return ^x & mask })
		one("neg.s", kind, func(x uint64) uint64 { return -x & mask })
		one("abs.s", kind, func(x uint64) uint64 {
			if s(x) < 0 {
				return -x & mask
			}
			return x
		})
		one("popc.b", "r", func(x uint64) uint64 { return uint64(bits.OnesCount64(x)) })
		one("clz.b", "r", func(x uint64) uint64 { return uint64(bits.LeadingZeros64(x) - (64 - w)) })
		one("brev.b", kind, func(x uint64) uint64 { return bits.Reverse64(x) >> (64 - w) })
		one("bfind.u", "r", func(x uint64) uint64 { return uint64(bits.Len64(x)-1) & 0xffffffff })
		one("bfind.s", "r", func(x uint64) uint64 {
			if s(x) < 0 {
				x = ^x & mask
			}
			return uint64(bits.Len64(x)-1) & 0xffffffff
		})
		for _, y := range "su" {
			add(fmt.Sprintf("bfe.%c%d", y, w), kind+kind+"rr", func(a []uint64) (r uint64) {
				at, n := field(w, a[1]), field(w, a[2])
				sign := uint64(0)
				if y == 's' && n > 0 {
					sign = a[0] >> min(at+n-1, w-1) & 1
				}
				for k := range w {
					b := sign
					if k < n && at+k < w {
						b = a[0] >> (at + k) & 1
					}
					r |= b << k
				}
				return r
			})
		}
		add(fmt.Sprintf("bfi.b%d", w), three[:3]+"rr", func(a []uint64) uint64 {
			r, at, n := a[1], field(w, a[2]), field(w, a[3])
			for k := 0; k < n && at+k < w; k++ {
				r = r&^(1<<(at+k)) | a[0]>>min(k, 63)&1<<(at+k)
			}
			return r
		})
		for op, of := range map[string]func(x, y uint64) bool{"eq.s": func(x, y uint64) bool { return x == y }, "ne.u": func(x, y uint64) bool { return x != y },
			"lt.s": func(x, y uint64) bool { return s(x) < s(y) }, "le.u": func(x, y uint64) bool { return x <= y }, "gt.s": func(x, y uint64) bool { return s(x) > s(y) }, "hs.u": func(x, y uint64) bool { return x >= y }} {
			add(fmt.Sprintf("setp.%s%d", op, w), "p"+kind+kind, func(a []uint64) uint64 { return truth(of(a[0], a[1])) })
		}
		add(fmt.Sprintf("selp.b%d", w), kind+kind+kind+"p", func(a []uint64) uint64 {
			if a[2] != 0 {
				return a[0]
			}
			return a[1]
		})
	}
	add("mul.wide.s32", "drr", func(a []uint64) uint64 { return uint64(int64(int32(a[0])) * int64(int32(a[1]))) })
	add("mul.wide.u32", "drr", func(a []uint64) uint64 { return a[0] * a[1] })
	add("mad.wide.u32", "drrd", func(a []uint64) uint64 { return a[0]*a[1] + a[2] })
	add("cvt.s64.s32", "dr", func(a []uint64) uint64 { return uint64(int64(int32(a[0]))) })
	add("cvt.u64.u32", "dr", func(a []uint64) uint64 { return a[0] })
	add("cvt.u32.u64", "rd", func(a []uint64) uint64 { return a[0] & 0xffffffff })
	add("cvt.s32.s8", "rr", func(a []uint64) uint64 { return uint64(uint32(int32(int8(a[0])))) })
	add("cvt.u32.u16", "rr", func(a []uint64) uint64 { return a[0] & 0xffff })
	add("cvt.sat.s32.s64", "rd", func(a []uint64) uint64 {
		return uint64(uint32(int32(max(math.MinInt32, min(math.MaxInt32, int64(a[0]))))))
	})
	add("prmt.b32", "rrrr", func(a []uint64) (r uint64) {
		all := a[0] | a[1]<<32
		for k := range 4 {
			n := a[2] >> (4 * k) & 15
			v := all >> (8 * (n & 7)) & 255
			if n&8 != 0 {
				v = -(v >> 7) & 255
			}
			r |= v << (8 * k)
		}
		return r
	})
	for _, dir := range "lr" {
		for _, mode := range []string{"wrap", "clamp"} {
			add(fmt.Sprintf("shf.%c.%s.b32", dir, mode), "rrrr", func(a []uint64) uint64 {
				n, all := min(a[2], 32), a[1]<<32|a[0]
				if mode == "wrap" {
					n = a[2] % 32
				}
				if dir == 'l' {
					return all << n >> 32
				}
				return all >> n & 0xffffffff
			})
		}
	}
	add("and.pred", "ppp", func(a []uint64) uint64 { return a[0] & a[1] })
	add("or.pred", "ppp", func(a []uint64) uint64 { return a[0] | a[1] })
	add("xor.pred", "ppp", func(a []uint64) uint64 { return a[0] ^ a[1] })
	add("not.pred", "pp", func(a []uint64) uint64 { return a[0] ^ 1 })

	add("add.rn.f32", "fff", func(a []uint64) uint64 { return of32(f32(a[0]) + f32(a[1])) })
	add("sub.rn.f32", "fff", func(a []uint64) uint64 { return of32(f32(a[0]) - f32(a[1])) })
	add("mul.rn.f32", "fff", func(a []uint64) uint64 { return of32(f32(a[0]) * f32(a[1])) })
	add("div.rn.f32", "fff", func(a []uint64) uint64 { return of32(f32(a[0]) / f32(a[1])) })
	add("rcp.rn.f32", "ff", func(a []uint64) uint64 { return of32(1 / f32(a[0])) })
	add("sqrt.rn.f32", "ff", func(a []uint64) uint64 { return of32(float32(math.Sqrt(float64(f32(a[0]))))) })
	add("fma.rn.f32", "ffff", fma32(0))
	add("add.rn.f64", "ggg", func(a []uint64) uint64 { return of64(f64(a[0]) + f64(a[1])) })
	add("sub.rn.f64", "ggg", func(a []uint64) uint64 { return of64(f64(a[0]) - f64(a[1])) })
	add("mul.rn.f64", "ggg", func(a []uint64) uint64 { return of64(f64(a[0]) * f64(a[1])) })
	add("div.rn.f64", "ggg", func(a []uint64) uint64 { return of64(f64(a[0]) / f64(a[1])) })
	add("sqrt.rn.f64", "gg", func(a []uint64) uint64 { return of64(math.Sqrt(f64(a[0]))) })
	add("fma.rn.f64", "gggg", func(a []uint64) uint64 { return of64(math.FMA(f64(a[0]), f64(a[1]), f64(a[2]))) })
	flush := func(v float32) float32 {
		if math.Abs(float64(v)) < 0x1p-126 {
			return float32(math.Copysign(0, float64(v)))
		}
		return v
	}
	add("add.rn.ftz.f32", "fff", func(a []uint64) uint64 { return of32(flush(flush(f32(a[0])) + flush(f32(a[1])))) })
	add("mul.rn.sat.f32", "fff", func(a []uint64) uint64 {
		v := f32(a[0]) * f32(a[1])
		if !(v > 0) {
			return 0
		}
		return of32(min(v, 1))
	})
	pick := func(op string, second func(x, y float64) bool) {
		add(op+".f32", "fff", func(a []uint64) uint64 {
			x, y := f32(a[0]), f32(a[1])
			if x != x || y == y && second(float64(x), float64(y)) {
				return of32(y)
			}
			return of32(x)
		})
		add(op+".f64", "ggg", func(a []uint64) uint64 {
			x, y := f64(a[0]), f64(a[1])
			if x != x || y == y && second(x, y) {
				return of64(y)
			}
			return of64(x)
		})
	}
	pick("min", func(x, y float64) bool { return less(y, x) })
	pick("max", func(x, y float64) bool { return less(x, y) })
	for op, of := range map[string]func(x, y float64) bool{
		"lt": func(x, y float64) bool { return x < y }, "eq": func(x, y float64) bool { return x == y }, "ge": func(x, y float64) bool { return x >= y },
		"ne":  func(x, y float64) bool { return x < y || x > y },
		"ltu": func(x, y float64) bool { return !(x >= y) }, "equ": func(x, y float64) bool { return !(x < y || x > y) }, "neu": func(x, y float64) bool { return x != y },
		"geu": func(x, y float64) bool { return !(x < y) }, "num": func(x, y float64) bool { return x == x && y == y }, "nan": func(x, y float64) bool { return x != x || y != y }} {
		add("setp."+op+".f32", "pff", func(a []uint64) uint64 { return truth(of(float64(f32(a[0])), float64(f32(a[1])))) })
		add("setp."+op+".f64", "pgg", func(a []uint64) uint64 { return truth(of(f64(a[0]), f64(a[1]))) })
	}
	for mode, round := range map[string]func(float64) float64{"rni": math.RoundToEven, "rzi": math.Trunc, "rmi": math.Floor, "rpi": math.Ceil} {
		add("cvt."+mode+".f32.f32", "ff", func(a []uint64) uint64 { return of32(float32(round(float64(f32(a[0]))))) })
		add("cvt."+mode+".s32.f32", "rf", func(a []uint64) uint64 { return toInteger(round(float64(f32(a[0]))), 32, true, false) })
		add("cvt."+mode+".u32.f32", "rf", func(a []uint64) uint64 { return toInteger(round(float64(f32(a[0]))), 32, false, false) })
		add("cvt."+mode+".s64.f64", "dg", func(a []uint64) uint64 { return toInteger(round(f64(a[0])), 64, true, true) })
		add("cvt."+mode+".u64.f32", "df", func(a []uint64) uint64 { return toInteger(round(float64(f32(a[0]))), 64, false, true) })
	}
	add("cvt.rn.f32.s32", "fr", func(a []uint64) uint64 { return of32(float32(int32(a[0]))) })
	add("cvt.rn.f32.u64", "fd", func(a []uint64) uint64 { return of32(float32(a[0])) })
	add("cvt.rn.f64.s64", "gd", func(a []uint64) uint64 { return of64(float64(int64(a[0]))) })
	add("cvt.f64.f32", "gf", func(a []uint64) uint64 { return of64(float64(f32(a[0]))) })
	add("cvt.rn.f32.f64", "fg", func(a []uint64) uint64 { return noNumber(a[0], 23, 8, of32(float32(f64(a[0])))) })
	add("mov.b32", "rf", func(a []uint64) uint64 { return a[0] })
	add("mov.b32", "fr", func(a []uint64) uint64 { return a[0] })
	for mode, toward := range map[string]int{"rm": -1, "rp": 1, "rz": 2} {
		add("fma."+mode+".f32", "ffff", fma32(toward))
		add("fma."+mode+".f64", "gggg", fma64(toward))
	}
	for i, op := range list {
		list[i].of = op.withNaN()
	}
	slices.SortFunc(list, func(a, b ptxOp) int { return strings.Compare(a.text+a.kinds, b.text+b.kinds) })
	return list
}()

// special are bits that instructions may treat in ways of their own.
var special = map[byte][]uint64{
	'r': {0, 1, 2, 31, 32, 33, 0x7fffffff, 0x80000000, 0xffffffff, 0x1f0008, 0x3c007c00, 0xfc003bff, 0x7fff0001, 0x80ff7f01},
	'h': {0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 1, 0x83ff, 0x0400, 0x7bff, 0x3f80, 0x7f80, 0x007f, 0x7f7f, 0x3555, 0x7c01, 0xfe01, 0x7fc0, 0xff81},
	'd': {0, 1, 63, 64, 1 << 31, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 1},
	'f': {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x807fffff, 0x00800000, 0x7f7fffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x3f000000, 0x3effffff, 0xc0200000, 0x7f800001, 0xffc12345, 0x7fbfffff},
	'g': {0, 1 << 63, 0x3ff0000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 1, 0x43e0000000000000, 0x43f0000000000000, 0xc3e0000000000000, 0x3fdfffffffffffff, 0x4004000000000000, 0x7ff0000000000001, 0xfff8000000012345, 0xfff3456789abcdef},
}

func randomBits(rng *rand.Rand, kind byte) uint64 {
	v := rng.Uint64() >> rng.IntN(64)
	switch {
	case rng.IntN(3) == 0:
		v = special[kind][rng.IntN(len(special[kind]))]
	case kind == 'f' && rng.IntN(2) == 0:
		v = uint64(math.Float32bits(float32(rng.NormFloat64() * 100)))
	case kind == 'g' && rng.IntN(2) == 0:
		v = math.Float64bits(rng.NormFloat64() * 100)
	}
	switch kind {
	case 'h':
		v &= 0xffff
	case 'r', 'f':
		v &= 0xffffffff
	}
	return v
}

// carryOps are instructions that hand a carry on, of which the last has the result.
func carryOps(add func(text, kinds string, of func(a []uint64) uint64)) {
	for _, w := range []int{32, 64} {
		kinds := strings.Repeat(map[int]string{32: "r", 64: "d"}[w], 4)
		mask := ^uint64(0) >> (64 - w)
		sum := func(x, y, carry uint64) (s, over uint64) {
			s, over = bits.Add64(x, y, carry)
			if w == 32 {
				over = s >> 32
			}
			return s & mask, over
		}
		difference := func(x, y, borrow uint64) (d, under uint64) {
			d, under = bits.Sub64(x, y, borrow)
			return d & mask, under
		}
		form := func(text string) string {
			return strings.NewReplacer("W", fmt.Sprint(w), "LOW", fmt.Sprintf("%%%%low%d", w)).Replace(text)
		}
		add(form("add.cc.uW LOW, %[2]s, %[3]s;\naddc.uW %[1]s, %[2]s, %[4]s"), kinds, func(a []uint64) uint64 {
			_, c := sum(a[0], a[1], 0)
			s, _ := sum(a[0], a[2], c)
			return s
		})
		add(form("add.cc.uW LOW, %[2]s, %[3]s;\naddc.cc.uW LOW, %[2]s, %[4]s;\naddc.uW %[1]s, 0, 0"), kinds, func(a []uint64) uint64 {
			_, c := sum(a[0], a[1], 0)
			_, c = sum(a[0], a[2], c)
			return c
		})
		add(form("sub.cc.uW LOW, %[2]s, %[3]s;\nsubc.uW %[1]s, %[2]s, %[4]s"), kinds, func(a []uint64) uint64 {
			_, c := difference(a[0], a[1], 0)
			d, _ := difference(a[0], a[2], c)
			return d
		})
		add(form("sub.cc.uW LOW, %[2]s, %[3]s;\nsubc.cc.uW LOW, %[2]s, %[4]s;\nsubc.uW %[1]s, 0, 0"), kinds, func(a []uint64) uint64 {
			_, c := difference(a[0], a[1], 0)
			_, c = difference(a[0], a[2], c)
			return -c & mask
		})
		add(form("mad.lo.cc.uW LOW, %[2]s, %[3]s, %[4]s;\nmadc.hi.uW %[1]s, %[2]s, %[3]s, %[4]s"), kinds, func(a []uint64) uint64 {
			high, low := bits.Mul64(a[0], a[1])
			if w == 32 {
				high, low = low>>32, low&mask
			}
			_, c := sum(low, a[2], 0)
			s, _ := sum(high, a[2], c)
			return s
		})
	}
}

// TestRandomPTX runs random sequences of instructions and compares what registers hold in the
// end. A register's number in a sequence is i; kinds are those of ptxOp.
func TestRandomPTX(t *testing.T) {
	const each = 24
	functions := *manyFunctions
	if testing.Short() {
		functions = min(functions, 8)
	}
	var differ differences
	t.Cleanup(func() { differ.check(t) })
	for n := uint64(1); functions > 0; n++ {
		some := min(functions, each)
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if *manyFunctions > each {
				t.Parallel()
			}
			randomPTX(t, n, some, &differ)
		})
		functions -= each
	}
}

var manyFunctions = flag.Int("functions", 24, "random functions of PTX")

const (
	randomThreads   = 128
	randomKinds     = "hrdfg"
	registersOfKind = 6
	wordsOfThread   = registersOfKind * len(randomKinds)
)

// ptxStep is an instruction with the numbers of its registers.
type ptxStep struct {
	op  ptxOp
	reg []int
}

func (s ptxStep) String() string {
	var operands []string
	for i, k := range []byte(s.op.kinds) {
		operands = append(operands, fmt.Sprint(registerNames[k], s.reg[i]))
	}
	return s.op.write(operands)
}

// ptxSteps are a function that loads all registers, runs the steps, and stores all registers.
type ptxSteps []ptxStep

// With apart, what an instruction leaves goes through memory, so that no compiler makes one of two.
func (steps ptxSteps) write(text *strings.Builder, name string, apart bool) {
	fmt.Fprintf(text, ".visible .entry %s(.param .u64 k_data) {\n.reg .b64 %%at<4>;\n.reg .b32 %%t;\n.reg .b32 %%low32;\n.reg .b64 %%low64;\n.reg .b128 %%wide;\n.reg .b32 %%through;\n", name)
	for _, k := range "phrdfg" {
		fmt.Fprintf(text, ".reg .%s %s<%d>;\n", registerTypes[byte(k)], registerNames[byte(k)], registersOfKind)
	}
	text.WriteString("ld.param.u64 %at0, [k_data];\ncvta.to.global.u64 %at1, %at0;\nmov.u32 %t, %tid.x;\n")
	fmt.Fprintf(text, "mul.wide.u32 %%at2, %%t, %d;\nadd.s64 %%at3, %%at1, %%at2;\n", 8*wordsOfThread)
	each := func(format string) {
		for k := range randomKinds {
			for r := range registersOfKind {
				fmt.Fprintf(text, format+"\n", registerTypes[randomKinds[k]], registerNames[randomKinds[k]], r, 8*(k*registersOfKind+r))
			}
		}
	}
	each("ld.global.%[1]s %[2]s%[3]d, [%%at3+%[4]d];")
	for r := range registersOfKind {
		fmt.Fprintf(text, "setp.ne.s32 %%p%d, %%r%d, %%r%d;\n", r, r, r)
	}
	for _, s := range steps {
		text.WriteString(s.String())
		if !apart {
			continue
		}
		switch k, r := s.op.kinds[0], fmt.Sprint(registerNames[s.op.kinds[0]], s.reg[0]); k {
		case 'p':
			fmt.Fprintf(text, "selp.b32 %%through, 1, 0, %[1]s;\nst.volatile.global.b32 [%%at3], %%through;\nld.volatile.global.b32 %%through, [%%at3];\nsetp.ne.b32 %[1]s, %%through, 0;\n", r)
		default:
			fmt.Fprintf(text, "st.volatile.global.%[1]s [%%at3], %[2]s;\nld.volatile.global.%[1]s %[2]s, [%%at3];\n", registerTypes[k], r)
		}
	}
	each("st.global.%[1]s [%%at3+%[4]d], %[2]s%[3]d;")
	text.WriteString("ret;\n}\n")
}

// compare computes what the steps make of words and hands row each value of a thread's register that
// is another one in after. It counts what it compares and what it leaves out: what follows from the
// bits of f64 that is no number, of which devices have others, and of what PTX does not define.
func (steps ptxSteps) compare(words, after []uint64, row func(thread int, of, name string, got, want uint64)) (compared, left int) {
	for thread := range randomThreads {
		state := map[byte][]uint64{'p': make([]uint64, registersOfKind)}
		unknown := map[string]bool{}
		for k := range randomKinds {
			state[randomKinds[k]] = slices.Clone(words[thread*wordsOfThread+k*registersOfKind:][:registersOfKind])
		}
		last := map[string]string{} // the instruction that a register's value is of
		for _, s := range steps {
			var args []uint64
			result := fmt.Sprint(registerNames[s.op.kinds[0]], s.reg[0])
			guess := s.folds(state)
			for i, k := range []byte(s.op.kinds[1:]) {
				v := state[k][s.reg[i+1]]
				args = append(args, v)
				guess = guess || unknown[fmt.Sprint(registerNames[k], s.reg[i+1])] || k == 'g' && f64(v) != f64(v) && s.op.payload()
			}
			state[s.op.kinds[0]][s.reg[0]] = s.op.of(args)
			unknown[result] = guess
			last[result] = fmt.Sprintf("%s of %s", s.op.name(), words16(s.op.kinds[1:], args))
		}
		for k := range randomKinds {
			for r := range registersOfKind {
				kind := randomKinds[k]
				got, want := seen(kind, after[thread*wordsOfThread+k*registersOfKind+r]), state[kind][r]
				name := fmt.Sprint(registerNames[kind], r)
				if unknown[name] {
					left++
					continue
				}
				compared++
				if !sameBits(kind, got, want) {
					row(thread, last[name], name, got, want)
				}
			}
		}
	}
	return compared, left
}

// run runs function name of a module.
func (steps ptxSteps) run(b *box, m driver.Module, name string, words []uint64) []uint64 {
	b.t.Helper()
	f, err := b.d.ModuleFunction(b.c, m, name)
	b.ok(err)
	at := upload(b, words)
	b.ok(b.launch(f, dim(1), dim(randomThreads), 0, at))
	b.ok(b.d.CtxSynchronize(b.c, nil))
	after := download[uint64](b, at, len(words))
	b.ok(b.d.MemFree(b.c, at))
	return after
}

// alone writes, loads and runs the steps as the one function of a module.
func (steps ptxSteps) alone(b *box, apart bool, words []uint64) []uint64 {
	var text strings.Builder
	steps.write(&text, "k", apart)
	one := b.of(text.String())
	return steps.run(one, one.load(&driver.Source{Name: "alone.ptx"}), "k", words)
}

// shrink leaves out steps for as long as something differs.
func (steps ptxSteps) shrink(b *box, words []uint64) (shorter ptxSteps, row string) {
	differs := func(some ptxSteps) bool {
		found := ""
		some.compare(words, some.alone(b, false, words), func(thread int, of, name string, got, want uint64) {
			if found == "" {
				found = fmt.Sprintf("thread %d, %s, %s: %#x, want %#x, loaded %s", thread, name, of, got, want, words16(strings.Repeat("d", wordsOfThread), words[thread*wordsOfThread:][:wordsOfThread]))
			}
		})
		if found != "" {
			row = found
		}
		return found != ""
	}
	for size := len(steps) / 2; size > 0; {
		removed := false
		for from := len(steps) - size; from >= 0; from -= size {
			if some := slices.Delete(slices.Clone(steps), from, from+size); differs(some) {
				steps, removed = some, true
				from = min(from, len(steps)) // those behind are seen
			}
		}
		if !removed || size > 1 {
			size /= 2
		}
	}
	return steps, row
}

var shrinks = flag.Int("shrink", 0, "functions of each 24 that differ to be made short")

func randomPTX(t *testing.T, seed uint64, functions int, differ *differences) {
	const length = 60
	rng := rand.New(rand.NewPCG(34, seed))
	ops := slices.DeleteFunc(slices.Clone(ptxOps), ptxOp.emulated)
	var programs []ptxSteps
	var order []int
	var text strings.Builder
	for n := range functions {
		var steps ptxSteps
		for range length {
			if len(order) == 0 {
				order = rng.Perm(len(ops)) // none is left out
			}
			s := ptxStep{op: ops[order[0]]}
			order = order[1:]
			for i := range s.op.kinds {
				from, n := s.op.registers(i)
				s.reg = append(s.reg, from+rng.IntN(n))
			}
			steps = append(steps, s)
		}
		steps.write(&text, fmt.Sprint("k", n), false)
		programs = append(programs, steps)
	}
	data := make([][]uint64, functions)
	for n := range data {
		for i := range wordsOfThread * randomThreads {
			data[n] = append(data[n], randomBits(rng, randomKinds[i%wordsOfThread/registersOfKind]))
		}
	}
	compared, left := 0, 0
	onBoth(t, ofPTX(text.String()), func(t *testing.T, b *box) {
		m := b.load(&driver.Source{Name: fmt.Sprintf("random%d.ptx", seed)})
		shrunk, folds := 0, 0
		for n, steps := range programs {
			var rows []string
			c, l := steps.compare(data[n], steps.run(b, m, fmt.Sprint("k", n), data[n]), func(thread int, of, name string, got, want uint64) {
				rows = append(rows, fmt.Sprintf("%s, thread %d, %s: %#x, want %#x", of, thread, name, got, want))
			})
			compared, left = compared+c, left+l
			if rows == nil {
				continue
			}
			// Where each instruction by itself gives what the model does, a compiler folded some.
			folded := true
			steps.compare(data[n], steps.alone(b, true, data[n]), func(thread int, of, name string, got, want uint64) {
				folded = false
				kind, _, _ := strings.Cut(of, " of ")
				differ.add(kind, "%s, function %d, thread %d, %s, %s: %#x, want %#x", t.Name(), n, thread, name, of, got, want)
			})
			if folded {
				folds++
			}
			if shrunk < *shrinks {
				shrunk++
				few, row := steps.shrink(b, data[n])
				t.Logf("function %d, folded %v, made short:\n%v%s", n, folded, few, row)
			}
		}
		if folds > 0 {
			t.Logf("%d functions differ only as a whole: the GPU's compiler folds instructions", folds)
			if _, gpu := b.d.(given); !gpu {
				t.Error("in the simulator no instruction depends on the one before")
			}
		}
	})
	t.Logf("%d functions of %d instructions, %d forms, %d threads each; %d values compared, %d left out", functions, length, len(ops), randomThreads, compared, left)
}

// registers are those that operand i may be in. Of 16 and of 32 bits each format has its own: where a
// float is read as one of another format, or as an integer, ptxas of CUDA 13.0 folds conversions
// that it should not (cvt.rn.f16.bf16 followed by cvt.rzi.s64.bf16 converts once). Logic reads any.
func (op ptxOp) registers(i int) (from, n int) {
	if k := op.kinds[i]; k != 'h' && k != 'r' {
		return 0, registersOfKind
	}
	form, _, _ := strings.Cut(op.text, " ")
	list := strings.Split(form, ".")
	switch list[0] {
	case "and", "or", "xor", "not", "lop3", "prmt", "selp":
		return 0, registersOfKind
	}
	of := list[len(list)-1]
	if i == 0 && (list[0] == "cvt" || list[0] == "set") {
		of = list[len(list)-2]
	}
	switch of {
	case "f16", "f16x2":
		return 2, 2
	case "bf16", "bf16x2", "tf32":
		return 4, 2
	}
	return 0, 2
}

// folds says whether a GPU's compiler may give another value: PTX leaves open what 0/0 is, and of a
// minimum of x and x the compiler makes x, also where that is no number.
func (s ptxStep) folds(state map[byte][]uint64) bool {
	name, _, _ := strings.Cut(s.op.text, ".")
	if len(s.reg) < 3 {
		return false
	}
	kind := s.op.kinds[2]
	switch y := state[kind][s.reg[2]]; name {
	case "min", "max":
		return s.reg[1] == s.reg[2] && !s.op.number(y)
	case "div", "rem":
		return strings.ContainsRune("hrd", rune(kind)) && seen(kind, y) == 0 && seen(kind, state[kind][s.reg[1]]) == 0
	}
	return false
}

// number says whether an operand's bits, or each half's of a pair, are a number in the operation's format.
func (op ptxOp) number(v uint64) bool {
	half := func(most uint64) bool { return v&0x7fff <= most && (op.kinds[0] == 'h' || v>>16&0x7fff <= most) }
	switch text := op.text; {
	case strings.Contains(text, ".bf16"):
		return half(0x7f80)
	case strings.Contains(text, ".f16"):
		return half(0x7c00)
	case strings.Contains(text, ".f32"):
		return f32(v) == f32(v)
	}
	return true
}

// payload says whether the result shows the bits of an operand of f64 that is no number.
func (op ptxOp) payload() bool {
	return op.kinds[0] != 'p' && op.kinds[0] != 'g' || strings.HasPrefix(op.text, "copysign")
}
