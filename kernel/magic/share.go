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

// goDecl is a declaration of a %%kernel cell, or one of its imports.
type goDecl struct {
	start, end int // in the cell's text
	line       int // from 1
	names      []string
	receiver   string // a method's type
	method     string
	before     string   // the word before it, where it is one of a group
	device     bool     // it is there for devices only
	uses       []string // names
}

// goDecls cuts Go into its declarations; what is no Go, into none.
func goDecls(text string) []goDecl {
	clause := "package cell;"
	if _, err := parser.ParseFile(token.NewFileSet(), "", text, parser.PackageClauseOnly); err == nil {
		clause = "" // it has one
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", clause+text, 0)
	if err != nil {
		return nil
	}
	var list []goDecl
	span := func(n ast.Node) goDecl {
		from, to := fset.PositionFor(n.Pos(), false), fset.PositionFor(n.End(), false)
		return goDecl{start: from.Offset - len(clause), end: to.Offset - len(clause), line: from.Line}
	}
	if clause == "" {
		list = append(list, goDecl{end: fset.PositionFor(file.Name.End(), false).Offset, device: true})
	}
	for _, d := range file.Decls {
		p := span(d)
		switch d := d.(type) {
		case *ast.FuncDecl:
			p.declare(d)
		case *ast.GenDecl:
			p.device = d.Tok == token.VAR
			for _, s := range d.Specs {
				if d.Lparen.IsValid() && (d.Tok == token.IMPORT || d.Tok == token.TYPE) { // each stands for itself
					p = span(s)
				}
				switch s := s.(type) {
				case *ast.ImportSpec:
					p.device = s.Path.Value == `"gocuda/cudaapi/gpu"`
					list = append(list, p)
				case *ast.TypeSpec:
					p.names, p.uses, p.before = []string{s.Name.Name}, usedBy(s, file.Scope), "type "
					if !d.Lparen.IsValid() {
						p.before = ""
					}
					list = append(list, p)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						p.names = append(p.names, name.Name)
					}
				}
			}
			if d.Tok == token.IMPORT || d.Tok == token.TYPE {
				continue
			}
		}
		p.uses = usedBy(d, file.Scope)
		list = append(list, p)
	}
	return list
}

// only is the declaration without the other types of its group.
func (d Declaration) only(name string) Declaration {
	for _, p := range goDecls(d.Text) {
		if p.before != "" && slices.Contains(p.names, name) {
			d.Line, d.Text = d.Line+p.line-1, p.before+d.Text[p.start:p.end]
			break
		}
	}
	return d
}

// declare reports a function or a method. A function without results is a kernel.
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
func usedBy(d ast.Node, cell *ast.Scope) []string {
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
