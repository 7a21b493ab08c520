package golang

import (
	"slices"
	"testing"

	"gocuda/kernel/golang/assist"
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
		c := assist.Complete(s.ev.Scope(), code, len(code))
		if !offers(c, "ReadAt") {
			t.Errorf("%s\ncompletes to %v", code, c.Matches)
		}
	}
	s.run("func must(n int) string { return fmt.Sprint(n) }")
	code := "s := must(3); s."
	if c := assist.Complete(s.ev.Scope(), code, len(code)); len(c.Matches) > 0 {
		t.Errorf("the cell's own must gives %v", c.Matches)
	}
	if c := assist.Complete(s.ev.Scope(), "mu", 2); !offers(c, "must") {
		t.Errorf("mu completes to %v", c.Matches)
	}
}

func offers(c assist.Completion, text string) bool {
	return slices.ContainsFunc(c.Matches, func(m assist.Match) bool { return m.Text == text })
}
