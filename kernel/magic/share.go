package magic

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
)

// share says which declarations of a cell Go cells can use too: not kernels, which are variables
// there, not variables, of which devices have their own, nor what uses those or package gpu.
func (k *kernelCells) share(parts []goDecl) []bool {
	apart := map[string]bool{"gpu": true}
	for name, d := range k.declared {
		apart[name] = !d.inGo
	}
	for _, list := range k.methods {
		for _, d := range list {
			apart["."+d.Method] = true
		}
	}
	for _, p := range parts {
		for _, name := range p.names {
			apart[name] = p.device
		}
	}
	shared := make([]bool, len(parts))
	for i, p := range parts {
		shared[i] = !p.device
	}
	for more := true; more; {
		more = false
		for i, p := range parts {
			if shared[i] && (apart[p.receiver] || slices.ContainsFunc(p.uses, func(name string) bool { return apart[name] })) {
				shared[i], more = false, true
				apart["."+p.method] = true
				for _, name := range p.names {
					apart[name] = true
				}
			}
		}
	}
	return shared
}

// goDecl is a declaration of a %%kernel cell.
type goDecl struct {
	start, end int // in the cell's text
	line       int // from 1
	names      []string
	receiver   string // a method's type
	method     string
	device     bool     // it is there for devices only
	uses       []string // names
}

// goDecls cuts Go into its declarations; what is no Go, into none.
func goDecls(text string) []goDecl {
	const clause = "package cell;"
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", clause+text, 0)
	if err != nil {
		return nil
	}
	var list []goDecl
	for _, d := range file.Decls {
		p := goDecl{start: fset.Position(d.Pos()).Offset - len(clause), end: fset.Position(d.End()).Offset - len(clause), line: fset.Position(d.Pos()).Line}
		switch d := d.(type) {
		case *ast.FuncDecl:
			p.declare(d)
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			p.device = d.Tok == token.VAR
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					p.names = append(p.names, s.Name.Name)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						p.names = append(p.names, name.Name)
					}
				}
			}
		}
		p.uses = usedBy(d, file.Scope)
		list = append(list, p)
	}
	return list
}

// declare tells of a function or a method. A function without results is a kernel.
func (p *goDecl) declare(d *ast.FuncDecl) {
	if d.Recv == nil {
		p.names = []string{d.Name.Name}
		p.device = d.Body == nil || d.Type.Results.NumFields() == 0
		return
	}
	p.method = d.Name.Name
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && p.receiver == "" {
			p.receiver = id.Name
		}
		return true
	})
}

// usedBy lists the names in a declaration that are not of its own parts; those of
// fields and methods with a dot before them.
func usedBy(d ast.Decl, cell *ast.Scope) []string {
	var list []string
	var look func(n ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			list = append(list, "."+n.Sel.Name)
			ast.Inspect(n.X, look)
			return false
		case *ast.KeyValueExpr: // whose key is a field's name, perhaps
			ast.Inspect(n.Value, look)
			return false
		case *ast.Ident:
			if n.Obj == nil || cell.Lookup(n.Name) == n.Obj {
				list = append(list, n.Name)
			}
		}
		return true
	}
	ast.Inspect(d, look)
	return list
}
