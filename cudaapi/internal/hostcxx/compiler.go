// Package hostcxx finds the host's C++ compiler, gives it folders to work in, and
// loads what it made.
package hostcxx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"gocuda/internal/ownfolder"
)

// Compiler is the host's C++ compiler.
type Compiler struct {
	Path    string
	Version string // its --version, which is part of the keys of caches
	Clang   bool
	Err     error // there is none: which were tried, and why not
}

// Find is the compiler that $CXX names, or g++, or clang++.
var Find = sync.OnceValue(func() *Compiler {
	candidates := []string{"g++", "clang++"}
	if cxx := os.Getenv("CXX"); cxx != "" {
		candidates = append([]string{cxx}, candidates...)
	}
	var tried []string
	for _, name := range candidates {
		path, err := exec.LookPath(name)
		if err != nil {
			tried = append(tried, name+": not found")
			continue
		}
		version, err := exec.Command(path, "--version").Output()
		if err != nil {
			tried = append(tried, fmt.Sprintf("%s: %v", path, err))
			continue
		}
		return &Compiler{Path: path, Version: string(version), Clang: bytes.Contains(version, []byte("clang"))}
	}
	return &Compiler{Err: fmt.Errorf("no C++ compiler found (%s)", strings.Join(tried, "; "))}
})

// Command is a run of the compiler; with a context, it ends when that does, with all that
// it started.
func (c *Compiler) Command(ctx context.Context, args ...string) *exec.Cmd {
	if ctx == nil {
		return exec.Command(c.Path, args...)
	}
	cmd := exec.CommandContext(ctx, c.Path, args...)
	endWhole(cmd)
	return cmd
}

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

// InWorkFolder calls f with a folder of its own, which it removes, and with
// another where there is no room in that. cache is a folder that may be written, or
// "".
func InWorkFolder(cache string, f func(dir string) error) error {
	var failed []error
	for _, in := range workFolders(cache) {
		dir, remove, err := ownfolder.Temporary(in, "gocuda-cxx-")
		if err == nil {
			err = f(dir)
			remove()
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
