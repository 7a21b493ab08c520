// Package profiling gives cells %%profile.
package profiling

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"gocuda/kernel/evaluator"
	"gocuda/kernel/magic"
	"gocuda/kernel/profile"
	"gocuda/kernel/session"
)

// Attach adds the magic to an evaluator.
func Attach(h *evaluator.Host) evaluator.Extension {
	var mu sync.Mutex
	cells := map[string]string{} // code by name
	profile.Source = func(name string) string {
		mu.Lock()
		defer mu.Unlock()
		return cells[name]
	}
	return evaluator.Extension{
		Begin: func(<-chan struct{}) {
			if c := h.Cell(); !c.Silent {
				mu.Lock()
				cells[c.Name] = c.Code
				mu.Unlock()
			}
		},
		Magics: []magic.Magic{
			{Name: "profile", Usage: "%%profile [TITLE]", Cell: true,
				Run: func(ctx context.Context, env magic.Env, call magic.Call) error { return cell(ctx, h, env, call) },
				Doc: "Runs the cell and counts what its kernels do, for each line of their source: loads, stores, sectors of 32 bytes for each request of a warp,\n" +
					"conflicts of shared memory's banks, lanes that are active, branches that part a warp, atomic operations that meet.\n" +
					"Of each launch it says the occupancy and what limits it, the bytes that memory must move, the arithmetic intensity, and how much of the device's peak was reached.\n" +
					"profile.Last() gives it as a value.\n" +
					"The counts are exact, and those of PTX: simulated devices have them, for %%cuda where NVRTC is found, and for kernels in Go there too. Times are of the devices' model.\n" +
					"Kernels are slower while they are counted; without %%profile nothing is."},
		},
	}
}

func cell(ctx context.Context, h *evaluator.Host, env magic.Env, call magic.Call) error {
	began := false
	p, err := profile.Within(cmp.Or(call.Args, h.Cell().Name), func() error {
		began = true
		return call.Within(ctx, env)
	})
	if !began {
		return call.Errorf("ProfileError", "%v", err)
	}
	if len(p.Kernels) == 0 {
		if err == nil {
			fmt.Fprintln(env.Stdout(), "profile: no kernel ran")
		}
		return err
	}
	b, drawn := p.Draw()
	if drawn == nil {
		drawn = h.Show(session.Output{Kind: session.Display, Bundle: b})
	}
	if err != nil {
		return err // as it is
	}
	return drawn
}
