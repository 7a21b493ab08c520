package sim

import (
	"errors"
	"runtime"
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
	tls     [2]uint64
	sites   uintptr // what the code's accesses remember; see include/sim/check.h
	nosites uintptr // as many that stay empty
	poke    uint32
}

const (
	stackSize   = 256 << 10
	stackUsable = 176 << 10 // of it, by any thread's functions: asm.go, include/sim/thread.h
	workerSize  = 1 << 10   // more than gocuda::Worker takes
	blockSize   = 48 << 10  // more than gocuda::Block takes
	maxSites    = 4096      // of one image
	siteSize    = 16
	countFirst  = 8 // blocks whose accesses are counted, as in include/sim/thread.h
	countEvery  = 64
	pokeEvery   = 2 * time.Millisecond
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
	mu   sync.Mutex
	idle []uintptr // worker structs with memory for a block
	maps [][2]uintptr
}

// hire takes a worker for launches whose blocks do not wait for each other.
func (c *crew) hire() (uintptr, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.idle); n > 0 {
		w := c.idle[n-1]
		c.idle = c.idle[:n-1]
		return w, nil
	}
	w, m, err := newWorker(1, maxThreads, maxSharedOptin, 0)
	if err == nil {
		c.maps = append(c.maps, m)
	}
	return w, err
}

// newWorker maps a worker with memory for so many blocks: their threads'
// stacks at multiples of their size, and the rest after them.
func newWorker(blocks, threads, shared, kept uint64) (w uintptr, m [2]uintptr, err error) {
	n := blocks * threads
	total := uintptr((n+1)*stackSize + workerSize + blocks*(blockSize+roundUp(shared, 16)+roundUp(kept, 16)) + 2*maxSites*siteSize + hostPage)
	p, err := mapPrivate(0, total)
	if err != nil {
		return 0, m, err
	}
	stacks := uintptr(roundUp(uint64(p), stackSize))
	w = stacks + uintptr(n*stackSize)
	a := workerABI{stacks: stacks, nstacks: n, blocks: w + workerSize}
	a.shared = a.blocks + uintptr(blocks*blockSize)
	a.kept = a.shared + uintptr(blocks*roundUp(shared, 16))
	a.sites = a.kept + uintptr(blocks*roundUp(kept, 16))
	a.nosites = a.sites + maxSites*siteSize
	*(*workerABI)(pointer(w)) = a
	return w, [2]uintptr{p, total}, nil
}

// dismiss gives the workers' memory back.
func (c *crew) dismiss() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.maps {
		release(m[0], m[1]) //nolint:errcheck // nothing can be done
	}
	c.idle, c.maps = nil, nil
}

func (c *crew) leave(w uintptr) {
	c.mu.Lock()
	c.idle = append(c.idle, w)
	c.mu.Unlock()
}

// run runs a launch on so many threads.
func (c *crew) run(f *function, a *launchABI, workers int) error {
	p := &poker{sites: f.mod.code.sites}
	p.timer = time.AfterFunc(pokeEvery, p.poke)
	defer p.timer.Stop()
	var wg sync.WaitGroup
	errs := make([]error, workers)
	for i := range workers {
		if i == workers-1 {
			errs[i] = c.work(f, a, p)
			break
		}
		wg.Go(func() { errs[i] = c.work(f, a, p) })
	}
	wg.Wait()
	runtime.KeepAlive(f)
	return errors.Join(errs...)
}

// work runs blocks of a launch on this thread until there are none left.
func (c *crew) work(f *function, a *launchABI, p *poker) error {
	var w uintptr
	var err error
	if a.cooperative != 0 {
		threads := uint64(a.block[0]) * uint64(a.block[1]) * uint64(a.block[2])
		var m [2]uintptr
		w, m, err = newWorker(a.blocks, threads, uint64(a.shared), f.mod.code.tlsSize)
		defer func() { release(m[0], m[1]) }() //nolint:errcheck // nothing can be done
	} else if w, err = c.hire(); err == nil {
		defer c.leave(w)
	}
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	code := f.mod.code
	lo := uint64(call(code.tls)) - code.tlsOff
	abi := (*workerABI)(pointer(w))
	abi.tls = [2]uint64{lo, lo + code.tlsSize}
	clear(bytesAt(abi.sites, uint64(code.sites*siteSize)))
	p.add(abi)
	defer p.remove(abi)
	call(code.run, address(a), w, address(&f.kernel.describe))
	return nil
}

// poker makes threads that spin let others of their block run: now and then it
// makes the code forget what it knows of its accesses, so that the next one
// comes to include/sim/check.h, which heeds poke.
type poker struct {
	sites   int
	timer   *time.Timer
	mu      sync.Mutex
	workers []*workerABI
}

func (p *poker) add(w *workerABI) {
	p.mu.Lock()
	p.workers = append(p.workers, w)
	p.mu.Unlock()
}

func (p *poker) remove(w *workerABI) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.workers {
		if p.workers[i] == w {
			p.workers[i] = p.workers[len(p.workers)-1]
			p.workers = p.workers[:len(p.workers)-1]
			return
		}
	}
}

func (p *poker) poke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.workers) == 0 {
		return
	}
	for _, w := range p.workers {
		atomic.StoreUint32(&w.poke, 1)
		for i := range uintptr(p.sites) {
			atomic.StoreUint64((*uint64)(pointer(w.sites+i*siteSize+8)), 0) // no access fits
		}
	}
	p.timer.Reset(pokeEvery)
}
