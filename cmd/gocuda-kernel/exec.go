package main

import (
	"os"

	_ "gocuda/cudaapi/backend" // gives programs their devices
	"gocuda/kernel/golang"
	"gocuda/kernel/packages"
)

const execDetails = `
FILE.go holds the whole program: package main, with a main function. It may
import the standard library and what cells may import; what follows the file
are its arguments. The exit status is that of a compiled program: what it gives
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
	status := golang.RunProgram(
		golang.Options{Packages: packages.All()},
		[]golang.File{{Name: args[0], Code: string(code)}},
		args[1:],
	)
	if status != 0 {
		return exitStatus(status)
	}
	return nil
}
