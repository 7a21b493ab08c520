package programs

func Collatz(out []int64, f []float64) {
	for i := range out {
		n := int64(i + 1)
		for n != 1 {
			if n%2 == 0 {
				n /= 2
			} else {
				n = 3*n + 1
			}
			out[i]++
		}
	}
}

func Sieve(out []int64, f []float64) {
	var composite [512]bool
	k := 0
	for i := 2; i < len(composite) && k < len(out); i++ {
		if composite[i] {
			continue
		}
		out[k] = int64(i)
		k++
		for j := i * i; j < len(composite); j += i {
			composite[j] = true
		}
	}
}

func quick(s []int64, stack []int) {
	n := 0
	stack[0], stack[1] = 0, len(s)-1
	n = 2
	for n > 0 {
		n -= 2
		lo, hi := stack[n], stack[n+1]
		if lo >= hi {
			continue
		}
		pivot := s[(lo+hi)/2]
		i, j := lo, hi
		for i <= j {
			for s[i] < pivot {
				i++
			}
			for s[j] > pivot {
				j--
			}
			if i <= j {
				s[i], s[j] = s[j], s[i]
				i++
				j--
			}
		}
		stack[n], stack[n+1] = lo, j
		stack[n+2], stack[n+3] = i, hi
		n += 4
	}
}

func QuickSort(out []int64, f []float64) {
	x := uint64(12345)
	for i := range out {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		out[i] = int64(x >> 40)
	}
	var stack [128]int
	quick(out, stack[:])
}

type matrix [4][4]float64

func (m matrix) times(o *matrix) (r matrix) {
	for i := range r {
		for j := range r[i] {
			for k := range m[i] {
				r[i][j] += m[i][k] * o[k][j]
			}
		}
	}
	return r
}

func Matrix(out []int64, f []float64) {
	var m matrix
	for i := range m {
		for j := range m[i] {
			m[i][j] = float64(i+1) / float64(j+2)
		}
	}
	p := m
	for range 5 {
		p = p.times(&m)
	}
	for i := range p {
		copy(f[i*4:], p[i][:])
	}
}

func Mandelbrot(out []int64, f []float64) {
	for i := range out {
		c := complex(float64(i%8)/4-1.5, float64(i/8)/4-1)
		var z complex128
		n := int64(0)
		for n < 100 && real(z)*real(z)+imag(z)*imag(z) < 4 {
			z = z*z + c
			n++
		}
		out[i] = n
	}
}

type rng struct{ a, b uint64 }

func (r *rng) next() uint64 {
	x, y := r.a, r.b
	r.a = y
	x ^= x << 23
	r.b = x ^ y ^ x>>17 ^ y>>26
	return r.b + y
}

func (r *rng) float() float64 { return float64(r.next()>>11) / (1 << 53) }

func MonteCarlo(out []int64, f []float64) {
	r := rng{1, 2}
	for range 1000 {
		x, y := r.float(), r.float()
		if x*x+y*y < 1 {
			out[0]++
		}
	}
	f[0] = 4 * float64(out[0]) / 1000
}

func GCDs(out []int64, f []float64) {
	gcd := func(a, b int64) int64 {
		for b != 0 {
			a, b = b, a%b
		}
		return a
	}
	for i := range out {
		out[i] = gcd(int64(i*i*7+360), 5040)
	}
}

func Hash(out []int64, f []float64) {
	for i := range out {
		h := uint64(14695981039346656037)
		for j := range 16 {
			h = (h ^ uint64(i*j)) * 1099511628211
		}
		out[i] = int64(h)
	}
}

type stack[T any] struct {
	items [16]T
	n     int
}

func (s *stack[T]) push(x T) { s.items[s.n] = x; s.n++ }
func (s *stack[T]) pop() T   { s.n--; return s.items[s.n] }

func RPN(out []int64, f []float64) {
	program := [...]int8{3, 4, -1, 5, -2, 7, -3}
	var s stack[int64]
	for _, op := range program {
		switch {
		case op >= 0:
			s.push(int64(op))
		case op == -1:
			s.push(s.pop() + s.pop())
		case op == -2:
			s.push(s.pop() * s.pop())
		case op == -3:
			b, a := s.pop(), s.pop()
			s.push(a - b)
		}
	}
	out[0] = s.pop()
}

func Binary(out []int64, f []float64) {
	s := out[:40]
	for i := range s {
		s[i] = int64(i * 3)
	}
	find := func(x int64) int {
		lo, hi := 0, len(s)
		for lo < hi {
			m := int(uint(lo+hi) >> 1)
			if s[m] < x {
				lo = m + 1
			} else {
				hi = m
			}
		}
		return lo
	}
	for i := range 20 {
		out[40+i] = int64(find(int64(i * 7)))
	}
}
