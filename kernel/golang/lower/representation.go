package lower

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"gocuda/kernel/golang/named"
)

// A representation is what a type is in lowered code:
//
//   - a type of a compiled package, an interface with methods and a type of the
//     language are themselves
//   - a struct is a twin of its type: the same fields in the same places, all of
//     them exported and none embedded, since the interpreter cannot set others
//   - a defined type is what its underlying type is; one that contains itself
//     without a struct in between, as in type F func() F, has a twin, too
//   - a type parameter is its argument
//
// Twins are types of package rt, made at run time (package named). Values of one
// type lie in memory as those of its representation do.
type representation struct {
	text string
	typ  reflect.Type
}

// rep writes the representation of t.
func (l *Lowerer) rep(t types.Type) string { return l.represent(t).text }

func (l *Lowerer) represent(t types.Type) representation {
	t = types.Unalias(t)
	key := l.typeKey(t)
	if r, ok := l.reps[key]; ok {
		return r
	}
	r := l.makeRep(t, key)
	put(l, l.reps, key, r)
	return r
}

func (l *Lowerer) makeRep(t types.Type, key string) representation {
	switch t := t.(type) {
	case *types.Basic:
		switch t.Kind() {
		case types.UnsafePointer:
			return representation{l.use("unsafe") + ".Pointer", reflect.TypeFor[unsafe.Pointer]()}
		case types.UntypedNil:
			return anyRep
		case types.Invalid:
			panic(fmt.Errorf("invalid type"))
		}
		t = types.Default(t).(*types.Basic)
		return representation{t.Name(), basicTypes[t.Kind()]}
	case *types.Named:
		switch {
		case l.isHost(t):
			return l.hostRep(t)
		case types.IsInterface(t) && !isEmpty(t):
			return l.interfaceRep(t)
		case l.isLoop(t):
			return l.loopRep(t, key)
		}
		return l.represent(t.Underlying())
	case *types.Pointer:
		e := l.represent(t.Elem())
		return representation{"*" + e.text, reflect.PointerTo(e.typ)}
	case *types.Slice:
		e := l.represent(t.Elem())
		return representation{"[]" + e.text, reflect.SliceOf(e.typ)}
	case *types.Array:
		e := l.represent(t.Elem())
		return representation{fmt.Sprintf("[%d]%s", t.Len(), e.text), reflect.ArrayOf(int(t.Len()), e.typ)}
	case *types.Map:
		k, e := l.represent(t.Key()), l.represent(t.Elem())
		return representation{"map[" + k.text + "]" + e.text, reflect.MapOf(k.typ, e.typ)}
	case *types.Chan:
		e := l.represent(t.Elem())
		switch t.Dir() {
		case types.SendOnly:
			return representation{"chan<- " + e.text, reflect.ChanOf(reflect.SendDir, e.typ)}
		case types.RecvOnly:
			return representation{"<-chan " + e.text, reflect.ChanOf(reflect.RecvDir, e.typ)}
		}
		if e.typ.Name() == "" && e.typ.Kind() == reflect.Chan && e.typ.ChanDir() == reflect.RecvDir {
			e.text = "(" + e.text + ")"
		}
		return representation{"chan " + e.text, reflect.ChanOf(reflect.BothDir, e.typ)}
	case *types.Signature:
		typ := reflect.FuncOf(l.repTypes(t.Params()), l.repTypes(t.Results()), t.Variadic())
		return representation{"func" + l.signature(t), typ}
	case *types.Interface:
		if t.Empty() {
			return anyRep
		}
		return l.interfaceRep(t)
	case *types.Struct:
		return l.structRep(t)
	case *types.Tuple:
		return representation{text: "(" + strings.Join(l.repTexts(t), ", ") + ")"}
	case *types.TypeParam:
		panic(fmt.Errorf("type parameter %s without an argument", t))
	}
	panic(fmt.Errorf("no representation of %s", t))
}

var anyRep = representation{"any", reflect.TypeFor[any]()}

var basicTypes = map[types.BasicKind]reflect.Type{
	types.Bool: reflect.TypeFor[bool](), types.String: reflect.TypeFor[string](), types.UnsafePointer: reflect.TypeFor[unsafe.Pointer](),
	types.Int: reflect.TypeFor[int](), types.Int8: reflect.TypeFor[int8](), types.Int16: reflect.TypeFor[int16](),
	types.Int32: reflect.TypeFor[int32](), types.Int64: reflect.TypeFor[int64](), types.Uint: reflect.TypeFor[uint](),
	types.Uint8: reflect.TypeFor[uint8](), types.Uint16: reflect.TypeFor[uint16](), types.Uint32: reflect.TypeFor[uint32](),
	types.Uint64: reflect.TypeFor[uint64](), types.Uintptr: reflect.TypeFor[uintptr](), types.Float32: reflect.TypeFor[float32](),
	types.Float64: reflect.TypeFor[float64](), types.Complex64: reflect.TypeFor[complex64](), types.Complex128: reflect.TypeFor[complex128](),
}

func (l *Lowerer) repTypes(t *types.Tuple) []reflect.Type {
	list := make([]reflect.Type, t.Len())
	for i := range list {
		list[i] = l.represent(t.At(i).Type()).typ
	}
	return list
}

func (l *Lowerer) repTexts(t *types.Tuple) []string {
	list := make([]string, t.Len())
	for i := range list {
		list[i] = l.rep(t.At(i).Type())
	}
	return list
}

// signature writes parameter and result types.
func (l *Lowerer) signature(sig *types.Signature) string { return l.headerOf(sig).types() }

// paramRep is the representation of a parameter, which may be variadic.
func (l *Lowerer) paramRep(t types.Type, variadic bool) string {
	if s, ok := t.Underlying().(*types.Slice); ok && variadic {
		return "..." + l.rep(s.Elem())
	}
	return l.rep(t)
}

func (l *Lowerer) results(t *types.Tuple) string {
	switch t.Len() {
	case 0:
		return ""
	case 1:
		return " " + l.rep(t.At(0).Type())
	}
	return " (" + strings.Join(l.repTexts(t), ", ") + ")"
}

// define makes a type that lowered code cannot write a type of package rt.
func (l *Lowerer) define(name string, t reflect.Type) representation {
	l.host.Define(name, reflect.Zero(reflect.PointerTo(t)))
	return representation{l.sym(name), t}
}

// hostRep is the representation of a compiled type.
func (l *Lowerer) hostRep(n *types.Named) representation {
	if n.Obj().Pkg() == nil {
		return representation{"error", reflect.TypeFor[error]()}
	}
	path, name := n.Obj().Pkg().Path(), n.Obj().Name()
	if v, ok := l.host.Symbol(path, name); ok && v.Kind() == reflect.Pointer && !v.CanAddr() {
		return representation{l.use(path) + "." + name, v.Type().Elem()}
	}
	if t := l.host.Type(n); t != nil { // not exported, as the result of some function
		return l.define(l.fresh("U"), t)
	}
	return l.represent(n.Underlying())
}

// interfaceRep is the representation of an interface with methods.
func (l *Lowerer) interfaceRep(t types.Type) representation {
	return l.define(l.fresh("I"), l.real(t))
}

// structRep is the representation of a struct.
func (l *Lowerer) structRep(s *types.Struct) representation {
	if s.NumFields() == 0 {
		return representation{"struct{}", reflect.TypeFor[struct{}]()}
	}
	if t := l.host.Type(s); t != nil { // of a type that is declared as a compiled one
		return l.define(l.fresh("U"), t)
	}
	if l.isBare(s) {
		fields := make([]reflect.StructField, s.NumFields())
		for i := range fields {
			fields[i] = reflect.StructField{Name: s.Field(i).Name(), Type: l.represent(s.Field(i).Type()).typ, Tag: reflect.StructTag(s.Tag(i))}
		}
		return l.define(l.fresh("S"), reflect.StructOf(fields))
	}
	vars := make([]*types.Var, s.NumFields())
	for i := range vars {
		vars[i] = s.Field(i)
	}
	key := "twin " + l.typeKey(types.NewStruct(vars, nil)) // tags do not matter
	if r, ok := l.reps[key]; ok {
		return r
	}
	twin, r := l.twin(l.layout(s))
	put(l, l.reps, key, r)
	fields := make([]named.Field, s.NumFields())
	for i := range fields {
		fields[i] = named.Field{Name: l.fieldName(s, i), Type: l.represent(s.Field(i).Type()).typ}
	}
	twin.SetFields(fields)
	return r
}

// twin makes a type with a layout, whose parts are to be set.
func (l *Lowerer) twin(layout reflect.Type) (*named.Type, representation) {
	name := l.fresh("T")
	t := named.New(layout, name, "rt."+name, "rt", 0)
	return t, l.define(name, t.Reflect())
}

// loopRep is the representation of a defined type that contains itself without
// a struct in between.
func (l *Lowerer) loopRep(n *types.Named, key string) representation {
	u := n.Underlying()
	twin, r := l.twin(l.outerLayout(u))
	put(l, l.reps, key, r)
	l.setParts(twin, u, func(t types.Type) reflect.Type { return l.represent(t).typ })
	return r
}

// setParts sets what a type that is no struct and no interface is made of.
func (l *Lowerer) setParts(to *named.Type, u types.Type, of func(types.Type) reflect.Type) {
	list := func(t *types.Tuple) (out []reflect.Type) {
		for v := range t.Variables() {
			out = append(out, of(v.Type()))
		}
		return out
	}
	switch u := u.(type) {
	case *types.Signature:
		to.SetParams(list(u.Params()), list(u.Results()))
	case *types.Map:
		to.SetElem(of(u.Key()), of(u.Elem()))
	case interface{ Elem() types.Type }:
		to.SetElem(nil, of(u.Elem()))
	}
}

// layout is a type without names that lies in memory as t does, and is compared
// and hashed in the same way. It is not made of types that may be unfinished.
func (l *Lowerer) layout(t types.Type) reflect.Type {
	if n, ok := types.Unalias(t).(*types.Named); ok && l.isHost(n) {
		return l.hostRep(n).typ
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basicTypes[u.Kind()]
	case *types.Struct:
		if t := l.host.Type(u); t != nil {
			return t
		}
		fields := make([]reflect.StructField, u.NumFields())
		for i := range fields {
			fields[i] = reflect.StructField{Name: fmt.Sprint("F", i), Type: l.layout(u.Field(i).Type())}
			if u.Field(i).Name() == "_" { // which does not count in a map's keys
				fields[i].Name, fields[i].PkgPath = "_", "rt"
			}
		}
		return reflect.StructOf(fields)
	case *types.Array:
		return reflect.ArrayOf(int(u.Len()), l.layout(u.Elem()))
	case *types.Slice:
		return reflect.TypeFor[[]byte]()
	case *types.Map:
		return reflect.TypeFor[map[int]int]()
	case *types.Chan:
		return reflect.TypeFor[chan int]()
	case *types.Signature:
		return reflect.TypeFor[func()]()
	case *types.Interface:
		if u.Empty() {
			return reflect.TypeFor[any]()
		}
		return reflect.TypeFor[error]()
	}
	return reflect.TypeFor[unsafe.Pointer]()
}

// outerLayout is layout, with the parts of t, by their layouts.
func (l *Lowerer) outerLayout(t types.Type) reflect.Type {
	t = t.Underlying()
	list := func(t *types.Tuple) (out []reflect.Type) {
		for v := range t.Variables() {
			out = append(out, l.layout(v.Type()))
		}
		return out
	}
	switch u := t.(type) {
	case *types.Pointer:
		return reflect.PointerTo(l.layout(u.Elem()))
	case *types.Slice:
		return reflect.SliceOf(l.layout(u.Elem()))
	case *types.Map:
		return reflect.MapOf(l.layout(u.Key()), l.layout(u.Elem()))
	case *types.Chan:
		dir := map[types.ChanDir]reflect.ChanDir{types.SendRecv: reflect.BothDir, types.SendOnly: reflect.SendDir, types.RecvOnly: reflect.RecvDir}
		return reflect.ChanOf(dir[u.Dir()], l.layout(u.Elem()))
	case *types.Signature:
		in := list(u.Params())
		if u.Variadic() {
			in[len(in)-1] = reflect.TypeFor[[]byte]()
		}
		return reflect.FuncOf(in, list(u.Results()), u.Variadic())
	}
	return l.layout(t)
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
	seen := make(map[string]bool)
	return l.reaches(n.Underlying(), seen, func(t types.Type) bool { return types.Identical(t, n) }, false)
}

// reaches says whether t contains a type that is wanted; through structs, if these
// count.
func (l *Lowerer) reaches(t types.Type, seen map[string]bool, wanted func(types.Type) bool, structs bool) bool {
	t = types.Unalias(t)
	of := func(t types.Type) bool { return l.reaches(t, seen, wanted, structs) }
	list := func(t *types.Tuple) bool {
		for v := range t.Variables() {
			if of(v.Type()) {
				return true
			}
		}
		return false
	}
	switch t := t.(type) {
	case *types.Named:
		if wanted(t) {
			return true
		}
		if l.isHost(t) || types.IsInterface(t) {
			return false
		}
		key := l.typeKey(t)
		if seen[key] {
			return false
		}
		seen[key] = true
		return of(t.Underlying())
	case *types.Map:
		return of(t.Key()) || of(t.Elem())
	case *types.Signature:
		return list(t.Params()) || list(t.Results())
	case *types.Struct:
		for i := range t.NumFields() {
			if structs && of(t.Field(i).Type()) {
				return true
			}
		}
	case interface{ Elem() types.Type }:
		return of(t.Elem())
	}
	return false
}

// fieldName is a field's name in lowered code.
func (l *Lowerer) fieldName(s *types.Struct, i int) string {
	f := s.Field(i)
	switch {
	case f.Name() == "_" || f.Exported():
		return f.Name()
	}
	name := "X_" + f.Name()
	for slices.ContainsFunc(slices.Collect(s.Fields()), func(f *types.Var) bool { return f.Name() == name }) {
		name = "X" + name
	}
	return name
}

// isHost says whether a defined type belongs to compiled code.
func (l *Lowerer) isHost(n *types.Named) bool {
	p := n.Obj().Pkg()
	if p == nil {
		return n.Obj().Name() == "error"
	}
	return l.hostPkg(p) && !l.host.IsSource(n.Origin().Obj())
}

// isBare says whether the representation of a type is the type itself.
func (l *Lowerer) isBare(t types.Type) bool {
	t = types.Unalias(t)
	switch t := t.(type) {
	case *types.Basic:
		return true
	case *types.Named:
		return l.isHost(t) || types.IsInterface(t) && !isEmpty(t)
	case *types.Map:
		return l.isBare(t.Key()) && l.isBare(t.Elem())
	case *types.Interface:
		return true
	case *types.Signature:
		for _, list := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range list.Variables() {
				if !l.isBare(v.Type()) {
					return false
				}
			}
		}
		return true
	case *types.Struct:
		for f := range t.Fields() {
			if !f.Exported() || f.Embedded() || !l.isBare(f.Type()) {
				return false
			}
		}
		return true
	case interface{ Elem() types.Type }:
		return l.isBare(t.Elem())
	}
	return false
}

// isAny says whether a type is an interface without methods, which any
// represents.
func (l *Lowerer) isAny(t types.Type) bool { return types.IsInterface(t) && isEmpty(t) }

// hasMethods says whether a type is an interface with methods.
func hasMethods(t types.Type) bool { return types.IsInterface(t) && !isEmpty(t) }

func isEmpty(iface types.Type) bool { return iface.Underlying().(*types.Interface).Empty() }

// isHostInterface says whether compiled code declares an interface with methods.
func (l *Lowerer) isHostInterface(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && hasMethods(n) && l.isHost(n)
}

// isTwin says whether a struct's literals are those of package rt.
func (l *Lowerer) isTwin(t types.Type) bool {
	if n, ok := types.Unalias(t).(*types.Named); ok && l.isHost(n) {
		return false
	}
	s, ok := t.Underlying().(*types.Struct)
	return ok && s.NumFields() > 0
}

// zero is a zero value of t's representation.
func (l *Lowerer) zero(t types.Type) *expr {
	r := l.represent(t)
	of := func(text string, plain types.BasicKind) *expr {
		x := literal(text, t)
		if r.typ == basicTypes[plain] {
			return x
		}
		return node(opConvert, r.text, t, x)
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsBoolean != 0:
			return of("false", types.Bool)
		case u.Info()&types.IsString != 0:
			return of(`""`, types.String)
		case u.Info()&types.IsNumeric != 0:
			return of("0", types.Int)
		}
		return of("nil", types.Invalid)
	case *types.Interface:
		return of("nil", types.Invalid)
	case *types.Struct, *types.Array:
		return node(opComposite, r.text, t)
	}
	return l.converted(t, literal("nil", nil))
}
