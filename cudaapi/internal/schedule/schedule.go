// Package schedule moves and combines device data among members: buffers of one
// process, or of several processes of one machine.
//
// A collective is a schedule: who takes which part of whose buffer, in what
// order, as plain data. [Compile] finds what must wait for what, and a [Group]
// carries it out with streams and events, without the CPU waiting for a device.
package schedule

// Transfer is one move: member To takes the elements Lo to Hi-1 of From's
// buffer into the same place of its own, or combines them with its own.
type Transfer struct {
	From, To, Lo, Hi int
	Combine          bool
}

// Schedule is a collective: its outcome is that of the transfers one after the
// other. Those that touch different parts may run side by side.
type Schedule []Transfer

// add leaves out transfers of nothing.
func (s *Schedule) add(t Transfer) {
	if t.Lo < t.Hi && t.From != t.To {
		*s = append(*s, t)
	}
}

// part is the bounds of part i of n elements cut into parts. Cuts lie at
// multiples of 64 elements, so that parts of aligned buffers are aligned.
func part(i, parts, n int) (lo, hi int) {
	each := (n + parts - 1) / parts
	if n >= 64*parts {
		each = (each + 63) / 64 * 64
	}
	return min(i*each, n), min((i+1)*each, n)
}

// Ring is the all-reduce in which each member hears from one neighbour only:
// parts/p of the data a step, 2(p-1) steps.
func Ring(p, n int) Schedule { return ChunkedRing(p, n, 1) }

// ChunkedRing is Ring with each part cut into chunks, so that a member passes
// on the first while it waits for the rest.
func ChunkedRing(p, n, chunks int) Schedule {
	var s Schedule
	s.round(p, n, chunks, 0, true)
	s.round(p, n, chunks, 1, false)
	return s
}

// round passes parts once around, the first time part i+first of member i.
func (s *Schedule) round(p, n, chunks, first int, combine bool) {
	for step := range p - 1 {
		for c := range chunks {
			for i := range p {
				lo, hi := part((i+first-step+p)%p, p, n)
				from, to := part(c, chunks, hi-lo)
				s.add(Transfer{i, (i + 1) % p, lo + from, lo + to, combine})
			}
		}
	}
}

// Hierarchical is the all-reduce of nodes of each members: a ring within every
// node, after which each member has a sum of a part; an all-reduce of that part
// among the members with the same place in their nodes, all places at a time; and
// a ring within every node again. So only 1/each of the data leaves a member's
// node, and steps between nodes are few.
func Hierarchical(nodes, each, n int) Schedule {
	var s Schedule
	within := func(first int, combine bool) {
		var ring Schedule
		ring.round(each, n, 1, first, combine)
		for _, t := range ring {
			for node := range nodes {
				s.add(Transfer{node*each + t.From, node*each + t.To, t.Lo, t.Hi, t.Combine})
			}
		}
	}
	within(0, true)
	for place := range each {
		lo, hi := part((place+1)%each, each, n)
		among := Ring
		if nodes&(nodes-1) == 0 {
			among = HalvingDoubling
		}
		for _, t := range among(nodes, hi-lo) {
			s.add(Transfer{t.From*each + place, t.To*each + place, lo + t.Lo, lo + t.Hi, t.Combine})
		}
	}
	within(1, false)
	return s
}

// HalvingDoubling is the all-reduce of log2(p) steps each way: partners
// exchange halves, then halves of those, and back. Members beyond the largest
// power of two give their data to another first and take the result last.
func HalvingDoubling(p, n int) Schedule {
	var s Schedule
	core := 1
	for core*2 <= p {
		core *= 2
	}
	for i := core; i < p; i++ {
		s.add(Transfer{i, i - core, 0, n, true})
	}
	type span struct{ lo, hi int }
	own := make([]span, core)
	for i := range own {
		own[i] = span{0, n}
	}
	var history [][]span
	for d := core / 2; d > 0; d /= 2 {
		history = append(history, append([]span(nil), own...))
		for i := range own {
			_, cut := part(0, 2, own[i].hi-own[i].lo)
			if mid := own[i].lo + cut; i&d == 0 {
				own[i].hi = mid
			} else {
				own[i].lo = mid
			}
		}
		for i, o := range own {
			s.add(Transfer{i ^ d, i, o.lo, o.hi, true})
		}
	}
	for d := 1; d < core; d *= 2 {
		for i := range own {
			s.add(Transfer{i ^ d, i, own[i^d].lo, own[i^d].hi, false})
		}
		own = history[len(history)-1]
		history = history[:len(history)-1]
	}
	for i := core; i < p; i++ {
		s.add(Transfer{i - core, i, 0, n, false})
	}
	return s
}

// Tree is the all-reduce by a tree to member 0 and back: few moves, each of all
// the data.
func Tree(p, n int) Schedule {
	s := ReduceTree(p, n, 0)
	up := len(s)
	for i := up - 1; i >= 0; i-- {
		s.add(Transfer{s[i].To, s[i].From, 0, n, false})
	}
	return s
}

// ReduceTree combines everything into root's buffer; those of the others are
// left with sums of parts.
func ReduceTree(p, n, root int) Schedule {
	var s Schedule
	for d := 1; d < p; d *= 2 {
		for i := 0; i+d < p; i += 2 * d {
			s.add(Transfer{(root + i + d) % p, (root + i) % p, 0, n, true})
		}
	}
	return s
}

// OneToAll is the broadcast in which everyone takes root's data from root.
func OneToAll(p, n, root int) Schedule {
	var s Schedule
	for i := range p {
		s.add(Transfer{root, i, 0, n, false})
	}
	return s
}
