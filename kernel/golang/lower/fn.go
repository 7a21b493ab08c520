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

	parent *fn
	shared *shared
	vars   map[types.Object]*local
	caps   []*local // what the literal takes from the functions around it
	capSet map[*local]bool
	out    *strings.Builder
	name   string           // in traces
	inLit  bool             // ... which is that of a literal
	sites  map[string][]int // where it calls what: see calls
	pos    string           // the variable that holds the position
	where  int              // the position of the statement that is being lowered

	unguarded int        // where no check can stand
	prefix    string     // what is true where the expression is evaluated that is being lowered: "x && "
	unchecked bool       // an index was not checked
	emits     int        // statements written
	pure      int        // ... of which nothing has to be kept from
	outermost *outermost // the outermost loop that is being lowered

	results      []*local // where return puts its values, if it cannot just return them
	bare         bool     // return statements return nothing: results are boxed
	frame        *local   // *rt.Frame
	recov        string   // the token of recoverable
	yield        *yield   // the range-over-func loop whose body this is
	labels       map[string]string
	breakTo      []target
	top          bool              // the statements of a cell
	show         ast.Expr          // the expression whose value the cell shows
	several      bool              // show is a slice of what is shown
	argOf        map[string]string // the parameter that a boxed variable starts with
	pendingLabel string
}

// shared is what a declared function and its literals have in common.
type shared struct {
	boxed   map[types.Object]bool
	natural map[types.Object]bool   // integers that are never negative
	above   map[types.Object][]loop // what some are below in loops
	inRange map[*ast.IndexExpr]bool // ... and cannot be out of range
	lits    map[string]int          // how many literals a function has, by its name
	raw     map[ast.Expr]rawValue
}

// temp makes a name.
func (f *fn) temp() string { return f.l.fresh("t") }

func (f *fn) emit(format string, args ...any) {
	f.emits++
	fmt.Fprintf(f.out, format, args...)
	f.out.WriteByte('\n')
}

// typeOf is the type of an expression, with type parameters replaced.
func (f *fn) typeOf(e ast.Expr) types.Type {
	if r, ok := f.shared.raw[e]; ok {
		return r.typ
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
				panics = panics || !nothing && (types.IsInterface(f.typeOf(n.X)) || types.IsInterface(f.typeOf(n.Y)))
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

// maxDepth bounds instances of instances.
const maxKey = 4000

// function returns the lowered name of an instance of a declared function or
// method (whose receiver is its first parameter), and has it lowered.
func (l *Lowerer) function(fun *types.Func, targs []types.Type) string {
	fun = fun.Origin()
	key := l.instanceKey(fun, targs)
	if name, ok := l.instances[key]; ok {
		return name
	}
	if len(key) > maxKey {
		panic(fmt.Errorf("%s is instantiated without end", fun.Name()))
	}
	d := l.declOf(fun)
	if d == nil {
		panic(fmt.Errorf("function %s has no body here", fun.FullName()))
	}
	name := l.fresh("f_" + clean(fun.Name()) + "_")
	put(l, l.instances, key, name)
	e := l.envOf(fun, targs)
	if d.TypeParams != nil {
		e = newEnv(d.TypeParams, targs)
	}
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
	f := &fn{
		l: l, info: d.Info, env: e, cell: d.Cell, sig: l.subst(sig, e).(*types.Signature),
		shared: &shared{}, vars: make(map[types.Object]*local), out: new(strings.Builder),
		name: traceName(fun), labels: make(map[string]string), argOf: make(map[string]string),
	}
	var params []*types.Var
	if sig.Recv() != nil {
		params = append(params, sig.Recv())
	}
	for i := range sig.Params().Len() {
		params = append(params, sig.Params().At(i))
	}
	f.analyze(params, sig.Results(), d.Func.Body)
	text, header := f.function(params, sig, d.Func.Body, false)
	variable := ""
	if d.Redirect {
		fmt.Fprintf(&l.types, "var %s_r bool\n", name)
		variable = l.redirect(name, d, targs)
		if variable == "" {
			variable = name + "_w"
			fmt.Fprintf(&l.types, "var %s func%s\n", variable, f.headerType(params, sig))
		}
		ret := "return "
		if sig.Results().Len() == 0 {
			ret = ""
		}
		call := fmt.Sprintf("%s%s(%s)", ret, variable, f.argNames(params, sig))
		if ret == "" {
			call += "; return"
		}
		text = fmt.Sprintf("if %s_r { %s }\n%s", name, call, text)
	}
	fmt.Fprintf(&l.code, "func %s%s {\n%s}\n", name, header, text)
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
func (f *fn) function(params []*types.Var, sig *types.Signature, body *ast.BlockStmt, lit bool) (text, header string) {
	l := f.l
	outer := f.out
	f.out = new(strings.Builder)
	defer func() { f.out = outer }()

	names := make([]string, len(params))
	for i, p := range params {
		v := f.declare(p)
		names[i] = v.name
		if v.boxed {
			arg := l.fresh("a")
			names[i] = arg
			f.argOf[v.name] = arg
			f.initialize(v, arg)
		}
	}
	defers, recovers, returnsInside := f.scan(body)
	f.bare = f.bare || defers || returnsInside
	named := sig.Results().Len() > 0 && sig.Results().At(0).Name() != ""
	if named || f.bare {
		for i := range sig.Results().Len() {
			r := sig.Results().At(i)
			t := l.subst(r.Type(), f.env)
			v := &local{name: l.fresh("r_" + clean(r.Name()) + "_"), typ: t, boxed: f.bare || f.shared.boxed[r], rep: l.slot(t)}
			if v.boxed {
				v.rep = "*" + v.rep
			}
			f.vars[r] = v
			f.results = append(f.results, v)
			f.initialize(v, "")
		}
	}
	if !lit && !l.program || f.loops(body) {
		f.poll(body)
	}
	if defers {
		f.deferringBody(body, recovers)
		f.returnResults()
	} else {
		if recovers {
			f.recov = l.fresh("rec")
			f.emit("%s := %s()", f.recov, l.sym("Recoverable"))
			f.emit("_ = %s", f.recov)
		}
		f.block(body.List)
		if sig.Results().Len() > 0 && !terminates(body.List) {
			f.returnResults()
		}
	}
	parts := make([]string, len(params))
	for i, p := range params {
		t := l.subst(p.Type(), f.env)
		rep := l.slot(t)
		if sig.Variadic() && i == len(params)-1 {
			if s, ok := t.Underlying().(*types.Slice); ok {
				rep = "..." + l.slot(s.Elem())
			}
		}
		parts[i] = names[i] + " " + rep
	}
	res := l.subst(sig.Results(), f.env)
	header = "(" + strings.Join(parts, ", ") + ")"
	if t, ok := res.(*types.Tuple); ok {
		header += l.results(t)
	}
	return f.out.String(), header
}

// headerType is a declared function's type, its receiver being a parameter.
func (f *fn) headerType(params []*types.Var, sig *types.Signature) string {
	parts := make([]string, len(params))
	for i, p := range params {
		parts[i] = f.l.slot(f.l.subst(p.Type(), f.env))
		if sig.Variadic() && i == len(params)-1 {
			parts[i] = "..." + f.l.slot(f.l.subst(p.Type(), f.env).Underlying().(*types.Slice).Elem())
		}
	}
	return "(" + strings.Join(parts, ", ") + ")" + f.l.results(f.l.substTuple(sig.Results(), f.env))
}

func (f *fn) argNames(params []*types.Var, sig *types.Signature) string {
	parts := make([]string, len(params))
	for i, p := range params {
		v := f.vars[p]
		parts[i] = v.name
		if v.boxed {
			parts[i] = f.boxedArg(v)
		}
		if sig.Variadic() && i == len(params)-1 {
			parts[i] += "..."
		}
	}
	return strings.Join(parts, ", ")
}

// boxedArg is the parameter that a boxed variable was made from.
func (f *fn) boxedArg(v *local) string {
	return f.argOf[v.name]
}

func (l *Lowerer) zeroSlot(t types.Type) string {
	return l.zero(t)
}

// child makes the fn of a literal inside of f.
func (f *fn) child() *fn {
	return &fn{
		l: f.l, info: f.info, env: f.env, cell: f.cell, parent: f, shared: f.shared,
		vars: make(map[types.Object]*local), capSet: make(map[*local]bool), out: new(strings.Builder),
		labels: make(map[string]string), argOf: make(map[string]string),
	}
}

// factory writes the function that makes the literal: what the literal takes
// from around it is a parameter, so that every value of it has its own. It
// returns the call that makes one.
func (f *fn) factory(header, body string, hidden bool) string {
	l := f.l
	name := l.fresh("lit")
	params := make([]string, len(f.caps))
	args := make([]string, len(f.caps))
	for i, c := range f.caps {
		params[i] = c.name + " " + c.rep
		args[i] = c.name
	}
	typ := header
	fmt.Fprintf(&l.code, "func %s(%s) func%s { return func%s {\n%s} }\n", name, strings.Join(params, ", "), typeOnly(typ), header, body)
	f.register(name, hidden, "")
	return fmt.Sprintf("%s(%s)", name, strings.Join(args, ", "))
}

// typeOnly takes the names of parameters out of a header that has one for each.
func typeOnly(header string) string {
	depth, end := 0, 0
	for i, c := range header {
		if c == '(' {
			depth++
		}
		if c == ')' {
			if depth--; depth == 0 {
				end = i
				break
			}
		}
	}
	var out []string
	for _, p := range splitTop(header[1:end]) {
		_, typ, _ := strings.Cut(strings.TrimSpace(p), " ")
		out = append(out, typ)
	}
	return "(" + strings.Join(out, ", ") + ")" + header[end+1:]
}

// splitTop splits at commas that are not inside of brackets.
func splitTop(s string) []string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	var parts []string
	depth, start := 0, 0
	for i, c := range s {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, s[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, s[start:])
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
func (f *fn) funcLit(e *ast.FuncLit) string {
	g := f.child()
	g.sig = f.typeOf(e).Underlying().(*types.Signature)
	g.name, g.inLit = f.litName(), true
	sig := f.info.Types[e].Type.Underlying().(*types.Signature)
	var params []*types.Var
	for i := range sig.Params().Len() {
		params = append(params, sig.Params().At(i))
	}
	text, header := g.function(params, sig, e.Body, true)
	return g.factory(header, text, false)
}
