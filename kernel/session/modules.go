package session

import (
	"context"
	"fmt"
	"strings"

	"gocuda/kernel/golang/modules"
	"gocuda/kernel/magic"
)

// getMagic is %get, by which cells get modules to import.
func getMagic(set *modules.Set) magic.Magic {
	return magic.Magic{
		Name: "get", Usage: "%get MODULE[@VERSION]...",
		Doc: "Fetches Go modules with the go command, for cells to import.\n" +
			"Their packages are interpreted: cgo and assembly cannot run.",
		Run: func(ctx context.Context, env magic.Env, call magic.Call) error {
			names := strings.Fields(call.Args)
			if len(names) == 0 {
				return call.UsageErrorf("which module?")
			}
			for _, name := range names {
				version, err := set.Get(ctx, name)
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err != nil {
					return call.Errorf("ModuleError", "%v", err)
				}
				fmt.Fprintln(env.Stdout(), version)
			}
			return nil
		},
	}
}
