package golang

import (
	"flag"
	"fmt"
	"go/build"
	"io"
	"os"
	"reflect"
	"sync"

	"gocuda/kernel/golang/host"
)

// variables are what cells have in place of variables of compiled packages: the
// process's are the kernel's. A cell may close os.Stdout, a duplicate. A program's
// standard files are the process's themselves.
type variables struct {
	mu           sync.Mutex
	in, out, err *os.File
	args         []string
	flags        *flag.FlagSet
	usage        func()
}

// fresh gives a cell that begins what an earlier one has closed.
func (s *variables) fresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
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

// variableTables are the variables, and the functions of package flag that use
// them, in the form that the interpreter takes.
func (ev *Evaluator) variableTables() map[string]map[string]reflect.Value {
	s := &ev.variables
	s.fresh()
	in, out, err := &s.in, &s.out, &s.err
	if ev.program {
		in, out, err = &os.Stdin, &os.Stdout, &os.Stderr
	} else {
		s.in = os.Stdin
	}
	if s.args = ev.options.Args; s.args == nil {
		s.args = os.Args
	}
	ofOS := map[string]reflect.Value{"Args": variableOf(&s.args), "Stdin": variableOf(in)}
	if ev.options.Stdout == io.Writer(os.Stdout) { // what cells write to is the process's
		ofOS["Stdout"] = variableOf(out)
		ev.rt.Stdout = variable{out}
	}
	if ev.options.Stderr == io.Writer(os.Stderr) {
		ofOS["Stderr"] = variableOf(err)
	}
	first := *in
	ev.rt.Input = func() io.Reader {
		if *in == first && ev.options.Stdin != nil {
			return ev.options.Stdin
		}
		return *in
	}
	return map[string]map[string]reflect.Value{"os": ofOS, "flag": ev.flags()}
}

// findRoot tells package go/build, for itself and its like, where Go is installed: this program was built
// without its paths, and go run tells programs.
var findRoot = sync.OnceFunc(func() {
	if build.Default.GOROOT == "" {
		build.Default.GOROOT = host.Root()
	}
})

// flags is package flag for the variable that cells have as flag.CommandLine.
func (ev *Evaluator) flags() map[string]reflect.Value {
	s := &ev.variables
	handling := flag.PanicOnError // which ends a cell, not the kernel
	if ev.program {
		handling = flag.ExitOnError
	}
	name := ""
	if len(s.args) > 0 {
		name = s.args[0]
	}
	s.flags = flag.NewFlagSet(name, handling)
	if ev.options.Stderr != io.Writer(os.Stderr) {
		s.flags.SetOutput(ev.options.Stderr)
	}
	s.usage = func() {
		fmt.Fprintf(s.flags.Output(), "Usage of %s:\n", name)
		s.flags.PrintDefaults()
	}
	s.flags.Usage = func() { s.usage() }
	table := map[string]reflect.Value{"CommandLine": variableOf(&s.flags), "Usage": variableOf(&s.usage)}
	set := reflect.TypeFor[*flag.FlagSet]()
	for i := range set.NumMethod() {
		name := set.Method(i).Name
		f, ok := ev.importer.host.Symbol("flag", name)
		if !ok || f.Kind() != reflect.Func || f.Type() != reflect.Zero(set).Method(i).Type() {
			continue
		}
		table[name] = reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
			return reflect.ValueOf(s.flags).Method(i).Call(args)
		})
	}
	table["Parse"] = reflect.ValueOf(func() { s.flags.Parse(s.args[1:]) })
	return table
}

func variableOf(p any) reflect.Value { return reflect.ValueOf(p).Elem() }

// variable writes to the file that a variable has.
type variable struct{ file **os.File }

func (v variable) Write(p []byte) (int, error) { return (*v.file).Write(p) }
