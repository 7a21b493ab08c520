//go:build linux && (amd64 || arm64)

package nvidia

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/filelock"
)

// The cache on disk: one file per compilation, named by a hash of all that
// decides its result, holding a check sum and the result. A file that cannot be
// read, or is damaged, counts as absent; one that cannot be written is no error.
// GOCUDA_CACHE names the folder; "off" turns the cache off.

// compileTime is how long to wait for another process that compiles.
const compileTime = 2 * time.Minute

// placeholder stands for the source's name in a stored log, so that the same
// code in another cell is found again.
const placeholder = "\x01source\x01"

var (
	quotedInclude = regexp.MustCompile(`(?m)^\s*#\s*include\s*"`)
	// namesItself finds code that the name of its file is compiled into.
	namesItself = regexp.MustCompile(`__FILE__|\bassert\b|source_location`)
)

// cached is Compile through the cache.
func (c *Compiler) cached(src *driver.Source, arch string) (*driver.Compiled, error) {
	file := c.cacheFile(src, arch)
	if file == "" {
		return c.Compile(src, arch)
	}
	out := readCache(file)
	if out == nil {
		// Of the ranks of a job, which come here together, one compiles.
		defer filelock.Hold(filepath.Join(filepath.Dir(file), "locks", filepath.Base(file)[:2]), compileTime)()
		out = readCache(file)
	}
	if out != nil {
		out.Log = strings.ReplaceAll(out.Log, placeholder, src.Name)
		out.Cached = true
		return out, nil
	}
	out, err := c.Compile(src, arch)
	if err != nil {
		return nil, err
	}
	stored := *out
	if src.Name != "" {
		stored.Log = strings.ReplaceAll(out.Log, src.Name, placeholder)
	}
	writeCache(file, &stored)
	return out, nil
}

// cacheFile is where src's code belongs, "" if it is not to be cached: files of
// the user's own that the source includes may change.
func (c *Compiler) cacheFile(src *driver.Source, arch string) string {
	dir := os.Getenv("GOCUDA_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(user, "gocuda", "nvrtc")
	}
	if dir == "off" || quotedInclude.MatchString(src.Code) {
		return ""
	}
	for _, o := range src.Options {
		for _, p := range []string{"-I", "--include-path", "-include", "--pre-include"} {
			if strings.HasPrefix(o, p) {
				return ""
			}
		}
	}
	h := sha256.New()
	put := func(values ...string) {
		for _, v := range append(values, fmt.Sprint(len(values))) {
			_ = binary.Write(h, binary.LittleEndian, uint64(len(v)))
			h.Write([]byte(v))
		}
	}
	put("2", c.Version(), arch, src.Code)
	put(src.Options...)
	put(src.Names...)
	put(c.include...)
	if namesItself.MatchString(src.Code) {
		put(src.Name)
	}
	return filepath.Join(dir, fmt.Sprintf("%x", h.Sum(nil)))
}

func readCache(file string) *driver.Compiled {
	b, err := os.ReadFile(file)
	if err != nil || len(b) < sha256.Size {
		return nil
	}
	if sum := sha256.Sum256(b[sha256.Size:]); !bytes.Equal(sum[:], b[:sha256.Size]) {
		return nil
	}
	out := new(driver.Compiled)
	if gob.NewDecoder(bytes.NewReader(b[sha256.Size:])).Decode(out) != nil {
		return nil
	}
	return out
}

// writeCache writes beside the place and renames, so that a reader never sees
// half a file.
func writeCache(file string, out *driver.Compiled) {
	var body bytes.Buffer
	if gob.NewEncoder(&body).Encode(out) != nil || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(file), "new-*")
	if err != nil {
		return
	}
	sum := sha256.Sum256(body.Bytes())
	_, err = f.Write(append(sum[:], body.Bytes()...))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}
