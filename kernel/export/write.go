package export

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// write adds the part's files: its Go, and what that embeds.
func (p *part) write(files map[string]string, dir, name string) {
	var body strings.Builder
	for i, c := range p.cells {
		for _, text := range c.before {
			body.WriteString(comment(text) + "\n")
		}
		body.WriteString(p.cell(i, c))
		for file, text := range c.embeds {
			files[dir+file] = text
		}
	}
	if p.name == ranksPackage {
		body.WriteString(p.table())
	}
	main := ""
	if p.name == "main" {
		main = p.mainFunc()
	}
	helpers := p.helpers()
	if p.listed {
		body.WriteString(showFunc)
		p.imports[importSpec{path: "strings"}] = "strings"
		p.imports[importSpec{path: "fmt"}] = "fmt"
	}
	var b strings.Builder
	if p.name == "main" {
		fmt.Fprintf(&b, "// Command %s is the notebook %s as a program: gocuda-kernel export wrote it.\n", p.x.options.Name, p.x.options.Title)
	} else {
		fmt.Fprintf(&b, "// Package mpicells is what the notebook %s has its ranks do.\n", p.x.options.Title)
	}
	fmt.Fprintf(&b, "package %s\n\n%s\n%s%s%s", p.name, p.importText(body.String()+main+helpers), main, body.String(), helpers)
	text, err := format.Source([]byte(b.String()))
	if err != nil {
		text = []byte(b.String())
		p.x.fail(0, 0, "the %s part is not valid Go: %v\n%s", p.name, err, text)
	}
	files[dir+name] = string(text)
}

// showFunc shows several values together, as a cell does.
const showFunc = `// show shows values in one line.
func show(values ...any) {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(display.Of(v).Data["text/plain"])
	}
	display.Show(display.Text(strings.Join(texts, ", ")))
}

`

// importText is the import declaration.
func (p *part) importText(body string) string {
	need := func(path string) { p.imports[importSpec{path: path}] = path[strings.LastIndexByte(path, '/')+1:] }
	if strings.Contains(body, "display.Show(") {
		need("gocuda/kernel/display")
	}
	if strings.Contains(body, "spmd.") {
		need("gocuda/kernel/export/spmd")
	}
	if strings.Contains(body, "timeline.Record(") {
		need("gocuda/kernel/timeline")
	}
	if strings.Contains(body, "hazard.Checked(") {
		need("gocuda/cudaapi/hazard")
		need("os")
	}
	if strings.Contains(body, "flag.Parse()") {
		need("flag")
	}
	if p.name == "main" {
		p.imports[importSpec{"gocuda/cudaapi/backend", "_"}] = ""
		if len(p.x.ranks.cells) > 0 {
			need(p.x.options.Name + "/" + ranksPackage)
		}
	}
	if strings.Contains(body, "//go:embed ") {
		if _, ok := p.imports[importSpec{path: "embed"}]; !ok {
			p.imports[importSpec{"embed", "_"}] = ""
		}
	}
	var std, others []string
	used := packagesOf(body)
	for spec, name := range p.imports {
		if spec.name != "_" && spec.name != "." && !used[cmp.Or(spec.name, name)] {
			continue // only what is written otherwise used it
		}
		line := "\t" + strings.TrimSpace(spec.name+" "+strconv.Quote(spec.path))
		if strings.Contains(strings.Split(spec.path, "/")[0], ".") || isOurs(spec.path) || strings.HasPrefix(spec.path, p.x.options.Name+"/") {
			others = append(others, line)
		} else {
			std = append(std, line)
		}
	}
	byPath := func(a, b string) int {
		return cmp.Compare(a[strings.IndexByte(a, '"'):], b[strings.IndexByte(b, '"'):])
	}
	slices.SortFunc(std, byPath)
	slices.SortFunc(others, byPath)
	return "import (\n" + strings.Join(std, "\n") + "\n\n" + strings.Join(others, "\n") + "\n)\n"
}

// packagesOf are the names that stand before a dot in Go without imports, and mean
// nothing else there.
func packagesOf(body string) map[string]bool {
	used := make(map[string]bool)
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+body, 0)
	if err != nil {
		return used // which format.Source reports
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && id.Obj == nil {
				used[id.Name] = true
			}
		}
		return true
	})
	return used
}

// mainFunc is func main: the cells in order.
func (p *part) mainFunc() string {
	var b strings.Builder
	b.WriteString("func main() {\n")
	for _, c := range p.cells {
		if c.injected && c.hasBody { // these are the flags' defaults
			fmt.Fprintf(&b, "\t%s()\n", p.function(c))
		}
	}
	flags := p.flags()
	if flags != "" {
		b.WriteString(flags + "\tflag.Parse()\n")
	}
	ranks := len(p.x.ranks.cells) > 0
	if ranks {
		b.WriteString("\tspmd.Begin(mpicells.Part) // returns on rank 0\n")
	}
	for _, call := range p.x.calls {
		switch {
		case call.ranks:
			name := fmt.Sprintf("cell%d", call.cell)
			args := strconv.Quote(name)
			if call.only != "" {
				args += ", " + call.only
			}
			fmt.Fprintf(&b, "\t%s\n", p.looked(name, "", "spmd.Run("+args+")", call.within))
		default:
			i := slices.IndexFunc(p.cells, func(c *cell) bool { return c.number == call.cell })
			if i >= 0 && p.cells[i].hasBody && !p.cells[i].injected {
				fmt.Fprintf(&b, "\t%s\n", p.call(p.cells[i]))
			}
		}
	}
	if ranks {
		b.WriteString("\tspmd.End()\n")
	}
	b.WriteString("}\n\n")
	return b.String()
}

// call is the call of a cell's function, within what looks at it.
func (p *part) call(c *cell) string {
	return p.looked(c.name, p.function(c), p.function(c)+"()", c.within)
}

// looked is a call within what looks at it. f is the function that it calls, if that has
// neither parameters nor results.
func (p *part) looked(name, f, call string, list []within) string {
	for i, w := range slices.Backward(list) {
		if f == "" || i < len(list)-1 {
			f = "func() { " + call + " }"
		}
		switch w.magic {
		case "%%timeline":
			call = fmt.Sprintf("%s(timeline.Record(%q, %s))", p.must(0), cmp.Or(w.args, name), f)
		case "%%check":
			call = fmt.Sprintf("%s(hazard.Checked(os.Stderr, %s))", p.must(0), f)
		}
	}
	return call
}

// flagFuncs are the functions of package flag for a parameter's type.
var flagFuncs = map[string]string{
	"bool": "BoolVar", "int": "IntVar", "int64": "Int64Var", "uint": "UintVar", "uint64": "Uint64Var",
	"float64": "Float64Var", "string": "StringVar", "time.Duration": "DurationVar",
}

// flags are the parameters as flags.
func (p *part) flags() string {
	var b strings.Builder
	for _, c := range p.cells {
		if !c.parameters {
			continue
		}
		for _, n := range c.typed.Steps {
			if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
				p.x.tell(c.number, 0, "a constant among the parameters does not become a flag")
			}
			for _, t := range p.declared(c, n) {
				function := flagFuncs[types.TypeString(t.first.Type(), nil)]
				switch {
				case !t.plain:
					p.x.tell(c.number, 0, "the parameter %s does not become a flag: its value depends on others", t.first.Name())
				case function == "":
					p.x.tell(c.number, 0, "the parameter %s does not become a flag: package flag has none of type %s", t.first.Name(), t.first.Type())
				default:
					usage := p.trailing(c, t.first)
					if usage == "" {
						usage = "the notebook's parameter"
					}
					fmt.Fprintf(&b, "\tflag.%s(&%s, %q, %s, %q)\n", function, t.name, t.first.Name(), t.name, usage)
				}
			}
		}
	}
	return b.String()
}

// trailing is the comment behind the line that declares a variable.
func (p *part) trailing(c *cell, o types.Object) string {
	_, line, _ := p.ev.Place(o.Pos())
	_, text, _ := strings.Cut(strings.Split(c.code, "\n")[line-1], "//")
	return strings.TrimSpace(text)
}

// table is what package spmd is given.
func (p *part) table() string {
	var b strings.Builder
	b.WriteString("// Part is what the program has its ranks do.\nvar Part = spmd.Ranks{\n")
	if p.cells[0].hasBody {
		b.WriteString("\tStart: start,\n")
	}
	b.WriteString("\tCells: map[string]func(){\n")
	for _, c := range p.cells[1:] {
		if c.number <= 0 {
			continue
		}
		f := p.function(c)
		if !c.hasBody {
			f = "func() {}"
		}
		fmt.Fprintf(&b, "\t\t%q: %s,\n", p.function(c), f)
	}
	b.WriteString("\t},\n")
	if len(p.copied) > 0 {
		b.WriteString("\tVariables: map[string]any{\n")
		names := make(map[string]string)
		for _, t := range p.order {
			if p.copied[t.first.Name()] {
				names[t.first.Name()] = t.name
			}
		}
		for _, name := range sortedKeys(p.copied) {
			if names[name] == "" {
				p.x.fail(0, 0, "mpi.Pull(%q): no cell of the ranks declares it", name)
			}
		}
		for _, name := range sortedKeys(names) {
			fmt.Fprintf(&b, "\t\t%q: &%s,\n", name, names[name])
		}
		b.WriteString("\t},\n")
	}
	b.WriteString("}\n\n")
	return b.String()
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// judging are the functions for check, todo and judge.
var judging = map[string]string{
	"check": `// %s ends the program if ok is false.
func %[1]s(ok bool, format string, args ...any) {
	if !ok {
		panic(fmt.Errorf(format, args...))
	}
}

`,
	"todo": `// %s stands where a solution belongs.
func %[1]s() { panic("not solved yet") }

`,
	"judge": `// %s says how f ended.
func %[1]s(id string, f func()) {
	defer func() {
		switch v := recover(); {
		case v == nil:
			fmt.Printf("exercise %%s: right\n", id)
		case strings.Contains(fmt.Sprint(v), "not solved yet"): // by todo, perhaps in a kernel
			fmt.Printf("exercise %%s: not solved yet\n", id)
		default:
			fmt.Printf("exercise %%s: wrong: %%v\n", id, v)
		}
	}()
	f()
}

`,
}

// helpers are the functions for must, check, todo and judge.
func (p *part) helpers() string {
	var b strings.Builder
	for _, name := range sortedKeys(p.judging) {
		fmt.Fprintf(&b, judging[name], p.judging[name])
		if name != "todo" {
			p.imports[importSpec{path: "fmt"}] = "fmt"
		}
		if name == "judge" {
			p.imports[importSpec{path: "strings"}] = "strings"
		}
	}
	var counts []int
	for n := range p.musts {
		counts = append(counts, n)
	}
	slices.Sort(counts)
	for _, n := range counts {
		name := p.musts[n]
		switch n {
		case 0:
			fmt.Fprintf(&b, "// %s ends the program if err is not nil.\nfunc %s(err error) {\n\tif err != nil {\n\t\tpanic(err)\n\t}\n}\n\n", name, name)
		case 1:
			fmt.Fprintf(&b, "// %s returns v, and ends the program if err is not nil.\nfunc %s[T any](v T, err error) T {\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\treturn v\n}\n\n", name, name)
		default:
			var types, params, values []string
			for i := range n {
				types, params, values = append(types, fmt.Sprintf("T%d", i)), append(params, fmt.Sprintf("v%d T%d", i, i)), append(values, fmt.Sprintf("v%d", i))
			}
			fmt.Fprintf(&b, "// %s is must for %d values.\nfunc %s[%s any](%s, err error) (%s) {\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\treturn %s\n}\n\n",
				name, n, name, strings.Join(types, ", "), strings.Join(params, ", "), strings.Join(types, ", "), strings.Join(values, ", "))
		}
	}
	return b.String()
}

// span is a step of a cell with the comments before it.
type span struct {
	step     ast.Node
	gap      string
	from, to int
	after    string // the comment after it, in its line
}

// cell writes a cell: its declarations, and the function of its statements.
func (p *part) cell(i int, c *cell) string {
	var out, body strings.Builder
	for _, d := range c.typed.Followers {
		out.WriteString(p.declaration(i, c, d) + "\n\n")
	}
	if vars := p.packageVars(i, c); vars != "" {
		out.WriteString(vars + "\n")
	}
	spans, rest := p.spans(c)
	for k, s := range spans {
		switch n := s.step.(type) {
		case *ast.FuncDecl:
			if text := p.declaration(i, c, n); text != "" {
				out.WriteString(s.gap + text + s.after + "\n\n")
			}
			body.WriteString(p.startOf(i, c, n))
			continue
		case *ast.GenDecl:
			if n.Tok != token.VAR {
				if text := p.declaration(i, c, n); text != "" {
					out.WriteString(s.gap + text + s.after + "\n\n")
				}
				continue
			}
			if things := p.declared(c, n); len(things) > 0 && things[0].plain {
				out.WriteString(s.gap + p.text(c, n, p.edits(c, n, false)) + s.after + "\n\n")
				continue
			}
		case *ast.AssignStmt:
			if things := p.declared(c, n); len(things) > 0 && things[0].plain {
				out.WriteString(s.gap + "var " + p.text(c, n, append(p.edits(c, n, false), p.edit(n.TokPos, 2, "="))) + s.after + "\n\n")
				continue
			}
		}
		body.WriteString(s.gap + p.statement(i, c, s.step, k == len(spans)-1) + s.after + "\n")
	}
	if strings.TrimSpace(rest) != "" {
		body.WriteString(rest)
	}
	if c.number < 0 { // what Push sets
		return out.String()
	}
	if c.hasBody = hasCode(body.String()); c.hasBody {
		fmt.Fprintf(&out, "func %s() {\n%s}\n\n", p.function(c), strings.TrimLeft(body.String(), "\n"))
	} else if strings.TrimSpace(body.String()) != "" {
		out.WriteString(body.String() + "\n")
	}
	return out.String()
}

// hasCode says whether text has a line that is neither blank nor a comment.
func hasCode(text string) bool {
	return slices.ContainsFunc(strings.Split(text, "\n"), func(l string) bool {
		l = strings.TrimSpace(l)
		return l != "" && !strings.HasPrefix(l, "//")
	})
}

// startOf is what runs a cell's main and init, as the notebook does, and gives a
// function that cells declare in other words its present one.
func (p *part) startOf(i int, c *cell, d *ast.FuncDecl) string {
	t := p.things[c.typed.Info.Defs[d.Name]]
	switch {
	case t == nil || d.Recv != nil:
	case t.variable:
		return fmt.Sprintf("%s = %s\n", t.name, p.versionName(t, d))
	case d.Name.Name == "init", d.Name.Name == "main" && !slices.ContainsFunc(c.typed.Steps, func(n ast.Node) bool { _, ok := n.(ast.Stmt); return ok }):
		return t.name + "()\n"
	}
	return ""
}

// versionName is the name of one of the functions that stand for a name in turn.
func (p *part) versionName(t *thing, d *ast.FuncDecl) string {
	for k, n := range t.decls {
		if n == ast.Node(d) {
			name := p.function(p.cells[t.cells[k]])
			return name + strings.ToUpper(t.name[:1]) + t.name[1:]
		}
	}
	return t.name
}

// spans cuts a cell into its steps, in the order of the text.
func (p *part) spans(c *cell) (list []span, rest string) {
	type hole struct{ from, to int }
	var holes []hole
	for _, d := range c.typed.Imports {
		_, from, to := p.place(d)
		holes = append(holes, hole{from, to})
	}
	for _, f := range c.typed.Postponed {
		from := offset(c.code, f.Line, f.Column)
		holes = append(holes, hole{from, from + len(f.Text)})
	}
	for _, n := range c.typed.Steps {
		_, from, to := p.place(n)
		if e := p.several(c, n); e != nil {
			_, from, _ = p.place(e.Elts[0])
			_, _, to = p.place(e.Elts[len(e.Elts)-1])
		}
		list = append(list, span{step: n, from: from, to: to})
	}
	slices.SortStableFunc(list, func(a, b span) int { return a.from - b.from })
	gap := func(from, to int) string {
		var b strings.Builder
		for from < to {
			i := slices.IndexFunc(holes, func(h hole) bool { return h.from >= from && h.from < to })
			next := to
			if i >= 0 {
				next = holes[i].from
			}
			b.WriteString(c.code[from:next])
			if from = next; i >= 0 {
				from = holes[i].to
			}
		}
		text := strings.TrimLeft(b.String(), "; \t\n")
		if text != "" && !strings.HasSuffix(strings.TrimRight(text, " \t"), "\n") {
			text += "\n"
		}
		if strings.Count(b.String(), "\n") > 1 && len(list) > 0 { // a blank line stays
			text = "\n" + text
		}
		return text
	}
	at := 0
	for i := range list {
		list[i].gap = gap(at, list[i].from)
		at = list[i].to
		line, _, _ := strings.Cut(c.code[at:], "\n")
		if tail := strings.TrimLeft(line, "; \t"); strings.HasPrefix(tail, "//") {
			list[i].after = " " + tail
			at += len(line)
		}
	}
	return list, gap(at, len(c.code))
}

// several is the list of expressions that a step is, if it is one.
func (p *part) several(c *cell, n ast.Node) *ast.CompositeLit {
	if e, ok := n.(*ast.ExprStmt); ok && c.typed.Several && c.typed.Steps[len(c.typed.Steps)-1] == n {
		return e.X.(*ast.CompositeLit)
	}
	return nil
}

// declaration writes a function, types or constants.
func (p *part) declaration(i int, c *cell, n ast.Decl) string {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if slices.ContainsFunc(c.typed.Again, func(d *ast.FuncDecl) bool { return d.Body == n.Body }) {
			p.again(c, n)
			return ""
		}
		t := p.things[c.typed.Info.Defs[n.Name]]
		edits := p.edits(c, n, false)
		if t != nil && n.Recv == nil {
			if !slices.Contains(t.decls, ast.Node(n)) {
				return "" // a cell before has it
			}
			if t.variable {
				edits = append(slices.DeleteFunc(edits, func(e edit) bool { return e.pos == n.Name.Pos() }), p.edit(n.Name.Pos(), len(n.Name.Name), p.versionName(t, n)))
			}
		}
		return p.text(c, n, edits)
	case *ast.GenDecl:
		var keep []ast.Spec
		for _, s := range n.Specs {
			if p.isNew(i, c, s) {
				keep = append(keep, s)
			}
		}
		follower := slices.Contains(c.typed.Followers, ast.Decl(n))
		if len(keep) == len(n.Specs) && !follower {
			return p.text(c, n, p.edits(c, n, false))
		}
		var b strings.Builder
		for _, s := range keep {
			fmt.Fprintf(&b, "%s %s\n", n.Tok, p.text(c, s, p.edits(c, s, false)))
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	return ""
}

// again reports a method that a cell before has declared in other words.
func (p *part) again(c *cell, n *ast.FuncDecl) {
	text := p.textOf(n)
	for _, before := range p.cells {
		for _, s := range before.typed.Steps {
			if d, ok := s.(*ast.FuncDecl); ok && before != c && d.Recv != nil && p.textOf(d) == text {
				return
			}
		}
	}
	p.x.fail(c.number, 0, "declares the method %s again, with another body: a program can have only one", n.Name.Name)
}

// isNew says whether a spec declares something that no cell before has.
func (p *part) isNew(i int, c *cell, s ast.Spec) bool {
	ids := []*ast.Ident{}
	switch s := s.(type) {
	case *ast.TypeSpec:
		ids = append(ids, s.Name)
	case *ast.ValueSpec:
		ids = s.Names
	}
	return slices.ContainsFunc(ids, func(id *ast.Ident) bool {
		t := p.things[c.typed.Info.Defs[id]]
		return id.Name == "_" || t != nil && t.cells[0] == i
	})
}

// packageVars declares the variables of the package that a cell is the first to
// have, and functions that change.
func (p *part) packageVars(i int, c *cell) string {
	var lines []string
	for _, t := range p.order {
		if t.cells[0] != i || !t.shared || t.plain {
			continue
		}
		if _, ok := t.first.(*types.Var); ok || t.variable {
			lines = append(lines, t.name+" "+p.typeText(c, t.first.Type()))
		}
	}
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return "var " + lines[0] + "\n"
	}
	return "var (\n\t" + strings.Join(lines, "\n\t") + "\n)\n"
}

// typeText writes a type as the program does.
func (p *part) typeText(c *cell, t types.Type) string {
	renamed := make(map[string]string)
	text := types.TypeString(t, func(pkg *types.Package) string {
		if pkg.Path() == "main" {
			return ""
		}
		for spec, name := range p.imports {
			if spec.path == pkg.Path() && spec.name != "_" && spec.name != "." {
				return cmp.Or(spec.name, name)
			}
		}
		p.imports[importSpec{path: pkg.Path()}] = pkg.Name()
		return pkg.Name()
	})
	for o, thing := range p.things {
		if n, ok := o.(*types.TypeName); ok && thing.name != n.Name() && mentions(t, n) {
			renamed[n.Name()] = thing.name
		}
	}
	for from, to := range renamed {
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(from)+`\b`).ReplaceAllString(text, to)
	}
	if hidden.MatchString(text) {
		p.x.fail(c.number, 0, "a variable has the type %s, which a program cannot name", text)
	}
	return text
}

// hidden matches a name of another package that is not exported.
var hidden = regexp.MustCompile(`\b\w+\.[\p{Ll}_]\w*`)

// mentions says whether a type is made of a named one.
func mentions(t types.Type, of *types.TypeName) (found bool) {
	text := types.TypeString(t, func(*types.Package) string { return "" })
	if !regexp.MustCompile(`\b` + regexp.QuoteMeta(of.Name()) + `\b`).MatchString(text) {
		return false
	}
	seen := make(map[types.Type]bool)
	var look func(t types.Type)
	look = func(t types.Type) {
		if found || seen[t] {
			return
		}
		seen[t] = true
		switch t := types.Unalias(t).(type) {
		case *types.Named:
			found = found || t.Origin().Obj() == of
			for a := range t.TypeArgs().Types() {
				look(a)
			}
		case *types.Map:
			look(t.Key())
			look(t.Elem())
		case interface{ Elem() types.Type }:
			look(t.Elem())
		case *types.Signature:
			for v := range t.Params().Variables() {
				look(v.Type())
			}
			for v := range t.Results().Variables() {
				look(v.Type())
			}
		case *types.Struct:
			for f := range t.Fields() {
				look(f.Type())
			}
		}
	}
	look(t)
	return found
}

// edit replaces size bytes of a cell's text.
type edit struct {
	pos  token.Pos
	size int
	text string
}

func (p *part) edit(pos token.Pos, size int, text string) edit { return edit{pos, size, text} }

// text is a node's text with edits.
func (p *part) text(c *cell, n ast.Node, edits []edit) string {
	home, from, to := p.place(n)
	if e := p.several(c, n); e != nil {
		_, from, _ = p.place(e.Elts[0])
		_, _, to = p.place(e.Elts[len(e.Elts)-1])
	}
	type at struct {
		offset int
		edit
	}
	var list []at
	for _, e := range edits {
		_, line, column := p.ev.Place(e.pos)
		list = append(list, at{offset(home.code, line, column), e})
	}
	slices.SortStableFunc(list, func(a, b at) int { return cmp.Or(a.offset-b.offset, a.size-b.size) })
	var b strings.Builder
	for _, e := range list {
		if e.offset < from {
			continue // of a list that was cut
		}
		b.WriteString(home.code[from:e.offset] + e.text)
		from = e.offset + e.size
	}
	b.WriteString(home.code[from:to])
	return b.String()
}
