package corpus

import (
	"math"
	"slices"
)

// linear are the cases of linear.cu.
func linear() []kernelCase {
	const n = 44
	a, b, c := floatsOf(n*n, -9, 9), floatsOf(n*n, -8, 9), floatsOf(n*n, -20, 20)
	product := fill(n*n, func(i int) float32 {
		s := float32(0)
		for k := range n {
			s += a[i/n*n+k] * b[k*n+i%n]
		}
		return 2*s + 0.5*c[i]
	})
	const rows, cols = 37, 70
	wide, x := floatsOf(rows*cols, -20, 20), floatsOf(rows, -30, 30)
	gemv := fill(cols, func(c int) float32 {
		s := float32(0)
		for r := range rows {
			s += wide[r*cols+c] * x[r]
		}
		return s
	})

	const m = 120
	off, col, weight := network(m, 400)
	val := fill(len(col), func(i int) float32 { return float32(weight[i] - 7) })
	v := floatsOf(m, -50, 50)
	var row []int32
	width := 0
	spmv := fill(m, func(r int) float32 {
		s := float32(0)
		for e := off[r]; e < off[r+1]; e++ {
			s += val[e] * v[col[e]]
			row = append(row, int32(r))
		}
		width = max(width, int(off[r+1]-off[r]))
		return s
	})
	ellCol, ellVal := fill(width*m, func(int) int32 { return -1 }), make([]float32, width*m)
	for r := range m {
		for k, e := 0, off[r]; e < off[r+1]; k, e = k+1, e+1 {
			ellCol[k*m+r], ellVal[k*m+r] = col[e], val[e]
		}
	}
	boff, bcol, bval, bv := input(off), input(col), input(val), input(v)

	const k = 24
	full := fill(k*k, func(i int) float64 {
		if i/k == i%k {
			return 50 + float64(i%7)
		}
		return float64(mix(uint32(i))%1000) / 1000
	})
	lu := slices.Clone(full)
	for p := range k {
		for r := p + 1; r < k; r++ {
			lu[r*k+p] /= lu[p*k+p]
			for c := p + 1; c < k; c++ {
				lu[r*k+c] -= float64(lu[r*k+p] * lu[p*k+c])
			}
		}
	}
	blu := changed(full, lu)
	var steps []launch
	for p := range k - 1 {
		steps = append(steps,
			launch{"lu_column", dim(1), dim(k), 0, []any{blu, int32(k), int32(p)}},
			launch{"lu_rest", dim(3, 3), dim(8, 8), 0, []any{blu, int32(k), int32(p)}})
	}
	symmetric := fill(k*k, func(i int) float64 { return full[max(i, i%k*k+i/k)] })
	chol := slices.Clone(symmetric)
	for p := range k {
		chol[p*k+p] = math.Sqrt(chol[p*k+p])
		for r := p + 1; r < k; r++ {
			chol[r*k+p] /= chol[p*k+p]
		}
		for r := p + 1; r < k; r++ {
			for c := p + 1; c <= r; c++ {
				chol[r*k+c] = math.FMA(-chol[r*k+p], chol[c*k+p], chol[r*k+c])
			}
		}
	}
	right := fill(k, func(i int) float64 { return float64(i*i%17) / 3 })
	solved := slices.Clone(right)
	for p := range k {
		solved[p] /= full[p*k+p]
		for r := p + 1; r < k; r++ {
			solved[r] = math.FMA(-full[r*k+p], solved[p], solved[r])
		}
	}
	jacobi := func(x []float64) []float64 {
		return fill(k, func(r int) float64 {
			s := right[r]
			for c := range k {
				if c != r {
					s = math.FMA(-full[r*k+c], x[c], s)
				}
			}
			return s / full[r*k+r]
		})
	}
	j1 := jacobi(make([]float64, k))
	j2 := jacobi(j1)
	bfull, bright := input(full), input(right)
	x0, x1 := changed(make([]float64, k), j2), out(j1)

	p, q := ints(5000, -1<<30, 1<<30), ints(5001, -1<<30, 1<<30)[:5000]
	dot := uint64(0)
	for i := range p {
		dot += uint64(int64(p[i]) * int64(q[i]))
	}
	const prime = 998_244_353
	power := func(a []uint32) []uint32 {
		return fill(64, func(i int) uint32 {
			s := uint64(0)
			for k := range 8 {
				s = (s + uint64(a[i/8*8+k])*uint64(a[k*8+i%8])) % prime
			}
			return uint32(s)
		})
	}
	m0 := fill(64, func(i int) uint32 { return mix(uint32(i)) % prime })
	m1 := power(m0)
	b1 := out(m1)
	const side = 40
	square := ints(side*side, 0, 1<<20)
	small := ints(9*100, -1000, 1000)
	dets := fill(100, func(i int) int64 {
		e := func(k int) int64 { return int64(small[9*i+k]) }
		return e(0)*(e(4)*e(8)-e(5)*e(7)) - e(1)*(e(3)*e(8)-e(5)*e(6)) + e(2)*(e(3)*e(7)-e(4)*e(6))
	})
	tall := ints(20*30, -50, 50)
	syrk := fill(20*20, func(i int) (s int32) {
		for k := range 30 {
			s += tall[i/20*30+k] * tall[i%20*30+k]
		}
		return s
	})
	return []kernelCase{
		program("a product, four elements a thread", launch{"gemm", dim(2, 2), dim(32, 8), 0, []any{input(a), input(b), changed(c, product), int32(n), float32(2), float32(0.5)}}),
		program("a transposed matrix and a vector", launch{"gemv_transposed", dim(2, 4), dim(64), 0, []any{input(wide), input(x), out(gemv), int32(rows), int32(cols)}}),
		program("compressed rows", launch{"spmv_csr", dim(2), dim(64), 0, []any{boff, bcol, bval, bv, out(spmv), int32(m)}}),
		program("compressed rows, a warp for each", launch{"spmv_csr_warps", dim(30), dim(128), 0, []any{boff, bcol, bval, bv, out(spmv), int32(m)}}),
		program("padded rows", launch{"spmv_ell", dim(2), dim(64), 0, []any{input(ellCol), input(ellVal), bv, out(spmv), int32(m), int32(width)}}),
		program("coordinates", launch{"spmv_coo", dim(4), dim(256), 0, []any{input(row), bcol, bval, bv, out(spmv), int32(len(row))}}),
		program("LU, column by column", steps...),
		program("Cholesky in one block", launch{"cholesky", dim(1), dim(k), 0, []any{changed(symmetric, chol), int32(k)}}),
		program("a triangular system", launch{"solve_lower", dim(1), dim(k), 0, []any{bfull, changed(right, solved), int32(k)}}),
		program("two steps of Jacobi", launch{"jacobi_solve", dim(1), dim(32), 0, []any{bfull, bright, x0, x1, int32(k)}}, launch{"jacobi_solve", dim(1), dim(32), 0, []any{bfull, bright, x1, x0, int32(k)}}),
		program("a dot product of 64 bits", launch{"dot_shuffled", dim(4), dim(128), 0, []any{input(p), input(q), out([]uint64{dot}), int32(5000)}}),
		program("a fourth power modulo a prime", launch{"square_modulo", dim(1), dim(8, 8), 0, []any{input(m0), b1, int32(8), uint32(prime)}}, launch{"square_modulo", dim(1), dim(8, 8), 0, []any{b1, out(power(m1)), int32(8), uint32(prime)}}),
		program("a transpose in place", launch{"transpose_in_place", dim(5, 5), dim(8, 8), 0, []any{changed(square, fill(side*side, func(i int) int32 { return square[i%side*side+i/side] })), int32(side)}}),
		program("determinants", launch{"determinants", dim(2), dim(64), 0, []any{input(small), out(dets), int32(100)}}),
		program("a matrix and its transpose", launch{"syrk", dim(3, 3), dim(8, 8), 0, []any{input(tall), out(syrk), int32(20), int32(30)}}),
	}
}
