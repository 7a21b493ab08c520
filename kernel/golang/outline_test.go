package golang

import (
	"fmt"
	"testing"
)

func TestOutline(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"func f(x int) int { y := x; return y + z }", "{[f] [] [] [int z] []}"},
		{"func (s *stack[T]) push(v T) { s.list = v }", "{[stack] [] [stack] [stack T] []}"},
		{"func (stack) pop() {}", "{[stack] [] [stack] [stack] []}"},
		{"func pick[T any](x T) T { return x }", "{[pick] [] [] [any] []}"},
		{"type A struct{ b int }", "{[A] [] [] [A int] []}"},
		{"var (\n\ta, b = f(1, 2), 3\n\tc    int\n)\nconst d = a", "{[d] [a b c] [] [f int d] []}"},
		{"var x, y int = 1, g(h, i)", "{[] [x y] [] [int g h i] []}"},
		{"a, b := c, \"d\"\ne[f] = 3\ng.h += a\nk++", "{[] [a b] [e g k] [c d e f g k] []}"},
		{"for i := range 3 {\n\tx := i\n\tsum += x\n}", "{[] [] [] [sum] []}"},
		{"judge(\"1\", func() { check(f(3) == 9, `%d`) })\njudge(`2b`, g)", "{[] [] [] [judge check f g] [1 2b]}"},
		{"func f() { judge(\"1\", g) }", "{[f] [] [] [judge g] []}"},
		{"var _ int = a\n_, b := c, d\n_ = b", "{[] [b] [] [int a c d] []}"},
		{"f(x == 3)", "{[] [] [] [f x] []}"},
		// What cannot be parsed makes its names nevertheless.
		{"func f(x int) int { return x * }\ny := 3 +", "{[f] [y] [] [] []}"},
		{"func f() {\n\tx := 3\n", "{[f] [] [] [] []}"},
		{"", "{[] [] [] [] []}"},
		{"func", "{[] [] [] [] []}"},
		{"var", "{[] [] [] [] []}"},
		{")x := 2", "{[] [] [] [] []}"},
	} {
		if got := fmt.Sprint(OutlineOf(c.code)); got != c.want {
			t.Errorf("%s\nhas the outline %s, want %s", c.code, got, c.want)
		}
	}
}
