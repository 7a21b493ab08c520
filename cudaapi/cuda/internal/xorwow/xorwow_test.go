package xorwow

import (
	"strings"
	"testing"
)

// hits counts the points of a quarter circle as the published course does: n
// threads, thread i draws x and y from subsequence i of the seed.
func hits(seed uint64, from, to uint64) int {
	n := 0
	base := New(seed, 0, 0)
	// Thread i's register is that of thread i-1, one sequence on.
	s := New(seed, from, 0)
	one := sequence()
	for range to - from {
		t := State{D: base.D, V: s.V}
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
		walk := New(42, seq, 0)
		for offset := range uint64(300) {
			skip := New(42, seq, offset)
			if skip != walk {
				t.Fatalf("subsequence %d, offset %d: %+v, want %+v", seq, offset, skip, walk)
			}
			walk.Next()
		}
	}
}

func TestSubsequencesAreJumps(t *testing.T) {
	one := New(7, 1, 0)
	two := one
	two.jump(sequence())
	if New(7, 2, 0) != two {
		t.Error("two jumps of one differ from one of two")
	}
	if New(7, 0, 1<<20) == New(7, 0, 0) || New(7, 1, 0) == New(7, 0, 0) {
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
