package sim_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
)

// format is one of 16 bits.
type format struct {
	name               string
	fraction, exponent int
}

func (f format) value(b uint64) float64 {
	b &= 0xffff
	e, m := int(b>>f.fraction)&(1<<f.exponent-1), float64(b&(1<<f.fraction-1))
	least := 2 - 1<<(f.exponent-1)
	v := math.Ldexp(m, least-f.fraction)
	switch {
	case e == 1<<f.exponent-1 && m != 0:
		return math.NaN()
	case e == 1<<f.exponent-1:
		v = math.Inf(1)
	case e > 0:
		v = math.Ldexp(m+math.Ldexp(1, f.fraction), least-f.fraction+e-1)
	}
	if b>>15 != 0 {
		v = -v
	}
	return v
}

// bits rounds what is exactly x, or where that is none, v; toward 0: nearest, -1: down, 1: up, 2: zero.
func (f format) bits(x *big.Float, v float64, toward int) uint64 {
	if v != v {
		return 0x7fff
	}
	sign, infinity := uint64(0), uint64(1<<f.exponent-1)<<f.fraction
	if math.Signbit(v) {
		sign = 0x8000
	}
	if x != nil && x.Sign() != 0 {
		if sign = 0; x.Signbit() {
			sign = 0x8000
		}
	} else if math.IsInf(v, 0) {
		return sign | infinity
	} else if v == 0 {
		return sign
	} else {
		x = big.NewFloat(v)
	}
	least := 2 - 1<<(f.exponent-1)
	e := max(x.MantExp(nil)-1, least)
	scaled := new(big.Float).SetMantExp(new(big.Float).Abs(x), f.fraction-e)
	n, _ := scaled.Uint64()
	rest := new(big.Float).Sub(scaled, new(big.Float).SetUint64(n))
	away := toward == 1 && sign == 0 || toward == -1 && sign != 0
	if half := rest.Cmp(big.NewFloat(0.5)); away && rest.Sign() > 0 || toward == 0 && (half > 0 || half == 0 && n&1 == 1) {
		n++
	}
	if n += uint64(e-least) << f.fraction; n >= infinity {
		if n = infinity; !away && toward != 0 {
			n--
		}
	}
	return sign | n
}

func (f format) fma(x, y, z float64) uint64 {
	v := math.FMA(x, y, z)
	if math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsInf(z, 0) || v != v {
		return f.bits(nil, v, 0)
	}
	exactly := func(v float64) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(v) }
	return f.bits(new(big.Float).SetPrec(2000).Add(new(big.Float).SetPrec(2000).Mul(exactly(x), exactly(y)), exactly(z)), v, 0)
}

func shortOps(add func(text, kinds string, of func(a []uint64) uint64)) {
	for _, f := range []format{{"f16", 10, 5}, {"bf16", 7, 8}} {
		// of one number, and of pairs
		each := func(op string, n int, of func(a []uint64) uint64) {
			add(op+"."+f.name, strings.Repeat("h", n+1), of)
			add(op+"."+f.name+"x2", strings.Repeat("r", n+1), func(a []uint64) uint64 {
				var low, high []uint64
				for _, v := range a {
					low, high = append(low, v&0xffff), append(high, v>>16)
				}
				return of(low) | of(high)<<16
			})
		}
		saturated := func(b uint64) uint64 {
			v := f.value(b)
			if !(v > 0) {
				return 0
			}
			return f.bits(nil, min(v, 1), 0)
		}
		each("add.rn", 2, func(a []uint64) uint64 { return f.fma(1, f.value(a[0]), f.value(a[1])) })
		each("sub.rn", 2, func(a []uint64) uint64 { return f.fma(-1, f.value(a[1]), f.value(a[0])) })
		each("mul.rn", 2, func(a []uint64) uint64 {
			return f.bits(nil, f.value(a[0])*f.value(a[1]), 0)
		})
		each("fma.rn", 3, func(a []uint64) uint64 { return f.fma(f.value(a[0]), f.value(a[1]), f.value(a[2])) })
		each("fma.rn.relu", 3, func(a []uint64) uint64 {
			b := f.fma(f.value(a[0]), f.value(a[1]), f.value(a[2]))
			if b>>15 != 0 {
				return 0
			}
			return b
		})
		if f.name == "f16" {
			each("add.sat", 2, func(a []uint64) uint64 { return saturated(f.fma(1, f.value(a[0]), f.value(a[1]))) })
			flush := func(b uint64) uint64 {
				if b&0x7c00 == 0 {
					return b & 0x8000
				}
				return b
			}
			each("add.ftz", 2, func(a []uint64) uint64 { return flush(f.fma(1, f.value(flush(a[0])), f.value(flush(a[1])))) })
		}
		of := func(b, v uint64) uint64 {
			if n := f.value(b); n != n {
				return 0x7fff
			}
			return v
		}
		each("neg", 1, func(a []uint64) uint64 { return of(a[0], a[0]^0x8000) })
		each("abs", 1, func(a []uint64) uint64 { return of(a[0], a[0]&^0x8000) })
		for op, second := range map[string]func(x, y float64) bool{"min": func(x, y float64) bool { return less(y, x) }, "max": func(x, y float64) bool { return less(x, y) }} {
			pick := func(a []uint64) uint64 {
				x, y := f.value(a[0]), f.value(a[1])
				if x != x || y == y && second(x, y) {
					x = y
				}
				return f.bits(nil, x, 0)
			}
			each(op, 2, pick)
			each(op+".NaN", 2, func(a []uint64) uint64 {
				if x, y := f.value(a[0]), f.value(a[1]); x != x || y != y {
					return 0x7fff
				}
				return pick(a)
			})
		}
		for op, of := range map[string]func(x, y float64) bool{"lt": func(x, y float64) bool { return x < y }, "ne": func(x, y float64) bool { return x < y || x > y },
			"geu": func(x, y float64) bool { return !(x < y) }, "nan": func(x, y float64) bool { return x != x || y != y }} {
			add("setp."+op+"."+f.name, "phh", func(a []uint64) uint64 { return truth(of(f.value(a[0]), f.value(a[1]))) })
			halves := func(yes uint64) func(a []uint64) uint64 {
				return func(a []uint64) uint64 {
					return truth(of(f.value(a[0]), f.value(a[1])))*yes | truth(of(f.value(a[0]>>16), f.value(a[1]>>16)))*yes<<16
				}
			}
			add("set."+op+".u32."+f.name+"x2", "rrr", halves(0xffff))
			add(fmt.Sprintf("set.%s.%sx2.%[2]sx2", op, f.name), "rrr", halves(f.bits(nil, 1, 0)))
		}
		for mode, toward := range map[string]int{"rn": 0, "rm": -1, "rp": 1, "rz": 2} {
			to := func(type_, kinds string, of func(b uint64) (*big.Float, float64)) {
				add(fmt.Sprintf("cvt.%s.%s.%s", mode, f.name, type_), kinds, func(a []uint64) uint64 {
					x, v := of(a[0])
					return f.bits(x, v, toward)
				})
			}
			to("f32", "hf", func(b uint64) (*big.Float, float64) { return nil, float64(f32(b)) })
			add(fmt.Sprintf("cvt.%s.%s.f64", mode, f.name), "hg", func(a []uint64) uint64 {
				return noNumber(a[0], f.fraction, f.exponent, f.bits(nil, f64(a[0]), toward))
			})
			to("s32", "hr", func(b uint64) (*big.Float, float64) { return nil, float64(int32(b)) })
			to("s64", "hd", func(b uint64) (*big.Float, float64) { return new(big.Float).SetInt64(int64(b)), 0 })
			to("u64", "hd", func(b uint64) (*big.Float, float64) { return new(big.Float).SetUint64(b), 0 })
		}
		add("cvt.f32."+f.name, "fh", func(a []uint64) uint64 {
			if f.name == "bf16" {
				return a[0] << 16 // also of what is no number
			}
			return of32(float32(f.value(a[0])))
		})
		add("cvt.rn."+f.name+"x2.f32", "rff", func(a []uint64) uint64 {
			return f.bits(nil, float64(f32(a[0])), 0)<<16 | f.bits(nil, float64(f32(a[1])), 0)
		})
		for mode, round := range map[string]func(float64) float64{"rni": math.RoundToEven, "rzi": math.Trunc, "rmi": math.Floor, "rpi": math.Ceil} {
			add(fmt.Sprintf("cvt.%s.%s.%[2]s", mode, f.name), "hh", func(a []uint64) uint64 { return f.bits(nil, round(f.value(a[0])), 0) })
			add("cvt."+mode+".s32."+f.name, "rh", func(a []uint64) uint64 { return toInteger(round(f.value(a[0])), 32, true, false) })
			add("cvt."+mode+".u16."+f.name, "hh", func(a []uint64) uint64 { return toInteger(round(f.value(a[0])), 16, false, false) })
			add("cvt."+mode+".s64."+f.name, "dh", func(a []uint64) uint64 { return toInteger(round(f.value(a[0])), 64, true, true) })
		}
	}
}

// part is the nth one of so many bits.
func part(v uint64, n, width int, signed bool) int64 {
	v = v >> (n * width) & (1<<width - 1)
	if signed && v>>(width-1) != 0 {
		return int64(v) - 1<<width
	}
	return int64(v)
}

// wordOps are of words that hold two or four numbers, and of bits.
func wordOps(add func(text, kinds string, of func(a []uint64) uint64)) {
	arithmetic := map[string]func(x, y int64) int64{
		"add": func(x, y int64) int64 { return x + y }, "sub": func(x, y int64) int64 { return x - y },
		"avrg": func(x, y int64) int64 {
			return int64(math.Floor(float64(x+y)/2)) + (x+y)&1*truthOf(x+y >= 0)
		},
		"absdiff": func(x, y int64) int64 { return max(x, y) - min(x, y) }, "min": func(x, y int64) int64 { return min(x, y) }, "max": func(x, y int64) int64 { return max(x, y) },
		"setle": func(x, y int64) int64 { return truthOf(x <= y) }, "setne": func(x, y int64) int64 { return truthOf(x != y) },
	}
	clamp := func(v int64, width int, signed bool) int64 {
		if signed {
			return max(-1<<(width-1), min(1<<(width-1)-1, v))
		}
		return max(0, min(1<<width-1, v))
	}
	for op, of := range arithmetic {
		for _, y := range "su" {
			signed := y == 's'
			types := fmt.Sprintf(".%c32.%[1]c32.%[1]c32", y)
			name := "v" + op
			condition, isSet := strings.CutPrefix(op, "set")
			if isSet {
				name = "vset"
				types = fmt.Sprintf(".%c32.%[1]c32.%s", y, condition)
			}
			for _, n := range []int{2, 4} {
				width := 32 / n
				each := func(text string, mask int, saturate, sum bool) {
					add(text, "rrrr", func(a []uint64) uint64 {
						r := uint64(0)
						if sum {
							r = a[2]
						}
						for k := range n {
							v := of(part(a[0], k, width, signed), part(a[1], k, width, signed))
							if saturate {
								v = clamp(v, width, signed)
							}
							switch {
							case sum && mask>>k&1 != 0:
								r += uint64(v)
							case sum:
							case mask>>k&1 != 0:
								r |= uint64(v) & (1<<width - 1) << (k * width)
							default:
								r |= uint64(part(a[2], k, width, false)) << (k * width)
							}
						}
						return r & 0xffffffff
					})
				}
				each(fmt.Sprintf("%s%d%s", name, n, types), 15, false, false)
				each(fmt.Sprintf("%s%d%s.add", name, n, types), 15, false, true)
				if !isSet {
					each(fmt.Sprintf("%s%d%s.sat", name, n, types), 15, true, false)
				}
			}
			if isSet || op == "avrg" {
				continue
			}
			add("v"+op+types+".sat", "rrr", func(a []uint64) uint64 {
				return uint64(clamp(of(part(a[0], 0, 32, signed), part(a[1], 0, 32, signed)), 32, signed)) & 0xffffffff
			})
			add("v"+op+types+".min", "rrrr", func(a []uint64) uint64 {
				v := uint64(of(part(a[0], 0, 32, signed), part(a[1], 0, 32, signed)))
				return uint64(min(part(v, 0, 32, signed && op != "absdiff"), part(a[2], 0, 32, signed))) & 0xffffffff
			})
		}
	}
	for _, x := range "su" {
		for _, y := range "su" {
			sx, sy := x == 's', y == 's'
			add(fmt.Sprintf("dp4a.%c32.%c32", x, y), "rrrr", func(a []uint64) uint64 {
				r := a[2]
				for k := range 4 {
					r += uint64(part(a[0], k, 8, sx) * part(a[1], k, 8, sy))
				}
				return r & 0xffffffff
			})
			for first, half := range map[int]string{0: "lo", 2: "hi"} {
				add(fmt.Sprintf("dp2a.%s.%c32.%c32", half, x, y), "rrrr", func(a []uint64) uint64 {
					r := a[2]
					for k := range 2 {
						r += uint64(part(a[0], k, 16, sx) * part(a[1], first+k, 8, sy))
					}
					return r & 0xffffffff
				})
			}
		}
		signed := x == 's'
		pairs := func(op string, of func(x, y int64) int64) {
			add(fmt.Sprintf("%s.%c16x2", op, x), "rrr", func(a []uint64) (r uint64) {
				for k := range 2 {
					r |= uint64(of(part(a[0], k, 16, signed), part(a[1], k, 16, signed))) & 0xffff << (16 * k)
				}
				return r
			})
		}
		for _, op := range []string{"add", "min", "max"} {
			pairs(op, arithmetic[op])
		}
		if signed {
			pairs("max.relu", func(x, y int64) int64 { return max(x, y, 0) })
		}
		for _, mode := range []string{"clamp", "wrap"} {
			add(fmt.Sprintf("szext.%s.%c32", mode, x), "rrr", func(a []uint64) uint64 {
				n := a[1]
				if mode == "wrap" {
					n %= 32
				}
				switch {
				case n >= 32:
					return a[0]
				case n == 0:
					return 0
				}
				return uint64(part(a[0], 0, int(n), signed)) & 0xffffffff
			})
		}
	}
	for _, mode := range []string{"clamp", "wrap"} {
		add("bmsk."+mode+".b32", "rrr", func(a []uint64) (r uint64) {
			at, n := a[0], a[1]
			if mode == "wrap" {
				at, n = at%32, n%32
			}
			for k := range uint64(32) {
				r |= truth(k >= at && k-at < n) << k
			}
			return r
		})
	}
	for mode, of := range map[string]func(c, k uint64) uint64{
		"f4e": func(c, k uint64) uint64 { return c + k }, "b4e": func(c, k uint64) uint64 { return (c - k) & 7 }, "rc8": func(c, _ uint64) uint64 { return c },
		"ecl": func(c, k uint64) uint64 { return max(c, k) }, "ecr": func(c, k uint64) uint64 { return min(c, k) }, "rc16": func(c, k uint64) uint64 { return c&1*2 + k&1 },
	} {
		add("prmt.b32."+mode, "rrrr", func(a []uint64) (r uint64) {
			for k := range uint64(4) {
				r |= (a[1]<<32 | a[0]) >> (8 * of(a[2]&3, k)) & 255 << (8 * k)
			}
			return r
		})
	}
}

func truthOf(v bool) int64 { return int64(truth(v)) }
