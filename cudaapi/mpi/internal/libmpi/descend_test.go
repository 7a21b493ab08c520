//go:build linux && (amd64 || arm64)

package libmpi

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// descend runs this program again, n generations down, each with a pipe as
// file 3, as the kernel starts its evaluators.
func descend(generations string) int {
	n, err := strconv.Atoi(generations)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	r, w, err := os.Pipe()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer r.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "GOCUDA_TEST_DESCEND="+[]string{"", strconv.Itoa(n - 1)}[b2i(n > 1)])
	cmd.ExtraFiles = []*os.File{w, w}
	err = cmd.Run()
	w.Close()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return exit.ExitCode()
	} else if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}

// TestRanksAreDescendants is what the notebook's ranks rely on: mpirun starts
// gocuda-kernel, and the evaluator that calls MPI is its child or grandchild.
func TestRanksAreDescendants(t *testing.T) {
	onEach(t, func(t *testing.T, lib installed) {
		lib.mpirun(t, 2, "ring", "GOCUDA_TEST_DESCEND=1")
		lib.mpirun(t, 3, "ring", "GOCUDA_TEST_DESCEND=2")
	})
}

// TestASecondDescendantFollowsTheFirst: a notebook's rank whose evaluator ended
// gets a new one.
