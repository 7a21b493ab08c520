package golang

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"

	"gocuda/cudaapi/gokernel"
	"gocuda/kernel/golang/lower"
)

// must(f()) gives the values of f but for its last, an error, and fails the
// cell if that is not nil. No Go function takes any number of values of any
// types, so each call becomes one of a generic function for as many values as
// it has. How many these are, only the checker knows: a cell that says must is
// checked once more for each depth to which such calls are nested.

const (
	mustName = "must"
	mustPath = gokernel.MustPackage
	maxMust  = 8 // values, and depth
)

// mustCalls lists the calls of must in a cell, if that is not a name of its own.
func (c *checker) mustCalls() []*ast.CallExpr {
	if _, ok := c.declared[mustName]; ok || c.ev.names[mustName] != nil {
		return nil
	}
	var calls []*ast.CallExpr
	for _, s := range c.src.steps {
		ast.Inspect(s, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 {
				if id, ok := call.Fun.(*ast.Ident); ok && id.Name == mustName && id.Obj == nil {
					calls = append(calls, call)
				}
			}
			return true
		})
	}
	return calls
}

// nameMusts gives the calls of must the names of functions for their numbers
// of values, -1 where that is not known yet.
func (c *checker) nameMusts(values []int) {
	c.musts = c.mustCalls()
	for i, call := range c.musts {
		name := mustName + "ᐧ"
		if i < len(values) && values[i] >= 0 {
			name = fmt.Sprintf("%sᐧ%d", mustName, values[i])
			if fun := c.ev.importer.must(values[i]); fun != nil && c.pkg.Scope().Lookup(name) == nil {
				proxy := types.NewFunc(token.NoPos, c.pkg, name, fun.Signature())
				c.proxies[proxy] = fun
				c.pkg.Scope().Insert(proxy)
			}
		}
		id := call.Fun.(*ast.Ident)
		call.Fun = &ast.Ident{NamePos: id.NamePos, Name: name}
	}
}

// countMusts returns the numbers of values after a check, and whether it
// found one that was not known before.
func (c *checker) countMusts(before []int) (values []int, more bool) {
	for i, call := range c.musts {
		n := -1
		if i < len(before) {
			n = before[i]
		}
		if n < 0 && len(call.Args) > 1 {
			n = len(call.Args) - 1
		} else if n < 0 {
			switch t := c.info.Types[call.Args[0]].Type.(type) {
			case nil:
			case *types.Tuple:
				n = t.Len() - 1
			default:
				if t != types.Typ[types.Invalid] {
					n = 0
				}
			}
		}
		more = more || n >= 0 && (i >= len(before) || before[i] < 0)
		values = append(values, n)
	}
	return values, more
}

// must returns the function for n values and an error.
func (im *importer) must(n int) *types.Func {
	im.mu.Lock()
	defer im.mu.Unlock()
	if im.mustPkg == nil {
		im.checkMust()
	}
	f, _ := im.mustPkg.Scope().Lookup(fmt.Sprintf("Must%d", n)).(*types.Func)
	return f
}

func (im *importer) checkMust() {
	var b strings.Builder
	b.WriteString("package must\nimport \"rt\"\n")
	b.WriteString("func Must0(err error) { if err != nil { rt.Fail(err) } }\n")
	for n := 1; n <= maxMust; n++ {
		var tparams, params, names []string
		for i := range n {
			tparams = append(tparams, fmt.Sprintf("T%d", i))
			params = append(params, fmt.Sprintf("v%d T%d", i, i))
			names = append(names, fmt.Sprintf("v%d", i))
		}
		fmt.Fprintf(&b, "func Must%d[%s any](%s, err error) (%s) { if err != nil { rt.Fail(err) }; return %s }\n",
			n, strings.Join(tparams, ", "), strings.Join(params, ", "), strings.Join(tparams, ", "), strings.Join(names, ", "))
	}
	fset := im.host.FileSet()
	file, err := parser.ParseFile(fset, mustPath, b.String(), parser.SkipObjectResolution)
	if err != nil {
		panic(err) // the text above is Go
	}
	im.mustPkg = types.NewPackage(mustPath, "must")
	info := newInfo()
	conf := types.Config{Importer: mustImporter{}}
	if err := types.NewChecker(&conf, fset, im.mustPkg, info).Files([]*ast.File{file}); err != nil {
		panic(err)
	}
	decls := make(map[*types.Func]*lower.Decl)
	for _, d := range file.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok {
			f := info.Defs[fd.Name].(*types.Func)
			decls[f] = &lower.Decl{Func: fd, Info: info, Cell: "must", Hidden: true}
		}
	}
	im.sources[mustPath] = decls
}

// mustImporter has the part of package rt that the functions above call.
type mustImporter struct{}

func (mustImporter) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, path)
	err := types.NewParam(token.NoPos, p, "err", types.Universe.Lookup("error").Type())
	p.Scope().Insert(types.NewFunc(token.NoPos, p, "Fail", types.NewSignatureType(nil, nil, nil, types.NewTuple(err), nil, false)))
	p.MarkComplete()
	return p, nil
}
