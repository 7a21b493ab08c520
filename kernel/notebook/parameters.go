package notebook

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// The tags by which papermill finds its cells.
const (
	parametersTag = "parameters"
	injectedTag   = "injected-parameters"
)

// Parameter is a value for a variable of a notebook.
type Parameter struct{ Name, Value string }

// ParseParameter reads NAME=VALUE. VALUE is a Go literal: a number, a string
// in quotes, a rune, true, false, nil, or a composite literal such as
// []int{1, 2}. Anything else is taken as the text of a string.
func ParseParameter(s string) (Parameter, error) {
	name, value, ok := strings.Cut(s, "=")
	if !ok {
		return Parameter{}, fmt.Errorf("parameter %q: want NAME=VALUE", s)
	}
	if !token.IsIdentifier(name) || name == "_" {
		return Parameter{}, fmt.Errorf("parameter %q: %q is not a name that a Go variable can have", s, name)
	}
	return Parameter{name, value}, nil
}

// Inject sets parameters as papermill does: in a code cell tagged
// injected-parameters, which replaces an earlier one, or else follows the cell
// tagged parameters, or else comes first. It returns the names that the
// parameters cell does not declare.
func (nb *Notebook) Inject(parameters []Parameter) (undeclared []string) {
	if len(parameters) == 0 {
		return nil
	}
	at := slices.IndexFunc(nb.Cells, func(c *Cell) bool { return c.Kind == Code && c.HasTag(parametersTag) })
	var declared map[string]declaration
	if at >= 0 {
		declared = declarations(nb.Cells[at].Source)
	}
	var b strings.Builder
	b.WriteString("// Parameters\n")
	for _, p := range parameters {
		d, ok := declared[p.Name]
		if !ok {
			undeclared = append(undeclared, p.Name)
		}
		value := p.Value
		if !isLiteral(value) || d.text && !isStringLiteral(value) {
			value = strconv.Quote(value)
		}
		// Assigned to, the variable keeps the type that it was given.
		switch {
		case d.constant:
			fmt.Fprintf(&b, "const %s = %s\n", p.Name, value)
		case ok:
			fmt.Fprintf(&b, "%s = %s\n", p.Name, value)
		default:
			fmt.Fprintf(&b, "%s := %s\n", p.Name, value)
		}
	}
	source := strings.TrimSuffix(b.String(), "\n")

	if old := slices.IndexFunc(nb.Cells, func(c *Cell) bool { return c.Kind == Code && c.HasTag(injectedTag) }); old >= 0 {
		nb.Cells[old].Source = source
		return undeclared
	}
	taken := make(map[string]bool)
	for _, c := range nb.Cells {
		taken[c.ID] = true
	}
	cell := &Cell{
		ID:       newID(taken, injectedTag),
		Kind:     Code,
		Source:   source,
		Metadata: map[string]any{"tags": []any{injectedTag}},
	}
	nb.Cells = slices.Insert(nb.Cells, at+1, cell)
	return undeclared
}

// declaration is how the parameters cell declares a name.
type declaration struct {
	constant bool
	text     bool // it begins as a string literal
}

// declarations finds what a cell of declarations and statements declares at
// its top. A cell that does not parse declares what parses of it.
func declarations(source string) map[string]declaration {
	found := make(map[string]declaration)
	note := func(name ast.Expr, value ast.Expr, constant bool) {
		if id, ok := name.(*ast.Ident); ok {
			lit, ok := value.(*ast.BasicLit)
			found[id.Name] = declaration{constant, ok && lit.Kind == token.STRING}
		}
	}
	file, _ := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+source+"\n}", parser.SkipObjectResolution)
	if file == nil {
		return found
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		for _, s := range f.Body.List {
			switch s := s.(type) {
			case *ast.AssignStmt:
				for i, name := range s.Lhs {
					var value ast.Expr
					if len(s.Rhs) == len(s.Lhs) {
						value = s.Rhs[i]
					}
					if s.Tok == token.DEFINE {
						note(name, value, false)
					}
				}
			case *ast.DeclStmt:
				g, ok := s.Decl.(*ast.GenDecl)
				if !ok {
					continue
				}
				for _, spec := range g.Specs {
					v, ok := spec.(*ast.ValueSpec)
					if !ok {
						continue
					}
					for i, name := range v.Names {
						var value ast.Expr
						if i < len(v.Values) {
							value = v.Values[i]
						}
						note(name, value, g.Tok == token.CONST)
					}
				}
			}
		}
	}
	return found
}

// isLiteral says whether a value can stand in Go code as it is.
func isLiteral(value string) bool {
	e, err := parser.ParseExpr(value)
	return err == nil && literal(e)
}

func isStringLiteral(value string) bool {
	e, err := parser.ParseExpr(value)
	lit, ok := e.(*ast.BasicLit)
	return err == nil && ok && lit.Kind == token.STRING
}

func literal(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return e.Name == "true" || e.Name == "false" || e.Name == "nil"
	case *ast.ParenExpr:
		return literal(e.X)
	case *ast.UnaryExpr:
		return (e.Op == token.SUB || e.Op == token.ADD) && literal(e.X)
	case *ast.BinaryExpr: // a complex number
		imag, ok := e.Y.(*ast.BasicLit)
		return (e.Op == token.SUB || e.Op == token.ADD) && literal(e.X) && ok && imag.Kind == token.IMAG
	case *ast.CompositeLit:
		for _, elem := range e.Elts {
			if kv, ok := elem.(*ast.KeyValueExpr); ok {
				if !literal(kv.Key) {
					return false
				}
				elem = kv.Value
			}
			if !literal(elem) {
				return false
			}
		}
		return true
	}
	return false
}
