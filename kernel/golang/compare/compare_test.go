package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// workerVariable makes a worker of this test.
const workerVariable = "GOCUDA_COMPARE_WORKER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(workerVariable); mode != "" {
		*checked = mode == "checked"
		if err := worker(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// seed is that of GOCUDA_COMPARE_SEED. Without it, it is always the same: the tests of a
// change fail by the change. `go run ./kernel/golang/compare` searches on.
func seed(t *testing.T) uint64 {
	s := uint64(20261123)
	if text := os.Getenv("GOCUDA_COMPARE_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		s = n
	}
	t.Logf("GOCUDA_COMPARE_SEED=%d", s)
	return s
}

func newSearch(t *testing.T) *search {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command to compile with")
	}
	p := &pool{limit: 5 * time.Minute, dir: t.TempDir(), command: func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), workerVariable+"=1")
		return cmd
	}}
	return &search{pool: p, workers: 2, reduce: 1, report: func(d difference) {
		text := d.String()
		if d.program.parts == nil {
			text += d.program.whole()
		}
		t.Error(text)
	}}
}

// A share of the matrix that the seed chooses prints what it prints when it is compiled.
func TestMatrixPrintsAsCompiled(t *testing.T) {
	s := newSearch(t)
	if err := s.matrix(t.Context(), seed(t), 400); err != nil {
		t.Fatal(err)
	}
	if s.entries < 100 {
		t.Errorf("only %d entries", s.entries)
	}
}

// So do random programs.
func TestRandomProgramsPrintAsCompiled(t *testing.T) {
	s := newSearch(t)
	if err := s.random(t.Context(), seed(t), 0, 100); err != nil {
		t.Fatal(err)
	}
}

// A difference is found, and made small.
func TestDifferenceIsFound(t *testing.T) {
	s := newSearch(t)
	p := program{name: "r0", decls: `
func r0other() int { return 4 }
func r0main() {
	fmt.Println(r0other())
	if x := r0other(); x > 3 {
		fmt.Println("a", os.Args[0])
		fmt.Println("b")
	}
}
`}
	found, err := compare(context.Background(), s.pool, 1, []program{p})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(allModes) {
		t.Fatalf("%d differ", len(found))
	}
	small := s.reduced(t.Context(), found[0])
	if code := small.program.decls; strings.Contains(code, `"b"`) || !strings.Contains(code, "os.Args[0]") {
		t.Errorf("%q", code)
	}
}
