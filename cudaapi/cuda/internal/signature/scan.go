package signature

import (
	"strings"

	"gocuda/internal/cpp"
)

// token is an identifier or number, a string (with its quotes), or one
// character of punctuation ("::" is one token).
type token struct {
	text string
	line int
	// define marks the synthetic token of a "#define NAME replacement" line.
	define []string
}

// scan cuts source into tokens, without preprocessor lines (but for simple
// definitions) and parts under "#if 0".
func scan(code string) []token {
	var out []token
	s := cpp.Scanner{Src: code}
	line, at := 1, 0
	for t, ok := s.Next(); ok; t, ok = s.Next() {
		line += strings.Count(code[at:t.Start], "\n")
		at = t.Start
		switch {
		case t.IsDirective():
			n, defined := directive(code[t.Start:])
			if defined != nil {
				out = append(out, token{line: line, define: defined})
			}
			s.Pos = t.Start + n
		case t.IsRaw():
			out = append(out, token{text: `""`, line: line})
		default:
			out = append(out, token{text: t.Text, line: line})
		}
	}
	return out
}

// directive is the length of a preprocessor line, with all that "#if 0" skips,
// and the words of a simple definition.
func directive(s string) (int, []string) {
	n := cpp.LineEnd(s)
	text := strings.ReplaceAll(s[:n], "\\\n", " ")
	if i := strings.Index(text, "//"); i >= 0 {
		text = text[:i]
	}
	fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(text), "#"))
	if len(fields) >= 3 && fields[0] == "define" && !strings.Contains(fields[1], "(") {
		return n, fields[1:]
	}
	if len(fields) == 2 && fields[0] == "if" && fields[1] == "0" {
		return n + skipped(s[n:]), nil
	}
	return n, nil
}

// skipped is the length of the text under a false condition, up to the end of
// its #else, #elif or #endif line.
func skipped(s string) int {
	depth, i := 0, 0
	for i < len(s) {
		n := cpp.LineEnd(s[i:])
		text := strings.TrimSpace(s[i : i+n])
		if strings.HasPrefix(text, "#") {
			switch f := strings.Fields(strings.TrimPrefix(text, "#")); {
			case len(f) == 0:
			case strings.HasPrefix(f[0], "if"):
				depth++
			case f[0] == "endif" && depth > 0:
				depth--
			case (f[0] == "endif" || strings.HasPrefix(f[0], "el")) && depth == 0:
				return i + n
			}
		}
		i += min(n+1, len(s)-i)
	}
	return len(s)
}
