package cuda

import "math"

// ToFloat16 converts to IEEE half precision, to the nearest, ties to even.
func ToFloat16(v []float32) []uint16 {
	out := make([]uint16, len(v))
	for i, f := range v {
		out[i] = float16Bits(f)
	}
	return out
}

// FromFloat16 converts from IEEE half precision, exactly.
func FromFloat16(v []uint16) []float32 {
	out := make([]float32, len(v))
	for i, h := range v {
		out[i] = float16Value(h)
	}
	return out
}

// ToBFloat16 converts to bfloat16, to the nearest, ties to even.
func ToBFloat16(v []float32) []uint16 {
	out := make([]uint16, len(v))
	for i, f := range v {
		out[i] = bfloat16Bits(f)
	}
	return out
}

// FromBFloat16 converts from bfloat16, exactly.
func FromBFloat16(v []uint16) []float32 {
	out := make([]float32, len(v))
	for i, h := range v {
		out[i] = math.Float32frombits(uint32(h) << 16)
	}
	return out
}

func float16Bits(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	exp := int(b>>23&0xff) - 127
	frac := b & 0x7fffff
	switch {
	case exp == 128 && frac != 0:
		return sign | 0x7e00 | uint16(frac>>13)
	case exp > 15:
		return sign | 0x7c00
	case exp >= -14:
		return sign | rounded(uint32(exp+15)<<23|frac, 13)
	case exp >= -25: // subnormal
		return sign | rounded(frac|0x800000, uint(-exp-1))
	}
	return sign
}

// rounded shifts right by n, to the nearest, ties to even. A carry out of the
// fraction goes on to the exponent, as it should.
func rounded(v uint32, n uint) uint16 {
	half := uint32(1) << (n - 1)
	out := v >> n
	if rest := v & (1<<n - 1); rest > half || rest == half && out&1 == 1 {
		out++
	}
	return uint16(out)
}

func float16Value(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp, frac := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch {
	case exp == 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	case exp == 0:
		f := float32(frac) / (1 << 24)
		if sign != 0 {
			f = -f
		}
		return f
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

func bfloat16Bits(f float32) uint16 {
	b := math.Float32bits(f)
	if f != f {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}
