// Package emulate runs kernels of package ir on the CPU, thread by thread and in
// one goroutine: for tests, for looking into a kernel, and where there is neither
// a GPU nor a C++ compiler. The same launch does the same each time.
package emulate

import (
	"fmt"
	"go/token"
	"io"
	"unsafe"

	"gocuda/cudaapi/gokernel/ir"
)

// Program is code that is ready to run, with its package variables.
type Program struct {
	codes   map[*ir.Func]*code
	globals map[*ir.Var][]uint64
}

// New readies a program. Its variables have their first values; launches change
// them.
func New(p *ir.Program) *Program { return new(Program).With(p, nil) }

// With readies a program of which some variables are those of e, as same says.
func (e *Program) With(p *ir.Program, same map[*ir.Var]*ir.Var) *Program {
	shared := e.globals
	e = &Program{codes: make(map[*ir.Func]*code), globals: make(map[*ir.Var][]uint64)}
	for _, g := range p.Globals {
		if e.globals[g] = shared[same[g]]; e.globals[g] == nil {
			e.globals[g] = words(sizes.Sizeof(g.Type))
		}
	}
	for _, g := range p.Globals {
		if g.Init != nil && shared[same[g]] == nil {
			c := &compiler{p: e, code: new(code), places: make(map[*ir.Var]place)}
			init := c.value(g.Init)
			fr := &frame{t: &thread{}}
			fr.room(int(c.code.size))
			init(fr, unsafe.Pointer(unsafe.SliceData(e.globals[g])))
		}
	}
	return e
}

// Launch says what is run, and how.
type Launch struct {
	Grid, Block [3]int
	// Shared is the size of dynamic shared memory in bytes.
	Shared int
	// Cluster is how many blocks form a cluster in each direction; zero: none.
	Cluster [3]int
	// Cooperative lets all blocks run at once.
	Cooperative bool
	// Races looks for threads that touch the same memory in no order.
	Races bool
	// Counts takes what the threads did; nil: nobody counts. Areas are the arguments'
	// memory.
	Counts *Counts
	Areas  []Area
	// Params are the arguments as they lie in memory, each at an address of its own.
	Params []unsafe.Pointer
	// Stop ends the launch when it closes.
	Stop <-chan struct{}
	// Out takes what Printf and println print.
	Out io.Writer
	// Watch is told about the steps of threads; nil: nobody is.
	Watch Watcher
}

// Panic is how a thread ended that panicked.
type Panic struct {
	Pos           token.Pos
	Func          string // the declared function
	Text          string
	Block, Thread [3]int
}

func (p *Panic) Error() string { return p.Text }

// Stuck says that threads wait for what cannot come.
type Stuck struct {
	Block, Thread [3]int // one that waits
	What          string
	Pos           token.Pos
	Other         [3]int // another thread of the block, which is not there
	OtherWhat     string // "" if it has ended
	OtherPos      token.Pos
}

func (s *Stuck) Error() string {
	other := "has ended"
	if s.OtherWhat != "" {
		other = "waits at " + s.OtherWhat
	}
	return fmt.Sprintf("thread %v of block %v waits at %s for thread %v, which %s", triple(s.Thread), triple(s.Block), s.What, triple(s.Other), other)
}

func triple(a [3]int) string { return fmt.Sprintf("(%d,%d,%d)", a[0], a[1], a[2]) }

// Divergence says that a thread waits where CUDA wants others that do not come: all
// threads of its block at a barrier, the lanes of the mask at an operation of a warp.
// A thread that returned counts as gone, as on GPUs of compute capability 7.0 and
// later, so barriers do not wait for it; but no mask may name it.
type Divergence struct {
	Block, Thread [3]int
	What          string
	Pos           token.Pos
	Other         [3]int
	OtherPos      token.Pos // another barrier, where that thread waits; none: it has ended
}

func (d *Divergence) Error() string {
	return fmt.Sprintf("thread %s of block %s waits at %s without thread %s", triple(d.Thread), triple(d.Block), d.What, triple(d.Other))
}

// stopped ends a launch that was interrupted.
type stopped struct{}

// ErrStopped is returned by a launch that Stop ended.
var ErrStopped = fmt.Errorf("the emulation was stopped")

// words is memory that is aligned to 8 bytes.
func words(bytes int64) []uint64 { return make([]uint64, max(1, (bytes+7)/8)) }

// pointer is an address that the emulated code reckoned with. What it points to is
// kept alive by the launch.
func pointer(x uint64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&x)) }

// address is what emulated code reckons with. What it points to must not lie on a
// goroutine's stack, which may move: never makes the compiler see to that.
func address(p unsafe.Pointer) uint64 {
	if never {
		escaped = p
	}
	return uint64(uintptr(p))
}

var (
	never   bool
	escaped unsafe.Pointer //lint:ignore U1000 a write is all that it is for
)

func move(dst, src unsafe.Pointer, n int64) {
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
}

func zero(dst unsafe.Pointer, n int64) { clear(unsafe.Slice((*byte)(dst), n)) }
