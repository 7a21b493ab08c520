package golang

import "testing"

// TestValue: a variable is shown in one line, and by its own methods.
func TestValue(t *testing.T) {
	s := newSession(t)
	s.run("x := 3\nlist := make([]int, 100)\ntype T struct{ A int }\nfunc (t T) String() string { return fmt.Sprint(\"T\\n\", t.A) }\nv := T{4}\nconst c = 1\nfunc f() {}\ntype P struct{}\nfunc (P) String() string { panic(1) }\nvar p P\nvar e error")
	for name, want := range map[string]string{"x": "3", "v": "T 4", "c": "", "f": "", "T": "", "none": "", "e": "nil", "list": "[]int{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0…"} {
		if got := s.ev.Value(name); got != want {
			t.Errorf("%s is shown as %q, want %q", name, got, want)
		}
	}
	s.ev.turn.Lock() // as while a cell runs
	if got := s.ev.Value("x"); got != "" {
		t.Errorf("x is shown as %q while a cell runs", got)
	}
	s.ev.turn.Unlock()
}
