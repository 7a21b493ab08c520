package hostcxx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"

	"gocuda/internal/ownfolder"
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

// ownFolders are this process's folders: one that is killed leaves none.
type ownFolders struct {
	mu  sync.Mutex
	own map[string]ownFolder // by the folder that it is in
}

type ownFolder struct {
	dir    string
	remove func() // is not called, but the folder stays only as long as it could be
}

var own = ownFolders{own: make(map[string]ownFolder)}

// in is the process's folder in dir. It is made again when it is gone.
func (o *ownFolders) in(dir string) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.own[dir]
	if _, err := os.Stat(f.dir); err == nil {
		return f.dir, nil
	}
	var err error
	if f.dir, f.remove, err = ownfolder.Temporary(dir, "gocuda-cxx-"); err != nil {
		return "", err
	}
	o.own[dir] = f
	return f.dir, nil
}

// InWorkFolder calls f with a folder that stays as long as the process, and with one in
// it that is for this call; and with others where there is no room in these. cache is a
// folder that may be written, or "".
func InWorkFolder(cache string, f func(own, dir string) error) error {
	var failed []error
	for _, in := range workFolders(cache) {
		err := inFolder(in, f)
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

func inFolder(in string, f func(own, dir string) error) error {
	folder, err := own.in(in)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(folder, "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it goes with the process
	return f(folder, dir)
}

// noRoom recognizes, also in what a compiler said, that a file system is full.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "No space left on device")
}
