//go:build linux || darwin

package filelock

import (
	"os"
	"syscall"
)

// try takes the lock, or says that another has it.
func try(f *os.File) (got, busy bool) {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return false, true
		default:
			return err == nil, false
		}
	}
}
