// Package waitfor finds out which ranks of an MPI job wait for which: the wait-for
// graph, from what each rank says of itself, and the deadlocks in it.
//
// A deadlock is named only where it is certain, under any MPI library: each of
// its ranks is in blocking calls, and none of these can be satisfied by what was
// sent already, by a rank that is not part of the deadlock, or by a message that
// is on its way. Messages are counted for that, by communicator, peer and tag, at
// both ends. Ranks cannot be looked at all at once: what two looks, one after the
// other, say alike was so at the moment between them.
package waitfor

import "time"

// Kind is what a wait is for.
type Kind uint8

// The kinds of waits.
const (
	Other Kind = iota // one of several, or something else
	Recv              // a message to come, or to be looked at
	Send              // that a message is taken
	Join              // that others come to a collective
)

// Need says whom a collective cannot do without.
type Need uint8

// Whom collectives need.
const (
	Unknown Need = iota
	All
	Root
	Lower // the ranks below this one
)

// Wait is a blocking call that a rank is in.
type Wait struct {
	ID          uint64        `json:"id"` // no other wait of the rank has it
	Call        string        `json:"call"`
	Comm        string        `json:"comm"` // Comm.ID
	Kind        Kind          `json:"kind,omitempty"`
	Peer        int           `json:"peer"`             // rank in the communicator, the root of a collective that has one; -1: any, or all
	Tag         int           `json:"tag"`              // -1: any, or none
	Bytes       int           `json:"bytes"`            // of the buffer, -1 if there is none
	For         time.Duration `json:"for"`              // how long it has waited
	Number      int           `json:"number,omitempty"` // which of the communicator's collectives, from 0
	Needs       Need          `json:"needs,omitempty"`
	Synchronous bool          `json:"synchronous,omitempty"` // it ends when it is received, however short it is
	Site        string        `json:"site,omitempty"`        // the statement that calls, such as "In[3]:2"
}

// Envelope is whom a message is for, or comes from, and its tag; -1 is any.
type Envelope struct {
	Peer int `json:"peer"`
	Tag  int `json:"tag"`
}

// Count is how many messages had an envelope.
type Count struct {
	Envelope
	N int `json:"n"`
}

// Collective is one that a rank has entered.
type Collective struct {
	Call string `json:"call"`
	Kind int    `json:"kind"`
	// Gives is what must be the same at all ranks: the root, the number of bytes, and
	// so on, in words.
	Gives string `json:"gives,omitempty"`
}

// matches says whether two are the same collective, as MPI wants it.
func (c Collective) matches(other Collective) bool {
	return c.Kind == other.Kind && c.Gives == other.Gives
}

// Comm is a communicator, as one of its ranks sees it.
type Comm struct {
	ID      string       `json:"id"`
	Name    string       `json:"name,omitempty"`
	Rank    int          `json:"rank"`
	Members []int        `json:"members"` // the world's ranks
	Sent    []Count      `json:"sent,omitempty"`
	Got     []Count      `json:"got,omitempty"`
	Open    []Count      `json:"open,omitempty"` // receives that were posted and are not over
	Entered int          `json:"entered,omitempty"`
	Recent  []Collective `json:"recent,omitempty"` // the last that were entered
	// Folded says that there were many tags: each stands for those with the same
	// remainder (FoldTag). Overflow: messages are missing in the counts.
	Folded   bool `json:"folded,omitempty"`
	Overflow bool `json:"overflow,omitempty"`
}

// at is the collective of a number, if it is still known.
func (c *Comm) at(number int) (Collective, bool) {
	i := number - (c.Entered - len(c.Recent))
	if i < 0 || i >= len(c.Recent) {
		return Collective{}, false
	}
	return c.Recent[i], true
}

// FoldTag gives one of a few tags for any; -1 stays.
func FoldTag(tag int) int { return tag % 8 }

// Report is what a rank says of itself.
type Report struct {
	Waits []Wait `json:"waits,omitempty"`
	Comms []Comm `json:"comms,omitempty"`
	// Held says that none of the rank's goroutines can go on before one of Waits
	// ends. Without any waits: that it has no goroutines.
	Held bool `json:"held,omitempty"`
}

func (r *Report) comm(id string) *Comm {
	for i := range r.Comms {
		if r.Comms[i].ID == id {
			return &r.Comms[i]
		}
	}
	return nil
}

// OutOfStep says whether ranks have entered different numbers of collectives of a
// communicator of all of them. The reports are of all ranks, by number, none of
// which is in a call.
func OutOfStep(reports []Report) bool {
	for i := range reports {
		for _, c := range reports[i].Comms {
			if len(c.Members) != len(reports) {
				continue
			}
			for j := range reports {
				if other := reports[j].comm(c.ID); other == nil || other.Entered != c.Entered {
					return true
				}
			}
		}
	}
	return false
}

// matching adds the counts of envelopes that match a peer and a tag, of which
// either may be any; where tags are folded, all that may match.
func matching(list []Count, peer, tag int, folded bool) (n int) {
	fits := func(a, b int) bool { return a == b || a < 0 || b < 0 }
	for _, c := range list {
		if fits(c.Peer, peer) && (fits(c.Tag, tag) || folded && FoldTag(c.Tag) == FoldTag(tag)) {
			n += c.N
		}
	}
	return n
}

// Same says whether a rank was in the same waits when it was looked at again, and
// could not go on in between.
func (r *Report) Same(later *Report) bool {
	if !r.Held || !later.Held || len(r.Waits) != len(later.Waits) {
		return false
	}
	for i := range r.Waits {
		if r.Waits[i].ID != later.Waits[i].ID {
			return false
		}
	}
	return true
}
