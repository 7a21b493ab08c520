package corpus

import "slices"

// sorts are the cases of sorts.cu.
func sorts() []kernelCase {
	const n = 256
	x := ints(n, -1000, 1000)
	sorted := slices.Sorted(slices.Values(x))
	odd, bitonic := changed(x, sorted), changed(x, sorted)
	var steps []launch
	for size := 2; size <= n; size *= 2 {
		for d := size / 2; d > 0; d /= 2 {
			steps = append(steps, launch{"bitonic_step", dim(2), dim(128), 0, []any{bitonic, int32(d), int32(size)}})
		}
	}
	bits := fill(n, func(i int) uint32 { return mix(uint32(i)) % 4096 })
	a, b := slices.Sorted(slices.Values(x[:100])), slices.Sorted(slices.Values(x[100:]))
	keys := ints(1000, 0, 64)
	starts, ends := make([]int32, 64), make([]int32, 64)
	for _, k := range keys {
		for b := int(k); b < 64; b++ {
			ends[b]++
		}
	}
	bkeys, bstarts := input(keys), changed(starts, ends)
	const m = 300
	y := ints(m, 0, 100)
	merged := [2]*buffer{input(y), scratch[int32](m)}
	var merges []launch
	for width, k := 1, 0; width < m; width, k = 2*width, k+1 {
		merges = append(merges, launch{"merge_runs", dim(3), dim(64), 0, []any{merged[k%2], merged[1-k%2], int32(m), int32(width)}})
	}
	merged[len(merges)%2].want = slices.Sorted(slices.Values(y))
	wide := fill(4*32, func(i int) int64 { return int64(mix(uint32(i)))<<20 - int64(mix(uint32(i+500)))<<19 })
	wideSorted := slices.Clone(wide)
	for w := range 4 {
		slices.Sort(wideSorted[32*w:][:32])
	}
	u := fill(m, func(i int) uint32 { return mix(uint32(i)) })
	few := slices.Sorted(slices.Values(ints(n+1, 0, 200)[:n]))
	distinct := slices.Compact(slices.Clone(few))
	parts := slices.Clone(x)
	for i := 0; i < n; i += 16 {
		slices.Sort(parts[i : i+16])
	}
	return []kernelCase{
		program("odd and even places", launch{"odd_even", dim(1), dim(n), 4 * n, []any{odd, int32(n)}}),
		program("bitonic steps", steps...),
		program("radix, bit by bit", launch{"radix_bits", dim(1), dim(n), 0, []any{changed(bits, slices.Sorted(slices.Values(bits))), int32(12)}}),
		program("a merge by ranks", launch{"merge_by_rank", dim(2), dim(128), 0, []any{input(a), input(b), out(sorted), int32(100), int32(156)}}),
		program("counting",
			launch{"count_keys", dim(8), dim(128), 0, []any{bkeys, bstarts, int32(1000)}},
			launch{"counts_to_starts", dim(1), dim(64), 0, []any{bstarts}},
			launch{"place_keys", dim(8), dim(128), 0, []any{bkeys, bstarts, out(slices.Sorted(slices.Values(keys))), int32(1000)}}),
		program("ranks", launch{"rank_sort", dim(3), dim(96), 0, []any{input(x), out(sorted), int32(n)}}),
		program("merges of runs", merges...),
		program("warps of 64-bit keys", launch{"warp_sort", dim(4), dim(32), 0, []any{changed(wide, wideSorted)}}),
		program("the kth smallest", launch{"select_kth", dim(1), dim(128), 0, []any{input(u), int32(m), int32(77), out([]uint32{slices.Sorted(slices.Values(u))[77]})}}),
		program("unique ones", launch{"unique_sorted", dim(1), dim(n), 0, []any{input(few), out(distinct), out([]int32{int32(len(distinct))})}}),
		program("insertion into local arrays", launch{"insertion_sort", dim(1), dim(16), 0, []any{input(x), out(parts)}}),
	}
}
