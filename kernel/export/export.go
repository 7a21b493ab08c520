// Package export writes a notebook as a Go module: a program that go build
// compiles and mpirun starts.
//
// Cells are checked as the kernel checks them, and their text is taken over with
// what a program needs otherwise: what a cell declares for others stands in the
// package, what it alone uses stays in its function, calls of must get the number
// of their values, an error that the cell would not drop ends the program, and the
// value of the last expression is printed. Nothing is run.
//
// The notebook's own cells are package main. Those of %%mpi are package mpicells, so
// that both keep their names; package spmd connects them.
package export

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gocuda/kernel/golang"
	"gocuda/kernel/notebook"
)

// Options say how a module is written.
type Options struct {
	// Name is that of the module and the program.
	Name string
	// Title is the notebook, as comments name it.
	Title string
	// Dir is the notebook's folder: its go.mod says which modules cells import.
	Dir string
	// Gocuda is the folder of gocuda's source, which go.mod is to name.
	Gocuda string
	// NewEvaluator makes what checks cells: one for the notebook, one for its ranks.
	// It has these builtins beside the kernel's own.
	NewEvaluator func(builtins map[string]any) (*golang.Evaluator, error)
}

// Issue is something of a notebook that the program does not have, or does
// otherwise.
type Issue struct {
	Cell, Line int // code cells and their lines, from 1; line 0: the whole cell
	Text       string
	Fatal      bool // there is no program
}

func (i Issue) String() string {
	place := fmt.Sprintf("cell %d", i.Cell)
	if i.Line > 0 {
		place += fmt.Sprintf(", line %d", i.Line)
	}
	return place + ": " + i.Text
}

// ranksPackage has the ranks' part, by a name that no notebook is likely to have.
const ranksPackage = "mpicells"

// Write writes a notebook's program into a folder, which must not have other Go
// files in it. The issues are in the order of the cells. If one is fatal, nothing
// is written.
func Write(nb *notebook.Notebook, dir string, o Options) ([]Issue, error) {
	x := &exporter{options: o}
	for _, p := range []**part{&x.main, &x.ranks} {
		ev, err := o.NewEvaluator(map[string]any{startName: func(int) {}})
		if err != nil {
			return nil, err
		}
		*p = newPart(x, ev)
	}
	x.ranks.name = ranksPackage
	x.read(nb)
	for _, p := range []*part{x.main, x.ranks} {
		p.resolve()
	}
	files := x.files()
	slices.SortStableFunc(x.issues, func(a, b Issue) int { return cmp.Or(a.Cell-b.Cell, a.Line-b.Line) })
	x.issues = slices.Compact(x.issues)
	if slices.ContainsFunc(x.issues, func(i Issue) bool { return i.Fatal }) {
		return x.issues, nil
	}
	if err := x.module(files); err != nil {
		return x.issues, err
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return x.issues, err
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return x.issues, err
		}
	}
	return x.issues, nil
}

type exporter struct {
	options Options
	main    *part
	ranks   *part
	issues  []Issue
	calls   []call // what main does, in order
	started bool   // there was a %mpi start
}

// call is one line of main.
type call struct {
	cell  int
	ranks bool
	only  string // the ranks that run it, as Go arguments; "": all
	// within are the magics that look at it on rank 0, if it is the ranks'.
	within []within
}

func (x *exporter) tell(cell, line int, format string, args ...any) {
	x.issues = append(x.issues, Issue{cell, line, fmt.Sprintf(format, args...), false})
}

func (x *exporter) fail(cell, line int, format string, args ...any) {
	x.issues = append(x.issues, Issue{cell, line, fmt.Sprintf(format, args...), true})
}

// files are what the module has beside go.mod and go.sum.
func (x *exporter) files() map[string]string {
	files := make(map[string]string)
	if len(x.ranks.cells) > 0 {
		x.ranks.write(files, ranksPackage+"/", ranksPackage+".go")
	}
	x.main.write(files, "", "main.go")
	return files
}

// comment makes a comment of text.
func comment(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text)) {
		b.WriteString(strings.TrimRight("// "+strings.TrimRight(line, "\r\n"), " ") + "\n")
	}
	return b.String()
}
