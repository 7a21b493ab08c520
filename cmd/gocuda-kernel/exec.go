package main

import (
	"os"
	"path/filepath"

	_ "gocuda/cudaapi/backend" // gives programs their devices
	"gocuda/kernel/golang"
	"gocuda/kernel/golang/modules"
	"gocuda/kernel/packages"
)

const execDetails = `
FILE.go holds the whole program: package main, with a main function. It may
import the standard library, what cells may import, and the modules of the
go.mod in its folder or above; what follows the file are its arguments. The exit status is that of a compiled program: what it gives
os.Exit, 2 after a panic, and 1 if it does not compile.`

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
	dir, err := filepath.Abs(filepath.Dir(args[0]))
	if err != nil {
		return err
	}
	status := golang.RunProgram(
		golang.Options{Packages: packages.All(), Modules: modules.New(dir)},
		[]golang.File{{Name: args[0], Code: string(code)}},
		args[1:],
	)
	if status != 0 {
		return exitStatus(status)
	}
	return nil
}
