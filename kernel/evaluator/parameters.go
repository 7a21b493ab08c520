package evaluator

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
)

// parameterNames are the names of the parameters of the function that the running
// cell's innermost statement gives to widgets.Interact: compiled code does not see
// them. nil: they are not known.
func (c *evaluator) parameterNames() []string {
	_, line := c.golang.Calling()
	code := c.current().cell.Code
	for _, call := range interactions(code) {
		if call.line < line {
			continue
		}
		if call.function == "" {
			return parametersOf(call.literal)
		}
		for _, d := range c.golang.Declarations(call.function) {
			if d.Kind == "func" {
				return parametersOf(d.Text)
			}
		}
		return nil
	}
	return nil
}

// interaction is a call of widgets.Interact or Interactive in a cell.
type interaction struct {
	line     int
	literal  string // "func(n int, late bool) any", if it is called with one
	function string // the name of the function otherwise
}

func interactions(code string) (list []interaction) {
	type lexeme struct {
		token.Token
		text string
		pos  token.Pos
	}
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(code))
	var s scanner.Scanner
	s.Init(file, []byte(code), func(token.Position, string) {}, 0)
	var all []lexeme
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			break
		}
		all = append(all, lexeme{tok, text, pos})
	}
	for i := 0; i+2 < len(all); i++ {
		if all[i].text != "Interact" && all[i].text != "Interactive" || all[i+1].Token != token.LPAREN {
			continue
		}
		call := interaction{line: file.Line(all[i].pos)}
		switch first := all[i+2]; first.Token {
		case token.IDENT:
			call.function = first.text
		case token.FUNC:
			for j := i + 3; j < len(all); j++ {
				if all[j].Token == token.LBRACE {
					call.literal = code[file.Offset(first.pos):file.Offset(all[j].pos)]
					break
				}
			}
		}
		list = append(list, call)
	}
	return list
}

// parametersOf are the names of a function's parameters, declared or literal.
func parametersOf(function string) (names []string) {
	var list *ast.FieldList
	if f, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+function, 0); err == nil && len(f.Decls) == 1 {
		if d, ok := f.Decls[0].(*ast.FuncDecl); ok {
			list = d.Type.Params
		}
	} else if x, err := parser.ParseExpr(function + "{}"); err == nil {
		if l, ok := x.(*ast.FuncLit); ok {
			list = l.Type.Params
		}
	}
	if list == nil {
		return nil
	}
	for _, field := range list.List {
		for _, n := range field.Names {
			names = append(names, n.Name)
		}
	}
	return names
}
