package assist

import (
	"fmt"
	"strings"
	"testing"
)

// TestCallAt marks the cursor by a bar; the parameter at it is in brackets.
func TestCallAt(t *testing.T) {
	s := newSession(t)
	for code, want := range map[string]string{
		"distance(|":                   "distance([from Point], to Point) (d float64, err error)",
		"distance(here, |)":            "distance(from Point, [to Point]) (d float64, err error)",
		"distance(here, Point{1, 2}|)": "distance(from Point, [to Point]) (d float64, err error)",
		"distance(here, Point{1, |":    "",
		"distance((here), (|":          "distance(from Point, [to Point]) (d float64, err error)",
		"strings.Repeat(\"a,b\", |":    "Repeat(s string, [count int]) string",
		"fmt.Println(1, 2, |":          "Println([a ...any]) (n int, err error)",
		"func add[T any](a, b T) T { return a }\nadd[int](1, |": "add(a T, [b T]) T",
		"f := func(n int) {}\nf(|":                              "f([n int])",
		"here.Len(|":                                            "Len() float64",
		"%%time\ndistance(here, |":                              "distance(from Point, [to Point]) (d float64, err error)",
		"func g(|":                                              "",
		"if (|":                                                 "",
		"func (p Point) g(|":                                    "",
		"float64(|":                                             "",
		"unknown(|":                                             "",
		"x := 1|":                                               "",
		"%%bash\ndistance(|":                                    "",
	} {
		cursor := strings.Index(code, "|")
		c := CallAt(s, strings.Replace(code, "|", "", 1), cursor)
		got := ""
		if c != nil {
			got = c.Signature
			if c.Active < len(c.Params) {
				got = strings.Replace(got, c.Params[c.Active], fmt.Sprintf("[%s]", c.Params[c.Active]), 1)
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", code, got, want)
		}
	}
	if c := CallAt(s, "distance(", 9); !strings.Contains(c.Doc, "measures") {
		t.Errorf("the documentation is %q", c.Doc)
	}
}

func TestFormat(t *testing.T) {
	for code, want := range map[string]string{
		"x:=1":                    "x := 1",
		"\n x  := f( 1,2 )\n\n\n": "\nx := f(1, 2)\n\n\n",
		"if x{\nf()\n}\n":         "if x {\n\tf()\n}\n",
		"import \"fmt\"\nx:=1\n\n// f is\n// it.\nfunc f(){\nreturn}\nf()": "import \"fmt\"\nx := 1\n\n// f is\n// it.\nfunc f() {\n\treturn\n}\nf()",
		"%time x:=1\ny:=2":        "%time x:=1\ny := 2",
		"%%mpi\nx:=rank+1 // one": "%%mpi\nx := rank + 1 // one",
		"%%bash\nx=1":             "%%bash\nx=1",
		"%%cuda\nint  x;":         "%%cuda\nint  x;",
		"x:=1; func f(){}":        "x:=1; func f(){}",
		"x := = 1":                "x := = 1",
		"":                        "",
		"// only a comment":       "// only a comment",
		"type T struct{\na int\nbcd string\n}\nvar t T": "type T struct {\n\ta   int\n\tbcd string\n}\n\nvar t T",
	} {
		got := Format(code)
		if got != want {
			t.Errorf("%q: got\n%q, want\n%q", code, got, want)
		}
		if again := Format(got); again != got {
			t.Errorf("%q: formatted again it is\n%q", got, again)
		}
	}
}
