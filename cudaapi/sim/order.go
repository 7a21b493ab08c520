package sim

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/ptx"
	"gocuda/cudaapi/ptx/cpp"
)

// Races between the threads of a launch are found while it runs (include/runtime/order.h), in
// memory that is given to it here. What was found is reported when it has run.

const orderSize = 2 << 30 // most that is kept of one launch, of which what is used is memory

// order is what one launch keeps.
type order struct{ at uintptr }

func newOrder() (*order, error) {
	at, err := mapPrivate(0, orderSize)
	if err != nil {
		return nil, err
	}
	h := (*orderABI)(pointer(at))
	h.size, h.used = orderSize, orderHead
	return &order{at}, nil
}

func (o *order) drop() { release(o.at, orderSize) } //nolint:errcheck // there is less room then

// orderABI begins gocuda::Order.
type orderABI struct {
	size, used, full, found uint64
	list                    [64]foundABI
}

// orderHead is more than gocuda::Order takes.
const orderHead = 64 << 20

// foundABI has the layout of gocuda::Found.
type foundABI struct {
	kind, how      uint32
	what           [2]uint32
	block          [2][3]uint32
	rank           [2]uint32
	address, count uint64
}

const (
	foundRace = iota
	foundApart
	foundOutside
	foundEnded
)

const (
	howSame   = 1
	howAlmost = 2
)

// Bits of an access, as in include/sim/order.h.
const (
	didWrite    = 1 << 19
	didStrong   = 1 << 20
	didAtomic   = 1 << 21
	didVolatile = 1 << 22
	didPoll     = 1 << 23
)

// observable is a module's code as races are looked for: made when it is first launched so.
type observable struct {
	once      sync.Once
	code      *loaded
	err       error
	functions map[string]*function
}

func (w *observable) close() {
	if w.code != nil {
		w.code.Close()
	}
}

// watches gives the kernel that a launch runs where races are looked for; nil where they are
// not, or cannot be.
func (m *Driver) watches(c driver.Context, l *driver.Launch) (*function, error) {
	if m.opt.NoCheck || !m.opt.Races && l.Observe == nil {
		return nil, nil
	}
	m.mu.Lock()
	f, err := m.function("cuLaunchKernel", c, l.Function)
	m.mu.Unlock()
	if err != nil {
		return nil, nil // the launch says it
	}
	w := &f.mod.watch
	w.once.Do(func() { w.code, w.err = m.watchable(f.mod) })
	if w.code == nil {
		return nil, w.err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.functions == nil {
		w.functions = map[string]*function{}
	}
	g := w.functions[f.kernel.symbol]
	if g == nil {
		for i := range w.code.described {
			if k := &w.code.described[i]; k.symbol == f.kernel.symbol {
				g = &function{mod: &module{ctx: f.mod.ctx, code: w.code}, kernel: k}
				w.functions[f.kernel.symbol] = g
			}
		}
	}
	return g, nil
}

// watchable compiles a module's PTX so that it reports its accesses. It has no variables of its
// own. Without PTX there is none.
func (m *Driver) watchable(mod *module) (*loaded, error) {
	const call = "cuLaunchKernel"
	md, ok := imageMeta(mod.image)
	if !ok || md.PTX == "" {
		return nil, nil
	}
	cc, err := findCompiler()
	if err != nil {
		return nil, fail(call, driver.ErrFileNotFound, "%v", err)
	}
	from, err := ptx.Parse(md.PTX)
	if err != nil {
		return nil, fail(call, driver.ErrInvalidPTX, "%v", err)
	}
	if md.Name == textName {
		from.PlaceInText(textName)
	}
	names := map[string]string{}
	for n, s := range md.Lowered {
		names[s] = n
	}
	text, err := cpp.Translate(from, md.Name, names, cpp.Observed)
	if err != nil {
		return nil, fail(call, driver.ErrInvalidPTX, "%v", err)
	}
	made, err := m.imageOfPTX(cc, md.Name, &driver.Source{}, text, &driver.Compiled{Lowered: md.Lowered}, true)
	if err != nil {
		return nil, err
	}
	code, err := load(made.Image)
	if err != nil {
		return nil, fail(call, driver.ErrInvalidImage, "%v", err)
	}
	code.variables = mod.code
	at, err := code.Symbol("gocuda_variables")
	if err != nil {
		return nil, fail(call, driver.ErrInvalidImage, "%v", err)
	}
	list, err := code.Symbol("gocuda_variable_names")
	if err != nil {
		return nil, fail(call, driver.ErrInvalidImage, "%v", err)
	}
	symbols := map[string]uintptr{}
	for _, s := range mod.code.symbols {
		symbols[s.Name] = mod.code.base + uintptr(s.Value)
	}
	for i := uintptr(0); ; i++ {
		name := *(*uintptr)(pointer(list + 8*i))
		if name == 0 {
			return code, nil
		}
		*(*uintptr)(pointer(at + 8*i)) = symbols[goString(name)]
	}
}

// RaceAccess is one of the two accesses of a race.
type RaceAccess struct {
	Line          int
	Block, Thread driver.Dim3
	Bytes         int
	Write, Atomic bool
	Volatile      bool
	Scope         string // of an atomic operation: block, cluster, device or system
}

// Race is two accesses of threads of one launch that nothing orders, or another mistake in
// what threads do together.
type Race struct {
	Kernel        string
	Kind          string // race, barrier, lane or mask
	First, Second RaceAccess
	Address       uint64
	Where         string // what lies at the address
	Same          bool   // both write the same value
	Note          bool   // ordered on GPUs of today, by what does not promise it
	Count         int    // how often these lines met
	Missing       string // what would order them
}

func (r *Race) String() string {
	at := func(a RaceAccess) string {
		line := ""
		if a.Line > 0 {
			line = fmt.Sprintf(", line %d", a.Line)
		}
		return fmt.Sprintf("%s, block (%d,%d,%d), thread (%d,%d,%d)", line, a.Block.X, a.Block.Y, a.Block.Z, a.Thread.X, a.Thread.Y, a.Thread.Z)
	}
	does := func(a RaceAccess) string {
		verb := map[bool]string{true: "writes", false: "reads"}[a.Write]
		switch {
		case a.Atomic:
			verb = "changes atomically"
		case a.Volatile:
			verb += " (volatile)"
		}
		return verb
	}
	var b strings.Builder
	fmt.Fprintf(&b, "check: kernel %s%s: ", r.Kernel, at(r.First))
	switch r.Kind {
	case "barrier":
		fmt.Fprintf(&b, "the barrier of the block is met at another place, line %d, by thread (%d,%d,%d)", r.Second.Line, r.Second.Thread.X, r.Second.Thread.Y, r.Second.Thread.Z)
	case "lane":
		fmt.Fprintf(&b, "the mask %#x of a warp's function does not have the lane that calls it", r.Address)
	case "mask":
		fmt.Fprintf(&b, "the mask %#x of a warp's function names thread (%d,%d,%d), which does not come", r.Address, r.Second.Thread.X, r.Second.Thread.Y, r.Second.Thread.Z)
	default:
		if r.Note {
			b.WriteString("note: ")
		}
		fmt.Fprintf(&b, "%s %d bytes%s, which%s %s; nothing orders the two", does(r.First), r.First.Bytes, r.Where, strings.TrimPrefix(at(r.Second), ","), does(r.Second))
		if r.Same {
			b.WriteString(", which write the same value")
		}
	}
	if r.Count > 1 {
		fmt.Fprintf(&b, ", the first of %d in this launch", r.Count)
	}
	fmt.Fprintf(&b, ". %s", r.Missing)
	return b.String()
}

// racesOf reads what a launch found.
func (m *Driver) racesOf(name string, f *function, a *launchABI) (list []Race) {
	h := (*orderABI)(pointer(a.order))
	for i := range h.list[:h.found] {
		x := &h.list[i]
		r := Race{Kernel: name, Kind: []string{"race", "barrier", "lane", "mask"}[x.kind], Address: x.address,
			Same: x.how&howSame != 0, Note: x.how&howAlmost != 0, Count: int(x.count)}
		for k, to := range []*RaceAccess{&r.First, &r.Second} {
			w, n := x.what[k], x.rank[k]
			*to = RaceAccess{Line: int(w & (1<<19 - 1)), Block: driver.Dim3{X: x.block[k][0], Y: x.block[k][1], Z: x.block[k][2]},
				Thread: driver.Dim3{X: n % a.block[0], Y: n / a.block[0] % a.block[1], Z: n / a.block[0] / a.block[1]},
				Bytes:  1 << (w >> 26 & 7), Write: w&didWrite != 0, Atomic: w&didAtomic != 0, Volatile: w&didVolatile != 0}
			if w&didStrong != 0 {
				to.Scope = []string{"block", "cluster", "device", "system"}[w>>24&3]
			}
		}
		r.Missing = r.missing(x)
		if r.Kind == "race" {
			r.Where = m.where(uintptr(x.address))
		}
		list = append(list, r)
	}
	return list
}

// missing says what would order the two.
func (r *Race) missing(x *foundABI) string {
	sameBlock := r.First.Block == r.Second.Block
	sameWarp := sameBlock && x.rank[0]/32 == x.rank[1]/32
	narrow := func(a RaceAccess) bool { return a.Scope == "block" && !sameBlock }
	one := r.First.Atomic != r.Second.Atomic
	switch r.Kind {
	case "barrier":
		return "All threads of a block must come to the same __syncthreads()."
	case "lane":
		return "A lane must be in the mask that it names."
	case "mask":
		return "The mask must name the lanes that come, and no others."
	}
	switch {
	case r.Note && one && (x.what[0]|x.what[1])&didPoll != 0:
		return "The read is a guess that atomicCAS tests; CUDA wants it to be atomic, too, or volatile."
	case r.Note:
		return "After the atomic operation that saw the other's, a __threadfence() or an acquire is missing."
	case narrow(r.First) || narrow(r.Second):
		return "An atomic operation of block scope does not order two blocks: it needs device scope."
	case one && sameBlock:
		return "Either both are atomic, or there is a __syncthreads() between them."
	case one:
		return "Either both are atomic, or they are in different kernels."
	case sameWarp && r.First.Volatile && r.Second.Volatile:
		return "volatile does not make lanes wait: there must be a __syncwarp() between them."
	case sameWarp:
		return "There must be a __syncwarp(), or a __syncthreads(), between them."
	case sameBlock:
		return "There must be a __syncthreads() between them, or both must be atomic."
	}
	return "No barrier orders two blocks of a launch: they need atomic operations, a flag with __threadfence() on both sides, or two kernels."
}

// where says what lies at an address.
func (m *Driver) where(at uintptr) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.space.find(at); b != nil {
		return fmt.Sprintf(" at byte %d of an allocation of %d bytes", at-b.base, b.size)
	}
	return ""
}

// reportRaces reports a launch's races.
func (m *Driver) reportRaces(name string, f *function, a *launchABI) {
	list := m.racesOf(name, f, a)
	if m.opt.OnRaces != nil {
		m.opt.OnRaces(list)
		return
	}
	for i := range list {
		fmt.Fprintln(os.Stderr, list[i].String())
	}
	if (*orderABI)(pointer(a.order)).full != 0 {
		fmt.Fprintf(os.Stderr, "check: kernel %s: its races were looked for in its first part only: there is no memory for more\n", name)
	}
}
