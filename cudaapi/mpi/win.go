package mpi

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/device"
	"gocuda/cudaapi/mpi/internal/onesided"
	"gocuda/cudaapi/mpi/internal/transport"
)

// Win is a window: memory of each rank of a communicator that the others read,
// write and compute in, without a call there (MPI_Win).
//
// A place in a window is a rank and the number of an element of that rank's memory,
// from 0; in a dynamic window it is the address that [Win.Attach] gave. Operations,
// such as [Win.Put], take as many elements as their buffer has. They are started
// within an epoch, and none is done before a synchronization says so: [Win.Fence]
// of all ranks; [Win.Start] and [Win.Complete] here with [Win.Post] and [Win.Wait]
// there; or [Win.Lock], [Win.Flush] and [Win.Unlock], for which the target calls
// nothing. Until then their buffers belong to them.
type Win struct {
	c      *Comm
	own    transport.Comm // the window's
	t      transport.Window
	flavor Flavor
	name   string
	mine   memory
	parts  []winPart // by rank
	info   Info
	freed  atomic.Bool
	given  []reflect.Value // variables that hold the window's memory

	mu        sync.Mutex
	fenced    bool           // an epoch between fences is open
	started   []int          // of Start; nil: none
	exposed   bool           // Post was called, and Wait was not
	locked    map[int]bool   // targets
	lockedAll bool           //
	under     [][]transfer   // by target: what the record has as under way
	attached  map[int]memory // by address
	blocked   []blockedIn    // calls that may be
}

// winPart is what a rank has in the window.
type winPart struct{ bytes, unit int64 }

// Flavor says where a window's memory comes from (MPI_WIN_CREATE_FLAVOR).
type Flavor string

// The flavors.
const (
	Created   Flavor = "created"   // the program's
	Allocated Flavor = "allocated" // the window's
	Shared    Flavor = "shared"    // the window's, where all ranks reach it as slices
	Dynamic   Flavor = "dynamic"   // what Attach attaches
)

// Info is hints for a library (MPI_Info), by their names in the MPI standard, such as
// "no_locks": "true". A library may ignore them; the built-in transport needs none.
type Info map[string]string

// Assert is what a program promises about an epoch, so that the library may do less
// (MPI_MODE_NOCHECK and so on). Promises are added by |.
type Assert uint8

// The promises.
const (
	NoCheck   = Assert(transport.NoCheck)   // nobody else holds the lock, or Post was called before
	NoStore   = Assert(transport.NoStore)   // this rank's memory was not written to by itself
	NoPut     = Assert(transport.NoPut)     // nobody will write to this rank's memory
	NoPrecede = Assert(transport.NoPrecede) // no operation comes before this fence
	NoSucceed = Assert(transport.NoSucceed) // none comes after it
)

// LockKind says who else may hold a lock.
type LockKind uint8

// The kinds of locks (MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE).
const (
	LockShared LockKind = iota
	LockExclusive
)

// WinCreate makes a window of buf, memory of the host or of a device (MPI_Win_create);
// nil, if this rank has none to give. All ranks call it. It blocks.
//
// Windows of device memory are served by this package, whatever the library; a
// library that is CUDA-aware is not asked to.
func (c *Comm) WinCreate(buf any, info ...Info) (*Win, error) {
	const call = "Comm.WinCreate"
	if err := c.usable(call); err != nil {
		return nil, err
	}
	m, bad := resolve(call, buf)
	switch {
	case bad != nil:
		return nil, c.at(bad)
	case m.inPlace:
		return nil, c.misuse(ErrBuffer, call, "InPlace is no memory")
	case m.spread != nil:
		return nil, c.misuse(ErrBuffer, call, "a strided buffer cannot be a window").hint("give the whole buffer")
	}
	if err := c.checkWritable(call, &m); err != nil {
		return nil, err
	}
	return c.newWin(call, transport.Created, Created, m, info)
}

// WinAllocate makes a window of new memory, n elements at this rank, and sets the
// slice that into points to to it (MPI_Win_allocate). Libraries are quickest with
// such memory. n may differ between ranks. All ranks call it. It blocks.
//
//	var x []float64
//	w := must(world.WinAllocate(&x, 100))
func (c *Comm) WinAllocate(into any, n int, info ...Info) (*Win, error) {
	return c.winAllocate("Comm.WinAllocate", transport.Allocated, Allocated, into, n, info)
}

// WinAllocateShared is WinAllocate of memory that every rank reaches as a slice, by
// [Win.Shared] (MPI_Win_allocate_shared). The ranks must be on one host, as those of
// [Comm.SplitShared] are.
func (c *Comm) WinAllocateShared(into any, n int, info ...Info) (*Win, error) {
	return c.winAllocate("Comm.WinAllocateShared", transport.Shared, Shared, into, n, info)
}

func (c *Comm) winAllocate(call string, f transport.Flavor, flavor Flavor, into any, n int, info []Info) (*Win, error) {
	if err := c.usable(call); err != nil {
		return nil, err
	}
	v, e, err := c.sliceVariable(call, into)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, c.misuse(ErrCount, call, "%d elements", n)
	}
	size := int(v.Type().Elem().Elem().Size())
	w, err := c.newWin(call, f, flavor, memory{Memory: transport.Memory{N: n * size, T: transport.Byte}, elem: e.typ, size: size}, info)
	if err != nil {
		return nil, err
	}
	w.give(v, w.t.Base(), n)
	return w, nil
}

// sliceVariable checks the pointer to a slice that is to hold a window's memory.
func (c *Comm) sliceVariable(call string, into any) (reflect.Value, element, error) {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Type().Elem().Kind() != reflect.Slice {
		return v, element{}, c.misuse(ErrBuffer, call, "a %T cannot take the memory", into).hint("give the address of a slice, such as &x of a []float64")
	}
	e := elementOf(v.Type().Elem().Elem())
	if e.bad != "" {
		return v, e, c.misuse(ErrType, call, "a %s cannot be in a window: %s", v.Type().Elem(), e.bad)
	}
	return v, e, nil
}

// give sets a variable to n elements at p.
func (w *Win) give(v reflect.Value, p unsafe.Pointer, n int) {
	t := v.Type().Elem()
	s := reflect.MakeSlice(t, 0, 0)
	if n > 0 {
		s = reflect.SliceAt(t.Elem(), p, n).Convert(t)
	}
	v.Elem().Set(s)
	w.given = append(w.given, v)
}

// WinCreateDynamic makes a window without memory: each rank attaches some when it has
// it (MPI_Win_create_dynamic). All ranks call it. It blocks.
func (c *Comm) WinCreateDynamic(info ...Info) (*Win, error) {
	const call = "Comm.WinCreateDynamic"
	if err := c.usable(call); err != nil {
		return nil, err
	}
	return c.newWin(call, transport.Dynamic, Dynamic, memory{Memory: transport.Memory{T: transport.Byte}, size: 1}, info)
}

// newWin makes a window on a communicator of its own.
func (c *Comm) newWin(call string, f transport.Flavor, flavor Flavor, m memory, info []Info) (*Win, error) {
	over, err := c.makes(call, winKind)
	if err != nil {
		return nil, err
	}
	defer over()
	w := &Win{c: c, flavor: flavor, mine: m, locked: map[int]bool{}, under: make([][]transfer, c.size), attached: map[int]memory{}, info: Info{},
		name: c.name + ".win" + strconv.Itoa(int(c.children.Add(1)))}
	for _, i := range info {
		maps.Copy(w.info, i)
	}
	if w.own, err = c.t.Dup(); err != nil {
		return nil, c.fail(call, -1, err)
	}
	// All must know who has how much, and whether anybody's is of a device.
	mine := [3]int64{int64(m.N), int64(m.size), 0}
	if m.dev != nil {
		mine[2] = 1
	}
	all := make([][3]int64, c.size)
	err = device.Channel(w.own).Allgather(words(mine[:]), words(unsafe.Slice(&all[0][0], 3*c.size)))
	if err != nil {
		return nil, c.fail(call, -1, err)
	}
	onDevice := false
	for _, one := range all {
		w.parts = append(w.parts, winPart{one[0], one[1]})
		onDevice = onDevice || one[2] != 0
	}
	if by, ok := w.own.(transport.Windows); ok && !onDevice {
		w.t, err = by.NewWindow(f, m.Memory, w.info)
	} else {
		err = transport.ErrNoWindow
	}
	if err == transport.ErrNoWindow { // it is served by this package
		var d onesided.Device
		if m.dev != nil {
			d = deviceMemory{m.dev}
		}
		w.t, err = onesided.New(w.own, f, m.Memory, d)
	}
	if err != nil {
		return nil, c.fail(call, -1, err)
	}
	waits.Lock()
	waits.windows = append(waits.windows, w)
	waits.Unlock()
	return w, nil
}

func words(list []int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), 8*len(list))
}

// deviceMemory is a device's part of a window, in the order of its default stream.
type deviceMemory struct{ b *cuda.Buffer }

func (d deviceMemory) bytes(at, n int) (*cuda.Buffer, error) {
	b, err := d.b.As(cuda.Uint8)
	if err != nil {
		return nil, err
	}
	return b.Slice(at, at+n), nil
}

func (d deviceMemory) Read(at int, to []byte) error {
	b, err := d.bytes(at, len(to))
	if err != nil || len(to) == 0 {
		return err
	}
	return b.Download(to)
}

func (d deviceMemory) Write(at int, from []byte) error {
	b, err := d.bytes(at, len(from))
	if err != nil || len(from) == 0 {
		return err
	}
	return b.Upload(from)
}

// usable is checked by every call.
func (w *Win) usable(call string) error {
	if w == nil {
		return misuse(ErrWin, call, "the window is nil")
	}
	if err := w.c.usable(call); err != nil {
		return err
	}
	if w.freed.Load() {
		return w.c.misuse(ErrWin, call, "%s was freed before", w.name)
	}
	return nil
}

// Comm is the communicator that the window was made on.
func (w *Win) Comm() *Comm { return w.c }

// Name is what reports call the window, such as "world.win1".
func (w *Win) Name() string { return w.name }

// SetName gives it another name at this rank (MPI_Win_set_name).
func (w *Win) SetName(name string) { w.name = name }

func (w *Win) String() string {
	return fmt.Sprintf("%s: %s, rank %d of %d", w.name, w.flavor, w.c.rank, w.c.size)
}

// Flavor says where the memory comes from.
func (w *Win) Flavor() Flavor { return w.flavor }

// Unit is the bytes of an element of a rank's memory, in which places there are
// counted (MPI_WIN_DISP_UNIT).
func (w *Win) Unit(rank int) int { return int(w.parts[rank].unit) }

// Len is the number of elements of a rank's memory; 0 in a dynamic window.
func (w *Win) Len(rank int) int { return int(w.parts[rank].bytes / w.parts[rank].unit) }

// Bytes is the length of a rank's memory in bytes (MPI_WIN_SIZE); 0 in a dynamic window.
func (w *Win) Bytes(rank int) int { return int(w.parts[rank].bytes) }

// Unified tells whether what a rank stores in its memory and what others put there
// meet without a synchronization that copies (MPI_WIN_MODEL is MPI_WIN_UNIFIED).
func (w *Win) Unified() bool { return w.t.Unified() }

// Info is the hints that the window was made with.
func (w *Win) Info() Info { return maps.Clone(w.info) }

// Shared sets the slice that into points to to a rank's memory of a shared window
// (MPI_Win_shared_query): what this rank writes there, that one reads. Between them
// they order their accesses themselves, by [Win.Sync] and a barrier or a lock.
func (w *Win) Shared(rank int, into any) error {
	const call = "Win.Shared"
	if err := w.usable(call); err != nil {
		return err
	}
	if uint(rank) >= uint(w.c.size) {
		return w.c.noRank(ErrRank, call, "rank", rank)
	}
	if w.flavor != Shared {
		return w.c.misuse(ErrRMAShared, call, "%s is %s, not shared", w.name, w.flavor).hint("WinAllocateShared makes shared windows")
	}
	v, _, err := w.c.sliceVariable(call, into)
	if err != nil {
		return err
	}
	size := int(v.Type().Elem().Elem().Size())
	if w.Bytes(rank)%size != 0 {
		return w.c.misuse(ErrType, call, "rank %d's memory has %d bytes, which is no whole number of %s", rank, w.Bytes(rank), v.Type().Elem().Elem())
	}
	p, err := w.t.SharedBase(rank)
	if err != nil {
		return w.c.fail(call, rank, err)
	}
	w.give(v, p, w.Bytes(rank)/size)
	return nil
}

// Attach adds memory of the host to a dynamic window, and gives the place at which
// other ranks reach it: tell them (MPI_Win_attach). It must stay as it is until it is
// detached.
func (w *Win) Attach(buf any) (at int, err error) {
	const call = "Win.Attach"
	m, err := w.attachable(call, buf)
	if err != nil {
		return 0, err
	}
	at = int(uintptr(m.P))
	if !w.attach(at, m) {
		return 0, w.c.misuse(ErrRMAAttach, call, "some of the memory is attached")
	}
	if err := w.t.Attach(m.Memory); err != nil { // without mu: a library may be busy for long
		w.detach(at)
		return 0, w.c.fail(call, -1, err)
	}
	return at, nil
}

// Detach takes memory that was attached out of the window (MPI_Win_detach). Operations
// on it must be over.
func (w *Win) Detach(buf any) error {
	const call = "Win.Detach"
	m, err := w.attachable(call, buf)
	if err != nil {
		return err
	}
	at := int(uintptr(m.P))
	if !w.detach(at) {
		return w.c.misuse(ErrRMAAttach, call, "the memory is not attached")
	}
	if err := w.t.Detach(m.Memory); err != nil {
		w.attach(at, m)
		return w.c.fail(call, -1, err)
	}
	return nil
}

// attach notes what is attached, unless some of it is.
func (w *Win) attach(at int, m memory) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for from, one := range w.attached {
		if at < from+one.N && from < at+m.N {
			return false
		}
	}
	w.attached[at] = m
	return true
}

// detach takes it out, if it is there.
func (w *Win) detach(at int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, there := w.attached[at]
	delete(w.attached, at)
	return there
}

func (w *Win) attachable(call string, buf any) (memory, error) {
	if err := w.usable(call); err != nil {
		return memory{}, err
	}
	if w.flavor != Dynamic {
		return memory{}, w.c.misuse(ErrRMAAttach, call, "%s is %s, not dynamic", w.name, w.flavor)
	}
	m, bad := resolve(call, buf)
	switch {
	case bad != nil:
		return m, w.c.at(bad)
	case m.dev != nil || m.spread != nil || m.inPlace:
		return m, w.c.misuse(ErrBuffer, call, "only plain memory of the host can be attached").hint("WinCreate takes memory of a device")
	case m.N == 0:
		return m, w.c.misuse(ErrBuffer, call, "the buffer has no elements")
	}
	return m, w.c.checkWritable(call, &m)
}

// Free ends the window (MPI_Win_free). All ranks call it, when their epochs are over.
// It blocks. Slices of the window's own memory must not be used after it: the
// variables that were given to WinAllocate and Shared become nil.
func (w *Win) Free() error {
	const call = "Win.Free"
	if err := w.usable(call); err != nil {
		return err
	}
	w.mu.Lock()
	open := w.openEpoch()
	w.mu.Unlock()
	if open != "" {
		return w.c.misuse(ErrRMASync, call, "%s", open)
	}
	if !w.freed.CompareAndSwap(false, true) {
		return w.c.misuse(ErrWin, call, "%s was freed before", w.name)
	}
	over, err := w.c.makes(call, winKind)
	if err != nil {
		return err
	}
	defer over()
	for _, v := range w.given {
		v.Elem().SetZero()
	}
	w.mu.Lock()
	w.ended(-1)
	w.mu.Unlock()
	err = w.t.Free()
	waits.forget(w)
	if wrong := w.own.Free(); err == nil {
		err = wrong
	}
	if err != nil {
		return w.c.fail(call, -1, err)
	}
	return nil
}

// openEpoch says which epoch of this rank must be ended before; mu is held.
func (w *Win) openEpoch() string {
	switch {
	case w.lockedAll:
		return "all ranks are locked: call UnlockAll before"
	case len(w.locked) > 0:
		return fmt.Sprintf("rank %d is locked: call Unlock before", slices.Min(slices.Collect(maps.Keys(w.locked))))
	case w.started != nil:
		return "an epoch that Start began is open: call Complete before"
	case w.exposed:
		return "an epoch that Post began is open: call Wait before"
	}
	return ""
}

// ended gives the buffers of operations on a target, or all, back in the record; mu is
// held.
func (w *Win) ended(target int) {
	for i := range w.under {
		if target >= 0 && i != target {
			continue
		}
		for j := range w.under[i] {
			w.under[i][j].end()
		}
		w.under[i] = nil
	}
}
