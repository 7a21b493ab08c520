package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gocuda/kernel/export"
	"gocuda/kernel/golang"
	"gocuda/kernel/golang/modules"
	"gocuda/kernel/packages"
)

const exportDetails = `
DIR gets a Go module: main.go with the notebook's cells in order, mpicells/
with its %%mpi cells, kernels/ with its %%cuda and %%kernel cells, which are
embedded. go build compiles it, mpirun or srun starts it (one process, if it has
no %%mpi cells). What the cell tagged "parameters" declares are its flags.

The program prints what the notebook prints: of figures and tables their text. It
does not print what magics say, such as "compiled: axpy". An error that would fail
a cell ends the program.

What a program cannot do, such as !commands, %timeit and widgets, is left out, and
the command says so, with cell and line. Code cells are counted from 1. If a cell
cannot be written at all, nothing is written, and the exit status is 1.

go.mod names the folder of gocuda's source (-gocuda), as long as there is no
published version, and the modules of the notebook's go.mod.`

func runExport(c *call) error {
	gocuda := c.flags.String("gocuda", "", "the `FOLDER` of gocuda's source (default: the one that the working directory is in)")
	name := c.flags.String("name", "", "the module's `NAME` (default: the notebook's)")
	args, err := c.parse("notebook", "folder")
	if err != nil {
		return err
	}
	nb, dir, err := readNotebook(args[0])
	if err != nil {
		return err
	}
	if err := describe(nb); err != nil {
		return err
	}
	title := filepath.Base(args[0])
	if args[0] == "-" {
		title = "notebook"
	}
	if *name == "" {
		*name = moduleName(title)
	}
	if *gocuda == "" {
		if *gocuda, err = sourceFolder(); err != nil {
			return err
		}
	}
	if *gocuda, err = filepath.Abs(*gocuda); err != nil {
		return err
	}
	if err := mayWriteModule(args[1]); err != nil {
		return err
	}
	issues, err := export.Write(nb, args[1], export.Options{
		Name: *name, Title: title, Dir: dir, Gocuda: *gocuda,
		NewEvaluator: func(builtins map[string]any) (*golang.Evaluator, error) {
			asks := func(...string) string { return "" }
			maps.Copy(builtins, map[string]any{"input": asks, "password": asks})
			return golang.New(golang.Options{
				Packages: packages.All(), Modules: modules.New(dir), Stdout: c.stderr, Stderr: c.stderr,
				Builtins: builtins,
			})
		},
	})
	fatal := false
	for _, i := range issues {
		fatal = fatal || i.Fatal
		fmt.Fprintln(c.stderr, i)
	}
	if err != nil {
		return err
	}
	if fatal {
		return errors.New("the notebook cannot be a program: nothing was written")
	}
	fmt.Fprintf(c.stdout, "wrote %s: cd %[1]s && go build\n", args[1])
	return nil
}

// moduleName makes the name of a module of a file's.
func moduleName(file string) string {
	name := regexp.MustCompile(`[^a-z0-9_-]+`).ReplaceAllString(strings.ToLower(strings.TrimSuffix(file, ".ipynb")), "-")
	name = strings.Trim(name, "-_")
	if name == "" || name == "gocuda" {
		name = "notebook"
	}
	return name
}

// sourceFolder is that of gocuda's source, if the working directory is in it.
func sourceFolder() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module gocuda\n") {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", usageError{"gocuda's source was not found: name its folder with -gocuda FOLDER"}
		}
		dir = up
	}
}

// mayWriteModule refuses a folder with Go files that export did not write.
func mayWriteModule(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !strings.Contains(string(text), "gocuda-kernel export wrote it") {
			return fmt.Errorf("%s is not from an earlier export: choose another folder", f)
		}
	}
	return nil
}
