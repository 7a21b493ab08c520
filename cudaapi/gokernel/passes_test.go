package gokernel

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/gokernel/ir"
)

var update = flag.Bool("update", false, "write what the passes make of testdata/passes")

// goldens are the files of testdata/passes, with the passes that they are for. Those of the
// host have host in their names.
var goldens = map[string][]string{
	"escape": {"escape"}, "escape_host": {"escape"}, "bounds": {"bounds"}, "versioning": {"versioning"}, "versioning_host": {"versioning"}, "coalescing": {"coalescing"},
	"interchange": {"interchange"}, "regions": {"regions"}, "roots": {"safepoints", "liveness", "roots"},
}

// Each pass makes of functions what testdata/passes says, and something else if it does
// nothing.
func TestPasses(t *testing.T) {
	functions, seen := 0, make(map[string]bool)
	for name, list := range goldens {
		file := filepath.Join("testdata", "passes", name)
		want, err := os.ReadFile(file + ".want")
		if err != nil && !*update {
			t.Fatal(err)
		}
		got := ""
		for _, one := range list {
			seen[one] = true
			made, err := after(t, name, one)
			if err != nil {
				t.Fatal(err)
			}
			got += "# " + one + "\n\n" + made
			functions += strings.Count(made, "\nfunc ")
		}
		if *update {
			if err := os.WriteFile(file+".want", []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		} else if got != string(want) {
			t.Errorf("%s: the passes make something else (-update writes it):\n%s", name, firstDifference(got, string(want)))
		}
		for _, one := range list {
			p := &passes[slices.IndexFunc(passes, func(p pass) bool { return p.name == one })]
			run := p.run
			p.run = func(*compilation) {}
			without, _ := after(t, name, one) // passes that need it may end in an error
			p.run = run
			if without != "" && strings.Contains(got, "# "+one+"\n\n"+without) {
				t.Errorf("%s: the pass %s does nothing", name, one)
			}
		}
	}
	for _, p := range passes {
		if !seen[p.name] {
			t.Errorf("the pass %s has no golden file", p.name)
		}
	}
	if functions < 120 {
		t.Errorf("there are %d functions", functions)
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("line %d is\n%s\nnot\n%s", i+1, a[i], strings.Join(b[min(i, len(b)):min(i+1, len(b))], ""))
		}
	}
	return "it is shorter"
}

// after is what a file's functions are after a pass.
func after(t *testing.T, name, pass string) (text string, err error) {
	t.Helper()
	file := name + ".go.txt"
	source, err := os.ReadFile(filepath.Join("testdata", "passes", file))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { passed = nil }()
	passed = func(done string, p *ir.Program, x any) {
		if err := ir.Verify(p); err != nil {
			t.Errorf("%s, after %s: %v", name, done, err)
		}
		c := x.(*compilation)
		for _, f := range c.interchange {
			if err := ir.Verify(&ir.Program{Globals: p.Globals, Funcs: []*ir.Func{f}}); err != nil {
				t.Errorf("%s, interchanged: %v", name, err)
			}
		}
		if done == pass {
			text = shown(c, file, pass)
		}
	}
	if strings.HasSuffix(name, "_host") || name == "roots" {
		_, err = compiledForHost(file, string(source))
	} else {
		_, err = Compile(string(source), Options{Name: file})
	}
	return text, err
}

type imports struct{}

func (imports) Import(path string) (*types.Package, error) { return Import(path) }

// compiledForHost compiles the functions of a file for the host.
func compiledForHost(name, source string) (*HostProgram, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{}}
	conf := types.Config{Importer: imports{}}
	if _, err := conf.Check("main", fset, []*ast.File{file}, info); err != nil {
		return nil, err
	}
	decls := make(map[*types.Func]*ast.FuncDecl)
	var funcs []*types.Func
	for _, d := range file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			o := info.Defs[d.Name].(*types.Func)
			decls[o] = d
			funcs = append(funcs, o)
		}
	}
	p := CompileHost(fset, funcs, nil, func(o *types.Func) (HostSource, bool) { return HostSource{Decl: decls[o], Info: info}, decls[o] != nil }, nil, Seen{})
	if why := p.Refused(); why != nil {
		return p, why
	}
	return p, nil
}

// shown is what a pass made of each function, or found out about it.
func shown(c *compilation, file, pass string) string {
	var b strings.Builder
	funcs := slices.Clone(c.unit.prog.Funcs)
	slices.SortFunc(funcs, func(a, b *ir.Func) int { return cmp.Compare(a.Pos, b.Pos) })
	for _, f := range funcs {
		if c.unit.fset.Position(f.Pos).Filename != file || f.Outside {
			continue
		}
		switch pass {
		case "interchange":
			other := c.interchange[f]
			switch {
			case c.interchange == nil:
			case other == nil:
				fmt.Fprintf(&b, "\nfunc %s: its threads do not run alone\n", f.Name)
			case other == f:
				fmt.Fprintf(&b, "\nfunc %s: it stays as it is\n", f.Name)
			default:
				b.WriteString("\n" + textOf(other))
			}
		case "regions":
			if w := c.regions[f]; w != nil {
				b.WriteString("\n" + w.text())
			} else if c.regions != nil {
				fmt.Fprintf(&b, "\nfunc %s: each thread has a stack\n", f.Name)
			}
		case "safepoints", "liveness", "roots":
			if c.safepoints == nil {
				continue
			}
			fmt.Fprintf(&b, "\nfunc %s:\n", f.Name)
			c.hostText(&b, f, pass)
			ir.WalkAll(f.Body, func(s ir.Stmt) {
				if l, ok := s.(*ir.Closure); ok {
					fmt.Fprintf(&b, "in %s:\n", l.Var.Name)
					c.hostText(&b, l.Lit, pass)
				}
			})
		default:
			b.WriteString("\n" + textOf(f))
		}
	}
	return b.String()
}

// textOf is a function, without the types that it names.
func textOf(f *ir.Func) string {
	var b strings.Builder
	if err := ir.Fprint(&b, &ir.Program{Funcs: []*ir.Func{f}}, nil); err != nil {
		return err.Error()
	}
	text := b.String()
	for strings.HasPrefix(text, "type ") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// lineOf is the first line of a statement.
func lineOf(s ir.Stmt) string {
	text := strings.Split(textOf(&ir.Func{Body: []ir.Stmt{s}}), "\n")[1]
	return strings.TrimSuffix(strings.TrimSpace(text), " {")
}

func (w *whole) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "func %s:\n", w.f.Name)
	for _, d := range definitions(w.f.Body) {
		if x := w.vars[d.Var]; x != nil && d.Var.Space == ir.Local {
			fmt.Fprintf(&b, "\t%s %s\n", d.Var.Name, []string{"lives in one region", "is one for all threads", "is kept for each thread", "is computed again in each region"}[x.way])
		}
	}
	ir.Walk(w.f.Body, func(s ir.Stmt) {
		if w.splits[s] {
			fmt.Fprintf(&b, "\tbetween regions: %s\n", lineOf(s))
		}
	})
	return b.String()
}

// hostText is what is known of a function, or of a literal, for Go's collector.
func (c *compilation) hostText(b *strings.Builder, f *ir.Func, pass string) {
	var vars []*ir.Var
	vars = append(vars, f.Params...)
	for _, d := range definitions(f.Body) {
		vars = append(vars, d.Var)
	}
	if r := c.roots[f]; pass == "roots" && r != nil {
		fmt.Fprintf(b, "\t%d words, %d variables by their addresses\n", r.size, len(r.refs))
		for _, v := range vars {
			if at, ok := r.words[v]; ok {
				fmt.Fprintf(b, "\t%s has word %d\n", v.Name, at)
			}
			if slices.Contains(r.refs, v) {
				fmt.Fprintf(b, "\t%s has its address there\n", v.Name)
			}
		}
	}
	ir.Walk(f.Body, func(s ir.Stmt) {
		switch {
		case pass == "roots" || !c.safepoints.is(s):
		case pass == "safepoints":
			fmt.Fprintf(b, "\t%s\n", lineOf(s))
		case c.live[f] != nil:
			var live []string
			for _, v := range vars {
				if hasPointers(v.Type) && c.live[f].isLive(v, s) {
					live = append(live, v.Name)
				}
			}
			fmt.Fprintf(b, "\t%s: %s\n", lineOf(s), cmp.Or(strings.Join(live, " "), "nothing"))
		}
	})
}
