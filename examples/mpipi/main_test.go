package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/mpi/launch"
)

const rank = "GOCUDA_EXAMPLE_RANK" // set: the test binary is the program

func TestMain(m *testing.M) {
	if os.Getenv(rank) != "" {
		os.Args = os.Args[:1]
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestLocal starts it by gocuda's launcher.
func TestLocal(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out strings.Builder
	status, err := launch.Run(ctx, 4, []string{os.Args[0]}, launch.Options{Stdout: &out, Stderr: &out, Env: []string{rank + "=1"}})
	if err != nil || status != 0 || !strings.Contains(out.String(), "pi is 3.141592653590, from 4 ranks") {
		t.Errorf("status %d, %v:\n%s", status, err, out.String())
	}
}

// TestMpirun starts it by each mpirun that is here.
func TestMpirun(t *testing.T) {
	all, _ := filepath.Glob("../../build/mpi/*/bin/mpirun")
	if own, err := exec.LookPath("mpirun"); err == nil {
		all = append(all, own)
	}
	if len(all) == 0 {
		t.Skip("no mpirun in build/mpi or on the PATH: make mpi-libs installs some")
	}
	for _, path := range all {
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(path))), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			args := []string{"-n", "4", os.Args[0]}
			if version, _ := exec.Command(path, "--version").CombinedOutput(); strings.Contains(string(version), "Open MPI") {
				args = append([]string{"--oversubscribe"}, args...)
			}
			cmd := exec.CommandContext(ctx, path, args...)
			// Two mpiruns of Open MPI 4 that make one folder at once can fail; and so can PMIx where
			// a rank has something else at the address of the memory that it shares.
			cmd.Env = append(os.Environ(), rank+"=1", "OMPI_MCA_orte_tmpdir_base="+t.TempDir(), "PMIX_MCA_gds=hash", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
				"PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1")
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "pi is 3.141592653590, from 4 ranks") {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}

// TestFromAnotherModule: the program is built in a module of its own, which names
// gocuda's source by replace, and run.
func TestFromAnotherModule(t *testing.T) {
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"main.go": "main.go", filepath.Join(root, "go.sum"): "go.sum"} {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, words := range [][]string{
		{"go", "mod", "init", "example.com/pi"},
		{"go", "mod", "edit", "-require=gocuda@v0.0.0", "-replace=gocuda=" + root},
		{"go", "build", "-trimpath", "-mod=mod", "-o", "pi.exe", "."},
		{filepath.Join(dir, "pi.exe"), "-strips", "100000"},
	} {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOPROXY=off", "GOWORK=off", "GOCUDA_BACKEND=sim")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
		}
		if words[1] == "-strips" && !strings.Contains(string(out), "3.14159") {
			t.Errorf("it prints %s", out)
		}
	}
}
