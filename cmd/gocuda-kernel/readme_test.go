package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// blocks are README.md's blocks of code, with their languages.
func blocks(t *testing.T) [][2]string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var list [][2]string
	for _, m := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		list = append(list, [2]string{m[1], m[2]})
	}
	return list
}

// The cells in the README run, one after the other, and the comment behind a
// last expression is its value.
func TestCellsOfTheReadme(t *testing.T) {
	var cells, want []string
	for _, b := range blocks(t) {
		if b[0] != "go" && b[0] != "cpp" {
			continue
		}
		lines := strings.Split(strings.TrimSpace(b[1]), "\n")
		cells = append(cells, strings.Join(lines, "\n"))
		value := ""
		if code, comment, ok := strings.Cut(lines[len(lines)-1], " // "); ok && strings.HasSuffix(code, ")") {
			value = "value: " + comment
		}
		want = append(want, value)
	}
	if len(cells) < 5 {
		t.Fatalf("only %d cells", len(cells))
	}
	path := filepath.Join(t.TempDir(), "readme.ipynb")
	writeNotebook(t, path, cells...)
	if status, _, stderr := run(t, gocudaKernel(t, "run", "--inplace", path)); status != 0 {
		if strings.Contains(stderr, "no C++ compiler") {
			t.Skip(stderr)
		}
		t.Fatalf("status %d: %s", status, stderr)
	}
	shown, values := texts(t, path), 0
	for i, w := range want {
		if w == "" {
			continue
		}
		if values++; shown[i] != w {
			t.Errorf("%s\nshows %q, want %q", cells[i], shown[i], w)
		}
	}
	if values < 2 {
		t.Errorf("%d values are compared", values)
	}
}

// The commands in the README exist, and those of the kernel do what they say.
func TestCommandsOfTheReadme(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	program := "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"as a cell would\") }\n"
	if err := os.WriteFile(filepath.Join(dir, "program.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{ // what each leaves or prints
		"doctor": "C++ compiler", "tutorials": "notebooks are in " + home, "exec": "as a cell would\n",
		"export": "wrote " + home,
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, b := range blocks(t) {
		if b[0] != "sh" {
			continue
		}
		for line := range strings.Lines(b[1]) {
			line, _, _ = strings.Cut(line, "#")
			words := strings.Fields(strings.ReplaceAll(strings.ReplaceAll(line, "~", home), "-gocuda .", "-gocuda "+root))
			switch {
			case len(words) == 0:
			case words[0] == "make":
				if !strings.Contains(string(makefile), "\n"+words[1]+":") {
					t.Errorf("%s: the Makefile has no such target", line)
				}
			case words[0] == "bin/gocuda-kernel" && words[1] == "run":
				if _, err := os.Stat(words[2]); err != nil { // the tutorials have tests of their own
					t.Errorf("%s: %v", line, err)
				}
			case words[0] == "bin/gocuda-kernel":
				cmd := gocudaKernel(t, words[1:]...)
				cmd.Dir = dir
				cmd.Env = append(cmd.Env, "HOME="+home, "XDG_DATA_HOME=", "JUPYTER_PATH=", "JUPYTER_DATA_DIR=")
				status, stdout, stderr := run(t, cmd)
				if status != 0 || !strings.Contains(stdout, want[words[1]]) || want[words[1]] == "" {
					t.Errorf("%s: status %d, %q, %q", line, status, stdout, stderr)
				}
				ran++
			case slices.Contains(words[1:], "gocuda-kernel"): // under a tool that may not be here
				after := words[slices.Index(words, "gocuda-kernel")+1:]
				known := func(c command) bool { return c.name == after[0] }
				if !slices.ContainsFunc(commands(), known) {
					t.Errorf("%s: no such command", line)
				}
			default:
				t.Errorf("%s: what is this?", line)
			}
		}
	}
	if ran < 3 {
		t.Errorf("%d commands ran", ran)
	}
}

// The variables in the README are read somewhere, and the magics exist.
func TestNamesInTheReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, pattern := range []string{"../../cudaapi/*/*.go", "../../cudaapi/*/*/*.go", "../../kernel/*.go", "../../kernel/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(data)
		}
	}
	for _, name := range regexp.MustCompile("`(GOCUDA_\\w+)`").FindAllStringSubmatch(string(text), -1) {
		name, setting, ok := name[1], strings.TrimPrefix(name[1], "GOCUDA_SIM_"), strings.HasPrefix(name[1], "GOCUDA_SIM_")
		if !strings.Contains(source.String(), `"`+name+`"`) && !(ok && strings.Contains(source.String(), `case "`+strings.ToLower(setting)+`"`)) {
			t.Errorf("nothing reads %s", name)
		}
	}
	path := filepath.Join(t.TempDir(), "help.ipynb")
	writeNotebook(t, path, "%help")
	if status, _, stderr := run(t, gocudaKernel(t, "run", "--inplace", path)); status != 0 {
		t.Fatal(stderr)
	}
	help := texts(t, path)[0]
	for _, span := range regexp.MustCompile("`(%[^`]+)`").FindAllStringSubmatch(string(text), -1) {
		for _, name := range regexp.MustCompile(`%%?[a-z]+`).FindAllString(span[1], -1) {
			if !strings.Contains(help, name) {
				t.Errorf("%%help does not list %s", name)
			}
		}
	}
}
