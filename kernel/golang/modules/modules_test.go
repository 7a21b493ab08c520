package modules_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
		"bound/bound.go":   "package bound\n\nimport \"C\"\n\nfunc F() {}\n",
	},
	"example.com/units@v0.1.0": {
		"go.mod":   "module example.com/units\n\ngo 1.22\n",
		"units.go": "package units\n\nimport \"strconv\"\n\n// Metre is a length.\ntype Metre float64\n\nfunc (m Metre) String() string { return strconv.FormatFloat(float64(m), 'g', -1, 64) + \"m\" }\n",
	},
}

func TestCellsImportModules(t *testing.T) {
	serve(t, example)
	set := new(modules.Set)
	var out bytes.Buffer
	ev, err := golang.New(golang.Options{Sources: set.Sources, Stdout: &out})
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
	if got, err := set.Get(context.Background(), "example.com/shapes@v1.2.0"); got != "example.com/shapes v1.2.0" || err != nil {
		t.Fatalf("%s: %v", got, err)
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
	set := new(modules.Set)
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
