package sim

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sync"

	"golang.org/x/sys/cpu"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/codecache"
	"gocuda/cudaapi/internal/hostcxx"
)

// codeVersion changes with what this package makes of a source beside its
// headers.
const codeVersion = 24

// cacheKey names a compilation by all that it depends on.
func cacheKey(cc *hostcxx.Compiler, unchecked bool, p *Profile, name string, src *driver.Source) string {
	return codecache.Key(codeVersion, cc.Path, cc.Version, unchecked, p.Major, p.Minor, cpu.X86.HasFMA, cpu.X86.HasAVX2,
		codecache.NameIn(src.Code, name), src.Code, src.Options, src.Names, includeHash())
}

var includeHash = sync.OnceValue(func() string {
	h := sha256.New()
	eachInclude(func(files embed.FS, path string, e fs.DirEntry, err error) error { //nolint:errcheck // embedded files read well
		if err == nil && !e.IsDir() {
			b, _ := files.ReadFile(path)
			fmt.Fprintf(h, "%q %d\n", path, len(b))
			h.Write(b)
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)[:8])
})

// readCache takes an image of a source of this name from the cache, nil if it is not there.
func readCache(c codecache.Cache, key, name string) *driver.Compiled {
	image := c.Get(key)
	md, ok := imageMeta(image)
	if !ok {
		return nil
	}
	return &driver.Compiled{Image: image, Log: codecache.WithName(md.Log, name), Lowered: md.Lowered, Cached: true}
}
