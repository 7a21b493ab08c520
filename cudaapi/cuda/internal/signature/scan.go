package signature

import (
	"strings"
	"unicode"
)

// token is an identifier or number, a string (with its quotes), or one
// character of punctuation ("::" is one token).
type token struct {
	text string
	line int
	// define marks the synthetic token of a "#define NAME replacement" line.
	define []string
}

// scan cuts source into tokens, without comments, preprocessor lines (but for
// simple definitions) and parts under "#if 0".
func scan(code string) []token {
	var out []token
	line, lineStart := 1, true
	for i := 0; i < len(code); {
		c := code[i]
		rest := code[i:]
		switch {
		case c == '\n':
			line++
			lineStart = true
			i++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			i++
		case strings.HasPrefix(rest, "\\\n"):
			line++
			i += 2
		case strings.HasPrefix(rest, "//"):
			i += lineEnd(rest)
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return out
			}
			line += strings.Count(rest[:n+4], "\n")
			i += n + 4
		case c == '#' && lineStart:
			n, defined := directive(rest)
			if defined != nil {
				out = append(out, token{line: line, define: defined})
			}
			line += strings.Count(rest[:n], "\n")
			i += n
		case strings.HasPrefix(rest, `R"`):
			n := rawString(rest)
			out = append(out, token{text: `""`, line: line})
			line += strings.Count(rest[:n], "\n")
			i += n
			lineStart = false
		case c == '"' || c == '\'':
			n := quoted(rest)
			out = append(out, token{text: rest[:n], line: line})
			line += strings.Count(rest[:n], "\n")
			i += n
			lineStart = false
		case word(rune(c)):
			n := 1
			for n < len(rest) && (word(rune(rest[n])) || rest[n] == '\'' && c >= '0' && c <= '9' && n+1 < len(rest) && word(rune(rest[n+1]))) {
				n++
			}
			out = append(out, token{text: rest[:n], line: line})
			i += n
			lineStart = false
		case strings.HasPrefix(rest, "::"):
			out = append(out, token{text: "::", line: line})
			i += 2
			lineStart = false
		default:
			out = append(out, token{text: rest[:1], line: line})
			i++
			lineStart = false
		}
	}
	return out
}

func word(r rune) bool {
	return r == '_' || r == '$' || r >= 0x80 || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// lineEnd is the length of s up to its line's end, past continued lines.
func lineEnd(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' && (i == 0 || s[i-1] != '\\') {
			return i
		}
	}
	return len(s)
}

// directive is the length of a preprocessor line, with all that "#if 0" skips,
// and the words of a simple definition.
func directive(s string) (int, []string) {
	n := lineEnd(s)
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
		n := lineEnd(s[i:])
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

// quoted is the length of a string or character literal.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		case '\n':
			return i
		}
	}
	return len(s)
}

// rawString is the length of a raw string literal.
func rawString(s string) int {
	open := strings.IndexByte(s, '(')
	if open < 0 {
		return len(s)
	}
	end := ")" + s[2:open] + `"`
	n := strings.Index(s[open:], end)
	if n < 0 {
		return len(s)
	}
	return open + n + len(end)
}
