package local

// tally is an agreement under way, at the launcher.
type tally struct {
	group []int
	votes map[int]vote
}

// poll takes a rank's vote; mu is held.
func (h *Hub) poll(rank int, v vote) {
	c := h.counts[v.ballot]
	if c == nil {
		c = &tally{group: v.group, votes: map[int]vote{}}
		h.counts[v.ballot] = c
	}
	c.votes[rank] = v
	h.decide(v.ballot, c)
}

// decide tells the verdict if all that live have voted; mu is held.
func (h *Hub) decide(b ballot, c *tally) {
	out := verdict{ballot: b, yes: true}
	for _, r := range c.group {
		v, voted := c.votes[r]
		switch {
		case h.members[r].left:
			out.lost = append(out.lost, r)
		case !voted:
			return
		default:
			out.yes = out.yes && v.yes
			if out.fresh == 0 {
				out.fresh = v.fresh
			}
		}
	}
	delete(h.counts, b)
	for r := range c.votes {
		if m := &h.members[r]; m.conn != nil && !m.left {
			send(m.conn, note{kind: noteVerdict, text: encodeVote(b, out.yes, out.fresh, out.lost)}) //nolint:errcheck // it is lost, then
		}
	}
}

// recount decides what a rank that is gone held up; mu is held.
func (h *Hub) recount() {
	for b, c := range h.counts {
		h.decide(b, c)
	}
}
