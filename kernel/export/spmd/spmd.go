// Package spmd is what programs call that gocuda-kernel export made of notebooks
// with ranks. Every process of the program is a rank; rank 0 runs the notebook's
// own cells too, and tells the others when to run theirs.
//
// What ranks print comes as in the notebook: when a cell has ended on all of them,
// each line once, with the ranks that said it before it: "[0-3] hello". What C
// code prints, such as printf in kernels, goes to the standard output as it is.
package spmd

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
	"gocuda/kernel/ranks/label"
)

// Ranks is the part of a program that its ranks run.
type Ranks struct {
	// Start runs on every rank before any cell.
	Start func()
	Cells map[string]func()
	// Variables are pointers to those that Push and Pull copy, by name.
	Variables map[string]any
}

// order is what rank 0 tells all ranks.
type order struct {
	Verb  string // "run", "push", "pull" or "end"
	Name  string
	Value []byte // of push
	Ranks []int  // of run: all if empty
	Size  int    // of start
}

var (
	part    Ranks
	control *mpi.Comm // carries orders and output, beside the cells' messages
	theirs  []cuda.Leak
	ours    []cuda.Leak
	inCell  bool
	mine    = -1 // the rank's device
	size    int  // how many ranks run cells
	cells   *mpi.Comm
)

// Begin starts MPI. On rank 0 it returns then. The other ranks do what rank 0
// tells them, until it calls End or is lost, and their processes end in here.
func Begin(r Ranks) {
	part = r
	world, err := mpi.Init()
	fatal(err)
	control, err = world.Dup()
	fatal(err)
	if control.Rank() == 0 {
		return
	}
	for {
		var o order
		if err := control.BcastObject(&o, 0); err != nil {
			os.Exit(1) // rank 0 is lost, and has said why
		}
		if o.Verb == "end" {
			fatal(mpi.Finalize())
			os.Exit(0)
		}
		obey(o)
	}
}

// Start gives the ranks' cells a world of the first n ranks, or of all with n = 0,
// and each of these device rank % devices. The rest of the ranks are idle. If there
// are fewer than n, it says so, and goes on with those. It returns the world's size.
func Start(n int) int {
	all := control.Size()
	switch {
	case n > all:
		fmt.Fprintf(os.Stderr, "the notebook has %d ranks here, this program %d: mpirun -n %[1]d starts as many\n", n, all)
	case n > 0 && n < all:
		fmt.Fprintf(os.Stderr, "the notebook has %d ranks here: %d of this program's are idle\n", n, all-n)
	}
	if n <= 0 || n > all {
		n = all
	}
	tell(order{Verb: "start", Size: n})
	return n
}

// World is the communicator of the ranks that run cells.
func World() *mpi.Comm { return cells }

// End ends the ranks, and MPI. Rank 0 calls it last.
func End() {
	fatal(control.BcastObject(&order{Verb: "end"}, 0))
	fatal(mpi.Finalize())
}

// Run runs a cell on the ranks that are named, or on all. It returns when it has
// ended on all of them and what they printed is printed.
func Run(cell string, ranks ...int) { tell(order{Verb: "run", Name: cell, Ranks: ranks}) }

// Push sets a variable of every rank to a copy of value. What encoding/gob takes
// can be copied; a struct's fields go by their names.
func Push(name string, value any) error {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(value); err != nil {
		return fmt.Errorf("spmd.Push: %s: %w", name, err)
	}
	tell(order{Verb: "push", Name: name, Value: text.Bytes()})
	return nil
}

// Pull gives a copy of what a variable holds in each rank, by rank. What is said
// of values at Push holds.
func Pull(name string) ([]any, error) {
	o := order{Verb: "pull", Name: name}
	if err := control.BcastObject(&o, 0); err != nil {
		return nil, err
	}
	texts, err := pulled(name)
	if err != nil {
		return nil, err
	}
	values := make([]any, size)
	for rank, text := range texts[:size] {
		v := reflect.New(reflect.TypeOf(part.Variables[name]).Elem())
		if err := gob.NewDecoder(bytes.NewReader(text)).DecodeValue(v); err != nil {
			return nil, fmt.Errorf("spmd.Pull: %s of rank %d: %w", name, rank, err)
		}
		values[rank] = v.Elem().Interface()
	}
	return values, nil
}

// Leaks is [cuda.Leaks] of the part of the program that calls it: on rank 0 the
// notebook's own cells and those of the rank share a process.
func Leaks() []cuda.Leak {
	if inCell {
		return without(cuda.Leaks(), theirs)
	}
	return without(cuda.Leaks(), ours)
}

// without is list less the elements of other, each as often as it is there.
func without(list, other []cuda.Leak) []cuda.Leak {
	other = slices.Clone(other)
	return slices.DeleteFunc(list, func(l cuda.Leak) bool {
		i := slices.Index(other, l)
		if i >= 0 {
			other = slices.Delete(other, i, i+1)
		}
		return i >= 0
	})
}

// tell has all ranks do something, this one too.
func tell(o order) {
	fatal(control.BcastObject(&o, 0))
	obey(o)
}

func obey(o order) {
	switch o.Verb {
	case "start":
		size = o.Size
		begin()
	case "run":
		var said []said
		if control.Rank() < size && (len(o.Ranks) == 0 || slices.Contains(o.Ranks, control.Rank())) {
			said = recorded(func() { perform(part.Cells[o.Name]) })
		}
		show(said)
	case "push":
		v := reflect.ValueOf(part.Variables[o.Name])
		v.Elem().SetZero() // gob leaves out what is zero
		fatal(gob.NewDecoder(bytes.NewReader(o.Value)).DecodeValue(v))
	case "pull":
		_, err := pulled(o.Name)
		fatal(err)
	}
}

// begin makes the world of the ranks that run cells.
func begin() {
	rank, color := control.Rank(), 0
	if rank >= size {
		color = 1
	}
	var err error
	cells, err = control.Split(color, rank)
	fatal(err)
	if rank >= size {
		return
	}
	if n, err := cuda.DeviceCount(); err == nil && n > 0 {
		mine = rank % n
	}
	if part.Start != nil {
		perform(part.Start)
	}
}

// perform runs a cell with the rank's device as the current one.
func perform(cell func()) {
	before := -1
	if mine >= 0 {
		if d, err := cuda.CurrentDevice(); err == nil {
			before = d.Ordinal()
		}
		fatal(cuda.SetDevice(mine))
	}
	inCell, theirs = true, without(cuda.Leaks(), ours)
	cell()
	inCell, ours = false, without(cuda.Leaks(), theirs)
	if d, err := cuda.CurrentDevice(); err == nil && before >= 0 {
		mine = d.Ordinal() // the cell may have chosen another
		fatal(cuda.SetDevice(before))
	}
}

// pulled brings a variable of all ranks to rank 0.
func pulled(name string) ([][]byte, error) {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).EncodeValue(reflect.ValueOf(part.Variables[name])); err != nil {
		return nil, fmt.Errorf("spmd.Pull: %s of rank %d: %w", name, control.Rank(), err)
	}
	texts := make([][]byte, control.Size())
	return texts, control.GatherObject(text.Bytes(), &texts, 0)
}

// fatal ends the program if the ranks cannot go on together.
func fatal(err error) {
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, err)
	if mpi.Initialized() {
		mpi.Abort(1)
	}
	os.Exit(1)
}

// show prints on rank 0 what all ranks said.
func show(mine []said) {
	all := make([][]said, control.Size())
	fatal(control.GatherObject(mine, &all, 0))
	if control.Rank() == 0 {
		fmt.Print(merge(all))
	}
}

// depth is how far behind another rank's line is looked for in what a rank said.
const depth = 32

// merge makes one text of what the ranks said: what several say at the same point
// stands there once.
func merge(all [][]said) string {
	var out strings.Builder
	for {
		ranks := next(all)
		if ranks == nil {
			return out.String()
		}
		s := all[ranks[0]][0]
		for _, r := range ranks {
			all[r] = all[r][1:]
		}
		if s.Shown {
			fmt.Fprintln(&out, label.Text(s.Text, label.Of(ranks)))
		} else {
			fmt.Fprintln(&out, label.Of(ranks), s.Text)
		}
	}
}

// next chooses the ranks whose next words are printed: those that no other rank
// comes to later, if there are such.
func next(all [][]said) (best []int) {
	for r := range all {
		if len(all[r]) == 0 {
			continue
		}
		var ranks []int
		later := false
		for o, list := range all {
			if len(list) > 0 && list[0] == all[r][0] {
				ranks = append(ranks, o)
			} else if len(list) > 0 {
				later = later || slices.Contains(list[1:min(depth, len(list))], all[r][0])
			}
		}
		if !later {
			return ranks
		}
		if best == nil {
			best = ranks
		}
	}
	return best
}
