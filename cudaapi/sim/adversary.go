package sim

// The adversary runs what the host waits for, as late as it can, and before it
// whatever could spoil it: an operation issued later that touches the same
// memory and that nothing orders after it. A program whose waits are complete
// has no such operation, and cannot tell.

// marks are the adversary's notes on an operation: each holds while it equals
// the scheduler's count of its kind.
type marks struct{ seen, needed, later uint64 }

// pickAgainst chooses among the ready operations.
func (s *scheduler) pickAgainst() int {
	s.choice++
	window := s.window()
	everything := true
	for o := range s.wanted {
		if o.state != opFinished {
			everything = false
			s.need(o)
		}
	}
	// Those that a later operation could still overtake wait for it.
	spoiled := map[*op]bool{}
	for again := true; again; {
		again = false
		for _, a := range s.ready {
			if spoiled[a] || !everything && a.needed != s.choice || len(a.reads)+len(a.writes) == 0 {
				continue
			}
			s.markAfter(a)
			for _, b := range window {
				if b.seq > a.seq && b.later != s.walk && a.conflicts(b) {
					spoiled[a] = true
					if !everything && b.needed != s.choice {
						s.need(b)
						again = true // what it needs may be ready too
					}
				}
			}
		}
	}
	var good, late []int
	for i, o := range s.ready {
		switch {
		case !everything && o.needed != s.choice:
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

// window is the next operations of all streams, up to maxConsider.
func (s *scheduler) window() []*op {
	var all []*op
	take := func(o *op) {
		if o.seen != s.choice && o.state != opFinished && len(all) < maxConsider {
			o.seen = s.choice
			all = append(all, o)
		}
	}
	for _, o := range s.ready {
		take(o)
	}
	for _, o := range s.polls {
		take(o)
	}
	for i := 0; i < len(all); i++ {
		for _, n := range all[i].next {
			take(n)
		}
	}
	return all
}

// need marks o and all that must run before it.
func (s *scheduler) need(o *op) {
	stack := []*op{o}
	for len(stack) > 0 {
		o := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if o.needed == s.choice || o.state == opFinished {
			continue
		}
		o.needed = s.choice
		stack = append(stack, o.preds...)
	}
}

// markAfter marks all of the window that runs after o.
func (s *scheduler) markAfter(o *op) {
	s.walk++
	stack := []*op{o}
	for len(stack) > 0 {
		o := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, n := range o.next {
			if n.later != s.walk && n.seen == s.choice {
				n.later = s.walk
				stack = append(stack, n)
			}
		}
	}
}
