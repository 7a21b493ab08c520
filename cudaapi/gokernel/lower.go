package gokernel

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// unit lowers a checked source to IR.
type unit struct {
	*checked
	target   target
	host     *hostUnit                     // of a program for the host
	steps    map[*ir.Func]*Function        // nil: statements of the source are not marked
	decls    map[*types.Func]*ast.FuncDecl // of the source
	imported map[*types.Func]*ast.FuncDecl // of what it imports, those that have bodies
	funcs    map[string]*ir.Func
	globals  map[*types.Var]*ir.Var
	taken    map[string]bool // names of functions, types and globals in the output
	prog     *ir.Program
	errs     Errors
	open     []*ir.Func      // being lowered
	inside   []*ast.FuncDecl // being inlined
	// statement is the last call that was a statement: nobody takes its results.
	statement *ast.CallExpr
	types     typeList
	here      token.Pos // of the statement that is being lowered
	at        map[ir.Stmt]token.Pos
	movable   map[*ir.Var]token.Pos // variables that can be in other memory
	comments  ast.CommentMap        // of the source; nil where they are not kept
	kept      map[any]string        // comments of functions and statements of the output
}

// fn lowers one function.
type fn struct {
	u         *unit
	f         *ir.Func
	parent    *fn // of a function literal
	subst     substitution
	vars      map[types.Object]*ir.Var
	uses      *usage
	taken     map[string]int // names in the output
	out       *[]ir.Stmt
	targets   []destination
	labels    map[string]*ir.Label
	results   []*ir.Var // named ones
	sig       *types.Signature
	nextBody  *ir.Label       // where a fallthrough goes
	parallel  bool            // the places of an assignment to several are being lowered
	iteration *iteration      // of the body of a loop over a function
	own       map[string]bool // the labels of that body
	osrEntry  *osrEntry       // of the function of a loop
	counters  bool            // the variables of a loop are being declared, of which each iteration has its own
}

// destination is a statement that break or continue can name.
type destination struct {
	name string
	*ir.Label
	loop bool
}

// bail ends the lowering of a function whose error was recorded.
type bail struct{}

func (u *unit) fail(pos token.Pos, format string, args ...any) {
	u.errs = append(u.errs, &Error{u.fset.Position(pos), fmt.Sprintf(format, args...)})
	panic(bail{})
}

func (f *fn) fail(at ast.Node, format string, args ...any) { f.u.fail(at.Pos(), format, args...) }

// refuse fails with what the target says of something that it has not.
func (f *fn) refuse(at ast.Node, what refusal, args ...any) {
	f.fail(at, f.u.target.sentence(what), args...)
}

// kernels lowers all functions that can be launched.
func (u *unit) kernels() {
	u.decls, u.imported = make(map[*types.Func]*ast.FuncDecl), make(map[*types.Func]*ast.FuncDecl)
	for _, file := range u.library {
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				u.imported[u.info.Defs[d.Name].(*types.Func)] = d
			}
		}
	}
	u.funcs, u.at, u.movable = make(map[string]*ir.Func), make(map[ir.Stmt]token.Pos), make(map[*ir.Var]token.Pos)
	u.globals = make(map[*types.Var]*ir.Var)
	u.taken = make(map[string]bool)
	u.prog = new(ir.Program)
	var list []*types.Func
	for _, d := range u.file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			o := u.info.Defs[d.Name].(*types.Func)
			u.decls[o] = d
			if sig := o.Signature(); d.Body != nil && sig.Recv() == nil && sig.TypeParams().Len() == 0 && sig.Results().Len() == 0 && launchable(sig) {
				list = append(list, o)
			}
		}
	}
	for _, o := range list {
		u.try(func() { u.function(o, nil, u.decls[o]).Kernel = true })
	}
	// What no kernel calls is checked, too.
	for o := range u.decls {
		if o.Signature().TypeParams().Len() == 0 && o.Signature().RecvTypeParams().Len() == 0 && !takesFuncs(o.Signature()) && !givesFunc(o.Signature()) {
			u.try(func() { u.function(o, nil, u.decls[o]) })
		}
	}
}

// instance lowers an instance of a generic kernel, such as axpy[float32].
func (u *unit) instance(expr string) (f *ir.Func) {
	u.try(func() {
		e, err := parseExpr(expr)
		if err != nil {
			u.errs = append(u.errs, &Error{Message: fmt.Sprintf("%s: %v", expr, err)})
			return
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{}, Uses: map[*ast.Ident]types.Object{}}
		if err := types.CheckExpr(u.fset, u.pkg, token.NoPos, e, info); err != nil {
			u.errs = append(u.errs, &Error{Message: fmt.Sprintf("%s: %v", expr, err)})
			return
		}
		for id, inst := range info.Instances {
			if o, ok := info.Uses[id].(*types.Func); ok && u.decls[o] != nil && o.Signature().Results().Len() == 0 {
				f = u.function(o, typesOf(inst.TypeArgs), u.decls[o])
				f.Kernel = true
				return
			}
		}
		u.errs = append(u.errs, &Error{Message: expr + " is not an instance of a generic function without results"})
	})
	return f
}

// try does what may end by an error that was recorded.
func (u *unit) try(do func()) {
	depth := len(u.open)
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(bail); !ok {
				panic(p)
			}
			u.open = u.open[:depth]
		}
	}()
	do()
}

func launchable(sig *types.Signature) bool { return !takesFuncs(sig) && !sig.Variadic() }

func takesFuncs(sig *types.Signature) bool {
	for v := range sig.Params().Variables() {
		if _, ok := v.Type().Underlying().(*types.Signature); ok {
			return true
		}
	}
	return false
}

// givesFunc says whether a function returns another, and nothing else: it is inlined.
func givesFunc(sig *types.Signature) bool {
	if sig.Results().Len() != 1 {
		return false
	}
	_, ok := sig.Results().At(0).Type().Underlying().(*types.Signature)
	return ok
}

func typesOf(l *types.TypeList) []types.Type {
	var list []types.Type
	for t := range l.Types() {
		list = append(list, t)
	}
	return list
}

// unique makes a name of the output that nothing else at the top level has.
func (u *unit) unique(name string) string {
	name = clean(name)
	for n := 1; ; n++ {
		try := name
		if n > 1 || reserved[name] {
			try = fmt.Sprintf("%s_%d", name, n)
		}
		if !u.taken[try] {
			u.taken[try] = true
			return try
		}
	}
}

// function lowers a function, or gives it if that is done.
func (u *unit) function(o *types.Func, targs []types.Type, decl *ast.FuncDecl) *ir.Func {
	key := keyOf(o, decl)
	name := o.Name()
	shown := name
	if recv := o.Signature().Recv(); recv != nil {
		t := recv.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if n, ok := types.Unalias(t).(*types.Named); ok {
			name = n.Obj().Name() + "_" + name
			shown = n.Obj().Name() + "." + o.Name()
		}
	}
	if u.imported[o] != nil {
		shown = o.Pkg().Name() + "." + shown
	}
	if len(targs) > 0 {
		var args []string
		for _, t := range targs {
			args = append(args, types.TypeString(t, func(*types.Package) string { return "" }))
		}
		shown += "[" + strings.Join(args, ",") + "]"
		for _, t := range targs { // their texts may be the same
			key += fmt.Sprintf(",%d", u.types.number(t))
		}
		name += "_" + strings.Join(args, "_")
	}
	if f := u.funcs[key]; f != nil {
		for _, o := range u.open {
			if o == f {
				u.target.recursive(u, decl.Name.Pos(), shown)
			}
		}
		return f
	}
	if decl.Body == nil {
		return u.foreign(key, o, decl)
	}
	f := &ir.Func{Name: u.unique(name), Go: shown, Pos: decl.Pos()}
	u.keepComments(decl, f, f)
	u.target.named(f, o)
	u.funcs[key] = f
	subst := make(substitution)
	sig, typ := u.target.signature(o, decl.Type)
	params := sig.TypeParams()
	if sig.Recv() != nil {
		params = sig.RecvTypeParams()
	}
	for i := range params.Len() {
		if i < len(targs) {
			subst[params.At(i)] = targs[i]
		}
	}
	u.open = append(u.open, f)
	done := u.target.facts(u, o)
	c := &fn{u: u, f: f, subst: subst, vars: make(map[types.Object]*ir.Var), taken: make(map[string]int), labels: make(map[string]*ir.Label), uses: usageOf(u.info, decl.Body)}
	if sig.Recv() != nil {
		c.param(sig.Recv(), decl.Recv.List[0])
	}
	c.body(sig, typ, decl.Body)
	done()
	u.open = u.open[:len(u.open)-1]
	u.prog.Funcs = append(u.prog.Funcs, f)
	return f
}

// keyOf tells functions apart: another cell may have one of that name.
func keyOf(o *types.Func, decl *ast.FuncDecl) string { return fmt.Sprintf("%s %p", o.FullName(), decl) }

// foreign is a function that is declared without a body: a __device__ function of the
// CUDA C++ that the program is compiled with.
func (u *unit) foreign(key string, o *types.Func, decl *ast.FuncDecl) *ir.Func {
	sig := o.Signature()
	if sig.Recv() != nil || sig.TypeParams().Len() > 0 || sig.Variadic() || sig.Results().Len() > 1 {
		u.fail(decl.Pos(), "%s has no body, so it is a __device__ function of CUDA C++: it cannot be a method, generic or variadic, and has one result or none", o.Name())
	}
	f := &ir.Func{Name: o.Name(), Go: o.Name(), Pos: decl.Pos(), Foreign: true}
	for v := range sig.Params().Variables() {
		t := v.Type()
		if s, ok := t.Underlying().(*types.Slice); ok {
			t = s.Elem()
		}
		if !simple(t) {
			u.fail(decl.Pos(), "%s has no body, so it is a __device__ function of CUDA C++, which takes numbers, bools, pointers to them, and slices as pointers; not %s", o.Name(), types.TypeString(v.Type(), shortNames))
		}
		f.Params = append(f.Params, &ir.Var{Name: v.Name(), Type: v.Type()})
	}
	for v := range sig.Results().Variables() {
		if !simple(v.Type()) {
			u.fail(decl.Pos(), "%s has no body, so it is a __device__ function of CUDA C++, which gives a number, a bool or a pointer; not %s", o.Name(), types.TypeString(v.Type(), shortNames))
		}
		f.Results = append(f.Results, v.Type())
	}
	u.funcs[key] = f
	return f
}

// body lowers the parameters and statements of a function or a literal.
func (f *fn) body(sig *types.Signature, typ *ast.FuncType, body *ast.BlockStmt) {
	f.sig = sig
	i := 0
	for _, field := range typ.Params.List {
		for range max(1, len(field.Names)) {
			f.param(sig.Params().At(i), field)
			i++
		}
	}
	var list []ir.Stmt
	f.out = &list
	for v := range sig.Results().Variables() {
		t := f.subst.of(v.Type())
		f.usable(t, typ.Results, "a result")
		f.f.Results = append(f.f.Results, t)
		if v.Name() != "" {
			r := f.local(v.Name(), t)
			if v.Name() != "_" {
				f.vars[v] = r
			}
			f.results = append(f.results, r)
			f.emit(&ir.Define{Var: r, Init: &ir.Zero{T: t}})
		}
	}
	f.step(typ.Pos(), body.Lbrace)
	f.stmts(body.List)
	if sig.Results().Len() == 0 {
		f.step(body.Rbrace, body.Rbrace)
	}
	f.f.Body = list
}

func (f *fn) param(v *types.Var, at ast.Node) {
	t := f.subst.of(v.Type())
	if _, ok := t.Underlying().(*types.Signature); ok {
		f.f.Takes = true
	} else {
		f.usable(t, at, "a parameter")
	}
	p := f.local(v.Name(), t)
	if v.Name() != "_" && v.Name() != "" {
		f.vars[v] = p
	}
	f.f.Params = append(f.f.Params, p)
}

// local makes a variable with a name that no other of the function has.
func (f *fn) local(name string, t types.Type) *ir.Var {
	root := f
	for root.parent != nil {
		root = root.parent
	}
	if name == "_" || name == "" {
		name = "t"
	}
	name = clean(name)
	root.taken[name]++
	if n := root.taken[name]; n > 1 || reserved[name] {
		name = fmt.Sprintf("%s_%d", name, n)
	}
	return &ir.Var{Name: name, Type: t}
}

func (f *fn) emit(s ir.Stmt) {
	*f.out = append(*f.out, s)
	f.u.at[s] = f.u.here
}

// within collects what do emits.
func (f *fn) within(do func()) (list []ir.Stmt) {
	old := f.out
	f.out = &list
	do()
	f.out = old
	return list
}

// temp gives an expression's value a name.
func (f *fn) temp(e ir.Expr) ir.Expr {
	switch e.(type) {
	case *ir.Const, *ir.Zero, *ir.FuncRef:
		return e
	}
	v := f.local("t", e.Type())
	f.emit(&ir.Define{Var: v, Init: e})
	return &ir.Ref{Var: v}
}

func (f *fn) typeOf(e ast.Expr) types.Type {
	t := f.u.info.TypeOf(e)
	if t == nil {
		f.fail(e, "this has no type")
	}
	if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		t = types.Default(t)
	}
	return f.subst.of(t)
}

// usable refuses types that the target has no place for.
func (f *fn) usable(t types.Type, at ast.Node, what string) {
	if why := refusedType(f.u.target, t, what); why != "" {
		f.fail(at, "%s", why)
	}
}

// refusedType is what a target says of a type that it has no place for; "" of others.
func refusedType(on target, t types.Type, what string) string {
	bad, why := unusable(on, t, nil)
	if bad == nil {
		return ""
	}
	name := types.TypeString(t, shortNames)
	if bad != t {
		name += ", which holds " + types.TypeString(bad, shortNames) + ","
	}
	return fmt.Sprintf(on.sentence(typedValue), what, name, why)
}

func shortNames(p *types.Package) string {
	if p.Path() == "main" {
		return ""
	}
	return p.Name()
}

// unusable finds what in a type a target has no place for, and says why.
func unusable(on target, t types.Type, within []types.Type) (bad types.Type, why string) {
	for i, w := range within {
		if w != t {
			continue
		}
		for _, w := range within[i:] {
			if _, ok := w.Underlying().(*types.Struct); ok {
				return nil, ""
			}
		}
		return t, "it consists of nothing but itself"
	}
	if len(within) > 100 { // an instantiation cycle
		return t, "it is made of ever larger instances"
	}
	if on.holds(t, within) {
		return nil, ""
	}
	within = append(within, t)
	if bad, why := on.unusable(t, within); bad != nil {
		return bad, why
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Kind() == types.UnsafePointer || u.Kind() == types.Uintptr {
			return t, "use a slice or a typed pointer"
		}
	case *types.Interface:
		return t, "there are no interfaces; write a generic function, or one for each type"
	case *types.Signature:
		return t, "functions can be called, and given to other functions as arguments, but not kept"
	case *types.Pointer:
		return unusable(on, u.Elem(), within)
	case *types.Slice:
		return unusable(on, u.Elem(), within)
	case *types.Array:
		return unusable(on, u.Elem(), within)
	case *types.Struct:
		for v := range u.Fields() {
			if bad, why := unusable(on, v.Type(), within); bad != nil {
				return bad, why
			}
		}
	}
	return nil, ""
}

// usage says what happens to the variables of a function.
type usage struct {
	assigned map[types.Object]bool // after it is declared, wholly or in part
	shaky    map[types.Object]bool // its address is taken, or a literal uses it
}

func usageOf(info *types.Info, body ast.Node) *usage {
	u := &usage{make(map[types.Object]bool), make(map[types.Object]bool)}
	var literals []*ast.FuncLit
	inner := func(o types.Object) bool {
		for _, l := range literals {
			if o.Pos() < l.Pos() || o.Pos() >= l.End() {
				return true
			}
		}
		return false
	}
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			literals = append(literals, n)
			ast.Inspect(n.Body, visit)
			literals = literals[:len(literals)-1]
			return false
		case *ast.Ident:
			if o := info.Uses[n]; o != nil && len(literals) > 0 && inner(o) {
				u.shaky[o] = true
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				if o := rootOf(info, n.X); o != nil {
					u.shaky[o], u.assigned[o] = true, true
				}
			}
		case *ast.SliceExpr:
			if o := rootOf(info, n.X); o != nil {
				if _, array := o.Type().Underlying().(*types.Array); array {
					u.shaky[o], u.assigned[o] = true, true
				}
			}
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if o := rootOf(info, e); o != nil && (n.Tok != token.DEFINE || info.Uses[identOf(e)] != nil) {
					u.assigned[o] = true
				}
			}
		case *ast.IncDecStmt:
			if o := rootOf(info, n.X); o != nil {
				u.assigned[o] = true
			}
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				for _, e := range []ast.Expr{n.Key, n.Value} {
					if e != nil {
						if o := rootOf(info, e); o != nil {
							u.assigned[o] = true
						}
					}
				}
			}
		case *ast.SelectorExpr: // a method with a pointer receiver takes the address
			if s := info.Selections[n]; s != nil && s.Kind() == types.MethodVal {
				if m, ok := s.Obj().(*types.Func); ok {
					if _, ptr := m.Signature().Recv().Type().(*types.Pointer); ptr {
						if o := rootOf(info, n.X); o != nil {
							u.shaky[o], u.assigned[o] = true, true
						}
					}
				}
			}
		}
		return true
	}
	ast.Inspect(body, visit)
	return u
}

func identOf(e ast.Expr) *ast.Ident {
	id, _ := ast.Unparen(e).(*ast.Ident)
	return id
}

// rootOf is the variable that a place is part of, if no pointer or slice lies between.
func rootOf(info *types.Info, e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if o := info.ObjectOf(e); o != nil {
			if _, ok := o.(*types.Var); ok {
				return o
			}
		}
	case *ast.SelectorExpr:
		if s := info.Selections[e]; s != nil && !s.Indirect() {
			return rootOf(info, e.X)
		}
	case *ast.IndexExpr:
		if t := info.TypeOf(e.X); t != nil {
			if _, ok := t.Underlying().(*types.Array); ok {
				return rootOf(info, e.X)
			}
		}
	}
	return nil
}

// global gives a package variable its place.
func (u *unit) global(v *types.Var, at ast.Node) *ir.Var {
	if g := u.globals[v]; g != nil {
		return g
	}
	return u.target.global(u, v, at)
}

func (device) global(u *unit, v *types.Var, at ast.Node) *ir.Var {
	g := &ir.Var{Name: u.unique(v.Name()), Type: v.Type(), Space: ir.Global}
	u.globals[v] = g
	f := &fn{u: u, f: &ir.Func{Go: v.Name()}, vars: make(map[types.Object]*ir.Var), taken: make(map[string]int), uses: &usage{}}
	f.usable(v.Type(), at, "a variable")
	if bad := addresses(v.Type()); bad != nil {
		f.fail(at, "the variable %s holds %s, whose memory nobody allocates: pass it as an argument, or make it an array", v.Name(), types.TypeString(bad, shortNames))
	}
	for _, d := range u.file.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			continue
		}
		for _, s := range gen.Specs {
			s := s.(*ast.ValueSpec)
			for i, id := range s.Names {
				if u.info.Defs[id] != v {
					continue
				}
				if marked(gen.Doc) || marked(s.Doc) {
					g.Space = ir.Constant
				}
				if len(s.Values) == 0 {
					continue
				}
				if len(s.Values) != len(s.Names) {
					f.fail(s, "a variable of a kernel's package takes a constant value")
				}
				var init ir.Expr
				if list := f.within(func() { init = f.to(s.Values[i], v.Type()) }); len(list) > 0 || !isConstant(init) {
					f.fail(s.Values[i], "a variable of a kernel's package takes a constant value; set it from the host with Module.Global")
				}
				g.Init = init
			}
		}
	}
	u.prog.Globals = append(u.prog.Globals, g)
	return g
}

// marked says whether a comment puts a variable into constant memory.
func marked(doc *ast.CommentGroup) bool {
	if doc != nil {
		for _, c := range doc.List {
			if strings.TrimSpace(c.Text) == "//gpu:constant" {
				return true
			}
		}
	}
	return false
}

// addresses finds a slice or a pointer in a type.
func addresses(t types.Type) types.Type {
	switch u := t.Underlying().(type) {
	case *types.Slice, *types.Pointer:
		return t
	case *types.Array:
		return addresses(u.Elem())
	case *types.Struct:
		for v := range u.Fields() {
			if a := addresses(v.Type()); a != nil {
				return a
			}
		}
	}
	return nil
}

func isConstant(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const, *ir.Zero:
		return true
	case *ir.Composite:
		for _, x := range e.Elems {
			if !isConstant(x) {
				return false
			}
		}
		return true
	}
	return false
}

func boolConst(b bool) ir.Expr {
	return &ir.Const{T: types.Typ[types.Bool], Value: constant.MakeBool(b)}
}
