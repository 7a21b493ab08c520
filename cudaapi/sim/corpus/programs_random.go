package corpus

import (
	"math"
	"math/bits"
	"slices"
)

// randoms are the cases of random.cu.
func randoms() []kernelCase {
	const n = 256
	grid, block := dim(4), dim(64)
	seeds := fill(n, func(i int) uint32 { return mix(uint32(i)) })
	after := fill(n, func(i int) uint32 {
		s := seeds[i]
		for range 100 {
			s = 1664525*s + 1013904223
		}
		return s
	})
	wide := fill(n, func(i int) uint64 { return uint64(mix(uint32(i)))<<32 | uint64(mix(uint32(i+n))) | 1 })
	xorshift := func(s *uint64) uint64 {
		*s ^= *s >> 12
		*s ^= *s << 25
		*s ^= *s >> 27
		return *s * 0x2545f4914f6cdd1d
	}
	states, sums := slices.Clone(wide), make([]uint64, n)
	ends := make([]int32, 0, 2*n)
	for i := range n {
		for range 50 {
			sums[i] += xorshift(&states[i]) >> 8
		}
		s, x, y := wide[i], int32(0), int32(0)
		for range 40 {
			switch xorshift(&s) >> 62 {
			case 0:
				x++
			case 1:
				y++
			case 2:
				x--
			case 3:
				y--
			}
		}
		ends = append(ends, x, y)
	}
	keys := fill(2*n, func(i int) uint32 { return mix(uint32(i + 9)) })
	var blocks []uint32
	for i := range n {
		c, k0, k1 := [4]uint32{uint32(i), 1, 2, 3}, keys[2*i], keys[2*i+1]
		for range 10 {
			hi0, lo0 := bits.Mul32(0xd2511f53, c[0])
			hi1, lo1 := bits.Mul32(0xcd9e8d57, c[2])
			c = [4]uint32{hi1 ^ c[1] ^ k0, lo1, hi0 ^ c[3] ^ k1, lo0}
			k0 += 0x9e3779b9
			k1 += 0xbb67ae85
		}
		blocks = append(blocks, c[:]...)
	}
	uniform := fill(2*n, func(i int) float64 { return (float64(mix(uint32(i))) + 0.5) / (1 << 32) })
	normal := fill(2*n, func(i int) float64 {
		r, angle := math.Sqrt(-2*math.Log(uniform[i&^1])), 2*math.Pi*uniform[i|1]
		return r * []float64{math.Cos(angle), math.Sin(angle)}[i%2]
	})
	first := uint32(1000)
	threes := fill(n, func(i int) (v uint32) {
		k := first + uint32(i)
		for range 20 {
			v, k = 3*v+k%3, k/3
		}
		return v
	})
	key := uint32(77)
	permuted := make([]uint32, 4096)
	for i := range uint32(4096) {
		a, b := i>>6, i&63
		for round := range uint32(4) {
			a, b = b, a^((b*0x9e3779b1+key+round)*0x85ebca6b>>26)
		}
		permuted[a<<6|b] = i
	}
	const w, h = 34, 20
	flips := []uint32{math.MaxUint32, math.MaxUint32, 1 << 31, 1 << 29, 1 << 26}
	spins := fill(w*h, func(i int) int8 { return int8(mix(uint32(i))%2*2) - 1 })
	turned := slices.Clone(spins)
	for step := range 4 {
		for i := range turned {
			if x, y := i%w, i/w; (x+y)%2 == step%2 {
				around := turned[y*w+(x+1)%w] + turned[y*w+(x+w-1)%w] + turned[(y+1)%h*w+x] + turned[(y+h-1)%h*w+x]
				r := uint32(i+1000*step) * 0x9e3779b1
				r = (r ^ r>>15) * 0x85ebca6b
				r ^= r >> 13
				if r < flips[(around*turned[i]+4)/2] {
					turned[i] = -turned[i]
				}
			}
		}
	}
	bspins := changed(spins, turned)

	price := fill(n, func(i int) float64 { return 50 + float64(mix(uint32(i))%1000)/10 })
	strike := fill(n, func(i int) float64 { return 60 + float64(mix(uint32(i+n))%800)/10 })
	years := fill(n, func(i int) float64 { return 0.1 + float64(i%40)/10 })
	const rate, volatility = 0.03, 0.25
	call, put := make([]float64, n), make([]float64, n)
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for i := range n {
		root := volatility * math.Sqrt(years[i])
		d1 := (math.Log(price[i]/strike[i]) + (rate+volatility*volatility/2)*years[i]) / root
		k := strike[i] * math.Exp(-rate*years[i])
		call[i] = price[i]*cdf(d1) - k*cdf(d1-root)
		put[i] = k*cdf(root-d1) - price[i]*cdf(-d1)
	}
	const steps, up, chance, discount = 63, 1.03, 0.51, 0.9995
	strikes := []float64{80, 95, 100, 110, 130}
	options := fill(len(strikes), func(i int) float64 {
		v := fill(steps+1, func(t int) float64 { return max(strikes[i]-100*math.Pow(up, float64(2*t-steps)), 0) })
		for s := steps - 1; s >= 0; s-- {
			for t := range s + 1 {
				v[t] = max(discount*(chance*v[t+1]+(1-chance)*v[t]), strikes[i]-100*math.Pow(up, float64(2*t-s)))
			}
		}
		return v[0]
	})
	return []kernelCase{
		program("a linear congruential generator", launch{"lcg", grid, block, 0, []any{input(seeds), out(after), int32(100)}}),
		program("the same, ahead", launch{"lcg_ahead", grid, block, 0, []any{input(seeds), out(after), int32(100)}}),
		program("xorshift", launch{"xorshifts", grid, block, 0, []any{changed(wide, states), out(sums), int32(50)}}),
		program("Philox", launch{"philox", grid, block, 0, []any{input(keys), out(blocks)}}),
		program("Box and Muller", launch{"box_muller", grid, block, 0, []any{input(uniform), out(normal), int32(n)}}).within(1e-13),
		program("random walks", launch{"walk", grid, block, 0, []any{input(wide), out(ends), int32(40)}}),
		program("Halton", launch{"halton", grid, block, 0, []any{input([]uint32{first, 5}), out(fill(n, func(i int) uint32 { return bits.Reverse32(first + uint32(i)) })), out(threes)}}),
		program("a permutation", launch{"feistel", dim(32), dim(128), 0, []any{input([]uint32{key, 5}), out(permuted)}}),
		program("Ising", each(4, func(i int) launch {
			return launch{"ising", dim(5, 3), dim(8, 8), 0, []any{bspins, int32(w), int32(h), int32(i % 2), uint32(1000 * i)}}
		})...).with(map[string]any{"flips": flips}),
		program("Black and Scholes", launch{"black_scholes", grid, block, 0, []any{input(price), input(strike), input(years), out(call), out(put), rate, volatility}}).within(1e-12),
		program("American options by trees", launch{"binomial", dim(uint32(len(strikes))), dim(steps + 1), 8 * (steps + 1), []any{input(strikes), out(options), 100.0, up, chance, discount}}).within(1e-12),
	}
}
