// Package ownfolder makes folders in which no other user of the machine can put
// or change a file. What is read, run or connected to from such a folder is this
// user's own.
package ownfolder

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Make makes dir, and the folders above it that are missing, with mode 0700. It
// is an error if another user could change what lies there: if dir or a folder
// above it belongs to another user than this one and root, or lets others write;
// and if a symbolic link on the way belongs to another user. A folder above dir
// may let others write if it is sticky, as /tmp is. A dir of this user's that
// lets others write, which a umask can be the cause of, is changed to let them
// no longer.
//
// On systems without Unix's owners and modes, Make only makes dir.
func Make(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	return ensure(dir)
}

// Read reads a regular file. A pipe or a device in its place is an error, where
// [os.ReadFile] would wait for what never comes.
func Read(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|withoutWaiting, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	return io.ReadAll(f)
}

// Write makes file, in a folder that is there, hold b. A reader sees the old
// file or the new one, whole. The new one has mode 0600. A link at file is
// replaced, not followed.
func Write(file string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name()) //nolint:errcheck // the first error is the one to tell
	}
	return err
}
