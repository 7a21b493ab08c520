package programs

import (
	"math"
	"math/bits"
	"math/cmplx"
)

func MathExact(out []int64, f []float64) {
	xs := [...]float64{0, 1, -1, 2.5, -2.5, 3.5, 1e10, -1e-5, 0.49999999999999994, 4503599627370497.5, math.Inf(1), math.NaN()}
	for i, x := range xs {
		f[i] += math.Abs(x)
		f[i] += math.Floor(x) + math.Ceil(x)*2 + math.Trunc(x)*3
		f[12+i] = math.Sqrt(math.Abs(x))
		f[24+i] = math.Round(x) + math.RoundToEven(x)*8
		f[36+i] = math.Max(x, 1) + math.Min(x, 2)*4
		out[i] = int64(math.Float64bits(x) >> 3)
		out[12+i] = int64(math.Float32bits(float32(x)))
		if math.IsNaN(x) || math.IsInf(x, -1) || math.Signbit(x) {
			out[24+i] = 1
		}
		f[48+i] = math.Mod(x, 0.7)
	}
	f[60] = math.FMA(1.1, 2.2, 3.3)
	f[61] = math.Float64frombits(0x3ff8000000000000)
	f[62] = float64(math.Float32frombits(0x40490fdb))
	f[63] = math.Copysign(3, -0.5)
	for i := range 3 { // the sign of a quotient that is none
		q := xs[i] * 0 / (xs[i] * 0)
		out[40+i*4] = int64(math.Float64bits(math.Abs(q)) >> 63)
		out[41+i*4] = int64(math.Float64bits(math.Abs(q*q)) >> 63)
		out[42+i*4] = int64(math.Float64bits(math.Copysign(q*q, 1)) >> 63)
	}
}

func Bits(out []int64, f []float64) {
	for i := range 8 {
		x := uint64(0x9e3779b97f4a7c15) >> (i * 9)
		out[i*7] = int64(bits.OnesCount64(x) + bits.LeadingZeros64(x)*100 + bits.TrailingZeros64(x)*10000)
		out[i*7+1] = int64(bits.RotateLeft64(x, i*5-9))
		out[i*7+2] = int64(bits.RotateLeft32(uint32(x), -i)) + int64(bits.RotateLeft8(uint8(x), i))
		out[i*7+3] = int64(bits.Len64(x)) + int64(bits.Len8(uint8(x))) + int64(bits.Len32(uint32(x)))
		out[i*7+4] = int64(bits.Reverse64(x) >> 1)
		out[i*7+5] = int64(bits.LeadingZeros16(uint16(x))) + int64(bits.TrailingZeros8(uint8(x)))
		out[i*7+6] = int64(bits.OnesCount8(uint8(x))) + int64(bits.Reverse32(uint32(x)))
	}
	out[60] = int64(bits.LeadingZeros64(0) + bits.TrailingZeros32(0) + bits.Len(0))
}

func Cmplx(out []int64, f []float64) {
	z := complex(3, 4)
	f[0] = cmplx.Abs(z)
	f[1] = imag(cmplx.Conj(z))
}
