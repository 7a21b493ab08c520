package hazard

import (
	"slices"

	"gocuda/cudaapi/record"
)

// between is what orders ranks: messages, collectives, and the events of which
// several processes know. Without the records of the others it holds only what this
// rank's own says of them.
type between struct {
	letters map[record.Envelope]*match
	began   map[*record.Message]clock // receives
	meets   map[meeting]*gathering
	events  map[int]*shared // by the number that a process has for it
	keys    map[string]*shared
	foreign map[int]bool // events of a process whose record is not here
	moved   bool         // a rank came to a collective in a stream's order
}

func newBetween() between {
	return between{letters: map[record.Envelope]*match{}, began: map[*record.Message]clock{}, meets: map[meeting]*gathering{},
		events: map[int]*shared{}, keys: map[string]*shared{}, foreign: map[int]bool{}}
}

// match is what is known of a message.
type match struct {
	host, data  clock // of the call that sends it, and of what it carries
	sent, ready bool  // these are known
	synchronous bool
	received    bool
	answered    bool // a synchronous send has returned
}

// meeting is the n-th collective of a communicator.
type meeting struct {
	comm string
	n    int
}

// gathering is what is known of a collective: what each rank comes to it with.
type gathering struct {
	begun map[int]clock
	left  int
}

// shared is an event that several processes know.
type shared struct{ marks []sharedMark }

// sharedMark is a record of it, and the call's place in its host's order.
type sharedMark struct {
	dim int
	n   uint64
	*moment
}

// mostMarks is how many records of a shared event are kept, of those that some rank
// may not know of.
const mostMarks = 1024

// share takes an event that others know or that is another's.
func (c *Checker) share(o *record.Op, p *process) {
	id := o.Event.ID
	s := c.ranks.keys[o.Key]
	if s == nil {
		s = &shared{}
		c.ranks.keys[o.Key] = s
		if !c.merged && o.Call == "cuIpcOpenEventHandle" {
			c.ranks.foreign[id] = true
			return
		}
	}
	if c.ranks.events[id] != nil {
		return
	}
	c.ranks.events[id] = s
	if m := c.events[id]; m != nil { // recorded before anybody knew
		p.tick()
		s.marks = append(s.marks, sharedMark{p.dim, p.n, m})
		if m.past {
			p.seen = join(p.seen, m.clock)
		}
	}
}

// marks notes that an event is recorded.
func (c *Checker) marks(id int, m *moment, p *process) {
	s := c.ranks.events[id]
	if s == nil {
		c.events[id] = m
		return
	}
	p.tick()
	if len(s.marks) >= 64 {
		floor := c.floor()
		for i := len(s.marks) - 1; i > 0; i-- {
			if floor.at(s.marks[i].dim) >= s.marks[i].n {
				s.marks = append([]sharedMark(nil), s.marks[i:]...)
				break
			}
		}
	}
	if len(s.marks) >= mostMarks {
		s.marks = s.marks[1:]
	}
	s.marks = append(s.marks, sharedMark{p.dim, p.n, m})
}

// moment is the record of an event that a call stands for: the last; of an event that
// other processes record, the last of which the calling one can know.
func (c *Checker) moment(id int, p *process) *moment {
	s := c.ranks.events[id]
	if s == nil {
		return c.events[id]
	}
	for i := len(s.marks) - 1; i >= 0; i-- {
		if m := s.marks[i]; p.host.at(m.dim) >= m.n {
			return m.moment
		}
	}
	return nil
}

func (c *Checker) eventGone(id int) {
	delete(c.events, id)
	delete(c.ranks.events, id)
	delete(c.ranks.foreign, id)
}

func (c *Checker) match(l record.Envelope) *match {
	m := c.ranks.letters[l]
	if m == nil {
		m = &match{}
		c.ranks.letters[l] = m
	}
	return m
}

func (c *Checker) gathering(m *record.Message) *gathering {
	g := c.ranks.meets[meeting{m.Comm, m.N}]
	if g == nil {
		g = &gathering{begun: map[int]clock{}}
		c.ranks.meets[meeting{m.Comm, m.N}] = g
	}
	return g
}

// sources calls f with the ranks whose data a collective brings this one, until it
// says no.
func sources(m *record.Message, f func(rank int) bool) bool {
	for i := range m.Size {
		if m.Brings(i) && !f(i) {
			return false
		}
	}
	return true
}

// gathered reports whether the ranks have come to a collective whose data it brings.
func (c *Checker) gathered(m *record.Message) bool {
	g := c.gathering(m)
	return sources(m, func(i int) bool { _, ok := g.begun[i]; return ok })
}

// told takes a call that sends or asks for a message.
func (c *Checker) told(o *record.Op, p *process) {
	if !c.merged || o.Message == nil {
		return
	}
	switch o.Message.Role {
	case record.Sends:
		m := c.match(o.Message.Envelope())
		m.host, m.sent, m.synchronous = p.host, true, o.Message.Synchronous
	case record.Receives:
		c.ranks.began[o.Message] = p.host
	}
}

// met reports whether an operation of a stream's has from other ranks what it comes
// after.
func (c *Checker) met(s *step) bool {
	o := s.op
	switch {
	case !c.merged:
		return true
	case o.Target != nil && o.Target.Message != nil: // of a receive that is over
		m := c.ranks.letters[o.Target.Message.Envelope()]
		return m == nil || m.ready
	case o.Message == nil || o.Message.Role <= record.Receives:
		return true
	}
	g := c.gathering(o.Message)
	if _, ok := g.begun[o.Message.Rank]; !ok {
		base := join(c.joined(c.lane(o.Lane)), s.host)
		for _, a := range o.Also {
			base = join(base, c.joined(c.lane(a)))
		}
		g.begun[o.Message.Rank], c.ranks.moved = base, true
	}
	return c.gathered(o.Message)
}

// toRanks tells other ranks what an operation comes after, and so what comes of it.
func (c *Checker) toRanks(o *record.Op, base clock) {
	if !c.merged || o.Message == nil {
		return
	}
	switch m := o.Message; m.Role {
	case record.Sends:
		x := c.match(m.Envelope())
		x.data, x.ready = base, true
	case record.Receives:
	default:
		g := c.gathering(m)
		if _, ok := g.begun[m.Rank]; !ok {
			g.begun[m.Rank] = base
		}
	}
}

// fromRanks is what an operation of a stream's comes after at other ranks.
func (c *Checker) fromRanks(o *record.Op) (at clock) {
	switch {
	case !c.merged:
	case o.Target != nil && o.Target.Message != nil:
		l := o.Target.Message.Envelope()
		if m := c.ranks.letters[l]; m != nil {
			at = m.data
			m.received = true
			c.settled(l, m, o.Target.Message)
		}
	case o.Message != nil && o.Message.Role > record.Receives:
		at = c.leave(o.Message)
	}
	return at
}

// leave is what this rank has when it comes out of a collective.
func (c *Checker) leave(m *record.Message) (at clock) {
	g := c.gathering(m)
	sources(m, func(i int) bool { at = join(at, g.begun[i]); return true })
	if g.left++; g.left == m.Size {
		delete(c.ranks.meets, meeting{m.Comm, m.N})
	}
	return at
}

// settled forgets a message of which nothing more comes.
func (c *Checker) settled(l record.Envelope, m *match, asked *record.Message) {
	if m.received && m.sent && (!m.synchronous || m.answered) {
		delete(c.ranks.letters, l)
		delete(c.ranks.began, asked)
	}
}

// awaits reports whether an operation of the host's comes after something of other
// ranks that is not here yet.
func (c *Checker) awaits(o *record.Op) bool {
	if list, ok := c.begun[o.Target]; ok {
		return slices.ContainsFunc(list, func(m *moment) bool { return !m.past })
	}
	if o.Kind != record.SyncRequest {
		var m *moment
		if o.Kind == record.SyncEvent {
			m = c.moment(o.Event.ID, c.process(o.Rank))
		}
		return c.forces(o, m)
	}
	if o.Target == nil || o.Target.Message == nil {
		return false
	}
	switch asked := o.Target.Message; {
	case asked.Role == record.Receives:
		if o.Message == nil {
			return false
		}
		m := c.ranks.letters[o.Message.Envelope()]
		return o.Message.N < 0 || m == nil || !m.sent || !m.ready && !asked.InStream
	case asked.Role == record.Sends:
		if !asked.Synchronous {
			return false
		}
		_, ok := c.ranks.began[o.Message]
		return !ok
	default:
		return o.Target.Lane == nil && !c.gathered(asked)
	}
}

// arrived takes that a request has been waited for.
func (c *Checker) arrived(o *record.Op, p *process) {
	asked := o.Target.Message
	if asked == nil {
		return
	}
	if !c.merged {
		if asked.Role != record.Sends || asked.Synchronous {
			p.host = join(p.host, p.seen)
		}
		return
	}
	switch {
	case asked.Role == record.Receives:
		if o.Message == nil {
			delete(c.ranks.began, asked)
			return
		}
		l := o.Message.Envelope()
		m := c.ranks.letters[l]
		if m == nil {
			return // its sender's record is not here
		}
		if asked.InStream {
			p.host = join(p.host, m.host)
			return
		}
		p.host = join(p.host, m.data)
		m.received = true
		c.settled(l, m, asked)
	case asked.Role == record.Sends:
		if !asked.Synchronous || o.Message == nil {
			return
		}
		p.host = join(p.host, c.ranks.began[o.Message])
		l := asked.Envelope()
		m := c.match(l)
		m.answered = true
		c.settled(l, m, o.Message)
	default:
		p.host = join(p.host, c.leave(asked))
	}
}
