//go:build linux && (amd64 || arm64)

package nvidia

import (
	"bytes"
	"encoding/gob"
	"regexp"
	"strings"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/codecache"
)

// Compilations are kept on disk, each under a key of all that decides its result.

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
	if !cacheable(src) {
		return c.Compile(src, arch)
	}
	cache, key := codecache.Open("nvrtc"), c.cacheKey(src, arch)
	out := decode(cache.Get(key))
	if out == nil {
		// Of the ranks of a job, which come here together, one compiles.
		defer cache.Lock(key)()
		out = decode(cache.Get(key))
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
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(&stored); err == nil {
		cache.Put(key, body.Bytes())
	}
	return out, nil
}

// cacheable reports whether the same source makes the same code again: files of
// the user's own that it includes may change.
func cacheable(src *driver.Source) bool {
	for _, o := range src.Options {
		for _, p := range []string{"-I", "--include-path", "-include", "--pre-include"} {
			if strings.HasPrefix(o, p) {
				return false
			}
		}
	}
	return !quotedInclude.MatchString(src.Code)
}

func (c *Compiler) cacheKey(src *driver.Source, arch string) string {
	name := ""
	if namesItself.MatchString(src.Code) {
		name = src.Name
	}
	return codecache.Key(3, c.Version(), arch, src.Code, src.Options, src.Names, c.include, name)
}

// decode reads what was kept, nil if that cannot be read.
func decode(b []byte) *driver.Compiled {
	out := new(driver.Compiled)
	if b == nil || gob.NewDecoder(bytes.NewReader(b)).Decode(out) != nil {
		return nil
	}
	return out
}
