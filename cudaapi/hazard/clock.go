package hazard

// clock says for each dimension how many of its operations come before. A
// dimension is a chain of operations that are ordered among themselves: the
// host's, a stream's, a branch of a graph. A clock never changes.
type clock []uint64

func (c clock) at(d int) uint64 {
	if d < len(c) {
		return c[d]
	}
	return 0
}

// covers reports whether all that comes before o comes before c.
func (c clock) covers(o clock) bool {
	for d, n := range o {
		if n > c.at(d) {
			return false
		}
	}
	return true
}

// join is the clock of what comes after both.
func join(a, b clock) clock {
	switch {
	case len(a) == 0 || len(b) > 0 && &a[0] == &b[0]:
		return b
	case a.covers(b):
		return a
	case b.covers(a):
		return b
	}
	c := make(clock, max(len(a), len(b)))
	for d := range c {
		c[d] = max(a.at(d), b.at(d))
	}
	return c
}

// meet is the clock of what comes after one of both.
func meet(a, b clock) clock {
	c := make(clock, min(len(a), len(b)))
	for d := range c {
		c[d] = min(a[d], b[d])
	}
	return c
}

// with is the clock with one more known of a dimension.
func (c clock) with(d int, n uint64) clock {
	if c.at(d) >= n {
		return c
	}
	next := make(clock, max(len(c), d+1))
	copy(next, c)
	next[d] = n
	return next
}

// dimensions hands dimensions out. One that is given back serves again where all
// that was in it comes before: then its operations are still in order.
type dimensions struct {
	count int
	idle  []spare
}

type spare struct {
	d int
	n uint64 // operations that were in it
}

// take gives a dimension for operations that come after c.
func (s *dimensions) take(c clock) (d int, n uint64) {
	for i, x := range s.idle {
		if c.at(x.d) >= x.n {
			s.idle[i] = s.idle[len(s.idle)-1]
			s.idle = s.idle[:len(s.idle)-1]
			return x.d, x.n
		}
	}
	s.count++
	return s.count, 0
}

func (s *dimensions) give(d int, n uint64) { s.idle = append(s.idle, spare{d, n}) }
