package cpp

import (
	"slices"

	"gocuda/cudaapi/ptx"
	"gocuda/cudaapi/ptx/flow"
)

// A thread that has ended need not come to a barrier of its block: it may have returned early. One
// that went by the barrier, and on after it, should have come. In the code the two are told apart
// by where barriers lead: instructions to which a barrier leads, and which do not lead back to it,
// lie beyond it.

// mostBarriers of a kernel are told apart.
const mostBarriers = 64

// findBeyond numbers a kernel's barriers, and finds those that lie before instructions, as bits. An
// early return in a loop looks as its end does, so barriers in loops count where a kernel's own end
// is marked (pmevent, which kernels in Go have). What two ways end with, an early return's and the
// other, the compiler makes one: an instruction of values that differ by the way does not count.
func (b *body) findBeyond(f *ptx.Function) {
	b.barriers, b.beyond = map[*ptx.Instruction]int{}, map[*ptx.Instruction]uint64{}
	if !b.observed || !f.Kernel {
		return
	}
	g := flow.Of(f, waits)
	reach := func(start []int, without int) map[int]bool {
		seen, todo := map[int]bool{}, slices.Clone(start)
		for len(todo) > 0 {
			k := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !seen[k] {
				seen[k] = true
				if k != without {
					todo = append(todo, g.Blocks[k].Next...)
				}
			}
		}
		return seen
	}
	set := map[string]int{}
	for _, block := range g.Blocks {
		for _, i := range block.List {
			for _, r := range flow.Written(i) {
				set[r]++
			}
		}
	}
	joined := func(r string) bool { return set[r] > 1 }
	for at, block := range g.Blocks {
		n := len(block.List)
		if n == 0 || !waits(block.List[n-1]) || len(b.barriers) == mostBarriers {
			continue
		}
		i := block.List[n-1]
		bit := uint64(1) << len(b.barriers)
		b.barriers[g.Original(i)] = len(b.barriers)
		without := at
		if i.Guard != "" {
			without = -1
		}
		past := reach([]int{0}, without) // without having met it
		after := reach(block.Next, -1)
		for k, other := range g.Blocks {
			if !after[k] || !past[k] || reach(other.Next, -1)[at] || k == at {
				continue
			}
			for _, i := range other.List {
				own := i.Op == "pmevent"
				if own || !after[at] && slices.Contains([]string{"ld", "st", "atom", "red"}, i.Op) && !slices.ContainsFunc(flow.Read(i), joined) {
					b.beyond[g.Original(i)] |= bit
				}
			}
		}
	}
}

// original is an instruction as the function has it.
func (b *body) original(i *ptx.Instruction) *ptx.Instruction {
	if b.copied != nil {
		return b.copied.Original(i)
	}
	return i
}

// tellBeyond reports which barriers the thread has come past.
func (b *body) tellBeyond(i *ptx.Instruction) {
	if bits := b.beyond[b.original(i)]; bits != 0 {
		b.emit("gocuda::order_beyond(%d, %dul);", b.place, bits)
	}
}

// barrierNumber is what a barrier of the block is told apart by.
func (b *body) barrierNumber(i *ptx.Instruction) int {
	if n, ok := b.barriers[b.original(i)]; ok {
		return n
	}
	return mostBarriers
}
