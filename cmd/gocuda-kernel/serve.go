package main

import (
	"gocuda/kernel"
)

func runServe(c *call) error {
	args, err := c.parse("connection file")
	if err != nil {
		return err
	}
	return kernel.Serve(c.ctx, args[0], kernel.Options{Version: build()})
}
