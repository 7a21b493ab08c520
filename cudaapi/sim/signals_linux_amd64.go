package sim

import (
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What goes wrong in a kernel in a way that only the processor sees (an access
// that nothing checks, a jump to nowhere, an instruction that there is not)
// raises a signal, of which Go's runtime would end the process. So a handler
// comes before Go's: where the stack pointer lies on a kernel's stack, the thread
// goes on at the worker's fault (include/runtime/block.h), and the launch has
// failed. All else is Go's. SIGURG, by which Go interrupts its own threads, ends
// kernels that are told to stop and do not look.
var caught = []unix.Signal{unix.SIGSEGV, unix.SIGBUS, unix.SIGFPE, unix.SIGILL, unix.SIGTRAP, unix.SIGURG}

// watched are the stacks of workers, as the handler reads them; entries beyond
// watchedCount are not in use. It finds no more than these.
var (
	watched      [1024]struct{ lo, hi, worker uintptr }
	watchedCount uintptr
	watching     sync.Mutex
	chain        [65]uintptr // the old handlers, by signal
)

func onSignal()               //lint:ignore U1000 the handler, which the system calls
func onSignalAt() uintptr     // where it lies
func threadID() uint32        { return uint32(unix.Gettid()) }
func tgkill(tid uint32) error { return unix.Tgkill(os.Getpid(), int(tid), unix.SIGURG) }

// catch puts the handler before Go's, once in a process.
var catch = sync.OnceFunc(func() {
	type sigaction struct {
		handler, flags, restorer uintptr
		mask                     uint64
	}
	change := func(s unix.Signal, to, from *sigaction) bool {
		_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(from)), 8, 0, 0)
		return e == 0
	}
	for _, s := range caught {
		var a sigaction
		const needed = 0x4 | 0x08000000 // SA_SIGINFO | SA_ONSTACK
		if !change(s, nil, &a) || a.handler <= 1 || a.flags&needed != needed {
			continue // not Go's: somebody else wants it
		}
		chain[s] = a.handler
		a.handler = onSignalAt()
		change(s, &a, nil)
	}
})

// watch makes the handler know a worker and its stacks, which end where it begins.
func watch(stacks, worker uintptr) {
	catch()
	watching.Lock()
	defer watching.Unlock()
	used := watched[:watchedCount]
	i := slices.IndexFunc(used, func(g struct{ lo, hi, worker uintptr }) bool { return g.hi == 0 })
	if i < 0 {
		if i = len(used); i == len(watched) {
			return
		}
	}
	g := &watched[i]
	g.lo, g.worker = stacks, worker
	atomic.StoreUintptr(&g.hi, worker)
	atomic.StoreUintptr(&watchedCount, max(watchedCount, uintptr(i+1)))
}

// unwatch makes it forget those that lie there.
func unwatch(lo, hi uintptr) {
	watching.Lock()
	defer watching.Unlock()
	for i := range watchedCount {
		if g := &watched[i]; g.lo >= lo && g.hi <= hi && g.hi != 0 {
			atomic.StoreUintptr(&g.hi, 0)
		}
	}
}

// halt ends the thread that a worker runs. It may come at a moment when that
// cannot be: the caller tries again.
func halt(w *workerABI) {
	atomic.StoreUint32(&w.halt, 1)
	tgkill(atomic.LoadUint32(&w.tid)) //nolint:errcheck // the thread may have ended
}
