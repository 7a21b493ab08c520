package waitfor

import (
	"fmt"
	"slices"
	"strings"
)

// Edge is a wait, with the ranks that it waits for.
type Edge struct {
	Rank int // the world's
	Wait Wait
	On   string // the communicator's name
	// For are the ranks of the world without whom it does not end, those who may
	// end it, or who have not come to the collective; nil: that is not known.
	For []int
	Any bool // one of For is enough
	// Note says what is strange about it, such as that a message with another tag is there.
	Note string
	// open says that it may end though none of For does anything more, and never that it
	// does not end whatever they do.
	open, never bool
}

// Graph is who waits for whom.
type Graph struct {
	Edges []Edge
	// Stuck are ranks whose waits nobody can end, sorted, and Cycle those of them
	// who wait for one another in a circle, in its order, if there is such.
	Stuck, Cycle []int
	// Gone are ranks that do nothing any more and for whom one of Stuck waits.
	Gone []int
	// Mismatches are on communicators on which some rank waits.
	Mismatches []Mismatch
}

// eagerAtMost is the longest message that some library sends before its receive is
// posted, in bytes. A send of less that has not ended is not held against the
// receiver: it may just be slow.
const eagerAtMost = 64 << 10

// state is what is known of a rank.
type state uint8

const (
	runs state = iota
	waits
	gone
)

// New makes the graph of the ranks' reports, by rank of the world. unchanged says
// of a rank that this report and one before are Same, so that it waited between
// both looks; idle that it runs no cell and none is to come.
func New(reports []Report, unchanged, idle func(rank int) bool) Graph {
	var g Graph
	states := make([]state, len(reports))
	for r := range reports {
		switch {
		case idle(r) && reports[r].Held:
			states[r] = gone
		case unchanged(r) && len(reports[r].Waits) > 0:
			states[r] = waits
		}
		for _, w := range reports[r].Waits {
			g.Edges = append(g.Edges, edge(reports, r, w))
		}
	}
	for _, m := range Mismatches(reports) {
		if slices.ContainsFunc(g.Edges, func(e Edge) bool { return e.Wait.Comm == m.Comm }) {
			g.Mismatches = append(g.Mismatches, m)
		}
	}
	g.prune(states)
	return g
}

// edge finds out whom a wait is for.
func edge(reports []Report, rank int, w Wait) Edge {
	e := Edge{Rank: rank, Wait: w, open: true}
	own := reports[rank].comm(w.Comm)
	if own == nil {
		return e
	}
	e.On = own.Name
	theirs := func(peer int) *Comm { return reports[own.Members[peer]].comm(w.Comm) }
	switch w.Kind {
	case Recv:
		e.open = own.Overflow
		for peer, member := range own.Members {
			if w.Peer >= 0 && w.Peer != peer {
				continue
			}
			e.For = append(e.For, member)
			c := theirs(peer)
			if c == nil {
				e.open = true
				continue
			}
			folded := own.Folded || c.Folded
			e.open = e.open || c.Overflow || matching(c.Sent, own.Rank, w.Tag, folded) > matching(own.Got, peer, w.Tag, folded)
			if w.Tag >= 0 && !folded {
				for _, s := range c.Sent {
					if n := s.N - matching(own.Got, peer, s.Tag, false); s.Peer == own.Rank && s.Tag != w.Tag && n > 0 {
						e.Note = fmt.Sprintf("%s with tag %d from rank %d not received", messages(n), s.Tag, member)
					}
				}
			}
		}
		if e.Any = len(e.For) > 1; e.Any { // it will not send to itself meanwhile
			e.For = slices.DeleteFunc(e.For, func(r int) bool { return r == rank })
		}
		if e.open {
			e.Note = ""
		}
	case Send:
		if w.Peer < 0 {
			break
		}
		e.For = []int{own.Members[w.Peer]}
		if c := theirs(w.Peer); c != nil {
			folded := own.Folded || c.Folded
			e.open = own.Overflow || c.Overflow || !w.Synchronous && w.Bytes <= eagerAtMost ||
				matching(own.Sent, w.Peer, w.Tag, folded) <= matching(c.Got, own.Rank, w.Tag, folded) || matching(c.Open, own.Rank, w.Tag, folded) > 0
		}
	case Join:
		e.open = false
		here, known := own.at(w.Number)
		for peer, member := range own.Members {
			c := theirs(peer)
			if c == nil {
				continue
			}
			there, entered := c.at(w.Number)
			other := known && entered && !there.matches(here)
			if other || c.Entered <= w.Number {
				e.For = append(e.For, member)
			}
			e.never = e.never || other
		}
		// The one without whom it certainly does not end.
		switch {
		case w.Needs == Unknown, len(e.For) == 0:
			e.open = true
		case w.Needs == Root:
			e.open = w.Peer < 0 || !slices.Contains(e.For, own.Members[w.Peer])
			if !e.open {
				e.For = []int{own.Members[w.Peer]}
			}
		case w.Needs == Lower:
			lower := slices.DeleteFunc(slices.Clone(e.For), func(r int) bool { return slices.Index(own.Members, r) > own.Rank })
			if e.open = len(lower) == 0; !e.open {
				e.For = lower
			}
		}
	}
	return e
}

func messages(n int) string {
	if n == 1 {
		return "a message"
	}
	return fmt.Sprintf("%d messages", n)
}

// prune takes out of the ranks that wait those whose waits may end, until no more
// can be taken out: the rest is stuck.
func (g *Graph) prune(states []state) {
	mayEnd := func(e Edge) bool {
		if e.never {
			return false
		}
		if e.open || len(e.For) == 0 {
			return true
		}
		alive := func(r int) bool { return states[r] == runs }
		if e.Any || e.Wait.Kind != Join {
			return slices.ContainsFunc(e.For, alive)
		}
		// A collective needs all of them: one that never comes is enough.
		return !slices.ContainsFunc(e.For, func(r int) bool { return !alive(r) })
	}
	for changed := true; changed; {
		changed = false
		for _, e := range g.Edges {
			if states[e.Rank] == waits && mayEnd(e) {
				states[e.Rank], changed = runs, true
			}
		}
	}
	next := map[int][]int{}
	for r, s := range states {
		if s == waits {
			g.Stuck = append(g.Stuck, r)
		}
	}
	for _, e := range g.Edges {
		if states[e.Rank] != waits {
			continue
		}
		for _, r := range e.For {
			switch states[r] {
			case waits:
				next[e.Rank] = append(next[e.Rank], r)
			case gone:
				g.Gone = append(g.Gone, r)
			}
		}
	}
	slices.Sort(g.Gone)
	g.Gone = slices.Compact(g.Gone)
	g.Cycle = cycle(g.Stuck, next)
}

// cycle finds a shortest circle of edges.
func cycle(ranks []int, next map[int][]int) (best []int) {
	for _, start := range ranks {
		from := map[int]int{}
		queue := []int{start}
		for len(queue) > 0 && (best == nil || len(from) <= len(ranks)) {
			r := queue[0]
			queue = queue[1:]
			for _, to := range next[r] {
				if to == start {
					way := []int{r}
					for r != start {
						r = from[r]
						way = append(way, r)
					}
					slices.Reverse(way)
					if best == nil || len(way) < len(best) {
						best = way
					}
					queue = nil
					break
				}
				if _, seen := from[to]; !seen {
					from[to] = r
					queue = append(queue, to)
				}
			}
		}
	}
	return best
}

// Mismatch is a collective that ranks of a communicator have entered as different ones,
// or with another root, operation, type or length.
type Mismatch struct {
	Comm   string // its ID
	Number int    // of the collective, from 0
	Text   string
}

// Mismatches compares the collectives that the ranks of each communicator have entered,
// by their number. It gives the first of each communicator: what follows is most likely
// out of step as well.
func Mismatches(reports []Report) (list []Mismatch) {
	type key struct {
		comm   string
		number int
	}
	type entry struct {
		rank int
		what Collective
	}
	entered := map[key][]entry{}
	var order []key
	names := map[string]string{}
	for r := range reports {
		for _, c := range reports[r].Comms {
			names[c.ID] = c.Name
			for i, what := range c.Recent {
				k := key{c.ID, c.Entered - len(c.Recent) + i}
				if entered[k] == nil {
					order = append(order, k)
				}
				entered[k] = append(entered[k], entry{r, what})
			}
		}
	}
	told := map[string]bool{}
	slices.SortStableFunc(order, func(a, b key) int { return a.number - b.number })
	for _, k := range order {
		first := entered[k][0].what
		if told[k.comm] || !slices.ContainsFunc(entered[k], func(e entry) bool { return !e.what.matches(first) }) {
			continue
		}
		told[k.comm] = true
		kinds := slices.ContainsFunc(entered[k], func(e entry) bool { return e.what.Kind != first.Kind })
		var said []string
		by := map[string][]int{}
		for _, e := range entered[k] {
			what := e.what.Call
			if !kinds {
				what += " with " + e.what.Gives
			}
			if by[what] == nil {
				said = append(said, what)
			}
			by[what] = append(by[what], e.rank)
		}
		for i, what := range said {
			said[i] = fmt.Sprintf("%s called %s", Ranks(by[what]), what)
		}
		text := fmt.Sprintf("a collective on %s does not match: %s", names[k.comm], strings.Join(said, "; "))
		list = append(list, Mismatch{k.comm, k.number, text})
	}
	return list
}

// Ranks writes ranks in a sentence.
func Ranks(list []int) string {
	words := make([]string, len(list))
	for i, r := range list {
		words[i] = fmt.Sprint(r)
	}
	switch n := len(words); n {
	case 1:
		return "rank " + words[0]
	case 0:
		return "no rank"
	default:
		return "ranks " + strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}
