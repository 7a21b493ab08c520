package lower

import (
	"go/ast"
	"go/types"
	"reflect"
)

// local is a variable of a function in lowered code.
type local struct {
	name  string
	typ   types.Type
	boxed bool   // name is a pointer to it: closures share it
	rep   string // the type of the name itself
	alone bool   // it is boxed for the debugger alone

	object types.Object // nil: it is none of the cell's
}

// value is the variable itself.
func (v *local) value() *expr {
	if v.boxed {
		x := deref(v.pointer())
		x.alone = v.alone
		return x
	}
	return ident(v.name, v.typ)
}

// pointer is where a boxed variable is.
func (v *local) pointer() *expr { return ident(v.name, types.NewPointer(v.typ)) }

// newLocal makes a variable, which is behind a pointer if it is boxed.
func (f *fn) newLocal(prefix string, o types.Object, boxed bool) *local {
	t := f.l.subst(o.Type(), f.env)
	alone := f.debug != nil && !boxed
	boxed = boxed || alone
	v := &local{object: o, name: f.l.fresh(prefix + clean(o.Name()) + "_"), typ: t, boxed: boxed, rep: f.l.rep(t), alone: alone}
	if boxed {
		v.rep = "*" + v.rep
	}
	f.vars[o] = v
	return v
}

// declare makes a local variable known; its declaration is the caller's to write.
func (f *fn) declare(o types.Object) *local { return f.newLocal("", o, f.shared.boxed[o]) }

// define declares a local variable with a value; nil is zero.
func (f *fn) define(o types.Object, x *expr) {
	if isPackageLevel(o) {
		if x == nil {
			x = f.l.zero(o.Type())
		}
		f.emit("%s = %s", f.l.Global(o.(*types.Var)), f.settled(x))
		return
	}
	f.initialize(f.declare(o), x)
}

func (f *fn) initialize(v *local, x *expr) {
	if v.boxed {
		f.emit("%s := new(%s)", v.name, f.l.rep(v.typ))
		if x != nil {
			f.emit("*%s = %s", v.name, f.settled(x))
		}
		f.debugVar(v, v.name)
		return
	}
	if f.hoist(v.name, v.typ) {
		if x == nil {
			x = f.l.zero(v.typ)
		}
		f.emit("%s = %s", v.name, x)
		return
	}
	if x == nil {
		f.emit("var %s %s", v.name, v.rep)
		return
	}
	f.emit("var %s %s = %s", v.name, v.rep, x)
}

// hoist declares a variable in front of the loop that uses it, if one is being
// lowered: to declare it costs the interpreter more than to assign to it. No
// closure sees such a variable, but for copies.
func (f *fn) hoist(name string, t types.Type) bool {
	if f.outermost == nil || !hoistable(f.l.represent(t).typ) {
		return false
	}
	f.outermost.declare("var %s %s", name, f.l.rep(t))
	return true
}

func hoistable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Complex64, reflect.Complex128, reflect.Array, reflect.Struct, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return false
	case reflect.Interface:
		return t == reflect.TypeFor[error]()
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return t.Name() == ""
	}
	return t.PkgPath() == ""
}

// loop lowers a loop.
func (f *fn) loop(node ast.Node, step func()) {
	if f.outermost != nil {
		step()
		return
	}
	f.outermost = &outermost{node: node}
	made := f.captured(step)
	f.add(f.outermost.hoisted)
	f.add(f.settle(made))
	f.outermost = nil
}

// settled keeps a value in a temporary that the interpreter would put in the
// variable's place, rather than into the variable, which pointers then miss:
// a literal, or a func that compiled code returns.
func (f *fn) settled(x *expr) *expr {
	made := x
	if x.op == opAddress && !x.paren {
		made = x.args[0]
	}
	isFunc := false
	if x.typ != nil {
		_, isFunc = x.typ.Underlying().(*types.Signature)
	}
	if made.op == opComposite || isFunc && x.is(opCall, opConvert, opAssert, opDeref) {
		return f.spillAlways(x)
	}
	return x
}

// find finds a local of this function or one around it.
func (f *fn) find(o types.Object) *local {
	if v, ok := f.vars[o]; ok {
		return v
	}
	if f.parent == nil {
		return nil
	}
	v := f.parent.find(o)
	if v != nil {
		f.take(v)
	}
	return v
}

// take makes a local of a function around this one a parameter of the literal.
func (f *fn) take(v *local) {
	if !f.capSet[v] {
		f.capSet[v] = true
		f.caps = append(f.caps, v)
	}
}

// reach makes a local that an outer function holds usable here.
func (f *fn) reach(v *local, owner *fn) *local {
	for g := f; g != owner && g != nil; g = g.parent {
		g.take(v)
	}
	return v
}
