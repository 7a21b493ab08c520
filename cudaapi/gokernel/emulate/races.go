package emulate

import (
	"fmt"
	"go/token"
	"go/types"
	"unsafe"

	"gocuda/cudaapi/gokernel/ir"
)

// Race is two threads that touch the same memory, one of them writing, where nothing
// orders them: no barrier between them, not both by atomic operations, and no fence
// after what was done first.
type Race struct {
	Block, Thread           [3]int // of what was done first
	OtherBlock, OtherThread [3]int
	Pos, OtherPos           token.Pos
	Writes, OtherWrites     bool
}

func (r *Race) Error() string {
	return fmt.Sprintf("thread %v of block %v and thread %v of block %v touch the same memory, and nothing orders them", triple(r.Thread), triple(r.Block), triple(r.OtherThread), triple(r.OtherBlock))
}

// races is what threads touched, by address: in pieces of four bytes, or as small as
// the accesses are.
type races struct {
	cells map[uint64]*cell
	first *Race
	grid  int // barriers of the grid so far
}

// cell is who wrote a piece of memory last, and up to two threads that have read it.
type cell struct {
	write access
	reads [2]access
}

// access is what a thread did, and when.
type access struct {
	t      *[3]int // the thread's index, one for each thread
	block  *block
	linear int
	pos    token.Pos
	atomic bool
	// Barriers of the grid, of the block and of the warp before it, and fences of the
	// thread.
	grid, barriers, warp, fences int
	fence                        *int
}

func (t *thread) access(atomic bool) access {
	if t.self == nil {
		at := t.index
		t.self, t.fence = &at, new(int)
	}
	a := access{t: t.self, block: t.block, linear: t.linear, pos: t.at, atomic: atomic, fence: t.fence, fences: *t.fence}
	a.grid, a.barriers, a.warp = t.run.races.grid, t.block.barriers, t.block.warps[t.linear/32]
	return a
}

// before says whether an access that was made is ordered before another.
func (a *access) before(b *access) bool {
	switch {
	case a.t == nil || a.t == b.t || a.grid != b.grid || a.atomic && b.atomic || *a.fence > a.fences:
		return true
	case a.block != b.block:
		return false
	}
	return a.barriers != b.barriers || a.linear/32 == b.linear/32 && a.warp != b.warp
}

// touch notes that the thread reads or writes memory, for races and counts.
func (t *thread) touch(p unsafe.Pointer, size int64, write, atomic bool) {
	r := t.run.races
	if r == nil && t.run.Counts == nil || t.owns(address(p)) {
		return
	}
	if t.run.Counts != nil {
		t.count(p, size, write, atomic)
	}
	if r == nil {
		return
	}
	now := t.access(atomic)
	for at, end := address(p), address(p)+uint64(size); at < end; at += 4 {
		c := r.cells[at]
		if c == nil {
			c = new(cell)
			r.cells[at] = c
		}
		if !c.write.before(&now) {
			r.tell(&c.write, &now, true, write)
		}
		if !write {
			if c.reads[0].before(&now) {
				c.reads[0] = now
			} else {
				c.reads[1] = now
			}
			continue
		}
		for i := range c.reads {
			if !c.reads[i].before(&now) {
				r.tell(&c.reads[i], &now, false, true)
			}
		}
		c.write, c.reads = now, [2]access{}
	}
}

func (r *races) tell(a, b *access, aWrites, bWrites bool) {
	if r.first == nil {
		r.first = &Race{Block: a.block.index, Thread: *a.t, OtherBlock: b.block.index, OtherThread: *b.t, Pos: a.pos, OtherPos: b.pos, Writes: aWrites, OtherWrites: bWrites}
	}
}

// owns says whether an address is in the thread's own variables.
func (t *thread) owns(at uint64) bool {
	for _, f := range t.frames {
		if start := address(unsafe.Pointer(unsafe.SliceData(f.block))); at-start < uint64(8*len(f.block)) {
			return true
		}
	}
	return false
}

// shared says whether other threads may reach where an expression's value lies.
func shared(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Ref:
		return e.Var.Space == ir.Shared || e.Var.Space == ir.Global
	case *ir.Field:
		return shared(e.X)
	case *ir.Index:
		if isSlice(e.X.Type()) {
			return true
		}
		return shared(e.X)
	case *ir.Deref:
		return true
	}
	return false
}

// read is where an expression's value lies, which is going to be read.
func (c *compiler) read(e ir.Expr) locate { return c.touched(e, false) }

func (c *compiler) touched(e ir.Expr, write bool) locate {
	p := c.place(e)
	if !shared(e) {
		return p
	}
	size := sizes.Sizeof(e.Type())
	return func(fr *frame) unsafe.Pointer {
		at := p(fr)
		fr.t.touch(at, size, write, false)
		return at
	}
}

func isSlice(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}
