package corpus

import (
	"math"

	"gocuda/cudaapi/cuda"
)

// halfCases take values whose sums and products a float32 holds exactly, so
// that it is rounded once.
func halfCases() []kernelCase {
	const n = 300
	a := fill(n, func(i int) float32 { return float32(int(mix(uint32(i))%1024)-512) / 64 })
	b := fill(n, func(i int) float32 { return float32(int(mix(uint32(i+n))%1024)*2-1023) / 128 })
	ha, hb := cuda.ToFloat16(a), cuda.ToFloat16(b)
	c := cuda.FromFloat16(cuda.ToFloat16([]float32{0.333}))[0]
	ba, bb := &buffer{in: ha}, &buffer{in: hb}
	halves := out(cuda.ToFloat16(fill(8*n, func(k int) float32 {
		x, y := cuda.FromFloat16(ha[k/8 : k/8+1])[0], cuda.FromFloat16(hb[k/8 : k/8+1])[0]
		abs := func(v float32) float32 { return float32(math.Abs(float64(v))) }
		switch k % 8 {
		case 0:
			return x + y
		case 1:
			return x - y
		case 2:
			return x * y
		case 3:
			return x / y
		case 4:
			return float32(float64(x)*float64(y) + float64(c))
		case 5:
			if x < y {
				return -x
			}
			return abs(y)
		case 6:
			return float32(int(x))
		}
		return float32(math.Sqrt(float64(abs(x))))
	})))
	pairValues := cuda.ToFloat16(fill(n, func(i int) float32 { return cuda.FromFloat16(ha[i : i+1])[0]*1.5 + 0.25 - float32(i%2)/2 }))
	pairs := out(pairValues)
	sums := out(fill(n/2, func(i int) float32 {
		v := cuda.FromFloat16(pairValues[2*i : 2*i+2])
		return v[0] + v[1] + v[0] + v[1]
	}))
	// Numbers of all sizes: too large, subnormal, halfway between two, none.
	f := fill(1000, func(i int) float32 { return math.Float32frombits(mix(uint32(i)) &^ 0xfff) })
	f = append(f, 0, -0.5, 65504, 65519.99, 65520, 1e-8, 6e-8, -3e-8, 2.9802322e-8, 2.9802326e-8, 1.00048828125, 1.00146484375, float32(math.Inf(-1)), 3.3895314e38)
	f = fill(len(f), func(i int) float32 { // CUDA's NaN need not be Go's
		if f[i] != f[i] {
			return float32(i)
		}
		return f[i]
	})
	brain := cuda.ToBFloat16(f)
	back := cuda.FromBFloat16(cuda.ToBFloat16(fill(len(f), func(i int) float32 { return cuda.FromBFloat16(brain[i : i+1])[0] * 0.5 })))
	bf, bh, bb16, bback := &buffer{in: f}, out(cuda.ToFloat16(f)), out(brain), out(back)
	total := &buffer{in: []uint16{0}, want: cuda.ToFloat16([]float32{1024})}
	return []kernelCase{
		{name: "arithmetic of halves", buffers: []*buffer{ba, bb, halves}, launches: []launch{{"halves", dim(3), dim(128), 0, []any{ba, bb, halves, int32(n)}}}},
		{name: "pairs of halves", buffers: []*buffer{ba, pairs, sums}, launches: []launch{{"pairs", dim(3), dim(64), 0, []any{ba, pairs, sums, int32(n / 2)}}}},
		{name: "conversions to 16 bits", buffers: []*buffer{bf, bh, bb16, bback}, launches: []launch{{"narrow", dim(8), dim(128), 0, []any{bf, bh, bb16, bback, int32(len(f))}}}},
		{name: "atomic addition of halves", buffers: []*buffer{total}, launches: []launch{{"count", dim(8), dim(128), 0, []any{total}}}},
	}
}
