package golang

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// Outline says which names a cell makes and uses at its outer level.
type Outline struct {
	Declares  []string // functions, types and constants, and the types of methods
	Variables []string // that it declares
	Assigns   []string // other variables, which get a value, and the types of methods
	Uses      []string // names that are not the cell's own variables, and texts that could be one
	Judges    []string // the ids of what it judges
}

// OutlineOf reads a cell without a session. Code that is no Go makes names and uses none.
func OutlineOf(code string) (o Outline) {
	toks := scan(code)
	for depth, i := 0, 0; i < len(toks); i++ {
		switch toks[i].tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		}
		if depth <= 0 && (i == 0 || toks[i-1].tok == token.SEMICOLON) {
			o.statement(toks[i:])
		}
	}
	for _, list := range []*[]string{&o.Declares, &o.Variables, &o.Assigns} {
		*list = slices.DeleteFunc(*list, func(name string) bool { return name == "_" })
	}
	src, mistakes := parse(token.NewFileSet(), "", code)
	if mistakes != nil {
		return o
	}
	known := map[string]bool{"_": true}
	for _, name := range o.Variables {
		known[name] = true
	}
	for _, s := range src.steps {
		o.uses(s, src.file.Scope, known)
		if call, ok := s.(*ast.ExprStmt); ok {
			o.judges(call.X)
		}
	}
	return o
}

// statement notes what the first of these tokens' statements makes.
func (o *Outline) statement(toks []lexeme) {
	switch toks[0].tok {
	case token.FUNC:
		o.function(toks[1:])
	case token.TYPE, token.CONST:
		o.Declares = append(o.Declares, specs(toks[1:])...)
	case token.VAR:
		o.Variables = append(o.Variables, specs(toks[1:])...)
	case token.IDENT:
		names, depth := []string{}, 0
		for i, t := range toks {
			switch t.tok {
			case token.LPAREN, token.LBRACK, token.LBRACE:
				depth++
			case token.RPAREN, token.RBRACK, token.RBRACE:
				depth--
			case token.IDENT:
				if depth == 0 && (i == 0 || toks[i-1].tok == token.COMMA) {
					names = append(names, t.lit)
				}
			case token.SEMICOLON:
				return
			case token.DEFINE:
				o.Variables = append(o.Variables, names...)
				return
			default:
				if t.tok == token.ASSIGN || t.tok >= token.ADD_ASSIGN && t.tok <= token.AND_NOT_ASSIGN || t.tok == token.INC || t.tok == token.DEC {
					o.Assigns = append(o.Assigns, names...)
					return
				}
			}
		}
	}
}

// function notes a function by its name, and a method by its type's.
func (o *Outline) function(toks []lexeme) {
	name, method := "", len(toks) > 0 && toks[0].tok == token.LPAREN
	for _, t := range toks {
		switch {
		case t.tok == token.IDENT:
			name = t.lit
		case t.tok == token.RPAREN || t.tok == token.LBRACK, t.tok == token.LPAREN && name != "":
			if name != "" {
				o.Declares = append(o.Declares, name)
				if method {
					o.Assigns = append(o.Assigns, name)
				}
			}
			return
		}
	}
}

// specs are the names of a declaration, or of a group of them.
func specs(toks []lexeme) (names []string) {
	group := len(toks) > 0 && toks[0].tok == token.LPAREN
	if group {
		toks = toks[1:]
	}
	begins, valued, depth := true, false, 0
	for _, t := range toks {
		switch {
		case t.tok == token.LPAREN || t.tok == token.LBRACK || t.tok == token.LBRACE:
			depth++
		case t.tok == token.RPAREN || t.tok == token.RBRACK || t.tok == token.RBRACE:
			depth--
		}
		switch {
		case depth < 0, depth == 0 && t.tok == token.SEMICOLON && !group:
			return names
		case depth > 0:
		case t.tok == token.SEMICOLON:
			begins, valued = true, false
		case begins && t.tok == token.IDENT:
			names = append(names, t.lit)
			begins = false
		case t.tok == token.COMMA && !valued:
			begins = true
		case t.tok == token.ASSIGN:
			valued = true
		}
	}
	return names
}

// uses notes the names in a statement or declaration, without known ones and local ones.
func (o *Outline) uses(n ast.Node, cell *ast.Scope, known map[string]bool) {
	add := func(name string) {
		if !known[name] {
			known[name] = true
			o.Uses = append(o.Uses, name)
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			o.uses(n.X, cell, known)
			return false
		case *ast.FuncDecl: // without its name
			if n.Recv != nil {
				o.uses(n.Recv, cell, known)
			}
			o.uses(n.Type, cell, known)
			if n.Body != nil {
				o.uses(n.Body, cell, known)
			}
			return false
		case *ast.Ident:
			if n.Obj == nil || cell.Lookup(n.Name) == n.Obj {
				add(n.Name)
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && token.IsIdentifier(text) {
				add(text)
			}
		}
		return true
	})
}

// judges notes the id of a call of judge.
func (o *Outline) judges(x ast.Expr) {
	call, ok := x.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	id, isLit := call.Args[0].(*ast.BasicLit)
	if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "judge" && isLit && id.Kind == token.STRING {
		o.Judges = append(o.Judges, strings.Trim(id.Value, "\"`"))
	}
}
