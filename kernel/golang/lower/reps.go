package lower

import (
	"fmt"
	"go/types"
	"strings"
)

// The representation of a type is what it is in lowered code, where no type
// has a name of its own but those of compiled packages:
//
//   - a defined type is its underlying type; a struct is S1, S2, ..., one for
//     each list of fields
//   - an interface is any, but for those of compiled packages, and error
//   - a type parameter is its argument
//
// A slot is how a value lies inside of another: in a struct, a slice, a
// function's parameters. The two differ only where a type contains itself:
// a field that leads back to its own struct is an unsafe.Pointer (to a copy
// on the heap, in an any, if the field is not a pointer), and a defined type
// without a struct that contains itself is an any.

// rep writes the representation of t.
func (l *Lowerer) rep(t types.Type) string {
	t = types.Unalias(t)
	key := l.typeKey(t)
	if r, ok := l.reps[key]; ok {
		return r
	}
	r := l.makeRep(t)
	l.reps[key] = r
	return r
}

func (l *Lowerer) makeRep(t types.Type) string {
	switch t := t.(type) {
	case *types.Basic:
		switch t.Kind() {
		case types.UnsafePointer:
			return l.use("unsafe") + ".Pointer"
		case types.UntypedNil:
			return "any"
		case types.Invalid:
			panic(fmt.Errorf("invalid type"))
		}
		return types.Default(t).(*types.Basic).Name()
	case *types.Named:
		if l.isHost(t) {
			return l.hostName(t)
		}
		if types.IsInterface(t) {
			return "any"
		}
		return l.composite(t.Underlying())
	default:
		return l.composite(t)
	}
}

// signature writes parameter and result types.
func (l *Lowerer) signature(sig *types.Signature) string {
	params := make([]string, sig.Params().Len())
	for i := range params {
		t := sig.Params().At(i).Type()
		if sig.Variadic() && i == len(params)-1 {
			if s, ok := t.Underlying().(*types.Slice); ok {
				params[i] = "..." + l.slot(s.Elem())
				continue
			}
		}
		params[i] = l.slot(t)
	}
	return "(" + strings.Join(params, ", ") + ")" + l.results(sig.Results())
}

func (l *Lowerer) results(t *types.Tuple) string {
	switch t.Len() {
	case 0:
		return ""
	case 1:
		return " " + l.slot(t.At(0).Type())
	}
	return " " + l.composite(t)
}

// slot writes how a value of type t lies inside of another, but for a
// struct's fields.
func (l *Lowerer) slot(t types.Type) string {
	if l.isLoop(t) {
		return "any"
	}
	return l.rep(t)
}

// isLoop says whether t is a defined type that contains itself without a
// struct in between, as in type F func() F.
func (l *Lowerer) isLoop(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || l.isHost(n) {
		return false
	}
	switch n.Underlying().(type) {
	case *types.Struct, *types.Interface, *types.Basic:
		return false
	}
	key := l.typeKey(n)
	if v, ok := l.loops[key]; ok {
		return v
	}
	l.loops[key] = false
	v := l.reaches(n.Underlying(), n, map[string]bool{}, false)
	l.loops[key] = v
	return v
}

// reaches says whether t contains target; through structs, if these count.
func (l *Lowerer) reaches(t types.Type, target *types.Named, seen map[string]bool, structs bool) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if types.Identical(t, target) {
			return true
		}
		if l.isHost(t) || types.IsInterface(t) {
			return false
		}
		key := l.typeKey(t)
		if seen[key] || len(seen) > 100 {
			return false
		}
		seen[key] = true
		return l.reaches(t.Underlying(), target, seen, structs)
	case *types.Pointer:
		return l.reaches(t.Elem(), target, seen, structs)
	case *types.Slice:
		return l.reaches(t.Elem(), target, seen, structs)
	case *types.Array:
		return l.reaches(t.Elem(), target, seen, structs)
	case *types.Chan:
		return l.reaches(t.Elem(), target, seen, structs)
	case *types.Map:
		return l.reaches(t.Key(), target, seen, structs) || l.reaches(t.Elem(), target, seen, structs)
	case *types.Signature:
		for i := range t.Params().Len() {
			if l.reaches(t.Params().At(i).Type(), target, seen, structs) {
				return true
			}
		}
		for i := range t.Results().Len() {
			if l.reaches(t.Results().At(i).Type(), target, seen, structs) {
				return true
			}
		}
	case *types.Struct:
		if !structs {
			return false
		}
		for i := range t.NumFields() {
			if l.reaches(t.Field(i).Type(), target, seen, structs) {
				return true
			}
		}
	}
	return false
}

// structName returns the name of a struct's representation.
func (l *Lowerer) structName(s *types.Struct) string {
	if s.NumFields() == 0 {
		return "struct{}"
	}
	key := l.typeKey(s)
	if name, ok := l.structs[key]; ok {
		return name
	}
	l.making[key] = true
	var text strings.Builder
	text.WriteString("struct {")
	for i := range s.NumFields() {
		fmt.Fprintf(&text, "%s %s", l.fieldName(s, i), l.fieldSlot(s, i))
		if tag := s.Tag(i); tag != "" && s.Field(i).Exported() {
			fmt.Fprintf(&text, " %q", tag)
		} else if f := s.Field(i); !f.Exported() && !f.Embedded() {
			text.WriteString(" `json:\"-\" xml:\"-\"`") // encoders must not see it
		}
		text.WriteString("; ")
	}
	text.WriteString("}")
	delete(l.making, key)
	name, ok := l.structText[text.String()]
	if !ok {
		name = l.fresh("S")
		l.structText[text.String()] = name
		fmt.Fprintf(&l.types, "type %s %s\n", name, text.String())
	}
	l.structs[key] = name
	return name
}

// fieldName is a field's name in lowered code.
func (l *Lowerer) fieldName(s *types.Struct, i int) string {
	f := s.Field(i)
	switch {
	case f.Name() == "_":
		return fmt.Sprintf("X_%d", i)
	case f.Exported():
		return f.Name()
	}
	return "X_" + f.Name()
}

type fieldKind int

const (
	plainField   fieldKind = iota
	pointerField           // unsafe.Pointer: a pointer that leads back to its struct
	heapField              // any that holds a pointer to the value
)

// fieldKind says how a field lies in its struct.
func (l *Lowerer) fieldKind(s *types.Struct, i int) fieldKind {
	key := l.typeKey(s)
	kinds, ok := l.kinds[key]
	if !ok {
		kinds = make([]fieldKind, s.NumFields())
		for j := range kinds {
			t := s.Field(j).Type()
			if isStructs(t) || !l.leadsBack(t, s) {
				continue
			}
			kinds[j] = heapField
			if _, ok := t.Underlying().(*types.Pointer); ok && !l.isLoop(t) {
				kinds[j] = pointerField
			}
		}
		l.kinds[key] = kinds
	}
	return kinds[i]
}

// isStructs says whether t is a struct or an array of them: its own fields
// break the circle.
func isStructs(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return true
	case *types.Array:
		return isStructs(u.Elem())
	}
	return false
}

// leadsBack says whether a value of type t, a field of s, can contain an s.
func (l *Lowerer) leadsBack(t types.Type, s *types.Struct) bool {
	return l.reachesStruct(t, l.typeKey(s), map[string]bool{})
}

func (l *Lowerer) reachesStruct(t types.Type, target string, seen map[string]bool) bool {
	t = types.Unalias(t)
	if n, ok := t.(*types.Named); ok {
		if l.isHost(n) || types.IsInterface(n) {
			return false
		}
		key := l.typeKey(n)
		if seen[key] || len(seen) > 200 {
			return false
		}
		seen[key] = true
		t = n.Underlying()
	}
	switch t := t.(type) {
	case *types.Pointer:
		return l.reachesStruct(t.Elem(), target, seen)
	case *types.Slice:
		return l.reachesStruct(t.Elem(), target, seen)
	case *types.Array:
		return l.reachesStruct(t.Elem(), target, seen)
	case *types.Chan:
		return l.reachesStruct(t.Elem(), target, seen)
	case *types.Map:
		return l.reachesStruct(t.Key(), target, seen) || l.reachesStruct(t.Elem(), target, seen)
	case *types.Signature:
		for i := range t.Params().Len() {
			if l.reachesStruct(t.Params().At(i).Type(), target, seen) {
				return true
			}
		}
		for i := range t.Results().Len() {
			if l.reachesStruct(t.Results().At(i).Type(), target, seen) {
				return true
			}
		}
	case *types.Struct:
		if l.typeKey(t) == target {
			return true
		}
		for i := range t.NumFields() {
			if l.reachesStruct(t.Field(i).Type(), target, seen) {
				return true
			}
		}
	}
	return false
}

func (l *Lowerer) fieldSlot(s *types.Struct, i int) string {
	switch l.fieldKind(s, i) {
	case pointerField:
		return l.use("unsafe") + ".Pointer"
	case heapField:
		return "any"
	}
	return l.slot(s.Field(i).Type())
}

// isHost says whether a defined type belongs to compiled code.
func (l *Lowerer) isHost(n *types.Named) bool {
	p := n.Obj().Pkg()
	if p == nil {
		return n.Obj().Name() == "error"
	}
	return l.hostPkg(p) && !l.sourceObj(n.Origin().Obj())
}

// hostName is the name of a compiled type.
func (l *Lowerer) hostName(n *types.Named) string {
	if n.Obj().Pkg() == nil {
		return n.Obj().Name()
	}
	path := n.Obj().Pkg().Path()
	if l.host.Exported(path, n.Obj().Name()) {
		return l.use(path) + "." + n.Obj().Name()
	}
	// A type that compiled code has and does not name in its tables.
	return l.unlisted(n)
}

// isBare says whether a value of type t goes into an interface as it is: its
// representation is the very type that compiled code knows.
func (l *Lowerer) isBare(t types.Type) bool {
	t = types.Unalias(t)
	key := l.typeKey(t)
	if v, ok := l.bare[key]; ok {
		return v
	}
	l.bare[key] = false // a type that contains itself is declared by a cell
	v := l.findBare(t)
	l.bare[key] = v
	return v
}

func (l *Lowerer) findBare(t types.Type) bool {
	switch t := t.(type) {
	case *types.Basic:
		return true
	case *types.Named:
		return l.isHost(t)
	case *types.Pointer:
		return l.isBare(t.Elem())
	case *types.Slice:
		return l.isBare(t.Elem())
	case *types.Array:
		return l.isBare(t.Elem())
	case *types.Chan:
		return l.isBare(t.Elem())
	case *types.Map:
		return l.isBare(t.Key()) && l.isBare(t.Elem())
	case *types.Interface:
		return t.Empty()
	case *types.Signature:
		for i := range t.Params().Len() {
			if !l.isBare(t.Params().At(i).Type()) {
				return false
			}
		}
		for i := range t.Results().Len() {
			if !l.isBare(t.Results().At(i).Type()) {
				return false
			}
		}
		return true
	case *types.Struct:
		return t.NumFields() == 0
	}
	return false
}

// isAny says whether a type is represented by any: an interface that
// compiled code does not know.
func (l *Lowerer) isAny(t types.Type) bool {
	return types.IsInterface(t) && !l.isHostInterface(t)
}

func (l *Lowerer) isHostInterface(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && types.IsInterface(n) && l.isHost(n)
}

// zero writes a zero value of t's representation.
func (l *Lowerer) zero(t types.Type) string {
	if types.IsInterface(t) {
		if l.isHostInterface(t) {
			return l.rep(t) + "(nil)"
		}
		return "any(nil)"
	}
	r := l.rep(t)
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsBoolean != 0:
			if r == "bool" {
				return "false"
			}
			return r + "(false)"
		case u.Info()&types.IsString != 0:
			if r == "string" {
				return `""`
			}
			return r + `("")`
		case u.Kind() == types.UnsafePointer:
			return r + "(nil)"
		case u.Kind() == types.UntypedNil:
			return "any(nil)"
		}
		if r == "int" {
			return "0"
		}
		return r + "(0)"
	case *types.Struct, *types.Array:
		return r + "{}"
	}
	return l.converted(r, "nil")
}

func (l *Lowerer) composite(t types.Type) string {
	switch t := t.(type) {
	case *types.Pointer:
		return "*" + l.slot(t.Elem())
	case *types.Slice:
		return "[]" + l.slot(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), l.slot(t.Elem()))
	case *types.Map:
		return "map[" + l.slot(t.Key()) + "]" + l.slot(t.Elem())
	case *types.Chan:
		switch t.Dir() {
		case types.SendOnly:
			return "chan<- " + l.slot(t.Elem())
		case types.RecvOnly:
			return "<-chan " + l.slot(t.Elem())
		}
		elem := l.slot(t.Elem())
		if strings.HasPrefix(elem, "<-") {
			elem = "(" + elem + ")"
		}
		return "chan " + elem
	case *types.Signature:
		return "func" + l.signature(t)
	case *types.Interface:
		return "any"
	case *types.Struct:
		return l.structName(t)
	case *types.Basic:
		return l.rep(t)
	case *types.TypeParam:
		panic(fmt.Errorf("type parameter %s without an argument", t))
	case *types.Tuple:
		parts := make([]string, t.Len())
		for i := range parts {
			parts[i] = l.slot(t.At(i).Type())
		}
		return "(" + strings.Join(parts, ", ") + ")"
	}
	panic(fmt.Errorf("no representation of %s", t))
}
