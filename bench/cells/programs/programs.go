// Package programs has the functions that bench/cells measures: compiled by Go, and as
// cells from their source.
package programs

import (
	_ "embed" // of the source
	"math"
)

// Source is this file.
//
//go:embed programs.go
var Source string

// Fib is the recursion.
func Fib(n int) int {
	if n < 2 {
		return n
	}
	return Fib(n-1) + Fib(n-2)
}

// Body is a planet.
type Body struct{ X, Y, Z, VX, VY, VZ, Mass float64 }

// NBody moves planets, and gives their energy.
func NBody(bodies []Body, steps int) (e float64) {
	for range steps {
		for i := range bodies {
			a := &bodies[i]
			for j := i + 1; j < len(bodies); j++ {
				b := &bodies[j]
				dx, dy, dz := a.X-b.X, a.Y-b.Y, a.Z-b.Z
				d2 := dx*dx + dy*dy + dz*dz
				mag := 0.01 / (d2 * math.Sqrt(d2))
				a.VX -= dx * b.Mass * mag
				a.VY -= dy * b.Mass * mag
				a.VZ -= dz * b.Mass * mag
				b.VX += dx * a.Mass * mag
				b.VY += dy * a.Mass * mag
				b.VZ += dz * a.Mass * mag
			}
		}
		for i := range bodies {
			a := &bodies[i]
			a.X += 0.01 * a.VX
			a.Y += 0.01 * a.VY
			a.Z += 0.01 * a.VZ
		}
	}
	for i, b := range bodies {
		e += 0.5 * b.Mass * (b.VX*b.VX + b.VY*b.VY + b.VZ*b.VZ)
		for _, c := range bodies[i+1:] {
			dx, dy, dz := b.X-c.X, b.Y-c.Y, b.Z-c.Z
			e -= b.Mass * c.Mass / math.Sqrt(dx*dx+dy*dy+dz*dz)
		}
	}
	return e
}

func inverse(i, j int) float64 { return 1 / float64((i+j)*(i+j+1)/2+i+1) }

func times(v, u []float64, transposed bool) {
	for i := range v {
		var a float64
		for j := range u {
			if transposed {
				a += inverse(j, i) * u[j]
			} else {
				a += inverse(i, j) * u[j]
			}
		}
		v[i] = a
	}
}

// SpectralNorm is that of the benchmarks game; u, v and t are room.
func SpectralNorm(u, v, t []float64) float64 {
	for i := range u {
		u[i] = 1
	}
	for range 10 {
		times(t, u, false)
		times(v, t, true)
		times(t, v, false)
		times(u, t, true)
	}
	var vBv, vv float64
	for i := range v {
		vBv += u[i] * v[i]
		vv += v[i] * v[i]
	}
	return math.Sqrt(vBv / vv)
}

// Mandelbrot counts the points of a square that do not get away.
func Mandelbrot(n int) (in int) {
	for y := range n {
		for x := range n {
			c := complex(2*float64(x)/float64(n)-1.5, 2*float64(y)/float64(n)-1)
			z, k := 0i, 0
			for ; k < 50; k++ {
				z = z*z + c
				if real(z)*real(z)+imag(z)*imag(z) > 4 {
					break
				}
			}
			if k == 50 {
				in++
			}
		}
	}
	return in
}

// MatMul is c = a b, of n by n numbers.
func MatMul(a, b, c []float64, n int) float64 {
	for i := range n {
		for j := range n {
			var s float64
			for k := range n {
				s += a[i*n+k] * b[k*n+j]
			}
			c[i*n+j] = s
		}
	}
	return c[n+1]
}

// Sieve counts the primes below len(composite).
func Sieve(composite []bool) (primes int) {
	clear(composite)
	for i := 2; i < len(composite); i++ {
		if composite[i] {
			continue
		}
		primes++
		for j := i * i; j < len(composite); j += i {
			composite[j] = true
		}
	}
	return primes
}

// Sort sorts numbers that it makes, and gives one.
func Sort(x []int) int {
	s := uint32(1)
	for i := range x {
		s = s*1664525 + 1013904223
		x[i] = int(s >> 8)
	}
	quick(x)
	return x[len(x)/3]
}

func quick(x []int) {
	for len(x) > 12 {
		p := x[len(x)/2]
		i, j := 0, len(x)-1
		for i <= j {
			for x[i] < p {
				i++
			}
			for x[j] > p {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		quick(x[:j+1])
		x = x[i:]
	}
	for i := 1; i < len(x); i++ {
		for j := i; j > 0 && x[j] < x[j-1]; j-- {
			x[j], x[j-1] = x[j-1], x[j]
		}
	}
}

// Words counts words, and characters beyond ASCII.
func Words(s string) (words, wide int) {
	inside := false
	for _, r := range s {
		space := r == ' ' || r == '\n'
		if !space && !inside {
			words++
		}
		inside = !space
		if r >= 0x80 {
			wide++
		}
	}
	return words, wide
}

// Jacobi relaxes a square of n by n numbers.
func Jacobi(a, b []float64, n, steps int) float64 {
	for range steps {
		for i := 1; i < n-1; i++ {
			for j := 1; j < n-1; j++ {
				b[i*n+j] = 0.25 * (a[(i-1)*n+j] + a[(i+1)*n+j] + a[i*n+j-1] + a[i*n+j+1])
			}
		}
		a, b = b, a
	}
	return a[n+1]
}

// Loop is an addition in a loop.
func Loop(n int) (s int) {
	for i := 0; i < n; i++ {
		s += i ^ s
	}
	return s
}

// Count is how often the most frequent word of a text comes.
func Count(text string) (most int) {
	counts := map[string]int{}
	start := 0
	for i := range len(text) {
		if text[i] == ' ' || text[i] == '\n' {
			counts[text[start:i]]++
			start = i + 1
		}
	}
	for _, n := range counts {
		most = max(most, n)
	}
	return most
}

// Collatz is the longest chain that begins below n, with the lengths that are known.
func Collatz(n int) (longest int) {
	known := map[int]int{1: 1}
	for i := 1; i < n; i++ {
		longest = max(longest, chain(i, known))
	}
	return longest
}

func chain(n int, known map[int]int) int {
	if length, ok := known[n]; ok {
		return length
	}
	next := n / 2
	if n%2 == 1 {
		next = 3*n + 1
	}
	length := chain(next, known) + 1
	known[n] = length
	return length
}

// Sparse multiplies sparse vectors.
func Sparse(n int) (sum float64) {
	a, b := map[int]float64{}, map[int]float64{}
	for i := range n {
		a[i*7%1000003] = float64(i % 10)
		b[i*5%1000003] += 0.5
	}
	for range 5 {
		for i, x := range a {
			sum += x * b[i]
		}
	}
	return sum
}

// Node is part of a tree.
type Node struct {
	left, right *Node
	key         int
	name        string
}

func (t *Node) add(key int) *Node {
	if t == nil {
		return &Node{key: key, name: "n" + string(rune('a'+key%26))}
	}
	if key < t.key {
		t.left = t.left.add(key)
	} else {
		t.right = t.right.add(key)
	}
	return t
}

// Tree is the sum of depths of a search tree.
func Tree(n int) (depths int) {
	var root *Node
	x := 1
	for range n {
		x = (x*1103515245 + 12345) & 0x7fffffff
		root = root.add(x)
	}
	for t := root; t != nil; t = t.left {
		depths += len(t.name)
	}
	return depths
}
