package cpp

import (
	"slices"
	"strconv"
	"strings"

	"gocuda/cudaapi/ptx"
	"gocuda/cudaapi/ptx/flow"
)

// What threads do is told to the simulator, which counts it by warps (its runtime/count.h): the
// stretches of code that they come to, from one branch or label to the next, in which turn of
// which loops, and each access to memory.

// Site is an instruction of which each execution is told.
type Site struct {
	Line  int
	Kind  SiteKind
	Bytes int // that each thread accesses
}

// SiteKind is what is counted of a site.
type SiteKind uint8

// The kinds of sites.
const (
	SiteLoad SiteKind = iota
	SiteStore
	SiteAtomic
	SiteBranch // which threads take or not
)

// Stretch is code that a thread runs from its first instruction to its last.
type Stretch []Work

// Work is what a thread does on a line of a stretch.
type Work struct {
	Line, Instructions   int
	Half, Single, Double int // additions and multiplications of numbers of 16, 32 and 64 bits
}

// Counting is what the numbers in counted code stand for.
type Counting struct {
	Sites     []Site
	Stretches []Stretch
}

// mostCounted is how many sites and stretches the simulator counts.
const mostCounted = 8192

// counting is what the translator knows of it.
type counting struct {
	Counting
	site  map[*ptx.Instruction]int
	begin map[*ptx.Instruction]stretch // by the first instruction of each
}

type stretch struct {
	number, depth int
	loops         bool // a loop begins with it
}

// TranslateCounted gives the C++ of a module that tells what its threads do, and what the numbers in
// it mean. Its variables are another image's.
func TranslateCounted(m *ptx.Module, name string, names map[string]string) (text string, c *Counting, err error) {
	t := &translator{m: m, name: name, symbols: map[string]symbol{}, loners: map[string]bool{}, numbered: numbered(m), slow: map[*ptx.Instruction]bool{}}
	t.counts = &counting{site: map[*ptx.Instruction]int{}, begin: map[*ptx.Instruction]stretch{}}
	for _, d := range m.Decls {
		if f, ok := d.(*ptx.Function); ok && !f.Declared {
			t.count(f)
		}
	}
	if len(t.counts.Sites) > mostCounted || len(t.counts.Stretches) > mostCounted {
		return "", nil, refusal{name + "(1): error: the module has too many instructions to be counted"}
	}
	text, err = t.text(names)
	return text, &t.counts.Counting, err
}

// watched reports whether the code tells what it does: its variables are another image's then.
func (t *translator) watched() bool { return t.observed || t.counts != nil }

// count numbers a function's stretches and sites.
func (t *translator) count(f *ptx.Function) {
	c := t.counts
	lines, line := map[*ptx.Instruction]int{}, 0
	eachStatement(f.Body, func(s ptx.Statement) {
		switch s := s.(type) {
		case *ptx.Place:
			if l := t.own(s); l != nil {
				line = l.Line
			}
		case *ptx.Instruction:
			lines[s] = line
		}
	})
	g := flow.Of(f, waits)
	nests := g.Nests()
	for k, b := range g.Blocks {
		if len(b.List) == 0 {
			continue
		}
		c.begin[g.Original(b.List[0])] = stretch{len(c.Stretches), len(nests[k]), len(nests[k]) > 0 && nests[k][len(nests[k])-1] == k}
		var x Stretch
		for _, i := range b.List {
			own := g.Original(i)
			n := lines[own]
			at := slices.IndexFunc(x, func(w Work) bool { return w.Line == n })
			if at < 0 {
				at = len(x)
				x = append(x, Work{Line: n})
			}
			x[at].Instructions++
			x[at].add(own)
			if s, ok := siteOf(own); ok {
				s.Line = n
				c.site[own] = len(c.Sites)
				c.Sites = append(c.Sites, s)
				if s.Kind = SiteStore; own.Op == "cp" {
					c.Sites = append(c.Sites, s)
				}
			}
		}
		c.Stretches = append(c.Stretches, x)
	}
}

// siteOf tells what is counted of an instruction. Its copies go by two sites, of which the second is
// the store.
func siteOf(i *ptx.Instruction) (s Site, ok bool) {
	switch i.Op {
	case "ld", "ldu":
		s.Kind = SiteLoad
	case "st":
		s.Kind = SiteStore
	case "atom", "red":
		s.Kind = SiteAtomic
	case "bra":
		return Site{Kind: SiteBranch}, i.Guard != ""
	case "ldmatrix":
		return Site{Kind: SiteLoad, Bytes: 16}, true // of a row
	case "stmatrix":
		return Site{Kind: SiteStore, Bytes: 16}, true
	case "cp":
		for _, o := range i.Operands[min(2, len(i.Operands)):] {
			if n, err := strconv.Atoi(o.Text); err == nil && !slices.Contains(i.Mods, "bulk") {
				return Site{Kind: SiteLoad, Bytes: n}, true
			}
		}
		return s, false
	default:
		return s, false
	}
	s.Bytes = 1
	for _, m := range i.Mods {
		if m == "v2" || m == "v4" || m == "v8" {
			s.Bytes *= int(m[1] - '0')
		} else if bits := ptx.Type(m).Bits(); bits > 0 {
			s.Bytes *= bits / 8
		}
	}
	return s, true
}

// add counts an instruction's arithmetic: a multiplication with an addition is two, and what works on
// two numbers of 16 bits twice as much.
func (w *Work) add(i *ptx.Instruction) {
	n := map[string]int{"add": 1, "sub": 1, "mul": 1, "fma": 2, "mad": 2, "div": 1, "rcp": 1, "sqrt": 1, "rsqrt": 1, "ex2": 1, "lg2": 1, "sin": 1, "cos": 1, "tanh": 1}[i.Op]
	if i.Op == "mma" || i.Op == "wmma" {
		w.matrices(i)
		return
	}
	for _, m := range i.Mods {
		switch m {
		case "f16", "bf16":
			w.Half += n
			return
		case "f16x2", "bf16x2":
			w.Half += 2 * n
			return
		case "f32":
			w.Single += n
			return
		case "f64":
			w.Double += n
			return
		}
	}
}

// matrices counts a lane's share of what a warp multiplies. It counts as what it adds up.
func (w *Work) matrices(i *ptx.Instruction) {
	if i.Op == "wmma" && !slices.Contains(i.Mods, "mma") {
		return
	}
	for _, mod := range i.Mods {
		shape := strings.FieldsFunc(mod, func(r rune) bool { return strings.ContainsRune("mnk", r) })
		if len(shape) != 3 || mod[0] != 'm' {
			continue
		}
		n := 2
		for _, s := range shape {
			size := 0
			for _, d := range s {
				if d < '0' || d > '9' {
					return
				}
				size = 10*size + int(d-'0')
			}
			n *= size
		}
		switch {
		case slices.Contains(i.Mods, "f64"):
			w.Double += n / 32
		case slices.Contains(i.Mods, "f16") || slices.Contains(i.Mods, "bf16"):
			w.Half += n / 32
		case slices.Contains(i.Mods, "tf32"):
			w.Single += n / 32
		}
	}
}

// countStretch tells that a thread comes to a stretch, if an instruction is its first.
func (b *body) countStretch(i *ptx.Instruction) {
	if b.counts == nil {
		return
	}
	if s, ok := b.counts.begin[b.original(i)]; ok {
		b.emit("gocuda::count_stretch(%d, %d, %v);", s.number, s.depth, s.loops)
	}
}

// countAt reports an access, or where a branch goes.
func (b *body) countAt(i *ptx.Instruction, at string) {
	if b.counts == nil {
		return
	}
	if n, ok := b.counts.site[b.original(i)]; ok {
		b.countSite(n, at)
	}
}

// countStored reports the store of a copy.
func (b *body) countStored(i *ptx.Instruction, at string) {
	if b.counts == nil {
		return
	}
	if n, ok := b.counts.site[b.original(i)]; ok {
		b.countSite(n+1, at)
	}
}

func (b *body) countSite(n int, at string) {
	s := b.counts.Sites[n]
	b.emit("gocuda::count_access((gocuda_u64)(%s), %d, %du);", at, n, int(s.Kind)<<16|s.Bytes)
}
