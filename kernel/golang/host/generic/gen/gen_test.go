package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestFilesAreThoseOfThisGo: what is in the repository is what gen writes.
func TestFilesAreThoseOfThisGo(t *testing.T) {
	for name, source := range sources {
		file, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(file, []byte("of "+runtime.Version()+".")) {
			t.Skip("they were made with another version of Go than", runtime.Version())
		}
		text, err := source()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, file) {
			t.Errorf("%s: gen writes another file; run go generate ./kernel/golang/host/generic", name)
		}
	}
}
