package fatal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// morestack is the address of the runtime's function of that name.
func morestack() uintptr

// getg is the runtime's record of the calling goroutine.
func getg() unsafe.Pointer

// getsp is the caller's stack pointer, about.
func getsp() uintptr

// Where the runtime's record of a goroutine has what is used here. install checks it.
const (
	gStackLow = 0
	gGuard    = 16
	gThread   = 48
	gSP       = 56
	gPC       = 64
	gBP       = 96
	gSelf     = 72
)

// mLocks is where the record of a thread counts the locks that it holds.
var mLocks uintptr

var (
	growStack  func(g unsafe.Pointer, size uintptr)
	lastWords  func(panic *any)
	allocLarge func(size uintptr, typ unsafe.Pointer, zero bool) (unsafe.Pointer, uintptr)
	overflowPC uintptr
)

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()

//go:linkname mallocgc runtime.mallocgc
func mallocgc(size uintptr, typ unsafe.Pointer, zero bool) unsafe.Pointer

//go:noinline
func panics(v any) { panic(v) }

//go:noinline
func assign(m map[int]int) { m[1] = 1 }

func install() error {
	if err := findLocks(); err != nil {
		return err
	}
	grow, err := follow(morestack(), "runtime.newstack", "runtime.newstack", "runtime.copystack")
	if err != nil {
		return err
	}
	large, err := follow(entry(mallocgc), "runtime.mallocgcLarge")
	if err != nil {
		return err
	}
	words, err := follow(entry(panics), "runtime.gopanic", "runtime.preprintpanics")
	if err != nil {
		return err
	}
	faults := []struct {
		from  uintptr
		calls []string
	}{
		{entry((*sync.Mutex).Unlock), []string{"?internal/sync.(*Mutex).Unlock", "internal/sync.(*Mutex).unlockSlow", "internal/sync.fatal"}},
		{entry((*sync.RWMutex).Unlock), []string{"sync.fatal"}},
		{entry(assign), []string{"runtime.mapassign_fast64", "internal/runtime/maps.fatal"}},
	}
	var ends []uintptr
	for _, f := range faults {
		at, err := follow(f.from, f.calls...)
		if err != nil {
			return err
		}
		ends = append(ends, at.target)
	}
	growStack = *funcAt[func(unsafe.Pointer, uintptr)](grow.target)
	allocLarge = *funcAt[func(uintptr, unsafe.Pointer, bool) (unsafe.Pointer, uintptr)](large.target)
	lastWords = *funcAt[func(*any)](words.target)
	overflowPC = entry(overflow)
	for _, r := range []struct {
		call call
		to   uintptr
	}{{grow, entry(growing)}, {large, entry(allocating)}, {words, entry(dying)}} {
		if err := r.call.redirect(r.to); err != nil {
			return err
		}
	}
	for _, at := range ends {
		if err := replace(at, entry(fault)); err != nil {
			return err
		}
	}
	return deep.start()
}

// findLocks finds where a thread counts its locks, and checks what is known of records.
func findLocks() error {
	g := getg()
	at := getsp()
	if low := word(g, gStackLow); at < low || at >= word(g, gStackLow+8) {
		return errors.New("the runtime's record of a goroutine is not as expected")
	}
	const size = 512 // less than a thread's record has
	read := func() (list [size / 4]int32) {
		m := *(*unsafe.Pointer)(unsafe.Add(g, gThread))
		for i := range list {
			list[i] = *(*int32)(unsafe.Add(m, i*4))
		}
		return list
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var found []int
	for i := range size / 4 {
		found = append(found, i)
	}
	for range 4 {
		before := read()
		procPin()
		one := read()
		procPin()
		two := read()
		procUnpin()
		procUnpin()
		after := read()
		found = slices.DeleteFunc(found, func(i int) bool {
			return before[i] != 0 || one[i] != 1 || two[i] != 2 || after[i] != 0
		})
	}
	if len(found) != 1 {
		return errors.New("the runtime's record of a thread is not as expected")
	}
	mLocks = uintptr(found[0] * 4)
	return nil
}

//go:norace
//go:nocheckptr
func word(p unsafe.Pointer, at uintptr) uintptr { return *(*uintptr)(unsafe.Add(p, at)) }

// growing grows a stack, on the thread's own. Is that too large, its goroutine goes on
// with overflow, as if that had been called in place of the function that needs it: none
// of that has run. Within the runtime, and while a thread holds a lock of it, nothing can
// end a goroutine. That is then tried again at other calls, for which deep has this
// function called, though the stack is to stay as it is.
//
//go:norace
//go:nocheckptr
func growing(g unsafe.Pointer, size uintptr) {
	low, high := word(g, gStackLow), word(g, gStackLow+8)
	guard := (*uintptr)(unsafe.Add(g, gGuard))
	again := size > handlers.MaxStack && *guard == forced && deep.reserve != 0
	if again {
		*guard = low + deep.reserve
	} else {
		growStack(g, size)
	}
	if size <= handlers.MaxStack || word(g, gSelf) != uintptr(g) {
		return
	}
	if again && high-word(g, gSP) < handlers.MaxStack { // it has returned from there
		deep.remove(g)
		return
	}
	m := *(*unsafe.Pointer)(unsafe.Add(g, gThread))
	pc := (*uintptr)(unsafe.Add(g, gPC))
	if *(*int32)(unsafe.Add(m, mLocks)) != 0 || ofRuntime(*pc) && !calledByOthers(g, *pc) {
		if !again {
			deep.add(g)
		}
		return
	}
	deep.remove(g)
	*pc = overflowPC
}

// forced is what the runtime takes in place of the end of a stack for a request to move
// it, without having it grow (stackForceMove).
const forced = ^uintptr(274)

// deepStacks are goroutines whose stacks are too large, and that could not be ended there
// and then. Until they are, each of their next calls is tried, some time apart.
type deepStacks struct {
	list    [16]uintptr // the runtime's records, 0 where there is none
	reserve uintptr     // how far from a stack's end the runtime has it grow
	wake    int         // the end of a pipe to write to
}

var deep deepStacks

// tryEvery is the time between two tries, and maxTries is after how many a goroutine is
// taken to have ended.
const (
	tryEvery = 100 * time.Microsecond
	maxTries = 50_000
)

// add is called on a thread's own stack, where nothing may wait, nor call the race
// detector, as atomic operations do. Of two that come at once one may be lost: its
// goroutine is tried when its stack grows next.
//
//go:norace
func (d *deepStacks) add(g unsafe.Pointer) {
	if d.reserve == 0 {
		return
	}
	for i := range d.list {
		if d.list[i] == uintptr(g) {
			return
		}
	}
	for i := range d.list {
		if d.list[i] == 0 {
			d.list[i] = uintptr(g)
			var one byte
			syscall.RawSyscall(syscall.SYS_WRITE, uintptr(d.wake), uintptr(unsafe.Pointer(&one)), 1)
			return
		}
	}
}

//go:norace
func (d *deepStacks) remove(g unsafe.Pointer) {
	for i := range d.list {
		if d.list[i] == uintptr(g) {
			d.list[i] = 0
		}
	}
}

// watch has the calls of these goroutines tried. The runtime's records of goroutines are
// never freed; in one that has another goroutine by now, a stack moves once in vain.
//
//go:norace
//go:nocheckptr
func (d *deepStacks) watch(wake *os.File) {
	var one [1]byte
	for {
		if _, err := wake.Read(one[:]); err != nil {
			return
		}
		for range maxTries {
			left := false
			for i := range d.list {
				if g := d.list[i]; g != 0 {
					left = true
					*(*uintptr)(unsafe.Add(*(*unsafe.Pointer)(unsafe.Pointer(&g)), gGuard)) = forced
				}
			}
			if !left {
				break
			}
			time.Sleep(tryEvery)
		}
		for i := range d.list {
			d.list[i] = 0
		}
	}
}

// start makes what watch waits for, and measures how far from a stack's end it grows.
func (d *deepStacks) start() error {
	g := getg()
	var reserve uintptr
	for range 1000 { // the word is another one while the goroutine is to let others run
		runtime.Gosched()
		if reserve = word(g, gGuard) - word(g, gStackLow); reserve < 1<<16 {
			break
		}
	}
	if reserve >= 1<<16 {
		return errors.New("the runtime's record of a goroutine is not as expected")
	}
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		return err
	}
	d.wake = ends[1]
	d.reserve = reserve
	go d.watch(os.NewFile(uintptr(ends[0]), "deep stacks"))
	return nil
}

// calledByOthers says of a function of the runtime that is about to run at pc that
// another package called it, or called what does no more than allocate by it. Memory is
// what libraries ask the runtime for at each level of a recursion, and the runtime then
// reaches deeper than the next level does.
//
//go:norace
//go:nocheckptr
func calledByOthers(g unsafe.Pointer, pc uintptr) bool {
	sp := *(*unsafe.Pointer)(unsafe.Add(g, gSP))
	caller := word(sp, 0)
	if !ofRuntime(caller) {
		return true
	}
	if nameAt(pc) != "runtime.mallocgc" {
		return false
	}
	switch nameAt(caller) {
	case "runtime.newobject", "runtime.makeslice", "runtime.growslice":
		frame := *(*unsafe.Pointer)(unsafe.Add(g, gBP)) // the caller's, as pc has none yet
		return !ofRuntime(word(frame, 8))
	}
	return false
}

//go:norace
func ofRuntime(pc uintptr) bool {
	name := nameAt(pc)
	return name == "" || strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "internal/runtime/")
}

// nameAt is the name of the function whose code is at pc, whatever has been inlined there.
//
//go:norace
func nameAt(pc uintptr) string {
	f := runtime.FuncForPC(pc)
	if f == nil {
		return ""
	}
	return runtime.FuncForPC(f.Entry()).Name()
}

func overflow() { handlers.Overflow() }

// allocating allocates a large object.
//
//go:norace
//go:nocheckptr
func allocating(size uintptr, typ unsafe.Pointer, zero bool) (unsafe.Pointer, uintptr) {
	if size >= handlers.LargeSize {
		g := getg()
		m := *(*unsafe.Pointer)(unsafe.Add(g, gThread))
		if *(*int32)(unsafe.Add(m, mLocks)) == 0 && *(*unsafe.Pointer)(m) != g { // m.g0
			handlers.Large(size)
		}
	}
	return allocLarge(size, typ, zero)
}

// dying readies a panic that nobody recovered from for its last words. The value of the
// panic begins its record.
func dying(record *any) {
	handlers.Panic(*record)
	lastWords(record)
}

func fault(text string) { handlers.Fault(text) }

// entry is the address of a function's code.
func entry(f any) uintptr { return reflect.ValueOf(f).Pointer() }

// funcAt makes a function of the address of its code.
func funcAt[F any](pc uintptr) *F {
	code := &struct{ pc uintptr }{pc}
	return (*F)(unsafe.Pointer(&code))
}

// call is a call in the code.
type call struct {
	at     uintptr // of its relative address
	target uintptr
	times  int // how often the function makes it
}

// follow finds the last of a chain of calls, each of which is made in the function that
// the one before it calls. A call whose name begins with a question mark may be inlined.
func follow(from uintptr, names ...string) (c call, err error) {
	for _, name := range names {
		name, inlined := strings.CutPrefix(name, "?")
		found, err := find(from, name)
		if err != nil && inlined {
			continue
		}
		if err != nil {
			return c, err
		}
		c, from = found, found.target
	}
	return c, nil
}

// find finds the function of a name that another one calls or jumps to.
func find(in uintptr, name string) (c call, err error) {
	f := runtime.FuncForPC(in)
	if f == nil || f.Entry() != in {
		return c, fmt.Errorf("no function that should call %s is known", name)
	}
	// Calls (E8) and jumps (E9) have a relative address. What else looks like one leads
	// to no function's first byte, still less to that of this one.
	for pc := in; isIn(pc+4, in); pc++ {
		if op := *(*byte)(pointer(pc)); op != 0xe8 && op != 0xe9 {
			continue
		}
		target := pc + 5 + uintptr(*(*int32)(pointer(pc + 1)))
		if t := runtime.FuncForPC(target); t == nil || t.Entry() != target || t.Name() != name {
			continue
		}
		c = call{pc + 1, target, c.times + 1}
	}
	if c.times == 0 {
		return c, fmt.Errorf("%s does not call %s", f.Name(), name)
	}
	return c, nil
}

func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// redirect has a call call another function, which has the same parameters.
func (c call) redirect(to uintptr) error {
	if c.times > 1 {
		return errors.New("the runtime makes a call more than once that it should make once")
	}
	return write(c.at, uint32(to-c.at-4))
}

// replace has a function jump to another one.
func replace(f, by uintptr) error {
	if err := write(f+1, uint32(by-f-5)); err != nil {
		return err
	}
	return writeCode(f, func() { *(*byte)(pointer(f)) = 0xe9 })
}

func write(at uintptr, value uint32) error {
	return writeCode(at, func() {
		if at%4 == 0 {
			atomic.StoreUint32((*uint32)(pointer(at)), value)
			return
		}
		binary.NativeEndian.PutUint32(unsafe.Slice((*byte)(pointer(at)), 4), value)
	})
}

// writeCode changes a few bytes of the code at an address.
func writeCode(at uintptr, change func()) error {
	size := uintptr(syscall.Getpagesize())
	first := at &^ (size - 1)
	pages := unsafe.Slice((*byte)(pointer(first)), (at+8-first+size-1)&^(size-1))
	if err := syscall.Mprotect(pages, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC); err != nil {
		return fmt.Errorf("the code cannot be changed: %w", err)
	}
	change()
	return syscall.Mprotect(pages, syscall.PROT_READ|syscall.PROT_EXEC)
}

// isIn says whether an address is within the function that begins at entry.
func isIn(pc, entry uintptr) bool {
	f := runtime.FuncForPC(pc)
	return f != nil && f.Entry() == entry // of code that was inlined, it is the function's around it
}
