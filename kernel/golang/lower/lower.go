// Package lower writes checked Go as the simple Go that yaegi runs right:
// types become their representations (representation.go), and real types where
// values go into interfaces (real_types.go); generic code is instantiated
// (substitute.go), closures are lifted to functions (function.go), constants are
// folded, and interfaces, panics, defers and the newer loops become calls of
// package rt.
//
// A function, once something wants it (Lowerer.function), goes through these
// passes:
//
//   - analyze (analyze.go) finds the variables that live behind a pointer;
//   - lowering (statements from stmt.go on, expressions from expr.go on) makes
//     trees of expressions that know their type (ir_expr.go) in lists of
//     statements (ir_stmt.go). What an operand needs done first is a statement
//     before it, and operands that it could change go into temporaries (operands);
//   - settle and hoist (hoist_calls.go, variable.go) take out of the outermost loop
//     what all its iterations have in common;
//   - write makes the text.
//
// When no function is wanted any more, the methods that compiled code probably
// calls, and the dispatchers of calls through interfaces (dispatch.go), are
// written, which may want more: drain. testdata/golden shows what becomes of each
// construct.
package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"sync"

	"gocuda/cudaapi/gokernel"
	"gocuda/kernel/golang/host/trait"
	"gocuda/kernel/golang/rt"
)

// Host tells what the interpreter knows of compiled packages.
type Host interface {
	// Symbol returns a symbol of a package's table: see host.Package.
	Symbol(path, name string) (reflect.Value, bool)
	// IsHost says whether a package is compiled.
	IsHost(path string) bool
	// PackageName is the name of a package in its clause.
	PackageName(path string) string
	// Direct is the type of package direct whose conversion calls a function
	// without reflection: see host.Direct.
	Direct(function string) (symbol string, ok bool)
	// Traits are those of a function: see host.Package.
	Traits(types.Object) trait.Set
	// Type is the compiled type that a defined type is, or whose fields a struct is;
	// nil if there is none.
	Type(types.Type) reflect.Type
	// Instance is an instance of a generic function, such as slices.Sort, that is compiled,
	// by its type; false: there is none.
	Instance(function string, typ reflect.Type) (reflect.Value, bool)
	// SourceDecl finds the declaration of a function of a standard package
	// that is there as source (slices, maps, ...), or nil.
	SourceDecl(*types.Func) *Decl
	// IsSource says whether an object was declared by such source.
	IsSource(types.Object) bool
	// Later says whether a method that is called through an interface is to be
	// lowered by its first call.
	Later(*types.Func) bool
	// Define adds a symbol to the package that lowered code imports as rt.
	Define(name string, v reflect.Value)
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

	// Loops, if set, compiles loops.
	Loops Loops
	// Instrument has lowered code tell the runtime what it reads and writes in memory
	// that devices use too: see rt.Runtime.Touched.
	Instrument bool
	// Debug has the debugger stop in the functions of cells.
	Debug bool
	// Slot is that of the cell: see BodyName.
	Slot int

	session
	realTypes
	output
}

// session is what lowered code of all cells has, by what it is made of.
type session struct {
	objIDs     map[types.Object]int
	globals    map[types.Object]string
	usedByFunc map[types.Object]bool
	decls      map[*types.Func]*Decl
	instances  map[string]string
	arguments  map[*types.Func][][]types.Type // of the instances of methods that may be replaced
	redirects  map[string]string              // the variable with what replaces a function, by its lowered name
	watched    map[string]bool                // lowered functions that their compiled form replaces while nothing is queued
	dispatch   map[string]*dispatcher
	order      []*dispatcher
	later      []*later
	laterIDs   map[string]int // by the instance
	aliases    map[string]string
	helpers    map[string]string
	counter    int
	bodyPos    map[string]bool
}

// realTypes are the types that values have in the runtime, and how values of a type are
// represented, by the type's key.
type realTypes struct {
	signed    map[string]bool // the representations of what may be a zero with a sign
	reps      map[string]representation
	newest    reals
	first     reals
	changed   map[*types.Named]bool // got methods after they were real
	typeIDs   map[string]*rt.Type
	demanded  map[int]demanded // methods of real types, by their numbers
	lowered   map[int]bool     // ... that the runtime has, or will have when its cell runs
	methods   map[string][]demanded
	boxed     []*boxedType
	boxedKeys map[string]bool

	literals []gokernel.Literal // of which there is one function each: see single
	singles  sync.Map           // the literals by their functions
}

// output is that of one cell.
type output struct {
	cell     string
	program  bool
	imports  strings.Builder
	types    strings.Builder
	code     strings.Builder
	inits    []string
	ends     []string                  // what follows the cell's statements
	starts   map[*ast.EmptyStmt]string // what Start made, with the functions
	work     []func()
	last     []func() // when all is lowered
	undo     []func()
	replaced []string
}

// New returns a Lowerer.
func New(r *rt.Runtime, host Host, fset *token.FileSet) *Lowerer {
	return &Lowerer{
		rt: r, host: host, fset: fset, context: types.NewContext(),
		session: session{
			objIDs: make(map[types.Object]int), globals: make(map[types.Object]string), usedByFunc: make(map[types.Object]bool),
			decls: make(map[*types.Func]*Decl), instances: make(map[string]string), arguments: make(map[*types.Func][][]types.Type), redirects: make(map[string]string), watched: make(map[string]bool),
			dispatch: make(map[string]*dispatcher), laterIDs: make(map[string]int), aliases: make(map[string]string), helpers: make(map[string]string), bodyPos: make(map[string]bool),
		},
		realTypes: realTypes{
			signed: make(map[string]bool), reps: make(map[string]representation), newest: make(reals), first: make(reals), changed: make(map[*types.Named]bool),
			typeIDs: make(map[string]*rt.Type), demanded: make(map[int]demanded), lowered: make(map[int]bool), methods: make(map[string][]demanded), boxedKeys: make(map[string]bool),
		},
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
	l.output = output{cell: cell, program: program, starts: make(map[*ast.EmptyStmt]string)}
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

// typeOf gives a type its number.
func (l *Lowerer) typeOf(t types.Type) *rt.Type {
	key := l.typeKey(t)
	d := l.typeIDs[key]
	if d == nil {
		d = l.rt.AddType(l.real(t), l.represent(t).typ)
		put(l, l.typeIDs, key, d)
	}
	return d
}

// id is the number of a type that a switch or assertion asks for.
func (l *Lowerer) id(t types.Type) int { return l.typeOf(t).ID }

// Output is one lowered cell.
type Output struct {
	Imports string // to be evaluated first
	Decls   string // declarations
	Entry   string // the function that runs the cell
	// Replaced are functions of earlier cells that only call another one once Entry runs.
	Replaced []string
}

// IsLiteral says whether a function in lowered code makes a function literal: only the code
// that was lowered with it names it.
func IsLiteral(name string) bool {
	name, ok := strings.CutPrefix(name, "lit")
	name = strings.TrimSuffix(strings.TrimSuffix(name, handing), signed)
	return ok && name != "" && strings.Trim(name, "0123456789") == ""
}

// Names are those of the functions that a declared function is in lowered code.
func Names(name string) []string {
	if call := callName(name); call != name {
		return []string{name, call}
	}
	return []string{name}
}

// Redirected is the text of a function that was replaced: what it does but for that is gone.
func Redirected(text string) string {
	before, after, ok := strings.Cut(text, "_r { ")
	if at := strings.LastIndex(before, "\nif "); ok && at >= 0 {
		after, _, _ = strings.Cut(after, " }\n")
		return before[:at] + "\n" + after + "\n}\n"
	}
	return text
}

// Finish lowers what is still wanted and returns the cell's code. body is the
// name of the function that runs the cell's statements.
func (l *Lowerer) Finish(body string) Output {
	l.drain()
	for _, step := range l.last {
		step()
	}
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
		if !l.program {
			fmt.Fprintf(&text, "%s()\n", l.sym("Begun"))
		}
		fmt.Fprintf(&text, "%s()\n", body)
	}
	for _, s := range l.ends {
		text.WriteString(s)
		text.WriteByte('\n')
	}
	text.WriteString("}\n")
	l.rt.AddFunc(entry, &rt.Func{Hidden: true})
	return Output{Imports: l.imports.String(), Decls: text.String(), Entry: entry, Replaced: l.replaced}
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

// Declare makes a user's function known; Want lowers it. What it replaces was lowered.
func (l *Lowerer) Declare(f *types.Func, d *Decl) {
	put(l, l.decls, f, d)
	if old := d.Replaces; old != nil && l.decls[old] != nil {
		put(l, l.decls, old, nil)
		delete(l.decls, old)
	}
}

func (l *Lowerer) declOf(f *types.Func) *Decl {
	if d := l.decls[f]; d != nil {
		return d
	}
	return l.host.SourceDecl(f)
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
	fmt.Fprintf(&l.types, "var %s %s\n", name, l.rep(v.Type()))
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
				l.replaced = append(l.replaced, old)
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

// used notes that a function uses a package variable.
func (l *Lowerer) used(v types.Object) {
	if !l.usedByFunc[v] {
		put(l, l.usedByFunc, v, true)
	}
}

// Free lets go of what a variable holds that no later cell can name, unless
// a function still uses it: before the cell's statements, or if they still read
// it, after them.
func (l *Lowerer) Free(v *types.Var, read bool) {
	name, ok := l.globals[v]
	if !ok || l.usedByFunc[v] {
		return
	}
	zero := fmt.Sprintf("%s = %s", name, l.zero(v.Type()))
	if !read {
		l.inits = append(l.inits, zero)
		return
	}
	l.last = append(l.last, func() {
		if !l.usedByFunc[v] {
			l.ends = append(l.ends, zero)
		}
	})
}

// Take gives a variable the value that was Put in the runtime.
func (l *Lowerer) Take(v *types.Var, n int64) {
	l.inits = append(l.inits, fmt.Sprintf("%s = %s", l.Global(v), l.extract(l.runtime(anyType, "Take", intLiteral(n)), v.Type())))
}
