package sim

import (
	"io/fs"
	"os"
	"path/filepath"
)

// writeIncludes writes the embedded headers to a folder.
func writeIncludes(dir string) error {
	return fs.WalkDir(includes, "include", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, path)
		if e.IsDir() {
			return os.Mkdir(to, 0o700)
		}
		b, err := includes.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, b, 0o600)
	})
}
