package golang

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"math"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// checked is a cell that go/types accepted.
type checked struct {
	info    *types.Info
	pkg     *types.Package
	stmts   []ast.Stmt // in order; declarations of variables are among them
	show    ast.Expr
	several bool // show is a slice of what is to be shown
	funcs   []*ast.FuncDecl
	methods []laterMethod
	imports []*types.PkgName
	dots    []string // the packages of dot imports, by their paths
	reused  []*ast.TypeSpec
	embeds  map[*types.Var]any // what go:embed gives variables
	musts   map[*ast.CallExpr]int
	unused  []*ast.Ident // variables inside of functions
	program bool
}

// laterMethod is a method of a type that an earlier cell declared. The
// checker sees it as a function whose first parameter is the receiver.
type laterMethod struct {
	decl   *ast.FuncDecl
	params *ast.FieldList // the type parameters of the function; nil: none
	fun    *types.Func    // the method
	old    *types.Func    // what it replaces, or nil
}

// oldMark follows a name that means what an earlier cell declared.
const oldMark = "ᐧold"

// checker checks one cell against the session.
type checker struct {
	ev       *namespace
	src      *redefinition
	pkg      *types.Package
	info     *types.Info
	declared map[string]token.Pos // at the outer level of this cell
	mistakes []mistake
	out      *checked
	proxies  map[types.Object]types.Object
	again    []*ast.Ident // on the left of :=, where an earlier statement of the cell declared them
	musts    []*ast.CallExpr
	values   []int       // how many values each call of must gives
	last     ast.Expr    // the cell's last statement, if it is an expression
	unused   []token.Pos // variables inside of functions
	settled  bool        // what else the checker of go/types says follows from the last mistake
}

func (c *checker) fail(pos token.Pos, format string, args ...any) {
	p := c.ev.fset.Position(pos)
	c.mistakes = append(c.mistakes, mistake{p.Filename, p.Line, p.Column, fmt.Sprintf(format, args...), pos})
}

// checked checks the cell once. Nothing of the session changes.
func (r *redefinition) checked() (*checked, []mistake) {
	var values []int
	for range maxMust {
		r.ev.dropProvisional()
		r.refresh()
		c := &checker{
			ev: r.ev, src: r, declared: make(map[string]token.Pos), values: values,
			out: &checked{program: r.program}, proxies: make(map[types.Object]types.Object),
		}
		out, mistakes := c.run()
		if len(c.musts) == 0 {
			return out, mistakes
		}
		var more bool
		if values, more = c.countMusts(values); !more {
			if out != nil {
				out.musts = make(map[*ast.CallExpr]int, len(values))
				for i, n := range values {
					out.musts[c.musts[i]] = n
				}
			}
			return out, mistakes
		}
	}
	return nil, []mistake{{file: r.name, line: 1, column: 1, text: "calls of must are nested too deeply"}}
}

func newInfo() *types.Info {
	return &types.Info{
		Types: make(map[ast.Expr]types.TypeAndValue), Defs: make(map[*ast.Ident]types.Object),
		Uses: make(map[*ast.Ident]types.Object), Implicits: make(map[ast.Node]types.Object),
		Selections: make(map[*ast.SelectorExpr]*types.Selection), Scopes: make(map[ast.Node]*types.Scope),
		Instances: make(map[*ast.Ident]types.Instance),
	}
}

// infoOf is what is known of a declaration alone, which is kept for longer than the rest of
// its cell.
func infoOf(d *ast.FuncDecl, cell *types.Info) *types.Info {
	info := newInfo()
	ast.Inspect(d, func(n ast.Node) bool {
		if n == nil {
			return true
		}
		copyEntry(info.Implicits, cell.Implicits, n)
		copyEntry(info.Scopes, cell.Scopes, n)
		if x, ok := n.(ast.Expr); ok {
			copyEntry(info.Types, cell.Types, x)
		}
		switch n := n.(type) {
		case *ast.Ident:
			copyEntry(info.Defs, cell.Defs, n)
			copyEntry(info.Uses, cell.Uses, n)
			copyEntry(info.Instances, cell.Instances, n)
		case *ast.SelectorExpr:
			copyEntry(info.Selections, cell.Selections, n)
		}
		return true
	})
	return info
}

func copyEntry[K comparable, V any](to, from map[K]V, key K) {
	if v, ok := from[key]; ok {
		to[key] = v
	}
}

func (c *checker) run() (*checked, []mistake) {
	ev := c.ev
	c.pkg = types.NewPackage("main", "main")
	c.info = newInfo()
	file := c.src.file
	var decls []ast.Decl
	for _, d := range c.src.imports {
		decls = append(decls, d)
	}
	body := &ast.BlockStmt{}
	if c.src.program {
		for _, s := range c.src.steps {
			decls = append(decls, s.(ast.Decl))
			if f, ok := s.(*ast.FuncDecl); ok && c.hasBody(f) {
				c.out.funcs = append(c.out.funcs, f)
			}
		}
		c.declare()
	} else {
		c.declare()
		c.nameMusts(c.values)
		decls = append(decls, c.hoist(body)...)
	}
	if !c.src.program {
		c.bindOld()
	}
	names := c.freeNames(file, decls, body)
	c.insert(names)
	if len(c.mistakes) > 0 {
		return nil, c.mistakes
	}
	wrapper := &ast.FuncDecl{Name: ast.NewIdent("_"), Type: &ast.FuncType{Func: file.Package, Params: &ast.FieldList{}}, Body: body}
	file.Decls = append(decls, wrapper)
	if c.src.program {
		file.Decls = decls
	}
	file.Name = ast.NewIdent("main")
	file.Name.NamePos = file.Package
	conf := types.Config{
		Importer: ev.importer, GoVersion: "go1.26", Sizes: c.laterMethods(),
		Error: func(err error) { c.typeError(err.(types.Error)) },
	}
	types.NewChecker(&conf, ev.fset, c.pkg, c.info).Files([]*ast.File{file})
	if len(c.mistakes) > 0 {
		sort.SliceStable(c.mistakes, func(i, j int) bool {
			a, b := c.mistakes[i], c.mistakes[j]
			return a.line < b.line || a.line == b.line && a.column < b.column
		})
		return nil, c.withoutMusts(c.mistakes)
	}
	if e := c.out.show; e != nil && !c.fits(e) {
		return nil, c.mistakes
	}
	if c.tooLarge(); len(c.mistakes) > 0 {
		return nil, c.mistakes
	}
	c.finish()
	return c.out, nil
}

var sizes = types.SizesFor("gc", "amd64")

// declare notes what the cell declares at its outer level.
func (c *checker) declare() {
	for _, s := range c.src.steps {
		switch d := s.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					c.declared[spec.Name.Name] = spec.Name.Pos()
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						c.declared[id.Name] = id.Pos()
					}
				}
			}
		case *ast.FuncDecl:
			if d.Recv == nil {
				c.declared[d.Name.Name] = d.Name.Pos()
			}
		case *ast.DeclStmt:
		case *ast.AssignStmt:
			if d.Tok == token.DEFINE {
				for _, x := range d.Lhs {
					if id, ok := x.(*ast.Ident); ok {
						if _, had := c.declared[id.Name]; !had {
							c.declared[id.Name] = id.Pos()
						}
					}
				}
			}
		}
	}
}

// hoist makes package declarations of what the cell declares at its outer
// level; statements go to body, and, with the variables' declarations in
// their places, to out.stmts.
func (c *checker) hoist(body *ast.BlockStmt) []ast.Decl {
	var decls []ast.Decl
	defined := make(map[string]bool)
	fresh := make(map[*ast.GenDecl]*ast.GenDecl) // methods may come before their types
	for _, s := range c.src.steps {
		if d, ok := s.(*ast.GenDecl); ok && d.Tok == token.TYPE {
			fresh[d] = c.withoutReused(d)
		}
	}
	for i, s := range c.src.steps {
		switch s := s.(type) {
		case *ast.GenDecl:
			if s.Tok == token.TYPE {
				if s = fresh[s]; len(s.Specs) == 0 {
					continue
				}
				for _, spec := range s.Specs {
					c.setApart(spec.(*ast.TypeSpec))
				}
			}
			decls = append(decls, s)
			if s.Tok == token.VAR {
				c.out.stmts = append(c.out.stmts, &ast.DeclStmt{Decl: s})
				for _, spec := range s.Specs {
					for _, id := range spec.(*ast.ValueSpec).Names {
						defined[id.Name] = true
					}
				}
			}
		case *ast.FuncDecl:
			if !c.hasBody(s) {
				continue
			}
			if s.Recv != nil && c.isLater(s) {
				m := laterMethod{decl: s}
				if _, generic := receiverBase(s); generic {
					if m.params = c.typeParams(s); m.params == nil {
						continue
					}
				}
				c.out.methods = append(c.out.methods, m)
				continue
			}
			if s.Recv != nil && c.hasNoLater(s) {
				continue
			}
			decls = append(decls, s)
			c.out.funcs = append(c.out.funcs, s)
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				body.List = append(body.List, s)
				c.out.stmts = append(c.out.stmts, s)
				continue
			}
			d := c.define(s, defined)
			if d == nil {
				continue
			}
			decls = append(decls, d)
		case *ast.ExprStmt:
			if i == len(c.src.steps)-1 && c.src.shows {
				c.out.show, c.out.several, c.last = s.X, c.src.several, s.X
				body.List = append(body.List, s)
				continue
			}
			if i == len(c.src.steps)-1 {
				c.last = s.X
			}
			body.List = append(body.List, s)
			c.out.stmts = append(c.out.stmts, s)
		case ast.Stmt:
			body.List = append(body.List, s)
			c.out.stmts = append(c.out.stmts, s)
		}
	}
	return decls
}

// hasBody reports a function without one, which could only be in assembly.
func (c *checker) hasBody(d *ast.FuncDecl) bool {
	if d.Body == nil {
		c.fail(d.Name.Pos(), "missing function body")
	}
	return d.Body != nil
}

// define makes the declaration that stands for a := at the outer level.
func (c *checker) define(s *ast.AssignStmt, defined map[string]bool) *ast.GenDecl {
	spec := &ast.ValueSpec{Values: s.Rhs}
	fresh := false
	again := false
	for _, x := range s.Lhs {
		id, ok := x.(*ast.Ident)
		if !ok {
			c.fail(x.Pos(), "non-name %s on left side of :=", exprText(x))
			return nil
		}
		switch {
		case id.Name == "_":
			spec.Names = append(spec.Names, id)
		case defined[id.Name]:
			spec.Names = append(spec.Names, &ast.Ident{NamePos: id.NamePos, Name: "_"})
			c.again = append(c.again, id)
			again = true
		default:
			defined[id.Name] = true
			fresh = true
			spec.Names = append(spec.Names, id)
		}
	}
	if !fresh {
		c.fail(s.TokPos, "no new variables on left side of :=")
		return nil
	}
	d := &ast.GenDecl{TokPos: s.Pos(), Tok: token.VAR, Specs: []ast.Spec{spec}}
	if again { // the statement itself is lowered
		c.out.stmts = append(c.out.stmts, s)
		return d
	}
	c.out.stmts = append(c.out.stmts, &ast.DeclStmt{Decl: d})
	return d
}

func exprText(e ast.Expr) string {
	var b bytes.Buffer
	printer.Fprint(&b, token.NewFileSet(), e)
	return b.String()
}

// typeError keeps an error of the checker, unless notebooks allow it.
func (c *checker) typeError(err types.Error) {
	msg := err.Msg
	if c.settled {
		return
	}
	if err.Soft && (strings.HasPrefix(msg, "declared and not used") || strings.HasSuffix(msg, " declared and not used")) { // the latter in a type switch
		c.unused = append(c.unused, err.Pos)
		return
	}
	if err.Soft && (strings.HasSuffix(msg, "imported and not used") || strings.Contains(msg, "imported as ") && strings.HasSuffix(msg, "and not used")) {
		return
	}
	if strings.HasPrefix(msg, "label ") && strings.HasSuffix(msg, "declared and not used") {
		return
	}
	if c.last != nil && strings.HasSuffix(msg, "is not used") && c.last.Pos() <= err.Pos && err.Pos <= c.last.End() {
		return
	}
	if m := implicit.FindStringSubmatch(msg); m != nil && (m[2] != "" || c.isCellField(m[3], m[1])) {
		return // the type is of another cell, which go/types takes for another package
	}
	if msg == "undefined: "+mustName+"ᐧ" {
		msg, err.Msg = notMust, notMust
	}
	m := typeMistake(err)
	if text := c.mismatch(err); text != "" {
		m.text = text
	}
	if strings.Contains(m.text, "other declaration of") {
		return
	}
	m.text = strings.ReplaceAll(m.text, oldMark, "")
	m.text = inGoWords(mustMark.ReplaceAllString(m.text, mustName))
	if !c.src.program {
		m.text = ownPackage.ReplaceAllString(m.text, "$1")
	}
	if p := packageAlone.FindStringSubmatch(m.text); p != nil && !c.imports(p[1]+p[2]) {
		m.text = "undefined: " + p[1] + p[2] // no import says that it is one
	}
	if again := sameName.FindStringSubmatch(m.text); again != nil && again[1] == again[2] {
		what := "makes the value"
		if again[3] == "assignment" {
			what += " or declares the variable"
		}
		m.text += fmt.Sprintf(" (%s was declared again since: run the cell that %s once more)", c.renewed(again[1]), what)
	}
	if rest, ok := strings.CutPrefix(m.text, "\t"); ok && len(c.mistakes) > 0 { // more about the last one
		last := &c.mistakes[len(c.mistakes)-1]
		last.text += fmt.Sprintf("\n\t%s at %s:%d:%d", rest, m.file, m.line, m.column)
		return
	}
	if name, ok := strings.CutPrefix(m.text, "undefined: "); ok && c.ev.waits(name) != "" {
		m.text += c.ev.waits(name)
		c.mistakes = append(c.mistakes, m)
		return
	}
	m.text += c.stale(m.text)
	m.text += c.suggest(m, err.Pos)
	c.mistakes = append(c.mistakes, m)
}

// mismatch is what the go command says of x := f() where f gives several
// values; go/types takes it for a package's variable.
func (c *checker) mismatch(err types.Error) string {
	rest, ok := strings.CutPrefix(err.Msg, "multiple-value ")
	if !ok {
		return c.defined(err)
	}
	for _, s := range c.src.steps {
		a, ok := s.(*ast.AssignStmt)
		if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 || a.Rhs[0].Pos() != err.Pos {
			continue
		}
		call, isCall := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		_, list, found := strings.Cut(rest, "(value of type (")
		if !isCall || !found {
			continue
		}
		if tuple, err := parser.ParseExpr("func(" + strings.TrimSuffix(list, ") in single-value context")); err == nil {
			if f, ok := tuple.(*ast.FuncType); ok {
				return fmt.Sprintf("assignment mismatch: 1 variable but %s returns %d values", exprText(call.Fun), f.Params.NumFields())
			}
		}
	}
	return ""
}

// defined is what the go command says of a := at a cell's outer level that go/types
// takes for a declaration of variables.
func (c *checker) defined(err types.Error) string {
	for _, s := range c.src.steps {
		a, ok := s.(*ast.AssignStmt)
		if !ok || a.Tok != token.DEFINE || err.Pos < a.Pos() || err.Pos >= a.End() {
			continue
		}
		switch {
		case strings.HasPrefix(err.Msg, "extra init expr "):
			return fmt.Sprintf("assignment mismatch: %d variable%s but %d values", len(a.Lhs), strings.Repeat("s", min(len(a.Lhs)-1, 1)), len(a.Rhs))
		case strings.HasSuffix(err.Msg, " in variable declaration"):
			return strings.TrimSuffix(err.Msg, "variable declaration") + "assignment"
		}
	}
	return ""
}

// withoutMusts drops what is said of calls of must in which there is another
// mistake, or whose value has no type because of one before.
func (c *checker) withoutMusts(list []mistake) []mistake {
	if !slices.ContainsFunc(list, func(m mistake) bool { return m.text != notMust }) {
		return list
	}
	untyped := func(call *ast.CallExpr) bool {
		return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
			t := c.info.TypeOf(arg)
			return t == nil || t == types.Typ[types.Invalid]
		})
	}
	within := func(m mistake, call *ast.CallExpr) bool {
		from, to := c.ev.fset.Position(call.Pos()), c.ev.fset.Position(call.End())
		return m.file == from.Filename && (m.line > from.Line || m.line == from.Line && m.column > from.Column) &&
			(m.line < to.Line || m.line == to.Line && m.column < to.Column)
	}
	return slices.DeleteFunc(list, func(m mistake) bool {
		if m.text != notMust {
			return false
		}
		for _, call := range c.musts {
			p := c.ev.fset.Position(call.Pos())
			if p.Line == m.line && p.Column == m.column && (untyped(call) || slices.ContainsFunc(list, func(o mistake) bool { return within(o, call) })) {
				return true
			}
		}
		return false
	})
}

const notMust = "must takes a call whose last result is an error"

// stale says which type in a mismatch was declared with another that was
// declared again since.
func (c *checker) stale(text string) string {
	if !strings.HasPrefix(text, "cannot use ") && !strings.Contains(text, "mismatched types") {
		return ""
	}
	for _, name := range identifier.FindAllString(text, -1) {
		t, ok := c.ev.typeText[name]
		if _, here := c.declared[name]; !ok || here {
			if slices.ContainsFunc(c.src.followers, func(f follower) bool { return f.isType && f.name == name }) {
				return fmt.Sprintf(" (%s was declared again with this cell: run the cell that makes the value once more)", name)
			}
			continue
		}
		for used, was := range t.uses {
			if _, here := c.declared[used]; here || c.ev.names[used] != was {
				return fmt.Sprintf(" (%s has the %s that was declared before: run its cell again)", name, used)
			}
		}
	}
	return ""
}

var identifier = regexp.MustCompile(`[\pL_][\pL_\d]*`)

var implicit = regexp.MustCompile(`^implicit assignment to unexported field (\S+) in struct literal of type (main\.)?([\pL_][\pL_\d]*)`)

// isCellField says whether a struct that the cell declares has its field from
// a cell, its own or an earlier one.
func (c *checker) isCellField(typ, field string) bool {
	o, ok := c.pkg.Scope().Lookup(typ).(*types.TypeName)
	if !ok {
		return false
	}
	s, ok := o.Type().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if f.Name() == field {
			return f.Pkg() != nil && f.Pkg().Path() == "main"
		}
	}
	return false
}

var mustMark = regexp.MustCompile(mustName + `ᐧ\d*`)

// imports says whether a name is that of a package which a cell has imported.
func (c *checker) imports(name string) bool {
	for _, d := range c.src.imports {
		for _, s := range d.Specs {
			if spec := s.(*ast.ImportSpec); c.importedAs(spec) == name {
				return true
			}
		}
	}
	_, ok := c.ev.names[name].(*types.PkgName)
	return ok
}

// importedAs is the name that an import gives to its package.
func (c *checker) importedAs(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return c.ev.packageName(strings.Trim(spec.Path.Value, "`\""))
}

var (
	packageAlone = regexp.MustCompile(`^use of package (\S+) without selector$|^(\S+) \(package name\) is not a type$`)

	ownPackage = regexp.MustCompile(`\bmain\.([\pL_])`)
	sameName   = regexp.MustCompile(`\(\w+ of (?:\w+ )?type (.+)\) as (?:\w+ type )?(.+) value in (\w+)`)
)

// renewed are the names of cells' types in one that reads as another does.
func (c *checker) renewed(typ string) string {
	var names []string
	for _, name := range identifier.FindAllString(typ, -1) {
		if _, ok := c.ev.names[name].(*types.TypeName); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return typ
	}
	return strings.Join(names, " or ")
}

// fits reports a constant that is to be shown and that no variable could hold.
func (c *checker) fits(e ast.Expr) bool {
	tv := c.info.Types[e]
	if tv.Value == nil {
		return true
	}
	b, ok := tv.Type.(*types.Basic)
	if !ok || b.Info()&types.IsUntyped == 0 {
		return true
	}
	kind, into := b.Name(), types.Default(b).String()
	switch into {
	case "int", "rune":
		_, ok = constant.Int64Val(constant.ToInt(tv.Value))
	case "float64":
		f, _ := constant.Float64Val(tv.Value)
		ok = !math.IsInf(f, 0)
	}
	if !ok {
		text := exprText(e)
		if _, literal := ast.Unparen(e).(*ast.BasicLit); !literal || into == "int" {
			text += " (" + kind + " constant " + tv.Value.ExactString() + ")"
		} else {
			text += " (" + kind + " constant)"
		}
		c.fail(e.Pos(), "cannot use %s as %s value (overflows)", text, into)
	}
	return ok
}

// maxSize is more bytes than a process can address.
const maxSize = 1 << 47

// tooLarge reports variables that no process can have: the interpreter would end
// its own.
func (c *checker) tooLarge() {
	for id, o := range c.info.Defs {
		v, ok := o.(*types.Var)
		if !ok || v.IsField() {
			continue
		}
		if arraySize(v.Type()) >= maxSize {
			c.fail(id.Pos(), "type %s larger than address space", types.TypeString(v.Type(), cellQualifier))
		}
	}
}

// arraySize is at most how many bytes a value takes for its arrays' sake.
func arraySize(t types.Type) float64 {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if t.Info()&types.IsUntyped == 0 && t.Kind() != types.Invalid {
			return float64(sizes.Sizeof(t))
		}
	case *types.Named:
		return arraySize(t.Underlying())
	case *types.Array:
		return float64(t.Len()) * arraySize(t.Elem())
	case *types.Struct:
		n := 0.0
		for f := range t.Fields() {
			n += arraySize(f.Type())
		}
		return n
	case *types.TypeParam:
		return 0
	}
	return 8
}

// finish collects what the check found.
func (c *checker) finish() {
	c.out.info, c.out.pkg = c.info, c.pkg
	for id := range c.info.Defs {
		if slices.Contains(c.unused, id.Pos()) {
			c.out.unused = append(c.out.unused, id)
		}
	}
	for id, o := range c.info.Uses {
		if real, ok := c.proxies[o]; ok {
			c.info.Uses[id] = real
		}
	}
	for _, id := range c.again {
		c.info.Uses[id] = c.pkg.Scope().Lookup(id.Name)
	}
	c.out.stmts = c.inOrder(c.out.stmts)
	for _, d := range c.src.imports {
		for _, s := range d.Specs {
			spec := s.(*ast.ImportSpec)
			var o types.Object
			if spec.Name != nil {
				o = c.info.Defs[spec.Name]
			} else {
				o = c.info.Implicits[spec]
			}
			p, ok := o.(*types.PkgName)
			switch {
			case spec.Name != nil && spec.Name.Name == ".":
				c.out.dots = append(c.out.dots, strings.Trim(spec.Path.Value, "`\""))
			case ok && p.Name() != "_":
				c.out.imports = append(c.out.imports, p)
			}
		}
	}
}

// inOrder puts variables that are declared one after another with var into the
// order in which Go initializes those of a package: what one depends on first.
func (c *checker) inOrder(stmts []ast.Stmt) []ast.Stmt {
	rank := make(map[types.Object]int)
	for i, in := range c.info.InitOrder {
		for _, v := range in.Lhs {
			rank[v] = i + 1
		}
	}
	after := func(a, b *ast.ValueSpec) int {
		last := func(s *ast.ValueSpec) (n int) {
			for _, id := range s.Names {
				n = max(n, rank[c.info.Defs[id]])
			}
			return n
		}
		return last(a) - last(b)
	}
	var out []ast.Stmt
	var run []*ast.ValueSpec
	flush := func() {
		slices.SortStableFunc(run, after)
		for _, spec := range run {
			out = append(out, &ast.DeclStmt{Decl: &ast.GenDecl{TokPos: spec.Pos(), Tok: token.VAR, Specs: []ast.Spec{spec}}})
		}
		run = nil
	}
	for _, s := range stmts {
		if d, ok := s.(*ast.DeclStmt); ok && slices.Contains(c.src.steps, ast.Node(d.Decl)) {
			for _, spec := range d.Decl.(*ast.GenDecl).Specs {
				run = append(run, eachAlone(spec.(*ast.ValueSpec))...)
			}
			continue
		}
		flush()
		out = append(out, s)
	}
	flush()
	return out
}

// eachAlone parts var a, b = x, y into var a = x and var b = y, as Go initializes
// them.
func eachAlone(spec *ast.ValueSpec) []*ast.ValueSpec {
	if len(spec.Values) != len(spec.Names) {
		return []*ast.ValueSpec{spec}
	}
	list := make([]*ast.ValueSpec, len(spec.Names))
	for i, name := range spec.Names {
		list[i] = &ast.ValueSpec{Names: []*ast.Ident{name}, Type: spec.Type, Values: spec.Values[i : i+1]}
	}
	return list
}

// packageName is the name that an import without one has.
func (ev *namespace) packageName(p string) string {
	if pkg, err := ev.importer.Import(p); err == nil {
		return pkg.Name()
	}
	return path.Base(p)
}
