package gokernel

import (
	"strings"
	"testing"
)

// Every declaration of the header has a name by which it is found, or is there
// always, or with the types that it is for; and all that share a name come together.
func TestPrelude(t *testing.T) {
	var all, text strings.Builder
	for _, p := range prelude() {
		all.WriteString(p.text + strings.Join(p.names, " ") + " ")
		if p.names == nil && len(p.needs) == 0 && strings.Contains(p.text, "(") && !strings.HasPrefix(p.text, "#") && !strings.HasPrefix(p.text, "extern") {
			t.Errorf("no name is known of\n%s", p.text)
		}
	}
	for _, line := range strings.SplitAfter(header("host", "values", "calls", "numbers", "math"), "\n") {
		if s := strings.TrimSpace(line); s != "" && !strings.HasPrefix(s, "//") {
			text.WriteString(line)
		}
	}
	lines := func(s string) int { return strings.Count(s, "\n") }
	if got := preludeOf(all.String()); lines(got) < lines(text.String()) {
		t.Errorf("with all words there are %d lines, of %d", lines(got), lines(text.String()))
	}
	for words, want := range map[string][]string{
		"min":           {"T min(T a, T b)", "f32 min(f32", "f64 min(f64", "float_min"},
		"go::c64":       {"struct complex", "c64 operator*(c64", "c128 operator/", "converter<c64, c128>", "bool is_finite"},
		"go::string":    {"struct string", "bool operator<(string", "compare(string"},
		"math_isNaN":    {"math_isNaN"},
		"go::mul":       {"struct bits_of {", "struct bits_of<T, true>"},
		"go::array":     {"struct array {", "struct array<T, 0>"},
		"go::conv<i64>": {"GO_FROM_FLOAT(f32)", "to_u64"},
	} {
		got := preludeOf(words)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("what uses %s lacks %s", words, w)
			}
		}
		if strings.Contains(got, "math_signbit") {
			t.Errorf("what uses %s has all", words)
		}
	}
}
