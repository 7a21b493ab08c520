//go:build linux

package hostcxx

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Code that no file can hold is loaded from memory, each time with variables of
// its own.
func TestLoadFromMemory(t *testing.T) {
	cc := Find()
	if cc.Err != nil {
		t.Skip(cc.Err)
	}
	dir := t.TempDir()
	source, object := filepath.Join(dir, "n.cc"), filepath.Join(dir, "n.so")
	if err := os.WriteFile(source, []byte(`extern "C" { int n; }`), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc.Path, "-shared", "-fPIC", "-o", object, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	image, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	for what, load := range map[string]func([]byte) (Library, error){"a file": Load, "memory": openMemory} {
		at := make(map[uintptr]bool)
		for range 3 {
			l, err := load(image)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			n, err := l.Symbol("n")
			if err != nil {
				t.Fatal(err)
			}
			at[n] = true
		}
		if len(at) != 3 {
			t.Errorf("loaded three times from %s, there are %d variables", what, len(at))
		}
	}
}
