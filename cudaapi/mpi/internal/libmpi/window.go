//go:build linux && (amd64 || arm64)

package libmpi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"gocuda/cudaapi/internal/clib"
	"gocuda/cudaapi/mpi/internal/transport"
)

// window is one MPI_Win. Displacements are bytes.
type window struct {
	c       *comm
	handle  uintptr
	base    unsafe.Pointer
	flavor  transport.Flavor
	unified bool

	mu   sync.Mutex
	kept [][]unsafe.Pointer // by target: what the library still reads and writes
	own  any                // the program's memory that it is made of
	left []leftCall         // interrupted calls that the library has not ended yet
}

// leftCall is a call that the caller has left: over is closed when the library has ended it, and
// what it got was given back.
type leftCall struct {
	target int // of a Lock; else -1
	over   <-chan struct{}
}

// accessPart is the most bytes of one call.
const accessPart = 1 << 30

var _ transport.Windows = (*comm)(nil)

func (c *comm) NewWindow(f transport.Flavor, m transport.Memory, hints map[string]string) (transport.Window, error) {
	// Open MPI 4 has no windows of a single rank when threads may call it. Of two that are
	// made at once on communicators without a common rank, it names a file alike.
	// Before 4.1.5 a 64-bit compare-and-swap ends the process (open-mpi/ompi 11349).
	if v, old := strings.CutPrefix(c.t.info.Version, "Open MPI v4."); old && (c.size == 1 ||
		f != transport.Shared && (c.size < c.t.world.size || v < "1.5")) {
		return nil, transport.ErrNoWindow
	}
	if err := c.meet(); err != nil {
		return nil, err
	}
	info, err := c.t.newInfo(hints)
	if err != nil {
		return nil, err
	}
	w := &window{c: c, flavor: f, kept: make([][]unsafe.Pointer, c.size)}
	size := uintptr(m.Bytes())
	switch f {
	case transport.Created:
		w.base, w.own = m.P, m
		err = c.t.do(mpiWinCreate, address(m.P), size, 1, *info, c.handle, clib.Pin(&w.handle))
	case transport.Allocated:
		err = c.t.do(mpiWinAllocate, size, 1, *info, c.handle, clib.Pin(&w.base), clib.Pin(&w.handle))
	case transport.Shared:
		err = c.t.do(mpiWinAllocateShared, size, 1, *info, c.handle, clib.Pin(&w.base), clib.Pin(&w.handle))
	case transport.Dynamic:
		err = c.t.do(mpiWinCreateDynamic, *info, c.handle, clib.Pin(&w.handle))
	}
	if *info != c.t.abi.infoNull {
		c.t.call(mpiInfoFree, clib.Pin(info))
	}
	if c.t.overwrites && f != transport.Shared {
		// An Open MPI that has no component for such memory here, as Ubuntu's 4.1 where there is
		// no RDMA network, calls the window invalid.
		var e *transport.Error
		lacks, wrong := c.any(errors.As(err, &e) && e.Class == "MPI_ERR_WIN")
		switch {
		case wrong != nil:
			return nil, wrong
		case lacks: // a window that was made at another rank stays: to free it, all would have to
			return nil, transport.ErrNoWindow
		}
	}
	if err != nil {
		return nil, err
	}
	if err := c.t.do(mpiWinSetErrhandler, w.handle, c.t.abi.errorsReturn); err != nil {
		return nil, err
	}
	model := &struct {
		value *int32
		flag  int32
	}{}
	if err := c.t.do(mpiWinGetAttr, w.handle, c.t.abi.window.model, clib.Pin(&model.value), clib.Pin(&model.flag)); err != nil {
		return nil, err
	}
	w.unified = model.flag != 0 && *model.value == c.t.abi.window.unified
	return w, nil
}

// any tells whether one of the ranks says yes. It blocks.
func (c *comm) any(yes bool) (bool, error) {
	mine, all := new(bool), new(bool)
	*mine = yes
	memory := func(b *bool) transport.Memory { return transport.Memory{P: unsafe.Pointer(b), N: 1, T: transport.Bool} }
	err := c.block(&transport.Collective{Kind: transport.Allreduce, Send: memory(mine), Recv: memory(all), Op: transport.LogicalOr})
	return *all, err
}

// newInfo makes an MPI_Info of hints.
func (t *Transport) newInfo(hints map[string]string) (*uintptr, error) {
	info := new(uintptr)
	if len(hints) == 0 {
		*info = t.abi.infoNull
		return info, nil
	}
	if err := t.do(mpiInfoCreate, clib.Pin(info)); err != nil {
		return nil, err
	}
	for key, value := range hints {
		k, v := append([]byte(key), 0), append([]byte(value), 0)
		if err := t.do(mpiInfoSet, *info, clib.Pin(&k[0]), clib.Pin(&v[0])); err != nil {
			t.call(mpiInfoFree, clib.Pin(info))
			return nil, err
		}
	}
	return info, nil
}

func (w *window) Base() unsafe.Pointer { return w.base }
func (w *window) Unified() bool        { return w.unified }

func (w *window) SharedBase(rank int) (unsafe.Pointer, error) {
	got := &struct {
		size int
		unit int32
		base unsafe.Pointer
	}{}
	err := w.c.t.do(mpiWinSharedQuery, w.handle, uintptr(rank), clib.Pin(&got.size), clib.Pin(&got.unit), clib.Pin(&got.base))
	return got.base, err
}

func (w *window) Attach(m transport.Memory) error {
	return w.c.t.do(mpiWinAttach, w.handle, address(m.P), uintptr(m.Bytes()))
}

func (w *window) Detach(m transport.Memory) error {
	return w.c.t.do(mpiWinDetach, w.handle, address(m.P))
}

// part is the memory from a byte on, so many bytes of it.
func part(m transport.Memory, at, n int) transport.Memory {
	if m.P != nil {
		m.P = unsafe.Add(m.P, at)
		m.N = n / m.T.Size()
	}
	return m
}

func (w *window) Access(a *transport.Access, request bool) (transport.Request, error) {
	if err := w.c.t.device(a.Origin, a.Result); err != nil {
		return nil, err
	}
	if t := a.Type(); w.c.t.overwrites && a.Kind > transport.Get && (t == transport.Float64Int || t == transport.Int64Int) {
		// Seen in 4.1 and 5.0: it computes with wrong elements, and writes past memory of its own.
		return nil, &transport.Error{Class: "MPI_ERR_UNSUPPORTED_OPERATION", Call: "MPI_Accumulate",
			Text: "Open MPI does not combine " + t.String() + ", which have a gap, in windows; use pairs of float32 and int32, or of int32"}
	}
	n := max(a.Origin.Bytes(), a.Result.Bytes())
	if n <= accessPart {
		return w.access(a, request)
	}
	var parts several
	for at := 0; at < n; at += accessPart {
		p := *a
		long := min(accessPart, n-at)
		p.Origin, p.Result, p.At = part(a.Origin, at, long), part(a.Result, at, long), a.At+at
		r, err := w.access(&p, request)
		if err != nil {
			return nil, err
		}
		parts = append(parts, r)
	}
	if !request {
		return nil, nil
	}
	return parts, nil
}

func (w *window) access(a *transport.Access, request bool) (transport.Request, error) {
	t := w.c.t
	w.keep(a)
	var f function
	var args [13]uintptr
	n := 0
	add := func(words ...uintptr) { n += copy(args[n:], words) }
	memory := func(m transport.Memory) { add(address(m.P), uintptr(m.N), t.typeOf(m)) }
	target, at := t.abi.rankToC(a.Target), uintptr(a.At)
	switch a.Kind {
	case transport.Put:
		f = mpiPut
		memory(a.Origin)
		add(target, at, uintptr(a.Origin.N), t.typeOf(a.Origin))
	case transport.Get:
		f = mpiGet
		memory(a.Result)
		add(target, at, uintptr(a.Result.N), t.typeOf(a.Result))
	case transport.Accumulate:
		f = mpiAccumulate
		memory(a.Origin)
		add(target, at, uintptr(a.Origin.N), t.typeOf(a.Origin), t.opOf(a.Op))
	case transport.GetAccumulate:
		f = mpiGetAccumulate
		memory(a.Origin)
		memory(a.Result)
		add(target, at, uintptr(a.Result.N), t.typeOf(a.Result), t.opOf(a.Op))
	case transport.FetchAndOp:
		f = mpiFetchAndOp
		add(address(a.Origin.P), address(a.Result.P), t.typeOf(a.Result), target, at, t.opOf(a.Op))
	case transport.CompareAndSwap:
		f = mpiCompareAndSwap
		add(address(a.Origin.P), address(a.Compare.P), address(a.Result.P), t.typeOf(a.Result), target, at)
	}
	if !request {
		add(w.handle)
		return nil, t.do(f, args[:n]...)
	}
	f += mpiRput - mpiPut
	r := t.newRequest(f)
	r.keep[0], r.keep[1] = a.Origin.P, a.Result.P
	add(w.handle, r.out())
	return t.started(r, t.call(f, args[:n]...))
}

// keep holds an operation's memory until a synchronization of its target.
func (w *window) keep(a *transport.Access) {
	if a.Target < 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	list := &w.kept[a.Target]
	for _, m := range [...]transport.Memory{a.Origin, a.Compare, a.Result} {
		// Of a loop over one buffer, once is enough.
		if m.P != nil && (len(*list) == 0 || (*list)[len(*list)-1] != m.P) {
			*list = append(*list, m.P)
		}
	}
}

// release lets go of what was kept for a target, or all.
func (w *window) release(target int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.kept {
		if target < 0 || i == target {
			clear(w.kept[i])
			w.kept[i] = w.kept[i][:0]
		}
	}
}

// opOf is an operation of accumulates.
func (t *Transport) opOf(op transport.Op) uintptr {
	switch op {
	case transport.Replace:
		return t.abi.window.replace
	case transport.NoOp:
		return t.abi.window.noOp
	}
	return t.abi.ops[op]
}

func (w *window) Sync(s transport.Sync, stop <-chan struct{}) (done bool, err error) {
	t := w.c.t
	if s.Kind == transport.TestExposure {
		flag := new(int32)
		err := t.do(mpiWinTest, w.handle, clib.Pin(flag))
		return *flag != 0, err
	}
	if s.Kind == transport.Fence && t.level < len(threadNames)-1 {
		err = w.c.meet()
	}
	before := w.unended(s)
	switch {
	case err != nil:
	case len(before) == 0 && (stop == nil && t.matchings.n.Load() == 0 || s.Kind == transport.SyncMemory):
		err = w.sync(s)
	default:
		over, stopped := t.blocking(func() error {
			for _, c := range before {
				<-c.over
			}
			return w.sync(s)
		}, stop, func() {
			switch s.Kind { // the lock came after the caller gave up: give it back
			case transport.Lock:
				t.call(mpiWinUnlock, uintptr(s.Target), w.handle)
			case transport.LockAll:
				t.call(mpiWinUnlockAll, w.handle)
			}
		})
		if err = stopped; over != nil {
			target := -1
			if s.Kind == transport.Lock {
				target = s.Target
			}
			w.mu.Lock()
			w.left = append(w.left, leftCall{target, over})
			w.mu.Unlock()
		}
	}
	if err != nil {
		return false, err
	}
	switch s.Kind {
	case transport.Lock, transport.LockAll, transport.Post, transport.StartAccess, transport.SyncMemory:
	case transport.Unlock, transport.Flush, transport.FlushLocal:
		w.release(s.Target)
	default:
		w.release(-1)
	}
	return true, nil
}

// unended are the calls that were left and that a synchronization has to wait for: MPI takes no
// second lock of a target, nor another epoch beside one. What ends an epoch does not wait, as
// the call that was left may wait for just that.
func (w *window) unended(s transport.Sync) []leftCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = slices.DeleteFunc(w.left, func(c leftCall) bool {
		select {
		case <-c.over:
			return true
		default:
			return false
		}
	})
	switch s.Kind {
	case transport.Lock:
		var list []leftCall
		for _, c := range w.left {
			if c.target < 0 || c.target == s.Target {
				list = append(list, c)
			}
		}
		return list
	case transport.LockAll, transport.Fence, transport.StartAccess:
		return slices.Clone(w.left)
	}
	return nil
}

// sync makes the library's call.
func (w *window) sync(s transport.Sync) error {
	t := w.c.t
	assert, target := t.abi.assert(s.Assert), uintptr(s.Target)
	switch s.Kind {
	case transport.Fence:
		return t.do(mpiWinFence, assert, w.handle)
	case transport.Post:
		return w.withGroup(mpiWinPost, s.Group, assert)
	case transport.StartAccess:
		return w.withGroup(mpiWinStart, s.Group, assert)
	case transport.Complete:
		return t.do(mpiWinComplete, w.handle)
	case transport.WaitExposure:
		return t.do(mpiWinWait, w.handle)
	case transport.Lock:
		kind := t.abi.window.shared
		if s.Exclusive {
			kind = t.abi.window.exclusive
		}
		return t.do(mpiWinLock, kind, target, assert, w.handle)
	case transport.LockAll:
		return t.do(mpiWinLockAll, assert, w.handle)
	case transport.Unlock:
		return t.do(mpiWinUnlock, target, w.handle)
	case transport.UnlockAll:
		return t.do(mpiWinUnlockAll, w.handle)
	case transport.Flush:
		return t.do(mpiWinFlush, target, w.handle)
	case transport.FlushAll:
		return t.do(mpiWinFlushAll, w.handle)
	case transport.FlushLocal:
		return t.do(mpiWinFlushLocal, target, w.handle)
	case transport.FlushLocalAll:
		return t.do(mpiWinFlushLocalAll, w.handle)
	case transport.SyncMemory:
		return t.do(mpiWinSync, w.handle)
	}
	return fmt.Errorf("no synchronization %d", s.Kind)
}

// withGroup calls f with a group of ranks.
func (w *window) withGroup(f function, ranks []int, assert uintptr) error {
	group, err := w.c.group(ranks)
	if err != nil {
		return err
	}
	defer w.c.t.call(mpiGroupFree, clib.Pin(group))
	return w.c.t.do(f, *group, assert, w.handle)
}

// blocking makes a call that may block for long, on another goroutine, where the wait
// may have to end before, or receives have to be matched meanwhile. It calls late when
// the call ends well after the wait. Of a wait that was stopped, over is closed after that.
func (t *Transport) blocking(call func() error, stop <-chan struct{}, late func()) (over <-chan struct{}, err error) {
	done, left, ended := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		err := call()
		select {
		case done <- err:
		case <-left:
			if err == nil {
				late()
			}
		}
	}()
	look := time.NewTicker(100 * time.Microsecond)
	defer look.Stop()
	for {
		var match <-chan time.Time
		if t.matchings.n.Load() > 0 {
			match = look.C
		}
		select {
		case err := <-done:
			return nil, err
		case <-stop:
			close(left)
			return ended, transport.ErrStopped
		case <-match:
			t.matchings.progress()
		}
	}
}

// group makes an MPI_Group of ranks.
func (c *comm) group(ranks []int) (*uintptr, error) {
	all, some := new(uintptr), new(uintptr)
	if err := c.t.do(mpiCommGroup, c.handle, clib.Pin(all)); err != nil {
		return nil, err
	}
	defer c.t.call(mpiGroupFree, clib.Pin(all))
	list := make([]int32, len(ranks)+1)
	for i, r := range ranks {
		list[i] = int32(r)
	}
	return some, c.t.do(mpiGroupIncl, *all, uintptr(len(ranks)), clib.Pin(&list[0]), clib.Pin(some))
}

func (w *window) Free() error {
	if err := w.c.meet(); err != nil {
		return err
	}
	err := w.c.t.do(mpiWinFree, clib.Pin(&w.handle))
	w.release(-1)
	w.own = nil
	return err
}

// windowABI is what one-sided communication has of mpi.h.
type windowABI struct {
	model, replace, noOp uintptr
	exclusive, shared    uintptr
	unified              int32
	asserts              [5]uintptr // by the bit
}

var assertNames = []string{"MPI_MODE_NOCHECK", "MPI_MODE_NOSTORE", "MPI_MODE_NOPUT", "MPI_MODE_NOPRECEDE", "MPI_MODE_NOSUCCEED"}

func (a *abi) windows(handle func(string) uintptr) {
	a.window = windowABI{
		model: handle("MPI_WIN_MODEL"), replace: handle("MPI_REPLACE"), noOp: handle("MPI_NO_OP"),
		exclusive: handle("MPI_LOCK_EXCLUSIVE"), shared: handle("MPI_LOCK_SHARED"), unified: int32(handle("MPI_WIN_UNIFIED")),
	}
	for i, name := range assertNames {
		a.window.asserts[i] = handle(name)
	}
}

func (a *abi) assert(bits transport.Assert) (c uintptr) {
	for i, word := range a.window.asserts {
		if bits&(1<<i) != 0 {
			c |= word
		}
	}
	return c
}
