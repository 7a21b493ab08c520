package assist

import (
	"go/constant"
	"go/types"
	"sort"
)

// qualifier writes the names of packages as code does, and none for the
// session's own.
func qualifier(own *types.Package) types.Qualifier {
	return func(p *types.Package) string {
		if own != nil && p.Path() == own.Path() {
			return ""
		}
		return p.Name()
	}
}

// match describes an object.
func match(obj types.Object, qual types.Qualifier) Match {
	m := Match{Text: obj.Name(), Kind: "variable", Object: obj}
	switch obj := obj.(type) {
	case *types.PkgName:
		return Match{Text: obj.Name(), Kind: "package", Signature: `"` + obj.Imported().Path() + `"`}
	case *types.TypeName:
		m.Kind = "type"
		if obj.Pkg() != nil {
			m.Signature = kindOfType(obj.Type())
		}
		return m
	case *types.Builtin:
		m.Kind = "function"
		return m
	case *types.Nil:
		m.Kind = "const"
		return m
	case *types.Const:
		m.Kind = "const"
		if v := obj.Val(); v.Kind() != constant.Unknown {
			m.Signature = types.TypeString(obj.Type(), qual) + " = " + v.String()
			return m
		}
	case *types.Func:
		m.Kind = "function"
		if obj.Signature().Recv() != nil {
			m.Kind = "method"
		}
	case *types.Var:
		if obj.IsField() {
			m.Kind = "field"
		}
	}
	if obj.Type() != nil {
		m.Signature = types.TypeString(obj.Type(), qual)
	}
	return m
}

// kindOfType tells what a defined type is made of.
func kindOfType(t types.Type) string {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return "struct"
	case *types.Interface:
		return "interface"
	case *types.Basic:
		return u.Name()
	case *types.Signature:
		return "func"
	case *types.Map:
		return "map"
	case *types.Chan:
		return "chan"
	case *types.Slice:
		return "slice"
	case *types.Array:
		return "array"
	case *types.Pointer:
		return "pointer"
	}
	return ""
}

// members lists the fields and methods that can be selected from a value of
// type t, promoted ones included, those of from's own package included where
// unexported.
func members(t types.Type, from *types.Package) []types.Object {
	byName := make(map[string]types.Object)
	visible := func(obj types.Object) bool {
		return obj.Exported() || obj.Pkg() != nil && from != nil && obj.Pkg().Path() == from.Path()
	}
	for _, f := range fields(t) {
		if visible(f) && f.Name() != "_" && byName[f.Name()] == nil {
			byName[f.Name()] = f
		}
	}
	set := types.NewMethodSet(t)
	if _, isPointer := types.Unalias(t).(*types.Pointer); !isPointer && !types.IsInterface(t) {
		set = types.NewMethodSet(types.NewPointer(t))
	}
	for s := range set.Methods() {
		if visible(s.Obj()) && byName[s.Obj().Name()] == nil {
			byName[s.Obj().Name()] = s.Obj()
		}
	}
	list := make([]types.Object, 0, len(byName))
	for _, obj := range byName {
		list = append(list, obj)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name() < list[j].Name() })
	return list
}

// fields lists the fields of a struct, or of the struct that a pointer points
// to, outer before promoted ones.
func fields(t types.Type) []*types.Var {
	var list []*types.Var
	seen := make(map[types.Type]bool)
	for level := []types.Type{t}; len(level) > 0; {
		var next []types.Type
		for _, t := range level {
			s := structOf(t)
			if s == nil || seen[s] {
				continue
			}
			seen[s] = true
			for f := range s.Fields() {
				list = append(list, f)
				if f.Embedded() {
					next = append(next, f.Type())
				}
			}
		}
		level = next
	}
	return list
}

// structOf returns the struct that t is or points to, or nil.
func structOf(t types.Type) *types.Struct {
	if t == nil {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, _ := t.Underlying().(*types.Struct)
	return s
}
