package magic

import (
	"context"
	"fmt"
)

// Modules is %get, by which cells get modules to import: get fetches one and
// returns what is to be said of it.
func Modules(get func(ctx context.Context, module string) (said string, err error)) Magic {
	return Magic{
		Name: "get", Usage: "%get MODULE[@VERSION]...",
		Doc: "Fetches Go modules with the go command, for cells to import. A MODULE that\n" +
			"begins with ./, ../ or / is the folder of one: when its files are edited, the\n" +
			"next cell has them. The go.mod of the notebook's folder, or of one above it,\n" +
			"remembers what was fetched; where there is none, one is written. Cells can\n" +
			"import what it requires, and the packages of its own module, without %get.\n" +
			"The packages are interpreted: cgo and assembly cannot run.",
		Run: func(ctx context.Context, env Env, call Call) error {
			names, err := call.Fields()
			if err != nil {
				return err
			}
			if len(names) == 0 {
				return call.UsageErrorf("which module?")
			}
			for _, name := range names {
				said, err := get(ctx, name)
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err != nil {
					return call.Errorf("ModuleError", "%v", err)
				}
				fmt.Fprintln(env.Stdout(), said)
			}
			return nil
		},
	}
}
