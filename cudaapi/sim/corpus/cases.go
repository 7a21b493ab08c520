package corpus

import (
	"math"
	"math/rand/v2"
	"slices"
)

func files() []file {
	return []file{
		{"elementwise", []string{"axpy<double>", "axpy<int>"}, elementwise()},
		{"reduce", []string{"sum_shuffle<int>", "sum_shuffle<double>"}, reductions()},
		{"scan", nil, scans()},
		{"tiles", []string{"product_tiles<16>", "product_tiles<8>"}, tiles()},
		{"warp", nil, warps()},
		{"atomics", nil, atomics()},
		{"intrinsics", nil, intrinsics()},
		{"half", nil, halfCases()},
		{"groups", nil, groups()},
		{"spin", nil, spins()},
		{"libcu", nil, libcus()},
		{"complex", nil, complexes()},
		{"numbers", nil, numbers()},
		{"async", nil, asyncs()},
	}
}

// fill makes a slice by index.
func fill[E any](n int, f func(i int) E) []E {
	s := make([]E, n)
	for i := range s {
		s[i] = f(i)
	}
	return s
}

// ints are n numbers from lo to hi-1, the same on every run.
func ints(n, lo, hi int) []int32 {
	r := rand.New(rand.NewPCG(uint64(n), uint64(hi)))
	return fill(n, func(int) int32 { return int32(lo + r.IntN(hi-lo)) })
}

func floats(n int, scale float64) []float32 {
	r := rand.New(rand.NewPCG(uint64(n), 5))
	return fill(n, func(int) float32 { return float32(scale * r.Float64()) })
}

func total(x []int32) (s int32) {
	for _, v := range x {
		s += v
	}
	return s
}

// out is a buffer that the kernel only writes.
func out[E any](want []E) *buffer { return &buffer{in: make([]E, len(want)), want: want} }

func elementwise() []kernelCase {
	const n = 10_000
	x, y := floats(n, 10), floats(n+1, 10)
	dx, dy := &buffer{in: x}, &buffer{in: y[:n], want: fill(n, func(i int) float32 { return float32(2.5*x[i]) + y[i] })}

	xd := fill(n, func(i int) float64 { return float64(i % 100) })
	bxd, byd := &buffer{in: xd}, &buffer{in: slices.Clone(xd), want: fill(n, func(i int) float64 { return 3.5 * xd[i] })}
	xi := ints(n, -50, 50)
	bxi, byi := &buffer{in: xi}, &buffer{in: slices.Clone(xi), want: fill(n, func(i int) int32 { return -2 * xi[i] })}

	a4, b4 := floats(400, 3), floats(404, 3)
	ba, bb, bc := &buffer{in: a4}, &buffer{in: b4}, out(fill(400, func(i int) float32 { return a4[i] + b4[i] }))

	grid3 := out(fill(8*6*4, func(i int) uint32 { return uint32(i%8 + i/8%6*100 + i/48*10000) }))

	structs := out([]float64{1.5, 2.25, -3, 4, 'x', -7, -300, 1 << 40})
	body := make([]byte, 40)
	put := func(at int, v any) { copy(body[at:], rawBytes(v)) }
	put(0, float32(1.5))
	put(8, 2.25)
	put(16, -3.0)
	put(24, 4.0)
	body[32] = 'x'

	coeff := []float32{1, -2, 0.5, 0.25}
	poly := fill(1000, func(i int) float32 { return float32(i)/500 - 1 })
	bp, bq := &buffer{in: poly}, out(fill(1000, func(i int) float32 {
		var v float32
		for k := 3; k >= 0; k-- {
			v = float32(v*poly[i]) + coeff[k]
		}
		return v
	}))

	const points = 1 << 18
	hits := uint64(0)
	for i := range uint32(points) {
		x, y := uint64(mix(2*i+77)>>1), uint64(mix(2*i+1+77)>>1)
		if x*x+y*y < 1<<62 {
			hits++
		}
	}
	bh := out([]uint64{hits})

	bm := out(mandelbrot(64, 48))
	fact := out(fill(10, func(i int) uint32 {
		f := uint32(1)
		for k := 2; k <= i; k++ {
			f *= uint32(k)
		}
		return f
	}))
	sorted := ints(500, 0, 1000)
	bs, bt := &buffer{in: sorted}, out(fill(500, func(i int) int32 {
		w := fill(16, func(k int) int32 { return sorted[(i+k)%500] })
		slices.Sort(w)
		return w[7]
	}))
	return []kernelCase{
		{name: "saxpy", buffers: []*buffer{dx, dy}, launches: []launch{{"saxpy", dim(40), dim(256), 0, []any{int32(n), float32(2.5), dx, dy}}}},
		{name: "axpy of double, in grid strides", buffers: []*buffer{bxd, byd}, launches: []launch{{"axpy<double>", dim(7), dim(96), 0, []any{int32(n), 2.5, bxd, byd}}}},
		{name: "axpy of int", buffers: []*buffer{bxi, byi}, launches: []launch{{"axpy<int>", dim(3), dim(128), 0, []any{int32(n), int32(-3), bxi, byi}}}},
		{name: "vectors of four", buffers: []*buffer{ba, bb, bc}, launches: []launch{{"add4", dim(1), dim(128), 0, []any{int32(100), ba, bb, bc}}}},
		{name: "indices in three dimensions", buffers: []*buffer{grid3}, launches: []launch{{"index3d", dim(2, 3, 2), dim(4, 2, 2), 0, []any{grid3}}}},
		{name: "arguments by value", buffers: []*buffer{structs}, launches: []launch{{"by_value", dim(1), dim(1), 0, []any{body, int8(-7), int16(-300), int64(1 << 40), structs}}}},
		{name: "coefficients in constant memory", buffers: []*buffer{bp, bq}, constants: map[string]any{"coefficients": coeff},
			launches: []launch{{"polynomial", dim(8), dim(128), 0, []any{int32(1000), bp, bq}}}},
		{name: "points in a circle", buffers: []*buffer{bh}, launches: []launch{{"points_in_circle", dim(16), dim(128), 0, []any{uint32(points), uint32(77), bh}}}},
		{name: "mandelbrot", buffers: []*buffer{bm}, launches: []launch{{"mandelbrot", dim(4, 6), dim(16, 8), 0, []any{int32(64), int32(48), bm}}}},
		{name: "recursion", buffers: []*buffer{fact}, launches: []launch{{"recursion", dim(1), dim(10), 0, []any{fact}}}},
		{name: "an array in local memory", buffers: []*buffer{bs, bt}, launches: []launch{{"local_array", dim(4), dim(128), 0, []any{bs, bt, int32(500)}}}},
	}
}

func mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

func mandelbrot(w, h int) []int32 {
	return fill(w*h, func(i int) int32 {
		cx, cy := int64(i%w)*(3<<20)/int64(w)-(2<<20), int64(i/w)*(2<<20)/int64(h)-(1<<20)
		var x, y int64
		n := int32(0)
		for n < 200 && x*x+y*y < 4<<40 {
			x, y = (x*x-y*y)>>20+cx, 2*x*y>>20+cy
			n++
		}
		return n
	})
}

func reductions() []kernelCase {
	const n = 54_321
	x := ints(n, -1000, 1000)
	bx, sum := &buffer{in: x}, out([]int32{total(x)})
	part := out(fill(4, func(b int) int32 {
		s := int32(0)
		for i, v := range x {
			if i/256%4 == b {
				s += v
			}
		}
		return s
	}))
	xd := fill(5000, func(i int) float64 { return float64(i%17) / 4 })
	var sd, dd float64
	for i, v := range xd {
		sd += v
		dd += v * xd[(i+1)%5000]
	}
	bxd, bd := &buffer{in: xd}, out([]float64{sd})
	byd, bdot := &buffer{in: fill(5000, func(i int) float64 { return xd[(i+1)%5000] })}, out([]float64{dd})
	lo, hi := &buffer{in: []int32{math.MaxInt32}, want: []int32{slices.Min(x)}}, &buffer{in: []int32{math.MinInt32}, want: []int32{slices.Max(x)}}
	parts, once := &buffer{in: make([]int32, 20)}, out([]int32{total(x)})
	const rows, cols = 37, 100
	a, v := ints(rows*cols, -9, 9), ints(cols, -9, 9)
	ba, bv, by := &buffer{in: a}, &buffer{in: v}, out(fill(rows, func(r int) int32 {
		s := int32(0)
		for c := range cols {
			s += a[r*cols+c] * v[c]
		}
		return s
	}))
	return []kernelCase{
		{name: "sum by barriers", buffers: []*buffer{bx, sum}, launches: []launch{{"sum_shared", dim(13), dim(256), 0, []any{bx, sum, int32(n)}}}},
		{name: "sum by shuffles", buffers: []*buffer{bx, part}, launches: []launch{{"sum_shuffle<int>", dim(4), dim(256), 0, []any{bx, part, int32(n)}}}},
		{name: "sum of double by shuffles", buffers: []*buffer{bxd, bd}, launches: []launch{{"sum_shuffle<double>", dim(1), dim(512), 0, []any{bxd, bd, int32(5000)}}}},
		{name: "dot product in dynamic shared memory", buffers: []*buffer{bxd, byd, bdot}, launches: []launch{{"dot", dim(1), dim(256), 2048, []any{bxd, byd, bdot, int32(5000)}}}},
		{name: "least and greatest", buffers: []*buffer{bx, lo, hi}, launches: []launch{{"minmax", dim(213), dim(256), 0, []any{bx, lo, hi, int32(n)}}}},
		{name: "sum in one pass", buffers: []*buffer{bx, parts, once}, launches: []launch{
			{"sum_single_pass", dim(20), dim(128), 0, []any{bx, parts, once, int32(n)}},
			{"sum_single_pass", dim(20), dim(128), 0, []any{bx, parts, once, int32(n)}}}},
		{name: "matrix and vector, a row for each warp", buffers: []*buffer{ba, bv, by}, launches: []launch{{"matrix_vector", dim(10), dim(128), 0, []any{ba, bv, by, int32(rows), int32(cols)}}}},
	}
}

func prefix(x []int32, inclusive bool) []int32 {
	s := int32(0)
	return fill(len(x), func(i int) int32 {
		before := s
		s += x[i]
		if inclusive {
			return s
		}
		return before
	})
}

func scans() []kernelCase {
	x := ints(512, -100, 100)
	bx := &buffer{in: x}
	steps, tree := out(prefix(x, true)), out(prefix(x, false))
	const n = 10_000
	y := ints(n, 0, 100)
	by, scanned, sums, sumsScanned := &buffer{in: y}, out(prefix(y, true)), &buffer{in: make([]int32, 128)}, &buffer{in: make([]int32, 128)}
	few := ints(32, 0, 50)
	kept := slices.DeleteFunc(slices.Clone(few), func(v int32) bool { return v%2 != 0 })
	bf, bk, bc := &buffer{in: few}, out(kept), out([]int32{int32(len(kept))})
	sorted := slices.Sorted(slices.Values(x))
	bs := &buffer{in: slices.Clone(x), want: sorted}
	return []kernelCase{
		{name: "scan by steps", buffers: []*buffer{bx, steps}, launches: []launch{{"scan_steps", dim(1), dim(512), 0, []any{bx, steps}}}},
		{name: "scan by a tree", buffers: []*buffer{bx, tree}, launches: []launch{{"scan_tree", dim(1), dim(256), 2048, []any{bx, tree, int32(512)}}}},
		{name: "scan of many blocks", buffers: []*buffer{by, scanned, sums, sumsScanned}, launches: []launch{
			{"scan_blocks", dim(40), dim(256), 0, []any{by, scanned, sums, int32(n)}},
			{"scan_blocks", dim(1), dim(256), 0, []any{sums, sumsScanned, nil, int32(40)}},
			{"scan_add", dim(40), dim(256), 0, []any{scanned, sumsScanned, int32(n)}}}},
		{name: "compaction by ballot", buffers: []*buffer{bf, bk, bc}, launches: []launch{{"compact", dim(1), dim(32), 0, []any{bf, bk, bc}}}},
		{name: "bitonic sort", buffers: []*buffer{bs}, launches: []launch{{"bitonic_sort", dim(1), dim(512), 0, []any{bs}}}},
	}
}

func tiles() []kernelCase {
	const w, h = 50, 37
	m := floats(w*h, 1)
	flipped := fill(w*h, func(i int) float32 { return m[i%h*w+i/h] })
	bm, plain, tile := &buffer{in: m}, out(flipped), out(flipped)
	const n = 40
	a, b := ints(n*n, -9, 9), ints(n*n+1, -9, 9)
	product := fill(n*n, func(i int) int32 {
		s := int32(0)
		for k := range n {
			s += a[i/n*n+k] * b[k*n+i%n]
		}
		return s
	})
	ba, bb, p1, p2, p3 := &buffer{in: a}, &buffer{in: b[:n*n]}, out(product), out(product), out(product)
	x := ints(1000, 0, 100)
	bx, by := &buffer{in: x}, out(fill(1000, func(i int) int32 {
		s := int32(0)
		for k := max(i-3, 0); k <= min(i+3, 999); k++ {
			s += x[k]
		}
		return s
	}))
	relax := func(in []float32) []float32 {
		return fill(w*h, func(i int) float32 {
			if x, y := i%w, i/w; x == 0 || y == 0 || x == w-1 || y == h-1 {
				return in[i]
			}
			return 0.25 * (float32(in[i-1]+in[i+1]) + float32(in[i-w]+in[i+w]))
		})
	}
	j1, j2 := &buffer{in: m, want: relax(relax(m))}, out(relax(m))
	const side = 11
	c := ints(side*side*side, -9, 9)
	bc, bd := &buffer{in: c}, out(fill(len(c), func(i int) int32 {
		at := func(x, y, z int) int32 {
			if min(x, y, z) < 0 || max(x, y, z) >= side {
				return 0
			}
			return c[(z*side+y)*side+x]
		}
		x, y, z := i%side, i/side%side, i/side/side
		return 6*at(x, y, z) - at(x-1, y, z) - at(x+1, y, z) - at(x, y-1, z) - at(x, y+1, z) - at(x, y, z-1) - at(x, y, z+1)
	}))
	cells := fill(w*h, func(i int) byte { return byte(mix(uint32(i)) % 2) })
	next := fill(w*h, func(i int) byte {
		n := byte(0)
		for d := range 9 {
			if d != 4 {
				n += cells[(i/w+d/3-1+h)%h*w+(i%w+d%3-1+w)%w]
			}
		}
		if n == 3 || n == 2 && cells[i] == 1 {
			return 1
		}
		return 0
	})
	bl, bn := &buffer{in: cells}, out(next)
	at := floats(4*256, 1)
	force := make([]float32, 4*256)
	for i := range 256 {
		var f [3]float64
		for k := range 256 {
			var d [3]float64
			r := 0.01
			for j := range d {
				d[j] = float64(at[4*k+j]) - float64(at[4*i+j])
				r += d[j] * d[j]
			}
			for j := range d {
				f[j] += d[j] * float64(at[4*k+3]) / (r * math.Sqrt(r))
			}
		}
		for j := range f {
			force[4*i+j] = float32(f[j])
		}
	}
	bat, bforce := &buffer{in: at}, out(force)
	return []kernelCase{
		{name: "transpose", buffers: []*buffer{bm, plain}, launches: []launch{{"transpose_plain", dim(7, 5), dim(8, 8), 0, []any{bm, plain, int32(w), int32(h)}}}},
		{name: "transpose by tiles", buffers: []*buffer{bm, tile}, launches: []launch{{"transpose_tile", dim(4, 3), dim(16, 16), 0, []any{bm, tile, int32(w), int32(h)}}}},
		{name: "matrix product", buffers: []*buffer{ba, bb, p1}, launches: []launch{{"product_plain", dim(5, 5), dim(8, 8), 0, []any{ba, bb, p1, int32(n)}}}},
		{name: "matrix product by tiles of 16", buffers: []*buffer{ba, bb, p2}, launches: []launch{{"product_tiles<16>", dim(3, 3), dim(16, 16), 0, []any{ba, bb, p2, int32(n)}}}},
		{name: "matrix product by tiles of 8", buffers: []*buffer{ba, bb, p3}, launches: []launch{{"product_tiles<8>", dim(5, 5), dim(8, 8), 0, []any{ba, bb, p3, int32(n)}}}},
		{name: "stencil in one dimension", buffers: []*buffer{bx, by}, launches: []launch{{"stencil1d", dim(8), dim(128), 134 * 4, []any{bx, by, int32(1000)}}}},
		{name: "two Jacobi steps", buffers: []*buffer{j1, j2}, launches: []launch{
			{"jacobi2d", dim(4, 5), dim(16, 8), 0, []any{j1, j2, int32(w), int32(h)}},
			{"jacobi2d", dim(4, 5), dim(16, 8), 0, []any{j2, j1, int32(w), int32(h)}}}},
		{name: "stencil in three dimensions", buffers: []*buffer{bc, bd}, launches: []launch{{"stencil3d", dim(3, 3, 3), dim(4, 4, 4), 0, []any{bc, bd, int32(side)}}}},
		{name: "life", buffers: []*buffer{bl, bn}, launches: []launch{{"life", dim(4, 5), dim(16, 8), 0, []any{bl, bn, int32(w), int32(h)}}}},
		{name: "bodies", tolerance: 1e-3, buffers: []*buffer{bat, bforce}, launches: []launch{{"bodies", dim(4), dim(64), 64 * 16, []any{bat, bforce, int32(256)}}}},
	}
}
