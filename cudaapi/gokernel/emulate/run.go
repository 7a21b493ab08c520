package emulate

import (
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"iter"
	"math/bits"
	"os"
	"strings"
	"unsafe"

	"gocuda/cudaapi/gokernel/ir"
)

func sharedText(want, have uint64) string {
	return fmt.Sprintf("DynamicShared needs %d bytes, and the launch gave %d: see cuda.SharedMemory", want, have)
}

// run is a launch that runs.
type run struct {
	Launch
	code  *code
	p     *Program
	kept  [][]uint64 // memory to which there may be pointers
	first error
	apart error     // the first divergence
	idle  []*thread // whose memory can be used again
	meets bool      // threads wait for each other
	races *races    // nil: nobody wants to know
}

// block is a block's threads and shared memory.
type block struct {
	run      *run
	index    [3]int
	vars     map[*ir.Var][]uint64
	dynamic  []uint64
	threads  []*thread
	barriers int      // so far
	warps    [32]int  // exchanges of each warp so far
	cluster  []*block // that it is part of, itself too; by their ranks
	rank     int
}

// thread is a thread of a kernel. What it waits for is in want.
type thread struct {
	run      *run
	block    *block
	index    [3]int
	linear   int
	frames   []*frame
	depth    int
	steps    int       // iterations of loops
	accesses int       // for counts
	at       token.Pos // of the last check
	returned bool      // by a return; else it came to the end
	self     *[3]int   // the index, for races
	fence    *int      // fences so far, for races

	yield  func(struct{}) bool // nil where threads run one after another
	resume func() (struct{}, bool)
	stop   func()
	done   bool
	want   waiting

	lane *Lane  // for those who watch; nil: it has come to no step
	tell func() // what the launch's goroutine is to do before the thread goes on
}

// waiting is what a thread waits for, and what it brings.
type waiting struct {
	what   string // "" if it can go on
	pos    token.Pos
	mask   uint32
	value  uint64
	arg    uint64
	kind   kind
	result uint64
}

// undefined is what shared memory holds at first.
const undefined = 0xcdcdcdcdcdcdcdcd

func (b *block) memory(bytes int64) []uint64 {
	w := words(bytes)
	for i := range w {
		w[i] = undefined
	}
	b.run.kept = append(b.run.kept, w)
	return w
}

func (b *block) shared(v *ir.Var, size int64) unsafe.Pointer {
	w := b.vars[v]
	if w == nil {
		w = b.memory(size)
		b.vars[v] = w
	}
	return unsafe.Pointer(unsafe.SliceData(w))
}

func (b *block) dynamicShared() unsafe.Pointer {
	if b.dynamic == nil {
		b.dynamic = b.memory(int64(b.run.Shared))
	}
	return unsafe.Pointer(unsafe.SliceData(b.dynamic))
}

// elsewhere is the address, in the cluster's block of that rank, of what this block has
// at an address of its shared memory.
func (b *block) elsewhere(p uint64, rank int) uint64 {
	mate := b.cluster[rank]
	within := func(w []uint64) (uint64, bool) {
		off := p - address(unsafe.Pointer(unsafe.SliceData(w)))
		return off, len(w) > 0 && off < uint64(8*len(w))
	}
	for v, w := range b.vars {
		if off, ok := within(w); ok {
			return address(mate.shared(v, sizes.Sizeof(v.Type))) + off
		}
	}
	if off, ok := within(b.dynamic); ok {
		return address(mate.dynamicShared()) + off
	}
	return p
}

// Run runs a kernel. Its error is the first panic of a thread, of type [*Panic],
// after which the other threads went on; [*Stuck]; or [ErrStopped].
func (p *Program) Run(f *ir.Func, l Launch) (err error) {
	if l.Out == nil {
		l.Out = os.Stdout
	}
	r := &run{Launch: l, p: p, code: p.function(f)}
	if l.Races {
		r.races = &races{cells: make(map[uint64]*cell)}
	}
	if l.Counts != nil {
		*l.Counts = Counts{Arguments: make([]Accesses, len(l.Areas))}
	}
	r.meets = meets(f, make(map[*ir.Func]bool))
	defer func() {
		if v := recover(); v != nil {
			if _, ok := v.(stopped); !ok {
				panic(v)
			}
			err = ErrStopped
		}
	}()
	size := l.Cluster
	if size == [3]int{} {
		size = [3]int{1, 1, 1}
	}
	var blocks []*block
	for z := 0; z < l.Grid[2]; z += size[2] {
		for y := 0; y < l.Grid[1]; y += size[1] {
			for x := 0; x < l.Grid[0]; x += size[0] {
				var cluster []*block
				for i := range volume(size) {
					at := [3]int{x + i%size[0], y + i/size[0]%size[1], z + i/size[0]/size[1]}
					cluster = append(cluster, &block{run: r, index: at, vars: make(map[*ir.Var][]uint64), rank: i})
				}
				for _, b := range cluster {
					b.cluster = cluster
				}
				if l.Cooperative {
					blocks = append(blocks, cluster...)
				} else if err := r.blocks(cluster); err != nil {
					return err
				}
			}
		}
	}
	if err := r.blocks(blocks); err != nil {
		return err
	}
	if r.first == nil && r.races != nil && r.races.first != nil {
		return r.races.first
	}
	return r.first
}

// meets says whether a kernel's threads wait for each other, or for what others write.
func meets(f *ir.Func, seen map[*ir.Func]bool) bool {
	if seen[f] {
		return false
	}
	seen[f] = true
	found := false
	ir.WalkAll(f.Body, func(s ir.Stmt) {
		switch s := s.(type) {
		case *ir.Effect:
			_, meeting := meetings[s.Name]
			found = found || meeting
		case *ir.Memory:
			found = found || s.Op == ir.CompareExchange || s.Op == ir.Exchange || s.Op == ir.Load
		case *ir.Call:
			found = found || s.Func != nil && meets(s.Func, seen)
			for _, a := range s.Args {
				ref, ok := a.(*ir.FuncRef)
				found = found || ok && ref.Func != nil && meets(ref.Func, seen)
			}
		}
	})
	return found
}

// body runs a thread to its end.
func (t *thread) body() {
	defer func() {
		t.done = true
		if t.lane != nil {
			t.lane.Ended = true
		}
		if v := recover(); v != nil {
			p, ok := v.(*Panic)
			if !ok {
				panic(v)
			}
			if t.run.first == nil {
				t.run.first = p
			}
		}
	}()
	t.depth = 0
	fr := t.push(function{code: t.run.code})
	for i, v := range t.run.code.fun.Params {
		move(unsafe.Add(fr.mem, t.run.code.params[i].at), t.run.Params[i], sizes.Sizeof(v.Type))
	}
	t.returned = t.run.code.body(fr) == returned
}

// step is called in each iteration of a loop. At times it lets other threads run.
func (t *thread) step() {
	if t.steps++; t.steps&1023 != 0 {
		return
	}
	select {
	case <-t.run.Stop:
		panic(stopped{})
	default:
	}
	if t.yield != nil && !t.yield(struct{}{}) {
		panic(stopped{})
	}
}

// wait lets the others run until the block's scheduler has what the thread
// waits for.
func (t *thread) wait(w waiting) uint64 {
	if t.yield == nil { // it evaluates for those who watch
		t.fail(Panic{Pos: w.pos, Text: "it waits for other threads, which stand still"})
	}
	t.want = w
	for t.want.what != "" {
		if !t.yield(struct{}{}) {
			panic(stopped{})
		}
	}
	return t.want.result
}

func (r *run) thread(b *block, x, y, z int) *thread {
	t := &thread{}
	if n := len(r.idle); n > 0 {
		t = r.idle[n-1]
		r.idle = r.idle[:n-1]
		*t = thread{frames: t.frames}
	}
	t.run, t.block, t.index = r, b, [3]int{x, y, z}
	t.linear = (z*r.Block[1]+y)*r.Block[0] + x
	return t
}

// blocks runs the threads of blocks, all of them side by side.
func (r *run) blocks(list []*block) error {
	var all []*thread
	for _, b := range list {
		for z := range r.Block[2] {
			for y := range r.Block[1] {
				for x := range r.Block[0] {
					t := r.thread(b, x, y, z)
					if !r.meets {
						t.body()
						r.idle = append(r.idle, t)
						continue
					}
					var failed any
					t.resume, t.stop = iter.Pull(func(yield func(struct{}) bool) {
						defer func() { failed = recover() }()
						t.yield = yield
						t.body()
					})
					resume := t.resume
					t.resume = func() (struct{}, bool) {
						v, ok := resume()
						if failed != nil {
							if _, ok := failed.(stopped); ok {
								panic(failed)
							}
							panic(fmt.Sprintf("gokernel/emulate: %v", failed))
						}
						return v, ok
					}
					b.threads = append(b.threads, t)
					all = append(all, t)
				}
			}
		}
	}
	defer func() {
		for _, t := range all {
			t.stop()
			r.idle = append(r.idle, t)
		}
	}()
	for left := len(all); left > 0; {
		moved := false
		for _, t := range all {
			if t.done || t.want.what != "" {
				continue
			}
			moved = true
			for t.resume(); t.tell != nil; t.resume() {
				tell := t.tell
				t.tell = nil
				tell()
			}
			if t.done {
				left--
			}
		}
		for _, b := range list {
			moved = b.meet() || moved
			if len(b.cluster) > 0 && b.rank == 0 {
				moved = meetCluster(b.cluster) || moved
			}
		}
		if r.apart != nil && r.first == nil {
			return r.apart
		}
		if !moved && left > 0 && !r.meetAll(all) {
			return r.stuck(list)
		}
	}
	return nil
}

// meetings are the effects at which threads meet, with what a message calls them.
var meetings = map[string]string{
	"sync_threads": "SyncThreads", "sync_threads_count": "SyncThreadsCount", "sync_threads_and": "SyncThreadsAnd", "sync_threads_or": "SyncThreadsOr",
	"sync_grid": "SyncGrid", "sync_cluster": "SyncCluster", "sync_warp": "SyncWarp", "shfl": "Shfl", "shfl_up": "ShflUp", "shfl_down": "ShflDown", "shfl_xor": "ShflXor",
	"ballot": "Ballot", "all": "All", "any": "Any", "match_any": "MatchAny", "match_all": "MatchAll",
	"reduce_add": "ReduceAdd", "reduce_min": "ReduceMin", "reduce_max": "ReduceMax", "reduce_and": "ReduceAnd", "reduce_or": "ReduceOr", "reduce_xor": "ReduceXor",
}

// ofWarp says whether what is waited for are lanes that a mask names.
func (w waiting) ofWarp() bool {
	return w.what != "" && !w.ofBlock() && w.what != "sync_grid" && w.what != "sync_cluster"
}

func (w waiting) ofBlock() bool { return strings.HasPrefix(w.what, "sync_threads") }

// meet lets threads go on that wait for each other and are all there.
func (b *block) meet() bool {
	moved := false
	for first := 0; first < len(b.threads); first += 32 {
		moved = meetWarp(b.threads[first:min(first+32, len(b.threads))]) || moved
	}
	count, all, what := 0, true, ""
	for _, t := range b.threads {
		if t.done {
			continue
		}
		if !t.want.ofBlock() || what != "" && what != t.want.what {
			return moved
		}
		what = t.want.what
		count += int(t.want.value)
		all = all && t.want.value != 0
	}
	if what == "" {
		return moved
	}
	if c := b.run.Counts; c != nil {
		c.Barriers++
	}
	b.uniform()
	result := map[string]uint64{"sync_threads_count": uint64(count), "sync_threads_and": truth(all), "sync_threads_or": truth(count > 0)}[what]
	for _, t := range b.threads {
		t.want = waiting{result: result}
	}
	b.barriers++
	return true
}

// uniform notes if threads do not all come to one barrier, of which one is ready.
func (b *block) uniform() {
	var first *thread
	for _, t := range b.threads {
		if !t.done && (first == nil || t.want.pos < first.want.pos) {
			first = t
		}
	}
	for _, t := range b.threads {
		d := &Divergence{Block: b.index, Thread: first.index, What: meetings[first.want.what], Pos: first.want.pos, Other: t.index}
		switch {
		case !t.done && t.want.pos != first.want.pos:
			d.OtherPos = t.want.pos
		case !t.done || t.returned:
			continue
		}
		b.run.part(d)
		return
	}
}

// part notes the first divergence.
func (r *run) part(d *Divergence) {
	if r.apart == nil {
		r.apart = d
	}
}

// meetAll lets all threads of the grid go on, if they wait for each other.
func (r *run) meetAll(all []*thread) bool {
	for _, t := range all {
		if !t.done && t.want.what != "sync_grid" {
			return false
		}
	}
	for _, t := range all {
		t.want = waiting{}
	}
	if r.races != nil {
		r.races.grid++
	}
	return true
}

// meetCluster lets the threads of a cluster go on if all of them wait for each other.
func meetCluster(cluster []*block) bool {
	waits := false
	for _, b := range cluster {
		for _, t := range b.threads {
			if !t.done && t.want.what != "sync_cluster" {
				return false
			}
			waits = waits || !t.done
		}
	}
	if !waits {
		return false
	}
	for _, b := range cluster {
		for _, t := range b.threads {
			t.want = waiting{}
		}
	}
	if r := cluster[0].run.races; r != nil {
		r.grid++ // the blocks of other clusters are not looked at that closely
	}
	return true
}

// meetWarp exchanges what lanes of a warp brought, if all are there that a mask names.
func meetWarp(lanes []*thread) bool {
	moved := false
	for i, t := range lanes {
		w := t.want
		if t.done || !w.ofWarp() || w.mask>>i&1 == 0 {
			continue
		}
		var group uint32
		ready := true
		for j, o := range lanes {
			if w.mask>>j&1 == 0 || o.done {
				continue
			}
			if o.want.what != w.what || o.want.mask != w.mask {
				ready = false
				break
			}
			group |= 1 << j
		}
		if ready {
			for j, o := range lanes {
				if w.mask>>j&1 != 0 && o.done {
					t.run.part(&Divergence{Block: t.block.index, Thread: t.index, What: meetings[w.what], Pos: w.pos, Other: o.index})
				}
			}
			t.block.warps[t.linear/32]++
			if c := t.run.Counts; c != nil {
				c.Exchanges++
			}
			exchange(lanes, group)
			moved = true
		}
	}
	return moved
}

// exchange gives the lanes of a group their results.
func exchange(lanes []*thread, group uint32) {
	var results [32]uint64
	each := func(do func(i int, w *waiting)) {
		for g := group; g != 0; g &= g - 1 {
			i := bits.TrailingZeros32(g)
			do(i, &lanes[i].want)
		}
	}
	what := lanes[bits.TrailingZeros32(group)].want.what
	from := func(i int, src uint64) uint64 {
		if src < 32 && group>>src&1 != 0 {
			return lanes[src].want.value
		}
		return lanes[i].want.value
	}
	var votes uint64
	each(func(i int, w *waiting) { votes |= truth(w.value != 0) << i })
	each(func(i int, w *waiting) {
		lane := uint64(i)
		switch what {
		case "shfl":
			results[i] = from(i, w.arg&31)
		case "shfl_up":
			results[i] = from(i, lane-w.arg)
		case "shfl_down":
			results[i] = from(i, lane+w.arg)
		case "shfl_xor":
			results[i] = from(i, lane^w.arg)
		case "ballot":
			results[i] = votes
		case "any":
			results[i] = truth(votes != 0)
		case "all":
			results[i] = truth(votes == uint64(group))
		case "match_any", "match_all":
			each(func(j int, o *waiting) { results[i] |= truth(o.value == w.value) << j })
			if what == "match_all" && results[i] != uint64(group) {
				results[i] = 0
			}
		default:
			if op, ok := strings.CutPrefix(what, "reduce_"); ok {
				results[i] = reduce(op, w.kind, lanes, group)
			}
		}
	})
	each(func(i int, w *waiting) { *w = waiting{result: results[i]} })
}

// reduce joins the values of a group: of a whole warp in pairs, as kernels do, else
// lane by lane, which matters to floating-point sums.
func reduce(op string, k kind, lanes []*thread, group uint32) uint64 {
	f := updates[reductions[op]]
	if group == 1<<32-1 {
		var v [32]uint64
		for i := range v {
			v[i] = lanes[i].want.value
		}
		for d := 16; d > 0; d /= 2 {
			old := v
			for i := range v {
				v[i] = f(k, old[i], old[i^d])
			}
		}
		return v[0]
	}
	i := bits.TrailingZeros32(group)
	v := lanes[i].want.value
	for g := group & (group - 1); g != 0; g &= g - 1 {
		v = f(k, v, lanes[bits.TrailingZeros32(g)].want.value)
	}
	return v
}

// reductions are the operations that join the values of lanes.
var reductions = map[string]ir.MemoryOp{"add": ir.Add, "min": ir.Min, "max": ir.Max, "and": ir.And, "or": ir.Or, "xor": ir.Xor}

// updates are what atomic operations and reductions make of two values.
var updates = map[ir.MemoryOp]func(k kind, a, b uint64) uint64{
	ir.Add: func(k kind, a, b uint64) uint64 {
		if k.float() {
			return k.round(k.real(a) + k.real(b))
		}
		return k.wrap(a + b)
	},
	ir.Sub: func(k kind, a, b uint64) uint64 { return k.wrap(a - b) },
	ir.Min: func(k kind, a, b uint64) uint64 {
		if less(k, b, a) {
			return b
		}
		return a
	},
	ir.Max: func(k kind, a, b uint64) uint64 {
		if less(k, a, b) {
			return b
		}
		return a
	},
	ir.And: func(_ kind, a, b uint64) uint64 { return a & b },
	ir.Or:  func(_ kind, a, b uint64) uint64 { return a | b },
	ir.Xor: func(k kind, a, b uint64) uint64 { return k.wrap(a ^ b) },
	ir.Increment: func(_ kind, a, b uint64) uint64 {
		if a >= b {
			return 0
		}
		return a + 1
	},
	ir.Decrement: func(_ kind, a, b uint64) uint64 {
		if a == 0 || a > b {
			return b
		}
		return a - 1
	},
	ir.Exchange: func(_ kind, _, b uint64) uint64 { return b },
	ir.Store:    func(_ kind, _, b uint64) uint64 { return b },
}

func less(k kind, a, b uint64) bool {
	switch {
	case k.float():
		return k.real(a) < k.real(b)
	case k.signed():
		return int64(a) < int64(b)
	}
	return a < b
}

// stuck says which threads wait for what cannot come.
func (r *run) stuck(list []*block) error {
	if r.first != nil {
		return r.first
	}
	for _, b := range list {
		for i, t := range b.threads {
			if t.done || t.want.what == "" {
				continue
			}
			s := &Stuck{Block: b.index, Thread: t.index, What: meetings[t.want.what], Pos: t.want.pos}
			for j, o := range b.threads {
				sameWarp := i/32 == j/32
				if j == i || t.want.ofWarp() && (!sameWarp || t.want.mask>>(j%32)&1 == 0) {
					continue
				}
				if o.done && t.want.ofBlock() || !o.done && o.want.what == t.want.what && (t.want.ofBlock() || o.want.mask == t.want.mask) {
					continue
				}
				s.Other = o.index
				if !o.done {
					s.OtherWhat, s.OtherPos = meetings[o.want.what], o.want.pos
				}
				return s
			}
		}
	}
	return errors.New("the threads wait for each other")
}

// effect readies what a kernel does beside computing.
func (c *compiler) effect(s *ir.Effect) act {
	args := make([]number, len(s.Args))
	for i, a := range s.Args {
		if kindOf(a.Type()) != memory {
			args[i] = c.number(a)
		}
	}
	result := c.result(s.Dst)
	switch s.Name {
	case "copy":
		dst, src := c.place(s.Args[0]), c.place(s.Args[1])
		size := uint64(sizes.Sizeof(s.Args[0].Type().Underlying().(*types.Slice).Elem()))
		return func(fr *frame) signal {
			d, f := (*[3]uint64)(dst(fr)), (*[3]uint64)(src(fr))
			n := min(d[1], f[1])
			if n > 0 {
				fr.t.touch(pointer(f[0]), int64(n*size), false, false)
				fr.t.touch(pointer(d[0]), int64(n*size), true, false)
				move(pointer(d[0]), pointer(f[0]), int64(n*size))
			}
			result(fr, n)
			return next
		}
	case "clear":
		x := c.place(s.Args[0])
		if u, ok := s.T.Underlying().(*types.Slice); ok {
			size := uint64(sizes.Sizeof(u.Elem()))
			return func(fr *frame) signal {
				if w := (*[3]uint64)(x(fr)); w[1] > 0 {
					fr.t.touch(pointer(w[0]), int64(w[1]*size), true, false)
					zero(pointer(w[0]), int64(w[1]*size))
				}
				return next
			}
		}
		return func(fr *frame) signal {
			zero(x(fr), sizes.Sizeof(s.T))
			return next
		}
	case "nanosleep":
		return func(fr *frame) signal {
			fr.t.steps |= 1023
			fr.t.step()
			return next
		}
	case "clock":
		return func(fr *frame) signal {
			result(fr, uint64(fr.t.steps))
			return next
		}
	case "cluster_rank":
		return func(fr *frame) signal {
			result(fr, uint64(fr.t.block.rank))
			return next
		}
	case "cluster_size":
		return func(fr *frame) signal {
			result(fr, uint64(len(fr.t.block.cluster)))
			return next
		}
	case "cluster_shared":
		return func(fr *frame) signal {
			result(fr, fr.t.block.elsewhere(args[0](fr), int(args[1](fr))))
			return next
		}
	case "copy_async":
		size := sizes.Sizeof(s.Args[0].Type().Underlying().(*types.Pointer).Elem())
		return func(fr *frame) signal {
			fr.t.touch(pointer(args[1](fr)), size, false, false)
			fr.t.touch(pointer(args[0](fr)), size, true, false)
			move(pointer(args[0](fr)), pointer(args[1](fr)), size)
			return next
		}
	case "commit_copies", "wait_copies":
		return nil
	case "lane_id":
		return func(fr *frame) signal {
			result(fr, uint64(fr.t.linear%32))
			return next
		}
	case "thread_rank":
		return func(fr *frame) signal {
			result(fr, uint64(fr.t.linear))
			return next
		}
	case "grid_rank":
		return func(fr *frame) signal {
			b, g := fr.t.block.index, fr.t.run.Grid
			result(fr, uint64((b[0]+g[0]*(b[1]+g[1]*b[2]))*volume(fr.t.run.Block)+fr.t.linear))
			return next
		}
	case "grid_size":
		return func(fr *frame) signal {
			result(fr, uint64(volume(fr.t.run.Grid)*volume(fr.t.run.Block)))
			return next
		}
	case "active_mask":
		return func(fr *frame) signal {
			result(fr, uint64(fr.t.active()))
			return next
		}
	}
	if into := c.several(s, args); into != nil {
		return into
	}
	if _, ok := meetings[s.Name]; !ok {
		panic("emulate: no effect " + s.Name)
	}
	outer := c.code.outer
	return func(fr *frame) signal {
		w := waiting{what: s.Name, pos: s.Pos}
		switch {
		case s.Name == "sync_cluster":
		case s.Name == "sync_grid":
			if !fr.t.run.Cooperative {
				fr.t.fail(Panic{Pos: s.Pos, Func: outer, Text: "SyncGrid needs a launch that is cooperative: see cuda.Cooperative"})
			}
		case w.ofBlock():
			if len(args) > 0 {
				w.value = args[0](fr)
			}
		default:
			w.mask = uint32(args[0](fr))
			if lane := fr.t.linear % 32; w.mask>>lane&1 == 0 {
				fr.t.fail(Panic{Pos: s.Pos, Func: outer, Text: fmt.Sprintf("the mask %#x of %s has no bit for lane %d, which calls it", w.mask, meetings[s.Name], lane)})
			}
			if len(args) > 1 {
				w.value, w.kind = args[1](fr), kindOf(s.Args[1].Type())
			}
			if len(args) > 2 {
				w.arg = args[2](fr)
			}
		}
		result(fr, fr.t.wait(w))
		return next
	}
}

// memory readies an operation on memory that nothing comes between: threads change
// elsewhere. Its order is that of fences around it.
func (c *compiler) memory(s *ir.Memory) act {
	var acts []act
	if s.Order.Releases() {
		acts = append(acts, fence)
	}
	if s.Op != ir.Fence {
		acts = append(acts, c.atomic(s))
		if s.Order.Acquires() {
			acts = append(acts, fence)
		}
	}
	return inOrder(acts)
}

func fence(fr *frame) signal {
	if fr.t.fence != nil {
		*fr.t.fence++
	}
	return next
}

func (c *compiler) atomic(s *ir.Memory) act {
	k, at := kindOf(s.Addr.Type().Underlying().(*types.Pointer).Elem()), c.number(s.Addr)
	args := make([]number, len(s.Args))
	for i, a := range s.Args {
		args[i] = c.number(a)
	}
	result := c.result(s.Dst)
	switch s.Op {
	case ir.Load:
		return func(fr *frame) signal {
			fr.t.touch(pointer(at(fr)), int64(k.bits()/8), false, true)
			result(fr, k.load(pointer(at(fr))))
			fr.t.steps |= 1023 // it may be waited for
			fr.t.step()
			return next
		}
	case ir.CompareExchange:
		return func(fr *frame) signal {
			p := pointer(at(fr))
			fr.t.touch(p, int64(k.bits()/8), true, true)
			old := k.load(p)
			if old == args[0](fr) {
				k.store(p, args[1](fr))
			}
			result(fr, old)
			return next
		}
	}
	f := updates[s.Op]
	return func(fr *frame) signal {
		p := pointer(at(fr))
		fr.t.touch(p, int64(k.bits()/8), true, true)
		old := k.load(p)
		k.store(p, f(k, old, args[0](fr)))
		result(fr, old)
		return next
	}
}

// result gives what an effect's result is to be stored with.
func (c *compiler) result(dst *ir.Var) func(*frame, uint64) {
	if dst == nil || kindOf(dst.Type) == memory {
		return func(*frame, uint64) {}
	}
	k, to := kindOf(dst.Type), c.variable(dst)
	return func(fr *frame, v uint64) { k.store(to(fr), v) }
}

func volume(a [3]int) int { return a[0] * a[1] * a[2] }

// active are the lanes of the thread's warp that have not ended.
func (t *thread) active() uint32 {
	first := t.linear / 32 * 32
	mask := uint32(1) << (t.linear % 32)
	for i, o := range t.block.threads {
		if i >= first && i < first+32 && !o.done {
			mask |= 1 << (i - first)
		}
	}
	return mask
}

// several readies effects whose results or arguments are arrays and structures.
func (c *compiler) several(s *ir.Effect, args []number) act {
	switch s.Name {
	case "load2", "load4":
		x, to, size := c.place(s.Args[0]), c.variable(s.Dst), sizes.Sizeof(s.Dst.Type)
		return func(fr *frame) signal {
			fr.t.touch(pointer(*(*uint64)(x(fr))+args[1](fr)*uint64(size)), size, false, false)
			move(to(fr), pointer(*(*uint64)(x(fr))+args[1](fr)*uint64(size)), size)
			return next
		}
	case "store2", "store4":
		x, v, size := c.place(s.Args[0]), c.place(s.Args[2]), sizes.Sizeof(s.Args[2].Type())
		return func(fr *frame) signal {
			fr.t.touch(pointer(*(*uint64)(x(fr))+args[1](fr)*uint64(size)), size, true, false)
			move(pointer(*(*uint64)(x(fr))+args[1](fr)*uint64(size)), v(fr), size)
			return next
		}
	case "tile", "coalesced":
		to := c.variable(s.Dst)
		return func(fr *frame) signal {
			rank, all := fr.t.linear, volume(fr.t.run.Block)
			// As gpu.Group lies in memory: its mask, and five integers.
			g := (*[6]int)(to(fr))
			if s.Name == "coalesced" {
				mask := fr.t.active()
				*g = [6]int{int(mask), bits.TrailingZeros32(mask), bits.OnesCount32(mask & (1<<(rank%32) - 1)), bits.OnesCount32(mask), 0, 1}
				return next
			}
			size := int(args[0](fr))
			first := rank / size * size
			n := min(size, all-first)
			*g = [6]int{(1<<n - 1) << (first % 32), first % 32, rank - first, n, rank / size, (all + size - 1) / size}
			return next
		}
	}
	return nil
}
