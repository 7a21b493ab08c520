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
