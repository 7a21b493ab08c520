package rt

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"gocuda/kernel/golang/fatal"
	"gocuda/kernel/golang/named"
)

// large is the size of allocations from which on it is asked whether there is as much.
const large = 64 << 20

// Survive has what would end the process end a cell instead. A stack of more than
// maxStack bytes is taken for endless recursion. The error says why it cannot.
func Survive(maxStack int) error {
	err := fatal.Handle(fatal.Handlers{
		Overflow: overflow, MaxStack: uintptr(maxStack),
		Fault: fault, Panic: stray,
		Large: func(size uintptr) { afford("an allocation", int(size)) }, LargeSize: large,
	})
	surviving.Store(err == nil)
	return err
}

// surviving says that cells end by what processes do otherwise.
var surviving atomic.Bool

// members are the goroutines of cells, with the Runtime that they are of.
var members sync.Map // int64 to *Runtime

// overflow ends the calling goroutine, which has no stack left, and its cell. That is no
// panic: see check.
func overflow() {
	r, ok := members.Load(goid())
	if !ok {
		panic(named.PlainError("stack overflow: a function calls itself without end, or too deeply"))
	}
	r.(*Runtime).overflow()
}

func (r *Runtime) overflow() {
	g, own := r.memberOf(goid())
	at := Trace{Calls: r.Calls(ownStack())}
	r.groups.mu.Lock()
	first := g.overflow == nil
	if first {
		g.overflow = &at
	}
	r.groups.mu.Unlock()
	r.Cancel(g)
	if first && !g.apart {
		tell := sync.OnceFunc(func() { r.Background(g, Overflow{}, at) })
		time.AfterFunc(overflowTime, func() {
			if !own || r.groupOf(g.first) == g { // the cell has not ended by itself
				tell()
			}
		})
		if !own {
			defer tell()
		}
	}
	runtime.Goexit()
}

// overflowTime is how long a goroutine without stack may take to end, with what its
// functions deferred, until the cell ends without it.
const overflowTime = 3 * time.Second

// Fault is why a cell ends where Go's runtime would end the process.
type Fault struct{ Text string }

func (f Fault) Error() string {
	if strings.HasPrefix(f.Text, "concurrent map") {
		return f.Text + ": two goroutines used a map at the same time, one of them writing; guard it with a sync.Mutex"
	}
	return f.Text
}

// fault ends the calling goroutine, as no recover can stop it.
func fault(text string) {
	relock()
	panic(&ending{Fault{text}})
}

// latest is the Runtime that was made last: it reports what goroutines of libraries do.
var latest atomic.Pointer[Runtime]

// module is how the paths of this module's packages begin.
var module = strings.TrimSuffix(reflect.TypeFor[Runtime]().PkgPath(), "kernel/golang/rt")

// stray ends a goroutine of a library that panics. Those of this program are not to go
// on: others rely on them.
func stray(value any) {
	r := latest.Load()
	if s := ownStack(); r == nil || s.ID == 1 || strings.HasPrefix(s.by, module) || strings.HasPrefix(s.by, "main.") || strings.HasPrefix(s.by, "testing.") {
		return
	}
	if e, ok := value.(*ending); ok {
		value = e.err
	}
	r.Stray(panicValue(value))
	runtime.Goexit()
}

// relock undoes the unlocking of a mutex that was not locked: without that, whoever
// locks it next waits without end. Only the trace knows which mutex it is.
func relock() {
	state := func(f stackFrame, offset uintptr) *int32 {
		first, _, _ := strings.Cut(strings.Trim(f.args, "()"), ",")
		address, err := strconv.ParseUint(first, 0, 64) // what is not certain ends with a question mark
		if err != nil {
			return nil
		}
		at := uintptr(address) + offset
		return *(**int32)(unsafe.Pointer(&at))
	}
	const readers = 1 << 30
	count, ok := reflect.TypeFor[sync.RWMutex]().FieldByName("readerCount")
	for _, f := range ownStack().frames {
		switch {
		case f.name == "internal/sync.(*Mutex).unlockSlow":
			if p := state(f, 0); p != nil {
				atomic.AddInt32(p, 1)
			}
		case f.name == "sync.(*RWMutex).Unlock" && ok:
			if p := state(f, count.Offset); p != nil && atomic.LoadInt32(p) >= readers {
				atomic.AddInt32(p, -readers)
			}
		case f.name == "sync.(*RWMutex).rUnlockSlow" && ok:
			if p := state(f, count.Offset); p != nil {
				atomic.AddInt32(p, 1)
			}
		default:
			continue
		}
		return
	}
}

// Afford says so if there are not as many bytes of memory as something wants.
func Afford(what string, bytes int) error {
	if 0 <= bytes && bytes < large {
		return nil
	}
	have := available()
	if bytes < 0 || bytes > have {
		debug.FreeOSMemory()
		have = available()
	}
	if 0 <= bytes && bytes <= have {
		return nil
	}
	wants := "more than an address reaches"
	if bytes >= 0 {
		wants = gib(bytes)
	}
	return named.PlainError(fmt.Sprintf("out of memory: %s wants %s, and there are %s", what, wants, gib(have)))
}

// afford is Afford as a panic.
func afford(what string, bytes int) {
	if err := Afford(what, bytes); err != nil {
		panic(err)
	}
}

func gib(bytes int) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }
