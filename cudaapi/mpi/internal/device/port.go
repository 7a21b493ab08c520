package device

import (
	"fmt"
	"slices"
	"sync/atomic"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/mpi/internal/transport"
)

// Port is a communicator whose messages may be device memory.
type Port struct {
	e          *Engine
	data, side transport.Comm
	number     int
	devices    bool // one of the ranks can use any
	peers      []peer
	notices    []*noticeRing  // of each rank; nil: they have none
	replies    []replies      // of each rank
	fragments  []fragmentTags // of what each rank sends
	tags       int            // how many fragmentTags a rank has
	withdrawn  *atomic.Int32  // messages of which the engine keeps copies
	probed     probed
}

// peer is what a rank says of itself.
type peer struct {
	host    [16]byte
	devices bool   // the program can use devices
	rank    uint32 // in the world
	notices uint32 // where in the rank's page they are
}

var ports atomic.Int32

// Port makes the port of a communicator. side is a duplicate of it that the
// program does not see, on which the tags from 1<<14 to [FreeTag] are the port's. It
// is collective and blocks.
func (e *Engine) Port(data, side transport.Comm) (p *Port, err error) {
	p = &Port{e: e, data: data, side: side, number: int(ports.Add(1)), withdrawn: new(atomic.Int32)}
	me := peer{host: e.host, devices: cuda.Registered(), rank: uint32(e.rank), notices: noPlace}
	if side.Size() > 1 {
		me.notices = e.pages.take()
	}
	if p.peers, err = handshake.Gather(Channel(side), me); err == nil && p.OneHost() {
		p.notices = e.pages.find(p.peers)
	}
	p.replies, p.fragments, p.tags = make([]replies, side.Size()), make([]fragmentTags, side.Size()), FreeTag-firstFragmentTag
	p.devices = slices.ContainsFunc(p.peers, func(q peer) bool { return q.devices })
	return p, err
}

// Aside is the port for messages of this package's user's own, on side with tags below
// 1<<14. It shares what the port has, and is not freed.
func (p *Port) Aside() *Port {
	return &Port{e: p.e, data: p.side, side: p.side, number: p.number, devices: p.devices, peers: p.peers, notices: p.notices,
		replies: p.replies, fragments: p.fragments, tags: p.tags, withdrawn: p.withdrawn}
}

// WorldRank is the rank in the world of one of the communicator's.
func (p *Port) WorldRank(rank int) int { return int(p.peers[rank].rank) }

// Free gives the port's notices back, and gives up the answers that have not come.
func (p *Port) Free() {
	for i := range p.replies {
		p.replies[i].close()
	}
	p.e.pages.give(p.peers[p.side.Rank()].notices)
}

// OneHost reports whether all ranks are on one host and can use devices, so
// that they may open each other's memory. All ranks get the same answer.
func (p *Port) OneHost() bool {
	for _, r := range p.peers {
		if r.host != p.e.host || !r.devices {
			return false
		}
	}
	return p.e.forced == Auto || p.e.forced == IPC
}

// Opens tries by messages of device memory whether this rank and all others can
// open each other's memory, and tells what stands against it. It is collective
// over the ranks, blocks, and is for a Port that is used for nothing else.
func (p *Port) Opens(d *cuda.Device) (string, error) {
	const tag, n = 0, 2 * Inline
	out, err := d.Alloc(n, cuda.Uint8)
	if err != nil {
		return "", err
	}
	in, err := d.Alloc(n, cuda.Uint8)
	if err != nil {
		return "", err
	}
	for i := 1; i < p.side.Size(); i++ {
		to, from := (p.side.Rank()+i)%p.side.Size(), (p.side.Rank()+p.side.Size()-i)%p.side.Size()
		r, err := p.Irecv(in, from, tag)
		if err != nil {
			return "", err
		}
		s, err := p.Isend(out, to, tag, false)
		if err != nil {
			return "", err
		}
		for _, q := range []transport.Request{r, s} {
			if err := Wait(q); err != nil {
				return "", err
			}
		}
	}
	// The buffers stay: others have them open.
	for r := range p.side.Size() {
		if why := p.why(r); why != "" {
			return why, nil
		}
	}
	return "", nil
}

// Path tells how device memory goes to and from a peer, and why.
func (p *Port) Path(peer int) (path, why string) {
	switch {
	case p.e.forced != Auto:
		return string(p.e.forced), "GOCUDA_MPI_PATH says so"
	case p.peers[peer].host != p.e.host:
		return string(Staged), "the ranks are on different hosts, and the MPI library takes no device memory"
	}
	if why := p.why(peer); why != "" {
		return string(Staged), why
	}
	return string(IPC), fmt.Sprintf("ranks %d and %d are on one host", p.side.Rank(), peer)
}

// byIPC reports whether a peer is to open this rank's memory, as far as is known.
func (p *Port) byIPC(peer int) bool {
	return p.e.forced == IPC || p.e.forced == Auto && p.peers[peer].host == p.e.host && p.why(peer) == ""
}

// learn remembers why messages to and from a rank do not go by IPC; why tells it.
func (p *Port) learn(peer int, text string) {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	if k := (link{p.number, peer}); p.e.whys[k] == "" {
		p.e.whys[k] = text
	}
}

func (p *Port) why(peer int) string {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	return p.e.whys[link{p.number, peer}]
}
