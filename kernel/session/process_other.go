//go:build !unix

package session

import (
	"errors"
	"io"
	"os"
)

var (
	errUnsupported = errors.New("gocuda runs cells in an evaluator process over a Unix socket pair, which needs Linux or macOS")
	errWouldBlock  = errors.New("nothing to read now")
)

type process struct {
	link io.ReadWriteCloser
	out  *pipes
}

func startProcess(*Options) (*process, error) { return nil, errUnsupported }

func (*process) kill()                  {}
func (*process) exited() bool           { return true }
func (*process) watch() error           { return nil }
func (*process) unwatch()               {}
func (*process) wait() *os.ProcessState { return nil }
func (*process) pid() int               { return 0 }

type pipes struct{}

func (*pipes) wait([2]bool) bool                { return false }
func (*pipes) readNow(int, []byte) (int, error) { return 0, errUnsupported }
func (*pipes) stop()                            {}
func (*pipes) close()                           {}

func inheritedLink() (io.ReadWriteCloser, error) { return nil, errUnsupported }

func signalOf(*os.ProcessState) string { return "" }
