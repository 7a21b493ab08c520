package hazard

import (
	"fmt"
	"strings"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/callsite"
	"gocuda/cudaapi/record"
)

// race puts a race between threads of a launch, or another mistake in what they do together, into
// words.
func (n Namer) race(x record.Race) Report {
	side := func(a driver.RaceAccess) Operation {
		place := Place{File: x.Source, Line: a.Line}
		if strings.HasPrefix(x.Source, "In[") {
			place = Place{Cell: x.Source, Line: a.Line}
		}
		does := map[bool]string{true: "writes", false: "reads"}[a.Write]
		if a.Atomic {
			does = "changes atomically"
		}
		return Operation{What: fmt.Sprintf("kernel %s, block (%d,%d,%d), thread (%d,%d,%d),", x.Race.Kernel, a.Block.X, a.Block.Y, a.Block.Z, a.Thread.X, a.Thread.Y, a.Thread.Z),
			Does: does, Place: place, Source: n.line(&record.Op{Site: callsite.Site{Place: place}}),
			Queue: n.queue(x.Kernel.Lane), Device: x.Kernel.Device(), Rank: x.Kernel.Rank, Launched: Place{}}
	}
	bytes := uint64(max(x.First.Bytes, x.Second.Bytes))
	r := Report{First: side(x.First), Second: side(x.Second), Bytes: bytes, Address: x.Address, Missing: x.Missing, Fix: x.Fix, Times: x.Count}
	switch x.Kind {
	case "barrier":
		r.Threads, r.First.Does, r.Second.Does = "threads of a block wait at different barriers", "waits", "waits elsewhere"
	case "past":
		r.Threads, r.First.Does, r.Second.Does = "threads of a block do not all come to a barrier", "waits", "has gone by"
	case "lane":
		r.Threads = fmt.Sprintf("the mask %#x of a warp's function does not have the lane that calls it", x.Address)
		r.First.Does, r.Second.Does = "calls it", "calls it"
	}
	if r.Threads != "" {
		r.Bytes, r.Address = 0, 0
		return r
	}
	if v, ok := strings.CutPrefix(x.Where, " of "); ok {
		r.Memory = v
	} else if x.Where != "" {
		if n.Memory != nil {
			r.Memory = n.Memory(x.Address, x.Address+bytes)
		} else {
			r.Memory = ""
		}
		if r.Memory == "" {
			r.Memory = allocated(x.Address, x.Address+bytes)
		}
	}
	if x.Same {
		r.Note = "Both write the same value."
	}
	return r
}
