package golang

import (
	"go/token"
	"strings"
	"testing"
)

// What nests too deeply is refused before it is checked.
func TestNestedTooDeeply(t *testing.T) {
	for _, test := range []struct{ code, open, inner, closing string }{
		{"var x ", "[]", "int", ""},
		{"var x ", "*", "int", ""},
		{"var x ", "chan ", "int", ""},
		{"var x ", "map[int]", "int", ""},
		{"var x ", "map[", "int", "]int"},
		{"var x ", "G[", "int", "]"},
		{"x := ", "[]any{", "", "}"},
		{"y := ", "x[", "0", "]"},
	} {
		for n, ok := range map[int]bool{maxDepth / 2: true, 5_000: false} {
			code := test.code + strings.Repeat(test.open, n) + test.inner + strings.Repeat(test.closing, n)
			for _, code := range []string{code, "package main\nfunc main() {\n" + code + "\n}"} {
				_, errs := parse(token.NewFileSet(), "In[1]", code)
				if (len(errs) == 0) != ok {
					t.Errorf("%d of %q: %v", n, test.open, errs)
				} else if !ok && !strings.HasPrefix(errs[0].Error(), "In[1]:") {
					t.Errorf("%d of %q: %v", n, test.open, errs[0])
				}
			}
		}
	}
	// Long is not deep.
	if _, errs := parse(token.NewFileSet(), "In[1]", "x := "+strings.Repeat("a[0] + ", 5000)+"1"); len(errs) > 0 {
		t.Error(errs)
	}
}
