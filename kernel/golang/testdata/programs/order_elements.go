package main

import "fmt"

type P struct {
	A, B int
	C    [3]int
}

func bump(s []int) int        { s[0]++; s[1] += 2; return s[0] }
func mix(p *P) int            { p.A += 3; p.C[1]++; return p.A }
func (p *P) Mix() int         { p.A += 3; p.C[1]++; return p.A }
func id(a, b int) int         { return a*100 + b }
func id3(a, b, c int) int     { return a*10000 + b*100 + c }
func two(s []int) (int, int)  { s[0]++; return s[0], s[1] }
func set(m []float64) float64 { m[0] *= 2; return m[0] }

func f1(s []int) int          { return s[0] - 3 - bump(s) }
func f2(s []int) int          { return id(s[0]+1, bump(s)) }
func f3(s []int) int          { a, b := s[0]+1, bump(s); return id(a, b) }
func f4(s []int) int          { x := [3]int{s[0], s[0] + 1, bump(s)}; return id3(x[0], x[1], x[2]) }
func f5(p *P) int             { return p.A - 3 - mix(p) }
func f6(p *P) int             { return p.A - 3 - p.Mix() }
func f7(p *P) int             { p.A += mix(p); return p.A }
func f8(p *P) int             { p.C[p.A&1] = mix(p); return p.C[0]*100 + p.C[1] }
func f9(s []int) int          { s[s[0]&1] += bump(s); return id(s[0], s[1]) }
func f10(s []int) int         { s[s[0]&1], s[1] = bump(s), s[0]; return id(s[0], s[1]) }
func f11(s []int) (int, int)  { return s[0] + 1, bump(s) }
func f12(s []int) int         { return id(s[bump(s)&1], s[0]+bump(s)) }
func f13(m []float64) float64 { return m[0]*3 - set(m) + m[0] }
func f14(s []int) int {
	if s[0]+1 < bump(s) || s[0] == bump(s) {
		return 1
	}
	return s[0]
}
func f15(s []int) int {
	n := 0
	for i := s[0]; i < bump(s)-s[1]+9; i++ {
		n += s[0] - bump(s) + i
	}
	return n
}
func f16(p *P) int              { q := *p; q.A, q.B = p.A+1, mix(p); return id(q.A, q.B) }
func f17(p *P) P                { return P{A: p.A, B: mix(p), C: p.C} }
func f18(s []int) int           { a, b := two(s); s[0], s[1] = s[1]+bump(s), s[0]; return id3(a, b, s[0]*7+s[1]) }
func f19(s []int) int           { return len(s[:bump(s)&1]) + s[0]*min(s[0], bump(s)) }
func f20(p *P) int              { return id3(p.C[1], p.C[p.A&1]+mix(p), p.B+mix(p)) }
func f21(a [3]int, s []int) int { a[s[0]&1] += bump(s) + a[0]; return id3(a[0], a[1], a[2]) }
func f22(s []int) int {
	switch s[0] + 1 {
	case bump(s):
		return 1
	case s[0], bump(s):
		return 2
	}
	return 3
}
func f23(s []int) int { s[bump(s)&1]++; s[bump(s)&1] -= s[0]; return id(s[0], s[1]) }
func f24(s []int) int { x := s[0]; p := &x; x, *p = *p+1, bump(s); return x }
func f25(s []int) int { return -s[0] + ^s[1]<<uint(bump(s)&3) }
func f26(s []int) int { s[s[0]&1] <<= uint(bump(s) & 3); return id(s[0], s[1]) }

func main() {
	s := func() []int { return []int{4, 7, 9} }
	p := func() *P { return &P{4, 5, [3]int{1, 2, 3}} }
	m := func() []float64 { return []float64{1.5, 2} }
	a, b := f11(s())
	fmt.Println(f1(s()), f2(s()), f3(s()), f4(s()), f5(p()), f6(p()), f7(p()), f8(p()), f9(s()), f10(s()), a, b)
	fmt.Println(f12(s()), f13(m()), f14(s()), f15(s()), f16(p()), f17(p()), f18(s()), f19(s()), f20(p()), f21([3]int{1, 2, 3}, s()))
	fmt.Println(f22(s()), f23(s()), f24(s()), f25(s()), f26(s()))
}
