package instrument

import (
	"regexp"
	"slices"
	"strings"
)

// Of most kernels, which memory they touch depends on their arguments and on the numbers
// of their threads alone, not on what is in memory. Such a kernel has an outline: what
// remains when all is left out but the reckoning of addresses, and of what leads to them.
// An outline reads and writes nothing of the program's, so it can run at any time, once
// for all launches with the same arguments, and the program's kernel runs as it is.

// origin is what a value is reckoned from: a bit for each parameter, and these.
type origin uint64

const (
	unsteady origin = 1 << 63 // memory, a clock, or else what differs from run to run
	table    origin = 1 << 62 // the address of one of the compiler's own tables
	params          = 62      // beyond that many, parameters are told from memory no more
)

// steadySpecial are the special registers that depend on the launch alone.
var steadySpecial = regexp.MustCompile(`^%(n?tid|n?ctaid|laneid|lanemask_\w+|n?clusterid|cluster_n?ctaid|cluster_n?ctarank|is_explicit_cluster|dynamic_smem_size|total_smem_size)$`)

// plain are the instructions whose result depends on their operands alone.
var plain = []string{"add", "sub", "mul", "mad", "mul24", "mad24", "sad", "div", "rem", "abs", "neg", "min", "max", "popc", "clz", "bfind", "fns", "brev", "bfe", "bfi", "szext", "bmsk",
	"dp4a", "dp2a", "fma", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "testp", "copysign", "set", "setp", "selp", "slct", "and", "or", "xor", "not", "cnot", "lop3", "shl", "shr", "shf",
	"mov", "prmt", "cvt", "cvta", "isspacep"}

var (
	registers   = regexp.MustCompile(`%[\w$]+`)
	declaration = regexp.MustCompile(`(%[\w$]+)(<\d+>)?`)
)

// instr is an instruction of a function.
type instr struct {
	guard, code, operands string // the guard without its ! and @
	parts                 []string
	def, use              []string // registers
	from                  origin   // besides the registers'
	to                    string   // a branch's label
	block                 int
}

// ends reports whether an instruction ends a block, and whether control may go on after
// it.
func (i *instr) ends() (ends, goesOn bool) {
	switch i.parts[0] {
	case "bra", "ret", "exit", "trap", "brx":
		return true, i.guard != "" && i.parts[0] != "brx"
	}
	return false, true
}

// outline is what is known of a function.
type outline struct {
	body   []item
	code   map[int]*instr // by item
	blocks []block
	of     map[string]origin // registers
	labels map[string]int    // blocks
}

// block is a stretch of instructions without a jump.
type block struct {
	first  int // item
	next   []int
	last   *instr // if it branches on a guard
	meets  int    // the block where all ways from here meet again, -1 if there is none
	within []int  // blocks between here and there
	under  origin // what decides whether it runs
}

// analyse finds what the registers of a function are reckoned from. parameters are a
// kernel's; variables are the module's. It gives nil for what cannot be followed.
func analyse(body []item, parameters []string, variables map[string]bool) *outline {
	o := &outline{body: body, code: map[int]*instr{}, of: map[string]origin{}, labels: map[string]int{}}
	var named []string // registers that are declared, and how those begin that are numbered
	var begin []string
	for _, it := range body {
		if it.kind == instruction && strings.HasPrefix(it.text, ".reg") {
			for _, d := range declaration.FindAllStringSubmatch(it.text, -1) {
				if d[2] != "" {
					begin = append(begin, d[1])
				} else {
					named = append(named, d[1])
				}
			}
		}
	}
	declared := func(r string) bool {
		return slices.Contains(named, r) || slices.ContainsFunc(begin, func(b string) bool {
			return len(r) > len(b) && strings.HasPrefix(r, b) && strings.Trim(r[len(b):], "0123456789") == ""
		})
	}
	// Blocks, and what each instruction is.
	fresh := true
	for k, it := range body {
		switch {
		case it.kind == labelled:
			if !fresh {
				o.blocks = append(o.blocks, block{first: k})
			} else if len(o.blocks) == 0 {
				o.blocks = append(o.blocks, block{first: k})
			}
			fresh = true
			o.labels[it.text] = len(o.blocks) - 1
			continue
		case it.kind != instruction || strings.HasPrefix(it.text, "."):
			continue
		}
		if len(o.blocks) == 0 {
			o.blocks = append(o.blocks, block{first: k})
		}
		i := decode(it.text, parameters, variables)
		if i.parts[0] == "brx" {
			return nil
		}
		for _, r := range i.use {
			if !declared(r) && !steadySpecial.MatchString(r) {
				i.from |= unsteady
			}
		}
		i.block = len(o.blocks) - 1
		o.code[k] = i
		fresh = false
		if ends, _ := i.ends(); ends {
			o.blocks = append(o.blocks, block{first: k + 1})
			fresh = true
		}
	}
	if !o.link() {
		return nil
	}
	o.follow()
	return o
}

// decode takes an instruction apart.
func decode(text string, parameters []string, variables map[string]bool) *instr {
	i := &instr{}
	if g := guarded.FindStringSubmatch(text); g != nil {
		i.guard, text = g[2], text[len(g[0]):]
	}
	i.code, i.operands, _ = strings.Cut(strings.Map(space, text), " ")
	i.operands = strings.TrimSpace(i.operands)
	i.parts = strings.Split(i.code, ".")
	first := firstOperand(i.operands)
	rest := i.operands[len(first):]
	for _, n := range name.FindAllString(i.operands, -1) {
		if variables[n] && strings.HasPrefix(n, "__cudart_") {
			i.from |= table
		}
	}
	switch {
	case i.parts[0] == "bra":
		i.to = i.operands
	case i.parts[0] == "call":
		i.def, i.from = registers.FindAllString(first, -1), unsteady
		if !strings.HasPrefix(first, "(") {
			i.def = nil
		}
	case strings.HasPrefix(first, "["): // it writes no register
		i.use = registers.FindAllString(i.operands, -1)
	case i.parts[0] == "ld" && slices.Contains(i.parts, "param"):
		i.def = registers.FindAllString(first, -1)
		at := operand.FindStringSubmatch(rest)
		k := -1
		if at != nil {
			k = slices.Index(parameters, strings.TrimSpace(strings.Split(at[1], "+")[0]))
		}
		switch {
		case k >= 0 && k < params:
			i.from = 1 << k
		default:
			i.from = unsteady
		}
	default:
		i.def, i.use = registers.FindAllString(first, -1), registers.FindAllString(rest, -1)
		if !slices.Contains(plain, i.parts[0]) || slices.Contains(i.parts, "cc") {
			i.from |= unsteady
		}
	}
	if i.guard != "" {
		i.use = append(i.use, i.guard)
	}
	return i
}

// firstOperand is a list of operands up to the first comma outside of brackets.
func firstOperand(list string) string {
	depth := 0
	for k, c := range list {
		switch c {
		case '{', '(', '[':
			depth++
		case '}', ')', ']':
			depth--
		case ',':
			if depth == 0 {
				return list[:k]
			}
		}
	}
	return list
}

// link finds which block follows which, and where ways meet again. It reports false if a
// jump leads where no label is.
func (o *outline) link() bool {
	exit := len(o.blocks)
	for k := range o.blocks {
		o.blocks[k].next = []int{min(k+1, exit)}
	}
	for _, i := range o.code {
		ends, goesOn := i.ends()
		if !ends {
			continue
		}
		b := &o.blocks[i.block]
		b.next = nil
		if goesOn {
			b.next = []int{min(i.block+1, exit)}
			b.last = i
		}
		to := exit
		if i.parts[0] == "bra" {
			var ok bool
			if to, ok = o.labels[i.to]; !ok {
				return false
			}
		}
		b.next = append(b.next, to)
	}
	o.meet(exit)
	for k := range o.blocks {
		b := &o.blocks[k]
		if b.last == nil {
			continue
		}
		seen := map[int]bool{b.meets: true, exit: true}
		var visit func(int)
		visit = func(n int) {
			if seen[n] {
				return
			}
			seen[n] = true
			b.within = append(b.within, n)
			for _, m := range o.blocks[n].next {
				visit(m)
			}
		}
		for _, n := range b.next {
			visit(n)
		}
	}
	return true
}

// meet finds each block's immediate postdominator (Cooper, Harvey and Kennedy, A simple,
// fast dominance algorithm, on the graph turned round).
func (o *outline) meet(exit int) {
	before := make([][]int, exit+1)
	for k, b := range o.blocks {
		for _, n := range b.next {
			before[n] = append(before[n], k)
		}
	}
	number := make([]int, exit+1) // in postorder from the exit, from 1 on; 0: no way leads there
	var order []int
	seen := make([]bool, exit+1)
	var visit func(int)
	visit = func(n int) {
		seen[n] = true
		for _, m := range before[n] {
			if !seen[m] {
				visit(m)
			}
		}
		order = append(order, n)
		number[n] = len(order)
	}
	visit(exit)
	to := make([]int, exit+1)
	for k := range to {
		to[k] = -1
	}
	to[exit] = exit
	for again := true; again; {
		again = false
		for k := len(order) - 2; k >= 0; k-- { // all but the exit
			n, best := order[k], -1
			for _, m := range o.blocks[n].next {
				if to[m] < 0 {
					continue
				}
				if best < 0 {
					best = m
					continue
				}
				for a := m; a != best; {
					for number[a] < number[best] {
						a = to[a]
					}
					for number[best] < number[a] {
						best = to[best]
					}
				}
			}
			if to[n] != best {
				to[n], again = best, true
			}
		}
	}
	for k := range o.blocks {
		o.blocks[k].meets = to[k]
	}
}

// follow finds what registers are reckoned from, and what decides which blocks run.
func (o *outline) follow() {
	for again := true; again; {
		again = false
		grow := func(at *origin, by origin) {
			if *at|by != *at {
				*at |= by
				again = true
			}
		}
		for _, i := range o.code {
			from := i.from | o.blocks[i.block].under
			for _, r := range i.use {
				from |= o.of[r]
			}
			for _, r := range i.def {
				was := o.of[r]
				grow(&was, from)
				o.of[r] = was
			}
		}
		for k := range o.blocks {
			b := &o.blocks[k]
			if b.last == nil {
				continue
			}
			by := o.of[b.last.guard] | b.under
			for _, n := range b.within {
				grow(&o.blocks[n].under, by)
			}
		}
	}
}

// decides is what an instruction's guard, and whether it runs at all, are reckoned from.
func (o *outline) decides(i *instr) origin { return o.blocks[i.block].under | o.of[i.guard] }

// address is what the address of an instruction's access is reckoned from.
func (o *outline) address(i *instr, at string) (from origin) {
	for _, r := range registers.FindAllString(at, -1) {
		from |= o.of[r]
	}
	return from | i.from&table
}

// waits reports whether a kernel may wait for what something else writes meanwhile:
// whether what is read in a loop decides when the loop ends.
func (o *outline) waits() bool {
	before := make([][]int, len(o.blocks)+1)
	for k, b := range o.blocks {
		for _, n := range b.next {
			before[n] = append(before[n], k)
		}
	}
	over := o.dominated(before)
	for k, b := range o.blocks {
		for _, h := range b.next {
			if h < len(o.blocks) && over(k, h) && o.ends(loop(k, h, before)) {
				return true
			}
		}
	}
	return false
}

// loop is the blocks of the loop that begins with block h and goes back to it from k.
func loop(k, h int, before [][]int) map[int]bool {
	in := map[int]bool{h: true}
	var visit func(int)
	visit = func(n int) {
		if in[n] {
			return
		}
		in[n] = true
		for _, m := range before[n] {
			visit(m)
		}
	}
	visit(k)
	return in
}

// ends reports whether what a loop reads decides when it ends.
func (o *outline) ends(in map[int]bool) bool {
	read := map[string]bool{} // registers
	under := map[int]bool{}   // blocks
	for again := true; again; {
		again = false
		for _, i := range o.code {
			if !in[i.block] {
				continue
			}
			by := under[i.block] || slices.ContainsFunc(i.use, func(u string) bool { return read[u] })
			switch i.parts[0] {
			case "ld", "ldu", "atom": // of a parameter only what a function gives back
				by = by || i.from&unsteady != 0 && i.from&table == 0
			}
			for _, d := range i.def {
				if by && !read[d] {
					read[d], again = true, true
				}
			}
		}
		for k := range in {
			b := &o.blocks[k]
			if b.last == nil || !read[b.last.guard] {
				continue
			}
			for _, n := range b.within {
				if in[n] && !under[n] {
					under[n], again = true, true
				}
			}
			if slices.ContainsFunc(b.next, func(n int) bool { return !in[n] }) {
				return true
			}
		}
	}
	return false
}

// dominated tells whether all ways to a block lead through another.
func (o *outline) dominated(before [][]int) func(block, by int) bool {
	words := (len(o.blocks) + 63) / 64
	sets := make([][]uint64, len(o.blocks)) // of a block, those that are on all ways to it
	for k := range sets {
		sets[k] = make([]uint64, words)
		for w := range sets[k] {
			sets[k][w] = ^uint64(0)
		}
	}
	if len(sets) > 0 {
		clear(sets[0])
		sets[0][0] = 1
	}
	for again := true; again; {
		again = false
		for k := 1; k < len(sets); k++ {
			for w := range words {
				all := ^uint64(0)
				for _, m := range before[k] {
					all &= sets[m][w]
				}
				if k/64 == w {
					all |= 1 << (k % 64)
				}
				if sets[k][w] != all {
					sets[k][w], again = all, true
				}
			}
		}
	}
	return func(block, by int) bool { return sets[block][by/64]>>(by%64)&1 != 0 }
}
