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
	link           io.ReadWriteCloser
	stdout, stderr *pollFile
}

func startProcess([]string, string, []string) (*process, error) { return nil, errUnsupported }

func (*process) killGroup()             {}
func (*process) wait() *os.ProcessState { return nil }
func (*process) pid() int               { return 0 }

type pollFile struct{}

func (*pollFile) whenReadable(func() bool) error { return errUnsupported }
func (*pollFile) readNow([]byte) (int, error)    { return 0, errUnsupported }
func (*pollFile) close()                         {}

func inheritedLink() (io.ReadWriteCloser, error) { return nil, errUnsupported }

func signalOf(*os.ProcessState) string { return "" }
