package cpp

import (
	"slices"
	"strings"

	"gocuda/cudaapi/ptx"
	"gocuda/cudaapi/ptx/flow"
)

// A region's loop takes eight threads at a time, whose numbers in x follow each other: as lanes of
// the CPU's vectors, each instruction for all before the next, as a warp does. What is the same
// for the eight is computed once. So are numbers that grow evenly from lane to lane, such as most
// addresses, of which one check is enough, of the first and the last. Where the lanes part, or an
// index wraps, the eight go on one after another in the loop for single threads.

// strip is how many threads go together.
const strip = 8

// How many instructions of a region, and of a module, are written for lanes at most: compilation
// takes its time with them.
const mostInStrips, mostStrips = 600, 2500

// even says how a register differs from lane to lane: by how much it grows; or anyhow.
type even struct {
	by    int64
	mixed bool
}

func (e even) same() bool { return e == even{} }

// place is an instruction by its block and its number there.
type place struct{ block, at int }

// lanes are a region written so.
type lanes struct {
	*regions
	n       int
	x       *region
	again   []*ptx.Instruction
	evens   map[string]even
	written map[string]bool // registers that the region writes
	leaving []place         // where lanes may go on one by one
	saved   []string        // the registers that live there
}

// inLanes plans a region; nil if it is not worth it, or cannot be written so.
func (r *regions) inLanes(n int, x *region) *lanes {
	if !r.wide || r.asks || r.votes || r.alike == nil || x.once || len(r.instructions(x)) > mostInStrips || len(r.g.Vars) > 0 {
		return nil
	}
	if r.strips > mostStrips {
		return nil
	}
	l := &lanes{regions: r, n: n, x: x, evens: map[string]even{}, written: map[string]bool{}}
	list := r.instructions(x)
	live, again := r.lives(n, x)
	l.again = again
	for _, reg := range live {
		l.evens[reg] = even{mixed: !r.one(reg)}
	}
	all := append(slices.Clone(l.again), list...)
	for _, i := range all {
		for _, d := range flow.Written(i) {
			l.written[d] = true
		}
	}
	for again := true; again; {
		again = false
		for _, i := range all {
			if l.spread(i) {
				again = true
			}
		}
	}
	if slices.ContainsFunc(all, func(i *ptx.Instruction) bool { return !l.knows(i) }) || !l.pays(all) {
		return nil
	}
	r.strips += len(all)
	names, used := map[string]bool{}, map[string]bool{}
	for _, i := range all {
		for _, m := range append(flow.Read(i), flow.Written(i)...) {
			used[m] = true
		}
	}
	for _, k := range x.blocks {
		for at, i := range r.g.Blocks[k].List {
			if !l.mayPart(i) {
				continue
			}
			l.leaving = append(l.leaving, place{k, at})
			for _, reg := range r.g.LiveBefore(r.g.Blocks[k], at) {
				names[reg] = true
			}
		}
	}
	for _, reg := range r.g.Registers() {
		if names[reg] && used[reg] { // what passes by is kept already
			l.saved = append(l.saved, reg)
		}
	}
	return l
}

// pays reports whether the region is worth it: whether most of it goes as vectors, and no branch
// is likely to part the lanes.
func (l *lanes) pays(all []*ptx.Instruction) bool {
	good, bad := 0, 0
	loaded := map[string]bool{} // what depends on memory
	for n := -1; n != len(loaded); {
		n = len(loaded)
		for _, i := range all {
			w := flow.Written(i)
			from := i.Op == "atom" || i.Op == "ld" && len(w) > 0 && l.evens[w[0]].mixed
			if from || slices.ContainsFunc(flow.Read(i), func(m string) bool { return loaded[m] && l.evens[m].mixed }) {
				for _, d := range w {
					loaded[d] = true
				}
			}
		}
	}
	for _, i := range all {
		w := flow.Written(i)
		switch {
		case i.Op == "ld" && slices.Contains(i.Mods, "param"):
		case i.Op == "atom" || i.Op == "red" || (i.Op == "ld" || i.Op == "st") && l.address(i).mixed:
			bad += 3
		case i.Op == "ld" || i.Op == "st":
			good += 4
		case len(w) == 0 || l.g.Types[w[0]] == "" || !l.evens[w[0]].mixed:
		default:
			if _, _, ok := l.expression(i); ok {
				good++
			} else {
				bad += 2
			}
		}
	}
	for _, k := range l.x.blocks {
		b := l.g.Blocks[k]
		if len(b.List) == 0 {
			continue
		}
		if i := b.List[len(b.List)-1]; flow.Leaves(i) && loaded[i.Guard] && l.evens[i.Guard].mixed {
			rare := b.Falls && k+1 < len(l.g.Blocks) && len(l.g.Blocks[k+1].List) <= 2 // as of a logarithm's arguments
			if !rare || slices.ContainsFunc(l.g.Blocks[k+1].List, func(i *ptx.Instruction) bool { return i.Op == "ld" || i.Op == "st" || i.Op == "red" || i.Op == "atom" }) {
				return false
			}
		}
	}
	return good > bad
}

// of is how an operand differs. known: it is told already.
func (l *lanes) of(o ptx.Operand) (e even, known bool) {
	switch {
	case o.Kind == ptx.Literal:
		return even{}, true
	case o.Parts != nil:
		for _, p := range o.Parts {
			if e, known := l.of(p); !known || !e.same() {
				return even{mixed: true}, known
			}
		}
		return even{}, true
	case o.Text == "%tid.x" || o.Text == "%laneid":
		return even{by: 1}, true
	case o.Text == "":
		return even{}, true
	case strings.HasPrefix(o.Text, "%lanemask") || strings.HasPrefix(o.Text, "%clock") || strings.HasPrefix(o.Text, "%globaltimer"):
		return even{mixed: true}, true
	case l.g.Types[o.Text] == "":
		return even{}, true
	}
	e, known = l.evens[o.Text]
	if !known && !l.written[o.Text] {
		return even{}, true
	}
	return e, known
}

// tells reports whether the region reads a special register.
func (l *lanes) tells(name string) bool {
	return slices.ContainsFunc(append(l.instructions(l.x), l.again...), func(i *ptx.Instruction) bool { return slices.Contains(flow.Read(i), name) })
}

// spread notes how an instruction's results differ. It reports whether that is new.
func (l *lanes) spread(i *ptx.Instruction) (changed bool) {
	e, known := l.result(i)
	if !known {
		return false
	}
	if i.Guard != "" && l.evens[i.Guard].mixed {
		e = even{mixed: true}
	}
	for _, d := range flow.Written(i) {
		if l.g.Types[d] == "" {
			continue
		}
		old, had := l.evens[d]
		if had && old != e {
			e = even{mixed: true}
		}
		if !had || old != e {
			l.evens[d], changed = e, true
		}
	}
	return changed
}

// result is how an instruction's result differs.
func (l *lanes) result(i *ptx.Instruction) (e even, known bool) {
	mixed := even{mixed: true}
	if len(i.Operands) == 0 {
		return even{}, true
	}
	if i.Op == "atom" {
		return mixed, true
	}
	var list []even
	same := true
	for _, o := range i.Operands[1:] {
		e, known := l.of(o)
		if !known {
			return mixed, false
		}
		same = same && e.same()
		list = append(list, e)
	}
	p := partsOf(i)
	switch {
	case same:
		return even{}, true
	case slices.ContainsFunc(list, func(e even) bool { return e.mixed }) || len(p.types) == 0 || p.cc || p.sat:
		return mixed, true
	}
	y, word := p.types[0], ""
	if len(p.words) > 0 {
		word = p.words[0]
	}
	if _, pair := halves(y); pair || y.Float() || y == "pred" || y.Bits() < 32 || y.Bits() > 64 || i.Operands[0].Kind != ptx.Name || l.g.Types[i.Operands[0].Text].Float() {
		return mixed, true // mov.b64 may give a number with a fraction the bits of another
	}
	times := func(a, b int) (int64, bool) {
		for _, k := range [][2]int{{a, b}, {b, a}} {
			if o := i.Operands[k[1]+1]; o.Kind == ptx.Literal {
				if n, ok := literal(o); ok && n > -1<<20 && n < 1<<20 {
					return list[k[0]].by * n, true
				}
			}
		}
		return 0, list[a].same() && list[b].same()
	}
	by, ok := int64(0), false
	switch i.Op {
	case "mov":
		by, ok = list[0].by, true
	case "add":
		by, ok = list[0].by+list[1].by, true
	case "sub":
		by, ok = list[0].by-list[1].by, true
	case "mul", "mad":
		if word != "lo" && word != "wide" {
			break
		}
		by, ok = times(0, 1)
		if i.Op == "mad" {
			by += list[2].by
		}
	case "shl":
		if n, literal := literal(i.Operands[2]); literal && n >= 0 && n < 20 {
			by, ok = list[0].by<<n, true
		}
	case "cvt":
		if len(p.types) == 2 && !p.types[1].Float() && p.types[1].Bits() >= 32 && p.round == "" && word == "" {
			by, ok = list[0].by, true
		}
	case "cvta":
		if word == "global" || word == "to" && len(p.words) > 1 && p.words[1] == "global" {
			by, ok = list[0].by, true
		}
	}
	if !ok || by > 1<<24 || by < -1<<24 {
		return mixed, true
	}
	return even{by: by}, true
}

func literal(o ptx.Operand) (int64, bool) {
	if o.Kind != ptx.Literal {
		return 0, false
	}
	text, negative := strings.CutPrefix(o.Text, "-")
	bits, float, err := ptx.Number(text)
	if err != nil || float {
		return 0, false
	}
	if negative {
		return -int64(bits), true
	}
	return int64(bits), true
}

// widens reports whether an instruction takes an even number of 32 bits for one of 64, which is
// right where it does not wrap.
func (l *lanes) widens(i *ptx.Instruction) (by int64, signed, ok bool) {
	p := partsOf(i)
	wide := slices.Contains(p.words, "wide")
	if !wide && (i.Op != "cvt" || len(p.types) != 2 || p.types[0].Bits() != 64 || p.types[1].Bits() != 32) {
		return 0, false, false
	}
	d, _ := l.result(i)
	e, _ := l.of(i.Operands[1])
	if d.mixed || e.same() && !wide {
		return 0, false, false
	}
	if f, _ := l.of(i.Operands[2%len(i.Operands)]); wide && e.same() && !f.same() {
		return 0, false, false // the literal comes first: see knows
	}
	return e.by, p.types[len(p.types)-1].Signed(), !e.same()
}

// address is how the address of an access differs.
func (l *lanes) address(i *ptx.Instruction) even {
	k := 1
	if i.Op == "st" || i.Op == "red" {
		k = 0
	}
	e, _ := l.of(ptx.Operand{Kind: ptx.Name, Text: i.Operands[k].Text})
	return e
}

// mayPart reports whether lanes may go on one by one before an instruction.
func (l *lanes) mayPart(i *ptx.Instruction) bool {
	if flow.Leaves(i) {
		return l.evens[i.Guard].mixed
	}
	_, _, wraps := l.widens(i)
	return wraps
}

// knows reports whether an instruction can be written for lanes.
func (l *lanes) knows(i *ptx.Instruction) bool {
	for _, m := range append(flow.Read(i), flow.Written(i)...) {
		y := l.g.Types[m]
		if y != "" && l.evens[m].mixed && y != "pred" && y.Bits() != 32 && y.Bits() != 64 {
			return false
		}
		if strings.HasPrefix(m, "%lanemask") || strings.HasPrefix(m, "%clock") || strings.HasPrefix(m, "%globaltimer") {
			return false
		}
		if m == "%tid.x" || m == "%laneid" {
			if e, _ := l.result(i); e.mixed || i.Guard != "" {
				return false
			}
		}
	}
	for _, d := range flow.Written(i) {
		if l.g.Types[d] == "" || l.one(d) && !l.evens[d].same() {
			return false // a part of a register, ...
		}
		if e, _ := l.result(i); l.evens[d].mixed && (e.by != 0 && i.Guard != "") {
			return false
		}
	}
	p := partsOf(i)
	wide := slices.Contains(p.words, "wide")
	if e, _ := l.result(i); wide && !e.mixed && !e.same() && i.Operands[1].Kind == ptx.Literal {
		return false
	}
	switch i.Op {
	case "brx":
		e, _ := l.of(i.Operands[0])
		return e.same() && !l.evens[i.Guard].mixed
	case "bar", "barrier":
		return !l.evens[i.Guard].mixed
	case "addc", "subc", "madc", "tex", "tld4", "suld", "sust", "txq", "suq", "cp", "call", "trap", "isspacep":
		return false
	}
	return !p.cc
}

// anyLanes reports whether a region is written for lanes.
func (r *regions) anyLanes() bool {
	return slices.ContainsFunc(r.list, func(x *region) bool { return x.lanes != nil })
}
