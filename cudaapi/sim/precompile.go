package sim

import (
	"os"
	"path/filepath"
	"sync"

	"gocuda/cudaapi/internal/codecache"
)

// asked has the headers that this process compiled sources with, by key.
var asked sync.Map

// precompile puts the precompiled header where g++ looks for it, which then takes a third less
// for a small kernel. It is made when it is used for the second time, as making it takes as long
// as three kernels. g++ checks that it fits; without it, it reads the header's text.
func (b *build) precompile(header string, args []string) {
	if b.cc.Clang {
		return
	}
	var flags []string
	for _, a := range args {
		if a != b.include { // which is another in each process
			flags = append(flags, a)
		}
	}
	key := codecache.Key(codeVersion, "header", filepath.Base(header), b.cc.Path, b.cc.Version, flags, includeHash())
	file := filepath.Join(header+".gch", key)
	if _, err := os.Stat(file); err == nil {
		return
	}
	made := filepath.Join(b.dir, "header.gch")
	_, again := asked.LoadOrStore(key, true)
	if code := b.cache.Get(key); code != nil {
		if os.WriteFile(made, code, 0o600) != nil {
			return
		}
	} else if !again {
		return
	} else if _, _, err := b.command("", append(args, "-x", "c++-header", "-o", made, header)...); err != nil {
		return
	} else if code, err := os.ReadFile(made); err == nil {
		b.cache.Put(key, code)
	}
	os.MkdirAll(filepath.Dir(file), 0o700) //nolint:errcheck // Rename says so, and the header's text serves, too
	os.Rename(made, file)                  //nolint:errcheck
}
