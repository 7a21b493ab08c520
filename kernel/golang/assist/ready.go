package assist

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"gocuda/kernel/magic"
)

// IsComplete says whether a cell is ready to run or wants more lines.
func IsComplete(code string) Completeness {
	if strings.HasPrefix(strings.TrimLeft(code, " \t\r\n"), "%%") {
		// Only an empty line can tell that the text below a magic has ended.
		if lines := strings.Split(strings.TrimRight(code, " \t\r"), "\n"); len(lines) > 2 && strings.TrimSpace(lines[len(lines)-1]) == "" {
			return Completeness{Status: "complete"}
		}
		return Completeness{Status: "incomplete"}
	}
	code = magic.Blank(code)
	tokens := lex(code)
	for _, t := range tokens {
		switch {
		case t.open && (t.tok == token.COMMENT || code[t.start] == '`'):
			return Completeness{Status: "incomplete"}
		case t.open || t.tok == token.ILLEGAL:
			return Completeness{Status: "invalid"}
		}
	}
	open, ok := openBrackets(tokens)
	if !ok {
		return Completeness{Status: "invalid"}
	}
	list := chunks(tokens)
	for i, c := range list {
		last := i == len(list)-1
		switch parseChunk(code, c, last) {
		case broken:
			return Completeness{Status: "invalid"}
		case unfinished:
			if !last {
				return Completeness{Status: "invalid"}
			}
			return Completeness{Status: "incomplete", Indent: indent(code, open, c)}
		}
	}
	return Completeness{Status: "complete"}
}

type verdict int

const (
	fine verdict = iota
	unfinished
	broken
)

// parseChunk says whether one declaration or statement is well formed, could
// be after more text, or cannot be.
func parseChunk(code string, c chunk, last bool) verdict {
	text := code[c.start:c.end]
	head, tail := "package p\n", "\n"
	switch c.kind {
	case statement, defined:
		head, tail = head+"func _() {\n", "\n}\n"
	case clause:
		head = ""
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", head+text+tail, parser.AllErrors|parser.SkipObjectResolution)
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		if last && lacksBody(f) {
			return unfinished
		}
		return fine
	}
	if last && c.kind == statement {
		if _, err := parser.ParseExpr("[]any{" + text + "}"); err == nil {
			return fine // a list of values to show
		}
	}
	for _, e := range list {
		if e.Pos.Offset < len(head)+len(text) {
			return broken
		}
	}
	return unfinished
}

// lacksBody finds func f() without a body: Go takes it to be written in
// another language, which no cell can be.
func lacksBody(f *ast.File) bool {
	if f == nil || len(f.Decls) == 0 {
		return false
	}
	d, ok := f.Decls[len(f.Decls)-1].(*ast.FuncDecl)
	return ok && d.Body == nil
}

// indent is a tab for each line that opens a bracket, and one more in the
// middle of an expression.
func indent(code string, open []lexeme, c chunk) string {
	tabs, line := 0, -1
	for _, b := range open {
		if at := strings.LastIndexByte(code[:b.start], '\n'); tabs == 0 || at != line {
			tabs, line = tabs+1, at
		}
	}
	last := c.tokens[len(c.tokens)-1]
	if last.tok.IsOperator() && last.tok != token.SEMICOLON && last.tok != token.COMMA && closer[last.tok] == "" {
		switch last.tok {
		case token.RPAREN, token.RBRACK, token.RBRACE, token.COLON, token.INC, token.DEC:
		default:
			tabs++
		}
	}
	return strings.Repeat("\t", tabs)
}
