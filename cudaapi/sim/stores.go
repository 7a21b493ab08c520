package sim

import (
	"bytes"
	"maps"
	"regexp"
	"strconv"
	"strings"
)

var (
	instruction = regexp.MustCompile(`^\s+(?:lock\s+)?([a-z][a-z0-9]*)\s*(.*)$`)
	inMemory    = regexp.MustCompile(`(-?[\w.]*)\((%\w+)?(?:,(%\w+))?(?:,(\d))?\)$`)
	register    = regexp.MustCompile(`%\w+$`)
	onlyRead    = regexp.MustCompile(`^(cmp|test|bt[lqw]?$|push|nop|prefetch|v?u?comis|vptest)`)
	jumpIs      = regexp.MustCompile(`^\s+j([a-z]+)\s+(\S+)`)
	ends        = regexp.MustCompile(`^\s+(rep )?(ret|ud2|hlt)`)
	labelIs     = regexp.MustCompile(`^([\w.$]+):`)
	tableItem   = regexp.MustCompile(`^\s+\.(?:long|quad)\s+(\.L\w+)`)
)

// Registers that a call may change.
var scratch = []string{"%rax", "%rcx", "%rdx", "%rsi", "%rdi", "%r8", "%r9", "%r10", "%r11"}

// sum is a value: one that has a number as its name, and a number more. No value
// has the name 0.
type sum struct{ of, more int }

// sums are the values in registers and in places of the stack.
type sums map[string]sum

// step is what a line of assembly does with values.
type step struct {
	kind   stepKind
	to     []int    // where else it goes on: jumps
	memory *operand // the operand in memory: that is written, or whose address is taken
	slot   string   // the place of the stack that is written
	target string   // the register that is written
	source string   // the register that is copied there
	more   int      // what is added there
}

type stepKind byte

const (
	nothing stepKind = iota
	loadCheck
	storeCheck
	calls
	jumps  // and does not go on after it
	stores // to memory that may be a kernel's data
	spills // to the stack
	sets   // a register
)

// operand is one in memory.
type operand struct {
	text, symbol, base, index string
	more, times               int
}

// stored finds the stores that have no check of their own.
type stored struct {
	steps []step
	fresh int           // the last name
	names map[parts]int // of values that are made of others
}

type parts struct {
	base, index, times int
	symbol             string
}

// changed finds the checks of loads that stand for a store too: the compiler
// leaves out the check of a store to a place that it has just checked a load of.
// From each such check it follows the paths to the stores. To tell that a store's
// place is the check's, values get names as they go through registers, the stack and
// address arithmetic.
func changed(lines [][]byte) map[int]bool {
	s := &stored{steps: read(lines), names: map[parts]int{}}
	// What registers hold at a check: as on one of the paths to it.
	at := map[int]sums{}
	seen := make([]bool, len(s.steps))
	for i := range s.steps {
		s.walk(i, sums{}, seen, func(i int, values sums) bool {
			if s.steps[i].kind == loadCheck {
				at[i] = maps.Clone(values)
			}
			return true
		})
	}
	both := map[int]bool{}
	for i, values := range at {
		place := s.value(values, "%rdi")
		clear(seen)
		s.walk(i, values, seen, func(k int, values sums) bool {
			switch kind := s.steps[k].kind; {
			case kind == stores && s.place(values, s.steps[k].memory) == place:
				both[i] = true
			case kind == storeCheck && s.value(values, "%rdi") == place:
				return false // what comes has its own
			}
			return !both[i]
		})
	}
	return both
}

// walk goes through the steps behind one that can be reached from it, each once, and
// tells visit what values there are before each; not on where visit gives false.
func (s *stored) walk(i int, values sums, seen []bool, visit func(int, sums) bool) {
	type path struct {
		at     int
		values sums
	}
	for paths := []path{{i, values}}; len(paths) > 0; {
		p := paths[len(paths)-1]
		paths = paths[:len(paths)-1]
		for i, values := p.at, p.values; i < len(s.steps) && !seen[i]; i++ {
			seen[i] = true
			if !visit(i, values) {
				break
			}
			for _, to := range s.steps[i].to {
				if !seen[to] {
					paths = append(paths, path{to, maps.Clone(values)})
				}
			}
			if s.steps[i].kind == jumps {
				break
			}
			s.step(values, &s.steps[i])
		}
	}
}

// step does to values what a step does.
func (s *stored) step(values sums, p *step) {
	switch p.kind {
	case loadCheck, storeCheck, calls:
		for _, r := range scratch {
			delete(values, r)
		}
	case spills:
		if p.source == "" {
			delete(values, p.slot)
		} else {
			values[p.slot] = s.value(values, p.source)
		}
	case sets:
		v := sum{}
		switch {
		case p.memory != nil:
			v = s.place(values, p.memory)
		case p.source != "":
			v = s.value(values, p.source)
			v.more += p.more
		}
		if delete(values, p.target); v.of != 0 {
			values[p.target] = v
		}
	}
}

func (s *stored) value(values sums, of string) sum {
	v, ok := values[of]
	if !ok {
		s.fresh++
		v = sum{s.fresh, 0}
		values[of] = v
	}
	return v
}

// place is where an operand in memory is; none for one of the module or the stack.
func (s *stored) place(values sums, a *operand) (at sum) {
	if a.base == "%rip" || a.base == "%rsp" {
		return sum{}
	}
	if a.base != "" {
		at = s.value(values, a.base)
	}
	if at.more += a.more; a.index == "" && a.symbol == "" {
		return at
	}
	of := parts{base: at.of, symbol: a.symbol, times: a.times}
	if a.index != "" {
		v := s.value(values, a.index)
		of.index = v.of
		at.more += v.more * a.times
	}
	if s.names[of] == 0 {
		s.fresh++
		s.names[of] = s.fresh
	}
	return sum{s.names[of], at.more}
}

// read tells what the lines of assembly do with values.
func read(lines [][]byte) []step {
	steps := make([]step, len(lines))
	labels := map[string]int{}
	var tables, indirect []int // of a function: where its tables lead, and jumps by them
	for i, l := range lines {
		if g := labelIs.FindSubmatch(l); g != nil {
			labels[string(g[1])] = i
		}
	}
	for i, l := range lines {
		steps[i] = newStep(l)
		if g := tableItem.FindSubmatch(l); g != nil {
			if to, ok := labels[string(g[1])]; ok {
				tables = append(tables, to)
			}
		} else if g := jumpIs.FindSubmatch(l); g != nil {
			p := step{}
			if string(g[1]) == "mp" {
				p.kind = jumps
			}
			if to, ok := labels[string(g[2])]; ok {
				p.to = []int{to}
			} else if g[2][0] == '*' {
				indirect = append(indirect, i)
			}
			steps[i] = p
		} else if ends.Match(l) {
			steps[i] = step{kind: jumps}
		} else if bytes.HasPrefix(l, []byte("\t.size")) {
			for _, k := range indirect {
				steps[k].to = tables
			}
			steps[i], tables, indirect = step{kind: jumps}, nil, nil
		}
	}
	return steps
}

func newStep(text []byte) (p step) {
	if g := checkCall.FindSubmatch(text); g != nil {
		if p.kind = loadCheck; g[1][0] == 's' {
			p.kind = storeCheck
		}
		return p
	}
	g := instruction.FindSubmatch(text)
	if g == nil {
		return p
	}
	mnemonic, args := string(g[1]), string(g[2])
	if mnemonic == "call" || onlyRead.MatchString(mnemonic) {
		if mnemonic == "call" {
			p.kind = calls
		}
		return p
	}
	from, _, _ := strings.Cut(args, ", ")
	if to := newOperand(args); to != nil {
		if p.kind, p.memory = stores, to; to.base == "%rsp" {
			p = step{kind: spills, slot: to.text}
			if mnemonic == "movq" && from[0] == '%' {
				p.source = from
			}
		}
		return p
	}
	target := register.FindString(args)
	if target == "" {
		return p
	}
	p.kind, p.target = sets, wide(target)
	switch memory := newOperand(strings.TrimSuffix(args, ", "+target)); {
	case mnemonic == "leaq" && memory != nil:
		p.memory = memory
	case mnemonic == "movq" && memory != nil && memory.base == "%rsp":
		p.source = memory.text
	case (mnemonic == "movq" || mnemonic == "vmovq") && from[0] == '%' && from != args:
		p.source = wide(from)
	case (mnemonic == "addq" || mnemonic == "subq") && from[0] == '$':
		if n, err := strconv.Atoi(from[1:]); err == nil {
			if p.source, p.more = p.target, n; mnemonic == "subq" {
				p.more = -n
			}
		}
	}
	return p
}

// newOperand takes the operand in memory at the end of an instruction's operands.
func newOperand(args string) *operand {
	m := inMemory.FindStringSubmatch(args)
	if m == nil {
		return nil
	}
	a := &operand{text: m[0], base: m[2]}
	if n, err := strconv.Atoi(m[1]); err == nil {
		a.more = n
	} else {
		a.symbol = m[1]
	}
	if m[3] != "" {
		a.index, a.times = wide(m[3]), 1
		if n, err := strconv.Atoi(m[4]); err == nil {
			a.times = n
		}
	}
	return a
}

// wide is the 64-bit name of a general register, or the name itself.
func wide(r string) string {
	switch n := len(r); {
	case strings.HasPrefix(r, "%ymm"):
		return "%x" + r[2:]
	case r[1] == 'e' && n == 4:
		return "%r" + r[2:]
	case r[1] == 'r' && n > 3 && (r[n-1] == 'd' || r[n-1] == 'w' || r[n-1] == 'b') && r[2] >= '0' && r[2] <= '9':
		return r[:n-1]
	}
	return r
}
