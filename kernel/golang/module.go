package golang

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"gocuda/cudaapi/gokernel"
	"gocuda/kernel/golang/answer"
	"gocuda/kernel/golang/lower"
)

// Modules are packages that are not compiled into this program: cells import
// them as source. Its methods may be called from several goroutines.
type Modules interface {
	// Sources returns a package's source, after that of the packages that it
	// imports, but for those of the standard library and those that are compiled.
	Sources(importPath string, compiled func(importPath string) bool) ([]SourcePackage, error)
	// Changed lists the packages that Sources has given whose files were edited
	// since.
	Changed() []string
	// Packages lists the import paths that Sources takes.
	Packages() []string
}

// SourcePackage is a package that cells import as source, to be interpreted.
type SourcePackage struct {
	Path  string
	Files []File
	Dir   string // the folder of the files
	Cgo   bool   // it has files written with cgo, which are left out
}

// require loads the packages that a cell imports and that are neither
// compiled nor loaded yet.
func (ev *Evaluator) require(name, code string) *Error {
	if ev.options.Modules == nil {
		return nil
	}
	if e := ev.reload(); e != nil {
		return e
	}
	if !strings.Contains(code, "import") {
		return nil
	}
	toks := scan(code)
	for i, t := range toks {
		if t.tok != token.STRING || i == 0 || !inImport(toks[:i]) {
			continue
		}
		p := strings.Trim(t.lit, "\"`")
		failed, e := ev.loadAll(p)
		if failed != nil {
			line, column := position(code, t.offset)
			return compileError(code, []mistake{{file: name, line: line, column: column, text: "could not import " + p + ": " + failed.Error()}})
		}
		if e != nil {
			return e
		}
	}
	return nil
}

// loadAll loads a package and what it imports. failed says why there is no
// such package.
func (ev *Evaluator) loadAll(p string) (failed error, e *Error) {
	if ev.importer.has(p) || p == "C" { // which the checker reports
		return nil, nil
	}
	list, err := ev.options.Modules.Sources(p, ev.importer.compiled)
	if err != nil {
		return err, nil
	}
	defer fewerCollections()()
	for _, src := range list {
		if ev.importer.has(src.Path) {
			continue
		}
		if e := ev.load(src); e != nil {
			return nil, e
		}
	}
	return nil, nil
}

// fewerCollections lets the heap grow more before it is collected, until the function
// that it returns is called: what is loaded stays, and looking for garbage in it is a
// third of the work.
func fewerCollections() (back func()) {
	const percent = 200
	was := debug.SetGCPercent(percent)
	if was < 0 || was > percent { // as the user has it
		debug.SetGCPercent(was)
		return func() {}
	}
	return func() { debug.SetGCPercent(was) }
}

// reload loads the packages again whose files were edited, and those that
// import them. What cells hold of their types and variables stays what it was.
// If it fails, the packages are as before, and the next cell tries again.
func (ev *Evaluator) reload() *Error {
	for _, p := range ev.options.Modules.Changed() {
		ev.edited[p] = true
	}
	if len(ev.edited) == 0 {
		return nil
	}
	old := ev.importer.unload(ev.edited)
	if len(old) == 0 { // cells never came to load them
		clear(ev.edited)
		return nil
	}
	ev.mu.Lock()
	var named []*types.PkgName
	var paths []string
	for _, o := range ev.names {
		if p, ok := o.(*types.PkgName); ok && old[p.Imported().Path()] != nil {
			named, paths = append(named, p), append(paths, p.Imported().Path())
		}
	}
	for _, path := range ev.dots {
		if old[path] != nil {
			paths = append(paths, path)
		}
	}
	ev.mu.Unlock()
	for _, path := range paths {
		failed, e := ev.loadAll(path)
		if failed != nil {
			e = answer.NewError("ImportError", "could not import "+path+" again: "+failed.Error())
		}
		if e != nil {
			ev.importer.restore(old)
			return e
		}
	}
	clear(ev.edited)
	ev.mu.Lock()
	defer ev.mu.Unlock()
	for _, p := range named {
		now := ev.importer.module(p.Imported().Path()).pkg
		ev.names[p.Name()] = types.NewPkgName(token.NoPos, nil, p.Name(), now)
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

// sourcePackage is a package that was loaded as source.
type sourcePackage struct {
	pkg    *types.Package
	dir    string
	bodies map[*types.Func]*body
}

// body is a function whose body is checked when something calls it: most of a
// module's never are.
type body struct {
	decl *ast.FuncDecl
	file *ast.File
	info *types.Info // of its package, if the body was checked with it
	made *lower.Decl
}

func (ev *machine) compileSource(src SourcePackage) (*func(), *Error) {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	var files []*ast.File
	codes := make(map[string]string)
	var mistakes []mistake
	for _, f := range src.Files {
		codes[f.Name] = f.Code
		mode := parser.SkipObjectResolution
		if hasEmbed(f.Code) {
			mode |= parser.ParseComments
		}
		file, err := parser.ParseFile(ev.fset, f.Name, linkNames(f.Code), mode)
		if list, ok := err.(scanner.ErrorList); ok {
			mistakes = append(mistakes, syntaxErrors(parseErrors(list, f.Name, f.Code))...)
			continue
		}
		files = append(files, file)
	}
	info := newInfo()
	pkg := types.NewPackage(src.Path, path.Base(src.Path))
	if len(files) > 0 {
		pkg = types.NewPackage(src.Path, files[0].Name.Name)
	}
	declsOnly := withoutBodies(files)
	conf := ev.sourceConfig(&mistakes)
	types.NewChecker(conf, ev.fset, pkg, info).Files(declsOnly)
	switch {
	case mistakes != nil && src.Cgo:
		return nil, answer.NewError("ImportError", "package "+src.Path+" uses cgo, which cells cannot run")
	case mistakes != nil:
		return nil, programError(codes, mistakes)
	}
	ev.noteAlarms(info)
	m := &sourcePackage{pkg: pkg, dir: src.Dir, bodies: make(map[*types.Func]*body)}
	inits := m.declare(files, declsOnly, info)
	embeds, err := embedded(info, files, ev.fset, src.Dir)
	if err != nil {
		return nil, importError(src.Path, err)
	}
	ev.importer.addModule(m)
	ev.lower.Begin(src.Path, false)
	entry, err := ev.compileOutput(func() lower.Output { return ev.lowerPackage(src.Path, pkg, info, inits, nil, embeds) })
	if err != nil {
		ev.lower.Abandon()
		ev.importer.restore(map[string]*sourcePackage{src.Path: nil})
		return nil, importError(src.Path, err)
	}
	return entry, nil
}

func importError(path string, err error) *Error {
	return answer.NewError("ImportError", fmt.Sprintf("package %s cannot be interpreted: %v", path, err))
}

// sourceConfig checks source that is not the user's to fix: what is only
// superfluous is let through, and so are functions without a body.
func (ev *machine) sourceConfig(mistakes *[]mistake) *types.Config {
	return &types.Config{Importer: ev.importer, GoVersion: "go1.26", Sizes: sizes, FakeImportC: true, Error: func(err error) {
		te := err.(types.Error)
		if !te.Soft && !strings.HasPrefix(te.Msg, "missing function body") {
			*mistakes = append(*mistakes, typeMistake(te))
		}
	}}
}

// withoutBodies returns files whose functions have no bodies, but for those
// that the initialization of variables may come to: the checker finds by them
// in which order variables are initialized.
func withoutBodies(files []*ast.File) []*ast.File {
	funcs := make(map[string][]*ast.FuncDecl) // methods too
	var names []string
	note := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				names = append(names, id.Name)
			}
			return true
		})
	}
	for _, file := range files {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				funcs[d.Name.Name] = append(funcs[d.Name.Name], d)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR {
						for _, x := range v.Values {
							note(x)
						}
					}
				}
			}
		}
	}
	keep := make(map[*ast.FuncDecl]bool)
	for len(names) > 0 {
		name := names[len(names)-1]
		names = names[:len(names)-1]
		for _, d := range funcs[name] {
			if d.Body != nil {
				keep[d] = true
				note(d.Body)
			}
		}
		delete(funcs, name)
	}
	out := make([]*ast.File, len(files))
	for i, file := range files {
		cp := *file
		cp.Decls = make([]ast.Decl, len(file.Decls))
		for j, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && !keep[f] {
				bare := *f
				bare.Body = nil
				d = &bare
			}
			cp.Decls[j] = d
		}
		out[i] = &cp
	}
	return out
}

// declare makes the functions of a package known and returns its init
// functions. checked are the files that the checker saw.
func (m *sourcePackage) declare(files, checked []*ast.File, info *types.Info) (inits []*types.Func) {
	for i, file := range files {
		for j, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			seen := checked[i].Decls[j].(*ast.FuncDecl)
			fun, ok := info.Defs[seen.Name].(*types.Func)
			if !ok {
				continue
			}
			b := &body{decl: f, file: file}
			if seen.Body != nil {
				b.info = info
			}
			m.bodies[fun] = b
			if f.Recv == nil && f.Name.Name == "init" {
				inits = append(inits, fun)
			}
		}
	}
	return inits
}

// sourceDecl returns a function of a package that is there as source, for
// lowering, or nil if it is none. It panics if the body does not pass the
// checker.
func (ev *machine) sourceDecl(fun *types.Func) *lower.Decl {
	m := ev.importer.moduleOf(fun.Pkg())
	if m == nil {
		return ev.importer.decl(fun)
	}
	b := m.bodies[fun]
	if b == nil {
		return nil
	}
	if b.made == nil {
		b.made = ev.checkBody(m, fun, b)
	}
	return b.made
}

// fileOf names the file of a function as traces do.
func (ev *machine) fileOf(m *sourcePackage, b *body) string {
	return path.Join(m.pkg.Path(), filepath.Base(ev.fset.Position(b.decl.Pos()).Filename))
}

func (ev *machine) checkBody(m *sourcePackage, fun *types.Func, b *body) *lower.Decl {
	if b.info != nil {
		return &lower.Decl{Func: b.decl, Info: b.info, Cell: ev.fileOf(m, b)}
	}
	decl := *b.decl
	if decl.Body == nil {
		decl.Body = notGo(b.decl, fun)
	}
	decl.Name = &ast.Ident{NamePos: b.decl.Name.Pos(), Name: "_"}
	file := *b.file
	file.Decls = nil
	for _, d := range b.file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			file.Decls = append(file.Decls, g)
		}
	}
	file.Decls = append(file.Decls, &decl)
	info := newInfo()
	var mistakes []mistake
	types.NewChecker(ev.sourceConfig(&mistakes), ev.fset, m.pkg, info).Files([]*ast.File{&file})
	if mistakes != nil {
		first := mistakes[0]
		panic(fmt.Errorf("%s:%d:%d: %s", first.file, first.line, first.column, first.text))
	}
	sig := info.Defs[decl.Name].(*types.Func).Signature()
	params := sig.TypeParams()
	if p := sig.RecvTypeParams(); p.Len() > 0 {
		params = p
	}
	ev.noteAlarms(info)
	made := &lower.Decl{Func: &decl, Info: info, Cell: ev.fileOf(m, b), Sig: sig}
	if params.Len() > 0 {
		made.TypeParams = params
	}
	return made
}

// notGo is the body of a function that has none: calls of it panic.
func notGo(decl *ast.FuncDecl, fun *types.Func) *ast.BlockStmt {
	at := decl.Name.Pos()
	text := fmt.Sprintf("%s is written in assembly or linked by name, which cells cannot run", fun.FullName())
	call := &ast.CallExpr{
		Fun: &ast.Ident{NamePos: at, Name: "panic"}, Lparen: at, Rparen: at,
		Args: []ast.Expr{&ast.BasicLit{ValuePos: at, Kind: token.STRING, Value: fmt.Sprintf("%q", text)}},
	}
	return &ast.BlockStmt{Lbrace: at, List: []ast.Stmt{&ast.ExprStmt{X: call}}, Rbrace: at}
}

// lowerLater lowers a method of a module for the code that is about to call it.
func (ev *machine) lowerLater(id int) {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	if !ev.lower.IsLater(id) {
		return
	}
	ev.lower.Begin("module", ev.program)
	entry, err := ev.compileOutput(func() lower.Output { return ev.lower.LowerLater(id) })
	if err != nil {
		ev.lower.Abandon()
		panic(err)
	}
	(*entry)()
}

// lowerPackage writes the initialization of a package and the call of main, if
// it is a program's. Functions are lowered when something calls them.
func (ev *machine) lowerPackage(name string, pkg *types.Package, info *types.Info, inits []*types.Func, main *types.Func, embeds map[*types.Var]any) lower.Output {
	for _, n := range pkg.Scope().Names() {
		if v, ok := pkg.Scope().Lookup(n).(*types.Var); ok {
			ev.lower.Global(v)
			if value, ok := embeds[v]; ok {
				ev.lower.Take(v, ev.rt.Put(value))
			}
		}
	}
	return ev.lower.Finish(ev.lower.Program(info, name, inits, main))
}

// declareFuncs makes the functions of a file known and returns its init functions.
func (ev *tiers) declareFuncs(file *ast.File, info *types.Info, cell string, made *compiledCell) (inits []*types.Func) {
	for _, d := range file.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Body == nil {
			continue
		}
		fun, ok := info.Defs[fd.Name].(*types.Func)
		if !ok {
			continue
		}
		ev.lower.Declare(fun, &lower.Decl{Func: fd, Info: info, Cell: cell, Redirect: made.isNative(fun) || ev.mayGetHot(fun, gokernel.HostSource{Decl: fd, Info: info})})
		if fd.Recv == nil && fd.Name.Name == "init" {
			inits = append(inits, fun)
		}
	}
	return inits
}

// compiled says whether a package is compiled into this program.
func (im *importer) compiled(p string) bool {
	return im.host.PackageName(p) != "" || p == "unsafe"
}

// has says whether a package can be imported as it is.
func (im *importer) has(p string) bool { return im.compiled(p) || im.module(p) != nil }

func (im *importer) addModule(m *sourcePackage) {
	im.mu.Lock()
	defer im.mu.Unlock()
	im.modules[m.pkg.Path()] = m
	im.loaded[m.pkg] = m
}

// unload takes out packages and those that import them, and returns them.
func (im *importer) unload(paths map[string]bool) map[string]*sourcePackage {
	im.mu.Lock()
	defer im.mu.Unlock()
	old := make(map[string]*sourcePackage)
	for more := true; more; {
		more = false
		for p, m := range im.modules {
			uses := func(q *types.Package) bool { return old[q.Path()] != nil }
			if old[p] == nil && (paths[p] || slices.ContainsFunc(m.pkg.Imports(), uses)) {
				old[p] = m
				more = true
			}
		}
	}
	for p := range old {
		delete(im.modules, p)
	}
	return old
}

// restore puts packages back; nil: there is none of the path.
func (im *importer) restore(old map[string]*sourcePackage) {
	im.mu.Lock()
	defer im.mu.Unlock()
	for p, m := range old {
		if m == nil {
			delete(im.modules, p)
		} else {
			im.modules[p] = m
		}
	}
}

// forgetModules is for an interpreter that starts afresh.
func (im *importer) forgetModules() {
	im.mu.Lock()
	defer im.mu.Unlock()
	im.modules = make(map[string]*sourcePackage)
	im.loaded = make(map[*types.Package]*sourcePackage)
}

// module returns a loaded source package, or nil.
func (im *importer) module(p string) *sourcePackage {
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.modules[p]
}

// moduleOf returns the source package, which may have been loaded again since,
// that an object belongs to, or nil.
func (im *importer) moduleOf(p *types.Package) *sourcePackage {
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.loaded[p]
}
