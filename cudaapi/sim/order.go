package sim

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"sync"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/ptx"
	"gocuda/cudaapi/ptx/cpp"
)

// Races between the threads of a launch are found while it runs (include/runtime/order.h), in
// memory that is given to it here. What was found is reported when it has run.

const (
	orderSize = 2 << 30   // most that is kept of one launch, of which what is used is memory
	orderWarm = 128 << 20 // stays memory for the next launch
)

// orders is the room that no launch uses.
type orders struct {
	mu   sync.Mutex
	idle []uintptr
}

// take gives room in which nothing is known.
func (x *orders) take() (uintptr, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := len(x.idle); n > 0 {
		at := x.idle[n-1]
		x.idle = x.idle[:n-1]
		return at, nil
	}
	at, err := mapPrivate(0, orderSize)
	if err == nil {
		h := (*orderABI)(pointer(at))
		h.size, h.used, h.epoch = orderSize, orderHead, 1
	}
	return at, err
}

// give takes room back. What was used of it little stays memory; what is in it counts no more.
func (x *orders) give(at uintptr) {
	h := (*orderABI)(pointer(at))
	used := uintptr(h.used)
	if h.full != 0 || h.epoch == math.MaxUint32 {
		release(at, orderSize) //nolint:errcheck // there is less room then
		return
	}
	if used > orderHead+orderWarm {
		discard(-1, 0, at+orderHead+orderWarm, used-orderHead-orderWarm)
	}
	h.epoch++
	h.used, h.found, h.spare, h.flags = orderHead, 0, 0, 0
	h.cache = [len(h.cache)]uintptr{}
	for i := 0; i < len(h.blocks) && h.blocks[i] != 0; i++ {
		h.blocks[i] = 0
	}
	x.mu.Lock()
	x.idle = append(x.idle, at)
	x.mu.Unlock()
}

func (x *orders) drop() {
	for _, at := range x.idle {
		release(at, orderSize) //nolint:errcheck // the process ends or goes on with less
	}
	x.idle = nil
}

// orderABI begins gocuda::Order.
type orderABI struct {
	size, used, full, found uint64
	stretches, epoch        uint64
	spare, flags            uint64
	cache                   [256]uintptr
	blocks                  [8192]uintptr
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
	foundPast
)

const (
	howSame   = 1
	howAlmost = 2
	howShared = 4
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
	counting  *cpp.Counting // of code that counts
	source    string        // what its lines are of
	inGo      bool
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
	return m.watched(f, &f.mod.watch, l.Origin, false)
}

// watched gives a kernel of code that tells what it does: to look for races, or to count.
func (m *Driver) watched(f *function, w *observable, from *driver.Origin, counts bool) (*function, error) {
	w.once.Do(func() { w.err = m.watchable(f.mod, w, from, counts) })
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
				g = &function{mod: &module{ctx: f.mod.ctx, code: w.code, source: w.source, inGo: w.inGo}, kernel: k}
				w.functions[f.kernel.symbol] = g
			}
		}
	}
	return g, nil
}

// lined is a module's PTX with the lines of its source, and what is known of it. Of a kernel in
// Go NVRTC makes it here, and where counts are asked for of CUDA C++ that the host's compiler had;
// without NVRTC there is none.
func (m *Driver) lined(mod *module, from *driver.Origin, counts bool) (md meta, err error) {
	md, _ = imageMeta(mod.image)
	if md.PTX != "" || from == nil || from.Source == nil || m.opt.PTX == nil || !counts && (from.Source.Lined == nil || m.opt.CUDA == "c++") {
		return md, nil
	}
	src := *from.Source
	if src.Lined != nil {
		md.Name = src.Shown
		src = driver.Source{Name: src.Name, Code: src.Lined(), Options: src.Options}
	} else {
		md.Name = cmp.Or(src.Name, md.Name)
	}
	made, err := m.opt.PTX(&src, fmt.Sprintf("compute_%d%d", m.profile.Major, m.profile.Minor))
	if errors.Is(err, driver.ErrSharedObjectInit) {
		return md, nil
	}
	if err == nil {
		md.PTX = string(made.Image)
	}
	return md, err
}

// watchable compiles a module's PTX so that it reports what it does. It has no variables of its
// own. Without PTX there is none.
func (m *Driver) watchable(mod *module, w *observable, from *driver.Origin, counts bool) error {
	const call = "cuLaunchKernel"
	md, err := m.lined(mod, from, counts)
	if err != nil || md.PTX == "" {
		return err
	}
	if w.source = md.Name; from != nil && from.Source != nil {
		w.source = cmp.Or(from.Source.Shown, md.Name)
		w.inGo = from.Source.Lined != nil
	}
	cc, err := findCompiler()
	if err != nil {
		return fail(call, driver.ErrFileNotFound, "%v", err)
	}
	text, err := ptx.Parse(md.PTX)
	if err != nil {
		return fail(call, driver.ErrInvalidPTX, "%v", err)
	}
	if md.Name == textName {
		text.PlaceInText(textName)
	}
	names := map[string]string{}
	for n, s := range md.Lowered {
		names[s] = n
	}
	code, looks := "", seesRaces
	if counts {
		looks = seesCounts
		code, w.counting, err = cpp.TranslateCounted(text, md.Name, names)
	} else {
		code, err = cpp.Translate(text, md.Name, names, cpp.Observed, false)
	}
	if err != nil {
		return fail(call, driver.ErrInvalidPTX, "%v", err)
	}
	made, err := m.imageOfPTX(cc, md.Name, &driver.Source{}, code, &driver.Compiled{Lowered: md.Lowered}, looks)
	if err != nil {
		return err
	}
	x, err := load(made.Image)
	if err != nil {
		return fail(call, driver.ErrInvalidImage, "%v", err)
	}
	x.variables = mod.code
	at, err := x.Symbol("gocuda_variables")
	if err != nil {
		return fail(call, driver.ErrInvalidImage, "%v", err)
	}
	list, err := x.Symbol("gocuda_variable_names")
	if err != nil {
		return fail(call, driver.ErrInvalidImage, "%v", err)
	}
	symbols := map[string]uintptr{}
	for _, s := range mod.code.symbols {
		symbols[s.Name] = mod.code.base + uintptr(s.Value)
	}
	for i := uintptr(0); ; i++ {
		name := *(*uintptr)(pointer(list + 8*i))
		if name == 0 {
			w.code = x
			return nil
		}
		*(*uintptr)(pointer(at + 8*i)) = symbols[goString(name)]
	}
}

// racesOf reads what a launch found.
func (m *Driver) racesOf(name string, f *function, a *launchABI, pointers []driver.PointerParam) (list []driver.Race) {
	h := (*orderABI)(pointer(a.order))
	for i := range h.list[:h.found] {
		x := &h.list[i]
		r := driver.Race{Kernel: name, Source: f.mod.source, Kind: []string{"race", "barrier", "lane", "mask", "past"}[x.kind], Address: x.address,
			Same: x.how&howSame != 0, Note: x.how&howAlmost != 0, Count: int(x.count)}
		for k, to := range []*driver.RaceAccess{&r.First, &r.Second} {
			w, n := x.what[k], x.rank[k]
			*to = driver.RaceAccess{Line: int(w & (1<<19 - 1)), Block: driver.Dim3{X: x.block[k][0], Y: x.block[k][1], Z: x.block[k][2]},
				Thread: driver.Dim3{X: n % a.block[0], Y: n / a.block[0] % a.block[1], Z: n / a.block[0] / a.block[1]},
				Bytes:  1 << (w >> 26 & 7), Write: w&didWrite != 0, Atomic: w&didAtomic != 0, Volatile: w&didVolatile != 0}
			if w&didStrong != 0 {
				to.Scope = []string{"block", "cluster", "device", "system"}[w>>24&3]
			}
		}
		r.Missing, r.Fix = missing(&r, x)
		if f.mod.inGo {
			r.Missing, r.Fix = goWords.Replace(r.Missing), goWords.Replace(r.Fix)
		}
		if r.Kind == "race" {
			n := max(r.First.Bytes, r.Second.Bytes)
			if r.Where = f.inShared(uintptr(x.address), n); x.how&howShared == 0 {
				r.Where = m.where(uintptr(x.address), f, a, pointers, n)
			}
		}
		list = append(list, r)
	}
	return list
}

// goWords are what kernels in Go have for CUDA C++'s.
var goWords = strings.NewReplacer("__syncthreads();", "gpu.SyncThreads()", "__syncthreads()", "gpu.SyncThreads()", "__syncwarp();", "gpu.SyncWarp(mask)",
	"__threadfence()", "gpu.ThreadFence()", "atomicAdd for atomicAdd_block", "gpu.AtomicAdd without gpu.BlockScope", "atomicCAS", "gpu.AtomicCAS",
	", or an acquire", ", or gpu.Acquire", "atomic or volatile", "gpu.AtomicLoad")

// missing says what would order the two.
func missing(r *driver.Race, x *foundABI) (missing, fix string) {
	sameBlock := r.First.Block == r.Second.Block
	sameWarp := sameBlock && x.rank[0]/32 == x.rank[1]/32
	narrow := func(a driver.RaceAccess) bool { return a.Scope == "block" && !sameBlock }
	one := r.First.Atomic != r.Second.Atomic
	between := fmt.Sprintf(" // between lines %d and %d", min(r.First.Line, r.Second.Line), max(r.First.Line, r.Second.Line))
	if r.First.Line == r.Second.Line {
		between = fmt.Sprintf(" // between one time and the next that line %d is run", r.First.Line)
	}
	switch r.Kind {
	case "barrier", "past":
		return "All threads of a block must come to the same __syncthreads().", "__syncthreads() outside of conditions that differ among the threads of a block"
	case "lane":
		return "A lane must be in the mask that it names.", "a mask with the lanes that come there"
	case "mask":
		return "The mask must name the lanes that come, and no others.", ""
	}
	switch {
	case r.Note && one && (x.what[0]|x.what[1])&didPoll != 0:
		return "The read is a guess that atomicCAS tests; CUDA wants it to be atomic or volatile.", ""
	case r.Note:
		return "No fence follows the atomic operation that saw the other thread's.", "__threadfence(), or an acquire"
	case narrow(r.First) || narrow(r.Second):
		return "An atomic operation of block scope does not order two blocks.", "device scope, such as atomicAdd for atomicAdd_block"
	case one && sameBlock:
		return "An atomic operation does not order an access that is not atomic.", "__syncthreads();" + between + ", or both atomic"
	case one:
		return "An atomic operation does not order an access that is not atomic.", "both atomic, or two kernels"
	case sameWarp && r.First.Volatile && r.Second.Volatile:
		return "Lanes of a warp do not wait for each other because of volatile.", "__syncwarp();" + between
	case sameWarp:
		return "No barrier of the warp or the block lies between them: lanes of a warp do not run in step.", "__syncwarp(); or __syncthreads();" + between
	case sameBlock:
		return "No barrier of the block lies between them.", "__syncthreads();" + between + ", or both atomic"
	}
	return "No barrier orders two blocks of a launch.", "atomic operations, a flag with __threadfence() on both sides, or two kernels"
}

// inShared says what lies at an offset of a kernel's shared memory, where n bytes are accessed.
func (f *function) inShared(at uintptr, n int) string {
	list, err := f.mod.code.Symbol("gocuda_shared_names")
	if err != nil {
		return ""
	}
	for ; ; list += 32 {
		x := (*struct{ at, size, name, of uintptr })(pointer(list))
		switch {
		case x.name == 0:
			return " of shared memory"
		case at-x.at < x.size:
			name := goString(x.name)
			if of := goString(x.of); of != "" && of != f.kernel.symbol && strings.HasPrefix(name, "_ZZ") {
				continue
			}
			if g := localName.FindStringSubmatch(name); g != nil {
				name = g[1]
			}
			return fmt.Sprintf(" of %s in shared memory, %sbyte %d of %d", name, element(at-x.at, x.size, n), at-x.at, x.size)
		}
	}
}

// element says which element of an array lies at an offset, if its elements are as wide as what
// was accessed.
func element(at, size uintptr, n int) string {
	if n == 0 || size <= uintptr(n) || at%uintptr(n) != 0 || size%uintptr(n) != 0 {
		return ""
	}
	return fmt.Sprintf("element %d, ", at/uintptr(n))
}

// localName matches the symbol of a function's variable, as C++ makes it.
var localName = regexp.MustCompile(`^_ZZ.*E\d+([A-Za-z]\w*?)(?:_\d+)?$`)

// where says what lies at an address, where n bytes are accessed: the element of an argument.
func (m *Driver) where(at uintptr, f *function, a *launchABI, pointers []driver.PointerParam, n int) string {
	if v := f.mod.code.variables; v != nil && at >= v.base && at < v.end {
		for _, s := range v.symbols {
			if from := v.base + uintptr(s.Value); elf.ST_TYPE(s.Info) == elf.STT_OBJECT && at >= from && at < from+uintptr(s.Size) {
				return " of the variable " + s.Name
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.space.find(at)
	if b == nil {
		return ""
	}
	text, near := fmt.Sprintf(" at byte %d of an allocation of %d bytes", at-b.base, b.size), uintptr(0)
	for _, p := range pointers {
		if v := *(*uintptr)(pointer(a.params + uintptr(p.Offset))); p.Name != "" && v <= at && v >= b.base && v >= near {
			size := cmp.Or(uintptr(p.Elem), uintptr(n))
			near, text = v, fmt.Sprintf(" at %s[%d], byte %d of an allocation of %d bytes", p.Name, (at-v)/size, at-b.base, b.size)
		}
	}
	return text
}

// reportRaces reports a launch's races: to whoever wants to know, or on standard error.
func (m *Driver) reportRaces(name string, f *function, a *launchABI, pointers []driver.PointerParam, tell func([]driver.Race)) {
	list := m.racesOf(name, f, a, pointers)
	if m.opt.OnRaces != nil {
		m.opt.OnRaces(list)
		return
	}
	var hazards []driver.Race
	for _, r := range list {
		if tell != nil && r.Kind != "mask" && !r.Note { // lanes that have ended may stand in a mask
			hazards = append(hazards, r)
		} else {
			fmt.Fprintln(os.Stderr, r.String())
		}
	}
	if len(hazards) > 0 {
		tell(hazards)
	}
	if (*orderABI)(pointer(a.order)).full != 0 {
		fmt.Fprintf(os.Stderr, "check: kernel %s: its races were looked for in its first part only: there is no memory for more\n", name)
	}
}
