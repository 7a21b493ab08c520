// Command rename moves the whole tree to another module path: rename MODULE. It changes
// go.mod, imports, and the other places in code and documents that name packages.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) != 2 || !regexp.MustCompile(`^[a-z0-9.-]+\.[a-z]+(/[A-Za-z0-9._~-]+)+$`).MatchString(os.Args[1]) {
		fmt.Fprintln(os.Stderr, "usage: rename MODULE, such as example.org/x/gocuda")
		os.Exit(2)
	}
	if err := rename(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func rename(to string) error {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(mod), "\n")
	from := strings.TrimPrefix(first, "module ")
	if from == to {
		return fmt.Errorf("the module is %s already", to)
	}
	list, err := exec.Command("git", "ls-files", "-co", "--exclude-standard").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	// A path of a package is one that begins with the module and one of its folders; a
	// folder of the same name, such as ~/.cache/gocuda, is not.
	paths := regexp.MustCompile(`(^|[^A-Za-z0-9_./~-])` + regexp.QuoteMeta(from) + `/(cmd|cudaapi|kernel|internal|install|notebooks|examples|bench|scripts|docs)\b`)
	modules := []struct{ old, new string }{
		{"module " + from + "\n", "module " + to + "\n"},
		{"-require=" + from + "@", "-require=" + to + "@"},
		{"-replace=" + from + "=", "-replace=" + to + "="},
		{"-require " + from + "@", "-require " + to + "@"},
		{"-replace " + from + "=", "-replace " + to + "="},
		{"-e '^" + from + "/%$$'", "-e '^" + to + "/%$$'"},
		{`const Module = "` + from + `"`, `const Module = "` + to + `"`},
	}
	changed := 0
	for name := range strings.FieldsSeq(string(list)) {
		if strings.HasPrefix(name, "records/") || strings.HasPrefix(name, "scripts/rename/") {
			continue
		}
		info, err := os.Lstat(name)
		if errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if bytes.IndexByte(data, 0) >= 0 {
			continue // a picture
		}
		text := paths.ReplaceAllString(string(data), "${1}"+to+"/$2")
		for _, m := range modules {
			text = strings.ReplaceAll(text, m.old, m.new)
		}
		if text == string(data) {
			continue
		}
		changed++
		if err := os.WriteFile(name, []byte(text), info.Mode().Perm()); err != nil {
			return err
		}
	}
	fmt.Printf("%s is now %s, in %d files\n", from, to, changed)
	// Imports are sorted by their paths.
	if out, err := exec.Command("gofmt", "-w", "bench", "cmd", "cudaapi", "docs", "examples", "install", "internal", "kernel", "notebooks", "scripts").CombinedOutput(); err != nil && !bytes.Contains(out, []byte("testdata")) {
		return fmt.Errorf("gofmt: %w: %s", err, out)
	}
	return nil
}
