package mpitest_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/mpi/launch"
	"gocuda/cudaapi/mpi/mpitest"
)

func TestMain(m *testing.M) {
	if mpitest.IsRank() {
		mpitest.Main()
	}
	os.Exit(m.Run())
}

// sizes are the numbers of ranks that the suite is run with.
func sizes() []int {
	if testing.Short() {
		return []int{1, 3, 4}
	}
	return []int{1, 2, 3, 4, 7, 8}
}

// TestLibraries runs the suite under each MPI that make mpi-libs has installed,
// and under the machine's own.
func TestLibraries(t *testing.T) {
	mpiruns, _ := filepath.Glob("../../../build/mpi/*/bin/mpirun")
	if own, err := exec.LookPath("mpirun"); err == nil {
		mpiruns = append(mpiruns, own)
	}
	if len(mpiruns) == 0 {
		t.Skip("no mpirun in build/mpi or on the PATH: make mpi-libs installs some")
	}
	for _, path := range mpiruns {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		prefix := filepath.Dir(filepath.Dir(path))
		t.Run(filepath.Base(prefix), func(t *testing.T) {
			version, err := exec.Command(path, "--version").CombinedOutput()
			if err != nil {
				t.Skipf("%s --version: %v: %s", path, err, version)
			}
			mpitest.Run(t, sizes(), func(ctx context.Context, n int, program string, env []string) ([]byte, error) {
				args := []string{"-n", strconv.Itoa(n)}
				if strings.Contains(string(version), "Open MPI") || strings.Contains(string(version), "OpenRTE") {
					args = append(args, "--oversubscribe", "--bind-to", "none")
				}
				cmd := exec.CommandContext(ctx, path, append(args, program)...)
				cmd.Env = append(append(os.Environ(), env...), "OPAL_PREFIX="+prefix,
					"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1")
				return output(cmd)
			})
		})
	}
}

func output(cmd *exec.Cmd) ([]byte, error) {
	cmd.WaitDelay = 5 * time.Second
	return cmd.CombinedOutput()
}

// TestLocal runs it on the built-in transport.
func TestLocal(t *testing.T) {
	mpitest.Run(t, sizes(), local)
}

func local(ctx context.Context, n int, program string, env []string) ([]byte, error) {
	job, err := launch.New(n)
	if err != nil {
		return nil, err
	}
	defer job.Close()
	out := make([][]byte, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for rank := range n {
		wg.Go(func() {
			cmd := exec.CommandContext(ctx, program)
			cmd.Env = append(append(os.Environ(), env...), job.Env(rank)...)
			out[rank], errs[rank] = output(cmd)
			if errs[rank] != nil {
				job.Lost(rank, errs[rank].Error())
			}
		})
	}
	wg.Wait()
	return bytes.Join(out, nil), errors.Join(errs...)
}
