//go:build unix

package golang

import (
	"os"
	"syscall"
)

// duplicate is another file for what f writes to.
func duplicate(f *os.File) (*os.File, error) {
	c, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	var again *os.File
	var failed error
	err = c.Control(func(fd uintptr) {
		syscall.ForkLock.RLock() // no child is to have it
		defer syscall.ForkLock.RUnlock()
		var n int
		if n, failed = syscall.Dup(int(fd)); failed == nil {
			syscall.CloseOnExec(n)
			again = os.NewFile(uintptr(n), f.Name())
		}
	})
	if err == nil {
		err = failed
	}
	return again, err
}
