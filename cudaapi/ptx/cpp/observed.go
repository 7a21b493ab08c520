package cpp

import (
	"fmt"
	"slices"

	"gocuda/cudaapi/ptx"
)

// What accesses memory, and what orders accesses, is told to the simulator (its sim/order.h has
// the bits), which finds races between threads.
const (
	toldWrite    = 1 << 19
	toldStrong   = 1 << 20
	toldAtomic   = 1 << 21
	toldVolatile = 1 << 22
	toldPolled   = 1 << 23
	toldScope    = 24
	toldSize     = 26
	toldAcquire  = 1 << 29
	toldRelease  = 1 << 30
	toldValue    = 1 << 31
)

// findPolled finds loads that wait or guess: in a loop that only looks, or on the line of one, which
// the compiler may have taken out of it; and those of what is compared and swapped afterwards.
func (b *body) findPolled(list []ptx.Statement) {
	b.polled = map[*ptx.Instruction]bool{}
	if !b.observed {
		return
	}
	type address struct {
		base string
		plus int64
	}
	swapped, lines := map[address]bool{}, map[int]bool{}
	line := map[*ptx.Instruction]int{}
	at := 0
	eachStatement(list, func(s ptx.Statement) {
		switch s := s.(type) {
		case *ptx.Place:
			at = s.Line
		case *ptx.Instruction:
			line[s] = at
			if s.Op == "atom" && slices.Contains(s.Mods, "cas") && len(s.Operands) > 1 {
				swapped[address{s.Operands[1].Text, s.Operands[1].Plus}] = true
			}
		}
	})
	for _, l := range b.loops {
		for _, i := range l.within {
			if l.waits && !l.writes && i.Op == "ld" {
				lines[line[i]] = true
			}
		}
	}
	for i, n := range line {
		if i.Op == "ld" && len(i.Operands) > 1 {
			o := i.Operands[1]
			b.polled[i] = mayWait(i) && lines[n] || !mayWait(i) && swapped[address{o.Text, o.Plus}]
		}
	}
}

// told reports whether accesses to a space are.
func (b *body) told(space string) bool {
	return b.observed && counts(space)
}

// counts reports whether a space is one that threads share.
func counts(space string) bool { return space != "local" && space != "const" && space != "param" }

// scopeOf is an instruction's: 0 for a block's, 1 a cluster's, 2 a device's, 3 all.
func scopeOf(i *ptx.Instruction, otherwise int) int {
	for n, names := range [][]string{{"cta"}, {"cluster"}, {"gpu", "gl"}, {"sys"}} {
		if slices.ContainsFunc(i.Mods, func(m string) bool { return slices.Contains(names, m) }) {
			return n
		}
	}
	return otherwise
}

// tell reports an instruction's accesses to so many elements at an address.
func (b *body) tell(i *ptx.Instruction, a access, at string, n int, values []string) {
	if counts(a.space) {
		b.countAt(i, at)
	}
	if !b.told(a.space) {
		return
	}
	y := a.types[0]
	what := b.place & (1<<19 - 1)
	atomic := i.Op == "atom" || i.Op == "red"
	if i.Op != "ld" && i.Op != "ldu" {
		what |= toldWrite
	}
	if atomic {
		what |= toldAtomic
	}
	if atomic || a.order != "" {
		what |= toldStrong | scopeOf(i, map[bool]int{true: 3, false: 2}[a.order == "volatile"])<<toldScope
	}
	switch a.order {
	case "volatile":
		what |= toldVolatile
	case "acquire":
		what |= toldAcquire
	case "release":
		what |= toldRelease
	case "acq_rel", "seq_cst":
		what |= toldAcquire | toldRelease
	}
	if b.polled[b.original(i)] {
		what |= toldPolled
	}
	size := y.Bits() / 8
	for n := size; n > 1; n /= 2 {
		what += 1 << toldSize
	}
	for k := range n {
		text, bits := "0", what
		if values != nil && size <= 8 {
			bits |= toldValue
			text = fmt.Sprintf("(gocuda_u64)gocuda::bits_as<gocuda_u%d>((%s)(%s))", size*8, value(y), values[k])
		}
		b.emit("gocuda::order_access(%s + %d, %du, %s);", at, k*size, uint32(bits), text)
	}
}

// tellLanes reports what the lanes of a mask do together.
func (b *body) tellLanes(mask string) {
	if b.observed {
		b.emit("gocuda::order_lanes(%d, %s);", b.place, mask)
	}
}

// tellBarrier reports what an instruction does to a barrier in memory.
func (b *body) tellBarrier(i *ptx.Instruction, at string, how int) {
	if b.observed {
		b.emit("gocuda::order_access(%s, %du, 0);", at, uint32(b.place&(1<<19-1)|how|toldStrong|scopeOf(i, 0)<<toldScope|3<<toldSize))
	}
}

// tellCopy reports a copy that one thread makes.
func (b *body) tellCopy(to, from, n string) {
	if b.observed {
		b.emit("gocuda::order_range(%s, %s, %du);", from, n, b.place)
		b.emit("gocuda::order_range(%s, %s, %du);", to, n, b.place|toldWrite)
	}
}
