package lower

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"strings"
)

// callExpr writes a call whose value is used: one result, out of its slot.
func (f *fn) callExpr(e *ast.CallExpr) string {
	text := f.call(e)
	tv := f.info.Types[ast.Unparen(e.Fun)]
	if tv.IsType() || tv.IsBuiltin() {
		return text
	}
	t := f.typeOf(e)
	if tup, ok := t.(*types.Tuple); ok {
		if tup.Len() != 1 {
			return text
		}
		t = tup.At(0).Type()
	}
	return f.fromSlot(text, t)
}

// call writes a call; its results are slots.
func (f *fn) call(e *ast.CallExpr) string {
	fun := ast.Unparen(e.Fun)
	tv := f.info.Types[fun]
	switch {
	case tv.IsType():
		return f.conversion(e)
	case tv.IsBuiltin():
		return f.builtin(e)
	}
	if text, ok := f.special(e, fun); ok {
		return text
	}
	l := f.l
	callee, sig := f.callee(fun)
	f.calls(callee.lowered)
	var recv func() string
	if callee.recv != nil {
		recv = callee.recv
	}
	if h := callee.host; h != nil && h.Pkg() != nil && dressed[h.Pkg().Path()] != "" {
		l.dress()
	}
	args := f.args(e, sig, recv, callee.policy)
	f.typeVerbs(e, fun, sig, args)
	f.guardCallbacks(callee, sig, args)
	if text, ok := f.direct(e, callee.host, args); ok {
		return text
	}
	if recv != nil {
		r := args[0]
		args = args[1:]
		if callee.bound != nil {
			if strings.HasPrefix(r, f.l.aliases["direct"]+".") { // of a direct call: the interpreter finds no method of it
				r = f.spill(r)
			}
			text := callee.bound(r) + "(" + strings.Join(args, ", ") + ")"
			if callee.host.FullName() == "(reflect.Value).Interface" {
				text = l.sym("Undress") + "(" + text + ")"
			}
			return text
		}
		return callee.text + "(" + join(r, strings.Join(args, ", ")) + ")"
	}
	return callee.text + "(" + strings.Join(args, ", ") + ")"
}

// target is what a call calls.
type calledFunc struct {
	text    string
	lowered string                   // the lowered function that it is, if that is known
	recv    func() string            // the receiver, if it is to be evaluated with the arguments
	bound   func(recv string) string // how to call with it; nil: it is the first argument
	policy  func() string            // what compiled code gets for an any
	host    *types.Func              // the compiled function that it is
}

func (f *fn) callee(fun ast.Expr) (calledFunc, *types.Signature) {
	l := f.l
	sig, _ := coreType(f.typeOf(fun)).(*types.Signature)
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		if s := f.info.Selections[sel]; s != nil && s.Kind() == types.MethodVal {
			t := f.typeOf(sel.X)
			c := f.method(t, s.Obj())
			out := calledFunc{recv: func() string { return f.receiver(sel.X, t, c) }}
			if c.host {
				out.bound = func(recv string) string { text, _ := f.methodText(c, recv); return text }
				out.policy, out.host = policyOf(c.fun), c.fun
			} else {
				out.text, _ = f.methodText(c, "")
				out.lowered = out.text
			}
			return out, sig
		}
	}
	if id := calledName(fun); id != nil && !f.isMethodExpr(fun) {
		if o, ok := f.info.Uses[id].(*types.Func); ok {
			out := calledFunc{text: f.funcInstance(fun)}
			if o.Pkg() != nil && l.hostPkg(o.Pkg()) && l.declOf(o.Origin()) == nil {
				out.policy, out.host = policyOf(o), o
			} else {
				out.lowered = out.text
			}
			return out, sig
		}
	}
	text := f.expr(fun)
	if strings.ContainsAny(text, ".*&({[") {
		text = f.spill(text)
	}
	return calledFunc{text: text}, sig
}

// direct calls a compiled function without reflection, if it is such a one. Its
// receiver is the first argument. Of two results it gives the structure that has
// them.
func (f *fn) direct(e *ast.CallExpr, fun *types.Func, args []string) (string, bool) {
	if fun == nil {
		return "", false
	}
	symbol, ok := f.l.host.Direct(fun.FullName())
	if !ok {
		return "", false
	}
	typ := f.l.use("direct") + "." + symbol
	text := fmt.Sprintf("%s(%s)", typ, f.arguments(e, typ, args))
	if fun.Signature().Results().Len() == 1 {
		text += ".R"
	}
	return text, true
}

func (f *fn) isMethodExpr(fun ast.Expr) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	s := f.info.Selections[sel]
	return s != nil && s.Kind() == types.MethodExpr
}

func calledName(fun ast.Expr) *ast.Ident {
	switch e := ast.Unparen(fun).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return calledName(e.X)
	case *ast.IndexListExpr:
		return calledName(e.X)
	}
	return nil
}

// keepBoxes are the compiled packages that hand an any back, or print it with
// fmt: they get a cell's value with its type.
var keepBoxes = map[string]bool{
	"fmt": true, "log": true, "errors": true, "context": true, "sync": true, "sync/atomic": true, "testing": true,
	"container/list": true, "container/ring": true, "container/heap": true,
	"gocuda/kernel/display": true, "gocuda/builtin": true,
	"gocuda/cudaapi/mpi.Push": true, // a function: the rest of its package takes memory as it is
}

// dressed are the compiled packages that look at values by reflection, and how
// these are made ready for it.
var dressed = map[string]string{
	"reflect": "Dress", "text/template": "DressAll", "html/template": "DressAll", "encoding/xml": "DressAll", "encoding/gob": "DressAll",
}

// policyOf says what a compiled function gets where it takes any.
func policyOf(fun *types.Func) func() string {
	if fun.FullName() == "fmt.Errorf" {
		return func() string { return "AsError" } // for %w
	}
	if fun.Pkg() != nil && fun.Pkg().Path() == "log/slog" {
		return func() string { return "Logged" }
	}
	if fun.Pkg() != nil && fun.Pkg().Path() == "fmt" && strings.Contains(strings.ToLower(fun.Name()), "scan") {
		return func() string { return "Scan" }
	}
	if fun.Pkg() == nil || keepBoxes[fun.Pkg().Path()] || keepBoxes[fun.FullName()] {
		return nil
	}
	if fun.Pkg().Path() == "encoding/json" {
		if name := fun.Name(); name == "Unmarshal" || name == "Decode" {
			return func() string { return "JSONIn" }
		}
		return func() string { return "JSONOut" }
	}
	if fun.Pkg().Path() == "gocuda/cudaapi/mpi" && strings.HasSuffix(fun.Name(), "Object") {
		return func() string { return "JSON" } // to encode or to decode
	}
	if how := dressed[fun.Pkg().Path()]; how != "" {
		return func() string { return how }
	}
	return func() string { return "Out" }
}

// args writes the arguments of a call, converted to the parameters' types.
func (f *fn) args(e *ast.CallExpr, sig *types.Signature, recv func() string, policy func() string) []string {
	l := f.l
	n := sig.Params().Len()
	param := func(i int) types.Type {
		if sig.Variadic() && i >= n-1 && !e.Ellipsis.IsValid() {
			t := sig.Params().At(n - 1).Type().Underlying()
			if s, ok := t.(*types.Slice); ok {
				return s.Elem()
			}
		}
		return sig.Params().At(i).Type()
	}
	finish := func(text string, t types.Type, from types.Type) string {
		if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Name() == "FuncMap" && l.rep(n) == l.use("text/template")+".FuncMap" {
			text = fmt.Sprintf("%s(%s)", l.sym("DressFuncs"), text)
		}
		if policy != nil && types.IsInterface(t) && t.Underlying().(*types.Interface).Empty() {
			asItIs := from != nil && l.isBare(from) && !types.IsInterface(from)
			if how := policy(); !asItIs || how == "DressAll" && !isBasic(from) {
				text = fmt.Sprintf("%s(%s)", l.sym(how), text)
			}
		}
		return f.intoSlot(text, t)
	}
	var list []func() string
	if recv != nil {
		list = append(list, recv)
	}
	fixed := len(list)
	// f(g()) where g has several results.
	if len(e.Args) == 1 {
		if tup, ok := f.typeOf(e.Args[0]).(*types.Tuple); ok && tup.Len() != 1 {
			r := ""
			if recv != nil {
				r = f.spill(recv())
			}
			values := f.multi(e.Args[0], tup.Len())
			var out []string
			for i, v := range values {
				out = append(out, finish(f.convert(v, tup.At(i).Type(), param(i)), param(i), tup.At(i).Type()))
			}
			if sig.Variadic() && policy == nil {
				out = f.pack(out, sig)
			}
			if recv != nil {
				out = append([]string{r}, out...)
			}
			return out
		}
	}
	for i, a := range e.Args {
		list = append(list, func() string {
			t := param(i)
			if e.Ellipsis.IsValid() && i == len(e.Args)-1 {
				if b, ok := f.typeOf(a).Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
					return "[]byte(" + f.expr(a) + ")..."
				}
				return f.to(a, t) + "..."
			}
			text := finish(f.to(a, t), t, f.typeOf(a))
			if sig.Variadic() && i >= n-1 {
				text = f.listed(text, t)
			}
			return text
		})
	}
	out := f.exprs(list...)
	if sig.Variadic() && !e.Ellipsis.IsValid() {
		packed := f.pack(out[fixed:], sig)
		out = append(out[:fixed:fixed], packed...)
	}
	return out
}

// pack puts the variadic arguments of a call into a slice.
func (f *fn) pack(args []string, sig *types.Signature) []string {
	n := sig.Params().Len()
	s, ok := sig.Params().At(n - 1).Type().Underlying().(*types.Slice)
	if !ok {
		return args
	}
	rep := "[]" + f.l.slot(s.Elem())
	out := append([]string(nil), args[:n-1]...)
	if len(args) == n-1 {
		switch rep { // a conversion would allocate
		case "[]any":
			return append(out, "noAny...")
		case "[]int":
			return append(out, "noInts...")
		}
		return append(out, f.l.converted(rep, "nil")+"...")
	}
	return append(out, rep+"{"+strings.Join(args[n-1:], ", ")+"}...")
}

// typeVerbs has the runtime see to %T and %p in the format of a compiled
// function: fmt would tell of the Box, not of what is in it.
func (f *fn) typeVerbs(e *ast.CallExpr, fun ast.Expr, sig *types.Signature, args []string) {
	id := calledName(fun)
	if id == nil || e.Ellipsis.IsValid() || !sig.Variadic() || !strings.HasSuffix(id.Name, "f") {
		return
	}
	o, ok := f.info.Uses[id].(*types.Func)
	if !ok || o.Pkg() == nil || !keepBoxes[o.Pkg().Path()] || !f.l.hostPkg(o.Pkg()) {
		return
	}
	n := sig.Params().Len()
	if n < 2 || len(e.Args) < n || f.l.rep(sig.Params().At(n-2).Type()) != "string" {
		return
	}
	if tv := f.info.Types[e.Args[n-2]]; tv.Value != nil && !strings.ContainsAny(constant.StringVal(tv.Value), "Tp") {
		return
	}
	format, rest := f.temp(), f.temp()
	last := len(args) - 1
	for i := range last - 1 {
		args[i] = f.spill(args[i])
	}
	f.emit("%s, %s := %s(%s, %s)", format, rest, f.l.sym("Format"), args[last-1], strings.TrimSuffix(args[last], "..."))
	args[last-1], args[last] = format, rest+"..."
}

// guardCallbacks has what a compiled function is given to call, perhaps in a
// goroutine of its own, as sync.WaitGroup.Go does, end as a goroutine of the
// cell's would: nothing else recovers its panics there.
func (f *fn) guardCallbacks(callee calledFunc, sig *types.Signature, args []string) {
	if callee.host == nil {
		return
	}
	first := len(args) - sig.Params().Len() // behind the receiver
	for i := range sig.Params().Len() {
		t, ok := types.Unalias(sig.Params().At(i).Type()).(*types.Signature)
		if ok && t.Params().Len() == 0 && t.Results().Len() == 0 {
			args[first+i] = fmt.Sprintf("%s(%s)", f.l.sym("Callback"), args[first+i])
		}
	}
}

// special writes calls that compiled code cannot do right for a cell's types.
func (f *fn) special(e *ast.CallExpr, fun ast.Expr) (string, bool) {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	o, ok := f.info.Uses[sel.Sel].(*types.Func)
	if !ok || o.Pkg() == nil || o.Signature().Recv() != nil && o.Pkg().Path() != "testing" {
		return "", false
	}
	l := f.l
	switch o.Pkg().Path() + "." + o.Name() {
	case "errors.As":
		t, ok := f.typeOf(e.Args[1]).Underlying().(*types.Pointer)
		if !ok || l.isBare(t.Elem()) || l.isHostInterface(t.Elem()) {
			return "", false
		}
		p := f.exprs(func() string { return f.to(e.Args[0], o.Signature().Params().At(0).Type()) }, func() string { return f.expr(e.Args[1]) })
		return fmt.Sprintf("%s(%s, any(%s), %d)", l.sym("ErrorsAs"), p[0], p[1], l.id(t.Elem())), true
	case "os.Exit":
		return fmt.Sprintf("%s(%s)", l.sym("Exit"), f.expr(e.Args[0])), true
	}
	return "", false
}

// multi evaluates an expression with several values into temporaries, which
// are values, not slots.
func (f *fn) multi(e ast.Expr, n int) []string {
	l := f.l
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		tup := f.typeOf(x).(*types.Tuple)
		text := f.call(x)
		if strings.HasPrefix(text, f.l.aliases["direct"]+".") {
			t := f.pair(text)
			return []string{f.fromSlot(t+".R", tup.At(0).Type()), f.fromSlot(t+".S", tup.At(1).Type())}
		}
		temps := make([]string, n)
		for i := range temps {
			temps[i] = f.temp()
		}
		f.emit("%s := %s", strings.Join(temps, ", "), text)
		for i := range temps {
			temps[i] = f.fromSlot(temps[i], tup.At(i).Type())
		}
		return temps
	case *ast.IndexExpr:
		v, ok := f.temp(), f.temp()
		f.emit("%s, %s := %s", v, ok, f.element(x))
		m := coreType(f.typeOf(x.X)).(*types.Map)
		return []string{f.fromSlot(v, m.Elem()), ok}
	case *ast.UnaryExpr:
		v, ok := f.temp(), f.temp()
		f.emit("%s, %s := <-%s", v, ok, f.expr(x.X))
		c := coreType(f.typeOf(x.X)).(*types.Chan)
		return []string{f.fromSlot(v, c.Elem()), ok}
	case *ast.TypeAssertExpr:
		t := f.typeOf(x.Type)
		tx := f.typeOf(x.X)
		src := f.spill(f.toAny(f.expr(x.X), tx))
		v, ok := f.temp(), f.temp()
		f.emit("%s := %s", ok, f.hasType(src, "", t))
		f.emit("var %s %s", v, l.rep(t))
		f.emit("if %s { %s = %s }", ok, v, f.extract(src, t))
		return []string{v, ok}
	}
	panic(f.bug(e, "not an expression with several values"))
}

func isBasic(t types.Type) bool {
	_, ok := t.Underlying().(*types.Basic)
	return ok
}
