//go:build linux && (amd64 || arm64)

package nvidia

import (
	"bytes"
	"encoding/gob"
	"slices"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/codecache"
	"gocuda/cudaapi/internal/headers"
)

// Compilations are kept on disk, each under a key of all that decides its result.

// cached is Compile through the cache.
func (c *Compiler) cached(src *driver.Source, arch string) (*driver.Compiled, error) {
	if !codecache.Lasting(src.Code, src.Options) {
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
		out.Log = codecache.WithName(out.Log, src.Name)
		out.Cached = true
		return out, nil
	}
	out, err := c.Compile(src, arch)
	if err != nil {
		return nil, err
	}
	stored := *out
	stored.Log = codecache.WithoutName(out.Log, src.Name)
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(&stored); err == nil {
		cache.Put(key, body.Bytes())
	}
	return out, nil
}

func (c *Compiler) cacheKey(src *driver.Source, arch string) string {
	name := codecache.NameIn(src.Code, src.Name)
	if slices.Contains(src.Options, "-lineinfo") { // PTX then has the name
		name = src.Name
	}
	return codecache.Key(5, c.Version(), arch, src.Code, src.Options, src.Names, c.include, name, headers.Symmetric)
}

// decode reads what was kept, nil if that cannot be read.
func decode(b []byte) *driver.Compiled {
	out := new(driver.Compiled)
	if b == nil || gob.NewDecoder(bytes.NewReader(b)).Decode(out) != nil {
		return nil
	}
	return out
}
