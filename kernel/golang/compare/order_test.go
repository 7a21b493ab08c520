package main

import (
	"strings"
	"testing"
)

// The order in which statements evaluate what calls in them change is the compiler's.
func TestOrderIsAsCompiled(t *testing.T) {
	s := newOrderSearch(t)
	p := orderProgram("q", handWritten)
	if err := s.ordered(t.Context(), []program{p}, map[string][]string{p.name: handWritten}); err != nil {
		t.Fatal(err)
	}
}

func TestRandomOrderIsAsCompiled(t *testing.T) {
	s := newOrderSearch(t)
	if err := s.orders(t.Context(), seed(t), 1, 100); err != nil {
		t.Fatal(err)
	}
	if s.functions < 50 {
		t.Errorf("only %d statements", s.functions)
	}
}

func newOrderSearch(t *testing.T) *search {
	s := newSearch(t)
	s.report = func(d difference) { t.Errorf("%s\n%s", d, d.program.decls) }
	return s
}

var handWritten = strings.Split(strings.TrimSpace(`
$ret(($T{A: $pt.B, B: $swap(25), Ar: [3]int{int($i8), 1, $ts[0].B}, S: $L(26), N: ($P(27)), F: $fn}).Ar, $e(len($s)))

$ret([]int{$g, any((&$st).A).(int), $e(56)})

pw[((len($str))&1)] = $e(64)

$ss[((int(real($c)))&1)&1][(($s[0])&1)], $m["q"] = pv.Get(<-$ch), $e(54)

$ts[((*lp(any(*py).(int)))&1)&1].B, $pt.S[:3][v.F(x)&1:][:2:2][(($vi($id($e(12), $s[1]), $vi($swap(13), $pt.B, $pt.N.A), int(int8($s[1]))))&1)] = $two((cap($pt.Ar[:][:1]) + $gen(*func() *int { $g++; return &$g }(), $id(w[0], lf(14)))), min(<-func() chan int { $g++; return $ch }(), $e($gen($st.A, $a[0]))))

$ret($id((&$T{A: $g}).A, $e(1)))

q := func(p *$T, k int) int { return p.A*100 + k }
$ret(q(&$T{A: $g, B: $h}, $e(1)))

$ret(&$T{A: $g} != nil, $e(1), $T{A: $g}.Get(1), $e(2))

$ret($g, $e(1), $h, $st.A, *py, lf(3))

$s[$swap(3)&1] -= $pt.A

$s[$swap(3)&1]++

$ss[$swap(3)&1][len($s)&1]++

*lp($swap(1)) *= y

$m[$S($swap(1))]++

select {
case $ch <- $g:
case r := <-func() chan int { $e(8); return nil }():
	$ret(r)
}
for len($ch) > 1 {
	<-$ch
}
$ret(<-$ch)

var np *struct{ c chan int }
select {
case <-np.c:
case $ch <- $e(1):
}

$ret($g-3-$e(1))

$ret($pt.A - 3 - $pt.Mix(1))

a, b := $g+1, $e(3)
$ret(a, b)

$ret([]int{$g, $g+1, $e(1)})

$ret($id($g+1, $e(1)))

$st.A += $e(1) - $st.A

$g += $e(1)

$g -= $e(1) * $g

y += lf(2)

*py -= lf(2)

py, y = &$g, lf(2) + *py

$h = $h - 1 - $e(1)

x = $h - 1 - $e(1) + x

$pt.S = append($pt.S, $e(1), $pt.Mix(1))

$pt.S = append($pt.S[:1], $pt.A)

$pt.N.S = append($pt.N.S, $swap(1))

$ret(any($g), any($str), any($a), any($st.Ar), $e(1))

$ret(any($mt["a"].Ar), any($mt["a"].A), $swap(1))

$ret($mt["a"].Ar == $mt["b"].Ar, $swap(1))

$ret($mt["a"].Ar == $st.Ar, $swap(1), $e(1))

q := func(f func(int) int, k int) int { return f(1) + k }
$ret(q($st.Get, $e(1)), q($pt.Mix, $e(1)), q($pt.Get, $e(2)))

q := func(f []byte, k int) string { return string(f) }
$ret(q([]byte($str), $e(1)), q([]byte($str), $swap(1)), q($bs, $e(1)))

q := func(s string, k int) string { return s }
$ret(q(string($bs), $e(1)), q($str+"x", $e(1)), q($str[:1], $e(1)), q($str+$S(1), $e(1)))

q := func(l []int, k int) []int { return l }
$ret(q($s, $swap(1)), q($s[:2], $swap(1)), q(append($s[:1:1], $g), $e(1)), q($a[:], $e(1)))

q := func(l [4]int, k int) [4]int { return l }
$ret(q($a, $swap(1)), q(*&$a, $e(2)), q([4]int{$g}, $e(1)))

q := func(l $T, k int) int { return l.A }
$ret(q($st, $e(1)), q(*$pt, $e(2)), q($ts[0], $e(1)), q($mt["a"], $swap(1)), q(v, lf(1)))

q := func(l *$T, k int) int { return l.A }
$ret(q($pt, $swap(1)), q(&$st, $e(2)), q(&$ts[$g&1], $e(1)), q($mp["a"], $swap(1)), q(pv, *lp(1)))

$m["a"], $m["b"] = $m["b"]+$e(1), $m["a"]

$s[0], $s[1] = $s[1], $e(1)

$s[$g&1], $g = $g, $e(2)

x, y = y, lf(1)

var q, r, t = $g, $e(1), $g
$ret(q, r, t)

switch $g {
case $e(1):
	$ret("a")
case $g, $e(2):
	$ret("b")
}

switch q := $ia.(type) {
case int:
	$ret(q, $e(1), $ia)
}

for i := range $e(3) + $g {
	$ret(i)
}

$ret(len($s), len($str), $swap(1), $e(1), cap($s))

$ret(len($s) + $swap(1)*len($s))

$ret(real($c), $e(1), imag($c), complex($f, 1))

$ret(min($g, 5), max($h, 2), min($f, 2), $e(1))

$ret($ia.(int), $e(1))

$ret($ii.($I).Get(1), $ii.($T).A, $swap(1))

$ret(-$g, ^$g, !$ok, -$f, $e(1))

$ret($g << 1, 1 << uint($g), $g << ($g&3), $e(1))

$ret(uint8($g), float64($g), string(rune($g+60)), $e(1))

$ret($ok && $B(1), $ok, $g > 1 && $h > 2, $e(1))

$ret(map[int]int{$g: $e(1), 100 + $g: $g})

$ret(map[string]int{"a": $g, "b": $h}, $e(1))

$ret([]int{$g, $h}, $e(1))

$ret([...]int{$g, $h}, $e(1), [4]int{3: 1}[$g&1])

$ret(struct{ a, b int }{$g, $h}, $e(1))

$ret(func() int { return $g }(), $e(1), func() int { return x }())

$ret(10 / ($g - 1), $e(1))

$ret($s[$g+2], $e(1))

$ret($s[$e(7)+10], $e(1))

var np *$T
$ret(np.A, $e(1))

var nm map[string]int
nm["a"] = $e(1)

var nm map[string]int
nm[$S(1)], $g = $e(1), 7

$s[7] = $e(1)

$s[$h], $g = $e(1), $e(2)

var np *$T
np.A = $e(1)

var np *$T
np.A, $g = $e(1), $e(2)

var np *$T
np.A += $e(1)

$s[9] += $e(1)

$ret($ia.(string), $e(1))

$ret($e(1), $ia.(string))

$ret($id($ia.(int), $e(1)), $fn($e(1)), $st.F($e(1)), $pt.F($swap(1)))

$fn($swap(1))

$ret($fn($swap(1)), $st.F($swap(1)), $pt.Mix($swap(1)), $ii.Get($swap(1)))

$ch <- $e(1) + $g

$ret(<-$ch + $g - $e(1))

return $g, $e(1)

return $g + 1, $e(1)

return x, lf(1)

r1, r2 = 5, 6
return r2, func() int { r2 = 9; return r2 }()

r1 = 3
defer func() { r1 += 1 }()
return r1 + 1, $e(1)

defer $ret($g, $e(1), $g+1)

done := make(chan bool)
go func(a, b int) { fmt.Println(a, b); done <- true }($g, $e(1))
<-done

if $g+1 < $e(1) && $g > 1 || $ok {
	$ret("q")
}

q := [2]*int{&x, &y}
*q[$g&1] = $e(1)

for $g+1 < $e(1)+5-$g {
	$ret($g)
}
`), "\n\n")
