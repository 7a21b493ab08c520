package sim

// The adversary runs what the host waits for, as late as it can, and before it
// whatever could spoil it: an operation issued later that touches the same
// memory and that nothing orders after it. A program whose waits are complete
// has no such operation, and cannot tell.

// pickAgainst chooses among the ready operations.
func (s *scheduler) pickAgainst() int {
	all := s.unfinished()
	need := map[*op]bool{}
	for o := range s.wanted {
		markAncestors(o, need)
	}
	everything := len(need) == 0
	if everything {
		for _, o := range all {
			need[o] = true
		}
	}
	// spoiled are those that a later operation could still overtake.
	spoiled := map[*op]bool{}
	for _, a := range all {
		if !need[a] || len(a.reads)+len(a.writes) == 0 {
			continue
		}
		after := descendants(a)
		for _, b := range all {
			if b.seq > a.seq && !after[b] && a.conflicts(b) {
				spoiled[a] = true
				if !everything {
					markAncestors(b, need)
				}
			}
		}
	}
	var good, late []int
	for i, o := range s.ready {
		switch {
		case !need[o]:
		case spoiled[o]:
			late = append(late, i)
		default:
			good = append(good, i)
		}
	}
	switch {
	case len(good) > 0:
		return good[s.rng.IntN(len(good))]
	case len(late) > 0:
		return late[s.rng.IntN(len(late))]
	}
	// What the host waits for cannot start: it may wait for a value that one
	// of the others writes.
	return s.rng.IntN(len(s.ready))
}

// unfinished are the operations that wait or may start, up to maxConsider, in
// order of issue as far as one stream goes.
func (s *scheduler) unfinished() []*op {
	var all []*op
	seen := map[*op]bool{}
	queue := append(append([]*op(nil), s.ready...), s.polls...)
	for len(queue) > 0 && len(all) < maxConsider {
		o := queue[0]
		queue = queue[1:]
		if seen[o] || o.state == opFinished {
			continue
		}
		seen[o] = true
		all = append(all, o)
		queue = append(queue, o.next...)
	}
	return all
}

// markAncestors adds o and all that must run before it.
func markAncestors(o *op, set map[*op]bool) {
	stack := []*op{o}
	for len(stack) > 0 {
		o := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if set[o] || o.state == opFinished {
			continue
		}
		set[o] = true
		stack = append(stack, o.preds...)
	}
}

// descendants are all that run after o.
func descendants(o *op) map[*op]bool {
	set := map[*op]bool{}
	stack := append([]*op(nil), o.next...)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if set[n] {
			continue
		}
		set[n] = true
		stack = append(stack, n.next...)
	}
	return set
}
