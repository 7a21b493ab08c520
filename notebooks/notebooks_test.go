package notebooks

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"gocuda/kernel/notebook"
	"gocuda/kernel/ranks"
	"gocuda/kernel/session"
)

// The tests' evaluators and ranks are this test binary, started again.
func TestMain(m *testing.M) {
	if os.Getenv("GOCUDA_TEST_AS_EVALUATOR") == "" {
		os.Exit(m.Run())
	}
	start := func() error { return session.Evaluate(ranks.Attach) }
	if len(os.Args) > 1 && os.Args[1] == "rank" {
		start = ranks.Supervise
	}
	if err := start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// read gives a tutorial by its file name.
func read(t *testing.T, name string) *notebook.Notebook {
	t.Helper()
	data, err := FS.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := notebook.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

// run runs a notebook on simulated devices.
func run(t *testing.T, nb *notebook.Notebook, devices int) error {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return notebook.Run(t.Context(), nb, notebook.RunOptions{
		Timeout: 5 * time.Minute,
		Start: func(output func(session.Output)) (notebook.Evaluator, error) {
			return session.Start(session.Options{
				Command: []string{self},
				Dir:     t.TempDir(),
				Output:  output,
				Env: []string{
					"GOCUDA_TEST_AS_EVALUATOR=1", "GOCUDA_BACKEND=sim", "GORACE=report_bugs=0",
					fmt.Sprintf("GOCUDA_SIM_DEVICES=%d", devices),
				},
			})
		},
	})
}

// Every tutorial checks its own results: it runs to its end on any number of
// devices. Points are thrown in full on four of them, fewer on the others.
func TestTutorials(t *testing.T) {
	names, err := fs.Glob(FS, "*.ipynb")
	if err != nil || len(names) == 0 {
		t.Fatal("no tutorials", err)
	}
	counts := []int{1, 2, 4, 8}
	if testing.Short() {
		counts = []int{2}
	}
	for _, name := range names {
		for _, devices := range counts {
			t.Run(fmt.Sprintf("%s/devices=%d", name, devices), func(t *testing.T) {
				nb := read(t, name)
				if devices != 4 && declaresSamples(nb) {
					nb.Inject([]notebook.Parameter{{Name: "samples", Value: "200_003"}})
				}
				if err := run(t, nb, devices); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// declaresSamples says whether the notebook has a parameter of that name.
func declaresSamples(nb *notebook.Notebook) bool {
	for _, c := range nb.Cells {
		if c.HasTag("parameters") {
			return strings.Contains(c.Source, "samples")
		}
	}
	return false
}
