package assist

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
)

// fieldDoc is the comment of a field that a cell declared, above it or after
// it; "" if there is none. owner is the type that has it, or nil where that is
// to be found.
func (p *page) fieldDoc(field *types.Var, owner types.Object) string {
	if owner == nil {
		owner = p.ownerOf(field)
	}
	if owner == nil {
		return ""
	}
	source, _ := p.cellSource(owner)
	if source == "" {
		return ""
	}
	if !strings.HasPrefix(source, "type") {
		source = "type " + source // one of a group
	}
	file, _ := parser.ParseFile(token.NewFileSet(), "", "package p\n"+source, parser.ParseComments|parser.SkipObjectResolution)
	doc := ""
	if file != nil {
		ast.Inspect(file, func(n ast.Node) bool {
			f, ok := n.(*ast.Field)
			if !ok {
				return true
			}
			for _, name := range f.Names {
				if name.Name == field.Name() {
					doc = strings.TrimSpace(f.Doc.Text() + f.Comment.Text())
				}
			}
			return doc == ""
		})
	}
	return doc
}

// ownerOf finds the type of a cell that declares a field.
func (p *page) ownerOf(field *types.Var) types.Object {
	list := p.scope.Names()
	for _, name := range p.a.pkg.Scope().Names() {
		list = append(list, p.a.pkg.Scope().Lookup(name))
	}
	for _, obj := range list {
		t, ok := obj.(*types.TypeName)
		if !ok || t.Type() == nil {
			continue
		}
		if s, ok := t.Type().Underlying().(*types.Struct); ok {
			for f := range s.Fields() {
				if f == field || f.Origin() == field.Origin() {
					return t
				}
			}
		}
	}
	return nil
}
