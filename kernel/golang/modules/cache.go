package modules

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"gocuda/internal/ownfolder"
)

// cache keeps on disk which packages an import needs, and where they are: the
// go command takes longer to tell than a cell takes to read them.
type cache struct{ dir string } // "": there is none

// defaultCache is the folder of the cache, as GOCUDA_CACHE says.
func defaultCache() string {
	dir := os.Getenv("GOCUDA_CACHE")
	if dir == "off" {
		return ""
	}
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(user, "gocuda")
	}
	return filepath.Join(dir, "imports")
}

// entry is one import of the cache.
type entry struct {
	Packages []listed
	Stamps   stamps // of the folders of local packages
}

// key names what the go command would say about a package; "": it cannot be
// kept.
func (s *Set) key(importPath string) string {
	h := sha256.New()
	put := func(b []byte) { fmt.Fprintf(h, "%d %s ", len(b), b) }
	for _, text := range []string{"3", importPath, tags, runtime.Version(), runtime.GOOS, runtime.GOARCH, os.Getenv("GOMODCACHE"), os.Getenv("GOPATH"), os.Getenv("GOFLAGS")} {
		put([]byte(text))
	}
	home := s.home()
	put([]byte(home))
	switch {
	case s.mod != nil:
		put(s.mod)
		put(s.sum)
	case home == "":
		return ""
	default:
		for _, name := range []string{"go.mod", "go.sum", "vendor/modules.txt"} {
			text, err := os.ReadFile(filepath.Join(home, name))
			if err != nil && name == "go.mod" {
				return ""
			}
			put(text)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func (c cache) get(key string) ([]listed, bool) {
	if c.dir == "" || key == "" {
		return nil, false
	}
	text, err := ownfolder.Read(filepath.Join(c.dir, key))
	if err != nil {
		return nil, false
	}
	var e entry
	if json.Unmarshal(text, &e) != nil || len(e.Packages) == 0 || e.Stamps.changed() {
		return nil, false
	}
	for _, p := range e.Packages { // go clean -modcache may have been there
		if _, err := os.Stat(p.Dir); err != nil {
			return nil, false
		}
	}
	return e.Packages, true
}

// put keeps a list, if it can: nothing depends on it.
func (c cache) put(key string, list []listed) {
	if c.dir == "" || key == "" || len(list) == 0 {
		return
	}
	e := entry{list, make(stamps)}
	for _, p := range list {
		if p.Error != nil {
			return // the next time may go better
		}
		if p.Local != "" {
			e.Stamps.take(p.Dir)
			e.Stamps.take(p.Local)
		}
	}
	text, err := json.Marshal(e)
	if err == nil && ownfolder.Make(c.dir) == nil {
		_ = ownfolder.Write(filepath.Join(c.dir, key), text)
	}
}

// stamps tell by a folder's Go files and go.mod, their sizes and times whether
// one was edited, added or removed.
type stamps map[string]string

func (s stamps) take(dir string) { s[dir] = stamp(dir) }

func (s stamps) changed() bool {
	for dir, was := range s {
		if stamp(dir) != was {
			return true
		}
	}
	return false
}

func stamp(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, e := range entries {
		if e.Name() != "go.mod" && (!strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go")) {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}
