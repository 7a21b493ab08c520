package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"
)

func main() {
	app := &cli.App{Name: "app", Usage: "does", Writer: os.Stdout, ErrWriter: os.Stdout,
		Flags:    []cli.Flag{&cli.StringFlag{Name: "lang", Value: "en", Aliases: []string{"l"}}, &cli.IntFlag{Name: "n"}},
		Action:   func(c *cli.Context) error { fmt.Println(c.String("lang"), c.Int("n"), c.Args().Slice()); return nil },
		Commands: []*cli.Command{{Name: "sub", Action: func(c *cli.Context) error { return cli.Exit("", 0) }}}}
	fmt.Println(app.Run([]string{"app", "-l", "de", "--n", "4", "x"}))
	fmt.Println(app.Run([]string{"app", "--help"}))
}
