package lower_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"gocuda/kernel/golang/host"
	"gocuda/kernel/golang/lower"
	"gocuda/kernel/golang/rt"
)

var update = flag.Bool("update", false, "write what the golden files are lowered to")

// here is the name that lowered code imports this package by, made of the module's path.
var here = regexp.MustCompile(`\bh_\w+_kernel_golang_lower_test\b`)

// Tally stands for a type of a compiled package whose methods cells call often.
type Tally struct{ Sum int }

// table is what the lowering knows of compiled packages.
type table struct{ *host.Importer }

func (table) SourceDecl(*types.Func) *lower.Decl { return nil }
func (table) IsSource(types.Object) bool         { return false }
func (table) Later(*types.Func) bool             { return false }

func (t table) IsHost(path string) bool             { return path != "main" }
func (t table) PackageName(path string) string      { return filepath.Base(path) }
func (t table) Type(typ types.Type) reflect.Type    { return t.ReflectType(typ) }
func (t table) Define(name string, v reflect.Value) {}

// Each construct of Go is lowered as testdata/golden/*.want says. A file with the
// line "// cell" is a cell, the statements of its main, and each other a program.
func TestGolden(t *testing.T) {
	if err := rt.Available(); err != nil {
		t.Skip(err)
	}
	files, err := filepath.Glob("testdata/golden/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	im := host.NewImporter(host.Package{
		Path: "gocuda/kernel/golang/lower_test", Name: "dev", // where reflect finds the types
		Symbols: map[string]reflect.Value{"Tally": reflect.ValueOf((*Tally)(nil))},
		Direct: []host.Direct{
			host.Direct2("Tally.Add", (*Tally).Add),
			host.Direct1R2("Tally.Half", (*Tally).Half),
			host.Direct1("Tally.Wait", (*Tally).Wait).Waits(),
		},
	})
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := here.ReplaceAllString(lowered(t, table{im}, file, string(code)), "h_dev")
			golden := strings.TrimSuffix(file, ".go") + ".want"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
			for i := range max(len(gotLines), len(wantLines)) {
				if i >= len(gotLines) || i >= len(wantLines) || gotLines[i] != wantLines[i] {
					t.Fatalf("differs from line %d of %s; if it is meant, run go test -update:\n%s", i+1, golden,
						strings.Join(gotLines[min(i, len(gotLines)):], "\n"))
				}
			}
		})
	}
}

func (t *Tally) Add(n int) error    { t.Sum += n; return nil }
func (t *Tally) Half() (int, error) { return t.Sum / 2, nil }
func (t *Tally) Wait() error        { return nil }

// lowered lowers a file, which is one package.
func lowered(t *testing.T, of table, name, code string) string {
	fset := of.FileSet()
	file, err := parser.ParseFile(fset, name, code, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{
		Types: make(map[ast.Expr]types.TypeAndValue), Defs: make(map[*ast.Ident]types.Object),
		Uses: make(map[*ast.Ident]types.Object), Implicits: make(map[ast.Node]types.Object),
		Selections: make(map[*ast.SelectorExpr]*types.Selection), Instances: make(map[*ast.Ident]types.Instance),
		Scopes: make(map[ast.Node]*types.Scope),
	}
	conf := types.Config{Importer: of, GoVersion: "go1.26", Sizes: types.SizesFor("gc", "amd64")}
	pkg, err := conf.Check("main", fset, []*ast.File{file}, info)
	if err != nil {
		t.Fatal(err)
	}
	l := lower.New(rt.New(), of, fset)
	program := !strings.Contains(code, "\n// cell\n")
	l.Begin("In[1]", program)
	for _, n := range pkg.Scope().Names() {
		if v, ok := pkg.Scope().Lookup(n).(*types.Var); ok {
			l.Global(v)
		}
	}
	var main *ast.FuncDecl
	for _, d := range file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			l.Declare(info.Defs[d.Name].(*types.Func), &lower.Decl{Func: d, Info: info, Cell: "In[1]", Redirect: !program})
			if d.Name.Name == "main" {
				main = d
			}
		}
	}
	var out lower.Output
	if program {
		out = l.Finish(l.Program(info, "In[1]", nil, info.Defs[main.Name].(*types.Func)))
	} else {
		out = l.Finish(l.Body(info, "In[1]", main.Body.List, nil, false))
	}
	text, err := format.Source([]byte(fmt.Sprintf("package lowered\n\n%s\n%s", out.Imports, spaced(out.Decls))))
	if err != nil {
		t.Fatalf("%v\n%s", err, out.Decls)
	}
	return string(text)
}

// spaced has an empty line before each function.
func spaced(text string) string { return strings.ReplaceAll(text, "\nfunc ", "\n\nfunc ") }
