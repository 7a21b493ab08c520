package assist

import (
	"go/scanner"
	"go/token"
	"strings"
)

// lexeme is a token of a cell, in bytes from its start.
type lexeme struct {
	tok        token.Token
	start, end int
	lit        string
	open       bool // a string, rune or comment that does not end
}

// lex splits code, which may be broken, into tokens, comments among them.
func lex(code string) []lexeme {
	src := []byte(code)
	file := token.NewFileSet().AddFile("", -1, len(src))
	unterminated := false
	var s scanner.Scanner
	s.Init(file, src, func(_ token.Position, msg string) {
		unterminated = unterminated || strings.Contains(msg, "not terminated")
	}, scanner.ScanComments)
	var list []lexeme
	for {
		unterminated = false
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return list
		}
		start := file.Offset(pos)
		end := start + len(lit)
		switch {
		case tok == token.SEMICOLON && lit == "\n":
			end = start
		case lit == "":
			end = start + len(tok.String())
		case tok == token.COMMENT || tok == token.STRING:
			// The scanner drops carriage returns from these.
			end = min(end+strings.Count(code[start:], "\r"), len(code))
			if i := strings.LastIndex(code[start:end], lit[len(lit)-1:]); !unterminated && i >= 0 && strings.Contains(code[start:end], "\r") {
				end = start + i + 1
			}
		}
		list = append(list, lexeme{tok, start, min(end, len(code)), lit, unterminated})
	}
}

// openBrackets returns the brackets that the tokens open and do not close,
// outermost first; ok is false if one closes what was not opened.
func openBrackets(tokens []lexeme) (open []lexeme, ok bool) {
	ok = true
	for _, t := range tokens {
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			open = append(open, t)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(open) == 0 || closer[open[len(open)-1].tok] != t.tok.String() {
				ok = false
				continue
			}
			open = open[:len(open)-1]
		}
	}
	return open, ok
}

var closer = map[token.Token]string{token.LPAREN: ")", token.LBRACK: "]", token.LBRACE: "}"}

// kindOfChunk says how a piece of a cell at the top level is to be read.
type kindOfChunk int

const (
	statement kindOfChunk = iota
	imported              // import ...
	declared              // func, type, var, const
	defined               // x := ...
	clause                // package ...
)

// chunk is one declaration or statement at the top level of a cell.
type chunk struct {
	kind       kindOfChunk
	start, end int
	tokens     []lexeme // without comments
}

// chunks cuts a cell at the semicolons, written or implied, outside brackets.
func chunks(tokens []lexeme) []chunk {
	var list []chunk
	var now []lexeme
	depth := 0
	flush := func() {
		if len(now) > 0 {
			list = append(list, chunk{classify(now), now[0].start, now[len(now)-1].end, now})
		}
		now = nil
	}
	for _, t := range tokens {
		switch t.tok {
		case token.COMMENT:
			continue
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth = max(depth-1, 0)
		case token.SEMICOLON:
			if depth == 0 && !inHeader(now, t) {
				flush()
				continue
			}
		}
		now = append(now, t)
	}
	flush()
	return list
}

// inHeader says whether a semicolon belongs to the header of a for, if or
// switch statement, whose body is still to come.
func inHeader(now []lexeme, semicolon lexeme) bool {
	if len(now) == 0 || semicolon.lit == "\n" {
		return false
	}
	switch now[0].tok {
	case token.FOR, token.IF, token.SWITCH:
		return now[len(now)-1].tok != token.RBRACE
	}
	return false
}

func classify(tokens []lexeme) kindOfChunk {
	switch tokens[0].tok {
	case token.PACKAGE:
		return clause
	case token.IMPORT:
		return imported
	case token.TYPE, token.VAR, token.CONST:
		return declared
	case token.FUNC:
		if isFuncDecl(tokens) {
			return declared
		}
	case token.IDENT:
		for i := 1; i < len(tokens); i += 2 {
			switch {
			case tokens[i].tok == token.DEFINE:
				return defined
			case tokens[i].tok != token.COMMA, i+1 >= len(tokens), tokens[i+1].tok != token.IDENT:
				return statement
			}
		}
	}
	return statement
}

// isFuncDecl tells func f(...) and func (r T) f(...) from a function literal
// that is called.
func isFuncDecl(tokens []lexeme) bool {
	if len(tokens) < 2 || tokens[1].tok == token.IDENT {
		return true
	}
	depth := 0
	for i := 1; i < len(tokens); i++ {
		switch tokens[i].tok {
		case token.LPAREN:
			depth++
		case token.RPAREN:
			depth--
		}
		if depth == 0 {
			rest := tokens[i+1:]
			if len(rest) == 0 || rest[0].tok != token.IDENT {
				return false
			}
			return len(rest) == 1 || rest[1].tok == token.LPAREN || rest[1].tok == token.LBRACK
		}
	}
	return true
}
