package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"
)

// sample is how many programs of the passing list the tests run.
const sample = 60

// TestPassingProgramsStillPass runs an even sample of the list that make
// go-score wrote.
func TestPassingProgramsStillPass(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the kernel")
	}
	root, err := goroot()
	if err != nil {
		t.Skip(err)
	}
	passing, err := readList(filepath.Join("..", "testdata", "go-passing.txt"))
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "gocuda-kernel")
	build := exec.Command("go", "build", "-trimpath", "-o", bin, "gocuda/cmd/gocuda-kernel")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dir, err := prepare(root)
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	all, err := find(filepath.Join(dir, "test"), regexp.MustCompile(""))
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(p program) bool { return !passing[p.name] || p.skip })
	if len(all) == 0 {
		t.Fatal("none of the listed programs is in this Go installation")
	}
	step := max(1, len(all)/sample)
	var chosen []program
	for i := 0; i < len(all); i += step {
		chosen = append(chosen, all[i])
	}
	for _, r := range runAll(chosen, []string{bin, "exec"}, limits{5 * time.Minute, 5 * time.Minute}, 2) {
		if r.cause != "" {
			t.Errorf("%s: %s\n%s", r.name, r.cause, r.output)
		}
	}
}

func TestRecipes(t *testing.T) {
	for src, want := range map[string]bool{
		"// run\n\npackage main":                     true,
		"//go:build !wasm\n// run\n\npackage main":   true,
		"// run -race\n\npackage main":               false,
		"// errorcheck\n\npackage main":              false,
		"package main":                               false,
		"//go:build linux\n\n// run\n\npackage main": true,
	} {
		if got := isRun(src); got != want {
			t.Errorf("%q: got %v", src, got)
		}
	}
	if wanted("// run\n\n//go:build cgo\n\npackage main") || !wanted("// run\n\n//go:build !cgo\n\npackage main") {
		t.Error("a build constraint is not honoured")
	}
}

// TestScoring runs programs by a shell in the kernel's place.
func TestScoring(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs a shell")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ script, out, cause string }{
		"quiet.go":   {"true", "", ""},
		"prints.go":  {"echo hello", "hello\n", ""},
		"wrong.go":   {"echo hello", "goodbye\n", "output differs"},
		"noisy.go":   {"echo hello", "", "prints: hello"},
		"fails.go":   {"echo x.go:3:4: undefined: y; exit 1", "", "exit status 1: undefined: y"},
		"slow.go":    {"while :; do :; done", "", "takes more than 1s"},
		"child.go":   {"sh -c 'while :; do :; done'; true", "", "takes more than 1s"},
		"waits.go":   {"sleep 60", "", "waits without end"},
		"endless.go": {"yes", "", "prints without end"},
	} {
		write(name, c.script)
		if c.out != "" {
			write(name[:len(name)-3]+".out", c.out)
		}
		limit := limits{processor: time.Second, idle: time.Minute}
		if c.cause == errWaits.Error() { // not for the others: a busy machine may let them wait
			limit.idle = 2 * time.Second
		}
		got := program{name: name, dir: dir}.run([]string{sh}, limit)
		if got.cause != c.cause {
			t.Errorf("%s: got %q, want %q", name, got.cause, c.cause)
		}
	}
}
