package local

import (
	"encoding/binary"
	"fmt"
	"slices"

	"gocuda/cudaapi/mpi/internal/transport"
)

// The launcher, which knows who has died, decides what the ranks of a communicator agree
// on: each that lives votes, and when all have, all of them get the same verdict.

// ballot names an agreement: a communicator's number, and how many it had before.
type ballot struct{ context, number uint32 }

// vote is what a rank says, and verdict what comes of all that do.
type vote struct {
	ballot
	yes   bool
	fresh uint32 // a number for a communicator that nobody has
	group []int  // the communicator's ranks in the world
}

type verdict struct {
	ballot
	yes   bool   // all said so
	fresh uint32 // one of theirs
	lost  []int  // who did not vote
}

const voteHead = 13

func encodeVote(b ballot, yes bool, fresh uint32, ranks []int) string {
	text := make([]byte, voteHead, voteHead+4*len(ranks))
	binary.LittleEndian.PutUint32(text, b.context)
	binary.LittleEndian.PutUint32(text[4:], b.number)
	binary.LittleEndian.PutUint32(text[8:], fresh)
	if yes {
		text[12] = 1
	}
	for _, r := range ranks {
		text = binary.LittleEndian.AppendUint32(text, uint32(r))
	}
	return string(text)
}

func decodeVote(text string, size int) (v vote, err error) {
	b := []byte(text)
	if len(b) < voteHead || (len(b)-voteHead)%4 != 0 {
		return v, fmt.Errorf("a vote of %d bytes", len(b))
	}
	v.context, v.number, v.fresh, v.yes = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:]), b[12] != 0
	for b = b[voteHead:]; len(b) > 0; b = b[4:] {
		r := binary.LittleEndian.Uint32(b)
		if r >= uint32(size) {
			return v, fmt.Errorf("a vote for rank %d of %d", r, size)
		}
		v.group = append(v.group, int(r))
	}
	return v, nil
}

// agree asks for a verdict and waits for it.
func (c *comm) agree(yes bool) (verdict, error) {
	e := c.e
	fresh := e.allot()
	e.mu.Lock()
	if err := e.usable(e.rank); err != nil {
		e.mu.Unlock()
		return verdict{}, err
	}
	c.points.ballots++
	b := ballot{c.points.id, c.points.ballots}
	if e.vote == nil { // a world of one
		e.mu.Unlock()
		return verdict{ballot: b, yes: yes, fresh: uint32(fresh)}, nil
	}
	answer := make(chan verdict, 1)
	e.verdicts[b] = answer
	e.mu.Unlock()
	if err := e.vote(note{kind: noteVote, text: encodeVote(b, yes, uint32(fresh), c.group)}); err != nil {
		return verdict{}, &transport.Error{Class: transport.ProcLost, Call: "MPI", Text: "the job's launcher does not answer: " + err.Error()}
	}
	v, ok := <-answer
	if !ok {
		e.mu.Lock()
		defer e.mu.Unlock()
		return verdict{}, e.usable(e.rank)
	}
	return v, nil
}

// unheard ends the waits for verdicts that will not come; mu is held.
func (e *engine) unheard() {
	for _, answer := range e.verdicts {
		close(answer)
	}
	clear(e.verdicts)
}

// heard hands a verdict to who waits for it.
func (e *engine) heard(text string) {
	v, err := decodeVote(text, e.size)
	if err != nil {
		return // the launcher is this program
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if answer := e.verdicts[v.ballot]; answer != nil {
		delete(e.verdicts, v.ballot)
		answer <- verdict{v.ballot, v.yes, v.fresh, v.group}
	}
}

// Agree blocks until all that live have called it.
func (c *comm) Agree(yes bool) (bool, error) {
	v, err := c.agree(yes)
	return v.yes, err
}

// Shrink makes a communicator of those that live, in their order.
func (c *comm) Shrink() (transport.Comm, error) {
	v, err := c.agree(true)
	if err != nil {
		return nil, err
	}
	if v.fresh == 0 {
		return nil, errNoContext
	}
	return newComm(c.e, v.fresh, slices.DeleteFunc(slices.Clone(c.group), func(r int) bool { return slices.Contains(v.lost, r) })), nil
}

// Lost is closed when one of the communicator's ranks, or the launcher, is lost, and Loss
// says which one.
func (c *comm) Lost() <-chan struct{} { return c.points.lost }

func (c *comm) Loss() error {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	return c.e.lossIn(c.points)
}

// Failed are the communicator's ranks that are known to be lost.
func (c *comm) Failed() (ranks []int, err error) {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	for i, r := range c.group {
		if c.e.peers[r].lost != nil {
			ranks = append(ranks, i)
		}
	}
	return ranks, nil
}

// Revoke ends all that is under way on the communicator, at all ranks.
func (c *comm) Revoke() error {
	c.e.revoke(c.points.id)
	if c.e.vote == nil {
		return nil
	}
	return c.e.vote(note{kind: noteRevoked, n: int(c.points.id)})
}

var errRevoked = &transport.Error{Class: transport.Revoked, Call: "MPI", Text: "the communicator was revoked"}

// revoke ends receives and collectives. A send that waits for a receiver ends when that
// one lets go of the message, so that nobody reads memory which the program has back.
func (e *engine) revoke(id uint32) {
	e.mu.Lock()
	for _, c := range []*context{e.context(id), e.context(id + 1)} {
		c.revoked = true
		for c.first != nil {
			r := c.first
			c.unpost(r)
			r.complete(transport.Status{}, errRevoked)
		}
		for _, m := range c.unexpected {
			e.drop(m)
		}
		c.unexpected = nil
	}
	e.revoked.Store(true)
	e.mu.Unlock()
	e.advance()
}

// drop lets a message go that nobody will receive.
func (e *engine) drop(m *inbound) {
	switch {
	case m.self != nil:
		m.self.complete(transport.Status{}, errRevoked)
	case m.f.kind == frameReady || m.f.kind == frameSync:
		e.post(m.from, frame{kind: frameDone, id: m.f.id}, nil, nil)
	}
}
