//go:build unix

package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// keepOutputs keeps standard output and error for the command where descriptors 1
// and 2 become the cells'.
func (c *call) keepOutputs() error {
	for _, w := range []*io.Writer{&c.stdout, &c.stderr} {
		f, ok := (*w).(*os.File)
		if !ok {
			continue
		}
		fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return err
		}
		*w = os.NewFile(uintptr(fd), f.Name())
	}
	return nil
}
