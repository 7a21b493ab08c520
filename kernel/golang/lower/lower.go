// Package lower writes checked Go as the simple Go that yaegi runs right:
// types are erased to representations (reps.go), generic code is
// instantiated, closures are lifted to functions, constants are folded, and
// interfaces, panics, defers and the newer loops become calls of package rt.
package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"sync"

	"gocuda/kernel/golang/rt"
)

// Host tells what the interpreter knows of compiled packages.
type Host interface {
	// Symbol returns a symbol of a package's table: see host.Package.
	Symbol(path, name string) (reflect.Value, bool)
	// Exported says whether the table names a type.
	Exported(path, name string) bool
	// IsHost says whether a package is compiled.
	IsHost(path string) bool
	// PackageName is the name of a package in its clause.
	PackageName(path string) string
	// Direct is the type of package direct whose conversion calls a function
	// without reflection: see host.Direct.
	Direct(function string) (symbol string, ok bool)
	// DirectTraits says whether code of cells may have run in the meantime that the
	// function's caller counts on, and whether its result depends on the arguments
	// alone.
	DirectTraits(function string) (waits, pure bool)
	// Define adds a symbol to the package that lowered code imports as rt.
	Define(name string, v reflect.Value)
	// Define a type under a name in package rt for one that its own table lacks.
}

// Decl is a declared function that lowered code can call.
type Decl struct {
	Func *ast.FuncDecl
	Info *types.Info
	Cell string // where it is, for traces
	// Sig, if set, has the parameters that the body names.
	Sig *types.Signature
	// TypeParams, if set, are the type parameters that the body names.
	TypeParams *types.TypeParamList
	// Hidden keeps it out of traces.
	Hidden bool
	// Redirect lets a later cell replace the function under its callers.
	Redirect bool
	// Replaces is the function of an earlier cell whose callers this one
	// takes over, or nil. Its signature is the same.
	Replaces *types.Func
}

// Lowerer lowers the cells of one session.
type Lowerer struct {
	rt      *rt.Runtime
	host    Host
	fset    *token.FileSet
	context *types.Context

	// SourceDecl finds the declaration of a function of a standard package
	// that is there as source (slices, maps, ...), or nil.
	SourceDecl func(*types.Func) *Decl
	// Later says whether a method that is called through an interface is to be
	// lowered by its first call.
	Later func(*types.Func) bool
	// SourcePkg says whether an object was declared by such source.
	SourceObj func(types.Object) bool

	keys       sync.Mutex // guards objIDs and typeIDs
	objIDs     map[types.Object]int
	reps       map[string]string
	loops      map[string]bool
	kinds      map[string][]fieldKind
	bare       map[string]bool
	structs    map[string]string
	structText map[string]string
	making     map[string]bool
	typeIDs    map[string]*rt.Type
	hosted     map[string]bool // bare types whose reflect type the runtime knows
	boxed      []*boxedType
	boxedKeys  map[string]bool
	globals    map[types.Object]string
	usedByFunc map[types.Object]bool
	decls      map[*types.Func]*Decl
	instances  map[string]string
	arguments  map[*types.Func][][]types.Type // of the instances of methods that may be replaced
	redirects  map[string]string              // the variable with what replaces a function, by its lowered name
	converters map[string]string
	dispatch   map[string]*dispatcher
	order      []*dispatcher
	unlistedT  map[types.Object]string
	later      []*later
	laterIDs   map[string]int // by the instance
	aliases    map[string]string
	helpers    map[string]string
	counter    int
	inBrackets int // conversions to a type in brackets that were written
	bodyPos    bool

	// One cell's output.
	imports strings.Builder
	types   strings.Builder
	code    strings.Builder
	inits   []string
	starts  map[*ast.EmptyStmt]string // what Start made, with the functions
	work    []func()
	undo    []func()
	cell    string
	program bool

	dressing bool // values have been looked at by reflection: see dress
}

// New returns a Lowerer.
func New(r *rt.Runtime, host Host, fset *token.FileSet) *Lowerer {
	return &Lowerer{
		rt: r, host: host, fset: fset, context: types.NewContext(),
		SourceDecl: func(*types.Func) *Decl { return nil },
		SourceObj:  func(types.Object) bool { return false },
		Later:      func(*types.Func) bool { return false }, laterIDs: make(map[string]int),
		objIDs: make(map[types.Object]int), reps: make(map[string]string), loops: make(map[string]bool),
		kinds: make(map[string][]fieldKind), bare: make(map[string]bool), structs: make(map[string]string),
		structText: make(map[string]string), making: make(map[string]bool), typeIDs: make(map[string]*rt.Type),
		hosted: make(map[string]bool), boxedKeys: make(map[string]bool), globals: make(map[types.Object]string), usedByFunc: make(map[types.Object]bool),
		decls: make(map[*types.Func]*Decl), instances: make(map[string]string), arguments: make(map[*types.Func][][]types.Type), redirects: make(map[string]string),
		converters: make(map[string]string), dispatch: make(map[string]*dispatcher),
		unlistedT: make(map[types.Object]string), aliases: make(map[string]string), helpers: make(map[string]string),
	}
}

// put sets a map's entry so that abandoning the cell takes it back.
func put[K comparable, V any](l *Lowerer, m map[K]V, k K, v V) {
	old, had := m[k]
	l.undo = append(l.undo, func() {
		if had {
			m[k] = old
		} else {
			delete(m, k)
		}
	})
	m[k] = v
}

// Begin starts a cell.
func (l *Lowerer) Begin(cell string, program bool) {
	l.imports.Reset()
	l.types.Reset()
	l.code.Reset()
	l.inits, l.work, l.undo = nil, nil, nil
	l.starts = make(map[*ast.EmptyStmt]string)
	l.cell, l.program = cell, program
}

// Abandon takes back what the cell added: it did not compile.
func (l *Lowerer) Abandon() {
	for i := len(l.undo) - 1; i >= 0; i-- {
		l.undo[i]()
	}
	l.undo = nil
}

// fresh makes a name that no other part of lowered code has.
func (l *Lowerer) fresh(prefix string) string {
	l.counter++
	return fmt.Sprintf("%s%d", prefix, l.counter)
}

// helper is a function of lowered code that is written once, at first use.
func (l *Lowerer) helper(key string, write func(name string)) string {
	if h, ok := l.helpers[key]; ok {
		return h
	}
	h := l.fresh("h")
	put(l, l.helpers, key, h)
	write(h)
	return h
}

// clean makes an identifier part of a user's name: yaegi is not to meet
// letters that it might not know.
func clean(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 128 && (r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return -1
	}, name)
}

// use imports a compiled package and returns its name in lowered code.
func (l *Lowerer) use(path string) string {
	if a, ok := l.aliases[path]; ok {
		return a
	}
	alias := "h_" + clean(strings.ReplaceAll(path, "/", "_"))
	for _, taken := range l.aliases {
		if taken == alias {
			alias = l.fresh(alias + "_")
			break
		}
	}
	put(l, l.aliases, path, alias)
	fmt.Fprintf(&l.imports, "import %s %q\n", alias, path)
	return alias
}

// sym is a function of package rt.
func (l *Lowerer) sym(name string) string { return l.use("rt") + "." + name }

func (l *Lowerer) hostPkg(p *types.Package) bool { return l.host.IsHost(p.Path()) }

func (l *Lowerer) sourceObj(o types.Object) bool { return l.SourceObj(o) }

// typeOf gives a type its number.
func (l *Lowerer) typeOf(t types.Type) *rt.Type {
	t = types.Unalias(t)
	key := l.typeKey(t)
	d := l.numbered(key)
	if d == nil {
		d = l.rt.AddType(t, rt.TypeString(t))
		l.number(key, d)
		l.undo = append(l.undo, func() { l.number(key, nil) })
	}
	return d
}

// numbered finds the number of a type by its key; nil: it has none. Goroutines
// of cells ask, at any time.
func (l *Lowerer) numbered(key string) *rt.Type {
	l.keys.Lock()
	defer l.keys.Unlock()
	return l.typeIDs[key]
}

func (l *Lowerer) number(key string, d *rt.Type) {
	l.keys.Lock()
	defer l.keys.Unlock()
	if d == nil {
		delete(l.typeIDs, key)
	} else {
		l.typeIDs[key] = d
	}
}

// LookupType finds the number of a type that has one.
func (l *Lowerer) LookupType(t types.Type) *rt.Type { return l.numbered(l.typeKey(types.Unalias(t))) }

// TypeKey is a text that identical types share, and no others.
func (l *Lowerer) TypeKey(t types.Type) string { return l.typeKey(t) }

// NumberFor gives a type a number, unless it has one.
func (l *Lowerer) NumberFor(t types.Type) *rt.Type {
	t = types.Unalias(t)
	key := l.typeKey(t)
	if d := l.numbered(key); d != nil {
		return d
	}
	d := l.rt.AddType(t, rt.TypeString(t))
	l.number(key, d)
	return d
}

// IsHost says whether compiled code knows a type by its name.
func (l *Lowerer) IsHost(n *types.Named) bool { return l.isHost(n) }

// id is the number of a type that a switch or assertion asks for.
func (l *Lowerer) id(t types.Type) int {
	d := l.typeOf(t)
	if l.isBare(t) && !types.IsInterface(t) {
		key := l.typeKey(t)
		if !l.hosted[key] {
			put(l, l.hosted, key, true)
			l.inits = append(l.inits, fmt.Sprintf("%s(%d, (*%s)(nil))", l.sym("Host"), d.ID, l.rep(t)))
		}
	}
	return d.ID
}

// unlisted names a compiled type that its package's table lacks, such as the
// result of a function that returns an unexported type.
func (l *Lowerer) unlisted(n *types.Named) string {
	if name, ok := l.unlistedT[n.Obj()]; ok {
		return name
	}
	return l.composite(n.Underlying())
}

// Output is one lowered cell.
type Output struct {
	Imports string // to be evaluated first
	Decls   string // declarations
	Entry   string // the function that runs the cell
}

// Finish lowers what is still wanted and returns the cell's code. body is the
// name of the function that runs the cell's statements.
func (l *Lowerer) Finish(body string) Output {
	l.drain()
	const entry = "cell" // the interpreter forgets the one before
	var text strings.Builder
	text.WriteString(l.types.String())
	text.WriteString(l.code.String())
	fmt.Fprintf(&text, "func %s() {\n", entry)
	for _, s := range l.inits {
		text.WriteString(s)
		text.WriteByte('\n')
	}
	if body != "" {
		fmt.Fprintf(&text, "%s()\n", body)
	}
	text.WriteString("}\n")
	l.rt.AddFunc(entry, &rt.Func{Hidden: true})
	return Output{Imports: l.imports.String(), Decls: text.String(), Entry: entry}
}

// drain lowers functions until none is wanted, and then the dispatchers,
// which may want more.
func (l *Lowerer) drain() {
	for {
		for len(l.work) > 0 {
			w := l.work[0]
			l.work = l.work[1:]
			w()
		}
		if !l.registerMethods() && !l.writeDispatchers() {
			return
		}
	}
}

// Declare makes a user's function known; Want lowers it.
func (l *Lowerer) Declare(f *types.Func, d *Decl) { put(l, l.decls, f, d) }

func (l *Lowerer) declOf(f *types.Func) *Decl {
	if d := l.decls[f]; d != nil {
		return d
	}
	return l.SourceDecl(f)
}

// Want lowers a function that is not generic even if nothing calls it yet,
// and returns its lowered name.
func (l *Lowerer) Want(f *types.Func) string { return l.function(f, nil) }

// Global gives a package variable its place and returns its lowered name.
func (l *Lowerer) Global(v *types.Var) string {
	if name, ok := l.globals[v]; ok {
		return name
	}
	name := l.fresh("g_" + clean(v.Name()) + "_")
	put[types.Object](l, l.globals, v, name)
	fmt.Fprintf(&l.types, "var %s %s\n", name, l.slot(v.Type()))
	return name
}

// Alias makes v another name of a variable that has a place.
func (l *Lowerer) Alias(v *types.Var, of *types.Var) {
	put[types.Object](l, l.globals, v, l.Global(of))
}

// redirect makes the callers of the function that d replaces call name, an
// instance for targs. All versions of a function share the variable that holds
// the newest.
func (l *Lowerer) redirect(name string, d *Decl, targs []types.Type) (variable string) {
	if d.Replaces != nil {
		if old, ok := l.instances[l.instanceKey(d.Replaces, targs)]; ok {
			if variable, ok := l.redirects[old]; ok {
				l.inits = append(l.inits, fmt.Sprintf("%s = %s", variable, name), old+"_r = true")
				put(l, l.redirects, name, variable)
				return variable
			}
		}
	}
	put(l, l.redirects, name, name+"_w")
	return ""
}

// Start makes the statement that calls an init or main function, which has no
// source.
func (l *Lowerer) Start(fun *types.Func) ast.Stmt {
	s := &ast.EmptyStmt{}
	l.starts[s] = l.Want(fun)
	return s
}

// Zero writes a zero value.
func (l *Lowerer) Zero(t types.Type) string { return l.zero(t) }

// Free lets go of what a variable holds that no later cell can name, unless
// a function still uses it.
func (l *Lowerer) Free(v *types.Var) {
	if name, ok := l.globals[v]; ok && !l.usedByFunc[v] {
		l.inits = append(l.inits, fmt.Sprintf("%s = %s", name, l.zeroSlot(v.Type())))
	}
}

// Take gives a variable the value that was Put in the runtime.
func (l *Lowerer) Take(v *types.Var, n int64) {
	f := &fn{l: l}
	text := fmt.Sprintf("%s(%d)", l.sym("Take"), n)
	l.inits = append(l.inits, fmt.Sprintf("%s = %s", l.Global(v), f.extract(text, v.Type())))
}
