//go:build linux && (amd64 || arm64)

package libmpi

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/mpi/internal/transport"
)

// programs are what a rank runs: this test binary again, under mpirun.
var programs = map[string]func(t transport.Transport) error{}

func TestMain(m *testing.M) {
	name := os.Getenv("GOCUDA_TEST_PROGRAM")
	if name == "" {
		os.Exit(m.Run())
	}
	if n := os.Getenv("GOCUDA_TEST_DESCEND"); n != "" {
		os.Exit(descend(n))
	}
	if err := run(strings.Split(name, ",")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(names []string) error {
	t, err := Open()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := programs[name](t); err != nil {
			return fmt.Errorf("%s, rank %d: %w", name, t.World().Rank(), err)
		}
	}
	return t.Finalize()
}

// installed is an MPI of build/mpi, and the ABI to use it by.
type installed struct {
	name, prefix, library string
}

// libraries are those that make mpi-libs has installed.
func libraries(t testing.TB) []installed {
	t.Helper()
	prefixes, _ := filepath.Glob("../../../../build/mpi/*/bin/mpirun")
	var all []installed
	for _, p := range prefixes {
		prefix, err := filepath.Abs(filepath.Dir(filepath.Dir(p)))
		if err != nil {
			t.Fatal(err)
		}
		for _, lib := range []string{"libmpi.so.40", "libmpi.so.12", "libmpi_abi.so.1"} {
			if file := filepath.Join(prefix, "lib", lib); exists(file) {
				name := filepath.Base(prefix)
				if strings.HasPrefix(lib, "libmpi_abi") {
					name += "-abi"
				}
				all = append(all, installed{name, prefix, file})
			}
		}
	}
	if len(all) == 0 {
		t.Skip("no MPI library in build/mpi: make mpi-libs installs some")
	}
	return all
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// onEach runs f on each library; under the race detector on one, for it sees the
// same Go code in all.
func onEach(t *testing.T, f func(t *testing.T, lib installed)) {
	all := libraries(t)
	if raceDetector {
		all = all[len(all)-1:]
	}
	for _, lib := range all {
		t.Run(lib.name, func(t *testing.T) {
			t.Parallel() // launchers mostly wait while they start and end
			f(t, lib)
		})
	}
}

// mpirun runs programs, one after the other, on n ranks and gives what they printed.
func (lib installed) mpirun(t testing.TB, n int, program string, env ...string) string {
	t.Helper()
	out, err := lib.try(t, n, program, env...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

func (lib installed) try(t testing.TB, n int, program string, env ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // against hangs only
	defer cancel()
	args := []string{"-n", fmt.Sprint(n)}
	if strings.HasPrefix(lib.name, "openmpi") {
		args = append(args, "--oversubscribe")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(lib.prefix, "bin/mpirun"), append(args, os.Args[0])...)
	// Two mpiruns of Open MPI 4 that make one folder at once can fail; and so can PMIx where a
	// rank has something else at the address of the memory that it shares.
	cmd.Env = append(os.Environ(), "GOCUDA_TEST_PROGRAM="+program, "GOCUDA_MPI="+lib.library, "GORACE=halt_on_error=1 atexit_sleep_ms=0", "OMPI_MCA_orte_tmpdir_base="+t.TempDir(), "PMIX_MCA_gds=hash",
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	cmd.Env = append(cmd.Env, env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	return out.String(), err
}

// wait drives a request to its end.
func wait(r transport.Request, err error) (transport.Status, error) {
	if err != nil {
		return transport.Status{}, err
	}
	for i := 0; ; i++ {
		if st, done, err := r.Test(); done || err != nil {
			return st, err
		}
		if i > 1000 {
			time.Sleep(10 * time.Microsecond) // others may need the processor
		} else if i > 100 {
			runtime.Gosched()
		}
	}
}
