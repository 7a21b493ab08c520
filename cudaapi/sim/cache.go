package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/cpu"

	"gocuda/cudaapi/driver"
)

// codeVersion changes with what this package makes of a source beside its
// headers.
const codeVersion = 10

// cacheKey names a compilation by all that it depends on.
func cacheKey(cc *compiler, unchecked bool, p *Profile, name string, src *driver.Source) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %q %q %v %d.%d %v %v %q %q %q %q %s", codeVersion, cc.path, cc.version, unchecked, p.Major, p.Minor, cpu.X86.HasFMA, cpu.X86.HasAVX2,
		name, src.Code, src.Options, src.Names, includeHash())
	return hex.EncodeToString(h.Sum(nil)[:16])
}

var includeHash = sync.OnceValue(func() string {
	h := sha256.New()
	fs.WalkDir(includes, ".", func(path string, e fs.DirEntry, err error) error { //nolint:errcheck // embedded files read well
		if err == nil && !e.IsDir() {
			b, _ := includes.ReadFile(path)
			fmt.Fprintf(h, "%q %d\n", path, len(b))
			h.Write(b)
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)[:8])
})

func cacheRoot() string {
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "gocuda", "sim")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("gocuda-sim-%d", os.Getuid()))
}

func cacheFile(key string) string { return filepath.Join(cacheRoot(), key+".so") }

// compileTime is how long to wait for another process that compiles.
const compileTime = 2 * time.Minute

// readCache takes an image from the cache, nil if it is not there.
func readCache(file string) *driver.Compiled {
	image, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	md, ok := imageMeta(image)
	if !ok {
		return nil
	}
	now := time.Now()
	os.Chtimes(file, now, now) //nolint:errcheck // it is only kept for less long
	return &driver.Compiled{Image: image, Log: md.Log, Lowered: md.Lowered, Cached: true}
}

// storeCache keeps an image for later; a cache that cannot be written is no
// reason to fail.
func storeCache(file string, image []byte) {
	if os.MkdirAll(filepath.Dir(file), 0o755) == nil {
		writeWhole(file, image) //nolint:errcheck // as said
		pruneCache(filepath.Dir(file), maxCached)
	}
}

const maxCached = 500 // images; of some 40 KB each

// pruneCache removes the images that were used longest ago, and what writers
// that died left, until at most keep are left.
func pruneCache(dir string, keep int) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= keep {
		return
	}
	type image struct {
		path string
		used time.Time
	}
	var all []image
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			all = append(all, image{filepath.Join(dir, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b image) int { return a.used.Compare(b.used) })
	for _, i := range all[:max(0, len(all)-keep)] {
		os.Remove(i.path) //nolint:errcheck // another process may have been faster
	}
}

// writeWhole writes a file so that nobody ever sees a part of it.
func writeWhole(file string, b []byte) error {
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
		os.Remove(f.Name())
	}
	return err
}

// includeDir is a folder with the embedded headers, written if it is not there.
func includeDir() (string, error) {
	dir := filepath.Join(cacheRoot(), "include-"+includeHash())
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return dir, nil
	}
	err := fs.WalkDir(includes, "include", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, strings.TrimPrefix(path, "include"))
		if e.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		b, err := includes.ReadFile(path)
		if err != nil {
			return err
		}
		return writeWhole(to, b)
	})
	if err == nil {
		err = writeWhole(filepath.Join(dir, "complete"), nil)
	}
	if err != nil {
		return "", fmt.Errorf("writing the headers of simulated kernels: %w", err)
	}
	return dir, nil
}
