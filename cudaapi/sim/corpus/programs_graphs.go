package corpus

import (
	"math"
	"slices"
)

// network is a graph in compressed rows, sorted, with an edge in both directions.
func network(n, edges int) (off, adj, weight []int32) {
	rows := make([][]int32, n)
	for e := range edges {
		a, b := int32(mix(uint32(2*e))%uint32(n)), int32(mix(uint32(2*e+1))%uint32(n))
		if a != b && !slices.Contains(rows[a], b) {
			rows[a], rows[b] = append(rows[a], b), append(rows[b], a)
		}
	}
	off = []int32{0}
	for v, row := range rows {
		slices.Sort(row)
		adj = append(adj, row...)
		for _, u := range row {
			weight = append(weight, int32(1+mix(uint32(min(v, int(u))*n+max(v, int(u))))%20))
		}
		off = append(off, int32(len(adj)))
	}
	return off, adj, weight
}

// graphs are the cases of graphs.cu.
func graphs() []kernelCase {
	const n, rounds = 200, 24
	off, adj, weight := network(n, 260)
	row := func(v int) []int32 { return adj[off[v]:off[v+1]] }
	boff, badj, bweight := input(off), input(adj), input(weight)
	grid, block := dim(4), dim(64)

	start := fill(n, func(int) int32 { return -1 })
	start[0] = 0
	dist, levels, queue := slices.Clone(start), []int32{1}, []int32{0}
	for len(queue) > 0 {
		var next []int32
		for _, v := range queue {
			for _, u := range row(int(v)) {
				if dist[u] < 0 {
					dist[u] = dist[v] + 1
					next = append(next, u)
				}
			}
		}
		queue = next
		levels = append(levels, int32(len(queue)))
	}
	levels = append(levels, make([]int32, rounds+1-len(levels))...)
	counts := make([]int32, rounds+1)
	counts[0] = 1
	byLevel, byQueue, bcounts := changed(start, dist), changed(start, dist), changed(counts, levels)
	queues := [2]*buffer{scratch[int32](n), scratch[int32](n)}

	label := fill(n, func(i int) int32 { return int32(i) })
	least := slices.Clone(label)
	for again := true; again; {
		again = false
		for v := range n {
			for _, u := range row(v) {
				if least[v] < least[u] {
					least[u], again = least[v], true
				}
			}
		}
	}
	blabel := changed(label, least)

	rank := fill(n, func(i int) uint64 { return 1_000_000 + uint64(i) })
	pulled := func(rank []uint64) []uint64 {
		return fill(n, func(v int) uint64 {
			sum := uint64(0)
			for _, u := range row(v) {
				sum += rank[u] / uint64(len(row(int(u))))
			}
			return 150_000 + sum*85/100
		})
	}
	once := pulled(rank)
	r0, r1 := changed(rank, pulled(once)), out(once)
	s0, s1, s2 := input(rank), out(once), out(pulled(once))

	const few = 60
	offTri, adjTri, _ := network(few, 500)
	three := int32(0)
	for v := range few {
		row := adjTri[offTri[v]:offTri[v+1]]
		for _, u := range row {
			for _, w := range row {
				if int(u) > v && w > u && slices.Contains(adjTri[offTri[u]:offTri[u+1]], w) {
					three++
				}
			}
		}
	}
	far := fill(n, func(i int) int32 { return math.MaxInt32 })
	far[0] = 0
	near := slices.Clone(far)
	for again := true; again; {
		again = false
		for v := range n {
			for e := off[v]; e < off[v+1] && near[v] != math.MaxInt32; e++ {
				if d := near[v] + weight[e]; d < near[adj[e]] {
					near[adj[e]], again = d, true
				}
			}
		}
	}
	bnear := changed(far, near)

	const k = 3
	alive, core := fill(n, func(int) int32 { return 1 }), fill(n, func(int) int32 { return 1 })
	degree := fill(n, func(v int) int32 { return int32(len(row(v))) })
	left := slices.Clone(degree)
	for again := true; again; {
		again = false
		for v := range n {
			if core[v] == 1 && left[v] < k {
				core[v], again = 0, true
				for _, u := range row(v) {
					left[u]--
				}
			}
		}
	}
	bdegree, balive := changed(degree, left), changed(alive, core)

	priority, state := fill(n, func(i int) uint32 { return mix(uint32(i + 5)) }), make([]int32, n)
	for range 16 {
		next := slices.Clone(state)
		for v := range n {
			best := state[v] == 0
			for _, u := range row(v) {
				if state[v] == 0 && state[u] == 1 {
					next[v] = 2
				}
				best = best && (state[u] != 0 || priority[u] < priority[v])
			}
			if best && next[v] == 0 {
				next[v] = 1
			}
		}
		state = next
	}
	sets := [2]*buffer{changed(make([]int32, n), state), scratch[int32](n)}

	const m = 24
	direct := fill(m*m, func(i int) int32 {
		if i/m == i%m {
			return 0
		}
		return int32(1 + mix(uint32(i))%1000)
	})
	short := slices.Clone(direct)
	for k := range m {
		for i := range short {
			short[i] = min(short[i], short[i/m*m+k]+short[k*m+i%m])
		}
	}
	bshort := changed(direct, short)
	return []kernelCase{
		program("breadth first, level by level", each(rounds, func(i int) launch {
			return launch{"bfs_level", grid, block, 0, []any{boff, badj, byLevel, int32(n), int32(i)}}
		})...),
		program("breadth first, by queues", each(rounds, func(i int) launch {
			return launch{"bfs_frontier", dim(2), dim(32), 0, []any{boff, badj, byQueue, queues[i%2], queues[1-i%2], bcounts, int32(i)}}
		})...),
		program("connected components", each(rounds, func(int) launch {
			return launch{"components", grid, block, 0, []any{boff, badj, blabel, int32(n)}}
		})...),
		program("PageRank, pulled",
			launch{"rank_pull", grid, block, 0, []any{boff, badj, r0, r1, int32(n)}},
			launch{"rank_pull", grid, block, 0, []any{boff, badj, r1, r0, int32(n)}}),
		program("PageRank, pushed",
			launch{"rank_push", grid, block, 0, []any{boff, badj, s0, s1, int32(n)}},
			launch{"rank_damp", grid, block, 0, []any{s1, int32(n)}},
			launch{"rank_push", grid, block, 0, []any{boff, badj, s1, s2, int32(n)}},
			launch{"rank_damp", grid, block, 0, []any{s2, int32(n)}}),
		program("triangles", launch{"triangles", grid, block, 0, []any{input(offTri), input(adjTri), out([]int32{three}), int32(few)}}),
		program("shortest paths from one vertex", each(rounds, func(int) launch {
			return launch{"relax_edges", grid, block, 0, []any{boff, badj, bweight, bnear, int32(n)}}
		})...),
		program("the core of three", each(rounds, func(int) launch {
			return launch{"peel", grid, block, 0, []any{boff, badj, bdegree, balive, int32(n), int32(k)}}
		})...),
		program("an independent set", each(16, func(i int) launch {
			return launch{"independent_set", grid, block, 0, []any{boff, badj, input(priority), sets[i%2], sets[1-i%2], int32(n)}}
		})...),
		program("shortest paths between all", each(m, func(i int) launch {
			return launch{"shortest_paths", dim(3, 3), dim(8, 8), 0, []any{bshort, int32(m), int32(i)}}
		})...),
	}
}
