package flow

import (
	"slices"

	"gocuda/cudaapi/ptx"
)

// Spins reports whether a thread may have to look again and again until another has written:
// whether a branch in a loop depends on what a load that is not weak, or an atomic operation,
// gave in it. If there are fences in the loop, any load counts.
func (g *Graph) Spins() bool {
	for _, loop := range g.loops() {
		tainted := map[string]bool{}
		fences := false
		for _, k := range loop {
			for _, i := range g.Blocks[k].List {
				switch i.Op {
				case "nanosleep", "membar", "fence", "mbarrier":
					fences = true
				}
			}
		}
		for _, k := range loop {
			for _, i := range g.Blocks[k].List {
				if i.Op == "atom" || i.Op == "mbarrier" || i.Op == "ld" && (fences && !slices.Contains(i.Mods, "param") || looksAgain(i)) {
					for _, n := range Written(i) {
						tainted[n] = true
					}
				}
			}
		}
		for n := 0; n < len(tainted); {
			n = len(tainted)
			for _, b := range g.Blocks {
				for _, i := range b.List {
					if slices.ContainsFunc(Read(i), func(n string) bool { return tainted[n] }) {
						for _, n := range Written(i) {
							tainted[n] = true
						}
					}
				}
			}
		}
		for _, k := range loop {
			for _, i := range g.Blocks[k].List {
				if Leaves(i) && (tainted[i.Guard] || i.Op == "brx" && tainted[i.Operands[0].Text]) {
					return true
				}
			}
		}
	}
	return false
}

func looksAgain(i *ptx.Instruction) bool {
	return slices.ContainsFunc(i.Mods, func(m string) bool { return m == "volatile" || m == "relaxed" || m == "acquire" || m == "mmio" })
}

// loops are the sets of blocks from each of which one can come to all others of the set, and back.
func (g *Graph) loops() (list [][]int) {
	n := len(g.Blocks)
	index, low, on := make([]int, n), make([]int, n), make([]bool, n)
	var stack []int
	count := 0
	var visit func(k int)
	visit = func(k int) {
		count++
		index[k], low[k], on[k] = count, count, true
		stack = append(stack, k)
		for _, m := range g.Blocks[k].Next {
			if index[m] == 0 {
				visit(m)
				low[k] = min(low[k], low[m])
			} else if on[m] {
				low[k] = min(low[k], index[m])
			}
		}
		if low[k] != index[k] {
			return
		}
		at := slices.Index(stack, k)
		set := slices.Clone(stack[at:])
		stack = stack[:at]
		for _, m := range set {
			on[m] = false
		}
		if len(set) > 1 || slices.Contains(g.Blocks[k].Next, k) {
			list = append(list, set)
		}
	}
	for k := range n {
		if index[k] == 0 {
			visit(k)
		}
	}
	return list
}
