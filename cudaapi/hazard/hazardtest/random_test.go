package hazardtest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/record"
)

var (
	many       = flag.Int("programs", 3000, "random programs to check")
	manyRanked = flag.Int("jobs", 500, "random programs of several ranks to check")
	seed       = flag.Uint64("seed", 1, "of the first program")
	workers    = flag.Int("workers", 1, "processes that share the random programs")
)

// shared has workers check n random programs, if there are several: each is this test
// again, and tells the counts.
func shared(t *testing.T, n int, name string) bool {
	w := min(*workers, n)
	if w <= 1 {
		return false
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	programs, racy := 0, 0
	for k := range w {
		first, end := n*k/w, n*(k+1)/w
		wait.Go(func() {
			out, err := osexec.CommandContext(t.Context(), self, "-test.v", "-test.run", "^"+t.Name()+"$", "-test.timeout", "60m", fmt.Sprintf("-%s=%d", name, end-first), fmt.Sprintf("-seed=%d", *seed+uint64(first))).CombinedOutput()
			mu.Lock()
			defer mu.Unlock()
			var a, b int
			if found := counted.FindSubmatch(out); found != nil {
				a, _ = strconv.Atoi(string(found[1]))
				b, _ = strconv.Atoi(string(found[2]))
			}
			programs, racy = programs+a, racy+b
			if err != nil || a != end-first {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wait.Wait()
	t.Logf(counts, programs, racy)
	return true
}

const counts = "%d programs, %d with a hazard"

var counted = regexp.MustCompile(`(\d+) programs, (\d+) with a hazard`)

// The verdict on random programs is that of a plain search for a path in the
// graph of what orders what, which the test draws by itself as it makes the
// calls.
func TestRandomPrograms(t *testing.T) {
	n := *many
	if shared(t, n, "programs") {
		return
	}
	racy := 0
	for i := range n {
		p := newRandom(*seed + uint64(i))
		p.run()
		want := p.search()
		got := p.found()
		if want != "" {
			racy++
		}
		if (want == "") != (got == "") {
			t.Fatalf("seed %d: the search finds %q, the checker %q, in\n%s", *seed+uint64(i), want, got, strings.Join(p.lines, "\n"))
		}
	}
	t.Logf(counts, n, racy)
	if n > 100 && (racy < n/5 || racy > n*4/5) {
		t.Errorf("%d of %d programs have a hazard: too few or too many to tell", racy, n)
	}
}

// node is a point of the graph: an operation, or a call of the host's.
type node struct {
	after                  []*node // what it comes after
	id                     int
	what                   string
	reads, writes, atomics []span
}

// span is a piece of an allocation, which is a different one each time that it
// is allocated.
type span struct {
	mem    *memory
	lo, hi int
}

type memory struct {
	p     driver.Ptr
	async bool
}

type stream struct {
	h                driver.Stream
	dev              int
	blocking, legacy bool
	last             *node
}

type random struct {
	r       *rand.Rand
	fake    *Clockless
	d       driver.Driver
	check   *hazard.Checker
	streams []*stream
	events  []driver.Event
	marks   []*node // the last record of each
	mem     []*memory
	host    *node
	nodes   []*node
	lines   []string
	flags   driver.Ptr
	value   uint32
	waits   []*open // waits whose value nobody has written yet
	execs   []*exec
	kernel  map[driver.Function][]driver.Access
}

type open struct {
	*node
	value uint32
}

// exec is a graph: what its nodes touch and follow.
type exec struct {
	h     driver.GraphExec
	nodes []*node
	last  *node // of its last launch
}

const memBytes = 64

func newRandom(seed uint64) *random {
	p := &random{r: rand.New(rand.NewPCG(seed, 7)), fake: NewClockless(), check: hazard.New(), kernel: map[driver.Function][]driver.Access{}}
	p.fake.Late = p.r.IntN(2) == 0
	p.d = record.Wrap(p.fake, record.New(p.check), map[driver.Context]driver.Device{1: 0, 2: 1})
	p.host = p.node("begin")
	for dev := range 2 {
		p.streams = append(p.streams, &stream{dev: dev, legacy: true})
		for i := range 3 {
			f := driver.StreamFlags(i % 2)
			h, _ := p.d.StreamCreate(p.ctx(dev), f, 0)
			p.streams = append(p.streams, &stream{h: h, dev: dev, blocking: f == driver.StreamBlocking})
		}
	}
	for range 4 {
		e, _ := p.d.EventCreate(1, 0)
		p.events, p.marks = append(p.events, e), append(p.marks, nil)
	}
	p.flags, _ = p.d.MemAlloc(1, 4096)
	for i := range 3 + p.r.IntN(4) {
		p.alloc(i % 2)
	}
	return p
}

func (p *random) ctx(dev int) driver.Context { return driver.Context(dev + 1) }

func (p *random) node(what string, after ...*node) *node {
	n := &node{id: len(p.nodes), what: what}
	for _, a := range after {
		if a != nil {
			n.after = append(n.after, a)
		}
	}
	p.nodes = append(p.nodes, n)
	p.lines = append(p.lines, fmt.Sprintf("%d: %s", n.id, what))
	return n
}

// before is what an operation of a stream comes after.
func (p *random) before(s *stream) []*node {
	list := []*node{p.host, s.last}
	for _, o := range p.streams {
		if o.dev == s.dev && (s.legacy && o.blocking || s.blocking && o.legacy) {
			list = append(list, o.last)
		}
	}
	return list
}

func (p *random) queue(s *stream, what string, more ...*node) *node {
	s.last = p.node(fmt.Sprintf("stream %d: %s", slices.Index(p.streams, s), what), append(p.before(s), more...)...)
	return s.last
}

// hosts is a call of the host's that comes after some.
func (p *random) hosts(what string, after ...*node) *node {
	p.host = p.node("host: "+what, append(after, p.host)...)
	return p.host
}

func (p *random) alloc(dev int) {
	h, _ := p.d.MemAlloc(p.ctx(dev), memBytes)
	p.mem = append(p.mem, &memory{p: h})
}

func (p *random) stream() *stream { return p.streams[p.r.IntN(len(p.streams))] }

func (p *random) span() span {
	lo := p.r.IntN(memBytes)
	return span{p.mem[p.r.IntN(len(p.mem))], lo, lo + 1 + p.r.IntN(min(16, memBytes-lo))}
}

func (s span) ptr() driver.Ptr { return s.mem.p + driver.Ptr(s.lo) }
func (s span) String() string  { return fmt.Sprintf("%#x[%d:%d]", uint64(s.mem.p), s.lo, s.hi) }

func (p *random) run() {
	for range 4 + p.r.IntN(26) {
		p.step()
	}
	p.fake.Run()
	p.check.Finish()
}

// touching makes a kernel of random accesses.
func (p *random) touching() (f driver.Function, reads, writes, atomics []span) {
	var list []driver.Access
	for range 1 + p.r.IntN(3) {
		s := p.span()
		a := driver.Access{Lo: s.ptr(), Hi: s.ptr() + driver.Ptr(s.hi-s.lo), Mode: driver.AccessMode(1 + p.r.IntN(3))}
		list = append(list, a)
		switch a.Mode {
		case driver.AccessRead:
			reads = append(reads, s)
		case driver.AccessWrite:
			writes = append(writes, s)
		default:
			atomics = append(atomics, s)
		}
	}
	return p.fake.Define(func([]byte) []driver.Access { return list }), reads, writes, atomics
}

func (p *random) step() {
	s := p.stream()
	c := p.ctx(s.dev)
	blocked := len(p.waits) > 0 // the host would hang
	switch k := p.r.IntN(34); {
	case k < 6:
		f, r, w, a := p.touching()
		n := p.queue(s, fmt.Sprint("kernel reads ", r, " writes ", w, " atomics ", a))
		n.reads, n.writes, n.atomics = r, w, a
		p.d.Launch(c, &driver.Launch{Function: f, Stream: s.h})
	case k < 8:
		src, dst := p.span(), p.span()
		m := min(src.hi-src.lo, dst.hi-dst.lo)
		src.hi, dst.hi = src.lo+m, dst.lo+m
		n := p.queue(s, fmt.Sprint("copy ", dst, " from ", src))
		n.reads, n.writes = []span{src}, []span{dst}
		p.d.MemcpyAsync(c, dst.ptr(), src.ptr(), uint64(m), s.h)
	case k < 9:
		dst := p.span()
		n := p.queue(s, fmt.Sprint("fill ", dst))
		n.writes = []span{dst}
		p.d.MemsetAsync(c, dst.ptr(), 0, 1, uint64(dst.hi-dst.lo), s.h)
	case k < 10: // two rows
		lo, w := p.r.IntN(8), 1+p.r.IntN(8)
		m := p.mem[p.r.IntN(len(p.mem))]
		n := p.queue(s, fmt.Sprint("fill two rows of ", span{m, lo, lo + w}))
		n.writes = []span{{m, lo, lo + w}, {m, lo + 32, lo + 32 + w}}
		p.d.Memset2DAsync(c, m.p+driver.Ptr(lo), 32, 0, 1, uint64(w), 2, s.h)
	case k < 14:
		i := p.r.IntN(len(p.events))
		p.marks[i] = p.queue(s, fmt.Sprint("record event ", i))
		p.d.EventRecord(c, p.events[i], s.h)
	case k < 19:
		i := p.r.IntN(len(p.events))
		p.queue(s, fmt.Sprint("wait for event ", i), p.marks[i])
		p.d.StreamWaitEvent(c, s.h, p.events[i])
	case k < 20 && !blocked:
		after := []*node{s.last}
		if s.legacy {
			after = p.before(s)
		}
		p.hosts(fmt.Sprint("synchronize stream ", slices.Index(p.streams, s)), after...)
		p.d.StreamSynchronize(c, s.h, nil)
	case k < 21 && !blocked:
		i := p.r.IntN(len(p.events))
		p.hosts(fmt.Sprint("synchronize event ", i), p.marks[i])
		p.d.EventSynchronize(c, p.events[i], nil)
	case k < 22 && !blocked && p.r.IntN(3) == 0:
		var after []*node
		for _, o := range p.streams {
			if o.dev == s.dev {
				after = append(after, o.last)
			}
		}
		p.hosts(fmt.Sprint("synchronize device ", s.dev), after...)
		p.d.CtxSynchronize(c, nil)
	case k < 23 && !blocked:
		src, dst := p.span(), p.span()
		m := min(src.hi-src.lo, dst.hi-dst.lo)
		src.hi, dst.hi = src.lo+m, dst.lo+m
		var around []*node
		for _, o := range p.streams {
			around = append(around, o.last)
		}
		n := p.queue(p.streams[0], fmt.Sprint("peer copy ", dst, " from ", src), around...)
		n.reads, n.writes = []span{src}, []span{dst}
		for _, o := range p.streams {
			o.last = p.node("after it", n, o.last)
		}
		p.d.MemcpyPeer(dst.ptr(), 2, src.ptr(), 1, uint64(m))
	case k < 24 && !blocked: // a fill on the default stream, which nobody waits for
		dst := p.span()
		l := p.streams[s.dev*4]
		n := p.queue(l, fmt.Sprint("synchronous fill ", dst))
		n.writes = []span{dst}
		p.d.Memset(c, dst.ptr(), 0, 1, uint64(dst.hi-dst.lo))
	case k < 25 && !blocked: // to pageable memory: synchronous
		src := p.span()
		l := p.streams[s.dev*4]
		n := p.queue(l, fmt.Sprint("download ", src))
		n.reads = []span{src}
		p.hosts("after the download", n)
		out := make([]byte, src.hi-src.lo)
		p.d.Memcpy(c, driver.Ptr(uintptr(unsafe.Pointer(&out[0]))), src.ptr(), uint64(len(out)))
	case k < 26 && !blocked: // from pageable memory: after what was before
		dst := p.span()
		l := p.streams[s.dev*4]
		before := p.before(l)
		n := p.queue(l, fmt.Sprint("upload ", dst))
		n.writes = []span{dst}
		p.hosts("after what is before the upload", before...)
		in := make([]byte, dst.hi-dst.lo)
		p.d.Memcpy(c, dst.ptr(), driver.Ptr(uintptr(unsafe.Pointer(&in[0]))), uint64(len(in)))
	case k < 27 && len(p.mem) > 2 && p.r.IntN(3) == 0:
		i := p.r.IntN(len(p.mem))
		m := p.mem[i]
		p.mem = slices.Delete(p.mem, i, i+1)
		if m.async {
			n := p.queue(s, fmt.Sprintf("free %#x", uint64(m.p)))
			n.writes = []span{{m, 0, memBytes}}
			p.d.MemFreeAsync(c, m.p, s.h)
		} else {
			n := p.hosts(fmt.Sprintf("free %#x", uint64(m.p)))
			n.writes = []span{{m, 0, memBytes}}
			p.d.MemFree(c, m.p)
		}
	case k < 28:
		m := &memory{async: true}
		n := p.queue(s, "")
		m.p, _ = p.d.MemAllocAsync(c, memBytes, s.h)
		n.what = fmt.Sprintf("allocate %#x", uint64(m.p))
		p.lines[len(p.lines)-1] += n.what
		n.writes = []span{{m, 0, memBytes}}
		p.mem = append(p.mem, m)
	case k < 29 && len(p.waits) == 0:
		// A value: written first, or waited for first.
		p.value++
		v := p.value
		if p.r.IntN(2) == 0 {
			w := p.queue(s, fmt.Sprint("write value ", v))
			p.d.StreamWriteValue32(c, s.h, p.flags, v)
			t := p.stream()
			p.queue(t, fmt.Sprint("wait for value ", v), w)
			p.d.StreamWaitValue32(p.ctx(t.dev), t.h, p.flags, v, driver.WaitValueEQ)
			return
		}
		n := p.queue(s, fmt.Sprint("wait for value ", v))
		p.d.StreamWaitValue32(c, s.h, p.flags, v, driver.WaitValueEQ)
		p.waits = append(p.waits, &open{n, v})
	case k < 31 && len(p.waits) > 0:
		w := p.waits[0]
		for _, b := range p.before(s) {
			if b != nil && reaches(b, w.node) {
				return // it would hang
			}
		}
		n := p.queue(s, fmt.Sprint("write value ", w.value))
		p.d.StreamWriteValue32(c, s.h, p.flags, w.value)
		w.after = append(w.after, n)
		p.waits = p.waits[1:]
	case k < 32 && len(p.execs) < 2 && !s.legacy:
		p.capture(s)
	case k < 34 && len(p.execs) > 0:
		x := p.execs[p.r.IntN(len(p.execs))]
		begin := p.queue(s, "graph", x.last)
		made := map[*node]*node{}
		end := []*node{begin}
		for _, g := range x.nodes {
			after := []*node{begin}
			for _, a := range g.after {
				after = append(after, made[a])
			}
			n := p.node("of the graph: "+g.what, after...)
			n.reads, n.writes, n.atomics = g.reads, g.writes, g.atomics
			made[g] = n
			end = append(end, n)
		}
		s.last = p.node("end of the graph", end...)
		x.last = s.last
		p.d.(driver.Graphs).GraphLaunch(c, x.h, s.h)
	}
}

// capture makes a graph of some kernels on two streams.
func (p *random) capture(s *stream) {
	g := p.d.(driver.Graphs)
	c := p.ctx(s.dev)
	other, _ := p.d.StreamCreate(c, driver.StreamNonBlocking, 0)
	e, _ := p.d.EventCreate(c, 0)
	f, _ := p.d.EventCreate(c, 0)
	x := &exec{}
	var last [2]*node
	launch := func(i int) {
		fn, r, w, a := p.touching()
		n := &node{what: fmt.Sprint("reads ", r, " writes ", w, " atomics ", a), reads: r, writes: w, atomics: a}
		if last[i] != nil {
			n.after = append(n.after, last[i])
		}
		last[i] = n
		x.nodes = append(x.nodes, n)
		p.d.Launch(c, &driver.Launch{Function: fn, Stream: []driver.Stream{s.h, other}[i]})
	}
	g.StreamBeginCapture(c, s.h)
	launch(0)
	p.d.EventRecord(c, e, s.h)
	p.d.StreamWaitEvent(c, other, e)
	last[1] = last[0]
	for range p.r.IntN(4) {
		launch(p.r.IntN(2))
	}
	p.d.EventRecord(c, f, other)
	p.d.StreamWaitEvent(c, s.h, f)
	if p.r.IntN(2) == 0 { // one that follows both
		fn, r, w, a := p.touching()
		x.nodes = append(x.nodes, &node{what: fmt.Sprint("reads ", r, " writes ", w, " atomics ", a), reads: r, writes: w, atomics: a, after: []*node{last[0], last[1]}})
		p.d.Launch(c, &driver.Launch{Function: fn, Stream: s.h})
	}
	graph, _ := g.StreamEndCapture(c, s.h)
	x.h, _ = g.GraphInstantiate(c, graph)
	p.execs = append(p.execs, x)
}

// reaches reports whether from leads back to n.
func reaches(from, n *node) bool {
	seen := map[*node]bool{}
	stack := []*node{from}
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if x == n {
			return true
		}
		if !seen[x] {
			seen[x] = true
			stack = append(stack, x.after...)
		}
	}
	return false
}

// search looks for two operations on the same bytes without a path between them.
func (p *random) search() string {
	share := func(a, b []span) bool {
		for _, x := range a {
			for _, y := range b {
				if x.mem == y.mem && x.lo < y.hi && y.lo < x.hi {
					return true
				}
			}
		}
		return false
	}
	for i, a := range p.nodes {
		for _, b := range p.nodes[i+1:] {
			conflict := share(a.writes, b.writes) || share(a.writes, b.reads) || share(a.reads, b.writes) ||
				share(a.atomics, b.writes) || share(a.writes, b.atomics) || share(a.atomics, b.reads) || share(a.reads, b.atomics)
			if conflict && !reaches(b, a) && !reaches(a, b) {
				return fmt.Sprintf("%d and %d", a.id, b.id)
			}
		}
	}
	// A graph may use memory that was freed since it was captured.
	for _, n := range p.nodes {
		if strings.HasPrefix(n.what, "host: free") || strings.Contains(n.what, ": free") {
			for _, b := range p.nodes {
				all := append(append(append([]span(nil), b.reads...), b.writes...), b.atomics...)
				if b != n && share(n.writes, all) && reaches(b, n) {
					return fmt.Sprintf("%d uses what %d freed", b.id, n.id)
				}
			}
		}
	}
	return ""
}

func (p *random) found() string {
	for _, h := range p.check.Found() {
		return fmt.Sprintf("%v %v and %v", h.First.Kind, h.First.Seq, h.Second.Seq)
	}
	return ""
}
