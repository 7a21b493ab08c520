package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Instrumentation: what cells read and write in memory that devices use too is reported to
// the checker (see Lowerer.Instrument). Only expressions are looked at that may be such
// memory: views of a *cuda.HostBuffer, slices that a copy or a message goes to while
// the program runs on, pointers to their elements, and what holds such values:
// variables, fields, channels, interfaces. Too many do no harm, for told is where the
// memory is, but cost time.

// devicePath begins the packages whose functions tell themselves what they touch.
const devicePath = "gocuda/cudaapi/"

// place is where a variable, a field, a parameter or a result is declared: the same
// for a function that is lowered again, and for all instances of a generic one.
type place struct {
	file         string
	line, column int
}

func (l *Lowerer) placeOf(o types.Object) place {
	p := l.fset.Position(o.Pos())
	return place{p.Filename, p.Line, p.Column}
}

// Shares notes which variables in declarations and statements hold such memory. It
// reports whether parameters, results or variables of other cells are among those that
// it finds.
func (l *Lowerer) Shares(info *types.Info, nodes []ast.Node) (others bool) {
	s := sharing{fn: &fn{l: l, info: info}, own: map[*token.File]bool{}}
	for _, n := range nodes {
		s.own[l.fset.File(n.Pos())] = true
	}
	for before := -1; before != len(l.sharing)+len(l.handed); {
		before = len(l.sharing) + len(l.handed)
		for _, n := range nodes {
			s.walk(n, nil)
		}
		for _, h := range l.handed {
			for _, sig := range l.functions {
				if types.Identical(sig, h.sig) {
					s.holds(h.of(sig))
				}
			}
		}
	}
	return s.others
}

// handed is a parameter, a result or the receiver of all functions with a signature: of
// which of them a value or an interface is called, is not known.
type handed struct {
	sig    *types.Signature
	result bool
	i      int // or receives
}

const receives = -1

// of is a nil object for the receiver of a function that has none.
func (h handed) of(sig *types.Signature) types.Object {
	switch {
	case h.i == receives && sig.Recv() == nil:
		return nil
	case h.i == receives:
		return sig.Recv()
	case h.result:
		return sig.Results().At(h.i)
	}
	return sig.Params().At(h.i)
}

func (l *Lowerer) isHanded(h handed) bool {
	return slices.ContainsFunc(l.handed, func(o handed) bool {
		return o.result == h.result && o.i == h.i && types.Identical(o.sig, h.sig)
	})
}

// hand notes that such memory goes through one.
func (l *Lowerer) hand(h handed) {
	if holdsNumbers(h.of(h.sig).Type()) && !l.isHanded(h) {
		l.handed = append(l.handed, h)
	}
}

// declared notes a function of cells.
func (l *Lowerer) declared(sig *types.Signature) {
	list := slices.AppendSeq(slices.Collect(sig.Params().Variables()), sig.Results().Variables())
	if recv := sig.Recv(); recv != nil {
		list = append(list, recv)
	}
	for _, o := range list {
		if holdsNumbers(o.Type()) && o.Pos().IsValid() {
			at := l.placeOf(o)
			l.functions[declaration{at, false}] = sig
			if n := sig.Params().Len(); n > 0 && !sig.Variadic() { // it may be a method of a type of an earlier cell
				rest := list[1:n]
				l.functions[declaration{at, true}] = types.NewSignatureType(list[0], nil, nil, types.NewTuple(rest...), sig.Results(), false)
			}
			return
		}
	}
}

// declaration is a function, without its first parameter perhaps.
type declaration struct {
	place
	method bool
}

// sharing is a search for what holds such memory.
type sharing struct {
	*fn
	own    map[*token.File]bool
	others bool
}

// holds notes that an object does.
func (s *sharing) holds(o types.Object) {
	if o == nil || !o.Pos().IsValid() || !holdsNumbers(o.Type()) {
		return
	}
	if at := s.l.placeOf(o); !s.l.sharing[at] {
		s.l.sharing[at] = true
		s.others = s.others || !s.own[s.l.fset.File(o.Pos())]
	}
}

func (s *sharing) mark(e ast.Expr) {
	if o := s.heldIn(e); o != nil {
		s.holds(o)
	}
}

// walk looks at a part of a function with a signature.
func (s *sharing) walk(n ast.Node, sig *types.Signature) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if f, ok := s.info.Defs[n.Name].(*types.Func); ok && n.Body != nil {
				s.l.declared(f.Signature())
				s.walk(n.Body, f.Signature())
			}
			return false
		case *ast.FuncLit:
			if t, ok := s.info.TypeOf(n).(*types.Signature); ok {
				s.l.declared(t)
				if s.l.Instrument { // its value stays as it is when a later cell calls it with such memory
					for p := range t.Params().Variables() {
						s.holds(p)
					}
				}
				s.walk(n.Body, t)
			}
			return false
		case *ast.AssignStmt:
			s.assigned(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			left := make([]ast.Expr, len(n.Names))
			for i, name := range n.Names {
				left[i] = name
			}
			s.assigned(left, n.Values)
		case *ast.RangeStmt:
			if _, ok := s.info.TypeOf(n.X).Underlying().(*types.Chan); ok && n.Key != nil && s.isShared(n.X) {
				s.mark(n.Key)
			} else if n.Value != nil && s.isShared(n.X) {
				s.mark(n.Value)
			}
		case *ast.SendStmt:
			if s.isShared(n.Value) {
				s.mark(n.Chan)
			}
		case *ast.TypeSwitchStmt:
			if x := switched(n); s.isShared(x) {
				for _, c := range n.Body.List {
					s.holds(s.info.Implicits[c])
				}
			}
		case *ast.ReturnStmt:
			s.returned(n.Results, sig)
		case *ast.CompositeLit:
			s.literal(n)
		case *ast.SelectorExpr:
			s.method(n)
		case *ast.GoStmt:
			s.starts()
		case *ast.CallExpr:
			if s.call(n); s.startsOne(n) {
				s.starts()
			}
		}
		return true
	})
}

func (s *sharing) assigned(left, right []ast.Expr) {
	if len(left) == len(right) {
		for i, e := range right {
			if s.isShared(e) {
				s.mark(left[i])
			}
			s.pointed(s.heldIn(left[i]), e)
		}
	} else if len(right) == 1 && len(left) > 0 {
		for i, e := range left {
			if i == 0 && (s.isView(right[0]) || s.isShared(right[0])) || s.gives(right[0], i) {
				s.mark(e)
			}
		}
	}
}

// pointed marks a variable whose address is given to one that holds such memory: it may
// be put there through the pointer.
func (s *sharing) pointed(to *types.Var, e ast.Expr) {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND && to != nil && s.isHeld(to) {
		s.mark(u.X)
	}
}

// returned looks at what a function with a signature returns.
func (s *sharing) returned(list []ast.Expr, sig *types.Signature) {
	if sig == nil {
		return
	}
	for i := range sig.Results().Len() {
		switch {
		case len(list) == sig.Results().Len() && s.isShared(list[i]),
			len(list) == 1 && i == 0 && s.isView(list[0]),
			len(list) == 1 && s.gives(list[0], i):
			s.holds(sig.Results().At(i))
			s.l.hand(handed{sig, true, i})
		}
	}
}

// literal looks at the fields of a structure.
func (s *sharing) literal(e *ast.CompositeLit) {
	t := s.info.TypeOf(e)
	if t == nil {
		return
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	of, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i, v := range e.Elts {
		if kv, ok := v.(*ast.KeyValueExpr); ok {
			if s.isShared(kv.Value) {
				s.mark(kv.Key)
			}
		} else if i < of.NumFields() && s.isShared(v) {
			s.holds(of.Field(i))
		}
	}
}

// starts notes that the program has goroutines of its own.
func (s *sharing) starts() {
	s.others = s.others || !s.l.goes
	s.l.goes = true
}

// startsOne reports whether a call may start a goroutine: one of a function of the
// library that says so by its name, or of any of another module's that takes a function.
func (s *sharing) startsOne(e *ast.CallExpr) bool {
	id := calledName(e.Fun)
	if id == nil {
		return false
	}
	fun, ok := s.info.Uses[id].(*types.Func)
	if !ok || fun.Pkg() == nil || isCells(fun) {
		return false
	}
	path := fun.Pkg().Path()
	if strings.HasPrefix(path, devicePath) {
		return false
	}
	own, _, _ := strings.Cut(path, "/")
	if !strings.Contains(own, ".") && own != "net" {
		return strings.HasPrefix(fun.Name(), "Go") || strings.HasSuffix(fun.Name(), "Func") && (path == "time" || path == "context")
	}
	return slices.ContainsFunc(e.Args, func(a ast.Expr) bool {
		_, is := s.info.TypeOf(a).(*types.Signature)
		return is
	})
}

// call looks at the arguments of a call.
func (s *sharing) call(e *ast.CallExpr) {
	if fun := s.deviceFunc(e); fun != nil {
		if leavesRunning(fun.Name()) {
			for _, a := range e.Args {
				s.mark(a)
			}
		}
		return
	}
	sig := s.called(e)
	if sig == nil {
		return
	}
	if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok && s.ofContainer(sel) && slices.ContainsFunc(e.Args, s.isShared) {
		s.mark(sel.X)
	}
	for i, a := range e.Args {
		n := sig.Params().Len()
		if n == 0 {
			continue
		}
		p := sig.Params().At(min(i, n-1))
		if s.isShared(a) && isCells(p) {
			if s.holds(p); s.isDynamic(e) {
				s.l.hand(handed{sig, false, min(i, n-1)})
			}
		}
		s.pointed(p, a)
	}
}

// method looks at the receiver that a method is taken of.
func (s *sharing) method(e *ast.SelectorExpr) {
	sel := s.info.Selections[e]
	if sel == nil || sel.Kind() != types.MethodVal || !isCells(sel.Obj()) || !s.isShared(e.X) && !s.liesIn(e.X) {
		return
	}
	sig := sel.Obj().(*types.Func).Signature()
	if types.IsInterface(sig.Recv().Type()) {
		s.l.hand(handed{sig, false, receives})
	} else {
		s.holds(sig.Recv())
	}
}

// called is the signature of the function that a call calls, nil for a conversion or
// a builtin.
func (f *fn) called(e *ast.CallExpr) *types.Signature {
	tv := f.info.Types[e.Fun]
	if tv.Type == nil || tv.IsType() || tv.IsBuiltin() {
		return nil
	}
	sig, _ := tv.Type.Underlying().(*types.Signature)
	return sig
}

// isDynamic reports whether it is not known which function a call calls.
func (f *fn) isDynamic(e *ast.CallExpr) bool {
	if id := calledName(e.Fun); id != nil {
		if fun, ok := f.info.Uses[id].(*types.Func); ok {
			recv := fun.Signature().Recv()
			return recv != nil && types.IsInterface(recv.Type())
		}
	}
	return true
}

// switched is the interface that a type switch looks at.
func switched(s *ast.TypeSwitchStmt) ast.Expr {
	e := ast.Expr(nil)
	switch a := s.Assign.(type) {
	case *ast.AssignStmt:
		e = a.Rhs[0]
	case *ast.ExprStmt:
		e = a.X
	}
	if t, ok := ast.Unparen(e).(*ast.TypeAssertExpr); ok {
		return t.X
	}
	return e
}

// isCells reports whether a parameter or a result is of a function of cells.
func isCells(o types.Object) bool { return o.Pkg() != nil && o.Pkg().Path() == "main" }

// gives reports whether a call of a cell's function gives such memory as its i-th
// result.
func (f *fn) gives(x ast.Expr, i int) bool {
	e, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	sig := f.called(e)
	if sig == nil || i >= sig.Results().Len() || !isCells(sig.Results().At(i)) {
		return false
	}
	return f.isHeld(sig.Results().At(i)) || f.isDynamic(e) && f.l.isHanded(handed{sig, true, i})
}

// isHeld reports whether a variable holds such memory, as far as is known.
func (f *fn) isHeld(o types.Object) bool {
	return len(f.l.sharing) > 0 && o.Pos().IsValid() && holdsNumbers(o.Type()) && f.l.sharing[f.l.placeOf(o)]
}

// leavesRunning reports whether a function of devices or of messages may use its
// arguments after it has returned.
func leavesRunning(name string) bool {
	return strings.HasSuffix(name, "Async") || name == "RegisterHost" || len(name) > 1 && name[0] == 'I' && name[1] >= 'a' && name[1] <= 'z' || strings.HasSuffix(name, "Init")
}

// deviceFunc is the function of packages cuda, mpi and their like that a call calls,
// or nil.
func (f *fn) deviceFunc(e *ast.CallExpr) *types.Func {
	id := calledName(e.Fun)
	if id == nil {
		return nil
	}
	fun, _ := f.info.Uses[id].(*types.Func)
	if fun == nil || fun.Pkg() == nil || !strings.HasPrefix(fun.Pkg().Path(), devicePath) {
		return nil
	}
	return fun
}

// queues reports whether a statement calls such a function, whose place others want to
// know: which of the goroutines that run the statement's function is there.
func (f *fn) queues(n ast.Node) (calls bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.BlockStmt:
			return false
		case *ast.CallExpr:
			calls = calls || f.deviceFunc(n) != nil
		}
		return !calls
	})
	return calls
}

// heldIn is the variable or the field that an expression names, or nil.
func (f *fn) heldIn(e ast.Expr) *types.Var {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, _ := f.info.ObjectOf(e).(*types.Var)
		return v
	case *ast.SelectorExpr:
		v, _ := f.info.Uses[e.Sel].(*types.Var)
		return v
	case *ast.SliceExpr:
		return f.heldIn(e.X)
	case *ast.IndexExpr:
		return f.heldIn(e.X)
	case *ast.StarExpr:
		return f.heldIn(e.X)
	}
	return nil
}

// holdsNumbers reports whether values of a type may lead to a slice of numbers, or to
// an element of one. Those of structures are their fields'. What a type parameter stands
// for may be a number.
func holdsNumbers(t types.Type) bool { return leads(t, 0) }

func leads(t types.Type, depth int) bool {
	const deepest = 4 // slices of channels of pointers to slices
	if p, ok := t.(*types.TypeParam); ok {
		t = onlyTerm(p)
	}
	if t == nil || depth > deepest {
		return false
	}
	if isContainer(t) {
		return true
	}
	elem := types.Type(nil)
	switch t := t.Underlying().(type) {
	case *types.Slice:
		elem = t.Elem()
	case *types.Pointer:
		elem = t.Elem()
	case *types.Array:
		return leads(t.Elem(), depth+1)
	case *types.Map:
		return leads(t.Elem(), depth+1)
	case *types.Chan:
		return leads(t.Elem(), depth+1)
	case *types.Interface:
		return true
	default:
		return isUnsafe(t)
	}
	return isParam(elem) || isNumber(elem) || leads(elem, depth+1)
}

// onlyTerm is the type that a type parameter such as S ~[]E has underneath, or nil.
func onlyTerm(p *types.TypeParam) types.Type {
	of, ok := p.Constraint().Underlying().(*types.Interface)
	if !ok || of.NumEmbeddeds() != 1 {
		return nil
	}
	if u, ok := of.EmbeddedType(0).(*types.Union); ok && u.Len() == 1 {
		return u.Term(0).Type()
	}
	return nil
}

// isContainer reports whether a type of the library keeps values for others.
func isContainer(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && slices.Contains([]string{"sync", "sync/atomic", "container/list", "container/ring"}, n.Obj().Pkg().Path())
}

// isParam reports whether a type is a parameter, which may stand for a number.
func isParam(t types.Type) bool {
	_, ok := t.(*types.TypeParam)
	return ok
}

// isNumber reports whether a type is of numbers or bools, or of arrays and structures
// of them: what devices and messages take slices of.
func isNumber(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Info()&(types.IsNumeric|types.IsBoolean) != 0
	case *types.Array:
		return isNumber(t.Elem())
	case *types.Struct:
		for v := range t.Fields() {
			if !isNumber(v.Type()) {
				return false
			}
		}
		return t.NumFields() > 0
	}
	return false
}

func isUnsafe(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.UnsafePointer
}

// isNumbers reports whether a type is a slice of numbers.
func isNumbers(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	return ok && isNumber(s.Elem())
}

// original is an expression without brackets, or the one that was lowered to it.
func (f *fn) original(e ast.Expr) ast.Expr {
	e = ast.Unparen(e)
	if f.shared != nil {
		if r := f.shared.raw[e]; r != nil && r.of != nil {
			return ast.Unparen(r.of)
		}
	}
	return e
}

// isShared reports whether an expression is such memory, or holds it.
func (f *fn) isShared(e ast.Expr) bool {
	switch e := f.original(e).(type) {
	case *ast.SliceExpr:
		return f.isShared(e.X) || f.liesIn(e.X)
	case *ast.IndexExpr:
		t := first(f.info.TypeOf(e)) // v, ok := m[k] has two
		return t != nil && holdsNumbers(t) && f.isShared(e.X)
	case *ast.StarExpr:
		t := f.info.TypeOf(e)
		return t != nil && holdsNumbers(t) && f.isShared(e.X)
	case *ast.TypeAssertExpr:
		return f.isShared(e.X)
	case *ast.UnaryExpr:
		return e.Op == token.AND && f.liesIn(e.X) || (e.Op == token.AND || e.Op == token.ARROW) && f.isShared(e.X)
	case *ast.CallExpr:
		switch tv := f.info.Types[e.Fun]; {
		case tv.IsType():
			return len(e.Args) == 1 && f.isShared(e.Args[0])
		case tv.IsBuiltin():
			switch name := calledName(e.Fun).Name; name {
			case "append": // of numbers, what is appended is copied
				return f.isShared(e.Args[0]) || !isNumbers(f.info.TypeOf(e)) && slices.ContainsFunc(e.Args, f.isShared)
			case "Slice", "Add": // of package unsafe
				return f.isShared(e.Args[0])
			}
			return false
		}
		return f.handsOn(e) || f.gives(e, 0) || f.isTaken(e)
	case *ast.CompositeLit:
		t := f.info.TypeOf(e)
		return t != nil && !isNumbers(t) && holdsNumbers(t) && slices.ContainsFunc(e.Elts, func(x ast.Expr) bool {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				x = kv.Value
			}
			return f.isShared(x)
		})
	case *ast.Ident, *ast.SelectorExpr:
		if sel, ok := e.(*ast.SelectorExpr); ok && f.inContainer(sel) {
			return true
		}
		o := f.heldIn(e)
		return o != nil && f.isHeld(o)
	}
	return false
}

// isTaken reports whether a call gives what a container holds.
func (f *fn) isTaken(e *ast.CallExpr) bool {
	sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	t := first(f.info.TypeOf(e))
	return ok && t != nil && holdsNumbers(t) && f.inContainer(sel)
}

// inContainer reports whether a selector is of a container that holds such memory.
func (f *fn) inContainer(e *ast.SelectorExpr) bool { return f.ofContainer(e) && f.isShared(e.X) }

func (f *fn) ofContainer(e *ast.SelectorExpr) bool {
	if f.info.Selections[e] == nil {
		return false
	}
	t := f.info.TypeOf(e.X)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	return isContainer(t)
}

// liesIn reports whether an expression is a place in such memory: an element, what a
// pointer points to, or a field or an element of that.
func (f *fn) liesIn(e ast.Expr) bool {
	e = f.original(e)
	typeOf := f.info.TypeOf
	if f.shared != nil {
		typeOf = f.typeOf // of an instance
	}
	tv := f.info.Types[e]
	if tv.Value != nil || tv.Type == nil {
		return false
	}
	if t := typeOf(e); !isParam(t) && !isNumber(t) {
		return false
	}
	within := func(x ast.Expr) bool { // what may be a pointer
		if isPointer(typeOf(x)) {
			return f.isShared(x)
		}
		return f.liesIn(x)
	}
	switch e := e.(type) {
	case *ast.IndexExpr:
		if _, ok := typeOf(e.X).Underlying().(*types.Slice); ok {
			return f.isShared(e.X)
		}
		return within(e.X)
	case *ast.StarExpr:
		return f.isShared(e.X)
	case *ast.SelectorExpr:
		s := f.info.Selections[e]
		return s != nil && s.Kind() == types.FieldVal && within(e.X)
	}
	return false
}

// handsOn reports whether a call may give such memory that it is given: as must does, and
// generic functions of whatever name, whose result has the type of an argument.
func (f *fn) handsOn(e *ast.CallExpr) bool {
	is := first(f.info.TypeOf(e))
	if is == nil || !holdsNumbers(is) {
		return false
	}
	return slices.ContainsFunc(e.Args, func(a ast.Expr) bool {
		t := first(f.info.TypeOf(a))
		return t != nil && types.Identical(t, is) && (f.isView(a) || f.isShared(a) || f.gives(a, 0))
	})
}

// first is the type of the first of several values.
func first(t types.Type) types.Type {
	if list, ok := t.(*types.Tuple); ok {
		if list.Len() == 0 {
			return nil
		}
		return list.At(0).Type()
	}
	return t
}

// isMust reports whether a call is one of must, the builtin or the program's own.
func isMust(e *ast.CallExpr) bool {
	id := calledName(e.Fun)
	return id != nil && strings.HasPrefix(id.Name, "must") && len(e.Args) == 1
}

// isView reports whether a call gives a host buffer's own memory and an error.
func (f *fn) isView(x ast.Expr) bool {
	e, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok || len(e.Args) > 0 {
		return false
	}
	fun := f.deviceFunc(e)
	if fun == nil || fun.Signature().Recv() == nil || fun.Signature().Recv().Type().String() != "*gocuda/cudaapi/cuda.HostBuffer" {
		return false
	}
	values := fun.Signature().Results()
	return values.Len() == 2 && (isNumbers(values.At(0).Type()) || isUnsafe(values.At(0).Type()))
}

// isPlain reports whether an expression can be evaluated once more.
func (f *fn) isPlain(e ast.Expr) bool {
	if f.shared != nil && f.shared.raw[ast.Unparen(e)] != nil {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.BasicLit:
		return true
	case *ast.SelectorExpr:
		return f.isPlain(e.X)
	case *ast.IndexExpr:
		return f.isPlain(e.X) && f.isPlain(e.Index)
	case *ast.BinaryExpr:
		return e.Op != token.QUO && e.Op != token.REM && f.isPlain(e.X) && f.isPlain(e.Y) || f.info.Types[e].Value != nil
	case *ast.UnaryExpr:
		return e.Op == token.SUB && f.isPlain(e.X)
	case *ast.StarExpr:
		return f.isPlain(e.X)
	case *ast.CallExpr:
		if f.info.Types[e.Fun].IsType() {
			return len(e.Args) == 1 && f.isPlain(e.Args[0])
		}
		if f.info.Types[e.Fun].IsBuiltin() {
			return calledName(e.Fun).Name == "len" && f.isPlain(e.Args[0])
		}
		if !isMust(e) || !f.isView(e.Args[0]) {
			return false
		}
		view := ast.Unparen(e.Args[0]).(*ast.CallExpr)
		sel, ok := ast.Unparen(view.Fun).(*ast.SelectorExpr)
		return ok && f.isPlain(sel.X)
	}
	return false
}

// touched reports slices that a statement reads as a whole, before it does. The elements
// that expressions read tell index and pointed, those that are assigned to written. What
// must not be evaluated twice is kept for the statement, until done is called.
func (f *fn) touched(s ast.Stmt) (done func()) {
	done = func() {}
	if !f.l.Instrument {
		return done
	}
	switch s := s.(type) {
	case *ast.ExprStmt:
		if f.isShown(s.X) {
			f.touch(s.X, nil, false)
		}
	case *ast.RangeStmt:
		if s.Value != nil && !isBlank(s.Value) {
			done = f.kept(s.X)
			f.touch(s.X, nil, false)
			if isPointer(f.typeOf(s.X)) && f.isShared(s.X) && f.isPlain(s.X) { // to an array
				f.tell(f.expr(s.X), intLiteral(0), "1", false, false, s.X)
			}
		}
	}
	return done
}

// kept has an expression that is such memory, and that is not to be evaluated twice,
// evaluated now, in the place of where it is lowered before done is called.
func (f *fn) kept(e ast.Expr) (done func()) {
	e = ast.Unparen(e)
	if !f.isShared(e) || !isNumbers(f.typeOf(e)) || f.isPlain(e) || f.unguarded > 0 || len(f.prefix) > 0 {
		return func() {}
	}
	if s, ok := e.(*ast.SliceExpr); ok && f.isPlain(s.X) {
		return func() {} // as its bounds
	}
	x := f.hold(f.expr(e))
	if f.shared.raw == nil {
		f.shared.raw = make(map[ast.Expr]*raw)
	}
	f.shared.raw[e] = &raw{x: x}
	return func() { delete(f.shared.raw, e) }
}

// writesShared reports whether an assignment to e writes such memory, which is told.
func (f *fn) writesShared(e ast.Expr) bool { return f.l.Instrument && f.liesIn(e) }

// written has it told, just before a place is written, that it is.
func (f *fn) written(e ast.Expr, s storage) storage {
	if !f.writesShared(e) {
		return s
	}
	tells := f.captured(func() {
		if ix, ok := ast.Unparen(e).(*ast.IndexExpr); ok && s.place.is(opIndex) && isNumbers(f.typeOf(ix.X)) {
			i := s.place.args[1]
			f.tell(s.place.args[0], i, "int("+i.String()+")+1", true, true, e)
		} else {
			s.place = f.pin(s.place)
			f.tell(address(s.place), intLiteral(0), "1", true, true, e)
		}
	})
	s.checks, s.told = append(s.checks, tells...), len(tells) > 0
	return s
}

// reads tells that an element is read. x is it, lowered.
func (f *fn) reads(e *ast.IndexExpr, x *expr) *expr {
	if !f.l.Instrument || !x.is(opIndex) {
		return x
	}
	if !isNumbers(f.typeOf(e.X)) {
		return f.readsPart(e, x)
	}
	if f.isShared(e.X) {
		i := x.args[1]
		f.tell(x.args[0], i, "int("+i.String()+")+1", false, true, e)
	}
	return x
}

// readsPart tells that a field, or an element of an array, is read. x is it, lowered.
func (f *fn) readsPart(e ast.Expr, x *expr) *expr {
	if !f.l.Instrument || !f.liesIn(e) {
		return x
	}
	if x.calls() && f.unguarded == 0 && len(f.prefix) == 0 {
		x = f.pin(x)
	}
	f.tell(addressOf(x), intLiteral(0), "1", false, true, e)
	return x
}

// pointed tells that what a pointer points to is read. x is the pointer, lowered.
func (f *fn) pointed(e *ast.StarExpr, x *expr) *expr {
	if f.l.Instrument && isNumber(f.typeOf(e)) && f.isShared(e.X) {
		x = f.held(x)
		f.tell(x, intLiteral(0), "1", false, true, e)
	}
	return x
}

// passed reports what a call reads and writes through its arguments. Of one alone that
// must not be evaluated twice the value is kept for the call, until done is called.
func (f *fn) passed(e *ast.CallExpr) (done func()) {
	done = func() {}
	if !f.l.Instrument {
		return done
	}
	tv := f.info.Types[ast.Unparen(e.Fun)]
	switch {
	case tv.IsType():
		if isCopied(tv.Type) && len(e.Args) == 1 {
			f.touch(e.Args[0], nil, false)
		}
		return done
	case f.deviceFunc(e) != nil:
		return done
	case tv.IsBuiltin():
		switch name := calledName(e.Fun).Name; name {
		case "copy":
			f.touch(e.Args[0], nil, true)
			f.touch(e.Args[1], nil, false)
		case "clear":
			f.touch(e.Args[0], nil, true)
		case "append":
			for _, a := range e.Args[1:] {
				f.touch(a, nil, false)
			}
			f.appends(e)
		}
		return done
	}
	fun, _ := f.info.Uses[calledName(e.Fun)].(*types.Func)
	if fun == nil || isCells(fun) {
		return done // it tells itself
	}
	if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok && f.ofContainer(sel) {
		return done // which keeps slices, and does not look into them
	}
	called := 0
	for _, a := range e.Args {
		if hasCall(a) {
			called++
		}
	}
	for _, a := range e.Args {
		if called == 1 && hasCall(a) {
			done = f.kept(a)
		}
		if followsPointers(fun) {
			f.pointee(a, changes(fun))
		}
		f.touch(a, nil, changes(fun))
	}
	return done
}

// followsPointers reports whether a function of the library touches numbers to which it
// is given pointers.
func followsPointers(fun *types.Func) bool {
	return fun.Pkg() != nil && (fun.Pkg().Path() == "sync/atomic" || fun.Pkg().Path() == "fmt" && strings.Contains(fun.Name(), "scan"))
}

// pointee reports the element that a pointer leads to.
func (f *fn) pointee(p ast.Expr, write bool) {
	if u, ok := ast.Unparen(p).(*ast.UnaryExpr); ok && u.Op == token.AND {
		if x, ok := ast.Unparen(u.X).(*ast.IndexExpr); ok {
			f.touch(x.X, x.Index, write)
		}
		return
	}
	if t, ok := f.typeOf(p).Underlying().(*types.Pointer); ok && isNumber(t.Elem()) && f.isShared(p) && f.isPlain(p) {
		f.tell(f.expr(p), intLiteral(0), "1", write, true, p)
	}
}

// isCopied reports whether a slice that is converted to a type is read for that.
func isCopied(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Info()&types.IsString != 0
	case *types.Array:
		return true
	}
	return false
}

// changes reports whether a function of the library changes what it is given a slice of,
// or a pointer to.
func changes(fun *types.Func) bool {
	if fun.Pkg() == nil {
		return false
	}
	switch fun.Pkg().Path() {
	case "sync/atomic":
		return !strings.HasPrefix(fun.Name(), "Load")
	case "fmt":
		return strings.Contains(fun.Name(), "scan")
	case "io", "os", "bufio", "bytes", "strings", "net", "math/rand", "math/rand/v2", "crypto/rand":
		return strings.HasPrefix(fun.Name(), "Read")
	case "encoding/binary":
		return strings.HasPrefix(fun.Name(), "Put") || fun.Name() == "Read"
	case "slices":
		name := strings.TrimSuffix(fun.Name(), "Func")
		return slices.Contains([]string{"Sort", "SortStable", "Reverse", "Delete", "Compact", "Insert", "Replace"}, name)
	case "sort":
		return slices.Contains([]string{"Ints", "Float64s", "Slice", "SliceStable", "Sort", "Stable"}, fun.Name())
	}
	return false
}

// touch reports an element of a slice, or of all of it.
func (f *fn) touch(x, index ast.Expr, write bool) {
	t := f.typeOf(x)
	if !f.isShared(x) || !isNumbers(t) && (index != nil || !types.IsInterface(t)) {
		return
	}
	whole, first, last := x, (ast.Expr)(nil), (ast.Expr)(nil)
	if s, ok := ast.Unparen(x).(*ast.SliceExpr); ok && index == nil {
		whole, first, last = s.X, s.Low, s.High
	}
	if !f.arePlain([]ast.Expr{whole, first, last, index}) {
		return
	}
	bound := func(e ast.Expr, otherwise int) *expr {
		if e == nil {
			return intLiteral(otherwise)
		}
		return f.expr(e)
	}
	from, to := bound(first, 0), bound(last, -1).String()
	if index != nil {
		from = f.expr(index)
		to = "int(" + from.String() + ")+1"
	}
	f.tell(f.expr(whole), from, to, write, index != nil, x)
}

// tell has the runtime told about the elements of x, a slice or a pointer to one, before
// they are touched; at is the expression that does. Where no statement can stand, they
// are not told about.
func (f *fn) tell(x, from *expr, to string, write, element bool, at ast.Expr) {
	f.tellBy(at, x.calls() || from.calls(), "%s(%s, int(%s), int(%s), %v, %v", f.l.sym("Touch"), x, from, to, write, element)
}

// appends reports what an append to a slice writes behind its elements, or, where there
// is no room, that it copies them.
func (f *fn) appends(e *ast.CallExpr) {
	x := e.Args[0]
	if !f.isShared(x) || !isNumbers(f.typeOf(x)) || len(e.Args) == 1 {
		return
	}
	parts := []ast.Expr{x}
	if s, ok := ast.Unparen(x).(*ast.SliceExpr); ok {
		parts = []ast.Expr{s.X, s.Low, s.High, s.Max}
	}
	n := fmt.Sprint(len(e.Args) - 1)
	if e.Ellipsis.IsValid() {
		added := e.Args[1]
		if s, ok := ast.Unparen(added).(*ast.SliceExpr); ok {
			parts = append(parts, s.X, s.Low, s.High, s.Max)
		} else {
			parts = append(parts, added)
		}
		if !f.arePlain(parts) {
			return
		}
		n = "len(" + f.expr(added).String() + ")"
	}
	if !f.arePlain(parts) {
		return
	}
	to := f.expr(x)
	f.tellBy(x, to.calls(), "%s(%s, %s", f.l.sym("TouchAppended"), to, n)
}

// arePlain reports whether expressions that are there are plain.
func (f *fn) arePlain(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool { return e != nil && !f.isPlain(e) })
}

// tellBy calls a function of the runtime that tells. Its last arguments are the place.
func (f *fn) tellBy(at ast.Expr, calls bool, format string, args ...any) {
	if f.unguarded > 0 || len(f.prefix) > 0 && calls {
		return
	}
	only := ""
	for _, p := range f.prefix {
		only += p.String() + " && "
	}
	if only != "" {
		f.emitAs(pure, "if %strue {", only)
		defer f.emitAs(pure, "}")
	}
	f.emitAs(note, "%s = %d", f.posName(), f.position(at)) // by which its caller is found
	f.emitAs(pure, format+", %d, %q)", append(args, f.position(at)>>12, f.cell)...)
}
