package corpus

import "slices"

// stencils are the cases of stencils.cu.
func stencils() []kernelCase {
	const n, w, h, d = 200, 37, 21, 5
	grid, block := dim(5, 3), dim(8, 8)
	x := ints(n, 0, 10_000)
	get := func(i int) int32 {
		if i < 0 || i >= n {
			return 0
		}
		return x[i]
	}
	m := ints(w*h, -100, 100)
	clamp := func(m []int32, x, y int) int32 { return m[min(max(y, 0), h-1)*w+min(max(x, 0), w-1)] }
	zero := func(x, y int) int32 {
		if min(x, y) < 0 || x >= w || y >= h {
			return 0
		}
		return m[y*w+x]
	}
	edge := func(i int) bool { x, y := i%w, i/w; return x == 0 || y == 0 || x == w-1 || y == h-1 }

	f := floats(w*h, 50)
	five := fill(w*h, func(i int) float32 {
		if edge(i) {
			return f[i]
		}
		around := float32(f[i-1]+f[i+1]) + float32(f[i-w]+f[i+w])
		return float32(0.2*around) + float32(0.2*f[i])
	})
	nine := fill(w*h, func(i int) (sum int32) {
		for k := range 9 {
			dx, dy := k%3-1, k/3-1
			sum += clamp(m, i%w+dx, i/w+dy) * int32((2-dx*dx)*(2-dy*dy))
		}
		return sum
	})
	c := ints(w*h*d, -9, 9)
	seven := fill(w*h*d, func(i int) int32 {
		at := func(x, y, z int) int32 {
			if min(x, y, z) < 0 || x >= w || y >= h || z >= d {
				return 0
			}
			return c[(z*h+y)*w+x]
		}
		x, y, z := i%w, i/w%h, i/w/h
		return at(x-1, y, z) + at(x+1, y, z) + at(x, y-1, z) + at(x, y+1, z) + at(x, y, z-1) + at(x, y, z+1) - 6*c[i]
	})
	m2 := ints(w*h, -90, 90)
	wave := func(now, prev []int32) []int32 {
		return fill(w*h, func(i int) int32 {
			if edge(i) {
				return prev[i]
			}
			return 2*now[i] - prev[i] + (now[i-1]+now[i+1]+now[i-w]+now[i+w]-4*now[i])>>2
		})
	}
	w1 := wave(m, m2)
	w2 := wave(w1, m)
	wnow, wprev := changed(m, w2), changed(m2, w1)
	taps := ints(25, -5, 9)
	conv := fill(n, func(i int) (sum int32) {
		for k := range 7 {
			sum += taps[k] * get(i+k-3)
		}
		return sum
	})
	conv2 := fill(w*h, func(i int) (sum int32) {
		for k := range 25 {
			sum += taps[k] * zero(i%w+k%5-2, i/w+k/5-2)
		}
		return sum
	})
	rows := fill(w*h, func(i int) int32 { return clamp(m, i%w-1, i/w) + 2*m[i] + clamp(m, i%w+1, i/w) })
	smooth := fill(w*h, func(i int) int32 { return clamp(rows, i%w, i/w-1) + 2*rows[i] + clamp(rows, i%w, i/w+1) })
	brows := out(rows)
	relaxed := slices.Clone(m)
	for color := range 2 {
		for i := range relaxed {
			if !edge(i) && (i%w+i/w)%2 == color {
				relaxed[i] = (relaxed[i-1] + relaxed[i+1] + relaxed[i-w] + relaxed[i+w]) >> 2
			}
		}
	}
	bred := changed(m, relaxed)
	const words, lines = 3, 20
	cells := fill(words*lines, func(i int) uint32 { return mix(uint32(i)) & mix(uint32(i+1000)) })
	next := make([]uint32, len(cells))
	for y := range lines {
		for x := range 32 * words {
			at := func(x, y int) uint32 {
				x, y = (x+32*words)%(32*words), (y+lines)%lines
				return cells[y*words+x/32] >> (x % 32) & 1
			}
			around := uint32(0)
			for k := range 9 {
				if k != 4 {
					around += at(x+k%3-1, y+k/3-1)
				}
			}
			if around == 3 || around == 2 && at(x, y) == 1 {
				next[y*words+x/32] |= 1 << (x % 32)
			}
		}
	}
	plane := []any{int32(w), int32(h)}
	on := func(kernel string, args ...any) launch { return launch{kernel, grid, block, 0, append(args, plane...)} }
	return []kernelCase{
		program("heat in one dimension", launch{"heat1d", dim(4), dim(64), 0, []any{input(x), out(fill(n, func(i int) int32 { return x[i] + (get(i-1)-2*x[i]+get(i+1))>>2 })), int32(n)}}),
		program("five points", launch{"five_points", dim(3, 3), dim(16, 8), 0, []any{input(f), out(five), int32(w), int32(h)}}),
		program("nine points", on("nine_points", input(m), out(nine))),
		program("seven points, plane by plane", launch{"seven_points", grid, block, 0, []any{input(c), out(seven), int32(w), int32(h), int32(d)}}),
		program("two steps of a wave", on("wave", wnow, wprev), on("wave", wprev, wnow)),
		program("a convolution", launch{"convolve", dim(4), dim(64), 0, []any{input(x), out(conv), int32(n)}}).with(map[string]any{"taps": taps}),
		program("a convolution in two dimensions", on("convolve2d", input(m), out(conv2))).with(map[string]any{"taps": taps}),
		program("rows, then columns", on("smooth_rows", input(m), brows), on("smooth_columns", brows, out(smooth))),
		program("red, then black", launch{"red_black", grid, block, 0, []any{bred, int32(w), int32(h), int32(0)}}, launch{"red_black", grid, block, 0, []any{bred, int32(w), int32(h), int32(1)}}),
		program("life in bits", launch{"life_bits", dim(1, lines), dim(32), 0, []any{input(cells), out(next), int32(words), int32(lines)}}),
	}
}
