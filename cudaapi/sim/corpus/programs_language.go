package corpus

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// language are the cases of language.cu.
func language() []kernelCase {
	const n = 64
	grid, block := dim(2), dim(32)
	x := ints(n, -20, 20)
	four, three := ints(4*n, -50, 50), fill(3*n, func(i int) float64 { return float64(i%11) / 8 })
	folded := fill(n, func(i int) int32 {
		v := int64(four[4*i])
		for _, o := range four[4*i+1 : 4*i+4] {
			v = (v*int64(o) + int64(i)) / 2
		}
		return int32(v % 1000)
	})
	terms := [7]int32{1, 2, -1, 3, 2, 5, 2}
	var fractions []int32
	var quotients []float64
	for i := range n {
		sum := big.NewRat(int64(x[i]), 3)
		for k := range int64(terms[6]) {
			for t := 0; t < 6; t += 2 {
				sum.Add(sum, big.NewRat(int64(terms[t])*(k+1), 2*int64(terms[t+1])))
			}
		}
		q, _ := sum.Float64()
		fractions, quotients = append(fractions, int32(sum.Num().Int64()), int32(sum.Denom().Int64())), append(quotients, q)
	}
	which := ints(n, 0, 3)
	called := fill(n, func(i int) int32 {
		v := x[i]
		for k := range 3 {
			v = []int32{2 * v, v * v, -v}[(int(which[i])+k)%3] + 1
		}
		return v
	})
	depth := ints(n, 0, 6)
	moves, hashes := make([]int32, n), make([]uint32, n)
	var hanoi func(i int, n, from, to uint32)
	hanoi = func(i int, n, from, to uint32) {
		if n > 0 {
			hanoi(i, n-1, from, 3-from-to)
			moves[i]++
			hashes[i] = hashes[i]*31 + n*9 + from*3 + to
			hanoi(i, n-1, 3-from-to, to)
		}
	}
	for i := range n {
		hanoi(i, uint32(depth[i]), 0, 2)
	}
	f := floats(n, 100)
	var parts []int32
	for _, v := range f {
		u := math.Float32bits(v)
		parts = append(parts, int32((u+3)&31), (int32(u>>5<<21)>>21-1)<<21>>21, int32(u>>16))
	}
	wide := fill(256, func(i int) uint64 { return uint64(mix(uint32(i)))<<32 | uint64(mix(uint32(i+n))) })
	found, tops := []uint64{0, 0, math.MaxUint64, 0, 0, 0, 0}, 0.0
	for _, v := range wide {
		found[0] += v
		found[1] = max(found[1], v)
		found[2] = min(found[2], v)
		found[3] ^= v
		found[4] |= v & 0xff00ff00ff00ff00
		found[5] = uint64(max(int64(found[5]), int64(v)))
		tops += float64(v >> 40)
	}
	found[6] = math.Float64bits(tops)
	shorts := fill(n, func(i int) int16 { return int16(mix(uint32(i))) })
	code := []int32{4, 1, 3, 3, 1, 1, 2, 6, 7, 0, 0, 0, 0}
	keys := fill(100, func(i int) int32 { return int32(i * 37 % 100) })
	nodes := []int32{keys[0], -1, -1}
	depths := map[int32]int32{keys[0]: 0}
	for _, k := range keys[1:90] {
		at, d := int32(0), int32(0)
		for next := at; next >= 0; d++ {
			at = next
			next = nodes[3*at+1+truth(k > nodes[3*at])]
		}
		nodes[3*at+1+truth(k > nodes[3*at])] = int32(len(nodes) / 3)
		nodes = append(nodes, k, -1, -1)
		depths[k] = d
	}
	reals := fill(n, func(i int) float64 { return float64(int32(mix(uint32(i)))) / 3000 })
	var converted []int64
	for _, v := range reals {
		k := int32(v)
		below := int64(0)
		if v < 0 {
			below = 1
		}
		converted = append(converted, int64(k), int64(int8(k)), int64(uint16(k)), int64(v)>>3, int64(k%7+k/7*1000),
			int64(math.RoundToEven(float64(float32(v)))), int64(math.Floor(v))*10+below, int64(uint32(k)>>28))
	}
	return []kernelCase{
		program("templates and lambdas", launch{"fold<int, 4>", grid, block, 0, []any{input(four), out(folded)}}),
		program("a template's other way", launch{"fold<double, 3>", grid, block, 0, []any{input(three), out(fill(n, func(i int) float64 { return three[3*i] + three[3*i+1] + three[3*i+2] }))}}),
		program("operators and a struct by value", launch{"rationals", grid, block, 0, []any{terms, input(x), out(fractions), out(quotients)}}),
		program("a table of functions", launch{"call_table", grid, block, 0, []any{input(which), changed(x, called)}}),
		program("recursion in two ways", launch{"recursions", grid, block, 0, []any{input(depth), out(fill(n, func(i int) int32 { return 2*depth[i] + 3 })), out(moves), out(hashes)}}),
		program("a union and fields of bits", launch{"fields", grid, block, 0, []any{input(f), out(fill(n, func(i int) uint32 { return bits.ReverseBytes32(math.Float32bits(f[i])) })), out(parts)}}),
		program("atomics of 64 bits", launch{"wide_atomics", dim(4), dim(64), 0, []any{input(wide), changed([]uint64{0, 0, math.MaxUint64, 0, 0, 0, 0}, found), changed([]float64{1}, []float64{1 << 64})}}),
		program("virtual functions", launch{"virtuals", grid, block, 0, []any{input(x), out(fill(n, func(i int) int32 {
			if x[i]%2 != 0 {
				return 3 * x[i] * int32(i)
			}
			return 3 * x[i] * x[i]
		}))}}),
		program("packs", launch{"packs", grid, block, 0, []any{input(shorts), out(fill(n, func(i int) int32 { return 4*int32(shorts[i]) + int32(int8(shorts[i])) + truth(shorts[i] > 0) })), out(slices.Repeat([]uint64{4010802}, n))}}),
		program("an interpreter", launch{"interpret", grid, block, 0, []any{input(code), input(x), out(fill(n, func(i int) int32 { return 243*x[i] + 121 }))}}),
		program("pieces of shared memory", launch{"pieces", dim(1), dim(n), 14 * n, []any{input(x), out(fill(n, func(t int) float64 {
			return float64(x[n-1-t])/4 + float64(3*x[(t+1)%n]) + float64(x[(n-1-t)/2]^1)
		}))}}),
		program("variables of namespaces", launch{"variables", grid, block, 0, []any{input(x), out(fill(n, func(i int) int32 { return 3*x[i] + []int32{1, 10, 100, 0}[i%4] })), out([]int32{7})}}),
		program("a sieve in local memory", launch{"sieve", grid, block, 0, []any{input(fill(n, func(i int) int32 { return int32(3 * i) })), out(fill(n, func(i int) (primes int32) {
			for k := range int64(3*i + 1) {
				primes += truth(big.NewInt(k).ProbablyPrime(0))
			}
			return primes
		}))}}),
		program("a tree and pointers to members", launch{"tree", dim(2), dim(50), 0, []any{input(nodes), input(keys), out(fill(100, func(i int) int32 {
			if d, ok := depths[keys[i]]; ok {
				return d
			}
			return -1
		}))}}),
		program("conversions", launch{"conversions", grid, block, 0, []any{input(reals), out(converted)}}),
		program("fences and volatile", launch{"fenced", grid, block, 0, []any{input(x), scratch[int32](2), scratch[uint32](1), out([]int32{total(x)})}}),
	}
}
