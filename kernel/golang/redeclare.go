package golang

import (
	"bytes"
	"go/ast"
	"go/printer"
	"go/token"
	"go/types"
)

// Types that are declared again.

// setApart puts the name of an earlier cell's type that a new one is made of
// into parentheses: go/types looks for the declaration of a bare name, and dies
// of it if the cell has none.
func (c *checker) setApart(spec *ast.TypeSpec) {
	id, ok := spec.Type.(*ast.Ident)
	if !ok {
		return
	}
	if _, here := c.declared[id.Name]; !here {
		spec.Type = &ast.ParenExpr{Lparen: id.Pos(), X: id, Rparen: id.End()}
	}
}

// aliasOfEarlier follows the names that the cell gives to other types, and
// returns that of an earlier cell's type, or nil if it does not come to one.
func (c *checker) aliasOfEarlier(name string) *ast.Ident {
	named := make(map[string]ast.Expr)
	for _, s := range c.src.steps {
		if d, ok := s.(*ast.GenDecl); ok && d.Tok == token.TYPE {
			for _, sp := range d.Specs {
				if spec := sp.(*ast.TypeSpec); spec.Assign.IsValid() {
					named[spec.Name.Name] = spec.Type
				}
			}
		}
	}
	for range len(named) + 1 {
		t := ast.Unparen(named[name])
		if star, ok := t.(*ast.StarExpr); ok {
			t = ast.Unparen(star.X)
		}
		id, ok := t.(*ast.Ident)
		if !ok {
			return nil
		}
		if _, here := c.declared[id.Name]; !here && c.ev.names[id.Name] != nil {
			return id
		}
		name = id.Name
	}
	return nil
}

func isGenericType(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.TypeParams().Len() > 0
}

func (c *checker) isReused(name string) bool {
	for _, s := range c.out.reused {
		if s.Name.Name == name {
			return true
		}
	}
	return false
}

// withoutReused leaves out the types that an earlier cell declared in the
// same words: running a cell again keeps its types, and the values that
// other cells have of them. A type whose method gets another signature is not
// among them.
func (c *checker) withoutReused(d *ast.GenDecl) *ast.GenDecl {
	var keep []ast.Spec
	for _, s := range d.Specs {
		spec := s.(*ast.TypeSpec)
		if c.sameAsBefore(spec) {
			c.out.reused = append(c.out.reused, spec)
			delete(c.declared, spec.Name.Name)
			continue
		}
		keep = append(keep, spec)
	}
	if len(keep) == len(d.Specs) {
		return d
	}
	cp := *d
	cp.Specs = keep
	return &cp
}

func (c *checker) sameAsBefore(spec *ast.TypeSpec) bool {
	if spec.Assign.IsValid() || c.src.renewed[spec.Name.Name] {
		return false
	}
	old, ok := c.ev.typeText[spec.Name.Name]
	if !ok || old.text != specText(spec) {
		return false
	}
	for name, obj := range old.uses {
		if name == spec.Name.Name {
			continue
		}
		if _, here := c.declared[name]; here && !c.isReused(name) && !c.sameLater(name) {
			return false
		}
		if c.ev.names[name] != obj {
			return false
		}
	}
	return true
}

// typeSource is how a type was declared: its text, and what the names in it meant.
type typeSource struct {
	text string
	uses map[string]types.Object
}

func specText(spec *ast.TypeSpec) string {
	var b bytes.Buffer
	printer.Fprint(&b, token.NewFileSet(), &ast.TypeSpec{Name: ast.NewIdent(spec.Name.Name), TypeParams: spec.TypeParams, Type: ast.Unparen(spec.Type)})
	return b.String()
}

// rememberTypes notes how the cell's types were declared.
func (r *redefinition) rememberTypes() {
	ev, info := r.ev, r.cell.info
	for _, s := range r.steps {
		d, ok := s.(*ast.GenDecl)
		if !ok || d.Tok != token.TYPE {
			continue
		}
		for _, sp := range d.Specs {
			spec := sp.(*ast.TypeSpec)
			if info.Defs[spec.Name] == nil {
				continue
			}
			t := typeSource{specText(spec), make(map[string]types.Object)}
			ast.Inspect(spec, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					if o := ev.names[id.Name]; o != nil && info.Uses[id] == o {
						t.uses[id.Name] = o
					}
				}
				return true
			})
			ev.typeText[spec.Name.Name] = t
		}
	}
}
