package corpus

import (
	"fmt"
	"math/rand/v2"
)

// access is a warp's accesses in patterns: for those who count them.
func access() (list []kernelCase) {
	type pattern struct {
		name string
		at   []int32
	}
	var patterns []pattern
	add := func(name string, f func(i int) int) {
		patterns = append(patterns, pattern{name, fill(32, func(i int) int32 { return int32(f(i)) })})
	}
	for _, stride := range []int{0, 1, 2, 3, 8, 32} {
		add(fmt.Sprintf("every %d", stride), func(i int) int { return i * stride })
	}
	add("backwards", func(i int) int { return 31 - i })
	add("from 1", func(i int) int { return i + 1 })
	for _, n := range []int{2, 4, 8, 16} {
		add(fmt.Sprintf("%d alike", n), func(i int) int { return i / n })
		add(fmt.Sprintf("%d again", n), func(i int) int { return i % n })
		add(fmt.Sprintf("the first %d", n), func(i int) int {
			if i >= n {
				return -1
			}
			return 3 * i
		})
		add(fmt.Sprintf("each %d-th", n), func(i int) int {
			if i%n > 0 {
				return -1
			}
			return 2 * i
		})
	}
	r := rand.New(rand.NewPCG(3, 5))
	for k := range 2 {
		add(fmt.Sprintf("random %d", k), func(int) int { return r.IntN(1024) })
		add(fmt.Sprintf("random of few %d", k), func(int) int { return r.IntN(64) })
		add(fmt.Sprintf("random lanes %d", k), func(int) int { return max(-1, r.IntN(200)-100) })
	}
	for _, p := range patterns {
		at := &buffer{in: p.at}
		for _, bytes := range []int{1, 2, 4, 8, 16} {
			in := fill(1024*bytes, func(i int) byte { return byte(i/bytes*7 + i%bytes*31) })
			same := make([]byte, len(in)) // what lanes write does not tell them apart
			gathered, scattered, shared := make([]byte, 32*bytes), make([]byte, len(in)), make([]byte, 32*bytes)
			for i, k := range p.at {
				if k >= 0 {
					copy(gathered[i*bytes:(i+1)*bytes], in[int(k)*bytes:])
				}
			}
			for i := range same {
				same[i] = byte(i%bytes + 1)
			}
			for i, k := range p.at {
				if k >= 0 {
					copy(scattered[int(k)*bytes:(int(k)+1)*bytes], same)
					copy(shared[i*bytes:(i+1)*bytes], same)
				}
			}
			from := &buffer{in: in}
			one := &buffer{in: same}
			for _, c := range []struct {
				kernel string
				in     *buffer
				want   []byte
			}{{"gather_", from, gathered}, {"scatter_", one, scattered}, {"gather_shared_", from, gathered}, {"scatter_shared_", one, shared}} {
				to, kernel := out(c.want), fmt.Sprintf("%s%d", c.kernel, bytes)
				list = append(list, kernelCase{name: kernel + ", " + p.name, few: p.name == "every 0" || c.in == one, buffers: []*buffer{at, c.in, to},
					launches: []launch{{kernel, dim(1), dim(32), 0, []any{at, c.in, to}}}})
			}
		}
		sums := make([]uint32, 1024)
		for _, k := range p.at {
			if k >= 0 {
				sums[k]++
			}
		}
		for _, kernel := range []string{"add_global", "add_shared"} {
			to := out(sums)
			list = append(list, kernelCase{name: kernel + ", " + p.name, few: p.name == "every 0", buffers: []*buffer{at, to}, launches: []launch{{kernel, dim(1), dim(32), 0, []any{at, to}}}})
		}
		numbers := fill(256, func(i int) uint32 { return uint32(i % 5) })
		in, turned := &buffer{in: numbers}, make([]uint32, 160)
		for t, k := range p.at {
			sum := uint32(0)
			for i := range int32(4) {
				for j := range (k + i) % 5 {
					sum += numbers[32*int(j)+t]
				}
				if sum == 7 {
					break
				}
				turned[32*int(i)+t] = sum
			}
			turned[128+t] = sum
		}
		to := out(turned)
		list = append(list, kernelCase{name: "part_loops, " + p.name, buffers: []*buffer{at, in, to}, launches: []launch{{"part_loops", dim(1), dim(32), 0, []any{at, in, to}}}})
	}
	return list
}
