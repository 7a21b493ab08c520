package session

import (
	"context"
	"fmt"
	"os"
	"strings"

	"gocuda/kernel/golang/modules"
	"gocuda/kernel/magic"
)

// getMagic is %get, by which cells get modules to import.
func getMagic(set *modules.Set) magic.Magic {
	return magic.Magic{
		Name: "get", Usage: "%get MODULE[@VERSION]...",
		Doc: "Fetches Go modules with the go command, for cells to import. A MODULE that\n" +
			"begins with ./, ../ or / is the folder of one: when its files are edited, the\n" +
			"next cell has them. The go.mod of the notebook's folder, or of one above it,\n" +
			"remembers what was fetched; where there is none, one is written. Cells can\n" +
			"import what it requires, and the packages of its own module, without %get.\n" +
			"The packages are interpreted: cgo and assembly cannot run.",
		Run: func(ctx context.Context, env magic.Env, call magic.Call) error {
			names := strings.Fields(call.Args)
			if len(names) == 0 {
				return call.UsageErrorf("which module?")
			}
			for _, name := range names {
				m, err := set.Get(ctx, name)
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err != nil {
					return call.Errorf("ModuleError", "%v", err)
				}
				fmt.Fprintln(env.Stdout(), m.Path, m.Version)
				if m.Written != "" {
					fmt.Fprintln(env.Stdout(), "wrote", m.Written)
				}
			}
			return nil
		},
	}
}

// workingDir is the folder of the notebook, which the kernel is started in.
func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}
