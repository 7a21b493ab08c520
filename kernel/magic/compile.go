package magic

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// CompiledFunction is a function of a cell, or a loop, that was to be compiled.
type CompiledFunction struct {
	Name, Cell string
	Line       int
	Reason     string        // why it is interpreted; "" if it is compiled
	Took       time.Duration // to compile it, with the others of its cell
	Cached     bool          // it had been compiled before
	Code       string        // the C++ of the functions of its cell
}

// Compiler compiles functions of cells.
type Compiler interface {
	// CompileNext has the functions of the cells that run runs compiled first.
	CompileNext(run func() error) error
	// SetCompile says whether cells are compiled.
	SetCompile(on bool)
	// Compiled lists what was compiled, and what was not.
	Compiled() []CompiledFunction
}

// Compile is %%compile and %compile.
func Compile(c Compiler) []Magic {
	return []Magic{
		{
			Name: "compile", Usage: "%%compile", Cell: true,
			Doc: "Compiles the functions of the cell with the host's C++ compiler before it runs.\n" +
				"They then take as long as compiled Go's, whoever calls them, until the kernel ends.\n" +
				"The cell fails if one of them cannot be compiled: numbers, bools, strings, and slices,\n" +
				"arrays, structs, maps and pointers of them can, with append, make, new and delete. The keys of maps are\n" +
				"numbers, bools or strings. Channels, interfaces, goroutines and defer cannot.",
			Run: func(_ context.Context, env Env, call Call) error {
				if call.Args != "" {
					return call.UsageErrorf("write the code below the first line")
				}
				return c.CompileNext(func() error { return env.Eval(at(call.Body, call.Line+1, 1), true) })
			},
		},
		{
			Name: "compile", Usage: "%compile [on | off | FUNCTION]",
			Doc: "Lists the functions and loops of cells that were compiled, and those that were not, with the reason.\n" +
				"With the name of a function or loop: shows its C++.\n" +
				"Loops of numbers, and functions with such loops or that call themselves, are compiled by the host's\n" +
				"C++ compiler when a cell is in them for long, beside the cell. A loop is entered in its next iteration, a\n" +
				"function at its next call. off: everything is interpreted from the next cell on, until on.\n" +
				"With GOCUDA_COMPILE=0 in the environment, nothing is compiled.",
			Run: func(_ context.Context, env Env, call Call) error {
				switch call.Args {
				case "on", "off":
					c.SetCompile(call.Args == "on")
					return nil
				}
				return listCompiled(c, env, call)
			},
		},
	}
}

func listCompiled(c Compiler, env Env, call Call) error {
	found := false
	for _, f := range c.Compiled() {
		if call.Args != "" {
			if strings.TrimPrefix(f.Name, "*") != call.Args {
				continue
			}
			found = true
			if f.Code != "" {
				fmt.Fprint(env.Stdout(), f.Code)
				continue
			}
		}
		found = true
		fmt.Fprintf(env.Stdout(), "%s (%s:%d): ", f.Name, f.Cell, f.Line)
		switch {
		case f.Reason != "":
			fmt.Fprintf(env.Stdout(), "interpreted: %s\n", f.Reason)
		case f.Cached:
			fmt.Fprintf(env.Stdout(), "compiled, from the cache in %s\n", digits(f.Took.Seconds()))
		default:
			fmt.Fprintf(env.Stdout(), "compiled in %s\n", digits(f.Took.Seconds()))
		}
	}
	switch {
	case !found && call.Args != "":
		return call.UsageErrorf("no function or loop %s was compiled", call.Args)
	case !found:
		fmt.Fprintf(env.Stdout(), "nothing was compiled, because no loop or function has run for long; %s in the first line of a cell compiles its functions\n", "%%compile")
	}
	return nil
}
