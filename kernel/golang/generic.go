package golang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"sync/atomic"
	"unsafe"
)

// Methods that a later cell gives to a generic type. go/types expands the
// methods of an instance when they are first looked up, and then takes them to
// be all: where instances of earlier cells are in use, they are made to expand
// them again.

// typeParams makes type parameters for the function that a later method of a
// generic type is checked as: those of the type, by the names that the method's
// receiver gives them.
func (c *checker) typeParams(d *ast.FuncDecl) *ast.FieldList {
	base, _ := receiverBase(d)
	text := c.ev.typeText[base.Name].text
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p; type "+text, 0)
	if err != nil {
		c.fail(base.Pos(), "%s has type parameters: its methods must be declared in its own cell", base.Name)
		return nil
	}
	list := file.Decls[0].(*ast.GenDecl).Specs[0].(*ast.TypeSpec).TypeParams
	var args []*ast.Ident
	for _, x := range receiverArgs(d.Recv.List[0].Type) {
		id, ok := x.(*ast.Ident)
		if !ok {
			c.fail(x.Pos(), "receiver type parameter %s must be an identifier", exprText(x))
			return nil
		}
		args = append(args, id)
	}
	if len(args) != list.NumFields() {
		c.fail(base.Pos(), "receiver declares %d type parameters, but receiver base type declares %d", len(args), list.NumFields())
		return nil
	}
	names := make(map[string]string)
	n := 0
	for _, f := range list.List {
		for _, id := range f.Names {
			names[id.Name] = args[n].Name
			if args[n].Name == "_" { // constraints may name it
				names[id.Name] = id.Name + "ᐧ"
				args[n].Name = id.Name + "ᐧ"
			}
			n++
		}
	}
	ast.Inspect(list, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			return false // of a package
		case *ast.Ident:
			if to, ok := names[n.Name]; ok {
				n.Name = to
			}
			n.NamePos = base.Pos()
		}
		return true
	})
	return list
}

// receiverArgs are the type parameters in a receiver's type.
func receiverArgs(t ast.Expr) []ast.Expr {
	switch t := ast.Unparen(t).(type) {
	case *ast.StarExpr:
		return receiverArgs(t.X)
	case *ast.IndexExpr:
		return []ast.Expr{t.Index}
	case *ast.IndexListExpr:
		return t.Indices
	}
	return nil
}

// sameMethod says whether two methods of a type have the same signature.
func (c *checker) sameMethod(a, b *types.Func) bool {
	x, y := signatureOnly(a), signatureOnly(b)
	own, other := a.Signature().RecvTypeParams(), b.Signature().RecvTypeParams()
	if own.Len() == other.Len() {
		y = c.ev.generics.Substitute(y, other, slices.Collect(own.TypeParams())).(*types.Signature)
	}
	return types.Identical(x, y)
}

// forgetMethods lets the instances of a generic type find its methods again.
func (ev *namespace) forgetMethods(origin *types.Named) {
	if origin.TypeParams().Len() == 0 {
		return
	}
	w := typeWalk{seen: make(map[types.Type]bool), named: func(n *types.Named) {
		if n.Origin() == origin && n != origin {
			forgetMethodsOf(n)
		}
	}}
	for _, o := range ev.names {
		if o.Pkg() != nil && o.Pkg().Path() == "main" {
			w.visit(o.Type())
		}
	}
	ev.generics.ForgetInstances(w.visit)
}

// typeWalk visits the types that a type is made of.
type typeWalk struct {
	seen  map[types.Type]bool
	named func(*types.Named)
}

func (w typeWalk) visit(t types.Type) {
	if t == nil || w.seen[t] {
		return
	}
	w.seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		w.visit(types.Unalias(t))
	case *types.Named:
		if o := t.Obj(); o.Pkg() == nil || o.Pkg().Path() != "main" {
			for arg := range t.TypeArgs().Types() {
				w.visit(arg)
			}
			return
		}
		for _, m := range expandedMethods(t) {
			if m != nil {
				w.visit(m.Type())
			}
		}
		w.visit(t.Underlying())
		w.named(t)
	case *types.Signature:
		w.visit(t.Params())
		w.visit(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			w.visit(v.Type())
		}
	case *types.Map:
		w.visit(t.Key())
		w.visit(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			w.visit(f.Type())
		}
	case *types.Interface:
		for m := range t.Methods() {
			w.visit(m.Type())
		}
	case interface{ Elem() types.Type }:
		w.visit(t.Elem())
	}
}

// privateField is the address of a field of go/types' own, which a test sees to
// it that it has; nil if it is not of type T.
func privateField[T any](v reflect.Value, name string) *T {
	f := v.FieldByName(name)
	if !f.IsValid() || f.Type() != reflect.TypeFor[T]() {
		return nil
	}
	return (*T)(unsafe.Pointer(f.UnsafeAddr()))
}

// expandedMethods are the methods that a type has, or an instance has expanded.
func expandedMethods(n *types.Named) []*types.Func {
	if m := privateField[[]*types.Func](reflect.ValueOf(n).Elem(), "methods"); m != nil {
		return *m
	}
	return nil
}

// hasMethods is go/types' mark of an instance that has expanded all its methods.
const hasMethods = 1 << 2

// forgetMethodsOf makes an instance expand its methods again.
func forgetMethodsOf(n *types.Named) {
	v := reflect.ValueOf(n).Elem()
	inst := v.FieldByName("inst")
	if !inst.IsValid() || inst.Kind() != reflect.Pointer || inst.IsNil() {
		return
	}
	state, methods := privateField[uint32](v, "state_"), privateField[[]*types.Func](v, "methods")
	expanded, context := privateField[int](inst.Elem(), "expandedMethods"), privateField[*types.Context](inst.Elem(), "ctxt")
	if state == nil || methods == nil || expanded == nil || context == nil {
		return
	}
	*methods, *expanded, *context = nil, 0, types.NewContext()
	atomic.AndUint32(state, ^uint32(hasMethods))
}
