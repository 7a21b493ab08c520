// Package house holds the rules of the house, as tests: who may import whom,
// and that what is exported is documented.
package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const root = "../.."

// source is a package of the house: its files but tests.
type source struct {
	files   []*ast.File
	imports map[string]bool // without the module
}

var set = token.NewFileSet()

// module is the path of the house's module.
var module = sync.OnceValue(func() string {
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		panic(err)
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimPrefix(line, "module ")
})

// packages are all of the house by their folders, but for test data.
var packages = sync.OnceValues(func() (map[string]*source, error) {
	list := map[string]*source{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if name != root && (strings.HasPrefix(base, ".") || slices.Contains([]string{"testdata", "build", "bin", "records", "include"}, base)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		p := list[folder]
		if p == nil {
			p = &source{imports: map[string]bool{}}
			list[folder] = p
		}
		p.files = append(p.files, f)
		for _, i := range f.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			p.imports[strings.TrimPrefix(name, module()+"/")] = true
		}
		return nil
	})
	return list, err
})

func read(t *testing.T) map[string]*source {
	t.Helper()
	list, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// matches says whether a package is meant by a name, or by "name/...", which is
// the package and all below it.
func matches(pattern, folder string) bool {
	if head, all := strings.CutSuffix(pattern, "/..."); all {
		return folder == head || strings.HasPrefix(folder, head+"/")
	}
	return pattern == folder
}

// narrower says whether a is a narrower pattern than b.
func narrower(a, b string) bool {
	return len(strings.TrimSuffix(a, "/...")) > len(strings.TrimSuffix(b, "/..."))
}

func TestImports(t *testing.T) {
	list := read(t)
	used := map[string]map[string]bool{}
	for _, folder := range slices.Sorted(maps.Keys(list)) {
		rule := ""
		for pattern := range mayImport {
			if matches(pattern, folder) && (rule == "" || narrower(pattern, rule)) {
				rule = pattern
			}
		}
		if rule == "" {
			t.Errorf("package %s has no rule: say in mayImport what it may import", folder)
			continue
		}
		if used[rule] == nil {
			used[rule] = map[string]bool{}
		}
		for _, imported := range slices.Sorted(maps.Keys(list[folder].imports)) {
			if imported == "C" {
				t.Errorf("%s uses cgo", folder)
			}
			first, _, _ := strings.Cut(imported, "/")
			inHouse := list[imported] != nil
			if !inHouse && !strings.Contains(first, ".") {
				continue // of the standard library
			}
			if below := path.Dir(imported); inHouse && strings.HasSuffix(below, "/internal") && (path.Dir(below) == folder || strings.HasPrefix(folder, path.Dir(below)+"/")) && path.Dir(below) != "cudaapi" {
				continue // its own, as Go's rule says
			}
			i := slices.IndexFunc(mayImport[rule], func(pattern string) bool { return matches(pattern, imported) })
			if i < 0 {
				t.Errorf("%s imports %s, which mayImport does not allow", folder, imported)
				continue
			}
			used[rule][mayImport[rule][i]] = true
		}
	}
	for rule, allowed := range mayImport {
		if used[rule] == nil {
			t.Errorf("mayImport speaks of %s, which is not there", rule)
		}
		for _, pattern := range allowed {
			if used[rule] != nil && !used[rule][pattern] {
				t.Errorf("%s does not import %s: leave it out of mayImport", rule, pattern)
			}
		}
	}
}

// isMain says whether a package is a command: nobody imports it.
func (s *source) isMain() bool { return s.files[0].Name.Name == "main" }

func TestDocumentation(t *testing.T) {
	list := read(t)
	said := interfaceMethods(list)
	for _, folder := range slices.Sorted(maps.Keys(list)) {
		p := list[folder]
		doc := ""
		for _, f := range p.files {
			if f.Doc != nil {
				doc = f.Doc.Text()
			}
		}
		name := p.files[0].Name.Name
		if want := "Package " + name + " "; !p.isMain() && !strings.HasPrefix(doc, want) || doc == "" {
			t.Errorf("%s has no comment that begins with %q", folder, want)
		}
		if p.isMain() {
			continue
		}
		for _, f := range p.files {
			if ast.IsGenerated(f) {
				continue
			}
			for _, d := range f.Decls {
				checkDoc(t, d, said)
			}
		}
	}
}

// interfaceMethods are the methods whose meaning an interface says, of the
// house's or of the standard library.
func interfaceMethods(list map[string]*source) map[string]bool {
	said := map[string]bool{
		"Error": true, "String": true, "Unwrap": true, "Is": true, "Len": true, "Less": true, "Swap": true,
		"Read": true, "Write": true, "Close": true, "MarshalJSON": true, "UnmarshalJSON": true,
	}
	for _, p := range list {
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				if i, ok := n.(*ast.InterfaceType); ok {
					for _, m := range i.Methods.List {
						for _, name := range m.Names {
							said[name.Name] = true
						}
					}
				}
				return true
			})
		}
	}
	return said
}

// checkDoc wants comments on what a declaration exports.
func checkDoc(t *testing.T, d ast.Decl, said map[string]bool) {
	complain := func(name *ast.Ident, what string) {
		t.Errorf("%s: %s %s", set.Position(name.Pos()), name.Name, what)
	}
	begins := func(doc *ast.CommentGroup, name *ast.Ident) {
		if !name.IsExported() {
			return
		}
		switch text := strings.TrimSpace(doc.Text()); {
		case text == "":
			complain(name, "has no comment")
		case !slices.Contains([]string{name.Name, "A " + name.Name, "An " + name.Name, "The " + name.Name}, firstWords(text, name.Name)):
			complain(name, "has a comment that does not begin with it")
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			begins(d.Doc, d.Name)
		} else if exportedReceiver(d) && !said[d.Name.Name] {
			begins(d.Doc, d.Name)
		}
	case *ast.GenDecl:
		// Of a group, a comment is the paragraph's that it begins; the values of a
		// type have its comment.
		last, commented := -1, d.Lparen.IsValid() && d.Doc != nil
		if first, ok := d.Specs[0].(*ast.ValueSpec); ok && d.Tok == token.CONST && d.Lparen.IsValid() && first.Type != nil {
			return
		}
		for _, spec := range d.Specs {
			line := set.Position(spec.Pos()).Line
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				commented = commented || spec.Doc != nil || spec.Comment != nil
				if !d.Lparen.IsValid() {
					begins(d.Doc, spec.Name)
				} else if spec.Doc != nil {
					begins(spec.Doc, spec.Name)
				} else if spec.Name.IsExported() && !commented {
					complain(spec.Name, "has no comment")
				}
			case *ast.ValueSpec:
				if d.Doc == nil && last >= 0 && line > last+1 && spec.Doc == nil {
					commented = false
				}
				commented = commented || spec.Doc != nil || spec.Comment != nil
				for _, name := range spec.Names {
					switch {
					case !name.IsExported():
					case !d.Lparen.IsValid() && len(spec.Names) == 1:
						begins(d.Doc, name)
					case !commented && d.Doc == nil:
						complain(name, "has no comment")
					}
				}
			}
			last = set.Position(spec.End()).Line
		}
	}
}

// firstWords is the beginning of text, as long as it could be a name with or
// without an article.
func firstWords(text, name string) string {
	words := strings.Fields(text)
	if len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
		return words[0] + " " + strings.TrimRight(words[1], ",.:;'s")
	}
	if words[0] == name {
		return name
	}
	return strings.TrimRight(words[0], ",.:;")
}

// exportedReceiver says whether a method is of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	id := receiver(d)
	return id != nil && id.IsExported()
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) *ast.Ident {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x
		default:
			return nil
		}
	}
}
