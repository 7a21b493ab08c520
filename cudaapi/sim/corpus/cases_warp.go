package corpus

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

func rawBytes(v any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return b
}

func warps() []kernelCase {
	shuffled := out(fill(32*6, func(i int) int32 {
		l := i / 6
		switch i % 6 {
		case 0:
			return 50
		case 1:
			if l >= 3 {
				l -= 3
			}
		case 2:
			if l < 29 {
				l += 3
			}
		case 3:
			l ^= 7
		case 4:
			l = l&^7 + 2
		case 5:
			if l%16 < 13 {
				l += 3
			}
		}
		return int32(10 * l)
	}))
	wideD := out(fill(32, func(i int) float64 { return 0.5 * float64(31-i) }))
	wideL := out(fill(32, func(i int) int64 { return 1<<40 + int64(i^1) }))
	v := ints(32, 0, 100)
	ballot := uint32(0)
	for i, x := range v {
		if x%3 == 0 {
			ballot |= 1 << i
		}
	}
	bv, voted := &buffer{in: v}, out(fill(32*4, func(i int) int32 {
		switch i % 4 {
		case 0:
			return truth(slices.ContainsFunc(v, func(x int32) bool { return x > 90 }))
		case 1:
			return 1
		case 2:
			return int32(ballot)
		}
		same := uint32(0)
		for j, x := range v {
			if x%5 == v[i/4]%5 {
				same |= 1 << j
			}
		}
		return int32(same)
	}))
	halves := &buffer{in: fill(32, func(int) int32 { return -1 }), want: fill(32, func(i int) int32 {
		switch {
		case i < 16:
			return 120
		case i < 28:
			return 6
		}
		return -1
	})}
	u := fill(32, func(i int) uint32 { return mix(uint32(i)) | 1<<20 })
	and, or, xor, sum := ^uint32(0), uint32(0), uint32(0), uint32(0)
	for _, x := range u {
		and &= x
		or |= x
		xor ^= x
		sum += x
	}
	bu, reduced := &buffer{in: u}, out(fill(32*6, func(i int) uint32 {
		return []uint32{sum, slices.Min(u), slices.Max(u), and, or, xor}[i%6]
	}))
	w := ints(100, 0, 100)
	above := int32(0)
	for _, x := range w {
		above += truth(x > 50)
	}
	bw, counted := &buffer{in: w}, out(fill(300, func(i int) int32 { return []int32{above, 1, 0}[i%3] }))
	left := &buffer{in: make([]int32, 128), want: fill(128, func(i int) int32 {
		if i < 100 {
			return int32((i + 1) % 100)
		}
		return 0
	})}
	keys := ints(1000, 0, 10)
	bk, bins := &buffer{in: keys}, out(fill(10, func(b int) int32 {
		n := int32(0)
		for _, k := range keys {
			n += truth(int(k) == b)
		}
		return n
	}))
	return []kernelCase{
		{name: "shuffles", buffers: []*buffer{shuffled}, launches: []launch{{"shuffles", dim(1), dim(32), 0, []any{shuffled}}}},
		{name: "shuffles of eight bytes", buffers: []*buffer{wideD, wideL}, launches: []launch{{"shuffle_wide", dim(1), dim(32), 0, []any{wideD, wideL}}}},
		{name: "votes and matches", buffers: []*buffer{bv, voted}, launches: []launch{{"votes", dim(1), dim(32), 0, []any{bv, voted}}}},
		{name: "halves of a warp apart", buffers: []*buffer{halves}, launches: []launch{{"halves", dim(1), dim(32), 0, []any{halves}}}},
		{name: "reductions of a warp", buffers: []*buffer{bu, reduced}, launches: []launch{{"reductions", dim(1), dim(32), 0, []any{bu, reduced}}}},
		{name: "barriers that count", buffers: []*buffer{bw, counted}, launches: []launch{{"block_votes", dim(1), dim(100), 0, []any{bw, counted}}}},
		{name: "threads that leave before a barrier", buffers: []*buffer{left}, launches: []launch{{"leavers", dim(1), dim(128), 0, []any{left}}}},
		{name: "histogram by matches", buffers: []*buffer{bk, bins}, launches: []launch{{"histogram_match", dim(8), dim(128), 0, []any{bk, bins, int32(1000)}}}},
	}
}

func truth(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

func atomics() []kernelCase {
	const n = 20_000
	data := fill(n, func(i int) byte { return byte(mix(uint32(i)) % 251) })
	count := make([]uint32, 256)
	for _, b := range data {
		count[b]++
	}
	bd, h1, h2 := &buffer{in: data}, out(count), out(count)
	const threads = 4 * 128
	w := &buffer{in: []int32{0, 0, 1000, -1000, -1, 0, 0}, want: []int32{threads * (threads - 1) / 2, -threads, -100, threads - 1, ^0xff, 1<<20 - 1, 0}}
	// The counters go round: 0 to 9 upwards, and 9 to 0 downwards from 0.
	u := &buffer{in: []uint32{0, 0, 0}, want: []uint32{threads % 10, (10 - threads%10) % 10, 2 * threads}}
	l := &buffer{in: []uint64{0, 0}, want: []uint64{threads << 33, (threads - 1) << 32}}
	f := &buffer{in: []float32{0}, want: []float32{threads / 2}}
	d := &buffer{in: []float64{0}, want: []float64{threads / 4}}
	x := floats(5000, 100)
	bx, lock, guarded, top := &buffer{in: x}, out([]int32{0}), out([]int32{40}), out([]uint32{math.Float32bits(slices.Max(x))})
	return []kernelCase{
		{name: "histogram", buffers: []*buffer{bd, h1}, launches: []launch{{"histogram", dim(79), dim(256), 0, []any{bd, h1, int32(n)}}}},
		{name: "histogram in shared memory", buffers: []*buffer{bd, h2}, launches: []launch{{"histogram_shared", dim(9), dim(192), 0, []any{bd, h2, int32(n)}}}},
		{name: "every atomic operation", buffers: []*buffer{w, u, l, f, d}, launches: []launch{{"every_atomic", dim(4), dim(128), 0, []any{w, u, l, f, d}}}},
		{name: "locks and maxima by compare-and-swap", buffers: []*buffer{lock, guarded, top, bx}, launches: []launch{{"by_cas", dim(40), dim(128), 0, []any{lock, guarded, top, bx, int32(5000)}}}},
	}
}

func intrinsics() []kernelCase {
	const n = 300
	u := fill(n, func(i int) uint32 { return mix(uint32(i)) >> (i % 32) })
	u[0] = 0
	bu, bits1 := &buffer{in: u}, out(fill(10*n, func(k int) uint32 {
		i := k / 10
		v := u[i]
		switch k % 10 {
		case 0:
			return uint32(bits.OnesCount32(v))
		case 1:
			return uint32(bits.LeadingZeros32(v))
		case 2:
			if v == 0 {
				return 0
			}
			return uint32(bits.TrailingZeros32(v)) + 1
		case 3:
			return bits.Reverse32(v)
		case 4:
			return uint32(uint64(v) * 0x9e3779b9 >> 32)
		case 5:
			return uint32(int64(int32(v)) * 0x1e3779b9 >> 32)
		case 6: // bytes 0, 4, 1 and 5 of the pair, from the lowest
			return v&0xff | ^v&0xff<<8 | v>>8&0xff<<16 | ^v>>8&0xff<<24
		case 7:
			return uint32((uint64(^v)<<32 | uint64(v)) << (i % 32) >> 32)
		case 8:
			return uint32(bits.LeadingZeros64(uint64(v)<<7) + bits.OnesCount64(uint64(v)<<9))
		}
		return uint32(max(int64(v)-12345, 12345-int64(v))) + 7
	}))
	f := []float32{0, 0.5, 1.5, 2.5, -0.5, -1.5, 2.4999, 1e6 + 0.5, -7.75, 3e9, -3e9, float32(math.Inf(1)), 0.1, -0.1}
	bf, conv := &buffer{in: f}, out(fill(6*len(f), func(k int) int32 {
		v := float64(f[k/6])
		switch k % 6 {
		case 0:
			return saturate(math.RoundToEven(v))
		case 1:
			return saturate(math.Trunc(v))
		case 2:
			return saturate(math.Ceil(v))
		case 3:
			return saturate(math.Floor(v))
		case 4:
			return int32(math.Float32bits(f[k/6]))
		}
		return int32(uint32(max(0, min(math.Trunc(v), math.MaxUint32))))
	}))
	x := fill(200, func(i int) float32 { return float32(i) / 20 })
	bx, fun := &buffer{in: x}, out(fill(12*len(x), func(k int) float32 {
		v := float64(x[k/12])
		return float32([]float64{math.Sin(v), math.Cos(v), math.Exp(v), math.Log(v + 1), math.Sqrt(v), 1 / math.Sqrt(v+1), math.Pow(v, 1.5), math.Tanh(v),
			math.Max(v, 1) + math.Min(v, 0.5) + 2 + 3, 1, math.Erf(v), math.Floor(v) + math.Ceil(v) + v + math.Mod(v, 0.75)}[k%12])
	}))
	xd := fill(200, func(i int) float64 { return float64(i) / 16 })
	bxd, fund := &buffer{in: xd}, out(fill(6*len(xd), func(k int) float64 {
		v := xd[k/6]
		return []float64{math.Sin(v), math.Exp(v), math.Log(v + 1), math.Sqrt(v), math.Pow(v, 0.3), math.Atan2(v, 2) + math.Hypot(v, 1) + 2*v + 1}[k%6]
	}))
	return []kernelCase{
		{name: "bits", buffers: []*buffer{bu, bits1}, launches: []launch{{"bits", dim(3), dim(128), 0, []any{bu, bits1, int32(n)}}}},
		{name: "conversions", buffers: []*buffer{bf, conv}, launches: []launch{{"conversions", dim(1), dim(32), 0, []any{bf, conv, int32(len(f))}}}},
		{name: "functions", tolerance: 2e-6, buffers: []*buffer{bx, fun}, launches: []launch{{"functions", dim(2), dim(128), 0, []any{bx, fun, int32(len(x))}}}},
		{name: "functions of double", tolerance: 1e-14, buffers: []*buffer{bxd, fund}, launches: []launch{{"functions_double", dim(2), dim(128), 0, []any{bxd, fund, int32(len(xd))}}}},
	}
}

func saturate(v float64) int32 { return int32(max(math.MinInt32, min(v, math.MaxInt32))) }
