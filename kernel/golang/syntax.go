package golang

import (
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
)

// The words of go/parser and go/types that differ from those of the go command.

var expects = regexp.MustCompile(`^expected (.+?), found (.+)$`)

// goSyntax says what is wrong with syntax as the go command does. code is what was
// parsed, and offset where the mistake is.
func goSyntax(msg, code string, offset int) string {
	switch msg {
	case "illegal rune literal":
		if strings.HasPrefix(code[min(offset, len(code)):], "''") {
			return "empty rune literal or unescaped '"
		}
		return "more than one character in rune literal"
	case "missing ',' before newline in composite literal":
		return "unexpected newline in composite literal; possibly missing comma or }"
	case "missing ',' before newline in argument list":
		return "unexpected newline in argument list; possibly missing comma or )"
	}
	m := expects.FindStringSubmatch(msg)
	if m == nil {
		return msg
	}
	if m[2] == "assignment (missing parentheses around composite literal?)" {
		return "cannot use assignment as value (did you mean ==?)"
	}
	found := foundToken(m[2])
	switch m[1] {
	case "';'":
		return "unexpected " + found + " at end of statement"
	case "operand":
		return "unexpected " + found + ", expected expression"
	case "statement", "declaration":
		return "unexpected " + found
	case "'IDENT'":
		return "unexpected " + found + ", expected name"
	}
	if strings.Contains(m[1], " expression") { // a number of them
		return msg
	}
	return "unexpected " + found + ", expected " + strings.Trim(m[1], "'")
}

// foundToken names a token as the go command does.
func foundToken(text string) string {
	bare := strings.Trim(text, "'")
	switch {
	case bare == ";":
		return "semicolon"
	case bare == ",":
		return "comma"
	case text != bare && token.Lookup(bare).IsKeyword():
		return "keyword " + bare
	case text != bare || text == "newline":
		return bare
	case text == "the end of the cell":
		return "end of the cell"
	case token.IsIdentifier(text):
		return "name " + text
	}
	return "literal " + text
}

// unopened is the first bracket of a cell that closes none.
func unopened(code string) (closing lexeme, ok bool) {
	depth := 0
	for _, t := range scan(code) {
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if depth--; depth < 0 {
				return t, true
			}
		}
	}
	return lexeme{}, false
}

// stray is the error of a closing bracket that closes nothing, if the cell has one
// before or at what the parser complains of.
func stray(list scanner.ErrorList, name, code string) scanner.ErrorList {
	t, ok := unopened(code)
	if !ok {
		return nil
	}
	line, column := position(code, t.offset)
	if len(list) > 0 && list[0].Pos.Line < line {
		return nil
	}
	return scanner.ErrorList{{Pos: token.Position{Filename: name, Line: line, Column: column}, Msg: "syntax error: unexpected " + t.tok.String()}}
}

// goWords are the words of the go command for what go/types says.
var goWords = []struct {
	is    *regexp.Regexp
	words string
}{
	{regexp.MustCompile(`^break not in for, switch, or select statement$`), "break is not in a loop, switch, or select"},
	{regexp.MustCompile(`^continue not in for statement$`), "continue is not in a loop"},
	{regexp.MustCompile(`^label (\S+) not declared$`), "label $1 not defined"},
	{regexp.MustCompile(`^use of package (\S+) not in selector$`), "use of package $1 without selector"},
	{regexp.MustCompile(`\((func\(.*) literal\)`), "$1 {…}"},
}

func inGoWords(text string) string {
	for _, w := range goWords {
		if w.is.MatchString(text) {
			return w.is.ReplaceAllString(text, w.words)
		}
	}
	return text
}
