// Package codecache keeps compiled code in files from one process to the next.
//
// Whoever can write these files can run code as the user who loads them. So the
// folder is one that no other user can change (see gocuda/internal/ownfolder),
// or there is no cache. A file begins with a checksum: a damaged one is not there.
package codecache

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"gocuda/cudaapi/internal/filelock"
	"gocuda/internal/ownfolder"
)

// Cache is a folder of compiled code; of the zero Cache, nothing is kept.
type Cache struct {
	dir string
}

// Variable names the folder to use instead of the user's cache folder, or is
// "off".
const Variable = "GOCUDA_CACHE"

const (
	keep        = 2000            // files of one kind, of 20 to 100 KB
	compileTime = 2 * time.Minute // how long to wait for another process that compiles
)

// Open is the cache for code of one kind, such as "sim": a folder of that name in
// $GOCUDA_CACHE, or else in gocuda of the user's cache folder. Where that cannot
// be used, it is in the temporary folder; where that cannot be used either, the
// cache keeps nothing. Notes says so then.
func Open(kind string) Cache {
	set := os.Getenv(Variable)
	if set == "off" {
		return Cache{}
	}
	var roots []string
	if set != "" {
		roots = append(roots, set)
	} else {
		if dir, err := os.UserCacheDir(); err == nil {
			roots = append(roots, filepath.Join(dir, "gocuda"))
		}
		roots = append(roots, filepath.Join(os.TempDir(), fmt.Sprintf("gocuda-%d", os.Getuid())))
	}
	var refused error
	for _, root := range roots {
		dir, err := usable(filepath.Join(root, kind))
		if err == nil {
			if refused != nil {
				note("compiled kernels are kept in %s: %v", dir, refused)
			}
			return Cache{dir}
		}
		refused = errors.Join(refused, err)
	}
	note("compiled kernels are not kept for later: %v (%s names a folder for them, or is off)", refused, Variable)
	return Cache{}
}

// usable makes a folder, and checks that files can be made in it.
func usable(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := ownfolder.Make(dir); err != nil {
		return "", err
	}
	return dir, writable(dir)
}

// Folder is where the cache keeps its files, "" if it keeps none.
func (c Cache) Folder() string { return c.dir }

// Key names a file by all that its code depends on.
func Key(depends ...any) string {
	h := sha256.New()
	for _, d := range depends {
		s := fmt.Sprintf("%#v", d)
		fmt.Fprintf(h, "%d %s\n", len(s), s)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// Get is what was put under the key, nil if that is not there or is damaged.
func (c Cache) Get(key string) []byte {
	if c.dir == "" {
		return nil
	}
	file := filepath.Join(c.dir, key)
	b, err := ownfolder.Read(file)
	if err != nil || len(b) < sha256.Size {
		return nil
	}
	if sum := sha256.Sum256(b[sha256.Size:]); !bytes.Equal(sum[:], b[:sha256.Size]) {
		return nil
	}
	now := time.Now()
	os.Chtimes(file, now, now) //nolint:errcheck // it is only kept for less long
	return b[sha256.Size:]
}

// Put keeps code under the key. That it could not be kept is no failure, but a
// note.
func (c Cache) Put(key string, code []byte) {
	if c.dir == "" {
		return
	}
	sum := sha256.Sum256(code)
	if err := ownfolder.Write(filepath.Join(c.dir, key), append(sum[:], code...)); err != nil {
		note("compiled kernels are not kept for later: %v", err)
		return
	}
	prune(c.dir, keep)
}

// Lock keeps other processes, and others in this one, from compiling what the key
// names at the same time: see [filelock.Hold].
func (c Cache) Lock(key string) (release func()) {
	if c.dir == "" {
		return func() {}
	}
	return filelock.Hold(filepath.Join(c.dir, "locks", key[:2]), compileTime)
}

// prune removes the files that were used longest ago, and what writers that died
// left, until at most so many are left.
func prune(dir string, keep int) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= keep {
		return
	}
	var all []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range all[:max(0, len(all)-keep)] {
		os.Remove(filepath.Join(dir, f.Name())) //nolint:errcheck // another process may have been faster
	}
}

var notes struct {
	sync.Mutex
	told map[string]bool
	list []string
}

// note notes something, once in a process.
func note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	notes.Lock()
	defer notes.Unlock()
	if notes.told == nil {
		notes.told = map[string]bool{}
	}
	if !notes.told[text] {
		notes.told[text] = true
		notes.list = append(notes.list, text)
	}
}

// Notes are what users should know of the caches, if they were not told yet.
func Notes() []string {
	notes.Lock()
	defer notes.Unlock()
	list := notes.list
	notes.list = nil
	return list
}
