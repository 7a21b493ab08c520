package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/mpi/launch"
)

const rank = "GOCUDA_EXAMPLE_RANK" // set: the test binary is the program

func TestMain(m *testing.M) {
	if os.Getenv(rank) != "" {
		os.Args = []string{os.Args[0], "-n", "20", "-steps", "7"}
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestHalo(t *testing.T) {
	for n, want := range map[int]string{1: "1 by 1 ranks", 3: "3 by 1 ranks", 4: "2 by 2 ranks"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var out strings.Builder
		status, err := launch.Run(ctx, n, []string{os.Args[0]}, launch.Options{Stdout: &out, Stderr: &out, Env: []string{rank + "=1"}})
		if err != nil || status != 0 || !strings.Contains(out.String(), want+" of 20 by 20 cells: after 7 steps") {
			t.Errorf("%d ranks: status %d, %v:\n%s", n, status, err, out.String())
		}
	}
}
