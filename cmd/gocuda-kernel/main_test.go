package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gocuda/install"
)

func invoke(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = dispatch(args, &out, &err)
	return status, out.String(), err.String()
}

func TestHelpOfEveryCommand(t *testing.T) {
	for _, c := range commands() {
		if c.summary == "" {
			continue
		}
		status, stdout, stderr := invoke(t, "help", c.name)
		if status != 0 || stderr != "" || !strings.HasPrefix(stdout, strings.TrimSpace("Usage: gocuda-kernel "+c.name+" "+c.args)) || !strings.Contains(stdout, c.summary[1:]) {
			t.Errorf("help %s: status %d\n%s%s", c.name, status, stdout, stderr)
		}
		flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		if err := c.run(&call{ctx: t.Context(), flags: flags, args: []string{"-h"}, stdout: io.Discard, stderr: io.Discard}); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s -h ends with %v", c.name, err)
		}
		flags.VisitAll(func(f *flag.Flag) {
			if f.Usage == "" || !regexp.MustCompile(`(?m)^ +-`+f.Name+`\b`).MatchString(stdout) {
				t.Errorf("help %s does not say what -%s is:\n%s", c.name, f.Name, stdout)
			}
		})
	}
	if status, stdout, _ := invoke(t, "help", "help"); status != 0 || !strings.Contains(stdout, "Usage:") {
		t.Errorf("help help: status %d, %s", status, stdout)
	}
	if status, _, stderr := invoke(t, "help", "fly"); status != 2 || !strings.Contains(stderr, `no command "fly"`) {
		t.Errorf("help fly: status %d, %s", status, stderr)
	}
}

func TestCallsThatMakeNoSense(t *testing.T) {
	for _, c := range []struct {
		args, want string
	}{
		{"", "Usage"},
		{"fly", `no command "fly"`},
		{"serve", "no connection file"},
		{"serve -x a", "flag provided but not defined: -x"},
		{"run", "no notebook"},
		{"run --fly a.ipynb", "fly"},
		{"run a.ipynb -p x", "NAME=VALUE"},
		{"run a.ipynb -p 1x=2", "1x"},
		{"run a.ipynb --inplace -o b", "together"},
		{"run a.ipynb --timeout soon", "timeout"},
		{"install --user --prefix /x", "together"},
		{"install here", "here"},
		{"exec", "no file"},
		{"mpirun -n 4", "no program"},
		{"mpirun -n 0 true", "at least one rank"},
	} {
		status, stdout, stderr := invoke(t, strings.Fields(c.args)...)
		if status != 2 || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%q: status %d, stdout %q, stderr %q; want %q", c.args, status, stdout, stderr, c.want)
		}
	}
}

func TestHelp(t *testing.T) {
	status, stdout, _ := invoke(t, "help")
	if status != 0 || !strings.Contains(stdout, "gocuda-kernel install") || strings.Contains(stdout, "evaluate") {
		t.Errorf("status %d: %s", status, stdout)
	}
	for _, c := range commands() {
		if c.summary == "" {
			continue
		}
		for _, args := range [][]string{{c.name, "-h"}, {"help", c.name}} {
			status, stdout, stderr := invoke(t, args...)
			if status != 0 || !strings.HasPrefix(stdout, "Usage: gocuda-kernel "+c.name) || stderr != "" {
				t.Errorf("%q: status %d, %q %q", args, status, stdout, stderr)
			}
		}
	}
	if _, stdout, _ := invoke(t, "run", "-h"); !strings.Contains(stdout, "-timeout D") {
		t.Errorf("help does not list the flags:\n%s", stdout)
	}
}

func TestInstallSaysWhereAndWhetherJupyterFindsIt(t *testing.T) {
	prefix := t.TempDir()
	t.Setenv("PATH", t.TempDir()) // no jupyter to ask
	t.Setenv("HOME", t.TempDir())
	t.Setenv("JUPYTER_PATH", "")
	t.Setenv("JUPYTER_DATA_DIR", "")
	root := filepath.Join(prefix, "share", "jupyter")
	dir := filepath.Join(root, "kernels", "sim")

	install := []string{"install", "--prefix", prefix, "--name", "sim", "--env", "GOCUDA_BACKEND=sim"}
	binary, err := executable()
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(binary, filepath.Join(os.TempDir(), "go-build")) {
		if status, _, stderr := invoke(t, install...); status != 1 || !strings.Contains(stderr, "go run") {
			t.Errorf("installed a binary that will be gone: %d %s", status, stderr)
		}
	}
	t.Setenv("TMPDIR", t.TempDir()) // this test's binary shall pass for one that stays
	status, stdout, stderr := invoke(t, install...)
	if status != 0 || !strings.Contains(stdout, dir) || !strings.Contains(stdout, "JUPYTER_PATH="+root) {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	spec, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil || !strings.Contains(string(spec), `"GOCUDA_BACKEND": "sim"`) || !strings.Contains(string(spec), binary) {
		t.Errorf("%v: %s", err, spec)
	}

	t.Setenv("JUPYTER_PATH", root)
	if _, stdout, _ := invoke(t, install...); !strings.Contains(stdout, "Jupyter will find it there") {
		t.Error(stdout)
	}
	if status, _, stderr := invoke(t, "uninstall", "--name", "sim"); status != 1 || !strings.Contains(stderr, "--prefix "+prefix) {
		t.Errorf("uninstall from the wrong place: %d %s", status, stderr)
	}
	if status, stdout, _ := invoke(t, "uninstall", "--name", "sim", "--prefix", prefix); status != 0 || !strings.Contains(stdout, dir) {
		t.Errorf("%d %s", status, stdout)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it is still there")
	}
}

func TestVersion(t *testing.T) {
	status, stdout, _ := invoke(t, "--version")
	if status != 0 || !strings.HasPrefix(stdout, "gocuda-kernel "+install.Version) {
		t.Errorf("%d %s", status, stdout)
	}
}
