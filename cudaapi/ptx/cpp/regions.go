package cpp

import (
	"fmt"
	"slices"
	"strings"

	"gocuda/cudaapi/ptx"
	"gocuda/cudaapi/ptx/flow"
)

// Threads that wait for each other only at barriers of their block need no stacks: a loop runs
// them one after another to where each waits, keeps of their registers what lives there in
// arrays, and once all have come a loop runs them on from there. So a kernel becomes regions,
// one for its start and one for what follows each barrier: all that a thread can come to before
// the next. Threads may wait at different barriers and go on in different regions.
//
// What needs stacks still: a thread that may have to look again and again until another has
// written, calls of functions that wait or that nobody knows, barriers with a number or of a
// cluster, and, for now, what the lanes of a warp do together.

const (
	mostRegions = 60  // with the end they are bits of a word
	mostCopies  = 400 // instructions in all regions beyond four times those of the kernel
	mostSteps   = 4   // to compute a register again instead of keeping it
)

// regions is a kernel that is written so.
type regions struct {
	*body
	g      *flow.Graph
	alike  *flow.Alike // nil: threads may wait at different barriers
	list   []*region
	number map[[2]int]int  // of the region by its first block, and 1 where a barrier leads to it
	kept   map[string]bool // registers from region to region
	votes  bool            // some barriers have one
	asks   bool            // the thread's state must say which one runs
	parts  bool            // of a region's threads some may end and others go on
}

// region is what is run from a barrier on. Where all threads are alike, one may run once for all of
// them, and choose another.
type region struct {
	first   int
	barrier bool // it follows one
	once    bool
	blocks  []int        // the first one first
	next    map[int]bool // the regions that may follow; the number behind the last one for the end
	several bool         // there is more than one
	lanes   *lanes       // eight threads go together, too
}

// waits reports whether an instruction is a barrier between regions.
func waits(i *ptx.Instruction) bool {
	return (i.Op == "bar" || i.Op == "barrier") && !slices.Contains(i.Mods, "warp")
}

// inRegions plans a kernel's regions; nil if it cannot be written so.
func (t *translator) inRegions(f *ptx.Function) *regions {
	if !f.Kernel || f.Declared {
		return nil
	}
	g := flow.Of(f, waits)
	r := &regions{asks: t.watched(), g: g, kept: map[string]bool{}, number: map[[2]int]int{},
		body: &body{translator: t, f: f, loops: map[*ptx.Instruction]loop{}, looped: true, copied: g}}
	if g.Spins() || !t.alone(f, r) {
		return nil
	}
	all, copies := 0, 0
	var list []*ptx.Instruction
	for _, b := range g.Blocks {
		list = append(list, b.List...)
		all += len(b.List)
		r.votes = r.votes || r.wait(b) != nil && slices.Contains(r.wait(b).Mods, "red")
		if slices.Contains(b.Next, 0) {
			return nil // the start has no registers to go on with
		}
	}
	r.findPolled(f.Body)
	r.findBeyond(f)
	r.nans = nansOf(list, func(n string) ptx.Type { return g.Types[n] })
	if a, ok := g.Alike(waits); ok {
		r.alike = a
	}
	r.numbered(0, false)
	for n := 0; n < len(r.list); n++ {
		x := r.list[n]
		r.plan(x)
		for _, k := range x.blocks {
			copies += len(g.Blocks[k].List)
		}
		if len(r.list) > mostRegions || copies > 4*all+mostCopies {
			return nil
		}
		for _, reg := range g.LiveIn(g.Blocks[x.first]) {
			if _, ok := g.Cheap(reg, mostSteps); !ok && n > 0 {
				r.kept[reg] = true
			}
		}
	}
	for _, x := range r.list {
		if x.next[-1] {
			delete(x.next, -1)
			x.next[len(r.list)] = true
		}
		x.several = len(x.next) > 1
		r.parts = r.parts || x.several && (r.alike == nil || x.next[len(r.list)])
	}
	vars := map[string]*ptx.Variable{}
	for _, v := range slices.Concat(f.Params, g.Vars) {
		vars[v.Name] = v
	}
	r.types, r.vars, r.targets = []map[string]ptx.Type{g.Types}, []map[string]*ptx.Variable{vars}, []map[string][]string{g.Targets}
	for n, x := range r.list {
		x.lanes = r.inLanes(n, x)
	}
	return r
}

// numbered is the number of the region that begins with a block.
func (r *regions) numbered(block int, barrier bool) int {
	key := [2]int{block, map[bool]int{true: 1}[barrier]}
	n, ok := r.number[key]
	if !ok {
		n = len(r.list)
		r.number[key] = n
		r.list = append(r.list, &region{first: block, barrier: barrier, next: map[int]bool{}})
	}
	return n
}

// plan finds a region's blocks, and what follows it: -1 for the end.
func (r *regions) plan(x *region) {
	g := r.g
	x.blocks = []int{x.first}
	if r.alike != nil && !r.watched() && r.vote(x) == nil && r.alike.Once(x.first) {
		x.once = true
		for _, n := range g.Blocks[x.first].Next {
			x.next[r.numbered(n, false)] = true
		}
		return
	}
	seen := map[int]bool{x.first: true}
	for todo := []int{x.first}; len(todo) > 0; {
		k := todo[0]
		todo = todo[1:]
		b := g.Blocks[k]
		if r.mayEnd(k) {
			x.next[-1] = true
		}
		next := b.Next
		if i := r.wait(b); i != nil {
			x.next[r.numbered(k+1, true)] = true
			if i.Guard == "" {
				continue
			}
		}
		for _, n := range next {
			if !seen[n] {
				seen[n] = true
				todo = append(todo, n)
			}
		}
	}
	for k := range g.Blocks {
		if seen[k] && k != x.first {
			x.blocks = append(x.blocks, k)
		}
	}
}

// wait is the barrier that a block ends with; nil if there is none.
func (r *regions) wait(b *flow.Block) *ptx.Instruction {
	if n := len(b.List); n > 0 && waits(b.List[n-1]) {
		return b.List[n-1]
	}
	return nil
}

// alone reports whether a function's threads wait for no other but at barriers between regions. r
// is the kernel's; nil in functions that it calls, which may have none.
func (t *translator) alone(f *ptx.Function, r *regions) bool {
	alone := true
	eachStatement(f.Body, func(s ptx.Statement) {
		i, ok := s.(*ptx.Instruction)
		if !ok || !alone {
			return
		}
		switch i.Op {
		case "bar", "barrier":
			alone = r != nil && waits(i) && !t.numbered && !slices.Contains(i.Mods, "arrive") && !slices.Contains(i.Mods, "cluster")
		case "shfl", "vote", "match", "redux", "activemask", "elect", "mapa", "getctarank", "mbarrier", "nanosleep", "wmma", "mma", "ldmatrix", "stmatrix", "movmatrix", "wgmma":
			alone = false
		case "trap":
			if r != nil {
				r.asks = true
			}
		case "call":
			if r != nil {
				r.asks = true
			}
			alone = t.callsAlone(i)
		}
		eachName(i, func(n string) {
			alone = alone && !strings.HasPrefix(n, "%envreg") && !strings.HasPrefix(n, "%cluster") // a barrier of the grid
		})
		alone = alone && !t.slow[i]
	})
	return alone
}

func (t *translator) callsAlone(i *ptx.Instruction) bool {
	to := i.Operands
	if len(to) > 0 && to[0].Kind == ptx.List {
		to = to[1:]
	}
	if len(to) == 0 {
		return false
	}
	name := to[0].Text
	s := t.symbols[name]
	if known[name] != "" {
		return true
	}
	if s.function == nil || s.function.Declared {
		return false
	}
	if done, ok := t.loners[name]; ok {
		return done
	}
	t.loners[name] = true // who calls itself is judged by the rest
	g := flow.Of(s.function, func(*ptx.Instruction) bool { return false })
	t.loners[name] = !g.Spins() && t.alone(s.function, nil)
	return t.loners[name]
}

// mayEnd reports whether a thread may end in a block.
func (r *regions) mayEnd(k int) bool {
	b := r.g.Blocks[k]
	ends := b.Falls && k+1 == len(r.g.Blocks)
	for _, i := range b.List {
		ends = ends || i.Op == "ret" || i.Op == "exit"
	}
	return ends
}

func (r *regions) name() string { return id(r.f.Name) + "_whole" }

// one reports whether a register has one value for all threads.
func (r *regions) one(reg string) bool { return r.alike != nil && r.alike.Same(reg) }

// whole writes the function that runs a block; false says that there is no room for what its
// threads keep.
func (r *regions) whole() {
	g, f := r.g, r.f
	r.within, r.place = true, 0
	var params []string
	for _, p := range f.Params {
		params = append(params, storage(p)+" "+id(p.Name))
	}
	r.emit("__gocuda_whole__ bool %s(%s) {", r.name(), strings.Join(append([]string{"const gocuda::Index &gocuda_index"}, params...), ", "))
	bytes := 4
	for _, v := range g.Vars {
		if v.Space == "local" {
			bytes += roundUp(size(v), 16)
		}
	}
	var kept []string
	for _, reg := range g.Registers() {
		if r.kept[reg] {
			kept = append(kept, reg)
			if !r.one(reg) {
				bytes += max(g.Types[reg].Bits(), 8) / 8
			}
		}
	}
	r.emit("GOCUDA_REGIONS(%d);", bytes)
	array := func(y, name string) {
		r.emit("%s *const k%s = (%[1]s *)__builtin_alloca_with_align(sizeof(%[1]s) * go_n, 256);", y, id(name))
	}
	for _, reg := range kept {
		if h := held(g.Types[reg]); r.one(reg) {
			r.emit("%s k%s = 0, n%[2]s = 0;", h, id(reg))
		} else {
			array(h, reg)
		}
	}
	for _, v := range g.Vars {
		if v.Space == "local" {
			array(storage(v), v.Name)
		}
	}
	switch {
	case r.alike == nil:
		r.emit("GOCUDA_APART(%d);", len(r.list))
	case r.parts:
		r.emit("GOCUDA_ENDS;")
	}
	for n, x := range r.list {
		r.within = false
		r.emit("")
		r.within, r.place = true, 0
		r.emit("go_region%d: {", n)
		if x.once {
			r.once(x)
		} else {
			r.region(n, x)
		}
		r.emit("}")
	}
	if r.alike == nil {
		r.emit("go_on: switch (go_where.next) {")
		for n := range r.list {
			r.emit("case %d: goto go_region%d;", n, n)
		}
		r.emit("}")
	}
	r.within = false
	r.emit("return true;\n}")
}

// instructions are those of a region.
func (r *regions) instructions(x *region) (list []*ptx.Instruction) {
	for _, k := range x.blocks {
		list = append(list, r.g.Blocks[k].List...)
	}
	return list
}

// lives are the registers that live at a region's start and are read there, or written by some
// threads: those that were kept, and how the others are computed again.
func (r *regions) lives(n int, x *region) (restored []string, again []*ptx.Instruction) {
	reads := map[string]bool{}
	for _, i := range r.instructions(x) {
		for _, m := range append(flow.Read(i), flow.Written(i)...) {
			reads[m] = true
		}
	}
	if i := r.vote(x); i != nil {
		reads[i.Operands[0].Text] = true
		reads[i.Guard] = true
	}
	begun := map[*ptx.Instruction]bool{}
	for _, reg := range r.g.LiveIn(r.g.Blocks[x.first]) {
		switch {
		case n == 0 || !reads[reg]:
		case r.kept[reg]:
			restored = append(restored, reg)
		default:
			steps, _ := r.g.Cheap(reg, mostSteps)
			for _, i := range steps {
				if !begun[i] {
					begun[i] = true
					again = append(again, i)
				}
			}
		}
	}
	return restored, again
}

// registers declares a region's registers, and gives them the values that they have at its start:
// kept ones, or computed again. It gives those that the region changes.
func (r *regions) registers(n int, x *region, l *lanes) (changed map[string]bool) {
	g := r.g
	list := r.instructions(x)
	used := map[string]bool{}
	changed = map[string]bool{}
	for _, i := range list {
		for _, m := range flow.Written(i) {
			changed[m] = true
		}
	}
	if i := r.vote(x); i != nil {
		changed[i.Operands[0].Text] = true
	}
	restored, again := r.lives(n, x)
	for _, i := range append(slices.Clone(list), again...) {
		for _, m := range append(flow.Read(i), flow.Written(i)...) {
			used[m] = true
		}
	}
	if i := r.vote(x); i != nil {
		used[i.Operands[0].Text] = true
		used[i.Guard] = true
	}
	for _, reg := range g.Registers() {
		if used[reg] {
			r.emit("%s %s = 0;", held(g.Types[reg]), id(reg))
		}
	}
	for _, v := range g.Vars {
		switch {
		case !used[v.Name]:
		case v.Space == "local":
			r.emit("auto &%s = k%[1]s[go_t];", id(v.Name))
		default:
			r.emit("%s %s{};", storage(v), id(v.Name))
		}
	}
	r.emit("bool gocuda_carry = false;")
	if l != nil {
		r.emit("if (go_wide && !(go_x %% %d) && go_x + %[1]d <= go_dim_x%[2]s) {", strip, map[bool]string{true: " && !go_apart"}[len(l.leaving) > 0])
		l.write(changed)
		r.emit("}")
		r.place = 0 // what follows says again where it is from
		l.restore()
	}
	for _, reg := range restored {
		if r.one(reg) {
			r.emit("%s = k%[1]s;", id(reg))
		} else {
			r.emit("%s = gocuda::kept(k%[1]s + go_t);", id(reg))
		}
	}
	for _, i := range again {
		r.instruction(i)
	}
	return changed
}

// once writes a region that is run once for all threads.
func (r *regions) once(x *region) {
	n := r.number[[2]int{x.first, map[bool]int{true: 1}[x.barrier]}]
	changed := r.registers(n, x, nil)
	b := r.g.Blocks[x.first]
	var branch *ptx.Instruction
	for _, i := range b.List {
		if p := r.g.Place(i); p != nil {
			r.body.at(p)
		}
		if i.Op == "bra" {
			branch = i
		} else {
			r.guarded(i)
		}
	}
	for _, reg := range r.g.Registers() {
		if changed[reg] && r.kept[reg] {
			r.emit("k%s = %[1]s;", id(reg))
		}
	}
	if branch != nil {
		if branch.Guard != "" {
			r.emit("if (%s%s)", map[bool]string{true: "!"}[branch.Not], id(branch.Guard))
		}
		r.emit("goto go_region%d;", r.number[[2]int{b.Next[len(b.Next)-1], 0}])
	}
	if b.Falls {
		r.emit("goto go_region%d;", r.number[[2]int{x.first + 1, 0}])
	}
}

// region writes a loop over the threads, and the barrier that ends it.
func (r *regions) region(n int, x *region) {
	g := r.g
	end := len(r.list)
	if x.barrier && r.votes {
		r.emit("const gocuda_u32 go_votes = go_voted, go_met = go_came;")
	}
	if r.votes {
		r.emit("gocuda_u32 go_voting = 0;")
	}
	if r.alike == nil {
		r.emit("gocuda_u64 go_seen = 0; const bool go_split = go_where.split;")
	} else if x.several {
		r.emit("gocuda_u32 go_which = 0;")
	}
	l := x.lanes
	if l == nil {
		r.emit("GOCUDA_THREADS {")
	} else {
		l.begin()
	}
	switch {
	case n == 0:
	case r.alike == nil:
		r.emit("if (go_split && gocuda::kept(go_where_at + go_t) != %d) continue;", n)
	case r.parts:
		r.emit("if (go_live != go_n && gocuda::kept(go_gone + go_t)) { %scontinue; }", map[bool]string{true: "go_x++, go_t++; "}[l != nil])
	}
	r.emit("GOCUDA_THREAD; GOCUDA_TOLD;")
	if r.asks {
		r.emit("GOCUDA_ASKED;")
	}
	changed := r.registers(n, x, l)
	if i := r.vote(x); i != nil {
		r.voted(i)
	}
	labels := map[string]string{}
	for _, k := range x.blocks {
		if l := g.Blocks[k].Label; l != "" {
			labels[l] = fmt.Sprintf("L%d_%s", n, id(l))
		}
	}
	r.scopes = []map[string]string{labels}
	for at, k := range x.blocks {
		b := g.Blocks[k]
		r.emit("B%d_%d:;", n, k)
		if b.Label != "" {
			r.emit("%s:;", labels[b.Label])
		}
		for at, i := range b.List {
			if p := g.Place(i); p != nil {
				r.body.at(p)
			}
			if l != nil {
				l.enter(k, at)
			}
			r.countStretch(i)
			r.step(n, x, i, k, changed)
		}
		switch i := r.wait(b); {
		case !b.Falls || i != nil && i.Guard == "":
		case k+1 == len(g.Blocks):
			r.leave(n, x, end)
		case at+1 == len(x.blocks) || x.blocks[at+1] != k+1:
			r.emit("goto B%d_%d;", n, k+1)
		}
	}
	r.emit("go_next%d:;", n)
	if l != nil {
		r.emit("go_x++, go_t++;")
	}
	r.emit("}")
	only := -1
	for to := range x.next {
		if !x.several {
			only = to
		}
	}
	for _, reg := range g.Registers() {
		if changed[reg] && r.kept[reg] && r.one(reg) && only != end {
			r.emit("k%s = n%[1]s;", id(reg))
		}
	}
	if r.alike == nil {
		if r.votes {
			r.emit("go_where.voting += go_voting;")
		}
		switch only {
		case -1:
		case end:
			r.emit("if (!go_split) return true;")
		default:
			r.emit("if (!go_split) { gocuda::meet(go_where); GOCUDA_VOTED; goto go_region%d; }", only)
		}
		r.emit("if (gocuda::settle(go_where, go_seen)) return true; GOCUDA_VOTED; goto go_on;")
		return
	}
	if only == end {
		r.emit("return true;")
		return
	}
	if x.next[end] {
		r.emit("if (!go_live) return true;")
	}
	r.emit("GOCUDA_MEET;")
	if r.votes {
		r.emit("go_voted = go_voting, go_came = go_live;")
	}
	if only >= 0 {
		r.emit("goto go_region%d;", only)
		return
	}
	r.emit("switch (go_which) {")
	for to := range end {
		if x.next[to] {
			r.emit("case %d: goto go_region%d;", to, to)
		}
	}
	r.emit("}")
}

// vote is the barrier with a vote that a region follows.
func (r *regions) vote(x *region) *ptx.Instruction {
	if !x.barrier {
		return nil
	}
	if i := r.wait(r.g.Blocks[x.first-1]); slices.Contains(i.Mods, "red") {
		return i
	}
	return nil
}

// voted writes a thread's result of a vote.
func (r *regions) voted(i *ptx.Instruction) {
	if i.Guard != "" { // who did not come has no result
		r.emit("if (%s%s) {", map[bool]string{true: "!"}[i.Not], id(i.Guard))
	}
	y := partsOf(i).types
	text := "go_votes"
	switch {
	case slices.Contains(i.Mods, "and"):
		text = "(go_votes == go_met)"
	case slices.Contains(i.Mods, "or"):
		text = "(go_votes != 0)"
	}
	r.write(i.Operands[0], y[len(y)-1], text)
	if i.Guard != "" {
		r.emit("}")
	}
}

// leave ends a thread's part in a region: it goes on in another, or not at all.
func (r *regions) leave(n int, x *region, to int) {
	switch end := len(r.list); {
	case r.alike == nil:
		r.emit("gocuda::keep(go_where_to + go_t, (gocuda_u8)%d); go_seen |= 1ul << %[1]d;", to)
	case x.several && to == end:
		r.emit("GOCUDA_GOES;")
	case x.several:
		r.emit("go_which = %d;", to)
	}
	r.emit("goto go_next%d;", n)
}

// step writes an instruction of a block.
func (r *regions) step(n int, x *region, i *ptx.Instruction, k int, changed map[string]bool) {
	ends := i.Op == "ret" || i.Op == "exit"
	if !waits(i) && !ends {
		r.guarded(i)
		return
	}
	if i.Guard != "" {
		r.emit("if (%s%s) {", map[bool]string{true: "!"}[i.Not], id(i.Guard))
	}
	if ends {
		r.leave(n, x, len(r.list))
	} else {
		if r.observed {
			r.emit("gocuda::order_at(%d, %d);", r.place, r.barrierNumber(i))
		}
		for _, reg := range r.g.LiveIn(r.g.Blocks[k+1]) {
			switch {
			case !r.kept[reg] || !changed[reg]:
			case r.one(reg):
				r.emit("n%s = %[1]s;", id(reg))
			default:
				r.emit("gocuda::keep(k%s + go_t, %[1]s);", id(reg))
			}
		}
		if slices.Contains(i.Mods, "red") {
			r.emit("go_voting += %s ? 1 : 0;", r.read(i.Operands[len(i.Operands)-1], "pred"))
		}
		r.leave(n, x, r.number[[2]int{k + 1, 1}])
	}
	if i.Guard != "" {
		r.emit("}")
	}
}

// special is the value of a special register; "" if simulated devices do not have it.
func (b *body) special(name string) string {
	text := indices[name] + specials[name]
	if b.looped {
		text = looped.Replace(text)
	}
	return text
}

// looped is what a thread in a loop need not ask for.
var looped = strings.NewReplacer("gocuda::lane()", "((gocuda_u32)go_t % 32)", "gocuda::load(gocuda::self()->rank)", "(gocuda_u32)go_t")
