package main

import (
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	_ "gocuda/cudaapi/backend" // gives programs their devices
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/trace"
	"gocuda/kernel/golang"
	"gocuda/kernel/golang/modules"
	"gocuda/kernel/notebook"
	"gocuda/kernel/packages"
	"gocuda/kernel/session"
)

const execDetails = `
FILE.go holds the whole program: package main, with a main function; or it is a script
of cells, each after a line "// %%", in which magics may be comments: what jupyter
nbconvert --to script and jupytext write of a notebook. A program may
import the standard library, what cells may import, and the modules of the
go.mod in its folder or above. Words after the file are its arguments. The exit
status is that of a compiled program: what it passes to os.Exit, 2 after a panic,
and 1 if it does not compile.`

func runExec(c *call) error {
	if err := c.flags.Parse(c.args); err != nil { // the rest is the program's
		return usageOr(err)
	}
	args := c.flags.Args()
	if len(args) == 0 {
		return usageError{"no file given"}
	}
	code, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	if _, noProgram := parser.ParseFile(token.NewFileSet(), "", code, parser.PackageClauseOnly); noProgram != nil {
		if nb := notebook.ParseScript(string(code)); nb != nil {
			return c.runScript(nb, args[1:])
		}
	}
	dir, err := filepath.Abs(filepath.Dir(args[0]))
	if err != nil {
		return err
	}
	if err := hazard.FromEnv(); err != nil {
		return err
	}
	if err := trace.FromEnv(); err != nil {
		return err
	}
	name := filepath.Base(args[0])
	status := golang.RunProgram(
		golang.Options{Packages: packages.All(), Modules: modules.New(dir), Touches: hazard.Checking, Touched: func(t golang.Touch) {
			hazard.HostAccess(hazard.Place{File: filepath.Base(t.Cell), Line: t.Line}, uintptr(t.P), t.Bytes, t.Write, t.Element, t.Called)
		}, Started: func(ev *golang.Evaluator) {
			at := func(file string, line int) cuda.Place {
				if line == 0 {
					return cuda.Place{File: name}
				}
				return cuda.Place{File: filepath.Base(file), Line: line}
			}
			cuda.SetCaller(func() cuda.Place { return at(ev.Where()) }, "gocuda/kernel/golang/host.", "gocuda/kernel/packages.")
			hazard.SetPending(ev.SetPending)
			hazard.SetNamer(hazard.Namer{Place: func() (place, caller cuda.Place) {
				in, from := ev.Calls()
				if place = at(in.Cell, in.Line); from.Line > 0 {
					caller = at(from.Cell, from.Line)
				}
				return place, caller
			}, Source: lines(name, string(code))})
		}},
		[]golang.File{{Name: args[0], Code: string(code)}},
		args[1:],
	)
	if err := trace.Conclude(c.stderr); err != nil {
		return err
	}
	found, err := hazard.Conclude(c.stderr)
	if err != nil {
		return err
	}
	if status == 0 && found > 0 {
		status = 1
	}
	if status != 0 {
		return exitStatus(status)
	}
	return nil
}

// lines gives the lines of a program's file.
func lines(name, code string) func(hazard.Place) string {
	list := strings.Split(code, "\n")
	return func(at hazard.Place) string {
		if at.File != name || at.Line < 1 || at.Line > len(list) {
			return ""
		}
		return strings.TrimSpace(list[at.Line-1])
	}
}

// runScript runs cells, and prints what they show.
func (c *call) runScript(nb *notebook.Notebook, args []string) error {
	ctx, stop := signal.NotifyContext(c.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := notebook.Run(ctx, nb, notebook.RunOptions{
		Start: func(keep func(session.Output)) (notebook.Evaluator, error) {
			return session.Start(session.Options{
				Args: args,
				Output: func(o session.Output) {
					keep(o)
					switch text, _ := o.Bundle.Data["text/plain"].(string); o.Kind {
					case session.Stdout:
						io.WriteString(c.stdout, o.Text)
					case session.Stderr:
						io.WriteString(c.stderr, o.Text)
					case session.Value, session.Display:
						fmt.Fprintln(c.stdout, text)
					}
				},
			})
		},
	})
	var failure *notebook.Failure
	if errors.As(err, &failure) {
		for _, line := range failure.Step.Err.Traceback {
			fmt.Fprintln(c.stderr, plain(c.stderr, line))
		}
	}
	if err == nil && os.Getenv(hazard.Env) != "" && hazards(nb, io.Discard) > 0 {
		err = exitStatus(1)
	}
	if errors.Is(context.Cause(ctx), context.Canceled) {
		err = exitStatus(130)
	}
	return err
}
