package magic

import (
	"fmt"
	"go/scanner"
	"go/token"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	kinds := map[kind]string{goCode: "go", line: "line", shell: "shell", inspect: "inspect", cell: "cell"}
	for name, test := range map[string]struct {
		code string
		want []string // kind, line: text
	}{
		"empty":                 {"", []string{`go 1: ""`}},
		"go":                    {"x := 1\nx", []string{`go 1: "x := 1\nx"`}},
		"magic first":           {"%cd /\nx := 1", []string{`line 1: "%cd /\n"`, `go 2: "x := 1"`}},
		"magic last":            {"x := 1\n%who", []string{`go 1: "x := 1\n"`, `line 2: "%who"`}},
		"magic between":         {"a := 1\n  %who\nb := 2", []string{`go 1: "a := 1\n"`, `line 2: "  %who\n"`, `go 3: "b := 2"`}},
		"shell text is not go":  {"!echo 'it' \"`\nx := 1", []string{"shell 1: \"!echo 'it' \\\"`\\n\"", `go 2: "x := 1"`}},
		"shell path":            {"!./a.sh", []string{`shell 1: "!./a.sh"`}},
		"continued shell":       {"!echo a \\\n b\nx", []string{`shell 1: "!echo a \\\n b\n"`, `go 3: "x"`}},
		"in a raw string":       {"s := `\n%cd /\n!ls\n`", []string{"go 1: \"s := `\\n%cd /\\n!ls\\n`\""}},
		"in a block comment":    {"/*\n%cd /\n*/\nx", []string{`go 1: "/*\n%cd /\n*/\nx"`}},
		"remainder continued":   {"x := 7 %\n  y\nz := true &&\n!ok", []string{`go 1: "x := 7 %\n  y\nz := true &&\n!ok"`}},
		"in parentheses":        {"f(\n!ok,\n)", []string{`go 1: "f(\n!ok,\n)"`}},
		"in a function":         {"func f() {\nx()\n%cd\n}\n%who", []string{`go 1: "func f() {\nx()\n%cd\n}\n"`, `line 5: "%who"`}},
		"not, with parentheses": {"!(a && b)", []string{`go 1: "!(a && b)"`}},
		"not a received value":  {"!<-done", []string{`go 1: "!<-done"`}},
		"after a comment":       {"x := 1 // %cd\n// note\n%who", []string{`go 1: "x := 1 // %cd\n// note\n"`, `line 3: "%who"`}},
		"after a semicolon":     {"x := 1;\n%who", []string{`go 1: "x := 1;\n"`, `line 2: "%who"`}},
		"not at the start":      {"x := 1; %who", []string{`go 1: "x := 1; %who"`}},
		"question":              {"x := 1\nfmt.Println?\n", []string{`go 1: "x := 1\n"`, `inspect 2: "fmt.Println?\n"`}},
		"question before":       {"?x", []string{`inspect 1: "?x"`}},
		"question of a magic":   {"%cd?", []string{`inspect 1: "%cd?"`}},
		"carriage returns":      {"%who\r\nx\r\n", []string{`line 1: "%who\r\n"`, `go 2: "x\r\n"`}},
		"cell":                  {"%%bash -e\necho `\n%cd\n", []string{`cell 1: "%%bash -e\necho ` + "`" + `\n%cd\n"`}},
		"cell below a comment":  {"\n// why\n%%sh\nls", []string{`go 1: "\n// why\n"`, `cell 3: "%%sh\nls"`}},
		"cell too late":         {"x := 1\n%%sh\nls", []string{`go 1: "x := 1\n"`, `line 2: "%%sh\n"`, `go 3: "ls"`}},
		"broken go before":      {"x := )\n%who", []string{`go 1: "x := )\n"`, `line 2: "%who"`}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range split(test.code) {
				got = append(got, fmt.Sprintf("%s %d: %q", kinds[p.kind], p.line, p.text))
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestBlankKeepsOffsets(t *testing.T) {
	code := "%cd é\nx := 1\n!ls\ny := 2"
	want := "      \nx := 1\n   \ny := 2"
	if got := Blank(code); got != want || len(got) != len(code) {
		t.Errorf("Blank(%q) = %q, want %q", code, got, want)
	}
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"", "x := 1\n%cd\n", "%%bash\nls", "!ls \\\n -l\nfmt.Println(`\n!x\n`)",
		"func f() {\n!x\n}\n?f", "/* %cd\n*/ x %\ny", "\ufeff%cd", "a\x00\n%b", "((\n%c\n))\n%d", "'%\n!a\"\n%e`"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, code string) {
		var joined strings.Builder
		at := 1
		for _, p := range split(code) {
			if p.line != at {
				t.Errorf("%q: piece %q is said to begin on line %d, not %d", code, p.text, p.line, at)
			}
			if p.kind != goCode && joined.Len() > 0 && !strings.HasSuffix(joined.String(), "\n") {
				t.Errorf("%q: magic %q does not begin a line", code, p.text)
			}
			at += strings.Count(p.text, "\n")
			joined.WriteString(p.text)
			if p.kind != goCode {
				standard.call(p) // an error, perhaps, but no panic
			}
		}
		if joined.String() != code {
			t.Errorf("%q was put together as %q", code, joined.String())
		}
		if blank := Blank(code); len(blank) != len(code) || strings.Count(blank, "\n") != strings.Count(code, "\n") {
			t.Errorf("%q: blank form %q has other offsets", code, blank)
		}
		if !mayHaveMagic(code) && len(split(code)) != 1 {
			t.Errorf("%q has no magic, but was split", code)
		}
	})
}

// mayHaveMagic says whether a line begins as a magic does, or asks a question.
func mayHaveMagic(code string) bool {
	for text := range strings.Lines(code) {
		if text = strings.TrimSpace(text); strings.HasPrefix(text, "%") || strings.HasPrefix(text, "!") || strings.Contains(text, "?") {
			return true
		}
	}
	return false
}

// FuzzGo holds split to leave alone all that Go's scanner takes without
// complaint and whose lines do not begin as a shell line would.
func FuzzGo(f *testing.F) {
	f.Add("x := `\n%a`\ny")
	f.Add("f(\n!a)")
	f.Fuzz(func(t *testing.T, code string) {
		pieces := split(code)
		for _, p := range pieces {
			if p.kind != goCode || len(pieces) == 1 {
				continue
			}
			// What stands around magics must itself be whole statements.
			if depth := brackets(p.text); depth > 0 && p.line+strings.Count(p.text, "\n") < 1+strings.Count(code, "\n") {
				t.Errorf("%q: the Go code %q is cut within brackets", code, p.text)
			}
		}
	})
}

func brackets(text string) int {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), func(token.Position, string) {}, 0)
	depth := 0
	for {
		switch _, tok, _ := s.Scan(); tok {
		case token.EOF:
			return depth
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth = max(depth-1, 0)
		}
	}
}
