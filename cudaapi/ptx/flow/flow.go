// Package flow tells how control and values flow through a function in PTX: its blocks, which
// registers live where, and which can be computed again.
package flow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gocuda/cudaapi/ptx"
)

// Graph is a function without scopes: names that inner blocks declare are told apart.
type Graph struct {
	Types     map[string]ptx.Type // of registers
	Vars      []*ptx.Variable     // local variables and parameters of calls
	Targets   map[string][]string // of branches by an index
	Blocks    []*Block
	defs      map[string][]*ptx.Instruction
	flat      []ptx.Statement
	places    map[*ptx.Instruction]*ptx.Place
	originals map[*ptx.Instruction]*ptx.Instruction
}

// Block runs from its first instruction to its last. Next are the blocks that may follow, by
// their numbers. Behind the last one the function ends.
type Block struct {
	Label string
	List  []*ptx.Instruction
	Next  []int
	Falls bool            // the next in order may follow without a branch
	in    map[string]bool // the registers that live at its start
}

// Of is the graph of a function. Where cut says so, a block ends behind an instruction.
func Of(f *ptx.Function, cut func(*ptx.Instruction) bool) *Graph {
	g := &Graph{Types: map[string]ptx.Type{}, Targets: map[string][]string{}, defs: map[string][]*ptx.Instruction{},
		places: map[*ptx.Instruction]*ptx.Place{}, originals: map[*ptx.Instruction]*ptx.Instruction{}}
	scopes := 0
	g.flatten(f.Body, map[string]string{}, &scopes)
	g.split(cut)
	g.live()
	return g
}

// Place is where an instruction comes from.
func (g *Graph) Place(i *ptx.Instruction) *ptx.Place { return g.places[i] }

// Original is the instruction of the function that became one of the graph.
func (g *Graph) Original(i *ptx.Instruction) *ptx.Instruction { return g.originals[i] }

// Live reports whether a register's value may be read at the start of a block.
func (g *Graph) Live(b *Block, reg string) bool { return b.in[reg] }

// LiveIn are the registers whose values may be read at the start of a block.
func (g *Graph) LiveIn(b *Block) []string { return slices.Sorted(maps.Keys(b.in)) }

// LiveBefore are the registers whose values may be read from an instruction of a block on.
func (g *Graph) LiveBefore(b *Block, at int) []string {
	live := map[string]bool{}
	for _, n := range b.Next {
		maps.Copy(live, g.Blocks[n].in)
	}
	for k := len(b.List) - 1; k >= at; k-- {
		i := b.List[k]
		if i.Guard == "" {
			for _, n := range killed(i) {
				delete(live, n)
			}
		}
		for _, n := range Read(i) {
			if g.Types[n] != "" {
				live[n] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(live))
}

// Registers are all of the function's, sorted.
func (g *Graph) Registers() []string { return slices.Sorted(maps.Keys(g.Types)) }

// flatten appends a scope's statements. names are what outer scopes' names have become.
func (g *Graph) flatten(list []ptx.Statement, names map[string]string, scopes *int) {
	names = maps.Clone(names)
	number := *scopes
	*scopes++
	rename := func(n string) string {
		own := n
		if number > 0 {
			own = fmt.Sprintf("%s$%d", n, number)
		}
		names[n] = own
		return own
	}
	for _, s := range list {
		switch s := s.(type) {
		case *ptx.Label:
			rename(s.Name)
		case *ptx.Prototype:
			rename(s.Name)
		case *ptx.Variable:
			switch {
			case s.Space == "reg" && s.Count > 0:
				for k := range s.Count {
					g.Types[rename(fmt.Sprintf("%s%d", s.Name, k))] = s.Type
				}
			case s.Space == "reg":
				g.Types[rename(s.Name)] = s.Type
			case s.Space == "local" || s.Space == "param":
				v := *s
				v.Name = rename(s.Name)
				g.Vars = append(g.Vars, &v)
			}
		}
	}
	named := func(n string) string {
		if own, ok := names[n]; ok {
			return own
		}
		if of, part, ok := strings.Cut(n, "."); ok && names[of] != "" { // %r1.h0
			return names[of] + "." + part
		}
		return n
	}
	var place *ptx.Place
	for _, s := range list {
		switch s := s.(type) {
		case *ptx.Place:
			place = s
		case *ptx.Label:
			g.flat = append(g.flat, &ptx.Label{Line: s.Line, Name: named(s.Name)})
		case *ptx.Prototype:
			var targets []string
			for _, t := range s.Targets {
				targets = append(targets, named(t))
			}
			g.Targets[named(s.Name)] = targets
		case *ptx.Block:
			at := len(g.flat)
			g.flatten(s.Body, names, scopes)
			for _, s := range g.flat[at:] {
				if i, ok := s.(*ptx.Instruction); ok && g.places[i] == nil {
					g.places[i] = place
				}
			}
		case *ptx.Instruction:
			i := *s
			if i.Guard != "" {
				i.Guard = named(i.Guard)
			}
			i.Operands = renamed(i.Operands, named)
			g.flat = append(g.flat, &i)
			g.places[&i], g.originals[&i] = place, s
		}
	}
}

func renamed(list []ptx.Operand, named func(string) string) []ptx.Operand {
	out := slices.Clone(list)
	for k, o := range out {
		if o.Kind != ptx.Literal {
			out[k].Text = named(o.Text)
		}
		out[k].Parts = renamed(o.Parts, named)
	}
	return out
}

// split makes blocks.
func (g *Graph) split(cut func(*ptx.Instruction) bool) {
	at := map[string]int{}
	b := &Block{Falls: true}
	g.Blocks = []*Block{b}
	begin := func() {
		if len(b.List) > 0 || b.Label != "" {
			b = &Block{Falls: true}
			g.Blocks = append(g.Blocks, b)
		}
	}
	for _, s := range g.flat {
		switch s := s.(type) {
		case *ptx.Label:
			begin()
			b.Label = s.Name
			at[s.Name] = len(g.Blocks) - 1
		case *ptx.Instruction:
			b.List = append(b.List, s)
			for _, n := range Written(s) {
				g.defs[n] = append(g.defs[n], s)
			}
			if Leaves(s) || cut(s) {
				b.Falls = s.Guard != "" || !Leaves(s)
				begin()
			}
		}
	}
	for k, b := range g.Blocks {
		if b.Falls && k+1 < len(g.Blocks) {
			b.Next = append(b.Next, k+1)
		}
		if len(b.List) == 0 {
			continue
		}
		switch last := b.List[len(b.List)-1]; last.Op {
		case "bra":
			if to, ok := at[last.Operands[0].Text]; ok {
				b.Next = append(b.Next, to)
			}
		case "brx":
			for _, t := range g.Targets[last.Operands[1].Text] {
				if to, ok := at[t]; ok {
					b.Next = append(b.Next, to)
				}
			}
		}
	}
}

// Leaves reports whether what follows an instruction in the text may not follow it.
func Leaves(i *ptx.Instruction) bool {
	switch i.Op {
	case "bra", "brx", "ret", "exit":
		return true
	}
	return false
}

// live finds what lives at the start of each block, from the last to the first until nothing changes.
func (g *Graph) live() {
	type effect struct{ reads, kills map[string]bool }
	effects := make([]effect, len(g.Blocks))
	for k, b := range g.Blocks {
		e := effect{map[string]bool{}, map[string]bool{}}
		for _, i := range b.List {
			for _, n := range Read(i) {
				if g.Types[n] != "" && !e.kills[n] {
					e.reads[n] = true
				}
			}
			if i.Guard == "" {
				for _, n := range killed(i) {
					e.kills[n] = true
				}
			}
		}
		effects[k] = e
		b.in = maps.Clone(e.reads)
	}
	for again := true; again; {
		again = false
		for k := len(g.Blocks) - 1; k >= 0; k-- {
			b := g.Blocks[k]
			for _, n := range b.Next {
				for r := range g.Blocks[n].in {
					if !b.in[r] && !effects[k].kills[r] {
						b.in[r], again = true, true
					}
				}
			}
		}
	}
}

// pure are operations that give one register what its operands say, and do nothing else.
var pure = map[string]bool{"mov": true, "add": true, "sub": true, "mul": true, "mad": true, "fma": true, "shl": true, "shr": true, "and": true, "or": true, "xor": true, "not": true,
	"neg": true, "abs": true, "min": true, "max": true, "cvt": true, "cvta": true, "setp": true, "selp": true, "popc": true, "clz": true, "brev": true, "bfe": true, "bfi": true,
	"mul24": true, "mad24": true, "shf": true, "prmt": true, "lop3": true}

// writes are other operations whose first operand is the result alone.
var writes = map[string]bool{"ld": true, "ldu": true, "atom": true, "div": true, "rem": true, "sqrt": true, "rsqrt": true, "rcp": true, "ex2": true, "lg2": true, "sin": true, "cos": true,
	"tanh": true, "shfl": true, "vote": true, "match": true, "redux": true, "activemask": true, "isspacep": true, "set": true, "bfind": true, "dp4a": true, "dp2a": true, "addc": true, "subc": true, "madc": true,
	"copysign": true, "testp": true, "sad": true, "mapa": true, "elect": true}

// silent are operations without a result.
var silent = map[string]bool{"st": true, "red": true, "bra": true, "brx": true, "call": true, "ret": true, "exit": true, "trap": true, "membar": true, "fence": true, "cp": true, "nanosleep": true, "prefetch": true}

// Written are the registers that an instruction may change.
func Written(i *ptx.Instruction) (names []string) {
	if silent[i.Op] || len(i.Operands) == 0 || i.Operands[0].Kind == ptx.Address {
		return nil
	}
	return texts(i.Operands[:1])
}

// killed are the registers whose old values nobody can read behind an instruction.
func killed(i *ptx.Instruction) []string {
	if pure[i.Op] || writes[i.Op] {
		return Written(i)
	}
	return nil
}

// Read are the registers, and what else has names, that an instruction may look at.
func Read(i *ptx.Instruction) []string {
	var names []string
	if i.Guard != "" {
		names = append(names, i.Guard)
	}
	list := i.Operands
	if (pure[i.Op] || writes[i.Op]) && len(list) > 0 && list[0].Kind != ptx.Address {
		list = list[1:]
	}
	return append(names, texts(list)...)
}

func texts(list []ptx.Operand) (names []string) {
	for _, o := range list {
		if o.Kind != ptx.Literal && o.Text != "" && o.Text != "_" {
			names = append(names, o.Text)
			if of, _, ok := strings.Cut(o.Text, "."); ok { // %r1.h0
				names = append(names, of)
			}
		}
		names = append(names, texts(o.Parts)...)
	}
	return names
}

// Cheap reports how a register can be computed again wherever its value is wanted: from
// parameters, the thread's index and constants, in at most so many steps that differ from
// thread to thread. It gives the instructions in order.
func (g *Graph) Cheap(reg string, most int) (list []*ptx.Instruction, ok bool) {
	steps := 0
	varying, begun := map[string]bool{}, map[string]bool{}
	var visit func(n string) bool
	visit = func(n string) bool {
		if _, done := varying[n]; done {
			return true
		}
		if g.Types[n] == "" {
			varying[n] = g.variable(n) != nil || varies[n]
			return n[0] != '%' || varies[n] || same[n]
		}
		if len(g.defs[n]) != 1 || begun[n] {
			return false
		}
		begun[n] = true
		i := g.defs[n][0]
		if i.Guard != "" || !pure[i.Op] && !g.parameter(i) || slices.Contains(i.Mods, "cc") || i.Operands[0].Kind != ptx.Name || len(list) > 64 {
			return false
		}
		differs := false
		for _, m := range Read(i) {
			if !visit(m) {
				return false
			}
			differs = differs || varying[m]
		}
		if differs && i.Op != "cvta" && i.Op != "mov" {
			steps++
		}
		varying[n] = differs
		list = append(list, i)
		return steps <= most
	}
	if !visit(reg) {
		return nil, false
	}
	return list, true
}

// same are special registers with one value for all threads of a block, varies those that each
// thread has its own of. Both keep it.
var same, varies = set("%ctaid %ntid %nctaid", "%ctaid.x %ctaid.y %ctaid.z %ntid.x %ntid.y %ntid.z %nctaid.x %nctaid.y %nctaid.z WARP_SZ"),
	set("%tid", "%tid.x %tid.y %tid.z %laneid %warpid %lanemask_eq %lanemask_lt %lanemask_le %lanemask_ge %lanemask_gt")

func set(lists ...string) map[string]bool {
	m := map[string]bool{}
	for _, l := range lists {
		for _, n := range strings.Fields(l) {
			m[n] = true
		}
	}
	return m
}

func (g *Graph) variable(name string) *ptx.Variable {
	for _, v := range g.Vars {
		if v.Name == name {
			return v
		}
	}
	return nil
}
