package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The plugin is where the Python of a prefix finds it, by its entry point, and is gone
// again; one that pip installed is left alone.
func TestPlugin(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 on PATH")
	}
	prefix := t.TempDir()
	if out, err := exec.Command(python, "-m", "venv", "--without-pip", prefix).CombinedOutput(); err != nil {
		t.Skipf("this Python makes no environments: %v\n%s", err, out)
	}
	ctx := t.Context()
	look := func() string {
		out, err := exec.Command(filepath.Join(prefix, "bin", "python3"), "-c",
			"import importlib.metadata as m; print([e.value for g in ('papermill.engine', 'nbconvert.exporters.script') for e in m.entry_points(group=g)])").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	var dir string
	for range 2 {
		if dir, err = Plugin(ctx, prefix, false); err != nil || !strings.HasPrefix(dir, prefix) {
			t.Fatalf("written to %q, %v", dir, err)
		}
	}
	if got := look(); got != "['gocuda_papermill:Engine', 'gocuda_nbconvert:ScriptExporter']" {
		t.Errorf("Python finds %s", got)
	}
	for name, want := range pluginModules() {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(text) == 0 || string(text) != string(want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := RemovePlugin(ctx, prefix, false); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "gocuda*")); len(left) > 0 || look() != "[]" {
		t.Errorf("left are %q", left)
	}

	pips := filepath.Join(dir, pluginName+"-0.0.1.dist-info")
	if err := os.MkdirAll(pips, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Plugin(ctx, prefix, false); err != nil {
		t.Error(err)
	}
	if err := RemovePlugin(ctx, prefix, false); err != nil {
		t.Error(err)
	}
	if found, _ := filepath.Glob(filepath.Join(dir, pluginName+"*")); len(found) != 1 || found[0] != pips {
		t.Errorf("beside pip's: %q", found)
	}
	if dir, err := Plugin(ctx, t.TempDir(), false); dir != "" || err != nil {
		t.Errorf("without a Python: %q, %v", dir, err)
	}
}
