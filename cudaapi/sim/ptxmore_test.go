package sim_test

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"
)

// moreOps are numbers of 16 bits, roundings in a direction, f32 that flushes what is not normal,
// comparisons that give words, and conversions between the narrow types.
func moreOps(add func(text, kinds string, of func(a []uint64) uint64)) {
	narrowOps(add)
	directedOps(add)
	flushedOps(add)
	convertOps(add)
	for _, w := range []int{32, 64} {
		k := map[int]string{32: "r", 64: "d"}[w]
		mask := ^uint64(0) >> (64 - w)
		s := func(v uint64) int64 { return int64(v<<(64-w)) >> (64 - w) }
		add(fmt.Sprintf("cnot.b%d", w), k+k, func(a []uint64) uint64 { return truth(a[0] == 0) })
		add(fmt.Sprintf("sad.s%d", w), k+k+k+k, func(a []uint64) uint64 {
			if s(a[0]) < s(a[1]) {
				return (a[1] - a[0] + a[2]) & mask
			}
			return (a[0] - a[1] + a[2]) & mask
		})
		add(fmt.Sprintf("sad.u%d", w), k+k+k+k, func(a []uint64) uint64 { return (max(a[0], a[1]) - min(a[0], a[1]) + a[2]) & mask })
		add(fmt.Sprintf("bfind.shiftamt.u%d", w), "r"+k, func(a []uint64) uint64 {
			if a[0] == 0 {
				return 0xffffffff
			}
			return uint64(bits.LeadingZeros64(a[0]) - (64 - w))
		})
		add(fmt.Sprintf("set.lt.u32.s%d", w), "r"+k+k, func(a []uint64) uint64 { return truth(s(a[0]) < s(a[1])) * 0xffffffff })
		add(fmt.Sprintf("set.ne.f32.b%d", w), "f"+k+k, func(a []uint64) uint64 { return truth(a[0] != a[1]) * 0x3f800000 })
	}
	clamped := func(v int64) uint64 { return uint64(max(math.MinInt32, min(math.MaxInt32, v))) & 0xffffffff }
	add("add.sat.s32", "rrr", func(a []uint64) uint64 { return clamped(int64(int32(a[0])) + int64(int32(a[1]))) })
	add("sub.sat.s32", "rrr", func(a []uint64) uint64 { return clamped(int64(int32(a[0])) - int64(int32(a[1]))) })
	add("mul24.lo.s32", "rrr", func(a []uint64) uint64 {
		return uint64(int64(int32(a[0])<<8>>8)*int64(int32(a[1])<<8>>8)) & 0xffffffff
	})
	add("mad24.lo.u32", "rrrr", func(a []uint64) uint64 { return (a[0]&0xffffff*(a[1]&0xffffff) + a[2]) & 0xffffffff })
	add("max.relu.s32", "rrr", func(a []uint64) uint64 { return uint64(max(int32(a[0]), int32(a[1]), 0)) })
	add("min.relu.s32", "rrr", func(a []uint64) uint64 { return uint64(max(min(int32(a[0]), int32(a[1])), 0)) })
	for _, table := range []uint64{0x96, 0xe8, 0x2d} {
		add(fmt.Sprintf("lop3.b32 %%[1]s, %%[2]s, %%[3]s, %%[4]s, %#x", table), "rrrr", func(a []uint64) (r uint64) {
			for k := range 32 {
				r |= table >> (a[0]>>k&1<<2 | a[1]>>k&1<<1 | a[2]>>k&1) & 1 << k
			}
			return r
		})
	}
	add("copysign.f32", "fff", func(a []uint64) uint64 { return a[1]&^(1<<31) | a[0]&(1<<31) })
	add("copysign.f64", "ggg", func(a []uint64) uint64 { return a[1]&^(1<<63) | a[0]&(1<<63) })
	for name, of := range map[string]func(v, normal float64) bool{
		"finite": func(v, _ float64) bool { return v-v == 0 }, "infinite": func(v, _ float64) bool { return math.IsInf(v, 0) },
		"number": func(v, _ float64) bool { return v == v }, "notanumber": func(v, _ float64) bool { return v != v },
		"normal": func(v, normal float64) bool { return v == 0 || v-v == 0 && math.Abs(v) >= normal }, "subnormal": func(v, normal float64) bool { return v != 0 && math.Abs(v) < normal },
	} {
		add("testp."+name+".f32", "pf", func(a []uint64) uint64 { return truth(of(float64(f32(a[0])), 0x1p-126)) })
		add("testp."+name+".f64", "pg", func(a []uint64) uint64 { return truth(of(f64(a[0]), 0x1p-1022)) })
	}
}

func narrowOps(add func(text, kinds string, of func(a []uint64) uint64)) {
	s := func(v uint64) int64 { return int64(int16(v)) }
	two := func(text string, of func(x, y uint64) uint64) {
		add(text, "hhh", func(a []uint64) uint64 { return of(a[0], a[1]) & 0xffff })
	}
	two("add.s16", func(x, y uint64) uint64 { return x + y })
	two("sub.u16", func(x, y uint64) uint64 { return x - y })
	two("mul.lo.s16", func(x, y uint64) uint64 { return x * y })
	two("mul.hi.s16", func(x, y uint64) uint64 { return uint64(s(x) * s(y) >> 16) })
	two("mul.hi.u16", func(x, y uint64) uint64 { return x * y >> 16 })
	two("min.s16", func(x, y uint64) uint64 { return uint64(min(s(x), s(y))) })
	two("max.u16", func(x, y uint64) uint64 { return max(x, y) })
	two("and.b16", func(x, y uint64) uint64 { return x & y })
	two("xor.b16", func(x, y uint64) uint64 { return x ^ y })
	two("div.u16", func(x, y uint64) uint64 {
		if y == 0 {
			return 0xffff
		}
		return x / y
	})
	two("div.s16", func(x, y uint64) uint64 {
		if y == 0 {
			return 0xffff
		}
		return uint64(s(x) / s(y))
	})
	two("rem.u16", func(x, y uint64) uint64 {
		if y == 0 {
			return 0xffff
		}
		return x % y
	})
	two("rem.s16", func(x, y uint64) uint64 {
		if y == 0 {
			return 0xffff
		}
		return uint64(s(x) % s(y))
	})
	add("mul.wide.s16", "rhh", func(a []uint64) uint64 { return uint64(s(a[0])*s(a[1])) & 0xffffffff })
	add("mul.wide.u16", "rhh", func(a []uint64) uint64 { return a[0] * a[1] })
	add("mad.wide.s16", "rhhr", func(a []uint64) uint64 { return (uint64(s(a[0])*s(a[1])) + a[2]) & 0xffffffff })
	add("mad.lo.u16", "hhhh", func(a []uint64) uint64 { return (a[0]*a[1] + a[2]) & 0xffff })
	add("shl.b16", "hhr", func(a []uint64) uint64 { return a[0] << min(a[1], 63) & 0xffff })
	add("shr.s16", "hhr", func(a []uint64) uint64 { return uint64(s(a[0])>>min(a[1], 63)) & 0xffff })
	add("shr.u16", "hhr", func(a []uint64) uint64 { return a[0] >> min(a[1], 63) })
	add("not.b16", "hh", func(a []uint64) uint64 { return ^a[0] & 0xffff })
	add("neg.s16", "hh", func(a []uint64) uint64 { return -a[0] & 0xffff })
	add("abs.s16", "hh", func(a []uint64) uint64 { return uint64(max(s(a[0]), -s(a[0]))) & 0xffff })
	add("setp.lt.s16", "phh", func(a []uint64) uint64 { return truth(s(a[0]) < s(a[1])) })
	add("setp.hi.u16", "phh", func(a []uint64) uint64 { return truth(a[0] > a[1]) })
}

// exactly rounds what a calculation with big numbers makes of finite operands, which is not 0;
// else it is what v is.
func exactly(toward int, of func(z *big.Float, a []*big.Float) *big.Float, v func(a []float64) float64) func(list []float64, narrow bool) float64 {
	return func(list []float64, narrow bool) float64 {
		usual := v(list)
		var operands []*big.Float
		for _, x := range list {
			if x-x != 0 {
				return usual
			}
			operands = append(operands, new(big.Float).SetPrec(2200).SetFloat64(x))
		}
		if usual-usual != 0 && len(list) == 2 && list[1] == 0 || usual != usual {
			return usual
		}
		x := of(new(big.Float).SetPrec(2200), operands)
		if x.Sign() == 0 {
			return usual
		}
		if narrow {
			return float64(exact(x, toward))
		}
		return exact64(x, toward)
	}
}

func directedOps(add func(text, kinds string, of func(a []uint64) uint64)) {
	for mode, toward := range map[string]int{"rm": -1, "rp": 1, "rz": 2} {
		both := func(op string, n int, of func(z *big.Float, a []*big.Float) *big.Float, v func(a []float64) float64) {
			f := exactly(toward, of, v)
			add(op+"."+mode+".f32", strings.Repeat("f", n+1), func(a []uint64) uint64 {
				var list []float64
				for _, b := range a {
					list = append(list, float64(f32(b)))
				}
				return of32(float32(f(list, true)))
			})
			add(op+"."+mode+".f64", strings.Repeat("g", n+1), func(a []uint64) uint64 {
				var list []float64
				for _, b := range a {
					list = append(list, f64(b))
				}
				return of64(f(list, false))
			})
		}
		// of different numbers the sum is 0 toward a side, of equal ones of their sign
		zero := func(x, y float64) float64 {
			if s := x + y; s != 0 || toward != -1 || x == 0 && y == 0 && !math.Signbit(x) && !math.Signbit(y) {
				return s
			}
			return math.Copysign(0, -1)
		}
		both("add", 2, func(z *big.Float, a []*big.Float) *big.Float { return z.Add(a[0], a[1]) }, func(a []float64) float64 { return zero(a[0], a[1]) })
		both("sub", 2, func(z *big.Float, a []*big.Float) *big.Float { return z.Sub(a[0], a[1]) }, func(a []float64) float64 { return zero(a[0], -a[1]) })
		both("mul", 2, func(z *big.Float, a []*big.Float) *big.Float { return z.Mul(a[0], a[1]) }, func(a []float64) float64 { return a[0] * a[1] })
		both("div", 2, func(z *big.Float, a []*big.Float) *big.Float { return z.Quo(a[0], a[1]) }, func(a []float64) float64 { return a[0] / a[1] })
		both("sqrt", 1, func(z *big.Float, a []*big.Float) *big.Float { return z.Sqrt(a[0]) }, func(a []float64) float64 { return math.Sqrt(a[0]) })
		add("rcp."+mode+".f32", "ff", func(a []uint64) uint64 {
			v := float64(f32(a[0]))
			if v == 0 || v-v != 0 {
				return of32(float32(1 / v))
			}
			return of32(exact(new(big.Float).SetPrec(2200).Quo(big.NewFloat(1), big.NewFloat(v)), toward))
		})
		add("cvt."+mode+".f32.f64", "fg", func(a []uint64) uint64 {
			if v := f64(a[0]); v == 0 || v-v != 0 {
				return noNumber(a[0], 23, 8, of32(float32(v)))
			}
			return of32(exact(big.NewFloat(f64(a[0])), toward))
		})
		integer := func(text, kinds string, of func(b uint64) *big.Int) {
			add(fmt.Sprintf("cvt.%s.%s", mode, text), kinds, func(a []uint64) uint64 {
				n := new(big.Float).SetPrec(2200).SetInt(of(a[0]))
				if kinds[0] == 'g' {
					return of64(exact64(n, toward))
				}
				return of32(exact(n, toward))
			})
		}
		integer("f32.s32", "fr", func(b uint64) *big.Int { return big.NewInt(int64(int32(b))) })
		integer("f32.u64", "fd", func(b uint64) *big.Int { return new(big.Int).SetUint64(b) })
		integer("f64.s64", "gd", func(b uint64) *big.Int { return big.NewInt(int64(b)) })
	}
}

func flushedOps(add func(text, kinds string, of func(a []uint64) uint64)) {
	flush := func(v float32) float32 {
		if math.Abs(float64(v)) < 0x1p-126 {
			return float32(math.Copysign(0, float64(v)))
		}
		return v
	}
	of := func(text string, n int, f func(a []float32) float32) {
		add(text, strings.Repeat("f", n+1), func(a []uint64) uint64 {
			var list []float32
			for _, b := range a {
				list = append(list, flush(f32(b)))
			}
			return of32(flush(f(list)))
		})
	}
	of("sub.rn.ftz.f32", 2, func(a []float32) float32 { return a[0] - a[1] })
	of("mul.rn.ftz.f32", 2, func(a []float32) float32 { return a[0] * a[1] })
	of("div.rn.ftz.f32", 2, func(a []float32) float32 { return a[0] / a[1] })
	of("rcp.rn.ftz.f32", 1, func(a []float32) float32 { return 1 / a[0] })
	of("sqrt.rn.ftz.f32", 1, func(a []float32) float32 { return float32(math.Sqrt(float64(a[0]))) })
	of("min.ftz.f32", 2, func(a []float32) float32 {
		if a[0] != a[0] || a[1] == a[1] && less(float64(a[1]), float64(a[0])) {
			return a[1]
		}
		return a[0]
	})
	add("max.NaN.f32", "fff", func(a []uint64) uint64 { return of32(max(f32(a[0]), f32(a[1]))) })
	ops := fma32(0)
	add("fma.rn.ftz.f32", "ffff", func(a []uint64) uint64 {
		var list []uint64
		for _, b := range a {
			list = append(list, uint64(math.Float32bits(flush(f32(b)))))
		}
		return of32(flush(f32(ops(list))))
	})
	add("fma.rn.sat.f32", "ffff", func(a []uint64) uint64 {
		v := f32(ops(a))
		if !(v > 0) {
			return 0
		}
		return of32(min(v, 1))
	})
	add("setp.lt.ftz.f32", "pff", func(a []uint64) uint64 { return truth(flush(f32(a[0])) < flush(f32(a[1]))) })
	add("set.gt.u32.f32", "rff", func(a []uint64) uint64 { return truth(f32(a[0]) > f32(a[1])) * 0xffffffff })
	add("set.le.f32.f64", "fgg", func(a []uint64) uint64 { return truth(f64(a[0]) <= f64(a[1])) * 0x3f800000 })
	add("cvt.rzi.ftz.s32.f32", "rf", func(a []uint64) uint64 {
		return toInteger(math.Trunc(float64(flush(f32(a[0])))), 32, true, false)
	})
	add("cvt.rpi.ftz.s32.f32", "rf", func(a []uint64) uint64 {
		return toInteger(math.Ceil(float64(flush(f32(a[0])))), 32, true, false)
	})
	add("cvt.rn.ftz.f32.f64", "fg", func(a []uint64) uint64 { return noNumber(a[0], 23, 8, of32(flush(float32(f64(a[0]))))) })
	add("cvt.ftz.f64.f32", "gf", func(a []uint64) uint64 { return of64(float64(f32(of32(flush(f32(a[0])))))) })
	add("cvt.sat.f32.f32", "ff", func(a []uint64) uint64 {
		v := f32(a[0])
		if !(v > 0) {
			return 0
		}
		return of32(min(v, 1))
	})
	add("neg.f32", "ff", func(a []uint64) uint64 { return of32(-f32(a[0])) })
	add("abs.f32", "ff", func(a []uint64) uint64 { return of32(float32(math.Abs(float64(f32(a[0]))))) })
	add("neg.f64", "gg", func(a []uint64) uint64 { return a[0] ^ 1<<63 })
	add("abs.f64", "gg", func(a []uint64) uint64 { return a[0] &^ (1 << 63) })
}

func convertOps(add func(text, kinds string, of func(a []uint64) uint64)) {
	half, brain := format{"f16", 10, 5}, format{"bf16", 7, 8}
	for _, w := range []int{8, 16} {
		for _, y := range "su" {
			signed := y == 's'
			wide := func(v uint64) uint64 { return uint64(part(v, 0, w, signed)) & 0xffffffff }
			add(fmt.Sprintf("cvt.%c%d.u32", y, w), "rr", func(a []uint64) uint64 { return wide(a[0]) })
			add(fmt.Sprintf("cvt.sat.%c%d.s32", y, w), "rr", func(a []uint64) uint64 {
				least, most := int64(0), int64(1)<<w-1
				if signed {
					least, most = -1<<(w-1), 1<<(w-1)-1
				}
				return uint64(max(least, min(most, int64(int32(a[0]))))) & 0xffffffff
			})
			add(fmt.Sprintf("cvt.rni.%c%d.f32", y, w), "rf", func(a []uint64) uint64 {
				return wide(toInteger(math.RoundToEven(float64(f32(a[0]))), w, signed, false))
			})
			add(fmt.Sprintf("cvt.rzi.%c%d.f64", y, w), "rg", func(a []uint64) uint64 {
				return wide(toInteger(math.Trunc(f64(a[0])), w, signed, true)) // of f64, as of 64 bits
			})
			add(fmt.Sprintf("cvt.rn.f32.%c%d", y, w), "fr", func(a []uint64) uint64 { return of32(float32(part(a[0], 0, w, signed))) })
			add(fmt.Sprintf("cvt.rn.f64.%c%d", y, w), "gr", func(a []uint64) uint64 { return of64(float64(part(a[0], 0, w, signed))) })
			for _, f := range []format{half, brain} {
				if f.name == "bf16" && w == 8 {
					continue // there are none
				}
				add(fmt.Sprintf("cvt.rn.%s.%c%d", f.name, y, w), "hh", func(a []uint64) uint64 { return f.bits(nil, float64(part(a[0], 0, w, signed)), 0) })
				add(fmt.Sprintf("cvt.rzi.%c%d.%s", y, w, f.name), "hh", func(a []uint64) uint64 {
					return wide(toInteger(math.Trunc(f.value(a[0])), w, signed, false)) & 0xffff
				})
			}
		}
	}
	for _, f := range []format{half, brain} {
		add("cvt.f64."+f.name, "gh", func(a []uint64) uint64 {
			if v := f.value(a[0]); v == v {
				return of64(v)
			}
			return a[0]>>15<<63 | 0x7ff8<<48 | a[0]<<(52-f.fraction)&(1<<52-1)
		})
		add("cvt.rn.relu."+f.name+".f32", "hf", func(a []uint64) uint64 {
			b := f.bits(nil, float64(f32(a[0])), 0)
			if b>>15 != 0 {
				return 0
			}
			return b
		})
		add("cvt.rz."+f.name+"x2.f32", "rff", func(a []uint64) uint64 {
			return f.bits(nil, float64(f32(a[0])), 2)<<16 | f.bits(nil, float64(f32(a[1])), 2)
		})
		add("cvt.rn.relu."+f.name+"x2.f32", "rff", func(a []uint64) uint64 {
			one := func(v uint64) uint64 {
				if b := f.bits(nil, float64(f32(v)), 0); b>>15 == 0 {
					return b
				}
				return 0
			}
			return one(a[0])<<16 | one(a[1])
		})
	}
	add("cvt.rn.bf16.f16", "hh", func(a []uint64) uint64 { return brain.bits(nil, half.value(a[0]), 0) })
	add("cvt.rn.f16.bf16", "hh", func(a []uint64) uint64 { return half.bits(nil, brain.value(a[0]), 0) })
	add("fma.rn.sat.f16", "hhhh", func(a []uint64) uint64 {
		v := half.value(half.fma(half.value(a[0]), half.value(a[1]), half.value(a[2])))
		if !(v > 0) {
			return 0
		}
		return half.bits(nil, min(v, 1), 0)
	})
}
