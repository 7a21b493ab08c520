package golang

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What a cell uses of earlier cells: which names these are, and what stands for
// them when the cell is checked.

// freeNames lists the names that the cell uses.
func (c *checker) freeNames(file *ast.File, decls []ast.Decl, body *ast.BlockStmt) map[string][]*ast.Ident {
	names := make(map[string][]*ast.Ident)
	visit := func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			names[id.Name] = append(names[id.Name], id)
		}
		return true
	}
	for _, d := range decls {
		ast.Inspect(d, visit)
	}
	for _, s := range body.List {
		ast.Inspect(s, visit)
	}
	for _, m := range c.out.methods {
		ast.Inspect(m.decl, visit)
		if m.params != nil {
			ast.Inspect(m.params, visit)
		}
	}
	return names
}

// insert puts into the cell's package what it uses of the session.
func (c *checker) insert(names map[string][]*ast.Ident) {
	ev := c.ev
	imported := make(map[string]bool)
	var dots []string // the packages of the cell's dot imports
	for _, d := range c.src.imports {
		for _, s := range d.Specs {
			spec := s.(*ast.ImportSpec)
			imported[c.importedAs(spec)] = true
			if c.importedAs(spec) == "." {
				dots = append(dots, strings.Trim(spec.Path.Value, "`\""))
			}
		}
	}
	scope := c.pkg.Scope()
	for name, uses := range names {
		plain, isOld := strings.CutSuffix(name, oldMark)
		if isOld {
			if old := ev.names[plain]; old != nil {
				c.insertProxy(name, old)
			} else if p := ev.guessImport(plain); p != nil {
				scope.Insert(types.NewPkgName(token.NoPos, c.pkg, name, p))
			}
			continue
		}
		if _, ok := c.declared[name]; ok || imported[name] || name == "_" {
			continue
		}
		if obj := ev.names[name]; obj != nil && !c.src.program {
			if p, ok := obj.(*types.PkgName); ok {
				scope.Insert(types.NewPkgName(token.NoPos, c.pkg, name, p.Imported()))
				continue
			}
			scope.Insert(obj)
			continue
		}
		if !c.src.program && ev.exported(dots, name) == nil {
			if obj := ev.exported(ev.dots, name); obj != nil {
				scope.Insert(obj)
				continue
			}
		}
		if types.Universe.Lookup(name) != nil || !qualifies(c.src.file, uses) {
			continue
		}
		if p := ev.guessImport(name); p != nil {
			scope.Insert(types.NewPkgName(token.NoPos, c.pkg, name, p))
		}
	}
}

// exported is what the last of some packages has that exports a name, or nil.
func (ev *namespace) exported(paths []string, name string) types.Object {
	if !token.IsExported(name) {
		return nil
	}
	for _, path := range slices.Backward(paths) {
		if p, err := ev.importer.Import(path); err == nil {
			if o := p.Scope().Lookup(name); o != nil {
				return o
			}
		}
	}
	return nil
}

// insertProxy declares an earlier object under another name.
func (c *checker) insertProxy(name string, old types.Object) {
	var o types.Object
	switch old := old.(type) {
	case *types.Var:
		o = types.NewVar(old.Pos(), c.pkg, name, old.Type())
	case *types.Const:
		o = types.NewConst(old.Pos(), c.pkg, name, old.Type(), old.Val())
	case *types.Func:
		o = types.NewFunc(old.Pos(), c.pkg, name, old.Signature())
	case *types.TypeName:
		o = types.NewTypeName(old.Pos(), c.pkg, name, nil)
		types.NewAlias(o.(*types.TypeName), old.Type())
	case *types.PkgName:
		o = types.NewPkgName(token.NoPos, c.pkg, name, old.Imported())
	default:
		return
	}
	c.proxies[o] = old
	c.pkg.Scope().Insert(o)
}

// qualifies says whether one of the uses of a name is as in name.Selector.
func qualifies(file *ast.File, uses []*ast.Ident) bool {
	for _, u := range uses {
		if u.Obj == nil {
			return true
		}
	}
	return false
}

// bindOld renames uses of a name that come before the cell's own declaration
// of it: they mean what an earlier cell declared.
func (c *checker) bindOld() {
	ev := c.ev
	for _, s := range c.out.stmts {
		var values []ast.Expr
		var names []string
		switch s := s.(type) {
		case *ast.DeclStmt:
			for _, spec := range s.Decl.(*ast.GenDecl).Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					values = append(values, v.Values...)
					for _, id := range v.Names {
						names = append(names, id.Name)
					}
				}
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				values = s.Rhs
				for _, x := range s.Lhs {
					if id, ok := x.(*ast.Ident); ok {
						names = append(names, id.Name)
					}
				}
			}
		}
		for _, v := range values {
			c.rename(v, func(id *ast.Ident) bool {
				for _, n := range names {
					if n == id.Name && (c.means(id) || c.isStmtVar(n)) && c.declared[n] >= s.Pos() {
						return true
					}
				}
				return false
			})
		}
	}
	// Statements before the declaration, where the types differ.
	for _, s := range c.out.stmts {
		if _, ok := s.(*ast.DeclStmt); ok {
			continue
		}
		c.rename(s, func(id *ast.Ident) bool {
			pos, ok := c.declared[id.Name]
			if !ok || id.Pos() >= pos {
				return false
			}
			_, isVar := ev.names[id.Name].(*types.Var)
			return isVar && c.isStmtVar(id.Name)
		})
	}
}

// means says whether a name meant something before the cell's own declaration
// of it: it is of an earlier cell, or of a package that needs no import.
func (c *checker) means(id *ast.Ident) bool {
	if c.ev.names[id.Name] != nil {
		return true
	}
	qualifies := false
	for _, s := range c.src.steps {
		ast.Inspect(s, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.X == ast.Expr(id) {
				qualifies = true
			}
			return !qualifies
		})
	}
	return qualifies && c.ev.guessImport(id.Name) != nil
}

// isStmtVar says whether the cell declares a name by := at its outer level.
func (c *checker) isStmtVar(name string) bool {
	for _, s := range c.src.steps {
		if a, ok := s.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
			for _, x := range a.Lhs {
				if id, ok := x.(*ast.Ident); ok && id.Name == name {
					return true
				}
			}
		}
	}
	return false
}

// rename marks the uses of outer names that old says are of an earlier cell.
func (c *checker) rename(n ast.Node, old func(*ast.Ident) bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			// Parameters and locals are resolved by the parser.
		case *ast.SelectorExpr:
			c.rename(n.X, old)
			return false
		case *ast.KeyValueExpr:
			if _, ok := n.Key.(*ast.Ident); !ok {
				c.rename(n.Key, old)
			}
			c.rename(n.Value, old)
			return false
		case *ast.Ident:
			if c.isOuter(n) && old(n) {
				n.Name += oldMark
			}
		}
		return true
	})
}

// isOuter says whether a name is not one of a scope inside of the cell.
func (c *checker) isOuter(id *ast.Ident) bool {
	if id.Obj == nil {
		return true
	}
	a, ok := id.Obj.Decl.(*ast.AssignStmt)
	if !ok {
		return false
	}
	for _, s := range c.src.steps {
		if s == a {
			return true
		}
	}
	return false
}
