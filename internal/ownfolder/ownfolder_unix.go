//go:build unix

package ownfolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// withoutWaiting has opening a pipe return where nobody writes to it.
const withoutWaiting = syscall.O_NONBLOCK

const maxLinks = 40 // as the kernel follows at most

// ensure walks down to dir, an absolute path, by folders that only this user
// and root can change.
func ensure(dir string) error {
	missing := func(p string) error {
		if err := os.Mkdir(p, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	}
	at, rest, links := "/", parts(dir), 0
	for len(rest) > 0 {
		p := filepath.Join(at, rest[0])
		info, err := os.Lstat(p)
		if errors.Is(err, fs.ErrNotExist) {
			if err = missing(p); err == nil {
				info, err = os.Lstat(p)
			}
		}
		if err != nil {
			return err
		}
		if !trusted(info) {
			return fmt.Errorf("%s belongs to another user (%d)", p, owner(info))
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			if links++; links > maxLinks {
				return fmt.Errorf("%s: too many symbolic links", p)
			}
			if filepath.IsAbs(to) {
				at = "/"
			}
			rest = append(parts(to), rest[1:]...)
			continue
		}
		rest = rest[1:]
		switch last := len(rest) == 0; {
		case !info.IsDir():
			return fmt.Errorf("%s is not a folder", p)
		case !othersWrite(info):
		case last && owner(info) == os.Geteuid() && info.Mode()&fs.ModeSticky == 0:
			if err := os.Chmod(p, info.Mode().Perm()&^0o022); err != nil {
				return err
			}
		case last || info.Mode()&fs.ModeSticky == 0:
			return fmt.Errorf("others may write in %s (%v)", p, info.Mode())
		}
		at = p
	}
	return nil
}

// parts are a path's components, ".." among them: those are walked as well.
func parts(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

func owner(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// trusted reports whether a file belongs to this user or to root. In a container
// root may look like another user: the one to whom / belongs.
func trusted(info fs.FileInfo) bool {
	switch uid := owner(info); uid {
	case 0, os.Geteuid():
		return true
	default:
		root, err := os.Lstat("/")
		return err == nil && uid == owner(root)
	}
}

// othersWrite reports whether users beside the owner may write in a folder. A
// group of the user's own number is the user's alone, by custom.
func othersWrite(info fs.FileInfo) bool {
	mode := info.Mode().Perm()
	s := info.Sys().(*syscall.Stat_t)
	return mode&0o002 != 0 || mode&0o020 != 0 && (s.Gid != s.Uid || int(s.Gid) != os.Getegid())
}
