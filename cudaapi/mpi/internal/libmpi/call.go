//go:build linux && (amd64 || arm64)

package libmpi

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"gocuda/cudaapi/internal/clib"
	"gocuda/cudaapi/mpi/internal/transport"
)

// caller makes the calls in the way that the granted thread level asks for:
// from any thread at once, one at a time, or all from the thread that
// initialised MPI.
type caller struct {
	lib   *clib.Library
	level int // index of threadNames
	mu    sync.Mutex
	main  chan func() // run by the thread that initialised MPI

	context atomic.Uintptr // the CUDA context to call in; see cuda.go
	current clib.Current
}

// newCaller starts the thread that is to initialise MPI, and to finalize it.
func newCaller(lib *clib.Library) *caller {
	c := &caller{lib: lib, main: make(chan func())}
	go func() {
		// Never unlocked: the thread lives as long as the process.
		runtime.LockOSThread()
		for f := range c.main {
			f()
		}
	}()
	return c
}

// onMain runs f on the thread that initialised MPI.
func (c *caller) onMain(f func()) {
	done := make(chan struct{})
	c.main <- func() { defer close(done); f() }
	<-done
}

// missing stands for the code of a function that the library does not have.
const missing = -1

// call runs an MPI function. Addresses among args are of heap memory that the
// caller keeps alive.
func (c *caller) call(f function, args ...uintptr) int32 {
	a := c.lib.Addr(int(f))
	if a == 0 {
		return missing
	}
	if c.level == len(threadNames)-1 {
		return c.enter(a, args)
	}
	return c.callOne(a, args)
}

// enter runs the function at a on a thread on which the context is current.
func (c *caller) enter(a uintptr, args []uintptr) int32 {
	if x := c.context.Load(); x != 0 {
		if code, entered := clib.CodeWith(c.current, x, a, args...); entered {
			return code
		}
	}
	return clib.Code(a, args...)
}

func (c *caller) callOne(a uintptr, args []uintptr) (code int32) {
	if threadNames[c.level] == "MPI_THREAD_SERIALIZED" {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.enter(a, args)
	}
	own := append([]uintptr(nil), args...)
	c.onMain(func() { code = c.enter(a, own) })
	return code
}

// has says whether the library has a function.
func (c *caller) has(f function) bool { return c.lib.Addr(int(f)) != 0 }

// check makes the error of a code.
func (t *Transport) check(f function, code int32) error {
	if code == 0 {
		return nil
	}
	if code == missing {
		return &transport.Error{Class: transport.Unsupported, Call: f.String(), Text: t.info.Library + " has no such function"}
	}
	e := &transport.Error{Class: transport.Other, Call: f.String()}
	class := new(int32)
	if t.call(mpiErrorClass, uintptr(code), clib.Pin(class)) == 0 {
		if name, ok := t.abi.classes[*class]; ok {
			e.Class = name
		}
	}
	e.Text = t.text(mpiErrorString, uintptr(code))
	return e
}

// text asks a function that writes a string and its length.
func (c *caller) text(f function, args ...uintptr) string {
	// More than any library's MPI_MAX_ERROR_STRING and MPI_MAX_LIBRARY_VERSION_STRING.
	buf := make([]byte, 16384)
	n := new(int32)
	if c.call(f, append(args, clib.Pin(&buf[0]), clib.Pin(n))...) != 0 {
		return ""
	}
	if i := bytes.IndexByte(buf, 0); i >= 0 {
		buf = buf[:i]
	}
	return string(bytes.TrimSpace(buf))
}

// do calls f and gives its error.
func (t *Transport) do(f function, args ...uintptr) error { return t.check(f, t.call(f, args...)) }

// address is where memory lies; like clib.Pin it keeps the memory off the stack.
func address(p unsafe.Pointer) uintptr { return clib.Pin((*byte)(p)) }
