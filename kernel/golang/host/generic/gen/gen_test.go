package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"testing"
)

// TestFilesAreThoseOfThisGo: what is in the repository is what gen writes.
func TestFilesAreThoseOfThisGo(t *testing.T) {
	for name, without := range sources {
		file, err := os.ReadFile(fmt.Sprintf("../%s/%[1]s_gen.go", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(file, []byte("of "+runtime.Version()+".")) {
			t.Skip("they were made with another version of Go than", runtime.Version())
		}
		text, err := generate(name, without)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, file) {
			t.Errorf("package %s: gen writes another file; run go generate ./kernel/golang/host/generic", name)
		}
	}
}
