// The command gocuda-kernel is gocuda's one binary: the Jupyter kernel, its
// evaluator, and the tools around them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"gocuda/internal/nvtools"
)

// command is one subcommand.
type command struct {
	name    string
	args    string // as the usage line shows them
	summary string // one line; none hides the command from the list
	details string // what the flags do not say
	run     func(c *call) error
}

func commands() []command {
	return []command{
		{"install", "[--user | --sys-prefix | --prefix DIR] [--name NAME]", "register this kernel with Jupyter", installDetails, runInstall},
		{"uninstall", "[--user | --sys-prefix | --prefix DIR] [--name NAME]", "remove this kernel from Jupyter", "", runUninstall},
		{"run", "NOTEBOOK [-o OUT] [-p NAME=VALUE]...", "execute a notebook without Jupyter", runDetails, runNotebook},
		{"exec", "FILE.go [ARGUMENT]...", "run a Go program as a cell would", execDetails, runExec},
		{"export", "NOTEBOOK DIR [-gocuda FOLDER] [-name NAME]", "write a notebook as a Go program", exportDetails, runExport},
		{"lsp", "", "run the language server: mistakes in cells are underlined while you type", lspDetails, runLSP},
		{"check", "FOLDER", "show what checked processes found: see GOCUDA_CHECK", checkDetails, runCheck},
		{"mpirun", "[-n N] [-plain] PROGRAM [ARGUMENT]...", "start a program as MPI ranks on this machine", mpirunDetails, runMpirun},
		{"doctor", "[--json | --profile]", "list the GPUs, CUDA, MPI and Jupyter that were found, and what to do about the rest", "", runDoctor},
		{"tutorials", "DIR", "write the tutorial notebooks into a folder", "", runTutorials},
		{"version", "", "print the version", "", runVersion},
		{"serve", "CONNECTION_FILE [ARGUMENT]...", "run the kernel (Jupyter calls this)", serveDetails, runServe},
		{"evaluate", "", "", "", runEvaluate},
		{"rank", "", "", "", runRank},
		{"probe", "SUBJECT", "", "", runProbe},
		{"reference", "DIR", "", "", runReference},
	}
}

// usageError is a call that cannot be made sense of: exit status 2.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

// exitStatus ends the program with a status and no more words.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// statuses are what the commands exit with.
var statuses = []struct{ status, meaning string }{
	{"0", "success"},
	{"1", "the command failed: a cell has an error, a program does not compile, or there are hazards"},
	{"2", "the call is wrong: an unknown command or flag; of exec, a panic"},
	{"130", "the run was interrupted"},
	{"other", "of exec and mpirun: what the program exited with"},
}

// call is one use of a command.
type call struct {
	ctx    context.Context
	flags  *flag.FlagSet
	args   []string
	stdout io.Writer
	stderr io.Writer
}

// underTool says that one of NVIDIA's tools looks into this process.
var underTool bool

func main() {
	underTool = nvtools.Detach()
	os.Exit(dispatch(os.Args[1:], os.Stdout, os.Stderr))
}

var helpNames = []string{"help", "-h", "-help", "--help"}

func dispatch(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return 2
	}
	switch {
	case slices.Contains(helpNames, args[0]):
		if len(args) == 2 && !slices.Contains(helpNames, args[1]) {
			return dispatch([]string{args[1], "-h"}, stdout, stderr)
		}
		usage(stdout)
		return 0
	case args[0] == "-version", args[0] == "--version":
		args[0] = "version"
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return start(c, args[1:], stdout, stderr)
		}
	}
	fmt.Fprintf(stderr, "gocuda-kernel: no command %q\n\n", args[0])
	usage(stderr)
	return 2
}

func start(c command, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	err := c.run(&call{ctx: context.Background(), flags: flags, args: args, stdout: stdout, stderr: stderr})
	var (
		status exitStatus
		usage  usageError
	)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		help(stdout, c, flags)
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "gocuda-kernel %s: %v\n(gocuda-kernel %s -h shows its usage)\n", c.name, err, c.name)
		return 2
	}
	fmt.Fprintf(stderr, "gocuda-kernel %s: %v\n", c.name, err)
	return 1
}

// parse reads the flags wherever they stand among the other arguments, which
// it returns: as many as are named.
func (c *call) parse(names ...string) ([]string, error) {
	var rest []string
	for args := c.args; ; {
		if err := c.flags.Parse(args); err != nil {
			return nil, usageOr(err)
		}
		args = c.flags.Args()
		if len(args) == 0 {
			break
		}
		rest, args = append(rest, args[0]), args[1:]
	}
	if len(rest) < len(names) {
		return nil, usageError{"no " + strings.Join(names[len(rest):], ", no ") + " given"}
	}
	if len(rest) > len(names) {
		return nil, usageError{fmt.Sprintf("unexpected argument %q", rest[len(names)])}
	}
	return rest, nil
}

// usageOr is an error of flag parsing as one of usage, or the wish for help.
func usageOr(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	return usageError{err.Error()}
}

func usage(w io.Writer) {
	fmt.Fprintf(w, "gocuda-kernel is a Jupyter kernel for Go in which GPUs are live.\n\nUsage:\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range commands() {
		if c.summary != "" {
			fmt.Fprintf(t, "  gocuda-kernel %s\t%s\n", c.name, c.summary)
		}
	}
	t.Flush()
	fmt.Fprintf(w, "\nExit status:\n\n")
	for _, s := range statuses {
		fmt.Fprintf(t, "  %s\t%s\n", s.status, s.meaning)
	}
	t.Flush()
	fmt.Fprintf(w, "\nBegin with: gocuda-kernel install\nMore on a command: gocuda-kernel COMMAND -h\n")
}

func help(w io.Writer, c command, flags *flag.FlagSet) {
	fmt.Fprintf(w, "Usage: gocuda-kernel %s\n\n", strings.TrimSpace(c.name+" "+c.args))
	if c.summary != "" {
		fmt.Fprintf(w, "%s%s.\n", strings.ToUpper(c.summary[:1]), c.summary[1:])
	}
	if c.details != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(c.details))
	}
	any := false
	flags.VisitAll(func(*flag.Flag) { any = true })
	if any {
		fmt.Fprintf(w, "\nFlags:\n")
		flags.SetOutput(w)
		flags.PrintDefaults()
	}
}

// executable is the absolute path of this binary.
func executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find this program's own file: %w", err)
	}
	return filepath.Abs(path)
}
