package host

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"

	"gocuda/kernel/golang/host/generic"
	"gocuda/kernel/golang/host/generic/ahead"
)

// Source is the part of a package that is there as checked source, because it
// has type parameters. Its objects are in the scope of the package that
// Import returns, beside the compiled ones.
type Source struct {
	Files []*ast.File
	Info  *types.Info
}

// FileSet holds the positions of all Sources. A program that reports
// positions of its own beside them adds its files to the same set.
func (im *Importer) FileSet() *token.FileSet { return im.fset }

// Source returns the source part of a package, or nil where there is none or
// the package has not been imported.
func (im *Importer) Source(path string) *Source {
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.generic[path]
}

// Instance returns an instance of a function of the source part of a package that is
// compiled, by its type.
func (im *Importer) Instance(function string, typ reflect.Type) (reflect.Value, bool) {
	return ahead.Find(function, typ)
}

// addGeneric checks the source part of a standard package into the package.
func (im *Importer) addGeneric(p *types.Package) {
	text := generic.Source(p.Path())
	if text == nil {
		return
	}
	src := &Source{Info: &types.Info{
		Types:      make(map[ast.Expr]types.TypeAndValue),
		Instances:  make(map[*ast.Ident]types.Instance),
		Defs:       make(map[*ast.Ident]types.Object),
		Uses:       make(map[*ast.Ident]types.Object),
		Implicits:  make(map[ast.Node]types.Object),
		Selections: make(map[*ast.SelectorExpr]*types.Selection),
		Scopes:     make(map[ast.Node]*types.Scope),
	}}
	for _, name := range slices.Sorted(maps.Keys(text)) {
		f, err := parser.ParseFile(im.fset, p.Path()+"/"+name, text[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			panic(fmt.Sprintf("host: source of package %s: %v", p.Path(), err))
		}
		src.Files = append(src.Files, f)
	}
	conf := &types.Config{Importer: loader{im}}
	if err := types.NewChecker(conf, im.fset, p, src.Info).Files(src.Files); err != nil {
		panic(fmt.Sprintf("host: source of package %s: %v", p.Path(), err))
	}
	im.generic[p.Path()] = src
}

// loader imports for those that hold the importer's lock.
type loader struct{ im *Importer }

func (l loader) Import(path string) (*types.Package, error) { return l.im.load(path) }
