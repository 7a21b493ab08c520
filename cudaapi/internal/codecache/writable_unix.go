//go:build unix

package codecache

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// writable reports why files cannot be made in a folder: its file system may be
// one that is only read.
func writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write in", Path: dir, Err: err}
	}
	return nil
}
