package fatal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
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
	gThread   = 48
	gSP       = 56
	gPC       = 64
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
	return nil
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
// end a goroutine; such a stack grows until something else needs more.
//
//go:norace
//go:nocheckptr
func growing(g unsafe.Pointer, size uintptr) {
	growStack(g, size)
	if size <= handlers.MaxStack || word(g, gSelf) != uintptr(g) {
		return
	}
	m := *(*unsafe.Pointer)(unsafe.Add(g, gThread))
	if *(*int32)(unsafe.Add(m, mLocks)) != 0 {
		return
	}
	pc := (*uintptr)(unsafe.Add(g, gPC))
	if f := runtime.FuncForPC(*pc); f != nil && !strings.HasPrefix(f.Name(), "runtime.") && !strings.HasPrefix(f.Name(), "internal/runtime/") {
		*pc = overflowPC
	}
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
