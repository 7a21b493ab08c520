// Package host tells the type checker what cells can import. The interpreter
// knows compiled packages as tables of reflect values; here the same tables
// become go/types packages, so that whatever the checker lets through is
// there when the cell runs. No Go installation is needed, and a package costs
// nothing until it is imported.
package host

import (
	"errors"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"path"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/traefik/yaegi/stdlib"
	yaegisyscall "github.com/traefik/yaegi/stdlib/syscall"
	"github.com/traefik/yaegi/stdlib/unrestricted"
	yaegiunsafe "github.com/traefik/yaegi/stdlib/unsafe"

	"gocuda/kernel/golang/host/generic"
	"gocuda/kernel/golang/host/generic/plain"
	"gocuda/kernel/golang/host/linked"
	"gocuda/kernel/golang/host/std"
	"gocuda/kernel/golang/host/trait"
)

// Package is a compiled package that cells can import.
type Package struct {
	Path, Name string

	// Symbols is the package in the form that yaegi takes: a function or
	// typed constant as its value, an untyped constant as a constant.Value, a
	// variable as an addressable value, a type T as a nil *T, and under "_I"
	// the struct that lets interpreted types implement the interface I.
	Symbols map[string]reflect.Value

	// Preloaded says that cells can use the package without an import.
	Preloaded bool

	// Docs holds doc comments by "Name", "Type.Method" and "Type.Field"; the
	// package's own is under "".
	Docs map[string]string

	// Params holds the names of parameters, then of results, by "Func" and
	// "Type.Method": reflect does not know them.
	Params map[string][]string

	// Direct lists functions of the package that cells call often.
	Direct []Direct

	// Traits are those of the package's functions; what the standard library has need not
	// be said.
	Traits trait.Table

	// Load, if it is set, gives Symbols, Docs and Params when the package is
	// first asked for.
	Load func() Package
}

// Join adds what another package offers, except its own documentation, under this
// one's name.
func (p *Package) Join(more Package) {
	maps.Copy(p.Symbols, more.Symbols)
	maps.Copy(p.Params, more.Params)
	for name, text := range more.Docs {
		if name != "" {
			p.Docs[name] = text
		}
	}
}

// AddConstants adds untyped constants to the symbols: a line each, of a name, INT
// or STRING, and the value as Go writes it.
func (p *Package) AddConstants(text string) {
	kinds := map[string]token.Token{"INT": token.INT, "STRING": token.STRING}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		kind, value, _ := strings.Cut(rest, " ")
		p.Symbols[name] = reflect.ValueOf(constant.MakeFromLiteral(value, kinds[kind], 0))
	}
}

// Importer gives the checker the packages of the standard library and of the
// host. It is safe for concurrent use, and so are the packages it returns.
type Importer struct {
	tables map[string]*table // by import path

	mu        sync.Mutex
	pkgs      map[string]*types.Package // every package that a type was found in
	types     map[reflect.Type]types.Type
	reflected map[types.Type]reflect.Type
	todo      []namedType // named types that lack their underlying type
	sealed    map[string][]sealedInterface

	directs directs
	sources sources
	generic map[string]*Source
	fset    *token.FileSet
}

// table is a package that can be imported.
type table struct {
	Package
	imported bool
	load     sync.Once
	loaded   atomic.Bool
}

// table returns the table of a package, or nil.
func (im *Importer) table(path string) *table {
	t := im.tables[path]
	if t != nil && t.Load != nil {
		t.load.Do(func() {
			p := t.Load()
			t.Symbols, t.Docs, t.Params = p.Symbols, p.Docs, p.Params
			t.loaded.Store(true)
		})
	}
	return t
}

// NewImporter returns an importer of the standard library and pkgs. A package
// of pkgs with the path of another adds to it and replaces its symbols.
func NewImporter(pkgs ...Package) *Importer {
	im := &Importer{
		tables:    make(map[string]*table),
		pkgs:      make(map[string]*types.Package),
		types:     make(map[reflect.Type]types.Type),
		reflected: make(map[types.Type]reflect.Type),
		sealed:    make(map[string][]sealedInterface),
		generic:   make(map[string]*Source),
		fset:      token.NewFileSet(),
	}
	for _, symbols := range standard() {
		for key, syms := range symbols {
			dir, name := path.Split(key)
			if dir == "" || strings.HasPrefix(key, "github.com/traefik/yaegi/") {
				continue // yaegi's own
			}
			im.add(Package{Path: strings.TrimSuffix(dir, "/"), Name: name, Symbols: withoutSource(key, syms)})
		}
	}
	for _, p := range generic.Packages() {
		if im.tables[p] == nil {
			im.add(Package{Path: p, Name: path.Base(p)})
		}
	}
	im.add(Package{Path: plainPath, Name: "plain", Symbols: plain.Symbols()})
	im.add(Package{Path: linked.Path, Name: "linked", Symbols: linked.Symbols()})
	for _, p := range pkgs {
		im.add(p)
		for _, d := range p.Direct {
			im.directs.add(p, d)
		}
	}
	return im
}

// withoutSource leaves out of a table what generic source has in its place: calls
// in cells have no frames that package runtime knows.
func withoutSource(key string, symbols map[string]reflect.Value) map[string]reflect.Value {
	if key != "runtime/runtime" {
		return symbols
	}
	rest := maps.Clone(symbols)
	for _, name := range []string{"CallersFrames", "Frame", "Frames", "Func", "FuncForPC"} {
		delete(rest, name)
	}
	return rest
}

// plainPath is the package that the source of generic ones imports.
const plainPath = "gocuda/kernel/golang/host/generic/plain"

// standard lists the tables of the standard library, later ones refining
// earlier ones.
func standard() []map[string]map[string]reflect.Value {
	return []map[string]map[string]reflect.Value{
		stdlib.Symbols, yaegisyscall.Symbols, yaegiunsafe.Symbols,
		unrestrictedSymbols(), std.Symbols,
	}
}

// unrestrictedSymbols is what yaegi holds back by default and a notebook
// needs: processes and real loggers. What ends the process (os.Exit,
// log.Fatal) stays as the panic that yaegi makes of it.
func unrestrictedSymbols() map[string]map[string]reflect.Value {
	all := make(map[string]map[string]reflect.Value)
	for key, syms := range unrestricted.Symbols {
		keep := make(map[string]reflect.Value)
		for name, v := range syms {
			switch name {
			case "Exit":
				keep[name] = stdlib.Symbols["os/os"][name]
			case "Fatal", "Fatalf", "Fatalln":
			default:
				keep[name] = v
			}
		}
		all[key] = keep
	}
	return all
}

func (im *Importer) add(p Package) {
	if p.Traits == nil {
		p.Traits = trait.Standard[p.Path]
	}
	t := im.tables[p.Path]
	if t == nil {
		im.tables[p.Path] = &table{Package: p}
		return
	}
	// The maps of yaegi and of the caller are not ours to change.
	merged := make(map[string]reflect.Value, len(t.Symbols)+len(p.Symbols))
	for name, v := range t.Symbols {
		merged[name] = v
	}
	for name, v := range p.Symbols {
		merged[name] = v
	}
	p.Symbols = merged
	t.Package = p
}

// Packages lists the import paths that Import takes, sorted.
func (im *Importer) Packages() []string {
	paths := make([]string, 0, len(im.tables))
	for p := range im.tables {
		if p != plainPath && p != linked.Path {
			paths = append(paths, p)
		}
	}
	sort.Strings(paths)
	return paths
}

// Preloaded lists the packages that cells can use without an import, sorted
// by path.
func (im *Importer) Preloaded() []*types.Package {
	var list []*types.Package
	for p, t := range im.tables {
		if t.Preloaded {
			im.mu.Lock()
			list = append(list, im.pkg(p, t.Name))
			im.mu.Unlock()
		}
	}
	slices.SortFunc(list, func(a, b *types.Package) int { return strings.Compare(a.Path(), b.Path()) })
	return list
}

// Symbol returns a symbol of a package's table.
func (im *Importer) Symbol(path, name string) (reflect.Value, bool) {
	if t := im.table(path); t != nil {
		v, ok := t.Symbols[name]
		return v, ok
	}
	return reflect.Value{}, false
}

// PackageName returns the name in the package clause of an importable
// package, or "".
func (im *Importer) PackageName(path string) string {
	if t := im.tables[path]; t != nil {
		return t.Name
	}
	return ""
}

// Exports returns the tables in the form that (*interp.Interpreter).Use takes,
// but for those that Late returns.
func (im *Importer) Exports() map[string]map[string]reflect.Value {
	all := make(map[string]map[string]reflect.Value, len(im.tables))
	for p, t := range im.tables {
		if t.Load == nil {
			all[path.Join(p, t.Name)] = t.Symbols
		}
	}
	for key, syms := range yaegiunsafe.Symbols { // its conversions of unsafe.Pointer
		if strings.HasPrefix(key, "github.com/traefik/yaegi/") {
			all[key] = syms
		}
	}
	if len(im.directs.types) > 0 {
		all["direct/direct"] = im.directs.types
		all["github.com/traefik/yaegi/direct"] = map[string]reflect.Value{"convert": reflect.ValueOf(im.directs.convert)}
	}
	all["."] = stdlib.Symbols["."]
	return all
}

// Late returns, as Exports does, the tables of packages that are loaded when
// they are first asked for, and have been.
func (im *Importer) Late() map[string]map[string]reflect.Value {
	all := make(map[string]map[string]reflect.Value)
	for p, t := range im.tables {
		if t.loaded.Load() {
			all[path.Join(p, t.Name)] = t.Symbols
		}
	}
	return all
}

// Import implements types.Importer. What has type parameters is in the
// packages as far as Source knows it: reflect, and so the tables, do not.
func (im *Importer) Import(path string) (*types.Package, error) {
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.load(path)
}

// load is Import, for callers that hold the lock.
func (im *Importer) load(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	t := im.table(path)
	if t == nil {
		if path == "C" {
			return nil, errors.New("cells have no cgo: they are interpreted; C++ for the GPU goes into a cell of its own, %%cuda")
		}
		return nil, fmt.Errorf("package %s is not in the standard library or among the kernel's own packages", path)
	}
	p := im.pkg(path, t.Name)
	if !t.imported {
		t.imported = true
		for name, v := range t.Symbols {
			im.declare(p, name, v)
		}
		im.complete()
		p.MarkComplete()
		im.addGeneric(p)
	}
	return p, nil
}

// TypeOf returns the checker's type for a compiled one.
func (im *Importer) TypeOf(t reflect.Type) types.Type {
	im.mu.Lock()
	defer im.mu.Unlock()
	typ := im.typ(t)
	im.complete()
	return typ
}

// pkg returns the package of a path, made when first seen.
func (im *Importer) pkg(path, name string) *types.Package {
	p := im.pkgs[path]
	if p == nil {
		p = types.NewPackage(path, name)
		im.pkgs[path] = p
	}
	return p
}
