package install

import "golang.org/x/sys/unix"

// replace puts temp in the place of dir, if there is one. At any time the old
// or the new is there.
func replace(temp, dir string) error {
	if unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE) == nil {
		return nil // temp is the old one now
	}
	return moveAway(temp, dir) // there is none, or the file system cannot exchange
}
