package mpitest_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
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
	if os.Getenv(envKilled) != "" {
		if err := survivor(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// sizes are the numbers of ranks that the suite is run with. The race detector
// looks at one of them: it sees a rank's goroutines, whatever their number.
func sizes() []int {
	switch {
	case raceDetector:
		return []int{2}
	case testing.Short():
		return []int{1, 3}
	}
	return []int{1, 2, 3, 4, 7, 8}
}

// TestLibraries runs the suite under each MPI that make mpi-libs has installed,
// and under the machine's own.
func TestLibraries(t *testing.T) {
	mpiruns := libraries(t)
	// Many ranks on few processors take long, under libraries that ask and ask while they
	// wait: fewer numbers of ranks than on the transport of our own, and fewest in the
	// older ones of each library.
	newest := newestOf(mpiruns)
	for _, path := range mpiruns {
		n := []int{1, 2, 4, 7}
		switch {
		case raceDetector && newest["openmpi"] != path:
			continue // there is most of ours around Open MPI
		case raceDetector || testing.Short():
			n = sizes()
		case newest[family(path)] != path:
			n = []int{1, 4}
		}
		t.Run(prefix(path), func(t *testing.T) { mpitest.Run(t, n, under(t, path)) })
	}
}

// TestLibrariesWithoutWindows runs the cases of windows under an Open MPI that makes
// none of a program's memory, as Ubuntu's 4.1 does on hosts without an RDMA network.
func TestLibrariesWithoutWindows(t *testing.T) {
	t.Setenv(mpitest.Only, "win/")
	for _, path := range libraries(t) {
		if family(path) != "openmpi" || raceDetector {
			continue
		}
		t.Run(prefix(path), func(t *testing.T) { mpitest.Run(t, []int{3}, under(t, path), "OMPI_MCA_osc=sm") })
	}
}

// libraries are the mpiruns of this machine.
func libraries(t *testing.T) []string {
	mpiruns, _ := filepath.Glob("../../../build/mpi/*/bin/mpirun") // sorted
	if own, err := exec.LookPath("mpirun"); err == nil {
		mpiruns = append(mpiruns, own)
	}
	for i, path := range mpiruns {
		var err error
		if mpiruns[i], err = filepath.Abs(path); err != nil {
			t.Fatal(err)
		}
	}
	if len(mpiruns) == 0 {
		t.Skip("no mpirun in build/mpi or on the PATH: make mpi-libs installs some")
	}
	return mpiruns
}

func newestOf(mpiruns []string) map[string]string {
	newest := map[string]string{}
	for _, path := range mpiruns {
		newest[family(path)] = path
	}
	return newest
}

// prefix is the folder's name that a library is in.
func prefix(mpirun string) string { return filepath.Base(filepath.Dir(filepath.Dir(mpirun))) }

// under starts ranks by an mpirun.
func under(t *testing.T, mpirun string, options ...string) mpitest.Launch {
	version, err := exec.Command(mpirun, "--version").CombinedOutput()
	if err != nil {
		t.Skipf("%s --version: %v: %s", mpirun, err, version)
	}
	return func(ctx context.Context, n int, program string, env []string) ([]byte, error) {
		args := append(slices.Clone(options), "-n", strconv.Itoa(n))
		if strings.Contains(string(version), "Open MPI") || strings.Contains(string(version), "OpenRTE") {
			args = append(args, "--oversubscribe", "--bind-to", "none")
		}
		cmd := exec.CommandContext(ctx, mpirun, append(args, program)...)
		// Two mpiruns of Open MPI 4 that make one folder at once can fail; and so can PMIx where
		// a rank has something else at the address of the memory that it shares.
		cmd.Env = append(append(os.Environ(), env...), "OPAL_PREFIX="+filepath.Dir(filepath.Dir(mpirun)), "OMPI_MCA_orte_tmpdir_base="+t.TempDir(), "PMIX_MCA_gds=hash",
			"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1")
		if n > runtime.NumCPU() {
			// MPICH asks and asks while it waits, and keeps the processor from the rank
			// that it waits for. Open MPI sees by itself that it should not.
			cmd.Env = append(cmd.Env, "MPIR_CVAR_POLLS_BEFORE_YIELD=20", "MPIR_CVAR_ENABLE_HEAVY_YIELD=1")
		}
		return output(cmd)
	}
}

// family is the library's name without its version.
func family(mpirun string) string {
	name, _, _ := strings.Cut(prefix(mpirun), "-")
	return name
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
	var out bytes.Buffer
	status, err := launch.Run(ctx, n, []string{program}, launch.Options{Stdout: &out, Stderr: &out, Env: env})
	if err == nil && status != 0 {
		err = fmt.Errorf("exit status %d", status)
	}
	return out.Bytes(), err
}
