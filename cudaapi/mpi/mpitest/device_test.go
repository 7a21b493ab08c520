package mpitest_test

import (
	"testing"

	"gocuda/cudaapi/mpi/mpitest"
)

// TestDevices runs the suite with buffers on devices (simulated ones run what is
// not ordered in the worst order), by each way that their messages can take.
func TestDevices(t *testing.T) {
	for path, ranks := range map[string][]int{"ipc": {2, 4}, "staged": {3}} {
		if testing.Short() || raceDetector {
			ranks = []int{2}
		}
		t.Run(path, func(t *testing.T) {
			mpitest.Run(t, ranks, local, "GOCUDA_MPITEST_DEVICE=1", "GOCUDA_MPI_PATH="+path, "GOCUDA_SIM_SCHEDULE=adversarial")
		})
	}
}

// TestDevicesDirect runs the operators on every type with Allreduce done by
// kernels that write into each other's memory.
func TestDevicesDirect(t *testing.T) {
	for _, c := range []struct {
		way, only string
		ranks     int
	}{{"ll", "op/", 3}, {"simple", "op/Sum", 2}} {
		t.Run(c.way, func(t *testing.T) {
			t.Setenv("GOCUDA_MPITEST_ONLY", c.only)
			mpitest.Run(t, []int{c.ranks}, local, "GOCUDA_MPITEST_DEVICE=1", "GOCUDA_MPI_ALLREDUCE="+c.way, "GOCUDA_SIM_SCHEDULE=adversarial")
		})
	}
}

// TestDevicesLibraries runs it under the newest of each library, with the LL
// protocol of Allreduce.
func TestDevicesLibraries(t *testing.T) {
	if raceDetector {
		t.Skip("what is above the libraries runs in TestDevices, under the race detector too")
	}
	for _, path := range newestOf(libraries(t)) {
		t.Run(prefix(path), func(t *testing.T) {
			mpitest.Run(t, []int{2}, under(t, path), "GOCUDA_MPITEST_DEVICE=1", "GOCUDA_MPI_ALLREDUCE=ll")
		})
	}
}

// TestSymmetric runs the cases of symmetric memory on four ranks, whose kernels wait for
// each other, under the newest Open MPI and on the transport of our own.
func TestSymmetric(t *testing.T) {
	t.Setenv("GOCUDA_MPITEST_ONLY", "symmetric/")
	t.Run("local", func(t *testing.T) { mpitest.Run(t, []int{1, 2, 4}, local, "GOCUDA_MPITEST_DEVICE=1") })
	if path := newestOf(libraries(t))["openmpi"]; path != "" && !raceDetector {
		t.Run(prefix(path), func(t *testing.T) { mpitest.Run(t, []int{2, 4}, under(t, path), "GOCUDA_MPITEST_DEVICE=1") })
	}
}
