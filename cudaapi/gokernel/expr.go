package gokernel

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

func parseExpr(text string) (ast.Expr, error) { return parser.ParseExpr(text) }

// to lowers an expression as a value of type t, to which it can be assigned.
func (f *fn) to(e ast.Expr, t types.Type) ir.Expr {
	tv := f.u.info.Types[e]
	switch {
	case tv.Value != nil:
		return f.constant(e, tv.Value, t)
	case tv.IsNil():
		return &ir.Zero{T: t}
	}
	x := f.expr(e)
	if _, ok := t.Underlying().(*types.Signature); ok {
		return x
	}
	if types.Identical(x.Type(), t) {
		return x
	}
	if types.IsInterface(t) {
		return f.boxed(e, x, t)
	}
	return &ir.Convert{X: x, T: t}
}

// boxed makes an interface of a value. Targets that have none say so.
func (f *fn) boxed(at ast.Node, x ir.Expr, t types.Type) ir.Expr {
	f.usable(t, at, "a value")
	if !f.u.target.hasInterfaces() {
		f.refuse(at, madeInterface)
	}
	return f.toInterface(at, x, t)
}

func (f *fn) constant(at ast.Node, v constant.Value, t types.Type) ir.Expr {
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		if types.IsInterface(t) {
			return f.boxed(at, f.constant(at, v, types.Default(f.u.info.TypeOf(at.(ast.Expr)))), t)
		}
		if s, ok := t.Underlying().(*types.Slice); ok && v.Kind() == constant.String && !f.u.target.hasStrings() {
			f.fail(at, "a string cannot become a %s in a kernel, where no memory is allocated: a constant string can be indexed and ranged over, and %s{'a', 'b'} is there", types.TypeString(t, shortNames), types.TypeString(s, shortNames))
		}
		f.fail(at, "a constant cannot be of type %s here", types.TypeString(t, shortNames))
	}
	switch {
	case b.Info()&types.IsString != 0 && f.u.target.hasStrings():
	case b.Info()&types.IsString != 0:
		f.fail(at, "strings are constants in a kernel: const s = \"abc\" can be indexed, ranged over and printed, and be what a panic says")
	case b.Info()&types.IsInteger != 0:
		v = constant.ToInt(v)
	case b.Info()&types.IsFloat != 0:
		v = constant.ToFloat(v)
	case b.Info()&types.IsComplex != 0:
		v = constant.ToComplex(v)
	}
	return &ir.Const{T: t, Value: v}
}

// expr lowers an expression; what has an effect or may panic becomes statements before it.
func (f *fn) expr(e ast.Expr) ir.Expr {
	tv := f.u.info.Types[e]
	if tv.Value != nil {
		return f.constant(e, tv.Value, f.typeOf(e))
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.expr(e.X)
	case *ast.Ident:
		return f.ident(e)
	case *ast.SelectorExpr:
		return f.selector(e)
	case *ast.IndexExpr:
		if _, ok := f.typeOf(e).Underlying().(*types.Signature); ok && f.funcOf(e) != nil {
			return f.funcValue(e)
		}
		return f.index(e)
	case *ast.IndexListExpr:
		return f.funcValue(e)
	case *ast.SliceExpr:
		return f.slice(e)
	case *ast.StarExpr:
		return f.deref(f.expr(e.X), e)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return f.address(e)
		}
		x := f.to(e.X, f.typeOf(e))
		if e.Op == token.ADD {
			return x
		}
		return &ir.Unary{Op: e.Op, X: x, T: f.typeOf(e)}
	case *ast.BinaryExpr:
		return f.binary(e)
	case *ast.CallExpr:
		list := f.call(e)
		if len(list) != 1 {
			f.fail(e, "this call has %d results where one is wanted", len(list))
		}
		return list[0]
	case *ast.CompositeLit:
		return f.composite(e, f.typeOf(e))
	case *ast.FuncLit:
		return f.literal(e, "f")
	case *ast.TypeAssertExpr:
		return f.assertion(e, false)[0]
	}
	f.refuse(e, otherExpr, e)
	return nil
}

func (f *fn) ident(e *ast.Ident) ir.Expr {
	switch o := f.u.info.ObjectOf(e).(type) {
	case *types.Var:
		if v := f.find(o); v != nil {
			if _, ok := v.Type.Underlying().(*types.Signature); ok {
				return &ir.FuncRef{Lit: v, T: v.Type}
			}
			return &ir.Ref{Var: v}
		}
		if p := f.placeOf(o); p != nil {
			return p
		}
		if x := threadVar(o); x != nil {
			return x
		}
		if o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
			return &ir.Ref{Var: f.u.global(o, e)}
		}
		f.fail(e, "%s is not known here", e.Name)
	case *types.Func:
		return f.funcValue(e)
	case *types.Nil:
		f.fail(e, "nil has no type here")
	}
	f.fail(e, "%s is no value", e.Name)
	return nil
}

// find is the variable of an object of this function or those around it.
func (f *fn) find(o types.Object) *ir.Var {
	for g := f; g != nil; g = g.parent {
		if v := g.vars[o]; v != nil {
			return v
		}
	}
	return nil
}

// nameOf is the identifier that names a function, with or without a package and
// type arguments; nil if none does.
func nameOf(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return nameOf(e.X)
	case *ast.IndexListExpr:
		return nameOf(e.X)
	}
	return nil
}

// funcOf is the declared function that an expression names.
func (f *fn) funcOf(e ast.Expr) *types.Func {
	o, _ := f.u.info.Uses[nameOf(e)].(*types.Func)
	return o
}

// typeArgs are those of a use of a generic function.
func (f *fn) typeArgs(e ast.Expr) []types.Type {
	list := typesOf(f.u.info.Instances[nameOf(e)].TypeArgs)
	for i := range list {
		list[i] = f.subst.of(list[i])
	}
	return list
}

// funcValue is a declared function as an argument of another.
func (f *fn) funcValue(e ast.Expr) ir.Expr {
	o := f.funcOf(e)
	if o == nil {
		f.refuse(e, notAFunction)
	}
	decl := f.u.declOf(o.Origin())
	if decl == nil || o.Signature().Recv() != nil {
		f.fail(e, "%s cannot be an argument; write a function literal that calls it", o.Name())
	}
	g := f.u.function(o.Origin(), f.typeArgs(e), decl)
	g.Called = true
	return &ir.FuncRef{Func: g, T: f.typeOf(e)}
}

// deref is *p.
func (f *fn) deref(p ir.Expr, at ast.Node) ir.Expr {
	elem := p.Type().Underlying().(*types.Pointer).Elem()
	if a, ok := p.(*ir.Addr); ok {
		return a.X
	}
	p = f.stable(p)
	f.emit(&ir.Check{Kind: ir.NonNil, Args: []ir.Expr{p}, Pos: at.Pos()})
	return &ir.Deref{X: p, T: elem}
}

// stable is an expression that gives the same value until the statement's end,
// however often it is written.
func (f *fn) stable(e ir.Expr) ir.Expr {
	switch x := e.(type) {
	case *ir.Const, *ir.Zero, *ir.FuncRef:
		return e
	case *ir.Ref:
		if x.Var.Space == ir.Local && !f.isShaky(x.Var) && !f.parallel {
			return e
		}
	case *ir.Addr:
		return e
	}
	return f.temp(e)
}

func (f *fn) isShaky(v *ir.Var) bool {
	for g := f; g != nil; g = g.parent {
		for o, w := range g.vars {
			if w == v {
				return g.uses.shaky[o]
			}
		}
	}
	return false
}

// selector is x.f, or a name of a package.
func (f *fn) selector(e *ast.SelectorExpr) ir.Expr {
	s := f.u.info.Selections[e]
	if s == nil {
		switch o := f.u.info.Uses[e.Sel].(type) {
		case *types.Var:
			if x := threadVar(o); x != nil {
				return x
			}
		case *types.Func:
			if f.u.imported[o.Origin()] != nil {
				return f.funcValue(e)
			}
			f.fail(e, "%s.%s can be called, and no more: write a function literal that calls it", o.Pkg().Name(), o.Name())
		}
		f.refuse(e, otherName, e.Sel.Name)
	}
	switch s.Kind() {
	case types.MethodVal:
		return f.methodValue(e, s)
	case types.MethodExpr:
		return f.methodExpr(e, s)
	}
	if o, ok := f.u.info.Uses[nameOf(e.X)].(*types.Var); ok {
		if x, ok := threadVar(o).(*ir.Composite); ok {
			return x.Elems[s.Index()[0]]
		}
	}
	x := f.path(f.expr(e.X), s.Index(), e)
	f.usable(x.Type(), e, "a field")
	return x
}

// path follows fields, through embedded ones and pointers.
func (f *fn) path(x ir.Expr, index []int, at ast.Node) ir.Expr {
	for _, i := range index {
		if _, ok := x.Type().Underlying().(*types.Pointer); ok {
			x = f.deref(x, at)
		}
		s := x.Type().Underlying().(*types.Struct)
		x = &ir.Field{X: x, Index: i, T: s.Field(i).Type()}
	}
	return x
}

// index is x[i], checked.
func (f *fn) index(e *ast.IndexExpr) ir.Expr {
	if text, ok := f.constantString(e.X); ok && !f.u.target.hasStrings() {
		list := make([]int64, len(text))
		for i := range list {
			list[i] = int64(text[i])
		}
		return f.element(f.temp(numbers(list, types.Typ[types.Uint8])), f.intOf(e.Index), e.Index)
	}
	if m := f.mapOf(e.X); m != nil {
		return f.mapElement(e, m)[0]
	}
	x := f.expr(e.X)
	i := f.intOf(e.Index)
	return f.element(x, i, e.Index)
}

// constantString is the text of a constant string.
func (f *fn) constantString(e ast.Expr) (string, bool) {
	if v := f.u.info.Types[e].Value; v != nil && v.Kind() == constant.String {
		return constant.StringVal(v), true
	}
	return "", false
}

// numbers is an array of constants.
func numbers(list []int64, elem types.Type) ir.Expr {
	x := &ir.Composite{T: types.NewArray(elem, int64(len(list)))}
	for _, n := range list {
		x.Elems = append(x.Elems, &ir.Const{T: elem, Value: constant.MakeInt64(n)})
	}
	return x
}

// intOf lowers an index or a length.
func (f *fn) intOf(e ast.Expr) ir.Expr {
	if tv := f.u.info.Types[e]; tv.Value != nil {
		return f.constant(e, tv.Value, types.Typ[types.Int])
	}
	x := f.expr(e)
	if !types.Identical(x.Type(), types.Typ[types.Int]) {
		if ir.IsUnsigned(x.Type()) && sizes.Sizeof(x.Type()) == 8 {
			return &ir.Convert{X: x, T: types.Typ[types.Uint64]}
		}
		return &ir.Convert{X: x, T: types.Typ[types.Int]}
	}
	return x
}

func (f *fn) element(x, i ir.Expr, at ast.Node) ir.Expr {
	if _, ok := x.Type().Underlying().(*types.Pointer); ok {
		x = f.deref(x, at)
	}
	var n ir.Expr
	var elem types.Type
	switch t := x.Type().Underlying().(type) {
	case *types.Array:
		n, elem = ir.Int(t.Len()), t.Elem()
		if c, ok := i.(*ir.Const); ok {
			if v, exact := constant.Int64Val(c.Value); exact && v >= 0 && v < t.Len() {
				return &ir.Index{X: x, I: i, T: elem}
			}
		}
	case *types.Slice:
		x = f.stableSlice(x)
		n, elem = &ir.Len{X: x}, t.Elem()
	case *types.Basic:
		if t.Info()&types.IsString == 0 {
			f.fail(at, "this cannot be indexed")
		}
		x = f.stableSlice(x)
		n, elem = &ir.Len{X: x}, types.Typ[types.Uint8]
	default:
		f.refuse(at, indexed, types.TypeString(x.Type(), shortNames))
	}
	i = f.stableIndex(i)
	f.emit(&ir.Check{Kind: ir.InRange, Args: []ir.Expr{i, n}, Pos: at.Pos()})
	return &ir.Index{X: x, I: i, T: elem}
}

// stableSlice keeps fields and elements as they are, so that the output stays
// readable: a slice is one read of memory.
func (f *fn) stableSlice(x ir.Expr) ir.Expr {
	switch x.(type) {
	case *ir.Ref:
		return f.stable(x)
	}
	return f.temp(x)
}

// stableIndex leaves sums and products of stable operands as they are.
func (f *fn) stableIndex(i ir.Expr) ir.Expr {
	if _, c := i.(*ir.Const); c || !f.parallel && f.plain(i, 4) {
		return i
	}
	return f.temp(i)
}

func (f *fn) plain(e ir.Expr, depth int) bool {
	switch e := e.(type) {
	case *ir.Const:
		return true
	case *ir.Ref:
		return e.Var.Space == ir.Local && !f.isShaky(e.Var)
	case *ir.Binary:
		return depth > 0 && (e.Op == token.ADD || e.Op == token.SUB || e.Op == token.MUL) && f.plain(e.X, depth-1) && f.plain(e.Y, depth-1)
	case *ir.Pure:
		return len(e.Args) == 0
	case *ir.Convert:
		return depth > 0 && f.plain(e.X, depth-1)
	}
	return false
}

// slice is x[lo:hi:max].
func (f *fn) slice(e *ast.SliceExpr) ir.Expr {
	x := f.expr(e.X)
	var capacity ir.Expr
	var elem types.Type
	if p, ok := x.Type().Underlying().(*types.Pointer); ok {
		a := p.Elem().Underlying().(*types.Array)
		x = f.stable(x)
		f.emit(&ir.Check{Kind: ir.NonNil, Args: []ir.Expr{x}, Pos: e.Pos()})
		capacity, elem = ir.Int(a.Len()), a.Elem()
	} else if a, ok := x.Type().Underlying().(*types.Array); ok {
		capacity, elem = ir.Int(a.Len()), a.Elem()
		x = f.addressOf(x, types.NewPointer(x.Type()), e.X)
	} else {
		s, ok := x.Type().Underlying().(*types.Slice)
		if !ok && ir.IsString(x.Type()) {
			return f.substring(e, x)
		}
		if !ok {
			f.refuse(e, sliced, types.TypeString(x.Type(), shortNames))
		}
		x = f.stableSlice(x)
		capacity, elem = &ir.Cap{X: x}, s.Elem()
	}
	lo, hi, limit := ir.Expr(ir.Int(0)), ir.Expr(nil), capacity
	if e.Low != nil {
		lo = f.stable(f.intOf(e.Low))
	}
	switch {
	case e.High != nil:
		hi = f.stable(f.intOf(e.High))
	default:
		if _, ok := x.Type().Underlying().(*types.Slice); ok {
			hi = &ir.Len{X: x}
		} else {
			hi = capacity
		}
	}
	if e.Max != nil {
		limit = f.stable(f.intOf(e.Max))
	}
	_, withCap := x.Type().Underlying().(*types.Slice)
	f.emit(&ir.Check{Kind: ir.SliceOK, Args: []ir.Expr{lo, hi, limit, capacity}, Pos: e.Pos(), High: e.High != nil, Max: e.Max != nil, Cap: withCap})
	t := f.typeOf(e)
	if _, ok := t.Underlying().(*types.Slice); !ok {
		t = types.NewSlice(elem)
	}
	return &ir.Slice{X: x, Lo: lo, Hi: hi, Max: limit, T: t}
}

// substring is s[lo:hi].
func (f *fn) substring(e *ast.SliceExpr, x ir.Expr) ir.Expr {
	x = f.stableSlice(x)
	var lo, hi ir.Expr = ir.Int(0), &ir.Len{X: x}
	if e.Low != nil {
		lo = f.stable(f.intOf(e.Low))
	}
	if e.High != nil {
		hi = f.stable(f.intOf(e.High))
	}
	n := &ir.Len{X: x}
	f.emit(&ir.Check{Kind: ir.SliceOK, Args: []ir.Expr{lo, hi, n, n}, Pos: e.Pos(), High: e.High != nil})
	return &ir.Pure{Name: "substring", Args: []ir.Expr{x, lo, hi}, T: f.typeOf(e)}
}

// address is &x.
func (f *fn) address(e *ast.UnaryExpr) ir.Expr {
	t := f.typeOf(e)
	if lit, ok := ast.Unparen(e.X).(*ast.CompositeLit); ok {
		x := f.composite(lit, f.typeOf(lit))
		p := addressOfVar(f.variable(e, "t", x.Type(), x))
		return f.convert(p, t)
	}
	return f.addressOf(f.expr(e.X), t, e.X)
}

// addressOf is &x for a place that can be written.
func (f *fn) addressOf(x ir.Expr, t types.Type, at ast.Node) ir.Expr {
	switch x.(type) {
	case *ir.Ref, *ir.Field, *ir.Index, *ir.Deref:
	default:
		f.refuse(at, addressed)
	}
	if v := ir.Root(x); v != nil && v.Space == ir.Constant {
		f.fail(at, "%s is in constant memory: its address cannot be taken; read it by its name", v.Name)
	}
	return &ir.Addr{X: x, T: t}
}

func (f *fn) binary(e *ast.BinaryExpr) ir.Expr {
	t := f.typeOf(e)
	switch e.Op {
	case token.LAND, token.LOR:
		x := f.expr(e.X)
		var y ir.Expr
		list := f.within(func() { y = f.expr(e.Y) })
		if len(list) == 0 {
			return &ir.Binary{Op: e.Op, X: x, Y: y, T: t}
		}
		v := f.local("t", t)
		f.emit(&ir.Define{Var: v, Init: x})
		var cond ir.Expr = &ir.Ref{Var: v}
		if e.Op == token.LOR {
			cond = &ir.Unary{Op: token.NOT, X: cond, T: t}
		}
		list = append(list, &ir.Assign{To: &ir.Ref{Var: v}, Value: y})
		f.emit(&ir.If{Cond: cond, Then: list})
		return &ir.Ref{Var: v}
	case token.SHL, token.SHR:
		return f.shift(e.Op, f.to(e.X, t), e.Y, t)
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		operand := f.operandType(e.X, e.Y)
		if x := f.withNil(e); x != nil {
			return x
		}
		if f.u.target.hasInterfaces() && (types.IsInterface(f.typeOf(e.X)) || types.IsInterface(f.typeOf(e.Y))) {
			return f.equalInterfaces(e)
		}
		f.usable(operand, e, "a value")
		f.comparable(e, operand)
		return &ir.Binary{Op: e.Op, X: f.to(e.X, operand), Y: f.to(e.Y, operand), T: t}
	}
	return f.arithmetic(e.Op, f.to(e.X, t), f.to(e.Y, t), t, e)
}

// comparable refuses to compare what is only held.
func (f *fn) comparable(at ast.Node, t types.Type) {
	if !isComparable(t) {
		f.refuse(at, comparedHeld, types.TypeString(t, shortNames))
	}
}

// operandType is the type in which two operands are compared.
func (f *fn) operandType(x, y ast.Expr) types.Type {
	tx, ty := f.u.info.Types[x], f.u.info.Types[y]
	if tx.IsNil() {
		return f.typeOf(y)
	}
	if b, ok := tx.Type.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		if b, ok := ty.Type.(*types.Basic); !ok || b.Info()&types.IsUntyped == 0 {
			return f.typeOf(y)
		}
	}
	return f.typeOf(x)
}

func (f *fn) arithmetic(op token.Token, x, y ir.Expr, t types.Type, at ast.Node) ir.Expr {
	if ir.IsString(t) {
		if f.u.target.hasStrings() {
			return f.joined(at, x, y, t)
		}
		f.fail(at, "strings cannot be joined in a kernel, where no memory is allocated")
	}
	if (op == token.QUO || op == token.REM) && ir.IsInteger(t) {
		if c, ok := y.(*ir.Const); !ok || constant.Sign(c.Value) == 0 {
			y = f.stable(y)
			f.emit(&ir.Check{Kind: ir.NonZero, Args: []ir.Expr{y}, Pos: at.Pos()})
		}
	}
	return &ir.Binary{Op: op, X: x, Y: y, T: t}
}

func (f *fn) shift(op token.Token, x ir.Expr, count ast.Expr, t types.Type) ir.Expr {
	return &ir.Binary{Op: op, X: x, Y: f.shiftCount(count), T: t}
}

func (f *fn) shiftCount(e ast.Expr) ir.Expr {
	if tv := f.u.info.Types[e]; tv.Value != nil {
		return f.constant(e, tv.Value, types.Typ[types.Uint64])
	}
	n := f.expr(e)
	if !ir.IsUnsigned(n.Type()) {
		n = f.stable(n)
		f.emit(&ir.Check{Kind: ir.NonMinus, Args: []ir.Expr{n}, Pos: e.Pos()})
	}
	return &ir.Convert{X: n, T: types.Typ[types.Uint64]}
}

// composite is T{...}.
func (f *fn) composite(e *ast.CompositeLit, t types.Type) ir.Expr {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		f.usable(t, e, "a value")
		elems := make([]ir.Expr, u.NumFields())
		for i, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				name := kv.Key.(*ast.Ident).Name
				for j := range u.NumFields() {
					if u.Field(j).Name() == name {
						i = j
					}
				}
				x = kv.Value
			}
			if !f.u.info.Types[x].IsNil() {
				f.usable(u.Field(i).Type(), x, "a field")
			}
			elems[i] = f.part(x, u.Field(i).Type())
		}
		for i := range elems {
			if elems[i] == nil {
				elems[i] = &ir.Zero{T: u.Field(i).Type()}
			}
		}
		return &ir.Composite{T: t, Elems: elems}
	case *types.Array:
		f.usable(t, e, "a value")
		return f.arrayLit(e, t, u.Elem(), u.Len())
	case *types.Slice:
		f.usable(t, e, "a value")
		n := f.litLen(e)
		array := types.NewArray(u.Elem(), n)
		p := addressOfVar(f.variable(e, "t", array, f.arrayLit(e, array, u.Elem(), n)))
		return &ir.Slice{X: p, Lo: ir.Int(0), Hi: ir.Int(n), Max: ir.Int(n), T: t}
	case *types.Map:
		f.usable(t, e, "a value")
		return f.mapLiteral(e, t, u)
	case *types.Pointer: // within another literal: &T{...}
		x := f.composite(e, u.Elem())
		p := addressOfVar(f.variable(e, "t", x.Type(), x))
		return f.convert(p, t)
	}
	f.usable(t, e, "a value")
	f.refuse(e, otherValue, types.TypeString(t, shortNames))
	return nil
}

// part is an element of a composite literal, whose own type may be left out.
func (f *fn) part(e ast.Expr, t types.Type) ir.Expr {
	if lit, ok := e.(*ast.CompositeLit); ok && lit.Type == nil {
		return f.composite(lit, t)
	}
	return f.to(e, t)
}

func (f *fn) keyOf(kv *ast.KeyValueExpr) int64 {
	n, _ := constant.Int64Val(constant.ToInt(f.u.info.Types[kv.Key].Value))
	return n
}

func (f *fn) litLen(e *ast.CompositeLit) int64 {
	var at, most int64
	for _, x := range e.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			at = f.keyOf(kv)
		}
		at++
		most = max(most, at)
	}
	return most
}

func (f *fn) arrayLit(e *ast.CompositeLit, t, elem types.Type, n int64) ir.Expr {
	if len(e.Elts) == 0 {
		return &ir.Zero{T: t}
	}
	if n > 4096 {
		f.refuse(e, longLiteral, n)
	}
	elems := make([]ir.Expr, n)
	var at int64
	for _, x := range e.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			at = f.keyOf(kv)
			x = kv.Value
		}
		elems[at] = f.part(x, elem)
		at++
	}
	for i := range elems {
		if elems[i] == nil {
			elems[i] = &ir.Zero{T: elem}
		}
	}
	return &ir.Composite{T: t, Elems: elems}
}

// literal is a function literal: a variable that holds it.
func (f *fn) literal(e *ast.FuncLit, name string) ir.Expr {
	sig := f.subst.of(f.u.info.TypeOf(e)).(*types.Signature)
	g := &fn{u: f.u, f: &ir.Func{Name: name, Go: f.u.target.literalName(f, name), Pos: e.Pos()}, parent: f, subst: f.subst, vars: make(map[types.Object]*ir.Var), labels: make(map[string]*ir.Label), uses: f.uses}
	original := f.u.info.TypeOf(e).(*types.Signature)
	g.body(original, e.Type, e.Body)
	v := f.local(name, sig)
	f.emit(&ir.Closure{Var: v, Lit: g.f})
	return &ir.FuncRef{Lit: v, T: sig}
}

// conversion is T(x).
func (f *fn) conversion(e *ast.CallExpr) ir.Expr {
	t := f.typeOf(e)
	x := e.Args[0]
	tv := f.u.info.Types[x]
	if tv.IsNil() {
		return &ir.Zero{T: t}
	}
	f.usable(t, e, "a value")
	if types.IsInterface(t) {
		return f.to(x, t)
	}
	if tv.Value != nil {
		if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsNumeric != 0 {
			from := f.typeOf(x)
			return &ir.Convert{X: f.constant(x, tv.Value, from), T: t}
		}
		return f.constant(e, tv.Value, t)
	}
	v := f.expr(x)
	if types.Identical(v.Type(), t) {
		return v
	}
	if ir.IsString(t) != ir.IsString(v.Type()) {
		if f.u.target.hasStrings() {
			return f.textConversion(e, v, t)
		}
		f.fail(e, "a conversion to %s cannot be made in a kernel, where no memory is allocated", types.TypeString(t, shortNames))
	}
	if _, ok := v.Type().Underlying().(*types.Slice); ok {
		elem := t
		p, toPointer := t.Underlying().(*types.Pointer)
		if toPointer {
			elem = p.Elem()
		}
		if a, ok := elem.Underlying().(*types.Array); ok {
			v = f.temp(v)
			f.emit(&ir.Check{Kind: ir.Fits, Args: []ir.Expr{&ir.Len{X: v}, ir.Int(a.Len())}, Pos: e.Pos()})
			at := &ir.Pure{Name: "array_of", Args: []ir.Expr{v}, T: types.NewPointer(elem)}
			if toPointer {
				return f.convert(at, t)
			}
			return &ir.Deref{X: at, T: t}
		}
	}
	return &ir.Convert{X: v, T: t}
}

// threadVar is a variable of package gpu.
func threadVar(o *types.Var) ir.Expr {
	if o.Pkg() == nil || o.Pkg().Path() != gpuPath || o.Parent() != o.Pkg().Scope() {
		return nil
	}
	name := strings.ToLower(o.Name()[:1]) + o.Name()[1:] // CUDA's
	x := &ir.Composite{T: o.Type()}
	for _, axis := range []string{"x", "y", "z"} {
		x.Elems = append(x.Elems, &ir.Pure{Name: name + "." + axis, T: types.Typ[types.Int]})
	}
	return x
}

const gpuPath = "gocuda/cudaapi/gpu"
