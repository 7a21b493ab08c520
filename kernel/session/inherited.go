package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"

	"gocuda/kernel/session/link"
)

// A stack beyond CellStack is taken for endless recursion: the cell ends. What is
// deferred then has as much again. The evaluator ends at maxStack, long before it has
// eaten the machine's memory.
const (
	CellStack = 128 << 20
	maxStack  = 8 * CellStack
)

// ServeParent is Serve over the link that a process inherited from the Session
// that started it: the whole of an evaluator process, which should exit then.
func ServeParent(start func(*Console) (Evaluator, error)) error {
	stream, err := inheritedLink()
	if err != nil {
		return err
	}
	err = ServeStream(stream, start)
	if failed := syscall.Errno(0); errors.As(err, &failed) {
		// Its parent is gone, or a cell closed the link.
		fmt.Fprintf(os.Stderr, "%s: %v\n", unlinkedWords, err)
		os.Exit(runtimeExit)
	}
	return err
}

// ServeStream is Serve over the evaluator's end of a link, in a process that is
// readied for that.
func ServeStream(stream io.ReadWriteCloser, start func(*Console) (Evaluator, error)) error {
	debug.SetMaxStack(maxStack)
	// The runtime's stacks would show the interpreter's frames, never a cell's.
	debug.SetTraceback("none")
	unbufferC()
	return Serve(link.New(stream), start)
}

// unlinkedWords tell the parent why the evaluator ends.
const unlinkedWords = "gocuda: no link to the kernel"
