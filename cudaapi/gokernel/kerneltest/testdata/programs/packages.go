package programs

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

func BitsWide(out []int64, f []float64) {
	xs := [...]uint64{0, 1, 0xffffffffffffffff, 0x8000000000000000, 0x9e3779b97f4a7c15, 1 << 32, 0xfffffffe}
	for i, x := range xs {
		y := xs[(i+3)%len(xs)]
		hi, lo := bits.Mul64(x, y)
		sum, carry := bits.Add64(x, y, uint64(i&1))
		diff, borrow := bits.Sub64(x, y, uint64(i&1))
		out[i*8] = int64(hi ^ lo>>1)
		out[i*8+1] = int64(sum) ^ int64(carry)
		out[i*8+2] = int64(diff) ^ int64(borrow)
		quo, rem := bits.Div64(x%1000003, y, 1000003)
		out[i*8+3] = int64(quo ^ rem)
		quo, rem = bits.Div64(x>>1, y, x>>1|1<<63)
		out[i*8+4] = int64(quo ^ rem)
		h32, l32 := bits.Mul32(uint32(x), uint32(y>>3))
		s32, c32 := bits.Add32(uint32(x), uint32(y), 1)
		d32, b32 := bits.Sub32(uint32(x), uint32(y), 1)
		q32, r32 := bits.Div32(uint32(x)%99, uint32(y), 99)
		out[i*8+5] = int64(h32^l32) + int64(s32^c32)<<16 + int64(d32^b32) + int64(q32^r32)
		out[i*8+6] = int64(bits.Reverse(uint(x))) ^ int64(bits.Reverse16(uint16(x))) ^ int64(bits.Reverse8(uint8(x)))<<8
		out[i*8+7] = int64(bits.ReverseBytes64(x)) ^ int64(bits.ReverseBytes32(uint32(x))) ^ int64(bits.ReverseBytes16(uint16(x)))<<5 ^ int64(bits.ReverseBytes(uint(y)))
	}
	hi, lo := bits.Mul(uint(xs[2]), 3)
	s, c := bits.Add(hi, lo, 1)
	d, b := bits.Sub(s, hi, c)
	out[60] = int64(d ^ b)
	out[61] = int64(bits.Rem64(xs[2], xs[4], 12345))
}

func MathParts(out []int64, f []float64) {
	xs := [...]float64{0, 1, -1, 0.75, -1234.5678, 1e300, -1e-300, 5e-324, -3e-310, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	for i, x := range xs {
		frac, exp := math.Frexp(x)
		whole, part := math.Modf(x)
		f[i*4], f[i*4+1], f[i*4+2] = frac, whole, part
		f[i*4+3] = math.Dim(x, 2)
		out[i*4] = int64(exp)
		out[i*4+1] = int64(math.Ilogb(x))
		for k, e := range [...]int{0, 1, -1, 10, -40, 1030, -1080, 2200, -2200, 1 << 40} {
			out[i*4+2] ^= int64(math.Float64bits(math.Ldexp(x, e)+0)>>8) * int64(k+1) * int64(boolInt(x == x))
		}
		out[i*4+3] = int64(math.Float64bits(math.Nextafter(x, 3))*uint64(boolInt(x == x))) ^ int64(math.Float64bits(math.Nextafter(x, -3)))*boolInt(x == x)
	}
	for i, x := range [...]float64{8, 3, 1e-310, -7} {
		f[52+i] = math.Logb(x)
	}
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func SlicesFind(out []int64, f []float64) {
	x := []int64{5, 3, 9, 3, -2, 8}
	y := []float64{2.5, math.Inf(-1), 7, -0.5}
	out[0], out[1] = slices.Max(x), slices.Min(x)
	f[0], f[1] = slices.Max(y), slices.Min(y)
	out[2] = int64(slices.Index(x, 3))
	out[3] = int64(slices.IndexFunc(x, func(v int64) bool { return v > 8 }))
	out[4] = boolInt(slices.Contains(x, 8)) + 2*boolInt(slices.Contains(x, 7)) + 4*boolInt(slices.ContainsFunc(x, func(v int64) bool { return v < 0 }))
	out[5] = boolInt(slices.Equal(x[1:2], x[3:4])) + 2*boolInt(slices.Equal(x, x[1:]))
	out[6] = int64(slices.Compare(x, x[1:])) + 10*int64(slices.Compare(x[:2], x))
	near := func(a, b int64) int { return cmp.Compare(a*a, b*b) }
	out[7], out[8] = slices.MaxFunc(x, near), slices.MinFunc(x, near)
	out[9] = boolInt(slices.IsSorted(x)) + 2*boolInt(slices.IsSortedFunc(x[:1], near))
	y[0] = math.NaN()
	if m := slices.Max(y); m != m {
		out[10] = 1
	}
}

type keyed struct {
	key   int
	value float64
}

func SlicesSort(out []int64, f []float64) {
	var x [20]int64
	for i := range x {
		x[i] = int64(i*37%20) - 5
	}
	slices.Sort(x[:])
	copy(out, x[:])
	at, found := slices.BinarySearch(x[:], 4)
	out[20], out[21] = int64(at), boolInt(found)
	at, found = slices.BinarySearch(x[:], 100)
	out[22], out[23] = int64(at), boolInt(found)
	slices.Reverse(x[3:17])
	copy(out[24:], x[:])
	var k [12]keyed
	for i := range k {
		k[i] = keyed{i * 7 % 4, float64(i)}
	}
	slices.SortStableFunc(k[:], func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	for i, v := range k {
		f[i] = v.value
	}
	at, found = slices.BinarySearchFunc(k[:], 2, func(a keyed, key int) int { return a.key - key })
	out[44], out[45] = int64(at), boolInt(found)
	n := []float64{3, math.Inf(1), -1, 0.5}
	slices.SortStableFunc(n, cmp.Compare[float64])
	copy(f[12:], n)
	out[46] = boolInt(cmp.Less(n[0], n[1])) + 2*boolInt(cmp.Less(math.NaN(), 1.0))
}

func SlicesRange(out []int64, f []float64) {
	x := []int64{4, 7, 1, 9}
	for i, v := range slices.Backward(x) {
		out[i] = v * int64(i+1)
		if v == 7 {
			break
		}
	}
	for i, v := range slices.All(x) {
		out[8+i] = v
	}
	var sum int64
	for v := range slices.Values(x) {
		if v == 1 {
			continue
		}
		sum += v
	}
	out[16] = sum
}

func Unpacked(out []int64, f []float64) {
	r, s := int64(3), int64(4)
	r, s = pairOf(r, s)
	go_results := r + s
	out[0], out[1] = pairOf(go_results, r)
	out[2] = s
}

func pairOf(r, s int64) (int64, int64) { return s + 1, r * 10 }

func PanicSlicesMax(out []int64, f []float64) {
	out[0] = 1
	out[1] = slices.Max(out[5:5])
}

func PanicDiv64(out []int64, f []float64) {
	quo, _ := bits.Div64(0, 7, uint64(out[3]))
	out[0] = int64(quo)
}
