package sim

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

var includesWritten sync.Mutex

// writeIncludes writes those of the embedded headers to a folder that are not there:
// whoever cleans temporary folders may take some from a process that runs for weeks.
func writeIncludes(dir string) error {
	includesWritten.Lock()
	defer includesWritten.Unlock()
	return eachInclude(func(files embed.FS, path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, path)
		if e.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		b, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		if info, err := os.Stat(to); err == nil && info.Size() == int64(len(b)) {
			return nil
		}
		return os.WriteFile(to, b, 0o600)
	})
}
