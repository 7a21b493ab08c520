package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The ranks are programs that gocuda-kernel itself interprets.
func TestMpirun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ranks.go")
	program := `package main

import (
	"fmt"
	"os"

	"gocuda/cudaapi/mpi"
)

func main() {
	c := mpi.World()
	c.Barrier() // a rank that ends earlier fails the others' Init
	if len(os.Args) > 1 && c.Rank() == 2 {
		os.Exit(7)
	}
	sum := []int64{0}
	if err := c.Allreduce([]int64{int64(c.Rank() + 1)}, sum, mpi.Sum); err != nil {
		fmt.Println("failed")
		os.Exit(1)
	}
	fmt.Printf("rank %d of %d: %d\n", c.Rank(), c.Size(), sum[0])
	mpi.Finalize()
}
`
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := run(t, gocudaKernel(t, "mpirun", "-n", "3", self, "exec", file))
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	slices.Sort(lines)
	want := []string{"[0] rank 0 of 3: 6", "[1] rank 1 of 3: 6", "[2] rank 2 of 3: 6"}
	if status != 0 || !slices.Equal(lines, want) {
		t.Errorf("status %d, %q, stderr %s", status, lines, stderr)
	}
	status, stdout, stderr = run(t, gocudaKernel(t, "mpirun", "-n", "3", self, "exec", file, "fail"))
	if status != 7 || strings.Count(stdout, "failed") != 2 || !strings.Contains(stderr, "mpirun: rank 2 failed: exit status 7") {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}
