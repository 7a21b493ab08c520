package golang

import (
	"io"
	"os"
	"reflect"
)

// stdio is what os.Stdout and os.Stderr are in cells: variables of their own, with
// duplicates of the process's, so that a cell may close them. A program's are the
// process's themselves.
type stdio struct {
	out, err *os.File
}

// fresh gives a cell that begins what an earlier one has closed.
func (s *stdio) fresh() {
	for _, f := range []struct {
		now     **os.File
		process *os.File
	}{{&s.out, os.Stdout}, {&s.err, os.Stderr}} {
		if *f.now != nil {
			if _, err := (*f.now).Stat(); err == nil {
				continue
			}
		}
		if again, err := duplicate(f.process); err == nil {
			*f.now = again
		} else {
			*f.now = f.process
		}
	}
}

// stdioSymbols are the variables, in the form that the interpreter takes, where the
// process's files are what cells write to.
func (ev *Evaluator) stdioSymbols() map[string]reflect.Value {
	ev.stdio.fresh()
	out, err := &ev.stdio.out, &ev.stdio.err
	if ev.program {
		out, err = &os.Stdout, &os.Stderr
	}
	symbols := make(map[string]reflect.Value)
	if ev.options.Stdout == io.Writer(os.Stdout) {
		symbols["Stdout"] = reflect.ValueOf(out).Elem()
		ev.rt.Stdout = variable{out}
	}
	if ev.options.Stderr == io.Writer(os.Stderr) {
		symbols["Stderr"] = reflect.ValueOf(err).Elem()
	}
	return symbols
}

// variable writes to the file that a variable has.
type variable struct{ file **os.File }

func (v variable) Write(p []byte) (int, error) { return (*v.file).Write(p) }
