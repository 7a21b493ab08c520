//go:build linux

package sim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
)

const counter = `__device__ int n; extern "C" __global__ void count(int *x) { *x = ++n; }`

// compiled compiles in an environment, which replaces what it names.
func compiled(t *testing.T, env map[string]string) *driver.Compiled {
	t.Helper()
	for name, value := range env {
		t.Setenv(name, value)
	}
	if _, err := Compiler(); err != nil {
		t.Skip(err)
	}
	m, err := New(Options{Devices: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c, err := m.Compile(0, &driver.Source{Name: "count.cu", Code: counter})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// GOCUDA_CACHE names the folder of compiled kernels, or turns it off; and a
// damaged one is compiled again.
func TestCacheIsWhereItIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the same kernel four times")
	}
	dir := t.TempDir()
	env := map[string]string{"GOCUDA_CACHE": dir}
	if compiled(t, env).Cached {
		t.Fatal("it was there before")
	}
	if !compiled(t, env).Cached {
		t.Fatal("it was not kept")
	}
	files, err := filepath.Glob(filepath.Join(dir, "sim", "[0-9a-f]*"))
	if err != nil || len(files) != 2 { // the code, and what all kernels have in common
		t.Fatalf("files: %v, %v", files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2] ^= 1
		if err := os.WriteFile(f, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runtimes.Clear()
	if compiled(t, env).Cached {
		t.Error("damaged code was taken")
	}
	if !compiled(t, env).Cached {
		t.Error("damaged code was not replaced")
	}
	none := t.TempDir()
	for range 2 {
		if compiled(t, map[string]string{"GOCUDA_CACHE": "off", "XDG_CACHE_HOME": none}).Cached {
			t.Error("kept though it is off")
		}
	}
	if left, err := filepath.Glob(filepath.Join(none, "*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// Headers that were taken from the temporary folder are written again.
func TestHeadersTakenAway(t *testing.T) {
	if _, err := Compiler(); err != nil {
		t.Skip(err)
	}
	temp := t.TempDir()
	env := map[string]string{"GOCUDA_CACHE": "off", "TMPDIR": temp}
	compiled(t, env)
	headers, err := filepath.Glob(filepath.Join(temp, "*", "include", "cuda_sim.h"))
	if err != nil || len(headers) != 1 {
		t.Fatal(headers, err)
	}
	if err := os.Remove(headers[0]); err != nil {
		t.Fatal(err)
	}
	compiled(t, env)
	if _, err := os.Stat(headers[0]); err != nil {
		t.Error(err)
	}
}

// The same code under another name is not compiled again, and its log has that name. Code
// that names its file is, and so is code with a header of the user's own, which may change.
func TestCacheOfAnotherName(t *testing.T) {
	if _, err := Compiler(); err != nil {
		t.Skip(err)
	}
	t.Setenv("GOCUDA_CACHE", t.TempDir())
	headers := t.TempDir()
	m, err := New(Options{Devices: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	warns := "#warning is slow\n" + counter
	for _, c := range []struct {
		what, code, header string
		options            []string
		cached             bool
	}{
		{what: "code", code: warns, cached: true},
		{what: "code with its file's name", code: counter + "\n__device__ const char *file() { return __FILE__; }"},
		{what: "code with a header", code: "#include <mine.h>\n" + counter, header: "mine.h", options: []string{"-I" + headers}},
	} {
		for i, name := range []string{"In[1].cu", "In[2].cu"} {
			if c.header != "" {
				name = "In[1].cu"
				if err := os.WriteFile(filepath.Join(headers, c.header), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := m.Compile(0, &driver.Source{Name: name, Code: c.code, Options: c.options})
			if err != nil {
				t.Fatal(err)
			}
			if got.Cached != (i > 0 && c.cached) {
				t.Errorf("%s as %s: cached is %v", c.what, name, got.Cached)
			}
			if c.code == warns && !strings.HasPrefix(got.Log, name+"(1): warning: ") {
				t.Errorf("the log of %s: %q", name, got.Log)
			}
		}
	}
}

// Where files can be neither in the home nor in the temporary folder, kernels
// compile all the same.
func TestCompileWithoutFolders(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if compiled(t, map[string]string{"GOCUDA_CACHE": "", "XDG_CACHE_HOME": "", "HOME": file, "TMPDIR": file}).Cached {
		t.Error("cached where?")
	}
}
