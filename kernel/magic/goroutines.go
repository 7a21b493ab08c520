package magic

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

var goroutinesMagic = Magic{Name: "goroutines", Usage: "%goroutines [stop [CELL]...]", Run: goroutines,
	Doc: "Lists the cells whose goroutines still run; stop ends them.\n" +
		"%goroutines stop In[3] ends those of one cell, at their next loop or call."}

func goroutines(_ context.Context, env Env, call Call) error {
	words, err := call.Fields()
	if err != nil {
		return err
	}
	live := env.Goroutines()
	if len(words) == 0 {
		for _, cell := range slices.Sorted(maps.Keys(live)) {
			fmt.Fprintf(env.Stdout(), "%s: %d\n", cell, live[cell])
		}
		if len(live) == 0 {
			fmt.Fprintln(env.Stdout(), "no goroutines are running")
		}
		return nil
	}
	if words[0] != "stop" {
		return call.UsageErrorf("unexpected argument %q: want stop", words[0])
	}
	cells := words[1:]
	for _, cell := range cells {
		if live[cell] == 0 {
			return call.UsageErrorf("no goroutines of %q are running: %%goroutines lists the cells that have some", cell)
		}
	}
	if len(cells) == 0 {
		cells = []string{""} // every cell
	}
	for _, cell := range cells {
		env.StopGoroutines(cell)
	}
	return nil
}
