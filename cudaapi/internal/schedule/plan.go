package schedule

import "slices"

// Plan is a schedule with its waits: what each member's stream does, in an order
// in which every wait comes after what it waits for.
type Plan struct {
	Members int
	Actions []Action
	Marks   []Mark
}

// Kind is what an action does.
type Kind uint8

// The kinds of actions.
const (
	Move   Kind = iota // the transfer, on the stream of its To
	Record             // a mark on its member's stream
	Wait               // of a stream, for another member's mark
)

// Action is one entry of a plan.
type Action struct {
	Kind     Kind
	On       int // the member on whose stream it goes
	Mark     int // of Record and Wait: index into Plan.Marks
	Transfer Transfer
}

// Mark is a point of a member's stream for which others wait.
type Mark struct {
	Of      int   // the member
	Number  int   // among the member's marks
	Waiters []int // members, each once
}

// point is a member's stream after its first At transfers.
type point struct{ of, at int }

// use is a range of a buffer, and when it was read or written.
type use struct {
	lo, hi int
	when   point
}

// compiler knows, for each member, how far its stream is sure that the others
// have come, so that no wait is made twice over.
type compiler struct {
	at     []int     // transfers so far
	knows  [][]int   // knows[m][q]: q's point that m's stream is behind
	then   [][][]int // then[q][k]: what q knew at its point k
	writes [][]use   // of each member's buffer
	reads  [][]use
	waits  [][]point // before each transfer; the last ones are at the end
}

// Compile finds the waits of a schedule. A transfer waits for the last write of
// what it reads, or for its owner's arrival; and for those who still read what
// it overwrites. At the end a member's stream waits for all who still read its
// buffer, so that what its owner queues next may overwrite it.
func Compile(s Schedule, members int) *Plan {
	c := &compiler{at: make([]int, members), writes: make([][]use, members), reads: make([][]use, members)}
	for range members {
		c.knows = append(c.knows, slices.Repeat([]int{-1}, members))
	}
	for m := range members {
		c.knows[m][m] = 0
		c.then = append(c.then, [][]int{slices.Clone(c.knows[m])})
	}
	for _, t := range s {
		ready := point{t.From, 0}
		for _, w := range c.writes[t.From] {
			if w.lo < t.Hi && t.Lo < w.hi {
				ready.at = max(ready.at, w.when.at)
			}
		}
		needs := []point{ready}
		for _, r := range c.reads[t.To] {
			if r.lo < t.Hi && t.Lo < r.hi {
				needs = append(needs, r.when)
			}
		}
		c.waits = append(c.waits, c.wait(t.To, needs))
		c.at[t.To]++
		now := point{t.To, c.at[t.To]}
		c.knows[t.To][t.To] = now.at
		c.then[t.To] = append(c.then[t.To], slices.Clone(c.knows[t.To]))
		c.writes[t.To] = append(c.writes[t.To], use{t.Lo, t.Hi, now})
		c.reads[t.From] = append(c.reads[t.From], use{t.Lo, t.Hi, now})
	}
	last := make([][]point, members)
	for m := range members {
		var needs []point
		for _, r := range c.reads[m] {
			needs = append(needs, r.when)
		}
		last[m] = c.wait(m, needs)
	}
	return c.plan(s, last)
}

// wait gives the points that member m must wait for so that all needs are met.
func (c *compiler) wait(m int, needs []point) []point {
	// What happened last most likely knows of the rest.
	slices.SortStableFunc(needs, func(a, b point) int { return b.at - a.at })
	var out []point
	for i, p := range needs {
		if c.knows[m][p.of] >= p.at {
			continue
		}
		// A later need may imply this one.
		implied := slices.ContainsFunc(needs[i+1:], func(q point) bool { return c.then[q.of][q.at][p.of] >= p.at })
		if implied {
			continue
		}
		out = append(out, p)
		for q, at := range c.then[p.of][p.at] {
			c.knows[m][q] = max(c.knows[m][q], at)
		}
	}
	return out
}

func (c *compiler) plan(s Schedule, last [][]point) *Plan {
	p := &Plan{Members: len(c.at)}
	marks := map[point]int{}
	numbers := make([]int, len(c.at))
	mark := func(waiter int, waits []point) {
		for _, w := range waits {
			i, ok := marks[w]
			if !ok {
				i = len(p.Marks)
				marks[w] = i
				p.Marks = append(p.Marks, Mark{Of: w.of, Number: numbers[w.of]})
				numbers[w.of]++
			}
			if !slices.Contains(p.Marks[i].Waiters, waiter) {
				p.Marks[i].Waiters = append(p.Marks[i].Waiters, waiter)
			}
		}
	}
	for i, t := range s {
		mark(t.To, c.waits[i])
	}
	for m, waits := range last {
		mark(m, waits)
	}
	at := make([]int, len(c.at))
	record := func(m int) {
		if i, ok := marks[point{m, at[m]}]; ok {
			p.Actions = append(p.Actions, Action{Kind: Record, On: m, Mark: i})
		}
	}
	wait := func(m int, waits []point) {
		for _, w := range waits {
			p.Actions = append(p.Actions, Action{Kind: Wait, On: m, Mark: marks[w]})
		}
	}
	for m := range at {
		record(m)
	}
	for i, t := range s {
		wait(t.To, c.waits[i])
		p.Actions = append(p.Actions, Action{Kind: Move, On: t.To, Transfer: t})
		at[t.To]++
		record(t.To)
	}
	for m, waits := range last {
		wait(m, waits)
	}
	return p
}

// MarksOf is how many marks member m has.
func (p *Plan) MarksOf(m int) int {
	n := 0
	for _, k := range p.Marks {
		if k.Of == m {
			n++
		}
	}
	return n
}
