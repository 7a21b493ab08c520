package golang

import (
	"strings"
	"testing"
)

// An instantiation cycle that the checker does not find is an error all the same.
func TestInstantiationCycles(t *testing.T) {
	for name, cells := range map[string][]string{
		"a pointer":       {"type G[T any] struct{ p *G[G[T]] }\ng := G[int]{}\ng"},
		"a slice":         {"type G[T any] []G[*T]\nvar g G[int]\ng"},
		"mutual":          {"type A[T any] struct{ b *B[[]T] }\ntype B[T any] struct{ a *A[T] }\nvar a A[int]\na"},
		"a func field":    {"type G[T any] struct{ f func(G[[]T]) }\nvar g G[int]\ng"},
		"an interface":    {"type G[T any] interface{ m() G[[]T] }\nvar g G[int]\ng"},
		"twice as large":  {"type P[A, B any] struct{ a A; b B }\ntype G[T any] struct{ p *G[P[T, T]] }\nvar g G[int]\ng"},
		"unused variable": {"func f() {\n\ttype G[T any] struct{ p *G[[]T] }\n\tvar g G[int]\n\tvar unused int\n\tfmt.Println(g)\n}\nf()"},
		"a later method":  {"type G[T any] struct{ v T }\nvar g G[int]", "func (g G[T]) More() G[[]T] { return G[[]T]{} }", "g.More()"},
		"functions":       {"func f[T any](n int, x T) {}", "func g[T any](n int, x T) { f(n, []T{x}) }", "func f[T any](n int, x T) { g(n, x) }", "g(1, 2)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			s.run("kept := 1")
			got := ""
			for _, cell := range cells {
				got = s.run(cell)
			}
			if !strings.HasPrefix(got, "CompileError: ") || !strings.Contains(got, "instantiation cycle") {
				t.Errorf("%s", got)
			}
			if got := strings.TrimSpace(s.run("kept")); got != "=> 1" {
				t.Errorf("then %s", got)
			}
		})
	}
}

func TestZerosAndLabels(t *testing.T) {
	for _, sc := range []scenario{
		{"division of floats by a constant zero", []string{
			"func f(x float64, y float32, c complex128) { const z = 0.0; fmt.Println(x/0.0, -x/0, x/z, y/0, c/0); x /= 0; y /= z; c /= 0; fmt.Println(x, y, c) }\nf(1, -1, 2)",
			"+Inf -Inf +Inf -Inf (+Inf+NaNi)\n+Inf -Inf (+Inf+NaNi)",
			"n := 1\nn / 0", "CompileError: In[2]:2:5: invalid operation: division by zero",
		}},
		{"labels that have an empty statement", []string{
			"func f() (n int) {\na: ; b: ; c:\n\tn++\n\tswitch n {\n\tcase 1: goto a\n\tcase 2: goto b\n\tcase 3: goto c\n\tcase 4: goto d\n\t}\n\treturn -1\nd: ; e: ;\n\tif n < 7 { n++; goto e }\n\treturn n\n}\nf()", "=> 7",
			"func g(n int) { if n > 0 { goto end }; fmt.Println(n); end: ; last: ; if n < 0 { goto last } }\ng(0)\ng(1)", "0",
		}},
	} {
		t.Run(sc.name, sc.test)
	}
}
