package sim

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// workerABI has the layout of gocuda::Worker up to its local part.
type workerABI struct {
	stacks  uintptr
	nstacks uint64
	blocks  uintptr
	shared  uintptr
	kept    uintptr
	room    uint64
	used    uint64
	tls     [2]uint64
	sites   uintptr // what the code's accesses remember; see include/runtime/check.h
	nosites uintptr // as many that fit no access, and count those of loads instead
	traced  uintptr // those of kernels that tell what they touch, with a trail each
	kinds   uintptr // what the trails are of
	trails  uint64  // how many there are; 0: nobody wants to know
	touched [2*maxAreas + 2]uint64
	fault   uintptr // where a thread goes on that a signal has stopped; 0: none runs
	image   [2]uintptr
	halt    uint32 // a signal is to end the thread that runs
	faulted uint32
	tid     uint32 // the worker's thread of the operating system
	poke    uint32
	begun   uint32
}

const (
	stackSize   = 256 << 10
	stackUsable = 176 << 10 // of it, by any thread's functions: asm.go, include/sim/thread.h
	stackGap    = 4 << 20   // that nobody can write to, before the first
	workerSize  = 1 << 10   // more than gocuda::Worker takes
	blockSize   = 48 << 10  // more than gocuda::Block takes
	maxSites    = 4096      // of one image
	siteSize    = 16
	sitesSize   = maxSites * siteSize // as in include/sim/thread.h
	trailSize   = 2 * siteSize
	countFirst  = 8 // blocks whose accesses are counted, as in include/sim/thread.h
	countEvery  = 64
	pokeEvery   = 2 * time.Millisecond
	heldUp      = 25 // pokes without a block that begins, until a worker is added
	haltAfter   = 10 // pokes, until a launch that was told to stop is stopped
	longestNap  = 500 * time.Microsecond
)

// countedBlocks is how many blocks of a launch count their accesses.
func countedBlocks(blocks uint64) uint64 {
	if blocks <= countFirst {
		return blocks
	}
	return countFirst + (blocks-1)/countEvery
}

// crew is the workers that kernels run on.
type crew struct {
	stacks, blocks, shared uint64 // what a worker has room for: a whole device's

	mu   sync.Mutex
	idle []uintptr // worker structs
	maps [][2]uintptr
}

func (c *crew) init(p *Profile) {
	c.stacks = uint64(p.SMs * maxThreadsPerSM)
	c.blocks = uint64(p.SMs * maxBlocksPerSM)
	c.shared = uint64(p.SMs*p.SharedPerSM) + maxSharedOptin
}

// hire takes a worker.
func (c *crew) hire() (uintptr, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.idle); n > 0 {
		w := c.idle[n-1]
		c.idle = c.idle[:n-1]
		return w, nil
	}
	w, m, err := newWorker(c.stacks, c.blocks, c.shared)
	if err != nil { // not so much address space: one block
		w, m, err = newWorker(maxThreads, 1, maxSharedOptin)
	}
	if err == nil {
		c.maps = append(c.maps, m)
	}
	return w, err
}

// newWorker maps a worker with memory for so many blocks: their threads'
// stacks at multiples of their size, and the rest after them. It is memory only
// where it is used.
func newWorker(stacks, blocks, shared uint64) (w uintptr, m [2]uintptr, err error) {
	total := uintptr((stacks+1)*stackSize + workerSize + blocks*blockSize + 2*shared + 11*sitesSize + maxSites + hostPage)
	total += stackGap
	p, err := mapPrivate(0, total)
	if err != nil {
		return 0, m, err
	}
	first := uintptr(roundUp(uint64(p)+stackGap, stackSize))
	forbid(p, first-p)
	w = first + uintptr(stacks*stackSize)
	a := workerABI{stacks: first, nstacks: stacks, blocks: w + workerSize, room: blocks}
	a.shared = a.blocks + uintptr(blocks*blockSize)
	a.kept = a.shared + uintptr(roundUp(shared, 16))
	a.sites = uintptr(roundUp(uint64(a.kept)+roundUp(shared, 16), sitesSize))
	// Behind each there are trails, which lead nowhere but behind the last: nobody
	// writes to them.
	a.nosites = a.sites + 3*sitesSize
	a.traced = a.nosites + 3*sitesSize
	a.kinds = a.traced + 3*sitesSize
	*(*workerABI)(pointer(w)) = a
	watch(p, w)
	return w, [2]uintptr{p, total}, nil
}

// dismiss gives the workers' memory back.
func (c *crew) dismiss() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.maps {
		unwatch(m[0], m[0]+m[1])
		release(m[0], m[1]) //nolint:errcheck // nothing can be done
	}
	c.idle, c.maps = nil, nil
}

func (c *crew) leave(w uintptr) {
	a := (*workerABI)(pointer(w))
	if a.used > maxThreads {
		discard(-1, 0, a.stacks+maxThreads*stackSize, uintptr(a.used-maxThreads)*stackSize)
	}
	c.mu.Lock()
	c.idle = append(c.idle, w)
	c.mu.Unlock()
}

// run runs a launch on so many threads, and more if those are held up. Where
// blocks wait for memory to change, it asks now and then whether to give up.
func (c *crew) run(f *function, a *launchABI, workers int, ending *atomic.Bool, waits func() bool) error {
	t := &team{crew: c, f: f, a: a, ending: ending, waits: waits, room: int(a.limit), passed: make([]uint64, f.mod.code.sites)}
	t.mu.Lock()
	for range workers {
		t.join()
	}
	t.timer = time.AfterFunc(pokeEvery, t.poke)
	t.mu.Unlock()
	t.wg.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer.Stop()
	for _, n := range t.passed {
		a.rounds = max(a.rounds, n)
	}
	runtime.KeepAlive(f)
	return errors.Join(t.errs...)
}

// team is the workers of one launch.
type team struct {
	crew   *crew
	f      *function
	a      *launchABI
	ending *atomic.Bool // the launch need not go on
	waits  func() bool
	room   int // blocks that the device has room for
	timer  *time.Timer
	wg     sync.WaitGroup

	mu      sync.Mutex
	workers []*workerABI
	passed  []uint64 // how often each site was, where accesses are counted
	errs    []error
	begun   uint64 // blocks when they were last counted
	held    int    // how often since then none had begun
	stopped int    // pokes since the launch was told to stop
}

// join adds a worker. t.mu is held.
func (t *team) join() {
	t.wg.Add(1)
	atomic.StoreUint32(&t.a.limit, uint32(max(0, t.room-len(t.workers)-1)))
	w, err := t.crew.hire()
	if err != nil {
		if len(t.workers) == 0 {
			t.errs = append(t.errs, err)
		}
		t.wg.Done()
		return
	}
	abi := (*workerABI)(pointer(w))
	t.workers = append(t.workers, abi)
	go func() {
		defer t.wg.Done()
		t.work(w)
		t.leave(abi)
		t.crew.leave(w)
	}()
}

// work runs blocks of the launch on this thread until there are none left.
func (t *team) work(w uintptr) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	code, abi := t.f.mod.code, (*workerABI)(pointer(w))
	lo := uint64(call(code.tls)) - code.tlsOff
	abi.tls = [2]uint64{lo, lo + code.tlsSize}
	abi.begun, abi.touched = 0, [2*maxAreas + 2]uint64{}
	atomic.StoreUint32(&abi.halt, 0)
	atomic.StoreUint32(&abi.tid, threadID())
	abi.room = t.crew.roomFor(abi, t.a, code.tlsSize)
	if uint64(t.a.cluster[0]) > abi.room {
		t.mu.Lock()
		t.errs = append(t.errs, fmt.Errorf("there is no room for the %d blocks of a cluster side by side", t.a.cluster[0]))
		t.mu.Unlock()
		return
	}
	clear(bytesAt(abi.sites, uint64(code.sites*siteSize)))
	clear(bytesAt(abi.nosites, uint64(code.sites*siteSize)))
	if abi.trails = 0; t.a.traces != 0 {
		abi.trails = uint64(code.sites)
		clear(bytesAt(abi.traced, uint64(code.sites*siteSize)))
		clear(bytesAt(abi.traced+sitesSize, uint64(code.sites*trailSize)))
		clear(bytesAt(abi.kinds, uint64(code.sites)))
	}
	for idle := 0; ; idle++ {
		switch call(code.run, address(t.a), w, address(&t.f.kernel.describe)) {
		case 1:
			return
		case 2:
			idle = 0 // something moved
		}
		if idle%16 == 0 && t.waits() {
			atomic.StoreUint32(&t.a.stop, 1)
		}
		if idle < 16 {
			runtime.Gosched()
		} else {
			time.Sleep(min(time.Duration(idle)*time.Microsecond, longestNap))
		}
	}
}

// roomFor is how many blocks of a launch a worker can have in progress.
func (c *crew) roomFor(w *workerABI, a *launchABI, static uint64) uint64 {
	if w.nstacks < c.stacks {
		return 1
	}
	n := min(c.blocks, c.stacks/(uint64(a.block[0])*uint64(a.block[1])*uint64(a.block[2])))
	for _, size := range []uint64{roundUp(uint64(a.shared), 16), roundUp(static, 16)} {
		if size > 0 {
			n = min(n, c.shared/size)
		}
	}
	return n
}

func (t *team) leave(w *workerABI) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, n := range w.touched {
		t.a.touched[i] += n
	}
	for i := range t.passed {
		t.passed[i] += *(*uint64)(pointer(w.nosites + uintptr(i*siteSize)))
	}
	t.workers = slices.DeleteFunc(t.workers, func(o *workerABI) bool { return o == w })
}

// poke makes threads that spin let others of their block run: now and then it
// makes the code forget what it knows of its accesses, so that the next one
// comes to include/runtime/check.h, which heeds poke. And if no block has begun for
// long, though there is room, it adds a worker: some code spins in a way that
// include/sim/spin.h does not see. A launch that was told to stop and goes on all
// the same, in a loop that accesses no memory, is stopped by a signal.
func (t *team) poke() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.workers) == 0 {
		return
	}
	if t.ending.Load() {
		atomic.StoreUint32(&t.a.stop, 1)
	}
	if atomic.LoadUint32(&t.a.stop) != 0 {
		t.stopped++
	}
	for _, w := range t.workers {
		if t.stopped > haltAfter {
			halt(w)
		}
		atomic.StoreUint32(&w.poke, 1)
		for i := range uintptr(t.f.mod.code.sites) {
			atomic.StoreUint64((*uint64)(pointer(w.sites+i*siteSize+8)), 0) // no access fits
			if t.a.traces != 0 {
				atomic.StoreUint64((*uint64)(pointer(w.traced+sitesSize+i*trailSize+24)), 0) // no trail leads on
			}
		}
	}
	begun := atomic.LoadUint64(&t.a.next)
	if t.held++; begun != t.begun {
		t.begun, t.held = begun, 0
	}
	running := len(t.workers) + int(atomic.LoadUint32(&t.a.beside))
	if t.held > 0 && t.held%heldUp == 0 && begun < t.a.blocks && running < t.room && t.a.cooperative == 0 && t.a.order == 0 {
		t.join()
	}
	t.timer.Reset(pokeEvery)
}
