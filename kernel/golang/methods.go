package golang

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"
)

// Methods that come in later cells than their types.

// receiverBase is the name of a method's receiver type, and whether it has
// type parameters.
func receiverBase(d *ast.FuncDecl) (name *ast.Ident, generic bool) {
	if len(d.Recv.List) == 0 {
		return nil, false
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
			continue
		case *ast.ParenExpr:
			t = x.X
			continue
		case *ast.IndexExpr:
			t, generic = x.X, true
			continue
		case *ast.IndexListExpr:
			t, generic = x.X, true
			continue
		}
		break
	}
	name, _ = t.(*ast.Ident)
	return name, generic
}

// isLater says whether a method belongs to a type of an earlier cell.
func (c *checker) isLater(d *ast.FuncDecl) bool {
	base, generic := receiverBase(d)
	if base == nil {
		return false
	}
	if _, here := c.declared[base.Name]; here && !c.isReused(base.Name) {
		return false
	}
	n, ok := c.ev.names[base.Name].(*types.TypeName)
	if !ok {
		return false
	}
	named, ok := types.Unalias(n.Type()).(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "main" && generic == (named.TypeParams().Len() > 0)
}

// hasNoLater says whether a method is of a type of an earlier cell that can
// have none, and why.
func (c *checker) hasNoLater(d *ast.FuncDecl) bool {
	base, generic := receiverBase(d)
	if base == nil {
		return false
	}
	if _, here := c.declared[base.Name]; here {
		of := c.aliasOfEarlier(base.Name)
		if of != nil {
			c.fail(base.Pos(), "%s is another name for %s of an earlier cell: declare the method for that", base.Name, of.Name)
		}
		return of != nil
	}
	o, ok := c.ev.names[base.Name]
	if !ok {
		return false
	}
	switch n, isType := o.(*types.TypeName); {
	case !isType:
		c.fail(base.Pos(), "%s is not a type", base.Name)
	case isGenericType(n.Type()):
		c.fail(base.Pos(), "cannot use generic type %s without instantiation", types.TypeString(n.Type(), cellQualifier))
	case generic:
		c.fail(base.Pos(), "%s is not a generic type", base.Name)
	default:
		c.fail(base.Pos(), "cannot define new methods on non-local type %s", types.TypeString(n.Type(), cellQualifier))
	}
	return true
}

// sameLater says whether a type that the cell declares further down is one
// that will be reused too.
func (c *checker) sameLater(name string) bool {
	for _, s := range c.src.steps {
		d, ok := s.(*ast.GenDecl)
		if !ok || d.Tok != token.TYPE {
			continue
		}
		for _, sp := range d.Specs {
			spec := sp.(*ast.TypeSpec)
			if spec.Name.Name == name {
				old, ok := c.ev.typeText[name]
				return ok && old.text == specText(spec)
			}
		}
	}
	return false
}

// laterMethods turns the methods that the cell gives to types of earlier cells into
// functions for the checker. It checks their signatures first, and calls the
// function that is returned once it knows them: before any expression or body, which
// may call the methods.
func (c *checker) laterMethods() types.Sizes {
	if len(c.out.methods) == 0 {
		return sizes
	}
	var decls []ast.Decl
	for i := range c.out.methods {
		m := &c.out.methods[i]
		base, _ := receiverBase(m.decl)
		fields := append([]*ast.Field{}, m.decl.Recv.List...)
		if len(fields) > 0 && len(fields[0].Names) == 0 {
			f := *fields[0]
			f.Names = []*ast.Ident{{NamePos: f.Pos(), Name: "_"}}
			fields[0] = &f
		}
		for _, p := range m.decl.Type.Params.List {
			if len(p.Names) == 0 {
				f := *p
				f.Names = []*ast.Ident{{NamePos: p.Pos(), Name: "_"}}
				p = &f
			}
			fields = append(fields, p)
		}
		typ := *m.decl.Type
		typ.TypeParams = m.params
		params := *typ.Params
		params.List = fields
		typ.Params = &params
		name := &ast.Ident{NamePos: m.decl.Name.Pos(), Name: base.Name + "ᐧ" + m.decl.Name.Name}
		f := &ast.FuncDecl{Name: name, Type: &typ, Body: m.decl.Body}
		decls = append(decls, f)
		m.decl = &ast.FuncDecl{Doc: m.decl.Doc, Name: name, Type: &typ, Body: m.decl.Body, Recv: m.decl.Recv}
	}
	// go/types checks types first, then what else is declared in the order in which
	// it stands, and bodies last.
	const unsafe, known = "ᐧunsafe", "ᐧknown"
	c.pkg.Scope().Insert(types.NewPkgName(token.NoPos, c.pkg, unsafe, types.Unsafe))
	marker := &ast.CompositeLit{Type: &ast.StructType{Fields: &ast.FieldList{List: []*ast.Field{{Names: []*ast.Ident{ast.NewIdent(known)}, Type: ast.NewIdent("int")}}}}}
	decls = append(decls, &ast.GenDecl{Tok: token.CONST, Specs: []ast.Spec{&ast.ValueSpec{
		Names:  []*ast.Ident{ast.NewIdent("_")},
		Values: []ast.Expr{&ast.CallExpr{Fun: &ast.SelectorExpr{X: ast.NewIdent(unsafe), Sel: ast.NewIdent("Sizeof")}, Args: []ast.Expr{marker}}},
	}}})
	c.src.file.Decls = append(decls, c.src.file.Decls...)
	return sizesThen{sizes, known, c.declareLater}
}

// sizesThen calls a function when the size of a struct with a certain field is
// asked for. The checker of go/types has no other call back at a place of choice.
type sizesThen struct {
	types.Sizes
	field string
	then  func()
}

func (s sizesThen) Sizeof(t types.Type) int64 {
	if of, ok := t.(*types.Struct); ok && of.NumFields() == 1 && of.Field(0).Name() == s.field {
		s.then()
	}
	return s.Sizes.Sizeof(t)
}

// declareLater gives the types of earlier cells their methods.
func (c *checker) declareLater() {
	for i := range c.out.methods {
		m := &c.out.methods[i]
		fun, ok := c.info.Defs[m.decl.Name].(*types.Func)
		if !ok {
			continue // the checker tells why
		}
		base, method, _ := strings.Cut(m.decl.Name.Name, "ᐧ")
		named := types.Unalias(c.ev.names[base].Type()).(*types.Named)
		m.fun = c.method(fun, named, method)
		for j := range named.NumMethods() {
			if o := named.Method(j); o.Name() == method {
				m.old = o
			}
		}
		if m.old == nil {
			if o, _, _ := types.LookupFieldOrMethod(named, true, named.Obj().Pkg(), method); o != nil && isField(o, named) {
				c.fail(m.decl.Name.Pos(), "field and method with the same name %s", method)
				c.settled = true
				return
			}
			named.AddMethod(m.fun)
			c.ev.forgetMethods(named)
			c.ev.provisional[m.fun] = true
			continue
		}
		if !c.sameMethod(m.old, m.fun) {
			if c.src.of(m.decl.Pos()) == nil {
				c.src.renewed[base] = true
			}
			c.fail(m.decl.Name.Pos(), "method %s.%s was declared with another signature, %s: declare the type again to change it",
				base, method, types.TypeString(signatureOnly(m.old), cellQualifier))
			c.settled = true
			return
		}
	}
}

// dropProvisional takes from types of earlier cells the methods that a cell gave
// them which then failed. go/types has no function for this; a test sees to it
// that the field is there.
func (ev *namespace) dropProvisional() {
	for method := range ev.provisional {
		t := types.Unalias(method.Signature().Recv().Type())
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		origin := t.(*types.Named).Origin()
		if methods := privateField[[]*types.Func](reflect.ValueOf(origin).Elem(), "methods"); methods != nil {
			*methods = slices.DeleteFunc(*methods, func(m *types.Func) bool { return m == method })
			ev.forgetMethods(origin)
		}
		delete(ev.provisional, method)
	}
}

func isField(o types.Object, n *types.Named) bool {
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	return slices.ContainsFunc(slices.Collect(s.Fields()), func(f *types.Var) bool { return f == o })
}

func signatureOnly(f *types.Func) *types.Signature {
	s := f.Signature()
	return types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic())
}

// method makes the method that a function with its receiver as the first
// parameter stands for. Type parameters, which a signature has for itself, are
// made again.
func (c *checker) method(fun *types.Func, named *types.Named, name string) *types.Func {
	s := fun.Signature()
	var params []*types.TypeParam
	if of := s.TypeParams(); of.Len() > 0 {
		for p := range of.TypeParams() {
			params = append(params, types.NewTypeParam(types.NewTypeName(p.Obj().Pos(), p.Obj().Pkg(), p.Obj().Name(), nil), p.Constraint()))
		}
		plain := types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic())
		s = c.ev.generics.Substitute(plain, of, params).(*types.Signature)
	}
	return types.NewFunc(fun.Pos(), named.Obj().Pkg(), name, methodSignature(s, params))
}

// methodSignature is that of a function whose first parameter is the receiver.
func methodSignature(s *types.Signature, params []*types.TypeParam) *types.Signature {
	rest := slices.Collect(s.Params().Variables())[1:]
	return types.NewSignatureType(s.Params().At(0), params, nil, types.NewTuple(rest...), s.Results(), s.Variadic())
}
