package mpitest_test

import (
	"testing"

	"gocuda/cudaapi/mpi/mpitest"
)

// TestDevices runs the suite with buffers on devices (simulated ones run what is
// not ordered in the worst order), by each way that their messages can take.
func TestDevices(t *testing.T) {
	ranks := []int{2, 4}
	if testing.Short() {
		ranks = []int{3}
	}
	for _, path := range []string{"ipc", "staged"} {
		t.Run(path, func(t *testing.T) {
			mpitest.Run(t, ranks, local, "GOCUDA_MPITEST_DEVICE=1", "GOCUDA_MPI_PATH="+path, "GOCUDA_SIM_SCHEDULE=adversarial")
		})
	}
}
