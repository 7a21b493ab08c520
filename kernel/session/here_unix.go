//go:build unix

package session

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// here is an evaluator in this process.
type here struct {
	gone chan struct{} // closed when it has ended
	own  [2]int        // what descriptors 1 and 2 were
}

// evaluateHere serves cells over the link, with descriptors 1 and 2 as their
// output. It takes the descriptors given.
func evaluateHere(o *Options, link, stdout, stderr int) (*here, error) {
	h := &here{gone: make(chan struct{})}
	for i, fd := range []int{stdout, stderr} {
		own, err := unix.FcntlInt(uintptr(i+1), unix.F_DUPFD_CLOEXEC, 0)
		if err == nil {
			err = unix.Dup2(fd, i+1)
		}
		if err != nil {
			return nil, fmt.Errorf("the outputs of cells: %w", err)
		}
		syscall.Close(fd)
		h.own[i] = own
	}
	if o.Dir != "" {
		if err := os.Chdir(o.Dir); err != nil {
			return nil, err
		}
	}
	stream := blockingFile(link)
	go func() {
		defer close(h.gone)
		err := o.Here(stream)
		if err != nil {
			fmt.Fprintln(os.Stderr, err) // the last words
		}
		for i, fd := range h.own {
			unix.Dup2(fd, i+1) //nolint:errcheck // it was open
		}
		stream.Close()
	}()
	return h, nil
}

// ended waits for the evaluator's end, for so long.
func (h *here) ended(most time.Duration) bool {
	select {
	case <-h.gone:
		return true
	case <-time.After(most):
		return false
	}
}

// end ends the evaluator and, if it does not end by itself, this process with it:
// what it does cannot be taken from it.
func (h *here) end() {
	select {
	case <-h.gone:
	default:
		unix.Write(h.own[1], []byte("gocuda: a cell does not stop in this process, so the process ends\n")) //nolint:errcheck // nobody to tell
		os.Exit(runtimeExit)
	}
}
