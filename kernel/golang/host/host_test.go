package host_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"reflect"
	"sort"
	"strings"
	"testing"

	"gocuda/kernel/golang/host"
	"gocuda/kernel/golang/host/std"
)

// check type-checks a file against the importer.
func check(t *testing.T, imp types.Importer, src string) (*types.Package, []string) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "a.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	var errs []string
	conf := types.Config{Importer: imp, Error: func(err error) { errs = append(errs, err.(types.Error).Msg) }}
	pkg, _ := conf.Check("main", fset, []*ast.File{f}, nil)
	return pkg, errs
}

func TestProgramsCheck(t *testing.T) {
	programs := map[string]string{
		"functions, constants, variables": `package main
			import ("fmt"; "math"; "os"; "time"; "unicode/utf8")
			var d time.Duration = 3*time.Second
			const big = math.MaxUint64
			var r rune = utf8.RuneError
			var s = string(utf8.RuneError)
			var half = math.Pi/2
			func main() { fmt.Fprintln(os.Stdout, d, uint64(big), r, s, half) }`,
		"methods by value and pointer": `package main
			import ("strings"; "time"; "bytes"; "io")
			var b strings.Builder
			var _ io.Writer = &b
			var _ io.Writer = new(bytes.Buffer)
			func main() { b.WriteString(time.Now().Add(time.Hour).Format(time.RFC3339)) }`,
		"embedded fields promote": `package main
			import ("sync"; "net/http"; "bufio"; "os")
			type S struct { sync.Mutex; http.Handler }
			func main() { var s S; s.Lock(); s.Unlock(); _ = s.ServeHTTP
				rw := bufio.NewReadWriter(bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout))
				rw.WriteString("x"); rw.Reader.Reset(os.Stdin) }`,
		"one identity across packages": `package main
			import ("os"; "io/fs"; "io"; "errors")
			var f os.FileInfo; var g fs.FileInfo = f
			var e *os.PathError = (*fs.PathError)(nil)
			func main() { var w io.Writer = os.Stdout; _, ok := w.(*os.File); _ = ok; _ = errors.Is(e, fs.ErrNotExist) }`,
		"sealed interfaces": `package main
			import ("go/ast"; "reflect")
			func main() { var n ast.Node = &ast.Ident{Name: "x"}; var e ast.Expr = &ast.BadExpr{}
				switch e.(type) { case *ast.Ident: case *ast.CallExpr: }; _ = n
				var t reflect.Type = reflect.TypeOf(1); _ = t.Kind() == reflect.Int }`,
		"generic code over host types": `package main
			import ("time"; "bytes")
			func Max[T interface{ ~int64 }](a, b T) T { if a > b { return a }; return b }
			func Keys[K comparable, V any](m map[K]V) (k []K) { for x := range m { k = append(k, x) }; return }
			var m = map[time.Time]int{}
			func main() { _ = Max(time.Second, time.Minute); _ = Keys(m); var p interface{ Len() int } = &bytes.Buffer{}; _ = p }`,
		"what is generic": `package main
			import ("slices"; "maps"; "cmp"; "strings"; "sync"; "sync/atomic"; "errors"; "io/fs"; "math/rand/v2"; "reflect"; "iter")
			type P struct { Name string; Age int }
			func Count[V any](s iter.Seq[V]) (n int) { for range s { n++ }; return }
			func main() {
				ps := []P{{"a", 1}}
				slices.SortFunc(ps, func(a, b P) int { return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Age, b.Age)) })
				for i, v := range slices.Backward(ps) { _, _ = i, v.Age }
				keys := slices.Sorted(maps.Keys(map[string]int{}))
				var lines []string = slices.Collect(strings.Lines("a"))
				n := Count(strings.SplitSeq("a b", " ")) + rand.N(10)
				f := sync.OnceValue(func() P { return ps[0] })
				var p atomic.Pointer[P]; p.Store(&ps[0]); p.Load().Age++
				if e, ok := errors.AsType[*fs.PathError](nil); ok { _ = e.Op }
				t := reflect.TypeFor[P](); next, stop := iter.Pull(maps.Values(map[int]P{})); defer stop()
				v, ok := next(); _, _, _, _, _, _, _, _ = keys, lines, n, f().Name, t.Kind(), v.Name, ok, slices.Max([]int{1})
			}`,
		"unsafe": `package main
			import ("unsafe"; "time"; "sync")
			const n = unsafe.Sizeof(time.Time{}) - 24
			const m = unsafe.Sizeof(sync.Mutex{}) - 8
			var _ [0]int = [n]int{}
			var _ [0]int = [m]int{}
			func main() { x := 1; _ = *(*uint)(unsafe.Pointer(&x)) }`,
		"processes and loggers": `package main
			import ("os/exec"; "log"; "log/slog"; "os")
			func main() { l := log.New(os.Stderr, "", 0); l.Println(exec.Command("ls").Run()); log.Default().Print()
				l = slog.NewLogLogger(slog.Default().Handler(), slog.LevelInfo) }`,
	}
	imp := host.NewImporter()
	for name, src := range programs {
		if _, errs := check(t, imp, src); errs != nil {
			t.Errorf("%s: %s", name, strings.Join(errs, "; "))
		}
	}
}

func TestMistakesAreFound(t *testing.T) {
	for src, want := range map[string]string{
		`import "fmt"; var _ = fmt.Printn`:                                                         "undefined: fmt.Printn",
		`import "time"; var _ int = time.Second`:                                                   "cannot use time.Second",
		`import "time"; var _ = time.Now().Sceond`:                                                 "undefined",
		`import "bytes"; var _ interface{ Len() int } = bytes.Buffer{}`:                            "pointer receiver",
		`import "strings"; var _ = map[strings.Builder]int{}`:                                      "invalid map key",
		`import "no/such/package"; var _ = x`:                                                      "no/such/package",
		`import "go/ast"; type T struct{}; var _ ast.Expr = T{}`:                                   "missing method",
		`import "time"; var _ = time.Time{}.wall`:                                                  "wall",
		`import "strings"; var _ = strings.Contains("a")`:                                          "not enough arguments",
		`import "net/http"; var _ = http.Server{Adr: ""}`:                                          "unknown field Adr",
		`import "sort"; type T []int; func (T) Len() int { return 0 }; var _ sort.Interface = T{}`: "missing method",
	} {
		_, errs := check(t, host.NewImporter(), "package main\n"+src)
		if !strings.Contains(strings.Join(errs, "\n"), want) {
			t.Errorf("%s: got errors %q, want one with %q", src, errs, want)
		}
	}
}

// text writes a type without what reflect cannot know: names of parameters,
// aliases, and which generic function type an instance came from.
func text(t types.Type) string {
	list := func(tuple *types.Tuple, variadic bool) string {
		var s []string
		for v := range tuple.Variables() {
			s = append(s, text(v.Type()))
		}
		if variadic {
			s[len(s)-1] = "..." + s[len(s)-1]
		}
		return "(" + strings.Join(s, ", ") + ")"
	}
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		switch t.Kind() {
		case types.Byte:
			return "uint8"
		case types.Rune:
			return "int32"
		}
		return t.Name()
	case *types.Pointer:
		return "*" + text(t.Elem())
	case *types.Slice:
		return "[]" + text(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), text(t.Elem()))
	case *types.Map:
		return "map[" + text(t.Key()) + "]" + text(t.Elem())
	case *types.Chan:
		return fmt.Sprintf("chan(%d) %s", t.Dir(), text(t.Elem()))
	case *types.Signature:
		return "func" + list(t.Params(), t.Variadic()) + list(t.Results(), false)
	case *types.Named:
		if f, ok := t.Underlying().(*types.Signature); ok && t.TypeArgs() != nil {
			return text(f)
		}
	}
	return types.TypeString(types.Unalias(t), func(p *types.Package) string { return p.Path() })
}

// describe writes down what a cell can see of an object: its type without
// parameter names, its constant value, its exported fields and methods.
func describe(obj types.Object) []string {
	lines := []string{reflect.TypeOf(obj).Elem().Name() + " " + obj.Name()}
	switch obj := obj.(type) {
	case *types.Const:
		lines = append(lines, text(obj.Type()))
		if obj.Val().Kind() != constant.Float {
			lines = append(lines, obj.Val().ExactString())
		}
	case *types.TypeName:
		if st, ok := obj.Type().Underlying().(*types.Struct); ok {
			for i := range st.NumFields() {
				if f := st.Field(i); f.Exported() {
					lines = append(lines, obj.Name()+"."+f.Name()+" "+text(f.Type())+" "+st.Tag(i))
				}
			}
		}
		var set *types.MethodSet
		if types.IsInterface(obj.Type()) {
			set = types.NewMethodSet(obj.Type())
		} else {
			set = types.NewMethodSet(types.NewPointer(obj.Type()))
		}
		value := types.NewMethodSet(obj.Type())
		for s := range set.Methods() {
			if s.Obj().Exported() {
				by := "*"
				if value.Lookup(s.Obj().Pkg(), s.Obj().Name()) != nil {
					by = ""
				}
				lines = append(lines, by+obj.Name()+"."+s.Obj().Name()+" "+text(s.Obj().Type()))
			}
		}
	default:
		lines = append(lines, text(obj.Type()))
	}
	sort.Strings(lines)
	return lines
}

func generic(obj types.Object) bool {
	switch t := types.Unalias(obj.Type()).(type) {
	case *types.Named:
		return t.TypeParams() != nil
	case *types.Signature:
		return t.TypeParams() != nil
	}
	return false
}

// TestAgreesWithTheCompiler compares packages with the compiler's own export
// data, symbol by symbol.
func TestAgreesWithTheCompiler(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the go command for export data")
	}
	compiler, _ := exportData(t)
	imp := host.NewImporter()
	for _, path := range []string{"fmt", "time", "strings", "os", "io", "bufio", "bytes", "context", "sync", "errors",
		"encoding/json", "go/ast", "go/token", "reflect", "math/big", "net/http", "net/url", "sort", "strconv", "text/template",
		"unicode/utf8", "path/filepath", "os/exec", "log"} {
		want, err := compiler.Import(path)
		if err != nil {
			t.Skip("no Go installation:", err)
		}
		got, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range want.Scope().Names() {
			w := want.Scope().Lookup(name)
			if !w.Exported() || generic(w) {
				continue
			}
			g := got.Scope().Lookup(name)
			if g == nil {
				t.Errorf("%s.%s is missing", path, name)
				continue
			}
			if a, b := describe(g), describe(w); !reflect.DeepEqual(a, b) {
				for i := range max(len(a), len(b)) {
					if i >= len(a) || i >= len(b) || a[i] != b[i] {
						t.Errorf("%s.%s: line %d:\n got %s\nwant %s", path, name, i, at(a, i), at(b, i))
						break
					}
				}
			}
		}
	}
}

// absent are the packages of the standard library that cells do without, and why.
var absent = map[string]string{
	"plugin": "cells have no cgo", "runtime/cgo": "cells have no cgo", "runtime/race": "the race detector's", "runtime/coverage": "go test's",
	"time/tzdata": "only for its effect, on binaries", "testing/cryptotest": "Go's own tests'", "crypto/mlkem/mlkemtest": "Go's own tests'",
}

// TestWholeLibrary: cells know every exported name of every package of the standard
// library, and every method and field of its types.
func TestWholeLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the go command for export data")
	}
	compiler, paths := exportData(t)
	imp := host.NewImporter()
	for _, path := range paths {
		if absent[path] != "" || strings.Contains("/"+path+"/", "/internal/") || strings.HasPrefix(path, "vendor/") {
			continue
		}
		want, err := compiler.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := imp.Import(path)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range want.Scope().Names() {
			w := want.Scope().Lookup(name)
			if !w.Exported() {
				continue
			}
			g := got.Scope().Lookup(name)
			if g == nil {
				t.Errorf("%s.%s is missing", path, name)
				continue
			}
			if _, ok := w.(*types.TypeName); !ok {
				continue
			}
			for _, member := range members(w.Type()) {
				if o, _, _ := types.LookupFieldOrMethod(g.Type(), true, got, member); o == nil {
					t.Errorf("%s.%s.%s is missing", path, name, member)
				}
			}
		}
	}
}

// exportData imports packages of the standard library from the compiler's own export
// data, and lists their paths.
func exportData(t *testing.T) (types.Importer, []string) {
	out, err := exec.Command("go", "list", "-trimpath", "-export", "-f", "{{.ImportPath}} {{.Export}}", "std").Output()
	if err != nil {
		t.Skip("no Go installation:", err)
	}
	files := make(map[string]string)
	var paths []string
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
		paths = append(paths, path)
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }), paths
}

// members are the exported methods and fields of a type.
func members(t types.Type) (names []string) {
	methods := types.NewMethodSet(t)
	if !types.IsInterface(t) {
		methods = types.NewMethodSet(types.NewPointer(t))
	}
	for s := range methods.Methods() {
		if s.Obj().Exported() {
			names = append(names, s.Obj().Name())
		}
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if f.Exported() {
				names = append(names, f.Name())
			}
		}
	}
	return names
}

// TestGenericParts compares what is there as source with the compiler's
// declarations.
func TestGenericParts(t *testing.T) {
	compiler, _ := exportData(t)
	imp := host.NewImporter()
	for path, names := range std.Generic {
		want, err := compiler.Import(path)
		if err != nil {
			t.Skip("no Go installation:", err)
		}
		got, err := imp.Import(path)
		for _, name := range names {
			if err != nil {
				t.Error(err)
				break
			}
			g, w := got.Scope().Lookup(name), want.Scope().Lookup(name)
			if g == nil {
				t.Errorf("%s.%s is missing", path, name)
				continue
			}
			a, b := describe(g), describe(w)
			if !reflect.DeepEqual(a, b) {
				t.Errorf("%s.%s:\n got %s\nwant %s", path, name, a, b)
			}
			if src := imp.Source(path); src == nil || len(src.Files) == 0 {
				t.Errorf("%s has no source", path)
			}
		}
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}
