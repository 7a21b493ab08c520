package export

import (
	"cmp"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"gocuda/kernel/golang"
	"gocuda/kernel/magic"
)

// part is a package of the program.
type part struct {
	x       *exporter
	name    string
	ev      *golang.Evaluator
	sources *magic.Sources
	cells   []*cell
	codes   map[string]*cell // by name, for text of earlier cells

	things  map[types.Object]*thing
	order   []*thing
	used    map[string]bool       // names of the package
	imports map[importSpec]string // with the packages' own names
	musts   map[int]string        // the functions for calls of must, by how many values they give
	judging map[string]string     // those for check, judge and todo
	copied  map[string]bool       // variables of ranks that Push and Pull name
	listed  bool                  // it shows several values together
}

// importSpec is an import: of Name "", by the package's own name.
type importSpec struct{ path, name string }

// thing is what a name of a cell stands for in the program: a variable that several
// cells declare with one type is one thing.
type thing struct {
	name                string // in the program
	first               types.Object
	cells               []int // indices of those that declare it, in order
	decls               []ast.Node
	shared              bool // of a variable: it is the package's
	plain               bool // its declaration stands in the package as the cell has it
	read                bool
	inFunc              map[int]bool // functions of these cells use it
	elsewhere, captured bool

	variable bool // of a function: cells declare it in other words, and functions of cells before call it
}

func newPart(x *exporter, ev *golang.Evaluator) *part {
	return &part{
		x: x, name: "main", ev: ev, sources: magic.NewSources(), codes: make(map[string]*cell),
		things: make(map[types.Object]*thing), used: make(map[string]bool), imports: make(map[importSpec]string),
		musts: make(map[int]string), judging: make(map[string]string), copied: make(map[string]bool),
	}
}

// start declares what every rank has.
func (p *part) start() {
	c := &cell{name: "start", code: "world := mpi.World()\nrank, size := world.Rank(), world.Size()"}
	typed, e := p.ev.Check(c.name, c.code)
	if e != nil {
		panic(e) // the text above is a cell
	}
	c.typed = typed
	p.cells = append(p.cells, c)
}

// resolve finds out what the names of the cells stand for, and names that.
func (p *part) resolve() {
	for _, c := range p.cells {
		p.codes[c.name] = c
	}
	session := make(map[string]*thing)
	for i, c := range p.cells {
		for _, n := range slices.Concat(nodes(c.typed.Followers), c.typed.Steps) {
			p.declare(i, c, n, session)
		}
	}
	p.findUses()
	p.splitFunctions()
	p.share()
	p.nameAll()
}

func nodes[N ast.Node](list []N) []ast.Node {
	out := make([]ast.Node, len(list))
	for i, n := range list {
		out[i] = n
	}
	return out
}

// declare notes what a step declares at the cell's outer level.
func (p *part) declare(i int, c *cell, n ast.Node, session map[string]*thing) {
	add := func(id *ast.Ident) {
		o := c.typed.Info.Defs[id]
		if o == nil || id.Name == "_" || o.Parent() != c.typed.Pkg.Scope() {
			if d, ok := n.(*ast.FuncDecl); !ok || o == nil || d.Recv != nil || d.Name != id || id.Name == "_" {
				return
			}
		}
		t := session[o.Name()]
		if t == nil || !same(t.first, o) {
			t = &thing{first: o, inFunc: make(map[int]bool)}
			p.order = append(p.order, t)
		}
		p.things[o] = t
		t.cells, t.decls = append(t.cells, i), append(t.decls, n)
		if name := o.Name(); name != "init" && name != "main" {
			session[name] = t
		}
	}
	switch n := n.(type) {
	case *ast.GenDecl:
		for _, s := range n.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				add(s.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					add(id)
				}
			}
		}
	case *ast.FuncDecl:
		if n.Recv == nil {
			add(n.Name)
		}
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
				add(id)
			}
		}
	}
}

// same says whether what a cell declares again is what was there before: a variable
// of that type, an equal constant, a function of that signature.
func same(old, now types.Object) bool {
	if !types.Identical(old.Type(), now.Type()) {
		return false
	}
	switch old := old.(type) {
	case *types.Var:
		_, ok := now.(*types.Var)
		return ok
	case *types.Const:
		c, ok := now.(*types.Const)
		return ok && constant.Compare(old.Val(), token.EQL, c.Val())
	case *types.Func:
		_, ok := now.(*types.Func)
		return ok && old.Name() != "init" && old.Name() != "main"
	}
	return false
}

// findUses notes who uses what.
func (p *part) findUses() {
	for i, c := range p.cells {
		for _, d := range c.typed.Imports {
			for _, s := range d.Specs {
				spec := s.(*ast.ImportSpec)
				if path, err := strconv.Unquote(spec.Path.Value); err == nil && spec.Name != nil && (spec.Name.Name == "." || spec.Name.Name == "_") {
					p.imports[importSpec{path, spec.Name.Name}] = ""
				}
			}
		}
		for _, n := range slices.Concat(nodes(c.typed.Followers), c.typed.Steps) {
			_, inFunc := n.(*ast.FuncDecl)
			written := make(map[*ast.Ident]bool)
			var visit func(n ast.Node, literal bool)
			visit = func(n ast.Node, literal bool) {
				ast.Inspect(n, func(m ast.Node) bool {
					switch m := m.(type) {
					case *ast.FuncLit:
						if ast.Node(m) != n {
							visit(m, true)
							return false
						}
					case *ast.AssignStmt:
						for _, e := range m.Lhs {
							if id, ok := e.(*ast.Ident); ok && (m.Tok == token.ASSIGN || m.Tok == token.DEFINE) {
								written[id] = true
							}
						}
					case *ast.Ident:
						p.use(i, c, m, inFunc, literal, written[m])
					}
					return true
				})
			}
			visit(n, false)
		}
	}
}

func (p *part) use(i int, c *cell, id *ast.Ident, inFunc, literal, written bool) {
	o := c.typed.Info.Uses[id]
	if pkg, ok := o.(*types.PkgName); ok {
		spec := importSpec{path: pkg.Imported().Path()}
		if pkg.Name() != pkg.Imported().Name() {
			spec.name = pkg.Name()
		}
		if spec.path != "gocuda/kernel/ranks/pushpull" {
			p.imports[spec] = pkg.Imported().Name()
		}
		return
	}
	t := p.things[o]
	if t == nil {
		return
	}
	t.read = t.read || !written
	if inFunc {
		t.inFunc[i] = true
	}
	at := slices.IndexFunc(p.cells, func(d *cell) bool { return d.typed.Pkg == o.Pkg() })
	t.elsewhere = t.elsewhere || at != i
	t.captured = t.captured || literal
}

// splitFunctions takes apart functions that cells declare again in other words.
func (p *part) splitFunctions() {
	for _, t := range slices.Clone(p.order) {
		if _, ok := t.first.(*types.Func); !ok || len(t.decls) == 1 {
			continue
		}
		for k := len(t.decls) - 1; k > 0; k-- {
			if p.textOf(t.decls[k]) == p.textOf(t.decls[k-1]) && p.meaning(t, k) == p.meaning(t, k-1) {
				t.cells, t.decls = slices.Delete(t.cells, k, k+1), slices.Delete(t.decls, k, k+1)
			}
		}
		if len(t.decls) == 1 {
			continue
		}
		t.variable = true
		for k, n := range t.decls {
			if n.(*ast.FuncDecl).Type.TypeParams != nil {
				p.x.fail(p.cells[t.cells[k]].number, 0, "declares the generic function %s again, with another body: a program can have only one", t.first.Name())
			}
		}
	}
}

// textOf is a declaration as its cell has it.
func (p *part) textOf(n ast.Node) string {
	c, from, to := p.place(n)
	return c.code[from:to]
}

// place is where a node stands: its cell, and its text's offsets in that.
func (p *part) place(n ast.Node) (c *cell, from, to int) {
	name, line, column := p.ev.Place(n.Pos())
	_, endLine, endColumn := p.ev.Place(n.End())
	c = p.codes[name]
	return c, offset(c.code, line, column), offset(c.code, endLine, endColumn)
}

func offset(code string, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		at += strings.IndexByte(code[at:], '\n') + 1
	}
	return min(at+column-1, len(code))
}

// meaning tells what the names of a function's declaration stand for.
func (p *part) meaning(t *thing, k int) string {
	var b strings.Builder
	ast.Inspect(t.decls[k], func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if used := p.things[p.cells[t.cells[k]].typed.Info.Uses[id]]; used != nil && used != t {
				b.WriteString(strconv.Itoa(slices.Index(p.order, used)) + " ")
			}
		}
		return true
	})
	return b.String()
}

// share decides which variables are the package's.
func (p *part) share() {
	for _, t := range p.order {
		if _, ok := t.first.(*types.Var); !ok {
			t.shared = true
			continue
		}
		t.shared = len(t.inFunc) > 0 || t.elsewhere || len(t.cells) > 1 && t.captured || p.copied[t.first.Name()]
	}
	for more := true; more; {
		more = false
		for _, c := range p.cells {
			for _, n := range c.typed.Steps {
				list := p.declared(c, n)
				plain := p.isPlain(c, n)
				if !plain && !slices.ContainsFunc(list, func(t *thing) bool { return t.shared }) {
					continue
				}
				for _, t := range list {
					more = more || !t.shared || plain && !t.plain
					t.shared, t.plain = true, t.plain || plain
				}
			}
		}
	}
}

// declared are the variables that a step of a cell declares.
func (p *part) declared(c *cell, n ast.Node) (list []*thing) {
	add := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok {
			o := c.typed.Info.Defs[id]
			if o == nil {
				o = c.typed.Info.Uses[id] // a := that declares others
			}
			if t := p.things[o]; t != nil {
				list = append(list, t)
			}
		}
	}
	switch n := n.(type) {
	case *ast.GenDecl:
		for _, s := range n.Specs {
			if s, ok := s.(*ast.ValueSpec); ok && n.Tok == token.VAR {
				for _, id := range s.Names {
					add(id)
				}
			}
		}
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			for _, e := range n.Lhs {
				add(e)
			}
		}
	}
	return list
}

// isPlain says whether the declaration of variables can stand in the package as it
// is: that of embedded files, and that of parameters, whose values depend on nothing.
func (p *part) isPlain(c *cell, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		if n.Tok != token.VAR {
			return false
		}
		if p.embedAbove(n) != "" {
			return true
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return false
		}
	default:
		return false
	}
	if !c.parameters {
		return false
	}
	plain := true
	ast.Inspect(n, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.CallExpr:
			plain = plain && c.typed.Info.Types[m.Fun].IsType()
		case *ast.Ident:
			_, isVar := c.typed.Info.Uses[m].(*types.Var)
			plain = plain && !isVar
		}
		return true
	})
	for _, t := range p.declared(c, n) {
		plain = plain && len(t.decls) > 0 && t.decls[0] == n
	}
	return plain
}

// embedAbove is the go:embed directive of a declaration.
func (p *part) embedAbove(n *ast.GenDecl) string {
	c, from, _ := p.place(n)
	lines := strings.Split(strings.TrimRight(c.code[:from], " \t\n"), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); strings.HasPrefix(last, "//go:embed ") {
		return last
	}
	return ""
}

// nameAll gives everything its name in the program.
func (p *part) nameAll() {
	for _, name := range []string{"main", "init", "flag", "display", "spmd", ranksPackage, "embed", "Part", "start", "show"} {
		p.used[name] = true
	}
	looked := func(c call) bool { return len(c.within) > 0 }
	if slices.ContainsFunc(p.cells, func(c *cell) bool { return len(c.within) > 0 }) || slices.ContainsFunc(p.x.calls, looked) {
		p.used["timeline"], p.used["hazard"], p.used["os"] = true, true, true
	}
	for spec, name := range p.imports {
		p.used[cmp.Or(spec.name, name)] = true
	}
	for _, name := range types.Universe.Names() {
		p.used[name] = true
	}
	for _, c := range p.cells {
		if c.number > 0 {
			p.used[p.function(c)] = true
		}
	}
	for _, t := range p.order {
		if !t.shared {
			continue
		}
		name := t.first.Name()
		if name == "main" || name == "init" {
			name = p.function(p.cells[t.cells[0]]) + strings.ToUpper(name[:1]) + name[1:]
		}
		t.name = p.unique(name)
	}
	for _, t := range p.order {
		if t.shared {
			continue
		}
		t.name = t.first.Name()
		if t.name == "display" || t.name == "spmd" {
			t.name = p.unique(t.name)
		}
	}
}

// function is the name of a cell's function.
func (p *part) function(c *cell) string {
	if c.number <= 0 {
		return "start"
	}
	return "cell" + strconv.Itoa(c.number)
}

func (p *part) unique(name string) string {
	out := name
	for n := 2; p.used[out]; n++ {
		out = name + strconv.Itoa(n)
	}
	p.used[out] = true
	return out
}

// must is the function for calls of must with n values.
func (p *part) must(n int) string {
	if p.musts[n] == "" {
		name := "must"
		if n != 1 {
			name += strconv.Itoa(n)
		}
		p.musts[n] = p.unique(name)
	}
	return p.musts[n]
}

// judge is the function for check, judge or todo.
func (p *part) judge(name string) string {
	if p.judging[name] == "" {
		p.judging[name] = p.unique(name)
	}
	return p.judging[name]
}
