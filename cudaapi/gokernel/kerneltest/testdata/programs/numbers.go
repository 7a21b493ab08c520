package programs

import (
	"math"
	"math/bits"
)

type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint
}

// every runs all operators on two numbers of a type.
func every[T integer](out []int64, a, b T) {
	out[0], out[1], out[2] = int64(a+b), int64(a-b), int64(a*b)
	out[3], out[4], out[5] = int64(a&b), int64(a|b), int64(a^b)
	out[6], out[7], out[8] = int64(a&^b), int64(-a), int64(^b)
	if b != 0 {
		out[9], out[10] = int64(a/b), int64(a%b)
	}
	out[11], out[12] = int64(a<<3), int64(a>>3)
	n := uint(b) & 15
	out[13], out[14] = int64(a<<n), int64(a>>n)
	out[15] = int64(min(a, b)) + int64(max(a, b))*3
	if a < b {
		out[16]++
	}
	if a >= b {
		out[16] += 2
	}
	c := a
	c++
	c *= 7
	c -= b
	c ^= a
	c <<= 1
	c >>= 2
	out[17] = int64(c)
}

func Ints8(out []int64, f []float64) {
	every[int8](out, -128, -1)
	every[int8](out[20:], 100, 77)
	every[uint8](out[40:], 200, 100)
}

func Ints16(out []int64, f []float64) {
	every[int16](out, -32768, -1)
	every[int16](out[20:], 30000, 777)
	every[uint16](out[40:], 65535, 3)
}

func Ints32(out []int64, f []float64) {
	every[int32](out, math.MinInt32, -1)
	every[int32](out[20:], 123456789, -1000)
	every[uint32](out[40:], 4000000000, 4294967295)
}

func Ints64(out []int64, f []float64) {
	every[int64](out, math.MinInt64, -1)
	every[int](out[20:], 1234567890123456789, -987654321)
	every[uint64](out[40:], 1<<63+5, 1<<64-1)
}

func Wrapping(out []int64, f []float64) {
	var i8 int8 = 1
	var u16 uint16 = 1
	var i32 int32 = 1
	var u64 uint64 = 1
	for i := range 40 {
		i8 = i8*3 + 1
		u16 = u16*u16 + 7
		i32 = i32*i32 - int32(i)
		u64 = u64*6364136223846793005 + 1442695040888963407
	}
	out[0], out[1], out[2], out[3] = int64(i8), int64(u16), int64(i32), int64(u64)
}

func ShiftCounts(out []int64, f []float64) {
	x, y, z := int64(-1), uint8(0x81), int32(1<<30)
	for i := range 10 {
		n := uint8(i * 9)
		out[i] = x << n
		out[10+i] = x >> n
		out[20+i] = int64(y << n)
		out[30+i] = int64(y>>n) + int64(z<<n)
		out[40+i] = int64(z >> int(n))
	}
	var huge uint64 = 1 << 63
	out[50] = x<<huge + x>>huge + int64(y>>huge)
	out[51] = 1<<out[0]&7 + 5
	s := uint32(33)
	out[52] = int64(int32(1)<<s) + int64(1)<<s
}

func DivSigns(out []int64, f []float64) {
	k := 0
	for _, a := range []int64{7, -7} {
		for _, b := range []int64{2, -2, 3, -3} {
			out[k], out[k+1] = a/b, a%b
			k += 2
		}
	}
	for i, a := range []int32{9, -9, math.MaxInt32, math.MinInt32} {
		out[20+i] = int64(a/4)*100 + int64(a%4)
		out[30+i] = int64(a / -7)
		out[40+i] = int64(a % 8)
	}
	var u uint32 = 0xfffffff0
	out[50], out[51] = int64(u/16), int64(u%7)
}

func IntConversions(out []int64, f []float64) {
	for i, x := range []int64{-1, 255, 256, -129, 65536 + 7, 1<<40 + 200, math.MinInt64} {
		out[i*8] = int64(int8(x))
		out[i*8+1] = int64(uint8(x))
		out[i*8+2] = int64(int16(x))
		out[i*8+3] = int64(uint16(x))
		out[i*8+4] = int64(int32(x))
		out[i*8+5] = int64(uint32(x))
		out[i*8+6] = int64(uint64(x) >> 1)
		out[i*8+7] = int64(int8(uint16(x)) >> 2)
	}
}

func FloatToInt(out []int64, f []float64) {
	for i, x := range []float64{0, 0.99, -0.99, 1e9, -1e9, 123456.789, -2.5} {
		out[i*8] = int64(x)
		out[i*8+1] = int64(int32(x))
		out[i*8+2] = int64(float32(x))
		out[i*8+3] = int64(int(x * 3))
		if x >= 0 {
			out[i*8+4] = int64(uint64(x))
			out[i*8+5] = int64(uint32(x))
		}
		if x < 128 && x > -128 {
			out[i*8+6] = int64(int8(x))
		}
	}
	big := 1.7e19
	out[60] = int64(uint64(big) / 2)
}

func IntToFloat(out []int64, f []float64) {
	for i, x := range []int64{0, -1, 1 << 53, 1<<53 + 1, 1<<62 + 12345, 16777217, -16777219} {
		f[i*4] = float64(x)
		f[i*4+1] = float64(float32(x))
		f[i*4+2] = float64(uint64(x))
		f[i*4+3] = float64(float32(uint32(x)))
	}
	f[40] = float64(uint64(math.MaxUint64))
	f[41] = float64(float32(uint64(1<<63 + 1<<39 + 1)))
}

func Float32s(out []int64, f []float64) {
	var a, b float32 = 16777216, 1
	f[0] = float64(a + b)
	f[1] = float64(a + b + b)
	f[2] = float64(0.1 + float32(0.2))
	c := float32(1) / 3
	f[3] = float64(c * 3)
	f[4] = float64(c) * 3
	var sum float32
	for i := range 1000 {
		sum += 1 / float32(i+1)
	}
	f[5] = float64(sum)
	x := float32(1e38)
	f[6] = float64(x * 10)
	f[7] = float64(float32(1e-45) / 2)
	f[8] = float64(-c)
	f[9] = float64(float32(1e-40) * 0.5)
	x /= 3
	x -= 1e37
	f[10] = float64(x)
}

func FloatOrder(out []int64, f []float64) {
	nan, inf, nz := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	list := []float64{nan, inf, -inf, nz, 0, 1, -1}
	for i, a := range list {
		for _, b := range list {
			out[i*6] <<= 1
			out[i*6+1] <<= 1
			out[i*6+2] <<= 1
			out[i*6+3] <<= 1
			if a < b {
				out[i*6]++
			}
			if a <= b {
				out[i*6+1]++
			}
			if a == b {
				out[i*6+2]++
			}
			if !(a > b) || a != b {
				out[i*6+3]++
			}
		}
	}
	f[0], f[1] = min(nz, 0), max(nz, 0)
	f[2], f[3] = min(1, nan), max(nan, 1)
	f[4] = 1 / max(nz, nz)
	f[5] = inf - inf
	f[6] = nz * inf
}

func FloatOps(out []int64, f []float64) {
	x, y := 1e308, 3.0
	f[0], f[1] = x*10, -x*10
	f[2] = 5e-324 / 2
	f[3] = math.SmallestNonzeroFloat64 * 3
	f[4] = x / 1e-10
	f[5] = y / 7 * 7
	f[6] = 0.1 + 0.2
	a, b := 0.1, 0.2
	f[7] = a + b
	f[8] = (a + b) + y
	f[9] = a + (b + y)
	for i := range 20 {
		y = y*1.1 - float64(i)
	}
	f[10] = y
	f[11] = -y
	y++
	f[12] = y
}

func ComplexOps(out []int64, f []float64) {
	a, b := complex(1.5, -2), complex(-0.5, 3)
	list := []complex128{a + b, a - b, a * b, a / b, -a, a * a * b, a / (b + 1), 2 * a, a + 1, 3i * b}
	for i, c := range list {
		f[2*i], f[2*i+1] = real(c), imag(c)
	}
	c := a
	c += b
	c *= c
	c -= 1i
	c /= b
	f[30], f[31] = real(c), imag(c)
	if a != b && a == complex(1.5, -2) && c != c+1 {
		out[0] = 1
	}
	z := complex(0, 0)
	q := a / z
	f[32], f[33] = real(q), imag(q)
	q = z / z
	f[34] = real(q)
	inf := complex(math.Inf(1), 0)
	q = inf / a
	f[36] = real(q)
	q = a / inf
	f[38] = real(q)
	arr := [3]complex128{1: a}
	arr[2] = arr[1] * 2
	f[40] = imag(arr[2])
	type wave struct {
		amp complex128
		n   int8
	}
	w := wave{amp: b}
	w.amp *= 1i
	f[41] = real(w.amp)
}

func Complex64s(out []int64, f []float64) {
	var a, b complex64 = complex(1.1, -2.2), complex(3.3, 0.7)
	list := []complex64{a + b, a - b, a * b, a / b, -b, a * (b + 1)}
	for i, c := range list {
		f[2*i], f[2*i+1] = float64(real(c)), float64(imag(c))
	}
	c := complex128(a) * complex128(b)
	f[20], f[21] = real(c), imag(c)
	d := complex64(c)
	f[22] = float64(imag(d))
	x := float32(2)
	e := complex(x, -x)
	f[23] = float64(imag(e * e))
	if d == complex64(c) && d != a {
		out[0] = 1
	}
}

func ConstBig(out []int64, f []float64) {
	const huge = 1 << 200
	const mask = huge>>150 - 1
	out[0] = mask & 0xffffffff
	out[1] = huge / (huge >> 20)
	const pi2 = math.Pi * math.Pi
	f[0] = pi2
	f[1] = huge
	const tiny = 1.0 / huge
	f[2] = tiny * huge
	out[2] = 7.0
	out[3] = int64(1e3)
	const c = 2i * 2i
	out[4] = real(c)
	out[5] = 'a' * 2
	out[6] = int64(len("hello") << 2)
	f[3] = 1 / 3.0
	f[4] = 7 / 2
	out[7] = -5 % 3
	out[8] = ^0
	const typed uint8 = 255
	out[9] = int64(typed) + 1
	out[10] = 1<<62 - 1 + 1<<62
	f[5] = float64(float32(0.1))
	f[6] = 0x1.8p3
	out[11] = 0b1011_0001 ^ 0o777
	const yes = 3 < 4 && "a" < "b"
	if yes {
		out[12] = 1
	}
}

func ConstIota(out []int64, f []float64) {
	const (
		_  = iota
		kb = 1 << (10 * iota)
		mb
		gb
	)
	const (
		a, b = iota, iota * 10
		c, d
		_, _
		e, g
	)
	out[0], out[1], out[2] = kb, mb, gb
	out[3], out[4], out[5], out[6], out[7], out[8] = a, b, c, d, e, g
	type level int8
	const (
		low level = iota - 1
		mid
		high
	)
	for l := low; l <= high; l++ {
		out[20+l] = int64(l)
	}
}

func MinMaxAll(out []int64, f []float64) {
	a, b, c := int64(3), int64(-4), int64(10)
	out[0], out[1] = min(a, b, c), max(a, b, c)
	out[2] = min(a, 2) + max(b, 0) + min(5, c, 7)
	var x, y uint8 = 200, 100
	out[3] = int64(max(x, y)) - int64(min(x, y))
	f[0] = max(1.5, float64(a), f[1])
	f[1] = float64(min(float32(2), 0.5, 9))
	out[4] = max(3, 9)
	out[5] = min(a*b, b*c, c*a)
}

func BitTricks(out []int64, f []float64) {
	x := uint64(0xdeadbeefcafebabe)
	out[0] = int64(x & -x)
	out[1] = int64(x & (x - 1))
	out[2] = int64(x<<13 | x>>51)
	y := uint32(x)
	y = y&0x55555555<<1 | y>>1&0x55555555
	y = y&0x33333333<<2 | y>>2&0x33333333
	out[3] = int64(y)
	n := 0
	for v := x; v != 0; v &= v - 1 {
		n++
	}
	out[4] = int64(n) - int64(bits.OnesCount64(x))
	out[5] = int64(bits.Len32(y) + bits.TrailingZeros64(x))
	var gray [16]uint8
	for i := range gray {
		gray[i] = uint8(i) ^ uint8(i)>>1
		out[10+i] = int64(gray[i])
	}
	out[30] = int64(int32(y)>>4) >> 20
	b := uint8(0b1010_0110)
	b &^= 0b0000_0110
	b = ^b
	out[31] = int64(b)
}

func Bytes(out []int64, f []float64) {
	s := []byte{'G', 'o', 0, 255}
	for i, c := range s {
		out[i] = int64(c)
	}
	s[2] = s[0] + 32
	out[4] = int64(s[2])
	digits := func(n int64, dst []byte) int {
		i := len(dst)
		for {
			i--
			dst[i] = byte('0' + n%10)
			if n /= 10; n == 0 {
				return i
			}
		}
	}
	var buf [20]byte
	at := digits(90210, buf[:])
	for i, c := range buf[at:] {
		out[10+i] = int64(c)
	}
	word := []rune{'h', 'é', '世'}
	for i, r := range word {
		out[20+i] = int64(r)
	}
	upper := func(c byte) byte {
		if 'a' <= c && c <= 'z' {
			return c - ('a' - 'A')
		}
		return c
	}
	out[30] = int64(upper('q')) + int64(upper('!'))
}

func Mixed(out []int64, f []float64) {
	i, u, x := int32(-7), uint8(250), 2.75
	out[0] = int64(i)*int64(u) + int64(x)
	f[0] = float64(i)/float64(u) + x
	f[1] = float64(int64(x*100)) / 100
	out[1] = int64(uint32(i)>>28) + int64(int8(u))
	f[2] = float64(float32(x) * float32(i))
	out[2] = int64(math.Floor(x)) + int64(math.Ceil(-x))
	var d float64 = 3
	e := 1 << 3 * d
	f[3] = e
	out[3] = int64(u+10) + int64(u)*2 + int64(u/7%5)
	w := int16(u) * int16(u)
	out[4] = int64(w)
}

func AssignOps(out []int64, f []float64) {
	out[0] = 100
	out[0] += 7
	out[0] -= 2
	out[0] *= 3
	out[0] /= 4
	out[0] %= 50
	out[1] = 0xf0
	out[1] &= 0x3c
	out[1] |= 1
	out[1] ^= 0xff
	out[1] &^= 2
	out[1] <<= 5
	out[1] >>= 2
	i := 1
	out[i+1] += int64(i)
	out[i+1]++
	at := func() int { i++; return i }
	out[at()] += 5
	out[at()]++
	out[10] = int64(i)
	f[0] = 2
	f[0] *= f[0]
	f[0] /= 3
	f[0]--
	p := &f[1]
	*p += 4
	*p -= 0.5
	var a [3]int8
	a[2] += 127
	a[2]++
	out[11] = int64(a[2])
}

// Squares multiplies numbers by themselves in loops, of which g++ 12 makes one product.
func Squares(out []int64, f []float64) {
	a := [16]int64{}
	out[0], out[1], out[2], out[3] = squares[int8](a[:]), squares[int16](a[:]), squares[int32](a[:]), squares[int64](a[:])
	out[4], out[5], out[6], out[7] = squares[uint8](a[:]), squares[uint16](a[:]), squares[uint32](a[:]), squares[uint64](a[:])
	x, y := int16(11), int32(11)
	for range a {
		x *= x
		y = (y * y) * (y * y)
		if x > x {
			out[8] = 7
		}
		out[8]++
	}
	out[9], out[10] = int64(x), int64(y)
}

func squares[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](a []int64) int64 {
	x, y, n := T(11), T(3), int64(0)
	for i := range 8 {
		x *= x
		n += int64(i)
	}
	for range a {
		z := y
		y = z * y
		n++
	}
	return int64(x) + int64(y)*1000 + n
}
