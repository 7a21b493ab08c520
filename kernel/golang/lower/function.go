package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// fn is a function, or a literal, that is being lowered.
type fn struct {
	l    *Lowerer
	info *types.Info
	env  *env
	cell string
	sig  *types.Signature

	parent  *fn
	shared  *shared
	vars    map[types.Object]*local
	caps    []*local // what the literal takes from the functions around it
	capSet  map[*local]bool
	out     code
	name    string           // in traces
	inLit   bool             // ... which is that of a literal
	called  bool             // the literal is called where it stands
	inField *ast.FuncLit     // a field gets its value
	sites   map[string][]int // where it calls what: see calls
	pos     string           // the variable that holds the position
	placed  bool             // it is known of a function that the lowering made, too
	where   int              // the position of the statement that is being lowered

	prefix    []*expr    // what is true where the expression is evaluated that is being lowered
	unchecked bool       // an index was not checked
	outermost *outermost // the outermost loop that is being lowered

	results []*local // where return puts its values, if it cannot just return them
	bare    bool     // return statements return nothing: results are boxed
	frame   *local   // *rt.Frame
	recov   *expr    // the token of recoverable
	yield   *yield   // the range-over-func loop whose body this is
	labels  map[string]string
	breakTo []target
	entries []*osrEntry // of the loops around that can go on in a compiled form
	top     bool        // the statements of a cell
	show    ast.Expr    // the expression whose value the cell shows
	several bool        // show is a slice of what is shown
	user    bool        // it is of a cell
	debug   *debugged
}

// raw is what an expression of the cell was lowered to.
type raw struct {
	x     *expr
	needs code     // the statements before it, once
	of    ast.Expr // the expression, or nil
}

// shared is what a declared function and its literals have in common.
type shared struct {
	boxed map[types.Object]bool
	lits  map[string]int // how many literals a function has, by its name
	raw   map[ast.Expr]*raw
}

// newFn is a function that is in no other.
func (l *Lowerer) newFn(info *types.Info, cell, name string) *fn {
	return &fn{
		l: l, info: info, cell: cell, shared: &shared{},
		vars: make(map[types.Object]*local), name: name, labels: make(map[string]string),
	}
}

// temp makes a name for a variable.
func (f *fn) temp(t types.Type) *expr { return ident(f.l.fresh("t"), t) }

// write writes a function.
func (l *Lowerer) write(name string, h header, body code) {
	if callName(name) == name {
		l.writeFunc(name, h, body)
		return
	}
	l.writeSigned(name, h, body, false)
}

func (l *Lowerer) writeFunc(name string, h header, body code) {
	l.code.WriteString("func " + name + h.String() + " {\n")
	body.write(&l.code)
	l.code.WriteString("}\n")
}

// typeOf is the type of an expression, with type parameters replaced.
func (f *fn) typeOf(e ast.Expr) types.Type {
	if r, ok := f.shared.raw[e]; ok {
		return r.x.typ
	}
	if tv, ok := f.info.Types[e]; ok && tv.Type != nil {
		return f.l.subst(tv.Type, f.env)
	}
	if id, ok := e.(*ast.Ident); ok {
		if o := f.info.ObjectOf(id); o != nil {
			return f.l.subst(o.Type(), f.env)
		}
	}
	panic(f.bug(e, "no type"))
}

func (f *fn) bug(n ast.Node, what string) error {
	return fmt.Errorf("%s: %s (%T)", f.l.fset.Position(n.Pos()), what, n)
}

// canPanic says whether executing a node itself can panic or call something,
// and whether it has an index or a slice expression, which are checked.
func (f *fn) canPanic(n ast.Node) (panics, indexes bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.BlockStmt:
			return false
		case *ast.IfStmt: // its other statements have their own positions
			panics, indexes = f.canPanic(n.Cond)
			return false
		case *ast.CallExpr:
			tv := f.info.Types[ast.Unparen(n.Fun)]
			switch {
			case tv.IsType():
				_, pointer := f.typeOf(n).Underlying().(*types.Pointer)
				_, array := f.typeOf(n).Underlying().(*types.Array)
				panics = panics || pointer || array
			case tv.IsBuiltin():
				switch calledName(n.Fun).Name {
				case "len", "cap", "append", "min", "max", "real", "imag", "complex", "new":
				default:
					panics = true
				}
			default:
				panics = true
			}
		case *ast.IndexExpr:
			if _, ok := f.indexed(n); ok {
				indexes = true
			} else {
				panics = true
			}
		case *ast.SliceExpr:
			indexes = true
			panics = panics || isPointer(f.typeOf(n.X))
		case *ast.SelectorExpr:
			if sel := f.info.Selections[n]; sel != nil && (sel.Kind() != types.FieldVal || sel.Indirect() || isPointer(f.typeOf(n.X))) {
				panics = true
			}
		case *ast.StarExpr, *ast.TypeAssertExpr, *ast.SendStmt:
			panics = true
		case *ast.BinaryExpr:
			switch n.Op {
			case token.QUO, token.REM, token.SHL, token.SHR:
				panics = panics || f.info.Types[n.Y].Value == nil
			case token.EQL, token.NEQ:
				nothing := f.isNil(n.X) || f.isNil(n.Y)
				panics = panics || !nothing && (holdsInterface(f.typeOf(n.X)) || holdsInterface(f.typeOf(n.Y)))
			}
		case *ast.CompositeLit:
			if m, ok := f.typeOf(n).Underlying().(*types.Map); ok {
				panics = panics || holdsInterface(m.Key())
			}
		case *ast.AssignStmt:
			switch n.Tok {
			case token.QUO_ASSIGN, token.REM_ASSIGN, token.SHL_ASSIGN, token.SHR_ASSIGN:
				panics = true
			}
		case *ast.UnaryExpr:
			panics = panics || n.Op == token.ARROW
		}
		return !panics
	})
	return panics, indexes
}

// holdsInterface says whether to compare values of a type may panic.
func holdsInterface(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Array:
		return holdsInterface(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if holdsInterface(f.Type()) {
				return true
			}
		}
	}
	return false
}

// indexed says whether an index expression takes an element of an array, a
// slice or a string, and of what type these are.
func (f *fn) indexed(e *ast.IndexExpr) (types.Type, bool) {
	tv, ok := f.info.Types[e.X]
	if !ok || tv.IsType() {
		return nil, false
	}
	u := f.typeOf(e.X).Underlying()
	switch u.(type) {
	case *types.Array, *types.Slice, *types.Basic:
		return u, true
	}
	return nil, false
}

// instanceKey names an instance of a function.
func (l *Lowerer) instanceKey(f *types.Func, targs []types.Type) string {
	key := l.objKey(f)
	for _, t := range targs {
		key += "," + l.typeKey(t)
	}
	return key
}

// function returns the lowered name of an instance of a declared function or
// method (whose receiver is its first parameter), and has it lowered.
func (l *Lowerer) function(fun *types.Func, targs []types.Type) string {
	fun = fun.Origin()
	key := l.instanceKey(fun, targs)
	if name, ok := l.instances[key]; ok {
		return name
	}
	if len(key) > maxKey {
		panic(Cycle{fun})
	}
	d := l.declOf(fun)
	if d == nil {
		panic(fmt.Errorf("function %s has no body here", fun.FullName()))
	}
	e := l.envOf(fun, targs)
	if d.TypeParams != nil {
		e = newEnv(d.TypeParams, targs)
	}
	sig := fun.Signature()
	if d.Sig != nil {
		sig = d.Sig
	}
	name := l.signedName(l.fresh("f_"+clean(fun.Name())+"_"), varTypes(l.subst(withReceiver(sig), e).(*types.Signature).Params())...)
	put(l, l.instances, key, name)
	if len(targs) > 0 && d.Redirect {
		put(l, l.arguments, fun, append(slices.Clip(l.arguments[fun]), targs))
	}
	l.work = append(l.work, func() { l.lowerDecl(name, fun, d, e, targs) })
	return name
}

func (l *Lowerer) envOf(fun *types.Func, targs []types.Type) *env {
	if len(targs) == 0 {
		return nil
	}
	sig := fun.Signature()
	params := sig.TypeParams()
	if r := sig.RecvTypeParams(); r.Len() > 0 {
		params = r
	}
	return newEnv(params, targs)
}

func newEnv(params *types.TypeParamList, targs []types.Type) *env {
	e := &env{params: make(map[*types.TypeParam]types.Type)}
	for i := range params.Len() {
		e.params[params.At(i)] = targs[i]
	}
	return e
}

// Replace has a generic function, or a method of a generic type, that a cell
// declared again called by those who call old: its instances first, and then
// what is still to be instantiated.
func (l *Lowerer) Replace(old, fun *types.Func, d *Decl) {
	d.Replaces = old
	l.Declare(fun, d)
	for _, targs := range l.arguments[old] {
		l.function(fun, targs)
	}
	again := *d
	again.Replaces = nil
	l.Declare(old, &again)
}

// lowerDecl writes one instance of a declared function.
func (l *Lowerer) lowerDecl(name string, fun *types.Func, d *Decl, e *env, targs []types.Type) {
	sig := fun.Signature()
	if d.Sig != nil {
		sig = d.Sig
	}
	f := l.newFn(d.Info, d.Cell, traceName(fun))
	f.user = l.decls[fun] != nil && !d.Hidden
	f.env, f.sig = e, l.subst(sig, e).(*types.Signature)
	params := slices.Collect(sig.Params().Variables())
	if sig.Recv() != nil {
		params = slices.Insert(params, 0, sig.Recv())
	}
	f.analyze(params, sig.Results(), d.Func.Body)
	made, h := f.function(params, sig, d.Func.Pos(), d.Func.Body)
	variable := ""
	if d.Redirect {
		fmt.Fprintf(&l.types, "var %s_r bool\n", name)
		variable = l.redirect(name, d, targs)
		if variable == "" {
			variable = name + "_w"
			fmt.Fprintf(&l.types, "var %s func%s\n", variable, h.types())
		}
		ret, end := returning(sig), ""
		if ret == "" {
			end = "; return"
		}
		args := h.args(withReceiver(sig))
		leads := code{{format: "if %s_r { %s%s%s }", args: []any{name, ret, call(nil, ident(variable, nil), args...), end}}}
		if f.instruments() && l.Loops != nil {
			fmt.Fprintf(&l.types, "var %s_c bool\nvar %s_n func%s\n", name, name, h.types())
			leads = append(leads, stmt{format: "if %s_c && !pending { %s%s%s }", args: []any{name, ret, call(nil, ident(name+"_n", nil), args...), end}})
			put(l, l.watched, name, true)
		}
		made = append(leads, made...)
	}
	plain := l.callsPlain(name, h, made)
	if plain {
		l.writeSigned(name, h, made, true)
		f.sites[name] = f.sites[callName(name)]
	} else {
		l.write(name, h, made)
	}
	f.register(name, d.Hidden || f.bare && f.frame != nil, variable)
}

func traceName(fun *types.Func) string {
	name := fun.Name()
	if r := fun.Signature().Recv(); r != nil {
		t := types.TypeString(r.Type(), func(*types.Package) string { return "" })
		if strings.HasPrefix(t, "*") {
			t = "(" + t + ")"
		}
		name = t + "." + name
	}
	if p := fun.Pkg(); p != nil {
		name = p.Name() + "." + name
	}
	return name
}

// function writes the body and the header (parameters and results) of a
// function whose parameters are params.
func (f *fn) function(params []*types.Var, sig *types.Signature, pos token.Pos, body *ast.BlockStmt) (made code, h header) {
	l := f.l
	f.debugBegin()
	entry := len(f.out)
	for i, p := range params {
		v := f.declare(p)
		h.params = append(h.params, param{v.name, l.paramRep(f.l.subst(p.Type(), f.env), sig.Variadic() && i == len(params)-1)})
		if v.boxed {
			h.params[i].name = l.fresh("a")
			f.initialize(v, ident(h.params[i].name, v.typ))
		}
	}
	defers, recovers, returnsInside := f.scan(body)
	f.bare = f.bare || defers || returnsInside
	named := sig.Results().Len() > 0 && sig.Results().At(0).Name() != ""
	if named || f.bare {
		for i := range sig.Results().Len() {
			r := sig.Results().At(i)
			v := f.newLocal("r_", r, f.bare || f.shared.boxed[r])
			f.results = append(f.results, v)
			f.initialize(v, nil)
		}
	}
	if !f.top {
		f.stopIn(pos, body.Lbrace+1)
	}
	if !f.top && hasCall(body) { // it may be recursive; loops poll by themselves
		f.poll(body)
	}
	if defers {
		f.deferringBody(body, recovers)
		f.returnResults()
	} else {
		if recovers {
			f.recoverable()
		}
		f.block(body.List)
		switch {
		case terminates(body.List):
		case sig.Results().Len() > 0:
			f.returnResults()
		default:
			f.end(body)
			f.debugEnd(nil)
		}
	}
	f.debugCaptured(entry)
	h.results = l.results(l.substTuple(sig.Results(), f.env))
	return f.out, h
}

// child makes the fn of a literal inside of f.
func (f *fn) child() *fn {
	return &fn{
		l: f.l, info: f.info, env: f.env, cell: f.cell, parent: f, shared: f.shared, user: f.user,
		vars: make(map[types.Object]*local), capSet: make(map[*local]bool), labels: make(map[string]string),
	}
}

// factory writes the function that makes the literal: what the literal takes
// from around it is a parameter, so that every value of it has its own. It
// returns the call that makes one.
func (f *fn) factory(h header, body code, hidden bool) *expr {
	outer := header{results: " func" + h.types()}
	var args []*expr
	var signs []types.Type
	for _, c := range f.caps {
		outer.params = append(outer.params, param{c.name, c.rep})
		args = append(args, ident(c.name, nil))
		if !c.boxed && c.typ != nil {
			signs = append(signs, c.typ)
		}
	}
	name := f.l.signedName(f.l.fresh("lit"), signs...)
	made := append(code{{format: "return func%s {", args: []any{h}}}, body...)
	f.l.write(name, outer, append(made, stmt{format: "}"}))
	f.register(name, hidden, "")
	return steady(call(nil, ident(name, nil), args...))
}

// poll lets an interrupt in, in the statement or function n.
func (f *fn) poll(n ast.Node) {
	if f.l.program {
		return // nobody interrupts it but by ending the process
	}
	f.emit("if stop { %s(%d) }", f.l.sym("Check"), f.position(n))
}

// pollBlocked lets an interrupt in that came while the code was blocked.
func (f *fn) pollBlocked() {
	if !f.l.program {
		f.emit("if stuck { %s(%d) }", f.l.sym("Check"), f.where)
	}
}

// funcLit lowers a function literal.
func (f *fn) funcLit(e *ast.FuncLit, called bool) *expr {
	g := f.child()
	g.called = called
	g.sig = f.typeOf(e).Underlying().(*types.Signature)
	g.name, g.inLit = f.litName(), true
	sig := f.info.Types[e].Type.Underlying().(*types.Signature)
	made, h := g.function(slices.Collect(sig.Params().Variables()), sig, e.Pos(), e.Body)
	x := g.factory(h, made, false)
	if f.inField == e && len(g.caps) == 0 && f.env == nil {
		x = f.single(e, g.name, typed(x, f.typeOf(e)))
	}
	return x
}
