package gokernel

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
	"gocuda/cudaapi/gokernel/osr"
	"gocuda/cudaapi/gpu"
)

// call lowers a call and gives its results.
func (f *fn) call(e *ast.CallExpr) []ir.Expr {
	fun := ast.Unparen(e.Fun)
	tv := f.u.info.Types[fun]
	switch {
	case tv.IsType():
		return []ir.Expr{f.conversion(e)}
	case tv.IsBuiltin():
		return f.builtin(e, fun)
	}
	if o := f.funcOf(fun); o != nil {
		if sel, ok := fun.(*ast.SelectorExpr); ok && f.u.info.Selections[sel] != nil {
			if x := f.interfaceMethod(sel, f.u.info.Selections[sel]); x != nil {
				return f.callDynamic(e, x, o)
			}
		}
		if results, ok := f.u.target.library(f, e, o); ok {
			return results
		}
		return f.declared(e, fun, o)
	}
	if lit, ok := fun.(*ast.FuncLit); ok {
		ref := f.literal(lit, "f").(*ir.FuncRef)
		return f.invoke(e, &ir.Call{Lit: ref.Lit}, nil, f.typeOf(fun).(*types.Signature))
	}
	if sel, ok := fun.(*ast.SelectorExpr); ok && f.u.info.Selections[sel] != nil {
		if !f.u.target.hasInterfaces() {
			f.refuse(e, fieldCall)
		}
		return f.callField(e, sel)
	}
	ref, ok := f.expr(fun).(*ir.FuncRef)
	if !ok || ref.Lit == nil {
		f.refuse(e, otherCall)
	}
	return f.invoke(e, &ir.Call{Lit: ref.Lit}, nil, f.typeOf(fun).Underlying().(*types.Signature))
}

// declared calls a function or method of the source.
func (f *fn) declared(e *ast.CallExpr, fun ast.Expr, o *types.Func) []ir.Expr {
	targs := f.typeArgs(fun)
	var recv []ir.Expr
	if sel, ok := fun.(*ast.SelectorExpr); ok && f.u.info.Selections[sel] != nil {
		s := f.u.info.Selections[sel]
		if s.Kind() == types.MethodExpr {
			ref := f.methodExpr(sel, s)
			return f.invoke(e, &ir.Call{Lit: ref.Lit}, nil, f.typeOf(fun).Underlying().(*types.Signature))
		}
		var x ir.Expr
		o, targs, x = f.receiver(sel, s, f.expr(sel.X))
		recv = []ir.Expr{x}
	}
	decl := f.u.declOf(o.Origin())
	if decl == nil {
		f.fail(e, "%s is not in the source", o.Name())
	}
	sig := f.typeOf(fun).Underlying().(*types.Signature)
	if givesFunc(o.Signature()) {
		return []ir.Expr{f.inlined(e, decl, o.Origin(), targs, append(recv, f.args(e, sig)...))}
	}
	g := f.u.function(o.Origin(), targs, decl)
	g.Called = true
	return f.invoke(e, &ir.Call{Func: g}, recv, sig)
}

// typed calls, in place of a function that takes a slice of any type, the one for its elements.
func (f *fn) typed(e *ast.CallExpr, o *types.Func) (results []ir.Expr, ok bool) {
	t := osr.Typed(o)
	if t == nil || f.u.declOf(t) == nil {
		return nil, false
	}
	s, ok := f.typeOf(e.Args[0]).Underlying().(*types.Slice)
	if !ok {
		return nil, false
	}
	targs := []types.Type{s.Elem()}
	sig, err := types.Instantiate(nil, t.Signature(), targs, false)
	if err != nil {
		return nil, false
	}
	g := f.u.function(t, targs, f.u.declOf(t))
	g.Called, g.Go = true, hostName(o)
	return f.invoke(e, &ir.Call{Func: g}, nil, sig.(*types.Signature)), true
}

// receiver is x as the method that a selection chose takes it, with that method.
func (f *fn) receiver(at ast.Node, s *types.Selection, x ir.Expr) (o *types.Func, targs []types.Type, recv ir.Expr) {
	o = s.Obj().(*types.Func)
	if types.IsInterface(s.Recv()) && !isTypeParam(s.Recv()) {
		f.usable(s.Recv(), at, "a value")
		f.refuse(at, interfaces)
	}
	index := s.Index()
	if isTypeParam(s.Recv()) { // the method of its argument
		found, path, _ := types.LookupFieldOrMethod(x.Type(), true, o.Pkg(), o.Name())
		m, ok := found.(*types.Func)
		if !ok {
			f.fail(at, "%s has no method %s", types.TypeString(x.Type(), shortNames), o.Name())
		}
		o, index = m, path
	}
	x = f.path(x, index[:len(index)-1], at)
	_, isPtr := x.Type().Underlying().(*types.Pointer)
	_, wantPtr := types.Unalias(o.Signature().Recv().Type()).(*types.Pointer)
	switch {
	case wantPtr && !isPtr:
		x = f.addressOf(x, types.NewPointer(x.Type()), at)
	case !wantPtr && isPtr:
		x = f.deref(x, at)
	}
	base := x.Type()
	if p, ok := base.Underlying().(*types.Pointer); ok && wantPtr {
		base = p.Elem()
	}
	if n, ok := types.Unalias(base).(*types.Named); ok {
		targs = typesOf(n.TypeArgs())
	}
	return o, targs, x
}

func isTypeParam(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.TypeParam)
	return ok
}

// invoke fills in arguments and results.
func (f *fn) invoke(e *ast.CallExpr, c *ir.Call, recv []ir.Expr, sig *types.Signature) []ir.Expr {
	c.Args, c.Pos = append(recv, f.args(e, sig)...), e.Pos()
	var results []ir.Expr
	for v := range sig.Results().Variables() {
		t := f.subst.of(v.Type())
		r := f.local("t", t)
		f.emit(&ir.Define{Var: r})
		c.Dst = append(c.Dst, r)
		results = append(results, &ir.Ref{Var: r})
	}
	f.emit(c)
	return results
}

func (f *fn) args(e *ast.CallExpr, sig *types.Signature) (args []ir.Expr) {
	params := sig.Params()
	param := func(i int) types.Type { return f.subst.of(params.At(i).Type()) }
	n := len(e.Args)
	arg := func(i int, t types.Type) ir.Expr { return f.to(e.Args[i], t) }
	if n == 1 {
		if tuple, ok := f.u.info.TypeOf(e.Args[0]).(*types.Tuple); ok { // f(g())
			n = tuple.Len()
			results := f.call(ast.Unparen(e.Args[0]).(*ast.CallExpr))
			arg = func(i int, t types.Type) ir.Expr { return f.convert(results[i], t) }
		}
	}
	fixed := params.Len()
	if sig.Variadic() && !e.Ellipsis.IsValid() {
		fixed--
	}
	for i := range fixed {
		args = append(args, arg(i, param(i)))
	}
	if fixed < params.Len() {
		t := param(fixed)
		elem := t.Underlying().(*types.Slice).Elem()
		if n == fixed {
			return append(args, &ir.Zero{T: t})
		}
		more := int64(n - fixed)
		array := types.NewArray(elem, more)
		lit := &ir.Composite{T: array}
		for i := fixed; i < n; i++ {
			lit.Elems = append(lit.Elems, arg(i, elem))
		}
		p := addressOfVar(f.variable(e, "t", array, lit))
		args = append(args, &ir.Slice{X: p, Lo: ir.Int(0), Hi: ir.Int(more), Max: ir.Int(more), T: t})
	}
	return args
}

func (f *fn) convert(x ir.Expr, t types.Type) ir.Expr {
	if types.Identical(x.Type(), t) {
		return x
	}
	if types.IsInterface(t) {
		return f.boxed(&ast.BadExpr{From: f.u.here}, x, t)
	}
	return &ir.Convert{X: x, T: t}
}

func (f *fn) builtin(e *ast.CallExpr, fun ast.Expr) []ir.Expr {
	one := func(x ir.Expr) []ir.Expr { return []ir.Expr{x} }
	name := ""
	switch fun := fun.(type) {
	case *ast.Ident:
		name = fun.Name
	case *ast.SelectorExpr:
		f.refuse(e, unsafePackage)
	}
	if results, ok := f.u.target.builtin(f, e, name); ok {
		return results
	}
	switch name {
	case "len", "cap":
		x := f.expr(e.Args[0])
		if p, ok := x.Type().Underlying().(*types.Pointer); ok {
			return one(ir.Int(p.Elem().Underlying().(*types.Array).Len()))
		}
		if a, ok := x.Type().Underlying().(*types.Array); ok {
			return one(ir.Int(a.Len()))
		}
		f.usable(x.Type(), e.Args[0], "a value")
		if name == "len" {
			return one(&ir.Len{X: x})
		}
		return one(&ir.Cap{X: x})
	case "min", "max":
		t := f.typeOf(e)
		x := f.to(e.Args[0], t)
		for _, a := range e.Args[1:] {
			x = &ir.Pure{Name: name, Args: []ir.Expr{x, f.to(a, t)}, T: t}
		}
		return one(x)
	case "real", "imag":
		return one(&ir.Pure{Name: name, Args: []ir.Expr{f.expr(e.Args[0])}, T: f.typeOf(e)})
	case "complex":
		t := f.typeOf(e)
		part := types.Typ[types.Float64]
		if b, ok := t.Underlying().(*types.Basic); ok && b.Kind() == types.Complex64 {
			part = types.Typ[types.Float32]
		}
		return one(&ir.Pure{Name: "complex", Args: []ir.Expr{f.to(e.Args[0], part), f.to(e.Args[1], part)}, T: t})
	case "new":
		t := f.typeOf(e).(*types.Pointer).Elem()
		f.usable(t, e, "a value")
		var init ir.Expr = &ir.Zero{T: t}
		if tv := f.u.info.Types[e.Args[0]]; !tv.IsType() {
			init = f.to(e.Args[0], t)
		}
		p := addressOfVar(f.variable(e, "t", t, init))
		return one(f.convert(p, f.typeOf(e)))
	case "copy":
		dst, src := f.temp(f.expr(e.Args[0])), f.expr(e.Args[1])
		f.usable(src.Type(), e.Args[1], "a value")
		v := f.local("t", types.Typ[types.Int])
		f.emit(&ir.Define{Var: v})
		f.emit(&ir.Effect{Dst: v, Name: "copy", Args: []ir.Expr{dst, f.temp(src)}, T: types.Typ[types.Int]})
		return one(&ir.Ref{Var: v})
	case "clear":
		x := f.expr(e.Args[0])
		f.usable(x.Type(), e.Args[0], "a value")
		f.emit(&ir.Effect{Name: "clear", Args: []ir.Expr{f.temp(x)}, T: x.Type()})
		return nil
	case "recover":
		f.refuse(e, recovering)
	}
	f.refuse(e, builtins, name)
	return nil
}

// constantPanic is panic(x) of a constant.
func (f *fn) constantPanic(e *ast.CallExpr) {
	tv := f.u.info.Types[e.Args[0]]
	if tv.Value == nil {
		f.fail(e.Args[0], "a panic in a kernel takes a constant")
	}
	text := tv.Value.ExactString()
	if tv.Value.Kind() == constant.String {
		text = constant.StringVal(tv.Value)
	}
	f.emit(&ir.Panic{Text: text, Pos: e.Pos()})
}

// print is println, whose words are separated by blanks.
func (f *fn) print(e *ast.CallExpr, line bool) {
	var format strings.Builder
	var args []ir.Expr
	for i, a := range e.Args {
		if line && i > 0 {
			format.WriteString(" ")
		}
		verb, arg := f.printed(a, 'v', "")
		format.WriteString(verb)
		args = append(args, arg...)
	}
	if line {
		format.WriteString("\n")
	}
	f.emit(&ir.Printf{Format: format.String(), Args: args})
}

// printed writes what C's printf needs for a value of Go.
func (f *fn) printed(a ast.Expr, verb byte, flags string) (string, []ir.Expr) {
	if tv := f.u.info.Types[a]; tv.Value != nil && tv.Value.Kind() == constant.String {
		return strings.ReplaceAll(constant.StringVal(tv.Value), "%", "%%"), nil
	}
	x := f.expr(a)
	t := x.Type()
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		f.fail(a, "a value of type %s cannot be printed in a kernel: print its numbers", types.TypeString(t, shortNames))
	}
	to := func(kind types.BasicKind) []ir.Expr { return []ir.Expr{f.convert(x, types.Typ[kind])} }
	switch info := b.Info(); {
	case info&types.IsBoolean != 0 && (verb == 'v' || verb == 't'):
		return "%" + flags + "s", []ir.Expr{&ir.Pure{Name: "bool_text", Args: []ir.Expr{x}, T: types.Typ[types.String]}}
	case info&types.IsInteger != 0 && (verb == 'v' || verb == 'd'):
		if info&types.IsUnsigned != 0 {
			return "%" + flags + "llu", to(types.Uint64)
		}
		return "%" + flags + "lld", to(types.Int64)
	case info&types.IsInteger != 0 && (verb == 'x' || verb == 'X' || verb == 'o'):
		return "%" + flags + "ll" + string(verb), to(types.Uint64)
	case info&types.IsInteger != 0 && verb == 'c':
		return "%" + flags + "c", to(types.Int32)
	case info&types.IsFloat != 0 && verb == 'v':
		return "%" + flags + "g", to(types.Float64)
	case info&types.IsFloat != 0 && strings.IndexByte("eEfFgG", verb) >= 0:
		return "%" + flags + string(verb), to(types.Float64)
	}
	f.fail(a, "%%%c of a value of type %s cannot be printed in a kernel", verb, types.TypeString(t, shortNames))
	return "", nil
}

// printf is fmt.Printf with a constant format.
func (f *fn) printf(e *ast.CallExpr) {
	tv := f.u.info.Types[e.Args[0]]
	if tv.Value == nil || e.Ellipsis.IsValid() {
		f.fail(e, "fmt.Printf in a kernel takes a constant format, and its values one by one")
	}
	text := constant.StringVal(tv.Value)
	var format strings.Builder
	var args []ir.Expr
	next := 1
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			format.WriteByte(text[i])
			continue
		}
		j := i + 1
		for j < len(text) && strings.IndexByte("+-# 0123456789.", text[j]) >= 0 {
			j++
		}
		if j == len(text) {
			f.fail(e.Args[0], "the format ends in the middle of a verb")
		}
		if text[j] == '%' {
			format.WriteString("%%")
			i = j
			continue
		}
		if next >= len(e.Args) {
			f.fail(e, "the format has more verbs than there are values")
		}
		verb, arg := f.printed(e.Args[next], text[j], text[i+1:j])
		if text[j] == 's' {
			if v := f.u.info.Types[e.Args[next]].Value; v == nil {
				f.fail(e.Args[next], "%%s takes a constant in a kernel")
			}
		}
		format.WriteString(verb)
		args = append(args, arg...)
		next++
		i = j
	}
	if next < len(e.Args) {
		f.fail(e, "there are more values than the format has verbs")
	}
	f.emit(&ir.Printf{Format: format.String(), Args: args})
}

// effects are the functions of package gpu that act, by what they are called in the
// output; those with a result work on it.
var effects = map[string]string{
	"SyncThreads": "sync_threads", "SyncThreadsCount": "sync_threads_count", "SyncThreadsAnd": "sync_threads_and", "SyncThreadsOr": "sync_threads_or",
	"SyncWarp": "sync_warp", "SyncGrid": "sync_grid",
	"Clock64": "clock", "Nanosleep": "nanosleep", "LaneID": "lane_id", "ActiveMask": "active_mask",
	"MatchAny": "match_any", "MatchAll": "match_all", "ReduceAdd": "reduce_add", "ReduceMin": "reduce_min", "ReduceMax": "reduce_max",
	"ReduceAnd": "reduce_and", "ReduceOr": "reduce_or", "ReduceXor": "reduce_xor", "Load2": "load2", "Load4": "load4", "Store2": "store2", "Store4": "store4",
	"ThreadRank": "thread_rank", "GridRank": "grid_rank", "GridSize": "grid_size", "Tile": "tile", "Coalesced": "coalesced",
	"SyncCluster": "sync_cluster", "ClusterRank": "cluster_rank", "ClusterSize": "cluster_size", "ClusterShared": "cluster_shared",
	"CopyAsync": "copy_async", "CommitCopies": "commit_copies", "WaitCopies": "wait_copies", "Shfl": "shfl", "ShflUp": "shfl_up", "ShflDown": "shfl_down", "ShflXor": "shfl_xor", "Ballot": "ballot", "All": "all", "Any": "any",
}

// atomics are those that work on memory that other threads use.
var atomics = map[string]ir.MemoryOp{
	"AtomicLoad": ir.Load, "AtomicStore": ir.Store, "AtomicAdd": ir.Add, "AtomicSub": ir.Sub, "AtomicMin": ir.Min, "AtomicMax": ir.Max, "AtomicAnd": ir.And, "AtomicOr": ir.Or, "AtomicXor": ir.Xor,
	"AtomicExch": ir.Exchange, "AtomicCAS": ir.CompareExchange, "AtomicInc": ir.Increment, "AtomicDec": ir.Decrement,
}

// fences are the scopes of those that order it.
var fences = map[string]ir.Scope{"ThreadFenceBlock": ir.BlockScope, "ThreadFence": ir.DeviceScope, "ThreadFenceSystem": ir.SystemScope}

// pures are the functions of package gpu that compute.
var pures = map[string]string{
	"Sqrt": "sqrt", "Rsqrt": "rsqrt", "Exp": "exp", "Log": "log", "Sin": "sin", "Cos": "cos", "Tanh": "tanh", "Pow": "pow", "Abs": "fabs", "FMA": "fma",
}

// library calls a function of a package that kernels can import.
func (f *fn) library(e *ast.CallExpr, o *types.Func) []ir.Expr {
	sig := f.typeOf(e.Fun).Underlying().(*types.Signature)
	one := func(x ir.Expr) []ir.Expr { return []ir.Expr{x} }
	switch path := o.Pkg().Path(); path {
	case "math", "math/bits", "math/cmplx", "strings":
		prefix := map[string]string{"math": "math_", "math/bits": "bits_", "math/cmplx": "cmplx_", "strings": "strings_"}[path]
		args := f.args(e, sig)
		return one(&ir.Pure{Name: prefix + strings.ToLower(o.Name()[:1]) + o.Name()[1:], Args: args, T: sig.Results().At(0).Type()})
	case "fmt":
		if o.Name() == "Printf" {
			f.printf(e)
		} else {
			f.print(e, true)
		}
		return nil
	case gpuPath:
		switch name := o.Name(); {
		case name == "Shared":
			t := f.typeArgs(e.Fun)[0]
			f.usable(t, e, "a variable")
			if s, ok := t.Underlying().(*types.Slice); ok {
				elem := types.TypeString(s.Elem(), shortNames)
				f.fail(e, "a slice has no memory of its own that threads could share: gpu.Shared[[256]%s]() has, and gpu.DynamicShared[%s]", elem, elem)
			}
			v := f.local(f.u.assigned(e), t)
			v.Space = ir.Shared
			f.emit(&ir.Define{Var: v})
			return one(&ir.Addr{X: &ir.Ref{Var: v}, T: types.NewPointer(t)})
		case name == "DynamicShared":
			t := f.typeArgs(e.Fun)[0]
			f.usable(t, e, "a value")
			return one(&ir.Pure{Name: "dynamic_shared", Args: []ir.Expr{f.intOf(e.Args[0])}, T: types.NewSlice(t)})
		case pures[name] != "":
			return one(&ir.Pure{Name: pures[name], Args: f.args(e, sig), T: f.subst.of(sig.Results().At(0).Type())})
		case effects[name] != "":
			return f.act(e, sig, name)
		case strings.HasPrefix(name, "ThreadFence"):
			f.emit(&ir.Memory{Op: ir.Fence, Order: ir.SequentiallyConsistent, Scope: fences[name], Pos: e.Pos()})
			return nil
		case strings.HasPrefix(name, "Atomic"):
			return f.atomic(e, sig, atomics[name])
		}
	}
	f.fail(e, "%s.%s cannot be called in a kernel", o.Pkg().Name(), o.Name())
	return nil
}

// act calls a function of package gpu that has an effect.
func (f *fn) act(e *ast.CallExpr, sig *types.Signature, name string) []ir.Expr {
	x := &ir.Effect{Name: effects[name], Args: f.args(e, sig), Pos: e.Pos()}
	switch name {
	case "Load2", "Load4", "Store2", "Store4": // so many elements are there
		n := ir.Int(int64(name[len(name)-1] - '0'))
		x.Args[0], x.Args[1] = f.stableSlice(x.Args[0]), f.stableIndex(x.Args[1])
		have := &ir.Binary{Op: token.QUO, X: &ir.Len{X: x.Args[0]}, Y: n, T: types.Typ[types.Int]}
		f.emit(&ir.Check{Kind: ir.InRange, Args: []ir.Expr{x.Args[1], have}, Pos: e.Pos()})
	case "Tile":
		n, ok := x.Args[0].(*ir.Const)
		if !ok {
			f.fail(e.Args[0], "the size of a tile must be a constant")
		}
		if v, _ := constant.Int64Val(n.Value); v < 1 || v > 32 || v&(v-1) != 0 {
			f.fail(e.Args[0], "a tile has 1, 2, 4, 8, 16 or 32 threads, not %d", v)
		}
	}
	switch name {
	case "ClusterShared": // the cluster has such a block
		x.Args[0], x.Args[1] = f.stable(x.Args[0]), f.stableIndex(x.Args[1])
		n := f.local("t", types.Typ[types.Int])
		f.emit(&ir.Define{Var: n})
		f.emit(&ir.Effect{Dst: n, Name: "cluster_size", T: n.Type, Pos: e.Pos()})
		f.emit(&ir.Check{Kind: ir.InRange, Args: []ir.Expr{x.Args[1], &ir.Ref{Var: n}}, Pos: e.Pos()})
	case "CopyAsync":
		for i := range x.Args {
			x.Args[i] = f.stable(x.Args[i])
			if _, ok := x.Args[i].(*ir.Addr); !ok {
				f.emit(&ir.Check{Kind: ir.NonNil, Args: x.Args[i : i+1], Pos: e.Pos()})
			}
		}
	case "WaitCopies":
		n, ok := x.Args[0].(*ir.Const)
		if !ok || constant.Sign(n.Value) < 0 {
			f.fail(e.Args[0], "how many batches of copies may be under way is a constant, 0 or more")
		}
	}
	var results []ir.Expr
	if sig.Results().Len() > 0 {
		x.T = f.subst.of(sig.Results().At(0).Type())
		x.Dst = f.local("t", x.T)
		f.emit(&ir.Define{Var: x.Dst})
		results = []ir.Expr{&ir.Ref{Var: x.Dst}}
	}
	f.emit(x)
	return results
}

// atomic calls an atomic operation of package gpu.
func (f *fn) atomic(e *ast.CallExpr, sig *types.Signature, op ir.MemoryOp) (results []ir.Expr) {
	fixed := sig.Params().Len() - 1
	if e.Ellipsis.IsValid() {
		f.fail(e, "the options of an atomic operation are constants, one by one")
	}
	x := &ir.Memory{Op: op, Scope: ir.DeviceScope, Pos: e.Pos()}
	for i := range fixed {
		x.Args = append(x.Args, f.to(e.Args[i], f.subst.of(sig.Params().At(i).Type())))
	}
	x.Addr, x.Args = x.Args[0], x.Args[1:]
	half := ir.Half(x.Addr.Type().Underlying().(*types.Pointer).Elem()) != ir.NoHalf
	if half && op != ir.Add {
		f.fail(e.Args[0], "of numbers of 16 bits there is AtomicAdd alone: use float32")
	}
	for _, a := range e.Args[fixed:] {
		v := f.u.info.Types[a].Value
		if v == nil {
			f.fail(a, "the options of an atomic operation are constants")
		}
		switch n, _ := constant.Int64Val(v); gpu.AtomicOption(n) {
		case gpu.BlockScope:
			x.Scope = ir.BlockScope
		case gpu.DeviceScope:
			x.Scope = ir.DeviceScope
		case gpu.SystemScope:
			x.Scope = ir.SystemScope
		case gpu.Relaxed:
			x.Order = ir.Relaxed
		case gpu.Acquire:
			x.Order = ir.Acquire
		case gpu.Release:
			x.Order = ir.Release
		case gpu.AcquireRelease:
			x.Order = ir.AcquireRelease
		case gpu.SequentiallyConsistent:
			x.Order = ir.SequentiallyConsistent
		default:
			f.fail(a, "%d is no option of an atomic operation", n)
		}
	}
	if half && x.Scope != ir.DeviceScope {
		f.fail(e, "the scope of an atomic operation on numbers of 16 bits is the device")
	}
	x.Addr = f.stable(x.Addr)
	if _, ok := x.Addr.(*ir.Addr); !ok {
		f.emit(&ir.Check{Kind: ir.NonNil, Args: []ir.Expr{x.Addr}, Pos: e.Pos()})
	}
	if sig.Results().Len() > 0 {
		x.Dst = f.local("t", f.subst.of(sig.Results().At(0).Type()))
		f.emit(&ir.Define{Var: x.Dst})
		results = []ir.Expr{&ir.Ref{Var: x.Dst}}
	}
	f.emit(x)
	return results
}

// assigned is the name of the variable that a call's result is for; "shared" where that is not
// plain to see.
func (u *unit) assigned(call *ast.CallExpr) string {
	name := "shared"
	for n := range ast.Preorder(u.file) {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			if i := slices.Index(a.Rhs, ast.Expr(call)); i >= 0 {
				if id, ok := a.Lhs[i].(*ast.Ident); ok && id.Name != "_" {
					name = id.Name
				}
			}
		}
	}
	return name
}
