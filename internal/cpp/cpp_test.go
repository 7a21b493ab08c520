package cpp

import (
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	for src, want := range map[string]string{
		"a::b<1'000>(x)":             "a :: b < 1'000 > ( x )",
		"f(1.5e-3f, .5, 0x1Fu)":      "f ( 1.5e - 3f , .5 , 0x1Fu )",
		"a/* b\n */c // d \\\n e\nf": "a c f",
		" # define A \\\n b\nA":      "# define A \\\n b|A",
		"x = #y":                     "x = # y",
		`"a\"b" 'c' '\''`:            `"a\"b" 'c' '\''`,
		"R\"x(a)\" b)x\" c":          "R\"x(a)\" b)x\"|c",
		"u8\"a\" L'b'":               "u8 \"a\" L 'b'",
		"größe $x":                   "größe $x",
		"'open\nb":                   "'open b",
		"/* open":                    "",
		"R\"(open":                   "R\"(open",
	} {
		var got []string
		for _, token := range Tokens(src) {
			if src[token.Start:token.End] != token.Text {
				t.Errorf("%q: %q is not at %d", src, token.Text, token.Start)
			}
			got = append(got, token.Text)
		}
		sep := " "
		if strings.Contains(want, "|") {
			sep = "|"
		}
		if text := strings.Join(got, sep); text != want {
			t.Errorf("%q: %q, want %q", src, text, want)
		}
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("a R\"(\n#if 0\n'")
	f.Fuzz(func(t *testing.T, src string) {
		at := 0
		for _, token := range Tokens(src) {
			if token.Start < at || token.End <= token.Start || src[token.Start:token.End] != token.Text {
				t.Fatalf("token %+v after %d", token, at)
			}
			_ = token.IsDirective() // must not panic
			at = token.End
		}
	})
}
