package notebooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gocuda/kernel/notebook"
)

// attempt is what a reader may write in an exercise's place.
type attempt struct {
	exercise *notebook.Exercise // with cells of its own
	verdict  string             // how it begins: "right" is all of it
	says     string             // part of what follows
	between  []*notebook.Cell   // from the first skeleton to the judge
	tool     bool               // of 12_find_the_fault: the program as it is, run with a tool
}

// reports are what tools say of the faults of 12_find_the_fault, by exercise, when
// they run the program as it is.
var reports = map[string]string{
	"2":  "Stream copies of device 0 does not wait for stream work of device 0",
	"3":  "done.Record(work) // after",
	"4":  ": the program writes it, on the host",
	"5":  "rank 0 waits for 1, rank 1 waits for 2, rank 2 waits for 0: none of these calls can end",
	"6":  "rank 0, for whom ranks 1-2 wait, ended without calling what would end that",
	"7":  "Device 0: busy",
	"8":  "free (cuMemFreeAsync) frees it, on stream work of device 0",
	"9":  "of which 0 ns (0 %) ran beside kernels",
	"10": "one element is no number  true",
	"11": "a race: thread (0,0,0) reads at",
	"12": "Stream work of device 0 does not wait for stream copies of device 0",
	"13": "Stream copies of device 0 does not wait for stream work of device 0",
	"14": "Stream work of device 0 does not wait for stream copies of device 0",
	"15": "no hazard",
	"16": "a race: thread (",
}

// notCompiled begins what a judge says when the cell above it did not compile.
const notCompiled = "the cell above, In["

// withTool stands for what a judge says of a program that only was run with a tool.
const withTool = "with a tool"

// misspelt is the first skeleton with a line that does not compile.
func misspelt(skeletons []string) []string {
	line := "var _ int = \"no\""
	if strings.Contains(skeletons[0], "%%cuda") {
		line = "#error no"
	}
	list := slices.Clone(skeletons)
	list[0] += "\n" + line
	return list
}

// addAttempts solves the exercises. With wrong, it puts before each one copies of its
// cells: as it is, then with every answer of testdata/answers, and with a skeleton that
// does not compile.
func addAttempts(t *testing.T, name string, nb *notebook.Notebook, wrong bool) (list []attempt) {
	t.Helper()
	exercises, err := nb.Exercises()
	if err != nil {
		t.Fatal(err)
	}
	all := answersTo(t, name)
	for _, e := range exercises {
		tries := all[e.ID]
		delete(all, e.ID)
		count, asItIs := 0, all[e.ID+" as it is"]
		for _, try := range tries {
			if try.says != "right" {
				count++
			}
		}
		delete(all, e.ID+" as it is")
		if count+len(asItIs) < 2 {
			t.Errorf("%s has %d wrong answers to exercise %s, want two or more", name, count, e.ID)
		}
		var skeletons []string
		for _, c := range e.Skeletons {
			skeletons = append(skeletons, c.Source)
		}
		tries = slices.Insert(tries, 0, answer{"", skeletons})
		tries = append(tries, answer{notCompiled, misspelt(skeletons)})
		if name == "12_find_the_fault.ipynb" && len(skeletons) == 3 { // a program, how it is run, its fault's name
			tries = slices.Insert(tries, 1, answer{withTool, []string{skeletons[0], e.Solution[1], skeletons[2]}})
		}
		switch {
		case !wrong:
			tries = nil
		case !*rightOnes:
			tries = slices.DeleteFunc(tries, func(a answer) bool { return a.says == "right" })
		}
		for i, try := range tries {
			verdict := "wrong: "
			switch {
			case i == 0 && asItIs != nil:
				try.says = asItIs[0].says
			case i == 0 || try.says == withTool:
				verdict = "not solved yet"
			case try.says == "right":
				verdict, try.says = "right", ""
			}
			if len(try.code) != len(e.Skeletons) {
				t.Fatalf("exercise %s has %d skeletons, an answer to it %d: %s", e.ID, len(e.Skeletons), len(try.code), try.says)
			}
			from, to := slices.Index(nb.Cells, e.Skeletons[0]), slices.Index(nb.Cells, e.Judge)
			mine := &notebook.Exercise{ID: e.ID}
			var cells []*notebook.Cell
			for _, c := range nb.Cells[from : to+1] {
				copied := &notebook.Cell{Kind: c.Kind, Source: c.Source}
				switch {
				case c.HasTag("raises-exception"):
					copied.Metadata = c.Metadata
				case try.says == notCompiled && c != e.Judge: // and then others may fail
					copied.Metadata = map[string]any{"tags": []any{"raises-exception"}}
				}
				if slices.Contains(e.Skeletons, c) {
					mine.Skeletons = append(mine.Skeletons, copied)
				}
				cells = append(cells, copied)
			}
			mine.Judge = cells[len(cells)-1]
			mine.Fill(try.code)
			nb.Cells = slices.Insert(nb.Cells, from, cells...)
			tool := try.says == withTool || i == 0 && len(skeletons) < 3
			list = append(list, attempt{mine, verdict, strings.TrimPrefix(try.says, withTool), cells, tool})
		}
		e.Fill(e.Solution)
		list = append(list, attempt{exercise: e, verdict: "right"})
	}
	for id := range all {
		t.Errorf("%s has no exercise %s", name, id)
	}
	return list
}

type answer struct {
	says string
	code []string // for each skeleton
}

// answersTo reads those of a notebook, by the exercises' ids. Each begins with a
// line "-- exercise ID: what the judge says behind wrong" or "-- exercise ID: right"; "-- next" begins its next cell. The line
// "-- exercise ID as it is: ..." says what it says of a skeleton that is a wrong
// solution itself.
func answersTo(t *testing.T, name string) map[string][]answer {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "answers", strings.TrimSuffix(name, ".ipynb")+".txt"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	list := map[string][]answer{}
	for _, part := range strings.Split("\n"+string(text), "\n-- exercise ")[1:] {
		head, code, _ := strings.Cut(part, "\n")
		id, says, ok := strings.Cut(head, ": ")
		if !ok {
			t.Fatalf("%s: %q does not say what the judge does", name, head)
		}
		list[id] = append(list[id], answer{says, strings.Split(strings.Trim(code, "\n"), "\n-- next\n")})
	}
	return list
}

// unnamed are the faults of 12_find_the_fault of which no tool told.
func unnamed(list []attempt) (err error) {
	for _, a := range list {
		if !a.tool {
			continue
		}
		var said strings.Builder
		for _, c := range a.between {
			for _, o := range c.Outputs {
				fmt.Fprintln(&said, o["text"], o["evalue"], o["data"])
			}
		}
		if want := reports[a.exercise.ID]; !strings.Contains(said.String(), want) {
			err = errors.Join(err, fmt.Errorf("exercise %s: the tools do not say %q, but:\n%s", a.exercise.ID, want, &said))
		}
	}
	return err
}

// notAsSaid are the attempts on which the judge said something else.
func notAsSaid(list []attempt) error {
	var err error
	for _, a := range list {
		verdicts := a.exercise.Verdicts()
		said := slices.ContainsFunc(verdicts, func(v string) bool {
			return strings.HasPrefix(v, a.verdict) && strings.Contains(v, a.says)
		})
		if !said || a.verdict == "right" && !a.exercise.Right() {
			err = errors.Join(err, fmt.Errorf("exercise %s: the judge says %q, want %q, of\n%s", a.exercise.ID, verdicts, a.verdict+a.says, a.exercise.Skeletons[0].Source))
		}
	}
	return err
}

// %progress counts what the judges of the session said, of ranks as well.
func TestProgress(t *testing.T) {
	inTurn(t)
	nb := &notebook.Notebook{Minor: 5}
	for _, code := range []string{
		`judge("1", func() {})`, `judge("2", func() { todo() })`, "%mpi start -n 2",
		"%%mpi\njudge(\"3\", func() { check(rank == 0, \"so\") })", "%%mpi\njudge(\"4\", func() {})", "%progress",
	} {
		nb.Cells = append(nb.Cells, &notebook.Cell{Kind: notebook.Code, Source: code})
	}
	if err := run(t, nb, 2); err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprint(nb.Cells[len(nb.Cells)-1].Outputs[0]["data"])
	if want := "this session  2 of 4  3      2"; !strings.Contains(said, want) {
		t.Errorf("%s\nwant %s", said, want)
	}
}

// A function that Interact calls is shown in its widget, and, where widgets are not drawn,
// in its place: not both.
func TestInteractIsShownOnce(t *testing.T) {
	inTurn(t)
	c := &notebook.Cell{Kind: notebook.Code, Source: `widgets.Interact(func(n int) any { return n + 7 }, widgets.Between(1, 9))`}
	if err := run(t, &notebook.Notebook{Minor: 5, Cells: []*notebook.Cell{c}}, 1); err != nil {
		t.Fatal(err)
	}
	if len(c.Outputs) != 1 || c.Outputs[0]["data"].(map[string]any)["text/plain"] != "8" {
		t.Errorf("%v", c.Outputs)
	}
}
