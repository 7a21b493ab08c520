package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestCacheKeepsTheLatest(t *testing.T) {
	dir := t.TempDir()
	begin := time.Now().Add(-time.Hour)
	for i := range 10 {
		f := filepath.Join(dir, fmt.Sprint(i))
		if err := writeWhole(f, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(f, begin, begin.Add(time.Duration((i*7)%10)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	pruneCache(dir, 3)
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	// Number i was used i*7 mod 10 minutes later.
	want := fmt.Sprint([]string{filepath.Join(dir, "1"), filepath.Join(dir, "4"), filepath.Join(dir, "7")})
	if fmt.Sprint(left) != want {
		t.Errorf("left %v, want %s", left, want)
	}
}
