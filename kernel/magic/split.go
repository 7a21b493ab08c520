package magic

import (
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

type kind int

const (
	goCode  kind = iota
	line         // %name args
	shell        // !command
	inspect      // name? or ?name
	cell         // %%name args, and the rest of the cell
)

// piece is a run of whole lines of a cell. The pieces of a cell, put together,
// are the cell.
type piece struct {
	kind kind
	text string
	line int // the first, from 1
}

// inspected matches a line that asks what a name means: Go has no question mark.
var inspected = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ \t]*(?:\?{1,2}[ \t]*(%{0,2}[\pL_][\pL\pN_.]*)|(%{0,2}[\pL_][\pL\pN_.]*)[ \t]*\?{1,2})[ \t]*$`)
})

// split cuts a cell into Go code and magics. A scanner for Go, which never sees
// the text of a magic, tells where a statement at the top level begins.
func split(code string) []piece {
	if start := cellMagic(code); start >= 0 {
		head, rest := code[:start], code[start:]
		pieces := []piece{}
		if head != "" {
			pieces = append(pieces, piece{goCode, head, 1})
		}
		return append(pieces, piece{cell, rest, 1 + strings.Count(head, "\n")})
	}
	var pieces []piece
	begin := 0 // of the Go code that is not yet in pieces
	add := func(k kind, from, to int) {
		if from < to {
			pieces = append(pieces, piece{k, code[from:to], 1 + strings.Count(code[:from], "\n")})
		}
	}
	for begin < len(code) {
		start, end, k := nextMagic(code, begin)
		if start < 0 {
			break
		}
		add(goCode, begin, start)
		add(k, start, end)
		begin = end
	}
	add(goCode, begin, len(code))
	if len(pieces) == 0 {
		pieces = []piece{{goCode, code, 1}}
	}
	return pieces
}

// cellMagic finds %% at the first line that is neither blank nor a comment.
func cellMagic(code string) int {
	at := 0
	for at < len(code) {
		end := lineEnd(code, at)
		text := strings.TrimSpace(code[at:end])
		if strings.HasPrefix(text, "%%") {
			return at
		}
		if text != "" && !strings.HasPrefix(text, "//") {
			return -1
		}
		at = end
	}
	return -1
}

// lineEnd is the offset after the line that holds at.
func lineEnd(code string, at int) int {
	if i := strings.IndexByte(code[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(code)
}

// nextMagic finds the first line from offset from on that is a magic, and its
// extent; start is negative if there is none. A statement begins at from.
func nextMagic(code string, from int) (start, end int, k kind) {
	src := []byte(code[from:])
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, func(token.Position, string) {}, scanner.ScanComments)
	depth := 0
	atStatement := true
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return -1, -1, 0
		}
		at := from + file.Offset(pos)
		if atStatement && depth == 0 && !(tok == token.SEMICOLON && lit == "\n") {
			start := strings.LastIndexByte(code[:at], '\n') + 1
			if start >= from && strings.TrimLeft(code[start:at], " \t\r") == "" {
				if k := magicAt(code[start:lineEnd(code, at)]); k != goCode {
					return start, magicEnd(code, start, k), k
				}
			}
		}
		switch tok {
		case token.COMMENT:
			continue
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth = max(depth-1, 0)
		}
		atStatement = tok == token.SEMICOLON
	}
}

// magicAt says what a line is, where a statement may begin.
func magicAt(text string) kind {
	text = strings.TrimRight(text, "\r\n")
	if strings.Contains(text, "?") && inspected().MatchString(text) {
		return inspect
	}
	text = strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(text, "%"):
		return line
	case strings.HasPrefix(text, "!") && isCommand(text[1:]):
		return shell
	}
	return goCode
}

// isCommand says whether what follows a ! is for the shell. Go's own ! before a
// parenthesis, another operator or nothing stays Go.
func isCommand(text string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, " \t"))
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(`_./~$"'\`, r)
}

// magicEnd is the end of a magic's lines: a backslash at the end of one
// continues it.
func magicEnd(code string, start int, k kind) int {
	end := lineEnd(code, start)
	for k != inspect && end < len(code) && strings.HasSuffix(strings.TrimRight(code[start:end], "\r\n"), `\`) {
		end = lineEnd(code, end)
	}
	return end
}

// isBlank says whether Go code has no token but comments.
func isBlank(text string) bool {
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), func(token.Position, string) {}, 0)
	_, tok, _ := s.Scan()
	return tok == token.EOF
}

// Blank returns the Go code of a cell with spaces in place of every magic, so
// that each byte of Go keeps its offset, for those who read code without
// running it.
func Blank(code string) string {
	var out strings.Builder
	for _, p := range split(code) {
		if p.kind == goCode {
			out.WriteString(p.text)
			continue
		}
		for _, b := range []byte(p.text) {
			if b != '\n' && b != '\r' {
				b = ' '
			}
			out.WriteByte(b)
		}
	}
	return out.String()
}

// GoMagics are the cell magics that have Go below them.
var GoMagics = []string{"%%time", "%%timeit", "%%mpi", "%%kernel", "%%compile", "%%timeline", "%%check"}

// CUDA is the CUDA C++ of a cell, "" if it has none.
func CUDA(code string) string {
	line, rest, _ := strings.Cut(strings.TrimLeft(code, " \t\r\n"), "\n")
	name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch {
	case name == "%%cuda":
		return rest
	case slices.Contains(GoMagics, name):
		return CUDA(rest)
	}
	return ""
}

// AllGo is Blank, but with the Go below a magic that has Go there.
func AllGo(code string) string {
	head := strings.TrimLeft(code, " \t\r\n")
	line, rest, _ := strings.Cut(head, "\n")
	if name, _, _ := strings.Cut(strings.TrimSpace(line), " "); !slices.Contains(GoMagics, name) {
		return Blank(code)
	}
	return code[:len(code)-len(head)] + strings.Repeat(" ", len(line)) + head[len(line):len(head)-len(rest)] + AllGo(rest)
}
