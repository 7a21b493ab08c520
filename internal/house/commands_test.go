package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Go commands that compile; one for a debugger keeps the names of files.
var (
	compiles    = regexp.MustCompile(`"(?:build|run)", "|"-export"`)
	forDebugger = regexp.MustCompile(`all=-N -l`)
)

// Go commands that programs and tests start compile with -trimpath, as the Makefile does:
// without it, they compile the standard library once more.
func TestGoCommandsTrimPaths(t *testing.T) {
	found := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "build") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "commands_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if !compiles.MatchString(line) || !strings.Contains(line, `"go"`) && !strings.Contains(line, `"-export"`) || forDebugger.MatchString(line) {
				continue
			}
			found++
			if !strings.Contains(line, `"-trimpath"`) {
				t.Errorf("%s: without -trimpath: %s", name, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 8 {
		t.Errorf("only %d go commands were found", found)
	}
}
