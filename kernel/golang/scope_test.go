package golang

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gocuda/kernel/golang/assist"
	"gocuda/kernel/magic"
)

// What must gives is completed in the cell that says it.
func TestMustIsCompleted(t *testing.T) {
	s := newSession(t)
	for _, code := range []string{
		"f := must(os.Open(`x`))\nf.",
		"f := must(os.Open(`x`)); f.",
		"must(os.Open(`x`)).",
		"f := []*os.File{must(os.Open(`x`))}[0]; fmt.Println(f.",
	} {
		c := assist.Complete(s.ev.Scope(), magic.NewSet(), code, len(code))
		if !offers(c, "ReadAt") {
			t.Errorf("%s\ncompletes to %v", code, c.Matches)
		}
	}
	s.run("func must(n int) string { return fmt.Sprint(n) }")
	code := "s := must(3); s."
	if c := assist.Complete(s.ev.Scope(), magic.NewSet(), code, len(code)); len(c.Matches) > 0 {
		t.Errorf("the cell's own must gives %v", c.Matches)
	}
	if c := assist.Complete(s.ev.Scope(), magic.NewSet(), "mu", 2); !offers(c, "must") {
		t.Errorf("mu completes to %v", c.Matches)
	}
}

func offers(c assist.Completion, text string) bool {
	return slices.ContainsFunc(c.Matches, func(m assist.Match) bool { return m.Text == text })
}

// What later cells make of types and functions is completed and inspected: the
// text of the newest version is shown.
func TestLaterMethodsAreCompletedAndInspected(t *testing.T) {
	s := newSession(t)
	for _, code := range []string{
		"type Stack[T any] struct{ items []T }\nvar s Stack[int]\ntype P struct{ n int }\nfunc Map[T, U any](xs []T, f func(T) U) (out []U) { return }",
		"// Push puts.\nfunc (s *Stack[T]) Push(x T) { s.items = append(s.items, x) }",
		"func (p P) Twice() int { return 2 * p.n }",
		"func (p P) Twice() int { return p.n + p.n }\nfunc (s *Stack[E]) Push(x E) { s.items = append(s.items, x, x) }",
	} {
		if got := s.run(code); got != "" {
			t.Fatal(got)
		}
	}
	for code, want := range map[string]string{
		"s.Pu": "Push", "(&Stack[string]{}).P": "Push", "P{1}.Tw": "Twice", "for _, x := range []Stack[P]{} { x.items[0].T": "Twice",
		"Map([]P{}, func(p P) int { return p.": "Twice", "Map([]int{1}, strconv.It": "Itoa", "func (s *Stack[T]) Pop() (x T) { s.it": "items",
		"x := Map([]int{}, func(int) *Stack[P] { return nil }); x[0].": "Push",
	} {
		if c := assist.Complete(s.ev.Scope(), magic.NewSet(), code, len(code)); !offers(c, want) {
			t.Errorf("%s\ncompletes to %v, not %s", code, c.Matches, want)
		}
	}
	for code, want := range map[string]string{
		"s.Push": "append(s.items, x, x)", "P{}.Twice": "return p.n + p.n", "Map": "func Map[T, U any](xs []T, f func(T) U) (out []U)", "(&Stack[P]{}).Push": "append(s.items, x, x)",
	} {
		b := assist.Inspect(s.ev.Scope(), magic.NewSet(), code, len(code), 1)
		if b == nil || !strings.Contains(fmt.Sprint(b.Data["text/plain"]), want) {
			t.Errorf("%s\nis inspected as %v, without %s", code, b, want)
		}
	}
}

// Keys of maps are completed from their values.
func TestKeysAreCompleted(t *testing.T) {
	s := newSession(t)
	for _, code := range []string{
		"type Name string\nages := map[string]int{`Bob`: 1, `Al \"x\"`: 2}\nvar named = map[Name][]int{`n`: nil}\nvar none map[string]int\nnumbers := map[int]int{1: 2}",
		"many := map[string]bool{}\nfor i := range 2000 { many[fmt.Sprint(i)] = true }",
	} {
		if got := s.run(code); got != "" {
			t.Fatal(got)
		}
	}
	for code, want := range map[string]string{"ages[\"": `[Al \"x\" Bob]`, "ages[`": `[Al "x" Bob]`, "x := ages[\"b": "[Bob]", "named[\"": "[n]", "none[\"": "[]"} {
		var texts []string
		for _, m := range assist.Complete(s.ev.Scope(), magic.NewSet(), code, len(code)).Matches {
			texts = append(texts, m.Text)
		}
		if got := fmt.Sprint(texts); got != want {
			t.Errorf("%s completes to %s, want %s", code, got, want)
		}
	}
	if n := len(assist.Complete(s.ev.Scope(), magic.NewSet(), "many[\"", 6).Matches); n != maxKeys {
		t.Errorf("%d keys of many", n)
	}
}
