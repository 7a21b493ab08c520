package main

import (
	"strings"

	"gocuda/kernel"
)

const serveDetails = `
Clients may add arguments after the connection file, as "jupyter run" does. They
are the program's: cells see them as os.Args[1:].`

func runServe(c *call) error {
	// What follows the connection file is not this command's to read.
	var args []string
	if len(c.args) > 0 && !strings.HasPrefix(c.args[0], "-") {
		c.args, args = c.args[:1], c.args[1:]
	}
	file, err := c.parse("connection file")
	if err != nil {
		return err
	}
	return kernel.Serve(c.ctx, file[0], kernel.Options{Version: build(), Args: args})
}
