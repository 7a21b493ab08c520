package gokernel

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gocuda/cudaapi/gokernel/ir"
	"gocuda/cudaapi/gpu"
	"gocuda/internal/spell"
)

//go:embed stubs
var stubs embed.FS

// libraries are the packages that kernels can import, with their declarations.
var libraries = sync.OnceValue(func() map[string]string {
	text := func(name string) string {
		b, err := stubs.ReadFile("stubs/" + name + ".go.txt")
		if err != nil {
			panic(err) // it is part of the program
		}
		return string(b)
	}
	return map[string]string{
		"gocuda/cudaapi/gpu": gpu.Source, "math": text("math"), "math/bits": text("bits"), "math/cmplx": text("cmplx"), "fmt": text("fmt"),
		"slices": text("slices"), "cmp": text("cmp"),
	}
})

// Import returns a package that kernels can import, with the types of what it
// declares: gocuda/cudaapi/gpu, math, math/bits, math/cmplx, fmt, slices and cmp.
func Import(path string) (*types.Package, error) {
	return newImporter(token.NewFileSet(), nil).Import(path)
}

// importer makes the packages that kernels can import of their declarations. Functions
// that have bodies there are compiled like those of the source; others are known here.
type importer struct {
	fset     *token.FileSet
	info     *types.Info // nil: nobody wants the bodies
	packages map[string]*types.Package
	files    []*ast.File
}

func newImporter(fset *token.FileSet, info *types.Info) *importer {
	return &importer{fset: fset, info: info, packages: make(map[string]*types.Package)}
}

func (im *importer) Import(path string) (*types.Package, error) {
	if p := im.packages[path]; p != nil {
		return p, nil
	}
	text, ok := libraries()[path]
	if !ok {
		var have []string
		for p := range libraries() {
			have = append(have, p)
		}
		slices.Sort(have)
		return nil, fmt.Errorf("a kernel cannot use package %s; there are %s", path, strings.Join(have, ", "))
	}
	texts := []string{text}
	if path == gpuPath {
		texts = append(texts, gpu.SymmetricSource)
	}
	var files []*ast.File
	for _, text := range texts {
		file, err := parser.ParseFile(im.fset, path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	conf := types.Config{IgnoreFuncBodies: im.info == nil, Sizes: sizes, Importer: im}
	p, err := conf.Check(path, im.fset, files, im.info)
	if err == nil {
		im.packages[path] = p
		im.files = append(im.files, files[len(files)-1]) // the other bodies of package gpu are for Go
	}
	return p, err
}

// sizes are those of both sides: a GPU lays values out as amd64 does.
var sizes ir.Sizes

// checked is a source that the checker found right.
type checked struct {
	fset *token.FileSet
	file *ast.File
	pkg  *types.Package
	info *types.Info

	imports *importer
	library []*ast.File // what it imports
}

// check parses and checks a source. Without a package clause and imports it gets
// those that it needs.
func check(name, source string) (*checked, error) {
	c := &checked{fset: token.NewFileSet(), info: &types.Info{
		Types: make(map[ast.Expr]types.TypeAndValue), Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object),
		Selections: make(map[*ast.SelectorExpr]*types.Selection), Instances: make(map[*ast.Ident]types.Instance), Scopes: make(map[ast.Node]*types.Scope),
	}}
	var err error
	at := name
	const mode = parser.SkipObjectResolution | parser.ParseComments
	if _, clause := parser.ParseFile(token.NewFileSet(), "", source, parser.PackageClauseOnly); clause != nil {
		source = "package main; " + impliedImports(source) + "//line " + name + ":1:1\n" + source
		at = "" // in whose folder a line directive's relative name would be
		// The line directive must begin a line.
		source = strings.Replace(source, "//line", "\n//line", 1)
	}
	if c.file, err = parser.ParseFile(c.fset, at, source, mode); err != nil {
		return nil, c.syntax(err, source)
	}
	var list Errors
	imports := newImporter(c.fset, c.info)
	conf := types.Config{Importer: imports, Sizes: sizes, DisableUnusedImportCheck: true, Error: func(err error) {
		var e types.Error
		if !errors.As(err, &e) {
			list = append(list, &Error{Message: err.Error()})
		} else if !strings.HasPrefix(e.Msg, "declared and not used") {
			list = append(list, &Error{c.fset.Position(e.Pos), e.Msg})
		}
	}}
	c.pkg, _ = conf.Check("main", c.fset, []*ast.File{c.file}, c.info)
	c.imports, c.library = imports, imports.files
	for _, e := range list {
		plain := e.Message
		if e.Message = hint(plain); e.Message == plain {
			e.Message += c.near(plain)
		}
	}
	if len(list) > 0 {
		return nil, sorted(list)
	}
	return c, nil
}

// near names what a name that is not there may have meant.
func (c *checked) near(msg string) string {
	name, undefined := strings.CutPrefix(msg, "undefined: ")
	if !undefined || strings.Contains(name, " ") {
		return ""
	}
	from := c.pkg.Scope().Names()
	if pkg, sel, ok := strings.Cut(name, "."); ok {
		p, ok := c.info.Scopes[c.file].Lookup(pkg).(*types.PkgName)
		if !ok {
			return ""
		}
		name, from = sel, p.Imported().Scope().Names()
	} else {
		from = append(from, types.Universe.Names()...)
	}
	names := spell.Nearest(name, from, len(name)/3)
	if len(names) == 0 || names[0] == name {
		return ""
	}
	return " (did you mean " + names[0] + "?)"
}

func sorted(list Errors) Errors {
	slices.SortStableFunc(list, func(a, b *Error) int {
		return cmp.Or(strings.Compare(a.Pos.Filename, b.Pos.Filename), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	return list
}

func (c *checked) syntax(err error, source string) error {
	var found scanner.ErrorList
	if !errors.As(err, &found) {
		return err
	}
	first := found[0] // what follows comes of it
	at := min(first.Pos.Offset, len(source))
	line, _, _ := strings.Cut(source[strings.LastIndexByte(source[:at], '\n')+1:], "\n")
	return Errors{{first.Pos, hintOfLine("syntax error: "+first.Msg, line)}}
}

// implied are the packages that a kernel can import, by their names.
var implied = map[string]string{"gpu": "gocuda/cudaapi/gpu", "math": "math", "bits": "math/bits", "cmplx": "math/cmplx", "fmt": "fmt", "slices": "slices", "cmp": "cmp"}

// impliedImports are the imports that a source without a package clause lacks.
func impliedImports(source string) string {
	var s scanner.Scanner
	src := []byte(source)
	s.Init(token.NewFileSet().AddFile("", -1, len(src)), src, func(token.Position, string) {}, 0)
	paths := maps.Clone(implied)
	if file, err := parser.ParseFile(token.NewFileSet(), "", "package main;"+source, parser.ImportsOnly); err == nil {
		for _, spec := range file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if name = path.Base(name); spec.Name != nil {
				name = spec.Name.Name
			}
			delete(paths, name)
		}
	}
	var out strings.Builder
	last := ""
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return out.String()
		}
		if p := paths[last]; tok == token.PERIOD && p != "" {
			fmt.Fprintf(&out, "import %q; ", p)
			delete(paths, last)
		}
		last = ""
		if tok == token.IDENT {
			last = lit
		}
	}
}
