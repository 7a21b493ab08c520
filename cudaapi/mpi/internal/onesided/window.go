package onesided

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/coll"
	"gocuda/cudaapi/mpi/internal/transport"
)

// Device is memory that this process cannot read at an address.
type Device interface {
	Read(at int, to []byte) error
	Write(at int, from []byte) error
}

// Sharing gives all ranks of a communicator memory that each of them can read and
// write: bytes says how much at this rank, parts has every rank's. It is collective.
type Sharing interface {
	Share(bytes int) (parts [][]byte, release func(), err error)
}

// Window is a rank's part of a window.
type Window struct {
	c      transport.Comm // for the window only
	rank   int
	flavor transport.Flavor
	mem    transport.Memory
	device Device // nil: of the host

	shared  []sharedPart // by rank; nil: memory is not shared
	release func()

	tag  atomic.Int32 // of the latest answer that was asked for
	quit chan struct{}
	over chan struct{} // the server has ended

	broken chan struct{} // closed when a rank was lost
	why    error

	mu       sync.Mutex // the memory, and all below
	changed  chan struct{}
	regions  map[unsafe.Pointer]int // what is attached, and its length
	lock     lockState
	posts    []int   // by rank: exposures to this one that it has not begun to access
	dones    []int   // by rank: accesses that it has ended
	exposed  []int   // the group of Post
	started  []int   // the group of StartAccess
	failures []error // by origin: of what no answer has told yet
	replies  []transport.Request

	originMu sync.Mutex
	targets  []target
}

// target is what this rank has asked of another.
type target struct {
	dirty   bool // something was sent since the latest flush
	waiting []*operation
}

// sharedPart is a rank's memory as this one sees it.
type sharedPart struct {
	mem  []byte
	lock *atomic.Uint32
}

// lockBytes lie before each rank's shared memory: the lock of accumulates.
const lockBytes = 64

// New makes a window over a communicator that is used for nothing else.
func New(c transport.Comm, f transport.Flavor, m transport.Memory, d Device) (*Window, error) {
	w := &Window{c: c, rank: c.Rank(), flavor: f, mem: m, device: d,
		quit: make(chan struct{}), over: make(chan struct{}), broken: make(chan struct{}), changed: make(chan struct{}),
		posts: make([]int, c.Size()), dones: make([]int, c.Size()), failures: make([]error, c.Size()), targets: make([]target, c.Size()), regions: map[unsafe.Pointer]int{}}
	if f == transport.Allocated || f == transport.Shared {
		if err := w.allocate(m.Bytes()); err != nil {
			return nil, err
		}
	}
	if err := w.barrier(nil); err != nil {
		return nil, err
	}
	if c.Size() > 1 {
		go w.serve()
	} else {
		close(w.over)
	}
	return w, nil
}

// allocate gets memory, shared if that can be.
func (w *Window) allocate(bytes int) error {
	why := error(&transport.Error{Class: transport.RMAShared, Call: "MPI_Win_allocate_shared", Text: "this transport shares no memory"})
	if s, ok := w.c.(Sharing); w.c.Size() == 1 {
		w.mem = hostMemory(aligned(bytes))
		return nil
	} else if ok {
		parts, release, err := s.Share(lockBytes + bytes)
		if err == nil {
			w.release = release
			for _, p := range parts {
				w.shared = append(w.shared, sharedPart{p[lockBytes:], (*atomic.Uint32)(unsafe.Pointer(&p[0]))})
			}
			w.mem = hostMemory(w.shared[w.rank].mem)
			return nil
		}
		why = err
	}
	if w.flavor == transport.Shared {
		return why
	}
	w.mem = hostMemory(aligned(bytes))
	return nil
}

func hostMemory(b []byte) transport.Memory {
	return transport.Memory{P: unsafe.Pointer(unsafe.SliceData(b)), N: len(b), T: transport.Byte}
}

func bytesOf(m transport.Memory) []byte { return unsafe.Slice((*byte)(m.P), m.Bytes()) }

func (w *Window) Base() unsafe.Pointer { return w.mem.P }
func (w *Window) Unified() bool        { return true }

func (w *Window) SharedBase(rank int) (unsafe.Pointer, error) {
	if w.flavor != transport.Shared {
		return nil, &transport.Error{Class: transport.RMAShared, Call: "MPI_Win_shared_query", Text: "the window is not of shared memory"}
	}
	if rank == w.rank {
		return w.mem.P, nil
	}
	return unsafe.Pointer(unsafe.SliceData(w.shared[rank].mem)), nil
}

func (w *Window) Attach(m transport.Memory) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.regions[m.P] = m.Bytes()
	return nil
}

func (w *Window) Detach(m transport.Memory) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.regions, m.P)
	return nil
}

// fail ends all waits on the window.
func (w *Window) fail(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.why == nil {
		w.why = why
		close(w.broken)
	}
}

// news tells those who wait that something has changed; mu is held.
func (w *Window) news() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// until waits until over says yes; it is asked with mu held.
func (w *Window) until(over func() bool, stop <-chan struct{}) error {
	began := time.Now()
	for n := 0; ; n++ {
		w.mu.Lock()
		yes, changed := over(), w.changed
		w.mu.Unlock()
		if yes {
			return nil
		}
		if time.Since(began) < spinTime {
			w.poll()
			runtime.Gosched()
			continue
		}
		select {
		case <-changed:
		case <-stop:
			return transport.ErrStopped
		case <-w.broken:
			return w.why
		}
	}
}

// poll makes progress.
func (w *Window) poll() {
	w.c.Iprobe(transport.AnySource, tagNone) //nolint:errcheck // what is wrong shows at the server
}

const (
	spinTime = 100 * time.Microsecond // of a wait before it sleeps
	napFirst = 20 * time.Microsecond  // where a transport must be asked
	napMost  = 500 * time.Microsecond
)

// again says when to test a request again: when it is done, or after a nap where the transport
// cannot tell. Naps grow.
func again(r transport.Request, nap *time.Duration) (over <-chan struct{}, later <-chan time.Time) {
	if x, ok := r.(transport.Waiter); ok {
		return x.Done(), nil
	}
	later = time.After(*nap)
	*nap = min(2**nap, napMost)
	return nil, later
}

// await waits for a request.
func (w *Window) await(r transport.Request, stop <-chan struct{}) (transport.Status, error) {
	began := time.Now()
	nap := napFirst
	for n := 1; ; n++ {
		st, done, err := r.Test()
		if done || err != nil {
			return st, err
		}
		if n%8 == 0 {
			runtime.Gosched()
		}
		if n%8 != 0 || time.Since(began) < spinTime {
			continue
		}
		over, later := again(r, &nap)
		select {
		case <-over:
		case <-later:
		case <-stop:
			return transport.Status{}, transport.ErrStopped
		case <-w.broken:
			return transport.Status{}, w.why
		}
	}
}

func (w *Window) barrier(stop <-chan struct{}) error {
	r, err := w.c.Start(&transport.Collective{Kind: transport.Barrier})
	if err == nil {
		_, err = w.await(r, stop)
	}
	return err
}

// inside tells where some bytes of this rank's memory lie.
func (w *Window) inside(at, n int) (transport.Memory, error) {
	if w.flavor == transport.Dynamic {
		for from, long := range w.regions {
			if off := at - int(uintptr(from)); off >= 0 && n <= long-off {
				return transport.Memory{P: unsafe.Add(from, off), N: n, T: transport.Byte}, nil
			}
		}
		return transport.Memory{}, outside(at, n, "in what is attached")
	}
	if at < 0 || n > w.mem.Bytes()-at {
		return transport.Memory{}, outside(at, n, fmt.Sprintf("in the window's %d bytes", w.mem.Bytes()))
	}
	m := w.mem
	if w.device == nil && m.P != nil {
		m.P = unsafe.Add(m.P, at)
	}
	m.N, m.T = n, transport.Byte
	return m, nil
}

func outside(at, n int, of string) error {
	return &transport.Error{Class: transport.RMARange, Text: fmt.Sprintf("%d bytes from %d on are not %s", n, at, of)}
}

// update changes elements of this rank's memory, by change, which has them at old;
// they are written back if it says so. mu is held.
func (w *Window) update(at, n int, change func(old []byte) (write bool, err error)) error {
	m, err := w.inside(at, n)
	if err != nil {
		return err
	}
	if w.device == nil {
		_, err := change(bytesOf(m))
		return err
	}
	old := aligned(n)
	if err := w.device.Read(at, old); err != nil {
		return err
	}
	write, err := change(old)
	if err == nil && write {
		err = w.device.Write(at, old)
	}
	return err
}

// aligned is memory for elements of any type.
func aligned(n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]uint64, n/8+1)))), n)
}

// combine is old[i] = old[i] op with[i].
func combine(op transport.Op, t transport.Type, old, with []byte) error {
	switch op {
	case transport.NoOp:
		return nil
	case transport.Replace:
		copy(old, with)
		return nil
	}
	f, err := coll.HostOp(op, t)
	if err != nil {
		return err
	}
	n := len(old) / t.Size()
	a := transport.Memory{P: unsafe.Pointer(unsafe.SliceData(old)), N: n, T: t}
	b := transport.Memory{P: unsafe.Pointer(unsafe.SliceData(with)), N: n, T: t}
	_, err = f.Reduce(a, a, b)
	return err
}

// do does an operation on this rank's memory; mu is held. with is the origin's part,
// of CompareAndSwap after what is compared; result, if any, gets what was there.
func (w *Window) do(kind transport.AccessKind, op transport.Op, t transport.Type, at, n int, with, result []byte) error {
	return w.update(at, n, func(old []byte) (bool, error) { return change(kind, op, t, old, with, result) })
}

func change(kind transport.AccessKind, op transport.Op, t transport.Type, old, with, result []byte) (wrote bool, err error) {
	if result != nil {
		copy(result, old)
	}
	switch kind {
	case transport.Put:
		copy(old, with)
	case transport.Get:
		return false, nil
	case transport.CompareAndSwap:
		if slices.Equal(old, with[:len(old)]) {
			copy(old, with[len(old):])
		}
	default:
		if op == transport.NoOp {
			return false, nil
		}
		err = combine(op, t, old, with)
	}
	return true, err
}

// Free is collective.
func (w *Window) Free() error {
	err := w.sync(transport.Sync{Kind: transport.Fence}, nil)
	close(w.quit)
	<-w.over
	if w.release != nil {
		w.release()
	}
	return err
}
