package magic

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestRunAFile(t *testing.T) {
	t.Chdir(t.TempDir())
	os.WriteFile("a.go", []byte("x := 1\n!echo from a file\nx"), 0o666)
	os.WriteFile("b.ipynb", []byte(`{"cells": [{"cell_type": "markdown", "source": "y"}, {"cell_type": "code", "source": ["a := 1\n", "a"]}, {"cell_type": "code", "source": "%cdd"}]}`), 0o666)
	os.WriteFile("c.ipynb", []byte(`{"cells": `), 0o666)
	r, err := run(t, "%run a.go")
	if want := []string{`false "x := 1\n"`, `true "\n\nx"`}; err != nil || !slices.Equal(r.evals, want) || r.text() != "from a file\n" {
		t.Errorf("evaluated %s, printed %q (%v)", r.evals, r.text(), err)
	}
	r, err = run(t, "y\n%run b.ipynb")
	if err == nil || !strings.HasPrefix(err.Error(), "b.ipynb, code cell 2, line 1: there is no magic %cdd") || len(r.evals) != 2 || r.evals[1] != `true "a := 1\na"` {
		t.Errorf("evaluated %s: %v", r.evals, err)
	}
	for _, code := range []string{"%run", "%run nowhere.go", "%run c.ipynb", "%run a b"} {
		if _, err := run(t, code); err == nil {
			t.Errorf("%s did not fail", code)
		}
	}
}

func TestHistory(t *testing.T) {
	for args, want := range map[string]string{
		"": "1 2 3", "2": "2", "2-3": "2 3", "-1": "3", "-9": "1 2 3", "2-99": "2 3", "7": "no", "3-2": "no", "0": "", "x": "", "1-x": "",
	} {
		r, err := run(t, strings.TrimSpace("%history "+args))
		var text strings.Builder
		for _, n := range strings.Fields(want) {
			if n == "no" {
				text.WriteString("no cells with these numbers ran\n")
				continue
			}
			fmt.Fprintf(&text, "// In[%s]\n%s\n\n", n, map[string]string{"1": "x := 1", "2": "x++", "3": "x"}[n])
		}
		if r.text() != text.String() || (err != nil) != (want == "") {
			t.Errorf("%%history %s printed %q (%v)", args, r.text(), err)
		}
	}
}

// plainText is a recorder whose values mean nothing to a shell.
type plainText struct{ *recorder }

func (plainText) Text(expression string, line, column int) (string, error) {
	return fmt.Sprintf("%s@%d:%d", expression, line, column), nil
}

// A command's output goes into a variable, and Go's values into a command.
func TestShellAndGo(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are of a Unix shell")
	}
	for _, c := range []struct {
		code, out string
		lines     []string // of x
	}{
		{"!x := printf 'a\\nb b\\n\\n'; echo seen >&2", "seen\n", []string{"a", "b b", ""}},
		{"!x:=true", "", []string{}},
		{"!echo {n}", "n@1:8\n", nil},
		{"  !  echo a{n+1}b{n}", "an+1@1:13bn@1:19\n", nil},
		{"!x := echo {n}", "", []string{"n@1:13"}},
		{"!echo '{print $1}' {a,b} {m}", "{print $1} a b {m}\n", nil},
		{"!n=3; echo ${n} $n", "3 3\n", nil},
		{"!echo {", "{\n", nil},
	} {
		r := &recorder{names: []Name{{Name: "n", Kind: "var", Type: "int"}}}
		err := standard.Run(t.Context(), plainText{r}, c.code)
		if r.text() != c.out || err != nil {
			t.Errorf("%s printed %q (%v)", c.code, r.text(), err)
		}
		if x, _ := r.defined["x"].([]string); !slices.Equal(x, c.lines) || (x == nil) != (c.lines == nil) {
			t.Errorf("%s: x is %q", c.code, x)
		}
	}
	if r, err := run(t, "!x := echo one; exit 3"); err == nil || r.defined != nil {
		t.Errorf("a command that failed gives %v, %v", r.defined, err)
	}
}
