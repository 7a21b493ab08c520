// Package xorwow is Marsaglia's xorwow generator with the seeding and the
// subsequences of NVIDIA's cuRAND, so that known results come out exactly: a
// header of CUDA C++ that stands for curand_kernel.h.
//
// The generator's five words are a linear feedback shift register of 160 bits
// over GF(2); a sixth word is a counter that is added to the output. Skipping n
// draws multiplies the register by x^n modulo the register's characteristic
// polynomial, which is found here from 320 of its output bits. Subsequences are
// 2^67 draws apart, which leaves the counter as it is.
package xorwow

// register is the five words of curandStateXORWOW.
type register [5]uint32

// step moves the register on by one draw.
func (v *register) step() {
	t := v[0] ^ v[0]>>2
	v[0], v[1], v[2], v[3] = v[1], v[2], v[3], v[4]
	v[4] = v[4] ^ v[4]<<4 ^ (t ^ t<<1)
}
