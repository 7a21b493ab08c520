package flow

import (
	"slices"

	"gocuda/cudaapi/ptx"
)

// Alike are what all threads of a block have in common, of those that are at the same place: the
// registers with one value, and the blocks that they come to together.
type Alike struct {
	g       *Graph
	differ  map[string]bool // registers
	parted  map[int]bool    // blocks to which some threads come and others do not, before all meet again
	matters map[int]bool    // blocks from which one can come to a barrier
}

// mostBlocks is how many blocks are looked at: the time goes with their square.
const mostBlocks = 400

// Alike finds what all threads have in common. ok: they come to every barrier together, but for
// those that have ended. waits says which instructions are barriers.
func (g *Graph) Alike(waits func(*ptx.Instruction) bool) (a *Alike, ok bool) {
	a = &Alike{g: g, differ: map[string]bool{}, parted: map[int]bool{}, matters: map[int]bool{}}
	if len(g.Blocks) > mostBlocks {
		return a, false
	}
	ends := func(b *Block) bool { return len(b.List) > 0 && waits(b.List[len(b.List)-1]) }
	for again := true; again; {
		again = false
		for k, b := range g.Blocks {
			if !a.matters[k] && (ends(b) || slices.ContainsFunc(b.Next, func(n int) bool { return a.matters[n] })) {
				a.matters[k], again = true, true
			}
		}
	}
	for again := true; again; {
		again = false
		for k, b := range g.Blocks {
			for _, i := range b.List {
				if !a.parted[k] && !a.differs(i, waits) {
					continue
				}
				for _, n := range Written(i) {
					if !a.differ[n] {
						a.differ[n], again = true, true
					}
				}
			}
			if a.forks(b) && a.part(k) {
				again = true
			}
		}
	}
	for k, b := range g.Blocks {
		if ends(b) && (a.parted[k] || a.differ[b.List[len(b.List)-1].Guard]) {
			return a, false
		}
	}
	return a, true
}

// Same reports whether a register has one value for all threads.
func (a *Alike) Same(reg string) bool { return a.g.Types[reg] != "" && !a.differ[reg] }

// differs reports whether an instruction's result may differ from thread to thread.
func (a *Alike) differs(i *ptx.Instruction, waits func(*ptx.Instruction) bool) bool {
	if !pure[i.Op] && !a.g.parameter(i) && !waits(i) {
		return true
	}
	if a.differ[i.Guard] {
		return true
	}
	if waits(i) {
		return false // a vote
	}
	for _, n := range Read(i) {
		if a.differ[n] || a.g.Types[n] == "" && n[0] == '%' && !same[n] || a.g.variable(n) != nil {
			return true
		}
	}
	return false
}

// parameter reports whether an instruction loads a parameter of the kernel.
func (g *Graph) parameter(i *ptx.Instruction) bool {
	return i.Op == "ld" && slices.Contains(i.Mods, "param") && g.variable(i.Operands[1].Text) == nil
}

// forks reports whether threads part at the end of a block.
func (a *Alike) forks(b *Block) bool {
	if len(b.List) == 0 {
		return false
	}
	i := b.List[len(b.List)-1]
	return Leaves(i) && (a.differ[i.Guard] || i.Op == "brx" && a.differ[i.Operands[0].Text])
}

// part notes the blocks to which some threads come behind a fork and others do not. Who goes where
// no barrier is does not come back.
func (a *Alike) part(at int) (changed bool) {
	b := a.g.Blocks[at]
	next := 0
	for _, n := range b.Next {
		if a.matters[n] {
			next++
		}
	}
	if next < 2 {
		return false
	}
	never := !a.leads(at, -1) // all may meet nowhere
	for k := range a.walk(at, func(k int) bool { return !never && k != at && !a.leads(at, k) }) {
		if !a.parted[k] {
			a.parted[k], changed = true, true
		}
	}
	return changed
}

// walk gives the blocks that come behind one, to before those where it stops.
func (a *Alike) walk(at int, stop func(int) bool) map[int]bool {
	seen := map[int]bool{}
	todo := slices.Clone(a.g.Blocks[at].Next)
	for len(todo) > 0 {
		k := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[k] || !a.matters[k] || stop(k) {
			continue
		}
		seen[k] = true
		todo = append(todo, a.g.Blocks[k].Next...)
	}
	return seen
}

// leads reports whether some way from a block to where no barrier is any more leads round another.
func (a *Alike) leads(at, round int) bool {
	for k := range a.walk(at, func(k int) bool { return k == round }) {
		if next := a.g.Blocks[k].Next; len(next) == 0 || slices.ContainsFunc(next, func(n int) bool { return !a.matters[n] }) {
			return true
		}
	}
	return false
}

// Once reports whether a block can be run once for all threads that come to it: it computes what
// they have in common, and ends in a branch that all take alike.
func (a *Alike) Once(k int) bool {
	b := a.g.Blocks[k]
	if a.parted[k] || a.forks(b) {
		return false
	}
	for _, i := range b.List {
		if i.Op == "bra" {
			continue
		}
		if !pure[i.Op] && !a.g.parameter(i) || a.differ[i.Guard] || len(Written(i)) == 0 {
			return false
		}
		for _, n := range Written(i) {
			if a.differ[n] {
				return false
			}
		}
	}
	return true
}
