package golang

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// item is a run of a cell's source at its outer level: an import, another
// declaration, or statements.
type item struct {
	kind  itemKind
	start int // byte offsets
	end   int
}

type itemKind int

const (
	importItem itemKind = iota
	declItem
	stmtItem
)

// source is a cell that was parsed: one file whose statements are the bodies
// of functions.
type source struct {
	file    *ast.File
	imports []*ast.GenDecl
	steps   []ast.Node // *ast.GenDecl, *ast.FuncDecl and ast.Stmt, in the cell's order
	program bool       // the cell has a package clause
	shows   bool       // the last statement is an expression without a semicolon
	several bool       // it was a list of expressions, and is a slice of any now
}

// lexeme is a token of a cell.
type lexeme struct {
	tok    token.Token
	lit    string
	offset int
	end    int
}

// scan reads the tokens of a cell. Errors are left to the parser.
func scan(code string) []lexeme {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(code))
	var s scanner.Scanner
	s.Init(file, []byte(code), func(token.Position, string) {}, 0)
	var list []lexeme
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return list
		}
		off := file.Offset(pos)
		end := off + len(lit)
		if lit == "" {
			end = off + len(tok.String())
		}
		switch {
		case tok == token.SEMICOLON && lit == "\n":
			end = off
		case tok == token.STRING && lit[0] == '`': // lit lacks the carriage returns
			end = off + 1
			if i := strings.IndexByte(code[end:], '`'); i >= 0 {
				end += i + 1
			}
		}
		list = append(list, lexeme{tok, lit, off, min(end, len(code))})
	}
}

// split divides a cell into items.
func split(code string, toks []lexeme) []item {
	var items []item
	for i := 0; i < len(toks); {
		if toks[i].tok == token.SEMICOLON {
			i++
			continue
		}
		kind := kindOf(toks[i:])
		start := toks[i].offset
		depth := 0
		j := i
		for ; j < len(toks); j++ {
			switch toks[j].tok {
			case token.LPAREN, token.LBRACK, token.LBRACE:
				depth++
			case token.RPAREN, token.RBRACK, token.RBRACE:
				depth--
			}
			if toks[j].tok == token.SEMICOLON && depth <= 0 {
				break
			}
		}
		end := len(code)
		if j < len(toks) {
			end = toks[j].offset
		}
		if kind == stmtItem && len(items) > 0 && items[len(items)-1].kind == stmtItem {
			items[len(items)-1].end = end
		} else {
			items = append(items, item{kind, start, end})
		}
		i = j + 1
	}
	return items
}

// kindOf says what begins with these tokens.
func kindOf(toks []lexeme) itemKind {
	switch toks[0].tok {
	case token.IMPORT:
		return importItem
	case token.TYPE, token.CONST, token.VAR:
		return declItem
	case token.FUNC:
		if len(toks) > 1 && toks[1].tok == token.IDENT {
			return declItem
		}
		// func (r T) name( is a method; func (x int) int { is a literal.
		depth := 0
		for i := 1; i < len(toks); i++ {
			switch toks[i].tok {
			case token.LPAREN:
				depth++
			case token.RPAREN:
				if depth--; depth == 0 {
					if i+2 < len(toks) && toks[i+1].tok == token.IDENT && (toks[i+2].tok == token.LPAREN || toks[i+2].tok == token.LBRACK) {
						return declItem
					}
					return stmtItem
				}
			}
		}
	}
	return stmtItem
}

// position is where an offset lies: line and column from 1.
func position(code string, offset int) (line, column int) {
	before := code[:offset]
	line = strings.Count(before, "\n") + 1
	return line, offset - strings.LastIndexByte(before, '\n')
}

const stmtFunc = "statementsᐧ"

// parse reads a cell. Positions in the file set are those of the cell.
func parse(fset *token.FileSet, name, code string) (*source, scanner.ErrorList) {
	toks := scan(code)
	if len(toks) > 0 && toks[0].tok == token.PACKAGE {
		return parseProgram(fset, name, code)
	}
	if strings.Contains(code, "/*") {
		if offset, ok := openComment(code); ok { // behind the last statement, no parser sees it
			line, column := position(code, offset)
			return nil, scanner.ErrorList{{Pos: token.Position{Filename: name, Line: line, Column: column}, Msg: "syntax error: comment not terminated"}}
		}
	}
	items := split(code, toks)
	list, end, several := lastList(toks)
	var text strings.Builder
	text.WriteString("package main\n")
	write := func(it item, open, closing string) {
		if several && it.start <= list && list < it.end { // only the last item
			line, col := position(code, it.start)
			fmt.Fprintf(&text, "%s/*line %s:%d:%d*/%s", open, name, line, col, code[it.start:list])
			it.start, it.end, open, closing = list, end, "[]interface{}{", "}"+closing
		}
		line, col := position(code, it.start)
		fmt.Fprintf(&text, "%s/*line %s:%d:%d*/%s%s", open, name, line, col, code[it.start:it.end], closing)
	}
	for _, it := range items {
		if it.kind == importItem {
			write(it, "", "\n")
		}
	}
	n := 0
	embeds, behind := hasEmbed(code), 0
	for _, it := range items {
		if embeds && it.start >= behind { // a comment, which belongs to no item
			text.WriteString(embedsBetween(name, code, behind, it.start))
			behind = it.end
		}
		switch it.kind {
		case declItem:
			write(it, "", "\n")
		case stmtItem:
			write(it, fmt.Sprintf("func %s%d() {", stmtFunc, n), "\n}\n")
			n++
		}
	}
	file, err := parser.ParseFile(fset, "", text.String(), parser.AllErrors|parser.ParseComments)
	if list, ok := err.(scanner.ErrorList); ok {
		return nil, parseErrors(list, name, code)
	}
	if list := tooDeep(fset, file); len(list) > 0 {
		return nil, list
	}
	src := &source{file: file, several: several}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				src.imports = append(src.imports, d)
				continue
			}
			src.steps = append(src.steps, d)
		case *ast.FuncDecl:
			if !strings.HasPrefix(d.Name.Name, stmtFunc) {
				src.steps = append(src.steps, d)
				continue
			}
			for _, s := range d.Body.List {
				src.steps = append(src.steps, s)
			}
		}
	}
	if len(src.steps) > 0 {
		_, isExpr := src.steps[len(src.steps)-1].(*ast.ExprStmt)
		last := toks[len(toks)-1]
		src.shows = isExpr && !(last.tok == token.SEMICOLON && last.lit == ";")
	}
	return src, nil
}

// lastList finds a list of expressions, such as x, y, at a cell's end, which
// is no statement of Go. ok is false if there is none.
func lastList(toks []lexeme) (start, end int, ok bool) {
	if n := len(toks); n > 0 && toks[n-1].tok == token.SEMICOLON {
		if toks[n-1].lit == ";" {
			return 0, 0, false
		}
		toks = toks[:n-1]
	}
	first, depth := 0, 0
	for i, t := range toks {
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		}
		switch {
		case depth > 0:
		case t.tok == token.SEMICOLON:
			first, ok = i+1, false
		case t.tok == token.COMMA:
			ok = i < len(toks)-1
		}
	}
	if !ok {
		return 0, 0, false
	}
	depth = 0
	for i, t := range toks[first:] {
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.FUNC, token.STRUCT, token.MAP, token.CHAN, token.INTERFACE:
		case token.ARROW, token.COLON, token.INC, token.DEC, token.ASSIGN, token.DEFINE:
			ok = ok && depth > 0
		default:
			isAssign := t.tok >= token.ADD_ASSIGN && t.tok <= token.AND_NOT_ASSIGN
			ok = ok && (depth > 0 || !isAssign && !(i == 0 && t.tok.IsKeyword()))
		}
	}
	return toks[first].offset, toks[len(toks)-1].end, ok && kindOf(toks[first:]) == stmtItem
}

// parseProgram reads a cell that is a whole file.
func parseProgram(fset *token.FileSet, name, code string) (*source, scanner.ErrorList) {
	text := fmt.Sprintf("/*line %s:1:1*/", name) + code
	file, err := parser.ParseFile(fset, "", text, parser.AllErrors|parser.ParseComments)
	if list, ok := err.(scanner.ErrorList); ok {
		return nil, parseErrors(list, name, code)
	}
	if list := tooDeep(fset, file); len(list) > 0 {
		return nil, list
	}
	src := &source{file: file, program: true}
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			src.imports = append(src.imports, g)
			continue
		}
		src.steps = append(src.steps, d)
	}
	return src, nil
}

// unclosed is the innermost bracket of a cell that is not closed.
func unclosed(code string) (open lexeme, ok bool) {
	var stack []lexeme
	for _, t := range scan(code) {
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			stack = append(stack, t)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(stack) > 0 {
				stack = stack[:len(stack)-1]
			}
		}
	}
	if len(stack) == 0 {
		return open, false
	}
	return stack[len(stack)-1], true
}

// openComment is where a comment begins that does not end.
func openComment(code string) (offset int, ok bool) {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(code))
	var s scanner.Scanner
	s.Init(file, []byte(code), func(p token.Position, msg string) {
		if msg == "comment not terminated" {
			offset, ok = p.Offset, true
		}
	}, 0)
	for {
		if _, tok, _ := s.Scan(); tok == token.EOF {
			return offset, ok
		}
	}
}

// parseErrors keeps the errors that are the cell's own: one a line, none that
// only the wrapping made.
func parseErrors(list scanner.ErrorList, name, code string) scanner.ErrorList {
	if out := stray(list, name, code); out != nil {
		return out
	}
	lines := strings.Count(code, "\n") + 1
	starts := lineStarts(code)
	var out scanner.ErrorList
	for i, e := range list {
		e.Pos.Filename = name
		if len(out) > 0 && strings.HasSuffix(e.Msg, "found 'EOF'") {
			continue // which follows from the others
		}
		offset := len(code)
		if e.Pos.Line >= 1 && e.Pos.Line <= lines {
			offset = starts[e.Pos.Line-1] + e.Pos.Column - 1
		}
		if char, ok := strings.CutPrefix(e.Msg, "illegal character "); ok { // which the parser mentions, too
			e.Msg = "invalid character " + char
		} else if i+1 < len(list) && list[i+1].Pos.Line == e.Pos.Line && strings.HasPrefix(list[i+1].Msg, "illegal character ") {
			continue
		}
		if strings.HasSuffix(e.Msg, "found 'EOF'") || e.Pos.Line > lines && strings.HasSuffix(e.Msg, "found '}'") {
			if open, ok := unclosed(code); ok {
				line, col := position(code, open.offset)
				e.Msg = fmt.Sprintf("the %s of line %d, column %d is not closed", open.tok, line, col)
			}
		}
		if e.Pos.Line > lines {
			e.Msg = strings.Replace(e.Msg, "found '}'", "found the end of the cell", 1)
			e.Pos.Line = lines
			e.Pos.Column = len(code) - strings.LastIndexByte(code, '\n')
		}
		if len(out) > 0 && out[len(out)-1].Pos.Line == e.Pos.Line {
			continue
		}
		e.Msg = "syntax error: " + goSyntax(e.Msg, code, offset)
		out = append(out, e)
	}
	return out
}

// Syntax finds mistakes of syntax in a cell, without checking or running it.
func (ev *namespace) Syntax(name, code string) *Error {
	if _, mistakes := parse(token.NewFileSet(), name, code); mistakes != nil {
		return compileError(code, syntaxErrors(mistakes))
	}
	return nil
}
