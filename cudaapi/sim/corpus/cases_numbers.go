package corpus

import (
	"math"
	"math/big"
)

// numbers are the cases of numbers.cu.
func numbers() []kernelCase {
	const n = 300
	a := fill(n, func(i int) uint32 { return mix(uint32(3 * i)) })
	b := fill(n, func(i int) uint32 {
		if i%5 == 0 {
			return a[i] ^ 0x00ff0001
		}
		return mix(uint32(3*i + 1))
	})
	ba, bb := &buffer{in: a}, &buffer{in: b}
	words := out(fill(24*n, func(k int) uint32 { return wordOf(k%24, a[k/24], b[k/24]) }))

	x := fill(n, func(i int) float32 { return float32(int32(mix(uint32(i)))) / (1 << 20) })
	y := fill(n, func(i int) float32 { return float32(int32(mix(uint32(i+n))|1)) / (1 << 24) })
	bx, by := &buffer{in: x}, &buffer{in: y}
	rounded := out(fill(16*n, func(k int) float32 { return roundedOf(k%16, x[k/16], y[k/16]) }))
	wide := out(fill(4*n, func(k int) float64 { return wideOf(k%4, float64(x[k/4]), float64(y[k/4])) }))

	d := []float64{0, -0.5, 1.5, 2.5, -7.75, 2147483646.5, 2147483648, -2147483649, 4294967295.5, 1e12, -1e12, 1e30, -1e30, math.Inf(1), math.Inf(-1), math.NaN(), 1 << 53, 1 << 62}
	bd := &buffer{in: d}
	ints := out(fill(2*len(d), func(k int) int32 {
		v := d[k/2]
		switch {
		case v != v:
			return math.MinInt32
		case k%2 == 0:
			return saturate(math.Trunc(v))
		}
		return int32(uint32(max(0, min(math.RoundToEven(v), math.MaxUint32))))
	}))
	longs := out(fill(2*len(d), func(k int) int64 {
		if k%2 == 0 {
			return long(math.Floor(d[k/2]))
		}
		return long(math.Trunc(float64(float32(d[k/2]))))
	}))
	ulongs := out(fill(len(d), func(k int) uint64 {
		switch v := math.RoundToEven(d[k]); {
		case v != v:
			return 1 << 63
		case v <= 0:
			return 0
		case v >= 1<<64:
			return math.MaxUint64
		default:
			return uint64(v)
		}
	}))

	p := fill(99, func(i int) float64 { return float64(i+1) / 100 })
	bp := &buffer{in: p}
	statistics := out(fill(7*len(p), func(k int) float64 {
		v := p[k/7]
		switch k % 7 {
		case 0:
			return math.Erfinv(2*v - 1)
		case 1:
			return math.Erfcinv(2 * v)
		case 2:
			return -math.Sqrt2 * math.Erfcinv(2*v)
		case 3:
			return math.Exp(100*v*v) * math.Erfc(10*v)
		case 6:
			return math.Sqrt(v*v+14) + 1/math.Sqrt(v*v+5)
		}
		order := float64(k%7 - 4)
		sum, term := 1.0, 1.0
		for j := 1.0; j < 40; j++ {
			term *= 4 * v * v / (j * (j + order))
			sum += term
		}
		return sum * math.Pow(2*v, order)
	}))
	single := out(fill(2*len(p), func(k int) float32 {
		if k%2 == 0 {
			return float32(math.Erfinv(float64(float32(2*p[k/2] - 1))))
		}
		return float32(-math.Sqrt2 * math.Erfcinv(2*float64(float32(p[k/2]))))
	}))
	pair, four := &buffer{in: []float32{0, 0}, want: []float32{256, 128}}, &buffer{in: make([]float32, 4), want: []float32{256, 512, 768, 1024}}
	return []kernelCase{
		{name: "words as several numbers", buffers: []*buffer{ba, bb, words}, launches: []launch{{"words", dim(3), dim(128), 0, []any{ba, bb, words, int32(n)}}}},
		{name: "directed rounding", buffers: []*buffer{bx, by, rounded, wide}, launches: []launch{{"rounded", dim(3), dim(128), 0, []any{bx, by, rounded, wide, int32(n)}}}},
		{name: "doubles as integers", buffers: []*buffer{bd, ints, longs, ulongs}, launches: []launch{{"narrowed", dim(1), dim(32), 0, []any{bd, ints, longs, ulongs, int32(len(d))}}}},
		{name: "functions of statistics", tolerance: 1e-12, buffers: []*buffer{bp, statistics}, launches: []launch{{"statistics", dim(1), dim(128), 0, []any{bp, statistics, int32(len(p))}}}},
		{name: "functions of statistics of float", tolerance: 2e-6, buffers: []*buffer{bp, single}, launches: []launch{{"statistics_of_float", dim(1), dim(128), 0, []any{bp, single, int32(len(p))}}}},
		{name: "sums of vectors", buffers: []*buffer{pair, four}, launches: []launch{{"vector_sums", dim(2), dim(128), 0, []any{pair, four}}}},
	}
}

// long is v, a whole number, as CUDA converts it.
func long(v float64) int64 {
	switch {
	case v != v || v <= math.MinInt64:
		return math.MinInt64
	case v >= math.MaxInt64:
		return math.MaxInt64
	}
	return int64(v)
}

// wordOf is element k of what the kernel words makes of two words.
func wordOf(k int, a, b uint32) (r uint32) {
	switch k {
	case 18, 19, 22, 23:
		return sumOf(k, a, b)
	case 20:
		return uint32((uint64(a) + uint64(b)) / 2)
	case 21:
		return uint32((uint64(a) + uint64(b) + 1) / 2)
	}
	width, signed := 8, false
	switch k {
	case 0, 2, 6, 8, 11, 14, 15, 17:
		width = 16
	}
	switch k {
	case 2, 5, 10, 11, 13, 15, 16:
		signed = true
	}
	least, most := 0, 1<<width-1
	if signed {
		least, most = -1<<(width-1), 1<<(width-1)-1
	}
	for at := 0; at < 32; at += width {
		x, y := part(a, at, width, signed), part(b, at, width, signed)
		v := []int{0: x + y, 1: x + y, 2: min(max(x+y, least), most), 3: min(x+y, most), 4: x - y, 5: min(max(x-y, least), most), 6: max(x-y, 0), 7: (x + y + 1) / 2, 8: (x + y) / 2,
			9: max(x-y, y-x), 10: min(max(x, -x), most), 11: -x, 12: -int(truth(x == y)), 13: -int(truth(x > y)), 14: -int(truth(x > y)), 15: int(truth(x <= y)), 16: max(x, y), 17: min(x, y)}[k]
		r |= uint32(v) & (1<<width - 1) << at
	}
	return r
}

func part(w uint32, at, width int, signed bool) int {
	v := int(w >> at & (1<<width - 1))
	if signed && v >= 1<<(width-1) {
		v -= 1 << width
	}
	return v
}

// sumOf is those elements that are sums over the parts.
func sumOf(k int, a, b uint32) uint32 {
	sum, width := 0, 8
	if k == 19 {
		width = 16
	}
	for at := 0; at < 32; at += width {
		x, y := part(a, at, width, k%2 == 1), part(b, at, width, k%2 == 1)
		if k < 20 {
			sum += max(x-y, y-x)
		} else {
			sum += x * y
		}
	}
	return uint32(sum + []int{18: 0, 19: 0, 22: 5, 23: -5}[k])
}

// float is a number to be rounded to so many bits.
func float(bits uint, mode big.RoundingMode) *big.Float {
	return new(big.Float).SetPrec(bits).SetMode(mode)
}

func exact(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }

// roundedOf is element k of what the kernel rounded makes of two floats.
func roundedOf(k int, x, y float32) float32 {
	mode := []big.RoundingMode{big.ToZero, big.ToPositiveInf, big.ToNegativeInf, big.ToZero, big.ToPositiveInf, big.ToNegativeInf, big.ToZero, big.ToNegativeInf, big.ToPositiveInf,
		big.ToNegativeInf, big.ToZero, big.ToPositiveInf, big.ToZero, big.ToNegativeInf, big.ToPositiveInf, big.ToNearestEven}[k]
	r, a, b := float(24, mode), exact(float64(x)), exact(float64(y))
	switch k {
	case 0, 1:
		r.Add(a, b)
	case 2:
		r.Sub(a, b)
	case 3, 4, 5:
		r.Mul(a, b)
	case 6, 7:
		r.Quo(a, b)
	case 8:
		r.Sqrt(a.Abs(a)) // to nearest, whatever the mode
		if exact(0).Mul(r, r).Cmp(a) < 0 {
			f, _ := r.Float32()
			return math.Nextafter32(f, float32(math.Inf(1)))
		}
	case 9:
		r.Quo(exact(1), b)
	case 10:
		r.Add(exact(0).Mul(a, b), a)
	case 11:
		r.Sub(exact(0).Mul(a, b), a)
	case 12:
		r.SetInt64(int64(int32(x*1e6)*77 + 1))
	case 13:
		r.SetInt64(int64(y*1e6) * 1234567891)
	case 14:
		r.SetFloat64(float64(x) * 1.000000001)
	case 15:
		r.Add(exact(float64(float32(x*y))), a)
	}
	f, _ := r.Float32()
	return f
}

// wideOf is element k of the doubles that it makes of them.
func wideOf(k int, x, y float64) float64 {
	var r *big.Float
	switch k {
	case 0:
		r = float(53, big.ToNegativeInf).Add(exact(x*1e-9), exact(y))
	case 1:
		r = float(53, big.ToPositiveInf).Mul(exact(x*y), exact(y))
	case 2:
		r = float(53, big.ToZero).Quo(exact(x), exact(y))
	case 3:
		a := exact(math.Abs(y))
		r = float(53, big.ToNearestEven).Sqrt(a)
		if exact(0).Mul(r, r).Cmp(a) > 0 {
			f, _ := r.Float64()
			return math.Nextafter(f, 0)
		}
	}
	f, _ := r.Float64()
	return f
}
