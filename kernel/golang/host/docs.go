package host

import (
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// sources reads the source of standard packages when first asked about them.
type sources struct {
	mu   sync.Mutex
	fset *token.FileSet
	read map[string]Documentation
}

// Doc returns the doc comment of an object of a package that Import gave, or
// of Go's universe; a *types.PkgName asks for the package's own. It returns ""
// where nothing is known. The standard library's documentation is in its
// source, so that there is some only where Go is installed.
func (im *Importer) Doc(obj types.Object) string {
	path, name := im.key(obj)
	if t := im.table(path); t != nil && t.Docs != nil {
		return t.Docs[name]
	}
	if doc := im.source(path).Docs[name]; doc != "" {
		return doc
	}
	if src := im.Source(path); src != nil {
		return ReadSource(src.Files).Docs[name]
	}
	return ""
}

// Declaration returns the declaration of a function, method, constant,
// variable or type of the standard library as its source has it, without
// comments above it or a function's body, or "".
func (im *Importer) Declaration(obj types.Object) string {
	path, name := im.key(obj)
	src := im.source(path)
	node := src.Decls[name]
	if f, ok := node.(*ast.FuncDecl); ok {
		node = &ast.FuncDecl{Recv: f.Recv, Name: f.Name, Type: f.Type}
	}
	if node == nil {
		return ""
	}
	var b strings.Builder
	im.sources.mu.Lock()
	defer im.sources.mu.Unlock()
	if format.Node(&b, im.sources.fset, node) != nil {
		return ""
	}
	return b.String()
}

// key returns the package of an object, and its name there as in
// Package.Docs.
func (im *Importer) key(obj types.Object) (path, name string) {
	if p, ok := obj.(*types.PkgName); ok {
		return p.Imported().Path(), ""
	}
	if obj.Pkg() == nil {
		path, name = "builtin", obj.Name()
		if f, ok := obj.(*types.Func); ok && f.Signature().Recv() != nil {
			name = "error." + name // the only method in the universe
		}
		return path, name
	}
	switch obj := obj.(type) {
	case *types.Func:
		if recv := obj.Signature().Recv(); recv != nil {
			return obj.Pkg().Path(), ownerOf(obj, recv.Type()) + "." + obj.Name()
		}
	case *types.Var:
		if obj.IsField() {
			return obj.Pkg().Path(), ownerOf(obj, nil) + "." + obj.Name()
		}
	}
	return obj.Pkg().Path(), obj.Name()
}

// ownerOf names the type that a method or field was declared in. Fields, and
// the methods of interfaces, do not know it themselves.
func ownerOf(obj types.Object, recv types.Type) string {
	if recv != nil {
		if p, ok := recv.(*types.Pointer); ok {
			recv = p.Elem()
		}
		if n, ok := recv.(*types.Named); ok {
			return n.Obj().Name()
		}
	}
	scope := obj.Pkg().Scope()
	for _, name := range scope.Names() {
		t, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || t.IsAlias() {
			continue
		}
		switch u := t.Type().Underlying().(type) {
		case *types.Struct:
			for f := range u.Fields() {
				if f == obj {
					return name
				}
			}
		case *types.Interface:
			for m := range u.ExplicitMethods() {
				if m == obj {
					return name
				}
			}
		}
	}
	return ""
}

// source reads the source of a standard package, if it is there.
func (im *Importer) source(path string) Documentation {
	s := &im.sources
	s.mu.Lock()
	defer s.mu.Unlock()
	if src, ok := s.read[path]; ok {
		return src
	}
	if s.read == nil {
		s.read, s.fset = make(map[string]Documentation), token.NewFileSet()
	}
	src := readStandard(s.fset, path)
	s.read[path] = src
	return src
}

func readStandard(fset *token.FileSet, path string) Documentation {
	first, _, _ := strings.Cut(path, "/")
	root := Root()
	if root == "" || path == "" || strings.ContainsAny(path, `\:`) || strings.Contains(first, ".") {
		return Documentation{}
	}
	ctx := build.Default
	ctx.GOROOT, ctx.CgoEnabled = root, false
	p, err := ctx.ImportDir(filepath.Join(root, "src", filepath.FromSlash(path)), 0)
	if err != nil {
		return Documentation{}
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		if f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution); err == nil {
			files = append(files, f)
		}
	}
	if path == "builtin" {
		return readBuiltin(files)
	}
	return ReadSource(files)
}

// readBuiltin reads the package in which Go documents its universe, whose
// names are not exported.
func readBuiltin(files []*ast.File) Documentation {
	s := Documentation{Docs: make(map[string]string), Decls: make(map[string]ast.Node)}
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				s.Decls[d.Name.Name] = d
				s.doc(d.Name.Name, d.Doc)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						s.doc(spec.Name.Name, spec.Doc, d.Doc)
					case *ast.ValueSpec:
						for _, n := range spec.Names {
							s.doc(n.Name, spec.Doc, spec.Comment, d.Doc)
						}
					}
				}
			}
		}
	}
	return s
}

// Root is the folder of the Go installation, as runtime.GOROOT gives it to programs
// that go run starts: the one that the environment names, or the go command's. It
// is "" if there is none.
func Root() string {
	if root := os.Getenv("GOROOT"); root != "" {
		return root
	}
	return installed()
}

var installed = sync.OnceValue(func() string {
	command, err := exec.LookPath("go")
	if err != nil {
		return ""
	}
	if file, err := filepath.EvalSymlinks(command); err == nil {
		root := filepath.Dir(filepath.Dir(file))
		if _, err := os.Stat(filepath.Join(root, "src", "fmt")); err == nil {
			return root
		}
	}
	out, err := exec.Command(command, "env", "GOROOT").Output() // a script that starts it
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
})
