// Package xorwow is Marsaglia's xorwow generator with the seeding and the
// subsequences of NVIDIA's cuRAND, so that known results come out exactly: in Go,
// and as a header of CUDA C++ that stands for curand_kernel.h.
//
// The generator's five words are a linear feedback shift register of 160 bits
// over GF(2); a sixth word is a counter that is added to the output. Skipping n
// draws multiplies the register by x^n modulo the register's characteristic
// polynomial, which is found here from 320 of its output bits. Subsequences are
// 2^67 draws apart, which leaves the counter as it is.
package xorwow

// State is curandStateXORWOW.
type State struct {
	D uint32
	V [5]uint32
}

const counterStep = 362437

// New is curand_init: the state for a seed, at the given draw of a subsequence.
func New(seed, subsequence, offset uint64) State {
	s0, s1 := uint32(seed)^0xaad26b49, uint32(seed>>32)^0xf7dcefdd
	t0, t1 := 1099087573*s0, 2591861531*s1
	s := State{D: 6615241 + t1 + t0, V: [5]uint32{123456789 + t0, 362436069 ^ t0, 521288629 + t1, 88675123 ^ t1, 5783321 + t0}}
	s.jump(power(sequence(), subsequence))
	s.jump(power(draw(), offset))
	s.D += counterStep * uint32(offset)
	return s
}

// Next is curand.
func (s *State) Next() uint32 {
	s.step()
	s.D += counterStep
	return s.V[4] + s.D
}

// Uniform is curand_uniform: in (0, 1].
func (s *State) Uniform() float32 {
	const inverse = float32(2.3283064e-10)
	x := float32(s.Next()) * inverse
	return x + inverse/2
}

// step moves the register on by one draw.
func (s *State) step() {
	v := &s.V
	t := v[0] ^ v[0]>>2
	v[0], v[1], v[2], v[3] = v[1], v[2], v[3], v[4]
	v[4] = v[4] ^ v[4]<<4 ^ (t ^ t<<1)
}

// jump applies a polynomial in the step to the register.
func (s *State) jump(p poly) {
	var sum [5]uint32
	r := State{V: s.V}
	for i := range degree {
		if p.bit(i) {
			for j := range sum {
				sum[j] ^= r.V[j]
			}
		}
		r.step()
	}
	s.V = sum
}
