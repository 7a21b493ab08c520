package programs

import "math"

func HeapSort(out []int64, f []float64) {
	x := uint32(2463534242)
	for i := range out {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		out[i] = int64(x % 1000)
	}
	down := func(i, n int) {
		for {
			child := 2*i + 1
			if child >= n {
				return
			}
			if child+1 < n && out[child+1] > out[child] {
				child++
			}
			if out[i] >= out[child] {
				return
			}
			out[i], out[child] = out[child], out[i]
			i = child
		}
	}
	for i := len(out)/2 - 1; i >= 0; i-- {
		down(i, len(out))
	}
	for n := len(out) - 1; n > 0; n-- {
		out[0], out[n] = out[n], out[0]
		down(0, n)
	}
}

func Life(out []int64, f []float64) {
	type board [8][8]bool
	step := func(b *board) (next board) {
		for i := range b {
			for j := range b[i] {
				n := 0
				for di := -1; di <= 1; di++ {
					for dj := -1; dj <= 1; dj++ {
						if (di != 0 || dj != 0) && b[(i+di+8)%8][(j+dj+8)%8] {
							n++
						}
					}
				}
				next[i][j] = n == 3 || n == 2 && b[i][j]
			}
		}
		return next
	}
	var b board
	for _, at := range [][2]int{{0, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}} {
		b[at[0]][at[1]] = true
	}
	for range 9 {
		b = step(&b)
	}
	for i, row := range b {
		for j, on := range row {
			if on {
				out[i*8+j] = 1
			}
		}
	}
}

func CRC32(out []int64, f []float64) {
	var table [256]uint32
	for i := range table {
		c := uint32(i)
		for range 8 {
			if c&1 != 0 {
				c = c>>1 ^ 0xedb88320
			} else {
				c >>= 1
			}
		}
		table[i] = c
	}
	crc := ^uint32(0)
	for i := range "The quick brown fox" {
		crc = crc>>8 ^ table[byte(crc)^"The quick brown fox"[i]]
	}
	out[0] = int64(^crc)
}

func SHA256Round(out []int64, f []float64) {
	rotr := func(x uint32, n uint) uint32 { return x>>n | x<<(32-n) }
	h := [8]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}
	var w [64]uint32
	w[0], w[15] = 0x61626380, 24
	for i := 16; i < 64; i++ {
		s0 := rotr(w[i-15], 7) ^ rotr(w[i-15], 18) ^ w[i-15]>>3
		s1 := rotr(w[i-2], 17) ^ rotr(w[i-2], 19) ^ w[i-2]>>10
		w[i] = w[i-16] + s0 + w[i-7] + s1
	}
	s := h
	for i := range w {
		t1 := s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) + (s[4]&s[5] ^ ^s[4]&s[6]) + w[i] + uint32(i)*0x9e3779b9
		t2 := (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) + (s[0]&s[1] ^ s[0]&s[2] ^ s[1]&s[2])
		copy(s[1:], s[:7])
		s[4] += t1
		s[0] = t1 + t2
	}
	for i := range h {
		out[i] = int64(h[i] + s[i])
	}
}

func Queens(out []int64, f []float64) {
	const n = 6
	var at [n]int
	row := 0
	at[0] = -1
	for row >= 0 {
		at[row]++
		if at[row] == n {
			row--
			continue
		}
		safe := true
		for r := range row {
			if d := at[row] - at[r]; d == 0 || d == row-r || d == r-row {
				safe = false
				break
			}
		}
		if !safe {
			continue
		}
		if row == n-1 {
			out[0]++
			for i, c := range at {
				out[1+i] = int64(c)
			}
			continue
		}
		row++
		at[row] = -1
	}
}

func Levenshtein(out []int64, f []float64) {
	const a, b = "kitten", "sitting"
	var d [len(a) + 1][len(b) + 1]int64
	for i := range d {
		d[i][0] = int64(i)
	}
	for j := range d[0] {
		d[0][j] = int64(j)
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := int64(1)
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
		}
	}
	out[0] = d[len(a)][len(b)]
}

func Floyd(out []int64, f []float64) {
	const far = 1 << 30
	type edge struct{ from, to, cost int64 }
	var dist [6][6]int64
	for i := range dist {
		for j := range dist[i] {
			if i != j {
				dist[i][j] = far
			}
		}
	}
	for _, e := range []edge{{0, 1, 7}, {0, 2, 9}, {0, 5, 14}, {1, 2, 10}, {1, 3, 15}, {2, 3, 11}, {2, 5, 2}, {3, 4, 6}, {4, 5, 9}} {
		dist[e.from][e.to], dist[e.to][e.from] = e.cost, e.cost
	}
	for k := range dist {
		for i := range dist {
			for j := range dist {
				dist[i][j] = min(dist[i][j], dist[i][k]+dist[k][j])
			}
		}
	}
	for i := range dist {
		copy(out[i*6:], dist[i][:])
	}
}

type sets struct{ parent [16]int }

func (s *sets) find(i int) int {
	for s.parent[i] != i {
		s.parent[i] = s.parent[s.parent[i]]
		i = s.parent[i]
	}
	return i
}

func (s *sets) join(a, b int) bool {
	a, b = s.find(a), s.find(b)
	if a == b {
		return false
	}
	s.parent[max(a, b)] = min(a, b)
	return true
}

func UnionFind(out []int64, f []float64) {
	var s sets
	for i := range s.parent {
		s.parent[i] = i
	}
	for i := range 10 {
		if s.join(i*7%16, i*3%16) {
			out[20]++
		}
	}
	for i := range s.parent {
		out[i] = int64(s.find(i))
	}
}

func FFT(out []int64, f []float64) {
	var x [16]complex128
	for i := range x {
		x[i] = complex(float64(i%5), float64(i%3))
	}
	for i, j := 1, 0; i < len(x); i++ {
		bit := len(x) >> 1
		for ; j&bit != 0; bit >>= 1 {
			j ^= bit
		}
		j ^= bit
		if i < j {
			x[i], x[j] = x[j], x[i]
		}
	}
	// The roots of unity, exact in both: only 1, i and their square roots.
	const h = 0.70710678118654752440
	roots := [8]complex128{1, 0.9238795325112867 - 0.3826834323650898i, h - h*1i, 0.3826834323650898 - 0.9238795325112867i, -1i, -0.3826834323650898 - 0.9238795325112867i, -h - h*1i, -0.9238795325112867 - 0.3826834323650898i}
	for n := 2; n <= len(x); n *= 2 {
		for i := 0; i < len(x); i += n {
			for k := range n / 2 {
				a, b := x[i+k], x[i+k+n/2]*roots[k*len(x)/n]
				x[i+k], x[i+k+n/2] = a+b, a-b
			}
		}
	}
	for i, v := range x {
		f[2*i], f[2*i+1] = real(v), imag(v)
	}
}

func RungeKutta(out []int64, f []float64) {
	type state [2]float64
	deriv := func(s state) state { return state{s[1], -s[0]} }
	add := func(s, d state, h float64) state { return state{s[0] + d[0]*h, s[1] + d[1]*h} }
	s := state{1, 0}
	const h = 0.125
	for i := range 30 {
		k1 := deriv(s)
		k2 := deriv(add(s, k1, h/2))
		k3 := deriv(add(s, k2, h/2))
		k4 := deriv(add(s, k3, h))
		for j := range s {
			s[j] += h / 6 * (k1[j] + 2*k2[j] + 2*k3[j] + k4[j])
		}
		f[2*i], f[2*i+1] = s[0], s[1]
	}
}

func Gauss(out []int64, f []float64) {
	a := [4][5]float64{{2, 1, -1, 3, 8}, {-3, -1, 2, 1, -11}, {-2, 1, 2, 4, -3}, {1, 1, 1, 1, 4}}
	for i := range a {
		p := i
		for r := i + 1; r < len(a); r++ {
			if math.Abs(a[r][i]) > math.Abs(a[p][i]) {
				p = r
			}
		}
		a[i], a[p] = a[p], a[i]
		for r := range a {
			if r == i {
				continue
			}
			q := a[r][i] / a[i][i]
			for c := i; c < 5; c++ {
				a[r][c] -= q * a[i][c]
			}
		}
	}
	for i := range a {
		f[i] = a[i][4] / a[i][i]
	}
}

func IntRoots(out []int64, f []float64) {
	root := func(n uint64) uint64 {
		x := n
		for y := (x + 1) / 2; y < x; y = (x + n/x) / 2 {
			x = y
		}
		return x
	}
	for i := range out {
		out[i] = int64(root(uint64(i*i*i*977 + 5)))
	}
}

func BigFactorial(out []int64, f []float64) {
	var digits [40]int64
	digits[0] = 1
	n := 1
	for k := int64(2); k <= 30; k++ {
		carry := int64(0)
		for i := 0; i < n || carry > 0; i++ {
			carry += digits[i] * k
			digits[i] = carry % 10
			carry /= 10
			n = max(n, i+1)
		}
	}
	copy(out, digits[:])
	out[50] = int64(n)
}

func VM(out []int64, f []float64) {
	const (
		push = iota
		add
		mul
		jnz
		dup
		dec
		store
		halt
	)
	code := [...][2]int64{{push, 5}, {push, 1}, {store, 0}, {dup}, {store, 1}, {push, 0}, {add}, {dec}, {dup}, {jnz, 3}, {halt}}
	var stack [8]int64
	var mem [2]int64
	sp, pc := 0, 0
run:
	for steps := 0; steps < 200; steps++ {
		op, arg := code[pc][0], code[pc][1]
		pc++
		switch op {
		case push:
			stack[sp] = arg
			sp++
		case add, mul:
			sp--
			if op == add {
				stack[sp-1] += stack[sp]
			} else {
				stack[sp-1] *= stack[sp]
			}
		case dup:
			stack[sp] = stack[sp-1]
			sp++
		case dec:
			stack[sp-1]--
		case store:
			sp--
			mem[arg] = mem[arg]*3 + stack[sp]
		case jnz:
			sp--
			if stack[sp] != 0 {
				pc = int(arg)
			}
		case halt:
			break run
		}
		out[2]++
	}
	out[0], out[1] = mem[0], mem[1]
}

func LoopChecks(out []int64, f []float64) {
	n, from := 8, 2
	var grid [8][8]int64
	for i := range 8 {
		for j := range 8 {
			grid[i][j] = int64(i*n + j)
		}
	}
	for j := from; j <= 7; j++ {
		out[(j-from)*n+j] = grid[j][7-j] + grid[3][j]
	}
	for k := 7; k > 0; k -= 2 {
		if k == 3 {
			continue
		}
		f[k] = f[k-1] + float64(out[k*n+1])
	}
	for k := 0; k < n; k++ {
		if out[k] > 1000 {
			break
		}
		f[63-k] = float64(k)
		n := n - 1
		f[n*k] += 0.5
	}
	s := out[10:30]
	for i := 0; i < len(s); i++ {
		s[len(s)-1-i] += int64(i)
	}
	for i := 5; i < 5; i++ {
		s[i*1000] = 1
	}
	for i := 0; i < 3; i++ {
		s = s[1:]
		s[i] = 7
	}
	limit := 6
	for i := 0; i < limit; i++ {
		if i == 2 {
			limit = 4
		}
		out[50+i*2]++
	}
	p := &grid
	for i := range 8 {
		p[i][i] *= 2
		out[40] += p[i][i]
	}
	big := 1 << 62
	for i := range 4 {
		out[(i*4*big)+41] += int64(i)
	}
}
