package xorwow

import "sync"

// degree is the register's size in bits.
const degree = 160

// poly is a polynomial over GF(2) of degree below 192: bit i is the coefficient
// of x^i.
type poly [6]uint32

func (p *poly) bit(i int) bool { return p[i/32]>>(i%32)&1 != 0 }

func (p *poly) flip(i int) { p[i/32] ^= 1 << (i % 32) }

// double multiplies by x, modulo the characteristic polynomial.
func (p *poly) double() {
	carry := uint32(0)
	for i := range p {
		p[i], carry = p[i]<<1|carry, p[i]>>31
	}
	if p.bit(degree) {
		c := characteristic()
		for i := range p {
			p[i] ^= c[i]
		}
	}
}

// times multiplies modulo the characteristic polynomial.
func (p poly) times(q poly) poly {
	var sum poly
	for i := range degree {
		if q.bit(i) {
			for j := range sum {
				sum[j] ^= p[j]
			}
		}
		p.double()
	}
	return sum
}

// draw is x: one draw.
func draw() poly { return poly{2} }

// sequence is x^(2^67): one subsequence.
var sequence = sync.OnceValue(func() poly {
	p := draw()
	for range 67 {
		p = p.times(p)
	}
	return p
})

// characteristic is the polynomial that the register satisfies, by Berlekamp and
// Massey's algorithm from one bit of its words.
var characteristic = sync.OnceValue(func() poly {
	v := register{1}
	bits := make([]bool, 2*degree)
	for i := range bits {
		bits[i] = v[0]&1 != 0
		v.step()
	}
	// c is the connection polynomial so far, b the one before its last change.
	c, b := make([]bool, len(bits)+1), make([]bool, len(bits)+1)
	c[0], b[0] = true, true
	length, since := 0, 1
	for n := range bits {
		wrong := bits[n]
		for i := 1; i <= length; i++ {
			wrong = wrong != (c[i] && bits[n-i])
		}
		if !wrong {
			since++
			continue
		}
		before := append([]bool(nil), c...)
		for i := 0; i+since < len(c); i++ {
			c[i+since] = c[i+since] != b[i]
		}
		if 2*length <= n {
			length, b, since = n+1-length, before, 1
		} else {
			since++
		}
	}
	// The characteristic polynomial is the connection polynomial backwards.
	var p poly
	for i := range length + 1 {
		if c[i] {
			p.flip(length - i)
		}
	}
	return p
})
