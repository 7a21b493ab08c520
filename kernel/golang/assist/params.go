package assist

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
)

// nameParams writes the signature of a function of a compiled package with the
// names that its source gives to parameters and results.
func nameParams(m *Match, scope Scope, qual types.Qualifier) {
	if f, ok := m.Object.(*types.Func); ok {
		if sig := namedSignature(f, scope); sig != f.Signature() {
			m.Signature = types.TypeString(sig, qual)
		}
	}
}

// namedSignature is a function's signature with the names that its source gives to
// parameters and results, if it has none and they are known.
func namedSignature(f *types.Func, scope Scope) *types.Signature {
	sig := f.Signature()
	if named(sig.Params()) || named(sig.Results()) {
		return sig
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+scope.Declaration(f), parser.SkipObjectResolution)
	if err != nil || len(file.Decls) == 0 {
		return sig
	}
	decl, ok := file.Decls[0].(*ast.FuncDecl)
	if !ok {
		return sig
	}
	params, ok := withNames(sig.Params(), decl.Type.Params)
	if !ok {
		return sig
	}
	results, ok := withNames(sig.Results(), decl.Type.Results)
	if !ok {
		return sig
	}
	return types.NewSignatureType(nil, nil, nil, params, results, sig.Variadic())
}

func named(t *types.Tuple) bool { return t.Len() > 0 && t.At(0).Name() != "" }

// withNames gives the variables of a tuple the names of a field list.
func withNames(t *types.Tuple, fields *ast.FieldList) (*types.Tuple, bool) {
	if t.Len() != fields.NumFields() {
		return nil, false
	}
	var vars []*types.Var
	if fields != nil {
		for _, f := range fields.List {
			for i := range max(len(f.Names), 1) {
				name := ""
				if len(f.Names) > 0 {
					name = f.Names[i].Name
				}
				vars = append(vars, types.NewParam(token.NoPos, nil, name, t.At(len(vars)).Type()))
			}
		}
	}
	return types.NewTuple(vars...), true
}
