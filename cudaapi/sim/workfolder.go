package sim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// workFolders are where files may be that are needed for a moment: the temporary
// folder, and where else there may be room when that is full or read-only.
func workFolders(cache string) []string {
	folders := []string{os.TempDir(), "/dev/shm"}
	for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), cache} {
		if dir != "" {
			folders = append(folders, dir)
		}
	}
	return folders
}

// inWorkFolder calls f with a folder of its own, which it removes, and with
// another where there is no room in that.
func inWorkFolder(cache string, f func(dir string) error) error {
	var failed []error
	for _, in := range workFolders(cache) {
		dir, err := os.MkdirTemp(in, "gocuda-sim-")
		if err == nil {
			err = f(dir)
			os.RemoveAll(dir) //nolint:errcheck // the folder is the system's to clean, too
		}
		if err == nil {
			return nil
		}
		var file *fs.PathError
		if !errors.As(err, &file) && !noRoom(err) {
			return err
		}
		failed = append(failed, err)
	}
	return fmt.Errorf("no folder to compile in (TMPDIR names one): %w", errors.Join(failed...))
}

// noRoom recognizes, also in what a compiler said, that a file system is full.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "No space left on device")
}

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
