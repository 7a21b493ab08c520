package sim_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// Random kernels against an exhaustive happens-before. A program is a list of steps for each of a
// few threads: accesses of 1 to 8 bytes, weak, relaxed, releasing and acquiring, of every scope, atomic
// operations, fences, barriers of a block, of some of its warps, of a cluster, of lanes, shuffles
// and votes. One kernel interprets them all: an access has a line of its own for each kind
// and a few more, so that a report's lines tell which accesses are meant. Each thread notes when it did what. From
// these notes hbOrder works out, by transitive closure, what CUDA's memory model orders
// (PTX ISA, Memory Consistency Model: program order, barriers, patterns of release and acquire that
// are morally strong, and what an operation observes), and so which pairs race.

const (
	inBlock = iota
	inCluster
	inDevice
	inSystem
)

var hbScopes = []string{"cta", "cluster", "gpu", "sys"}

// hbKind is an instruction that accesses memory.
type hbKind struct {
	text                              string
	size, scope, slots                int
	read, write, atomic, strong       bool
	acquires, releases, compares, ask bool
}

const (
	hbEnd = iota
	hbPause
	hbBlock   // bar.sync 0
	hbLanes   // bar.warp.sync
	hbShuffle // shfl.sync
	hbVote    // vote.sync.ballot
	hbFence   // and three more
	_
	_
	_
	hbClusterMeets
	hbSync   // barrier.sync with a number
	hbArrive // barrier.arrive
	hbAccess // the first of the kinds
)

var hbKinds = func() (list []hbKind) {
	for _, n := range []int{1, 2, 4, 8} {
		slots := 8
		if n == 4 {
			slots = 16
		}
		list = append(list, hbKind{text: fmt.Sprintf("ld.u%d", 8*n), size: n, read: true, slots: slots}, hbKind{text: fmt.Sprintf("st.u%d", 8*n), size: n, write: true, slots: slots})
	}
	for s, scope := range hbScopes {
		for _, n := range []int{4, 8} {
			if n == 8 && s != inDevice {
				continue
			}
			for _, order := range []string{"relaxed", "acquire"} {
				list = append(list, hbKind{text: fmt.Sprintf("ld.%s.%s.u%d", order, scope, 8*n), size: n, scope: s, slots: 4, read: true, strong: true, acquires: order == "acquire"})
			}
			for _, order := range []string{"relaxed", "release"} {
				list = append(list, hbKind{text: fmt.Sprintf("st.%s.%s.u%d", order, scope, 8*n), size: n, scope: s, slots: 4, write: true, strong: true, releases: order == "release"})
			}
			for _, order := range []string{"relaxed", "acquire", "release", "acq_rel"} {
				for _, op := range []string{"add.u", "exch.b", "cas.b"} {
					list = append(list, hbKind{text: fmt.Sprintf("atom.%s.%s.%s%d", order, scope, op, 8*n), size: n, scope: s, slots: 2, read: true, write: true, atomic: true, strong: true,
						acquires: order == "acquire" || order == "acq_rel", releases: order == "release" || order == "acq_rel", compares: op[0] == 'c'})
				}
			}
		}
	}
	return list
}()

// hbStep is an instruction of a thread, and how the kernel finds it.
type hbStep struct {
	op      int // what the kernel's table of branches has
	kind    int // of accesses: their place in hbKinds
	line    int
	at      int // byte; the highest bit: of shared memory
	value   uint32
	want    uint32 // other than that, of as many tries: skip so many steps
	tries   int
	skip    int
	compare uint32
	meets   int // which meeting, from 1; else 0
}

const (
	hbShared = 1 << 31
	hbNotes  = 128 // of a thread
	hbMost   = 3 * 96
)

// hbKernel is the interpreter, and the lines and branches of each kind. Barriers with numbers change
// how all of a module's are compiled.
func hbKernel(numbered bool) (text string, ops, lines [][]int) {
	var b strings.Builder
	line := 1
	f := func(format string, args ...any) int {
		fmt.Fprintf(&b, format+"\n", args...)
		line++
		return line - 1
	}
	f(".version 8.0\n.target sm_90\n.address_size 64")
	line += 2
	f(".extern .shared .align 16 .b8 own[];")
	f(".visible .entry k(.param .u64 programs, .param .u64 notes, .param .u64 data) {")
	f(".reg .b32 %%r<16>; .reg .b64 %%d<16>; .reg .pred %%p<4>; .reg .b32 %%op, %%at, %%value, %%compare, %%want, %%tries, %%skip, %%left, %%w, %%n, %%i; .reg .b64 %%a, %%b, %%v, %%v2, %%pc, %%last, %%note, %%shared, %%data; .reg .b16 %%h;")
	f("mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%ctaid.x; mad.lo.u32 %%r1, %%r2, %%r3, %%r1;")
	f("ld.param.u64 %%d1, [programs]; ld.param.u64 %%note, [notes]; ld.param.u64 %%data, [data];")
	f("mad.wide.u32 %%d2, %%r1, 8, %%d1; ld.global.u64 %%d3, [%%d2]; add.u64 %%pc, %%d1, %%d3;")
	f("mad.wide.u32 %%note, %%r1, %d, %%note; mov.u64 %%d4, own; cvta.shared.u64 %%shared, %%d4; mov.u64 %%last, 0; mov.u32 %%n, 0; mov.u64 %%d9, %%pc;", 16*hbNotes)
	f("NEXT: ld.global.v4.u32 {%%op, %%at, %%value, %%compare}, [%%pc]; ld.global.v4.u32 {%%want, %%tries, %%skip, %%r4}, [%%pc+16];")
	f("setp.eq.u64 %%p1, %%pc, %%last; @%%p1 bra AGAIN; mov.u32 %%left, %%tries; mov.u64 %%last, %%pc;")
	f("AGAIN: and.b32 %%r5, %%at, 0x7fffffff; cvt.u64.u32 %%a, %%r5; setp.lt.s32 %%p2, %%at, 0; selp.b64 %%d5, %%shared, %%data, %%p2; add.u64 %%a, %%a, %%d5; mov.u64 %%b, %%a; cvt.u64.u32 %%v2, %%value; cvt.u64.u32 %%v, %%value; cvt.u64.u32 %%d6, %%compare; cvt.u16.u32 %%h, %%value;")
	cases := []string{"ret;", "nanosleep.u32 1; bra.uni DONE;", "bar.sync 0; bra.uni DONE;", "bar.warp.sync %value; bra.uni DONE;",
		"shfl.sync.idx.b32 %w, %r1, 0, 0x1f, %value; bra.uni DONE;", "setp.ne.u32 %p3, %r1, 0; vote.sync.ballot.b32 %w, %p3, %value; bra.uni DONE;"}
	for _, s := range hbScopes {
		cases = append(cases, "fence.acq_rel."+s+"; bra.uni DONE;")
	}
	cases = append(cases, "barrier.cluster.arrive; barrier.cluster.wait; bra.uni DONE;")
	if numbered {
		cases = append(cases, "barrier.sync %value, %compare; bra.uni DONE;", "barrier.arrive %value, %compare; bra.uni DONE;")
	} else {
		cases = append(cases, "trap;", "trap;")
	}
	cases[hbEnd] = "st.global.u64 [%note], 0; bra.uni END;"
	for _, k := range hbKinds {
		value, result, after := "%value", "%w", "cvt.u64.u32 %v, %w;"
		switch k.size {
		case 8:
			value, result, after = "%v2", "%v", ""
		case 2, 1:
			value, result, after = "%h", "%h", "cvt.u64.u16 %v, %h;"
		}
		text := fmt.Sprintf("%s [%%a], %s;", k.text, value)
		switch {
		case k.compares && k.size == 8:
			text = k.text + " %v, [%b], %d6, %v2;" // another register: the loads are no guesses
		case k.compares:
			text = k.text + " %w, [%b], %compare, %value; " + after
		case k.atomic:
			text = fmt.Sprintf("%s %s, [%%a], %s; %s", k.text, result, value, after)
		case k.read:
			text = fmt.Sprintf("%s %s, [%%a]; %s", k.text, result, after)
		}
		var of []int
		for range k.slots {
			of = append(of, len(cases))
			cases = append(cases, text+" bra.uni DONE;")
		}
		ops = append(ops, of)
	}
	var labels []string
	for i := range cases {
		labels = append(labels, fmt.Sprintf("C%d", i))
	}
	f("TABLE: .branchtargets %s;", strings.Join(labels, ", "))
	f("brx.idx %%op, TABLE;")
	at := make([]int, len(cases))
	for i, c := range cases {
		at[i] = f("C%d: %s", i, strings.ReplaceAll(c, "%", "%%"))
	}
	for _, of := range ops {
		var l []int
		for _, op := range of {
			l = append(l, at[op])
		}
		lines = append(lines, l)
	}
	f("DONE: mov.u64 %%d7, %%clock64; sub.u64 %%d8, %%pc, %%d9; shr.u64 %%d8, %%d8, 5; shl.b64 %%d8, %%d8, 32; cvt.u32.u64 %%r6, %%v; cvt.u64.u32 %%d10, %%r6; or.b64 %%d8, %%d8, %%d10;")
	f("st.global.v2.u64 [%%note], {%%d7, %%d8}; add.u64 %%note, %%note, 16;")
	f("setp.eq.u32 %%p1, %%r6, %%want; @%%p1 bra ON; setp.eq.u32 %%p1, %%left, 0; @%%p1 bra SKIP; sub.u32 %%left, %%left, 1; nanosleep.u32 1; bra NEXT;")
	f("SKIP: mad.wide.u32 %%pc, %%skip, 32, %%pc;")
	f("ON: add.u64 %%pc, %%pc, 32; bra NEXT;")
	f("END: ret;\n}")
	return strings.ReplaceAll(b.String(), "%%", "%"), ops, lines
}

type hbProgram struct {
	blocks, threads, cluster int
	numbered                 bool
	steps                    map[int][]hbStep // of threads, numbered through all blocks
	meetings                 []hbMeeting
}

// hbMeeting is what threads do together: all that take part, and who of them does not wait.
type hbMeeting struct {
	op      int
	threads []int
	arrives map[int]bool
}

type hbMaker struct {
	*hbProgram
	rng        *rand.Rand
	ops, lines [][]int
	active     []int
	ended      map[int]bool
	places     []int
}

func pick[E any](rng *rand.Rand, list ...E) E { return list[rng.IntN(len(list))] }

// access appends an access to a thread's steps.
func (m *hbMaker) access(thread, at int, like func(hbKind) bool, change func(*hbStep)) {
	var fit []int
	for i, k := range hbKinds {
		if like(k) {
			fit = append(fit, i)
		}
	}
	k := pick(m.rng, fit...)
	slot := m.rng.IntN(hbKinds[k].slots)
	at += m.rng.IntN(8/hbKinds[k].size) * hbKinds[k].size * m.rng.IntN(2)
	s := hbStep{op: m.ops[k][slot], kind: k, line: m.lines[k][slot], at: at, value: uint32(m.rng.IntN(4)), compare: uint32(m.rng.IntN(3))}
	if change != nil {
		change(&s)
	}
	m.add(thread, s)
}

func (m *hbMaker) add(thread int, s hbStep) {
	if !m.ended[thread] {
		m.steps[thread] = append(m.steps[thread], s)
	}
}

func (m *hbMaker) pause(thread int) {
	for range m.rng.IntN(3) {
		m.add(thread, hbStep{op: hbPause, kind: -1})
	}
}

func (m *hbMaker) fence(thread int) {
	m.add(thread, hbStep{op: hbFence + m.rng.IntN(4), kind: -1})
}

// place is somewhere that a thread may access: for messages a whole word.
func (m *hbMaker) place(thread int, flag bool) int {
	p := pick(m.rng, m.places...)
	if flag && m.rng.IntN(4) > 0 {
		p = pick(m.rng, 64, 64|hbShared)
	}
	return p
}

func (m *hbMaker) meet(op int, threads []int, value, compare uint32, arrives map[int]bool) {
	threads = slices.DeleteFunc(slices.Clone(threads), func(t int) bool { return m.ended[t] })
	if len(threads) == 0 {
		return
	}
	m.meetings = append(m.meetings, hbMeeting{op: op, threads: threads, arrives: arrives})
	for _, t := range threads {
		s := hbStep{op: op, kind: -1, value: value, compare: compare, meets: len(m.meetings)}
		if arrives[t] {
			s.op = hbArrive
		}
		m.add(t, s)
	}
}

// inBlocks are the threads of so many blocks.
func (m *hbMaker) inBlocks(first, n int) (list []int) {
	for t := first * m.threads; t < (first+n)*m.threads; t++ {
		list = append(list, t)
	}
	return list
}

func randomOrder(rng *rand.Rand, ops, lines [2][][]int) *hbProgram {
	m := &hbMaker{hbProgram: &hbProgram{blocks: 1 + rng.IntN(3), threads: pick(rng, 2, 3, 5, 32, 33, 48, 64, 70), cluster: 1, numbered: rng.IntN(2) == 0, steps: map[int][]hbStep{}}, rng: rng, ended: map[int]bool{}}
	m.ops, m.lines = ops[0], lines[0]
	if m.numbered {
		m.ops, m.lines = ops[1], lines[1]
	}
	if rng.IntN(4) == 0 {
		m.blocks, m.cluster = pick(rng, 2, 4), 2
		m.threads = min(m.threads, 64)
	}
	for range 2 + rng.IntN(4) {
		t := rng.IntN(m.blocks * m.threads)
		if rng.IntN(2) == 0 && len(m.active) > 0 { // near another
			t = min(m.active[0]+1+rng.IntN(3), m.blocks*m.threads-1)
		}
		if !slices.Contains(m.active, t) {
			m.active = append(m.active, t)
		}
	}
	for range 1 + rng.IntN(3) {
		m.places = append(m.places, 8*rng.IntN(4)|pick(rng, 0, 0, hbShared))
	}
	numbers := 1
	any := func(hbKind) bool { return true }
	weak := func(k hbKind) bool { return !k.strong }
	word := func(k hbKind) bool { return !k.strong && k.size == 4 }
	for range 3 + rng.IntN(22) {
		t := pick(rng, m.active...)
		block := t / m.threads
		switch n := rng.IntN(100); {
		case n < 34:
			m.access(t, m.place(t, false), weak, nil)
			m.pause(t)
		case n < 46:
			m.access(t, m.place(t, true), any, nil)
			m.pause(t)
		case n < 52:
			m.fence(t)
		case n < 60:
			m.pause(t)
		case n < 70: // lanes
			first := t - t%m.threads + t%m.threads/32*32
			mask, list := uint32(0), []int{}
			how := rng.IntN(3)
			for l := range min(32, (block+1)*m.threads-first) {
				if in := slices.Contains(m.active, first+l); how == 0 || how == 1 && (in || rng.IntN(3) == 0) || how == 2 && in && (first+l == t || rng.IntN(2) == 0) {
					mask |= 1 << l
					list = append(list, first+l)
				}
			}
			m.meet(pick(rng, hbLanes, hbLanes, hbShuffle, hbVote), list, mask, 0, nil)
		case n < 76:
			m.meet(hbBlock, m.inBlocks(block, 1), 0, 0, nil)
		case n < 80 && m.cluster > 1:
			m.meet(hbClusterMeets, m.inBlocks(block/2*2, 2), 0, 0, nil)
		case n < 86 && m.numbered && numbers < 15: // some warps of a block
			warps := (m.threads + 31) / 32
			var list []int
			arrives := map[int]bool{}
			count, waits := 0, false
			for w := range warps {
				if w != t%m.threads/32 && rng.IntN(3) == 0 {
					continue
				}
				count += 32
				arriving := rng.IntN(3) == 0 && (waits || w+1 < warps)
				for l := w * 32; l < min(w*32+32, m.threads); l++ {
					list = append(list, block*m.threads+l)
					arrives[block*m.threads+l] = arriving
				}
				waits = waits || !arriving
			}
			m.meet(hbSync, list, uint32(numbers), uint32(count), arrives)
			numbers++
		case n < 95: // a message
			u := pick(rng, m.active...)
			data, flag := m.place(t, false), m.place(t, true)&^7
			sender := func(k hbKind) bool { return k.write && k.strong && k.size == 4 && !k.compares }
			m.access(t, data, word, nil)
			if rng.IntN(3) > 0 {
				m.fence(t)
			}
			if rng.IntN(4) == 0 {
				m.access(t, data, word, nil)
			}
			aim := func(s *hbStep) { s.at, s.value = flag, 1 }
			m.access(t, flag, sender, aim)
			if rng.IntN(3) == 0 {
				m.access(t, flag, sender, aim)
			}
			m.pause(t)
			if v := pick(rng, m.active...); rng.IntN(3) == 0 {
				m.access(v, flag, func(k hbKind) bool { return k.strong && k.size == 4 }, aim)
			}
			m.pause(u)
			m.access(u, flag, func(k hbKind) bool { return k.read && k.strong && k.size == 4 }, func(s *hbStep) {
				s.at, s.want, s.tries, s.skip, s.value, s.compare = flag, 1, rng.IntN(4), rng.IntN(2), 1, 7
			})
			if rng.IntN(3) > 0 {
				m.fence(u)
			}
			m.access(u, data, word, nil)
		default: // a lock
			lock, data := m.place(t, true)&^7, m.place(t, false)
			for _, u := range []int{t, pick(rng, m.active...)} {
				m.access(u, lock, func(k hbKind) bool { return k.compares && k.size == 4 }, func(s *hbStep) {
					s.at, s.want, s.tries, s.value, s.compare, s.skip = lock, 0, 2+rng.IntN(4), 1, 0, 3
				})
				m.access(u, data, word, nil)
				m.add(u, hbStep{op: pick(rng, hbPause, hbPause, hbFence+inBlock, hbFence+inDevice), kind: -1})
				m.access(u, lock, func(k hbKind) bool { return k.write && k.strong && !k.compares && k.size == 4 }, func(s *hbStep) { s.at, s.value = lock, 0 })
			}
		}
		if rng.IntN(60) == 0 && !m.numbered && !m.ended[t] {
			m.add(t, hbStep{op: hbEnd, kind: -1})
			m.ended[t] = true
		}
	}
	return m.hbProgram
}

// hbEvent is what a thread did.
type hbEvent struct {
	thread, at, size int
	scope            int
	fence            bool
	clock            uint64
	hbStep
	hbKind
}

func (e *hbEvent) String() string {
	if e.fence {
		return fmt.Sprintf("%d: thread %d, fence %s", e.clock, e.thread, hbScopes[e.scope])
	}
	return fmt.Sprintf("%d: thread %d, line %d: %s at %#x", e.clock, e.thread, e.line, e.text, e.at)
}

// hbOrder has what came before what: events, and after them meetings.
type hbOrder struct {
	p      *hbProgram
	events []*hbEvent      // accesses and fences, by time
	before [][]uint64      // bits: of what lies after
	sees   map[[2]int]bool // which write was seen by which read
	wide   bool
}

func (o *hbOrder) set(i, k int) { o.before[i][k/64] |= 1 << (k % 64) }
func (o *hbOrder) orders(i, k int) bool {
	return o.before[i][k/64]>>(k%64)&1 != 0
}

// reaches reports whether a thread's scope has another thread in it.
func (o *hbOrder) reaches(scope, t, u int) bool {
	x, y := t/o.p.threads, u/o.p.threads
	return x == y || scope >= inDevice || scope == inCluster && x/o.p.cluster == y/o.p.cluster
}

// strong reports whether two strong operations are morally strong, but for the bytes.
func (o *hbOrder) strong(e, f *hbEvent) bool {
	return e.thread == f.thread || o.reaches(e.scope, e.thread, f.thread) && o.reaches(f.scope, f.thread, e.thread)
}

func sameBytes(e, f *hbEvent) bool { return e.at == f.at && e.size == f.size }

func overlaps(e, f *hbEvent) bool {
	return !e.fence && !f.fence && e.at < f.at+f.size && f.at < e.at+e.size
}

// work works out what is ordered. notes has each thread's.
func (p *hbProgram) work(notes func(thread int) [][2]uint64, wide bool) *hbOrder {
	o := &hbOrder{p: p, wide: wide, sees: map[[2]int]bool{}}
	order := map[int][]any{} // of a thread: *hbEvent or int, its meeting
	for t, steps := range p.steps {
		for _, n := range notes(t) {
			s := steps[n[1]>>32]
			switch {
			case s.meets > 0:
				order[t] = append(order[t], s.meets)
			case s.op >= hbFence && s.op < hbFence+4:
				e := &hbEvent{thread: t, fence: true, scope: s.op - hbFence, clock: n[0], hbStep: s}
				o.events, order[t] = append(o.events, e), append(order[t], e)
			case s.kind >= 0:
				k := hbKinds[s.kind]
				e := &hbEvent{thread: t, at: s.at, size: k.size, scope: k.scope, clock: n[0], hbStep: s, hbKind: k}
				if s.at&hbShared != 0 {
					e.at |= (t / p.threads) << 32
				}
				o.events, order[t] = append(o.events, e), append(order[t], e)
			}
		}
	}
	slices.SortFunc(o.events, func(a, b *hbEvent) int { return int(int64(a.clock - b.clock)) })
	index := map[*hbEvent]int{}
	for i, e := range o.events {
		index[e] = i
	}
	n := len(o.events)
	for range n + len(p.meetings) {
		o.before = append(o.before, make([]uint64, (n+len(p.meetings)+63)/64))
	}
	node := func(x any) int {
		if e, ok := x.(*hbEvent); ok {
			return index[e]
		}
		return n + x.(int) - 1
	}
	for t, list := range order {
		for i, x := range list {
			for k := i - 1; k >= 0; k-- { // what only arrived does not order what comes
				if m, ok := list[k].(int); !ok || !p.meetings[m-1].arrives[t] {
					o.set(node(list[k]), node(x))
					break
				}
			}
		}
		for i, m := range p.meetings { // who has ended need not come
			all := m.op == hbBlock && m.threads[0]/p.threads == t/p.threads || m.op == hbClusterMeets && m.threads[0]/p.threads/p.cluster == t/p.threads/p.cluster
			if all && !slices.Contains(m.threads, t) && len(list) > 0 {
				o.set(node(list[len(list)-1]), n+i)
			}
		}
	}
	o.close()
	for o.patterns() && wide {
		o.close()
	}
	o.close()
	return o
}

// close makes what is ordered by steps ordered.
func (o *hbOrder) close() {
	for k := range o.before {
		for i := range o.before {
			if o.orders(i, k) {
				for w, bits := range o.before[k] {
					o.before[i][w] |= bits
				}
			}
		}
	}
}

// patterns orders what patterns of release and acquire do. It reports whether there was anything new.
func (o *hbOrder) patterns() (changed bool) {
	starts := func(first, write *hbEvent, f, w int) bool {
		switch {
		case first.fence && o.wide:
			return f == w || o.orders(f, w)
		case first.fence:
			return first.thread == write.thread
		}
		return first.releases && (first == write || o.wide && first.thread == write.thread && sameBytes(first, write))
	}
	ends := func(last, read *hbEvent, l, r int) bool {
		switch {
		case last.fence && o.wide:
			return l == r || o.orders(r, l)
		case last.fence:
			return last.thread == read.thread
		}
		return last.acquires && (last == read || o.wide && last.thread == read.thread && sameBytes(last, read))
	}
	for r, read := range o.events {
		if !read.read || !read.strong {
			continue
		}
		for at := r; ; {
			w := at - 1
			for w >= 0 && !(o.events[w].write && overlaps(o.events[w], o.events[at]) && (!o.wide || sameBytes(o.events[w], o.events[at]))) {
				w--
			}
			if w < 0 || !o.events[w].strong || !sameBytes(o.events[w], o.events[at]) || !o.strong(o.events[w], o.events[at]) {
				break
			}
			o.sees[[2]int{w, r}] = true
			for f, first := range o.events[:w+1] {
				if !starts(first, o.events[w], f, w) {
					continue
				}
				for l := r; l < len(o.events); l++ {
					if last := o.events[l]; ends(last, read, l, r) && o.strong(first, last) && !o.orders(f, l) {
						o.set(f, l)
						changed = true
					}
				}
			}
			if !o.events[w].atomic {
				break
			}
			at = w
		}
	}
	return changed
}

// races reports whether two events race; the first came first.
func (o *hbOrder) races(i, k int) bool {
	e, f := o.events[i], o.events[k]
	if e.thread == f.thread || !overlaps(e, f) || !e.write && !f.write || e.strong && f.strong && o.strong(e, f) || o.orders(i, k) {
		return false
	}
	for x := i; x < k; x++ { // what f comes after has seen it, or in the wide order what came after it there
		for z := x + 1; z < k && (x == i || o.wide && o.orders(i, x)); z++ {
			if o.sees[[2]int{x, z}] && o.orders(z, k) && overlaps(o.events[x], e) {
				return false
			}
		}
	}
	return true
}

type hbPair struct{ i, k int }

func (o *hbOrder) all() (all []hbPair) {
	for k := range o.events {
		for i := range k {
			if o.races(i, k) {
				all = append(all, hbPair{i, k})
			}
		}
	}
	return all
}

// hbJudge compares reports with what is right: all that is reported are races by the narrow order, and
// all races by the wide one are. It gives what is wrong, and how many pairs were left out because more
// was done to their bytes since the last plain write than is kept.
func hbJudge(narrow, wide *hbOrder, found []driver.Race) (wrong []string, pairs int, differ bool, left int) {
	p, events := narrow.p, narrow.events
	thread := func(a driver.RaceAccess) int { return int(a.Block.X)*p.threads + int(a.Thread.X) }
	is := func(a driver.RaceAccess, e *hbEvent) bool { return a.Line == e.line && thread(a) == e.thread }
	may, must := narrow.all(), wide.all()
	lines := map[[2]int]bool{}
	for _, r := range found {
		if r.Kind == "mask" { // lanes that have ended
			continue
		}
		lines[[2]int{r.First.Line, r.Second.Line}] = true
		lines[[2]int{r.Second.Line, r.First.Line}] = true
		if !slices.ContainsFunc(may, func(x hbPair) bool { return is(r.First, events[x.i]) && is(r.Second, events[x.k]) }) {
			wrong = append(wrong, "false: "+r.String())
		}
	}
	if len(found) >= 64 {
		return wrong, len(must), len(may) != len(must), len(must)
	}
	for _, x := range must {
		e, f := events[x.i], events[x.k]
		for b := max(e.at, f.at); b < min(e.at+e.size, f.at+f.size); b++ {
			// What is known of a byte begins with its last plain write.
			since, kept := 0, map[[2]int]bool{}
			for i, g := range events[:x.k] {
				if g.write && !g.strong && g.at <= b && g.at+g.size > b {
					since = i
					clear(kept)
				} else if !g.fence && g.at/4 <= b/4 && (g.at+g.size-1)/4 >= b/4 {
					key := [2]int{g.thread, g.kind}
					if g.strong { // each may tell what was seen
						key = [2]int{-1, i}
					}
					kept[key] = true
				}
			}
			if x.i < since {
				continue
			}
			if len(kept) > 8 {
				left++
				break
			}
			if !slices.ContainsFunc(may, func(y hbPair) bool {
				g, h := events[y.i], events[y.k]
				return (g.thread == f.thread || h.thread == f.thread) && lines[[2]int{g.line, h.line}] && overlaps(h, f) && overlaps(g, f)
			}) {
				wrong = append(wrong, fmt.Sprintf("missed: %v; %v", e, f))
				break
			}
		}
	}
	return wrong, len(must), len(may) != len(must), left
}

func TestRandomRaces(t *testing.T) {
	first, count, seed := 0, 300, uint64(1)
	if testing.Short() {
		count = 50
	}
	for name, to := range map[string]func(uint64){"GOCUDA_TEST_PROGRAMS": func(n uint64) { count = int(n) }, "GOCUDA_TEST_SEED": func(n uint64) { seed = n }, "GOCUDA_TEST_FIRST": func(n uint64) { first = int(n) }} {
		if s := os.Getenv(name); s != "" {
			n, err := strconv.ParseUint(s, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			to(n)
		}
	}
	var found []driver.Race
	o := sim.Options{Devices: 1, CUDA: "ptx", Races: true, OnRaces: func(list []driver.Race) { found = append(found, list...) }}
	o.PTX = func(*driver.Source, string) (*driver.Compiled, error) { return nil, driver.ErrNotSupported }
	b := newBox(t, o)
	var ops, lines [2][][]int
	var kernels [2]driver.Function
	for i := range kernels {
		var text string
		text, ops[i], lines[i] = hbKernel(i == 1)
		m, err := b.d.ModuleLoad(b.c, []byte(text))
		b.ok(err)
		kernels[i], err = b.d.ModuleFunction(b.c, m, "k")
		b.ok(err)
	}
	programs, err := b.d.MemAlloc(b.c, 1<<20)
	b.ok(err)
	notes, err := b.d.MemAlloc(b.c, hbMost*16*hbNotes)
	b.ok(err)
	const bytes = 256
	data := upload(b, make([]byte, bytes))
	zero := make([]byte, bytes)
	log := make([]uint64, hbMost*2*hbNotes)
	racy, events, pairs, left, differ, failed := 0, 0, 0, 0, 0, 0
	for n := first; n < first+count; n++ {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		p := randomOrder(rng, ops, lines)
		all := p.blocks * p.threads
		code := make([]uint32, 2*all)
		at := map[string]int{}
		for t := range all {
			var w []uint32
			for _, s := range append(slices.Clone(p.steps[t]), hbStep{}) {
				w = append(w, uint32(s.op), uint32(s.at), s.value, s.compare, s.want, uint32(s.tries), uint32(s.skip), 0)
			}
			key := fmt.Sprint(w)
			if at[key] == 0 {
				for len(code)%8 != 0 {
					code = append(code, 0)
				}
				at[key] = 4 * len(code)
				code = append(code, w...)
			}
			code[2*t] = uint32(at[key])
		}
		b.ok(b.d.Memcpy(b.c, programs, ptr(code), uint64(4*len(code))))
		b.ok(b.d.Memcpy(b.c, data, ptr(zero), bytes))
		l := &driver.Launch{Function: kernels[map[bool]int{true: 1}[p.numbered]], Grid: dim(uint32(p.blocks)), Block: dim(uint32(p.threads)), SharedBytes: 128, Name: "k", Cooperative: p.cluster == 1}
		if p.cluster > 1 {
			l.Attributes = &driver.LaunchAttributes{Cluster: dim(uint32(p.cluster))}
		}
		for _, a := range []driver.Ptr{programs, notes, data} {
			l.Params = binary.NativeEndian.AppendUint64(l.Params, uint64(a))
		}
		found = nil
		b.ok(b.d.Launch(b.c, l))
		if err := b.sync(); err != nil {
			t.Fatalf("program %d, %d blocks of %d, clusters of %d, numbered %v: %v\n%v", n, p.blocks, p.threads, p.cluster, p.numbered, err, p.steps)
		}
		b.ok(b.d.Memcpy(b.c, ptr(log), notes, uint64(16*hbNotes*all)))
		of := func(t int) (list [][2]uint64) {
			for of := log[2*hbNotes*t:]; of[0] != 0; of = of[2:] {
				list = append(list, [2]uint64{of[0], of[1]})
			}
			return list
		}
		o := p.work(of, false)
		wrong, more, other, over := hbJudge(o, p.work(of, true), found)
		events, left = events+len(o.events), left+over
		if other {
			differ++
		}
		if pairs += more; more > 0 {
			racy++
		}
		if len(wrong) > 0 {
			if failed++; failed <= 10 {
				var text []string
				for i, e := range o.events {
					text = append(text, fmt.Sprint(i, " ", e))
				}
				for i, m := range p.meetings {
					text = append(text, fmt.Sprint("meeting ", i+1, ": ", m.op, " ", m.threads, m.arrives))
				}
				for _, r := range found {
					text = append(text, "found: "+r.String())
				}
				for t, list := range p.steps {
					text = append(text, fmt.Sprint("steps ", t, ": ", list))
				}
				t.Errorf("seed %d, program %d, %d blocks of %d, clusters of %d, numbered %v:\n%s\n%s", seed, n, p.blocks, p.threads, p.cluster, p.numbered, strings.Join(wrong, "\n"), strings.Join(text, "\n"))
			}
		}
	}
	t.Logf("%d programs, %d racy, %d events, %d racing pairs; %d programs wrong; the two orders differ in %d; %d pairs left out", count, racy, events, pairs, failed, differ, left)
}
