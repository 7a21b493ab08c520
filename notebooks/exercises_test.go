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
}

// addAttempts puts, before each exercise, copies of its cells: as it is, then with
// every wrong solution of testdata/wrong, and solves the exercise itself.
func addAttempts(t *testing.T, name string, nb *notebook.Notebook) (list []attempt) {
	t.Helper()
	exercises, err := nb.Exercises()
	if err != nil {
		t.Fatal(err)
	}
	wrong := wrongSolutions(t, name)
	for _, e := range exercises {
		tries := wrong[e.ID]
		delete(wrong, e.ID)
		if len(tries) < 2 {
			t.Errorf("%s has %d wrong solutions of exercise %s, want two or more", name, len(tries), e.ID)
		}
		var skeletons []string
		for _, c := range e.Skeletons {
			skeletons = append(skeletons, c.Source)
		}
		tries = slices.Insert(tries, 0, wrongSolution{"", skeletons})
		for i, try := range tries {
			verdict := "wrong: "
			if i == 0 {
				verdict = "not solved yet"
			}
			if len(try.code) != len(e.Skeletons) {
				t.Fatalf("exercise %s has %d skeletons, a wrong solution of it %d: %s", e.ID, len(e.Skeletons), len(try.code), try.says)
			}
			from, to := slices.Index(nb.Cells, e.Skeletons[0]), slices.Index(nb.Cells, e.Judge)
			mine := &notebook.Exercise{ID: e.ID}
			var cells []*notebook.Cell
			for _, c := range nb.Cells[from : to+1] {
				copied := &notebook.Cell{Kind: c.Kind, Source: c.Source}
				if slices.Contains(e.Skeletons, c) {
					mine.Skeletons = append(mine.Skeletons, copied)
				}
				cells = append(cells, copied)
			}
			mine.Judge = cells[len(cells)-1]
			mine.Fill(try.code)
			nb.Cells = slices.Insert(nb.Cells, from, cells...)
			list = append(list, attempt{mine, verdict, try.says})
		}
		e.Fill(e.Solution)
		list = append(list, attempt{e, "right", ""})
	}
	for id := range wrong {
		t.Errorf("%s has no exercise %s", name, id)
	}
	return list
}

type wrongSolution struct {
	says string
	code []string // for each skeleton
}

// wrongSolutions reads those of a notebook, by the exercises' ids. Each begins with a
// line "-- exercise ID: what the judge says"; "-- next" begins its next cell.
func wrongSolutions(t *testing.T, name string) map[string][]wrongSolution {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "wrong", strings.TrimSuffix(name, ".ipynb")+".txt"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	list := map[string][]wrongSolution{}
	for _, part := range strings.Split("\n"+string(text), "\n-- exercise ")[1:] {
		head, code, _ := strings.Cut(part, "\n")
		id, says, ok := strings.Cut(head, ": ")
		if !ok {
			t.Fatalf("%s: %q does not say what the judge does", name, head)
		}
		list[id] = append(list[id], wrongSolution{says, strings.Split(strings.Trim(code, "\n"), "\n-- next\n")})
	}
	return list
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
