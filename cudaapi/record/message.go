package record

// Envelope is what tells a message from all others: MPI's envelope (MPI 4.1, 3.2.3), with
// the message's number among those that have the same.
type Envelope struct {
	Comm             string
	From, To, Tag, N int
}

// Envelope is that of a message which is sent, or was received.
func (m *Message) Envelope() Envelope {
	if m.Role == Sends {
		return Envelope{m.Comm, m.Rank, m.Peer, m.Tag, m.N}
	}
	return Envelope{m.Comm, m.Peer, m.Rank, m.Tag, m.N}
}

// Brings reports whether a collective brings this rank data of a rank's, its own too.
func (m *Message) Brings(rank int) bool {
	switch m.Role {
	case FromRoot:
		return rank == m.Root
	case ToRoot:
		return m.Rank == m.Root || rank == m.Rank
	case FromLower:
		return rank <= m.Rank
	}
	return true
}

// Numbers counts the messages and collectives of one rank, so that their N are known. The
// zero value has counted none.
type Numbers struct {
	sent, received map[Envelope]int // a rank may send to itself
	met            map[string]int   // collectives of a communicator
}

// Number sets the N of the next message. Sends and collectives come in the order of their
// calls, receives in the order in which they were matched.
func (n *Numbers) Number(m *Message) {
	if n.sent == nil {
		n.sent, n.received, n.met = map[Envelope]int{}, map[Envelope]int{}, map[string]int{}
	}
	if m.Role > Receives {
		m.N = n.met[m.Comm]
		n.met[m.Comm]++
		return
	}
	m.N = 0
	of, counts := m.Envelope(), n.received
	if m.Role == Sends {
		counts = n.sent
	}
	m.N = counts[of]
	counts[of]++
}
