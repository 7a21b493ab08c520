package golang

import (
	"os"
	"strings"
	"testing"
)

// Of the programs of bench/cells/everyday, each function is compiled, or it is known why not.
func TestEverydayPrograms(t *testing.T) {
	needsCompiler(t)
	t.Setenv(CompileVariable, "all")
	code, err := os.ReadFile("../../bench/cells/everyday/main.go")
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	cells, _ := cellsOfProgram(t, "main.go", string(code))
	s.run(strings.Join(cells, "\n"))
	want := `"912598\n4207" "42704" "280020" "3704.723237 0"` // of compiled Go
	if got := s.run(`fmt.Printf("%q %q %q %q", Machine(300), JSON(1), Lisp(3), Physics(10))`); strings.TrimSpace(got) != want {
		t.Error(got)
	}
	interpreted := map[string]string{"Physics": "a field of type func(b *Ball) Vec cannot be in compiled code"}
	seen := 0
	for _, f := range s.ev.Compiled() {
		if f.Cell != "In[1]" || f.Name == "loop" {
			continue
		}
		seen++
		if why := interpreted[f.Name]; (why == "") != (f.Reason == "") || !strings.Contains(f.Reason, why) {
			t.Errorf("%s: %q, want %q", f.Name, f.Reason, why)
		}
	}
	if seen < 20 {
		t.Errorf("%d functions", seen)
	}
}
