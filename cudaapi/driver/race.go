package driver

import (
	"fmt"
	"strings"
)

// RaceAccess is one of the two accesses of a race.
type RaceAccess struct {
	Line          int
	Block, Thread Dim3
	Bytes         int
	Write, Atomic bool
	Volatile      bool
	Scope         string // of an atomic operation: block, cluster, device or system
}

// Race is two accesses of threads of one launch that nothing orders, or another mistake in
// what threads do together.
type Race struct {
	Kernel        string
	Source        string // what the lines are of
	Kind          string // race, barrier, past, lane or mask
	First, Second RaceAccess
	Address       uint64
	Where         string // what lies at the address
	Same          bool   // both write the same value
	Note          bool   // ordered on GPUs of today, by what does not promise it
	Count         int    // how often these lines met
	Missing       string // which order is missing
	Fix           string // what would make it
}

func (r *Race) String() string {
	at := func(a RaceAccess) string {
		line := ""
		if a.Line > 0 {
			line = fmt.Sprintf(", line %d", a.Line)
		}
		return fmt.Sprintf("%s, block (%d,%d,%d), thread (%d,%d,%d)", line, a.Block.X, a.Block.Y, a.Block.Z, a.Thread.X, a.Thread.Y, a.Thread.Z)
	}
	does := func(a RaceAccess) string {
		verb := map[bool]string{true: "writes", false: "reads"}[a.Write]
		switch {
		case a.Atomic:
			verb = "changes atomically"
		case a.Volatile:
			verb += " (volatile)"
		}
		return verb
	}
	var b strings.Builder
	fmt.Fprintf(&b, "check: kernel %s%s: ", r.Kernel, at(r.First))
	switch r.Kind {
	case "barrier":
		fmt.Fprintf(&b, "the barrier of the block is met at another place, line %d, by thread (%d,%d,%d)", r.Second.Line, r.Second.Thread.X, r.Second.Thread.Y, r.Second.Thread.Z)
	case "past":
		fmt.Fprintf(&b, "the barrier of the block is not met by thread (%d,%d,%d), which has gone on to line %d", r.Second.Thread.X, r.Second.Thread.Y, r.Second.Thread.Z, r.Second.Line)
	case "lane":
		fmt.Fprintf(&b, "the mask %#x of a warp's function does not have the lane that calls it", r.Address)
	case "mask":
		fmt.Fprintf(&b, "the mask %#x of a warp's function names thread (%d,%d,%d), which does not come", r.Address, r.Second.Thread.X, r.Second.Thread.Y, r.Second.Thread.Z)
	default:
		if r.Note {
			b.WriteString("note: ")
		}
		fmt.Fprintf(&b, "%s %d bytes%s, which%s %s; nothing orders the two", does(r.First), r.First.Bytes, r.Where, strings.TrimPrefix(at(r.Second), ","), does(r.Second))
		if r.Same {
			b.WriteString(", which write the same value")
		}
	}
	if r.Count > 1 {
		fmt.Fprintf(&b, ", the first of %d in this launch", r.Count)
	}
	fmt.Fprintf(&b, ". %s", r.Missing)
	if r.Fix != "" {
		fmt.Fprintf(&b, " It needs: %s.", r.Fix)
	}
	return b.String()
}
