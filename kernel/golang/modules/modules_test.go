package modules_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gocuda/kernel/golang"
	"gocuda/kernel/golang/modules"
)

// serve writes modules as a file tree that the go command takes for a proxy.
func serve(t *testing.T, list map[string]map[string]string) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command")
	}
	root := t.TempDir()
	for module, files := range list {
		path, version, _ := strings.Cut(module, "@")
		dir := filepath.Join(root, filepath.FromSlash(path), "@v")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, text := range files {
			w, err := z.Create(module + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(w, text)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"list": version + "\n", version + ".info": fmt.Sprintf(`{"Version":%q}`, version),
			version + ".mod": files["go.mod"], version + ".zip": b.String(),
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	cache := t.TempDir()
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(root))
	t.Setenv("GOMODCACHE", cache)
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GONOSUMCHECK", "1")
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOCUDA_CACHE", t.TempDir())
	t.Cleanup(func() { // the go command makes it read-only
		clean := exec.Command("go", "clean", "-modcache")
		clean.Env = append(os.Environ(), "GOMODCACHE="+cache)
		if out, err := clean.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
}

var example = map[string]map[string]string{
	"example.com/shapes@v1.2.0": {
		"go.mod": "module example.com/shapes\n\ngo 1.22\n\nrequire example.com/units v0.1.0\n",
		"shapes.go": `// Package shapes has shapes.
package shapes

import (
	"fmt"
	"sync"

	"example.com/units"
)

// Made counts shapes.
var Made int

var names = map[string]int{"square": 4}

var mu sync.Mutex

func init() { names["triangle"] = 3 }

type Shape interface {
	Area() units.Metre
	sides() int
}

type Square struct{ Side units.Metre }

// New makes a square.
func New(side float64) *Square {
	mu.Lock()
	defer mu.Unlock()
	Made++
	return &Square{units.Metre(side)}
}

func (s *Square) Area() units.Metre { return s.Side * s.Side }
func (s *Square) sides() int { return names["square"] }
func (s *Square) String() string { return fmt.Sprintf("square of %v", s.Side) }

func Sides(s Shape) int { return s.sides() }

// Largest is generic.
func Largest[S Shape](list ...S) (best S) {
	for i, s := range list {
		if i == 0 || s.Area() > best.Area() {
			best = s
		}
	}
	return best
}
`,
		"fast.go":          "//go:build !purego\n\npackage shapes\n\nfunc Fast() int\n",
		"slow.go":          "//go:build purego\n\npackage shapes\n\nfunc Fast() int { return 7 }\n",
		"other_windows.go": "package shapes\n\nfunc Other() {}\n",
		"other_plan9.go":   "package shapes\n\nfunc Other() {}\n",
		"half/half.go":     "package half\n\nvar X T\n",
		"half/c.go":        "package half\n\nimport \"C\"\n\ntype T int\n",
		"bound/bound.go":   "package bound\n\nimport \"C\"\n\nfunc F() {}\n",
	},
	"example.com/units@v0.1.0": {
		"go.mod":   "module example.com/units\n\ngo 1.22\n",
		"units.go": "package units\n\nimport \"strconv\"\n\n// Metre is a length.\ntype Metre float64\n\nfunc (m Metre) String() string { return strconv.FormatFloat(float64(m), 'g', -1, 64) + \"m\" }\n",
	},
}

func TestCellsImportModules(t *testing.T) {
	serve(t, example)
	set := modules.New(t.TempDir())
	var out bytes.Buffer
	ev, err := golang.New(golang.Options{Modules: set, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	eval := func(code string) string {
		out.Reset()
		r := ev.Eval("In[1]", code, false)
		if r.Err != nil {
			return r.Err.Error()
		}
		if r.Value != nil {
			return fmt.Sprint(out.String(), r.Value.Data["text/plain"])
		}
		return out.String()
	}
	if got := eval(`import "example.com/shapes"`); !strings.Contains(got, "%get example.com/shapes") {
		t.Errorf("before it is fetched: %s", got)
	}
	if got, err := set.Get(context.Background(), "example.com/shapes@v1.2.0"); got.Path != "example.com/shapes" || got.Version != "v1.2.0" || err != nil {
		t.Fatalf("%v: %v", got, err)
	}
	for _, c := range []struct{ code, want string }{
		{"import \"example.com/shapes\"\ns := shapes.New(3)\nfmt.Println(s)", "square of 3m\n"},
		{"s.Area()", "9m"},
		{"shapes.Sides(s)", "4"},
		{"shapes.New(2)\nshapes.Made", "2"},
		{"shapes.Largest(s, shapes.New(5)).Side", "5m"},
		{"shapes.Fast()", "7"},
		{"shapes.Made = 10\nshapes.New(1)\nshapes.Made", "11"},
		{"import u \"example.com/units\"\nvar l u.Metre = 4\nl + s.Side", "7m"},
		{"import (\n\t\"strings\"\n\t\"example.com/shapes\"\n)\nstrings.ToUpper(shapes.New(1).String())", `"SQUARE OF 1M"`},
		{"type Named struct { *shapes.Square; Name string }\nNamed{s, \"a\"}.Area()", "9m"},
		{"shapes.Other()", "undefined: shapes.Other"},
		{"import \"example.com/shapes/bound\"", "cgo, which cells cannot run"},
		{"import \"example.com/shapes/half\"", "package example.com/shapes/half uses cgo, which cells cannot run"},
		{"import \"example.com/none\"", "%get example.com/none"},
		{"import \"nosuch\"", "no such package"},
	} {
		if got := eval(c.code); got != c.want && !strings.Contains(got, c.want) {
			t.Errorf("%s\ngave %s\nwant %s", c.code, got, c.want)
		}
	}
	if err := ev.Reset(); err != nil {
		t.Fatal(err)
	}
	if got := eval("import \"example.com/shapes\"\nshapes.New(1)\nshapes.Made"); !strings.HasSuffix(got, "1") {
		t.Errorf("after a reset: %s", got)
	}
}

func TestGetFails(t *testing.T) {
	serve(t, example)
	set := modules.New(t.TempDir())
	for module, want := range map[string]string{
		"example.com/none":          "example.com/none",
		"example.com/shapes@v9.9.9": "v9.9.9",
		"-bad":                      "-bad",
	} {
		if _, err := set.Get(context.Background(), module); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", module, err, want)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(fmt.Errorf("stopped by the user"))
	if _, err := set.Get(ctx, "example.com/shapes"); err == nil || err.Error() != "stopped by the user" {
		t.Errorf("after an interrupt: %v", err)
	}
}

// session is an evaluator with the modules of a folder.
type session struct {
	t   *testing.T
	ev  *golang.Evaluator
	set *modules.Set
	out bytes.Buffer
}

func start(t *testing.T, dir string) *session {
	t.Helper()
	s := &session{t: t, set: modules.New(dir)}
	var err error
	if s.ev, err = golang.New(golang.Options{Modules: s.set, Stdout: &s.out, Stderr: &s.out}); err != nil {
		t.Fatal(err)
	}
	return s
}

// run evaluates a cell and returns what it prints and shows.
func (s *session) run(code string) string {
	s.out.Reset()
	r := s.ev.Eval("In[1]", code, false)
	switch {
	case r.Err != nil:
		return s.out.String() + strings.Join(r.Err.Traceback, "\n")
	case r.Value != nil:
		return fmt.Sprint(s.out.String(), r.Value.Data["text/plain"])
	}
	return s.out.String()
}

func (s *session) want(code, want string) {
	s.t.Helper()
	if got := s.run(code); got != want && !(len(want) > 3 && strings.Contains(got, want)) {
		s.t.Errorf("%s\ngave %s\nwant %s", code, got, want)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRemembered: the next session of the folder has the modules, without %get
// and without the go command.
func TestRemembered(t *testing.T) {
	serve(t, example)
	dir := t.TempDir()
	s := start(t, dir)
	m, err := s.set.Get(context.Background(), "example.com/shapes")
	if err != nil || m.Written != filepath.Join(dir, "go.mod") {
		t.Fatalf("%+v: %v", m, err)
	}
	if m, err = s.set.Get(context.Background(), "example.com/units"); err != nil || m.Written != "" || m.Kept {
		t.Fatalf("the second: %+v: %v", m, err)
	}
	s.want("import \"example.com/shapes\"\nshapes.Fast()", "7")
	if got := s.set.Packages(); !slices.Contains(got, "example.com/units") || !slices.Contains(got, "example.com/shapes") {
		t.Errorf("packages: %v", got)
	}
	t.Setenv("PATH", t.TempDir())
	s = start(t, dir)
	s.want("import \"example.com/shapes\"\nshapes.Fast()", "7")
	sub := start(t, filepath.Join(dir, "sub"))
	sub.want("import \"example.com/shapes\"\nshapes.Fast()", "7")
}

// TestGetLeavesNothing: a %get that fails leaves the folder as it was.
func TestGetLeavesNothing(t *testing.T) {
	serve(t, example)
	dir := t.TempDir()
	if _, err := modules.New(dir).Get(context.Background(), "example.com/none"); err == nil {
		t.Fatal("no error")
	}
	if list, _ := os.ReadDir(dir); len(list) != 0 {
		t.Errorf("left %v", list)
	}
}

// TestKept: where a go.mod may not be written, modules last for the session.
func TestKept(t *testing.T) {
	serve(t, example)
	home := t.TempDir()
	t.Setenv("HOME", home)
	s := start(t, home)
	m, err := s.set.Get(context.Background(), "example.com/shapes")
	if err != nil || !m.Kept || m.Written != "" {
		t.Fatalf("%+v: %v", m, err)
	}
	s.want("import \"example.com/shapes\"\nshapes.Fast()", "7")
	if _, err := os.Stat(filepath.Join(home, "go.mod")); err == nil {
		t.Errorf("go.mod was written")
	}
}

// TestFolders: modules in folders, and that of the notebook; edited files are
// taken up again.
func TestFolders(t *testing.T) {
	serve(t, example)
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "mine/go.mod", "module example.org/mine\n\ngo 1.22\n\nrequire example.com/units v0.1.0\n")
	write(t, "mine/mine.go", "package mine\n\nimport (\n\t\"example.com/units\"\n\t\"example.org/mine/deep\"\n)\n\nfunc Size() units.Metre { return units.Metre(deep.N) }\n")
	write(t, "mine/deep/deep.go", "package deep\n\nvar N = 1\n\ntype T struct{ A int }\n")
	write(t, "plain/x.go", "package plain\n")
	s := start(t, dir)
	if m, err := s.set.Get(context.Background(), "./mine"); err != nil || m.Path != "example.org/mine" || m.Version != "./mine" {
		t.Fatalf("%+v: %v", m, err)
	}
	s.want("import \"example.org/mine\"\nimport \"example.org/mine/deep\"\nmine.Size()", "1m")
	s.want("old := deep.T{3}\nold", "{A: 3}")
	write(t, "mine/deep/deep.go", "package deep\n\nvar N = 20 + 2\n\ntype T struct{ A, B int }\n")
	s.want("mine.Size()", "22m")
	s.want("deep.T{1, 2}.B + old.A", "5")
	write(t, "mine/deep/deep.go", "package deep\n\nvar N = 1 +\n")
	s.want("mine.Size()", "deep.go:3")
	s.want("mine.Size()", "deep.go:3") // it stays so until it is fixed
	write(t, "mine/deep/more.go", "package deep\n\nfunc init() { N++ }\n")
	write(t, "mine/deep/deep.go", "package deep\n\nvar N = 40\n")
	s.want("mine.Size()", "41m")
	for folder, want := range map[string]string{"./plain": "without %get", "./none": "there is no folder", dir + "/mine": ""} {
		_, err := s.set.Get(context.Background(), folder)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", folder, err, want)
		}
	}
	// A notebook in the module itself.
	s = start(t, filepath.Join(dir, "mine"))
	s.want("import (\"example.org/mine\"; \"example.org/mine/deep\")\nmine.Size()\ndeep.N", "41")
	if _, err := s.set.Get(context.Background(), "./mine/deep"); err == nil || !strings.Contains(err.Error(), "without %get") {
		t.Errorf("a folder of the own module: %v", err)
	}
	if got := s.set.Packages(); !slices.Contains(got, "example.org/mine/deep") || !slices.Contains(got, "example.com/units") {
		t.Errorf("packages: %v", got)
	}
}

// A folder needs no network, nor do the packages below it that need modules which
// are there.
func TestFolderOffline(t *testing.T) {
	serve(t, example)
	dir := t.TempDir()
	t.Chdir(dir)
	s := start(t, dir)
	if _, err := s.set.Get(context.Background(), "example.com/units"); err != nil { // so that it is there
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", "http://127.0.0.1:1")
	write(t, "mine/go.mod", "module example.org/mine\n\ngo 1.22\n\nrequire example.com/units v0.1.0\n")
	write(t, "mine/deep/deep.go", "package deep\n\nimport \"example.com/units\"\n\nvar N units.Metre = 2\n")
	other := filepath.Join(dir, "other")
	write(t, "other/x.ipynb", "")
	s = start(t, other)
	if _, err := s.set.Get(context.Background(), "./mine"); err != nil {
		t.Fatal(err)
	}
	s.want("import \"example.org/mine/deep\"\ndeep.N", "2m")
}

// A struct that another package declares keeps the package of its unexported
// fields, by which reflect tells whether it can be converted.
func TestConvertAcrossPackages(t *testing.T) {
	serve(t, example)
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "mine/go.mod", "module example.org/mine\n\ngo 1.22\n")
	write(t, "mine/deep/deep.go", "package deep\n\ntype T struct{ a, B int }\n\nfunc New(n int) T { return T{n, 1} }\nfunc Get(t T) int { return t.a }\n")
	write(t, "mine/mine.go", "package mine\n\nimport \"example.org/mine/deep\"\n\ntype T deep.T\n\ntype Own struct{ a, B int }\n")
	s := start(t, filepath.Join(dir, "mine"))
	s.want(`import (
	"example.org/mine"
	"example.org/mine/deep"
)
type Mine mine.T
v := reflect.ValueOf(mine.T(deep.New(3)))
t := reflect.TypeFor[deep.T]()
fmt.Sprint(deep.Get(v.Convert(t).Interface().(deep.T)), v.CanConvert(reflect.TypeFor[Mine]()), v.CanConvert(reflect.TypeFor[mine.Own]()), v.Type().Field(0).PkgPath)`, `"3 true falseexample.org/mine/deep"`)
}

// TestEmbed: modules with go:embed.
func TestEmbed(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.org/e\n\ngo 1.22\n")
	write(t, filepath.Join(dir, "a.txt"), "text")
	write(t, filepath.Join(dir, "web/b.html"), "b")
	write(t, filepath.Join(dir, "web/sub/c.html"), "cc")
	write(t, filepath.Join(dir, "web/_hidden"), "h")
	write(t, filepath.Join(dir, "web/.dot"), "d")
	write(t, filepath.Join(dir, "web/nested/go.mod"), "module nested\n")
	write(t, filepath.Join(dir, "e.go"), `package e

import (
	"embed"
	_ "embed"
)

//go:embed a.txt
var Text string

//go:embed "a.txt"
var Bytes []byte

//go:embed web
var Web embed.FS

var (
	//go:embed all:web
	All embed.FS
	// Some has several patterns.
	//go:embed a.txt
	//go:embed web/*.html
	Some embed.FS
)

var Length = len(Text)
`)
	s := start(t, dir)
	s.want("import \"example.org/e\"\ne.Text", `"text"`)
	s.want("string(e.Bytes)", `"text"`)
	s.want("e.Length", "4")
	s.want(`import "io/fs"
func walk(f fs.FS) { fs.WalkDir(f, ".", func(p string, d fs.DirEntry, err error) error { if err != nil { return err }; fmt.Print(p, " "); return nil }) }
walk(e.Web)`, ". web web/b.html web/sub web/sub/c.html ")
	s.want("walk(e.All)", ". web web/.dot web/_hidden web/b.html web/sub web/sub/c.html ")
	s.want("walk(e.Some)", ". a.txt web web/b.html ")
	s.want(`string(must(e.Web.ReadFile("web/sub/c.html")))`, `"cc"`)
	write(t, filepath.Join(dir, "bad/bad.go"), "package bad\n\nimport _ \"embed\"\n\n//go:embed none.txt\nvar T string\n")
	s.want(`import "example.org/e/bad"`, "none.txt: no matching files found")
}

// TestProgramsOfModules: programs that import modules which this repository
// needs anyway print what they print when they are compiled: testdata/X.want is
// what go run X.go printed. make modules-score tries the popular ones.
func TestProgramsOfModules(t *testing.T) {
	t.Setenv("GOCUDA_CACHE", t.TempDir())
	programs, err := filepath.Glob("testdata/*.go")
	if err != nil || len(programs) == 0 {
		t.Fatal(programs, err)
	}
	for _, file := range programs {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if testing.Short() && filepath.Base(file) == "svg.go" {
				t.Skip("it takes long, and no goroutine of ours")
			}
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(file, ".go") + ".want")
			if err != nil {
				t.Fatal(err)
			}
			dir, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.CreateTemp(t.TempDir(), "out")
			if err != nil {
				t.Fatal(err)
			}
			defer got.Close()
			stdout := os.Stdout // modules write there
			os.Stdout = got
			status := golang.RunProgram(golang.Options{Modules: modules.New(dir), Stdout: got, Stderr: got}, []golang.File{{Name: file, Code: string(code)}}, nil)
			os.Stdout = stdout
			text, err := os.ReadFile(got.Name())
			if err != nil || status != 0 || string(text) != string(want) {
				t.Errorf("status %d, %v, printed\n%s\nwant\n%s", status, err, text, want)
			}
		})
	}
}

// TestAssembly: a package with assembly runs by what it has for architectures
// without any, and without such files says what it needs.
func TestAssembly(t *testing.T) {
	serve(t, map[string]map[string]string{"example.com/fast@v1.0.0": {
		"go.mod":                "module example.com/fast\n\ngo 1.22\n",
		"sum.go":                "package fast\n\nfunc Sum(xs []int) int { return sum(xs) }\n",
		"sum_" + arch + ".go":   "package fast\n\nfunc sum(xs []int) int\n",
		"sum_" + arch + ".s":    "TEXT ·sum(SB), 0, $0\n",
		"sum_other.go":          "//go:build !" + arch + "\n\npackage fast\n\nimport \"example.com/fast/internal/slow\"\n\nfunc sum(xs []int) int { return slow.Sum(xs) }\n",
		"internal/slow/s.go":    "package slow\n\nfunc Sum(xs []int) (n int) {\n\tfor _, x := range xs {\n\t\tn += x\n\t}\n\treturn n\n}\n",
		"only/only.go":          "package only\n\nfunc F() int\n\nfunc G() int { return 2 }\n",
		"only/f_" + arch + ".s": "TEXT ·sum(SB), 0, $0\n",
		// A package that has assembly only is not needed elsewhere.
		"jit/jit.go":                    "//go:build " + arch + "\n\npackage jit\n\nimport \"example.com/fast/jit/code\"\n\nfunc F() int { return code.F() }\n",
		"jit/jit_other.go":              "//go:build !" + arch + "\n\npackage jit\n\nfunc F() int { return 8 }\n",
		"jit/code/code_" + arch + ".go": "package code\n\nfunc F() int\n",
		"jit/code/code_" + arch + ".s":  "TEXT ·sum(SB), 0, $0\n",
		// Files for another architecture by name would be wrong here.
		"number/number_" + arch + ".go": "package number\n\nconst N = 5\n\nfunc F() int\n",
		"number/number_" + arch + ".s":  "TEXT ·sum(SB), 0, $0\n",
		"number/number_mips64le.go":     "package number\n\nconst N = 4005\n",
	}})
	set := modules.New(t.TempDir())
	if _, err := set.Get(context.Background(), "example.com/fast"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	ev, err := golang.New(golang.Options{Modules: set, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ code, want string }{
		{"import \"example.com/fast\"\nfast.Sum([]int{1, 2, 3})", "6"},
		{"import \"example.com/fast/only\"\nonly.G()", "2"},
		{"only.F()", "example.com/fast/only.F is written in assembly or linked by name, which cells cannot run"},
		{"import \"example.com/fast/number\"\nnumber.N", "5"},
		{"import \"example.com/fast/jit\"\njit.F()", "8"},
	} {
		r := ev.Eval("In[1]", c.code, false)
		got := ""
		switch {
		case r.Err != nil:
			got = r.Err.Error()
		case r.Value != nil:
			got = fmt.Sprint(r.Value.Data["text/plain"])
		}
		if got != c.want && (r.Err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s\ngave %s\nwant %s", c.code, got, c.want)
		}
	}
}

// TestLinkname: functions that Go lets modules link to by name run, and others
// say that they do not.
func TestLinkname(t *testing.T) {
	serve(t, map[string]map[string]string{"example.com/linked@v1.0.0": {
		"go.mod":   "module example.com/linked\n\ngo 1.22\n",
		"linked.s": "",
		"linked.go": `package linked

import "unsafe"

type header struct {
	Data     unsafe.Pointer
	Len, Cap int
}

//go:linkname hash runtime.memhash
//go:noescape
func hash(p unsafe.Pointer, _, n uintptr) uintptr

//go:linkname access reflect.mapaccess
func access(
	typ unsafe.Pointer, m,
	key unsafe.Pointer,
) *int

//go:linkname copySlice reflect.typedslicecopy
func copySlice(typ unsafe.Pointer, dst, src header) int

//go:linkname links reflect.typelinks
func links() (sections []unsafe.Pointer, offsets [][]int32)

//go:linkname pin runtime.procPin
func pin() int

func word(x any) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&x)) }

func Hash(s string) uintptr { return hash(unsafe.Pointer(unsafe.StringData(s)), 7, uintptr(len(s))) }
func Get(m map[string]int, key string) int { return *access(word(m), *(*unsafe.Pointer)(unsafe.Pointer(&m)), unsafe.Pointer(&key)) }
func Copy(dst, src []int) int { return copySlice(word(0), *(*header)(unsafe.Pointer(&dst)), *(*header)(unsafe.Pointer(&src))) }
func Links() bool { a, b := links(); return len(a) == len(b) }
func Pin() int { return pin() }
`,
	}})
	set := modules.New(t.TempDir())
	if _, err := set.Get(context.Background(), "example.com/linked"); err != nil {
		t.Fatal(err)
	}
	ev, err := golang.New(golang.Options{Modules: set})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ code, want string }{
		{"import \"example.com/linked\"\nlinked.Hash(\"ab\") == linked.Hash(\"ab\") && linked.Hash(\"ab\") != linked.Hash(\"ba\")", "true"},
		{"linked.Get(map[string]int{\"a\": 5}, \"a\")", "5"},
		{"d := make([]int, 2)\nlinked.Copy(d, []int{3, 4, 5}), d", "2, []int{3, 4}"},
		{"linked.Links()", "true"},
		{"linked.Pin()", "example.com/linked.pin is written in assembly or linked by name, which cells cannot run"},
	} {
		r := ev.Eval("In[1]", c.code, false)
		got := ""
		switch {
		case r.Err != nil:
			got = r.Err.Error()
		case r.Value != nil:
			got = fmt.Sprint(r.Value.Data["text/plain"])
		}
		if got != c.want && (r.Err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s\ngave %s\nwant %s", c.code, got, c.want)
		}
	}
}

const arch = runtime.GOARCH
