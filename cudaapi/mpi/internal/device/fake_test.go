package device

import (
	"slices"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/mpi/internal/transport"
)

// network is a transport between ranks that are goroutines of a test. A message is
// copied when it matches a receive; a send is complete when it did, or at once if it
// is short.
type network struct {
	mu    sync.Mutex
	size  int
	posts map[place]*mailbox
	dead  []bool
	held  func(m *message) bool // messages that are not delivered; nil: none are
	sent  atomic.Int32          // how many were
	waits bool                  // receives are of the kind that can be waited for
}

// place is a rank in a communicator, numbered as it was made.
type place struct{ comm, rank int }

type mailbox struct {
	arrived []*message
	posted  []*receive
}

type message struct {
	net                *network
	comm, source, dest int
	tag                int
	data               []byte
	short, taken       bool
}

type receive struct {
	net         *network
	at          place
	source, tag int
	into        []byte
	status      transport.Status
	done        bool
	err         error
}

// eager is the length of a message whose sender does not wait.
const eager = 4096

// fake is one rank's end of a communicator of the network.
type fake struct {
	transport.Comm // what is not asked for
	net            *network
	rank, comm     int
	made           int // duplicates
}

func newNetwork(n int) *network {
	return &network{size: n, posts: map[place]*mailbox{}, dead: make([]bool, n)}
}

func (n *network) world(rank int) *fake { return &fake{net: n, rank: rank} }

func (n *network) box(p place) *mailbox {
	if n.posts[p] == nil {
		n.posts[p] = &mailbox{}
	}
	return n.posts[p]
}

// kill ends a rank: whoever talks with it gets an error.
func (n *network) kill(rank int) {
	n.mu.Lock()
	n.dead[rank] = true
	n.mu.Unlock()
}

// hold keeps messages from being delivered, until it is called with nil.
func (n *network) hold(f func(m *message) bool) {
	n.mu.Lock()
	n.held = f
	n.mu.Unlock()
}

func (f *fake) Rank() int { return f.rank }
func (f *fake) Size() int { return f.net.size }

// Dup is collective in MPI; here the ranks make as many.
func (f *fake) Dup() (transport.Comm, error) {
	f.made++
	return &fake{net: f.net, rank: f.rank, comm: f.comm*10 + f.made}, nil
}

func lost(rank int) error {
	return &transport.Error{Class: transport.ProcLost, Call: "fake", Text: string(rune('0'+rank)) + " is dead"}
}

func (f *fake) send(m transport.Memory, dest, tag int, short bool) (transport.Request, error) {
	if dest == transport.ProcNull {
		return &receive{net: f.net, done: true}, nil
	}
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	x := &message{net: f.net, comm: f.comm, source: f.rank, dest: dest, tag: tag, data: bytesOf(m), short: short}
	if short {
		x.data = slices.Clone(x.data)
	}
	b := f.net.box(place{f.comm, dest})
	b.arrived = append(b.arrived, x)
	f.net.sent.Add(1)
	f.net.match(b)
	return x, nil
}

func (f *fake) Isend(m transport.Memory, dest, tag int) (transport.Request, error) {
	return f.send(m, dest, tag, m.Bytes() <= eager)
}

func (f *fake) Issend(m transport.Memory, dest, tag int) (transport.Request, error) {
	return f.send(m, dest, tag, false)
}

func (f *fake) Irecv(m transport.Memory, source, tag int) (transport.Request, error) {
	if source == transport.ProcNull {
		return &receive{net: f.net, done: true, status: transport.Status{Source: source, Tag: transport.AnyTag}}, nil
	}
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	r := &receive{net: f.net, at: place{f.comm, f.rank}, source: source, tag: tag, into: bytesOf(m)}
	b := f.net.box(r.at)
	b.posted = append(b.posted, r)
	f.net.match(b)
	if f.net.waits {
		return &waited{receive: r}, nil
	}
	return r, nil
}

// waited is a receive that can be waited for.
type waited struct {
	*receive
	released bool
}

func (w *waited) Done() <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		Wait(w.receive)
	}()
	return over
}

func (w *waited) Wait(stop <-chan struct{}) (transport.Status, bool, error) {
	select {
	case <-w.Done():
		return w.Test()
	case <-stop:
		return transport.Status{}, false, nil
	}
}

func (w *waited) Release() { w.released = true }

// match gives messages to receives, in the order of both.
func (n *network) match(b *mailbox) {
	b.posted = slices.DeleteFunc(b.posted, func(r *receive) bool {
		i := n.find(b, r.source, r.tag)
		if i >= 0 {
			r.take(b.arrived[i])
			b.arrived = slices.Delete(b.arrived, i, i+1)
		}
		return i >= 0
	})
}

func (n *network) find(b *mailbox, source, tag int) int {
	return slices.IndexFunc(b.arrived, func(m *message) bool {
		return (source == transport.AnySource || source == m.source) && (tag == transport.AnyTag || tag == m.tag) && (n.held == nil || !n.held(m))
	})
}

func (r *receive) take(m *message) {
	m.taken, r.done = true, true
	r.status = transport.Status{Source: m.source, Tag: m.tag, Bytes: len(m.data)}
	if copy(r.into, m.data) < len(m.data) {
		r.status.Bytes = len(r.into)
		r.err = &transport.Error{Class: transport.Truncate, Call: "fake", Text: "too long"}
	}
}

func (m *message) Test() (transport.Status, bool, error) {
	n := m.net
	n.mu.Lock()
	defer n.mu.Unlock()
	n.match(n.box(place{m.comm, m.dest}))
	switch {
	case m.taken:
		return transport.Status{}, true, nil
	case n.dead[m.dest]:
		return transport.Status{}, false, lost(m.dest)
	case n.held != nil && n.held(m):
		return transport.Status{}, false, nil
	}
	return transport.Status{}, m.short, nil
}

func (m *message) Cancel() error { return nil }

func (r *receive) Test() (transport.Status, bool, error) {
	n := r.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if !r.done {
		n.match(n.box(r.at))
	}
	if !r.done && r.source >= 0 && n.dead[r.source] {
		return transport.Status{}, false, lost(r.source)
	}
	return r.status, r.done, r.err
}

func (r *receive) Cancel() error {
	n := r.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if !r.done {
		b := n.box(r.at)
		b.posted = slices.DeleteFunc(b.posted, func(p *receive) bool { return p == r })
		r.done, r.status.Cancelled = true, true
	}
	return nil
}

func (f *fake) Iprobe(source, tag int) (transport.Status, bool, error) {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	b := f.net.box(place{f.comm, f.rank})
	i := f.net.find(b, source, tag)
	if i < 0 {
		return transport.Status{}, false, nil
	}
	m := b.arrived[i]
	return transport.Status{Source: m.source, Tag: m.tag, Bytes: len(m.data)}, true, nil
}

func (f *fake) Improbe(source, tag int) (transport.Message, transport.Status, bool, error) {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	b := f.net.box(place{f.comm, f.rank})
	i := f.net.find(b, source, tag)
	if i < 0 {
		return nil, transport.Status{}, false, nil
	}
	m := b.arrived[i]
	b.arrived = slices.Delete(b.arrived, i, i+1)
	return &aside{f, m}, transport.Status{Source: m.source, Tag: m.tag, Bytes: len(m.data)}, true, nil
}

// aside is a message that Improbe took.
type aside struct {
	f *fake
	m *message
}

func (a *aside) Imrecv(m transport.Memory) (transport.Request, error) {
	a.f.net.mu.Lock()
	defer a.f.net.mu.Unlock()
	r := &receive{net: a.f.net, into: bytesOf(m)}
	r.take(a.m)
	return r, nil
}

// collective is a request that a goroutine carries out.
type collective struct {
	over chan struct{}
	err  error
}

func (c *collective) Test() (transport.Status, bool, error) {
	select {
	case <-c.over:
		return transport.Status{}, true, c.err
	default:
		return transport.Status{}, false, nil
	}
}

func (c *collective) Cancel() error { return nil }

// collectiveTag is what collectives talk by.
const collectiveTag = 1 << 20

// Start does barriers and gathers for all: what the engine asks for.
func (f *fake) Start(x *transport.Collective) (transport.Request, error) {
	send, recv := x.Send, x.Recv
	if x.Kind == transport.Barrier {
		send, recv = Host([]byte{1}), Host(make([]byte, f.net.size))
	}
	c := &collective{over: make(chan struct{})}
	go func() {
		defer close(c.over)
		n := send.Bytes()
		all := bytesOf(transport.Memory{P: recv.P, N: n * f.net.size, T: transport.Byte})
		copy(all[f.rank*n:], bytesOf(send))
		for peer := range f.net.size {
			if peer == f.rank || c.err != nil {
				continue
			}
			s, _ := f.send(send, peer, collectiveTag, true)
			r, _ := f.Irecv(Host(all[peer*n:][:n]), peer, collectiveTag)
			for _, q := range []transport.Request{s, r} {
				if err := Wait(q); err != nil {
					c.err = err
				}
			}
		}
	}()
	return c, nil
}
