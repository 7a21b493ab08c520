package gokernel

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"gocuda/cudaapi/gokernel/ir"
)

// Interface values are two words in compiled code, as in Go: the dynamic type, or the table
// of an interface with methods, and the value, or its address. What depends on Go's types
// is asked by functions that are not part of the program (outside.go), whose answers the
// code keeps.
//
// A method is called directly where the dynamic type is one whose values lowered code puts
// into interfaces, and whose method can be compiled. Any other is called in Go.

// DynamicUse is what is asked about a dynamic type: the Name of a [HostCall].
type DynamicUse = string

// The uses, with what they take and give.
const (
	DynamicWord   DynamicUse = "word"   // : the first word of an Iface that holds an Of
	DynamicKind   DynamicUse = "kind"   // the first word of an any: the number of its type in HostProgram.Dynamic, from 1; 0: it is none of them
	DynamicTo     DynamicUse = "to"     // any: Iface, whether it has the methods
	DynamicAssert DynamicUse = "assert" // any: Iface; it panics if it has not the methods
	DynamicMust   DynamicUse = "must"   // any, which is no Of: it panics as an assertion of an Iface does
	DynamicEqual  DynamicUse = "equal"  // any, any: whether they are equal
	DynamicCall   DynamicUse = "call"   // any, arguments: results of Method
	DynamicWhich  DynamicUse = "which"  // a function: the number of its literal in HostProgram.Called, from 1; 0: it is none of them
	DynamicRun    DynamicUse = "run"    // a function of type Of, arguments: its results
)

// Seen is what values that are known at run time only probably are: what lowered code has.
type Seen struct {
	Types    []types.Type // in interfaces
	Literals []Literal    // in fields
	// Watched says that the code is that of checked cells: what it touches is told while work
	// is queued, by the interpreter. So nothing in it may queue work.
	Watched bool
}

// Literal is a function literal that uses no variable of a function around it: all functions
// that it makes are the same one.
type Literal struct {
	Lit  *ast.FuncLit
	Info *types.Info
	Func string // as traces call it
}

// wordType stands for a word of an interface.
var wordType = types.Typ[types.UnsafePointer]

var anyType = types.Universe.Lookup("any").Type().Underlying()

// isDirect says whether the second word of an interface is a value of a type itself. unsure
// is a type of which that is not asked.
func isDirect(t types.Type) (direct, unsure bool) {
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return true, false
	case *types.Basic:
		return u.Kind() == types.UnsafePointer, false
	case *types.Array, *types.Struct:
		return false, sizes.Sizeof(t) == sizes.Sizeof(wordType) && hasPointers(t)
	}
	return false, false
}

// dynamicUse asks about a dynamic type.
func (f *fn) dynamicUse(at ast.Node, c HostCall, args ...ir.Expr) (results []ir.Expr) {
	call := &ir.Call{Args: args, Pos: at.Pos()}
	for _, a := range args {
		c.Params = append(c.Params, a.Type())
	}
	for _, t := range c.Results {
		v := f.local("t", t)
		f.emit(&ir.Define{Var: v, Init: &ir.Zero{T: t}})
		call.Dst = append(call.Dst, v)
		results = append(results, &ir.Ref{Var: v})
	}
	call.Func = f.u.dynamicFunc(c)
	f.emit(call)
	return results
}

// dynamicFunc is the function that stands for a use of a dynamic type.
func (u *unit) dynamicFunc(c HostCall) *ir.Func {
	same := func(a, b types.Type) bool { return a == b || a != nil && b != nil && types.Identical(a, b) }
	for _, o := range u.host.outside {
		if h := o.call; h.Dynamic && h.Name == c.Name && h.Method == c.Method && same(h.Of, c.Of) && same(h.Iface, c.Iface) {
			return o.fun
		}
	}
	c.Dynamic = true
	return u.outsideFunc("dynamic_"+c.Name, c, token.NoPos)
}

// typeWord is the first word of an interface as an any.
func typeWord(x ir.Expr) ir.Expr {
	name := "any_type"
	if !x.Type().Underlying().(*types.Interface).Empty() {
		name = "table_type"
	}
	return &ir.Pure{Name: name, Args: []ir.Expr{x}, T: wordType}
}

// anyOf is an interface as an any.
func anyOf(x ir.Expr) ir.Expr {
	if x.Type().Underlying().(*types.Interface).Empty() {
		return retyped(x, anyType)
	}
	return &ir.Pure{Name: "any_of", Args: []ir.Expr{x}, T: anyType}
}

// retyped is an interface as another with the same methods.
func retyped(x ir.Expr, t types.Type) ir.Expr {
	if types.Identical(x.Type(), t) {
		return x
	}
	return &ir.Pure{Name: "retyped", Args: []ir.Expr{x}, T: t}
}

// dynamicKind is the number of an interface's dynamic type.
func (f *fn) dynamicKind(at ast.Node, x ir.Expr) ir.Expr {
	return f.dynamicUse(at, HostCall{Name: DynamicKind, Results: []types.Type{types.Typ[types.Int]}}, typeWord(x))[0]
}

// isKind says whether a dynamic type, of which the number is known, is t.
func (f *fn) isKind(at ast.Node, kind ir.Expr, t types.Type) ir.Expr {
	f.usable(t, at, "a value")
	n := f.u.host.dynamic.number(t) + 1
	return &ir.Binary{Op: token.EQL, X: kind, Y: ir.Int(int64(n)), T: types.Typ[types.Bool]}
}

// extracted is the value of an interface that holds a t.
func (f *fn) extracted(at ast.Node, x ir.Expr, t types.Type) ir.Expr {
	f.usable(t, at, "a value")
	direct, unsure := isDirect(t)
	switch {
	case unsure || isFunc(t):
		f.refuse(at, interfaces)
	case direct:
		return &ir.Pure{Name: "data", Args: []ir.Expr{x}, T: t}
	case sizes.Sizeof(t) == 0:
		return &ir.Zero{T: t}
	}
	p := f.local("t", types.NewPointer(t))
	p.There = true
	f.emit(&ir.Define{Var: p, Init: &ir.Pure{Name: "data", Args: []ir.Expr{x}, T: p.Type}})
	return &ir.Deref{X: &ir.Ref{Var: p}, T: t}
}

// toInterface makes an interface of a value.
func (f *fn) toInterface(at ast.Node, x ir.Expr, t types.Type) ir.Expr {
	f.usable(t, at, "a value")
	from := x.Type()
	if z, ok := x.(*ir.Zero); ok && isNil(from) {
		return &ir.Zero{T: t}
	} else if i, ok := from.Underlying().(*types.Interface); ok {
		to := t.Underlying().(*types.Interface)
		switch {
		case types.Identical(i, to):
			return retyped(x, t)
		case to.Empty():
			return retyped(anyOf(x), t)
		case z != nil:
			return &ir.Zero{T: t}
		}
		return f.dynamicUse(at, HostCall{Name: DynamicTo, Iface: t, Results: []types.Type{t, types.Typ[types.Bool]}}, anyOf(f.temp(x)))[0]
	}
	f.usable(from, at, "a value")
	direct, unsure := isDirect(from)
	if unsure || isFunc(from) {
		f.refuse(at, madeInterface)
	}
	word := f.dynamicUse(at, HostCall{Name: DynamicWord, Of: from, Iface: t, Results: []types.Type{wordType}})[0]
	data := word // of a value without a size, of which nobody reads anything
	if direct {
		data = x
	} else if sizes.Sizeof(from) > 0 {
		x = f.temp(x)
		p := f.local("t", types.NewPointer(from))
		p.There = true
		data = &ir.Ref{Var: p}
		f.emit(&ir.Define{Var: p, Init: &ir.Zero{T: p.Type}})
		f.emit(&ir.Effect{Dst: p, Name: "create", T: from, Pos: at.Pos()})
		f.emit(&ir.Assign{To: &ir.Deref{X: data, T: from}, Value: x})
	}
	return &ir.Pure{Name: "interface_of", Args: []ir.Expr{word, data}, T: t}
}

func isNil(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Kind() == types.UntypedNil
}

// assertion is x.(T), and with a second value whether it holds.
func (f *fn) assertion(e *ast.TypeAssertExpr, second bool) []ir.Expr {
	if !f.u.target.hasInterfaces() {
		f.refuse(e, interfaces)
	}
	t, x := f.typeOf(e.Type), f.temp(f.expr(e.X))
	f.usable(t, e, "a value")
	to, isInterface := t.Underlying().(*types.Interface)
	switch {
	case isInterface && second:
		return f.implementing(e, x, t)
	case isInterface && to.Empty() || isInterface && types.Identical(to, x.Type().Underlying()):
		v := f.temp(f.toInterface(e, x, t))
		f.emit(&ir.If{Cond: isNilWord(x), Then: f.within(func() {
			f.dynamicUse(e, HostCall{Name: DynamicAssert, Iface: t, Results: []types.Type{t}}, anyOf(x))
		})})
		return []ir.Expr{v}
	case isInterface:
		return f.dynamicUse(e, HostCall{Name: DynamicAssert, Iface: t, Results: []types.Type{t}}, anyOf(x))
	}
	holds := f.isKind(e, f.dynamicKind(e, x), t)
	if !second {
		f.emit(&ir.If{Cond: &ir.Unary{Op: token.NOT, X: holds, T: types.Typ[types.Bool]}, Then: f.within(func() {
			f.dynamicUse(e, HostCall{Name: DynamicMust, Of: t, Iface: x.Type()}, anyOf(x))
		})})
		return []ir.Expr{f.temp(f.extracted(e, x, t))}
	}
	ok := f.temp(holds)
	v := f.local("t", t)
	f.emit(&ir.Define{Var: v, Init: &ir.Zero{T: t}})
	f.emit(&ir.If{Cond: ok, Then: f.within(func() {
		f.emit(&ir.Assign{To: &ir.Ref{Var: v}, Value: f.extracted(e, x, t)})
	})})
	return []ir.Expr{&ir.Ref{Var: v}, ok}
}

// implementing is x as an interface of type t, and whether it has the methods.
func (f *fn) implementing(at ast.Node, x ir.Expr, t types.Type) []ir.Expr {
	if t.Underlying().(*types.Interface).Empty() || types.Identical(t.Underlying(), x.Type().Underlying()) {
		return []ir.Expr{f.temp(f.toInterface(at, x, t)), f.temp(&ir.Unary{Op: token.NOT, X: isNilWord(x), T: types.Typ[types.Bool]})}
	}
	return f.dynamicUse(at, HostCall{Name: DynamicTo, Iface: t, Results: []types.Type{t, types.Typ[types.Bool]}}, anyOf(x))
}

func isNilWord(x ir.Expr) ir.Expr {
	return &ir.Pure{Name: "is_nil", Args: []ir.Expr{x}, T: types.Typ[types.Bool]}
}

// chooseType is a switch on the type of an interface.
func (f *fn) chooseType(s *ast.TypeSwitchStmt, label string) {
	if !f.u.target.hasInterfaces() {
		f.refuse(s, interfaces)
	}
	end := f.newLabel(label)
	f.emit(&ir.Block{Label: end, Body: f.targeted(destination{label, end, false}, func() {
		if s.Init != nil {
			f.stmt(s.Init, "")
		}
		var guard ast.Expr
		name := ""
		switch a := s.Assign.(type) {
		case *ast.AssignStmt:
			guard, name = a.Rhs[0], a.Lhs[0].(*ast.Ident).Name
		case *ast.ExprStmt:
			guard = a.X
		}
		x := f.temp(f.expr(ast.Unparen(guard).(*ast.TypeAssertExpr).X))
		var kind ir.Expr
		for _, c := range s.Body.List {
			for _, e := range c.(*ast.CaseClause).List {
				if kind == nil && !f.u.info.Types[e].IsNil() && !types.IsInterface(f.typeOf(e)) {
					kind = f.dynamicKind(s, x)
				}
			}
		}
		// body is that of a clause, in which the variable has a value.
		body := func(c *ast.CaseClause, value func() ir.Expr) {
			if o, ok := f.u.info.Implicits[c].(*types.Var); ok {
				v := value()
				f.usable(v.Type(), c, "a variable")
				f.vars[o] = f.variable(c, name, v.Type(), v)
			}
			f.stmts(c.Body)
		}
		var other *ast.CaseClause
		for _, c := range s.Body.List {
			c := c.(*ast.CaseClause)
			if c.List == nil {
				other = c
			}
			for _, e := range c.List {
				f.emit(&ir.Block{Body: f.within(func() {
					value := func() ir.Expr { return x }
					var cond ir.Expr
					switch t := f.u.info.TypeOf(e); {
					case f.u.info.Types[e].IsNil():
						cond = isNilWord(x)
					case types.IsInterface(f.subst.of(t)):
						t := f.subst.of(t)
						f.usable(t, e, "a value")
						as := f.implementing(e, x, t)
						cond = as[1]
						if len(c.List) == 1 {
							value = func() ir.Expr { return as[0] }
						}
					default:
						t := f.subst.of(t)
						cond = f.isKind(e, kind, t)
						if len(c.List) == 1 {
							value = func() ir.Expr { return f.extracted(e, x, t) }
						}
					}
					then := f.within(func() { body(c, value) })
					f.emit(&ir.If{Cond: cond, Then: append(then, &ir.Leave{To: end})})
				})})
			}
		}
		if other != nil {
			body(other, func() ir.Expr { return x })
		}
	})})
}

// equalInterfaces is x == y of which one is an interface.
func (f *fn) equalInterfaces(e *ast.BinaryExpr) ir.Expr {
	side := func(e ast.Expr) ir.Expr {
		x := f.to(e, f.typeOf(e))
		if !types.IsInterface(x.Type()) {
			x = f.toInterface(e, x, anyType)
		}
		return f.temp(anyOf(x))
	}
	x := side(e.X)
	y := side(e.Y)
	same := f.dynamicUse(e, HostCall{Name: DynamicEqual, Results: []types.Type{types.Typ[types.Bool]}}, x, y)[0]
	if e.Op == token.NEQ {
		return &ir.Unary{Op: token.NOT, X: same, T: f.typeOf(e)}
	}
	return f.convert(same, f.typeOf(e))
}

// interfaceMethod is the interface of which a selection chose a method, by way of embedded
// fields too; nil if it chose that of another type.
func (f *fn) interfaceMethod(e *ast.SelectorExpr, s *types.Selection) (x ir.Expr) {
	o, ok := s.Obj().(*types.Func)
	if !ok || s.Kind() != types.MethodVal || !types.IsInterface(o.Signature().Recv().Type()) || isTypeParam(s.Recv()) {
		return nil
	}
	x = f.path(f.expr(e.X), s.Index()[:len(s.Index())-1], e)
	if !f.u.target.hasInterfaces() {
		f.usable(x.Type(), e, "a value")
		f.refuse(e, interfaces)
	}
	return x
}

// callDynamic calls a method of an interface.
func (f *fn) callDynamic(e *ast.CallExpr, x ir.Expr, m *types.Func) []ir.Expr {
	x = f.temp(x)
	given := anyOf(x)
	return f.dispatch(e, x, HostCall{Name: DynamicCall, Method: m}, given, func() (ways []choice) {
		targets := f.u.implementations(m)
		if len(targets) == 0 {
			return nil
		}
		kind := f.dynamicKind(e, x)
		for _, t := range targets {
			cond := f.isKind(e, kind, t.of)
			if t.wraps { // of a nil pointer Go says more
				cond = &ir.Binary{Op: token.LAND, X: cond, Y: &ir.Pure{Name: "has_data", Args: []ir.Expr{x}, T: types.Typ[types.Bool]}, T: types.Typ[types.Bool]}
			}
			ways = append(ways, choice{cond, t.fun, func() []ir.Expr {
				_, _, recv := f.receiver(e, t.sel, f.extracted(e, x, t.of))
				return []ir.Expr{recv}
			}})
		}
		return ways
	})
}

// callField calls a function that is the value of a field.
func (f *fn) callField(e *ast.CallExpr, sel *ast.SelectorExpr) []ir.Expr {
	t := f.typeOf(sel)
	x := f.temp(&ir.Pure{Name: "func_word", Args: []ir.Expr{f.path(f.expr(sel.X), f.u.info.Selections[sel].Index(), sel)}, T: wordType})
	return f.dispatch(e, x, HostCall{Name: DynamicRun, Of: t.Underlying()}, x, func() (ways []choice) {
		var which ir.Expr
		for _, l := range f.u.host.seen.Literals {
			sig, ok := l.Info.TypeOf(l.Lit).(*types.Signature)
			if !ok || !types.Identical(sig, t.Underlying()) || f.u.host.unfit[l.Lit] || takesFuncs(sig) || givesFunc(sig) {
				continue
			}
			var g *ir.Func
			if f.u.attempt(func() { g = f.u.literal(l) }) != nil {
				f.u.host.unfit[l.Lit] = true
				continue
			}
			if which == nil {
				which = f.dynamicUse(e, HostCall{Name: DynamicWhich, Results: []types.Type{types.Typ[types.Int]}}, x)[0]
			}
			n := slices.Index(f.u.host.called, l.Lit) + 1
			if n == 0 {
				f.u.host.called = append(f.u.host.called, l.Lit)
				n = len(f.u.host.called)
			}
			cond := &ir.Binary{Op: token.EQL, X: which, Y: ir.Int(int64(n)), T: types.Typ[types.Bool]}
			ways = append(ways, choice{cond, g, func() []ir.Expr { return nil }})
		}
		return ways
	})
}

// literal lowers a literal that is called by way of a field.
func (u *unit) literal(l Literal) *ir.Func {
	key := fmt.Sprintf("literal %p", l.Lit)
	if f := u.funcs[key]; f != nil {
		return f
	}
	f := &ir.Func{Name: "f_" + u.unique("literal"), Go: l.Func, Pos: l.Lit.Pos(), Called: true}
	u.funcs[key] = f
	u.open = append(u.open, f)
	info, here := u.info, u.here
	u.info = l.Info
	c := &fn{u: u, f: f, vars: make(map[types.Object]*ir.Var), taken: make(map[string]int), labels: make(map[string]*ir.Label), uses: usageOf(l.Info, l.Lit.Body)}
	c.body(l.Info.TypeOf(l.Lit).(*types.Signature), l.Lit.Type, l.Lit.Body)
	u.info, u.here = info, here
	u.open = u.open[:len(u.open)-1]
	u.prog.Funcs = append(u.prog.Funcs, f)
	return f
}

// choice is a function that is called where a condition holds, with what comes before the
// arguments.
type choice struct {
	cond  ir.Expr
	fun   *ir.Func
	first func() []ir.Expr
}

// dispatch calls what x has at run time: one of some functions, or what c calls in Go.
func (f *fn) dispatch(e *ast.CallExpr, x ir.Expr, c HostCall, given ir.Expr, find func() []choice) (results []ir.Expr) {
	if f.u.host.seen.Watched {
		f.fail(e, "%s may queue work: %%check would miss what compiled code touches after it", types.ExprString(e.Fun))
	}
	sig := f.typeOf(e.Fun).Underlying().(*types.Signature)
	args := f.args(e, sig)
	for i, a := range args {
		if _, ok := a.(*ir.FuncRef); ok {
			f.refuse(e.Args[min(i, len(e.Args)-1)], fieldCall)
		}
		args[i] = f.temp(a)
	}
	var dst []*ir.Var
	for r := range sig.Results().Variables() {
		t := f.subst.of(r.Type())
		f.usable(t, e, "a result")
		v := f.local("t", t)
		f.emit(&ir.Define{Var: v, Init: &ir.Zero{T: t}})
		dst, results, c.Results = append(dst, v), append(results, &ir.Ref{Var: v}), append(c.Results, t)
	}
	c.Params = []types.Type{given.Type()}
	for _, a := range args {
		c.Params = append(c.Params, a.Type())
	}
	for _, t := range slices.Concat(c.Params, c.Results) {
		if sizes.Sizeof(t) == 0 {
			f.fail(e, "a value of type %s, which has no size, cannot be given or come back here", types.TypeString(t, shortNames))
		}
	}
	f.emit(&ir.If{Cond: isNilWord(x), Then: []ir.Stmt{&ir.Panic{Text: "invalid memory address or nil pointer dereference", Runtime: true, Pos: e.Pos()}}})
	ways := find()
	rest := f.within(func() {
		f.emit(&ir.Call{Func: f.u.dynamicFunc(c), Dst: dst, Args: append([]ir.Expr{given}, args...), Pos: e.Pos()})
	})
	for _, w := range slices.Backward(ways) {
		then := f.within(func() {
			f.emit(&ir.Call{Func: w.fun, Dst: dst, Args: append(w.first(), args...), Pos: e.Pos()})
		})
		rest = f.within(func() { f.emit(&ir.If{Cond: w.cond, Then: then, Else: rest}) })
	}
	for _, s := range rest {
		f.emit(s)
	}
	return results
}

// implementation is a method that a method of an interface may be.
type implementation struct {
	of    types.Type // the dynamic type
	sel   *types.Selection
	fun   *ir.Func
	wraps bool // it is a method of the value to which of points
}

// implementations are the methods that a method of an interface may be, as far as they can
// be compiled.
func (u *unit) implementations(m *types.Func) (list []implementation) {
	plain := func(sig *types.Signature) types.Type {
		return types.NewSignatureType(nil, nil, nil, sig.Params(), sig.Results(), sig.Variadic())
	}
	for _, t := range u.host.seen.Types {
		sel := types.NewMethodSet(t).Lookup(m.Pkg(), m.Name())
		if sel == nil || types.IsInterface(t) || !types.Identical(plain(sel.Type().(*types.Signature)), plain(m.Signature())) {
			continue
		}
		o := sel.Obj().(*types.Func)
		recv := o.Signature().Recv().Type()
		if _, unsure := isDirect(t); unsure || isFunc(t) || types.IsInterface(recv) || takesFuncs(o.Signature()) || givesFunc(o.Signature()) || refusedType(u.target, t, "") != "" {
			continue
		}
		decl := u.declOf(o.Origin())
		if decl == nil {
			continue
		}
		base := recv
		_, byPointer := types.Unalias(recv).(*types.Pointer)
		if byPointer {
			base = types.Unalias(recv).(*types.Pointer).Elem()
		}
		var targs []types.Type
		if n, ok := types.Unalias(base).(*types.Named); ok {
			targs = typesOf(n.TypeArgs())
		}
		i := implementation{of: t, sel: sel}
		_, isPointer := types.Unalias(t).(*types.Pointer)
		i.wraps = isPointer && !byPointer
		if u.host.unfit[o] {
			continue
		}
		if u.attempt(func() { i.fun = u.function(o.Origin(), targs, decl) }) != nil {
			u.host.unfit[o] = true // so it is not tried again wherever it may be called
			continue
		}
		i.fun.Called = true
		list = append(list, i)
	}
	return list
}

// AsksTypes says whether the code asks for types of values in interfaces.
func (p *HostProgram) AsksTypes() bool {
	return slices.ContainsFunc(p.Outside, func(c HostCall) bool { return c.Dynamic })
}

// callsBack says whether a call may run any code of the cell's: it may change what is in memory,
// and keep what it is given.
func (c HostCall) callsBack() bool {
	return c.Dynamic && (c.Name == DynamicCall || c.Name == DynamicRun)
}

// dynamicFunc writes the function that stands for a use of a dynamic type whose answer is
// kept, and is false for another.
func (p *printer) dynamicFunc(f *ir.Func, n int, c HostCall) bool {
	if !c.Dynamic || c.Name != DynamicWord && c.Name != DynamicKind && c.Name != DynamicWhich {
		return false
	}
	p.line("")
	p.head(f)
	site := p.hostSite(HostSite{Pos: p.fset.Position(f.Pos), What: Outside})
	if c.Name == DynamicWord {
		p.line("    static go::held<1> known;")
		p.line("    if (GO_RARELY(!known.word[0])) go::outside(go, %d, %d, &known);", n, site)
		p.line("    return known;")
	} else {
		p.line("    static u64 known[64];")
		p.line("    return go::dynamic_kind(go, %d, %d, known, a0.word[0]);", n, site)
	}
	p.line("}")
	return true
}
