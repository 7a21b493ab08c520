package hazardtest

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/record"
)

// Random programs of two or three ranks, which have one allocation open, write and
// wait for each other's events and send each other messages: the verdict on their
// records is that of a search for a path.
func TestRandomRanks(t *testing.T) {
	defer record.SetWorld(record.Place())
	n := *manyRanked
	if shared(t, n, "jobs") {
		return
	}
	racy := 0
	for i := range n {
		seed := *seed + uint64(i)
		p := newJob(t, seed)
		p.run()
		want := p.search()
		_, list, err := hazard.Read(p.folder)
		if err != nil {
			t.Fatal(err)
		}
		if want != "" {
			racy++
		}
		if (want == "") != (len(list) == 0) {
			t.Fatalf("seed %d: the search finds %q, the records %v, in\n%s", seed, want, list, strings.Join(p.lines, "\n"))
		}
	}
	t.Logf(counts, n, racy)
	if n > 100 && (racy < n/5 || racy > n*4/5) {
		t.Errorf("%d of %d programs have a hazard: too few or too many to tell", racy, n)
	}
}

// jobOf is a random program of several ranks, whose calls the test itself puts in
// an order that MPI allows.
type jobOf struct {
	r      *rand.Rand
	t      *testing.T
	folder string
	ranks  []*jobRank
	nodes  []*jobNode
	lines  []string
}

// jobNode is an operation, or a call of a host's.
type jobNode struct {
	id     int
	what   string
	after  []*jobNode
	lo, hi int // of the shared memory, if it touches it
	writes bool
}

type jobRank struct {
	rank    int
	rec     *record.Recorder
	file    *record.Writer
	host    *jobNode
	lanes   []*record.Lane
	last    []*jobNode // of each lane
	events  []*record.Event
	marks   []jobMark     // of this rank's event
	posted  []*jobRequest // receives that have got nothing
	open    []*jobRequest // that are not waited for
	waiting []*jobLetter  // messages that nobody has asked for
	met     int           // collectives
	began   []*jobRequest // these
}

type jobMark struct{ call, done *jobNode }

// jobLetter is a message, jobRequest an operation that is not waited for.
type jobLetter struct {
	from, tag int
	sent      *jobNode
	by        *jobRequest
}

type jobRequest struct {
	op        *record.Op
	call      *jobNode
	from, tag int // negative: any
	got       *jobLetter
	taken     *jobNode // the receive that a send met
	root      int      // of a broadcast, -1: a barrier
}

const sharedAt, sharedBytes = 0x10000, 64

func newJob(t *testing.T, seed uint64) *jobOf {
	p := &jobOf{r: rand.New(rand.NewPCG(seed, 11)), t: t, folder: filepath.Join(t.TempDir())}
	size := 2 + p.r.IntN(2)
	for i := range size {
		record.SetWorld(record.World{Rank: i, Size: size})
		file, err := record.Create(p.folder)
		if err != nil {
			t.Fatal(err)
		}
		k := &jobRank{rank: i, file: file, rec: record.New(file), host: p.node(i, "begin")}
		for l := range 3 {
			k.lanes = append(k.lanes, &record.Lane{ID: l, Context: 1, Handle: driver.Stream(100 + l), Name: fmt.Sprint("lane ", l)})
			k.last = append(k.last, nil)
		}
		for e := range size {
			k.events = append(k.events, &record.Event{ID: 10 + e})
		}
		p.ranks = append(p.ranks, k)
	}
	for _, k := range p.ranks { // all have it open before the first step
		kind, call := record.ShareMemory, "cuIpcGetMemHandle"
		if k.rank > 0 {
			kind, call = record.Alloc, "cuIpcOpenMemHandle"
		}
		p.add(k, &record.Op{Kind: kind, Call: call, Addr: p.at(k), Bytes: sharedBytes, Key: "memory"})
		for e, ev := range k.events {
			call := "cuIpcOpenEventHandle"
			if e == k.rank {
				call = "cuIpcGetEventHandle"
			}
			p.add(k, &record.Op{Kind: record.ShareEvent, Call: call, Event: ev, Key: fmt.Sprint("event", e)})
		}
	}
	return p
}

// at is where a rank has the memory.
func (p *jobOf) at(k *jobRank) uint64 { return sharedAt + uint64(k.rank)*0x1000 }

func (p *jobOf) node(rank int, what string, after ...*jobNode) *jobNode {
	n := &jobNode{id: len(p.nodes), what: fmt.Sprintf("rank %d: %s", rank, what)}
	for _, a := range after {
		if a != nil {
			n.after = append(n.after, a)
		}
	}
	p.nodes = append(p.nodes, n)
	p.lines = append(p.lines, n.what)
	return n
}

func (p *jobOf) add(k *jobRank, o *record.Op) {
	record.SetWorld(record.World{Rank: k.rank, Size: len(p.ranks)})
	o.Site.File = fmt.Sprint("op", len(p.nodes))
	k.rec.Add(o)
}

func (p *jobOf) host(k *jobRank, what string, after ...*jobNode) *jobNode {
	k.host = p.node(k.rank, what, append(after, k.host)...)
	return k.host
}

func (p *jobOf) run() {
	for range 10 + p.r.IntN(40) {
		p.step(p.ranks[p.r.IntN(len(p.ranks))])
	}
	for _, k := range p.ranks { // as programs do
		for range 10 * len(k.open) {
			p.wait(k)
		}
		if err := k.file.Close(); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *jobOf) message(k *jobRank, role record.Role, peer, tag int) *record.Message {
	return &record.Message{Role: role, Comm: "world", Rank: k.rank, Size: len(p.ranks), Peer: peer, Tag: tag}
}

func (p *jobOf) step(k *jobRank) {
	l := p.r.IntN(len(k.lanes))
	peer := (k.rank + 1 + p.r.IntN(len(p.ranks)-1)) % len(p.ranks)
	tag := p.r.IntN(2)
	switch c := p.r.IntN(24); {
	case c < 3: // an operation of a stream, or of the host
		lo := p.r.IntN(sharedBytes - 8)
		hi := lo + 1 + p.r.IntN(8)
		mode := record.Mode(1 + p.r.IntN(2))
		access := []record.Access{{Lo: p.at(k) + uint64(lo), Hi: p.at(k) + uint64(hi), Mode: mode}}
		var n *jobNode
		what := fmt.Sprint(mode, " of ", lo, " to ", hi)
		if p.r.IntN(4) == 0 {
			n = p.host(k, "host "+what)
			p.add(k, &record.Op{Kind: record.HostAccess, Call: "host it", Accesses: access})
		} else {
			n = p.node(k.rank, fmt.Sprint("lane ", l, " ", what), k.last[l], k.host)
			k.last[l] = n
			p.add(k, &record.Op{Kind: record.Copy, Call: "copy", Lane: k.lanes[l], Accesses: access})
		}
		n.lo, n.hi, n.writes = lo, hi, mode == record.Write
	case c < 5:
		call := p.host(k, "records its event")
		n := p.node(k.rank, fmt.Sprint("event on lane ", l), k.last[l], call)
		k.last[l] = n
		k.marks = append(k.marks, jobMark{call, n})
		p.add(k, &record.Op{Kind: record.Mark, Lane: k.lanes[l], Event: k.events[k.rank]})
	case c < 8: // of any rank: the last record that it can know of
		e := p.r.IntN(len(p.ranks))
		var seen *jobNode
		for _, m := range p.ranks[e].marks {
			if p.reaches(m.call, k.host) {
				seen = m.done
			}
		}
		if p.r.IntN(3) == 0 {
			p.host(k, fmt.Sprint("waits for event ", e), seen)
			p.add(k, &record.Op{Kind: record.SyncEvent, Event: k.events[e]})
			break
		}
		k.last[l] = p.node(k.rank, fmt.Sprint("lane ", l, " waits for event ", e), k.last[l], k.host, seen)
		p.add(k, &record.Op{Kind: record.Wait, Lane: k.lanes[l], Event: k.events[e]})
	case c < 10:
		p.host(k, fmt.Sprint("waits for lane ", l), k.last[l])
		p.add(k, &record.Op{Kind: record.SyncLane, Lane: k.lanes[l]})
	case c < 14:
		m := p.message(k, record.Sends, peer, tag)
		m.Synchronous = p.r.IntN(3) == 0
		q := &jobRequest{op: &record.Op{Kind: record.Request, Call: "send", Message: m}, call: p.host(k, fmt.Sprint("sends to ", peer, " with tag ", tag, m.Synchronous))}
		p.add(k, q.op)
		if m.Synchronous {
			k.open = append(k.open, q)
		} else {
			p.add(k, &record.Op{Kind: record.SyncRequest, Target: q.op})
		}
		p.match(p.ranks[peer], &jobLetter{k.rank, tag, q.call, q})
	case c < 18:
		from := peer
		if p.r.IntN(3) == 0 {
			from = -1
		}
		if p.r.IntN(3) == 0 {
			tag = -1
		}
		q := &jobRequest{op: &record.Op{Kind: record.Request, Call: "receive", Message: p.message(k, record.Receives, from, tag)}, from: from, tag: tag}
		q.call = p.host(k, fmt.Sprint("asks ", from, " with tag ", tag))
		p.add(k, q.op)
		k.open = append(k.open, q)
		if i := slices.IndexFunc(k.waiting, q.takes); i >= 0 {
			q.take(k.waiting[i])
			k.waiting = slices.Delete(k.waiting, i, i+1)
		} else {
			k.posted = append(k.posted, q)
		}
	case c < 19: // all begin one, each when its turn comes
		root := p.root(k.met)
		m := p.message(k, record.FromAll, 0, 0)
		if root >= 0 {
			m.Role, m.Root = record.FromRoot, root
		}
		q := &jobRequest{op: &record.Op{Kind: record.Request, Call: "collective", Message: m}, root: root, from: -2 - k.met}
		q.call = p.host(k, fmt.Sprint("comes to collective ", k.met, " of root ", root))
		p.add(k, q.op)
		k.met++
		k.began = append(k.began, q)
		k.open = append(k.open, q)
	default:
		p.wait(k)
	}
}

// root of a collective, the same at all ranks.
func (p *jobOf) root(n int) int { return (n*7+len(p.folder))%(len(p.ranks)+1) - 1 }

func (q *jobRequest) takes(m *jobLetter) bool {
	return (q.from < 0 || q.from == m.from) && (q.tag < 0 || q.tag == m.tag)
}

func (q *jobRequest) take(m *jobLetter) { q.got, m.by.taken = m, q.call }

// match gives a message to the first receive that asks for it.
func (p *jobOf) match(k *jobRank, m *jobLetter) {
	if i := slices.IndexFunc(k.posted, func(q *jobRequest) bool { return q.takes(m) }); i >= 0 {
		k.posted[i].take(m)
		k.posted = slices.Delete(k.posted, i, i+1)
		return
	}
	k.waiting = append(k.waiting, m)
}

// wait waits for a request that can be over.
func (p *jobOf) wait(k *jobRank) {
	if len(k.open) == 0 {
		return
	}
	i := p.r.IntN(len(k.open))
	q := k.open[i]
	end := &record.Op{Kind: record.SyncRequest, Target: q.op}
	var after []*jobNode
	switch m := q.op.Message; m.Role {
	case record.Sends:
		if q.taken == nil {
			return
		}
		after = append(after, q.taken)
	case record.Receives:
		if q.got == nil {
			return
		}
		after = append(after, q.got.sent)
		end.Message = p.message(k, record.Receives, q.got.from, q.got.tag)
	default:
		n := -2 - q.from
		for _, o := range p.ranks {
			if q.root >= 0 && o.rank != q.root {
				continue
			}
			if len(o.began) <= n {
				return
			}
			after = append(after, o.began[n].call)
		}
	}
	p.host(k, "waits for its "+q.op.Call, after...)
	p.add(k, end)
	k.open = slices.Delete(k.open, i, i+1)
}

// reaches reports whether b comes after a.
func (p *jobOf) reaches(a, b *jobNode) bool {
	seen := map[*jobNode]bool{}
	var from func(n *jobNode) bool
	from = func(n *jobNode) bool {
		if n == a {
			return true
		}
		if seen[n] || n.id < a.id {
			return false
		}
		seen[n] = true
		return slices.ContainsFunc(n.after, from)
	}
	return from(b)
}

func (p *jobOf) search() string {
	for i, b := range p.nodes {
		for _, a := range p.nodes[:i] {
			if a.lo < b.hi && b.lo < a.hi && (a.writes || b.writes) && !p.reaches(a, b) && !p.reaches(b, a) {
				return a.what + " and " + b.what
			}
		}
	}
	return ""
}
