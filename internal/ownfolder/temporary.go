package ownfolder

import (
	"os"
	"path/filepath"
)

// Temporary makes a folder as [os.MkdirTemp] does, and a function that removes it with all
// that is in it. The folder goes with the process, too, however that ends.
func Temporary(in, pattern string) (dir string, remove func(), err error) {
	if in == "" {
		in = os.TempDir()
	}
	if in, err = filepath.Abs(in); err != nil {
		return "", nil, err
	}
	dir, end := watched(filepath.Join(in, pattern))
	if dir == "" {
		if dir, err = os.MkdirTemp(in, pattern); err != nil {
			return "", nil, err
		}
	}
	return dir, func() {
		os.RemoveAll(dir) //nolint:errcheck // who watches tries again
		end()
	}, nil
}
