// Package fatal has Go's runtime call a handler where it would end the process: where a
// goroutine has no stack left, where a library unlocks a mutex that is not locked or two
// goroutines use a map at once, where a goroutine of a library panics, and before it
// allocates more memory than there is.
//
// Nothing written in Go can recover from these, and the runtime offers no hook. So some
// of its calls are redirected, in the code in memory: the call that grows a stack, the
// call that allocates large objects, the call that readies a panic nobody recovered from
// for its last words, and the functions by which packages sync and maps report their
// users' faults. Each is found by following
// calls from a function whose address is known, and each is checked by its name, so that
// another version of Go is left as it is.
package fatal

import "sync"

// Handlers are called on the goroutine that the fault is of.
type Handlers struct {
	// Overflow is called in place of a function that needs a stack of more than
	// MaxStack bytes. It must not return.
	Overflow func()
	MaxStack uintptr
	// Fault is called with the text of a fatal error, and must not return.
	Fault func(text string)
	// Panic is called with the value of a panic that no function of its goroutine
	// recovered from. If it returns, the process ends.
	Panic func(value any)
	// Large is called before an allocation of at least LargeSize bytes, and may panic.
	Large     func(size uintptr)
	LargeSize uintptr
}

var (
	handlers Handlers
	once     sync.Once
	failed   error
)

// Handle installs the handlers of the process. Only the first call has an effect. The
// error says why the runtime goes on to end the process.
func Handle(h Handlers) error {
	once.Do(func() {
		handlers = h
		failed = install()
	})
	return failed
}
