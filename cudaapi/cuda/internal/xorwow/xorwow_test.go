package xorwow

import (
	"strings"
	"testing"
)

// state is curandStateXORWOW, and what follows the generator in Go: what the
// polynomials are tested by.
type state struct {
	D uint32
	V register
}

const counterStep = 362437

// newState is curand_init: the state for a seed, at the given draw of a subsequence.
func newState(seed, subsequence, offset uint64) state {
	s0, s1 := uint32(seed)^0xaad26b49, uint32(seed>>32)^0xf7dcefdd
	t0, t1 := 1099087573*s0, 2591861531*s1
	s := state{D: 6615241 + t1 + t0, V: register{123456789 + t0, 362436069 ^ t0, 521288629 + t1, 88675123 ^ t1, 5783321 + t0}}
	s.jump(power(sequence(), subsequence))
	s.jump(power(draw(), offset))
	s.D += counterStep * uint32(offset)
	return s
}

// Next is curand.
func (s *state) Next() uint32 {
	s.V.step()
	s.D += counterStep
	return s.V[4] + s.D
}

// Uniform is curand_uniform: in (0, 1].
func (s *state) Uniform() float32 {
	const inverse = float32(2.3283064e-10)
	x := float32(s.Next()) * inverse
	return x + inverse/2
}

// jump applies a polynomial in the step to the register.
func (s *state) jump(p poly) {
	var sum register
	v := s.V
	for i := range degree {
		if p.bit(i) {
			for j := range sum {
				sum[j] ^= v[j]
			}
		}
		v.step()
	}
	s.V = sum
}

// power is p^n.
func power(p poly, n uint64) poly {
	out := poly{1}
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			out = out.times(p)
		}
		p = p.times(p)
	}
	return out
}

// hits counts the points of a quarter circle as the published course does: n
// threads, thread i draws x and y from subsequence i of the seed.
func hits(seed uint64, from, to uint64) int {
	n := 0
	base := newState(seed, 0, 0)
	// Thread i's register is that of thread i-1, one sequence on.
	s := newState(seed, from, 0)
	one := sequence()
	for range to - from {
		t := state{D: base.D, V: s.V}
		x, y := t.Uniform(), t.Uniform()
		if x*x+y*y <= 1 {
			n++
		}
		s.jump(one)
	}
	return n
}

func TestOffsetsAreDraws(t *testing.T) {
	for _, seq := range []uint64{0, 1, 1000} {
		walk := newState(42, seq, 0)
		for offset := range uint64(300) {
			skip := newState(42, seq, offset)
			if skip != walk {
				t.Fatalf("subsequence %d, offset %d: %+v, want %+v", seq, offset, skip, walk)
			}
			walk.Next()
		}
	}
}

func TestSubsequencesAreJumps(t *testing.T) {
	one := newState(7, 1, 0)
	two := one
	two.jump(sequence())
	if newState(7, 2, 0) != two {
		t.Error("two jumps of one differ from one of two")
	}
	if newState(7, 0, 1<<20) == newState(7, 0, 0) || newState(7, 1, 0) == newState(7, 0, 0) {
		t.Error("a jump does nothing")
	}
}

func TestGoldenPi(t *testing.T) {
	if testing.Short() {
		t.Skip("a million jumps")
	}
	if got := hits(0, 0, 1<<20); got != 823968 {
		t.Errorf("one device: %d hits, the published count is 823968", got)
	}
	if got := hits(3, 0, 1<<18); got != 205593 {
		t.Errorf("the last of four devices: %d hits, the published count is 205593", got)
	}
}

func TestHeaderHasItsTables(t *testing.T) {
	h := Header()
	if strings.Contains(h, "@") {
		t.Error("a table is not filled in")
	}
	if n := strings.Count(h, "u,"); n < 5*(3*255+10*15+16*15) {
		t.Errorf("%d words", n)
	}
}
