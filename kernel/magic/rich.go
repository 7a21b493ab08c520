package magic

import (
	"context"

	"gocuda/kernel/display"
)

func richMagics() (list []Magic) {
	for _, m := range []struct {
		name, what string
		of         func(string) display.Bundle
	}{
		{"html", "HTML", display.HTML},
		{"markdown", "Markdown", display.Markdown},
		{"latex", "LaTeX", display.LaTeX},
		{"svg", "an SVG picture", display.SVG},
	} {
		list = append(list, Magic{Name: m.name, Usage: "%%" + m.name, Cell: true, Doc: "Shows the cell as " + m.what + ".",
			Run: func(_ context.Context, _ Env, call Call) error {
				if call.Args != "" {
					return call.UsageErrorf("it takes no arguments")
				}
				display.Show(m.of(call.Body))
				return nil
			}})
	}
	return list
}
