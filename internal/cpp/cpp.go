// Package cpp cuts C++ into tokens, for readers that look for kernels and leave
// the rest to the compiler.
package cpp

import "strings"

// Token is a name, a number, a string or character with its quotes, a line of
// the preprocessor, "::", or one character of punctuation.
type Token struct {
	Text       string
	Start, End int // in bytes
}

// IsDirective says whether a token is a line of the preprocessor.
func (t Token) IsDirective() bool { return t.Text[0] == '#' && t.End-t.Start > 1 }

// IsRaw says whether a token is a raw string.
func (t Token) IsRaw() bool { return strings.HasPrefix(t.Text, `R"`) }

// Scanner reads tokens. Space, comments and continued line ends are passed over.
type Scanner struct {
	Src string
	Pos int // where the next token is looked for

	midLine bool // the line has had a token
}

// Tokens are all tokens of src.
func Tokens(src string) (list []Token) {
	s := Scanner{Src: src}
	for t, ok := s.Next(); ok; t, ok = s.Next() {
		list = append(list, t)
	}
	return list
}

// Next reads a token; ok is false at the end.
func (s *Scanner) Next() (t Token, ok bool) {
	for s.Pos < len(s.Src) {
		rest := s.Src[s.Pos:]
		switch c := rest[0]; {
		case c == '\n':
			s.midLine = false
			s.Pos++
		case strings.IndexByte(" \t\r\f\v", c) >= 0:
			s.Pos++
		case strings.HasPrefix(rest, "\\\n"):
			s.Pos += 2
		case strings.HasPrefix(rest, "//"):
			s.Pos += LineEnd(rest)
		case strings.HasPrefix(rest, "/*"):
			if n := strings.Index(rest[2:], "*/"); n >= 0 {
				s.Pos += n + 4
			} else {
				s.Pos = len(s.Src)
			}
		default:
			n := s.length(rest)
			s.midLine = true
			t = Token{rest[:n], s.Pos, s.Pos + n}
			s.Pos += n
			return t, true
		}
	}
	return t, false
}

// length is that of the token that rest begins with.
func (s *Scanner) length(rest string) int {
	c := rest[0]
	switch {
	case c == '#' && !s.midLine:
		return LineEnd(rest)
	case IsName(c):
		n := 1
		for n < len(rest) && (IsName(rest[n]) || isDigit(rest[n])) {
			n++
		}
		if n < len(rest) && rest[n] == '"' && n <= 3 && rest[n-1] == 'R' {
			return n + raw(rest[n:])
		}
		return n
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		n := 1
		for n < len(rest) && (IsName(rest[n]) || isDigit(rest[n]) || rest[n] == '.' || rest[n] == '\'') {
			n++
		}
		return n
	case c == '"' || c == '\'':
		return quoted(rest)
	case strings.HasPrefix(rest, "::"):
		return 2
	}
	return 1
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// IsName says whether a name may begin with c.
func IsName(c byte) bool {
	return c == '_' || c == '$' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// LineEnd is the length of s up to its line's end, past continued lines.
func LineEnd(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' && (i == 0 || s[i-1] != '\\') {
			return i
		}
	}
	return len(s)
}

// quoted is the length of a string or character.
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

// raw is the length of a raw string from its opening quote on.
func raw(s string) int {
	open := strings.IndexByte(s, '(')
	if open < 0 {
		return len(s)
	}
	end := ")" + s[1:open] + `"`
	if n := strings.Index(s[open:], end); n >= 0 {
		return open + n + len(end)
	}
	return len(s)
}

// IsWord says whether c may be of a name or a number.
func IsWord(c byte) bool { return IsName(c) || isDigit(c) }
