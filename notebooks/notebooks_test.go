package notebooks

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gocuda/kernel/check"
	"gocuda/kernel/evaluator"
	"gocuda/kernel/notebook"
	"gocuda/kernel/profiling"
	"gocuda/kernel/ranks"
	"gocuda/kernel/session"
	"gocuda/kernel/solved"
	"gocuda/kernel/tracing"
)

// The tests' evaluators and ranks are this test binary, started again.
func TestMain(m *testing.M) {
	if os.Getenv("GOCUDA_TEST_AS_EVALUATOR") == "" {
		os.Exit(m.Run())
	}
	start := func() error {
		return evaluator.Main(nil, ranks.Attach, check.Attach, tracing.Attach, profiling.Attach, solved.Attach)
	}
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
	err = notebook.Run(t.Context(), nb, notebook.RunOptions{
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
	if err != nil && strings.Contains(err.Error(), "need NVRTC on simulated devices") {
		t.Skip(err)
	}
	return err
}

// names are the tutorials' files.
func names(t *testing.T) []string {
	t.Helper()
	list, err := fs.Glob(FS, "*.ipynb")
	if err != nil || len(list) == 0 {
		t.Fatal("no tutorials", err)
	}
	return list
}

// slots are for the notebooks that run at a time: each waits a good deal.
var slots = make(chan struct{}, 2)

// inTurn lets a test run beside others, a few at a time.
func inTurn(t *testing.T) {
	t.Parallel()
	slots <- struct{}{}
	t.Cleanup(func() { <-slots })
}

var resume = flag.String("resume", "", "a file with what passed of a long run; the next run leaves that out")

// resumed skips what passed in an earlier run, and remembers what passes in this one.
func resumed(t *testing.T) {
	if *resume == "" {
		return
	}
	passed, err := os.ReadFile(*resume)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if slices.Contains(strings.Split(string(passed), "\n"), t.Name()) {
		t.Skip("passed in an earlier run")
	}
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		f, err := os.OpenFile(*resume, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err == nil {
			_, err = fmt.Fprintln(f, t.Name())
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Error(err)
		}
	})
}

var (
	deviceCounts = flag.String("devices", "1,3,8", "run the tutorials on so many simulated devices")
	answersOn    = flag.Int("answers", 3, "try the answers of testdata/answers on so many devices")
	rightOnes    = flag.Bool("right", false, "try the right answers of testdata/answers, too")
)

// Every tutorial checks its own results: it runs to its end on any number of
// devices, here with small parameters. Its exercises are tried as they are, with wrong
// answers (and with -right those in another style), and with their solutions; the judge
// must say so. On other numbers of devices than -answers, which show a judge no more,
// only the solutions are. As it is, the notebook runs in tests/test_notebooks.py.
func TestTutorials(t *testing.T) {
	var counts []int
	for n := range strings.SplitSeq(*deviceCounts, ",") {
		count, err := strconv.Atoi(n)
		if err != nil {
			t.Fatal("-devices:", err)
		}
		counts = append(counts, count)
	}
	for _, name := range names(t) {
		for _, devices := range counts {
			t.Run(fmt.Sprintf("%s/devices=%d", name, devices), func(t *testing.T) {
				inTurn(t)
				nb := readSmall(t, name)
				attempts := addAttempts(t, name, nb, devices == *answersOn)
				err := errors.Join(run(t, nb, devices), notAsSaid(attempts))
				if name == "12_find_the_fault.ipynb" && devices == *answersOn {
					err = errors.Join(err, unnamed(attempts))
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// The number of ranks is a parameter of every tutorial that starts one for
// each GPU: here more of them than GPUs. TestParameters tries numbers out of range.
func TestNumberOfRanks(t *testing.T) {
	tried := 0
	for _, name := range names(t) {
		nb := read(t, name)
		if !declares(nb, "ranks") {
			continue
		}
		tried++
		t.Run(name+"/ranks=3", func(t *testing.T) {
			inTurn(t)
			nb := readSmall(t, name, "ranks", "3")
			if err := run(t, nb, 2); err != nil {
				t.Fatal(err)
			}
			if text := printed(nb, "%mpi start"); !strings.HasPrefix(text, "3 ranks are running") {
				t.Errorf("%%mpi start says %q", text)
			}
		})
	}
	if tried != 6 {
		t.Errorf("%d tutorials have the parameter", tried)
	}
}

// printed is what the code cell that begins with some text printed.
func printed(nb *notebook.Notebook, begin string) string {
	for _, c := range nb.Cells {
		if c.Kind != notebook.Code || !strings.HasPrefix(c.Source, begin) {
			continue
		}
		for _, o := range c.Outputs {
			if text, ok := o["text"]; ok {
				return fmt.Sprint(text)
			}
		}
	}
	return ""
}

// small are parameters, names and values, by which a tutorial is quick.
var small = map[string][]string{
	"01_streams.ipynb":                   {"largeMiB", "2", "patienceMs", "250"},
	"02_several_gpus.ipynb":              {"samples", "50_003"},
	"03_peer_access.ipynb":               {"samples", "50_003", "copyMiB", "2"},
	"04_inter_gpu_synchronization.ipynb": {"copyMiB", "16"},
	"05_mpi.ipynb":                       {"samples", "50_003"},
	"06_cuda_aware_mpi.ipynb":            {"samples", "50_003", "largest", "65_536"},
	"07_stream_aware_collectives.ipynb":  {"elements", "8_192", "largest", "16_384"},
	"08_signal_and_wait.ipynb":           {"messages", "20", "rows", "32"},
	"09_jacobi.ipynb":                    {"n", "64", "iterations", "40"},
	"10_wave_equation.ipynb":             {"intervals", "512"},
	"12_find_the_fault.ipynb":            {"pieceMiB", "1"},
	"13_scaling.ipynb":                   {"nodes", "4", "rows", "1"},
	"17_missing_waits.ipynb":             {"n", "5_000"},
	"19_how_fast.ipynb":                  {"elements", "32_768", "n", "64"},
}

// shorter are constants of tutorials that are no parameters, as they stand in
// the code and as they are in tests: how often something is timed.
var shorter = map[string][2]string{
	"06_cuda_aware_mpi.ipynb": {"rounds, best := min(50, ", "rounds, best := min(8, "},
	"10_wave_equation.ipynb":  {"const steps = 512\n", "const steps = 64\n"},
}

// readSmall gives a tutorial as tests run it: quick.
func readSmall(t *testing.T, name string, pairs ...string) *notebook.Notebook {
	t.Helper()
	nb := read(t, name)
	set(nb, append(slices.Clone(small[name]), pairs...)...)
	if s, ok := shorter[name]; ok {
		found := 0
		for _, c := range nb.Cells {
			found += strings.Count(c.Source, s[0])
			c.Source = strings.ReplaceAll(c.Source, s[0], s[1])
		}
		if found != 1 {
			t.Fatalf("%s has %q %d times", name, s[0], found)
		}
	}
	return nb
}

// set changes those parameters, given by names and values, that the notebook has.
func set(nb *notebook.Notebook, pairs ...string) {
	var list []notebook.Parameter
	for i := 0; i < len(pairs); i += 2 {
		if declares(nb, pairs[i]) {
			list = append(list, notebook.Parameter{Name: pairs[i], Value: pairs[i+1]})
		}
	}
	nb.Inject(list)
}

// declares says whether the notebook has a parameter of that name.
func declares(nb *notebook.Notebook, name string) bool {
	for _, c := range nb.Cells {
		if c.HasTag("parameters") {
			return regexp.MustCompile(`(?m)^\s*` + name + `\s*:?=`).MatchString(c.Source)
		}
	}
	return false
}
