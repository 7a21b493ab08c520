package main

import (
	"fmt"

	"github.com/alecthomas/kong"
)

func main() {
	var c struct {
		Debug bool `help:"Debug mode." short:"d"`
		Rm    struct {
			Force bool     `help:"Force."`
			Paths []string `arg:"" name:"path"`
		} `cmd:"" help:"Remove."`
	}
	p, err := kong.New(&c, kong.Name("app"), kong.Exit(func(int) {}))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, err := p.Parse([]string{"rm", "--force", "a", "b", "-d"})
	fmt.Println(ctx.Command(), err, c.Debug, c.Rm.Force, c.Rm.Paths)
}
