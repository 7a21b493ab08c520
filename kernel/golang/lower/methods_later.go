package lower

import (
	"fmt"
	"go/types"
	"slices"
)

// Most methods of a module's types are never called: those that only a call
// through an interface can come to are lowered by the first that does.

// later is a method that is lowered when it is first called.
type later struct {
	fun      *types.Func
	targs    []types.Type
	variable string // holds the lowered function, nil before
	done     bool
}

// calledLater returns the variable that holds a method for calls through
// interfaces, and emits what fills it before the first call. It reports false
// if the method is lowered anyway.
func (f *fn) calledLater(fun *types.Func, targs []types.Type) (variable string, ok bool) {
	l := f.l
	fun = fun.Origin()
	key := l.instanceKey(fun, targs)
	if _, lowered := l.instances[key]; lowered || !l.host.Later(fun) {
		return "", false
	}
	id, ok := l.laterIDs[key]
	if !ok {
		id = len(l.later)
		m := &later{fun: fun, targs: targs, variable: l.fresh("w_" + clean(fun.Name()) + "_")}
		l.later = append(l.later, m)
		put(l, l.laterIDs, key, id)
		sig := fun.Signature()
		h := l.headerOf(l.subst(withReceiver(sig), l.envOf(fun, targs)).(*types.Signature))
		fmt.Fprintf(&l.types, "var %s func%s\n", m.variable, h.types())
	}
	m := l.later[id]
	f.emit("if %s == nil { %s }", m.variable, l.runtime(nil, "Lower", intLiteral(id)))
	return m.variable, true
}

// withReceiver is a method's signature with its receiver as the first parameter.
func withReceiver(sig *types.Signature) *types.Signature {
	params := slices.Collect(sig.Params().Variables())
	if sig.Recv() != nil {
		params = slices.Insert(params, 0, sig.Recv())
	}
	return types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), sig.Results(), sig.Variadic())
}

// IsLater says whether what a call through an interface came to is still to be
// lowered: another goroutine's call may have had it done.
func (l *Lowerer) IsLater(id int) bool { return !l.later[id].done }

// LowerLater lowers what a call through an interface came to, and returns code
// that fills the variable.
func (l *Lowerer) LowerLater(id int) Output {
	m := l.later[id]
	m.done = true
	l.undo = append(l.undo, func() { m.done = false })
	l.inits = append(l.inits, fmt.Sprintf("%s = %s", m.variable, l.function(m.fun, m.targs)))
	return l.Finish("")
}
