package host

import (
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"strings"
)

var constantValue = reflect.TypeFor[constant.Value]()

// declare puts one symbol of a table into the scope of its package.
func (im *Importer) declare(p *types.Package, name string, v reflect.Value) {
	if strings.HasPrefix(name, "_") || p.Scope().Lookup(name) != nil {
		return // an interface wrapper, or a type that was met before
	}
	if obj := im.object(p, name, v); obj != nil {
		p.Scope().Insert(obj)
	}
}

// object makes the object for a symbol. It returns nil for a type whose
// making has already declared it.
func (im *Importer) object(p *types.Package, name string, v reflect.Value) types.Object {
	t := v.Type()
	switch {
	case v.CanAddr():
		return types.NewVar(token.NoPos, p, name, im.typ(t))
	case t.Implements(constantValue):
		c := v.Interface().(constant.Value)
		return types.NewConst(token.NoPos, p, name, untyped(p.Path(), name, c), c)
	case t.Kind() == reflect.Func:
		return types.NewFunc(token.NoPos, p, name, im.signature(t, nil, im.params(p.Path(), name)))
	case t.Kind() == reflect.Pointer:
		return im.typeName(p, name, t.Elem())
	default:
		c, typ := typedConstant(v), im.typ(t)
		if t == reflect.TypeFor[bool]() {
			typ = types.Typ[types.UntypedBool] // yaegi's tables do not tell them apart
		}
		if c == nil {
			return types.NewVar(token.NoPos, p, name, typ)
		}
		return types.NewConst(token.NoPos, p, name, typ, c)
	}
}

// typeName declares the type t under a name: its own, or as an alias of a
// type of another name or package, as os.FileInfo is of fs.FileInfo.
func (im *Importer) typeName(p *types.Package, name string, t reflect.Type) types.Object {
	typ := im.typ(t)
	if n, ok := typ.(*types.Named); ok && n.Obj().Pkg() == p && n.Obj().Name() == name {
		return nil
	}
	obj := types.NewTypeName(token.NoPos, p, name, nil)
	types.NewAlias(obj, typ)
	return obj
}

func (im *Importer) params(path, name string) []string {
	if t := im.table(path); t != nil {
		return t.Params[name]
	}
	return nil
}

// typedConstant returns the value of a symbol that is a typed constant, or nil.
func typedConstant(v reflect.Value) constant.Value {
	switch {
	case v.Kind() == reflect.Bool:
		return constant.MakeBool(v.Bool())
	case v.Kind() == reflect.String:
		return constant.MakeString(v.String())
	case v.CanInt():
		return constant.MakeInt64(v.Int())
	case v.CanUint():
		return constant.MakeUint64(v.Uint())
	case v.CanFloat():
		return constant.MakeFloat64(v.Float())
	case v.CanComplex():
		re, im := constant.MakeFloat64(real(v.Complex())), constant.MakeFloat64(imag(v.Complex()))
		return constant.BinaryOp(re, token.ADD, constant.MakeImag(im))
	}
	return nil
}

// untyped returns the type of an untyped constant. The tables write a rune
// as a plain integer.
func untyped(path, name string, c constant.Value) types.Type {
	switch c.Kind() {
	case constant.Bool:
		return types.Typ[types.UntypedBool]
	case constant.String:
		return types.Typ[types.UntypedString]
	case constant.Int:
		if untypedRunes[path+"."+name] {
			return types.Typ[types.UntypedRune]
		}
		return types.Typ[types.UntypedInt]
	case constant.Float:
		return types.Typ[types.UntypedFloat]
	default:
		return types.Typ[types.UntypedComplex]
	}
}

// untypedRunes are the standard library's constants whose default type is rune.
var untypedRunes = map[string]bool{
	"archive/tar.TypeBlock": true, "archive/tar.TypeChar": true, "archive/tar.TypeCont": true,
	"archive/tar.TypeDir": true, "archive/tar.TypeFifo": true, "archive/tar.TypeGNULongLink": true,
	"archive/tar.TypeGNULongName": true, "archive/tar.TypeGNUSparse": true, "archive/tar.TypeLink": true,
	"archive/tar.TypeReg": true, "archive/tar.TypeRegA": true, "archive/tar.TypeSymlink": true,
	"archive/tar.TypeXGlobalHeader": true, "archive/tar.TypeXHeader": true,
	"math/big.MaxBase":     true,
	"os.PathListSeparator": true, "os.PathSeparator": true,
	"path/filepath.ListSeparator": true, "path/filepath.Separator": true,
	"text/tabwriter.Escape": true,
	"unicode.MaxASCII":      true, "unicode.MaxLatin1": true, "unicode.MaxRune": true, "unicode.ReplacementChar": true,
	"unicode/utf8.MaxRune": true, "unicode/utf8.RuneError": true,
}
