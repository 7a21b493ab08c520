package golang

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"sync"

	"gocuda/cudaapi/gokernel"
	"gocuda/kernel/golang/host"
	"gocuda/kernel/golang/lower"
)

// builtinPath is the package of the predeclared functions that the kernel adds.
const builtinPath = gokernel.BuiltinPackage

// importer gives the checker every package that a cell can import.
type importer struct {
	host *host.Importer

	mu     sync.Mutex
	byName map[string]string // the path that a bare package name means
	extra  map[string]any

	mustPkg *types.Package
	sources map[string]map[*types.Func]*lower.Decl
	modules map[string]*sourcePackage         // by path
	loaded  map[*types.Package]*sourcePackage // those too that were loaded again since
}

func newImporter(options Options) *importer {
	pkgs := append([]host.Package(nil), options.Packages...)
	if len(options.Builtins) > 0 {
		syms := make(map[string]reflect.Value)
		for name, v := range options.Builtins {
			syms[name] = reflect.ValueOf(v)
		}
		pkgs = append(pkgs, host.Package{Path: builtinPath, Name: "builtin", Symbols: syms})
	}
	im := &importer{host: host.NewImporter(pkgs...), extra: options.Builtins}
	im.sources = make(map[string]map[*types.Func]*lower.Decl)
	return im
}

// exports is every table, as the interpreter takes them.
func (im *importer) exports() map[string]map[string]reflect.Value {
	return im.host.Exports()
}

// Import implements types.Importer.
func (im *importer) Import(p string) (*types.Package, error) {
	if m := im.module(p); m != nil {
		return m.pkg, nil
	}
	if strings.HasPrefix(p, "go/") {
		findRoot()
	}
	return im.host.Import(p)
}

func (im *importer) builtins() []types.Object {
	if len(im.extra) == 0 {
		return nil
	}
	p, err := im.Import(builtinPath)
	if err != nil {
		return nil
	}
	var list []types.Object
	for _, name := range p.Scope().Names() {
		list = append(list, p.Scope().Lookup(name))
	}
	return list
}

// decl finds the declaration of a function of a compiled package that is
// there as source.
func (im *importer) decl(f *types.Func) *lower.Decl {
	if f.Pkg() == nil || !f.Pos().IsValid() {
		return nil
	}
	src := im.source(f.Pkg().Path())
	if src == nil {
		return nil
	}
	return src[f]
}

// source is the functions of a package's source part.
func (im *importer) source(p string) map[*types.Func]*lower.Decl {
	im.mu.Lock()
	defer im.mu.Unlock()
	decls, ok := im.sources[p]
	if ok {
		return decls
	}
	src := im.host.Source(p)
	if src == nil {
		return nil
	}
	decls = make(map[*types.Func]*lower.Decl)
	for _, file := range src.Files {
		for _, d := range file.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok && fd.Body != nil {
				if f, ok := src.Info.Defs[fd.Name].(*types.Func); ok {
					decls[f] = &lower.Decl{Func: fd, Info: src.Info, Cell: path.Base(p)}
				}
			}
		}
	}
	im.sources[p] = decls
	return decls
}

// isSource says whether an object of a compiled package is there as source.
func (im *importer) isSource(o types.Object) bool { return o.Pos().IsValid() }

// guessImport finds the package that an undeclared name qualifies: the
// standard library's of that name.
func (ev *namespace) guessImport(name string) *types.Package {
	im := ev.importer
	p, ok := im.namesOfPackages()[name]
	if !ok {
		return nil
	}
	pkg, err := im.Import(p)
	if err != nil {
		return nil
	}
	return pkg
}

// version is the last element of a path that is a major version.
var version = regexp.MustCompile(`^v\d+$`)

// namesake is the path of a package of this name that exports what the one of
// namesOfPackages does not have; "" if there is none.
func (im *importer) namesake(name, exported string) string {
	for _, p := range im.host.Packages() {
		base := path.Base(p)
		if version.MatchString(base) {
			base = path.Base(path.Dir(p))
		}
		if base != name || !token.IsExported(exported) {
			continue
		}
		if pkg, err := im.Import(p); err == nil && pkg.Name() == name && pkg.Scope().Lookup(exported) != nil {
			return p
		}
	}
	return ""
}

// namesOfPackages gives the import path of each package that cells can use
// without an import, by its name.
func (im *importer) namesOfPackages() map[string]string {
	im.mu.Lock()
	defer im.mu.Unlock()
	if im.byName == nil {
		im.byName = make(map[string]string)
		paths := im.host.Packages()
		sort.Slice(paths, func(i, j int) bool {
			a, b := strings.Count(paths[i], "/"), strings.Count(paths[j], "/")
			return a < b || a == b && paths[i] < paths[j]
		})
		for _, p := range paths {
			base := path.Base(p)
			if _, ok := im.byName[base]; !ok {
				im.byName[base] = p
			}
		}
		for base, p := range map[string]string{"rand": "math/rand", "template": "text/template", "scanner": "text/scanner", "pprof": "runtime/pprof"} {
			im.byName[base] = p
		}
	}
	return im.byName
}
