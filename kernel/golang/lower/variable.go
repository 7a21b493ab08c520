package lower

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// local is a variable of a function in lowered code.
type local struct {
	name  string
	typ   types.Type
	boxed bool   // name is a pointer to it: closures share it
	rep   string // the type of the name itself
}

func (v *local) text() string {
	if v.boxed {
		return "(*" + v.name + ")"
	}
	return v.name
}

// declare makes a local variable known; its declaration is the caller's to write.
func (f *fn) declare(o types.Object) *local {
	t := f.l.subst(o.Type(), f.env)
	v := &local{name: f.l.fresh(clean(o.Name()) + "_"), typ: t, boxed: f.shared.boxed[o]}
	v.rep = f.l.slot(t)
	if v.boxed {
		v.rep = "*" + v.rep
	}
	f.vars[o] = v
	return v
}

// define declares a local variable with a value (a slot's text; "" is zero).
func (f *fn) define(o types.Object, value string) {
	if isPackageLevel(o) {
		if value == "" {
			value = f.l.zeroSlot(o.Type())
		}
		f.emit("%s = %s", f.l.Global(o.(*types.Var)), f.settled(value, o.Type()))
		return
	}
	v := f.declare(o)
	f.initialize(v, value)
}

func (f *fn) initialize(v *local, value string) {
	if v.boxed {
		f.emit("%s := new(%s)", v.name, v.rep[1:])
		if value != "" {
			f.emit("*%s = %s", v.name, f.settled(value, v.typ))
		}
		return
	}
	if f.hoist(v.name, v.rep) {
		if value == "" {
			value = f.l.zeroSlot(v.typ)
		}
		f.emit("%s = %s", v.name, value)
		return
	}
	if value == "" {
		f.emit("var %s %s", v.name, v.rep)
		return
	}
	f.emit("var %s %s = %s", v.name, v.rep, value)
}

// hoist declares a variable in front of the loop that uses it, if one is being
// lowered: to declare it costs the interpreter more than to assign to it. No
// closure sees such a variable, but for copies.
func (f *fn) hoist(name, rep string) bool {
	if f.outermost == nil || !hoistable(rep) {
		return false
	}
	fmt.Fprintf(f.outermost.hoisted, "var %s %s\n", name, rep)
	return true
}

func hoistable(rep string) bool {
	switch rep {
	case "bool", "string", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr", "float32", "float64", "error":
		return true
	}
	return strings.HasPrefix(rep, "*") || strings.HasPrefix(rep, "[]") || strings.HasPrefix(rep, "map[")
}

// loop lowers a loop.
func (f *fn) loop(node ast.Node, step func()) {
	if f.outermost != nil {
		step()
		return
	}
	f.outermost = &outermost{node: node, hoisted: new(strings.Builder)}
	text := f.captured(step)
	f.out.WriteString(f.outermost.hoisted.String())
	f.out.WriteString(f.settle(text))
	f.outermost = nil
}

// settled keeps a value in a temporary that the interpreter would put in the
// variable's place, rather than into the variable, which pointers then miss:
// a literal, or a func that compiled code returns.
func (f *fn) settled(value string, t types.Type) string {
	_, isFunc := t.Underlying().(*types.Signature)
	if strings.HasSuffix(value, "}") || isFunc && strings.HasSuffix(value, ")") {
		return f.spillAlways(value)
	}
	return value
}

// capture finds a local of this function or one around it.
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
