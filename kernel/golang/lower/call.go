package lower

import (
	"fmt"
	"go/ast"
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
	callee, sig := f.callee(fun)
	f.calls(callee.lowered)
	var recv func() string
	if callee.recv != nil {
		recv = callee.recv
	}
	args := f.args(e, sig, recv)
	f.refresh(callee, e, sig, args)
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
			return callee.bound(r) + "(" + strings.Join(args, ", ") + ")"
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
			if c.host && l.testing(c.fun) {
				out.text, out.host = l.sym("Test"+c.fun.Name()), c.fun
			} else if c.host {
				out.bound = func(recv string) string { text, _ := f.methodText(c, recv); return text }
				out.host = c.fun
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
				out.host = o
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

// testing says whether a compiled method writes down the place of its caller, as
// those of package testing do: it would be the interpreter's.
func (l *Lowerer) testing(method *types.Func) bool {
	if l.program || method.Pkg() == nil || method.Pkg().Path() != "testing" {
		return false
	}
	switch method.Name() {
	case "Error", "Errorf", "Fatal", "Fatalf", "Helper", "Log", "Logf", "Skip", "Skipf":
		return true
	}
	return false
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

// args writes the arguments of a call, converted to the parameters' types.
func (f *fn) args(e *ast.CallExpr, sig *types.Signature, recv func() string) []string {
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
				out = append(out, f.convert(v, tup.At(i).Type(), param(i)))
			}
			if sig.Variadic() {
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
			text := f.to(a, t)
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

// refresh gives a compiled function what is in interfaces with the methods that
// later cells gave to its types.
func (f *fn) refresh(callee calledFunc, e *ast.CallExpr, sig *types.Signature, args []string) {
	if callee.host == nil || len(f.l.changed) == 0 || e.Ellipsis.IsValid() {
		return
	}
	first := len(args) - sig.Params().Len()
	for i := range sig.Params().Len() {
		switch {
		case f.l.isAny(sig.Params().At(i).Type()):
			args[first+i] = fmt.Sprintf("%s(%s)", f.l.sym("Current"), args[first+i])
		case strings.HasPrefix(args[first+i], "[]any{"):
			args[first+i] = fmt.Sprintf("%s(%s)...", f.l.sym("AllCurrent"), strings.TrimSuffix(args[first+i], "..."))
		}
	}
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
	if o.Pkg().Path() == "os" && o.Name() == "Exit" {
		return fmt.Sprintf("%s(%s)", f.l.sym("Exit"), f.expr(e.Args[0])), true
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
