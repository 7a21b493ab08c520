package corpus

// groups are the cases of groups.cu.
func groups() []kernelCase {
	const n, block = 512, 128
	in := ints(n, 0, 1000)
	sums := make([]int32, 9)
	for i, v := range in {
		sums[0] += v
		sums[1+i%block/32] += v
		if i%4 == 0 {
			most := v
			for _, w := range in[i : i+4] {
				most = max(most, w)
			}
			sums[5] += most
			sums[6] += int32(i % 32 / 4)
		}
		if i%8 == 0 {
			sums[7] = max(sums[7], total(in[i:i+8]))
		}
	}
	sums[8] = block / 32
	scanned := out(fill(n, func(i int) int32 { return total(in[i&^15 : i+1]) }))
	before := out(fill(n, func(i int) int32 { return total(in[i&^15 : i]) }))
	labels := out(fill(n, func(i int) int32 {
		same, odd := int32(0), int32(0)
		for _, v := range in[i&^15 : i&^15+16] {
			same += truth(v%3 == in[i]%3)
			odd += truth(v%2 == in[i]%2)
		}
		return 100*same + odd
	}))
	// What a filter leaves comes in any order: all kept are the same.
	kept := fill(1000, func(i int) int32 { return []int32{21, 5, 8}[mix(uint32(i))%3] })
	count := int32(0)
	for _, v := range kept {
		count += truth(v == 21)
	}
	filtered := out(fill(1000, func(i int) int32 { return 21 * truth(i < int(count)) }))
	bin, bsums, bkept, bcount := &buffer{in: in}, &buffer{in: make([]int32, 9), want: sums}, &buffer{in: kept}, &buffer{in: []int32{0}, want: []int32{count}}
	filtered.in = make([]int32, 1000)
	return []kernelCase{
		{name: "sums of groups", buffers: []*buffer{bin, bsums}, launches: []launch{{"group_sums", dim(n / block), dim(block), 0, []any{bin, bsums}}}},
		{name: "scans and partitions of tiles", buffers: []*buffer{bin, scanned, before, labels}, launches: []launch{{"group_scans", dim(n / 64), dim(64), 0, []any{bin, scanned, before, labels}}}},
		{name: "a filter of coalesced threads", buffers: []*buffer{bkept, filtered, bcount}, launches: []launch{{"group_filter", dim(2), dim(96), 0, []any{bkept, int32(1000), filtered, bcount}}}},
	}
}

// spins are the cases of spin.cu.
func spins() []kernelCase {
	const blocks, turns = 64, 4
	arrived, at := &buffer{in: []uint32{0}, want: []uint32{2 * turns * blocks}}, &buffer{in: make([]uint32, blocks)}
	rounds := &buffer{in: make([]uint32, turns), want: fill(turns, func(i int) uint32 { return uint32(i+1) * 32 * blocks * (blocks - 1) / 2 })}
	numbers := fill(100*128, func(i int) uint32 { return mix(uint32(i)) % 100 })
	sum := uint32(0)
	scanned := out(fill(len(numbers), func(i int) uint32 { sum += numbers[i]; return sum }))
	bn, bsums, ready := &buffer{in: numbers}, &buffer{in: make([]uint32, 100)}, &buffer{in: make([]uint32, 100)}
	value := int32(0)
	for range 256 {
		value = value*3%1000003 + 1
	}
	lock, bvalue := &buffer{in: []int32{0}, want: []int32{0}}, &buffer{in: []int32{0}, want: []int32{value}}
	next, serving := &buffer{in: []uint32{0}, want: []uint32{512}}, &buffer{in: []uint32{0}, want: []uint32{512}}
	order := out(fill(512, func(i int) uint32 { return uint32(i * (i + 1) / 2) }))
	f := fill(300*64, func(i int) float32 { return float32(mix(uint32(i)) % 16) })
	all := float32(0)
	for _, v := range f {
		all += v
	}
	bf, parts, ended, last := &buffer{in: f}, &buffer{in: make([]float32, 300)}, &buffer{in: []uint32{0}, want: []uint32{0}}, out([]float32{all})
	return []kernelCase{
		{name: "a barrier made of atomics", buffers: []*buffer{arrived, at, rounds}, launches: []launch{{"rounds", dim(blocks), dim(32), 0, []any{arrived, at, rounds, int32(turns)}}}},
		{name: "a scan that looks back", buffers: []*buffer{bn, scanned, bsums, ready}, launches: []launch{{"look_back", dim(100), dim(128), 0, []any{bn, scanned, bsums, ready}}}},
		{name: "a lock within warps", buffers: []*buffer{lock, bvalue}, launches: []launch{{"locked", dim(4), dim(64), 0, []any{lock, bvalue}}}},
		{name: "tickets", buffers: []*buffer{next, serving, order}, launches: []launch{{"tickets", dim(8), dim(64), 0, []any{next, serving, order}}}},
		{name: "the last block adds up", buffers: []*buffer{bf, parts, ended, last}, launches: []launch{{"last_block", dim(300), dim(64), 0, []any{bf, parts, ended, last}}}},
	}
}
