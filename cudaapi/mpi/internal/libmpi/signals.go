//go:build linux && (amd64 || arm64)

package libmpi

import (
	"os"
	"slices"
	"syscall"
	"unsafe"
)

// sigaction is the kernel's struct, of amd64 and arm64 alike.
type sigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

const (
	saOnStack  = 0x08000000
	lastSignal = 64
)

// rtSigaction reads a signal's action, and sets it if set is not nil.
func rtSigaction(signal int, set, old *sigaction) bool {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(signal),
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
	return errno == 0
}

// actions are those of all signals.
func actions() (a [lastSignal + 1]sigaction) {
	for s := 1; s <= lastSignal; s++ {
		rtSigaction(s, nil, &a[s])
	}
	return a
}

// goOwns lists the signals that Go's runtime lives on: preemption, profiling,
// the faults that it turns into panics, and those by which a user ends a program
// or os/signal tells it to end.
var goOwns = []syscall.Signal{syscall.SIGURG, syscall.SIGPROF, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE,
	syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE}

// keepSignals runs f, which may install signal handlers as MPI_Init does and
// UCX when it is loaded, and then puts right what would kill a Go program: Go's own handlers come back, and
// others run on the signal stack, since goroutines' stacks are small.
func keepSignals(f func()) {
	before := actions()
	f()
	after := actions()
	for s := 1; s <= lastSignal; s++ {
		if after[s] == before[s] {
			continue
		}
		a := after[s]
		if slices.Contains(goOwns, syscall.Signal(s)) {
			a = before[s]
		} else if a.handler > 1 { // neither SIG_DFL nor SIG_IGN
			a.flags |= saOnStack
		}
		if a != after[s] {
			rtSigaction(s, &a, nil)
		}
	}
}

// quietUCX keeps UCX from taking the signals of faults, and SIGHUP, unless the
// user wants that. Without an adapter for it, Open MPI 5 prints an error for every
// window, though it uses another way: so that it does not ask.
func quietUCX() error {
	settings := map[string]string{"UCX_ERROR_SIGNALS": "", "UCX_DEBUG_SIGNO": "0"}
	if adapters, err := os.ReadDir("/sys/class/infiniband"); err != nil || len(adapters) == 0 {
		settings["OMPI_MCA_osc"] = "^ucx"
	}
	for name, value := range settings {
		if _, set := os.LookupEnv(name); set {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}
