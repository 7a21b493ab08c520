package assist

import "testing"

func TestIsComplete(t *testing.T) {
	for _, c := range []struct{ code, status, indent string }{
		{"", "complete", ""},
		{"x := 1", "complete", ""},
		{"1+1", "complete", ""},
		{"// a comment", "complete", ""},
		{"func f(x int) int { return x }", "complete", ""},
		{"import \"fmt\"\nx := 1\nfunc f() {}\nfmt.Println(x)", "complete", ""},
		{"type T struct{}\nfunc (t T) M() {}", "complete", ""},
		{"func() { println(1) }()", "complete", ""},
		{"package main\nfunc main() {}\n", "complete", ""},
		{"for i := 0; i < 3; i++ { println(i) }", "complete", ""},
		{"if x := 1; x > 0 {\n}", "complete", ""},
		{"%who\nx := 1", "complete", ""},
		{"!ls -l |", "complete", ""},
		{"x;", "complete", ""},
		{"s := `a\nb`", "complete", ""},
		{"a :=\n\n 1", "complete", ""},

		{"func f() {", "incomplete", "\t"},
		{"func f() {\n\tif x {", "incomplete", "\t\t"},
		{"func f() {\n\tif x {\n\t}", "incomplete", "\t"},
		{"g(func() {", "incomplete", "\t"},
		{"x := []int{", "incomplete", "\t"},
		{"x := []int{\n\t1,", "incomplete", "\t"},
		{"import (", "incomplete", "\t"},
		{"f(1,", "incomplete", "\t"},
		{"x := `abc", "incomplete", ""},
		{"/* abc", "incomplete", ""},
		{"x := 1 +", "incomplete", "\t"},
		{"strings.", "incomplete", "\t"},
		{"x :=", "incomplete", "\t"},
		{"if x > 1", "incomplete", ""},
		{"if x", "incomplete", ""},
		{"for i := 0; i < 3; i++", "incomplete", ""},
		{"for", "incomplete", ""},
		{"switch x", "incomplete", ""},
		{"if x {\n} else", "incomplete", ""},
		{"func f()", "incomplete", ""},
		{"func f() int", "incomplete", ""},
		{"func", "incomplete", ""},
		{"type T", "incomplete", ""},
		{"type T struct", "incomplete", ""},
		{"var x", "incomplete", ""},
		{"import", "incomplete", ""},
		{"switch x {\ncase 1:", "incomplete", "\t"},
		{"%%cuda\n__global__ void f() {}", "incomplete", ""},
		{"%%cuda", "incomplete", ""},
		{"%%cuda\n__global__ void f() {}\n", "complete", ""},
		{"%%cuda\n__global__ void f() {}\n\n", "complete", ""},

		{"x, y", "complete", ""},
		{"x := 1\nx, f(2) // both", "complete", ""},
		{"x, y\nz", "invalid", ""},
		{")", "invalid", ""},
		{"f(]", "invalid", ""},
		{"x := \"abc", "invalid", ""},
		{"x := 'a", "invalid", ""},
		{"a b", "invalid", ""},
		{"x := = 2\ny := 1", "invalid", ""},
		{"func f()\nx := 1", "complete", ""}, // refused when it runs, by name
		{"for for", "invalid", ""},
		{"x := 1 2", "invalid", ""},
		{"if x\ny := 1", "invalid", ""},
		{"x ? y : z", "invalid", ""},
	} {
		got := IsComplete(c.code)
		if got.Status != c.status || got.Indent != c.indent {
			t.Errorf("%q: got %s %q, want %s %q", c.code, got.Status, got.Indent, c.status, c.indent)
		}
	}
}
