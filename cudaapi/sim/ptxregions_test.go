package sim_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// Random kernels whose threads meet at barriers that they come to on ways of their own: in
// branches, in loops of different length, some with a vote, some behind a guard, some after others
// have ended. Before each a thread writes a place of its own, after it it reads others' places.
// The reference runs the same statements as coroutines.

const (
	meetThreads = 48
	meetRounds  = 14 // a thread that has met so often ends
	meetRegs    = 6
	meetOwn     = 4 // registers that differ from thread to thread at first; the others need not
)

type meetStep struct {
	kind       string // op, bar, vote, if, loop, end, read, keep, recall
	how        string
	d, a, b    int // registers
	n          uint32
	then, body []meetStep
}

// randomMeeting gives statements. alike: all threads take the same way, but for those that end.
func randomMeeting(rng *rand.Rand, alike bool, depth, count int) (list []meetStep) {
	for range count {
		s := meetStep{d: rng.IntN(meetRegs), a: rng.IntN(meetRegs), b: rng.IntN(meetRegs), n: rng.Uint32N(64)}
		common := meetOwn + rng.IntN(meetRegs-meetOwn)
		switch k := rng.IntN(16); {
		case k < 4:
			s.kind, s.how = "op", []string{"add", "xor", "mul.lo", "sub"}[rng.IntN(4)]
		case k < 7:
			s.kind, s.how = "bar", []string{"bar.sync 0", "barrier.sync 0", "barrier.cta.sync.aligned 0"}[rng.IntN(3)]
		case k < 8:
			s.kind, s.how = "bar", "guarded"
		case k < 9:
			s.kind, s.how = "vote", []string{"popc", "and", "or"}[rng.IntN(3)]
		case k < 11:
			s.kind = "read"
		case k < 12:
			s.kind = []string{"keep", "recall"}[rng.IntN(2)]
		case k < 13 && depth > 0:
			s.kind = "end"
		case k < 15 && depth < 3:
			s.kind = "if"
			s.then, s.body = randomMeeting(rng, alike, depth+1, 1+rng.IntN(4)), randomMeeting(rng, alike, depth+1, rng.IntN(4))
		case depth < 3:
			s.kind = "loop"
			s.body = randomMeeting(rng, alike, depth+1, 1+rng.IntN(4))
		default:
			continue
		}
		if alike {
			switch s.kind {
			case "op":
				if s.d >= meetOwn {
					s.a, s.b = common, common
				}
			case "read", "recall":
				s.d %= meetOwn
			case "vote":
				if s.how == "popc" && rng.IntN(2) == 0 {
					s.d = common
				}
			case "bar", "if", "loop":
				s.a = common
			}
		}
		list = append(list, s)
	}
	return list
}

// meetWriter writes the PTX.
type meetWriter struct {
	strings.Builder
	labels int
}

func (w *meetWriter) f(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *meetWriter) barrier(text string) {
	w.f("setp.ge.u32 %%e, %%round, %d;\n@%%e bra END;", meetRounds)
	w.f("mad.lo.u32 %%x, %%round, %d, %%t;\nshl.b32 %%x, %%x, 2;\nmov.u32 %%y, slots;\nadd.u32 %%x, %%x, %%y;\nst.shared.u32 [%%x], %%r0;\nadd.u32 %%round, %%round, 1;", meetThreads)
	w.f("%s;", text)
}

func (w *meetWriter) test(s meetStep) {
	w.f("shr.u32 %%x, %%r%d, %d;\nand.b32 %%x, %%x, 3;\nsetp.eq.u32 %%p, %%x, 1;", s.a, s.n%29)
}

func (w *meetWriter) list(list []meetStep, depth int) {
	for _, s := range list {
		w.labels++
		l := w.labels
		switch s.kind {
		case "op":
			w.f("%s.u32 %%r%d, %%r%d, %%r%d;\nadd.u32 %%r%[2]d, %%r%[2]d, %[5]d;", map[bool]string{true: s.how + ".b32", false: s.how}[s.how == "xor"], s.d, s.a, s.b, s.n)
		case "bar":
			if s.how == "guarded" {
				w.test(s)
				w.f("mov.pred %%q, %%p;\n@%%q bra L%d;\nbra M%d;\nL%d:", l, l, l)
				w.barrier("@%q bar.sync 0")
				w.f("M%d:", l)
			} else {
				w.barrier(s.how)
			}
		case "vote":
			w.test(s)
			if s.how == "popc" {
				w.barrier(fmt.Sprintf("bar.red.popc.u32 %%r%d, 0, %%p", s.d))
			} else {
				w.barrier(fmt.Sprintf("barrier.cta.red.%s.aligned.pred %%q, 0, %%p", s.how))
				w.f("selp.u32 %%x, 77, 5, %%q;\nadd.u32 %%r%d, %%r%[1]d, %%x;", s.d)
			}
		case "read":
			w.f("setp.eq.u32 %%p, %%round, 0;\n@%%p bra L%d;\nadd.u32 %%x, %%t, %d;\nrem.u32 %%x, %%x, %d;\nadd.u32 %%y, %%round, -1;\nmad.lo.u32 %%x, %%y, %[3]d, %%x;\nshl.b32 %%x, %%x, 2;", l, s.n%meetThreads, meetThreads)
			w.f("mov.u32 %%y, slots;\nadd.u32 %%x, %%x, %%y;\nld.shared.u32 %%r%d, [%%x];\nL%d:", s.d, l)
		case "keep", "recall":
			w.f("and.b32 %%x, %%r%d, 3;\nshl.b32 %%x, %%x, 2;\ncvt.u64.u32 %%z, %%x;\nmov.u64 %%w, own;\nadd.u64 %%z, %%z, %%w;", s.a)
			if s.kind == "keep" {
				w.f("st.local.u32 [%%z], %%r%d;", s.d)
			} else {
				w.f("ld.local.u32 %%r%d, [%%z];", s.d)
			}
		case "end":
			w.test(s)
			w.f("@%%p bra END;")
		case "if":
			w.test(s)
			w.f("@!%%p bra L%d;", l)
			w.list(s.then, depth+1)
			w.f("bra M%d;\nL%d:", l, l)
			w.list(s.body, depth+1)
			w.f("M%d:", l)
		case "loop":
			w.f("and.b32 %%c%d, %%r%d, 3;\nL%d:\nsetp.eq.u32 %%p, %%c%[1]d, 0;\n@%%p bra M%[3]d;\nadd.u32 %%c%[1]d, %%c%[1]d, -1;", depth, s.a, l)
			w.list(s.body, depth+1)
			w.f("bra L%d;\nM%d:", l, l)
		}
	}
}

// meeting is what the coroutines have in common.
type meeting struct {
	slots       [meetRounds][meetThreads]uint32
	votes, came int // at the last barrier
}

type meetThread struct {
	*meeting
	t, round uint32
	r        [meetRegs]uint32
	own      [4]uint32
	yield    func(vote bool) bool
}

// barrier reports whether the thread goes on.
func (x *meetThread) barrier(vote bool) bool {
	if x.round >= meetRounds {
		return false
	}
	x.slots[x.round][x.t] = x.r[0]
	x.round++
	return x.yield(vote)
}

func (x *meetThread) run(list []meetStep) bool {
	for _, s := range list {
		test := x.r[s.a]>>(s.n%29)&3 == 1
		switch s.kind {
		case "op":
			a, b := x.r[s.a], x.r[s.b]
			x.r[s.d] = map[string]uint32{"add": a + b, "sub": a - b, "xor": a ^ b, "mul.lo": a * b}[s.how] + s.n
		case "bar":
			if (s.how != "guarded" || test) && !x.barrier(false) {
				return false
			}
		case "vote":
			if !x.barrier(test) {
				return false
			}
			switch s.how {
			case "popc":
				x.r[s.d] = uint32(x.votes)
			case "and":
				x.r[s.d] += map[bool]uint32{true: 77, false: 5}[x.votes == x.came]
			case "or":
				x.r[s.d] += map[bool]uint32{true: 77, false: 5}[x.votes > 0]
			}
		case "read":
			if x.round > 0 {
				x.r[s.d] = x.slots[x.round-1][(x.t+s.n%meetThreads)%meetThreads]
			}
		case "keep":
			x.own[x.r[s.a]&3] = x.r[s.d]
		case "recall":
			x.r[s.d] = x.own[x.r[s.a]&3]
		case "end":
			if test {
				return false
			}
		case "if":
			way := s.body
			if test {
				way = s.then
			}
			if !x.run(way) {
				return false
			}
		case "loop":
			for range x.r[s.a] & 3 {
				if !x.run(s.body) {
					return false
				}
			}
		}
	}
	return true
}

func meetFirst(t uint32, k int) uint32 {
	if k >= meetOwn {
		t = 1
	}
	return t*(2654435761+uint32(k)*40503) ^ uint32(k)*977
}

func meetReference(list []meetStep) (out []uint32) {
	m := &meeting{}
	var threads []*meetThread
	var next []func() (bool, bool)
	for t := range uint32(meetThreads) {
		x := &meetThread{meeting: m, t: t}
		for k := range x.r {
			x.r[k] = meetFirst(t, k)
		}
		n, stop := iter.Pull(func(yield func(bool) bool) {
			x.yield = yield
			x.run(list)
		})
		defer stop()
		threads, next = append(threads, x), append(next, n)
	}
	live := make([]bool, meetThreads)
	for t := range live {
		live[t] = true
	}
	for slices.Contains(live, true) {
		votes, came := 0, 0
		for t, n := range next {
			if !live[t] {
				continue
			}
			vote, ok := n()
			live[t] = ok
			if ok {
				came++
			}
			if vote {
				votes++
			}
		}
		m.votes, m.came = votes, came
	}
	for _, x := range threads {
		out = append(out, x.r[:]...)
	}
	return out
}

// TestRandomBarriers runs them in loops over the threads, and on stacks, with the threads in both orders.
func TestRandomBarriers(t *testing.T) {
	seed := uint64(1)
	if s := os.Getenv("GOCUDA_TEST_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(34, seed))
	const programs = 24
	var lists [][]meetStep
	var module strings.Builder
	module.WriteString(".version 8.0\n.target sm_90\n.address_size 64\n")
	for p := range programs {
		list := randomMeeting(rng, p%2 == 1, 1, 3+rng.IntN(4))
		lists = append(lists, list)
		w := &meetWriter{}
		w.list(list, 0)
		fmt.Fprintf(&module, ".visible .entry k%d(.param .u64 data) {\n.reg .b32 %%r<%d>;\n.reg .b32 %%c<4>;\n.reg .b32 %%t;\n.reg .b32 %%x;\n.reg .b32 %%y;\n.reg .b32 %%round;\n.reg .b64 %%z;\n.reg .b64 %%w;\n.reg .pred %%p;\n.reg .pred %%q;\n.reg .pred %%e;\n", p, meetRegs)
		fmt.Fprintf(&module, ".shared .align 4 .b8 slots[%d];\n.local .align 4 .b8 own[16];\n", 4*meetRounds*meetThreads)
		fmt.Fprintf(&module, "mov.u32 %%t, %%tid.y;\nmov.u32 %%x, %%ntid.x;\nmul.lo.u32 %%t, %%t, %%x;\nmov.u32 %%x, %%tid.x;\nadd.u32 %%t, %%t, %%x;\nmov.u32 %%round, 0;\n")
		for k := range 4 {
			fmt.Fprintf(&module, "st.local.u32 [own+%d], 0;\n", 4*k)
		}
		for k := range meetRounds { // stacks and loops begin with what other kernels left
			fmt.Fprintf(&module, "shl.b32 %%x, %%t, 2;\nmov.u32 %%y, slots;\nadd.u32 %%x, %%x, %%y;\nst.shared.u32 [%%x+%d], 0;\n", 4*k*meetThreads)
		}
		module.WriteString("bar.sync 0;\n")
		for k := range meetRegs {
			t := "%t"
			if k >= meetOwn {
				t = "1"
			}
			fmt.Fprintf(&module, "mul.lo.u32 %%r%d, %s, %d;\nxor.b32 %%r%[1]d, %%r%[1]d, %[4]d;\n", k, t, 2654435761+uint32(k)*40503, uint32(k)*977)
		}
		module.WriteString(w.String())
		fmt.Fprintf(&module, "END:\nld.param.u64 %%z, [data];\nmad.wide.u32 %%z, %%t, %d, %%z;\n", 4*meetRegs)
		for k := range meetRegs {
			fmt.Fprintf(&module, "st.global.u32 [%%z+%d], %%r%d;\n", 4*k, k)
		}
		module.WriteString("ret;\n}\n")
	}
	for _, o := range []sim.Options{{NoCheck: true}, {}, {Adversarial: true}} {
		t.Run(fmt.Sprintf("check=%v/adversarial=%v", !o.NoCheck, o.Adversarial), func(t *testing.T) {
			o.Devices, o.CUDA = 1, "ptx"
			o.PTX = func(*driver.Source, string) (*driver.Compiled, error) {
				return &driver.Compiled{Image: []byte(module.String())}, nil
			}
			b := newBox(t, o)
			out, err := b.d.Compile(0, &driver.Source{Name: "k.ptx"})
			b.ok(err)
			m, err := b.d.ModuleLoad(b.c, out.Image)
			b.ok(err)
			for p, list := range lists {
				want := meetReference(list)
				k, err := b.d.ModuleFunction(b.c, m, fmt.Sprintf("k%d", p))
				b.ok(err)
				for _, block := range []driver.Dim3{dim(meetThreads), dim(12, 4)} {
					data := upload(b, make([]uint32, meetThreads*meetRegs))
					b.ok(b.launch(k, dim(1), block, 0, data))
					b.ok(b.sync())
					for i, v := range download[uint32](b, data, meetThreads*meetRegs) {
						if v != want[i] {
							t.Fatalf("program %v, block %v, thread %d, register %d: %#x, want %#x", list, block, i/meetRegs, i%meetRegs, v, want[i])
						}
					}
				}
			}
		})
	}
}

// TestMoreAccessesThanSites has accesses that are checked by calls, since sites are for the first ones only.
func TestMoreAccessesThanSites(t *testing.T) {
	const accesses = 4200
	b := newBox(t, bodies())
	body := strings.Repeat("ld.global.u32 %r1, [%at];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%at], %r1;\n", accesses/2)
	k := ptxKernel(b, body)
	data := upload(b, make([]int32, 64))
	b.ok(b.launch(k, dim(1), dim(64), 0, data))
	b.ok(b.sync())
	for i, v := range download[int32](b, data, 64) {
		if v != accesses/2 {
			t.Fatalf("thread %d: %d, want %d", i, v, accesses/2)
		}
	}
	k = ptxKernel(b, body+"st.global.u32 [%at+4096], %r1;")
	b.ok(b.launch(k, dim(1), dim(64), 0, data))
	if err := b.sync(); err == nil || !strings.Contains(err.Error(), "thread (0,0,0): illegal write of 4 bytes") {
		t.Error(err)
	}
}

// TestSomeThreadsWrite has registers that live from barrier to barrier, and that some threads alone write between.
func TestSomeThreadsWrite(t *testing.T) {
	for _, way := range []string{"@%p1 mov.u32 %r1, 3;", "@!%p1 bra L;\nmov.u32 %r1, 3;\nL:"} {
		b := newBox(t, bodies())
		k := ptxKernel(b, "ld.global.u32 %r1, [%at];\nbar.sync 0;\nsetp.lt.u32 %p1, %t, 5;\n"+way+"\nbar.sync 0;\nst.global.u32 [%at], %r1;")
		numbers := make([]int32, 64)
		for i := range numbers {
			numbers[i] = int32(100 + i)
		}
		data := upload(b, numbers)
		b.ok(b.launch(k, dim(1), dim(64), 0, data))
		b.ok(b.sync())
		for i, v := range download[int32](b, data, 64) {
			if want := numbers[i]; i >= 5 && v != want || i < 5 && v != 3 {
				t.Errorf("%s thread %d: %d, want %d", way, i, v, want)
			}
		}
	}
}

// TestSomeThreadsEnd has threads that end before a barrier, of which others are in the same eight.
func TestSomeThreadsEnd(t *testing.T) {
	b := newBox(t, bodies())
	k := ptxKernel(b, "st.global.u32 [%at], %t;\nsetp.gt.u32 %p1, %t, 42;\n@%p1 bra END;\nbar.sync 0;\nld.global.u32 %r1, [%at];\nadd.u32 %r1, %r1, 100;\nst.global.u32 [%at], %r1;\nEND:")
	data := upload(b, make([]int32, 64))
	b.ok(b.launch(k, dim(1), dim(64), 0, data))
	b.ok(b.sync())
	for i, v := range download[int32](b, data, 64) {
		if want := int32(i); i > 42 && v != want || i <= 42 && v != want+100 {
			t.Errorf("thread %d: %d", i, v)
		}
	}
}
