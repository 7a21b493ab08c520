package notebooks

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/mpi/launch"
	"gocuda/kernel/check"
	"gocuda/kernel/export"
	"gocuda/kernel/golang"
	"gocuda/kernel/golang/modules"
	"gocuda/kernel/notebook"
	"gocuda/kernel/packages"
)

// exported has every notebook run as a program, which takes some minutes; without
// it they are only written, but for those of quick.
var exported = flag.Bool("exported", false, "build and run the programs of all notebooks")

// mpirun has them run under MPI's own launchers, too: mpirun -n 4, of each library in
// the folder, and srun on two nodes, where hosts can be made (make test-hosts).
var mpirun = flag.String("mpi", "", "run the programs under the MPI libraries in this folder, such as build/mpi")

// launcher starts so many processes of a program in a folder, and returns what they print.
type launcher struct {
	name  string
	apart bool // ranks are on several hosts
	run   func(t *testing.T, n int, program, dir string) (string, error)
}

var local = launcher{name: "the built-in transport", run: func(t *testing.T, n int, program, dir string) (string, error) {
	var out, errs bytes.Buffer
	status, err := launch.Run(context.WithoutCancel(t.Context()), n, []string{program}, launch.Options{
		Stdout: &out, Stderr: &errs, Plain: true, Dir: dir, Env: []string{"GOCUDA_BACKEND=sim", "GOCUDA_SIM_DEVICES=4"},
	})
	if err == nil && status != 0 {
		err = fmt.Errorf("status %d\n%s\n%s", status, out.String(), errs.String())
	}
	return out.String(), err
}}

// oneHost are the tutorials whose ranks open memory and events of each other by IPC.
var oneHost = []string{"07_stream_aware_collectives", "08_signal_and_wait"}

// launchers are those of the folder that mpirun names; dir has what is run.
func launchers(t *testing.T, name, dir string) (list []launcher) {
	t.Helper()
	folder, err := filepath.Abs(*mpirun)
	if err != nil {
		t.Fatal(err)
	}
	command := func(name string, prefix func(n int) []string) launcher {
		return launcher{name: name, run: func(t *testing.T, n int, program, at string) (string, error) {
			ctx, stop := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute)
			defer stop()
			words := append(prefix(n), program)
			c := exec.CommandContext(ctx, words[0], words[1:]...)
			var errs bytes.Buffer
			c.Dir, c.Stderr, c.WaitDelay = at, &errs, 10*time.Second
			// Two mpiruns of Open MPI 4 that make one folder at once can fail; and so can PMIx where
			// a rank has something else at the address of the memory that it shares.
			c.Env = append(os.Environ(), "GOCUDA_BACKEND=sim", "GOCUDA_SIM_DEVICES=4", "OMPI_MCA_orte_tmpdir_base="+t.TempDir(), "PMIX_MCA_gds=hash")
			out, err := c.Output()
			if err != nil {
				err = fmt.Errorf("%w\n%s\n%s", err, out, errs.Bytes())
			}
			return string(out), err
		}}
	}
	found, _ := filepath.Glob(filepath.Join(folder, "*", "bin", "mpirun"))
	for _, path := range found {
		name := filepath.Base(filepath.Dir(filepath.Dir(path)))
		list = append(list, command(name, func(n int) []string {
			if strings.HasPrefix(name, "openmpi") {
				return []string{path, "--allow-run-as-root", "--oversubscribe", "-n", fmt.Sprint(n)}
			}
			return []string{path, "-n", fmt.Sprint(n)}
		}))
	}
	if len(list) == 0 {
		t.Fatalf("no library in %s (make mpi-libs)", folder)
	}
	script, _ := filepath.Abs("../scripts/hosts.sh")
	if out, err := exec.Command(script, "can").CombinedOutput(); err != nil {
		t.Logf("srun is left out: %s", out)
		return list
	}
	net, root := filepath.Join(t.TempDir(), "net"), filepath.Dir(filepath.Dir(script))
	t.Cleanup(func() { exec.Command(script, "down", net).Run() })
	for _, words := range [][]string{{"up", net, "2", root, folder, dir}, {"slurm", net}} {
		if out, err := exec.Command(script, words...).CombinedOutput(); err != nil {
			t.Logf("srun is left out: %s", out)
			return list
		}
	}
	nodes, on := 2, "srun on two nodes, "
	if slices.Contains(oneHost, name) {
		nodes, on = 1, "srun on one node, "
	}
	for _, path := range found {
		library := filepath.Base(filepath.Dir(filepath.Dir(path)))
		kind, known := map[string]string{"openmpi-5": "pmix", "openmpi-4": "pmix", "mpich-4": "pmi2"}[library[:strings.IndexByte(library, '.')]]
		if !known {
			continue
		}
		list = append(list, command(on+library, func(n int) []string {
			return []string{script, "in", net, "h1", "env", "PATH=" + filepath.Dir(path) + ":/usr/bin:/bin",
				"srun", "-N", fmt.Sprint(min(n, nodes)), "-n", fmt.Sprint(n), "--overcommit", "--kill-on-bad-exit=1", "--chdir", dir, "--cpu-bind=none", "--mpi=" + kind}
		}))
		list[len(list)-1].apart = nodes > 1
	}
	return list
}

// quick are run in every test, with so many ranks.
var quick = map[string]int{"02_again": 1, "08_ring": 2, "21_record": 1}

// learners are notebooks as a learner writes them, in a form that is easily read:
// "-- go", "-- text" and "-- parameters" begin cells.
func learners(t *testing.T) map[string]*notebook.Notebook {
	t.Helper()
	files, err := filepath.Glob("testdata/learner/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no notebooks", err)
	}
	list := make(map[string]*notebook.Notebook)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		nb := &notebook.Notebook{Minor: 5}
		for _, part := range strings.Split("\n"+string(text), "\n-- ")[1:] {
			kind, source, _ := strings.Cut(part, "\n")
			c := &notebook.Cell{Kind: notebook.Code, Source: strings.TrimSuffix(source, "\n")}
			switch kind {
			case "text":
				c.Kind = notebook.Markdown
			case "parameters":
				c.Metadata = map[string]any{"tags": []any{"parameters"}}
			}
			nb.Cells = append(nb.Cells, c)
		}
		list[strings.TrimSuffix(filepath.Base(file), ".txt")] = nb
	}
	return list
}

// Programs print what their notebooks print, with one rank and with four.
func TestExported(t *testing.T) {
	list := learners(t)
	for _, name := range names(t) {
		list[strings.TrimSuffix(name, ".ipynb")] = readSmall(t, name)
	}
	for name, nb := range list {
		ranks := declares(nb, "ranks")
		nb.Cells = slices.DeleteFunc(nb.Cells, func(c *notebook.Cell) bool {
			return c.HasTag("raises-exception") || // would end the program
				ranks && strings.Contains(c.Source, "timeline.Compare(") // of rank 0 alone in a program
		})
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			issues, err := export.Write(nb, dir, exportOptions(name))
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range issues {
				if i.Fatal {
					t.Error(i)
				}
			}
			ranks := []int{1, 4}
			switch {
			case quick[name] > 0:
				ranks = []int{quick[name]}
			case !*exported, name == "19_how_fast": // which looks for lines of cells, that a program does not have
				return
			case !declares(nb, "ranks"):
				ranks = []int{1}
			}
			if name == "08_signal_and_wait" || name == "12_find_the_fault" { // which are of two ranks or more
				ranks = []int{2, 4}
			}
			inTurn(t)
			by := []launcher{local}
			if *exported && *mpirun != "" && len(ranks) > 1 {
				by = append(by, launchers(t, name, dir)...)
			}
			program := build(t, dir, name)
			for _, n := range ranks {
				compare(t, name, nb, program, n, by)
			}
		})
	}
}

func exportOptions(name string) export.Options {
	root, _ := filepath.Abs("..")
	return export.Options{Name: name, Title: name + ".ipynb", Gocuda: root, NewEvaluator: func(builtins map[string]any) (*golang.Evaluator, error) {
		return golang.New(golang.Options{Packages: packages.All(), Modules: modules.New(root), Builtins: builtins})
	}}
}

func build(t *testing.T, dir, name string) string {
	t.Helper()
	program := filepath.Join(dir, "program.exe")
	c := exec.Command("go", "build", "-trimpath", "-mod=readonly", "-o", program, ".")
	c.Dir, c.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// verdicts are those of ranks: a program has no notebook that makes one of them.
var verdicts = regexp.MustCompile(`^(?:\[[0-9,-]+\] )?exercise (\S+): (?:(wrong: )(?:\[[0-9,-]+\] )?)?(.*)$`)

// oneVerdict has one verdict for each exercise, and does not name ranks: those of a program
// say theirs each, and in a notebook the worst is that of all.
func oneVerdict(text string) string {
	at, worst := map[string]int{}, map[string]int{}
	var lines []string
	for line := range strings.Lines(text) {
		m := verdicts.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			lines = append(lines, line)
			continue
		}
		line, severity := fmt.Sprintf("exercise %s: %s%s\n", m[1], m[2], m[3]), 0
		switch {
		case m[2] != "":
			severity = 2
		case m[3] != "right":
			severity = 1
		}
		i, said := at[m[1]]
		switch {
		case !said:
			at[m[1]] = len(lines)
			lines = append(lines, line)
		case severity <= worst[m[1]]:
			continue
		default:
			lines[i] = line
		}
		worst[m[1]] = severity
	}
	return strings.Join(lines, "")
}

// compare runs a notebook, and its program with as many ranks by each launcher.
func compare(t *testing.T, name string, original *notebook.Notebook, program string, n int, by []launcher) {
	t.Helper()
	data, err := original.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	nb, err := notebook.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	small := []string{"ranks", fmt.Sprint(n)}
	for _, c := range nb.Cells { // what readSmall has set stays
		if c.HasTag("injected-parameters") {
			for _, m := range regexp.MustCompile(`(?m)^(\w+) = (.*)$`).FindAllStringSubmatch(c.Source, -1) {
				small = append(small, m[1], m[2])
			}
		}
	}
	set(nb, small...)
	for _, c := range nb.Cells { // so that both have the same transport
		c.Source = regexp.MustCompile(`(?m)^%mpi start.*$`).ReplaceAllString(c.Source, "$0 --launcher local")
	}
	if err := run(t, nb, 4); err != nil {
		t.Fatal("the notebook:", err)
	}
	for _, l := range by {
		out, err := l.run(t, n, program, t.TempDir())
		if err != nil {
			t.Errorf("the program with %d ranks by %s: %v", n, l.name, err)
			continue
		}
		want, out := oneVerdict(text(nb)), oneVerdict(out)
		if l.name != local.name {
			out = ofLibrary.ReplaceAllString(out, "${1}local$2")
		}
		if l.apart {
			want, out = ways.ReplaceAllString(want, "WAY"), ways.ReplaceAllString(out, "WAY")
		}
		if wrong := differs(want, out); wrong != "" {
			t.Errorf("with %d ranks by %s, %s", n, l.name, wrong)
		}
	}
}

// ofLibrary is what tutorials say of the library, and ways how a message goes.
var (
	ofLibrary = regexp.MustCompile(`(MPI here is )(?:Open MPI|MPICH)|(?:Open MPI|MPICH)(; takes device memory)`)
	ways      = regexp.MustCompile(`\b(ipc|staged)\b`)
)

// differs says where what a program prints is not what its notebook does; "": nowhere.
func differs(notebook, program string) string {
	want, got := byRank(notebook), byRank(program)
	for _, who := range slices.Sorted(slices.Values(append(slices.Collect(keys(want)), slices.Collect(keys(got))...))) {
		header := ""
		for i := range max(len(want[who]), len(got[who])) {
			var w, g string
			if i < len(want[who]) {
				w = want[who][i]
			}
			if i < len(got[who]) {
				g = got[who][i]
			}
			switch {
			case strings.Trim(w, "─ ") == "" && w != "" && i > 0:
				header = want[who][i-1]
			case !strings.Contains(w, "  "): // the table has ended
				header = ""
			case units.MatchString(header):
				w = picture + w
			}
			if !alike(w, g) {
				return fmt.Sprintf("line %d of what %q prints is %q, in the notebook %q", i+1, who, g, w)
			}
		}
	}
	return ""
}

func keys(m map[string][]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// chatter is what magics say, and a program does not.
var chatter = regexp.MustCompile(`(?m)^(\[[0-9,-]+\] )?(compiled:.*|checked:.*|GREETING=hi|\d+ ranks? (is|are) running.*)\n`)

// text is what a notebook that ran shows in plain text.
func text(nb *notebook.Notebook) string {
	var b strings.Builder
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			switch o["output_type"] {
			case "stream":
				if o["name"] == "stdout" {
					b.WriteString(o["text"].(string))
				}
			default:
				data, _ := o["data"].(map[string]any)
				if metadata, _ := o["metadata"].(map[string]any); metadata[check.Metadata] != nil {
					continue // a program has hazards in stderr
				}
				plain := fmt.Sprintln(data["text/plain"])
				if data["image/svg+xml"] != nil && strings.HasPrefix(c.Source, "%%timeline") {
					continue // a program draws none
				}
				if data["image/svg+xml"] != nil {
					plain = regexp.MustCompile(`(?m)^`).ReplaceAllString(strings.TrimSuffix(plain, "\n"), picture) + "\n"
				}
				b.WriteString(plain)
			}
		}
	}
	return chatter.ReplaceAllString(b.String(), "")
}

// picture begins the lines that stand for a picture: its figures are measured ones.
const picture = "\x00"

var said = regexp.MustCompile(`^\[([0-9,-]+)\] ?(.*)$`)

// byRank parts what ranks said from each other, since they speak at the same time.
func byRank(text string) map[string][]string {
	list := make(map[string][]string)
	for line := range strings.Lines(text) {
		line, isPicture := strings.CutPrefix(strings.TrimSuffix(line, "\n"), picture)
		mark := ""
		if isPicture {
			mark = picture
		}
		m := said.FindStringSubmatch(line)
		if m == nil {
			list[""] = append(list[""], mark+line)
			continue
		}
		for part := range strings.SplitSeq(m[1], ",") {
			var first, last int
			if n, _ := fmt.Sscanf(part, "%d-%d", &first, &last); n < 2 {
				last = first
			}
			for r := first; r <= last; r++ {
				list[fmt.Sprint(r)] = append(list[fmt.Sprint(r)], m[2])
			}
		}
	}
	return list
}

var (
	measured = regexp.MustCompile(`\d[.]\d|\d ?(µs|ms|ns|s|GB/s|MiB/s)\b|0x[0-9a-f]+`)
	place    = regexp.MustCompile(`In\[\d+\]:\d+|kernels/cell\d+[.\w]+:\d+`)
	number   = regexp.MustCompile(`0x[0-9a-f]+|-?\d+(\.\d+)?(e[+-]\d+)?(ns|µs|ms|s)?`)
	units    = regexp.MustCompile(`\b(ns|ms|s|GB/s|MiB/s)\b|µs`) // of a column's head
	spaces   = regexp.MustCompile(`[ ─]+`)
)

// alike says whether a program's line is the notebook's, but for what is measured.
func alike(want, got string) bool {
	want, isPicture := strings.CutPrefix(want, picture)
	plain := func(l string) string {
		if isPicture || measured.MatchString(want) {
			l = number.ReplaceAllString(l, "N")
		}
		l = place.ReplaceAllString(l, "PLACE")
		return strings.TrimSpace(spaces.ReplaceAllString(l, " "))
	}
	return plain(want) == plain(got)
}
