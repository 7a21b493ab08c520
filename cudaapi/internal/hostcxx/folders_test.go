package hostcxx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A process has one folder in the temporary one, whatever it compiles. What a call works
// in is in it, and goes with the call. A folder that was taken away is made again.
func TestInWorkFolder(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	var first string
	inFolder := func(f func(own, dir string)) {
		t.Helper()
		var was string
		if err := InWorkFolder("", func(own, dir string) error {
			if was = dir; filepath.Dir(dir) != own || filepath.Dir(own) != temp {
				t.Errorf("%s in %s in %s", dir, own, temp)
			}
			f(own, dir)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(was); !errors.Is(err, fs.ErrNotExist) {
			t.Error("the call's folder stays:", err)
		}
	}
	inFolder(func(own, outer string) {
		first = own
		inFolder(func(own, dir string) {
			if own != first || dir == outer {
				t.Errorf("%s, %s; then %s, %s", first, outer, own, dir)
			}
		})
	})
	if err := os.RemoveAll(first); err != nil {
		t.Fatal(err)
	}
	inFolder(func(own, _ string) {
		if own == first {
			t.Errorf("%s was removed", own)
		}
	})
	failed := errors.New("failed")
	if err := InWorkFolder("", func(string, string) error { return failed }); err != failed {
		t.Error(err)
	}
}
