//go:build linux

package sim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// TestOneProcessCompiles starts several that want the same code, as the ranks of
// a job do, where none is cached: one calls the compiler.
func TestOneProcessCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("what it starts are processes")
	}
	if os.Getenv("GOCUDA_TEST_ONCE") != "" {
		b := newBox(t, sim.Options{Devices: 1})
		_, err := b.d.Compile(0, &driver.Source{Name: "once.cu", Code: `__global__ void once(int *x) { *x = 1; }`})
		b.ok(err)
		return
	}
	cxx, err := sim.Compiler()
	if err != nil {
		t.Skip(err)
	}
	calls := func(processes int) int {
		dir := t.TempDir()
		wrapper, log := filepath.Join(dir, "cxx"), filepath.Join(dir, "log")
		script := "#!/bin/sh\n[ \"$1\" = --version ] || echo call >>" + log + "\nexec " + cxx + " \"$@\"\n"
		if err := os.WriteFile(wrapper, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		var cmds []*exec.Cmd
		for range processes {
			cmd := exec.Command(os.Args[0], "-test.run=^TestOneProcessCompiles$")
			cmd.Env = append(os.Environ(), "GOCUDA_TEST_ONCE=1", "CXX="+wrapper, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			cmds = append(cmds, cmd)
		}
		for _, cmd := range cmds {
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "call")
	}
	if one, three := calls(1), calls(3); one == 0 || three != one {
		t.Errorf("one process calls the compiler %d times, three call it %d times", one, three)
	}
}

// TestHeadersArePrecompiled compiles kernels in two processes, one after the other: the header is
// compiled when it is used again, and kept.
func TestHeadersArePrecompiled(t *testing.T) {
	if testing.Short() {
		t.Skip("what it starts are processes")
	}
	if list := os.Getenv("GOCUDA_TEST_ONCE"); list != "" {
		b := newBox(t, sim.Options{Devices: 1, CUDA: "c++"})
		for _, n := range strings.Fields(list) {
			_, err := b.d.Compile(0, &driver.Source{Name: "once.cu", Code: "__global__ void once(int *x) { *x = " + n + "; }"})
			b.ok(err)
		}
		return
	}
	cxx, err := sim.Compiler()
	if err != nil || strings.Contains(filepath.Base(cxx), "clang") {
		t.Skipf("it is g++ that precompiles: %s, %v", cxx, err)
	}
	dir := t.TempDir()
	wrapper, log := filepath.Join(dir, "cxx"), filepath.Join(dir, "log")
	if err := os.WriteFile(wrapper, []byte("#!/bin/sh\necho \"call $*\" >>"+log+"\nexec "+cxx+" -H \"$@\" 2>>"+log+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kernels    string
		made, used int
	}{{"1", 0, 0}, {"2 3 4", 1, 2}, {"5 6", 0, 2}} {
		os.Remove(log)
		cmd := exec.Command(os.Args[0], "-test.run=^TestHeadersArePrecompiled$")
		cmd.Env = append(os.Environ(), "GOCUDA_TEST_ONCE="+c.kernels, "CXX="+wrapper, "GOCUDA_CACHE="+filepath.Join(dir, "cache"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		made, used := strings.Count(string(text), " c++-header "), strings.Count(string(text), "\n! ")
		if made != c.made || used != c.used {
			t.Errorf("kernels %s: the header was precompiled %d times and used so %d times, not %d and %d:\n%s", c.kernels, made, used, c.made, c.used, text)
		}
	}
}
