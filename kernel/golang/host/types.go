package host

import (
	"go/token"
	"go/types"
	"reflect"
	"strings"
)

var (
	basics = map[reflect.Kind]types.Type{
		reflect.Bool: types.Typ[types.Bool], reflect.String: types.Typ[types.String],
		reflect.Int: types.Typ[types.Int], reflect.Int8: types.Typ[types.Int8],
		reflect.Int16: types.Typ[types.Int16], reflect.Int32: types.Typ[types.Int32],
		reflect.Int64: types.Typ[types.Int64], reflect.Uint: types.Typ[types.Uint],
		reflect.Uint8: types.Typ[types.Uint8], reflect.Uint16: types.Typ[types.Uint16],
		reflect.Uint32: types.Typ[types.Uint32], reflect.Uint64: types.Typ[types.Uint64],
		reflect.Uintptr: types.Typ[types.Uintptr],
		reflect.Float32: types.Typ[types.Float32], reflect.Float64: types.Typ[types.Float64],
		reflect.Complex64: types.Typ[types.Complex64], reflect.Complex128: types.Typ[types.Complex128],
		reflect.UnsafePointer: types.Typ[types.UnsafePointer],
	}
	byteType  = types.Universe.Lookup("byte").Type()
	anyType   = types.Universe.Lookup("any").Type()
	errorType = types.Universe.Lookup("error").Type()
)

// typ returns the one types.Type that stands for t. A named type may still
// lack its underlying type and methods: complete adds them.
func (im *Importer) typ(t reflect.Type) types.Type {
	if t.Name() != "" && t.PkgPath() == "" || t.Kind() == reflect.UnsafePointer && t.PkgPath() == "unsafe" {
		if t.Kind() == reflect.Interface {
			return errorType // the only predeclared type that is not basic
		}
		return basics[t.Kind()]
	}
	if typ := im.types[t]; typ != nil {
		return typ
	}
	if t.Name() != "" && !inlined(t) {
		return im.named(t)
	}
	typ := im.literal(t)
	im.types[t] = typ
	return typ
}

// inlined says whether a named type is shown as its underlying type: an
// instance of a generic type without methods, such as iter.Seq[int]. The
// generic type itself is not in the tables, and a value of its underlying
// type can be assigned to it.
func inlined(t reflect.Type) bool {
	return strings.Contains(t.Name(), "[") && t.NumMethod() == 0 && t.Kind() != reflect.Struct
}

// literal makes a type from the kind of t, whatever its name.
func (im *Importer) literal(t reflect.Type) types.Type {
	switch t.Kind() {
	case reflect.Array:
		return types.NewArray(im.elem(t), int64(t.Len()))
	case reflect.Chan:
		dir := types.SendRecv
		switch t.ChanDir() {
		case reflect.RecvDir:
			dir = types.RecvOnly
		case reflect.SendDir:
			dir = types.SendOnly
		}
		return types.NewChan(dir, im.typ(t.Elem()))
	case reflect.Func:
		return im.signature(t, nil, nil)
	case reflect.Interface:
		return im.iface(t)
	case reflect.Map:
		return types.NewMap(im.typ(t.Key()), im.typ(t.Elem()))
	case reflect.Pointer:
		return types.NewPointer(im.typ(t.Elem()))
	case reflect.Slice:
		return types.NewSlice(im.elem(t))
	case reflect.Struct:
		return im.structure(t)
	default:
		return basics[t.Kind()]
	}
}

// elem is the element type of a slice or array: bytes, where reflect cannot
// tell byte from uint8, read better by that name.
func (im *Importer) elem(t reflect.Type) types.Type {
	if t.Elem() == reflect.TypeFor[byte]() {
		return byteType
	}
	return im.typ(t.Elem())
}

// signature makes a function type. names are the parameters' names and then
// the results', or nil.
func (im *Importer) signature(t reflect.Type, recv *types.Var, names []string) *types.Signature {
	if len(names) != t.NumIn()+t.NumOut() {
		names = make([]string, t.NumIn()+t.NumOut())
	}
	var pkg *types.Package
	if recv != nil {
		pkg = recv.Pkg()
	}
	params := make([]*types.Var, t.NumIn())
	for i := range params {
		params[i] = types.NewParam(token.NoPos, pkg, names[i], im.typ(t.In(i)))
	}
	results := make([]*types.Var, t.NumOut())
	for i := range results {
		results[i] = types.NewParam(token.NoPos, pkg, names[len(params)+i], im.typ(t.Out(i)))
	}
	return types.NewSignatureType(recv, nil, nil, types.NewTuple(params...), types.NewTuple(results...), t.IsVariadic())
}

func (im *Importer) iface(t reflect.Type) types.Type {
	if t.NumMethod() == 0 && t.Name() == "" {
		return anyType
	}
	owner, recv := "", (*types.Var)(nil)
	if n, ok := im.types[t].(*types.Named); ok {
		owner = t.Name() + "."
		recv = types.NewParam(token.NoPos, n.Obj().Pkg(), "", n)
	}
	methods := make([]*types.Func, t.NumMethod())
	for i := range methods {
		m := t.Method(i)
		pkg := im.pkgOf(m.PkgPath, t)
		methods[i] = types.NewFunc(token.NoPos, pkg, m.Name, im.signature(m.Type, recv, im.params(t.PkgPath(), owner+m.Name)))
	}
	return types.NewInterfaceType(methods, nil).Complete()
}

func (im *Importer) structure(t reflect.Type) types.Type {
	fields := make([]*types.Var, t.NumField())
	tags := make([]string, t.NumField())
	for i := range fields {
		f := t.Field(i)
		typ := f.Type
		if f.PkgPath != "" && !f.Anonymous && t.Name() != "" {
			typ = opaque(typ)
		}
		fields[i] = types.NewField(token.NoPos, im.pkgOf(f.PkgPath, t), f.Name, im.typ(typ), f.Anonymous)
		tags[i] = string(f.Tag)
	}
	return types.NewStruct(fields, tags)
}

// pkgOf returns the package that a name belongs to: an unexported name's own
// path, or that of the type it is found in.
func (im *Importer) pkgOf(path string, t reflect.Type) *types.Package {
	if path == "" {
		path = t.PkgPath()
	}
	if path == "" {
		return nil
	}
	if tab := im.tables[path]; tab != nil {
		return im.pkg(path, tab.Name)
	}
	name, _, _ := strings.Cut(t.String(), ".")
	if path != t.PkgPath() || strings.ContainsAny(name, "*[]{}() ") {
		name = path[strings.LastIndexByte(path, '/')+1:]
	}
	return im.pkg(path, name)
}

// opaque returns a type that a cell cannot tell from t in an unexported
// field: of the same size and alignment, comparable or not as t is. It keeps
// the internals of the standard library out of the checker.
func opaque(t reflect.Type) reflect.Type {
	if t.Size()%uintptr(t.Align()) != 0 {
		return t
	}
	var word reflect.Type
	switch t.Align() {
	case 1:
		word = reflect.TypeFor[uint8]()
	case 2:
		word = reflect.TypeFor[uint16]()
	case 4:
		word = reflect.TypeFor[uint32]()
	case 8:
		word = reflect.TypeFor[uint64]()
	default:
		return t
	}
	words := reflect.ArrayOf(int(t.Size())/t.Align(), word)
	if t.Comparable() {
		return words
	}
	return reflect.StructOf([]reflect.StructField{
		{Name: "NotComparable", Type: reflect.TypeFor[[0]func()]()},
		{Name: "Words", Type: words},
	})
}
