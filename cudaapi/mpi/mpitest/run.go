package mpitest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Launch runs a program as n ranks, with env besides its own environment, and
// gives what they printed. When the context ends, so does the job.
type Launch func(ctx context.Context, n int, program string, env []string) (output []byte, err error)

// jobTime is what all cases of one size may take together. What hangs is found long
// before, by [caseSeconds].
const jobTime = 8 * time.Minute

// Run runs the suite: for each size one job of this test binary, whose TestMain
// calls [Main] if it [IsRank]. Each case is a subtest, under "ranks=N".
func Run(t *testing.T, sizes []int, launch Launch, env ...string) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range sizes {
		t.Run(fmt.Sprintf("ranks=%d", n), func(t *testing.T) {
			t.Parallel() // launchers mostly wait while they start and end
			dir := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), jobTime)
			defer cancel()
			output, failure := launch(ctx, n, program, append([]string{envReports + "=" + dir}, env...))
			reports := make([]report, n)
			for i := range reports {
				reports[i] = read(filepath.Join(dir, fmt.Sprintf("rank%d", i)))
			}
			t.Log(reports[0].library)
			passed, skipped := 0, 0
			for _, name := range ran(n) {
				if t.Run(name, func(t *testing.T) {
					var missed []int
					for rank, r := range reports {
						what := r.cases[name]
						switch what.state {
						case "done":
						case "skip":
							skipped++
							t.Skip(what.texts[0])
						case "":
							missed = append(missed, rank)
						default:
							t.Errorf("rank %d: %s", rank, what.state)
						}
						for _, text := range what.texts {
							t.Errorf("rank %d: %s", rank, text)
						}
					}
					if missed != nil {
						t.Errorf("ranks %v did not come to it", missed)
					}
				}) {
					passed++
				}
			}
			t.Logf("%d cases passed, %d were left out", passed-skipped, skipped)
			if ctx.Err() != nil {
				t.Errorf("the job was not over after %v", jobTime)
			} else if failure != nil {
				t.Errorf("the job ended with %v", failure)
			}
			if (failure != nil || t.Failed()) && len(output) > 0 {
				t.Logf("its output:\n%s", output)
			}
		})
	}
}

// ran lists what n ranks run.
func ran(n int) []string {
	names := []string{"Finalize"}
	for _, c := range Cases() {
		if c.runs(n) {
			names = append(names, c.Name)
		}
	}
	return names
}

// report is what a rank wrote.
type report struct {
	library string
	cases   map[string]outcome
}

type outcome struct {
	state string // "done", "hang", or since when it is under way
	texts []string
}

func read(path string) report {
	r := report{cases: map[string]outcome{}}
	text, err := os.ReadFile(path)
	if err != nil {
		return r
	}
	// Lines that go on begin with a tab.
	for _, line := range strings.Split(strings.ReplaceAll(string(text), "\n\t", "\x00"), "\n") {
		f := strings.SplitN(strings.ReplaceAll(line, "\x00", "\n"), "\t", 3)
		if len(f) < 3 {
			continue
		}
		o := r.cases[f[1]]
		switch f[0] {
		case "library":
			r.library = f[2]
			continue
		case "skip":
			o.texts, o.state = append(o.texts, f[2]), "skip"
		case "fail":
			o.texts = append(o.texts, f[2])
		case "hang":
			o.texts = append(o.texts, "hangs in "+f[2])
			o.state = "hang"
		case "start":
			o.state = "began after " + f[2] + " and did not end"
		default:
			if o.state != "hang" {
				o.state = f[0]
			}
		}
		r.cases[f[1]] = o
	}
	return r
}
