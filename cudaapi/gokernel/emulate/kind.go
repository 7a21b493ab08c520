package emulate

import (
	"go/types"
	"math"
	"unsafe"

	"gocuda/cudaapi/gokernel/ir"
)

var sizes ir.Sizes

// kind is how a value is worked on: as a number of 64 bits, or in memory.
type kind int

const (
	memory kind = iota // structs, arrays, slices, complex numbers
	i8
	i16
	i32
	i64
	u8
	u16
	u32
	u64
	f16
	bf16
	f32
	f64
)

func kindOf(t types.Type) kind {
	switch ir.Half(t) {
	case ir.Float16:
		return f16
	case ir.BFloat16:
		return bf16
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch u.Kind() {
		case types.Bool, types.UntypedBool, types.Uint8:
			return u8
		case types.Int8:
			return i8
		case types.Int16:
			return i16
		case types.Int32:
			return i32
		case types.Int, types.Int64:
			return i64
		case types.Uint16:
			return u16
		case types.Uint32:
			return u32
		case types.Uint, types.Uint64:
			return u64
		case types.Float32:
			return f32
		case types.Float64:
			return f64
		}
	case *types.Pointer:
		return u64
	}
	return memory
}

func (k kind) float() bool  { return k >= f16 }
func (k kind) signed() bool { return k >= i8 && k <= i64 }

func (k kind) bits() uint {
	switch k {
	case i8, u8:
		return 8
	case i16, u16, f16, bf16:
		return 16
	case i32, u32, f32:
		return 32
	}
	return 64
}

// wrap is a number of the kind that has the lower bits of x.
func (k kind) wrap(x uint64) uint64 {
	switch k {
	case i8:
		return uint64(int8(x))
	case i16:
		return uint64(int16(x))
	case i32:
		return uint64(int32(x))
	case u8:
		return uint64(uint8(x))
	case u16, f16, bf16:
		return uint64(uint16(x))
	case u32, f32:
		return uint64(uint32(x))
	}
	return x
}

// load and store move a number from and to memory.
func (k kind) load(p unsafe.Pointer) uint64 {
	switch k {
	case i8:
		return uint64(*(*int8)(p))
	case i16:
		return uint64(*(*int16)(p))
	case i32:
		return uint64(*(*int32)(p))
	case u8:
		return uint64(*(*uint8)(p))
	case u16, f16, bf16:
		return uint64(*(*uint16)(p))
	case u32, f32:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

func (k kind) store(p unsafe.Pointer, x uint64) {
	switch k.bits() {
	case 8:
		*(*uint8)(p) = uint8(x)
	case 16:
		*(*uint16)(p) = uint16(x)
	case 32:
		*(*uint32)(p) = uint32(x)
	default:
		*(*uint64)(p) = x
	}
}

// Real is the value of a floating-point number of a type, which lies in memory as bits.
func Real(t types.Type, bits uint64) float64 { return kindOf(t).real(bits) }

// real is the value of a floating-point number.
func (k kind) real(x uint64) float64 {
	switch k {
	case f32:
		return float64(math.Float32frombits(uint32(x)))
	case f16:
		return float64(fromFloat16(uint16(x)))
	case bf16:
		return float64(math.Float32frombits(uint32(x) << 16))
	}
	return math.Float64frombits(x)
}

// round is the number of the kind next to a value.
func (k kind) round(v float64) uint64 {
	switch k {
	case f32:
		return uint64(math.Float32bits(float32(v)))
	case f16:
		return uint64(toFloat16(float32(v)))
	case bf16:
		return uint64(toBFloat16(float32(v)))
	}
	return math.Float64bits(v)
}

// fromFloat16 widens, exactly.
func fromFloat16(h uint16) float32 {
	sign, exp, frac := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exp {
	case 0:
		v := float32(frac) * 0x1p-24
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// toFloat16 rounds to the nearest, ties to even.
func toFloat16(v float32) uint16 {
	b := math.Float32bits(v)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return 0x7fff // as CUDA's
	case b >= 0x477ff000: // rounds to more than the greatest
		return sign | 0x7c00
	case b < 0x38800000: // subnormal
		x := math.Float32frombits(b) * 0x1p24 // exact, since it is below 2^10
		return sign | uint16(math.RoundToEven(float64(x)))
	}
	b -= 112 << 23
	b += 0xfff + b>>13&1
	return sign | uint16(b>>13)
}

// toBFloat16 rounds to the nearest, ties to even.
func toBFloat16(v float32) uint16 {
	b := math.Float32bits(v)
	if b&0x7fffffff > 0x7f800000 {
		return 0x7fff
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// convert changes a number's kind, as Go on amd64 does.
func convert(x uint64, from, to kind) uint64 {
	switch {
	case from == to:
		return x
	case from.float() && to.float():
		return to.round(from.real(x))
	case from.float():
		v := from.real(x)
		switch to {
		case u64:
			if v < 1<<63 {
				return uint64(toInt64(v))
			}
			return uint64(toInt64(v-1<<63)) ^ 1<<63
		case i64, u32:
			return to.wrap(uint64(toInt64(v)))
		}
		if v > -1<<31-1 && v < 1<<31 {
			return to.wrap(uint64(int64(v)))
		}
		return to.wrap(1 << 31)
	case to.float():
		if to != f64 { // the 16-bit formats by way of float32, as in kernels
			if from.signed() {
				return to.round(float64(float32(int64(x))))
			}
			return to.round(float64(float32(x)))
		}
		if from.signed() {
			return math.Float64bits(float64(int64(x)))
		}
		return math.Float64bits(float64(x))
	}
	return to.wrap(x)
}

// toInt64 is amd64's conversion: the smallest number for what does not fit.
func toInt64(v float64) int64 {
	if v >= -1<<63 && v < 1<<63 {
		return int64(v)
	}
	return math.MinInt64
}
