package sim_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// A program is random fills and copies on random streams of random devices,
// with waits for events wherever two that touch the same bytes would otherwise
// be unordered. The reference runs it in the order of issue; by CUDA's rules
// every schedule must give the same bytes.

const (
	bufferSize  = 256
	programOps  = 60
	programBufs = 6
)

type access struct {
	buffer, off, n int
	write          bool
}

// step is one call of a program.
type step struct {
	stream   int
	wait     int // of an earlier step's event before this one; -1 is none
	fill     bool
	value    byte
	dst, src access
}

type stream struct {
	device           int
	blocking, legacy bool
}

type program struct {
	streams []stream
	onHost  [programBufs]bool
	device  [programBufs]int
	steps   []step
	waits   int
}

func (s step) accesses() []access {
	if s.fill {
		return []access{s.dst}
	}
	return []access{s.dst, s.src}
}

func conflict(a, b step) bool {
	for _, x := range a.accesses() {
		for _, y := range b.accesses() {
			if x.buffer == y.buffer && (x.write || y.write) && x.off < y.off+y.n && y.off < x.off+x.n {
				return true
			}
		}
	}
	return false
}

// newProgram makes a program whose waits are complete, each of them needed.
func newProgram(r *rand.Rand, devices int) program {
	var p program
	for d := range devices {
		p.streams = append(p.streams, stream{d, true, true}, stream{d, true, false}, stream{d, false, false}, stream{d, false, false})
	}
	for b := range programBufs {
		p.onHost[b], p.device[b] = b == 0, r.IntN(devices)
	}
	// seen[s][i] says that step i is before whatever comes next in stream s.
	seen := make([]map[int]bool, len(p.streams))
	for i := range seen {
		seen[i] = map[int]bool{}
	}
	before := make([]map[int]bool, programOps)
	join := func(to, from map[int]bool) {
		for i := range from {
			to[i] = true
		}
	}
	// enter is what CUDA orders before the next operation of a stream.
	enter := func(s int) {
		for o, st := range p.streams {
			if st.device == p.streams[s].device && o != s && st.blocking && p.streams[s].blocking && (st.legacy || p.streams[s].legacy) {
				join(seen[s], seen[o])
			}
		}
	}
	for i := range programOps {
		st := step{stream: r.IntN(len(p.streams)), wait: -1, fill: r.IntN(3) == 0, value: byte(r.IntN(256))}
		n := 1 + r.IntN(bufferSize/2)
		st.dst = access{r.IntN(programBufs), r.IntN(bufferSize - n), n, true}
		for st.src = st.dst; st.src.buffer == st.dst.buffer; {
			st.src = access{r.IntN(programBufs), r.IntN(bufferSize - n), n, false}
		}
		enter(st.stream)
		// Waits, one to a step: empty steps carry the others.
		for {
			missing := -1
			for j := i - 1; j >= 0; j-- {
				if !seen[st.stream][j] && conflict(st, p.steps[p.index(j)]) {
					missing = j
					break
				}
			}
			if missing < 0 {
				break
			}
			p.steps = append(p.steps, step{stream: st.stream, wait: missing})
			p.waits++
			join(seen[st.stream], before[missing])
			seen[st.stream][missing] = true
		}
		before[i] = map[int]bool{}
		join(before[i], seen[st.stream])
		seen[st.stream][i] = true
		p.steps = append(p.steps, st)
	}
	return p
}

// index is where the i-th step that does something lies.
func (p *program) index(i int) int {
	for at, s := range p.steps {
		if s.dst.n > 0 {
			if i == 0 {
				return at
			}
			i--
		}
	}
	panic("no such step")
}

// reference runs the program in the order of issue.
func (p *program) reference() [programBufs][]byte {
	var bufs [programBufs][]byte
	for b := range bufs {
		bufs[b] = bytes.Repeat([]byte{byte(b)}, bufferSize)
	}
	for _, s := range p.steps {
		d := bufs[s.dst.buffer][s.dst.off : s.dst.off+s.dst.n]
		switch {
		case s.dst.n == 0:
		case s.fill:
			copy(d, bytes.Repeat([]byte{s.value}, s.dst.n))
		default:
			copy(d, bufs[s.src.buffer][s.src.off:s.src.off+s.src.n])
		}
	}
	return bufs
}

// run runs it on simulated devices. skip says which of the waits to leave out.
func (p *program) run(t *testing.T, o sim.Options, skip func(wait int) bool) (bufs [programBufs][]byte) {
	t.Helper()
	d, err := sim.New(o)
	ok := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	ok(err)
	defer func() { ok(d.Close()) }()
	ctx := make([]driver.Context, o.Devices)
	for i := range ctx {
		ctx[i] = retain(t, d, driver.Device(i))
	}
	var mem [programBufs]driver.Ptr
	for b := range mem {
		c := ctx[p.device[b]]
		if p.onHost[b] {
			mem[b], err = d.HostAlloc(c, bufferSize, driver.HostPortable)
		} else {
			mem[b], err = d.MemAlloc(c, bufferSize)
		}
		ok(err)
		ok(d.Memset(c, mem[b], uint32(b), 1, bufferSize))
	}
	for _, c := range ctx {
		ok(d.CtxSynchronize(c, nil))
	}
	handles := make([]driver.Stream, len(p.streams))
	for i, s := range p.streams {
		f := driver.StreamNonBlocking
		if s.blocking {
			f = driver.StreamBlocking
		}
		if !s.legacy {
			handles[i], err = d.StreamCreate(ctx[s.device], f, 0)
			ok(err)
		}
	}
	var events []driver.Event
	wait := 0
	for _, s := range p.steps {
		c, h := ctx[p.streams[s.stream].device], handles[s.stream]
		at := func(a access) driver.Ptr { return mem[a.buffer] + driver.Ptr(a.off) }
		switch {
		case s.dst.n == 0:
			if wait++; !skip(wait - 1) {
				ok(d.StreamWaitEvent(c, h, events[s.wait]))
			}
			continue
		case s.fill:
			ok(d.MemsetAsync(c, at(s.dst), uint32(s.value), 1, uint64(s.dst.n), h))
		default:
			ok(d.MemcpyAsync(c, at(s.dst), at(s.src), uint64(s.dst.n), h))
		}
		ev, err := d.EventCreate(c, driver.EventDisableTiming)
		ok(err)
		ok(d.EventRecord(c, ev, h))
		events = append(events, ev)
	}
	for _, c := range ctx {
		ok(d.CtxSynchronize(c, nil))
	}
	for b := range mem {
		bufs[b] = make([]byte, bufferSize)
		ok(d.Memcpy(ctx[p.device[b]], ptr(bufs[b]), mem[b], bufferSize))
	}
	return bufs
}

func none(int) bool  { return false }
func every(int) bool { return true }

func equal(a, b [programBufs][]byte) bool {
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func TestRandomPrograms(t *testing.T) {
	for _, adversarial := range []bool{false, true} {
		t.Run(fmt.Sprintf("adversarial=%v", adversarial), func(t *testing.T) {
			shown, racy, single := 0, 0, 0
			for seed := range uint64(150) {
				r := rand.New(rand.NewPCG(seed, 7))
				devices := 1 + r.IntN(3)
				p := newProgram(r, devices)
				want := p.reference()
				o := sim.Options{Devices: devices, Memory: 1 << 28, Seed: seed + 1, Adversarial: adversarial}
				if !equal(p.run(t, o, none), want) {
					t.Fatalf("program %d, right by CUDA's rules, went wrong", seed)
				}
				if p.waits > 0 {
					racy++
					if !equal(p.run(t, o, every), want) {
						shown++
					}
					one := r.IntN(p.waits)
					if !equal(p.run(t, o, func(i int) bool { return i == one }), want) {
						single++
					}
				}
			}
			t.Logf("of %d programs, %d went wrong without their waits, %d without one", racy, shown, single)
			// Not every missing wait can change the result: what it lets through
			// may be overwritten, or ordered by other waits as well.
			if adversarial && single < racy*7/10 {
				t.Errorf("without one wait, only %d of %d programs went wrong", single, racy)
			}
			if shown < racy*9/10 {
				t.Errorf("without their waits, only %d of %d programs went wrong", shown, racy)
			}
		})
	}
}

// TestSeedRepeats runs a racy program twice with each seed: the same race is
// lost in the same way. A device also begins when its host issues nothing for
// some milliseconds, and a busy machine may stop the host for so long: then the
// seed is tried again.
func TestSeedRepeats(t *testing.T) {
	p := newProgram(rand.New(rand.NewPCG(3, 7)), 2)
	different := false
	var first [programBufs][]byte
	for seed := range uint64(20) {
		o := sim.Options{Devices: 2, Memory: 1 << 28, Seed: seed + 1}
		a, b := p.run(t, o, every), p.run(t, o, every)
		for tries := 0; tries < 3 && !equal(a, b); tries++ {
			a, b = b, p.run(t, o, every)
		}
		if !equal(a, b) {
			t.Errorf("seed %d gave two results", seed+1)
		}
		if seed == 0 {
			first = a
		}
		different = different || !equal(a, first)
	}
	if !different {
		t.Error("twenty seeds gave one result")
	}
}
