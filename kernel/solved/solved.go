// Package solved gives cells %progress: which exercises of notebooks are solved.
package solved

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gocuda/kernel/display"
	"gocuda/kernel/evaluator"
	"gocuda/kernel/golang/answer"
	"gocuda/kernel/magic"
	"gocuda/kernel/notebook"
)

// sessionName is where Jupyter says which notebook the kernel was started for.
const sessionName = "JPY_SESSION_NAME"

// Attach adds the magic to an evaluator.
func Attach(h *evaluator.Host) evaluator.Extension {
	return evaluator.Extension{Magics: []magic.Magic{{Name: "progress", Usage: "%progress [FOLDER]",
		Doc: "Shows which exercises of the folder's notebooks are solved: of this one as its judges said last in this session, of others as they were saved.\n" +
			"Jupyter tells a kernel which notebook is this one. Where nobody does, what the judges of this session said has a row of its own.",
		Run: func(_ context.Context, _ magic.Env, call magic.Call) error {
			folder := call.Args
			if folder == "" {
				folder = "."
			}
			b, err := table(folder, filepath.Base(os.Getenv(sessionName)), h.Verdicts())
			if err != nil {
				return call.Errorf("ProgressError", "%v", err)
			}
			return h.SetValue(b)
		}}}}
}

// table has a row for each notebook of a folder that has exercises. live are the verdicts
// of this session, and this is its notebook's file.
func table(folder, this string, live map[string]string) (*display.Bundle, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.ipynb"))
	if err != nil {
		return nil, err
	}
	var rows [][]string
	told, solved, all := len(live) == 0, 0, 0
	for _, file := range files {
		nb, err := notebook.ReadFile(file)
		if err != nil {
			continue // it is no notebook, or Jupyter is writing it
		}
		exercises, _ := nb.Exercises() // those that can be judged
		var r row
		for _, e := range exercises {
			if e.Judge == nil {
				continue
			}
			verdict := strings.Join(e.Verdicts(), "; ")
			if e.Right() {
				verdict = answer.Right
			}
			if said, ok := live[e.ID]; ok && filepath.Base(file) == this {
				verdict = said
			}
			r.add(e.ID, verdict)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".ipynb")
		if filepath.Base(file) == this {
			name, told = name+" (this one)", true
		}
		if r.all > 0 {
			rows = append(rows, r.cells(name))
			solved, all = solved+r.right, all+r.all
		}
	}
	if !told {
		var r row
		for id, verdict := range live {
			r.add(id, verdict)
		}
		rows = append(rows, r.cells("this session"))
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no notebook in %s has exercises", folder)
	}
	rows = append(rows, []string{"all", fmt.Sprintf("%d of %d", solved, all), "", ""})
	b := display.Table(rows, "notebook", "solved", "wrong", "not solved yet")
	return &b, nil
}

// row counts a notebook's exercises.
type row struct {
	right, all  int
	wrong, open []string
}

func (r *row) add(id, verdict string) {
	r.all++
	switch {
	case verdict == answer.Right:
		r.right++
	case strings.Contains(verdict, strings.TrimSpace(answer.Wrong)):
		r.wrong = append(r.wrong, id)
	default:
		r.open = append(r.open, id)
	}
}

func (r *row) cells(name string) []string {
	return []string{name, fmt.Sprintf("%d of %d", r.right, r.all), strings.Join(r.wrong, ", "), strings.Join(r.open, ", ")}
}
