package host

import (
	"go/ast"
	"go/token"
	"strings"
)

// Documentation is what the source of a package tells beyond its symbols, for its
// exported names.
type Documentation struct {
	// Docs and Params are as in Package.
	Docs   map[string]string
	Params map[string][]string
	// Decls holds declarations by "Name" and "Type.Method".
	Decls map[string]ast.Node
}

// ReadSource collects the documentation of a package from its files, which
// must have been parsed with their comments.
func ReadSource(files []*ast.File) Documentation {
	s := Documentation{Docs: make(map[string]string), Params: make(map[string][]string), Decls: make(map[string]ast.Node)}
	for _, f := range files {
		if f.Doc != nil && s.Docs[""] == "" {
			s.doc("", f.Doc)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				s.function(d)
			case *ast.GenDecl:
				s.group(d)
			}
		}
	}
	return s
}

// doc notes the first comment there is.
func (s *Documentation) doc(name string, comments ...*ast.CommentGroup) {
	for _, c := range comments {
		if text := strings.TrimSpace(c.Text()); text != "" {
			s.Docs[name] = text
			return
		}
	}
}

func (s *Documentation) function(d *ast.FuncDecl) {
	name := d.Name.Name
	if !d.Name.IsExported() {
		return
	}
	if d.Recv != nil {
		recv := receiverName(d.Recv)
		if !ast.IsExported(recv) {
			return
		}
		name = recv + "." + name
	}
	s.Decls[name] = d
	s.doc(name, d.Doc)
	s.params(name, d.Type)
}

func receiverName(recv *ast.FieldList) string {
	if len(recv.List) == 0 {
		return ""
	}
	t := recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func (s *Documentation) params(name string, t *ast.FuncType) {
	var names []string
	known := false
	for _, list := range []*ast.FieldList{t.Params, t.Results} {
		if list == nil {
			continue
		}
		for _, f := range list.List {
			for _, n := range f.Names {
				names = append(names, n.Name)
				known = true
			}
			if f.Names == nil {
				names = append(names, "")
			}
		}
	}
	if known {
		s.Params[name] = names
	}
}

func (s *Documentation) group(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			for _, n := range spec.Names {
				if n.IsExported() {
					s.Decls[n.Name] = &ast.GenDecl{Tok: d.Tok, Specs: []ast.Spec{spec}}
					s.doc(n.Name, spec.Doc, spec.Comment, d.Doc)
				}
			}
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				s.Decls[spec.Name.Name] = &ast.GenDecl{Tok: token.TYPE, Specs: []ast.Spec{spec}}
				s.doc(spec.Name.Name, spec.Doc, spec.Comment, d.Doc)
				s.members(spec)
			}
		}
	}
}

// members notes the fields of a struct type and the methods of an interface.
func (s *Documentation) members(spec *ast.TypeSpec) {
	var list *ast.FieldList
	isInterface := false
	switch t := spec.Type.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list, isInterface = t.Methods, true
	default:
		return
	}
	for _, f := range list.List {
		for _, n := range f.Names {
			if !n.IsExported() {
				continue
			}
			name := spec.Name.Name + "." + n.Name
			s.doc(name, f.Doc, f.Comment)
			if ft, ok := f.Type.(*ast.FuncType); ok && isInterface {
				s.params(name, ft)
				recv := &ast.FieldList{List: []*ast.Field{{Type: ast.NewIdent(spec.Name.Name)}}}
				s.Decls[name] = &ast.FuncDecl{Recv: recv, Name: n, Type: ft}
			}
		}
	}
}
