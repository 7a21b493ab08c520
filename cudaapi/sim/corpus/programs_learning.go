package corpus

import (
	"math"
	"slices"
)

// learning are the cases of learning.cu.
func learning() []kernelCase {
	const w, h = 90, 30
	cost := ints(w*h, 0, 100)
	way := slices.Clone(cost[:w])
	for y := 1; y < h; y++ {
		way = fill(w, func(x int) int32 { return slices.Min(way[max(x-1, 0):min(x+2, w)]) + cost[y*w+x] })
	}
	const n, gap = 32, 4
	score := ints(n*n, -10, 11)
	table := fill((n+1)*(n+1), func(i int) int32 { return int32(-gap * (i%(n+1) + i/(n+1))) })
	aligned := slices.Clone(table)
	for i := range aligned {
		if x, y := i%(n+1), i/(n+1); x > 0 && y > 0 {
			aligned[i] = max(aligned[i-n-2]+score[(y-1)*n+x-1], max(aligned[i-1], aligned[i-n-1])-gap)
		}
	}
	bscore, baligned := input(score), changed(table, aligned)
	const items, capacity = 12, 63
	things := ints(2*items, 1, 20)
	best := make([]int32, capacity+1)
	for k := range items {
		for c := capacity; c >= int(things[2*k]); c-- {
			best[c] = max(best[c], best[c-int(things[2*k])]+things[2*k+1])
		}
	}
	bthings, bbest := input(things), [2]*buffer{changed(make([]int32, capacity+1), best), scratch[int32](capacity + 1)}

	const m = 200
	points, centres := ints(2*m, -1000, 1000), ints(16, -1000, 1000)
	distance := func(a, b []int32) int64 {
		dx, dy := int64(a[0]-b[0]), int64(a[1]-b[1])
		return dx*dx + dy*dy
	}
	sums := make([]int32, 24)
	own := fill(m, func(i int) int32 {
		least := 0
		for c := range 8 {
			if distance(points[2*i:], centres[2*c:]) < distance(points[2*i:], centres[2*least:]) {
				least = c
			}
		}
		sums[3*least] += points[2*i]
		sums[3*least+1] += points[2*i+1]
		sums[3*least+2]++
		return int32(least)
	})
	var three []int32
	for i := range m {
		order := fill(m, func(k int) int32 { return int32(k) })
		order = slices.Delete(order, i, i+1)
		slices.SortStableFunc(order, func(a, b int32) int {
			return int(distance(points[2*i:], points[2*a:]) - distance(points[2*i:], points[2*b:]))
		})
		three = append(three, order[:3]...)
	}
	const rows, wide = 5, 200
	logits := floatsOf(rows*wide, -20, 10)
	soft, normal, most := make([]float64, rows*wide), make([]float64, rows*wide), make([]int32, rows)
	for r := range rows {
		row, sum, mean, squares := logits[r*wide:][:wide], 0.0, 0.0, 0.0
		top := slices.Max(row)
		most[r] = int32(slices.Index(row, top))
		for _, v := range row {
			sum += math.Exp(float64(v - top))
			mean += float64(v) / wide
		}
		for _, v := range row {
			squares += (float64(v) - mean) * (float64(v) - mean)
		}
		for i, v := range row {
			soft[r*wide+i] = math.Exp(float64(v-top)) / sum
			normal[r*wide+i] = (float64(v) - mean) / math.Sqrt(squares/wide+1e-5)
		}
	}
	const pw, ph = 20, 12
	picture := floatsOf(2*pw*ph, -10, 10)
	from := make([]int32, pw*ph/4)
	pooled := fill(len(from), func(i int) (v float32) {
		from[i] = -1
		for k := range 4 {
			if at := (i/(pw/2)*2+k/2)*pw + i%(pw/2)*2 + k%2; picture[at] > v {
				v, from[i] = picture[at], int32(at)
			}
		}
		return v
	})
	weights := floatsOf(3*2*9, -4, 5)
	filtered := fill(3*(ph-2)*(pw-2), func(i int) (s float32) {
		x, y, f := i%(pw-2), i/(pw-2)%(ph-2), i/(pw-2)/(ph-2)
		for k := range 18 {
			s += picture[(k/9*ph+y+k%9/3)*pw+x+k%3] * weights[f*18+k]
		}
		return s
	})
	tokens, gradient, gathered := ints(30, 0, 10), floatsOf(30*16, -9, 9), make([]float32, 10*16)
	for i, g := range gradient {
		gathered[int(tokens[i/16])*16+i%16] += g
	}
	const p = 128
	par, grad, m0, v0 := floats(p, 1), floats(p+1, 2)[:p], floats(p+2, 1)[:p], floats(p+3, 1)[:p]
	m1 := fill(p, func(i int) float32 { return float32(0.9*m0[i]) + float32(0.1*grad[i]) })
	v1 := fill(p, func(i int) float32 { return float32(0.99*v0[i]) + float32(0.01*float32(grad[i]*grad[i])) })
	stepped := fill(p, func(i int) float32 {
		return par[i] - float32(0.125*m1[i])/(float32(math.Sqrt(float64(v1[i])))+1e-8)
	})
	return []kernelCase{
		program("the cheapest ways down a grid", launch{"path", dim(1), dim(w), 4 * w, []any{input(cost), out(way), int32(w), int32(h)}}),
		program("an alignment, by diagonals of tiles", each(2*n/8-1, func(d int) launch {
			return launch{"align", dim(uint32(min(d, n/8-1) - max(d-n/8+1, 0) + 1)), dim(8), 0, []any{bscore, baligned, int32(n), int32(d), int32(gap)}}
		})...),
		program("a knapsack", each(items, func(k int) launch {
			return launch{"knapsack", dim(1), dim(capacity + 1), 0, []any{bthings, bbest[k%2], bbest[1-k%2], int32(capacity), int32(k)}}
		})...),
		program("the nearest centre", launch{"nearest_centre", dim(4), dim(64), 0, []any{input(points), out(own), out(sums), int32(m)}}).with(map[string]any{"centres": fill(8, func(i int) [2]int32 { return [2]int32(centres[2*i:]) })}),
		program("the three nearest", launch{"nearest_three", dim(4), dim(64), 0, []any{input(points), out(three), int32(m)}}),
		program("softmax", launch{"softmax", dim(rows), dim(128), 0, []any{input(logits), out(soft), int32(wide)}}).within(1e-13),
		program("a norm of layers", launch{"layer_norm", dim(rows), dim(128), 0, []any{input(logits), out(normal), int32(wide)}}).within(1e-13),
		program("the most of four", launch{"relu_pool", dim(2, 1), dim(8, 8), 0, []any{input(picture), out(pooled), out(from), int32(pw), int32(ph)}}),
		program("filters of planes", launch{"filters", dim(3, 2, 3), dim(8, 8), 0, []any{input(picture), input(weights), out(filtered), int32(pw), int32(ph), int32(2)}}),
		program("the gradient of an embedding", launch{"embedding_gradient", dim(2), dim(64), 0, []any{input(tokens), input(gradient), out(gathered), int32(30), int32(4)}}),
		program("the place of the greatest", launch{"arg_max", dim(rows), dim(32), 0, []any{input(logits), out(most), int32(wide)}}),
		program("a step of Adam", launch{"adam", dim(2), dim(64), 0, []any{changed(par, stepped), input(grad), changed(m0, m1), changed(v0, v1), float32(0.125)}}),
	}
}
