package golang

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"gocuda/kernel/golang/lower"
)

// SourcePackage is a package that cells import as source, to be interpreted.
type SourcePackage struct {
	Path  string
	Files []File
}

// require loads the packages that a cell imports and that are neither
// compiled nor loaded yet.
func (ev *Evaluator) require(name, code string) *Error {
	if ev.options.Sources == nil || !strings.Contains(code, "import") {
		return nil
	}
	toks := scan(code)
	for i, t := range toks {
		if t.tok != token.STRING || i == 0 || !inImport(toks[:i]) {
			continue
		}
		p := strings.Trim(t.lit, "\"`")
		if ev.importer.has(p) {
			continue
		}
		list, err := ev.options.Sources(p)
		if err != nil {
			line, column := position(code, t.offset)
			return compileError(code, []mistake{{name, line, column, "could not import " + p + ": " + err.Error()}})
		}
		for _, src := range list {
			if ev.importer.has(src.Path) {
				continue
			}
			if e := ev.load(src); e != nil {
				return e
			}
		}
	}
	return nil
}

// inImport says whether tokens end in an import declaration, before its path.
func inImport(toks []lexeme) bool {
	for i := len(toks) - 1; i >= 0; i-- {
		switch toks[i].tok {
		case token.IMPORT:
			return true
		case token.IDENT, token.PERIOD, token.STRING, token.SEMICOLON, token.LPAREN:
		default:
			return false
		}
		if toks[i].tok == token.SEMICOLON && i+1 < len(toks) && !slices.ContainsFunc(toks[:i], func(l lexeme) bool { return l.tok == token.LPAREN }) {
			return false
		}
	}
	return false
}

// load checks and lowers a package, and runs what initializes it.
func (ev *Evaluator) load(src SourcePackage) *Error {
	entry, e := ev.compileSource(src)
	if e != nil {
		return e
	}
	return ev.execute(src.Path, *entry).Err
}

func (ev *Evaluator) compileSource(src SourcePackage) (*func(), *Error) {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	var files []*ast.File
	codes := make(map[string]string)
	var mistakes []mistake
	for _, f := range src.Files {
		codes[f.Name] = f.Code
		file, err := parser.ParseFile(ev.fset, f.Name, f.Code, parser.SkipObjectResolution)
		if list, ok := err.(scanner.ErrorList); ok {
			mistakes = append(mistakes, syntaxErrors(parseErrors(list, f.Name, f.Code))...)
			continue
		}
		files = append(files, file)
	}
	info := newInfo()
	conf := types.Config{Importer: ev.importer, GoVersion: "go1.26", Sizes: sizes, FakeImportC: true, Error: func(err error) {
		te := err.(types.Error)
		if !te.Soft && !strings.HasPrefix(te.Msg, "missing function body") {
			mistakes = append(mistakes, typeMistake(te))
		}
	}}
	pkg := types.NewPackage(src.Path, path.Base(src.Path))
	if len(files) > 0 {
		pkg = types.NewPackage(src.Path, files[0].Name.Name)
	}
	types.NewChecker(&conf, ev.fset, pkg, info).Files(files)
	if mistakes != nil {
		return nil, programError(codes, mistakes)
	}
	ev.lower.Begin(src.Path, false)
	entry, err := ev.compileOutput(func() lower.Output { return ev.lowerPackage(src.Path, pkg, info, files) })
	if err != nil {
		ev.lower.Abandon()
		return nil, &Error{Name: "ImportError", Message: fmt.Sprintf("package %s cannot be interpreted: %v", src.Path, err),
			Traceback: []string{red + "package " + src.Path + " cannot be interpreted: " + plain + err.Error()}}
	}
	ev.importer.addModule(pkg)
	return entry, nil
}

// lowerPackage writes the initialization of a package. Its functions are
// lowered when a cell calls them.
func (ev *Evaluator) lowerPackage(name string, pkg *types.Package, info *types.Info, files []*ast.File) lower.Output {
	var inits []*types.Func
	for _, file := range files {
		inits = append(inits, ev.declareFuncs(file, info, name)...)
	}
	for _, n := range pkg.Scope().Names() {
		if v, ok := pkg.Scope().Lookup(n).(*types.Var); ok {
			ev.lower.Global(v)
		}
	}
	return ev.lower.Finish(ev.lower.Program(info, name, inits, nil))
}

// declareFuncs makes the functions of a file known and returns its init functions.
func (ev *Evaluator) declareFuncs(file *ast.File, info *types.Info, cell string) (inits []*types.Func) {
	for _, d := range file.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Body == nil {
			continue
		}
		fun, ok := info.Defs[fd.Name].(*types.Func)
		if !ok {
			continue
		}
		ev.lower.Declare(fun, &lower.Decl{Func: fd, Info: info, Cell: cell})
		if fd.Recv == nil && fd.Name.Name == "init" {
			inits = append(inits, fun)
		}
	}
	return inits
}

// has says whether a package can be imported as it is.
func (im *importer) has(p string) bool {
	_, compiled := im.tables[p]
	im.mu.Lock()
	defer im.mu.Unlock()
	return compiled || im.modules[p] != nil || p == "unsafe"
}

func (im *importer) addModule(p *types.Package) {
	im.mu.Lock()
	defer im.mu.Unlock()
	im.modules[p.Path()] = p
}

// forgetModules is for an interpreter that starts afresh.
func (im *importer) forgetModules() {
	im.mu.Lock()
	defer im.mu.Unlock()
	im.modules = make(map[string]*types.Package)
}

// modulePaths lists the loaded source packages.
func (im *importer) modulePaths() []string {
	im.mu.Lock()
	defer im.mu.Unlock()
	var list []string
	for p := range im.modules {
		list = append(list, p)
	}
	return list
}

// module returns a loaded source package, or nil.
func (im *importer) module(p string) *types.Package {
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.modules[p]
}
