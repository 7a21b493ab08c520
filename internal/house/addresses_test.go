package house

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAddressesStay reads the compiler's escape report. Where the address of Go
// memory becomes a number, the compiler loses track of it: memory that does not
// escape lies on the goroutine's stack, and moves when the stack grows, while C
// or a kernel still has the number. So whatever such an address is taken of must
// be on the heap.
func TestAddressesStay(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles packages")
	}
	list, found := convert(t, "./cudaapi/...", "./kernel/...")
	var names []string
	for _, p := range list {
		names = append(names, p.ImportPath)
	}
	report := escapes(t, names)
	if len(found) < 15 {
		t.Fatalf("only %d conversions of an address to a number were found", len(found))
	}
	for _, c := range found {
		p := set.Position(c.at.Pos())
		if why := c.moves(report); why != "" && !stays[filepath.Base(filepath.Dir(p.Filename))+"."+c.function.Name.Name] {
			t.Errorf("%s: %s", p, why)
		}
	}
}

// stays lists what the report does not show.
var stays = map[string]bool{
	"clib.onStack": true, // the number is used at once
	"clib.Pin":     true, // generic: the compiler says nothing of it; TestPin
	"mpi.overlaps": true, // compared only
	"fatal.add":    true, // the runtime's record of a goroutine, which never moves
	"fatal.remove": true,
}

// TestAddressesThatMove tries the reader on functions that are wrong.
func TestAddressesThatMove(t *testing.T) {
	dir := t.TempDir()
	source := `package moves

import "unsafe"

type ints struct{ n [4]int }

var kept []byte

func local() uintptr      { var x ints; return uintptr(unsafe.Pointer(&x.n[1])) }
func list() uintptr       { x := make([]int, 4); return uintptr(unsafe.Pointer(&x[0])) }
func grown() uintptr      { var x []uint64; x = append(x, 1, 2); return uintptr(unsafe.Pointer(&x[0])) }
func param(p *int) uintptr { return uintptr(unsafe.Pointer(p)) }
func raw(p unsafe.Pointer) uintptr { return uintptr(p) }
func data(s []int) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }
func onHeap() uintptr { x := make([]byte, 4); kept = x; return uintptr(unsafe.Pointer(&x[0])) }
`
	for name, text := range map[string]string{"go.mod": "module moves\n\ngo 1.24\n", "moves.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	_, found := convert(t, ".")
	report := escapes(t, []string{"."})
	var moved []string
	for _, c := range found {
		if c.moves(report) != "" {
			moved = append(moved, c.function.Name.Name)
		}
	}
	if got, want := strings.Join(moved, " "), "local list grown param raw data"; got != want {
		t.Errorf("addresses that move: %s; want %s", got, want)
	}
}

// conversion is an address that becomes a number.
type conversion struct {
	at       ast.Expr // what is converted
	function *ast.FuncDecl
	info     *types.Info
}

type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
}

// convert finds the conversions in packages, and the packages that have some.
func convert(t *testing.T, patterns ...string) (in []listed, found []conversion) {
	cmd := exec.Command("go", append([]string{"list", "-trimpath", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly"}, patterns...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if len(patterns) > 1 {
		cmd.Dir = root
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	var own []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			own = append(own, p)
		}
	}
	imports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range own {
		var files []*ast.File
		unsafely := false
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
			for _, i := range f.Imports {
				unsafely = unsafely || i.Path.Value == `"unsafe"`
			}
		}
		if !unsafely {
			continue
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
		if _, err := (&types.Config{Importer: imports}).Check(p.ImportPath, set, files, info); err != nil {
			t.Fatal(err)
		}
		before := len(found)
		for _, f := range files {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
					found = append(found, conversions(fn, info)...)
				}
			}
		}
		if len(found) > before {
			in = append(in, p)
		}
	}
	return in, found
}

// conversions are those of a function whose number goes elsewhere: not those
// within an argument of a system call, which the compiler knows, or of a
// comparison or a difference.
func conversions(fn *ast.FuncDecl, info *types.Info) (list []conversion) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			return n.Op == token.ADD || n.Op == token.LAND || n.Op == token.LOR
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && strings.Contains(s.Sel.Name, "Syscall") {
				return false
			}
			if tv := info.Types[n.Fun]; tv.IsType() && len(n.Args) == 1 {
				to, ok := tv.Type.Underlying().(*types.Basic)
				from, ok2 := info.Types[n.Args[0]].Type.Underlying().(*types.Basic)
				if ok && ok2 && to.Kind() == types.Uintptr && from.Kind() == types.UnsafePointer {
					list = append(list, conversion{n.Args[0], fn, info})
				}
			}
		}
		return true
	})
	return list
}

var onStack = regexp.MustCompile(`^(make\(|new\(|append|&|\[).* does not escape$`)

var said = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):\d+: (.*)$`)

// escapes is what the compiler says of each line: by its file's name and number.
func escapes(t *testing.T, packages []string) map[string][]string {
	cmd := exec.Command("go", append([]string{"build", "-trimpath", "-gcflags=-m"}, packages...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if len(packages) > 1 {
		cmd.Dir = root
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	report := map[string][]string{}
	for _, m := range said.FindAllStringSubmatch(string(out), -1) {
		dir := filepath.Base(filepath.Dir(m[1]))
		if dir == "." {
			dir = "moves"
		}
		at := fmt.Sprintf("%s/%s:%s", dir, filepath.Base(m[1]), m[2])
		report[at] = append(report[at], m[3])
	}
	return report
}

// line is what the compiler says of the line at a position.
func line(report map[string][]string, at token.Pos) []string {
	p := set.Position(at)
	dir := filepath.Base(filepath.Dir(p.Filename))
	if l := report[fmt.Sprintf("%s/%s:%d", dir, filepath.Base(p.Filename), p.Line)]; l != nil {
		return l
	}
	return report[fmt.Sprintf("moves/%s:%d", filepath.Base(p.Filename), p.Line)]
}

func says(lines []string, words ...string) bool {
	for _, l := range lines {
		for _, w := range words {
			if l == w || strings.HasPrefix(l, w+" ") {
				return true
			}
		}
	}
	return false
}

// moves says why what is converted may move; "" if it stays.
func (c *conversion) moves(report map[string][]string) string {
	id, direct := c.root(c.at, false)
	if id == nil {
		return ""
	}
	v, ok := c.info.Uses[id].(*types.Var)
	if !ok || v.Parent() == nil || v.Parent() == v.Pkg().Scope() {
		return ""
	}
	if direct {
		if says(line(report, v.Pos()), "moved to heap: "+id.Name) {
			return ""
		}
		return id.Name + " lies on the stack"
	}
	if c.isParam(v) {
		if says(line(report, v.Pos()), "leaking param: "+id.Name, "leaking param content: "+id.Name) {
			return ""
		}
		return "what " + id.Name + " points to may lie on the caller's stack"
	}
	why := ""
	ast.Inspect(c.function, func(n ast.Node) bool {
		var to, from []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			to, from = n.Lhs, n.Rhs
		case *ast.ValueSpec:
			for _, name := range n.Names {
				to = append(to, name)
			}
			from = n.Values
		}
		for i, l := range to {
			if name, ok := l.(*ast.Ident); !ok || len(from) == 0 || c.info.Defs[name] != v && c.info.Uses[name] != v {
				continue
			}
			made := from[min(i, len(from)-1)]
			for _, l := range line(report, made.Pos()) {
				if onStack.MatchString(l) {
					why = fmt.Sprintf("what %s points to lies on the stack: %s", id.Name, l)
				}
			}
		}
		return true
	})
	return why
}

// root is the variable that an address is of: direct if it is the variable's own.
func (c *conversion) root(e ast.Expr, addressed bool) (id *ast.Ident, direct bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return c.root(e.X, addressed)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return c.root(e.X, true)
		}
	case *ast.CallExpr:
		if len(e.Args) > 0 && (c.info.Types[e.Fun].IsType() || strings.HasPrefix(types.ExprString(e.Fun), "unsafe.")) {
			return c.root(e.Args[0], addressed)
		}
	case *ast.SelectorExpr:
		return c.through(e.X, addressed)
	case *ast.IndexExpr:
		return c.through(e.X, addressed)
	case *ast.Ident:
		return e, addressed
	}
	return nil, false
}

// through is root for a part of what e is: of its own memory, or of what it points to.
func (c *conversion) through(e ast.Expr, addressed bool) (*ast.Ident, bool) {
	switch c.info.Types[e].Type.Underlying().(type) {
	case *types.Pointer, *types.Slice:
		return c.root(e, false)
	}
	return c.root(e, addressed)
}

func (c *conversion) isParam(v *types.Var) bool {
	lists := []*ast.FieldList{c.function.Recv, c.function.Type.Params}
	ast.Inspect(c.function.Body, func(n ast.Node) bool {
		if l, ok := n.(*ast.FuncLit); ok {
			lists = append(lists, l.Type.Params)
		}
		return true
	})
	for _, l := range lists {
		if l != nil && l.Pos() <= v.Pos() && v.Pos() < l.End() {
			return true
		}
	}
	return false
}
