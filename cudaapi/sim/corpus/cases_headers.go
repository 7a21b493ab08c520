package corpus

import "math/cmplx"

// libcus are the cases of libcu.cu.
func libcus() []kernelCase {
	keys := ints(3000, 0, 10)
	bk, bins := &buffer{in: keys}, &buffer{in: make([]int32, 10), want: fill(10, func(b int) int32 {
		n := int32(0)
		for _, k := range keys {
			n += truth(int(k) == b)
		}
		return n
	})}
	const blocks = 80
	flags := &buffer{in: make([]uint32, blocks), want: fill(blocks, func(int) uint32 { return 3 })}
	sums := &buffer{in: make([]uint32, blocks), want: fill(blocks, func(i int) uint32 { return uint32(i * (i + 1) / 2) })}
	return []kernelCase{
		{name: "a histogram by references", buffers: []*buffer{bk, bins}, launches: []launch{{"ref_count", dim(4), dim(128), 0, []any{bk, int32(len(keys)), bins}}}},
		{name: "a relay of blocks", buffers: []*buffer{flags, sums}, launches: []launch{{"ref_relay", dim(blocks), dim(32), 0, []any{flags, sums}}}},
	}
}

// complexes are the cases of complex.cu.
func complexes() []kernelCase {
	const w = 64
	steps := out(fill(w*w, func(i int) int32 {
		z, n := complex(4*float64(i%w)/w-2, 4*float64(i/w)/w-2), int32(0)
		for ; n < 8 && real(z)*real(z)+imag(z)*imag(z) < 1000; n++ {
			z = z*z + complex(-0.8, 0.156)
		}
		return n
	}))
	in := floats(128, 10)
	bin, quotients := &buffer{in: in}, out(fill(3*64, func(i int) float32 {
		a, b := complex(float64(in[i/3*2]), float64(in[i/3*2+1])), complex(float64(in[i/3*2+1]), 1)
		q := cmplx.Conj(a) / b
		return float32([]float64{real(q), imag(q), cmplx.Abs(a)}[i%3])
	}))
	return []kernelCase{
		// So few steps that rounding does not decide any.
		{name: "a Julia set", buffers: []*buffer{steps}, launches: []launch{{"julia", dim(w/16, w/16), dim(16, 16), 0, []any{int32(w), steps}}}},
		{name: "quotients", buffers: []*buffer{bin, quotients}, tolerance: 1e-4, launches: []launch{{"quotients", dim(1), dim(64), 0, []any{bin, quotients}}}},
	}
}

// asyncs are the cases of async.cu.
func asyncs() []kernelCase {
	const threads, rounds, tiles = 128, 9, 5
	hands := out(fill(threads, func(i int) int32 { return 1000*rounds*(rounds-1)/2 + int32((i+rounds)%threads) }))
	in := fill(4*64*tiles, func(i int) float32 { return float32(mix(uint32(i)) % 64) })
	bin, sums := &buffer{in: in}, out(fill(64, func(i int) float32 {
		sum := float32(0)
		for t := range tiles {
			for _, v := range in[4*(64*t+63-i):][:4] {
				sum += v
			}
		}
		return sum
	}))
	largest := out(fill(32, func(i int) int32 { return int32(max(i, 5)) }))
	return []kernelCase{
		{name: "barriers that are arrived at first", buffers: []*buffer{hands}, launches: []launch{{"hand_on", dim(1), dim(threads), 0, []any{hands, int32(rounds)}}}},
		{name: "tiles copied ahead", buffers: []*buffer{bin, sums}, launches: []launch{{"copied", dim(1), dim(64), 0, []any{bin, sums, int32(tiles)}}}},
		{name: "types of the library", buffers: []*buffer{largest}, launches: []launch{{"typed", dim(1), dim(32), 0, []any{largest}}}},
	}
}
